// Internal: whether a VAE fits a device, see fit.c.
#pragma once
#include "core/tile/tile.h"

typedef struct nino_vae_need {
    uint64_t activations; // highest use by everything that is not weights
    uint64_t weights;     // as packed for the device
    uint64_t reserved;    // both, in whole arenas: what the budget is compared with
    double flops;         // of one time
    uint64_t ops;         // as in nino_backend: which ones it is made of
} nino_vae_need;

// n images of h x w latent cells through decode or encode.
nino_status nino_vae_need_get(nino_stream *s, const nino_vae *v, bool is_decode, int n, int h,
                              int w, nino_vae_need *out, nino_error *err);
// t latent frames of h x w cells through decode or encode: streamed, or `chunk` of them at a time
// (0: all) when the VAE is not causal.
nino_status nino_vae_need_clip(nino_stream *s, const nino_vae *v, bool is_decode, int64_t t,
                               int chunk, int h, int w, nino_vae_need *out, nino_error *err);
// *budget becomes the pool's (0: unlimited).
bool nino_vae_fits(nino_stream *s, const nino_vae_need *need, uint64_t *budget);
