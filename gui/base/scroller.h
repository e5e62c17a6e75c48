// Where tables and pages lie.
#pragma once
#include <gtk/gtk.h>

// Of what may be larger than its place: a scroll bar that stays tells of what is beyond.
GtkWidget *nino_scroller_new(GtkWidget *child);
GtkWidget *nino_page_scroller_new(GtkWidget *page); // as wide as its place
// The same of a plot: its rows get the focus, not the area, which therefore stays where it is.
GtkWidget *nino_plot_scroller_new(GtkWidget *area);
