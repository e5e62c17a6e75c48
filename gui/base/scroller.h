// Where tables and pages lie.
#pragma once
#include <gtk/gtk.h>

// Of what may be larger than its place: a scroll bar that stays tells of what is beyond.
GtkWidget *nino_scroller_new(GtkWidget *child);
GtkWidget *nino_page_scroller_new(GtkWidget *page); // as wide as its place
