// Prompts: word groups with weights and vectors, packed into chunks. Rules: ComfyUI sd1_clip.py,
// SDTokenizer.tokenize_with_weights() and SDClipModel.process_tokens().
#include "core/text/prompt.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/num.h"
#include "core/base/utf8.h"
#include "core/text/embedding.h"
#include "core/text/prompt_parse.h"
#include "core/text/unicode.h"

#define MAX_PROMPT ((size_t) 1 << 20)
#define MAX_TOKENS ((size_t) 1 << 20)
#define WHOLE_GROUP 8 // tokens; smaller groups are not split
#define NO_VECTOR (-1)
#define WRONG_WIDTH (-2)
#define NO_PAD (-2)
static const char reference[] = "embedding:";
#define REFERENCE (sizeof(reference) - 1)

static nino_prompt_rules prompt_clip_rules(int32_t pad, const char *key, int width)
{
    return (nino_prompt_rules){
        .start = 49406, .end = 49407, .pad = pad, .max_len = 77, .key = key, .width = width
    };
}

static nino_prompt_rules prompt_t5_rules(int min_len, const char *key)
{
    return (
        nino_prompt_rules){ .start = -1, .end = 1, .min_len = min_len, .key = key, .width = 4096 };
}

nino_prompt_rules nino_prompt_rules_of(nino_prompt_style style)
{
    nino_prompt_rules r;
    switch (style) {
    case NINO_PROMPT_CLIP_L: return prompt_clip_rules(49407, "clip_l", 768);
    case NINO_PROMPT_CLIP_G: return prompt_clip_rules(0, "clip_g", 1280);
    case NINO_PROMPT_CLIP_H: return prompt_clip_rules(0, "clip_l", 1024);
    case NINO_PROMPT_T5_FLUX: return prompt_t5_rules(256, "t5xxl");
    case NINO_PROMPT_T5_SD3: return prompt_t5_rules(77, "t5xxl");
    case NINO_PROMPT_T5_BARE:
        r = prompt_t5_rules(1, "t5xxl");
        r.is_empty_bare = true;
        return r;
    case NINO_PROMPT_LLM:
        return (nino_prompt_rules){
            .start = -1, .end = -1, .pad = NO_PAD, .min_len = 1, .is_plain = true, .keeps_gap = true
        };
    case NINO_PROMPT_UMT5_WAN: break;
    }
    return prompt_t5_rules(512, NULL);
}

nino_prompt_rules nino_prompt_rules_for(nino_prompt_style style, const nino_tokenizer *t)
{
    nino_prompt_rules r = nino_prompt_rules_of(style);
    const bool pads_with_end = r.pad == r.end;
    if (nino_tokenizer_ends(t, &r.start, &r.end) && pads_with_end)
        r.pad = r.end;
    return r;
}

void nino_prompt_release(nino_prompt *p)
{
    if (!p)
        return;
    free(p->tokens);
    free(p->vectors);
    *p = (nino_prompt){ 0 };
}

// ---- word groups -----------------------------------------------------------------------------

typedef struct tokens {
    nino_token *t;
    size_t n, cap;
} tokens;

typedef struct builder {
    const nino_tokenizer *tok;
    const nino_prompt_rules *rules;
    nino_error *err;
    tokens words; // the prompt without start, end and padding
    int32_t n_groups;
    nino_prompt *out;
} builder;

static nino_status prompt_no_memory(const builder *b)
{
    return nino_fail(b->err, NINO_ERR_NOMEM, "prompt", "out of memory");
}

static nino_status prompt_add_token(builder *b, tokens *to, nino_token t)
{
    if (to->n >= MAX_TOKENS)
        return nino_fail(b->err, NINO_ERR_RANGE, "prompt", "more than %zu tokens", MAX_TOKENS);
    if (to->n == to->cap) {
        const size_t cap = to->cap ? to->cap * 2 : 256;
        nino_token *t_new = realloc(to->t, cap * sizeof(*t_new));
        if (!t_new)
            return prompt_no_memory(b);
        to->t = t_new;
        to->cap = cap;
    }
    to->t[to->n++] = t;
    return NINO_OK;
}

static nino_status prompt_add_word(builder *b, int32_t id, int32_t vector, double weight)
{
    b->out->is_weighted = b->out->is_weighted || weight != 1.0;
    return prompt_add_token(b, &b->words,
                            (nino_token){ id, vector, (float) weight, b->n_groups, false });
}

static nino_status add_plain(builder *b, const char *text, double weight)
{
    int32_t *ids = NULL;
    int n = 0;
    nino_status st = nino_tokenizer_ids(b->tok, text, &ids, &n, b->err);
    b->n_groups++;
    for (int i = 0; i < n && !st; i++)
        st = prompt_add_word(b, ids[i], NO_VECTOR, weight);
    free(ids);
    return st;
}

// ---- embeddings ------------------------------------------------------------------------------

__attribute__((format(printf, 2, 3))) static void warn(const builder *b, const char *fmt, ...)
{
    char line[512], safe[512];
    va_list ap;
    if (!b->rules->warn)
        return;
    va_start(ap, fmt);
    nino_vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    nino_utf8_printable(safe, sizeof(safe), line, strlen(line));
    b->rules->warn(b->rules->priv, safe);
}

// Opens and reads; NINO_ERR_MISSING: no such file, or one that cannot be read (a warning says so).
static nino_status load_embedding(builder *b, const char *name, nino_embedding *e)
{
    const nino_prompt_rules *r = b->rules;
    nino_weights *w = NULL;
    nino_error why = { 0 };
    nino_status st = r->embedding(r->priv, name, &w, &why);
    if (!st)
        st = nino_embedding_read(w, r->key, e, &why);
    nino_weights_unref(&w);
    if (st == NINO_ERR_NOMEM)
        return prompt_no_memory(b);
    if (st && st != NINO_ERR_MISSING)
        warn(b, "embedding:%s cannot be read: %s%s%s", name, why.where, *why.where ? ": " : "",
             why.msg);
    return st ? NINO_ERR_MISSING : NINO_OK;
}

static nino_status add_embedding(builder *b, const char *name, const nino_embedding *e,
                                 double weight)
{
    const size_t width = (size_t) b->rules->width, rows = (size_t) e->rows;
    nino_prompt *p = b->out;
    nino_status st = NINO_OK;
    const bool fits = e->width == b->rules->width;
    b->n_groups++;
    if (!fits) {
        warn(b, "embedding:%s has %d columns, the text encoder needs %d: it is left out", name,
             e->width, b->rules->width);
    } else if ((size_t) p->n_vectors + rows > MAX_TOKENS) {
        return nino_fail(b->err, NINO_ERR_RANGE, "prompt", "more than %zu tokens", MAX_TOKENS);
    } else if (rows) {
        float *more = realloc(p->vectors, ((size_t) p->n_vectors + rows) * width * sizeof(*more));
        if (!more)
            return prompt_no_memory(b);
        p->vectors = more;
        memcpy(more + (size_t) p->n_vectors * width, e->data, rows * width * sizeof(*more));
    }
    for (int i = 0; i < e->rows && !st; i++)
        st = prompt_add_word(b, -1, fits ? p->n_vectors + i : WRONG_WIDTH, weight);
    if (fits)
        p->n_vectors += e->rows;
    return st;
}

// Splits off the first word of s, and joins the others by single spaces.
static bool split_name(const char *s, nino_buf *name, nino_buf *rest)
{
    uint32_t cp;
    const size_t len = strlen(s);
    bool gap = false, in_rest = false;
    for (size_t i = 0, n; i < len; i += n) {
        n = (size_t) nino_text_next(s + i, len - i, &cp);
        if (nino_text_is_space(cp)) {
            gap = true;
            continue;
        }
        in_rest = in_rest || (gap && name->len);
        if (in_rest && gap && rest->len)
            nino_buf_addc(rest, ' ');
        gap = false;
        nino_buf_add(in_rest ? rest : name, s + i, n);
    }
    return !name->failed && !rest->failed;
}

// The name without commas around it, if it has some. What is cut counts from the left, and goes in
// front of the rest.
static bool strip_commas(nino_buf *name, nino_buf *rest)
{
    size_t from = 0, to = name->len;
    while (from < to && name->data[from] == ',')
        from++;
    while (to > from && name->data[to - 1] == ',')
        to--;
    if (to - from == name->len)
        return false;
    nino_buf tail = { 0 };
    nino_buf_addf(&tail, "%s %s", name->data + (to - from), rest->data ? rest->data : "");
    memmove(name->data, name->data + from, to - from);
    name->len = to - from;
    name->data[name->len] = 0;
    nino_buf_release(rest);
    *rest = tail;
    return true;
}

// "embedding:" is cut off already.
static nino_status add_reference(builder *b, const char *s, double weight)
{
    nino_buf name = { 0 }, rest = { 0 };
    nino_embedding e = { 0 };
    nino_status st = split_name(s, &name, &rest) ? NINO_OK : prompt_no_memory(b);
    if (!st && name.len) {
        st = load_embedding(b, name.data, &e);
        if (st == NINO_ERR_MISSING && strip_commas(&name, &rest) && name.len)
            st = load_embedding(b, name.data, &e);
    } else if (!st) {
        st = NINO_ERR_MISSING;
    }
    if (rest.failed)
        st = prompt_no_memory(b);
    if (st == NINO_ERR_MISSING) {
        warn(b, "embedding:%s does not exist: it is left out", name.data ? name.data : "");
        st = NINO_OK;
    } else if (!st) {
        st = add_embedding(b, name.data, &e, weight);
    }
    if (!st && rest.len)
        st = add_plain(b, rest.data, weight);
    nino_embedding_release(&e);
    nino_buf_release(&name);
    nino_buf_release(&rest);
    return st;
}

// ---- segments --------------------------------------------------------------------------------

// The next "embedding:" behind a space or a line end in s, or NULL.
static char *next_reference(char *s)
{
    for (char *p = s; (p = strstr(p, reference)); p++)
        if (p > s && (p[-1] == ' ' || p[-1] == '\n'))
            return p;
    return NULL;
}

// Plain text up to the first reference; from then on each reference and what follows it.
static nino_status prompt_add_segment(builder *b, char *s, double weight)
{
    nino_status st = NINO_OK;
    while (s && !st) {
        char *next = next_reference(s);
        char *end = next && !b->rules->keeps_gap ? next - 1 : next;
        const char cut = end ? *end : 0;
        if (end)
            *end = 0;
        if (*s)
            st = b->rules->embedding && b->rules->key && !strncmp(s, reference, REFERENCE)
                     ? add_reference(b, s + REFERENCE, weight)
                     : add_plain(b, s, weight);
        if (end)
            *end = cut;
        s = next;
    }
    return st;
}

static nino_status one_segment(builder *b, const char *text, size_t len, nino_segment **out,
                               size_t *n)
{
    *out = malloc(sizeof(**out));
    if (!*out)
        return prompt_no_memory(b);
    **out = (nino_segment){ text, len, 1 };
    *n = 1;
    return NINO_OK;
}

static nino_status add_segments(builder *b, const char *text, size_t len)
{
    nino_segment *segments = NULL;
    size_t n = 0;
    char *copy = malloc(len + 1), *part = malloc(len + 1);
    nino_status st = copy && part ? NINO_OK : prompt_no_memory(b);
    if (!st) {
        memcpy(copy, text, len + 1);
        nino_prompt_escape(copy, len);
        st = b->rules->is_plain ? one_segment(b, copy, len, &segments, &n)
                                : nino_prompt_segments(copy, len, &segments, &n, b->err);
    }
    for (size_t i = 0; i < n && !st; i++) {
        memcpy(part, segments[i].text, segments[i].len);
        part[nino_prompt_unescape(part, segments[i].len)] = 0;
        st = prompt_add_segment(b, part, segments[i].weight);
    }
    free(segments);
    free(copy);
    free(part);
    return st;
}

// ---- chunks ----------------------------------------------------------------------------------

typedef struct packer {
    builder *b;
    tokens all;
    size_t chunk; // tokens in the chunk being filled
    nino_status st;
} packer;

static void prompt_put(packer *p, nino_token t)
{
    if (!p->st)
        p->st = prompt_add_token(p->b, &p->all, t);
    p->chunk++;
}

static void put_id(packer *p, int32_t id)
{
    prompt_put(p, (nino_token){ id, NO_VECTOR, 1.0f, 0, false });
}

static void begin_chunk(packer *p)
{
    p->chunk = 0;
    if (p->b->rules->start >= 0)
        put_id(p, p->b->rules->start);
}

static void end_chunk(packer *p, int pads, size_t padded_to)
{
    if (p->b->rules->end >= 0)
        put_id(p, p->b->rules->end);
    for (int i = 0; i < pads && !p->st; i++)
        put_id(p, p->b->rules->pad);
    while (p->chunk < padded_to && !p->st)
        put_id(p, p->b->rules->pad);
}

static void put_group(packer *p, const nino_token *t, size_t n)
{
    const nino_prompt_rules *r = p->b->rules;
    const size_t end = r->end >= 0, max = r->max_len ? (size_t) r->max_len : SIZE_MAX;
    const bool is_whole = n < WHOLE_GROUP;
    while (n && !p->st) {
        size_t now = n;
        if (n > max - end - p->chunk)
            now = is_whole ? 0 : max - end - p->chunk;
        for (size_t i = 0; i < now; i++)
            prompt_put(p, t[i]);
        if (now < n) {
            end_chunk(p, 0, max);
            begin_chunk(p);
        }
        t += now;
        n -= now;
    }
}

// Vectors of the wrong width leave their places: ids move up, weights stay where they are, as in
// ComfyUI. Then what the mask lets through.
static void settle_chunk(const nino_prompt_rules *r, nino_token *t, size_t len)
{
    const int32_t last = r->end >= 0 ? r->end : r->pad;
    bool is_over = false;
    size_t to = 0;
    for (size_t i = 0; i < len; i++)
        if (t[i].vector != WRONG_WIDTH) {
            const nino_token k = t[i];
            t[to].id = k.id;
            t[to].vector = k.vector;
            t[to].word = k.word;
            t[to].attend = k.id < 0 || !is_over;
            if (k.id == last && !is_over) {
                is_over = true;
                t[to].attend = r->end >= 0;
            }
            to++;
        }
    for (; to < len; to++) {
        t[to].id = r->pad;
        t[to].vector = NO_VECTOR;
        t[to].word = 0;
        t[to].attend = false;
    }
}

static nino_status prompt_pack(builder *b)
{
    const nino_prompt_rules *r = b->rules;
    packer p = { .b = b };
    size_t from = 0;
    begin_chunk(&p);
    while (from < b->words.n && !p.st) {
        size_t to = from;
        while (to < b->words.n && b->words.t[to].word == b->words.t[from].word)
            to++;
        put_group(&p, b->words.t + from, to - from);
        from = to;
    }
    end_chunk(&p, r->min_pad, (size_t) (r->max_len > r->min_len ? r->max_len : r->min_len));
    if (p.st) {
        free(p.all.t);
        return p.st;
    }
    b->out->tokens = p.all.t;
    b->out->chunk_len = r->max_len ? r->max_len : (int) p.all.n;
    b->out->n_chunks = (int) p.all.n / b->out->chunk_len;
    for (int c = 0; c < b->out->n_chunks; c++)
        settle_chunk(r, p.all.t + (size_t) c * (size_t) b->out->chunk_len,
                     (size_t) b->out->chunk_len);
    return NINO_OK;
}

static nino_status check_rules(const nino_prompt_rules *r, nino_error *err)
{
    if (r->width < 0 || r->min_pad < 0 || r->min_len < 0 || r->max_len < 0 ||
        (r->max_len && r->min_pad) ||
        (r->max_len && (r->max_len < WHOLE_GROUP + 2 || r->min_len > r->max_len)) ||
        (!r->max_len && !r->min_len && r->start < 0 && r->end < 0))
        return nino_fail(err, NINO_ERR_ARG, "prompt", "the rules of the encoder do not fit");
    return NINO_OK;
}

nino_status nino_prompt_build(const nino_tokenizer *t, const nino_prompt_rules *rules,
                              const char *text, nino_prompt *out, nino_error *err)
{
    const size_t len = strlen(text);
    builder b = { .tok = t, .rules = rules, .err = err, .out = out };
    *out = (nino_prompt){ .width = rules->width };
    nino_status st = check_rules(rules, err);
    if (!st && len > MAX_PROMPT)
        st = nino_fail(err, NINO_ERR_RANGE, "prompt", "%zu bytes are too long (at most %zu)", len,
                       MAX_PROMPT);
    if (!st)
        st = add_segments(&b, text, len);
    if (!st)
        st = prompt_pack(&b);
    free(b.words.t);
    if (st)
        nino_prompt_release(out);
    return st;
}

nino_status nino_prompt_empty(const nino_prompt_rules *rules, int len, nino_prompt *out,
                              nino_error *err)
{
    nino_prompt_rules own = *rules;
    if (own.is_empty_bare)
        own.start = own.end = -1;
    builder b = { .rules = &own, .err = err, .out = out };
    packer p = { .b = &b };
    *out = (nino_prompt){ .width = rules->width };
    if (len < 1 || len < (own.start >= 0) + (own.end >= 0))
        return nino_fail(err, NINO_ERR_ARG, "prompt", "%d tokens are too few", len);
    begin_chunk(&p);
    end_chunk(&p, 0, (size_t) len);
    if (p.st) {
        free(p.all.t);
        return p.st;
    }
    settle_chunk(&own, p.all.t, p.all.n);
    *out =
        (nino_prompt){ .tokens = p.all.t, .n_chunks = 1, .chunk_len = len, .width = rules->width };
    return NINO_OK;
}

// ---- reading it ------------------------------------------------------------------------------

int nino_prompt_attended(const nino_prompt *p, int chunk)
{
    int n = 0;
    for (int i = 0; i < p->chunk_len; i++)
        n += p->tokens[chunk * p->chunk_len + i].attend;
    return n;
}

void nino_prompt_chunk_ids(const nino_prompt *p, int chunk, int32_t *ids)
{
    for (int i = 0; i < p->chunk_len; i++)
        ids[i] = p->tokens[chunk * p->chunk_len + i].id;
}
