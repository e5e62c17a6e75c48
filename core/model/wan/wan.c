// The Wan 2.1 and 2.2 video transformer: one evaluation.
// Sources: Wan Team, Wan: Open and Advanced Large-Scale Video Generative Models (2025);
// Wan-Video/Wan2.1 and Wan2.2 model.py; Jiang et al., VACE: All-in-One Video Creation and Editing
// (2025), ali-vilab/VACE model.py; a time step for each frame, circular padding and image to
// video without a picture as ComfyUI 0.3.64 ldm/wan/model.py has them.
#include "core/model/wan/wan.h"

#include <stdio.h>

// What all blocks of one evaluation see.
typedef struct wan_run {
    const wan *net;
    int64_t batch, groups; // groups: rows of `mods`, the batch or all its frames
    nino_tensor *mods;     // [groups,6 dim]
    nino_tensor *text;     // [B,T,dim]
    nino_tensor *image;    // [B,Ti,dim], NULL: the text is taken
    nino_tensor *table;
    nino_tensor *start; // the video's tokens before the first block, for VACE
    nino_kept *kept;    // of the text and the picture, of all evaluations
} wan_run;

// What of them is kept: themselves, then keys and values of each block's two cross-attentions.
enum { WAN_TEXT, WAN_IMAGE, WAN_CROSS, WAN_CROSS_IMAGE = 2, WAN_EACH = 4 };
static int wan_kept(const wan *net)
{
    return WAN_CROSS + WAN_EACH * (net->n_blocks + net->n_follow);
}

// ---- the time step ---------------------------------------------------------------------------
static nino_tensor *wan_run_mlp(nino_stream *s, const wan_mlp *m, nino_tensor *x)
{
    x = nino_linear_op(s, x, &m->in);
    return nino_linear_op(s, x, &m->out);
}

// Vectors that a layer adds to those of the time step: [groups,n dim] in one.
static nino_tensor *add_mods(nino_stream *s, nino_tensor *e, const nino_array *own)
{
    return nino_add(s, e, nino_upload(s, own, nino_stream_act_type(s)));
}

static nino_tensor *mod(nino_stream *s, const wan *net, nino_tensor *mods, int i)
{
    return nino_slice(s, nino_ref(mods), 1, (int64_t) i * net->dim, net->dim);
}

// Tokens in groups that share their vectors, and back. [B,T,dim] <-> [groups,..,dim].
static nino_tensor *regroup(nino_stream *s, nino_tensor *x, int64_t groups)
{
    const int64_t n = nino_dim(x, 0), t = nino_dim(x, 1), c = nino_dim(x, 2);
    return n == groups || !x ? x : nino_reshape(s, x, NINO_SHAPE(groups, n * t / groups, c));
}

// LN(x) * (1 + scale) + shift
static nino_tensor *modulated(nino_stream *s, const wan_run *r, nino_tensor *x, nino_tensor *mods,
                              int shift, int scale)
{
    x = nino_layer_norm_mod(s, regroup(s, x, r->groups), &r->net->norm, mod(s, r->net, mods, scale),
                            mod(s, r->net, mods, shift));
    return regroup(s, x, r->batch);
}

// x + gate * branch
static nino_tensor *wan_gated(nino_stream *s, const wan_run *r, nino_tensor *x, nino_tensor *branch,
                              nino_tensor *mods, int gate)
{
    x = nino_gate_add(s, regroup(s, x, r->groups), regroup(s, branch, r->groups),
                      mod(s, r->net, mods, gate));
    return regroup(s, x, r->batch);
}

// ---- blocks ----------------------------------------------------------------------------------
static nino_tensor *wan_project(nino_stream *s, nino_tensor *x, const nino_linear *w,
                                const nino_norm *norm)
{
    return nino_rms_norm(s, nino_linear_op(s, x, w), norm);
}

static nino_tensor *self_attention(nino_stream *s, const wan_run *r, const wan_attention *w,
                                   nino_tensor *u)
{
    const int heads = r->net->heads;
    nino_tensor *q = wan_project(s, nino_ref(u), &w->q, &w->norm_q);
    nino_tensor *k = wan_project(s, nino_ref(u), &w->k, &w->norm_k);
    nino_tensor *v = nino_linear_op(s, u, &w->v);
    q = nino_rope(s, q, nino_ref(r->table), heads);
    k = nino_rope(s, k, nino_ref(r->table), heads);
    return nino_linear_op(s, nino_attention(s, q, k, v, heads, 0), &w->o);
}

// Keys (with a norm) or values of the text or picture: alike in all evaluations of a run.
static nino_tensor *wan_of_text(nino_stream *s, const wan_run *r, int at, nino_tensor *of,
                                const nino_linear *w, const nino_norm *norm)
{
    return nino_kept_linear(s, r->kept, at, wan_kept(r->net), of, w, norm);
}

// x + what the text, and where the model takes one the picture, say about it; `at` numbers what is kept.
static nino_tensor *cross_attention(nino_stream *s, const wan_run *r, const wan_block *b, int at,
                                    nino_tensor *x)
{
    const wan_attention *w = &b->cross;
    const int heads = r->net->heads;
    nino_tensor *u = nino_layer_norm(s, nino_ref(x), &b->norm), *of_image = NULL;
    nino_tensor *q = wan_project(s, u, &w->q, &w->norm_q);
    if (r->net->has_picture) {
        nino_tensor *image = r->image ? r->image : r->text;
        const int i = at + WAN_CROSS_IMAGE;
        nino_tensor *k = wan_of_text(s, r, i, image, &b->image.k, &b->image.norm_k);
        nino_tensor *v = wan_of_text(s, r, i + 1, image, &b->image.v, NULL);
        of_image = nino_attention(s, nino_ref(q), k, v, heads, 0);
    }
    nino_tensor *k = wan_of_text(s, r, at, r->text, &w->k, &w->norm_k);
    nino_tensor *v = wan_of_text(s, r, at + 1, r->text, &w->v, NULL);
    nino_tensor *a = nino_attention(s, q, k, v, heads, 0);
    if (of_image)
        a = nino_add(s, a, of_image);
    return nino_linear_add(s, a, &w->o, x);
}

// Number i of all, those behind the others among them.
static nino_tensor *wan_run_block(nino_stream *s, const wan_run *r, const wan_block *b, int i,
                                  nino_tensor *x)
{
    enum { SHIFT1, SCALE1, GATE1, SHIFT2, SCALE2, GATE2 };
    nino_tensor *m = add_mods(s, nino_ref(r->mods), b->modulation);
    nino_tensor *u = modulated(s, r, nino_ref(x), m, SHIFT1, SCALE1);
    x = wan_gated(s, r, x, self_attention(s, r, &b->self, u), m, GATE1);
    x = cross_attention(s, r, b, WAN_CROSS + WAN_EACH * i, x);
    u = modulated(s, r, nino_ref(x), m, SHIFT2, SCALE2);
    x = wan_gated(s, r, x, wan_run_mlp(s, &b->ffn, u), m, GATE2);
    nino_unref(m);
    return x;
}

// x + what is found in the videos to follow; their tokens c go on to the next such block than number i.
static nino_tensor *follow(nino_stream *s, const wan_run *r, int at, const nino_forward *f,
                           nino_tensor **c, nino_tensor *x)
{
    const wan_follow *w = &r->net->follow[at];
    for (int i = 0; i < f->n_controls; i++) {
        if (w->before.w)
            c[i] = nino_linear_add(s, c[i], &w->before, nino_ref(r->start));
        c[i] = wan_run_block(s, r, &w->block, r->net->n_blocks + at, c[i]);
        nino_tensor *found = nino_linear_op(s, nino_ref(c[i]), &w->after);
        if (f->control_strength[i] != 1)
            found = nino_scale(s, found, f->control_strength[i], 0);
        x = nino_add(s, x, found);
    }
    return x;
}

static nino_tensor *wan_run_blocks(nino_stream *s, const wan_run *r, const nino_forward *f,
                                   nino_tensor **c, nino_tensor *x)
{
    char stage[32];
    const wan *net = r->net;
    const int every = net->n_follow ? net->n_blocks / net->n_follow : net->n_blocks + 1;
    for (int i = 0; i < net->n_blocks; i++) {
        snprintf(stage, sizeof(stage), "wan.block.%d", i);
        nino_scope_begin(s, NINO_EV_STAGE, stage, 0, 0);
        if (!nino_skips(f->skip.doubles, i))
            x = wan_run_block(s, r, &net->blocks[i], i, x);
        if (net->n_follow && i % every == 0 && i / every < net->n_follow)
            x = follow(s, r, i / every, f, c, x);
        nino_scope_end(s);
    }
    return x;
}

// ---- what goes in ----------------------------------------------------------------------------
// [B,t,h,w,C] -> [B,tokens,4C], frame by frame
static nino_tensor *wan_to_tokens(nino_stream *s, nino_tensor *x)
{
    const nino_shape *d = nino_shape_of(x);
    const int64_t n = d->dim[0], t = d->dim[1];
    x = nino_reshape(s, x, NINO_SHAPE(n * t, d->dim[2], d->dim[3], d->dim[4]));
    x = nino_dit_tokens(s, x, 2);
    return nino_reshape(s, x, NINO_SHAPE(n, t * nino_dim(x, 1), nino_dim(x, 2)));
}

// [B,tokens,4C] -> [B,t,h,w,C]: feature (y*2 + x)*C + c
static nino_tensor *to_video(nino_stream *s, nino_tensor *x, const nino_shape *like)
{
    const int64_t n = like->dim[0], t = like->dim[1], c = nino_dim(x, 2) / 4;
    const int64_t h = (like->dim[2] + 1) / 2, w = (like->dim[3] + 1) / 2;
    x = nino_reshape(s, x, NINO_SHAPE(n * t * h, w, 2, 2, c));
    x = nino_permute(s, x, (const int[]){ 0, 2, 1, 3, 4 });
    x = nino_reshape(s, x, NINO_SHAPE(n, t, 2 * h, 2 * w, c));
    return nino_slice(s, nino_slice(s, x, 2, 0, like->dim[2]), 3, 0, like->dim[3]);
}

static nino_tensor *wan_add_positions(nino_stream *s, const wan_picture *w, nino_tensor *x)
{
    const int64_t have = nino_dim(x, 1), know = w->positions ? w->positions->shape.dim[1] : 0;
    const int64_t n = have < know ? have : know;
    if (!w->positions || !x)
        return x;
    nino_tensor *p = nino_upload(s, w->positions, nino_stream_act_type(s));
    return nino_add(s, nino_slice(s, x, 1, 0, n), nino_slice(s, p, 1, 0, n));
}

static nino_tensor *read_picture(nino_stream *s, const wan *net, nino_tensor *x)
{
    if (!net->has_picture || !x) {
        nino_unref(x);
        return NULL;
    }
    const wan_picture *w = &net->picture;
    x = nino_layer_norm(s, wan_add_positions(s, w, x), &w->norm_in);
    return nino_layer_norm(s, wan_run_mlp(s, &w->mlp, x), &w->norm_out);
}

// What `make` would make of a text or picture again.
static nino_tensor *wan_once(nino_stream *s, const wan_run *r, int at, nino_tensor *x,
                             nino_tensor *(*make)(nino_stream *s, const wan *net, nino_tensor *x))
{
    nino_tensor **kept = nino_kept_at(s, r->kept, at, wan_kept(r->net));
    if (kept && *kept) {
        nino_unref(x);
        return nino_ref(*kept);
    }
    x = make(s, r->net, x);
    if (kept)
        *kept = nino_ref(x);
    return x;
}

static nino_tensor *read_text(nino_stream *s, const wan *net, nino_tensor *x)
{
    return wan_run_mlp(s, &net->text, x);
}

nino_tensor *wan_forward(nino_stream *s, const nino_diffusion *d, nino_forward *f)
{
    wan *net = d->net;
    nino_forward_check(s, d, f);
    const nino_shape shape = *nino_shape_of(f->x);
    nino_tensor *c[NINO_COND_CONTROLS] = { NULL };
    wan_run r = { .net = net, .batch = shape.dim[0], .kept = f->text };
    r.groups = r.batch * (f->frames ? f->frames : 1);
    nino_scope_begin(s, NINO_EV_STAGE, "wan.in", 0, 0);
    nino_tensor *e = wan_run_mlp(s, &net->time, nino_dit_sinusoid(s, f->timestep, r.groups, 1, 1));
    r.mods = nino_linear_op(s, nino_act_op(s, nino_ref(e), NINO_ACT_SILU), &net->time_mods);
    r.text = wan_once(s, &r, WAN_TEXT, f->context, read_text);
    r.image = wan_once(s, &r, WAN_IMAGE, f->vision, read_picture);
    const wan_size size = { shape.dim[1], (shape.dim[2] + 1) / 2, (shape.dim[3] + 1) / 2 };
    r.table = nino_rope_upload(s, &net->rope, &size, sizeof(size), wan_rope_make);
    nino_tensor *x = wan_to_tokens(s, f->concat ? nino_concat(s, f->x, f->concat, 4) : f->x);
    x = nino_linear_op(s, x, &net->patch);
    for (int i = 0; i < f->n_controls; i++)
        c[i] = nino_linear_op(s, wan_to_tokens(s, f->control[i]), &net->follow_patch);
    r.start = f->n_controls ? nino_ref(x) : NULL;
    nino_scope_end(s);
    x = wan_run_blocks(s, &r, f, c, x);
    nino_scope_begin(s, NINO_EV_STAGE, "wan.out", 0, 0);
    nino_tensor *both = nino_concat(s, nino_ref(e), e, 1);
    nino_tensor *m = add_mods(s, both, net->head_mods);
    x = nino_linear_op(s, modulated(s, &r, x, m, 0, 1), &net->head);
    x = to_video(s, x, &shape);
    nino_scope_end(s);
    nino_tensor *used[] = { m, r.mods, r.text, r.image, r.table, r.start, f->y };
    for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
        nino_unref(used[i]);
    for (int i = 0; i < f->n_controls; i++)
        nino_unref(c[i]);
    return x;
}

void wan_destroy(nino_diffusion *d) { nino_rope_cache_release(&((wan *) d->net)->rope); }
