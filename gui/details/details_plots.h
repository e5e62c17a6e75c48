// The small plots of the pane of details. Each draws what is chosen in the run.
#pragma once
#include "plot/run_model.h"
#include <gtk/gtk.h>

// How long the peers took, and where among them this one is. Hidden where there are none.
GtkWidget *nino_details_peers(NinoRun *run);
// Queued, submitted, run, on one line. Hidden where it was not told.
GtkWidget *nino_details_wait(NinoRun *run);
// One dot below the ceilings. Hidden where there is no arithmetic to tell of.
GtkWidget *nino_details_roofline(NinoRun *run);
// Takes what is chosen now; says whether there is something to show.
gboolean nino_details_plot_update(GtkWidget *plot);
