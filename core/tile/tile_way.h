// Internal: how pictures and clips go through a VAE, and tiles for which there is memory.
#pragma once
#include "core/tile/fit.h"

#define NINO_TILE_LEAST 4 // cells

// How it is done: chosen before the run, by plan. Lengths in cells.
typedef struct nino_tile_way {
    nino_tile_style style, fallback; // fallback: of a whole image for which there is no room
    int tile, overlap;
    bool on_host; // EXACT: maps wait on the host
} nino_tile_way;

// exact_tiles where it is not known how: said aloud.
void nino_tile_warn_inexact(nino_stream *s, const nino_vae *v);
// The least tile that still has a middle: overlaps stay as they are, for seams are what they hide.
int nino_tile_least(nino_tile_style style, int overlap);
// Tiles of at most way->tile for which plan says there is memory, of pictures in one pass where three
// leave no room. Only where that is not enough do the overlaps shrink, which is said aloud. What
// cannot be made to fit stays as it was asked for, and fails with what was missing. fit: all but
// is_stock.
void nino_tile_fit_way(nino_stream *s, const nino_tile_fit *fit, nino_tile_way *way,
                       nino_tile_report *r);
