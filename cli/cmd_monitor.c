// ninodes monitor: watches a run of another process.
#include "cli.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    FRAME_MS = 100,
    SETTLE_MS = 300, // --once: silence, or time, after which it has seen enough
    ONCE_MS = 3000
};

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

// Those that follow a run: the state, the statistics, and one that shows them.
typedef struct watcher {
    nino_attach *a;
    progress *p;
    nino_stats *s;
    event_lines *lines; // NULL: no JSON
    tui *screen;        // NULL: no terminal
    uint64_t told;      // version of the queue that was told last
} watcher;

// What was typed; false: to leave.
static bool obey(watcher *w)
{
    const nino_queue *q = nino_control_queue(w->a);
    nino_control c = { .cmd = NINO_CONTROL_PING };
    nino_control_reply r;
    while (nino_control_next(w->a, &r))
        if (r.err.code)
            tui_say(w->screen, r.err.msg);
    switch (tui_key(w->screen)) {
    case TUI_NOTHING: return true;
    case TUI_QUIT: return false;
    case TUI_CANCEL: c.cmd = NINO_CONTROL_CANCEL; break;
    case TUI_PAUSE: c.cmd = q && q->is_paused ? NINO_CONTROL_RESUME : NINO_CONTROL_PAUSE; break;
    }
    nino_control_send(w->a, &c, NULL); // a run that has gone is noticed anyway
    return true;
}

static void take(const options *o, watcher *w, const nino_event *ev, size_t n)
{
    progress_add(w->p, ev, n, nino_attach_name, w->a);
    nino_stats_add(w->s, ev, n, nino_attach_name, w->a);
    const nino_queue *q = nino_control_queue(w->a);
    if (w->lines && !o->once && q && q->version != w->told) {
        queue_line(q);
        w->told = q->version;
    }
    if (w->lines && !o->once)
        event_lines_add(w->lines, ev, n, nino_attach_name, w->a);
    if (w->screen)
        tui_add(w->screen, ev, n);
}

static int watch(const options *o, watcher *w)
{
    nino_event ev[512];
    nino_error err;
    const uint64_t begin = now_ns();
    for (;;) {
        size_t n = 0;
        const nino_status st = nino_attach_read(w->a, ev, 512, &n, &err);
        take(o, w, ev, n);
        if (!w->screen)
            progress_draw(w->p);
        else if (!obey(w))
            return EXIT_OK;
        else
            tui_draw(w->screen, nino_attach_pid(w->a), w->p, w->s, nino_control_queue(w->a));
        if (st == NINO_ERR_IO)
            return progress_job_ended(w->p) ? EXIT_OK : EXIT_LOST;
        if (st)
            return report_error(o, "monitor", &err, NULL);
        struct pollfd fd[2] = { { nino_attach_fd(w->a), POLLIN, 0 }, { STDIN_FILENO, POLLIN, 0 } };
        const bool is_quiet =
            !n && poll(fd, w->screen ? 2 : 1, o->once ? SETTLE_MS : FRAME_MS) == 0;
        // Once history has caught up with the present, the state is known.
        if (o->once &&
            (is_quiet || (n && ev[n - 1].t_ns >= begin) || now_ns() - begin > ONCE_MS * 1000000ull))
            return EXIT_OK;
    }
}

static void tell_end(const options *o, watcher *w, int rc)
{
    if (rc == EXIT_LOST)
        say("monitor: the run has gone without saying that it ended");
    if (o->json && rc != EXIT_LOST) {
        state_json(w->p, w->s, nino_attach_pid(w->a));
    } else if (o->json) {
        js_envelope_error("monitor", "lost", "the run has gone", "", NULL);
    } else {
        char text[400];
        progress_text(w->p, text, sizeof(text));
        progress_destroy(&w->p);
        printf("%d: %s\n", nino_attach_pid(w->a), text);
        report_nodes(stdout, w->s);
        report_memory(stdout, w->s);
        report_kernels(stdout, w->s, 12);
    }
}

// Becomes the app, which attaches to the same run. Returns only when it cannot.
static int become_studio(const options *o)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 16);
    while (n > 0 && path[n - 1] != '/')
        n--;
    char *const argv[] = { (char *) "ninodes-studio", (char *) "--attach",
                           (char *) (o->n_args ? o->arg[0] : "newest"), NULL };
    if (n > 0) {
        snprintf(path + n, 16, "ninodes-studio");
        execv(path, argv); // the one beside this program, else the one in PATH
    }
    execvp(argv[0], argv);
    say("monitor: ninodes-studio cannot be started: %s", strerror(errno));
    return EXIT_MISSING;
}

int cmd_monitor(const options *o)
{
    nino_error err = { .code = NINO_OK };
    if (o->gui)
        return become_studio(o);
    list_runs(o);
    nino_attach *a = nino_attach_open(o->n_args ? o->arg[0] : NULL, &err);
    if (!a)
        return report_error(o, "monitor", &err,
                            "a run listens unless it was started with --telemetry=off");
    const bool on_screen = !o->json && !o->once && tui_possible();
    event_lines *lines = event_lines_create();
    watcher w = { .a = a,
                  .p = progress_create("", o->once || on_screen, o->json),
                  .s = nino_stats_create(),
                  .lines = o->json ? lines : NULL };
    int rc = EXIT_RUN;
    if (!w.p || !w.s || !lines) {
        say("monitor: out of memory");
    } else {
        w.screen = on_screen ? tui_open() : NULL;
        rc = watch(o, &w);
        tui_close(&w.screen);
        tell_end(o, &w, rc);
    }
    progress_destroy(&w.p);
    nino_stats_destroy(&w.s);
    event_lines_destroy(&lines);
    nino_attach_close(&a);
    return rc;
}
