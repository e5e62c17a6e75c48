// ninodes monitor: watches a run of another process, or shows what a trace file kept of one.
#include "commands.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    FRAME_MS = 100,
    SETTLE_MS = 300, // --once: silence, or time, after which it has seen enough
    ONCE_MS = 3000,
    ADVISE_MS = 5000, // how often advice is looked for
    FIND_MS = 2000,   // for a worker to tell its queue
    KEPT = 400000     // records, for advice
};

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

// Those that follow a run: the state, the statistics, and one that shows them.
typedef struct watcher {
    nino_attach *a;  // NULL: a trace file
    nino_history *h; // for advice and the device's ceilings
    uint64_t advised_ns;
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
    nino_control c = { NINO_CONTROL_INIT, .cmd = NINO_CONTROL_PING };
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

static void cmd_monitor_take(const options *o, watcher *w, const nino_event *ev, size_t n)
{
    progress_add(w->p, ev, n, nino_attach_name, w->a);
    nino_stats_add(w->s, ev, n, nino_attach_name, w->a);
    nino_history_add(w->h, ev, n, nino_attach_name, w->a);
    const nino_queue *q = nino_control_queue(w->a);
    if (w->lines && !o->once && q && q->version != w->told) {
        queue_line(q);
        w->told = q->version;
    }
    if (w->lines && !o->once)
        event_lines_add(w->lines, ev, n, nino_attach_name, w->a);
    if (w->screen)
        tui_add(w->screen, ev, n, nino_attach_name, w->a);
}

// The first advice on the run so far, for the screen.
static void cmd_monitor_advise(watcher *w)
{
    const nino_advice_input in = { NINO_ADVICE_INPUT_INIT, .history = w->h };
    nino_advice first;
    const uint64_t now = now_ns();
    if (now - w->advised_ns < ADVISE_MS * 1000000ull)
        return;
    w->advised_ns = now;
    tui_advise(w->screen, nino_advise(&in, &first, 1) ? first.title : "");
}

static int watch(const options *o, watcher *w)
{
    nino_event ev[512];
    nino_error err;
    const uint64_t begin = now_ns();
    for (;;) {
        size_t n = 0;
        const nino_status st = nino_attach_read(w->a, ev, 512, &n, &err);
        cmd_monitor_take(o, w, ev, n);
        if (!w->screen) {
            progress_draw(w->p);
        } else if (!obey(w)) {
            return EXIT_OK;
        } else {
            cmd_monitor_advise(w);
            tui_draw(w->screen, nino_attach_pid(w->a), w->p, w->s, nino_control_queue(w->a));
        }
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

static void state_json(const watcher *w)
{
    nino_ceilings c;
    char text[400];
    progress_text(w->p, text, sizeof(text));
    report_advice_json(&(nino_advice_input){ NINO_ADVICE_INPUT_INIT, .history = w->h });
    js_envelope("monitor");
    if (w->a)
        js_int("pid", nino_attach_pid(w->a));
    js_text("state", text);
    report_json(w->s, told_ceilings(w->h, &c));
    report_work_json(w->h);
    js_envelope_end();
}

// What the totals count, but tables of single records, advice and plots cannot show.
static void cmd_monitor_unkept(const nino_stats *s)
{
    uint64_t summed;
    const uint64_t count = nino_stats_count(s, &summed), lost = nino_stats_lost(s);
    if (summed)
        printf("%llu of %llu records are in the totals only: they are not held any more\n",
               (unsigned long long) summed, (unsigned long long) count);
    if (lost)
        printf("%llu records were lost; they are in no total\n", (unsigned long long) lost);
}

static void cmd_monitor_state_text(watcher *w, const char *title)
{
    nino_ceilings c;
    char text[400];
    progress_text(w->p, text, sizeof(text));
    progress_destroy(&w->p);
    printf("%s: %s\n", title, text);
    report_nodes(stdout, w->s);
    report_memory(stdout, w->s);
    report_kernels(stdout, w->s, 12, told_ceilings(w->h, &c));
    report_advice(stdout, &(nino_advice_input){ NINO_ADVICE_INPUT_INIT, .history = w->h });
    cmd_monitor_unkept(w->s);
}

static void tell_end(const options *o, watcher *w, int rc)
{
    char pid[16];
    snprintf(pid, sizeof(pid), "%d", nino_attach_pid(w->a));
    if (rc == EXIT_LOST)
        say("monitor: the run has gone without saying that it ended");
    if (o->metrics && rc != EXIT_LOST)
        metrics_print(stdout, w->s, w->h, nino_control_queue(w->a));
    else if (o->json && rc != EXIT_LOST)
        state_json(w);
    else if (o->json)
        js_envelope_error("monitor", "lost", "the run has gone", "", NULL);
    else
        cmd_monitor_state_text(w, pid);
}

// ---- targets -----------------------------------------------------------------------------------

static bool has_job(nino_attach *a, uint64_t job)
{
    const uint64_t until = now_ns() + FIND_MS * 1000000ull;
    const nino_queue *q;
    nino_event ev[64];
    size_t n;
    while (!(q = nino_control_queue(a)) && now_ns() < until) {
        struct pollfd p = { nino_attach_fd(a), POLLIN, 0 };
        poll(&p, 1, FRAME_MS);
        if (nino_attach_read(a, ev, 64, &n, NULL))
            return false;
    }
    for (size_t i = 0; q && q->is_worker && i < q->n_jobs; i++)
        if (q->jobs[i].id == job)
            return true;
    return false;
}

// The worker whose queue has job number `text`; NULL: none, *err is as it was.
static nino_attach *cmd_monitor_find_job(const char *text)
{
    char *end;
    const unsigned long long job = strtoull(text, &end, 10);
    nino_run_info run[16];
    if (end == text || *end)
        return NULL;
    const size_t all = nino_attach_list(run, 16), n = all < 16 ? all : 16;
    for (size_t i = 0; i < n; i++) {
        nino_attach *a = nino_attach_open(run[i].socket, NULL);
        const bool found = a && has_job(a, job);
        nino_attach_close(&a);
        if (found) // a new one, so that nothing of what was read is missing
            return nino_attach_open(run[i].socket, NULL);
    }
    return NULL;
}

static void add_record(void *priv, const nino_event *ev, size_t n, name_fn name, void *name_priv)
{
    watcher *w = priv;
    progress_add(w->p, ev, n, name, name_priv);
    nino_stats_add(w->s, ev, n, name, name_priv);
    nino_history_add(w->h, ev, n, name, name_priv);
    if (w->lines)
        event_lines_add(w->lines, ev, n, name, name_priv);
}

// A trace file, also one that is being written: what it holds now.
static int show_trace(const options *o, watcher *w)
{
    nino_error err = { .code = NINO_OK };
    if (nino_trace_read(o->arg[0], add_record, w, &err))
        return report_error(o, "monitor", &err, NULL);
    if (o->metrics)
        metrics_print(stdout, w->s, w->h, NULL);
    else if (o->json)
        state_json(w);
    else
        cmd_monitor_state_text(w, o->arg[0]);
    return EXIT_OK;
}

static bool is_file(const options *o)
{
    struct stat st;
    return o->n_args && stat(o->arg[0], &st) == 0 && S_ISREG(st.st_mode);
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

int cmd_monitor(const options *given)
{
    options own = *given;
    const options *o = &own;
    own.once |= own.metrics; // another form of the same
    own.json &= !own.metrics;
    nino_error err = { .code = NINO_OK };
    if (o->gui)
        return become_studio(o);
    const bool is_trace = is_file(o);
    nino_attach *a = NULL;
    if (!is_trace) {
        list_runs(o);
        a = nino_attach_open(o->n_args ? o->arg[0] : NULL, &err);
        if (!a && o->n_args && err.code == NINO_ERR_MISSING)
            a = cmd_monitor_find_job(o->arg[0]);
        if (!a)
            return report_error(o, "monitor", &err,
                                "a run listens unless it was started with --telemetry=off");
    }
    const bool on_screen = a && !o->json && !o->once && tui_possible();
    event_lines *lines = event_lines_create();
    watcher w = { .a = a,
                  .h = nino_history_create(KEPT),
                  .p = progress_create("", o->once || on_screen || is_trace, o->json),
                  .s = nino_stats_create(),
                  .lines = o->json && !(is_trace && o->once) ? lines : NULL };
    int rc = EXIT_RUN;
    if (!w.p || !w.s || !w.h || !lines) {
        say("monitor: out of memory");
    } else if (is_trace) {
        rc = show_trace(o, &w);
    } else {
        w.screen = on_screen ? tui_open() : NULL;
        rc = watch(o, &w);
        tui_close(&w.screen);
        tell_end(o, &w, rc);
    }
    progress_destroy(&w.p);
    nino_stats_destroy(&w.s);
    nino_history_destroy(&w.h);
    event_lines_destroy(&lines);
    nino_attach_close(&a);
    return rc;
}
