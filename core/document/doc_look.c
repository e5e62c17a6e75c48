// Looking at a document: by number, by id and by name. Values of inner nodes that an instance of a
// subgraph shows as its own ("proxyWidgets": ids and names, edited in place inside; rules:
// Comfy-Org/ComfyUI_frontend src/core/graph/subgraph/proxyWidget.ts).
#include <stdio.h>
#include <string.h>

#include "core/document/doc.h"

int nino_document_n_nodes(const nino_document *d) { return d->state->n_nodes; }
int nino_document_n_links(const nino_document *d) { return d->state->n_links; }
int nino_document_n_reroutes(const nino_document *d) { return d->state->n_reroutes; }
int nino_document_n_groups(const nino_document *d) { return d->state->n_groups; }

const nino_doc_node *nino_document_node(const nino_document *d, int i)
{
    return i >= 0 && i < d->state->n_nodes ? &d->state->nodes[i] : NULL;
}

const nino_doc_link *nino_document_link(const nino_document *d, int i)
{
    return i >= 0 && i < d->state->n_links ? &d->state->links[i] : NULL;
}

const nino_doc_reroute *nino_document_reroute(const nino_document *d, int i)
{
    return i >= 0 && i < d->state->n_reroutes ? &d->state->reroutes[i] : NULL;
}

const nino_doc_group *nino_document_group(const nino_document *d, int i)
{
    return i >= 0 && i < d->state->n_groups ? &d->state->groups[i] : NULL;
}

int nino_document_find(const nino_document *d, const char *id)
{
    const nino_doc_state *s = d->state;
    const int32_t i = nino_ui_get(s->ui, NINO_UI_IS_NODE, s->scope, id);
    if (i >= 0)
        return i - s->ui->scopes[s->scope].first;
    for (int k = s->n_nodes - 1; s->scope && k >= 0 && k >= s->n_nodes - 2; k--)
        if (!strcmp(s->nodes[k].id, id))
            return k;
    return -1;
}

const nino_doc_widget *nino_doc_widget_find(const nino_doc_node *n, const char *name)
{
    for (int i = 0; i < n->n_widgets; i++)
        if (!strcmp(n->widgets[i].name, name))
            return &n->widgets[i];
    return NULL;
}

// ---- values shown from inside ------------------------------------------------------------------

enum { MAX_LEVELS = 64 };

bool nino_doc_proxy(const nino_ui *ui, const nino_ui_node *n, const nino_json *entry, char name[96],
                    int32_t *node, const char **widget)
{
    const char *id = nino_ui_id(nino_json_at(entry, 0));
    bool is_second = false;
    *widget = nino_json_str(nino_json_at(entry, 1));
    *node = id ? nino_ui_get(ui, NINO_UI_IS_NODE, n->inner, id) : NINO_UI_NONE;
    if (*node < 0 || !*widget) // "-1" is the instance itself: its own widget
        return false;
    for (const nino_json *v = nino_ui_proxies(ui, n)->child; v != entry; v = v->next) {
        const char *other = nino_json_str(nino_json_at(v, 1));
        is_second = is_second || (other && !strcmp(other, *widget));
    }
    if (is_second)
        snprintf(name, 96, "%.15s:%.79s", id, *widget);
    else
        snprintf(name, 96, "%.95s", *widget);
    return true;
}

nino_json *nino_doc_follow_proxy(const nino_ui *ui, int32_t *node, const char **widget)
{
    nino_json *kept = NULL;
    for (int level = 0; level < MAX_LEVELS; level++) {
        const nino_ui_node *n = &ui->nodes[*node];
        const nino_json *list = nino_ui_proxies(ui, n), *v = list ? list->child : NULL;
        int32_t inner = NINO_UI_NONE;
        const char *key = NULL;
        uint32_t at;
        char name[96];
        while (v && !(nino_doc_proxy(ui, n, v, name, &inner, &key) && !strcmp(name, *widget)))
            v = v->next;
        if (!v && !kept && n->kind == NINO_UI_INSTANCE)
            kept = nino_ui_host_value(ui, n, *widget, &at);
        if (!v)
            break;
        if (!kept)
            kept = nino_ui_proxy_value(ui, n, ui->nodes[inner].id, key, &at);
        *node = inner;
        *widget = key;
    }
    return kept;
}
