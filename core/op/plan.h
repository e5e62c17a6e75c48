// Internal: what a plan backend has counted.
#pragma once
#include "core/op/backend.h"
#include <ninodes/job.h>

// Every scope that was opened on it, in order, with inclusive sums. name is the path from the
// outermost scope ("8 VAEDecode / decoder.up.2"); peak_bytes the most that was in use while it was
// open, weights included. Lives until the backend closes or another scope begins.
const nino_plan_scope *nino_plan_backend_scopes(const nino_backend *be, size_t *n);
// Predicted seconds of everything so far; 0: the profile has no numbers.
double nino_plan_backend_seconds(const nino_backend *be);
