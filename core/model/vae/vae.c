// Choosing the network of a VAE file, and the reference counting all VAEs share.
#include "core/model/vae/vae.h"
#include "core/base/error.h"
#include "core/model/detect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_vae_one_of(const char *s, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(s, *list))
            return true;
    return false;
}

nino_status nino_vae_load(nino_weights *file, const char *name, nino_vae **out, nino_error *err)
{
    static const char *const tiny[] = { "taesd", "taef1", "taef2", NULL };
    static const char *const kl[] = { "sd1", "sdxl", "sd3", "flux", "flux2", "sd_x4", "kl", NULL };
    const char *path = nino_weights_path(file);
    static const char *const wan[] = { "wan21", "wan22", NULL };
    nino_detected d;
    nino_status st;
    *out = NULL;
    nino_detect(file, &d);
    if (is_vae_one_of(d.vae, tiny))
        st = nino_vae_tiny_load(file, file, NULL, out, err);
    else if (is_vae_one_of(d.vae, kl))
        st = nino_vae_kl_load(file, d.vae_prefix, out, err);
    else if (is_vae_one_of(d.vae, wan))
        st = nino_vae_wan_load(file, d.vae_prefix, out, err);
    else if (!strcmp(d.vae, "taehv"))
        st = nino_vae_taehv_load(file, d.vae_prefix, out, err);
    else if (d.vae[0])
        st = nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "model", path,
                            "its VAE is of the %s family, which this version cannot run", d.vae);
    else if (d.diffusion[0] || d.text[0][0] || d.is_lora)
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "model", path,
                            "there is no VAE in this file, it holds %s",
                            d.is_lora        ? "a LoRA"
                            : d.diffusion[0] ? "a diffusion model"
                                             : "a text encoder");
    else
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "model", path,
                            "there is no VAE in this file: no tensor name of a known network");
    if (!st)
        snprintf((*out)->name, sizeof((*out)->name), "%s", name ? name : path);
    return st;
}

void nino_vae_clip_begin(nino_vae_clip *c, const nino_vae *v, bool is_decode)
{
    *c = (nino_vae_clip){ .v = v, .is_decode = is_decode, .is_first = true };
}

nino_tensor *nino_vae_clip_next(nino_stream *s, nino_vae_clip *c, nino_tensor *piece)
{
    c->at = 0;
    piece = (c->is_decode ? c->v->decode_next : c->v->encode_next)(s, c, piece);
    c->is_first = false;
    return piece;
}

uint64_t nino_vae_clip_bytes(const nino_vae_clip *c)
{
    uint64_t bytes = 0;
    for (int i = 0; i < NINO_CLIP_SLOTS; i++)
        if (c->slot[i])
            bytes += (uint64_t) nino_shape_count(nino_shape_of(c->slot[i])) *
                     nino_dtype_size(nino_dtype_of(c->slot[i]));
    return bytes;
}

void nino_vae_clip_end(nino_vae_clip *c)
{
    for (int i = 0; i < NINO_CLIP_SLOTS; i++) {
        nino_unref(c->slot[i]);
        c->slot[i] = NULL;
    }
}

typedef nino_tensor *(*vae_half)(nino_stream *s, const nino_vae *v, nino_tensor *x);

static nino_tensor *as_alone(nino_stream *s, const nino_vae *v, vae_half run, nino_tensor *x)
{
    nino_stream_set_part(s, x ? nino_dim(x, 0) : 0, x ? 1 : 0);
    x = run(s, v, x);
    nino_stream_set_part(s, 0, 0);
    return x;
}

nino_tensor *nino_vae_decode(nino_stream *s, const nino_vae *v, nino_tensor *z)
{
    return as_alone(s, v, v->decode, z);
}

nino_tensor *nino_vae_encode(nino_stream *s, const nino_vae *v, nino_tensor *pixels)
{
    return as_alone(s, v, v->encode, pixels);
}

static nino_tensor *each_image(nino_stream *s, const nino_vae *v, bool is_decode, nino_tensor *x)
{
    nino_tensor *out = NULL;
    const int64_t n = nino_dim(x, 0);
    for (int64_t i = 0; i < n; i++) {
        nino_vae_clip c;
        nino_vae_clip_begin(&c, v, is_decode);
        nino_tensor *y = nino_vae_clip_next(s, &c, nino_slice(s, nino_ref(x), 0, i, 1));
        nino_vae_clip_end(&c);
        out = i ? nino_concat(s, out, y, 0) : y;
    }
    nino_unref(x);
    return out;
}

nino_tensor *nino_vae_decode_each(nino_stream *s, const nino_vae *v, nino_tensor *z)
{
    return each_image(s, v, true, z);
}

nino_tensor *nino_vae_encode_each(nino_stream *s, const nino_vae *v, nino_tensor *pixels)
{
    return each_image(s, v, false, pixels);
}

nino_vae *nino_vae_ref(nino_vae *v)
{
    if (v)
        __atomic_add_fetch(&v->refs, 1, __ATOMIC_RELAXED);
    return v;
}

void nino_vae_unref(nino_vae **v)
{
    if (*v && __atomic_sub_fetch(&(*v)->refs, 1, __ATOMIC_ACQ_REL) == 0) {
        nino_layers_release(&(*v)->layers);
        free(*v);
    }
    *v = NULL;
}

// ---- for the loaders of networks -------------------------------------------------------------
nino_vae *nino_vae_create(nino_vae_kind kind, size_t size, const char *where, nino_error *err)
{
    nino_vae *v = calloc(1, sizeof(*v));
    if (v) {
        *v = (nino_vae){ .kind = kind, .refs = 1, .time_factor = 1, .scale = 1 };
        v->net = nino_layers_alloc(&v->layers, 1, size);
    }
    if (!v || !v->net) {
        nino_fail(err, NINO_ERR_NOMEM, where, "no memory for its layers");
        nino_vae_unref(&v);
    }
    return v;
}

void nino_vae_set_file(nino_vae *v, nino_weights *file, const char *prefix)
{
    v->weight_bytes = nino_weights_bytes(file, prefix);
    v->identity = nino_weights_identity(file);
    snprintf(v->name, sizeof(v->name), "%s", nino_weights_path(file));
}

const char *nino_vae_halves(const nino_vae *v)
{
    return !v->has_encoder ? ", decoder only" : !v->has_decoder ? ", encoder only" : "";
}
