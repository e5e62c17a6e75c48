// What of the benchmark suite is to be measured: suite, form, cases, phases, and optimisations left out alone.
#pragma once
#include "engine/suite_run.h"
#include <gtk/gtk.h>

// changed: after each choice.
GtkWidget *nino_suite_form_new(void (*changed)(gpointer user), gpointer user);
// "Bild 128x128" of "image 128x128": what is words in the name of a suite or a case, in the user's language; g_free().
char *nino_suite_title(const char *name);
gboolean nino_suite_form_has_cases(GtkWidget *form);
// Fills all but device and cases; returns the cases, NULL-terminated, g_free().
const char **nino_suite_form_get(GtkWidget *form, NinoSuiteAsk *out);
