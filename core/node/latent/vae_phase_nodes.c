// The decoders of the ROCm extension's phases, ROCMOptimizedVAEDecodeV2, ...V2Phase2 and ...V2Phase3: each decodes under
// the policies of its phase (ninodes/options.h), whatever the run has, and their inputs switch single ones off. So
// performance_comparison.json compares what its titles say.
#include <stdio.h>

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/node/latent/vae_node.h"
#include "core/node/util.h"
#include "core/op/backend.h"

typedef struct phase_params {
    int64_t tile_size, overlap, precision_mode, video_chunk_size;
    bool use_rocm_optimizations, batch_optimization, memory_optimization_enabled, adaptive_tiling;
    bool memory_prefetching, adaptive_precision, tensor_layout_optimization, advanced_caching;
    bool temporal_consistency, adaptive_optimization, performance_monitoring;
} phase_params;

static const nino_port phase_in[] = { NINO_PORT(samples, LATENT), NINO_PORT(vae, VAE), { 0 } };

// ---- policies --------------------------------------------------------------------------------

static uint32_t phase_off(nino_policy policy, bool is_on)
{
    return is_on ? 0 : NINO_POLICY_BIT(policy);
}

// Policies of a phase without those that are switched off, as nino_profile.switched.
static uint32_t phase_switched(nino_phase phase, const phase_params *p, uint32_t off)
{
    nino_job_options o = { NINO_JOB_OPTIONS_INIT };
    nino_phase_set(&o, p->use_rocm_optimizations ? phase : NINO_PHASE_BASELINE);
    return ((o.policies_on & ~off) ^ NINO_POLICY_STANDARD) & NINO_POLICY_ALL;
}

static uint32_t phase1_switched(const void *params, uint32_t run)
{
    const phase_params *p = params;
    (void) run;
    return phase_switched(NINO_PHASE_MEMORY, p,
                          phase_off(NINO_POLICY_POOL, p->memory_optimization_enabled) |
                              phase_off(NINO_POLICY_TILES, p->adaptive_tiling));
}

static uint32_t phase2_switched(const void *params, uint32_t run)
{
    const phase_params *p = params;
    (void) run;
    return phase_switched(NINO_PHASE_PRECISION, p,
                          phase_off(NINO_POLICY_PREFETCH, p->memory_prefetching) |
                              phase_off(NINO_POLICY_LAYOUT, p->tensor_layout_optimization));
}

static uint32_t phase3_switched(const void *params, uint32_t run)
{
    const phase_params *p = params;
    (void) run;
    return phase_switched(NINO_PHASE_VIDEO, p,
                          phase_off(NINO_POLICY_PREFETCH, p->memory_prefetching) |
                              phase_off(NINO_POLICY_LAYOUT, p->tensor_layout_optimization));
}

// advanced_caching off: the result is never taken from an earlier run.
static bool phase_is_volatile(const void *params)
{
    return !((const phase_params *) params)->advanced_caching;
}

enum { AUTO, FP32, FP16, MIXED };

static nino_precision phase1_precision(const void *params)
{
    static const nino_precision of[] = { NINO_PREC_AUTO, NINO_PREC_F32, NINO_PREC_F16,
                                         NINO_PREC_MIXED };
    return of[((const phase_params *) params)->precision_mode];
}

// From phase 2 on auto is mixed.
static nino_precision phase2_precision(const void *params)
{
    const phase_params *p = params;
    return p->precision_mode == AUTO && p->adaptive_precision && p->use_rocm_optimizations
               ? NINO_PREC_MIXED
               : phase1_precision(params);
}

static nino_precision phase3_precision(const void *params)
{
    const phase_params *p = params;
    return p->precision_mode == AUTO && p->adaptive_optimization && p->use_rocm_optimizations
               ? NINO_PREC_MIXED
               : phase1_precision(params);
}

// ---- decoding --------------------------------------------------------------------------------

static void phase_say(nino_run *r, uint64_t begin)
{
    const nino_backend *be = nino_stream_backend(r->stream);
    const nino_array *z = r->in[0]->u.latent.samples;
    nino_mem_stat m;
    char text[200];
    nino_pool_stat(be->pool, &m);
    snprintf(text, sizeof(text),
             "decoded %lld latents in %.3f s; most memory of the run so far %.1f MiB; storage %s",
             (long long) z->shape.dim[0], (double) (nino_now_ns() - begin) * 1e-9,
             (double) m.peak / 0x1p20, nino_dtype_name(nino_stream_act_type(r->stream)));
    nino_run_text(r, "PERFORMANCE", text);
}

static nino_status phase_run(nino_run *r, nino_error *err)
{
    const phase_params *p = r->params;
    const nino_vae *vae = nino_in_vae(r, 1);
    const int64_t most = p->tile_size / 4;
    const int64_t chunk = p->video_chunk_size / vae->time_factor;
    const nino_video_params v = { .tile = { .style = NINO_TILE_AUTO,
                                            .tile = (int) p->tile_size,
                                            .overlap =
                                                (int) (p->overlap > most ? most : p->overlap),
                                            .one_by_one = !p->batch_optimization },
                                  .chunk = p->video_chunk_size ? (int) (chunk < 2 ? 2 : chunk) : 0,
                                  .overlap = p->temporal_consistency ? 2 : 1 };
    const uint64_t begin = nino_now_ns();
    const nino_status st = nino_vae_node_decode(r, &v, err);
    if (!st && p->performance_monitoring && !r->is_plan)
        phase_say(r, begin);
    return st;
}

// ---- the classes -----------------------------------------------------------------------------

#define SWITCH(key, what, text)                                                                    \
    NINO_P_BOOL(phase_params, key, true, .label = what, .optional = true, .help = text)
#define COMMON                                                                                     \
    NINO_P_INT(phase_params, tile_size, 768, 256, 2048, 64, .label = "Tile", .unit = "px",         \
               .optional = true,                                                                   \
               .help = "Side of a tile, if the whole image does not fit the memory budget"),       \
        NINO_P_INT(phase_params, overlap, 96, 32, 512, 16, .label = "Overlap", .unit = "px",       \
                   .optional = true,                                                               \
                   .help = "Pixels that neighbouring tiles share, at most a quarter of the tile"), \
        NINO_P_ENUM(phase_params, precision_mode, NINO_WORDS("auto", "fp32", "fp16", "mixed"), 0,  \
                    .label = "Precision", .optional = true,                                        \
                    .help = "How numbers are stored between operations; mixed: 16 bits, sums in "  \
                            "32; auto is mixed from phase 2 on"),                                  \
        SWITCH(use_rocm_optimizations, "Optimised",                                                \
               "Off: the policies of the baseline instead of those of the phase")
#define BATCH                                                                                      \
    SWITCH(                                                                                        \
        batch_optimization, "Batching",                                                            \
        "Pictures of a batch go through together where the planner finds that faster; off: one "   \
        "after the other")
#define PREFETCH SWITCH(memory_prefetching, "Prefetch", "Weights are read ahead of their use")
#define LAYOUT SWITCH(tensor_layout_optimization, "Layout", "3x3 convolutions in Winograd's layout")
#define CACHING                                                                                    \
    SWITCH(advanced_caching, "Caching",                                                            \
           "The result of an earlier run is taken where it is the same")
#define CHUNK(standard)                                                                            \
    NINO_P_INT(phase_params, video_chunk_size, standard, 1, 32, 1, .label = "Frames at once",      \
               .optional = true, .acts_for = NINO_ACTS_FOR_CLIPS,                                  \
               .help = "Frames of a clip that are decoded together; causal VAEs stream instead")
#define WRAPPER(name_of)                                                                           \
    {                                                                                              \
        .name = name_of "Instrumented", .note = "this was a test wrapper of " name_of              \
    }

NINO_NODE(rocm_vae_phase1, "ROCMOptimizedVAEDecodeV2", "ROCm VAE Decode, Phase 1",
          "ROCm Ninodes/VAE",
          "Decodes with a memory pool, planned tiles and Winograd's layout, whatever the run has",
          .inputs = phase_in, NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(phase_params, COMMON, BATCH, CHUNK(8),
                      SWITCH(memory_optimization_enabled, "Pool", "Device memory is used again"),
                      SWITCH(adaptive_tiling, "Planned tiles",
                             "Tiles are chosen by plan; off: whole pictures are tried first")),
          NINO_ALIASES(WRAPPER("ROCMOptimizedVAEDecodeV2")),
          NINO_RUN(phase_run, .precision = phase1_precision, .switched = phase1_switched,
                   .items = NINO_ITEMS_SHARED));

NINO_NODE(
    rocm_vae_phase2, "ROCMOptimizedVAEDecodeV2Phase2", "ROCm VAE Decode, Phase 2",
    "ROCm Ninodes/VAE",
    "Decodes as phase 1, with storage of 16 bits and weights read ahead, whatever the run has",
    .inputs = phase_in, NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
    NINO_PARAMS(phase_params, COMMON, BATCH, PREFETCH,
                SWITCH(adaptive_precision, "Mixed", "Precision auto is mixed"), LAYOUT, CACHING),
    NINO_ALIASES(WRAPPER("ROCMOptimizedVAEDecodeV2Phase2")),
    NINO_RUN(phase_run, .precision = phase2_precision, .switched = phase2_switched,
             .items = NINO_ITEMS_SHARED, .is_volatile_with = phase_is_volatile));

NINO_NODE(rocm_vae_phase3, "ROCMOptimizedVAEDecodeV2Phase3", "ROCm VAE Decode, Phase 3",
          "ROCm Ninodes/VAE", "Decodes as phase 2, and clips frame by frame, whatever the run has",
          .inputs = phase_in, NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(
              phase_params, COMMON, BATCH, CHUNK(8),
              NINO_P_BOOL(phase_params, temporal_consistency, true, .label = "Consistent clips",
                          .optional = true, .acts_for = NINO_ACTS_FOR_CLIPS,
                          .help = "Neighbouring chunks share two latent frames, else one"),
              SWITCH(adaptive_optimization, "Adaptive",
                     "Precision auto goes by the size of tensors (mixed); off: as the run has it"),
              SWITCH(performance_monitoring, "Say time and memory",
                     "Time and memory of the decoding as a text"),
              PREFETCH, LAYOUT, CACHING),
          NINO_ALIASES({ .name = "ROCMOptimizedVAEDecodeV3",
                         .note = "one version called phase 3 so" },
                       WRAPPER("ROCMOptimizedVAEDecodeV2Phase3")),
          NINO_RUN(phase_run, .precision = phase3_precision, .switched = phase3_switched,
                   .items = NINO_ITEMS_SHARED, .is_volatile_with = phase_is_volatile));
