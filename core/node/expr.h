// Internal: expressions in Python's grammar, as nodes for arithmetic take them. Numbers are as
// there: whole ones of any size (up to 4096 bits), / always a float, // and % towards minus infinity.
#pragma once
#include "core/base/arena.h"
#include "core/node/bigint.h"
#include <ninodes/base.h>

typedef enum nino_expr_kind {
    NINO_EXPR_INT,
    NINO_EXPR_BOOL, // in arithmetic 0 and 1
    NINO_EXPR_FLOAT,
    NINO_EXPR_TEXT,
    NINO_EXPR_LIST
} nino_expr_kind;

typedef struct nino_expr_value {
    nino_expr_kind kind;
    bool b;
    double f;
    nino_big *i; // INT; lives as long as the arena
    const char *s;
    size_t len; // bytes of s
    struct nino_expr_value *item;
    int n_items;
} nino_expr_value;

typedef struct nino_expr_var {
    const char *name; // with dots where the place that names have them: "a.width"
    nino_expr_value value;
} nino_expr_var;

typedef struct nino_expr_env {
    const nino_expr_var *vars;
    int n_vars;
    // A function or a name that is not built in; args NULL: a name. *found stays false where there
    // is none. May be NULL.
    nino_status (*other)(void *priv, const char *name, const nino_expr_value *args, int n_args,
                         nino_arena *a, nino_expr_value *out, bool *found, nino_error *err);
    void *priv;
} nino_expr_env;

// Literals, + - * / // % **, comparisons in a chain, in, is, and or not, x if c else y, & | ^ ~ <<
// >>, indexing, and the functions sum min max abs round pow sqrt ceil floor log log2 log10 sin cos
// tan int float. The value lives as long as `a`. Errors: kind "expression", the place as a
// character's number in msg, where = "expression".
nino_status nino_expr_eval(const char *text, const nino_expr_env *env, nino_arena *a,
                           nino_expr_value *out, nino_error *err);

// NULL i: out of memory, which the evaluation reports.
nino_expr_value nino_expr_int(nino_arena *a, int64_t v);
nino_expr_value nino_expr_float(double v);
nino_expr_value nino_expr_bool(bool v);
nino_expr_value nino_expr_text(const char *s);
bool nino_expr_truth(const nino_expr_value *v);
// As Python's int() of a number, float() of one; false: none, or too large.
bool nino_expr_to_i64(const nino_expr_value *v, int64_t *out);
bool nino_expr_to_double(const nino_expr_value *v, double *out);

// ---- between the two files
#define NINO_EXPR_DEPTH 64

typedef enum nino_expr_op {
    NINO_OP_VALUE,
    NINO_OP_NAME,
    NINO_OP_CALL,  // first argument in a, the next one in its `next`
    NINO_OP_INDEX, // a[b]
    NINO_OP_IF,    // a if b else c
    NINO_OP_OR,    // a or b
    NINO_OP_AND,
    NINO_OP_NOT,
    NINO_OP_COMPARE, // a, then pairs of a comparison and b: links in `next` of b
    NINO_OP_BINARY,
    NINO_OP_UNARY
} nino_expr_op;

typedef struct nino_expr_node {
    nino_expr_op op;
    char sign[8]; // of BINARY, UNARY, and of what stands before a link of COMPARE
    int at;       // character, from 1
    const char *name;
    nino_expr_value value;
    struct nino_expr_node *a, *b, *c, *next;
} nino_expr_node;

nino_status nino_expr_parse(const char *text, nino_arena *a, nino_expr_node **out, nino_error *err);
__attribute__((format(printf, 3, 4))) nino_status nino_expr_fail(nino_error *err, int at,
                                                                 const char *fmt, ...);
