// IPAdapterModelLoader, IPAdapterUnifiedLoader. Behaviour of the classes of these names in
// ComfyUI_IPAdapter_plus.
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/node/util.h"

// *out: a new reference to the adapter of a file, which other nodes share.
static nino_status open_adapter(nino_run *r, const char *name, nino_ip_adapter **out,
                                nino_error *err)
{
    const nino_services *sv = nino_services_of(r->ctx);
    nino_weights *file = NULL;
    nino_status st = sv->open_model(r->ctx, "ipadapter", name, &file, err);
    if (st)
        return st;
    const nino_hash id = nino_weights_identity(file), key = nino_hash_bytes(&id, sizeof(id));
    nino_value *kept = sv->find_object(r->ctx, NINO_PORT_IPADAPTER, key);
    if (kept) {
        *out = nino_ip_adapter_ref(kept->u.ip.adapter);
    } else if (!(st = nino_ip_adapter_load(file, name, out, err)) &&
               (kept = nino_value_create(NINO_PORT_IPADAPTER))) {
        kept->u.ip.adapter = nino_ip_adapter_ref(*out);
        sv->keep_object(r->ctx, key, kept);
    }
    nino_value_unref(&kept);
    nino_weights_unref(&file);
    return st;
}

typedef struct ip_loader_params {
    const char *ipadapter_file;
} ip_loader_params;

static nino_status ip_loader_run(nino_run *r, nino_error *err)
{
    nino_ip_value ip = { NULL };
    const nino_status st =
        open_adapter(r, ((const ip_loader_params *) r->params)->ipadapter_file, &ip.adapter, err);
    return st ? st : nino_out_ip_adapter(r, 0, ip, err);
}

static nino_status ip_loader_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                      nino_error *err)
{
    return nino_services_of(ctx)->identity(
        ctx, "ipadapter", ((const ip_loader_params *) params)->ipadapter_file, h, err);
}

NINO_NODE(ip_loader, "IPAdapterModelLoader", "IPAdapter Model Loader", "ipadapter/loaders",
          "Opens an IP-Adapter of SD1 or SDXL: plain, plus, plus-face or full-face",
          NINO_OUTPUTS(NINO_PORT(IPADAPTER, IPADAPTER)),
          NINO_PARAMS(ip_loader_params,
                      NINO_P_FILE(ip_loader_params, ipadapter_file, "ipadapter",
                                  .label = "IP-Adapter", .help = "A file of models/ipadapter")),
          NINO_RUN(ip_loader_run, .identity = ip_loader_identity));

// ---- IPAdapterUnifiedLoader ------------------------------------------------------------------

// Whether a name has `pattern` somewhere: '.' is any character, '*' any number of them, a trailing
// '$' the end of the name behind ".safetensors" or ".bin".
static bool matches_here(const char *name, const char *pattern)
{
    for (; *pattern; pattern++, name++) {
        if (*pattern == '$')
            return !strcasecmp(name, ".safetensors") || !strcasecmp(name, ".bin");
        if (*pattern == '*') {
            for (; *name; name++)
                if (matches_here(name, pattern + 1))
                    return true;
            return matches_here(name, pattern + 1);
        }
        if (!*name || (*pattern != '.' && strncasecmp(pattern, name, 1) != 0))
            return false;
    }
    return true;
}

static bool matches(const char *name, const char *pattern)
{
    for (; *name; name++)
        if (matches_here(name, pattern))
            return true;
    return false;
}

typedef struct preset {
    const char *sd15[2], *sdxl; // of the adapter's name; NULL: there is none
    bool is_big;                // it belongs to ViT-bigG, not to ViT-H
} preset;

static const char *const preset_names[] = { "LIGHT - SD1.5 only (low strength)",
                                            "STANDARD (medium strength)",
                                            "VIT-G (medium strength)",
                                            "PLUS (high strength)",
                                            "PLUS FACE (portraits)",
                                            "FULL FACE - SD1.5 only (portraits stronger)",
                                            NULL };
static const preset presets[] = {
    { .sd15 = { "sd15.light.v11$", "sd15.light$" } },
    { .sd15 = { "ip.adapter.sd15$" }, .sdxl = "ip.adapter.sdxl.vit.h$" },
    { .sd15 = { "sd15.vit.g$" }, .sdxl = "ip.adapter.sdxl$", .is_big = true },
    { .sd15 = { "ip.adapter.plus.sd15$" }, .sdxl = "plus.sdxl.vit.h$" },
    { .sd15 = { "plus.face.sd15$" }, .sdxl = "plus.face.sdxl.vit.h$" },
    { .sd15 = { "full.face.sd15$" } },
};
static const char *const vision_small[] = { "vit.h.14.*s32b.b79k", "ipadapter*sd15", "sd1*5*model$",
                                            NULL };
static const char *const vision_big[] = { "vit.bigg.14.*39b.b160k", "ipadapter*sdxl", "sdxl*model$",
                                          NULL };

// The first file of a folder that has one of the patterns; malloc'd, NULL: none.
static char *find_file(nino_ctx *ctx, const char *kind, const char *const *pattern, int n)
{
    char **names = nino_services_of(ctx)->list_models(ctx, kind), *found = NULL;
    for (int k = 0; k < n && pattern[k] && !found; k++)
        for (char **name = names; name && *name && !found; name++)
            if (matches(*name, pattern[k]))
                found = strdup(*name);
    free(names);
    return found;
}

typedef struct unified_params {
    int64_t preset;
} unified_params;

static nino_status no_file(const char *kind, const char *what, const char *pattern, nino_error *err)
{
    return nino_fail_kind(err, NINO_ERR_MISSING, "missing_file", "preset",
                          "no %s in models/%s whose name has \"%.*s\"", what, kind,
                          (int) strcspn(pattern, "$"), pattern);
}

// The vision network that belongs to it, as CLIPVisionLoader opens it.
static nino_status open_vision(nino_run *r, const char *name, nino_clip_vision **out,
                               nino_error *err)
{
    const nino_services *sv = nino_services_of(r->ctx);
    nino_weights *file = NULL;
    nino_status st = sv->open_model(r->ctx, "clip_vision", name, &file, err);
    if (st)
        return st;
    const nino_hash id = nino_weights_identity(file), key = nino_hash_bytes(&id, sizeof(id));
    nino_value *kept = sv->find_object(r->ctx, NINO_PORT_CLIP_VISION, key);
    if (kept) {
        *out = nino_clip_vision_ref(kept->u.clip_vision);
    } else if (!(st = nino_clip_vision_load(file, "", name, out, err)) &&
               (kept = nino_value_create(NINO_PORT_CLIP_VISION))) {
        kept->u.clip_vision = nino_clip_vision_ref(*out);
        sv->keep_object(r->ctx, key, kept);
    }
    nino_value_unref(&kept);
    nino_weights_unref(&file);
    return st;
}

static nino_status unified_run(nino_run *r, nino_error *err)
{
    const preset *p = &presets[((const unified_params *) r->params)->preset];
    const nino_model *m = nino_need_model(r, 0, err);
    if (!m)
        return NINO_ERR_UNSUPPORTED;
    const bool is_xl = !strncmp(m->net->family, "sdxl", 4);
    const char *const *pattern = is_xl ? &p->sdxl : p->sd15;
    const char *const *vision = p->is_big ? vision_big : vision_small;
    if (!pattern[0])
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "value", "preset",
                              "there is no such IP-Adapter for SDXL");
    char *file = find_file(r->ctx, "ipadapter", pattern, is_xl ? 1 : 2);
    char *eye = find_file(r->ctx, "clip_vision", vision, 3);
    nino_ip_value ip = { NULL };
    nino_status st = !file  ? no_file("ipadapter", "IP-Adapter", pattern[0], err)
                     : !eye ? no_file("clip_vision", "vision network", vision[0], err)
                            : open_adapter(r, file, &ip.adapter, err);
    if (!st)
        st = open_vision(r, eye, &ip.vision, err);
    free(file);
    free(eye);
    if (st) {
        nino_ip_adapter_unref(&ip.adapter);
        return st;
    }
    st = nino_out_model(r, 0, nino_model_ref(nino_in_model(r, 0)), err);
    if (!st)
        return nino_out_ip_adapter(r, 1, ip, err);
    nino_ip_adapter_unref(&ip.adapter);
    nino_clip_vision_unref(&ip.vision);
    return st;
}

// Whatever the model is: files of both kinds decide.
static nino_status unified_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                    nino_error *err)
{
    const preset *p = &presets[((const unified_params *) params)->preset];
    char *file[3] = { find_file(ctx, "ipadapter", p->sd15, 2),
                      p->sdxl ? find_file(ctx, "ipadapter", &p->sdxl, 1) : NULL,
                      find_file(ctx, "clip_vision", p->is_big ? vision_big : vision_small, 3) };
    nino_status st = NINO_OK;
    for (int i = 0; i < 3; i++) {
        if (file[i] && !st)
            st = nino_services_of(ctx)->identity(ctx, i < 2 ? "ipadapter" : "clip_vision", file[i],
                                                 h, err);
        free(file[i]);
    }
    return st;
}

NINO_NODE(ip_unified, "IPAdapterUnifiedLoader", "IPAdapter Unified Loader", "ipadapter",
          "Finds the IP-Adapter and the vision network of a preset by the names of their files",
          NINO_INPUTS(NINO_PORT(model, MODEL),
                      NINO_PORT(ipadapter, IPADAPTER, .optional = true,
                                .help = "Of another such loader; files are shared anyway")),
          NINO_OUTPUTS(NINO_PORT(model, MODEL), NINO_PORT(ipadapter, IPADAPTER)),
          NINO_PARAMS(unified_params,
                      NINO_P_ENUM(unified_params, preset, preset_names, 0, .label = "Preset",
                                  .help = "Which kind; SD1 or SDXL as the model is")),
          NINO_RUN(unified_run, .identity = unified_identity));
