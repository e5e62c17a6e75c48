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

static const nino_param loader_table[] = { NINO_P_FILE(loader_params, ckpt_name, "checkpoints",
                                                       .label = "Checkpoint",
                                                       .help = "A file of models/checkpoints"),
                                           { 0 } };
static const nino_port loader_out[] = { { .key = "MODEL", .type = NINO_PORT_MODEL },
                                        { .key = "CLIP", .type = NINO_PORT_CLIP },
                                        { .key = "VAE", .type = NINO_PORT_VAE },
                                        { .key = "CLIP_VISION", .type = NINO_PORT_CLIP_VISION },
                                        { 0 } };
static const nino_node_ops loader_ops = { .run = loader_run, .identity = loader_identity };
const nino_node_def nino_node_unclip_loader = {
    .key = "unCLIPCheckpointLoader",
    .title = "unCLIPCheckpointLoader",
    .category = "loaders",
    .help = "Opens a checkpoint that also holds the vision network of an unCLIP model",
    .outputs = loader_out,
    .params = loader_table,
    .params_size = sizeof(loader_params),
    .ops = &loader_ops,
};

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

static const nino_port cond_in[] = {
    { .key = "conditioning", .type = NINO_PORT_CONDITIONING },
    { .key = "clip_vision_output", .type = NINO_PORT_CLIP_VISION_OUTPUT },
    { 0 },
};
static const nino_port cond_out[] = { { .key = "CONDITIONING", .type = NINO_PORT_CONDITIONING },
                                      { 0 } };
static const nino_param cond_table[] = {
    NINO_P_FLOAT(cond_params, strength, 1, -10, 10, 0.01, .label = "Strength",
                 .help = "Weight of the picture; 0 leaves it out"),
    NINO_P_FLOAT(cond_params, noise_augmentation, 0, 0, 1, 0.01, .label = "Noise",
                 .help = "How far from the picture: 0 is close, 1 is anything"),
    { 0 }
};
static const nino_node_ops cond_ops = { .run = cond_run };
const nino_node_def nino_node_unclip_cond = {
    .key = "unCLIPConditioning",
    .title = "unCLIPConditioning",
    .category = "conditioning",
    .help = "Has an unCLIP model make pictures like this one; several are mixed",
    .inputs = cond_in,
    .outputs = cond_out,
    .params = cond_table,
    .params_size = sizeof(cond_params),
    .ops = &cond_ops,
};
