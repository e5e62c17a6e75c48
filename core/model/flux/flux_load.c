// Reading a FLUX.1, FLUX.2 or Chroma transformer: sizes from the shapes of the tensors, names of
// black-forest-labs (ComfyUI, GGUF) or of huggingface/diffusers transformer_flux.py and
// transformer_flux2.py. The two fuse their layers differently; each is described by where its rows
// are in either.
#include "core/model/flux/flux.h"

#include <string.h>

#define NORM_EPS 1e-6f
#define TEXT_ROWS_2 512 // of FLUX.2's texts, at least

typedef struct flux_loader {
    nino_loader l;
    flux *net;
    bool is_diffusers, is_2;
    bool is_chroma; // vectors come from an approximator instead of layers in the blocks
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
    static const char *const leaves[] = { "weight", "bias" };
    nino_loader *l = &f->l;
    for (int i = 0; i < 2; i++) {
        const nino_name name = nino_name_of("%s%s%s.%s", l->prefix, base,
                                            f->is_diffusers ? diffusers : bfl, leaves[i]);
        const nino_tensor_info *t = nino_weights_find(l->file, name.s);
        if (!l->st && t && t->dim[0] != rows)
            nino_load_fail(l, NINO_ERR_FORMAT, "%s has %lld rows where %lld are needed", name.s,
                           (long long) t->dim[0], (long long) rows);
    }
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

// n times the hidden width.
static void load_mod(flux_loader *f, const char *base, const char *bfl, const char *diffusers,
                     int n, flux_mod *out)
{
    const int64_t h = f->net->hidden;
    expect_total(f, base, bfl, diffusers, n * h);
    load_whole(f, base, bfl, diffusers, h, n * h, &out->all);
}

// bfl: the fused layer; d: the three layers and two norms of diffusers; norm: before query_norm.
static void load_qkv(flux_loader *f, const char *base, const char *bfl, const char *norm,
                     const char *const d[5], flux_qkv *out)
{
    const int64_t h = f->net->hidden;
    nino_linear *const to[3] = { &out->q, &out->k, &out->v };
    nino_norm *const norms[2] = { &out->norm_q, &out->norm_k };
    for (int i = 0; i < 3; i++) {
        const bool is_whole = strcmp(d[0], d[1]) != 0; // each is a layer of its own
        if (is_whole)
            expect_total(f, base, "", d[i], h);
        load_rows(f, base, (place){ bfl, i * h, d[i], is_whole ? 0 : i * h }, h, h, to[i]);
    }
    for (int i = 0; i < 2; i++) {
        nino_name name = f->is_diffusers
                             ? nino_name_of("%s%s.weight", base, d[3 + i])
                             : nino_name_of("%s%s%s_norm.scale", base, norm, i ? "key" : "query");
        const nino_name other = nino_name_of("%s%s%s_norm.weight", base, norm, i ? "key" : "query");
        if (!f->is_diffusers && nino_load_has(&f->l, "%s", other.s)) // some call it a weight
            name = other;
        nino_load_vector(&f->l, name.s, f->net->depth, &norms[i]->gamma);
        norms[i]->groups = f->net->heads;
        norms[i]->eps = NORM_EPS;
    }
}

// A feed-forward's first layer, from row0 on: FLUX.2 has the gate in front of the other half.
static void load_feed(flux_loader *f, const char *base, place in, flux_ffn *out)
{
    nino_loader *l = &f->l;
    const int64_t h = f->net->hidden, row0 = f->is_diffusers ? in.diffusers_row : in.bfl_row;
    if (!f->is_2) {
        load_rows(f, base, in, -1, h, &out->in);
        out->in.act = NINO_ACT_GELU_TANH;
        return;
    }
    const nino_name name =
        nino_name_of("%s%s%s.weight", l->prefix, base, f->is_diffusers ? in.diffusers : in.bfl);
    const nino_tensor_info *t = nino_weights_find(l->file, name.s);
    const int64_t both = t && t->rank == 2 ? t->dim[0] - row0 : 0;
    if (both < 2 || both % 2) {
        nino_load_fail(l, NINO_ERR_FORMAT, "%s: no two equal halves behind %lld rows", name.s,
                       (long long) row0);
        return;
    }
    load_rows(f, base, in, both / 2, h, &out->gate);
    in.bfl_row += both / 2;
    in.diffusers_row += both / 2;
    load_rows(f, base, in, both / 2, h, &out->in);
}

// row: of all vectors, this side's first.
static void load_half(flux_loader *f, const char *base, bool is_txt, int row, flux_half *out)
{
    static const char *const img_d[5] = { "attn.to_q", "attn.to_k", "attn.to_v", "attn.norm_q",
                                          "attn.norm_k" };
    static const char *const txt_d[5] = { "attn.add_q_proj", "attn.add_k_proj", "attn.add_v_proj",
                                          "attn.norm_added_q", "attn.norm_added_k" };
    const int64_t h = f->net->hidden;
    const char *mod = is_txt ? "txt_mod.lin" : "img_mod.lin";
    const char *mod_d = is_txt ? "norm1_context.linear" : "norm1.linear";
    const nino_name feed =
        nino_name_of("ff%s.%s", is_txt ? "_context" : "", f->is_2 ? "linear_in" : "net.0.proj");
    const nino_name last =
        nino_name_of("ff%s.%s", is_txt ? "_context" : "", f->is_2 ? "linear_out" : "net.2");
    out->mod.row = row;
    if (!f->is_2 && !f->is_chroma)
        load_mod(f, base, mod, mod_d, 6, &out->mod);
    expect_total(f, base, is_txt ? "txt_attn.qkv" : "img_attn.qkv", "", 3 * h);
    load_qkv(f, base, is_txt ? "txt_attn.qkv" : "img_attn.qkv",
             is_txt ? "txt_attn.norm." : "img_attn.norm.", is_txt ? txt_d : img_d, &out->qkv);
    load_whole(f, base, is_txt ? "txt_attn.proj" : "img_attn.proj",
               is_txt ? "attn.to_add_out" : "attn.to_out.0", h, h, &out->proj);
    load_feed(f, base, (place){ is_txt ? "txt_mlp.0" : "img_mlp.0", 0, feed.s, 0 }, &out->ffn);
    load_whole(f, base, is_txt ? "txt_mlp.2" : "img_mlp.2", last.s,
               nino_load_rows(&f->l, out->ffn.in.w), h, &out->ffn.out);
}

static void load_single(flux_loader *f, const char *base, flux_single *out)
{
    static const char *const d1[5] = { "attn.to_q", "attn.to_k", "attn.to_v", "attn.norm_q",
                                       "attn.norm_k" };
    static const char *const d2[5] = { "attn.to_qkv_mlp_proj", "attn.to_qkv_mlp_proj",
                                       "attn.to_qkv_mlp_proj", "attn.norm_q", "attn.norm_k" };
    const int64_t h = f->net->hidden;
    if (!f->is_2 && !f->is_chroma)
        load_mod(f, base, "modulation.lin", "norm.linear", 3, &out->mod);
    load_qkv(f, base, "linear1", "norm.", f->is_2 ? d2 : d1, &out->qkv);
    load_feed(f, base,
              (place){ "linear1", 3 * h, f->is_2 ? d2[0] : "proj_mlp", f->is_2 ? 3 * h : 0 },
              &out->ffn);
    const char *last = f->is_2 ? "attn.to_out" : "proj_out";
    const nino_name name = nino_name_of("%s%s", base, f->is_diffusers ? last : "linear2");
    nino_load_part(&f->l, (nino_weight_part){ .name = name.s, .cols = h }, h, &out->out_attn);
    nino_load_expect(&f->l, name.s, &out->out_attn, h);
    nino_load_part(&f->l, (nino_weight_part){ .name = name.s, .col0 = h },
                   nino_load_rows(&f->l, out->ffn.in.w), &out->ffn.out);
    out->ffn.out.b = NULL; // the same bias as the other's: only one is added
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
        load_half(f, base.s, false, 3 * m + 6 * i, &net->doubles[i].img);
        load_half(f, base.s, true, 3 * m + 6 * n + 6 * i, &net->doubles[i].txt);
    }
    for (int i = 0; i < m && !f->l.st; i++) {
        net->singles[i].mod.row = 3 * i;
        load_single(f, nino_name_of("%s%d.", singles, i).s, &net->singles[i]);
    }
    if (!f->is_chroma)
        net->final_mod.row = 3 * m + 12 * n;
    else if (!f->l.st && 3 * m + 12 * n > net->final_mod.row)
        nino_load_fail(&f->l, NINO_ERR_FORMAT,
                       "its approximator gives %d vectors, %d double and %d single blocks need %d",
                       FLUX_APPROX_ROWS, n, m, 3 * m + 12 * n + 2);
}

static void flux_load_load_mlp(flux_loader *f, const char *bfl, const char *diffusers,
                               flux_mlp *out)
{
    const nino_name d =
        nino_name_of("time_%s_embed.%s_embedder.linear_", f->is_2 ? "guidance" : "text", diffusers);
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
    if (!f->is_diffusers && nino_load_has(l, "double_blocks.0.img_attn.norm.query_norm.weight"))
        norm = "double_blocks.0.img_attn.norm.query_norm.weight";
    load_whole(f, "", "img_in", "x_embedder", -1, -1, &net->img_in);
    const int64_t h = net->img_in.w ? net->img_in.w->n : 0, depth = nino_load_head(l, norm, h);
    if (l->st)
        return;
    net->hidden = (int) h;
    net->depth = (int) depth;
    net->heads = (int) (h / depth);
    net->norm = (nino_norm){ .eps = NORM_EPS };
}

// FLUX.1 has squares of 2 x 2 cells and three axes, 16, 56 and 56 of 128 channels; FLUX.2 single
// cells and four equal axes.
static void load_place(const flux_loader *f, flux_place *out)
{
    const int depth = f->net->depth, first = depth / 8, rest = (depth - first) / 2;
    const int each = depth / NINO_ROPE_AXES;
    *out = f->is_2 ? (flux_place){ .axes = { 2000, 4, { each, each, each, each } },
                                   .patch = 1,
                                   .step = 10,
                                   .method = NINO_REFS_INDEX }
                   : (flux_place){ .axes = { 10000, 3, { first, rest, rest } },
                                   .patch = 2,
                                   .step = 1,
                                   .method = NINO_REFS_OFFSET };
}

static void load_shared(flux_loader *f, flux_shared *out)
{
    f->net->has_shared = true;
    load_mod(f, "double_stream_modulation_img.", "lin", "linear", 6, &out->img);
    load_mod(f, "double_stream_modulation_txt.", "lin", "linear", 6, &out->txt);
    load_mod(f, "single_stream_modulation.", "lin", "linear", 3, &out->single);
}

// What goes through the first and last layer: the latent, and at the first what goes with it.
static void check_ends(flux_loader *f, nino_diffusion *d)
{
    const int cells = (int) (f->net->place.patch * f->net->place.patch);
    const int own = d->format->channels;
    const int64_t in = f->net->img_in.w->c;
    if (in % cells || in / cells < own || (f->is_2 && in != own))
        nino_load_fail(&f->l, NINO_ERR_FORMAT,
                       "%simg_in.weight takes %lld features, %s%d%s are needed", f->l.prefix,
                       (long long) in, f->is_2 ? "" : "at least ", cells * own,
                       f->is_2 ? "" : " in fours");
    d->in_channels = (int) (in / cells);
}

// What modulates blocks: the embeddings of time step, guidance and pooled text.
static void flux_load_load_condition(flux_loader *f, nino_diffusion *d)
{
    nino_loader *l = &f->l;
    flux *net = f->net;
    const char *words = f->is_2 ? "guidance" : "text";
    d->has_guidance =
        f->is_diffusers
            ? nino_load_has(l, "time_%s_embed.guidance_embedder.linear_1.weight", words) ||
                  nino_load_has(l, "time_%s_embed.guidance_embedder.linear_2.weight", words)
            : nino_load_has(l, "guidance_in.in_layer.weight") ||
                  nino_load_has(l, "guidance_in.out_layer.weight");
    d->usual_guidance = 3.5;
    flux_load_load_mlp(f, "time_in", "timestep", &net->time);
    if (f->is_2)
        load_shared(f, &net->shared);
    else
        flux_load_load_mlp(f, "vector_in", "text", &net->vector);
    if (d->has_guidance)
        flux_load_load_mlp(f, "guidance_in", "guidance", &net->guidance);
    d->y_dim = !l->st && net->vector.in.w ? (int) net->vector.in.w->c : 0;
}

// Chroma's; the last two of its vectors are the last layer's.
static void flux_load_load_approx(flux_loader *f, nino_diffusion *d)
{
    flux_approx_load(&f->l, f->net);
    f->net->final_mod.row = FLUX_APPROX_ROWS - 2;
    d->has_guidance = true;
    d->usual_guidance = 0;
    d->has_refs = false;
}

static void flux_load_first(flux_loader *f, nino_diffusion *d)
{
    nino_loader *l = &f->l;
    flux *net = f->net;
    load_whole(f, "", "txt_in", "context_embedder", -1, net->hidden, &net->txt_in);
    if (f->is_chroma)
        flux_load_load_approx(f, d);
    else
        flux_load_load_condition(f, d);
    if (l->st)
        return;
    d->context_dim = (int) net->txt_in.w->c;
    d->context_rows = f->is_2 ? TEXT_ROWS_2 : 0;
    check_ends(f, d);
}

static void flux_load_last(flux_loader *f, nino_diffusion *d)
{
    flux *net = f->net;
    const int64_t h = net->hidden, cells = net->place.patch * net->place.patch;
    net->final_mod.is_scale_first = f->is_diffusers;
    if (!f->is_chroma)
        load_mod(f, "", "final_layer.adaLN_modulation.1", "norm_out.linear", 2, &net->final_mod);
    load_whole(f, "", "final_layer.linear", "proj_out", h, cells * d->format->channels,
               &net->final);
}

static void flux_load_inner(flux_loader *f, nino_diffusion *d)
{
    f->is_diffusers = nino_load_has(&f->l, "x_embedder.weight");
    f->is_2 = nino_load_has(&f->l, "double_stream_modulation_img.%s.weight",
                            f->is_diffusers ? "linear" : "lin");
    f->is_chroma = nino_load_count(&f->l, "distilled_guidance_layer.layers.") ||
                   nino_load_count(&f->l, "distilled_guidance_layer.0.layers.");
    flux_load_load_sizes(f);
    if (!f->l.st)
        load_place(f, &f->net->place);
    if (!f->l.st)
        flux_load_first(f, d);
    if (!f->l.st)
        flux_load_load_blocks(f);
}

void flux_load_body(nino_loader *l, flux *net, nino_diffusion *d)
{
    flux_loader f = { .l = *l, .net = net };
    flux_load_inner(&f, d);
    *l = f.l;
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
    nino_rope_cache_init(&f.net->rope);
    d->kind = NINO_DIFFUSION_FLUX;
    d->wants_bf16 = true;
    d->has_refs = true;
    d->has_residuals = true;
    d->net = f.net;
    d->forward = flux_forward;
    d->destroy = flux_destroy;
    flux_load_inner(&f, d);
    if (!f.l.st)
        flux_load_last(&f, d);
    return f.l.st;
}
