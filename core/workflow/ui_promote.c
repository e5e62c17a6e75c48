// Values that an instance of a subgraph keeps in the place of inner ones. `widgets_values[i]`
// belongs to `properties.proxyWidgets[i]`, [id of an inner node or "-1", name]: "-1" is the
// definition's input of that name. Rules: Comfy-Org/ComfyUI_frontend src/core/graph/subgraph.
#include "core/workflow/ui.h"

#include <string.h>

static const nino_json *promote_properties(const nino_ui_node *n)
{
    return nino_json_get(n->json, "properties");
}

const nino_json *nino_ui_proxies(const nino_ui *ui, const nino_ui_node *n)
{
    if (n->kind != NINO_UI_INSTANCE || ui->scopes[n->inner].is_group)
        return NULL;
    const nino_json *list = nino_ui_array(promote_properties(n), "proxyWidgets");
    return list && list->count && list->count <= NINO_UI_MAX_INPUTS ? list : NULL;
}

static bool is_promote_entry(const nino_json *v, const char *id, const char *widget)
{
    const char *own = nino_ui_id(nino_json_at(v, 0)), *name = nino_json_str(nino_json_at(v, 1));
    return own && name && !strcmp(own, id) && !strcmp(name, widget);
}

static nino_json *promote_not_null(const nino_json *v)
{
    return v && v->type != NINO_JSON_NULL ? (nino_json *) v : NULL;
}

// An entry of widgets_values by its place, or by name where the file says names.
static nino_json *promote_value_at(const nino_ui_node *n, uint32_t at, const char *name)
{
    const nino_json *v = n->values && n->values->type == NINO_JSON_OBJECT
                             ? nino_json_get(n->values, name)
                             : nino_json_at(n->values, at);
    const nino_json *named = nino_json_get(nino_json_get(n->json, "widgets_values_named"), name);
    return promote_not_null(v) ? promote_not_null(v) : promote_not_null(named);
}

nino_json *nino_ui_proxy_value(const nino_ui *ui, const nino_ui_node *n, const char *id,
                               const char *widget, uint32_t *at)
{
    const nino_json *list = nino_ui_proxies(ui, n);
    *at = 0;
    for (const nino_json *v = list ? list->child : NULL; v; v = v->next, (*at)++)
        if (is_promote_entry(v, id, widget))
            return promote_value_at(n, *at, widget);
    *at = UINT32_MAX;
    return NULL;
}

// What could not be carried over to another editor: its value counts first.
static nino_json *promote_quarantined(const nino_ui_node *n, const char *name)
{
    const nino_json *list = nino_ui_array(promote_properties(n), "proxyWidgetErrorQuarantine");
    for (const nino_json *v = list ? list->child : NULL; v; v = v->next)
        if (is_promote_entry(nino_json_get(v, "originalEntry"), "-1", name))
            return promote_not_null(nino_json_get(v, "hostValue"));
    return NULL;
}

// Without proxyWidgets there is a value for each input that has a widget; in a longer list one of
// control_after_generate follows some of them.
static nino_json *promote_by_port(const nino_ui_node *n, const char *name, uint32_t *at)
{
    const bool is_list = n->values && n->values->type == NINO_JSON_ARRAY;
    uint32_t n_widgets = 0, n_surplus;
    for (int32_t i = 0; i < n->n_ports; i++)
        n_widgets += n->ports[i].widget != NULL;
    n_surplus = is_list && n->values->count > n_widgets ? n->values->count - n_widgets : 0;
    *at = 0;
    for (int32_t i = 0; i < n->n_ports; i++) {
        if (!n->ports[i].widget)
            continue;
        if (!strcmp(n->ports[i].name, name))
            return promote_value_at(n, *at, name);
        const nino_json *v = is_list ? nino_json_at(n->values, *at) : NULL;
        const char *s = v && v->type == NINO_JSON_NUMBER ? nino_json_str(v->next) : NULL;
        (*at)++;
        if (n_surplus && s && nino_ui_is_control(s)) {
            n_surplus--;
            (*at)++;
        }
    }
    *at = UINT32_MAX;
    return NULL;
}

nino_json *nino_ui_host_value(const nino_ui *ui, const nino_ui_node *n, const char *name,
                              uint32_t *at)
{
    nino_json *kept = promote_quarantined(n, name);
    nino_json *v = nino_ui_proxies(ui, n) ? nino_ui_proxy_value(ui, n, "-1", name, at)
                                          : promote_by_port(n, name, at);
    return kept ? kept : v;
}

nino_json *nino_ui_override(const nino_ui *ui, int32_t instance, int32_t node, const char *widget)
{
    nino_json *best = NULL;
    for (const nino_ui_instance *x = &ui->instances[instance]; x->parent >= 0;
         x = &ui->instances[x->parent]) {
        uint32_t at;
        nino_json *v =
            nino_ui_proxy_value(ui, &ui->nodes[x->node], ui->nodes[node].id, widget, &at);
        if (at == UINT32_MAX)
            break;
        best = v ? v : best;
        node = x->node;
    }
    return best;
}

nino_json *nino_ui_promoted(const nino_ui *ui, int32_t instance, int32_t node, const char *name)
{
    uint32_t at;
    nino_json *v = nino_ui_override(ui, instance, node, name);
    return v ? v : nino_ui_host_value(ui, &ui->nodes[node], name, &at);
}

// Number of a definition's input, or NINO_UI_NONE.
static int32_t promote_slot(const nino_ui_scope *s, const char *name)
{
    int32_t slot = 0;
    for (const nino_json *v = s->inputs ? s->inputs->child : NULL; v; v = v->next, slot++) {
        const char *own = nino_json_str(nino_json_get(v, "name"));
        if (own && !strcmp(own, name))
            return slot;
    }
    return NINO_UI_NONE;
}

// The port inside that input `name` of a definition feeds first, and that is a widget's.
static const nino_ui_port *promote_fed(const nino_ui *ui, const nino_ui_scope *s, const char *name,
                                       int32_t *node)
{
    const int32_t slot = promote_slot(s, name);
    if (slot < 0)
        return NULL;
    for (int32_t i = s->first; i < s->first + s->n_nodes; i++)
        for (int32_t k = 0; k < ui->nodes[i].n_ports; k++) {
            const nino_ui_port *p = &ui->nodes[i].ports[k];
            const nino_ui_link *l = p->link >= 0 ? &ui->links[p->link] : NULL;
            if (l && p->widget && l->origin == NINO_UI_OUTER && l->slot == slot) {
                *node = i;
                return p;
            }
        }
    return NULL;
}

nino_json *nino_ui_fed_override(const nino_ui *ui, int32_t instance, const char *name)
{
    const nino_ui_instance *x = &ui->instances[instance];
    int32_t node = NINO_UI_NONE;
    const nino_ui_port *p = promote_fed(ui, &ui->scopes[x->scope], name, &node);
    return p ? nino_ui_override(ui, instance, node, p->widget) : NULL;
}

bool nino_ui_inner_widget(nino_ui *ui, const nino_ui_node *n, const char *name,
                          const nino_node_def **def, nino_ui_widget *out)
{
    uint32_t at;
    *def = NULL;
    *out = (nino_ui_widget){ .name = name, .kind = '?', .mark = ':' };
    // As many steps as there are definitions: one that holds itself is refused before.
    for (int32_t level = 0; level <= ui->n_scopes; level++) {
        nino_ui_widgets w;
        int32_t node = NINO_UI_NONE;
        const nino_ui_port *p = promote_fed(ui, &ui->scopes[n->inner], name, &node);
        if (!p)
            return true;
        n = &ui->nodes[node];
        name = p->widget;
        if (n->kind == NINO_UI_INSTANCE && !ui->scopes[n->inner].is_group) {
            if (!out->value)
                out->value = nino_ui_host_value(ui, n, p->name, &at);
            name = p->name;
            continue;
        }
        if (!nino_ui_bind(ui, n, n->values, 0, &w))
            return false;
        *def = n->def;
        for (int32_t i = 0; i < w.n; i++)
            if (!strcmp(w.list[i].name, name)) {
                nino_json *kept = out->value;
                *out = w.list[i];
                out->value = kept ? kept : out->value;
            }
        return true;
    }
    return true;
}

// What the list of an instance says is its own: entry by entry of proxyWidgets, else of its inputs.
bool nino_ui_bind_instance(nino_ui *ui, const nino_ui_node *n, nino_ui_widgets *out)
{
    const nino_json *list = nino_ui_proxies(ui, n);
    const size_t most = list ? list->count : (size_t) n->n_ports;
    uint32_t at;
    *out =
        (nino_ui_widgets){ .list = nino_arena_alloc(ui->arena, (most + 1) * sizeof(*out->list)) };
    for (const nino_json *v = list && out->list ? list->child : NULL; v; v = v->next) {
        const char *id = nino_ui_id(nino_json_at(v, 0)), *name = nino_json_str(nino_json_at(v, 1));
        if (id && name && !strcmp(id, "-1") && promote_slot(&ui->scopes[n->inner], name) >= 0)
            out->list[out->n++] = (nino_ui_widget){ .name = name,
                                                    .kind = '?',
                                                    .mark = ':',
                                                    .value = nino_ui_host_value(ui, n, name, &at) };
    }
    for (int32_t i = 0; !list && out->list && i < n->n_ports; i++)
        if (n->ports[i].widget)
            out->list[out->n++] =
                (nino_ui_widget){ .name = n->ports[i].name,
                                  .kind = '?',
                                  .mark = ':',
                                  .value = nino_ui_host_value(ui, n, n->ports[i].name, &at) };
    return out->list;
}
