// Numbers from expressions, under the names and with the functions that extensions have. The
// grammar is that of core/node/expr.h.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/num.h"
#include "core/node/expr.h"
#include "core/node/ext/ext.h"

// ---- names -----------------------------------------------------------------------------------

#define MOST_VARS 40

typedef struct scope {
    nino_run *r;
    nino_arena *a;
    nino_expr_var vars[MOST_VARS];
    int n;
} scope;

static bool add_var(scope *s, const char *name, nino_expr_value v)
{
    if (s->n < MOST_VARS)
        s->vars[s->n++] = (nino_expr_var){ name, v };
    return v.kind != NINO_EXPR_INT || v.i;
}

static bool add_size(scope *s, const char *name, const char *part, int64_t v)
{
    char *full = nino_arena_alloc(s->a, 32);
    if (!full)
        return false;
    snprintf(full, 32, "%s.%s", name, part);
    return add_var(s, full, nino_expr_int(s->a, v));
}

// An array stands for the list of its sizes, and has a width and a height.
static bool add_array(scope *s, const char *name, const nino_value *v)
{
    const nino_shape sh = nino_ext_array(v)->shape;
    const nino_picture p = nino_picture_of(nino_ext_array(v));
    const int64_t by = v->type == NINO_PORT_LATENT ? 8 : 1;
    nino_expr_value *item = nino_arena_alloc(s->a, sizeof(*item) * (size_t) sh.rank);
    bool ok = item;
    for (int i = 0; ok && i < sh.rank; i++) {
        item[i] = nino_expr_int(s->a, sh.dim[i]);
        ok = item[i].i;
    }
    const nino_expr_value list = { .kind = NINO_EXPR_LIST, .item = item, .n_items = sh.rank };
    return ok && add_var(s, name, list) && add_size(s, name, "width", p.w * by) &&
           add_size(s, name, "height", p.h * by);
}

static nino_status add_input(scope *s, int port, const char *name, nino_error *err)
{
    const nino_value *v = s->r->in[port];
    bool ok = true;
    if (!v)
        return NINO_OK;
    if (nino_ext_array(v))
        ok = add_array(s, name, v);
    else if (v->type == NINO_PORT_INT)
        ok = add_var(s, name, nino_expr_int(s->a, v->u.i));
    else if (v->type == NINO_PORT_FLOAT)
        ok = add_var(s, name, nino_expr_float(v->u.f));
    else if (v->type == NINO_PORT_BOOLEAN)
        ok = add_var(s, name, nino_expr_bool(v->u.b));
    else if (v->type == NINO_PORT_STRING) { // the number that it says
        double d = 0;
        char *end = NULL;
        d = nino_strtod(v->u.string, &end);
        ok = add_var(s, name,
                     *v->u.string && !*end ? nino_expr_float(d) : nino_expr_text(v->u.string));
    } else
        return nino_fail_kind(err, NINO_ERR_ARG, "type_mismatch", name, "%s is no number",
                              nino_port_type_name(v->type));
    return ok ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, s->r->def->key, "out of memory");
}

// ---- what the evaluator does not have itself -------------------------------------------------

static bool first_numbers(const nino_expr_value *args, int n, double *out)
{
    for (int i = 0; i < n; i++)
        if (!nino_expr_to_double(&args[i], &out[i]))
            return false;
    return true;
}

static uint64_t any_number(void)
{
    uint64_t v = 0;
    return getrandom(&v, sizeof(v), 0) == (ssize_t) sizeof(v) ? v : 0;
}

// NodeTitle.widget: a literal of the first node whose class or title it is.
static bool find_widget(const scope *s, const char *name, nino_expr_value *out)
{
    const char *dot = strrchr(name, '.'), *prompt = s->r->prompt_json;
    nino_json_doc *doc = NULL;
    double d = 0;
    bool found = false;
    if (!dot || !prompt || nino_json_parse(prompt, strlen(prompt), "prompt", NULL, &doc, NULL))
        return false;
    for (const nino_json *n = doc->root->child; n && !found; n = n->next) {
        const char *of[] = { nino_json_str(nino_json_get(n, "class_type")),
                             nino_json_str(nino_json_get(nino_json_get(n, "_meta"), "title")) };
        for (int k = 0; k < 2 && !found; k++)
            found = of[k] && strlen(of[k]) == (size_t) (dot - name) &&
                    !strncmp(of[k], name, (size_t) (dot - name)) &&
                    nino_json_double(nino_json_get(nino_json_get(n, "inputs"), dot + 1), &d);
    }
    nino_json_doc_destroy(&doc);
    if (found)
        *out =
            d == rint(d) && fabs(d) < 9e15 ? nino_expr_int(s->a, (int64_t) d) : nino_expr_float(d);
    return found;
}

static nino_status random_of(scope *s, const char *name, const nino_expr_value *args, int n,
                             nino_expr_value *out, bool *found)
{
    double v[2] = { 0 };
    if (!strcmp(name, "randomint") && n == 2 && first_numbers(args, 2, v) && v[1] >= v[0]) {
        const uint64_t span = (uint64_t) (v[1] - v[0]) + 1;
        *out = nino_expr_int(s->a, (int64_t) v[0] + (int64_t) (any_number() % span));
        *found = true;
    } else if (!strcmp(name, "randomchoice") && n > 0) {
        *out = args[any_number() % (uint64_t) n];
        *found = true;
    }
    return NINO_OK;
}

static nino_status other(void *priv, const char *name, const nino_expr_value *args, int n,
                         nino_arena *a, nino_expr_value *out, bool *found, nino_error *err)
{
    scope *s = priv;
    double v[1];
    (void) a;
    (void) err;
    if (!args) {
        *found = true;
        if (!strcmp(name, "pi"))
            *out = nino_expr_float(acos(-1));
        else if (!strcmp(name, "euler") || !strcmp(name, "e"))
            *out = nino_expr_float(exp(1));
        else
            *found = find_widget(s, name, out);
        return NINO_OK;
    }
    if (!strcmp(name, "iif") && n == 3) {
        *out = nino_expr_truth(&args[0]) ? args[1] : args[2];
        *found = true;
    } else if (!strcmp(name, "exp") && n == 1 && first_numbers(args, 1, v)) {
        *out = nino_expr_float(exp(v[0]));
        *found = true;
    } else if (!strcmp(name, "len") && n == 1 && args[0].kind == NINO_EXPR_LIST) {
        *out = nino_expr_int(s->a, args[0].n_items);
        *found = true;
    }
    return *found ? NINO_OK : random_of(s, name, args, n, out, found);
}

// ---- results ---------------------------------------------------------------------------------

typedef struct result {
    double f;
    int64_t i;
    bool b;
} result;

enum { TRUNCATED, ROUNDED };

// The expression, which stands in parameter `key`. NaN counts as 0 where numbers are rounded.
static nino_status evaluate(nino_run *r, const char *text, const char *key, int how, result *out,
                            nino_error *err)
{
    nino_error e = { 0 };
    nino_expr_value v = { 0 };
    scope s = { .r = r, .a = nino_arena_create() };
    nino_status st = s.a ? NINO_OK : nino_fail(&e, NINO_ERR_NOMEM, r->def->key, "out of memory");
    for (int i = 0; !st && r->def->inputs[i].key; i++)
        if (!r->def->inputs[i].key[1]) // of one letter
            st = add_input(&s, i, r->def->inputs[i].key, &e);
    const nino_expr_env env = { s.vars, s.n, other, &s };
    if (!st)
        st = nino_expr_eval(text, &env, s.a, &v, &e);
    if (!st && (v.kind > NINO_EXPR_FLOAT || !nino_expr_to_double(&v, &out->f))) {
        const bool is_zero = how == ROUNDED && v.kind == NINO_EXPR_FLOAT && isnan(v.f);
        out->f = 0;
        st = is_zero ? NINO_OK
                     : nino_fail_kind(&e, NINO_ERR_ARG, "expression", key,
                                      "the result is no finite number");
    }
    const nino_expr_value whole =
        how == ROUNDED && v.kind == NINO_EXPR_FLOAT ? nino_expr_float(rint(out->f)) : v;
    if (!st && !isnan(out->f) && out->f != 0 && !nino_expr_to_i64(&whole, &out->i))
        st = nino_fail_kind(&e, NINO_ERR_RANGE, "expression", key,
                            "the result %g does not fit into 64 bits", out->f);
    if (!st)
        out->b = out->f != 0;
    nino_arena_destroy(&s.a);
    return st ? nino_fail_kind(err, e.code, e.kind, key, "%s", e.msg) : NINO_OK;
}

static bool is_random(const char *text) { return strstr(text, "random") != NULL; }

// ---- the nodes -------------------------------------------------------------------------------

typedef struct expr_params {
    const char *text;
} expr_params;

static bool expr_is_random(const void *params)
{
    return is_random(((const expr_params *) params)->text);
}

static nino_status int_float(nino_run *r, int how, nino_error *err)
{
    result v = { 0 };
    const char *key = r->def->params[0].key;
    nino_status st = evaluate(r, ((const expr_params *) r->params)->text, key, how, &v, err);
    if (!st)
        st = nino_out_int(r, 0, v.i, err);
    if (!st)
        st = nino_out_float(r, 1, v.f, err);
    return st || !r->def->outputs[2].key ? st : nino_out_bool(r, 2, v.b, err);
}

static nino_status truncated_run(nino_run *r, nino_error *err)
{
    return int_float(r, TRUNCATED, err);
}
static nino_status rounded_run(nino_run *r, nino_error *err) { return int_float(r, ROUNDED, err); }

static nino_status calculator_run(nino_run *r, nino_error *err)
{
    result v = { 0 };
    nino_status st =
        evaluate(r, ((const expr_params *) r->params)->text, "expression", TRUNCATED, &v, err);
    if (!st)
        st = nino_out_float(r, 0, v.f, err);
    if (!st)
        st = nino_out_int(r, 1, v.i, err);
    return st ? st : nino_out_bool(r, 2, v.b, err);
}

#define EXPR_HELP "Such as (a + b) * 2, max(a, b), a if a > b else b; a.width of an image"
#define EXPR(key_, d, area)                                                                        \
    NINO_PARAMS(expr_params, NINO_K_STRING(key_, expr_params, text, d, .label = "Expression",      \
                                           .help = EXPR_HELP, .multiline = area))
#define A_B_C NINO_MORE("a", ANY), NINO_MORE("b", ANY), NINO_MORE("c", ANY)
#define INT_FLOAT NINO_OUTPUTS(NINO_PORT(INT, INT), NINO_PORT(FLOAT, FLOAT))
#define EXPR_NODE_HELP "A number that an expression makes of others"

NINO_NODE(script_math, "MathExpression|pysssss", "Math Expression", "utils", EXPR_NODE_HELP,
          NINO_INPUTS(A_B_C), INT_FLOAT, EXPR("expression", "", true), .is_output = true,
          NINO_RUN(truncated_run, .is_volatile_with = expr_is_random));
NINO_NODE(essentials_math, "SimpleMath+", "Simple Math", "essentials/utilities", EXPR_NODE_HELP,
          NINO_INPUTS(A_B_C), INT_FLOAT, EXPR("value", "", false), NINO_RUN(rounded_run));
NINO_NODE(easy_math, "easy simpleMath", "Simple Math", "EasyUse/Logic/Math", EXPR_NODE_HELP,
          NINO_INPUTS(A_B_C),
          NINO_OUTPUTS({ .key = "int", .type = NINO_PORT_INT },
                       { .key = "float", .type = NINO_PORT_FLOAT }, NINO_PORT(boolean, BOOLEAN)),
          EXPR("value", "", false), NINO_RUN(truncated_run));
NINO_NODE(kj_calculator, "SimpleCalculatorKJ", "Simple Calculator KJ", "KJNodes/misc",
          EXPR_NODE_HELP,
          NINO_INPUTS(A_B_C, NINO_MORE("d", ANY), NINO_MORE("e", ANY), NINO_MORE("f", ANY),
                      NINO_MORE("g", ANY), NINO_MORE("h", ANY), NINO_MORE("i", ANY),
                      NINO_MORE("j", ANY), NINO_MORE("k", ANY)),
          NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT), NINO_PORT(INT, INT), NINO_PORT(BOOLEAN, BOOLEAN)),
          EXPR("expression", "a + b", true), NINO_RUN(calculator_run));

typedef struct two_params {
    const char *first, *second;
} two_params;

static nino_status dual_run(nino_run *r, nino_error *err)
{
    const two_params *p = r->params;
    const char *const text[] = { p->first, p->second };
    nino_status st = NINO_OK;
    for (int i = 0; i < 2 && !st; i++) {
        result v = { 0 };
        if (*text[i]) // one that is empty gives 0
            st = evaluate(r, text[i], r->def->params[i].key, ROUNDED, &v, err);
        if (!st)
            st = nino_out_int(r, 2 * i, v.i, err);
        if (!st)
            st = nino_out_float(r, 2 * i + 1, v.f, err);
    }
    return st;
}

static nino_status chosen_run(nino_run *r, nino_error *err)
{
    const two_params *p = r->params;
    const nino_value *v = r->in[0];
    double d = 0;
    const bool yes = v->type == NINO_PORT_STRING ? *v->u.string : !nino_ext_number(v, &d) || d != 0;
    result out = { 0 };
    const char *text = yes ? p->first : p->second;
    nino_status st =
        *text ? evaluate(r, text, yes ? "on_true" : "on_false", ROUNDED, &out, err) : NINO_OK;
    if (!st)
        st = nino_out_int(r, 0, out.i, err);
    return st ? st : nino_out_float(r, 1, out.f, err);
}

#define TWO(first_, second_)                                                                       \
    NINO_PARAMS(two_params,                                                                        \
                NINO_K_STRING(first_, two_params, first, "", .label = "First",                     \
                              .help = "An expression such as (a + b) * 2"),                        \
                NINO_K_STRING(second_, two_params, second, "", .label = "Second",                  \
                              .help = "An expression such as (a + b) * 2"))

NINO_NODE(essentials_dual, "SimpleMathDual+", "Simple Math Dual", "essentials/utilities",
          "Two numbers that expressions make of others", NINO_INPUTS(A_B_C, NINO_MORE("d", ANY)),
          NINO_OUTPUTS(NINO_PORT(int_1, INT), NINO_PORT(float_1, FLOAT), NINO_PORT(int_2, INT),
                       NINO_PORT(float_2, FLOAT)),
          TWO("value_1", "value_2"), NINO_RUN(dual_run));
NINO_NODE(essentials_chosen, "SimpleMathCondition+", "Math Condition", "essentials/utilities",
          "A number of one of two expressions, as a value says",
          NINO_INPUTS(NINO_PORT(evaluate, ANY), A_B_C), INT_FLOAT, TWO("on_true", "on_false"),
          NINO_RUN(chosen_run));
