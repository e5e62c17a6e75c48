// JPEG in: markers by a walk of our own, pixels by libjpeg. Layout: ITU-T T.81, annex B; Exif 2.32.
// Colours as Pillow makes them: grey stays grey, CMYK becomes RGB by (255 - C) * (255 - K) / 255.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#include "core/base/error.h"
#include "core/media/exif.h"
#include "core/media/image.h"

#define REFUSE(kind, ...) nino_fail_kind(err, NINO_ERR_FORMAT, kind, name, __VA_ARGS__)
#define MAX_SCANS 500 // a progressive file of many tiny ones takes forever

// ---- markers ---------------------------------------------------------------------------------

static bool is_frame(int marker) // SOF0..15 without DHT, JPG, DAC
{
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

// Sizes and EXIF. Ends at the pixels.
static nino_status jpeg_walk(const unsigned char *p, size_t len, const char *name, nino_image *out,
                             int *orientation, nino_error *texts_err, nino_error *err)
{
    nino_status texts = NINO_OK;
    for (size_t at = 2;;) {
        while (at + 1 < len && p[at] == 0xff && p[at + 1] == 0xff) // fill bytes
            at++;
        if (len - at < 4)
            return REFUSE("truncated", "the file ends before its pixels");
        const int marker = p[at + 1];
        const size_t n = (size_t) p[at + 2] << 8 | p[at + 3];
        const unsigned char *body = p + at + 4;
        if (p[at] != 0xff || n < 2)
            return REFUSE("syntax", "a marker is damaged");
        if (n > len - at - 2)
            return REFUSE("truncated", "the file ends inside a marker");
        if (is_frame(marker) && n >= 8) {
            out->height = body[1] << 8 | body[2];
            out->width = body[3] << 8 | body[4];
            out->channels = body[5] == 1 ? 1 : 3;
        }
        if (marker == 0xe1 && n >= 8 && !memcmp(body, "Exif\0\0", 6) && !texts)
            texts = nino_exif_read(body, n - 2, name, &out->texts, orientation, texts_err);
        if (marker == 0xda)
            break;
        at += 2 + n;
    }
    if (out->width < 1 || out->height < 1)
        return REFUSE("syntax", "the file does not say how large it is");
    return texts;
}

// ---- pixels ----------------------------------------------------------------------------------

typedef struct reader {
    struct jpeg_error_mgr base; // first: libjpeg hands this back
    struct jpeg_progress_mgr progress;
    jmp_buf jump;
    const char *name;
    nino_error *err;
    nino_status st;
    unsigned char *row;
} reader;

static void jpeg_fail(j_common_ptr c, const char *kind, const char *text)
{
    reader *r = (reader *) c->err;
    r->st = nino_fail_kind(r->err, NINO_ERR_FORMAT, kind, r->name, "%s", text);
    longjmp(r->jump, 1);
}

static void on_jpeg_error(j_common_ptr c)
{
    char text[JMSG_LENGTH_MAX];
    reader *r = (reader *) c->err;
    if (c->err->msg_code == JERR_OUT_OF_MEMORY) {
        r->st = nino_fail(r->err, NINO_ERR_NOMEM, r->name, "out of memory");
        longjmp(r->jump, 1);
    }
    c->err->format_message(c, text);
    jpeg_fail(c, c->err->msg_code == JERR_INPUT_EOF ? "truncated" : "syntax", text);
}

// libjpeg goes on with grey where data is missing or damaged; here that is an error. Only notes
// (level 0 and up), and the bytes between markers that some cameras leave, are let pass.
static void on_jpeg_message(j_common_ptr c, int level)
{
    const int code = c->err->msg_code;
    if (level >= 0 || code == JWRN_EXTRANEOUS_DATA || code == JWRN_JFIF_MAJOR ||
        code == JWRN_ADOBE_XFORM)
        return;
    char text[JMSG_LENGTH_MAX];
    c->err->format_message(c, text);
    jpeg_fail(c, code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER ? "truncated" : "syntax", text);
}

static void on_print(j_common_ptr c) { (void) c; }

static void on_progress(j_common_ptr c)
{
    if (((j_decompress_ptr) c)->input_scan_number > MAX_SCANS)
        jpeg_fail(c, "bomb", "more than 500 scans");
}

static void jpeg_widen(float *to, const unsigned char *p, int width, int components)
{
    for (int x = 0; x < width * components && components != 4; x++)
        to[x] = (float) p[x] / 255.0f;
    for (int x = 0; x < width && components == 4; x++, p += 4, to += 3)
        for (int k = 0; k < 3; k++) { // inks the other way round, as Adobe stores them
            const unsigned t = (255u - p[k]) * p[3] + 128;
            to[k] = (float) (p[3] - ((t + (t >> 8)) >> 8)) / 255.0f;
        }
}

// libjpeg jumps back here when it fails; what is allocated hangs on r, d and out.
static nino_status jpeg_decode(struct jpeg_decompress_struct *d, reader *r, const void *data,
                               size_t len, nino_image *out)
{
    if (setjmp(r->jump))
        return r->st;
    jpeg_mem_src(d, data, len);
    jpeg_read_header(d, TRUE);
    const bool is_cmyk = d->jpeg_color_space == JCS_CMYK || d->jpeg_color_space == JCS_YCCK;
    d->out_color_space = is_cmyk                                ? JCS_CMYK
                         : d->jpeg_color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE
                                                                : JCS_RGB;
    jpeg_start_decompress(d);
    out->width = (int) d->output_width;
    out->height = (int) d->output_height;
    out->channels = d->output_components == 1 ? 1 : 3;
    r->st = nino_image_alloc(out, r->name, r->err);
    r->row = r->st ? NULL : malloc((size_t) out->width * (size_t) d->output_components);
    if (!r->row)
        return r->st ? r->st : nino_fail(r->err, NINO_ERR_NOMEM, r->name, "out of memory");
    float *to = nino_array_f32(out->pixels);
    const size_t step = (size_t) out->width * (size_t) out->channels;
    for (; d->output_scanline < d->output_height; to += step) {
        jpeg_read_scanlines(d, &r->row, 1);
        jpeg_widen(to, r->row, out->width, d->output_components);
    }
    jpeg_finish_decompress(d);
    return NINO_OK;
}

static nino_status jpeg_read_pixels(const void *data, size_t len, const char *name, nino_image *out,
                                    nino_error *err)
{
    struct jpeg_decompress_struct d = { 0 };
    reader r = { .name = name, .err = err };
    if (out->width > NINO_IMAGE_MAX_SIDE || out->height > NINO_IMAGE_MAX_SIDE)
        return REFUSE("limit", "%d x %d pixels, at most %d x %d are decoded", out->width,
                      out->height, NINO_IMAGE_MAX_SIDE, NINO_IMAGE_MAX_SIDE);
    d.err = jpeg_std_error(&r.base);
    r.base.error_exit = on_jpeg_error;
    r.base.emit_message = on_jpeg_message;
    r.base.output_message = on_print;
    r.progress.progress_monitor = on_progress;
    if (setjmp(r.jump)) {
        jpeg_destroy_decompress(&d);
        return r.st;
    }
    jpeg_create_decompress(&d);
    d.progress = &r.progress;
    const nino_status st = jpeg_decode(&d, &r, data, len, out);
    jpeg_destroy_decompress(&d);
    free(r.row);
    return st;
}

nino_status nino_jpeg_read(const void *data, size_t len, const char *name, bool with_pixels,
                           nino_image *out, int *orientation, nino_error *err)
{
    nino_error texts = { 0 };
    out->format = "jpeg";
    nino_status st = jpeg_walk(data, len, name, out, orientation, &texts, err);
    if (st && texts.code) { // the texts, not the picture
        const bool is_lost = !with_pixels || st == NINO_ERR_NOMEM;
        if (is_lost && err)
            *err = texts;
        st = is_lost ? st : NINO_OK;
    }
    return st || !with_pixels ? st : jpeg_read_pixels(data, len, name, out, err);
}
