// Linear layers of few rows (embeddings of the time, modulation): reading the weights is all the work.
// Reference: core/op/ref/gemm.c. The layouts, -D WT, RAW, fn and has are those of product.cl.
//
//   Y[p][n] = act(bias[n] + R[p][n] + sum over c of X[p][c] W[c][n])
//
//   -D M=n   rows, at most 16                                                               [1]
//   -D TAIL=1  with RAW: C is no multiple of 4
// Global size: ceil(N / 64) * 256, local 256.
#include "product.cl"

#ifndef M
#define M 1
#endif
// Channels k .. k + 3 of a row; beyond its end zeros.
INLINE float4 load_tail(global const T *x, int k, int C)
{
#if TAIL
    if (k + 4 > C)
        return (float4)(LOAD(x + k), k + 1 < C ? LOAD(x + k + 1) : 0.0f, k + 2 < C ? LOAD(x + k + 2) : 0.0f,
                        0.0f);
#endif
    return LOAD4(x + k);
}

// A work-item sums 4 columns over every 16th channel, or, of rows as the file stores them, four columns
// 16 apart over every 16th four channels; the 16 sums of a column are added in __local.
kernel WG(256) void linear_skinny(const int rows, const int N, const int ld, const int C, global const T *X,
                                  const ulong X_off, global const W_t *restrict Wp,
                                  const ulong Wp_off RAW_ARGS, global const float *restrict bias,
                                  const ulong bias_off, global const T *R, const ulong R_off,
                                  global T *Y, const ulong Y_off, const int fn, const int has)
{
    local float sums[16 * 64];
    const int t = get_local_id(0), column = (t & 15) * 4, slice = t >> 4;
    const int n = get_group_id(0) * 64 + t; // of the first 64 work-items, which finish a row
    float4 s[M];
    X += X_off;
#pragma unroll
    for (int r = 0; r < M; r++)
        s[r] = (float4)(0.0f);
#ifdef RAW
    const int Cp = (C + 15) & ~15;
    const int lane = t & 15; // neighbours read neighbouring channels of one column
    Wp += Wp_off;
    for (int k = lane * 4; k < C; k += 64) {
        float4 w[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int m = min((int) get_group_id(0) * 64 + slice + i * 16, N - 1);
            w[i] = VALUES(Wp, (grids) (Wp + grid), (ulong) m * Cp + k) *
                   (is_scaled ? ((global const float *) (Wp + scales))[m] : 1.0f);
        }
#pragma unroll
        for (int r = 0; r < M; r++) {
            const float4 x = load_tail(X + (long) min(r, rows - 1) * C, k, C);
            s[r] += (float4)(dot(x, w[0]), dot(x, w[1]), dot(x, w[2]), dot(x, w[3]));
        }
    }
#else
    Wp += Wp_off + (long) get_group_id(0) * ((C + 15) & ~15) * 64 + column;
    for (int k = slice; k < C; k += 16) {
        const float4 w = LOADW4A(Wp + (long) k * 64);
#pragma unroll
        for (int r = 0; r < M; r++)
            s[r] = fma((float4)(LOAD(X + (long) min(r, rows - 1) * C + k)), w, s[r]);
    }
#endif
    // A row at a time, the others moved up, so that there is one copy of what follows.
#pragma nounroll
    for (int r = 0; r < M; r++) {
        const float4 sum = s[0];
#pragma unroll
        for (int i = 0; i + 1 < M; i++)
            s[i] = s[i + 1];
        barrier(CLK_LOCAL_MEM_FENCE);
#ifdef RAW
        sums[lane * 64 + slice] = sum.x;
        sums[lane * 64 + slice + 16] = sum.y;
        sums[lane * 64 + slice + 32] = sum.z;
        sums[lane * 64 + slice + 48] = sum.w;
#else
        *(local float4 *) (sums + slice * 64 + column) = sum;
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t < 64 && n < N && r < rows) {
            const long at = (long) r * ld + n;
            float v = 0.0f;
            for (int i = 0; i < 16; i++)
                v += sums[i * 64 + t];
            STORE_RESULT(at, n, v);
        }
    }
}
