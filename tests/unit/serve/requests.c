// Requests to the HTTP interface without a worker, one after the other: who is let in, and what is
// answered: status, headers, and what the body or the file begins with.
#include "core/base/file.h"
#include "core/media/png.h"
#include "tests/test.h"

#include <ninodes/serve.h>
#include <fcntl.h>
#include <sys/stat.h>

static char top[] = "/tmp/ninodes-requests-XXXXXX";
static nino_error err;

static const char *at(const char *name)
{
    static char path[8][160];
    static int i;
    i = (i + 1) % 8;
    snprintf(path[i], sizeof(path[i]), "%s/%s", top, name);
    return path[i];
}

static void put(const char *dir, const char *name, const void *data, size_t n)
{
    CHECK_OK(nino_file_save(at(dir), name, true, data, n, &err), err);
}

static void put_picture(const char *name, int width, int height, int channels)
{
    nino_buf b = { 0 };
    const size_t n = (size_t) width * (size_t) height * (size_t) channels;
    uint8_t *pixels = malloc(n);
    CHECK(pixels);
    for (size_t i = 0; i < n; i++)
        pixels[i] = (uint8_t) (i * 7);
    CHECK_OK(nino_png_encode(&b, pixels, width, height, channels, 8, NULL, 0, &err), err);
    put("in", name, b.data, b.len);
    nino_buf_release(&b);
    free(pixels);
}

static nino_serve *serve(const char *frontend, const char *token, const char *const *hosts)
{
    const nino_job_options jo = { NINO_JOB_OPTIONS_INIT,
                                  .models = (const char *const[]){ at("models"), NULL },
                                  .input_dir = at("in"), .output_dir = at("out") };
    const nino_serve_params p = { NINO_SERVE_PARAMS_INIT,   .job = &jo,     .user_dir = at("user"),
                                  .frontend_dir = frontend, .token = token, .hosts = hosts,
                                  .max_body = 1 << 20 };
    nino_serve *s = nino_serve_create(&p, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    return s;
}

// ---- who comes in ------------------------------------------------------------------------------

typedef struct visitor {
    int status;
    const char *target, *host, *origin, *site, *cookie, *authorization, *method;
    uint64_t bytes;
} visitor;

static void admit(nino_serve *s, const visitor *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const nino_http_request r = { NINO_HTTP_REQUEST_INIT,
                                      .method = v[i].method ? v[i].method : "GET",
                                      .target = v[i].target ? v[i].target : "/",
                                      .host = v[i].host,
                                      .origin = v[i].origin,
                                      .fetch_site = v[i].site,
                                      .cookie = v[i].cookie,
                                      .authorization = v[i].authorization,
                                      .body_bytes = v[i].bytes };
        const nino_http_answer a = nino_serve_admit(s, &r);
        if (a.status != v[i].status)
            fprintf(stderr, "visitor %zu: %d\n", i, a.status);
        CHECK(a.status == v[i].status);
        CHECK((a.status == 401) == !strcmp(a.headers, "WWW-Authenticate: Bearer\n"));
    }
}

static void check_admission(void)
{
    static const char *const hosts[] = { "art.example.org", NULL };
    static char long_host[300];
    memset(long_host, 'h', sizeof(long_host) - 1);
    static const visitor open[] = {
        { 0, .host = "localhost:8188" },
        { 0, .host = "LOCALHOST" },
        { 0, .host = "a.localhost" },
        { 403, .host = ".localhost.example" },
        { 0, .host = "127.0.0.1:80" },
        { 403, .host = "127.0.0.1.example.org" },
        { 0, .host = "[::1]:8188" },
        { 403, .host = "[::2]" },
        { 403, .host = long_host },
        { 403, .host = "localhost", .origin = "https://example.org" },
        { 0, .host = "localhost", .site = "cross-site", .target = "/wx" },
        { 0, .host = "ART.example.org" },
        { 403, .host = "example.org" },
        { 403, .host = NULL },
        { 400, .host = "localhost", .target = "x" },
        { 0, .host = "localhost:1", .origin = "http://localhost:1" },
        { 403, .host = "localhost:1", .origin = "http://localhost:2" },
        { 0, .host = "localhost:1", .origin = "https://art.example.org" },
        { 403, .host = "localhost:1", .origin = "null" },
        { 0, .host = "localhost", .site = "cross-site" },
        { 403, .host = "localhost", .site = "cross-site", .method = "POST" },
        { 403, .host = "localhost", .site = "cross-site", .target = "/ws" },
        { 0, .host = "localhost", .site = "same-origin", .method = "POST" },
        { 0, .host = "localhost", .bytes = 1 << 20 },
        { 413, .host = "localhost", .bytes = (1 << 20) + 1 },
    };
    static const visitor closed[] = {
        { 401, .host = "example.org" },
        { 401, .host = "x", .authorization = "Bearer secret-toke" },
        { 401, .host = "x", .authorization = "Bearer secret-tokem" },
        { 401, .host = "x", .authorization = "Basic secret-token" },
        { 0, .host = "x", .authorization = "bearer secret-token" },
        { 0, .host = "x", .cookie = "a=b; ninodes_token=secret-token; c" },
        { 401, .host = "x", .cookie = "a=b; ninodes_token=secret-tokens" },
        { 401, .host = "x", .cookie = "ninodes_token=" },
        { 401, .host = "x", .cookie = ";; ninodes_token" },
        { 401, .host = "x", .authorization = "Bearer " },
        { 0, .host = "x", .target = "/?a=1&token=secret%2Dtoken" },
        { 401, .host = "x", .target = "/?token=secret" },
        { 401, .host = "x", .target = "/?token=%zz" },
        { 401, .host = "x", .target = "/?tokens=secret-token" },
    };
    nino_serve *s = serve(NULL, NULL, hosts);
    admit(s, open, sizeof(open) / sizeof(open[0]));
    nino_serve_destroy(&s);
    s = serve(NULL, "secret-token", NULL);
    admit(s, closed, sizeof(closed) / sizeof(closed[0]));
    const nino_http_request r = { NINO_HTTP_REQUEST_INIT, .method = "GET", .host = "x",
                                  .target = "/?token=secret-token" };
    nino_serve_call *c = nino_serve_ask(s, &r, NULL);
    CHECK(c && strstr(nino_serve_answered(c)->headers, "Set-Cookie: ninodes_token=secret-token;"));
    nino_serve_drop(&c);
    nino_serve_destroy(&s);
}

// ---- what is answered --------------------------------------------------------------------------

typedef struct row {
    int status;
    const char *request; // method and target
    const char *says;    // what the body has in it, or the file begins with; NULL: whatever
    const char *header;  // one that is among the answer's, or its type; NULL: whatever
    const char *range, *body, *type;
} row;

static void ask(nino_serve *s, const row *w)
{
    char request[400], content[2048] = "";
    snprintf(request, sizeof(request), "%s", w->request);
    char *target = strchr(request, ' ');
    CHECK(target);
    *target++ = 0;
    const nino_http_request r = {
        NINO_HTTP_REQUEST_INIT, .method = request,
        .target = target,       .host = "localhost",
        .range = w->range,      .content_type = w->type,
        .body = w->body,        .body_bytes = w->body ? strlen(w->body) : 0
    };
    nino_serve_call *c = nino_serve_ask(s, &r, NULL);
    const nino_http_answer *a = c ? nino_serve_answered(c) : NULL;
    CHECK(a);
    if (a->fd >= 0) {
        const size_t n = a->file_bytes < sizeof(content) ? (size_t) a->file_bytes : 2000;
        CHECK(pread(a->fd, content, n, (off_t) a->file_offset) == (ssize_t) n);
    } else {
        snprintf(content, sizeof(content), "%.*s", (int) a->bytes,
                 a->body ? (const char *) a->body : "");
    }
    const bool fits = (!w->says || (*w->says ? strstr(content, w->says) != NULL : !*content)) &&
                      (!w->header || strstr(a->headers, w->header) || strstr(a->type, w->header));
    if (a->status != w->status || !fits)
        fprintf(stderr, "%s %s%s%s: %d %s\n%s%s\n", request, target, w->body ? "\n" : "",
                w->body ? w->body : "", a->status, a->type, a->headers, content);
    CHECK(a->status == w->status && fits);
    nino_serve_drop(&c);
}

#define ASK(s, rows)                                                                               \
    for (size_t i_ = 0; i_ < sizeof(rows) / sizeof((rows)[0]); i_++)                               \
    ask(s, &(rows)[i_])

static void check_views(nino_serve *s)
{
    static const row rows[] = {
        { .status = 200,
          "GET /view?filename=t.txt&type=input",
          "0123456789",
          "filename=\"t.txt\"" },
        { .status = 200,
          "HEAD /api/view?filename=t.txt%20[input]",
          "0123456789",
          "Accept-Ranges: bytes" },
        { .status = 200, "GET /view?filename=t.txt+[input]&type=temp", "0123456789", "sandbox" },
        { .status = 200, "GET /view?filename=s.txt&type=input&subfolder=d/", "below", NULL },
        { .status = 206,
          "GET /view?filename=t.txt&type=input",
          "23",
          "Content-Range: bytes 2-3/10",
          "bytes=2-3" },
        { .status = 206,
          "GET /view?filename=t.txt&type=input",
          "9",
          "Content-Range: bytes 9-9/10",
          "bytes=9-99" },
        { .status = 206,
          "GET /view?filename=t.txt&type=input",
          "89",
          "Content-Range: bytes 8-9/10",
          "bytes=8-" },
        { .status = 206,
          "GET /view?filename=t.txt&type=input",
          "789",
          "Content-Range: bytes 7-9/10",
          "bytes=-3" },
        { .status = 206,
          "GET /view?filename=t.txt&type=input",
          "0123456789",
          "Content-Range: bytes 0-9/10",
          "bytes=-30" },
        { .status = 200, "GET /view?filename=t.txt&type=input", "0123456789", NULL, "bytes=3-2" },
        { .status = 200, "GET /view?filename=t.txt&type=input", "0123456789", NULL, "bytes=10-" },
        { .status = 200, "GET /view?filename=t.txt&type=input", "0123456789", NULL, "bytes=10-12" },
        { .status = 200, "GET /view?filename=t.txt&type=input", "0123456789", NULL, "bytes=1-2x" },
        { .status = 200, "GET /view?filename=t.txt&type=input", "0123456789", NULL, "bytes=1-x" },
        { .status = 200, "GET /view?filename=t.txt&type=input", "0123456789", NULL, "bytes=-0" },
        { .status = 200, "GET /view?filename=t.txt&type=input", "0123456789", NULL, "bytes=-1x" },
        { .status = 200,
          "GET /view?filename=t.txt&type=input",
          "0123456789",
          NULL,
          "bytes=0-1,3-4" },
        { .status = 200, "GET /view?filename=t.txt&type=input", "0123456789", NULL, "lines=0-1" },
        { .status = 200, "GET /view?filename=t.txt&type=input", "0123456789", NULL, "bytes=5" },
        { .status = 200, "GET /view?filename=t.txt&type=input", "0123456789", NULL, "bytes=" },
        { .status = 200,
          "GET /view?filename=t.txt&type=input",
          "0123456789",
          NULL,
          "bytes=0-00000000000000000000000000000000000000000000000000000000001" },
        { .status = 200, "GET /view?filename=d/s.txt&type=input", "below", "filename=\"s.txt\"" },
        { .status = 200, "GET /view?filename=empty&type=input", "", NULL, "bytes=-1" },
        { .status = 404, "GET /view?filename=d&type=input", "there is no such file", NULL },
        { .status = 404, "GET /view?filename=none.png", "there is no such file", NULL },
        { .status = 404, "GET /view?filename=a.png&type=temp", NULL, NULL },
        { .status = 400, "GET /view", "filename is missing or too long", NULL },
        { .status = 400, "GET /view?filename=%0", "filename is missing", NULL },
        { .status = 400, "GET /view?filename=a%00", "filename is missing", NULL },
        { .status = 400, "GET /view?filename=a&subfolder=%zz", "filename is missing", NULL },
        { .status = 400, "GET /view?filename=&type=input", "no name below a folder", NULL },
        { .status = 400, "GET /view?filename=a.png&type=other", "no name below a folder", NULL },
        { .status = 403, "GET /view?filename=../t.txt&type=input", "no name below a folder", NULL },
        { .status = 403,
          "GET /view?filename=t.txt&type=input&subfolder=..",
          "no name below",
          NULL },
        // pictures: smaller, as another kind, by channel; what is none goes as it is
        { .status = 200,
          "GET /view?filename=a.png&type=input&preview=webp;50",
          "RIFF",
          "image/webp" },
        { .status = 200, "GET /view?filename=a.png&type=input&preview=webp", "RIFF", "image/webp" },
        { .status = 200,
          "GET /view?filename=big.png&type=input&preview=jpeg;0",
          "\xff\xd8",
          "image/jpeg" },
        { .status = 200,
          "GET /view?filename=big.png&type=input&preview=jpeg;101",
          "\xff\xd8",
          "image/jpeg" },
        { .status = 200,
          "GET /view?filename=big.png&type=input&preview=jpeg&channel=a",
          "RIFF",
          "image/webp" },
        { .status = 200,
          "GET /view?filename=a.png&type=input&channel=rgb",
          "\x89PNG",
          "image/png" },
        { .status = 200, "GET /view?filename=a.png&type=input&channel=a", "\x89PNG", "image/png" },
        { .status = 200,
          "GET /view?filename=a.png&type=input&channel=rgba",
          "\x89PNG",
          "image/png" },
        { .status = 200,
          "GET /view?filename=t.txt&type=input&preview=webp",
          "0123456789",
          "text/plain" },
        { .status = 200,
          "GET /view?filename=cut.png&type=input&preview=webp",
          "\x89PNG",
          "image/png" },
        { .status = 200,
          "GET /view?filename=empty&type=input&channel=a",
          "",
          "application/octet-stream" },
    };
    ASK(s, rows);
}

#define FORM "multipart/form-data; boundary=x"
#define PART(head) "--x\r\nContent-Disposition: form-data; " head "\r\n\r\n"
#define IMAGE(name, data) PART("name=\"image\"; filename=\"" name "\"") data "\r\n"
#define FIELD(name, data) PART("name=" name) data "\r\n"
#define END "--x--\r\n"

static void check_uploads(nino_serve *s)
{
    static const char bad[] = "the form has no file named image, or is malformed";
    const row rows[] = {
        { .status = 200,
          "POST /upload/image",
          "{\"name\":\"n.png\",\"subfolder\":\"\",\"type\":\"input\"}",
          NULL,
          NULL,
          IMAGE("n.png", "abc") END,
          FORM },
        { .status = 200,
          "POST /upload/image",
          "\"n.png\"",
          NULL,
          NULL,
          IMAGE("n.png", "abc") END,
          FORM },
        { .status = 200,
          "POST /upload/image",
          "\"n (1).png\"",
          NULL,
          NULL,
          IMAGE("n.png", "ab") END,
          FORM },
        { .status = 200,
          "POST /upload/image",
          "\"n (2).png\"",
          NULL,
          NULL,
          IMAGE("n.png", "abd") END,
          FORM },
        { .status = 200,
          "POST /upload/image",
          "\"n.png\"",
          NULL,
          NULL,
          IMAGE("n.png", "new") FIELD("overwrite", "true") END,
          FORM },
        { .status = 200, "GET /view?filename=n.png&type=input", "new", NULL },
        { .status = 200,
          "POST /upload/image",
          "\"n (3).png\"",
          NULL,
          NULL,
          IMAGE("n.png", "x") FIELD("overwrite", "no") END,
          FORM },
        { .status = 200,
          "POST /upload/image",
          "{\"name\":\".p\",\"subfolder\":\"e/f\",\"type\":\"temp\"}",
          NULL,
          NULL,
          FIELD("subfolder", "e/f") FIELD("\"type\"", "temp") IMAGE(".p", "1") END,
          "Multipart/Form-Data; charset=a; boundary=\"x\"" },
        { .status = 200, "GET /view?filename=.p&subfolder=e/f&type=temp", "1", NULL },
        { .status = 200,
          "POST /upload/image",
          "\"a\\\"b.png\"",
          NULL,
          NULL,
          IMAGE("a\\\"b.png", "q") END,
          FORM },
        { .status = 400,
          "POST /upload/image",
          "cannot be stored under that name",
          NULL,
          NULL,
          IMAGE("../n.png", "abc") END,
          FORM },
        { .status = 400,
          "POST /upload/image",
          "cannot be stored under that name",
          NULL,
          NULL,
          FIELD("subfolder", "..") IMAGE("n.png", "abc") END,
          FORM },
        { .status = 400,
          "POST /upload/image",
          "cannot be stored under that name",
          NULL,
          NULL,
          FIELD("type", "other") IMAGE("n.png", "abc") END,
          FORM },
        { .status = 400, "POST /upload/image", bad, NULL, NULL, IMAGE("", "abc") END, FORM },
        { .status = 400, "POST /upload/image", bad, NULL, NULL, FIELD("image", "abc") END, FORM },
        { .status = 400, "POST /upload/image", bad, NULL, NULL, END, FORM },
        { .status = 400, "POST /upload/image", bad, NULL, NULL, IMAGE("n", "abc"), FORM },
        { .status = 400, "POST /upload/image", bad, NULL, NULL, IMAGE("n", "abc") "--x?", FORM },
        { .status = 400, "POST /upload/image", bad, NULL, NULL, IMAGE("n", "abc") "--x", FORM },
        { .status = 400,
          "POST /upload/image",
          bad,
          NULL,
          NULL,
          IMAGE("n", "abc") "--x\r\nno end",
          FORM },
        { .status = 400,
          "POST /upload/image",
          bad,
          NULL,
          NULL,
          PART("filename=\"a\"") "b\r\n" END,
          FORM },
        { .status = 400,
          "POST /upload/image",
          bad,
          NULL,
          NULL,
          PART("name=\"image") "b\r\n" END,
          FORM },
        { .status = 400, "POST /upload/image", bad, NULL, NULL, "--y\r\n", FORM },
        { .status = 400, "POST /upload/image", bad, NULL, NULL, "-", FORM },
        { .status = 400,
          "POST /upload/image",
          bad,
          NULL,
          NULL,
          IMAGE("n", "abc") END,
          "text/plain" },
        { .status = 400,
          "POST /upload/image",
          bad,
          NULL,
          NULL,
          IMAGE("n", "abc") END,
          "multipart/form-data; boundary=" },
        { .status = 400,
          "POST /upload/image",
          bad,
          NULL,
          NULL,
          IMAGE("n", "abc") END,
          "multipart/form-data; xboundary=x" },
        { .status = 400, "POST /upload/image", bad, NULL, NULL, IMAGE("n", "abc") END, NULL },
        { .status = 400,
          "POST /upload/mask",
          "original_ref names no picture",
          NULL,
          NULL,
          IMAGE("m.png", "abc") END,
          FORM },
        { .status = 400,
          "POST /upload/mask",
          "original_ref names no picture",
          NULL,
          NULL,
          IMAGE("m.png", "abc") FIELD("original_ref", "{") END,
          FORM },
        { .status = 400,
          "POST /upload/mask",
          "original_ref names no picture",
          NULL,
          NULL,
          IMAGE("m.png", "abc") FIELD("original_ref", "{\"filename\":1}") END,
          FORM },
        { .status = 400,
          "POST /upload/mask",
          "original_ref names no picture",
          NULL,
          NULL,
          IMAGE("m.png", "abc") FIELD("original_ref", "{\"filename\":\"t.txt [input]\"}") END,
          FORM },
        { .status = 400,
          "POST /upload/mask",
          "the mask is no picture of the original's size",
          NULL,
          NULL,
          IMAGE("m.png", "abc") FIELD("original_ref", "{\"filename\":\"a.png\",\"type\":\"input\"}")
              END,
          FORM },
        { .status = 400, "POST /upload/mask", bad, NULL, NULL, END, FORM },
    };
    ASK(s, rows);
}

static void check_user(nino_serve *s)
{
    static const row rows[] = {
        { .status = 404, "GET /userdata?dir=a", "there is no such folder", NULL },
        { .status = 200, "GET /v2/userdata", "[]", NULL },
        { .status = 200, "POST /userdata/a%2Fb.json", "a/b.json", NULL, NULL, "{}" },
        { .status = 409,
          "POST /userdata/a%2Fb.json?overwrite=false",
          "of that name",
          NULL,
          NULL,
          "{1}" },
        { .status = 200,
          "POST /userdata/a%2Fc.json?overwrite=false&full_info=true",
          "\"size\":0",
          NULL },
        { .status = 200, "GET /userdata/a%2Fb.json", "{}", "application/json" },
        { .status = 200, "GET /userdata?dir=a&split=true", "[\"b.json\",\"b.json\"]", NULL },
        { .status = 200,
          "GET /userdata?dir=a&full_info=1",
          "{\"path\":\"b.json\",\"size\":2,",
          NULL },
        { .status = 200, "POST /userdata/a%2Fd%2Fe.txt", NULL, NULL, NULL, "e" },
        { .status = 200, "GET /userdata?dir=a&recurse=true", "\"d/e.txt\"", NULL },
        { .status = 200,
          "GET /userdata?dir=a&recurse=true&split=1",
          "[\"d/e.txt\",\"d\",\"e.txt\"]",
          NULL },
        { .status = 200, "GET /v2/userdata?path=a", "\"type\":\"directory\"", NULL },
        { .status = 200,
          "GET /v2/userdata?path=a",
          "\"path\":\"a/b.json\",\"type\":\"file\"",
          NULL },
        { .status = 400, "GET /v2/userdata?path=..", "path names no folder", NULL },
        { .status = 400, "GET /userdata?dir=..", "dir names no folder", NULL },
        { .status = 400, "GET /userdata", "dir is missing", NULL },
        { .status = 400, "GET /userdata?dir=", "dir is missing", NULL },
        { .status = 403, "GET /userdata/..%2Fsettings.json", "no name below", NULL },
        { .status = 403, "GET /userdata/%2", "no name below", NULL },
        { .status = 404, "GET /userdata/none", "there is no such file", NULL },
        { .status = 403, "POST /userdata/..%2Fx", "no name below", NULL },
        { .status = 500, "POST /userdata/a", "the file cannot be written", NULL, NULL, "x" },
        { .status = 200, "POST /userdata/a%2Fb.json/move/n%2Fb.json", "\"n/b.json\"", NULL },
        { .status = 404, "POST /userdata/a%2Fb.json/move/c.json", "there is no such file", NULL },
        { .status = 409,
          "POST /userdata/n%2Fb.json/move/a%2Fc.json?overwrite=false",
          "of that name",
          NULL },
        { .status = 200,
          "POST /userdata/n%2Fb.json/move/a%2Fc.json?full_info=true",
          "\"size\":2",
          NULL },
        { .status = 500, "POST /userdata/a%2Fc.json/move/a%2Fd", "the file cannot be moved", NULL },
        { .status = 500, "POST /userdata/a%2Fc.json/move/a%2Fc.json%2Fx", "cannot be moved", NULL },
        { .status = 403, "POST /userdata/..%2Fb/move/c", "no name below", NULL },
        { .status = 403, "POST /userdata/b/move/..%2Fc", "no name below", NULL },
        { .status = 204, "DELETE /userdata/a%2Fc.json", "", NULL },
        { .status = 404, "DELETE /userdata/a%2Fc.json", "there is no such file", NULL },
        { .status = 403, "DELETE /userdata/..", "no name below", NULL },
        { .status = 200, "GET /users", "\"storage\":\"server\"", NULL },
        // settings
        { .status = 200, "GET /settings", "{}", NULL },
        { .status = 200, "GET /settings/a", "null", NULL },
        { .status = 200, "POST /settings", "", NULL, NULL, "{\"a.b\":[1,{\"c\":null}],\"d\":2}" },
        { .status = 200, "POST /settings/a%20b", "", NULL, NULL, "true" },
        { .status = 200, "GET /settings/a.b", "[1,{\"c\":null}]", NULL },
        { .status = 200, "GET /settings", "\"a b\": true", NULL },
        { .status = 200, "GET /settings/%zz", "null", NULL },
        { .status = 400, "POST /settings", "the body is not an object", NULL, NULL, "[]" },
        { .status = 400, "POST /settings", "invalid_json", NULL, NULL, "{" },
        { .status = 400, "POST /settings", "invalid_json", NULL, NULL, NULL },
        { .status = 400, "POST /settings/%zz", "invalid_json", NULL, NULL, "1" },
        { .status = 200, "GET /settings", "\"d\": 2", NULL },
    };
    static const row damaged[] = { { .status = 200, "GET /settings", "{}", NULL } };
    ASK(s, rows);
    put("user", "settings.json", "[1", 2);
    ASK(s, damaged);
    put("user", "settings.json", "[1]", 3);
    ASK(s, damaged);
}

#define EMPTY(width, height)                                                                       \
    "\"1\":{\"class_type\":\"EmptyLatentImage\",\"inputs\":{\"width\":" width                      \
    ",\"height\":" height ",\"batch_size\":1}}"
#define SAVE(from)                                                                                 \
    "\"3\":{\"class_type\":\"SaveLatent\",\"inputs\":{\"samples\":[\"" from                        \
    "\",0],\"filename_prefix\":\"x\"}}"
#define SCALE(method, by)                                                                          \
    "{\"prompt\":{" EMPTY("64", "64") ",\"2\":{\"class_type\":\"LatentUpscaleBy\",\"inputs\":{"    \
                                      "\"samples\":[\"1\",0],\"upscale_method\":" method           \
                                      ",\"scale_by\":" by "}}," SAVE("2") "}}"
#define BAD(says, body)                                                                            \
    {                                                                                              \
        .status = 400, "POST /prompt", says, NULL, NULL, body                                      \
    }

// What is wrong with a workflow, in ComfyUI's words.
static void check_prompts(nino_serve *s)
{
    static const row rows[] = {
        BAD("value_smaller_than_min", "{\"prompt\":{" EMPTY("1", "64") "," SAVE("1") "}}"),
        BAD("value_bigger_than_max", "{\"prompt\":{" EMPTY("64", "99999999") "," SAVE("1") "}}"),
        BAD("invalid_input_type", "{\"prompt\":{" EMPTY("\"wide\"", "64") "," SAVE("1") "}}"),
        BAD("value_smaller_than_min", SCALE("\"bilinear\"", "-2.5")),
        BAD("value_bigger_than_max", SCALE("\"bilinear\"", "1e6")),
        BAD("value_not_in_list", SCALE("\"best\"", "2")),
        BAD("required_input_missing",
            "{\"prompt\":{\"3\":{\"class_type\":\"SaveLatent\",\"inputs\":{}}}}"),
        BAD("bad_linked_input", "{\"prompt\":{" EMPTY("64", "64") "," SAVE("7") "}}"),
        BAD("return_type_mismatch",
            "{\"prompt\":{\"1\":{\"class_type\":\"EmptyImage\",\"inputs\":{}}," SAVE("1") "}}"),
        BAD("missing_node_type",
            "{\"prompt\":{\"1\":{\"class_type\":\"NoSuchNode\",\"inputs\":{}}," SAVE("1") "}}"),
        BAD("missing_node_type",
            "{\"prompt\":{\"1\":{\"class_type\":\"OpenAIDalle3\",\"inputs\":{}}," SAVE("1") "}}"),
        BAD("prompt_no_outputs", "{\"prompt\":{" EMPTY("64", "64") "}}"),
        BAD("invalid_prompt_id",
            "{\"prompt_id\":\"a/b\",\"prompt\":{" EMPTY("64", "64") "," SAVE("1") "}}"),
        BAD("invalid_prompt_id",
            "{\"prompt_id\":\"\",\"prompt\":{" EMPTY("64", "64") "," SAVE("1") "}}"),
        { .status = 503,
          "POST /prompt",
          "no_worker",
          NULL,
          NULL,
          "{\"prompt\":{" EMPTY("64", "64") "," SAVE("1") "}}" },
        { .status = 200, "GET /history?max_items=x&offset=y", "{}", NULL },
        { .status = 200, "GET /history?max_items=99999999&offset=3x", "{}", NULL },
        { .status = 400, "GET /history/%zz", "the path names no prompt", NULL },
        { .status = 200, "POST /history", "", NULL, NULL, "{\"clear\":false}" },
        { .status = 200, "POST /history", "", NULL, NULL, "{\"clear\":5,\"delete\":[\"a\"]}" },
        { .status = 200, "POST /history", "", NULL, NULL, "{\"clear\":true}" },
        { .status = 400, "POST /history", "invalid_json", NULL, NULL, "{" },
    };
    ASK(s, rows);
}

static void check_routes(nino_serve *s)
{
    static const row rows[] = {
        { .status = 200, "GET /", "<!", "Content-Security-Policy" },
        { .status = 200, "GET /index.html", "<!", "text/html" },
        { .status = 404, "GET /app.js", "there is nothing at /app.js", NULL },
        { .status = 404, "POST /app.js", "there is nothing at /app.js", NULL },
        { .status = 405, "DELETE /prompt", "not by DELETE", NULL },
        { .status = 405, "GET /upload/image", "not by GET", NULL },
        { .status = 200, "GET /i18n", "{}", NULL },
        { .status = 200, "GET /api/internal/files/output", "[]", NULL },
        { .status = 404, "GET /internal/files/", "there is nothing", NULL },
        { .status = 200, "GET /extensions", "[]", NULL },
        { .status = 400, "POST /prompt", "invalid_json", NULL, NULL, "{" },
        { .status = 400, "POST /prompt", "the body is not an object", NULL, NULL, "[]" },
        { .status = 400, "POST /prompt", "no_prompt", NULL, NULL, "{}" },
        { .status = 400, "POST /prompt", "no_prompt", NULL, NULL, NULL },
        { .status = 400, "POST /queue", "invalid_json", NULL, NULL, "x" },
    };
    ASK(s, rows);
}

static void check_frontend(nino_serve *s)
{
    static const row rows[] = {
        { .status = 200, "GET /", "front", "Cache-Control: no-cache" },
        { .status = 200, "GET /index.html", "front", "text/html" },
        { .status = 200, "GET /assets/a%20b.JS", "js", "text/javascript" },
        { .status = 404, "GET /assets/none.js", "there is nothing", NULL },
        { .status = 404, "GET /..%2Fin%2Ft.txt", "there is nothing", NULL },
        { .status = 404, "GET /%zz", "there is nothing", NULL },
        { .status = 404, "GET /assets", NULL, NULL },
        { .status = 200, "GET /extensions", "[\"/extensions/a.js\",\"/extensions/b/c.js\"]", NULL },
    };
    ASK(s, rows);
}

int main(void)
{
    static const char *const dirs[] = { "in",     "in/d",  "out",          "user",
                                        "models", "front", "front/assets", "front/extensions/b" };
    CHECK(mkdtemp(top));
    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
        CHECK_OK(nino_file_mkdirs(at(dirs[i]), false, &err), err);
    put("in", "t.txt", "0123456789", 10);
    put("in", "empty", "", 0);
    put("in", "d/s.txt", "below", 5);
    put("in", "cut.png", "\x89PNG\r\n\x1a\n", 8);
    put_picture("a.png", 4, 2, 4);
    put_picture("big.png", 1100, 3, 3);
    put("front", "index.html", "front", 5);
    put("front", "assets/a b.JS", "js", 2);
    put("front", "extensions/a.js", "", 0);
    put("front", "extensions/a.css", "", 0);
    put("front", "extensions/none", "", 0);
    put("front", "extensions/b/c.js", "", 0);
    check_admission();
    nino_serve *s = serve(NULL, NULL, NULL);
    check_views(s);
    check_uploads(s);
    check_user(s);
    check_prompts(s);
    check_routes(s);
    nino_serve_destroy(&s);
    s = serve(at("front"), NULL, NULL);
    check_frontend(s);
    nino_serve_destroy(&s);
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", top);
    CHECK(system(command) == 0);
    return 0;
}
