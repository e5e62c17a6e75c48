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
    NINO_DTYPE_COUNT
} nino_dtype;

const char *nino_dtype_name(nino_dtype t);        // "f32", "bf16", "f8_e4m3" ...
const char *nino_dtype_safetensors(nino_dtype t); // "F32", "BF16", "F8_E4M3" ...
bool nino_dtype_from_safetensors(const char *s, nino_dtype *out);
int nino_dtype_bits(nino_dtype t); // 32, 16, 8, 6, 4 ...
// Bytes of one element; 0 for the packed sub-byte types.
size_t nino_dtype_size(nino_dtype t);

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
// for those.
bool nino_to_f32(float *dst, const void *src, nino_dtype t, size_t n);
// dst[i] = (t) src[i] for F32 F16 BF16 F8_E4M3 F8_E5M2 I8 U8 (integers: rounded to nearest even,
// clamped, NaN -> 0); false for the others.
bool nino_from_f32(void *dst, nino_dtype t, const float *src, size_t n);
