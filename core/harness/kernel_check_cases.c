// The cases of the kernel harness. Odd sizes on purpose: primes, one, and one more or less than
// tiles, strips, panels and work-groups.
#include "core/harness/kernel_check.h"

// clang-format off
#define CONV(k, s, N, ...)     { .op = NINO_OP_CONV2D, .attr.kernel = k, .attr.stride = s, .n = N, __VA_ARGS__ }
#define X(...)                 .src = { { __VA_ARGS__ } }
#define CONV3(k, pad, st, N, ...) { .op = NINO_OP_CONV3D, .attr.kernel = k, .attr.stride = 1, .attr.pad_t = pad, .attr.stride_t = st, .n = N, __VA_ARGS__ }
#define SHUFFLE(up, ft, fs, first, N, ...) { .op = NINO_OP_SHUFFLE, .attr.is_up = up, .attr.fold_t = ft, .attr.fold_s = fs, .attr.start = first, .out = { N }, __VA_ARGS__ }
#define NORM(g, e, ...)        { .op = NINO_OP_GROUP_NORM, .attr.groups = g, .attr.eps = e, __VA_ARGS__ }
#define STAT(g, ...)           { .op = NINO_OP_GROUP_STAT, .attr.groups = g, __VA_ARGS__ }
#define ATTN(N, TQ, TK, H, D, ...) { .op = NINO_OP_ATTENTION, .attr.heads = H, \
    .src = { { N, TQ, (int64_t) (H) * (D) }, { N, TK, (int64_t) (H) * (D) }, { N, TK, (int64_t) (H) * (D) } }, __VA_ARGS__ }
#define BIASED(N, TQ, TK, H, D, BN, BH, BQ, ...) { .op = NINO_OP_ATTENTION, .attr.heads = H, \
    .src = { { N, TQ, (int64_t) (H) * (D) }, { N, TK, (int64_t) (H) * (D) }, { N, TK, (int64_t) (H) * (D) }, { BN, BH, BQ, TK } }, __VA_ARGS__ }
#define SHARED(N, TQ, TK, H, KV, D, ...) { .op = NINO_OP_ATTENTION, .attr.heads = H, \
    .src = { { N, TQ, (int64_t) (H) * (D) }, { N, TK, (int64_t) (KV) * (D) }, { N, TK, (int64_t) (KV) * (D) } }, __VA_ARGS__ }
#define LAYER(...)             { .op = NINO_OP_LAYER_NORM, .attr.eps = 1e-5f, __VA_ARGS__ }
#define RMS(g, ...)            { .op = NINO_OP_RMS_NORM, .attr.eps = 1e-6f, .attr.groups = g, __VA_ARGS__ }
#define ROPE(N, T, H, D, ...)  { .op = NINO_OP_ROPE, .attr.heads = H, .src = { { N, T, (int64_t) (H) * (D) }, { T, D } }, __VA_ARGS__ }
#define ACT(a, ...)            { .op = NINO_OP_ACT, .attr.act = NINO_ACT_##a, __VA_ARGS__ }
#define RESAMPLE(f, h, w, ...) { .op = NINO_OP_RESAMPLE, .attr.filter = NINO_FILTER_##f, .out = { h, w }, __VA_ARGS__ }

const nino_check_case nino_check_cases[] = {
    // ---- linear: rows x channels -> n
    { .op = NINO_OP_LINEAR, X(1, 1), .n = 1 },
    { .op = NINO_OP_LINEAR, X(7, 3), .n = 5, .bias = true },
    { .op = NINO_OP_LINEAR, X(191, 16), .n = 64 },
    { .op = NINO_OP_LINEAR, X(193, 17), .n = 65, .bias = true, .attr.act = NINO_ACT_GELU },
    { .op = NINO_OP_LINEAR, X(2, 77, 127), .n = 63, .bias = true, .weight = NINO_F16 },
    { .op = NINO_OP_LINEAR, X(1, 129, 320), .n = 257, .residual = true, .weight = NINO_BF16 },
    { .op = NINO_OP_LINEAR, X(64, 256), .n = 256, .bias = true, .residual = true, .attr.act = NINO_ACT_SILU },
    { .op = NINO_OP_LINEAR, X(130, 36), .n = 132, .bias = true, .attr.act = NINO_ACT_QUICK_GELU },
    // few rows
    { .op = NINO_OP_LINEAR, X(1, 131), .n = 67, .bias = true, .residual = true, .attr.act = NINO_ACT_SILU },
    { .op = NINO_OP_LINEAR, X(2, 64), .n = 128, .weight = NINO_BF16 },
    { .op = NINO_OP_LINEAR, X(3, 200), .n = 63, .weight = NINO_F16, .bias = true },
    { .op = NINO_OP_LINEAR, X(5, 65), .n = 130, .residual = true },
    { .op = NINO_OP_LINEAR, X(1, 8, 96), .n = 60, .bias = true, .weight = NINO_F16 },
    { .op = NINO_OP_LINEAR, X(13, 77), .n = 66, .bias = true },
    { .op = NINO_OP_LINEAR, X(16, 130), .n = 1, .weight = NINO_BF16 },
    { .op = NINO_OP_LINEAR, X(17, 130), .n = 70 },
    { .op = NINO_OP_LINEAR, X(1, 3072), .n = 18432, .bias = true, .weight = NINO_BF16, .only_bench = true },
    { .op = NINO_OP_LINEAR, X(35, 48), .n = 4, .bias = true, .weight = NINO_BF16 },
    { .op = NINO_OP_LINEAR, X(577, 640), .n = 320, .bias = true, .is_large = true },
    // A last panel that ends in each of its vectors and beside them, in sums longer than two blocks of a
    // tile, whole or not, by few rows and by more: 23 and 97 leave one behind tiles of 12, 6 and 3.
#define ENDS(rows, c, wt, a, b, d) { .op = NINO_OP_LINEAR, X(rows, c), .n = 64 + a, .weight = NINO_##wt, .has_ends = true }, \
    { .op = NINO_OP_LINEAR, X(rows, c), .n = 64 + b, .bias = true, .weight = NINO_##wt, .has_ends = true }, \
    { .op = NINO_OP_LINEAR, X(rows, c), .n = 128 + d, .residual = true, .weight = NINO_##wt, .has_ends = true }
    ENDS(23, 400, F32, 1, 17, 33), ENDS(97, 416, F32, 49, 63, 1), ENDS(25, 397, F32, 1, 32, 48),
    ENDS(23, 400, F16, 1, 15, 63), ENDS(25, 401, BF16, 31, 47, 1),
    ENDS(3, 400, F32, 1, 17, 33), ENDS(6, 333, F32, 1, 49, 63), ENDS(11, 400, F16, 1, 33, 17),
    ENDS(23, 416, Q8_0, 1, 16, 47), ENDS(5, 400, F8_E4M3, 1, 31, 49),
#undef ENDS
    { .op = NINO_OP_LINEAR, X(1024, 3072), .n = 3072, .weight = NINO_F16, .only_bench = true },

    // ---- weights that stay as the file stores them: every type, few rows, ragged ends
#define QUANT(t) { .op = NINO_OP_LINEAR, X(23, 256), .n = 70, .bias = true, .weight = NINO_##t }
    QUANT(Q8_0), QUANT(I8), QUANT(Q4_K), QUANT(F8_E4M3), QUANT(F8_E5M2), QUANT(IQ2_XS), QUANT(Q6_K),
#undef QUANT
#define QUANT(t) { .op = NINO_OP_LINEAR, X(23, 256), .n = 70, .weight = NINO_##t, .is_large = true }
    QUANT(Q1_0), QUANT(Q2_0), QUANT(Q4_0), QUANT(Q4_1), QUANT(Q5_0), QUANT(Q5_1), QUANT(Q2_K),
    QUANT(Q3_K), QUANT(Q5_K), QUANT(IQ1_S), QUANT(IQ1_M), QUANT(IQ2_XXS), QUANT(IQ2_S),
    QUANT(IQ3_XXS), QUANT(IQ3_S), QUANT(IQ4_NL), QUANT(IQ4_XS), QUANT(TQ1_0), QUANT(TQ2_0),
    QUANT(MXFP4), QUANT(NVFP4),
#undef QUANT
    { .op = NINO_OP_LINEAR, X(3, 96), .n = 130, .bias = true, .residual = true, .weight = NINO_Q8_0 },
    { .op = NINO_OP_LINEAR, X(67, 37), .n = 66, .residual = true, .weight = NINO_F8_E4M3 },
    CONV(1, 1, 33, X(1, 9, 7, 64), .bias = true, .weight = NINO_Q8_0),
    CONV(3, 1, 3, X(1, 7, 10, 32), .bias = true, .weight = NINO_Q8_0),
    CONV(3, 1, 65, X(2, 12, 16, 17), .residual = true, .weight = NINO_F8_E5M2),
    CONV(3, 1, 40, X(1, 35, 33, 32), .bias = true, .weight = NINO_Q8_0),
    CONV3(3, 2, 1, 20, X(3, 6, 5, 32), .bias = true, .weight = NINO_Q8_0),
    // more columns than are expanded at a time
    { .op = NINO_OP_LINEAR, X(2, 16384), .n = 833, .bias = true, .weight = NINO_Q8_0, .is_large = true },
    { .op = NINO_OP_LINEAR, X(18, 16384), .n = 833, .bias = true, .residual = true, .weight = NINO_F8_E4M3, .is_large = true },
#define BENCH(t) { .op = NINO_OP_LINEAR, X(1024, 3072), .n = 3072, .weight = NINO_##t, .only_bench = true }
    BENCH(F32), BENCH(Q8_0), BENCH(Q4_K), BENCH(F8_E4M3),
#undef BENCH

    // ---- 1x1
    CONV(1, 1, 1, X(1, 1, 1, 1)),
    CONV(1, 1, 48, X(1, 9, 7, 20), .bias = true),
    CONV(1, 1, 64, X(2, 16, 16, 32), .residual = true, .attr.act = NINO_ACT_RELU),
    CONV(1, 2, 10, X(1, 7, 6, 33), .bias = true, .weight = NINO_F16),
    CONV(1, 1, 512, X(1, 64, 64, 512), .bias = true, .only_bench = true),

    // ---- 3x3
    CONV(3, 1, 1, X(1, 1, 1, 1)),
    CONV(3, 1, 3, X(1, 5, 3, 2), .bias = true),
    CONV(3, 1, 64, X(1, 13, 11, 4), .bias = true, .attr.act = NINO_ACT_RELU),
    CONV(3, 1, 3, X(1, 17, 19, 64), .bias = true),
    CONV(3, 1, 65, X(2, 12, 16, 17), .residual = true, .weight = NINO_F16),
    CONV(3, 1, 48, X(1, 1, 40, 16), .bias = true),
    CONV(3, 1, 16, X(3, 31, 1, 48), .bias = true, .weight = NINO_BF16),
    CONV(3, 1, 31, X(1, 9, 15, 33), .attr.pad = NINO_PAD_NONE, .bias = true),
    CONV(3, 1, 32, X(1, 11, 13, 44), .bias = true, .attr.act = NINO_ACT_LEAKY),
    CONV(3, 1, 32, X(1, 7, 9, 24), .attr.upsample2x = true, .bias = true),
    CONV(3, 2, 40, X(1, 9, 13, 16), .bias = true),
    CONV(3, 2, 40, X(2, 8, 11, 16), .attr.pad = NINO_PAD_END, .bias = true),
    CONV(3, 2, 8, X(1, 2, 2, 3), .attr.pad = NINO_PAD_END),
    CONV(3, 2, 8, X(1, 7, 6, 12), .attr.pad = NINO_PAD_NONE),
    // few results: channels in the lanes when they are whole vectors, else padded panels
    CONV(3, 1, 4, X(2, 9, 11, 32), .bias = true, .residual = true, .attr.act = NINO_ACT_CLAMP01),
    CONV(3, 1, 3, X(1, 7, 10, 24), .bias = true),
    CONV(3, 1, 5, X(1, 9, 11, 32), .bias = true, .attr.act = NINO_ACT_TANH3),
    CONV(3, 2, 1, X(1, 6, 5, 16), .attr.upsample2x = true, .attr.pad = NINO_PAD_END, .weight = NINO_F16),
    CONV(3, 1, 17, X(1, 8, 9, 208), .bias = true, .attr.act = NINO_ACT_SIGMOID),
    // just too small for Winograd: channels, columns, pixels, all that it saves
    CONV(3, 1, 64, X(1, 32, 32, 31), .bias = true),
    CONV(3, 1, 31, X(1, 32, 32, 32), .bias = true),
    CONV(3, 1, 64, X(1, 7, 73, 32), .bias = true),
    CONV(3, 1, 32, X(1, 32, 32, 32), .bias = true),
    // large enough for Winograd: whole tiles, ragged tiles, batches, enlarged, with everything
    CONV(3, 1, 64, X(1, 32, 32, 32), .bias = true),
    CONV(3, 1, 64, X(1, 35, 33, 40), .bias = true, .residual = true, .attr.act = NINO_ACT_SILU),
    CONV(3, 1, 57, X(2, 23, 29, 67), .weight = NINO_F16),
    CONV(3, 1, 48, X(1, 18, 19, 64), .attr.upsample2x = true, .bias = true, .attr.act = NINO_ACT_RELU),
    CONV(3, 1, 64, X(1, 17, 35, 64), .attr.upsample2x = true, .bias = true, .attr.act = NINO_ACT_LEAKY),
    CONV(3, 1, 64, X(1, 96, 100, 64), .bias = true, .residual = true, .attr.act = NINO_ACT_RELU, .is_large = true),
    CONV(3, 1, 128, X(1, 64, 64, 128), .bias = true, .is_large = true),
    CONV(3, 1, 96, X(1, 32, 33, 512), .bias = true, .is_large = true), // long sums
    CONV(3, 1, 512, X(1, 64, 64, 512), .bias = true, .weight = NINO_F16, .only_bench = true),
    CONV(3, 1, 256, X(1, 128, 128, 256), .bias = true, .only_bench = true),
    CONV(3, 1, 128, X(1, 256, 256, 128), .bias = true, .only_bench = true),

    // ---- causal 3x1x1 and 3x3x3; src[1]: earlier frames
    CONV3(1, 2, 1, 5, X(1, 1, 1, 1)),
    CONV3(1, 2, 1, 24, X(5, 4, 3, 12), .bias = true),
    CONV3(1, 0, 1, 33, .src = { { 4, 5, 3, 16 }, { 2, 5, 3, 16 } }, .bias = true, .weight = NINO_F16),
    CONV3(1, 0, 2, 16, .src = { { 4, 3, 5, 20 }, { 1, 3, 5, 20 } }, .bias = true),
    CONV3(1, 0, 2, 7, X(5, 3, 5, 7), .bias = true),
    CONV3(3, 2, 1, 1, X(1, 1, 1, 1)),
    CONV3(3, 2, 1, 17, X(3, 5, 7, 10), .bias = true, .attr.act = NINO_ACT_SILU),
    CONV3(3, 1, 1, 40, .src = { { 2, 6, 5, 33 }, { 1, 6, 5, 33 } }, .residual = true),
    CONV3(3, 0, 1, 64, .src = { { 1, 7, 6, 16 }, { 2, 7, 6, 16 } }, .bias = true, .residual = true, .weight = NINO_BF16),
    CONV3(3, 0, 1, 64, .src = { { 2, 7, 6, 64 }, { 2, 7, 6, 64 } }, .bias = true),
    CONV3(3, 0, 1, 3, .src = { { 4, 9, 11, 48 }, { 2, 9, 11, 48 } }, .bias = true),
    CONV3(3, 2, 1, 2, X(1, 9, 11, 32), .bias = true, .residual = true),
    // Winograd: one frame, several, with earlier ones
    CONV3(3, 2, 1, 64, X(1, 23, 25, 32), .bias = true),
    CONV3(3, 2, 1, 60, X(2, 24, 22, 35), .bias = true, .weight = NINO_F16),
    CONV3(3, 1, 1, 50, .src = { { 1, 23, 24, 48 }, { 1, 23, 24, 48 } }, .residual = true),
    CONV3(3, 0, 1, 64, .src = { { 2, 21, 26, 40 }, { 2, 21, 26, 40 } }, .bias = true, .residual = true, .attr.act = NINO_ACT_SILU),
    CONV3(3, 0, 1, 384, .src = { { 2, 60, 104, 384 }, { 2, 60, 104, 384 } }, .bias = true, .weight = NINO_BF16, .only_bench = true),
    CONV3(3, 0, 1, 96, .src = { { 4, 120, 208, 96 }, { 2, 120, 208, 96 } }, .bias = true, .weight = NINO_BF16, .only_bench = true),

    // ---- group norm; spread and offset show cancellation
    NORM(1, 1e-5f, X(1, 1, 1)),
    NORM(1, 1e-5f, X(1, 3, 7)),
    NORM(3, 1e-6f, X(2, 5, 3, 6), .attr.act = NINO_ACT_SILU),
    NORM(32, 1e-6f, X(1, 33, 31, 64), .attr.act = NINO_ACT_SILU),
    NORM(32, 1e-6f, X(2, 17, 17, 96), .spread = 30),
    NORM(4, 1e-5f, X(1, 64, 65, 256), .attr.act = NINO_ACT_RELU, .is_large = true),
    NORM(5, 1e-6f, X(1, 1031, 35), .spread = 1e-3f),
    NORM(32, 1e-6f, X(1, 512, 512, 128), .attr.act = NINO_ACT_SILU, .only_bench = true),
    // with given statistics; those of parts
    NORM(1, 1e-5f, .src = { { 1, 3, 7 }, { 1, 1, 3 } }),
    NORM(3, 1e-6f, .src = { { 2, 5, 3, 6 }, { 2, 3, 3 } }, .attr.act = NINO_ACT_SILU),
    NORM(32, 1e-6f, .src = { { 1, 33, 31, 64 }, { 1, 32, 3 } }, .attr.act = NINO_ACT_SILU),
    NORM(5, 1e-6f, .src = { { 2, 1031, 35 }, { 2, 5, 3 } }, .spread = 30),
    STAT(1, X(1, 1, 1)), STAT(3, X(2, 5, 3, 6)), STAT(32, X(1, 33, 31, 64)),
    STAT(32, X(2, 17, 17, 96), .spread = 30), STAT(5, X(1, 1031, 35), .spread = 1e-3f),
    STAT(4, X(1, 64, 65, 256), .is_large = true),

    // ---- layer norm, with and without gamma, beta and modulation; RMS norm
    LAYER(X(1, 1)), LAYER(X(3, 7), .gamma = true, .bias = true), LAYER(X(2, 5, 65), .gamma = true),
    LAYER(X(77, 48), .gamma = true, .bias = true, .spread = 30), LAYER(X(5, 3, 128), .spread = 1e-3f),
    LAYER(X(1, 13, 1031), .gamma = true, .bias = true),
    LAYER(.src = { { 2, 9, 64 }, { 2, 64 }, { 2, 64 } }),
    LAYER(.src = { { 3, 7, 35 }, { 1, 35 }, { 1, 35 } }, .gamma = true, .bias = true),
    LAYER(.src = { { 2, 5, 20 }, { 2, 1, 20 }, { 2, 1, 20 } }),
    LAYER(.src = { { 2, 5, 20 }, { 1, 5, 20 }, { 1, 5, 20 } }, .gamma = true),
    LAYER(.src = { { 2, 5, 18 }, { 2, 5, 18 }, { 2, 5, 18 } }),
    LAYER(X(1, 1280, 3072), .gamma = true, .bias = true, .only_bench = true),
    LAYER(.src = { { 1, 1280, 3072 }, { 1, 3072 }, { 1, 3072 } }, .only_bench = true),
    RMS(1, X(1, 1)), RMS(1, X(5, 33), .gamma = true), RMS(3, X(7, 60), .gamma = true),
    RMS(4, X(2, 5, 28)), RMS(2, X(1, 19, 260), .gamma = true, .spread = 30),
    RMS(1, X(3, 1027), .gamma = true, .spread = 1e-3f), RMS(24, X(1, 11, 3072), .gamma = true),
    RMS(1, X(2, 3, 96), .gamma = true, .attr.act = NINO_ACT_SILU), RMS(1, X(9, 35), .attr.act = NINO_ACT_SILU),
    RMS(1, X(1, 1, 6, 384), .gamma = true, .attr.act = NINO_ACT_SILU),
    RMS(24, X(1, 1280, 3072), .gamma = true, .only_bench = true),

    // ---- softmax over the last axis, attention
    { .op = NINO_OP_SOFTMAX, X(1, 1), .attr.scale = 1 },
    { .op = NINO_OP_SOFTMAX, X(5, 7), .attr.scale = 0.5f, .spread = 20 },
    { .op = NINO_OP_SOFTMAX, X(3, 2, 1025), .attr.scale = 1, .spread = 5 },
    { .op = NINO_OP_SOFTMAX, X(65, 255), .attr.scale = -2 },
    ATTN(1, 1, 1, 1, 1),
    ATTN(1, 7, 5, 1, 8),
    ATTN(2, 49, 63, 3, 16, .spread = 3),
    ATTN(1, 47, 65, 2, 64),
    ATTN(1, 33, 129, 2, 40),
    ATTN(2, 64, 77, 1, 20),
    ATTN(1, 81, 81, 1, 512),
    ATTN(1, 97, 130, 1, 128, .spread = 8),
    ATTN(1, 26, 66, 1, 516, .is_large = true),
    ATTN(1, 17, 70, 1, 1028, .is_large = true),
    ATTN(1, 400, 333, 1, 512, .is_large = true),
    ATTN(1, 35, 50, 1, 80), ATTN(1, 19, 70, 1, 160), ATTN(1, 19, 33, 2, 128, .attr.scale = 1, .spread = 0.3f),
    BIASED(1, 1, 1, 1, 1, 1, 1, 1), BIASED(2, 7, 5, 3, 8, 2, 3, 7), BIASED(2, 49, 65, 2, 16, 1, 2, 49),
    BIASED(2, 50, 77, 2, 64, 1, 1, 50, .attr.scale = 1), BIASED(3, 13, 131, 2, 40, 3, 1, 1),
    BIASED(1, 97, 200, 1, 128, 1, 1, 97, .spread = 8), BIASED(1, 5, 300, 1, 5, 1, 1, 1),
    BIASED(1, 9, 66, 1, 516, 1, 1, 9, .is_large = true),
    SHARED(2, 49, 63, 6, 2, 16, .spread = 3), SHARED(2, 65, 131, 4, 2, 64, .attr.is_causal = true, .spread = 3),
    SHARED(1, 1, 200, 2, 1, 64, .attr.is_causal = true), BIASED(2, 99, 99, 2, 64, 2, 1, 1, .attr.is_causal = true),
    SHARED(1, 130, 130, 4, 2, 40, .attr.is_causal = true, .is_large = true),
    SHARED(1, 70, 133, 3, 1, 128, .attr.is_causal = true, .spread = 3, .is_large = true),
    SHARED(2, 40, 70, 2, 1, 512, .attr.is_causal = true, .is_large = true),
    SHARED(1, 2048, 2048, 32, 8, 128, .attr.is_causal = true, .only_bench = true),
    ATTN(1, 4096, 4096, 8, 40, .only_bench = true), ATTN(1, 4096, 4096, 8, 64, .only_bench = true),
    ATTN(1, 4096, 77, 8, 40, .only_bench = true), ATTN(1, 1280, 1280, 24, 128, .only_bench = true),
    BIASED(1, 256, 256, 64, 64, 1, 64, 256, .only_bench = true),
    ATTN(1, 1024, 1024, 8, 128, .only_bench = true),
    ATTN(1, 4096, 4096, 1, 512, .only_bench = true),

    // ---- elementwise
    ACT(NONE, X(5)), ACT(RELU, X(1)), ACT(RELU, X(1023)), ACT(SILU, X(1025), .spread = 10), ACT(SILU, X(3, 7, 5)),
    ACT(GELU, X(257), .spread = 4), ACT(GELU_TANH, X(257), .spread = 4), ACT(QUICK_GELU, X(259), .spread = 4),
    ACT(SIGMOID, X(127), .spread = 20), ACT(TANH, X(2, 129), .spread = 4), ACT(TANH3, X(1, 9, 7, 4), .spread = 6),
    ACT(CLAMP01, X(333)), ACT(LEAKY, X(1025), .spread = 4),
    // by element and by vector alone, where the constants of an activation matter
    ACT(RELU, X(3)), ACT(SILU, X(3), .spread = 3), ACT(GELU, X(3), .spread = 2), ACT(GELU_TANH, X(3), .spread = 2),
    ACT(QUICK_GELU, X(3), .spread = 3), ACT(SIGMOID, X(3), .spread = 3), ACT(TANH, X(3)), ACT(TANH3, X(3), .spread = 3), ACT(CLAMP01, X(3)), ACT(LEAKY, X(3)),
    ACT(RELU, X(64)), ACT(SILU, X(64), .spread = 3), ACT(GELU, X(64), .spread = 2), ACT(GELU_TANH, X(64), .spread = 2),
    ACT(QUICK_GELU, X(64), .spread = 3), ACT(SIGMOID, X(64), .spread = 3), ACT(TANH, X(64)), ACT(TANH3, X(64), .spread = 3), ACT(CLAMP01, X(64)), ACT(LEAKY, X(64)),
    ACT(SILU, X(1, 512, 512, 128), .only_bench = true),
    // PReLU
    ACT(NONE, X(1), .gamma = true), ACT(NONE, X(3, 5, 7, 24), .gamma = true), ACT(NONE, X(2, 9, 35), .gamma = true),
    ACT(NONE, X(257, 64), .gamma = true, .spread = 4), ACT(NONE, X(1, 512, 512, 64), .gamma = true, .only_bench = true),
    { .op = NINO_OP_ADD, .src = { { 1 }, { 1 } } },
    { .op = NINO_OP_ADD, .src = { { 3, 341 }, { 3, 341 } } },
    { .op = NINO_OP_ADD, .src = { { 1, 512, 512, 128 }, { 1, 512, 512, 128 } }, .only_bench = true },
    { .op = NINO_OP_ADD, .src = { { 2, 5, 3, 35 }, { 2, 35 } } },
    { .op = NINO_OP_ADD, .src = { { 2, 3, 341 }, { 1, 341 } } },
    { .op = NINO_OP_ADD, .src = { { 3, 7, 20 }, { 1, 7, 20 } } },
    { .op = NINO_OP_ADD, .src = { { 3, 20 }, { 1, 20 } } },
    { .op = NINO_OP_ADD, .src = { { 1, 64, 64, 320 }, { 1, 320 } }, .only_bench = true },
    { .op = NINO_OP_MUL, .src = { { 1 }, { 1 } } },
    { .op = NINO_OP_MUL, .src = { { 3, 341 }, { 3, 341 } }, .attr.act = NINO_ACT_GELU_TANH },
    { .op = NINO_OP_GLU, X(1, 2) },
    { .op = NINO_OP_GLU, X(5, 66), .attr.act = NINO_ACT_GELU },
    { .op = NINO_OP_GLU, X(2, 3, 140), .attr.act = NINO_ACT_SILU },
    { .op = NINO_OP_GLU, X(3, 72), .attr.act = NINO_ACT_GELU },
    { .op = NINO_OP_GLU, X(1, 4096, 2560), .attr.act = NINO_ACT_GELU, .only_bench = true },
    { .op = NINO_OP_GATE_ADD, .src = { { 1, 1 }, { 1, 1 }, { 1, 1 } } },
    { .op = NINO_OP_GATE_ADD, .src = { { 2, 7, 36 }, { 2, 7, 36 }, { 2, 36 } } },
    { .op = NINO_OP_GATE_ADD, .src = { { 2, 3, 341 }, { 2, 3, 341 }, { 1, 341 } } },
    { .op = NINO_OP_GATE_ADD, .src = { { 1, 1280, 3072 }, { 1, 1280, 3072 }, { 1, 3072 } }, .only_bench = true },
    ROPE(1, 1, 1, 2), ROPE(2, 7, 3, 8), ROPE(1, 5, 2, 18), ROPE(2, 13, 4, 40), ROPE(1, 31, 2, 128),
    ROPE(1, 1280, 24, 128, .only_bench = true),
    { .op = NINO_OP_SCALE, X(1), .attr.scale = 2, .attr.shift = 1 },
    { .op = NINO_OP_SCALE, X(4099), .attr.scale = -0.18215f, .attr.shift = 0.1159f },
    { .op = NINO_OP_CHECK_FINITE, X(1) },
    { .op = NINO_OP_CHECK_FINITE, X(2, 4099) },
    { .op = NINO_OP_CHECK_FINITE, X(1, 256, 256, 16), .is_large = true },

    // ---- copies
    { .op = NINO_OP_CONCAT, .src = { { 1, 1 }, { 1, 1 } }, .attr.axis = 1 },
    { .op = NINO_OP_CONCAT, .src = { { 2, 5, 3, 7 }, { 2, 5, 3, 16 } }, .attr.axis = 3 },
    { .op = NINO_OP_CONCAT, .src = { { 2, 3, 129 }, { 2, 5, 129 } }, .attr.axis = 1 },
    { .op = NINO_OP_CONCAT, .src = { { 1, 4, 6 }, { 3, 4, 6 } }, .attr.axis = 0 },
    { .op = NINO_OP_SLICE, X(1, 9, 7, 32), .attr.axis = 3, .attr.start = 5, .out = { 16 } },
    { .op = NINO_OP_SLICE, X(3, 33, 17), .attr.axis = 1, .attr.start = 32, .out = { 1 } },
    { .op = NINO_OP_SLICE, X(5, 3), .attr.axis = 0, .attr.start = 1, .out = { 3 } },
    { .op = NINO_OP_PERMUTE, X(3, 5), .attr.perm = { 1, 0 } },
    { .op = NINO_OP_PERMUTE, X(2, 3, 5, 7), .attr.perm = { 0, 3, 1, 2 } },
    { .op = NINO_OP_PERMUTE, X(2, 3, 4, 5, 6), .attr.perm = { 4, 2, 0, 3, 1 } },
    { .op = NINO_OP_PERMUTE, X(65, 129), .attr.perm = { 1, 0 } },
    SHUFFLE(true, 2, 2, 1, 8, X(1, 3, 5, 8)), SHUFFLE(true, 2, 2, 0, 24, X(2, 3, 2, 24), .residual = true),
    SHUFFLE(true, 1, 2, 0, 32, X(3, 5, 7, 64), .residual = true), SHUFFLE(true, 1, 2, 0, 3, X(2, 3, 4, 12)),
    SHUFFLE(false, 2, 2, 1, 32, X(3, 4, 6, 16)), SHUFFLE(false, 2, 2, 0, 64, X(4, 6, 2, 64), .residual = true),
    SHUFFLE(false, 1, 2, 0, 12, X(1, 6, 10, 3)), SHUFFLE(false, 1, 1, 0, 5, X(2, 3, 3, 35), .residual = true),
    { .op = NINO_OP_CAST, X(1027), .cast_to = NINO_F32, .spread = 100 },
    { .op = NINO_OP_CAST, X(1027), .cast_to = NINO_F16, .spread = 100 },
    { .op = NINO_OP_CAST, X(31, 33), .cast_to = NINO_BF16, .spread = 1e-3f },

    // ---- images
    RESAMPLE(NEAREST, 8, 4, X(1, 5, 7, 3)), RESAMPLE(NEAREST, 30, 34, X(2, 15, 17, 4)),
    RESAMPLE(BILINEAR, 8, 4, X(1, 5, 7, 3)), RESAMPLE(BILINEAR, 1, 1, X(1, 9, 8, 2)),
    RESAMPLE(BICUBIC, 11, 13, X(2, 5, 7, 3)), RESAMPLE(BICUBIC, 5, 3, X(1, 16, 17, 4)),
    RESAMPLE(AREA, 3, 5, X(1, 16, 17, 3)), RESAMPLE(AREA, 9, 9, X(1, 4, 4, 1)),
    RESAMPLE(LANCZOS, 23, 7, X(1, 8, 31, 3)), RESAMPLE(LANCZOS, 7, 40, X(2, 65, 10, 4)),
    RESAMPLE(LANCZOS, 96, 96, X(1, 257, 127, 3), .is_large = true),
    { .op = NINO_OP_BLEND, .src = { { 9, 11, 4 }, { 1, 5, 6, 3 } }, .attr.x0 = 5, .attr.y0 = 4, .attr.feather_x = 2, .attr.feather_y = 3, .attr.sides = 15 },
    { .op = NINO_OP_BLEND, .src = { { 33, 65, 4 }, { 1, 33, 33, 3 } }, .attr.x0 = 32, .attr.feather_x = 33, .attr.feather_y = 1, .attr.sides = 5 },
    { .op = NINO_OP_BLEND, .src = { { 1, 1, 2 }, { 1, 1, 1, 1 } }, .attr.sides = 0 },
    { .op = NINO_OP_BLEND_DIV, X(1, 1, 2) },
    { .op = NINO_OP_BLEND_DIV, X(33, 17, 4) },
    { .op = NINO_OP_TO_RGB8, X(1, 1, 1, 3) },
    { .op = NINO_OP_TO_RGB8, X(2, 33, 31, 3) },
    { .op = NINO_OP_TO_RGB8, X(1, 5, 7, 4) },
};
// clang-format on
const size_t nino_n_check_cases = sizeof(nino_check_cases) / sizeof(nino_check_cases[0]);
