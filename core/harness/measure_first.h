// Internal: a device that nobody has measured or described.
#pragma once
#include "core/op/backend.h"

// Measures it if its profile only stands in for its figures and none are kept: about 0.3 s, and what
// its driver takes to compile the probes. The figures are kept and put into its profile; true when
// they were. No failure keeps the device from being used: it is logged.
// cache_dir as in nino_ctx_params; "": nothing is measured, since nothing could be kept.
bool nino_measure_first(nino_backend *be, const char *cache_dir);
