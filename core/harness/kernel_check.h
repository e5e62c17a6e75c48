// Internal: the kernel harness: cases as table rows, each run on a device and on ref in every
// storage type. To cover a new kernel variant add a row to core/harness/kernel_check_cases.c.
#pragma once
#include "core/op/backend.h"

typedef struct nino_check_case {
    nino_op_id op;
    nino_op_attr attr;
    int64_t src[NINO_OP_MAX_SRC][NINO_MAX_RANK]; // dimensions; 0 ends them
    int64_t n;                                   // LINEAR, CONV2D, CONV3D: rows of the weight
    int64_t out[2];      // SLICE: length; RESAMPLE: height, width; SHUFFLE: channels
    bool bias, residual; // as the op has them; bias: LAYER_NORM's beta
    bool gamma;          // LAYER_NORM, RMS_NORM: it is there; ACT: slopes
    nino_dtype cast_to;  // CAST
    nino_dtype weight;   // stored type of the weight
    float spread;        // values are about this large; 0: 1
    bool is_large;       // left out of quick runs
    bool has_ends;       // ends within a CPU's register tile: not for emulations
    bool only_bench;     // too slow for ref: run for time only
} nino_check_case;

extern const nino_check_case nino_check_cases[];
extern const size_t nino_n_check_cases;

// One comparison.
typedef struct nino_check_result {
    char name[160], note[160];
    bool ok;
    double nmse, max_abs, tol, ms, gflops;
} nino_check_result;

// Random blocks whose scales are of one size; NULL: no memory, or not whole blocks.
nino_array *nino_check_blocks(nino_shape shape, nino_dtype type, uint64_t *rng);
// Runs case c with activations stored as `type`; in_place: -1, or the source that becomes the
// result. Failures of the device are results, not errors: note says what happened.
void nino_check_run(nino_backend *be, nino_backend *ref, const nino_check_case *c, nino_dtype type,
                    int in_place, uint64_t seed, bool bench, nino_check_result *r);
// Everything that identifies the case, e.g. "conv2d_f16_1x9x7x48_n32_k3_s2".
void nino_check_name(const nino_check_case *c, nino_dtype type, int in_place, char *buf,
                     size_t size);
