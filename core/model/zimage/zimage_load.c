// Reading a Z-Image transformer: sizes from the shapes of the tensors, names of ComfyUI (GGUF, the
// original ones) or of huggingface/diffusers transformer_z_image.py, which has q, k and v apart.
#include "core/model/loader.h"
#include "core/model/zimage/zimage.h"

#define NORM_EPS 1e-5f
#define HEAD_EPS 1e-6f
#define FINAL_EPS 1e-6f
#define CELLS 4 // of a token

typedef struct zimage_loader {
    nino_loader l;
    zimage *net;
    bool is_diffusers;
} zimage_loader;

static nino_name zimage_pick(const zimage_loader *z, const char *base, const char *own,
                             const char *diffusers)
{
    return nino_name_of("%s%s", base, z->is_diffusers ? diffusers : own);
}

// rows < 0: any
static void zimage_linear(zimage_loader *z, nino_name name, int64_t cin, int64_t rows,
                          nino_linear *out)
{
    nino_load_linear(&z->l, name.s, cin, out);
    if (rows >= 0)
        nino_load_expect(&z->l, name.s, out, rows);
}

static void zimage_rms(zimage_loader *z, nino_name name, int64_t n, nino_norm *out)
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
    const int64_t w = z->net->width;
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
                   z->net->depth, norms[i]);
        norms[i]->groups = z->net->heads;
        norms[i]->eps = HEAD_EPS;
    }
    zimage_linear(z, zimage_pick(z, base, "attention.out", "attention.to_out.0"), w, w, &out->out);
}

static void zimage_load_ffn(zimage_loader *z, const char *base, zimage_ffn *out)
{
    const int64_t w = z->net->width;
    const nino_name w3 = nino_name_of("%sfeed_forward.w3", base);
    zimage_linear(z, nino_name_of("%sfeed_forward.w1", base), w, -1, &out->w1);
    const int64_t hidden = nino_load_rows(&z->l, out->w1.w);
    zimage_linear(z, w3, w, hidden, &out->w3);
    zimage_linear(z, nino_name_of("%sfeed_forward.w2", base), hidden, w, &out->w2);
}

// Scale and gate of the attention, then of the feed-forward layer.
static void zimage_load_mod(zimage_loader *z, const char *base, int64_t which, zimage_mod *out)
{
    const int64_t w = z->net->width, c = nino_load_rows(&z->l, z->net->time_out.w);
    const nino_name name = nino_name_of("%sadaLN_modulation.0", base);
    zimage_rows(z, name, 4 * w, 2 * which * w, w, c, &out->scale);
    zimage_rows(z, name, 4 * w, (2 * which + 1) * w, w, c, &out->gate);
    out->gate.act = NINO_ACT_TANH;
}

static void zimage_load_branch(zimage_loader *z, const char *base, int which, bool is_modulated,
                               zimage_branch *out)
{
    const char *norm = which ? "ffn_norm" : "attention_norm";
    zimage_rms(z, nino_name_of("%s%s1", base, norm), z->net->width, &out->before);
    zimage_rms(z, nino_name_of("%s%s2", base, norm), z->net->width, &out->behind);
    if (is_modulated)
        zimage_load_mod(z, base, which, &out->mod);
}

static void zimage_load_blocks(zimage_loader *z, const char *stem, bool is_modulated,
                               zimage_blocks *out)
{
    const int n = nino_load_count(&z->l, stem);
    if (!n)
        nino_load_fail(&z->l, NINO_ERR_FORMAT, "%s%s0 is missing", z->l.prefix, stem);
    out->block = nino_load_alloc(&z->l, (size_t) n, sizeof(*out->block));
    out->n = z->l.st ? 0 : n;
    for (int i = 0; i < out->n && !z->l.st; i++) {
        const nino_name base = nino_name_of("%s%d.", stem, i);
        zimage_block *b = &out->block[i];
        zimage_load_attention(z, base.s, &b->attention);
        zimage_load_ffn(z, base.s, &b->ffn);
        zimage_load_branch(z, base.s, 0, is_modulated, &b->of_attention);
        zimage_load_branch(z, base.s, 1, is_modulated, &b->of_ffn);
    }
}

// Width, how it divides into heads, and whose they are.
static void zimage_load_sizes(zimage_loader *z)
{
    nino_loader *l = &z->l;
    zimage *net = z->net;
    const nino_name x = zimage_pick(z, "", "x_embedder", "all_x_embedder.2-1");
    const nino_name norm = zimage_pick(z, "layers.0.", "attention.q_norm", "attention.norm_q");
    const nino_name full = nino_name_of("%s%s.weight", l->prefix, norm.s);
    const nino_tensor_info *t = nino_weights_find(l->file, full.s);
    zimage_linear(z, x, -1, -1, &net->x);
    if (!t || t->rank != 1)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s is missing", full.s);
    if (l->st || !t)
        return;
    const int64_t w = net->x.w->n, depth = t->dim[0], features = net->x.w->c;
    if (depth < 1 || depth % 16 || w % depth || w > INT32_MAX)
        nino_load_fail(l, NINO_ERR_UNSUPPORTED,
                       "heads of %lld channels in %lld are not known; a head has a multiple of 16",
                       (long long) depth, (long long) w);
    else if (features % CELLS || features > INT32_MAX)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s.weight takes %lld features, fours are needed",
                       l->prefix, x.s, (long long) features);
    if (l->st)
        return;
    net->width = (int) w;
    net->depth = (int) depth;
    net->heads = (int) (w / depth);
    net->channels = (int) (features / CELLS);
    net->final_norm = (nino_norm){ .eps = FINAL_EPS };
}

static void zimage_load_pad(zimage_loader *z, const char *name, nino_array **out)
{
    nino_loader *l = &z->l;
    const nino_name full = nino_name_of("%s%s", l->prefix, name);
    const nino_tensor_info *t = nino_weights_find(l->file, full.s);
    int64_t n = 1;
    if (!t || l->st)
        return;
    for (int i = 0; i < t->rank; i++)
        n *= t->dim[i];
    if (n != z->net->width || t->rank > NINO_MAX_RANK) {
        nino_load_fail(l, NINO_ERR_FORMAT, "%s has %lld values where %d are needed", full.s,
                       (long long) n, z->net->width);
        return;
    }
    nino_load_table(l, t, out);
    if (*out)
        (*out)->shape = NINO_SHAPE(1, 1, n);
}

static void zimage_load_ends(zimage_loader *z, nino_diffusion *d)
{
    nino_loader *l = &z->l;
    zimage *net = z->net;
    const int64_t w = net->width;
    zimage_linear(z, nino_name_of("cap_embedder.1"), -1, w, &net->cap);
    const int64_t context = l->st ? 0 : net->cap.w->c;
    zimage_rms(z, nino_name_of("cap_embedder.0"), context, &net->cap_norm);
    zimage_load_pad(z, "cap_pad_token", &net->cap_pad);
    zimage_load_pad(z, "x_pad_token", &net->x_pad);
    zimage_linear(z, nino_name_of("t_embedder.mlp.0"), 256, -1, &net->time_in);
    zimage_linear(z, nino_name_of("t_embedder.mlp.2"), nino_load_rows(l, net->time_in.w), -1,
                  &net->time_out);
    net->time_in.act = NINO_ACT_SILU;
    const int64_t c = nino_load_rows(l, net->time_out.w);
    const char *own = "final_layer.", *diffusers = "all_final_layer.2-1.";
    zimage_linear(z,
                  zimage_pick(z, z->is_diffusers ? diffusers : own, "adaLN_modulation.1",
                              "adaLN_modulation.1"),
                  c, w, &net->final_scale);
    zimage_linear(z, zimage_pick(z, z->is_diffusers ? diffusers : own, "linear", "linear"), w,
                  CELLS * (int64_t) net->channels, &net->final);
    if (l->st)
        return;
    d->in_channels = net->channels;
    d->context_dim = (int) context;
    if (net->channels != d->format->channels)
        nino_load_fail(l, NINO_ERR_UNSUPPORTED, "it works on %d latent channels; %d are known",
                       net->channels, d->format->channels);
}

// Kin that would load and paint something else.
static void zimage_refuse_kin(nino_loader *l)
{
    static const struct {
        const char *tensor, *kin;
    } kin[] = {
        { "dec_net.cond_embed.weight", "pixel-space Z-Image" },
        { "siglip_embedder.0.weight", "Z-Image Omni" },
        { "layers.0.adaLN_modulation.1.weight", "Lumina 2" },
    };
    for (size_t i = 0; i < sizeof(kin) / sizeof(kin[0]); i++)
        if (nino_load_has(l, "%s", kin[i].tensor))
            nino_load_fail(l, NINO_ERR_UNSUPPORTED,
                           "this is %s (it has %s), which this version cannot run", kin[i].kin,
                           kin[i].tensor);
}

nino_status nino_zimage_load(nino_weights *file, const char *prefix, nino_diffusion *d,
                             nino_error *err)
{
    zimage_loader z = { .l = { .file = file,
                               .prefix = prefix,
                               .layers = &d->layers,
                               .type = d->weight_type,
                               .err = err } };
    zimage_refuse_kin(&z.l);
    z.net = nino_load_alloc(&z.l, 1, sizeof(*z.net));
    if (!z.net)
        return z.l.st;
    nino_rope_cache_init(&z.net->rope);
    d->kind = NINO_DIFFUSION_ZIMAGE;
    d->wants_bf16 = true;
    d->net = z.net;
    d->forward = zimage_forward;
    d->destroy = zimage_destroy;
    z.is_diffusers = nino_load_has(&z.l, "all_x_embedder.2-1.weight");
    zimage_load_sizes(&z);
    if (!z.l.st)
        zimage_load_ends(&z, d);
    zimage_load_blocks(&z, "context_refiner.", false, &z.net->context_refiner);
    zimage_load_blocks(&z, "noise_refiner.", true, &z.net->noise_refiner);
    zimage_load_blocks(&z, "layers.", true, &z.net->layers);
    return z.l.st;
}
