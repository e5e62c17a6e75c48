// The editor's form of an API form: nodes in columns by dependency, near what they are made from.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/document/doc.h"
#include "core/workflow/workflow.h"
#include "core/node/table/known.h"
#include "core/node/param.h"

enum { GAP_X = 60, GAP_Y = 64, MAX_SLOT = 256, PICTURE = 230 };

typedef struct place {
    int column, row;
    double x, y, width, height, wish; // wish: height of what it is made from
    double room;                      // below it, for the picture that it will show
    int n_out;
} place;

typedef struct tie {
    int from, slot, to, input;
} tie;

typedef struct layout {
    nino_graph *g;
    place *at;
    int *order; // by column, then from the top
    int n;
    tie *ties; // links, by target; the ids are their numbers plus one
    int n_ties, cap_ties;
} layout;

// ---- columns ---------------------------------------------------------------------------------

// The node that an input of the API form is linked to, or -1.
static int source_of(const nino_graph *g, const nino_json *v, int *slot)
{
    char number[32];
    const char *id = NULL;
    int32_t s = 0;
    if (nino_input_read(v, number, &id, &s) != NINO_INPUT_LINK || s < 0 || s >= MAX_SLOT)
        return -1;
    *slot = (int) s;
    return nino_graph_find(g, id);
}

static const nino_json *first_input(const nino_graph *g, int i)
{
    const nino_json *in = nino_json_get(g->nodes[i].json, "inputs");
    return in ? in->child : NULL;
}

// Column: the longest way to a node without inputs. Circles end at the number of nodes.
static void find_columns(layout *l)
{
    bool grows = true;
    for (int round = 0; grows && round < l->n && round < 4096; round++) {
        grows = false;
        for (int i = 0; i < l->n; i++)
            for (const nino_json *v = first_input(l->g, i); v; v = v->next) {
                int slot = 0;
                const int from = source_of(l->g, v, &slot);
                if (from < 0 || from == i || l->at[i].column > l->at[from].column)
                    continue;
                l->at[i].column = l->at[from].column + 1;
                grows = true;
            }
    }
}

// Loads a picture, or makes a file of some.
static bool shows_picture(const nino_node_def *def)
{
    for (const nino_param *p = def->params; p && p->key; p++)
        if (p->upload_slot)
            return true;
    for (const nino_port *p = def->inputs; def->is_output && p && p->key; p++)
        if (!strcmp(nino_port_type_name(p->type), "IMAGE"))
            return true;
    return false;
}

static void find_sizes(layout *l)
{
    for (int i = 0; i < l->n; i++) {
        const nino_gnode *n = &l->g->nodes[i];
        place *p = &l->at[i];
        int n_rows = 0, n_in = 0;
        for (const nino_json *v = first_input(l->g, i); v; v = v->next) {
            int slot = 0;
            const int from = source_of(l->g, v, &slot);
            n_in += v->type == NINO_JSON_ARRAY;
            n_rows += v->type != NINO_JSON_ARRAY;
            if (from >= 0 && slot >= l->at[from].n_out)
                l->at[from].n_out = slot + 1;
        }
        p->room = n->def && shows_picture(n->def) ? PICTURE : 0;
        if (n->def)
            nino_document_default_size(n->def, &p->width, &p->height);
        else
            p->height = nino_doc_size(n_in, 1, n_rows, 0, 0, &p->width);
    }
}

static int by_place(const void *a, const void *b, void *priv)
{
    const place *at = priv, *x = &at[*(const int *) a], *y = &at[*(const int *) b];
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    if (x->wish != y->wish)
        return x->wish < y->wish ? -1 : 1;
    return x->row - y->row;
}

static void place_column(layout *l, int first, int end, double x)
{
    double y = 0;
    for (int k = first; k < end; k++) {
        place *p = &l->at[l->order[k]];
        p->x = x;
        p->y = y = fmax(y, k == first ? fmax(0, p->wish - p->height / 2) : 0);
        y += p->height + p->room + GAP_Y;
    }
}

// Columns from the left; in each, nodes come near the middle of what they are made from.
static void place_nodes(layout *l)
{
    double x = 0;
    for (int i = 0; i < l->n; i++) {
        l->order[i] = l->at[i].row = i;
    }
    qsort_r(l->order, (size_t) l->n, sizeof(*l->order), by_place, l->at);
    for (int first = 0, end; first < l->n; first = end) {
        double widest = 0;
        for (end = first;
             end < l->n && l->at[l->order[end]].column == l->at[l->order[first]].column; end++) {
            place *p = &l->at[l->order[end]];
            int n = 0, slot = 0;
            widest = fmax(widest, p->width);
            for (const nino_json *v = first_input(l->g, l->order[end]); v; v = v->next) {
                const int from = source_of(l->g, v, &slot);
                if (from < 0)
                    continue;
                p->wish += l->at[from].y + l->at[from].height / 2;
                n++;
            }
            p->wish = n ? p->wish / n : 0;
        }
        qsort_r(l->order + first, (size_t) (end - first), sizeof(*l->order), by_place, l->at);
        place_column(l, first, end, x);
        x += widest + GAP_X;
    }
}

// ---- inputs ----------------------------------------------------------------------------------

typedef struct input {
    const char *key, *type;
    bool is_optional, is_widget;
    int from, slot; // -1: not linked
} input;

// What comes out of a node, by the table.
static const char *out_type(const nino_gnode *n, int slot)
{
    const nino_port *p = n->def ? n->def->outputs : NULL;
    for (int i = 0; p && p[i].key; i++)
        if (i == slot)
            return nino_port_types(&p[i]);
    return "*";
}

typedef struct walk {
    const layout *l;
    const nino_gnode *n;
    const nino_port *port;
    const nino_param *param;
    const nino_json *linked; // of a class that is not known
} walk;

static walk walk_inputs(const layout *l, int i)
{
    const nino_gnode *n = &l->g->nodes[i];
    return (walk){ l, n, n->def ? n->def->inputs : NULL, n->def ? n->def->params : NULL,
                   n->def ? NULL : first_input(l->g, i) };
}

// Is it among the inputs that the editor would show: begun by the class, linked, or the one behind a
// linked one?
static bool is_shown(const nino_gnode *n, const nino_port *p, const nino_json *inputs)
{
    const nino_json *v = nino_json_get(inputs, p->key);
    if (nino_input_presence(n->def, p->key, p->when, inputs) == NINO_ABSENT)
        return false;
    if (!p->grows || v || nino_doc_begins(n->def, p))
        return true;
    for (const nino_port *q = p; (q = nino_port_next(n->def, q->key));)
        if (nino_json_get(inputs, q->key))
            return true; // a gap
    return nino_port_next(n->def, p[-1].key) == p && nino_json_get(inputs, p[-1].key);
}

static bool is_param_shown(const nino_gnode *n, const nino_param *p, const nino_json *inputs)
{
    return nino_input_presence(n->def, p->key, p->when, inputs) != NINO_ABSENT;
}

// The inputs of a node as the editor lists them: ports, then widgets; those of a class that is not
// known are the linked ones.
static bool next_input(walk *w, input *in)
{
    const nino_json *inputs = nino_json_get(w->n->json, "inputs"), *v = NULL;
    while (w->linked && w->linked->type != NINO_JSON_ARRAY)
        w->linked = w->linked->next;
    while (w->port && w->port->key && !is_shown(w->n, w->port, inputs))
        w->port++;
    while (w->param && w->param->key && !is_param_shown(w->n, w->param, inputs))
        w->param++;
    if (w->port && w->port->key) {
        *in = (input){ .key = w->port->key,
                       .type = nino_port_types(w->port),
                       .is_optional = w->port->optional };
        w->port++;
    } else if (w->param && w->param->key) {
        *in = (input){ .key = w->param->key,
                       .type = nino_param_type_name(w->param),
                       .is_widget = true };
        w->param++;
    } else if (w->linked) {
        *in = (input){ .key = w->linked->key, .type = "*" };
        v = w->linked;
        w->linked = v->next;
    } else {
        return false;
    }
    v = v ? v : nino_json_get(inputs, in->key);
    in->from = v ? source_of(w->l->g, v, &in->slot) : -1;
    return true;
}

static bool find_ties(layout *l)
{
    for (int i = 0; i < l->n; i++) {
        walk w = walk_inputs(l, i);
        input in;
        for (int k = 0; next_input(&w, &in); k++) {
            if (in.from < 0)
                continue;
            if (!nino_ui_grow((void **) &l->ties, l->n_ties, &l->cap_ties, sizeof(tie)))
                return false;
            l->ties[l->n_ties++] = (tie){ in.from, in.slot, i, k };
        }
    }
    return true;
}

// ---- writing ---------------------------------------------------------------------------------

// The value of an API input as the editor keeps it; links have none.
static bool print_literal(const layout *l, nino_buf *out, const nino_json *v)
{
    const nino_json *inner =
        v && v->type == NINO_JSON_OBJECT ? nino_json_get(v, "__value__") : NULL;
    if (!v || v->type == NINO_JSON_ARRAY)
        return false;
    nino_json_write(out, l->g->doc, inner && v->count == 1 ? inner : v);
    return true;
}

static void print_known_values(const layout *l, nino_buf *out, const nino_gnode *n)
{
    const nino_json *in = nino_json_get(n->json, "inputs");
    int count = 0;
    for (const nino_param *p = n->def->params; p && p->key; p++) {
        const nino_json *v = nino_json_get(in, p->key);
        if (!is_param_shown(n, p, in))
            continue;
        if (!v || v->type == NINO_JSON_ARRAY) {
            nino_doc_print_default(out, p, count++);
            continue;
        }
        nino_buf_adds(out, count++ ? ", " : "");
        print_literal(l, out, v);
        nino_buf_adds(out, nino_doc_has_control(p) ? ", \"fixed\""
                           : p->upload_slot        ? ", \"image\""
                                                   : "");
    }
}

static void print_listed_value(const layout *l, nino_buf *out, const nino_known_widget *w,
                               const nino_json *v)
{
    static const char *const corners[] = { "x", "y", "width", "height" };
    if (!print_literal(l, out, v))
        nino_buf_adds(out, "null");
    if (w->mark == '+' || w->mark == '^')
        nino_buf_adds(out, w->mark == '+' ? ", \"fixed\"" : ", \"image\"");
    for (int i = 0; i < 4 && w->mark == '#'; i++) {
        nino_buf_adds(out, ", ");
        if (!print_literal(l, out, nino_json_get(v, corners[i])))
            nino_buf_adds(out, "0");
    }
}

// In the order of the table of known classes; what a choice brings follows it.
static void print_listed_values(const layout *l, nino_buf *out, const nino_gnode *n,
                                const char *widgets)
{
    enum { MAX_CHOICES = 32 };
    const nino_json *in = nino_json_get(n->json, "inputs");
    const char *rest[MAX_CHOICES] = { widgets };
    bool is_first = true;
    for (int depth = 1; depth;) {
        nino_known_widget w;
        char key[256];
        if (!nino_known_next(&rest[depth - 1], &w)) {
            depth--;
            continue;
        }
        nino_known_name(&w, key, sizeof(key));
        const nino_json *v = nino_json_get(in, key);
        nino_buf_adds(out, is_first ? "" : ", ");
        is_first = false;
        print_listed_value(l, out, &w, v);
        const char *chosen = w.options ? nino_json_str(v) : NULL;
        const char *words = chosen ? nino_known_option(w.options, chosen) : NULL;
        if (words && depth < MAX_CHOICES)
            rest[depth++] = words;
    }
}

static void print_named_values(const layout *l, nino_buf *out, const nino_gnode *n)
{
    const nino_json *in = nino_json_get(n->json, "inputs");
    bool is_first = true;
    for (const nino_json *v = in ? in->child : NULL; v; v = v->next) {
        if (v->type == NINO_JSON_ARRAY)
            continue;
        nino_buf_adds(out, is_first ? "" : ", ");
        is_first = false;
        nino_buf_add_json_string(out, v->key, v->key_len);
        nino_buf_adds(out, ": ");
        print_literal(l, out, v);
    }
}

// Has the class a widget that is no parameter?
static bool has_box(const nino_node_def *def)
{
    for (const nino_port *p = def->inputs; p && p->key; p++)
        if (p->type == NINO_PORT_BOUNDING_BOX)
            return true;
    return false;
}

static void print_values(const layout *l, nino_buf *out, const nino_gnode *n)
{
    const nino_known_class *known = nino_known_class_find(n->class_type);
    const bool is_own = n->def && !(known && has_box(n->def)), is_array = is_own || known;
    nino_buf_adds(out, is_array ? ", \"widgets_values\": [" : ", \"widgets_values\": {");
    if (is_own)
        print_known_values(l, out, n);
    else if (known)
        print_listed_values(l, out, n, known->widgets);
    else
        print_named_values(l, out, n);
    nino_buf_addc(out, is_array ? ']' : '}');
}

static void doc_api_print_outputs(const layout *l, nino_buf *out, int i)
{
    const nino_gnode *n = &l->g->nodes[i];
    int n_out = l->at[i].n_out, n_own = 0;
    for (const nino_port *p = n->def ? n->def->outputs : NULL; p && p->key; p++)
        n_own++;
    n_out = n_own > n_out ? n_own : n_out;
    nino_buf_adds(out, ", \"outputs\": [");
    for (int k = 0; k < n_out; k++) {
        const char *name = k < n_own ? n->def->outputs[k].key : "*", *type = out_type(n, k);
        bool has_links = false;
        nino_buf_adds(out, k ? ", {\"name\": " : "{\"name\": ");
        nino_buf_add_json_string(out, name, strlen(name));
        nino_buf_addf(out, ", \"type\": \"%s\", \"links\": ", type);
        for (int t = 0; t < l->n_ties; t++)
            if (l->ties[t].from == i && l->ties[t].slot == k) {
                nino_buf_addf(out, has_links ? ", %d" : "[%d", t + 1);
                has_links = true;
            }
        nino_buf_adds(out, has_links ? "]}" : "null}");
    }
    nino_buf_addc(out, ']');
}

static void print_node(const layout *l, nino_buf *out, int i, int *link)
{
    const nino_gnode *n = &l->g->nodes[i];
    const place *p = &l->at[i];
    const double box[4] = { p->x, p->y, p->width, p->height };
    const char *own = n->def ? n->def->title : n->class_type;
    walk w = walk_inputs(l, i);
    input in;
    nino_buf_adds(out, i ? ",\n    " : "\n    ");
    nino_doc_print_head(out, n->class_type, n->id, box, i);
    if (n->title && *n->title && strcmp(n->title, own) != 0) {
        nino_buf_adds(out, ", \"title\": ");
        nino_buf_add_json_string(out, n->title, strlen(n->title));
    }
    nino_buf_adds(out, ", \"inputs\": [");
    for (int k = 0; next_input(&w, &in); k++) {
        char id[16] = "null";
        if (in.from >= 0)
            snprintf(id, sizeof(id), "%d", ++*link);
        nino_doc_print_input(out, k, in.key, in.type, in.is_optional, in.is_widget, id);
    }
    nino_buf_addc(out, ']');
    doc_api_print_outputs(l, out, i);
    nino_doc_print_tail(out, n->class_type, false);
    print_values(l, out, n);
    nino_buf_addc(out, '}');
}

static void print_link(const layout *l, nino_buf *out, int i)
{
    const tie *t = &l->ties[i];
    const char *type = out_type(&l->g->nodes[t->from], t->slot);
    nino_buf_addf(out, i ? ",\n    [%d, " : "\n    [%d, ", i + 1);
    nino_doc_print_id(out, l->g->nodes[t->from].id);
    nino_buf_addf(out, ", %d, ", t->slot);
    nino_doc_print_id(out, l->g->nodes[t->to].id);
    nino_buf_addf(out, ", %d, \"%s\"]", t->input, type);
}

static void print_all(const layout *l, nino_buf *out)
{
    int64_t last = 0;
    int link = 0;
    for (int i = 0; i < l->n; i++) {
        const char *id = l->g->nodes[i].id;
        const int64_t v = strlen(id) < 16 ? strtoll(id, NULL, 10) : 0;
        last = v > last ? v : last;
    }
    nino_buf_addf(out,
                  "{\n  \"last_node_id\": %" PRId64 ",\n  \"last_link_id\": %d,\n  \"nodes\": [",
                  last, l->n_ties);
    for (int i = 0; i < l->n; i++)
        print_node(l, out, i, &link);
    nino_buf_adds(out, l->n ? "\n  ],\n  \"links\": [" : "],\n  \"links\": [");
    for (int i = 0; i < l->n_ties; i++)
        print_link(l, out, i);
    nino_buf_adds(out, l->n_ties ? "\n  ]" : "]");
    nino_buf_adds(out, ",\n  \"groups\": [],\n  \"config\": {},\n  \"extra\": {},\n"
                       "  \"version\": 0.4\n}\n");
}

nino_status nino_doc_from_api(nino_graph *g, nino_buf *out, nino_error *err)
{
    layout l = { .g = g, .n = g->n_nodes };
    l.at = calloc((size_t) l.n + 1, sizeof(*l.at));
    l.order = calloc((size_t) l.n + 1, sizeof(*l.order));
    bool ok = l.at && l.order && find_ties(&l);
    if (ok) {
        find_columns(&l);
        find_sizes(&l);
        place_nodes(&l);
        print_all(&l, out);
        ok = !out->failed;
    }
    free(l.at);
    free(l.order);
    free(l.ties);
    return ok ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, g->name, "out of memory");
}
