// Reading a FLUX.1 transformer: sizes from the shapes of the tensors, names of black-forest-labs
// (ComfyUI, GGUF) or of huggingface/diffusers transformer_flux.py. The two fuse their layers
// differently; each is described by where its rows are in either.
#include "core/model/flux/flux.h"
#include "core/model/loader.h"

#define NORM_EPS 1e-6f

typedef struct flux_loader {
    nino_loader l;
    flux *net;
    bool is_diffusers;
} flux_loader;

// Rows of a fused layer: which layer and the first row, in both dialects.
typedef struct place {
    const char *bfl;
    int64_t bfl_row;
    const char *diffusers;
    int64_t diffusers_row;
} place;

static void load_rows(flux_loader *f, const char *base, place p, int64_t rows, int64_t cin,
                      nino_linear *out)
{
    const nino_name name = nino_name_of("%s%s", base, f->is_diffusers ? p.diffusers : p.bfl);
    const nino_weight_part part = { .name = name.s,
                                    .row0 = f->is_diffusers ? p.diffusers_row : p.bfl_row,
                                    .rows = rows };
    nino_load_part(&f->l, part, cin, out);
}

// A fused layer has these rows and no more.
static void expect_total(flux_loader *f, const char *base, const char *bfl, const char *diffusers,
                         int64_t rows)
{
    nino_loader *l = &f->l;
    const nino_name name =
        nino_name_of("%s%s%s.weight", l->prefix, base, f->is_diffusers ? diffusers : bfl);
    const nino_tensor_info *t = nino_weights_find(l->file, name.s);
    if (!l->st && t && t->dim[0] != rows)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s has %lld rows where %lld are needed", name.s,
                       (long long) t->dim[0], (long long) rows);
}

// A layer that both dialects have whole.
static void load_whole(flux_loader *f, const char *base, const char *bfl, const char *diffusers,
                       int64_t cin, int64_t rows, nino_linear *out)
{
    const nino_name name = nino_name_of("%s%s", base, f->is_diffusers ? diffusers : bfl);
    nino_load_linear(&f->l, name.s, cin, out);
    if (rows >= 0)
        nino_load_expect(&f->l, name.s, out, rows);
}

// Shift, scale and gate are rows in this order; `first` of `all` counts hidden widths.
static void load_mod(flux_loader *f, const char *base, const char *bfl, const char *diffusers,
                     int first, int all, flux_mod *out)
{
    const int64_t h = f->net->hidden, row = first * h;
    expect_total(f, base, bfl, diffusers, all * h);
    load_rows(f, base, (place){ bfl, row, diffusers, row }, h, h, &out->shift);
    load_rows(f, base, (place){ bfl, row + h, diffusers, row + h }, h, h, &out->scale);
    load_rows(f, base, (place){ bfl, row + 2 * h, diffusers, row + 2 * h }, h, h, &out->gate);
}

// bfl: the fused layer; d: the three layers and two norms of diffusers; norm: before query_norm.
static void load_qkv(flux_loader *f, const char *base, const char *bfl, const char *norm,
                     const char *const d[5], flux_qkv *out)
{
    const int64_t h = f->net->hidden;
    nino_linear *const to[3] = { &out->q, &out->k, &out->v };
    nino_norm *const norms[2] = { &out->norm_q, &out->norm_k };
    for (int i = 0; i < 3; i++) {
        expect_total(f, base, "", d[i], h);
        load_rows(f, base, (place){ bfl, i * h, d[i], 0 }, h, h, to[i]);
    }
    for (int i = 0; i < 2; i++) {
        const nino_name name =
            f->is_diffusers ? nino_name_of("%s%s.weight", base, d[3 + i])
                            : nino_name_of("%s%s%s_norm.scale", base, norm, i ? "key" : "query");
        nino_load_vector(&f->l, name.s, f->net->depth, &norms[i]->gamma);
        norms[i]->groups = f->net->heads;
        norms[i]->eps = NORM_EPS;
    }
}

static void load_half(flux_loader *f, const char *base, bool is_txt, flux_half *out)
{
    static const char *const img_d[5] = { "attn.to_q", "attn.to_k", "attn.to_v", "attn.norm_q",
                                          "attn.norm_k" };
    static const char *const txt_d[5] = { "attn.add_q_proj", "attn.add_k_proj", "attn.add_v_proj",
                                          "attn.norm_added_q", "attn.norm_added_k" };
    const int64_t h = f->net->hidden;
    const char *mod = is_txt ? "txt_mod.lin" : "img_mod.lin";
    const char *mod_d = is_txt ? "norm1_context.linear" : "norm1.linear";
    load_mod(f, base, mod, mod_d, 0, 6, &out->mod1);
    load_mod(f, base, mod, mod_d, 3, 6, &out->mod2);
    expect_total(f, base, is_txt ? "txt_attn.qkv" : "img_attn.qkv", "", 3 * h);
    load_qkv(f, base, is_txt ? "txt_attn.qkv" : "img_attn.qkv",
             is_txt ? "txt_attn.norm." : "img_attn.norm.", is_txt ? txt_d : img_d, &out->qkv);
    load_whole(f, base, is_txt ? "txt_attn.proj" : "img_attn.proj",
               is_txt ? "attn.to_add_out" : "attn.to_out.0", h, h, &out->proj);
    load_whole(f, base, is_txt ? "txt_mlp.0" : "img_mlp.0",
               is_txt ? "ff_context.net.0.proj" : "ff.net.0.proj", h, -1, &out->mlp.in);
    load_whole(f, base, is_txt ? "txt_mlp.2" : "img_mlp.2",
               is_txt ? "ff_context.net.2" : "ff.net.2", nino_load_rows(&f->l, out->mlp.in.w), h,
               &out->mlp.out);
    out->mlp.in.act = NINO_ACT_GELU_TANH;
}

static void load_single(flux_loader *f, const char *base, flux_single *out)
{
    static const char *const d[5] = { "attn.to_q", "attn.to_k", "attn.to_v", "attn.norm_q",
                                      "attn.norm_k" };
    const int64_t h = f->net->hidden;
    load_mod(f, base, "modulation.lin", "norm.linear", 0, 3, &out->mod);
    load_qkv(f, base, "linear1", "norm.", d, &out->qkv);
    load_rows(f, base, (place){ "linear1", 3 * h, "proj_mlp", 0 }, -1, h, &out->mlp);
    out->mlp.act = NINO_ACT_GELU_TANH;
    const nino_name name = nino_name_of("%s%s", base, f->is_diffusers ? "proj_out" : "linear2");
    nino_load_part(&f->l, (nino_weight_part){ .name = name.s, .cols = h }, h, &out->out_attn);
    nino_load_expect(&f->l, name.s, &out->out_attn, h);
    nino_load_part(&f->l, (nino_weight_part){ .name = name.s, .col0 = h },
                   nino_load_rows(&f->l, out->mlp.w), &out->out_mlp);
    out->out_mlp.b = NULL; // the same bias as the other's: only one is added
}

static void flux_load_load_blocks(flux_loader *f)
{
    flux *net = f->net;
    const char *doubles = f->is_diffusers ? "transformer_blocks." : "double_blocks.";
    const char *singles = f->is_diffusers ? "single_transformer_blocks." : "single_blocks.";
    const int n = nino_load_count(&f->l, doubles), m = nino_load_count(&f->l, singles);
    net->doubles = nino_load_alloc(&f->l, (size_t) n, sizeof(*net->doubles));
    net->singles = nino_load_alloc(&f->l, (size_t) m, sizeof(*net->singles));
    net->n_doubles = n;
    net->n_singles = m;
    for (int i = 0; i < n && !f->l.st; i++) {
        const nino_name base = nino_name_of("%s%d.", doubles, i);
        load_half(f, base.s, false, &net->doubles[i].img);
        load_half(f, base.s, true, &net->doubles[i].txt);
    }
    for (int i = 0; i < m && !f->l.st; i++)
        load_single(f, nino_name_of("%s%d.", singles, i).s, &net->singles[i]);
}

static void flux_load_load_mlp(flux_loader *f, const char *bfl, const char *diffusers,
                               flux_mlp *out)
{
    const nino_name d = nino_name_of("time_text_embed.%s_embedder.linear_", diffusers);
    const int64_t h = f->net->hidden;
    load_whole(f, "", nino_name_of("%s.in_layer", bfl).s, nino_name_of("%s1", d.s).s, -1, h,
               &out->in);
    load_whole(f, "", nino_name_of("%s.out_layer", bfl).s, nino_name_of("%s2", d.s).s, h, h,
               &out->out);
    out->in.act = NINO_ACT_SILU;
}

// Width, and how it divides into heads.
static void flux_load_load_sizes(flux_loader *f)
{
    nino_loader *l = &f->l;
    flux *net = f->net;
    const char *norm = f->is_diffusers ? "transformer_blocks.0.attn.norm_q.weight"
                                       : "double_blocks.0.img_attn.norm.query_norm.scale";
    const nino_tensor_info *t = nino_weights_find(l->file, nino_name_of("%s%s", l->prefix, norm).s);
    load_whole(f, "", "img_in", "x_embedder", -1, -1, &net->img_in);
    if (!t || t->rank != 1) {
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s is missing", l->prefix, norm);
        return;
    }
    if (l->st)
        return;
    const int64_t h = net->img_in.w->n, depth = t->dim[0];
    if (depth < 1 || depth % 32 || h % depth || h > INT32_MAX)
        nino_load_fail(l, NINO_ERR_UNSUPPORTED,
                       "heads of %lld channels in %lld are not known; a head has a multiple of 32",
                       (long long) depth, (long long) h);
    if (l->st)
        return;
    net->hidden = (int) h;
    net->depth = (int) depth;
    net->heads = (int) (h / depth);
    net->norm = (nino_norm){ .eps = NORM_EPS };
}

static void flux_load_load_ends(flux_loader *f, nino_diffusion *d)
{
    nino_loader *l = &f->l;
    flux *net = f->net;
    const int64_t h = net->hidden;
    const char *guidance = f->is_diffusers ? "time_text_embed.guidance_embedder.linear_1.weight"
                                           : "guidance_in.in_layer.weight";
    d->has_guidance = nino_load_has(l, "%s", guidance);
    load_whole(f, "", "txt_in", "context_embedder", -1, h, &net->txt_in);
    flux_load_load_mlp(f, "time_in", "timestep", &net->time);
    flux_load_load_mlp(f, "vector_in", "text", &net->vector);
    if (d->has_guidance)
        flux_load_load_mlp(f, "guidance_in", "guidance", &net->guidance);
    // diffusers has the scale first
    const char *bfl = "final_layer.adaLN_modulation.1", *diffusers = "norm_out.linear";
    expect_total(f, "", bfl, diffusers, 2 * h);
    load_rows(f, "", (place){ bfl, 0, diffusers, h }, h, h, &net->final_mod.shift);
    load_rows(f, "", (place){ bfl, h, diffusers, 0 }, h, h, &net->final_mod.scale);
    load_whole(f, "", "final_layer.linear", "proj_out", h, 4 * (int64_t) d->format->channels,
               &net->final);
    if (l->st)
        return;
    d->in_channels = (int) (net->img_in.w->c / 4);
    d->context_dim = (int) net->txt_in.w->c;
    d->y_dim = (int) net->vector.in.w->c;
    if (net->img_in.w->c % 4 || d->in_channels < d->format->channels)
        nino_load_fail(l, NINO_ERR_FORMAT,
                       "%simg_in.weight takes %lld features, at least %d "
                       "in fours are needed",
                       l->prefix, (long long) net->img_in.w->c, 4 * d->format->channels);
}

nino_status nino_flux_load(nino_weights *file, const char *prefix, nino_diffusion *d,
                           nino_error *err)
{
    flux_loader f = { .l = { .file = file,
                             .prefix = prefix,
                             .layers = &d->layers,
                             .type = d->weight_type,
                             .err = err } };
    f.net = nino_load_alloc(&f.l, 1, sizeof(*f.net));
    if (!f.net)
        return f.l.st;
    pthread_mutex_init(&f.net->lock, NULL);
    d->kind = NINO_DIFFUSION_FLUX;
    d->wants_bf16 = true;
    d->net = f.net;
    d->forward = flux_forward;
    d->destroy = flux_destroy;
    f.is_diffusers = nino_load_has(&f.l, "x_embedder.weight");
    flux_load_load_sizes(&f);
    if (!f.l.st)
        flux_load_load_ends(&f, d);
    if (!f.l.st)
        flux_load_load_blocks(&f);
    return f.l.st;
}
