// Implicit GEMM: linear layers, 1x1 and 3x3 convolutions. Reference: core/op/ref/gemm.c.
//
//   Y[p][n] = act(bias[n] + R[p][n] + sum over taps t, channels c of X[source(p, t)][c] W[t][c][n])
//
//   X     [B][H][W][C]          Y, R  [B][OH][OW][N]     all of storage type T (F16, BF16)
//   Wp    panels of 64 columns [ceil(N/64)][ks*ks][Cp][64], Cp = C up to 16, zero-filled
//   bias  f32, N up to 64, zero-filled
//   A linear layer is a 1x1 convolution of an image that is one row high.
//   A launch may make some columns only: N of them, in rows of Y and R that are ld apart.
//   Rows row0 .. row1 of Y are made by this launch (a long product is split, so that a cancel need
//   not wait for all of it). R may be Y: each element is read before the same work-item writes it.
//
//   A causal convolution in time (-D VIDEO=1) has B result frames and 3 * ks * ks taps; X is one clip,
//   P holds the `earlier` frames before it, and pad_t frames of zeros are before those.
//
//   -D WT=f32|f16|bf16  storage of Wp                                                       [f32]
//   -D RAW=TYPE         Wp are rows [N][C] as their file stores them, decoded as they are needed: see
//                       blocks.cl; C is a multiple of 16, and there is one tap
//   -D ACT=n            activation (common.cl)                                                [0]
//   -D BIAS=1 RES=1     bias and R are there                                                  [0]
//   SCHED_CPU:     the register tile is chosen by the instruction set (common.cl)
//   SCHED_GENERIC: -D TM= TN= results of a work-item, -D WM= work-items along rows       [8 8 16]
#include "product.cl"

#if SCHED_CPU
// ---- one CPU work-item per macro tile -----------------------------------------------------------
// A macro tile is up to ROWS rows x NB panels. K = taps * C is walked in blocks of KC: the inputs of
// the block are gathered and converted to f32 once, then NR columns of the weights at a time are
// converted and multiplied in MR x NR register tiles. The sums stay in __local, which is ordinary
// cached memory on a CPU, until the end. All __local arrays together stay below 256 KiB, the
// smallest second-level cache in use, which PoCL reports as the limit.
//
// Global size: (macro tiles along rows, macro tiles along columns), work-group size 1.
#if NV == 4
#define KC 128
#else
#define KC 192
#endif
#define ROWS 96
#define NB 4
#define LDX (KC + 16)
#define LDACC (NB * 4) // in float16

INLINE void copy_row(local float *d, global const T *x, int n)
{
    int i = 0;
    for (; i + 16 <= n; i += 16)
        *(local float16_u *) (d + i) = LOAD16(x + i);
    for (; i + 4 <= n; i += 4)
        *(local float4_u *) (d + i) = LOAD4(x + i);
    for (; i < n; i++)
        d[i] = LOAD(x + i);
}

INLINE void zero_row(local float *d, int n)
{
    int i = 0;
    for (; i + 16 <= n; i += 16)
        *(local float16_u *) (d + i) = (float16)(0.0f);
    for (; i < n; i++)
        d[i] = 0.0f;
}

// xs[r][0 .. n) = channels c .. c+n of np rows' inputs under tap t. Returns the pixel behind the last.
INLINE pixel gather(const geometry *g, pixel q, int np, int t, int c, int n, int C,
                    global const T *X, global const T *P, local float *xs)
{
    for (int r = 0; r < np; r++, next(g, &q)) {
        global const T *x = inputs(source(g, &q, t), C, X, P);
        if (x)
            copy_row(xs + r * LDX, x + c, n);
        else
            zero_row(xs + r * LDX, n);
    }
    return q;
}

#ifndef RAW
// ws[s][k][NR] = columns s * NR .. of n rows of a panel, for s < subs.
INLINE void convert(global const W_t *w, int n, int subs, local float16 *ws)
{
    for (int k = 0; k < n; k++)
        for (int s = 0; s < subs; s++)
            for (int v = 0; v < NV; v++)
                ws[(s * KC + k) * NV + v] = LOADW16(w + k * 64 + s * NR + v * 16);
}

// The macro tile: rows from pixel p0 on, panels j0 .. j1. Of the last MR rows those beyond np are
// computed from whatever is there and never stored. Taps before tap0 see zeros only.
INLINE void accumulate(const geometry *g, int p0, int np, int j0, int j1, int N, int C, int tap0,
                       global const T *X, global const T *P, global const W_t *Wp,
                       local float *xs, local float16 *ws, local float16 *acc)
{
    const int taps = TAPS(g), K = taps * C, Cp = (C + 15) & ~15, first = tap0 * C;
    const pixel q = pixel_at(g, p0);
    for (int k0 = first; k0 < K; k0 += KC) {
        const int kc = min(KC, K - k0), t0 = k0 / C, c0 = k0 - t0 * C;
        for (int k = 0, t = t0, c = c0; k < kc; t++, c = 0) {
            const int n = min(C - c, kc - k);
            gather(g, q, np, t, c, n, C, X, P, xs + k);
            k += n;
        }
        for (int j = j0; j < j1; j++) {
            const int subs = (min(64, N - j * 64) + NR - 1) / NR;
            for (int k = 0, t = t0, c = c0; k < kc; t++, c = 0) {
                const int n = min(C - c, kc - k);
                convert(Wp + ((long) (j * taps + t) * Cp + c) * 64, n, subs, ws + k * NV);
                k += n;
            }
            for (int s = 0; s < subs; s++)
                for (int r = 0; r < np; r += MR)
                    tile_product(kc, xs + r * LDX, LDX, ws + s * KC * NV,
                                 acc + r * LDACC + (j - j0) * 4 + s * NV, LDACC, k0 == first);
        }
    }
}

#else
// A macro tile is up to RAW_ROWS rows x one panel: a block of the panel is decoded once for all of them,
// while their inputs are gathered RAW_STEP rows at a time.
#define RAW_ROWS 768
#define RAW_STEP 12

// ws[s][k][NR] = columns n0 + s * NR .. of n channels from c on.
INLINE void decode(bytes W, grids grid, global const float *scales, int is_scaled, int n0,
                   int columns, int C, int c, int n, local float *ws)
{
    for (int s = 0; s < columns; s += NR)
        for (int k = 0; k < n; k += 16)
            for (int i = s; i < min(s + NR, columns); i++) {
                float v[16];
                *(private float16 *) v = VALUES(W, grid, (ulong) (n0 + i) * C + c + k) *
                                         (is_scaled ? scales[n0 + i] : 1.0f);
#pragma unroll
                for (int j = 0; j < 16; j++)
                    ws[s * KC + (k + j) * NR + i - s] = v[j];
            }
}

INLINE void accumulate_raw(const geometry *g, int p0, int np, int n0, int columns, int C,
                           global const T *X, bytes W, grids grid, global const float *scales,
                           int is_scaled, local float *xs, local float16 *ws, local float16 *acc)
{
    const pixel first = pixel_at(g, p0);
    for (int c = 0; c < C; c += KC) {
        const int n = min(KC, C - c);
        pixel q = first;
        decode(W, grid, scales, is_scaled, n0, columns, C, c, n, (local float *) ws);
        for (int r = 0; r < np; r += RAW_STEP) {
            const int rows = min(RAW_STEP, np - r);
            q = gather(g, q, rows, 0, c, n, C, X, 0, xs);
            for (int s = 0; s < columns; s += NR)
                for (int i = 0; i < rows; i += MR)
                    tile_product(n, xs + i * LDX, LDX, ws + s / 16 * KC,
                                 acc + (r + i) * 4 + s / 16, 4, c == 0);
        }
    }
}
#endif

// One row of the tile: bias, residual, activation, store.
INLINE void finish(const local float16 *acc, int n0, int n1, global const float *bias,
                   global const T *R, global T *Y)
{
    for (int n = n0; n < n1; n += 16, acc++) {
        float16 v = *acc;
#if BIAS
        v += load16_f32(bias + n);
#endif
        if (n + 16 <= n1) {
#if RES
            v += LOAD16(R + n);
#endif
            STORE16(Y + n, act16(v));
        } else { // by element: the next row starts here
            float s[16];
            *(float16_u *) s = v;
            for (int i = 0; i < n1 - n; i++) {
#if RES
                s[i] += LOAD(R + n + i);
#endif
                STORE(Y + n + i, act(s[i]));
            }
        }
    }
}

#ifdef RAW
kernel WG1 void gemm(int row0, int row1, int N, int ld, int C, int H, int W, int OH, int OW, int ks,
                     int stride, int pad, int up, global const T *X, const ulong X_off,
                     global const W_t *restrict Wp, const ulong Wp_off RAW_ARGS,
                     global const float *restrict bias, const ulong bias_off, global const T *R,
                     const ulong R_off, global T *Y, const ulong Y_off, int rows, int nb)
{
    local float16 ws[KC * 4], acc[RAW_ROWS * 4];
    local float xs[RAW_STEP * LDX];
    const geometry g = { H, W, OH, OW, ks, stride, pad, up, VIDEO_GEOMETRY };
    const int p0 = row0 + get_group_id(0) * rows, np = min(rows, row1 - p0);
    const int n0 = get_group_id(1) * 64, n1 = min(n0 + 64, N);
    Wp += Wp_off;
    accumulate_raw(&g, p0, np, n0, n1 - n0, C, X + X_off, Wp, (grids) (Wp + grid),
                   (global const float *) (Wp + scales), is_scaled, xs, ws, acc);
    for (int r = 0; r < np; r++) {
        const long at = (long) (p0 + r) * ld;
        finish(acc + r * 4, n0, n1, bias + bias_off, R + R_off + at, Y + Y_off + at);
    }
}
#else
// rows: of a macro tile, at most ROWS; nb: its panels, at most NB.
kernel WG1 void gemm(int row0, int row1, int N, int ld, int C, int H, int W, int OH, int OW, int ks,
                     int stride, int pad, int up, global const T *X, const ulong X_off,
                     global const W_t *restrict Wp, const ulong Wp_off,
                     global const float *restrict bias, const ulong bias_off, global const T *R,
                     const ulong R_off, global T *Y, const ulong Y_off, int rows, int nb VIDEO_ARGS)
{
    local float16 ws[KC * 4], acc[ROWS * LDACC];
    local float xs[ROWS * LDX];
    const geometry g = { H, W, OH, OW, ks, stride, pad, up, VIDEO_GEOMETRY };
    const int p0 = row0 + get_group_id(0) * rows, np = min(rows, row1 - p0);
    const int j0 = get_group_id(1) * nb, j1 = min(j0 + nb, (N + 63) / 64);
    accumulate(&g, p0, np, j0, j1, N, C, FIRST_TAP, X + X_off, EARLIER, Wp + Wp_off, xs, ws, acc);
    for (int r = 0; r < np; r++) {
        const long at = (long) (p0 + r) * ld;
        finish(acc + r * LDACC, j0 * 64, min(j1 * 64, N), bias + bias_off, R + R_off + at,
               Y + Y_off + at);
    }
}
#endif // RAW
#endif // SCHED_CPU

#if SCHED_GENERIC
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
                         const ulong Y_off VIDEO_ARGS)
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
                                    (ulong) (n0 + ra + i * 64) * C + c + ca) * scale[i]
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

#pragma unroll
    for (int i = 0; i < TM; i++) {
        const int p = p0 + ty * TM + i;
        if (p >= row1)
            break;
#pragma unroll
        for (int j = 0; j < TN; j += 4) {
            const int n = n0 + COLUMN(j / 4);
            const long at = (long) p * ld + n;
            float4 v = (float4)(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
            if (n >= N)
                continue;
#if BIAS
            v += *(global const float4 *) (bias + bias_off + n);
#endif
#if VECN
#if RES
            v += LOAD4A(R + R_off + at);
#endif
            STORE4A(Y + Y_off + at, act4(v));
#else
            const float e[4] = { v.x, v.y, v.z, v.w };
#pragma unroll
            for (int k = 0; k < 4; k++)
                if (n + k < N) {
#if RES
                    STORE(Y + Y_off + at + k, act(e[k] + LOAD(R + R_off + at + k)));
#else
                    STORE(Y + Y_off + at + k, act(e[k]));
#endif
                }
#endif
        }
    }
}
#endif // SCHED_GENERIC
