// Nodes that give a MODEL another way of guidance. They share its network. Behaviour: ComfyUI
// comfy_extras/nodes_model_advanced.py (RescaleCFG) and nodes_cfg.py.
#include "core/base/error.h"
#include "core/node/util.h"

// ---- how the two sides make one --------------------------------------------------------------

static nino_status cfg_kind_run(nino_run *r, nino_cfg_kind kind, double share, nino_error *err)
{
    nino_model *m = nino_model_copy(nino_in_model(r, 0));
    if (m) {
        m->cfg_kind = kind;
        m->cfg_share = share;
    }
    return nino_out_model(r, 0, m, err);
}

typedef struct rescale_params {
    double multiplier;
} rescale_params;

static nino_status rescale_run(nino_run *r, nino_error *err)
{
    const double share = ((const rescale_params *) r->params)->multiplier;
    return cfg_kind_run(r, NINO_CFG_RESCALE, share, err);
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

// Behind what earlier nodes do.
static nino_status cfg_post_run(nino_run *r, nino_post post, nino_error *err)
{
    nino_model *m = nino_model_copy(nino_in_model(r, 0));
    if (m && m->n_posts == NINO_MODEL_POSTS) {
        nino_model_unref(&m);
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "value", r->def->key,
                              "more than %d nodes that change the guidance of one model",
                              NINO_MODEL_POSTS);
    }
    if (m)
        m->post[m->n_posts++] = post;
    return nino_out_model(r, 0, m, err);
}

typedef struct cfg_norm_params {
    double strength;
    bool pre_cfg;
} cfg_norm_params;

static nino_status cfg_norm_run(nino_run *r, nino_error *err)
{
    const cfg_norm_params *p = r->params;
    return p->pre_cfg ? cfg_kind_run(r, NINO_CFG_NORM, p->strength, err)
                      : cfg_post_run(r, (nino_post){ NINO_POST_NORM, p->strength }, err);
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
    return cfg_post_run(r, (nino_post){ .kind = NINO_POST_ZERO_STAR }, err);
}

NINO_NODE(cfg_zero_star, "CFGZeroStar", "CFGZeroStar", "advanced/guidance",
          "Guidance away from what the negative prompt shares with the positive one",
          NINO_INPUTS(NINO_PORT(model, MODEL)), NINO_OUTPUTS(NINO_PORT(patched_model, MODEL)),
          NINO_RUN(zero_star_run));
