// One block of Z-Image's transformer, and of networks that are made of the same: reading it, and
// what it makes of its tokens. Names are ComfyUI's or those of huggingface/diffusers
// transformer_z_image.py, which has q, k and v apart.
#include "core/model/zimage/zimage.h"

#define NORM_EPS 1e-5f
#define HEAD_EPS 1e-6f

// ---- reading ---------------------------------------------------------------------------------
nino_name zimage_pick(const zimage_loader *z, const char *base, const char *own,
                      const char *diffusers)
{
    return nino_name_of("%s%s", base, z->is_diffusers ? diffusers : own);
}

void zimage_linear(zimage_loader *z, nino_name name, int64_t cin, int64_t rows, nino_linear *out)
{
    nino_load_linear(&z->l, name.s, cin, out);
    if (rows >= 0)
        nino_load_expect(&z->l, name.s, out, rows);
}

void zimage_rms(zimage_loader *z, nino_name name, int64_t n, nino_norm *out)
{
    nino_load_vector(&z->l, nino_name_of("%s.weight", name.s).s, n, &out->gamma);
    out->groups = 1;
    out->eps = NORM_EPS;
}

// Rows of a fused layer, which has `all` of them.
static void zimage_rows(zimage_loader *z, nino_name name, int64_t all, int64_t row0, int64_t rows,
                        int64_t cin, nino_linear *out)
{
    nino_loader *l = &z->l;
    const nino_tensor_info *t =
        nino_weights_find(l->file, nino_name_of("%s%s.weight", l->prefix, name.s).s);
    if (t && t->dim[0] != all)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s.weight has %lld rows where %lld are needed",
                       l->prefix, name.s, (long long) t->dim[0], (long long) all);
    nino_load_part(l, (nino_weight_part){ .name = name.s, .row0 = row0, .rows = rows }, cin, out);
}

static void zimage_load_attention(zimage_loader *z, const char *base, zimage_attention *out)
{
    static const char *const apart[] = { "attention.to_q", "attention.to_k", "attention.to_v" };
    const int64_t w = z->width;
    nino_linear *const to[] = { &out->q, &out->k, &out->v };
    nino_norm *const norms[] = { &out->norm_q, &out->norm_k };
    for (int i = 0; i < 3; i++) {
        if (z->is_diffusers)
            zimage_linear(z, nino_name_of("%s%s", base, apart[i]), w, w, to[i]);
        else
            zimage_rows(z, nino_name_of("%sattention.qkv", base), 3 * w, i * w, w, w, to[i]);
    }
    for (int i = 0; i < 2; i++) {
        zimage_rms(z,
                   zimage_pick(z, base, i ? "attention.k_norm" : "attention.q_norm",
                               i ? "attention.norm_k" : "attention.norm_q"),
                   z->depth, norms[i]);
        norms[i]->groups = (int) (w / z->depth);
        norms[i]->eps = HEAD_EPS;
    }
    zimage_linear(z, zimage_pick(z, base, "attention.out", "attention.to_out.0"), w, w, &out->out);
}

static void zimage_load_ffn(zimage_loader *z, const char *base, zimage_ffn *out)
{
    const int64_t w = z->width;
    const nino_name w3 = nino_name_of("%sfeed_forward.w3", base);
    zimage_linear(z, nino_name_of("%sfeed_forward.w1", base), w, -1, &out->w1);
    const int64_t hidden = nino_load_rows(&z->l, out->w1.w);
    zimage_linear(z, w3, w, hidden, &out->w3);
    zimage_linear(z, nino_name_of("%sfeed_forward.w2", base), hidden, w, &out->w2);
}

// Scale and gate of the attention, then of the feed-forward layer.
static void zimage_load_mod(zimage_loader *z, const char *base, int64_t which, zimage_mod *out)
{
    const int64_t w = z->width;
    const nino_name name = nino_name_of("%sadaLN_modulation.0", base);
    zimage_rows(z, name, 4 * w, 2 * which * w, w, z->time, &out->scale);
    zimage_rows(z, name, 4 * w, (2 * which + 1) * w, w, z->time, &out->gate);
    out->gate.act = NINO_ACT_TANH;
}

static void zimage_load_branch(zimage_loader *z, const char *base, int which, bool is_modulated,
                               zimage_branch *out)
{
    const char *norm = which ? "ffn_norm" : "attention_norm";
    zimage_rms(z, nino_name_of("%s%s1", base, norm), z->width, &out->before);
    zimage_rms(z, nino_name_of("%s%s2", base, norm), z->width, &out->behind);
    if (is_modulated)
        zimage_load_mod(z, base, which, &out->mod);
}

void zimage_load_block(zimage_loader *z, const char *base, bool is_modulated, zimage_block *out)
{
    if (z->l.st)
        return;
    zimage_load_attention(z, base, &out->attention);
    zimage_load_ffn(z, base, &out->ffn);
    zimage_load_branch(z, base, 0, is_modulated, &out->of_attention);
    zimage_load_branch(z, base, 1, is_modulated, &out->of_ffn);
}

bool zimage_load_head(zimage_loader *z, const char *norm, int64_t width)
{
    nino_loader *l = &z->l;
    const nino_name full = nino_name_of("%s%s.weight", l->prefix, norm);
    const nino_tensor_info *t = nino_weights_find(l->file, full.s);
    if (!t || t->rank != 1)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s is missing", full.s);
    if (l->st || !t)
        return false;
    const int64_t depth = t->dim[0];
    if (depth < 1 || depth % 16 || width % depth || width > INT32_MAX)
        nino_load_fail(l, NINO_ERR_UNSUPPORTED,
                       "heads of %lld channels in %lld are not known; a head has a multiple of 16",
                       (long long) depth, (long long) width);
    if (l->st)
        return false;
    z->width = width;
    z->depth = depth;
    return true;
}

// ---- running ---------------------------------------------------------------------------------
// rms(x) * (1 + scale)
static nino_tensor *zimage_before(nino_stream *s, const zimage_run *r, const zimage_branch *b,
                                  nino_tensor *x)
{
    nino_tensor *u = nino_rms_norm(s, x, &b->before);
    if (!b->mod.scale.w)
        return u;
    return nino_gate_add(s, nino_ref(u), u, nino_linear_op(s, nino_ref(r->time), &b->mod.scale));
}

// x + tanh(gate) * rms(branch)
static nino_tensor *zimage_behind(nino_stream *s, const zimage_run *r, const zimage_branch *b,
                                  nino_tensor *x, nino_tensor *branch)
{
    branch = nino_rms_norm(s, branch, &b->behind);
    if (!b->mod.gate.w)
        return nino_add(s, x, branch);
    return nino_gate_add(s, x, branch, nino_linear_op(s, nino_ref(r->time), &b->mod.gate));
}

static nino_tensor *zimage_attend(nino_stream *s, const zimage_run *r, const zimage_attention *w,
                                  nino_tensor *u)
{
    nino_tensor *q = nino_linear_heads(s, nino_ref(u), &w->q, &w->norm_q, nino_ref(r->table));
    nino_tensor *k = nino_linear_heads(s, nino_ref(u), &w->k, &w->norm_k, nino_ref(r->table));
    nino_tensor *v = nino_linear_op(s, u, &w->v);
    return nino_linear_op(s, nino_attention(s, q, k, v, r->net->heads, 0), &w->out);
}

static nino_tensor *zimage_feed(nino_stream *s, const zimage_ffn *w, nino_tensor *u)
{
    nino_tensor *gate = nino_linear_op(s, nino_ref(u), &w->w1);
    nino_tensor *up = nino_linear_op(s, u, &w->w3);
    return nino_linear_op(s, nino_mul(s, gate, up, NINO_ACT_SILU), &w->w2);
}

nino_tensor *zimage_run_block(nino_stream *s, const zimage_run *r, const zimage_block *b,
                              nino_tensor *x)
{
    nino_tensor *u = zimage_before(s, r, &b->of_attention, nino_ref(x));
    x = zimage_behind(s, r, &b->of_attention, x, zimage_attend(s, r, &b->attention, u));
    u = zimage_before(s, r, &b->of_ffn, nino_ref(x));
    return zimage_behind(s, r, &b->of_ffn, x, zimage_feed(s, &b->ffn, u));
}
