// Products of 16x16 matrices by a wave, packed and mixed f16, and conversions of f16.
#include "tests/gate/isa/isa.h"

#include <math.h>
#include <string.h>

// ---- f16 -------------------------------------------------------------------------------------
float isa_from_half(uint16_t h)
{
    const uint32_t sign = (uint32_t) (h >> 15) << 31, e = h >> 10 & 31, m = h & 1023;
    if (!e) {
        const float v = (float) m * 0x1p-24f;
        return sign ? -v : v;
    }
    return isa_f32(sign | (e == 31 ? 255 : e + 112) << 23 | m << 13);
}

uint16_t isa_to_half(float f)
{
    const uint32_t u = isa_bits(f), sign = u >> 16 & 0x8000;
    const float v = fabsf(f);
    if (isnan(f))
        return (uint16_t) (sign | 0x7e00 | (u >> 13 & 0x3ff));
    if (v >= 65520)
        return (uint16_t) (sign | 0x7c00);
    if (v < 0x1p-14f) // adding makes the last bit that of the smallest f16
        return (uint16_t) (sign | (isa_bits(v + 0.5f) - isa_bits(0.5f)));
    const uint32_t bits = isa_bits(v) - (112u << 23);
    return (uint16_t) (sign | (bits + 0xfff + (bits >> 13 & 1)) >> 13);
}

uint16_t isa_half_down(float f)
{
    const uint32_t u = isa_bits(f), sign = u >> 16 & 0x8000;
    const float v = fabsf(f);
    if (!(v < 65504))
        return (uint16_t) (sign | (isinf(f) || isnan(f) ? isa_to_half(v) : 0x7bff));
    if (v < 0x1p-14f)
        return (uint16_t) (sign | (uint16_t) (v * 0x1p24f));
    return (uint16_t) (sign | (isa_bits(v) - (112u << 23)) >> 13);
}

static float from_bf16(uint16_t h) { return isa_f32((uint32_t) h << 16); }

// ---- matrices --------------------------------------------------------------------------------
// Lane l holds row (or column) l & 15 of an operand, 16 values of 16 bits; lanes 16 to 31 must hold what 0 to 15
// do. Of the result: element v is row 2 v + (l >> 4), column l & 15.
static void take_matrix(isa_wave *w, const isa_insn *i, const isa_operand *o, bool is_bf16,
                        float out[16][16])
{
    for (int l = 0; l < 16; l++)
        for (int k = 0; k < 16; k++) {
            const uint32_t *v = w->v[o->reg + k / 2];
            const uint16_t h = (uint16_t) (v[l] >> (16 * (k & 1)));
            if (v[l] != v[l + 16])
                isa_fail(w, i, "v%d differs in lanes %d and %d", o->reg + k / 2, l, l + 16);
            out[l][k] = is_bf16 ? from_bf16(h) : isa_from_half(h);
        }
}

static bool is_overlapping(const isa_operand *a, const isa_operand *b)
{
    return a->kind == b->kind && a->reg < b->reg + b->n && b->reg < a->reg + a->n;
}

static void run_wmma(isa_wave *w, const isa_insn *i)
{
    float a[16][16], b[16][16], across[16][16], sum[16][16];
    const bool is_bf16 = strstr(i->what->name, "bf16") != NULL;
    if (w->s[ISA_EXEC] != UINT32_MAX)
        isa_fail(w, i, "not all lanes are active");
    for (int k = 0; k < 2; k++)
        if (i->src[k].kind != ISA_VGPR || (w->matrix && is_overlapping(w->matrix, &i->src[k])))
            isa_fail(w, i, "it reads what the matrix instruction just before writes");
    if (w->has_failed)
        return;
    take_matrix(w, i, &i->src[0], is_bf16, a);
    take_matrix(w, i, &i->src[1], is_bf16, b);
    for (int n = 0; n < 16; n++)
        for (int k = 0; k < 16; k++)
            across[k][n] = b[n][k];
    for (int m = 0; m < 16; m++)
        for (int n = 0; n < 16; n++) {
            const isa_operand *c = &i->src[2];
            const int l = n + 16 * (m & 1);
            sum[m][n] = isa_f32(c->kind == ISA_VGPR ? w->v[c->reg + m / 2][l]
                                                    : (uint32_t) isa_scalar(w, c));
        }
    for (int m = 0; m < 16; m++)
        for (int k = 0; k < 16; k++)
            for (int n = 0; n < 16; n++)
                sum[m][n] += a[m][k] * across[k][n];
    for (int m = 0; m < 16; m++)
        for (int n = 0; n < 16; n++)
            w->v[i->dst[0].reg + m / 2][n + 16 * (m & 1)] = isa_bits(sum[m][n]);
    w->matrix = &i->dst[0];
}

// ---- pairs of f16 ----------------------------------------------------------------------------
// The half of a source that goes into half h of the result: op_sel for the low one, op_sel_hi for the high one.
static uint16_t half_of(const isa_insn *i, int source, int h, uint32_t v)
{
    const int bits = h ? i->op_sel_hi : i->op_sel;
    return (uint16_t) (bits >> source & 1 ? v >> 16 : v);
}

#define HA isa_from_half(a)
#define HB isa_from_half(b)
#define HC isa_from_half(c)
// X(name, form, half of the result)
#define PAIRS(X)                                                                                   \
    X(v_pk_add_f16, "w:pp", isa_to_half(HA + HB))                                                  \
    X(v_pk_mul_f16, "w:pp", isa_to_half(HA *HB))                                                   \
    X(v_pk_fma_f16, "w:ppp", isa_to_half((float) fma((double) HA, (double) HB, (double) HC)))      \
    X(v_pk_max_f16, "w:pp", isa_to_half(fmaxf(HA, HB)))                                            \
    X(v_pk_min_f16, "w:pp", isa_to_half(fminf(HA, HB)))                                            \
    X(v_pk_add_u16, "w:pp", (uint16_t) (a + b))                                                    \
    X(v_pk_sub_i16, "w:pp", (uint16_t) (a - b))                                                    \
    X(v_pk_lshlrev_b16, "w:pp", (uint16_t) (b << (a & 15)))                                        \
    X(v_pk_lshrrev_b16, "w:pp", (uint16_t) (b >> (a & 15)))                                        \
    X(v_pk_ashrrev_i16, "w:pp", (uint16_t) ((int16_t) b >> (a & 15)))
#define X(name, form, value)                                                                       \
    static void run_##name(isa_wave *w, const isa_insn *i)                                         \
    {                                                                                              \
        isa_lanes room[3], r = { 0 };                                                              \
        const uint32_t *v[3] = { NULL };                                                           \
        for (int k = 0; k < i->n_src; k++)                                                         \
            v[k] = isa_fetch(w, &i->src[k], room[k]);                                              \
        for (int l = 0; l < ISA_LANES; l++)                                                        \
            for (int h = 0; h < 2; h++) {                                                          \
                const uint16_t a = half_of(i, 0, h, v[0][l]), b = half_of(i, 1, h, v[1][l]);       \
                const uint16_t c = v[2] ? half_of(i, 2, h, v[2][l]) : 0;                           \
                (void) c;                                                                          \
                r[l] |= (uint32_t) (value) << (16 * h);                                            \
            }                                                                                      \
        isa_put(w, &i->dst[0], r);                                                                 \
    }
PAIRS(X)
#undef X

static void run_pack(isa_wave *w, const isa_insn *i)
{
    isa_lanes room[2], r;
    const uint32_t *a = isa_fetch(w, &i->src[0], room[0]), *b = isa_fetch(w, &i->src[1], room[1]);
    for (int l = 0; l < ISA_LANES; l++)
        r[l] = half_of(i, 0, 0, a[l]) | (uint32_t) half_of(i, 1, 0, b[l]) << 16;
    isa_put(w, &i->dst[0], r);
}

// ---- f32 and f16 mixed -----------------------------------------------------------------------
// A source is f16 where op_sel_hi says so, the half that op_sel names; nothing said is none.
static float mixed(const isa_insn *i, int k, uint32_t v)
{
    const bool is_half = i->op_sel_hi != 0xff && i->op_sel_hi >> k & 1;
    float f = isa_f32(v);
    if (is_half)
        f = isa_from_half((uint16_t) (i->op_sel >> k & 1 ? v >> 16 : v));
    f = i->src[k].abs ? fabsf(f) : f;
    return i->src[k].neg ? -f : f;
}

static void run_mix(isa_wave *w, const isa_insn *i)
{
    isa_lanes room[3], r;
    const uint32_t *v[3], *old = w->v[i->dst[0].reg];
    for (int k = 0; k < 3; k++) {
        isa_operand plain = i->src[k]; // what becomes of signs depends on the type
        plain.neg = plain.abs = false;
        v[k] = isa_fetch(w, &plain, room[k]);
        if (i->src[k].kind == ISA_VALUE && i->src[k].value && i->op_sel_hi != 0xff &&
            i->op_sel_hi >> k & 1)
            isa_fail(w, i, "a constant as f16 has not been thought of");
    }
    for (int l = 0; l < ISA_LANES; l++) {
        const float f = fmaf(mixed(i, 0, v[0][l]), mixed(i, 1, v[1][l]), mixed(i, 2, v[2][l]));
        r[l] = i->what->n == 0   ? isa_bits(f)
               : i->what->n == 1 ? (old[l] & 0xffff0000) | isa_to_half(f)
                                 : (old[l] & 0xffff) | (uint32_t) isa_to_half(f) << 16;
    }
    isa_put(w, &i->dst[0], r);
}

#define ROW(name, form, value) { #name, form, run_##name, 0 },
const isa_semantics isa_matrix_table[] = { PAIRS(ROW) //
                                           { "v_wmma_f32_16x16x16_f16", "m:mmm", run_wmma, -1 },
                                           { "v_wmma_f32_16x16x16_bf16", "m:mmm", run_wmma, -1 },
                                           { "v_pack_b32_f16", "w:hh", run_pack, 0 },
                                           { "v_fma_mix_f32", "w:www", run_mix, 0 },
                                           { "v_fma_mixlo_f16", "w:www", run_mix, 1 },
                                           { "v_fma_mixhi_f16", "w:www", run_mix, 2 },
                                           { NULL, NULL, NULL, 0 } };
