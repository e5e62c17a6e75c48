// ModelPatchLoader. Behaviour: ComfyUI comfy_extras/nodes_model_patch.py.
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/model/diffusion/model_patch.h"
#include "core/node/util.h"

typedef struct patch_params {
    const char *name;
} patch_params;

static nino_status patch_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                  nino_error *err)
{
    return nino_services_of(ctx)->identity(ctx, "model_patches",
                                           ((const patch_params *) params)->name, h, err);
}

static nino_status patch_loader_run(nino_run *r, nino_error *err)
{
    const nino_services *sv = nino_services_of(r->ctx);
    const char *name = ((const patch_params *) r->params)->name;
    nino_weights *file = NULL;
    nino_block_net *n = NULL;
    nino_status st = sv->open_model(r->ctx, "model_patches", name, &file, err);
    if (st)
        return st;
    const nino_hash id = nino_weights_identity(file), key = nino_hash_bytes(&id, sizeof(id));
    if (!(r->out[0] = sv->find_object(r->ctx, NINO_PORT_MODEL_PATCH, key)) &&
        !(st = nino_model_patch_load(file, name, &n, err)) && !(st = nino_out_patch(r, 0, n, err)))
        sv->keep_object(r->ctx, key, r->out[0]);
    nino_weights_unref(&file);
    return st;
}

NINO_NODE(patch_loader, "ModelPatchLoader", "Load Model Patch", "advanced/loaders",
          "Opens what is added to a model: a blockwise ControlNet of Qwen-Image, or a Fun "
          "ControlNet of Z-Image",
          NINO_OUTPUTS(NINO_PORT(MODEL_PATCH, MODEL_PATCH)),
          NINO_PARAMS(patch_params,
                      NINO_P_FILE(patch_params, name, "model_patches", .label = "Model patch",
                                  .help = "A file of models/model_patches")),
          NINO_RUN(patch_loader_run, .identity = patch_identity));
