// Internal: what diffusion transformers share: time steps as vectors, pictures as tokens, and the
// table of positions of the last size that was run.
#pragma once
#include "core/op/stream.h"

#include <pthread.h>

// [n,256] from n values, `stride` apart: cosines, then sines, of `scale` times each at frequencies
// from 1 down to 1/10000.
nino_tensor *nino_dit_sinusoid(nino_stream *s, const float *v, int64_t n, int64_t stride,
                               float scale);
// [B,h,w,C] with even sides: the first row and column come once more behind the last.
nino_tensor *nino_dit_even(nino_stream *s, nino_tensor *x);

// ---- tokens: squares of p x p cells, p is 1 or 2; the last one of a side may be half
static inline int64_t nino_dit_side(int64_t cells, int64_t p) { return (cells + p - 1) / p; }
// [B,h,w,C] -> [B,tokens,C p^2], row by row, feature c*p*p + y*p + x; sides are made even.
nino_tensor *nino_dit_tokens(nino_stream *s, nino_tensor *x, int64_t p);
// The other way, to a picture of height x width cells.
nino_tensor *nino_dit_picture(nino_stream *s, nino_tensor *x, int64_t p, int64_t height,
                              int64_t width);

// The same where feature (y*p + x)*C + c is channel c of the cell at row y, column x.
nino_tensor *nino_dit_picture_by_cell(nino_stream *s, nino_tensor *x, int64_t p, int64_t height,
                                      int64_t width);

// ---- positions -------------------------------------------------------------------------------
// Rotary position embedding (Su et al., RoFormer, 2021) over several axes, which share the channels
// of a head.
enum { NINO_ROPE_AXES = 4 };
typedef struct nino_rope_axes { // without holes: it is part of keys
    double theta;
    int64_t n, channels[NINO_ROPE_AXES]; // even
} nino_rope_axes;
// cos and sin of one token's angles, as nino_rope() takes them; returns what follows.
float *nino_rope_put(float *to, const nino_rope_axes *a, const double *pos);

// The tables that were made last, of which guidance has two in turn, and what for: no weights, so
// they may change. Any thread.
enum { NINO_ROPE_TABLES = 2 };
typedef struct nino_rope_cache {
    pthread_mutex_t lock;
    struct {
        nino_array *table;
        void *key;
        size_t key_size;
    } kept[NINO_ROPE_TABLES];
    int oldest;
} nino_rope_cache;
// Tables are f32 [T,channels]; NULL: no memory.
typedef nino_array *nino_rope_make_fn(const void *key);
void nino_rope_cache_init(nino_rope_cache *c);
void nino_rope_cache_release(nino_rope_cache *c);
// The table of a key, whose bytes say all that make() needs; a new reference, NULL: no memory.
nino_array *nino_rope_cache_get(nino_rope_cache *c, const void *key, size_t size,
                                nino_rope_make_fn *make);
// The same on the stream's device, f32.
nino_tensor *nino_rope_upload(nino_stream *s, nino_rope_cache *c, const void *key, size_t size,
                              nino_rope_make_fn *make);
