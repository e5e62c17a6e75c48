// Internal: the seam meter. It compares what two neighbouring tiles computed for the area they
// share, and looks for steps in the finished image where tiles begin and end.
#pragma once
#include "core/event/publish.h"
#include "core/tile/tile.h"

typedef struct nino_seam {
    double sum, max, across, beside;
    uint64_t n, n_across, n_beside;
    uint32_t n_seams;
    bool is_picture; // values outside 0..1 are not seen: compare them clamped
} nino_seam;

// Two neighbours' values of their shared area, same shape. NULL arrays count as nothing.
void nino_seam_compare(nino_seam *m, const nino_array *a, const nino_array *b);
// One finished image [h,w,c] and the tiles it was made of; unit: elements per cell.
void nino_seam_lines(nino_seam *m, const float *image, int h, int w, int c, const nino_tile_axis *x,
                     const nino_tile_axis *y, int unit);
// The result, also told to viewers. area: cells of the image, computed: of all tiles; factor:
// pixels a cell.
void nino_seam_report(const nino_seam *m, uint64_t area, uint64_t computed, int factor,
                      nino_monitor *monitor, nino_seam_result *out);
