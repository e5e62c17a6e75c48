// Internal to the evaluation of expressions: numbers and texts under operators.
#pragma once
#include "core/node/expr.h"

typedef struct nino_expr_eval_state {
    const nino_expr_env *env;
    nino_arena *a;
    nino_error *err;
    int at; // of the node at hand
} nino_expr_eval_state;

static inline bool nino_expr_is_number(const nino_expr_value *v)
{
    return v->kind <= NINO_EXPR_FLOAT;
}
static inline bool nino_expr_is_whole(const nino_expr_value *v)
{
    return v->kind <= NINO_EXPR_BOOL;
}
static inline nino_big nino_expr_whole(const nino_expr_value *v)
{
    return v->kind == NINO_EXPR_BOOL ? nino_big_of(v->b) : *v->i;
}
static inline bool nino_expr_comparable(const nino_expr_value *x, const nino_expr_value *y)
{
    return (nino_expr_is_number(x) && nino_expr_is_number(y)) ||
           (x->kind == NINO_EXPR_TEXT && y->kind == NINO_EXPR_TEXT);
}

// The whole number as a value; ok false: it is too large.
nino_status nino_expr_give(nino_expr_eval_state *e, const nino_big *big, bool ok,
                           nino_expr_value *out);
// "SIGN of int and str"; y may be NULL.
nino_status nino_expr_no(nino_expr_eval_state *e, const char *sign, const nino_expr_value *x,
                         const nino_expr_value *y);
// A float operand; whole numbers that no float can hold are an error.
nino_status nino_expr_float_of(nino_expr_eval_state *e, const nino_expr_value *v, double *out);
nino_status nino_expr_power(nino_expr_eval_state *e, const nino_expr_value *x,
                            const nino_expr_value *y, bool is_limited, nino_expr_value *out);
nino_status nino_expr_binary(nino_expr_eval_state *e, const char *sign, const nino_expr_value *x,
                             const nino_expr_value *y, nino_expr_value *out);
nino_status nino_expr_unary(nino_expr_eval_state *e, char sign, const nino_expr_value *x,
                            nino_expr_value *out);
// -1, 0, 1; 2: neither (NaN). Both are comparable.
int nino_expr_order(const nino_expr_value *x, const nino_expr_value *y);
nino_status nino_expr_compares(nino_expr_eval_state *e, const char *sign, const nino_expr_value *x,
                               const nino_expr_value *y, bool *out);
