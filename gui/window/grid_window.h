// The window that asks for the axes of a grid of runs.
#pragma once
#include "workflow/tab.h"

#define NINO_GRID_STATE "grid-axes" // the last axes, which the window shows again

// axes: one or two, as nino_axis_parse() takes them, NULL-terminated. FALSE: they were refused.
typedef gboolean (*NinoGridFn)(gpointer user, const char *tab_uid, const char *const *axes);
// seconds: what one run takes; NaN: not known.
void nino_grid_window_present(GtkWindow *parent, NinoTab *tab, double seconds, NinoGridFn queue,
                              gpointer user);
