// Changes of nodes: adding and deleting, place and look, values.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/num.h"
#include "core/document/doc.h"
#include "core/node/param.h"

typedef struct change { // what is done to each of several nodes
    nino_status (*fn)(nino_doc_edit *e, nino_json *node, const struct change *c);
    double x, y;
    int64_t number;
    bool flag;
    const char *key, *text[2];
} change;

static const char *plural(char name[80], const char *verb, const char *title, size_t n)
{
    if (n == 1)
        snprintf(name, 80, "%s %.50s", verb, title);
    else
        snprintf(name, 80, "%s %zu nodes", verb, n);
    return name;
}

// The ends of a subgraph are no nodes of the file.
static nino_json *end_json(nino_doc_edit *e, const char *id)
{
    static const char *const keys[2] = { "inputNode", "outputNode" };
    for (int i = 0; i < 2 && !e->is_root; i++) {
        nino_json *end = nino_doc_get(e->scope, keys[i]);
        const char *own = nino_ui_id(nino_json_get(end, "id"));
        if (end && own && !strcmp(own, id))
            return end;
    }
    return NULL;
}

static nino_status change_nodes(nino_document *d, const char *const *ids, size_t n, const change *c,
                                const char *verb, nino_error *err)
{
    nino_doc_edit e;
    char name[80];
    const int first = n ? nino_document_find(d, ids[0]) : -1;
    const nino_doc_node *node = nino_document_node(d, first);
    nino_status st = nino_doc_edit_begin(&e, d, err);
    if (st)
        return st;
    for (size_t i = 0; i < n && !st; i++) {
        nino_json *json = end_json(&e, ids[i]);
        if (!json)
            json = nino_doc_node_json(&e, ids[i], &st);
        if (!st)
            st = c->fn(&e, json, c);
    }
    return nino_doc_edit_commit(&e, st, NULL, plural(name, verb, node ? node->title : "", n));
}

// ---- place and look --------------------------------------------------------------------------

static nino_status shift_box(nino_doc_edit *e, const nino_json *box, double dx, double dy)
{
    const double by[2] = { dx, dy };
    nino_status st = NINO_OK;
    for (uint32_t i = 0; i < 2 && !st; i++) {
        nino_json *v = (nino_json *) nino_json_at(box, i);
        double old = 0;
        nino_buf b = { 0 };
        if (!v || !nino_json_double(v, &old) || by[i] == 0)
            continue;
        nino_doc_print_number(&b, old + by[i]);
        st =
            b.failed ? nino_doc_nomem(e->d, e->err) : nino_json_replace(e->json, v, b.data, e->err);
        nino_buf_release(&b);
    }
    return st;
}

static nino_status shift(nino_doc_edit *e, nino_json *node, const change *c)
{
    double x = 0, y = 0;
    const nino_json *box = nino_ui_array(node, "bounding");
    if (box && !nino_json_get(node, "type"))
        return shift_box(e, box, c->x, c->y);
    nino_doc_pair(nino_json_get(node, "pos"), &x, &y);
    return nino_doc_set_pair(e, node, "pos", x + c->x, y + c->y);
}

nino_status nino_document_move(nino_document *d, const char *const *ids, size_t n, double dx,
                               double dy, nino_error *err)
{
    const change c = { .fn = shift, .x = dx, .y = dy };
    return change_nodes(d, ids, n, &c, "Move", err);
}

static nino_status set_size(nino_doc_edit *e, nino_json *node, const change *c)
{
    return nino_doc_set_pair(e, node, "size", c->x, c->y);
}

nino_status nino_document_resize(nino_document *d, const char *id, double width, double height,
                                 nino_error *err)
{
    const change c = { .fn = set_size, .x = width, .y = height };
    return change_nodes(d, &id, 1, &c, "Resize", err);
}

static nino_status set_mode(nino_doc_edit *e, nino_json *node, const change *c)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRId64, c->number);
    return nino_json_set(e->json, node, "mode", text, e->err);
}

nino_status nino_document_set_mode(nino_document *d, const char *const *ids, size_t n, int mode,
                                   nino_error *err)
{
    const change c = { .fn = set_mode, .number = mode };
    return change_nodes(d, ids, n, &c,
                        mode == NINO_MODE_MUTED      ? "Mute"
                        : mode == NINO_MODE_BYPASSED ? "Bypass"
                                                     : "Enable",
                        err);
}

static nino_status set_flag(nino_doc_edit *e, nino_json *node, const change *c)
{
    nino_status st = NINO_OK;
    nino_json *flags = nino_doc_need(e, node, "flags", "{}", &st);
    if (st || (!c->flag && !nino_json_get(flags, c->key)))
        return st;
    return nino_json_set(e->json, flags, c->key, c->flag ? "true" : "false", e->err);
}

nino_status nino_document_set_collapsed(nino_document *d, const char *const *ids, size_t n,
                                        bool is_collapsed, nino_error *err)
{
    const change c = { .fn = set_flag, .flag = is_collapsed, .key = "collapsed" };
    return change_nodes(d, ids, n, &c, is_collapsed ? "Collapse" : "Expand", err);
}

nino_status nino_document_set_pinned(nino_document *d, const char *const *ids, size_t n,
                                     bool is_pinned, nino_error *err)
{
    const change c = { .fn = set_flag, .flag = is_pinned, .key = "pinned" };
    return change_nodes(d, ids, n, &c, is_pinned ? "Pin" : "Unpin", err);
}

static nino_status set_or_drop(nino_doc_edit *e, nino_json *node, const char *key, const char *text)
{
    nino_json *old = nino_doc_get(node, key);
    if (text)
        return nino_doc_set_string(e, node, key, text);
    return old ? nino_json_remove(e->json, old, e->err) : NINO_OK;
}

static nino_status set_title(nino_doc_edit *e, nino_json *node, const change *c)
{
    return set_or_drop(e, node, "title", c->text[0]);
}

nino_status nino_document_set_title(nino_document *d, const char *id, const char *title,
                                    nino_error *err)
{
    const change c = { .fn = set_title, .text = { title } };
    return change_nodes(d, &id, 1, &c, "Rename", err);
}

static nino_status set_color(nino_doc_edit *e, nino_json *node, const change *c)
{
    const nino_status st = set_or_drop(e, node, "color", c->text[0]);
    return st ? st : set_or_drop(e, node, "bgcolor", c->text[1]);
}

nino_status nino_document_set_color(nino_document *d, const char *const *ids, size_t n,
                                    const char *color, const char *bgcolor, nino_error *err)
{
    const change c = { .fn = set_color, .text = { color, bgcolor } };
    return change_nodes(d, ids, n, &c, "Colour", err);
}

// ---- adding and deleting ---------------------------------------------------------------------

static int64_t next_order(const nino_json *nodes)
{
    int64_t most = -1, v = 0;
    for (const nino_json *n = nodes ? nodes->child : NULL; n; n = n->next)
        if (nino_json_i64(nino_json_get(n, "order"), &v) && v > most && v < INT32_MAX)
            most = v;
    return most + 1;
}

static void doc_node_print_ports(nino_buf *out, const nino_json *list, bool are_inputs)
{
    nino_buf_addc(out, '[');
    for (const nino_json *v = list ? list->child : NULL; v; v = v->next) {
        const char *name = nino_json_str(nino_json_get(v, "name"));
        const char *type = nino_json_str(nino_json_get(v, "type"));
        const char *label = nino_json_str(nino_json_get(v, "label"));
        nino_buf_adds(out, v == list->child ? "{\"name\": " : ", {\"name\": ");
        nino_buf_add_json_string(out, name ? name : "", name ? strlen(name) : 0);
        nino_buf_adds(out, ", \"type\": ");
        nino_buf_add_json_string(out, type ? type : "*", type ? strlen(type) : 1);
        if (label) {
            nino_buf_adds(out, ", \"label\": ");
            nino_buf_add_json_string(out, label, strlen(label));
        }
        nino_buf_adds(out, are_inputs ? ", \"link\": null}" : ", \"links\": null}");
    }
    nino_buf_addc(out, ']');
}

// An instance of a subgraph of the file; false: there is none of this id.
static bool doc_node_print_instance(const nino_doc_edit *e, nino_buf *out, const char *type,
                                    const char *id, double x, double y, int64_t order)
{
    const nino_json *def = nino_doc_find_id(
        nino_ui_array(nino_json_get(e->json->root, "definitions"), "subgraphs"), type);
    const nino_json *in = nino_ui_array(def, "inputs"), *made = nino_ui_array(def, "outputs");
    if (!def)
        return false;
    const uint32_t rows = in && made && in->count > made->count ? in->count
                          : made                                ? made->count
                                                                : 1;
    nino_buf_addf(out, "{\"id\": %s, \"type\": ", id);
    nino_buf_add_json_string(out, type, strlen(type));
    nino_buf_adds(out, ", \"pos\": [");
    nino_doc_print_number(out, x);
    nino_buf_adds(out, ", ");
    nino_doc_print_number(out, y);
    nino_buf_addf(out,
                  "], \"size\": [270, %" PRIu32 "], \"flags\": {}, \"order\": %" PRId64
                  ", \"mode\": 0, \"inputs\": ",
                  20 * rows + 26, order);
    doc_node_print_ports(out, in, true);
    nino_buf_adds(out, ", \"outputs\": ");
    doc_node_print_ports(out, made, false);
    nino_buf_adds(out, ", \"properties\": {}, \"widgets_values\": []}");
    return true;
}

nino_status nino_document_add(nino_document *d, const char *class_type, double x, double y,
                              char id[32], nino_error *err)
{
    const nino_node_def *def = nino_node_find(class_type, NULL);
    nino_doc_edit e;
    nino_buf b = { 0 };
    int64_t number = 0;
    char own[32], name[80];
    nino_status st = nino_doc_edit_begin(&e, d, err);
    if (st)
        return st;
    nino_json *nodes = nino_doc_get(e.scope, "nodes");
    const int64_t order = next_order(nodes);
    st = nino_doc_next_id(&e, "Node", &number);
    snprintf(own, sizeof(own), "%" PRId64, number);
    if (def)
        nino_doc_print_node(&b, def, class_type, own, x, y, order);
    else if (!st && !doc_node_print_instance(&e, &b, class_type, own, x, y, order))
        st = nino_fail(err, NINO_ERR_UNKNOWN, class_type, "no such class of nodes");
    if (!st)
        st = b.failed ? nino_doc_nomem(d, err) : nino_json_append(e.json, nodes, b.data, err);
    nino_buf_release(&b);
    snprintf(name, sizeof(name), "Add %.60s", def ? def->title : "subgraph");
    st = nino_doc_edit_commit(&e, st, NULL, name);
    if (!st && id)
        memcpy(id, own, sizeof(own));
    return st;
}

static nino_status delete_node(nino_doc_edit *e, nino_json *node, const change *c)
{
    (void) c;
    if (!nino_json_get(node, "type"))
        return nino_fail(e->err, NINO_ERR_ARG, "subgraph", "its inputs and outputs stay");
    const char *id = nino_ui_id(nino_json_get(node, "id"));
    const nino_status st = nino_doc_cut_node(e, id);
    return st ? st : nino_json_remove(e->json, node, e->err);
}

nino_status nino_document_delete(nino_document *d, const char *const *ids, size_t n,
                                 nino_error *err)
{
    const change c = { .fn = delete_node };
    return change_nodes(d, ids, n, &c, "Delete", err);
}

// ---- values ----------------------------------------------------------------------------------

static nino_status set_first(nino_doc_edit *e, const char *id, uint32_t at, const char *json)
{
    nino_status st = NINO_OK;
    nino_json *node = nino_doc_node_json(e, id, &st);
    if (!st && !nino_ui_array(node, "widgets_values")) // none, or none that has places
        st = nino_json_set(e->json, node, "widgets_values", "[]", e->err);
    if (st)
        return st;
    nino_json *values = nino_doc_get(node, "widgets_values");
    nino_json *old = (nino_json *) nino_json_at(values, at);
    return old ? nino_json_replace(e->json, old, json, e->err)
               : nino_json_append(e->json, values, json, e->err);
}

// By the importer's rules: which entry a widget has depends on the version that wrote the file.
static nino_status set_widget(nino_doc_edit *e, const char *id, const char *widget,
                              const char *json, bool is_control)
{
    const nino_doc_state *s = e->d->state;
    nino_error mine = { 0 }, *err = e->err ? e->err : &mine;
    nino_ui *ui = nino_ui_create(e->json, e->json->root, e->d->name, err);
    if (!ui)
        return err->code;
    int32_t i = nino_ui_get(ui, NINO_UI_IS_NODE, s->scope, id);
    nino_json *kept = i >= 0 ? nino_doc_follow_proxy(ui, &i, &widget) : NULL;
    const nino_status st = i < 0 ? nino_fail(err, NINO_ERR_UNKNOWN, id, "no such node")
                           : kept && !is_control
                               ? nino_ui_write_value(ui, kept, json, err)
                               : nino_ui_set_widget(ui, i, widget, json, is_control, err);
    nino_ui_destroy(&ui);
    return st;
}

static nino_status doc_node_set_value(nino_document *d, const char *id, const char *widget,
                                      const char *json, bool is_control, nino_error *err)
{
    const nino_doc_node *n = nino_document_node(d, nino_document_find(d, id));
    const nino_doc_widget *w = n ? nino_doc_widget_find(n, widget) : NULL;
    char key[512], name[80];
    nino_doc_edit e;
    if (!w)
        return nino_fail(err, NINO_ERR_UNKNOWN, widget, "the node has no such value");
    if (is_control && !w->control)
        return nino_fail(err, NINO_ERR_ARG, widget, "it stays the same after a run");
    nino_status st = nino_doc_edit_begin(&e, d, err);
    if (st)
        return st;
    if (n->kind == NINO_DOC_NOTE || n->kind == NINO_DOC_PRIMITIVE)
        st = set_first(&e, id, is_control, json);
    else if (n->kind == NINO_DOC_NODE && !is_control && nino_param_brings(n->def, widget))
        st = nino_doc_choose(&e, n, widget, json);
    else
        st = set_widget(&e, id, widget, json, is_control);
    const int len = snprintf(key, sizeof(key), "%d:%s.%s%s", d->n_path, id, widget,
                             is_control ? " control" : "");
    snprintf(name, sizeof(name), "Set %.60s", widget);
    return nino_doc_edit_commit(&e, st, len < (int) sizeof(key) ? key : NULL, name);
}

nino_status nino_document_set_json(nino_document *d, const char *id, const char *widget,
                                   const char *json, nino_error *err)
{
    return doc_node_set_value(d, id, widget, json, false, err);
}

nino_status nino_document_set_control(nino_document *d, const char *id, const char *widget,
                                      const char *control, nino_error *err)
{
    char json[32];
    if (!nino_ui_is_control(control))
        return nino_fail(err, NINO_ERR_ARG, control, "not a choice");
    snprintf(json, sizeof(json), "\"%s\"", control);
    return doc_node_set_value(d, id, widget, json, true, err);
}

// The JSON of what a person typed, by the node table or by the kind of the value that is there.
static nino_status json_of(const nino_doc_widget *w, const char *text, nino_buf *out,
                           nino_error *err)
{
    nino_default v;
    int64_t i = 0;
    double f = 0;
    nino_status st = NINO_OK;
    const bool is_bool = !strcmp(text, "true") || !strcmp(text, "false");
    if (w->param) {
        nino_arena *a = nino_arena_create();
        st = a ? nino_param_from_text(w->param, text, a, &v, err)
               : nino_fail(err, NINO_ERR_NOMEM, w->name, "out of memory");
        if (!st && nino_param_is_random(w->param, text))
            nino_buf_adds(out, "-1");
        else if (!st)
            nino_param_print(out, w->param, &v);
        nino_arena_destroy(&a);
        return st;
    }
    if ((w->kind == NINO_WIDGET_INT && !nino_parse_i64(text, &i)) ||
        (w->kind == NINO_WIDGET_FLOAT && !nino_parse_double(text, &f)) ||
        (w->kind == NINO_WIDGET_BOOL && !is_bool))
        return nino_fail_kind(err, NINO_ERR_FORMAT, "value", w->name, "\"%.60s\" does not fit",
                              text);
    if (w->kind == NINO_WIDGET_INT || w->kind == NINO_WIDGET_FLOAT || w->kind == NINO_WIDGET_BOOL ||
        w->kind == NINO_WIDGET_OTHER)
        nino_buf_adds(out, text);
    else
        nino_buf_add_json_string(out, text, strlen(text));
    return NINO_OK;
}

nino_status nino_document_set_text(nino_document *d, const char *id, const char *widget,
                                   const char *text, nino_error *err)
{
    const nino_doc_node *n = nino_document_node(d, nino_document_find(d, id));
    const nino_doc_widget *w = n ? nino_doc_widget_find(n, widget) : NULL;
    nino_buf json = { 0 };
    if (!w)
        return nino_fail(err, NINO_ERR_UNKNOWN, widget, "the node has no such value");
    nino_status st = json_of(w, text, &json, err);
    if (!st && json.failed)
        st = nino_doc_nomem(d, err);
    if (!st)
        st = doc_node_set_value(d, id, widget, json.data, false, err);
    nino_buf_release(&json);
    return st;
}

// ---- after a run -----------------------------------------------------------------------------

static bool next_seed(const nino_doc_widget *w, uint64_t random, char text[32])
{
    const bool is_signed = w->param && w->param->type == NINO_INT;
    uint64_t v = 0, lo = 0, hi = w->param ? UINT64_MAX : (uint64_t) 1 << 50;
    if (is_signed) {
        lo = w->param->min.i > 0 ? (uint64_t) w->param->min.i : 0;
        hi = w->param->max.i > 0 ? (uint64_t) w->param->max.i : 0;
    }
    if (!nino_parse_u64(w->text, &v))
        return false;
    if (!strcmp(w->control, "increment"))
        v = v < hi ? v + 1 : hi;
    else if (!strcmp(w->control, "increment-wrap"))
        v = v < hi ? v + 1 : lo;
    else if (!strcmp(w->control, "decrement"))
        v = v > lo ? v - 1 : lo;
    else if (!strcmp(w->control, "randomize"))
        v = hi - lo == UINT64_MAX ? random : lo + random % (hi - lo + 1);
    else
        return false;
    snprintf(text, 32, "%" PRIu64, v);
    return strcmp(text, w->text) != 0;
}

nino_status nino_document_advance(nino_document *d, uint64_t random, nino_error *err)
{
    nino_status st = NINO_OK;
    char text[32];
    nino_document_begin(d, "New seeds");
    for (int i = 0; i < d->state->n_nodes && !st; i++)
        for (int k = 0; k < d->state->nodes[i].n_widgets && !st; k++) {
            const nino_doc_node *n = &d->state->nodes[i];
            const nino_doc_widget *w = &n->widgets[k];
            random = random * 6364136223846793005u + 1442695040888963407u;
            if (w->control && !w->is_linked && next_seed(w, random ^ random >> 32, text))
                st = doc_node_set_value(d, n->id, w->name, text, false, err);
        }
    if (st) {
        nino_document_cancel(d);
        return st;
    }
    return nino_document_end(d, err);
}
