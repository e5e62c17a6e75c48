// Groups, and reroutes of the links themselves: points in "reroutes" (1.0 and subgraphs) or in
// "extra" (0.4), where a link ends at its last one and each names the one before it.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/document/doc.h"

// ---- groups ----------------------------------------------------------------------------------

static nino_status find_group(nino_doc_edit *e, int number, nino_json **out)
{
    *out = number < 0
               ? NULL
               : (nino_json *) nino_json_at(nino_ui_array(e->scope, "groups"), (uint32_t) number);
    return *out && (*out)->type == NINO_JSON_OBJECT
               ? NINO_OK
               : nino_fail(e->err, NINO_ERR_UNKNOWN, e->d->name, "no such group");
}

static void print_box(nino_buf *b, double x, double y, double width, double height)
{
    const double v[4] = { x, y, width, height };
    for (int i = 0; i < 4; i++) {
        nino_buf_adds(b, i ? ", " : "[");
        nino_doc_print_number(b, v[i]);
    }
    nino_buf_addc(b, ']');
}

nino_status nino_document_add_group(nino_document *d, const char *title, double x, double y,
                                    double width, double height, nino_error *err)
{
    nino_doc_edit e;
    nino_buf b = { 0 };
    int64_t most = 0, v = 0;
    nino_status st = nino_doc_edit_begin(&e, d, err);
    if (st)
        return st;
    nino_json *list = nino_doc_need(&e, e.scope, "groups", "[]", &st);
    for (const nino_json *g = st ? NULL : list->child; g; g = g->next)
        if (nino_json_i64(nino_json_get(g, "id"), &v) && v > most && v < INT32_MAX)
            most = v;
    nino_buf_addf(&b, "{\"id\": %" PRId64 ", \"title\": ", most + 1);
    nino_buf_add_json_string(&b, title, strlen(title));
    nino_buf_adds(&b, ", \"bounding\": ");
    print_box(&b, x, y, width, height);
    nino_buf_adds(&b, ", \"color\": \"#3f789e\", \"font_size\": 24, \"flags\": {}}");
    if (!st)
        st = b.failed ? nino_doc_nomem(d, err) : nino_json_append(e.json, list, b.data, err);
    nino_buf_release(&b);
    return nino_doc_edit_commit(&e, st, NULL, "Add group");
}

nino_status nino_document_set_group(nino_document *d, int group, const char *title,
                                    const char *color, nino_error *err)
{
    nino_doc_edit e;
    nino_json *g = NULL;
    nino_status st = nino_doc_edit_begin(&e, d, err);
    if (st)
        return st;
    st = find_group(&e, group, &g);
    if (!st && title)
        st = nino_doc_set_string(&e, g, "title", title);
    if (!st && color)
        st = nino_doc_set_string(&e, g, "color", color);
    return nino_doc_edit_commit(&e, st, NULL, title ? "Rename group" : "Colour group");
}

nino_status nino_document_place_group(nino_document *d, int group, double x, double y, double width,
                                      double height, nino_error *err)
{
    nino_doc_edit e;
    nino_buf b = { 0 };
    nino_json *g = NULL;
    nino_status st = nino_doc_edit_begin(&e, d, err);
    if (st)
        return st;
    st = find_group(&e, group, &g);
    print_box(&b, x, y, width, height);
    if (!st)
        st = b.failed ? nino_doc_nomem(d, err) : nino_json_set(e.json, g, "bounding", b.data, err);
    nino_buf_release(&b);
    return nino_doc_edit_commit(&e, st, NULL, "Move group");
}

nino_status nino_document_delete_group(nino_document *d, int group, nino_error *err)
{
    nino_doc_edit e;
    nino_json *g = NULL;
    nino_status st = nino_doc_edit_begin(&e, d, err);
    if (st)
        return st;
    st = find_group(&e, group, &g);
    if (!st)
        st = nino_json_remove(e.json, g, err);
    return nino_doc_edit_commit(&e, st, NULL, "Delete group");
}

// ---- reroutes --------------------------------------------------------------------------------

// The list new reroutes go to.
static nino_json *need_list(nino_doc_edit *e, nino_status *st)
{
    double version = 0;
    nino_json_double(nino_json_get(e->scope, "version"), &version);
    if (!e->is_root || version >= 1 || nino_ui_array(e->scope, "reroutes"))
        return nino_doc_need(e, e->scope, "reroutes", "[]", st);
    nino_json *extra = nino_doc_need(e, e->scope, "extra", "{}", st);
    return *st ? NULL : nino_doc_need(e, extra, "reroutes", "[]", st);
}

// Makes the link end at this reroute.
static nino_status set_parent(nino_doc_edit *e, nino_json *link, const char *id)
{
    nino_status st = NINO_OK;
    nino_doc_ends ends;
    nino_buf b = { 0 };
    if (link->type == NINO_JSON_OBJECT)
        return nino_json_set(e->json, link, "parentId", id, e->err);
    nino_doc_link_ends(link, &ends);
    nino_json *extra = nino_doc_need(e, e->scope, "extra", "{}", &st);
    nino_json *list = st ? NULL : nino_doc_need(e, extra, "linkExtensions", "[]", &st);
    nino_json *old = st ? NULL : nino_doc_find_id(list, ends.id);
    if (st || old)
        return st ? st : nino_json_set(e->json, old, "parentId", id, e->err);
    nino_buf_addf(&b, "{\"id\": %s, \"parentId\": %s}", ends.id, id);
    st = b.failed ? nino_doc_nomem(e->d, e->err) : nino_json_append(e->json, list, b.data, e->err);
    nino_buf_release(&b);
    return st;
}

nino_status nino_document_add_reroute(nino_document *d, int link, int at, double x, double y,
                                      nino_error *err)
{
    const nino_doc_link *l = nino_document_link(d, link);
    nino_doc_edit e;
    nino_buf b = { 0 };
    int64_t number = 0;
    char id[32];
    if (!l || at < 0 || at > l->n_reroutes)
        return nino_fail(err, NINO_ERR_UNKNOWN, d->name, "no such link");
    const char *before = at ? d->state->reroutes[l->reroutes[at - 1]].id : NULL;
    const char *after = at < l->n_reroutes ? d->state->reroutes[l->reroutes[at]].id : NULL;
    nino_status st = nino_doc_edit_begin(&e, d, err);
    if (st)
        return st;
    st = nino_doc_next_id(&e, "Reroute", &number);
    snprintf(id, sizeof(id), "%" PRId64, number);
    nino_buf_addf(&b, "{\"id\": %s, ", id);
    if (before)
        nino_buf_addf(&b, "\"parentId\": %s, ", before);
    nino_buf_adds(&b, "\"pos\": [");
    nino_doc_print_number(&b, x);
    nino_buf_adds(&b, ", ");
    nino_doc_print_number(&b, y);
    nino_buf_addf(&b, "], \"linkIds\": [%s]}", l->id);
    nino_json *list = st ? NULL : need_list(&e, &st);
    if (!st)
        st = b.failed ? nino_doc_nomem(d, err) : nino_json_append(e.json, list, b.data, err);
    nino_buf_release(&b);
    nino_json *next = after ? nino_doc_find_id(nino_doc_reroute_list(e.scope), after) : NULL;
    nino_json *json = nino_doc_link_json(&e, l->id);
    if (!st && next)
        st = nino_json_set(e.json, next, "parentId", id, err);
    else if (!st && json)
        st = set_parent(&e, json, id);
    return nino_doc_edit_commit(&e, st, NULL, "Add reroute");
}

nino_status nino_document_move_reroute(nino_document *d, const char *id, double dx, double dy,
                                       nino_error *err)
{
    nino_doc_edit e;
    double x = 0, y = 0;
    nino_status st = nino_doc_edit_begin(&e, d, err);
    if (st)
        return st;
    nino_json *v = nino_doc_find_id(nino_doc_reroute_list(e.scope), id);
    if (!v || !nino_doc_pair(nino_json_get(v, "pos"), &x, &y))
        st = nino_fail(err, NINO_ERR_UNKNOWN, id, "no such reroute");
    else
        st = nino_doc_set_pair(&e, v, "pos", x + dx, y + dy);
    return nino_doc_edit_commit(&e, st, NULL, "Move reroute");
}

static nino_status give_parent(nino_doc_edit *e, nino_json *v, const char *parent)
{
    nino_json *old = nino_doc_get(v, "parentId");
    if (parent)
        return nino_json_set(e->json, v, "parentId", parent, e->err);
    return old ? nino_json_remove(e->json, old, e->err) : NINO_OK;
}

// Whatever ends at reroute `id` ends at the one before it.
static nino_status skip_reroute(nino_doc_edit *e, const char *id, const char *parent)
{
    const nino_json *lists[3] = { nino_doc_reroute_list(e->scope), nino_ui_array(e->scope, "links"),
                                  nino_ui_array(nino_json_get(e->scope, "extra"),
                                                "linkExtensions") };
    nino_status st = NINO_OK;
    for (int i = 0; i < 3; i++) {
        nino_json *next;
        for (nino_json *v = lists[i] ? lists[i]->child : NULL; v && !st; v = next) {
            const char *to = nino_ui_id(nino_json_get(v, "parentId"));
            next = v->next;
            if (!to || strcmp(to, id) != 0)
                continue;
            st = i == 2 && !parent ? nino_json_remove(e->json, v, e->err)
                                   : give_parent(e, v, parent);
        }
    }
    return st;
}

nino_status nino_document_delete_reroute(nino_document *d, const char *id, nino_error *err)
{
    nino_doc_edit e;
    nino_status st = nino_doc_edit_begin(&e, d, err);
    if (st)
        return st;
    nino_json *v = nino_doc_find_id(nino_doc_reroute_list(e.scope), id);
    if (!v)
        st = nino_fail(err, NINO_ERR_UNKNOWN, id, "no such reroute");
    else
        st = skip_reroute(&e, id, nino_ui_id(nino_json_get(v, "parentId")));
    if (!st)
        st = nino_json_remove(e.json, v, err);
    return nino_doc_edit_commit(&e, st, NULL, "Delete reroute");
}
