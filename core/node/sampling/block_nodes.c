// QwenImageDiffsynthControlnet. Behaviour: ComfyUI comfy_extras/nodes_model_patch.py.
#include "core/base/error.h"
#include "core/node/sampling_node.h"
#include "core/node/util.h"

typedef struct qwen_control_params {
    double strength;
} qwen_control_params;

static nino_status qwen_control_fits(const nino_model *m, const nino_block_net *n,
                                     const nino_vae *vae, nino_error *err)
{
    if (m->net->kind != NINO_DIFFUSION_QWEN)
        return nino_fail_kind(err, NINO_ERR_ARG, "model", n->name,
                              "it is for Qwen-Image, not for this model (%s)", m->net->family);
    if (vae->channels != n->format->channels)
        return nino_fail_kind(err, NINO_ERR_ARG, "model", n->name,
                              "it works on latents of %d channels, the VAE %s gives %d",
                              n->format->channels, vae->name, vae->channels);
    return NINO_OK;
}

static nino_status qwen_control_run(nino_run *r, nino_error *err)
{
    const nino_model *m = nino_need_model(r, 0, err);
    const nino_block_use how = { .net = r->in[1]->u.patch,
                                 .vae = r->in[2]->u.vae,
                                 .image = r->in[3]->u.image,
                                 .mask = nino_in_mask(r, 4),
                                 .strength = ((const qwen_control_params *) r->params)->strength };
    if (!m)
        return NINO_ERR_UNSUPPORTED;
    nino_status st = qwen_control_fits(m, how.net, how.vae, err);
    if (st)
        return st;
    if (how.strength == 0)
        return nino_out_model(r, 0, nino_model_ref(nino_in_model(r, 0)), err);
    nino_block_use *u = nino_block_use_create(&how);
    if (!u)
        return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    const nino_patch p = { .kind = NINO_PATCH_BLOCK_CONTROL, .control = u };
    st = nino_out_patched(r, &p, err);
    nino_block_use_unref(&u);
    return st;
}

NINO_NODE(qwen_control, "QwenImageDiffsynthControlnet", "QwenImageDiffsynthControlnet",
          "advanced/loaders/qwen",
          "A picture steers all of the sampling, in every block of a model",
          NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(model_patch, MODEL_PATCH),
                      NINO_PORT(vae, VAE),
                      NINO_PORT(image, IMAGE,
                                .help = "The first one of a batch counts; it is cut to the "
                                        "latent's aspect ratio"),
                      NINO_PORT(mask, MASK, .optional = true,
                                .help = "1: what is to be painted; for patches that take a mask, "
                                        "others go on without")),
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          NINO_PARAMS(qwen_control_params,
                      NINO_P_FLOAT(qwen_control_params, strength, 1, -10, 10, 0.01,
                                   .label = "Strength", .ui_min.f = 0, .ui_max.f = 2,
                                   .help = "Factor of what the patch adds; 0: the node does "
                                           "nothing")),
          NINO_RUN(qwen_control_run));
