// Ports of a subgraph: renamed, added, taken away, with every instance of it. A new name is the
// label, the name stays what the parts of the file find each other by. Rules:
// Comfy-Org/ComfyUI_frontend src/lib/litegraph/src/LGraph.ts (Subgraph), SubgraphNode.ts.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/document/doc.h"

typedef struct port_edit {
    nino_doc_edit e;
    nino_json *definition; // of the subgraph, in the copy
    bool is_output;        // of the subgraph
    uint32_t k, count;     // which of how many
    const char *name, *text;
} port_edit;

static const nino_json *ports_of(const nino_json *owner, bool is_output)
{
    return nino_ui_array(owner, is_output ? "outputs" : "inputs");
}

static const char *doc_port_name_of(const nino_json *port)
{
    const char *s = nino_json_str(nino_json_get(port, "name"));
    return s ? s : "";
}

static int find_name(const nino_json *list, const char *name)
{
    int i = 0;
    for (const nino_json *v = list ? list->child : NULL; v; v = v->next, i++)
        if (!strcmp(doc_port_name_of(v), name))
            return i;
    return -1;
}

static bool is_end(const nino_doc_node *n)
{
    return n->kind == NINO_DOC_INPUT || n->kind == NINO_DOC_OUTPUT;
}

// ---- instances ---------------------------------------------------------------------------------

nino_status nino_doc_each_instance(nino_doc_edit *e, const nino_json *definition,
                                   nino_status (*fn)(nino_doc_edit *at, nino_json *node,
                                                     const void *arg),
                                   const void *arg)
{
    const char *id = nino_ui_id(nino_json_get(definition, "id"));
    const nino_json *defs = nino_ui_array(nino_json_get(e->json->root, "definitions"), "subgraphs");
    nino_status st = NINO_OK;
    nino_doc_edit at = *e;
    at.scope = e->json->root;
    at.is_root = true;
    for (nino_json *next = defs ? defs->child : NULL; at.scope && id && !st;) {
        const nino_json *nodes = nino_ui_array(at.scope, "nodes");
        for (nino_json *v = nodes ? nodes->child : NULL; v && !st; v = v->next) {
            const char *type = nino_json_str(nino_json_get(v, "type"));
            if (type && !strcmp(type, id))
                st = fn(&at, v, arg);
        }
        at.scope = next;
        at.is_root = false;
        next = next ? next->next : NULL;
    }
    return st;
}

// Where an instance has the port: an input by name, else at the same place where there are as many.
static nino_json *port_of(const nino_json *node, const port_edit *p, int *at)
{
    const nino_json *list = ports_of(node, p->is_output);
    const bool same_place = list && list->count == p->count;
    *at = p->is_output && same_place ? (int) p->k : find_name(list, p->name);
    if (*at < 0 && same_place)
        *at = (int) p->k;
    return *at < 0 ? NULL : (nino_json *) nino_json_at(list, (uint32_t) *at);
}

// Begins a change of a port of an instance, or of one of the ends of the subgraph that is shown.
static nino_status doc_port_begin(port_edit *p, nino_document *d, int node, bool is_output,
                                  int slot, nino_error *err)
{
    const nino_doc_node *n = nino_document_node(d, node);
    const int count = !n ? 0 : is_output ? n->n_outputs : n->n_inputs;
    int k = slot;
    if (!n || slot < 0 || slot >= count || (!is_end(n) && n->kind != NINO_DOC_SUBGRAPH))
        return nino_fail_kind(err, NINO_ERR_ARG, "slot", n ? n->title : d->name,
                              "a subgraph has no such port");
    nino_status st = nino_doc_edit_begin(&p->e, d, err);
    if (st)
        return st;
    const nino_json *defs =
        nino_ui_array(nino_json_get(p->e.json->root, "definitions"), "subgraphs");
    p->definition = is_end(n) ? p->e.scope : nino_doc_find_id(defs, n->type);
    p->is_output = is_end(n) ? !is_output : is_output;
    const char *name = is_output ? n->outputs[slot].name : n->inputs[slot].name;
    const nino_json *list = ports_of(p->definition, p->is_output);
    if (!p->definition)
        st = nino_fail(err, NINO_ERR_UNSUPPORTED, n->title, "a group node keeps its ports");
    else if (!list || (int) list->count != count || (!p->is_output && find_name(list, name) >= 0))
        k = find_name(list, name);
    if (!st && (!list || k < 0))
        st = nino_fail_kind(err, NINO_ERR_ARG, "slot", n->title, "the subgraph has no such port");
    if (st)
        return nino_doc_edit_commit(&p->e, st, NULL, "");
    p->k = (uint32_t) k;
    p->count = list->count;
    p->name = doc_port_name_of(nino_json_at(list, p->k));
    return NINO_OK;
}

static nino_status commit(port_edit *p, nino_status st, const char *verb)
{
    char name[80];
    snprintf(name, sizeof(name), "%s %s %.50s", verb, p->is_output ? "output" : "input", p->name);
    return nino_doc_edit_commit(&p->e, st, NULL, name);
}

// ---- renaming ----------------------------------------------------------------------------------

static nino_status set_label(nino_doc_edit *e, nino_json *port, const char *label)
{
    nino_json *old = nino_doc_get(port, "label");
    if (*label)
        return nino_doc_set_string(e, port, "label", label);
    return old ? nino_json_remove(e->json, old, e->err) : NINO_OK;
}

static nino_status rename_at(nino_doc_edit *e, nino_json *node, const void *arg)
{
    const port_edit *p = arg;
    int at = 0;
    nino_json *port = port_of(node, p, &at);
    return port ? set_label(e, port, p->text) : NINO_OK;
}

nino_status nino_document_rename_port(nino_document *d, int node, bool is_output, int slot,
                                      const char *label, nino_error *err)
{
    port_edit p = { .text = label ? label : "" };
    nino_status st = doc_port_begin(&p, d, node, is_output, slot, err);
    if (st)
        return st;
    st = set_label(&p.e, (nino_json *) nino_json_at(ports_of(p.definition, p.is_output), p.k),
                   p.text);
    if (!st)
        st = nino_doc_each_instance(&p.e, p.definition, rename_at, &p);
    return commit(&p, st, "Rename");
}

// ---- taking away -------------------------------------------------------------------------------

static nino_status set_slot(nino_doc_edit *e, nino_json *link, bool is_origin, int slot)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", slot);
    if (link->type == NINO_JSON_OBJECT)
        return nino_json_set(e->json, link, is_origin ? "origin_slot" : "target_slot", text,
                             e->err);
    return nino_json_replace(e->json, (nino_json *) nino_json_at(link, is_origin ? 2 : 4), text,
                             e->err);
}

// The links of a slot go, those of the slots behind it move up.
static nino_status drop_slot(nino_doc_edit *e, const char *id, bool is_origin, int slot)
{
    const nino_json *list = nino_ui_array(e->scope, "links");
    nino_status st = NINO_OK;
    nino_json *next;
    nino_doc_ends l;
    for (nino_json *v = list ? list->child : NULL; v && !st; v = next) {
        next = v->next;
        if (!nino_doc_link_ends(v, &l) || strcmp(is_origin ? l.from : l.to, id) != 0)
            continue;
        const int at = is_origin ? l.from_slot : l.to_slot;
        if (at == slot)
            st = nino_doc_cut(e, v);
        else if (at > slot)
            st = set_slot(e, v, is_origin, at - 1);
    }
    return st;
}

// The port's entry goes; ports of nodes may say their own number.
static nino_status drop_port(nino_doc_edit *e, nino_json *port, int at)
{
    nino_status st = NINO_OK;
    char text[16];
    for (nino_json *v = port->next; v && !st; v = v->next, at++) {
        snprintf(text, sizeof(text), "%d", at);
        if (nino_json_get(v, "slot_index"))
            st = nino_json_set(e->json, v, "slot_index", text, e->err);
    }
    return st ? st : nino_json_remove(e->json, port, e->err);
}

nino_status nino_doc_drop_input(nino_doc_edit *e, nino_json *node, int at)
{
    nino_json *port = (nino_json *) nino_json_at(ports_of(node, false), (uint32_t) at);
    const char *id = nino_ui_id(nino_json_get(node, "id"));
    const nino_status st = port && id ? drop_slot(e, id, false, at) : NINO_OK;
    return st || !port ? st : drop_port(e, port, at);
}

// How many of the first n ports have a value on the instance: its place in widgets_values.
static uint32_t doc_port_count_values(const nino_json *ports, uint32_t n)
{
    uint32_t count = 0;
    for (const nino_json *v = ports ? ports->child : NULL; v && n; v = v->next, n--)
        count += nino_json_get(v, "widget") != NULL;
    return count;
}

// What the instance kept for a port that goes, and that it showed it.
static nino_status drop_value(nino_doc_edit *e, nino_json *node, const nino_json *port, int at)
{
    const nino_json *values = nino_json_get(node, "widgets_values");
    const nino_json *shown = nino_ui_array(nino_json_get(node, "properties"), "proxyWidgets");
    const char *name = doc_port_name_of(port);
    const nino_json *own = NULL;
    if (!nino_json_get(port, "widget"))
        return NINO_OK;
    if (values && values->type == NINO_JSON_OBJECT)
        own = nino_json_get(values, name);
    else if (!shown || !shown->count)
        own = nino_json_at(values, doc_port_count_values(ports_of(node, false), (uint32_t) at));
    const nino_status st = own ? nino_json_remove(e->json, (nino_json *) own, e->err) : NINO_OK;
    return st ? st : nino_doc_hide_value(e, node, "-1", name);
}

static nino_status drop_at(nino_doc_edit *e, nino_json *node, const void *arg)
{
    const port_edit *p = arg;
    int at = 0;
    nino_json *port = port_of(node, p, &at);
    const char *id = nino_ui_id(nino_json_get(node, "id"));
    const char *link_id = nino_ui_id(nino_json_get(port, "link"));
    nino_json *link = link_id ? nino_doc_link_json(e, link_id) : NULL; // its slot may be wrong
    nino_status st = NINO_OK;
    if (!port || !id)
        return NINO_OK;
    if (link)
        st = nino_doc_cut(e, link);
    if (!st)
        st = drop_slot(e, id, p->is_output, at);
    if (!st && !p->is_output)
        st = drop_value(e, node, port, at);
    return st ? st : drop_port(e, port, at);
}

nino_status nino_document_remove_port(nino_document *d, int node, bool is_output, int slot,
                                      nino_error *err)
{
    port_edit p = { 0 };
    nino_status st = doc_port_begin(&p, d, node, is_output, slot, err);
    if (st)
        return st;
    const char *key = p.is_output ? "outputNode" : "inputNode";
    const char *end = nino_ui_id(nino_json_get(nino_json_get(p.definition, key), "id"));
    nino_doc_edit in = p.e;
    in.scope = p.definition;
    in.is_root = false;
    end = end ? end : p.is_output ? "-20" : "-10";
    st = drop_slot(&in, end, !p.is_output, (int) p.k);
    if (!st)
        st = nino_doc_each_instance(&p.e, p.definition, drop_at, &p);
    if (!st)
        st = drop_port(&in, (nino_json *) nino_json_at(ports_of(p.definition, p.is_output), p.k),
                       (int) p.k);
    return commit(&p, st, "Remove");
}

// ---- adding ------------------------------------------------------------------------------------

typedef struct new_port {
    char name[80];
    const char *type, *value; // value: JSON of the widget behind it, or NULL
    bool is_output, has_widget;
} new_port;

static void name_it(new_port *p, const nino_json *list, const char *name)
{
    for (int k = 0; k < 10000; k++) {
        snprintf(p->name, sizeof(p->name), k ? "%.60s_%d" : "%.60s", name, k);
        if (find_name(list, p->name) < 0)
            return;
    }
}

static nino_status append_port(nino_doc_edit *e, nino_json *owner, const new_port *p,
                               const char *head, const char *tail)
{
    nino_status st = NINO_OK;
    nino_buf b = { 0 };
    nino_json *list = nino_doc_need(e, owner, p->is_output ? "outputs" : "inputs", "[]", &st);
    nino_buf_addf(&b, "{%s\"name\": ", head);
    nino_buf_add_json_string(&b, p->name, strlen(p->name));
    nino_buf_adds(&b, ", \"type\": ");
    nino_buf_add_json_string(&b, p->type, strlen(p->type));
    nino_buf_addf(&b, "%s}", tail);
    if (!st)
        st = b.failed ? nino_doc_nomem(e->d, e->err)
                      : nino_json_append(e->json, list, b.data, e->err);
    nino_buf_release(&b);
    return st;
}

// The value that the inner node has now stands on the instance too, if all before it do.
static nino_status doc_port_add_value(nino_doc_edit *e, nino_json *node, const new_port *p)
{
    nino_status st = NINO_OK;
    const nino_json *list = ports_of(node, false);
    const nino_json *shown = nino_ui_array(nino_json_get(node, "properties"), "proxyWidgets");
    const bool is_shown = shown && shown->count;
    const uint32_t at = is_shown ? shown->count : doc_port_count_values(list, list->count - 1);
    nino_json *values = nino_doc_need(e, node, "widgets_values", "[]", &st);
    if (st || !p->value)
        return st;
    if (values->type == NINO_JSON_OBJECT)
        return nino_json_set(e->json, values, p->name, p->value, e->err);
    while (is_shown && !st && values->count < at)
        st = nino_json_append(e->json, values, "null", e->err);
    nino_json *old = (nino_json *) nino_json_at(values, at);
    if (st)
        return st;
    if (old)
        return nino_json_replace(e->json, old, p->value, e->err);
    return values->count == at ? nino_json_append(e->json, values, p->value, e->err) : NINO_OK;
}

static nino_status add_at(nino_doc_edit *e, nino_json *node, const void *arg)
{
    const new_port *p = arg;
    nino_buf tail = { 0 };
    const nino_json *shown = nino_ui_array(nino_json_get(node, "properties"), "proxyWidgets");
    if (p->has_widget) {
        nino_buf_adds(&tail, ", \"widget\": {\"name\": ");
        nino_buf_add_json_string(&tail, p->name, strlen(p->name));
        nino_buf_addc(&tail, '}');
    }
    nino_buf_adds(&tail, p->is_output ? ", \"links\": []" : ", \"link\": null");
    nino_status st =
        tail.failed ? nino_doc_nomem(e->d, e->err) : append_port(e, node, p, "", tail.data);
    nino_buf_release(&tail);
    if (!st && p->has_widget)
        st = doc_port_add_value(e, node, p);
    if (!st && p->has_widget && shown && shown->count)
        st = nino_doc_show_value(e, (nino_json *) shown, "-1", p->name);
    return st;
}

static nino_status add_port(nino_document *d, const nino_doc_node *n, int slot, new_port *p,
                            nino_error *err)
{
    const nino_doc_input *in = p->is_output ? NULL : &n->inputs[slot];
    const nino_doc_widget *w = in && in->widget ? nino_doc_widget_find(n, in->widget) : NULL;
    const char *name = in ? in->name : n->outputs[slot].name;
    nino_doc_edit e;
    char uuid[37], head[64], step[80];
    nino_status st = nino_doc_make_uuid(d, uuid, err);
    if (!st)
        st = nino_doc_edit_begin(&e, d, err);
    if (st)
        return st;
    p->type = in ? in->type : n->outputs[slot].type;
    p->has_widget = in && in->widget;
    p->value = w ? w->json : NULL;
    name_it(p, ports_of(e.scope, p->is_output), *name ? name : p->type);
    snprintf(head, sizeof(head), "\"id\": \"%s\", ", uuid);
    snprintf(step, sizeof(step), "Add %s %.50s", p->is_output ? "output" : "input", p->name);
    nino_document_begin(d, step);
    st = append_port(&e, e.scope, p, head, ", \"linkIds\": []");
    if (!st)
        st = nino_doc_each_instance(&e, e.scope, add_at, p);
    return nino_doc_edit_commit(&e, st, NULL, step);
}

nino_status nino_document_add_port(nino_document *d, int node, bool is_output, int slot,
                                   nino_error *err)
{
    const nino_doc_node *n = nino_document_node(d, node);
    const int count = !n ? 0 : is_output ? n->n_outputs : n->n_inputs;
    new_port p = { .is_output = is_output };
    int end = 0;
    if (!d->n_path)
        return nino_fail(err, NINO_ERR_ARG, d->name, "only a subgraph has ports");
    if (!n || slot < 0 || slot >= count)
        return nino_fail_kind(err, NINO_ERR_ARG, "slot", d->name, "there is no such slot");
    nino_status st = add_port(d, n, slot, &p, err);
    while (!st && end < d->state->n_nodes - 1 &&
           d->state->nodes[end].kind != (is_output ? NINO_DOC_OUTPUT : NINO_DOC_INPUT))
        end++;
    const nino_doc_node *to = &d->state->nodes[end];
    if (!st)
        st = is_output ? nino_document_connect(d, node, slot, end, to->n_inputs - 1, err)
                       : nino_document_connect(d, end, to->n_outputs - 1, node, slot, err);
    if (st) {
        nino_document_cancel(d);
        return st;
    }
    return nino_document_end(d, err);
}
