// Nodes that give a MODEL another way of guidance. They share its network. Behaviour: ComfyUI
// 0.33.0 comfy_extras/nodes_model_advanced.py (RescaleCFG), nodes_cfg.py and the files of the other
// classes' names.
#include "core/base/error.h"
#include "core/node/sampling_node.h"
#include "core/node/util.h"

nino_status nino_out_patched(nino_run *r, const nino_patch *p, nino_error *err)
{
    if (!nino_need_model(r, 0, err))
        return NINO_ERR_UNSUPPORTED;
    nino_model *m = nino_model_copy(nino_in_model(r, 0));
    if (m && !nino_model_add_patch(m, p)) {
        nino_model_unref(&m);
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "value", r->def->key,
                              "more than %d nodes that patch one model", NINO_MODEL_PATCHES);
    }
    return nino_out_model(r, 0, m, err);
}

// ---- how the two sides make one --------------------------------------------------------------

typedef struct rescale_params {
    double multiplier;
} rescale_params;

static nino_status rescale_run(nino_run *r, nino_error *err)
{
    const double share = ((const rescale_params *) r->params)->multiplier;
    return nino_out_patched(r, &(nino_patch){ .kind = NINO_PATCH_RESCALE, .v = { share } }, err);
}

NINO_NODE(rescale_cfg, "RescaleCFG", "RescaleCFG", "advanced/model",
          "Guidance that does not overexpose", NINO_INPUTS(NINO_PORT(model, MODEL)),
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          NINO_PARAMS(
              rescale_params,
              NINO_P_FLOAT(
                  rescale_params, multiplier, 0.7, 0, 1, 0.01, .label = "Share",
                  .help = "1 brings the guided answer all the way back to the spread of the plain "
                          "one, 0 leaves it")),
          NINO_RUN(rescale_run));

// ---- what is done to what comes of it --------------------------------------------------------

typedef struct cfg_norm_params {
    double strength;
    bool pre_cfg;
} cfg_norm_params;

static nino_status cfg_norm_run(nino_run *r, nino_error *err)
{
    const cfg_norm_params *p = r->params;
    const nino_patch_kind kind = p->pre_cfg ? NINO_PATCH_NORM : NINO_PATCH_POST_NORM;
    return nino_out_patched(r, &(nino_patch){ .kind = kind, .v = { p->strength } }, err);
}

NINO_NODE(cfg_norm, "CFGNorm", "CFGNorm", "advanced/guidance",
          "Guidance that makes no cell of the latent stronger than the positive prompt alone does",
          NINO_INPUTS(NINO_PORT(model, MODEL)), NINO_OUTPUTS(NINO_PORT(patched_model, MODEL)),
          NINO_PARAMS(cfg_norm_params,
                      NINO_P_FLOAT(cfg_norm_params, strength, 1, 0, 100, 0.01, .label = "Strength",
                                   .help = "Factor of the result; with Before guidance the share "
                                           "of it",
                                   .ui_max.f = 2),
                      NINO_P_BOOL(cfg_norm_params, pre_cfg, false, .label = "Before guidance",
                                  .help = "Works on the noise that is found, which gets as strong "
                                          "as with the positive prompt, also where it was weaker",
                                  .optional = true)),
          NINO_RUN(cfg_norm_run));

static nino_status zero_star_run(nino_run *r, nino_error *err)
{
    return nino_out_patched(r, &(nino_patch){ .kind = NINO_PATCH_ZERO_STAR }, err);
}

NINO_NODE(cfg_zero_star, "CFGZeroStar", "CFGZeroStar", "advanced/guidance",
          "Guidance away from what the negative prompt shares with the positive one",
          NINO_INPUTS(NINO_PORT(model, MODEL)), NINO_OUTPUTS(NINO_PORT(patched_model, MODEL)),
          NINO_RUN(zero_star_run));

static nino_status mahiro_run(nino_run *r, nino_error *err)
{
    return nino_out_patched(r, &(nino_patch){ .kind = NINO_PATCH_MAHIRO }, err);
}

NINO_NODE(mahiro, "Mahiro", "Positive-Biased Guidance", "_for_testing",
          "Guidance that keeps nearer to the positive prompt where the negative one says the same",
          NINO_INPUTS(NINO_PORT(model, MODEL)), NINO_OUTPUTS(NINO_PORT(patched_model, MODEL)),
          NINO_RUN(mahiro_run));

typedef struct epsilon_params {
    double scaling_factor;
} epsilon_params;

static nino_status epsilon_run(nino_run *r, nino_error *err)
{
    const double by = ((const epsilon_params *) r->params)->scaling_factor;
    return nino_out_patched(r, &(nino_patch){ .kind = NINO_PATCH_EPSILON, .v = { by } }, err);
}

NINO_NODE(epsilon_scaling, "Epsilon Scaling", "Epsilon Scaling", "model_patches/unet",
          "The noise that is found gets a little smaller, against what samplers add up",
          NINO_INPUTS(NINO_PORT(model, MODEL)), NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          NINO_PARAMS(epsilon_params,
                      NINO_P_FLOAT(epsilon_params, scaling_factor, 1.005, 0.5, 1.5, 0.001,
                                   .label = "Factor", .help = "What the noise is divided by")),
          NINO_RUN(epsilon_run));

typedef struct tsr_params {
    double tsr_k, tsr_sigma;
} tsr_params;

static nino_status tsr_run(nino_run *r, nino_error *err)
{
    const tsr_params *p = r->params;
    return nino_out_patched(
        r, &(nino_patch){ .kind = NINO_PATCH_TSR, .v = { p->tsr_k, p->tsr_sigma } }, err);
}

NINO_NODE(temporal_rescaling, "TemporalScoreRescaling", "TSR - Temporal Score Rescaling",
          "model/patch/unet", "Rescales the noise that is found over the run of the sampling",
          NINO_INPUTS(NINO_PORT(model, MODEL)), NINO_OUTPUTS(NINO_PORT(patched_model, MODEL)),
          NINO_PARAMS(tsr_params,
                      NINO_P_FLOAT(tsr_params, tsr_k, 0.95, 0.01, 100, 0.001, .label = "Strength",
                                   .help = "Below 1 more variety, above 1 more detail"),
                      NINO_P_FLOAT(tsr_params, tsr_sigma, 1.0, 0.01, 100, 0.001, .label = "Early",
                                   .help = "Larger values let it begin earlier")),
          NINO_RUN(tsr_run));
