// Internal: bounds of kernels by the clock model of the gate (tests/gate/clocks.py, core/op/clocks_list.h), for
// predicted times. They hold for gfx1151 and are no measurement.
#pragma once
#include "core/op/profile.h"

typedef enum nino_clocks_kind {
    NINO_CLOCKS_PRODUCT, // linear layers, convolutions and NINO_ATTN_STRIPES by matrix instructions
    NINO_CLOCKS_FLASH,   // NINO_ATTN_FLASH
    NINO_CLOCKS_F32_PRODUCT,   // in f32 arithmetic, of whose peak they are shares
    NINO_CLOCKS_F32_ATTENTION, // the same
} nino_clocks_kind;

// The most that any kernel of a kind reaches of the peak.
double nino_clocks_best(nino_clocks_kind kind);
// The share of the peak that the main loop of a product of call d reaches in tiles t.
double nino_clocks_loop(const nino_profile *p, const nino_op_desc *d, const nino_tile *t);
// The share of the peak that a call's kernel can reach: its main loop, the tiles that are not full, the
// processors that have no tile at the end. 1: not known, as of measured profiles and those without `units`.
double nino_clocks_share(const nino_profile *p, const nino_op_desc *d);
// Bytes that a call moves beside its operands: scores of NINO_ATTN_STRIPES, expanded weights.
double nino_clocks_more_bytes(const nino_profile *p, const nino_op_desc *d);
