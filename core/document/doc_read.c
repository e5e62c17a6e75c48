// What a workflow's text says, for people: nodes with their widgets by name, links by number,
// reroutes and groups of the scope that is shown.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/document/doc.h"
#include "core/workflow/workflow.h"
#include "core/node/param.h"

#define MAX_BENDS 256 // of one link; reroutes may name each other in a circle

typedef struct reader {
    nino_doc_state *s;
    const nino_ui *ui;
    nino_arena *a;
    int input_node, output_node; // ends of a subgraph, or -1
    bool failed;
} reader;

static void *alloc(reader *r, size_t n, size_t size)
{
    void *p = nino_arena_alloc(r->a, (n + 1) * size);
    r->failed = r->failed || !p;
    return p;
}

static const char *doc_read_text_of(const nino_json *obj, const char *key)
{
    const char *s = nino_json_str(nino_json_get(obj, key));
    return s && *s ? s : NULL;
}

static const char *doc_read_type_of(const nino_json *obj)
{
    const char *s = doc_read_text_of(obj, "type");
    return s ? s : "*"; // a list of choices, or a number in very old files
}

static bool doc_read_flag(const nino_json *obj, const char *key)
{
    bool b = false;
    int64_t n = 0;
    const nino_json *v = nino_json_get(obj, key);
    return nino_json_bool(v, &b) ? b : nino_json_i64(v, &n) && n;
}

static const char *dup(reader *r, const char *s, size_t n)
{
    const char *copy = nino_arena_strndup(r->a, s, n);
    r->failed = r->failed || !copy;
    return copy ? copy : "";
}

// ---- widgets ---------------------------------------------------------------------------------

// The name of a file with folders as they are written here, so that lists of files have it.
static const char *slashed(reader *r, const char *s, size_t n)
{
    char *copy = nino_arena_strndup(r->a, s, n);
    r->failed = r->failed || !copy;
    for (char *c = copy; c && *c; c++)
        *c = *c == '\\' ? '/' : *c;
    return copy ? copy : "";
}

static void doc_read_set_value(reader *r, nino_doc_widget *w, const nino_json *v)
{
    nino_buf b = { 0 };
    if (v)
        nino_json_write(&b, r->s->json, v);
    else if (w->param)
        nino_param_print(&b, w->param, &w->param->def);
    else
        nino_buf_adds(&b, "\"\"");
    w->json = dup(r, b.data ? b.data : "", b.len);
    r->failed = r->failed || b.failed;
    nino_buf_release(&b);
    const bool is_string = v && v->type == NINO_JSON_STRING;
    const size_t n = strlen(w->json);
    if (is_string && w->param && w->param->type == NINO_FILE)
        w->text = slashed(r, v->text, v->len);
    else if (is_string)
        w->text = dup(r, v->text, v->len);
    else if (!v && n >= 2 && w->json[0] == '"') // defaults need no escapes
        w->text = dup(r, w->json + 1, n - 2);
    else
        w->text = w->json;
}

static nino_doc_widget_kind doc_read_kind_of(const nino_ui_widget *u, const nino_json *v)
{
    switch (u->kind) {
    case 'i': return NINO_WIDGET_INT;
    case 'f': return NINO_WIDGET_FLOAT;
    case 'b': return NINO_WIDGET_BOOL;
    case 's':
    case 'd': return NINO_WIDGET_STRING;
    case 'c':
    case 'e': return NINO_WIDGET_CHOICE;
    default: break;
    }
    if (v && v->type == NINO_JSON_STRING)
        return NINO_WIDGET_STRING;
    if (v && v->type == NINO_JSON_BOOL)
        return NINO_WIDGET_BOOL;
    return v && v->type == NINO_JSON_NUMBER ? NINO_WIDGET_FLOAT : NINO_WIDGET_OTHER;
}

static const char *control_of(reader *r, char mark, const nino_json *v)
{
    const char *s = mark == '+' && v && v->next ? nino_json_str(v->next) : NULL;
    (void) r;
    return s && nino_ui_is_control(s) ? s : mark == '+' ? "fixed" : NULL;
}

static int doc_read_input_of(const nino_doc_node *n, const char *widget)
{
    for (int i = 0; i < n->n_inputs; i++)
        if (n->inputs[i].widget && !strcmp(n->inputs[i].widget, widget))
            return i;
    for (int i = 0; i < n->n_inputs; i++)
        if (!strcmp(n->inputs[i].name, widget))
            return i;
    return -1;
}

// A value that stands at a fixed place: the text of a note, what a primitive gives out.
static void read_own_value(reader *r, const nino_ui_node *u, nino_doc_node *n)
{
    const nino_json *v = u->values && u->values->type == NINO_JSON_ARRAY ? u->values->child : NULL;
    const bool is_note = n->kind == NINO_DOC_NOTE;
    nino_doc_widget *w = alloc(r, 1, sizeof(*w));
    if (!w || (!is_note && !v))
        return;
    const nino_ui_widget as = { .kind = is_note ? 's' : '?' };
    *w = (nino_doc_widget){ .name = is_note ? "text" : "value",
                            .kind = doc_read_kind_of(&as, v),
                            .input = -1 };
    w->control = is_note ? NULL : control_of(r, '+', v);
    doc_read_set_value(r, w, v);
    if (!is_note && !(v->next && nino_json_str(v->next)))
        w->control = NULL;
    n->widgets = w;
    n->n_widgets = 1;
}

static void read_widgets(reader *r, const nino_ui_node *u, nino_doc_node *n)
{
    nino_ui_widgets list;
    if (n->kind == NINO_DOC_NOTE || n->kind == NINO_DOC_PRIMITIVE) {
        read_own_value(r, u, n);
        return;
    }
    if (n->kind == NINO_DOC_REROUTE)
        return;
    if (!nino_ui_bind(r->s->ui, u, u->values, 0, &list)) {
        r->failed = true;
        return;
    }
    nino_doc_widget *w = alloc(r, (size_t) list.n, sizeof(*w));
    for (int32_t i = 0; w && i < list.n; i++) {
        const nino_ui_widget *from = &list.list[i];
        const nino_node_def *def = u->def;
        nino_ui_widget inner = *from; // of an instance: what it is inside
        if (n->kind == NINO_DOC_SUBGRAPH &&
            !nino_ui_inner_widget(r->s->ui, u, from->name, &def, &inner))
            r->failed = true;
        const nino_json *value = from->value ? from->value : inner.value;
        const nino_param *p = def ? nino_param_find(def, inner.name) : NULL;
        w[i] = (nino_doc_widget){ .name = from->name,
                                  .kind = doc_read_kind_of(&inner, value),
                                  .param = p };
        if (n->kind != NINO_DOC_SUBGRAPH) // the choice of a promoted seed is an entry of its own
            w[i].control = control_of(r, from->mark, value);
        doc_read_set_value(r, &w[i], value);
    }
    n->widgets = w;
    n->n_widgets = w ? list.n : 0;
}

// `node`: the instance.
static void add_proxy(reader *r, int32_t node, const char *name, nino_doc_widget *list, int *n,
                      int n_own)
{
    nino_ui_widgets in;
    const char *key = name;
    const nino_json *kept = nino_doc_follow_proxy(r->ui, &node, &key);
    const nino_ui_node *u = &r->ui->nodes[node];
    if (!nino_ui_bind(r->s->ui, u, u->values, 0, &in)) {
        r->failed = true;
        return;
    }
    int from = 0, at = 0;
    while (from < in.n && strcmp(in.list[from].name, key) != 0)
        from++;
    while (at < n_own && strcmp(list[at].name, name) != 0)
        at++;
    if (from == in.n)
        return;
    if (at == n_own)
        at = (*n)++;
    const nino_ui_widget *w = &in.list[from];
    const nino_json *value = kept ? kept : w->value;
    list[at] = (nino_doc_widget){ .name = dup(r, name, strlen(name)),
                                  .kind = doc_read_kind_of(w, value),
                                  .param = u->def ? nino_param_find(u->def, key) : NULL,
                                  .control = control_of(r, w->mark, w->value) };
    doc_read_set_value(r, &list[at], value);
}

// What an instance shows of the values inside, behind or in the place of its own.
static void add_proxies(reader *r, const nino_ui_node *u, nino_doc_node *n)
{
    const nino_json *proxies = nino_ui_proxies(r->ui, u);
    const int n_own = n->n_widgets;
    if (!proxies)
        return;
    nino_doc_widget *list = alloc(r, (size_t) n_own + proxies->count, sizeof(*list));
    if (!list)
        return;
    if (n_own)
        memcpy(list, n->widgets, (size_t) n_own * sizeof(*list));
    for (const nino_json *v = proxies->child; v; v = v->next) {
        char name[96];
        int32_t node = NINO_UI_NONE;
        const char *key = NULL;
        if (nino_doc_proxy(r->ui, u, v, name, &node, &key))
            add_proxy(r, (int32_t) (u - r->ui->nodes), name, list, &n->n_widgets, n_own);
    }
    n->widgets = list;
}

// ---- inputs and outputs ----------------------------------------------------------------------

static bool is_optional(const nino_ui_node *u, const nino_ui_port *p)
{
    int64_t shape = 0;
    const nino_port *port = u->def ? nino_port_find(u->def, p->name) : NULL;
    return port ? port->optional
                : nino_json_i64(nino_json_get(p->json, "shape"), &shape) && shape == 7;
}

// Those in the file, then one for each widget that the file has none for.
static void read_inputs(reader *r, const nino_ui_node *u, nino_doc_node *n)
{
    nino_doc_input *in = alloc(r, (size_t) u->n_ports + (size_t) n->n_widgets, sizeof(*in));
    if (!in)
        return;
    for (int32_t i = 0; i < u->n_ports; i++) {
        const nino_ui_port *p = &u->ports[i];
        const char *label = doc_read_text_of(p->json, "label");
        if (!label)
            label = doc_read_text_of(p->json, "localized_name");
        in[i] = (nino_doc_input){ .name = p->name,
                                  .label = label ? label : p->name,
                                  .type = p->type,
                                  .widget = p->widget,
                                  .is_optional = p->widget || is_optional(u, p),
                                  .link = -1 };
    }
    n->inputs = in;
    n->n_inputs = u->n_ports;
    nino_doc_widget *w = (nino_doc_widget *) n->widgets;
    for (int i = 0; i < n->n_widgets; i++) {
        w[i].input = doc_read_input_of(n, w[i].name);
        if (n->kind == NINO_DOC_SUBGRAPH && w[i].input >= 0 &&
            strcmp(in[w[i].input].label, w[i].name) != 0)
            w[i].label = in[w[i].input].label;
        if (w[i].input >= 0 && !in[w[i].input].widget && u->def)
            in[w[i].input].widget = w[i].name;
        if (w[i].input >= 0 || !w[i].param || n->kind == NINO_DOC_SUBGRAPH)
            continue;
        w[i].input = n->n_inputs;
        in[n->n_inputs++] = (nino_doc_input){ .name = w[i].name,
                                              .label = w[i].name,
                                              .type = nino_param_type_name(w[i].param),
                                              .widget = w[i].name,
                                              .is_optional = true,
                                              .is_virtual = true,
                                              .link = -1 };
    }
}

static void read_outputs(reader *r, const nino_json *list, nino_doc_node *n)
{
    const uint32_t count = list ? list->count : 0;
    nino_doc_output *out = alloc(r, count, sizeof(*out));
    const nino_json *v = list ? list->child : NULL;
    for (int i = 0; out && v; i++, v = v->next) {
        const char *name = doc_read_text_of(v, "name"), *label = doc_read_text_of(v, "label");
        const nino_json *links = nino_ui_array(v, "links");
        const char *type = doc_read_type_of(v);
        out[i] = (nino_doc_output){ .name = name ? name : type,
                                    .label = label  ? label
                                             : name ? name
                                                    : type,
                                    .type = type,
                                    .n_links = links ? (int) links->count : 0 };
    }
    n->outputs = out;
    n->n_outputs = out ? (int) count : 0;
}

// ---- nodes -----------------------------------------------------------------------------------

static nino_doc_kind node_kind(const nino_ui_node *u)
{
    switch (u->kind) {
    case NINO_UI_NOTE: return NINO_DOC_NOTE;
    case NINO_UI_REROUTE: return NINO_DOC_REROUTE;
    case NINO_UI_VALUE: return NINO_DOC_PRIMITIVE;
    case NINO_UI_INSTANCE: return NINO_DOC_SUBGRAPH;
    case NINO_UI_GET:
    case NINO_UI_NODE: break;
    }
    return u->def ? NINO_DOC_NODE : NINO_DOC_UNKNOWN;
}

static void doc_read_read_node(reader *r, const nino_ui_node *u, nino_doc_node *n)
{
    const nino_json *flags = nino_json_get(u->json, "flags");
    *n = (nino_doc_node){ .id = u->id, .type = u->type, .def = u->def, .kind = node_kind(u) };
    nino_doc_pair(nino_json_get(u->json, "pos"), &n->x, &n->y);
    nino_doc_pair(nino_json_get(u->json, "size"), &n->width, &n->height);
    int64_t mode = 0;
    nino_json_i64(nino_json_get(u->json, "mode"), &mode);
    n->mode = mode == (int) mode ? (int) mode : 0;
    n->is_collapsed = doc_read_flag(flags, "collapsed");
    n->is_pinned = doc_read_flag(flags, "pinned");
    n->color = doc_read_text_of(u->json, "color");
    n->bgcolor = doc_read_text_of(u->json, "bgcolor");
    const nino_node_def *own = u->def ? u->def : nino_node_find(u->type, NULL);
    n->title = u->title && *u->title          ? u->title
               : n->kind == NINO_DOC_SUBGRAPH ? r->ui->scopes[u->inner].name
               : own                          ? own->title
                                              : u->type;
    read_widgets(r, u, n);
    if (n->kind == NINO_DOC_SUBGRAPH)
        add_proxies(r, u, n);
    read_inputs(r, u, n);
    read_outputs(r, u->outputs, n);
}

// The ends of a subgraph are drawn as nodes.
static int doc_read_read_end(reader *r, bool is_input)
{
    nino_doc_state *s = r->s;
    const char *key = is_input ? "inputNode" : "outputNode";
    const nino_json *end = nino_json_get(s->object, key);
    const nino_json *box = nino_ui_array(end, "bounding");
    const nino_json *list = nino_ui_array(s->object, is_input ? "inputs" : "outputs");
    const char *id = nino_ui_id(nino_json_get(end, "id"));
    nino_doc_node *n = &s->nodes[s->n_nodes];
    *n = (nino_doc_node){ .id = id         ? id
                                : is_input ? "-10"
                                           : "-20",
                          .type = key,
                          .title = is_input ? "Inputs" : "Outputs",
                          .kind = is_input ? NINO_DOC_INPUT : NINO_DOC_OUTPUT };
    nino_json_double(nino_json_at(box, 0), &n->x);
    nino_json_double(nino_json_at(box, 1), &n->y);
    if (is_input) {
        read_outputs(r, list, n);
        for (int i = 0; i < n->n_outputs; i++) {
            const nino_json *ids = nino_ui_array(nino_json_at(list, (uint32_t) i), "linkIds");
            ((nino_doc_output *) n->outputs)[i].n_links = ids ? (int) ids->count : 0;
        }
        return s->n_nodes++;
    }
    nino_doc_input *in = alloc(r, list ? list->count : 0, sizeof(*in));
    const nino_json *v = list ? list->child : NULL;
    for (; in && v; v = v->next) {
        const char *name = doc_read_text_of(v, "name"), *label = doc_read_text_of(v, "label");
        name = name ? name : doc_read_type_of(v);
        in[n->n_inputs++] = (nino_doc_input){
            .name = name, .label = label ? label : name, .type = doc_read_type_of(v), .link = -1
        };
    }
    n->inputs = in;
    return s->n_nodes++;
}

// ---- links -----------------------------------------------------------------------------------

static int reroute_of(const nino_doc_state *s, const char *id)
{
    for (int i = 0; id && i < s->n_reroutes; i++)
        if (!strcmp(s->reroutes[i].id, id))
            return i;
    return -1;
}

// A link ends at its last reroute, each names the one before it.
static void read_bends(reader *r, const nino_json *json, nino_doc_link *l)
{
    const nino_doc_state *s = r->s;
    const nino_json *list = nino_doc_reroute_list(s->object);
    const char *last = list ? nino_doc_link_parent(s->object, json) : NULL;
    int n = 0;
    for (int at = reroute_of(s, last); at >= 0 && n < MAX_BENDS; n++)
        at = reroute_of(
            s, nino_ui_id(nino_json_get(nino_doc_find_id(list, s->reroutes[at].id), "parentId")));
    int *bends = n ? alloc(r, (size_t) n, sizeof(*bends)) : NULL;
    if (!bends)
        return;
    l->n_reroutes = n;
    l->reroutes = bends;
    for (int at = reroute_of(s, last); n > 0; n--) {
        bends[n - 1] = at;
        at = reroute_of(
            s, nino_ui_id(nino_json_get(nino_doc_find_id(list, s->reroutes[at].id), "parentId")));
    }
}

static void doc_read_add_link(reader *r, const nino_ui_link *u, int to, int slot)
{
    nino_doc_state *s = r->s;
    const nino_ui_scope *scope = &r->ui->scopes[s->scope];
    nino_doc_link *l = &s->links[s->n_links];
    const int from = u->origin == NINO_UI_OUTER ? r->input_node
                     : u->origin >= 0           ? u->origin - scope->first
                                                : -1;
    if (from < 0 || u->slot >= s->nodes[from].n_outputs)
        return; // leads nowhere
    const char *type = s->nodes[from].outputs[u->slot].type;
    *l = (nino_doc_link){ .id = u->id,
                          .type = type,
                          .from = from,
                          .from_slot = u->slot,
                          .to = to,
                          .to_slot = slot,
                          .is_offered = u->is_offered };
    read_bends(r, u->json, l);
    ((nino_doc_input *) s->nodes[to].inputs)[slot].link = s->n_links++;
}

static void doc_read_read_links(reader *r)
{
    nino_doc_state *s = r->s;
    const nino_ui_scope *scope = &r->ui->scopes[s->scope];
    for (int32_t i = 0; i < scope->n_nodes; i++) {
        const nino_ui_node *u = &r->ui->nodes[scope->first + i];
        for (int32_t k = 0; k < u->n_ports; k++)
            if (u->ports[k].link >= 0)
                doc_read_add_link(r, &r->ui->links[u->ports[k].link], i, k);
    }
    for (int32_t k = 0; r->output_node >= 0 && k < scope->n_outputs; k++)
        if (k < s->nodes[r->output_node].n_inputs && scope->outputs[k] >= 0)
            doc_read_add_link(r, &r->ui->links[scope->outputs[k]], r->output_node, k);
    for (int i = 0; i < s->n_nodes; i++) {
        const nino_doc_node *n = &s->nodes[i];
        for (int k = 0; k < n->n_widgets; k++)
            ((nino_doc_widget *) n->widgets)[k].is_linked =
                n->widgets[k].input >= 0 && n->inputs[n->widgets[k].input].link >= 0;
    }
}

// A legacy Reroute and its links show the type of what comes in.
static void spread_types(nino_doc_state *s)
{
    for (int i = 0; i < s->n_links; i++) {
        int at = i;
        for (int hops = 0; hops < MAX_BENDS; hops++) {
            const nino_doc_node *n = &s->nodes[s->links[at].from];
            if (n->kind != NINO_DOC_REROUTE || !n->n_inputs || n->inputs[0].link < 0)
                break;
            at = n->inputs[0].link;
        }
        s->links[i].type = s->links[at].type;
        const nino_doc_node *to = &s->nodes[s->links[i].to];
        if (to->kind == NINO_DOC_REROUTE && to->n_outputs)
            ((nino_doc_output *) to->outputs)[0].type = s->links[i].type;
    }
}

// ---- groups and reroutes ---------------------------------------------------------------------

static void read_reroutes(reader *r)
{
    nino_doc_state *s = r->s;
    const nino_json *list = nino_doc_reroute_list(s->object);
    s->reroutes = alloc(r, list ? list->count : 0, sizeof(*s->reroutes));
    for (const nino_json *v = list ? list->child : NULL; v && s->reroutes; v = v->next) {
        nino_doc_reroute *to = &s->reroutes[s->n_reroutes];
        to->id = nino_ui_id(nino_json_get(v, "id"));
        if (to->id && nino_doc_pair(nino_json_get(v, "pos"), &to->x, &to->y))
            s->n_reroutes++;
    }
}

static void read_groups(reader *r)
{
    nino_doc_state *s = r->s;
    const nino_json *list = nino_ui_array(s->object, "groups");
    s->groups = alloc(r, list ? list->count : 0, sizeof(*s->groups));
    for (const nino_json *v = list ? list->child : NULL; v && s->groups; v = v->next) {
        nino_doc_group *g = &s->groups[s->n_groups++]; // the number is the place in the list
        const nino_json *box = nino_json_get(v, "bounding");
        const char *title = doc_read_text_of(v, "title");
        *g = (nino_doc_group){ .title = title ? title : "", .color = doc_read_text_of(v, "color") };
        nino_json_double(nino_json_at(box, 0), &g->x);
        nino_json_double(nino_json_at(box, 1), &g->y);
        nino_json_double(nino_json_at(box, 2), &g->width);
        nino_json_double(nino_json_at(box, 3), &g->height);
    }
}

nino_status nino_doc_read(nino_doc_state *s, nino_error *err)
{
    reader r = { s, s->ui, s->arena, -1, -1, false };
    const nino_ui_scope *scope = &s->ui->scopes[s->scope];
    s->nodes = alloc(&r, (size_t) scope->n_nodes + 2, sizeof(*s->nodes));
    for (; s->nodes && s->n_nodes < scope->n_nodes; s->n_nodes++)
        doc_read_read_node(&r, &s->ui->nodes[scope->first + s->n_nodes], &s->nodes[s->n_nodes]);
    if (s->nodes && s->scope) {
        r.input_node = doc_read_read_end(&r, true);
        r.output_node = doc_read_read_end(&r, false);
    }
    read_reroutes(&r);
    read_groups(&r);
    if (r.failed)
        return nino_ui_nomem(s->ui, err);
    // One link may arrive at several inputs in broken files.
    size_t n_inputs = 0;
    for (int i = 0; i < s->n_nodes; i++)
        n_inputs += (size_t) s->nodes[i].n_inputs;
    s->links = alloc(&r, n_inputs, sizeof(*s->links));
    if (!r.failed)
        doc_read_read_links(&r);
    spread_types(s);
    return r.failed ? nino_ui_nomem(s->ui, err) : NINO_OK;
}
