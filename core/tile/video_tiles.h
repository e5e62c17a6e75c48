// Internal: VAE decode and encode of clips. Frames go to a sink as they are ready; memory on the
// device does not depend on how many there are. Clips too large for the device are done in spatial
// tiles, each of which is streamed from beginning to end.
#pragma once
#include "core/tile/tile.h"

// Takes the frames of a clip in order: [n,H,W,3] f32, 0..1, the first of them frame `first`. Where the device's memory ran out
// in the middle, they come once more from the clip's first one, made in smaller tiles.
typedef struct nino_frame_sink {
    nino_status (*put)(void *priv, int64_t first, const nino_array *frames, nino_error *err);
    void *priv;
} nino_frame_sink;

typedef struct nino_video_params {
    nino_tile_params tile;
    // VAEs that are not causal: latent frames at a time and how many two neighbours share; chunk 0:
    // the whole clip. Causal ones stream and need neither.
    int chunk, overlap;
    bool repeat_last; // with chunks: the last latent frame twice, what comes of it is left out
} nino_video_params;

// Frames `first` ... `first + n - 1` of the latent clip go through the VAE together; what comes of
// the first `drop` and, in the middle of a clip, is shared with the chunk before is cut or blended.
typedef struct nino_chunk {
    int64_t first, n; // latent frames
    int64_t from;     // first frame of the result that this chunk gives something to
    int64_t skip;     // frames of the chunk before that one
    int64_t blend;    // frames from there on that are mixed with those of the chunk before
} nino_chunk;

// Chunk i of a clip of t latent frames, tc frames each; radius: latent frames that a frame depends
// on to either side, negative: not known. With room for it, chunks are cut where both neighbours
// have seen enough; else they are mixed, (i + 1) / (blend + 1), over all that they share. False:
// the clip is at its end. chunk is raised to overlap + 2 at least.
bool nino_chunk_get(int64_t t, int chunk, int overlap, int tc, int radius, int i, nino_chunk *out);

// z [N,T,h,w,C] f32, N clips: the frames of all of them, one after the other, go to the sink.
nino_status nino_vae_decode_video(nino_stream *s, const nino_vae *v, const nino_array *z,
                                  const nino_video_params *p, const nino_frame_sink *sink,
                                  nino_tile_report *report, nino_error *err);
// pixels [F,H,W,3 or 4] 0..1 -> *z [1,T,h,w,C], T = 1 + (F - 1) / time_factor; frames that do not
// fill a latent frame are left out, sides are cropped centrally.
nino_status nino_vae_encode_video(nino_stream *s, const nino_vae *v, const nino_array *pixels,
                                  const nino_video_params *p, nino_array **z,
                                  nino_tile_report *report, nino_error *err);
