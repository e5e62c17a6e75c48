// The public face of the picture readers: any kind of file to 8-bit RGBA.
#include <ninodes/picture.h>

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/format/image.h"

#define MAX_FILE ((size_t) 1 << 30)

static uint8_t to_byte(float v) { return (uint8_t) (v <= 0 ? 0 : v >= 1 ? 255 : v * 255 + 0.5F); }

// Grey, grey and alpha, rgb or rgba to rgba.
static void convert(const float *src, int channels, size_t n, uint8_t *dst)
{
    const int has_alpha = channels == 2 || channels == 4, is_grey = channels < 3;
    for (size_t i = 0; i < n; i++, src += channels, dst += 4) {
        dst[0] = to_byte(src[0]);
        dst[1] = is_grey ? dst[0] : to_byte(src[1]);
        dst[2] = is_grey ? dst[0] : to_byte(src[2]);
        dst[3] = has_alpha ? to_byte(src[channels - 1]) : 255;
    }
}

nino_status nino_picture_load(const char *path, nino_picture *out, nino_error *err)
{
    char *data = NULL;
    size_t len = 0;
    nino_image image = { 0 };
    nino_status st = nino_file_read(path, MAX_FILE, false, &data, &len, err);
    if (st)
        goto end;
    if (!nino_image_is(data, len)) {
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "magic", path, "not a PNG, JPEG or WebP picture");
        goto end;
    }
    if ((st = nino_image_read(data, len, path, true, &image, err)))
        goto end;
    const size_t n = (size_t) image.width * (size_t) image.height * (size_t) image.frames;
    uint8_t *rgba = malloc(n * 4); // n <= NINO_IMAGE_MAX_PIXELS
    if (!rgba) {
        st = nino_fail(err, NINO_ERR_NOMEM, path, "out of memory for %zu pixels", n);
        goto end;
    }
    convert(nino_array_f32(image.pixels), image.channels, n, rgba);
    *out = (nino_picture){ .format = image.format,
                           .width = image.width,
                           .height = image.height,
                           .frames = image.frames,
                           .rgba = rgba };
end:
    nino_image_release(&image);
    free(data);
    return st;
}

void nino_picture_release(nino_picture *p)
{
    if (!p)
        return;
    free(p->rgba);
    memset(p, 0, sizeof(*p));
}
