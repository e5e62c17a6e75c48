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
//   -D CHUNKED=1    which has its functions in chunks.cl
//   -D TAPPED=1     a result's inputs are not those of one pixel of the same number: source() tells.
//                   Without it rows of X are H apart, those of W `W`
//   -D BAND=n       as tuned                                                                  [8]
//   -D ODD=1        C is no multiple of 8, so that pixels are not whole chunks
//   has: HAS_BIAS, HAS_ADDED (R), HAS_PIECES, HAS_SUMS_ONLY (Y is f32, and nothing follows the sums), with SAME
//   also HAS_ROW_FACTORS (bias are factors of the rows of Y); fn: nino_act of core/op/op.h
//   without TAPPED also HAS_HEADS: of each `depth` columns, the rms norm with eps and gamma; with HAS_TABLE then
//   turned by table f32 [positions][depth], a row of Y by that of its number among the positions
// A kernel for each tile: gemm_wmma_BPxBN. Global size: (tiles along pixels * WG_SIZE, tiles along
// columns, parts), work-group size WG_SIZE. Where tiles are few, each of several parts sums some of the
// channels and taps: Y is f32 [parts][rows][N], row0 is 0, and sum_parts adds them.
#ifndef TAPPED
#define TAPPED 0
#endif
#ifndef SAME
#define SAME 0
#endif
#ifndef RAW
#define RAW f32
#endif
#include "eights.cl"
#include "product.cl"
#include "fragment.cl"

#define BK 32
#define LDK (BK + 8)               // 80 bytes: reads of 16 by neighbouring lanes meet no bank twice
#define CHUNKS (BK / 8)            // of a row
#ifndef BAND
#define BAND 8                     // tiles of pixels that share columns while these are in the cache
#endif
#define LOCAL_ROW(r) ((r) *LDK)
// The column that is row r of the weights in __local.
#define WEIGHT_ROW(r) (((r) & ~15) | ((r) & 1) << 3 | ((r) & 15) >> 1)
#define IS_CHANNEL(c, C) ((c) < (C))
#if TAPPED || ODD
#define PADDED(C) (((C) + 15) & ~15)
#else
#define PADDED(C) (C) // rows of W need not be filled up: attention's are not
#endif
#if TAPPED
#define W_ROW (uint) (taps * Cp)
#define WEIGHTS_AT(n, tap) (((ulong) (n) * taps + (tap)) * Cp)
#else
#define X_ROW H
#define W_ROW (uint) W
#define WEIGHTS_AT(n, tap) ((ulong) (n) * W_ROW)
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

// What sums of products with weights stand for.
#define TIMES_144_f8_e4m3 1
#if CHUNKED && PASTE(TIMES_144_, RAW)
#define DECODED(v) ((v) * (1.0f / 144) + ((v) - (v))) // NaN where a weight was
#else
#define DECODED(v) (v)
#endif

#if CHUNKED
#include "chunks.cl"
#endif

#if !CHUNKED
// Channels c .. c + 7 of a row of weights, `row` values behind value `first`, which is the same for all
// of a work-group; any others beyond its end.
INLINE uint4 load_weights(global const W_t *W, grids grid, ulong first, uint row, int c, int Cp)
{
    row += IS_CHANNEL(c, Cp) ? c : 0;
#if SAME
    return *(global const uint4 *) ((global const ushort *) W + first + row);
#else
    const float8 v = VALUES(W, grid, first + row);
    return pack8(v.lo, v.hi);
#endif
}
#endif

// What follows a product of heads, `depth` channels each, that are whole in a tile or in a column of its waves:
// tiles of so many columns can do it.
#define HEAD_COLUMNS 128
#if TAPPED
#define HEAD_ARGS
#else
#define HEAD_ARGS                                                                                  \
    , global const float *gamma, const ulong gamma_off, global const float *table,                 \
        const ulong table_off, int depth, int positions, float eps
#endif
// Pairs turned by angles of which w has cosine and sine side by side.
INLINE float4 turned(float4 v, float4 w)
{
    return (float4)(v.xz * w.xz - v.yw * w.yw, v.xz * w.yw + v.yw * w.xz).s0213;
}

#include "sums.cl"

#define NAMED(rows, columns) gemm_wmma_##rows##x##columns
#define GEMM(rows, columns) NAMED(rows, columns)

#define BP 256
#define BN 128
#define WP 4 // waves along pixels
#define WN 2 // along columns
#include "tile.cl"
#define BP 128
#define BN 128
#define WP 2
#define WN 2
#include "tile.cl"
#define BP 128
#define BN 64
#define WP 2
#define WN 2
#include "tile.cl"
#define BP 64
#define BN 64
#define WP 2
#define WN 2
#include "tile.cl"
