// The UNet of SD1, SD2, SDXL and its refiner: one evaluation.
// Sources: Rombach et al., High-Resolution Image Synthesis with Latent Diffusion Models (2022);
// CompVis/latent-diffusion openaimodel.py and attention.py as ComfyUI 0.3.64 runs them.
#include "core/model/unet/unet.h"
#include "core/model/nag.h"

#include <math.h>
#include <stdio.h>

nino_tensor *unet_embed(nino_stream *s, const unet *u, const nino_forward *f, nino_tensor *more)
{
    const int64_t n = nino_dim(f->x, 0), half = u->channels / 2;
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(n, 2 * half));
    if (!a)
        return nino_stream_fail(s, NINO_ERR_NOMEM, "unet", "no memory for the time steps");
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < half; k++) {
            const float rate = expf(-logf(10000) * (float) k / (float) half);
            nino_array_f32(a)[i * 2 * half + k] = cosf(f->timestep[i] * rate);
            nino_array_f32(a)[i * 2 * half + half + k] = sinf(f->timestep[i] * rate);
        }
    nino_tensor *t = nino_upload(s, a, nino_stream_act_type(s));
    nino_array_unref(&a);
    t = nino_linear_op(s, t, &u->time1);
    t = nino_linear_op(s, t, &u->time2);
    if (more)
        t = nino_add(s, t, more);
    if (!u->label1.w)
        return more ? nino_act_op(s, t, NINO_ACT_SILU) : t;
    nino_tensor *y = nino_linear_op(s, nino_ref(f->y), &u->label1);
    return nino_linear_add(s, y, &u->label2, t);
}

// The shortcut goes first, so that the norm may work in place and its input is gone early.
static nino_tensor *unet_run_res(nino_stream *s, const unet_res *w, nino_tensor *x,
                                 nino_tensor *emb)
{
    nino_tensor *skip = w->skip.w ? nino_linear_op(s, nino_ref(x), &w->skip) : nino_ref(x);
    x = nino_group_norm_silu(s, x, &w->norm1);
    x = nino_conv2d(s, x, &w->conv1);
    x = nino_add(s, x, nino_linear_op(s, nino_ref(emb), &w->emb));
    x = nino_group_norm_silu(s, x, &w->norm2);
    return nino_conv2d_add(s, x, &w->conv2, skip);
}

// x + attention of LN(x) to itself or to the context
static nino_tensor *unet_run_attn(nino_stream *s, unet_walk *walk, const unet_attn *w,
                                  nino_tensor *x, nino_tensor *context)
{
    float before = 1, after = 1;
    nino_tensor *h = nino_layer_norm(s, nino_ref(x), &w->norm);
    nino_tensor *from = context ? NULL : nino_ref(h), *k, *v;
    nino_tensor *q = nino_linear_op(s, h, &w->q);
    if (context) { // alike in all evaluations of a run
        const int at = 2 * walk->cross, n = 2 * walk->n_cross;
        k = nino_kept_linear(s, walk->text, at, n, context, &w->k, NULL);
        v = nino_kept_linear(s, walk->text, at + 1, n, context, &w->v, NULL);
    } else {
        k = nino_linear_op(s, nino_ref(from), &w->k);
        v = nino_linear_op(s, from, &w->v);
    }
    h = context ? unet_patch_cross(s, walk, q, k, v, w->heads)
                : unet_patch_self(s, walk, q, k, v, w->heads);
    unet_patch_out(walk, context != NULL, &before, &after);
    if (!context && nino_pass_next(walk->pass, NINO_PATCH_NAG, NULL)) {
        h = nino_linear_op(s, before != 1 ? nino_scale(s, h, before, 0) : h, &w->out);
        h = nino_pass_nag(s, walk->pass, after != 1 ? nino_scale(s, h, after, 0) : h, 0);
        return nino_add(s, x, h);
    }
    if (before != 1)
        h = nino_scale(s, h, before, 0);
    if (after != 1)
        return nino_add(s, x, nino_scale(s, nino_linear_op(s, h, &w->out), after, 0));
    return nino_linear_add(s, h, &w->out, x);
}

static nino_tensor *unet_run_block(nino_stream *s, unet_walk *walk, const unet_block *w,
                                   nino_tensor *x, nino_tensor *context)
{
    x = unet_run_attn(s, walk, &w->self, x, NULL);
    x = unet_run_attn(s, walk, &w->cross, x, context);
    walk->cross++;
    nino_tensor *h = nino_layer_norm(s, nino_ref(x), &w->norm);
    h = nino_linear_op(s, h, &w->gate);
    h = nino_glu(s, h, NINO_ACT_GELU);
    return nino_linear_add(s, h, &w->out, x);
}

static nino_tensor *run_transformer(nino_stream *s, unet_walk *walk, const unet_transformer *w,
                                    nino_tensor *x, nino_tensor *context)
{
    const nino_shape image = *nino_shape_of(x);
    nino_tensor *h = nino_group_norm(s, nino_ref(x), &w->norm, NINO_ACT_NONE);
    h = nino_linear_op(s, h, &w->in);
    h = nino_reshape(s, h, NINO_SHAPE(image.dim[0], image.dim[1] * image.dim[2], nino_dim(h, 3)));
    for (int i = 0; i < w->n_blocks; i++)
        h = unet_run_block(s, walk, &w->block[i], h, context);
    walk->transformer++;
    h = nino_reshape(s, h, NINO_SHAPE(image.dim[0], image.dim[1], image.dim[2], nino_dim(h, 2)));
    return nino_linear_add(s, h, &w->out, x);
}

// Twice as large, or as large as the skip that comes next: an odd size was rounded up on the way
// down. Cropping comes before the convolution, whose border then sees zeros. A patch may have made
// it much smaller.
static nino_tensor *run_up(nino_stream *s, const nino_conv *w, nino_tensor *x,
                           const nino_tensor *next)
{
    const int64_t height = 2 * nino_dim(x, 1), width = 2 * nino_dim(x, 2);
    const int64_t want_h = next ? nino_dim(next, 1) : height;
    const int64_t want_w = next ? nino_dim(next, 2) : width;
    nino_conv conv = *w;
    conv.upsample2x = height == want_h && width == want_w;
    if (want_h > height || want_w > width || want_h < height - 1 || want_w < width - 1) {
        x = unet_patch_up(s, x, want_h, want_w);
    } else if (!conv.upsample2x) {
        x = nino_resample(s, x, height, width, NINO_FILTER_NEAREST);
        x = nino_slice(s, x, 1, 0, want_h);
        x = nino_slice(s, x, 2, 0, want_w);
    }
    return nino_conv2d(s, x, &conv);
}

nino_tensor *unet_run_stage(nino_stream *s, unet_walk *walk, const unet_stage *st, const char *what,
                            int i, nino_tensor *x, const nino_forward *f, nino_tensor *emb,
                            const nino_tensor *next)
{
    char name[32];
    snprintf(name, sizeof(name), i < 0 ? "%s" : "%s.%d", what, i);
    nino_scope_begin(s, NINO_EV_STAGE, name, 0, 0);
    for (int k = 0; k < st->n; k++) {
        const unet_module *m = &st->module[k];
        switch (m->kind) {
        case UNET_CONV:
        case UNET_DOWN: x = nino_conv2d(s, x, &m->conv); break;
        case UNET_UP: x = run_up(s, &m->conv, x, next); break;
        case UNET_RES: x = unet_run_res(s, m->res, x, emb); break;
        case UNET_TRANSFORMER: x = run_transformer(s, walk, m->transformer, x, f->context); break;
        }
    }
    nino_scope_end(s);
    return x;
}

// IP-Adapters count the cross-attentions of the way up before those of the middle.
static void unet_go_on(const unet *u, unet_walk *w)
{
    if (w->part == UNET_IN_DOWN) {
        w->cross_up = w->cross;
        w->cross = u->n_cross - u->n_cross_mid;
    } else {
        w->cross = w->cross_up;
    }
    w->part++;
}

nino_tensor *unet_forward(nino_stream *s, const nino_diffusion *d, nino_forward *f)
{
    unet *u = d->net;
    unet_walk w = { .pass = f->pass,
                    .text = f->text,
                    .n_cross = u->n_cross,
                    .height = nino_dim(f->x, 1),
                    .width = nino_dim(f->x, 2) };
    nino_residuals none = { .middle = NULL }, *more = f->residuals ? f->residuals : &none;
    nino_tensor *skip[NINO_UNET_STAGES] = { NULL };
    nino_forward_check(s, d, f);
    if (u->label1.w && !f->y)
        nino_stream_fail(s, NINO_ERR_ARG, d->name, "it needs a pooled conditioning");
    nino_scope_begin(s, NINO_EV_STAGE, "unet.in", 0, 0);
    nino_tensor *emb = unet_embed(s, u, f, NULL);
    nino_tensor *x = f->concat ? nino_concat(s, f->x, f->concat, 3) : f->x;
    nino_scope_end(s);
    nino_ip_begin(s, &w.ip, f->pass, nino_dim(x, 0), w.height, w.width, u->n_cross, d->context_dim);
    for (int i = 0; i < u->n_down; i++) {
        x = unet_run_stage(s, &w, &u->down[i], "unet.down", i, x, f, emb, NULL);
        x = nino_residual_take(s, x, &more->after[i], d->name);
        x = unet_patch_down(s, &w, x, i, false);
        skip[i] = nino_residual_take(s, nino_ref(x), &more->late[i], d->name);
        x = unet_patch_down(s, &w, x, i, true);
    }
    unet_go_on(u, &w);
    x = unet_run_stage(s, &w, &u->mid, "unet.mid", -1, x, f, emb, NULL);
    x = nino_residual_take(s, x, &more->middle, d->name);
    unet_go_on(u, &w);
    for (int i = 0; i < u->n_up; i++) {
        const int k = u->n_up - 1 - i;
        unet_patch_join(s, u, &w, &x, &skip[k]);
        x = nino_concat(s, x, skip[k], 3);
        x = unet_run_stage(s, &w, &u->up[i], "unet.up", i, x, f, emb, k ? skip[k - 1] : NULL);
    }
    nino_ip_end(&w.ip);
    nino_scope_begin(s, NINO_EV_STAGE, "unet.out", 0, 0);
    x = nino_group_norm_silu(s, x, &u->norm_out);
    x = nino_conv2d(s, x, &u->conv_out);
    nino_scope_end(s);
    nino_residuals_release(f->residuals);
    nino_unref(emb);
    nino_unref(f->context);
    nino_unref(f->y);
    return x;
}
