// Animated PNG in: each frame is wrapped as a PNG of its own for the PNG reader, then laid over the
// canvas as the APNG part of the specification says (www.w3.org/TR/png-3, 11.3.7).
#include <stdlib.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/media/frame_list.h"
#include "core/media/png.h"

#define MAX_SIDE 16384
#define REFUSE(kind, ...) nino_fail_kind(err, NINO_ERR_FORMAT, kind, name, __VA_ARGS__)

enum { DISPOSE_NONE, DISPOSE_BACKGROUND, DISPOSE_PREVIOUS };

typedef struct area {
    uint32_t x, y, w, h;
    double seconds;
    uint8_t dispose, is_over;
} area;

typedef struct reader {
    const char *name;
    uint8_t head[13]; // IHDR
    uint32_t width, height;
    nino_buf shared; // PLTE and tRNS as whole chunks
    nino_buf data;   // of the frame that is being read
    area at;
    bool has_area;
    uint8_t *canvas, *saved;
    int n;
    nino_frame_fn fn;
    void *priv;
} reader;

static unsigned be16(const uint8_t *p) { return (unsigned) p[0] << 8 | p[1]; }

static void store32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t) (v >> (24 - 8 * i));
}

static nino_status apng_read_no_memory(const reader *r, nino_error *err)
{
    return nino_fail(err, NINO_ERR_NOMEM, r->name, "out of memory");
}

// The frame as a file.
static nino_status wrap(reader *r, nino_buf *out, nino_error *err)
{
    static const uint8_t signature[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
    uint8_t head[13];
    memcpy(head, r->head, sizeof(head));
    store32(head, r->at.w);
    store32(head + 4, r->at.h);
    nino_buf_add(out, signature, sizeof(signature));
    nino_png_put_chunk(out, "IHDR", head, sizeof(head));
    nino_buf_add(out, r->shared.data, r->shared.len);
    nino_png_put_chunk(out, "IDAT", r->data.data, r->data.len);
    nino_png_put_chunk(out, "IEND", NULL, 0);
    return out->failed || r->data.failed || r->shared.failed ? apng_read_no_memory(r, err)
                                                             : NINO_OK;
}

static uint8_t apng_read_to_byte(float v)
{
    return (uint8_t) (v <= 0 ? 0 : v >= 1 ? 255 : v * 255 + 0.5F);
}

// Over a pixel of the canvas, both with alpha that is not multiplied in.
static void apng_read_blend(uint8_t *dst, const uint8_t *src)
{
    const unsigned a = src[3], b = dst[3], total = 255 * a + b * (255 - a); // of 255 * 255
    if (!total)
        return;
    for (int c = 0; c < 3; c++)
        dst[c] = (uint8_t) ((255 * a * src[c] + b * (255 - a) * dst[c] + total / 2) / total);
    dst[3] = (uint8_t) ((total + 127) / 255);
}

static void lay(reader *r, const nino_png *p)
{
    const float *src = nino_array_f32(p->pixels);
    const int n = p->channels;
    for (uint32_t y = 0; y < r->at.h; y++)
        for (uint32_t x = 0; x < r->at.w; x++, src += n) {
            uint8_t *dst = r->canvas + ((size_t) (r->at.y + y) * r->width + r->at.x + x) * 4;
            const uint8_t px[4] = { apng_read_to_byte(src[0]),
                                    apng_read_to_byte(src[n < 3 ? 0 : 1]),
                                    apng_read_to_byte(src[n < 3 ? 0 : 2]),
                                    n % 2 ? 255 : apng_read_to_byte(src[n - 1]) };
            if (r->at.is_over)
                apng_read_blend(dst, px);
            else
                memcpy(dst, px, 4);
        }
}

static void clear_area(reader *r)
{
    for (uint32_t y = 0; y < r->at.h; y++)
        memset(r->canvas + ((size_t) (r->at.y + y) * r->width + r->at.x) * 4, 0,
               (size_t) r->at.w * 4);
}

// What was read since the last fcTL is shown.
static nino_status finish_frame(reader *r, bool *stop, nino_error *err)
{
    nino_buf file = { 0 };
    nino_png p = { 0 };
    const size_t bytes = (size_t) r->width * r->height * 4;
    if (!r->has_area || !r->data.len)
        return NINO_OK;
    r->has_area = false;
    if (!r->canvas && (!(r->canvas = calloc(1, bytes)) || !(r->saved = malloc(bytes))))
        return apng_read_no_memory(r, err);
    nino_status st = wrap(r, &file, err);
    if (!st)
        st = nino_png_read(file.data, file.len, r->name, true, &p, err);
    if (!st) {
        memcpy(r->saved, r->canvas, bytes);
        lay(r, &p);
        const nino_frame f = { r->canvas, (int) r->width, (int) r->height, 4, r->at.seconds };
        st = r->fn(r->priv, &f, stop, err);
        if (r->at.dispose == DISPOSE_BACKGROUND || (r->at.dispose == DISPOSE_PREVIOUS && !r->n))
            clear_area(r);
        else if (r->at.dispose == DISPOSE_PREVIOUS)
            memcpy(r->canvas, r->saved, bytes);
        r->n++;
    }
    nino_png_release(&p);
    nino_buf_release(&file);
    nino_buf_clear(&r->data);
    return st;
}

static nino_status read_area(reader *r, const uint8_t *p, size_t n, nino_error *err)
{
    const char *name = r->name;
    if (n != 26)
        return REFUSE("syntax", "a frame's head is damaged");
    const unsigned num = be16(p + 20), den = be16(p + 22);
    r->at = (area){ .w = nino_be32(p + 4),
                    .h = nino_be32(p + 8),
                    .x = nino_be32(p + 12),
                    .y = nino_be32(p + 16),
                    .seconds = (double) num / (den ? den : 100),
                    .dispose = p[24],
                    .is_over = p[25] };
    if (!r->at.w || !r->at.h || r->at.w > r->width || r->at.h > r->height ||
        r->at.x > r->width - r->at.w || r->at.y > r->height - r->at.h)
        return REFUSE("range", "a frame lies outside the picture");
    r->has_area = true;
    return NINO_OK;
}

static nino_status take_chunk(reader *r, const uint8_t *type, const uint8_t *p, size_t n,
                              bool *stop, nino_error *err)
{
    nino_status st = NINO_OK;
    if (!memcmp(type, "PLTE", 4) || !memcmp(type, "tRNS", 4)) {
        char word[5] = { (char) type[0], (char) type[1], (char) type[2], (char) type[3] };
        nino_png_put_chunk(&r->shared, word, p, n);
    } else if (!memcmp(type, "fcTL", 4)) {
        st = finish_frame(r, stop, err);
        if (!st && !*stop)
            st = read_area(r, p, n, err);
    } else if (!memcmp(type, "IDAT", 4) && r->has_area) { // else it is for those without animation
        nino_buf_add(&r->data, p, n);
    } else if (!memcmp(type, "fdAT", 4) && r->has_area && n > 4) {
        nino_buf_add(&r->data, p + 4, n - 4);
    } else if (!memcmp(type, "IEND", 4)) {
        st = finish_frame(r, stop, err);
        *stop = true;
    }
    return st;
}

static nino_status apng_read_read_all(reader *r, const uint8_t *data, size_t len, nino_error *err)
{
    const char *name = r->name;
    nino_status st = NINO_OK;
    bool stop = false;
    if (len < 33 || nino_be32(data + 8) != 13 || memcmp(data + 12, "IHDR", 4))
        return REFUSE("syntax", "the first chunk is not IHDR");
    memcpy(r->head, data + 16, sizeof(r->head));
    r->width = nino_be32(r->head);
    r->height = nino_be32(r->head + 4);
    if (!r->width || !r->height || r->width > MAX_SIDE || r->height > MAX_SIDE)
        return REFUSE("limit", "frames of %u x %u pixels are not read", r->width, r->height);
    for (size_t at = 33; !st && !stop;) {
        if (len - at < 12 || nino_be32(data + at) > len - at - 12)
            return REFUSE("truncated", "the file ends inside a chunk");
        const size_t n = nino_be32(data + at);
        st = take_chunk(r, data + at + 4, data + at + 8, n, &stop, err);
        at += n + 12;
    }
    if (!st && !r->n)
        st = REFUSE("syntax", "it has no frames");
    return st;
}

bool nino_apng_is(const void *data, size_t len)
{
    const uint8_t *p = data;
    if (len < 33 || memcmp(p, "\x89PNG\r\n\x1a\n", 8))
        return false;
    for (size_t at = 8; len - at >= 12;) {
        const size_t n = nino_be32(p + at);
        if (!memcmp(p + at + 4, "acTL", 4))
            return true;
        if (!memcmp(p + at + 4, "IDAT", 4) || n > len - at - 12)
            return false;
        at += n + 12;
    }
    return false;
}

nino_timing nino_apng_timing(const void *data, size_t len)
{
    const uint8_t *p = data;
    nino_timing t = { 0 };
    if (!nino_apng_is(data, len))
        return t;
    for (size_t at = 8; len - at >= 12;) {
        const size_t n = nino_be32(p + at);
        if (n > len - at - 12)
            break;
        if (n == 26 && !memcmp(p + at + 4, "fcTL", 4)) { // a fraction; 0: of a hundred
            const uint8_t *d = p + at + 8 + 20;
            const int num = d[0] << 8 | d[1], den = d[2] << 8 | d[3];
            t.seconds += (double) num / (den ? den : 100);
            t.frames++;
        }
        at += n + 12;
    }
    return t;
}

nino_status nino_apng_frames(const void *data, size_t len, const char *name, nino_frame_fn fn,
                             void *priv, nino_error *err)
{
    reader r = { .name = name, .fn = fn, .priv = priv };
    const nino_status st = apng_read_read_all(&r, data, len, err);
    nino_buf_release(&r.shared);
    nino_buf_release(&r.data);
    free(r.canvas);
    free(r.saved);
    return st;
}
