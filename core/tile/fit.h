// Internal: whether a VAE, or any other network, fits a device, see fit.c.
#pragma once
#include "core/tile/tile.h"

typedef struct nino_vae_need {
    uint64_t activations; // highest use by everything that is not weights
    uint64_t weights;     // as packed for the device
    uint64_t reserved;    // both, in whole arenas: what the budget is compared with
    uint64_t reread;      // bytes of weights that had to go and come again within a limit
    double flops;         // of one time
    uint64_t ops;         // as in nino_backend: which ones it is made of
} nino_vae_need;

// What is counted: anything that runs ops on the stream it is given, the same each time.
typedef void (*nino_need_walk)(nino_stream *dry, const void *priv);
// It runs twice on a plan backend, and the second time counts: it finds its weights there. limit: of
// the pool, in which weights come and go where it is short; 0: none.
nino_status nino_need_get(nino_stream *s, nino_need_walk run, const void *priv, uint64_t limit,
                          nino_vae_need *out, nino_error *err);
// Within what the budget leaves to it. keeps_weights: they are read once. *gather: 0, or the bytes
// that nino_backend_gather() is to make one piece of before the run, because they fit in no other
// way. NULL: the walk is not all of what runs, and has to fit without.
bool nino_need_fits(nino_stream *s, nino_need_walk run, const void *priv, bool keeps_weights,
                    uint64_t *gather);

// Latent frames of a clip that a VAE which is streamed takes at once: memory.chunk_size, else one.
int nino_vae_piece(const nino_vae *v, bool is_decode);
// After part i of a decode, which the device has done: memory.cleanup_frequency.
void nino_tidy_after(nino_stream *s, int64_t i);
// n images of h x w latent cells through decode or encode.
nino_status nino_vae_need_get(nino_stream *s, const nino_vae *v, bool is_decode, int n, int h,
                              int w, nino_vae_need *out, nino_error *err);
// t latent frames of h x w cells through decode or encode: streamed, or `chunk` of them at a time
// (0: all) when the VAE is not causal.
nino_status nino_vae_need_clip(nino_stream *s, const nino_vae *v, bool is_decode, int64_t t,
                               int chunk, int h, int w, nino_vae_need *out, nino_error *err);
// *budget becomes the pool's (0: unlimited).
bool nino_vae_fits(nino_stream *s, const nino_vae_need *need, uint64_t *budget);
// The same for one image, whose weights may come and go while it is computed.
bool nino_vae_fits_thrifty(nino_stream *s, const nino_vae *v, bool is_decode, int h, int w,
                           uint64_t *gather);

// What is computed in tiles; lengths in latent cells.
typedef struct nino_tile_fit {
    const nino_vae *v;
    bool is_decode, is_stock; // is_stock: in tiles of three shapes, see NINO_TILE_STOCK
    int64_t frames;           // latent ones of a clip; 0: a picture
    int chunk;                // of frames, as nino_vae_need_clip() has it
    int h, w;
    bool is_exact, on_host; // the tile's side is rows of an exact band; maps wait on the host
} nino_tile_fit;
// n tiles of w x h cells go through on the stream, or f->frames of one: what a device needs beside whoever puts
// them together. is_exact: the whole picture in bands of h rows.
void nino_vae_walk(nino_stream *dry, const nino_tile_fit *f, int n, int w, int h);
// What bands of `tile` cells need, is_exact; err as everywhere.
nino_status nino_vae_need_exact(nino_stream *s, const nino_tile_fit *f, int tile,
                                nino_vae_need *out, nino_error *err);
// The largest tile of least ... most cells with which the stream's device has enough memory, by
// walking one tile and the canvas on a plan backend; 0: even the least needs more. *gather as above.
int nino_vae_fit_tile(nino_stream *s, const nino_tile_fit *f, int least, int most,
                      uint64_t *gather);
