// What the files of this folder share.
#pragma once
#include "cl/runtime.h"

// Whether the device has the matrix instructions that the kernels of this folder use. options: NULL; in
// tests of the compiler, for the emulation.
bool nino_cl_wmma_ask(const nino_cl_device *dev, const char *options);

// The kernel of wmma.cl for a tile.
const char *nino_cl_wmma_kernel(const nino_tile *t);

// ATTENTION by NINO_ATTN_STRIPES (core/op/profile.h).
nino_status nino_cl_wmma_stripes(nino_cl *cl, const nino_op_call *c, nino_error *err);
