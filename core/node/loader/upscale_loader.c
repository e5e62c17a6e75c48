// UpscaleModelLoader. Semantics: ComfyUI comfy_extras/nodes_upscale_model.py.
#include "core/base/hash.h"
#include "core/node/util.h"

typedef struct upscale_params {
    const char *model_name;
} upscale_params;

static nino_status upscale_loader_run(nino_run *r, nino_error *err)
{
    const nino_services *sv = nino_services_of(r->ctx);
    const char *name = ((const upscale_params *) r->params)->model_name;
    nino_weights *file = NULL;
    nino_upscale *u = NULL;
    nino_status st = sv->open_model(r->ctx, "upscale_models", name, &file, err);
    if (st)
        return st;
    const nino_hash id = nino_weights_identity(file), key = nino_hash_bytes(&id, sizeof(id));
    if (!(r->out[0] = sv->find_object(r->ctx, NINO_PORT_UPSCALE_MODEL, key)) &&
        !(st = nino_upscale_load(file, name, &u, err)) && !(st = nino_out_upscale(r, 0, u, err)))
        sv->keep_object(r->ctx, key, r->out[0]);
    nino_weights_unref(&file);
    return st;
}

static nino_status upscale_loader_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                           nino_error *err)
{
    return nino_services_of(ctx)->identity(ctx, "upscale_models",
                                           ((const upscale_params *) params)->model_name, h, err);
}

NINO_NODE(upscale_loader, "UpscaleModelLoader", "Load Upscale Model", "loaders",
          "Opens a network that enlarges pictures: ESRGAN, Real-ESRGAN, BSRGAN, compact (SRVGG)",
          NINO_OUTPUTS(NINO_PORT(UPSCALE_MODEL, UPSCALE_MODEL)),
          NINO_PARAMS(upscale_params, NINO_P_FILE(upscale_params, model_name, "upscale_models",
                                                  .label = "Upscale model",
                                                  .help = "A file of models/upscale_models")),
          NINO_RUN(upscale_loader_run, .identity = upscale_loader_identity));
