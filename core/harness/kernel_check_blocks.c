// Quantised weights for the kernel harness: any bytes are blocks, but for the scales, which would
// be infinite or NaN now and then.
#include "core/harness/kernel_check.h"

// Where a type's half-precision scale and minimum are, -1: there is none.
static void find_scales(nino_dtype type, int at[2])
{
    at[0] = 0;
    at[1] = -1;
    switch (type) {
    case NINO_Q4_1:
    case NINO_Q5_1:
    case NINO_Q4_K:
    case NINO_Q5_K: at[1] = 2; break;
    case NINO_Q2_K:
        at[0] = 80;
        at[1] = 82;
        break;
    case NINO_Q3_K: at[0] = 108; break;
    case NINO_Q6_K: at[0] = 208; break;
    case NINO_TQ1_0: at[0] = 52; break;
    case NINO_TQ2_0: at[0] = 64; break;
    case NINO_IQ1_M:
    case NINO_MXFP4:
    case NINO_NVFP4: at[0] = -1; break;
    default: break;
    }
}

// Scales from 2^-10 to 2^-9, or near them; the low bits stay random.
static void tame(uint8_t *b, nino_dtype type)
{
    int at[2];
    find_scales(type, at);
    for (int i = 0; i < 2; i++)
        if (at[i] >= 0)
            b[at[i] + 1] = (uint8_t) ((b[at[i] + 1] & 3) | 0x14);
    if (type == NINO_IQ1_M) // the top nibble of the last of four words is the scale's
        b[55] = (uint8_t) ((b[55] & 15) | 0x10);
    if (type == NINO_MXFP4)
        b[0] = (uint8_t) (118 + b[0] % 4);
    for (int i = 0; type == NINO_NVFP4 && i < 4; i++)
        b[i] = (uint8_t) (0x30 | (b[i] & 7));
}

nino_array *nino_check_blocks(nino_shape shape, nino_dtype type, uint64_t *rng)
{
    size_t values, bytes;
    nino_dtype_block(type, &values, &bytes);
    nino_array *a = nino_array_create(type, shape);
    uint8_t *b = a ? a->data : NULL;
    for (size_t i = 0; a && i < a->bytes; i++) { // Knuth's generator for MMIX
        *rng = *rng * 6364136223846793005u + 1442695040888963407u;
        b[i] = (uint8_t) (*rng >> 56);
    }
    for (size_t i = 0; a && nino_dtype_is_block(type) && i < a->bytes; i += bytes)
        tame(b + i, type);
    return a;
}
