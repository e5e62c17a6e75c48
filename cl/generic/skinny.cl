// Linear layers of few rows (embeddings of the time, modulation): reading the weights is all the work.
// Reference: core/op/ref/gemm.c. The layouts, -D WT, RAW, fn and has are those of product.cl.
//
//   Y[p][n] = act(bias[n] + R[p][n] + sum over c of X[p][c] W[c][n])
//
// A kernel for up to 4 rows and one for up to 16. What they do of rows that are not there costs nothing
// beside the weights, which they read in pieces of 16 bytes, several of them at a time.
// Global size: ceil(N / COLUMNS) * 256, local 256; COLUMNS are 32 of weights as the file stores them, 64
// of panels.
#include "eights.cl"
#include "product.cl"

// The last channels of a row, from k on; zeros beyond them.
INLINE float8 load_last(global const T *x, int k, int C)
{
    float v[8];
    for (int i = 0; i < 8; i++)
        v[i] = k + i < C ? LOAD(x + k + i) : 0.0f;
    return vload8(0, v);
}
INLINE float dot8(float8 a, float8 b, float s)
{
    s = fma(a.s0, b.s0, s);
    s = fma(a.s1, b.s1, s);
    s = fma(a.s2, b.s2, s);
    s = fma(a.s3, b.s3, s);
    s = fma(a.s4, b.s4, s);
    s = fma(a.s5, b.s5, s);
    s = fma(a.s6, b.s6, s);
    return fma(a.s7, b.s7, s);
}

#define M 4
#define ACROSS 8  // columns of a panel that a work-item does
#define AT_ONCE 2 // pieces of a column that are requested before one is used
#define SKINNY linear_skinny_4
#include "rows.cl"
#define M 16
#define ACROSS 4
#define AT_ONCE 1
#define SKINNY linear_skinny_16
#include "rows.cl"
