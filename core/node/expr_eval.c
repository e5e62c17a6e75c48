// Expressions in Python's grammar: a tree to a value, functions.
#include "core/node/expr_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/num.h"

#define MAX_EXPONENT 4000 // of pow()
#define MAX_ARGS 64

typedef nino_expr_value value;

static nino_status expr_run(nino_expr_eval_state *e, const nino_expr_node *n, value *out);

// A whole number that its maker had no memory for.
static nino_status expr_has_memory(nino_expr_eval_state *e, const value *v)
{
    return v->kind != NINO_EXPR_INT || v->i
               ? NINO_OK
               : nino_fail(e->err, NINO_ERR_NOMEM, "expression", "out of memory");
}

// ---- functions -------------------------------------------------------------------------------

static nino_status expr_round(nino_expr_eval_state *e, const value *v, int n_args, value *out)
{
    int64_t n = 0;
    char text[512];
    nino_big big, ten = nino_big_of(10), unit, half, r, q;
    if (n_args > 1 && (!nino_expr_is_whole(&v[1]) || !nino_expr_to_i64(&v[1], &n)))
        return nino_expr_no(e, "round()", &v[0], &v[1]);
    if (v->kind == NINO_EXPR_FLOAT && n_args == 1) {
        const bool ok = nino_big_of_double(rint(v->f), &big);
        return nino_expr_give(e, &big, ok, out);
    }
    if (v->kind == NINO_EXPR_FLOAT && n >= 0) {
        *out = *v; // as the decimal digits of the number say, which printf rounds exactly
        if (n < 300 &&
            nino_snprintf(text, sizeof(text), "%.*f", (int) n, v->f) < (int) sizeof(text))
            nino_parse_double(text, &out->f);
        return NINO_OK;
    }
    if (v->kind == NINO_EXPR_FLOAT) {
        const double p = n < -308 ? INFINITY : pow(10, (double) -n);
        *out = nino_expr_float(isinf(p) ? copysign(0, v->f) : rint(v->f / p) * p);
        return NINO_OK;
    }
    big = nino_expr_whole(v);
    if (n >= 0)
        return nino_expr_give(e, &big, true, out);
    if (n < -1200 || !nino_big_pow(&ten, (uint32_t) -n, &unit))
        return nino_expr_give(e, &(nino_big){ 0 }, true, out);
    nino_big_divide(&big, &unit, &q, &r); // halves to even
    nino_big_add(&r, &r, &half);
    const int c = nino_big_compare(&half, &unit);
    const nino_big one = nino_big_of(1);
    bool ok = true;
    if (c > 0 || (c == 0 && q.n && (q.limb[0] & 1)))
        ok = nino_big_add(&q, &one, &q);
    ok = ok && nino_big_mul(&q, &unit, &big);
    return nino_expr_give(e, &big, ok, out);
}

static nino_status expr_int_of(nino_expr_eval_state *e, const value *v, value *out)
{
    nino_big big;
    size_t len = v->len;
    const char *s = v->s;
    if (v->kind == NINO_EXPR_FLOAT) {
        if (!nino_big_of_double(v->f, &big))
            return nino_expr_fail(e->err, e->at, "int() of no finite number");
        return nino_expr_give(e, &big, true, out);
    }
    if (v->kind == NINO_EXPR_TEXT) {
        while (len && strchr(" \t\r\n", *s))
            s++, len--;
        while (len && strchr(" \t\r\n", s[len - 1]))
            len--;
        if (!nino_big_parse(s, len, &big))
            return nino_expr_fail(e->err, e->at, "int() of a text that is no whole number");
        return nino_expr_give(e, &big, true, out);
    }
    if (!nino_expr_is_whole(v))
        return nino_expr_no(e, "int()", v, NULL);
    big = nino_expr_whole(v);
    return nino_expr_give(e, &big, true, out);
}

static nino_status expr_float_call(nino_expr_eval_state *e, const value *v, value *out)
{
    double d = 0;
    nino_status st = NINO_OK;
    if (v->kind == NINO_EXPR_TEXT) {
        if (!nino_parse_double(v->s + strspn(v->s, " \t\r\n"), &d))
            return nino_expr_fail(e->err, e->at, "float() of a text that is no number");
    } else if (!nino_expr_is_number(v)) {
        return nino_expr_no(e, "float()", v, NULL);
    } else {
        st = nino_expr_float_of(e, v, &d);
    }
    *out = nino_expr_float(d);
    return st;
}

// One float in, one out.
static nino_status expr_float_function(nino_expr_eval_state *e, const char *name, const value *v,
                                       int n, value *out)
{
    double x = 0, base = 0, r = 0;
    if (!nino_expr_is_number(&v[0]) || (n > 1 && !nino_expr_is_number(&v[1])))
        return nino_expr_no(e, name, &v[0], n > 1 ? &v[1] : NULL);
    nino_status st = nino_expr_float_of(e, &v[0], &x);
    if (!st && n > 1)
        st = nino_expr_float_of(e, &v[1], &base);
    if (st)
        return st;
    if ((!strncmp(name, "log", 3) && (x <= 0 || (n > 1 && (base <= 0 || base == 1)))) ||
        (!strcmp(name, "sqrt") && x < 0) ||
        (!isfinite(x) && (!strcmp(name, "sin") || !strcmp(name, "cos") || !strcmp(name, "tan"))))
        return nino_expr_fail(e->err, e->at, "%s() has no value there", name);
    switch (name[0]) {
    case 'l':
        r = name[3] == '2' ? log2(x) : name[3] ? log10(x) : n > 1 ? log(x) / log(base) : log(x);
        break;
    case 'c': r = cos(x); break;
    case 't': r = tan(x); break;
    default: r = name[1] == 'q' ? sqrt(x) : sin(x); break;
    }
    *out = nino_expr_float(r);
    return NINO_OK;
}

static nino_status expr_to_whole(nino_expr_eval_state *e, const char *name, const value *v,
                                 value *out)
{
    nino_big big;
    if (nino_expr_is_whole(v)) {
        big = nino_expr_whole(v);
        return nino_expr_give(e, &big, true, out);
    }
    if (v->kind != NINO_EXPR_FLOAT)
        return nino_expr_no(e, name, v, NULL);
    if (!nino_big_of_double(*name == 'c' ? ceil(v->f) : floor(v->f), &big))
        return nino_expr_fail(e->err, e->at, "%s() of no finite number", name);
    return nino_expr_give(e, &big, true, out);
}

// sum, min, max: of a list, or of the arguments.
static nino_status expr_over(nino_expr_eval_state *e, const char *name, const value *v, int n,
                             value *out)
{
    if (n == 1 && v->kind == NINO_EXPR_LIST) {
        n = v->n_items;
        v = v->item;
    } else if (n == 1 && name[0] == 'm') {
        return nino_expr_no(e, name, v, NULL);
    }
    if (name[0] == 's') {
        value sum = nino_expr_int(e->a, 0);
        nino_status st = expr_has_memory(e, &sum);
        for (int i = 0; i < n && !st; i++)
            st = nino_expr_is_number(&v[i]) ? nino_expr_binary(e, "+", &sum, &v[i], &sum)
                                            : nino_expr_no(e, "sum()", &v[i], NULL);
        *out = sum;
        return st;
    }
    if (!n)
        return nino_expr_fail(e->err, e->at, "%s() of nothing", name);
    *out = v[0];
    for (int i = 1; i < n; i++) {
        if (!nino_expr_comparable(out, &v[i]))
            return nino_expr_no(e, name, out, &v[i]);
        const int c = nino_expr_order(&v[i], out);
        if (name[1] == 'a' ? c == 1 : c == -1)
            *out = v[i];
    }
    return NINO_OK;
}

static nino_status expr_abs(nino_expr_eval_state *e, const value *v, value *out)
{
    const nino_big zero = nino_big_of(0);
    nino_big big;
    if (v->kind == NINO_EXPR_FLOAT) {
        *out = nino_expr_float(fabs(v->f));
        return NINO_OK;
    }
    if (!nino_expr_is_whole(v))
        return nino_expr_no(e, "abs()", v, NULL);
    big = nino_expr_whole(v);
    if (big.negative)
        nino_big_sub(&zero, &big, &big);
    return nino_expr_give(e, &big, true, out);
}

static nino_status expr_pow_call(nino_expr_eval_state *e, const value *v, value *out)
{
    double n = 0;
    if (!nino_expr_is_number(&v[0]) || !nino_expr_is_number(&v[1]))
        return nino_expr_no(e, "pow()", &v[0], &v[1]);
    const nino_status st = nino_expr_float_of(e, &v[1], &n);
    if (st)
        return st;
    if (fabs(n) > MAX_EXPONENT)
        return nino_expr_fail(e->err, e->at, "pow() with an exponent above %d", MAX_EXPONENT);
    return nino_expr_power(e, &v[0], &v[1], false, out);
}

static const struct {
    const char *name;
    int least, most;
} functions[] = {
    { "sum", 0, MAX_ARGS }, { "min", 1, MAX_ARGS }, { "max", 1, MAX_ARGS }, { "abs", 1, 1 },
    { "round", 1, 2 },      { "pow", 2, 2 },        { "sqrt", 1, 1 },       { "ceil", 1, 1 },
    { "floor", 1, 1 },      { "log", 1, 2 },        { "log2", 1, 1 },       { "log10", 1, 1 },
    { "sin", 1, 1 },        { "cos", 1, 1 },        { "tan", 1, 1 },        { "int", 1, 1 },
    { "float", 1, 1 },
};

static nino_status expr_built_in(nino_expr_eval_state *e, const char *name, const value *v, int n,
                                 value *out)
{
    if (!strcmp(name, "sum") || !strcmp(name, "min") || !strcmp(name, "max"))
        return expr_over(e, name, v, n, out);
    if (!strcmp(name, "abs"))
        return expr_abs(e, v, out);
    if (!strcmp(name, "round"))
        return nino_expr_is_number(v) ? expr_round(e, v, n, out)
                                      : nino_expr_no(e, "round()", v, NULL);
    if (!strcmp(name, "pow"))
        return expr_pow_call(e, v, out);
    if (!strcmp(name, "ceil") || !strcmp(name, "floor"))
        return expr_to_whole(e, name, v, out);
    if (!strcmp(name, "int"))
        return expr_int_of(e, v, out);
    if (!strcmp(name, "float"))
        return expr_float_call(e, v, out);
    return expr_float_function(e, name, v, n, out);
}

static nino_status expr_call(nino_expr_eval_state *e, const nino_expr_node *node, value *out)
{
    value args[MAX_ARGS] = { { 0 } };
    int n = 0;
    bool found = false;
    nino_status st = NINO_OK;
    for (const nino_expr_node *a = node->a; a && !st; a = a->next) {
        if (n == MAX_ARGS)
            return nino_expr_fail(e->err, a->at, "more than %d arguments", MAX_ARGS);
        st = expr_run(e, a, &args[n++]);
    }
    e->at = node->at;
    for (size_t i = 0; !st && i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (strcmp(functions[i].name, node->name) != 0)
            continue;
        if (n < functions[i].least || n > functions[i].most)
            return nino_expr_fail(e->err, node->at, "%s() does not take %d values", node->name, n);
        return expr_built_in(e, node->name, args, n, out);
    }
    if (!st && e->env->other)
        st = e->env->other(e->env->priv, node->name, args, n, e->a, out, &found, e->err);
    return st || found
               ? st
               : nino_expr_fail(e->err, node->at, "there is no function '%.40s'", node->name);
}

// ---- the tree --------------------------------------------------------------------------------

static nino_status expr_lookup(nino_expr_eval_state *e, const nino_expr_node *n, value *out)
{
    bool found = false;
    nino_status st = NINO_OK;
    for (int i = 0; i < e->env->n_vars; i++)
        if (!strcmp(e->env->vars[i].name, n->name)) {
            *out = e->env->vars[i].value;
            return NINO_OK;
        }
    if (e->env->other)
        st = e->env->other(e->env->priv, n->name, NULL, 0, e->a, out, &found, e->err);
    return st || found ? st : nino_expr_fail(e->err, n->at, "there is no value '%.40s'", n->name);
}

static nino_status expr_index(nino_expr_eval_state *e, const nino_expr_node *n, value *out)
{
    value of = { 0 }, at = { 0 };
    int64_t i = 0, count = 0;
    nino_status st = expr_run(e, n->a, &of);
    st = st ? st : expr_run(e, n->b, &at);
    if (st)
        return st;
    e->at = n->at;
    if ((of.kind != NINO_EXPR_LIST && of.kind != NINO_EXPR_TEXT) || !nino_expr_is_whole(&at))
        return nino_expr_no(e, "[]", &of, &at);
    for (size_t k = 0; k < of.len; k++)
        count += (of.s[k] & 0xc0) != 0x80;
    count = of.kind == NINO_EXPR_LIST ? of.n_items : count;
    if (!nino_expr_to_i64(&at, &i) || i < -count || i >= count)
        return nino_expr_fail(e->err, n->at, "there are %lld entries, not that one",
                              (long long) count);
    i += i < 0 ? count : 0;
    if (of.kind == NINO_EXPR_LIST) {
        *out = of.item[i];
        return NINO_OK;
    }
    const char *s = of.s, *end;
    for (; i; i--)
        for (s++; (*s & 0xc0) == 0x80;)
            s++;
    for (end = s + 1; (*end & 0xc0) == 0x80;)
        end++;
    const char *one = nino_arena_strndup(e->a, s, (size_t) (end - s));
    if (!one)
        return nino_fail(e->err, NINO_ERR_NOMEM, "expression", "out of memory");
    *out = nino_expr_text(one);
    return NINO_OK;
}

static nino_status expr_comparisons(nino_expr_eval_state *e, const nino_expr_node *n, value *out)
{
    value left = { 0 }, right = { 0 };
    bool is = true;
    nino_status st = expr_run(e, n->a, &left);
    for (const nino_expr_node *link = n->b; link && is && !st; link = link->next) {
        if ((st = expr_run(e, link->a, &right)))
            return st;
        e->at = link->at;
        st = nino_expr_compares(e, link->sign, &left, &right, &is);
        left = right;
    }
    *out = nino_expr_bool(is);
    return st;
}

static nino_status expr_run(nino_expr_eval_state *e, const nino_expr_node *n, value *out)
{
    value x = { 0 }, y = { 0 };
    nino_status st;
    switch (n->op) {
    case NINO_OP_VALUE: *out = n->value; return NINO_OK;
    case NINO_OP_NAME: // the values of the caller's
        st = expr_lookup(e, n, out);
        return st ? st : expr_has_memory(e, out);
    case NINO_OP_CALL: st = expr_call(e, n, out); return st ? st : expr_has_memory(e, out);
    case NINO_OP_INDEX: st = expr_index(e, n, out); return st ? st : expr_has_memory(e, out);
    case NINO_OP_COMPARE: return expr_comparisons(e, n, out);
    case NINO_OP_IF:
        st = expr_run(e, n->b, &x);
        return st ? st : expr_run(e, nino_expr_truth(&x) ? n->a : n->c, out);
    case NINO_OP_OR:
    case NINO_OP_AND:
        st = expr_run(e, n->a, out);
        return st || nino_expr_truth(out) == (n->op == NINO_OP_OR) ? st : expr_run(e, n->b, out);
    case NINO_OP_NOT:
        if ((st = expr_run(e, n->a, &x)))
            return st;
        *out = nino_expr_bool(!nino_expr_truth(&x));
        return NINO_OK;
    case NINO_OP_UNARY:
        st = expr_run(e, n->a, &x);
        e->at = n->at;
        return st ? st : nino_expr_unary(e, n->sign[0], &x, out);
    case NINO_OP_BINARY:
        st = expr_run(e, n->a, &x);
        st = st ? st : expr_run(e, n->b, &y);
        e->at = n->at;
        return st ? st : nino_expr_binary(e, n->sign, &x, &y, out);
    }
    return nino_expr_fail(e->err, n->at, "an unknown operator");
}

nino_status nino_expr_eval(const char *text, const nino_expr_env *env, nino_arena *a,
                           nino_expr_value *out, nino_error *err)
{
    nino_expr_node *root = NULL;
    nino_expr_eval_state e = { .env = env, .a = a, .err = err };
    const nino_status st = nino_expr_parse(text, a, &root, err);
    return st ? st : expr_run(&e, root, out);
}
