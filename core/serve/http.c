// Small parts of HTTP: escapes, queries, forms with files, types of content, answers.
#include "core/serve/serve_priv.h"

#include "core/base/num.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- queries -----------------------------------------------------------------------------------

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

bool serve_unescape(char *out, size_t size, const char *s, size_t len, bool is_form)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        char c = s[i];
        if (c == '%') {
            const int hi = i + 2 < len ? hex(s[i + 1]) : -1, lo = hi < 0 ? -1 : hex(s[i + 2]);
            if (lo < 0)
                return false;
            c = (char) (hi * 16 + lo);
            i += 2;
        } else if (c == '+' && is_form) {
            c = ' ';
        }
        if (!c || n + 1 >= size)
            return false;
        out[n++] = c;
    }
    out[n] = 0;
    return true;
}

bool serve_query(const char *query, const char *key, char *out, size_t size)
{
    const size_t n = strlen(key);
    for (const char *p = query; *p;) {
        const size_t len = strcspn(p, "&");
        if (len >= n && !strncmp(p, key, n) && (len == n || p[n] == '='))
            return serve_unescape(out, size, p + n + (len > n), len - n - (len > n), true);
        p += len + (p[len] == '&');
    }
    return false;
}

// ---- answers -----------------------------------------------------------------------------------

const char *serve_type_of(const char *name)
{
    static const char *const types[][2] = {
        { "html", "text/html; charset=utf-8" },
        { "js", "text/javascript; charset=utf-8" },
        { "mjs", "text/javascript; charset=utf-8" },
        { "css", "text/css; charset=utf-8" },
        { "json", "application/json" },
        { "map", "application/json" },
        { "txt", "text/plain; charset=utf-8" },
        { "svg", "image/svg+xml" },
        { "png", "image/png" },
        { "jpg", "image/jpeg" },
        { "jpeg", "image/jpeg" },
        { "webp", "image/webp" },
        { "gif", "image/gif" },
        { "ico", "image/x-icon" },
        { "avif", "image/avif" },
        { "mp4", "video/mp4" },
        { "webm", "video/webm" },
        { "mp3", "audio/mpeg" },
        { "flac", "audio/flac" },
        { "wav", "audio/wav" },
        { "woff", "font/woff" },
        { "woff2", "font/woff2" },
        { "ttf", "font/ttf" },
        { "wasm", "application/wasm" },
    };
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof(types) / sizeof(types[0]); i++)
        if (!strcasecmp(dot + 1, types[i][0]))
            return types[i][1];
    return "application/octet-stream";
}

void serve_header(nino_http_answer *a, const char *name, const char *fmt, ...)
{
    const size_t n = strlen(a->headers);
    char value[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(value, sizeof(value), fmt, ap);
    va_end(ap);
    if (n + strlen(name) + strlen(value) + 4 < sizeof(a->headers))
        snprintf(a->headers + n, sizeof(a->headers) - n, "%s: %s\n", name, value);
}

void serve_reply(nino_serve_call *c, int status, const char *type)
{
    if (c->is_answered)
        return;
    if (c->body.failed) {
        nino_buf_release(&c->body);
        status = 500;
        type = "";
    }
    c->answer.status = status;
    snprintf(c->answer.type, sizeof(c->answer.type), "%s", type);
    c->answer.fd = -1;
    c->answer.body = c->body.data;
    c->answer.bytes = c->body.len;
    c->is_answered = true;
    c->is_waiting = false;
    if (!c->is_inside && c->s->params.wake)
        c->s->params.wake(c->s->params.priv, c->user);
}

void serve_reply_json(nino_serve_call *c, int status)
{
    serve_reply(c, status, "application/json; charset=utf-8");
}

void serve_fail(nino_serve_call *c, int status, const char *kind, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    nino_vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    nino_buf_clear(&c->body);
    nino_buf_adds(&c->body, "{\"error\":{");
    serve_text(&c->body, "type", kind);
    serve_text(&c->body, "message", text);
    serve_text(&c->body, "details", "");
    nino_buf_adds(&c->body, ",\"extra_info\":{}},\"node_errors\":{}}");
    serve_reply_json(c, status);
}

// "bytes=A-B", "bytes=A-" or "bytes=-N": the part that is meant. False: all of it is.
static bool read_range(const char *text, uint64_t size, uint64_t *from, uint64_t *len)
{
    unsigned long long a, b;
    int n = 0;
    if (!text || strncmp(text, "bytes=", 6) != 0 || strlen(text) > 60 || strchr(text, ','))
        return false;
    text += 6;
    if (sscanf(text, "%llu-%llu%n", &a, &b, &n) == 2 && !text[n] && a <= b && a < size) {
        *from = a;
        *len = (b < size ? b + 1 : size) - a;
        return true;
    }
    if (sscanf(text, "%llu-%n", &a, &n) == 1 && n && !text[n] && a < size) {
        *from = a;
        *len = size - a;
        return true;
    }
    if (sscanf(text, "-%llu%n", &b, &n) == 1 && !text[n] && b && size) {
        *len = b < size ? b : size;
        *from = size - *len;
        return true;
    }
    return false;
}

// Whether the client has the file as it is: it names what it was called when it got it.
static bool is_known(const nino_http_request *r, const char *etag)
{
    return r->none_match && !r->range &&
           (strstr(r->none_match, etag) || !strcmp(r->none_match, "*"));
}

void serve_reply_fd(nino_serve_call *c, int fd, const char *name)
{
    struct stat sb;
    uint64_t from = 0, len;
    if (fstat(fd, &sb) || !S_ISREG(sb.st_mode)) {
        close(fd);
        serve_fail(c, 404, "not_found", "there is no such file");
        return;
    }
    const uint64_t size = (uint64_t) sb.st_size;
    serve_reply(c, 200, serve_type_of(name));
    nino_http_answer *a = &c->answer;
    len = size;
    char etag[48];
    snprintf(etag, sizeof(etag), "\"%llx-%llx-%llx\"", (unsigned long long) sb.st_mtim.tv_sec,
             (unsigned long long) sb.st_mtim.tv_nsec, (unsigned long long) size);
    serve_header(a, "ETag", "%s", etag);
    if (is_known(c->r, etag)) {
        a->status = 304;
        close(fd);
        return;
    }
    serve_header(a, "Accept-Ranges", "bytes");
    if (read_range(c->r->range, size, &from, &len)) {
        a->status = 206;
        serve_header(a, "Content-Range", "bytes %llu-%llu/%llu", (unsigned long long) from,
                     (unsigned long long) (from + len - 1), (unsigned long long) size);
    }
    a->fd = fd;
    a->file_offset = from;
    a->file_bytes = len;
}

nino_json_doc *serve_body(nino_serve_call *c)
{
    const nino_json_limits limits = { .max_depth = 200, .allow_dup_keys = true };
    nino_json_doc *doc = NULL;
    nino_error e = { .code = NINO_OK };
    const char *body = c->r->body_bytes ? c->r->body : "{}";
    const size_t len = c->r->body_bytes ? (size_t) c->r->body_bytes : 2;
    if (nino_json_parse(body, len, "body", &limits, &doc, &e)) {
        serve_fail(c, 400, "invalid_json", "%s", e.msg);
        return NULL;
    }
    if (doc->root->type != NINO_JSON_OBJECT) {
        serve_fail(c, 400, "invalid_json", "the body is not an object");
        nino_json_doc_destroy(&doc);
    }
    return doc;
}

// ---- JSON --------------------------------------------------------------------------------------

void serve_key(nino_buf *b, const char *key)
{
    if (b->len && b->data && !strchr("{[,:", b->data[b->len - 1]))
        nino_buf_addc(b, ',');
    if (!key)
        return;
    nino_buf_add_json_string(b, key, strlen(key));
    nino_buf_addc(b, ':');
}

void serve_text(nino_buf *b, const char *key, const char *text)
{
    serve_key(b, key);
    if (text)
        nino_buf_add_json_string(b, text, strlen(text));
    else
        nino_buf_adds(b, "null");
}

void serve_number(nino_buf *b, const char *key, double v)
{
    char text[32];
    serve_key(b, key);
    if (v > -1e15 && v < 1e15 && v == (double) (int64_t) v)
        nino_snprintf(text, sizeof(text), "%lld", (long long) v);
    else if (v != v || v - v != 0)
        snprintf(text, sizeof(text), "null");
    else
        nino_print_double(text, sizeof(text), v);
    nino_buf_adds(b, text);
}

// ---- forms -------------------------------------------------------------------------------------

// The value of a parameter of a header, name="value" or name=value. False: not there.
static bool parameter(const char *text, size_t len, const char *name, char *out, size_t size)
{
    const size_t n = strlen(name);
    bool is_inside = false; // of quotes: a file's name may look like a parameter
    for (size_t i = 0; i + n + 1 < len; i++) {
        if (is_inside && text[i] == '\\') {
            i++;
            continue;
        }
        is_inside ^= text[i] == '"';
        if (is_inside || strncasecmp(text + i, name, n) != 0 || text[i + n] != '=' ||
            (i && !strchr("; \t", text[i - 1])))
            continue;
        size_t at = i + n + 1, k = 0;
        const bool is_quoted = text[at] == '"';
        for (at += is_quoted; at < len; at++) {
            if (is_quoted ? text[at] == '"' : strchr("; \t\r\n", text[at]) != NULL)
                break;
            if (is_quoted && text[at] == '\\' && at + 1 < len && strchr("\"\\", text[at + 1]))
                at++;
            if (k + 1 >= size)
                return false;
            out[k++] = text[at];
        }
        out[k] = 0;
        return !is_quoted || at < len;
    }
    return false;
}

static const char *find(const char *hay, size_t n, const char *needle, size_t k)
{
    return n >= k ? memmem(hay, n, needle, k) : NULL;
}

bool serve_next_part(const nino_http_request *r, size_t *at, serve_part *out, bool *is_bad)
{
    char boundary[80] = "\r\n--";
    const char *type = r->content_type ? r->content_type : "", *body = r->body;
    const size_t size = (size_t) r->body_bytes;
    *is_bad = true;
    if (strncasecmp(type, "multipart/form-data", 19) != 0 ||
        !parameter(type, strlen(type), "boundary", boundary + 4, sizeof(boundary) - 4) ||
        !boundary[4])
        return false;
    const size_t k = strlen(boundary);
    if (!*at) { // the first one has no line end before it
        if (size < k || memcmp(body, boundary + 2, k - 2) != 0)
            return false;
        *at = k - 2;
    }
    if (size - *at >= 2 && !memcmp(body + *at, "--", 2)) {
        *is_bad = false;
        return false;
    }
    if (size - *at < 2 || memcmp(body + *at, "\r\n", 2) != 0)
        return false;
    const char *head = body + *at;
    const char *end = find(head, size - *at, "\r\n\r\n", 4);
    if (!end || end - head > 4096)
        return false;
    const char *data = end + 4, *stop = find(data, size - (size_t) (data - body), boundary, k);
    if (!stop)
        return false;
    *out = (serve_part){ .data = data, .len = (size_t) (stop - data) };
    const size_t len = (size_t) (end - head);
    if (!parameter(head, len, "name", out->name, sizeof(out->name)))
        return false;
    out->is_file = parameter(head, len, "filename", out->file, sizeof(out->file));
    *at = (size_t) (stop - body) + k;
    *is_bad = false;
    return true;
}
