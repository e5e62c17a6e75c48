// Expansion of the quantised block formats, one function a block. Names: d and m are half-precision
// scale and minimum; a nibble array holds value j in the low and value j + half in the high
// nibbles.
#include "core/tensor/quant.h"

#include <math.h>
#include <string.h>

#include "core/tensor/quant_grid.h"

static const int8_t iq4_values[16] = { -127, -104, -83, -65, -49, -35, -22, -10,
                                       1,    13,   25,  38,  53,  69,  89,  113 };
// e2m1 doubled, so that they are integers
static const int8_t fp4_values[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 };

static uint32_t quant_u16(const uint8_t *p) { return p[0] | (uint32_t) p[1] << 8; }
static uint32_t quant_u32(const uint8_t *p) { return quant_u16(p) | quant_u16(p + 2) << 16; }
static float half(const uint8_t *p) { return nino_f16_to_f32((uint16_t) quant_u16(p)); }
static int nibble(const uint8_t *q, size_t i, size_t of) // value i of `of`
{
    return i < of / 2 ? q[i] & 15 : q[i - of / 2] >> 4;
}

// ---- blocks of 32: one scale ------------------------------------------------------------------

static void q4_0(float *y, const uint8_t *b)
{
    const float d = half(b);
    for (size_t i = 0; i < 32; i++)
        y[i] = (float) (nibble(b + 2, i, 32) - 8) * d;
}

static void q4_1(float *y, const uint8_t *b)
{
    const float d = half(b), m = half(b + 2);
    for (size_t i = 0; i < 32; i++)
        y[i] = (float) nibble(b + 4, i, 32) * d + m;
}

static void q5_0(float *y, const uint8_t *b)
{
    const float d = half(b);
    const uint32_t high = quant_u32(b + 2);
    for (size_t i = 0; i < 32; i++)
        y[i] = (float) ((int) (nibble(b + 6, i, 32) | (high >> i & 1) << 4) - 16) * d;
}

static void q5_1(float *y, const uint8_t *b)
{
    const float d = half(b), m = half(b + 2);
    const uint32_t high = quant_u32(b + 4);
    for (size_t i = 0; i < 32; i++)
        y[i] = (float) (nibble(b + 8, i, 32) | (high >> i & 1) << 4) * d + m;
}

static void q8_0(float *y, const uint8_t *b)
{
    const float d = half(b);
    for (size_t i = 0; i < 32; i++)
        y[i] = (float) (int8_t) b[2 + i] * d;
}

static void iq4_nl(float *y, const uint8_t *b)
{
    const float d = half(b);
    for (size_t i = 0; i < 32; i++)
        y[i] = d * (float) iq4_values[nibble(b + 2, i, 32)];
}

static void mxfp4(float *y, const uint8_t *b)
{
    const float d = ldexpf(1, (int) b[0] - 128);
    for (size_t i = 0; i < 32; i++)
        y[i] = (float) fp4_values[nibble(b + 1, i, 32)] * d;
}

// 4 groups of 16, each with an unsigned e4m3 scale.
static void nvfp4(float *y, const uint8_t *b)
{
    for (size_t g = 0; g < 4; g++) {
        const float d = nino_e4m3_to_f32(b[g] & 0x7f) * 0.5f;
        for (size_t i = 0; i < 16; i++)
            y[g * 16 + i] = (float) fp4_values[nibble(b + 4 + g * 8, i, 16)] * d;
    }
}

// 128 signs and one size.
static void q1_0(float *y, const uint8_t *b)
{
    const float d = half(b);
    for (size_t i = 0; i < 128; i++)
        y[i] = b[2 + i / 8] >> (i & 7) & 1 ? d : -d;
}

// 64 values of 2 bits: -1 .. 2 times the scale.
static void q2_0(float *y, const uint8_t *b)
{
    const float d = half(b);
    for (size_t i = 0; i < 64; i++)
        y[i] = (float) ((b[2 + i / 4] >> (i % 4 * 2) & 3) - 1) * d;
}

// ---- super-blocks of 256: K quants -------------------------------------------------------------

// Value i of 256 in 2-bit fields: each half's 32 bytes hold four layers of 32 values.
static int two_bits(const uint8_t *q, size_t i)
{
    return q[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
}

static void q2_k(float *y, const uint8_t *b)
{
    const float d = half(b + 80), m = half(b + 82);
    for (size_t g = 0; g < 16; g++) {
        const float dl = d * (float) (b[g] & 15), ml = m * (float) (b[g] >> 4);
        for (size_t i = g * 16; i < g * 16 + 16; i++)
            y[i] = dl * (float) two_bits(b + 16, i) - ml;
    }
}

static void q3_k(float *y, const uint8_t *b)
{
    const uint8_t *mask = b, *q = b + 32, *sc = b + 96;
    const float d = half(b + 108);
    for (size_t g = 0; g < 16; g++) {
        const int low = g < 8 ? sc[g] & 15 : sc[g - 8] >> 4, top = sc[8 + g % 4] >> (g / 4 * 2) & 3;
        const float dl = d * (float) ((low | top << 4) - 32);
        for (size_t i = g * 16; i < g * 16 + 16; i++)
            y[i] = dl * (float) (two_bits(q, i) - (mask[i % 32] >> (i / 32) & 1 ? 0 : 4));
    }
}

// The 6-bit scale and minimum of group g of 8, from the 12 bytes of Q4_K and Q5_K.
static void six_bits(const uint8_t *s, size_t g, int *scale, int *min)
{
    *scale = g < 4 ? s[g] & 63 : (s[g + 4] & 15) | s[g - 4] >> 6 << 4;
    *min = g < 4 ? s[g + 4] & 63 : s[g + 4] >> 4 | s[g] >> 6 << 4;
}

static void q45_k(float *y, const uint8_t *b, const uint8_t *high, const uint8_t *q)
{
    const float d = half(b), m = half(b + 2);
    for (size_t g = 0; g < 8; g++) {
        int scale, min;
        six_bits(b + 4, g, &scale, &min);
        const float dl = d * (float) scale, ml = m * (float) min;
        for (size_t i = 0; i < 32; i++) {
            const int low = q[g / 2 * 32 + i] >> (g & 1 ? 4 : 0) & 15;
            y[g * 32 + i] = dl * (float) (low + (high ? (high[i] >> g & 1) * 16 : 0)) - ml;
        }
    }
}

static void q4_k(float *y, const uint8_t *b) { q45_k(y, b, NULL, b + 16); }
static void q5_k(float *y, const uint8_t *b) { q45_k(y, b, b + 16, b + 48); }

static void q6_k(float *y, const uint8_t *b)
{
    const uint8_t *low = b, *high = b + 128, *scales = b + 192;
    const float d = half(b + 208);
    for (size_t i = 0; i < 256; i++) {
        const size_t h = i / 128, l = i % 128 / 32, j = i % 32;
        const int four = low[64 * h + 32 * (l & 1) + j] >> (l < 2 ? 0 : 4) & 15;
        const int two = high[32 * h + j] >> (2 * l) & 3;
        y[i] = d * (float) (int8_t) scales[i / 16] * (float) ((four | two << 4) - 32);
    }
}

static void iq4_xs(float *y, const uint8_t *b)
{
    const float d = half(b);
    const uint32_t top = quant_u16(b + 2);
    for (size_t g = 0; g < 8; g++) {
        const int scale = (int) (nibble(b + 4 + g / 2, g & 1, 2) | (top >> (2 * g) & 3) << 4) - 32;
        const float dl = d * (float) scale;
        for (size_t i = 0; i < 32; i++)
            y[g * 32 + i] = dl * (float) iq4_values[nibble(b + 8 + g * 16, i, 32)];
    }
}

// ---- ternary -----------------------------------------------------------------------------------

// Base-3 digit n of a byte that holds five as a fraction of 256.
static int trit(uint8_t byte, size_t n)
{
    static const uint8_t pow3[5] = { 1, 3, 9, 27, 81 };
    return (uint8_t) (byte * pow3[n]) * 3 >> 8;
}

static void tq1_0(float *y, const uint8_t *b)
{
    static const struct {
        size_t at, bytes, digits;
    } part[] = { { 0, 32, 5 }, { 32, 16, 5 }, { 48, 4, 4 } };
    const float d = half(b + 52);
    for (size_t p = 0; p < 3; p++)
        for (size_t n = 0; n < part[p].digits; n++)
            for (size_t i = 0; i < part[p].bytes; i++)
                *y++ = (float) (trit(b[part[p].at + i], n) - 1) * d;
}

static void tq2_0(float *y, const uint8_t *b)
{
    const float d = half(b + 64);
    for (size_t i = 0; i < 256; i++)
        y[i] = (float) (two_bits(b, i) - 1) * d;
}

// ---- codebooks ---------------------------------------------------------------------------------

// The eighth sign makes the number of minuses even.
static unsigned even_signs(uint32_t seven)
{
    seven &= 127;
    return seven | (unsigned) (__builtin_popcount(seven) & 1) << 7;
}

static void grid8(float *y, float d, unsigned entry, unsigned signs)
{
    static const uint8_t value[4] = { 8, 25, 43, 0 };
    for (size_t i = 0; i < 8; i++)
        y[i] = d * (float) value[entry >> (2 * i) & 3] * (signs >> i & 1 ? -1.0f : 1.0f);
}

static void grid4(float *y, float d, unsigned entry, const uint8_t value[8], unsigned signs)
{
    for (size_t i = 0; i < 4; i++)
        y[i] = d * (float) value[entry >> (3 * i) & 7] * (signs >> i & 1 ? -1.0f : 1.0f);
}

static void iq2_xxs(float *y, const uint8_t *b)
{
    const float d = half(b);
    for (size_t g = 0; g < 8; g++) {
        const uint8_t *q = b + 2 + 8 * g;
        const uint32_t bits = quant_u32(q + 4);
        const float dl = d * (0.5f + (float) (bits >> 28)) * 0.25f;
        for (size_t l = 0; l < 4; l++)
            grid8(y + 32 * g + 8 * l, dl, nino_grid_iq2xxs[q[l]], even_signs(bits >> (7 * l)));
    }
}

static void iq2_xs(float *y, const uint8_t *b)
{
    const float d = half(b);
    for (size_t i = 0; i < 32; i++) {
        const uint32_t q = quant_u16(b + 2 + 2 * i);
        const int scale = nibble(b + 66 + i / 4, i / 2 & 1, 2);
        grid8(y + 8 * i, d * (0.5f + (float) scale) * 0.25f, nino_grid_iq2xs[q & 511],
              even_signs(q >> 9));
    }
}

static void iq2_s(float *y, const uint8_t *b)
{
    const float d = half(b);
    for (size_t i = 0; i < 32; i++) {
        const unsigned at = b[2 + i] | (unsigned) (b[66 + i / 4] >> (i % 4 * 2) & 3) << 8;
        const int scale = nibble(b + 74 + i / 4, i / 2 & 1, 2);
        grid8(y + 8 * i, d * (0.5f + (float) scale) * 0.25f, nino_grid_iq2s[at], b[34 + i]);
    }
}

static void iq3_xxs(float *y, const uint8_t *b)
{
    static const uint8_t value[8] = { 4, 12, 20, 28, 36, 44, 52, 62 };
    const float d = half(b);
    for (size_t g = 0; g < 8; g++) {
        const uint32_t bits = quant_u32(b + 66 + 4 * g);
        const float dl = d * (0.5f + (float) (bits >> 28)) * 0.5f;
        for (size_t l = 0; l < 8; l++)
            grid4(y + 32 * g + 4 * l, dl, nino_grid_iq3xxs[b[2 + 8 * g + l]], value,
                  even_signs(bits >> (l / 2 * 7)) >> (l & 1 ? 4 : 0));
    }
}

static void iq3_s(float *y, const uint8_t *b)
{
    static const uint8_t value[8] = { 1, 3, 5, 7, 9, 11, 13, 15 };
    const float d = half(b);
    for (size_t i = 0; i < 64; i++) {
        const size_t g = i / 8;
        const float dl = d * (float) (1 + 2 * nibble(b + 106 + g / 2, g & 1, 2));
        const unsigned at = b[2 + i] | (unsigned) (b[66 + g] >> (i % 8) & 1) << 8;
        grid4(y + 4 * i, dl, nino_grid_iq3s[at], value, b[74 + i / 2] >> (i & 1 ? 4 : 0));
    }
}

static void grid1(float *y, float d, float delta, unsigned at)
{
    for (size_t i = 0; i < 8; i++)
        y[i] = d * ((float) ((int) (nino_grid_iq1s[at] >> (2 * i) & 3) - 1) + delta);
}

static void iq1_s(float *y, const uint8_t *b)
{
    const float d = half(b);
    for (size_t i = 0; i < 32; i++) {
        const uint32_t h = quant_u16(b + 34 + i / 4 * 2);
        const float dl = d * (float) (2 * (h >> 12 & 7) + 1);
        grid1(y + 8 * i, dl, h & 0x8000 ? -0.125f : 0.125f, b[2 + i] | (h >> (i % 4 * 3) & 7) << 8);
    }
}

// The scale's bits are the top nibbles of four words that hold the groups' 3-bit scales.
static void iq1_m(float *y, const uint8_t *b)
{
    uint32_t sc[4], bits = 0;
    for (size_t i = 0; i < 4; i++) {
        sc[i] = quant_u16(b + 48 + 2 * i);
        bits |= sc[i] >> 12 << (4 * i);
    }
    const float d = nino_f16_to_f32((uint16_t) bits);
    for (size_t i = 0; i < 32; i++) {
        const unsigned h = nibble(b + 32 + i / 2, i & 1, 2);
        const float dl = d * (float) (2 * (sc[i / 8] >> (i % 8 / 2 * 3) & 7) + 1);
        grid1(y + 8 * i, dl, h & 8 ? -0.125f : 0.125f, b[i] | (h & 7) << 8);
    }
}

// ------------------------------------------------------------------------------------------------

static void (*const expand[NINO_DTYPE_COUNT])(float *y, const uint8_t *b) = {
    [NINO_Q1_0] = q1_0,     [NINO_Q2_0] = q2_0,     [NINO_Q4_0] = q4_0,
    [NINO_Q4_1] = q4_1,     [NINO_Q5_0] = q5_0,     [NINO_Q5_1] = q5_1,
    [NINO_Q8_0] = q8_0,     [NINO_Q2_K] = q2_k,     [NINO_Q3_K] = q3_k,
    [NINO_Q4_K] = q4_k,     [NINO_Q5_K] = q5_k,     [NINO_Q6_K] = q6_k,
    [NINO_IQ1_S] = iq1_s,   [NINO_IQ1_M] = iq1_m,   [NINO_IQ2_XXS] = iq2_xxs,
    [NINO_IQ2_XS] = iq2_xs, [NINO_IQ2_S] = iq2_s,   [NINO_IQ3_XXS] = iq3_xxs,
    [NINO_IQ3_S] = iq3_s,   [NINO_IQ4_NL] = iq4_nl, [NINO_IQ4_XS] = iq4_xs,
    [NINO_TQ1_0] = tq1_0,   [NINO_TQ2_0] = tq2_0,   [NINO_MXFP4] = mxfp4,
    [NINO_NVFP4] = nvfp4,
};

bool nino_quant_to_f32(float *dst, const void *src, nino_dtype t, size_t n)
{
    size_t values, bytes;
    nino_dtype_block(t, &values, &bytes);
    if ((unsigned) t >= NINO_DTYPE_COUNT || !expand[t] || n % values)
        return false;
    const uint8_t *b = src;
    for (size_t i = 0; i < n; i += values, b += bytes)
        expand[t](dst + i, b);
    return true;
}
