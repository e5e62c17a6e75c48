// Linear layers and convolutions as one implicit GEMM on matrix instructions: 16-bit activations, sums
// in f32. What it computes, and where inputs are: product.cl. Reference: core/op/ref/gemm.c.
//
// A work-group of WP x WN waves does a tile of BP pixels x BN columns. K is walked in steps of 32 channels
// of one tap: the 16-byte chunks that were loaded during the step before go to __local, the next ones are
// requested, then the products run. The weights are operand A, the pixels B. Row 2 v + h of every 16
// rows of weights in __local is column 8 h + v, so that a lane ends with eight consecutive columns of one
// pixel: one store of 16 bytes.
//
//   W    rows [N][taps][Cp] of type RAW, Cp = C up to 16, zero-filled; factors of the rows at `scales`
//        where is_scaled
//   -D RAW=TYPE     storage of W
//   -D SAME=1       which is that of the activations
//   -D CHUNKED=1    which has a chunk_TYPE() below, for f16
//   -D BP= BN=      tile                                                           [128 128]
//   -D WP= WN=      waves along pixels, along columns                              [2 2]
//   -D TAPPED=1     a result's inputs are not those of one pixel of the same number: source() tells
//   -D STRIDED=1    products of attention (stripes.cl): rows of X are H apart, those of W `W`, C is a
//                   multiple of 8; bias are factors of the rows of Y
//   -D SUMS=1       nothing follows the sums, Y is f32
//   -D ODD=1        C is no multiple of 8, so that pixels are not whole chunks
//   has: HAS_BIAS, HAS_ADDED (R), HAS_PIECES; fn: nino_act of core/op/op.h
// Global size: (tiles along pixels * WG_SIZE, tiles along columns), work-group size WG_SIZE.
#ifndef BP
#define BP 128
#endif
#ifndef BN
#define BN 128
#endif
#ifndef WP
#define WP 2
#endif
#ifndef WN
#define WN 2
#endif
#ifndef TAPPED
#define TAPPED 0
#endif
#ifndef SAME
#define SAME 0
#endif
#ifndef RAW
#define RAW f32
#endif
// Weights are decoded a chunk at a time.
#undef V
#define V 8
#define vec float8
#define ivec int8
DEFINE_BF16(8, uint8, float8, ushort8)
typedef ushort8 ushort8_u __attribute__((aligned(2)));
typedef float8 float8_u __attribute__((aligned(4)));
INLINE float8 load8_f32(global const float *p) { return *(global const float8_u *) p; }
INLINE float8 load8_f16(global const half *p) { return vload_half8(0, p); }
INLINE float8 load8_bf16(global const ushort *p) { return from_bf168(*(global const ushort8_u *) p); }
#include "product.cl"
#define WG_SIZE (WP * WN * 32)
#include "fragment.cl"

#define BK 32
#define LDK (BK + 8)               // 80 bytes: reads of 16 by neighbouring lanes meet no bank twice
#define TP (BP / WP / 16)          // tiles of a wave
#define TN (BN / WN / 16)
#define CHUNKS (BK / 8)            // of a row
#define STEP (WG_SIZE / CHUNKS)    // rows that a work-group loads at once
#define NX (BP / STEP)
#define NW (BN / STEP)
#define BAND 8                     // tiles of pixels that share columns while these are in the cache
#define LOCAL_ROW(r) ((r) *LDK)
// The column that is row r of the weights in __local.
#define WEIGHT_ROW(r) (((r) & ~15) | ((r) & 1) << 3 | ((r) & 15) >> 1)
#define IS_CHANNEL(c, C) ((c) < (C))
#if STRIDED
#define X_ROW H
#define W_ROW (uint) W
#define WEIGHTS_AT(n, tap) ((ulong) (n) * W_ROW)
#define PADDED(C) (C)
#else
#define X_ROW C
#define W_ROW (uint) (taps * Cp)
#define WEIGHTS_AT(n, tap) (((ulong) (n) * taps + (tap)) * Cp)
#define PADDED(C) (((C) + 15) & ~15)
#endif
#if SUMS
typedef float Y_t;
#else
typedef T Y_t;
#endif

#if TAPPED
#if VIDEO
#define PIXEL(q) (x[q] < -1 ? EARLIER + (long) (-2 - x[q]) * C : X + (long) max(x[q], 0) * C)
#else
#define PIXEL(q) (X + (long) max(x[q], 0) * C)
#endif
#define IS_INSIDE(q) (x[q] != -1)
#else
#define PIXEL(q) (X + x[q])
#define IS_INSIDE(q) 1
#endif

// f32 as operands.
INLINE ushort4 pack4(float4 v)
{
#if BF16
    return to_bf164(v);
#else
    ushort4 h;
    vstore_half4_rte(v, 0, (private half *) &h);
    return h;
#endif
}
INLINE uint4 pack8(float4 a, float4 b) { return as_uint4((ushort8)(pack4(a), pack4(b))); }

INLINE float4 unpack4(uint2 u)
{
#if BF16
    return from_bf164(as_ushort4(u));
#else
    return vload_half4(0, (const private half *) &u);
#endif
}

#if ODD
INLINE uint4 load_pixel(global const T *x, int c, int C)
{
    ushort v[8];
    for (int k = 0; k < 8; k++)
        v[k] = ((global const ushort *) x)[c + k < C ? c + k : 0];
    for (int k = 0; k < 8; k++)
        v[k] = IS_CHANNEL(c + k, C) ? v[k] : 0;
    return as_uint4(vload8(0, v));
}
#else
INLINE uint4 load_pixel(global const T *x, int c, int C)
{
    return *(global const uint4 *) (x + (IS_CHANNEL(c, C) ? c : 0));
}
#endif

#if CHUNKED
// ---- eight weights as f16 without a detour by f32 ------------------------------------------------
// A byte in the low bits of 1024 as f16 makes 1024 more than the byte, from which the rest is exact.
typedef uint2 uint2_u __attribute__((aligned(1)));
#define CHUNK(name) INLINE uint4 chunk_##name(bytes W, grids grid, ulong at)

// Bytes to the low halves of 16 bits.
INLINE uint4 spread(uint2 q)
{
    const uint4 v = (uint4)(q.x, q.x >> 16, q.y, q.y >> 16);
    return (v & 0xffu) | (v & 0xff00u) << 8;
}
INLINE uint4 both(uint h) { return (uint4)(h * 0x10001u); }
INLINE uint4 small_ints(uint2 q, uint less) // less: -1024 and what the byte is less, as f16
{
    return pairs_add(spread(q) | both(0x6400), both(less));
}
INLINE uint4 signed_bytes(uint2 q) { return small_ints(q ^ 0x80808080u, 0xe480); } // -1152

CHUNK(i8) { return signed_bytes(*(global const uint2_u *) (W + at)); }
CHUNK(q8_0)
{
    bytes b = W + at / 32 * 34;
    return pairs_mul(signed_bytes(*(global const uint2_u *) (b + 2 + at % 32)), both(word(b)));
}
CHUNK(q4_0)
{
    bytes b = W + at / 32 * 18;
    const uint2 q = *(global const uint2_u *) (b + 2 + at % 16);
    return pairs_mul(small_ints((at & 16 ? q >> 4 : q) & 0x0f0f0f0fu, 0xe408), // -1032
                     both(word(b)));
}
CHUNK(f8_e5m2) { return spread(*(global const uint2_u *) (W + at)) << 8; }
// Four bits of exponent are eight less than five. NaN looks like 480 / 256, the only number that 34944
// makes infinite, which times 0 is NaN.
CHUNK(f8_e4m3)
{
    const uint4 s = spread(*(global const uint2_u *) (W + at)) << 8;
    const uint4 h = (s & 0x80008000u) | (s & 0x7f007f00u) >> 1;
    return pairs_add(pairs_mul(h, both(0x5c00)), pairs_mul(pairs_mul(h, both(0x7844)), both(0)));
}
#endif

// Channels c .. c + 7 of a row of weights, `row` values behind value `first`, which is the same for all
// of a work-group; any others beyond its end.
INLINE uint4 load_weights(global const W_t *W, grids grid, ulong first, uint row, int c, int Cp)
{
    row += IS_CHANNEL(c, Cp) ? c : 0;
#if SAME
    return *(global const uint4 *) ((global const ushort *) W + first + row);
#elif CHUNKED
    return PASTE(chunk_, RAW)(W, grid, first + row);
#else
    const float8 v = VALUES(W, grid, first + row);
    return pack8(v.lo, v.hi);
#endif
}

// The elements of four of which there are n; zeros beyond.
INLINE float4 load_some(global const T *p, int n)
{
    return (float4)(n > 0 ? LOAD(p) : 0.0f, n > 1 ? LOAD(p + 1) : 0.0f, n > 2 ? LOAD(p + 2) : 0.0f,
                    n > 3 ? LOAD(p + 3) : 0.0f);
}

kernel WG(WG_SIZE) void gemm_wmma(int row0, int row1, int N, int ld, int C, int H, int W, int OH, int OW,
                                  int ks, int stride, int pad, int up, global const T *X,
                                  const ulong X_off, global const W_t *restrict Wp,
                                  const ulong Wp_off RAW_ARGS, global const float *restrict bias,
                                  const ulong bias_off, global const T *R, const ulong R_off,
                                  global Y_t *Y, const ulong Y_off VIDEO_ARGS, int fn, int has)
{
    local ushort Xs[BP * LDK] __attribute__((aligned(16))), Ws[BN * LDK] __attribute__((aligned(16)));
    FRAGMENT_SCRATCH
    const geometry g = { H, W, OH, OW, ks, stride, pad, up, VIDEO_GEOMETRY };
    const int t = get_local_id(0), lane = t & 31, wave = t >> 5, wp = wave % WP, wn = wave / WP;
    const int Cp = PADDED(C), taps = TAPS(&g);
    // Tiles in the order in which they are dispatched, band by band.
    const int along = get_num_groups(0), across = get_num_groups(1);
    const int id = get_group_id(1) * along + get_group_id(0), band = id / (BAND * across);
    const int high = min(BAND, along - band * BAND), in_band = id - band * BAND * across;
    const int p0 = row0 + (band * BAND + in_band % high) * BP, n0 = in_band / high * BN;

    float8 acc[TN][TP];
    UNROLL
    for (int i = 0; i < TN; i++)
        UNROLL
        for (int j = 0; j < TP; j++)
            acc[i][j] = (float8)(0.0f);

    // What this work-item moves: rows lrow + STEP q, channels lcol to lcol + 7.
    const int lrow = t / CHUNKS, lcol = t % CHUNKS * 8;
    const int wrow = WEIGHT_ROW(lrow);
    uint4 rx[NX], rw[NW];
    int rm[NX], wm = 0; // ~0, or 0: what was loaded counts as zero
    uint wr[NW];
    X += X_off;
    Wp += Wp_off;
    UNROLL
    for (int q = 0; q < NW; q++)
        wr[q] = (uint) min(wrow + q * STEP, N - 1 - n0) * W_ROW;
#if TAPPED
    int x[NX]; // as source() tells
    int frame[NX], place[NX]; // y << 16 | x
    UNROLL
    for (int q = 0; q < NX; q++) {
        const pixel at = pixel_at(&g, min(p0 + lrow + q * STEP, row1 - 1));
        frame[q] = at.b;
        place[q] = at.y << 16 | at.x;
    }
#else
    uint x[NX]; // from X on
    UNROLL
    for (int q = 0; q < NX; q++)
        x[q] = (uint) (min(lrow + q * STEP, row1 - 1 - p0) * X_ROW);
    X += (long) p0 * X_ROW;
#endif

    int c = 0, tap = FIRST_TAP;
    const int steps = (taps - FIRST_TAP) * ((Cp + BK - 1) / BK);
    for (int s = -1; s < steps; s++) {
        if (s >= 0) {
            barrier(CLK_LOCAL_MEM_FENCE);
            UNROLL
            for (int q = 0; q < NX; q++)
                *(local uint4 *) (Xs + LOCAL_ROW(lrow + q * STEP) + lcol) = rx[q] & (uint4)(rm[q]);
            UNROLL
            for (int q = 0; q < NW; q++)
                *(local uint4 *) (Ws + LOCAL_ROW(lrow + q * STEP) + lcol) = rw[q] & (uint4)(wm);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (s + 1 < steps) {
#if TAPPED
            if (c == 0)
                UNROLL
                for (int q = 0; q < NX; q++) {
                    const pixel at = { frame[q], place[q] >> 16, place[q] & 0xffff };
                    x[q] = (int) source(&g, &at, tap);
                }
#endif
            UNROLL
            for (int q = 0; q < NX; q++) {
                rx[q] = load_pixel(PIXEL(q), c + lcol, C);
                rm[q] = IS_INSIDE(q) && IS_CHANNEL(c + lcol, C) ? ~0 : 0;
            }
            wm = IS_CHANNEL(c + lcol, Cp) ? ~0 : 0;
            const ulong first = WEIGHTS_AT(n0, tap);
            UNROLL
            for (int q = 0; q < NW; q++) {
                rw[q] = load_weights(Wp, (grids) (Wp + grid), first, wr[q], c + lcol, Cp);
#if !SAME && TAPPED
                IN_ORDER
#endif
            }
            if ((c += BK) >= Cp) {
                c = 0;
                tap++;
            }
        }
        if (s >= 0)
            UNROLL
            for (int kk = 0; kk < BK; kk += 16) {
#if BP > 128 && !TAPPED
                if (kk) { // else all of a step's reads come first
                    IN_ORDER
                }
#endif
                uint8 fx[TP];
                UNROLL
                for (int j = 0; j < TP; j++) {
                    local const uint4 *p =
                        (local const uint4 *) (Xs + LOCAL_ROW((wp * TP + j) * 16 + (lane & 15)) + kk);
                    fx[j] = (uint8)(p[0], p[1]);
                }
                UNROLL
                for (int i = 0; i < TN; i++) {
                    local const uint4 *p =
                        (local const uint4 *) (Ws + LOCAL_ROW((wn * TN + i) * 16 + (lane & 15)) + kk);
                    const uint8 fw = (uint8)(p[0], p[1]);
                    UNROLL
                    for (int j = 0; j < TP; j++)
                        WMMA(acc[i][j], fw, fx[j]);
                }
            }
    }

    // One tile at a time, the others moved up, so that there is one copy of what follows.
    int n = n0 + wn * TN * 16 + (lane >> 4) * 8;
#pragma nounroll
    for (int i = 0; i < TN; i++, n += 16) {
        int p = p0 + wp * TP * 16 + (lane & 15);
#pragma nounroll
        for (int j = 0; j < TP; j++, p += 16) {
            float4 lo = acc[0][0].lo, hi = acc[0][0].hi;
            UNROLL
            for (int k = 0; k + 1 < TP; k++)
                acc[0][k] = acc[0][k + 1];
            if (p >= row1 || n >= N)
                continue;
            if (is_scaled) {
                global const float *f = (global const float *) (Wp + scales);
                const int m = N - 1;
                lo *= (float4)(f[n], f[min(n + 1, m)], f[min(n + 2, m)], f[min(n + 3, m)]);
                hi *= (float4)(f[min(n + 4, m)], f[min(n + 5, m)], f[min(n + 6, m)], f[min(n + 7, m)]);
            }
#if STRIDED
            if (has & HAS_BIAS) {
                lo *= bias[bias_off + p];
                hi *= bias[bias_off + p];
            }
#else
            if (has & HAS_BIAS) {
                lo += *(global const float4 *) (bias + bias_off + n);
                hi += *(global const float4 *) (bias + bias_off + n + 4);
            }
#endif
            const long to = (long) p * ld + n;
            const int is_chunk = (has & HAS_PIECES) && n + 8 <= N;
#if SUMS
            if (is_chunk) {
                vstore4(lo, 0, Y + Y_off + to);
                vstore4(hi, 1, Y + Y_off + to);
            } else
                for (int k = 0; k < 8 && k < N - n; k++, lo = lo.yzwx) {
                    lo = k == 4 ? hi : lo;
                    Y[Y_off + to + k] = lo.x;
                }
            continue;
#else
            if ((has & HAS_ADDED) && is_chunk) {
                const uint4 r = *(global const uint4 *) (R + R_off + to);
                lo += unpack4(r.lo);
                hi += unpack4(r.hi);
            }
            ushort out[8];
#pragma nounroll
            for (int k = 0; k < 8; k += 4) {
                if ((has & HAS_ADDED) && !is_chunk)
                    lo += load_some(R + R_off + to + k, N - n - k);
                vstore4(pack4(act4(lo, fn)), 0, out + k);
                lo = hi;
            }
            if (is_chunk)
                *(global uint4 *) (Y + Y_off + to) = as_uint4(vload8(0, out));
            else
                for (int k = 0; k < 8 && k < N - n; k++)
                    ((global ushort *) (Y + Y_off + to))[k] = out[k];
#endif
        }
        UNROLL
        for (int k = 0; k + 1 < TN; k++)
            UNROLL
            for (int j = 0; j < TP; j++)
                acc[k][j] = acc[k + 1][j];
    }
}
