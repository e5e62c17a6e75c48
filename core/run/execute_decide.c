// Which nodes run: content keys of their results, what is in the cache, and who needs what.
#include "core/run/execute_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/buf.h"
#include "core/base/vars.h"
#include "core/node/param.h"
#include "core/run/job_settings.h"

// ---- keys ------------------------------------------------------------------------------------

static void execute_decide_hash_text(nino_hasher *h, const char *s)
{
    const uint64_t len = s ? strlen(s) : UINT64_MAX;
    nino_hasher_add(h, &len, sizeof(len));
    if (s)
        nino_hasher_add(h, s, len);
}

static void hash_link(const run_state *rs, nino_hasher *h, nino_link l, bool is_shape)
{
    const int32_t slot = l.node < 0 ? -1 : l.slot;
    const node_state *s = l.node < 0 ? NULL : &rs->node[l.node];
    nino_hasher_add(h, &slot, sizeof(slot));
    if (s)
        nino_hasher_add(h, is_shape ? &s->shape : &s->key, sizeof(nino_hash));
}

// Whether a seed can only change numbers, never sizes: not of nodes that hand it on.
static bool is_noise_only(const nino_node_def *d)
{
    bool yes = d->outputs && d->outputs[0].key;
    for (int k = 0; yes && d->outputs[k].key; k++)
        yes = d->outputs[k].type == NINO_PORT_LATENT || d->outputs[k].type == NINO_PORT_NOISE;
    return yes;
}

// Values as they stand in the workflow.
static nino_status hash_json(const run_state *rs, nino_hasher *h, const nino_json *v,
                             nino_error *err)
{
    nino_buf b = { 0 };
    nino_json_write(&b, rs->x->g->doc, v);
    if (!b.failed)
        nino_hasher_add(h, b.data, b.len);
    const bool failed = b.failed;
    nino_buf_release(&b);
    return failed ? nino_fail(err, NINO_ERR_NOMEM, "", "out of memory") : NINO_OK;
}

// Everything that decides what the node's result is: class, parameters that have an effect, files,
// and the keys of its sources.
// is_shape: of what a plan of it depends on, which seeds of noise are no part of.
static nino_status execute_decide_make_key(run_state *rs, int i, bool is_shape, nino_error *err)
{
    const nino_gnode *n = &rs->x->g->nodes[i];
    nino_hash *out = is_shape ? &rs->node[i].shape : &rs->node[i].key;
    const bool skips_seeds = is_shape && is_noise_only(n->def);
    nino_hasher *h = nino_hasher_create();
    if (!h)
        return nino_fail(err, NINO_ERR_NOMEM, n->id, "out of memory");
    nino_status st = NINO_OK;
    const bool is_part = nino_share_may_begin(rs, i);
    const int32_t how[] = { rs->x->precision, is_part ? rs->x->shard : 0,
                            is_part ? rs->x->n_shards : 0 };
    nino_hasher_add(h, how, sizeof(how));
    if (rs->x->switched) // some of them change how results are rounded
        nino_hasher_add(h, &rs->x->switched, sizeof(rs->x->switched));
    execute_decide_hash_text(h, nino_vars_get()->attention); // settings that change a result's bits
    execute_decide_hash_text(h, nino_vars_get()->chunk_size);
    execute_decide_hash_text(h, nino_vars_get()->fallback);
    execute_decide_hash_text(h, nino_vars_get()->mixed_from);
    execute_decide_hash_text(h, nino_vars_get()->half_from);
    execute_decide_hash_text(h, n->def->key);
    if (n->def->is_output) // what it wrote is in a folder
        execute_decide_hash_text(h, nino_ctx_output_dir(rs->x->ctx));
    if (n->given[0] && (n->given_key.lo || n->given_key.hi)) { // that alone decides
        nino_hasher_add(h, &n->given_key, sizeof(n->given_key));
        *out = nino_hasher_finish(&h);
        return NINO_OK;
    }
    const nino_param *p = n->def->params;
    for (int k = 0; p && p[k].key; k++) {
        const nino_default v = nino_param_load(&p[k], n->params);
        const bool is_text = p[k].type == NINO_STRING || p[k].type == NINO_FILE;
        if (p[k].is_inert || (skips_seeds && p[k].type == NINO_SEED))
            continue;
        hash_link(rs, h, n->param_links[k], is_shape);
        if (is_text)
            execute_decide_hash_text(h, v.s);
        else
            nino_hasher_add(h, &v, sizeof(v));
    }
    const nino_json *inputs = nino_json_get(n->json, "inputs");
    for (int k = 0; n->def->inputs && n->def->inputs[k].key && !st; k++) {
        hash_link(rs, h, n->ports[k], is_shape);
        if (n->literals[k])
            st = hash_json(rs, h, nino_input_of(n->def, inputs, n->def->inputs[k].key), err);
    }
    if (n->def->ops->takes_extra && inputs && !st)
        st = hash_json(rs, h, inputs, err);
    if (n->def->ops->identity_extra && inputs && !st)
        st = n->def->ops->identity_extra(rs->x->ctx, inputs, h, err);
    if (n->def->ops->identity && !st)
        st = n->def->ops->identity(rs->x->ctx, n->params, h, err);
    *out = nino_hasher_finish(&h);
    return st;
}

// ---- what has to run -------------------------------------------------------------------------

nino_link nino_exec_source(const run_state *rs, int i, int port)
{
    const bool is_taken = !(rs->node[i].untaken >> port & 1);
    return is_taken ? rs->x->g->nodes[i].ports[port] : (nino_link){ -1, 0 };
}

typedef void (*link_fn)(run_state *rs, nino_link l);

// Calls `ports` and `params` for the links of the two kinds.
static void each_source(run_state *rs, int i, link_fn ports, link_fn params)
{
    const nino_gnode *n = &rs->x->g->nodes[i];
    if (n->given[0])
        return;
    for (int k = 0; n->def->inputs && n->def->inputs[k].key; k++)
        if (nino_exec_source(rs, i, k).node >= 0)
            ports(rs, n->ports[k]);
    for (int k = 0; n->def->params && n->def->params[k].key; k++)
        if (n->param_links[k].node >= 0)
            params(rs, n->param_links[k]);
}

static void count_use(run_state *rs, nino_link l) { rs->node[l.node].pending++; }

static void count_need(run_state *rs, nino_link l)
{
    rs->node[l.node].pending++;
    rs->node[l.node].is_needed = true;
}

static void mark_need(run_state *rs, nino_link l) { rs->node[l.node].is_needed = true; }

static void no_use(run_state *rs, nino_link l)
{
    (void) rs;
    (void) l;
}

static void drop_use(run_state *rs, nino_link l)
{
    node_state *s = &rs->node[l.node];
    if (--s->pending)
        return;
    for (int i = 0; i < s->n_out; i++)
        nino_value_unref(&s->out[i]);
}

void nino_exec_drop_uses(run_state *rs, int i) { each_source(rs, i, drop_use, drop_use); }

static bool is_volatile(const run_state *rs, int i)
{
    const nino_gnode *n = &rs->x->g->nodes[i];
    const nino_node_ops *ops = n->def->ops;
    const bool has_cache = !(rs->x->switched & NINO_POLICY_BIT(NINO_POLICY_CACHE));
    bool yes = rs->x->is_anew || !has_cache || (rs->x->keep && n->def->is_output) ||
               ops->is_volatile || (ops->is_volatile_with && ops->is_volatile_with(n->params));
    for (int k = 0; n->def->inputs && n->def->inputs[k].key; k++)
        yes |= n->ports[k].node >= 0 && rs->node[n->ports[k].node].is_volatile;
    for (int k = 0; n->def->params && n->def->params[k].key; k++)
        yes |= n->param_links[k].node >= 0 && rs->node[n->param_links[k].node].is_volatile;
    return yes;
}

static bool from_cache(run_state *rs, int i)
{
    nino_exec *x = rs->x;
    node_state *s = &rs->node[i];
    const nino_gnode *n = &x->g->nodes[i];
    const nino_shown *shown = NULL;
    if (x->is_plan || s->is_volatile)
        return false;
    if (x->is_ahead)
        return nino_results_has(nino_ctx_results(x->ctx), s->key, s->n_out);
    const bool is_hit =
        nino_results_get(nino_ctx_results(x->ctx), s->key, s->out, s->n_out, &shown);
    nino_monitor *m = nino_ctx_monitor(x->ctx);
    nino_event ev = { .kind = NINO_EV_CACHE, .sub = NINO_CACHE_NODE };
    char name[160]; // as of the node's scope
    snprintf(name, sizeof(name), "%.60s %.80s", n->id, n->class_type);
    ev.name = nino_monitor_name(m, name);
    ev.u.scope.arg0 = is_hit;
    nino_monitor_publish(m, &ev);
    for (size_t k = 0; is_hit && k < shown->n_paths; k++)
        nino_exec_show_path(x, n->id, shown->path[k]);
    for (size_t k = 0; is_hit && x->text && k < shown->n_texts; k++)
        x->text(x->priv, n->id, shown->text[k].title, shown->text[k].text);
    return is_hit;
}

static int count_outputs(const nino_node_def *def)
{
    int n = 0;
    while (def->outputs && def->outputs[n].key)
        n++;
    return n;
}

// Keys forwards, then backwards from the outputs: a node runs if its result is not cached and
// something that runs (or it is an output) needs it.
nino_status nino_exec_decide(run_state *rs, nino_error *err)
{
    const nino_graph *g = rs->x->g;
    nino_status st = NINO_OK;
    for (int k = 0; k < g->n_order && st == NINO_OK; k++) {
        const int i = g->order[k];
        node_state *s = &rs->node[i];
        const int n_out = count_outputs(g->nodes[i].def);
        s->is_volatile = is_volatile(rs, i);
        s->out = calloc((size_t) n_out + 1, sizeof(*s->out));
        s->n_out = s->out ? n_out : 0; // released by its count
        st = s->out ? execute_decide_make_key(rs, i, false, err)
                    : nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
        if (st)
            nino_error_in_node(err, &g->nodes[i]);
    }
    for (int k = g->n_order - 1; k >= 0 && st == NINO_OK; k--) {
        const int i = g->order[k];
        node_state *s = &rs->node[i];
        s->is_needed = s->is_needed || g->nodes[i].def->is_output;
        if (!s->pending && !s->is_needed)
            continue;
        s->what = !s->is_needed ? NODE_MAYBE : from_cache(rs, i) ? NODE_CACHED : NODE_RUN;
        if (s->what == NODE_MAYBE)
            each_source(rs, i, count_use, count_use);
        else if (s->what == NODE_RUN)
            each_source(rs, i, g->nodes[i].decides_late ? count_use : count_need, count_need);
    }
    return st;
}

bool nino_exec_shape(run_state *rs, nino_hash *out)
{
    const nino_graph *g = rs->x->g;
    nino_hasher *h = nino_hasher_create();
    nino_status st = h ? NINO_OK : NINO_ERR_NOMEM;
    for (int k = 0; k < g->n_order && !st; k++) {
        node_state *s = &rs->node[g->order[k]];
        const int32_t what = s->what;
        if (s->what == NODE_CACHED)
            s->shape = s->key; // what it is is known
        else
            st = execute_decide_make_key(rs, g->order[k], true, NULL);
        if (st)
            break;
        nino_hasher_add(h, &what, sizeof(what));
        nino_hasher_add(h, &s->shape, sizeof(s->shape));
    }
    *out = nino_hasher_finish(&h);
    return st == NINO_OK;
}

// ---- nodes that decide late ------------------------------------------------------------------

void nino_exec_late_begin(run_state *rs, int i) { rs->node[i].untaken = UINT64_MAX; }

void nino_exec_late_takes(run_state *rs, int i)
{
    const nino_gnode *n = &rs->x->g->nodes[i];
    for (int k = 0; n->def->inputs && n->def->inputs[k].key; k++)
        if (n->def->ops->takes(n->params, k))
            rs->node[i].untaken &= ~(UINT64_C(1) << k);
}

// Backwards from it: what is needed now runs, or comes from the cache; what nobody can need any
// more lets go of what it would have used.
int nino_exec_late_end(run_state *rs, int k)
{
    const nino_graph *g = rs->x->g;
    const int i = g->order[k];
    const nino_gnode *n = &g->nodes[i];
    const uint64_t untaken = rs->node[i].untaken;
    int first = k;
    rs->node[i].is_settled = true;
    for (int p = 0; n->def->inputs && n->def->inputs[p].key; p++)
        if (n->ports[p].node >= 0)
            (untaken >> p & 1 ? drop_use : mark_need)(rs, n->ports[p]);
    for (int at = k - 1; at >= 0; at--) {
        const int j = g->order[at];
        node_state *s = &rs->node[j];
        if (s->what != NODE_MAYBE)
            continue;
        if (s->is_needed)
            s->what = from_cache(rs, j) ? NODE_CACHED : NODE_RUN;
        else if (!s->pending)
            s->what = NODE_SKIP;
        if (s->what == NODE_RUN)
            each_source(rs, j, g->nodes[j].decides_late ? no_use : mark_need, mark_need);
        else if (s->what != NODE_MAYBE)
            nino_exec_drop_uses(rs, j);
        first = s->what == NODE_RUN || s->what == NODE_CACHED ? at : first;
    }
    return first;
}

// ---- asked before a run ------------------------------------------------------------------------

static void ahead_write(const run_state *rs, nino_buf *out)
{
    static const char *const words[] = {
        [NODE_SKIP] = "kept", [NODE_CACHED] = "kept", [NODE_RUN] = "run", [NODE_MAYBE] = "late"
    };
    const nino_graph *g = rs->x->g;
    for (int k = 0; k < g->n_order; k++)
        nino_buf_addf(out, "%s %s\n", words[rs->node[g->order[k]].what], g->nodes[g->order[k]].id);
}

static nino_status ahead_decide(nino_ctx *ctx, nino_graph *g, const nino_settings *s, nino_buf *out,
                                nino_error *err)
{
    nino_exec x = { .ctx = ctx,
                    .g = g,
                    .precision = nino_precision_of(s->o.precision),
                    .no_files = s->o.no_files,
                    .is_anew = s->o.is_anew,
                    .is_ahead = true,
                    .switched = nino_options_switched(&s->o) };
    run_state rs = { .x = &x, .node = calloc((size_t) g->n_nodes + 1, sizeof(node_state)) };
    if (!rs.node)
        return nino_fail(err, NINO_ERR_NOMEM, g->name, "out of memory");
    const nino_status st = nino_exec_decide(&rs, err);
    if (st == NINO_OK)
        ahead_write(&rs, out);
    nino_exec_release_nodes(&rs);
    return st == NINO_OK && out->failed ? nino_fail(err, NINO_ERR_NOMEM, g->name, "out of memory")
                                        : st;
}

nino_status nino_run_ahead(nino_ctx *ctx, nino_graph *graph, const nino_job_options *options,
                           nino_buf *out, nino_error *err)
{
    volatile int now = 1; // do not wait
    nino_error e = { .code = NINO_OK };
    nino_job_options o;
    if (!NINO_TAKE(&o, options, NINO_JOB_OPTIONS_INIT, err))
        return NINO_ERR_ARG;
    nino_settings *s = nino_ctx_settings_with(ctx, &o, err);
    nino_graph *g = s ? nino_graph_copy(graph, err) : NULL;
    nino_status st = NINO_ERR_NOMEM;
    if (g && ((st = nino_graph_draw_seeds(g, nino_services_of(ctx)->log(ctx), &e)) ||
              nino_ctx_check_graph(ctx, s, g, nino_first_issue, &e))) {
        st = e.code;
        if (err)
            *err = e;
    } else if (g && !nino_ctx_enter(ctx, &now, s)) {
        st = nino_fail_kind(err, NINO_ERR_IO, "busy", "", "a job is running");
    } else if (g) {
        st = ahead_decide(ctx, g, s, out, err);
        nino_ctx_leave(ctx);
    }
    nino_graph_destroy(&g);
    nino_settings_destroy(&s);
    return st;
}
