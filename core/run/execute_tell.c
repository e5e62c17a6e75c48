// What a run tells while it goes on: the services that nodes have (files, texts, steps), messages
// and progress.
#include "core/run/execute_priv.h"

#include <math.h>
#include <stdarg.h>

#include "core/base/num.h"
#include "core/base/time.h"

// ---- services for nodes ----------------------------------------------------------------------

void nino_exec_show_path(nino_exec *x, const char *node, const char *path)
{
    nino_monitor *m = nino_ctx_monitor(x->ctx);
    const nino_event ev = { .kind = NINO_EV_OUTPUT, .name = nino_monitor_passing(m, path) };
    nino_monitor_publish(m, &ev);
    if (x->output)
        x->output(x->priv, node, path);
}

void nino_exec_output(nino_run *r, const char *path)
{
    node_run *n = (node_run *) r;
    if (!r->is_plan) {
        nino_shown_add_path(&n->shown, path);
        nino_exec_show_path(n->x, r->node_id, path);
    }
}

void nino_exec_text(nino_run *r, const char *title, const char *text)
{
    node_run *n = (node_run *) r;
    if (r->is_plan)
        return;
    nino_shown_add_text(&n->shown, title, text);
    if (n->x->text)
        n->x->text(n->x->priv, r->node_id, title, text);
}

void nino_exec_step(nino_run *r, uint32_t step, uint32_t total)
{
    nino_exec *x = ((node_run *) r)->x;
    x->step = step;
    x->n_steps = total;
}

void nino_exec_say(nino_exec *x, nino_log_level level, const char *fmt, ...)
{
    char line[400];
    va_list ap;
    va_start(ap, fmt);
    nino_vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    nino_logf(nino_ctx_log(x->ctx), level, "%s", line);
    nino_monitor_message(nino_ctx_monitor(x->ctx), level, "%s", line);
}

// ---- progress --------------------------------------------------------------------------------

// done of total; `spared` of both were there when the run began, which says nothing about its speed.
static void publish_progress(nino_exec *x, double done, double total, double spared)
{
    // Loading weights says nothing about the rest, nor does the first per cent.
    const nino_backend *be = nino_stream_backend(x->stream);
    const uint64_t ns = nino_now_ns() - x->started_ns, load = be->load_ns - x->load_before;
    const double own = fmax(done - spared, 0), all = fmax(total - spared, 0);
    const double left = nino_eta_left(&x->eta, (double) (ns - load) * 1e-9, own, all);
    nino_event ev = { .kind = NINO_EV_PROGRESS };
    ev.u.progress.done = done;
    ev.u.progress.total = total;
    ev.u.progress.eta_s = own > 0.01 * all ? left : (double) NAN;
    ev.u.progress.step = x->step;
    ev.u.progress.n_steps = x->n_steps;
    ev.u.progress.node_index = x->node_index;
    ev.u.progress.n_nodes = x->n_nodes;
    nino_monitor_publish(nino_ctx_monitor(x->ctx), &ev);
}

void nino_exec_progress(void *exec, double flops)
{
    nino_exec *x = exec;
    const double kept = nino_stream_backend(x->stream)->spared;
    const uint64_t now = nino_now_ns();
    if (!(x->total_flops > 0) || (now - x->reported_ns < 50000000 && kept <= x->spared_told))
        return;
    x->reported_ns = now;
    x->spared_told = kept;
    // An estimate may be short (a retry computes more): never say "done" before the end.
    const double spared = kept - x->spared_before, done = flops - x->flops_before + spared;
    publish_progress(x, fmin(done, 0.999 * x->total_flops), x->total_flops, spared);
}

void nino_exec_node_progress(nino_exec *x)
{
    if (!(x->total_flops > 0))
        publish_progress(x, x->node_index, x->n_nodes, 0);
    else if (x->node_index == x->n_nodes)
        publish_progress(x, x->total_flops, x->total_flops, 0);
}
