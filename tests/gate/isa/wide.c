// Vector instructions of 64 bits, the steps of divisions, comparisons.
#include "tests/gate/isa/isa.h"

#include <math.h>

// Of the lane l; D: as f64.
#define A a[l]
#define B b[l]
#define C c[l]
#define DA isa_f64(a[l])
#define DB isa_f64(b[l])
#define DC isa_f64(c[l])
#define D(v) isa_bits64(v)
#define F(v) isa_bits((float) (v))

// X(name, form, value of lane l), of 64 bits
#define WIDE_OPS(X)                                                                                \
    X(v_lshlrev_b64, "q:wq", B << (A & 63))                                                        \
    X(v_lshrrev_b64, "q:wq", B >> (A & 63))                                                        \
    X(v_ashrrev_i64, "q:wq", (uint64_t) ((int64_t) B >> (A & 63)))                                 \
    X(v_mad_u64_u32, "qs:wwq", (uint64_t) (uint32_t) A *(uint32_t) B + C)                          \
    X(v_mad_i64_i32, "qs:wwq", (uint64_t) ((int64_t) (int32_t) A * (int32_t) B) + C)               \
    X(v_add_f64, "d:dd", D(DA + DB))                                                               \
    X(v_mul_f64, "d:dd", D(DA *DB))                                                                \
    X(v_max_f64, "d:dd", D(fmax(DA, DB)))                                                          \
    X(v_min_f64, "d:dd", D(fmin(DA, DB)))                                                          \
    X(v_fma_f64, "d:ddd", D(fma(DA, DB, DC)))                                                      \
    X(v_rcp_f64, "d:d", D(1 / DA))                                                                 \
    X(v_cvt_f64_f32, "d:w", D((double) isa_f32((uint32_t) A)))                                     \
    X(v_cvt_f64_i32, "d:w", D((double) (int32_t) A))                                               \
    X(v_cvt_f64_u32, "d:w", D((double) (uint32_t) A))                                              \
    X(v_div_scale_f64, "ds:ddd", D(scale(&f64, DA, DB, DC, &flag)))                                \
    X(v_div_fmas_f64, "d:ddd", fmas64(w, l, A, B, C))                                              \
    X(v_div_fixup_f64, "d:ddd", D(fixup(DA, DB, DC)))

// Sources of either width.
static void fetch(const isa_wave *w, const isa_operand *o, uint64_t out[ISA_LANES])
{
    isa_lanes room;
    if (o->type == 'q' || o->type == 'd') {
        isa_fetch64(w, o, out);
        return;
    }
    const uint32_t *v = isa_fetch(w, o, room);
    for (int l = 0; l < ISA_LANES; l++)
        out[l] = v[l];
}

// ---- divisions -------------------------------------------------------------------------------
// A quotient is numerator * reciprocal, refined, of operands that are scaled where it would not be normal
// otherwise. v: the source that is to be scaled, d: denominator, n: numerator.
typedef struct limits {
    int far, bias, tiny, by;
    double least; // normal number
} limits;
static const limits f32 = { 96, 127, 23, 64, 0x1p-126 }, f64 = { 768, 1023, 53, 128, 0x1p-1022 };

static bool is_small(const limits *m, double v) { return v != 0 && fabs(v) < m->least; }

static int biased(const limits *m, double v)
{
    int e;
    if (v == 0 || is_small(m, v))
        return 0;
    frexp(v, &e);
    return isfinite(v) ? e - 1 + m->bias : 2 * m->bias + 1;
}

static double scale(const limits *m, double v, double d, double n, uint32_t *flag)
{
    const double up = ldexp(v, m->by);
    if (n == 0 || d == 0)
        return NAN;
    if (biased(m, n) - biased(m, d) >= m->far) {
        *flag = 1;
        return v == d ? up : v;
    }
    if (is_small(m, d))
        return up;
    const bool is_slight = is_small(m, 1 / d), is_less = is_small(m, n / d);
    if (is_less) {
        *flag = 1;
        return v == (is_slight ? d : n) ? up : v;
    }
    if (is_slight)
        return ldexp(v, -m->by);
    return biased(m, n) <= m->tiny ? up : v;
}

// The last step's result r where the operands were scaled; q: the quotient before it.
static double unscale(const limits *m, double r, double q)
{
    return ldexp(r, biased(m, q) > m->bias ? m->by : -m->by);
}

static double fixup(double q, double d, double n)
{
    const double sign = !signbit(d) == !signbit(n) ? 1 : -1;
    if (isnan(n) || isnan(d))
        return isnan(n) ? n : d;
    if ((n == 0 && d == 0) || (isinf(n) && isinf(d)))
        return -NAN;
    if (d == 0 || isinf(n))
        return sign * INFINITY;
    return isinf(d) || n == 0 ? sign * 0 : sign * fabs(q);
}

#define S(v) ((double) isa_f32((uint32_t) (v)))
static uint32_t fmas32(const isa_wave *w, int l, uint64_t a, uint64_t b, uint64_t c)
{
    const float r = fmaf(isa_f32((uint32_t) a), isa_f32((uint32_t) b), isa_f32((uint32_t) c));
    return isa_bits(w->s[ISA_VCC] >> l & 1 ? (float) unscale(&f32, (double) r, S(c)) : r);
}
static uint64_t fmas64(const isa_wave *w, int l, uint64_t a, uint64_t b, uint64_t c)
{
    const double r = fma(isa_f64(a), isa_f64(b), isa_f64(c));
    return isa_bits64(w->s[ISA_VCC] >> l & 1 ? unscale(&f64, r, isa_f64(c)) : r);
}

#define X(name, form, value)                                                                       \
    static void run_##name(isa_wave *w, const isa_insn *i)                                         \
    {                                                                                              \
        uint64_t a[ISA_LANES], b[ISA_LANES] = { 0 }, c[ISA_LANES] = { 0 }, r[ISA_LANES];           \
        uint32_t flags = 0;                                                                        \
        fetch(w, &i->src[0], a);                                                                   \
        if (i->n_src > 1)                                                                          \
            fetch(w, &i->src[1], b);                                                               \
        if (i->n_src > 2)                                                                          \
            fetch(w, &i->src[2], c);                                                               \
        (void) b;                                                                                  \
        (void) c;                                                                                  \
        for (int l = 0; l < ISA_LANES; l++) {                                                      \
            uint32_t flag = 0;                                                                     \
            r[l] = (value);                                                                        \
            flags |= flag << l;                                                                    \
        }                                                                                          \
        isa_put64(w, &i->dst[0], r);                                                               \
        if (i->n_dst > 1)                                                                          \
            isa_set_scalar(w, &i->dst[1], flags & w->s[ISA_EXEC]);                                 \
    }
WIDE_OPS(X)
#undef X

// X(name, form, value of lane l), of 64 bits: results of 32
#define NARROWING_OPS(X)                                                                           \
    X(v_cvt_f32_f64, "w:d", F(DA))                                                                 \
    X(v_div_scale_f32, "ws:www", F(scale(&f32, S(A), S(B), S(C), &flag)))                          \
    X(v_div_fmas_f32, "w:www", fmas32(w, l, A, B, C))                                              \
    X(v_div_fixup_f32, "w:www", F(fixup(S(A), S(B), S(C))))
#define X(name, form, value)                                                                       \
    static void run_##name(isa_wave *w, const isa_insn *i)                                         \
    {                                                                                              \
        uint64_t a[ISA_LANES], b[ISA_LANES] = { 0 }, c[ISA_LANES] = { 0 };                         \
        isa_lanes r;                                                                               \
        uint32_t flags = 0;                                                                        \
        fetch(w, &i->src[0], a);                                                                   \
        if (i->n_src > 1)                                                                          \
            fetch(w, &i->src[1], b);                                                               \
        if (i->n_src > 2)                                                                          \
            fetch(w, &i->src[2], c);                                                               \
        (void) b;                                                                                  \
        (void) c;                                                                                  \
        for (int l = 0; l < ISA_LANES; l++) {                                                      \
            uint32_t flag = 0;                                                                     \
            r[l] = (uint32_t) (value);                                                             \
            flags |= flag << l;                                                                    \
        }                                                                                          \
        isa_put(w, &i->dst[0], r);                                                                 \
        if (i->n_dst > 1)                                                                          \
            isa_set_scalar(w, &i->dst[1], flags & w->s[ISA_EXEC]);                                 \
    }
NARROWING_OPS(X)
#undef X

#define ROW(name, form, value) { #name, form, run_##name, 0 },
const isa_semantics isa_wide_table[] = { WIDE_OPS(ROW) NARROWING_OPS(ROW) //
                                         { NULL, NULL, NULL, 0 } };

// ---- comparisons -----------------------------------------------------------------------------
// v_cmp_: a bit a lane to a scalar register, 0 of lanes that are not active; v_cmpx_: the mask of lanes itself.
static void keep(isa_wave *w, const isa_insn *i, uint32_t mask)
{
    mask &= w->s[ISA_EXEC];
    if (i->n_dst)
        isa_set_scalar(w, &i->dst[0], mask);
    else
        w->s[ISA_EXEC] = mask;
}

#define U32(v) ((uint32_t) (v))
#define I32(v) ((int32_t) (v))
#define U16(v) ((uint16_t) (v))
#define I16(v) ((int16_t) (v))
#define U64(v) (v)
#define I64(v) ((int64_t) (v))
#define F32(v) isa_f32((uint32_t) (v))
#define F64(v) isa_f64(v)
#define F16(v) isa_from_half((uint16_t) (v))

// X(name, sources, what is true)
#define INTEGERS(X, type, letter, as)                                                              \
    X(lt_##type, letter, as(A) < as(B))                                                            \
    X(eq_##type, letter, as(A) == as(B))                                                           \
    X(le_##type, letter, as(A) <= as(B))                                                           \
    X(gt_##type, letter, as(A) > as(B))                                                            \
    X(ne_##type, letter, as(A) != as(B))                                                           \
    X(ge_##type, letter, as(A) >= as(B))
#define FLOATS(X, type, letter, as)                                                                \
    X(lt_##type, letter, as(A) < as(B))                                                            \
    X(eq_##type, letter, as(A) == as(B))                                                           \
    X(le_##type, letter, as(A) <= as(B))                                                           \
    X(gt_##type, letter, as(A) > as(B))                                                            \
    X(lg_##type, letter, as(A) < as(B) || as(A) > as(B))                                           \
    X(ge_##type, letter, as(A) >= as(B))                                                           \
    X(o_##type, letter, as(A) == as(A) && as(B) == as(B))                                          \
    X(u_##type, letter, !(as(A) == as(A) && as(B) == as(B)))                                       \
    X(nge_##type, letter, !(as(A) >= as(B)))                                                       \
    X(nlg_##type, letter, !(as(A) < as(B) || as(A) > as(B)))                                       \
    X(ngt_##type, letter, !(as(A) > as(B)))                                                        \
    X(nle_##type, letter, !(as(A) <= as(B)))                                                       \
    X(neq_##type, letter, !(as(A) == as(B)))                                                       \
    X(nlt_##type, letter, !(as(A) < as(B)))

// Which of ten classes of numbers: signalling NaN, quiet, then from -infinity to infinity.
static bool is_of_class(double v, double least_normal, uint32_t classes)
{
    const bool is_negative = signbit(v);
    int k;
    if (isnan(v))
        return (classes & 3) != 0; // no kernel tells the two apart
    if (isinf(v))
        k = 0;
    else if (v == 0)
        k = 3;
    else
        k = fabs(v) < least_normal ? 2 : 1;
    return classes >> (is_negative ? 2 + k : 9 - k) & 1;
}

#define COMPARISONS(X)                                                                             \
    INTEGERS(X, i32, "ww", I32)                                                                    \
    INTEGERS(X, u32, "ww", U32)                                                                    \
    INTEGERS(X, i16, "hh", I16)                                                                    \
    INTEGERS(X, u16, "hh", U16)                                                                    \
    INTEGERS(X, i64, "qq", I64)                                                                    \
    INTEGERS(X, u64, "qq", U64)                                                                    \
    FLOATS(X, f32, "ww", F32)                                                                      \
    FLOATS(X, f16, "hh", F16)                                                                      \
    FLOATS(X, f64, "dd", F64)                                                                      \
    X(class_f32, "ww", is_of_class((double) F32(A), 0x1p-126, U32(B)))                             \
    X(class_f16, "hw", is_of_class((double) F16(A), 0x1p-14, U32(B)))
#define X(name, sources, is_true)                                                                  \
    static void compare_##name(isa_wave *w, const isa_insn *i)                                     \
    {                                                                                              \
        uint64_t a[ISA_LANES], b[ISA_LANES];                                                       \
        uint32_t mask = 0;                                                                         \
        fetch(w, &i->src[0], a);                                                                   \
        fetch(w, &i->src[1], b);                                                                   \
        for (int l = 0; l < ISA_LANES; l++)                                                        \
            mask |= (uint32_t) (is_true) << l;                                                     \
        keep(w, i, mask);                                                                          \
    }
COMPARISONS(X)
#undef X

#define BOTH(name, sources, is_true)                                                               \
    { "v_cmp_" #name, "s:" sources, compare_##name, 0 },                                           \
        { "v_cmpx_" #name, ":" sources, compare_##name, 0 },
const isa_semantics isa_compare_table[] = { COMPARISONS(BOTH) //
                                            { NULL, NULL, NULL, 0 } };
