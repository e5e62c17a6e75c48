// Private to core/model/lora*.c: rows of the change that a layer of a LoRA file makes.
#pragma once
#include "core/file/weights.h"
#include "core/model/lora/lora_key.h"

typedef enum lora_kind {
    LORA_KIND_NONE,
    LORA_KIND_LOW_RANK, // B A, with a core for convolutions where there is one
    LORA_KIND_HADAMARD, // LoHa: (B1 A1) * (B2 A2)
    LORA_KIND_KRON,     // LoKr: kron(W1, W2)
    LORA_KIND_DIFF,     // the change itself
    LORA_KIND_BIAS,     // the change of the bias
    LORA_KIND_SET,      // the new values
    LORA_KIND_GLORA,    // W A + B, both low rank
    LORA_KIND_OFT,      // rotations of blocks of rows
    LORA_KIND_BOFT      // and of rows far from each other, in stages
} lora_kind;

typedef struct lora_layer { // the tensors of one layer in a LoRA file
    const char *name;       // as in the file, without endings
    size_t name_len;
    const nino_tensor_info *t[LORA_ROLES]; // NULL: it has none
} lora_layer;

// What the layer does to the weight, DIFF or SET last, as in ComfyUI; NONE: nothing.
lora_kind lora_kind_of(const lora_layer *l);
// Rows and columns (values of a row) of the change; no columns where any number will do. False:
// its tensors do not fit each other.
bool lora_size_of(const lora_layer *l, lora_kind kind, int64_t *rows, int64_t *cols);
// LyCORIS once had the factors in the other order.
bool lora_glora_is_old(const lora_layer *l);
// alpha / rank; 1 without alpha.
nino_status lora_scale_of(const nino_weights *file, const lora_layer *l, lora_kind kind,
                          float *scale, nino_error *err);
// out[n][cols] = rows first ... of the change, for the kinds that do not need the weight.
nino_status lora_rows(const nino_weights *file, const lora_layer *l, lora_kind kind, int64_t first,
                      int64_t n, int64_t cols, float *out, nino_error *err);
// out[n][m] += a[n][r] b[r][m]
void lora_multiply(const float *a, const float *b, int64_t n, int64_t r, int64_t m, float *out);
