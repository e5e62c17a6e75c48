// Numbers as text, in the C locale and in one with a decimal comma where there is one.
#include "core/base/buf.h"
#include "core/base/num.h"
#include "tests/test.h"
#include "tests/unit/base/comma.h"

#include <math.h>

// The same bits, or both NaN.
static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static void check_print(double v, const char *expect)
{
    char s[32];
    const int n = nino_print_double(s, sizeof(s), v);
    CHECK_STR(s, expect);
    CHECK(n == (int) strlen(expect));
    double back;
    CHECK(nino_parse_double(s, &back));
    CHECK(same(back, v));
}

static void test_print(void)
{
    static const struct {
        double v;
        const char *text;
    } t[] = {
        { 0, "0" },
        { -0.0, "-0" },
        { 8, "8" },
        { -7.5, "-7.5" },
        { 0.1, "0.1" },
        { 0.1 + 0.2, "0.30000000000000004" },
        { 0.18215, "0.18215" },
        { 1.0 / 3, "0.3333333333333333" },
        { 100000, "100000" },
        { 123456.789, "123456.789" },
        { 0.0001, "0.0001" },
        { 0.00012, "0.00012" },
        { 0.00001, "1e-5" },
        { 9007199254740992.0, "9007199254740992" },
        { 1e15, "1000000000000000" },
        { 1e16, "1e16" },
        { 1e22, "1e22" },
        { 1.5e300, "1.5e300" },
        { 1.7976931348623157e308, "1.7976931348623157e308" },
        { 2.2250738585072014e-308, "2.2250738585072014e-308" },
        { 5e-324, "5e-324" },
        { (double) 0.1f, "0.10000000149011612" },
        { INFINITY, "Infinity" },
        { -INFINITY, "-Infinity" },
        { NAN, "NaN" },
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
        check_print(t[i].v, t[i].text);

    uint64_t x = 88172645463325252u; // xorshift: any bit pattern must come back
    for (int i = 0; i < 20000; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        double v, back;
        char s[32];
        memcpy(&v, &x, sizeof(v));
        CHECK(nino_print_double(s, sizeof(s), v) < (int) sizeof(s));
        CHECK(nino_parse_double(s, &back));
        CHECK(same(back, v));
        CHECK(!strchr(s, ','));
    }
}

static void test_parse(void)
{
    int64_t i = 1;
    CHECK(nino_parse_i64("0", &i) && i == 0);
    CHECK(nino_parse_i64("-9223372036854775808", &i) && i == INT64_MIN);
    CHECK(nino_parse_i64("9223372036854775807", &i) && i == INT64_MAX);
    static const char *const bad_int[] = { "",   "-",   "--1", "+1",   " 1",
                                           "1 ", "1.0", "1e3", "0x10", "9223372036854775808",
                                           "1a", "\n1", "a" };
    for (size_t k = 0; k < sizeof(bad_int) / sizeof(bad_int[0]); k++) {
        int64_t v = 5;
        CHECK(!nino_parse_i64(bad_int[k], &v) && v == 5);
    }
    CHECK(!nino_parse_i64("-9223372036854775809", &i));

    uint64_t u = 1;
    CHECK(nino_parse_u64("18446744073709551615", &u) && u == UINT64_MAX);
    CHECK(nino_parse_u64("9007199254740993", &u) && u == 9007199254740993u);
    CHECK(!nino_parse_u64("18446744073709551616", &u) && !nino_parse_u64("-1", &u) &&
          !nino_parse_u64("-0", &u) && !nino_parse_u64("", &u) && !nino_parse_u64(" 1", &u) &&
          !nino_parse_u64("1.5", &u));

    double d = 1;
    CHECK(nino_parse_double("7.5", &d) && d == 7.5);
    CHECK(nino_parse_double("-.5e1", &d) && d == -5);
    CHECK(nino_parse_double("1e-400", &d) && d == 0);
    CHECK(nino_parse_double("-Infinity", &d) && isinf(d) && d < 0);
    static const char *const bad_double[] = { "",      "-",   ".",     "e5",   "7,5",   "1e",
                                              " 1",    "1 ",  "inf",   "nan",  "+1",    "0x1",
                                              "1e999", "--1", "1.2.3", "-NaN", "NaN(1)" };
    for (size_t k = 0; k < sizeof(bad_double) / sizeof(bad_double[0]); k++) {
        d = 5;
        CHECK(!nino_parse_double(bad_double[k], &d) && d == 5);
    }

    char *end;
    CHECK(nino_strtod("7.5x", &end) == 7.5 && *end == 'x');
    CHECK(nino_strtod("x", &end) == 0 && *end == 'x');
}

static void test_format(void)
{
    nino_buf b = { 0 };
    nino_buf_addf(&b, "%.2f %g", 1.25, 1e6);
    CHECK_STR(b.data, "1.25 1e+06");
    nino_buf_release(&b);
    char s[4];
    CHECK(nino_snprintf(s, sizeof(s), "%.1f", 2.54) == 3);
    CHECK_STR(s, "2.5");
}

static void test_all(void)
{
    test_print();
    test_parse();
    test_format();
}

int main(void)
{
    char s[8];
    test_all();
    if (!set_comma_locale()) {
        printf("note: no locale with a decimal comma, and none can be made\n");
        return 0;
    }
    snprintf(s, sizeof(s), "%.1f", 7.5);
    CHECK_STR(s, "7,5"); // the trap is set
    test_all();
    snprintf(s, sizeof(s), "%.1f", 7.5);
    CHECK_STR(s, "7,5"); // and the caller's locale is as it was
    return 0;
}
