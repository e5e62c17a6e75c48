// ninodes thumbnail: a small PNG of a workflow, a latent, a picture or a video, for file managers.
#include "commands.h"
#include "thumbnail/thumbnail.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 256, MAX_SIDE = 2048 };

void thumbnail_release(thumbnail *t)
{
    free(t->rgba);
    *t = (thumbnail){ 0 };
}

// out becomes rgba, [height][width][4], made so large that its longer side is `side`: pixels are
// averaged, or repeated where there are fewer.
static bool fit(const uint8_t *rgba, int width, int height, int side, thumbnail *out)
{
    const int longer = width > height ? width : height;
    if (longer < 1)
        return false;
    out->width = (int) ((int64_t) width * side / longer);
    out->height = (int) ((int64_t) height * side / longer);
    out->width += !out->width;
    out->height += !out->height;
    if (!(out->rgba = malloc((size_t) out->width * (size_t) out->height * 4)))
        return false;
    uint8_t *to = out->rgba;
    for (int y = 0; y < out->height; y++)
        for (int x = 0; x < out->width; x++, to += 4) {
            const int64_t x0 = (int64_t) x * width / out->width;
            const int64_t x1 = (int64_t) (x + 1) * width / out->width;
            const int64_t y0 = (int64_t) y * height / out->height;
            const int64_t y1 = (int64_t) (y + 1) * height / out->height;
            uint64_t sum[3] = { 0 }, alpha = 0, n = 0; // what is not seen has no colour
            for (int64_t v = y0; v < y1 || v == y0; v++)
                for (int64_t u = x0; u < x1 || u == x0; u++, n++) {
                    const uint8_t *p = rgba + ((size_t) v * (size_t) width + (size_t) u) * 4;
                    for (int k = 0; k < 3; k++)
                        sum[k] += (uint64_t) p[k] * p[3];
                    alpha += p[3];
                }
            for (int k = 0; k < 3; k++)
                to[k] = (uint8_t) (alpha ? (sum[k] + alpha / 2) / alpha : 0);
            to[3] = (uint8_t) ((alpha + n / 2) / n);
        }
    return true;
}

static int save(const char *path, const thumbnail *t)
{
    png_image image = { .version = PNG_IMAGE_VERSION,
                        .width = (png_uint_32) t->width,
                        .height = (png_uint_32) t->height,
                        .format = PNG_FORMAT_RGBA };
    png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
    void *data = malloc(bytes);
    nino_error err;
    int rc = EXIT_OK;
    if (!data || !png_image_write_to_memory(&image, data, &bytes, 0, t->rgba, 0, NULL)) {
        say("thumbnail: out of memory");
        rc = EXIT_NOMEM;
    } else if (nino_place_save(path, data, bytes, &err)) {
        say("thumbnail: %s: %s", path, err.msg);
        rc = (int) exit_for(err.code);
    }
    free(data);
    return rc;
}

static bool is_json(const char *path)
{
    const size_t n = strlen(path);
    return n > 5 && !strcmp(path + n - 5, ".json");
}

int cmd_thumbnail(const options *o)
{
    const char *from = o->arg[0];
    const int side = o->side ? (int) (o->side > MAX_SIDE ? MAX_SIDE : o->side) : SIDE;
    nino_error err = { .code = NINO_OK };
    nino_picture picture = { 0 };
    thumbnail large = { 0 }, small = { 0 };
    nino_status st;
    if (is_json(from)) { // drawn twice as large, so that averaging smooths its edges
        nino_document *d = nino_document_load_file(from, &err);
        st = d ? thumbnail_sketch(d, 2 * side, &large, &err) : err.code;
        nino_document_destroy(&d);
    } else {
        st = nino_picture_load_frames(from, 1, &picture, &err);
    }
    int rc;
    if (st) {
        rc = report_error(o, "thumbnail", &err, NULL);
        if (err.code == NINO_ERR_FORMAT && is_json(from))
            rc = EXIT_WORKFLOW;
    } else if (!fit(large.rgba ? large.rgba : picture.rgba,
                    large.rgba ? large.width : picture.width,
                    large.rgba ? large.height : picture.height, side, &small)) {
        say("thumbnail: out of memory");
        rc = EXIT_NOMEM;
    } else {
        rc = save(o->arg[1], &small);
    }
    thumbnail_release(&large);
    thumbnail_release(&small);
    nino_picture_release(&picture);
    return rc;
}
