// The sampling nodes of the ROCm extension, with their former names and widget orders. With their
// defaults they do what the stock nodes do, bit for bit.
#include "core/node/sampling_node.h"
#include "core/node/util.h"

#define VIDEO_HELP "No previews for latents of several frames"
#define COMPAT_HELP "Exactly the stock node: the options of this one are ignored"
#define PRECISION_HELP                                                                             \
    "How numbers are stored between the model's operations; auto is the run's precision"

static bool has_frames(const nino_run *r, int i)
{
    const nino_shape *s = &nino_in_latent(r, i)->samples->shape;
    return s->rank == 5 && s->dim[1] > 1;
}

static nino_precision precision_of(int64_t mode, bool is_stock)
{
    static const nino_precision of[] = { NINO_PREC_AUTO, NINO_PREC_F32, NINO_PREC_BF16,
                                         NINO_PREC_F16, NINO_PREC_MIXED };
    return is_stock ? NINO_PREC_AUTO : of[mode];
}

// What the executor set the stream to for this node, f32 in a second try; AUTO: the node says none.
static nino_precision rocm_sample_chosen(const nino_run *r)
{
    return r->def->ops->precision(r->params) == NINO_PREC_AUTO ? NINO_PREC_AUTO
                                                               : nino_stream_precision(r->stream);
}

static const nino_port ksampler_in[] = { NINO_PORT(model, MODEL),
                                         NINO_PORT(positive, CONDITIONING),
                                         NINO_PORT(negative, CONDITIONING),
                                         NINO_PORT(latent_image, LATENT),
                                         { 0 } };

#define ROCM_PARAMS(S)                                                                             \
    NINO_P_BOOL(S, optimize_for_video, false, .label = "For video", .optional = true,              \
                .help = VIDEO_HELP),                                                               \
        NINO_P_ENUM(S, precision_mode, NINO_WORDS("auto", "fp32", "bf16", "fp16", "mixed"), 0,     \
                    .label = "Precision", .optional = true, .help = PRECISION_HELP),               \
        NINO_P_BOOL(S, compatibility_mode, false, .label = "As the stock node", .optional = true,  \
                    .help = COMPAT_HELP)

// ---- ROCMOptimizedKSampler -------------------------------------------------------------------

typedef struct ksampler_params {
    uint64_t seed;
    int64_t steps, sampler_name, scheduler, precision_mode;
    double cfg, denoise;
    bool optimize_for_video, compatibility_mode;
} ksampler_params;

static nino_precision ksampler_precision(const void *params)
{
    const ksampler_params *p = params;
    return precision_of(p->precision_mode, p->compatibility_mode);
}

static bool ksampler_is_apart(nino_value *const *in, const void *params)
{
    return nino_ksampler_is_apart(in, ((const ksampler_params *) params)->sampler_name);
}

static nino_status rocm_sample_ksampler_run(nino_run *r, nino_error *err)
{
    const ksampler_params *p = r->params;
    const bool is_stock = p->compatibility_mode;
    const nino_ksampler k = { .seed = p->seed,
                              .steps = p->steps,
                              .sampler = p->sampler_name,
                              .scheduler = p->scheduler,
                              .cfg = p->cfg,
                              .denoise = p->denoise,
                              .start_step = -1,
                              .end_step = -1 };
    const nino_sampling_how how = {
        .precision = rocm_sample_chosen(r),
        .no_previews = p->optimize_for_video && !is_stock && has_frames(r, 3),
    };
    return nino_node_run_ksampler(r, &k, &how, err);
}

// "-" after a seed is what the editor does with it after a run.
#define STOCK_ORDER "seed", "-", "steps", "cfg", "sampler_name", "scheduler", "denoise"
NINO_NODE(rocm_ksampler, "ROCMOptimizedKSampler", "ROCm KSampler", "ROCm Ninodes/Sampling",
          "KSampler with a choice of precision", .inputs = ksampler_in,
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(ksampler_params, KSAMPLER_PARAMS(ksampler_params),
                      ROCM_PARAMS(ksampler_params)),
          NINO_ALIASES({ .name = "ROCmKSampler" }),
          NINO_ORDERS({ NINO_WORDS(STOCK_ORDER, "-", "precision_mode", "-", "-", "-", "-", "-"),
                        "1.0.9" },
                      { NINO_WORDS(STOCK_ORDER, "-", "precision_mode", "-", "-"), "1.0.0" },
                      { NINO_WORDS(STOCK_ORDER), "1.0.26" }),
          NINO_RUN(rocm_sample_ksampler_run, .precision = ksampler_precision,
                   .items = NINO_ITEMS_SHARED, .items_apart_with = ksampler_is_apart));

// ---- ROCMOptimizedKSamplerAdvanced -----------------------------------------------------------

typedef struct advanced_params {
    int64_t add_noise, steps, sampler_name, scheduler, start_at_step, end_at_step,
        return_with_leftover_noise, precision_mode;
    uint64_t noise_seed;
    double cfg;
    bool optimize_for_video, compatibility_mode;
} advanced_params;

static nino_precision advanced_precision(const void *params)
{
    const advanced_params *p = params;
    return precision_of(p->precision_mode, p->compatibility_mode);
}

static bool advanced_is_apart(nino_value *const *in, const void *params)
{
    return nino_ksampler_is_apart(in, ((const advanced_params *) params)->sampler_name);
}

static nino_status rocm_sample_advanced_run(nino_run *r, nino_error *err)
{
    const advanced_params *p = r->params;
    const bool is_stock = p->compatibility_mode;
    const nino_ksampler k = { .seed = p->noise_seed,
                              .steps = p->steps,
                              .sampler = p->sampler_name,
                              .scheduler = p->scheduler,
                              .cfg = p->cfg,
                              .denoise = 1,
                              .is_noise_off = p->add_noise == 1,
                              .keeps_noise = p->return_with_leftover_noise == 1,
                              .start_step = (int) p->start_at_step,
                              .end_step = (int) p->end_at_step };
    const nino_sampling_how how = {
        .precision = rocm_sample_chosen(r),
        .no_previews = p->optimize_for_video && !is_stock && has_frames(r, 3),
    };
    return nino_node_run_ksampler(r, &k, &how, err);
}

#define STOCK_ADVANCED_ORDER                                                                       \
    "add_noise", "noise_seed", "-", "steps", "cfg", "sampler_name", "scheduler", "start_at_step",  \
        "end_at_step", "return_with_leftover_noise"
NINO_NODE(rocm_ksampler_advanced, "ROCMOptimizedKSamplerAdvanced", "ROCm KSampler Advanced",
          "ROCm Ninodes/Sampling", "KSampler (Advanced) with a choice of precision",
          .inputs = ksampler_in, NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(advanced_params, KSAMPLER_ADVANCED_PARAMS(advanced_params),
                      ROCM_PARAMS(advanced_params)),
          NINO_ALIASES({ .name = "ROCmKSamplerAdvanced" }),
          NINO_ORDERS({ NINO_WORDS(STOCK_ADVANCED_ORDER, "-", "precision_mode", "-",
                                   "compatibility_mode"),
                        "1.0" },
                      { NINO_WORDS(STOCK_ADVANCED_ORDER, "-", "precision_mode", "-"), "1.0" }),
          NINO_RUN(rocm_sample_advanced_run, .precision = advanced_precision,
                   .items = NINO_ITEMS_SHARED, .items_apart_with = advanced_is_apart));

// ---- ROCMSamplerCustomAdvanced ---------------------------------------------------------------

typedef struct custom_params {
    bool compatibility_mode;
    int64_t flash_attention;
} custom_params;

enum { DISABLE_FLASH = 1 }; // the second word of flash_attention

static nino_status rocm_sample_custom_run(nino_run *r, nino_error *err)
{
    const custom_params *p = r->params;
    const nino_sampling_how how = { .no_previews = !p->compatibility_mode && has_frames(r, 4),
                                    .keeps_scores = p->flash_attention == DISABLE_FLASH };
    return nino_node_sample_custom(r, &how, err);
}

NINO_NODE(
    rocm_sampler_custom, "ROCMSamplerCustomAdvanced", "ROCm SamplerCustomAdvanced",
    "ROCm Ninodes/Sampling", "SamplerCustomAdvanced without previews of videos",
    NINO_INPUTS(NINO_SAMPLE_CUSTOM_PORTS),
    NINO_OUTPUTS(NINO_PORT(output, LATENT), NINO_PORT(denoised_output, LATENT)),
    NINO_PARAMS(
        custom_params,
        NINO_P_BOOL(custom_params, compatibility_mode, false, .label = "As the stock node",
                    .optional = true,
                    .help = "Exactly the stock node: also previews latents of several frames"),
        NINO_P_ENUM(
            custom_params, flash_attention, NINO_WORDS("auto", "disable_flash", "force_flash"), 0,
            .label = "Flash attention", .optional = true,
            .help = "disable_flash: the scores of attention go through memory in stripes of "
                    "queries, on GPUs with matrix instructions and with 16-bit numbers; "
                    "elsewhere it makes no difference. The others are the same: in registers "
                    "up to 160 channels a head")),
    // Up to then the optional widgets were others.
    NINO_ORDERS({ NINO_WORDS("-", "-", "compatibility_mode"), "2.2.0" }),
    NINO_RUN(rocm_sample_custom_run, .items = NINO_ITEMS_SHARED,
             .items_apart_with = nino_sample_custom_is_apart));
