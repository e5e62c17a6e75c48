// Vector instructions of 32 and 16 bits, lane by lane, and those that compare or move between lanes.
#include "tests/gate/isa/isa.h"

#include <math.h>
#include <string.h>

// Of the lane l.
#define A a[l]
#define B b[l]
#define C c[l]
#define FA isa_f32(a[l])
#define FB isa_f32(b[l])
#define FC isa_f32(c[l])
#define HA isa_from_half((uint16_t) a[l])
#define HB isa_from_half((uint16_t) b[l])
#define OLD old[l]
#define F(v) isa_bits(v)
#define H(v) isa_to_half(v)
#define I(v) ((int32_t) (v))
#define U(v) ((uint32_t) (v))
#define S24(v) ((int32_t) ((v) << 8) >> 8)
#define U24(v) ((v) &0xffffff)

// What the unit for these does not do with numbers below the normal ones.
static float flush(float f) { return fabsf(f) < 0x1p-126f ? copysignf(0, f) : f; }
static uint32_t to_u32(float f)
{
    return f > 0 ? f < 4294967296.0f ? (uint32_t) f : UINT32_MAX : 0;
}
static uint32_t to_i32(float f)
{
    return isnan(f)             ? 0
           : f >= 2147483648.0f ? INT32_MAX
           : f < -2147483648.0f ? 0x80000000u
                                : (uint32_t) (int32_t) f;
}
static uint32_t field(uint32_t v, uint32_t at, uint32_t n)
{
    n &= 31;
    return v >> (at & 31) & ((1u << n) - 1);
}
static uint32_t signed_field(uint32_t v, uint32_t at, uint32_t n)
{
    n &= 31;
    return n ? U(I(field(v, at, n) << (32 - n)) >> (32 - n)) : 0;
}
static int32_t middle(int32_t a, int32_t b, int32_t c)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}
static uint32_t reversed(uint32_t v)
{
    uint32_t r = 0;
    for (int k = 0; k < 32; k++)
        r |= (v >> k & 1) << (31 - k);
    return r;
}
// Bytes 0 to 3 of b, 4 to 7 of a, signs, zero, ones.
static uint32_t permuted(uint32_t a, uint32_t b, uint32_t how)
{
    const uint64_t both = (uint64_t) a << 32 | b;
    uint32_t r = 0;
    for (int k = 0; k < 4; k++) {
        const uint32_t s = how >> (8 * k) & 0xff;
        uint32_t byte = 0;
        if (s < 8)
            byte = both >> (8 * s) & 0xff;
        else if (s < 12)
            byte = both >> (16 * (s - 8) + 15) & 1 ? 0xff : 0;
        else if (s > 12)
            byte = 0xff;
        r |= byte << (8 * k);
    }
    return r;
}
static uint32_t exponent_of(float f)
{
    int e = 0;
    if (isfinite(f) && f != 0)
        frexpf(f, &e);
    return U(e);
}
static float mantissa_of(float f)
{
    int e;
    return isfinite(f) ? frexpf(f, &e) : f;
}
// Steps beyond all exponents make no difference.
static float scaled(float f, int32_t by)
{
    return ldexpf(f, by < -600 ? -600 : by > 600 ? 600 : by);
}

// X(name, form, value of lane l)
#define VECTOR_OPS(X)                                                                              \
    X(v_mov_b32, "w:w", A)                                                                         \
    X(v_not_b32, "w:w", ~A)                                                                        \
    X(v_bfrev_b32, "w:w", reversed(A))                                                             \
    X(v_add_nc_u32, "w:ww", A + B)                                                                 \
    X(v_sub_nc_u32, "w:ww", A - B)                                                                 \
    X(v_subrev_nc_u32, "w:ww", B - A)                                                              \
    X(v_and_b32, "w:ww", A &B)                                                                     \
    X(v_or_b32, "w:ww", A | B)                                                                     \
    X(v_xor_b32, "w:ww", A ^ B)                                                                    \
    X(v_xnor_b32, "w:ww", ~(A ^ B))                                                                \
    X(v_lshlrev_b32, "w:ww", B << (A & 31))                                                        \
    X(v_lshrrev_b32, "w:ww", B >> (A & 31))                                                        \
    X(v_ashrrev_i32, "w:ww", U(I(B) >> (A & 31)))                                                  \
    X(v_min_i32, "w:ww", I(A) < I(B) ? A : B)                                                      \
    X(v_max_i32, "w:ww", I(A) > I(B) ? A : B)                                                      \
    X(v_min_u32, "w:ww", A < B ? A : B)                                                            \
    X(v_max_u32, "w:ww", A > B ? A : B)                                                            \
    X(v_min3_i32, "w:www", I(A) < I(B) ? (I(A) < I(C) ? A : C) : (I(B) < I(C) ? B : C))            \
    X(v_max3_i32, "w:www", I(A) > I(B) ? (I(A) > I(C) ? A : C) : (I(B) > I(C) ? B : C))            \
    X(v_med3_i32, "w:www", U(middle(I(A), I(B), I(C))))                                            \
    X(v_mul_lo_u32, "w:ww", A *B)                                                                  \
    X(v_mul_hi_u32, "w:ww", U((uint64_t) A *B >> 32))                                              \
    X(v_mul_hi_i32, "w:ww", U((int64_t) I(A) * I(B) >> 32))                                        \
    X(v_mul_u32_u24, "w:ww", U24(A) * U24(B))                                                      \
    X(v_mul_i32_i24, "w:ww", U((int64_t) S24(A) * S24(B)))                                         \
    X(v_mul_hi_u32_u24, "w:ww", U((uint64_t) U24(A) * U24(B) >> 32))                               \
    X(v_mad_u32_u24, "w:www", U24(A) * U24(B) + C)                                                 \
    X(v_mad_i32_i24, "w:www", U((int64_t) S24(A) * S24(B)) + C)                                    \
    X(v_add3_u32, "w:www", A + B + C)                                                              \
    X(v_xad_u32, "w:www", (A ^ B) + C)                                                             \
    X(v_lshl_add_u32, "w:www", (A << (B & 31)) + C)                                                \
    X(v_add_lshl_u32, "w:www", (A + B) << (C & 31))                                                \
    X(v_lshl_or_b32, "w:www", A << (B & 31) | C)                                                   \
    X(v_and_or_b32, "w:www", (A & B) | C)                                                          \
    X(v_or3_b32, "w:www", A | B | C)                                                               \
    X(v_xor3_b32, "w:www", A ^ B ^ C)                                                              \
    X(v_bfi_b32, "w:www", (A & B) | (~A & C))                                                      \
    X(v_bfe_u32, "w:www", field(A, B, C))                                                          \
    X(v_bfe_i32, "w:www", signed_field(A, B, C))                                                   \
    X(v_alignbit_b32, "w:www", U(((uint64_t) A << 32 | B) >> (C & 31)))                            \
    X(v_perm_b32, "w:www", permuted(A, B, C))                                                      \
    X(v_bcnt_u32_b32, "w:ww", U(__builtin_popcount(A)) + B)                                        \
    X(v_mbcnt_lo_u32_b32, "w:ww", U(__builtin_popcount(A &((1u << l) - 1))) + B)                   \
    X(v_add_f32, "w:ww", F(FA + FB))                                                               \
    X(v_sub_f32, "w:ww", F(FA - FB))                                                               \
    X(v_subrev_f32, "w:ww", F(FB - FA))                                                            \
    X(v_mul_f32, "w:ww", F(FA *FB))                                                                \
    X(v_max_f32, "w:ww", F(fmaxf(FA, FB)))                                                         \
    X(v_min_f32, "w:ww", F(fminf(FA, FB)))                                                         \
    X(v_max3_f32, "w:www", F(fmaxf(fmaxf(FA, FB), FC)))                                            \
    X(v_fma_f32, "w:www", F(fmaf(FA, FB, FC)))                                                     \
    X(v_fmaak_f32, "w:www", F(fmaf(FA, FB, FC)))                                                   \
    X(v_fmamk_f32, "w:www", F(fmaf(FA, FB, FC)))                                                   \
    X(v_fmac_f32, "w:ww", F(fmaf(FA, FB, isa_f32(OLD))))                                           \
    X(v_rcp_f32, "w:w", F(flush(1 / flush(FA))))                                                   \
    X(v_rcp_iflag_f32, "w:w", F(flush(1 / flush(FA))))                                             \
    X(v_rsq_f32, "w:w", F(flush((float) (1 / sqrt(flush(FA))))))                                   \
    X(v_sqrt_f32, "w:w", F(flush(sqrtf(flush(FA)))))                                               \
    X(v_exp_f32, "w:w", F(flush(exp2f(flush(FA)))))                                                \
    X(v_log_f32, "w:w", F(flush(log2f(flush(FA)))))                                                \
    X(v_rndne_f32, "w:w", F(rintf(FA)))                                                            \
    X(v_trunc_f32, "w:w", F(truncf(FA)))                                                           \
    X(v_floor_f32, "w:w", F(floorf(FA)))                                                           \
    X(v_frexp_exp_i32_f32, "w:w", exponent_of(FA))                                                 \
    X(v_frexp_mant_f32, "w:w", F(mantissa_of(FA)))                                                 \
    X(v_ldexp_f32, "w:ww", F(scaled(FA, I(B))))                                                    \
    X(v_cvt_f32_i32, "w:w", F((float) I(A)))                                                       \
    X(v_cvt_f32_u32, "w:w", F((float) A))                                                          \
    X(v_cvt_i32_f32, "w:w", to_i32(FA))                                                            \
    X(v_cvt_u32_f32, "w:w", to_u32(FA))                                                            \
    X(v_cvt_f32_ubyte0, "w:w", F((float) (A & 255)))                                               \
    X(v_cvt_f32_ubyte1, "w:w", F((float) (A >> 8 & 255)))                                          \
    X(v_cvt_f32_ubyte2, "w:w", F((float) (A >> 16 & 255)))                                         \
    X(v_cvt_f32_ubyte3, "w:w", F((float) (A >> 24)))                                               \
    X(v_cvt_f32_f16, "w:h", F(HA))                                                                 \
    X(v_cvt_f16_f32, "h:w", H(FA))                                                                 \
    X(v_cvt_pk_rtz_f16_f32, "w:ww", isa_half_down(FA) | (uint32_t) isa_half_down(FB) << 16)        \
    X(v_add_f16, "h:hh", H(HA + HB))                                                               \
    X(v_mul_f16, "h:hh", H(HA *HB))                                                                \
    X(v_lshlrev_b16, "h:hh", B << (A & 15))                                                        \
    X(v_lshrrev_b16, "h:hh", (B & 0xffff) >> (A & 15))                                             \
    X(v_ashrrev_i16, "h:hh", U((int16_t) B >> (A & 15)))                                           \
    X(v_add_nc_u16, "h:hh", A + B)                                                                 \
    X(v_sub_nc_u16, "h:hh", A - B)                                                                 \
    X(v_mul_lo_u16, "h:hh", (A & 0xffff) * (B & 0xffff))

#define X(name, form, value)                                                                       \
    static void run_##name(isa_wave *w, const isa_insn *i)                                         \
    {                                                                                              \
        isa_lanes room[3], r;                                                                      \
        const uint32_t *a = isa_fetch(w, &i->src[0], room[0]);                                     \
        const uint32_t *b = i->n_src > 1 ? isa_fetch(w, &i->src[1], room[1]) : a;                  \
        const uint32_t *c = i->n_src > 2 ? isa_fetch(w, &i->src[2], room[2]) : a;                  \
        const uint32_t *old = w->v[i->dst[0].reg];                                                 \
        (void) b;                                                                                  \
        (void) c;                                                                                  \
        (void) old;                                                                                \
        for (int l = 0; l < ISA_LANES; l++)                                                        \
            r[l] = (value);                                                                        \
        isa_put(w, &i->dst[0], r);                                                                 \
    }
VECTOR_OPS(X)
#undef X

// ---- a bit a lane ----------------------------------------------------------------------------
static void run_cndmask(isa_wave *w, const isa_insn *i)
{
    isa_lanes room[2], r;
    const uint32_t *a = isa_fetch(w, &i->src[0], room[0]);
    const uint32_t *b = isa_fetch(w, &i->src[1], room[1]), mask = isa_scalar(w, &i->src[2]);
    for (int l = 0; l < ISA_LANES; l++)
        r[l] = mask >> l & 1 ? b[l] : a[l];
    isa_put(w, &i->dst[0], r);
}

// X(name, form, result of 64 bits): bit 32 is the carry
#define CARRIES(X)                                                                                 \
    X(v_add_co_u32, "ws:ww", (uint64_t) A + B)                                                     \
    X(v_sub_co_u32, "ws:ww", (uint64_t) A - B)                                                     \
    X(v_subrev_co_u32, "ws:ww", (uint64_t) B - A)                                                  \
    X(v_add_co_ci_u32, "ws:wws", (uint64_t) A + B + (in >> l & 1))                                 \
    X(v_sub_co_ci_u32, "ws:wws", (uint64_t) A - B - (in >> l & 1))                                 \
    X(v_subrev_co_ci_u32, "ws:wws", (uint64_t) B - A - (in >> l & 1))
#define X(name, form, value)                                                                       \
    static void run_##name(isa_wave *w, const isa_insn *i)                                         \
    {                                                                                              \
        isa_lanes room[2], r;                                                                      \
        const uint32_t *a = isa_fetch(w, &i->src[0], room[0]);                                     \
        const uint32_t *b = isa_fetch(w, &i->src[1], room[1]);                                     \
        const uint32_t in = i->n_src > 2 ? isa_scalar(w, &i->src[2]) : 0;                          \
        uint32_t out = 0;                                                                          \
        (void) in;                                                                                 \
        for (int l = 0; l < ISA_LANES; l++) {                                                      \
            const uint64_t v = (value);                                                            \
            r[l] = (uint32_t) v;                                                                   \
            out |= (uint32_t) (v >> 32 & 1) << l;                                                  \
        }                                                                                          \
        isa_put(w, &i->dst[0], r);                                                                 \
        isa_set_scalar(w, &i->dst[1], out & w->s[ISA_EXEC]);                                       \
    }
CARRIES(X)
#undef X

// ---- between lanes ---------------------------------------------------------------------------
static int first_lane(const isa_wave *w)
{
    return w->s[ISA_EXEC] ? __builtin_ctz(w->s[ISA_EXEC]) : 0;
}
static void run_readfirstlane(isa_wave *w, const isa_insn *i)
{
    isa_lanes room;
    isa_set_scalar(w, &i->dst[0], isa_fetch(w, &i->src[0], room)[first_lane(w)]);
}
static void run_readlane(isa_wave *w, const isa_insn *i)
{
    isa_lanes room;
    const uint32_t l = isa_scalar(w, &i->src[1]) & 31;
    isa_set_scalar(w, &i->dst[0], isa_fetch(w, &i->src[0], room)[l]);
}

// A lane of the row of 16 (n: of the other one) by four bits for each; op_sel: also from lanes that are not
// active, and zeros from those that are not there.
static void run_permlane(isa_wave *w, const isa_insn *i)
{
    isa_lanes room, r;
    const uint32_t *a = isa_fetch(w, &i->src[0], room), exec = w->s[ISA_EXEC];
    const uint64_t how = isa_scalar(w, &i->src[1]) | (uint64_t) isa_scalar(w, &i->src[2]) << 32;
    for (int l = 0; l < ISA_LANES; l++) {
        const int from = ((l & 16) ^ i->what->n) | (int) (how >> (4 * (l & 15)) & 15);
        if ((i->op_sel & 1) || exec >> from & 1)
            r[l] = a[from];
        else
            r[l] = i->op_sel & 2 ? 0 : w->v[i->dst[0].reg][l];
    }
    isa_put(w, &i->dst[0], r);
}

#define ROW(name, form, value) { #name, form, run_##name, 0 },
const isa_semantics isa_vector_table[] = { VECTOR_OPS(ROW) CARRIES(ROW) //
                                           { "v_cndmask_b32", "w:wwc", run_cndmask, 0 },
                                           { "v_readfirstlane_b32", "s:w", run_readfirstlane, 0 },
                                           { "v_readlane_b32", "s:ws", run_readlane, 0 },
                                           { "v_permlane16_b32", "w:wss", run_permlane, 0 },
                                           { "v_permlanex16_b32", "w:wss", run_permlane, 16 },
                                           { NULL, NULL, NULL, 0 } };
