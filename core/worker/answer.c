// What a worker answers to viewers: the queue, and requests that change it. Runs on the server's
// thread.
#include "core/worker/worker_priv.h"

#include "core/base/error.h"
#include "core/workflow/workflow.h"
#include "core/run/execute.h"
#include "core/run/job_settings.h"
#include "core/monitor/link/queue_view.h"

#include <stdlib.h>
#include <string.h>

static nino_wjob *answer_find(const nino_worker *w, uint64_t id, nino_reply *out)
{
    nino_wjob *j = nino_jobs_find(&w->jobs, id);
    if (!j)
        nino_fail(&out->err, NINO_ERR_UNKNOWN, "job", "there is no job %llu",
                  (unsigned long long) id);
    return j;
}

static nino_wjob *find_waiting(const nino_worker *w, uint64_t id, nino_reply *out)
{
    nino_wjob *j = answer_find(w, id, out);
    if (!j || j->q.state == NINO_QUEUE_WAITING)
        return j;
    nino_fail(&out->err, NINO_ERR_RANGE, "job", "job %llu is %s, not waiting",
              (unsigned long long) id, nino_queue_state_name(j->q.state));
    return NULL;
}

// A job that is in no list yet joins the waiting. Its workflow is on disk before the queue names
// it.
static void enqueue(nino_worker *w, nino_wjob *j, int position, nino_reply *out)
{
    j->q.id = w->jobs.next_id;
    if (nino_store_save_workflow(w->store, j, &out->err)) {
        nino_wjob_destroy(&j);
        return;
    }
    w->jobs.next_id++;
    nino_jobs_insert(&w->jobs, j, position);
    nino_worker_save(w);
    out->job = j->q.id;
}

static void answer_queue(nino_worker *w, const nino_control *c, nino_reply *out)
{
    if (!c->workflow) {
        nino_fail(&out->err, NINO_ERR_FORMAT, "workflow", "is missing");
        return;
    }
    nino_graph *g =
        nino_graph_load(c->workflow, c->workflow_bytes, c->name ? c->name : "workflow", &out->err);
    if (!g || nino_graph_check(g, NULL, nino_first_issue, &out->err)) {
        nino_graph_destroy(&g);
        return;
    }
    const nino_queue_job q = { .state = NINO_QUEUE_WAITING,
                               .name = c->name ? c->name : "workflow",
                               .n_nodes = (uint32_t) nino_graph_nodes(g, NULL, 0),
                               .queued_s = nino_worker_now(),
                               .options = c->options };
    nino_graph_destroy(&g);
    nino_wjob *j = nino_wjob_create(&q, c->workflow, c->workflow_bytes);
    if (j)
        enqueue(w, j, c->position, out);
    else
        nino_fail(&out->err, NINO_ERR_NOMEM, q.name, "out of memory");
}

static void retry(nino_worker *w, const nino_control *c, nino_reply *out)
{
    const nino_wjob *old = answer_find(w, c->job, out);
    if (!old)
        return;
    if (old->q.state == NINO_QUEUE_WAITING || old->q.state == NINO_QUEUE_RUNNING ||
        !old->workflow_bytes) {
        nino_fail(&out->err, NINO_ERR_RANGE, "job", "job %llu has not ended, or is not kept",
                  (unsigned long long) c->job);
        return;
    }
    const nino_queue_job q = { .state = NINO_QUEUE_WAITING,
                               .name = old->q.name,
                               .n_nodes = old->q.n_nodes,
                               .queued_s = nino_worker_now(),
                               .options = old->q.options };
    nino_wjob *j = nino_wjob_create(&q, old->workflow, old->workflow_bytes);
    if (j)
        enqueue(w, j, c->position, out);
    else
        nino_fail(&out->err, NINO_ERR_NOMEM, q.name, "out of memory");
}

static void move(nino_worker *w, const nino_control *c, nino_reply *out)
{
    nino_wjob *j = find_waiting(w, c->job, out);
    if (!j)
        return;
    nino_jobs_unlink(&w->jobs, j);
    nino_jobs_insert(&w->jobs, j, c->position);
    nino_worker_save(w);
}

// Out of every list; the workflow goes after the queue that does not name it any more is stored.
static void answer_drop(nino_worker *w, nino_wjob *j)
{
    nino_jobs_unlink(&w->jobs, j);
    nino_worker_save(w);
    nino_store_drop_workflow(w->store, j->q.id);
    nino_wjob_destroy(&j);
}

static void remove_job(nino_worker *w, const nino_control *c, nino_reply *out)
{
    if (!c->job) {
        while (w->jobs.finished)
            answer_drop(w, w->jobs.finished);
        return;
    }
    nino_wjob *j = answer_find(w, c->job, out);
    if (j && j == w->jobs.running)
        nino_fail(&out->err, NINO_ERR_RANGE, "job", "job %llu is running: cancel it first",
                  (unsigned long long) c->job);
    else if (j)
        answer_drop(w, j);
}

static void cancel(nino_worker *w, const nino_control *c, nino_reply *out)
{
    nino_wjob *j = c->job ? answer_find(w, c->job, out) : w->jobs.running;
    if (!j)
        return; // nothing runs: as asked
    if (j == w->jobs.running) {
        w->is_cancelled = true;
        if (w->job)
            nino_job_cancel(w->job);
    } else if (j->q.state == NINO_QUEUE_WAITING) {
        nino_jobs_unlink(&w->jobs, j);
        j->q.state = NINO_QUEUE_CANCELLED;
        j->q.ended_s = nino_worker_now();
        nino_fail(&j->q.err, NINO_ERR_CANCELLED, "", "cancelled before it began");
        nino_wjob *extra = nino_jobs_finish(&w->jobs, j);
        nino_worker_save(w);
        if (extra)
            nino_store_drop_workflow(w->store, extra->q.id);
        nino_wjob_destroy(&extra);
    }
}

static void answer_set(nino_worker *w, const nino_control *c, nino_reply *out)
{
    size_t len = 0;
    nino_wjob *j = find_waiting(w, c->job, out);
    if (!j)
        return;
    nino_graph *g = nino_graph_load(j->workflow, j->workflow_bytes, j->q.name, &out->err);
    if (g && !nino_graph_set(g, c->assignment ? c->assignment : "", &out->err)) {
        const char *text = nino_graph_json(g, &len);
        char *copy = text && len ? malloc(len + 1) : NULL;
        if (copy) {
            memcpy(copy, text, len);
            copy[len] = 0;
            nino_wjob_set_workflow(j, copy, len);
            nino_store_save_workflow(w->store, j, &out->err);
            nino_worker_changed(w);
        } else {
            nino_fail(&out->err, NINO_ERR_NOMEM, j->q.name, "out of memory");
        }
    }
    nino_graph_destroy(&g);
}

static void pause_queue(nino_worker *w, bool is_paused)
{
    w->is_paused = is_paused;
    w->notice[0] = 0;
    if (w->ctx)
        nino_ctx_pause(w->ctx, is_paused);
    nino_worker_save(w);
}

static void shut_down(nino_worker *w, const nino_control *c)
{
    w->is_ending = true;
    if (!c->after_job) {
        w->is_stopping = true;
        w->is_cancelled = true;
        if (w->job)
            nino_job_cancel(w->job);
    }
    nino_worker_changed(w);
}

static void request_locked(nino_worker *w, const nino_control *c, nino_reply *out)
{
    const nino_wjob *j;
    switch (c->cmd) {
    case NINO_CONTROL_QUEUE: answer_queue(w, c, out); break;
    case NINO_CONTROL_MOVE: move(w, c, out); break;
    case NINO_CONTROL_REMOVE: remove_job(w, c, out); break;
    case NINO_CONTROL_PAUSE: pause_queue(w, true); break;
    case NINO_CONTROL_RESUME: pause_queue(w, false); break;
    case NINO_CONTROL_CANCEL: cancel(w, c, out); break;
    case NINO_CONTROL_SET: answer_set(w, c, out); break;
    case NINO_CONTROL_RETRY: retry(w, c, out); break;
    case NINO_CONTROL_WORKFLOW:
        if ((j = answer_find(w, c->job, out)))
            nino_buf_add(&out->text, j->workflow, j->workflow_bytes);
        break;
    case NINO_CONTROL_SHUTDOWN: shut_down(w, c); break;
    case NINO_CONTROL_PING:
    case NINO_CONTROL_AHEAD:
    case NINO_CONTROL_RELOAD:
    case NINO_CONTROL_TRIM:
    case NINO_CONTROL_COUNT: break;
    }
}

// Without the worker's lock: files are read, and a job that begins waits for the context alone.
static void answer_ahead(nino_ctx *ctx, const nino_control *c, nino_reply *out)
{
    nino_graph *g = c->workflow ? nino_graph_load(c->workflow, c->workflow_bytes,
                                                  c->name ? c->name : "workflow", &out->err)
                                : NULL;
    if (!c->workflow)
        nino_fail(&out->err, NINO_ERR_FORMAT, "workflow", "is missing");
    if (g && ctx)
        nino_run_ahead(ctx, g, c->options, &out->text, &out->err);
    nino_graph_destroy(&g);
}

static void answer_request(void *priv, const nino_control *c, nino_reply *out)
{
    nino_worker *w = priv;
    const bool trim = c->cmd == NINO_CONTROL_TRIM;
    pthread_mutex_lock(&w->lock);
    nino_ctx *ctx = w->ctx;
    request_locked(w, c, out);
    pthread_mutex_unlock(&w->lock);
    if (c->cmd == NINO_CONTROL_AHEAD)
        answer_ahead(ctx, c, out);
    if ((!trim && c->cmd != NINO_CONTROL_RELOAD) || !ctx)
        return;
    if (nino_ctx_give_back(ctx, trim, &out->bytes))
        return;
    pthread_mutex_lock(&w->lock); // the running job keeps what it uses
    w->want_trim |= trim;
    w->want_reload = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static void answer_state(void *priv, nino_buf *out)
{
    nino_worker *w = priv;
    nino_queue q;
    pthread_mutex_lock(&w->lock);
    if (nino_worker_queue(w, &q))
        nino_queue_write(out, &q);
    else
        out->failed = true;
    free((nino_queue_job *) q.jobs);
    pthread_mutex_unlock(&w->lock);
}

const nino_server_ops nino_worker_ops = { answer_request, answer_state };
