// Internal: what a plan backend has counted.
#pragma once
#include "core/op/backend.h"
#include <ninodes/job.h>

// Every scope that was opened on it, in order, with inclusive sums. name is the path from the
// outermost scope ("8 VAEDecode / decoder.up.2"); peak_bytes the most that was in use while it was
// open, weights included. Lives until the backend closes or another scope begins.
const nino_plan_scope *nino_plan_backend_scopes(const nino_backend *be, size_t *n);
// What else is told of every op that comes: a backend whose run() lists what it would need. The plan closes
// it. NULL: nothing.
void nino_plan_set_lister(nino_backend *be, nino_backend *lister);
// So many bytes of a map would go to the host, which waits for them, or come back. Of any other backend: nothing.
void nino_plan_carry(nino_backend *be, size_t bytes, bool waits);
// Predicted seconds of everything so far; 0: the profile has no numbers.
double nino_plan_backend_seconds(const nino_backend *be);

// Work that comes again and again (model evaluations of a sampler) is walked once or twice and then
// counted. A mark is the work done since the backend was opened, or between two marks.
typedef struct nino_plan_mark {
    double flops, bytes, seconds;
    uint64_t kernels;
    uint64_t load_bytes; // of weights that came in; work with some is not the same each time
} nino_plan_mark;
nino_plan_mark nino_plan_backend_mark(const nino_backend *be);
nino_plan_mark nino_plan_mark_since(const nino_backend *be, const nino_plan_mark *before);
// The same work once more, in the scopes that are open now.
void nino_plan_backend_repeat(nino_backend *be, const nino_plan_mark *work);
