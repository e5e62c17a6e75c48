// The main window: workflows in tabs, the queue and the results beside them, live views below.
#pragma once
#include <gtk/gtk.h>

#define NINO_TYPE_WINDOW (nino_window_get_type())
G_DECLARE_FINAL_TYPE(NinoWindow, nino_window, NINO, WINDOW, GtkApplicationWindow)

// Where models and files are and what to run on; strings may be NULL (preferences, then the
// worker's defaults).
typedef struct NinoWindowOptions {
    char **models; // NULL-terminated or NULL
    char *input, *output, *device;
} NinoWindowOptions;

GtkWidget *nino_window_new(GtkApplication *app, const NinoWindowOptions *options);
// Closes the window without asking; unsaved work is found at the next start.
void nino_window_end(NinoWindow *window);
// A workflow in a tab of its own (one that is open already comes to the front), or a trace.
void nino_window_open(NinoWindow *window, GFile *file);
// The row of preferences that measures the device of the window's jobs (NinoPrefsRow).
GtkWidget *nino_window_measure_row(gpointer window, GtkWidget **named);
// Watches a run that somebody started: a process id, a socket, or "" for the newest one.
void nino_window_attach(NinoWindow *window, const char *target);
