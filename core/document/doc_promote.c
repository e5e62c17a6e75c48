// Values of inner nodes that instances of a subgraph show as their own: shown and hidden again. An
// instance that lists any also lists those of its own inputs, under the node -1: what it does not
// list is not shown. Rules: Comfy-Org/ComfyUI_frontend src/core/graph/subgraph/proxyWidgetUtils.ts,
// proxyWidget.ts.
#include <string.h>

#include "core/base/error.h"
#include "core/document/doc.h"

typedef struct shown_value {
    const char *id, *widget;
} shown_value;

nino_status nino_doc_show_value(nino_doc_edit *e, nino_json *list, const char *id,
                                const char *widget)
{
    nino_buf b = { 0 };
    nino_buf_adds(&b, "[");
    nino_buf_add_json_string(&b, id, strlen(id));
    nino_buf_adds(&b, ", ");
    nino_buf_add_json_string(&b, widget, strlen(widget));
    nino_buf_adds(&b, "]");
    const nino_status st =
        b.failed ? nino_doc_nomem(e->d, e->err) : nino_json_append(e->json, list, b.data, e->err);
    nino_buf_release(&b);
    return st;
}

static nino_json *find_entry(const nino_json *list, const shown_value *want)
{
    for (nino_json *v = list ? list->child : NULL; v; v = v->next) {
        const char *id = nino_ui_id(nino_json_at(v, 0)), *w = nino_json_str(nino_json_at(v, 1));
        if (id && w && !strcmp(id, want->id) && !strcmp(w, want->widget))
            return v;
    }
    return NULL;
}

static nino_status show_at(nino_doc_edit *e, nino_json *node, const void *arg)
{
    const shown_value *want = arg;
    nino_status st = NINO_OK;
    nino_json *properties = nino_doc_need(e, node, "properties", "{}", &st);
    nino_json *list = nino_doc_need(e, properties, "proxyWidgets", "[]", &st);
    const nino_json *inputs = nino_ui_array(node, "inputs");
    if (st || find_entry(list, want))
        return st;
    if (list->type != NINO_JSON_ARRAY)
        return nino_fail(e->err, NINO_ERR_UNSUPPORTED, want->widget,
                         "the file says in an older way what the subgraph shows");
    for (const nino_json *v = inputs && !list->count ? inputs->child : NULL; v && !st;
         v = v->next) {
        const char *name = nino_json_str(nino_json_get(v, "name"));
        if (name && nino_json_get(v, "widget"))
            st = nino_doc_show_value(e, list, "-1", name);
    }
    return st ? st : nino_doc_show_value(e, list, want->id, want->widget);
}

// What an instance keeps by name for a value that it does not show any more; another of that name may.
static nino_status drop_named(nino_doc_edit *e, nino_json *node, const char *key,
                              const nino_json *shown, const char *widget)
{
    nino_json *named = nino_doc_get(nino_doc_get(node, key), widget);
    for (const nino_json *v = shown->child; v; v = v->next) {
        const char *name = nino_json_str(nino_json_at(v, 1));
        if (name && !strcmp(name, widget))
            return NINO_OK;
    }
    return named ? nino_json_remove(e->json, named, e->err) : NINO_OK;
}

nino_status nino_doc_hide_value(nino_doc_edit *e, nino_json *node, const char *id,
                                const char *widget)
{
    const nino_json *list = nino_ui_array(nino_json_get(node, "properties"), "proxyWidgets");
    const nino_json *values = nino_ui_array(node, "widgets_values");
    const shown_value want = { id, widget };
    nino_json *entry = find_entry(list, &want);
    uint32_t at = 0;
    if (!entry)
        return NINO_OK;
    for (const nino_json *v = list->child; v != entry; v = v->next)
        at++;
    nino_json *value = (nino_json *) nino_json_at(values, at);
    nino_status st = value ? nino_json_remove(e->json, value, e->err) : NINO_OK;
    if (!st)
        st = nino_json_remove(e->json, entry, e->err);
    if (!st)
        st = drop_named(e, node, "widgets_values", list, widget);
    return st ? st : drop_named(e, node, "widgets_values_named", list, widget);
}

static nino_status hide_at(nino_doc_edit *e, nino_json *node, const void *arg)
{
    const shown_value *want = arg;
    return nino_doc_hide_value(e, node, want->id, want->widget);
}

nino_status nino_document_promote(nino_document *d, const char *id, const char *widget,
                                  bool is_shown, nino_error *err)
{
    const nino_doc_node *n = nino_document_node(d, nino_document_find(d, id));
    const nino_doc_widget *w = n ? nino_doc_widget_find(n, widget) : NULL;
    const shown_value want = { id, widget };
    nino_doc_edit e;
    if (!d->n_path)
        return nino_fail(err, NINO_ERR_ARG, widget, "the node is not inside a subgraph");
    if (!w ||
        (n->kind != NINO_DOC_NODE && n->kind != NINO_DOC_UNKNOWN && n->kind != NINO_DOC_SUBGRAPH))
        return nino_fail(err, NINO_ERR_UNKNOWN, widget, "the node has no such value");
    if (w->is_linked && is_shown)
        return nino_fail_kind(err, NINO_ERR_ARG, "linked", widget, "it comes through an input");
    nino_status st = nino_doc_edit_begin(&e, d, err);
    if (st)
        return st;
    st = nino_doc_each_instance(&e, e.scope, is_shown ? show_at : hide_at, &want);
    return nino_doc_edit_commit(&e, st, NULL,
                                is_shown ? "Show value outside" : "Hide value outside");
}

bool nino_document_is_promoted(const nino_document *d, const char *id, const char *widget)
{
    const nino_doc_state *s = d->state;
    const shown_value want = { id, widget };
    for (int32_t i = 0; s->scope && i < s->ui->n_nodes; i++) {
        const nino_ui_node *n = &s->ui->nodes[i];
        if (n->kind == NINO_UI_INSTANCE && n->inner == s->scope &&
            find_entry(nino_ui_proxies(s->ui, n), &want))
            return true;
    }
    return false;
}

nino_status nino_document_demote(nino_document *d, const char *id, const char *widget,
                                 nino_error *err)
{
    const nino_doc_state *s = d->state;
    const int32_t i = nino_ui_get(s->ui, NINO_UI_IS_NODE, s->scope, id);
    const nino_ui_node *n = i >= 0 ? &s->ui->nodes[i] : NULL;
    const nino_json *list = n ? nino_ui_proxies(s->ui, n) : NULL;
    const nino_json *v = list ? list->child : NULL;
    shown_value want = { 0 };
    char name[96];
    int32_t inner = NINO_UI_NONE;
    nino_doc_edit e;
    while (v && !(nino_doc_proxy(s->ui, n, v, name, &inner, &want.widget) && !strcmp(name, widget)))
        v = v->next;
    if (!v)
        return nino_fail(err, NINO_ERR_ARG, widget, "it is not a value from inside");
    want.id = s->ui->nodes[inner].id;
    nino_status st = nino_doc_edit_begin(&e, d, err);
    if (st)
        return st;
    const nino_json *defs = nino_ui_array(nino_json_get(e.json->root, "definitions"), "subgraphs");
    st = nino_doc_each_instance(&e, nino_doc_find_id(defs, n->type), hide_at, &want);
    return nino_doc_edit_commit(&e, st, NULL, "Hide value outside");
}
