// What becomes of a prompt between the request and the worker's queue, with a worker that says what the test wants: it
// refuses, is gone, answers after its queue has told, or tells of no queue at all.
#include "core/base/error.h"
#include "core/event/ring.h"
#include "core/monitor/link/queue_view.h"
#include "core/monitor/link/serve.h"
#include "core/serve/serve_priv.h"
#include "tests/test.h"

#include <ninodes/serve.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>

static char top[] = "/tmp/ninodes-queued-XXXXXX";
static nino_error err;
static nino_serve *s;
static nino_monitor *monitor;
static nino_server *server;

// What the worker says to the next requests; set before they are sent.
static struct {
    nino_status code; // NINO_OK: takes them
    const char *where, *msg;
    atomic_int last; // number of the job taken last
} worker;

static void on_request(void *priv, const nino_control *c, nino_reply *out)
{
    (void) priv;
    if (c->cmd != NINO_CONTROL_QUEUE)
        return;
    if (worker.code)
        nino_fail(&out->err, worker.code, worker.where, "%s", worker.msg);
    else
        out->job = (uint64_t) atomic_fetch_add(&worker.last, 1) + 1;
}

static void on_state(void *priv, nino_buf *out)
{
    (void) priv;
    const nino_queue q = { .version = nino_server_version(server),
                           .is_worker = 1,
                           .device = "cpu" };
    nino_queue_write(out, &q);
}

static void step(void)
{
    CHECK_OK(nino_serve_poll(s, &err), err);
    nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

// Attaches to another worker. Its queue, where it tells of one, has no jobs, and is known then.
static void start(bool has_queue)
{
    static nino_server_ops ops;
    ops = (nino_server_ops){ on_request, has_queue ? on_state : NULL };
    nino_server_stop(&server);
    server = nino_server_start(monitor, "fake", &ops, NULL, &err);
    CHECK_OK(server ? NINO_OK : err.code, err);
    CHECK_OK(nino_serve_attach(s, nino_server_path(server), &err), err);
    CHECK(!s->asked);
    nino_server_changed(server);
    while (has_queue && s->queue_version != nino_server_version(server))
        step();
}

static nino_serve_call *begin(const char *id)
{
    char body[300];
    snprintf(body, sizeof(body),
             "{\"prompt\":{\"1\":{\"class_type\":\"EmptyImage\",\"inputs\":{\"width\":8,\"height\":"
             "8,\"batch_size\":1,\"color\":0}},\"2\":{\"class_type\":\"SaveImage\",\"inputs\":{"
             "\"images\":[\"1\",0],\"filename_prefix\":\"x\"}}},\"prompt_id\":\"%s\"}",
             id);
    const nino_http_request r = { NINO_HTTP_REQUEST_INIT, .method = "POST",
                                  .target = "/prompt",    .host = "localhost",
                                  .body = body,           .body_bytes = strlen(body) };
    nino_serve_call *c = nino_serve_ask(s, &r, NULL);
    CHECK(c && !nino_serve_answered(c));
    return c;
}

// Waits for the answer, which has this status and says this; drops the call.
static void answered(nino_serve_call *c, int status, const char *says)
{
    while (!nino_serve_answered(c))
        step();
    const nino_http_answer *a = nino_serve_answered(c);
    if (a->status != status || !a->body || !memmem(a->body, a->bytes, says, strlen(says)))
        fprintf(stderr, "%d: %.*s\n", a->status, (int) a->bytes, (const char *) a->body);
    CHECK(a->status == status && a->body && memmem(a->body, a->bytes, says, strlen(says)));
    nino_serve_drop(&c);
}

static nino_queue_job job(uint64_t id, const char *name, nino_queue_state state)
{
    static const nino_job_options none = { NINO_JOB_OPTIONS_INIT };
    return (nino_queue_job){ .id = id, .name = name, .state = state, .options = &none };
}

// As if the worker had told of these jobs; its own word of the same version is no news then.
static void tell(const nino_queue_job *jobs, size_t n)
{
    s->queue_version = 0;
    serve_take_queue(
        s, &(nino_queue){
               .version = nino_server_version(server), .is_worker = 1, .jobs = jobs, .n_jobs = n });
}

// The worker's word is given on, with the status that fits it; the name of the prompt is free again.
static void refused(void)
{
    static const struct {
        nino_status code;
        const char *where, *msg;
        int status;
        const char *says;
    } rows[] = {
        { NINO_ERR_ARG, "node 1", "is wrong", 400, "\"message\":\"node 1: is wrong\"" },
        { NINO_ERR_IO, "", "no room", 400, "\"message\":\"no room\"" },
        { NINO_ERR_NOMEM, "queue", "out of memory", 500, "queue: out of memory" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        worker.code = rows[i].code;
        worker.where = rows[i].where;
        worker.msg = rows[i].msg;
        answered(begin("same"), rows[i].status, rows[i].says);
        CHECK(!s->joining);
    }
    // who has hung up is told nothing, and what was asked for is forgotten all the same
    nino_serve_call *c = begin("same");
    nino_serve_drop(&c);
    while (s->joining)
        step();
    worker.code = NINO_OK;
}

// One that was taken and is in no queue yet stays; the one behind it, which is refused, goes.
static void one_of_two(void)
{
    nino_serve_call *first = begin("first");
    while (!s->joining->taken)
        step();
    worker.code = NINO_ERR_ARG;
    worker.where = "";
    worker.msg = "not this one";
    answered(begin("second"), 400, "not this one");
    worker.code = NINO_OK;
    CHECK(s->joining && !s->joining->next && !strcmp(s->joining->prompt_id, "first"));
    const nino_queue_job jobs[] = { job(s->joining->taken, "prompt first", NINO_QUEUE_WAITING) };
    tell(jobs, 1);
    answered(first, 200, "\"prompt_id\":\"first\",\"number\":1,\"node_errors\":{}");
    CHECK(!s->joining && serve_record_find(s, "first")->job == jobs[0].id);
}

// The queue has it before the worker's answer is here.
static void queue_first(void)
{
    const uint64_t next = (uint64_t) atomic_load(&worker.last) + 1; // the job that it will be
    const nino_queue_job jobs[] = { job(next, "prompt early", NINO_QUEUE_WAITING) };
    nino_serve_call *c = begin("early");
    tell(jobs, 1);
    CHECK(!nino_serve_answered(c) && !s->joining); // the number is the worker's to say
    answered(c, 200, "\"prompt_id\":\"early\"");
    // the same for one who has hung up
    const nino_queue_job other[] = { job(next + 1, "prompt gone", NINO_QUEUE_WAITING) };
    c = begin("gone");
    nino_serve_drop(&c);
    tell(other, 1);
    CHECK(serve_record_find(s, "gone") && !serve_record_find(s, "early"));
    while (s->asked)
        step();
    CHECK(serve_record_find(s, "gone"));
}

// Without a word the worker has gone: who waits is told so, who has hung up is not.
static void worker_gone(void)
{
    nino_serve_call *c = begin("lost"), *other = begin("other");
    nino_serve_drop(&other);
    start(false);
    answered(c, 503, "the worker has gone");
    CHECK(!s->joining && !s->asked);
    // one that tells of no queue: what it took is not known to run
    c = begin("never");
    while (!s->joining->taken)
        step();
    CHECK(!nino_serve_answered(c) && s->joining->after == 0);
    // it goes, and nobody may come after it: it was taken
    nino_server_stop(&server);
    for (int i = 0; i < 20000 && !nino_serve_answered(c); i++) {
        nino_serve_poll(s, &err);
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    CHECK(nino_serve_answered(c) && s->joining);
    answered(c, 200, "\"prompt_id\":\"never\"");
    // another one has it no more: it came and went
    start(true);
    CHECK(!s->joining);
}

// Of what has ended, the newest 256 at most.
static void long_history(void)
{
    static nino_queue_job jobs[300];
    static char names[300][20];
    for (int i = 0; i < 300; i++) {
        snprintf(names[i], sizeof(names[i]), "prompt h-%d", i);
        jobs[i] = job((uint64_t) (1300 - i), names[i], NINO_QUEUE_DONE);
    }
    tell(jobs, 300);
    const struct {
        const char *target;
        int n;
    } rows[] = { { "/history", 256 },
                 { "/history?max_items=2", 2 },
                 { "/history?offset=298", 2 },
                 { "/history/h-7", 1 },
                 { "/history/h-299", 1 } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const nino_http_request r = { NINO_HTTP_REQUEST_INIT, .method = "GET",
                                      .target = rows[i].target, .host = "localhost" };
        nino_serve_call *c = nino_serve_ask(s, &r, NULL);
        const nino_http_answer *a = c ? nino_serve_answered(c) : NULL;
        CHECK(a && a->status == 200);
        nino_json_doc *doc = NULL;
        CHECK_OK(nino_json_parse((const char *) a->body, a->bytes, "history", NULL, &doc, &err),
                 err);
        CHECK((int) doc->root->count == rows[i].n);
        nino_json_doc_destroy(&doc);
        nino_serve_drop(&c);
    }
}

int main(void)
{
    CHECK(mkdtemp(top) && !setenv("XDG_RUNTIME_DIR", top, 1));
    const nino_job_options jo = { NINO_JOB_OPTIONS_INIT, .input_dir = top, .output_dir = top };
    const nino_serve_params p = { NINO_SERVE_PARAMS_INIT, .job = &jo, .user_dir = top };
    CHECK((monitor = nino_monitor_create()));
    CHECK((s = nino_serve_create(&p, &err)));
    start(true);
    refused();
    one_of_two();
    queue_first();
    worker_gone();
    long_history();
    nino_serve_destroy(&s);
    nino_server_stop(&server);
    nino_monitor_destroy(&monitor);
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", top);
    return system(command) != 0;
}
