// Internal: steps that transformers over text share: what a position sees, and sums that grow
// beyond what f16 holds.
#pragma once
#include "core/op/stream.h"

// The bias [1,1,1,T] for an attention without the keys where attend [T] is false; NULL: attend is NULL, or
// the stream has failed.
nino_tensor *nino_attend_bias(nino_stream *s, int64_t len, const bool *attend);

// States are f32; between a norm and the sum, numbers are bf16 where that is what the stream
// stores, and never f16.
nino_tensor *nino_branch_norm(nino_stream *s, nino_tensor *x, const nino_norm *n);
// x + linear(t), t of the branch
nino_tensor *nino_branch_add(nino_stream *s, nino_tensor *x, nino_tensor *t, const nino_linear *l);
