// The axes of a grid from text.
#include <ninodes/grid.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/utf8.h"

static nino_status grid_refuse(const nino_axis *a, const char *item, size_t len, const char *why,
                               nino_error *err)
{
    char shown[64];
    nino_utf8_printable(shown, sizeof(shown), item, len);
    return nino_fail(err, NINO_ERR_ARG, a->input, "'%s' %s", shown, why);
}

static nino_status grid_add(nino_axis *a, const char *text, size_t len, nino_error *err)
{
    if (a->n == NINO_AXIS_MAX)
        return nino_fail(err, NINO_ERR_ARG, a->input, "more than %d values", NINO_AXIS_MAX);
    char **value = realloc(a->value, (a->n + 1) * sizeof(*value));
    char *copy = strndup(text, len);
    if (value)
        a->value = value;
    if (!value || !copy) {
        free(copy);
        return nino_fail(err, NINO_ERR_NOMEM, a->input, "out of memory");
    }
    a->value[a->n++] = copy;
    return NINO_OK;
}

// ---- ranges ------------------------------------------------------------------------------------

// As it is written: 0.250 is 250 with 3 digits behind the point.
typedef struct decimal {
    int64_t v;
    int digits;
} decimal;

static bool read_decimal(const char *s, size_t len, decimal *out)
{
    const bool minus = len && *s == '-';
    int64_t v = 0;
    int digits = -1;
    size_t n = 0;
    for (size_t i = minus; i < len; i++) {
        if (s[i] == '.' && digits < 0) {
            digits = 0;
            continue;
        }
        if (s[i] < '0' || s[i] > '9' || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, s[i] - '0', &v))
            return false;
        n++;
        digits += digits >= 0;
    }
    *out = (decimal){ minus ? -v : v, digits < 0 ? 0 : digits };
    return n && s[len - 1] != '.';
}

static bool grid_widen(decimal *d, int digits)
{
    for (; d->digits < digits; d->digits++)
        if (__builtin_mul_overflow(d->v, 10, &d->v))
            return false;
    return true;
}

static nino_status add_decimal(nino_axis *a, decimal d, nino_error *err)
{
    char text[64];
    const uint64_t v = d.v < 0 ? 0 - (uint64_t) d.v : (uint64_t) d.v;
    uint64_t unit = 1;
    for (int i = 0; i < d.digits; i++)
        unit *= 10;
    int n = snprintf(text, sizeof(text), "%s%" PRIu64, d.v < 0 ? "-" : "", v / unit);
    if (d.digits)
        n += snprintf(text + n, sizeof(text) - (size_t) n, ".%0*" PRIu64, d.digits, v % unit);
    return grid_add(a, text, (size_t) n, err);
}

// FROM..TO or FROM..TO:STEP. False: no range.
static bool grid_read_range(const char *s, size_t len, decimal part[3])
{
    const char *dots = memmem(s, len, "..", 2);
    if (!dots)
        return false;
    const char *to = dots + 2, *end = s + len, *colon = memchr(to, ':', (size_t) (end - to));
    part[2] = (decimal){ 1, 0 };
    return read_decimal(s, (size_t) (dots - s), &part[0]) &&
           read_decimal(to, (size_t) ((colon ? colon : end) - to), &part[1]) &&
           (!colon || read_decimal(colon + 1, (size_t) (end - colon - 1), &part[2]));
}

static nino_status grid_add_range(nino_axis *a, const char *item, size_t len, decimal part[3],
                                  nino_error *err)
{
    nino_status st = NINO_OK;
    int digits = part[0].digits;
    for (int i = 1; i < 3; i++)
        digits = part[i].digits > digits ? part[i].digits : digits;
    if (digits > 18 || !grid_widen(&part[0], digits) || !grid_widen(&part[1], digits) ||
        !grid_widen(&part[2], digits))
        return grid_refuse(a, item, len, "has too many digits", err);
    if (part[2].v <= 0)
        return grid_refuse(a, item, len, "needs a step above 0", err);
    const bool is_down = part[1].v < part[0].v;
    int64_t v = part[0].v;
    do {
        if ((st = add_decimal(a, (decimal){ v, digits }, err)))
            return st;
        if (is_down ? __builtin_sub_overflow(v, part[2].v, &v)
                    : __builtin_add_overflow(v, part[2].v, &v))
            break;
    } while (is_down ? v >= part[1].v : v <= part[1].v);
    return NINO_OK;
}

// ---- the list ----------------------------------------------------------------------------------

// A value between quotes; *s comes to stand behind it.
static nino_status grid_add_quoted(nino_axis *a, const char **s, nino_error *err)
{
    const char *begin = *s, *p = begin + 1;
    nino_buf b = { 0 };
    nino_status st = NINO_OK;
    nino_buf_adds(&b, "");
    for (; *p && (*p != '"' || p[1] == '"'); p++) {
        nino_buf_addc(&b, *p);
        p += *p == '"';
    }
    if (b.failed)
        st = nino_fail(err, NINO_ERR_NOMEM, a->input, "out of memory");
    else if (!*p)
        st = grid_refuse(a, begin, strlen(begin), "lacks its closing quote", err);
    else if (p[1] && p[1] != ',')
        st = grid_refuse(a, begin, strlen(begin), "needs a comma behind its closing quote", err);
    else
        st = grid_add(a, b.data, b.len, err);
    nino_buf_release(&b);
    *s = *p ? p + 1 : p;
    return st;
}

static nino_status grid_add_item(nino_axis *a, const char **s, nino_error *err)
{
    const size_t len = strcspn(*s, ",");
    const char *item = *s;
    decimal part[3];
    if (*item == '"')
        return grid_add_quoted(a, s, err);
    *s += len;
    if (!len)
        return nino_fail(err, NINO_ERR_ARG, a->input, "a value is empty (\"\" is an empty text)");
    return grid_read_range(item, len, part) ? grid_add_range(a, item, len, part, err)
                                            : grid_add(a, item, len, err);
}

nino_status nino_axis_parse(const char *text, nino_axis *out, nino_error *err)
{
    const char *eq = strchr(text, '=');
    const char *dot = eq ? memrchr(text, '.', (size_t) (eq - text)) : NULL;
    nino_axis a = { 0 };
    nino_status st = NINO_OK;
    if (!dot || dot == text || dot + 1 == eq) {
        char shown[128];
        nino_utf8_printable(shown, sizeof(shown), text, strlen(text));
        return nino_fail(err, NINO_ERR_ARG, shown, "this must read NODE.INPUT=VALUE,VALUE,...");
    }
    if (!(a.input = strndup(text, (size_t) (eq - text))))
        return nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
    for (const char *s = eq + 1;; s++) {
        if ((st = grid_add_item(&a, &s, err)) || !*s)
            break;
    }
    if (st)
        nino_axis_release(&a);
    else
        *out = a;
    return st;
}

void nino_axis_release(nino_axis *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->n; i++)
        free(a->value[i]);
    free(a->value);
    free(a->input);
    *a = (nino_axis){ 0 };
}

char *nino_axis_assignment(const nino_axis *a, size_t i)
{
    const size_t size = strlen(a->input) + strlen(a->value[i]) + 2;
    char *text = malloc(size);
    if (text)
        snprintf(text, size, "%s=%s", a->input, a->value[i]);
    return text;
}
