// Loaders of text encoders: separate files, one to three of them, and those of a checkpoint. What a
// CLIP value needs of the context (tokenizers, embeddings) is handed to it here.
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/node/util.h"

// ---- services --------------------------------------------------------------------------------

static nino_status service_tokenizer(void *priv, nino_tokenizer_kind kind, nino_tokenizer **out,
                                     nino_error *err)
{
    return nino_services_of(priv)->tokenizer(priv, kind, out, err);
}

static nino_status service_embedding(void *priv, const char *name, nino_weights **out,
                                     nino_error *err)
{
    return nino_services_of(priv)->open_embedding(priv, name, out, err);
}

static void service_warn(void *priv, const char *text)
{
    nino_logf(nino_services_of(priv)->log(priv), NINO_LOG_WARN, "%s", text);
}

// ---- CLIP values -----------------------------------------------------------------------------

static nino_hash clip_key(nino_weights *const *files, int n, nino_clip_type type)
{
    nino_hash id[4] = { { .lo = (uint64_t) type } };
    for (int i = 0; i < n && i < 3; i++)
        id[i + 1] = nino_weights_identity(files[i]);
    return nino_hash_bytes(id, sizeof(id));
}

static nino_status clip_loader_set_clip(nino_run *r, int slot, nino_weights *const *files, int n,
                                        nino_clip_type type, const char *name,
                                        const nino_load_how *how, nino_error *err)
{
    const nino_text_services services = { r->ctx, service_tokenizer, service_embedding,
                                          service_warn };
    const nino_hash key = clip_key(files, n, type);
    nino_clip *c = NULL;
    if (how->reload || !how->keep) // first out, then in: never two copies
        nino_services_of(r->ctx)->drop_object(r->ctx, NINO_PORT_CLIP, key);
    else if ((r->out[slot] = nino_services_of(r->ctx)->find_object(r->ctx, NINO_PORT_CLIP, key)))
        return NINO_OK;
    nino_status st = nino_clip_load(files, n, type, &services, name, &c, err);
    if (!st)
        st = nino_out_clip(r, slot, c, err);
    if (!st && how->keep)
        nino_services_of(r->ctx)->keep_object(r->ctx, key, r->out[slot]);
    return st;
}

nino_status nino_node_checkpoint_clip(nino_run *r, int slot, nino_weights *file, const char *name,
                                      const nino_load_how *how, nino_error *err)
{
    nino_clip_type type;
    nino_status st = nino_clip_type_of_checkpoint(file, &type, err);
    return st ? st : clip_loader_set_clip(r, slot, &file, 1, type, name, how, err);
}

// ---- CLIPLoader, DualCLIPLoader, TripleCLIPLoader --------------------------------------------

#define MAX_FILES 3

typedef struct clip_params {
    const char *clip_name;
    int64_t type, device;
} clip_params;

typedef struct dual_params {
    const char *clip_name1, *clip_name2;
    int64_t type, device;
} dual_params;

typedef struct triple_params {
    const char *clip_name1, *clip_name2, *clip_name3;
} triple_params;

// Words of ComfyUI's lists, and what they stand for here; -1: not yet.
static const char *const one_names[] = {
    "stable_diffusion", "stable_cascade", "sd3", "stable_audio", "mochi",  "ltxv", "pixart",
    "cosmos",           "lumina2",        "wan", "hidream",      "chroma", "ace",  "omnigen2",
    "qwen_image",       "hunyuan_image",  NULL
};
static const int one_types[] = {
    NINO_CLIP_SD1, -1, NINO_CLIP_SD3, -1, -1, -1, -1, -1, -1, NINO_CLIP_WAN, -1, -1, -1, -1, -1, -1
};
static const char *const two_names[] = { "sdxl",    "sd3",           "flux", "hunyuan_video",
                                         "hidream", "hunyuan_image", NULL };
static const int two_types[] = { NINO_CLIP_SDXL, NINO_CLIP_SD3, NINO_CLIP_FLUX, -1, -1, -1 };
static const char *const devices[] = { "default", "cpu", NULL };

static nino_status clip_loader_check_type(const char *name, int type, nino_error *err)
{
    return type >= 0 ? NINO_OK
                     : nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "value", "type",
                                      "text encoders of the type %s are not supported yet", name);
}

static nino_status load_files(nino_run *r, const char *const *names, int n, int type,
                              nino_error *err)
{
    nino_weights *files[MAX_FILES] = { NULL };
    char all[128] = "";
    nino_status st = NINO_OK;
    for (int i = 0; i < n && !st; i++) {
        const size_t len = strlen(all);
        snprintf(all + len, sizeof(all) - len, "%s%s", i ? " + " : "", names[i]);
        st =
            nino_services_of(r->ctx)->open_model(r->ctx, "text_encoders", names[i], &files[i], err);
    }
    if (!st)
        st = clip_loader_set_clip(r, 0, files, n, (nino_clip_type) type, all,
                                  &(nino_load_how){ .keep = true }, err);
    for (int i = 0; i < n; i++)
        nino_weights_unref(&files[i]);
    return st;
}

static nino_status identify(nino_ctx *ctx, const char *const *names, int n, struct nino_hasher *h,
                            nino_error *err)
{
    nino_status st = NINO_OK;
    for (int i = 0; i < n && !st; i++)
        st = nino_services_of(ctx)->identity(ctx, "text_encoders", names[i], h, err);
    return st;
}

#define FILE_HELP "A file of models/text_encoders or models/clip; which encoder it is, is found out"
#define DEVICE_HELP "Accepted; text encoders run where everything runs"

static nino_status one_check(const nino_ctx *ctx, const void *params, nino_error *err)
{
    const clip_params *p = params;
    (void) ctx;
    return clip_loader_check_type(one_names[p->type], one_types[p->type], err);
}

static nino_status one_run(nino_run *r, nino_error *err)
{
    const clip_params *p = r->params;
    const nino_status st = one_check(r->ctx, p, err);
    return st ? st : load_files(r, &p->clip_name, 1, one_types[p->type], err);
}

static nino_status one_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                nino_error *err)
{
    return identify(ctx, &((const clip_params *) params)->clip_name, 1, h, err);
}

NINO_NODE(clip_loader, "CLIPLoader", "Load CLIP", "advanced/loaders",
          "Opens a text encoder: CLIP-L, CLIP-G, CLIP-H, T5 or UMT5",
          NINO_OUTPUTS(NINO_PORT(CLIP, CLIP)),
          NINO_PARAMS(
              clip_params,
              NINO_P_FILE(clip_params, clip_name, "text_encoders", .label = "Text encoder",
                          .help = FILE_HELP),
              NINO_P_ENUM(
                  clip_params, type, one_names, 0, .label = "Type",
                  .help = "What the encoder is for; stable_diffusion takes the usual of any file"),
              NINO_P_ENUM(clip_params, device, devices, 0, .label = "Device", .optional = true,
                          .is_inert = true, .help = DEVICE_HELP)),
          NINO_ALIASES({ .name = "CLIPLoaderGGUF" }),
          NINO_RUN(one_run, .identity = one_identity, .check = one_check));

static nino_status two_check(const nino_ctx *ctx, const void *params, nino_error *err)
{
    const dual_params *p = params;
    (void) ctx;
    return clip_loader_check_type(two_names[p->type], two_types[p->type], err);
}

static nino_status two_run(nino_run *r, nino_error *err)
{
    const dual_params *p = r->params;
    const char *const names[] = { p->clip_name1, p->clip_name2 };
    const nino_status st = two_check(r->ctx, p, err);
    return st ? st : load_files(r, names, 2, two_types[p->type], err);
}

static nino_status two_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                nino_error *err)
{
    const dual_params *p = params;
    return identify(ctx, (const char *const[]){ p->clip_name1, p->clip_name2 }, 2, h, err);
}

NINO_NODE(dual_clip_loader, "DualCLIPLoader", "DualCLIPLoader", "advanced/loaders",
          "Opens two text encoders that a model uses together; their order does not matter",
          NINO_OUTPUTS(NINO_PORT(CLIP, CLIP)),
          NINO_PARAMS(
              dual_params,
              NINO_P_FILE(dual_params, clip_name1, "text_encoders", .label = "Text encoder 1",
                          .help = FILE_HELP),
              NINO_P_FILE(dual_params, clip_name2, "text_encoders", .label = "Text encoder 2",
                          .help = FILE_HELP),
              NINO_P_ENUM(
                  dual_params, type, two_names, 0, .label = "Type",
                  .help = "What the encoders are for: sdxl CLIP-L and CLIP-G, flux CLIP-L and T5, "
                          "sd3 any two of the three"),
              NINO_P_ENUM(dual_params, device, devices, 0, .label = "Device", .optional = true,
                          .is_inert = true, .help = DEVICE_HELP)),
          NINO_ALIASES({ .name = "DualCLIPLoaderGGUF" }),
          NINO_RUN(two_run, .identity = two_identity, .check = two_check));

static nino_status three_run(nino_run *r, nino_error *err)
{
    const triple_params *p = r->params;
    const char *const names[] = { p->clip_name1, p->clip_name2, p->clip_name3 };
    return load_files(r, names, 3, NINO_CLIP_SD3, err);
}

static nino_status three_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                  nino_error *err)
{
    const triple_params *p = params;
    const char *const names[] = { p->clip_name1, p->clip_name2, p->clip_name3 };
    return identify(ctx, names, 3, h, err);
}

NINO_NODE(triple_clip_loader, "TripleCLIPLoader", "TripleCLIPLoader", "advanced/loaders",
          "Opens the three text encoders of SD3: CLIP-L, CLIP-G and T5, in any order",
          NINO_OUTPUTS(NINO_PORT(CLIP, CLIP)),
          NINO_PARAMS(triple_params,
                      NINO_P_FILE(triple_params, clip_name1, "text_encoders",
                                  .label = "Text encoder 1", .help = FILE_HELP),
                      NINO_P_FILE(triple_params, clip_name2, "text_encoders",
                                  .label = "Text encoder 2", .help = FILE_HELP),
                      NINO_P_FILE(triple_params, clip_name3, "text_encoders",
                                  .label = "Text encoder 3", .help = FILE_HELP)),
          NINO_ALIASES({ .name = "TripleCLIPLoaderGGUF" }),
          NINO_RUN(three_run, .identity = three_identity));
