// What lies around a product by a BLAS library (cl/blas.c): weights as it takes them, and the rest of a linear
// layer after the sums.
//   -D WT=f16|bf16  storage of the panels [f32]
#ifndef WT
#define WT f32
#endif
#include "sums.cl"

// Panels [..][Cp][64] side by side: rows of `panels` times 64 columns, in f32; a work-item does four values.
// Global size (ceil(C * 16 / 64) * 64, panels), work-group size 64.
kernel WG(64) void stage_panels(global const PASTE(T_, WT) *W, const ulong W_off, global float *Y,
                                const ulong Y_off, const int C, const int panels)
{
    const long i = get_global_id(0), c = i / 16, at = get_group_id(1);
    const int n = (int) (i % 16) * 4;
    if (c >= C)
        return;
    const long Cp = (C + 15) & ~15;
    store4a_f32(Y + Y_off + (c * panels + at) * 64 + n,
                PASTE(load4a_, WT)(W + W_off + (at * Cp + c) * 64 + n));
}
