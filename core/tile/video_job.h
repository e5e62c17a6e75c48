// Internal: one clip on its way through a VAE: what the callers of video.h (clip.c) fill in, and
// what tiles and pieces (video.c) keep.
#pragma once
#include "core/tile/video_meter.h"
#include "core/tile/seam.h"
#include "core/tile/video_tiles.h"

typedef struct nino_video_job {
    nino_stream *s;
    const nino_vae *v;
    bool is_decode, is_stock;
    const nino_video_params *p;
    const nino_frame_sink *sink;
    const nino_array *in;        // [n_in,..,..,C]: one clip
    int64_t n_in, n_out, offset; // offset: of the clip's first frame for the sink
    int w, h, in_unit, out_unit, in_x, in_y, in_c, out_c;
    nino_tile_axis x, y;
    int overlap;
    float *canvas, *weight;      // [n_out,H,W,C], [H,W]; NULL: one tile
    nino_array *right, **bottom; // strips that neighbours left: of the tile before, of each column
    nino_seam seam;
    nino_clip_meter meter;
    nino_array *
        held; // [n_out,h,w,C] of one tile, where its frames wait for those of tiles before it; else NULL
    nino_array *tail; // frames of a chunk that the next one shares
    uint64_t tile_ns; // of the chunks of a tile so far
    int64_t piece;    // latent frames that go through a causal VAE together, after the first one
    uint64_t computed, piece_ns;
    uint32_t why; // the report's, as a name of the monitor
} nino_video_job;

// One clip, with smaller tiles when the device has no room.
nino_status nino_video_job_run(nino_video_job *j, nino_tile_report *r, nino_error *err);
nino_status nino_video_no_memory(const nino_vae *v, nino_error *err); // fails so, naming the VAE
