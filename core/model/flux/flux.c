// The FLUX.1, FLUX.2 and Chroma transformers: one evaluation.
// Sources: Black Forest Labs, FLUX.1 (2024), FLUX.2 (2025), black-forest-labs/flux and flux2 model.py
// and layers.py; lodestone-rock/flow, Chroma (2025); Esser et al., Scaling Rectified Flow Transformers for High-Resolution Image
// Synthesis (2024); circular padding and reference latents as ComfyUI 0.3.64 and 0.29.0
// ldm/flux/model.py have them.
#include "core/model/flux/flux.h"
#include "core/model/nag.h"

#include <math.h>
#include <stdio.h>

// ---- the condition vector --------------------------------------------------------------------
static nino_tensor *flux_run_mlp(nino_stream *s, const flux_mlp *m, nino_tensor *x)
{
    x = nino_linear_op(s, x, &m->in);
    return nino_linear_op(s, x, &m->out);
}

static nino_tensor *flux_embed(nino_stream *s, const flux_mlp *m, const float *v, int64_t n,
                               int64_t stride)
{
    return flux_run_mlp(s, m, nino_dit_sinusoid(s, v, n, stride, 1000));
}

nino_tensor *flux_condition(nino_stream *s, const nino_diffusion *d, const nino_forward *f,
                            const float *timestep, int64_t n, int64_t stride)
{
    const flux *net = d->net;
    nino_tensor *vec = flux_embed(s, &net->time, timestep, n, stride);
    if (d->has_guidance && !isnan(f->guidance))
        vec = nino_add(s, vec, flux_embed(s, &net->guidance, &f->guidance, n, 0));
    if (net->vector.in.w) {
        nino_tensor *y =
            f->y ? nino_ref(f->y) : nino_zeros(s, NINO_SHAPE(n, d->y_dim), nino_stream_act_type(s));
        vec = nino_add(s, vec, flux_run_mlp(s, &net->vector, y));
    }
    return nino_act_op(s, vec, NINO_ACT_SILU);
}

// ---- modulation ------------------------------------------------------------------------------
// Of vector number i of those side by side: [B,hidden].
static nino_tensor *flux_vector(nino_stream *s, const flux *net, nino_tensor *all, int i)
{
    return nino_slice(s, nino_ref(all), 1, i * (int64_t) net->hidden, net->hidden);
}

// What is kept of a conditioning: its text, the vector of each time step, what each layer makes of these.
enum { FLUX_TEXT, FLUX_TIMES, FLUX_MODS };
static int flux_kept(const flux *net) { return FLUX_MODS + net->final_mod.row + 1; }

// A layer's for this time step. A quarter of FLUX.1's weights are such layers: for all time steps of a run at once,
// so that they are read once, in place of once in every evaluation.
static nino_tensor *flux_mods(nino_stream *s, const flux_run *r, const flux_mod *m)
{
    const int n = flux_kept(r->net);
    nino_tensor **kept = nino_kept_at(s, r->kept, FLUX_MODS + m->row, n);
    if (!kept)
        return nino_linear_op(s, nino_ref(r->vec), &m->all);
    if (!*kept)
        *kept = nino_linear_op(s, nino_ref(*nino_kept_at(s, r->kept, FLUX_TIMES, n)), &m->all);
    return nino_slice(s, nino_ref(*kept), 0, r->time, 1);
}

// All that one layer gave, of n branches.
static void flux_make_vectors(nino_stream *s, const flux *net, const flux_mod *m, nino_tensor *all,
                              flux_vectors *v, int n)
{
    for (int i = 0; i < n; i++) {
        v[i] = (flux_vectors){ .shift = flux_vector(s, net, all, 3 * i + m->is_scale_first),
                               .scale = flux_vector(s, net, all, 3 * i + !m->is_scale_first) };
        if (3 * i + 2 < nino_dim(all, 1) / net->hidden)
            v[i].gate = flux_vector(s, net, all, 3 * i + 2);
    }
    nino_unref(all);
}

// Chroma's vector number `row`: [B or 1,hidden].
static nino_tensor *flux_given(nino_stream *s, const flux_run *r, int row)
{
    nino_tensor *v = nino_slice(s, nino_ref(r->given), 1, row, 1);
    return nino_reshape(s, v, NINO_SHAPE(nino_dim(v, 0), nino_dim(v, 2)));
}

static void flux_drop(flux_vectors *v)
{
    nino_unref(v->shift);
    nino_unref(v->scale);
    nino_unref(v->gate);
    *v = (flux_vectors){ NULL };
}

// v [B,C] for n tokens each: [B,n,C]
static nino_tensor *flux_spread(nino_stream *s, nino_tensor *v, int64_t n)
{
    const int64_t batch = nino_dim(v, 0), c = nino_dim(v, 1);
    return nino_add(s, nino_zeros(s, NINO_SHAPE(batch, n, c), nino_dtype_of(v)), v);
}

// Of the first tokens `now`, of n reference tokens behind them `clean`.
static nino_tensor *flux_both(nino_stream *s, nino_tensor *now, int64_t first, nino_tensor *clean,
                              int64_t n)
{
    return nino_concat(s, flux_spread(s, now, first), flux_spread(s, clean, n), 1);
}

// What all blocks share, for so many tokens before those of reference latents.
static void flux_shared_vectors(nino_stream *s, const flux_run *r, const flux_mod *m, int64_t first,
                                flux_vectors *v, int n)
{
    flux_vectors clean[2] = { { NULL } };
    flux_make_vectors(s, r->net, m, flux_mods(s, r, m), v, n);
    if (!r->clean)
        return;
    flux_make_vectors(s, r->net, m, nino_linear_op(s, nino_ref(r->clean), &m->all), clean, n);
    for (int i = 0; i < n; i++) {
        v[i].shift = flux_both(s, v[i].shift, first, clean[i].shift, r->refs);
        v[i].scale = flux_both(s, v[i].scale, first, clean[i].scale, r->refs);
        v[i].gate = flux_both(s, v[i].gate, first, clean[i].gate, r->refs);
    }
}

static void flux_share(nino_stream *s, flux_run *r)
{
    const flux_shared *m = &r->net->shared;
    if (!r->net->has_shared)
        return;
    flux_shared_vectors(s, r, &m->img, r->image, r->img, 2);
    flux_make_vectors(s, r->net, &m->txt, flux_mods(s, r, &m->txt), r->txt, 2);
    flux_shared_vectors(s, r, &m->single, r->text + r->image, r->single, 1);
}

// Those of a block's n branches, its own where it has some, else those that all share; to be dropped.
static void flux_vectors_of(nino_stream *s, const flux_run *r, const flux_mod *own,
                            const flux_vectors *shared, flux_vectors *v, int n)
{
    if (own->all.w) {
        flux_make_vectors(s, r->net, own, flux_mods(s, r, own), v, n);
        return;
    }
    for (int i = 0; i < n; i++)
        v[i] = r->given ? (flux_vectors){ .shift = flux_given(s, r, own->row + 3 * i),
                                          .scale = flux_given(s, r, own->row + 3 * i + 1),
                                          .gate = flux_given(s, r, own->row + 3 * i + 2) }
                        : (flux_vectors){ .shift = nino_ref(shared[i].shift),
                                          .scale = nino_ref(shared[i].scale),
                                          .gate = nino_ref(shared[i].gate) };
}

// LN(x) * (1 + scale) + shift, which are used up
static nino_tensor *normed(nino_stream *s, const flux *net, flux_vectors *v, nino_tensor *x)
{
    x = nino_layer_norm_mod(s, x, &net->norm, v->scale, v->shift);
    v->scale = v->shift = NULL;
    return x;
}

// x + gate * branch, which is used up
static nino_tensor *flux_gated(nino_stream *s, flux_vectors *v, nino_tensor *x, nino_tensor *branch)
{
    x = nino_gate_add(s, x, branch, v->gate);
    v->gate = NULL;
    return x;
}

// ---- blocks ----------------------------------------------------------------------------------
typedef struct qkv {
    nino_tensor *q, *k, *v;
} qkv;

// Of tokens whose angles are n rows of the table, from `first` on.
static qkv flux_project(nino_stream *s, const flux_run *r, const flux_qkv *w, nino_tensor *u,
                        int64_t first, int64_t n)
{
    nino_tensor *table = nino_slice(s, nino_ref(r->table), 0, first, n);
    return (qkv){
        .q = nino_linear_heads(s, nino_ref(u), &w->q, &w->norm_q, nino_ref(table)),
        .k = nino_linear_heads(s, nino_ref(u), &w->k, &w->norm_k, table),
        .v = nino_linear_op(s, u, &w->v),
    };
}

static nino_tensor *flux_attend(nino_stream *s, const flux_run *r, qkv t)
{
    nino_tensor *out = nino_attention(s, t.q, t.k, t.v, r->net->heads, 0);
    return nino_pass_nag(s, r->pass, out, r->text);
}

// What the last layer of a feed-forward gets.
static nino_tensor *flux_feed(nino_stream *s, const flux_ffn *w, nino_tensor *u)
{
    if (!w->gate.w)
        return nino_linear_op(s, u, &w->in);
    nino_tensor *gate = nino_linear_op(s, nino_ref(u), &w->gate);
    return nino_mul(s, gate, nino_linear_op(s, u, &w->in), NINO_ACT_SILU);
}

// What follows the attention on either side. v: of the branch that the attention ends, and of the next.
static nino_tensor *finish_half(nino_stream *s, const flux_run *r, const flux_half *h,
                                nino_tensor *x, nino_tensor *attn, flux_vectors v[2])
{
    x = flux_gated(s, &v[0], x, nino_linear_op(s, attn, &h->proj));
    nino_tensor *u = normed(s, r->net, &v[1], nino_ref(x));
    return flux_gated(s, &v[1], x, nino_linear_op(s, flux_feed(s, &h->ffn, u), &h->ffn.out));
}

void flux_run_double(nino_stream *s, const flux_run *r, const flux_double *b, nino_tensor **img,
                     nino_tensor **txt)
{
    const int64_t n_txt = nino_dim(*txt, 1), n_img = nino_dim(*img, 1);
    flux_vectors of_t[2], of_i[2];
    flux_vectors_of(s, r, &b->txt.mod, r->txt, of_t, 2);
    flux_vectors_of(s, r, &b->img.mod, r->img, of_i, 2);
    nino_tensor *ut = normed(s, r->net, &of_t[0], nino_ref(*txt));
    const qkv t = flux_project(s, r, &b->txt.qkv, ut, 0, n_txt);
    nino_tensor *ui = normed(s, r->net, &of_i[0], nino_ref(*img));
    const qkv i = flux_project(s, r, &b->img.qkv, ui, n_txt, n_img);
    const qkv both = { .q = nino_concat(s, t.q, i.q, 1),
                       .k = nino_concat(s, t.k, i.k, 1),
                       .v = nino_concat(s, t.v, i.v, 1) };
    nino_tensor *attn = flux_attend(s, r, both);
    nino_tensor *of_txt = nino_slice(s, nino_ref(attn), 1, 0, n_txt);
    nino_tensor *of_img = nino_slice(s, attn, 1, n_txt, n_img);
    *txt = finish_half(s, r, &b->txt, *txt, of_txt, of_t);
    *img = finish_half(s, r, &b->img, *img, of_img, of_i);
}

nino_tensor *flux_run_single(nino_stream *s, const flux_run *r, const flux_single *b,
                             nino_tensor *x)
{
    flux_vectors v;
    flux_vectors_of(s, r, &b->mod, r->single, &v, 1);
    nino_tensor *u = normed(s, r->net, &v, nino_ref(x));
    const qkv t = flux_project(s, r, &b->qkv, nino_ref(u), 0, nino_dim(x, 1));
    nino_tensor *attn = flux_attend(s, r, t);
    nino_tensor *y = nino_linear_op(s, attn, &b->out_attn);
    y = nino_linear_add(s, flux_feed(s, &b->ffn, u), &b->ffn.out, y);
    return flux_gated(s, &v, x, y);
}

// ---- pictures and tokens ---------------------------------------------------------------------
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
    r->method = f->ref_method ? (int64_t) f->ref_method : net->place.method;
    flux_add_picture(r, f->x);
    nino_tensor *x = f->concat ? nino_concat(s, f->x, f->concat, 3) : f->x;
    nino_tensor *img = nino_dit_tokens(s, x, net->place.patch);
    for (int i = 0; i < f->n_refs; i++) {
        if (i < NINO_FLUX_REFS)
            flux_add_picture(r, f->refs[i]);
        img = nino_concat(s, img, nino_dit_tokens(s, f->refs[i], net->place.patch), 1);
    }
    return nino_linear_op(s, img, &net->img_in);
}

static nino_tensor *flux_run_blocks(nino_stream *s, const nino_diffusion *d, const flux_run *r,
                                    const nino_forward *f, nino_tensor *img, nino_tensor *txt)
{
    nino_residuals none = { .middle = NULL }, *more = f->residuals ? f->residuals : &none;
    char stage[32];
    for (int i = 0; i < r->net->n_doubles; i++) {
        snprintf(stage, sizeof(stage), "flux.double.%d", i);
        nino_scope_begin(s, NINO_EV_STAGE, stage, 0, 0);
        if (!nino_skips(f->skip.doubles, i))
            flux_run_double(s, r, &r->net->doubles[i], &img, &txt);
        if (i < NINO_RESIDUALS)
            img = nino_residual_take_tokens(s, img, 0, &more->after[i], d->name);
        nino_scope_end(s);
    }
    nino_tensor *x = nino_concat(s, txt, img, 1);
    for (int i = 0; i < r->net->n_singles; i++) {
        snprintf(stage, sizeof(stage), "flux.single.%d", i);
        nino_scope_begin(s, NINO_EV_STAGE, stage, 0, 0);
        if (!nino_skips(f->skip.singles, i))
            x = flux_run_single(s, r, &r->net->singles[i], x);
        if (i < NINO_RESIDUALS)
            x = nino_residual_take_tokens(s, x, r->text, &more->late[i], d->name);
        nino_scope_end(s);
    }
    return x;
}

// The same in every evaluation of a run.
static nino_tensor *flux_read_text(nino_stream *s, const flux *net, const nino_forward *f)
{
    nino_tensor **kept = nino_kept_at(s, f->text, FLUX_TEXT, flux_kept(net));
    if (kept && *kept) {
        nino_unref(f->context);
        return nino_ref(*kept);
    }
    nino_tensor *txt = nino_linear_op(s, f->context, &net->txt_in);
    if (kept)
        *kept = nino_ref(txt);
    return txt;
}

// The vectors of all time steps of the run, made by its first evaluation; of a batch each item has its own.
static bool flux_keep_times(nino_stream *s, const nino_diffusion *d, const nino_forward *f,
                            flux_run *r)
{
    const nino_run_times *times = f->times;
    nino_tensor **kept = NULL;
    r->time = nino_run_time_of(s, times, f->timestep, 1);
    if (r->time >= 0 && times->n > 1 && !r->net->has_shared && nino_dim(f->x, 0) == 1)
        kept = nino_kept_at(s, f->text, FLUX_TIMES, flux_kept(r->net));
    if (!kept)
        return false;
    if (!*kept)
        *kept = flux_condition(s, d, f, times->t, times->n, 1);
    r->kept = f->text;
    return true;
}

void flux_end_run(flux_run *r)
{
    flux_vectors *shared[] = { &r->img[0], &r->img[1], &r->txt[0], &r->txt[1], &r->single[0] };
    for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
        flux_drop(shared[i]);
    nino_unref(r->vec);
    nino_unref(r->clean);
    nino_unref(r->given);
    nino_unref(r->table);
}

nino_tensor *flux_forward(nino_stream *s, const nino_diffusion *d, nino_forward *f)
{
    static const float no_noise = 0;
    flux *net = d->net;
    const int64_t batch = nino_dim(f->x, 0), height = nino_dim(f->x, 1), width = nino_dim(f->x, 2);
    flux_rope key = { .place = net->place, .text = nino_dim(f->context, 1) };
    flux_run r = { .net = net, .pass = f->pass, .text = key.text };
    nino_forward_check(s, d, f);
    r.image = flux_tokens(&net->place, height) * flux_tokens(&net->place, width);
    nino_scope_begin(s, NINO_EV_STAGE, "flux.in", 0, 0);
    if (net->approx.n)
        r.given = flux_approximate(s, net, f);
    else if (!flux_keep_times(s, d, f, &r))
        r.vec = flux_condition(s, d, f, f->timestep, batch, 1);
    if (net->has_shared && f->n_refs && f->ref_method == NINO_REFS_INDEX_TIMESTEP_ZERO)
        r.clean = flux_condition(s, d, f, &no_noise, batch, 0);
    nino_tensor *img = read_pictures(s, d, f, &key);
    r.refs = nino_dim(img, 1) - r.image;
    nino_tensor *txt = flux_read_text(s, net, f);
    r.table = nino_rope_upload(s, &net->rope, &key, sizeof(key), flux_rope_make);
    flux_share(s, &r);
    nino_scope_end(s);
    nino_tensor *x = flux_run_blocks(s, d, &r, f, img, txt);
    nino_scope_begin(s, NINO_EV_STAGE, "flux.out", 0, 0);
    x = nino_slice(s, x, 1, r.text, r.image); // the image alone
    flux_vectors v = { NULL };
    if (!r.given)
        flux_make_vectors(s, net, &net->final_mod, flux_mods(s, &r, &net->final_mod), &v, 1);
    else {
        v.shift = flux_given(s, &r, net->final_mod.row);
        v.scale = flux_given(s, &r, net->final_mod.row + 1);
    }
    x = nino_linear_op(s, normed(s, net, &v, x), &net->final);
    x = nino_dit_picture(s, x, net->place.patch, height, width);
    nino_scope_end(s);
    flux_end_run(&r);
    nino_residuals_release(f->residuals);
    nino_unref(f->y);
    return x;
}

void flux_destroy(nino_diffusion *d) { nino_rope_cache_release(&((flux *) d->net)->rope); }
