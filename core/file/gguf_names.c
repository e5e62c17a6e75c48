// T5 text encoders in GGUF files have llama.cpp's names of tensors; here they get those of Hugging
// Face, as everywhere else. Table: ggml-org/llama.cpp gguf-py tensor_mapping.py.
#include "core/file/gguf.h"

#include <stdio.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/error.h"

typedef struct pair {
    const char *gguf, *hf;
} pair;

static const pair tops[] = {
    { "token_embd.weight", "shared.weight" },
    { "enc.output_norm.weight", "encoder.final_layer_norm.weight" },
};

// Below enc.blk.N and encoder.block.N.
static const pair leaves[] = {
    { "attn_q.weight", "layer.0.SelfAttention.q.weight" },
    { "attn_k.weight", "layer.0.SelfAttention.k.weight" },
    { "attn_v.weight", "layer.0.SelfAttention.v.weight" },
    { "attn_o.weight", "layer.0.SelfAttention.o.weight" },
    { "attn_rel_b.weight", "layer.0.SelfAttention.relative_attention_bias.weight" },
    { "attn_norm.weight", "layer.0.layer_norm.weight" },
    { "ffn_gate.weight", "layer.1.DenseReluDense.wi_0.weight" },
    { "ffn_up.weight", "layer.1.DenseReluDense.wi_1.weight" },
    { "ffn_down.weight", "layer.1.DenseReluDense.wo.weight" },
    { "ffn_norm.weight", "layer.1.layer_norm.weight" },
};

static const char *gguf_names_find(const pair *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i].gguf, name))
            return list[i].hf;
    return NULL;
}

static const char block[] = "enc.blk.";

// "" when the name stays.
static void rename_tensor(const char *name, char *out, size_t size)
{
    const char *hf = gguf_names_find(tops, sizeof(tops) / sizeof(tops[0]), name), *p = name;
    out[0] = 0;
    if (hf) {
        snprintf(out, size, "%s", hf);
        return;
    }
    if (strncmp(name, block, sizeof(block) - 1) != 0)
        return;
    p += sizeof(block) - 1;
    const size_t digits = strspn(p, "0123456789");
    if (!digits || digits > 6 || p[digits] != '.')
        return;
    hf = gguf_names_find(leaves, sizeof(leaves) / sizeof(leaves[0]), p + digits + 1);
    if (hf)
        snprintf(out, size, "encoder.block.%.*s.%s", (int) digits, p, hf);
}

nino_status nino_gguf_rename(nino_st_header *h, const char *file, nino_error *err)
{
    bool is_t5 = false;
    for (int i = 0; i < h->n_infos && !is_t5; i++)
        is_t5 = !strcmp(h->infos[i].name, "enc.blk.0.attn_q.weight");
    for (int i = 0; i < h->n_infos && is_t5; i++) {
        char name[96];
        rename_tensor(h->infos[i].name, name, sizeof(name));
        if (name[0] && !(h->infos[i].name = nino_arena_strdup(h->arena, name)))
            return nino_fail(err, NINO_ERR_NOMEM, file, "out of memory");
    }
    return NINO_OK;
}
