// Following a job to its end: what it says goes to those who listen, signals cancel and pause it.
#include "cli.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;
    nino_job *job; // the one to cancel, NULL: none yet or no more
    nino_ctx *ctx; // the one to pause, likewise
} ask = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void cancel_job(void)
{
    pthread_mutex_lock(&ask.lock);
    if (ask.job)
        nino_job_cancel(ask.job);
    pthread_mutex_unlock(&ask.lock);
}

static void pause_job(bool is_paused)
{
    pthread_mutex_lock(&ask.lock);
    if (ask.ctx)
        nino_ctx_pause(ask.ctx, is_paused);
    pthread_mutex_unlock(&ask.lock);
}

void follow_ctx(nino_ctx *ctx)
{
    pthread_mutex_lock(&ask.lock);
    ask.ctx = ctx;
    pthread_mutex_unlock(&ask.lock);
}

static void follow_job(nino_job *job)
{
    pthread_mutex_lock(&ask.lock);
    ask.job = job;
    if (job && signals_stopped())
        nino_job_cancel(job);
    pthread_mutex_unlock(&ask.lock);
}

void follow_signals(void)
{
    signals_watch_pause(pause_job);
    signals_watch(cancel_job);
}

static bool is_cached(const nino_event *ev, const char *name)
{
    const size_t n = strlen(name), k = strlen(" (cached)");
    return ev->kind == NINO_EV_NODE && n > k && !strcmp(name + n - k, " (cached)");
}

nino_status follow(nino_job *job, watched *w, nino_error *err)
{
    nino_status st = NINO_OK;
    nino_event ev[512];
    follow_job(job);
    for (;;) {
        const size_t n = nino_job_poll(job, ev, 512);
        progress_add(w->p, ev, n, nino_job_name, job);
        nino_stats_add(w->s, ev, n, nino_job_name, job);
        if (w->h)
            nino_history_add(w->h, ev, n, nino_job_name, job);
        if (w->lines)
            event_lines_add(w->lines, ev, n, nino_job_name, job);
        for (size_t i = 0; i < n; i++) {
            const char *name = nino_job_name(job, ev[i].name);
            if (ev[i].kind == NINO_EV_STAGE && !strcmp(name, "paused"))
                signals_standing();
            if (ev[i].kind == NINO_EV_SEAM || ev[i].kind == NINO_EV_CLIP)
                w->last[ev[i].kind == NINO_EV_CLIP] = ev[i];
            if (ev[i].kind == NINO_EV_TILE_INFO && !ev[i].u.tile.order)
                w->last[2] = ev[i];
            if (ev[i].kind == NINO_EV_CHOICE && w->n_chosen < 8)
                snprintf(w->chosen[w->n_chosen++], sizeof(w->chosen[0]), "%s", name);
            w->n_cached += is_cached(&ev[i], name);
        }
        if (signals_take_status())
            progress_print(w->p);
        progress_draw(w->p);
        if (n)
            continue;
        if (nino_job_done(job, &st, err))
            break;
        nino_job_wait(job, 50);
    }
    follow_job(NULL);
    return st;
}

const char **outputs_of(const nino_job *job, size_t *n)
{
    *n = nino_job_outputs(job, NULL, 0);
    const char **paths = calloc(*n + 1, sizeof(*paths));
    nino_job_output *list = calloc(*n + 1, sizeof(*list));
    if (paths && list)
        nino_job_outputs(job, list, *n);
    else
        *n = 0;
    for (size_t i = 0; i < *n; i++)
        paths[i] = list[i].path;
    free(list);
    return paths;
}

const char *go_on_hint(const nino_ctx *ctx, char *out, size_t size)
{
    const int n = nino_ctx_kept_steps(ctx);
    snprintf(out, size, "%d %s kept: --resume goes on from there", n,
             n == 1 ? "step is" : "steps are");
    return n ? out : NULL;
}
