// Lossless JSON reader: one pass, no recursion (parents are links in the tree), linear time.
//
// Decoded text is never longer than its source: a string loses its quotes and gains a terminator,
// a number is followed by a separator or by the end. So one block of len + 1 bytes holds all of it.
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { MAX_NUMBER = 4096, FEW_KEYS = 8 };

typedef struct slot {
    const nino_json *v;
} slot;

typedef struct parser {
    const char *p; // next byte; *end is 0, which is valid nowhere, so p needs no other check
    const char *src, *first, *end, *line_start; // first: behind a byte order mark
    uint32_t line;
    const char *name;
    nino_arena *arena;
    nino_json_limits lim;
    char *text; // where the next decoded string goes
    size_t nodes;
    slot *table; // scratch of find_repeated()
    size_t table_cap;
    nino_error *err;
} parser;

// ---- errors -----------------------------------------------------------------------------------

__attribute__((format(printf, 4, 5))) static nino_status fail(parser *ps, const char *kind,
                                                              const char *at, const char *fmt, ...)
{
    char msg[200];
    size_t line = 1;
    const char *start = ps->first;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(msg, sizeof(msg), fmt, ap);
    va_end(ap);
    for (const char *nl; (nl = memchr(start, '\n', (size_t) (at - start))); line++)
        start = nl + 1;
    return nino_fail_kind(ps->err, NINO_ERR_FORMAT, kind, ps->name, "%s at %zu:%zu", msg, line,
                          (size_t) (at - start) + 1);
}

static nino_status json_parse_nomem(parser *ps)
{
    return nino_fail(ps->err, NINO_ERR_NOMEM, ps->name, "out of memory");
}

// What stands at p instead of what was expected.
static nino_status unexpected(parser *ps, const char *expected)
{
    const unsigned char c = (unsigned char) *ps->p;
    if (ps->p == ps->end)
        return fail(ps, "syntax", ps->p, "unexpected end, expected %s", expected);
    if (c > 0x20 && c < 0x7f)
        return fail(ps, "syntax", ps->p, "unexpected '%c', expected %s", c, expected);
    return fail(ps, "syntax", ps->p, "unexpected byte 0x%02x, expected %s", c, expected);
}

// ---- tokens -----------------------------------------------------------------------------------

static void skip_space(parser *ps)
{
    const char *p = ps->p;
    for (; *p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'; p++)
        if (*p == '\n') {
            ps->line++;
            ps->line_start = p + 1;
        }
    ps->p = p;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Four hexadecimal digits at p.
static bool hex4(const char *p, uint32_t *out)
{
    uint32_t v = 0;
    for (int i = 0; i < 4; i++) {
        const char c = p[i], low = (char) (c | 0x20);
        if (is_digit(c))
            v = v << 4 | (uint32_t) (c - '0');
        else if (low >= 'a' && low <= 'f')
            v = v << 4 | (uint32_t) (low - 'a' + 10);
        else
            return false; // also at the end: 0 is no digit
    }
    *out = v;
    return true;
}

// A backslash at p: writes what it stands for to *out and moves both.
static nino_status read_escape(parser *ps, char **out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *at = ps->p;
    const char *k = at[1] ? strchr(from, at[1]) : NULL;
    uint32_t cp, low;
    if (k) {
        *(*out)++ = to[k - from];
        ps->p += 2;
        return NINO_OK;
    }
    if (at[1] != 'u' || !hex4(at + 2, &cp))
        return fail(ps, "syntax", at, "invalid escape in a string");
    ps->p += 6;
    if (cp >= 0xd800 && cp < 0xe000) {
        if (cp >= 0xdc00 || at[6] != '\\' || at[7] != 'u' || !hex4(at + 8, &low) || low < 0xdc00 ||
            low >= 0xe000)
            return fail(ps, "syntax", at, "lone surrogate in a string");
        cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
        ps->p += 6;
    }
    *out += nino_utf8_put(*out, cp);
    return NINO_OK;
}

// True if the eight bytes are ASCII without quotes, backslashes and control characters.
static bool all_plain(uint64_t w)
{
    const uint64_t ones = 0x0101010101010101u, high = ones << 7;
    const uint64_t quote = w ^ ones * '"', slash = w ^ ones * '\\';
    // (x - ones) & ~x has a high bit exactly where x has its first zero byte
    const uint64_t bad =
        ((quote - ones) & ~quote) | ((slash - ones) & ~slash) | (w - ones * 0x20) | w;
    return !(bad & high);
}

// A string, with the opening quote at p.
static nino_status read_string(parser *ps, const char **text, size_t *len)
{
    nino_status st;
    const char *begin = ps->p++;
    char *out = ps->text;
    for (;;) {
        const unsigned char c = (unsigned char) *ps->p;
        uint64_t w;
        uint32_t cp;
        if (ps->end - ps->p >= 8 && (memcpy(&w, ps->p, 8), all_plain(w))) {
            memcpy(out, &w, 8);
            out += 8;
            ps->p += 8;
        } else if (c == '"') {
            break;
        } else if (c == '\\') {
            if ((st = read_escape(ps, &out)))
                return st;
        } else if (c >= 0x80) {
            const int n = nino_utf8_next(ps->p, (size_t) (ps->end - ps->p), &cp);
            if (!n)
                return fail(ps, "syntax", ps->p, "invalid UTF-8 in a string");
            memcpy(out, ps->p, (size_t) n);
            out += n;
            ps->p += n;
        } else if (c >= 0x20) {
            *out++ = (char) c;
            ps->p++;
        } else if (ps->p == ps->end) {
            return fail(ps, "syntax", begin, "unterminated string");
        } else {
            return fail(ps, "syntax", ps->p, "control character 0x%02x in a string", c);
        }
    }
    ps->p++;
    *text = ps->text;
    *len = (size_t) (out - ps->text);
    if (*len > ps->lim.max_string)
        return fail(ps, "limit", begin, "string of more than %zu bytes", ps->lim.max_string);
    *out = 0;
    ps->text = out + 1;
    return NINO_OK;
}

// A number, or NaN, Infinity, -Infinity as Python writes them.
static nino_status json_parse_read_number(parser *ps, nino_json *v)
{
    const char *begin = ps->p, *p = begin;
    const size_t sign = *p == '-';
    if (!strncmp(p, "NaN", 3) || !strncmp(p + sign, "Infinity", 8)) {
        if (ps->lim.strict_numbers)
            return fail(ps, "syntax", p, "NaN and Infinity are not allowed here");
        p += *p == 'N' ? 3 : sign + 8;
    } else {
        p += sign;
        if (!is_digit(*p)) {
            ps->p = p;
            return unexpected(ps, sign ? "a digit" : "a value");
        }
        if (*p == '0' && is_digit(p[1]))
            return fail(ps, "syntax", p, "number with a leading zero");
        while (is_digit(*p))
            p++;
        if (*p == '.') {
            ps->p = ++p;
            if (!is_digit(*p))
                return unexpected(ps, "a digit");
            while (is_digit(*p))
                p++;
        }
        if (*p == 'e' || *p == 'E') {
            p += p[1] == '+' || p[1] == '-' ? 2 : 1;
            ps->p = p;
            if (!is_digit(*p))
                return unexpected(ps, "a digit");
            while (is_digit(*p))
                p++;
        }
    }
    v->len = (size_t) (p - begin);
    if (v->len > MAX_NUMBER)
        return fail(ps, "limit", begin, "number of more than %d bytes", MAX_NUMBER);
    memcpy(ps->text, begin, v->len);
    v->type = NINO_JSON_NUMBER;
    v->text = ps->text;
    ps->text[v->len] = 0;
    ps->text += v->len + 1;
    ps->p = p;
    return NINO_OK;
}

static nino_status read_scalar(parser *ps, nino_json *v)
{
    static const struct {
        char word[6];
        uint8_t len;
        nino_json_type type;
        bool boolean;
    } words[] = { { "null", 4, NINO_JSON_NULL, false },
                  { "true", 4, NINO_JSON_BOOL, true },
                  { "false", 5, NINO_JSON_BOOL, false } };
    if (*ps->p == '"') {
        v->type = NINO_JSON_STRING;
        return read_string(ps, &v->text, &v->len);
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (!strncmp(ps->p, words[i].word, words[i].len)) {
            v->type = words[i].type;
            v->boolean = words[i].boolean;
            ps->p += words[i].len;
            return NINO_OK;
        }
    return json_parse_read_number(ps, v);
}

// ---- repeated keys ----------------------------------------------------------------------------

static bool same_key(const nino_json *a, const nino_json *b)
{
    return a->key_len == b->key_len && !memcmp(a->key, b->key, a->key_len);
}

static nino_status repeated(parser *ps, const nino_json *prev, const nino_json *v)
{
    const char *at = ps->src + prev->src_end; // the key follows: white space, comma, white space
    char key[64];
    at += strspn(at, " \t\r\n,");
    nino_utf8_printable(key, sizeof(key), v->key, v->key_len);
    return fail(ps, "dup", at, "repeated key \"%s\"", key);
}

// Called when an object is complete. Each key is hashed once, with a seed that a file cannot know.
static nino_status find_repeated(parser *ps, const nino_json *obj)
{
    const nino_json *prev = NULL;
    if (obj->count <= FEW_KEYS) {
        for (const nino_json *v = obj->child; v; prev = v, v = v->next)
            for (const nino_json *w = obj->child; w != v; w = w->next)
                if (same_key(v, w))
                    return repeated(ps, prev, v);
        return NINO_OK;
    }
    size_t cap = 32;
    while (cap < 2 * (size_t) obj->count)
        cap *= 2;
    if (cap > ps->table_cap) {
        free(ps->table);
        ps->table_cap = 0;
        ps->table = malloc(cap * sizeof(*ps->table));
        if (!ps->table)
            return json_parse_nomem(ps);
        ps->table_cap = cap;
    }
    memset(ps->table, 0, cap * sizeof(*ps->table));
    for (const nino_json *v = obj->child; v; prev = v, v = v->next) {
        size_t i = XXH3_64bits_withSeed(v->key, v->key_len, (uintptr_t) ps->arena) & (cap - 1);
        for (; ps->table[i].v; i = (i + 1) & (cap - 1))
            if (same_key(v, ps->table[i].v))
                return repeated(ps, prev, v);
        ps->table[i].v = v;
    }
    return NINO_OK;
}

// ---- the tree ---------------------------------------------------------------------------------

// The value at p with its key, hung up at *tail. Containers are only opened.
static nino_status json_parse_read_value(parser *ps, nino_json *parent, nino_json **tail)
{
    nino_json *v;
    skip_space(ps);
    if (++ps->nodes > ps->lim.max_nodes)
        return fail(ps, "limit", ps->p, "more than %zu values", ps->lim.max_nodes);
    if (!(v = nino_arena_alloc(ps->arena, sizeof(*v))))
        return json_parse_nomem(ps);
    if (parent && parent->type == NINO_JSON_OBJECT) {
        nino_status st;
        if (*ps->p != '"')
            return unexpected(ps, "a key");
        if ((st = read_string(ps, &v->key, &v->key_len)))
            return st;
        skip_space(ps);
        if (*ps->p != ':')
            return unexpected(ps, "':'");
        ps->p++;
        skip_space(ps);
    }
    v->parent = parent;
    v->line = ps->line;
    v->col = (uint32_t) (ps->p - ps->line_start) + 1;
    v->src_begin = (size_t) (ps->p - ps->src);
    *tail = v;
    if (parent)
        parent->count++;
    if (*ps->p == '{' || *ps->p == '[') {
        v->type = *ps->p++ == '{' ? NINO_JSON_OBJECT : NINO_JSON_ARRAY;
        return NINO_OK;
    }
    const nino_status st = read_scalar(ps, v);
    v->src_end = (size_t) (ps->p - ps->src);
    return st;
}

static nino_status read_tree(parser *ps, nino_json **root)
{
    nino_status st;
    nino_json *parent = NULL, **tail = root;
    uint32_t depth = 0;
    do {
        if ((st = json_parse_read_value(ps, parent, tail)))
            return st;
        nino_json *v = *tail;
        tail = &v->next;
        if (!v->src_end) { // opened
            if (++depth > ps->lim.max_depth)
                return fail(ps, "limit", ps->src + v->src_begin, "more than %u levels",
                            ps->lim.max_depth);
            parent = v;
            tail = &v->child;
        }
        // close what ends here; stops at a comma or behind an opening bracket
        for (skip_space(ps); parent; skip_space(ps)) {
            const bool object = parent->type == NINO_JSON_OBJECT;
            if (*ps->p == (object ? '}' : ']')) {
                parent->src_end = (size_t) (++ps->p - ps->src);
                if (object && !ps->lim.allow_dup_keys && (st = find_repeated(ps, parent)))
                    return st;
                tail = &parent->next;
                parent = parent->parent;
                depth--;
            } else if (tail == &parent->child) {
                break;
            } else if (*ps->p == ',') {
                ps->p++;
                break;
            } else {
                return unexpected(ps, object ? "',' or '}'" : "',' or ']'");
            }
        }
    } while (parent);
    return ps->p == ps->end ? NINO_OK : unexpected(ps, "the end");
}

static size_t or_default(size_t v, size_t def) { return v ? v : def; }

nino_status nino_json_parse_into(nino_arena *arena, const char *src, size_t len, const char *name,
                                 const nino_json_limits *limits, nino_json **root, nino_error *err)
{
    parser ps = { .src = src, .first = src, .end = src + len, .line = 1, .name = name };
    nino_json *top = NULL;
    nino_status st;
    ps.arena = arena;
    ps.err = err;
    if (limits)
        ps.lim = *limits;
    ps.lim.max_depth = ps.lim.max_depth ? ps.lim.max_depth : 256;
    ps.lim.max_nodes = or_default(ps.lim.max_nodes, (size_t) 4 << 20);
    ps.lim.max_string = or_default(ps.lim.max_string, (size_t) 16 << 20);
    if (len >= 3 && !memcmp(src, "\xef\xbb\xbf", 3)) {
        if (!ps.lim.allow_bom)
            return fail(&ps, "syntax", src, "byte order mark");
        ps.first += 3;
    }
    ps.p = ps.line_start = ps.first;
    ps.text = nino_arena_alloc(arena, len + 1);
    st = ps.text ? read_tree(&ps, &top) : json_parse_nomem(&ps);
    free(ps.table);
    if (!st)
        *root = top;
    return st;
}

nino_status nino_json_parse(const char *src, size_t len, const char *name,
                            const nino_json_limits *limits, nino_json_doc **out, nino_error *err)
{
    nino_status st = NINO_ERR_NOMEM;
    const size_t max = or_default(limits ? limits->max_bytes : 0, (size_t) 64 << 20);
    nino_json_doc *doc = calloc(1, sizeof(*doc));
    char *copy = NULL;
    if (len > max) { // before a copy is made of it
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "limit", name, "more than %zu bytes at 1:1", max);
        goto end;
    }
    if (!doc || !(doc->arena = nino_arena_create()) || !(copy = calloc(1, len + 1))) {
        nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
        goto end;
    }
    if (len)
        memcpy(copy, src, len);
    doc->src = copy;
    doc->src_len = len;
    if ((st = nino_json_parse_into(doc->arena, copy, len, name, limits, &doc->root, err)))
        goto end;
    *out = doc;
    doc = NULL;
end:
    nino_json_doc_destroy(&doc);
    return st;
}

void nino_json_doc_destroy(nino_json_doc **doc)
{
    if (!doc || !*doc)
        return;
    nino_arena_destroy(&(*doc)->arena);
    free((char *) (*doc)->src);
    free(*doc);
    *doc = NULL;
}
