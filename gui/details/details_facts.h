// What is chosen in a run, as lines of figures below its title.
#pragma once
#include "plot/run_model.h"
#include <gtk/gtk.h>

typedef struct NinoFacts {
    NinoRun *run;
    GtkWidget *title, *path; // labels
    GtkGrid *grid;           // of the lines; they are made as they are needed, and kept
    int n;                   // lines that are shown
} NinoFacts;

// Shows what is chosen now; FALSE: nothing that has figures is.
gboolean nino_facts_show(NinoFacts *f);
// One more line. A NinoFactFn.
void nino_facts_add(gpointer facts, const char *what, const char *is);
