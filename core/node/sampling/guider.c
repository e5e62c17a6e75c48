// Guiders, noise, and the guidance number of Flux. Behaviour of ComfyUI's nodes_custom_sampler.py
// and nodes_flux.py.
#include <stdlib.h>

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

static const nino_port basic_in[] = { { .key = "model", .type = NINO_PORT_MODEL },
                                      { .key = "conditioning", .type = NINO_PORT_CONDITIONING },
                                      { 0 } };
static const nino_port guider_out[] = { { .key = "GUIDER", .type = NINO_PORT_GUIDER }, { 0 } };
static const nino_node_ops basic_ops = { .run = basic_run };
const nino_node_def nino_node_basic_guider = {
    .key = "BasicGuider",
    .title = "BasicGuider",
    .category = "sampling/custom_sampling/guiders",
    .help = "Follows one prompt, without a negative one",
    .inputs = basic_in,
    .outputs = guider_out,
    .ops = &basic_ops,
};

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

static const nino_param cfg_table[] = {
    NINO_P_FLOAT(cfg_params, cfg, 8.0, 0.0, 100.0, 0.1, .label = "CFG", .ui_max.f = 20.0,
                 .help = "How far from the negative prompt the picture is pushed; 1 leaves the "
                         "negative prompt out"),
    { 0 }
};
static const nino_port cfg_in[] = { { .key = "model", .type = NINO_PORT_MODEL },
                                    { .key = "positive", .type = NINO_PORT_CONDITIONING },
                                    { .key = "negative", .type = NINO_PORT_CONDITIONING },
                                    { 0 } };
static const nino_node_ops cfg_ops = { .run = cfg_run };
const nino_node_def nino_node_cfg_guider = {
    .key = "CFGGuider",
    .title = "CFGGuider",
    .category = "sampling/custom_sampling/guiders",
    .help = "Classifier-free guidance between two prompts",
    .inputs = cfg_in,
    .outputs = guider_out,
    .params = cfg_table,
    .params_size = sizeof(cfg_params),
    .ops = &cfg_ops,
};

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

static const char *const styles[] = { "regular", "nested", NULL };
static const nino_param dual_table[] = {
    NINO_P_FLOAT(dual_params, cfg_conds, 8.0, 0.0, 100.0, 0.1, .label = "CFG of the prompts",
                 .ui_max.f = 20.0, .help = "How far from the second prompt towards the first"),
    NINO_P_FLOAT(dual_params, cfg_cond2_negative, 8.0, 0.0, 100.0, 0.1,
                 .label = "CFG of the negative", .ui_max.f = 20.0,
                 .help = "How far from the negative prompt"),
    NINO_P_ENUM(dual_params, style, styles, 0, .label = "Style",
                .help = "regular adds both differences; nested guides the prompts first, then away "
                        "from the negative"),
    { 0 }
};
static const nino_port dual_in[] = { { .key = "model", .type = NINO_PORT_MODEL },
                                     { .key = "cond1", .type = NINO_PORT_CONDITIONING },
                                     { .key = "cond2", .type = NINO_PORT_CONDITIONING },
                                     { .key = "negative", .type = NINO_PORT_CONDITIONING },
                                     { 0 } };
static const nino_node_ops dual_ops = { .run = dual_run };
const nino_node_def nino_node_dual_cfg_guider = {
    .key = "DualCFGGuider",
    .title = "DualCFGGuider",
    .category = "sampling/custom_sampling/guiders",
    .help = "Guidance between three prompts",
    .inputs = dual_in,
    .outputs = guider_out,
    .params = dual_table,
    .params_size = sizeof(dual_params),
    .ops = &dual_ops,
};

// ---- noise -----------------------------------------------------------------------------------

typedef struct noise_params {
    uint64_t noise_seed;
} noise_params;

static nino_status noise_run(nino_run *r, nino_error *err)
{
    const nino_noise n = { .seed = ((const noise_params *) r->params)->noise_seed };
    return nino_out_noise(r, 0, n, err);
}

static nino_status no_noise_run(nino_run *r, nino_error *err)
{
    return nino_out_noise(r, 0, (nino_noise){ .is_disabled = true }, err);
}

static const nino_port noise_out[] = { { .key = "NOISE", .type = NINO_PORT_NOISE }, { 0 } };
static const nino_param noise_table[] = { NINO_P_SEED(noise_params, noise_seed, .label = "Seed",
                                                      .help = "Start of the random numbers"),
                                          { 0 } };
static const nino_node_ops noise_ops = { .run = noise_run };
static const nino_node_ops no_noise_ops = { .run = no_noise_run };
const nino_node_def nino_node_random_noise = {
    .key = "RandomNoise",
    .title = "RandomNoise",
    .category = "sampling/custom_sampling/noise",
    .help = "The same normal noise that torch makes on the CPU",
    .outputs = noise_out,
    .params = noise_table,
    .params_size = sizeof(noise_params),
    .ops = &noise_ops,
};
const nino_node_def nino_node_disable_noise = {
    .key = "DisableNoise",
    .title = "DisableNoise",
    .category = "sampling/custom_sampling/noise",
    .help = "No noise: the latent already has it",
    .outputs = noise_out,
    .ops = &no_noise_ops,
};

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

static const nino_port cond_in[] = { { .key = "conditioning", .type = NINO_PORT_CONDITIONING },
                                     { 0 } };
static const nino_port cond_out[] = { { .key = "CONDITIONING", .type = NINO_PORT_CONDITIONING },
                                      { 0 } };
static const nino_param guidance_table[] = {
    NINO_P_FLOAT(guidance_params, guidance, 3.5, 0.0, 100.0, 0.1, .label = "Guidance",
                 .ui_max.f = 10.0, .help = "What Flux dev is told to be guided by"),
    { 0 }
};
static const nino_node_ops guidance_ops = { .run = guidance_run };
static const nino_node_ops no_guidance_ops = { .run = no_guidance_run };
const nino_node_def nino_node_flux_guidance = {
    .key = "FluxGuidance",
    .title = "FluxGuidance",
    .category = "advanced/conditioning/flux",
    .help = "Sets the distilled guidance of Flux dev; other models ignore it",
    .inputs = cond_in,
    .outputs = cond_out,
    .params = guidance_table,
    .params_size = sizeof(guidance_params),
    .ops = &guidance_ops,
};
const nino_node_def nino_node_flux_no_guidance = {
    .key = "FluxDisableGuidance",
    .title = "FluxDisableGuidance",
    .category = "advanced/conditioning/flux",
    .help = "Leaves distilled guidance out altogether",
    .inputs = cond_in,
    .outputs = cond_out,
    .ops = &no_guidance_ops,
};
