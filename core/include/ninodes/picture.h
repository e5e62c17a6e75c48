// Pictures for showing: the pixels of a PNG, JPEG or WebP file, every frame of an animated WebP.
//
// Thread-safety: a picture is plain data; nino_picture_load() may run on any thread.
#pragma once
#include <ninodes/base.h>

NINO_BEGIN

typedef struct nino_picture {
    const char *format; // "png", "jpeg", "webp"
    int width, height;  // upright, as shown
    int frames;         // 1 unless animated
    uint8_t *rgba;      // [frames, height, width, 4], alpha not premultiplied
} nino_picture;

// Reads a file. Errors: NINO_ERR_IO, NINO_ERR_FORMAT (not a picture, damaged or beyond 16384 pixels
// a side or 2^28 in all), NINO_ERR_NOMEM.
NINO_API nino_status nino_picture_load(const char *path, nino_picture *out, nino_error *err);
NINO_API void nino_picture_release(nino_picture *p); // NULL-safe, p is empty afterwards

NINO_END
