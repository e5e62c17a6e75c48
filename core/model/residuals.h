// Internal: what control networks add to the maps of a diffusion network while it is evaluated. It
// travels in nino_forward; a network takes what has a place in it.
#pragma once
#include "core/op/stream.h"

#define NINO_RESIDUALS 64 // stages or blocks of one kind

typedef struct nino_residuals { // NULL: nothing is added there
    // UNet: to what stage i of the way down gives. Transformers: to the picture's tokens behind
    // (double) block i.
    nino_tensor *after[NINO_RESIDUALS];
    nino_tensor *middle; // UNet: to what the middle gives
    // UNet: to what the way up gets of stage i of the way down. FLUX: to the picture's tokens behind
    // single block i.
    nino_tensor *late[NINO_RESIDUALS];
} nino_residuals;

// t * strength is added to what is in *slot. Consumes t.
void nino_residual_put(nino_stream *s, nino_tensor **slot, nino_tensor *t, float strength);
// map + what is in *slot, which is used up; it has the map's shape or one value a channel of each
// batch item. Otherwise the stream fails: `where` has control from a network for another model.
nino_tensor *nino_residual_take(nino_stream *s, nino_tensor *map, nino_tensor **slot,
                                const char *where);
// The same for some of the tokens of x [B,T,C]: as many as the residual has, from `first` on.
nino_tensor *nino_residual_take_tokens(nino_stream *s, nino_tensor *x, int64_t first,
                                       nino_tensor **slot, const char *where);
void nino_residuals_release(nino_residuals *r); // of what was not taken; NULL-safe
