// FLUX.2 and Z-Image networks of any size: names and shapes from a few numbers.
#pragma once
#include "tests/random_net.h"

// ---- FLUX.2, in black-forest-labs' names ------------------------------------------------------
typedef struct net_flux2 {
    int hidden, depth, doubles, singles; // depth: of a head
    int in, context, mlp;                // in: latent channels; mlp: width inside feed-forwards
    bool has_guidance;
} net_flux2;

static const net_flux2 net_klein_4b
    __attribute__((unused)) = { 3072, 128, 5, 20, 128, 7680, 9216, false };
static const net_flux2 net_klein_9b
    __attribute__((unused)) = { 4096, 128, 8, 24, 128, 12288, 12288, false };
static const net_flux2 net_flux2_dev
    __attribute__((unused)) = { 6144, 128, 8, 48, 128, 15360, 18432, true };

static inline void net_flux2_mlp(net_list *l, const char *name, int h)
{
    net_linear(l, h, 256, false, "%s.in_layer", name);
    net_linear(l, h, h, false, "%s.out_layer", name);
}

static inline void net_flux2_half(net_list *l, const net_flux2 *f, const char *b)
{
    const int h = f->hidden;
    char norms[64];
    net_linear(l, 3 * h, h, false, "%sattn.qkv", b);
    net_linear(l, h, h, false, "%sattn.proj", b);
    net_linear(l, 2 * f->mlp, h, false, "%smlp.0", b);
    net_linear(l, h, f->mlp, false, "%smlp.2", b);
    snprintf(norms, sizeof(norms), "%sattn.", b);
    net_flux_norms(l, norms, f->depth);
}

static inline net_list net_list_flux2(const net_flux2 *f, const char *prefix)
{
    net_list l = { .prefix = prefix };
    const int h = f->hidden;
    char b[48];
    net_linear(&l, h, f->in, false, "img_in");
    net_linear(&l, h, f->context, false, "txt_in");
    net_flux2_mlp(&l, "time_in", h);
    if (f->has_guidance)
        net_flux2_mlp(&l, "guidance_in", h);
    net_linear(&l, 6 * h, h, false, "double_stream_modulation_img.lin");
    net_linear(&l, 6 * h, h, false, "double_stream_modulation_txt.lin");
    net_linear(&l, 3 * h, h, false, "single_stream_modulation.lin");
    for (int i = 0; i < f->doubles; i++)
        for (int side = 0; side < 2; side++) {
            snprintf(b, sizeof(b), "double_blocks.%d.%s_", i, side ? "txt" : "img");
            net_flux2_half(&l, f, b);
        }
    for (int i = 0; i < f->singles; i++) {
        snprintf(b, sizeof(b), "single_blocks.%d.", i);
        net_linear(&l, 3 * h + 2 * f->mlp, h, false, "%slinear1", b);
        net_linear(&l, h, h + f->mlp, false, "%slinear2", b);
        net_flux_norms(&l, b, f->depth);
    }
    net_linear(&l, 128, h, false, "final_layer.linear");
    net_linear(&l, 2 * h, h, false, "final_layer.adaLN_modulation.1");
    return l;
}

// ---- Z-Image, in ComfyUI's names --------------------------------------------------------------
typedef struct net_zimage {
    int width, depth, layers, refiners; // depth: of a head
    int mlp, context, time, inside;     // time: of the modulation; inside: of what makes it
} net_zimage;

static const net_zimage net_z_image
    __attribute__((unused)) = { 3840, 128, 30, 2, 10240, 2560, 256, 1024 };

static inline void net_zimage_block(net_list *l, const net_zimage *z, const char *b, bool has_mod)
{
    static const char *const norms[] = { "attention_norm1", "attention_norm2", "ffn_norm1",
                                         "ffn_norm2" };
    const int64_t w = z->width, depth = z->depth;
    char name[96];
    net_linear(l, 3 * w, w, false, "%sattention.qkv", b);
    net_linear(l, w, w, false, "%sattention.out", b);
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof(name), "%sattention.%c_norm.weight", b, i ? 'k' : 'q');
        net_add(l, name, 1, &depth);
    }
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof(name), "%s%s.weight", b, norms[i]);
        net_add(l, name, 1, &w);
    }
    net_linear(l, z->mlp, w, false, "%sfeed_forward.w1", b);
    net_linear(l, w, z->mlp, false, "%sfeed_forward.w2", b);
    net_linear(l, z->mlp, w, false, "%sfeed_forward.w3", b);
    if (has_mod)
        net_linear(l, 4 * w, z->time, true, "%sadaLN_modulation.0", b);
}

static inline net_list net_list_zimage(const net_zimage *z, const char *prefix)
{
    net_list l = { .prefix = prefix };
    const int64_t w = z->width, context = z->context;
    char b[48];
    net_add(&l, "x_pad_token", 2, (const int64_t[]){ 1, w });
    net_add(&l, "cap_pad_token", 2, (const int64_t[]){ 1, w });
    net_linear(&l, w, 64, true, "x_embedder");
    net_linear(&l, z->inside, 256, true, "t_embedder.mlp.0");
    net_linear(&l, z->time, z->inside, true, "t_embedder.mlp.2");
    net_add(&l, "cap_embedder.0.weight", 1, &context);
    net_linear(&l, w, context, true, "cap_embedder.1");
    for (int i = 0; i < 2 * z->refiners + z->layers; i++) {
        const bool is_text = i < z->refiners, is_image = !is_text && i < 2 * z->refiners;
        const int n = is_text ? i : is_image ? i - z->refiners : i - 2 * z->refiners;
        snprintf(b, sizeof(b), "%s.%d.",
                 is_text    ? "context_refiner"
                 : is_image ? "noise_refiner"
                            : "layers",
                 n);
        net_zimage_block(&l, z, b, !is_text);
    }
    net_linear(&l, w, z->time, true, "final_layer.adaLN_modulation.1");
    net_linear(&l, 64, w, true, "final_layer.linear");
    return l;
}
