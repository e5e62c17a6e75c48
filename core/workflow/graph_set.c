// Changing one input of a workflow from text: NODE.INPUT=VALUE.
#include "core/workflow/workflow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/node/param.h"

static nino_status unknown(const char *what, const char *text, nino_error *err)
{
    char shown[96];
    nino_utf8_printable(shown, sizeof(shown), text, strlen(text));
    return nino_fail(err, NINO_ERR_UNKNOWN, shown, "%s", what);
}

// By id, else by the one class name or title that is equal.
static nino_status graph_set_find_node(const nino_graph *g, const char *name, int *out,
                                       nino_error *err)
{
    *out = nino_graph_find(g, name);
    for (int pass = 0; pass < 2 && *out < 0; pass++)
        for (int i = 0; i < g->n_nodes; i++) {
            const nino_gnode *n = &g->nodes[i];
            if (strcmp(pass ? n->title : n->class_type, name))
                continue;
            if (*out >= 0)
                return nino_fail(err, NINO_ERR_ARG, name,
                                 "several nodes have this name: use an id such as %.40s or %.40s",
                                 g->nodes[*out].id, n->id);
            *out = i;
        }
    return *out >= 0 ? NINO_OK : unknown("no node has this id, class or title", name, err);
}

// NODE.INPUT: either may hold points, so the last one with a node before it parts them. *input: in name.
static nino_status find_input(const nino_graph *g, char *name, int *node, const char **input,
                              nino_error *err)
{
    nino_error first = { 0 };
    for (char *dot = strrchr(name, '.'); dot && dot > name;
         dot = memrchr(name, '.', (size_t) (dot - name))) {
        nino_error e = { 0 };
        *dot = 0;
        *input = dot + 1;
        if (graph_set_find_node(g, name, node, &e) == NINO_OK)
            return NINO_OK;
        if (!first.code || e.code != NINO_ERR_UNKNOWN)
            first = e;
        if (e.code != NINO_ERR_UNKNOWN)
            break;
        *dot = '.';
    }
    if (err)
        *err = first;
    return first.code;
}

static nino_status unknown_input(const nino_gnode *n, const char *input, nino_error *err)
{
    char list[200] = "";
    size_t len = 0;
    for (const nino_param *p = n->def->params; p && p->key && len < sizeof(list) - 48; p++)
        len +=
            (size_t) snprintf(list + len, sizeof(list) - len, "%s%.40s", len ? ", " : "", p->key);
    char where[128];
    snprintf(where, sizeof(where), "%.40s.%.80s", n->class_type, input);
    return nino_fail(err, NINO_ERR_UNKNOWN, where, "no such input; there are: %s",
                     len ? list : "none");
}

static nino_status is_json(const char *text, bool *yes, nino_error *err)
{
    nino_json_doc *doc = NULL;
    const nino_status st = nino_json_parse(text, strlen(text), "value", NULL, &doc, NULL);
    nino_json_doc_destroy(&doc);
    *yes = !st;
    return st == NINO_ERR_NOMEM ? nino_fail(err, st, "value", "out of memory") : NINO_OK;
}

// The JSON text of the value: of the parameter's type where the class is known, else numbers, true
// and false stay what they look like.
static nino_status value_json(const nino_gnode *n, const char *input, const char *value,
                              nino_buf *out, nino_error *err)
{
    nino_status st = NINO_OK;
    const nino_param *p = n->def ? nino_param_find(n->def, input) : NULL;
    const bool is_port = n->def && nino_port_find(n->def, input);
    if (p && value[0] != '[') {
        nino_arena *a = nino_arena_create();
        nino_default v = { 0 };
        st = a ? nino_param_from_text(p, value, a, &v, err)
               : nino_fail(err, NINO_ERR_NOMEM, input, "out of memory");
        if (st == NINO_OK && nino_param_is_random(p, value))
            nino_buf_adds(out, "-1");
        else if (st == NINO_OK)
            nino_param_print(out, p, &v);
        nino_arena_destroy(&a);
        return st;
    }
    if (n->def && !p && !is_port)
        return unknown_input(n, input, err);
    bool is_value;
    if ((st = is_json(value, &is_value, err)))
        return st;
    if (is_port && (value[0] != '[' || !is_value))
        return nino_fail(err, NINO_ERR_FORMAT, input, "a link is needed: [\"node id\", 0]");
    if (is_value)
        nino_buf_adds(out, value);
    else
        nino_buf_add_json_string(out, value, strlen(value));
    return NINO_OK;
}

static nino_status graph_set_set_input(nino_graph *g, int i, const char *input, const char *json,
                                       nino_error *err)
{
    nino_json *n = g->nodes[i].json;
    if (!nino_json_get(n, "inputs")) {
        const nino_status st = nino_json_set(g->doc, n, "inputs", "{}", err);
        if (st)
            return st;
    }
    return nino_json_set(g->doc, (nino_json *) nino_json_get(n, "inputs"), input, json, err);
}

// The API form takes over what stands at a place of the UI form.
static nino_status follow_place(nino_graph *g, const nino_ui_place *p, nino_error *err)
{
    nino_buf text = { 0 };
    nino_ui_place_text(g->ui, p, &text);
    const nino_status st = text.failed ? nino_fail(err, NINO_ERR_NOMEM, p->key, "out of memory")
                                       : graph_set_set_input(g, p->node, p->key, text.data, err);
    nino_buf_release(&text);
    return st;
}

// Both forms of a UI file. Other inputs may have the same place, and defaults of the node may be
// written down now.
static nino_status set_both(nino_graph *g, int i, const char *input, const char *json,
                            nino_error *err)
{
    const nino_json *shared = NULL;
    nino_status st = nino_ui_set(g->ui, i, input, json, &shared, err);
    for (int32_t k = 0; k < g->ui->n_places && !st; k++) {
        const nino_ui_place *p = &g->ui->places[k];
        const bool is_it = p->node == i && !strcmp(p->key, input);
        const bool is_new =
            p->node == i && !nino_json_get(nino_json_get(g->nodes[i].json, "inputs"), p->key);
        if (is_it || is_new || (shared && p->value == shared))
            st = follow_place(g, p, err);
    }
    return st;
}

// The node of the UI form that is this one, or -1.
static int32_t find_member(const nino_ui *ui, const nino_gnode *n)
{
    for (int32_t i = 0; i < ui->n_members; i++) {
        const char *prefix = ui->instances[ui->members[i].instance].prefix;
        const nino_ui_node *m = &ui->nodes[ui->members[i].node];
        const size_t len = strlen(prefix);
        if (!strncmp(n->id, prefix, len) && !strcmp(n->id + len, m->id))
            return strcmp(m->type, n->class_type) ? -1 : i;
    }
    return -1;
}

// Where the document itself holds the UI form, it changes too.
static nino_status write_attached(nino_graph *g, const char *text, nino_error *err)
{
    nino_json *root = g->doc->root;
    nino_json *info =
        (nino_json *) nino_json_get(nino_json_get(root, "extra_data"), "extra_pnginfo");
    if (g->prompt == root)
        return NINO_OK;
    if (nino_json_get(info, "workflow"))
        return nino_json_set(g->doc, info, "workflow", text, err);
    return nino_json_get(root, "workflow") ? nino_json_set(g->doc, root, "workflow", text, err)
                                           : NINO_OK;
}

// A UI form that came along says the same where it has the input; else it stays as it came.
static nino_status set_attached(nino_graph *g, int i, const char *input, const char *json,
                                nino_error *err)
{
    const nino_json *shared = NULL;
    nino_json_doc *doc = NULL;
    nino_buf b = { 0 };
    nino_error e = { 0 };
    nino_ui *ui = NULL;
    bool done = false;
    nino_status st =
        nino_json_parse(g->workflow_json, strlen(g->workflow_json), g->name, NULL, &doc, &e);
    if (!st && !(ui = nino_ui_create(doc, doc->root, g->name, &e)))
        st = e.code;
    if (ui && !(st = nino_ui_to_api(ui, &b, &e))) {
        const int32_t at = find_member(ui, &g->nodes[i]);
        done = at >= 0 && !(st = nino_ui_set(ui, at, input, json, &shared, &e));
    }
    if (st == NINO_ERR_NOMEM)
        nino_fail(err, st, g->name, "out of memory");
    else
        st = NINO_OK; // it cannot hold the input
    if (done) {
        nino_buf_clear(&b);
        nino_json_write(&b, doc, doc->root);
        st = b.failed ? nino_fail(err, NINO_ERR_NOMEM, g->name, "out of memory")
                      : write_attached(g, b.data, err);
    }
    if (done && !st) {
        free(g->workflow_json);
        g->workflow_json = b.data;
        b = (nino_buf){ 0 };
    }
    nino_ui_destroy(&ui);
    nino_json_doc_destroy(&doc);
    nino_buf_release(&b);
    return st;
}

nino_status nino_graph_set(nino_graph *g, const char *assignment, nino_error *err)
{
    const char *eq = strchr(assignment, '=');
    const char *dot = eq ? memrchr(assignment, '.', (size_t) (eq - assignment)) : NULL;
    if (!dot || dot == assignment || dot + 1 == eq)
        return nino_fail(err, NINO_ERR_ARG, assignment, "this must read NODE.INPUT=VALUE");
    nino_status st;
    int i = -1;
    const char *input = NULL;
    nino_buf json = { 0 };
    char *name = strndup(assignment, (size_t) (eq - assignment));
    if (!name) {
        st = nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
        goto end;
    }
    if ((st = find_input(g, name, &i, &input, err)) ||
        (st = value_json(&g->nodes[i], input, eq + 1, &json, err)))
        goto end;
    if (json.failed)
        st = nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
    else if (g->ui)
        st = set_both(g, i, input, json.data, err);
    else if ((st = graph_set_set_input(g, i, input, json.data, err)) == NINO_OK && g->workflow_json)
        st = set_attached(g, i, input, json.data, err);
end:
    nino_buf_release(&json);
    free(name);
    return st;
}

// ---- seeds that are drawn --------------------------------------------------------------------

const nino_gnode *nino_graph_undrawn(const nino_graph *g)
{
    for (int i = 0; i < g->n_nodes; i++) {
        const nino_gnode *n = &g->nodes[i];
        for (const nino_param *p = n->def ? n->def->params : NULL; p && p->key; p++) {
            const nino_json *v = nino_json_get(nino_json_get(n->json, "inputs"), p->key);
            if (v && v->text && nino_param_is_random(p, v->text))
                return n;
        }
    }
    return NULL;
}

nino_status nino_graph_draw_seeds(nino_graph *g, const nino_log *log, nino_error *err)
{
    nino_status st = NINO_OK;
    for (int i = 0; i < g->n_nodes && !st; i++) {
        const nino_gnode *n = &g->nodes[i];
        for (const nino_param *p = n->def ? n->def->params : NULL; p && p->key && !st; p++) {
            const nino_json *v = nino_json_get(nino_json_get(n->json, "inputs"), p->key);
            uint64_t seed = 0;
            char json[32];
            if (!v || !v->text || !nino_param_is_random(p, v->text))
                continue;
            if (getrandom(&seed, sizeof(seed), 0) != (ssize_t) sizeof(seed))
                return nino_fail(err, NINO_ERR_IO, n->id, "the system gives no random seed");
            // As many bits as the editor's own draws have: it reads numbers as doubles.
            snprintf(json, sizeof(json), "%" PRIu64, seed >> 14);
            st = g->ui ? set_both(g, i, p->key, json, err)
                       : graph_set_set_input(g, i, p->key, json, err);
            nino_logf(log, NINO_LOG_INFO, "node %s.%s: -1 has drawn the seed %s", n->id, p->key,
                      json);
        }
    }
    return st;
}
