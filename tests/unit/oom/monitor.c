// Serving a run and watching it with every allocation and thread failing, once and from there on: the
// server starts or says why not, a viewer is served or turned away, the run goes on, nothing is kept.
#include "core/base/time.h"
#include "core/event/ring.h"
#include "core/monitor/link/serve.h"
#include "tests/oom.h"
#include <ninodes/history.h>

#include <poll.h>

static char dir[] = "/tmp/ninodes-oom-monitor-XXXXXX";

static void say_state(void *priv, nino_buf *out)
{
    (void) priv;
    nino_buf_adds(out, "{\"schema\":\"queue/1\",\"jobs\":[]}");
}

static void answer(void *priv, const nino_control *c, nino_reply *reply)
{
    (void) priv;
    (void) c;
    nino_buf_adds(&reply->text, "{}");
}

// Until a message has come, the run has gone, or nothing more comes.
static bool read_to_message(nino_attach *a, nino_error *err)
{
    for (int idle = 0; idle < 20;) {
        nino_event part[64];
        size_t n;
        struct pollfd p = { nino_attach_fd(a), POLLIN, 0 };
        if (nino_attach_read(a, part, 64, &n, err))
            return false;
        for (size_t i = 0; i < n; i++)
            if (part[i].kind == NINO_EV_MESSAGE)
                return true;
        if (!n) {
            poll(&p, 1, 50);
            idle++;
        }
    }
    return false;
}

static void serve_one(int may_fail)
{
    static const nino_server_ops ops = { .state = say_state, .request = answer };
    nino_error err = { 0 };
    const long at = oom_pause();
    nino_monitor *m = nino_monitor_create();
    CHECK(m);
    const uint32_t job = nino_monitor_begin(m, NINO_EV_JOB, "job", 0, 0);
    for (int i = 0; i < 300; i++) // more than are told as open
        nino_monitor_begin(m, NINO_EV_STEP, "step", 0, 0);
    oom_resume(at);
    nino_server *s = nino_server_start(m, "x", &ops, NULL, &err);
    if (oom_passed(s ? NINO_OK : err.code, &err, may_fail)) {
        nino_attach *a = nino_attach_open(nino_server_path(s), &err);
        CHECK(a || (may_fail && oom.fired));
        nino_server_changed(s);
        nino_monitor_end(m, job);
        nino_monitor_begin(m, NINO_EV_JOB, "next", 0, 0);
        nino_monitor_message(m, NINO_LOG_INFO, "the last");
        CHECK(!a || read_to_message(a, &err) || (may_fail && oom.fired));
        nino_attach_close(&a);
        nino_server_stop(&s);
    }
    const long rest = oom_pause();
    nino_monitor_destroy(&m);
    oom.at = rest;
}

int main(void)
{
    char command[80];
    CHECK(mkdtemp(dir) && !setenv("XDG_RUNTIME_DIR", dir, 1));
    oom.wide = 1;
    serve_one(0); // what a thread keeps to publish with is made once
    printf("  %ld allocations\n", oom_each(serve_one));
    snprintf(command, sizeof(command), "rm -r %s", dir);
    CHECK(!system(command));
    return 0;
}
