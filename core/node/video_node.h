// Internal: what nodes that make videos from pictures share.
#pragma once
#include "core/node/util.h"

#define NINO_VIDEO_TIME INT64_C(4) // frames that one latent frame adds

typedef struct nino_video_size { // how the params of such nodes begin
    int64_t width, height, length, batch_size;
} nino_video_size;

static inline int64_t nino_video_latents(int64_t frames)
{
    return (frames - 1) / NINO_VIDEO_TIME + 1;
}
// The first (or last) frames of a picture batch, as many as the clip has at most, at its size.
nino_status nino_video_fit(nino_run *r, const nino_array *image, bool is_end, nino_array **out,
                           nino_error *err);
// A clip of one grey with given frames [n,H,W,C] at its start and end; either may be NULL.
nino_array *nino_video_make(const nino_run *r, const nino_array *start, const nino_array *end,
                            nino_error *err);
// Pictures [n,H,W,C] as a video latent [1,t,h,w,C]. Frames that do not make a latent frame are left
// out.
nino_status nino_video_encode(nino_run *r, const nino_vae *vae, const nino_array *clip,
                              nino_array **out, nino_error *err);
