// Results of the benchmark suite as a table: a row for each case under each setting.
#pragma once
#include <gtk/gtk.h>
#include <ninodes/suite.h>

GtkWidget *nino_suite_table_new(void);
// The result may go after it.
void nino_suite_table_set(GtkWidget *table, const nino_suite_result *result);
