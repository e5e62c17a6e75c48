// SentencePiece unigram models: normalising text, the best sequence of pieces. Source:
// google/sentencepiece normalizer.cc and unigram_model.cc (EncodeOptimized), float sums included.
#include "core/text/unigram.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/text/unicode.h"
#include "core/text/unigram_priv.h"

#define MAX_TEXT ((size_t) 1 << 20)
#define MAX_NORMAL ((size_t) 4 << 20)
#define UNKNOWN_PENALTY 10.0

struct nino_path { // the best way to end a piece at a position
    double score;
    int32_t id;           // -1: none ends here
    uint32_t start, next; // of that piece; where the one that begins here ends
};

// ---- the model -------------------------------------------------------------------------------

nino_unigram *nino_unigram_create(void)
{
    nino_unigram *u = calloc(1, sizeof(*u));
    if (u) {
        u->unk = -1;
        u->min_score = FLT_MAX;
        u->max_score = FLT_MIN; // as in SentencePiece: scores are below 0
    }
    return u;
}

void nino_unigram_destroy(nino_unigram **pu)
{
    nino_unigram *u = pu ? *pu : NULL;
    if (!u)
        return;
    nino_strings_release(&u->pieces);
    nino_strings_release(&u->users);
    nino_charsmap_release(&u->charsmap);
    nino_steps_destroy(&u->steps);
    free(u->scored);
    free(u);
    *pu = NULL;
}

bool nino_unigram_add(nino_unigram *u, uint64_t hash, const char *p, size_t len, double score,
                      int32_t id, nino_piece_type type, bool *is_new)
{
    const int64_t k = nino_strings_add_hashed(&u->pieces, hash, p, len, is_new);
    if (k < 0)
        return false;
    if (u->pieces.cap > u->n_scored) {
        nino_scored *more = realloc(u->scored, u->pieces.cap * sizeof(*more));
        if (!more)
            return false;
        u->scored = more;
        u->n_scored = u->pieces.cap;
    }
    u->scored[k] = (nino_scored){ score, id, type == NINO_PIECE_UNUSED, type == NINO_PIECE_USER };
    const unsigned char first = (unsigned char) p[0];
    if (len > u->longest[first])
        u->longest[first] = (uint16_t) len;
    if (type == NINO_PIECE_USER) {
        bool ignored;
        u->user_begins[first] = true;
        return nino_strings_add(&u->users, p, len, &ignored) >= 0;
    }
    return true;
}

static int hex_digit(char c)
{
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return c >= '0' && c <= '9' ? c - '0' : -1;
}

int nino_unigram_byte(const char *p, size_t len)
{
    if (len != 6 || memcmp(p, "<0x", 3) || p[5] != '>')
        return -1;
    const int high = hex_digit(p[3]), low = hex_digit(p[4]);
    return high >= 0 && low >= 0 ? high * 16 + low : -1;
}

int nino_unigram_size(const nino_unigram *u) { return u->size; }

// ---- the best pieces -------------------------------------------------------------------------

static bool reserve_path(nino_ids *w, size_t n)
{
    if (n <= w->cap_path)
        return true;
    const size_t cap = n + n / 2 + 64;
    free(w->path);
    w->path = malloc(cap * sizeof(*w->path));
    w->cap_path = w->path ? cap : 0;
    w->failed = w->failed || !w->path;
    return w->path;
}

// SentencePiece keeps sums as floats, tokenizer.json's readers as doubles; ties depend on it.
static void unigram_offer(const nino_unigram *u, struct nino_path *to, double score, uint32_t start,
                          int32_t id)
{
    if (to->id >= 0 && !(score > to->score))
        return;
    *to = (struct nino_path){ u->steps ? score : (double) (float) score, id, start, 0 };
}

static double piece_score(const nino_unigram *u, const nino_scored *p, size_t len)
{
    return p->is_user ? (double) ((float) len * (float) u->max_score) - 0.1 : p->score;
}

static size_t char_length(const char *s, size_t len)
{
    uint32_t cp;
    return (size_t) nino_text_next(s, len, &cp);
}

// All pieces that begin at s[at], a whole number of characters each.
static void offer_from(const nino_unigram *u, struct nino_path *path, const char *s, size_t len,
                       size_t at)
{
    const size_t longest = u->longest[(unsigned char) s[at]], one = char_length(s + at, len - at);
    uint64_t hash = NINO_STRINGS_HASH;
    bool has_single = false;
    for (size_t end = at, k; end < len && end - at < longest; end += k) {
        k = char_length(s + end, len - end);
        hash = nino_strings_hash(hash, s + end, k);
        const int64_t i = nino_strings_find_hashed(&u->pieces, hash, s + at, end + k - at);
        if (i < 0 || u->scored[i].is_unused)
            continue;
        const nino_scored *p = &u->scored[i];
        unigram_offer(u, &path[end + k], piece_score(u, p, end + k - at) + path[at].score,
                      (uint32_t) at, p->id);
        has_single = has_single || end == at;
    }
    if (has_single)
        return;
    const double unknown = u->min_score - UNKNOWN_PENALTY;
    const double sum =
        u->steps ? unknown + path[at].score : (double) ((float) unknown + (float) path[at].score);
    unigram_offer(u, &path[at + one], sum, (uint32_t) at, u->unk);
}

// The bytes of an unknown stretch as byte pieces; false: some has none.
static bool unigram_add_bytes(const nino_unigram *u, nino_ids *w, const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (u->bytes[(unsigned char) s[i]] < 0)
            return false;
    for (size_t i = 0; i < len; i++)
        nino_ids_add(w, u->bytes[(unsigned char) s[i]]);
    return true;
}

void nino_unigram_viterbi(const nino_unigram *u, nino_ids *w, const char *s, size_t len)
{
    if (!len || w->failed || !reserve_path(w, len + 1))
        return;
    struct nino_path *path = w->path;
    for (size_t i = 0; i <= len; i++)
        path[i] = (struct nino_path){ .id = -1 };
    for (size_t at = 0; at < len; at += char_length(s + at, len - at))
        offer_from(u, path, s, len, at);
    for (uint32_t end = (uint32_t) len; end; end = path[end].start)
        path[path[end].start].next = end;
    for (uint32_t at = 0, end; at < len; at = end) {
        const int32_t id = path[end = path[at].next].id;
        while (id == u->unk && end < len && path[path[end].next].id == u->unk)
            end = path[end].next;
        if (id != u->unk || !u->is_byte_fallback || !unigram_add_bytes(u, w, s + at, end - at))
            nino_ids_add(w, id);
    }
}

// ---- SentencePiece's normaliser --------------------------------------------------------------

// Longest user-defined piece at s, or 0.
static size_t user_at(const nino_unigram *u, const char *s, size_t len)
{
    uint64_t hash = NINO_STRINGS_HASH;
    size_t found = 0;
    if (!u->user_begins[(unsigned char) *s])
        return 0;
    for (size_t n = 1; n <= len && n <= u->users.longest; n++) {
        hash = nino_strings_hash(hash, s + n - 1, 1);
        if (nino_strings_find_hashed(&u->users, hash, s, n) >= 0)
            found = n;
    }
    return found;
}

// What the beginning of s becomes (*n_out bytes), and how much of s that is.
static size_t normal_prefix(const nino_unigram *u, const char *s, size_t len, const char **out,
                            size_t *n_out)
{
    uint32_t cp;
    size_t used = user_at(u, s, len);
    *out = s;
    *n_out = used;
    if (used)
        return used;
    const char *found = nino_charsmap_find(&u->charsmap, s, len, NINO_CHARSMAP_LONGEST, &used);
    if (found) {
        *out = found;
        *n_out = strlen(found);
        return used;
    }
    used = (size_t) nino_text_next(s, len, &cp);
    *n_out = used;
    if (cp == 0xfffd) {
        *out = "\xef\xbf\xbd";
        *n_out = 3;
    }
    return used;
}

static const char *space_of(const nino_unigram *u) { return u->no_escape ? " " : NINO_SPACE_PIECE; }

static void unigram_add_escaped(const nino_unigram *u, nino_buf *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] == ' ')
            nino_buf_adds(out, space_of(u));
        else
            nino_buf_addc(out, s[i]);
}

static void drop_trailing(nino_buf *out, const char *space)
{
    const size_t n = strlen(space);
    while (out->len >= n && !memcmp(out->data + out->len - n, space, n))
        out->len -= n;
}

static void unigram_normalise(const nino_unigram *u, nino_buf *out, const char *s, size_t len)
{
    const char *part;
    size_t n, at = 0;
    while (!u->keep_spaces && at < len) { // leading spaces
        const size_t used = normal_prefix(u, s + at, len - at, &part, &n);
        if (n != 1 || *part != ' ')
            break;
        at += used;
    }
    if (at == len)
        return;
    if (!u->no_dummy_prefix && !u->is_suffix)
        nino_buf_adds(out, space_of(u));
    bool after_space = !u->keep_spaces;
    while (at < len && out->len <= MAX_NORMAL && !out->failed) {
        at += normal_prefix(u, s + at, len - at, &part, &n);
        for (; after_space && n && *part == ' '; n--)
            part++;
        if (n) {
            unigram_add_escaped(u, out, part, n);
            after_space = part[n - 1] == ' ';
        }
        after_space = after_space && !u->keep_spaces;
    }
    if (!u->keep_spaces)
        drop_trailing(out, space_of(u));
    if (!u->no_dummy_prefix && u->is_suffix)
        nino_buf_adds(out, space_of(u));
}

nino_status nino_unigram_ids(const nino_unigram *u, const char *utf8, size_t len, int32_t **ids,
                             int *n, nino_error *err)
{
    nino_ids w = { 0 };
    nino_buf normal = { 0 };
    if (len > MAX_TEXT)
        return nino_fail(err, NINO_ERR_RANGE, "", "a text of %zu bytes is too long (at most %zu)",
                         len, MAX_TEXT);
    if (u->steps) {
        nino_steps_ids(u, &w, utf8, len);
    } else {
        unigram_normalise(u, &normal, utf8, len);
        w.failed = normal.failed;
        w.is_too_long = normal.len > MAX_NORMAL;
        if (!w.failed && !w.is_too_long && normal.len)
            nino_unigram_viterbi(u, &w, normal.data, normal.len);
    }
    nino_buf_release(&normal);
    free(w.path);
    if (!w.failed && !w.is_too_long) {
        *ids = (int32_t *) (void *) w.ids.data;
        *n = (int) (w.ids.len / sizeof(**ids));
        return NINO_OK;
    }
    nino_buf_release(&w.ids);
    return w.failed ? nino_fail(err, NINO_ERR_NOMEM, "", "out of memory")
                    : nino_fail(err, NINO_ERR_RANGE, "", "the text becomes too long");
}
