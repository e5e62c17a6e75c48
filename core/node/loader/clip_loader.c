// Loaders of text encoders: separate files, one to three of them, and those of a checkpoint. What a
// CLIP value needs of the context (tokenizers, embeddings) is handed to it here.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/model/detect.h"
#include "core/node/util.h"

// How an extension spreads a model over several devices; here one has it all.
static const char *const multi_gpu[] = {
    "device",         "donor_device",   "virtual_vram_gb",
    "use_other_vram", "compute_device", "expert_mode_allocations",
    "eject_models",   "virtual_device", NULL
};

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

// Words of ComfyUI's lists, and what they stand for here; absent: not yet.
// clang-format off
enum { PIXART = 6, LUMINA2 = 8, WAN = 9, CHROMA = 11, QWEN_IMAGE = 14, FLUX2 = 16 };
static const char *const one_names[] = {
    "stable_diffusion", "stable_cascade", "sd3", "stable_audio", "mochi", "ltxv",
    [PIXART] = "pixart", "cosmos", [LUMINA2] = "lumina2", [WAN] = "wan", "hidream",
    [CHROMA] = "chroma", "ace", "omnigen2",
    [QWEN_IMAGE] = "qwen_image", "hunyuan_image", [FLUX2] = "flux2", "ovis", "longcat_image",
    "cogvideox", "lens", "pixeldit", "ideogram4", "boogu", "krea2", "joyimage", "mage", "minimax", NULL
};
// clang-format on
static int one_type(int64_t word)
{
    switch (word) {
    case 0: return NINO_CLIP_SD1;
    case 2: return NINO_CLIP_SD3;
    case PIXART:
    case CHROMA: return NINO_CLIP_CHROMA;
    case LUMINA2: return NINO_CLIP_Z_IMAGE;
    case WAN: return NINO_CLIP_WAN;
    case QWEN_IMAGE: return NINO_CLIP_QWEN_IMAGE;
    case FLUX2: return NINO_CLIP_KLEIN;
    default: return -1;
    }
}
static const char *const two_names[] = { "sdxl",
                                         "sd3",
                                         "flux",
                                         "hunyuan_video",
                                         "hidream",
                                         "hunyuan_image",
                                         "hunyuan_video_15",
                                         "kandinsky5",
                                         "kandinsky5_image",
                                         "ltxv",
                                         "newbie",
                                         "ace",
                                         NULL };
static const int two_types[] = {
    NINO_CLIP_SDXL, NINO_CLIP_SD3, NINO_CLIP_FLUX, -1, -1, -1, -1, -1, -1, -1, -1, -1
};
static const char *const devices[] = { "default", "cpu", NULL };

static nino_status clip_loader_check_type(const char *name, int type, nino_error *err)
{
    return type >= 0 ? NINO_OK
                     : nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "value", "type",
                                      "text encoders of the type %s are not supported yet", name);
}

// Length of a GGUF file's name without what tells its block type, "x-Q4_K_M.gguf", and its ending.
static size_t stem_len(const char *base)
{
    const char *dot = strrchr(base, '.'), *end = dot ? dot : base + strlen(base);
    for (const char *p = end; --p > base;) {
        const char *word = p + 1, *digit = strpbrk(word, "0123456789");
        const bool is_type = !strncasecmp(word, "q", 1) || !strncasecmp(word, "iq", 2) ||
                             !strncasecmp(word, "f16", 3) || !strncasecmp(word, "bf16", 4);
        if (!strchr("-_.", *p) || !is_type || !digit || digit > word + 2)
            continue;
        return (size_t) (p - base) - (p - base > 3 && !strncasecmp(p - 3, "-UD", 3) ? 3 : 0);
    }
    return (size_t) (end - base);
}

// The file beside a GGUF file that may have its vision network: called like it but for the block
// type, and "mmproj". malloc'd; NULL: there is none.
static char *find_mmproj(nino_ctx *ctx, const char *name)
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    const size_t folder = (size_t) (base - name), len = strlen(name);
    char *stem =
        len > 5 && !strcasecmp(name + len - 5, ".gguf") ? strndup(base, stem_len(base)) : NULL;
    char **all = stem ? nino_services_of(ctx)->list_models(ctx, "text_encoders") : NULL,
         *found = NULL;
    for (char **f = all; f && *f && !found; f++) {
        const char *other = *f + folder;
        if (!strncmp(*f, name, folder) && !strchr(other, '/') && strcasestr(other, "mmproj") &&
            strcasestr(other, stem) && strcmp(*f, name) != 0)
            found = strdup(*f);
    }
    free(stem);
    free(all);
    return found;
}

static bool holds(const nino_weights *file, const char *family)
{
    nino_detected d;
    nino_detect(file, &d);
    return !strcmp(d.text[0], family);
}

// *file: the vision network of the language model, where it lies beside it.
static nino_status open_mmproj(nino_ctx *ctx, const char *name, const nino_weights *model,
                               nino_weights **file, nino_error *err)
{
    char *mmproj = holds(model, "qwen25_vl") ? find_mmproj(ctx, name) : NULL;
    nino_status st = NINO_OK;
    if (mmproj)
        st = nino_services_of(ctx)->open_model(ctx, "text_encoders", mmproj, file, err);
    if (!st && *file && !holds(*file, "qwen25_vision"))
        nino_weights_unref(file);
    free(mmproj);
    return st;
}

static nino_status load_files(nino_run *r, const char *const *names, int n, int type,
                              nino_error *err)
{
    nino_weights *files[MAX_FILES + 1] = { NULL };
    char all[128] = "";
    nino_status st = NINO_OK;
    for (int i = 0; i < n && !st; i++) {
        const size_t len = strlen(all);
        snprintf(all + len, sizeof(all) - len, "%s%s", i ? " + " : "", names[i]);
        st =
            nino_services_of(r->ctx)->open_model(r->ctx, "text_encoders", names[i], &files[i], err);
    }
    if (!st && n == 1)
        st = open_mmproj(r->ctx, names[0], files[0], &files[1], err);
    n += files[n] != NULL;
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
    char *mmproj = n == 1 && !st ? find_mmproj(ctx, names[0]) : NULL;
    if (mmproj)
        st = nino_services_of(ctx)->identity(ctx, "text_encoders", mmproj, h, err);
    free(mmproj);
    return st;
}

#define FILE_HELP "A file of models/text_encoders or models/clip; which encoder it is, is found out"
#define DEVICE_HELP "Accepted; text encoders run where everything runs"

static nino_status one_check(const nino_ctx *ctx, const void *params, nino_error *err)
{
    const clip_params *p = params;
    (void) ctx;
    return clip_loader_check_type(one_names[p->type], one_type(p->type), err);
}

static nino_status one_run(nino_run *r, nino_error *err)
{
    const clip_params *p = r->params;
    const nino_status st = one_check(r->ctx, p, err);
    return st ? st : load_files(r, &p->clip_name, 1, one_type(p->type), err);
}

static nino_status one_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                nino_error *err)
{
    return identify(ctx, &((const clip_params *) params)->clip_name, 1, h, err);
}

NINO_NODE(clip_loader, "CLIPLoader", "Load CLIP", "advanced/loaders",
          "Opens a text encoder: CLIP-L, CLIP-G, CLIP-H, T5, UMT5, Qwen3, Qwen2.5-VL or Mistral",
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
          NINO_ALIASES({ .name = "CLIPLoaderMultiGPU", .ignored = multi_gpu },
                       { .name = "CLIPLoaderDisTorch2MultiGPU", .ignored = multi_gpu },
                       { .name = "ClipLoaderGGUF" }, { .name = "CLIPLoaderGGUF" }),
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
          NINO_ALIASES({ .name = "DualCLIPLoaderMultiGPU", .ignored = multi_gpu },
                       { .name = "DualCLIPLoaderDisTorch2MultiGPU", .ignored = multi_gpu },
                       { .name = "DualCLIPLoaderGGUF" }),
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
