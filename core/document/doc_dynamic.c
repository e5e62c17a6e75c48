// Inputs that come and go: rows that grow with what is connected, and what a choice brings.
#include <string.h>

#include "core/base/error.h"
#include "core/document/doc.h"
#include "core/node/param.h"

static nino_json *find_input(const nino_json *node, const char *name, int *at)
{
    const nino_json *list = nino_ui_array(node, "inputs");
    *at = 0;
    for (nino_json *v = list ? list->child : NULL; v; v = v->next, (*at)++) {
        const char *own = nino_json_str(nino_json_get(v, "name"));
        if (own && !strcmp(own, name))
            return v;
    }
    return NULL;
}

static nino_status add_input(nino_doc_edit *e, nino_json *node, const nino_port *p)
{
    nino_status st = NINO_OK;
    nino_buf b = { 0 };
    nino_json *list = nino_doc_need(e, node, "inputs", "[]", &st);
    nino_doc_print_input(&b, 0, p->key, nino_port_types(p), p->optional, false, "null");
    if (!st)
        st = b.failed ? nino_doc_nomem(e->d, e->err)
                      : nino_json_append(e->json, list, b.data, e->err);
    nino_buf_release(&b);
    return st;
}

nino_status nino_doc_grow(nino_doc_edit *e, const nino_doc_node *n, const char *key)
{
    const nino_port *next = n->def ? nino_port_next(n->def, key) : NULL;
    nino_status st = NINO_OK;
    int at;
    nino_json *node = next ? nino_doc_node_json(e, n->id, &st) : NULL;
    return st || !next || find_input(node, next->key, &at) ? st : add_input(e, node, next);
}

// ---- choices ---------------------------------------------------------------------------------

// The values that the node has now, as the API form would hold them, with the new choice.
static nino_json_doc *values_with(nino_doc_edit *e, const nino_doc_node *n, const char *key,
                                  const char *json, nino_status *st)
{
    nino_buf b = { 0 };
    nino_json_doc *doc = NULL;
    nino_buf_addf(&b, "{\"%s\": %s", key, json);
    for (int i = 0; i < n->n_widgets; i++) {
        if (!strcmp(n->widgets[i].name, key))
            continue;
        nino_buf_adds(&b, ", ");
        nino_buf_add_json_string(&b, n->widgets[i].name, strlen(n->widgets[i].name));
        nino_buf_addf(&b, ": %s", n->widgets[i].json);
    }
    nino_buf_addc(&b, '}');
    *st = b.failed ? nino_doc_nomem(e->d, e->err)
                   : nino_json_parse(b.data, b.len, e->d->name, NULL, &doc, e->err);
    nino_buf_release(&b);
    return doc;
}

// widgets_values anew: what stays keeps its value, what is new has its default.
static void print_values(nino_buf *out, const nino_doc_node *n, const nino_json_doc *values)
{
    bool is_first = true;
    nino_buf_addc(out, '[');
    for (const nino_param *p = n->def->params; p->key; p++) {
        const nino_json *v = nino_json_get(values->root, p->key);
        const nino_doc_widget *w = nino_doc_widget_find(n, p->key);
        if (nino_input_presence(n->def, p->key, p->when, values->root) == NINO_ABSENT)
            continue;
        nino_buf_adds(out, is_first ? "" : ", ");
        is_first = false;
        if (!v) {
            nino_doc_print_default(out, p, 0);
            continue;
        }
        nino_json_write(out, values, v);
        if (w && w->control)
            nino_buf_addf(out, ", \"%s\"", w->control);
        else if (p->upload_slot)
            nino_buf_adds(out, ", \"image\"");
    }
    nino_buf_addc(out, ']');
}

// Is the input one of the class that the choice does not bring any more?
static bool is_gone(const nino_node_def *def, const char *name, const nino_json *values)
{
    bool is_known = false;
    for (const nino_param *p = def->params; p && p->key; p++)
        if (!strcmp(p->key, name)) {
            is_known = true;
            if (nino_input_presence(def, name, p->when, values) != NINO_ABSENT)
                return false;
        }
    const nino_port *port = nino_port_find(def, name);
    return port ? nino_input_presence(def, name, port->when, values) == NINO_ABSENT : is_known;
}

// The same in widgets_values_named, where the file has it.
static nino_status name_values(nino_doc_edit *e, nino_json *node, const nino_node_def *def,
                               const nino_json_doc *values)
{
    nino_json *names = nino_doc_get(node, "widgets_values_named");
    const bool is_named = names && names->type == NINO_JSON_OBJECT;
    nino_status st = NINO_OK;
    for (const nino_param *p = is_named ? def->params : NULL; p && p->key && !st; p++) {
        nino_json *old = nino_doc_get(names, p->key);
        const nino_json *v = nino_json_get(values->root, p->key);
        nino_buf b = { 0 };
        if (v)
            nino_json_write(&b, values, v);
        else
            nino_param_print(&b, p, &p->def);
        if (is_gone(def, p->key, values->root))
            st = old ? nino_json_remove(e->json, old, e->err) : NINO_OK;
        else if (b.failed)
            st = nino_doc_nomem(e->d, e->err);
        else if (nino_input_presence(def, p->key, p->when, values->root) != NINO_ABSENT)
            st = nino_json_set(e->json, names, p->key, b.data, e->err);
        nino_buf_release(&b);
    }
    return st;
}

static nino_status change_inputs(nino_doc_edit *e, nino_json *node, const nino_node_def *def,
                                 const nino_json *values)
{
    const nino_json *list = nino_ui_array(node, "inputs");
    nino_status st = NINO_OK;
    int at = 0;
    for (nino_json *v = list ? list->child : NULL, *next; v && !st; v = next) {
        const char *name = nino_json_str(nino_json_get(v, "name"));
        next = v->next;
        if (name && is_gone(def, name, values))
            st = nino_doc_drop_input(e, node, at);
        else
            at++;
    }
    for (const nino_port *p = def->inputs; p && p->key && !st; p++)
        if (p->when && !find_input(node, p->key, &at) &&
            nino_input_presence(def, p->key, p->when, values) == NINO_PRESENT)
            st = add_input(e, node, p);
    return st;
}

nino_status nino_doc_choose(nino_doc_edit *e, const nino_doc_node *n, const char *key,
                            const char *json)
{
    nino_status st = NINO_OK;
    nino_buf b = { 0 };
    nino_json *node = nino_doc_node_json(e, n->id, &st);
    nino_json_doc *values = st ? NULL : values_with(e, n, key, json, &st);
    if (values) {
        print_values(&b, n, values);
        st = b.failed ? nino_doc_nomem(e->d, e->err)
                      : nino_json_set(e->json, node, "widgets_values", b.data, e->err);
    }
    if (values && !st)
        st = name_values(e, node, n->def, values);
    if (values && !st)
        st = change_inputs(e, node, n->def, values->root);
    nino_buf_release(&b);
    nino_json_doc_destroy(&values);
    return st;
}
