// Loaders that also give the name of their file, or have settings of other programs beside it.
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/ext/ext.h"

// Without folders and ending.
static char *bare_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    return strndup(base, dot && dot != base ? (size_t) (dot - base) : strlen(base));
}

typedef struct ckpt_params {
    const char *ckpt_name;
} ckpt_params;

static nino_status ckpt_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                 nino_error *err)
{
    return nino_services_of(ctx)->identity(ctx, "checkpoints",
                                           ((const ckpt_params *) params)->ckpt_name, h, err);
}

static nino_status ckpt_run(nino_run *r, nino_error *err)
{
    const char *name = ((const ckpt_params *) r->params)->ckpt_name;
    const nino_status st = nino_node_load_checkpoint(r, name, err);
    return st ? st : nino_ext_out_copy(r, 3, name, err);
}

static nino_status ckpt_bare_run(nino_run *r, nino_error *err)
{
    const char *name = ((const ckpt_params *) r->params)->ckpt_name;
    const nino_status st = nino_node_load_checkpoint(r, name, err);
    return st ? st : nino_node_out_text(r, 3, bare_name(name), err);
}

// The example is a text file of that extension, which is not here.
static nino_status ckpt_example_run(nino_run *r, nino_error *err)
{
    const nino_status st =
        nino_node_load_checkpoint(r, ((const ckpt_params *) r->params)->ckpt_name, err);
    return st ? st : nino_ext_out_copy(r, 3, "", err);
}

static nino_status ckpt_name_run(nino_run *r, nino_error *err)
{
    return nino_ext_out_copy(r, 0, ((const ckpt_params *) r->params)->ckpt_name, err);
}

NINO_NODE(saver_ckpt, "Checkpoint Loader with Name (Image Saver)",
          "Checkpoint Loader with Name (Image Saver)", "ImageSaver/utils",
          "Opens a checkpoint and gives its name",
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL), NINO_PORT(CLIP, CLIP), NINO_PORT(VAE, VAE),
                       NINO_PORT(model_name, STRING)),
          NINO_PARAMS(ckpt_params,
                      NINO_P_FILE(ckpt_params, ckpt_name, "checkpoints", .label = "Checkpoint",
                                  .help = "A file of models/checkpoints")),
          NINO_RUN(ckpt_run, .identity = ckpt_identity));

NINO_NODE(was_ckpt, "Checkpoint Loader (Simple)", "Checkpoint Loader (Simple)", "WAS Suite/Loaders",
          "Opens a checkpoint and gives its name",
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL), NINO_PORT(CLIP, CLIP), NINO_PORT(VAE, VAE),
                       NINO_PORT(NAME_STRING, STRING)),
          NINO_PARAMS(ckpt_params,
                      NINO_P_FILE(ckpt_params, ckpt_name, "checkpoints", .label = "Checkpoint",
                                  .help = "A file of models/checkpoints")),
          NINO_RUN(ckpt_bare_run, .identity = ckpt_identity));

NINO_NODE(script_ckpt, "CheckpointLoader|pysssss", "Checkpoint Loader", "model/loaders",
          "Opens a checkpoint",
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL), NINO_PORT(CLIP, CLIP), NINO_PORT(VAE, VAE),
                       NINO_PORT(example, STRING)),
          NINO_PARAMS(ckpt_params,
                      NINO_P_FILE(ckpt_params, ckpt_name, "checkpoints", .label = "Checkpoint",
                                  .help = "A file of models/checkpoints")),
          NINO_RUN(ckpt_example_run, .identity = ckpt_identity));

NINO_NODE(easy_ckpt, "easy ckptNames", "Ckpt Names", "EasyUse/Util", "The name of a checkpoint",
          NINO_OUTPUTS(NINO_PORT(ckpt_name, ANY)),
          NINO_PARAMS(ckpt_params,
                      NINO_P_FILE(ckpt_params, ckpt_name, "checkpoints", .label = "Checkpoint",
                                  .help = "A file of models/checkpoints")),
          NINO_RUN(ckpt_name_run));

// ---- diffusion models ------------------------------------------------------------------------

static nino_status load_model(nino_run *r, const char *name, const char *type, nino_error *err)
{
    nino_weights *file = NULL;
    const nino_dtype to = !strncmp(type, "fp8_e4m3fn", 10) ? NINO_F8_E4M3
                          : !strcmp(type, "fp8_e5m2")      ? NINO_F8_E5M2
                          : !strcmp(type, "fp16")          ? NINO_F16
                          : !strcmp(type, "bf16")          ? NINO_BF16
                                                           : NINO_F32;
    nino_status st =
        nino_services_of(r->ctx)->open_model(r->ctx, "diffusion_models", name, &file, err);
    if (!st)
        st = nino_node_file_model(r, 0, file, name, to, &(nino_load_how){ .keep = true }, err);
    nino_weights_unref(&file);
    return st;
}

static nino_status unet_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                 nino_error *err)
{
    const char *name = *(const char *const *) params; // the first of each struct
    return nino_services_of(ctx)->identity(ctx, "diffusion_models", name, h, err);
}

typedef struct unet_params {
    const char *unet_name;
    int64_t weight_dtype;
} unet_params;

static nino_status unet_run(nino_run *r, nino_error *err)
{
    const unet_params *p = r->params;
    const nino_status st =
        load_model(r, p->unet_name, r->def->params[1].names[p->weight_dtype], err);
    return st ? st : nino_ext_out_copy(r, 1, p->unet_name, err);
}

NINO_NODE(saver_unet, "UNet loader with Name (Image Saver)", "UNet loader with Name (Image Saver)",
          "ImageSaver/utils", "Opens a diffusion model and gives its name",
          NINO_OUTPUTS(NINO_PORT(model, MODEL), NINO_PORT(filename, STRING)),
          NINO_PARAMS(unet_params,
                      NINO_P_FILE(unet_params, unet_name, "diffusion_models", .label = "Model",
                                  .help = "A file of models/diffusion_models or models/unet"),
                      NINO_P_ENUM(unet_params, weight_dtype,
                                  NINO_WORDS("default", "fp8_e4m3fn", "fp8_e4m3fn_fast",
                                             "fp8_e5m2"),
                                  0, .label = "Weight type",
                                  .help = "Rounds the weights to this type when they are read")),
          NINO_RUN(unet_run, .identity = unet_identity));

typedef struct kj_model_params {
    const char *model_name;
    int64_t weight_dtype;
    int64_t compute_dtype;
    bool patch_cublaslinear;
    int64_t sage_attention;
    bool enable_fp16_accumulation;
} kj_model_params;

static nino_status kj_model_run(nino_run *r, nino_error *err)
{
    const kj_model_params *p = r->params;
    return load_model(r, p->model_name, r->def->params[1].names[p->weight_dtype], err);
}

NINO_NODE(
    kj_model, "DiffusionModelLoaderKJ", "Diffusion Model Loader KJ", "KJNodes/model_loaders",
    "Opens a diffusion model that comes without text encoder and VAE",
    NINO_INPUTS(NINO_PORT(extra_state_dict, STRING, .optional = true)),
    NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
    NINO_PARAMS(
        kj_model_params,
        NINO_P_FILE(kj_model_params, model_name, "diffusion_models", .label = "Model",
                    .help = "A file of models/diffusion_models or models/unet"),
        NINO_P_ENUM(kj_model_params, weight_dtype,
                    NINO_WORDS("default", "fp8_e4m3fn", "fp8_e4m3fn_fast", "fp8_e5m2", "fp16",
                               "bf16", "fp32"),
                    0, .label = "Weight type",
                    .help = "Rounds the weights to this type when they are read"),
        NINO_P_ENUM(kj_model_params, compute_dtype, NINO_WORDS("default", "fp16", "bf16", "fp32"),
                    0, .label = "Compute dtype",
                    .help = "Accepted for compatibility, nothing here depends on it",
                    .is_inert = true),
        NINO_P_BOOL(kj_model_params, patch_cublaslinear, false, .label = "Patch cublaslinear",
                    .help = "Accepted for compatibility, nothing here depends on it",
                    .is_inert = true),
        NINO_P_ENUM(kj_model_params, sage_attention,
                    NINO_WORDS("disabled", "auto", "sageattn_qk_int8_pv_fp16_cuda",
                               "sageattn_qk_int8_pv_fp16_triton", "sageattn_qk_int8_pv_fp8_cuda",
                               "sageattn_qk_int8_pv_fp8_cuda++", "sageattn3",
                               "sageattn3_per_block_mean"),
                    0, .label = "Sage attention",
                    .help = "Accepted for compatibility, nothing here depends on it",
                    .is_inert = true),
        NINO_P_BOOL(kj_model_params, enable_fp16_accumulation, false, .label = "fp16 sums",
                    .help = "Accepted for compatibility, nothing here depends on it",
                    .is_inert = true)),
    NINO_RUN(kj_model_run, .identity = unet_identity));

typedef struct kj_gguf_params {
    const char *model_name;
    const char *extra_model_name;
    int64_t dequant_dtype;
    int64_t patch_dtype;
    bool patch_on_device;
    bool enable_fp16_accumulation;
    int64_t attention_override;
} kj_gguf_params;

static nino_status kj_gguf_run(nino_run *r, nino_error *err)
{
    const kj_gguf_params *p = r->params;
    if (p->extra_model_name && strcmp(p->extra_model_name, "none") != 0)
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "value", "extra_model_name",
                              "only none is supported: one file holds the model");
    return load_model(r, p->model_name, "default", err);
}

NINO_NODE(
    kj_gguf, "GGUFLoaderKJ", "GGUFLoaderKJ", "KJNodes/model_loaders",
    "Opens a diffusion model of a GGUF file", NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
    NINO_PARAMS(kj_gguf_params,
                NINO_P_FILE(kj_gguf_params, model_name, "diffusion_models", .label = "Model",
                            .help = "A file of models/diffusion_models or models/unet"),
                NINO_P_FILE(kj_gguf_params, extra_model_name, "diffusion_models",
                            .extra = NINO_WORDS("none"), .label = "More",
                            .help = "Only none is supported"),
                NINO_P_ENUM(kj_gguf_params, dequant_dtype,
                            NINO_WORDS("default", "target", "float32", "float16", "bfloat16"), 0,
                            .label = "Dequant dtype",
                            .help = "Accepted for compatibility, nothing here depends on it",
                            .is_inert = true),
                NINO_P_ENUM(kj_gguf_params, patch_dtype,
                            NINO_WORDS("default", "target", "float32", "float16", "bfloat16"), 0,
                            .label = "Patch dtype",
                            .help = "Accepted for compatibility, nothing here depends on it",
                            .is_inert = true),
                NINO_P_BOOL(kj_gguf_params, patch_on_device, false, .label = "Patch on device",
                            .help = "Accepted for compatibility, nothing here depends on it",
                            .is_inert = true),
                NINO_P_BOOL(kj_gguf_params, enable_fp16_accumulation, false, .label = "fp16 sums",
                            .help = "Accepted for compatibility, nothing here depends on it",
                            .is_inert = true),
                NINO_P_ENUM(kj_gguf_params, attention_override,
                            NINO_WORDS("none", "sdpa", "sageattn", "xformers", "flashattn"), 0,
                            .label = "Attention override",
                            .help = "Accepted for compatibility, nothing here depends on it",
                            .is_inert = true)),
    NINO_RUN(kj_gguf_run, .identity = unet_identity));
