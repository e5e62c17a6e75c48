// Element types: names, sizes, and exact conversions in integer arithmetic, written without
// branches so that the compiler vectorises them. Rounding is to nearest even; NaN payloads and
// denormals survive. Layouts of the 8-bit floats: OCP 8-bit Floating Point Specification (OFP8).
#include "core/tensor/dtype.h"

#include <math.h>
#include <string.h>

#include "core/tensor/quant.h"
#include "core/tensor/scalar.h"

static const struct {
    const char *name, *safetensors;
    int bits;
    int values, bytes; // of a block
} types[NINO_DTYPE_COUNT] = {
    [NINO_F32] = { "f32", "F32", 32 },
    [NINO_F16] = { "f16", "F16", 16 },
    [NINO_BF16] = { "bf16", "BF16", 16 },
    [NINO_F8_E4M3] = { "f8_e4m3", "F8_E4M3", 8 },
    [NINO_F8_E5M2] = { "f8_e5m2", "F8_E5M2", 8 },
    [NINO_I8] = { "i8", "I8", 8 },
    [NINO_U8] = { "u8", "U8", 8 },
    [NINO_BOOL8] = { "bool", "BOOL", 8 },
    [NINO_I16] = { "i16", "I16", 16 },
    [NINO_U16] = { "u16", "U16", 16 },
    [NINO_I32] = { "i32", "I32", 32 },
    [NINO_U32] = { "u32", "U32", 32 },
    [NINO_I64] = { "i64", "I64", 64 },
    [NINO_U64] = { "u64", "U64", 64 },
    [NINO_F64] = { "f64", "F64", 64 },
    [NINO_C64] = { "c64", "C64", 64 },
    [NINO_F8_E8M0] = { "f8_e8m0", "F8_E8M0", 8 },
    [NINO_F8_E4M3FNUZ] = { "f8_e4m3fnuz", "F8_E4M3FNUZ", 8 },
    [NINO_F8_E5M2FNUZ] = { "f8_e5m2fnuz", "F8_E5M2FNUZ", 8 },
    [NINO_F6_E2M3] = { "f6_e2m3", "F6_E2M3", 6 },
    [NINO_F6_E3M2] = { "f6_e3m2", "F6_E3M2", 6 },
    [NINO_F4] = { "f4", "F4", 4 },
    [NINO_Q1_0] = { "q1_0", NULL, 0, 128, 18 },
    [NINO_Q2_0] = { "q2_0", NULL, 0, 64, 18 },
    [NINO_Q4_0] = { "q4_0", NULL, 0, 32, 18 },
    [NINO_Q4_1] = { "q4_1", NULL, 0, 32, 20 },
    [NINO_Q5_0] = { "q5_0", NULL, 0, 32, 22 },
    [NINO_Q5_1] = { "q5_1", NULL, 0, 32, 24 },
    [NINO_Q8_0] = { "q8_0", NULL, 0, 32, 34 },
    [NINO_Q2_K] = { "q2_K", NULL, 0, 256, 84 },
    [NINO_Q3_K] = { "q3_K", NULL, 0, 256, 110 },
    [NINO_Q4_K] = { "q4_K", NULL, 0, 256, 144 },
    [NINO_Q5_K] = { "q5_K", NULL, 0, 256, 176 },
    [NINO_Q6_K] = { "q6_K", NULL, 0, 256, 210 },
    [NINO_IQ1_S] = { "iq1_s", NULL, 0, 256, 50 },
    [NINO_IQ1_M] = { "iq1_m", NULL, 0, 256, 56 },
    [NINO_IQ2_XXS] = { "iq2_xxs", NULL, 0, 256, 66 },
    [NINO_IQ2_XS] = { "iq2_xs", NULL, 0, 256, 74 },
    [NINO_IQ2_S] = { "iq2_s", NULL, 0, 256, 82 },
    [NINO_IQ3_XXS] = { "iq3_xxs", NULL, 0, 256, 98 },
    [NINO_IQ3_S] = { "iq3_s", NULL, 0, 256, 110 },
    [NINO_IQ4_NL] = { "iq4_nl", NULL, 0, 32, 18 },
    [NINO_IQ4_XS] = { "iq4_xs", NULL, 0, 256, 136 },
    [NINO_TQ1_0] = { "tq1_0", NULL, 0, 256, 54 },
    [NINO_TQ2_0] = { "tq2_0", NULL, 0, 256, 66 },
    [NINO_MXFP4] = { "mxfp4", NULL, 0, 32, 17 },
    [NINO_NVFP4] = { "nvfp4", NULL, 0, 64, 36 },
};

const char *nino_dtype_name(nino_dtype t)
{
    return (unsigned) t < NINO_DTYPE_COUNT ? types[t].name : "?";
}

const char *nino_dtype_safetensors(nino_dtype t)
{
    return (unsigned) t < NINO_DTYPE_COUNT ? types[t].safetensors : NULL;
}

bool nino_dtype_from_safetensors(const char *s, nino_dtype *out)
{
    for (int i = 0; i < NINO_DTYPE_COUNT; i++)
        if (types[i].safetensors && !strcmp(types[i].safetensors, s)) {
            *out = (nino_dtype) i;
            return true;
        }
    return false;
}

int nino_dtype_bits(nino_dtype t) { return (unsigned) t < NINO_DTYPE_COUNT ? types[t].bits : 0; }

size_t nino_dtype_size(nino_dtype t)
{
    const int bits = nino_dtype_bits(t);
    return bits % 8 ? 0 : (size_t) bits / 8;
}

bool nino_dtype_is_block(nino_dtype t)
{
    return (unsigned) t < NINO_DTYPE_COUNT && types[t].values > 0;
}

void nino_dtype_block(nino_dtype t, size_t *values, size_t *bytes)
{
    const bool is_block = nino_dtype_is_block(t);
    *values = is_block ? (size_t) types[t].values : 1;
    *bytes = is_block ? (size_t) types[t].bytes : nino_dtype_size(t);
}

// is ? a : b without a branch: a branch would keep the loops below from being vectorised.
static inline uint32_t dtype_pick(bool is, uint32_t a, uint32_t b)
{
    return b ^ ((a ^ b) & -(uint32_t) is);
}

#define EXP(e) ((uint32_t) (127 + (e)) << 23) // the bits of 2^e

// Widens `mag`, the magnitude of a small float whose fraction already sits at the top of f32's
// 23 bits. 1 - bias is the exponent of its smallest normal number. A denormal m * 2^(1-bias) is
// (1 + m) * 2^(1-bias) - 2^(1-bias), which never touches an f32 denormal (flushing modes would).
static inline uint32_t dtype_widen(uint32_t mag, int bias)
{
    const uint32_t one = EXP(1 - bias);
    const uint32_t normal = mag + ((uint32_t) (127 - bias) << 23);
    const uint32_t denormal = f_bits(f_of_bits(mag | one) - f_of_bits(one));
    return dtype_pick(mag >= 1u << 23, normal, denormal);
}

static inline float f16_to_f32(uint16_t h)
{
    const uint32_t mag = (uint32_t) (h & 0x7fff) << 13, sign = (uint32_t) (h & 0x8000) << 16;
    const uint32_t special = mag | 0x7f800000u; // infinity and NaN keep their payload
    return f_of_bits(sign | dtype_pick((h & 0x7c00) == 0x7c00, special, dtype_widen(mag, 15)));
}

static inline float bf16_to_f32(uint16_t h) { return f_of_bits((uint32_t) h << 16); }

static inline float e4m3_to_f32(uint8_t v)
{
    const uint32_t mag = (uint32_t) (v & 0x7f) << 20, sign = (uint32_t) (v & 0x80) << 24;
    return f_of_bits(sign | dtype_pick((v & 0x7f) == 0x7f, 0x7fc00000u, dtype_widen(mag, 7)));
}

// e5m2 is the upper byte of a half.
static inline float e5m2_to_f32(uint8_t v) { return f16_to_f32((uint16_t) (v << 8)); }

// The "fnuz" kinds have one more step of bias, no infinity, no negative zero; 0x80 is their NaN.
static inline float e4m3fnuz_to_f32(uint8_t v)
{
    const uint32_t mag = (uint32_t) (v & 0x7f) << 20, sign = (uint32_t) (v & 0x80) << 24;
    return f_of_bits(dtype_pick(v == 0x80, 0x7fc00000u, sign | dtype_widen(mag, 8)));
}

static inline float e5m2fnuz_to_f32(uint8_t v)
{
    const uint32_t mag = (uint32_t) (v & 0x7f) << 21, sign = (uint32_t) (v & 0x80) << 24;
    return f_of_bits(dtype_pick(v == 0x80, 0x7fc00000u, sign | dtype_widen(mag, 16)));
}

// 2^(v - 127); the smallest is an f32 denormal.
static inline float e8m0_to_f32(uint8_t v)
{
    const uint32_t normal = (uint32_t) v << 23;
    return f_of_bits(dtype_pick(v == 0xff, 0x7fc00000u, dtype_pick(v == 0, 0x00400000u, normal)));
}

// Magnitude `mag` (not NaN) to a float with `fraction` bits, ties to even. Below the smallest
// normal number an addition does the rounding: the last place of `magic` is the denormal step.
static inline uint32_t narrow(uint32_t mag, int fraction, int bias)
{
    const int shift = 23 - fraction;
    const uint32_t odd = (mag >> shift) & 1;
    const uint32_t normal =
        (mag + ((1u << (shift - 1)) - 1) + odd - ((uint32_t) (127 - bias) << 23)) >> shift;
    const uint32_t magic = EXP(1 - bias - fraction + 23);
    const uint32_t denormal = f_bits(f_of_bits(mag) + f_of_bits(magic)) - magic;
    return dtype_pick(mag < EXP(1 - bias), denormal, normal);
}

static inline uint16_t f32_to_f16(float f)
{
    const uint32_t b = f_bits(f), mag = b & 0x7fffffff, sign = (b >> 16) & 0x8000;
    const uint32_t payload = (mag >> 13) & 0x3ff;
    const uint32_t nan = 0x7c00 | dtype_pick(payload == 0, 0x200, payload);
    const uint32_t number = dtype_pick(mag >= EXP(16), 0x7c00, narrow(mag, 10, 15));
    return (uint16_t) (sign | dtype_pick(mag > 0x7f800000u, nan, number));
}

static inline uint16_t f32_to_bf16(float f)
{
    const uint32_t b = f_bits(f);
    const uint32_t rounded = (b + 0x7fff + ((b >> 16) & 1)) >> 16;
    const uint32_t nan = (b >> 16) | dtype_pick((b & 0x7f0000) == 0, 0x40, 0);
    return (uint16_t) dtype_pick((b & 0x7fffffff) > 0x7f800000u, nan, rounded);
}

// `max` is the code of the largest finite number; everything beyond, infinity too, becomes that.
static inline uint8_t f32_to_f8(float f, int fraction, int bias, uint32_t max)
{
    const uint32_t b = f_bits(f), mag = b & 0x7fffffff, sign = (b >> 24) & 0x80;
    const uint32_t finite = narrow(mag, fraction, bias);
    const uint32_t clamped = dtype_pick((mag >= EXP(16)) | (finite > max), max, finite);
    return (uint8_t) (sign | dtype_pick(mag > 0x7f800000u, 0x7f, clamped));
}

static inline uint8_t f32_to_e4m3(float f) { return f32_to_f8(f, 3, 7, 0x7e); }
static inline uint8_t f32_to_e5m2(float f) { return f32_to_f8(f, 2, 15, 0x7b); }

// Clamped, then rounded by an addition whose last place is 1; NaN becomes 0.
static inline int32_t f32_to_int(float f, float lo, float hi)
{
    const float magic = 12582912.0f; // 1.5 * 2^23
    const float c = f < lo ? lo : f > hi ? hi : f == f ? f : 0.0f;
    return (int32_t) f_bits(c + magic) - (int32_t) f_bits(magic);
}

static inline int8_t f32_to_i8(float f) { return (int8_t) f32_to_int(f, -128.0f, 127.0f); }
static inline uint8_t f32_to_u8(float f) { return (uint8_t) f32_to_int(f, 0.0f, 255.0f); }

uint16_t nino_f32_to_f16(float f) { return f32_to_f16(f); }
float nino_f16_to_f32(uint16_t h) { return f16_to_f32(h); }
uint16_t nino_f32_to_bf16(float f) { return f32_to_bf16(f); }
float nino_bf16_to_f32(uint16_t h) { return bf16_to_f32(h); }
uint8_t nino_f32_to_e4m3(float f) { return f32_to_e4m3(f); }
float nino_e4m3_to_f32(uint8_t v) { return e4m3_to_f32(v); }
uint8_t nino_f32_to_e5m2(float f) { return f32_to_e5m2(f); }
float nino_e5m2_to_f32(uint8_t v) { return e5m2_to_f32(v); }

#define ALWAYS_INLINE static inline __attribute__((always_inline))

// One loop over n elements of type S at `src` (of any alignment) into D at `dst`. The inner loop of
// fixed length is what gcc vectorises at -O2.
#define CONVERT(D, S, expr)                                                                        \
    do {                                                                                           \
        enum { BLOCK = 32 };                                                                       \
        const unsigned char *in = (const void *) src;                                              \
        unsigned char *to = (void *) dst;                                                          \
        size_t at = 0;                                                                             \
        for (; n - at >= BLOCK; at += BLOCK) {                                                     \
            S block[BLOCK];                                                                        \
            D result[BLOCK];                                                                       \
            memcpy(block, in + at * sizeof(S), sizeof(block));                                     \
            for (int k = 0; k < BLOCK; k++) {                                                      \
                const S x = block[k];                                                              \
                result[k] = expr;                                                                  \
            }                                                                                      \
            memcpy(to + at * sizeof(D), result, sizeof(result));                                   \
        }                                                                                          \
        for (; at < n; at++) {                                                                     \
            S x;                                                                                   \
            memcpy(&x, in + at * sizeof(S), sizeof(x));                                            \
            const D y = expr;                                                                      \
            memcpy(to + at * sizeof(D), &y, sizeof(y));                                            \
        }                                                                                          \
        return true;                                                                               \
    } while (0)

ALWAYS_INLINE bool to_f32(float *dst, const void *src, nino_dtype t, size_t n)
{
    switch (t) {
    case NINO_F32:
        if (n)
            memcpy(dst, src, n * sizeof(float));
        return true;
    case NINO_F16: CONVERT(float, uint16_t, f16_to_f32(x));
    case NINO_BF16: CONVERT(float, uint16_t, bf16_to_f32(x));
    case NINO_F8_E4M3: CONVERT(float, uint8_t, e4m3_to_f32(x));
    case NINO_F8_E5M2: CONVERT(float, uint8_t, e5m2_to_f32(x));
    case NINO_I8: CONVERT(float, int8_t, (float) x);
    case NINO_U8: CONVERT(float, uint8_t, (float) x);
    case NINO_BOOL8: CONVERT(float, uint8_t, x ? 1.0f : 0.0f);
    case NINO_I16: CONVERT(float, int16_t, (float) x);
    case NINO_U16: CONVERT(float, uint16_t, (float) x);
    case NINO_I32: CONVERT(float, int32_t, (float) x);
    case NINO_U32: CONVERT(float, uint32_t, (float) x);
    case NINO_I64: CONVERT(float, int64_t, (float) x);
    case NINO_U64: CONVERT(float, uint64_t, (float) x);
    case NINO_F64: CONVERT(float, double, (float) x);
    case NINO_F8_E8M0: CONVERT(float, uint8_t, e8m0_to_f32(x));
    case NINO_F8_E4M3FNUZ: CONVERT(float, uint8_t, e4m3fnuz_to_f32(x));
    case NINO_F8_E5M2FNUZ: CONVERT(float, uint8_t, e5m2fnuz_to_f32(x));
    default: return false;
    }
}

ALWAYS_INLINE bool from_f32(void *dst, nino_dtype t, const float *src, size_t n)
{
    switch (t) {
    case NINO_F32:
        if (n)
            memcpy(dst, src, n * sizeof(float));
        return true;
    case NINO_F16: CONVERT(uint16_t, float, f32_to_f16(x));
    case NINO_BF16: CONVERT(uint16_t, float, f32_to_bf16(x));
    case NINO_F8_E4M3: CONVERT(uint8_t, float, f32_to_e4m3(x));
    case NINO_F8_E5M2: CONVERT(uint8_t, float, f32_to_e5m2(x));
    case NINO_I8: CONVERT(int8_t, float, f32_to_i8(x));
    case NINO_U8: CONVERT(uint8_t, float, f32_to_u8(x));
    default: return false;
    }
}

// The same source once more for wider vectors; the results are the same bit for bit. (The F16C
// instructions are not used: they change signalling NaNs.)
#ifdef __x86_64__
__attribute__((target("avx2"))) static bool to_f32_avx2(float *dst, const void *src, nino_dtype t,
                                                        size_t n)
{
    return to_f32(dst, src, t, n);
}

__attribute__((target("avx2"))) static bool from_f32_avx2(void *dst, nino_dtype t, const float *src,
                                                          size_t n)
{
    return from_f32(dst, t, src, n);
}
#define WIDE(name, ...)                                                                            \
    (__builtin_cpu_supports("avx2") ? name##_avx2(__VA_ARGS__) : name(__VA_ARGS__))
#else
#define WIDE(name, ...) name(__VA_ARGS__)
#endif

bool nino_to_f32(float *dst, const void *src, nino_dtype t, size_t n)
{
    return nino_dtype_is_block(t) ? nino_quant_to_f32(dst, src, t, n)
                                  : WIDE(to_f32, dst, src, t, n);
}

bool nino_from_f32(void *dst, nino_dtype t, const float *src, size_t n)
{
    return WIDE(from_f32, dst, t, src, n);
}
