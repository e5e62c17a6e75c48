// Strict UTF-8.
#include "core/base/utf8.h"

#include <string.h>

int nino_utf8_next(const char *s, size_t len, uint32_t *cp)
{
    const unsigned char *p = (const unsigned char *) s;
    uint32_t v, min;
    int n;
    if (p[0] < 0x80) {
        *cp = p[0];
        return 1;
    }
    if (p[0] < 0xc2) // continuation byte, or the overlong c0 and c1
        return 0;
    if (p[0] < 0xe0)
        n = 2, v = p[0] & 0x1f, min = 0x80;
    else if (p[0] < 0xf0)
        n = 3, v = p[0] & 0x0f, min = 0x800;
    else if (p[0] < 0xf5)
        n = 4, v = p[0] & 0x07, min = 0x10000;
    else
        return 0;
    if (len < (size_t) n)
        return 0;
    for (int i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        v = v << 6 | (p[i] & 0x3f);
    }
    if (v < min || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
        return 0;
    *cp = v;
    return n;
}

bool nino_utf8_valid(const char *s, size_t len)
{
    for (size_t i = 0; i < len;) {
        uint64_t w;
        uint32_t cp;
        if (len - i >= sizeof(w)) { // eight ASCII bytes at a time
            memcpy(&w, s + i, sizeof(w));
            if (!(w & 0x8080808080808080u)) {
                i += sizeof(w);
                continue;
            }
        }
        const int n = nino_utf8_next(s + i, len - i, &cp);
        if (!n)
            return false;
        i += (size_t) n;
    }
    return true;
}

int nino_utf8_put(char out[4], uint32_t cp)
{
    if (cp < 0x80) {
        out[0] = (char) cp;
        return 1;
    }
    const int n = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (int i = n - 1; i > 0; i--, cp >>= 6)
        out[i] = (char) (0x80 | (cp & 0x3f));
    out[0] = (char) (lead[n] | cp);
    return n;
}

// Obeyed by a terminal, or able to reorder or hide the text around it.
static bool is_unsafe(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0x61c || cp == 0x200e || cp == 0x200f ||
           (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069) || cp == 0xfeff ||
           (cp >= 0xfff9 && cp <= 0xfffb) || (cp >= 0xe0000 && cp <= 0xe007f);
}

void nino_utf8_printable(char *out, size_t size, const char *s, size_t len)
{
    size_t o = 0;
    if (!size)
        return;
    for (size_t i = 0; i < len;) {
        uint32_t cp;
        int n = nino_utf8_next(s + i, len - i, &cp);
        const bool keep = n && !is_unsafe(cp);
        const size_t w = keep ? (size_t) n : 1;
        if (w > size - 1 - o)
            break;
        if (keep)
            memmove(out + o, s + i, w); // out may be s
        else
            out[o] = '?';
        o += w;
        i += n ? (size_t) n : 1;
    }
    out[o] = 0;
}
