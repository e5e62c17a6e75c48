// Internal: matrices that stay on a device as the file stores them: 8-bit floats and quantised
// blocks. They are expanded to panels of f32 (core/op/pack.h) when an op needs them, a run of
// panels at a time (nino_sched_expand).
#pragma once
#include "core/op/weight.h"

// Bytes 0 .. scales: the rows as the file has them, [n][c][tap], one behind the other.
typedef struct nino_raw_layout {
    nino_dtype type;
    bool is_scaled;  // f32 [n] at `scales`: the factors of the rows
    uint64_t scales; // multiple of 4
    uint64_t grid;   // u16: the codebook of the IQ types that have one; of `entries` values
    uint64_t entries;
    uint64_t bytes; // all together
} nino_raw_layout;

// False: w is a vector, or its pieces are stored in different ways or do not begin and end with
// blocks; then it is expanded when it is loaded.
bool nino_raw_layout_of(const nino_weight *w, nino_raw_layout *out);
// Fills dst, l->bytes. cancel (may be NULL): as in nino_pack_weight().
nino_status nino_raw_read(const nino_weight *w, const nino_raw_layout *l,
                          const volatile int *cancel, void *dst, nino_error *err);
