// Which nodes run: content keys of their results, what is in the cache, and who needs what.
#include "core/run/execute_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/param.h"

// ---- keys ------------------------------------------------------------------------------------

static void execute_decide_hash_text(nino_hasher *h, const char *s)
{
    const uint64_t len = s ? strlen(s) : UINT64_MAX;
    nino_hasher_add(h, &len, sizeof(len));
    if (s)
        nino_hasher_add(h, s, len);
}

static void hash_link(const run_state *rs, nino_hasher *h, nino_link l)
{
    const int32_t slot = l.node < 0 ? -1 : l.slot;
    nino_hasher_add(h, &slot, sizeof(slot));
    if (l.node >= 0)
        nino_hasher_add(h, &rs->node[l.node].key, sizeof(nino_hash));
}

// Everything that decides what the node's result is: class, parameters that have an effect, files,
// and the keys of its sources.
static nino_status execute_decide_make_key(run_state *rs, int i, nino_error *err)
{
    const nino_gnode *n = &rs->x->g->nodes[i];
    nino_hasher *h = nino_hasher_create();
    if (!h)
        return nino_fail(err, NINO_ERR_NOMEM, n->id, "out of memory");
    nino_status st = NINO_OK;
    const int32_t precision = rs->x->precision;
    nino_hasher_add(h, &precision, sizeof(precision));
    execute_decide_hash_text(h, n->def->key);
    if (n->def->is_output) // what it wrote is in a folder
        execute_decide_hash_text(h, nino_ctx_output_dir(rs->x->ctx));
    if (n->given[0]) { // that alone decides
        nino_hasher_add(h, &n->given_key, sizeof(n->given_key));
        rs->node[i].key = nino_hasher_finish(&h);
        return NINO_OK;
    }
    const nino_param *p = n->def->params;
    for (int k = 0; p && p[k].key; k++) {
        const nino_default v = nino_param_load(&p[k], n->params);
        const bool is_text = p[k].type == NINO_STRING || p[k].type == NINO_FILE;
        if (p[k].is_inert)
            continue;
        hash_link(rs, h, n->param_links[k]);
        if (is_text)
            execute_decide_hash_text(h, v.s);
        else
            nino_hasher_add(h, &v, sizeof(v));
    }
    for (int k = 0; n->def->inputs && n->def->inputs[k].key; k++)
        hash_link(rs, h, n->ports[k]);
    if (n->def->ops->identity)
        st = n->def->ops->identity(rs->x->ctx, n->params, h, err);
    rs->node[i].key = nino_hasher_finish(&h);
    return st;
}

// ---- what has to run -------------------------------------------------------------------------

// A parameter that a link gives: what it will be, where a constant says so.
static bool link_is_constant(const run_state *rs, const nino_gnode *n, int k, nino_default *v)
{
    const nino_param *p = &n->def->params[k];
    const nino_gnode *from = &rs->x->g->nodes[n->param_links[k].node];
    if (!from->def->ops->is_constant || from->def->params[0].type != p->type ||
        from->param_links[0].node >= 0)
        return false;
    *v = nino_param_load(&from->def->params[0], from->params);
    return true;
}

bool nino_exec_takes(const run_state *rs, int i, int port)
{
    const nino_gnode *n = &rs->x->g->nodes[i];
    nino_default v;
    if (!n->def->ops->takes)
        return true;
    for (int k = 0; n->def->params[k].key; k++) {
        if (n->param_links[k].node < 0)
            continue;
        if (!link_is_constant(rs, n, k, &v))
            return true;
        nino_param_store(&n->def->params[k], n->params, &v);
    }
    return n->def->ops->takes(n->params, port);
}

void nino_exec_each_source(run_state *rs, int i, link_fn fn)
{
    const nino_gnode *n = &rs->x->g->nodes[i];
    for (int k = 0; n->def->inputs && n->def->inputs[k].key; k++)
        if (n->ports[k].node >= 0 && nino_exec_takes(rs, i, k))
            fn(rs, n->ports[k]);
    for (int k = 0; n->def->params && n->def->params[k].key; k++)
        if (n->param_links[k].node >= 0)
            fn(rs, n->param_links[k]);
}

static void count_use(run_state *rs, nino_link l) { rs->node[l.node].pending++; }

void nino_exec_drop_use(run_state *rs, nino_link l)
{
    node_state *s = &rs->node[l.node];
    if (--s->pending)
        return;
    for (int i = 0; i < s->n_out; i++)
        nino_value_unref(&s->out[i]);
}

static bool is_volatile(const run_state *rs, int i)
{
    const nino_gnode *n = &rs->x->g->nodes[i];
    const nino_node_ops *ops = n->def->ops;
    bool yes = rs->x->is_anew || (rs->x->keep && n->def->is_output) || ops->is_volatile ||
               (ops->is_volatile_with && ops->is_volatile_with(n->params));
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
        s->n_out = count_outputs(g->nodes[i].def);
        s->is_volatile = is_volatile(rs, i);
        s->out = calloc((size_t) s->n_out + 1, sizeof(*s->out));
        st = s->out ? execute_decide_make_key(rs, i, err)
                    : nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
        if (st)
            nino_error_in_node(err, &g->nodes[i]);
    }
    for (int k = g->n_order - 1; k >= 0 && st == NINO_OK; k--) {
        const int i = g->order[k];
        node_state *s = &rs->node[i];
        if (!s->pending && !g->nodes[i].def->is_output)
            continue;
        s->what = from_cache(rs, i) ? NODE_CACHED : NODE_RUN;
        if (s->what == NODE_RUN)
            nino_exec_each_source(rs, i, count_use);
    }
    return st;
}
