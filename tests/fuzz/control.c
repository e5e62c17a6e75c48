// Requests, options and queues from elsewhere: what is taken writes back to the same; what is
// refused says why in one line.
#include "core/monitor/link/queue_view.h"
#include "core/monitor/link/request.h"
#include "tests/fuzz/fuzz.h"
#include "tests/test.h"

const size_t fuzz_max_len = 2048;

const char *const fuzz_words[] = { "\"id\": ",
                                   "\"do\": ",
                                   "\"queue\"",
                                   "\"cancel\"",
                                   "\"set\"",
                                   "\"move\"",
                                   "\"shutdown\"",
                                   "\"job\": ",
                                   "\"position\": ",
                                   "\"after_job\": 1",
                                   "\"workflow\": \"{}\"",
                                   "\"assignment\": \"3.seed=5\"",
                                   "\"options\": {",
                                   "\"models\": [",
                                   "\"precision\": \"bf16\"",
                                   "\"preview_every\": ",
                                   "\"preview_percent\": ",
                                   "\"no_profile\": 1",
                                   "\"schema\": \"queue/1\"",
                                   "\"jobs\": [",
                                   "\"state\": \"running\"",
                                   "\"state\": \"failed\"",
                                   "\"status\": \"range\"",
                                   "\"outputs\": [",
                                   "\"texts\": [{\"text\": \"x\"}]",
                                   "18446744073709551616",
                                   "-1",
                                   "1e999",
                                   "null",
                                   "\\u0000",
                                   "\\ud800",
                                   "true",
                                   NULL };

static const char *const seed[] = {
    "{\"id\":1,\"do\":\"queue\",\"position\":1,\"workflow\":\"{\\\"1\\\":{}}\",\"name\":\"a.json\","
    "\"options\":{\"models\":[\"/m\",\"/n\"],\"input\":\"/i\",\"output\":\"/o\",\"trace\":\"/t\","
    "\"preview\":\"auto\",\"precision\":\"fp16\",\"preview_every\":3}}",
    "{\"id\":4294967295,\"do\":\"set\",\"job\":18446744073709551615,\"assignment\":\"8.seed=7\"}",
    "{\"id\":3,\"do\":\"shutdown\",\"after_job\":1}",
    "{\"schema\":\"queue/1\",\"version\":9,\"worker\":true,\"paused\":false,\"ending\":false,"
    "\"notice\":\"\",\"device\":\"cpu\",\"jobs\":[{\"id\":3,\"state\":\"running\",\"name\":\"w\","
    "\"nodes\":4,\"scope\":7,\"lost\":1,\"queued\":1700000000.5,\"started\":1700000001,"
    "\"outputs\":[\"/o/a.png\"],\"texts\":[{\"node\":\"4\",\"title\":\"t\",\"text\":\"x\"}],"
    "\"options\":{}},{\"id\":2,\"state\":\"failed\",\"name\":\"v\",\"nodes\":1,\"ended\":5,"
    "\"outputs\":[],\"texts\":[],\"status\":\"range\",\"where\":\"3.steps\",\"message\":\"no\","
    "\"options\":{\"models\":[\"/m\"]}}],\"next\":4}",
};

size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap)
{
    if (i >= sizeof(seed) / sizeof(seed[0]))
        return 0;
    const size_t n = strlen(seed[i]) < cap ? strlen(seed[i]) : cap;
    memcpy(buf, seed[i], n);
    return n;
}

static void check_error(const nino_error *e)
{
    CHECK(e->code && e->kind && e->msg[0] && !strchr(e->msg, '\n'));
}

// Written, read and written again, it is the same text.
static void test_request(const char *text, size_t len)
{
    nino_request r, again;
    nino_error err = { 0 };
    nino_buf a = { 0 }, b = { 0 };
    if (nino_request_parse(text, len, &r, &err)) {
        check_error(&err);
    } else {
        CHECK(r.c.cmd < NINO_CONTROL_COUNT && r.c.position >= 0);
        nino_request_write(&a, r.id, &r.c);
        CHECK(!a.failed);
        CHECK_OK(nino_request_parse(a.data, a.len, &again, &err), err);
        nino_request_write(&b, again.id, &again.c);
        CHECK(a.len == b.len && !memcmp(a.data, b.data, a.len));
        CHECK(again.id == r.id && again.c.cmd == r.c.cmd && again.c.job == r.c.job);
        CHECK(again.c.workflow_bytes == r.c.workflow_bytes);
        nino_request_release(&again);
    }
    nino_request_release(&r);
    nino_buf_release(&a);
    nino_buf_release(&b);
}

static void test_queue(const char *text, size_t len)
{
    nino_error err = { 0 };
    nino_buf a = { 0 }, b = { 0 };
    nino_queue_view *v = nino_queue_view_parse(text, len, &err), *again = NULL;
    if (!v) {
        check_error(&err);
        return;
    }
    nino_queue_write(&a, &v->q);
    CHECK(!a.failed);
    again = nino_queue_view_parse(a.data, a.len, &err);
    CHECK_OK(again ? NINO_OK : err.code, err);
    nino_queue_write(&b, &again->q);
    CHECK(a.len == b.len && !memcmp(a.data, b.data, a.len));
    CHECK(v->q.n_jobs == again->q.n_jobs && v->q.is_paused == again->q.is_paused);
    nino_queue_view_destroy(&v);
    nino_queue_view_destroy(&again);
    nino_buf_release(&a);
    nino_buf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    test_request((const char *) data, size);
    test_queue((const char *) data, size);
    return 0;
}
