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

// ---- of 2 numbers ----------------------------------------------------------------------------

typedef struct compose2 {
    double x;
    double y;
} compose2;

NINO_NODE(cm_compose2, "CM_ComposeVec2", "ComposeVec2", "math/conversion", "A vector of 2 numbers",
          NINO_OUTPUTS(NINO_PORT(VEC2, VEC2)),
          NINO_PARAMS(compose2,
                      NINO_P_FLOAT(compose2, x, 0.0, -EXT_LARGEST, EXT_LARGEST, 0.01, .label = "x",
                                   .help = "First number"),
                      NINO_P_FLOAT(compose2, y, 0.0, -EXT_LARGEST, EXT_LARGEST, 0.01, .label = "y",
                                   .help = "Second number")),
          NINO_RUN(compose_run));

NINO_NODE(cm_break2, "CM_BreakoutVec2", "BreakoutVec2", "math/conversion",
          "The numbers of a vector", NINO_INPUTS(NINO_PORT(a, VEC2)),
          NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT), NINO_PORT(FLOAT_2, FLOAT)), NINO_RUN(break_run));

NINO_NODE(cm_vec2_unary, "CM_Vec2UnaryOperation", "Vec2UnaryOperation", "math/vec2",
          "One operation on a vector", NINO_INPUTS(NINO_PORT(a, VEC2)),
          NINO_OUTPUTS(NINO_PORT(VEC2, VEC2)),
          NINO_PARAMS(vec_op, NINO_P_ENUM(vec_op, op, NINO_WORDS("Neg", "Normalize"), 0,
                                          .label = "Operation", .help = "What is done")),
          NINO_RUN(unary_run));

NINO_NODE(cm_vec2_is, "CM_Vec2UnaryCondition", "Vec2UnaryCondition", "math/vec2",
          "Asks about a vector", NINO_INPUTS(NINO_PORT(a, VEC2)),
          NINO_OUTPUTS(NINO_PORT(BOOL, BOOLEAN)),
          NINO_PARAMS(vec_op, NINO_P_ENUM(vec_op, op,
                                          NINO_WORDS("IsZero", "IsNotZero", "IsNormalized",
                                                     "IsNotNormalized"),
                                          0, .label = "Operation", .help = "What is done")),
          NINO_RUN(is_run));

NINO_NODE(cm_vec2_norm, "CM_Vec2ToScalarUnaryOperation", "Vec2ToScalarUnaryOperation", "math/vec2",
          "The length of a vector", NINO_INPUTS(NINO_PORT(a, VEC2)),
          NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT)),
          NINO_PARAMS(vec_op, NINO_P_ENUM(vec_op, op, NINO_WORDS("Norm"), 0, .label = "Operation",
                                          .help = "What is done")),
          NINO_RUN(norm_run));

NINO_NODE(cm_vec2_binary, "CM_Vec2BinaryOperation", "Vec2BinaryOperation", "math/vec2",
          "One operation on two vectors", NINO_INPUTS(NINO_PORT(a, VEC2), NINO_PORT(b, VEC2)),
          NINO_OUTPUTS(NINO_PORT(VEC2, VEC2)),
          NINO_PARAMS(vec_op, NINO_P_ENUM(vec_op, op, NINO_WORDS("Add", "Sub", "Cross"), 0,
                                          .label = "Operation", .help = "What is done")),
          NINO_RUN(binary_run));

NINO_NODE(cm_vec2_compare, "CM_Vec2BinaryCondition", "Vec2BinaryCondition", "math/vec2",
          "Compares two vectors", NINO_INPUTS(NINO_PORT(a, VEC2), NINO_PORT(b, VEC2)),
          NINO_OUTPUTS(NINO_PORT(BOOL, BOOLEAN)),
          NINO_PARAMS(vec_op, NINO_P_ENUM(vec_op, op, NINO_WORDS("Eq", "Neq"), 0,
                                          .label = "Operation", .help = "What is done")),
          NINO_RUN(compare_run));

NINO_NODE(cm_vec2_dot, "CM_Vec2ToScalarBinaryOperation", "Vec2ToScalarBinaryOperation", "math/vec2",
          "A number of two vectors", NINO_INPUTS(NINO_PORT(a, VEC2), NINO_PORT(b, VEC2)),
          NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT)),
          NINO_PARAMS(vec_op, NINO_P_ENUM(vec_op, op, NINO_WORDS("Dot", "Distance"), 0,
                                          .label = "Operation", .help = "What is done")),
          NINO_RUN(dot_run));

NINO_NODE(cm_vec2_scalar, "CM_Vec2ScalarOperation", "Vec2ScalarOperation", "math/vec2",
          "A vector times a number, or divided by it", NINO_INPUTS(NINO_PORT(a, VEC2)),
          NINO_OUTPUTS(NINO_PORT(VEC2, VEC2)),
          NINO_PARAMS(vec_scalar,
                      NINO_P_ENUM(vec_scalar, op, NINO_WORDS("Mul", "Div"), 0, .label = "Operation",
                                  .help = "What is done"),
                      NINO_P_FLOAT(vec_scalar, b, 0.0, -EXT_LARGEST, EXT_LARGEST, 0.01,
                                   .label = "b", .help = "The number")),
          NINO_RUN(scalar_run));

// ---- of 3 numbers ----------------------------------------------------------------------------

typedef struct compose3 {
    double x;
    double y;
    double z;
} compose3;

NINO_NODE(cm_compose3, "CM_ComposeVec3", "ComposeVec3", "math/conversion", "A vector of 3 numbers",
          NINO_OUTPUTS(NINO_PORT(VEC3, VEC3)),
          NINO_PARAMS(compose3,
                      NINO_P_FLOAT(compose3, x, 0.0, -EXT_LARGEST, EXT_LARGEST, 0.01, .label = "x",
                                   .help = "First number"),
                      NINO_P_FLOAT(compose3, y, 0.0, -EXT_LARGEST, EXT_LARGEST, 0.01, .label = "y",
                                   .help = "Second number"),
                      NINO_P_FLOAT(compose3, z, 0.0, -EXT_LARGEST, EXT_LARGEST, 0.01, .label = "z",
                                   .help = "Third number")),
          NINO_RUN(compose_run));

NINO_NODE(cm_break3, "CM_BreakoutVec3", "BreakoutVec3", "math/conversion",
          "The numbers of a vector", NINO_INPUTS(NINO_PORT(a, VEC3)),
          NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT), NINO_PORT(FLOAT_2, FLOAT),
                       NINO_PORT(FLOAT_3, FLOAT)),
          NINO_RUN(break_run));

NINO_NODE(cm_vec3_unary, "CM_Vec3UnaryOperation", "Vec3UnaryOperation", "math/vec3",
          "One operation on a vector", NINO_INPUTS(NINO_PORT(a, VEC3)),
          NINO_OUTPUTS(NINO_PORT(VEC3, VEC3)),
          NINO_PARAMS(vec_op, NINO_P_ENUM(vec_op, op, NINO_WORDS("Neg", "Normalize"), 0,
                                          .label = "Operation", .help = "What is done")),
          NINO_RUN(unary_run));

NINO_NODE(cm_vec3_is, "CM_Vec3UnaryCondition", "Vec3UnaryCondition", "math/vec3",
          "Asks about a vector", NINO_INPUTS(NINO_PORT(a, VEC3)),
          NINO_OUTPUTS(NINO_PORT(BOOL, BOOLEAN)),
          NINO_PARAMS(vec_op, NINO_P_ENUM(vec_op, op,
                                          NINO_WORDS("IsZero", "IsNotZero", "IsNormalized",
                                                     "IsNotNormalized"),
                                          0, .label = "Operation", .help = "What is done")),
          NINO_RUN(is_run));

NINO_NODE(cm_vec3_norm, "CM_Vec3ToScalarUnaryOperation", "Vec3ToScalarUnaryOperation", "math/vec3",
          "The length of a vector", NINO_INPUTS(NINO_PORT(a, VEC3)),
          NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT)),
          NINO_PARAMS(vec_op, NINO_P_ENUM(vec_op, op, NINO_WORDS("Norm"), 0, .label = "Operation",
                                          .help = "What is done")),
          NINO_RUN(norm_run));

NINO_NODE(cm_vec3_binary, "CM_Vec3BinaryOperation", "Vec3BinaryOperation", "math/vec3",
          "One operation on two vectors", NINO_INPUTS(NINO_PORT(a, VEC3), NINO_PORT(b, VEC3)),
          NINO_OUTPUTS(NINO_PORT(VEC3, VEC3)),
          NINO_PARAMS(vec_op, NINO_P_ENUM(vec_op, op, NINO_WORDS("Add", "Sub", "Cross"), 0,
                                          .label = "Operation", .help = "What is done")),
          NINO_RUN(binary_run));

NINO_NODE(cm_vec3_compare, "CM_Vec3BinaryCondition", "Vec3BinaryCondition", "math/vec3",
          "Compares two vectors", NINO_INPUTS(NINO_PORT(a, VEC3), NINO_PORT(b, VEC3)),
          NINO_OUTPUTS(NINO_PORT(BOOL, BOOLEAN)),
          NINO_PARAMS(vec_op, NINO_P_ENUM(vec_op, op, NINO_WORDS("Eq", "Neq"), 0,
                                          .label = "Operation", .help = "What is done")),
          NINO_RUN(compare_run));

NINO_NODE(cm_vec3_dot, "CM_Vec3ToScalarBinaryOperation", "Vec3ToScalarBinaryOperation", "math/vec3",
          "A number of two vectors", NINO_INPUTS(NINO_PORT(a, VEC3), NINO_PORT(b, VEC3)),
          NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT)),
          NINO_PARAMS(vec_op, NINO_P_ENUM(vec_op, op, NINO_WORDS("Dot", "Distance"), 0,
                                          .label = "Operation", .help = "What is done")),
          NINO_RUN(dot_run));

NINO_NODE(cm_vec3_scalar, "CM_Vec3ScalarOperation", "Vec3ScalarOperation", "math/vec3",
          "A vector times a number, or divided by it", NINO_INPUTS(NINO_PORT(a, VEC3)),
          NINO_OUTPUTS(NINO_PORT(VEC3, VEC3)),
          NINO_PARAMS(vec_scalar,
                      NINO_P_ENUM(vec_scalar, op, NINO_WORDS("Mul", "Div"), 0, .label = "Operation",
                                  .help = "What is done"),
                      NINO_P_FLOAT(vec_scalar, b, 0.0, -EXT_LARGEST, EXT_LARGEST, 0.01,
                                   .label = "b", .help = "The number")),
          NINO_RUN(scalar_run));

// ---- of 4 numbers ----------------------------------------------------------------------------

typedef struct compose4 {
    double x;
    double y;
    double z;
    double w;
} compose4;

NINO_NODE(cm_compose4, "CM_ComposeVec4", "ComposeVec4", "math/conversion", "A vector of 4 numbers",
          NINO_OUTPUTS(NINO_PORT(VEC4, VEC4)),
          NINO_PARAMS(compose4,
                      NINO_P_FLOAT(compose4, x, 0.0, -EXT_LARGEST, EXT_LARGEST, 0.01, .label = "x",
                                   .help = "First number"),
                      NINO_P_FLOAT(compose4, y, 0.0, -EXT_LARGEST, EXT_LARGEST, 0.01, .label = "y",
                                   .help = "Second number"),
                      NINO_P_FLOAT(compose4, z, 0.0, -EXT_LARGEST, EXT_LARGEST, 0.01, .label = "z",
                                   .help = "Third number"),
                      NINO_P_FLOAT(compose4, w, 0.0, -EXT_LARGEST, EXT_LARGEST, 0.01, .label = "w",
                                   .help = "Fourth number")),
          NINO_RUN(compose_run));

NINO_NODE(cm_break4, "CM_BreakoutVec4", "BreakoutVec4", "math/conversion",
          "The numbers of a vector", NINO_INPUTS(NINO_PORT(a, VEC4)),
          NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT), NINO_PORT(FLOAT_2, FLOAT),
                       NINO_PORT(FLOAT_3, FLOAT), NINO_PORT(FLOAT_4, FLOAT)),
          NINO_RUN(break_run));

NINO_NODE(cm_vec4_unary, "CM_Vec4UnaryOperation", "Vec4UnaryOperation", "math/vec4",
          "One operation on a vector", NINO_INPUTS(NINO_PORT(a, VEC4)),
          NINO_OUTPUTS(NINO_PORT(VEC4, VEC4)),
          NINO_PARAMS(vec_op, NINO_P_ENUM(vec_op, op, NINO_WORDS("Neg", "Normalize"), 0,
                                          .label = "Operation", .help = "What is done")),
          NINO_RUN(unary_run));

NINO_NODE(cm_vec4_is, "CM_Vec4UnaryCondition", "Vec4UnaryCondition", "math/vec4",
          "Asks about a vector", NINO_INPUTS(NINO_PORT(a, VEC4)),
          NINO_OUTPUTS(NINO_PORT(BOOL, BOOLEAN)),
          NINO_PARAMS(vec_op, NINO_P_ENUM(vec_op, op,
                                          NINO_WORDS("IsZero", "IsNotZero", "IsNormalized",
                                                     "IsNotNormalized"),
                                          0, .label = "Operation", .help = "What is done")),
          NINO_RUN(is_run));

NINO_NODE(cm_vec4_norm, "CM_Vec4ToScalarUnaryOperation", "Vec4ToScalarUnaryOperation", "math/vec4",
          "The length of a vector", NINO_INPUTS(NINO_PORT(a, VEC4)),
          NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT)),
          NINO_PARAMS(vec_op, NINO_P_ENUM(vec_op, op, NINO_WORDS("Norm"), 0, .label = "Operation",
                                          .help = "What is done")),
          NINO_RUN(norm_run));

NINO_NODE(cm_vec4_binary, "CM_Vec4BinaryOperation", "Vec4BinaryOperation", "math/vec4",
          "One operation on two vectors", NINO_INPUTS(NINO_PORT(a, VEC4), NINO_PORT(b, VEC4)),
          NINO_OUTPUTS(NINO_PORT(VEC4, VEC4)),
          NINO_PARAMS(vec_op, NINO_P_ENUM(vec_op, op, NINO_WORDS("Add", "Sub", "Cross"), 0,
                                          .label = "Operation", .help = "What is done")),
          NINO_RUN(binary_run));

NINO_NODE(cm_vec4_compare, "CM_Vec4BinaryCondition", "Vec4BinaryCondition", "math/vec4",
          "Compares two vectors", NINO_INPUTS(NINO_PORT(a, VEC4), NINO_PORT(b, VEC4)),
          NINO_OUTPUTS(NINO_PORT(BOOL, BOOLEAN)),
          NINO_PARAMS(vec_op, NINO_P_ENUM(vec_op, op, NINO_WORDS("Eq", "Neq"), 0,
                                          .label = "Operation", .help = "What is done")),
          NINO_RUN(compare_run));

NINO_NODE(cm_vec4_dot, "CM_Vec4ToScalarBinaryOperation", "Vec4ToScalarBinaryOperation", "math/vec4",
          "A number of two vectors", NINO_INPUTS(NINO_PORT(a, VEC4), NINO_PORT(b, VEC4)),
          NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT)),
          NINO_PARAMS(vec_op, NINO_P_ENUM(vec_op, op, NINO_WORDS("Dot", "Distance"), 0,
                                          .label = "Operation", .help = "What is done")),
          NINO_RUN(dot_run));

NINO_NODE(cm_vec4_scalar, "CM_Vec4ScalarOperation", "Vec4ScalarOperation", "math/vec4",
          "A vector times a number, or divided by it", NINO_INPUTS(NINO_PORT(a, VEC4)),
          NINO_OUTPUTS(NINO_PORT(VEC4, VEC4)),
          NINO_PARAMS(vec_scalar,
                      NINO_P_ENUM(vec_scalar, op, NINO_WORDS("Mul", "Div"), 0, .label = "Operation",
                                  .help = "What is done"),
                      NINO_P_FLOAT(vec_scalar, b, 0.0, -EXT_LARGEST, EXT_LARGEST, 0.01,
                                   .label = "b", .help = "The number")),
          NINO_RUN(scalar_run));
