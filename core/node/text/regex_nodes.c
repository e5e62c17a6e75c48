// Texts searched by patterns. Behaviour of ComfyUI's nodes_string.py, which is Python's re; PCRE2
// does the matching, and what the two write differently is translated.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <ctype.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/node/util.h"

#define MATCH_LIMIT 10000000 // steps of one search: patterns may take exponential time

typedef struct regex_flags {
    bool case_insensitive, multiline, dotall;
} regex_flags;

// ---- patterns --------------------------------------------------------------------------------

static bool is_octal(char c) { return c >= '0' && c <= '7'; }

// \\0 \\012 \\101 are characters, \\1 \\12 groups.
static bool regex_digits(nino_buf *b, const char **ps, bool in_class)
{
    const char *s = *ps;
    unsigned n = 0;
    int len = 0;
    if (*s == '0' || in_class || (is_octal(s[0]) && is_octal(s[1]) && is_octal(s[2]))) {
        for (; len < 3 && is_octal(s[len]); len++)
            n = n * 8 + (unsigned) (s[len] - '0');
        nino_buf_addf(b, "\\x{%x}", n);
    } else {
        for (; len < 2 && isdigit((unsigned char) s[len]); len++)
            n = n * 10 + (unsigned) (s[len] - '0');
        nino_buf_addf(b, "\\g{%u}", n);
    }
    *ps = s + len;
    return len && n <= 255;
}

// An escape, s at its letter. False: Python has none of that name.
static bool regex_escape(nino_buf *b, const char **ps, bool in_class)
{
    const char *s = *ps;
    if (isdigit((unsigned char) *s))
        return regex_digits(b, ps, in_class);
    const size_t n = *s == 'x' ? 2 : *s == 'u' ? 4 : *s == 'U' ? 8 : 0;
    if (n) {
        for (size_t i = 1; i <= n; i++)
            if (!isxdigit((unsigned char) s[i]))
                return false;
        nino_buf_addf(b, "\\x{%.*s}", (int) n, s + 1);
        *ps = s + 1 + n;
        return true;
    }
    if (!*s || (isalpha((unsigned char) *s) &&
                !strchr(in_class ? "abdDsSwWfnrtv" : "AbBdDsSwWZafnrtv", *s)))
        return false;
    *ps = s + 1;
    if (*s == 'Z') // the very end
        nino_buf_adds(b, "\\z");
    else if (*s == 'B') // nowhere in an empty text
        nino_buf_adds(b, "(?:\\B(?!\\A\\z))");
    else if (*s == 'v') // one character, not a class
        nino_buf_adds(b, "\\x0b");
    else
        nino_buf_addf(b, "\\%c", *s);
    return true;
}

// "(?i)" for all of the pattern, where only the like stands before it. 0: something else; else its
// length, 1: not there.
static size_t regex_global(const char *s, bool is_first)
{
    const size_t n = s[0] == '(' && s[1] == '?' ? strspn(s + 2, "aiLmsux") : 0;
    if (!n || s[2 + n] != ')')
        return 0;
    return is_first ? n + 3 : 1;
}

// Python's notation as PCRE2's. False: Python takes it for an error.
static bool regex_translate(const char *s, nino_buf *b)
{
    bool in_class = false, is_first = true;
    size_t n;
    nino_buf_adds(b, "");
    while (*s) {
        if (!in_class && (n = regex_global(s, is_first))) {
            if (n == 1)
                return false;
            nino_buf_add(b, s, n);
            s += n;
            continue;
        }
        is_first = false;
        if (!in_class && s[0] == '{' && s[1] == ',') { // none to n
            n = strspn(s + 2, "0123456789");
            if (s[2 + n] == '}') {
                nino_buf_adds(b, n ? "{0" : "*");
                s += n ? 1 : 3;
                continue;
            }
        }
        if (*s == '\\') {
            s++;
            if (!regex_escape(b, &s, in_class))
                return false;
            continue;
        }
        if (!in_class && s[0] == '(' &&
            (s[1] == '*' || (s[1] == '?' && !strchr("P:=!<#(>aiLmsux-", s[2]))))
            return false;            // PCRE2's own groups
        if (in_class && *s == '[') { // [[:alpha:]] is no class of letters there
            nino_buf_adds(b, "\\[");
            s++;
            continue;
        }
        if (!in_class && *s == '[') {
            in_class = true;
            nino_buf_addc(b, *s++);
            if (*s == '^')
                nino_buf_addc(b, *s++);
            if (*s == ']') {
                nino_buf_adds(b, "\\]");
                s++;
            }
            continue;
        }
        in_class = in_class && *s != ']';
        nino_buf_addc(b, *s++);
    }
    return true;
}

// NULL: a bad pattern; *why says what is wrong with it, or out of memory where it is empty.
static pcre2_code *regex_compile(const char *pattern, const regex_flags *f, char why[160])
{
    nino_buf b = { 0 };
    int code = 0;
    size_t at = 0;
    pcre2_code *re = NULL;
    pcre2_compile_context *ctx = pcre2_compile_context_create(NULL);
    uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_ALT_CIRCUMFLEX;
    options |= f->case_insensitive ? PCRE2_CASELESS : 0;
    options |= f->multiline ? PCRE2_MULTILINE : 0;
    options |= f->dotall ? PCRE2_DOTALL : 0;
    why[0] = 0;
    if (!regex_translate(pattern, &b)) {
        snprintf(why, 160, "what follows \"%.60s\" is no pattern of Python", b.data ? b.data : "");
    } else if (ctx && !b.failed) {
        pcre2_set_newline(ctx, PCRE2_NEWLINE_LF);
        re = pcre2_compile((PCRE2_SPTR) b.data, b.len, options, &code, &at, ctx);
        PCRE2_UCHAR text[128];
        if (!re && pcre2_get_error_message(code, text, sizeof(text)) > 0)
            snprintf(why, 160, "%s, at byte %zu", (const char *) text, at + 1);
    }
    pcre2_compile_context_free(ctx);
    nino_buf_release(&b);
    return re;
}

// A pattern on its way through a text.
typedef struct regex_search {
    pcre2_code *re;
    pcre2_match_data *found;
    pcre2_match_context *limits;
    const char *text;
    size_t len, at;
    bool was_empty; // the last match; the next one is no empty one at the same place
    uint32_t n_groups;
} regex_search;

static void regex_end(regex_search *s)
{
    pcre2_match_context_free(s->limits);
    pcre2_match_data_free(s->found);
    pcre2_code_free(s->re);
}

// Takes `re`.
static nino_status regex_begin(regex_search *s, pcre2_code *re, const char *text, nino_error *err)
{
    *s = (regex_search){ .re = re, .text = text, .len = strlen(text) };
    s->found = pcre2_match_data_create_from_pattern(re, NULL);
    s->limits = pcre2_match_context_create(NULL);
    if (!s->found || !s->limits)
        return nino_fail(err, NINO_ERR_NOMEM, "regex_pattern", "out of memory");
    pcre2_set_match_limit(s->limits, MATCH_LIMIT);
    pcre2_pattern_info(re, PCRE2_INFO_CAPTURECOUNT, &s->n_groups);
    return NINO_OK;
}

// The next match, as re.finditer() has them.
static nino_status regex_next(regex_search *s, bool *found, nino_error *err)
{
    *found = false;
    if (s->at > s->len)
        return NINO_OK;
    const int n = pcre2_match(s->re, (PCRE2_SPTR) s->text, s->len, s->at,
                              s->was_empty ? PCRE2_NOTEMPTY_ATSTART : 0, s->found, s->limits);
    if (n == PCRE2_ERROR_NOMATCH) {
        s->at = s->len + 1;
        return NINO_OK;
    }
    if (n == PCRE2_ERROR_MATCHLIMIT || n == PCRE2_ERROR_DEPTHLIMIT || n == PCRE2_ERROR_HEAPLIMIT)
        return nino_fail_kind(err, NINO_ERR_ARG, "limit", "regex_pattern",
                              "the pattern takes more than %d steps", MATCH_LIMIT);
    if (n < 0)
        return nino_fail_kind(err, NINO_ERR_ARG, "value", "regex_pattern",
                              "the text cannot be searched (PCRE2 error %d)", n);
    const size_t *v = pcre2_get_ovector_pointer(s->found);
    s->was_empty = v[1] == v[0];
    s->at = v[1];
    *found = true;
    return NINO_OK;
}

// What group i has matched; nothing where it took no part.
static void regex_group(const regex_search *s, uint32_t i, nino_buf *b)
{
    const size_t *v = pcre2_get_ovector_pointer(s->found) + 2 * (size_t) i;
    if (!b) // only whether there is such a group was of interest
        return;
    if (i <= s->n_groups && v[0] != PCRE2_UNSET && v[0] <= v[1])
        nino_buf_add(b, s->text + v[0], v[1] - v[0]);
}

// ---- RegexMatch, RegexExtract ----------------------------------------------------------------

typedef struct regex_params {
    const char *string, *regex_pattern, *replace;
    int64_t mode, group_index, count;
    bool case_insensitive, multiline, dotall;
} regex_params;

static regex_flags regex_flags_of(const regex_params *p)
{
    return (regex_flags){ p->case_insensitive, p->multiline, p->dotall };
}

// A bad pattern finds nothing: *ok is false.
static nino_status regex_open(const regex_params *p, regex_search *s, bool *ok, nino_error *err)
{
    char why[160];
    const regex_flags f = regex_flags_of(p);
    pcre2_code *re = regex_compile(p->regex_pattern, &f, why);
    *s = (regex_search){ 0 };
    *ok = re != NULL;
    if (!re && !why[0])
        return nino_fail(err, NINO_ERR_NOMEM, "regex_pattern", "out of memory");
    return re ? regex_begin(s, re, p->string, err) : NINO_OK;
}

static nino_status regex_match_run(nino_run *r, nino_error *err)
{
    regex_search s;
    bool found = false, ok;
    nino_status st = regex_open(r->params, &s, &ok, err);
    if (!st && ok)
        st = regex_next(&s, &found, err);
    regex_end(&s);
    return st ? st : nino_out_bool(r, 0, found, err);
}

enum { FIRST_MATCH, ALL_MATCHES, FIRST_GROUP, ALL_GROUPS };

static nino_status regex_collect(const regex_params *p, regex_search *s, nino_buf *b,
                                 nino_error *err)
{
    const bool is_all = p->mode == ALL_MATCHES || p->mode == ALL_GROUPS;
    const bool is_group = p->mode == FIRST_GROUP || p->mode == ALL_GROUPS;
    const uint32_t group = is_group                                ? (uint32_t) p->group_index
                           : p->mode == ALL_MATCHES && s->n_groups ? 1
                                                                   : 0;
    bool found = true;
    if (group > s->n_groups || (p->mode == ALL_GROUPS && !s->n_groups))
        return NINO_OK;
    for (int n = 0; found && (is_all || !n); n++) {
        const nino_status st = regex_next(s, &found, err);
        if (st)
            return st;
        if (found && n)
            nino_buf_addc(b, '\n');
        if (found)
            regex_group(s, group, b);
    }
    return NINO_OK;
}

static nino_status regex_extract_run(nino_run *r, nino_error *err)
{
    regex_search s;
    nino_buf b = { 0 };
    bool ok;
    nino_status st = regex_open(r->params, &s, &ok, err);
    nino_buf_adds(&b, "");
    if (!st && ok)
        st = regex_collect(r->params, &s, &b, err);
    regex_end(&s);
    if (!st && !b.failed)
        return nino_node_out_text(r, 0, b.data, err);
    nino_buf_release(&b);
    return st ? st : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
}

#define REGEX_TEXT(fld, name, text)                                                                \
    NINO_P_STRING(regex_params, fld, "", .label = name, .multiline = true, .help = text)
#define REGEX_ROWS                                                                                 \
    REGEX_TEXT(string, "Text", "What is searched"),                                                \
        REGEX_TEXT(regex_pattern, "Pattern", "A regular expression as Python writes them")
#define REGEX_FLAG(fld, d, name, text, ...)                                                        \
    NINO_P_BOOL(regex_params, fld, d, .label = name, .help = text, __VA_ARGS__)
#define REGEX_FLAGS(...)                                                                           \
    REGEX_FLAG(case_insensitive, true, "Any case", "Capitals and small letters are the same",      \
               __VA_ARGS__),                                                                       \
        REGEX_FLAG(multiline, false, "Lines", "^ and $ stand for the ends of every line",          \
                   __VA_ARGS__),                                                                   \
        REGEX_FLAG(dotall, false, "Dot takes all", "The dot stands for the end of a line, too",    \
                   __VA_ARGS__)

NINO_NODE(regex_match, "RegexMatch", "Match Text", "utils/string",
          "Whether a pattern is found in a text", NINO_OUTPUTS(NINO_PORT(matches, BOOLEAN)),
          NINO_PARAMS(regex_params, REGEX_ROWS, REGEX_FLAGS(.optional = false)),
          NINO_RUN(regex_match_run));
NINO_NODE(
    regex_extract, "RegexExtract", "Extract Text", "utils/string",
    "What a pattern finds in a text, one match a line", NINO_OUTPUTS(NINO_PORT(STRING, STRING)),
    NINO_PARAMS(regex_params, REGEX_ROWS,
                NINO_P_ENUM(regex_params, mode,
                            NINO_WORDS("First Match", "All Matches", "First Group", "All Groups"),
                            0, .label = "Mode", .help = "What is taken"),
                REGEX_FLAGS(.optional = false),
                NINO_P_INT(regex_params, group_index, 1, 0, 100, 1, .label = "Group",
                           .help = "Number of the group in brackets; 0 is the whole match")),
    NINO_RUN(regex_extract_run));

// ---- RegexReplace ----------------------------------------------------------------------------

static void regex_put(nino_buf *b, char c)
{
    if (b)
        nino_buf_addc(b, c);
}

static nino_status regex_bad_template(const char *at, nino_error *err)
{
    return nino_fail_kind(err, NINO_ERR_ARG, "value", "replace",
                          "\"%.24s\" is nothing that a replacement can hold", at);
}

// A group by number or name between brackets, *ps behind "\g".
static nino_status regex_named(const regex_search *s, const char **ps, nino_buf *b, nino_error *err)
{
    const char *name = *ps + 1, *end = **ps == '<' ? strchr(name, '>') : NULL;
    char text[64];
    int group = 0;
    if (!end || end == name || end - name >= (ptrdiff_t) sizeof(text))
        return regex_bad_template(*ps - 2, err);
    memcpy(text, name, (size_t) (end - name));
    text[end - name] = 0;
    if (strspn(text, "0123456789") == strlen(text))
        group = (int) strtol(text, NULL, 10);
    else
        group = pcre2_substring_number_from_name(s->re, (PCRE2_SPTR) text);
    if (group < 0 || (uint32_t) group > s->n_groups)
        return nino_fail_kind(err, NINO_ERR_ARG, "value", "replace", "there is no group '%s'",
                              text);
    regex_group(s, (uint32_t) group, b);
    *ps = end + 1;
    return NINO_OK;
}

// \1 \12 are groups; \0, \012 and \101 characters.
static nino_status regex_numbered(const regex_search *s, const char **ps, nino_buf *b,
                                  nino_error *err)
{
    const char *t = *ps;
    const bool is_octal =
        *t == '0' || (t[1] >= '0' && t[1] <= '7' && t[2] >= '0' && t[2] <= '7' && *t <= '7');
    int n = 0, len = 0;
    if (is_octal) {
        for (; len < 3 && t[len] >= '0' && t[len] <= '7'; len++)
            n = n * 8 + t[len] - '0';
        if (!n || n > 127)
            return regex_bad_template(t - 1, err);
        regex_put(b, (char) n);
    } else {
        for (; len < 2 && isdigit((unsigned char) t[len]); len++)
            n = n * 10 + t[len] - '0';
        if ((uint32_t) n > s->n_groups)
            return nino_fail_kind(err, NINO_ERR_ARG, "value", "replace", "there is no group %d", n);
        regex_group(s, (uint32_t) n, b);
    }
    *ps = t + len;
    return NINO_OK;
}

// What takes the place of a match. b NULL: only whether the template is one.
static nino_status regex_expand(const regex_search *s, const char *t, nino_buf *b, nino_error *err)
{
    static const char letters[] = "abfnrtv\\", codes[] = "\a\b\f\n\r\t\v\\";
    nino_status st = NINO_OK;
    while (*t && !st) {
        if (*t != '\\') {
            regex_put(b, *t++);
            continue;
        }
        t++;
        const char *c = *t ? strchr(letters, *t) : NULL;
        if (*t == 'g') {
            t++;
            st = regex_named(s, &t, b, err);
        } else if (isdigit((unsigned char) *t)) {
            st = regex_numbered(s, &t, b, err);
        } else if (c) {
            regex_put(b, codes[c - letters]);
            t++;
        } else if (!*t || isalpha((unsigned char) *t)) {
            st = regex_bad_template(t - 1, err);
        } else { // any other character keeps its backslash
            regex_put(b, '\\');
            regex_put(b, *t++);
        }
    }
    return st;
}

static nino_status regex_replace(const regex_params *p, regex_search *s, nino_buf *b,
                                 nino_error *err)
{
    size_t copied = 0;
    bool found = true;
    nino_status st = regex_expand(s, p->replace, NULL, err); // an error without any match, too
    for (int64_t n = 0; !st && (!p->count || n < p->count); n++) {
        if ((st = regex_next(s, &found, err)) || !found)
            break;
        const size_t *v = pcre2_get_ovector_pointer(s->found);
        nino_buf_add(b, s->text + copied, v[0] - copied);
        copied = v[1];
        if ((st = regex_expand(s, p->replace, b, err)))
            break;
    }
    nino_buf_add(b, s->text + copied, s->len - copied);
    return st;
}

static nino_status regex_replace_run(nino_run *r, nino_error *err)
{
    const regex_params *p = r->params;
    const regex_flags f = regex_flags_of(p);
    char why[160];
    regex_search s;
    nino_buf b = { 0 };
    pcre2_code *re = regex_compile(p->regex_pattern, &f, why);
    if (!re)
        return nino_fail_kind(err, why[0] ? NINO_ERR_ARG : NINO_ERR_NOMEM, "value", "regex_pattern",
                              "%s", why[0] ? why : "out of memory");
    nino_buf_adds(&b, "");
    nino_status st = regex_begin(&s, re, p->string, err);
    if (!st)
        st = regex_replace(p, &s, &b, err);
    regex_end(&s);
    if (!st && !b.failed)
        return nino_node_out_text(r, 0, b.data, err);
    nino_buf_release(&b);
    return st ? st : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
}

NINO_NODE(regex_replace, "RegexReplace", "Replace Text (Regex)", "utils/string",
          "Replaces what a pattern finds in a text", NINO_OUTPUTS(NINO_PORT(STRING, STRING)),
          NINO_PARAMS(regex_params, REGEX_ROWS,
                      REGEX_TEXT(replace, "Replace by",
                                 "What takes its place; \\1 or \\g<name> is a group of the match"),
                      REGEX_FLAGS(.optional = true),
                      NINO_P_INT(regex_params, count, 0, 0, 100, 1, .optional = true,
                                 .label = "Most", .help = "How many are replaced; 0 is all")),
          NINO_RUN(regex_replace_run));
