// What can be tuned: parameters of schedules and engines, their values, and the shapes on which they are measured
// (core/harness/tune.c) or weighed by the clock model (core/harness/tune_shipped.c).
#include "core/harness/kernel_check_priv.h"
#include "core/harness/tune_choices.h"

static const nino_check_case tall = {
    .op = NINO_OP_LINEAR, .src = { { 1024, 1024 } }, .n = 1024, .weight = NINO_F16
};
static const nino_check_case flat = {
    .op = NINO_OP_LINEAR, .src = { { 77, 768 } }, .n = 3072, .weight = NINO_F16
};
static const nino_check_case few_narrow = {
    .op = NINO_OP_LINEAR, .src = { { 1, 1280 } }, .n = 1280, .weight = NINO_F16
};
static const nino_check_case few_wide = {
    .op = NINO_OP_LINEAR, .src = { { 8, 1024 } }, .n = 4096, .weight = NINO_F16
};
static const nino_check_case even = {
    .op = NINO_OP_LINEAR, .src = { { 192, 640 } }, .n = 640, .weight = NINO_F32
};
static const nino_check_case up_rows = {
    .op = NINO_OP_LINEAR, .src = { { 1024, 320 } }, .n = 1280, .weight = NINO_F32
};
static const nino_check_case wide = { .op = NINO_OP_CONV2D,
                                      .attr = { .kernel = 3, .stride = 1 },
                                      .src = { { 1, 64, 64, 256 } },
                                      .n = 256,
                                      .weight = NINO_F16 };
static const nino_check_case deep = { .op = NINO_OP_CONV2D,
                                      .attr = { .kernel = 3, .stride = 1 },
                                      .src = { { 1, 128, 128, 128 } },
                                      .n = 128,
                                      .weight = NINO_F16 };
static const nino_check_case point = { .op = NINO_OP_CONV2D,
                                       .attr = { .kernel = 1, .stride = 1 },
                                       .src = { { 1, 64, 64, 320 } },
                                       .n = 320,
                                       .weight = NINO_F16 };
static const nino_check_case blocks = {
    .op = NINO_OP_LINEAR, .src = { { 4096, 3072 } }, .n = 3072, .weight = NINO_Q4_K
};
static const nino_check_case bytes = {
    .op = NINO_OP_LINEAR, .src = { { 2048, 1536 } }, .n = 1536, .weight = NINO_F8_E4M3
};
static const nino_check_case blocks_few = { // a text's
    .op = NINO_OP_LINEAR,
    .src = { { 256, 4096 } },
    .n = 4096,
    .weight = NINO_Q4_K
};
static const nino_check_case last_layer = {
    .op = NINO_OP_LINEAR, .src = { { 32, 12288 } }, .n = 64, .weight = NINO_F16
};
static const nino_check_case few_tiles = {
    .op = NINO_OP_LINEAR, .src = { { 154, 4096 } }, .n = 256, .weight = NINO_F16
};
static const nino_check_case latent = { .op = NINO_OP_CONV2D,
                                        .attr = { .kernel = 3, .stride = 1 },
                                        .src = { { 1, 16, 16, 1280 } },
                                        .n = 1280,
                                        .weight = NINO_F16 };
#define HEADS(t, h, d)                                                                             \
    {                                                                                              \
        .op = NINO_OP_ATTENTION, .attr.heads = h, .src = {                                         \
            { 1, t, (int64_t) (h) * (d) },                                                         \
            { 1, t, (int64_t) (h) * (d) },                                                         \
            { 1, t, (int64_t) (h) * (d) }                                                          \
        }                                                                                          \
    }
static const nino_check_case narrow_heads = HEADS(4096, 10, 64);
static const nino_check_case wide_heads = HEADS(2304, 24, 128);
static const nino_check_case small_heads = HEADS(128, 2, 64);
static const nino_check_case small_gemm = {
    .op = NINO_OP_LINEAR, .src = { { 128, 128 } }, .n = 128, .weight = NINO_F16
};
static const nino_check_case small_conv = { .op = NINO_OP_CONV2D,
                                            .attr = { .kernel = 3, .stride = 1 },
                                            .src = { { 1, 32, 32, 32 } },
                                            .n = 32,
                                            .weight = NINO_F16 };

const nino_tune_row nino_tune_rows[] = {
    { "gemm_pieces",
      offsetof(nino_tuning, gemm_pieces),
      NINO_TUNES_GEMM_PIECES,
      false,
      NINO_STANDARD_GEMM_PIECES,
      { 1, 2, 4, 8, 16 },
      { &tall, &flat, &point },
      &small_gemm },
    { "gemm_rows",
      offsetof(nino_tuning, gemm_rows),
      NINO_TUNES_GEMM_ROWS,
      false,
      NINO_STANDARD_GEMM_ROWS,
      { 24, 48, 72, 96 },
      { &tall, &flat, &point },
      &small_gemm },
    { "wino_tiles",
      offsetof(nino_tuning, wino_tiles),
      NINO_TUNES_WINO_TILES,
      true,
      NINO_STANDARD_WINO_TILES,
      { 56, 84, 112, 168, 224 },
      { &wide, &deep },
      &small_conv },
    { "gemm_tile",
      offsetof(nino_tuning, gemm_tile),
      NINO_TUNES_GEMM_TILE,
      false,
      NINO_STANDARD_GEMM_TILE,
      { 1, 2, 3 },
      { &tall, &flat, &point },
      &small_gemm },
#define MATRIX(what, normal, values, small, ...)                                                   \
    {                                                                                              \
        .name = #what, .offset = offsetof(nino_tuning, what), .tunes = NINO_TUNES_MATRIX,          \
        .standard = (normal), .value = values, .cases = { __VA_ARGS__ }, .small_case = &(small)    \
    }
#define LIST(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
    MATRIX(gemm_costs, NINO_STANDARD_GEMM_COSTS, LIST(NINO_COSTS_ALIKE, NINO_COSTS_CLOCKS),
           small_gemm, &blocks, &bytes, &blocks_few),
    MATRIX(gemm_split, NINO_STANDARD_GEMM_SPLIT, LIST(1, 4, 8, 12, 16), small_gemm, &last_layer,
           &few_tiles, &latent),
    MATRIX(gemm_band, NINO_STANDARD_GEMM_BAND, LIST(1, 4, 8, 16), small_gemm, &tall, &bytes, &deep),
    MATRIX(flash_keys, NINO_STANDARD_FLASH_KEYS, LIST(32, 64), small_heads, &narrow_heads,
           &wide_heads),
#define ENGINE(rows, ...)                                                                          \
    {                                                                                              \
        .name = "engine_" #rows, .offset = offsetof(nino_tuning, engine_##rows),                   \
        .standard = NINO_STANDARD_ENGINE, .value = { NINO_GEMM_NATIVE, NINO_GEMM_CLBLAST },        \
        .cases = {                                                                                 \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
    ENGINE(few, &few_narrow, &few_wide),
    ENGINE(flat, &flat, &even),
    ENGINE(tall, &tall, &up_rows),
    { .name = NULL },
};

int *nino_tune_field(nino_tuning *t, const nino_tune_row *row)
{
    return (int *) (void *) ((char *) t + row->offset);
}

bool nino_tune_allows(const nino_tune_row *row, int value)
{
    for (int i = 0; i < NINO_MAX_TUNE_VALUES; i++)
        if (row->value[i] == value && value)
            return true;
    return false;
}

bool nino_tune_fits(const nino_profile *p, const nino_tune_row *row)
{
    if (!row->tunes)
        return p->has_blas && p->gemm != NINO_GEMM_NATIVE;
    const bool fits = (p->schedule->tunes & row->tunes) != 0;
    return fits && (!row->is_winograd || p->has_winograd);
}

// Winograd and the CPU kernels are for f32, matrix instructions for 16 bits; engines were measured with f32.
nino_dtype nino_tune_type(const nino_profile *p, const nino_tune_row *row)
{
    return row->tunes && p->schedule->has_matrix ? NINO_F16 : NINO_F32;
}
