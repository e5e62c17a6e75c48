// Linear layers of few rows (embeddings of the time, modulation): reading the weights is all the work.
// Reference: core/op/ref/gemm.c. The layouts, -D WT, RAW, fn and has are those of product.cl.
//
//   Y[p][n] = act(bias[n] + R[p][n] + sum over c of X[p][c] W[c][n])
//
//   -D M=n   rows that are done at once, at most 6; up to three times as many are done          [1]
// Global size: ceil(N / 64), a panel each.
#include "product.cl"

#ifndef M
#define M 1
#endif
// C is walked in blocks so short that a panel's rows stay in the first-level cache while they are read
// 16 * CV columns at a time, as many as have sums in registers.
#define KC 64
#define ROWS (3 * M)
#if __AVX512F__ || M == 1
#define CV 4
#elif M <= 3
#define CV 2
#else
#define CV 1
#endif

#ifdef RAW
// The channels are in the lanes, and a column is done after the other: nothing is transposed.
kernel WG1 void linear_skinny(const int rows, const int N, const int ld, const int C, global const T *X,
                              const ulong X_off, global const W_t *restrict Wp,
                              const ulong Wp_off RAW_ARGS, global const float *restrict bias,
                              const ulong bias_off, global const T *R, const ulong R_off,
                              global T *Y, const ulong Y_off, const int fn, const int has)
{
    const int n0 = get_group_id(0) * 64, n1 = min(n0 + 64, N);
    X += X_off;
    Wp += Wp_off;
    for (int n = n0; n < n1; n++) {
        const float scale = is_scaled ? ((global const float *) (Wp + scales))[n] : 1.0f;
        for (int p = 0; p < rows; p += M) {
            float16 s[M];
#pragma unroll
            for (int i = 0; i < M; i++)
                s[i] = (float16)(0.0f);
            for (int k = 0; k < C; k += 16) {
                const float16 w = VALUES(Wp, (grids) (Wp + grid), (ulong) n * C + k) * scale;
#pragma unroll
                for (int i = 0; i < M; i++) // those beyond the last row are computed in vain
                    s[i] = fma(LOAD16(X + (long) min(p + i, rows - 1) * C + k), w, s[i]);
            }
#pragma unroll
            for (int i = 0; i < M; i++) {
                const long at = (long) (p + i) * ld + n;
                if (p + i >= rows)
                    break;
                STORE_RESULT(at, n, sum_of(s[i]));
            }
        }
    }
}
#else
INLINE void block(local const float *x, int n, global const W_t *w, local float16 *acc)
{
    float16 s[M * CV];
#pragma unroll
    for (int i = 0; i < M; i++)
#pragma unroll
        for (int v = 0; v < CV; v++)
            s[i * CV + v] = acc[i * 4 + v];
    for (int k = 0; k < n; k++, w += 64) {
        float16 b[CV];
#pragma unroll
        for (int v = 0; v < CV; v++)
            b[v] = LOADW16(w + v * 16);
#pragma unroll
        for (int i = 0; i < M; i++)
#pragma unroll
            for (int v = 0; v < CV; v++)
                s[i * CV + v] = fma((float16)(x[i * KC + k]), b[v], s[i * CV + v]);
    }
#pragma unroll
    for (int i = 0; i < M; i++)
#pragma unroll
        for (int v = 0; v < CV; v++)
            acc[i * 4 + v] = s[i * CV + v];
}

// xs[..][KC] = channels k .. k + n of the rows, zero for what M divides beyond them.
INLINE void gather(global const T *X, int rows, int C, int k, int n, local float *xs)
{
    for (int r = 0; r < (rows + M - 1) / M * M; r++, xs += KC) {
        int i = 0;
        if (r < rows) {
            global const T *x = X + (long) r * C + k;
            for (; i + 16 <= n; i += 16)
                *(local float16_u *) (xs + i) = LOAD16(x + i);
            for (; i < n; i++)
                xs[i] = LOAD(x + i);
        }
        for (; i < n; i++)
            xs[i] = 0.0f;
    }
}

kernel WG1 void linear_skinny(const int rows, const int N, const int ld, const int C, global const T *X,
                              const ulong X_off, global const W_t *restrict Wp, const ulong Wp_off,
                              global const float *restrict bias, const ulong bias_off,
                              global const T *R, const ulong R_off, global T *Y, const ulong Y_off,
                              const int fn, const int has)
{
    local float xs[ROWS * KC];
    local float16 acc[ROWS * 4];
    const int n0 = get_group_id(0) * 64, n1 = min(n0 + 64, N);
    Wp += Wp_off + (long) get_group_id(0) * ((C + 15) & ~15) * 64;
    for (int i = 0; i < ROWS * 4; i++)
        acc[i] = (float16)(0.0f);
    for (int k = 0; k < C; k += KC) {
        const int n = min(KC, C - k);
        gather(X + X_off, rows, C, k, n, xs);
        for (int v = 0; v < 4; v += CV)
            for (int r = 0; r < rows; r += M)
                block(xs + r * KC, n, Wp + (long) k * 64 + v * 16, acc + r * 4 + v);
    }
    for (int r = 0; r < rows; r++) {
        const long at = (long) r * ld;
        const local float *s = (const local float *) (acc + r * 4);
        for (int n = n0; n < n1; n++)
            STORE_RESULT(at + n, n, s[n - n0]);
    }
}
#endif // RAW
