// What the view table is made of: one function for each view, in a file of its name.
#pragma once
#include "plot/run_model.h"
#include <gtk/gtk.h>

GtkWidget *nino_timeline_new(NinoRun *run);
GtkWidget *nino_kernel_table_new(NinoRun *run);
GtkWidget *nino_histogram_new(NinoRun *run);
GtkWidget *nino_flame_new(NinoRun *run);
GtkWidget *nino_memory_view_new(NinoRun *run);
GtkWidget *nino_pool_view_new(NinoRun *run);
GtkWidget *nino_perf_view_new(NinoRun *run);
GtkWidget *nino_tile_map_new(NinoRun *run);
GtkWidget *nino_roofline_new(NinoRun *run);
GtkWidget *nino_device_view_new(NinoRun *run);
GtkWidget *nino_step_plot_new(NinoRun *run);
GtkWidget *nino_advice_view_new(NinoRun *run);
GtkWidget *nino_compare_view_new(NinoRun *run);
