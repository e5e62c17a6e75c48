// The Stable Diffusion 3 and 3.5 transformers: one evaluation.
// Sources: Esser et al., Scaling Rectified Flow Transformers for High-Resolution Image Synthesis
// (2024); Stability-AI/sd3.5 mmditx.py; circular padding and blocks that are left out as ComfyUI
// ldm/modules/diffusionmodules/mmdit.py has them.
#include "core/model/sd3/sd3.h"

#include <stdio.h>

// Vectors that modulate a side: of the attention, of the MLP, of the image's attention to itself.
enum { SHIFT_A, SCALE_A, GATE_A, SHIFT_M, SCALE_M, GATE_M, SHIFT_2, SCALE_2, GATE_2 };

typedef struct qkv {
    nino_tensor *q, *k, *v;
} qkv;

static nino_tensor *sd3_run_mlp(nino_stream *s, const sd3_mlp *m, nino_tensor *x)
{
    x = nino_linear_op(s, x, &m->in);
    return nino_linear_op(s, x, &m->out);
}

nino_tensor *sd3_condition(nino_stream *s, const nino_diffusion *d, const nino_forward *f)
{
    const sd3 *net = d->net;
    const int64_t n = nino_dim(f->x, 0);
    nino_tensor *y =
        f->y ? nino_ref(f->y) : nino_zeros(s, NINO_SHAPE(n, d->y_dim), nino_stream_act_type(s));
    nino_tensor *c = sd3_run_mlp(s, &net->time, nino_dit_sinusoid(s, f->timestep, n, 1, 1));
    c = nino_add(s, c, sd3_run_mlp(s, &net->y, y));
    return nino_act_op(s, c, NINO_ACT_SILU);
}

// ---- modulation ------------------------------------------------------------------------------
static nino_tensor *sd3_vector(nino_stream *s, const sd3_run *r, nino_tensor *mods, int i)
{
    return nino_slice(s, nino_ref(mods), 1, i * (int64_t) r->net->hidden, r->net->hidden);
}

// LN(x) * (1 + scale) + shift; vectors number `shift` and the one behind it.
static nino_tensor *sd3_normed(nino_stream *s, const sd3_run *r, nino_tensor *x, nino_tensor *mods,
                               int shift, bool is_scale_first)
{
    nino_tensor *scale = sd3_vector(s, r, mods, shift + !is_scale_first);
    return nino_layer_norm_mod(s, x, &r->net->norm, scale,
                               sd3_vector(s, r, mods, shift + is_scale_first));
}

static nino_tensor *sd3_gated(nino_stream *s, const sd3_run *r, nino_tensor *x, nino_tensor *branch,
                              nino_tensor *mods, int gate)
{
    return nino_gate_add(s, x, branch, sd3_vector(s, r, mods, gate));
}

// ---- blocks ----------------------------------------------------------------------------------
static nino_tensor *sd3_heads(nino_stream *s, nino_tensor *u, const nino_linear *w,
                              const nino_norm *n)
{
    return n->gamma ? nino_linear_heads(s, u, w, n, NULL) : nino_linear_op(s, u, w);
}

static qkv sd3_project(nino_stream *s, const sd3_attn *w, nino_tensor *u)
{
    return (qkv){ .q = sd3_heads(s, nino_ref(u), &w->q, &w->norm_q),
                  .k = sd3_heads(s, nino_ref(u), &w->k, &w->norm_k),
                  .v = nino_linear_op(s, u, &w->v) };
}

// The image's attention to itself, from the same state as the joint one.
static nino_tensor *sd3_attend_self(nino_stream *s, const sd3_run *r, const sd3_half *h,
                                    nino_tensor *x, nino_tensor *mods)
{
    const qkv t = sd3_project(s, &h->self, sd3_normed(s, r, x, mods, SHIFT_2, false));
    nino_tensor *o = nino_attention(s, t.q, t.k, t.v, r->net->heads, 0);
    return nino_linear_op(s, o, &h->self.proj);
}

static nino_tensor *sd3_feed(nino_stream *s, const sd3_run *r, const sd3_half *h, nino_tensor *x,
                             nino_tensor *mods)
{
    nino_tensor *u = sd3_normed(s, r, nino_ref(x), mods, SHIFT_M, false);
    return sd3_gated(s, r, x, sd3_run_mlp(s, &h->mlp, u), mods, GATE_M);
}

void sd3_run_block(nino_stream *s, const sd3_run *r, const sd3_block *b, nino_tensor **x,
                   nino_tensor **context)
{
    const sd3_half *hx = &b->x, *hc = &b->context;
    const int64_t n_c = nino_dim(*context, 1), n_x = nino_dim(*x, 1);
    nino_tensor *mx = nino_linear_op(s, nino_ref(r->cond), &hx->mod), *self = NULL;
    nino_tensor *mc = nino_linear_op(s, nino_ref(r->cond), &hc->mod);
    if (hx->self.q.w)
        self = sd3_attend_self(s, r, hx, nino_ref(*x), mx);
    nino_tensor *ux = sd3_normed(s, r, nino_ref(*x), mx, SHIFT_A, hx->is_scale_first);
    nino_tensor *uc = sd3_normed(s, r, nino_ref(*context), mc, SHIFT_A, hc->is_scale_first);
    const qkv c = sd3_project(s, &hc->attn, uc), i = sd3_project(s, &hx->attn, ux);
    nino_tensor *q = nino_concat(s, c.q, i.q, 1), *k = nino_concat(s, c.k, i.k, 1);
    nino_tensor *o = nino_attention(s, q, k, nino_concat(s, c.v, i.v, 1), r->net->heads, 0);
    nino_tensor *of_x = nino_slice(s, nino_ref(o), 1, n_c, n_x);
    *x = sd3_gated(s, r, *x, nino_linear_op(s, of_x, &hx->attn.proj), mx, GATE_A);
    *x = self ? sd3_gated(s, r, *x, self, mx, GATE_2) : *x;
    *x = sd3_feed(s, r, hx, *x, mx);
    if (hc->attn.proj.w) {
        nino_tensor *of_c = nino_linear_op(s, nino_slice(s, o, 1, 0, n_c), &hc->attn.proj);
        *context = sd3_gated(s, r, *context, of_c, mc, GATE_A);
        *context = sd3_feed(s, r, hc, *context, mc);
    } else {
        nino_unref(o);
        nino_unref(*context);
        *context = NULL;
    }
    nino_unref(mx);
    nino_unref(mc);
}

static nino_tensor *sd3_run_blocks(nino_stream *s, const nino_diffusion *d, const sd3_run *r,
                                   const nino_forward *f, nino_tensor *x, nino_tensor *context)
{
    char stage[32];
    for (int i = 0; i < r->net->n_blocks; i++) {
        snprintf(stage, sizeof(stage), "sd3.block.%d", i);
        nino_scope_begin(s, NINO_EV_STAGE, stage, 0, 0);
        if (!nino_skips(f->skip.doubles, i))
            sd3_run_block(s, r, &r->net->blocks[i], &x, &context);
        if (f->residuals && i < NINO_RESIDUALS)
            x = nino_residual_take_tokens(s, x, 0, &f->residuals->after[i], d->name);
        nino_scope_end(s);
    }
    nino_unref(context);
    return x;
}

// The same in every evaluation of a run.
static nino_tensor *sd3_read_text(nino_stream *s, const sd3 *net, const nino_forward *f)
{
    nino_tensor **kept = nino_kept_at(s, f->text, 0, 1);
    if (kept && *kept) {
        nino_unref(f->context);
        return nino_ref(*kept);
    }
    nino_tensor *context = nino_linear_op(s, f->context, &net->context_in);
    if (kept)
        *kept = nino_ref(context);
    return context;
}

nino_tensor *sd3_forward(nino_stream *s, const nino_diffusion *d, nino_forward *f)
{
    const sd3 *net = d->net;
    const int64_t height = nino_dim(f->x, 1), width = nino_dim(f->x, 2);
    nino_forward_check(s, d, f);
    nino_scope_begin(s, NINO_EV_STAGE, "sd3.in", 0, 0);
    sd3_run r = { .net = net, .cond = sd3_condition(s, d, f) };
    nino_tensor *x = nino_linear_op(s, nino_dit_tokens(s, f->x, 2), &net->x_in);
    x = nino_add(s, x, sd3_positions(s, d, nino_dit_side(height, 2), nino_dit_side(width, 2)));
    nino_tensor *context = sd3_read_text(s, net, f);
    nino_scope_end(s);
    x = sd3_run_blocks(s, d, &r, f, x, context);
    nino_scope_begin(s, NINO_EV_STAGE, "sd3.out", 0, 0);
    nino_tensor *m = nino_linear_op(s, r.cond, &net->final_mod);
    x = nino_linear_op(s, sd3_normed(s, &r, x, m, 0, net->is_scale_first), &net->final);
    x = nino_dit_picture_by_cell(s, x, 2, height, width);
    nino_scope_end(s);
    nino_unref(m);
    nino_residuals_release(f->residuals);
    nino_unref(f->y);
    return x;
}

void sd3_destroy(nino_diffusion *d)
{
    sd3 *net = d->net;
    nino_rope_cache_release(&net->windows);
    nino_weights_unref(&net->file);
}
