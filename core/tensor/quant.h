// Internal: the quantised block formats of GGUF files: sizes, and exact expansion to f32. Layouts:
// ggml-org/ggml (ggml-common.h, ggml-quants.c), described in its own words in quant.c.
#pragma once
#include "core/tensor/dtype.h"

// dst[i] = value i of n values, n a multiple of the block (nino_dtype_block). src need not be
// aligned. Products and sums are in f32 in ggml's order, so results equal ggml's bit for bit.
// False: t is not a block format.
bool nino_quant_to_f32(float *dst, const void *src, nino_dtype t, size_t n);
