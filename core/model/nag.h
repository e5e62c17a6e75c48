// Internal: normalized attention guidance: what an attention gives the positive side is led away
// from what it gives the negative one.
#pragma once
#include "core/model/patch.h"
#include "core/op/stream.h"

// z [B,T,C], the answer of a self-attention, as NAGuidance wants it from token `first` on. Nothing
// happens where the pass has no such patch, or not both sides in one batch. Consumes z.
nino_tensor *nino_pass_nag(nino_stream *s, const nino_pass *p, nino_tensor *z, int64_t first);
