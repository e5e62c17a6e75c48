// Pictures of any kind, turned the right way up.
#include "core/media/image.h"

#include <inttypes.h>
#include <ninodes/picture.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/media/png.h"

#define REFUSE(kind, ...) nino_fail_kind(err, NINO_ERR_FORMAT, kind, name, __VA_ARGS__)

typedef enum format { UNKNOWN, PNG, JPEG, WEBP } format;

static format sniff(const void *data, size_t len)
{
    if (len >= 8 && !memcmp(data, "\x89PNG\r\n\x1a\n", 8))
        return PNG;
    if (len >= 3 && !memcmp(data, "\xff\xd8\xff", 3))
        return JPEG;
    if (len >= 12 && !memcmp(data, "RIFF", 4) && !memcmp((const char *) data + 8, "WEBP", 4))
        return WEBP;
    return UNKNOWN;
}

bool nino_image_is(const void *data, size_t len) { return sniff(data, len) != UNKNOWN; }

nino_status nino_image_alloc(nino_image *out, const char *name, nino_error *err)
{
    const uint64_t n = (uint64_t) out->width * (uint64_t) out->height * (uint64_t) out->frames;
    if (out->width > NINO_IMAGE_MAX_SIDE || out->height > NINO_IMAGE_MAX_SIDE ||
        n > NINO_IMAGE_MAX_PIXELS)
        return REFUSE("limit",
                      "%d x %d pixels in %d frames, at most %d x %d and %" PRIu64
                      " in all are decoded",
                      out->width, out->height, out->frames, NINO_IMAGE_MAX_SIDE,
                      NINO_IMAGE_MAX_SIDE, NINO_IMAGE_MAX_PIXELS);
    out->pixels = nino_array_create(
        NINO_F32, NINO_SHAPE(out->frames, out->height, out->width, out->channels));
    return out->pixels ? NINO_OK
                       : nino_fail(err, NINO_ERR_NOMEM, name, "out of memory for %d x %d pixels",
                                   out->width, out->height);
}

// ---- orientation -----------------------------------------------------------------------------

// Where the picture as shown takes pixel (x, y) from, by EXIF's numbers: 2 mirrored, 3 upside down,
// 4 both, 5 to 8 with rows and columns exchanged.
static size_t source(int orientation, int x, int y, int w, int h)
{
    const bool swap = orientation >= 5;
    int sx = swap ? y : x, sy = swap ? x : y;
    if (orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8)
        sx = w - 1 - sx;
    if (orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7)
        sy = h - 1 - sy;
    return (size_t) sy * (size_t) w + (size_t) sx;
}

static nino_status turn(nino_image *i, int orientation, const char *name, nino_error *err)
{
    const int w = i->width, h = i->height;
    nino_array *from = i->pixels;
    if (orientation >= 5) {
        i->width = h;
        i->height = w;
    }
    if (!from)
        return NINO_OK;
    i->pixels = NULL;
    const nino_status st = nino_image_alloc(i, name, err);
    float *to = st ? NULL : nino_array_f32(i->pixels);
    const size_t n = (size_t) w * (size_t) h, c = (size_t) i->channels;
    for (size_t f = 0; f < (size_t) i->frames && !st; f++) {
        const float *frame = nino_array_f32(from) + f * n * c;
        for (int y = 0; y < i->height; y++)
            for (int x = 0; x < i->width; x++, to += c)
                memcpy(to, frame + c * source(orientation, x, y, w, h), c * sizeof(*to));
    }
    nino_array_unref(&from);
    return st;
}

// ---- reading ---------------------------------------------------------------------------------

static nino_status read_png(const void *data, size_t len, const char *name, bool with_pixels,
                            nino_image *out, int *orientation, nino_error *err)
{
    nino_png p;
    const nino_status st = nino_png_read(data, len, name, with_pixels, &p, err);
    if (st)
        return st;
    *out = (nino_image){ .format = "png",
                         .width = p.width,
                         .height = p.height,
                         .frames = 1,
                         .channels = p.channels,
                         .bit_depth = p.bit_depth,
                         .is_palette = p.is_palette,
                         .has_colour_key = p.has_colour_key,
                         .pixels = p.pixels,
                         .texts = p.texts };
    *orientation = p.orientation;
    return NINO_OK;
}

nino_status nino_image_read(const void *data, size_t len, const char *name, bool with_pixels,
                            nino_image *out, nino_error *err)
{
    int orientation = 1;
    nino_status st = NINO_ERR_FORMAT;
    *out = (nino_image){ .frames = 1, .bit_depth = 8 };
    switch (sniff(data, len)) {
    case PNG: st = read_png(data, len, name, with_pixels, out, &orientation, err); break;
    case JPEG: st = nino_jpeg_read(data, len, name, with_pixels, out, &orientation, err); break;
    case WEBP: st = nino_webp_read(data, len, name, with_pixels, out, &orientation, err); break;
    case UNKNOWN: st = REFUSE("magic", "not a PNG, JPEG or WebP picture"); break;
    }
    if (st == NINO_OK && orientation > 1)
        st = turn(out, orientation, name, err);
    if (st)
        nino_image_release(out);
    return st;
}

void nino_image_release(nino_image *i)
{
    nino_texts_release(&i->texts);
    nino_array_unref(&i->pixels);
    *i = (nino_image){ 0 };
}

void nino_picture_release(nino_picture *p)
{
    if (!p)
        return;
    free(p->rgba);
    memset(p, 0, sizeof(*p));
}
