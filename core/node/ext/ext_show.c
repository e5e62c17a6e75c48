// Nodes that show a value as text, or make a text of it.
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/num.h"
#include "core/node/ext/ext.h"

// ---- showing ---------------------------------------------------------------------------------

// One line for each item of a list.
static nino_status show(nino_run *r, const char *before, nino_error *err)
{
    nino_buf b = { 0 };
    nino_buf_adds(&b, before);
    for (int i = 0; i < nino_value_count(r->in[0]); i++) {
        nino_buf_adds(&b, i ? "\n" : "");
        nino_ext_text(&b, nino_value_at(r->in[0], i));
    }
    const bool failed = b.failed;
    if (!failed && !r->is_plan && r->in[0])
        nino_run_text(r, r->def->inputs[0].key, b.data ? b.data : "");
    nino_buf_release(&b);
    return failed ? nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory") : NINO_OK;
}

static nino_status show_run(nino_run *r, nino_error *err) { return show(r, "", err); }

static nino_status show_pass_run(nino_run *r, nino_error *err)
{
    nino_ext_give(r, 0, r->in[0]);
    return show(r, "", err);
}

#define SHOWS show_run, .takes_lists = true
#define SHOWS_AND_PASSES show_pass_run, .takes_lists = true

NINO_NODE(show_text, "ShowText|pysssss", "Show Text", "utils", "Shows a text and hands it on",
          NINO_INPUTS(NINO_PORT(text, STRING)), NINO_OUTPUTS(NINO_PORT(STRING, STRING)),
          .is_output = true, NINO_RUN(SHOWS_AND_PASSES));

NINO_NODE(show_any_rgthree, "Display Any (rgthree)", "Display Any (rgthree)", "rgthree",
          "Shows a value as text", NINO_INPUTS(NINO_PORT(source, ANY)), NINO_NO_OUTPUTS,
          .is_output = true, NINO_RUN(SHOWS));

NINO_NODE(show_int_rgthree, "Display Int (rgthree)", "Display Int (rgthree)", "rgthree",
          "Shows a whole number", NINO_INPUTS(NINO_PORT(input, INT)), NINO_NO_OUTPUTS,
          .is_output = true, NINO_RUN(SHOWS));

NINO_NODE(show_any_easy, "easy showAnything", "easy showAnything", "EasyUse/Logic",
          "Shows a value as text and hands it on",
          NINO_INPUTS(NINO_PORT(anything, ANY, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(output, ANY)), .is_output = true, NINO_RUN(SHOWS_AND_PASSES));

NINO_NODE(show_shape, "DebugTensorShape+", "Debug Tensor Shape", "essentials/utilities",
          "Shows the size of a batch", NINO_INPUTS(NINO_PORT(tensor, ANY)), NINO_NO_OUTPUTS,
          .is_output = true, NINO_RUN(SHOWS));

typedef struct show_prefix {
    const char *prefix;
} show_prefix;

static nino_status show_prefix_run(nino_run *r, nino_error *err)
{
    return show(r, ((const show_prefix *) r->params)->prefix, err);
}

NINO_NODE(show_debug, "ConsoleDebug+", "Console Debug", "essentials/utilities",
          "Shows a value as text", NINO_INPUTS(NINO_PORT(value, ANY)), NINO_NO_OUTPUTS,
          NINO_PARAMS(show_prefix,
                      NINO_P_STRING(show_prefix, prefix, "Value:", .label = "Before",
                                    .help = "Stands before the value", .optional = true)),
          .is_output = true, NINO_RUN(show_prefix_run, .takes_lists = true));

typedef struct show_label {
    const char *label;
} show_label;

static nino_status show_label_run(nino_run *r, nino_error *err)
{
    nino_buf b = { 0 };
    nino_buf_addf(&b, "%s: ", ((const show_label *) r->params)->label);
    const nino_status st = show(r, b.data ? b.data : "", err);
    nino_buf_release(&b);
    nino_ext_give(r, 0, r->in[0]);
    return st;
}

NINO_NODE(show_console, "Text to Console", "Text to Console", "WAS Suite/Debug",
          "Shows a text and hands it on", NINO_INPUTS(NINO_PORT(text, STRING)),
          NINO_OUTPUTS(NINO_PORT(STRING, STRING)),
          NINO_PARAMS(show_label, NINO_P_STRING(show_label, label, "Text Output", .label = "Label",
                                                .help = "Stands before the text")),
          .is_output = true, NINO_RUN(show_label_run));

typedef struct show_mode {
    int64_t mode;
} show_mode;

static nino_status display_any_run(nino_run *r, nino_error *err)
{
    nino_buf b = { 0 };
    const nino_array *a = nino_ext_array(r->in[0]);
    char dims[96];
    if (((const show_mode *) r->params)->mode && a) {
        nino_shape_print(dims, sizeof(dims), &a->shape);
        nino_buf_adds(&b, dims);
    } else {
        nino_ext_text(&b, r->in[0]);
    }
    if (!b.failed && !r->is_plan)
        nino_run_text(r, "input", b.data ? b.data : "");
    return nino_ext_out_buf(r, 0, &b, err);
}

NINO_NODE(show_display, "DisplayAny", "Display Any", "essentials/utilities",
          "Shows a value, or the size of a batch", NINO_INPUTS(NINO_PORT(input, ANY)),
          NINO_OUTPUTS(NINO_PORT(STRING, STRING)),
          NINO_PARAMS(show_mode,
                      NINO_P_ENUM(show_mode, mode, NINO_WORDS("raw value", "tensor shape"), 0,
                                  .label = "What", .help = "The value, or the size of a batch")),
          .is_output = true, NINO_RUN(display_any_run));

// ---- text of a value -------------------------------------------------------------------------

static nino_status text_of_run(nino_run *r, nino_error *err)
{
    nino_buf b = { 0 };
    nino_ext_text(&b, r->in[0]);
    return nino_ext_out_buf(r, 0, &b, err);
}

NINO_NODE(text_of_any, "Any to String (Image Saver)", "Any to String (Image Saver)",
          "ImageSaver/utils", "A value as text", NINO_INPUTS(NINO_PORT(value, ANY)),
          NINO_OUTPUTS(NINO_PORT(string, STRING)), NINO_RUN(text_of_run));

NINO_NODE(was_number_text, "Number to Text", "Number to Text", "WAS Suite/Number/Operations",
          "A number as text", NINO_INPUTS(NINO_PORT(number, ANY)),
          NINO_OUTPUTS(NINO_PORT(STRING, STRING)), NINO_RUN(text_of_run));

typedef struct something_params {
    const char *prefix;
    const char *suffix;
} something_params;

static nino_status something_run(nino_run *r, nino_error *err)
{
    const something_params *p = r->params;
    nino_buf b = { 0 };
    nino_buf_adds(&b, p->prefix);
    nino_ext_text(&b, r->in[0]);
    nino_buf_adds(&b, p->suffix);
    return nino_ext_out_buf(r, 0, &b, err);
}

NINO_NODE(kj_something, "SomethingToString", "Something To String", "KJNodes/text",
          "A value as text, with text around it", NINO_INPUTS(NINO_PORT(input, ANY)),
          NINO_OUTPUTS(NINO_PORT(STRING, STRING)),
          NINO_PARAMS(something_params,
                      NINO_P_STRING(something_params, prefix, "", .label = "Before",
                                    .help = "Stands before the value", .optional = true),
                      NINO_P_STRING(something_params, suffix, "", .label = "After",
                                    .help = "Stands behind the value", .optional = true)),
          NINO_RUN(something_run));

typedef struct convert_params {
    int64_t output_type;
} convert_params;

// What Python's int(), float() and bool() make of it.
static nino_status convert_run(nino_run *r, nino_error *err)
{
    const int64_t to = ((const convert_params *) r->params)->output_type;
    nino_buf b = { 0 };
    double v = 0;
    char *end = NULL;
    if (to == 0) {
        nino_ext_text(&b, r->in[0]);
        return nino_ext_out_buf(r, 0, &b, err);
    }
    const bool is_text = r->in[0] && r->in[0]->type == NINO_PORT_STRING;
    if (to == 3 && is_text)
        return nino_out_bool(r, 0, r->in[0]->u.string[0] != 0, err);
    if (is_text)
        v = nino_strtod(r->in[0]->u.string, &end);
    if (is_text ? !*r->in[0]->u.string || *end : !nino_ext_number(r->in[0], &v))
        return nino_fail_kind(err, NINO_ERR_ARG, "value", r->def->inputs[0].key,
                              "this value is no number");
    if (to == 1 && r->in[0] && r->in[0]->type == NINO_PORT_INT)
        return nino_out_int(r, 0, r->in[0]->u.i, err);
    if (to == 1 && !(v > -9e18 && v < 9e18))
        return nino_fail_kind(err, NINO_ERR_RANGE, "range", r->def->inputs[0].key,
                              "too large for a whole number");
    return to == 1   ? nino_out_int(r, 0, (int64_t) v, err)
           : to == 2 ? nino_out_float(r, 0, v, err)
                     : nino_out_bool(r, 0, v != 0, err);
}

NINO_NODE(easy_convert, "easy convertAnything", "easy convertAnything", "EasyUse/Logic",
          "A value as a text, a number or a switch",
          NINO_INPUTS({ .key = "*", .type = NINO_PORT_ANY }), NINO_OUTPUTS(NINO_PORT(output, ANY)),
          NINO_PARAMS(convert_params, NINO_P_ENUM(convert_params, output_type,
                                                  NINO_WORDS("string", "int", "float", "boolean"),
                                                  0, .label = "Type", .help = "What it becomes")),
          .is_output = true, NINO_RUN(convert_run));

// ---- pictures --------------------------------------------------------------------------------
