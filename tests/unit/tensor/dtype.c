// Conversions of element types: every code of the small types, and every border between two codes.
#include "core/tensor/dtype.h"
#include "tests/test.h"

#include <math.h>

// The definition that the fast code is held against: a code's value from its fields.
static double value_of(unsigned code, int fraction, int bits, int bias, bool has_inf)
{
    const unsigned sign = code >> (bits - 1), mag = code & ((1u << (bits - 1)) - 1);
    const unsigned m = mag & ((1u << fraction) - 1), e = mag >> fraction;
    const unsigned top = (1u << (bits - 1 - fraction)) - 1;
    double v = e ? ldexp((1 << fraction) + (int) m, (int) e - bias - fraction)
                 : ldexp(m, 1 - bias - fraction);
    if (has_inf && e == top)
        v = m ? NAN : INFINITY;
    else if (!has_inf && e == top && m == (1u << fraction) - 1)
        v = NAN;
    return sign ? -v : v;
}

static uint32_t bits_of(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof(u));
    return u;
}

typedef struct small {
    nino_dtype t;
    int fraction, bits, bias;
    bool has_inf;
    unsigned max; // largest finite code
} small;

static const small smalls[] = {
    { NINO_F16, 10, 16, 15, true, 0x7bff },
    { NINO_BF16, 7, 16, 127, true, 0x7f7f },
    { NINO_F8_E4M3, 3, 8, 7, false, 0x7e },
    { NINO_F8_E5M2, 2, 8, 15, true, 0x7b },
};

static unsigned encode(const small *s, float f)
{
    uint16_t one = 0, many[67] = { 0 };
    uint8_t one8 = 0, many8[67] = { 0 };
    float in[67];
    for (int i = 0; i < 67; i++)
        in[i] = f;
    // the scalar function and both loops of the bulk one must agree
    switch (s->t) {
    case NINO_F16: one = nino_f32_to_f16(f); break;
    case NINO_BF16: one = nino_f32_to_bf16(f); break;
    case NINO_F8_E4M3: one8 = nino_f32_to_e4m3(f); break;
    default: one8 = nino_f32_to_e5m2(f); break;
    }
    CHECK(nino_from_f32(s->bits == 16 ? (void *) many : (void *) many8, s->t, in, 67));
    if (s->bits == 8) {
        CHECK(many8[0] == one8 && many8[31] == one8 && many8[66] == one8);
        return one8;
    }
    CHECK(many[0] == one && many[31] == one && many[66] == one);
    return one;
}

static float decode(const small *s, unsigned code)
{
    const uint16_t c16 = (uint16_t) code;
    const uint8_t c8 = (uint8_t) code;
    switch (s->t) {
    case NINO_F16: return nino_f16_to_f32(c16);
    case NINO_BF16: return nino_bf16_to_f32(c16);
    case NINO_F8_E4M3: return nino_e4m3_to_f32(c8);
    default: return nino_e5m2_to_f32(c8);
    }
}

static void check_codes(const small *s)
{
    for (unsigned c = 0; c < 1u << s->bits; c++) {
        const double want = value_of(c, s->fraction, s->bits, s->bias, s->has_inf);
        const float got = decode(s, c);
        CHECK(isnan(want) ? isnan(got) : (double) got == want);
        CHECK(!signbit(got) == !(c >> (s->bits - 1)));
        // NaN payloads and infinities round trip in the 16-bit types; the 8-bit ones saturate
        if (s->bits == 16 || isfinite(want))
            CHECK(encode(s, got) == c);
    }
}

// Rounding is monotone, so it is right everywhere if it is right around every midpoint.
static void check_borders(const small *s)
{
    const unsigned sign = 1u << (s->bits - 1);
    for (unsigned c = 0; c < s->max; c++) {
        const double lo = decode(s, c), hi = decode(s, c + 1);
        const double exact = (lo + hi) / 2;
        const float mid = (float) exact;
        CHECK((double) mid == exact);
        const float below = nextafterf(mid, -INFINITY), above = nextafterf(mid, INFINITY);
        CHECK(encode(s, mid) == (c % 2 ? c + 1 : c));
        CHECK(encode(s, -mid) == (sign | (c % 2 ? c + 1 : c)));
        CHECK(encode(s, below) == c && encode(s, -below) == (sign | c));
        CHECK(encode(s, above) == c + 1 && encode(s, -above) == (sign | (c + 1)));
    }
    const bool saturates = s->bits == 8;
    const unsigned beyond = saturates ? s->max : s->max + 1;
    CHECK(encode(s, INFINITY) == beyond && encode(s, -INFINITY) == (sign | beyond));
    const float max = decode(s, s->max);
    CHECK(encode(s, max) == s->max);
    if (s->t == NINO_F16) { // 65520 is half-way to the next power of two
        CHECK(encode(s, nextafterf(65520.0f, 0)) == s->max && encode(s, 65520.0f) == 0x7c00);
    }
    CHECK(encode(s, 3.4028235e38f) == beyond);
    CHECK(isnan(decode(s, encode(s, NAN))) && isnan(decode(s, encode(s, -NAN))));
}

static void check_rest(void)
{
    const uint8_t e8m0[] = { 0, 1, 127, 128, 254 };
    float out[8];
    CHECK(nino_to_f32(out, e8m0, NINO_F8_E8M0, 5));
    for (int i = 0; i < 5; i++)
        CHECK((double) out[i] == ldexp(1, e8m0[i] - 127));
    // fnuz: one more step of bias, 0x80 is the only NaN and 0x7f an ordinary number
    for (unsigned c = 0; c < 256; c++) {
        const uint8_t code = (uint8_t) c;
        CHECK(nino_to_f32(out, &code, NINO_F8_E4M3FNUZ, 1));
        const double sign = c & 0x80 ? -1 : 1;
        const unsigned m3 = c & 7, e4 = c >> 3 & 15, m2 = c & 3, e5 = c >> 2 & 31;
        const double a = e4 ? ldexp(8 + m3, (int) e4 - 11) : ldexp(m3, -10);
        CHECK(c == 0x80 ? isnan(out[0]) : (double) out[0] == sign * a);
        CHECK(nino_to_f32(out, &code, NINO_F8_E5M2FNUZ, 1));
        const double b = e5 ? ldexp(4 + m2, (int) e5 - 18) : ldexp(m2, -17);
        CHECK(c == 0x80 ? isnan(out[0]) : (double) out[0] == sign * b);
    }
    const float in[] = { 0.5f, 1.5f, -0.5f, 127.6f, -128.9f, 1e30f, -1e30f, NAN };
    const int8_t want8[] = { 0, 2, 0, 127, -128, 127, -128, 0 };
    const uint8_t wantu[] = { 0, 2, 0, 128, 0, 255, 0, 0 };
    int8_t i8[8];
    uint8_t u8[8];
    CHECK(nino_from_f32(i8, NINO_I8, in, 8) && !memcmp(i8, want8, 8));
    CHECK(nino_from_f32(u8, NINO_U8, in, 8) && !memcmp(u8, wantu, 8));
    CHECK(!nino_from_f32(u8, NINO_I64, in, 1));
    CHECK(!nino_to_f32(out, in, NINO_F4, 1) && !nino_to_f32(out, in, NINO_C64, 1));
}

static void check_unaligned(void)
{
    const int64_t i64[2] = { -3, INT64_MAX };
    const double f64[2] = { 0.1, 1e300 };
    char raw[17];
    float out[2], in[70];
    memcpy(raw + 1, i64, 16);
    CHECK(nino_to_f32(out, raw + 1, NINO_I64, 2) && out[0] == -3 && out[1] == 0x1p63f);
    memcpy(raw + 1, f64, 16);
    CHECK(nino_to_f32(out, raw + 1, NINO_F64, 2) && out[0] == 0.1f && isinf(out[1]));
    char odd[141];
    for (int i = 0; i < 70; i++)
        in[i] = (float) i / 8;
    CHECK(nino_from_f32(odd + 1, NINO_F16, in, 70));
    float back[70];
    CHECK(nino_to_f32(back, odd + 1, NINO_F16, 70));
    CHECK(!memcmp(in, back, sizeof(in)));
}

static void check_names(void)
{
    for (int t = 0; t < NINO_DTYPE_COUNT; t++) {
        nino_dtype found = NINO_DTYPE_COUNT;
        if (nino_dtype_is_block((nino_dtype) t)) {
            CHECK(!nino_dtype_safetensors((nino_dtype) t) && !nino_dtype_size((nino_dtype) t));
            continue;
        }
        CHECK(nino_dtype_from_safetensors(nino_dtype_safetensors((nino_dtype) t), &found));
        CHECK((int) found == t);
        CHECK(nino_dtype_bits((nino_dtype) t) > 0);
    }
    nino_dtype t;
    CHECK(!nino_dtype_from_safetensors("f32", &t) && !nino_dtype_from_safetensors("", &t));
    CHECK(nino_dtype_size(NINO_F4) == 0 && nino_dtype_bits(NINO_F4) == 4);
    CHECK(nino_dtype_size(NINO_C64) == 8 && nino_dtype_size(NINO_BF16) == 2);
}

int main(void)
{
    for (size_t i = 0; i < sizeof(smalls) / sizeof(smalls[0]); i++) {
        check_codes(&smalls[i]);
        check_borders(&smalls[i]);
    }
    CHECK(bits_of(nino_f16_to_f32(0x0001)) == 0x33800000 && nino_f32_to_f16(1.0f) == 0x3c00);
    CHECK(nino_f32_to_bf16(1.0f) == 0x3f80 && nino_f32_to_e4m3(1.0f) == 0x38);
    check_rest();
    check_unaligned();
    check_names();
    return 0;
}
