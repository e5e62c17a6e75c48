// Internal: element types of files and tensors, and exact conversions (round to nearest even, NaN
// and denormals kept).
#pragma once
#include <ninodes/base.h>

typedef enum nino_dtype {
    NINO_F32,
    NINO_F16,
    NINO_BF16,
    NINO_F8_E4M3, // e4m3fn: bias 7, no infinities, 0x7f/0xff NaN, max 448
    NINO_F8_E5M2, // IEEE-like, bias 15, max 57344
    NINO_I8,
    NINO_U8,
    // The types below only appear in files; tensors on a device never have them.
    NINO_BOOL8,
    NINO_I16,
    NINO_U16,
    NINO_I32,
    NINO_U32,
    NINO_I64,
    NINO_U64,
    NINO_F64,
    NINO_C64,
    NINO_F8_E8M0,
    NINO_F8_E4M3FNUZ,
    NINO_F8_E5M2FNUZ,
    NINO_F6_E2M3, // packed
    NINO_F6_E3M2, // packed
    NINO_F4,      // packed
    // Quantised blocks of GGUF files (core/tensor/quant.h): a row is a whole number of blocks.
    NINO_Q1_0,
    NINO_Q2_0,
    NINO_Q4_0,
    NINO_Q4_1,
    NINO_Q5_0,
    NINO_Q5_1,
    NINO_Q8_0,
    NINO_Q2_K,
    NINO_Q3_K,
    NINO_Q4_K,
    NINO_Q5_K,
    NINO_Q6_K,
    NINO_IQ1_S,
    NINO_IQ1_M,
    NINO_IQ2_XXS,
    NINO_IQ2_XS,
    NINO_IQ2_S,
    NINO_IQ3_XXS,
    NINO_IQ3_S,
    NINO_IQ4_NL,
    NINO_IQ4_XS,
    NINO_TQ1_0,
    NINO_TQ2_0,
    NINO_MXFP4,
    NINO_NVFP4,
    NINO_DTYPE_COUNT
} nino_dtype;

const char *nino_dtype_name(nino_dtype t);        // "f32", "bf16", "f8_e4m3" ...
const char *nino_dtype_safetensors(nino_dtype t); // "F32" ...; NULL: safetensors has no such type
bool nino_dtype_from_safetensors(const char *s, nino_dtype *out);
int nino_dtype_bits(nino_dtype t); // 32, 16, 8, 6, 4 ...
// Bytes of one element; 0 for the packed sub-byte types and for blocks.
size_t nino_dtype_size(nino_dtype t);
bool nino_dtype_is_block(nino_dtype t);
// The smallest unit with whole bytes: its values and bytes. Q4_0: 32 and 18; F32: 1 and 4.
void nino_dtype_block(nino_dtype t, size_t *values, size_t *bytes);

uint16_t nino_f32_to_f16(float f); // overflow -> inf
float nino_f16_to_f32(uint16_t h);
uint16_t nino_f32_to_bf16(float f);
float nino_bf16_to_f32(uint16_t h);
// Saturate at +-448 and +-57344, infinities too; NaN becomes 0x7f or 0xff, by its sign.
uint8_t nino_f32_to_e4m3(float f);
float nino_e4m3_to_f32(uint8_t v);
uint8_t nino_f32_to_e5m2(float f);
float nino_e5m2_to_f32(uint8_t v);

// dst[i] = (float) src[i]; src need not be aligned. Every type but the sub-byte ones and C64; false
// for those, and for a number of values that is not whole blocks.
bool nino_to_f32(float *dst, const void *src, nino_dtype t, size_t n);
// dst[i] = (t) src[i] for F32 F16 BF16 F8_E4M3 F8_E5M2 I8 U8 (integers: rounded to nearest even,
// clamped, NaN -> 0); false for the others.
bool nino_from_f32(void *dst, nino_dtype t, const float *src, size_t n);
