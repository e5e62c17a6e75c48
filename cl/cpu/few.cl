// Implicit GEMM of very few columns: a register tile would be mostly padding, so here the
// channels are in the lanes and two pixels share each vector of weights. Otherwise like gemm.cl.
// Reference: core/op/ref/gemm.c.
//   -D FEW=n   N, at most 4; C is a multiple of 16, N * K <= FEW_MAX. nb is not used.
#include "product.cl"

#if FEW
#define FEW_MAX 24576

INLINE void add_one(global const T *x, int C, const local float *w, int K, float16 *s)
{
    for (int c = 0; c < C; c += 16) {
        const float16 v = LOAD16(x + c);
#pragma unroll
        for (int n = 0; n < FEW; n++)
            s[n] = fma(v, *(const local float16_u *) (w + n * K + c), s[n]);
    }
}

INLINE void add_two(global const T *x, global const T *y, int C, const local float *w, int K,
                    float16 *s, float16 *t)
{
    for (int c = 0; c < C; c += 16) {
        const float16 v = LOAD16(x + c), u = LOAD16(y + c);
#pragma unroll
        for (int n = 0; n < FEW; n++) {
            const float16 f = *(const local float16_u *) (w + n * K + c);
            s[n] = fma(v, f, s[n]);
            t[n] = fma(u, f, t[n]);
        }
    }
}

kernel WG1 void gemm_few(int row0, int row1, int N, int ld, int C, int H, int W, int OH, int OW, int ks,
                         int stride, int pad, int up, global const T *X, const ulong X_off,
                         global const W_t *restrict Wp, const ulong Wp_off,
                         global const float *restrict bias, const ulong bias_off,
                         global const T *R, const ulong R_off, global T *Y, const ulong Y_off,
                         int rows, int nb VIDEO_ARGS, int fn, int has)
{
    local float w[FEW_MAX]; // [N][taps][C]
    const geometry g = { H, W, OH, OW, ks, stride, pad, up, VIDEO_GEOMETRY };
    const int p0 = row0 + get_group_id(0) * rows, p1 = min(p0 + rows, row1), K = TAPS(&g) * C;
    X += X_off;
    Wp += Wp_off;
    for (int k = 0; k < K; k++)
        for (int n = 0; n < FEW; n++)
            w[n * K + k] = LOADW(Wp + k * 64 + n);
    pixel q = pixel_at(&g, p0);
    for (int p = p0; p < p1; p += 2) {
        const int two = p + 1 < p1;
        float16 s[2][FEW];
#pragma unroll
        for (int n = 0; n < FEW; n++)
            s[0][n] = s[1][n] = (float16)(0.0f);
        pixel r = q;
        next(&g, &r);
        for (int t = FIRST_TAP; t < TAPS(&g); t++) {
            global const T *a = inputs(source(&g, &q, t), C, X, EARLIER);
            global const T *b = two ? inputs(source(&g, &r, t), C, X, EARLIER) : 0;
            if (a && b)
                add_two(a, b, C, w + t * C, K, s[0], s[1]);
            else if (a)
                add_one(a, C, w + t * C, K, s[0]);
            else if (b)
                add_one(b, C, w + t * C, K, s[1]);
        }
        for (int i = 0; i <= two; i++)
            for (int n = 0; n < FEW; n++) {
                const long at = (long) (p + i) * ld + n;
                STORE_RESULT(at, n, sum_of(s[i][n]));
            }
        next(&g, &r);
        q = r;
    }
}
#endif
