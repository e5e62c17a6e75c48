// Numbers from numbers: expressions, conversion, sizes. Behaviour of ComfyUI's nodes_math.py,
// nodes_number_convert.py and nodes_resolution.py.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/num.h"
#include "core/node/expr.h"
#include "core/node/util.h"

// ---- ComfyMathExpression ---------------------------------------------------------------------

typedef struct math_params {
    const char *expression;
} math_params;

static bool math_value(nino_arena *a, const nino_value *v, nino_expr_value *out)
{
    if (v->type == NINO_PORT_FLOAT)
        *out = nino_expr_float(v->u.f);
    else if (v->type == NINO_PORT_BOOLEAN)
        *out = nino_expr_bool(v->u.b);
    else
        *out = nino_expr_int(a, v->u.i);
    return out->kind != NINO_EXPR_INT || out->i;
}

// The letters that are linked, and all of them as the list `values`.
static nino_status math_variables(const nino_run *r, nino_arena *a, nino_expr_var *vars, int *n,
                                  nino_error *err)
{
    nino_expr_value *list = nino_arena_alloc(a, 27 * sizeof(*list));
    bool ok = list != NULL;
    for (int i = 0; ok && r->def->inputs[i].key; i++) {
        if (!r->in[i])
            continue;
        vars[*n].name = strrchr(r->def->inputs[i].key, '.') + 1;
        ok = math_value(a, r->in[i], &vars[*n].value);
        list[*n] = vars[*n].value;
        (*n)++;
    }
    vars[*n] = (nino_expr_var){ "values", { .kind = NINO_EXPR_LIST, .item = list, .n_items = *n } };
    (*n)++;
    return ok ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
}

static nino_status math_give(nino_run *r, const nino_expr_value *v, nino_error *err)
{
    double f = 0;
    int64_t i = 0;
    if (v->kind > NINO_EXPR_FLOAT)
        return nino_fail_kind(err, NINO_ERR_ARG, "expression", "expression",
                              "the result is no number");
    if (!nino_expr_to_double(v, &f))
        return nino_fail_kind(err, NINO_ERR_ARG, "expression", "expression",
                              "the result is not finite");
    if (!nino_expr_to_i64(v, &i))
        return nino_fail_kind(err, NINO_ERR_RANGE, "expression", "expression",
                              "the result %g does not fit into 64 bits", f);
    nino_status st = nino_out_float(r, 0, f, err);
    st = st ? st : nino_out_int(r, 1, i, err);
    return st ? st : nino_out_bool(r, 2, nino_expr_truth(v), err);
}

static nino_status math_run(nino_run *r, nino_error *err)
{
    nino_expr_var vars[28];
    nino_expr_env env = { .vars = vars };
    nino_expr_value v;
    nino_arena *a = nino_arena_create();
    nino_status st = a ? math_variables(r, a, vars, &env.n_vars, err)
                       : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    if (!st)
        st = nino_expr_eval(((const math_params *) r->params)->expression, &env, a, &v, err);
    if (!st)
        st = math_give(r, &v, err);
    nino_arena_destroy(&a);
    return st;
}

#define NUMBER                                                                                     \
    .types = "FLOAT,INT,BOOLEAN", .help = "A number; its name in the expression is the letter"
NINO_NODE(math_expression, "ComfyMathExpression", "Math Expression", "utilities",
          "A number that an expression in Python's grammar makes of others",
          NINO_INPUTS(NINO_FIRST("values.a", ANY, NUMBER), NINO_MORE_B_Z("values.", ANY, NUMBER)),
          NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT), NINO_PORT(INT, INT), NINO_PORT(BOOL, BOOLEAN)),
          NINO_PARAMS(math_params,
                      NINO_P_STRING(math_params, expression, "a + b", .label = "Expression",
                                    .multiline = true,
                                    .help = "Such as (a + b) * 2, max(values), a if a > b else b")),
          NINO_RUN(math_run));

// ---- ComfyNumberConvert ----------------------------------------------------------------------

static nino_status convert_text(const char *s, double *f, nino_error *err)
{
    const char *white = " \t\r\n\f\v";
    s += strspn(s, white);
    size_t n = strlen(s);
    while (n && strchr(white, s[n - 1]))
        n--;
    char *text = strndup(s, n);
    const bool ok = text && n && nino_parse_double(text + (*text == '+'), f) && isfinite(*f);
    free(text);
    if (ok)
        return NINO_OK;
    return nino_fail_kind(err, NINO_ERR_FORMAT, "value", "value", "'%.60s' is no finite number", s);
}

static nino_status convert_run(nino_run *r, nino_error *err)
{
    const nino_value *v = r->in[0];
    double f = 0;
    int64_t i = 0;
    nino_status st = NINO_OK;
    if (v->type == NINO_PORT_STRING)
        st = convert_text(v->u.string, &f, err);
    else
        f = v->type == NINO_PORT_FLOAT     ? v->u.f
            : v->type == NINO_PORT_BOOLEAN ? (double) v->u.b
                                           : (double) v->u.i;
    if (st)
        return st;
    if (v->type != NINO_PORT_INT && !(fabs(f) < 9223372036854775808.0)) // nor NaN
        return nino_fail_kind(err, NINO_ERR_RANGE, "value", "value",
                              "%g is not a number of 64 bits", f);
    i = v->type == NINO_PORT_INT ? v->u.i : (int64_t) f;
    int64_t whole = 0; // long ones lose nothing
    if (v->type == NINO_PORT_STRING &&
        nino_parse_i64(v->u.string + strspn(v->u.string, " \t\r\n"), &whole))
        i = whole;
    st = nino_out_float(r, 0, f, err);
    return st ? st : nino_out_int(r, 1, i, err);
}

NINO_NODE(number_convert, "ComfyNumberConvert", "Convert Number", "utilities",
          "A number of any kind, or the text of one, as both kinds",
          NINO_INPUTS(NINO_PORT(value, ANY, .types = "INT,FLOAT,STRING,BOOLEAN",
                                .help = "The number or its text")),
          NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT), NINO_PORT(INT, INT)), NINO_RUN(convert_run));

// ---- ResolutionSelector ----------------------------------------------------------------------

static const char *const ratios[] = { "1:1 (Square)",
                                      "2:3 (Portrait Photo)",
                                      "3:2 (Photo)",
                                      "3:4 (Portrait Standard)",
                                      "4:3 (Standard)",
                                      "9:16 (Portrait Widescreen)",
                                      "16:9 (Widescreen)",
                                      "21:9 (Ultrawide)",
                                      NULL };
static const int8_t ratio_of[][2] = { { 1, 1 }, { 2, 3 },  { 3, 2 },  { 3, 4 },
                                      { 4, 3 }, { 9, 16 }, { 16, 9 }, { 21, 9 } };

typedef struct resolution_params {
    int64_t aspect_ratio, multiple;
    double megapixels;
} resolution_params;

static nino_status resolution_run(nino_run *r, nino_error *err)
{
    const resolution_params *p = r->params;
    const double w = ratio_of[p->aspect_ratio][0], h = ratio_of[p->aspect_ratio][1];
    const double by = sqrt(p->megapixels * 1024 * 1024 / (w * h)), unit = (double) p->multiple;
    const nino_status st = nino_out_int(r, 0, (int64_t) rint(w * by / unit) * p->multiple, err);
    return st ? st : nino_out_int(r, 1, (int64_t) rint(h * by / unit) * p->multiple, err);
}

NINO_NODE(resolution_selector, "ResolutionSelector", "Resolution Selector", "utilities",
          "Width and height of an aspect ratio with so many pixels",
          NINO_OUTPUTS(NINO_PORT(width, INT), NINO_PORT(height, INT)),
          NINO_PARAMS(resolution_params,
                      NINO_P_ENUM(resolution_params, aspect_ratio, ratios, 0,
                                  .label = "Aspect ratio", .help = "Width to height"),
                      NINO_P_FLOAT(resolution_params, megapixels, 1.0, 0.1, 16.0, 0.1,
                                   .label = "Megapixels",
                                   .help = "Number of pixels, in units of 1024x1024"),
                      NINO_P_INT(resolution_params, multiple, 8, 8, 128, 4, .label = "Multiple of",
                                 .unit = "px", .help = "Both sides become multiples of this")),
          NINO_RUN(resolution_run));
