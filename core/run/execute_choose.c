// Before a run: the planner walks it on plan backends and chooses; the run then does that, and tells
// why. The walks also say how much there is to compute, for progress.
#include "core/run/execute_priv.h"
#include "core/run/ctx_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/op/device/device.h"
#include "core/op/plan/plan.h"
#include "core/op/pool.h"
#include "core/tile/needs.h"

#define LONG 2 // seconds: from there on it is said what the run was waiting for

typedef struct chooser {
    const run_state *real;
    nino_programs *programs; // filled in by the next walk, which sets it to NULL
    nino_needs *needs;       // may be NULL
} chooser;

// The state that the run will start from, with values of its own.
static bool copy_nodes(const run_state *from, run_state *to)
{
    const int n = from->x->g->n_nodes;
    bool ok = (to->node = calloc((size_t) n + 1, sizeof(node_state))) != NULL;
    for (int i = 0; ok && i < n; i++) {
        node_state *s = &to->node[i];
        *s = from->node[i];
        s->out = calloc((size_t) s->n_out + 1, sizeof(*s->out));
        if (!s->out)
            ok = (s->n_out = 0);
        for (int k = 0; k < s->n_out; k++)
            s->out[k] = nino_value_ref(from->node[i].out[k]);
    }
    return ok;
}

static nino_status walk_run(void *priv, uint64_t budget, const nino_choice *choice,
                            nino_outcome *out, nino_error *err)
{
    chooser *c = priv;
    nino_exec x = *c->real->x;
    nino_backend *device = nino_ctx_backend(x.ctx);
    nino_error e = { .code = NINO_OK };
    run_state rs = { .x = &x };
    nino_backend *plan = nino_plan_open(&device->profile, budget, NULL, &e);
    if (plan && c->programs)
        nino_plan_set_lister(
            plan, nino_device_program_lister(&device->profile, &device->info, c->programs));
    const nino_stream_params sp = { .backend = plan,
                                    .cancel = x.cancel,
                                    .precision = x.precision,
                                    .lend = nino_ctx_lend(x.ctx),
                                    .needs = c->needs };
    c->programs = NULL;
    x.is_plan = true;
    x.profile = NULL;
    x.choice = choice;
    x.found = out->node;
    x.stream = plan && copy_nodes(c->real, &rs) ? nino_stream_create(&sp, &e) : NULL;
    nino_status st = x.stream ? nino_exec_run_all(&rs, &e) : NINO_ERR_NOMEM;
    if (st && !e.code)
        nino_fail(&e, st, "plan", "out of memory");
    if (st == NINO_OK) {
        nino_mem_stat m;
        nino_pool_stat(plan->pool, &m);
        out->flops = plan->flops;
        out->seconds = nino_plan_backend_seconds(plan);
        out->load_bytes = plan->load_bytes;
        out->peak = m.peak;
        out->peak_weights = m.peak_by_owner[NINO_OWN_WEIGHTS];
        out->peak_rest = 0;
        for (int i = 0; i < NINO_OWN_COUNT; i++)
            out->peak_rest += i == NINO_OWN_WEIGHTS ? 0 : m.peak_by_owner[i];
        out->resident = nino_backend_weights_on_both(device, plan);
    }
    nino_stream_destroy(&x.stream);
    nino_exec_release_nodes(&rs);
    nino_backend_close(&plan);
    out->is_host = st == NINO_ERR_NOMEM && (!e.kind || strcmp(e.kind, NINO_KIND_BUDGET) != 0);
    if (st && err)
        *err = e;
    return st;
}

static void tell_choices(const nino_exec *x, const nino_planned *p)
{
    nino_monitor *m = nino_ctx_monitor(x->ctx);
    char what[240], why[160], line[520];
    nino_planner_why(p, why, sizeof(why));
    for (int k = 0; k < x->g->n_order; k++) {
        const nino_gnode *n = &x->g->nodes[x->g->order[k]];
        nino_event ev = { .kind = NINO_EV_CHOICE };
        if (!nino_planner_what(p, x->g->order[k], what, sizeof(what)))
            continue;
        snprintf(line, sizeof(line), "%.40s %.60s: %s (%s)", n->id, n->class_type, what, why);
        ev.name = nino_monitor_passing(m, line);
        ev.u.choice.seconds = p->cost;
        ev.u.choice.unchosen = p->plain_cost;
        ev.u.choice.unlimited = p->free_cost;
        ev.u.choice.walks = (uint32_t) p->walks;
        nino_monitor_publish(m, &ev);
        nino_logf(nino_ctx_log(x->ctx), NINO_LOG_INFO, "%s", line);
    }
}

// What a plan depends on: the run, the memory, and what is known of the device. False: not known.
static bool planned_for(run_state *rs, uint64_t budget, nino_hash *out)
{
    const nino_exec *x = rs->x;
    const nino_backend *device = nino_ctx_backend(x->ctx);
    const uint64_t how[] = { budget,      x->precision, x->switched,    (uint64_t) x->shard,
                             x->n_shards, x->is_anew,   x->keep != NULL };
    nino_hash shape;
    nino_hasher *h = nino_exec_shape(rs, &shape) ? nino_hasher_create() : NULL;
    if (!h)
        return false;
    nino_hasher_add(h, &shape, sizeof(shape));
    nino_hasher_add(h, how, sizeof(how));
    nino_hasher_add(h, &device->profile, sizeof(device->profile));
    *out = nino_hasher_finish(&h);
    return true;
}

// As the run before, if that was planned for the same: a run with another seed is not planned anew.
static bool choose_again(run_state *rs, const nino_hash *key, nino_planned *out)
{
    const nino_ctx *ctx = rs->x->ctx;
    return ctx->planned.fits && ctx->planned_for.lo == key->lo && ctx->planned_for.hi == key->hi &&
           nino_planned_copy(out, &ctx->planned);
}

static void keep_planned(nino_ctx *ctx, const nino_planned *p, const nino_hash *key)
{
    nino_planned_release(&ctx->planned);
    if (p->fits && nino_planned_copy(&ctx->planned, p))
        ctx->planned_for = *key;
}

nino_status nino_exec_choose(run_state *rs, nino_planned *out, nino_error *err)
{
    nino_exec *x = rs->x;
    nino_backend *device = nino_ctx_backend(x->ctx);
    nino_programs programs = { .n = 0 };
    nino_mem_stat mem;
    nino_pool_stat(device->pool, &mem);
    chooser c = { rs, &programs, NULL };
    const nino_walker w = { .walk = walk_run,
                            .priv = &c,
                            .profile = &device->profile,
                            .n_nodes = x->g->n_nodes,
                            .may_narrow = nino_exec_may_narrow(x, &device->profile) };
    const uint64_t start = nino_now_ns();
    nino_hash key;
    const bool has_key = planned_for(rs, mem.budget, &key);
    if (has_key && choose_again(rs, &key, out)) { // its programs are there
        out->walks = 0;
        x->choice = out->choice;
        x->total_flops = out->best.flops;
        tell_choices(x, out);
        return NINO_OK;
    }
    c.needs = nino_needs_create();
    const nino_status st = nino_planner_choose(&w, mem.budget, out, err);
    nino_needs_destroy(&c.needs);
    if (st ==
        NINO_ERR_NOMEM) { // the host's, or it would say what fits: no plan, and not another one
        nino_programs_release(&programs);
        return st;
    }
    if (st == NINO_OK && has_key)
        keep_planned(x->ctx, out, &key);
    const double seconds = (double) (nino_now_ns() - start) * 1e-9;
    if (seconds > LONG)
        nino_exec_say(x, NINO_LOG_INFO, "planning took %.1f s for %d ways", seconds, out->walks);
    if (st == NINO_OK && out->fits) {
        nino_outcome last = { .node = NULL };
        c.programs = &programs;
        if (nino_planned_changes(out)) { // other tiles may need other programs
            nino_programs_release(&programs);
            walk_run(&c, out->budget, out->choice, &last, NULL);
        }
        x->choice = out->choice;
        x->total_flops = out->best.flops;
        tell_choices(x, out);
    } else if (st == NINO_OK && out->least) {
        nino_exec_say(x, NINO_LOG_WARN,
                      "needs at least %.1f MiB of device memory: node %s; the budget is %.1f MiB",
                      (double) out->least / 0x1p20, out->least_node, (double) mem.budget / 0x1p20);
    }
    if (device->impl->expect)
        device->impl->expect(device, &programs);
    nino_programs_release(&programs);
    return NINO_OK; // what else is wrong is found by the run
}

bool nino_exec_may_narrow(const nino_exec *x, const nino_profile *p)
{
    return x->precision == NINO_PREC_AUTO && p->act_type == NINO_F32 && !p->schedule->is_plain;
}

void nino_exec_name_least(const nino_planned *p, nino_error *err)
{
    const size_t n = strlen(err->msg);
    snprintf(err->msg + n, sizeof(err->msg) - n, "; the run needs at least %.1f MiB: node %s",
             (double) p->least / 0x1p20, p->least_node);
}
