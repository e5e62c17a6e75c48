// What the editor puts right when it loads a file: node ids that are there twice, and links that
// only their origin knows. Done in the document itself, so that whoever edits it finds one truth.
// Rules: Comfy-Org/ComfyUI_frontend src/utils/linkFixer.ts.
#include "core/workflow/ui.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/num.h"

// Each repair writes the text anew; a file that needs more of them was not made by an editor.
#define MAX_REPAIRS 512

typedef struct repair {
    nino_ui *ui;
    int32_t scope;
    bool is_inner; // of a subgraph
    nino_json *json;
    nino_json **nodes; // in the order of the file
    int32_t n_nodes;
    int n_done;
    nino_error *err;
    bool failed;
} repair;

static nino_json *repair_node(const repair *r, const char *id)
{
    const int32_t i = nino_ui_get(r->ui, NINO_UI_IS_ENTRY, r->scope, id);
    return i >= 0 ? r->nodes[i] : NULL;
}

// The node that has this id already; NULL: it is n's now.
static nino_json *repair_first(repair *r, const char *id, nino_json *n)
{
    const int32_t i = nino_ui_put(r->ui, NINO_UI_IS_ENTRY, r->scope, id, r->n_nodes, &r->failed);
    if (i >= 0)
        return r->nodes[i];
    r->nodes[r->n_nodes++] = n;
    return NULL;
}

static nino_status repair_count(repair *r)
{
    return r->n_done++ < MAX_REPAIRS
               ? NINO_OK
               : nino_fail_kind(r->err, NINO_ERR_FORMAT, "limit", r->ui->name,
                                "more than %d ids or links that do not agree", MAX_REPAIRS);
}

// ---- ids that are there twice ----------------------------------------------------------------

static int64_t repair_largest_id(const nino_json *nodes)
{
    int64_t most = 0, v = 0;
    for (const nino_json *n = nodes->child; n; n = n->next) {
        const char *id = nino_ui_id(nino_json_get(n, "id"));
        if (id && nino_parse_i64(id, &v) && v > most && v < INT64_MAX / 2)
            most = v;
    }
    return most;
}

static bool has_repair_id(const nino_json *list, const char *id)
{
    for (const nino_json *v = list && list->type == NINO_JSON_ARRAY ? list->child : NULL; v;
         v = v->next) {
        const char *own = nino_ui_id(v);
        if (own && !strcmp(own, id))
            return true;
    }
    return false;
}

// Does the node's input or output know this link?
static bool knows_repair_link(const nino_json *node, bool is_origin, const char *id)
{
    const nino_json *ends = nino_ui_array(node, is_origin ? "outputs" : "inputs");
    for (const nino_json *v = ends ? ends->child : NULL; v; v = v->next) {
        const char *own = is_origin ? NULL : nino_ui_id(nino_json_get(v, "link"));
        if (is_origin ? has_repair_id(nino_json_get(v, "links"), id) : own && !strcmp(own, id))
            return true;
    }
    return false;
}

static nino_json *repair_end(const nino_json *link, bool is_origin)
{
    return (nino_json *) (link->type == NINO_JSON_OBJECT
                              ? nino_json_get(link, is_origin ? "origin_id" : "target_id")
                              : nino_json_at(link, is_origin ? 1 : 3));
}

static const char *repair_link_id(const nino_json *link)
{
    return nino_ui_id(link->type == NINO_JSON_OBJECT ? nino_json_get(link, "id")
                                                     : nino_json_at(link, 0));
}

// Links that only the second node of this id knows are its own.
static nino_status repair_move_links(repair *r, const nino_json *first, const nino_json *second,
                                     const char *id, const char *now)
{
    const nino_json *links = nino_ui_array(r->json, "links");
    nino_status st = NINO_OK;
    for (nino_json *v = links ? links->child : NULL; v && !st; v = v->next)
        for (int end = 0; end < 2 && !st; end++) {
            nino_json *who = repair_end(v, end);
            const char *link = repair_link_id(v), *own = nino_ui_id(who);
            if (link && own && !strcmp(own, id) && knows_repair_link(second, end, link) &&
                !knows_repair_link(first, end, link))
                st = nino_json_replace(r->ui->doc, who, now, r->err);
        }
    return st;
}

static nino_status repair_ids(repair *r, const nino_json *nodes)
{
    int64_t last = -1;
    nino_status st = NINO_OK;
    for (nino_json *n = nodes->child; n && !st; n = n->next) {
        char text[32], old[64];
        nino_json *number = (nino_json *) nino_json_get(n, "id");
        const char *id = nino_ui_id(number);
        const nino_json *first = id ? repair_first(r, id, n) : NULL;
        if (!first || r->failed || strlen(id) >= sizeof(old)) // long ones are refused later
            continue;
        last = last < 0 ? repair_largest_id(nodes) + 1 : last + 1;
        snprintf(old, sizeof(old), "%s", id);
        snprintf(text, sizeof(text), "%" PRId64, last);
        st = repair_count(r);
        if (!st)
            st = repair_move_links(r, first, n, old, text);
        if (!st)
            st = nino_json_replace(r->ui->doc, number, text, r->err);
        if (!st)
            repair_first(r, nino_ui_id(nino_json_get(n, "id")), n);
    }
    return st;
}

// ---- links that only their origin knows ------------------------------------------------------

typedef struct repair_link {
    const char *id, *from, *to;
    const nino_json *json;
    int32_t from_slot, to_slot;
} repair_link;

static repair_link read_repair_link(const nino_json *v)
{
    if (v->type == NINO_JSON_OBJECT)
        return (repair_link){ nino_ui_id(nino_json_get(v, "id")),
                              nino_ui_id(nino_json_get(v, "origin_id")),
                              nino_ui_id(nino_json_get(v, "target_id")),
                              v,
                              nino_ui_slot(nino_json_get(v, "origin_slot")),
                              nino_ui_slot(nino_json_get(v, "target_slot")) };
    return (repair_link){ nino_ui_id(nino_json_at(v, 0)),   nino_ui_id(nino_json_at(v, 1)),
                          nino_ui_id(nino_json_at(v, 3)),   v,
                          nino_ui_slot(nino_json_at(v, 2)), nino_ui_slot(nino_json_at(v, 4)) };
}

// The ids of links that an output, or an input of the subgraph, lists.
static const nino_json *repair_listed(const repair *r, const repair_link *l)
{
    const char *outer = nino_ui_id(nino_json_get(nino_json_get(r->json, "inputNode"), "id"));
    const uint32_t slot = (uint32_t) l->from_slot;
    if (r->is_inner && !strcmp(l->from, outer ? outer : "-10"))
        return nino_json_get(nino_json_at(nino_ui_array(r->json, "inputs"), slot), "linkIds");
    const nino_json *out = nino_ui_array(repair_node(r, l->from), "outputs");
    return nino_json_get(nino_json_at(out, slot), "links");
}

static nino_status repair_links(repair *r)
{
    const nino_json *links = nino_ui_array(r->json, "links");
    nino_status st = NINO_OK;
    for (nino_json *v = links ? links->child : NULL; v && !st; v = v->next) {
        const repair_link l = read_repair_link(v);
        const nino_json *to = l.id && l.from && l.to && l.from_slot >= 0 && l.to_slot >= 0
                                  ? repair_node(r, l.to)
                                  : NULL;
        nino_json *input =
            (nino_json *) nino_json_at(nino_ui_array(to, "inputs"), (uint32_t) l.to_slot);
        const nino_json *now = nino_json_get(input, "link");
        if (!to || !input || input->type != NINO_JSON_OBJECT ||
            (now && now->type != NINO_JSON_NULL) || knows_repair_link(to, false, l.id) ||
            !has_repair_id(repair_listed(r, &l), l.id))
            continue;
        nino_buf b = { 0 };
        nino_json_write(&b, r->ui->doc,
                        v->type == NINO_JSON_OBJECT ? nino_json_get(v, "id") : nino_json_at(v, 0));
        st = repair_count(r);
        if (st == NINO_OK)
            st = b.failed ? nino_ui_nomem(r->ui, r->err)
                          : nino_json_set(r->ui->doc, input, "link", b.data, r->err);
        nino_buf_release(&b);
    }
    return st;
}

nino_status nino_ui_repair(nino_ui *ui, int32_t scope, nino_error *err)
{
    const nino_ui_scope *s = &ui->scopes[scope];
    repair r = { .ui = ui, .scope = scope, .is_inner = scope > 0, .json = s->json, .err = err };
    const nino_json *nodes = nino_ui_array(s->json, "nodes");
    if (s->is_group)
        return NINO_OK; // nodes of a group have no ids
    r.nodes = nino_arena_alloc(ui->arena, ((size_t) nodes->count + 1) * sizeof(nino_json *));
    if (!r.nodes)
        return nino_ui_nomem(ui, err);
    nino_status st = repair_ids(&r, nodes);
    if (!st && !r.failed)
        st = repair_links(&r);
    return st ? st : r.failed ? nino_ui_nomem(ui, err) : NINO_OK;
}
