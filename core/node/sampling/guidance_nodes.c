// Nodes that change what guidance is given, or which evaluations are made for it. Behaviour: ComfyUI
// 0.33.0 comfy_extras/nodes_tcfg.py, nodes_apg.py, nodes_fresca.py, nodes_video_model.py,
// nodes_lumina2.py, nodes_easycache.py, nodes_perpneg.py and nodes_latent.py.
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/sampling_node.h"
#include "core/node/util.h"

#define MODEL_IN NINO_INPUTS(NINO_PORT(model, MODEL))
#define MODEL_OUT NINO_OUTPUTS(NINO_PORT(MODEL, MODEL))

#define START_PARAM(S, at)                                                                         \
    NINO_P_FLOAT(S, start_percent, at, 0, 1, 0.001, .label = "From",                               \
                 .help = "Part of the sampling after which it begins")
#define END_PARAM(S, at)                                                                           \
    NINO_P_FLOAT(S, end_percent, at, 0, 1, 0.001, .label = "To",                                   \
                 .help = "Part of the sampling at which it ends")

// ---- before guidance -------------------------------------------------------------------------

static nino_status tcfg_run(nino_run *r, nino_error *err)
{
    return nino_out_patched(r, &(nino_patch){ .kind = NINO_PATCH_TCFG }, err);
}

NINO_NODE(tcfg, "TCFG", "Tangential Damping CFG", "advanced/guidance",
          "Takes from the negative side what leads away from both prompts", MODEL_IN,
          NINO_OUTPUTS(NINO_PORT(patched_model, MODEL)), NINO_RUN(tcfg_run));

typedef struct apg_params {
    double eta, norm_threshold, momentum;
} apg_params;

static nino_status apg_run(nino_run *r, nino_error *err)
{
    const apg_params *p = r->params;
    const nino_patch patch = { .kind = NINO_PATCH_APG,
                               .v = { p->eta, p->norm_threshold, p->momentum } };
    return nino_out_patched(r, &patch, err);
}

NINO_NODE(apg, "APG", "Adaptive Projected Guidance", "sampling/custom_sampling",
          "High guidance without colours that burn out", MODEL_IN, MODEL_OUT,
          NINO_PARAMS(apg_params,
                      NINO_P_FLOAT(apg_params, eta, 1, -10, 10, 0.01, .label = "Parallel share",
                                   .help = "Of the guidance along the positive side's answer; 1 "
                                           "keeps all of it"),
                      NINO_P_FLOAT(apg_params, norm_threshold, 5, 0, 50, 0.1, .label = "Longest",
                                   .help = "Guidance is cut to this length; 0: it is not"),
                      NINO_P_FLOAT(apg_params, momentum, 0, -5, 1, 0.01, .label = "Momentum",
                                   .help = "Share of earlier steps' guidance; 0: none")),
          NINO_RUN(apg_run));

typedef struct fresca_params {
    double scale_low, scale_high;
    int64_t freq_cutoff;
} fresca_params;

static nino_status fresca_run(nino_run *r, nino_error *err)
{
    const fresca_params *p = r->params;
    const nino_patch patch = { .kind = NINO_PATCH_FRESCA,
                               .v = { p->scale_low, p->scale_high, (double) p->freq_cutoff } };
    return nino_out_patched(r, &patch, err);
}

NINO_NODE(fresca, "FreSca", "FreSca", "_for_testing",
          "Guidance that is stronger on details than on what is large", MODEL_IN, MODEL_OUT,
          NINO_PARAMS(fresca_params,
                      NINO_P_FLOAT(fresca_params, scale_low, 1, 0, 10, 0.01, .label = "Low",
                                   .help = "Factor of low frequencies"),
                      NINO_P_FLOAT(fresca_params, scale_high, 1.25, 0, 10, 0.01, .label = "High",
                                   .help = "Factor of high frequencies"),
                      NINO_P_INT(fresca_params, freq_cutoff, 20, 1, 10000, 1, .label = "Cutoff",
                                 .help = "Up to this one frequencies are low")),
          NINO_RUN(fresca_run));

typedef struct perp_neg_params {
    double neg_scale;
} perp_neg_params;

static nino_status perp_neg_run(nino_run *r, nino_error *err)
{
    const perp_neg_params *p = r->params;
    const nino_patch patch = { .kind = NINO_PATCH_PERP_NEG,
                               .v = { p->neg_scale },
                               .empty = nino_in_cond(r, 1) };
    return nino_out_patched(r, &patch, err);
}

NINO_NODE(perp_neg, "PerpNeg", "Perp-Neg", "_for_testing",
          "Guidance away from a negative prompt without what it shares with the positive one; "
          "PerpNegGuider is its successor",
          NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(empty_conditioning, CONDITIONING)),
          MODEL_OUT,
          NINO_PARAMS(perp_neg_params,
                      NINO_P_FLOAT(perp_neg_params, neg_scale, 1, 0, 100, 0.01, .label = "Negative",
                                   .ui_max.f = 5, .help = "How much the negative prompt counts")),
          NINO_RUN(perp_neg_run));

// ---- operations on latents -------------------------------------------------------------------

static nino_status out_operation(nino_run *r, const nino_patch *p, nino_error *err)
{
    nino_value *v = nino_node_out(r, 0, NINO_PORT_LATENT_OPERATION, err);
    if (!v)
        return NINO_ERR_NOMEM;
    v->u.operation = *p;
    return NINO_OK;
}

typedef struct tonemap_params {
    double multiplier;
} tonemap_params;

static nino_status tonemap_run(nino_run *r, nino_error *err)
{
    const double by = ((const tonemap_params *) r->params)->multiplier;
    return out_operation(r, &(nino_patch){ .kind = NINO_PATCH_TONEMAP, .v = { by } }, err);
}

NINO_NODE(op_tonemap, "LatentOperationTonemapReinhard", "LatentOperationTonemapReinhard",
          "latent/advanced/operations", "Cells that are much stronger than others become less so",
          NINO_OUTPUTS(NINO_PORT(LATENT_OPERATION, LATENT_OPERATION)),
          NINO_PARAMS(tonemap_params,
                      NINO_P_FLOAT(tonemap_params, multiplier, 1, 0, 100, 0.01,
                                   .label = "White point",
                                   .help = "In those that follow from the cells' spread")),
          NINO_RUN(tonemap_run));

typedef struct sharpen_params {
    int64_t sharpen_radius;
    double sigma, alpha;
} sharpen_params;

static nino_status sharpen_run(nino_run *r, nino_error *err)
{
    const sharpen_params *p = r->params;
    const nino_patch patch = { .kind = NINO_PATCH_SHARPEN,
                               .v = { (double) p->sharpen_radius, p->sigma, p->alpha } };
    return out_operation(r, &patch, err);
}

NINO_NODE(op_sharpen, "LatentOperationSharpen", "LatentOperationSharpen",
          "latent/advanced/operations", "Sharpens a latent without changing its cells' strength",
          NINO_OUTPUTS(NINO_PORT(LATENT_OPERATION, LATENT_OPERATION)),
          NINO_PARAMS(sharpen_params,
                      NINO_P_INT(sharpen_params, sharpen_radius, 9, 1, 31, 1, .label = "Radius",
                                 .help = "Cells around each that count"),
                      NINO_P_FLOAT(sharpen_params, sigma, 1, 0.1, 10, 0.1, .label = "Sigma",
                                   .help = "Width of the blur, in those of the radius"),
                      NINO_P_FLOAT(sharpen_params, alpha, 0.1, 0, 5, 0.01, .label = "Strength",
                                   .help = "How much sharper")),
          NINO_RUN(sharpen_run));

static nino_status apply_operation_run(nino_run *r, nino_error *err)
{
    const nino_latent *in = nino_in_latent(r, 0);
    const int axes = in->samples->shape.rank - 2;
    nino_latent out = { .noise_mask = nino_array_ref(in->noise_mask), .factor = in->factor };
    nino_array *first = nino_array_to_channels_first(in->samples);
    nino_status st = first ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    if (!st && in->batch_index) {
        const size_t bytes = (size_t) in->samples->shape.dim[0] * sizeof(*out.batch_index);
        if (!(out.batch_index = malloc(bytes)))
            st = nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
        else
            memcpy(out.batch_index, in->batch_index, bytes);
    }
    if (!st)
        st = nino_latent_operate(&r->in[1]->u.operation, nino_array_f32(first), first->shape.dim[0],
                                 first->shape.dim[1], first->shape.dim + 2, axes, err);
    if (!st)
        out.samples = nino_array_to_channels_last(first);
    nino_array_unref(&first);
    if (!st)
        return nino_out_latent(r, 0, out, err);
    nino_array_unref(&out.noise_mask);
    free(out.batch_index);
    return st;
}

NINO_NODE(apply_operation, "LatentApplyOperation", "LatentApplyOperation",
          "latent/advanced/operations", "Does an operation on a latent",
          NINO_INPUTS(NINO_PORT(samples, LATENT), NINO_PORT(operation, LATENT_OPERATION)),
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)), NINO_RUN(apply_operation_run));

static nino_status apply_operation_cfg_run(nino_run *r, nino_error *err)
{
    return nino_out_patched(r, &r->in[1]->u.operation, err);
}

NINO_NODE(apply_operation_cfg, "LatentApplyOperationCFG", "LatentApplyOperationCFG",
          "latent/advanced/operations", "Does an operation on the guidance of every step",
          NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(operation, LATENT_OPERATION)), MODEL_OUT,
          NINO_RUN(apply_operation_cfg_run));

// ---- how the two sides make one --------------------------------------------------------------

typedef struct min_params {
    double min_cfg;
} min_params;

static nino_status linear_run(nino_run *r, nino_error *err)
{
    const double v = ((const min_params *) r->params)->min_cfg;
    return nino_out_patched(r, &(nino_patch){ .kind = NINO_PATCH_LINEAR_CFG, .v = { v } }, err);
}

static nino_status triangle_run(nino_run *r, nino_error *err)
{
    const double v = ((const min_params *) r->params)->min_cfg;
    return nino_out_patched(r, &(nino_patch){ .kind = NINO_PATCH_TRIANGLE_CFG, .v = { v } }, err);
}

#define MIN_CFG                                                                                    \
    NINO_PARAMS(min_params, NINO_P_FLOAT(min_params, min_cfg, 1, 0, 100, 0.5, .label = "Lowest",   \
                                         .help = "Guidance of the frames with the least"))

NINO_NODE(linear_cfg, "VideoLinearCFGGuidance", "Video Linear CFG Guidance",
          "sampling/video_models", "Guidance that grows from the first picture of a batch on",
          MODEL_IN, MODEL_OUT, MIN_CFG, NINO_RUN(linear_run));
NINO_NODE(triangle_cfg, "VideoTriangleCFGGuidance", "Video Triangle CFG Guidance",
          "sampling/video_models", "Guidance that grows to the middle of a batch and falls again",
          MODEL_IN, MODEL_OUT, MIN_CFG, NINO_RUN(triangle_run));

typedef struct renorm_params {
    double cfg_trunc, renorm_cfg;
} renorm_params;

static nino_status renorm_run(nino_run *r, nino_error *err)
{
    const renorm_params *p = r->params;
    const nino_patch patch = { .kind = NINO_PATCH_RENORM, .v = { p->cfg_trunc, p->renorm_cfg } };
    return nino_out_patched(r, &patch, err);
}

NINO_NODE(renorm_cfg, "RenormCFG", "RenormCFG", "advanced/model",
          "Guidance of Lumina: none early on, and never longer than without", MODEL_IN, MODEL_OUT,
          NINO_PARAMS(renorm_params,
                      NINO_P_FLOAT(renorm_params, cfg_trunc, 100, 0, 100, 0.01, .label = "Noise",
                                   .help = "Below this noise level there is guidance"),
                      NINO_P_FLOAT(renorm_params, renorm_cfg, 1, 0, 100, 0.01, .label = "Longest",
                                   .help = "Length in those of the positive side's; 0: any")),
          NINO_RUN(renorm_run));

typedef struct override_params {
    double cfg, start_percent, end_percent;
} override_params;

static nino_status override_run(nino_run *r, nino_error *err)
{
    const override_params *p = r->params;
    const nino_patch patch = { .kind = NINO_PATCH_CFG,
                               .v = { p->cfg },
                               .has_range = true,
                               .start = p->start_percent,
                               .end = p->end_percent };
    return nino_out_patched(r, &patch, err);
}

NINO_NODE(cfg_override, "CFGOverride", "CFG Override", "model/sampling/guiders",
          "Another guidance for a part of the sampling", MODEL_IN, MODEL_OUT,
          NINO_PARAMS(override_params,
                      NINO_P_FLOAT(override_params, cfg, 1, 0, 100, 0.1, .label = "CFG",
                                   .help = "The guidance there; 1 leaves the negative prompt out"),
                      START_PARAM(override_params, 0), END_PARAM(override_params, 1)),
          NINO_RUN(override_run));

// ---- fewer evaluations -----------------------------------------------------------------------

typedef struct reuse_params {
    double reuse_threshold, start_percent, end_percent;
    bool verbose;
} reuse_params;

static nino_status reuse_run(nino_run *r, nino_patch_kind kind, nino_error *err)
{
    const reuse_params *p = r->params;
    const nino_patch patch = { .kind = kind,
                               .v = { p->reuse_threshold },
                               .has_range = true,
                               .start = p->start_percent,
                               .end = p->end_percent };
    return nino_out_patched(r, &patch, err);
}

static nino_status easy_run(nino_run *r, nino_error *err)
{
    return reuse_run(r, NINO_PATCH_EASY_CACHE, err);
}
static nino_status lazy_run(nino_run *r, nino_error *err)
{
    return reuse_run(r, NINO_PATCH_LAZY_CACHE, err);
}

#define REUSE_PARAMS                                                                               \
    NINO_PARAMS(                                                                                   \
        reuse_params,                                                                              \
        NINO_P_FLOAT(reuse_params, reuse_threshold, 0.2, 0, 3, 0.01, .label = "Threshold",         \
                     .help = "How much the answer may have changed; more is faster"),              \
        NINO_P_FLOAT(reuse_params, start_percent, 0.15, 0, 1, 0.01, .label = "From",               \
                     .help = "Part of the sampling after which it begins"),                        \
        NINO_P_FLOAT(reuse_params, end_percent, 0.95, 0, 1, 0.01, .label = "To",                   \
                     .help = "Part of the sampling at which it ends"),                             \
        NINO_P_BOOL(reuse_params, verbose, false, .label = "Verbose", .help = "Has no effect"))

NINO_NODE(easy_cache, "EasyCache", "EasyCache", "advanced/debug/model",
          "Leaves out evaluations of the network whose answer would hardly have changed", MODEL_IN,
          MODEL_OUT, REUSE_PARAMS, NINO_RUN(easy_run));
NINO_NODE(lazy_cache, "LazyCache", "LazyCache", "advanced/debug/model",
          "As EasyCache, by the guided answer alone", MODEL_IN, MODEL_OUT, REUSE_PARAMS,
          NINO_RUN(lazy_run));
