// Internal: PNG in and out with text chunks. Limits: 256 text chunks, 16 MiB each, 16384 x 16384
// pixels to decode.
#pragma once
#include "core/base/buf.h"
#include "core/format/weights.h"

typedef struct nino_png_text {
    char *key, *value; // malloc'd, NUL-terminated UTF-8
    size_t value_len;
} nino_png_text;

typedef struct nino_png {
    int width, height;
    int channels;  // 1, 2, 3 or 4 as stored (palette expanded)
    int bit_depth; // 8 or 16
    nino_array
        *pixels; // f32 [1,H,W,channels], value/255 or /65535; NULL when only metadata was asked for
    nino_png_text *texts;
    int n_texts;
} nino_png;

// Reads from memory; with_pixels false reads tEXt/zTXt/iTXt only and never decodes pixels.
nino_status nino_png_read(const void *data, size_t len, const char *name, bool with_pixels,
                          nino_png *out, nino_error *err);
void nino_png_release(nino_png *p);
const char *nino_png_text_get(const nino_png *p, const char *key);

// Encodes rgb [H,W,3] or rgba [H,W,4], u8 (or u16 host order when bits is 16), zlib level 4 as
// ComfyUI's SaveImage, text chunks before IDAT: tEXt when the value is latin-1/ASCII, else iTXt.
nino_status nino_png_encode(nino_buf *out, const void *pixels, int width, int height, int channels,
                            int bits, const nino_meta *texts, int n_texts, nino_error *err);

// clip(255 * x, 0, 255) truncated, as ComfyUI's SaveImage does (NaN -> 0). n values.
void nino_to_u8_truncated(uint8_t *dst, const float *src, size_t n);
