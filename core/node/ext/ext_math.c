// Arithmetic of one operation on switches and numbers, as ComfyMath, WAS, Easy-Use and Comfyroll
// name it. Results are Python's: // and % round down, whole numbers that do not fit are refused.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/ext/ext.h"

static nino_status no_result(const char *key, const char *why, nino_error *err)
{
    return nino_fail_kind(err, NINO_ERR_RANGE, "value", key, "%s", why);
}

// ---- whole numbers ---------------------------------------------------------------------------

enum {
    I_ADD,
    I_SUB,
    I_MUL,
    I_DIV,
    I_MOD,
    I_POW,
    I_AND,
    I_NAND,
    I_OR,
    I_NOR,
    I_XOR,
    I_XNOR,
    I_SHL,
    I_SHR,
    I_MAX,
    I_MIN
};

static int64_t floor_div(int64_t a, int64_t b)
{
    const int64_t q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

// False: it does not fit 64 bits.
static bool int_power(int64_t a, int64_t n, int64_t *out)
{
    int64_t v = 1;
    for (; n > 0; n >>= 1) {
        if ((n & 1) && __builtin_mul_overflow(v, a, &v))
            return false;
        if (n > 1 && __builtin_mul_overflow(a, a, &a))
            return false;
    }
    *out = v;
    return true;
}

static bool int_shift(int64_t a, int64_t n, int64_t *out)
{
    int64_t by = 0;
    if (n < 0 || n > 62)
        return a == 0 && n >= 0 ? (*out = 0, true) : false;
    by = INT64_C(1) << n;
    return !__builtin_mul_overflow(a, by, out);
}

static nino_status int_binary(int64_t op, int64_t a, int64_t b, int64_t *out, nino_error *err)
{
    bool fits = true;
    if ((op == I_DIV || op == I_MOD) && !b)
        return no_result("b", "division by zero", err);
    if ((op == I_DIV || op == I_MOD) && a == INT64_MIN && b == -1)
        return no_result("a", "the result does not fit 64 bits", err);
    if (op == I_POW && b < 0)
        return no_result("b", "a negative power is no whole number", err);
    switch (op) {
    case I_ADD: fits = !__builtin_add_overflow(a, b, out); break;
    case I_SUB: fits = !__builtin_sub_overflow(a, b, out); break;
    case I_MUL: fits = !__builtin_mul_overflow(a, b, out); break;
    case I_DIV: *out = floor_div(a, b); break;
    case I_MOD: *out = a - floor_div(a, b) * b; break;
    case I_POW: fits = int_power(a, b, out); break;
    case I_AND: *out = a & b; break;
    case I_NAND: *out = ~a & b; break; // as there, not the usual ones
    case I_OR: *out = a | b; break;
    case I_NOR: *out = ~a & b; break;
    case I_XOR: *out = a ^ b; break;
    case I_XNOR: *out = ~(a ^ b); break;
    case I_SHL: fits = int_shift(a, b, out); break;
    case I_SHR:
        if (b < 0)
            return no_result("b", "a negative shift", err);
        *out = b > 62 ? (a < 0 ? -1 : 0) : a >> b;
        break;
    case I_MAX: *out = a > b ? a : b; break;
    default: *out = a < b ? a : b; break;
    }
    return fits ? NINO_OK : no_result("op", "the result does not fit 64 bits", err);
}

typedef struct cm_int2 {
    int64_t op;
    int64_t a;
    int64_t b;
} cm_int2;

typedef struct cm_int1 {
    int64_t op;
    int64_t a;
} cm_int1;

static nino_status cm_int2_run(nino_run *r, nino_error *err)
{
    const cm_int2 *p = r->params;
    int64_t v = 0;
    const nino_status st = int_binary(p->op, p->a, p->b, &v, err);
    return st ? st : nino_out_int(r, 0, v, err);
}

static nino_status cm_int1_run(nino_run *r, nino_error *err)
{
    const cm_int1 *p = r->params;
    const int64_t a = p->a;
    int64_t v = a;
    nino_status st = NINO_OK;
    switch (p->op) {
    case 0: st = a < 0 ? int_binary(I_SUB, 0, a, &v, err) : NINO_OK; break;
    case 1: st = int_binary(I_SUB, 0, a, &v, err); break;
    case 2: st = int_binary(I_ADD, a, 1, &v, err); break;
    case 3: st = int_binary(I_SUB, a, 1, &v, err); break;
    case 4: st = int_binary(I_POW, a, 2, &v, err); break;
    case 5: st = int_binary(I_POW, a, 3, &v, err); break;
    case 6: v = ~a; break;
    default:
        if (a < 0)
            return no_result("a", "a negative number has no factorial", err);
        v = 1;
        for (int64_t k = 2; k <= a && !st; k++)
            st = int_binary(I_MUL, v, k, &v, err);
    }
    return st ? st : nino_out_int(r, 0, v, err);
}

static nino_status cm_int_is_run(nino_run *r, nino_error *err)
{
    const cm_int1 *p = r->params;
    const bool is[] = { p->a == 0, p->a != 0, p->a > 0, p->a < 0, p->a % 2 == 0, p->a % 2 != 0 };
    return nino_out_bool(r, 0, is[p->op], err);
}

// The order of the choices: Eq, Neq, Gt, Lt, Geq, Leq.
static nino_status cm_int_compare_run(nino_run *r, nino_error *err)
{
    const cm_int2 *p = r->params;
    const bool is[] = { p->a == p->b, p->a != p->b, p->a > p->b,
                        p->a < p->b,  p->a >= p->b, p->a <= p->b };
    return nino_out_bool(r, 0, is[p->op], err);
}

NINO_NODE(cm_int_binary, "CM_IntBinaryOperation", "IntBinaryOperation", "math/int",
          "One operation on two whole numbers", NINO_OUTPUTS(NINO_PORT(INT, INT)),
          NINO_PARAMS(cm_int2,
                      NINO_P_ENUM(cm_int2, op,
                                  NINO_WORDS("Add", "Sub", "Mul", "Div", "Mod", "Pow", "And",
                                             "Nand", "Or", "Nor", "Xor", "Xnor", "Shl", "Shr",
                                             "Max", "Min"),
                                  0, .label = "Operation", .help = "What is done"),
                      NINO_P_INT(cm_int2, a, 0, -INT64_MAX, INT64_MAX, 1, .label = "a",
                                 .help = "First number"),
                      NINO_P_INT(cm_int2, b, 0, -INT64_MAX, INT64_MAX, 1, .label = "b",
                                 .help = "Second number")),
          NINO_RUN(cm_int2_run));

NINO_NODE(cm_int_unary, "CM_IntUnaryOperation", "IntUnaryOperation", "math/int",
          "One operation on a whole number", NINO_OUTPUTS(NINO_PORT(INT, INT)),
          NINO_PARAMS(cm_int1,
                      NINO_P_ENUM(cm_int1, op,
                                  NINO_WORDS("Abs", "Neg", "Inc", "Dec", "Sqr", "Cube", "Not",
                                             "Factorial"),
                                  0, .label = "Operation", .help = "What is done"),
                      NINO_P_INT(cm_int1, a, 0, -INT64_MAX, INT64_MAX, 1, .label = "a",
                                 .help = "First number")),
          NINO_RUN(cm_int1_run));

NINO_NODE(cm_int_is, "CM_IntUnaryCondition", "IntUnaryCondition", "math/int",
          "Asks about a whole number", NINO_OUTPUTS(NINO_PORT(BOOL, BOOLEAN)),
          NINO_PARAMS(cm_int1,
                      NINO_P_ENUM(cm_int1, op,
                                  NINO_WORDS("IsZero", "IsNonZero", "IsPositive", "IsNegative",
                                             "IsEven", "IsOdd"),
                                  0, .label = "Operation", .help = "What is done"),
                      NINO_P_INT(cm_int1, a, 0, -INT64_MAX, INT64_MAX, 1, .label = "a",
                                 .help = "First number")),
          NINO_RUN(cm_int_is_run));

NINO_NODE(cm_int_compare, "CM_IntBinaryCondition", "IntBinaryCondition", "math/int",
          "Compares two whole numbers", NINO_OUTPUTS(NINO_PORT(BOOL, BOOLEAN)),
          NINO_PARAMS(cm_int2,
                      NINO_P_ENUM(cm_int2, op, NINO_WORDS("Eq", "Neq", "Gt", "Lt", "Geq", "Leq"), 0,
                                  .label = "Operation", .help = "What is done"),
                      NINO_P_INT(cm_int2, a, 0, -INT64_MAX, INT64_MAX, 1, .label = "a",
                                 .help = "First number"),
                      NINO_P_INT(cm_int2, b, 0, -INT64_MAX, INT64_MAX, 1, .label = "b",
                                 .help = "Second number")),
          NINO_RUN(cm_int_compare_run));

// ---- numbers ---------------------------------------------------------------------------------

static double python_mod(double a, double b)
{
    const double m = fmod(a, b);
    return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}

static nino_status float_binary(int64_t op, double a, double b, double *out, nino_error *err)
{
    const bool divides = op == 3 || op == 4 || op == 6;
    if (divides && b == 0)
        return no_result("b", "division by zero", err);
    switch (op) {
    case 0: *out = a + b; break;
    case 1: *out = a - b; break;
    case 2: *out = a * b; break;
    case 3: *out = a / b; break;
    case 4: *out = python_mod(a, b); break;
    case 5: *out = pow(a, b); break;
    case 6: *out = floor(a / b); break;
    case 7: *out = b > a ? b : a; break;
    case 8: *out = b < a ? b : a; break;
    case 9: *out = log(a) / log(b); break;
    default: *out = atan2(a, b); break;
    }
    return isfinite(*out) ? NINO_OK : no_result("op", "the result is not a finite number", err);
}

static nino_status float_unary(int64_t op, double a, double *out, nino_error *err)
{
    static double (*const fn[])(double) = { sqrt,  exp,  log,   log10, log2,  sin,  cos,   tan,
                                            asin,  acos, atan,  sinh,  cosh,  tanh, asinh, acosh,
                                            atanh, rint, floor, ceil,  trunc, erf,  erfc,  tgamma };
    switch (op) {
    case 0: *out = -a; break;
    case 1: *out = a + 1; break;
    case 2: *out = a - 1; break;
    case 3: *out = fabs(a); break;
    case 4: *out = a * a; break;
    case 5: *out = a * a * a; break;
    case 30: *out = a * (acos(-1) / 180); break;
    case 31: *out = a * (180 / acos(-1)); break;
    default: *out = fn[op - 6](a); break;
    }
    return isfinite(*out) ? NINO_OK : no_result("a", "the result is not a finite number", err);
}

static bool float_is(int64_t op, double a)
{
    switch (op) {
    case 0: return a == 0;
    case 1: return a > 0;
    case 2: return a < 0;
    case 3: return a != 0;
    case 4: return isinf(a) && a > 0;
    case 5: return isinf(a) && a < 0;
    case 6: return isnan(a);
    case 7: return isfinite(a);
    case 8: return isinf(a);
    case 9: return fmod(a, 2) == 0;
    default: return fmod(a, 2) != 0;
    }
}

// The order of the choices: Eq, Neq, Gt, Gte, Lt, Lte.
static bool float_compares(int64_t op, double a, double b)
{
    const bool is[] = { a == b, a != b, a > b, a >= b, a < b, a <= b };
    return is[op];
}

typedef struct cm_float2 {
    int64_t op;
    double a;
    double b;
} cm_float2;

typedef struct cm_float1 {
    int64_t op;
    double a;
} cm_float1;

typedef struct cm_op {
    int64_t op;
} cm_op;

// The numbers of a node: of widgets, or of its inputs.
typedef struct operands {
    double a, b;
    int64_t op;
} operands;

static nino_status cm_linked(const nino_run *r, operands *o, nino_error *err)
{
    o->op = ((const cm_op *) r->params)->op;
    if (!nino_ext_number(r->in[0], &o->a))
        return no_result("a", "this value is no number", err);
    if (r->def->inputs[1].key && !nino_ext_number(r->in[1], &o->b))
        return no_result("b", "this value is no number", err);
    return NINO_OK;
}

static nino_status cm_float2_run(nino_run *r, nino_error *err)
{
    const cm_float2 *p = r->params;
    double v = 0;
    const nino_status st = float_binary(p->op, p->a, p->b, &v, err);
    return st ? st : nino_out_float(r, 0, v, err);
}

static nino_status cm_float1_run(nino_run *r, nino_error *err)
{
    const cm_float1 *p = r->params;
    double v = 0;
    const nino_status st = float_unary(p->op, p->a, &v, err);
    return st ? st : nino_out_float(r, 0, v, err);
}

static nino_status cm_float_is_run(nino_run *r, nino_error *err)
{
    const cm_float1 *p = r->params;
    return nino_out_bool(r, 0, float_is(p->op, p->a), err);
}

static nino_status cm_float_compare_run(nino_run *r, nino_error *err)
{
    const cm_float2 *p = r->params;
    return nino_out_bool(r, 0, float_compares(p->op, p->a, p->b), err);
}

static nino_status cm_number2_run(nino_run *r, nino_error *err)
{
    operands o;
    double v = 0;
    nino_status st = cm_linked(r, &o, err);
    if (!st)
        st = float_binary(o.op, o.a, o.b, &v, err);
    return st ? st : nino_out_float(r, 0, v, err);
}

static nino_status cm_number1_run(nino_run *r, nino_error *err)
{
    operands o;
    double v = 0;
    nino_status st = cm_linked(r, &o, err);
    if (!st)
        st = float_unary(o.op, o.a, &v, err);
    return st ? st : nino_out_float(r, 0, v, err);
}

static nino_status cm_number_is_run(nino_run *r, nino_error *err)
{
    operands o;
    const nino_status st = cm_linked(r, &o, err);
    return st ? st : nino_out_bool(r, 0, float_is(o.op, o.a), err);
}

static nino_status cm_number_compare_run(nino_run *r, nino_error *err)
{
    operands o;
    const nino_status st = cm_linked(r, &o, err);
    return st ? st : nino_out_bool(r, 0, float_compares(o.op, o.a, o.b), err);
}

NINO_NODE(cm_float_binary, "CM_FloatBinaryOperation", "FloatBinaryOperation", "math/float",
          "One operation on two numbers", NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT)),
          NINO_PARAMS(cm_float2,
                      NINO_P_ENUM(cm_float2, op,
                                  NINO_WORDS("Add", "Sub", "Mul", "Div", "Mod", "Pow", "FloorDiv",
                                             "Max", "Min", "Log", "Atan2"),
                                  0, .label = "Operation", .help = "What is done"),
                      NINO_P_FLOAT(cm_float2, a, 0.0, -EXT_LARGEST, EXT_LARGEST, 0.001,
                                   .label = "a", .help = "First number"),
                      NINO_P_FLOAT(cm_float2, b, 0.0, -EXT_LARGEST, EXT_LARGEST, 0.001,
                                   .label = "b", .help = "Second number")),
          NINO_RUN(cm_float2_run));

NINO_NODE(cm_float_unary, "CM_FloatUnaryOperation", "FloatUnaryOperation", "math/float",
          "One operation on a number", NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT)),
          NINO_PARAMS(cm_float1,
                      NINO_P_ENUM(cm_float1, op,
                                  NINO_WORDS("Neg", "Inc", "Dec", "Abs", "Sqr", "Cube", "Sqrt",
                                             "Exp", "Ln", "Log10", "Log2", "Sin", "Cos", "Tan",
                                             "Asin", "Acos", "Atan", "Sinh", "Cosh", "Tanh",
                                             "Asinh", "Acosh", "Atanh", "Round", "Floor", "Ceil",
                                             "Trunc", "Erf", "Erfc", "Gamma", "Radians", "Degrees"),
                                  0, .label = "Operation", .help = "What is done"),
                      NINO_P_FLOAT(cm_float1, a, 0.0, -EXT_LARGEST, EXT_LARGEST, 0.001,
                                   .label = "a", .help = "First number")),
          NINO_RUN(cm_float1_run));

NINO_NODE(cm_float_is, "CM_FloatUnaryCondition", "FloatUnaryCondition", "math/float",
          "Asks about a number", NINO_OUTPUTS(NINO_PORT(BOOLEAN, BOOLEAN)),
          NINO_PARAMS(cm_float1,
                      NINO_P_ENUM(cm_float1, op,
                                  NINO_WORDS("IsZero", "IsPositive", "IsNegative", "IsNonZero",
                                             "IsPositiveInfinity", "IsNegativeInfinity", "IsNaN",
                                             "IsFinite", "IsInfinite", "IsEven", "IsOdd"),
                                  0, .label = "Operation", .help = "What is done"),
                      NINO_P_FLOAT(cm_float1, a, 0.0, -EXT_LARGEST, EXT_LARGEST, 0.001,
                                   .label = "a", .help = "First number")),
          NINO_RUN(cm_float_is_run));

NINO_NODE(cm_float_compare, "CM_FloatBinaryCondition", "FloatBinaryCondition", "math/float",
          "Compares two numbers", NINO_OUTPUTS(NINO_PORT(BOOLEAN, BOOLEAN)),
          NINO_PARAMS(cm_float2,
                      NINO_P_ENUM(cm_float2, op, NINO_WORDS("Eq", "Neq", "Gt", "Gte", "Lt", "Lte"),
                                  0, .label = "Operation", .help = "What is done"),
                      NINO_P_FLOAT(cm_float2, a, 0.0, -EXT_LARGEST, EXT_LARGEST, 0.001,
                                   .label = "a", .help = "First number"),
                      NINO_P_FLOAT(cm_float2, b, 0.0, -EXT_LARGEST, EXT_LARGEST, 0.001,
                                   .label = "b", .help = "Second number")),
          NINO_RUN(cm_float_compare_run));

NINO_NODE(cm_number_binary, "CM_NumberBinaryOperation", "NumberBinaryOperation", "math/number",
          "One operation on two numbers", NINO_INPUTS(NINO_PORT(a, ANY), NINO_PORT(b, ANY)),
          NINO_OUTPUTS(NINO_PORT(NUMBER, ANY)),
          NINO_PARAMS(cm_op, NINO_P_ENUM(cm_op, op,
                                         NINO_WORDS("Add", "Sub", "Mul", "Div", "Mod", "Pow",
                                                    "FloorDiv", "Max", "Min", "Log", "Atan2"),
                                         0, .label = "Operation", .help = "What is done")),
          NINO_RUN(cm_number2_run));

NINO_NODE(cm_number_unary, "CM_NumberUnaryOperation", "NumberUnaryOperation", "math/number",
          "One operation on a number", NINO_INPUTS(NINO_PORT(a, ANY)),
          NINO_OUTPUTS(NINO_PORT(NUMBER, ANY)),
          NINO_PARAMS(cm_op,
                      NINO_P_ENUM(cm_op, op,
                                  NINO_WORDS("Neg", "Inc", "Dec", "Abs", "Sqr", "Cube", "Sqrt",
                                             "Exp", "Ln", "Log10", "Log2", "Sin", "Cos", "Tan",
                                             "Asin", "Acos", "Atan", "Sinh", "Cosh", "Tanh",
                                             "Asinh", "Acosh", "Atanh", "Round", "Floor", "Ceil",
                                             "Trunc", "Erf", "Erfc", "Gamma", "Radians", "Degrees"),
                                  0, .label = "Operation", .help = "What is done")),
          NINO_RUN(cm_number1_run));

NINO_NODE(cm_number_is, "CM_NumberUnaryCondition", "NumberUnaryCondition", "math/Number",
          "Asks about a number", NINO_INPUTS(NINO_PORT(a, ANY)),
          NINO_OUTPUTS(NINO_PORT(BOOL, BOOLEAN)),
          NINO_PARAMS(cm_op,
                      NINO_P_ENUM(cm_op, op,
                                  NINO_WORDS("IsZero", "IsPositive", "IsNegative", "IsNonZero",
                                             "IsPositiveInfinity", "IsNegativeInfinity", "IsNaN",
                                             "IsFinite", "IsInfinite", "IsEven", "IsOdd"),
                                  0, .label = "Operation", .help = "What is done")),
          NINO_RUN(cm_number_is_run));

NINO_NODE(cm_number_compare, "CM_NumberBinaryCondition", "NumberBinaryCondition", "math/float",
          "Compares two numbers", NINO_INPUTS(NINO_PORT(a, ANY), NINO_PORT(b, ANY)),
          NINO_OUTPUTS(NINO_PORT(BOOL, BOOLEAN)),
          NINO_PARAMS(cm_op,
                      NINO_P_ENUM(cm_op, op, NINO_WORDS("Eq", "Neq", "Gt", "Gte", "Lt", "Lte"), 0,
                                  .label = "Operation", .help = "What is done")),
          NINO_RUN(cm_number_compare_run));

// ---- switches --------------------------------------------------------------------------------

typedef struct cm_bool2 {
    int64_t op;
    bool a;
    bool b;
} cm_bool2;

typedef struct cm_bool1 {
    int64_t op;
    bool a;
} cm_bool1;

static nino_status cm_bool2_run(nino_run *r, nino_error *err)
{
    const cm_bool2 *p = r->params;
    const bool a = p->a, b = p->b;
    const bool is[] = { !(a || b), a != b, !(a && b), a && b, a == b, a || b, a == b, a != b };
    return nino_out_bool(r, 0, is[p->op], err);
}

static nino_status cm_bool1_run(nino_run *r, nino_error *err)
{
    return nino_out_bool(r, 0, !((const cm_bool1 *) r->params)->a, err);
}

NINO_NODE(cm_bool_binary, "CM_BoolBinaryOperation", "BoolBinaryOperation", "math/bool",
          "One operation on two switches", NINO_OUTPUTS(NINO_PORT(BOOLEAN, BOOLEAN)),
          NINO_PARAMS(cm_bool2,
                      NINO_P_ENUM(cm_bool2, op,
                                  NINO_WORDS("Nor", "Xor", "Nand", "And", "Xnor", "Or", "Eq",
                                             "Neq"),
                                  0, .label = "Operation", .help = "What is done"),
                      NINO_P_BOOL(cm_bool2, a, false, .label = "a", .help = "The first"),
                      NINO_P_BOOL(cm_bool2, b, false, .label = "b", .help = "The second")),
          NINO_RUN(cm_bool2_run));

NINO_NODE(cm_bool_unary, "CM_BoolUnaryOperation", "BoolUnaryOperation", "math/bool",
          "The opposite of a switch", NINO_OUTPUTS(NINO_PORT(BOOLEAN, BOOLEAN)),
          NINO_PARAMS(cm_bool1,
                      NINO_P_ENUM(cm_bool1, op, NINO_WORDS("Not"), 0, .label = "Operation",
                                  .help = "What is done"),
                      NINO_P_BOOL(cm_bool1, a, false, .label = "a", .help = "The switch")),
          NINO_RUN(cm_bool1_run));

// ---- other types -----------------------------------------------------------------------------

static nino_status whole(nino_run *r, double v, const char *key, nino_error *err)
{
    if (!(v > -9.2e18 && v < 9.2e18))
        return no_result(key, "too large for a whole number", err);
    return nino_out_int(r, 0, (int64_t) v, err);
}

typedef struct cm_from_float {
    double a;
} cm_from_float;

typedef struct cm_from_int {
    int64_t a;
} cm_from_int;

typedef struct cm_from_bool {
    bool a;
} cm_from_bool;

static nino_status float_to_int_run(nino_run *r, nino_error *err)
{
    return whole(r, ((const cm_from_float *) r->params)->a, "a", err);
}

static nino_status int_to_float_run(nino_run *r, nino_error *err)
{
    return nino_out_float(r, 0, (double) ((const cm_from_int *) r->params)->a, err);
}

static nino_status bool_to_int_run(nino_run *r, nino_error *err)
{
    return nino_out_int(r, 0, ((const cm_from_bool *) r->params)->a, err);
}

static nino_status int_to_bool_run(nino_run *r, nino_error *err)
{
    return nino_out_bool(r, 0, ((const cm_from_int *) r->params)->a != 0, err);
}

static nino_status int_to_int_run(nino_run *r, nino_error *err)
{
    return nino_out_int(r, 0, ((const cm_from_int *) r->params)->a, err);
}

static nino_status float_to_float_run(nino_run *r, nino_error *err)
{
    return nino_out_float(r, 0, ((const cm_from_float *) r->params)->a, err);
}

static nino_status number_to_int_run(nino_run *r, nino_error *err)
{
    double v = 0;
    if (!nino_ext_number(r->in[0], &v))
        return no_result(r->def->inputs[0].key, "this value is no number", err);
    if (r->in[0]->type == NINO_PORT_INT)
        return nino_out_int(r, 0, r->in[0]->u.i, err);
    return whole(r, v, r->def->inputs[0].key, err);
}

static nino_status number_to_float_run(nino_run *r, nino_error *err)
{
    double v = 0;
    if (!nino_ext_number(r->in[0], &v))
        return no_result(r->def->inputs[0].key, "this value is no number", err);
    return nino_out_float(r, 0, v, err);
}

NINO_NODE(cm_float_to_int, "CM_FloatToInt", "FloatToInt", "math/conversion",
          "A number without its fraction", NINO_OUTPUTS(NINO_PORT(INT, INT)),
          NINO_PARAMS(cm_from_float, NINO_P_FLOAT(cm_from_float, a, 0.0, -EXT_LARGEST, EXT_LARGEST,
                                                  0.01, .label = "a", .help = "First number")),
          NINO_RUN(float_to_int_run));

NINO_NODE(cm_int_to_float, "CM_IntToFloat", "IntToFloat", "math/conversion",
          "A whole number as a number", NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT)),
          NINO_PARAMS(cm_from_int, NINO_P_INT(cm_from_int, a, 0, -INT64_MAX, INT64_MAX, 1,
                                              .label = "a", .help = "First number")),
          NINO_RUN(int_to_float_run));

NINO_NODE(cm_bool_to_int, "CM_BoolToInt", "BoolToInt", "math/conversion", "A switch as 0 or 1",
          NINO_OUTPUTS(NINO_PORT(INT, INT)),
          NINO_PARAMS(cm_from_bool,
                      NINO_P_BOOL(cm_from_bool, a, false, .label = "a", .help = "The switch")),
          NINO_RUN(bool_to_int_run));

NINO_NODE(cm_int_to_bool, "CM_IntToBool", "IntToBool", "math/conversion",
          "Whether a number is not 0", NINO_OUTPUTS(NINO_PORT(BOOLEAN, BOOLEAN)),
          NINO_PARAMS(cm_from_int, NINO_P_INT(cm_from_int, a, 0, -INT64_MAX, INT64_MAX, 1,
                                              .label = "a", .help = "First number")),
          NINO_RUN(int_to_bool_run));

NINO_NODE(cm_int_to_number, "CM_IntToNumber", "IntToNumber", "math/conversion",
          "A whole number, handed on", NINO_OUTPUTS(NINO_PORT(NUMBER, ANY)),
          NINO_PARAMS(cm_from_int, NINO_P_INT(cm_from_int, a, 0, -INT64_MAX, INT64_MAX, 1,
                                              .label = "a", .help = "First number")),
          NINO_RUN(int_to_int_run));

NINO_NODE(cm_float_to_number, "CM_FloatToNumber", "FloatToNumber", "math/conversion",
          "A number, handed on", NINO_OUTPUTS(NINO_PORT(NUMBER, ANY)),
          NINO_PARAMS(cm_from_float, NINO_P_FLOAT(cm_from_float, a, 0.0, -EXT_LARGEST, EXT_LARGEST,
                                                  0.01, .label = "a", .help = "First number")),
          NINO_RUN(float_to_float_run));

NINO_NODE(cm_number_to_int, "CM_NumberToInt", "NumberToInt", "math/conversion",
          "A number without its fraction", NINO_INPUTS(NINO_PORT(a, ANY)),
          NINO_OUTPUTS(NINO_PORT(INT, INT)), NINO_RUN(number_to_int_run));

NINO_NODE(cm_number_to_float, "CM_NumberToFloat", "NumberToFloat", "math/conversion", "A number",
          NINO_INPUTS(NINO_PORT(a, ANY)), NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT)),
          NINO_RUN(number_to_float_run));

NINO_NODE(was_number_to_int, "Number to Int", "Number to Int", "WAS Suite/Number/Operations",
          "A number without its fraction", NINO_INPUTS(NINO_PORT(number, ANY)),
          NINO_OUTPUTS(NINO_PORT(INT, INT)), NINO_RUN(number_to_int_run));

NINO_NODE(was_number_to_float, "Number to Float", "Number to Float", "WAS Suite/Number/Operations",
          "A number", NINO_INPUTS(NINO_PORT(number, ANY)), NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT)),
          NINO_RUN(number_to_float_run));

// ---- Easy-Use: add, subtract, multiply, divide, modulo, power --------------------------------

typedef struct easy_int2 {
    int64_t a;
    int64_t b;
    int64_t operation;
} easy_int2;

typedef struct easy_float2 {
    double a;
    double b;
    int64_t operation;
} easy_float2;

static nino_status easy_math_int_run(nino_run *r, nino_error *err)
{
    const easy_int2 *p = r->params;
    int64_t v = 0;
    const nino_status st = int_binary(p->operation, p->a, p->b, &v, err); // the same order
    return st ? st : nino_out_int(r, 0, v, err);
}

// Three digits behind the point are kept.
static nino_status easy_math_float_run(nino_run *r, nino_error *err)
{
    const easy_float2 *p = r->params;
    double v = 0;
    const nino_status st = float_binary(p->operation, p->a, p->b, &v, err);
    return st ? st : nino_out_float(r, 0, rint(v * 1000) / 1000, err);
}

NINO_NODE(
    easy_math_int, "easy mathInt", "easy mathInt", "EasyUse/Logic/Math",
    "One operation on two whole numbers", NINO_OUTPUTS(NINO_PORT(INT, INT)),
    NINO_PARAMS(easy_int2,
                NINO_P_INT(easy_int2, a, 0, -INT64_MAX, INT64_MAX, 1, .label = "a",
                           .help = "First number"),
                NINO_P_INT(easy_int2, b, 0, -INT64_MAX, INT64_MAX, 1, .label = "b",
                           .help = "Second number"),
                NINO_P_ENUM(easy_int2, operation,
                            NINO_WORDS("add", "subtract", "multiply", "divide", "modulo", "power"),
                            0, .label = "Operation", .help = "What is done, divide rounds down")),
    NINO_RUN(easy_math_int_run));

NINO_NODE(
    easy_math_float, "easy mathFloat", "easy mathFloat", "EasyUse/Logic/Math",
    "One operation on two numbers, rounded to three digits", NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT)),
    NINO_PARAMS(easy_float2,
                NINO_P_FLOAT(easy_float2, a, 0.0, -999999999999.0, 999999999999.0, 0.01,
                             .label = "a", .help = "First number"),
                NINO_P_FLOAT(easy_float2, b, 0.0, -999999999999.0, 999999999999.0, 0.01,
                             .label = "b", .help = "Second number"),
                NINO_P_ENUM(easy_float2, operation,
                            NINO_WORDS("add", "subtract", "multiply", "divide", "modulo", "power"),
                            0, .label = "Operation", .help = "What is done")),
    NINO_RUN(easy_math_float_run));
