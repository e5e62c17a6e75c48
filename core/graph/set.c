// Changing one input of a workflow from text: NODE.INPUT=VALUE.
#include "core/graph/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
static nino_status find_node(const nino_graph *g, const char *name, int *out, nino_error *err)
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

static bool is_json(const char *text)
{
    nino_json_doc *doc = NULL;
    const bool ok = !nino_json_parse(text, strlen(text), "value", NULL, &doc, NULL);
    nino_json_doc_destroy(&doc);
    return ok;
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
        if (st == NINO_OK)
            nino_param_print(out, p, &v);
        nino_arena_destroy(&a);
        return st;
    }
    if (n->def && !p && !is_port)
        return unknown_input(n, input, err);
    if (is_port && (value[0] != '[' || !is_json(value)))
        return nino_fail(err, NINO_ERR_FORMAT, input, "a link is needed: [\"node id\", 0]");
    if (is_json(value))
        nino_buf_adds(out, value);
    else
        nino_buf_add_json_string(out, value, strlen(value));
    return NINO_OK;
}

nino_status nino_graph_set(nino_graph *g, const char *assignment, nino_error *err)
{
    const char *eq = strchr(assignment, '=');
    const char *dot = eq ? memrchr(assignment, '.', (size_t) (eq - assignment)) : NULL;
    if (!dot || dot == assignment || dot + 1 == eq)
        return nino_fail(err, NINO_ERR_ARG, assignment, "this must read NODE.INPUT=VALUE");
    nino_status st;
    int i = -1;
    nino_buf json = { 0 };
    char *node = strndup(assignment, (size_t) (dot - assignment));
    char *input = strndup(dot + 1, (size_t) (eq - dot - 1));
    if (!node || !input) {
        st = nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
        goto end;
    }
    if ((st = find_node(g, node, &i, err)) ||
        (st = value_json(&g->nodes[i], input, eq + 1, &json, err)))
        goto end;
    if (json.failed) {
        st = nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
        goto end;
    }
    nino_json *n = g->nodes[i].json;
    if (!nino_json_get(n, "inputs") && (st = nino_json_set(g->doc, n, "inputs", "{}", err)))
        goto end;
    st = nino_json_set(g->doc, (nino_json *) nino_json_get(n, "inputs"), input, json.data, err);
end:
    nino_buf_release(&json);
    free(node);
    free(input);
    return st;
}
