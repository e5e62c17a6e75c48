// Internal: PNG in and out with text chunks. Limits: 16384 x 16384 pixels to decode.
#pragma once
#include "core/base/buf.h"
#include "core/media/texts.h"
#include "core/file/weights.h"

typedef struct nino_png {
    int width, height;
    int channels;        // 1, 2, 3 or 4 (palette expanded, colour key as alpha)
    int bit_depth;       // 8 or 16
    int orientation;     // of EXIF, 1 to 8
    bool is_palette;     // was
    bool has_colour_key; // the alpha is only made of one colour that is transparent
    nino_array
        *pixels; // f32 [1,H,W,channels], value/255 or /65535; NULL when only metadata was asked for
    nino_texts texts;
} nino_png;

// Reads from memory; with_pixels false reads tEXt/zTXt/iTXt and comf only and never decodes pixels.
nino_status nino_png_read(const void *data, size_t len, const char *name, bool with_pixels,
                          nino_png *out, nino_error *err);
void nino_png_release(nino_png *p);
const char *nino_png_text_get(const nino_png *p, const char *key);

// Encodes rgb [H,W,3] or rgba [H,W,4], u8 (or u16 host order when bits is 16), zlib level 4 as
// ComfyUI's SaveImage, text chunks before IDAT: tEXt when the value is latin-1/ASCII, else iTXt.
nino_status nino_png_encode(nino_buf *out, const void *pixels, int width, int height, int channels,
                            int bits, const nino_meta *texts, int n_texts, nino_error *err);
// The same at another level of zlib, 0 to 9.
nino_status nino_png_encode_level(nino_buf *out, const void *pixels, int width, int height,
                                  int channels, int bits, const nino_meta *texts, int n_texts,
                                  int level, nino_error *err);

// Appends a chunk with its length and checksum; type: 4 letters.
void nino_png_put_chunk(nino_buf *out, const char *type, const void *data, size_t len);

// clip(255 * x, 0, 255) truncated, as ComfyUI's SaveImage does (NaN -> 0). n values.
void nino_to_u8_truncated(uint8_t *dst, const float *src, size_t n);
