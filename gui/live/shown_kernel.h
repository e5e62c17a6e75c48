// Which kernel the views of one kernel show.
#pragma once
#include "plot/run_model.h"

// The chosen one, else that which took the longest in the selected range; 0: there is none.
uint32_t nino_shown_kernel(NinoRun *run);
