// Strict UTF-8: every boundary of the encoding, and printable text.
#include "core/base/utf8.h"
#include "core/base/error.h"
#include "tests/test.h"

static bool valid(const char *s) { return nino_utf8_valid(s, strlen(s)); }

static void test_all_code_points(void)
{
    for (uint32_t cp = 0; cp < 0x110000; cp++) {
        char s[4];
        uint32_t back = 0;
        if (cp == 0xd800)
            cp = 0xe000;
        const int n = nino_utf8_put(s, cp);
        CHECK(n == (cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4));
        CHECK(nino_utf8_next(s, (size_t) n, &back) == n && back == cp);
        CHECK(nino_utf8_valid(s, (size_t) n));
        for (int k = 1; k < n; k++) // cut short
            CHECK(!nino_utf8_next(s, (size_t) k, &back) && !nino_utf8_valid(s, (size_t) k));
    }
}

static void test_bad(void)
{
    static const char *const bad[] = {
        "\x80",
        "\xbf",
        "\xc0\x80",
        "\xc1\xbf",
        "\xe0\x9f\xbf",
        "\xf0\x8f\xbf\xbf",
        "\xed\xa0\x80",
        "\xed\xbf\xbf",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xf8\x88\x80\x80",
        "\xfe",
        "\xff",
        "\xc3(",
        "\xe2\x82(",
        "abcdefgh\xff",
        "abcdefg\xe2\x82xabcdefgh",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(!valid(bad[i]));
    CHECK(valid("") && valid("abcdefghi") && valid("abcdefg\xe2\x82\xac xyz 12345678"));
    CHECK(nino_utf8_valid("a\0b", 3));
    // every two-byte string against the definition
    for (int a = 0; a < 256; a++)
        for (int b = 0; b < 256; b++) {
            const char s[2] = { (char) a, (char) b };
            const bool ok = (a < 0x80 && b < 0x80) || (a >= 0xc2 && a < 0xe0 && (b & 0xc0) == 0x80);
            CHECK(nino_utf8_valid(s, 2) == ok);
        }
}

static void check_printable(const char *in, size_t size, const char *expect)
{
    char out[64];
    memset(out, 'Z', sizeof(out));
    nino_utf8_printable(out, size, in, strlen(in));
    CHECK_STR(out, expect);
    for (size_t i = size; i < sizeof(out); i++)
        CHECK(out[i] == 'Z');
}

// Every character that steers a terminal, reorders or hides text, and every byte that is none: '?',
// alone and between others, and nothing else.
static void test_printable_all(void)
{
    static const uint32_t unsafe[][2] = { { 0x00, 0x1f },      { 0x7f, 0x9f },
                                          { 0x61c, 0x61c },    { 0x200e, 0x200f },
                                          { 0x2028, 0x202e },  { 0x2066, 0x2069 },
                                          { 0xfeff, 0xfeff },  { 0xfff9, 0xfffb },
                                          { 0xe0000, 0xe007f } };
    nino_error err;
    for (uint32_t cp = 1; cp < 0x110000; cp++) {
        char in[8] = "a", out[8], expect[8] = "a?b";
        bool is_unsafe = false;
        if (cp == 0xd800)
            cp = 0xe000;
        for (size_t i = 0; i < sizeof(unsafe) / sizeof(unsafe[0]); i++)
            is_unsafe |= cp >= unsafe[i][0] && cp <= unsafe[i][1];
        in[1 + nino_utf8_put(in + 1, cp)] = 'b';
        if (!is_unsafe)
            memcpy(expect, in, sizeof(in));
        nino_utf8_printable(out, sizeof(out), in, strlen(in));
        CHECK_STR(out, expect);
        if (cp > 0xffff && cp < 0xe0000)
            continue;
        nino_fail(&err, NINO_ERR_IO, in, "%s", in); // what every failure says
        CHECK_STR(err.where, expect);
        CHECK_STR(err.msg, expect);
    }
    for (int byte = 0x80; byte < 0x100; byte++) {
        const char in[] = { 'a', (char) byte, 'b', 0 };
        check_printable(in, 64, "a?b");
        nino_fail(&err, NINO_ERR_IO, in, "%s", in);
        CHECK_STR(err.where, "a?b");
        CHECK_STR(err.msg, "a?b");
    }
}

static void test_printable(void)
{
    check_printable("plain \xc3\xa9 \xf0\x9f\x98\x80", 64, "plain \xc3\xa9 \xf0\x9f\x98\x80");
    check_printable("a\x1b[31m\n\t\x7f", 64, "a?[31m???");
    check_printable("\xc2\x9b"
                    "2J",
                    64, "?2J");                                  // C1 control sequence introducer
    check_printable("x\xe2\x80\xaey\xe2\x81\xa6z", 64, "x?y?z"); // bidi override, isolate
    check_printable("\xef\xbb\xbf\xe2\x80\xa8\xe2\x80\x8f", 64, "???"); // BOM, line separator, RLM
    check_printable("a\xff\xc3", 64, "a??");
    check_printable("abc", 3, "ab");
    check_printable("ab\xc3\xa9", 4, "ab"); // no half characters
    check_printable("abc", 1, "");
    char none = 'Z';
    nino_utf8_printable(&none, 0, "a", 1);
    CHECK(none == 'Z');
    char same[] = "a\xff\xe2\x80\xaeq"; // in place
    nino_utf8_printable(same, sizeof(same), same, strlen(same));
    CHECK_STR(same, "a??q");
}

int main(void)
{
    test_all_code_points();
    test_bad();
    test_printable();
    test_printable_all();
    return 0;
}
