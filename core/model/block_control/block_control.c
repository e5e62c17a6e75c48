// Blockwise control networks: reading them, and what they add.
// Names and arithmetic: ComfyUI comfy_extras/nodes_model_patch.py; modelscope/DiffSynth-Studio
// Qwen-Image-Blockwise-ControlNet.
#include "core/model/block_control/block_control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/model/dit.h"
#include "core/model/loader.h"

#define NORM_EPS 1e-6f
#define PATCH 2 // cells of a token's side

// ---- reading ---------------------------------------------------------------------------------

static void load_norm(nino_loader *l, int block, const char *name, int64_t c, nino_norm *out)
{
    nino_load_vector(l, nino_name_of("controlnet_blocks.%d.%s.weight", block, name).s, c,
                     &out->gamma);
    out->groups = 1;
    out->eps = NORM_EPS;
}

static void load_square(nino_loader *l, int block, const char *name, int64_t c, nino_linear *out)
{
    const nino_name full = nino_name_of("controlnet_blocks.%d.%s", block, name);
    nino_load_linear(l, full.s, c, out);
    nino_load_expect(l, full.s, out, c);
}

static void load_blocks(nino_loader *l, nino_block_net *n)
{
    n->n_blocks = nino_load_count(l, "controlnet_blocks.");
    n->block = nino_load_alloc(l, (size_t) n->n_blocks + 1, sizeof(*n->block));
    for (int i = 0; i < n->n_blocks && !l->st; i++) {
        nino_block_layer *b = &n->block[i];
        load_norm(l, i, "x_rms", n->hidden, &b->norm_x);
        load_norm(l, i, "y_rms", n->hidden, &b->norm_hint);
        load_square(l, i, "input_proj", n->hidden, &b->in);
        load_square(l, i, "output_proj", n->hidden, &b->out);
        b->in.act = NINO_ACT_GELU;
    }
}

// Its input is the squares of a latent, and perhaps of a mask.
static void load_input(nino_loader *l, nino_block_net *n)
{
    const int64_t cells = (int64_t) PATCH * PATCH, plain = cells * n->format->channels;
    const int64_t masked = plain + cells;
    nino_load_linear(l, "img_in", -1, &n->img_in);
    if (l->st)
        return;
    n->hidden = (int) n->img_in.w->n;
    n->has_mask = n->img_in.w->c == masked;
    if (n->img_in.w->c != plain && !n->has_mask)
        nino_load_fail(l, NINO_ERR_FORMAT,
                       "img_in.weight takes %lld features: %lld, or %lld with a mask, are known",
                       (long long) n->img_in.w->c, (long long) plain, (long long) masked);
}

nino_block_net *nino_block_net_create(nino_weights *file, const char *name, const char *format,
                                      nino_error *err)
{
    nino_block_net *n = calloc(1, sizeof(*n));
    if (!n) {
        nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
        return NULL;
    }
    n->refs = 1;
    n->file = nino_weights_ref(file);
    n->format = nino_latent_format_find(format);
    snprintf(n->name, sizeof(n->name), "%s", name);
    return n;
}

nino_status nino_qwen_control_load(nino_weights *file, const char *name, nino_block_net **out,
                                   nino_error *err)
{
    *out = NULL;
    nino_block_net *n = nino_block_net_create(file, name, "wan21", err);
    if (!n)
        return NINO_ERR_NOMEM;
    nino_loader l = { .file = file, .prefix = "", .layers = &n->layers, .where = name, .err = err };
    load_input(&l, n);
    load_blocks(&l, n);
    snprintf(n->detail, sizeof(n->detail), "ControlNet of Qwen-Image, %d blocks%s", n->n_blocks,
             n->has_mask ? ", takes a mask" : "");
    if (l.st)
        nino_block_net_unref(&n);
    *out = n;
    return l.st;
}

// ---- sharing ---------------------------------------------------------------------------------

nino_block_net *nino_block_net_ref(nino_block_net *n)
{
    if (n)
        __atomic_add_fetch(&n->refs, 1, __ATOMIC_RELAXED);
    return n;
}

void nino_block_net_unref(nino_block_net **pn)
{
    nino_block_net *n = *pn;
    *pn = NULL;
    if (!n || __atomic_sub_fetch(&n->refs, 1, __ATOMIC_ACQ_REL))
        return;
    nino_layers_release(&n->layers);
    nino_weights_unref(&n->file);
    free(n);
}

nino_block_use *nino_block_use_create(const nino_block_use *u)
{
    nino_block_use *c = malloc(sizeof(*c));
    if (!c)
        return NULL;
    *c = *u;
    c->refs = 1;
    nino_block_net_ref(c->net);
    nino_vae_ref(c->vae);
    nino_array_ref(c->image);
    nino_array_ref(c->paint);
    nino_array_ref(c->mask);
    return c;
}

nino_block_use *nino_block_use_ref(nino_block_use *u)
{
    if (u)
        __atomic_add_fetch(&u->refs, 1, __ATOMIC_RELAXED);
    return u;
}

void nino_block_use_unref(nino_block_use **pu)
{
    nino_block_use *u = *pu;
    *pu = NULL;
    if (!u || __atomic_sub_fetch(&u->refs, 1, __ATOMIC_ACQ_REL))
        return;
    nino_block_net_unref(&u->net);
    nino_vae_unref(&u->vae);
    nino_array_unref(&u->image);
    nino_array_unref(&u->paint);
    nino_array_unref(&u->mask);
    free(u);
}

// ---- one evaluation --------------------------------------------------------------------------

void nino_block_begin(nino_stream *s, nino_block_run *r, const nino_pass *p, int hidden,
                      int n_blocks)
{
    const nino_patch *at = NULL;
    while ((at = nino_pass_next(p, NINO_PATCH_BLOCK_CONTROL, at))) {
        const nino_block_net *net = at->control->net;
        const nino_array *latent = p->hint ? p->hint[at - p->patch] : NULL;
        if (!net->block || net->hidden != hidden || net->n_blocks < n_blocks) {
            nino_stream_fail(s, NINO_ERR_ARG, net->name,
                             "it is for %d blocks of width %d, the model has %d of width %d",
                             net->n_blocks, net->hidden, n_blocks, hidden);
        } else if (r->n == NINO_BLOCK_USES) {
            nino_stream_fail(s, NINO_ERR_UNSUPPORTED, net->name,
                             "more than %d such patches on one model", NINO_BLOCK_USES);
        } else if (!latent) {
            nino_stream_fail(s, NINO_ERR_ARG, net->name, "nothing encodes its picture");
        } else {
            nino_tensor *x = nino_upload(s, latent, nino_stream_act_type(s));
            r->on[r->n].use = at->control;
            r->on[r->n++].hint = nino_linear_op(s, nino_dit_tokens(s, x, PATCH), &net->img_in);
            continue;
        }
        return;
    }
}

void nino_block_end(nino_block_run *r)
{
    for (int i = 0; i < r->n; i++)
        nino_unref(r->on[i].hint);
    r->n = 0;
}

static nino_tensor *added(nino_stream *s, const nino_block_layer *b, float strength, nino_tensor *x,
                          nino_tensor *hint)
{
    nino_tensor *sum = nino_add(s, nino_rms_norm(s, nino_ref(x), &b->norm_x),
                                nino_rms_norm(s, hint, &b->norm_hint));
    sum = nino_linear_op(s, sum, &b->in);
    if (strength == 1)
        return nino_linear_add(s, sum, &b->out, x);
    return nino_add(s, x, nino_scale(s, nino_linear_op(s, sum, &b->out), strength, 0));
}

nino_tensor *nino_block_add(nino_stream *s, const nino_block_run *r, int i, nino_tensor *x)
{
    for (int k = 0; k < r->n; k++) {
        const nino_block_use *u = r->on[k].use;
        const nino_block_layer *b = &u->net->block[i];
        const int64_t n = nino_dim(r->on[k].hint, 1), rest = nino_dim(x, 1) - n;
        nino_tensor *behind = rest > 0 ? nino_slice(s, nino_ref(x), 1, n, rest) : NULL;
        x = rest > 0 ? nino_slice(s, x, 1, 0, n) : x;
        x = added(s, b, (float) u->strength, x, nino_ref(r->on[k].hint));
        x = behind ? nino_concat(s, x, behind, 1) : x;
    }
    return x;
}
