// The main window: one workflow, its nodes, its result, and where the time goes.
#pragma once
#include <gtk/gtk.h>

#define NINO_TYPE_WINDOW (nino_window_get_type())
G_DECLARE_FINAL_TYPE(NinoWindow, nino_window, NINO, WINDOW, GtkApplicationWindow)

// Where models and files are and what to run on; strings may be NULL (the worker's defaults).
typedef struct NinoWindowOptions {
    char **models; // NULL-terminated or NULL
    char *input, *output, *device;
} NinoWindowOptions;

GtkWidget *nino_window_new(GtkApplication *app, const NinoWindowOptions *options);
void nino_window_open(NinoWindow *window, GFile *file);
