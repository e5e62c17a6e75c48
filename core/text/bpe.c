// Byte-level BPE: splitting text into words and merging their symbols. Source: openai/CLIP
// simple_tokenizer.py; the order of merges is that of Hugging Face's CLIPTokenizer.
#include "core/text/bpe.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/text/bpe_priv.h"
#include "core/text/unicode.h"

#define NONE UINT32_MAX

typedef struct node { // a symbol of the word being merged
    uint32_t symbol, prev, next;
} node;

typedef struct work {
    const nino_bpe *b;
    nino_buf ids; // int32_t
    node *nodes;
    uint64_t *heap, *fresh; // rank << 32 | position
    size_t n_heap, n_fresh, cap_word;
    bool failed;
} work;

static void bpe_add_id(work *w, int32_t id) { nino_buf_add(&w->ids, &id, sizeof(id)); }

// ---- merging a word --------------------------------------------------------------------------

static bool reserve_word(work *w, size_t n)
{
    if (w->nodes && n <= w->cap_word)
        return true;
    const size_t cap = n + n / 2 + 32;
    free(w->nodes);
    free(w->heap);
    free(w->fresh);
    w->nodes = calloc(cap, sizeof(*w->nodes));
    w->heap = malloc(3 * cap * sizeof(*w->heap)); // n pairs, and two more a merge
    w->fresh = malloc(2 * cap * sizeof(*w->fresh));
    w->cap_word = w->nodes && w->heap && w->fresh ? cap : 0;
    w->failed = w->failed || !w->cap_word;
    return w->cap_word;
}

static void bpe_heap_push(work *w, uint64_t v)
{
    size_t i = w->n_heap++;
    for (; i && w->heap[(i - 1) / 2] > v; i = (i - 1) / 2)
        w->heap[i] = w->heap[(i - 1) / 2];
    w->heap[i] = v;
}

static uint64_t bpe_heap_pop(work *w)
{
    const uint64_t least = w->heap[0], v = w->heap[--w->n_heap];
    size_t i = 0;
    for (size_t k; (k = 2 * i + 1) < w->n_heap; i = k) {
        if (k + 1 < w->n_heap && w->heap[k + 1] < w->heap[k])
            k++;
        if (w->heap[k] >= v)
            break;
        w->heap[i] = w->heap[k];
    }
    w->heap[i] = v;
    return least;
}

static uint32_t rank_at(const work *w, uint32_t at)
{
    const uint32_t next = w->nodes[at].next;
    return next == NONE ? NONE : nino_bpe_rank(w->b, w->nodes[at].symbol, w->nodes[next].symbol);
}

static void found_pair(work *w, uint32_t at)
{
    const uint32_t rank = at == NONE ? NONE : rank_at(w, at);
    if (rank != NONE)
        w->fresh[w->n_fresh++] = (uint64_t) rank << 32 | at;
}

// Merges node `at` with the next one. A merged-away node keeps symbol NONE.
static void bpe_merge(work *w, uint32_t at, uint32_t rank)
{
    node *left = &w->nodes[at], *right = &w->nodes[left->next];
    left->symbol = w->b->merged[rank];
    left->next = right->next;
    right->symbol = NONE;
    if (left->next != NONE)
        w->nodes[left->next].prev = at;
    found_pair(w, left->prev);
    found_pair(w, at);
}

// Every occurrence of the pair of the least rank, from left to right, then again with the pairs
// that gave.
static void merge_all(work *w)
{
    for (;;) {
        while (w->n_fresh)
            bpe_heap_push(w, w->fresh[--w->n_fresh]);
        if (!w->n_heap)
            return;
        const uint32_t rank = (uint32_t) (w->heap[0] >> 32);
        while (w->n_heap && w->heap[0] >> 32 == rank) {
            const uint32_t at = (uint32_t) bpe_heap_pop(w);
            if (w->nodes[at].symbol != NONE && rank_at(w, at) == rank)
                bpe_merge(w, at, rank);
        }
    }
}

static void bpe_add_word(work *w, const char *s, size_t len)
{
    const nino_bpe *b = w->b;
    if (!len || !reserve_word(w, len))
        return;
    const bool is_clip = b->pattern == NINO_BPE_CLIP;
    w->n_heap = w->n_fresh = 0;
    for (size_t i = 0; i < len; i++)
        w->nodes[i] = (node){ b->byte[is_clip && i + 1 == len][(unsigned char) s[i]],
                              i ? (uint32_t) i - 1 : NONE, i + 1 < len ? (uint32_t) i + 1 : NONE };
    for (size_t i = 0; i + 1 < len; i++)
        found_pair(w, (uint32_t) i);
    merge_all(w);
    for (uint32_t i = 0; i != NONE; i = w->nodes[i].next) {
        const int32_t id = b->ids[w->nodes[i].symbol];
        bpe_add_id(w, id >= 0 ? id : b->end);
    }
}

// ---- splitting into words --------------------------------------------------------------------

static size_t starts_with(const char *s, size_t len, const char *word)
{
    const size_t n = strlen(word);
    return n <= len && !memcmp(s, word, n) ? n : 0;
}

// Length of "<|startoftext|>" or "<|endoftext|>" at s, or 0.
static size_t bpe_special_at(const nino_bpe *b, const char *s, size_t len, int32_t *id)
{
    size_t n = 0;
    if (*s != '<')
        return 0;
    *id = b->end;
    if ((n = starts_with(s, len, NINO_BPE_START)))
        *id = b->start;
    return n ? n : starts_with(s, len, NINO_BPE_END);
}

// 's 't 're 've 'm 'll 'd; the long s is an s.
static size_t contraction_at(const char *s, size_t len)
{
    static const char *const all[] = { "'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'\xc5\xbf" };
    size_t n = 0;
    for (size_t i = 0; *s == '\'' && !n && i < sizeof(all) / sizeof(all[0]); i++)
        n = starts_with(s, len, all[i]);
    return n;
}

typedef enum char_class { SPACE, LETTER, NUMBER, OTHER } char_class;

static char_class bpe_class_of(uint32_t cp)
{
    if (nino_text_is_letter(cp))
        return LETTER;
    if (nino_text_is_number(cp))
        return NUMBER;
    return nino_text_is_space(cp) ? SPACE : OTHER;
}

// Splits cleaned text as the pattern of simple_tokenizer.py does.
static void bpe_add_text(work *w, const char *s, size_t len)
{
    uint32_t cp;
    int32_t id = 0;
    for (size_t i = 0, n; i < len; i += n) {
        if ((n = bpe_special_at(w->b, s + i, len - i, &id))) {
            bpe_add_id(w, id);
            continue;
        }
        if ((n = contraction_at(s + i, len - i))) {
            bpe_add_word(w, s + i, n);
            continue;
        }
        n = (size_t) nino_text_next(s + i, len - i, &cp);
        const char_class c = bpe_class_of(cp);
        if (c == SPACE)
            continue;
        for (size_t k; c != NUMBER && i + n < len; n += k) {
            k = (size_t) nino_text_next(s + i + n, len - i - n, &cp);
            if (bpe_class_of(cp) != c)
                break;
        }
        bpe_add_word(w, s + i, n);
    }
}

static void bpe_add_part(work *w, nino_bpe_clean clean, const char *s, size_t len)
{
    nino_buf text = { 0 };
    if (clean == NINO_BPE_CLEAN_HF)
        nino_text_clean_bert(&text, s, len);
    else
        nino_text_clean_plain(&text, s, len);
    w->failed = w->failed || text.failed;
    if (!w->failed && text.len)
        bpe_add_text(w, text.data, text.len);
    nino_buf_release(&text);
}

// Special tokens written out are found before anything is cleaned.
static void bpe_add_clip(work *w, nino_bpe_clean clean, const char *s, size_t len)
{
    size_t from = 0;
    int32_t id = 0;
    for (size_t i = 0, k; clean == NINO_BPE_CLEAN_HF && i < len; i += k) {
        k = bpe_special_at(w->b, s + i, len - i, &id);
        if (k) {
            bpe_add_part(w, clean, s + from, i - from);
            bpe_add_id(w, id);
            from = i + k;
        } else {
            k = 1;
        }
    }
    bpe_add_part(w, clean, s + from, len - from);
}

// ---- language models -------------------------------------------------------------------------

// Length of the longest special token at s, or 0.
static size_t longest_special(const nino_bpe *b, const char *s, size_t len, int32_t *id)
{
    uint64_t hash = NINO_STRINGS_HASH;
    size_t found = 0;
    if (!b->begins_special[(unsigned char) *s])
        return 0;
    for (size_t n = 1; n <= len && n <= b->specials.longest; n++) {
        hash = nino_strings_hash(hash, s + n - 1, 1);
        const int64_t i = nino_strings_find_hashed(&b->specials, hash, s, n);
        if (i >= 0) {
            found = n;
            *id = b->special_ids[i];
        }
    }
    return found;
}

// A text between special tokens.
static void add_words(work *w, const char *s, size_t len)
{
    nino_buf sound = { 0 }, composed = { 0 };
    uint32_t cp;
    for (size_t i = 0; i < len;) {
        i += (size_t) nino_text_next(s + i, len - i, &cp);
        nino_text_put(&sound, cp);
    }
    if (w->b->pattern == NINO_BPE_QWEN && sound.len)
        nino_text_nfc(&composed, sound.data, sound.len);
    const nino_buf *text = w->b->pattern == NINO_BPE_QWEN ? &composed : &sound;
    w->failed = w->failed || sound.failed || composed.failed;
    for (size_t i = 0, n; i < text->len && !w->failed; i += n) {
        n = nino_bpe_word(w->b->pattern, text->data + i, text->len - i);
        bpe_add_word(w, text->data + i, n);
    }
    nino_buf_release(&sound);
    nino_buf_release(&composed);
}

static void add_whole(work *w, const char *s, size_t len)
{
    size_t from = 0;
    int32_t id = 0;
    for (size_t i = 0, k; i < len; i += k) {
        k = longest_special(w->b, s + i, len - i, &id);
        if (k) {
            add_words(w, s + from, i - from);
            bpe_add_id(w, id);
            from = i + k;
        } else {
            k = 1;
        }
    }
    add_words(w, s + from, len - from);
}

nino_status nino_bpe_ids(const nino_bpe *b, nino_bpe_clean clean, const char *utf8, size_t len,
                         int32_t **ids, int *n, nino_error *err)
{
    work w = { .b = b };
    if (len > NINO_BPE_MAX_TEXT)
        return nino_fail(err, NINO_ERR_RANGE, "", "a text of %zu bytes is too long (at most %d)",
                         len, NINO_BPE_MAX_TEXT);
    if (b->pattern == NINO_BPE_CLIP)
        bpe_add_clip(&w, clean, utf8, len);
    else
        add_whole(&w, utf8, len);
    free(w.nodes);
    free(w.heap);
    free(w.fresh);
    if (w.failed || w.ids.failed) {
        nino_buf_release(&w.ids);
        return nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
    }
    *ids = (int32_t *) (void *) w.ids.data;
    *n = (int) (w.ids.len / sizeof(**ids));
    return NINO_OK;
}

int32_t nino_bpe_special(const nino_bpe *b, const char *text)
{
    const int64_t i = nino_strings_find(&b->specials, text, strlen(text));
    return i < 0 ? -1 : b->special_ids[i];
}

void nino_bpe_ends(const nino_bpe *b, int32_t *start, int32_t *end)
{
    *start = b->start;
    *end = b->end;
}

int nino_bpe_size(const nino_bpe *b) { return b->size; }
