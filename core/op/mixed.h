// Internal: mixed precision: which ops of a stream store 16 bits and which fp32. Sums are fp32 in
// either, and so are the statistics of norms and the scores of attention inside their kernels.
#pragma once
#include "core/op/op.h"
#include "core/op/stream.h"

// Where an op's activations are stored in mixed precision.
typedef enum nino_mixed_rule {
    NINO_MIXED_ASIS = 1, // as its sources are: it only moves values, or has types of its own
    NINO_MIXED_BY_SIZE,  // 16 bits from precision.mixed_from values an item on, else fp32
    NINO_MIXED_SUM, // what is added up from layer to layer: 16 bits from precision.half_from on
    NINO_MIXED_WIDE // fp32
} nino_mixed_rule;

typedef struct nino_mixed_row {
    nino_mixed_rule rule;
    unsigned sources; // bit i: src[i] takes the op's type, too; others have one of their own
} nino_mixed_row;
extern const nino_mixed_row nino_mixed_rows[NINO_OP_COUNT];

// Values of one item, the largest among a call's result and first source: of [N,..,C] what one n
// has, so that a batch and a clip in pieces are stored as one image is.
int64_t nino_mixed_item(const nino_op_desc *d);
// The type for a call whose item is that large; `half` is the stream's 16 bits. ASIS: src_type[0].
nino_dtype nino_mixed_type(const nino_op_desc *d, int64_t item, nino_dtype half);
// Whether a product of that size is 16 bits and what it is added to is fp32.
bool nino_mixed_adds_apart(int64_t item);
// For networks that have rules of their own in 16 bits: p, or where p is mixed, fp32 or 16 bits by the
// values of a state between their layers.
nino_precision nino_mixed_whole(nino_precision p, int64_t values);
