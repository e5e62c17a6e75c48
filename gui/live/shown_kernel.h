// Which kernel the views of one kernel show, and what its calls took.
#pragma once
#include "plot/run_model.h"

// The chosen one, else that which took the longest in the selected range; 0: there is none.
uint32_t nino_shown_kernel(NinoRun *run);
// Of its calls in the selected range; all 0: there are none. p50 and p95 are those of the statistics, as the table of
// kernels and the command line have them.
void nino_shown_calls(NinoRun *run, uint32_t kernel, nino_histogram *out);
