// Internal: who multiplies the matrices of linear layers: the kernels of the device's schedule, or a
// BLAS library (CLBlast), and what that needs beside them.
#pragma once
#include "core/op/profile.h"

// The word of NINODES_GEMM ("" is auto), and whether the profile's device can do it: NINO_ERR_UNKNOWN
// with the list of words, NINO_ERR_UNSUPPORTED where CLBlast is asked for but not there.
nino_status nino_engine_set(nino_profile *p, const char *word, const char *where, nino_error *err);

// Who does linear layers there, for people.
const char *nino_engine_text(const nino_profile *p);

// Linear layers by their rows, which decide who is faster: the tuning has a choice for each.
typedef enum nino_engine_class {
    NINO_ENGINE_FEW,
    NINO_ENGINE_FLAT,
    NINO_ENGINE_TALL
} nino_engine_class;
nino_engine_class nino_engine_class_of(int64_t rows);

// Whether a call's product is CLBlast's. It multiplies f32 with f32; 16-bit activations and weights are
// expanded before, as it would add up f16 in f16. Weights that stay as their file stores them in blocks or
// 8 bits are never its. What was tuned was measured with f32 activations, and holds for them only.
bool nino_engine_is_blas(const nino_profile *p, const nino_op_desc *d);

// Its workspace; offsets are multiples of 256, a part that is not needed has no bytes. x: [rows][C] of
// activations that are no f32; w: the weight as f32, [C][ld] of panels, or [N][Cp] of rows; sums:
// [rows][N], where the result is not the bare sums in f32; temp: what the library fills up to its tiles.
typedef struct nino_blas_layout {
    bool has_x, has_w, has_sums, is_rows; // is_rows: a column of the weight is a row of it
    int64_t ld;                           // from a row of the weight to the next
    uint64_t x, w, sums, temp, bytes;
    uint64_t temp_bytes;
} nino_blas_layout;
nino_blas_layout nino_engine_blas(const nino_profile *p, const nino_op_desc *d);
