// Requests to the HTTP interface with every allocation failing, once and from there on: each is answered, as it would be
// else or with an error, nothing of it is kept, and what it asked for is done in the end.
#include "core/media/png.h"
#include "tests/oom.h"
#include "tests/served.h"

static nino_serve *s;
static const struct request {
    const char *line, *type, *body;
    int status, other; // other: what some of its steps say where they have no memory; 0: 500 alone
    const char *says;  // what is in the answer whenever it has that status, or NULL
} * now;
static char form[1 << 14];
static size_t form_bytes;

static void scenario(int may_fail)
{
    char line[300];
    snprintf(line, sizeof(line), "%s", now->line);
    char *target = strchr(line, ' ');
    *target++ = 0;
    const bool is_form = now->body == form;
    const nino_http_request r = { NINO_HTTP_REQUEST_INIT,
                                  .method = line,
                                  .target = target,
                                  .host = "localhost",
                                  .content_type = now->type,
                                  .body = now->body,
                                  .body_bytes = is_form     ? form_bytes
                                                : now->body ? strlen(now->body)
                                                            : 0 };
    nino_serve_call *c = nino_serve_ask(s, &r, NULL);
    const nino_http_answer *a = c ? nino_serve_answered(c) : NULL;
    CHECK(a ||
          (!c && may_fail && oom.fired)); // a call that there is no memory for, not one that hangs
    const int status = a ? a->status : now->status;
    const bool fits =
        status == now->status || (may_fail && oom.fired && (status == 500 || status == now->other));
    if (!fits)
        fprintf(stderr, "%s: %d: %.*s\n", now->line, status, (int) a->bytes,
                (const char *) a->body);
    CHECK(fits);
    CHECK(!a || !now->says || status != now->status ||
          (a->body && memmem(a->body, a->bytes, now->says, strlen(now->says))));
    nino_serve_drop(&c);
    // what a user keeps is not written anew because it could not be read
    oom_pause();
    nino_buf kept = { 0 };
    CHECK(served_ask(s, "GET /settings/kept", NULL, NULL, 0, &kept) == 200);
    CHECK_STR(kept.data, "[1,2]");
    nino_buf_release(&kept);
}

static void add(const char *head, const void *data, size_t n)
{
    form_bytes += (size_t) snprintf(form + form_bytes, sizeof(form) - form_bytes,
                                    "--x\r\nContent-Disposition: form-data; %s\r\n\r\n", head);
    CHECK(form_bytes + n + 2 < sizeof(form));
    memcpy(form + form_bytes, data, n);
    memcpy(form + form_bytes + n, "\r\n", 2);
    form_bytes += n + 2;
}

// A picture among the inputs, and a form that lays a mask over it.
static void prepare(void)
{
    static const char of[] = "{\"filename\":\"a.png\",\"type\":\"input\"}";
    static const uint8_t pixels[4 * 2 * 4] = { 1, 2, 3, 4 };
    const nino_meta text = { "key", "value", 5 };
    nino_buf b = { 0 };
    nino_error err = { 0 };
    CHECK_OK(nino_png_encode(&b, pixels, 4, 2, 4, 8, &text, 1, &err), err);
    served_put("in", "a.png", b.data, b.len);
    served_put("user", "settings.json", "{\"kept\":[1,2]}", 14);
    add("name=\"image\"; filename=\"m.png\"", b.data, b.len);
    add("name=\"original_ref\"", of, sizeof(of) - 1);
    add("name=\"overwrite\"", "true", 4);
    form_bytes += (size_t) snprintf(form + form_bytes, sizeof(form) - form_bytes, "--x--\r\n");
    nino_buf_release(&b);
}

#define FORM "multipart/form-data; boundary=x"
#define PROMPT                                                                                     \
    "{\"prompt\":{\"1\":{\"class_type\":\"EmptyImage\",\"inputs\":{\"width\":8,\"height\":8,"      \
    "\"batch_size\":1,\"color\":0}},\"2\":{\"class_type\":\"SaveImage\",\"inputs\":{\"images\":["  \
    "\"1\",0],\"filename_prefix\":\"x\"}}},\"client_id\":\"c\",\"extra_data\":{\"a\":[1]},"        \
    "\"partial_execution_targets\":[\"2\"]}"
#define BAD                                                                                        \
    "{\"prompt\":{\"1\":{\"class_type\":\"EmptyImage\",\"inputs\":{\"width\":0,\"height\":-1}},"   \
    "\"2\":{\"class_type\":\"SaveImage\",\"inputs\":{\"images\":[\"1\",0],\"filename_prefix\":5}}" \
    "}}"

// one output is sound, another is not
#define PART                                                                                       \
    "{\"prompt\":{\"1\":{\"class_type\":\"EmptyImage\",\"inputs\":{\"width\":8,\"height\":8,"      \
    "\"batch_size\":1,\"color\":0}},\"2\":{\"class_type\":\"SaveImage\",\"inputs\":{\"images\":["  \
    "\"1\",0],\"filename_prefix\":\"x\"}},\"4\":{\"class_type\":\"SaveImage\",\"inputs\":{}}}}"

int main(void)
{
    static const struct request requests[] = {
        { "POST /upload/mask", FORM, form, 200, 400, NULL },
        { "POST /upload/image", FORM, form, 200, 400, NULL },
        { "GET /view?filename=a.png&type=input", NULL, NULL, 200, 404, NULL },
        { "GET /view?filename=a.png&type=input&preview=webp;50", NULL, NULL, 200, 404, NULL },
        { "GET /view?filename=a.png&type=input&channel=rgb", NULL, NULL, 200, 404, NULL },
        { "POST /userdata/d%2Fa.json?full_info=true", NULL, "{}", 200, 0, NULL },
        { "GET /userdata?dir=d&split=true&recurse=true", NULL, NULL, 200, 0, "a.json" },
        { "GET /v2/userdata?path=d", NULL, NULL, 200, 0, "a.json" },
        { "POST /settings", NULL, "{\"a.b\":[1,{\"c\":null}],\"d\":2}", 200, 400, NULL },
        { "POST /settings/e", NULL, "[true]", 200, 400, NULL },
        { "GET /settings", NULL, NULL, 200, 0, "kept" },
        { "POST /prompt", NULL, BAD, 400, 0, NULL },
        { "POST /prompt", NULL, PROMPT, 503, 400, NULL }, // there is no worker
        { "POST /prompt", NULL, PART, 503, 400, NULL },
        { "POST /queue", NULL, "{\"delete\":[\"a\"],\"clear\":true}", 200, 400, NULL },
        { "GET /history/a?max_items=2", NULL, NULL, 200, 400, NULL },
        { "GET /jobs?status=pending,failed", NULL, NULL, 200, 400, NULL },
        { "GET /models", NULL, NULL, 200, 0, NULL },
        { "GET /object_info/KSampler", NULL, NULL, 200, 404, NULL },
    };
    s = served_create(NULL, NULL);
    prepare();
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        now = &requests[i];
        scenario(0); // makes what is made once
        printf("  %s: %ld allocations\n", now->line, oom_each(scenario));
    }
    served_destroy(&s);
    return 0;
}
