// The links of the editor's form, the ends of group nodes, and the subgraphs as often as they are
// used.
#include "core/workflow/ui.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/workflow/workflow.h"

// ---- links -----------------------------------------------------------------------------------

typedef struct ends {
    const nino_json *id, *origin, *slot, *target, *target_slot;
} ends;

// [id, origin, slot, target, slot, type], the same as an object, or, in a group node,
// [origin, slot, target, slot, ...].
static bool read_ends(const nino_json *v, bool is_group, ends *e)
{
    const nino_json *at = v->type == NINO_JSON_ARRAY ? v->child : NULL;
    *e = (ends){ 0 };
    if (v->type == NINO_JSON_OBJECT) {
        *e = (ends){ nino_json_get(v, "id"), nino_json_get(v, "origin_id"),
                     nino_json_get(v, "origin_slot"), nino_json_get(v, "target_id"),
                     nino_json_get(v, "target_slot") };
        return e->id && e->origin && e->slot;
    }
    const nino_json **const to[] = { &e->id, &e->origin, &e->slot, &e->target, &e->target_slot };
    for (size_t i = is_group; i < 5; i++, at = at->next) {
        if (!at)
            return false;
        *to[i] = at;
    }
    return true;
}

static bool same_origin(const nino_ui_link *a, const nino_ui_link *b)
{
    return !strcmp(a->from, b->from) && a->slot == b->slot;
}

static const char *io_node(const nino_ui_scope *s, const char *key, const char *otherwise)
{
    const char *id = nino_ui_id(nino_json_get(nino_json_get(s->json, key), "id"));
    return id ? id : otherwise;
}

static nino_status read_link(nino_ui *ui, int32_t scope, nino_json *v, nino_error *err)
{
    nino_ui_scope *s = &ui->scopes[scope];
    const bool is_inner = scope && !s->is_group;
    bool failed = false;
    ends e;
    if (!read_ends(v, s->is_group, &e) || (!s->is_group && !nino_ui_id(e.id)))
        return nino_ui_bad(ui, scope, "link", NULL, "schema", v,
                           "a link must have an id and an origin", err);
    const char *from = nino_ui_id(e.origin), *to = nino_ui_id(e.target);
    nino_ui_link *l = &ui->links[ui->n_links];
    *l = (nino_ui_link){ .json = v,
                         .id = s->is_group ? NULL : nino_ui_id(e.id),
                         .from = from ? from : "?",
                         .origin =
                             from ? nino_ui_get(ui, NINO_UI_IS_NODE, scope, from) : NINO_UI_NONE,
                         .slot = nino_ui_slot(e.slot) };
    if (is_inner && from && !strcmp(from, io_node(s, "inputNode", "-10")))
        l->origin = NINO_UI_OUTER;
    if (l->slot < 0)
        l->origin = NINO_UI_NONE;
    const int32_t number = ui->n_links++, at = nino_ui_slot(e.target_slot);
    const int32_t same =
        l->id ? nino_ui_put(ui, NINO_UI_IS_LINK, scope, l->id, number, &failed) : NINO_UI_NONE;
    if (same >= 0 && !same_origin(l, &ui->links[same]))
        ui->links[same].is_double = true;
    if (is_inner && to && !strcmp(to, io_node(s, "outputNode", "-20")) && at >= 0 &&
        at < s->n_outputs)
        s->outputs[at] = number;
    if (s->is_group && l->origin >= 0 && to && at >= 0) {
        const int32_t n = nino_ui_get(ui, NINO_UI_IS_NODE, scope, to);
        if (n >= 0 && at < ui->nodes[n].n_ports) {
            ui->nodes[n].ports[at].link = number;
            ui->nodes[n].ports[at].link_id = "?"; // links in groups have none
        }
    }
    return failed ? nino_ui_nomem(ui, err) : NINO_OK;
}

static bool alloc_outputs(nino_ui *ui, nino_ui_scope *s, size_t n)
{
    s->outputs = nino_arena_alloc(ui->arena, (n + 1) * sizeof(*s->outputs));
    s->n_outputs = s->outputs ? (int32_t) n : 0;
    for (size_t i = 0; i < n && s->outputs; i++)
        s->outputs[i] = NINO_UI_NONE;
    return s->outputs;
}

// ---- group nodes -----------------------------------------------------------------------------

// Outputs of the nodes of a group, counted through: marks those that a link inside takes and
// nothing outside does. first[i]: where those of node i begin.
static void mark_taken(const nino_ui *ui, const nino_ui_scope *s, int32_t first_link,
                       const int32_t *first, bool *taken)
{
    for (int32_t l = first_link; l < ui->n_links; l++) {
        const int32_t i = ui->links[l].origin - s->first;
        if (ui->links[l].origin >= 0 && ui->links[l].slot < first[i + 1] - first[i])
            taken[first[i] + ui->links[l].slot] = true;
    }
    const nino_json *list = nino_ui_array(s->json, "external");
    for (const nino_json *v = list ? list->child : NULL; v; v = v->next) {
        const nino_json *who = nino_json_at(v, 0);
        if (who && who->type == NINO_JSON_OBJECT)
            who = nino_json_get(who, "index");
        const int32_t i = nino_ui_slot(who), slot = nino_ui_slot(nino_json_at(v, 1));
        if (i >= 0 && i < s->n_nodes && slot >= 0 && slot < first[i + 1] - first[i])
            taken[first[i] + slot] = false;
    }
}

static nino_ui_link *made_up(nino_ui *ui, const nino_ui_node *n, int32_t origin, int32_t slot)
{
    nino_ui_link *l = &ui->links[ui->n_links++];
    *l = (nino_ui_link){ .json = n->json, .from = n->id, .origin = origin, .slot = slot };
    return l;
}

// Hidden ends of a group node are none: config[number of the node][part][name or slot].visible.
static bool is_ui_link_hidden(const nino_ui_scope *s, int32_t node, const char *part,
                              const char *name)
{
    char number[16];
    bool b = true;
    snprintf(number, sizeof(number), "%" PRId32, node);
    const nino_json *config = nino_json_get(nino_json_get(s->json, "config"), number);
    const nino_json *end = nino_json_get(nino_json_get(config, part), name);
    return nino_json_bool(nino_json_get(end, "visible"), &b) && !b;
}

static bool is_hidden_output(const nino_ui_scope *s, int32_t node, int32_t slot)
{
    char number[16];
    snprintf(number, sizeof(number), "%" PRId32, slot);
    return is_ui_link_hidden(s, node, "output", number);
}

static bool is_open_port(const nino_ui *ui, const nino_ui_scope *s, int32_t node, int32_t port)
{
    const nino_ui_port *p = &ui->nodes[s->first + node].ports[port];
    return p->link < 0 && (!p->widget || s->has_widget_ports) &&
           !is_ui_link_hidden(s, node, "input", p->name);
}

// Editors since 2025 list widgets among the inputs, where they are no ends of the group; before,
// they stood there when they had been made one. The nodes of the group show which it is.
static bool has_widget_ends(const nino_ui *ui, int32_t scope)
{
    const nino_ui_scope *s = &ui->scopes[scope];
    int32_t n_all = 0, n_widgets = 0;
    for (int32_t i = 0; i < s->n_nodes; i++)
        for (int32_t k = 0; k < ui->nodes[s->first + i].n_ports; k++) {
            n_all += ui->nodes[s->first + i].ports[k].link < 0;
            n_widgets += ui->nodes[s->first + i].ports[k].link < 0 &&
                         ui->nodes[s->first + i].ports[k].widget;
        }
    return n_widgets && s->first_use >= 0 && ui->nodes[s->first_use].n_ports == n_all;
}

const nino_ui_port *nino_ui_group_port(const nino_ui_scope *s, const nino_ui_node *n, int32_t slot)
{
    for (int32_t i = 0; i < n->n_ports; i++)
        if ((s->has_widget_ports || !n->ports[i].widget) && !slot--)
            return &n->ports[i];
    return NULL;
}

// What the ends of a group node lead to is not written down: its inputs are the open inputs of its
// nodes, its outputs the outputs that nothing inside takes, in the order of the nodes. Links are
// made up for both, so that from here on it is a subgraph.
static nino_status open_group(nino_ui *ui, int32_t scope, int32_t first_link, nino_error *err)
{
    nino_ui_scope *s = &ui->scopes[scope];
    nino_ui_node *nodes = &ui->nodes[s->first];
    int32_t *first = nino_arena_alloc(ui->arena, ((size_t) s->n_nodes + 1) * sizeof(*first));
    if (!first)
        return nino_ui_nomem(ui, err);
    for (int32_t i = 0; i < s->n_nodes; i++)
        first[i + 1] = first[i] + (nodes[i].outputs ? (int32_t) nodes[i].outputs->count : 0);
    const size_t n_out = (size_t) first[s->n_nodes];
    bool *taken = nino_arena_alloc(ui->arena, n_out);
    if (!taken || !alloc_outputs(ui, s, n_out))
        return nino_ui_nomem(ui, err);
    mark_taken(ui, s, first_link, first, taken);
    s->has_widget_ports = has_widget_ends(ui, scope);
    s->n_outputs = 0;
    for (int32_t i = 0; i < s->n_nodes; i++) {
        for (int32_t k = 0; k < nodes[i].n_ports; k++)
            if (is_open_port(ui, s, i, k)) {
                nodes[i].ports[k].link = ui->n_links;
                nodes[i].ports[k].link_id = "?";
                made_up(ui, &nodes[i], NINO_UI_OUTER, s->n_inputs++);
            }
        for (int32_t k = first[i]; k < first[i + 1]; k++)
            if (!taken[k] && !is_hidden_output(s, i, k - first[i])) {
                s->outputs[s->n_outputs++] = ui->n_links;
                made_up(ui, &nodes[i], s->first + i, k - first[i]);
            }
    }
    return NINO_OK;
}

nino_status nino_ui_read_links(nino_ui *ui, int32_t scope, nino_error *err)
{
    nino_ui_scope *s = &ui->scopes[scope];
    const nino_json *links = nino_ui_array(s->json, "links"),
                    *outputs = nino_ui_array(s->json, "outputs");
    nino_status st = NINO_OK;
    const int32_t first_link = ui->n_links;
    s->n_inputs = s->inputs && scope ? (int32_t) s->inputs->count : 0;
    if (!alloc_outputs(ui, s, outputs && scope ? outputs->count : 0))
        return nino_ui_nomem(ui, err);
    for (nino_json *v = links ? links->child : NULL; v && !st; v = v->next)
        if (v->type != NINO_JSON_NULL)
            st = read_link(ui, scope, v, err);
    if (st || s->is_group)
        return st ? st : open_group(ui, scope, first_link, err);
    for (int32_t i = s->first; i < s->first + s->n_nodes; i++)
        for (int32_t k = 0; k < ui->nodes[i].n_ports; k++)
            if (ui->nodes[i].ports[k].link_id)
                ui->nodes[i].ports[k].link =
                    nino_ui_get(ui, NINO_UI_IS_LINK, scope, ui->nodes[i].ports[k].link_id);
    return NINO_OK;
}

// How many links there are at most, those that open_group() makes included.
size_t nino_ui_count_links(const nino_ui *ui)
{
    size_t n = 1;
    for (int32_t i = 0; i < ui->n_scopes; i++) {
        const nino_json *links = nino_ui_array(ui->scopes[i].json, "links");
        n += links ? links->count : 0;
    }
    for (int32_t i = 0; i < ui->n_nodes; i++)
        if (ui->scopes[ui->nodes[i].scope].is_group)
            n += (size_t) ui->nodes[i].n_ports +
                 (ui->nodes[i].outputs ? ui->nodes[i].outputs->count : 0);
    return n;
}

// ---- instances -------------------------------------------------------------------------------

static nino_status add_instance(nino_ui *ui, int32_t parent, int32_t node, int32_t scope,
                                int32_t *n_all, nino_error *err)
{
    const char *id = node < 0 ? NULL : ui->nodes[node].id;
    const char *before = parent < 0 ? "" : ui->instances[parent].prefix;
    const size_t len = id ? strlen(before) + strlen(id) + 2 : 1;
    if (!nino_ui_grow((void **) &ui->instances, ui->n_instances, &ui->cap_instances,
                      sizeof(*ui->instances)))
        return nino_ui_nomem(ui, err);
    for (int32_t up = parent; up >= 0; up = ui->instances[up].parent)
        if (ui->instances[up].scope == scope)
            return nino_ui_bad(ui, ui->nodes[node].scope, "node", id, "graph", ui->nodes[node].json,
                               "a subgraph contains itself", err);
    *n_all += ui->scopes[scope].n_nodes;
    if (*n_all > NINO_GRAPH_MAX_NODES || len > NINO_GRAPH_MAX_NAME)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "limit", ui->name,
                              "the subgraphs hold more than %d nodes or nest too deep",
                              NINO_GRAPH_MAX_NODES);
    nino_ui_instance *x = &ui->instances[ui->n_instances];
    char *prefix = nino_arena_alloc(ui->arena, len);
    const size_t n = (size_t) ui->scopes[scope].n_nodes + 1;
    *x = (nino_ui_instance){ .parent = parent, .node = node, .scope = scope, .prefix = prefix };
    x->child = nino_arena_alloc(ui->arena, n * sizeof(*x->child));
    x->value_at = nino_arena_alloc(ui->arena, n * sizeof(*x->value_at));
    if (!prefix || !x->child || !x->value_at)
        return nino_ui_nomem(ui, err);
    if (id)
        snprintf(prefix, len, "%s%s:", before, id);
    for (size_t i = 0; i < n; i++)
        x->child[i] = NINO_UI_NONE;
    if (parent >= 0)
        ui->instances[parent].child[node - ui->scopes[ui->instances[parent].scope].first] =
            ui->n_instances;
    ui->scopes[scope].n_instances++;
    ui->n_instances++;
    return NINO_OK;
}

nino_status nino_ui_make_instances(nino_ui *ui, nino_error *err)
{
    int32_t n_all = 0;
    nino_status st = add_instance(ui, -1, -1, 0, &n_all, err);
    for (int32_t i = 0; i < ui->n_instances && !st; i++) {
        const nino_ui_scope *s = &ui->scopes[ui->instances[i].scope];
        for (int32_t k = s->first; k < s->first + s->n_nodes && !st; k++)
            if (ui->nodes[k].kind == NINO_UI_INSTANCE && !ui->nodes[k].is_muted &&
                !ui->nodes[k].is_bypassed)
                st = add_instance(ui, i, k, ui->nodes[k].inner, &n_all, err);
    }
    return st;
}
