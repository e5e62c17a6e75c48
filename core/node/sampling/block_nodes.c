// QwenImageDiffsynthControlnet, ZImageFunControlnet. Behaviour: ComfyUI
// comfy_extras/nodes_model_patch.py.
#include "core/base/error.h"
#include "core/node/sampling_node.h"
#include "core/node/util.h"

typedef struct block_params {
    double strength;
} block_params;

static nino_status block_fits(const nino_model *m, const nino_block_use *u, nino_error *err)
{
    const nino_block_net *n = u->net;
    const bool is_z = n->zimage != NULL;
    if (m->net->kind != (is_z ? NINO_DIFFUSION_ZIMAGE : NINO_DIFFUSION_QWEN))
        return nino_fail_kind(err, NINO_ERR_ARG, "model", n->name,
                              "it is for %s, not for this model (%s)",
                              is_z ? "Z-Image" : "Qwen-Image", m->net->family);
    if (u->vae->channels != n->format->channels)
        return nino_fail_kind(err, NINO_ERR_ARG, "model", n->name,
                              "it works on latents of %d channels, the VAE %s gives %d",
                              n->format->channels, u->vae->name, u->vae->channels);
    if (!u->image && !n->has_inpaint)
        return nino_fail_kind(err, NINO_ERR_ARG, "missing_input", "image", "%s needs a picture",
                              n->name);
    if (!u->image && !u->paint)
        return nino_fail_kind(err, NINO_ERR_ARG, "missing_input", "image",
                              "%s needs a picture, here or at inpaint_image", n->name);
    return NINO_OK;
}

static nino_status block_run(nino_run *r, nino_block_use how, nino_error *err)
{
    const nino_model *m = nino_need_model(r, 0, err);
    how.net = r->in[1]->u.patch;
    how.vae = r->in[2]->u.vae;
    how.strength = ((const block_params *) r->params)->strength;
    if (!m)
        return NINO_ERR_UNSUPPORTED;
    nino_status st = block_fits(m, &how, err);
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

static nino_status qwen_control_run(nino_run *r, nino_error *err)
{
    const nino_block_use how = { .image = r->in[3]->u.image, .mask = nino_in_mask(r, 4) };
    return block_run(r, how, err);
}

static nino_status zimage_control_run(nino_run *r, nino_error *err)
{
    const nino_block_use how = { .image = r->in[3] ? r->in[3]->u.image : NULL,
                                 .paint = r->in[4] ? r->in[4]->u.image : NULL,
                                 .mask = nino_in_mask(r, 5) };
    return block_run(r, how, err);
}

#define BLOCK_STRENGTH                                                                             \
    NINO_PARAMS(block_params,                                                                      \
                NINO_P_FLOAT(block_params, strength, 1, -10, 10, 0.01, .label = "Strength",        \
                             .ui_min.f = 0, .ui_max.f = 2,                                         \
                             .help = "Factor of what the patch adds; 0: the node does nothing"))

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
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)), BLOCK_STRENGTH, NINO_RUN(qwen_control_run));

NINO_NODE(zimage_control, "ZImageFunControlnet", "Apply Z-Image Fun ControlNet",
          "advanced/loaders/zimage",
          "A picture steers all of the sampling; of another one, what the mask leaves stays",
          NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(model_patch, MODEL_PATCH),
                      NINO_PORT(vae, VAE),
                      NINO_PORT(image, IMAGE, .optional = true,
                                .help = "What to follow: edges, depth, a pose; the first one of a "
                                        "batch counts, cut to the latent's aspect ratio"),
                      NINO_PORT(inpaint_image, IMAGE, .optional = true,
                                .help = "What to paint in, for patches that take one; others go "
                                        "on without"),
                      NINO_PORT(mask, MASK, .optional = true,
                                .help = "1: what is to be painted; for patches that take one")),
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)), BLOCK_STRENGTH, NINO_RUN(zimage_control_run));
