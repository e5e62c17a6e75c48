// The way of a text through the steps of a tokenizer.json: added tokens, normaliser, pre-tokeniser,
// then the unigram model word by word. Source: Hugging Face tokenizers (AddedVocabulary,
// normalizers/precompiled.rs, pre_tokenizers/metaspace.rs).
#include "core/text/unigram_steps.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "core/base/utf8.h"
#include "core/text/unicode.h"

#define MAX_NORMAL ((size_t) 4 << 20)

void nino_steps_destroy(nino_steps **ps)
{
    nino_steps *s = ps ? *ps : NULL;
    if (!s)
        return;
    nino_strings_release(&s->special_texts);
    for (int i = 0; i < s->n_steps; i++) {
        free(s->step[i].from);
        free(s->step[i].to);
    }
    free(s->specials);
    free(s->space);
    free(s);
    *ps = NULL;
}

// Rust's char::is_whitespace().
static bool is_unigram_steps_white(uint32_t cp)
{
    return nino_text_is_space(cp) && !(cp >= 0x1c && cp <= 0x1f);
}

static size_t white_left(const char *s, size_t len)
{
    uint32_t cp;
    size_t at = 0;
    for (size_t n; at < len; at += n) {
        n = (size_t) nino_text_next(s + at, len - at, &cp);
        if (!is_unigram_steps_white(cp))
            break;
    }
    return at;
}

static size_t until_white(const char *s, size_t len)
{
    uint32_t cp;
    size_t at = 0;
    for (size_t n; at < len; at += n) {
        n = (size_t) nino_text_next(s + at, len - at, &cp);
        if (is_unigram_steps_white(cp))
            break;
    }
    return at;
}

// Length of s without the white space at its end.
static size_t without_right(const char *s, size_t len)
{
    uint32_t cp;
    size_t end = 0;
    for (size_t at = 0; at < len;) {
        at += (size_t) nino_text_next(s + at, len - at, &cp);
        if (!is_unigram_steps_white(cp))
            end = at;
    }
    return end;
}

// ---- normaliser ------------------------------------------------------------------------------

// Replaces the shortest beginning of s that the map knows and drops the rest of s, as upstream
// does; false: the map knows none.
static bool replace_part(const nino_unigram *u, nino_buf *out, const char *s, size_t len)
{
    size_t used;
    const char *to = nino_charsmap_find(&u->charsmap, s, len, NINO_CHARSMAP_SHORTEST, &used);
    if (to)
        nino_buf_adds(out, to);
    return to;
}

// By grapheme clusters shorter than six bytes, else by characters.
static void map_chars(const nino_unigram *u, nino_buf *out, const char *s, size_t len)
{
    for (size_t at = 0, end; at < len && out->len <= MAX_NORMAL; at = end) {
        uint32_t cp, next;
        utf8proc_int32_t state = 0;
        end = at + (size_t) nino_text_next(s + at, len - at, &cp);
        for (size_t n; end < len; end += n, cp = next) {
            n = (size_t) nino_text_next(s + end, len - end, &next);
            if (utf8proc_grapheme_break_stateful((utf8proc_int32_t) cp, (utf8proc_int32_t) next,
                                                 &state))
                break;
        }
        if (end - at < 6 && replace_part(u, out, s + at, end - at))
            continue;
        for (size_t k = at, n; k < end; k += n) {
            n = (size_t) nino_text_next(s + k, end - k, &cp);
            if (!replace_part(u, out, s + k, n))
                nino_text_put(out, cp);
        }
    }
}

static void replace_spaces(nino_buf *out, const char *s, size_t len, const char *to)
{
    for (size_t at = 0; at < len && out->len <= MAX_NORMAL; at++) {
        const size_t n = strspn(s + at, " ");
        if (n < 2) {
            nino_buf_addc(out, s[at]);
            continue;
        }
        nino_buf_adds(out, to);
        at += n - 1;
    }
}

static void replace_text(nino_buf *out, const char *s, size_t len, const nino_step *step)
{
    const size_t n = strlen(step->from);
    for (size_t at = 0; at < len && out->len <= MAX_NORMAL;)
        if (n <= len - at && !memcmp(s + at, step->from, n)) {
            nino_buf_adds(out, step->to);
            at += n;
        } else {
            nino_buf_addc(out, s[at++]);
        }
}

static void unigram_steps_apply(const nino_unigram *u, const nino_step *step, nino_buf *out,
                                const char *s, size_t len)
{
    size_t from;
    switch (step->kind) {
    case NINO_STEP_CHARSMAP: map_chars(u, out, s, len); break;
    case NINO_STEP_STRIP:
        from = step->left ? white_left(s, len) : 0;
        nino_buf_add(out, s + from,
                     (step->right ? without_right(s + from, len - from) : len - from));
        break;
    case NINO_STEP_REPLACE: replace_text(out, s, len, step); break;
    case NINO_STEP_REPLACE_SPACES: replace_spaces(out, s, len, step->to); break;
    }
}

// The text after all steps, in `a`; `b` is scratch. One beyond MAX_NORMAL is refused by the caller.
static void unigram_steps_normalise(const nino_unigram *u, nino_buf *a, nino_buf *b)
{
    for (int i = 0; i < u->steps->n_steps && a->len && a->len <= MAX_NORMAL; i++) {
        nino_buf_clear(b);
        unigram_steps_apply(u, &u->steps->step[i], b, a->data, a->len);
        const nino_buf t = *a;
        *a = *b;
        *b = t;
        a->failed = a->failed || b->failed;
    }
}

// ---- words -----------------------------------------------------------------------------------

// A part without white space, or any where the pre-tokeniser does not split: spaces become the
// space piece, then each word with the space in front of it goes to the model.
static void unigram_steps_add_part(const nino_unigram *u, nino_ids *w, nino_buf *scratch,
                                   const char *s, size_t len, bool is_first)
{
    const nino_steps *p = u->steps;
    const size_t n_space = p->space ? strlen(p->space) : 0;
    if (!n_space) {
        nino_unigram_viterbi(u, w, s, len);
        return;
    }
    nino_buf_clear(scratch);
    const bool has_space = *s == ' ' || (n_space <= len && !memcmp(s, p->space, n_space));
    if (p->is_prefixed && !has_space && (is_first || !p->is_prefixed_once))
        nino_buf_adds(scratch, p->space);
    for (size_t i = 0; i < len; i++)
        if (s[i] == ' ')
            nino_buf_adds(scratch, p->space);
        else
            nino_buf_addc(scratch, s[i]);
    w->failed = w->failed || scratch->failed;
    w->is_too_long = w->is_too_long || scratch->len > MAX_NORMAL;
    if (w->failed || w->is_too_long)
        return;
    const char *word = scratch->data, *end = word + scratch->len;
    while (word < end) {
        const char *next = word + 1;
        while (p->splits_words && next < end &&
               !((size_t) (end - next) >= n_space && !memcmp(next, p->space, n_space)))
            next++;
        if (!p->splits_words)
            next = end;
        nino_unigram_viterbi(u, w, word, (size_t) (next - word));
        word = next;
    }
}

static void unigram_steps_add_text(const nino_unigram *u, nino_ids *w, const char *s, size_t len,
                                   bool is_first)
{
    nino_buf text = { 0 }, scratch = { 0 };
    uint32_t cp;
    for (size_t at = 0; at < len;) { // well-formed from here on
        at += (size_t) nino_text_next(s + at, len - at, &cp);
        nino_text_put(&text, cp);
    }
    unigram_steps_normalise(u, &text, &scratch);
    w->failed = w->failed || text.failed;
    w->is_too_long = w->is_too_long || text.len > MAX_NORMAL;
    if (!w->failed && !w->is_too_long && !u->steps->splits_spaces && text.len)
        unigram_steps_add_part(u, w, &scratch, text.data, text.len, is_first);
    for (size_t at = 0, end; u->steps->splits_spaces && !w->failed && at < text.len; at = end) {
        const size_t gap = white_left(text.data + at, text.len - at);
        is_first = is_first && !gap;
        at += gap;
        end = at + until_white(text.data + at, text.len - at);
        if (end > at)
            unigram_steps_add_part(u, w, &scratch, text.data + at, end - at, is_first);
        is_first = false;
    }
    nino_buf_release(&text);
    nino_buf_release(&scratch);
}

// ---- added tokens ----------------------------------------------------------------------------

// Number of the longest added token at s, its length in *n; -1: none.
static int64_t unigram_steps_special_at(const nino_steps *p, const char *s, size_t len, size_t *n)
{
    uint64_t hash = NINO_STRINGS_HASH;
    int64_t found = -1;
    if (!p->special_begins[(unsigned char) *s])
        return -1;
    for (size_t k = 1; k <= len && k <= p->special_texts.longest; k++) {
        hash = nino_strings_hash(hash, s + k - 1, 1);
        const int64_t i = nino_strings_find_hashed(&p->special_texts, hash, s, k);
        if (i >= 0) {
            found = i;
            *n = k;
        }
    }
    return found;
}

void nino_steps_ids(const nino_unigram *u, nino_ids *w, const char *s, size_t len)
{
    size_t from = 0, n = 0;
    for (size_t at = 0; at < len && !w->failed;) {
        const int64_t i = unigram_steps_special_at(u->steps, s + at, len - at, &n);
        if (i < 0) {
            at++;
            continue;
        }
        const nino_special *t = &u->steps->specials[i];
        const size_t end = t->eats_left ? without_right(s + from, at - from) : at - from;
        if (end)
            unigram_steps_add_text(u, w, s + from, end, !from);
        nino_ids_add(w, t->id);
        at += n;
        if (t->eats_right)
            at += white_left(s + at, len - at);
        from = at;
    }
    if (from < len && !w->failed)
        unigram_steps_add_text(u, w, s + from, len - from, !from);
}
