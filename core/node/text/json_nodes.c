// Texts with values in them, JSON, text files. Behaviour of ComfyUI's nodes_string.py and
// nodes_text.py; how values become text is Python's.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/node/pytext.h"
#include "core/node/util.h"

// Takes b's text as output 0.
static nino_status json_give(nino_run *r, nino_status st, nino_buf *b, nino_error *err)
{
    if (!b->failed && !b->data)
        nino_buf_adds(b, "");
    if (!st && !b->failed)
        return nino_node_out_text(r, 0, b->data, err);
    nino_buf_release(b);
    return st ? st : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
}

// ---- StringFormat ----------------------------------------------------------------------------

typedef struct string_format_params {
    const char *f_string;
} string_format_params;

static nino_status string_format_run(nino_run *r, nino_error *err)
{
    nino_py_arg args[26];
    nino_buf b = { 0 };
    int n = 0;
    for (; r->def->inputs[n].key; n++)
        args[n] = (nino_py_arg){ strrchr(r->def->inputs[n].key, '.') + 1, r->in[n] };
    const nino_status st =
        nino_py_format(&b, ((const string_format_params *) r->params)->f_string, args, n, err);
    return json_give(r, st, &b, err);
}

#define FIELD_HELP "A value; its name in the text is the letter"
NINO_NODE(string_format, "StringFormat", "Format Text", "text",
          "A text with values in it, as Python formats them",
          NINO_INPUTS(NINO_MORE("values.a", ANY, .help = FIELD_HELP),
                      NINO_MORE_B_Z("values.", ANY, .help = FIELD_HELP)),
          NINO_OUTPUTS(NINO_PORT(STRING, STRING)),
          NINO_PARAMS(string_format_params,
                      NINO_P_STRING(string_format_params, f_string, "{a}", .label = "Text",
                                    .multiline = true,
                                    .help = "{a} is a value, {a:.2f} one with two digits, {{ a "
                                            "brace")),
          NINO_RUN(string_format_run));

// ---- JsonExtractString -----------------------------------------------------------------------

typedef struct json_extract_params {
    const char *json_string, *key;
} json_extract_params;

// As json.loads() reads it: the last one of equal keys counts.
static nino_json_doc *json_read(const char *text)
{
    const nino_json_limits limits = { .allow_dup_keys = true };
    nino_json_doc *doc = NULL;
    nino_error e = { 0 };
    nino_json_parse(text, strlen(text), "json", &limits, &doc, &e);
    return doc;
}

static nino_status json_extract_run(nino_run *r, nino_error *err)
{
    const json_extract_params *p = r->params;
    nino_json_doc *doc = json_read(p->json_string);
    const nino_json *root = doc ? doc->root : NULL, *found = NULL;
    nino_buf b = { 0 };
    for (const nino_json *v = root && root->type == NINO_JSON_OBJECT ? root->child : NULL; v;
         v = v->next)
        if (!strcmp(v->key, p->key))
            found = v;
    if (found && found->type != NINO_JSON_NULL)
        nino_py_str_json(&b, found);
    nino_json_doc_destroy(&doc);
    return json_give(r, NINO_OK, &b, err);
}

NINO_NODE(json_extract, "JsonExtractString", "Extract Text from JSON", "text",
          "The value of a key in JSON text; nothing where there is none",
          NINO_OUTPUTS(NINO_PORT(STRING, STRING)),
          NINO_PARAMS(json_extract_params,
                      NINO_P_STRING(json_extract_params, json_string, "", .label = "JSON",
                                    .multiline = true, .help = "An object"),
                      NINO_P_STRING(json_extract_params, key, "", .label = "Key",
                                    .help = "Which of its members is taken")),
          NINO_RUN(json_extract_run));

// ---- ConvertDictionaryToString, ConvertArrayToString -----------------------------------------

typedef struct dump_params {
    int64_t indent;
} dump_params;

static nino_status dump_run(nino_run *r, nino_error *err)
{
    nino_json_doc *doc = NULL;
    nino_buf b = { 0 };
    const char *text = r->in[0]->u.string;
    const nino_status st =
        nino_json_parse(text, strlen(text), r->def->inputs[0].key, NULL, &doc, err);
    if (!st)
        nino_py_dumps(&b, doc->root, (int) ((const dump_params *) r->params)->indent, false);
    nino_json_doc_destroy(&doc);
    return json_give(r, st, &b, err);
}

#define DUMP_ROWS                                                                                  \
    NINO_PARAMS(dump_params, NINO_P_INT(dump_params, indent, 2, 0, 8, 1, .label = "Indent",        \
                                        .help = "Blanks a level; 0 writes one line"))
NINO_NODE(dictionary_text, "ConvertDictionaryToString", "Convert Dictionary to String", "text",
          "An object as JSON text", NINO_INPUTS(NINO_PORT(dictionary, DICT)),
          NINO_OUTPUTS(NINO_PORT(STRING, STRING)), DUMP_ROWS, NINO_RUN(dump_run));
NINO_NODE(array_text, "ConvertArrayToString", "Convert Array to String", "text",
          "A list as JSON text", NINO_INPUTS(NINO_PORT(array, ARRAY)),
          NINO_OUTPUTS(NINO_PORT(STRING, STRING)), DUMP_ROWS, NINO_RUN(dump_run));

// ---- SaveText --------------------------------------------------------------------------------

static const char *const text_formats[] = { "txt", "csv", "md", "json", NULL };
enum { FORMAT_JSON = 3 };

typedef struct save_text_params {
    const char *filename_prefix;
    int64_t format;
} save_text_params;

static nino_status save_text_write(nino_run *r, const char *text, const char *dir, nino_error *err)
{
    const save_text_params *p = r->params;
    const time_t now = time(NULL);
    struct tm tm;
    char ext[16], *name = NULL, *path = NULL;
    nino_buf pretty = { 0 };
    localtime_r(&now, &tm);
    const nino_prefix_vars vars = { 1, 1, &tm, r->prompt_json };
    nino_json_doc *doc = p->format == FORMAT_JSON ? json_read(text) : NULL;
    if (doc)
        nino_py_dumps(&pretty, doc->root, 2, false);
    nino_json_doc_destroy(&doc);
    const char *data = pretty.data ? pretty.data : text;
    snprintf(ext, sizeof(ext), ".%s", text_formats[p->format]);
    nino_status st = pretty.failed ? nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory")
                                   : nino_prefix_expand(p->filename_prefix, &vars, &name, err);
    int64_t counter = st ? 0 : nino_prefix_counter(dir, name);
    if (!st)
        st = nino_prefix_save(dir, name, ext, &counter, data, strlen(data), &path, err);
    if (!st)
        nino_run_output(r, path);
    free(path);
    free(name);
    nino_buf_release(&pretty);
    return st;
}

static nino_status save_text_run(nino_run *r, nino_error *err)
{
    const char *dir = nino_node_folder(r, false);
    r->out[0] = nino_value_ref(r->in[0]);
    if (!dir)
        return NINO_OK;
    const nino_status st = nino_file_mkdirs(dir, false, err);
    return st ? st : save_text_write(r, r->in[0]->u.string, dir, err);
}

static nino_status save_text_check(const nino_ctx *ctx, const void *params, nino_error *err)
{
    return nino_prefix_check(ctx ? nino_services_of(ctx)->output_dir(ctx) : NULL,
                             ((const save_text_params *) params)->filename_prefix, err);
}

NINO_NODE(save_text, "SaveText", "Save Text", "text", "Writes a text to a file",
          NINO_INPUTS(NINO_PORT(text, STRING, .help = "What is written")),
          NINO_OUTPUTS(NINO_PORT(text, STRING)),
          NINO_PARAMS(save_text_params,
                      NINO_P_STRING(save_text_params, filename_prefix, "ComfyUI",
                                    .label = "File name", .help = "Start of the name"),
                      NINO_P_ENUM(save_text_params, format, text_formats, 0, .label = "Format",
                                  .help = "End of the name; json is laid out if it is JSON")),
          .is_output = true, NINO_RUN(save_text_run, .check = save_text_check));
