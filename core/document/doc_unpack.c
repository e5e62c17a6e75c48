// The nodes of a subgraph in the place of one of its instances: pasted, then connected as the
// instance was; values that the instance kept come along. A definition that nobody uses any more
// goes. Rules: Comfy-Org/ComfyUI_frontend src/lib/litegraph/src/LGraph.ts (unpackSubgraph).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/document/doc.h"

typedef struct tie { // to make; a node: its number among the pasted ones, or an id outside
    int from, to;
    const char *from_id, *to_id;
    int from_slot, to_slot;
} tie;

typedef struct value { // that the instance kept for an inner widget
    int node;
    const char *widget, *json;
} value;

typedef struct unpacker {
    nino_document *d;
    const nino_doc_node *n;
    const nino_ui_scope *inner;
    nino_arena *arena; // of the texts below
    tie *ties;
    value *values;
    size_t n_ties, n_values;
    nino_error *err;
} unpacker;

// ---- reading -----------------------------------------------------------------------------------

static int position(const unpacker *u, const char *id)
{
    const nino_json *list = nino_ui_array(u->inner->json, "nodes");
    int i = 0;
    for (const nino_json *v = list ? list->child : NULL; v; v = v->next, i++) {
        const char *s = nino_ui_id(nino_json_get(v, "id"));
        if (s && !strcmp(s, id))
            return i;
    }
    return -1;
}

static const char *input_name(const unpacker *u, int k) // of the definition, or NULL
{
    const nino_json *input = k < 0 ? NULL : nino_json_at(u->inner->inputs, (uint32_t) k);
    return nino_json_str(nino_json_get(input, "name"));
}

// The instance's input that is input k of the definition.
static const nino_doc_input *outer_input(const unpacker *u, int k)
{
    const char *name = input_name(u, k);
    for (int i = 0; name && i < u->n->n_inputs; i++)
        if (!strcmp(u->n->inputs[i].name, name))
            return &u->n->inputs[i];
    if (u->n->n_inputs == u->inner->n_inputs && k >= 0 && k < u->n->n_inputs)
        return &u->n->inputs[k];
    return NULL;
}

static const char *doc_unpack_keep(unpacker *u, const char *s)
{
    return nino_arena_strdup(u->arena, s ? s : "");
}

// Inner and outer origin (inner < 0: the one outside of input k; none: nothing).
static bool find_origin(unpacker *u, const nino_doc_ends *l, tie *t)
{
    const nino_doc_state *s = u->d->state;
    t->from = position(u, l->from);
    t->from_slot = l->from_slot;
    if (t->from >= 0)
        return true;
    const nino_doc_input *in = outer_input(u, l->from_slot);
    if (!in || in->link < 0)
        return false;
    t->from_id = doc_unpack_keep(u, s->nodes[s->links[in->link].from].id);
    t->from_slot = s->links[in->link].from_slot;
    return true;
}

// A value that stood on the instance belongs to the inner widget now.
static void take_value(unpacker *u, const nino_doc_ends *l, const nino_ui_node *to)
{
    const nino_doc_input *in = outer_input(u, l->from_slot);
    const char *name = input_name(u, l->from_slot);
    const nino_doc_widget *w =
        name && (!in || in->link < 0) ? nino_doc_widget_find(u->n, name) : NULL;
    if (!w && in && in->link < 0 && in->widget)
        w = nino_doc_widget_find(u->n, in->widget);
    const int at = position(u, l->to);
    if (!w || !w->json || at < 0 || l->to_slot < 0 || l->to_slot >= to->n_ports ||
        !to->ports[l->to_slot].widget)
        return;
    u->values[u->n_values++] = (value){ at, doc_unpack_keep(u, to->ports[l->to_slot].widget),
                                        doc_unpack_keep(u, w->json) };
}

// The same of values that it kept in the place of inner ones it shows.
static void take_shown(unpacker *u, const nino_ui_node *n)
{
    const nino_ui *ui = u->d->state->ui;
    const nino_json *list = nino_ui_proxies(ui, n);
    for (const nino_json *v = list ? list->child : NULL; v; v = v->next) {
        const char *id = nino_ui_id(nino_json_at(v, 0)), *w = nino_json_str(nino_json_at(v, 1));
        const int inner = id && w ? position(u, id) : -1;
        uint32_t at;
        const nino_json *kept = inner >= 0 ? nino_ui_proxy_value(ui, n, id, w, &at) : NULL;
        nino_buf b = { 0 };
        if (!kept || nino_ui_is_extra(w))
            continue;
        nino_json_write(&b, u->d->state->json, kept);
        if (b.data)
            u->values[u->n_values++] =
                (value){ inner, doc_unpack_keep(u, w), doc_unpack_keep(u, b.data) };
        nino_buf_release(&b);
    }
}

static void take_link(unpacker *u, const nino_doc_ends *l)
{
    const nino_doc_state *s = u->d->state;
    const int32_t scope = (int32_t) (u->inner - s->ui->scopes);
    tie t = { .from = -1, .to = position(u, l->to), .to_slot = l->to_slot };
    const int32_t target = nino_ui_get(s->ui, NINO_UI_IS_NODE, scope, l->to);
    const bool is_inner = position(u, l->from) >= 0 && t.to >= 0;
    if (is_inner)
        return; // the clipboard has it
    if (!find_origin(u, l, &t)) {
        if (target >= 0)
            take_value(u, l, &s->ui->nodes[target]);
        return;
    }
    if (t.to >= 0) {
        u->ties[u->n_ties++] = t;
        return;
    }
    for (int i = 0; i < s->n_links; i++) { // to all that the instance's output went to
        const nino_doc_link *o = &s->links[i];
        if (&s->nodes[o->from] != u->n || o->from_slot != l->to_slot)
            continue;
        t.to_id = doc_unpack_keep(u, s->nodes[o->to].id);
        t.to_slot = o->to_slot;
        u->ties[u->n_ties++] = t;
    }
}

static nino_status doc_unpack_read_links(unpacker *u)
{
    const nino_json *links = nino_ui_array(u->inner->json, "links");
    const size_t most =
        ((links ? links->count : 0) + (size_t) 1) * ((size_t) u->d->state->n_links + 1);
    u->ties = calloc(most, sizeof(*u->ties));
    u->values =
        calloc((links ? links->count : 0) + (size_t) NINO_UI_MAX_INPUTS + 1, sizeof(*u->values));
    u->arena = nino_arena_create();
    if (!u->ties || !u->values || !u->arena)
        return nino_doc_nomem(u->d, u->err);
    for (const nino_json *v = links ? links->child : NULL; v; v = v->next) {
        nino_doc_ends l;
        if (nino_doc_link_ends(v, &l))
            take_link(u, &l);
    }
    const nino_doc_state *s = u->d->state;
    take_shown(u, &s->ui->nodes[nino_ui_get(s->ui, NINO_UI_IS_NODE, s->scope, u->n->id)]);
    for (size_t i = 0; i < u->n_ties; i++)
        if ((u->ties[i].from < 0 && !u->ties[i].from_id) ||
            (u->ties[i].to < 0 && !u->ties[i].to_id))
            return nino_doc_nomem(u->d, u->err);
    return NINO_OK;
}

// What is inside as a workflow of its own, without the links to its ends.
static nino_status print_inside(unpacker *u, nino_buf *b)
{
    const nino_doc_state *s = u->d->state;
    static const char *const parts[] = { "nodes", "groups" };
    const nino_json *links = nino_ui_array(u->inner->json, "links");
    bool is_first = true;
    nino_buf_adds(b, "{\"version\": 1");
    for (int i = 0; i < 2; i++) {
        const nino_json *v = nino_ui_array(u->inner->json, parts[i]);
        nino_buf_addf(b, ", \"%s\": ", parts[i]);
        v ? nino_json_write(b, s->json, v) : nino_buf_adds(b, "[]");
    }
    nino_buf_adds(b, ", \"definitions\": ");
    nino_json_write(b, s->json, nino_json_get(s->json->root, "definitions"));
    nino_buf_adds(b, ", \"links\": [");
    for (const nino_json *v = links ? links->child : NULL; v; v = v->next) {
        nino_doc_ends l;
        if (!nino_doc_link_ends(v, &l) || position(u, l.from) < 0 || position(u, l.to) < 0)
            continue;
        nino_buf_adds(b, is_first ? "" : ", ");
        is_first = false;
        nino_json_write(b, s->json, v);
    }
    nino_buf_adds(b, "]}");
    return b->failed ? nino_doc_nomem(u->d, u->err) : NINO_OK;
}

// ---- changing ----------------------------------------------------------------------------------

static nino_status tie_outside(unpacker *u, int first)
{
    nino_status st = NINO_OK;
    for (size_t i = 0; i < u->n_ties && !st; i++) {
        const tie *t = &u->ties[i];
        if ((t->from < 0 && !t->from_id) || (t->to < 0 && !t->to_id))
            return nino_doc_nomem(u->d, u->err);
        const int from = t->from >= 0 ? first + t->from : nino_document_find(u->d, t->from_id),
                  to = t->to >= 0 ? first + t->to : nino_document_find(u->d, t->to_id);
        st = nino_document_connect(u->d, from, t->from_slot, to, t->to_slot, u->err);
    }
    for (size_t i = 0; i < u->n_values && !st; i++) {
        const nino_doc_node *n = nino_document_node(u->d, first + u->values[i].node);
        const char *id = n ? doc_unpack_keep(u, n->id) : NULL;
        const char *widget = u->values[i].widget, *json = u->values[i].json;
        st = id && widget && json ? nino_document_set_json(u->d, id, widget, json, u->err)
                                  : nino_doc_nomem(u->d, u->err);
    }
    return st;
}

static bool has_instance(const nino_json *scope, const char *type)
{
    const nino_json *list = nino_ui_array(scope, "nodes");
    for (const nino_json *v = list ? list->child : NULL; v; v = v->next) {
        const char *s = nino_json_str(nino_json_get(v, "type"));
        if (s && !strcmp(s, type))
            return true;
    }
    return false;
}

static nino_status drop_definition(unpacker *u, const char *type)
{
    nino_doc_edit e;
    nino_status st = nino_doc_edit_begin(&e, u->d, u->err);
    if (st)
        return st;
    const nino_json *defs = nino_ui_array(nino_json_get(e.json->root, "definitions"), "subgraphs");
    bool is_used = has_instance(e.json->root, type);
    for (const nino_json *v = defs ? defs->child : NULL; v; v = v->next)
        is_used = is_used || has_instance(v, type);
    nino_json *own = is_used ? NULL : nino_doc_find_id(defs, type);
    if (own)
        st = nino_json_remove(e.json, own, u->err);
    return nino_doc_edit_commit(&e, st, NULL, "Unpack subgraph");
}

static nino_status doc_unpack_unpack(unpacker *u, const char *id, int *first, int *n)
{
    nino_buf b = { 0 };
    const char *type = NULL;
    const nino_doc_node *node = u->n;
    const double x = node->x + node->width / 2, y = node->y + node->height / 2;
    nino_status st = doc_unpack_read_links(u);
    if (!st && !(type = doc_unpack_keep(u, node->type)))
        st = nino_doc_nomem(u->d, u->err);
    if (!st)
        st = print_inside(u, &b);
    nino_document_begin(u->d, "Unpack subgraph");
    if (!st)
        st = nino_document_paste(u->d, b.data, b.len, x, y, false, first, n, u->err);
    if (!st)
        st = tie_outside(u, *first);
    if (!st)
        st = nino_document_delete(u->d, &id, 1, u->err);
    if (!st)
        st = drop_definition(u, type);
    if (st)
        nino_document_cancel(u->d);
    else
        st = nino_document_end(u->d, u->err);
    nino_buf_release(&b);
    return st;
}

nino_status nino_document_unpack(nino_document *d, const char *id, int *first, int *n,
                                 nino_error *err)
{
    nino_error mine = { 0 };
    int at = 0, count = 0;
    unpacker u = { .d = d, .err = err ? err : &mine };
    const nino_doc_state *s = d->state;
    u.n = nino_document_node(d, nino_document_find(d, id));
    const int32_t i = u.n ? nino_ui_get(s->ui, NINO_UI_IS_NODE, s->scope, id) : -1;
    if (i < 0 || u.n->kind != NINO_DOC_SUBGRAPH || s->ui->nodes[i].inner < 0)
        return nino_fail(err, NINO_ERR_ARG, id, "not a subgraph");
    u.inner = &s->ui->scopes[s->ui->nodes[i].inner];
    if (u.inner->is_group)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, id, "a group node cannot be unpacked");
    char own[64];
    snprintf(own, sizeof(own), "%s", id); // it may be the document's own text, which changes
    const nino_status st = doc_unpack_unpack(&u, own, &at, &count);
    if (!st && first)
        *first = at - 1; // the instance stood before them
    if (!st && n)
        *n = count;
    free(u.ties);
    free(u.values);
    nino_arena_destroy(&u.arena);
    return st;
}
