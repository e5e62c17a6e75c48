// Internal: what evaluations of one sampling run keep for those that follow, because it depends on
// nothing that changes from step to step: the time steps' share of the layers, and the text's.
#pragma once
#include "core/op/stream.h"
#include "core/op/weight.h"

// What layers make of one conditioning, by number; NULL: not made yet. Zero: nothing is.
typedef struct nino_kept {
    nino_tensor **made;
    int n;
} nino_kept;
// Where number i of n is or belongs; NULL: k is NULL, or there is no memory and the stream has failed.
nino_tensor **nino_kept_at(nino_stream *s, nino_kept *k, int i, int n);
void nino_kept_release(nino_kept *k);
// What layer w, and an rms norm behind it or NULL, make of a text's tokens x, which are not consumed: number i of n,
// kept where it takes no more than the weights that need not be read again.
nino_tensor *nino_kept_linear(nino_stream *s, nino_kept *k, int i, int n, nino_tensor *x,
                              const nino_linear *w, const nino_norm *norm);

// The time steps of a run, and what layers make of all of them at once. Zero: nothing is kept.
typedef struct nino_run_times {
    const float *t; // as nino_sampling_timestep() gives them; the caller's
    int n;
    nino_tensor **rows; // by layer, [n,...]; NULL: not made yet
    int n_rows;
    float guidance[2]; // Chroma: that rows 0 and 1 are made for
} nino_run_times;

#define NINO_RUN_TIMES 64 // longer runs keep nothing: memory grows with them

// Which of k's time steps all n of an evaluation are; -1: they are not, or k is NULL. Under plan,
// where there is no time, the first.
int nino_run_time_of(nino_stream *s, const nino_run_times *k, const float *t, int64_t n);
// Room for the rows of n layers; false: no memory, and the stream has failed.
bool nino_run_times_alloc(nino_stream *s, nino_run_times *k, int n);
void nino_run_times_release(nino_run_times *k); // the rows
