// Nodes into a subgraph, and out of it again. The definition has the layout of ComfyUI's editor
// (docs.comfy.org/specs/workflow_json, "Subgraph"); one input a distinct origin outside, one output
// a distinct origin inside, as Comfy-Org/ComfyUI_frontend src/lib/litegraph/src/LGraph.ts
// (convertToSubgraph, unpackSubgraph). Ids of the nodes stay, so that "41" becomes "57:41".
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/base/error.h"
#include "core/document/doc.h"

typedef struct port { // of the new subgraph
    int node, slot;   // what it stands for: an origin outside or inside
    char name[80];
    const char *type;
    const nino_doc_widget *widget; // of the first input that it feeds, or NULL
} port;

typedef struct maker {
    nino_document *d;
    const nino_doc_state *s;
    bool *chosen;
    port *in, *out;
    int n_in, n_out, n_chosen;
    double x0, y0, x1, y1; // around the nodes
    char uuid[37], id[32];
    nino_doc_edit e;
} maker;

// Without random bytes it would not be one of a kind.
nino_status nino_doc_make_uuid(const nino_document *d, char out[37], nino_error *err)
{
    uint8_t b[16];
    char *p = out;
    if (getrandom(b, sizeof(b), 0) != (ssize_t) sizeof(b))
        return nino_fail(err, NINO_ERR_IO, d->name, "no random numbers for a new id");
    b[6] = (uint8_t) ((b[6] & 0x0f) | 0x40);
    b[8] = (uint8_t) ((b[8] & 0x3f) | 0x80);
    for (int i = 0; i < 16; i++)
        p += snprintf(p, 4, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", b[i]);
    return NINO_OK;
}

// ---- what goes in and out ----------------------------------------------------------------------

// The name, made different from those before it.
static void name_port(port *list, int n, const char *name)
{
    for (int k = 0; k <= n; k++) {
        bool is_taken = false;
        snprintf(list[n].name, sizeof(list[n].name), k ? "%.60s_%d" : "%.60s", name, k);
        for (int i = 0; i < n; i++)
            is_taken = is_taken || !strcmp(list[i].name, list[n].name);
        if (!is_taken)
            return;
    }
}

static int find_port(const port *list, int n, const nino_doc_link *l)
{
    for (int i = 0; i < n; i++)
        if (list[i].node == l->from && list[i].slot == l->from_slot)
            return i;
    return -1;
}

static void collect_ports(maker *m)
{
    for (int i = 0; i < m->s->n_links; i++) {
        const nino_doc_link *l = &m->s->links[i];
        const nino_doc_input *in = &m->s->nodes[l->to].inputs[l->to_slot];
        const nino_doc_output *out = &m->s->nodes[l->from].outputs[l->from_slot];
        if (m->chosen[l->from] == m->chosen[l->to])
            continue;
        const bool is_in = m->chosen[l->to];
        port *list = is_in ? m->in : m->out;
        int *n = is_in ? &m->n_in : &m->n_out;
        if (find_port(list, *n, l) >= 0)
            continue;
        list[*n] = (port){ l->from, l->from_slot, "", is_in ? in->type : out->type, NULL };
        if (is_in && in->widget)
            list[*n].widget = nino_doc_widget_find(&m->s->nodes[l->to], in->widget);
        name_port(list, *n, is_in ? in->name : out->name);
        ++*n;
    }
}

// A way out of the nodes and in again would make the subgraph need itself.
static nino_status check_way_back(const maker *m, nino_error *err)
{
    const nino_doc_state *s = m->s;
    bool grows = true, *behind = calloc((size_t) s->n_nodes + 1, sizeof(*behind));
    int bad = -1;
    if (!behind)
        return nino_doc_nomem(m->d, err);
    while (grows && bad < 0) {
        grows = false;
        for (int i = 0; i < s->n_links && bad < 0; i++) {
            const nino_doc_link *l = &s->links[i];
            if (m->chosen[l->to]) {
                bad = behind[l->from] ? l->from : -1;
            } else if ((m->chosen[l->from] || behind[l->from]) && !behind[l->to]) {
                grows = behind[l->to] = true;
            }
        }
    }
    free(behind);
    return bad < 0 ? NINO_OK
                   : nino_fail_kind(err, NINO_ERR_ARG, "cycle", s->nodes[bad].title,
                                    "it stands between the chosen nodes; choose it too");
}

static nino_status doc_subgraph_choose(maker *m, const char *const *ids, size_t n, nino_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const nino_doc_node *v = nino_document_node(m->d, nino_document_find(m->d, ids[i]));
        if (!v)
            return nino_fail(err, NINO_ERR_UNKNOWN, ids[i], "no such node");
        if (v->kind == NINO_DOC_INPUT || v->kind == NINO_DOC_OUTPUT || m->chosen[v - m->s->nodes])
            continue;
        m->chosen[v - m->s->nodes] = true;
        m->x0 = !m->n_chosen || v->x < m->x0 ? v->x : m->x0;
        m->y0 = !m->n_chosen || v->y < m->y0 ? v->y : m->y0;
        m->x1 = !m->n_chosen || v->x + v->width > m->x1 ? v->x + v->width : m->x1;
        m->y1 = !m->n_chosen || v->y + v->height > m->y1 ? v->y + v->height : m->y1;
        m->n_chosen++;
    }
    if (!m->n_chosen)
        return nino_fail(err, NINO_ERR_ARG, m->d->name, "no nodes are chosen");
    collect_ports(m);
    return check_way_back(m, err);
}

// ---- writing it --------------------------------------------------------------------------------

static void doc_subgraph_add_string(nino_buf *b, const char *s)
{
    nino_buf_add_json_string(b, s, strlen(s));
}

static nino_status doc_subgraph_print_ports(const maker *m, nino_buf *b, const port *list, int n,
                                            nino_error *err)
{
    nino_status st = NINO_OK;
    for (int i = 0; i < n && !st; i++) {
        char uuid[37];
        st = nino_doc_make_uuid(m->d, uuid, err);
        nino_buf_addf(b, "%s{\"id\": \"%s\", \"name\": ", i ? ", " : "", st ? "" : uuid);
        doc_subgraph_add_string(b, list[i].name);
        nino_buf_adds(b, ", \"type\": ");
        doc_subgraph_add_string(b, list[i].type);
        nino_buf_adds(b, ", \"linkIds\": []}");
    }
    return st;
}

static void print_end(const maker *m, nino_buf *b, const char *key, int id, double x, int n)
{
    nino_buf_addf(b, ", \"%s\": {\"id\": %d, \"bounding\": [", key, id);
    nino_doc_print_number(b, x);
    nino_buf_adds(b, ", ");
    nino_doc_print_number(b, (m->y0 + m->y1) / 2 - 20 - 10 * n);
    nino_buf_addf(b, ", 120, %d]}", 40 + 20 * n);
}

// The nodes leave their place: their links go, their texts come into the definition.
static nino_status move_nodes(maker *m, nino_buf *b)
{
    nino_status st = NINO_OK;
    bool is_first = true;
    for (int i = 0; i < m->s->n_nodes && !st; i++)
        if (m->chosen[i])
            st = nino_doc_cut_node(&m->e, m->s->nodes[i].id);
    for (int i = 0; i < m->s->n_nodes && !st; i++) {
        if (!m->chosen[i])
            continue;
        nino_json *v = nino_doc_node_json(&m->e, m->s->nodes[i].id, &st);
        if (st)
            break;
        nino_buf_adds(b, is_first ? "" : ", ");
        is_first = false;
        nino_json_write(b, m->e.json, v);
        st = nino_json_remove(m->e.json, v, m->e.err);
    }
    return st;
}

static nino_status print_definition(maker *m, const char *name, nino_buf *b)
{
    nino_error *err = m->e.err;
    int64_t most = 0;
    for (int i = 0; i < m->s->n_nodes; i++) {
        const int64_t id = m->chosen[i] ? strtoll(m->s->nodes[i].id, NULL, 10) : 0;
        most = id > most ? id : most;
    }
    nino_buf_addf(b,
                  "{\"id\": \"%s\", \"version\": 1, \"state\": {\"lastGroupId\": 0, "
                  "\"lastNodeId\": %" PRId64 ", \"lastLinkId\": 0, \"lastRerouteId\": 0}, "
                  "\"revision\": 0, \"config\": {}, \"name\": ",
                  m->uuid, most);
    doc_subgraph_add_string(b, name);
    print_end(m, b, "inputNode", -10, m->x0 - 180, m->n_in);
    print_end(m, b, "outputNode", -20, m->x1 + 60, m->n_out);
    nino_buf_adds(b, ", \"inputs\": [");
    nino_status st = doc_subgraph_print_ports(m, b, m->in, m->n_in, err);
    nino_buf_adds(b, "], \"outputs\": [");
    if (!st)
        st = doc_subgraph_print_ports(m, b, m->out, m->n_out, err);
    nino_buf_adds(b, "], \"widgets\": [], \"nodes\": [");
    if (!st)
        st = move_nodes(m, b);
    nino_buf_adds(b, "], \"groups\": [], \"links\": [], \"extra\": {}}");
    return st ? st : b->failed ? nino_doc_nomem(m->d, err) : NINO_OK;
}

static void doc_subgraph_print_instance(const maker *m, nino_buf *b)
{
    double width = 0, widest = 0;
    for (int i = 0; i < m->n_in + m->n_out; i++) {
        const double w =
            14 * 0.6 * (double) strlen(i < m->n_in ? m->in[i].name : m->out[i - m->n_in].name);
        widest = w > widest ? w : widest;
    }
    const double height = nino_doc_size(m->n_in, m->n_out, 0, 0, 2 * widest + 10, &width);
    const double box[4] = { (m->x0 + m->x1 - width) / 2, (m->y0 + m->y1 - height) / 2, width,
                            height };
    nino_doc_print_head(b, m->uuid, m->id, box, 0);
    nino_buf_adds(b, ", \"inputs\": [");
    for (int i = 0; i < m->n_in; i++)
        nino_doc_print_input(b, i, m->in[i].name, m->in[i].type, false, m->in[i].widget != NULL,
                             "null");
    nino_buf_adds(b, "], \"outputs\": [");
    for (int i = 0; i < m->n_out; i++) {
        nino_buf_adds(b, i ? ", {\"name\": " : "{\"name\": ");
        doc_subgraph_add_string(b, m->out[i].name);
        nino_buf_adds(b, ", \"type\": ");
        doc_subgraph_add_string(b, m->out[i].type);
        nino_buf_adds(b, ", \"links\": []}");
    }
    nino_buf_adds(b, "], \"properties\": {}, \"widgets_values\": [");
    bool is_first = true;
    for (int i = 0; i < m->n_in; i++) {
        if (!m->in[i].widget)
            continue;
        nino_buf_addf(b, "%s%s", is_first ? "" : ", ",
                      m->in[i].widget->json ? m->in[i].widget->json : "null");
        is_first = false;
    }
    nino_buf_adds(b, "]}");
}

// Every link of the nodes again: inside, or through the instance.
static nino_status tie_all(maker *m, nino_json *definition)
{
    nino_doc_edit inner = m->e;
    nino_status st = NINO_OK;
    inner.scope = definition;
    inner.is_root = false;
    for (int i = 0; i < m->n_in && !st; i++)
        st = nino_doc_tie(&m->e, m->s->nodes[m->in[i].node].id, m->in[i].slot, m->id, i,
                          m->in[i].type);
    for (int i = 0; i < m->n_out && !st; i++)
        st = nino_doc_tie(&inner, m->s->nodes[m->out[i].node].id, m->out[i].slot, "-20", i,
                          m->out[i].type);
    for (int i = 0; i < m->s->n_links && !st; i++) {
        const nino_doc_link *l = &m->s->links[i];
        const char *from = m->s->nodes[l->from].id, *to = m->s->nodes[l->to].id;
        if (m->chosen[l->from] && m->chosen[l->to])
            st = nino_doc_tie(&inner, from, l->from_slot, to, l->to_slot, l->type);
        else if (m->chosen[l->to])
            st = nino_doc_tie(&inner, "-10", find_port(m->in, m->n_in, l), to, l->to_slot, l->type);
        else if (m->chosen[l->from])
            st =
                nino_doc_tie(&m->e, m->id, find_port(m->out, m->n_out, l), to, l->to_slot, l->type);
    }
    return st;
}

static nino_status doc_subgraph_append(maker *m, nino_json *list, nino_buf *b)
{
    return b->failed ? nino_doc_nomem(m->d, m->e.err)
                     : nino_json_append(m->e.json, list, b->data, m->e.err);
}

static nino_status doc_subgraph_make(maker *m, const char *name)
{
    nino_buf b = { 0 };
    int64_t number = 0;
    nino_status st = nino_doc_next_id(&m->e, "Node", &number); // before theirs are free again
    snprintf(m->id, sizeof(m->id), "%" PRId64, number);
    if (!st)
        st = nino_doc_make_uuid(m->d, m->uuid, m->e.err);
    if (!st)
        st = print_definition(m, name, &b);
    nino_json *defs = st ? NULL : nino_doc_need(&m->e, m->e.json->root, "definitions", "{}", &st);
    nino_json *list = st ? NULL : nino_doc_need(&m->e, defs, "subgraphs", "[]", &st);
    if (!st)
        st = doc_subgraph_append(m, list, &b);
    nino_buf_clear(&b);
    if (!st) {
        doc_subgraph_print_instance(m, &b);
        st = doc_subgraph_append(m, nino_doc_get(m->e.scope, "nodes"), &b);
    }
    nino_buf_release(&b);
    return st ? st : tie_all(m, nino_doc_find_id(list, m->uuid));
}

nino_status nino_document_make_subgraph(nino_document *d, const char *const *ids, size_t n,
                                        const char *name, char id[32], nino_error *err)
{
    nino_error mine = { 0 };
    maker m = { .d = d, .s = d->state };
    const size_t n_links = (size_t) m.s->n_links + 1;
    err = err ? err : &mine;
    m.chosen = calloc((size_t) m.s->n_nodes + 1, sizeof(*m.chosen));
    m.in = calloc(n_links, sizeof(*m.in));
    m.out = calloc(n_links, sizeof(*m.out));
    nino_status st =
        m.chosen && m.in && m.out ? doc_subgraph_choose(&m, ids, n, err) : nino_doc_nomem(d, err);
    if (!st && !(st = nino_doc_edit_begin(&m.e, d, err)))
        st = nino_doc_edit_commit(&m.e, doc_subgraph_make(&m, name), NULL, "Convert to subgraph");
    if (!st && id)
        memcpy(id, m.id, sizeof(m.id));
    free(m.chosen);
    free(m.in);
    free(m.out);
    return st;
}
