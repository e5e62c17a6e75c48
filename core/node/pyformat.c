// Python's str.format() with named values and the format specification mini-language.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/num.h"
#include "core/base/utf8.h"
#include "core/node/pytext.h"

#define MAX_WIDTH 10000
#define MAX_DIGITS 340 // behind the point

typedef struct spec {
    char fill[5]; // UTF-8
    char align, sign, group, type;
    bool alternate, zero;
    int width, precision; // -1: none
} spec;

typedef struct format {
    const char *text;
    size_t at;
    const nino_py_arg *args;
    int n;
    nino_error *err;
} format;

__attribute__((format(printf, 2, 3))) static nino_status format_fail(const format *f,
                                                                     const char *fmt, ...)
{
    char what[120];
    int place = 1;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    for (size_t i = 0; i < f->at; i++)
        place += (f->text[i] & 0xc0) != 0x80;
    return nino_fail_kind(f->err, NINO_ERR_ARG, "format", "f_string", "%s at character %d", what,
                          place);
}

// ---- the specification -----------------------------------------------------------------------

static bool is_align(char c) { return c && strchr("<>=^", c); }

static const char *spec_number(const char *s, int *out)
{
    int64_t n = 0;
    if (*s < '0' || *s > '9')
        return s;
    for (; *s >= '0' && *s <= '9'; s++)
        n = n > MAX_WIDTH ? n : n * 10 + (*s - '0');
    *out = n > MAX_WIDTH ? MAX_WIDTH + 1 : (int) n;
    return s;
}

// False: not a specification.
static bool spec_read(const char *s, spec *out)
{
    uint32_t c = 0;
    const int first = *s ? nino_utf8_next(s, strlen(s), &c) : 0;
    *out = (spec){ .fill = " ", .width = -1, .precision = -1 };
    bool has_fill = false;
    if (first > 0 && is_align(s[first])) {
        memcpy(out->fill, s, (size_t) first);
        out->fill[first] = 0;
        out->align = s[first];
        has_fill = true;
        s += first + 1;
    } else if (is_align(*s)) {
        out->align = *s++;
    }
    if (*s && strchr("+- ", *s))
        out->sign = *s++;
    if (*s == '#') {
        out->alternate = true;
        s++;
    }
    if (*s == '0') { // zeros to the left, unless something else is asked for
        out->zero = true;
        if (!has_fill)
            snprintf(out->fill, sizeof(out->fill), "0");
        s++;
    }
    s = spec_number(s, &out->width);
    if (*s && strchr(",_", *s))
        out->group = *s++;
    if (*s == '.') {
        const char *digits = s + 1;
        s = spec_number(digits, &out->precision);
        if (s == digits)
            return false;
    }
    if (*s)
        out->type = *s++;
    return !*s && out->width <= MAX_WIDTH && out->precision <= MAX_WIDTH;
}

// ---- padding ---------------------------------------------------------------------------------

static int64_t format_length(const char *s)
{
    int64_t n = 0;
    for (; *s; s++)
        n += (*s & 0xc0) != 0x80;
    return n;
}

static void format_pad(nino_buf *b, const spec *p, const char *head, const char *body, char align)
{
    const int64_t missing = p->width - format_length(head) - format_length(body);
    const int64_t left = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
    if (align == '=')
        nino_buf_adds(b, head);
    for (int64_t i = 0; i < left; i++)
        nino_buf_adds(b, p->fill);
    if (align != '=')
        nino_buf_adds(b, head);
    nino_buf_adds(b, body);
    for (int64_t i = left; i < missing && align != '='; i++)
        nino_buf_adds(b, p->fill);
}

// Digits with separators, filled up with zeros to the width where the specification says so.
static void format_group(nino_buf *b, const spec *p, const char *digits, size_t n, int size,
                         int64_t room)
{
    const char sep = p->group;
    const bool fills = !strcmp(p->fill, "0") && (p->align ? p->align == '=' : p->zero);
    int64_t count = (int64_t) n;
    while (fills && count + (sep ? (count - 1) / size : 0) < room)
        count++;
    for (int64_t i = count - 1; i >= 0; i--) {
        nino_buf_addc(b, i < (int64_t) n ? digits[n - 1 - (size_t) i] : '0');
        if (sep && i && i % size == 0)
            nino_buf_addc(b, sep);
    }
}

// A number: sign, prefix, whole digits, the rest (".5e+10", "%").
static void format_number(nino_buf *b, const spec *p, bool negative, const char *prefix,
                          const char *whole, const char *rest, int size)
{
    char head[8];
    nino_buf body = { 0 };
    snprintf(head, sizeof(head), "%s%s",
             negative         ? "-"
             : p->sign == '+' ? "+"
             : p->sign == ' ' ? " "
                              : "",
             prefix);
    const int64_t room = p->width - (int64_t) strlen(head) - (int64_t) strlen(rest);
    format_group(&body, p, whole, strlen(whole), size, room);
    nino_buf_adds(&body, rest);
    b->failed = b->failed || body.failed;
    format_pad(b, p, head, body.data ? body.data : "", p->align ? p->align : p->zero ? '=' : '>');
    nino_buf_release(&body);
}

// ---- types -----------------------------------------------------------------------------------

static nino_status format_int(const format *f, nino_buf *b, const spec *p, int64_t v)
{
    char digits[72];
    const char *prefix = "";
    const char type = p->type ? p->type : 'd';
    uint64_t m = v < 0 ? 0 - (uint64_t) v : (uint64_t) v;
    int n = 0, base = type == 'b' ? 2 : type == 'o' ? 8 : type == 'x' || type == 'X' ? 16 : 10;
    if (p->precision >= 0)
        return format_fail(f, "a whole number takes no precision");
    if (type == 'c') {
        char c[8] = "";
        if (v < 1 || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
            return format_fail(f, "no character has this number");
        if (p->sign || p->alternate || p->group)
            return format_fail(f, "a character takes none of + # , _");
        nino_utf8_put(c, (uint32_t) v);
        format_pad(b, p, "", c, p->align && p->align != '=' ? p->align : '>');
        return NINO_OK;
    }
    if (p->group == ',' && base != 10)
        return format_fail(f, "',' is for decimal numbers");
    char reversed[72];
    do
        reversed[n++] =
            (type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef")[m % (unsigned) base];
    while (m /= (unsigned) base);
    for (int i = 0; i < n; i++)
        digits[i] = reversed[n - 1 - i];
    digits[n] = 0;
    if (p->alternate && base != 10)
        prefix = type == 'b' ? "0b" : type == 'o' ? "0o" : type == 'x' ? "0x" : "0X";
    format_number(b, p, v < 0, prefix, digits, "", base == 10 ? 3 : 4);
    return NINO_OK;
}

// Digits without an exponent's zeros at their end, as %g has them.
static void format_strip(char *s, bool keeps_one)
{
    char *e = strpbrk(s, "eE"), *point = strchr(s, '.');
    if (!point)
        return;
    char *end = e ? e : s + strlen(s), *to = end;
    while (to[-1] == '0' && (!keeps_one || to[-2] != '.'))
        to--;
    if (to[-1] == '.')
        to--;
    memmove(to, end, strlen(end) + 1);
}

// %g of Python: `add_point` is for numbers without a type, which show that they are floats.
static void format_general(char *out, size_t size, double v, int precision, bool add_point,
                           bool alternate)
{
    const int p = precision ? precision : 1;
    char probe[400];
    nino_snprintf(probe, sizeof(probe), "%.*e", p - 1, v);
    const int decpt = (int) strtol(strchr(probe, 'e') + 1, NULL, 10) + 1;
    const bool uses_exp = decpt <= -4 || decpt > p - (add_point ? 1 : 0);
    if (uses_exp)
        snprintf(out, size, "%s", probe);
    else
        nino_snprintf(out, size, "%.*f", p - decpt > 0 ? p - decpt : 0, v);
    if (!alternate)
        format_strip(out, add_point && !uses_exp);
    if (add_point && !uses_exp && !strchr(out, '.'))
        strncat(out, ".0", size - strlen(out) - 1);
}

static nino_status format_float(const format *f, nino_buf *b, const spec *p, double v)
{
    char text[800];
    const double m = fabs(v);
    const char type = p->type;
    const int precision = p->precision >= 0 ? p->precision : 6;
    if (precision > MAX_DIGITS)
        return format_fail(f, "more than %d digits", MAX_DIGITS);
    if (isnan(v) || isinf(v)) {
        snprintf(text, sizeof(text), "%s%s", isnan(v) ? "nan" : "inf", type == '%' ? "%" : "");
    } else if (!type && p->precision < 0) {
        nino_buf repr = { 0 };
        nino_py_float(&repr, m);
        snprintf(text, sizeof(text), "%s", repr.data ? repr.data : "");
        nino_buf_release(&repr);
    } else if (type == 'e' || type == 'E') {
        nino_snprintf(text, sizeof(text), "%.*e", precision, m);
    } else if (type == 'f' || type == 'F' || type == '%') {
        nino_snprintf(text, sizeof(text), "%.*f%s%s", precision, type == '%' ? m * 100 : m,
                      p->alternate && !precision ? "." : "", type == '%' ? "%" : "");
    } else {
        format_general(text, sizeof(text), m, precision, !type, p->alternate);
    }
    for (char *c = text; type == 'E' || type == 'F' || type == 'G' ? *c : 0; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char) (*c - 32) : *c;
    const size_t n = strspn(text, "0123456789");
    if (p->alternate && n && text[n] != '.' && text[n] != '%') { // shows that it could go on
        memmove(text + n + 1, text + n, strlen(text + n) + 1);
        text[n] = '.';
    }
    char whole[400], rest[420];
    snprintf(whole, sizeof(whole), "%.*s", (int) n, text);
    snprintf(rest, sizeof(rest), "%s", text + n);
    const bool negative = signbit(v) && !isnan(v);
    spec q = *p;
    if (isnan(v) || isinf(v))
        q.group = 0;
    format_number(b, &q, negative, "", whole, rest, 3);
    return NINO_OK;
}

static nino_status format_text(const format *f, nino_buf *b, const spec *p, const char *s)
{
    char *cut = NULL;
    if (p->sign || p->group || p->alternate || p->align == '=')
        return format_fail(f, "this is for numbers, not for a text");
    if (p->precision >= 0) { // so many characters
        size_t n = 0;
        for (int64_t count = 0; s[n]; n++)
            if ((s[n] & 0xc0) != 0x80 && count++ == p->precision)
                break;
        if (!(s = cut = strndup(s, n)))
            return nino_fail(f->err, NINO_ERR_NOMEM, "f_string", "out of memory");
    }
    format_pad(b, p, "", s, p->align ? p->align : '<');
    free(cut);
    return NINO_OK;
}

static nino_status format_value(const format *f, nino_buf *b, const spec *p, bool is_plain,
                                const nino_value *v)
{
    const bool is_bool = v->type == NINO_PORT_BOOLEAN;
    if (is_plain) {
        if (nino_py_str(b, v))
            return NINO_OK;
        return format_fail(f, "%s has no text", nino_port_type_name(v->type));
    }
    if (v->type == NINO_PORT_STRING) {
        if (p->type && p->type != 's')
            return format_fail(f, "a text has no format '%c'", p->type);
        return format_text(f, b, p, v->u.string);
    }
    if (v->type == NINO_PORT_FLOAT) {
        if (p->type && !strchr("eEfFgGn%", p->type))
            return format_fail(f, "a float has no format '%c'", p->type);
        return format_float(f, b, p, v->u.f);
    }
    if (v->type == NINO_PORT_INT || is_bool) {
        const int64_t i = is_bool ? v->u.b : v->u.i;
        if (p->type && strchr("eEfFgG%", p->type))
            return format_float(f, b, p, (double) i);
        if (p->type && !strchr("bcdoxXn", p->type))
            return format_fail(f, "a whole number has no format '%c'", p->type);
        return format_int(f, b, p, i);
    }
    return format_fail(f, "%s takes no format", nino_port_type_name(v->type));
}

// ---- the text --------------------------------------------------------------------------------

static nino_status format_find(const format *f, const char *name, size_t n, const nino_value **out)
{
    *out = NULL;
    for (int i = 0; i < f->n; i++)
        if (strlen(f->args[i].name) == n && !memcmp(f->args[i].name, name, n))
            *out = f->args[i].v;
    if (*out)
        return NINO_OK;
    return format_fail(f, "there is no value '%.*s'", n > 40 ? 40 : (int) n, name);
}

// The specification with the values of fields in it; f stands behind its colon.
static nino_status format_spec(format *f, nino_buf *out)
{
    nino_buf_adds(out, "");
    for (; f->text[f->at] && f->text[f->at] != '}'; f->at++) {
        if (f->text[f->at] != '{') {
            nino_buf_addc(out, f->text[f->at]);
            continue;
        }
        const char *name = f->text + f->at + 1;
        const size_t n = strcspn(name, "}{");
        const nino_value *v = NULL;
        const nino_status st = format_find(f, name, n, &v);
        if (st || !v)
            return st;
        if (name[n] != '}' || !nino_py_str(out, v))
            return format_fail(f, "no value that a format can hold");
        f->at += n + 1;
    }
    return NINO_OK;
}

// f stands behind the brace.
static nino_status format_field(format *f, nino_buf *b)
{
    const char *name = f->text + f->at;
    const size_t n = strcspn(name, "{}!:");
    const nino_value *v = NULL;
    nino_buf text = { 0 }, said = { 0 };
    spec p = { 0 };
    nino_status st = format_find(f, name, n, &v);
    if (st || !v)
        return st;
    f->at += n;
    bool is_repr = false;
    if (f->text[f->at] == '!') {
        is_repr = f->text[f->at + 1] == 'r' || f->text[f->at + 1] == 'a';
        if (!is_repr && f->text[f->at + 1] != 's')
            return format_fail(f, "!s or !r is needed");
        f->at += 2;
    }
    const bool converts = name[n] == '!';
    if (f->text[f->at] == ':') {
        f->at++;
        st = format_spec(f, &text);
    }
    nino_value as_text = { .type = NINO_PORT_STRING };
    if (!st && converts) { // what follows formats the text
        const bool is_text = is_repr && v->type == NINO_PORT_STRING;
        if (is_text)
            nino_py_repr(&said, v->u.string, strlen(v->u.string));
        else if (!nino_py_str(&said, v))
            st = format_fail(f, "%s has no text", nino_port_type_name(v->type));
        nino_buf_adds(&said, "");
        as_text.u.string = said.data;
        v = &as_text;
    }
    if (!st && said.failed)
        st = nino_fail(f->err, NINO_ERR_NOMEM, "f_string", "out of memory");
    if (!st && f->text[f->at] != '}')
        st = format_fail(f, "a closing brace is needed");
    if (!st && text.len && !spec_read(text.data, &p))
        st = format_fail(f, "'%.40s' is no format", text.data);
    if (!st)
        st = format_value(f, b, &p, !text.len, v);
    f->at++;
    nino_buf_release(&text);
    nino_buf_release(&said);
    return st;
}

nino_status nino_py_format(nino_buf *b, const char *text, const nino_py_arg *args, int n,
                           nino_error *err)
{
    format f = { text, 0, args, n, err };
    nino_status st = NINO_OK;
    nino_buf_adds(b, "");
    while (!st && text[f.at]) { // after an error it may stand behind the end
        const char c = text[f.at];
        if ((c == '{' || c == '}') && text[f.at + 1] == c) {
            nino_buf_addc(b, c);
            f.at += 2;
        } else if (c == '}') {
            st = format_fail(&f, "a brace that nothing opens");
        } else if (c == '{') {
            f.at++;
            st = format_field(&f, b);
        } else {
            nino_buf_addc(b, c);
            f.at++;
        }
    }
    return !st && b->failed ? nino_fail(err, NINO_ERR_NOMEM, "f_string", "out of memory") : st;
}
