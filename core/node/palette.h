// Internal: the few colours of a picture, and pictures drawn with them, as PIL makes them.
#pragma once
#include <ninodes/base.h>

#define NINO_PALETTE_MAX 256

typedef struct nino_palette {
    int n;
    uint8_t rgb[NINO_PALETTE_MAX][3];
} nino_palette;

// The n (1 to 256) colours of n_pixels > 0 pixels by median cut; fewer where there are fewer.
nino_status nino_palette_make(const uint8_t (*rgb)[3], size_t n_pixels, int n, nino_palette *out,
                              nino_error *err);
// Replaces the pixels of a picture by colours of the palette; diffuse: what each is wrong by goes
// to its neighbours (Floyd-Steinberg).
nino_status nino_palette_draw(const nino_palette *p, uint8_t (*rgb)[3], int64_t height,
                              int64_t width, bool diffuse, nino_error *err);
// The ordered dither that ComfyUI adds before it draws without diffusion: a Bayer matrix of
// 2^order x 2^order thresholds, spread over twice the distance of the palette's levels.
void nino_palette_bayer(const nino_palette *p, uint8_t (*rgb)[3], int64_t height, int64_t width,
                        int order);
