// The executor: runs the nodes that execute_decide.c says, in order, and what happens when one
// fails. Sources come before consumers in nino_graph.order; values are freed with their last use.
#include "core/run/execute_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/num.h"
#include "core/base/time.h"
#include "core/base/vars.h"
#include "core/op/device/device.h"
#include "core/op/plan/plan.h"
#include "core/run/shortage.h"
#include "core/node/param.h"

nino_precision nino_precision_of(nino_precision_opt p)
{
    switch (p) {
    case NINO_PRECISION_F32: return NINO_PREC_F32;
    case NINO_PRECISION_F16: return NINO_PREC_F16;
    case NINO_PRECISION_BF16: return NINO_PREC_BF16;
    case NINO_PRECISION_MIXED: return NINO_PREC_MIXED;
    case NINO_PRECISION_AUTO: break;
    }
    return NINO_PREC_AUTO;
}

const char *nino_precision_name(nino_precision p)
{
    switch (p) {
    case NINO_PREC_F32: return "fp32";
    case NINO_PREC_F16: return "fp16";
    case NINO_PREC_BF16: return "bf16";
    case NINO_PREC_MIXED:
    case NINO_PREC_MIXED_BF16: return "mixed";
    case NINO_PREC_AUTO: break;
    }
    return "auto";
}

// ---- one node --------------------------------------------------------------------------------

// Prefixes "where" with the node, as people know it.
void nino_error_in_node(nino_error *err, const nino_gnode *n)
{
    char inner[sizeof(err->where)];
    if (!err)
        return;
    memcpy(inner, err->where, sizeof(inner));
    snprintf(err->where, sizeof(err->where), "%.40s %.60s%s%.80s", n->id, n->class_type,
             inner[0] ? ": " : "", inner);
}

// What the node asks for, else the run, else what was chosen for it.
static nino_precision precision_of_node(const nino_exec *x, const nino_gnode *n)
{
    const nino_node_ops *ops = n->def->ops;
    const nino_precision own = ops->precision ? ops->precision(n->params) : NINO_PREC_AUTO;
    const nino_precision asked = own == NINO_PREC_AUTO ? x->precision : own;
    if (asked != NINO_PREC_AUTO || !nino_stream_choice(x->stream)->is_narrow)
        return asked;
    nino_stream_taken(x->stream)->is_narrow = true;
    return NINO_PREC_F16;
}

// A checkpoint's part that is recognised but cannot be run passes along links until it is needed.
static nino_status execute_check_usable(const nino_port *p, const nino_value *v, nino_error *err)
{
    const nino_unloaded *u = &v->u.unloaded;
    const bool is_model = p->type == NINO_PORT_MODEL;
    if (!u->file || !(is_model || p->type == NINO_PORT_CLIP) ||
        (is_model ? (void *) v->u.model : (void *) v->u.clip))
        return NINO_OK;
    const char *path = nino_weights_path(u->file), *slash = strrchr(path, '/');
    return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "model", slash ? slash + 1 : path,
                          "its %s (%s) cannot be run%s%s",
                          is_model ? "diffusion model" : "text encoder", u->family,
                          u->why[0] ? ": " : "", u->why);
}

static int count_items(const run_state *rs, nino_link l)
{
    return l.node < 0 ? 0 : nino_value_count(rs->node[l.node].out[l.slot]);
}

static int count_param_turns(const run_state *rs, const nino_gnode *n)
{
    int most = 1;
    for (int k = 0; n->def->params && n->def->params[k].key; k++) {
        const int count = count_items(rs, n->param_links[k]);
        most = count > most ? count : most;
    }
    return most;
}

// How often a node runs: once for every item of the longest list among its inputs.
static int count_turns(const run_state *rs, const nino_gnode *n)
{
    int most = count_param_turns(rs, n);
    for (int k = 0; n->def->inputs && n->def->inputs[k].key; k++) {
        const int count = count_items(rs, nino_exec_source(rs, (int) (n - rs->x->g->nodes), k));
        most = count > most ? count : most;
    }
    return n->def->ops->takes_lists ? 1 : most;
}

// Values of the input ports; an output that its node left empty is an error of the consumer.
static nino_status execute_gather(run_state *rs, const nino_gnode *n, int turn, nino_value **in,
                                  nino_error *err)
{
    const nino_graph *g = rs->x->g;
    for (int k = 0; n->def->inputs && n->def->inputs[k].key; k++) {
        const nino_link l = nino_exec_source(rs, (int) (n - g->nodes), k);
        const nino_port *p = &n->def->inputs[k];
        in[k] = n->literals[k];
        if (l.node < 0)
            continue;
        in[k] = rs->node[l.node].out[l.slot];
        if (!n->def->ops->takes_lists)
            in[k] = nino_value_at(in[k], turn);
        const nino_gnode *from = &g->nodes[l.node];
        // Python's None: who takes anything may get nothing.
        if (!in[k] && p->optional &&
            (p->type == NINO_PORT_ANY || nino_value_is_bundle(from->def->outputs[l.slot].type) ||
             from->def->outputs[l.slot].type == NINO_PORT_ANY))
            continue;
        if (!in[k])
            return nino_fail_kind(err, NINO_ERR_FORMAT, "model", p->key,
                                  "node %.40s (%.60s) has no %s to give", from->id,
                                  from->class_type, nino_port_types(p));
        if (!nino_types_agree(nino_port_type_name(in[k]->type), nino_port_types(p)))
            return nino_fail_kind(err, NINO_ERR_FORMAT, "type_mismatch", p->key,
                                  "%s is needed, node %.40s gave %s", nino_port_types(p), from->id,
                                  nino_port_type_name(in[k]->type));
        const nino_status st =
            p->type == NINO_PORT_ANY ? NINO_OK : execute_check_usable(p, in[k], err);
        if (st)
            return st;
    }
    return NINO_OK;
}

static nino_status value_text(const nino_value *v, char *buf, size_t size, const char **out)
{
    *out = buf;
    switch (v->type) {
    case NINO_PORT_STRING: *out = v->u.string; return NINO_OK;
    case NINO_PORT_INT: snprintf(buf, size, "%lld", (long long) v->u.i); return NINO_OK;
    case NINO_PORT_FLOAT: nino_print_double(buf, size, v->u.f); return NINO_OK;
    case NINO_PORT_BOOLEAN: snprintf(buf, size, "%s", v->u.b ? "true" : "false"); return NINO_OK;
    default: return NINO_ERR_ARG;
    }
}

nino_status nino_exec_link_params(run_state *rs, const nino_gnode *n, int turn, nino_error *err)
{
    for (int k = 0; n->def->params && n->def->params[k].key; k++) {
        const nino_param *p = &n->def->params[k];
        const nino_link l = n->param_links[k];
        if (l.node < 0)
            continue;
        const nino_value *v = nino_value_at(rs->node[l.node].out[l.slot], turn);
        const char *text = NULL;
        char buf[48];
        nino_default d = { 0 };
        if (!v || value_text(v, buf, sizeof(buf), &text))
            return nino_fail(err, NINO_ERR_FORMAT, p->key, "the linked value is not a %s",
                             nino_param_type_name(p));
        // What has no effect is no part of what a result is kept by: it must not decide whether there is one.
        const nino_status st =
            nino_param_from_text(p, text, rs->x->g->checked, &d, p->is_inert ? NULL : err);
        if (st && !p->is_inert)
            return st;
        if (!st)
            nino_param_store(p, n->params, &d);
    }
    return NINO_OK;
}

static void clear_outputs(node_state *s)
{
    for (int k = 0; k < s->n_out; k++)
        nino_value_unref(&s->out[k]);
}

// A node that has no other effect than files, and so none when nobody wants them; what it gives is
// what it was given.
static bool only_writes(const nino_node_def *def)
{
    const nino_port *in = def->inputs, *out = def->outputs;
    const bool hands_on = in && out && out[0].key && !out[1].key && out[0].type == in[0].type;
    return def->is_output && (hands_on || !(out && out[0].key)) && in && in[0].key &&
           (in[0].type == NINO_PORT_IMAGE || in[0].type == NINO_PORT_MASK ||
            in[0].type == NINO_PORT_LATENT || in[0].type == NINO_PORT_VIDEO);
}

// What stands in for running the node, if anything does: values from memory, or nothing at all.
static bool stand_in(const nino_exec *x, const nino_gnode *n, node_state *s, nino_value *first)
{
    if (x->no_files && only_writes(n->def)) {
        if (s->n_out)
            s->out[0] = nino_value_ref(first);
        return true;
    }
    for (int k = 0; n->given[0] && k < s->n_out && k < NINO_MAX_GIVEN; k++)
        s->out[k] = nino_value_ref(n->given[k]);
    return n->given[0] != NULL;
}

// What numbers that were too large for `now` are tried in (precision.fallback); AUTO: nothing.
static nino_precision second_precision(nino_precision now)
{
    const char *word = nino_vars_get()->fallback;
    if (!strcmp(word, "bf16"))
        return now == NINO_PREC_F16     ? NINO_PREC_BF16
               : now == NINO_PREC_MIXED ? NINO_PREC_MIXED_BF16
                                        : NINO_PREC_AUTO;
    return !strcmp(word, "fp32") && now != NINO_PREC_F32 ? NINO_PREC_F32 : NINO_PREC_AUTO;
}

// Makes room for another try: first what earlier runs have kept goes, after which there is what the planner went by; then
// what it chose goes as well. false: there is no more to give.
static bool make_room(nino_exec *x, const nino_gnode *n, int tries, const nino_error *err)
{
    nino_backend *be = nino_ctx_backend(x->ctx);
    if (err->kind && !strcmp(err->kind, "limit"))
        return false;
    if (tries == 0)
        nino_exec_say(x, NINO_LOG_WARN, "%s %s: %s; once more without cached results and weights",
                      n->id, n->class_type, err->msg);
    nino_ctx_trim(x->ctx);
    nino_backend_drop_weights(be);
    nino_pool_trim(be->pool);
    if (tries == 0 && x->choice)
        return true;
    nino_stream_set_choice(x->stream, NULL);
    nino_pool_set_budget(be->pool, x->budget);
    return tries == 0 || (tries == 1 && x->choice);
}

// Runs it, and again where another try can help: NaN in 16-bit storage goes to what precision.fallback says, a full
// device gets everything back.
static nino_status attempt(run_state *rs, const nino_gnode *n, node_state *s, node_run *r,
                           nino_error *err)
{
    nino_exec *x = rs->x;
    if (stand_in(x, n, s, r->in[0]))
        return NINO_OK;
    const nino_node_ops *ops = n->def->ops;
    nino_stream_set_precision(x->stream, precision_of_node(x, n));
    uint32_t switched = ops->switched ? ops->switched(n->params, x->switched) : x->switched;
    if (nino_stream_taken(x->stream)
            ->is_narrow) // Winograd's workspace is f32: there is no room for it
        switched |= NINO_POLICY_BIT(NINO_POLICY_LAYOUT) & NINO_POLICY_STANDARD;
    nino_backend_set_switched(nino_stream_backend(x->stream), switched);
    const uint64_t n_ops = nino_stream_backend(x->stream)->n_ops;
    nino_status st = ops->run(&r->base, err);
    if (st == NINO_OK && nino_is_true(nino_vars_get()->measure_error))
        nino_exec_measure_error(rs, n, s, r, n_ops);
    bool is_wider = false;
    for (int tries = 0; st && !x->is_plan;) {
        const bool is_nan = st == NINO_ERR_RANGE && err->kind && !strcmp(err->kind, "nan");
        const nino_precision wider = second_precision(nino_stream_precision(x->stream));
        if (is_nan && wider && !is_wider) {
            nino_exec_say(x, NINO_LOG_WARN, "%s %s: %s; once more in %s", n->id, n->class_type,
                          err->msg, wider == NINO_PREC_F32 ? "f32" : "bf16");
            nino_stream_set_precision(x->stream, wider);
            nino_stream_set_choice(x->stream, NULL); // it was made for the first try
            nino_pool_set_budget(nino_stream_backend(x->stream)->pool, x->budget);
            is_wider = true;
        } else if (st != NINO_ERR_NOMEM || !make_room(x, n, tries++, err)) {
            break;
        }
        nino_stream_clear_error(x->stream);
        clear_outputs(s);
        nino_shown_release(&r->shown);
        *err = (nino_error){ 0 };
        st = ops->run(&r->base, err);
    }
    return st;
}

static void print_params(nino_buf *out, const nino_gnode *n)
{
    nino_buf_addc(out, '{');
    for (const nino_param *p = n->def->params; p && p->key; p++) {
        const nino_default v = nino_param_load(p, n->params);
        nino_buf_addf(out, "%s\"%s\":", p == n->def->params ? "" : ",", p->key);
        nino_param_print(out, p, &v);
    }
    nino_buf_addc(out, '}');
}

static void capture(run_state *rs, const nino_gnode *n, bool is_output, nino_value *const *values,
                    const nino_port *ports, double seconds)
{
    nino_capture *c = rs->x->is_plan ? NULL : nino_ctx_capture(rs->x->ctx);
    if (!c)
        return;
    nino_buf params = { 0 };
    nino_value *first[MAX_PORTS] = { NULL }; // of lists
    for (int k = 0; ports && ports[k].key; k++)
        first[k] = nino_value_at(values[k], 0);
    print_params(&params, n);
    const nino_backend *be = nino_stream_backend(rs->x->stream);
    nino_captured what = { .node_id = n->id,
                           .class_type = n->class_type,
                           .is_output = is_output,
                           .values = first,
                           .ports = ports,
                           .params_json = params.data ? params.data : "{}",
                           .workflow_json = rs->x->prompt_json,
                           .device = be->info.selector,
                           .precision = nino_precision_name(rs->x->precision),
                           .duration_s = seconds };
    nino_pool_stat(be->pool, &what.memory);
    nino_capture_node(c, &what);
    nino_buf_release(&params);
}

static void tell_line(void *priv, const char *text)
{
    const node_run *r = priv;
    nino_exec_say(r->x, NINO_LOG_INFO, "%s %s: %s", r->base.node_id, r->base.def->key, text);
}

static void tell_help(void *priv, const char *text)
{
    const node_run *r = priv;
    nino_exec_say(r->x, NINO_LOG_WARN, "%s %s: what would help: %s", r->base.node_id,
                  r->base.def->key, text);
}

// What bringing weights in took of a node's time; nothing where they were there already.
static void tell_load(run_state *rs, const nino_gnode *n, uint64_t ns, uint64_t bytes)
{
    const nino_backend *be = nino_stream_backend(rs->x->stream);
    const double s = (double) (be->load_ns - ns) * 1e-9;
    const double b = (double) (be->load_bytes - bytes);
    if (b > 0 && !rs->x->is_plan)
        nino_exec_say(rs->x, NINO_LOG_INFO,
                      "%s %s: brought %.1f MiB of weights in, %.2f s, %.2f GB/s", n->id,
                      n->class_type, b / 0x1p20, s, s > 0 ? b * 1e-9 / s : 0);
}

// What of the time since then another run of the node would not take.
static void tell_once(run_state *rs, uint64_t load_ns, uint64_t pause_ns)
{
    const nino_backend *be = nino_stream_backend(rs->x->stream);
    nino_event e = { .kind = NINO_EV_ONCE };
    e.u.once.load_ns = be->load_ns - load_ns - (be->pause_ns - pause_ns);
    if (e.u.once.load_ns && !rs->x->is_plan)
        nino_monitor_publish(nino_ctx_monitor(rs->x->ctx), &e);
}

// Once, with the items of this turn.
static nino_status run_turn(run_state *rs, const nino_gnode *n, node_state *s, int turn,
                            node_run *r, nino_error *err)
{
    nino_status st = n->given[0] ? NINO_OK : execute_gather(rs, n, turn, r->in, err);
    if (st == NINO_OK && !n->given[0])
        st = nino_exec_link_params(rs, n, turn, err);
    if (st == NINO_OK && rs->x->n_shards)
        st = nino_share_cut(rs, (int) (n - rs->x->g->nodes), r, err);
    if (st)
        return st;
    capture(rs, n, false, r->in, n->def->inputs, 0);
    const nino_backend *be = nino_stream_backend(rs->x->stream);
    const uint64_t begin = nino_now_ns(), load_ns = be->load_ns, load_bytes = be->load_bytes;
    const uint64_t pause_ns = be->pause_ns;
    st = attempt(rs, n, s, r, err);
    if (st == NINO_OK && rs->x->keep && !rs->x->is_plan && n->def->is_output && r->in[0])
        rs->x->keep(rs->x->priv, n->id, r->in[0]);
    if (st == NINO_OK)
        st = nino_stream_finish(rs->x->stream, err);
    tell_load(rs, n, load_ns, load_bytes);
    tell_once(rs, load_ns, pause_ns);
    if (st == NINO_OK && !rs->x->is_plan)
        nino_loader_tell(&r->base, (double) (nino_now_ns() - begin) * 1e-9, tell_line, r);
    if (st == NINO_OK && rs->x->n_shards)
        st = nino_share_tag(rs, (int) (n - rs->x->g->nodes), err);
    if (st == NINO_ERR_NOMEM && !rs->x->is_plan)
        nino_shortage_tell(&r->base, tell_help, r);
    if (st == NINO_OK)
        capture(rs, n, true, s->out, n->def->outputs, (double) (nino_now_ns() - begin) * 1e-9);
    return st;
}

// Moves a turn's outputs to the end of the lists of all turns.
static nino_status execute_collect(node_state *s, const nino_gnode *n, nino_value **lists,
                                   nino_error *err)
{
    for (int k = 0; k < s->n_out; k++) {
        nino_value *v = s->out[k];
        s->out[k] = NULL;
        if (!lists[k])
            lists[k] = nino_value_create_list(v ? v->type : n->def->outputs[k].type);
        if (lists[k] && nino_value_append(lists[k], v))
            continue;
        if (!lists[k])
            nino_value_unref(&v);
        return nino_fail(err, NINO_ERR_NOMEM, n->id, "out of memory");
    }
    return NINO_OK;
}

static nino_status run_turns(run_state *rs, const nino_gnode *n, node_state *s, node_run *r,
                             nino_error *err)
{
    const int turns = count_turns(rs, n);
    if (turns == 1)
        return run_turn(rs, n, s, 0, r, err);
    nino_status st = NINO_OK;
    nino_value **lists = calloc((size_t) s->n_out + 1, sizeof(*lists));
    if (!lists)
        return nino_fail(err, NINO_ERR_NOMEM, n->id, "out of memory");
    for (int t = 0; t < turns && st == NINO_OK; t++) {
        if (!(st = run_turn(rs, n, s, t, r, err)))
            st = execute_collect(s, n, lists, err);
    }
    for (int k = 0; k < s->n_out && st == NINO_OK; k++) {
        s->out[k] = lists[k];
        lists[k] = NULL;
    }
    for (int k = 0; k < s->n_out; k++)
        nino_value_unref(&lists[k]);
    free(lists);
    return st;
}

static nino_status run_node(run_state *rs, int i, nino_error *err)
{
    nino_exec *x = rs->x;
    const nino_gnode *n = &x->g->nodes[i];
    node_state *s = &rs->node[i];
    node_run r = { .x = x };
    r.base =
        (nino_run){ .ctx = x->ctx,
                    .stream = x->stream,
                    .node_id = n->id,
                    .def = n->def,
                    .params = n->params,
                    .in = r.in,
                    .out = s->out,
                    .prompt_json = x->prompt_json,
                    .workflow_json = x->workflow_json,
                    .log = nino_ctx_log(x->ctx),
                    .cancel = x->cancel,
                    .is_plan = x->is_plan,
                    .extra = n->def->ops->takes_extra ? nino_json_get(n->json, "inputs") : NULL,
                    .key = s->is_volatile ? NULL : &s->key,
                    .no_metadata = nino_ctx_settings(x->ctx)->o.no_metadata };
    char *profile = x->profile && n->def->is_output ? nino_profile_log_json(x->profile) : NULL;
    r.base.profile_json = profile;
    const bool is_fixed = n->def->ops->is_fixed && n->def->ops->is_fixed(n->params);
    const uint32_t switched =
        n->def->ops->switched ? n->def->ops->switched(n->params, x->switched) : x->switched;
    const bool is_planned = !(switched & NINO_POLICY_BIT(NINO_POLICY_TILES));
    nino_stream_set_choice(x->stream, x->choice && !is_fixed && is_planned ? &x->choice[i] : NULL);
    const nino_backend *be = nino_stream_backend(x->stream);
    const uint64_t load_bytes = be->load_bytes, evicted = be->evicted, n_ops = be->n_ops;
    nino_status st = run_turns(rs, n, s, &r, err);
    if (x->found) {
        x->found[i] = (nino_node_plan){ *nino_stream_taken(x->stream), be->load_bytes - load_bytes,
                                        be->evicted - evicted, is_fixed };
        x->found[i].taken.is_narrow &= be->n_ops > n_ops;
    }
    if (st == NINO_OK && nino_is_true(nino_vars_get()->cpu_offload) &&
        !(st = nino_stream_finish(x->stream, err)))
        nino_backend_drop_weights(nino_stream_backend(x->stream));
    if (st == NINO_OK && !s->is_volatile)
        nino_results_put(nino_ctx_results(x->ctx), s->key, s->out, s->n_out, &r.shown);
    nino_share_release(&r);
    nino_shown_release(&r.shown);
    free(profile);
    x->step = x->n_steps = 0;
    if (st) {
        clear_outputs(s);
        if (err->code != NINO_ERR_CANCELLED)
            nino_error_in_node(err, n);
    }
    return st;
}

// A node that decides late: with its parameters it says which inputs it looks at. *k becomes the
// place in the order where the nodes begin that it has been waiting for.
static nino_status settle_late(run_state *rs, int *k, nino_error *err)
{
    const int i = rs->x->g->order[*k];
    const nino_gnode *n = &rs->x->g->nodes[i];
    const int turns = count_param_turns(rs, n);
    nino_exec_late_begin(rs, i);
    for (int t = 0; t < turns; t++) {
        const nino_status st = nino_exec_link_params(rs, n, t, err);
        if (st) {
            nino_error_in_node(err, n);
            return st;
        }
        nino_exec_late_takes(rs, i);
    }
    *k = nino_exec_late_end(rs, *k);
    return NINO_OK;
}

static nino_status run_one(run_state *rs, int k, nino_error *err)
{
    nino_exec *x = rs->x;
    const int i = x->g->order[k];
    const nino_gnode *n = &x->g->nodes[i];
    const bool is_new = rs->node[i].what == NODE_RUN;
    bool runs = is_new;
    nino_error e = { 0 };
    nino_status st = is_new && x->n_shards ? nino_share_decide(rs, i, &runs, &e) : NINO_OK;
    char name[160];
    snprintf(name, sizeof(name), "%.60s %.80s%s", n->id, n->class_type,
             runs     ? ""
             : is_new ? " (another part)"
                      : " (cached)");
    nino_scope_begin(x->stream, NINO_EV_NODE, name, (uint32_t) k, x->n_nodes);
    if (x->profile)
        nino_profile_log_begin(x->profile, n->id, n->class_type, !runs);
    if (st && err)
        *err = e;
    else if (runs)
        st = run_node(rs, i, err);
    if (x->profile)
        nino_profile_log_end(x->profile);
    nino_scope_end_with(x->stream, st);
    if (x->node_index <= (uint32_t) k) // it goes back for nodes that had to wait
        x->node_index = (uint32_t) k + 1;
    if (is_new)
        nino_exec_drop_uses(rs, i);
    if (!rs->node[i].pending)
        clear_outputs(&rs->node[i]);
    rs->node[i].is_done = true;
    if (st == NINO_OK && !x->is_plan)
        nino_exec_node_progress(x);
    return st;
}

static nino_status run_nodes(run_state *rs, nino_error *err)
{
    nino_exec *x = rs->x;
    nino_status st = NINO_OK;
    for (int k = 0; k < x->g->n_order && st == NINO_OK;) {
        const int i = x->g->order[k];
        const node_state *s = &rs->node[i];
        if (x->cancel && __atomic_load_n(x->cancel, __ATOMIC_RELAXED))
            return nino_fail(err, NINO_ERR_CANCELLED, "", "cancelled");
        if (s->is_done || s->what == NODE_MAYBE) {
            k++;
        } else if (s->what == NODE_RUN && x->g->nodes[i].decides_late && !s->is_settled &&
                   !(x->n_shards && nino_share_waits(rs, i))) {
            st = settle_late(rs, &k, err);
        } else {
            st = run_one(rs, k++, err);
        }
    }
    return st;
}

nino_status nino_exec_run_all(run_state *rs, nino_error *err)
{
    nino_ctx *ctx = rs->x->ctx;
    if (!rs->x->is_plan)
        return run_nodes(rs, err);
    nino_results *own = nino_results_create_plan(nino_ctx_results(ctx));
    if (!own)
        return nino_fail(err, NINO_ERR_NOMEM, "plan", "out of memory");
    nino_results *kept = nino_ctx_swap_results(ctx, own);
    const nino_status st = run_nodes(rs, err);
    nino_ctx_swap_results(ctx, kept);
    nino_results_destroy(&own);
    return st;
}

void nino_exec_release_nodes(run_state *rs)
{
    for (int i = 0; rs->node && i < rs->x->g->n_nodes; i++) {
        clear_outputs(&rs->node[i]);
        free(rs->node[i].out);
    }
    free(rs->node);
}

// The plan starts with nothing in memory; the run with what earlier ones have left there, of which the plan counts the
// weights that it uses, too. Those are there from the start, though, and not only when they are needed: then the sum of
// what each kind has at most is what holds.
static void tell_planned(nino_pool *pool, const nino_planned *p)
{
    const nino_outcome *o = &p->best;
    nino_mem_stat m;
    nino_pool_stat(pool, &m);
    // Fewer than the plan saw, where it was made for an earlier run.
    const uint64_t weights = m.by_owner[NINO_OWN_WEIGHTS];
    const uint64_t resident = o->resident < weights ? o->resident : weights;
    const uint64_t sum = o->peak_weights + o->peak_rest - resident;
    const uint64_t most = m.in_use + (sum < o->peak ? sum : o->peak);
    nino_pool_tell_planned(pool, p->budget && p->budget < most ? p->budget : most);
}

nino_status nino_exec_run(nino_exec *x, nino_error *err)
{
    nino_error e = { 0 };
    nino_planned planned = { .fits = false };
    run_state rs = { .x = x, .node = calloc((size_t) x->g->n_nodes + 1, sizeof(node_state)) };
    if (!rs.node)
        return nino_fail(err, NINO_ERR_NOMEM, x->g->name, "out of memory");
    x->n_nodes = (uint32_t) x->g->n_order;
    nino_status st = nino_exec_decide(&rs, &e);
    nino_pool *pool = nino_stream_backend(x->stream)->pool;
    nino_mem_stat mem;
    nino_pool_stat(pool, &mem);
    x->budget = mem.budget;
    if (st == NINO_OK && !x->is_plan)
        st = nino_exec_choose(&rs, &planned, &e);
    if (planned.fits) {
        nino_pool_set_budget(pool, planned.budget);
        tell_planned(pool, &planned);
        if (planned.is_pressed) // what is free is to be in one piece, as in the plan
            nino_pool_trim(pool);
    }
    x->started_ns = nino_now_ns();
    x->flops_before = nino_stream_backend(x->stream)->flops;
    x->spared_before = x->spared_told = nino_stream_backend(x->stream)->spared;
    x->load_before = nino_stream_backend(x->stream)->load_ns;
    x->eta = (nino_eta){ .spacing = 0.3 };
    if (st == NINO_OK)
        st = nino_exec_run_all(&rs, &e);
    nino_exec_release_nodes(&rs);
    if (st == NINO_ERR_NOMEM && planned.least)
        nino_exec_name_least(&planned, &e);
    x->choice = NULL;
    nino_pool_set_budget(pool, mem.budget);
    nino_planned_release(&planned);
    if (st && err)
        *err = e;
    return st;
}
