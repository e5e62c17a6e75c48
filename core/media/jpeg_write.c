// JPEG out, by libjpeg: small pictures for those who only look at them.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>
#include <jerror.h>

#include "core/base/error.h"
#include "core/media/image.h"

typedef struct writer {
    struct jpeg_error_mgr base; // first: libjpeg hands this back
    jmp_buf jump;
    unsigned char *data; // grows as libjpeg likes
    unsigned long len;
} writer;

static void on_write_error(j_common_ptr c) { longjmp(((writer *) c->err)->jump, 1); }
static void on_write_message(j_common_ptr c, int level)
{
    (void) c;
    (void) level;
}

static void jpeg_write_rows(struct jpeg_compress_struct *c, writer *w, const uint8_t *rgb,
                            int width, int height, int quality)
{
    jpeg_create_compress(c);
    jpeg_mem_dest(c, &w->data, &w->len);
    c->image_width = (JDIMENSION) width;
    c->image_height = (JDIMENSION) height;
    c->input_components = 3;
    c->in_color_space = JCS_RGB;
    jpeg_set_defaults(c);
    jpeg_set_quality(c, quality, TRUE);
    jpeg_start_compress(c, TRUE);
    for (const size_t row = (size_t) width * 3; c->next_scanline < c->image_height;) {
        JSAMPROW at = (JSAMPROW) (uintptr_t) (rgb + c->next_scanline * row); // it only reads
        jpeg_write_scanlines(c, &at, 1);
    }
    jpeg_finish_compress(c);
}

static bool jpeg_write(struct jpeg_compress_struct *c, writer *w, const uint8_t *rgb, int width,
                       int height, int quality)
{
    if (setjmp(w->jump))
        return false;
    jpeg_write_rows(c, w, rgb, width, height, quality);
    return true;
}

nino_status nino_jpeg_encode(nino_buf *out, const uint8_t *rgb, int width, int height, int quality,
                             nino_error *err)
{
    struct jpeg_compress_struct c = { 0 };
    writer w = { .len = 0 };
    c.err = jpeg_std_error(&w.base);
    w.base.error_exit = on_write_error;
    w.base.emit_message = on_write_message;
    nino_status st = NINO_OK;
    if (!jpeg_write(&c, &w, rgb, width, height, quality)) {
        char text[JMSG_LENGTH_MAX];
        w.base.format_message((j_common_ptr) &c, text);
        st = nino_fail(err, w.base.msg_code == JERR_OUT_OF_MEMORY ? NINO_ERR_NOMEM : NINO_ERR_ARG,
                       "jpeg", "cannot write the picture: %s", text);
    }
    jpeg_destroy_compress(&c);
    if (!st)
        nino_buf_add(out, w.data, w.len);
    if (!st && out->failed)
        st = nino_fail(err, NINO_ERR_NOMEM, "jpeg", "out of memory");
    free(w.data);
    return st;
}
