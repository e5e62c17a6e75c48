// Pages of other sites that may ask, what their browsers are told, files that a client has already,
// and prompts with odd members; without a worker.
#include "tests/served.h"

static nino_error err;
static char headers[2048];

static nino_serve *open_for(const char *const *origins, const char *const *hosts, const char *token)
{
    static const char *const models[] = { served_top, NULL };
    const nino_job_options jo = { NINO_JOB_OPTIONS_INIT, .models = models, .input_dir = served_top,
                                  .output_dir = served_top };
    const nino_serve_params p = { NINO_SERVE_PARAMS_INIT, .job = &jo,     .user_dir = served_top,
                                  .origins = origins,     .hosts = hosts, .token = token,
                                  .max_body = 1 << 20 };
    nino_serve *s = nino_serve_create(&p, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    return s;
}

static int admit(nino_serve *s, nino_http_request r)
{
    const nino_http_answer a = nino_serve_admit(s, &r);
    snprintf(headers, sizeof(headers), "%s", a.headers);
    return a.status;
}

static int ask(nino_serve *s, nino_http_request r)
{
    nino_serve_call *c = nino_serve_ask(s, &r, NULL);
    const nino_http_answer *a = c ? nino_serve_answered(c) : NULL;
    CHECK(a);
    const int status = a->status;
    snprintf(headers, sizeof(headers), "%s", a->headers);
    nino_serve_drop(&c);
    return status;
}

#define REQUEST(...)                                                                               \
    (nino_http_request) { NINO_HTTP_REQUEST_INIT, .host = "localhost", __VA_ARGS__ }
#define GET(...) REQUEST(.method = "GET", .target = "/queue", __VA_ARGS__)

// One site among those that may ask.
static void test_listed(void)
{
    static const char *const origins[] = { "https://b.example", "https://A.example", NULL };
    nino_serve *s = open_for(origins, NULL, NULL);
    CHECK(admit(s, GET(.origin = "https://a.example")) == 0);
    nino_http_request large = GET(.origin = "https://a.example", .body_bytes = 2 << 20);
    CHECK(admit(s, large) == 413); // and the page may read why
    CHECK(strstr(headers, "Access-Control-Allow-Origin: https://A.example\nVary: Origin\n"));
    CHECK(!strstr(headers, "Allow-Methods"));
    CHECK(admit(s, GET(.origin = "https://a.example.evil")) == 403 && !*headers);
    CHECK(admit(s, GET(.origin = "a.example")) == 403);
    CHECK(admit(s, GET(.origin = "http://localhost")) == 0 && !*headers); // its own
    CHECK(admit(s, REQUEST(.method = "OPTIONS", .target = "/prompt",
                           .origin = "https://b.example")) == 200);
    CHECK(strstr(headers, "Access-Control-Allow-Methods: GET, POST"));
    CHECK(strstr(headers, "Access-Control-Allow-Private-Network: true"));
    CHECK(admit(s, REQUEST(.method = "OPTIONS", .target = "/prompt", .origin = "https://c")) ==
          403);
    CHECK(admit(s, REQUEST(.method = "POST", .target = "/prompt", .origin = "https://b.example",
                           .fetch_site = "cross-site")) == 0);
    nino_http_request none = GET(.origin = "https://c.example");
    none.host = NULL;
    CHECK(admit(s, none) == 403);
    none = GET(.origin = "https://b.example");
    none.host = NULL; // not even for those that may
    CHECK(admit(s, none) == 403);
    CHECK(ask(s, GET(.origin = "https://b.example")) == 200);
    CHECK(strstr(headers, "Access-Control-Allow-Origin: https://b.example\n"));
    CHECK(ask(s, GET(.origin = "https://c.example")) == 200); // admit() is what refuses
    CHECK(!strstr(headers, "Access-Control"));
    CHECK(ask(s, GET()) == 200 && !strstr(headers, "Access-Control"));
    nino_serve_destroy(&s);
}

// Every site, with a token; a question before the question has none.
static void test_any(void)
{
    static const char *const any[] = { "*", NULL }, *const hosts[] = { "x.example", NULL };
    nino_serve *s = open_for(any, hosts, "secret");
    CHECK(admit(s, GET(.origin = "https://z")) == 401);
    CHECK(strstr(headers, "Access-Control-Allow-Origin: *\n") && strstr(headers, "Bearer"));
    CHECK(admit(s, REQUEST(.method = "OPTIONS", .target = "/prompt", .origin = "https://z")) ==
          200);
    CHECK(admit(s, REQUEST(.method = "OPTIONS", .target = "/prompt")) == 401);
    CHECK(admit(s, GET(.origin = "https://z", .authorization = "Bearer secret")) == 0);
    CHECK(ask(s, GET(.authorization = "Bearer secret")) == 200 && !strstr(headers, "Set-Cookie"));
    CHECK(ask(s, GET(.cookie = "ninodes_token=secret")) == 200 && !strstr(headers, "Set-Cookie"));
    CHECK(admit(s, GET(.cookie = "ninodes_token=")) == 401); // none, and other cookies
    CHECK(admit(s, GET(.cookie = "another_token=secret; x")) == 401);
    CHECK(ask(s, REQUEST(.method = "GET", .target = "/queue?token=secret")) == 200);
    CHECK(strstr(headers, "Set-Cookie: ninodes_token=secret; Path=/; HttpOnly"));
    nino_serve_destroy(&s);
    // a name of this computer that was told, as a host and as a page's
    s = open_for(NULL, hosts, NULL);
    nino_http_request named = GET(.origin = "https://X.example");
    CHECK(admit(s, named) == 0);
    named.host = "x.example:80";
    CHECK(admit(s, named) == 0);
    named.host = "y.example";
    CHECK(admit(s, named) == 403);
    nino_serve_destroy(&s);
    s = open_for(NULL, hosts, "");
    CHECK(admit(s, GET(.cookie = "ninodes_token=x")) == 401);
    nino_serve_destroy(&s);
}

static nino_http_request view(const char *none_match, const char *range)
{
    return REQUEST(.method = "GET", .target = "/view?filename=t.txt&type=input",
                   .none_match = none_match, .range = range);
}

static void test_known(void)
{
    char etag[64], list[200];
    nino_serve *s = open_for(NULL, NULL, NULL);
    served_put(".", "t.txt", "0123456789", 10);
    CHECK(ask(s, view(NULL, NULL)) == 200);
    const char *at = strstr(headers, "ETag: ");
    CHECK(at && sscanf(at, "ETag: %63s", etag) == 1 && etag[0] == '"');
    snprintf(list, sizeof(list), "\"other\", W/%s", etag);
    CHECK(ask(s, view(etag, NULL)) == 304 && strstr(headers, etag));
    CHECK(ask(s, view(list, NULL)) == 304 && ask(s, view("*", NULL)) == 304);
    CHECK(ask(s, view("\"other\"", NULL)) == 200);
    CHECK(ask(s, view(etag, "bytes=2-3")) == 206); // a part is asked for all the same
    CHECK(strstr(headers, "Content-Range: bytes 2-3/10\n"));
    served_put(".", "t.txt", "01234567890", 11); // it has changed
    CHECK(ask(s, view(etag, NULL)) == 200);
    nino_serve_destroy(&s);
}

static void test_requests(void)
{
    nino_serve *s = open_for(NULL, NULL, NULL);
    CHECK(admit(s, REQUEST(.target = "/")) == 400);
    CHECK(admit(s, REQUEST(.method = "GET")) == 400);
    nino_http_request r = REQUEST(.target = "/queue");
    CHECK(!nino_serve_ask(s, &r, NULL));
    r = REQUEST(.method = "GET");
    CHECK(!nino_serve_ask(s, &r, NULL));
    r = GET();
    r.size = 0; // of no version of the program
    CHECK(admit(s, r) == 400 && !nino_serve_ask(s, &r, NULL));
    CHECK(admit(s, REQUEST(.method = "GET", .target = "queue")) == 400);
    CHECK(ask(s, REQUEST(.method = "HEAD", .target = "/queue")) == 200);
    CHECK(ask(s, REQUEST(.method = "PATCH", .target = "/queue")) == 405);
    CHECK(ask(s, REQUEST(.method = "POST", .target = "/nowhere")) == 404);
    CHECK(ask(s, REQUEST(.method = "GET", .target = "/api/queue?")) == 200);
    nino_serve_destroy(&s);
}

// What is sound gets as far as the worker that there is not.
static void test_prompts(void)
{
#define SOUND                                                                                      \
    "\"prompt\":{\"1\":{\"class_type\":\"EmptyLatentImage\",\"inputs\":{\"width\":64,"             \
    "\"height\":64,\"batch_size\":1}},\"3\":{\"class_type\":\"SaveLatent\",\"inputs\":"            \
    "{\"samples\":[\"1\",0],\"filename_prefix\":\"x\"}}"
#define LONG_ID "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-_.9"
    static const struct {
        int status;
        const char *says, *body;
    } rows[] = {
        { 503, "no_worker", "{\"prompt_id\":\"" LONG_ID "\"," SOUND "}}" },
        { 400, "invalid_prompt_id", "{\"prompt_id\":\"" LONG_ID "x\"," SOUND "}}" },
        { 400, "invalid_prompt_id", "{\"prompt_id\":7," SOUND "}}" },
        { 503, "no_worker",
          "{\"partial_execution_targets\":7,\"client_id\":7,\"extra_data\":[7]," SOUND "}}" },
        { 503, "no_worker",
          "{\"partial_execution_targets\":[\"3\"],\"client_id\":\"c\",\"extra_data\":"
          "{\"client_id\":1,\"create_time\":1,\"a\":[1]}," SOUND "}}" },
        { 400, "prompt_no_outputs", "{\"partial_execution_targets\":[\"nobody\"]," SOUND "}}" },
        { 503, "no_worker", "{\"extra_data\":{\"client_id\":\"c\"},\"front\":true," SOUND "}}" },
        { 503, "no_worker", "{\"number\":-1," SOUND "}}" },
        { 503, "no_worker", "{\"number\":\"x\",\"front\":\"x\"," SOUND "}}" },
        { 400, "no_prompt", "{\"prompt\":[]}" },
        { 400, "no_prompt", "{}" },
        // one output is sound, another is not
        { 503, "no_worker", "{" SOUND ",\"4\":{\"class_type\":\"SaveLatent\",\"inputs\":{}}}}" },
    };
    nino_buf answer = { 0 };
    nino_serve *s = open_for(NULL, NULL, NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const int status = served_ask(s, "POST /prompt", "application/json", rows[i].body,
                                      strlen(rows[i].body), &answer);
        if (status != rows[i].status || !strstr(answer.data, rows[i].says))
            fprintf(stderr, "%s: %d %s\n", rows[i].body, status, answer.data);
        CHECK(status == rows[i].status && strstr(answer.data, rows[i].says));
    }
    nino_buf_release(&answer);
    nino_serve_destroy(&s);
}

int main(void)
{
    CHECK(mkdtemp(served_top));
    test_listed();
    test_any();
    test_known();
    test_requests();
    test_prompts();
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", served_top);
    CHECK(!system(command));
    return 0;
}
