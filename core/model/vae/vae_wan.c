// The causal video VAEs of Wan 2.1 and 2.2, run a piece of a clip at a time. Every convolution in
// time keeps the last frames it has seen, so that pieces of any length give the bits of the whole
// clip, and memory does not depend on the clip's length.
// Sources: Wan-Video/Wan2.1 wan/modules/vae.py, Wan-Video/Wan2.2 wan/modules/vae2_2.py.
#include "core/model/vae/vae_wan.h"

#include <stdio.h>

// ---- what is kept from piece to piece --------------------------------------------------------

// The last two of the frames `before` and x, in memory of their own. Consumes both.
static nino_tensor *last_two(nino_stream *s, nino_tensor *before, nino_tensor *x)
{
    const int64_t t = nino_dim(x, 0), n = nino_dim(before, 0);
    if (t > 1) {
        nino_unref(before);
        if (t == 2)
            return x;
        nino_tensor *a = nino_slice(s, nino_ref(x), 0, t - 2, 1);
        return nino_concat(s, a, nino_slice(s, x, 0, t - 1, 1), 0);
    }
    return n ? nino_concat(s, nino_slice(s, before, 0, n - 1, 1), x, 0) : x;
}

static nino_tensor **next_slot(nino_stream *s, nino_vae_clip *c)
{
    static nino_tensor *none;
    if (c->at < NINO_CLIP_SLOTS)
        return &c->slot[c->at++];
    nino_stream_fail(s, NINO_ERR_UNSUPPORTED, c->v->name, "the network has too many layers");
    return &none;
}

// A convolution over time that has seen the frames before x, zeros before the first.
static nino_tensor *causal(nino_stream *s, nino_vae_clip *c, const nino_conv *w, nino_tensor *x,
                           nino_tensor *residual)
{
    nino_tensor **slot = next_slot(s, c), *before = *slot, *seen = nino_ref(x);
    nino_tensor *older = nino_dim(x, 0) == 1 ? nino_ref(before) : NULL;
    x = nino_conv3d(s, x, w, before, 2 - (int) nino_dim(before, 0), 1, residual);
    *slot = last_two(s, older, seen);
    return x;
}

// ---- layers ----------------------------------------------------------------------------------

static nino_tensor *vae_wan_run_res(nino_stream *s, nino_vae_clip *c, const wan_res *w,
                                    nino_tensor *x)
{
    nino_tensor *skip = w->shortcut.w ? nino_conv2d(s, nino_ref(x), &w->shortcut) : nino_ref(x);
    x = nino_rms_norm_act(s, x, &w->norm1, NINO_ACT_SILU);
    x = causal(s, c, &w->conv1, x, NULL);
    x = nino_rms_norm_act(s, x, &w->norm2, NINO_ACT_SILU);
    return causal(s, c, &w->conv2, x, skip);
}

// Each frame by itself: one head over its positions.
static nino_tensor *vae_wan_run_attn(nino_stream *s, const wan_attn *w, nino_tensor *x)
{
    const nino_shape shape = *nino_shape_of(x);
    const nino_shape rows = NINO_SHAPE(shape.dim[0], shape.dim[1] * shape.dim[2], shape.dim[3]);
    nino_tensor *t = nino_rms_norm(s, nino_ref(x), &w->norm);
    nino_tensor *q = nino_reshape(s, nino_conv2d(s, nino_ref(t), &w->q), rows);
    nino_tensor *k = nino_reshape(s, nino_conv2d(s, nino_ref(t), &w->k), rows);
    nino_tensor *v = nino_reshape(s, nino_conv2d(s, t, &w->v), rows);
    t = nino_reshape(s, nino_attention(s, q, k, v, 1, 0), shape);
    return nino_conv2d_add(s, t, &w->proj, x);
}

// Twice the frames: the clip's first stays one, each of the others becomes two, which the
// convolution gives as halves of its channels. It has not seen the first one.
static nino_tensor *double_frames(nino_stream *s, nino_vae_clip *c, const nino_conv *w,
                                  nino_tensor *x)
{
    nino_tensor *first = NULL;
    const int64_t *d = nino_shape_of(x)->dim, t = d[0] - c->is_first, h = d[1], width = d[2];
    const int64_t n = d[3];
    if (c->is_first && t < 1) {
        c->at++; // its slot
        return x;
    }
    if (c->is_first) {
        first = nino_slice(s, nino_ref(x), 0, 0, 1);
        x = nino_slice(s, x, 0, 1, t);
    }
    x = causal(s, c, w, x, NULL);
    x = nino_reshape(s, x, NINO_SHAPE(t, h * width, 2, n));
    x = nino_permute(s, x, (const int[]){ 0, 2, 1, 3 });
    x = nino_reshape(s, x, NINO_SHAPE(2 * t, h, width, n));
    return first ? nino_concat(s, first, x, 0) : x;
}

// Half the frames: the clip's first stays, then every second window of three.
static nino_tensor *halve_frames(nino_stream *s, nino_vae_clip *c, const nino_conv *w,
                                 nino_tensor *x)
{
    nino_tensor **slot = next_slot(s, c), *before = *slot, *first = NULL;
    const int64_t t = nino_dim(x, 0);
    *slot = nino_slice(s, nino_ref(x), 0, t - 1, 1);
    if (c->is_first && t == 1)
        return x;
    if (c->is_first)
        first = nino_slice(s, nino_ref(x), 0, 0, 1);
    x = nino_conv3d(s, x, w, before, 0, 2, NULL);
    return first ? nino_concat(s, first, x, 0) : x;
}

// The blocks of a group and the change of resolution after them; in Wan 2.2 the group's input takes
// a way around them, its values moved between channels, time and space.
static nino_tensor *run_group(nino_stream *s, nino_vae_clip *c, const wan_group *g, int i,
                              nino_tensor *x)
{
    const bool is_decode = c->is_decode;
    nino_tensor *skip = g->has_shortcut ? nino_ref(x) : NULL;
    char name[32];
    snprintf(name, sizeof(name), is_decode ? "decoder.up.%d" : "encoder.down.%d", i);
    nino_scope_begin(s, NINO_EV_STAGE, name, 0, 0);
    for (int b = 0; b < g->n_res; b++)
        x = vae_wan_run_res(s, c, &g->res[b], x);
    const int ft = g->sample.time.w ? 2 : 1, fs = g->sample.conv.w ? 2 : 1;
    if (ft > 1 && is_decode)
        x = double_frames(s, c, &g->sample.time, x);
    if (fs > 1)
        x = nino_conv2d(s, x, &g->sample.conv);
    if (ft > 1 && !is_decode)
        x = halve_frames(s, c, &g->sample.time, x);
    if (skip) {
        const int start = !c->is_first ? 0 : is_decode ? ft - 1 : (int) (nino_dim(skip, 0) % ft);
        x = nino_shuffle(s, skip, is_decode, ft, fs, start, g->width, x);
    }
    nino_scope_end(s);
    return x;
}

static nino_tensor *vae_wan_run_mid(nino_stream *s, nino_vae_clip *c, const wan_half *h,
                                    nino_tensor *x)
{
    nino_scope_begin(s, NINO_EV_STAGE, c->is_decode ? "decoder.mid" : "encoder.mid", 0, 0);
    x = vae_wan_run_res(s, c, &h->mid1, x);
    x = vae_wan_run_attn(s, &h->attn, x);
    x = vae_wan_run_res(s, c, &h->mid2, x);
    nino_scope_end(s);
    return x;
}

// ---- a piece of a clip -----------------------------------------------------------------------

// [T,H,W,3 p p] -> [T,H p,W p,3]; channels are (colour, column, row).
static nino_tensor *unfold_pixels(nino_stream *s, nino_tensor *x, int64_t p)
{
    const int64_t t = nino_dim(x, 0), h = nino_dim(x, 1), w = nino_dim(x, 2);
    if (p == 1)
        return x;
    x = nino_reshape(s, x, NINO_SHAPE(t * h, w, nino_dim(x, 3) / (p * p), p, p));
    x = nino_permute(s, x, (const int[]){ 0, 4, 1, 3, 2 });
    return nino_reshape(s, x, NINO_SHAPE(t, h * p, w * p, nino_dim(x, 4)));
}

static nino_tensor *fold_pixels(nino_stream *s, nino_tensor *x, int64_t p)
{
    const int64_t t = nino_dim(x, 0), h = nino_dim(x, 1) / p, w = nino_dim(x, 2) / p;
    const int64_t c = nino_dim(x, 3);
    if (p == 1)
        return x;
    x = nino_reshape(s, x, NINO_SHAPE(t * h, p, w, p, c));
    x = nino_permute(s, x, (const int[]){ 0, 2, 4, 3, 1 });
    return nino_reshape(s, x, NINO_SHAPE(t, h, w, c * p * p));
}

nino_tensor *wan_decode_next(nino_stream *s, nino_vae_clip *c, nino_tensor *z)
{
    const wan_net *net = c->v->net;
    const wan_half *d = &net->decoder;
    nino_scope_begin(s, NINO_EV_STAGE, "decoder.in", 0, 0);
    nino_tensor *x = nino_conv2d(s, z, &d->quant);
    x = causal(s, c, &d->conv_in, x, NULL);
    nino_scope_end(s);
    x = vae_wan_run_mid(s, c, d, x);
    for (int i = 0; i < d->n_groups; i++)
        x = run_group(s, c, &d->group[i], i, x);
    nino_scope_begin(s, NINO_EV_STAGE, "decoder.out", 0, 0);
    x = nino_rms_norm_act(s, x, &d->norm_out, NINO_ACT_SILU);
    x = causal(s, c, &d->conv_out, x, NULL);
    x = unfold_pixels(s, x, net->patch);
    x = nino_scale(s, x, 0.5f, 0.5f); // -1..1 to 0..1
    nino_scope_end(s);
    return x;
}

nino_tensor *wan_encode_next(nino_stream *s, nino_vae_clip *c, nino_tensor *pixels)
{
    const wan_net *net = c->v->net;
    const wan_half *e = &net->encoder;
    nino_scope_begin(s, NINO_EV_STAGE, "encoder.in", 0, 0);
    nino_tensor *x = fold_pixels(s, nino_scale(s, pixels, 2, -1), net->patch);
    x = causal(s, c, &e->conv_in, x, NULL);
    nino_scope_end(s);
    for (int i = 0; i < e->n_groups; i++)
        x = run_group(s, c, &e->group[i], i, x);
    x = vae_wan_run_mid(s, c, e, x);
    nino_scope_begin(s, NINO_EV_STAGE, "encoder.out", 0, 0);
    x = nino_rms_norm_act(s, x, &e->norm_out, NINO_ACT_SILU);
    x = causal(s, c, &e->conv_out, x, NULL);
    x = nino_conv2d(s, x, &e->quant);
    nino_scope_end(s);
    return x;
}
