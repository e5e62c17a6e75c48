// Texts joined, cut, searched, under the rules of extensions.
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/node/ext/ext.h"
#include "core/node/text/prompt_node.h"
#include "core/text/unicode.h"

static const char *text_in(const nino_run *r, int i) { return NINO_IN(r, i, string); }

// Without white space at both ends.
static void add_trimmed(nino_buf *b, const char *s, size_t len)
{
    size_t from = len, to = 0;
    uint32_t cp;
    for (size_t i = 0; i < len;) {
        const size_t at = i;
        i += (size_t) nino_text_next(s + i, len - i, &cp);
        if (nino_text_is_space(cp))
            continue;
        from = at < from ? at : from;
        to = i;
    }
    if (to > from)
        nino_buf_add(b, s + from, to - from);
}

// Every occurrence; an empty text is found nowhere. Returns how many there were.
static int64_t add_replaced(nino_buf *b, const char *s, const char *find, const char *by)
{
    const size_t len = strlen(find);
    int64_t n = 0;
    for (const char *at; len && (at = strstr(s, find)); s = at + len, n++) {
        nino_buf_add(b, s, (size_t) (at - s));
        nino_buf_adds(b, by);
    }
    nino_buf_adds(b, s);
    return n;
}

// ---- plain texts -----------------------------------------------------------------------------

typedef struct one_text {
    const char *text;
} one_text;

// Lines that begin with # are comments.
static nino_status was_multiline_run(nino_run *r, nino_error *err)
{
    nino_buf b = { 0 };
    bool is_first = true;
    for (const char *s = ((const one_text *) r->params)->text; *s;) {
        const size_t n = strcspn(s, "\n"), blank = strspn(s, " \t");
        if (s[blank] != '#') {
            nino_buf_adds(&b, is_first ? "" : "\n");
            nino_buf_add(&b, s, n);
            is_first = false;
        }
        s += n + (s[n] == '\n');
    }
    return nino_ext_out_buf(r, 0, &b, err);
}

NINO_NODE(was_multiline, "Text Multiline", "Text Multiline", "WAS Suite/Text",
          "A text of several lines, those that begin with # left out",
          NINO_OUTPUTS(NINO_PORT(STRING, STRING)),
          NINO_PARAMS(one_text, NINO_P_STRING(one_text, text, "", .label = "Text",
                                              .help = "The text", .multiline = true)),
          NINO_RUN(was_multiline_run));

typedef struct was_texts {
    const char *text;
    const char *text_b;
    const char *text_c;
    const char *text_d;
} was_texts;

static nino_status was_string_run(nino_run *r, nino_error *err)
{
    const was_texts *p = r->params;
    const char *const all[] = { p->text, p->text_b, p->text_c, p->text_d };
    nino_status st = NINO_OK;
    for (int i = 0; i < 4 && !st; i++)
        st = nino_ext_out_copy(r, i, all[i], err);
    return st;
}

NINO_NODE(was_string, "Text String", "Text String", "WAS Suite/Text", "Up to four texts",
          NINO_OUTPUTS(NINO_PORT(TEXT, STRING), NINO_PORT(TEXT_B, STRING),
                       NINO_PORT(TEXT_C, STRING), NINO_PORT(TEXT_D, STRING)),
          NINO_PARAMS(was_texts,
                      NINO_P_STRING(was_texts, text, "", .label = "Text", .help = "The text"),
                      NINO_P_STRING(was_texts, text_b, "", .label = "Text b", .help = "A text",
                                    .optional = true),
                      NINO_P_STRING(was_texts, text_c, "", .label = "Text c", .help = "A text",
                                    .optional = true),
                      NINO_P_STRING(was_texts, text_d, "", .label = "Text d", .help = "A text",
                                    .optional = true)),
          NINO_RUN(was_string_run));

static nino_status text_pass_run(nino_run *r, nino_error *err)
{
    return nino_ext_out_copy(r, 0, ((const one_text *) r->params)->text, err);
}

// What Comfyroll's nodes give beside the result: their page of help, which is not here.
static nino_status cr_text_run(nino_run *r, nino_error *err)
{
    const nino_status st = text_pass_run(r, err);
    return st ? st : nino_ext_out_copy(r, 1, "", err);
}

NINO_NODE(was_to_text, "String to Text", "String to Text", "WAS Suite/Text/Operations",
          "A text, handed on", NINO_OUTPUTS(NINO_PORT(STRING, STRING)),
          NINO_PARAMS(one_text, NINO_K_STRING("string", one_text, text, "", .label = "Text",
                                              .help = "The text")),
          NINO_RUN(text_pass_run));
NINO_NODE(was_to_string, "Text to String", "Text to String", "WAS Suite/Text/Operations",
          "A text, handed on", NINO_INPUTS(NINO_PORT(text, STRING)),
          NINO_OUTPUTS(NINO_PORT(STRING, STRING)), NINO_RUN(nino_ext_pass));

NINO_NODE(cr_prompt, "CR Prompt Text", "CR Prompt Text", "Comfyroll Studio/Essential/Core",
          "A text", NINO_OUTPUTS(NINO_PORT(prompt, STRING), NINO_PORT(show_help, STRING)),
          NINO_PARAMS(one_text, NINO_K_STRING("prompt", one_text, text, "prompt", .label = "Text",
                                              .help = "The text", .multiline = true)),
          NINO_RUN(cr_text_run));
NINO_NODE(cr_text, "CR Text", "CR Text", "Comfyroll Studio/Utils/Text", "A text",
          NINO_OUTPUTS(NINO_PORT(text, ANY), NINO_PORT(show_help, STRING)),
          NINO_PARAMS(one_text, NINO_P_STRING(one_text, text, "", .label = "Text",
                                              .help = "The text", .multiline = true)),
          NINO_RUN(cr_text_run));

static nino_status cr_number_run(nino_run *r, nino_error *err)
{
    nino_buf b = { 0 };
    nino_ext_text(&b, r->in[0]);
    const nino_status st = nino_ext_out_buf(r, 0, &b, err);
    return st ? st : nino_ext_out_copy(r, 1, "", err);
}

NINO_NODE(cr_int_text, "CR Integer To String", "CR Integer To String",
          "Comfyroll Studio/Utils/Conversion", "A whole number as text",
          NINO_INPUTS(NINO_PORT(int_, INT)),
          NINO_OUTPUTS(NINO_PORT(STRING, STRING), NINO_PORT(show_help, STRING)),
          NINO_RUN(cr_number_run));

static nino_status was_cond_run(nino_run *r, nino_error *err)
{
    return nino_prompt_encode(r, &(nino_clip_text){ .all = text_in(r, 1) }, NULL, err);
}

NINO_NODE(was_cond, "Text to Conditioning", "Text to Conditioning", "WAS Suite/Text/Operations",
          "Turns a prompt into what a diffusion model is guided by",
          NINO_INPUTS(NINO_PORT(clip, CLIP), NINO_PORT(text, STRING)),
          NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)), NINO_RUN(was_cond_run));

// ---- joining ---------------------------------------------------------------------------------

typedef struct was_join_params {
    const char *delimiter;
    int64_t clean_whitespace;
} was_join_params;

// Texts that are empty are left out; "\n" as it is written is a line break.
static nino_status was_join_run(nino_run *r, nino_error *err)
{
    const was_join_params *p = r->params;
    nino_buf between = { 0 }, b = { 0 }, one = { 0 };
    int n = 0;
    add_replaced(&between, p->delimiter, "\\n", "\n");
    for (int i = 0; r->def->inputs[i].key; i++) {
        const char *s = text_in(r, i);
        nino_buf_clear(&one);
        nino_buf_adds(&one, "");
        if (s && p->clean_whitespace == 0)
            add_trimmed(&one, s, strlen(s));
        else if (s)
            nino_buf_adds(&one, s);
        if (!one.len)
            continue;
        if (n++)
            nino_buf_add(&b, between.data, between.len);
        nino_buf_add(&b, one.data, one.len);
    }
    b.failed |= between.failed || one.failed;
    nino_buf_release(&between);
    nino_buf_release(&one);
    return nino_ext_out_buf(r, 0, &b, err);
}

NINO_NODE(was_join, "Text Concatenate", "Text Concatenate", "WAS Suite/Text", "Joins texts",
          NINO_INPUTS(NINO_PORT(text_a, STRING, .optional = true),
                      NINO_PORT(text_b, STRING, .optional = true),
                      NINO_PORT(text_c, STRING, .optional = true),
                      NINO_PORT(text_d, STRING, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(STRING, STRING)),
          NINO_PARAMS(was_join_params,
                      NINO_P_STRING(was_join_params, delimiter, ", ", .label = "Between",
                                    .help = "Goes between the texts"),
                      NINO_P_ENUM(was_join_params, clean_whitespace, NINO_WORDS("true", "false"), 0,
                                  .label = "Trim",
                                  .help = "Takes away white space around each text")),
          NINO_RUN(was_join_run));

typedef struct kj_join_params {
    const char *delimiter;
} kj_join_params;

static nino_status kj_join_run(nino_run *r, nino_error *err)
{
    nino_buf b = { 0 };
    nino_buf_adds(&b, text_in(r, 0) ? text_in(r, 0) : "");
    nino_buf_adds(&b, ((const kj_join_params *) r->params)->delimiter);
    nino_buf_adds(&b, text_in(r, 1) ? text_in(r, 1) : "");
    return nino_ext_out_buf(r, 0, &b, err);
}

NINO_NODE(kj_join, "JoinStrings", "Join Strings", "KJNodes/text", "One text after the other",
          NINO_INPUTS(NINO_PORT(string1, STRING, .optional = true),
                      NINO_PORT(string2, STRING, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(STRING, STRING)),
          NINO_PARAMS(kj_join_params,
                      NINO_P_STRING(kj_join_params, delimiter, " ", .label = "Between",
                                    .help = "Goes between the texts")),
          NINO_RUN(kj_join_run));

typedef struct separator_params {
    const char *separator;
} separator_params;

static nino_status separated_run(nino_run *r, nino_error *err)
{
    nino_buf b = { 0 };
    nino_buf_adds(&b, text_in(r, 0) ? text_in(r, 0) : "");
    nino_buf_adds(&b, ((const separator_params *) r->params)->separator);
    nino_buf_adds(&b, text_in(r, 1) ? text_in(r, 1) : "");
    const nino_status st = nino_ext_out_buf(r, 0, &b, err);
    return st || !r->def->outputs[1].key ? st : nino_ext_out_copy(r, 1, "", err);
}

NINO_NODE(easy_join, "easy promptConcat", "easy promptConcat", "EasyUse/Prompt",
          "One text after the other",
          NINO_INPUTS(NINO_PORT(prompt1, STRING, .optional = true),
                      NINO_PORT(prompt2, STRING, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(prompt, STRING)),
          NINO_PARAMS(separator_params,
                      NINO_P_STRING(separator_params, separator, "", .label = "Between",
                                    .help = "Goes between the texts", .optional = true)),
          NINO_RUN(separated_run));

NINO_NODE(cr_join, "CR Text Concatenate", "CR Text Concatenate", "Comfyroll Studio/Utils/Text",
          "One text after the other",
          NINO_INPUTS(NINO_PORT(text1, STRING, .optional = true),
                      NINO_PORT(text2, STRING, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(STRING, ANY), NINO_PORT(show_help, STRING)),
          NINO_PARAMS(separator_params,
                      NINO_P_STRING(separator_params, separator, "", .label = "Between",
                                    .help = "Goes between the texts", .optional = true)),
          NINO_RUN(separated_run));

typedef struct join_multi_params {
    int64_t inputcount;
    const char *delimiter;
    bool return_list;
} join_multi_params;

static nino_status join_multi_run(nino_run *r, nino_error *err)
{
    const join_multi_params *p = r->params;
    nino_buf b = { 0 };
    if (p->return_list && !(r->out[0] = nino_value_create_list(NINO_PORT_STRING)))
        return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    for (int i = 0; i < p->inputcount && r->def->inputs[i].key; i++) {
        const char *s = text_in(r, i);
        if (i && (!s || !*s)) // left out
            continue;
        if (p->return_list && s) {
            if (!nino_value_append(r->out[0], nino_value_ref(r->in[i])))
                return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
            continue;
        }
        nino_buf_adds(&b, i ? p->delimiter : "");
        nino_buf_adds(&b, s ? s : "");
    }
    if (p->return_list) {
        nino_buf_release(&b);
        return NINO_OK;
    }
    return nino_ext_out_buf(r, 0, &b, err);
}

NINO_NODE(kj_join_multi, "JoinStringMulti", "Join String Multi", "KJNodes/text",
          "Joins texts, or gives them one by one",
          NINO_INPUTS(NINO_FIRST("string_1", STRING), NINO_MORE("string_2", STRING),
                      NINO_MORE("string_3", STRING), NINO_MORE("string_4", STRING),
                      NINO_MORE("string_5", STRING), NINO_MORE("string_6", STRING),
                      NINO_MORE("string_7", STRING), NINO_MORE("string_8", STRING),
                      NINO_MORE("string_9", STRING), NINO_MORE_0_9("string_1", STRING),
                      NINO_MORE_0_9("string_2", STRING)),
          NINO_OUTPUTS(NINO_PORT(string, STRING)),
          NINO_PARAMS(join_multi_params,
                      NINO_P_INT(join_multi_params, inputcount, 2, 2, 1000, 1, .label = "Inputs",
                                 .help = "How many inputs are looked at"),
                      NINO_P_STRING(join_multi_params, delimiter, " ", .label = "Between",
                                    .help = "Goes between the texts"),
                      NINO_P_BOOL(join_multi_params, return_list, false, .label = "List",
                                  .help = "Gives the texts one by one")),
          NINO_RUN(join_multi_run));

// ---- replacing, searching --------------------------------------------------------------------

typedef struct was_replace_params {
    const char *find, *replace;
} was_replace_params;

static nino_status was_replaced(nino_run *r, const char *find, const char *by, nino_error *err)
{
    nino_buf b = { 0 };
    const int64_t n = add_replaced(&b, text_in(r, 0), find, by);
    nino_status st = nino_ext_out_buf(r, 0, &b, err);
    if (!st)
        st = nino_out_int(r, 1, n, err);
    if (!st)
        st = nino_out_float(r, 2, (double) n, err);
    return st ? st : nino_out_int(r, 3, n, err);
}

static nino_status was_replace_run(nino_run *r, nino_error *err)
{
    const was_replace_params *p = r->params;
    return was_replaced(r, p->find, p->replace, err);
}

static nino_status was_replace_input_run(nino_run *r, nino_error *err)
{
    return was_replaced(r, text_in(r, 1), text_in(r, 2), err);
}

NINO_NODE(was_replace, "Text Find and Replace", "Text Find and Replace", "WAS Suite/Text/Search",
          "Replaces every occurrence of a text, and counts", NINO_INPUTS(NINO_PORT(text, STRING)),
          NINO_OUTPUTS(NINO_PORT(result_text, STRING), NINO_PORT(replacement_count_number, ANY),
                       NINO_PORT(replacement_count_float, FLOAT),
                       NINO_PORT(replacement_count_int, INT)),
          NINO_PARAMS(was_replace_params,
                      NINO_P_STRING(was_replace_params, find, "", .label = "Find",
                                    .help = "What is looked for"),
                      NINO_P_STRING(was_replace_params, replace, "", .label = "Replace by",
                                    .help = "What takes its place")),
          NINO_RUN(was_replace_run));

NINO_NODE(was_replace_input, "Text Find and Replace Input", "Text Find and Replace Input",
          "WAS Suite/Text/Search", "Replaces every occurrence of a text, and counts",
          NINO_INPUTS(NINO_PORT(text, STRING), NINO_PORT(find, STRING), NINO_PORT(replace, STRING)),
          NINO_OUTPUTS(NINO_PORT(result_text, STRING), NINO_PORT(replacement_count_number, ANY),
                       NINO_PORT(replacement_count_float, FLOAT),
                       NINO_PORT(replacement_count_int, INT)),
          NINO_RUN(was_replace_input_run));

typedef struct three_params {
    const char *find1, *replace1, *find2, *replace2, *find3, *replace3;
} three_params;

// One after the other; those without a text to find are left out.
static nino_status three_run(nino_run *r, nino_error *err)
{
    const three_params *p = r->params;
    const char *const all[][2] = { { p->find1, p->replace1 },
                                   { p->find2, p->replace2 },
                                   { p->find3, p->replace3 } };
    nino_buf b = { 0 };
    nino_buf_adds(&b, text_in(r, 0));
    for (int i = 0; i < 3; i++) {
        nino_buf next = { 0 };
        add_replaced(&next, b.data ? b.data : "", all[i][0], all[i][1]);
        next.failed |= b.failed;
        nino_buf_release(&b);
        b = next;
    }
    const nino_status st = nino_ext_out_buf(r, 0, &b, err);
    return st || !r->def->outputs[1].key ? st : nino_ext_out_copy(r, 1, "", err);
}

NINO_NODE(easy_replace, "easy promptReplace", "easy promptReplace", "EasyUse/Prompt",
          "Replaces up to three texts", NINO_INPUTS(NINO_PORT(prompt, STRING)),
          NINO_OUTPUTS(NINO_PORT(prompt, STRING)),
          NINO_PARAMS(three_params,
                      NINO_P_STRING(three_params, find1, "", .label = "Find 1",
                                    .help = "What is looked for", .optional = true),
                      NINO_P_STRING(three_params, replace1, "", .label = "Replace by 1",
                                    .help = "What takes its place", .optional = true),
                      NINO_P_STRING(three_params, find2, "", .label = "Find 2",
                                    .help = "What is looked for", .optional = true),
                      NINO_P_STRING(three_params, replace2, "", .label = "Replace by 2",
                                    .help = "What takes its place", .optional = true),
                      NINO_P_STRING(three_params, find3, "", .label = "Find 3",
                                    .help = "What is looked for", .optional = true),
                      NINO_P_STRING(three_params, replace3, "", .label = "Replace by 3",
                                    .help = "What takes its place", .optional = true)),
          NINO_RUN(three_run));

NINO_NODE(cr_replace, "CR Text Replace", "CR Text Replace", "Comfyroll Studio/Utils/Text",
          "Replaces up to three texts", NINO_INPUTS(NINO_PORT(text, STRING)),
          NINO_OUTPUTS(NINO_PORT(STRING, ANY), NINO_PORT(show_help, STRING)),
          NINO_PARAMS(three_params,
                      NINO_P_STRING(three_params, find1, "", .label = "Find 1",
                                    .help = "What is looked for", .optional = true),
                      NINO_P_STRING(three_params, replace1, "", .label = "Replace by 1",
                                    .help = "What takes its place", .optional = true),
                      NINO_P_STRING(three_params, find2, "", .label = "Find 2",
                                    .help = "What is looked for", .optional = true),
                      NINO_P_STRING(three_params, replace2, "", .label = "Replace by 2",
                                    .help = "What takes its place", .optional = true),
                      NINO_P_STRING(three_params, find3, "", .label = "Find 3",
                                    .help = "What is looked for", .optional = true),
                      NINO_P_STRING(three_params, replace3, "", .label = "Replace by 3",
                                    .help = "What takes its place", .optional = true)),
          NINO_RUN(three_run));

typedef struct contains_params {
    const char *text;
    const char *sub_text;
    bool case_insensitive;
} contains_params;

static nino_status contains_run(nino_run *r, nino_error *err)
{
    const contains_params *p = r->params;
    nino_buf a = { 0 }, b = { 0 };
    nino_buf_adds(&a, "");
    nino_buf_adds(&b, "");
    if (p->case_insensitive) {
        nino_text_lower(&a, p->text, strlen(p->text));
        nino_text_lower(&b, p->sub_text, strlen(p->sub_text));
    } else {
        nino_buf_adds(&a, p->text);
        nino_buf_adds(&b, p->sub_text);
    }
    const bool failed = a.failed || b.failed, yes = !failed && strstr(a.data, b.data);
    nino_buf_release(&a);
    nino_buf_release(&b);
    return failed ? nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory")
                  : nino_out_bool(r, 0, yes, err);
}

NINO_NODE(
    was_contains, "Text Contains", "Text Contains", "WAS Suite/Logic",
    "Whether a text is part of another", NINO_OUTPUTS(NINO_PORT(BOOLEAN, BOOLEAN)),
    NINO_PARAMS(contains_params,
                NINO_P_STRING(contains_params, text, "", .label = "Text", .help = "The text"),
                NINO_P_STRING(contains_params, sub_text, "", .label = "Find",
                              .help = "What is looked for"),
                NINO_P_BOOL(contains_params, case_insensitive, true, .label = "Case does not count",
                            .help = "Capitals and small letters are the same", .optional = true)),
    NINO_RUN(contains_run));

// ---- lines one by one ------------------------------------------------------------------------

typedef struct lines {
    nino_run *r;
    int64_t start, most, seen, taken;
    const char *before, *after;
    nino_error *err;
} lines;

static bool append(nino_run *r, int i, nino_buf *b)
{
    nino_value *v = b->failed ? NULL : nino_value_create(NINO_PORT_STRING);
    if (v && !b->data)
        nino_buf_adds(b, "");
    if (v)
        v->u.string = b->data;
    if (!v)
        nino_buf_release(b);
    *b = (nino_buf){ 0 };
    return v && nino_value_append(r->out[i], v);
}

static int64_t count_lines(const char *text, bool drop_empty)
{
    int64_t n_lines = 0;
    for (const char *s = text;; s++) {
        const size_t n = strcspn(s, "\n");
        nino_buf trimmed = { 0 };
        add_trimmed(&trimmed, s, n && s[n - 1] == '\r' ? n - 1 : n);
        n_lines += !drop_empty || trimmed.len;
        nino_buf_release(&trimmed);
        s += n;
        if (!*s)
            return n_lines;
    }
}

// Lines from `start` on as lists: with what stands around them, and alone.
static nino_status give_lines(lines *l, const char *text, bool drop_empty)
{
    nino_run *r = l->r;
    for (int i = 0; i < 2; i++)
        if (!(r->out[i] = nino_value_create_list(NINO_PORT_STRING)))
            return nino_fail(l->err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    const int64_t n_lines = count_lines(text, drop_empty);
    if (l->start >= n_lines && n_lines)
        l->start = n_lines - 1; // beyond the last: that one
    for (const char *s = text;; s++) {
        const size_t n = strcspn(s, "\n"), used = n && s[n - 1] == '\r' ? n - 1 : n;
        nino_buf trimmed = { 0 }, b = { 0 }, alone = { 0 };
        add_trimmed(&trimmed, s, used);
        const bool is_kept = !drop_empty || trimmed.len;
        nino_buf_release(&trimmed);
        if (is_kept && l->seen++ >= l->start && l->taken < l->most) {
            nino_buf_adds(&b, l->before);
            nino_buf_add(&b, s, used);
            nino_buf_adds(&b, l->after);
            nino_buf_add(&alone, s, used);
            l->taken++;
            if (!append(r, 0, &b) || !append(r, 1, &alone))
                return nino_fail(l->err, NINO_ERR_NOMEM, r->def->key, "out of memory");
        }
        s += n;
        if (!*s)
            break;
    }
    return l->taken
               ? NINO_OK
               : nino_fail_kind(l->err, NINO_ERR_RANGE, "range", "start_index", "there is no line");
}

typedef struct easy_line_params {
    const char *prompt;
    int64_t start_index;
    int64_t max_rows;
    bool remove_empty_lines;
} easy_line_params;

typedef struct cr_list_params {
    const char *prepend_text;
    const char *multiline_text;
    const char *append_text;
    int64_t start_index;
    int64_t max_rows;
} cr_list_params;

static nino_status easy_line_run(nino_run *r, nino_error *err)
{
    const easy_line_params *p = r->params;
    lines l = { r, p->start_index, p->max_rows, 0, 0, "", "", err };
    return give_lines(&l, p->prompt, p->remove_empty_lines);
}

static nino_status cr_list_run(nino_run *r, nino_error *err)
{
    const cr_list_params *p = r->params;
    lines l = { r, p->start_index, p->max_rows, 0, 0, p->prepend_text, p->append_text, err };
    const nino_status st = give_lines(&l, p->multiline_text, false);
    return st ? st : nino_ext_out_copy(r, 2, "", err);
}

NINO_NODE(easy_lines, "easy promptLine", "easy promptLine", "EasyUse/Prompt",
          "The lines of a text one by one",
          NINO_OUTPUTS(NINO_PORT(STRING, STRING), NINO_PORT(COMBO, ANY)),
          NINO_PARAMS(easy_line_params,
                      NINO_P_STRING(easy_line_params, prompt, "text", .label = "Prompt",
                                    .help = "The text", .multiline = true),
                      NINO_P_INT(easy_line_params, start_index, 0, 0, 9999, 1, .label = "First",
                                 .help = "Number of the first, from 0"),
                      NINO_P_INT(easy_line_params, max_rows, 1000, 1, 9999, 1, .label = "At most",
                                 .help = "How many lines are taken"),
                      NINO_P_BOOL(easy_line_params, remove_empty_lines, true,
                                  .label = "No empty lines",
                                  .help = "Leaves out lines without a letter")),
          NINO_RUN(easy_line_run));

NINO_NODE(cr_lines, "CR Prompt List", "CR Prompt List", "Comfyroll Studio/Essential/List",
          "The lines of a text one by one, with text around them",
          NINO_OUTPUTS(NINO_PORT(prompt, STRING), NINO_PORT(body_text, STRING),
                       NINO_PORT(show_help, STRING)),
          NINO_PARAMS(cr_list_params,
                      NINO_P_STRING(cr_list_params, prepend_text, "", .label = "Before",
                                    .help = "Stands before every line"),
                      NINO_P_STRING(cr_list_params, multiline_text, "body_text", .label = "Lines",
                                    .help = "One text a line", .multiline = true),
                      NINO_P_STRING(cr_list_params, append_text, "", .label = "After",
                                    .help = "Stands behind every line"),
                      NINO_P_INT(cr_list_params, start_index, 0, 0, 9999, 1, .label = "First",
                                 .help = "Number of the first, from 0"),
                      NINO_P_INT(cr_list_params, max_rows, 1000, 1, 9999, 1, .label = "At most",
                                 .help = "How many lines are taken")),
          NINO_RUN(cr_list_run));
