// Language models as text encoders: the tensors of those that there are, and small ones; the same as
// GGUF files, named as llama.cpp's tools name them.
#pragma once
#include "core/model/clip/text_encoder.h"
#include "core/model/llm/llm.h"
#include "tests/gguf_tokens.h"
#include "tests/random_net.h"

typedef struct net_llm {
    int64_t width, layers, heads, kv_heads, depth, mlp, vocab;
    bool has_norms, has_biases, has_head;      // lm_head
    int64_t vision, vision_layers, vision_mlp; // width of the vision network, 0: none
} net_llm;

static const net_llm net_qwen3_4b = { 2560, 36,    32,    8, 128, 9728, 151936,
                                      true, false, false, 0, 0,   0 };
static const net_llm net_qwen3_8b = { 4096, 36,    32,   8, 128, 12288, 151936,
                                      true, false, true, 0, 0,   0 };
static const net_llm net_mistral = { 5120,  40,    32,    8, 128, 32768, 131072,
                                     false, false, false, 0, 0,   0 };
static const net_llm net_qwen25 = { 3584,  28,   28,   4,    128, 18944, 152064,
                                    false, true, true, 1280, 32,  3420 };

static inline void net_llm_vector(net_list *l, int64_t n, const char *base, const char *leaf)
{
    char name[112];
    snprintf(name, sizeof(name), "%s%s.weight", base, leaf);
    net_add(l, name, 1, &n);
}

static inline void net_llm_linear(net_list *l, int64_t n, int64_t c, bool has_bias,
                                  const char *base, const char *leaf)
{
    net_linear(l, n, c, has_bias, "%s%s", base, leaf);
}

static inline void net_llm_layer(net_list *l, const net_llm *m, int i)
{
    char base[64];
    const int64_t q = m->heads * m->depth, k = m->kv_heads * m->depth, w = m->width;
    snprintf(base, sizeof(base), "model.layers.%d.", i);
    net_llm_linear(l, q, w, m->has_biases, base, "self_attn.q_proj");
    net_llm_linear(l, k, w, m->has_biases, base, "self_attn.k_proj");
    net_llm_linear(l, k, w, m->has_biases, base, "self_attn.v_proj");
    net_llm_linear(l, w, q, false, base, "self_attn.o_proj");
    if (m->has_norms) {
        net_llm_vector(l, m->depth, base, "self_attn.q_norm");
        net_llm_vector(l, m->depth, base, "self_attn.k_norm");
    }
    net_llm_linear(l, m->mlp, w, false, base, "mlp.gate_proj");
    net_llm_linear(l, m->mlp, w, false, base, "mlp.up_proj");
    net_llm_linear(l, w, m->mlp, false, base, "mlp.down_proj");
    net_llm_vector(l, w, base, "input_layernorm");
    net_llm_vector(l, w, base, "post_attention_layernorm");
}

static inline void net_llm_eyes(net_list *l, const net_llm *m)
{
    char base[64];
    const int64_t v = m->vision;
    net_add(l, "visual.patch_embed.proj.weight", 5, (const int64_t[]){ v, 3, 2, 14, 14 });
    for (int i = 0; i < m->vision_layers; i++) {
        snprintf(base, sizeof(base), "visual.blocks.%d.", i);
        net_llm_vector(l, v, base, "norm1");
        net_llm_vector(l, v, base, "norm2");
        net_llm_linear(l, 3 * v, v, true, base, "attn.qkv");
        net_llm_linear(l, v, v, true, base, "attn.proj");
        net_llm_linear(l, m->vision_mlp, v, true, base, "mlp.gate_proj");
        net_llm_linear(l, m->vision_mlp, v, true, base, "mlp.up_proj");
        net_llm_linear(l, v, m->vision_mlp, true, base, "mlp.down_proj");
    }
    net_llm_vector(l, v, "visual.", "merger.ln_q");
    net_llm_linear(l, 4 * v, 4 * v, true, "visual.", "merger.mlp.0");
    net_llm_linear(l, m->width, 4 * v, true, "visual.", "merger.mlp.2");
}

static inline net_list net_list_llm(const net_llm *m)
{
    net_list l = { 0 };
    net_llm_linear(&l, m->vocab, m->width, false, "", "model.embed_tokens");
    for (int i = 0; i < m->layers; i++)
        net_llm_layer(&l, m, i);
    net_llm_vector(&l, m->width, "", "model.norm");
    if (m->has_head)
        net_llm_linear(&l, m->vocab, m->width, false, "", "lm_head");
    if (m->vision)
        net_llm_eyes(&l, m);
    return l;
}

// ---- GGUF ------------------------------------------------------------------------------------

// What a name is there; `out` is empty where the tensor is not written.
static inline void gguf_llm_name(const char *name, char *out, size_t size)
{
    static const char *const words[][2] = {
        { "model.embed_tokens", "token_embd" },
        { "model.norm", "output_norm" },
        { "lm_head", "output" },
        { "model.layers.", "blk." },
        { "self_attn.q_proj", "attn_q" },
        { "self_attn.k_proj", "attn_k" },
        { "self_attn.v_proj", "attn_v" },
        { "self_attn.o_proj", "attn_output" },
        { "self_attn.q_norm", "attn_q_norm" },
        { "self_attn.k_norm", "attn_k_norm" },
        { "input_layernorm", "attn_norm" },
        { "post_attention_layernorm", "ffn_norm" },
        { "mlp.gate_proj", "ffn_gate" },
        { "mlp.up_proj", "ffn_up" },
        { "mlp.down_proj", "ffn_down" },
        { "visual.patch_embed.proj", "v.patch_embd" },
        { "visual.merger.ln_q", "v.post_ln" },
        { "visual.merger.mlp.", "mm." },
        { "visual.blocks.", "v.blk." },
        { ".norm", ".ln" },
        { "attn.proj", "attn_out" },
        { "attn.qkv", "attn_qkv" },
    };
    snprintf(out, size, "%s", name);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        char *at = strstr(out, words[i][0]), rest[160];
        if (!at)
            continue;
        snprintf(rest, sizeof(rest), "%s", at + strlen(words[i][0]));
        snprintf(at, size - (size_t) (at - out), "%s%s", words[i][1], rest);
    }
}

typedef struct gguf_llm {
    nino_buf infos, data;
    int n;
    bool is_q8; // matrices of whole blocks are Q8_0
} gguf_llm;

// Blocks of 32 values: a factor in f16, then as many bytes.
static inline void gguf_llm_q8(nino_buf *to, const float *v, int64_t n)
{
    for (int64_t i = 0; i < n; i += 32) {
        float most = 0, d;
        uint16_t half;
        for (int k = 0; k < 32; k++)
            most = fmaxf(most, fabsf(v[i + k]));
        d = most / 127;
        nino_from_f32(&half, NINO_F16, &d, 1);
        nino_buf_add(to, &half, 2);
        for (int k = 0; k < 32; k++)
            nino_buf_addc(to, (char) lrintf(d > 0 ? v[i + k] / d : 0));
    }
}

static inline void gguf_llm_add(gguf_llm *g, const char *name, int rank, const int64_t *dim,
                                const float *v)
{
    int64_t n = 1;
    for (int i = 0; i < rank; i++)
        n *= dim[i];
    const bool is_q8 = g->is_q8 && rank == 2 && dim[1] % 32 == 0;
    gguf_string(&g->infos, name);
    gguf_u32(&g->infos, (uint32_t) rank);
    for (int i = rank; i-- > 0;)
        gguf_u64(&g->infos, (uint64_t) dim[i]);
    gguf_u32(&g->infos, is_q8 ? 8 : 0);
    gguf_u64(&g->infos, g->data.len);
    if (is_q8)
        gguf_llm_q8(&g->data, v, n);
    else
        nino_buf_add(&g->data, v, (size_t) n * sizeof(*v));
    gguf_pad(&g->data);
    g->n++;
}

// Rows of one head in the order in which channels that turn together lie side by side.
static inline void gguf_llm_turn(float *v, int64_t rows, int64_t cols, int64_t depth)
{
    float *copy = malloc((size_t) (rows * cols) * sizeof(*copy));
    CHECK(copy);
    memcpy(copy, v, (size_t) (rows * cols) * sizeof(*copy));
    for (int64_t r = 0; r < rows; r++) {
        const int64_t in = r % depth, from = r - in + in % 2 * (depth / 2) + in / 2;
        memcpy(v + r * cols, copy + from * cols, (size_t) cols * sizeof(*v));
    }
    free(copy);
}

// Queries, keys and values, and the kernels of the two frames of patches, go apart.
static inline void gguf_llm_put(gguf_llm *g, const nino_tensor_info *t, const char *name, float *v)
{
    char own[176];
    const int64_t third = t->dim[0] / 3 * (t->rank > 1 ? t->dim[1] : 1);
    const int64_t kernel = 14 * 14;
    const char *at = strstr(name, "attn_qkv");
    for (int i = 0; at && i < 3; i++) {
        snprintf(own, sizeof(own), "%.*sattn_%c%s", (int) (at - name), name, "qkv"[i], at + 8);
        gguf_llm_add(g, own, t->rank, (const int64_t[]){ t->dim[0] / 3, t->dim[1] }, v + i * third);
    }
    for (int f = 0; t->rank == 5 && f < 2; f++) {
        float *one = malloc((size_t) (t->dim[0] * 3 * kernel) * sizeof(*one));
        CHECK(one);
        for (int64_t i = 0; i < t->dim[0] * 3; i++)
            memcpy(one + i * kernel, v + (2 * i + f) * kernel, kernel * sizeof(*one));
        snprintf(own, sizeof(own), "%s%s", name, f ? ".1" : "");
        gguf_llm_add(g, own, 4, (const int64_t[]){ t->dim[0], 3, 14, 14 }, one);
        free(one);
    }
    if (!at && t->rank != 5)
        gguf_llm_add(g, name, t->rank, t->dim, v);
}

// The tensors of `file` whose names begin with `stem` as a GGUF file. is_turned: as llama.cpp's tools
// make Mistral's.
static inline void gguf_llm_save(const nino_weights *file, const char *stem, const char *arch,
                                 bool is_q8, int64_t turned_depth, const char *path)
{
    gguf_llm g = { .is_q8 = is_q8 };
    nino_error err = { 0 };
    nino_buf head = { 0 };
    for (int i = 0; i < nino_weights_count(file); i++) {
        const nino_tensor_info *t = nino_weights_at(file, i);
        char name[160];
        if (strncmp(t->name, stem, strlen(stem)) != 0)
            continue;
        nino_array *a = nino_weights_read_f32(file, t, &err);
        CHECK_OK(a ? NINO_OK : err.code, err);
        gguf_llm_name(t->name, name, sizeof(name));
        if (turned_depth && (strstr(name, "attn_q.") || strstr(name, "attn_k.")))
            gguf_llm_turn(nino_array_f32(a), t->dim[0], t->dim[1], turned_depth);
        gguf_llm_put(&g, t, name, nino_array_f32(a));
        nino_array_unref(&a);
    }
    nino_buf_adds(&head, "GGUF");
    gguf_u32(&head, 3);
    gguf_u64(&head, (uint64_t) g.n);
    gguf_u64(&head, 1);
    gguf_text(&head, "general.architecture", arch);
    nino_buf_add(&head, g.infos.data, g.infos.len);
    nino_buf_release(&g.infos);
    gguf_save(&head, &g.data, path);
}
