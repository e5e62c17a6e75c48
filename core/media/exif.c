// EXIF: a TIFF file of a few tags. Layout: TIFF 6.0, section 2; CIPA DC-008 (Exif 2.32), 4.6.
#include "core/media/exif.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/utf8.h"

#define REFUSE(kind, ...) nino_fail_kind(err, NINO_ERR_FORMAT, kind, name, __VA_ARGS__)

enum {
    TAG_ORIENTATION = 0x0112,
    TAG_EXIF = 0x8769, // where the second directory is
    TAG_USER_COMMENT = 0x9286,
    TYPE_BYTE = 1,
    TYPE_ASCII = 2,
    TYPE_SHORT = 3,
    TYPE_LONG = 4,
    TYPE_UNDEFINED = 7,
    MAX_ENTRIES = 1000,
};

typedef struct exif {
    const unsigned char *p;
    size_t len;
    bool is_big; // endian
    const char *name;
    nino_texts *texts;
    int *orientation;
    uint32_t second;    // offset of the second directory, 0: none
    int n_read;         // texts
    nino_error overrun; // the first tag that ends behind the data
} exif;

static uint32_t exif_u16(const exif *x, size_t at)
{
    const unsigned char *p = x->p + at;
    return x->is_big ? (uint32_t) p[0] << 8 | p[1] : (uint32_t) p[1] << 8 | p[0];
}

static uint32_t exif_u32(const exif *x, size_t at)
{
    return x->is_big ? exif_u16(x, at) << 16 | exif_u16(x, at + 2)
                     : exif_u16(x, at + 2) << 16 | exif_u16(x, at);
}

// ---- texts -----------------------------------------------------------------------------------

// "Workflow:{..." -> the length of "Workflow" and the word in small letters; 0: it starts
// otherwise.
static size_t keyword(const char *s, size_t n, char out[32])
{
    size_t k = 0;
    for (; k < n && k < 31; k++) {
        const char small = (char) (s[k] | 0x20);
        if (s[k] == ':')
            break;
        if ((small < 'a' || small > 'z') && s[k] != '_')
            return 0;
        out[k] = s[k] == '_' ? '_' : small;
    }
    out[k] = 0;
    return k < n && s[k] == ':' ? k : 0;
}

static nino_status exif_add_text(exif *x, const char *s, size_t n, bool is_comment, nino_error *err)
{
    char key[32];
    while (n && !s[n - 1])
        n--;
    const size_t k = keyword(s, n, key);
    if (k)
        return nino_texts_add(x->texts, key, s + k + 1, n - k - 1, x->name, err);
    if (is_comment && n && s[0] == '{')
        return nino_texts_add(x->texts, "usercomment", s, n, x->name, err);
    return NINO_OK;
}

static nino_status add_utf16(exif *x, size_t at, size_t n, nino_error *err)
{
    nino_buf b = { 0 };
    char utf8[4];
    // The byte order of this text is nowhere written down: that of the file, unless a mark says
    // otherwise.
    exif y = *x;
    if (n >= 2 && exif_u16(x, at) == 0xfffe)
        y.is_big = !x->is_big;
    for (size_t i = 0; i + 1 < n; i += 2) {
        uint32_t cp = exif_u16(&y, at + i);
        if (cp >= 0xd800 && cp < 0xdc00 && i + 3 < n) {
            const uint32_t low = exif_u16(&y, at + i + 2);
            if (low >= 0xdc00 && low < 0xe000) {
                cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
                i += 2;
            }
        }
        if (cp >= 0xd800 && cp < 0xe000)
            cp = 0xfffd;
        if (cp != 0xfeff && cp)
            nino_buf_add(&b, utf8, (size_t) nino_utf8_put(utf8, cp));
    }
    const nino_status st = b.failed ? nino_fail(err, NINO_ERR_NOMEM, x->name, "out of memory")
                           : b.len  ? exif_add_text(x, b.data, b.len, true, err)
                                    : NINO_OK;
    nino_buf_release(&b);
    return st;
}

// UTF-8 where it is that, else latin-1.
static nino_status exif_add_bytes(exif *x, size_t at, size_t n, bool is_comment, nino_error *err)
{
    const char *s = (const char *) x->p + at;
    nino_buf b = { 0 };
    char utf8[4];
    if (nino_utf8_valid(s, n))
        return exif_add_text(x, s, n, is_comment, err);
    for (size_t i = 0; i < n; i++)
        nino_buf_add(&b, utf8, (size_t) nino_utf8_put(utf8, x->p[at + i]));
    const nino_status st = b.failed ? nino_fail(err, NINO_ERR_NOMEM, x->name, "out of memory")
                                    : exif_add_text(x, b.data, b.len, is_comment, err);
    nino_buf_release(&b);
    return st;
}

static nino_status add_comment(exif *x, size_t at, size_t n, nino_error *err)
{
    if (n < 8) // the first eight bytes say which characters follow
        return NINO_OK;
    if (!memcmp(x->p + at, "UNICODE", 8))
        return add_utf16(x, at + 8, n - 8, err);
    return exif_add_bytes(x, at + 8, n - 8, true, err);
}

// ---- directories -----------------------------------------------------------------------------

static nino_status exif_read_entry(exif *x, size_t at, nino_error *err)
{
    const uint32_t tag = exif_u16(x, at), type = exif_u16(x, at + 2), count = exif_u32(x, at + 4);
    const bool is_text = type == TYPE_ASCII || type == TYPE_UNDEFINED || type == TYPE_BYTE;
    const char *name = x->name;
    if (tag == TAG_ORIENTATION && type == TYPE_SHORT && count == 1) {
        const uint32_t o = exif_u16(x, at + 8);
        if (o >= 1 && o <= 8)
            *x->orientation = (int) o;
        return NINO_OK;
    }
    if (tag == TAG_EXIF && type == TYPE_LONG && count == 1) {
        x->second = exif_u32(x, at + 8);
        return NINO_OK;
    }
    if (!is_text || count <= 4) // four bytes hold no workflow
        return NINO_OK;
    const uint32_t where = exif_u32(x, at + 8);
    if (where > x->len || count > x->len - where)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "tag", name,
                              "EXIF tag 0x%04x ends behind the data", tag);
    if (tag == TAG_USER_COMMENT)
        return add_comment(x, where, count, err);
    return type == TYPE_ASCII ? exif_add_bytes(x, where, count, false, err) : NINO_OK;
}

static nino_status exif_read_directory(exif *x, size_t at, nino_error *err)
{
    const char *name = x->name;
    nino_status st = NINO_OK;
    if (at > x->len || x->len - at < 2)
        return REFUSE("truncated", "the EXIF data ends before its directory");
    const size_t n = exif_u16(x, at);
    if (n > MAX_ENTRIES || n * 12 > x->len - at - 2)
        return REFUSE("truncated", "the EXIF data ends inside its directory");
    for (size_t i = 0; i < n; i++) { // a damaged text hides neither the others nor which way is up
        const int n_texts = x->texts->n;
        nino_error e = { 0 };
        const nino_status one = exif_read_entry(x, at + 2 + 12 * i, &e);
        x->n_read += x->texts->n > n_texts;
        if (one && e.kind && !strcmp(e.kind, "tag")) {
            x->overrun = x->overrun.code ? x->overrun : e;
        } else if (one && !st) {
            st = one;
            if (err)
                *err = e;
        }
    }
    return st;
}

nino_status nino_exif_read(const void *data, size_t len, const char *name, nino_texts *texts,
                           int *orientation, nino_error *err)
{
    exif x = { .p = data, .len = len, .name = name, .texts = texts, .orientation = orientation };
    if (len >= 6 && !memcmp(data, "Exif\0\0", 6)) {
        x.p += 6;
        x.len -= 6;
    }
    if (x.len < 8 || (memcmp(x.p, "II*\0", 4) && memcmp(x.p, "MM\0*", 4)))
        return REFUSE("syntax", "the EXIF data is damaged");
    x.is_big = x.p[0] == 'M';
    nino_status st = exif_read_directory(&x, exif_u32(&x, 4), err);
    if (st == NINO_OK && x.second)
        st = exif_read_directory(&x, x.second, err);
    if (st == NINO_OK && x.overrun.code && !x.n_read)
        return REFUSE("truncated", "%s", x.overrun.msg); // it may have been the only text
    return st;
}
