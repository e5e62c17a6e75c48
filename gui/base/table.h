// Where tables lie.
#pragma once
#include <gtk/gtk.h>

// Of a table that may be wider than its place: a scroll bar that stays tells of the columns beyond.
GtkWidget *nino_table_scroller_new(GtkWidget *table);
