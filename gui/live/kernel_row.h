// Rows and columns of the kernel table.
#pragma once
#include "plot/export.h"
#include <ninodes/monitor.h>

enum {
    NINO_KERNEL_NAME,
    NINO_KERNEL_FAMILY,
    NINO_KERNEL_GLOBAL, // work sizes: the value is the number of work-items
    NINO_KERNEL_LOCAL,
    NINO_KERNEL_TEXTS, // those above are texts
    NINO_KERNEL_CALLS = NINO_KERNEL_TEXTS,
    NINO_KERNEL_TOTAL,
    NINO_KERNEL_SHARE,
    NINO_KERNEL_MEAN,
    NINO_KERNEL_MIN,
    NINO_KERNEL_MAX,
    NINO_KERNEL_SIGMA,
    NINO_KERNEL_P50,
    NINO_KERNEL_P95,
    NINO_KERNEL_GFLOPS,
    NINO_KERNEL_GBPS,
    NINO_KERNEL_PEAK,
    NINO_KERNEL_COLUMNS
};

#define NINO_TYPE_KERNEL_ROW (nino_kernel_row_get_type())
G_DECLARE_FINAL_TYPE(NinoKernelRow, nino_kernel_row, NINO, KERNEL_ROW, GObject)

struct _NinoKernelRow {
    GObject parent;
    char *op;                      // its name in the statistics
    char *text[NINO_KERNEL_TEXTS]; // "": not told; a local size of "": the driver's choice
    double value[NINO_KERNEL_COLUMNS];
    gboolean is_seen; // in this update
};

// has_work: the name ends in a work size (nino_history_work_stats()).
NinoKernelRow *nino_kernel_row_new(const nino_op_stat *o, gboolean has_work);
// The figures; those of texts are not looked at.
void nino_kernel_row_set(NinoKernelRow *r, const double value[NINO_KERNEL_COLUMNS]);
// The kernel, which is the row's name or what is before the shape in it; 0: it does not occur in the run.
uint32_t nino_kernel_row_kernel(const NinoKernelRow *r, NinoRun *run);
// The longest call of the row in the selected range, among the longest ones of its kernel; FALSE: none.
gboolean nino_kernel_row_longest(const NinoKernelRow *r, NinoRun *run, nino_event *call);
NinoCell nino_kernel_row_cell(const NinoKernelRow *r, int column);          // for export
gboolean nino_kernel_row_matches(const NinoKernelRow *r, const char *text); // "": always
GtkColumnViewColumn *nino_kernel_row_add_column(GtkColumnView *view, int column);
// Headers have no tooltips of their own in this GTK: their widgets are the children of the first
// one. To be called when all columns are there.
void nino_kernel_row_explain(GtkColumnView *view);
