// Growable byte buffer: append freely, check `failed` once.
#include "core/base/buf.h"

#include "core/base/num.h"
#include "core/base/size.h"
#include "core/base/utf8.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// Room for n more bytes and the terminator; false (and sticky) when there is none.
static bool buf_reserve(nino_buf *b, size_t n)
{
    size_t need;
    if (b->failed)
        return false;
    if (__builtin_add_overflow(b->len, n, &need) || need++ >= PTRDIFF_MAX) {
        b->failed = true;
        return false;
    }
    if (need <= b->cap)
        return true;
    size_t cap = b->cap ? b->cap : 64;
    while (cap < need)
        cap = cap > SIZE_MAX / 2 ? need : cap * 2;
    char *p = realloc(b->data, cap);
    if (!p) {
        b->failed = true;
        return false;
    }
    b->data = p;
    b->cap = cap;
    return true;
}

void nino_buf_release(nino_buf *b)
{
    free(b->data);
    *b = (nino_buf){ 0 };
}

void nino_buf_clear(nino_buf *b)
{
    b->len = 0;
    b->failed = false;
    if (b->data)
        b->data[0] = 0;
}

void nino_buf_add(nino_buf *b, const void *p, size_t n)
{
    if (!buf_reserve(b, n))
        return;
    if (n)
        memcpy(b->data + b->len, p, n);
    b->len += n;
    b->data[b->len] = 0;
}

void nino_buf_adds(nino_buf *b, const char *s) { nino_buf_add(b, s, strlen(s)); }
void nino_buf_addc(nino_buf *b, char c) { nino_buf_add(b, &c, 1); }

void nino_buf_addf(nino_buf *b, const char *fmt, ...)
{
    va_list ap;
    for (size_t want = 0;;) {
        if (!buf_reserve(b, want))
            return;
        va_start(ap, fmt);
        const int n = nino_vsnprintf(b->data + b->len, b->cap - b->len, fmt, ap);
        va_end(ap);
        if (n < 0) { // only an unrepresentable length or a bad wide character
            b->data[b->len] = 0;
            b->failed = true;
            return;
        }
        if ((size_t) n < b->cap - b->len) {
            b->len += (size_t) n;
            return;
        }
        b->data[b->len] = 0; // nothing half-printed stays if the next reserve fails
        want = (size_t) n;
    }
}

void nino_buf_add_json_string(nino_buf *b, const char *s, size_t len)
{
    static const char hex[] = "0123456789abcdef";
    size_t plain = 0; // start of the run not copied yet
    nino_buf_addc(b, '"');
    for (size_t i = 0; i < len;) {
        const unsigned char c = (unsigned char) s[i];
        char esc[6] = { '\\', 0, '0', '0', 0, 0 };
        size_t esc_len = 2;
        if (c >= 0x80) {
            uint32_t cp;
            const int n = nino_utf8_next(s + i, len - i, &cp);
            if (n) {
                i += (size_t) n;
                continue;
            }
            nino_buf_add(b, s + plain, i - plain);
            nino_buf_adds(b, "\\ufffd");
            plain = ++i;
            continue;
        } else if (c == '"' || c == '\\') {
            esc[1] = (char) c;
        } else if (c < 0x20) {
            static const char shorts[] = "\bb\ff\nn\rr\tt";
            for (const char *k = shorts; *k && !esc[1]; k += 2)
                if (k[0] == (char) c)
                    esc[1] = k[1];
            if (!esc[1]) {
                esc[1] = 'u';
                esc[4] = hex[c >> 4];
                esc[5] = hex[c & 15];
                esc_len = 6;
            }
        } else {
            i++;
            continue;
        }
        nino_buf_add(b, s + plain, i - plain);
        nino_buf_add(b, esc, esc_len);
        plain = ++i;
    }
    nino_buf_add(b, s + plain, len - plain);
    nino_buf_addc(b, '"');
}
