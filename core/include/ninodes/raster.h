// Pictures and latents in memory, on their way into a workflow or out of it.
//
// Threads: plain data.
#pragma once
#include <ninodes/base.h>

NINO_BEGIN

typedef enum nino_raster_type {
    // 0 to 255.
    NINO_RASTER_U8,
    // Pictures: 0 to 1. Latents: as the network has them.
    NINO_RASTER_F32
} nino_raster_type;

// n pictures of one size, or n latents: [n][height][width][channels] without gaps, rows from the
// top. A video's latent has `frames` as well: [n][frames][height][width][channels].
#define NINO_RASTER_INIT .size = sizeof(nino_raster)
typedef struct nino_raster {
    // Set by NINO_RASTER_INIT, also before the library fills one.
    size_t size;
    nino_raster_type type;
    // frames is 0 for all but latents of videos.
    int n, frames, height, width;
    // Of a picture 3 (RGB) or 4 (RGBA, not premultiplied).
    int channels;
    const void *data;
} nino_raster;

NINO_END
