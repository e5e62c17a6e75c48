// Mistral's tekken.json: tokens as bytes, in the order in which they are merged. Sources:
// mistralai/mistral-common tekken.py (the form), transformers' TikTokenConverter (every way to
// make a token of two others is a merge of its rank).
#include <stdlib.h>

#include "core/text/base64.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/text/bpe_priv.h"

#define SPECIALS 1000 // ids before the first token, where the file does not say

typedef struct split { // of token `whole` into two
    uint32_t whole, left, right;
} split;

static int compare_splits(const void *pa, const void *pb)
{
    const split *a = pa, *b = pb;
    if (a->whole != b->whole)
        return a->whole < b->whole ? -1 : 1;
    return a->left != b->left ? (a->left < b->left ? -1 : 1)
                              : (a->right > b->right) - (a->right < b->right);
}

// Symbols are the tokens by rank.
static nino_status find_splits(const nino_bpe_loader *l, nino_buf *out)
{
    const nino_strings *all = &l->b->symbols;
    for (uint32_t i = 0; i < all->n; i++) {
        size_t len;
        const char *s = nino_strings_at(all, i, &len);
        for (size_t k = 1; k < len; k++) {
            const int64_t a = nino_strings_find(all, s, k);
            const int64_t b = a < 0 ? -1 : nino_strings_find(all, s + k, len - k);
            if (b >= 0)
                nino_buf_add(out, &(split){ i, (uint32_t) a, (uint32_t) b }, sizeof(split));
        }
    }
    return out->failed ? nino_bpe_no_memory(l) : NINO_OK;
}

static nino_status tekken_add_merges(nino_bpe_loader *l)
{
    nino_buf found = { 0 };
    nino_status st = find_splits(l, &found);
    split *s = (split *) (void *) found.data;
    const size_t n = found.len / sizeof(*s);
    if (!st && n)
        qsort(s, n, sizeof(*s), compare_splits);
    if (!st)
        st = nino_bpe_reserve_merges(l, n);
    for (size_t i = 0; i < n && !st; i++)
        nino_bpe_add_pair(l->b, s[i].left, s[i].right, s[i].whole);
    nino_buf_release(&found);
    return st;
}

static nino_status tekken_add_specials(nino_bpe_loader *l, const nino_json *list)
{
    nino_status st = NINO_OK;
    int64_t id = 0;
    for (const nino_json *t = list ? list->child : NULL; t && !st; t = t->next, id++) {
        const nino_json *text = nino_json_get(t, "token_str");
        st = text && text->type == NINO_JSON_STRING
                 ? nino_bpe_add_special(l, text->text, text->len, id)
                 : nino_bpe_bad(l, "an entry of special_tokens has no token_str");
    }
    return st;
}

// The tokens of rank 0 ... n - 1 get the ids behind those of special tokens; the others are not
// used.
static nino_status tekken_add_tokens(nino_bpe_loader *l, const nino_json *vocab, int64_t first,
                                     int64_t n)
{
    nino_buf bytes = { 0 };
    nino_status st = NINO_OK;
    int64_t rank, next = 0;
    if (!vocab || vocab->type != NINO_JSON_ARRAY)
        return nino_bpe_bad(l, "vocab is not a list");
    for (const nino_json *t = vocab->child; t && !st; t = t->next) {
        const nino_json *text = nino_json_get(t, "token_bytes");
        nino_buf_clear(&bytes);
        if (!nino_json_i64(nino_json_get(t, "rank"), &rank) || rank != next++ || !text ||
            text->type != NINO_JSON_STRING || !nino_base64_decode(text->text, text->len, &bytes) ||
            !bytes.len)
            st = nino_bpe_bad(l, "an entry of vocab has no rank that is its place, or no bytes");
        else if (rank < n)
            st = nino_bpe_set_id(l, bytes.data, bytes.len, first + rank);
        if (!st && rank < n && l->b->symbols.n != (uint32_t) rank + 1)
            st = nino_bpe_bad(l, "two entries of vocab have the same bytes");
    }
    if (bytes.failed)
        st = nino_bpe_no_memory(l);
    nino_buf_release(&bytes);
    return st;
}

static nino_status tekken_add_bytes(nino_bpe_loader *l)
{
    for (int c = 0; c < 256; c++) {
        const char byte = (char) c;
        const int64_t i = nino_strings_find(&l->b->symbols, &byte, 1);
        if (i < 0)
            return nino_bpe_bad(l, "the vocabulary has no tokens for single bytes");
        l->b->byte[0][c] = l->b->byte[1][c] = (uint32_t) i;
    }
    return NINO_OK;
}

nino_status nino_bpe_from_tekken(const char *json, size_t len, const char *name, nino_bpe **out,
                                 nino_error *err)
{
    nino_bpe_loader l;
    nino_json_doc *doc = NULL;
    int64_t size = 0, specials = SPECIALS;
    nino_status st = nino_bpe_begin(&l, NINO_BPE_MISTRAL, name, err);
    if (st)
        return st;
    if (!(st = nino_json_parse(json, len, name, NULL, &doc, err))) {
        const nino_json *config = nino_json_get(doc->root, "config");
        const nino_json *list = nino_json_get(doc->root, "special_tokens");
        nino_json_i64(nino_json_get(config, "default_num_special_tokens"), &specials);
        if (!nino_json_i64(nino_json_get(config, "default_vocab_size"), &size) || specials < 0 ||
            size <= specials || (list && list->count > specials))
            st = nino_bpe_bad(&l, "config has no sizes of a vocabulary");
        if (!st)
            st =
                tekken_add_tokens(&l, nino_json_get(doc->root, "vocab"), specials, size - specials);
        if (!st)
            st = tekken_add_bytes(&l);
        if (!st)
            st = tekken_add_merges(&l);
        if (!st)
            st = tekken_add_specials(&l, list);
    }
    nino_json_doc_destroy(&doc);
    return nino_bpe_finish(&l, st, out);
}
