// PNG in. The text chunks are read by a walk over the chunks of our own, so that metadata never
// costs a decoded pixel; libpng decodes the pixels and sees nothing but them. Layout: W3C PNG,
// third edition.
#include "core/media/png.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/media/exif.h"

#define MAX_SIDE 16384
#define MAX_DEFLATE 1032 // bytes that one byte of deflate can stand for

#define REFUSE(kind, ...) nino_fail_kind(err, NINO_ERR_FORMAT, kind, name, __VA_ARGS__)

static const unsigned char signature[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };

// ---- text chunks

// Latin-1 as UTF-8.
static void add_latin1(nino_buf *b, const unsigned char *p, size_t n)
{
    char utf8[4];
    for (size_t i = 0; i < n; i++)
        nino_buf_add(b, utf8, (size_t) nino_utf8_put(utf8, p[i]));
}

static nino_status inflate_text(const unsigned char *p, size_t n, nino_buf *out, const char *name,
                                nino_error *err)
{
    unsigned char block[16384];
    z_stream z = { .next_in = (unsigned char *) p, .avail_in = (uInt) n };
    if (inflateInit(&z) != Z_OK)
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    nino_status st = NINO_OK;
    int rc = Z_OK;
    while (!st && rc == Z_OK) {
        z.next_out = block;
        z.avail_out = sizeof(block);
        rc = inflate(&z, Z_NO_FLUSH);
        nino_buf_add(out, block, sizeof(block) - z.avail_out);
        if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_MEM_ERROR)
            st = REFUSE("syntax", "a compressed text is damaged");
        else if (out->len > NINO_MAX_TEXT)
            st = REFUSE("bomb", "a compressed text expands to more than %u bytes", NINO_MAX_TEXT);
        else if (out->failed || rc == Z_MEM_ERROR)
            st = nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    }
    inflateEnd(&z);
    return st;
}

// Splits keyword, 0, rest. A chunk without the 0 or with a keyword of another length than 1 to 79
// is no text chunk.
static bool png_read_split(const unsigned char **p, size_t *n, size_t max,
                           const unsigned char **word, size_t *len)
{
    const unsigned char *nul = memchr(*p, 0, *n);
    if (!nul || (size_t) (nul - *p) > max)
        return false;
    *word = *p;
    *len = (size_t) (nul - *p);
    *n -= *len + 1;
    *p = nul + 1;
    return true;
}

// Appends the chunk's text to `out` as UTF-8; *known says whether the chunk has the form of a text.
static nino_status read_text(const unsigned char *type, const unsigned char *p, size_t n,
                             const unsigned char **key, size_t *key_len, nino_buf *out, bool *known,
                             const char *name, nino_error *err)
{
    const unsigned char *skip;
    size_t skip_len;
    nino_buf raw = { 0 };
    nino_status st = NINO_OK;
    *known = png_read_split(&p, &n, 79, key, key_len) && *key_len;
    if (!*known)
        return NINO_OK;
    if (type[0] == 't' || type[0] == 'c') {
        add_latin1(out, p, n);
    } else if (type[0] == 'z') {
        *known = n >= 1 && p[0] == 0; // the only compression method there is
        if (*known)
            st = inflate_text(p + 1, n - 1, &raw, name, err);
        if (!st)
            add_latin1(out, (const unsigned char *) raw.data, raw.len);
    } else {
        const bool packed = n >= 2 && p[0] == 1;
        *known = n >= 2 && p[0] <= 1 && (!packed || p[1] == 0);
        if (*known) {
            p += 2;
            n -= 2;
            *known = png_read_split(&p, &n, n, &skip, &skip_len) &&
                     png_read_split(&p, &n, n, &skip, &skip_len);
        }
        if (*known && packed)
            st = inflate_text(p, n, out, name, err);
        else if (*known)
            nino_buf_add(out, p, n);
        if (!st && *known && out->len && !nino_utf8_valid(out->data, out->len))
            st = REFUSE("syntax", "an international text is not UTF-8");
    }
    nino_buf_release(&raw);
    if (!st && out->failed)
        st = nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    return st;
}

// "comf" is what SaveAnimatedPNG of ComfyUI makes: a tEXt behind the pixels.
static bool is_png_read_text(const unsigned char *type)
{
    return !memcmp(type, "tEXt", 4) || !memcmp(type, "zTXt", 4) || !memcmp(type, "iTXt", 4) ||
           !memcmp(type, "comf", 4);
}

static nino_status png_read_add_text(nino_png *out, const unsigned char *type,
                                     const unsigned char *p, size_t n, const char *name,
                                     nino_error *err)
{
    const unsigned char *key = NULL;
    size_t key_len = 0;
    nino_buf text = { 0 }, word = { 0 };
    bool known = false;
    if (n > NINO_MAX_TEXT + 256)
        return REFUSE("limit", "a text chunk of %zu bytes, at most %u are read", n, NINO_MAX_TEXT);
    nino_status st = read_text(type, p, n, &key, &key_len, &text, &known, name, err);
    if (st || !known)
        goto end;
    add_latin1(&word, key, key_len);
    st = word.failed ? nino_fail(err, NINO_ERR_NOMEM, name, "out of memory")
                     : nino_texts_add(&out->texts, word.data, text.data, text.len, name, err);
end:
    nino_buf_release(&text);
    nino_buf_release(&word);
    return st;
}

static nino_status read_ihdr(nino_png *out, const unsigned char *p, size_t n, const char *name,
                             nino_error *err)
{
    const uint32_t width = n == 13 ? nino_be32(p) : 0, height = n == 13 ? nino_be32(p + 4) : 0;
    if (!width || !height || width > INT32_MAX || height > INT32_MAX)
        return REFUSE("syntax", "the first chunk is damaged");
    static const uint8_t channels[8] = { [0] = 1, [2] = 3, [3] = 3, [4] = 2, [6] = 4 };
    out->width = (int) width;
    out->height = (int) height;
    out->bit_depth = p[8] == 16 ? 16 : 8;
    out->channels = p[9] < 8 ? channels[p[9]] : 0;
    out->is_palette = p[9] == 3;
    return NINO_OK;
}

// tRNS: the alpha of palette entries, or the one colour that is transparent.
static void note_transparency(nino_png *out)
{
    if (out->channels % 2) // not if there is alpha already
        out->channels++;
    out->has_colour_key = !out->is_palette;
}

// Visits every chunk; checks those that it uses. A missing IEND is forgiven, and so is the checksum
// of a text: programs and people change texts in place, which is noted.
static nino_status png_read_walk(nino_png *out, const unsigned char *data, size_t len,
                                 const char *name, nino_error *err)
{
    const size_t have = len < sizeof(signature) ? len : sizeof(signature);
    if (memcmp(data, signature, have))
        return REFUSE("magic", "not a PNG file");
    if (len < sizeof(signature) + 12)
        return REFUSE("truncated", "the file ends before the first chunk");
    for (size_t at = sizeof(signature); at < len;) {
        const unsigned char *p = data + at, *type = p + 4, *body = p + 8;
        const size_t left = len - at;
        if (left < 12 || nino_be32(p) > left - 12)
            return REFUSE("truncated", "the file ends inside a chunk");
        const size_t n = nino_be32(p);
        const bool first = at == sizeof(signature);
        const bool text = is_png_read_text(type);
        if (first && memcmp(type, "IHDR", 4))
            return REFUSE("syntax", "the first chunk is not IHDR");
        const bool is_whole =
            (!first && !text) || crc32(0, type, (uInt) n + 4) == nino_be32(body + n);
        if (first && !is_whole)
            return REFUSE("syntax", "the checksum of chunk %.4s is wrong", (const char *) type);
        nino_status st = NINO_OK;
        const int n_texts = out->texts.n;
        if (first)
            st = read_ihdr(out, body, n, name, err);
        else if (text)
            st = png_read_add_text(out, type, body, n, name, err);
        else if (!memcmp(type, "tRNS", 4))
            note_transparency(out);
        else if (!memcmp(type, "eXIf", 4)) // damaged: the picture is as upright as it looks
            nino_exif_read(body, n, name, &out->texts, &out->orientation, NULL);
        else if (!memcmp(type, "IEND", 4))
            break;
        if (st)
            return st;
        for (int i = n_texts; i < out->texts.n && text; i++)
            out->texts.list[i].is_edited = !is_whole;
        at += n + 12;
    }
    return NINO_OK;
}

// ---- pixels

typedef struct source {
    const unsigned char *p;
    size_t left;
    const char *name;
    nino_error *err;
    nino_status st; // what went wrong, set before the jump
    unsigned char *rows;
} source;

static void on_png_read_error(png_structp png, png_const_charp msg)
{
    source *s = png_get_error_ptr(png);
    if (!s->st)
        s->st = nino_fail_kind(s->err, NINO_ERR_FORMAT, "syntax", s->name, "%s", msg);
    png_longjmp(png, 1);
}

static void on_png_read_warning(png_structp png, png_const_charp msg)
{
    (void) png;
    (void) msg;
}

// libpng reports a failed allocation like any other error; this keeps the cause.
static png_voidp on_png_read_malloc(png_structp png, png_alloc_size_t n)
{
    source *s = png_get_mem_ptr(png);
    void *p = malloc(n);
    if (!p && !s->st)
        s->st = nino_fail(s->err, NINO_ERR_NOMEM, s->name, "out of memory");
    return p;
}

static void on_png_read_free(png_structp png, png_voidp p)
{
    (void) png;
    free(p);
}

static void on_png_read_read(png_structp png, png_bytep to, size_t n)
{
    source *s = png_get_io_ptr(png);
    if (n > s->left) {
        s->st = nino_fail_kind(s->err, NINO_ERR_FORMAT, "truncated", s->name,
                               "the file ends inside its pixels");
        png_longjmp(png, 1);
    }
    memcpy(to, s->p, n);
    s->p += n;
    s->left -= n;
}

static void widen_row(float *to, const unsigned char *from, size_t n, int bits)
{
    if (bits == 16) {
        for (size_t i = 0; i < n; i++)
            to[i] = (float) (from[2 * i] << 8 | from[2 * i + 1]) / 65535.0f;
    } else {
        for (size_t i = 0; i < n; i++)
            to[i] = (float) from[i] / 255.0f;
    }
}

// Nothing but pixels, palette and transparency: colour management is not done, text is walk's.
static void set_up(png_structp png, source *s)
{
    png_set_read_fn(png, s, on_png_read_read);
    png_set_user_limits(png, MAX_SIDE, MAX_SIDE);
    png_set_chunk_cache_max(png, NINO_MAX_TEXTS);
    png_set_chunk_malloc_max(png, NINO_MAX_TEXT);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
}

// Whether what is left of the file can hold the pixels at all: a few bytes must not cost gigabytes.
static bool png_read_has_pixels(png_structp png, png_infop info, const source *s)
{
    const uint64_t packed =
        (uint64_t) png_get_rowbytes(png, info) * png_get_image_height(png, info);
    return packed / MAX_DEFLATE <= s->left;
}

static bool png_read_make_room(png_structp png, png_infop info, source *s, nino_png *out)
{
    const bool interlaced = png_get_interlace_type(png, info) != PNG_INTERLACE_NONE;
    out->channels = png_get_channels(png, info);
    out->bit_depth = png_get_bit_depth(png, info);
    s->rows = calloc(interlaced ? (size_t) out->height : 1, png_get_rowbytes(png, info));
    out->pixels =
        nino_array_create(NINO_F32, NINO_SHAPE(1, out->height, out->width, out->channels));
    return s->rows && out->pixels;
}

// libpng jumps back here when it fails. Nothing local changes after setjmp; what is allocated hangs
// on s and out, which the caller releases.
static nino_status png_read_read_pixels(png_structp png, png_infop info, source *s, nino_png *out)
{
    if (setjmp(png_jmpbuf(png)))
        return s->st;
    set_up(png, s);
    png_read_info(png, info);
    if (!png_read_has_pixels(png, info, s))
        return nino_fail_kind(s->err, NINO_ERR_FORMAT, "truncated", s->name,
                              "%zu bytes cannot hold %d x %d pixels", s->left, out->width,
                              out->height);
    out->has_colour_key = png_get_valid(png, info, PNG_INFO_tRNS) && !out->is_palette;
    png_set_expand(png); // palette to rgb, 1 2 4 bits to 8, tRNS to alpha
    const int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (!png_read_make_room(png, info, s, out))
        return nino_fail(s->err, NINO_ERR_NOMEM, s->name, "out of memory for %d x %d pixels",
                         out->width, out->height);
    // An interlaced picture is only complete after its last pass, so that all rows are kept.
    const size_t row = png_get_rowbytes(png, info), step = passes > 1 ? row : 0;
    const size_t values = (size_t) out->width * (size_t) out->channels;
    float *to = out->pixels->data;
    for (int pass = 0; pass < passes; pass++)
        for (int y = 0; y < out->height; y++) {
            unsigned char *p = s->rows + (size_t) y * step;
            png_read_row(png, p, NULL);
            if (pass == passes - 1)
                widen_row(to + (size_t) y * values, p, values, out->bit_depth);
        }
    return NINO_OK;
}

static nino_status png_read_decode(nino_png *out, const void *data, size_t len, const char *name,
                                   nino_error *err)
{
    source s = { .p = data, .left = len, .name = name, .err = err };
    if (out->width > MAX_SIDE || out->height > MAX_SIDE)
        return REFUSE("limit", "%d x %d pixels, at most %d x %d are decoded", out->width,
                      out->height, MAX_SIDE, MAX_SIDE);
    png_structp png =
        png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &s, on_png_read_error, on_png_read_warning,
                                 &s, on_png_read_malloc, on_png_read_free);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    nino_status st = info ? png_read_read_pixels(png, info, &s, out)
                          : nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    png_destroy_read_struct(&png, &info, NULL);
    free(s.rows);
    return st;
}

nino_status nino_png_read(const void *data, size_t len, const char *name, bool with_pixels,
                          nino_png *out, nino_error *err)
{
    *out = (nino_png){ .orientation = 1 };
    nino_status st = png_read_walk(out, data, len, name, err);
    if (st && with_pixels && out->width) { // damaged texts do not cost the picture
        nino_texts_release(&out->texts);
        st = NINO_OK;
    }
    if (!st && with_pixels)
        st = png_read_decode(out, data, len, name, err);
    if (st)
        nino_png_release(out);
    return st;
}

void nino_png_release(nino_png *p)
{
    nino_texts_release(&p->texts);
    nino_array_unref(&p->pixels);
    memset(p, 0, sizeof(*p));
}

const char *nino_png_text_get(const nino_png *p, const char *key)
{
    const nino_text *t = nino_texts_find(&p->texts, key);
    return t ? t->value : NULL;
}
