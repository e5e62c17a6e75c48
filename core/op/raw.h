// Internal: matrices that stay on a device as the file stores them: 8-bit numbers and quantised
// blocks. Linear layers and 1x1 convolutions decode them as they multiply; for others they are
// expanded to panels of f32 (core/op/pack.h), a run of panels at a time (nino_sched_expand).
#pragma once
#include "core/op/weight.h"

#define NINO_RAW_PARTS 8

// Rows of one type. Offsets are bytes from the part's first.
typedef struct nino_raw_part {
    nino_dtype type;
    bool is_scaled;     // f32 [rows] at `scales`: the factors of the rows
    int64_t row0, rows; // of the weight's
    uint64_t at;        // where the part begins; multiple of 16
    uint64_t scales;    // behind the rows as the file has them, [n][c][tap]; multiple of 16
    uint64_t grid;      // u16: the codebook of the IQ types that have one; of `entries` values
    uint64_t entries;
} nino_raw_part;

// Pieces of different types (a fused q, k and v of which one has more bits) stay what they are
// where they can be decoded as they are needed (nino_raw_can_decode) and begin at multiples of 16
// rows; then those of 16 and 32 bits beside quantised ones do, too.
typedef struct nino_raw_layout {
    int n_parts;
    nino_raw_part part[NINO_RAW_PARTS];
    uint64_t bytes; // all together
} nino_raw_layout;

// False: w is a vector, or its pieces are stored in different ways or do not begin and end with
// blocks; then it is expanded when it is loaded.
bool nino_raw_layout_of(const nino_weight *w, nino_raw_layout *out);
// Kernels can decode such a weight as they multiply: one tap, and no row begins between two
// vectors.
static inline bool nino_raw_can_decode(const nino_weight *w)
{
    return nino_weight_taps(w) == 1 && w->c % 16 == 0;
}
// Types that kernels of matrix instructions decode in pairs of f16 (cl/wmma/chunks.cl), at little cost.
bool nino_raw_has_pairs(nino_dtype t);
// Fills dst, l->bytes. cancel (may be NULL): as in nino_pack_weight().
nino_status nino_raw_read(const nino_weight *w, const nino_raw_layout *l,
                          const volatile int *cancel, void *dst, nino_error *err);
