// unCLIP models: their loader, and pictures as their conditioning. Behaviour: ComfyUI nodes.py.
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/node/util.h"

#define PREFIX "embedder.model." // of the vision network's tensors

typedef struct loader_params {
    const char *ckpt_name;
} loader_params;

// Adds the vision network to what Load Checkpoint gives; empty if the file has none.
static nino_status set_vision(nino_run *r, const char *name, nino_error *err)
{
    nino_weights *file = NULL;
    nino_clip_vision *v = NULL;
    nino_status st = nino_services_of(r->ctx)->open_model(r->ctx, "checkpoints", name, &file, err);
    if (st)
        return st;
    const nino_hash id = nino_weights_identity(file), key = nino_hash_bytes(&id, sizeof(id));
    if (nino_weights_bytes(file, PREFIX) &&
        !(r->out[3] = nino_services_of(r->ctx)->find_object(r->ctx, NINO_PORT_CLIP_VISION, key)) &&
        !(st = nino_clip_vision_load(file, PREFIX, name, &v, err)) &&
        !(st = nino_out_clip_vision(r, 3, v, err)))
        nino_services_of(r->ctx)->keep_object(r->ctx, key, r->out[3]);
    nino_weights_unref(&file);
    return st;
}

static nino_status loader_run(nino_run *r, nino_error *err)
{
    const char *name = ((const loader_params *) r->params)->ckpt_name;
    const nino_status st = nino_node_load_checkpoint(r, name, err);
    return st ? st : set_vision(r, name, err);
}

static nino_status loader_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                   nino_error *err)
{
    return nino_services_of(ctx)->identity(ctx, "checkpoints",
                                           ((const loader_params *) params)->ckpt_name, h, err);
}

NINO_NODE(unclip_loader, "unCLIPCheckpointLoader", "unCLIPCheckpointLoader", "loaders",
          "Opens a checkpoint that also holds the vision network of an unCLIP model",
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL), NINO_PORT(CLIP, CLIP), NINO_PORT(VAE, VAE),
                       NINO_PORT(CLIP_VISION, CLIP_VISION)),
          NINO_PARAMS(loader_params,
                      NINO_P_FILE(loader_params, ckpt_name, "checkpoints", .label = "Checkpoint",
                                  .help = "A file of models/checkpoints")),
          NINO_RUN(loader_run, .identity = loader_identity));

// ---- unCLIPConditioning ----------------------------------------------------------------------

typedef struct cond_params {
    double strength, noise_augmentation;
} cond_params;

static nino_status cond_run(nino_run *r, nino_error *err)
{
    const cond_params *p = r->params;
    const nino_cond_picture picture = { nino_in_vision(r, 1)->embeds, p->strength,
                                        p->noise_augmentation };
    if (p->strength == 0)
        return nino_out_cond(r, 0, nino_cond_ref(nino_in_cond(r, 0)), err);
    nino_cond *c = nino_cond_copy(nino_in_cond(r, 0));
    for (int i = 0; c && i < c->n; i++)
        if (!nino_cond_add_picture(&c->entry[i], &picture))
            nino_cond_unref(&c);
    return nino_out_cond(r, 0, c, err);
}

NINO_NODE(unclip_cond, "unCLIPConditioning", "unCLIPConditioning", "conditioning",
          "Has an unCLIP model make pictures like this one; several are mixed",
          NINO_INPUTS(NINO_PORT(conditioning, CONDITIONING),
                      NINO_PORT(clip_vision_output, CLIP_VISION_OUTPUT)),
          NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)),
          NINO_PARAMS(cond_params,
                      NINO_P_FLOAT(cond_params, strength, 1, -10, 10, 0.01, .label = "Strength",
                                   .help = "Weight of the picture; 0 leaves it out"),
                      NINO_P_FLOAT(cond_params, noise_augmentation, 0, 0, 1, 0.01, .label = "Noise",
                                   .help = "How far from the picture: 0 is close, 1 is anything")),
          NINO_RUN(cond_run));
