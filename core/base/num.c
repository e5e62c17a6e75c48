// Numbers as text, the same whatever setlocale() was called with.
#include "core/base/num.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The "C" locale object needs no memory, so this cannot fail in practice; never freed.
static locale_t c_locale(void)
{
    static locale_t loc;
    locale_t l = __atomic_load_n(&loc, __ATOMIC_ACQUIRE);
    if (!l) {
        l = newlocale(LC_ALL_MASK, "C", (locale_t) 0);
        __atomic_store_n(&loc, l, __ATOMIC_RELEASE);
    }
    return l ? l : LC_GLOBAL_LOCALE;
}

double nino_strtod(const char *s, char **end)
{
    const locale_t old = uselocale(c_locale());
    const double v = strtod(s, end);
    uselocale(old);
    return v;
}

int nino_vsnprintf(char *buf, size_t size, const char *fmt, va_list ap)
{
    const locale_t old = uselocale(c_locale());
    const int n = vsnprintf(buf, size, fmt, ap);
    uselocale(old);
    return n;
}

int nino_snprintf(char *buf, size_t size, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const int n = nino_vsnprintf(buf, size, fmt, ap);
    va_end(ap);
    return n;
}

// The fewest digits that read back as v: %.0e, %.1e, … %.16e.
static void shortest_digits(char *out, size_t size, double v)
{
    for (int prec = 0; prec <= 16; prec++) {
        nino_snprintf(out, size, "%.*e", prec, v);
        if (nino_strtod(out, NULL) == v)
            return;
    }
}

int nino_print_double(char *buf, size_t size, double v)
{
    if (isnan(v))
        return snprintf(buf, size, "NaN");
    if (isinf(v))
        return snprintf(buf, size, v < 0 ? "-Infinity" : "Infinity");
    if (v == 0)
        return snprintf(buf, size, signbit(v) ? "-0" : "0");
    // [-]d[.ddd]e±xx, split into digits and exponent
    char sci[32], digits[20] = { 0 };
    int n = 0;
    shortest_digits(sci, sizeof(sci), v);
    char *p = sci;
    const char *sign = *p == '-' ? "-" : "";
    for (; *p != 'e'; p++)
        if (*p >= '0' && *p <= '9')
            digits[n++] = *p;
    const int e = (int) strtol(p + 1, NULL, 10); // v = 0.digits * 10^(e + 1)
    if (e >= n - 1 && e < 16)                    // integer, with zeros behind the digits
        return snprintf(buf, size, "%s%.*s%.*s", sign, n, digits, e - n + 1, "0000000000000000");
    if (e >= 0 && e < 16)
        return snprintf(buf, size, "%s%.*s.%.*s", sign, e + 1, digits, n - e - 1, digits + e + 1);
    if (e < 0 && e >= -4)
        return snprintf(buf, size, "%s0.%.*s%.*s", sign, -e - 1, "000", n, digits);
    return snprintf(buf, size, "%s%c%s%.*se%d", sign, digits[0], n > 1 ? "." : "", n - 1,
                    digits + 1, e);
}

static bool all_digits(const char *s)
{
    const size_t n = strspn(s, "0123456789");
    return n && !s[n];
}

bool nino_parse_i64(const char *s, int64_t *out)
{
    if (!all_digits(s + (*s == '-')))
        return false;
    errno = 0;
    const long long v = strtoll(s, NULL, 10);
    if (errno)
        return false;
    *out = v;
    return true;
}

bool nino_parse_u64(const char *s, uint64_t *out)
{
    if (!all_digits(s))
        return false;
    errno = 0;
    const unsigned long long v = strtoull(s, NULL, 10);
    if (errno)
        return false;
    *out = v;
    return true;
}

bool nino_parse_double(const char *s, double *out)
{
    const char *t = s + (*s == '-');
    char *end;
    // strtod() alone would also take hexadecimal, "nan(x)", "inf" and leading spaces
    const bool word = !strcmp(s, "NaN") || !strcmp(t, "Infinity");
    if (!word && (strspn(t, "0123456789.eE+-") != strlen(t) || *t == '+' || *t == '-'))
        return false;
    const double v = nino_strtod(s, &end);
    if (end == s || *end || (!word && isinf(v)))
        return false;
    *out = v;
    return true;
}
