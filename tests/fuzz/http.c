// Requests to the HTTP interface: whatever comes is answered, every JSON answer is JSON, and no
// file is written outside of the folders.
#include "core/base/json.h"
#include "core/base/file.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/fuzz.h"

#include <ninodes/serve.h>
#include <dirent.h>

const size_t fuzz_max_len = 4096;

const char *const fuzz_words[] = { "GET ",
                                   "POST ",
                                   "DELETE ",
                                   "/prompt",
                                   "/queue",
                                   "/history/",
                                   "/view?",
                                   "filename=",
                                   "&subfolder=",
                                   "&type=temp",
                                   "&preview=webp",
                                   "&channel=a",
                                   "/upload/image",
                                   "/upload/mask",
                                   "/userdata/",
                                   "/move/",
                                   "?dir=",
                                   "/settings",
                                   "/object_info/",
                                   "/models/",
                                   "/api",
                                   "..%2f",
                                   "%00",
                                   "%",
                                   "[input]",
                                   "--x",
                                   "--x--",
                                   "\r\n",
                                   "filename=\"a\"",
                                   "name=\"image\"",
                                   "\"prompt\":",
                                   "\"class_type\":",
                                   "\"inputs\":",
                                   "\"delete\":",
                                   "\"clear\":true",
                                   "?token=t",
                                   "/v1/images/generations",
                                   "/jobs",
                                   "?status=failed",
                                   "&limit=1",
                                   "/cancel",
                                   "\"job_ids\":[",
                                   "\"partial_execution_targets\":[\"2\"],",
                                   "/internal/files/",
                                   "bytes=0-",
                                   "\"size\":\"8x8\"",
                                   "\"original_ref\"",
                                   "\"feature_flags\"",
                                   NULL };

// The first line is method and target, the second the kind of body, the rest the body.
static const char *const seed[] = {
    "POST /prompt\napplication/json\n{\"prompt\":{\"1\":{\"class_type\":\"LoadImage\",\"inputs\":"
    "{\"image\":\"a.png\"}},\"2\":{\"class_type\":\"SaveImage\",\"inputs\":{\"images\":[\"1\",0]}}}"
    ","
    "\"client_id\":\"c\",\"extra_data\":{\"a\":1}}",
    "GET /view?filename=a.png&type=input&preview=webp;50&channel=rgb\n\n",
    "POST /upload/image\nmultipart/form-data; boundary=x\n--x\r\nContent-Disposition: form-data; "
    "name=\"image\"; filename=\"b.png\"\r\n\r\nabc\r\n--x\r\nContent-Disposition: form-data; "
    "name=\"subfolder\"\r\n\r\nd\r\n--x--\r\n",
    "POST /upload/mask\nmultipart/form-data; boundary=x\n--x\r\nContent-Disposition: form-data; "
    "name=\"original_ref\"\r\n\r\n{\"filename\":\"a.png\",\"type\":\"input\"}\r\n--x\r\n"
    "Content-Disposition: form-data; name=\"image\"; filename=\"m.png\"\r\n\r\nabc\r\n--x--\r\n",
    "POST /queue\napplication/json\n{\"delete\":[\"a\",1],\"clear\":true}",
    "POST /userdata/a%2Fb.json?overwrite=false&full_info=true\n\n{}",
    "POST /userdata/a%2Fb.json/move/c.json\n\n",
    "GET /userdata?dir=a&recurse=true&split=true\n\n",
    "POST /settings\napplication/json\n{\"a.b\":[1,{\"c\":null}]}",
    "GET /object_info/KSampler\n\n",
    "GET /api/history?max_items=3&offset=1\n\n",
    "GET /api/jobs?status=failed,pending&sort_by=execution_duration&limit=2&offset=1\n\n",
    "POST /jobs/cancel\napplication/json\n{\"job_ids\":[\"a\",\"b\"]}",
    "POST "
    "/prompt\napplication/json\n{\"prompt\":{\"1\":{\"class_type\":\"EmptyImage\",\"inputs\":{}},"
    "\"2\":{\"class_type\":\"SaveImage\",\"inputs\":{\"images\":[\"1\",0]}},\"3\":{\"inputs\":{}}},"
    "\"partial_execution_targets\":[\"2\",3]}",
    "POST /v1/images/generations\napplication/json\n{\"prompt\":\"x\",\"n\":2,\"size\":\"64x64\"}",
    "WS\n\n{\"type\":\"feature_flags\",\"data\":{\"supports_preview_metadata\":true}}",
};

size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap)
{
    return fuzz_text(seed, sizeof(seed) / sizeof(seed[0]), i, buf, cap);
}

static nino_serve *served(void)
{
    static nino_serve *s;
    char dir[4][96];
    if (s)
        return s;
    static const char *const names[] = { "in", "out", "user", "models" };
    for (int i = 0; i < 4; i++) {
        snprintf(dir[i], sizeof(dir[i]), "%s/%s", fuzz_folder(), names[i]);
        CHECK(nino_file_mkdirs(dir[i], false, NULL) == NINO_OK);
    }
    const nino_job_options jo = { NINO_JOB_OPTIONS_INIT,
                                  .models = (const char *const[]){ dir[3], NULL },
                                  .input_dir = dir[0], .output_dir = dir[1] };
    const nino_serve_params p = { NINO_SERVE_PARAMS_INIT, .job = &jo, .user_dir = dir[2],
                                  .images_workflow = "data/workflows/text_to_image.json" };
    nino_error e = { .code = NINO_OK };
    s = nino_serve_create(&p, &e);
    if (!s)
        printf("%s: %s\n", e.where, e.msg);
    CHECK(s != NULL);
    return s;
}

static int entries(void)
{
    int n = 0;
    DIR *d = opendir(fuzz_folder());
    CHECK(d != NULL);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void check_answer(const nino_http_answer *a)
{
    CHECK(a->status >= 200 && a->status < 600);
    if (strncmp(a->type, "application/json", 16) != 0 || a->fd >= 0)
        return;
    const nino_json_limits limits = { .allow_dup_keys = true };
    nino_json_doc *doc = NULL;
    CHECK(nino_json_parse(a->body, a->bytes, "answer", &limits, &doc, NULL) == NINO_OK);
    nino_json_doc_destroy(&doc);
}

// The next line, in place; *at goes behind it.
static char *take_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');
    if (end)
        *end = 0;
    *at = end ? end + 1 : line + strlen(line);
    return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    nino_serve *s = served();
    char *text = malloc(size + 1);
    CHECK(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    char *at = text, *first = take_line(&at), *type = take_line(&at);
    char *target = strchr(first, ' ');
    if (target)
        *target++ = 0;
    const nino_http_request r = { NINO_HTTP_REQUEST_INIT,
                                  .method = first,
                                  .target = target ? target : "/ws",
                                  .host = "localhost",
                                  .content_type = type,
                                  .range = type,
                                  .body = at,
                                  .body_bytes = size - (size_t) (at - text) };
    const nino_http_answer no = nino_serve_admit(s, &r);
    if (no.status) {
        check_answer(&no);
    } else if (!strcmp(first, "WS")) {
        nino_serve_client *c = nino_serve_join(s, &r, NULL);
        const char *said;
        size_t len;
        bool is_text, is_over;
        CHECK(c);
        nino_serve_hear(c, at, strlen(at));
        while (nino_serve_next(c, &said, &len, &is_text, &is_over))
            CHECK(len > 0);
        nino_serve_leave(&c);
    } else {
        nino_serve_call *c = nino_serve_ask(s, &r, NULL);
        CHECK(c && nino_serve_answered(c)); // there is no worker to wait for
        check_answer(nino_serve_answered(c));
        nino_serve_drop(&c);
    }
    CHECK(entries() == 6); // and . and ..
    free(text);
    return 0;
}
