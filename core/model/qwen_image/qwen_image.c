// The Qwen-Image transformer: one evaluation.
// Sources: Qwen Team, Qwen-Image Technical Report (2025); huggingface/diffusers
// transformer_qwenimage.py; reference latents, masks and circular padding as ComfyUI
// ldm/qwen_image/model.py has them.
#include "core/model/qwen_image/qwen_image.h"

#include <float.h>
#include <stdio.h>

#include "core/model/block_control/block_control.h"

static nino_tensor *qwen_run_mlp(nino_stream *s, const qwen_mlp *m, nino_tensor *x)
{
    x = nino_linear_op(s, x, &m->in);
    return nino_linear_op(s, x, &m->out);
}

// ---- modulation ------------------------------------------------------------------------------

// Of layer number i: a row for each time step, and behind them that of no noise if has_zero.
static nino_tensor *qwen_mods(nino_stream *s, const qwen_run *r, int i, const nino_linear *l)
{
    if (r->at < 0)
        return nino_linear_op(s, nino_ref(r->time), l);
    nino_tensor *all = r->kept->rows[i], *m = nino_slice(s, nino_ref(all), 0, r->at, 1);
    return r->has_zero ? nino_concat(s, m, nino_slice(s, nino_ref(all), 0, r->kept->n, 1), 0) : m;
}

enum { SHIFT1, SCALE1, GATE1, SHIFT2, SCALE2, GATE2 };

// Vector i of a side's six: for the tokens that are made, or for those of the reference latents.
static nino_tensor *qwen_mod(nino_stream *s, const qwen_run *r, nino_tensor *mods, int i,
                             bool is_ref)
{
    const int64_t hidden = r->net->hidden;
    nino_tensor *m = nino_slice(s, nino_ref(mods), 1, i * hidden, hidden);
    return r->has_zero ? nino_slice(s, m, 0, is_ref ? r->rows : 0, is_ref ? 1 : r->rows) : m;
}

// LN(x) * (1 + scale) + shift
static nino_tensor *qwen_normed(nino_stream *s, const qwen_run *r, nino_tensor *x,
                                nino_tensor *mods, int shift, int scale, bool is_ref)
{
    return nino_layer_norm_mod(s, x, &r->net->norm, qwen_mod(s, r, mods, scale, is_ref),
                               qwen_mod(s, r, mods, shift, is_ref));
}

static nino_tensor *refs_of(nino_stream *s, const qwen_run *r, nino_tensor *x)
{
    return nino_slice(s, x, 1, r->n_img, nino_dim(x, 1) - r->n_img);
}

static nino_tensor *made_of(nino_stream *s, const qwen_run *r, nino_tensor *x)
{
    return nino_slice(s, x, 1, 0, r->n_img);
}

// The same of tokens with reference latents behind them, which may have vectors of their own, or
// without.
static nino_tensor *qwen_modulated(nino_stream *s, const qwen_run *r, nino_tensor *x,
                                   nino_tensor *mods, bool has_refs, int shift, int scale)
{
    if (!r->has_zero || !has_refs)
        return qwen_normed(s, r, x, mods, shift, scale, false);
    nino_tensor *refs = refs_of(s, r, nino_ref(x));
    return nino_concat(s, qwen_normed(s, r, made_of(s, r, x), mods, shift, scale, false),
                       qwen_normed(s, r, refs, mods, shift, scale, true), 1);
}

// x + gate * branch
static nino_tensor *qwen_gated(nino_stream *s, const qwen_run *r, nino_tensor *x,
                               nino_tensor *branch, nino_tensor *mods, bool has_refs, int gate)
{
    if (!r->has_zero || !has_refs)
        return nino_gate_add(s, x, branch, qwen_mod(s, r, mods, gate, false));
    nino_tensor *refs =
        nino_gate_add(s, refs_of(s, r, nino_ref(x)), refs_of(s, r, nino_ref(branch)),
                      qwen_mod(s, r, mods, gate, true));
    nino_tensor *made = nino_gate_add(s, made_of(s, r, x), made_of(s, r, branch),
                                      qwen_mod(s, r, mods, gate, false));
    return nino_concat(s, made, refs, 1);
}

// ---- blocks ----------------------------------------------------------------------------------
typedef struct qkv {
    nino_tensor *q, *k, *v;
} qkv;

// Of tokens whose angles are those of the table from row `first` on.
static qkv qwen_project(nino_stream *s, const qwen_run *r, const qwen_half *w, nino_tensor *u,
                        int64_t first)
{
    nino_tensor *table = nino_slice(s, nino_ref(r->table), 0, first, nino_dim(u, 1));
    return (qkv){
        .q = nino_linear_heads(s, nino_ref(u), &w->q, &w->norm_q, nino_ref(table)),
        .k = nino_linear_heads(s, nino_ref(u), &w->k, &w->norm_k, table),
        .v = nino_linear_op(s, u, &w->v),
    };
}

// Of text and image together.
static nino_tensor *qwen_attend(nino_stream *s, const qwen_run *r, qkv txt, qkv img)
{
    const int heads = r->net->heads;
    nino_tensor *q = nino_concat(s, txt.q, img.q, 1), *k = nino_concat(s, txt.k, img.k, 1);
    nino_tensor *v = nino_concat(s, txt.v, img.v, 1);
    return nino_attention_bias(s, q, k, v, heads, 0, nino_ref(r->bias));
}

// What follows the attention on either side.
static nino_tensor *qwen_finish(nino_stream *s, const qwen_run *r, const qwen_half *h,
                                nino_tensor *x, nino_tensor *attn, nino_tensor *mods, bool has_refs)
{
    x = qwen_gated(s, r, x, nino_linear_op(s, attn, &h->proj), mods, has_refs, GATE1);
    nino_tensor *u = qwen_modulated(s, r, nino_ref(x), mods, has_refs, SHIFT2, SCALE2);
    return qwen_gated(s, r, x, qwen_run_mlp(s, &h->mlp, u), mods, has_refs, GATE2);
}

void qwen_run_block(nino_stream *s, const qwen_run *r, int n, nino_tensor **img, nino_tensor **txt,
                    bool is_last)
{
    const qwen_block *b = &r->net->blocks[n];
    nino_tensor *mi = qwen_mods(s, r, 2 * n, &b->img.mod);
    nino_tensor *mt = qwen_mods(s, r, 2 * n + 1, &b->txt.mod);
    nino_tensor *ui = qwen_modulated(s, r, nino_ref(*img), mi, true, SHIFT1, SCALE1);
    nino_tensor *ut = qwen_modulated(s, r, nino_ref(*txt), mt, false, SHIFT1, SCALE1);
    const qkv t = qwen_project(s, r, &b->txt, ut, 0);
    const qkv i = qwen_project(s, r, &b->img, ui, r->n_txt);
    nino_tensor *attn = qwen_attend(s, r, t, i);
    nino_tensor *of_img = nino_slice(s, nino_ref(attn), 1, r->n_txt,
                                     is_last ? r->n_img : nino_dim(attn, 1) - r->n_txt);
    *img = is_last ? made_of(s, r, *img) : *img;
    *img = qwen_finish(s, r, &b->img, *img, of_img, mi, !is_last);
    if (is_last) {
        nino_unref(attn);
        nino_unref(*txt);
        *txt = NULL;
    } else {
        nino_tensor *of_txt = nino_slice(s, attn, 1, 0, r->n_txt);
        *txt = qwen_finish(s, r, &b->txt, *txt, of_txt, mt, false);
    }
    nino_unref(mi);
    nino_unref(mt);
}

// ---- what goes in ----------------------------------------------------------------------------
// silu of n time steps' embedding, and of that of no noise.
static nino_tensor *qwen_embed(nino_stream *s, const qwen_image *net, const float *t, int64_t n,
                               bool has_zero)
{
    static const float zero;
    nino_tensor *waves = nino_dit_sinusoid(s, t, n, 1, 1000);
    if (has_zero)
        waves = nino_concat(s, waves, nino_dit_sinusoid(s, &zero, 1, 1, 1000), 0);
    return nino_act_op(s, qwen_run_mlp(s, &net->time, waves), NINO_ACT_SILU);
}

nino_tensor *qwen_time(nino_stream *s, const nino_forward *f, qwen_run *r)
{
    const int64_t n = nino_dim(f->x, 0);
    r->rows = 1;
    for (int64_t i = 1; i < n; i++)
        if (f->timestep[i] != f->timestep[0])
            r->rows = n;
    return qwen_embed(s, r->net, f->timestep, r->rows, r->has_zero);
}

// A third of the weights make vectors of the time alone: for all time steps of a run at once, so that
// they are read once, in place of once in every evaluation.
static void qwen_keep(nino_stream *s, const qwen_image *net, nino_run_times *k)
{
    if (!nino_run_times_alloc(s, k, 2 * net->n_blocks + 1))
        return;
    nino_scope_begin(s, NINO_EV_STAGE, "qwen_image.times", 0, 0);
    nino_tensor *time = qwen_embed(s, net, k->t, k->n, true);
    for (int i = 0; i < net->n_blocks; i++) {
        k->rows[(size_t) 2 * (size_t) i] =
            nino_linear_op(s, nino_ref(time), &net->blocks[i].img.mod);
        k->rows[(size_t) 2 * (size_t) i + 1] =
            nino_linear_op(s, nino_ref(time), &net->blocks[i].txt.mod);
    }
    k->rows[(size_t) 2 * (size_t) net->n_blocks] = nino_linear_op(s, time, &net->final_mod);
    nino_scope_end(s);
}

// The same in every evaluation of a run.
static nino_tensor *qwen_text(nino_stream *s, const qwen_image *net, const nino_forward *f)
{
    nino_tensor **kept = nino_kept_at(s, f->text, 0, 1);
    if (kept && *kept) {
        nino_unref(f->context);
        return nino_ref(*kept);
    }
    nino_tensor *txt =
        nino_linear_op(s, nino_rms_norm(s, f->context, &net->txt_norm), &net->txt_in);
    if (kept)
        *kept = nino_ref(txt);
    return txt;
}

// The image's tokens and those of the reference latents; what they are goes to *o.
static nino_tensor *qwen_pictures(nino_stream *s, const nino_diffusion *d, nino_forward *f,
                                  qwen_rope *o)
{
    const qwen_image *net = d->net;
    if (f->n_refs > NINO_QWEN_REFS)
        nino_stream_fail(s, NINO_ERR_UNSUPPORTED, d->name, "more than %d reference latents",
                         NINO_QWEN_REFS);
    nino_tensor *img = NULL;
    for (int i = 0; i <= f->n_refs; i++) {
        nino_tensor *x = i ? f->refs[i - 1] : f->x;
        if (i <= NINO_QWEN_REFS) {
            o->h[i] = nino_dim(x, 1);
            o->w[i] = nino_dim(x, 2);
            o->n = i + 1;
        }
        x = nino_dit_tokens(s, x, 2);
        img = i ? nino_concat(s, img, x, 1) : x;
    }
    return nino_linear_op(s, img, &net->img_in);
}

// 0 for what is looked at, else the least number there is: [B,1,1,tokens].
static nino_tensor *qwen_bias(nino_stream *s, nino_tensor *mask, int64_t tokens)
{
    if (!mask)
        return NULL;
    const int64_t n = nino_dim(mask, 0), n_txt = nino_dim(mask, 1);
    nino_tensor *rest = nino_zeros(s, NINO_SHAPE(n, tokens - n_txt), NINO_F32);
    nino_tensor *all = nino_concat(s, nino_scale(s, mask, FLT_MAX, -FLT_MAX), rest, 1);
    return nino_reshape(s, all, NINO_SHAPE(n, 1, 1, tokens));
}

// A picture is a clip of one frame.
static void qwen_drop_frames(nino_stream *s, const nino_diffusion *d, nino_forward *f)
{
    const nino_shape x = *nino_shape_of(f->x);
    nino_forward_check(s, d, f);
    if (f->x && x.dim[1] != 1)
        nino_stream_fail(s, NINO_ERR_ARG, d->name,
                         "it makes pictures, the latent is a clip of %lld frames",
                         (long long) x.dim[1]);
    f->x = nino_reshape(s, f->x, NINO_SHAPE(x.dim[0], x.dim[2], x.dim[3], x.dim[4]));
}

static nino_tensor *qwen_final(nino_stream *s, const qwen_run *r, nino_tensor *x)
{
    const int64_t hidden = r->net->hidden;
    nino_tensor *m = qwen_mods(s, r, 2 * r->net->n_blocks, &r->net->final_mod);
    m = r->has_zero ? nino_slice(s, m, 0, 0, r->rows) : m;
    nino_tensor *scale = nino_slice(s, nino_ref(m), 1, 0, hidden);
    x = nino_layer_norm_mod(s, x, &r->net->norm, scale, nino_slice(s, m, 1, hidden, hidden));
    return nino_linear_op(s, x, &r->net->final);
}

// All of them; of *img the picture is left. Takes txt.
static void qwen_run_blocks(nino_stream *s, const nino_forward *f, const qwen_run *r,
                            nino_tensor **img, nino_tensor *txt)
{
    const int n = r->net->n_blocks;
    int last = n - 1; // of those that run
    char stage[32];
    nino_block_run control = { .n = 0 };
    nino_block_begin(s, &control, f->pass, r->net->hidden, n);
    while (last > 0 && nino_skips(f->skip.doubles, last))
        last--;
    for (int i = 0; i < n; i++) {
        const bool is_skipped = nino_skips(f->skip.doubles, i);
        nino_tensor **more = f->residuals && i < NINO_RESIDUALS ? &f->residuals->after[i] : NULL;
        if (is_skipped && !control.n && !(more && *more))
            continue;
        snprintf(stage, sizeof(stage), "qwen_image.block.%d", i);
        nino_scope_begin(s, NINO_EV_STAGE, stage, 0, 0);
        if (!is_skipped)
            qwen_run_block(s, r, i, img, &txt, i == last);
        *img = nino_block_add(s, &control, i, *img); // also where the block itself is left out
        if (more)
            *img = nino_residual_take_tokens(s, *img, 0, more, "Qwen-Image");
        nino_scope_end(s);
    }
    nino_block_end(&control);
    if (txt) { // no block ran
        *img = made_of(s, r, *img);
        nino_unref(txt);
    }
}

nino_tensor *qwen_forward(nino_stream *s, const nino_diffusion *d, nino_forward *f)
{
    qwen_image *net = d->net;
    qwen_drop_frames(s, d, f);
    const int64_t batch = nino_dim(f->x, 0), height = nino_dim(f->x, 1), width = nino_dim(f->x, 2);
    qwen_rope o = { .axes = net->axes,
                    .text = nino_dim(f->context, 1),
                    .method = f->ref_method ? f->ref_method : net->ref_method };
    qwen_run r = { .net = net,
                   .has_zero = f->n_refs && o.method == NINO_REFS_INDEX_TIMESTEP_ZERO,
                   .n_txt = o.text,
                   .n_img = nino_dit_side(height, 2) * nino_dit_side(width, 2) };
    nino_scope_begin(s, NINO_EV_STAGE, "qwen_image.in", 0, 0);
    r.at = nino_run_time_of(s, f->times, f->timestep, batch);
    if (r.at >= 0 && !f->times->rows)
        qwen_keep(s, net, f->times);
    r.at = f->times && f->times->rows ? r.at : -1;
    r.kept = f->times;
    r.rows = 1;
    r.time = r.at < 0 ? qwen_time(s, f, &r) : NULL;
    nino_tensor *img = qwen_pictures(s, d, f, &o);
    nino_tensor *txt = qwen_text(s, net, f);
    r.table = nino_rope_upload(s, &net->rope, &o, sizeof(o), qwen_rope_make);
    r.bias = qwen_bias(s, f->context_mask, o.text + nino_dim(img, 1));
    nino_scope_end(s);
    qwen_run_blocks(s, f, &r, &img, txt);
    nino_scope_begin(s, NINO_EV_STAGE, "qwen_image.out", 0, 0);
    nino_tensor *x = nino_dit_picture(s, qwen_final(s, &r, img), 2, height, width);
    x = nino_reshape(s, x, NINO_SHAPE(batch, 1, height, width, nino_dim(x, 3)));
    nino_scope_end(s);
    nino_tensor *used[] = { r.time, r.table, r.bias, f->y };
    for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
        nino_unref(used[i]);
    return x;
}

void qwen_destroy(nino_diffusion *d) { nino_rope_cache_release(&((qwen_image *) d->net)->rope); }
