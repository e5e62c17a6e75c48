// What a sweep of a kernel's call measured: time by the value of each choice, with its spread; the value that is
// chosen can be kept for the device.
#pragma once
#include "plot/run_model.h"
#include <gtk/gtk.h>

GtkWidget *nino_sweep_plot_new(NinoRun *run);
// What `ninodes kernel --sweep` printed; hidden where nothing was swept in it.
void nino_sweep_plot_set(GtkWidget *plot, const char *printed);
