// Two runs side by side: a baseline (a saved trace, or a run that was kept) and the run that is
// shown, aligned by node, step and kernel.
#pragma once
#include "plot/run_model.h"
#include <gtk/gtk.h>

#define NINO_TYPE_COMPARE_VIEW (nino_compare_view_get_type())
G_DECLARE_FINAL_TYPE(NinoCompareView, nino_compare_view, NINO, COMPARE_VIEW, GtkBox)

// Takes what the run shows now as the baseline.
void nino_compare_view_keep(NinoCompareView *view);
// Takes a trace as the baseline.
gboolean nino_compare_view_open(NinoCompareView *view, const char *path, GError **error);
