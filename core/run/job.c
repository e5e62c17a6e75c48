// A job: a copy of a graph running on its own thread, its events, outputs and trace.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/base/thread.h"
#include "core/base/vars.h"
#include "core/run/job_settings.h"
#include "core/run/execute.h"
#include "core/run/execute_priv.h"
#include <ninodes/job.h>

#define STAGED 256 // events that wait() has taken and poll() has not

// What an output node was given.
typedef struct kept_result {
    const char *node;
    nino_value *v;
} kept_result;

struct nino_job {
    nino_ctx *ctx;
    nino_graph *g;
    nino_settings *settings;
    nino_precision precision;
    volatile int cancel;
    pthread_t thread;

    pthread_mutex_t lock; // guards all below
    pthread_cond_t changed;
    bool is_over; // the thread has done everything
    nino_status status;
    nino_error err;
    nino_mon_reader *reader; // NULL before the run and after its last event
    bool is_drained;
    uint32_t scope; // the job's own; its end is the last event
    nino_event staged[STAGED];
    size_t n_staged, staged_at;
    bool is_told;    // wait() has said that something is there, and nobody has polled since
    bool is_unheard; // and waited again: nobody polls, so that the job is done when it is over
    uint64_t lost;
    int bell;                 // of nino_job_fd(); -1: nobody has asked
    nino_shown shown;         // paths in order
    nino_job_output *outputs; // the same with their nodes
    nino_job_text *texts;
    size_t n_outputs, n_texts;
    kept_result *kept;
    size_t n_kept;
    bool is_untold; // some of these could not be kept: no memory
};

// ---- the trace -------------------------------------------------------------------------------

typedef struct tracer {
    nino_monitor *monitor;
    nino_mon_reader *reader;
    nino_trace *trace;
    pthread_t thread;
    int stop; // atomic
    nino_event ev[1024];
} tracer;

static const char *job_name_of(void *monitor, uint32_t id)
{
    return nino_monitor_name_text(monitor, id);
}

static void *trace_thread(void *priv)
{
    tracer *t = priv;
    for (;;) {
        const bool is_last = __atomic_load_n(&t->stop, __ATOMIC_ACQUIRE);
        uint64_t lost = 0;
        const size_t n = nino_mon_reader_read(t->reader, t->ev, 1024, &lost);
        if (lost) {
            nino_event ev = { .kind = NINO_EV_LOST };
            ev.u.lost = lost;
            nino_trace_add(t->trace, &ev, 1, job_name_of, t->monitor);
        }
        nino_trace_add(t->trace, t->ev, n, job_name_of, t->monitor);
        if (!n && is_last)
            return NULL;
        if (!n)
            nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
    }
}

static nino_status tracer_start(nino_job *job, tracer **out, nino_error *err)
{
    const char *path = job->settings->o.trace_path;
    if (!path)
        return NINO_OK;
    tracer *t = calloc(1, sizeof(*t));
    nino_status st = NINO_OK;
    if (!t)
        return nino_fail(err, NINO_ERR_NOMEM, path, "out of memory");
    t->monitor = nino_ctx_monitor(job->ctx);
    t->trace = nino_trace_create(path, err);
    if (!t->trace)
        st = NINO_ERR_IO;
    else if (!(t->reader = nino_mon_reader_create(t->monitor)) ||
             nino_thread_start(&t->thread, "nino-trace", trace_thread, t))
        st = nino_fail(err, NINO_ERR_NOMEM, path, "cannot start the writer of the trace");
    if (st) {
        nino_mon_reader_destroy(&t->reader);
        nino_trace_abort(&t->trace);
        free(t);
        return st;
    }
    *out = t;
    return NINO_OK;
}

static nino_status tracer_stop(tracer *t, nino_error *err)
{
    if (!t)
        return NINO_OK;
    __atomic_store_n(&t->stop, 1, __ATOMIC_RELEASE);
    pthread_join(t->thread, NULL);
    nino_mon_reader_destroy(&t->reader);
    const nino_status st = nino_trace_finish(&t->trace, err);
    free(t);
    return st;
}

// ---- the thread ------------------------------------------------------------------------------

// Something is there for who waits. The lock is held.
static void job_wake(nino_job *job)
{
    pthread_cond_broadcast(&job->changed);
    if (job->bell >= 0)
        nino_bell_ring(job->bell);
}

// Ids live as long as the job's graph.
static const char *job_id_of(const nino_job *job, const char *node)
{
    const int i = nino_graph_find(job->g, node);
    return i < 0 ? "" : job->g->nodes[i].id;
}

static void add_output(void *priv, const char *node, const char *path)
{
    nino_job *job = priv;
    pthread_mutex_lock(&job->lock);
    nino_job_output *o = realloc(job->outputs, (job->n_outputs + 1) * sizeof(*o));
    if (o)
        job->outputs = o;
    if (o && nino_shown_add_path(&job->shown, path))
        o[job->n_outputs++] =
            (nino_job_output){ job_id_of(job, node), job->shown.path[job->shown.n_paths - 1] };
    else
        job->is_untold = true;
    job_wake(job);
    pthread_mutex_unlock(&job->lock);
}

static void job_add_text(void *priv, const char *node, const char *title, const char *text)
{
    nino_job *job = priv;
    pthread_mutex_lock(&job->lock);
    nino_job_text *t = realloc(job->texts, (job->n_texts + 1) * sizeof(*t));
    if (t)
        job->texts = t;
    if (t && nino_shown_add_text(&job->shown, title, text)) {
        const struct nino_shown_text *copy = &job->shown.text[job->shown.n_texts - 1];
        t[job->n_texts++] = (nino_job_text){ job_id_of(job, node), copy->title, copy->text };
    } else {
        job->is_untold = true;
    }
    job_wake(job);
    pthread_mutex_unlock(&job->lock);
}

static void keep_result(void *priv, const char *node, nino_value *v)
{
    nino_job *job = priv;
    pthread_mutex_lock(&job->lock);
    kept_result *k = realloc(job->kept, (job->n_kept + 1) * sizeof(*k));
    if (k) {
        job->kept = k;
        k[job->n_kept++] = (kept_result){ job_id_of(job, node), nino_value_ref(v) };
    } else {
        job->is_untold = true;
    }
    pthread_mutex_unlock(&job->lock);
}

// All of it, or what falls to this job where several do it.
static nino_status run_part(nino_job *job, nino_exec *x, nino_error *err)
{
    const nino_job_options *o = &job->settings->o;
    nino_status st = NINO_OK;
    char *path = NULL;
    if (o->parts_dir && !o->n_shards)
        st = nino_parts_give(o->parts_dir, job->g, x->prompt_json, nino_ctx_log(job->ctx), err);
    if (st || !o->n_shards || !o->parts_dir)
        return st ? st : nino_exec_run(x, err);
    x->shard = o->shard;
    x->n_shards = o->n_shards;
    if (!(x->parts = nino_parts_create()))
        return nino_fail(err, NINO_ERR_NOMEM, job->g->name, "out of memory");
    if (!(st = nino_exec_run(x, err)) &&
        !(st = nino_parts_save(x->parts, o, x->prompt_json, job->ctx, &path, err)))
        nino_exec_show_path(x, "", path);
    nino_parts_destroy(&x->parts);
    free(path);
    return st;
}

static nino_status run_graph(nino_job *job, nino_error *err)
{
    nino_exec x = { .ctx = job->ctx,
                    .g = job->g,
                    .precision = job->precision,
                    .cancel = &job->cancel,
                    .output = add_output,
                    .text = job_add_text,
                    .keep = job->settings->o.keep_results ? keep_result : NULL,
                    .no_files = job->settings->o.no_files,
                    .is_anew = job->settings->o.is_anew,
                    .switched = nino_options_switched(&job->settings->o),
                    .priv = job };
    const nino_stream_params sp = { .backend = nino_ctx_backend(job->ctx),
                                    .monitor = nino_ctx_monitor(job->ctx),
                                    .cancel = &job->cancel,
                                    .precision = job->precision,
                                    .gate = nino_ctx_gate(job->ctx),
                                    .lend = nino_ctx_lend(job->ctx),
                                    .progress = nino_exec_progress,
                                    .progress_priv = &x };
    if (!(x.prompt_json = nino_graph_prompt_ascii(job->g)) ||
        !nino_graph_workflow_ascii(job->g, &x.workflow_json)) {
        free(x.prompt_json);
        return nino_fail(err, NINO_ERR_NOMEM, job->g->name, "out of memory");
    }
    nino_backend_set_switched(sp.backend, x.switched);
    const char *folder = job->settings->o.models ? job->settings->o.models[0] : NULL;
    const uint64_t load_bytes = sp.backend->load_bytes;
    const uint64_t load_ns = sp.backend->load_ns - sp.backend->pause_ns;
    nino_ctx_renew_load_rate(job->ctx, folder);
    nino_ctx_renew_paces(job->ctx);
    nino_pool_reset_peak(sp.backend->pool);
    nino_ctx_renew_ceilings(job->ctx);
    nino_status st = NINO_ERR_NOMEM;
    nino_profile_log profile;
    nino_profile_log_init(&profile, sp.backend, nino_precision_name(job->precision));
    profile.is_off = job->settings->o.no_profile;
    x.profile = &profile;
    x.stream = nino_stream_create(&sp, err);
    if (x.stream)
        st = run_part(job, &x, err);
    nino_stream_destroy(&x.stream);
    nino_backend_set_switched(sp.backend, 0);
    nino_ctx_keep_ceilings(job->ctx);
    nino_ctx_keep_paces(job->ctx);
    nino_ctx_keep_load_rate(job->ctx, folder, sp.backend->load_bytes - load_bytes,
                            sp.backend->load_ns - sp.backend->pause_ns - load_ns);
    nino_profile_log_release(&profile);
    free(x.prompt_json);
    free(x.workflow_json);
    return st;
}

static void job_finish(nino_job *job, nino_status st, const nino_error *e)
{
    pthread_mutex_lock(&job->lock);
    job->status = st;
    job->err = *e;
    job->is_over = true;
    job_wake(job);
    pthread_mutex_unlock(&job->lock);
}

static void *job_thread(void *priv)
{
    nino_job *job = priv;
    nino_ctx *ctx = job->ctx;
    nino_monitor *m = nino_ctx_monitor(ctx);
    nino_error e = { 0 };
    tracer *t = NULL;
    if (!nino_ctx_enter(ctx, &job->cancel, job->settings)) {
        job_finish(job, nino_fail(&e, NINO_ERR_CANCELLED, "", "cancelled before it began"), &e);
        nino_ctx_add_job(ctx, -1);
        return NULL;
    }
    nino_status st = tracer_start(job, &t, &e);
    pthread_mutex_lock(&job->lock);
    if (!job->settings->o.is_silent)
        job->reader = nino_mon_reader_create(m); // without one the job runs unseen
    pthread_mutex_unlock(&job->lock);
    const uint32_t scope =
        nino_monitor_begin(m, NINO_EV_JOB, nino_graph_name(job->g), 0, (uint32_t) job->g->n_order);
    pthread_mutex_lock(&job->lock);
    job->scope = scope;
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->lock);
    nino_ctx_tell_job(ctx, job->g, scope);
    if (st == NINO_OK)
        st = run_graph(job, &e);
    if (st == NINO_OK && job->is_untold) // only this thread has set it
        st = nino_fail(&e, NINO_ERR_NOMEM, job->g->name,
                       "done, but there is no memory to tell all of its results");
    if (st && st != NINO_ERR_CANCELLED)
        nino_monitor_message(m, NINO_LOG_ERROR, "%s: %s", e.where, e.msg);
    nino_monitor_end_with(m, scope, st);
    nino_error trace_error = { 0 };
    const nino_status trace_st = tracer_stop(t, &trace_error);
    if (st == NINO_OK && trace_st) {
        st = trace_st;
        e = trace_error;
    }
    nino_ctx_leave(ctx);
    job_finish(job, st, &e);
    nino_ctx_add_job(ctx, -1);
    return NULL;
}

// ---- starting --------------------------------------------------------------------------------

void nino_first_issue(void *error, const nino_issue *i)
{
    nino_error *e = error;
    static const struct {
        const char *code;
        nino_status status;
    } table[] = { { "unknown_class", NINO_ERR_UNSUPPORTED },
                  { "unsupported_class", NINO_ERR_UNSUPPORTED },
                  { "unsupported_model", NINO_ERR_UNSUPPORTED },
                  { "paid_service", NINO_ERR_UNSUPPORTED },
                  { "missing_file", NINO_ERR_MISSING },
                  { "range", NINO_ERR_RANGE },
                  { "io", NINO_ERR_IO },
                  { "nomem", NINO_ERR_NOMEM } };
    if (i->severity != NINO_ISSUE_ERROR || e->code)
        return;
    nino_status st = NINO_ERR_FORMAT;
    const char *kind = NULL;
    for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++)
        if (!strcmp(i->code, table[k].code))
            st = table[k].status;
    kind = i->code; // a literal of graph_check.c
    char where[160];
    snprintf(where, sizeof(where), "%s%.60s%s%.80s", i->node[0] ? "node " : "", i->node,
             i->input[0] ? "." : "", i->input);
    nino_fail_kind(e, st, kind, where, "%s", i->message);
}

static nino_status job_prepare(nino_job *job, nino_ctx *ctx, nino_graph *g,
                               const nino_job_options *o, nino_error *err)
{
    nino_error e = { 0 };
    nino_job_options own = *o;
    if (!own.trace_path && !nino_ctx_settings(ctx)->o.trace_path)
        own.trace_path = nino_vars_get()->trace;
    nino_ctx_ref(ctx);
    job->ctx = ctx;
    if (!(job->settings = nino_ctx_settings_with(ctx, &own, err)))
        return NINO_ERR_NOMEM;
    job->precision = nino_precision_of(job->settings->o.precision);
    const nino_gnode *undrawn = job->settings->o.parts_dir ? nino_graph_undrawn(g) : NULL;
    if (undrawn)
        return nino_fail_kind(err, NINO_ERR_ARG, "seed", undrawn->id,
                              "each part would draw another seed: it needs a number (--seed N)");
    if (!(job->g = nino_graph_copy(g, &e)) ||
        nino_graph_draw_seeds(job->g, nino_services_of(ctx)->log(ctx), &e) ||
        nino_ctx_check_graph(ctx, job->settings, job->g, nino_first_issue, &e)) {
        if (err)
            *err = e;
        return e.code;
    }
    const nino_job_options *s = &job->settings->o;
    if (s->n_shards && (s->shard < 1 || s->shard > s->n_shards))
        return nino_fail(err, NINO_ERR_ARG, "shard", "there is no part %d of %d", s->shard,
                         s->n_shards);
    const char *trace = s->trace_path;
    return trace ? nino_place_check(trace, err) : NINO_OK;
}

static void job_release(nino_job *job)
{
    nino_mon_reader_destroy(&job->reader);
    if (job->bell >= 0)
        nino_monitor_bell_destroy(nino_ctx_monitor(job->ctx), &job->bell);
    for (size_t i = 0; i < job->n_kept; i++)
        nino_value_unref(&job->kept[i].v);
    nino_graph_destroy(&job->g);
    nino_shown_release(&job->shown);
    free(job->kept);
    free(job->outputs);
    free(job->texts);
    nino_settings_destroy(&job->settings);
    nino_ctx_unref(job->ctx);
    pthread_cond_destroy(&job->changed);
    pthread_mutex_destroy(&job->lock);
    free(job);
}

nino_job *nino_job_start(nino_ctx *ctx, nino_graph *g, const nino_job_options *options,
                         nino_error *err)
{
    nino_job_options o;
    if (!NINO_TAKE(&o, options, NINO_JOB_OPTIONS_INIT, err))
        return NULL;
    nino_job *job = calloc(1, sizeof(*job));
    if (!job) {
        nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
        return NULL;
    }
    pthread_mutex_init(&job->lock, NULL);
    pthread_cond_init(&job->changed, NULL);
    job->bell = -1;
    if (job_prepare(job, ctx, g, &o, err)) {
        job_release(job);
        return NULL;
    }
    nino_ctx_add_job(ctx, 1);
    if (nino_thread_start(&job->thread, "nino-job", job_thread, job)) {
        nino_fail(err, NINO_ERR_NOMEM, "", "cannot start a thread");
        nino_ctx_add_job(ctx, -1);
        job_release(job);
        return NULL;
    }
    return job;
}

void nino_job_cancel(nino_job *job) { __atomic_store_n(&job->cancel, 1, __ATOMIC_RELAXED); }

void nino_job_destroy(nino_job **pjob)
{
    nino_job *job = pjob ? *pjob : NULL;
    if (!job)
        return;
    *pjob = NULL;
    nino_job_cancel(job);
    pthread_join(job->thread, NULL);
    job_release(job);
}

// ---- events ----------------------------------------------------------------------------------

// Reads into out; the lock is held. What comes after the job's end belongs to somebody else.
static size_t job_take(nino_job *job, nino_event *out, size_t max)
{
    size_t n = 0;
    if (job->is_drained || !job->reader || max < 2)
        return 0;
    uint64_t lost = 0;
    const bool was_over = job->is_over;
    n = nino_mon_reader_read(job->reader, out, max - 1, &lost);
    for (size_t i = 0; i < n; i++)
        if (out[i].kind == NINO_EV_END && out[i].id == job->scope && job->scope) {
            job->is_drained = true;
            n = i + 1;
        }
    if (!n && was_over)
        job->is_drained = true;
    if (lost) {
        out[n] = (nino_event){ .kind = NINO_EV_LOST };
        out[n++].u.lost = lost;
    }
    if (job->is_drained)
        nino_mon_reader_destroy(&job->reader);
    return n;
}

// The next events into job->staged; the lock is held. False: there are none.
static bool job_stage(nino_job *job)
{
    if (job->staged_at == job->n_staged) {
        job->staged_at = 0;
        job->n_staged = job_take(job, job->staged, STAGED);
    }
    return job->staged_at < job->n_staged;
}

size_t nino_job_poll(nino_job *job, nino_event *out, size_t max)
{
    size_t n = 0;
    pthread_mutex_lock(&job->lock);
    job->is_told = job->is_unheard = false;
    while (n < max && job_stage(job))
        out[n++] = job->staged[job->staged_at++];
    if (!n && job->bell >= 0 && !job->is_over) {
        nino_monitor_bell_arm(nino_ctx_monitor(job->ctx), job->bell);
        if (job_stage(job)) // came since
            nino_bell_ring(job->bell);
    }
    pthread_mutex_unlock(&job->lock);
    return n;
}

int nino_job_fd(nino_job *job)
{
    pthread_mutex_lock(&job->lock);
    if (job->bell < 0 && (job->bell = nino_monitor_bell_create(nino_ctx_monitor(job->ctx))) >= 0)
        nino_bell_ring(job->bell); // the first look arms it
    const int fd = job->bell;
    pthread_mutex_unlock(&job->lock);
    return fd;
}

bool nino_job_done(nino_job *job, nino_status *status, nino_error *err)
{
    pthread_mutex_lock(&job->lock);
    const bool is_heard =
        job->is_unheard || (job->staged_at == job->n_staged && (job->is_drained || !job->reader));
    const bool is_done = job->is_over && is_heard;
    if (is_done && status)
        *status = job->status;
    if (is_done && err)
        *err = job->err;
    pthread_mutex_unlock(&job->lock);
    return is_done;
}

// Without a look at events: it is over, has written a file, or the time has passed.
static void wait_silent(nino_job *job, int ms)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1000000l;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    if (!job->is_over)
        pthread_cond_timedwait(&job->changed, &job->lock, &t);
}

void nino_job_wait(nino_job *job, int ms)
{
    pthread_mutex_lock(&job->lock);
    job->is_unheard = job->is_told; // else who only waits would spin, and never see the end
    if (job->settings->o.is_silent || job->is_unheard) {
        wait_silent(job, ms);
        pthread_mutex_unlock(&job->lock);
        return;
    }
    for (int left = ms;; left -= 10) {
        job->is_told = job_stage(job);
        if (job->is_told || job->is_over || left <= 0)
            break;
        struct timespec t; // rings have no bell: look every 10 ms
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec += 10000000;
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&job->changed, &job->lock, &t);
    }
    pthread_mutex_unlock(&job->lock);
}

uint32_t nino_job_scope(nino_job *job)
{
    pthread_mutex_lock(&job->lock);
    const uint32_t scope = job->scope;
    pthread_mutex_unlock(&job->lock);
    return scope;
}

const char *nino_job_name(void *job, uint32_t id)
{
    return nino_monitor_name_text(nino_ctx_monitor(((nino_job *) job)->ctx), id);
}

// ---- results ---------------------------------------------------------------------------------

size_t nino_job_outputs(const nino_job *job, nino_job_output *out, size_t max)
{
    pthread_mutex_t *lock = (pthread_mutex_t *) &job->lock;
    pthread_mutex_lock(lock);
    const size_t n = job->n_outputs;
    for (size_t i = 0; i < n && i < max; i++)
        out[i] = job->outputs[i];
    pthread_mutex_unlock(lock);
    return n;
}

size_t nino_job_texts(const nino_job *job, nino_job_text *out, size_t max)
{
    pthread_mutex_t *lock = (pthread_mutex_t *) &job->lock;
    pthread_mutex_lock(lock);
    const size_t n = job->n_texts;
    for (size_t i = 0; i < n && i < max; i++)
        out[i] = job->texts[i];
    pthread_mutex_unlock(lock);
    return n;
}

// The i-th value of that type that the node was given, or NULL.
static const nino_value *job_find_kept(const nino_job *job, const char *node, nino_port_type type,
                                       size_t i)
{
    const nino_value *v = NULL;
    pthread_mutex_t *lock = (pthread_mutex_t *) &job->lock;
    pthread_mutex_lock(lock);
    for (size_t k = 0; k < job->n_kept && !v; k++)
        if (job->kept[k].v->type == type && !strcmp(job->kept[k].node, node) && !i--)
            v = job->kept[k].v;
    pthread_mutex_unlock(lock);
    return v;
}

static nino_status kept_raster(const nino_job *job, const char *node, nino_port_type type, size_t i,
                               nino_raster *out, nino_error *err)
{
    nino_raster r;
    if (!NINO_TAKE(&r, out, NINO_RASTER_INIT, err))
        return NINO_ERR_ARG;
    const nino_value *v = job_find_kept(job, node, type, i);
    if (!v)
        return nino_fail(err, NINO_ERR_MISSING, node, "the job has kept no %s of this node",
                         nino_port_type_name(type));
    nino_raster_of(type == NINO_PORT_IMAGE ? v->u.image : v->u.latent.samples, &r);
    const size_t size = out->size;
    memcpy(out, &r, size < sizeof(r) ? size : sizeof(r));
    out->size = size;
    return NINO_OK;
}

nino_status nino_job_image(const nino_job *job, const char *node, size_t i, nino_raster *out,
                           nino_error *err)
{
    return kept_raster(job, node, NINO_PORT_IMAGE, i, out, err);
}

nino_status nino_job_latent(const nino_job *job, const char *node, size_t i, nino_raster *out,
                            nino_error *err)
{
    return kept_raster(job, node, NINO_PORT_LATENT, i, out, err);
}

void nino_job_memory(const nino_job *job, nino_mem_stat *out)
{
    const nino_backend *be = nino_ctx_backend(job->ctx);
    *out = (nino_mem_stat){ 0 };
    if (be)
        nino_pool_stat(be->pool, out);
}
