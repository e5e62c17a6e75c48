// Internal: spatial tiling of VAE decode and encode: layouts, blending, and the seam meter.
// Sources: ComfyUI comfy/utils.py tiled_scale and nodes.py VAEDecodeTiled (stock), spec of ROCm VAE
// Decode.
#pragma once
#include "core/model/vae/vae.h"

typedef struct nino_tile_rect { // latent cells
    int x, y, w, h;
} nino_tile_rect;

// Start positions of ComfyUI's tiled_scale along one axis: 0, tile-overlap, 2(tile-overlap) ...
// below size-overlap; the last tile ends at the edge and is shorter. Returns the count; pos may be
// NULL.
int nino_tile_starts(int size, int tile, int overlap, int *pos, int max);

#define NINO_TILE_MAX_AXIS 1024
typedef struct nino_tile_axis { // tiles along one axis, in cells
    int n;
    int pos[NINO_TILE_MAX_AXIS], len[NINO_TILE_MAX_AXIS];
} nino_tile_axis;
// ComfyUI's positions. False: more than NINO_TILE_MAX_AXIS tiles, or overlap >= tile.
bool nino_tile_axis_stock(nino_tile_axis *a, int size, int tile, int overlap);
// As many tiles as ComfyUI would use, all of one length (at most `tile`), overlapping by `overlap`
// or slightly more: no sliver at the edge.
bool nino_tile_axis_even(nino_tile_axis *a, int size, int tile, int overlap);

typedef enum nino_tile_style {
    NINO_TILE_NEVER,  // whole image; if the device has no memory for that, as STOCK with what
                      // ComfyUI falls back to: 64, 16 cells to decode, 512, 64 pixels to encode
    NINO_TILE_STOCK,  // ComfyUI: three passes (t/2 wide x 2t high, 2t x t/2, t x t) averaged, every
                      // tile feathered on every side; a pass whose tile holds the image is plain
    NINO_TILE_AUTO,   // ROCm VAE Decode: whole image when plan fits the budget, else as ALWAYS
    NINO_TILE_ALWAYS, // one pass of even tiles, feathered where they overlap
    NINO_TILE_EXACT   // decode in bands of rows with norms of the whole image: within rounding what
                      // the whole image gives; see nino_vae.decode_bands
} nino_tile_style;

typedef struct nino_tile_params {
    nino_tile_style style;
    int tile, overlap; // pixels: largest tile, smallest overlap; any multiple of the factor is kept
                       // (others are rounded down), overlap is at most tile/4 as the nodes document
    bool
        exact; // where there would be tiles, as EXACT, with bands of at most `tile` rows, if the VAE
               // can; else tiles, with a warning
    bool one_by_one; // pictures of a batch and latent frames of a clip never go through together
} nino_tile_params;

typedef struct nino_seam_result {
    double mean, max; // |difference| in shared areas of neighbouring tiles, in 1/255
    double gradient;  // mean step across seams minus beside them, in 1/255
    uint32_t n_seams;
    uint64_t pixels, recomputed;
} nino_seam_result;

typedef struct nino_tile_report {
    bool tiled;
    int n_tiles;                 // of one image, all passes
    int tile_w, tile_h, overlap; // pixels; the largest tile of the last pass
    nino_seam_result seam;       // zero when not tiled
    char why[160];               // one line: why (not) tiled
} nino_tile_report;

// z [N,h,w,C] f32 host, node latent -> pixels [N,H,W,3] f32 host, clamped to 0..1. Emits tile
// scopes, TILE_INFO and SEAM events. Tiles are as large as the plan of one says that the budget
// allows, at most as large as asked for; their overlap stays, so that seams do not show more where
// memory is short, unless not even two overlaps fit: then it shrinks, with a warning. If the device runs out all the same: halves the tile and retries while two
// overlaps fit into it, says so in the log and the report.
nino_status nino_vae_decode_tiled(nino_stream *s, const nino_vae *v, const nino_array *z,
                                  const nino_tile_params *p, nino_array **pixels,
                                  nino_tile_report *report, nino_error *err);
// pixels [N,H,W,3] 0..1 (cropped centrally to multiples of the factor) -> node latent [N,h,w,C].
nino_status nino_vae_encode_tiled(nino_stream *s, const nino_vae *v, const nino_array *pixels,
                                  const nino_tile_params *p, nino_array **z,
                                  nino_tile_report *report, nino_error *err);
// Peak pool bytes of an untiled decode of h x w latent cells, by walking the model on a plan
// backend of the same profile.
nino_status nino_vae_decode_peak(nino_stream *s, const nino_vae *v, int n, int h, int w,
                                 uint64_t *activation_bytes, uint64_t *weight_bytes,
                                 nino_error *err);
