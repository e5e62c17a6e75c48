// Files of the models that real workflows name: the sizes of the published networks, each kind of layer in it
// once or twice, no data. What programs a run needs depends on sizes and types, not on how often.
#pragma once
#include "tests/random_dit.h"
#include "tests/random_llm.h"
#include "tests/vae.h"

// ---- autoencoders ----------------------------------------------------------------------------
static inline void real_conv3(net_list *l, int64_t n, int64_t c, int kt, int k, const char *name)
{
    net_pair(l, 5, (const int64_t[]){ n, c, kt, k, k }, true, name);
}

static inline void real_kl_res(net_list *l, const char *b, int c, int n)
{
    net_norm(l, c, "%s.norm1", b);
    net_conv(l, n, c, 3, "%s.conv1", b);
    net_norm(l, n, "%s.norm2", b);
    net_conv(l, n, n, 3, "%s.conv2", b);
    if (c != n)
        net_conv(l, n, c, 1, "%s.nin_shortcut", b);
}

static inline void real_kl_mid(net_list *l, const char *half, int c)
{
    static const char *const convs[] = { "q", "k", "v", "proj_out" };
    char b[48];
    for (int i = 1; i <= 2; i++) {
        snprintf(b, sizeof(b), "%s.mid.block_%d", half, i);
        real_kl_res(l, b, c, c);
    }
    net_norm(l, c, "%s.mid.attn_1.norm", half);
    for (int i = 0; i < 4; i++)
        net_conv(l, c, c, 1, "%s.mid.attn_1.%s", half, convs[i]);
}

// That of SD1.5 and SDXL (z 4), of FLUX.1 (z 16, without the convolutions at the latent).
static inline net_list real_list_kl(int z)
{
    static const int mult[] = { 1, 2, 4, 4 };
    net_list l = { 0 };
    char b[48];
    net_conv(&l, 512, z, 3, "decoder.conv_in");
    real_kl_mid(&l, "decoder", 512);
    for (int level = 3, in = 512; level >= 0; level--)
        for (int i = 0; i < 4; i++, in = 128 * mult[level]) {
            snprintf(b, sizeof(b), "decoder.up.%d.block.%d", level, i);
            if (i < 3)
                real_kl_res(&l, b, in, 128 * mult[level]);
            else if (level)
                net_conv(&l, in, in, 3, "decoder.up.%d.upsample.conv", level);
        }
    net_norm(&l, 128, "decoder.norm_out");
    net_conv(&l, 3, 128, 3, "decoder.conv_out");
    net_conv(&l, 128, 3, 3, "encoder.conv_in");
    for (int level = 0, in = 128; level < 4; level++)
        for (int i = 0; i < 3; i++, in = 128 * mult[level]) {
            snprintf(b, sizeof(b), "encoder.down.%d.block.%d", level, i);
            if (i < 2)
                real_kl_res(&l, b, in, 128 * mult[level]);
            else if (level < 3)
                net_conv(&l, in, in, 3, "encoder.down.%d.downsample.conv", level);
        }
    real_kl_mid(&l, "encoder", 512);
    net_norm(&l, 512, "encoder.norm_out");
    net_conv(&l, 2 * z, 512, 3, "encoder.conv_out");
    if (z == 4) {
        net_conv(&l, z, z, 1, "post_quant_conv");
        net_conv(&l, 2 * z, 2 * z, 1, "quant_conv");
    }
    return l;
}

static inline void real_gamma(net_list *l, int64_t c, int rank, const char *base)
{
    char name[96];
    snprintf(name, sizeof(name), "%s.gamma", base);
    net_add(l, name, rank, (const int64_t[]){ c, 1, 1, 1 });
}

static inline void real_wan_res(net_list *l, const char *b, int64_t c, int64_t n)
{
    char name[80];
    snprintf(name, sizeof(name), "%s.residual.0", b);
    real_gamma(l, c, 4, name);
    snprintf(name, sizeof(name), "%s.residual.2", b);
    real_conv3(l, n, c, 3, 3, name);
    snprintf(name, sizeof(name), "%s.residual.3", b);
    real_gamma(l, n, 4, name);
    snprintf(name, sizeof(name), "%s.residual.6", b);
    real_conv3(l, n, n, 3, 3, name);
    snprintf(name, sizeof(name), "%s.shortcut", b);
    if (n != c)
        real_conv3(l, n, c, 1, 1, name);
}

static inline void real_wan_ends(net_list *l, const char *half, int64_t c, int64_t last, int64_t n)
{
    char name[80];
    for (int i = 0; i < 3; i += 2) {
        snprintf(name, sizeof(name), "%s.middle.%d", half, i);
        real_wan_res(l, name, c, c);
    }
    snprintf(name, sizeof(name), "%s.middle.1.norm", half);
    real_gamma(l, c, 3, name);
    net_conv(l, 3 * c, c, 1, "%s.middle.1.to_qkv", half);
    net_conv(l, c, c, 1, "%s.middle.1.proj", half);
    snprintf(name, sizeof(name), "%s.head.0", half);
    real_gamma(l, last, 4, name);
    snprintf(name, sizeof(name), "%s.head.2", half);
    real_conv3(l, n, last, 3, 3, name);
}

// Wan 2.1's and 2.2's, one block a level.
static inline net_list real_list_wan_vae(bool is_22)
{
    static const int up[2][4][3] = {
        { { 384, 384, 192 }, { 192, 384, 192 }, { 192, 192, 96 }, { 96, 96, 0 } },
        { { 1024, 1024, 1024 }, { 1024, 1024, 1024 }, { 1024, 512, 512 }, { 512, 256, 0 } }
    };
    static const int down[2][5] = { { 96, 96, 192, 384, 384 }, { 160, 160, 320, 640, 640 } };
    const int z = is_22 ? 48 : 16, colours = is_22 ? 12 : 3, top = is_22 ? 1024 : 384;
    net_list l = { 0 };
    real_conv3(&l, z, z, 1, 1, "conv2");
    real_conv3(&l, 2 * z, 2 * z, 1, 1, "conv1");
    real_conv3(&l, top, z, 3, 3, "decoder.conv1");
    real_conv3(&l, down[is_22][0], colours, 3, 3, "encoder.conv1");
    for (int half = 0; half < 2; half++)
        for (int g = 0; g < 4; g++) {
            const char *list = half ? "encoder.downsamples" : "decoder.upsamples";
            const int c = half ? down[is_22][g] : up[is_22][g][0];
            const int n = half ? down[is_22][g + 1] : up[is_22][g][1];
            const int to = half ? g < 3 ? n : 0 : up[is_22][g][2];
            char b[2][64], name[96];
            for (int k = 0; k < 2; k++)
                snprintf(b[k], sizeof(b[k]), is_22 ? "%s.%d.%s.%d" : "%s.%d", list,
                         is_22 ? g : 2 * g + k, list + 8, k);
            real_wan_res(&l, b[0], c, n);
            if (to)
                net_conv(&l, to, n, 3, "%s.resample.1", b[1]);
            snprintf(name, sizeof(name), "%s.time_conv", b[1]);
            if (to && (half ? g > 0 : g < 2))
                net_pair(&l, 5, (const int64_t[]){ half ? n : 2 * n, n, 3, 1, 1 }, true, name);
        }
    real_wan_ends(&l, "decoder", top, up[is_22][3][1], colours);
    real_wan_ends(&l, "encoder", down[is_22][4], down[is_22][4], 2 * z);
    return l;
}

// ---- text encoders ---------------------------------------------------------------------------
static inline net_list real_list_clip(int64_t c, int64_t mlp, int layers)
{
    static const char stack[] = "text_model.encoder.layers";
    net_list l = { 0 };
    net_add(&l, "text_model.embeddings.token_embedding.weight", 2, (const int64_t[]){ 49408, c });
    net_add(&l, "text_model.embeddings.position_embedding.weight", 2, (const int64_t[]){ 77, c });
    for (int i = 0; i < layers; i++) {
        net_norm(&l, c, "%s.%d.layer_norm1", stack, i);
        for (const char *k = "qkv"; *k; k++)
            net_linear(&l, c, c, true, "%s.%d.self_attn.%c_proj", stack, i, *k);
        net_linear(&l, c, c, true, "%s.%d.self_attn.out_proj", stack, i);
        net_norm(&l, c, "%s.%d.layer_norm2", stack, i);
        net_linear(&l, mlp, c, true, "%s.%d.mlp.fc1", stack, i);
        net_linear(&l, c, mlp, true, "%s.%d.mlp.fc2", stack, i);
    }
    net_norm(&l, c, "text_model.final_layer_norm");
    net_linear(&l, c, c, false, "text_projection");
    return l;
}

// T5-XXL and UMT5-XXL.
static inline net_list real_list_t5(int64_t vocab, bool is_umt5)
{
    const int64_t c = 4096, mlp = 10240, bias[] = { 32, 64 };
    net_list l = { 0 };
    char name[112];
    net_linear(&l, vocab, c, false, "shared");
    for (int i = 0; i < 2; i++) {
        for (const char *k = "qkvo"; *k; k++)
            net_linear(&l, c, c, false, "encoder.block.%d.layer.0.SelfAttention.%c", i, *k);
        snprintf(name, sizeof(name),
                 "encoder.block.%d.layer.0.SelfAttention.relative_attention_bias.weight", i);
        if (!i || is_umt5)
            net_add(&l, name, 2, bias);
        for (int k = 0; k < 2; k++) {
            snprintf(name, sizeof(name), "encoder.block.%d.layer.%d.layer_norm.weight", i, k);
            net_add(&l, name, 1, &c);
            net_linear(&l, mlp, c, false, "encoder.block.%d.layer.1.DenseReluDense.wi_%d", i, k);
        }
        net_linear(&l, c, mlp, false, "encoder.block.%d.layer.1.DenseReluDense.wo", i);
    }
    net_add(&l, "encoder.final_layer_norm.weight", 1, &c);
    return l;
}

// ---- files without data ----------------------------------------------------------------------
static inline void real_close(int fd, const nino_buf *head, uint64_t data)
{
    CHECK(fd >= 0 && write(fd, head->data, head->len) == (ssize_t) head->len);
    CHECK(!ftruncate(fd, (off_t) (head->len + data)) && !close(fd));
}

// Matrices of one type, all else of another; takes the list. words (may be NULL): a tokenizer's model.
static inline void real_save(net_list *l, const char *path, nino_dtype matrix, nino_dtype rest,
                             const nino_array *words)
{
    nino_buf json = { 0 }, all = { 0 };
    uint64_t at = 0;
    for (int i = 0; i < l->n; i++) {
        const net_tensor *t = &l->t[i];
        const nino_dtype type = t->rank == 2 ? matrix : rest;
        const uint64_t end = at + (uint64_t) net_count(t) * nino_dtype_size(type);
        nino_buf_addf(&json, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", i ? "," : "{", t->name,
                      type == NINO_F32       ? "F32"
                      : type == NINO_F16     ? "F16"
                      : type == NINO_F8_E4M3 ? "F8_E4M3"
                                             : "BF16");
        for (int k = 0; k < t->rank; k++)
            nino_buf_addf(&json, "%s%lld", k ? "," : "", (long long) t->dim[k]);
        nino_buf_addf(&json, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long) at,
                      (unsigned long long) end);
        at = end;
    }
    if (words)
        nino_buf_addf(&json,
                      ",\"spiece_model\":{\"dtype\":\"U8\",\"shape\":[%zu],\"data_offsets\":"
                      "[%llu,%llu]}",
                      words->bytes, (unsigned long long) at,
                      (unsigned long long) (at + words->bytes));
    nino_buf_addc(&json, '}');
    const uint64_t len = json.len;
    nino_buf_add(&all, &len, 8);
    nino_buf_add(&all, json.data, json.len);
    const int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    CHECK(!words ||
          pwrite(fd, words->data, words->bytes, (off_t) (all.len + at)) == (ssize_t) words->bytes);
    real_close(fd, &all, at + (words ? words->bytes : 0));
    nino_buf_release(&json);
    nino_buf_release(&all);
    free(l->t);
    *l = (net_list){ 0 };
}

// As quantised files of FLUX.1 are: what is narrow or at the ends in f16, vectors in f32; takes the list.
static inline void real_save_gguf(net_list *l, const char *path, nino_dtype matrix)
{
    enum { GGUF_F32 = 0, GGUF_F16 = 1, GGUF_Q4_K = 12 };
    nino_buf head = { 0 };
    uint64_t at = 0;
    nino_buf_adds(&head, "GGUF");
    gguf_u32(&head, 3);
    gguf_u64(&head, (uint64_t) l->n);
    gguf_u64(&head, 1);
    gguf_text(&head, "general.architecture", "flux");
    for (int i = 0; i < l->n; i++) {
        const net_tensor *t = &l->t[i];
        const bool is_end = !strstr(t->name, "blocks.");
        const nino_dtype type = t->rank < 2 ? NINO_F32 : is_end ? NINO_F16 : matrix;
        size_t values, bytes;
        nino_dtype_block(type, &values, &bytes);
        gguf_string(&head, t->name);
        gguf_u32(&head, (uint32_t) t->rank);
        for (int k = t->rank; k-- > 0;)
            gguf_u64(&head, (uint64_t) t->dim[k]);
        gguf_u32(&head, t->rank < 2 ? GGUF_F32 : is_end ? GGUF_F16 : GGUF_Q4_K);
        gguf_u64(&head, at);
        at += ((uint64_t) net_count(t) / values * bytes + 31) / 32 * 32;
    }
    gguf_pad(&head);
    real_close(open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600), &head, at);
    nino_buf_release(&head);
    free(l->t);
    *l = (net_list){ 0 };
}
