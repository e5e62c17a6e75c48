// Scalar instructions: arithmetic, comparisons, branches, masks of lanes.
#include "tests/gate/isa/isa.h"

#include <math.h>

#define A isa_scalar(w, &i->src[0])
#define B isa_scalar(w, &i->src[1])
#define C isa_scalar(w, &i->src[2])
#define FA isa_f32(A)
#define FB isa_f32(B)
#define FC isa_f32(C)
#define QA isa_scalar64(w, &i->src[0])
#define QB isa_scalar64(w, &i->src[1])
#define OLD w->s[i->dst[0].reg]
#define SCC w->s[ISA_SCC]
#define KEEP SCC
#define SHORT(v) ((uint32_t) (int32_t) (int16_t) (v))

static bool adds_over(uint32_t a, uint32_t b, uint32_t r) { return (~(a ^ b) & (a ^ r)) >> 31; }
static bool subs_over(uint32_t a, uint32_t b, uint32_t r) { return ((a ^ b) & (a ^ r)) >> 31; }
static uint32_t high_of(int64_t v) { return (uint32_t) ((uint64_t) v >> 32); }
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
static uint32_t bits_of(uint32_t v, uint32_t how)
{
    const uint32_t n = how >> 16 & 127, at = how & 31;
    return n >= 32 ? v >> at : v >> at & ((1u << n) - 1);
}

// X(name, form, value, SCC): a is the first source and so on, r the value
#define SCALAR_OPS(X)                                                                              \
    X(s_mov_b32, "s:s", A, KEEP)                                                                   \
    X(s_movk_i32, "s:s", SHORT(A), KEEP)                                                           \
    X(s_not_b32, "s:s", ~A, r != 0)                                                                \
    X(s_brev_b32, "s:s", reversed(A), KEEP)                                                        \
    X(s_add_i32, "s:ss", A + B, adds_over(a, b, r))                                                \
    X(s_add_u32, "s:ss", A + B, r < a)                                                             \
    X(s_addc_u32, "s:ss", A + B + SCC, ((uint64_t) a + b + SCC) >> 32)                             \
    X(s_sub_i32, "s:ss", A - B, subs_over(a, b, r))                                                \
    X(s_sub_u32, "s:ss", A - B, b > a)                                                             \
    X(s_subb_u32, "s:ss", A - B - SCC, (uint64_t) b + SCC > a)                                     \
    X(s_addk_i32, "s:s", OLD + SHORT(A), adds_over(OLD, SHORT(a), r))                              \
    X(s_mulk_i32, "s:s", OLD *SHORT(A), KEEP)                                                      \
    X(s_mul_i32, "s:ss", A *B, KEEP)                                                               \
    X(s_mul_hi_i32, "s:ss", high_of((int64_t) (int32_t) A *(int32_t) B), KEEP)                     \
    X(s_mul_hi_u32, "s:ss", (uint32_t) ((uint64_t) A * B >> 32), KEEP)                             \
    X(s_and_b32, "s:ss", A &B, r != 0)                                                             \
    X(s_or_b32, "s:ss", A | B, r != 0)                                                             \
    X(s_xor_b32, "s:ss", A ^ B, r != 0)                                                            \
    X(s_nand_b32, "s:ss", ~(A & B), r != 0)                                                        \
    X(s_nor_b32, "s:ss", ~(A | B), r != 0)                                                         \
    X(s_xnor_b32, "s:ss", ~(A ^ B), r != 0)                                                        \
    X(s_and_not1_b32, "s:ss", A & ~B, r != 0)                                                      \
    X(s_or_not1_b32, "s:ss", A | ~B, r != 0)                                                       \
    X(s_lshl_b32, "s:ss", A << (B & 31), r != 0)                                                   \
    X(s_lshr_b32, "s:ss", A >> (B & 31), r != 0)                                                   \
    X(s_ashr_i32, "s:ss", (uint32_t) ((int32_t) A >> (B & 31)), r != 0)                            \
    X(s_bfe_u32, "s:ss", bits_of(A, B), r != 0)                                                    \
    X(s_min_i32, "s:ss", (int32_t) A < (int32_t) B ? A : B, (int32_t) a < (int32_t) b)             \
    X(s_max_i32, "s:ss", (int32_t) A > (int32_t) B ? A : B, (int32_t) a >= (int32_t) b)            \
    X(s_min_u32, "s:ss", A < B ? A : B, a < b)                                                     \
    X(s_max_u32, "s:ss", A > B ? A : B, a >= b)                                                    \
    X(s_abs_i32, "s:s", A >> 31 ? 0 - A : A, r != 0)                                               \
    X(s_ctz_i32_b32, "s:s", A ? (uint32_t) __builtin_ctz(A) : UINT32_MAX, KEEP)                    \
    X(s_clz_i32_u32, "s:s", A ? (uint32_t) __builtin_clz(A) : UINT32_MAX, KEEP)                    \
    X(s_bcnt1_i32_b32, "s:s", (uint32_t) __builtin_popcount(A), r != 0)                            \
    X(s_sext_i32_i8, "s:s", (uint32_t) (int32_t) (int8_t) A, KEEP)                                 \
    X(s_sext_i32_i16, "s:s", SHORT(A), KEEP)                                                       \
    X(s_pack_ll_b32_b16, "s:ss", (A & 0xffff) | B << 16, KEEP)                                     \
    X(s_cselect_b32, "s:ss", SCC ? A : B, KEEP)                                                    \
    X(s_lshl1_add_u32, "s:ss", (A << 1) + B, ((uint64_t) a * 2 + b) >> 32 != 0)                    \
    X(s_lshl2_add_u32, "s:ss", (A << 2) + B, ((uint64_t) a * 4 + b) >> 32 != 0)                    \
    X(s_lshl3_add_u32, "s:ss", (A << 3) + B, ((uint64_t) a * 8 + b) >> 32 != 0)                    \
    X(s_add_f32, "s:ss", isa_bits(FA + FB), KEEP)                                                  \
    X(s_sub_f32, "s:ss", isa_bits(FA - FB), KEEP)                                                  \
    X(s_mul_f32, "s:ss", isa_bits(FA *FB), KEEP)                                                   \
    X(s_fmac_f32, "s:ss", isa_bits(fmaf(FA, FB, isa_f32(OLD))), KEEP)                              \
    X(s_fmamk_f32, "s:sss", isa_bits(fmaf(FA, FB, FC)), KEEP)                                      \
    X(s_fmaak_f32, "s:sss", isa_bits(fmaf(FA, FB, FC)), KEEP)                                      \
    X(s_trunc_f32, "s:s", isa_bits(truncf(FA)), KEEP)                                              \
    X(s_cvt_f32_i32, "s:s", isa_bits((float) (int32_t) A), KEEP)                                   \
    X(s_cvt_f32_u32, "s:s", isa_bits((float) A), KEEP)                                             \
    X(s_cvt_u32_f32, "s:s", to_u32(FA), KEEP)                                                      \
    X(s_cvt_i32_f32, "s:s", to_i32(FA), KEEP)                                                      \
    X(s_cvt_f16_f32, "s:s", isa_to_half(FA), KEEP)                                                 \
    X(s_cvt_f32_f16, "s:s", isa_bits(isa_from_half((uint16_t) A)), KEEP)

static uint32_t reversed(uint32_t v)
{
    uint32_t r = 0;
    for (int k = 0; k < 32; k++)
        r |= (v >> k & 1) << (31 - k);
    return r;
}

#define X(name, form, value, scc)                                                                  \
    static void run_##name(isa_wave *w, const isa_insn *i)                                         \
    {                                                                                              \
        const uint32_t a = A, b = B, r = (value), carry = (scc);                                   \
        (void) a;                                                                                  \
        (void) b;                                                                                  \
        isa_set_scalar(w, &i->dst[0], r);                                                          \
        SCC = carry;                                                                               \
    }
SCALAR_OPS(X)
#undef X

// X(name, form, value, SCC): of two registers
#define WIDE_OPS(X)                                                                                \
    X(s_mov_b64, "t:q", QA, KEEP)                                                                  \
    X(s_and_b64, "t:qq", QA &QB, r != 0)                                                           \
    X(s_or_b64, "t:qq", QA | QB, r != 0)                                                           \
    X(s_xor_b64, "t:qq", QA ^ QB, r != 0)                                                          \
    X(s_cselect_b64, "t:qq", SCC ? QA : QB, KEEP)                                                  \
    X(s_lshl_b64, "t:qs", QA << (B & 63), r != 0)                                                  \
    X(s_lshr_b64, "t:qs", QA >> (B & 63), r != 0)                                                  \
    X(s_ashr_i64, "t:qs", (uint64_t) ((int64_t) QA >> (B & 63)), r != 0)                           \
    X(s_getpc_b64, "t:", (uint64_t) (uintptr_t) w->program->image + i->address + 4, KEEP)
#define X(name, form, value, scc)                                                                  \
    static void run_##name(isa_wave *w, const isa_insn *i)                                         \
    {                                                                                              \
        const uint64_t r = (value);                                                                \
        const uint32_t carry = (scc);                                                              \
        isa_set_scalar64(w, &i->dst[0], r);                                                        \
        SCC = carry;                                                                               \
    }
WIDE_OPS(X)
#undef X

// X(name, form, SCC)
#define COMPARISONS(X)                                                                             \
    X(s_cmp_eq_i32, ":ss", A == B)                                                                 \
    X(s_cmp_lg_i32, ":ss", A != B)                                                                 \
    X(s_cmp_gt_i32, ":ss", (int32_t) A > (int32_t) B)                                              \
    X(s_cmp_ge_i32, ":ss", (int32_t) A >= (int32_t) B)                                             \
    X(s_cmp_lt_i32, ":ss", (int32_t) A < (int32_t) B)                                              \
    X(s_cmp_le_i32, ":ss", (int32_t) A <= (int32_t) B)                                             \
    X(s_cmp_eq_u32, ":ss", A == B)                                                                 \
    X(s_cmp_lg_u32, ":ss", A != B)                                                                 \
    X(s_cmp_gt_u32, ":ss", A > B)                                                                  \
    X(s_cmp_ge_u32, ":ss", A >= B)                                                                 \
    X(s_cmp_lt_u32, ":ss", A < B)                                                                  \
    X(s_cmp_le_u32, ":ss", A <= B)                                                                 \
    X(s_cmp_eq_u64, ":qq", QA == QB)                                                               \
    X(s_cmp_lg_u64, ":qq", QA != QB)                                                               \
    X(s_cmp_lt_f32, ":ss", FA < FB)                                                                \
    X(s_cmp_gt_f32, ":ss", FA > FB)                                                                \
    X(s_cmpk_eq_i32, ":ss", A == SHORT(B))                                                         \
    X(s_cmpk_lg_i32, ":ss", A != SHORT(B))                                                         \
    X(s_cmpk_gt_i32, ":ss", (int32_t) A > (int32_t) SHORT(B))                                      \
    X(s_cmpk_ge_i32, ":ss", (int32_t) A >= (int32_t) SHORT(B))                                     \
    X(s_cmpk_lt_i32, ":ss", (int32_t) A < (int32_t) SHORT(B))                                      \
    X(s_cmpk_le_i32, ":ss", (int32_t) A <= (int32_t) SHORT(B))                                     \
    X(s_cmpk_eq_u32, ":ss", A == (B & 0xffff))                                                     \
    X(s_cmpk_lg_u32, ":ss", A != (B & 0xffff))                                                     \
    X(s_cmpk_gt_u32, ":ss", A > (B & 0xffff))                                                      \
    X(s_cmpk_ge_u32, ":ss", A >= (B & 0xffff))                                                     \
    X(s_cmpk_lt_u32, ":ss", A < (B & 0xffff))                                                      \
    X(s_cmpk_le_u32, ":ss", A <= (B & 0xffff))                                                     \
    X(s_bitcmp0_b32, ":ss", !(A >> (B & 31) & 1))                                                  \
    X(s_bitcmp1_b32, ":ss", A >> (B & 31) & 1)
#define X(name, form, scc)                                                                         \
    static void run_##name(isa_wave *w, const isa_insn *i) { SCC = (scc); }
COMPARISONS(X)
#undef X

// X(name, the new mask of lanes): the old one goes to the result
#define MASKS(X)                                                                                   \
    X(s_and_saveexec_b32, a &old)                                                                  \
    X(s_or_saveexec_b32, a | old)                                                                  \
    X(s_xor_saveexec_b32, a ^ old)                                                                 \
    X(s_and_not1_saveexec_b32, a & ~old)                                                           \
    X(s_and_not0_saveexec_b32, ~a &old)                                                            \
    X(s_or_not1_saveexec_b32, a | ~old)
#define X(name, value)                                                                             \
    static void run_##name(isa_wave *w, const isa_insn *i)                                         \
    {                                                                                              \
        const uint32_t a = A, old = w->s[ISA_EXEC];                                                \
        w->s[ISA_EXEC] = (value);                                                                  \
        isa_set_scalar(w, &i->dst[0], old);                                                        \
        SCC = w->s[ISA_EXEC] != 0;                                                                 \
    }
MASKS(X)
#undef X

// X(name, whether it is taken)
#define BRANCHES(X)                                                                                \
    X(s_branch, true)                                                                              \
    X(s_cbranch_scc0, !SCC)                                                                        \
    X(s_cbranch_scc1, SCC)                                                                         \
    X(s_cbranch_vccz, !w->s[ISA_VCC])                                                              \
    X(s_cbranch_vccnz, w->s[ISA_VCC])                                                              \
    X(s_cbranch_execz, !w->s[ISA_EXEC])                                                            \
    X(s_cbranch_execnz, w->s[ISA_EXEC])
static void branch(isa_wave *w, const isa_insn *i)
{
    if (i->target >= w->program->n_insns)
        isa_fail(w, i, "it branches to no instruction");
    else
        w->at = i->target;
}
#define X(name, is_taken)                                                                          \
    static void run_##name(isa_wave *w, const isa_insn *i)                                         \
    {                                                                                              \
        if (is_taken)                                                                              \
            branch(w, i);                                                                          \
    }
BRANCHES(X)
#undef X

static void run_code_end(isa_wave *w, const isa_insn *i) { isa_fail(w, i, "the code has ended"); }

// *: operands that decide nothing here; W: numbers of loads and stores that may still be on their way
#define ROW4(name, form, value, scc) { #name, form, run_##name, 0 },
#define ROW3(name, form, scc) { #name, form, run_##name, 0 },
#define ROW_MASK(name, value) { #name, "s:s", run_##name, 0 },
#define ROW_BRANCH(name, is_taken) { #name, ":s", run_##name, 0 },
const isa_semantics isa_scalar_table[] = { SCALAR_OPS(ROW4) WIDE_OPS(ROW4) COMPARISONS(ROW3)
                                               MASKS(ROW_MASK) BRANCHES(ROW_BRANCH) //
                                           { "s_code_end", "*", run_code_end, 0 },
                                           { "s_waitcnt", "W", NULL, 0 },
                                           { "s_waitcnt_vscnt", "W", NULL, 0 },
                                           { "s_nop", "*", NULL, 0 },
                                           { "s_clause", "*", NULL, 0 },
                                           { "s_delay_alu", "*", NULL, 0 },
                                           { "s_set_inst_prefetch_distance", "*", NULL, 0 },
                                           { "s_sendmsg", "*", NULL, 0 },
                                           { "s_endpgm", "*", NULL, 0 },
                                           { "s_barrier", "*", NULL, 0 },
                                           { "buffer_gl0_inv", "*", NULL, 0 },
                                           { NULL, NULL, NULL, 0 } };
