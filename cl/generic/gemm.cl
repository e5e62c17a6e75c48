// Implicit GEMM, a work-group of 256 a tile. What it computes and its options: product.cl.
//   -D TM= TN=  results of a work-item, -D WM= work-items along rows                      [8 8 16]
#include "product.cl"

// ---- a work-group of 256 per tile, results in registers ------------------------------------------
// A tile is BM rows x BN columns, TM x TN of them a work-item's. K is walked in steps of 16 channels
// of one tap through two buffers in __local: while one is multiplied, the next step's elements are
// on their way to registers, so one barrier a step is enough.
//
// Global size: (tiles along rows * 256, tiles along columns), work-group size 256.
// -D VECC=1 VECN=1: C, ld are multiples of 4, so that quads of X, and of R and Y, are aligned.
#ifndef TM
#define TM 8
#endif
#ifndef TN
#define TN 8
#endif
#ifndef WM
#define WM 16
#endif
#define WN (256 / WM)
#define BM (TM * WM)
#define BN (TN * WN)
#define BK 16
#define LDA (BM + 4)
#define LDB (BN + 4)
#define QA (BM / 64)                    // quads of A that a work-item moves in a step
#define QB (BN >= 64 ? BN / 64 : 1)     // quads of B, 64 columns apart
#define ROW_QUADS (BN >= 64 ? 16 : BN / 4)
#define COLUMN(q) (tx * 4 + (q) *WN * 4) // of a work-item's q-th quad of results

// Four channels from c on of an input pixel, zero outside.
INLINE float4 load_a(global const T *X, int C, int c)
{
    if (!X || c >= C)
        return (float4)(0.0f);
    X += c;
#if VECC
    return LOAD4A(X);
#else
    const int n = C - c;
    return (float4)(LOAD(X), n > 1 ? LOAD(X + 1) : 0.0f, n > 2 ? LOAD(X + 2) : 0.0f,
                    n > 3 ? LOAD(X + 3) : 0.0f);
#endif
}

kernel WG(256) void gemm(int row0, int row1, int N, int ld, int C, int H, int W, int OH, int OW, int ks,
                         int stride, int pad, int up, global const T *X, const ulong X_off,
                         global const W_t *restrict Wp, const ulong Wp_off RAW_ARGS,
                         global const float *restrict bias, const ulong bias_off,
                         global const T *R, const ulong R_off, global T *Y,
                         const ulong Y_off VIDEO_ARGS, int fn, int has)
{
    local float As[2][BK * LDA], Bs[2][BK * LDB];
    const geometry g = { H, W, OH, OW, ks, stride, pad, up, VIDEO_GEOMETRY };
    const int t = get_local_id(0), tx = t % WN, ty = t / WN;
    const int p0 = row0 + get_group_id(0) * BM, n0 = get_group_id(1) * BN;
    const int taps = TAPS(&g), Cp = (C + 15) & ~15;
    // What this work-item moves: rows t / 4 + 64 q of A, channels (t % 4) * 4; row kb of B, or the same
    // channels of its columns t / 4 + 64 q.
    const int ca = (t & 3) * 4, ra = t >> 2;
    const int moves_b = t < BK * ROW_QUADS;
    X += X_off;
    Wp += Wp_off;
#ifdef RAW
    float scale[QB];
#pragma unroll
    for (int i = 0; i < QB; i++)
        scale[i] = is_scaled && n0 + ra + i * 64 < N
                       ? ((global const float *) (Wp + scales))[n0 + ra + i * 64]
                       : 1.0f;
#else
    const int kb = t / ROW_QUADS, nb = t % ROW_QUADS * 4, panels = (N + 63) / 64;
    Wp += (long) (n0 / 64) * taps * Cp * 64 + n0 % 64 + nb;
#endif

    pixel q[QA];
    float4 a[QA], b[QB];
    float acc[TM][TN];
#pragma unroll
    for (int i = 0; i < QA; i++)
        q[i] = pixel_at(&g, min(p0 + ra + i * 64, row1 - 1));
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++)
            acc[i][j] = 0.0f;

    const int steps = (taps - FIRST_TAP) * (Cp / 16);
    int tap = FIRST_TAP, c = 0; // of the elements that are loaded next
    global const T *x[QA];
    for (int step = -1; step < steps; step++) {
        const int has_next = step + 1 < steps;
        if (has_next) {
#pragma unroll
            for (int i = 0; i < QA; i++) {
                if (c == 0)
                    x[i] = inputs(source(&g, &q[i], tap), C, X, EARLIER);
                a[i] = load_a(x[i], C, c + ca);
            }
#pragma unroll
            for (int i = 0; i < QB; i++)
#ifdef RAW
                b[i] = moves_b && n0 + ra + i * 64 < N
                           ? VALUES(Wp, (grids) (Wp + grid),
                                    ((ulong) (n0 + ra + i * 64) * taps + tap) * Cp + c + ca) * scale[i]
                           : (float4)(0.0f);
#else
                b[i] = moves_b && n0 / 64 + i < panels
                           ? LOADW4A(Wp + ((long) (i * taps + tap) * Cp + c + kb) * 64)
                           : (float4)(0.0f);
#endif
            if ((c += 16) >= Cp) {
                c = 0;
                tap++;
            }
        }
        if (step >= 0) {
            const local float *as = As[step & 1] + ty * TM, *bs = Bs[step & 1] + tx * 4;
#pragma unroll 4 // all 16 cost registers that gfx11 does not have
            for (int k = 0; k < BK; k++) {
                float av[TM], bv[TN];
#pragma unroll
                for (int i = 0; i < TM; i += 4)
                    *(float4 *) (av + i) = *(const local float4 *) (as + k * LDA + i);
#pragma unroll
                for (int j = 0; j < TN; j += 4)
                    *(float4 *) (bv + j) = *(const local float4 *) (bs + k * LDB + j * WN);
#pragma unroll
                for (int i = 0; i < TM; i++)
#pragma unroll
                    for (int j = 0; j < TN; j++)
                        acc[i][j] = fma(av[i], bv[j], acc[i][j]);
            }
        }
        if (has_next) {
            local float *as = As[(step + 1) & 1] + ca * LDA + ra, *bs = Bs[(step + 1) & 1];
#pragma unroll
            for (int i = 0; i < QA; i++) {
                as[i * 64] = a[i].x;
                as[i * 64 + LDA] = a[i].y;
                as[i * 64 + 2 * LDA] = a[i].z;
                as[i * 64 + 3 * LDA] = a[i].w;
            }
            if (moves_b)
#pragma unroll
                for (int i = 0; i < QB; i++) {
#ifdef RAW
                    local float *to = bs + ca * LDB + ra + i * 64;
                    to[0] = b[i].x;
                    to[LDB] = b[i].y;
                    to[2 * LDB] = b[i].z;
                    to[3 * LDB] = b[i].w;
#else
                    *(local float4 *) (bs + kb * LDB + nb + i * 64) = b[i];
#endif
                }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    // Four results at a time, the others moved up, so that there is one copy of what follows.
#pragma nounroll
    for (int i = 0; i < TM; i++) {
        const int p = p0 + ty * TM + i;
#pragma nounroll
        for (int j = 0; j < TN; j += 4) {
            const int n = n0 + COLUMN(j / 4);
            const long at = (long) p * ld + n;
            float4 v = (float4)(acc[0][0], acc[0][1], acc[0][2], acc[0][3]);
#pragma unroll
            for (int k = 0; k + 4 < TN; k++)
                acc[0][k] = acc[0][k + 4];
            if (n >= N || p >= row1)
                continue;
            if (has & HAS_BIAS)
                v += *(global const float4 *) (bias + bias_off + n);
#if VECN
            if (has & HAS_ADDED)
                v += LOAD4A(R + R_off + at);
            STORE4A(Y + Y_off + at, act4(v, fn));
#else
            float e[4] = { v.x, v.y, v.z, v.w };
            for (int k = 0; k < 4 && (has & HAS_ADDED); k++)
                e[k] += n + k < N ? LOAD(R + R_off + at + k) : 0.0f;
            v = act4((float4)(e[0], e[1], e[2], e[3]), fn);
            e[0] = v.x, e[1] = v.y, e[2] = v.z, e[3] = v.w;
            for (int k = 0; k < 4 && n + k < N; k++)
                STORE(Y + Y_off + at + k, e[k]);
#endif
        }
#pragma unroll
        for (int k = 0; k + 1 < TM; k++)
#pragma unroll
            for (int j = 0; j < TN; j++)
                acc[k][j] = acc[k + 1][j];
    }
}
