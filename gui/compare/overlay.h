// Two runs over one time axis: the run that is shown, and behind it, lower and pale, the baseline. Each node
// begins where its partner does, or both runs begin together.
#pragma once
#include "plot/run_model.h"
#include <gtk/gtk.h>

// A node was chosen in it: as its row of the comparison names it.
typedef void (*NinoOverlayFn)(gpointer user, const char *node);

GtkWidget *nino_overlay_new(NinoRun *run, NinoOverlayFn chosen, gpointer user);
// Shows base behind what the run shows, both as they are now. base stays the caller's and lives until the
// next call. NULL: nothing is compared.
void nino_overlay_set(GtkWidget *overlay, nino_history *base, const nino_compare *c);
// Marks a node; is_near: it fills the width. NULL: none is marked, and all is shown.
void nino_overlay_mark(GtkWidget *overlay, const char *node, gboolean is_near);
// Chooses a node of the shown run for all views.
void nino_overlay_pick(GtkWidget *overlay, const char *node);
// Both runs begin together, instead of each node with its partner.
void nino_overlay_set_together(GtkWidget *overlay, gboolean is_together);
// Fits NinoViewExport.draw.
void nino_overlay_export(GtkWidget *overlay, cairo_t *cr, double w, double h, gboolean is_dark);
