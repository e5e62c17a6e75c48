// Texts: join, cut, search, change case. Behaviour of ComfyUI's nodes_string.py, which is Python's:
// positions count code points, and negative ones from the end.
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/node/planar.h"
#include "core/text/unicode.h"

#define TEXT(S, fld, name, what)                                                                   \
    NINO_P_STRING(S, fld, "", .label = name, .help = what, .multiline = true)

// Takes the buffer as output 0.
static nino_status string_nodes_give(nino_run *r, nino_buf *b, nino_error *err)
{
    if (!b->data)
        nino_buf_adds(b, "");
    char *s = b->failed ? NULL : b->data;
    if (b->failed)
        nino_buf_release(b);
    return nino_node_out_text(r, 0, s, err);
}

// ---- StringConcatenate -----------------------------------------------------------------------

typedef struct concat_params {
    const char *string_a, *string_b, *delimiter;
} concat_params;

static nino_status string_nodes_concat_run(nino_run *r, nino_error *err)
{
    const concat_params *p = r->params;
    nino_buf b = { 0 };
    nino_buf_adds(&b, p->string_a);
    nino_buf_adds(&b, p->delimiter);
    nino_buf_adds(&b, p->string_b);
    return string_nodes_give(r, &b, err);
}

NINO_NODE(string_concat, "StringConcatenate", "Concatenate", "utils/string",
          "One text after the other", NINO_OUTPUTS(NINO_PORT(STRING, STRING)),
          NINO_PARAMS(concat_params, TEXT(concat_params, string_a, "First", "Comes first"),
                      TEXT(concat_params, string_b, "Second", "Comes last"),
                      NINO_P_STRING(concat_params, delimiter, "", .label = "Between",
                                    .help = "Goes between the two")),
          NINO_RUN(string_nodes_concat_run));

// ---- StringSubstring, StringLength -----------------------------------------------------------

static int64_t string_nodes_count(const char *s)
{
    const size_t len = strlen(s);
    int64_t n = 0;
    uint32_t cp;
    for (size_t i = 0; i < len; n++)
        i += (size_t) nino_text_next(s + i, len - i, &cp);
    return n;
}

// Bytes before code point n.
static size_t string_nodes_offset_of(const char *s, int64_t n)
{
    const size_t len = strlen(s);
    size_t i = 0;
    uint32_t cp;
    for (int64_t k = 0; k < n && i < len; k++)
        i += (size_t) nino_text_next(s + i, len - i, &cp);
    return i;
}

typedef struct sub_params {
    const char *string;
    int64_t start, end;
} sub_params;

static nino_status sub_run(nino_run *r, nino_error *err)
{
    const sub_params *p = r->params;
    int64_t from, len;
    nino_slice_range(p->start, p->end, string_nodes_count(p->string), &from, &len);
    const size_t a = string_nodes_offset_of(p->string, from),
                 b = string_nodes_offset_of(p->string, from + len);
    nino_buf out = { 0 };
    nino_buf_add(&out, p->string + a, b - a);
    return string_nodes_give(r, &out, err);
}

NINO_NODE(string_sub, "StringSubstring", "Substring", "utils/string", "A part of a text",
          NINO_OUTPUTS(NINO_PORT(STRING, STRING)),
          NINO_PARAMS(sub_params, TEXT(sub_params, string, "Text", "What is cut"),
                      NINO_P_INT(sub_params, start, 0, -INT64_MAX, INT64_MAX, 1, .label = "From",
                                 .help = "First character, from 0; negative: from the end"),
                      NINO_P_INT(sub_params, end, 0, -INT64_MAX, INT64_MAX, 1, .label = "To",
                                 .help = "The first one that is left out; negative: from the end")),
          NINO_RUN(sub_run));

typedef struct one_params {
    const char *string;
} one_params;

static nino_status length_run(nino_run *r, nino_error *err)
{
    return nino_out_int(r, 0, string_nodes_count(((const one_params *) r->params)->string), err);
}

NINO_NODE(string_length, "StringLength", "Length", "utils/string", "How many characters a text has",
          NINO_OUTPUTS(NINO_PORT(length, INT)),
          NINO_PARAMS(one_params, TEXT(one_params, string, "Text", "What is counted")),
          NINO_RUN(length_run));

// ---- CaseConverter, StringTrim ---------------------------------------------------------------

typedef struct mode_params {
    const char *string;
    int64_t mode;
} mode_params;

static nino_status case_run(nino_run *r, nino_error *err)
{
    static void (*const fn[])(nino_buf * out, const char *s,
                              size_t len) = { nino_text_upper, nino_text_lower,
                                              nino_text_capitalize, nino_text_title };
    const mode_params *p = r->params;
    nino_buf b = { 0 };
    fn[p->mode](&b, p->string, strlen(p->string));
    return string_nodes_give(r, &b, err);
}

NINO_NODE(string_case, "CaseConverter", "Case Converter", "utils/string",
          "Capitals and small letters", NINO_OUTPUTS(NINO_PORT(STRING, STRING)),
          NINO_PARAMS(mode_params, TEXT(mode_params, string, "Text", "What is changed"),
                      NINO_P_ENUM(mode_params, mode,
                                  NINO_WORDS("UPPERCASE", "lowercase", "Capitalize", "Title Case"),
                                  0, .label = "Case", .help = "Which letters become capitals")),
          NINO_RUN(case_run));

enum { BOTH, LEFT, RIGHT };

static nino_status string_nodes_trim_run(nino_run *r, nino_error *err)
{
    const mode_params *p = r->params;
    const size_t len = strlen(p->string);
    size_t from = len, to = 0; // of what is not space
    uint32_t cp;
    for (size_t i = 0; i < len;) {
        const size_t at = i;
        i += (size_t) nino_text_next(p->string + i, len - i, &cp);
        if (nino_text_is_space(cp))
            continue;
        from = at < from ? at : from;
        to = i;
    }
    if (p->mode == RIGHT)
        from = 0;
    if (p->mode == LEFT)
        to = len;
    nino_buf b = { 0 };
    if (to > from)
        nino_buf_add(&b, p->string + from, to - from);
    return string_nodes_give(r, &b, err);
}

NINO_NODE(string_trim, "StringTrim", "Trim", "utils/string", "A text without white space around it",
          NINO_OUTPUTS(NINO_PORT(STRING, STRING)),
          NINO_PARAMS(mode_params, TEXT(mode_params, string, "Text", "What is trimmed"),
                      NINO_P_ENUM(mode_params, mode, NINO_WORDS("Both", "Left", "Right"), 0,
                                  .label = "Side", .help = "Where white space is taken away")),
          NINO_RUN(string_nodes_trim_run));

// ---- StringReplace ---------------------------------------------------------------------------

typedef struct replace_params {
    const char *string, *find, *replace;
} replace_params;

// Before every character and at the end: what replacing nothing means.
static void spread(nino_buf *b, const char *s, const char *with)
{
    const size_t len = strlen(s);
    uint32_t cp;
    for (size_t i = 0; i < len;) {
        const size_t n = (size_t) nino_text_next(s + i, len - i, &cp);
        nino_buf_adds(b, with);
        nino_buf_add(b, s + i, n);
        i += n;
    }
    nino_buf_adds(b, with);
}

static nino_status replace_run(nino_run *r, nino_error *err)
{
    const replace_params *p = r->params;
    const size_t len = strlen(p->find);
    nino_buf b = { 0 };
    if (len) {
        const char *s = p->string;
        for (const char *at; (at = strstr(s, p->find)); s = at + len) {
            nino_buf_add(&b, s, (size_t) (at - s));
            nino_buf_adds(&b, p->replace);
        }
        nino_buf_adds(&b, s);
    } else {
        spread(&b, p->string, p->replace);
    }
    return string_nodes_give(r, &b, err);
}

NINO_NODE(string_replace, "StringReplace", "Replace", "utils/string",
          "Replaces every occurrence of a text", NINO_OUTPUTS(NINO_PORT(STRING, STRING)),
          NINO_PARAMS(replace_params, TEXT(replace_params, string, "Text", "What is searched"),
                      TEXT(replace_params, find, "Find", "What is looked for"),
                      TEXT(replace_params, replace, "Replace by", "What takes its place")),
          NINO_RUN(replace_run));

// ---- StringContains, StringCompare -----------------------------------------------------------

// Both texts, in lower case unless case counts; their sizes are known. b->failed: out of memory.
static void comparable(const char *s, bool case_sensitive, nino_buf *b)
{
    if (case_sensitive)
        nino_buf_adds(b, s);
    else
        nino_text_lower(b, s, strlen(s));
    if (!b->data)
        nino_buf_adds(b, "");
}

enum { STARTS, ENDS, EQUAL, CONTAINS };

static bool compares(const nino_buf *a, const nino_buf *b, int64_t how)
{
    switch (how) {
    case STARTS: return a->len >= b->len && !memcmp(a->data, b->data, b->len);
    case ENDS: return a->len >= b->len && !memcmp(a->data + a->len - b->len, b->data, b->len);
    case EQUAL: return a->len == b->len && !memcmp(a->data, b->data, b->len);
    default: return strstr(a->data, b->data) != NULL;
    }
}

static nino_status string_nodes_compare(nino_run *r, const char *sa, const char *sb, int64_t how,
                                        bool case_sensitive, nino_error *err)
{
    nino_buf a = { 0 }, b = { 0 };
    comparable(sa, case_sensitive, &a);
    comparable(sb, case_sensitive, &b);
    const nino_status st = a.failed || b.failed
                               ? nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory")
                               : nino_out_bool(r, 0, compares(&a, &b, how), err);
    nino_buf_release(&a);
    nino_buf_release(&b);
    return st;
}

typedef struct contains_params {
    const char *string, *substring;
    bool case_sensitive;
} contains_params;

static nino_status contains_run(nino_run *r, nino_error *err)
{
    const contains_params *p = r->params;
    return string_nodes_compare(r, p->string, p->substring, CONTAINS, p->case_sensitive, err);
}

#define CASE_SENSITIVE(S)                                                                          \
    NINO_P_BOOL(S, case_sensitive, true, .label = "Case counts",                                   \
                .help = "Off: capitals and small letters are the same")

NINO_NODE(string_contains, "StringContains", "Contains", "utils/string",
          "Whether a text is part of another", NINO_OUTPUTS(NINO_PORT(contains, BOOLEAN)),
          NINO_PARAMS(contains_params, TEXT(contains_params, string, "Text", "What is searched"),
                      TEXT(contains_params, substring, "Find", "What is looked for"),
                      CASE_SENSITIVE(contains_params)),
          NINO_RUN(contains_run));

typedef struct compare_params {
    const char *string_a, *string_b;
    int64_t mode;
    bool case_sensitive;
} compare_params;

static nino_status compare_run(nino_run *r, nino_error *err)
{
    const compare_params *p = r->params;
    return string_nodes_compare(r, p->string_a, p->string_b, p->mode, p->case_sensitive, err);
}

NINO_NODE(string_compare, "StringCompare", "Compare", "utils/string",
          "Whether a text starts or ends with another, or is equal",
          NINO_OUTPUTS(NINO_PORT(BOOLEAN, BOOLEAN)),
          NINO_PARAMS(compare_params,
                      TEXT(compare_params, string_a, "First", "The text that is looked at"),
                      TEXT(compare_params, string_b, "Second", "What it is compared with"),
                      NINO_P_ENUM(compare_params, mode,
                                  NINO_WORDS("Starts With", "Ends With", "Equal"), 0,
                                  .label = "Mode", .help = "What is asked"),
                      CASE_SENSITIVE(compare_params)),
          NINO_RUN(compare_run));
