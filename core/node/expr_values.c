// Expressions in Python's grammar: arithmetic and comparisons.
#include "core/node/expr_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/num.h"

#define MAX_POWER 4000000 // of either operand of **
#define MAX_TEXT 100000   // bytes that an expression makes

typedef nino_expr_value value;

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

bool nino_expr_to_double(const value *v, double *out)
{
    if (!nino_expr_is_number(v))
        return false;
    const nino_big big = nino_expr_is_whole(v) ? nino_expr_whole(v) : nino_big_of(0);
    *out = nino_expr_is_whole(v) ? nino_big_to_double(&big) : v->f;
    return isfinite(*out);
}

bool nino_expr_to_i64(const value *v, int64_t *out)
{
    nino_big big;
    if (!nino_expr_is_number(v) || (!nino_expr_is_whole(v) && !nino_big_of_double(v->f, &big)))
        return false;
    if (nino_expr_is_whole(v))
        big = nino_expr_whole(v);
    return nino_big_to_i64(&big, out);
}

static const char *expr_kind(const value *v)
{
    static const char *const names[] = { "int", "bool", "float", "str", "list" };
    return names[v->kind];
}

nino_status nino_expr_give(nino_expr_eval_state *e, const nino_big *big, bool ok, value *out)
{
    if (!ok)
        return nino_expr_fail(e->err, e->at, "a number of more than 4096 bits");
    *out = expr_big(e->a, big);
    return out->i ? NINO_OK : nino_fail(e->err, NINO_ERR_NOMEM, "expression", "out of memory");
}

nino_status nino_expr_no(nino_expr_eval_state *e, const char *sign, const value *x, const value *y)
{
    return nino_expr_fail(e->err, e->at, "%s of %s%s%s", sign, expr_kind(x), y ? " and " : "",
                          y ? expr_kind(y) : "");
}

// A float operand; whole numbers that no float can hold are an error.
nino_status nino_expr_float_of(nino_expr_eval_state *e, const value *v, double *out)
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

nino_status nino_expr_power(nino_expr_eval_state *e, const value *x, const value *y,
                            bool is_limited, value *out)
{
    double a = 0, b = 0;
    int64_t n = 0;
    nino_status st = nino_expr_float_of(e, x, &a);
    st = st ? st : nino_expr_float_of(e, y, &b);
    if (st)
        return st;
    if (is_limited && (fabs(a) > MAX_POWER || fabs(b) > MAX_POWER))
        return nino_expr_fail(e->err, e->at, "** of a number above %d", MAX_POWER);
    if (nino_expr_is_whole(x) && nino_expr_is_whole(y) && nino_expr_to_i64(y, &n) && n >= 0) {
        const nino_big base = nino_expr_whole(x);
        nino_big r;
        const bool ok = nino_big_pow(&base, (uint32_t) n, &r);
        return nino_expr_give(e, &r, ok, out);
    }
    if (a == 0 && b < 0)
        return nino_expr_fail(e->err, e->at, "a negative power of zero");
    if (a < 0 && b != trunc(b))
        return nino_expr_fail(e->err, e->at, "a fractional power of a negative number");
    *out = nino_expr_float(pow(a, b));
    return isinf(out->f) ? nino_expr_fail(e->err, e->at, "the result is too large") : NINO_OK;
}

static nino_status expr_whole_op(nino_expr_eval_state *e, const char *sign, const value *x,
                                 const value *y, value *out)
{
    const nino_big a = nino_expr_whole(x), b = nino_expr_whole(y);
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
    return nino_expr_give(e, &r, ok, out);
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

static nino_status expr_float_op(nino_expr_eval_state *e, const char *sign, const value *x,
                                 const value *y, value *out)
{
    double a = 0, b = 0, q = 0, r = 0;
    nino_status st = nino_expr_float_of(e, x, &a);
    st = st ? st : nino_expr_float_of(e, y, &b);
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
    default: return nino_expr_no(e, sign, x, y);
    }
    *out = nino_expr_float(r);
    return NINO_OK;
}

// Texts one after the other, or one several times.
static nino_status expr_text_op(nino_expr_eval_state *e, const char *sign, const value *x,
                                const value *y, value *out)
{
    const bool joins = *sign == '+' && x->kind == NINO_EXPR_TEXT && y->kind == NINO_EXPR_TEXT;
    const value *text = x->kind == NINO_EXPR_TEXT ? x : y, *times = text == x ? y : x;
    int64_t n = 1;
    if (!joins && (strcmp(sign, "*") != 0 || !nino_expr_is_whole(times)))
        return nino_expr_no(e, sign, x, y);
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

nino_status nino_expr_binary(nino_expr_eval_state *e, const char *sign, const value *x,
                             const value *y, value *out)
{
    if (x->kind == NINO_EXPR_TEXT || y->kind == NINO_EXPR_TEXT)
        return expr_text_op(e, sign, x, y, out);
    if (!nino_expr_is_number(x) || !nino_expr_is_number(y))
        return nino_expr_no(e, sign, x, y);
    if (!strcmp(sign, "**"))
        return nino_expr_power(e, x, y, true, out);
    return nino_expr_is_whole(x) && nino_expr_is_whole(y) ? expr_whole_op(e, sign, x, y, out)
                                                          : expr_float_op(e, sign, x, y, out);
}

nino_status nino_expr_unary(nino_expr_eval_state *e, char sign, const value *x, value *out)
{
    const nino_big zero = nino_big_of(0), one = nino_big_of(1);
    if (x->kind == NINO_EXPR_FLOAT && sign != '~') {
        *out = nino_expr_float(sign == '-' ? -x->f : x->f);
        return NINO_OK;
    }
    if (!nino_expr_is_whole(x))
        return nino_expr_no(e, (const char[]){ sign, 0 }, x, NULL);
    const nino_big a = nino_expr_whole(x);
    nino_big r = a;
    bool ok = true;
    if (sign != '+')
        ok = nino_big_sub(&zero, &a, &r);
    if (sign == '~')
        ok = ok && nino_big_sub(&r, &one, &r);
    return nino_expr_give(e, &r, ok, out);
}

// ---- comparing -------------------------------------------------------------------------------

// -1, 0, 1; 2: neither (NaN). Both are numbers, or both are texts.
int nino_expr_order(const value *x, const value *y)
{
    if (x->kind == NINO_EXPR_TEXT) {
        const size_t n = x->len < y->len ? x->len : y->len;
        const int c = memcmp(x->s, y->s, n); // UTF-8 sorts as its code points
        return c ? (c > 0) - (c < 0) : (x->len > y->len) - (x->len < y->len);
    }
    if (nino_expr_is_whole(x) && nino_expr_is_whole(y)) {
        const nino_big a = nino_expr_whole(x), b = nino_expr_whole(y);
        return nino_big_compare(&a, &b);
    }
    if ((!nino_expr_is_whole(x) && isnan(x->f)) || (!nino_expr_is_whole(y) && isnan(y->f)))
        return 2;
    if (nino_expr_is_whole(x)) {
        const nino_big a = nino_expr_whole(x);
        return nino_big_compare_double(&a, y->f);
    }
    if (nino_expr_is_whole(y)) {
        const nino_big b = nino_expr_whole(y);
        return -nino_big_compare_double(&b, x->f);
    }
    return (x->f > y->f) - (x->f < y->f);
}

// Lists hold numbers and texts only.
static bool expr_equal(const value *x, const value *y)
{
    if (x->kind == NINO_EXPR_LIST && y->kind == NINO_EXPR_LIST) {
        bool same = x->n_items == y->n_items;
        for (int i = 0; same && i < x->n_items; i++)
            same = nino_expr_comparable(&x->item[i], &y->item[i]) &&
                   !nino_expr_order(&x->item[i], &y->item[i]);
        return same;
    }
    return nino_expr_comparable(x, y) && !nino_expr_order(x, y);
}

static nino_status expr_contains(nino_expr_eval_state *e, const value *x, const value *y, bool *out)
{
    *out = false;
    if (y->kind == NINO_EXPR_TEXT && x->kind == NINO_EXPR_TEXT) {
        *out = !x->len || memmem(y->s, y->len, x->s, x->len);
        return NINO_OK;
    }
    if (y->kind != NINO_EXPR_LIST)
        return nino_expr_no(e, "in", x, y);
    for (int i = 0; i < y->n_items && !*out; i++)
        *out = expr_equal(x, &y->item[i]);
    return NINO_OK;
}

nino_status nino_expr_compares(nino_expr_eval_state *e, const char *sign, const value *x,
                               const value *y, bool *out)
{
    const bool is_not = !strcmp(sign, "!=") || strstr(sign, "not");
    nino_status st = NINO_OK;
    if (strstr(sign, "in")) {
        st = expr_contains(e, x, y, out);
    } else if (*sign == 'i') {
        *out = x->kind == y->kind && expr_equal(x, y);
    } else if (sign[0] == '=' || sign[0] == '!') {
        *out = expr_equal(x, y);
    } else if (!nino_expr_comparable(x, y)) {
        return nino_expr_no(e, sign, x, y);
    } else {
        const int c = nino_expr_order(x, y);
        *out = c != 2 && (*sign == '<' ? c < 0 : c > 0);
        *out = *out || (sign[1] == '=' && c == 0);
        return NINO_OK;
    }
    *out = *out != is_not;
    return st;
}
