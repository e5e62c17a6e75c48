// Text encoders in GGUF files have llama.cpp's names of tensors; here they get those of Hugging
// Face, as everywhere else. Table: ggml-org/llama.cpp gguf-py tensor_mapping.py and clip-impl.h.
#include "core/file/gguf.h"

#include <stdio.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/error.h"

typedef struct pair {
    const char *gguf, *hf;
} pair;

typedef struct family {
    const char *sign;          // a tensor that only such files have
    const char *const *archs;  // general.architecture; NULL: any
    const char *gguf, *hf;     // before a block's number
    const pair *tops, *leaves; // whole names without ".weight" and ".bias", and what follows the
                               // number; both end with NULL
} family;

static const pair t5_tops[] = {
    { "token_embd", "shared" },
    { "enc.output_norm", "encoder.final_layer_norm" },
    { NULL, NULL },
};
static const pair t5_leaves[] = {
    { "attn_q", "layer.0.SelfAttention.q" },
    { "attn_k", "layer.0.SelfAttention.k" },
    { "attn_v", "layer.0.SelfAttention.v" },
    { "attn_o", "layer.0.SelfAttention.o" },
    { "attn_rel_b", "layer.0.SelfAttention.relative_attention_bias" },
    { "attn_norm", "layer.0.layer_norm" },
    { "ffn_gate", "layer.1.DenseReluDense.wi_0" },
    { "ffn_up", "layer.1.DenseReluDense.wi_1" },
    { "ffn_down", "layer.1.DenseReluDense.wo" },
    { "ffn_norm", "layer.1.layer_norm" },
    { NULL, NULL },
};

static const char *const llm_archs[] = { "qwen2vl", "qwen3", "mistral3", "llama", NULL };
static const pair llm_tops[] = {
    { "token_embd", "model.embed_tokens" },
    { "output_norm", "model.norm" },
    { "output", "lm_head" },
    { NULL, NULL },
};
static const pair llm_leaves[] = {
    { "attn_norm", "input_layernorm" },    { "ffn_norm", "post_attention_layernorm" },
    { "attn_q", "self_attn.q_proj" },      { "attn_k", "self_attn.k_proj" },
    { "attn_v", "self_attn.v_proj" },      { "attn_output", "self_attn.o_proj" },
    { "attn_q_norm", "self_attn.q_norm" }, { "attn_k_norm", "self_attn.k_norm" },
    { "ffn_gate", "mlp.gate_proj" },       { "ffn_up", "mlp.up_proj" },
    { "ffn_down", "mlp.down_proj" },       { NULL, NULL },
};

// The vision network of Qwen2.5-VL, in a file of its own ("mmproj").
static const pair vision_tops[] = {
    { "v.patch_embd", "visual.patch_embed.proj" },
    { "v.post_ln", "visual.merger.ln_q" },
    { "mm.0", "visual.merger.mlp.0" },
    { "mm.2", "visual.merger.mlp.2" },
    { NULL, NULL },
};
static const pair vision_leaves[] = {
    { "ln1", "norm1" },
    { "ln2", "norm2" },
    { "attn_q", "attn.q" },
    { "attn_k", "attn.k" },
    { "attn_v", "attn.v" },
    { "attn_out", "attn.proj" },
    { "ffn_gate", "mlp.gate_proj" },
    { "ffn_up", "mlp.up_proj" },
    { "ffn_down", "mlp.down_proj" },
    { NULL, NULL },
};

static const family families[] = {
    { "enc.blk.0.attn_q.weight", NULL, "enc.blk.", "encoder.block.", t5_tops, t5_leaves },
    { "blk.0.attn_output.weight", llm_archs, "blk.", "model.layers.", llm_tops, llm_leaves },
    { "v.patch_embd.weight.1", NULL, "v.blk.", "visual.blocks.", vision_tops, vision_leaves },
};

// The name of the row whose word `name` begins with, up to its ".weight" or ".bias".
static const pair *gguf_names_find(const pair *list, const char *name, const char **rest)
{
    for (; list->gguf; list++) {
        const size_t n = strlen(list->gguf);
        *rest = name + n;
        if (!strncmp(list->gguf, name, n) &&
            (!strncmp(*rest, ".weight", 7) || !strcmp(*rest, ".bias")))
            return list;
    }
    return NULL;
}

// "" when the name stays.
static void rename_tensor(const family *f, const char *name, char *out, size_t size)
{
    const size_t n = strlen(f->gguf),
                 digits = strspn(name + (strncmp(name, f->gguf, n) ? 0 : n), "0123456789");
    const char *rest;
    const pair *p = gguf_names_find(f->tops, name, &rest);
    out[0] = 0;
    if (p) {
        snprintf(out, size, "%s%s", p->hf, rest);
        return;
    }
    if (strncmp(name, f->gguf, n) != 0 || !digits || digits > 6 || name[n + digits] != '.')
        return;
    p = gguf_names_find(f->leaves, name + n + digits + 1, &rest);
    if (p)
        snprintf(out, size, "%s%.*s.%s%s", f->hf, (int) digits, name + n, p->hf, rest);
}

static bool gguf_names_is(const nino_st_header *h, const family *f)
{
    const char *arch = "";
    bool has_sign = false, has_arch = !f->archs;
    for (int i = 0; i < h->n_infos && !has_sign; i++)
        has_sign = !strcmp(h->infos[i].name, f->sign);
    for (int i = 0; i < h->n_meta; i++)
        if (!strcmp(h->meta[i].key, "general.architecture"))
            arch = h->meta[i].value;
    for (int i = 0; f->archs && f->archs[i]; i++)
        has_arch = has_arch || !strcmp(f->archs[i], arch);
    return has_sign && has_arch;
}

nino_status nino_gguf_rename(nino_st_header *h, const char *file, nino_error *err)
{
    const family *f = NULL;
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]) && !f; i++)
        f = gguf_names_is(h, &families[i]) ? &families[i] : NULL;
    for (int i = 0; f && i < h->n_infos; i++) {
        char name[96];
        rename_tensor(f, h->infos[i].name, name, sizeof(name));
        if (name[0] && !(h->infos[i].name = nino_arena_strdup(h->arena, name)))
            return nino_fail(err, NINO_ERR_NOMEM, file, "out of memory");
    }
    return NINO_OK;
}
