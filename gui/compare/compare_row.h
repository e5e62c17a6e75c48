// Rows and columns of the table of a comparison.
#pragma once
#include "plot/export.h"
#include <ninodes/monitor.h>

#define NINO_TYPE_COMPARE_ROW (nino_compare_row_get_type())
G_DECLARE_FINAL_TYPE(NinoCompareRow, nino_compare_row, NINO, COMPARE_ROW, GObject)

struct _NinoCompareRow {
    GObject parent;
    nino_compare_row r;
    gboolean is_a_file; // the run's time is that of one of its files
};

NinoCompareRow *nino_compare_row_new(const nino_compare_row *r, gboolean is_a_file);
void nino_compare_row_add_columns(GtkColumnView *table);
void nino_compare_row_export(const NinoCompareRow *row, NinoRowFn fn, gpointer user);
