// Implicit GEMM, one work-item a macro tile. What it computes and its options: product.cl. The register
// tile is chosen by the instruction set (common.cl).
#include "product.cl"

// ---- one CPU work-item per macro tile -----------------------------------------------------------
// A macro tile is up to ROWS rows x NB panels. K = taps * C is walked in blocks of KC: the inputs of
// the block are gathered and converted to f32 once, then NR columns of the weights at a time are
// converted and multiplied in MR x NR register tiles. The sums stay in __local, which is ordinary
// cached memory on a CPU, until the end. All __local arrays together stay below 256 KiB, the
// smallest second-level cache in use, which PoCL reports as the limit.
//
// With -D DOTS inputs and weights are bf16 and a step of the register tile multiplies two channels, so
// that a block has twice as many: the same bytes. C is even then.
//
// Global size: (macro tiles along rows, macro tiles along columns), work-group size 1.
#if NV == 4
#define KS 128 // steps of a block
#else
#define KS 192
#endif
#define KC (KS * STEP) // its channels
#define ROWS 96
#define NB 4
#define LDX (KC + 16 * STEP)
#define LDACC (NB * 4) // in float16

#if DOTS
typedef ushort in_t; // bf16
typedef ushort4_u in4;
typedef ushort16_u in16;
#define IN(x) (*(x))
#define IN4(x) (*(global const ushort4_u *) (x))
#define IN16(x) (*(global const ushort16_u *) (x))
#else
typedef float in_t;
typedef float4_u in4;
typedef float16_u in16;
#define IN LOAD
#define IN4 LOAD4
#define IN16 LOAD16
#endif

INLINE void copy_row(local in_t *d, global const T *x, int n)
{
    int i = 0;
    for (; i + 16 <= n; i += 16)
        *(local in16 *) (d + i) = IN16(x + i);
    for (; i + 4 <= n; i += 4)
        *(local in4 *) (d + i) = IN4(x + i);
    for (; i < n; i++)
        d[i] = IN(x + i);
}

INLINE void zero_row(local in_t *d, int n)
{
    int i = 0;
    for (; i + 16 <= n; i += 16)
        *(local in16 *) (d + i) = (in16)(0);
    for (; i < n; i++)
        d[i] = 0;
}

// xs[r][0 .. n) = channels c .. c+n of np rows' inputs under tap t; after[r]: the address of what follows
// them. Returns the pixel behind the last.
INLINE pixel gather(const geometry *g, pixel q, int np, int t, int c, int n, int C,
                    global const T *X, global const T *P, local in_t *xs, local ulong *after)
{
    for (int r = 0; r < np; r++, next(g, &q)) {
        global const T *x = inputs(source(g, &q, t), C, X, P);
        after[r] = (ulong) (x ? x + c + n : X);
        if (x)
            copy_row(xs + r * LDX, x + c, n);
        else
            zero_row(xs + r * LDX, n);
    }
    return q;
}

// Asks for n bytes of each of some rows, from byte `from` on.
INLINE void ask_for_rows(const local ulong *rows, int n_rows, int from, int n)
{
    for (int i = 0; i < n_rows; i++)
        ask_for(rows[i] + from, n);
}

#ifndef RAW
// Panels of f32 with 64 columns are what the register tile reads.
#define AS_READ_f32 (NV == 4 && !DOTS)
#define PANELS_AS_READ PASTE(AS_READ_, WT)
#if PANELS_AS_READ
DEFINE_TILE(tile_panel, local, global, local)
#endif
// Rows of inputs that are stored as they are multiplied can be read where they lie, too, unless they are
// so far apart that they would drive each other out of a second-level cache.
#define ROWS_AS_READ_f32 1
#define ROWS_AS_READ_bf16 DOTS
#define ROWS_AS_READ PASTE(ROWS_AS_READ_, STORAGE)
#define FAR_APART (16384 / (int) sizeof(T))
#if ROWS_AS_READ && PANELS_AS_READ
DEFINE_TILE(tile_in_place, global, global, local)
#elif ROWS_AS_READ
DEFINE_TILE(tile_rows, global, local, local)
#endif

#if DOTS
// What is multiplied in a step with two values of a row of inputs.
#define AS_IT_IS(w) convert_uint16(*(global const ushort16_u *) (w))
#define ROUNDED(w) convert_uint16(tile_bf16(LOADW16(w)))
#define AS_BF16_bf16 AS_IT_IS
#define AS_BF16_f16 ROUNDED
#define AS_BF16_f32 ROUNDED
#define AS_BF16 PASTE(AS_BF16_, WT)
#define WEIGHTS(w) as_int16(AS_BF16(w) | AS_BF16((w) + 64) << 16)
#else
#define WEIGHTS LOADW16
#endif

// ws[k][NR] = NR columns of n steps of a panel.
INLINE void convert(global const W_t *w, int n, local tile_ones *ws)
{
    for (int k = 0; k < n; k++, w += 64 * STEP)
        for (int v = 0; v < NV; v++)
            ws[k * NV + v] = WEIGHTS(w + v * 16);
}

// The macro tile: rows from pixel p0 on, panels j0 .. j1. Of the last MR rows those beyond np are
// computed from whatever is there and never stored. Taps before tap0 see zeros only. While a panel is
// multiplied, the one after it is asked for.
INLINE void accumulate(const geometry *g, int p0, int np, int j0, int j1, int N, int C, int tap0,
                       global const T *X, global const T *P, global const W_t *Wp,
                       global const T *Y, long ld, local in_t *xs, local tile_ones *ws, local float16 *acc,
                       local ulong *after)
{
    const int taps = TAPS(g), K = taps * C, Cp = (C + 15) & ~15, first = tap0 * C;
    const long panel = (long) taps * Cp;
#if ROWS_AS_READ
    const int is_plain = taps == 1 && g->stride == 1 && !g->pad && !g->up && C == Cp;
    const int whole = is_plain && C % FAR_APART ? np / MR * MR : 0; // rows that need no copy
#else
    const int whole = 0;
#endif
    const pixel q = pixel_at(g, p0 + whole);
    for (int k0 = first; k0 < K; k0 += KC) {
        const int kc = min(KC, K - k0), t0 = k0 / C, c0 = k0 - t0 * C;
        for (int k = 0, t = t0, c = c0; k < kc; t++, c = 0) {
            const int n = min(C - c, kc - k);
            gather(g, q, np - whole, t, c, n, C, X, P, xs + whole * LDX + k, after + whole);
            k += n;
        }
        for (int r = 0; r < whole; r++)
            after[r] = (ulong) (X + (long) (p0 + r) * C + k0 + kc);
        const int is_last = k0 + kc == K;
        const int part = is_last ? 64 * (int) sizeof(T) : KC * (int) sizeof(T) / (j1 - j0);
        if (is_last)
            for (int r = 0; r < np; r++)
                after[r] = (ulong) (Y + (p0 + r) * ld + j0 * 64);
        for (int j = j0; j < j1; j++) {
            const int subs = (min(64, N - j * 64) + NR - 1) / NR;
            global const W_t *next =
                Wp + (j + 1 < j1 ? (j + 1) * panel + k0 : j0 * panel + k0 + kc) * 64;
            const int tiles = (np + MR - 1) / MR * subs;
            const int steps = kc / STEP, bytes = kc * 64 * (int) sizeof(W_t);
            const int each = share(bytes, tiles, steps), asked = steps / 4 * each;
            ulong ahead = (ulong) next;
            local float16 *sums = acc + (j - j0) * 4;
#if PANELS_AS_READ
            if (C == Cp) {
                global const float16 *w = (global const float16 *) (Wp + (j * panel + k0) * 64);
                for (int r = 0; r < np; r += MR, ahead += asked) {
                    ask_for_rows(after + r, min(MR, np - r), (j - j0) * part, part);
#if ROWS_AS_READ
                    if (r < whole)
                        tile_in_place(steps, X + (long) (p0 + r) * C + k0, C, w, sums + r * LDACC, LDACC,
                                      k0 == first, ahead, each);
                    else
#endif
                        tile_panel(steps, xs + r * LDX, LDX, w, sums + r * LDACC, LDACC, k0 == first,
                                   ahead, each);
                }
                continue;
            }
#endif
            for (int s = 0; s < subs; s++) {
                for (int k = 0, t = t0, c = c0; k < kc; t++, c = 0) {
                    const int n = min(C - c, kc - k);
                    convert(Wp + (j * panel + t * Cp + c) * 64 + s * NR, n / STEP, ws + k / STEP * NV);
                    k += n;
                }
                for (int r = 0; r < np; r += MR, ahead += asked) {
                    if (!s)
                        ask_for_rows(after + r, min(MR, np - r), (j - j0) * part, part);
#if ROWS_AS_READ && !PANELS_AS_READ
                    if (r < whole)
                        tile_rows(steps, (global const tile_one *) (X + (long) (p0 + r) * C + k0), C / STEP,
                                  ws, sums + r * LDACC + s * NV, LDACC, k0 == first, ahead, each);
                    else
#endif
                        tile_product(steps, (local const tile_one *) (xs + r * LDX), LDX / STEP, ws,
                                     sums + r * LDACC + s * NV, LDACC, k0 == first, ahead, each);
                }
            }
        }
    }
}

#else
// A macro tile is up to RAW_ROWS rows x one panel: a block of the panel is decoded once for all of them,
// while their inputs are gathered RAW_STEP rows at a time.
#define RAW_ROWS 768
#define RAW_STEP 12

// 16 channels as the register tile takes them.
#if DOTS
#define CHANNELS int8
#define AS_STEPS(values) as_int8(tile_bf16(values))
#else
#define CHANNELS float16
#define AS_STEPS(values) (values)
#endif

// ws[s][k][NR] = columns n0 + s * NR .. of n channels from c on.
INLINE void decode(bytes W, grids grid, global const float *scales, int is_scaled, int n0,
                   int columns, int C, int c, int n, local tile_one *ws)
{
    for (int s = 0; s < columns; s += NR)
        for (int k = 0; k < n; k += 16)
            for (int i = s; i < min(s + NR, columns); i++) {
                const float16 values = VALUES(W, grid, (ulong) (n0 + i) * C + c + k) *
                                       (is_scaled ? scales[n0 + i] : 1.0f);
                tile_one v[16 / STEP];
                *(private CHANNELS *) v = AS_STEPS(values);
#pragma unroll
                for (int j = 0; j < 16 / STEP; j++)
                    ws[s * KS + (k / STEP + j) * NR + i - s] = v[j];
            }
}

INLINE void accumulate_raw(const geometry *g, int p0, int np, int n0, int columns, int C,
                           global const T *X, bytes W, grids grid, global const float *scales,
                           int is_scaled, local in_t *xs, local tile_ones *ws, local float16 *acc,
                           local ulong *after)
{
    const pixel first = pixel_at(g, p0);
    for (int c = 0; c < C; c += KC) {
        const int n = min(KC, C - c);
        pixel q = first;
        decode(W, grid, scales, is_scaled, n0, columns, C, c, n, (local tile_one *) ws);
        for (int r = 0; r < np; r += RAW_STEP) {
            const int rows = min(RAW_STEP, np - r);
            q = gather(g, q, rows, 0, c, n, C, X, 0, xs, after);
            for (int s = 0; s < columns; s += NR)
                for (int i = 0; i < rows; i += MR)
                    tile_product(n / STEP, (local const tile_one *) (xs + i * LDX), LDX / STEP,
                                 ws + s / 16 * KS, acc + (r + i) * 4 + s / 16, 4, c == 0, 0, 0);
        }
    }
}
#endif

// One row of the tile: bias, residual, activation, store.
INLINE void finish(const local float16 *acc, int n0, int n1, global const float *bias,
                   global const T *R, global T *Y, int fn, int has)
{
    for (int n = n0; n < n1; n += 16, acc++) {
        const int left = n1 - n;
        float16 v = *acc;
        if (has & HAS_BIAS)
            v += load16_f32(bias + n);
        if (has & HAS_ADDED)
            v += load16_some(R + n, left);
        store16_some(Y + n, act16(v, fn), left);
    }
}

#ifdef RAW
kernel WG1 void gemm(int row0, int row1, int N, int ld, int C, int H, int W, int OH, int OW, int ks,
                     int stride, int pad, int up, global const T *X, const ulong X_off,
                     global const W_t *restrict Wp, const ulong Wp_off RAW_ARGS,
                     global const float *restrict bias, const ulong bias_off, global const T *R,
                     const ulong R_off, global T *Y, const ulong Y_off, int rows, int nb, int fn, int has)
{
    local tile_ones ws[KS * 4];
    local float16 acc[RAW_ROWS * 4];
    local in_t xs[RAW_STEP * LDX] __attribute__((aligned(64)));
    local ulong after[RAW_STEP];
    const geometry g = { H, W, OH, OW, ks, stride, pad, up, VIDEO_GEOMETRY };
    const int p0 = row0 + get_group_id(0) * rows, np = min(rows, row1 - p0);
    const int n0 = get_group_id(1) * 64, n1 = min(n0 + 64, N);
    Wp += Wp_off;
    accumulate_raw(&g, p0, np, n0, n1 - n0, C, X + X_off, Wp, (grids) (Wp + grid),
                   (global const float *) (Wp + scales), is_scaled, xs, ws, acc, after);
    for (int r = 0; r < np; r++) {
        const long at = (long) (p0 + r) * ld;
        finish(acc + r * 4, n0, n1, bias + bias_off, R + R_off + at, Y + Y_off + at, fn, has);
    }
}
#else
// rows: of a macro tile, at most ROWS; nb: its panels, at most NB.
kernel WG1 void gemm(int row0, int row1, int N, int ld, int C, int H, int W, int OH, int OW, int ks,
                     int stride, int pad, int up, global const T *X, const ulong X_off,
                     global const W_t *restrict Wp, const ulong Wp_off,
                     global const float *restrict bias, const ulong bias_off, global const T *R,
                     const ulong R_off, global T *Y, const ulong Y_off, int rows, int nb VIDEO_ARGS, int fn,
                     int has)
{
    local tile_ones ws[KS * NV];
    local float16 acc[ROWS * LDACC];
    local in_t xs[ROWS * LDX] __attribute__((aligned(64)));
    local ulong after[ROWS];
    const geometry g = { H, W, OH, OW, ks, stride, pad, up, VIDEO_GEOMETRY };
    const int p0 = row0 + get_group_id(0) * rows, np = min(rows, row1 - p0);
    const int j0 = get_group_id(1) * nb, j1 = min(j0 + nb, (N + 63) / 64);
    accumulate(&g, p0, np, j0, j1, N, C, FIRST_TAP, X + X_off, EARLIER, Wp + Wp_off, Y + Y_off, ld, xs, ws, acc,
               after);
    for (int r = 0; r < np; r++) {
        const long at = (long) (p0 + r) * ld;
        finish(acc + r * LDACC, j0 * 64, min(j1 * 64, N), bias + bias_off, R + R_off + at,
               Y + Y_off + at, fn, has);
    }
}
#endif // RAW
