// Internal: pictures on their way through a VAE: what tile.c runs and tile_choose.c decides.
#pragma once
#include "core/tile/seam.h"
#include "core/tile/units.h"
#include "core/tile/tile_way.h"

typedef struct nino_tile_pass {
    nino_tile_axis x, y;
    int overlap;
} nino_tile_pass;

// One call: everything counted in latent cells; unit is the number of elements of a cell's side.
typedef struct nino_tile_job {
    nino_stream *s;
    const nino_vae *v;
    bool is_decode;
    const nino_array *in;
    nino_array *out;
    int w, h;
    int in_unit, out_unit;
    int in_x, in_y; // elements cropped at the left and the top
    int in_c, out_c;
    nino_tile_pass *pass;   // 3
    int n_passes, n_tiles;  // of one picture
    bool is_stock;          // blending: every side of every tile is feathered
    bool is_exact, on_host; // bands of rows; their maps wait on the host
    bool is_whole;          // pictures without tiles
    int images, share;      // that go through together; of those, on one device
    int first, done;        // pictures before it: were finished before this attempt, are finished
    nino_tensor *canvas;    // of the pass that is being put together
    nino_array *right, **bottom;        // strips that its tiles left for their neighbours
    uint64_t computed, computed_before; // cells; before the picture that is not finished
    nino_seam seam_before;
    uint32_t why; // the report's, as a name of the monitor
    nino_seam seam;
} nino_tile_job;

// exact: as in nino_tile_params. r->why says what was chosen and by what.
nino_status nino_tile_choose(nino_tile_job *j, bool exact, nino_tile_way *way, nino_tile_report *r,
                             nino_error *err);
// The device had less room than plan knew of: the next smaller way, false when there is none.
bool nino_tile_shrink(nino_tile_job *j, nino_tile_way *way, nino_tile_report *r);
