// Reads vocabularies: vocab.json with merges.txt, OpenAI's bpe_simple_vocab (plain or gzip), or a
// tokenizer.json. Formats: openai/CLIP simple_tokenizer.py, Hugging Face tokenizers.
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/utf8.h"
#include "core/text/bpe_priv.h"

#define MAX_MERGES (UINT32_C(1) << 24)
#define MAX_ID (1 << 24)
#define MAX_SIMPLE ((size_t) 64 << 20)  // of bpe_simple_vocab, unpacked
#define SIMPLE_MERGES (49152 - 256 - 2) // lines of it that CLIP uses
#define MAX_SYMBOL 4096                 // bytes of one
static const char word_end[] = "</w>";

nino_status nino_bpe_no_memory(const nino_bpe_loader *l)
{
    return nino_fail(l->err, NINO_ERR_NOMEM, l->name, "out of memory");
}

nino_status nino_bpe_bad(const nino_bpe_loader *l, const char *what)
{
    return nino_fail_kind(l->err, NINO_ERR_FORMAT, "schema", l->name, "%s", what);
}

// ---- symbols ---------------------------------------------------------------------------------

nino_status nino_bpe_add_symbol(nino_bpe_loader *l, const char *p, size_t len, uint32_t *out)
{
    nino_bpe *b = l->b;
    bool is_new;
    if (len > MAX_SYMBOL)
        return nino_bpe_bad(l, "a token is longer than 4096 bytes");
    const int64_t i = nino_strings_add(&b->symbols, p, len, &is_new);
    if (i < 0)
        return nino_bpe_no_memory(l);
    if (b->symbols.n > b->ids_cap) {
        const uint32_t cap = b->symbols.n + b->symbols.n / 2 + 64;
        int32_t *ids = realloc(b->ids, cap * sizeof(*ids));
        if (!ids)
            return nino_bpe_no_memory(l);
        b->ids = ids;
        b->ids_cap = cap;
    }
    if (is_new)
        b->ids[i] = -1;
    *out = (uint32_t) i;
    return NINO_OK;
}

nino_status nino_bpe_set_id(nino_bpe_loader *l, const char *p, size_t len, int64_t id)
{
    uint32_t i;
    if (id < 0 || id >= MAX_ID)
        return nino_bpe_bad(l, "a token's id is not in 0...16777215");
    const nino_status st = nino_bpe_add_symbol(l, p, len, &i);
    if (st)
        return st;
    l->b->ids[i] = (int32_t) id;
    if (id >= l->b->size)
        l->b->size = (int32_t) id + 1;
    return NINO_OK;
}

// GPT-2's map of bytes to printable characters: those that are printable stay, the others follow
// from U+0100 on. `order` numbers them as vocabularies do.
static void byte_map(uint32_t cps[256], unsigned char order[256])
{
    int n = 0, extra = 0;
    for (int c = 0; c < 256; c++) {
        const bool is_plain = (c >= 33 && c <= 126) || (c >= 161 && c != 173);
        cps[c] = is_plain ? (uint32_t) c : 256u + (uint32_t) extra++;
        if (is_plain)
            order[n++] = (unsigned char) c;
    }
    for (int c = 0; c < 256; c++)
        if (cps[c] >= 256)
            order[n++] = (unsigned char) c;
}

// The symbols of single bytes; first_id >= 0: with ids from there on.
nino_status nino_bpe_add_bytes(nino_bpe_loader *l, int64_t first_id)
{
    uint32_t cps[256];
    unsigned char order[256];
    nino_status st = NINO_OK;
    byte_map(cps, order);
    const bool has_ends = l->b->pattern == NINO_BPE_CLIP;
    for (int end = 0; end < 1 + has_ends; end++)
        for (int k = 0; k < 256 && !st; k++) {
            char text[16];
            size_t n = (size_t) nino_utf8_put(text, cps[order[k]]);
            if (end) {
                memcpy(text + n, word_end, sizeof(word_end));
                n += sizeof(word_end) - 1;
            }
            if (first_id >= 0)
                st = nino_bpe_set_id(l, text, n, first_id++);
            if (!st)
                st = nino_bpe_add_symbol(l, text, n, &l->b->byte[end][order[k]]);
        }
    return st;
}

// ---- merges ----------------------------------------------------------------------------------

static uint64_t pair_key(uint32_t left, uint32_t right)
{
    return ((uint64_t) left << 32 | right) + 1;
}

static uint32_t pair_slot(const nino_bpe *b, uint64_t key)
{
    const uint64_t h = key * 0x9e3779b97f4a7c15u;
    uint32_t k = (uint32_t) (h >> 32) & (b->n_pairs - 1);
    while (b->pairs[k].key && b->pairs[k].key != key)
        k = (k + 1) & (b->n_pairs - 1);
    return k;
}

uint32_t nino_bpe_rank(const nino_bpe *b, uint32_t left, uint32_t right)
{
    const nino_bpe_pair *p = &b->pairs[pair_slot(b, pair_key(left, right))];
    return p->key ? p->rank : UINT32_MAX;
}

nino_status nino_bpe_reserve_merges(nino_bpe_loader *l, size_t n)
{
    nino_bpe *b = l->b;
    if (n > MAX_MERGES)
        return nino_fail_kind(l->err, NINO_ERR_FORMAT, "limit", l->name, "%zu merges are too many",
                              n);
    b->n_pairs = 64;
    while (b->n_pairs < 2 * n)
        b->n_pairs *= 2;
    b->pairs = calloc(b->n_pairs, sizeof(*b->pairs));
    b->merged = malloc((n ? n : 1) * sizeof(*b->merged));
    return b->pairs && b->merged ? NINO_OK : nino_bpe_no_memory(l);
}

void nino_bpe_add_pair(nino_bpe *b, uint32_t left, uint32_t right, uint32_t made)
{
    const uint64_t key = pair_key(left, right);
    b->pairs[pair_slot(b, key)] = (nino_bpe_pair){ key, b->n_merges };
    b->merged[b->n_merges++] = made;
}

// The merge of the next rank; a repeated pair takes the later rank. is_token: what it makes is the
// next entry of the vocabulary.
nino_status nino_bpe_add_merge(nino_bpe_loader *l, const char *left, size_t n_left,
                               const char *right, size_t n_right, bool is_token)
{
    nino_bpe *b = l->b;
    char both[2 * MAX_SYMBOL];
    uint32_t i, k, m;
    nino_status st = nino_bpe_add_symbol(l, left, n_left, &i);
    if (!st)
        st = nino_bpe_add_symbol(l, right, n_right, &k);
    if (st)
        return st;
    memcpy(both, left, n_left);
    memcpy(both + n_left, right, n_right);
    st = is_token ? nino_bpe_set_id(l, both, n_left + n_right, b->size) : NINO_OK;
    if (!st)
        st = nino_bpe_add_symbol(l, both, n_left + n_right, &m);
    if (st)
        return st;
    nino_bpe_add_pair(b, i, k, m);
    return NINO_OK;
}

// "left right", at least one space between.
nino_status nino_bpe_add_merge_text(nino_bpe_loader *l, const char *s, size_t len, bool is_token)
{
    const char *gap = memchr(s, ' ', len);
    const size_t n = gap ? (size_t) (gap - s) : 0;
    size_t from = n;
    while (from < len && s[from] == ' ')
        from++;
    if (!n || from == len || memchr(s + from, ' ', len - from))
        return nino_fail_kind(l->err, NINO_ERR_FORMAT, "schema", l->name,
                              "merge %u is not two symbols", (unsigned) l->b->n_merges + 1);
    return nino_bpe_add_merge(l, s, n, s + from, len - from, is_token);
}

static size_t lines_in(const void *p, size_t n)
{
    const unsigned char *s = p, *end = s + n;
    size_t lines = 0;
    while (s < end && (s = memchr(s, '\n', (size_t) (end - s)))) {
        lines++;
        s++;
    }
    return lines;
}

// The first line names the version, then one merge a line; at most max of them.
static nino_status read_merges(nino_bpe_loader *l, const char *s, size_t len, size_t max,
                               bool is_token)
{
    const size_t lines = lines_in(s, len) + 1;
    nino_status st = nino_bpe_reserve_merges(l, lines < max ? lines : max);
    for (size_t i = 0, line = 0; i < len && !st && l->b->n_merges < max; line++) {
        const char *nl = memchr(s + i, '\n', len - i);
        const size_t next = nl ? (size_t) (nl - s) : len;
        size_t end = next;
        while (end > i && (s[end - 1] == '\r' || s[end - 1] == ' '))
            end--;
        if (end > i && line)
            st = nino_bpe_add_merge_text(l, s + i, end - i, is_token);
        i = next + 1;
    }
    return st;
}

static nino_status merges_from_json(nino_bpe_loader *l, const nino_json *merges)
{
    if (!merges || merges->type != NINO_JSON_ARRAY)
        return nino_bpe_bad(l, "model.merges is not a list");
    nino_status st = nino_bpe_reserve_merges(l, merges->count);
    for (const nino_json *m = merges->child; m && !st; m = m->next) {
        const nino_json *a = nino_json_at(m, 0), *b = nino_json_at(m, 1);
        if (m->type == NINO_JSON_STRING)
            st = nino_bpe_add_merge_text(l, m->text, m->len, false);
        else if (a && b && m->count == 2 && a->type == NINO_JSON_STRING && a->len &&
                 b->type == NINO_JSON_STRING && b->len)
            st = nino_bpe_add_merge(l, a->text, a->len, b->text, b->len, false);
        else
            st = nino_bpe_bad(l, "an entry of model.merges is not two symbols");
    }
    return st;
}

// ---- special tokens --------------------------------------------------------------------------

nino_status nino_bpe_add_special(nino_bpe_loader *l, const char *p, size_t len, int64_t id)
{
    nino_bpe *b = l->b;
    bool is_new;
    if (!len || len > MAX_SYMBOL || id < 0 || id >= MAX_ID)
        return nino_bpe_bad(l, "a special token has no text of at most 4096 bytes, or no id");
    const int64_t i = nino_strings_add(&b->specials, p, len, &is_new);
    if (i < 0)
        return nino_bpe_no_memory(l);
    if (!is_new)
        return NINO_OK;
    int32_t *ids = realloc(b->special_ids, (size_t) b->specials.n * sizeof(*ids));
    if (!ids)
        return nino_bpe_no_memory(l);
    b->special_ids = ids;
    ids[i] = (int32_t) id;
    b->begins_special[(unsigned char) *p] = true;
    if (id >= b->size)
        b->size = (int32_t) id + 1;
    return NINO_OK;
}

// Qwen's special tokens in the order of their ids. Files of older models lack the last ones.
static const char *const qwen_specials[] = {
    NINO_BPE_END,
    "<|im_start|>",
    "<|im_end|>",
    "<|object_ref_start|>",
    "<|object_ref_end|>",
    "<|box_start|>",
    "<|box_end|>",
    "<|quad_start|>",
    "<|quad_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
    "<tool_call>",
    "</tool_call>",
    "<|fim_prefix|>",
    "<|fim_middle|>",
    "<|fim_suffix|>",
    "<|fim_pad|>",
    "<|repo_name|>",
    "<|file_sep|>",
    "<tool_response>",
    "</tool_response>",
    "<think>",
    "</think>",
};

static nino_status add_qwen_specials(nino_bpe_loader *l)
{
    const int32_t known = nino_bpe_special(l->b, NINO_BPE_END);
    const int32_t first = known >= 0 ? known : l->b->size;
    nino_status st = NINO_OK;
    for (size_t i = 0; i < sizeof(qwen_specials) / sizeof(qwen_specials[0]) && !st; i++)
        st = nino_bpe_add_special(l, qwen_specials[i], strlen(qwen_specials[i]),
                                  first + (int64_t) i);
    return st;
}

static nino_status specials_from_json(nino_bpe_loader *l, const nino_json *added)
{
    nino_status st = NINO_OK;
    for (const nino_json *a = added ? added->child : NULL; a && !st; a = a->next) {
        const nino_json *text = nino_json_get(a, "content");
        int64_t id;
        st = text && text->type == NINO_JSON_STRING && nino_json_i64(nino_json_get(a, "id"), &id)
                 ? nino_bpe_add_special(l, text->text, text->len, id)
                 : nino_bpe_bad(l, "an entry of added_tokens has no content or no id");
    }
    return st;
}

// ---- whole files -----------------------------------------------------------------------------

static nino_status vocab_from_json(nino_bpe_loader *l, const nino_json *vocab)
{
    nino_status st = NINO_OK;
    if (!vocab || vocab->type != NINO_JSON_OBJECT)
        return nino_bpe_bad(l, "the vocabulary is not an object of \"token\": id");
    if (!nino_strings_reserve(&l->b->symbols, vocab->count + 1024, (size_t) vocab->count * 8))
        return nino_bpe_no_memory(l);
    for (const nino_json *v = vocab->child; v && !st; v = v->next) {
        int64_t id;
        st = nino_json_i64(v, &id)
                 ? nino_bpe_set_id(l, v->key, v->key_len, id)
                 : nino_bpe_bad(l, "an id of the vocabulary is not a whole number");
    }
    return st ? st : nino_bpe_add_bytes(l, -1);
}

nino_status nino_bpe_begin(nino_bpe_loader *l, nino_bpe_pattern pattern, const char *name,
                           nino_error *err)
{
    *l = (nino_bpe_loader){ .b = calloc(1, sizeof(*l->b)), .name = name, .err = err };
    if (!l->b)
        return nino_bpe_no_memory(l);
    l->b->pattern = pattern;
    return NINO_OK;
}

static nino_status find_ends(nino_bpe_loader *l)
{
    nino_bpe *b = l->b;
    if (b->pattern == NINO_BPE_CLIP) {
        const int64_t s = nino_strings_find(&b->symbols, NINO_BPE_START, strlen(NINO_BPE_START)),
                      e = nino_strings_find(&b->symbols, NINO_BPE_END, strlen(NINO_BPE_END));
        if (s < 0 || e < 0 || (b->start = b->ids[s]) < 0 || (b->end = b->ids[e]) < 0)
            return nino_bpe_bad(l, "the vocabulary has no " NINO_BPE_START " and " NINO_BPE_END);
        return NINO_OK;
    }
    b->start = b->end = -1;
    for (int c = 0; c < 256; c++)
        if (b->ids[b->byte[0][c]] < 0)
            return nino_bpe_bad(l, "the vocabulary has no tokens for single bytes");
    return NINO_OK;
}

nino_status nino_bpe_finish(nino_bpe_loader *l, nino_status st, nino_bpe **out)
{
    nino_bpe *b = l->b;
    if (!st && b->pattern == NINO_BPE_QWEN)
        st = add_qwen_specials(l);
    if (!st)
        st = find_ends(l);
    if (st)
        nino_bpe_destroy(&l->b);
    else
        *out = b;
    return st;
}

nino_status nino_bpe_from_vocab(nino_bpe_pattern pattern, const char *vocab, size_t vocab_len,
                                const char *merges, size_t merges_len, const char *name,
                                nino_bpe **out, nino_error *err)
{
    nino_bpe_loader l;
    nino_json_doc *doc = NULL;
    nino_status st = nino_bpe_begin(&l, pattern, name, err);
    if (st)
        return st;
    if (!(st = nino_json_parse(vocab, vocab_len, name, NULL, &doc, err)))
        st = vocab_from_json(&l, doc->root);
    if (!st)
        st = read_merges(&l, merges, merges_len, MAX_MERGES, false);
    nino_json_doc_destroy(&doc);
    return nino_bpe_finish(&l, st, out);
}

nino_status nino_bpe_from_json(nino_bpe_pattern pattern, const char *json, size_t len,
                               const char *name, nino_bpe **out, nino_error *err)
{
    nino_bpe_loader l;
    nino_json_doc *doc = NULL;
    nino_status st = nino_bpe_begin(&l, pattern, name, err);
    if (st)
        return st;
    if (!(st = nino_json_parse(json, len, name, NULL, &doc, err))) {
        const nino_json *model = nino_json_get(doc->root, "model");
        st = vocab_from_json(&l, nino_json_get(model, "vocab"));
        if (!st)
            st = merges_from_json(&l, nino_json_get(model, "merges"));
        if (!st && pattern != NINO_BPE_CLIP)
            st = specials_from_json(&l, nino_json_get(doc->root, "added_tokens"));
    }
    nino_json_doc_destroy(&doc);
    return nino_bpe_finish(&l, st, out);
}

// Only as far as merges are read: five sixths of the file are not used.
static nino_status bpe_load_unpack(const nino_bpe_loader *l, const char *p, size_t n, nino_buf *out)
{
    z_stream z = { .next_in = (Bytef *) p, .avail_in = (uInt) n };
    unsigned char part[16384];
    size_t lines = 0;
    int r = Z_OK;
    if (n > MAX_SIMPLE || inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
        return nino_bpe_no_memory(l);
    while (r == Z_OK && lines <= SIMPLE_MERGES && out->len <= MAX_SIMPLE && !out->failed) {
        z.next_out = part;
        z.avail_out = sizeof(part);
        r = inflate(&z, Z_NO_FLUSH);
        nino_buf_add(out, part, sizeof(part) - z.avail_out);
        lines += lines_in(part, sizeof(part) - z.avail_out);
    }
    inflateEnd(&z);
    if (out->failed || r == Z_MEM_ERROR)
        return nino_bpe_no_memory(l);
    if (out->len > MAX_SIMPLE)
        return nino_fail_kind(l->err, NINO_ERR_FORMAT, "bomb", l->name,
                              "it unpacks to more than 64 MiB");
    return r == Z_STREAM_END || lines > SIMPLE_MERGES
               ? NINO_OK
               : nino_fail_kind(l->err, NINO_ERR_FORMAT, "truncated", l->name,
                                "the gzip data is cut off or damaged");
}

nino_status nino_bpe_from_simple(const char *text, size_t len, const char *name, nino_bpe **out,
                                 nino_error *err)
{
    nino_bpe_loader l;
    nino_buf plain = { 0 };
    nino_status st = nino_bpe_begin(&l, NINO_BPE_CLIP, name, err);
    if (st)
        return st;
    if (len >= 2 && !memcmp(text, "\x1f\x8b", 2)) {
        st = bpe_load_unpack(&l, text, len, &plain);
        text = plain.data ? plain.data : "";
        len = plain.len;
    }
    if (!st)
        st = nino_bpe_add_bytes(&l, 0);
    if (!st)
        st = read_merges(&l, text, len, SIMPLE_MERGES, true);
    if (!st)
        st = nino_bpe_set_id(&l, NINO_BPE_START, strlen(NINO_BPE_START), l.b->size);
    if (!st)
        st = nino_bpe_set_id(&l, NINO_BPE_END, strlen(NINO_BPE_END), l.b->size);
    nino_buf_release(&plain);
    return nino_bpe_finish(&l, st, out);
}

void nino_bpe_destroy(nino_bpe **pb)
{
    nino_bpe *b = pb ? *pb : NULL;
    if (!b)
        return;
    nino_strings_release(&b->symbols);
    nino_strings_release(&b->specials);
    free(b->special_ids);
    free(b->ids);
    free(b->pairs);
    free(b->merged);
    free(b);
    *pb = NULL;
}
