// The views of a run: one table that the window makes its menu and its tabs from, and what can be
// exported of each.
#pragma once
#include "plot/run_model.h"
#include <gtk/gtk.h>

typedef struct NinoViewType {
    const char *id;    // stable: "timeline"; for actions, preferences and screenshots
    const char *title; // "Timeline"
    const char *help;  // one sentence, for tooltips
    GtkWidget *(*create)(NinoRun *run); // takes its own reference to the run
} NinoViewType;

extern const NinoViewType nino_views[]; // ends with a NULL id
const NinoViewType *nino_view_find(const char *id);
// Creates a view and names it for style sheets, tests and screen readers.
GtkWidget *nino_view_new(const NinoViewType *type, NinoRun *run);

// ---- export ------------------------------------------------------------------------------------

// A cell of a table; columns are named in the first call for a row.
typedef struct NinoCell {
    const char *column; // "total_ms": stable, in lower case
    const char *text;   // NULL: the number counts
    double number;      // NAN: not known (empty in CSV, null in JSON)
} NinoCell;
typedef void (*NinoRowFn)(gpointer user, const NinoCell *cells, size_t n);

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
