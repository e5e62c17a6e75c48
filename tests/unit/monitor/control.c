// Requests over the socket: every field arrives, large ones too; answers come in order; snapshots
// of the queue reach every viewer, a sleeping one gets the newest; nonsense and other users get
// nowhere.
#include "core/base/error.h"
#include "core/monitor/link/queue_view.h"
#include "core/event/ring.h"
#include "core/monitor/link/serve.h"
#include "core/monitor/link/wire.h"
#include "tests/test.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char root[64];
static nino_error err;

// ---- the other end -----------------------------------------------------------------------------

typedef struct fake {
    nino_control last; // texts are copies
    nino_job_options options;
    char workflow[100], name[100], assignment[100], model[100], output[100];
    size_t workflow_bytes;
    uint64_t sum; // of the workflow's bytes
    atomic_int calls, n_jobs;
    nino_server *server;
} fake;

static void on_request(void *priv, const nino_control *c, nino_reply *out)
{
    fake *f = priv;
    f->last = *c;
    f->options = *c->options;
    f->workflow_bytes = c->workflow_bytes;
    f->sum = 0;
    for (size_t i = 0; i < c->workflow_bytes; i++)
        f->sum += (unsigned char) c->workflow[i];
    snprintf(f->name, sizeof(f->name), "%s", c->name ? c->name : "");
    snprintf(f->assignment, sizeof(f->assignment), "%s", c->assignment ? c->assignment : "");
    snprintf(f->model, sizeof(f->model), "%s",
             c->options->models && c->options->models[0] ? c->options->models[1] : "");
    snprintf(f->output, sizeof(f->output), "%s",
             c->options->output_dir ? c->options->output_dir : "");
    out->job = c->job + 1;
    if (c->cmd == NINO_CONTROL_REMOVE)
        nino_fail(&out->err, NINO_ERR_RANGE, "job", "is \"running\"\nnow");
    if (c->cmd == NINO_CONTROL_WORKFLOW)
        nino_buf_add(&out->text, "{\"a\": \"\\u0000\"}", 15);
    atomic_fetch_add(&f->calls, 1);
}

static void on_state(void *priv, nino_buf *out)
{
    fake *f = priv;
    static const char *const outputs[] = { "/o/a b.png", "/o/\"c\".png" };
    static const nino_job_options none = { NINO_JOB_OPTIONS_INIT };
    const nino_queue_job jobs[2] = { { .id = 7,
                                       .state = NINO_QUEUE_RUNNING,
                                       .name = "first",
                                       .scope = 3,
                                       .n_nodes = 4,
                                       .options = &none },
                                     { .id = 5,
                                       .state = NINO_QUEUE_DONE,
                                       .name = "",
                                       .outputs = outputs,
                                       .n_outputs = 2,
                                       .options = &none } };
    const nino_queue q = { .version = nino_server_version(f->server),
                           .is_worker = 1,
                           .notice = "one\ttwo",
                           .device = "cpu",
                           .jobs = jobs,
                           .n_jobs = (size_t) atomic_load(&f->n_jobs) };
    nino_queue_write(out, &q);
}

static const nino_server_ops ops = { on_request, on_state };

static nino_attach *attach(const fake *f)
{
    nino_attach *a = nino_attach_open(nino_server_path(f->server), &err);
    CHECK_OK(a ? NINO_OK : err.code, err);
    return a;
}

static nino_status call(nino_attach *a, const nino_control *c, nino_control_reply *r)
{
    return nino_control_call(a, c, 60000, r, &err);
}

// ---- tests -------------------------------------------------------------------------------------

static void test_requests(fake *f)
{
    nino_attach *a = attach(f);
    nino_control_reply r;
    static const char *const models[] = { "/m/one", "/m/zwei \xc3\xb6", NULL };
    const nino_job_options options = { NINO_JOB_OPTIONS_INIT,
                                       .models = models,
                                       .output_dir = "/o",
                                       .precision = NINO_PRECISION_F16,
                                       .preview = NINO_PREVIEW_TAESD,
                                       .preview_every = 9,
                                       .preview_share = 0.2,
                                       .no_profile = true,
                                       .no_metadata = true };
    const nino_control queue = { NINO_CONTROL_INIT,
                                 .cmd = NINO_CONTROL_QUEUE,
                                 .job = 41,
                                 .position = 3,
                                 .workflow = "{\"x\": \"\\n\"}",
                                 .workflow_bytes = 11,
                                 .name = "a \"name\"",
                                 .options = &options };
    CHECK_OK(call(a, &queue, &r), err);
    CHECK(r.job == 42 && r.request == 1 && f->last.cmd == NINO_CONTROL_QUEUE);
    CHECK(f->last.position == 3 && f->workflow_bytes == 11 && f->options.preview_every == 9 &&
          f->options.preview_share == 0.2 && f->options.preview == NINO_PREVIEW_TAESD);
    CHECK(f->options.precision == NINO_PRECISION_F16 && f->options.no_profile == 1 &&
          f->options.no_metadata == 1);
    CHECK_STR(f->name, "a \"name\"");
    CHECK_STR(f->model, "/m/zwei \xc3\xb6");
    CHECK_STR(f->output, "/o");

    // an error arrives as it was said, on one line
    const nino_control bad = { NINO_CONTROL_INIT, .cmd = NINO_CONTROL_REMOVE, .job = UINT64_MAX };
    CHECK(call(a, &bad, &r) == NINO_ERR_RANGE && f->last.job == UINT64_MAX);
    CHECK_STR(err.where, "job");
    CHECK(strstr(err.msg, "running"));
    CHECK_OK(call(a, &(nino_control){ NINO_CONTROL_INIT, .cmd = NINO_CONTROL_WORKFLOW }, &r), err);
    CHECK_STR(r.text, "{\"a\": \"\\u0000\"}");

    // several at once, without waiting: answers in order
    for (uint64_t i = 0; i < 100; i++)
        CHECK(nino_control_send(
                  a, &(nino_control){ NINO_CONTROL_INIT, .cmd = NINO_CONTROL_PING, .job = i },
                  &err) == 4 + i);
    for (uint64_t i = 0; i < 100;) {
        nino_event ev[64];
        size_t n;
        CHECK_OK(nino_attach_read(a, ev, 64, &n, &err), err);
        for (; nino_control_next(a, &r); i++)
            CHECK(r.request == 4 + i && r.job == i + 1 && !r.err.code);
        struct pollfd p = { nino_attach_fd(a), POLLIN, 0 };
        poll(&p, 1, 1000);
    }

    // a workflow larger than a socket holds, then one that is too large
    const size_t size = 6 << 20;
    char *big = malloc(17 << 20);
    CHECK(big);
    memset(big, 'a', 17 << 20);
    big[100] = '"';
    const nino_control large = { NINO_CONTROL_INIT, .cmd = NINO_CONTROL_QUEUE, .workflow = big,
                                 .workflow_bytes = size };
    CHECK_OK(call(a, &large, &r), err);
    CHECK(f->workflow_bytes == size && f->sum == (size - 1) * 'a' + '"');
    const nino_control huge = { NINO_CONTROL_INIT, .cmd = NINO_CONTROL_QUEUE, .workflow = big,
                                .workflow_bytes = 17 << 20 };
    CHECK(!nino_control_send(a, &huge, &err) && err.code == NINO_ERR_ARG);
    CHECK_OK(call(a, &(nino_control){ NINO_CONTROL_INIT, .cmd = NINO_CONTROL_PING }, &r), err);
    free(big);
    nino_attach_close(&a);
}

// Reads until the queue has so many jobs.
static const nino_queue *await_jobs(nino_attach *a, size_t n_jobs)
{
    for (;;) {
        nino_event ev[64];
        size_t n;
        CHECK_OK(nino_attach_read(a, ev, 64, &n, &err), err);
        const nino_queue *q = nino_control_queue(a);
        if (q && q->n_jobs == n_jobs)
            return q;
        struct pollfd p = { nino_attach_fd(a), POLLIN, 0 };
        poll(&p, 1, 1000);
    }
}

static void test_queue(fake *f)
{
    nino_attach *a = attach(f), *b = attach(f);
    const nino_queue *q = await_jobs(a, 0);
    const uint64_t before = q->version;
    CHECK(q->is_worker && !q->is_paused);
    CHECK_STR(q->notice, "one\ttwo");
    atomic_store(&f->n_jobs, 1);
    for (int i = 0; i < 5000; i++) // b sleeps through all of these
        nino_server_changed(f->server);
    q = await_jobs(a, 1);
    CHECK(q->version > before && q->jobs[0].id == 7 && q->jobs[0].scope == 3);
    atomic_store(&f->n_jobs, 2);
    nino_server_changed(f->server);
    q = await_jobs(a, 2);
    CHECK(q->jobs[1].state == NINO_QUEUE_DONE && q->jobs[1].n_outputs == 2);
    CHECK_STR(q->jobs[1].outputs[1], "/o/\"c\".png");
    CHECK_STR(q->jobs[0].name, "first");
    await_jobs(b, 2);
    nino_attach *late = attach(f);
    CHECK(await_jobs(late, 2)->version == nino_server_version(f->server));
    nino_attach_close(&late);
    nino_attach_close(&a);
    nino_attach_close(&b);
    CHECK_STR(nino_queue_state_name(NINO_QUEUE_FAILED), "failed");
    CHECK_STR(nino_queue_state_name((nino_queue_state) 77), "?");
}

static int raw(const char *path)
{
    struct sockaddr_un a;
    CHECK(nino_wire_address(&a, path));
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct timeval tv = { .tv_sec = 60 };
    CHECK(fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
    if (connect(fd, (struct sockaddr *) &a, sizeof(a))) {
        close(fd);
        return -1;
    }
    return fd;
}

static void send_text(int fd, const char *json)
{
    const nino_wire_head h = { NINO_WIRE_REQUEST, (uint32_t) strlen(json) };
    CHECK(send(fd, &h, sizeof(h), MSG_NOSIGNAL) == sizeof(h));
    CHECK(send(fd, json, h.bytes, MSG_NOSIGNAL) == (ssize_t) h.bytes);
}

// Malformed requests get an answer each, and nothing is done; too many end the connection.
static void test_malformed(fake *f)
{
    static const char *const bad[] = {
        "",
        "nonsense",
        "[]",
        "{\"id\":1}",
        "{\"id\":-1,\"do\":\"ping\"}",
        "{\"id\":1,\"do\":\"format disk\"}",
        "{\"id\":1,\"do\":\"cancel\",\"job\":\"one\"}",
        "{\"id\":1,\"do\":\"queue\",\"workflow\":{}}",
        "{\"id\":1,\"do\":\"queue\",\"options\":{\"models\":[1]}}",
        "{\"id\":1,\"do\":\"queue\",\"options\":{\"precision\":\"x\"}}",
        "{\"id\":1,\"id\":2,\"do\":\"ping\"}"
    };
    const int calls = atomic_load(&f->calls), fd = raw(nino_server_path(f->server));
    const size_t n = sizeof(bad) / sizeof(bad[0]);
    CHECK(fd >= 0);
    for (size_t i = 0; i < n; i++)
        send_text(fd, bad[i]);
    char buf[65536];
    size_t have = 0, answers = 0, at = 0;
    while (answers < n) {
        const ssize_t k = recv(fd, buf + have, sizeof(buf) - 1 - have, 0);
        CHECK(k > 0);
        have += (size_t) k;
        for (nino_wire_head h; have - at >= sizeof(h); at += sizeof(h) + h.bytes) {
            memcpy(&h, buf + at, sizeof(h));
            if (have - at < sizeof(h) + h.bytes)
                break;
            const char after = buf[at + sizeof(h) + h.bytes];
            buf[at + sizeof(h) + h.bytes] = 0;
            if (h.type == NINO_WIRE_REPLY) {
                CHECK(!strstr(buf + at + sizeof(h), "\"status\":\"ok\""));
                CHECK(strstr(buf + at + sizeof(h), "\"message\":\""));
                answers++;
            }
            buf[at + sizeof(h) + h.bytes] = after;
        }
    }
    CHECK(atomic_load(&f->calls) == calls);
    char junk[4096];
    memset(junk, ' ', sizeof(junk) - 1);
    junk[sizeof(junk) - 1] = 0;
    const nino_wire_head h = { NINO_WIRE_REQUEST, sizeof(junk) - 1 };
    bool is_shut = false;
    for (int i = 0; i < 100000 && !is_shut; i++)
        is_shut =
            send(fd, &h, sizeof(h), MSG_NOSIGNAL) < 0 || send(fd, junk, h.bytes, MSG_NOSIGNAL) < 0;
    CHECK(is_shut);
    close(fd);
}

// Another user gets no word, even where the file system lets it through. Needs root to try.
static void test_foreign(fake *f)
{
    char dir[160];
    if (geteuid()) {
        printf("  skip: other users can be tried only by root\n");
        return;
    }
    CHECK_OK(nino_wire_dir(dir, sizeof(dir), false, &err), err);
    CHECK(!chmod(root, 0711) && !chmod(dir, 0711) && !chmod(nino_server_path(f->server), 0666));
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid) {
        char c;
        if (setgid(65534) || setuid(65534))
            _exit(77); // a container that does not allow it
        const int fd = raw(nino_server_path(f->server));
        _exit(fd < 0 ? 2 : recv(fd, &c, 1, 0) == 0 ? 0 : 3);
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        printf("  skip: cannot become another user here\n");
    else // 2: a folder above ours kept it out already
        CHECK(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2);
    CHECK(!chmod(root, 0700) && !chmod(dir, 0700));
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(root, sizeof(root), "%s/nino-control-XXXXXX", tmp && strlen(tmp) < 30 ? tmp : "/tmp");
    CHECK(mkdtemp(root));
    setenv("XDG_RUNTIME_DIR", root, 1);
    static fake f;
    nino_monitor *m = nino_monitor_create();
    nino_server *s = nino_server_start(m, "fake", &ops, &f, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    f.server = s;
    test_requests(&f);
    test_queue(&f);
    test_malformed(&f);
    test_foreign(&f);
    nino_attach *a = attach(&f);
    nino_server_stop(&s);
    CHECK(call(a, &(nino_control){ NINO_CONTROL_INIT, .cmd = NINO_CONTROL_PING }, NULL) ==
          NINO_ERR_IO);
    CHECK(!nino_control_send(a, &(nino_control){ NINO_CONTROL_INIT, .cmd = NINO_CONTROL_PING },
                             &err));
    nino_attach_close(&a);

    // a run that takes no requests says so
    s = nino_server_start(m, "", NULL, NULL, &err);
    f.server = s;
    a = attach(&f);
    CHECK(call(a, &(nino_control){ NINO_CONTROL_INIT, .cmd = NINO_CONTROL_CANCEL }, NULL) ==
          NINO_ERR_UNSUPPORTED);
    CHECK(!nino_control_queue(a));
    nino_attach_close(&a);
    nino_server_stop(&s);
    nino_monitor_destroy(&m);
    char cmd[96];
    snprintf(cmd, sizeof(cmd), "rm -rf '%s'", root);
    return system(cmd) != 0;
}
