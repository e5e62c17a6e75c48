// FLUX.2, Z-Image, Stable Diffusion 3 and Chroma networks of any size: names and shapes from a few
// numbers.
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

// A Fun ControlNet for one: features of the hint; whether its refiners answer.
static inline net_list net_list_zimage_fun(const net_zimage *z, int layers, int64_t features,
                                           bool answers)
{
    net_list l = { 0 };
    char b[48];
    net_linear(&l, z->width, features, true, "control_all_x_embedder.2-1");
    for (int i = 0; i < z->refiners + layers; i++) {
        const bool is_refiner = i < z->refiners;
        const int n = is_refiner ? i : i - z->refiners;
        snprintf(b, sizeof(b), "%s.%d.", is_refiner ? "control_noise_refiner" : "control_layers",
                 n);
        net_zimage_block(&l, z, b, true);
        for (int k = n ? 1 : 0; k < 2 && (!is_refiner || answers); k++)
            net_linear(&l, z->width, z->width, true, "%s%s_proj", b, k ? "after" : "before");
    }
    return l;
}

// ---- Stable Diffusion 3, in Stability AI's names ----------------------------------------------
typedef struct net_sd3 {
    int hidden, blocks, mlp, context, y;
    int grid;   // of positions; 0: none are stored
    int selves; // blocks in which the image attends to itself
    bool has_norms;
} net_sd3;

static const net_sd3 net_sd3_medium
    __attribute__((unused)) = { 1536, 24, 6144, 4096, 2048, 192, 0, false };
static const net_sd3 net_sd35_medium
    __attribute__((unused)) = { 1536, 24, 6144, 4096, 2048, 384, 13, true };
static const net_sd3 net_sd35_large
    __attribute__((unused)) = { 2432, 38, 9728, 4096, 2048, 192, 0, true };

static inline void net_sd3_attention(net_list *l, const net_sd3 *m, const char *b, bool has_proj)
{
    const int64_t depth = 64;
    char name[96];
    net_linear(l, 3 * m->hidden, m->hidden, true, "%s.qkv", b);
    if (has_proj)
        net_linear(l, m->hidden, m->hidden, true, "%s.proj", b);
    for (int i = 0; i < 2 && m->has_norms; i++) {
        snprintf(name, sizeof(name), "%s.ln_%s.weight", b, i ? "k" : "q");
        net_add(l, name, 1, &depth);
    }
}

static inline void net_sd3_half(net_list *l, const net_sd3 *m, const char *b, int vectors)
{
    char name[64];
    const bool is_whole = vectors > 2;
    net_linear(l, vectors * m->hidden, m->hidden, true, "%s.adaLN_modulation.1", b);
    snprintf(name, sizeof(name), "%s.attn", b);
    net_sd3_attention(l, m, name, is_whole);
    snprintf(name, sizeof(name), "%s.attn2", b);
    if (vectors > 6)
        net_sd3_attention(l, m, name, true);
    if (is_whole) {
        net_linear(l, m->mlp, m->hidden, true, "%s.mlp.fc1", b);
        net_linear(l, m->hidden, m->mlp, true, "%s.mlp.fc2", b);
    }
}

static inline net_list net_list_sd3(const net_sd3 *m, const char *prefix)
{
    net_list l = { .prefix = prefix };
    const int h = m->hidden;
    char b[48];
    if (m->grid)
        net_add(&l, "pos_embed", 3, (const int64_t[]){ 1, (int64_t) m->grid * m->grid, h });
    net_conv(&l, h, 16, 2, "x_embedder.proj");
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "y_embedder" : "t_embedder";
        net_linear(&l, h, i ? m->y : 256, true, "%s.mlp.0", name);
        net_linear(&l, h, h, true, "%s.mlp.2", name);
    }
    net_linear(&l, h, m->context, true, "context_embedder");
    for (int i = 0; i < m->blocks; i++) {
        snprintf(b, sizeof(b), "joint_blocks.%d.x_block", i);
        net_sd3_half(&l, m, b, i < m->selves ? 9 : 6);
        snprintf(b, sizeof(b), "joint_blocks.%d.context_block", i);
        net_sd3_half(&l, m, b, i + 1 < m->blocks ? 6 : 2);
    }
    net_linear(&l, 64, h, true, "final_layer.linear");
    net_linear(&l, 2 * h, h, true, "final_layer.adaLN_modulation.1");
    return l;
}

// ---- Chroma: FLUX.1 with an approximator in place of its modulation ---------------------------
typedef struct net_chroma {
    net_flux flux; // y and guidance are not used
    int width, layers;
} net_chroma;

static const net_chroma net_chroma1
    __attribute__((unused)) = { { 3072, 128, 19, 38, 16, 4096, 0, false }, 5120, 5 };

static inline net_list net_list_chroma(const net_chroma *m, const char *prefix)
{
    static const char base[] = "distilled_guidance_layer.";
    net_list all = net_list_flux(&m->flux, prefix), l = { .prefix = prefix };
    const int64_t width = m->width;
    for (int i = 0; i < m->layers; i++) {
        char name[64];
        net_linear(&l, width, width, true, "%slayers.%d.in_layer", base, i);
        net_linear(&l, width, width, true, "%slayers.%d.out_layer", base, i);
        snprintf(name, sizeof(name), "%snorms.%d.scale", base, i);
        net_add(&l, name, 1, &width);
    }
    net_linear(&l, width, 64, true, "%sin_proj", base);
    net_linear(&l, m->flux.hidden, width, true, "%sout_proj", base);
    for (int i = 0; i < all.n; i++) {
        const char *name = all.t[i].name + (prefix ? strlen(prefix) : 0);
        if (!strstr(name, "mod.lin") && !strstr(name, "modulation") && !strstr(name, "time_in") &&
            !strstr(name, "vector_in"))
            net_add(&l, name, all.t[i].rank, all.t[i].dim);
    }
    free(all.t);
    return l;
}
