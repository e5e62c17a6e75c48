// Values as Python writes them: str(), repr(), json.dumps(). Nothing here calls itself: a file
// decides how deep JSON is.
#include "core/node/pytext.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "core/base/num.h"
#include "core/base/utf8.h"

void nino_py_float(nino_buf *b, double v)
{
    char text[48], digits[32];
    int n = 0, point = 0;
    if (isnan(v) || isinf(v)) {
        nino_buf_adds(b, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
        return;
    }
    // the shortest digits, wherever the point is
    nino_print_double(text, sizeof(text), fabs(v));
    const char *s = text;
    bool behind = false, began = false;
    for (; *s && *s != 'e'; s++) {
        if (*s == '.') {
            behind = true;
            continue;
        }
        began = began || *s != '0';
        point += behind ? !began ? -1 : 0 : began;
        if (began && n < (int) sizeof(digits))
            digits[n++] = *s;
    }
    point += *s == 'e' ? (int) strtol(s + 1, NULL, 10) : 0;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    if (!began) { // zero
        nino_buf_adds(b, signbit(v) ? "-0.0" : "0.0");
        return;
    }
    if (v < 0)
        nino_buf_addc(b, '-');
    if (point <= -4 || point > 16) {
        nino_buf_addf(b, "%c%s%.*se%c%02d", digits[0], n > 1 ? "." : "", n - 1, digits + 1,
                      point > 0 ? '+' : '-', abs(point - 1));
        return;
    }
    if (point <= 0)
        nino_buf_adds(b, "0.");
    for (int i = point < 0 ? point : 0; i < n || i < point; i++) {
        if (i == point && i > 0)
            nino_buf_addc(b, '.');
        nino_buf_addc(b, i >= 0 && i < n ? digits[i] : '0');
    }
    if (n <= point)
        nino_buf_adds(b, ".0");
}

// Does repr() show the character as it is?
static bool is_shown(uint32_t c)
{
    if (c < 0x7f)
        return c >= 0x20;
    switch (utf8proc_category((utf8proc_int32_t) c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS: return false;
    default: return true;
    }
}

void nino_py_repr(nino_buf *b, const char *s, size_t len)
{
    const char quote = memchr(s, '\'', len) && !memchr(s, '"', len) ? '"' : '\'';
    nino_buf_addc(b, quote);
    for (size_t i = 0; i < len;) {
        uint32_t c = 0;
        const int n = nino_utf8_next(s + i, len - i, &c);
        const size_t step = n > 0 ? (size_t) n : 1;
        if (n <= 0)
            c = 0xfffd;
        if (c == (unsigned char) quote || c == '\\')
            nino_buf_addf(b, "\\%c", (char) c);
        else if (c == '\n' || c == '\r' || c == '\t')
            nino_buf_adds(b, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
        else if (is_shown(c))
            nino_buf_add(b, s + i, step);
        else
            nino_buf_addf(b,
                          c < 0x100     ? "\\x%02" PRIx32
                          : c < 0x10000 ? "\\u%04" PRIx32
                                        : "\\U%08" PRIx32,
                          c);
        i += step;
    }
    nino_buf_addc(b, quote);
}

// ---- JSON ------------------------------------------------------------------------------------

// Numbers with a point or an exponent are floats.
static void py_number(nino_buf *b, const nino_json *v, bool is_json)
{
    double d = 0;
    if (!strpbrk(v->text, ".eEnNiI")) {
        nino_buf_add(b, v->text, v->len);
        return;
    }
    nino_json_double(v, &d);
    if (is_json && (isnan(d) || isinf(d)))
        nino_buf_adds(b, isnan(d) ? "NaN" : d < 0 ? "-Infinity" : "Infinity");
    else
        nino_py_float(b, d);
}

static void py_json_string(nino_buf *b, const char *s, size_t len, bool escape)
{
    nino_buf plain = { 0 };
    nino_buf_add_json_string(&plain, s, len);
    b->failed = b->failed || plain.failed;
    for (size_t i = 0; plain.data && i < plain.len;) {
        uint32_t c = 0;
        const int n = nino_utf8_next(plain.data + i, plain.len - i, &c);
        const size_t step = n > 0 ? (size_t) n : 1;
        if (!escape || n <= 1)
            nino_buf_add(b, plain.data + i, step);
        else if (c < 0x10000)
            nino_buf_addf(b, "\\u%04" PRIx32, c);
        else
            nino_buf_addf(b, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd800 + ((c - 0x10000) >> 10),
                          0xdc00 + ((c - 0x10000) & 0x3ff));
        i += step;
    }
    nino_buf_release(&plain);
}

typedef struct py_style {
    bool is_json, escape;
    int indent; // of JSON; 0: one line
} py_style;

static void py_string(nino_buf *b, const py_style *y, const char *s, size_t len)
{
    if (y->is_json)
        py_json_string(b, s, len, y->escape);
    else
        nino_py_repr(b, s, len);
}

static void py_scalar(nino_buf *b, const py_style *y, const nino_json *v)
{
    switch (v->type) {
    case NINO_JSON_NULL: nino_buf_adds(b, y->is_json ? "null" : "None"); break;
    case NINO_JSON_BOOL:
        nino_buf_adds(b, y->is_json   ? v->boolean ? "true" : "false"
                         : v->boolean ? "True"
                                      : "False");
        break;
    case NINO_JSON_NUMBER: py_number(b, v, y->is_json); break;
    case NINO_JSON_STRING: py_string(b, y, v->text, v->len); break;
    default: nino_buf_adds(b, v->type == NINO_JSON_ARRAY ? "[]" : "{}"); // empty ones
    }
}

static void py_line(nino_buf *b, const py_style *y, int depth)
{
    if (y->indent)
        nino_buf_addc(b, '\n');
    for (int i = 0; i < depth * y->indent; i++)
        nino_buf_addc(b, ' ');
}

static void py_key(nino_buf *b, const py_style *y, const nino_json *v)
{
    if (!v->key)
        return;
    py_string(b, y, v->key, v->key_len);
    nino_buf_adds(b, ": ");
}

static void py_write(nino_buf *b, const py_style *y, const nino_json *root)
{
    const nino_json *v = root;
    int depth = 0;
    for (;;) {
        if (v != root)
            py_key(b, y, v);
        if (v->child) {
            nino_buf_addc(b, v->type == NINO_JSON_ARRAY ? '[' : '{');
            py_line(b, y, ++depth);
            v = v->child;
            continue;
        }
        py_scalar(b, y, v);
        while (v != root && !v->next) {
            v = v->parent;
            py_line(b, y, --depth);
            nino_buf_addc(b, v->type == NINO_JSON_ARRAY ? ']' : '}');
        }
        if (v == root)
            return;
        nino_buf_adds(b, y->indent ? "," : ", ");
        py_line(b, y, depth);
        v = v->next;
    }
}

void nino_py_str_json(nino_buf *b, const nino_json *v)
{
    const py_style y = { 0 };
    if (v->type == NINO_JSON_STRING)
        nino_buf_add(b, v->text, v->len);
    else
        py_write(b, &y, v);
}

void nino_py_dumps(nino_buf *b, const nino_json *v, int indent, bool escape)
{
    const py_style y = { true, escape, indent };
    py_write(b, &y, v);
}

bool nino_py_str(nino_buf *b, const nino_value *v)
{
    nino_json_doc *doc = NULL;
    switch (v->type) {
    case NINO_PORT_STRING: nino_buf_adds(b, v->u.string); return true;
    case NINO_PORT_INT: nino_buf_addf(b, "%" PRId64, v->u.i); return true;
    case NINO_PORT_FLOAT: nino_py_float(b, v->u.f); return true;
    case NINO_PORT_BOOLEAN: nino_buf_adds(b, v->u.b ? "True" : "False"); return true;
    case NINO_PORT_BOUNDING_BOX:
    case NINO_PORT_DICT:
    case NINO_PORT_ARRAY:
        if (nino_json_parse(v->u.string, strlen(v->u.string), "value", NULL, &doc, NULL))
            b->failed = true;
        else
            nino_py_str_json(b, doc->root);
        nino_json_doc_destroy(&doc);
        return true;
    default: return false;
    }
}
