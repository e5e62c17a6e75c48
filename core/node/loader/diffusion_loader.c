// Loaders of diffusion models. A MODEL is shared by every node that names the same file, so that
// the device holds its weights once.
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/node/util.h"

static nino_hash model_key(const nino_weights *file, nino_dtype type)
{
    const nino_hash id[2] = { nino_weights_identity(file), { .lo = (uint64_t) type } };
    return nino_hash_bytes(id, sizeof(id));
}

nino_status nino_node_file_model(nino_run *r, int slot, nino_weights *file, const char *name,
                                 nino_dtype type, const nino_load_how *how, nino_error *err)
{
    const nino_hash key = model_key(file, type);
    nino_diffusion *net = NULL;
    if (how->reload || !how->keep) // first out, then in: never two copies
        nino_services_of(r->ctx)->drop_object(r->ctx, NINO_PORT_MODEL, key);
    else if ((r->out[slot] = nino_services_of(r->ctx)->find_object(r->ctx, NINO_PORT_MODEL, key)))
        return NINO_OK;
    nino_status st = nino_diffusion_load_as(file, name, type, &net, err);
    if (st)
        return st;
    st = nino_out_model(r, slot, nino_model_create(net), err);
    nino_diffusion_unref(&net);
    if (!st && how->keep)
        nino_services_of(r->ctx)->keep_object(r->ctx, key, r->out[slot]);
    return st;
}

// How an extension spreads a model over several devices; here one has it all.
static const char *const multi_gpu[] = {
    "device",         "donor_device",   "virtual_vram_gb",
    "use_other_vram", "compute_device", "expert_mode_allocations",
    "eject_models",   "virtual_device", NULL
};

// ---- UNETLoader, ROCmDiffusionLoader ---------------------------------------------------------

typedef struct unet_params {
    const char *unet_name;
    int64_t weight_dtype;
} unet_params;

// The fast one only allows 8-bit products as well, which no device here computes with.
static const char *const stock_types[] = { "default", "fp8_e4m3fn", "fp8_e4m3fn_fast", "fp8_e5m2",
                                           NULL };
static const char *const rocm_types[] = { "default", "fp8_e4m3fn", "fp8_e5m2", NULL };

static nino_dtype loader_type_of(const char *word)
{
    if (!strncmp(word, "fp8_e4m3fn", 10))
        return NINO_F8_E4M3;
    return !strcmp(word, "fp8_e5m2") ? NINO_F8_E5M2 : NINO_F32;
}

static nino_status loader_load(nino_run *r, const char *name, const char *type, nino_error *err)
{
    nino_weights *file = NULL;
    nino_status st =
        nino_services_of(r->ctx)->open_model(r->ctx, "diffusion_models", name, &file, err);
    if (st)
        return st;
    st = nino_node_file_model(r, 0, file, name, loader_type_of(type),
                              &(nino_load_how){ .keep = true }, err);
    if (!st && r->out[0]->u.model->net->is_scaled && strcmp(type, "default") != 0)
        nino_logf(r->log, NINO_LOG_WARN,
                  "%s %s: %s has scaled 8-bit weights, weight_dtype %s would lose the scales and "
                  "is not followed",
                  r->node_id, r->def->key, name, type);
    nino_weights_unref(&file);
    return st;
}

static nino_status stock_run(nino_run *r, nino_error *err)
{
    const unet_params *p = r->params;
    return loader_load(r, p->unet_name, stock_types[p->weight_dtype], err);
}

static nino_status loader_rocm_run(nino_run *r, nino_error *err)
{
    const unet_params *p = r->params;
    return loader_load(r, p->unet_name, rocm_types[p->weight_dtype], err);
}

static nino_status unet_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                 nino_error *err)
{
    const char *name = ((const unet_params *) params)->unet_name;
    return nino_services_of(ctx)->identity(ctx, "diffusion_models", name, h, err);
}

#define FILE_HELP "A file of models/diffusion_models or models/unet"
#define TYPE_HELP                                                                                  \
    "Rounds the weights to this type when they are read; files of scaled 8-bit weights stay as "   \
    "they are"

NINO_NODE(unet_loader, "UNETLoader", "Load Diffusion Model", "advanced/loaders",
          "Opens a diffusion model that comes without text encoder and VAE",
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          NINO_PARAMS(unet_params,
                      NINO_P_FILE(unet_params, unet_name, "diffusion_models", .label = "Model",
                                  .help = FILE_HELP),
                      NINO_P_ENUM(unet_params, weight_dtype, stock_types, 0, .label = "Weight type",
                                  .help = TYPE_HELP)),
          NINO_ALIASES({ .name = "UNETLoaderMultiGPU", .ignored = multi_gpu },
                       { .name = "UNETLoaderDisTorchMultiGPU", .ignored = multi_gpu },
                       { .name = "UNETLoaderDisTorch2MultiGPU", .ignored = multi_gpu }),
          NINO_RUN(stock_run, .identity = unet_identity));

NINO_NODE(rocm_unet_loader, "ROCmDiffusionLoader", "ROCm Diffusion Loader", "ROCm Ninodes/Loaders",
          "Opens a diffusion model that comes without text encoder and VAE",
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          NINO_PARAMS(unet_params,
                      NINO_P_FILE(unet_params, unet_name, "diffusion_models", .label = "Model",
                                  .help = FILE_HELP),
                      NINO_P_ENUM(unet_params, weight_dtype, rocm_types, 0, .label = "Weight type",
                                  .optional = true, .help = TYPE_HELP)),
          NINO_ALIASES({ .name = "ROCMOptimizedUNetLoader" }),
          NINO_RUN(loader_rocm_run, .identity = unet_identity));

// ---- UnetLoaderGGUF, UnetLoaderGGUFAdvanced, ROCmGGUFLoader ----------------------------------
// Any loader opens GGUF files; these are the names that workflows know.

typedef struct gguf_params {
    const char *unet_name;
    int64_t dequant_dtype, patch_dtype;
    bool patch_on_device;
} gguf_params;

typedef struct rocm_gguf_params {
    const char *gguf_name;
} rocm_gguf_params;

static nino_status gguf_run(nino_run *r, nino_error *err)
{
    return loader_load(r, ((const gguf_params *) r->params)->unet_name, "default", err);
}

static nino_status gguf_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                 nino_error *err)
{
    const char *name = ((const gguf_params *) params)->unet_name;
    return nino_services_of(ctx)->identity(ctx, "diffusion_models", name, h, err);
}

static nino_status rocm_gguf_run(nino_run *r, nino_error *err)
{
    return loader_load(r, ((const rocm_gguf_params *) r->params)->gguf_name, "default", err);
}

static nino_status rocm_gguf_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                      nino_error *err)
{
    const char *name = ((const rocm_gguf_params *) params)->gguf_name;
    return nino_services_of(ctx)->identity(ctx, "diffusion_models", name, h, err);
}

#define GGUF_HELP "A GGUF file of models/diffusion_models or models/unet"
#define GGUF_TYPE_HELP "Weights are expanded to what the device computes with; not followed"
static const char *const gguf_types[] = { "default", "target",   "float32",
                                          "float16", "bfloat16", NULL };

NINO_NODE(gguf_loader, "UnetLoaderGGUF", "Unet Loader (GGUF)", "bootleg",
          "Opens a diffusion model with quantised weights", NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          NINO_PARAMS(gguf_params, NINO_P_FILE(gguf_params, unet_name, "diffusion_models",
                                               .label = "Model", .help = GGUF_HELP)),
          NINO_ALIASES({ .name = "UnetLoaderGGUFMultiGPU", .ignored = multi_gpu },
                       { .name = "UnetLoaderGGUFDisTorchMultiGPU", .ignored = multi_gpu },
                       { .name = "UnetLoaderGGUFDisTorch2MultiGPU", .ignored = multi_gpu }),
          NINO_RUN(gguf_run, .identity = gguf_identity));

NINO_NODE(gguf_loader_advanced, "UnetLoaderGGUFAdvanced", "Unet Loader (GGUF/Advanced)", "bootleg",
          "Opens a diffusion model with quantised weights", NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          NINO_PARAMS(gguf_params,
                      NINO_P_FILE(gguf_params, unet_name, "diffusion_models", .label = "Model",
                                  .help = GGUF_HELP),
                      NINO_P_ENUM(gguf_params, dequant_dtype, gguf_types, 0, .label = "Expanded to",
                                  .is_inert = true, .help = GGUF_TYPE_HELP),
                      NINO_P_ENUM(gguf_params, patch_dtype, gguf_types, 0, .label = "LoRA type",
                                  .is_inert = true, .help = "LoRAs are added in f32; not followed"),
                      NINO_P_BOOL(gguf_params, patch_on_device, false,
                                  .label = "LoRA on the device", .is_inert = true,
                                  .help = "Not followed")),
          NINO_RUN(gguf_run, .identity = gguf_identity));

NINO_NODE(rocm_gguf, "ROCmGGUFLoader", "ROCm GGUF Loader", "ROCm Ninodes/Loaders",
          "Opens a diffusion model with quantised weights", NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          NINO_PARAMS(rocm_gguf_params, NINO_P_FILE(rocm_gguf_params, gguf_name, "diffusion_models",
                                                    .label = "Model", .help = GGUF_HELP)),
          NINO_ALIASES({ .name = "LoaderGGUF" }),
          NINO_RUN(rocm_gguf_run, .identity = rocm_gguf_identity));
