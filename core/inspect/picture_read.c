// The public face of the picture readers: any kind of file to 8-bit RGBA.
#include <ninodes/picture.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/media/frame_list.h"
#include "core/media/image.h"
#include "core/file/latent_file.h"
#include "core/media/video.h"
#include "core/sample/latent_picture.h"

#define MAX_FILE ((size_t) 1 << 30)

static uint8_t picture_read_to_byte(float v)
{
    return (uint8_t) (v <= 0 ? 0 : v >= 1 ? 255 : v * 255 + 0.5F);
}

// Grey, grey and alpha, rgb or rgba to rgba.
static void picture_read_convert(const float *src, int channels, size_t n, uint8_t *dst)
{
    const int has_alpha = channels == 2 || channels == 4, is_grey = channels < 3;
    for (size_t i = 0; i < n; i++, src += channels, dst += 4) {
        dst[0] = picture_read_to_byte(src[0]);
        dst[1] = is_grey ? dst[0] : picture_read_to_byte(src[1]);
        dst[2] = is_grey ? dst[0] : picture_read_to_byte(src[2]);
        dst[3] = has_alpha ? picture_read_to_byte(src[channels - 1]) : 255;
    }
}

// ---- what moves --------------------------------------------------------------------------------

typedef struct collected {
    const char *name;
    nino_picture p;
    int cap, max;   // frames; max 0: as many as fit
    double seconds; // of those that say it
    int n_timed;
} collected;

static nino_status picture_read_make_room(collected *c, const nino_frame *f, nino_error *err)
{
    const size_t bytes = (size_t) f->width * (size_t) f->height * 4;
    if (c->p.frames < c->cap)
        return NINO_OK;
    const int cap = c->max == 1 ? 1 : c->cap ? c->cap + c->cap / 2 + 1 : 16;
    uint8_t *p = realloc(c->p.rgba, (size_t) cap * bytes);
    if (!p)
        return nino_fail(err, NINO_ERR_NOMEM, c->name, "out of memory for %d frames", cap);
    c->p.rgba = p;
    c->cap = cap;
    return NINO_OK;
}

static nino_status picture_read_collect(void *priv, const nino_frame *f, bool *stop,
                                        nino_error *err)
{
    collected *c = priv;
    const size_t n = (size_t) f->width * (size_t) f->height;
    if (c->p.frames && (f->width != c->p.width || f->height != c->p.height))
        return nino_fail_kind(err, NINO_ERR_FORMAT, "schema", c->name,
                              "the size of its frames changes");
    if (c->p.frames && ((uint64_t) c->p.frames + 1) * n > NINO_IMAGE_MAX_PIXELS) {
        c->p.is_cut = *stop = true;
        return NINO_OK;
    }
    const nino_status st = picture_read_make_room(c, f, err);
    if (st)
        return st;
    c->p.width = f->width;
    c->p.height = f->height;
    uint8_t *dst = c->p.rgba + (size_t) c->p.frames++ * n * 4;
    const uint8_t *src = f->pixels;
    for (size_t i = 0; i < n; i++, dst += 4, src += f->channels) {
        memcpy(dst, src, 3);
        dst[3] = f->channels == 4 ? src[3] : 255;
    }
    c->seconds += f->seconds;
    c->n_timed += f->seconds > 0;
    if (c->max && c->p.frames >= c->max)
        c->p.is_cut = *stop = true;
    return NINO_OK;
}

static nino_status load_moving(collected *c, const char *path, const char *data, size_t len,
                               nino_error *err)
{
    nino_status st;
    if (data) {
        const bool is_png = nino_apng_is(data, len);
        c->p.format = is_png ? "apng" : "webp";
        st = is_png ? nino_apng_frames(data, len, path, picture_read_collect, c, err)
                    : nino_webp_frames(data, len, path, picture_read_collect, c, err);
    } else {
        const int fd = open(path, O_RDONLY | O_CLOEXEC);
        c->p.format = "video";
        st = fd < 0 ? nino_fail(err, NINO_ERR_IO, path, "cannot read: %s", strerror(errno))
                    : nino_video_frames(fd, path, picture_read_collect, c, err);
        if (fd >= 0)
            close(fd);
    }
    if (!st && c->seconds > 0)
        c->p.fps = c->n_timed / c->seconds;
    return st;
}

// Of the first bytes of a file, what needs no reading as a whole: videos, and safetensors files.
typedef struct head {
    bool is_video, is_tensors;
} head;

static head head_of(const char *path)
{
    char bytes[64];
    FILE *f = fopen(path, "rbe");
    const size_t n = f ? fread(bytes, 1, sizeof(bytes), f) : 0;
    if (f)
        fclose(f);
    const bool has_header = n > 9 && bytes[8] == '{' && !bytes[6] && !bytes[7]; // behind its length
    return (head){ nino_video_is(bytes, n), has_header };
}

static nino_status load_latent(const char *path, int max_frames, nino_picture *out, nino_error *err)
{
    nino_error why = { 0 };
    nino_array *samples = NULL;
    nino_weights *w = nino_weights_open(path, &why);
    nino_status st = w ? nino_latent_load(w, &samples, &why) : why.code;
    if (!st)
        st = nino_latent_picture(samples, path, max_frames, out, &why);
    nino_array_unref(&samples);
    nino_weights_unref(&w);
    if (st && err)
        *err = why;
    return st;
}

// ---- all of them -------------------------------------------------------------------------------

static nino_status load_still(const char *path, const char *data, size_t len, nino_picture *out,
                              nino_error *err)
{
    nino_image image = { 0 };
    if (!nino_image_is(data, len))
        return nino_fail_kind(err, NINO_ERR_FORMAT, "magic", path,
                              "not a PNG, JPEG or WebP picture, nor a video");
    nino_status st = nino_image_read(data, len, path, true, &image, err);
    if (st)
        return st;
    const size_t n = (size_t) image.width * (size_t) image.height * (size_t) image.frames;
    uint8_t *rgba = malloc(n * 4); // n <= NINO_IMAGE_MAX_PIXELS
    if (rgba) {
        picture_read_convert(nino_array_f32(image.pixels), image.channels, n, rgba);
        *out = (nino_picture){ .format = image.format,
                               .width = image.width,
                               .height = image.height,
                               .frames = image.frames,
                               .rgba = rgba };
    } else {
        st = nino_fail(err, NINO_ERR_NOMEM, path, "out of memory for %zu pixels", n);
    }
    nino_image_release(&image);
    return st;
}

nino_status nino_picture_load_frames(const char *path, int max_frames, nino_picture *out,
                                     nino_error *err)
{
    collected c = { .name = path, .max = max_frames };
    char *data = NULL;
    size_t len = 0;
    nino_status st = NINO_OK;
    const head h = head_of(path);
    if (h.is_tensors)
        return load_latent(path, max_frames, out, err);
    if (!h.is_video && (st = nino_file_read(path, MAX_FILE, false, &data, &len, err)))
        return st;
    if (h.is_video || nino_apng_is(data, len) || nino_webp_is_moving(data, len)) {
        st = load_moving(&c, path, data, len, err);
        if (st)
            nino_picture_release(&c.p);
        else
            *out = c.p;
    } else {
        st = load_still(path, data, len, out, err);
    }
    free(data);
    return st;
}

nino_status nino_picture_load(const char *path, nino_picture *out, nino_error *err)
{
    return nino_picture_load_frames(path, 0, out, err);
}
