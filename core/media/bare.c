// A picture without what it tells of its making: PNG, APNG and WebP chunk by chunk, what is drawn
// stays byte for byte. Layout: W3C PNG, third edition; WebP container specification.
#include <ninodes/picture.h>

#include <stdlib.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"

#define MAX_FILE ((size_t) 1 << 30)

enum { PNG_HEAD = 8, PNG_AROUND = 12, RIFF_HEAD = 12, CHUNK_HEAD = 8, VP8X_TELLS = 0x0c };

static bool is_bare_one_of(const char *type, const char *const *list)
{
    for (; *list; list++)
        if (!memcmp(type, *list, 4))
            return true;
    return false;
}

// comf: texts of an APNG by ComfyUI.
static bool bare_png(const char *p, size_t len, nino_buf *out)
{
    static const char *const tells[] = { "tEXt", "zTXt", "iTXt", "eXIf", "tIME", "comf", NULL };
    nino_buf_add(out, p, PNG_HEAD);
    for (size_t at = PNG_HEAD, n; at < len; at += n) {
        if (len - at < PNG_AROUND)
            return false;
        n = nino_be32(p + at);
        if (n > len - at - PNG_AROUND)
            return false;
        n += PNG_AROUND;
        if (!is_bare_one_of(p + at + 4, tells))
            nino_buf_add(out, p + at, n);
        if (!memcmp(p + at + 4, "IEND", 4))
            return true;
    }
    return false;
}

static void put_le32(char *p, size_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (char) (v >> 8 * i & 0xff);
}

static bool bare_webp(const char *p, size_t len, nino_buf *out)
{
    static const char *const tells[] = { "EXIF", "XMP ", NULL };
    nino_buf_add(out, p, RIFF_HEAD);
    for (size_t at = RIFF_HEAD, n; at < len; at += n) {
        if (len - at < CHUNK_HEAD)
            return false;
        n = nino_le32(p + at + 4);
        n += CHUNK_HEAD + (n & 1);
        if (n > len - at)
            return false;
        if (is_bare_one_of(p + at, tells))
            continue;
        nino_buf_add(out, p + at, n);
        if (!out->failed && !memcmp(p + at, "VP8X", 4) && n > CHUNK_HEAD)
            out->data[out->len - n + CHUNK_HEAD] &= (char) ~VP8X_TELLS;
    }
    if (!out->failed)
        put_le32(out->data + 4, out->len - CHUNK_HEAD);
    return true;
}

nino_status nino_picture_save_bare(const char *from, const char *to, nino_error *err)
{
    static const char png[PNG_HEAD] = { '\x89', 'P', 'N', 'G', '\r', '\n', '\x1a', '\n' };
    char *data = NULL;
    size_t len = 0;
    nino_buf out = { 0 };
    bool ok = false;
    nino_status st = nino_file_read(from, MAX_FILE, false, &data, &len, err);
    if (st)
        return st;
    if (len > PNG_HEAD && !memcmp(data, png, PNG_HEAD))
        ok = bare_png(data, len, &out);
    else if (len > RIFF_HEAD && !memcmp(data, "RIFF", 4) && !memcmp(data + 8, "WEBP", 4))
        ok = bare_webp(data, len, &out);
    else
        st = nino_fail(err, NINO_ERR_UNSUPPORTED, from,
                       "only PNG and WebP are written without metadata");
    if (!st && out.failed)
        st = nino_fail(err, NINO_ERR_NOMEM, from, "out of memory");
    else if (!st && !ok)
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "syntax", from, "the picture is damaged");
    if (!st)
        st = nino_file_save(NULL, to, false, out.data, out.len, err);
    nino_buf_release(&out);
    free(data);
    return st;
}
