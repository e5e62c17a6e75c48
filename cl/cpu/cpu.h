// What the files of this folder share.
#pragma once
#include "cl/cl_schedule.h"

// A macro tile of products: as large as there are enough of them for all compute units, and all of
// about one size.
void NINO_CL_OWN(tile)(const nino_cl *cl, int64_t rows, int64_t panels, bool is_raw,
                       int64_t *tile_rows, int64_t *tile_panels);
nino_status NINO_CL_OWN(winograd)(nino_cl *cl, const nino_op_call *c, const nino_cl_columns *w,
                                  nino_error *err);
