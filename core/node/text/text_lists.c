// Texts and images one by one or as lists: prefixes, cuts, merged lists. Behaviour of ComfyUI's
// nodes_dataset.py.
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/util.h"
#include "core/text/unicode.h"

typedef struct lists_params {
    const char *texts, *prefix, *suffix;
    int64_t max_length;
} lists_params;

static nino_status lists_give(nino_run *r, nino_buf *b, nino_error *err)
{
    if (b->failed) {
        nino_buf_release(b);
        return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    }
    nino_buf_adds(b, "");
    return nino_node_out_text(r, 0, b->data, err);
}

static nino_status prefix_run(nino_run *r, nino_error *err)
{
    const lists_params *p = r->params;
    nino_buf b = { 0 };
    nino_buf_addf(&b, "%s%s", p->prefix, p->texts);
    return lists_give(r, &b, err);
}

static nino_status suffix_run(nino_run *r, nino_error *err)
{
    const lists_params *p = r->params;
    nino_buf b = { 0 };
    nino_buf_addf(&b, "%s%s", p->texts, p->suffix);
    return lists_give(r, &b, err);
}

static nino_status truncate_run(nino_run *r, nino_error *err)
{
    const lists_params *p = r->params;
    nino_buf b = { 0 };
    int64_t n = 0;
    size_t at = 0;
    for (; p->texts[at]; at++)
        if ((p->texts[at] & 0xc0) != 0x80 && n++ == p->max_length)
            break;
    nino_buf_add(&b, p->texts, at);
    return lists_give(r, &b, err);
}

#define TEXTS                                                                                      \
    NINO_P_STRING(lists_params, texts, "", .label = "Text", .help = "The text, or a list of them")
NINO_NODE(text_prefix, "AddTextPrefix", "Add Text Prefix", "text", "Puts a text before a text",
          NINO_OUTPUTS(NINO_PORT(texts, STRING)),
          NINO_PARAMS(lists_params, TEXTS,
                      NINO_P_STRING(lists_params, prefix, "", .label = "Prefix",
                                    .help = "What comes first")),
          NINO_RUN(prefix_run));
NINO_NODE(text_suffix, "AddTextSuffix", "Add Text Suffix", "text", "Puts a text behind a text",
          NINO_OUTPUTS(NINO_PORT(texts, STRING)),
          NINO_PARAMS(lists_params, TEXTS,
                      NINO_P_STRING(lists_params, suffix, "", .label = "Suffix",
                                    .help = "What comes last")),
          NINO_RUN(suffix_run));
NINO_NODE(text_truncate, "TruncateText", "Truncate Text", "text", "Keeps the start of a text",
          NINO_OUTPUTS(NINO_PORT(texts, STRING)),
          NINO_PARAMS(lists_params, TEXTS,
                      NINO_P_INT(lists_params, max_length, 77, 1, 10000, 1, .label = "Characters",
                                 .help = "How many are kept")),
          NINO_RUN(truncate_run));

// ---- TextToLowercase, TextToUppercase, StripWhitespace ----------------------------------------

static nino_status lower_run(nino_run *r, nino_error *err)
{
    const char *s = ((const lists_params *) r->params)->texts;
    nino_buf b = { 0 };
    nino_text_lower(&b, s, strlen(s));
    return lists_give(r, &b, err);
}

static nino_status upper_run(nino_run *r, nino_error *err)
{
    const char *s = ((const lists_params *) r->params)->texts;
    nino_buf b = { 0 };
    nino_text_upper(&b, s, strlen(s));
    return lists_give(r, &b, err);
}

// What white space is at s, in bytes; 0: none.
static size_t lists_space(const char *s, size_t len)
{
    uint32_t c = 0;
    const int n = nino_text_next(s, len, &c);
    return n > 0 && nino_text_is_space(c) ? (size_t) n : 0;
}

static nino_status strip_run(nino_run *r, nino_error *err)
{
    const char *s = ((const lists_params *) r->params)->texts;
    size_t len = strlen(s), end = 0;
    nino_buf b = { 0 };
    for (size_t n; len && (n = lists_space(s, len)); s += n)
        len -= n;
    for (size_t i = 0; i < len;) {
        uint32_t c = 0;
        const size_t is_space = lists_space(s + i, len - i);
        i += is_space ? is_space : (size_t) nino_text_next(s + i, len - i, &c);
        end = is_space ? end : i;
    }
    nino_buf_add(&b, s, end);
    return lists_give(r, &b, err);
}

#define ONE_TEXT NINO_OUTPUTS(NINO_PORT(texts, STRING)), NINO_PARAMS(lists_params, TEXTS)
NINO_NODE(text_lower, "TextToLowercase", "Convert Text to Lowercase", "text", "Small letters only",
          ONE_TEXT, NINO_RUN(lower_run));
NINO_NODE(text_upper, "TextToUppercase", "Convert Text to Uppercase", "text", "Capitals only",
          ONE_TEXT, NINO_RUN(upper_run));
NINO_NODE(text_strip, "StripWhitespace", "Strip Whitespace", "text",
          "A text without white space around it", ONE_TEXT, NINO_RUN(strip_run));

// ---- MergeImageLists -------------------------------------------------------------------------

static nino_status merge_lists_run(nino_run *r, nino_error *err)
{
    r->out[0] = nino_value_create_list(NINO_PORT_IMAGE);
    if (r->out[0] && nino_value_append(r->out[0], nino_value_ref(r->in[0])))
        return NINO_OK;
    return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
}

NINO_NODE(merge_image_lists, "MergeImageLists", "Merge Image Lists", "image/batch",
          "One list of images", NINO_INPUTS(NINO_PORT(images, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(images, IMAGE)), NINO_RUN(merge_lists_run, .takes_lists = true));
