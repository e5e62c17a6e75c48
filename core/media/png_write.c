// PNG out: 8 or 16 bits, metadata before the pixels, compressed as ComfyUI's SaveImage does.
#include "core/media/png.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/utf8.h"

#define MAX_SIDE 65535
#define ZLIB_LEVEL 4 // ComfyUI nodes.py, SaveImage.compress_level

typedef struct sink {
    nino_buf *out;
    nino_error *err;
    nino_status st;
    png_text *texts; // what libpng is given; text[i].text may be ours
    int n_texts;
    int level; // of zlib
} sink;

static void on_png_write_error(png_structp png, png_const_charp msg)
{
    sink *s = png_get_error_ptr(png);
    if (!s->st)
        s->st = nino_fail(s->err, NINO_ERR_ARG, "PNG", "%s", msg);
    png_longjmp(png, 1);
}

static void on_png_write_warning(png_structp png, png_const_charp msg)
{
    (void) png;
    (void) msg;
}

// libpng reports a failed allocation like any other error; this keeps the cause.
static png_voidp on_png_write_malloc(png_structp png, png_alloc_size_t n)
{
    sink *s = png_get_mem_ptr(png);
    void *p = malloc(n);
    if (!p && !s->st)
        s->st = nino_fail(s->err, NINO_ERR_NOMEM, "PNG", "out of memory");
    return p;
}

static void on_png_write_free(png_structp png, png_voidp p)
{
    (void) png;
    free(p);
}

static void on_png_write_write(png_structp png, png_bytep p, size_t n)
{
    sink *s = png_get_io_ptr(png);
    nino_buf_add(s->out, p, n);
    if (s->out->failed) {
        s->st = nino_fail(s->err, NINO_ERR_NOMEM, "PNG", "out of memory");
        png_longjmp(png, 1);
    }
}

static void on_flush(png_structp png) { (void) png; }

// 1 to 79 printable characters without spaces at the ends or in a row: what the format allows.
static bool is_keyword(const char *s)
{
    const size_t n = strlen(s);
    if (!n || n > 79 || s[0] == ' ' || s[n - 1] == ' ' || strstr(s, "  "))
        return false;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char) s[i] < 0x20 || (unsigned char) s[i] >= 0x7f)
            return false;
    return true;
}

// The value in Latin-1, malloc'd, or NULL in *out when it has other characters.
static nino_status to_latin1(const nino_meta *m, char **out, nino_error *err)
{
    size_t n = 0;
    *out = NULL;
    char *p = malloc(m->value_len + 1);
    if (!p)
        return nino_fail(err, NINO_ERR_NOMEM, "PNG", "out of memory");
    for (size_t i = 0; i < m->value_len;) {
        uint32_t cp;
        const int k = nino_utf8_next(m->value + i, m->value_len - i, &cp);
        if (!k || !cp) {
            free(p);
            return nino_fail(err, NINO_ERR_ARG, m->key, "the text is not UTF-8");
        }
        if (cp > 0xff) {
            free(p);
            return NINO_OK;
        }
        p[n++] = (char) cp;
        i += (size_t) k;
    }
    p[n] = 0;
    *out = p;
    return NINO_OK;
}

static nino_status add_texts(sink *s, const nino_meta *texts, int n)
{
    s->texts = calloc((size_t) n + 1, sizeof(*s->texts));
    if (!s->texts)
        return nino_fail(s->err, NINO_ERR_NOMEM, "PNG", "out of memory");
    for (int i = 0; i < n; i++) {
        char *latin1;
        if (!is_keyword(texts[i].key))
            return nino_fail(s->err, NINO_ERR_ARG, texts[i].key, "not a keyword for a PNG text");
        const nino_status st = to_latin1(&texts[i], &latin1, s->err);
        if (st)
            return st;
        png_text *t = &s->texts[s->n_texts++];
        t->key = (char *) texts[i].key;
        t->compression = latin1 ? PNG_TEXT_COMPRESSION_NONE : PNG_ITXT_COMPRESSION_NONE;
        t->text = latin1 ? latin1 : strdup(texts[i].value);
        if (!t->text)
            return nino_fail(s->err, NINO_ERR_NOMEM, "PNG", "out of memory");
    }
    return NINO_OK;
}

// libpng jumps back here when it fails; nothing local changes after setjmp.
static nino_status write_image(png_structp png, png_infop info, sink *s, const void *pixels,
                               int width, int height, int channels, int bits)
{
    const size_t row = (size_t) width * (size_t) channels * (size_t) (bits / 8);
    const uint16_t probe = 1;
    if (setjmp(png_jmpbuf(png)))
        return s->st;
    png_set_write_fn(png, s, on_png_write_write, on_flush);
    png_set_compression_level(png, s->level);
    png_set_user_limits(png, MAX_SIDE, MAX_SIDE);
    png_set_IHDR(png, info, (png_uint_32) width, (png_uint_32) height, bits,
                 channels == 4 ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (s->n_texts)
        png_set_text(png, info, s->texts, s->n_texts);
    png_write_info(png, info);
    if (bits == 16 && *(const unsigned char *) &probe == 1)
        png_set_swap(png);
    for (int y = 0; y < height; y++)
        png_write_row(png, (png_const_bytep) pixels + (size_t) y * row);
    png_write_end(png, NULL);
    return NINO_OK;
}

nino_status nino_png_encode(nino_buf *out, const void *pixels, int width, int height, int channels,
                            int bits, const nino_meta *texts, int n_texts, nino_error *err)
{
    return nino_png_encode_level(out, pixels, width, height, channels, bits, texts, n_texts,
                                 ZLIB_LEVEL, err);
}

nino_status nino_png_encode_level(nino_buf *out, const void *pixels, int width, int height,
                                  int channels, int bits, const nino_meta *texts, int n_texts,
                                  int level, nino_error *err)
{
    sink s = { .out = out, .err = err, .level = level };
    if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE ||
        (channels != 3 && channels != 4) || (bits != 8 && bits != 16))
        return nino_fail(err, NINO_ERR_ARG, "PNG", "cannot write %d x %d pixels of %d x %d bits",
                         width, height, channels, bits);
    nino_status st = add_texts(&s, texts, n_texts);
    if (!st) {
        png_structp png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &s, on_png_write_error,
                                                    on_png_write_warning, &s, on_png_write_malloc,
                                                    on_png_write_free);
        png_infop info = png ? png_create_info_struct(png) : NULL;
        st = info ? write_image(png, info, &s, pixels, width, height, channels, bits)
                  : nino_fail(err, NINO_ERR_NOMEM, "PNG", "out of memory");
        png_destroy_write_struct(&png, &info);
    }
    for (int i = 0; i < s.n_texts; i++)
        free(s.texts[i].text);
    free(s.texts);
    return st;
}

void nino_to_u8_truncated(uint8_t *dst, const float *src, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const float v = 255.0f * src[i];
        dst[i] = v >= 255.0f ? 255 : v > 0.0f ? (uint8_t) v : 0; // NaN fails both tests
    }
}
