// Internal to core/op/ref: what a reference op sees. Values are f32 whatever their storage type;
// ref.c converts on the way in and rounds on the way out. Sums are double.
#pragma once
#include "core/op/backend.h"

typedef struct nino_ref_args {
    const nino_op_desc *d;
    const float *x[NINO_OP_MAX_SRC];
    float *y;           // may be x[i] for the sources the op table allows
    const float *w, *b; // packed: w [taps][C][N], b [N] or NULL
    uint32_t *count;    // CHECK_FINITE's result
    const nino_backend *be;
} nino_ref_args;

// One function an op; each returns NINO_OK, NINO_ERR_NOMEM, or NINO_ERR_CANCELLED: those that take a
// row of products for every row of the result look after each.
#define X(ID, name, family) nino_status nino_ref_##name(const nino_ref_args *a, nino_error *err);
NINO_OPS(X)
#undef X

double nino_ref_activate(nino_act act, double v);
// The row of a broadcast operand that goes with row i.
static inline int64_t nino_ref_row(const nino_op_rows *r, int64_t i)
{
    return r->positions ? i / r->positions * r->batch + i % r->positions * r->position : 0;
}
nino_status nino_ref_nomem(nino_error *err);
nino_status nino_ref_cancelled(const nino_ref_args *a, nino_error *err); // NINO_OK: it is not
