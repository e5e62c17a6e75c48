// Files of what a view shows: plots as PNG, SVG or PDF, tables as CSV or JSON, the records as a
// trace. The file's extension decides; files appear whole or not at all.
#pragma once
#include "plot/view.h"

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
