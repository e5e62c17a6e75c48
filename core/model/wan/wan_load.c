// Reading a Wan video transformer: sizes from the shapes of the tensors, names of Wan-Video
// (ComfyUI, GGUF) or of huggingface/diffusers transformer_wan.py; both have the same layers.
#include "core/model/loader.h"
#include "core/model/wan/wan.h"

#define NORM_EPS 1e-6f
#define PICTURE_EPS 1e-5f
#define MAX_DIM 65536

typedef struct wan_loader {
    nino_loader l;
    wan *net;
    bool is_diffusers;
} wan_loader;

static nino_name wan_load_pick(const wan_loader *w, const char *base, const char *theirs,
                               const char *diffusers)
{
    return nino_name_of("%s%s", base, w->is_diffusers ? diffusers : theirs);
}

// rows < 0: any
static void load_layer(wan_loader *w, const char *base, const char *theirs, const char *diffusers,
                       int64_t cin, int64_t rows, nino_linear *out)
{
    const nino_name name = wan_load_pick(w, base, theirs, diffusers);
    nino_load_linear(&w->l, name.s, cin, out);
    if (rows >= 0)
        nino_load_expect(&w->l, name.s, out, rows);
}

static void load_rms(wan_loader *w, const char *base, const char *theirs, const char *diffusers,
                     nino_norm *out)
{
    const nino_name name = wan_load_pick(w, base, theirs, diffusers);
    nino_load_vector(&w->l, nino_name_of("%s.weight", name.s).s, w->net->dim, &out->gamma);
    out->groups = 1;
    out->eps = NORM_EPS;
}

// A table of n values that stays on the host, as f32 of this shape.
static void load_table(wan_loader *w, const char *name, nino_shape shape, nino_array **out)
{
    nino_loader *l = &w->l;
    const nino_name full = nino_name_of("%s%s", l->prefix, name);
    const nino_tensor_info *t = l->st ? NULL : nino_weights_find(l->file, full.s);
    if (!t || t->rank > NINO_MAX_RANK) {
        nino_load_fail(l, NINO_ERR_FORMAT, "the file has no tensor %s", full.s);
        return;
    }
    if (nino_tensor_info_count(t) != nino_shape_count(&shape)) {
        nino_load_fail(l, NINO_ERR_FORMAT, "%s has %lld values where %lld are needed", full.s,
                       (long long) nino_tensor_info_count(t), (long long) nino_shape_count(&shape));
        return;
    }
    nino_load_table(l, t, out);
    if (*out)
        (*out)->shape = shape;
}

static void load_attention(wan_loader *w, const char *base, bool is_cross, wan_attention *out)
{
    static const char *const theirs[] = { "q", "k", "v", "o" };
    static const char *const diffusers[] = { "to_q", "to_k", "to_v", "to_out.0" };
    nino_linear *const to[] = { &out->q, &out->k, &out->v, &out->o };
    const int64_t dim = w->net->dim;
    const nino_name in = wan_load_pick(w, base, is_cross ? "cross_attn." : "self_attn.",
                                       is_cross ? "attn2." : "attn1.");
    for (int i = 0; i < 4; i++)
        load_layer(w, in.s, theirs[i], diffusers[i], dim, dim, to[i]);
    load_rms(w, in.s, "norm_q", "norm_q", &out->norm_q);
    load_rms(w, in.s, "norm_k", "norm_k", &out->norm_k);
}

static void wan_load_load_block(wan_loader *w, const char *base, wan_block *b)
{
    const int64_t dim = w->net->dim;
    load_table(w, wan_load_pick(w, base, "modulation", "scale_shift_table").s,
               NINO_SHAPE(1, NINO_WAN_MODS * dim), &b->modulation);
    load_attention(w, base, false, &b->self);
    load_attention(w, base, true, &b->cross);
    if (w->net->has_picture) {
        const nino_name in = wan_load_pick(w, base, "cross_attn.", "attn2.");
        load_layer(w, in.s, "k_img", "add_k_proj", dim, dim, &b->image.k);
        load_layer(w, in.s, "v_img", "add_v_proj", dim, dim, &b->image.v);
        load_rms(w, in.s, "norm_k_img", "norm_added_k", &b->image.norm_k);
    }
    nino_load_norm(&w->l, wan_load_pick(w, base, "norm3", "norm2").s, dim, 1, NORM_EPS, &b->norm);
    load_layer(w, base, "ffn.0", "ffn.net.0.proj", dim, -1, &b->ffn.in);
    load_layer(w, base, "ffn.2", "ffn.net.2", nino_load_rows(&w->l, b->ffn.in.w), dim, &b->ffn.out);
    b->ffn.in.act = NINO_ACT_GELU_TANH;
}

static void wan_load_load_blocks(wan_loader *w)
{
    wan *net = w->net;
    const int n = nino_load_count(&w->l, "blocks.");
    if (!n) {
        nino_load_fail(&w->l, NINO_ERR_FORMAT, "%sblocks.0 is missing", w->l.prefix);
        return;
    }
    net->blocks = nino_load_alloc(&w->l, (size_t) n, sizeof(*net->blocks));
    net->n_blocks = n;
    for (int i = 0; i < n && !w->l.st; i++)
        wan_load_load_block(w, nino_name_of("blocks.%d.", i).s, &net->blocks[i]);
}

// VACE: blocks beside the others.
static void load_follow(wan_loader *w, nino_diffusion *d)
{
    wan *net = w->net;
    const int n = nino_load_count(&w->l, "vace_blocks.");
    nino_load_patch(&w->l, "vace_patch_embedding", &net->follow_patch);
    if (w->l.st)
        return;
    if (n < 1 || n > net->n_blocks || net->follow_patch.w->n != net->dim ||
        net->follow_patch.w->c % 4 ||
        net->follow_patch.w->c / 4 <= 2 * (int64_t) d->format->channels) {
        nino_load_fail(&w->l, NINO_ERR_FORMAT,
                       "%d blocks and %svace_patch_embedding.weight do not fit the network", n,
                       w->l.prefix);
        return;
    }
    d->control_dim = (int) (net->follow_patch.w->c / 4);
    net->follow = nino_load_alloc(&w->l, (size_t) n, sizeof(*net->follow));
    net->n_follow = n;
    for (int i = 0; i < n && !w->l.st; i++) {
        const nino_name base = nino_name_of("vace_blocks.%d.", i);
        wan_load_load_block(w, base.s, &net->follow[i].block);
        if (!i)
            load_layer(w, base.s, "before_proj", "proj_in", net->dim, net->dim,
                       &net->follow[i].before);
        load_layer(w, base.s, "after_proj", "proj_out", net->dim, net->dim, &net->follow[i].after);
    }
}

static void wan_load_load_mlp(wan_loader *w, const char *theirs, const char *diffusers,
                              nino_act act, wan_mlp *out)
{
    const int64_t dim = w->net->dim;
    const nino_name d = nino_name_of("condition_embedder.%s.linear_", diffusers);
    load_layer(w, "", nino_name_of("%s.0", theirs).s, nino_name_of("%s1", d.s).s, -1, dim,
               &out->in);
    load_layer(w, "", nino_name_of("%s.2", theirs).s, nino_name_of("%s2", d.s).s, dim, dim,
               &out->out);
    out->in.act = act;
}

static void wan_load_load_picture(wan_loader *w, nino_diffusion *d)
{
    static const char *const embedder = "condition_embedder.image_embedder.";
    wan_picture *p = &w->net->picture;
    const char *base = w->is_diffusers ? embedder : "img_emb.";
    const nino_name first = wan_load_pick(w, base, "proj.1", "ff.net.0.proj");
    const nino_name positions = wan_load_pick(w, base, "emb_pos", "pos_embed");
    nino_load_linear(&w->l, first.s, -1, &p->mlp.in);
    if (w->l.st)
        return;
    const int64_t c = p->mlp.in.w->c;
    nino_load_norm(&w->l, wan_load_pick(w, base, "proj.0", "norm1").s, c, 1, PICTURE_EPS,
                   &p->norm_in);
    load_layer(w, base, "proj.3", "ff.net.2", p->mlp.in.w->n, w->net->dim, &p->mlp.out);
    nino_load_norm(&w->l, wan_load_pick(w, base, "proj.4", "norm2").s, w->net->dim, 1, PICTURE_EPS,
                   &p->norm_out);
    p->mlp.in.act = NINO_ACT_GELU;
    d->vision_dim = (int) c;
    const nino_tensor_info *t =
        nino_weights_find(w->l.file, nino_name_of("%s%s", w->l.prefix, positions.s).s);
    if (t && t->rank == 3)
        load_table(w, positions.s, NINO_SHAPE(1, t->dim[1], c), &p->positions);
}

// Width, heads, and what is inside the patches at both ends.
static void wan_load_load_sizes(wan_loader *w, nino_diffusion *d)
{
    nino_loader *l = &w->l;
    wan *net = w->net;
    const char *head = w->is_diffusers ? "proj_out" : "head.head";
    nino_load_patch(l, "patch_embedding", &net->patch);
    if (l->st)
        return;
    const int64_t dim = net->patch.w->n, in = net->patch.w->c;
    if (dim % NINO_WAN_HEAD || dim > MAX_DIM || in % 4) {
        nino_load_fail(l, NINO_ERR_UNSUPPORTED,
                       "%spatch_embedding.weight makes %lld channels of patches of %lld values; a "
                       "multiple of %d of 2x2 cells are needed",
                       l->prefix, (long long) dim, (long long) in, NINO_WAN_HEAD);
        return;
    }
    net->dim = (int) dim;
    net->heads = net->dim / NINO_WAN_HEAD;
    net->norm = (nino_norm){ .eps = NORM_EPS };
    nino_load_linear(l, head, dim, &net->head);
    const int64_t out = nino_load_rows(l, net->head.w) / 4;
    d->format = nino_latent_format_find(out == 48 ? "wan22" : "wan21");
    d->in_channels = (int) (in / 4);
    if (out != d->format->channels || d->in_channels < out)
        nino_load_fail(l, NINO_ERR_UNSUPPORTED,
                       "it makes %lld latent channels of %d; 16 or 48 are known", (long long) out,
                       d->in_channels);
}

static void wan_load_load_ends(wan_loader *w, nino_diffusion *d)
{
    wan *net = w->net;
    const int64_t dim = net->dim;
    wan_load_load_mlp(w, "time_embedding", "time_embedder", NINO_ACT_SILU, &net->time);
    wan_load_load_mlp(w, "text_embedding", "text_embedder", NINO_ACT_GELU_TANH, &net->text);
    load_layer(w, "", "time_projection.1", "condition_embedder.time_proj", dim, NINO_WAN_MODS * dim,
               &net->time_mods);
    load_table(w, w->is_diffusers ? "scale_shift_table" : "head.modulation", NINO_SHAPE(1, 2 * dim),
               &net->head_mods);
    if (w->l.st)
        return;
    d->context_dim = (int) net->text.in.w->c;
    net->has_picture =
        nino_load_has(&w->l, w->is_diffusers ? "condition_embedder.image_embedder.norm1.bias"
                                             : "img_emb.proj.0.bias");
    if (net->has_picture)
        wan_load_load_picture(w, d);
}

// Models that have more than this network.
static void wan_load_refuse_others(wan_loader *w)
{
    static const struct {
        const char *name, *what;
    } others[] = {
        { "control_adapter.conv.weight", "camera control" },
        { "casual_audio_encoder.encoder.final_linear.weight", "speech to video" },
        { "casual_audio_encoder.weights", "speech to video" },
        { "motion_encoder.enc.fc.0.weight", "Animate" },
        { "face_adapter.fuser_blocks.0.k_norm.weight", "Animate" },
        { "audio_proj.audio_proj_glob_1.layer.bias", "HuMo (audio)" },
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (nino_load_has(&w->l, "%s", others[i].name))
            nino_load_fail(&w->l, NINO_ERR_UNSUPPORTED,
                           "a Wan model for %s, which this version cannot run", others[i].what);
}

nino_status nino_wan_load(nino_weights *file, const char *prefix, nino_diffusion *d,
                          nino_error *err)
{
    wan_loader w = { .l = { .file = file,
                            .prefix = prefix,
                            .layers = &d->layers,
                            .type = d->weight_type,
                            .err = err } };
    w.net = nino_load_alloc(&w.l, 1, sizeof(*w.net));
    if (!w.net)
        return w.l.st;
    nino_rope_cache_init(&w.net->rope);
    d->kind = NINO_DIFFUSION_WAN;
    d->net = w.net;
    d->forward = wan_forward;
    d->destroy = wan_destroy;
    w.is_diffusers = nino_load_has(&w.l, "condition_embedder.time_proj.weight");
    wan_load_refuse_others(&w);
    wan_load_load_sizes(&w, d);
    if (!w.l.st)
        wan_load_load_ends(&w, d);
    if (!w.l.st)
        wan_load_load_blocks(&w);
    if (!w.l.st && nino_load_has(&w.l, "vace_patch_embedding.weight"))
        load_follow(&w, d);
    return w.l.st;
}
