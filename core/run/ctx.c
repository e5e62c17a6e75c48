// A context: the device, the model folders, the files and models that are open, the result cache,
// and whose turn it is.
#include "core/run/ctx_priv.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/vars.h"
#include "core/event/sensor.h"
#include "core/op/device/device.h"
#include "core/text/embedding.h"

// ---- taking turns ----------------------------------------------------------------------------

bool nino_ctx_enter(nino_ctx *ctx, volatile int *cancel, const nino_settings *settings)
{
    pthread_mutex_lock(&ctx->lock);
    while (ctx->is_taken && !(cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED))) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec += 20000000; // a cancel is only a flag: look again
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&ctx->changed, &ctx->lock, &t);
    }
    const bool is_in = !ctx->is_taken;
    if (is_in) {
        ctx->is_taken = true;
        ctx->cancel = cancel;
        ctx->runner = pthread_self();
        ctx->now = settings;
    }
    pthread_mutex_unlock(&ctx->lock);
    return is_in;
}

void nino_ctx_leave(nino_ctx *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    ctx->is_taken = false;
    ctx->cancel = NULL;
    ctx->now = NULL;
    ctx->running[0] = 0;
    free(ctx->workflow);
    ctx->workflow = NULL;
    pthread_cond_broadcast(&ctx->changed);
    pthread_mutex_unlock(&ctx->lock);
    nino_server_changed(ctx->server);
}

void nino_ctx_add_job(nino_ctx *ctx, int delta)
{
    pthread_mutex_lock(&ctx->lock);
    ctx->n_jobs += delta;
    pthread_cond_broadcast(&ctx->changed);
    pthread_mutex_unlock(&ctx->lock);
}

// ---- settings --------------------------------------------------------------------------------

const nino_settings *nino_ctx_settings(const nino_ctx *ctx)
{
    pthread_mutex_t *lock = (pthread_mutex_t *) &ctx->lock;
    pthread_mutex_lock(lock);
    const bool is_in = ctx->is_taken && ctx->now && pthread_equal(ctx->runner, pthread_self());
    const nino_settings *s = is_in ? ctx->now : ctx->own;
    pthread_mutex_unlock(lock);
    return s;
}

nino_settings *nino_ctx_settings_with(const nino_ctx *ctx, const nino_job_options *o,
                                      nino_error *err)
{
    return nino_settings_create(&ctx->own->o, o, ctx->preview_path, &ctx->log, err);
}

// Checks only ask for files and folders: a context of nothing else shows them those of the job.
size_t nino_ctx_check_graph(const nino_ctx *ctx, const nino_settings *s, nino_graph *g,
                            void (*report)(void *priv, const nino_issue *issue), void *priv)
{
    nino_ctx view = {
        .services = ctx->services,
        .log = ctx->log,
        .translate = ctx->translate,
        .found = ctx->found,
        .own = (nino_settings *) s,
    };
    pthread_mutex_init(&view.lock, NULL);
    const size_t n = nino_graph_check(g, &view, report, priv);
    pthread_mutex_destroy(&view.lock);
    return n;
}

// ---- create and destroy ----------------------------------------------------------------------

// Results of earlier runs may keep an eighth of the machine's memory.
static uint64_t cache_budget(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t) pages * (uint64_t) size / 8 : (uint64_t) 1 << 30;
}

static char *make_temp_dir(void)
{
    const char *tmp = getenv("TMPDIR");
    nino_buf b = { 0 };
    nino_buf_addf(&b, "%s/ninodes-%u", tmp && *tmp == '/' ? tmp : "/tmp", (unsigned) getuid());
    return b.data;
}

// One file a ctx: each preview replaces the one before. NULL, when there is no memory: no previews.
static char *make_preview_path(const char *dir)
{
    static unsigned count;
    nino_buf b = { 0 };
    nino_buf_addf(&b, "%s/preview-%ld-%u.png", dir, (long) getpid(),
                  __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED));
    return b.data;
}

static char *find_steps_dir(const char *state_dir)
{
    char dir[4096];
    nino_buf b = { 0 };
    if (nino_state_dir(state_dir, dir, sizeof(dir)))
        nino_buf_addf(&b, "%s/steps", dir);
    return b.data;
}

// Figures of the device and the like are not written by every run: what a killed one left of them goes now.
static void sweep_cache(const nino_ctx *ctx)
{
    char dir[4096];
    if (nino_cache_dir(ctx->cache_dir, dir, sizeof(dir)))
        nino_file_sweep(dir);
}

static nino_status ctx_open_parts(nino_ctx *ctx, const nino_ctx_params *p, nino_error *err)
{
    ctx->temp_dir = make_temp_dir();
    ctx->monitor = nino_monitor_create();
    ctx->results = nino_results_create(cache_budget());
    if (!ctx->temp_dir || !ctx->monitor || !ctx->results)
        return nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
    ctx->preview_path = make_preview_path(ctx->temp_dir);
    ctx->steps_dir = find_steps_dir(p->state_dir);
    if (!(ctx->own = nino_settings_create(p->job, NULL, ctx->preview_path, &ctx->log, err)))
        return NINO_ERR_NOMEM;
    if (p->cache_dir && !(ctx->cache_dir = strdup(p->cache_dir)))
        return nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
    sweep_cache(ctx);
    if (!(ctx->backend = nino_device_open(p->device, p, &ctx->log, err)))
        return NINO_ERR_DEVICE;
    ctx->capture = nino_capture_start(&ctx->log);
    nino_ctx_start_sampler(ctx);
    nino_error e = { 0 };
    if (p->serve && !(ctx->server = nino_server_start(ctx->monitor, p->title ? p->title : "",
                                                      &ctx->control, ctx->control_priv, &e)))
        nino_logf(&ctx->log, NINO_LOG_WARN, "no viewer can attach: %s: %s", e.where, e.msg);
    return NINO_OK;
}

nino_ctx *nino_ctx_create(const nino_ctx_params *params, nino_error *err)
{
    nino_ctx_params p;
    nino_job_options job;
    if (!NINO_TAKE(&p, params, NINO_CTX_PARAMS_INIT, err) ||
        !NINO_TAKE(&job, p.job, NINO_JOB_OPTIONS_INIT, err))
        return NULL;
    p.job = &job;
    if (nino_settings_problem()) {
        nino_fail_kind(err, NINO_ERR_FORMAT, "settings", "", "%s", nino_settings_problem());
        return NULL;
    }
    return nino_ctx_create_with(&p, NULL, NULL, err);
}

nino_ctx *nino_ctx_open(const nino_ctx_params *p, const struct nino_server_ops *ops, void *priv,
                        nino_error *err)
{
    nino_ctx *ctx = calloc(1, sizeof(*ctx));
    if (!ctx) {
        nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
        return NULL;
    }
    ctx->services = &nino_ctx_services;
    ctx->log = (nino_log){ p->log, p->log_priv, p->log_level };
    ctx->translate = p->translate;
    ctx->steps = p->steps;
    ctx->refs = 1;
    ctx->control = ops ? *ops : nino_ctx_control;
    ctx->control_priv = ops ? priv : ctx;
    nino_gate_init(&ctx->gate);
    pthread_mutex_init(&ctx->lock, NULL);
    pthread_cond_init(&ctx->changed, NULL);
    if (!(ctx->found = nino_found_create()))
        nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
    if (!ctx->found || ctx_open_parts(ctx, p, err))
        nino_ctx_destroy(&ctx);
    return ctx;
}

void nino_ctx_drop_kept(nino_ctx *ctx)
{
    for (int i = 0; i < MAX_OBJECTS; i++)
        nino_value_unref(&ctx->objects[i].v);
    for (int i = 0; i < MAX_FILES; i++)
        nino_weights_unref(&ctx->files[i].w);
    for (int i = 0; i < NINO_TOKENIZER_KINDS; i++)
        nino_tokenizer_unref(&ctx->tokenizers[i]);
    memset(ctx->objects, 0, sizeof(ctx->objects));
    memset(ctx->files, 0, sizeof(ctx->files));
}

static void close_outside(nino_ctx *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    while (ctx->n_jobs || ctx->is_taken)
        pthread_cond_wait(&ctx->changed, &ctx->lock);
    pthread_mutex_unlock(&ctx->lock);
    if (ctx->preview_path)
        unlink(ctx->preview_path);
    nino_server_stop(&ctx->server);
    nino_device_sampler_stop(&ctx->sampler);
    nino_capture_stop(&ctx->capture);
}

static void close_inside(nino_ctx *ctx)
{
    nino_planned_release(&ctx->planned);
    nino_results_destroy(&ctx->results);
    nino_ctx_drop_kept(ctx);
    nino_backend_close(&ctx->backend);
    nino_ctx_unref(ctx);
}

void nino_ctx_destroy(nino_ctx **pctx)
{
    nino_ctx *ctx = pctx ? *pctx : NULL;
    if (!ctx)
        return;
    *pctx = NULL;
    close_outside(ctx);
    nino_crew_close(ctx, false);
    close_inside(ctx);
}

bool nino_ctx_quit(nino_ctx **pctx)
{
    nino_ctx *ctx = pctx ? *pctx : NULL;
    if (!ctx)
        return true;
    *pctx = NULL;
    close_outside(ctx);
    if (!nino_crew_close(ctx, true) || (ctx->backend && !nino_backend_is_idle(ctx->backend)))
        return false;
    close_inside(ctx);
    return true;
}

void nino_ctx_ref(nino_ctx *ctx) { __atomic_add_fetch(&ctx->refs, 1, __ATOMIC_RELAXED); }

void nino_ctx_unref(nino_ctx *ctx)
{
    if (__atomic_sub_fetch(&ctx->refs, 1, __ATOMIC_ACQ_REL))
        return;
    nino_monitor_destroy(&ctx->monitor);
    nino_gate_release(&ctx->gate);
    pthread_cond_destroy(&ctx->changed);
    pthread_mutex_destroy(&ctx->lock);
    nino_settings_destroy(&ctx->own);
    nino_found_destroy(&ctx->found);
    free(ctx->temp_dir);
    free(ctx->cache_dir);
    free(ctx->steps_dir);
    free(ctx->preview_path);
    free(ctx->workflow);
    free(ctx);
}

// ---- reading it ------------------------------------------------------------------------------

const char *nino_ctx_socket(const nino_ctx *ctx)
{
    return ctx->server ? nino_server_path(ctx->server) : "";
}
void nino_ctx_device(const nino_ctx *ctx, nino_device_info *out) { *out = ctx->backend->info; }
const char *nino_ctx_output_dir(const nino_ctx *ctx)
{
    const nino_job_options *o = &nino_ctx_settings(ctx)->o;
    return o->no_files ? NULL : o->output_dir;
}
const char *nino_ctx_temp_dir(const nino_ctx *ctx) { return ctx->temp_dir; }
const nino_preview_settings *nino_ctx_previews(const nino_ctx *ctx)
{
    return &nino_ctx_settings(ctx)->previews;
}
nino_backend *nino_ctx_backend(nino_ctx *ctx) { return ctx->backend; }
nino_monitor *nino_ctx_monitor(nino_ctx *ctx) { return ctx->monitor; }
nino_gate *nino_ctx_gate(nino_ctx *ctx) { return &ctx->gate; }
const nino_lend *nino_ctx_lend(const nino_ctx *ctx) { return &ctx->lend; }
const nino_log *nino_ctx_log(const nino_ctx *ctx) { return &ctx->log; }
nino_results *nino_ctx_results(nino_ctx *ctx) { return ctx->results; }
nino_results *nino_ctx_swap_results(nino_ctx *ctx, nino_results *r)
{
    nino_results *before = ctx->results;
    ctx->results = r;
    return before;
}
nino_capture *nino_ctx_capture(nino_ctx *ctx) { return ctx->capture; }
nino_capture *nino_ctx_swap_capture(nino_ctx *ctx, nino_capture *c)
{
    nino_capture *before = ctx->capture;
    ctx->capture = c;
    return before;
}
