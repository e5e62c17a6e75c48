// Files of what a view shows: plots as PNG, SVG or PDF, tables as CSV or JSON, the records as a
// trace. The file's extension decides; files appear whole or not at all.
#pragma once
#include "plot/run_model.h"
#include <gtk/gtk.h>

// A cell of a table; columns are named in the first call for a row.
typedef struct NinoCell {
    const char *column; // "total_ms": stable, in lower case
    const char *text;   // NULL: the number counts
    double number;      // NAN: not known (empty in CSV, null in JSON)
} NinoCell;
typedef void (*NinoRowFn)(gpointer user, const NinoCell *cells, size_t n);
void nino_cells_to_json(GString *out, const NinoCell *cells, size_t n); // as an object, on one line

// What a view can export; members may be NULL.
typedef struct NinoViewExport {
    // Draws the plot with its axes and legend, width x height units, on cairo (PNG, SVG, PDF).
    void (*draw)(GtkWidget *view, cairo_t *cr, double width, double height, gboolean is_dark);
    // Gives all rows, in the order shown.
    void (*rows)(GtkWidget *view, NinoRowFn row, gpointer user);
} NinoViewExport;

// Called by create(): `x` must be static.
void nino_view_set_export(GtkWidget *view, const NinoViewExport *x);
const NinoViewExport *nino_view_get_export(GtkWidget *view); // NULL: nothing to export

// Extensions a view can be written as, best first, NULL-terminated; empty: nothing to export.
const char *const *nino_export_types(GtkWidget *view, gboolean with_plot, gboolean with_table);
gboolean nino_export_view(GtkWidget *view, const char *path, int width, int height,
                          gboolean is_dark, GError **error);
// .json, .pftrace (Perfetto), either with .gz, or .ninotrace
gboolean nino_export_trace(NinoRun *run, const char *path, GError **error);
// Asks for a file and writes it; what goes wrong is shown. kind: "plot", "table", "trace".
void nino_export_ask(GtkWidget *view, NinoRun *run, const char *kind);
// Adds the actions export.plot, export.table and export.trace to the view.
void nino_export_install(GtkWidget *view, NinoRun *run);
