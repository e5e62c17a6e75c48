// The whole run in a strip: its nodes, all steps and tiles, the silhouette of its memory, and which part of it the
// plots over time show.
#pragma once
#include "plot/run_model.h"

#include <gtk/gtk.h>

// A part is moved by dragging it, made longer or shorter by dragging its ends; dragging beside it, or where all is
// shown, selects a range. The wheel and keys do the same.
GtkWidget *nino_overview_new(NinoRun *run);
