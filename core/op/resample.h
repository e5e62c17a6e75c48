// Internal: weight tables of separable resampling, made on the host for every backend, so that ref
// and cl can only differ in the sums.
#pragma once
#include "core/op/op.h"

// Output i of an axis is sum over t < taps of weight[i * taps + t] * input[start[i] + t]; every
// index is inside the input.
typedef struct nino_resample_axis {
    int in, out, taps;
    int32_t *start;
    float *weight;
} nino_resample_axis;

int nino_resample_taps(nino_filter f, int64_t in, int64_t out);
// start: out entries; weight: out * nino_resample_taps() entries; the caller's memory.
void nino_resample_fill(nino_filter f, int64_t in, int64_t out, int32_t *start, float *weight);
// Allocates and fills; free with nino_resample_release().
nino_status nino_resample_make(nino_filter f, int64_t in, int64_t out, nino_resample_axis *axis,
                               nino_error *err);
void nino_resample_release(nino_resample_axis *axis);
