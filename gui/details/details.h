// The pane of details: what was chosen last in any view of a run, in figures; its place among its peers, against
// the ceilings of the device, and what its kernel was compiled to.
#pragma once
#include "plot/run_model.h"
#include <gtk/gtk.h>

GtkWidget *nino_details_new(NinoRun *run);

// What one line says: "Work size", "4096x16 in groups of 64".
typedef void (*NinoFactFn)(gpointer user, const char *what, const char *is);
// Asks `ninodes kernel --code` in a process of its own what a kernel was compiled to, and calls fn for each
// figure, once, later; nothing after the cancellable was cancelled. Answers are kept. One process runs at a
// time.
void nino_kernel_figures_ask(const char *kernel, const nino_kernel_told *told, const char *device,
                             GCancellable *cancellable, NinoFactFn fn, gpointer user);
