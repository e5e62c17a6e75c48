// A small video VAE with Wan's names and random weights: one block a level, 4 to 16 channels.
#pragma once
#include "tests/vae.h"

typedef struct wan_list {
    nino_st_entry e[256];
    char names[256][96];
    int n;
    uint32_t seed;
    bool is_diffusers;
} wan_list;

static inline float wan_value(wan_list *l)
{
    l->seed = l->seed * 1664525u + 1013904223u;
    return (float) (l->seed >> 8) / (1 << 23) - 1;
}

__attribute__((format(printf, 3, 4))) static inline void wan_add(wan_list *l, nino_shape shape,
                                                                 const char *fmt, ...)
{
    va_list ap;
    const int64_t n = nino_shape_count(&shape);
    const bool is_vector = shape.rank == 1 || shape.dim[1] == 1;
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a && l->n < 256);
    const float spread = is_vector ? 0.3f : 1.4f / sqrtf((float) (n / shape.dim[0]));
    va_start(ap, fmt);
    vsnprintf(l->names[l->n], sizeof(l->names[0]), fmt, ap);
    va_end(ap);
    const bool is_gamma = strstr(l->names[l->n], "gamma") != NULL;
    for (int64_t i = 0; i < n; i++)
        nino_array_f32(a)[i] = wan_value(l) * spread + (is_gamma ? 1 : 0);
    l->e[l->n] = (nino_st_entry){ l->names[l->n], a };
    l->n++;
}

static inline void wan_conv(wan_list *l, const char *name, int64_t n, int64_t c, int kt, int k)
{
    wan_add(l, kt ? NINO_SHAPE(n, c, kt, k, k) : NINO_SHAPE(n, c, k, k), "%s.weight", name);
    wan_add(l, NINO_SHAPE(n), "%s.bias", name);
}

static inline void wan_res(wan_list *l, const char *base, int64_t c, int64_t n)
{
    static const char *const leaves[2][5] = {
        { "residual.0", "residual.2", "residual.3", "residual.6", "shortcut" },
        { "norm1", "conv1", "norm2", "conv2", "conv_shortcut" },
    };
    const char *const *leaf = leaves[l->is_diffusers];
    char name[96];
    wan_add(l, NINO_SHAPE(c, 1, 1, 1), "%s.%s.gamma", base, leaf[0]);
    snprintf(name, sizeof(name), "%s.%s", base, leaf[1]);
    wan_conv(l, name, n, c, 3, 3);
    wan_add(l, NINO_SHAPE(n, 1, 1, 1), "%s.%s.gamma", base, leaf[2]);
    snprintf(name, sizeof(name), "%s.%s", base, leaf[3]);
    wan_conv(l, name, n, n, 3, 3);
    snprintf(name, sizeof(name), "%s.%s", base, leaf[4]);
    if (n != c)
        wan_conv(l, name, n, c, 1, 1);
}

static inline void wan_mid(wan_list *l, const char *half, int64_t c)
{
    char name[96];
    const char *r = l->is_diffusers ? "mid_block.resnets." : "middle.";
    const char *a = l->is_diffusers ? "mid_block.attentions.0" : "middle.1";
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof(name), "%s.%s%d", half, r, l->is_diffusers ? i : 2 * i);
        wan_res(l, name, c, c);
    }
    wan_add(l, NINO_SHAPE(c, 1, 1), "%s.%s.norm.gamma", half, a);
    snprintf(name, sizeof(name), "%s.%s.to_qkv", half, a);
    wan_conv(l, name, 3 * c, c, 0, 1);
    snprintf(name, sizeof(name), "%s.%s.proj", half, a);
    wan_conv(l, name, c, c, 0, 1);
}

static inline void wan_sample(wan_list *l, const char *base, int64_t c, int64_t n, int64_t time)
{
    char name[128];
    snprintf(name, sizeof(name), "%s.resample.1", base);
    wan_conv(l, name, n, c, 0, 3);
    snprintf(name, sizeof(name), "%s.time_conv", base);
    if (time)
        wan_add(l, NINO_SHAPE(time, time == 2 * c ? c : n, 3, 1, 1), "%s.weight", name);
    if (time)
        wan_add(l, NINO_SHAPE(time), "%s.bias", name);
}

// The name of block or sampler k (0, 1) of level g, of a half whose lists are called `list`.
static inline const char *wan_step(const wan_list *l, bool is_22, bool is_decoder, int g, int k)
{
    static char name[96];
    const char *list = is_decoder ? "upsamples" : "downsamples";
    const char *half = is_decoder ? "decoder" : "encoder";
    if (l->is_diffusers && is_22)
        snprintf(name, sizeof(name), k ? "%s.%s_blocks.%d.%ssampler" : "%s.%s_blocks.%d.resnets.0",
                 half, is_decoder ? "up" : "down", g, is_decoder ? "up" : "down");
    else if (l->is_diffusers && is_decoder)
        snprintf(name, sizeof(name),
                 k ? "decoder.up_blocks.%d.upsamplers.0" : "decoder.up_blocks.%d.resnets.0", g);
    else if (l->is_diffusers)
        snprintf(name, sizeof(name), "encoder.down_blocks.%d", 2 * g + k);
    else if (is_22)
        snprintf(name, sizeof(name), "%s.%s.%d.%s.%d", half, list, g, list, k);
    else
        snprintf(name, sizeof(name), "%s.%s.%d", half, list, 2 * g + k);
    return name;
}

static inline void wan_end(wan_list *l, const char *half, int64_t c, int64_t n)
{
    char name[96];
    wan_add(l, NINO_SHAPE(c, 1, 1, 1), l->is_diffusers ? "%s.norm_out.gamma" : "%s.head.0.gamma",
            half);
    snprintf(name, sizeof(name), l->is_diffusers ? "%s.conv_out" : "%s.head.2", half);
    wan_conv(l, name, n, c, 3, 3);
}

// Width 4, z latent channels, 4 levels; 2.1: 8x, 2.2: 16x with pixels folded.
static inline void wan_fill(wan_list *l, bool is_22, bool is_diffusers, int z)
{
    static const int up[2][4][3] = {
        { { 16, 16, 8 }, { 8, 16, 8 }, { 8, 8, 4 }, { 4, 4, 0 } },
        { { 16, 16, 16 }, { 16, 16, 16 }, { 16, 8, 8 }, { 8, 4, 0 } }
    };
    static const int down[4][2] = { { 4, 4 }, { 4, 8 }, { 8, 16 }, { 16, 16 } };
    const int colours = is_22 ? 12 : 3;
    *l = (wan_list){ .seed = 7, .is_diffusers = is_diffusers };
    wan_conv(l, is_diffusers ? "post_quant_conv" : "conv2", z, z, 1, 1);
    wan_conv(l, is_diffusers ? "decoder.conv_in" : "decoder.conv1", 16, z, 3, 3);
    wan_mid(l, "decoder", 16);
    for (int g = 0; g < 4; g++) {
        const int *w = up[is_22][g];
        wan_res(l, wan_step(l, is_22, true, g, 0), w[0], w[1]);
        if (w[2])
            wan_sample(l, wan_step(l, is_22, true, g, 1), w[1], w[2], g < 2 ? 2 * w[1] : 0);
    }
    wan_end(l, "decoder", 4, colours);
    wan_conv(l, is_diffusers ? "encoder.conv_in" : "encoder.conv1", 4, colours, 3, 3);
    for (int g = 0; g < 4; g++) {
        wan_res(l, wan_step(l, is_22, false, g, 0), down[g][0], down[g][1]);
        if (g < 3)
            wan_sample(l, wan_step(l, is_22, false, g, 1), down[g][1], down[g][1],
                       g ? down[g][1] : 0);
    }
    wan_mid(l, "encoder", 16);
    wan_end(l, "encoder", 16, 2 * z);
    wan_conv(l, is_diffusers ? "quant_conv" : "conv1", 2 * z, 2 * z, 1, 1);
}

static inline nino_vae *wan_make(const test_dir *dir, const char *file, bool is_22,
                                 bool is_diffusers, int z)
{
    static wan_list l;
    nino_error err = { 0 };
    nino_vae *v = NULL;
    wan_fill(&l, is_22, is_diffusers, z);
    CHECK_OK(nino_st_save(dir->path, file, false, l.e, l.n, NULL, 0, &err), err);
    for (int i = 0; i < l.n; i++) {
        nino_array *a = (nino_array *) l.e[i].array;
        nino_array_unref(&a);
    }
    nino_weights *w = test_open("%s/%s", dir->path, file);
    CHECK_OK(nino_vae_load(w, file, &v, &err), err);
    nino_weights_unref(&w);
    return v;
}
