// Internal: pictures of any kind by their content: PNG, JPEG, WebP. Limits: 16384 x 16384 pixels,
// 2^28 pixels in all frames.
#pragma once
#include "core/base/buf.h"
#include "core/media/texts.h"
#include "core/tensor/tensor.h"

#define NINO_IMAGE_MAX_SIDE 16384
#define NINO_IMAGE_MAX_PIXELS ((uint64_t) 1 << 28)

typedef struct nino_image {
    const char *format;  // "png", "jpeg", "webp"
    int width, height;   // upright, as shown
    int frames;          // of an animated WebP; else 1
    int channels;        // 1 grey, 2 grey and alpha, 3 rgb, 4 rgb and alpha
    int bit_depth;       // 8 or 16
    bool is_palette;     // was
    bool has_colour_key; // the alpha is only made of one colour that is transparent
    nino_array *pixels;  // f32 [frames,H,W,channels], value/255 or /65535; NULL: not asked for
    nino_texts texts;    // "prompt", "workflow", ...
} nino_image;

bool nino_image_is(const void *data, size_t len); // starts like one of them
// Reads from memory; with_pixels false reads sizes and texts only. What EXIF says about the way up
// is done. Damaged texts do not cost the pixels. Kinds: magic, truncated, syntax, limit, bomb, dup.
nino_status nino_image_read(const void *data, size_t len, const char *name, bool with_pixels,
                            nino_image *out, nino_error *err);
void nino_image_release(nino_image *i);

// ---- one format each: format, sizes, texts and orientation, then pixels as they are stored
// -------
nino_status nino_jpeg_read(const void *data, size_t len, const char *name, bool with_pixels,
                           nino_image *out, int *orientation, nino_error *err);
// rgb: rows of width * 3 bytes; quality 1..100.
nino_status nino_jpeg_encode(nino_buf *out, const uint8_t *rgb, int width, int height, int quality,
                             nino_error *err);
nino_status nino_webp_read(const void *data, size_t len, const char *name, bool with_pixels,
                           nino_image *out, int *orientation, nino_error *err);
// Refuses sizes beyond the limits, allocates out->pixels.
nino_status nino_image_alloc(nino_image *out, const char *name, nino_error *err);
