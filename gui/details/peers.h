// The peers of what was chosen: what is alike in kind and name, and how long each took.
#pragma once
#include "plot/run_model.h"

typedef struct NinoPeerTimes {
    double *ns; // sorted; g_free()
    size_t n;
    double own;  // of what was chosen; 0: it is all of them
    size_t less; // how many are shorter than it
} NinoPeerTimes;

// Calls of the kernel of a slice, or of the chosen kernel, in the selected range; steps and tiles of the same node,
// stages of the same name, nodes of the same job. FALSE: there is no more than one.
gboolean nino_peer_times(NinoRun *run, NinoPeerTimes *out);
