// Guiders, noise, and the guidance number of Flux. Behaviour of ComfyUI's nodes_custom_sampler.py
// and nodes_flux.py.
#include <stdlib.h>

#include "core/base/error.h"
#include "core/node/sampling_node.h"
#include "core/node/util.h"
#include "core/sample/guide/guide.h"

// ---- guiders ---------------------------------------------------------------------------------

// From inputs 0, model, and 1, the positive prompt; NULL: no memory.
static nino_guider *new_guider(nino_run *r, nino_guider_kind kind)
{
    nino_guider *g = calloc(1, sizeof(*g));
    if (!g)
        return NULL;
    *g = (nino_guider){ .refs = 1, .kind = kind, .cfg = 1, .cfg2 = 1 };
    g->model = nino_model_ref(nino_in_model(r, 0));
    g->positive = nino_cond_ref(nino_in_cond(r, 1));
    return g;
}

static nino_status basic_run(nino_run *r, nino_error *err)
{
    if (!nino_need_model(r, 0, err))
        return NINO_ERR_UNSUPPORTED;
    return nino_out_guider(r, 0, new_guider(r, NINO_GUIDE_BASIC), err);
}

NINO_NODE(basic_guider, "BasicGuider", "BasicGuider", "sampling/custom_sampling/guiders",
          "Follows one prompt, without a negative one",
          NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(conditioning, CONDITIONING)),
          NINO_OUTPUTS(NINO_PORT(GUIDER, GUIDER)), NINO_RUN(basic_run));

typedef struct cfg_params {
    double cfg;
} cfg_params;

static nino_status cfg_run(nino_run *r, nino_error *err)
{
    if (!nino_need_model(r, 0, err))
        return NINO_ERR_UNSUPPORTED;
    nino_guider *g = new_guider(r, NINO_GUIDE_CFG);
    if (g) {
        g->negative = nino_cond_ref(nino_in_cond(r, 2));
        g->cfg = ((const cfg_params *) r->params)->cfg;
    }
    return nino_out_guider(r, 0, g, err);
}

NINO_NODE(
    cfg_guider, "CFGGuider", "CFGGuider", "sampling/custom_sampling/guiders",
    "Classifier-free guidance between two prompts",
    NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(positive, CONDITIONING),
                NINO_PORT(negative, CONDITIONING)),
    NINO_OUTPUTS(NINO_PORT(GUIDER, GUIDER)),
    NINO_PARAMS(
        cfg_params,
        NINO_P_FLOAT(cfg_params, cfg, 8.0, 0.0, 100.0, 0.1, .label = "CFG", .ui_max.f = 20.0,
                     .help = "How far from the negative prompt the picture is pushed; 1 leaves the "
                             "negative prompt out")),
    NINO_RUN(cfg_run));

typedef struct dual_params {
    double cfg_conds, cfg_cond2_negative;
    int64_t style;
} dual_params;

static nino_status dual_run(nino_run *r, nino_error *err)
{
    const dual_params *p = r->params;
    if (!nino_need_model(r, 0, err))
        return NINO_ERR_UNSUPPORTED;
    nino_guider *g = new_guider(r, NINO_GUIDE_DUAL_CFG);
    if (g) {
        g->middle = nino_cond_ref(nino_in_cond(r, 2));
        g->negative = nino_cond_ref(nino_in_cond(r, 3));
        g->cfg = p->cfg_conds;
        g->cfg2 = p->cfg_cond2_negative;
        g->is_nested = p->style == 1;
    }
    return nino_out_guider(r, 0, g, err);
}

NINO_NODE(
    dual_cfg_guider, "DualCFGGuider", "DualCFGGuider", "sampling/custom_sampling/guiders",
    "Guidance between three prompts",
    NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(cond1, CONDITIONING),
                NINO_PORT(cond2, CONDITIONING), NINO_PORT(negative, CONDITIONING)),
    NINO_OUTPUTS(NINO_PORT(GUIDER, GUIDER)),
    NINO_PARAMS(
        dual_params,
        NINO_P_FLOAT(dual_params, cfg_conds, 8.0, 0.0, 100.0, 0.1, .label = "CFG of the prompts",
                     .ui_max.f = 20.0, .help = "How far from the second prompt towards the first"),
        NINO_P_FLOAT(dual_params, cfg_cond2_negative, 8.0, 0.0, 100.0, 0.1,
                     .label = "CFG of the negative", .ui_max.f = 20.0,
                     .help = "How far from the negative prompt"),
        NINO_P_ENUM(dual_params, style, NINO_WORDS("regular", "nested"), 0, .label = "Style",
                    .help =
                        "regular adds both differences; nested guides the prompts first, then away "
                        "from the negative")),
    NINO_RUN(dual_run));

typedef struct dual_model_params {
    double cfg;
} dual_model_params;

static nino_status dual_model_run(nino_run *r, nino_error *err)
{
    const double cfg = ((const dual_model_params *) r->params)->cfg;
    nino_model *other = nino_in_model(r, 2) ? nino_need_model(r, 2, err) : nino_in_model(r, 0);
    if (!nino_need_model(r, 0, err) || !other)
        return NINO_ERR_UNSUPPORTED;
    if (!nino_in_cond(r, 3) && cfg != 1)
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "missing_input", "negative",
                              "no model of this version can do without a conditioning");
    nino_guider *g = new_guider(r, nino_in_cond(r, 3) ? NINO_GUIDE_DUAL_MODEL : NINO_GUIDE_BASIC);
    if (g) {
        g->model2 = nino_model_ref(other);
        g->negative = nino_cond_ref(nino_in_cond(r, 3));
        g->cfg = cfg;
    }
    return nino_out_guider(r, 0, g, err);
}

NINO_NODE(dual_model_guider, "DualModelGuider", "Dual Model CFG Guider", "model/sampling/guiders",
          "Guidance between two models: one follows the prompt, the other the negative one",
          NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(positive, CONDITIONING),
                      NINO_PORT(model_negative, MODEL, .optional = true,
                                .help = "Of the negative side; without it the same"),
                      NINO_PORT(negative, CONDITIONING, .optional = true,
                                .help = "May be left out with a CFG of 1 only")),
          NINO_OUTPUTS(NINO_PORT(GUIDER, GUIDER)),
          NINO_PARAMS(dual_model_params,
                      NINO_P_FLOAT(dual_model_params, cfg, 4.0, 0.0, 100.0, 0.1, .label = "CFG",
                                   .ui_max.f = 20.0,
                                   .help = "How far from the negative side; 1 leaves it out")),
          NINO_RUN(dual_model_run));

typedef struct perp_params {
    double cfg, neg_scale;
} perp_params;

static nino_status perp_run(nino_run *r, nino_error *err)
{
    const perp_params *p = r->params;
    if (!nino_need_model(r, 0, err))
        return NINO_ERR_UNSUPPORTED;
    nino_guider *g = new_guider(r, NINO_GUIDE_PERP_NEG);
    if (g) {
        g->negative = nino_cond_ref(nino_in_cond(r, 2));
        g->middle = nino_cond_ref(nino_in_cond(r, 3));
        g->cfg = p->cfg;
        g->cfg2 = p->neg_scale;
    }
    return nino_out_guider(r, 0, g, err);
}

NINO_NODE(perp_neg_guider, "PerpNegGuider", "Perp-Neg Guider", "_for_testing",
          "Guidance away from a negative prompt without what it shares with the positive one",
          NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(positive, CONDITIONING),
                      NINO_PORT(negative, CONDITIONING),
                      NINO_PORT(empty_conditioning, CONDITIONING)),
          NINO_OUTPUTS(NINO_PORT(GUIDER, GUIDER)),
          NINO_PARAMS(perp_params,
                      NINO_P_FLOAT(perp_params, cfg, 8.0, 0.0, 100.0, 0.1, .label = "CFG",
                                   .ui_max.f = 20.0, .help = "How far from the empty prompt"),
                      NINO_P_FLOAT(perp_params, neg_scale, 1.0, 0.0, 100.0, 0.01,
                                   .label = "Negative", .ui_max.f = 5.0,
                                   .help = "How much the negative prompt counts")),
          NINO_RUN(perp_run));

// ---- noise -----------------------------------------------------------------------------------

typedef struct noise_params {
    uint64_t noise_seed;
} noise_params;

static nino_status guider_noise_run(nino_run *r, nino_error *err)
{
    const nino_noise n = { .seed = ((const noise_params *) r->params)->noise_seed };
    return nino_out_noise(r, 0, n, err);
}

static nino_status no_noise_run(nino_run *r, nino_error *err)
{
    return nino_out_noise(r, 0, (nino_noise){ .is_disabled = true }, err);
}

NINO_NODE(random_noise, "RandomNoise", "RandomNoise", "sampling/custom_sampling/noise",
          "The same normal noise that torch makes on the CPU",
          NINO_OUTPUTS(NINO_PORT(NOISE, NOISE)),
          NINO_PARAMS(noise_params, NINO_P_SEED(noise_params, noise_seed, .label = "Seed",
                                                .help = "Start of the random numbers")),
          NINO_RUN(guider_noise_run));
NINO_NODE(disable_noise, "DisableNoise", "DisableNoise", "sampling/custom_sampling/noise",
          "No noise: the latent already has it", NINO_OUTPUTS(NINO_PORT(NOISE, NOISE)),
          NINO_RUN(no_noise_run));

// ---- distilled guidance ----------------------------------------------------------------------

typedef struct guidance_params {
    double guidance;
} guidance_params;

// A copy of the input whose entries are guided like this.
static nino_status set_guidance(nino_run *r, bool is_off, double guidance, nino_error *err)
{
    nino_cond *c = nino_cond_copy(nino_in_cond(r, 0));
    for (int i = 0; c && i < c->n; i++) {
        c->entry[i].no_guidance = is_off;
        c->entry[i].has_guidance = !is_off;
        c->entry[i].guidance = guidance;
    }
    return nino_out_cond(r, 0, c, err);
}

static nino_status guidance_run(nino_run *r, nino_error *err)
{
    return set_guidance(r, false, ((const guidance_params *) r->params)->guidance, err);
}
static nino_status no_guidance_run(nino_run *r, nino_error *err)
{
    return set_guidance(r, true, 0, err);
}

NINO_NODE(flux_guidance, "FluxGuidance", "FluxGuidance", "advanced/conditioning/flux",
          "Sets the distilled guidance of Flux dev; other models ignore it",
          NINO_INPUTS(NINO_PORT(conditioning, CONDITIONING)),
          NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)),
          NINO_PARAMS(guidance_params,
                      NINO_P_FLOAT(guidance_params, guidance, 3.5, 0.0, 100.0, 0.1,
                                   .label = "Guidance", .ui_max.f = 10.0,
                                   .help = "What Flux dev is told to be guided by")),
          NINO_RUN(guidance_run));
NINO_NODE(flux_no_guidance, "FluxDisableGuidance", "FluxDisableGuidance",
          "advanced/conditioning/flux", "Leaves distilled guidance out altogether",
          NINO_INPUTS(NINO_PORT(conditioning, CONDITIONING)),
          NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)), NINO_RUN(no_guidance_run));
