// Unicode for tokenizers: classes, lower case, NFC and the two clean-ups of prompts. The rules are
// Python's and transformers' (BasicTokenizer); the tables are utf8proc's.
#include "core/text/unicode.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "core/base/utf8.h"

int nino_text_next(const char *s, size_t len, uint32_t *cp)
{
    if ((unsigned char) *s < 0x80) {
        *cp = (unsigned char) *s;
        return 1;
    }
    const int n = nino_utf8_next(s, len, cp);
    if (n)
        return n;
    *cp = 0xfffd;
    return 1;
}

void nino_text_put(nino_buf *out, uint32_t cp)
{
    char c[4];
    nino_buf_add(out, c, (size_t) nino_utf8_put(c, cp));
}

// ---- classes ---------------------------------------------------------------------------------

static utf8proc_category_t category(uint32_t cp)
{
    return utf8proc_category((utf8proc_int32_t) cp);
}

bool nino_text_is_space(uint32_t cp)
{
    if (cp < 0x80)
        return cp == ' ' || (cp >= 9 && cp <= 13) || (cp >= 0x1c && cp <= 0x1f);
    return cp == 0x85 || cp == 0x2028 || cp == 0x2029 || category(cp) == UTF8PROC_CATEGORY_ZS;
}

bool nino_text_is_letter(uint32_t cp)
{
    if (cp < 0x80)
        return (cp >= 'a' && cp <= 'z') || (cp >= 'A' && cp <= 'Z');
    const utf8proc_category_t c = category(cp);
    return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO;
}

bool nino_text_is_number(uint32_t cp)
{
    if (cp < 0x80)
        return cp >= '0' && cp <= '9';
    const utf8proc_category_t c = category(cp);
    return c >= UTF8PROC_CATEGORY_ND && c <= UTF8PROC_CATEGORY_NO;
}

// Digits come in runs of tens that begin with a zero.
int nino_text_digit(uint32_t cp)
{
    if (cp < 0x80)
        return cp >= '0' && cp <= '9' ? (int) (cp - '0') : -1;
    if (category(cp) != UTF8PROC_CATEGORY_ND)
        return -1;
    uint32_t first = cp;
    while (category(first - 1) == UTF8PROC_CATEGORY_ND)
        first--;
    return (int) ((cp - first) % 10);
}

// Category C: control, format, private use, unassigned; and what BERT drops besides.
static bool is_dropped(uint32_t cp)
{
    if (cp < 0x80)
        return (cp < 0x20 && cp != '\t' && cp != '\n' && cp != '\r') || cp == 0x7f;
    const utf8proc_category_t c = category(cp);
    return cp == 0xfffd || c == UTF8PROC_CATEGORY_CN || c >= UTF8PROC_CATEGORY_CC;
}

static bool is_ideograph(uint32_t cp)
{
    static const uint32_t ranges[][2] = { { 0x3400, 0x4dbf },   { 0x4e00, 0x9fff },
                                          { 0xf900, 0xfaff },   { 0x20000, 0x2a6df },
                                          { 0x2a700, 0x2b73f }, { 0x2b740, 0x2b81f },
                                          { 0x2b820, 0x2ceaf }, { 0x2f800, 0x2fa1f } };
    for (size_t i = 0; cp >= 0x3400 && i < sizeof(ranges) / sizeof(ranges[0]); i++)
        if (cp >= ranges[i][0] && cp <= ranges[i][1])
            return true;
    return false;
}

// ---- lower case ------------------------------------------------------------------------------

// Unicode's Cased: letters with a case, and what has Other_Lowercase or Other_Uppercase: ordinals, Roman numerals,
// letters in circles and squares. Those among them that are ignorable as well need no entry.
static bool is_cased(uint32_t cp)
{
    static const uint32_t others[][2] = { { 0xaa, 0xaa },       { 0xba, 0xba },
                                          { 0x2160, 0x217f },   { 0x24b6, 0x24e9 },
                                          { 0x1f130, 0x1f149 }, { 0x1f150, 0x1f169 },
                                          { 0x1f170, 0x1f189 } };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (cp >= others[i][0] && cp <= others[i][1])
            return true;
    const utf8proc_category_t c = category(cp);
    return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LT;
}

static bool is_case_ignorable(uint32_t cp)
{
    static const uint16_t within_words[] = { '\'',   '.',    ':',    0xb7,   0x387,  0x55f,
                                             0x5f4,  0x2018, 0x2019, 0x2024, 0x2027, 0xfe13,
                                             0xfe52, 0xfe55, 0xff07, 0xff0e, 0xff1a };
    for (size_t i = 0; i < sizeof(within_words) / sizeof(within_words[0]); i++)
        if (cp == within_words[i])
            return true;
    const utf8proc_category_t c = category(cp);
    return c == UTF8PROC_CATEGORY_MN || c == UTF8PROC_CATEGORY_ME || c == UTF8PROC_CATEGORY_CF ||
           c == UTF8PROC_CATEGORY_LM || c == UTF8PROC_CATEGORY_SK;
}

// The capital sigma at s[at] ends a word: a cased letter before it, none after it.
static bool is_final_sigma(const char *s, size_t len, size_t at)
{
    uint32_t cp = 0;
    size_t i = at;
    do {
        if (!i)
            return false;
        do
            i--;
        while (i && ((unsigned char) s[i] & 0xc0) == 0x80);
        nino_text_next(s + i, at - i, &cp);
    } while (is_case_ignorable(cp));
    if (!is_cased(cp))
        return false;
    for (i = at + 2; i < len;) {
        i += (size_t) nino_text_next(s + i, len - i, &cp);
        if (!is_case_ignorable(cp))
            return !is_cased(cp);
    }
    return true;
}

// The lower case of cp, which is at s[at].
static void put_lower(nino_buf *out, const char *s, size_t len, size_t at, uint32_t cp)
{
    if (cp < 0x80)
        nino_buf_addc(out, (char) (cp >= 'A' && cp <= 'Z' ? cp + 32 : cp));
    else if (cp == 0x130) // the one letter whose lower case is two
        nino_buf_adds(out, "i\xcc\x87");
    else if (cp == 0x3a3)
        nino_text_put(out, is_final_sigma(s, len, at) ? 0x3c2 : 0x3c3);
    else
        nino_text_put(out, (uint32_t) utf8proc_tolower((utf8proc_int32_t) cp));
}

static void lower_from(nino_buf *out, const char *s, size_t from, size_t len)
{
    uint32_t cp;
    for (size_t i = from; i < len;) {
        const size_t at = i;
        i += (size_t) nino_text_next(s + i, len - i, &cp);
        put_lower(out, s, len, at, cp);
    }
}

void nino_text_lower(nino_buf *out, const char *s, size_t len) { lower_from(out, s, 0, len); }

static void put_upper(nino_buf *out, uint32_t cp, bool is_title)
{
    if (cp == 0xdf)
        nino_buf_adds(out, is_title ? "Ss" : "SS");
    else
        nino_text_put(out, (uint32_t) (is_title ? utf8proc_totitle((utf8proc_int32_t) cp)
                                                : utf8proc_toupper((utf8proc_int32_t) cp)));
}

void nino_text_upper(nino_buf *out, const char *s, size_t len)
{
    uint32_t cp;
    for (size_t i = 0; i < len;) {
        i += (size_t) nino_text_next(s + i, len - i, &cp);
        put_upper(out, cp, false);
    }
}

void nino_text_capitalize(nino_buf *out, const char *s, size_t len)
{
    uint32_t cp;
    if (!len)
        return;
    const size_t first = (size_t) nino_text_next(s, len, &cp);
    put_upper(out, cp, true);
    lower_from(out, s, first, len);
}

void nino_text_title(nino_buf *out, const char *s, size_t len)
{
    bool in_word = false;
    uint32_t cp;
    for (size_t i = 0; i < len;) {
        const size_t at = i;
        i += (size_t) nino_text_next(s + i, len - i, &cp);
        if (in_word)
            put_lower(out, s, len, at, cp);
        else
            put_upper(out, cp, true);
        in_word = is_cased(cp);
    }
}

// ---- NFC -------------------------------------------------------------------------------------

static bool is_ascii(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char) s[i] >= 0x80)
            return false;
    return true;
}

void nino_text_nfc(nino_buf *out, const char *s, size_t len)
{
    const utf8proc_option_t options = UTF8PROC_STABLE | UTF8PROC_COMPOSE;
    if (is_ascii(s, len)) {
        nino_buf_add(out, s, len);
        return;
    }
    const utf8proc_uint8_t *text = (const utf8proc_uint8_t *) s;
    utf8proc_ssize_t n = utf8proc_decompose(text, (utf8proc_ssize_t) len, NULL, 0, options);
    utf8proc_int32_t *cps = n > 0 ? malloc((size_t) n * sizeof(*cps)) : NULL;
    if (!cps) { // the callers pass well-formed text
        out->failed = out->failed || n;
        return;
    }
    n = utf8proc_decompose(text, (utf8proc_ssize_t) len, cps, n, options);
    n = utf8proc_normalize_utf32(cps, n, options);
    for (utf8proc_ssize_t i = 0; i < n; i++)
        nino_text_put(out, (uint32_t) cps[i]);
    free(cps);
}

// ---- clean-ups -------------------------------------------------------------------------------

static void add_spaced(nino_buf *out, bool *gap, uint32_t cp)
{
    if (*gap && out->len)
        nino_buf_addc(out, ' ');
    *gap = false;
    nino_text_put(out, cp);
}

void nino_text_clean_bert(nino_buf *out, const char *s, size_t len)
{
    nino_buf kept = { 0 }, composed = { 0 };
    uint32_t cp;
    bool gap = false;
    for (size_t i = 0; i < len;) {
        i += (size_t) nino_text_next(s + i, len - i, &cp);
        if (is_dropped(cp))
            continue;
        if (nino_text_is_space(cp)) {
            gap = true;
            continue;
        }
        gap = gap || is_ideograph(cp);
        add_spaced(&kept, &gap, cp);
        gap = is_ideograph(cp);
    }
    nino_text_nfc(&composed, kept.data ? kept.data : "", kept.len);
    nino_text_lower(out, composed.data ? composed.data : "", composed.len);
    out->failed = out->failed || kept.failed || composed.failed;
    nino_buf_release(&kept);
    nino_buf_release(&composed);
}

void nino_text_clean_plain(nino_buf *out, const char *s, size_t len)
{
    nino_buf kept = { 0 };
    uint32_t cp;
    bool gap = false;
    for (size_t i = 0; i < len;) {
        i += (size_t) nino_text_next(s + i, len - i, &cp);
        if (nino_text_is_space(cp))
            gap = true;
        else
            add_spaced(&kept, &gap, cp);
    }
    nino_text_lower(out, kept.data ? kept.data : "", kept.len);
    out->failed = out->failed || kept.failed;
    nino_buf_release(&kept);
}
