// Networks whose results are known in a formula, for tests of what cuts pictures and clips into tiles: every
// pixel depends on its own cell alone, and on which call of the network it is, so that sums of tiles show
// their weights. They have weights and maps of their own, for plans to count.
#pragma once
#include "core/model/upscale/upscale.h"
#include "core/model/vae/vae.h"
#include "core/op/backend.h"
#include "core/op/plan/plan.h"
#include "tests/test.h"

enum { PW_HIDDEN = 32, PW_LAYERS = 6, PW_CHANNELS = 4, PW_TIME = 2 };
#ifndef PW_FACTOR
#define PW_FACTOR 2 // pixels of a cell's side
#endif
#define PW_SHARE 0.5     // of the cell's value
#define PW_EACH 0.015625 // that each call adds

typedef struct pw_net {
    nino_linear in[2], out[2], layer[PW_LAYERS]; // of channels 3 and PW_CHANNELS
    int calls;
} pw_net;

static pw_net pw;

// Channel k of the result is channel k % c of the source.
static inline nino_linear pw_copy(int64_t n, int64_t c)
{
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(n, c));
    CHECK(a);
    for (int64_t i = 0; i < n * c; i++)
        nino_array_f32(a)[i] = i / c % c == i % c ? 1 : 0;
    const nino_linear l = { .w = nino_weight_from_array(a, NINO_W_MATRIX) };
    CHECK(l.w);
    nino_array_unref(&a);
    return l;
}

static inline void pw_make(void)
{
    for (int i = 0; i < 2; i++) {
        pw.in[i] = pw_copy(PW_HIDDEN, i ? PW_CHANNELS : 3);
        pw.out[i] = pw_copy(i ? PW_CHANNELS : 3, PW_HIDDEN);
    }
    for (int i = 0; i < PW_LAYERS; i++)
        pw.layer[i] = pw_copy(PW_HIDDEN, PW_HIDDEN);
}

static inline void pw_release(void)
{
    for (int i = 0; i < 2; i++) {
        nino_linear_release(&pw.in[i]);
        nino_linear_release(&pw.out[i]);
    }
    for (int i = 0; i < PW_LAYERS; i++)
        nino_linear_release(&pw.layer[i]);
}

// [N,h,w,c] -> [N,h * up,w * up,3] or, up < 1, half the sides and PW_CHANNELS.
static inline nino_tensor *pw_run(nino_stream *s, nino_tensor *x, bool is_down, int up)
{
    const int64_t h = nino_dim(x, 1), w = nino_dim(x, 2), c = nino_dim(x, 3);
    x = nino_linear_op(s, x, &pw.in[c != 3]);
    for (int i = 0; i < PW_LAYERS; i++)
        x = nino_linear_op(s, x, &pw.layer[i]);
    if (is_down)
        x = nino_resample(s, x, h / PW_FACTOR, w / PW_FACTOR, NINO_FILTER_AREA);
    else
        x = nino_resample(s, x, h * up, w * up, NINO_FILTER_NEAREST);
    x = nino_linear_op(s, x, &pw.out[is_down]);
    return nino_scale(s, x, (float) PW_SHARE, (float) (PW_EACH * pw.calls++));
}

static inline nino_tensor *pw_decode(nino_stream *s, const nino_vae *v, nino_tensor *z)
{
    (void) v;
    return pw_run(s, z, false, PW_FACTOR);
}

static inline nino_tensor *pw_encode(nino_stream *s, const nino_vae *v, nino_tensor *pixels)
{
    (void) v;
    return pw_run(s, pixels, true, 1);
}

// Bands one after the other; a map of the whole waits on the device, or on the host.
static inline void pw_decode_bands(nino_stream *s, const nino_vae *v, nino_tensor *z,
                                   const nino_vae_bands *how)
{
    const int64_t h = nino_dim(z, 1), step = how->rows / v->factor;
    nino_tensor *map = how->on_host ? NULL : nino_linear_op(s, nino_ref(z), &pw.in[1]);
    for (int64_t y = 0; y < h; y += step) {
        const int64_t n = h - y < step ? h - y : step;
        nino_tensor *rows = pw_run(s, nino_slice(s, nino_ref(z), 1, y, n), false, PW_FACTOR);
        how->put(how->priv, y * v->factor, rows);
    }
    nino_unref(map);
    nino_unref(z);
}

// Frames of T latent frames: one of the clip's first, PW_TIME of each other one.
static inline nino_tensor *pw_frames(nino_stream *s, nino_tensor *x, bool has_first)
{
    nino_tensor *out = NULL;
    for (int64_t i = 0; i < nino_dim(x, 0); i++)
        for (int k = 0; k < (i || !has_first ? PW_TIME : 1); k++) {
            nino_tensor *one = nino_slice(s, nino_ref(x), 0, i, 1);
            out = out ? nino_concat(s, out, one, 0) : one;
        }
    nino_unref(x);
    return out;
}

static inline void pw_keep(nino_stream *s, nino_vae_clip *c, nino_tensor *x)
{
    nino_unref(c->slot[0]);
    c->slot[0] = nino_slice(s, nino_ref(x), 0, nino_dim(x, 0) - 1, 1);
}

static inline nino_tensor *pw_decode_next(nino_stream *s, nino_vae_clip *c, nino_tensor *z)
{
    pw_keep(s, c, z);
    return pw_frames(s, pw_run(s, z, false, PW_FACTOR), c->is_first);
}

// A latent frame is the mean of nothing but its last frame.
static inline nino_tensor *pw_encode_next(nino_stream *s, nino_vae_clip *c, nino_tensor *x)
{
    nino_tensor *out = NULL;
    const int64_t n = nino_dim(x, 0);
    pw_keep(s, c, x);
    for (int64_t i = c->is_first ? 0 : PW_TIME - 1; i < n; i += PW_TIME) {
        nino_tensor *one = nino_slice(s, nino_ref(x), 0, i, 1);
        out = out ? nino_concat(s, out, one, 0) : one;
    }
    nino_unref(x);
    return pw_run(s, out, true, 1);
}

static inline nino_tensor *pw_decode_clip(nino_stream *s, const nino_vae *v, nino_tensor *z)
{
    (void) v;
    return pw_frames(s, pw_run(s, z, false, PW_FACTOR), true);
}

static inline nino_tensor *pw_upscale(nino_stream *s, const nino_upscale *u, nino_tensor *x)
{
    return pw_run(s, x, false, u->scale);
}

typedef enum pw_kind { PW_PICTURE, PW_CAUSAL, PW_CHUNKS } pw_kind;

static inline nino_vae pw_vae(pw_kind kind)
{
    nino_vae v = { .family = "pointwise",
                   .name = "pointwise",
                   .channels = PW_CHANNELS,
                   .factor = PW_FACTOR,
                   .time_factor = kind == PW_PICTURE ? 1 : PW_TIME,
                   .time_radius = -1,
                   .has_encoder = true,
                   .has_decoder = true,
                   .identity = { .lo = 1 + (uint64_t) kind },
                   .decode = pw_decode,
                   .encode = pw_encode,
                   .refs = 1 };
    if (kind == PW_PICTURE)
        v.decode_bands = pw_decode_bands;
    if (kind == PW_CAUSAL) {
        v.decode_next = pw_decode_next;
        v.encode_next = pw_encode_next;
    }
    if (kind == PW_CHUNKS)
        v.decode_clip = pw_decode_clip;
    return v;
}
