// Expressions in Python's grammar: a tree to a value.
#include "core/node/expr.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/num.h"
#include "core/base/utf8.h"

#define MAX_POWER 4000000 // of either operand of **
#define MAX_EXPONENT 4000 // of pow()
#define MAX_TEXT 100000   // bytes that an expression makes
#define MAX_ARGS 64

typedef struct eval {
    const nino_expr_env *env;
    nino_arena *a;
    nino_error *err;
    int at; // of the node at hand
} eval;

typedef nino_expr_value value;

static nino_status expr_run(eval *e, const nino_expr_node *n, value *out);

// ---- values ----------------------------------------------------------------------------------

static value expr_big(nino_arena *a, const nino_big *v)
{
    value out = { .kind = NINO_EXPR_INT, .i = nino_arena_alloc(a, sizeof(nino_big)) };
    if (out.i)
        *out.i = *v;
    return out;
}

value nino_expr_int(nino_arena *a, int64_t v)
{
    const nino_big big = nino_big_of(v);
    return expr_big(a, &big);
}

value nino_expr_float(double v) { return (value){ .kind = NINO_EXPR_FLOAT, .f = v }; }
value nino_expr_bool(bool v) { return (value){ .kind = NINO_EXPR_BOOL, .b = v }; }
value nino_expr_text(const char *s)
{
    return (value){ .kind = NINO_EXPR_TEXT, .s = s, .len = strlen(s) };
}

bool nino_expr_truth(const value *v)
{
    switch (v->kind) {
    case NINO_EXPR_INT: return v->i->n;
    case NINO_EXPR_BOOL: return v->b;
    case NINO_EXPR_FLOAT: return v->f != 0;
    case NINO_EXPR_TEXT: return v->len;
    case NINO_EXPR_LIST: return v->n_items;
    }
    return false;
}

static bool is_number(const value *v) { return v->kind <= NINO_EXPR_FLOAT; }
static bool is_whole(const value *v) { return v->kind <= NINO_EXPR_BOOL; }
static nino_big expr_whole_of(const value *v)
{
    return v->kind == NINO_EXPR_BOOL ? nino_big_of(v->b) : *v->i;
}

bool nino_expr_to_double(const value *v, double *out)
{
    if (!is_number(v))
        return false;
    const nino_big big = is_whole(v) ? expr_whole_of(v) : nino_big_of(0);
    *out = is_whole(v) ? nino_big_to_double(&big) : v->f;
    return isfinite(*out);
}

bool nino_expr_to_i64(const value *v, int64_t *out)
{
    nino_big big;
    if (!is_number(v) || (!is_whole(v) && !nino_big_of_double(v->f, &big)))
        return false;
    if (is_whole(v))
        big = expr_whole_of(v);
    return nino_big_to_i64(&big, out);
}

static const char *expr_kind(const value *v)
{
    static const char *const names[] = { "int", "bool", "float", "str", "list" };
    return names[v->kind];
}

static nino_status expr_give(eval *e, const nino_big *big, bool ok, value *out)
{
    if (!ok)
        return nino_expr_fail(e->err, e->at, "a number of more than 4096 bits");
    *out = expr_big(e->a, big);
    return out->i ? NINO_OK : nino_fail(e->err, NINO_ERR_NOMEM, "expression", "out of memory");
}

static nino_status expr_no(eval *e, const char *sign, const value *x, const value *y)
{
    return nino_expr_fail(e->err, e->at, "%s of %s%s%s", sign, expr_kind(x), y ? " and " : "",
                          y ? expr_kind(y) : "");
}

// A float operand; whole numbers that no float can hold are an error.
static nino_status expr_float_of(eval *e, const value *v, double *out)
{
    if (v->kind == NINO_EXPR_FLOAT) {
        *out = v->f;
        return NINO_OK;
    }
    return nino_expr_to_double(v, out)
               ? NINO_OK
               : nino_expr_fail(e->err, e->at, "a whole number that is too large for a float");
}

// ---- arithmetic ------------------------------------------------------------------------------

static nino_status expr_power(eval *e, const value *x, const value *y, bool is_limited, value *out)
{
    double a = 0, b = 0;
    int64_t n = 0;
    nino_status st = expr_float_of(e, x, &a);
    st = st ? st : expr_float_of(e, y, &b);
    if (st)
        return st;
    if (is_limited && (fabs(a) > MAX_POWER || fabs(b) > MAX_POWER))
        return nino_expr_fail(e->err, e->at, "** of a number above %d", MAX_POWER);
    if (is_whole(x) && is_whole(y) && nino_expr_to_i64(y, &n) && n >= 0) {
        const nino_big base = expr_whole_of(x);
        nino_big r;
        const bool ok = nino_big_pow(&base, (uint32_t) n, &r);
        return expr_give(e, &r, ok, out);
    }
    if (a == 0 && b < 0)
        return nino_expr_fail(e->err, e->at, "a negative power of zero");
    if (a < 0 && b != trunc(b))
        return nino_expr_fail(e->err, e->at, "a fractional power of a negative number");
    *out = nino_expr_float(pow(a, b));
    return isinf(out->f) ? nino_expr_fail(e->err, e->at, "the result is too large") : NINO_OK;
}

static nino_status expr_whole_op(eval *e, const char *sign, const value *x, const value *y,
                                 value *out)
{
    const nino_big a = expr_whole_of(x), b = expr_whole_of(y);
    nino_big r;
    bool ok = false;
    int64_t n = 0;
    const bool are_bools = x->kind == NINO_EXPR_BOOL && y->kind == NINO_EXPR_BOOL;
    if (strchr("/%", *sign) && !b.n)
        return nino_expr_fail(e->err, e->at, "division by zero");
    if (!strcmp(sign, "/")) {
        *out = nino_expr_float(nino_big_ratio(&a, &b));
        return NINO_OK;
    }
    switch (*sign) {
    case '+': ok = nino_big_add(&a, &b, &r); break;
    case '-': ok = nino_big_sub(&a, &b, &r); break;
    case '*': ok = nino_big_mul(&a, &b, &r); break;
    case '/': ok = nino_big_divide(&a, &b, &r, NULL); break;
    case '%': ok = nino_big_divide(&a, &b, NULL, &r); break;
    case '&': ok = nino_big_bits(&a, &b, NINO_BIG_AND, &r); break;
    case '|': ok = nino_big_bits(&a, &b, NINO_BIG_OR, &r); break;
    case '^': ok = nino_big_bits(&a, &b, NINO_BIG_XOR, &r); break;
    default:
        if (b.negative)
            return nino_expr_fail(e->err, e->at, "a negative shift");
        if (!nino_big_to_i64(&b, &n) || n > INT32_MAX)
            n = INT32_MAX;
        ok = nino_big_shift(&a, *sign == '<' ? n : -n, &r);
    }
    if (ok && are_bools && strchr("&|^", *sign)) {
        *out = nino_expr_bool(r.n);
        return NINO_OK;
    }
    return expr_give(e, &r, ok, out);
}

// As Python's float_floor_div and float_rem: the remainder has the divisor's sign.
static void expr_divmod(double a, double b, double *q, double *r)
{
    double rest = fmod(a, b), n = (a - rest) / b;
    if (rest != 0) {
        if ((b < 0) != (rest < 0)) {
            rest += b;
            n -= 1;
        }
    } else {
        rest = copysign(0, b);
    }
    double down = n != 0 ? floor(n) : copysign(0, a / b);
    if (n != 0 && n - down > 0.5)
        down += 1;
    *q = down;
    *r = rest;
}

static nino_status expr_float_op(eval *e, const char *sign, const value *x, const value *y,
                                 value *out)
{
    double a = 0, b = 0, q = 0, r = 0;
    nino_status st = expr_float_of(e, x, &a);
    st = st ? st : expr_float_of(e, y, &b);
    if (st)
        return st;
    if (strchr("/%", *sign)) {
        if (b == 0)
            return nino_expr_fail(e->err, e->at, "division by zero");
        expr_divmod(a, b, &q, &r);
    }
    switch (*sign) {
    case '+': r = a + b; break;
    case '-': r = a - b; break;
    case '*': r = a * b; break;
    case '/': r = sign[1] ? q : a / b; break;
    case '%': break;
    default: return expr_no(e, sign, x, y);
    }
    *out = nino_expr_float(r);
    return NINO_OK;
}

// Texts one after the other, or one several times.
static nino_status expr_text_op(eval *e, const char *sign, const value *x, const value *y,
                                value *out)
{
    const bool joins = *sign == '+' && x->kind == NINO_EXPR_TEXT && y->kind == NINO_EXPR_TEXT;
    const value *text = x->kind == NINO_EXPR_TEXT ? x : y, *times = text == x ? y : x;
    int64_t n = 1;
    if (!joins && (strcmp(sign, "*") != 0 || !is_whole(times)))
        return expr_no(e, sign, x, y);
    if (!joins && !nino_expr_to_i64(times, &n))
        n = MAX_TEXT + 1;
    n = n < 0 ? 0 : n;
    const uint64_t len = joins ? x->len + y->len : text->len ? text->len * (uint64_t) n : 0;
    if ((text->len && n > MAX_TEXT) || len > MAX_TEXT)
        return nino_expr_fail(e->err, e->at, "a text of more than %d bytes", MAX_TEXT);
    char *s = nino_arena_alloc(e->a, len + 1);
    if (!s)
        return nino_fail(e->err, NINO_ERR_NOMEM, "expression", "out of memory");
    if (joins) {
        memcpy(s, x->s, x->len);
        memcpy(s + x->len, y->s, y->len);
    } else {
        for (uint64_t i = 0; i < len; i++)
            s[i] = text->s[i % text->len];
    }
    *out = nino_expr_text(s);
    return NINO_OK;
}

static nino_status expr_binary(eval *e, const char *sign, const value *x, const value *y,
                               value *out)
{
    if (x->kind == NINO_EXPR_TEXT || y->kind == NINO_EXPR_TEXT)
        return expr_text_op(e, sign, x, y, out);
    if (!is_number(x) || !is_number(y))
        return expr_no(e, sign, x, y);
    if (!strcmp(sign, "**"))
        return expr_power(e, x, y, true, out);
    return is_whole(x) && is_whole(y) ? expr_whole_op(e, sign, x, y, out)
                                      : expr_float_op(e, sign, x, y, out);
}

static nino_status expr_unary(eval *e, char sign, const value *x, value *out)
{
    const nino_big zero = nino_big_of(0), one = nino_big_of(1);
    if (x->kind == NINO_EXPR_FLOAT && sign != '~') {
        *out = nino_expr_float(sign == '-' ? -x->f : x->f);
        return NINO_OK;
    }
    if (!is_whole(x))
        return expr_no(e, (const char[]){ sign, 0 }, x, NULL);
    const nino_big a = expr_whole_of(x);
    nino_big r = a;
    bool ok = true;
    if (sign != '+')
        ok = nino_big_sub(&zero, &a, &r);
    if (sign == '~')
        ok = ok && nino_big_sub(&r, &one, &r);
    return expr_give(e, &r, ok, out);
}

// ---- comparing -------------------------------------------------------------------------------

// -1, 0, 1; 2: neither (NaN). Both are numbers, or both are texts.
static int expr_order(const value *x, const value *y)
{
    if (x->kind == NINO_EXPR_TEXT) {
        const size_t n = x->len < y->len ? x->len : y->len;
        const int c = memcmp(x->s, y->s, n); // UTF-8 sorts as its code points
        return c ? (c > 0) - (c < 0) : (x->len > y->len) - (x->len < y->len);
    }
    if (is_whole(x) && is_whole(y)) {
        const nino_big a = expr_whole_of(x), b = expr_whole_of(y);
        return nino_big_compare(&a, &b);
    }
    if ((!is_whole(x) && isnan(x->f)) || (!is_whole(y) && isnan(y->f)))
        return 2;
    if (is_whole(x)) {
        const nino_big a = expr_whole_of(x);
        return nino_big_compare_double(&a, y->f);
    }
    if (is_whole(y)) {
        const nino_big b = expr_whole_of(y);
        return -nino_big_compare_double(&b, x->f);
    }
    return (x->f > y->f) - (x->f < y->f);
}

static bool expr_comparable(const value *x, const value *y)
{
    return (is_number(x) && is_number(y)) ||
           (x->kind == NINO_EXPR_TEXT && y->kind == NINO_EXPR_TEXT);
}

// Lists hold numbers and texts only.
static bool expr_equal(const value *x, const value *y)
{
    if (x->kind == NINO_EXPR_LIST && y->kind == NINO_EXPR_LIST) {
        bool same = x->n_items == y->n_items;
        for (int i = 0; same && i < x->n_items; i++)
            same =
                expr_comparable(&x->item[i], &y->item[i]) && !expr_order(&x->item[i], &y->item[i]);
        return same;
    }
    return expr_comparable(x, y) && !expr_order(x, y);
}

static nino_status expr_contains(eval *e, const value *x, const value *y, bool *out)
{
    *out = false;
    if (y->kind == NINO_EXPR_TEXT && x->kind == NINO_EXPR_TEXT) {
        *out = !x->len || memmem(y->s, y->len, x->s, x->len);
        return NINO_OK;
    }
    if (y->kind != NINO_EXPR_LIST)
        return expr_no(e, "in", x, y);
    for (int i = 0; i < y->n_items && !*out; i++)
        *out = expr_equal(x, &y->item[i]);
    return NINO_OK;
}

static nino_status expr_compares(eval *e, const char *sign, const value *x, const value *y,
                                 bool *out)
{
    const bool is_not = !strcmp(sign, "!=") || strstr(sign, "not");
    nino_status st = NINO_OK;
    if (strstr(sign, "in")) {
        st = expr_contains(e, x, y, out);
    } else if (*sign == 'i') {
        *out = x->kind == y->kind && expr_equal(x, y);
    } else if (sign[0] == '=' || sign[0] == '!') {
        *out = expr_equal(x, y);
    } else if (!expr_comparable(x, y)) {
        return expr_no(e, sign, x, y);
    } else {
        const int c = expr_order(x, y);
        *out = c != 2 && (*sign == '<' ? c < 0 : c > 0);
        *out = *out || (sign[1] == '=' && c == 0);
        return NINO_OK;
    }
    *out = *out != is_not;
    return st;
}

// ---- functions -------------------------------------------------------------------------------

static nino_status expr_round(eval *e, const value *v, int n_args, value *out)
{
    int64_t n = 0;
    char text[512];
    nino_big big, ten = nino_big_of(10), unit, half, r, q;
    if (n_args > 1 && (!is_whole(&v[1]) || !nino_expr_to_i64(&v[1], &n)))
        return expr_no(e, "round()", &v[0], &v[1]);
    if (v->kind == NINO_EXPR_FLOAT && n_args == 1) {
        const bool ok = nino_big_of_double(rint(v->f), &big);
        return expr_give(e, &big, ok, out);
    }
    if (v->kind == NINO_EXPR_FLOAT && n >= 0) {
        *out = *v; // as the decimal digits of the number say, which printf rounds exactly
        if (n < 300 && snprintf(text, sizeof(text), "%.*f", (int) n, v->f) < (int) sizeof(text))
            nino_parse_double(text, &out->f);
        return NINO_OK;
    }
    if (v->kind == NINO_EXPR_FLOAT) {
        const double p = n < -308 ? INFINITY : pow(10, (double) -n);
        *out = nino_expr_float(isinf(p) ? copysign(0, v->f) : rint(v->f / p) * p);
        return NINO_OK;
    }
    big = expr_whole_of(v);
    if (n >= 0)
        return expr_give(e, &big, true, out);
    if (n < -1200 || !nino_big_pow(&ten, (uint32_t) -n, &unit))
        return expr_give(e, &(nino_big){ 0 }, true, out);
    nino_big_divide(&big, &unit, &q, &r); // halves to even
    nino_big_add(&r, &r, &half);
    const int c = nino_big_compare(&half, &unit);
    const nino_big one = nino_big_of(1);
    bool ok = true;
    if (c > 0 || (c == 0 && q.n && (q.limb[0] & 1)))
        ok = nino_big_add(&q, &one, &q);
    ok = ok && nino_big_mul(&q, &unit, &big);
    return expr_give(e, &big, ok, out);
}

static nino_status expr_int_of(eval *e, const value *v, value *out)
{
    nino_big big;
    size_t len = v->len;
    const char *s = v->s;
    if (v->kind == NINO_EXPR_FLOAT) {
        if (!nino_big_of_double(v->f, &big))
            return nino_expr_fail(e->err, e->at, "int() of no finite number");
        return expr_give(e, &big, true, out);
    }
    if (v->kind == NINO_EXPR_TEXT) {
        while (len && strchr(" \t\r\n", *s))
            s++, len--;
        while (len && strchr(" \t\r\n", s[len - 1]))
            len--;
        if (!nino_big_parse(s, len, &big))
            return nino_expr_fail(e->err, e->at, "int() of a text that is no whole number");
        return expr_give(e, &big, true, out);
    }
    if (!is_whole(v))
        return expr_no(e, "int()", v, NULL);
    big = expr_whole_of(v);
    return expr_give(e, &big, true, out);
}

static nino_status expr_float_call(eval *e, const value *v, value *out)
{
    double d = 0;
    nino_status st = NINO_OK;
    if (v->kind == NINO_EXPR_TEXT) {
        if (!nino_parse_double(v->s + strspn(v->s, " \t\r\n"), &d))
            return nino_expr_fail(e->err, e->at, "float() of a text that is no number");
    } else if (!is_number(v)) {
        return expr_no(e, "float()", v, NULL);
    } else {
        st = expr_float_of(e, v, &d);
    }
    *out = nino_expr_float(d);
    return st;
}

// One float in, one out.
static nino_status expr_float_function(eval *e, const char *name, const value *v, int n, value *out)
{
    double x = 0, base = 0, r = 0;
    if (!is_number(&v[0]) || (n > 1 && !is_number(&v[1])))
        return expr_no(e, name, &v[0], n > 1 ? &v[1] : NULL);
    nino_status st = expr_float_of(e, &v[0], &x);
    if (!st && n > 1)
        st = expr_float_of(e, &v[1], &base);
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

static nino_status expr_to_whole(eval *e, const char *name, const value *v, value *out)
{
    nino_big big;
    if (is_whole(v)) {
        big = expr_whole_of(v);
        return expr_give(e, &big, true, out);
    }
    if (v->kind != NINO_EXPR_FLOAT)
        return expr_no(e, name, v, NULL);
    if (!nino_big_of_double(*name == 'c' ? ceil(v->f) : floor(v->f), &big))
        return nino_expr_fail(e->err, e->at, "%s() of no finite number", name);
    return expr_give(e, &big, true, out);
}

// sum, min, max: of a list, or of the arguments.
static nino_status expr_over(eval *e, const char *name, const value *v, int n, value *out)
{
    if (n == 1 && v->kind == NINO_EXPR_LIST) {
        n = v->n_items;
        v = v->item;
    } else if (n == 1 && name[0] == 'm') {
        return expr_no(e, name, v, NULL);
    }
    if (name[0] == 's') {
        value sum = nino_expr_int(e->a, 0);
        nino_status st = sum.i ? NINO_OK : NINO_ERR_NOMEM;
        for (int i = 0; i < n && !st; i++)
            st = is_number(&v[i]) ? expr_binary(e, "+", &sum, &v[i], &sum)
                                  : expr_no(e, "sum()", &v[i], NULL);
        *out = sum;
        return st;
    }
    if (!n)
        return nino_expr_fail(e->err, e->at, "%s() of nothing", name);
    *out = v[0];
    for (int i = 1; i < n; i++) {
        if (!expr_comparable(out, &v[i]))
            return expr_no(e, name, out, &v[i]);
        const int c = expr_order(&v[i], out);
        if (name[1] == 'a' ? c == 1 : c == -1)
            *out = v[i];
    }
    return NINO_OK;
}

static nino_status expr_abs(eval *e, const value *v, value *out)
{
    const nino_big zero = nino_big_of(0);
    nino_big big;
    if (v->kind == NINO_EXPR_FLOAT) {
        *out = nino_expr_float(fabs(v->f));
        return NINO_OK;
    }
    if (!is_whole(v))
        return expr_no(e, "abs()", v, NULL);
    big = expr_whole_of(v);
    if (big.negative)
        nino_big_sub(&zero, &big, &big);
    return expr_give(e, &big, true, out);
}

static nino_status expr_pow_call(eval *e, const value *v, value *out)
{
    double n = 0;
    if (!is_number(&v[0]) || !is_number(&v[1]))
        return expr_no(e, "pow()", &v[0], &v[1]);
    const nino_status st = expr_float_of(e, &v[1], &n);
    if (st)
        return st;
    if (fabs(n) > MAX_EXPONENT)
        return nino_expr_fail(e->err, e->at, "pow() with an exponent above %d", MAX_EXPONENT);
    return expr_power(e, &v[0], &v[1], false, out);
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

static nino_status expr_built_in(eval *e, const char *name, const value *v, int n, value *out)
{
    if (!strcmp(name, "sum") || !strcmp(name, "min") || !strcmp(name, "max"))
        return expr_over(e, name, v, n, out);
    if (!strcmp(name, "abs"))
        return expr_abs(e, v, out);
    if (!strcmp(name, "round"))
        return is_number(v) ? expr_round(e, v, n, out) : expr_no(e, "round()", v, NULL);
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

static nino_status expr_call(eval *e, const nino_expr_node *node, value *out)
{
    value args[MAX_ARGS];
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

static nino_status expr_lookup(eval *e, const nino_expr_node *n, value *out)
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

static nino_status expr_index(eval *e, const nino_expr_node *n, value *out)
{
    value of, at;
    int64_t i = 0, count = 0;
    nino_status st = expr_run(e, n->a, &of);
    st = st ? st : expr_run(e, n->b, &at);
    if (st)
        return st;
    e->at = n->at;
    if ((of.kind != NINO_EXPR_LIST && of.kind != NINO_EXPR_TEXT) || !is_whole(&at))
        return expr_no(e, "[]", &of, &at);
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

static nino_status expr_comparisons(eval *e, const nino_expr_node *n, value *out)
{
    value left, right;
    bool is = true;
    nino_status st = expr_run(e, n->a, &left);
    for (const nino_expr_node *link = n->b; link && is && !st; link = link->next) {
        if ((st = expr_run(e, link->a, &right)))
            return st;
        e->at = link->at;
        st = expr_compares(e, link->sign, &left, &right, &is);
        left = right;
    }
    *out = nino_expr_bool(is);
    return st;
}

static nino_status expr_run(eval *e, const nino_expr_node *n, value *out)
{
    value x, y;
    nino_status st;
    switch (n->op) {
    case NINO_OP_VALUE: *out = n->value; return NINO_OK;
    case NINO_OP_NAME: return expr_lookup(e, n, out);
    case NINO_OP_CALL: return expr_call(e, n, out);
    case NINO_OP_INDEX: return expr_index(e, n, out);
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
        return st ? st : expr_unary(e, n->sign[0], &x, out);
    case NINO_OP_BINARY:
        st = expr_run(e, n->a, &x);
        st = st ? st : expr_run(e, n->b, &y);
        e->at = n->at;
        return st ? st : expr_binary(e, n->sign, &x, &y, out);
    }
    return nino_expr_fail(e->err, n->at, "an unknown operator");
}

nino_status nino_expr_eval(const char *text, const nino_expr_env *env, nino_arena *a,
                           nino_expr_value *out, nino_error *err)
{
    nino_expr_node *root = NULL;
    eval e = { .env = env, .a = a, .err = err };
    const nino_status st = nino_expr_parse(text, a, &root, err);
    return st ? st : expr_run(&e, root, out);
}
