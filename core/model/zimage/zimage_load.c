// Reading a Z-Image transformer: sizes from the shapes of the tensors, names of ComfyUI (GGUF, the
// original ones) or of huggingface/diffusers transformer_z_image.py, which has q, k and v apart.
#include "core/model/loader.h"
#include "core/model/zimage/zimage.h"

#define FINAL_EPS 1e-6f
#define CELLS 4 // of a token

static void zimage_load_blocks(zimage_loader *z, const char *stem, bool is_modulated,
                               zimage_blocks *out)
{
    const int n = nino_load_count(&z->l, stem);
    if (!n)
        nino_load_fail(&z->l, NINO_ERR_FORMAT, "%s%s0 is missing", z->l.prefix, stem);
    out->block = nino_load_alloc(&z->l, (size_t) n, sizeof(*out->block));
    out->n = z->l.st ? 0 : n;
    for (int i = 0; i < out->n && !z->l.st; i++)
        zimage_load_block(z, nino_name_of("%s%d.", stem, i).s, is_modulated, &out->block[i]);
}

// Width, how it divides into heads, and whose they are.
static void zimage_load_sizes(zimage_loader *z, zimage *net)
{
    nino_loader *l = &z->l;
    const nino_name x = zimage_pick(z, "", "x_embedder", "all_x_embedder.2-1");
    const nino_name norm = zimage_pick(z, "layers.0.", "attention.q_norm", "attention.norm_q");
    zimage_linear(z, x, -1, -1, &net->x);
    if (!zimage_load_head(z, norm.s, nino_load_rows(l, net->x.w)))
        return;
    const int64_t features = net->x.w->c;
    if (features % CELLS || features > INT32_MAX) {
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s.weight takes %lld features, fours are needed",
                       l->prefix, x.s, (long long) features);
        return;
    }
    net->width = (int) z->width;
    net->depth = (int) z->depth;
    net->heads = net->width / net->depth;
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
    if (n != z->width || t->rank > NINO_MAX_RANK) {
        nino_load_fail(l, NINO_ERR_FORMAT, "%s has %lld values where %lld are needed", full.s,
                       (long long) n, (long long) z->width);
        return;
    }
    nino_load_table(l, t, out);
    if (*out)
        (*out)->shape = NINO_SHAPE(1, 1, n);
}

static void zimage_load_ends(zimage_loader *z, zimage *net, nino_diffusion *d)
{
    nino_loader *l = &z->l;
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
    const int64_t c = z->time = nino_load_rows(l, net->time_out.w);
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
    zimage *net = nino_load_alloc(&z.l, 1, sizeof(*net));
    if (!net)
        return z.l.st;
    nino_rope_cache_init(&net->rope);
    d->kind = NINO_DIFFUSION_ZIMAGE;
    d->wants_bf16 = true;
    d->net = net;
    d->forward = zimage_forward;
    d->destroy = zimage_destroy;
    z.is_diffusers = nino_load_has(&z.l, "all_x_embedder.2-1.weight");
    zimage_load_sizes(&z, net);
    if (!z.l.st)
        zimage_load_ends(&z, net, d);
    zimage_load_blocks(&z, "context_refiner.", false, &net->context_refiner);
    zimage_load_blocks(&z, "noise_refiner.", true, &net->noise_refiner);
    zimage_load_blocks(&z, "layers.", true, &net->layers);
    return z.l.st;
}
