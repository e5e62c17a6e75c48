// Changing one value in the editor's form: in widgets_values, where a connected input is cut off
// first, in the primitive or in the subgraph's node that the value comes from.
#include "core/workflow/ui.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/param.h"
#include "core/node/table/known.h"

typedef struct edit {
    nino_ui *ui;
    int32_t member; // number of the node in the API form
    nino_ui_node *node;
    const char *key, *json;
    nino_error *err;
} edit;

__attribute__((format(printf, 2, 3))) static nino_status refuse(const edit *e, const char *fmt, ...)
{
    char where[160], why[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof(why), fmt, ap);
    va_end(ap);
    snprintf(where, sizeof(where), "node %.60s.%.80s", e->node->id, e->key);
    return nino_fail_kind(e->err, NINO_ERR_UNSUPPORTED, "ui", where,
                          "%s; ninodes convert makes an API-format workflow of it", why);
}

// ---- cutting a link --------------------------------------------------------------------------

// Takes the id out of an array of ids.
static nino_status forget_id(nino_ui *ui, const nino_json *list, const char *id, nino_error *err)
{
    for (nino_json *v = list && list->type == NINO_JSON_ARRAY ? list->child : NULL; v;
         v = v->next) {
        const char *s = nino_ui_id(v);
        if (s && !strcmp(s, id))
            return nino_json_remove(ui->doc, v, err);
    }
    return NINO_OK;
}

// In a damaged file several inputs name one link.
static bool is_named_elsewhere(const nino_ui *ui, const nino_ui_port *port)
{
    for (int32_t i = 0; i < ui->n_nodes; i++)
        for (int32_t k = 0; k < ui->nodes[i].n_ports; k++)
            if (&ui->nodes[i].ports[k] != port && ui->nodes[i].ports[k].link == port->link)
                return true;
    return false;
}

// In an order in which each step can be the last one that there is memory for: the input is connected
// until it says that it is not, and it can be cut again.
static nino_status ui_edit_cut(edit *e, nino_ui_port *port)
{
    nino_ui *ui = e->ui;
    const nino_ui_link *l =
        port->link >= 0 && !is_named_elsewhere(ui, port) ? &ui->links[port->link] : NULL;
    const nino_ui_scope *s = &ui->scopes[e->node->scope];
    nino_status st = NINO_OK;
    if (l && l->origin >= 0) {
        const nino_json *out = nino_json_at(ui->nodes[l->origin].outputs, (uint32_t) l->slot);
        st = forget_id(ui, nino_json_get(out, "links"), l->id, e->err);
    } else if (l && l->origin == NINO_UI_OUTER) {
        const nino_json *in = nino_json_at(s->inputs, (uint32_t) l->slot);
        st = forget_id(ui, nino_json_get(in, "linkIds"), l->id, e->err);
    }
    if (st == NINO_OK)
        st = nino_json_set(ui->doc, port->json, "link", "null", e->err);
    if (st == NINO_OK && l)
        st = nino_json_remove(ui->doc, l->json, e->err);
    if (st)
        return st;
    port->link = NINO_UI_NONE;
    port->link_id = NULL;
    return NINO_OK;
}

static nino_ui_port *connected_port(const nino_ui_node *n, const char *key)
{
    for (int32_t i = 0; i < n->n_ports; i++)
        if (!strcmp(n->ports[i].name, key) && n->ports[i].link_id)
            return &n->ports[i];
    return NULL;
}

// ---- places ----------------------------------------------------------------------------------

static nino_ui_place *ui_edit_find_place(const nino_ui *ui, int32_t i, const char *key)
{
    for (int32_t k = 0; k < ui->n_places; k++)
        if (ui->places[k].node == i && !strcmp(ui->places[k].key, key))
            return &ui->places[k];
    return NULL;
}

static bool add_place(nino_ui *ui, int32_t i, const char *key, nino_json *value)
{
    char *name = nino_arena_strdup(ui->arena, key);
    if (!name ||
        !nino_ui_grow((void **) &ui->places, ui->n_places, &ui->cap_places, sizeof(*ui->places)))
        return false;
    ui->places[ui->n_places++] = (nino_ui_place){ i, name, value };
    return true;
}

// ---- widgets_values --------------------------------------------------------------------------

static nino_json *find_value(const nino_ui_widgets *w, const char *name)
{
    for (int32_t i = 0; i < w->n; i++)
        if (!strcmp(w->list[i].name, name))
            return w->list[i].value;
    return NULL;
}

// One widget of the new array: its value, and the entry that belongs to it.
static bool ui_edit_add_value(const edit *e, const nino_ui_widget *w, const nino_json *old,
                              nino_buf *out)
{
    const nino_param *p = e->node->def ? nino_param_find(e->node->def, w->name) : NULL;
    nino_buf_adds(out, out->len > 1 ? ", " : "");
    if (!strcmp(w->name, e->key))
        nino_buf_adds(out, e->json);
    else if (old)
        nino_json_write(out, e->ui->doc, old);
    else if (p)
        nino_param_print(out, p, &p->def);
    else
        return false;
    if (w->mark == '+') {
        const char *s = old ? nino_json_str(old->next) : NULL;
        nino_buf_adds(out, ", ");
        if (s && nino_ui_is_control(s))
            nino_json_write(out, e->ui->doc, old->next);
        else
            nino_buf_adds(out, "\"fixed\"");
    } else if (w->mark == '^') {
        nino_buf_adds(out, ", \"image\"");
    }
    return true;
}

// Points the places of the node's values at their new entries.
static void move_places(nino_ui *ui, const nino_ui_widgets *old, const nino_ui_widgets *now)
{
    for (int32_t k = 0; k < ui->n_places; k++)
        for (int32_t i = 0; i < old->n; i++)
            if (old->list[i].value && ui->places[k].value == old->list[i].value) {
                ui->places[k].value = find_value(now, old->list[i].name);
                break;
            }
}

// Defaults that are written down now are values that the API form has too.
static nino_status add_places(edit *e, const nino_ui_widgets *now)
{
    if (e->member < 0)
        return NINO_OK; // nobody asks for the API form of this one
    for (int32_t i = 0; i < now->n; i++) {
        const nino_ui_widget *w = &now->list[i];
        if (w->value && strcmp(w->name, e->key) != 0 &&
            !ui_edit_find_place(e->ui, e->member, w->name) && !connected_port(e->node, w->name) &&
            !add_place(e->ui, e->member, w->name, w->value))
            return nino_ui_nomem(e->ui, e->err);
    }
    return NINO_OK;
}

// Would the new array be read as it is meant? Not where the file names the widgets of another
// version.
static nino_status try_array(edit *e, const char *json)
{
    nino_json_doc *doc = NULL;
    nino_ui_widgets w;
    nino_buf text = { 0 };
    nino_status st = nino_json_parse(json, strlen(json), e->key, NULL, &doc, e->err);
    if (st)
        return st;
    if (!nino_ui_bind(e->ui, e->node, doc->root, 0, &w)) {
        st = nino_ui_nomem(e->ui, e->err);
    } else {
        const nino_json *v = find_value(&w, e->key);
        if (v)
            nino_json_write(&text, doc, v);
        if (text.failed)
            st = nino_ui_nomem(e->ui, e->err);
        else if (!v || strcmp(text.data, e->json) != 0)
            st = refuse(e, "the file holds another version of %.60s", e->node->type);
    }
    nino_buf_release(&text);
    nino_json_doc_destroy(&doc);
    return st;
}

// The array has no entry for the key, as it is short or in a former order: writes it anew in
// today's.
static nino_status rewrite(edit *e, const nino_ui_widgets *old, nino_json **value)
{
    nino_ui *ui = e->ui;
    nino_ui_widgets now = { 0 };
    nino_buf b = { 0 };
    nino_status st = NINO_OK;
    bool found = false;
    if (!nino_ui_bind(ui, e->node, NULL, 0, &now))
        return nino_ui_nomem(ui, e->err);
    nino_buf_addc(&b, '[');
    for (int32_t i = 0; i < now.n && !st; i++) {
        const nino_json *v = find_value(old, now.list[i].name);
        found = found || !strcmp(now.list[i].name, e->key);
        if (!v && found && strcmp(now.list[i].name, e->key) != 0)
            break; // the tail stays away
        if (!ui_edit_add_value(e, &now.list[i], v, &b))
            st = refuse(e, "the value of %.60s before it is not in the file", now.list[i].name);
    }
    nino_buf_addc(&b, ']');
    if (st == NINO_OK && !found)
        st = refuse(e, "the node has no such widget");
    if (st == NINO_OK && b.failed)
        st = nino_ui_nomem(ui, e->err);
    if (st == NINO_OK)
        st = try_array(e, b.data);
    if (st == NINO_OK)
        st = nino_json_set(ui->doc, e->node->json, "widgets_values", b.data, e->err);
    nino_buf_release(&b);
    if (st)
        return st;
    e->node->values = (nino_json *) nino_json_get(e->node->json, "widgets_values");
    if (!nino_ui_bind(ui, e->node, e->node->values, 0, &now))
        return nino_ui_nomem(ui, e->err);
    move_places(ui, old, &now);
    *value = find_value(&now, e->key);
    return add_places(e, &now);
}

// An instance has no value of its own yet: its list is filled up to the entry's place.
static nino_status write_instance(edit *e, nino_json **value)
{
    nino_ui *ui = e->ui;
    uint32_t at;
    nino_status st = NINO_OK;
    nino_ui_host_value(ui, e->node, e->key, &at);
    if (at == UINT32_MAX)
        return refuse(e, "the node has no such widget");
    if (!e->node->values || e->node->values->type == NINO_JSON_NULL)
        st = nino_json_set(ui->doc, e->node->json, "widgets_values", "[]", e->err);
    nino_json *list = (nino_json *) nino_json_get(e->node->json, "widgets_values");
    if (!st && list->type == NINO_JSON_OBJECT)
        return nino_json_set(ui->doc, list, e->key, e->json, e->err);
    while (!st && list->count < at)
        st = nino_json_append(ui->doc, list, "null", e->err);
    if (st)
        return st;
    e->node->values = list;
    st = list->count == at
             ? nino_json_append(ui->doc, list, e->json, e->err)
             : nino_json_replace(ui->doc, (nino_json *) nino_json_at(list, at), e->json, e->err);
    *value = (nino_json *) nino_json_at(list, at);
    return st;
}

// widgets_values_named says the same as the list, wherever it has the name.
static nino_status write_name(nino_ui *ui, const nino_ui_node *n, const char *name,
                              const char *json, nino_error *err)
{
    nino_json *names = (nino_json *) nino_json_get(n->json, "widgets_values_named");
    nino_json *v = name ? (nino_json *) nino_json_get(names, name) : NULL;
    return v ? nino_json_replace(ui->doc, v, json, err) : NINO_OK;
}

// The name under which node n keeps this entry of its widgets_values; *name: NULL, it has none.
static bool name_of_value(nino_ui *ui, const nino_ui_node *n, const nino_json *value,
                          const char **name)
{
    const nino_json *proxies = nino_ui_proxies(ui, n), *at = n->values->child;
    nino_ui_widgets w;
    *name = value->key; // NULL in a list
    for (const nino_json *p = proxies ? proxies->child : NULL; p && at; p = p->next, at = at->next)
        if (at == value && !*name)
            *name = nino_json_str(nino_json_at(p, 1));
    if (!nino_ui_bind(ui, n, n->values, 0, &w))
        return false;
    for (int32_t i = 0; i < w.n && !*name; i++)
        if (w.list[i].value == value)
            *name = w.list[i].name;
    return true;
}

nino_status nino_ui_write_value(nino_ui *ui, nino_json *value, const char *json, nino_error *err)
{
    const nino_ui_node *n = NULL;
    const char *name;
    for (int32_t i = 0; i < ui->n_nodes && !n; i++)
        if (ui->nodes[i].values == value->parent)
            n = &ui->nodes[i];
    if (n && !name_of_value(ui, n, value, &name))
        return nino_ui_nomem(ui, err);
    const nino_status st = n ? write_name(ui, n, name, json, err) : NINO_OK;
    return st ? st : nino_json_replace(ui->doc, value, json, err);
}

// Does the choice of now bring the widgets that the other one brings?
static bool brings_same(const nino_ui_widget *w, const char *json)
{
    char other[80];
    const char *now = nino_json_str(w->value);
    snprintf(other, sizeof(other), "%.*s", (int) strcspn(json + 1, "\""), json + 1);
    return (now ? nino_known_option(w->options, now) : NULL) ==
           nino_known_option(w->options, other);
}

// Entries that another choice brought would be read as those of this one.
static nino_status check_choice(edit *e, const nino_ui_widgets *w)
{
    for (int32_t i = 0; i < w->n; i++)
        if (w->list[i].options && !strcmp(w->list[i].name, e->key) &&
            !brings_same(&w->list[i], e->json))
            return refuse(e, "other values depend on the choice");
    return NINO_OK;
}

// The value is in the file: in the node, or where its link comes from.
static nino_status write_place(edit *e, nino_ui_place *place)
{
    nino_ui_widgets w;
    if (!nino_ui_bind(e->ui, e->node, e->node->values, 0, &w))
        return nino_ui_nomem(e->ui, e->err);
    const nino_status st = check_choice(e, &w);
    return st ? st : nino_ui_write_value(e->ui, place->value, e->json, e->err);
}

static nino_status write_widget(edit *e, nino_json **value)
{
    nino_ui *ui = e->ui;
    nino_ui_widgets w;
    nino_json *values = e->node->values;
    if (!nino_ui_bind(ui, e->node, values, 0, &w))
        return nino_ui_nomem(ui, e->err);
    const bool is_instance =
        e->node->kind == NINO_UI_INSTANCE && !ui->scopes[e->node->inner].is_group;
    nino_status st = check_choice(e, &w);
    if (st)
        return st;
    if ((*value = find_value(&w, e->key)))
        return nino_ui_write_value(ui, *value, e->json, e->err);
    if (is_instance) {
        st = write_instance(e, value);
    } else if (!values || values->type != NINO_JSON_OBJECT) {
        st = rewrite(e, &w, value);
    } else {
        st = nino_json_set(ui->doc, values, e->key, e->json, e->err);
        *value = (nino_json *) nino_json_get(values, e->key);
    }
    return st ? st : write_name(ui, e->node, e->key, e->json, e->err);
}

// ---- setting ---------------------------------------------------------------------------------

// The choice of control_after_generate stands behind its value.
static nino_status ui_edit_write_control(edit *e)
{
    nino_ui_widgets w;
    nino_ui *ui = e->ui;
    if (!nino_ui_bind(ui, e->node, e->node->values, 0, &w))
        return nino_ui_nomem(ui, e->err);
    nino_json *value = find_value(&w, e->key);
    const char *s = value ? nino_json_str(value->next) : NULL;
    if (s && nino_ui_is_control(s))
        return nino_json_replace(ui->doc, value->next, e->json, e->err);
    return refuse(e, "the file has no place for it");
}

nino_status nino_ui_set_widget(nino_ui *ui, int32_t node, const char *key, const char *json,
                               bool is_control, nino_error *err)
{
    edit e = { ui, NINO_UI_NONE, &ui->nodes[node], key, json, err };
    nino_json *value = NULL;
    if (ui->scopes[e.node->scope].is_group)
        return refuse(&e, "it is inside a group node");
    return is_control ? ui_edit_write_control(&e) : write_widget(&e, &value);
}

nino_status nino_ui_set(nino_ui *ui, int32_t i, const char *key, const char *json,
                        const nino_json **shared, nino_error *err)
{
    edit e = { ui, i, &ui->nodes[ui->members[i].node], key, json, err };
    const nino_ui_scope *s = &ui->scopes[e.node->scope];
    nino_ui_place *place = ui_edit_find_place(ui, i, key);
    nino_json *value = NULL;
    *shared = NULL;
    if (json[0] == '[')
        return refuse(&e, "in a UI-format workflow only values can be set");
    if (place) {
        *shared = place->value;
        return write_place(&e, place);
    }
    if (s->is_group || s->n_instances > 1)
        return refuse(&e, "%.60s is used %d times and has one value", s->name, s->n_instances);
    nino_ui_port *port = connected_port(e.node, key);
    if (port && port->link >= 0 && ui->links[port->link].is_offered)
        return refuse(&e, "node %.60s gives it to all open inputs of its kind",
                      ui->links[port->link].from);
    nino_status st = write_widget(&e, &value);
    if (st == NINO_OK && port)
        st = ui_edit_cut(&e, port);
    if (st == NINO_OK && value && !add_place(ui, i, key, value))
        st = nino_ui_nomem(ui, err);
    return st;
}
