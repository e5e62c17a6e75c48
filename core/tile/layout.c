// Where tiles lie along an axis.
#include "core/base/size.h"
#include "core/tile/tile.h"

int nino_tile_starts(int size, int tile, int overlap, int *pos, int max)
{
    if (size <= tile) { // one tile holds everything
        if (pos && max > 0)
            pos[0] = 0;
        return 1;
    }
    const int step = tile - overlap;
    if (step <= 0 || overlap < 0)
        return 0;
    const int n = (int) nino_ceil_div(size - overlap, step);
    for (int i = 0; pos && i < n && i < max; i++)
        pos[i] = i * step;
    return n;
}

bool nino_tile_axis_stock(nino_tile_axis *a, int size, int tile, int overlap)
{
    a->n = nino_tile_starts(size, tile, overlap, a->pos, NINO_TILE_MAX_AXIS);
    if (a->n < 1 || a->n > NINO_TILE_MAX_AXIS)
        return false;
    for (int i = 0; i < a->n; i++)
        a->len[i] = size - a->pos[i] < tile ? size - a->pos[i] : tile;
    return true;
}

bool nino_tile_axis_even(nino_tile_axis *a, int size, int tile, int overlap)
{
    a->n = nino_tile_starts(size, tile, overlap, NULL, 0);
    if (a->n < 1 || a->n > NINO_TILE_MAX_AXIS)
        return false;
    const int gaps = a->n - 1;
    const int len = (int) nino_ceil_div((int64_t) size + (int64_t) gaps * overlap, a->n);
    for (int i = 0; i < a->n; i++) {
        a->pos[i] = gaps ? (int) ((int64_t) i * (size - len) / gaps) : 0;
        a->len[i] = len;
    }
    return true;
}
