// The keyboard focus of windows that are only being opened.
#pragma once
#include <gtk/gtk.h>

// Takes the focus as soon as it has a place; what it is scrolled in then scrolls to it.
void nino_focus_when_placed(GtkWidget *widget);
