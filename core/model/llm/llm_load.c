// Language models from files: sizes of heads and layers by the shapes of tensors.
#include <string.h>

#include "core/model/llm/llm.h"

#define DEPTH 128 // of a head, where no norm says it

static const struct {
    double theta;
    float eps;
    bool has_head_norms;
} families[] = {
    [NINO_LLM_QWEN25_VL] = { 1e6, 1e-6f, false },
    [NINO_LLM_QWEN3] = { 1e6, 1e-6f, true },
    [NINO_LLM_MISTRAL3] = { 1e9, 1e-5f, false },
};

static void llm_load_norm(nino_loader *l, const char *stem, const char *leaf, int64_t n, float eps,
                          nino_norm *out)
{
    out->eps = eps;
    nino_load_vector(l, nino_name_of("%s%s.weight", stem, leaf).s, n, &out->gamma);
}

static void llm_load_linear(nino_loader *l, const char *stem, const char *leaf, int64_t n,
                            int64_t c, nino_linear *out)
{
    const nino_name name = nino_name_of("%s%s", stem, leaf);
    nino_load_linear(l, name.s, c, out);
    if (n >= 0)
        nino_load_expect(l, name.s, out, n);
}

// Heads of a projection of so many rows; the first layer's count for all.
static int heads_of(nino_loader *l, const char *what, const nino_linear *w, int depth)
{
    const int64_t rows = nino_load_rows(l, w->w);
    if (!l->st && rows % depth)
        nino_load_fail(l, NINO_ERR_FORMAT,
                       "%smodel.layers.0.self_attn.%s.weight has %lld rows, which are no heads of "
                       "%d",
                       l->prefix, what, (long long) rows, depth);
    return l->st ? 1 : (int) (rows / depth);
}

static void llm_load_sizes(nino_loader *l, nino_llm *net, const nino_llm_layer *first)
{
    net->heads = heads_of(l, "q_proj", &first->q, net->depth);
    net->kv_heads = heads_of(l, "k_proj", &first->k, net->depth);
    if (!l->st && net->heads % net->kv_heads)
        nino_load_fail(l, NINO_ERR_FORMAT, "its %d heads cannot share %d heads of keys", net->heads,
                       net->kv_heads);
}

static void llm_load_layer(nino_loader *l, nino_llm *net, int i, nino_llm_layer *out)
{
    const float eps = families[net->family].eps;
    const nino_name attn = nino_name_of("model.layers.%d.self_attn.", i);
    const nino_name mlp = nino_name_of("model.layers.%d.mlp.", i);
    const nino_name stem = nino_name_of("model.layers.%d.", i);
    const int64_t w = net->width, inner = i ? (int64_t) net->heads * net->depth : -1;
    const int64_t shared = i ? (int64_t) net->kv_heads * net->depth : -1;
    llm_load_norm(l, stem.s, "input_layernorm", w, eps, &out->norm1);
    llm_load_norm(l, stem.s, "post_attention_layernorm", w, eps, &out->norm2);
    llm_load_linear(l, attn.s, "q_proj", inner, w, &out->q);
    llm_load_linear(l, attn.s, "k_proj", shared, w, &out->k);
    llm_load_linear(l, attn.s, "v_proj", nino_load_rows(l, out->k.w), w, &out->v);
    llm_load_linear(l, attn.s, "o_proj", w, nino_load_rows(l, out->q.w), &out->o);
    if (net->has_head_norms) {
        llm_load_norm(l, attn.s, "q_norm", net->depth, eps, &out->norm_q);
        llm_load_norm(l, attn.s, "k_norm", net->depth, eps, &out->norm_k);
    }
    llm_load_linear(l, mlp.s, "gate_proj", -1, w, &out->gate);
    llm_load_linear(l, mlp.s, "up_proj", nino_load_rows(l, out->gate.w), w, &out->up);
    llm_load_linear(l, mlp.s, "down_proj", w, nino_load_rows(l, out->gate.w), &out->down);
    out->gate.act = NINO_ACT_SILU;
    if (!i)
        llm_load_sizes(l, net, out);
    out->norm_q.groups = net->heads;
    out->norm_k.groups = net->kv_heads;
}

// Of a head: the length of its norm, which is even as the rotation takes pairs.
static int depth_of(nino_loader *l, bool has_head_norms)
{
    const nino_name name = nino_name_of("%smodel.layers.0.self_attn.q_norm.weight", l->prefix);
    const nino_tensor_info *t = has_head_norms ? nino_weights_find(l->file, name.s) : NULL;
    if (!has_head_norms)
        return DEPTH;
    if (t && t->rank == 1 && t->dim[0] >= 2 && t->dim[0] <= 1024 && t->dim[0] % 2 == 0)
        return (int) t->dim[0];
    nino_load_fail(l, NINO_ERR_FORMAT, "%s is not the norm of a head", name.s);
    return DEPTH;
}

// llama.cpp's tools turn the rows of these models' queries and keys.
static bool is_paired(const nino_loader *l)
{
    const nino_weights *file = nino_weights_base(l->file);
    const char *arch = nino_weights_meta(file, "general.architecture");
    return !strcmp(nino_weights_format(file), "gguf") && arch &&
           (!strcmp(arch, "llama") || !strcmp(arch, "mistral3"));
}

nino_llm *nino_llm_load(nino_loader *l, nino_llm_family family, int width, int n_layers)
{
    nino_llm *net = nino_load_alloc(l, 1, sizeof(*net));
    nino_llm_layer *layer =
        net ? nino_load_alloc(l, (size_t) n_layers, sizeof(net->layer[0])) : NULL;
    if (!layer)
        return NULL;
    *net = (nino_llm){ .family = family,
                       .width = width,
                       .n_layers = n_layers,
                       .has_head_norms = families[family].has_head_norms,
                       .is_paired = is_paired(l),
                       .theta = families[family].theta,
                       .layer = layer };
    net->depth = depth_of(l, net->has_head_norms);
    for (int i = 0; i < n_layers && !l->st; i++)
        llm_load_layer(l, net, i, &layer[i]);
    if (nino_load_has(l, "model.norm.weight"))
        llm_load_norm(l, "model.", "norm", width, families[family].eps, &net->final_norm);
    return l->st ? NULL : net;
}
