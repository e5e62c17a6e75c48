// Base64 to bytes.
#include "core/text/base64.h"

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool nino_base64_decode(const char *text, size_t len, nino_buf *out)
{
    uint32_t bits = 0;
    int have = 0;
    while (len && text[len - 1] == '=')
        len--;
    for (size_t i = 0; i < len; i++) {
        const int d = base64_digit(text[i]);
        if (d < 0)
            return false;
        bits = bits << 6 | (uint32_t) d;
        if ((have += 6) >= 8)
            nino_buf_addc(out, (char) (bits >> (have -= 8) & 0xff));
    }
    return true;
}
