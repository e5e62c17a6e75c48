// The API form of what the editor saved: widgets by name, links to the nodes that are executed.
#include "core/workflow/ui.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/workflow/workflow.h"

// One input of the node at hand.
typedef struct input {
    const char *name;
    nino_json *value;             // a literal, or
    int32_t instance, node, slot; // a link (node >= 0)
} input;

typedef struct emit {
    nino_ui *ui;
    nino_buf *out;
    input *inputs; // of the node at hand
    int32_t n_inputs, cap_inputs;
    nino_error *err;
} emit;

static nino_status ui_api_nomem(emit *e) { return nino_ui_nomem(e->ui, e->err); }

// ---- inputs of one node ----------------------------------------------------------------------

static input *find_input(emit *e, const char *name)
{
    for (int32_t i = 0; i < e->n_inputs; i++)
        if (!strcmp(e->inputs[i].name, name))
            return &e->inputs[i];
    return NULL;
}

static bool ui_api_set_input(emit *e, input in)
{
    input *old = find_input(e, in.name);
    if (!old && !nino_ui_grow((void **) &e->inputs, e->n_inputs, &e->cap_inputs, sizeof(in)))
        return false;
    if (!old)
        old = &e->inputs[e->n_inputs++];
    *old = in;
    return true;
}

static void drop_input(emit *e, const char *name)
{
    input *old = find_input(e, name);
    if (!old)
        return;
    memmove(old, old + 1, (size_t) (&e->inputs[--e->n_inputs] - old) * sizeof(*old));
}

static bool add_issue(emit *e, const char *key, const nino_ui_source *s)
{
    nino_ui *ui = e->ui;
    const char *link = nino_arena_strdup(ui->arena, s->link);
    if (!link ||
        !nino_ui_grow((void **) &ui->issues, ui->n_issues, &ui->cap_issues, sizeof(*ui->issues)))
        return false;
    ui->issues[ui->n_issues++] = (nino_ui_issue){ ui->n_members, key, link, s->why };
    return true;
}

static bool take_port(emit *e, int32_t instance, int32_t node, const nino_ui_port *p)
{
    nino_ui_source s;
    if (!p->link_id)
        return true;
    nino_ui_follow(e->ui, instance, p, &s);
    if (s.is_inner && p->widget && nino_ui_override(e->ui, instance, node, p->widget))
        return true;
    switch (s.found) {
    case NINO_UI_FOUND_NOTHING: return true;
    case NINO_UI_FOUND_NODE:
        return ui_api_set_input(e, (input){ p->name, NULL, s.instance, s.node, s.slot });
    case NINO_UI_FOUND_VALUE:
        return ui_api_set_input(e, (input){ p->name, s.value, 0, NINO_UI_NONE, 0 });
    case NINO_UI_FOUND_MUTED: drop_input(e, p->name); return true;
    case NINO_UI_FOUND_BROKEN: drop_input(e, p->name); return add_issue(e, p->name, &s);
    case NINO_UI_FOUND_NO_MEMORY: return false;
    }
    return true;
}

static bool is_bound(const nino_ui_widgets *w, const char *name)
{
    for (int32_t i = 0; i < w->n; i++)
        if (!strcmp(w->list[i].name, name))
            return true;
    return false;
}

// Values that instances keep for widgets which the node's own list, a short one, does not reach.
static bool take_overrides(emit *e, int32_t instance, int32_t node, const nino_ui_widgets *bound)
{
    nino_ui_widgets all;
    if (!nino_ui_bind(e->ui, &e->ui->nodes[node], NULL, 0, &all))
        return false;
    for (int32_t i = 0; i < all.n; i++) {
        const char *name = all.list[i].name;
        nino_json *v = is_bound(bound, name) ? NULL : nino_ui_override(e->ui, instance, node, name);
        if (v && !ui_api_set_input(e, (input){ name, v, 0, NINO_UI_NONE, 0 }))
            return false;
    }
    return true;
}

static bool collect_inputs(emit *e, int32_t instance, int32_t node)
{
    const nino_ui_node *n = &e->ui->nodes[node];
    nino_ui_widgets w;
    int32_t from = 0;
    e->n_inputs = 0;
    nino_json *values = nino_ui_values(e->ui, instance, node, &from);
    if (!nino_ui_bind(e->ui, n, values, from, &w))
        return false;
    for (int32_t i = 0; i < w.n; i++) {
        nino_json *outer = nino_ui_override(e->ui, instance, node, w.list[i].name);
        nino_json *value = outer ? outer : w.list[i].value;
        if (value && !ui_api_set_input(e, (input){ w.list[i].name, value, 0, NINO_UI_NONE, 0 }))
            return false;
    }
    if (!take_overrides(e, instance, node, &w))
        return false;
    for (int32_t i = 0; i < n->n_ports; i++)
        if (!take_port(e, instance, node, &n->ports[i]))
            return false;
    return true;
}

// ---- values of group nodes -------------------------------------------------------------------

// How many entries of the outer node's widgets_values belong to node i of the group.
static int32_t ui_api_count_values(nino_ui *ui, const nino_ui_instance *x, int32_t i, bool *failed)
{
    const nino_ui_node *n = &ui->nodes[ui->scopes[x->scope].first + i];
    nino_ui_widgets w;
    int32_t count = 0;
    if (n->kind == NINO_UI_VALUE)
        return n->values && n->values->type == NINO_JSON_ARRAY ? (int32_t) n->values->count : 0;
    if (n->kind == NINO_UI_INSTANCE && x->child[i] >= 0)
        return ui->instances[x->child[i]].n_values;
    if (n->kind != NINO_UI_NODE)
        return 0;
    if (!nino_ui_bind(ui, n, NULL, 0, &w)) {
        *failed = true;
        return 0;
    }
    for (int32_t k = 0; k < w.n; k++)
        count += w.list[k].is_linked ? 0 : w.list[k].mark == ':' ? 1 : 2;
    return count;
}

// Inner instances come after the one they are in, so that going backwards their sums are known.
static bool place_values(nino_ui *ui)
{
    bool failed = false;
    for (int32_t k = ui->n_instances - 1; k >= 0 && !failed; k--) {
        nino_ui_instance *x = &ui->instances[k];
        const nino_ui_scope *s = &ui->scopes[x->scope];
        for (int32_t i = 0; s->is_group && i < s->n_nodes && !failed; i++) {
            x->value_at[i] = x->n_values;
            x->n_values += ui_api_count_values(ui, x, i, &failed);
        }
    }
    return !failed;
}

nino_json *nino_ui_values(const nino_ui *ui, int32_t instance, int32_t node, int32_t *from)
{
    *from = 0;
    for (;;) {
        const nino_ui_instance *x = &ui->instances[instance];
        const nino_ui_scope *s = &ui->scopes[x->scope];
        if (!s->is_group)
            return ui->nodes[node].values;
        *from += x->value_at[node - s->first];
        node = x->node;
        instance = x->parent;
    }
}

// ---- text ------------------------------------------------------------------------------------

// "57:41"
static int print_id(const nino_ui *ui, nino_ui_member m, char id[2 * NINO_GRAPH_MAX_NAME + 2])
{
    return snprintf(id, 2 * NINO_GRAPH_MAX_NAME + 2, "%s%s", ui->instances[m.instance].prefix,
                    ui->nodes[m.node].id);
}

static void ui_api_add_id(emit *e, int32_t instance, int32_t node)
{
    char id[2 * NINO_GRAPH_MAX_NAME + 2];
    const int n = print_id(e->ui, (nino_ui_member){ instance, node }, id);
    nino_buf_add_json_string(e->out, id, (size_t) n);
}

static void add_literal(const nino_ui *ui, nino_ui_member m, const char *key, const nino_json *v,
                        nino_buf *out)
{
    const bool is_array = v->type == NINO_JSON_ARRAY;
    const bool may_choose = v->type == NINO_JSON_STRING &&
                            (memchr(v->text, '{', v->len) || memchr(v->text, '\\', v->len) ||
                             memchr(v->text, '/', v->len));
    if (may_choose && nino_ui_is_dynamic(ui->nodes[m.node].type, key)) {
        char id[2 * NINO_GRAPH_MAX_NAME + 2];
        nino_buf text = { 0 };
        print_id(ui, m, id);
        nino_buf_add(&text, "", 0);
        nino_ui_dynamic_text(&text, v->text, v->len, id);
        nino_buf_add_json_string(out, text.data ? text.data : "", text.len);
        out->failed = out->failed || text.failed;
        nino_buf_release(&text);
        return;
    }
    // A literal array must not read as a link.
    nino_buf_adds(out, is_array ? "{\"__value__\": " : "");
    nino_json_write(out, ui->doc, v);
    nino_buf_adds(out, is_array ? "}" : "");
}

void nino_ui_place_text(const nino_ui *ui, const nino_ui_place *p, nino_buf *out)
{
    add_literal(ui, ui->members[p->node], p->key, p->value, out);
}

static bool ui_api_add_input(emit *e, nino_ui_member m, const input *in)
{
    nino_ui *ui = e->ui;
    if (in->node >= 0) {
        nino_buf_addc(e->out, '[');
        ui_api_add_id(e, in->instance, in->node);
        nino_buf_addf(e->out, ", %" PRId32 "]", in->slot);
        return true;
    }
    add_literal(ui, m, in->name, in->value, e->out);
    if (!nino_ui_grow((void **) &ui->places, ui->n_places, &ui->cap_places, sizeof(*ui->places)))
        return false;
    ui->places[ui->n_places++] = (nino_ui_place){ ui->n_members, in->name, in->value };
    return true;
}

static nino_status ui_api_add_node(emit *e, int32_t instance, int32_t node)
{
    nino_ui *ui = e->ui;
    const nino_ui_node *n = &ui->nodes[node];
    const char *title = n->title ? n->title : n->def ? n->def->title : n->type;
    if (!collect_inputs(e, instance, node) || !nino_ui_grow((void **) &ui->members, ui->n_members,
                                                            &ui->cap_members, sizeof(*ui->members)))
        return ui_api_nomem(e);
    nino_buf_adds(e->out, ui->n_members ? ",\n  " : "\n  ");
    ui_api_add_id(e, instance, node);
    nino_buf_adds(e->out, ": {\n    \"inputs\": {");
    for (int32_t i = 0; i < e->n_inputs; i++) {
        nino_buf_adds(e->out, i ? ",\n      " : "\n      ");
        nino_buf_add_json_string(e->out, e->inputs[i].name, strlen(e->inputs[i].name));
        nino_buf_adds(e->out, ": ");
        if (!ui_api_add_input(e, (nino_ui_member){ instance, node }, &e->inputs[i]))
            return ui_api_nomem(e);
    }
    nino_buf_adds(e->out,
                  e->n_inputs ? "\n    },\n    \"class_type\": " : "},\n    \"class_type\": ");
    nino_buf_add_json_string(e->out, n->type, strlen(n->type));
    nino_buf_adds(e->out, ",\n    \"_meta\": {\"title\": ");
    nino_buf_add_json_string(e->out, title, strlen(title));
    nino_buf_adds(e->out, "}\n  }");
    ui->members[ui->n_members++] = (nino_ui_member){ instance, node };
    return e->out->failed ? ui_api_nomem(e) : NINO_OK;
}

// Nodes in the order of the file, those of a subgraph where its instance stands.
nino_status nino_ui_to_api(nino_ui *ui, nino_buf *out, nino_error *err)
{
    emit e = { .ui = ui, .out = out, .err = err };
    nino_status st = place_values(ui) ? NINO_OK : ui_api_nomem(&e);
    nino_buf_addc(out, '{');
    for (int32_t i = 0; i >= 0 && !st;) {
        nino_ui_instance *x = &ui->instances[i];
        const nino_ui_scope *s = &ui->scopes[x->scope];
        if (x->next == s->n_nodes) {
            i = x->parent;
            continue;
        }
        const int32_t at = x->next++;
        const nino_ui_node *n = &ui->nodes[s->first + at];
        if (x->child[at] >= 0)
            i = x->child[at];
        else if (n->kind == NINO_UI_NODE && !n->is_muted && !n->is_bypassed)
            st = ui_api_add_node(&e, i, s->first + at);
    }
    nino_buf_adds(out, ui->n_members ? "\n}\n" : "}\n");
    free(e.inputs);
    return st ? st : out->failed ? ui_api_nomem(&e) : NINO_OK;
}
