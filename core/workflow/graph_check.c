// Checking a workflow: every problem at once, and what the executor needs to run it (links,
// parameters, order). Rules of ComfyUI's prompt validation, with two differences: a missing widget
// takes its default with a warning, and problems of nodes that no output needs are warnings.
#include "core/workflow/graph_issue.h"
#include "core/workflow/workflow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/table/known.h"
#include "core/node/node_impl.h"
#include "core/node/param.h"

#define MAX_IGNORED 16  // warnings about unknown inputs of one node
#define MAX_NEAREST 100 // unknown classes for which a similar one is looked for, which takes long

typedef struct check {
    nino_graph *g;
    const nino_ctx *ctx;
    nino_issues issues;
    size_t n_unknown;
    bool failed; // out of memory
    // links of all nodes, by node: first[i]..first[i+1] into to[]
    int32_t *first, *to;
} check;

#define ISSUE(c, severity, code, n, input, ...)                                                    \
    nino_issue_tell(&(c)->issues, severity, code, n, input, __VA_ARGS__)

// The text of another room, which is translated where it is a whole message without figures.
static void tell_text(check *c, nino_issue_severity severity, const char *code, nino_gnode *n,
                      const char *input, const char *text)
{
    nino_issue_tell(&c->issues, severity, code, n, input, "%s", nino_tr(c->issues.translate, text));
}

// ---- which nodes matter ----------------------------------------------------------------------

// Collects the links between nodes. Inputs that the class does not have make no dependency.
static void collect_links(check *c)
{
    nino_graph *g = c->g;
    size_t n_links = 0;
    for (int pass = 0; pass < 2 && !c->failed; pass++) {
        size_t at = 0;
        for (int i = 0; i < g->n_nodes; i++) {
            const nino_json *inputs = nino_json_get(g->nodes[i].json, "inputs");
            if (pass)
                c->first[i] = (int32_t) at;
            for (const nino_json *v = inputs ? inputs->child : NULL; v; v = v->next) {
                nino_link l;
                if (v->type != NINO_JSON_ARRAY || nino_link_resolve(g, v, &l) ||
                    !nino_input_counts(&g->nodes[i], v->key))
                    continue;
                if (pass)
                    c->to[at] = l.node;
                at++;
            }
        }
        if (!pass) {
            n_links = at;
            c->first = calloc((size_t) g->n_nodes + 1, sizeof(*c->first));
            c->to = calloc(n_links + 1, sizeof(*c->to));
            c->failed = !c->first || !c->to || n_links > INT32_MAX;
        }
    }
    if (!c->failed)
        c->first[g->n_nodes] = (int32_t) n_links;
}

static bool is_output(const nino_gnode *n)
{
    if (n->def)
        return n->def->is_output;
    const nino_known_class *k = nino_known_class_find(n->class_type);
    return k && (k->flags & NINO_KNOWN_OUTPUT);
}

// Nodes that lead to an output: backwards from the outputs.
static int mark_wanted(check *c)
{
    nino_graph *g = c->g;
    int n_outputs = 0, n_stack = 0;
    int32_t *stack = calloc((size_t) g->n_nodes + 1, sizeof(*stack));
    if (!stack) {
        c->failed = true;
        return 0;
    }
    for (int i = 0; i < g->n_nodes; i++) {
        g->nodes[i].is_wanted = is_output(&g->nodes[i]);
        if (g->nodes[i].is_wanted) {
            stack[n_stack++] = i;
            n_outputs++;
        }
    }
    while (n_stack) {
        const int i = stack[--n_stack];
        for (int32_t k = c->first[i]; k < c->first[i + 1]; k++)
            if (!g->nodes[c->to[k]].is_wanted) {
                g->nodes[c->to[k]].is_wanted = true;
                stack[n_stack++] = c->to[k];
            }
    }
    free(stack);
    return n_outputs;
}

// Depth first from every node; a link back to an open node closes a circle. Wanted nodes come out
// sources first. Outputs are the starting points, in file order, so one output's nodes run together
// and their values are freed early.
static void find_order(check *c)
{
    enum { NEW, OPEN, DONE };
    nino_graph *g = c->g;
    const size_t n = (size_t) g->n_nodes;
    uint8_t *state = calloc(n + 1, 1);
    int32_t *stack = calloc(n + 1, sizeof(*stack)), *next = calloc(n + 1, sizeof(*next));
    g->order = nino_arena_alloc(g->checked, (n + 1) * sizeof(*g->order));
    c->failed = c->failed || !state || !stack || !next || !g->order;
    for (int pass = 0; pass < 2 && !c->failed; pass++)
        for (int start = 0; start < g->n_nodes; start++) {
            int depth = 0;
            if (state[start] != NEW || (!pass && !is_output(&g->nodes[start])))
                continue;
            stack[depth++] = start;
            state[start] = OPEN;
            next[start] = c->first[start];
            while (depth) {
                const int i = stack[depth - 1];
                if (next[i] == c->first[i + 1]) {
                    state[i] = DONE;
                    depth--;
                    if (g->nodes[i].is_wanted && g->nodes[i].def && !g->nodes[i].def->is_virtual)
                        g->order[g->n_order++] = i;
                    continue;
                }
                const int to = c->to[next[i]++];
                if (state[to] == OPEN) {
                    ISSUE(c, NINO_ISSUE_ERROR, "cycle", &g->nodes[i], NULL,
                          "node %.60s needs its own result, by way of node %.60s", g->nodes[i].id,
                          g->nodes[to].id);
                } else if (state[to] == NEW) {
                    state[to] = OPEN;
                    next[to] = c->first[to];
                    stack[depth++] = to;
                }
            }
        }
    free(state);
    free(stack);
    free(next);
}

// ---- one node --------------------------------------------------------------------------------

static void check_class(check *c, nino_gnode *n)
{
    const nino_known_class *known = nino_known_class_find(n->class_type);
    if (n->def) {
        if (n->alias && n->alias->note)
            nino_issue_tell(&c->issues, NINO_ISSUE_WARNING, "alias", n, NULL, "%s: %s",
                            n->class_type, nino_tr(c->issues.translate, n->alias->note));
        if (n->def->ops && n->def->ops->no_effect)
            ISSUE(c, NINO_ISSUE_WARNING, "no_effect", n, NULL,
                  "%s only hands its input on here: %s", n->class_type,
                  nino_tr(c->issues.translate, n->def->ops->no_effect));
        return;
    }
    if (known && (known->flags & NINO_KNOWN_PAID)) {
        n->is_wanted = true;
        ISSUE(c, NINO_ISSUE_ERROR, "paid_service", n, NULL,
              "%.100s calls a paid service over the network; nothing here does", n->class_type);
        return;
    }
    if (known) {
        ISSUE(c, NINO_ISSUE_ERROR, "unsupported_class", n, NULL, "%s is not supported yet",
              n->class_type);
        return;
    }
    // Nobody can say whether an unknown class saves something: an error wherever it is.
    const char *near = c->n_unknown++ < MAX_NEAREST ? nino_node_nearest(n->class_type) : NULL;
    n->is_wanted = true;
    if (near)
        ISSUE(c, NINO_ISSUE_ERROR, "unknown_class", n, NULL,
              "no node class '%.100s'; did you mean %s?", n->class_type, near);
    else
        ISSUE(c, NINO_ISSUE_ERROR, "unknown_class", n, NULL, "no node class '%.100s'",
              n->class_type);
}

static size_t count_ports(const nino_port *p)
{
    size_t n = 0;
    while (p && p[n].key)
        n++;
    return n;
}

static size_t count_params(const nino_param *p)
{
    size_t n = 0;
    while (p && p[n].key)
        n++;
    return n;
}

static const char *param_port_name(const nino_param *p) { return nino_param_type_name(p); }

// Resolves the link v of input `key` that wants `type`; reports what is wrong with it.
static bool check_link(check *c, nino_gnode *n, const char *key, const char *type,
                       const nino_json *v, nino_link *link)
{
    const char *why = nino_link_resolve(c->g, v, link);
    if (why) {
        ISSUE(c, NINO_ISSUE_ERROR, "bad_link", n, key, "the link %s",
              nino_tr(c->issues.translate, why));
        return false;
    }
    const nino_gnode *from = &c->g->nodes[link->node];
    if (!from->def) // it has an issue of its own
        return true;
    const size_t n_out = count_ports(from->def->outputs);
    if ((size_t) link->slot >= n_out) {
        ISSUE(c, NINO_ISSUE_ERROR, "bad_link", n, key,
              "node %.60s (%s) has %zu outputs, number %d is wanted", from->id, from->class_type,
              n_out, (int) link->slot);
        return false;
    }
    const char *got = nino_link_types(c->g, *link);
    if (nino_types_agree(got, type))
        return true;
    ISSUE(c, NINO_ISSUE_ERROR, "type_mismatch", n, key, "%s is needed, node %.60s (%s) gives %s",
          type, from->id, from->class_type, got);
    return false;
}

// Why an input that the editor's form connects is missing here, or NULL.
static const nino_ui_issue *lost_link(const check *c, const nino_gnode *n, const char *key)
{
    const nino_ui *ui = c->g->ui;
    const int32_t node = (int32_t) (n - c->g->nodes);
    int32_t lo = 0, hi = ui ? ui->n_issues : 0;
    while (lo < hi) { // the first of this node
        const int32_t mid = lo + (hi - lo) / 2;
        if (ui->issues[mid].node < node)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; ui && lo < ui->n_issues && ui->issues[lo].node == node; lo++)
        if (!strcmp(ui->issues[lo].key, key))
            return &ui->issues[lo];
    return NULL;
}

static void tell_lost(check *c, nino_gnode *n, const char *key, const nino_ui_issue *lost)
{
    ISSUE(c, NINO_ISSUE_ERROR, "bad_link", n, key, "link %s %s", lost->link,
          nino_tr(c->issues.translate, lost->why));
}

// Input k of the class.
static void check_port(check *c, nino_gnode *n, int k, const nino_json *inputs)
{
    const nino_port *p = &n->def->inputs[k];
    const nino_json *v = nino_input_of(n->def, inputs, p->key);
    const char *types = nino_port_types(p);
    const nino_ui_issue *lost = v ? NULL : lost_link(c, n, p->key);
    const nino_presence is = nino_input_presence(n->def, p->key, p->when, inputs);
    n->ports[k] = (nino_link){ -1, 0 };
    if (is == NINO_ABSENT)
        return;
    if (lost) {
        tell_lost(c, n, p->key, lost);
    } else if (!v || (v->type == NINO_JSON_NULL && p->optional)) {
        if (!p->optional && is == NINO_PRESENT)
            ISSUE(c, NINO_ISSUE_ERROR, "missing_input", n, p->key, "%s is not connected", types);
    } else if (v->type != NINO_JSON_ARRAY && nino_port_takes_literal(p, v)) {
        n->literals[k] = nino_port_literal(c->g, p, v);
        c->failed = c->failed || !n->literals[k];
    } else if (v->type != NINO_JSON_ARRAY) {
        ISSUE(c, NINO_ISSUE_ERROR, "bad_link", n, p->key, "a link to %s is needed, not a value",
              types);
    } else {
        check_link(c, n, p->key, types, v, &n->ports[k]);
    }
    if (n->untaken >> k & 1) // it has to be there, but nothing is made for it
        n->ports[k].node = -1;
}

// Issue codes are the kinds that params and checks fail with; anything else is a bad value.
static const char *code_of(const nino_error *e)
{
    static const char *const codes[] = { "range", "value", "path", "missing_file", "io", "nomem" };
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (e->kind && !strcmp(e->kind, codes[i]))
            return codes[i];
    return "value";
}

static void graph_check_check_file(check *c, nino_gnode *n, const nino_param *p, const char *name)
{
    nino_error e = { 0 };
    for (const char *const *w = p->extra; w && *w; w++)
        if (!strcmp(*w, name))
            return; // the class's own check knows more
    if (c->ctx && nino_services_of(c->ctx)->check_file(c->ctx, p->folder, name, &e))
        tell_text(c, NINO_ISSUE_ERROR, code_of(&e), n, p->key, e.msg);
}

// Editors keep values as what they are: another type is a value of another widget. In the API form
// ComfyUI makes 1 of true, and a text of a number.
static bool is_ui_value(const nino_param *p, const nino_json *v)
{
    switch (v->type) {
    case NINO_JSON_NUMBER: return p->type != NINO_STRING && p->type != NINO_BOOL;
    case NINO_JSON_BOOL: return p->type == NINO_BOOL || p->type == NINO_ENUM;
    default: return true;
    }
}

static void check_param(check *c, nino_gnode *n, const nino_param *p, const nino_json *inputs,
                        nino_link *link)
{
    const nino_json *v = nino_input_of(n->def, inputs, p->key);
    const nino_presence is = nino_input_presence(n->def, p->key, p->when, inputs);
    *link = (nino_link){ -1, 0 };
    if (is == NINO_ABSENT || (is == NINO_UNDECIDED && !v))
        return;
    const nino_ui_issue *lost = v ? NULL : lost_link(c, n, p->key);
    if (lost) {
        tell_lost(c, n, p->key, lost);
        return;
    }
    if (p->type == NINO_FILE && n->given[0])
        return; // comes from memory
    if (!v) {
        if (p->type == NINO_FILE && !p->optional)
            ISSUE(c, NINO_ISSUE_ERROR, "missing_input", n, p->key, "no file is named");
        else if (!p->optional) {
            nino_buf b = { 0 };
            nino_param_print(&b, p, &p->def);
            ISSUE(c, NINO_ISSUE_WARNING, "missing_input", n, p->key, "not given, %.60s is taken",
                  b.data ? b.data : nino_tr(c->issues.translate, "the default"));
            nino_buf_release(&b);
        }
        return;
    }
    if (v->type == NINO_JSON_ARRAY) {
        check_link(c, n, p->key, param_port_name(p), v, link);
        return;
    }
    if (p->is_inert && !p->acts_for)
        return; // whatever it is
    if (c->g->ui && !is_ui_value(p, v)) {
        ISSUE(c, NINO_ISSUE_ERROR, "value", n, p->key, "%s where %s is needed",
              nino_tr(c->issues.translate,
                      v->type == NINO_JSON_BOOL ? N_("true or false") : N_("a number")),
              nino_param_type_name(p));
        return;
    }
    if (v->text && nino_param_is_random(p, v->text))
        ISSUE(c, NINO_ISSUE_WARNING, "random_seed", n, p->key, "-1: every run draws another seed");
    nino_error e = { 0 };
    nino_default value = p->def;
    if (nino_param_from_json(p, v, n->alias, c->g->checked, &value, c->issues.translate, &e)) {
        tell_text(c, NINO_ISSUE_ERROR, code_of(&e), n, p->key, e.msg);
        return;
    }
    nino_param_store(p, n->params, &value);
    if (p->type == NINO_FILE && !p->is_inert)
        graph_check_check_file(c, n, p, value.s);
}

static bool is_graph_check_listed(const char *const *list, const char *key)
{
    for (; list && *list; list++)
        if (!strcmp(*list, key))
            return true;
    return false;
}

static void check_extra_inputs(check *c, nino_gnode *n, const nino_json *inputs)
{
    int ignored = 0;
    for (const nino_json *v = inputs ? inputs->child : NULL; v; v = v->next) {
        if (nino_input_is_known(n, v->key) || nino_ui_is_extra(v->key) ||
            (n->alias && is_graph_check_listed(n->alias->ignored, v->key)))
            continue;
        if (ignored++ < MAX_IGNORED)
            ISSUE(c, NINO_ISSUE_WARNING, "ignored_input", n, v->key,
                  "%s has no input of this name; it is ignored", n->class_type);
    }
    if (ignored > MAX_IGNORED)
        ISSUE(c, NINO_ISSUE_WARNING, "ignored_input", n, NULL, "%d more inputs are ignored",
              ignored - MAX_IGNORED);
}

static void check_node(check *c, nino_gnode *n)
{
    check_class(c, n);
    if (!n->def || n->def->is_virtual)
        return;
    nino_arena *a = c->g->checked;
    const size_t n_ports = count_ports(n->def->inputs), n_params = count_params(n->def->params);
    n->ports = nino_arena_alloc(a, (n_ports + 1) * sizeof(*n->ports));
    n->param_links = nino_arena_alloc(a, (n_params + 1) * sizeof(*n->param_links));
    n->literals = nino_arena_alloc(a, (n_ports + 1) * sizeof(nino_value *));
    n->params = nino_arena_alloc(a, n->def->params_size + 1);
    if (!n->ports || !n->param_links || !n->literals || !n->params) {
        c->failed = true;
        return;
    }
    nino_params_init(n->def, n->params);
    const nino_json *inputs = nino_json_get(n->json, "inputs");
    for (size_t i = 0; i < n_ports; i++)
        check_port(c, n, (int) i, inputs);
    for (size_t i = 0; i < n_params; i++)
        check_param(c, n, &n->def->params[i], inputs, &n->param_links[i]);
    check_extra_inputs(c, n, inputs);
    nino_error e = { 0 };
    if (!n->is_broken && n->def->ops && n->def->ops->check &&
        n->def->ops->check(c->ctx, n->params, &e))
        tell_text(c, NINO_ISSUE_ERROR, code_of(&e), n,
                  nino_param_find(n->def, e.where) ? e.where : NULL, e.msg);
}

static void check_families(check *c)
{
    int row = 0, node = 0;
    const char *input = NULL;
    for (const char *name; (name = nino_graph_next_family(c->g, c->ctx, &row, &node, &input));)
        if (input && strcmp(input, "type") != 0)
            ISSUE(c, NINO_ISSUE_ERROR, "unsupported_model", &c->g->nodes[node], input,
                  "by this name the workflow is made for %s, which does not run here yet; SD 1, 2 "
                  "and 3, SDXL, FLUX.1, FLUX.2, Chroma, Z-Image, Qwen-Image, Wan 2.1 and 2.2 do",
                  name);
        else
            ISSUE(c, NINO_ISSUE_ERROR, "unsupported_model", &c->g->nodes[node], input,
                  "the workflow is made for %s, which does not run here yet; SD 1, 2 and 3, SDXL, "
                  "FLUX.1, FLUX.2, Chroma, Z-Image, Qwen-Image, Wan 2.1 and 2.2 do",
                  name);
}

void nino_graph_forget(nino_graph *g)
{
    g->order = NULL;
    g->n_order = 0;
    for (int i = 0; g->nodes && i < g->n_nodes; i++) {
        nino_gnode *n = &g->nodes[i];
        for (int k = 0; n->literals && n->def->inputs && n->def->inputs[k].key; k++)
            nino_value_unref(&n->literals[k]);
        n->literals = NULL;
        n->ports = n->param_links = NULL;
        n->params = NULL;
        n->is_wanted = n->is_broken = false;
    }
    nino_arena_destroy(&g->checked);
}

size_t nino_graph_check(nino_graph *g, const nino_ctx *ctx,
                        void (*report)(void *priv, const nino_issue *issue), void *priv)
{
    check c = { .g = g, .ctx = ctx, .issues = { .report = report, .priv = priv } };
    nino_graph_forget(g);
    c.failed = !(g->checked = c.issues.arena = nino_arena_create());
    c.issues.translate = ctx ? nino_services_of(ctx)->translator(ctx) : NULL;
    for (int i = 0; i < g->n_nodes && !c.failed; i++)
        c.failed = !nino_graph_settle(g, &g->nodes[i]);
    if (g->note)
        tell_text(&c, NINO_ISSUE_WARNING, "edited", NULL, NULL, g->note);
    if (!c.failed)
        collect_links(&c);
    const int n_outputs = c.failed ? 0 : mark_wanted(&c);
    if (!c.failed)
        find_order(&c);
    if (!c.failed)
        check_families(&c);
    for (int i = 0; i < g->n_nodes && !c.failed; i++)
        check_node(&c, &g->nodes[i]);
    if (c.failed)
        ISSUE(&c, NINO_ISSUE_ERROR, "nomem", NULL, NULL, "out of memory");
    else if (!n_outputs)
        ISSUE(&c, NINO_ISSUE_ERROR, "no_output", NULL, NULL,
              "nothing to run: no node saves or shows anything");
    nino_issues_report(&c.issues);
    free(c.first);
    free(c.to);
    return c.issues.n_errors;
}
