// Private to core/model/lora*.c: what the tensors of a LoRA file are called, in all dialects.
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef enum lora_role { // of a tensor in the change of one layer
    LORA_UP,             // B [out,r,...]
    LORA_DOWN,           // A [r,in,...]
    LORA_MID,            // the core of a Tucker decomposition
    LORA_ALPHA,
    LORA_DORA,    // magnitudes
    LORA_RESHAPE, // the shape that the weight is enlarged to first
    LORA_DIFF,    // the whole change of the weight
    LORA_DIFF_B,  // and of the bias
    LORA_SET,     // the new weight
    LORA_HADA_W1A,
    LORA_HADA_W1B,
    LORA_HADA_W2A,
    LORA_HADA_W2B,
    LORA_HADA_T1,
    LORA_HADA_T2,
    LORA_KRON_W1,
    LORA_KRON_W2,
    LORA_KRON_W1A,
    LORA_KRON_W1B,
    LORA_KRON_W2A,
    LORA_KRON_W2B,
    LORA_KRON_T2,
    LORA_OFT_BLOCKS,
    LORA_OFT_RESCALE,
    LORA_GLORA_A1,
    LORA_GLORA_A2,
    LORA_GLORA_B1,
    LORA_GLORA_B2,
    LORA_ROLES
} lora_role;

#define LORA_KEY_MAX 256

// Splits the name of a tensor into a layer's name, its first *len bytes, and the role. False: no
// known ending.
bool lora_key_parse(const char *name, size_t *len, lora_role *role);
// The one form that the names of a layer in different dialects have in common: underscores for
// dots, and without the words that only say where in a program it is. False: too long.
bool lora_key_canon(const char *name, size_t len, char out[LORA_KEY_MAX]);
