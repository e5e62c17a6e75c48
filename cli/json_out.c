// JSON lines on stdout. The program stays in the C locale, so printf writes decimal points.
#include "cli.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool comma; // the next member needs one before it
static bool has_envelope;

// A character beyond ASCII, n well-formed bytes; one that is not for a terminal as its number.
static void json_out_wide(const char *s, size_t n)
{
    char shown[8];
    nino_utf8_printable(shown, sizeof(shown), s, n);
    if (!memcmp(shown, s, n)) {
        fwrite(s, 1, n, stdout);
        return;
    }
    uint32_t cp = (uint8_t) s[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++)
        cp = cp << 6 | ((uint8_t) s[i] & 0x3f);
    if (cp > 0xffff)
        printf("\\u%04x", 0xd7c0 + (cp >> 10));
    printf("\\u%04x", cp > 0xffff ? 0xdc00 + (cp & 0x3ff) : cp);
}

// A JSON string. Bytes that are not UTF-8 (file names may hold anything) become \ufffd.
static void json_out_text(const char *s)
{
    putchar('"');
    for (const unsigned char *p = (const unsigned char *) s; *p;) {
        const int n = *p < 0x80                 ? 1
                      : *p >= 0xc2 && *p < 0xe0 ? 2
                      : *p >= 0xe0 && *p < 0xf0 ? 3
                      : *p >= 0xf0 && *p < 0xf5 ? 4
                                                : 0;
        bool good = n > 0;
        for (int i = 1; i < n && good; i++)
            good = (p[i] & 0xc0) == 0x80;
        if (good && n == 3)
            good = !(p[0] == 0xe0 && p[1] < 0xa0) && !(p[0] == 0xed && p[1] >= 0xa0);
        if (good && n == 4)
            good = !(p[0] == 0xf0 && p[1] < 0x90) && !(p[0] == 0xf4 && p[1] >= 0x90);
        if (!good) {
            fputs("\\ufffd", stdout);
            p++;
        } else if (n > 1) {
            json_out_wide((const char *) p, (size_t) n);
            p += n;
        } else {
            if (*p == '"' || *p == '\\')
                printf("\\%c", *p);
            else if (*p < 0x20 || *p == 0x7f)
                printf("\\u%04x", *p);
            else
                putchar(*p);
            p++;
        }
    }
    putchar('"');
}

static void json_out_member(const char *key)
{
    if (comma)
        putchar(',');
    comma = true;
    if (key) {
        json_out_text(key);
        putchar(':');
    }
}

void js_open(const char *key, char bracket)
{
    json_out_member(key);
    putchar(bracket);
    comma = false;
}

void js_close(char bracket)
{
    putchar(bracket);
    comma = true;
}

void js_null(const char *key)
{
    json_out_member(key);
    fputs("null", stdout);
}

void js_text(const char *key, const char *v)
{
    if (!v) {
        js_null(key);
        return;
    }
    json_out_member(key);
    json_out_text(v);
}

void js_num(const char *key, double v)
{
    if (!isfinite(v)) {
        js_null(key);
        return;
    }
    json_out_member(key);
    for (int digits = 6; digits <= 17; digits += digits < 15 ? 9 : 2) { // 6, 15, 17
        char buf[40];
        snprintf(buf, sizeof(buf), "%.*g", digits, v);
        double back;
        if (digits == 17 || (sscanf(buf, "%lf", &back) == 1 && back == v)) {
            fputs(buf, stdout);
            break;
        }
    }
}

void js_int(const char *key, int64_t v)
{
    json_out_member(key);
    printf("%" PRId64, v);
}

void js_uint(const char *key, uint64_t v)
{
    json_out_member(key);
    printf("%" PRIu64, v);
}

void js_bool(const char *key, bool v)
{
    json_out_member(key);
    fputs(v ? "true" : "false", stdout);
}

void js_line(const char *schema, const char *type)
{
    comma = false;
    js_open(NULL, '{');
    js_text("schema", schema);
    js_text("type", type);
}

void js_end(void)
{
    js_close('}');
    putchar('\n');
    fflush(stdout);
}

void js_envelope(const char *cmd)
{
    has_envelope = true;
    js_line("envelope/1", "envelope");
    js_bool("ok", true);
    js_text("command", cmd);
    js_open("data", '{');
}

bool js_has_envelope(void) { return has_envelope; }

void js_envelope_end(void)
{
    js_close('}');
    js_null("error");
    js_end();
}

void js_envelope_error(const char *cmd, const char *code, const char *message, const char *where,
                       const char *hint)
{
    has_envelope = true;
    js_line("envelope/1", "envelope");
    js_bool("ok", false);
    js_text("command", cmd);
    js_null("data");
    js_open("error", '{');
    js_text("code", code);
    js_text("message", message);
    js_text("hint", hint);
    js_open("details", '{');
    js_text("where", where);
    js_close('}');
    js_close('}');
    js_end();
}
