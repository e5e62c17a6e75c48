// ninodes monitor: watches a run of another process. ninodes trace: checks or sums up a trace file.
#include "cli.h"

#include <poll.h>
#include <string.h>
#include <time.h>

enum {
    SETTLE_MS = 300,
    ONCE_MS = 3000
}; // --once: silence, or time, after which it has seen enough

static void state_json(const progress *p, const nino_stats *s, int pid)
{
    char text[400];
    progress_text(p, text, sizeof(text));
    js_envelope("monitor");
    js_int("pid", pid);
    js_text("state", text);
    report_json(s);
    js_envelope_end();
}

// Several runs: say which ones there are, so that people can choose.
static void list_runs(const options *o)
{
    nino_run_info run[16];
    const size_t all = nino_attach_list(run, 16), n = all < 16 ? all : 16;
    if (n < 2 || o->n_args)
        return;
    for (size_t i = 0; i < n; i++)
        say("monitor: %s %d %s", i ? "also" : "watching", run[i].pid, run[i].title);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t); // the clock of the records
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

static int watch(const options *o, nino_attach *a, progress *p, nino_stats *s, event_lines *lines)
{
    nino_event ev[512];
    nino_error err;
    const uint64_t begin = now_ns();
    for (;;) {
        size_t n = 0;
        const nino_status st = nino_attach_read(a, ev, 512, &n, &err);
        progress_add(p, ev, n, nino_attach_name, a);
        nino_stats_add(s, ev, n, nino_attach_name, a);
        if (lines && !o->once)
            event_lines_add(lines, ev, n, nino_attach_name, a);
        progress_draw(p);
        if (st == NINO_ERR_IO)
            return progress_job_ended(p) ? EXIT_OK : EXIT_LOST;
        if (st)
            return report_error(o, "monitor", &err, NULL);
        struct pollfd fd = { nino_attach_fd(a), POLLIN, 0 };
        const bool is_quiet = !n && poll(&fd, 1, o->once ? SETTLE_MS : 100) == 0;
        // Once history has caught up with the present, the state is known.
        if (o->once &&
            (is_quiet || (n && ev[n - 1].t_ns >= begin) || now_ns() - begin > ONCE_MS * 1000000ull))
            return EXIT_OK;
    }
}

int cmd_monitor(const options *o)
{
    nino_error err = { .code = NINO_OK };
    list_runs(o);
    nino_attach *a = nino_attach_open(o->n_args ? o->arg[0] : NULL, &err);
    if (!a)
        return report_error(o, "monitor", &err,
                            "a run listens unless it was started with --telemetry=off");
    progress *p = progress_create("", o->once, o->json);
    nino_stats *s = nino_stats_create();
    event_lines *lines = event_lines_create();
    int rc = EXIT_RUN;
    if (p && s && lines)
        rc = watch(o, a, p, s, o->json ? lines : NULL);
    if (rc == EXIT_LOST)
        say("monitor: the run has gone without saying that it ended");
    if (p && s && o->json && rc != EXIT_LOST) {
        state_json(p, s, nino_attach_pid(a));
    } else if (o->json && rc == EXIT_LOST) {
        js_envelope_error("monitor", "lost", "the run has gone", "", NULL);
    } else if (p && s) {
        char text[400];
        progress_text(p, text, sizeof(text));
        progress_destroy(&p);
        printf("%d: %s\n", nino_attach_pid(a), text);
        report_nodes(stdout, s);
        report_memory(stdout, s);
        report_energy(stdout, s);
        report_kernels(stdout, s, 12);
    }
    progress_destroy(&p);
    nino_stats_destroy(&s);
    event_lines_destroy(&lines);
    nino_attach_close(&a);
    return rc;
}

static int check(const options *o)
{
    nino_error err = { .code = NINO_OK };
    uint64_t n = 0;
    if (nino_trace_check(o->arg[1], &n, &err))
        return report_error(o, "trace", &err, NULL);
    if (o->json) {
        js_envelope("trace");
        js_uint("events", n);
        js_envelope_end();
    } else {
        printf("%s: ok, %llu events\n", o->arg[1], (unsigned long long) n);
    }
    return EXIT_OK;
}

static int summary(const options *o)
{
    nino_error err = { .code = NINO_OK };
    nino_stats *s = nino_stats_create();
    int rc = EXIT_OK;
    if (!s) {
        say("trace: out of memory");
        return EXIT_RUN;
    }
    if (nino_trace_load(o->arg[1], s, &err)) {
        rc = report_error(o, "trace", &err, NULL);
    } else if (o->json) {
        js_envelope("trace");
        report_json(s);
        js_envelope_end();
    } else {
        report_nodes(stdout, s);
        report_memory(stdout, s);
        report_kernels(stdout, s, 40);
    }
    nino_stats_destroy(&s);
    return rc;
}

int cmd_trace(const options *o)
{
    if (!strcmp(o->arg[0], "check"))
        return check(o);
    if (!strcmp(o->arg[0], "summary"))
        return summary(o);
    say("trace: %s is not one of check, summary", o->arg[0]);
    return EXIT_USAGE;
}
