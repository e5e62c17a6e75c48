// Reading a Stable Diffusion 3 or 3.5 transformer: sizes from the shapes of the tensors, names of
// Stability AI (ComfyUI, GGUF) or of huggingface/diffusers transformer_sd3.py, which has q, k and v
// apart and the scale before the shift where there are two vectors.
#include "core/model/sd3/sd3.h"

#include <math.h>

#define NORM_EPS 1e-6f
#define HEAD 64 // channels of a head
#define CELLS 4 // of a token

typedef struct sd3_loader {
    nino_loader l;
    sd3 *net;
    bool is_diffusers;
    bool is_body; // of a control network
} sd3_loader;

static void sd3_load_layer(sd3_loader *f, const char *base, const char *name, int64_t cin,
                           int64_t rows, nino_linear *out)
{
    const nino_name full = nino_name_of("%s%s", base, name);
    nino_load_linear(&f->l, full.s, cin, out);
    if (rows >= 0)
        nino_load_expect(&f->l, full.s, out, rows);
}

static void sd3_load_norm(sd3_loader *f, const char *base, const char *name, nino_norm *out)
{
    const nino_name full = nino_name_of("%s%s.weight", base, name);
    if (!nino_load_has(&f->l, "%s", full.s)) // SD3 has none
        return;
    nino_load_vector(&f->l, full.s, HEAD, &out->gamma);
    out->groups = f->net->heads;
    out->eps = NORM_EPS;
}

// The names of an attention's q, k, v, their norms and the last layer, in diffusers' notation.
typedef struct sd3_names {
    const char *q, *k, *v, *norm_q, *norm_k, *proj;
} sd3_names;

// own: its name in Stability's notation, "x_block.attn".
static void sd3_load_attn(sd3_loader *f, const char *base, const char *own, const sd3_names *d,
                          bool has_proj, sd3_attn *out)
{
    const int64_t h = f->net->hidden, rows = 3 * h;
    nino_linear *const to[3] = { &out->q, &out->k, &out->v };
    const char *const apart[3] = { d->q, d->k, d->v };
    const nino_name fused = nino_name_of("%s%s.qkv", base, own);
    const nino_name stem = nino_name_of("%s%s.", base, own);
    for (int i = 0; i < 3; i++)
        if (f->is_diffusers)
            sd3_load_layer(f, base, apart[i], h, h, to[i]);
        else
            nino_load_part(&f->l, (nino_weight_part){ .name = fused.s, .row0 = i * h, .rows = h },
                           h, to[i]);
    const nino_tensor_info *t =
        nino_weights_find(f->l.file, nino_name_of("%s%s.weight", f->l.prefix, fused.s).s);
    if (t && !f->is_diffusers && t->dim[0] != rows)
        nino_load_fail(&f->l, NINO_ERR_FORMAT, "%s%s.weight has %lld rows where %lld are needed",
                       f->l.prefix, fused.s, (long long) t->dim[0], (long long) rows);
    sd3_load_norm(f, f->is_diffusers ? base : stem.s, f->is_diffusers ? d->norm_q : "ln_q",
                  &out->norm_q);
    sd3_load_norm(f, f->is_diffusers ? base : stem.s, f->is_diffusers ? d->norm_k : "ln_k",
                  &out->norm_k);
    if (has_proj)
        sd3_load_layer(f, f->is_diffusers ? base : stem.s, f->is_diffusers ? d->proj : "proj", h, h,
                       &out->proj);
}

static void sd3_load_mlp(sd3_loader *f, const char *base, const char *own, const char *diffusers,
                         sd3_mlp *out)
{
    const int64_t h = f->net->hidden;
    const nino_name first = f->is_diffusers ? nino_name_of("%s.net.0.proj", diffusers)
                                            : nino_name_of("%s.mlp.fc1", own);
    const nino_name last =
        f->is_diffusers ? nino_name_of("%s.net.2", diffusers) : nino_name_of("%s.mlp.fc2", own);
    sd3_load_layer(f, base, first.s, h, -1, &out->in);
    sd3_load_layer(f, base, last.s, nino_load_rows(&f->l, out->in.w), h, &out->out);
    out->in.act = NINO_ACT_GELU_TANH;
}

static void sd3_load_x(sd3_loader *f, const char *base, sd3_half *out)
{
    static const sd3_names joint = { "attn.to_q",   "attn.to_k",   "attn.to_v",
                                     "attn.norm_q", "attn.norm_k", "attn.to_out.0" };
    static const sd3_names self = { "attn2.to_q",   "attn2.to_k",   "attn2.to_v",
                                    "attn2.norm_q", "attn2.norm_k", "attn2.to_out.0" };
    const char *mark = f->is_diffusers ? "attn2.to_q" : "x_block.attn2.qkv";
    const bool has_self = nino_load_has(&f->l, "%s%s.weight", base, mark);
    const int64_t h = f->net->hidden;
    sd3_load_layer(f, base, f->is_diffusers ? "norm1.linear" : "x_block.adaLN_modulation.1", h,
                   (has_self ? 9 : 6) * h, &out->mod);
    sd3_load_attn(f, base, "x_block.attn", &joint, true, &out->attn);
    if (has_self)
        sd3_load_attn(f, base, "x_block.attn2", &self, true, &out->self);
    sd3_load_mlp(f, base, "x_block", "ff", &out->mlp);
}

// is_last: the text only gives q, k and v.
static void sd3_load_context(sd3_loader *f, const char *base, bool is_last, sd3_half *out)
{
    static const sd3_names joint = { "attn.add_q_proj",   "attn.add_k_proj",   "attn.add_v_proj",
                                     "attn.norm_added_q", "attn.norm_added_k", "attn.to_add_out" };
    const int64_t h = f->net->hidden;
    sd3_load_layer(f, base,
                   f->is_diffusers ? "norm1_context.linear" : "context_block.adaLN_modulation.1", h,
                   (is_last ? 2 : 6) * h, &out->mod);
    out->is_scale_first = f->is_diffusers && is_last;
    sd3_load_attn(f, base, "context_block.attn", &joint, !is_last, &out->attn);
    if (!is_last)
        sd3_load_mlp(f, base, "context_block", "ff_context", &out->mlp);
}

static void sd3_load_blocks(sd3_loader *f)
{
    sd3 *net = f->net;
    const char *stem = f->is_diffusers ? "transformer_blocks." : "joint_blocks.";
    const int n = nino_load_count(&f->l, stem);
    net->blocks = nino_load_alloc(&f->l, (size_t) n, sizeof(*net->blocks));
    net->n_blocks = n;
    for (int i = 0; i < n && !f->l.st; i++) {
        const nino_name base = nino_name_of("%s%d.", stem, i);
        sd3_load_x(f, base.s, &net->blocks[i].x);
        sd3_load_context(f, base.s, i + 1 == n && !f->is_body, &net->blocks[i].context);
    }
}

// Time steps and pooled texts become vectors.
static void sd3_load_embedder(sd3_loader *f, const char *own, const char *diffusers, sd3_mlp *out)
{
    const int64_t h = f->net->hidden;
    const nino_name stem = f->is_diffusers
                               ? nino_name_of("time_text_embed.%s_embedder.linear_", diffusers)
                               : nino_name_of("%s_embedder.mlp.", own);
    sd3_load_layer(f, stem.s, f->is_diffusers ? "1" : "0", -1, h, &out->in);
    sd3_load_layer(f, stem.s, "2", h, h, &out->out);
    out->in.act = NINO_ACT_SILU;
}

static void sd3_load_positions(sd3_loader *f)
{
    nino_loader *l = &f->l;
    sd3 *net = f->net;
    const nino_name name =
        nino_name_of("%s%s", l->prefix, f->is_diffusers ? "pos_embed.pos_embed" : "pos_embed");
    const nino_tensor_info *t = nino_weights_find(l->file, name.s);
    if (!t)
        return;
    const bool is_pair = t->rank == 2, is_three = t->rank == 3 && t->dim[0] == 1;
    const int64_t n = is_pair || is_three ? t->dim[t->rank - 2] : 0;
    net->grid = (int64_t) sqrt((double) n);
    net->positions = t;
    net->type = l->type;
    if (!n || t->dim[t->rank - 1] != net->hidden || net->grid * net->grid != n)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s is no square of positions with %d numbers each",
                       name.s, net->hidden);
}

static void sd3_load_sizes(sd3_loader *f, nino_diffusion *d)
{
    nino_loader *l = &f->l;
    sd3 *net = f->net;
    const char *in = f->is_diffusers ? "pos_embed.proj" : "x_embedder.proj";
    nino_load_patch(l, in, &net->x_in);
    if (l->st)
        return;
    if (l->type != NINO_F32) {
        nino_weight_round_to(net->x_in.w, l->type);
        if (net->x_in.b)
            nino_weight_round_to(net->x_in.b, l->type);
    }
    const int64_t h = net->x_in.w->n, c = net->x_in.w->c;
    if (h % HEAD || h > INT32_MAX)
        nino_load_fail(l, NINO_ERR_UNSUPPORTED,
                       "a width of %lld does not divide into heads of %d channels", (long long) h,
                       HEAD);
    if (c != CELLS * (int64_t) d->format->channels)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s.weight takes %lld features, %d are needed",
                       l->prefix, in, (long long) c, CELLS * d->format->channels);
    net->hidden = (int) h;
    net->heads = (int) (h / HEAD);
    net->norm = (nino_norm){ .eps = NORM_EPS };
    d->in_channels = d->format->channels;
}

static void sd3_load_first(sd3_loader *f, nino_diffusion *d)
{
    sd3 *net = f->net;
    const int64_t h = net->hidden;
    sd3_load_embedder(f, "t", "timestep", &net->time);
    sd3_load_embedder(f, "y", "text", &net->y);
    sd3_load_layer(f, "", "context_embedder", -1, h, &net->context_in);
    sd3_load_positions(f);
    if (f->l.st)
        return;
    d->context_dim = (int) net->context_in.w->c;
    d->y_dim = (int) net->y.in.w->c;
}

static void sd3_load_last(sd3_loader *f, nino_diffusion *d)
{
    sd3 *net = f->net;
    const int64_t h = net->hidden;
    sd3_load_layer(f, "", f->is_diffusers ? "norm_out.linear" : "final_layer.adaLN_modulation.1", h,
                   2 * h, &net->final_mod);
    net->is_scale_first = f->is_diffusers;
    sd3_load_layer(f, "", f->is_diffusers ? "proj_out" : "final_layer.linear", h,
                   CELLS * (int64_t) d->format->channels, &net->final);
}

// Networks of the same names that compute something else.
static void sd3_refuse_others(sd3_loader *f)
{
    nino_loader *l = &f->l;
    if (nino_load_count(l, "context_processor.layers.") || nino_load_has(l, "register"))
        nino_load_fail(l, NINO_ERR_UNSUPPORTED,
                       "a relative of SD3 with a context processor or registers, which this "
                       "version cannot run");
}

static void sd3_load_inner(sd3_loader *f, nino_diffusion *d)
{
    f->is_diffusers = !nino_load_has(&f->l, "x_embedder.proj.weight");
    sd3_refuse_others(f);
    if (!f->l.st)
        sd3_load_sizes(f, d);
    if (!f->l.st)
        sd3_load_first(f, d);
    if (!f->l.st)
        sd3_load_blocks(f);
}

void sd3_load_body(nino_loader *l, sd3 *net, nino_diffusion *d)
{
    sd3_loader f = { .l = *l, .net = net, .is_body = true };
    sd3_load_inner(&f, d);
    *l = f.l;
}

nino_status nino_sd3_load(nino_weights *file, const char *prefix, nino_diffusion *d,
                          nino_error *err)
{
    sd3_loader f = { .l = { .file = file,
                            .prefix = prefix,
                            .layers = &d->layers,
                            .type = d->weight_type,
                            .err = err } };
    f.net = nino_load_alloc(&f.l, 1, sizeof(*f.net));
    if (!f.net)
        return f.l.st;
    nino_rope_cache_init(&f.net->windows);
    f.net->file = nino_weights_ref(file);
    d->kind = NINO_DIFFUSION_SD3;
    d->format = nino_latent_format_find("sd3");
    d->net = f.net;
    d->forward = sd3_forward;
    d->has_residuals = true;
    d->destroy = sd3_destroy;
    sd3_load_inner(&f, d);
    if (!f.l.st)
        sd3_load_last(&f, d);
    return f.l.st;
}
