// Stable Diffusion 3 and Chroma networks of any size: names and shapes from a few numbers.
#pragma once
#include "tests/random_net.h"

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
