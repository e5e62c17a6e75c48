// The titles of a table's columns, which GTK makes itself.
#pragma once
#include <gtk/gtk.h>

// Of a column that the table has: tip, NULL for none; of numbers, the title stands at the right, as they do.
void nino_table_set_title(GtkColumnView *view, int column, const char *tip, gboolean is_number);
