// The byte-level vocabulary in the metadata of a language model's GGUF file (tokenizer.ggml.*).
// Source of the keys: ggml-org/llama.cpp gguf-py constants.py and convert_hf_to_gguf.py.
#include <stdlib.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/file/gguf_list.h"
#include "core/text/bpe_priv.h"

enum { TOKENS, TYPES, MERGES, N_KEYS };
enum { GGUF_U32 = 4, GGUF_I32 = 5, GGUF_STRING = 8 };
enum { TYPE_CONTROL = 3, TYPE_USER = 4, TYPE_UNUSED = 5 }; // of a token

static const char *const keys[] = { "tokenizer.ggml.tokens", "tokenizer.ggml.token_type",
                                    "tokenizer.ggml.merges", NULL };

static nino_status bpe_gguf_check(nino_bpe_loader *l, const nino_gguf_list *k)
{
    if (k[TOKENS].type != GGUF_STRING || !k[TOKENS].count || k[TOKENS].count > 1 << 22)
        return nino_bpe_bad(l, "tokenizer.ggml.tokens is not a list of at most 4194304 strings");
    if ((k[TYPES].type != GGUF_I32 && k[TYPES].type != GGUF_U32) ||
        k[TYPES].count != k[TOKENS].count)
        return nino_bpe_bad(l, "tokenizer.ggml.token_type is not one i32 a token");
    if (k[MERGES].type != GGUF_STRING)
        return nino_bpe_bad(l, "tokenizer.ggml.merges is not a list of strings");
    return NINO_OK;
}

static nino_status bpe_gguf_fill(nino_bpe_loader *l, nino_gguf_list *k)
{
    const uint8_t *types = k[TYPES].p;
    const size_t n_merges = (size_t) k[MERGES].count;
    const char *s;
    size_t len;
    nino_status st = NINO_OK;
    for (int64_t id = 0; !st && nino_gguf_next(&k[TOKENS], &s, &len); id++) {
        const uint32_t type = nino_le32(types + (size_t) id * 4);
        if (type == TYPE_CONTROL || type == TYPE_USER)
            st = nino_bpe_add_special(l, s, len, id);
        else if (type != TYPE_UNUSED)
            st = nino_bpe_set_id(l, s, len, id);
    }
    if (!st)
        st = nino_bpe_add_bytes(l, -1);
    if (!st)
        st = nino_bpe_reserve_merges(l, n_merges);
    while (!st && nino_gguf_next(&k[MERGES], &s, &len))
        st = nino_bpe_add_merge_text(l, s, len, false);
    return st;
}

nino_status nino_bpe_from_gguf(nino_weights *w, nino_bpe **out, nino_error *err)
{
    const char *file = nino_weights_path(w), *model = nino_weights_meta(w, "tokenizer.ggml.model");
    const char *pre = nino_weights_meta(w, "tokenizer.ggml.pre");
    nino_gguf_list k[N_KEYS];
    nino_bpe_loader l;
    void *owned = NULL;
    if (strcmp(nino_weights_format(w), "gguf") != 0 || !model || strcmp(model, "gpt2") != 0)
        return nino_fail(err, NINO_ERR_MISSING, file, "there is no byte-level tokenizer in it");
    const bool is_mistral = pre && !strcmp(pre, "tekken");
    if (pre && !is_mistral && strcmp(pre, "qwen2") != 0)
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "schema", file,
                              "its tokenizer cuts words as %.40s does, which is not known", pre);
    nino_status st = nino_bpe_begin(&l, is_mistral ? NINO_BPE_MISTRAL : NINO_BPE_QWEN, file, err);
    if (st)
        return st;
    st = nino_gguf_lists(w, keys, k, &owned, err);
    if (!st)
        st = bpe_gguf_check(&l, k);
    if (!st)
        st = bpe_gguf_fill(&l, k);
    free(owned);
    return nino_bpe_finish(&l, st, out);
}
