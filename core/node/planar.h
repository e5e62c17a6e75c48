// Internal: arithmetic on the host that image, mask and latent nodes share. A "picture" is an f32
// array [N,H,W] (masks), [N,H,W,C] (images, latents) or [N,T,H,W,C] (video latents).
#pragma once
#include "core/node/util.h"

// Any of the three as n*t planes of h rows, w columns, c channels.
typedef struct nino_picture {
    int64_t n, t, h, w, c;
    float *v;
} nino_picture;
nino_picture nino_picture_of(const nino_array *a);
static inline float *nino_picture_at(const nino_picture *p, int64_t plane, int64_t y, int64_t x)
{
    return p->v + ((plane * p->h + y) * p->w + x) * p->c;
}
// a's shape with other sizes.
nino_shape nino_picture_shape(const nino_array *a, int64_t n, int64_t h, int64_t w);

// What Python's x[start:stop] takes of n entries: negative ends count from the end.
void nino_slice_range(int64_t start, int64_t stop, int64_t n, int64_t *from, int64_t *len);

// New arrays; NULL: err is filled. `what` is who asks, for messages.
nino_array *nino_picture_copy(const nino_array *a, const char *what, nino_error *err);
// h x w at (top, left), which lie inside.
nino_array *nino_picture_crop(const nino_array *a, int64_t top, int64_t left, int64_t h, int64_t w,
                              const char *what, nino_error *err);
// h x w of one value, with a at (top, left), which fits.
nino_array *nino_picture_pad(const nino_array *a, int64_t top, int64_t left, int64_t h, int64_t w,
                             float value, const char *what, nino_error *err);
// n entries of the batch from `start`, going round.
nino_array *nino_picture_batch(const nino_array *a, int64_t start, int64_t n, const char *what,
                               nino_error *err);
// One array after the other along an axis; the other sizes must agree ("shape").
nino_array *nino_picture_join(const nino_array *a, const nino_array *b, int axis, const char *what,
                              nino_error *err);
nino_array *nino_picture_flip(const nino_array *a, bool rows, bool columns, const char *what,
                              nino_error *err);
// Clockwise quarter turns, 0 to 3.
nino_array *nino_picture_rotate(const nino_array *a, int turns, const char *what, nino_error *err);
// Channels cut off, or added with value 1 (opaque).
nino_array *nino_picture_channels(const nino_array *a, int64_t c, const char *what,
                                  nino_error *err);
// A mask at another size, bilinear; one of that size is only referenced.
nino_status nino_mask_fit(nino_run *r, const nino_array *mask, int64_t h, int64_t w,
                          nino_array **out, nino_error *err);
// The same grey in three channels.
nino_array *nino_mask_to_image(const nino_array *mask, const char *what, nino_error *err);

// Entry i of a batch that has one entry for all, or one for each of n: ComfyUI's broadcasting.
static inline int64_t nino_batch_entry(int64_t has, int64_t i) { return has == 1 ? 0 : i; }
// NINO_OK if such a batch goes with n; `key` is the input that is named otherwise.
nino_status nino_batch_agrees(int64_t has, int64_t n, const char *key, nino_error *err);

// A latent that shares everything of `from` but its samples, which it takes (NULL: err is already
// filled). Fewer or more entries than `from` has: the index is cut or goes on with its last.
nino_status nino_out_latent_like(nino_run *r, int i, const nino_latent *from, nino_array *samples,
                                 nino_error *err);

// Puts `source` into `destination` (changed in place) with its top left corner at (y, x) in cells,
// which may be negative; what lies outside is cut off. mask (NULL: all) has the source's size; at 0
// the destination stays. Batches go round; frames of the source are one or as many.
void nino_picture_paste(const nino_array *destination, const nino_array *source,
                        const nino_array *mask, int64_t y, int64_t x);
