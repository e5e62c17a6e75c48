// Connecting and disconnecting in a workflow's JSON, both ends and the bends of a link included.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/error.h"
#include "core/document/doc.h"

// ---- reading ---------------------------------------------------------------------------------

bool nino_doc_link_ends(const nino_json *link, nino_doc_ends *out)
{
    static const char *const keys[5] = { "id", "origin_id", "origin_slot", "target_id",
                                         "target_slot" };
    const nino_json *v[5];
    for (uint32_t i = 0; i < 5; i++)
        v[i] =
            link->type == NINO_JSON_OBJECT ? nino_json_get(link, keys[i]) : nino_json_at(link, i);
    *out = (nino_doc_ends){ nino_ui_id(v[0]), nino_ui_id(v[1]), nino_ui_id(v[3]),
                            nino_ui_slot(v[2]), nino_ui_slot(v[4]) };
    return out->id && out->from && out->to;
}

nino_json *nino_doc_link_json(nino_doc_edit *e, const char *id)
{
    const nino_json *list = nino_ui_array(e->scope, "links");
    nino_doc_ends ends;
    for (nino_json *v = list ? list->child : NULL; v; v = v->next)
        if (nino_doc_link_ends(v, &ends) && !strcmp(ends.id, id))
            return v;
    return NULL;
}

const nino_json *nino_doc_reroute_list(const nino_json *scope)
{
    const nino_json *own = nino_ui_array(scope, "reroutes");
    return own ? own : nino_ui_array(nino_json_get(scope, "extra"), "reroutes");
}

static nino_json *extension(const nino_json *scope, const char *link_id)
{
    return nino_doc_find_id(nino_ui_array(nino_json_get(scope, "extra"), "linkExtensions"),
                            link_id);
}

const char *nino_doc_link_parent(const nino_json *scope, const nino_json *link)
{
    const nino_json *v = link->type == NINO_JSON_OBJECT ? nino_json_get(link, "parentId") : NULL;
    nino_doc_ends ends;
    if (!v && nino_doc_link_ends(link, &ends))
        v = nino_json_get(extension(scope, ends.id), "parentId");
    return nino_ui_id(v);
}

// The array of link ids at one end, when the file has it.
static nino_json *end_list(nino_doc_edit *e, const char *node, int32_t slot, bool is_output)
{
    nino_json *n = nino_doc_find_id(nino_ui_array(e->scope, "nodes"), node);
    const bool is_end = !n && !e->is_root; // the subgraph's own: its inputs give, its outputs take
    const char *ports = is_end == is_output ? "inputs" : "outputs";
    const nino_json *list = nino_ui_array(is_end ? e->scope : n, ports);
    const nino_json *port = slot >= 0 ? nino_json_at(list, (uint32_t) slot) : NULL;
    return nino_doc_get(port, is_end ? "linkIds" : "links");
}

// ---- cutting ---------------------------------------------------------------------------------

// A reroute that no link goes through any more is gone.
static nino_status forget_bends(nino_doc_edit *e, const char *id)
{
    const nino_json *list = nino_doc_reroute_list(e->scope);
    nino_json *next, *ext = extension(e->scope, id);
    nino_status st = NINO_OK;
    for (nino_json *v = list ? list->child : NULL; v && !st; v = next) {
        next = v->next;
        nino_json *ids = nino_doc_get(v, "linkIds");
        const uint32_t had = ids ? ids->count : 0;
        st = nino_doc_drop_id(e, ids, id);
        if (!st && ids && had && !ids->count)
            st = nino_json_remove(e->json, v, e->err);
    }
    return st || !ext ? st : nino_json_remove(e->json, ext, e->err);
}

nino_status nino_doc_cut(nino_doc_edit *e, nino_json *link)
{
    nino_doc_ends ends;
    nino_status st = NINO_OK;
    if (!nino_doc_link_ends(link, &ends))
        return nino_json_remove(e->json, link, e->err);
    st = nino_doc_drop_id(e, end_list(e, ends.from, ends.from_slot, true), ends.id);
    const nino_json *to = nino_doc_find_id(nino_ui_array(e->scope, "nodes"), ends.to);
    if (!st && !to)
        st = nino_doc_drop_id(e, end_list(e, ends.to, ends.to_slot, false), ends.id);
    const nino_json *inputs = nino_ui_array(to, "inputs"); // the slot may be out of date
    for (nino_json *v = inputs ? inputs->child : NULL; v && !st; v = v->next) {
        const char *id = nino_ui_id(nino_json_get(v, "link"));
        if (id && !strcmp(id, ends.id))
            st = nino_json_set(e->json, v, "link", "null", e->err);
    }
    if (!st)
        st = forget_bends(e, ends.id);
    return st ? st : nino_json_remove(e->json, link, e->err);
}

nino_status nino_doc_cut_node(nino_doc_edit *e, const char *id)
{
    const nino_json *list = nino_ui_array(e->scope, "links");
    nino_status st = NINO_OK;
    nino_json *next;
    nino_doc_ends ends;
    for (nino_json *v = list ? list->child : NULL; v && !st; v = next) {
        next = v->next;
        if (nino_doc_link_ends(v, &ends) && (!strcmp(ends.from, id) || !strcmp(ends.to, id)))
            st = nino_doc_cut(e, v);
    }
    return st;
}

// ---- tying -----------------------------------------------------------------------------------

static void doc_link_add_id(nino_buf *b, const char *id)
{
    if (id[strspn(id, "-0123456789")])
        nino_buf_add_json_string(b, id, strlen(id));
    else
        nino_buf_adds(b, id);
}

// Links are arrays in the root of a 0.4 file, objects elsewhere.
static bool links_are_objects(const nino_doc_edit *e)
{
    const nino_json *list = nino_ui_array(e->scope, "links"), *v = list ? list->child : NULL;
    double version = 0;
    if (v)
        return v->type == NINO_JSON_OBJECT;
    nino_json_double(nino_json_get(e->scope, "version"), &version);
    return !e->is_root || version >= 1;
}

static nino_status doc_link_add_link(nino_doc_edit *e, const char *id, const nino_doc_ends *l,
                                     const char *type)
{
    nino_buf b = { 0 };
    nino_status st = NINO_OK;
    nino_json *list = nino_doc_need(e, e->scope, "links", "[]", &st);
    const bool is_object = links_are_objects(e);
    nino_buf_addf(&b, is_object ? "{\"id\": %s, \"origin_id\": " : "[%s, ", id);
    doc_link_add_id(&b, l->from);
    nino_buf_addf(&b,
                  is_object ? ", \"origin_slot\": %" PRId32 ", \"target_id\": " : ", %" PRId32 ", ",
                  l->from_slot);
    doc_link_add_id(&b, l->to);
    nino_buf_addf(&b, is_object ? ", \"target_slot\": %" PRId32 ", \"type\": " : ", %" PRId32 ", ",
                  l->to_slot);
    nino_buf_add_json_string(&b, type, strlen(type));
    nino_buf_addc(&b, is_object ? '}' : ']');
    if (!st)
        st = b.failed ? nino_doc_nomem(e->d, e->err)
                      : nino_json_append(e->json, list, b.data, e->err);
    nino_buf_release(&b);
    return st;
}

// Writes the id down at an end whose list may be absent or null.
static nino_status note_id(nino_doc_edit *e, const char *node, int32_t slot, bool is_output,
                           const char *id)
{
    nino_status st = NINO_OK;
    nino_json *n = nino_doc_find_id(nino_ui_array(e->scope, "nodes"), node);
    const bool is_end = !n && !e->is_root;
    const char *ports = is_end == is_output ? "inputs" : "outputs";
    nino_json *port =
        (nino_json *) nino_json_at(nino_ui_array(is_end ? e->scope : n, ports), (uint32_t) slot);
    if (!port)
        return nino_fail_kind(e->err, NINO_ERR_ARG, "slot", node, "there is no such slot");
    nino_json *list = nino_doc_need(e, port, is_end ? "linkIds" : "links", "[]", &st);
    return st ? st : nino_json_append(e->json, list, id, e->err);
}

nino_status nino_doc_tie(nino_doc_edit *e, const char *from, int output, const char *to, int input,
                         const char *type)
{
    const nino_doc_ends l = { NULL, from, to, output, input };
    int64_t number = 0;
    char id[32];
    nino_status st = nino_doc_next_id(e, "Link", &number);
    snprintf(id, sizeof(id), "%" PRId64, number);
    if (!st)
        st = doc_link_add_link(e, id, &l, type);
    if (!st)
        st = note_id(e, from, output, true, id);
    const nino_json *n = nino_doc_find_id(nino_ui_array(e->scope, "nodes"), to);
    nino_json *port = (nino_json *) nino_json_at(nino_ui_array(n, "inputs"), (uint32_t) input);
    if (!st && n && !port)
        return nino_fail_kind(e->err, NINO_ERR_ARG, "slot", to, "there is no such input");
    if (!st)
        st =
            n ? nino_json_set(e->json, port, "link", id, e->err) : note_id(e, to, input, false, id);
    return st;
}

// ---- types -----------------------------------------------------------------------------------

static bool has_type(const char *list, const char *type, size_t n)
{
    for (const char *s = list; *s;) {
        const size_t len = strcspn(s, ",");
        if (len == n && !strncasecmp(s, type, n))
            return true;
        s += len + (s[len] == ',');
    }
    return false;
}

bool nino_document_types_fit(const char *from, const char *to)
{
    if (!strcmp(from, "*") || !strcmp(to, "*") || !*from || !*to)
        return true;
    for (const char *s = from; *s;) {
        const size_t len = strcspn(s, ",");
        if (has_type(to, s, len))
            return true;
        s += len + (s[len] == ',');
    }
    return false;
}

// Does `to` lead to `from` already?
static nino_status check_cycle(const nino_document *d, int from, int to, nino_error *err)
{
    const nino_doc_state *s = d->state;
    bool grows = true, *seen = calloc((size_t) s->n_nodes + 1, sizeof(*seen));
    if (!seen)
        return nino_doc_nomem(d, err);
    seen[to] = true;
    while (grows && !seen[from]) {
        grows = false;
        for (int i = 0; i < s->n_links; i++)
            if (seen[s->links[i].from] && !seen[s->links[i].to])
                grows = seen[s->links[i].to] = true;
    }
    const bool is_cycle = seen[from];
    free(seen);
    return is_cycle ? nino_fail_kind(err, NINO_ERR_ARG, "cycle", s->nodes[to].title,
                                     "this link would make a circle")
                    : NINO_OK;
}

// ---- the public side -------------------------------------------------------------------------

// What the editor writes into nodes that take the type of what they are connected with.
static nino_status adapt(nino_doc_edit *e, const nino_doc_node *n, const char *type,
                         const char *name, const char *widget, const char *value)
{
    nino_status st = NINO_OK;
    nino_buf b = { 0 };
    nino_json *json = nino_doc_node_json(e, n->id, &st);
    nino_json *out = st ? NULL : (nino_json *) nino_json_at(nino_ui_array(json, "outputs"), 0);
    if (!out)
        return st;
    st = nino_doc_set_string(e, out, "type", type);
    if (!st)
        st = nino_doc_set_string(e, out, "name", name);
    if (!st && widget) {
        nino_buf_adds(&b, "{\"name\": ");
        nino_buf_add_json_string(&b, widget, strlen(widget));
        nino_buf_addc(&b, '}');
        st = b.failed ? nino_doc_nomem(e->d, e->err)
                      : nino_json_set(e->json, out, "widget", b.data, e->err);
        nino_buf_clear(&b);
    }
    if (!st && value && !n->n_widgets) {
        nino_buf_addf(&b, "[%s, \"fixed\"]", value);
        st = b.failed ? nino_doc_nomem(e->d, e->err)
                      : nino_json_set(e->json, json, "widgets_values", b.data, e->err);
    }
    nino_buf_release(&b);
    return st;
}

// Makes the input that stands for a widget. *slot: its number.
static nino_status doc_link_make_input(nino_doc_edit *e, const nino_doc_node *n,
                                       const nino_doc_input *in, int *slot)
{
    nino_buf b = { 0 };
    nino_status st = NINO_OK;
    nino_json *json = nino_doc_node_json(e, n->id, &st);
    nino_json *list = st ? NULL : nino_doc_need(e, json, "inputs", "[]", &st);
    if (st)
        return st;
    *slot = (int) list->count;
    nino_buf_adds(&b, "{\"name\": ");
    nino_buf_add_json_string(&b, in->name, strlen(in->name));
    nino_buf_adds(&b, ", \"type\": ");
    nino_buf_add_json_string(&b, in->type, strlen(in->type));
    nino_buf_adds(&b, ", \"widget\": {\"name\": ");
    nino_buf_add_json_string(&b, in->name, strlen(in->name)); // its widget has the same name
    nino_buf_adds(&b, "}, \"link\": null}");
    st = b.failed ? nino_doc_nomem(e->d, e->err) : nino_json_append(e->json, list, b.data, e->err);
    nino_buf_release(&b);
    return st;
}

static nino_status adapt_ends(nino_doc_edit *e, const nino_doc_node *from, int output,
                              const nino_doc_node *to, const nino_doc_input *in)
{
    const char *type = from->outputs[output].type;
    if (to->kind == NINO_DOC_REROUTE)
        return adapt(e, to, type, strcmp(type, "*") ? type : "", NULL, NULL);
    if (from->kind != NINO_DOC_PRIMITIVE || !in->widget)
        return NINO_OK;
    const nino_doc_widget *w = nino_doc_widget_find(to, in->widget);
    return adapt(e, from, in->type, in->type, in->widget, w ? w->json : NULL);
}

nino_status nino_document_connect(nino_document *d, int from, int output, int to, int input,
                                  nino_error *err)
{
    const nino_doc_node *a = nino_document_node(d, from), *b = nino_document_node(d, to);
    nino_doc_edit e;
    int slot = input;
    if (!a || !b || output < 0 || output >= a->n_outputs || input < 0 || input >= b->n_inputs)
        return nino_fail_kind(err, NINO_ERR_ARG, "slot", d->name, "there is no such slot");
    const nino_doc_input *in = &b->inputs[input];
    const char *type = a->outputs[output].type;
    if (!nino_document_types_fit(type, in->type))
        return nino_fail_kind(err, NINO_ERR_ARG, "type", b->title,
                              "%.60s needs %.60s, this is %.60s", in->label, in->type, type);
    if (a->kind == NINO_DOC_PRIMITIVE && !in->widget && b->kind != NINO_DOC_REROUTE)
        return nino_fail_kind(err, NINO_ERR_ARG, "type", b->title, "%.60s is not a value",
                              in->label);
    nino_status st = check_cycle(d, from, to, err);
    if (st || (st = nino_doc_edit_begin(&e, d, err)))
        return st;
    nino_json *old = in->link >= 0 ? nino_doc_link_json(&e, d->state->links[in->link].id) : NULL;
    if (old)
        st = nino_doc_cut(&e, old);
    if (!st && in->is_virtual)
        st = doc_link_make_input(&e, b, in, &slot);
    if (!st)
        st = nino_doc_tie(&e, a->id, output, b->id, slot, strcmp(type, "*") ? type : in->type);
    if (!st)
        st = adapt_ends(&e, a, output, b, in);
    if (!st)
        st = nino_doc_grow(&e, b, in->name);
    return nino_doc_edit_commit(&e, st, NULL, "Connect");
}

// Cuts the links of an input (is_output: false) or an output.
static nino_status disconnect(nino_document *d, int node, int slot, bool is_output, nino_error *err)
{
    const nino_doc_state *s = d->state;
    const nino_doc_link *offered = NULL;
    nino_doc_edit e;
    nino_status st = nino_doc_edit_begin(&e, d, err);
    int n_cut = 0;
    for (int i = 0; i < s->n_links && !st; i++) {
        const nino_doc_link *l = &s->links[i];
        if (is_output ? l->from != node || l->from_slot != slot
                      : l->to != node || l->to_slot != slot)
            continue;
        if (l->is_offered) {
            offered = l;
            continue;
        }
        n_cut++;
        nino_json *json = nino_doc_link_json(&e, l->id);
        if (json)
            st = nino_doc_cut(&e, json);
    }
    if (!st && offered && !n_cut)
        st = nino_fail_kind(err, NINO_ERR_ARG, "link", s->nodes[offered->to].title,
                            "%.60s is connected by Use Everywhere, from %.60s: connect it to "
                            "something else, or take that node away",
                            s->nodes[offered->to].inputs[offered->to_slot].label,
                            s->nodes[offered->from].title);
    return e.json ? nino_doc_edit_commit(&e, st, NULL, "Disconnect") : st;
}

nino_status nino_document_disconnect(nino_document *d, int node, int input, nino_error *err)
{
    return disconnect(d, node, input, false, err);
}

nino_status nino_document_disconnect_output(nino_document *d, int node, int output, nino_error *err)
{
    return disconnect(d, node, output, true, err);
}
