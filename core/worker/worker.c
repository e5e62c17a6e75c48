// The worker: takes the first waiting job, runs it, says how it ended, keeps the queue on disk.
#include "core/worker/worker_priv.h"

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/run/job_settings.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOOK_MS = 1000 }; // a job wakes the worker when it has something; this is the longest wait

double nino_worker_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    const long ms = t.tv_nsec / 1000000;
    return (double) t.tv_sec + (double) ms * 1e-3;
}

void nino_worker_changed(nino_worker *w)
{
    w->version++;
    pthread_cond_broadcast(&w->changed);
    if (w->ctx)
        nino_ctx_changed(w->ctx);
}

bool nino_worker_queue(const nino_worker *w, nino_queue *q)
{
    *q = (nino_queue){ .version = w->version,
                       .is_worker = true,
                       .is_paused = w->is_paused,
                       .is_ending = w->is_ending || w->is_stopping,
                       .notice = w->notice,
                       .device = w->device };
    return (q->jobs = nino_jobs_list(&w->jobs, &q->n_jobs)) != NULL;
}

static nino_log log_of(const nino_worker *w)
{
    return (nino_log){ w->params.log, w->params.log_priv, w->params.log_level };
}

void nino_worker_save(nino_worker *w)
{
    nino_queue q;
    nino_error e = { .code = NINO_OK };
    nino_worker_changed(w);
    if (!w->store)
        return;
    if (!nino_worker_queue(w, &q))
        nino_fail(&e, NINO_ERR_NOMEM, "queue", "out of memory");
    else
        nino_store_save(w->store, &w->jobs, &q, &e);
    free((nino_queue_job *) q.jobs);
    const nino_log log = log_of(w);
    if (e.code && !w->save_error.code)
        nino_logf(&log, NINO_LOG_ERROR, "the queue cannot be kept: %s: %s", e.where, e.msg);
    w->save_error = e;
}

// ---- one job -----------------------------------------------------------------------------------

// What the job has shown since the last look goes to the queue. The lock is held.
static void take_news(nino_worker *w, nino_wjob *j)
{
    bool is_new = false;
    const size_t n = nino_job_outputs(w->job, NULL, 0);
    nino_job_output *files = n > j->q.n_outputs ? calloc(n, sizeof(*files)) : NULL;
    if (files) {
        nino_job_outputs(w->job, files, n);
        for (size_t i = j->q.n_outputs; i < n && nino_wjob_add_output(j, files[i].path); i++)
            is_new = true;
        free(files);
    }
    const size_t k = nino_job_texts(w->job, NULL, 0);
    nino_job_text *texts = k > j->q.n_texts ? calloc(k, sizeof(*texts)) : NULL;
    if (texts) {
        nino_job_texts(w->job, texts, k);
        for (size_t i = j->q.n_texts; i < k && nino_wjob_add_text(j, &texts[i]); i++)
            is_new = true;
        free(texts);
    }
    const uint32_t scope = nino_job_scope(w->job);
    if (scope != j->q.scope) {
        j->q.scope = scope;
        nino_worker_changed(w);
    }
    if (is_new)
        nino_worker_save(w);
}

// Runs j to its end. The lock is held, and let go while waiting.
static nino_status worker_follow(nino_worker *w, nino_wjob *j, nino_error *err)
{
    nino_status st = NINO_OK;
    for (bool is_done = false; !is_done;) {
        if (w->is_cancelled)
            nino_job_cancel(w->job);
        pthread_mutex_unlock(&w->lock);
        nino_job_wait(w->job, LOOK_MS);
        pthread_mutex_lock(&w->lock);
        is_done = nino_job_done(w->job, &st, err);
        take_news(w, j); // after done(): nothing is missed
    }
    return st;
}

static nino_status run_one(nino_worker *w, nino_wjob *j, nino_error *err)
{
    nino_job_options o = j->options;
    o.is_silent = true;
    pthread_mutex_unlock(&w->lock); // files are opened; j is running, nobody changes it
    nino_graph *g = nino_graph_load(j->workflow, j->workflow_bytes, j->q.name, err);
    nino_job *job = g ? nino_job_start(w->ctx, g, &o, err) : NULL;
    pthread_mutex_lock(&w->lock);
    w->job = job;
    const nino_status st = job ? worker_follow(w, j, err) : err->code;
    w->job = NULL;
    pthread_mutex_unlock(&w->lock);
    nino_job_destroy(&job);
    nino_graph_destroy(&g);
    pthread_mutex_lock(&w->lock);
    w->needed_ns = nino_now_ns();
    return st;
}

// The first waiting job; the lock is held.
static void run_next(nino_worker *w)
{
    nino_wjob *j = w->jobs.waiting;
    nino_error e = { .code = NINO_OK };
    nino_jobs_unlink(&w->jobs, j);
    w->jobs.running = j;
    w->is_cancelled = false;
    j->q.state = NINO_QUEUE_RUNNING;
    j->q.started_s = nino_worker_now();
    nino_worker_save(w);
    const nino_status st = run_one(w, j, &e);
    nino_jobs_unlink(&w->jobs, j);
    if (st == NINO_ERR_CANCELLED && w->is_stopping) { // nobody wanted this one to go
        j->q.state = NINO_QUEUE_WAITING;
        j->q.started_s = 0;
        nino_jobs_insert(&w->jobs, j, 1);
        nino_worker_save(w);
        return;
    }
    j->q.state = st == NINO_OK              ? NINO_QUEUE_DONE
                 : st == NINO_ERR_CANCELLED ? NINO_QUEUE_CANCELLED
                                            : NINO_QUEUE_FAILED;
    j->q.err = e;
    j->q.ended_s = nino_worker_now();
    nino_wjob *extra = nino_jobs_finish(&w->jobs, j);
    nino_worker_save(w);
    if (extra)
        nino_store_drop_workflow(w->store, extra->q.id);
    nino_wjob_destroy(&extra);
}

static void give_back(nino_worker *w)
{
    const bool trim = w->want_trim;
    uint64_t bytes;
    w->want_trim = w->want_reload = false;
    pthread_mutex_unlock(&w->lock);
    nino_ctx_give_back(w->ctx, trim, &bytes);
    pthread_mutex_lock(&w->lock);
}

// Whether nobody has needed the worker for so long that it is to end. The lock is held.
static bool is_needless(nino_worker *w)
{
    const uint64_t now = nino_now_ns();
    if ((w->jobs.waiting && !w->is_paused) || nino_ctx_viewers(w->ctx))
        w->needed_ns = now;
    return w->idle_s > 0 && now - w->needed_ns >= (uint64_t) w->idle_s * 1000000000u;
}

// Until something has changed; while it may become needless, LOOK_MS at most. The lock is held, and
// let go while waiting.
static void wait_for_work(nino_worker *w)
{
    if (!w->idle_s) {
        pthread_cond_wait(&w->changed, &w->lock);
        return;
    }
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += LOOK_MS / 1000;
    pthread_cond_timedwait(&w->changed, &w->lock, &t);
}

nino_status nino_worker_run(nino_worker *w, nino_error *err)
{
    pthread_mutex_lock(&w->lock);
    w->needed_ns = nino_now_ns();
    while (!w->is_stopping && !w->is_ending) {
        if (w->want_trim || w->want_reload)
            give_back(w);
        else if (w->jobs.waiting && !w->is_paused)
            run_next(w);
        else if (is_needless(w))
            w->is_ending = true;
        else
            wait_for_work(w);
    }
    nino_worker_save(w);
    const nino_error e = w->save_error;
    pthread_mutex_unlock(&w->lock);
    if (err && e.code)
        *err = e;
    return e.code;
}

void nino_worker_stop(nino_worker *w)
{
    pthread_mutex_lock(&w->lock);
    w->is_stopping = true;
    w->is_cancelled = true;
    if (w->job)
        nino_job_cancel(w->job);
    nino_worker_changed(w);
    pthread_mutex_unlock(&w->lock);
}

// ---- create and destroy ------------------------------------------------------------------------

static bool worker_keep_text(nino_worker *w, const char **text)
{
    return !*text || (*text = nino_arena_strdup(w->arena, *text));
}

static bool keep_params(nino_worker *w)
{
    nino_ctx_params *p = &w->params;
    return nino_options_keep(&w->options, w->arena) && worker_keep_text(w, &p->device) &&
           worker_keep_text(w, &p->cache_dir) && worker_keep_text(w, &p->title);
}

static nino_status worker_open_parts(nino_worker *w, const nino_worker_params *p, nino_error *err)
{
    nino_stored stored = { .is_paused = false };
    nino_device_info info;
    if (!(w->arena = nino_arena_create()) || !keep_params(w))
        return nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
    if (!p->state_dir || *p->state_dir) {
        if (!(w->store = nino_store_open(p->state_dir, err)))
            return NINO_ERR_IO;
        const nino_status st = nino_store_load(w->store, &w->jobs, &stored, err);
        if (st)
            return st;
        memcpy(w->notice, stored.notice, sizeof(w->notice));
        const nino_log log = log_of(w);
        if (*w->notice)
            nino_logf(&log, NINO_LOG_WARN, "%s: %s", nino_store_dir(w->store), w->notice);
        w->params.state_dir = nino_store_dir(w->store);
        w->params.steps = NINO_STEPS_RESUME;
    }
    // what had ended is not done again unasked, not even for who resumes at once
    w->is_paused = stored.is_rebuilt || (!p->resume && (stored.is_paused || w->notice[0]));
    nino_ctx *ctx = nino_ctx_create_with(&w->params, &nino_worker_ops, w, err);
    if (!ctx)
        return NINO_ERR_DEVICE;
    pthread_mutex_lock(&w->lock); // viewers may be there already
    w->ctx = ctx;
    nino_ctx_device(ctx, &info);
    memcpy(w->device, info.name, sizeof(w->device));
    nino_ctx_pause(ctx, w->is_paused);
    nino_worker_save(w);
    pthread_mutex_unlock(&w->lock);
    return NINO_OK;
}

// What was given, in structs of this version of the library; the context's params go into *w.
static bool take_params(nino_worker *w, const nino_worker_params *given, nino_worker_params *p,
                        nino_error *err)
{
    if (!NINO_TAKE(p, given, NINO_WORKER_PARAMS_INIT, err) ||
        !NINO_TAKE(&w->params, p->ctx, NINO_CTX_PARAMS_INIT, err) ||
        !NINO_TAKE(&w->options, w->params.job, NINO_JOB_OPTIONS_INIT, err))
        return false;
    w->params.job = &w->options;
    w->params.serve = true;
    w->idle_s = p->idle_s;
    return true;
}

nino_worker *nino_worker_create(const nino_worker_params *params, nino_error *err)
{
    nino_worker_params p;
    nino_worker *w = calloc(1, sizeof(*w));
    if (!w) {
        nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
        return NULL;
    }
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_t clock; // waiting must not depend on somebody setting the date
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &clock);
    pthread_condattr_destroy(&clock);
    w->jobs.next_id = 1;
    w->version = 1;
    if (!take_params(w, params, &p, err) || worker_open_parts(w, &p, err))
        nino_worker_destroy(&w);
    return w;
}

void nino_worker_destroy(nino_worker **worker)
{
    nino_worker *w = worker ? *worker : NULL;
    if (!w)
        return;
    nino_ctx_destroy(&w->ctx); // ends the thread that answers
    nino_jobs_release(&w->jobs);
    nino_store_close(&w->store);
    nino_arena_destroy(&w->arena);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
    *worker = NULL;
}

int nino_worker_find(const char *state_dir) { return nino_store_owner(state_dir); }
const char *nino_worker_socket(const nino_worker *w) { return nino_ctx_socket(w->ctx); }
