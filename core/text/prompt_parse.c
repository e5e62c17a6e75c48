// The parentheses of a prompt. Rules: ComfyUI sd1_clip.py, parse_parentheses() and token_weights().
#include "core/text/prompt_parse.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/num.h"
#include "core/text/unicode.h"

// ---- escapes ---------------------------------------------------------------------------------

void nino_prompt_escape(char *text, size_t len)
{
    for (size_t i = 0; i + 1 < len; i++)
        if (text[i] == '\\' && (text[i + 1] == ')' || text[i + 1] == '(')) {
            text[i] = 0;
            text[i + 1] = text[i + 1] == ')' ? 1 : 2;
            i++;
        }
}

size_t nino_prompt_unescape(char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        if (!text[i] && i + 1 < len && (text[i + 1] == 1 || text[i + 1] == 2))
            text[n++] = text[++i] == 1 ? ')' : '(';
        else
            text[n++] = text[i];
    return n;
}

// ---- numbers ---------------------------------------------------------------------------------

// The text in ASCII, without the white space around it and without underscores; false: no number.
static bool prompt_parse_to_ascii(const char *s, size_t len, nino_buf *out)
{
    uint32_t cp;
    bool after_digit = false, in_gap = false;
    for (size_t i = 0; i < len;) {
        i += (size_t) nino_text_next(s + i, len - i, &cp);
        const int digit = nino_text_digit(cp);
        if (nino_text_is_space(cp)) {
            in_gap = out->len > 0;
            after_digit = false;
            continue;
        }
        if (in_gap)
            return false;
        if (cp == '_') {
            uint32_t next = 0;
            if (i < len)
                nino_text_next(s + i, len - i, &next);
            if (!after_digit || nino_text_digit(next) < 0)
                return false;
            continue;
        }
        if (digit < 0 && (cp >= 0x80 || !cp))
            return false;
        nino_buf_addc(out, (char) (digit >= 0 ? '0' + digit : (int) cp));
        after_digit = digit >= 0;
    }
    return out->len && !out->failed;
}

static size_t digits(const char **s)
{
    size_t n = 0;
    for (; **s >= '0' && **s <= '9'; ++*s)
        n++;
    return n;
}

// [sign] digits [. digits] [e [sign] digits], or a word; strtod() would take hexadecimal too.
static bool is_number(const char *s)
{
    if (*s == '+' || *s == '-')
        s++;
    if (!strcasecmp(s, "inf") || !strcasecmp(s, "infinity") || !strcasecmp(s, "nan"))
        return true;
    size_t n = digits(&s);
    if (*s == '.') {
        s++;
        n += digits(&s);
    }
    if (!n)
        return false;
    if (*s == 'e' || *s == 'E') {
        s++;
        if (*s == '+' || *s == '-')
            s++;
        if (!digits(&s))
            return false;
    }
    return !*s;
}

bool nino_prompt_number(const char *s, size_t len, double *out)
{
    nino_buf text = { 0 };
    const bool ok = prompt_parse_to_ascii(s, len, &text) && is_number(text.data);
    if (ok)
        *out = nino_strtod(text.data, NULL);
    nino_buf_release(&text);
    return ok;
}

// ---- segments --------------------------------------------------------------------------------

typedef struct parser {
    nino_segment *list;
    size_t n, cap;
    nino_error *err;
} parser;

static nino_status prompt_parse_add_segment(parser *p, const char *s, size_t len, double weight)
{
    if (p->n == p->cap) {
        const size_t cap = p->cap ? p->cap * 2 : 16;
        nino_segment *list = realloc(p->list, cap * sizeof(*list));
        if (!list)
            return nino_fail(p->err, NINO_ERR_NOMEM, "prompt", "out of memory");
        p->list = list;
        p->cap = cap;
    }
    p->list[p->n++] = (nino_segment){ s, len, weight };
    return NINO_OK;
}

static const char *last_colon(const char *s, size_t len)
{
    while (len && s[len - 1] != ':')
        len--;
    return len ? s + len - 1 : NULL;
}

static nino_status prompt_parse_add_text(parser *p, const char *s, size_t len, double weight,
                                         int depth);

// One item: plain text, or what stands in parentheses.
static nino_status prompt_parse_add_item(parser *p, const char *s, size_t len, double weight,
                                         int depth)
{
    if (len < 2 || s[0] != '(' || s[len - 1] != ')')
        return prompt_parse_add_segment(p, s, len, weight);
    s++;
    len -= 2;
    const char *colon = last_colon(s, len);
    double inner = weight * 1.1;
    if (colon > s && nino_prompt_number(colon + 1, (size_t) (s + len - colon - 1), &inner))
        len = (size_t) (colon - s);
    return prompt_parse_add_text(p, s, len, inner, depth + 1);
}

// Items are what stands in the outermost parentheses and what is between those. Unbalanced ones are
// text.
static nino_status prompt_parse_add_text(parser *p, const char *s, size_t len, double weight,
                                         int depth)
{
    nino_status st = NINO_OK;
    size_t from = 0;
    long level = 0;
    if (depth > NINO_PROMPT_MAX_DEPTH)
        return nino_fail(p->err, NINO_ERR_RANGE, "prompt",
                         "parentheses are nested more than %d deep", NINO_PROMPT_MAX_DEPTH);
    for (size_t i = 0; i < len && !st; i++) {
        if (s[i] == '(') {
            if (level++ == 0 && i > from) {
                st = prompt_parse_add_item(p, s + from, i - from, weight, depth);
                from = i;
            }
        } else if (s[i] == ')' && --level == 0) {
            st = prompt_parse_add_item(p, s + from, i + 1 - from, weight, depth);
            from = i + 1;
        }
    }
    return st || from == len ? st : prompt_parse_add_item(p, s + from, len - from, weight, depth);
}

nino_status nino_prompt_segments(const char *text, size_t len, nino_segment **out, size_t *n,
                                 nino_error *err)
{
    parser p = { .err = err };
    const nino_status st = prompt_parse_add_text(&p, text, len, 1.0, 0);
    if (st) {
        free(p.list);
        return st;
    }
    *out = p.list;
    *n = p.n;
    return NINO_OK;
}
