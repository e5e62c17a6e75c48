// Animated PNG out: every frame is compressed by libpng and its data moved into the chunks of the
// APNG specification (www.w3.org/TR/png-3). ComfyUI's SaveAnimatedPNG keeps the workflow in private
// `comf` chunks after the first picture.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "core/base/bytes.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/media/png.h"
#include "core/media/video_priv.h"

#define SIGNATURE 8

typedef struct apng {
    nino_buf frame, chunk;
    nino_buf comf; // whole chunks, for after the first picture
    uint32_t sequence;
    off_t actl; // where the number of frames stands
} apng;

static void put32(nino_buf *b, uint32_t v)
{
    const char p[] = { (char) (v >> 24), (char) (v >> 16), (char) (v >> 8), (char) v };
    nino_buf_add(b, p, 4);
}

static void put16(nino_buf *b, unsigned v)
{
    const char p[] = { (char) (v >> 8), (char) v };
    nino_buf_add(b, p, 2);
}

void nino_png_put_chunk(nino_buf *out, const char *type, const void *data, size_t len)
{
    uLong crc = crc32(0, (const Bytef *) type, 4);
    if (len)
        crc = crc32(crc, data, (uInt) len);
    put32(out, (uint32_t) len);
    nino_buf_add(out, type, 4);
    nino_buf_add(out, data, len);
    put32(out, (uint32_t) crc);
}

static nino_status video_apng_no_memory(nino_error *err)
{
    return nino_fail(err, NINO_ERR_NOMEM, "APNG", "out of memory");
}

static nino_status write_chunk(nino_video *v, const char *type, const nino_buf *body,
                               nino_error *err)
{
    nino_buf b = { 0 };
    nino_png_put_chunk(&b, type, body->data, body->len);
    const nino_status st = b.failed || body->failed
                               ? video_apng_no_memory(err)
                               : nino_file_writer_write(v->file, b.data, b.len, err);
    nino_buf_release(&b);
    return st;
}

// ASCII with \u escapes is what ComfyUI's json.dumps gives; other characters stay UTF-8.
static nino_status video_apng_start(nino_video *v, nino_error *err)
{
    apng *a = v->state = calloc(1, sizeof(*a));
    if (!a)
        return video_apng_no_memory(err);
    for (int i = 0; i < v->p.n_texts; i++) {
        nino_buf body = { 0 };
        nino_buf_add(&body, v->p.texts[i].key, strlen(v->p.texts[i].key) + 1);
        nino_buf_add(&body, v->p.texts[i].value, v->p.texts[i].value_len);
        nino_png_put_chunk(&a->comf, "comf", body.data, body.len);
        a->comf.failed |= body.failed;
        nino_buf_release(&body);
    }
    return a->comf.failed ? video_apng_no_memory(err) : NINO_OK;
}

// The whole frame replaces the one before, for 1/fps seconds.
static nino_status video_apng_write_control(nino_video *v, nino_error *err)
{
    apng *a = v->state;
    const unsigned ms = (unsigned) lround(1000 / v->p.fps);
    nino_buf *b = &a->chunk;
    nino_buf_clear(b);
    put32(b, a->sequence++);
    put32(b, (uint32_t) v->p.width);
    put32(b, (uint32_t) v->p.height);
    put32(b, 0);
    put32(b, 0);
    put16(b, ms < 1 ? 1 : ms > 65535 ? 65535 : ms);
    put16(b, 1000);
    put16(b, 0);
    return write_chunk(v, "fcTL", b, err);
}

static nino_status write_count(nino_video *v, uint32_t frames, nino_error *err)
{
    apng *a = v->state;
    nino_buf_clear(&a->chunk);
    put32(&a->chunk, frames);
    put32(&a->chunk, 0); // for ever
    return write_chunk(v, "acTL", &a->chunk, err);
}

// Walks the chunks of the PNG in a->frame; of later frames only the picture's data is used.
static nino_status write_frame(nino_video *v, nino_error *err)
{
    apng *a = v->state;
    nino_status st = NINO_OK;
    const char *p = a->frame.data;
    if (!v->n)
        st = nino_file_writer_write(v->file, p, SIGNATURE, err);
    for (size_t at = SIGNATURE; !st && at + 12 <= a->frame.len; at += nino_be32(p + at) + 12) {
        const size_t n = nino_be32(p + at);
        const bool is_data = !memcmp(p + at + 4, "IDAT", 4);
        if (!v->n && !memcmp(p + at + 4, "IHDR", 4)) {
            st = nino_file_writer_write(v->file, p + at, n + 12, err);
            a->actl = lseek(nino_file_writer_fd(v->file), 0, SEEK_CUR);
            if (!st && !(st = write_count(v, 1, err)))
                st = video_apng_write_control(v, err);
        } else if (is_data && !v->n) {
            st = nino_file_writer_write(v->file, p + at, n + 12, err);
        } else if (is_data) {
            nino_buf_clear(&a->chunk);
            put32(&a->chunk, a->sequence++);
            nino_buf_add(&a->chunk, p + at + 8, n);
            st = write_chunk(v, "fdAT", &a->chunk, err);
        }
    }
    if (!st && !v->n && a->comf.len)
        st = nino_file_writer_write(v->file, a->comf.data, a->comf.len, err);
    return st;
}

static nino_status video_apng_add(nino_video *v, const uint8_t *rgb, nino_error *err)
{
    apng *a = v->state;
    nino_buf_clear(&a->frame);
    nino_status st = nino_png_encode_level(&a->frame, rgb, v->p.width, v->p.height, 3, 8, NULL, 0,
                                           v->p.level, err);
    if (!st && v->n)
        st = video_apng_write_control(v, err);
    return st ? st : write_frame(v, err);
}

static nino_status video_apng_finish(nino_video *v, nino_error *err)
{
    const apng *a = v->state;
    const int fd = nino_file_writer_fd(v->file);
    const nino_buf none = { 0 };
    nino_status st = write_chunk(v, "IEND", &none, err);
    if (!st && lseek(fd, a->actl, SEEK_SET) < 0)
        st = nino_fail(err, NINO_ERR_IO, "APNG", "cannot write: %s", strerror(errno));
    return st ? st : write_count(v, (uint32_t) v->n, err);
}

static void video_apng_destroy(nino_video *v)
{
    apng *a = v->state;
    if (!a)
        return;
    nino_buf_release(&a->frame);
    nino_buf_release(&a->chunk);
    nino_buf_release(&a->comf);
    free(a);
}

const nino_video_ops nino_video_apng_ops = { video_apng_start, video_apng_add, video_apng_finish,
                                             video_apng_destroy };
