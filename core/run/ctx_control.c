// What others ask of a context: pause, cancel, give memory back, other folders; and the answers of
// a run to its viewers.
#include "core/run/ctx_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/monitor/link/queue_view.h"
#include "core/workflow/workflow.h"

void nino_ctx_pause(nino_ctx *ctx, bool is_paused)
{
    nino_gate_set(&ctx->gate, is_paused);
    nino_server_changed(ctx->server);
}

bool nino_ctx_is_paused(nino_ctx *ctx) { return nino_gate_is_closed(&ctx->gate); }
void nino_ctx_changed(nino_ctx *ctx) { nino_server_changed(ctx->server); }
int nino_ctx_viewers(const nino_ctx *ctx)
{
    return ctx->server ? nino_server_viewers(ctx->server) : 0;
}

void nino_ctx_cancel_running(nino_ctx *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    if (ctx->cancel)
        __atomic_store_n(ctx->cancel, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&ctx->lock);
}

// A viewer may ask for the workflow at any time, and the graph is the job's alone: it gets a copy.
void nino_ctx_tell_job(nino_ctx *ctx, nino_graph *g, uint32_t scope)
{
    const char *name = nino_graph_name(g);
    size_t len = 0;
    const char *text = ctx->server ? nino_graph_json(g, &len) : NULL;
    char *copy = text ? malloc(len + 1) : NULL;
    if (copy)
        memcpy(copy, text, len + 1);
    pthread_mutex_lock(&ctx->lock);
    snprintf(ctx->running, sizeof(ctx->running), "%s", *name ? name : "workflow");
    ctx->scope = scope;
    ctx->n_nodes = (uint32_t) g->n_nodes;
    free(ctx->workflow);
    ctx->workflow = copy;
    ctx->workflow_bytes = len;
    pthread_mutex_unlock(&ctx->lock);
    nino_server_changed(ctx->server);
}

bool nino_ctx_give_back(nino_ctx *ctx, bool trim, uint64_t *bytes)
{
    volatile int now = 1; // do not wait
    nino_pool *pool = ctx->backend->pool;
    nino_mem_stat mem;
    *bytes = 0;
    if (!nino_ctx_enter(ctx, &now, NULL)) {
        if (trim)
            nino_gate_ask_trim(&ctx->gate);
        return false;
    }
    if (!trim) // everything anew
        nino_resume_clear(ctx->steps_dir);
    nino_pool_stat(pool, &mem);
    *bytes = nino_ctx_trim(ctx);
    nino_backend_drop_weights(ctx->backend);
    if (trim) {
        nino_gate_take_trim(&ctx->gate);
        *bytes += nino_pool_trim(pool);
    }
    nino_ctx_leave(ctx);
    return true;
}

nino_resume_place nino_ctx_steps(const nino_ctx *ctx)
{
    const nino_device_info *d = &ctx->backend->info;
    char text[512];
    snprintf(text, sizeof(text), "%s\n%s\n%s\n%s", nino_version(), d->platform, d->name, d->driver);
    return (nino_resume_place){ .dir = ctx->steps ? ctx->steps_dir : NULL,
                                .key = nino_hash_bytes(text, strlen(text)),
                                .goes_on = ctx->steps == NINO_STEPS_RESUME };
}

void nino_ctx_set_kept_steps(nino_ctx *ctx, int n)
{
    __atomic_store_n(&ctx->kept_steps, n, __ATOMIC_RELAXED);
}

int nino_ctx_kept_steps(const nino_ctx *ctx)
{
    return __atomic_load_n(&ctx->kept_steps, __ATOMIC_RELAXED);
}

// ---- the answers of a run ----------------------------------------------------------------------

static void tell_workflow(nino_ctx *ctx, nino_reply *out)
{
    pthread_mutex_lock(&ctx->lock);
    if (ctx->workflow)
        nino_buf_add(&out->text, ctx->workflow, ctx->workflow_bytes);
    else
        nino_fail(&out->err, NINO_ERR_UNKNOWN, "job", "nothing runs");
    pthread_mutex_unlock(&ctx->lock);
}

static void ctx_control_request(void *priv, const nino_control *c, nino_reply *out)
{
    nino_ctx *ctx = priv;
    switch (c->cmd) {
    case NINO_CONTROL_PING: return;
    case NINO_CONTROL_PAUSE: nino_ctx_pause(ctx, true); return;
    case NINO_CONTROL_RESUME: nino_ctx_pause(ctx, false); return;
    case NINO_CONTROL_CANCEL:
        if (c->job > 1)
            nino_fail(&out->err, NINO_ERR_UNKNOWN, "job", "a run has one job, and its number is 1");
        else
            nino_ctx_cancel_running(ctx);
        return;
    case NINO_CONTROL_TRIM: nino_ctx_give_back(ctx, true, &out->bytes); return;
    case NINO_CONTROL_WORKFLOW: tell_workflow(ctx, out); return;
    default:
        nino_fail(&out->err, NINO_ERR_UNSUPPORTED, "", "this is a single run: it has no queue");
    }
}

static void ctx_control_state(void *priv, nino_buf *out)
{
    nino_ctx *ctx = priv;
    char name[sizeof(ctx->running)];
    const nino_job_options as_ctx = { NINO_JOB_OPTIONS_INIT };
    nino_queue_job job = { .id = 1, .state = NINO_QUEUE_RUNNING, .name = name, .options = &as_ctx };
    pthread_mutex_lock(&ctx->lock);
    memcpy(name, ctx->running, sizeof(name));
    job.scope = ctx->scope;
    job.n_nodes = ctx->n_nodes;
    pthread_mutex_unlock(&ctx->lock);
    const nino_queue q = { .version = nino_server_version(ctx->server),
                           .is_paused = nino_ctx_is_paused(ctx),
                           .device = ctx->backend->info.name,
                           .n_jobs = name[0] != 0,
                           .jobs = &job };
    nino_queue_write(out, &q);
}

const nino_server_ops nino_ctx_control = { ctx_control_request, ctx_control_state };
