// Nodes that give a MODEL another noise schedule, meaning of its output or number type. They share
// its network. Behaviour: ComfyUI comfy_extras/nodes_model_advanced.py.
#include <stdlib.h>

#include "core/base/error.h"
#include "core/node/util.h"

// The output is the input with other sampling, which is taken; NULL: out of memory.
static nino_status sampling_nodes_give(nino_run *r, nino_sampling *ms,
                                       const nino_latent_format *format, nino_error *err)
{
    nino_model *m = ms ? nino_model_copy(nino_in_model(r, 0)) : NULL;
    if (m) {
        nino_sampling_unref(&m->sampling);
        m->sampling = ms;
        m->format = format ? format : m->format;
    } else {
        nino_sampling_unref(&ms);
    }
    return nino_out_model(r, 0, m, err);
}

// ---- ModelSamplingFlux -----------------------------------------------------------------------

typedef struct flux_params {
    double max_shift, base_shift;
    int64_t width, height;
} flux_params;

static nino_status sampling_nodes_flux_run(nino_run *r, nino_error *err)
{
    const flux_params *p = r->params;
    const double mu =
        nino_sampling_flux_mu(p->max_shift, p->base_shift, (int) p->width, (int) p->height);
    return sampling_nodes_give(r, nino_sampling_flux(mu), NULL, err);
}

#define SHIFT_HELP "More spends more of the steps on high noise, which decides the composition"
NINO_NODE(sampling_flux, "ModelSamplingFlux", "ModelSamplingFlux", "advanced/model",
          "Flux's noise schedule with the shift that fits a picture size",
          NINO_INPUTS(NINO_PORT(model, MODEL)), NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          NINO_PARAMS(flux_params,
                      NINO_P_FLOAT(flux_params, max_shift, 1.15, 0, 100, 0.01,
                                   .label = "Shift at 1024 x 1024", .help = SHIFT_HELP),
                      NINO_P_FLOAT(flux_params, base_shift, 0.5, 0, 100, 0.01,
                                   .label = "Shift at 256 x 256", .help = SHIFT_HELP),
                      NINO_P_INT(flux_params, width, 1024, 16, 16384, 8, .label = "Width",
                                 .unit = "px", .help = "Of the picture that will be made"),
                      NINO_P_INT(flux_params, height, 1024, 16, 16384, 8, .label = "Height",
                                 .unit = "px", .help = "Of the picture that will be made")),
          NINO_RUN(sampling_nodes_flux_run));

// ---- ModelSamplingSD3, ModelSamplingAuraFlow -------------------------------------------------

typedef struct shift_params {
    double shift;
} shift_params;

static nino_status sampling_nodes_sd3_run(nino_run *r, nino_error *err)
{
    return sampling_nodes_give(
        r, nino_sampling_flow(((const shift_params *) r->params)->shift, 1000), NULL, err);
}

static nino_status aura_run(nino_run *r, nino_error *err)
{
    return sampling_nodes_give(r, nino_sampling_flow(((const shift_params *) r->params)->shift, 1),
                               NULL, err);
}

NINO_NODE(sampling_sd3, "ModelSamplingSD3", "ModelSamplingSD3", "advanced/model",
          "The shift of a rectified-flow model that is told time steps of 0 to 1000",
          NINO_INPUTS(NINO_PORT(model, MODEL)), NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          NINO_PARAMS(shift_params, NINO_P_FLOAT(shift_params, shift, 3, 0, 100, 0.01,
                                                 .label = "Shift", .help = SHIFT_HELP)),
          NINO_RUN(sampling_nodes_sd3_run));

NINO_NODE(sampling_aura, "ModelSamplingAuraFlow", "ModelSamplingAuraFlow", "advanced/model",
          "The shift of a rectified-flow model that is told time steps of 0 to 1",
          NINO_INPUTS(NINO_PORT(model, MODEL)), NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          NINO_PARAMS(shift_params, NINO_P_FLOAT(shift_params, shift, 1.73, 0, 100, 0.01,
                                                 .label = "Shift", .help = SHIFT_HELP)),
          NINO_RUN(aura_run));

// ---- ModelSamplingDiscrete -------------------------------------------------------------------

typedef struct discrete_params {
    int64_t sampling;
    bool zsnr;
} discrete_params;

static const char *const discrete_names[] = {
    "eps", "v_prediction", "lcm", "x0", "img_to_img", NULL
};
static const nino_prediction discrete_kinds[] = { NINO_PRED_EPS, NINO_PRED_V, NINO_PRED_LCM,
                                                  NINO_PRED_X0, NINO_PRED_IMG_TO_IMG };

static nino_status discrete_run(nino_run *r, nino_error *err)
{
    const discrete_params *p = r->params;
    const nino_prediction kind = discrete_kinds[p->sampling];
    nino_sampling *ms = kind == NINO_PRED_LCM ? nino_sampling_distilled(kind, p->zsnr)
                                              : nino_sampling_discrete(kind, p->zsnr);
    return sampling_nodes_give(r, ms, NULL, err);
}

#define MEANS_HELP "What the model was trained to answer"
NINO_NODE(
    sampling_discrete, "ModelSamplingDiscrete", "ModelSamplingDiscrete", "advanced/model",
    "Stable Diffusion's 1000 time steps, with another meaning of the model's answer",
    NINO_INPUTS(NINO_PORT(model, MODEL)), NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
    NINO_PARAMS(
        discrete_params,
        NINO_P_ENUM(discrete_params, sampling, discrete_names, 0, .label = "Prediction",
                    .help = MEANS_HELP),
        NINO_P_BOOL(discrete_params, zsnr, false, .label = "Zero terminal SNR",
                    .help = "The first step starts from pure noise, for models trained that way")),
    NINO_RUN(discrete_run));

// ---- ModelSamplingContinuousEDM, ModelSamplingContinuousV ------------------------------------

typedef struct continuous_params {
    int64_t sampling;
    double sigma_max, sigma_min;
} continuous_params;

static const char *const edm_names[] = { "v_prediction", "edm",          "edm_playground_v2.5",
                                         "eps",          "cosmos_rflow", NULL };
static const struct {
    nino_schedule_kind schedule;
    nino_prediction prediction;
    double sigma_data;
    const char *format; // NULL: stays
} edm_kinds[] = {
    { NINO_SCHEDULE_EDM, NINO_PRED_V, 1, NULL },
    { NINO_SCHEDULE_EDM, NINO_PRED_EDM, 0.5, NULL },
    { NINO_SCHEDULE_EDM, NINO_PRED_EDM, 0.5, "sdxl_playground" },
    { NINO_SCHEDULE_EDM, NINO_PRED_EPS, 1, NULL },
    { NINO_SCHEDULE_COSMOS, NINO_PRED_COSMOS_RFLOW, 1, NULL },
};

static nino_status check_range(const nino_ctx *ctx, const void *params, nino_error *err)
{
    const continuous_params *p = params;
    (void) ctx;
    return p->sigma_min > 0 && p->sigma_max > p->sigma_min
               ? NINO_OK
               : nino_fail_kind(err, NINO_ERR_RANGE, "value", "sigma_min",
                                "0 < sigma_min < sigma_max is needed");
}

static nino_status edm_run(nino_run *r, nino_error *err)
{
    const continuous_params *p = r->params;
    const char *name = edm_kinds[p->sampling].format;
    const nino_latent_format *format = name ? nino_latent_format_find(name) : NULL;
    const nino_status st = check_range(r->ctx, p, err);
    if (st)
        return st;
    if (format && format->channels != nino_in_model(r, 0)->format->channels)
        return nino_fail_kind(err, NINO_ERR_ARG, "value", "sampling",
                              "Playground's latents have %d channels, the model's %d",
                              format->channels, nino_in_model(r, 0)->format->channels);
    return sampling_nodes_give(
        r,
        nino_sampling_continuous(edm_kinds[p->sampling].schedule, edm_kinds[p->sampling].prediction,
                                 p->sigma_min, p->sigma_max, edm_kinds[p->sampling].sigma_data),
        format, err);
}

#define MAX_HELP "The noise that sampling starts from"
#define MIN_HELP "The noise that the last step takes away"
NINO_NODE(sampling_edm, "ModelSamplingContinuousEDM", "ModelSamplingContinuousEDM",
          "advanced/model", "Noise levels without steps, as in EDM",
          NINO_INPUTS(NINO_PORT(model, MODEL)), NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          NINO_PARAMS(continuous_params,
                      NINO_P_ENUM(continuous_params, sampling, edm_names, 0, .label = "Prediction",
                                  .help = MEANS_HELP),
                      NINO_P_FLOAT(continuous_params, sigma_max, 120, 0, 1000, 0.001,
                                   .label = "Highest noise", .help = MAX_HELP),
                      NINO_P_FLOAT(continuous_params, sigma_min, 0.002, 0, 1000, 0.001,
                                   .label = "Lowest noise", .help = MIN_HELP)),
          NINO_RUN(edm_run, .check = check_range));

static nino_status v_run(nino_run *r, nino_error *err)
{
    const continuous_params *p = r->params;
    const nino_status st = check_range(r->ctx, p, err);
    return st ? st
              : sampling_nodes_give(r,
                                    nino_sampling_continuous(NINO_SCHEDULE_V, NINO_PRED_V,
                                                             p->sigma_min, p->sigma_max, 1),
                                    NULL, err);
}

NINO_NODE(sampling_v, "ModelSamplingContinuousV", "ModelSamplingContinuousV", "advanced/model",
          "Noise levels without steps, even in the angle between picture and noise",
          NINO_INPUTS(NINO_PORT(model, MODEL)), NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          NINO_PARAMS(continuous_params,
                      NINO_P_ENUM(continuous_params, sampling, NINO_WORDS("v_prediction"), 0,
                                  .label = "Prediction", .help = MEANS_HELP),
                      NINO_P_FLOAT(continuous_params, sigma_max, 500, 0, 1000, 0.001,
                                   .label = "Highest noise", .help = MAX_HELP),
                      NINO_P_FLOAT(continuous_params, sigma_min, 0.03, 0, 1000, 0.001,
                                   .label = "Lowest noise", .help = MIN_HELP)),
          NINO_RUN(v_run, .check = check_range));

// ---- ModelComputeDtype ------------------------------------------------------------------------

typedef struct dtype_params {
    int64_t dtype;
} dtype_params;

static const char *const dtype_names[] = { "default", "fp32", "fp16", "bf16", NULL };
static const nino_precision dtype_kinds[] = { NINO_PREC_AUTO, NINO_PREC_F32, NINO_PREC_F16,
                                              NINO_PREC_BF16 };

static nino_status dtype_run(nino_run *r, nino_error *err)
{
    nino_model *m = nino_model_copy(nino_in_model(r, 0));
    if (m)
        m->precision = dtype_kinds[((const dtype_params *) r->params)->dtype];
    return nino_out_model(r, 0, m, err);
}

NINO_NODE(
    model_dtype, "ModelComputeDtype", "ModelComputeDtype", "advanced/debug/model",
    "The number type a model works in", NINO_INPUTS(NINO_PORT(model, MODEL)),
    NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
    NINO_PARAMS(
        dtype_params,
        NINO_P_ENUM(dtype_params, dtype, dtype_names, 0, .label = "Number type",
                    .help = "How values between the layers are stored; sums are fp32 always")),
    NINO_RUN(dtype_run));
