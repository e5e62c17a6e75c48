// The window of the benchmark suite: what is measured, how far it is, its table and report. It is hidden when it is
// closed; the measuring goes on.
#pragma once
#include "engine/engine.h"
#include <gtk/gtk.h>

// device: selector, NULL or "" as of the command. Ends with its parent, and the measuring with it.
GtkWidget *nino_suite_window_new(GtkWindow *parent, NinoEngine *engine, const char *device);
// What its buttons do, for actions. A path ends in .json (the result) or is of a report.
void nino_suite_window_start(GtkWidget *window);
void nino_suite_window_stop(GtkWidget *window);
gboolean nino_suite_window_open(GtkWidget *window, const char *path, GError **error);
gboolean nino_suite_window_save(GtkWidget *window, const char *path, GError **error);
