// Who needs high contrast gets it in what the app draws itself, too.
#pragma once
#include <gtk/gtk.h>

// Whether the widget is drawn with a theme of high contrast.
gboolean nino_is_high_contrast(GtkWidget *w);
