// Loaders: VAE files and the tiny autoencoders' names, checkpoints. What they load is shared by
// file identity, so two nodes that name one file hold it once. A part of a checkpoint that cannot
// be run is typed all the same; who wants to use it is told why.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/model/detect.h"
#include "core/node/util.h"

// The key of what is made from up to two files.
static nino_hash files_key(const nino_weights *a, const nino_weights *b)
{
    const nino_hash id[2] = { a ? nino_weights_identity(a) : (nino_hash){ 0 },
                              b ? nino_weights_identity(b) : (nino_hash){ 0 } };
    return nino_hash_bytes(id, sizeof(id));
}

// Output `slot` becomes the VAE and is kept for the next node that names its files.
static nino_status set_vae(nino_run *r, int slot, const nino_hash *key, nino_vae *v,
                           nino_error *err)
{
    nino_value *out = nino_node_out(r, slot, NINO_PORT_VAE, err);
    if (!out) {
        nino_vae_unref(&v);
        return NINO_ERR_NOMEM;
    }
    out->u.vae = v;
    if (key)
        nino_services_of(r->ctx)->keep_object(r->ctx, *key, out);
    return NINO_OK;
}

// How an extension spreads a model over several devices; here one has it all.
static const char *const multi_gpu[] = {
    "device",         "donor_device",   "virtual_vram_gb",
    "use_other_vram", "compute_device", "expert_mode_allocations",
    "eject_models",   "virtual_device", NULL
};

// ---- VAELoader -------------------------------------------------------------------------------

typedef struct vae_params {
    const char *vae_name;
} vae_params;

static const char *const vae_words[] = { "taesd", "taesdxl",     "taesd3", "taef1",
                                         "taef2", "pixel_space", NULL };
// Tiny autoencoders for video, whole files of vae_approx, which ComfyUI's list shows as such.
static const char *const video_words[] = { "taew2_1", "lighttaew2_1", "taew2_2",  "lighttaew2_2",
                                           "taehv",   "taehv1_5",     "taeltx_2", NULL };
static const char *const vae_extra[] = { "taesd",
                                         "taesdxl",
                                         "taesd3",
                                         "taef1",
                                         "taef2",
                                         "pixel_space",
                                         "taew2_1.safetensors",
                                         "lighttaew2_1.safetensors",
                                         "taew2_2.safetensors",
                                         "lighttaew2_2.safetensors",
                                         "taehv.safetensors",
                                         "taehv1_5.safetensors",
                                         "taeltx_2.safetensors",
                                         NULL };

static const char *const parts[2] = { "encoder", "decoder" };

static bool is_word(const char *name)
{
    for (int i = 0; vae_words[i]; i++)
        if (!strcmp(vae_words[i], name))
            return true;
    return false;
}

// The file of vae_approx that is "WORD_PART.*"; safetensors before others. NULL: none. malloc'd.
static char *tiny_file(const nino_ctx *ctx, const char *word, const char *part)
{
    char **names = nino_services_of(ctx)->list_models(ctx, "vae_approx");
    const size_t nw = strlen(word), np = strlen(part);
    const char *best = NULL;
    for (char **n = names; n && *n; n++) {
        if (strncmp(*n, word, nw) || (*n)[nw] != '_' || strncmp(*n + nw + 1, part, np) ||
            (*n)[nw + 1 + np] != '.')
            continue;
        if (!best || !strcmp(*n + nw + 1 + np, ".safetensors"))
            best = *n;
    }
    char *out = best ? strdup(best) : NULL;
    free(names);
    return out;
}

// The file of vae_approx that is called so, with any ending if there is none of this one. NULL:
// none, or not a tiny autoencoder's name. malloc'd.
static char *video_file(const nino_ctx *ctx, const char *name)
{
    const size_t len = strcspn(name, ".");
    const char *best = NULL;
    int i = 0;
    while (video_words[i] && (strlen(video_words[i]) != len || strncmp(video_words[i], name, len)))
        i++;
    if (!video_words[i])
        return NULL;
    char **names = nino_services_of(ctx)->list_models(ctx, "vae_approx");
    for (char **n = names; n && *n; n++)
        if (!strncmp(*n, name, len) && (*n)[len] == '.' &&
            (!best || !strcmp(*n, name) ||
             (strcmp(best, name) && !strcmp(*n + len, ".safetensors"))))
            best = *n;
    char *out = best ? strdup(best) : NULL;
    free(names);
    return out;
}

static nino_status vae_check(const nino_ctx *ctx, const void *params, nino_error *err)
{
    const char *name = ((const vae_params *) params)->vae_name;
    if (!strcmp(name, "pixel_space"))
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "value", "vae_name",
                              "pixel_space is not supported yet");
    if (!ctx)
        return NINO_OK;
    if (!is_word(name)) { // a file of models/vae was looked for before, others were not
        bool is_extra = false;
        for (int i = 0; vae_extra[i]; i++)
            is_extra |= !strcmp(vae_extra[i], name);
        char *file = is_extra ? video_file(ctx, name) : NULL;
        const nino_status st =
            is_extra && !file ? nino_services_of(ctx)->check_file(ctx, "vae", name, err) : NINO_OK;
        if (st && err)
            snprintf(err->where, sizeof(err->where), "vae_name");
        free(file);
        return st;
    }
    char *dec = tiny_file(ctx, name, "decoder"), *enc = tiny_file(ctx, name, "encoder");
    nino_status st = NINO_OK;
    if (!dec && !enc) { // asks for a file that does not exist: the message lists the folders
        char file[64];
        snprintf(file, sizeof(file), "%.32s_decoder.safetensors", name);
        st = nino_services_of(ctx)->check_file(ctx, "vae_approx", file, err);
        if (st && err)
            snprintf(err->where, sizeof(err->where), "vae_name");
    }
    free(dec);
    free(enc);
    return st;
}

// Opens the files that the name stands for: one, or decoder and encoder of a tiny autoencoder.
static nino_status vae_files(nino_ctx *ctx, const char *name, nino_weights *file[2],
                             nino_error *err)
{
    nino_status st = NINO_OK;
    if (!is_word(name)) {
        char *n = video_file(ctx, name);
        st = nino_services_of(ctx)->open_model(ctx, n ? "vae_approx" : "vae", n ? n : name,
                                               &file[0], err);
        free(n);
        return st;
    }
    for (int i = 0; i < 2 && st == NINO_OK; i++) {
        char *n = tiny_file(ctx, name, parts[i]);
        if (n)
            st = nino_services_of(ctx)->open_model(ctx, "vae_approx", n, &file[i], err);
        free(n);
    }
    if (st == NINO_OK && !file[0] && !file[1])
        st = vae_check(ctx, &(vae_params){ name }, err);
    if (st == NINO_OK && !file[0] && !file[1])
        st = nino_fail(err, NINO_ERR_MISSING, name, "no file of that name in vae_approx");
    return st;
}

nino_status nino_node_load_vae(nino_ctx *ctx, const char *name, nino_value **out, nino_error *err)
{
    nino_weights *file[2] = { NULL, NULL };
    nino_vae *v = NULL;
    nino_status st = vae_files(ctx, name, file, err);
    if (st)
        goto end;
    const nino_hash key = files_key(file[0], file[1]);
    if ((*out = nino_services_of(ctx)->find_object(ctx, NINO_PORT_VAE, key)))
        goto end;
    st = is_word(name) ? nino_vae_tiny_load(file[0], file[1], name, &v, err)
                       : nino_vae_load(file[0], name, &v, err);
    if (st)
        goto end;
    if (!(*out = nino_value_create(NINO_PORT_VAE))) {
        nino_vae_unref(&v);
        st = nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
        goto end;
    }
    (*out)->u.vae = v;
    nino_services_of(ctx)->keep_object(ctx, key, *out);
end:
    nino_weights_unref(&file[0]);
    nino_weights_unref(&file[1]);
    return st;
}

static nino_status model_loader_vae_run(nino_run *r, nino_error *err)
{
    return nino_node_load_vae(r->ctx, ((const vae_params *) r->params)->vae_name, &r->out[0], err);
}

static nino_status vae_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                nino_error *err)
{
    const char *name = ((const vae_params *) params)->vae_name;
    nino_status st = NINO_OK;
    if (!is_word(name)) {
        char *n = video_file(ctx, name);
        st = nino_services_of(ctx)->identity(ctx, n ? "vae_approx" : "vae", n ? n : name, h, err);
        free(n);
        return st;
    }
    for (int i = 0; i < 2 && st == NINO_OK; i++) {
        char *n = tiny_file(ctx, name, parts[i]);
        if (n)
            st = nino_services_of(ctx)->identity(ctx, "vae_approx", n, h, err);
        free(n);
    }
    return st;
}

NINO_NODE(
    vae_loader, "VAELoader", "Load VAE", "loaders", "Opens a VAE",
    NINO_OUTPUTS(NINO_PORT(VAE, VAE)),
    NINO_PARAMS(
        vae_params,
        NINO_P_FILE(vae_params, vae_name, "vae", .label = "VAE", .extra = vae_extra,
                    .help =
                        "A file of models/vae, or taesd, taesdxl, taesd3, taef1, taef2, or a video "
                        "one's file name, for the tiny autoencoders in models/vae_approx")),
    NINO_ALIASES({ .name = "VAELoaderKJ", .ignored = NINO_WORDS("device", "weight_dtype") },
                 { .name = "VaeGGUF" }, { .name = "VAELoaderMultiGPU", .ignored = multi_gpu },
                 { .name = "VAELoaderDisTorch2MultiGPU", .ignored = multi_gpu }),
    NINO_RUN(model_loader_vae_run, .identity = vae_identity, .check = vae_check));

// ---- checkpoints -----------------------------------------------------------------------------

static const nino_port ckpt_out[] = {
    NINO_PORT(MODEL, MODEL), NINO_PORT(CLIP, CLIP), NINO_PORT(VAE, VAE), { 0 }
};

// A typed value for what this version can name but not run; the slot stays empty if the file has
// none.
static nino_status set_unloaded(nino_run *r, int slot, nino_port_type type, nino_weights *file,
                                const char *family, nino_error *err)
{
    if (!family[0])
        return NINO_OK;
    nino_value *v = nino_node_out(r, slot, type, err);
    if (!v)
        return NINO_ERR_NOMEM;
    v->u.unloaded.file = nino_weights_ref(file);
    snprintf(v->u.unloaded.family, sizeof(v->u.unloaded.family), "%s", family);
    return NINO_OK;
}

// The text encoder goes to slot 1. One that cannot be used is no reason to refuse the rest of the
// file: who wants to encode text with it is told what is wrong.
static nino_status model_loader_set_clip(nino_run *r, nino_weights *file, const char *name,
                                         const char *family, const nino_load_how *how,
                                         nino_error *err)
{
    nino_error e = { 0 };
    if (!family[0])
        return NINO_OK;
    nino_status st = nino_node_checkpoint_clip(r, 1, file, name, how, &e);
    if (st == NINO_OK || st == NINO_ERR_NOMEM) {
        if (err && st)
            *err = e;
        return st;
    }
    if (!(st = set_unloaded(r, 1, NINO_PORT_CLIP, file, family, err)))
        snprintf(r->out[1]->u.unloaded.why, sizeof(r->out[1]->u.unloaded.why), "%s", e.msg);
    return st;
}

// The diffusion model goes to slot 0. One of a family that is known but cannot be run is no reason
// to refuse the rest either; a damaged one is.
static nino_status set_model(nino_run *r, nino_weights *file, const char *name, const char *family,
                             const nino_load_how *how, nino_error *err)
{
    nino_error e = { 0 };
    if (!family[0])
        return NINO_OK;
    nino_status st = nino_node_file_model(r, 0, file, name, NINO_F32, how, &e);
    if (st != NINO_ERR_UNSUPPORTED) {
        if (err && st)
            *err = e;
        return st;
    }
    if (!(st = set_unloaded(r, 0, NINO_PORT_MODEL, file, family, err)))
        snprintf(r->out[0]->u.unloaded.why, sizeof(r->out[0]->u.unloaded.why), "%s", e.msg);
    return st;
}

typedef struct ckpt_options {
    bool use_cache, force_reload, needs_clip;
} ckpt_options;

static nino_status load_checkpoint(nino_run *r, const char *name, const ckpt_options *o,
                                   nino_error *err)
{
    nino_weights *file = NULL;
    nino_vae *v = NULL;
    nino_detected d;
    nino_status st = nino_services_of(r->ctx)->open_model(r->ctx, "checkpoints", name, &file, err);
    if (st)
        return st;
    nino_detect(file, &d);
    const nino_hash key = files_key(file, NULL);
    if (o->force_reload || !o->use_cache) // first out, then in: never two copies
        nino_services_of(r->ctx)->drop_object(r->ctx, NINO_PORT_VAE, key);
    if (o->needs_clip && !d.text[0][0]) {
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "model", name, "the file has no text encoder");
        goto end;
    }
    const nino_load_how how = { o->use_cache, o->force_reload };
    if ((st = set_model(r, file, name, d.diffusion, &how, err)) ||
        (st = model_loader_set_clip(r, file, name, d.text[0], &how, err)))
        goto end;
    if (d.vae[0]) {
        if ((r->out[2] = nino_services_of(r->ctx)->find_object(r->ctx, NINO_PORT_VAE, key)))
            goto end;
        if (!(st = nino_vae_load(file, name, &v, err)))
            st = set_vae(r, 2, o->use_cache ? &key : NULL, v, err);
    } else if (!d.diffusion[0] && !d.text[0][0]) {
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "model", name,
                            "no diffusion model, text encoder or VAE in this file");
    }
end:
    nino_weights_unref(&file);
    return st;
}

typedef struct ckpt_params {
    const char *ckpt_name;
} ckpt_params;

nino_status nino_node_load_checkpoint(nino_run *r, const char *name, nino_error *err)
{
    const ckpt_options o = { .use_cache = true };
    return load_checkpoint(r, name, &o, err);
}

static nino_status ckpt_run(nino_run *r, nino_error *err)
{
    return nino_node_load_checkpoint(r, ((const ckpt_params *) r->params)->ckpt_name, err);
}

static nino_status ckpt_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                 nino_error *err)
{
    const char *name = ((const ckpt_params *) params)->ckpt_name;
    return nino_services_of(ctx)->identity(ctx, "checkpoints", name, h, err);
}

#define CKPT_HELP "A file of models/checkpoints"
NINO_NODE(checkpoint_loader, "CheckpointLoaderSimple", "Load Checkpoint", "loaders",
          "Opens a file that holds a diffusion model, text encoders and a VAE", .outputs = ckpt_out,
          NINO_PARAMS(ckpt_params, NINO_P_FILE(ckpt_params, ckpt_name, "checkpoints",
                                               .label = "Checkpoint", .help = CKPT_HELP)),
          NINO_ALIASES({ .name = "CheckpointLoaderKJ",
                         .ignored = NINO_WORDS("weight_dtype", "compute_dtype",
                                               "patch_cublaslinear", "sage_attention",
                                               "enable_fp16_accumulation") },
                       { .name = "CheckpointLoaderSimpleMultiGPU", .ignored = multi_gpu },
                       { .name = "CheckpointLoaderSimpleDisTorch2MultiGPU", .ignored = multi_gpu }),
          NINO_RUN(ckpt_run, .identity = ckpt_identity));

typedef struct config_params {
    const char *config_name, *ckpt_name;
} config_params;

static nino_status config_run(nino_run *r, nino_error *err)
{
    const ckpt_options o = { .use_cache = true };
    return load_checkpoint(r, ((const config_params *) r->params)->ckpt_name, &o, err);
}

static nino_status config_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                   nino_error *err)
{
    const char *name = ((const config_params *) params)->ckpt_name;
    return nino_services_of(ctx)->identity(ctx, "checkpoints", name, h, err);
}

NINO_NODE(checkpoint_config, "CheckpointLoader", "Load Checkpoint With Config (DEPRECATED)",
          "advanced/loaders",
          "Load Checkpoint for workflows that name a configuration file as well",
          .outputs = ckpt_out,
          NINO_PARAMS(config_params,
                      NINO_P_FILE(config_params, config_name, "configs", .label = "Configuration",
                                  .is_inert = true,
                                  .help = "Not needed: the file's tensors say what it holds"),
                      NINO_P_FILE(config_params, ckpt_name, "checkpoints", .label = "Checkpoint",
                                  .help = CKPT_HELP)),
          NINO_RUN(config_run, .identity = config_identity));

typedef struct rocm_params {
    const char *ckpt_name;
    bool use_cache, force_reload, compatibility_mode;
} rocm_params;

static nino_status model_loader_rocm_run(nino_run *r, nino_error *err)
{
    const rocm_params *p = r->params;
    const ckpt_options o = { .use_cache = p->use_cache,
                             .force_reload = p->force_reload,
                             .needs_clip = p->compatibility_mode };
    return load_checkpoint(r, p->ckpt_name, &o, err);
}

static nino_status rocm_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                 nino_error *err)
{
    const char *name = ((const rocm_params *) params)->ckpt_name;
    return nino_services_of(ctx)->identity(ctx, "checkpoints", name, h, err);
}

static bool rocm_is_volatile(const void *params)
{
    const rocm_params *p = params;
    return p->force_reload || !p->use_cache;
}

NINO_NODE(rocm_checkpoint, "ROCMOptimizedCheckpointLoader", "ROCm Checkpoint Loader",
          "ROCm Ninodes/Loaders", "Opens a checkpoint and keeps it loaded between runs",
          .outputs = ckpt_out,
          NINO_PARAMS(
              rocm_params,
              NINO_P_FILE(rocm_params, ckpt_name, "checkpoints", .label = "Checkpoint",
                          .help = CKPT_HELP),
              NINO_P_BOOL(
                  rocm_params, use_cache, true, .label = "Keep loaded", .optional = true,
                  .help = "Keeps the models for the next run; a changed file is always read again"),
              NINO_P_BOOL(rocm_params, force_reload, false, .label = "Reload", .optional = true,
                          .help = "Reads the file again on every run; the old copy is freed first"),
              NINO_P_BOOL(rocm_params, compatibility_mode, false, .label = "Insist on CLIP",
                          .optional = true, .help = "Fails if the file has no text encoder")),
          NINO_ALIASES({ .name = "ROCmCheckpointLoader" }),
          NINO_ORDERS({ NINO_WORDS("ckpt_name", "use_cache", "force_reload", "compatibility_mode"),
                        "2.2.0" },
                      { NINO_WORDS("ckpt_name", "compatibility_mode"), "2.0.5" },
                      { NINO_WORDS("ckpt_name", "-", "-", "-", "compatibility_mode"), "1.0.0" },
                      { NINO_WORDS("ckpt_name", "-", "-", "-"), "1.0.0" },
                      { NINO_WORDS("ckpt_name"), "1.0.9" }),
          NINO_RUN(model_loader_rocm_run, .identity = rocm_identity,
                   .is_volatile_with = rocm_is_volatile));
