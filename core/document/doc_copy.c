// The clipboard: nodes as a small workflow of their own, so that a whole workflow can be pasted as
// well. "outer" lists the links that came from nodes outside.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/document/doc.h"

// ---- copying ---------------------------------------------------------------------------------

typedef struct copier {
    const nino_document *d;
    bool *chosen; // nodes
    const nino_json *defs;
    bool *needed; // definitions
    nino_buf out;
} copier;

static const nino_json *definitions(const nino_json *root)
{
    return nino_ui_array(nino_json_get(root, "definitions"), "subgraphs");
}

static bool doc_copy_need(copier *c, const char *type)
{
    uint32_t i = 0;
    for (const nino_json *v = c->defs ? c->defs->child : NULL; v; v = v->next, i++) {
        const char *id = nino_ui_id(nino_json_get(v, "id"));
        if (!id || !type || strcmp(id, type) != 0)
            continue;
        const bool is_new = !c->needed[i];
        c->needed[i] = true;
        return is_new;
    }
    return false;
}

// The subgraphs that the nodes are made from, and those inside them.
static void find_needed(copier *c)
{
    const nino_doc_state *s = c->d->state;
    bool grows = false;
    for (int i = 0; i < s->n_nodes; i++)
        if (c->chosen[i] && s->nodes[i].kind == NINO_DOC_SUBGRAPH)
            grows = doc_copy_need(c, s->nodes[i].type) || grows;
    while (grows) {
        uint32_t i = 0;
        grows = false;
        for (const nino_json *v = c->defs->child; v; v = v->next, i++) {
            const nino_json *nodes = c->needed[i] ? nino_ui_array(v, "nodes") : NULL;
            for (const nino_json *n = nodes ? nodes->child : NULL; n; n = n->next)
                grows = doc_copy_need(c, nino_json_str(nino_json_get(n, "type"))) || grows;
        }
    }
}

static void copy_links(copier *c, bool is_outer)
{
    const nino_doc_state *s = c->d->state;
    bool is_first = true;
    for (int i = 0; i < s->n_links; i++) {
        const nino_doc_link *l = &s->links[i];
        if (!c->chosen[l->to] || c->chosen[l->from] == is_outer)
            continue;
        nino_buf_addf(&c->out, is_first ? "[%d, " : ", [%d, ", i + 1);
        is_first = false;
        nino_doc_print_id(&c->out, s->nodes[l->from].id);
        nino_buf_addf(&c->out, ", %d, ", l->from_slot);
        nino_doc_print_id(&c->out, s->nodes[l->to].id);
        nino_buf_addf(&c->out, ", %d, ", l->to_slot);
        nino_buf_add_json_string(&c->out, l->type, strlen(l->type));
        nino_buf_addc(&c->out, ']');
    }
}

// The node with its links as numbered here; a link from outside is none.
static nino_status copy_node(copier *c, int number, bool is_first, nino_error *err)
{
    const nino_doc_state *s = c->d->state;
    const nino_json *from = s->ui->nodes[s->ui->scopes[s->scope].first + number].json;
    const nino_json_limits limits = { .max_bytes = NINO_DOC_MAX_BYTES };
    nino_doc_edit e = { .d = (nino_document *) c->d, .err = err };
    nino_buf b = { 0 };
    nino_json_write(&b, s->json, from);
    nino_status st = b.failed ? nino_doc_nomem(c->d, err)
                              : nino_json_parse(b.data, b.len, "node", &limits, &e.json, err);
    nino_buf_release(&b);
    if (st || !e.json)
        return st;
    const nino_json *list = nino_ui_array(e.json->root, "inputs");
    int k = 0;
    for (nino_json *v = list ? list->child : NULL; v && !st; v = v->next, k++) {
        const int link = s->nodes[number].inputs[k].link;
        const bool is_inner = link >= 0 && c->chosen[s->links[link].from];
        char id[16] = "null";
        if (is_inner)
            snprintf(id, sizeof(id), "%d", link + 1);
        if (nino_json_get(v, "link"))
            st = nino_json_set(e.json, v, "link", id, err);
    }
    list = nino_ui_array(e.json->root, "outputs");
    for (nino_json *v = list ? list->child : NULL; v && !st; v = v->next)
        if (nino_json_get(v, "links"))
            st = nino_json_set(e.json, v, "links", "null", err);
    nino_buf_adds(&c->out, is_first ? "" : ", ");
    nino_json_write(&c->out, e.json, e.json->root);
    nino_json_doc_destroy(&e.json);
    return st;
}

static nino_status copy_all(copier *c, nino_error *err)
{
    const nino_doc_state *s = c->d->state;
    nino_status st = NINO_OK;
    bool is_first = true;
    nino_buf_adds(&c->out, "{\"nodes\": [");
    for (int i = 0; i < s->n_nodes && !st; i++)
        if (c->chosen[i]) {
            st = copy_node(c, i, is_first, err);
            is_first = false;
        }
    nino_buf_adds(&c->out, "], \"links\": [");
    copy_links(c, false);
    nino_buf_adds(&c->out, "], \"outer\": [");
    copy_links(c, true);
    nino_buf_adds(&c->out, "], \"groups\": [], \"definitions\": {\"subgraphs\": [");
    is_first = true;
    uint32_t i = 0;
    for (const nino_json *v = c->defs ? c->defs->child : NULL; v; v = v->next, i++)
        if (c->needed[i]) {
            nino_buf_adds(&c->out, is_first ? "" : ", ");
            is_first = false;
            nino_json_write(&c->out, s->json, v);
        }
    nino_buf_adds(&c->out, "]}, \"extra\": {}, \"version\": 0.4}");
    return st ? st : c->out.failed ? nino_doc_nomem(c->d, err) : NINO_OK;
}

static nino_status doc_copy_choose(copier *c, const char *const *ids, size_t n, nino_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const nino_doc_node *node = nino_document_node(c->d, nino_document_find(c->d, ids[i]));
        if (!node)
            return nino_fail(err, NINO_ERR_UNKNOWN, ids[i], "no such node");
        if (node->kind != NINO_DOC_INPUT && node->kind != NINO_DOC_OUTPUT)
            c->chosen[node - c->d->state->nodes] = true;
    }
    find_needed(c);
    return NINO_OK;
}

char *nino_document_copy(const nino_document *d, const char *const *ids, size_t n, nino_error *err)
{
    copier c = { .d = d, .defs = definitions(d->state->json->root) };
    c.chosen = calloc((size_t) d->state->n_nodes + 1, sizeof(bool));
    c.needed = calloc((c.defs ? c.defs->count : 0) + (size_t) 1, sizeof(bool));
    nino_status st =
        c.chosen && c.needed ? doc_copy_choose(&c, ids, n, err) : nino_doc_nomem(d, err);
    if (!st)
        st = copy_all(&c, err);
    free(c.chosen);
    free(c.needed);
    if (st)
        nino_buf_release(&c.out);
    return c.out.data;
}

// ---- pasting ---------------------------------------------------------------------------------

typedef struct paster {
    nino_document *clip;
    nino_doc_edit e;    // of the document
    nino_doc_edit from; // of the clipboard's own JSON
    char (*ids)[32];    // new ones, by the clipboard's numbers
    double dx, dy;
} paster;

static void find_shift(paster *p, double x, double y)
{
    const nino_doc_state *s = p->clip->state;
    double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    for (int i = 0; i < s->n_nodes; i++) {
        const nino_doc_node *n = &s->nodes[i];
        x0 = !i || n->x < x0 ? n->x : x0;
        y0 = !i || n->y < y0 ? n->y : y0;
        x1 = !i || n->x + n->width > x1 ? n->x + n->width : x1;
        y1 = !i || n->y + n->height > y1 ? n->y + n->height : y1;
    }
    p->dx = x - (x0 + x1) / 2;
    p->dy = y - (y0 + y1) / 2;
}

static nino_status paste_definitions(paster *p)
{
    const nino_json *list = definitions(p->clip->state->object);
    nino_status st = NINO_OK;
    for (const nino_json *v = list ? list->child : NULL; v && !st && p->e.json; v = v->next) {
        const char *id = nino_ui_id(nino_json_get(v, "id"));
        nino_json *defs = nino_doc_need(&p->e, p->e.json->root, "definitions", "{}", &st);
        nino_json *subs = st ? NULL : nino_doc_need(&p->e, defs, "subgraphs", "[]", &st);
        nino_buf b = { 0 };
        if (st || !id || nino_doc_find_id(subs, id))
            continue;
        nino_json_write(&b, p->from.json, v);
        st = b.failed ? nino_doc_nomem(p->e.d, p->e.err)
                      : nino_json_append(p->e.json, subs, b.data, p->e.err);
        nino_buf_release(&b);
    }
    return st;
}

// Makes every link of a port list "none".
static nino_status untie(paster *p, const nino_json *list, const char *key)
{
    nino_status st = NINO_OK;
    for (nino_json *v = list ? list->child : NULL; v && !st; v = v->next)
        if (nino_json_get(v, key))
            st = nino_json_set(p->from.json, v, key, "null", p->from.err);
    return st;
}

static nino_status paste_node(paster *p, int i)
{
    nino_json *json = p->clip->state->ui->nodes[i].json;
    const nino_doc_node *n = &p->clip->state->nodes[i];
    nino_buf b = { 0 };
    int64_t number = 0;
    nino_status st = nino_doc_next_id(&p->e, "Node", &number);
    snprintf(p->ids[i], sizeof(p->ids[i]), "%" PRId64, number);
    if (!st)
        st = nino_json_set(p->from.json, json, "id", p->ids[i], p->from.err);
    if (!st)
        st = nino_doc_set_pair(&p->from, json, "pos", n->x + p->dx, n->y + p->dy);
    if (!st)
        st = untie(p, nino_ui_array(json, "inputs"), "link");
    if (!st)
        st = untie(p, nino_ui_array(json, "outputs"), "links");
    if (st)
        return st;
    nino_json_write(&b, p->from.json, json);
    st = b.failed
             ? nino_doc_nomem(p->e.d, p->e.err)
             : nino_json_append(p->e.json, nino_doc_get(p->e.scope, "nodes"), b.data, p->e.err);
    nino_buf_release(&b);
    return st;
}

static int find_clip(const paster *p, const char *id)
{
    const int32_t i = nino_ui_get(p->clip->state->ui, NINO_UI_IS_NODE, 0, id);
    return (int) i;
}

// Links to where the nodes were connected from, as far as that is here and fits.
static nino_status paste_outer(paster *p)
{
    const nino_json *list = nino_ui_array(p->clip->state->object, "outer");
    const nino_document *d = p->e.d;
    nino_status st = NINO_OK;
    for (const nino_json *v = list ? list->child : NULL; v && !st; v = v->next) {
        nino_doc_ends l;
        if (!nino_doc_link_ends(v, &l))
            continue;
        const nino_doc_node *from = nino_document_node(d, nino_document_find(d, l.from));
        const int to = find_clip(p, l.to);
        const nino_doc_node *n = nino_document_node(p->clip, to);
        if (!from || !n || l.from_slot < 0 || l.from_slot >= from->n_outputs || l.to_slot < 0 ||
            l.to_slot >= n->n_inputs || n->inputs[l.to_slot].is_virtual ||
            !nino_document_types_fit(from->outputs[l.from_slot].type, n->inputs[l.to_slot].type))
            continue;
        st = nino_doc_tie(&p->e, l.from, l.from_slot, p->ids[to], l.to_slot,
                          from->outputs[l.from_slot].type);
    }
    return st;
}

static nino_status paste_groups(paster *p)
{
    const nino_json *from = nino_ui_array(p->clip->state->object, "groups");
    nino_status st = NINO_OK;
    for (nino_json *v = from ? from->child : NULL; v && !st; v = v->next) {
        nino_json *to = nino_doc_need(&p->e, p->e.scope, "groups", "[]", &st);
        nino_buf b = { 0 };
        for (uint32_t i = 0; i < 2 && !st; i++) {
            nino_json *at = (nino_json *) nino_json_at(nino_json_get(v, "bounding"), i);
            double old = 0;
            nino_buf_clear(&b);
            if (!nino_json_double(at, &old))
                continue;
            nino_doc_print_number(&b, old + (i ? p->dy : p->dx));
            st = b.failed ? nino_doc_nomem(p->e.d, p->e.err)
                          : nino_json_replace(p->from.json, at, b.data, p->e.err);
        }
        nino_buf_clear(&b);
        nino_json_write(&b, p->from.json, v);
        if (!st)
            st = b.failed ? nino_doc_nomem(p->e.d, p->e.err)
                          : nino_json_append(p->e.json, to, b.data, p->e.err);
        nino_buf_release(&b);
    }
    return st;
}

static nino_status paste_all(paster *p, bool with_links)
{
    const nino_doc_state *s = p->clip->state;
    nino_status st = paste_definitions(p);
    for (int i = 0; i < s->n_nodes && !st; i++)
        st = paste_node(p, i);
    for (int i = 0; i < s->n_links && !st; i++) {
        const nino_doc_link *l = &s->links[i];
        st = nino_doc_tie(&p->e, p->ids[l->from], l->from_slot, p->ids[l->to], l->to_slot, l->type);
    }
    if (!st && with_links)
        st = paste_outer(p);
    return st ? st : paste_groups(p);
}

nino_status nino_document_paste(nino_document *d, const char *json, size_t len, double x, double y,
                                bool with_links, int *first, int *n, nino_error *err)
{
    nino_error mine = { 0 };
    paster p = { 0 };
    err = err ? err : &mine;
    if (!(p.clip = nino_document_load(json, len, "clipboard", err)))
        return err->code;
    const int n_new = p.clip->state->n_nodes;
    p.ids = calloc((size_t) n_new + 1, sizeof(*p.ids));
    nino_status st = p.ids ? nino_doc_edit_begin(&p.e, d, err) : nino_doc_nomem(d, err);
    p.from = (nino_doc_edit){ p.clip, p.clip->state->json, p.clip->state->object, true, err };
    if (!st) {
        const nino_json *nodes = nino_json_get(p.e.scope, "nodes");
        const int at = (int) nodes->count;
        find_shift(&p, x, y);
        st = nino_doc_edit_commit(&p.e, paste_all(&p, with_links), NULL, "Paste");
        if (!st && first)
            *first = at;
        if (!st && n)
            *n = n_new;
    }
    free(p.ids);
    nino_document_destroy(&p.clip);
    return st;
}
