// The tiny video autoencoders (TAEHV and its relatives for Wan and LTX), run a piece of a clip at a
// time. Frames are pictures for every layer but two: blocks that see the frame before, and changes
// of the frame rate. What the blocks saw last is all that is kept, so that pieces of any length
// give the bits of the whole clip, and memory does not depend on the clip's length.
// Source: madebyollin/taehv taehv.py.
#include "core/model/vae/vae_taehv.h"

#include <stdio.h>

// ---- layers ----------------------------------------------------------------------------------

// relu(conv(x and the frame before it) + x); before the clip's first there are zeros.
static nino_tensor *run_mem(nino_stream *s, nino_vae_clip *c, const taehv_layer *l, nino_tensor *x)
{
    nino_tensor **slot = &c->slot[c->at++], *past = *slot;
    const nino_shape d = *nino_shape_of(x);
    const int64_t t = d.dim[0];
    *slot = NULL;
    if (!past)
        past = nino_zeros(s, NINO_SHAPE(1, d.dim[1], d.dim[2], d.dim[3]), nino_dtype_of(x));
    if (t > 1) {
        *slot = nino_slice(s, nino_ref(x), 0, t - 1, 1);
        past = nino_concat(s, past, nino_slice(s, nino_ref(x), 0, 0, t - 1), 0);
    } else {
        *slot = nino_ref(x);
    }
    nino_tensor *skip = l->skip.w ? nino_conv2d(s, nino_ref(x), &l->skip) : nino_ref(x);
    x = nino_concat(s, x, past, 3);
    x = nino_conv2d(s, x, &l->mem0);
    x = nino_conv2d(s, x, &l->mem2);
    return nino_conv2d_add(s, x, &l->mem4, skip);
}

// [T,H,W,n C] -> [T n,H,W,C]: frames that are blocks of channels.
static nino_tensor *unfold_time(nino_stream *s, nino_tensor *x, int64_t n)
{
    const nino_shape d = *nino_shape_of(x);
    const int64_t t = d.dim[0], area = d.dim[1] * d.dim[2], c = d.dim[3] / n;
    if (n == 1 || !x)
        return x;
    x = nino_reshape(s, x, NINO_SHAPE(t, area, n, c));
    x = nino_permute(s, x, (const int[]){ 0, 2, 1, 3 });
    return nino_reshape(s, x, NINO_SHAPE(t * n, d.dim[1], d.dim[2], c));
}

static nino_tensor *fold_time(nino_stream *s, nino_tensor *x, int64_t n)
{
    const nino_shape d = *nino_shape_of(x);
    const int64_t t = d.dim[0] / n, area = d.dim[1] * d.dim[2], c = d.dim[3];
    if (n == 1 || !x)
        return x;
    x = nino_reshape(s, x, NINO_SHAPE(t, n, area, c));
    x = nino_permute(s, x, (const int[]){ 0, 2, 1, 3 });
    return nino_reshape(s, x, NINO_SHAPE(t, d.dim[1], d.dim[2], c * n));
}

static nino_tensor *run_time(nino_stream *s, const nino_vae_clip *c, const taehv_layer *l,
                             nino_tensor *x)
{
    if (c->is_decode)
        return unfold_time(s, nino_conv2d(s, x, &l->conv), l->stride);
    return nino_conv2d(s, fold_time(s, x, l->stride), &l->conv);
}

static nino_tensor *run_half(nino_stream *s, nino_vae_clip *c, const taehv_half *h, nino_tensor *x)
{
    const char *what = c->is_decode ? "decoder" : "encoder";
    char name[32];
    int level = 0;
    snprintf(name, sizeof(name), "%s.0", what);
    nino_scope_begin(s, NINO_EV_STAGE, name, 0, 0);
    for (int i = 0; i < h->n; i++) {
        const taehv_layer *l = &h->layer[i];
        if (l->is_level) {
            nino_scope_end(s);
            snprintf(name, sizeof(name), "%s.%d", what, ++level);
            nino_scope_begin(s, NINO_EV_STAGE, name, 0, 0);
        }
        x = l->kind == TAEHV_MEM    ? run_mem(s, c, l, x)
            : l->kind == TAEHV_TIME ? run_time(s, c, l, x)
                                    : nino_conv2d(s, x, &l->conv);
    }
    nino_scope_end(s);
    return x;
}

// ---- a piece of a clip -----------------------------------------------------------------------

// The network makes time_factor frames of every latent frame; of the clip's first only the last
// one is meant.
nino_tensor *taehv_decode_next(nino_stream *s, nino_vae_clip *c, nino_tensor *z)
{
    const taehv_net *net = c->v->net;
    const int64_t cut = c->is_first ? c->v->time_factor - 1 : 0;
    if (net->to_space.w)
        z = nino_conv2d(s, z, &net->to_space);
    else if (c->v->scale != 1)
        z = nino_scale(s, z, (float) c->v->scale, 0);
    z = nino_act_op(s, z, NINO_ACT_TANH3);
    nino_tensor *x = run_half(s, c, &net->decoder, z);
    if (net->patch > 1)
        x = nino_shuffle(s, x, true, 1, net->patch, 0, 3, NULL);
    return cut && x ? nino_slice(s, x, 0, cut, nino_dim(x, 0) - cut) : x;
}

// Every latent frame is made of time_factor frames; the clip's last ones are completed with copies
// of its last.
nino_tensor *taehv_encode_next(nino_stream *s, nino_vae_clip *c, nino_tensor *pixels)
{
    const taehv_net *net = c->v->net;
    const int64_t n = nino_dim(pixels, 0), tc = c->v->time_factor;
    const int64_t missing = (tc - n % tc) % tc;
    nino_tensor *last = missing ? nino_slice(s, nino_ref(pixels), 0, n - 1, 1) : NULL;
    for (int64_t i = 0; i < missing; i++)
        pixels = nino_concat(s, pixels, nino_ref(last), 0);
    nino_unref(last);
    if (net->patch > 1)
        pixels = nino_shuffle(s, pixels, false, 1, net->patch, 0,
                              (int64_t) 3 * net->patch * net->patch, NULL);
    nino_tensor *z = run_half(s, c, &net->encoder, pixels);
    if (net->from_space.w)
        return nino_conv2d(s, z, &net->from_space);
    return c->v->scale == 1 ? z : nino_scale(s, z, (float) (1 / c->v->scale), 0);
}
