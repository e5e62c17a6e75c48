// Text encoders from files: which file holds which encoder, and whether they make up the type that
// is asked for. Rules: ComfyUI sd.py, load_text_encoder_state_dicts().
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/model/detect.h"
#include "core/model/lora/lora.h"
#include "core/model/clip/text_encoder.h"

#define MAX_PARTS 8

typedef struct part { // an encoder inside a file
    nino_weights *file;
    nino_encoder_id id;
    char prefix[64];
    int64_t width;
} part;

typedef struct parts {
    part p[MAX_PARTS];
    int n;
    nino_weights *eyes; // a file with a language model's vision network
} parts;

#define BIT(id) (1u << NINO_ENC_##id)

// What a type is made of. SD3 runs with any of its encoders.
static const struct {
    const char *name;
    unsigned encoders;
    bool is_any;
} types[] = {
    [NINO_CLIP_SD1] = { "SD1", BIT(CLIP_L), false },
    [NINO_CLIP_SD2] = { "SD2", BIT(CLIP_H), false },
    [NINO_CLIP_SDXL] = { "SDXL", BIT(CLIP_L) | BIT(CLIP_G), false },
    [NINO_CLIP_SDXL_REFINER] = { "the SDXL refiner", BIT(CLIP_G), false },
    [NINO_CLIP_SD3] = { "SD3", BIT(CLIP_L) | BIT(CLIP_G) | BIT(T5), true },
    [NINO_CLIP_FLUX] = { "Flux", BIT(CLIP_L) | BIT(T5), false },
    [NINO_CLIP_WAN] = { "Wan", BIT(UMT5), false },
    [NINO_CLIP_T5] = { "T5", BIT(T5), false },
    [NINO_CLIP_CHROMA] = { "Chroma", BIT(T5), false },
    [NINO_CLIP_Z_IMAGE] = { "Z-Image", BIT(QWEN3), false },
    [NINO_CLIP_KLEIN] = { "FLUX.2", BIT(QWEN3) | BIT(MISTRAL3), true },
    [NINO_CLIP_FLUX2_DEV] = { "FLUX.2", BIT(MISTRAL3), false },
    [NINO_CLIP_QWEN_IMAGE] = { "Qwen-Image", BIT(QWEN25_VL), false },
};

static const char *list_encoders(char *buf, size_t size, unsigned encoders)
{
    buf[0] = 0;
    for (int i = 0; i < NINO_ENC_COUNT; i++)
        if (encoders >> i & 1) {
            const size_t len = strlen(buf);
            const bool is_last = encoders >> (i + 1) == 0;
            snprintf(buf + len, size - len, "%s%s",
                     !len      ? ""
                     : is_last ? " and "
                               : ", ",
                     nino_encoder_titles[i]);
        }
    return buf;
}

// ---- what the files hold ---------------------------------------------------------------------

static nino_encoder_id encoder_of(const char *family)
{
    int i = 0;
    while (i < NINO_ENC_COUNT && strcmp(family, nino_encoder_names[i]) != 0)
        i++;
    return (nino_encoder_id) i;
}

static int64_t width_of(const nino_weights *w, const char *prefix)
{
    static const char *const norms[] = { "text_model.final_layer_norm.weight",
                                         "final_layer_norm.weight", "ln_final.weight" };
    for (size_t i = 0; i < sizeof(norms) / sizeof(norms[0]); i++) {
        const nino_tensor_info *t = nino_weights_find(w, nino_name_of("%s%s", prefix, norms[i]).s);
        if (t && t->rank == 1)
            return t->dim[0];
    }
    const nino_tensor_info *rows =
        nino_weights_find(w, nino_name_of("%smodel.embed_tokens.weight", prefix).s);
    return rows && rows->rank == 2 ? rows->dim[1] : 0;
}

static nino_status fail_content(const nino_weights *file, const nino_detected *d, nino_error *err)
{
    const char *what = NULL;
    if (!strcmp(d->text[0], "clip_vision"))
        what = "an image encoder (CLIP vision)";
    else if (d->text[0][0])
        what = "a language model that this version cannot run";
    else if (d->is_lora)
        what = "a LoRA";
    else if (d->diffusion[0])
        what = "a diffusion model";
    else if (d->vae[0])
        what = "a VAE";
    return nino_fail_kind(err, d->text[0][0] ? NINO_ERR_UNSUPPORTED : NINO_ERR_FORMAT, "model",
                          nino_weights_path(file), "there is no text encoder in this file%s%s",
                          what ? ", it holds " : ": no tensor name of a known network",
                          what ? what : "");
}

static nino_status clip_load_find_parts(nino_weights *file, parts *out, nino_error *err)
{
    nino_detected d;
    const int before = out->n;
    nino_detect(file, &d);
    if (!strcmp(d.text[0], "qwen25_vision") && !out->eyes) {
        out->eyes = file;
        return NINO_OK;
    }
    for (int i = 0; i < 4 && d.text[i][0]; i++) {
        const nino_encoder_id id = encoder_of(d.text[i]);
        if (id == NINO_ENC_COUNT || out->n == MAX_PARTS)
            continue;
        part *p = &out->p[out->n++];
        *p = (part){ .file = file, .id = id, .width = width_of(file, d.text_prefix[i]) };
        snprintf(p->prefix, sizeof(p->prefix), "%s", d.text_prefix[i]);
    }
    return out->n > before ? NINO_OK : fail_content(file, &d, err);
}

// Small CLIPs all look like CLIP-L. Where CLIP-G is wanted too, it is the wider of two.
static void tell_clips_apart(parts *ps, nino_clip_type type)
{
    part *l[2] = { NULL, NULL };
    int n = 0;
    for (int i = 0; i < ps->n; i++) {
        if (ps->p[i].id == NINO_ENC_CLIP_G)
            return;
        if (ps->p[i].id == NINO_ENC_CLIP_L && n++ < 2)
            l[n - 1] = &ps->p[i];
    }
    if (n == 2 && types[type].encoders & BIT(CLIP_G) && l[0]->width != l[1]->width)
        l[l[0]->width > l[1]->width ? 0 : 1]->id = NINO_ENC_CLIP_G;
}

static unsigned encoders_of(const parts *ps)
{
    unsigned all = 0;
    for (int i = 0; i < ps->n; i++)
        all |= 1u << ps->p[i].id;
    return all;
}

// The type that a set of encoders is usually for; -1: none.
static int usual_type(unsigned encoders)
{
    static const nino_clip_type order[] = {
        NINO_CLIP_SD1,     NINO_CLIP_SD2,       NINO_CLIP_SDXL,       NINO_CLIP_SDXL_REFINER,
        NINO_CLIP_FLUX,    NINO_CLIP_WAN,       NINO_CLIP_T5,         NINO_CLIP_SD3,
        NINO_CLIP_Z_IMAGE, NINO_CLIP_FLUX2_DEV, NINO_CLIP_QWEN_IMAGE,
    };
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        if (types[order[i]].encoders == encoders)
            return (int) order[i];
    return -1;
}

#define KLEIN_WIDTH 4096 // of the Qwen3 that is klein's alone

// What a lone language model is for; the type that was asked for decides where it serves two.
static nino_clip_type llm_type(const part *p, nino_clip_type asked)
{
    if (p->id == NINO_ENC_MISTRAL3)
        return NINO_CLIP_FLUX2_DEV;
    if (p->id == NINO_ENC_QWEN25_VL)
        return NINO_CLIP_QWEN_IMAGE;
    const bool is_flux = asked == NINO_CLIP_KLEIN || asked == NINO_CLIP_FLUX;
    return is_flux || p->width >= KLEIN_WIDTH ? NINO_CLIP_KLEIN : NINO_CLIP_Z_IMAGE;
}

nino_status nino_clip_type_of_checkpoint(const nino_weights *file, nino_clip_type *type,
                                         nino_error *err)
{
    nino_detected d;
    unsigned all = 0;
    nino_detect(file, &d);
    for (int i = 0; i < 4 && d.text[i][0]; i++)
        all |= 1u << encoder_of(d.text[i]);
    all &= (1u << NINO_ENC_COUNT) - 1;
    if (!all)
        return nino_fail_kind(err, NINO_ERR_MISSING, "model", nino_weights_path(file),
                              "the file has no text encoder");
    const int usual = !strcmp(d.diffusion, "sd3")                          ? NINO_CLIP_SD3
                      : !strcmp(d.diffusion, "chroma") && all == BIT(T5)   ? NINO_CLIP_CHROMA
                      : !strcmp(d.diffusion, "flux2") && all == BIT(QWEN3) ? NINO_CLIP_KLEIN
                                                                           : usual_type(all);
    if (usual < 0) {
        char names[96];
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "model", nino_weights_path(file),
                              "its text encoders %s belong to no known model",
                              list_encoders(names, sizeof(names), all));
    }
    *type = (nino_clip_type) usual;
    return NINO_OK;
}

// ---- do they fit the type --------------------------------------------------------------------

static nino_status check_twice(const parts *ps, nino_error *err)
{
    for (int i = 0; i < ps->n; i++)
        for (int k = 0; k < i; k++)
            if (ps->p[i].id == ps->p[k].id)
                return nino_fail_kind(
                    err, NINO_ERR_FORMAT, "model", nino_weights_path(ps->p[i].file),
                    "it holds a %s, and so does %.100s", nino_encoder_titles[ps->p[i].id],
                    nino_weights_path(ps->p[k].file));
    return NINO_OK;
}

static nino_status clip_load_check_type(const parts *ps, nino_clip_type type, const char *name,
                                        nino_error *err)
{
    if (!ps->n || (ps->eyes && ps->p[0].id != NINO_ENC_QWEN25_VL))
        return nino_fail_kind(err, NINO_ERR_FORMAT, "model", nino_weights_path(ps->eyes),
                              "it holds the vision network of Qwen2.5-VL, which is opened beside "
                              "the language model");
    const unsigned have = encoders_of(ps), want = types[type].encoders;
    char names[96], lacking[96];
    list_encoders(names, sizeof(names), want);
    for (int i = 0; i < ps->n; i++)
        if (!(want >> ps->p[i].id & 1))
            return nino_fail_kind(err, NINO_ERR_FORMAT, "model", nino_weights_path(ps->p[i].file),
                                  "it holds a %s; the text encoder of %s is %s%s",
                                  nino_encoder_titles[ps->p[i].id], types[type].name,
                                  types[type].is_any ? "any of " : "", names);
    if (!types[type].is_any && want & ~have)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "model", name,
                              "the text encoder of %s is %s; no file holds a %s", types[type].name,
                              names, list_encoders(lacking, sizeof(lacking), want & ~have));
    return NINO_OK;
}

// ---- loading ---------------------------------------------------------------------------------

static void clip_load_destroy(nino_clip *c)
{
    for (int i = 0; i < NINO_ENC_COUNT; i++)
        nino_encoder_destroy(&c->enc[i]);
    nino_lora_stack_unref(&c->loras);
}

static nino_hash identity_of(nino_weights *const *files, int n, nino_clip_type type)
{
    nino_hash id[MAX_PARTS + 1] = { { .lo = (uint64_t) type } };
    for (int i = 0; i < n; i++)
        id[i + 1] = nino_weights_identity(files[i]);
    return nino_hash_bytes(id, sizeof(id[0]) * (size_t) (n + 1));
}

nino_status nino_clip_load(nino_weights *const *files, int n, nino_clip_type type,
                           const nino_text_services *services, const char *name, nino_clip **out,
                           nino_error *err)
{
    parts ps = { .n = 0 };
    const nino_clip_type asked = type;
    nino_status st = NINO_OK;
    *out = NULL;
    if (n < 1 || n > MAX_PARTS)
        return nino_fail(err, NINO_ERR_ARG, name, "%d files for one text encoder", n);
    for (int i = 0; i < n && !st; i++)
        st = clip_load_find_parts(files[i], &ps, err);
    if (st)
        return st;
    tell_clips_apart(&ps, type);
    const int usual = usual_type(encoders_of(&ps));
    if (type == NINO_CLIP_SD1 && ps.n == 1 && usual >= 0)
        type = (nino_clip_type) usual;
    if (ps.n == 1 && ps.p[0].id >= NINO_ENC_QWEN3)
        type = llm_type(&ps.p[0], asked);
    if ((st = check_twice(&ps, err)) || (st = clip_load_check_type(&ps, type, name, err)))
        return st;
    nino_clip *c = calloc(1, sizeof(*c));
    if (!c)
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    c->refs = 1;
    c->type = type;
    c->destroy = clip_load_destroy;
    c->identity = identity_of(files, n, type);
    if (services)
        c->services = *services;
    snprintf(c->name, sizeof(c->name), "%s", name ? name : nino_weights_path(files[0]));
    for (int i = 0; i < ps.n && !st; i++) {
        const part *p = &ps.p[i];
        st = nino_encoder_load(p->id, p->file, p->prefix, ps.eyes, &c->enc[p->id], err);
        c->weight_bytes += st ? 0 : c->enc[p->id]->weight_bytes;
    }
    if (!st && nino_clip_is_llm(type))
        st = nino_clip_check_llm(c, err);
    if (st)
        nino_clip_unref(&c);
    *out = c;
    return st;
}
