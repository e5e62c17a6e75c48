// Diffusion networks of any size as safetensors files: names and shapes from a few numbers, values
// random or absent (a sparse file that reads as zeros). Written without holding the model in
// memory.
#pragma once
#include "core/base/buf.h"
#include "core/file/weights.h"
#include "tests/random_vae.h"
#include "tests/test.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/types.h>

typedef struct net_tensor {
    char name[128];
    int rank;
    int64_t dim[5];
} net_tensor;

typedef struct net_list { // zero-initialised: empty
    net_tensor *t;
    int n, cap;
    const char *prefix; // NULL: none
} net_list;

typedef enum net_fill { NET_SPARSE, NET_RANDOM } net_fill;

static inline void net_add(net_list *l, const char *name, int rank, const int64_t *dim)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 256;
        l->t = realloc(l->t, (size_t) l->cap * sizeof(*l->t));
        CHECK(l->t != NULL);
    }
    net_tensor *t = &l->t[l->n++];
    *t = (net_tensor){ .rank = rank };
    snprintf(t->name, sizeof(t->name), "%s%s", l->prefix ? l->prefix : "", name);
    for (int i = 0; i < rank; i++)
        t->dim[i] = dim[i];
}

static inline void net_pair(net_list *l, int rank, const int64_t *dim, bool has_bias,
                            const char *base)
{
    char name[128];
    snprintf(name, sizeof(name), "%s.weight", base);
    net_add(l, name, rank, dim);
    snprintf(name, sizeof(name), "%s.bias", base);
    if (has_bias)
        net_add(l, name, 1, dim);
}

__attribute__((format(printf, 5, 6))) static inline void
net_linear(net_list *l, int64_t n, int64_t c, bool has_bias, const char *fmt, ...)
{
    char base[112];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(base, sizeof(base), fmt, ap);
    va_end(ap);
    net_pair(l, 2, (const int64_t[]){ n, c }, has_bias, base);
}

__attribute__((format(printf, 5, 6))) static inline void net_conv(net_list *l, int64_t n, int64_t c,
                                                                  int k, const char *fmt, ...)
{
    char base[112];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(base, sizeof(base), fmt, ap);
    va_end(ap);
    net_pair(l, 4, (const int64_t[]){ n, c, k, k }, true, base);
}

__attribute__((format(printf, 3, 4))) static inline void net_norm(net_list *l, int64_t c,
                                                                  const char *fmt, ...)
{
    char base[112];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(base, sizeof(base), fmt, ap);
    va_end(ap);
    net_pair(l, 1, &c, true, base);
}

// ---- UNets, in LDM names ---------------------------------------------------------------------
typedef struct net_unet {
    int ch, levels, mult[4], depth[4], mid; // transformer blocks by level; mid -1: no transformer
    int context, y, in, out;                // y 0: none
    bool is_linear;                         // proj_in and proj_out
} net_unet;

static const net_unet net_sd15 = { 320, 4, { 1, 2, 4, 4 }, { 1, 1, 1, 0 }, 1, 768, 0, 4, 4, false };
static const net_unet net_sd2 = { 320, 4, { 1, 2, 4, 4 }, { 1, 1, 1, 0 }, 1, 1024, 0, 4, 4, true };
static const net_unet net_sdxl = { 320, 3, { 1, 2, 4 }, { 0, 2, 10 }, 10, 2048, 2816, 4, 4, true };
static const net_unet net_refiner = { 384, 4,   { 1, 2, 4, 4 }, { 0, 4, 4, 0 }, 4, 1280, 2560, 4,
                                      4,   true };

static inline void net_res(net_list *l, const char *b, int c, int n, int emb)
{
    net_norm(l, c, "%s.in_layers.0", b);
    net_conv(l, n, c, 3, "%s.in_layers.2", b);
    net_linear(l, n, emb, true, "%s.emb_layers.1", b);
    net_norm(l, n, "%s.out_layers.0", b);
    net_conv(l, n, n, 3, "%s.out_layers.3", b);
    if (c != n)
        net_conv(l, n, c, 1, "%s.skip_connection", b);
}

static inline void net_attn(net_list *l, const char *b, int c, int from)
{
    net_linear(l, c, c, false, "%s.to_q", b);
    net_linear(l, c, from, false, "%s.to_k", b);
    net_linear(l, c, from, false, "%s.to_v", b);
    net_linear(l, c, c, true, "%s.to_out.0", b);
}

static inline void net_transformer(net_list *l, const char *b, const net_unet *u, int c, int depth)
{
    net_norm(l, c, "%s.norm", b);
    for (int io = 0; io < 2; io++) {
        if (u->is_linear)
            net_linear(l, c, c, true, "%s.%s", b, io ? "proj_out" : "proj_in");
        else
            net_conv(l, c, c, 1, "%s.%s", b, io ? "proj_out" : "proj_in");
    }
    for (int i = 0; i < depth; i++) {
        char t[96];
        snprintf(t, sizeof(t), "%s.transformer_blocks.%d.attn1", b, i);
        net_attn(l, t, c, c);
        t[strlen(t) - 1] = '2';
        net_attn(l, t, c, u->context);
        t[strlen(t) - 6] = 0;
        for (int k = 1; k <= 3; k++)
            net_norm(l, c, "%s.norm%d", t, k);
        net_linear(l, 8 * c, c, true, "%s.ff.net.0.proj", t);
        net_linear(l, c, 4 * c, true, "%s.ff.net.2", t);
    }
}

static inline int net_unet_down(net_list *l, const net_unet *u, int *skip, int *n_skip)
{
    char b[64];
    int c = u->ch;
    net_conv(l, c, u->in, 3, "input_blocks.0.0");
    skip[(*n_skip)++] = c;
    for (int level = 0; level < u->levels; level++) {
        for (int r = 0; r < 2; r++) {
            const int n = u->ch * u->mult[level];
            snprintf(b, sizeof(b), "input_blocks.%d.0", *n_skip);
            net_res(l, b, c, n, 4 * u->ch);
            c = n;
            b[strlen(b) - 1] = '1';
            if (u->depth[level])
                net_transformer(l, b, u, c, u->depth[level]);
            skip[(*n_skip)++] = c;
        }
        if (level + 1 < u->levels) {
            net_conv(l, c, c, 3, "input_blocks.%d.0.op", *n_skip);
            skip[(*n_skip)++] = c;
        }
    }
    return c;
}

static inline net_list net_list_unet(const net_unet *u, const char *prefix)
{
    net_list l = { .prefix = prefix };
    int skip[32], n_skip = 0, emb = 4 * u->ch;
    char b[64];
    net_linear(&l, emb, u->ch, true, "time_embed.0");
    net_linear(&l, emb, emb, true, "time_embed.2");
    if (u->y) {
        net_linear(&l, emb, u->y, true, "label_emb.0.0");
        net_linear(&l, emb, emb, true, "label_emb.0.2");
    }
    int c = net_unet_down(&l, u, skip, &n_skip);
    net_res(&l, "middle_block.0", c, c, emb);
    if (u->mid >= 0) {
        net_transformer(&l, "middle_block.1", u, c, u->mid);
        net_res(&l, "middle_block.2", c, c, emb);
    }
    for (int level = u->levels - 1, i = 0; level >= 0; level--)
        for (int r = 0; r < 3; r++, i++) {
            const int n = u->ch * u->mult[level];
            snprintf(b, sizeof(b), "output_blocks.%d.0", i);
            net_res(&l, b, c + skip[--n_skip], n, emb);
            c = n;
            b[strlen(b) - 1] = '1';
            if (u->depth[level])
                net_transformer(&l, b, u, c, u->depth[level]);
            if (r == 2 && level)
                net_conv(&l, c, c, 3, "output_blocks.%d.%d.conv", i, u->depth[level] ? 2 : 1);
        }
    net_norm(&l, c, "out.0");
    net_conv(&l, u->out, c, 3, "out.2");
    return l;
}

// ---- FLUX.1, in BFL names --------------------------------------------------------------------
typedef struct net_flux {
    int hidden, depth, doubles, singles; // depth: of a head
    int in, context, y;                  // in: latent channels
    bool has_guidance;
} net_flux;

static const net_flux net_flux_dev = { 3072, 128, 19, 38, 16, 4096, 768, true };
static const net_flux net_flux_schnell = { 3072, 128, 19, 38, 16, 4096, 768, false };
static const net_flux net_flux_fill = { 3072, 128, 19, 38, 96, 4096, 768, true };

static inline void net_flux_mlp(net_list *l, const char *name, int in, int hidden)
{
    net_linear(l, hidden, in, true, "%s.in_layer", name);
    net_linear(l, hidden, hidden, true, "%s.out_layer", name);
}

static inline void net_flux_norms(net_list *l, const char *base, int64_t depth)
{
    char name[96];
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof(name), "%snorm.%s_norm.scale", base, i ? "key" : "query");
        net_add(l, name, 1, &depth);
    }
}

static inline net_list net_list_flux(const net_flux *f, const char *prefix)
{
    net_list l = { .prefix = prefix };
    const int h = f->hidden;
    char b[64];
    net_linear(&l, h, 4 * f->in, true, "img_in");
    net_flux_mlp(&l, "time_in", 256, h);
    net_flux_mlp(&l, "vector_in", f->y, h);
    if (f->has_guidance)
        net_flux_mlp(&l, "guidance_in", 256, h);
    net_linear(&l, h, f->context, true, "txt_in");
    for (int i = 0; i < f->doubles; i++)
        for (int side = 0; side < 2; side++) {
            snprintf(b, sizeof(b), "double_blocks.%d.%s_", i, side ? "txt" : "img");
            net_linear(&l, 6 * h, h, true, "%smod.lin", b);
            net_linear(&l, 3 * h, h, true, "%sattn.qkv", b);
            net_linear(&l, h, h, true, "%sattn.proj", b);
            net_linear(&l, 4 * h, h, true, "%smlp.0", b);
            net_linear(&l, h, 4 * h, true, "%smlp.2", b);
            snprintf(b, sizeof(b), "double_blocks.%d.%s_attn.", i, side ? "txt" : "img");
            net_flux_norms(&l, b, f->depth);
        }
    for (int i = 0; i < f->singles; i++) {
        snprintf(b, sizeof(b), "single_blocks.%d.", i);
        net_linear(&l, 7 * h, h, true, "%slinear1", b);
        net_linear(&l, h, 5 * h, true, "%slinear2", b);
        net_linear(&l, 3 * h, h, true, "%smodulation.lin", b);
        net_flux_norms(&l, b, f->depth);
    }
    net_linear(&l, 4 * 16, h, true, "final_layer.linear");
    net_linear(&l, 2 * h, h, true, "final_layer.adaLN_modulation.1");
    return l;
}

// ---- Qwen-Image ------------------------------------------------------------------------------
typedef struct net_qwen {
    int hidden, depth, blocks, ff, context; // depth: of a head
    bool has_zero;                          // the mark of models from Edit-2511 on
} net_qwen;

static const net_qwen net_qwen_image
    __attribute__((unused)) = { 3072, 128, 60, 12288, 3584, false };

static inline void net_qwen_half(net_list *l, const char *b, const net_qwen *q, bool is_txt)
{
    static const char *const img[] = { "to_q", "to_k", "to_v", "to_out.0", "norm_q", "norm_k" };
    static const char *const txt[] = { "add_q_proj", "add_k_proj",   "add_v_proj",
                                       "to_add_out", "norm_added_q", "norm_added_k" };
    const char *const *names = is_txt ? txt : img, *side = is_txt ? "txt" : "img";
    const int64_t h = q->hidden, depth = q->depth;
    net_linear(l, 6 * h, h, true, "%s.%s_mod.1", b, side);
    net_linear(l, q->ff, h, true, "%s.%s_mlp.net.0.proj", b, side);
    net_linear(l, h, q->ff, true, "%s.%s_mlp.net.2", b, side);
    for (int i = 0; i < 4; i++)
        net_linear(l, h, h, true, "%s.attn.%s", b, names[i]);
    for (int i = 4; i < 6; i++) {
        char name[96];
        snprintf(name, sizeof(name), "%s.attn.%s.weight", b, names[i]);
        net_add(l, name, 1, &depth);
    }
}

static inline net_list net_list_qwen(const net_qwen *q, const char *prefix)
{
    static const char time[] = "time_text_embed.timestep_embedder.linear_";
    net_list l = { .prefix = prefix };
    const int64_t h = q->hidden, context = q->context;
    net_linear(&l, h, 64, true, "img_in");
    net_linear(&l, h, context, true, "txt_in");
    net_add(&l, "txt_norm.weight", 1, &context);
    net_linear(&l, h, 256, true, "%s1", time);
    net_linear(&l, h, h, true, "%s2", time);
    for (int i = 0; i < 2 * q->blocks; i++) {
        char b[64];
        snprintf(b, sizeof(b), "transformer_blocks.%d", i / 2);
        net_qwen_half(&l, b, q, i % 2);
    }
    net_linear(&l, 2 * h, h, true, "norm_out.linear");
    net_linear(&l, 64, h, true, "proj_out");
    if (q->has_zero)
        net_add(&l, "__index_timestep_zero__", 1, (const int64_t[]){ 0 });
    return l;
}

// ---- Wan, in its own names -------------------------------------------------------------------
typedef struct net_wan {
    int dim, ffn, layers, in, out, context;
    int vision, positions; // 0: no pictures; positions of them, 0: none are stored
    int follow;            // VACE: blocks that follow a video
} net_wan;

static const net_wan net_wan_1b = { 1536, 8960, 30, 16, 16, 4096, 0, 0, 0 };
static const net_wan net_wan_14b = { 5120, 13824, 40, 16, 16, 4096, 0, 0, 0 };
static const net_wan net_wan_i2v = { 5120, 13824, 40, 36, 16, 4096, 1280, 0, 0 };
static const net_wan net_wan_flf = { 5120, 13824, 40, 36, 16, 4096, 1280, 514, 0 };
static const net_wan net_wan22_i2v = { 5120, 13824, 40, 36, 16, 4096, 0, 0, 0 };
static const net_wan net_wan22_5b = { 3072, 14336, 30, 48, 48, 4096, 0, 0, 0 };

static inline void net_wan_attention(net_list *l, const char *b, const net_wan *w, bool is_cross)
{
    const int64_t dim = w->dim;
    char name[128];
    for (const char *c = "qkvo"; *c; c++)
        net_linear(l, dim, dim, true, "%s.%c", b, *c);
    for (int i = 0; i < (is_cross && w->vision ? 3 : 2); i++) {
        snprintf(name, sizeof(name), "%s.norm_%s.weight", b, i == 0 ? "q" : i == 1 ? "k" : "k_img");
        net_add(l, name, 1, &dim);
    }
    for (int i = 0; i < 2 && is_cross && w->vision; i++)
        net_linear(l, dim, dim, true, "%s.%s_img", b, i ? "v" : "k");
}

static inline void net_wan_block(net_list *l, const char *b, const net_wan *w)
{
    char name[96];
    snprintf(name, sizeof(name), "%s.modulation", b);
    net_add(l, name, 3, (const int64_t[]){ 1, 6, w->dim });
    snprintf(name, sizeof(name), "%s.self_attn", b);
    net_wan_attention(l, name, w, false);
    snprintf(name, sizeof(name), "%s.cross_attn", b);
    net_wan_attention(l, name, w, true);
    net_norm(l, w->dim, "%s.norm3", b);
    net_linear(l, w->ffn, w->dim, true, "%s.ffn.0", b);
    net_linear(l, w->dim, w->ffn, true, "%s.ffn.2", b);
}

static inline void net_wan_picture(net_list *l, const net_wan *w)
{
    if (w->positions)
        net_add(l, "img_emb.emb_pos", 3, (const int64_t[]){ 1, w->positions, w->vision });
    net_norm(l, w->vision, "img_emb.proj.0");
    net_linear(l, w->vision, w->vision, true, "img_emb.proj.1");
    net_linear(l, w->dim, w->vision, true, "img_emb.proj.3");
    net_norm(l, w->dim, "img_emb.proj.4");
}

static inline net_list net_list_wan(const net_wan *w, const char *prefix)
{
    net_list l = { .prefix = prefix };
    char b[64];
    net_pair(&l, 5, (const int64_t[]){ w->dim, w->in, 1, 2, 2 }, true, "patch_embedding");
    net_linear(&l, w->dim, w->context, true, "text_embedding.0");
    net_linear(&l, w->dim, w->dim, true, "text_embedding.2");
    net_linear(&l, w->dim, 256, true, "time_embedding.0");
    net_linear(&l, w->dim, w->dim, true, "time_embedding.2");
    net_linear(&l, 6 * (int64_t) w->dim, w->dim, true, "time_projection.1");
    if (w->vision)
        net_wan_picture(&l, w);
    for (int i = 0; i < w->layers; i++) {
        snprintf(b, sizeof(b), "blocks.%d", i);
        net_wan_block(&l, b, w);
    }
    if (w->follow)
        net_pair(&l, 5, (const int64_t[]){ w->dim, 96, 1, 2, 2 }, true, "vace_patch_embedding");
    for (int i = 0; i < w->follow; i++) {
        snprintf(b, sizeof(b), "vace_blocks.%d", i);
        net_wan_block(&l, b, w);
        if (!i)
            net_linear(&l, w->dim, w->dim, true, "%s.before_proj", b);
        net_linear(&l, w->dim, w->dim, true, "%s.after_proj", b);
    }
    net_add(&l, "head.modulation", 3, (const int64_t[]){ 1, 2, w->dim });
    net_linear(&l, 4 * w->out, w->dim, true, "head.head");
    return l;
}

// ---- files -----------------------------------------------------------------------------------
#define NET_TABLE 65536 // random values, used again and again

static inline int64_t net_count(const net_tensor *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++)
        n *= t->dim[i];
    return n;
}

// Matrices keep the size of what they multiply; gains are about 1, biases small.
static inline void net_fill_tensor(int fd, const net_tensor *t, nino_dtype type, const float *table,
                                   int turn)
{
    const int64_t n = net_count(t), fan_in = t->rank > 1 ? n / t->dim[0] : 1;
    const size_t len = strlen(t->name);
    const bool is_bias = len > 5 && !strcmp(t->name + len - 5, ".bias");
    const float sigma = t->rank > 1 ? 1 / sqrtf((float) fan_in) : is_bias ? 0.05f : 0.1f;
    const float mean = t->rank > 1 || is_bias ? 0 : 1;
    const size_t size = nino_dtype_size(type);
    float *v = malloc(NET_TABLE * sizeof(*v));
    void *raw = malloc(NET_TABLE * size);
    CHECK(v && raw);
    for (int i = 0; i < NET_TABLE; i++)
        v[i] = mean + sigma * table[(i + turn * 40503) & (NET_TABLE - 1)];
    nino_from_f32(raw, type, v, NET_TABLE);
    for (int64_t i = 0; i < n; i += NET_TABLE) {
        const size_t k = (size_t) (n - i < NET_TABLE ? n - i : NET_TABLE) * size;
        CHECK(write(fd, raw, k) == (ssize_t) k);
    }
    free(v);
    free(raw);
}

// Writes path and frees the list. type: F32, F16 or BF16.
static inline void net_save(net_list *l, const char *path, nino_dtype type, net_fill fill)
{
    const char *dtype = type == NINO_F32 ? "F32" : type == NINO_F16 ? "F16" : "BF16";
    nino_buf json = { 0 };
    uint64_t at = 0, seed = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < l->n; i++) {
        const net_tensor *t = &l->t[i];
        const uint64_t end = at + (uint64_t) net_count(t) * nino_dtype_size(type);
        nino_buf_addf(&json, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", i ? "," : "{", t->name,
                      dtype);
        for (int k = 0; k < t->rank; k++)
            nino_buf_addf(&json, "%s%lld", k ? "," : "", (long long) t->dim[k]);
        nino_buf_addf(&json, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long) at,
                      (unsigned long long) end);
        at = end;
    }
    nino_buf_addc(&json, '}');
    const uint64_t len = json.len;
    const int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    CHECK(fd >= 0 && write(fd, &len, 8) == 8 && write(fd, json.data, len) == (ssize_t) len);
    nino_buf_release(&json);
    if (fill == NET_SPARSE) {
        CHECK(ftruncate(fd, (off_t) (8 + len + at)) == 0);
    } else {
        static float table[NET_TABLE];
        for (int i = 0; i < NET_TABLE; i++)
            table[i] = random_vae_value(&seed);
        for (int i = 0; i < l->n; i++)
            net_fill_tensor(fd, &l->t[i], type, table, i);
    }
    CHECK(close(fd) == 0);
    free(l->t);
    *l = (net_list){ 0 };
}
