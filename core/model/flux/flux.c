// The FLUX.1 transformer: one evaluation.
// Sources: Black Forest Labs, FLUX.1 (2024), black-forest-labs/flux model.py and layers.py;
// Esser et al., Scaling Rectified Flow Transformers for High-Resolution Image Synthesis (2024);
// circular padding and reference latents as ComfyUI 0.3.64 ldm/flux/model.py has them.
#include "core/model/flux/flux.h"

#include <math.h>
#include <stdio.h>

#define SINUSOID 256 // channels of a time step

// ---- the condition vector --------------------------------------------------------------------
static nino_tensor *flux_run_mlp(nino_stream *s, const flux_mlp *m, nino_tensor *x)
{
    x = nino_linear_op(s, x, &m->in);
    return nino_linear_op(s, x, &m->out);
}

// [n,256]: cosines, then sines of 1000 v at frequencies from 1 down to 1/10000
static nino_tensor *flux_sinusoid(nino_stream *s, const float *v, int64_t n, int64_t stride)
{
    enum { HALF = SINUSOID / 2 };
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(n, SINUSOID));
    if (!a)
        return nino_stream_fail(s, NINO_ERR_NOMEM, "flux", "no memory for the time steps");
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < HALF; k++) {
            const float rate = expf(-logf(10000) * (float) k / HALF);
            const float angle = 1000 * v[i * stride] * rate;
            nino_array_f32(a)[i * SINUSOID + k] = cosf(angle);
            nino_array_f32(a)[i * SINUSOID + HALF + k] = sinf(angle);
        }
    nino_tensor *t = nino_upload(s, a, nino_stream_act_type(s));
    nino_array_unref(&a);
    return t;
}

// silu(time + guidance + pooled text): [B,hidden]; every use starts with the SiLU.
static nino_tensor *condition(nino_stream *s, const nino_diffusion *d, nino_forward *f)
{
    const flux *net = d->net;
    const int64_t n = nino_dim(f->x, 0);
    nino_tensor *vec = flux_run_mlp(s, &net->time, flux_sinusoid(s, f->timestep, n, 1));
    if (d->has_guidance && !isnan(f->guidance))
        vec =
            nino_add(s, vec, flux_run_mlp(s, &net->guidance, flux_sinusoid(s, &f->guidance, n, 0)));
    nino_tensor *y =
        f->y ? nino_ref(f->y) : nino_zeros(s, NINO_SHAPE(n, d->y_dim), nino_stream_act_type(s));
    vec = nino_add(s, vec, flux_run_mlp(s, &net->vector, y));
    return nino_act_op(s, vec, NINO_ACT_SILU);
}

// ---- blocks ----------------------------------------------------------------------------------
static nino_tensor *normed(nino_stream *s, const flux *net, const flux_mod *m, nino_tensor *x,
                           nino_tensor *vec)
{
    nino_tensor *scale = nino_linear_op(s, nino_ref(vec), &m->scale);
    nino_tensor *shift = nino_linear_op(s, nino_ref(vec), &m->shift);
    return nino_layer_norm_mod(s, x, &net->norm, scale, shift);
}

// x + gate * branch
static nino_tensor *flux_gated(nino_stream *s, const flux_mod *m, nino_tensor *x,
                               nino_tensor *branch, nino_tensor *vec)
{
    return nino_gate_add(s, x, branch, nino_linear_op(s, nino_ref(vec), &m->gate));
}

typedef struct qkv {
    nino_tensor *q, *k, *v;
} qkv;

static qkv flux_project(nino_stream *s, const flux_qkv *w, nino_tensor *u)
{
    qkv t = { .q = nino_linear_op(s, nino_ref(u), &w->q),
              .k = nino_linear_op(s, nino_ref(u), &w->k),
              .v = nino_linear_op(s, u, &w->v) };
    t.q = nino_rms_norm(s, t.q, &w->norm_q);
    t.k = nino_rms_norm(s, t.k, &w->norm_k);
    return t;
}

static nino_tensor *flux_attend(nino_stream *s, const flux *net, qkv t, nino_tensor *table)
{
    t.q = nino_rope(s, t.q, nino_ref(table), net->heads);
    t.k = nino_rope(s, t.k, nino_ref(table), net->heads);
    return nino_attention(s, t.q, t.k, t.v, net->heads, 0);
}

// What follows the attention on either side.
static nino_tensor *finish_half(nino_stream *s, const flux *net, const flux_half *h, nino_tensor *x,
                                nino_tensor *attn, nino_tensor *vec)
{
    x = flux_gated(s, &h->mod1, x, nino_linear_op(s, attn, &h->proj), vec);
    nino_tensor *u = normed(s, net, &h->mod2, nino_ref(x), vec);
    return flux_gated(s, &h->mod2, x, flux_run_mlp(s, &h->mlp, u), vec);
}

static void run_double(nino_stream *s, const flux *net, const flux_double *b, nino_tensor **img,
                       nino_tensor **txt, nino_tensor *vec, nino_tensor *table)
{
    const int64_t n_txt = nino_dim(*txt, 1), n_img = nino_dim(*img, 1);
    const qkv t = flux_project(s, &b->txt.qkv, normed(s, net, &b->txt.mod1, nino_ref(*txt), vec));
    const qkv i = flux_project(s, &b->img.qkv, normed(s, net, &b->img.mod1, nino_ref(*img), vec));
    const qkv both = { .q = nino_concat(s, t.q, i.q, 1),
                       .k = nino_concat(s, t.k, i.k, 1),
                       .v = nino_concat(s, t.v, i.v, 1) };
    nino_tensor *attn = flux_attend(s, net, both, table);
    nino_tensor *of_txt = nino_slice(s, nino_ref(attn), 1, 0, n_txt);
    nino_tensor *of_img = nino_slice(s, attn, 1, n_txt, n_img);
    *txt = finish_half(s, net, &b->txt, *txt, of_txt, vec);
    *img = finish_half(s, net, &b->img, *img, of_img, vec);
}

static nino_tensor *run_single(nino_stream *s, const flux *net, const flux_single *b,
                               nino_tensor *x, nino_tensor *vec, nino_tensor *table)
{
    nino_tensor *u = normed(s, net, &b->mod, nino_ref(x), vec);
    nino_tensor *attn = flux_attend(s, net, flux_project(s, &b->qkv, nino_ref(u)), table);
    nino_tensor *y = nino_linear_op(s, attn, &b->out_attn);
    nino_tensor *h = nino_linear_op(s, u, &b->mlp);
    y = nino_linear_add(s, h, &b->out_mlp, y);
    return flux_gated(s, &b->mod, x, y, vec);
}

// ---- pictures and tokens ---------------------------------------------------------------------
// [B,h,w,C] -> [B,tokens,4C]: squares of 2 x 2 cells, feature c*4 + y*2 + x. Odd sizes are padded
// with the first row or column.
static nino_tensor *flux_to_tokens(nino_stream *s, nino_tensor *x)
{
    if (nino_dim(x, 1) % 2)
        x = nino_concat(s, x, nino_slice(s, nino_ref(x), 1, 0, 1), 1);
    if (nino_dim(x, 2) % 2)
        x = nino_concat(s, x, nino_slice(s, nino_ref(x), 2, 0, 1), 2);
    const int64_t n = nino_dim(x, 0), h = nino_dim(x, 1) / 2, w = nino_dim(x, 2) / 2;
    const int64_t c = nino_dim(x, 3);
    x = nino_reshape(s, x, NINO_SHAPE(n * h, 2, w, 2, c));
    x = nino_permute(s, x, (const int[]){ 0, 2, 4, 1, 3 });
    return nino_reshape(s, x, NINO_SHAPE(n, h * w, 4 * c));
}

static nino_tensor *to_picture(nino_stream *s, nino_tensor *x, int64_t height, int64_t width)
{
    const int64_t n = nino_dim(x, 0), c = nino_dim(x, 2) / 4;
    const int64_t h = (height + 1) / 2, w = (width + 1) / 2;
    x = nino_reshape(s, x, NINO_SHAPE(n * h, w, c, 2, 2));
    x = nino_permute(s, x, (const int[]){ 0, 3, 1, 4, 2 });
    x = nino_reshape(s, x, NINO_SHAPE(n, 2 * h, 2 * w, c));
    return nino_slice(s, nino_slice(s, x, 1, 0, height), 2, 0, width);
}

static void flux_add_picture(flux_rope *r, const nino_tensor *x)
{
    r->h[r->n] = nino_dim(x, 1);
    r->w[r->n] = nino_dim(x, 2);
    r->n++;
}

// The image's tokens and those of the reference latents; what they are goes to *r.
static nino_tensor *read_pictures(nino_stream *s, const nino_diffusion *d, nino_forward *f,
                                  flux_rope *r)
{
    const flux *net = d->net;
    if (f->n_refs > NINO_FLUX_REFS)
        nino_stream_fail(s, NINO_ERR_UNSUPPORTED, d->name, "more than %d reference latents",
                         NINO_FLUX_REFS);
    r->method = f->ref_method;
    flux_add_picture(r, f->x);
    nino_tensor *img = flux_to_tokens(s, f->concat ? nino_concat(s, f->x, f->concat, 3) : f->x);
    for (int i = 0; i < f->n_refs; i++) {
        if (i < NINO_FLUX_REFS)
            flux_add_picture(r, f->refs[i]);
        img = nino_concat(s, img, flux_to_tokens(s, f->refs[i]), 1);
    }
    return nino_linear_op(s, img, &net->img_in);
}

static nino_tensor *flux_upload_table(nino_stream *s, flux *net, const flux_rope *r)
{
    nino_array *a = flux_rope_table(net, r);
    nino_tensor *t = a ? nino_upload(s, a, NINO_F32)
                       : nino_stream_fail(s, NINO_ERR_NOMEM, "flux", "no memory for positions");
    nino_array_unref(&a);
    return t;
}

static nino_tensor *flux_run_blocks(nino_stream *s, const flux *net, nino_tensor *img,
                                    nino_tensor *txt, nino_tensor *vec, nino_tensor *table)
{
    char stage[32];
    for (int i = 0; i < net->n_doubles; i++) {
        snprintf(stage, sizeof(stage), "flux.double.%d", i);
        nino_scope_begin(s, NINO_EV_STAGE, stage, 0, 0);
        run_double(s, net, &net->doubles[i], &img, &txt, vec, table);
        nino_scope_end(s);
    }
    nino_tensor *x = nino_concat(s, txt, img, 1);
    for (int i = 0; i < net->n_singles; i++) {
        snprintf(stage, sizeof(stage), "flux.single.%d", i);
        nino_scope_begin(s, NINO_EV_STAGE, stage, 0, 0);
        x = run_single(s, net, &net->singles[i], x, vec, table);
        nino_scope_end(s);
    }
    return x;
}

nino_tensor *flux_forward(nino_stream *s, const nino_diffusion *d, nino_forward *f)
{
    flux *net = d->net;
    const int64_t height = nino_dim(f->x, 1), width = nino_dim(f->x, 2);
    flux_rope r = { .text = nino_dim(f->context, 1) };
    nino_forward_check(s, d, f);
    nino_scope_begin(s, NINO_EV_STAGE, "flux.in", 0, 0);
    nino_tensor *vec = condition(s, d, f);
    nino_tensor *img = read_pictures(s, d, f, &r);
    nino_tensor *txt = nino_linear_op(s, f->context, &net->txt_in);
    nino_tensor *table = flux_upload_table(s, net, &r);
    nino_scope_end(s);
    nino_tensor *x = flux_run_blocks(s, net, img, txt, vec, table);
    nino_scope_begin(s, NINO_EV_STAGE, "flux.out", 0, 0);
    x = nino_slice(s, x, 1, r.text, ((height + 1) / 2) * ((width + 1) / 2)); // the image alone
    x = normed(s, net, &net->final_mod, x, vec);
    x = nino_linear_op(s, x, &net->final);
    x = to_picture(s, x, height, width);
    nino_scope_end(s);
    nino_unref(vec);
    nino_unref(table);
    nino_unref(f->y);
    return x;
}

void flux_destroy(nino_diffusion *d)
{
    flux *net = d->net;
    nino_array_unref(&net->table);
    pthread_mutex_destroy(&net->lock);
}
