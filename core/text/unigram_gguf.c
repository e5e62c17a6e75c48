// The tokenizer in the metadata of a T5 or UMT5 GGUF file (tokenizer.ggml.*). Source of the keys:
// ggml-org/llama.cpp convert_hf_to_gguf.py (T5 encoders) and gguf-py constants.py.
#include <stdlib.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/file/gguf_list.h"
#include "core/text/unigram.h"

enum { TOKENS, SCORES, TYPES, CHARSMAP, N_KEYS };
enum { GGUF_U8 = 0, GGUF_I8 = 1, GGUF_U32 = 4, GGUF_I32 = 5, GGUF_F32 = 6, GGUF_STRING = 8 };

static const char *const keys[] = { "tokenizer.ggml.tokens", "tokenizer.ggml.scores",
                                    "tokenizer.ggml.token_type",
                                    "tokenizer.ggml.precompiled_charsmap", NULL };

static bool is_false(const nino_weights *w, const char *key)
{
    const char *v = nino_weights_meta(w, key);
    return v && !strcmp(v, "false");
}

static uint32_t word_at(const nino_gguf_list *l, int i) { return nino_le32(l->p + (size_t) i * 4); }

static nino_status unigram_gguf_bad(const char *file, nino_error *err, const char *what)
{
    return nino_fail_kind(err, NINO_ERR_FORMAT, "schema", file, "tokenizer.ggml: %s", what);
}

static nino_status unigram_gguf_check(const nino_gguf_list *l, const char *file, nino_error *err)
{
    if (l[TOKENS].type != GGUF_STRING || l[TOKENS].count > 1 << 22)
        return unigram_gguf_bad(file, err, "tokens is not a list of at most 4194304 strings");
    if (l[SCORES].type != GGUF_F32 || l[SCORES].count != l[TOKENS].count)
        return unigram_gguf_bad(file, err, "scores is not one f32 a token");
    if ((l[TYPES].type != GGUF_I32 && l[TYPES].type != GGUF_U32) ||
        l[TYPES].count != l[TOKENS].count)
        return unigram_gguf_bad(file, err, "token_type is not one i32 a token");
    if (l[CHARSMAP].count && l[CHARSMAP].type != GGUF_U8 && l[CHARSMAP].type != GGUF_I8)
        return unigram_gguf_bad(file, err, "precompiled_charsmap is not bytes");
    return NINO_OK;
}

// *n_bytes: how many pieces stand for a byte.
static void unigram_gguf_fill(nino_gguf_list *l, nino_piece *pieces, int n, int *n_bytes)
{
    for (int i = 0; i < n; i++) {
        const uint32_t score = word_at(&l[SCORES], i), type = word_at(&l[TYPES], i);
        nino_piece *p = &pieces[i];
        nino_gguf_next(&l[TOKENS], &p->text, &p->len);
        memcpy(&p->score, &score, sizeof(score));
        p->type = type <= NINO_PIECE_BYTE ? (nino_piece_type) type : 0;
        *n_bytes += type == NINO_PIECE_BYTE;
    }
}

nino_status nino_unigram_from_gguf(nino_weights *w, nino_unigram **out, nino_error *err)
{
    nino_gguf_list l[N_KEYS];
    void *owned = NULL;
    int n_bytes = 0;
    const char *file = nino_weights_path(w), *model = nino_weights_meta(w, "tokenizer.ggml.model");
    if (strcmp(nino_weights_format(w), "gguf") != 0 || !model || strcmp(model, "t5") != 0)
        return nino_fail(err, NINO_ERR_MISSING, file, "there is no unigram tokenizer in it");
    nino_status st = nino_gguf_lists(w, keys, l, &owned, err);
    if (!st)
        st = unigram_gguf_check(l, file, err);
    const int n = st ? 0 : (int) l[TOKENS].count;
    nino_piece *pieces = st ? NULL : calloc((size_t) n + 1, sizeof(*pieces));
    if (!st && !pieces)
        st = nino_fail(err, NINO_ERR_NOMEM, file, "out of memory");
    if (!st) {
        unigram_gguf_fill(l, pieces, n, &n_bytes);
        const nino_unigram_parts parts = {
            .pieces = pieces,
            .n_pieces = n,
            .charsmap = l[CHARSMAP].p,
            .n_charsmap = (size_t) l[CHARSMAP].count,
            .no_dummy_prefix = is_false(w, "tokenizer.ggml.add_space_prefix"),
            .keep_spaces = is_false(w, "tokenizer.ggml.remove_extra_whitespaces"),
            .is_byte_fallback = n_bytes == 256,
        };
        st = nino_unigram_from_parts(&parts, file, out, err);
    }
    free(pieces);
    free(owned);
    return st;
}
