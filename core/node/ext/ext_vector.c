// Vectors of two to four numbers, as ComfyMath has them. One run function serves all three sizes.
#include <math.h>

#include "core/base/error.h"
#include "core/node/ext/ext.h"

#define MOST 4

typedef struct vec_op {
    int64_t op;
} vec_op;
typedef struct vec_scalar {
    int64_t op;
    double b;
} vec_scalar;

static int size_of(nino_port_type t) { return (int) (t - NINO_PORT_VEC2) + 2; }

static int read_vec(const nino_value *v, double out[MOST])
{
    for (int i = 0; i < v->n_items && i < MOST; i++)
        out[i] = v->item[i] ? v->item[i]->u.f : 0;
    return v->n_items;
}

static nino_status give_vec(nino_run *r, int n, const double *v, nino_error *err)
{
    nino_value *out = nino_ext_out_bundle(r, 0, (nino_port_type) (NINO_PORT_VEC2 + n - 2), n, err);
    for (int i = 0; out && i < n; i++) {
        if (!isfinite(v[i]))
            return nino_fail_kind(err, NINO_ERR_RANGE, "value", "op",
                                  "the result is not a finite vector");
        if (!(out->item[i] = nino_value_create(NINO_PORT_FLOAT)))
            return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
        out->item[i]->u.f = v[i];
    }
    return out ? NINO_OK : NINO_ERR_NOMEM;
}

static double norm_of(const double *v, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += v[i] * v[i];
    return sqrt(sum);
}

// numpy's allclose(a, b).
static bool is_close(const double *a, const double *b, int n)
{
    for (int i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= 1e-8 + 1e-5 * fabs(b[i])))
            return false;
    return true;
}

static nino_status unary_run(nino_run *r, nino_error *err)
{
    double v[MOST];
    const int n = read_vec(r->in[0], v);
    const double by = ((const vec_op *) r->params)->op ? 1 / norm_of(v, n) : -1;
    for (int i = 0; i < n; i++)
        v[i] *= by;
    return give_vec(r, n, v, err);
}

static nino_status is_run(nino_run *r, nino_error *err)
{
    const int64_t op = ((const vec_op *) r->params)->op;
    double v[MOST], unit[MOST];
    const int n = read_vec(r->in[0], v);
    const double norm = norm_of(v, n);
    for (int i = 0; i < n; i++)
        unit[i] = v[i] / norm;
    const bool yes = op < 2 ? norm == 0 : is_close(v, unit, n);
    return nino_out_bool(r, 0, yes != (op % 2 == 1), err);
}

static nino_status norm_run(nino_run *r, nino_error *err)
{
    double v[MOST];
    const int n = read_vec(r->in[0], v);
    return nino_out_float(r, 0, norm_of(v, n), err);
}

static nino_status binary_run(nino_run *r, nino_error *err)
{
    const int64_t op = ((const vec_op *) r->params)->op;
    double a[MOST], b[MOST], v[MOST] = { 0 };
    const int n = read_vec(r->in[0], a);
    read_vec(r->in[1], b);
    if (op == 2 && n != 3)
        return nino_fail_kind(err, NINO_ERR_ARG, "value", "op",
                              "only vectors of three numbers have a cross product that is one");
    for (int i = 0; i < n; i++)
        v[i] = op == 0   ? a[i] + b[i]
               : op == 1 ? a[i] - b[i]
                         : a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
    return give_vec(r, n, v, err);
}

static nino_status compare_run(nino_run *r, nino_error *err)
{
    double a[MOST], b[MOST];
    const int n = read_vec(r->in[0], a);
    read_vec(r->in[1], b);
    return nino_out_bool(r, 0, is_close(a, b, n) != (((const vec_op *) r->params)->op == 1), err);
}

static nino_status dot_run(nino_run *r, nino_error *err)
{
    const bool is_distance = ((const vec_op *) r->params)->op == 1;
    double a[MOST], b[MOST], sum = 0;
    const int n = read_vec(r->in[0], a);
    read_vec(r->in[1], b);
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
        a[i] -= b[i];
    }
    return nino_out_float(r, 0, is_distance ? norm_of(a, n) : sum, err);
}

static nino_status scalar_run(nino_run *r, nino_error *err)
{
    const vec_scalar *p = r->params;
    double v[MOST];
    const int n = read_vec(r->in[0], v);
    if (p->op && p->b == 0)
        return nino_fail_kind(err, NINO_ERR_RANGE, "value", "b", "division by zero");
    for (int i = 0; i < n; i++)
        v[i] = p->op ? v[i] / p->b : v[i] * p->b;
    return give_vec(r, n, v, err);
}

static nino_status compose_run(nino_run *r, nino_error *err)
{
    const double *v = r->params; // x, y, ... in a row
    return give_vec(r, size_of(r->def->outputs[0].type), v, err);
}

static nino_status break_run(nino_run *r, nino_error *err)
{
    double v[MOST];
    const int n = read_vec(r->in[0], v);
    nino_status st = NINO_OK;
    for (int i = 0; i < n && !st; i++)
        st = nino_out_float(r, i, v[i], err);
    return st;
}

// ---- the nodes -------------------------------------------------------------------------------

#define VEC_OP(...)                                                                                \
    NINO_PARAMS(vec_op, NINO_P_ENUM(vec_op, op, NINO_WORDS(__VA_ARGS__), 0, .label = "Operation",  \
                                    .help = "What is done"))
// What there is for vectors of n numbers, but for their making and breaking.
#define VEC_NODES(n)                                                                               \
    NINO_NODE(cm_vec##n##_unary, "CM_Vec" #n "UnaryOperation", "Vec" #n "UnaryOperation",          \
              "math/vec" #n, "One operation on a vector", NINO_INPUTS(NINO_PORT(a, VEC##n)),       \
              NINO_OUTPUTS(NINO_PORT(VEC##n, VEC##n)), VEC_OP("Neg", "Normalize"),                 \
              NINO_RUN(unary_run));                                                                \
    NINO_NODE(cm_vec##n##_is, "CM_Vec" #n "UnaryCondition", "Vec" #n "UnaryCondition",             \
              "math/vec" #n, "Asks about a vector", NINO_INPUTS(NINO_PORT(a, VEC##n)),             \
              NINO_OUTPUTS(NINO_PORT(BOOL, BOOLEAN)),                                              \
              VEC_OP("IsZero", "IsNotZero", "IsNormalized", "IsNotNormalized"), NINO_RUN(is_run)); \
    NINO_NODE(cm_vec##n##_norm, "CM_Vec" #n "ToScalarUnaryOperation",                              \
              "Vec" #n "ToScalarUnaryOperation", "math/vec" #n, "The length of a vector",          \
              NINO_INPUTS(NINO_PORT(a, VEC##n)), NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT)),            \
              VEC_OP("Norm"), NINO_RUN(norm_run));                                                 \
    NINO_NODE(cm_vec##n##_binary, "CM_Vec" #n "BinaryOperation", "Vec" #n "BinaryOperation",       \
              "math/vec" #n, "One operation on two vectors",                                       \
              NINO_INPUTS(NINO_PORT(a, VEC##n), NINO_PORT(b, VEC##n)),                             \
              NINO_OUTPUTS(NINO_PORT(VEC##n, VEC##n)), VEC_OP("Add", "Sub", "Cross"),              \
              NINO_RUN(binary_run));                                                               \
    NINO_NODE(cm_vec##n##_compare, "CM_Vec" #n "BinaryCondition", "Vec" #n "BinaryCondition",      \
              "math/vec" #n, "Compares two vectors",                                               \
              NINO_INPUTS(NINO_PORT(a, VEC##n), NINO_PORT(b, VEC##n)),                             \
              NINO_OUTPUTS(NINO_PORT(BOOL, BOOLEAN)), VEC_OP("Eq", "Neq"), NINO_RUN(compare_run)); \
    NINO_NODE(cm_vec##n##_dot, "CM_Vec" #n "ToScalarBinaryOperation",                              \
              "Vec" #n "ToScalarBinaryOperation", "math/vec" #n, "A number of two vectors",        \
              NINO_INPUTS(NINO_PORT(a, VEC##n), NINO_PORT(b, VEC##n)),                             \
              NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT)), VEC_OP("Dot", "Distance"),                    \
              NINO_RUN(dot_run));                                                                  \
    NINO_NODE(cm_vec##n##_scalar, "CM_Vec" #n "ScalarOperation", "Vec" #n "ScalarOperation",       \
              "math/vec" #n, "A vector times a number, or divided by it",                          \
              NINO_INPUTS(NINO_PORT(a, VEC##n)), NINO_OUTPUTS(NINO_PORT(VEC##n, VEC##n)),          \
              NINO_PARAMS(vec_scalar,                                                              \
                          NINO_P_ENUM(vec_scalar, op, NINO_WORDS("Mul", "Div"), 0,                 \
                                      .label = "Operation", .help = "What is done"),               \
                          NINO_P_FLOAT(vec_scalar, b, 0.0, -EXT_LARGEST, EXT_LARGEST, 0.01,        \
                                       .label = "b", .help = "The number")),                       \
              NINO_RUN(scalar_run))

VEC_NODES(2);
VEC_NODES(3);
VEC_NODES(4);

#define VEC_NUMBER(type, name, which)                                                              \
    NINO_P_FLOAT(type, name, 0.0, -EXT_LARGEST, EXT_LARGEST, 0.01, .label = #name,                 \
                 .help = which " number")

typedef struct compose2 {
    double x;
    double y;
} compose2;

NINO_NODE(cm_compose2, "CM_ComposeVec2", "ComposeVec2", "math/conversion", "A vector of 2 numbers",
          NINO_OUTPUTS(NINO_PORT(VEC2, VEC2)),
          NINO_PARAMS(compose2, VEC_NUMBER(compose2, x, "First"),
                      VEC_NUMBER(compose2, y, "Second")),
          NINO_RUN(compose_run));

NINO_NODE(cm_break2, "CM_BreakoutVec2", "BreakoutVec2", "math/conversion",
          "The numbers of a vector", NINO_INPUTS(NINO_PORT(a, VEC2)),
          NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT), NINO_PORT(FLOAT_2, FLOAT)), NINO_RUN(break_run));

typedef struct compose3 {
    double x;
    double y;
    double z;
} compose3;

NINO_NODE(cm_compose3, "CM_ComposeVec3", "ComposeVec3", "math/conversion", "A vector of 3 numbers",
          NINO_OUTPUTS(NINO_PORT(VEC3, VEC3)),
          NINO_PARAMS(compose3, VEC_NUMBER(compose3, x, "First"), VEC_NUMBER(compose3, y, "Second"),
                      VEC_NUMBER(compose3, z, "Third")),
          NINO_RUN(compose_run));

NINO_NODE(cm_break3, "CM_BreakoutVec3", "BreakoutVec3", "math/conversion",
          "The numbers of a vector", NINO_INPUTS(NINO_PORT(a, VEC3)),
          NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT), NINO_PORT(FLOAT_2, FLOAT),
                       NINO_PORT(FLOAT_3, FLOAT)),
          NINO_RUN(break_run));

typedef struct compose4 {
    double x;
    double y;
    double z;
    double w;
} compose4;

NINO_NODE(cm_compose4, "CM_ComposeVec4", "ComposeVec4", "math/conversion", "A vector of 4 numbers",
          NINO_OUTPUTS(NINO_PORT(VEC4, VEC4)),
          NINO_PARAMS(compose4, VEC_NUMBER(compose4, x, "First"), VEC_NUMBER(compose4, y, "Second"),
                      VEC_NUMBER(compose4, z, "Third"), VEC_NUMBER(compose4, w, "Fourth")),
          NINO_RUN(compose_run));

NINO_NODE(cm_break4, "CM_BreakoutVec4", "BreakoutVec4", "math/conversion",
          "The numbers of a vector", NINO_INPUTS(NINO_PORT(a, VEC4)),
          NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT), NINO_PORT(FLOAT_2, FLOAT),
                       NINO_PORT(FLOAT_3, FLOAT), NINO_PORT(FLOAT_4, FLOAT)),
          NINO_RUN(break_run));
