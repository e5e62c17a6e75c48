// Where the value of a connected input comes from: links followed backwards through everything that
// is not executed.
#include "core/base/error.h"
#include "core/workflow/ui.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

// Longer ways than this are circles: a real one is a few reroutes long.
#define MAX_STEPS 2000
// Links that all run through the same long way, each again: no workflow needs a thousandth of this.
#define MAX_WORK ((uint64_t) 1 << 28)

// ---- types -----------------------------------------------------------------------------------

static bool has_ui_follow_word(const char *list, const char *word, size_t len)
{
    for (;;) {
        const size_t n = strcspn(list, ",");
        if (n == len && !strncasecmp(list, word, len))
            return true;
        if (!list[n])
            return false;
        list += n + 1;
    }
}

// Types as litegraph compares them: "*" takes all, "A,B" is either.
static bool agree(const char *a, const char *b)
{
    if (!strcmp(a, "*") || !strcmp(b, "*"))
        return true;
    for (;; a++) {
        const size_t n = strcspn(a, ",");
        if (has_ui_follow_word(b, a, n))
            return true;
        if (!*(a += n))
            return false;
    }
}

static const char *output_type(const nino_ui_node *n, int32_t slot)
{
    const nino_json *o = nino_json_at(n->outputs, (uint32_t) slot);
    const char *s = nino_json_str(nino_json_get(o, "type"));
    return s && *s ? s : "*";
}

// The input that a bypassed node hands through to its output `slot`, or NULL.
static const nino_ui_port *passed_through(const nino_ui_node *n, int32_t slot, const char *want)
{
    const char *out = output_type(n, slot);
    const bool any = !strcmp(want, "*") || !strcmp(out, "*");
    if (slot < n->n_ports &&
        (any || (agree(n->ports[slot].type, out) && agree(n->ports[slot].type, want))))
        return &n->ports[slot];
    if (any)
        return n->n_ports ? &n->ports[0] : NULL;
    for (int32_t i = 0; i < n->n_ports; i++)
        if (!strcmp(n->ports[i].type, want))
            return &n->ports[i];
    for (int32_t i = 0; i < n->n_ports; i++)
        if (agree(n->ports[i].type, want))
            return &n->ports[i];
    return NULL;
}

// ---- subgraphs -------------------------------------------------------------------------------

// The input of the instance node that is input `slot` of its definition: by name, since nothing
// keeps the two lists in one order; group nodes have no names.
static const nino_ui_port *outer_port(const nino_ui *ui, const nino_ui_node *n, int32_t slot)
{
    const nino_ui_scope *s = &ui->scopes[n->inner];
    const char *name =
        nino_json_str(nino_json_get(nino_json_at(s->inputs, (uint32_t) slot), "name"));
    if (slot < n->n_ports && name && !strcmp(n->ports[slot].name, name) &&
        n->n_ports == s->n_inputs)
        return &n->ports[slot];
    for (int32_t i = 0; name && i < n->n_ports; i++)
        if (!strcmp(n->ports[i].name, name))
            return &n->ports[i];
    if (s->is_group)
        return nino_ui_group_port(s, n, slot);
    return n->n_ports == s->n_inputs && slot < n->n_ports ? &n->ports[slot] : NULL;
}

// ---- following -------------------------------------------------------------------------------

typedef struct walk {
    nino_ui *ui;
    const char *want;         // type of the input that asks
    const nino_ui_link *link; // the next one, or
    const nino_ui_port *port; // the input whose link is next; both NULL: the end
    int32_t instance;
    nino_ui_source *out;
} walk;

static void ui_follow_end(walk *w, nino_ui_found found)
{
    w->out->found = found;
    w->link = NULL;
    w->port = NULL;
}

static void ui_follow_broken(walk *w, const char *why, const char *link_id)
{
    w->out->why = why;
    snprintf(w->out->link, sizeof(w->out->link), "%s", link_id ? link_id : "?");
    ui_follow_end(w, NINO_UI_FOUND_BROKEN);
}

static void ui_follow_give(walk *w, nino_json *value)
{
    w->out->value = value;
    ui_follow_end(w, value ? NINO_UI_FOUND_VALUE : NINO_UI_FOUND_NOTHING);
}

// Output `slot` of an instance: on inside, at what its output node receives.
static void ui_follow_enter(walk *w, int32_t node, const nino_ui_link *l)
{
    const nino_ui_scope *s = &w->ui->scopes[w->ui->nodes[node].inner];
    const nino_ui_instance *x = &w->ui->instances[w->instance];
    if (l->slot >= s->n_outputs) {
        ui_follow_broken(w, N_("comes from an output that the subgraph does not have"), l->id);
        return;
    }
    w->instance = x->child[node - w->ui->scopes[x->scope].first];
    if (s->outputs[l->slot] >= 0)
        w->link = &w->ui->links[s->outputs[l->slot]];
    else
        ui_follow_end(w, NINO_UI_FOUND_NOTHING);
}

// Input `slot` of the subgraph: on outside, at the instance node.
static void ui_follow_leave(walk *w, const nino_ui_link *l)
{
    const nino_ui_instance *x = &w->ui->instances[w->instance]; // not the workflow itself
    const nino_ui_node *n = &w->ui->nodes[x->node];
    const nino_ui_port *port = outer_port(w->ui, n, l->slot);
    const nino_json *input = nino_json_at(w->ui->scopes[x->scope].inputs, (uint32_t) l->slot);
    const char *name = nino_json_str(nino_json_get(input, "name"));
    const int32_t inside = w->instance;
    w->instance = x->parent;
    if (port && port->link_id) {
        w->port = port;
        return;
    }
    nino_json *v = name ? nino_ui_promoted(w->ui, x->parent, x->node, name) : NULL;
    if (!v && name && port && strcmp(port->name, name) != 0)
        v = nino_ui_promoted(w->ui, x->parent, x->node, port->name);
    // The input of an instance begins with what the first widget shows that it feeds, and then all that it feeds have it.
    const nino_node_def *def = NULL;
    nino_ui_widget inner = { 0 };
    if (!v && name) {
        if (!nino_ui_inner_widget(w->ui, n, name, &def, &inner)) {
            ui_follow_end(w, NINO_UI_FOUND_NO_MEMORY);
            return;
        }
        nino_json *kept = nino_ui_fed_override(w->ui, inside, name);
        v = kept ? kept : inner.value;
        w->out->is_inner = true;
    }
    ui_follow_give(w, v);
}

// The SetNode of the name: in the graph of the GetNode, else in the nearest one around it.
static void follow_get(walk *w, const nino_ui_node *n)
{
    const char *name = nino_ui_shared_name(n);
    for (int32_t at = w->instance; at >= 0; at = w->ui->instances[at].parent) {
        const int32_t setter =
            nino_ui_get(w->ui, NINO_UI_IS_SETTER, w->ui->instances[at].scope, name);
        w->ui->work++;
        if (setter < 0)
            continue;
        const nino_ui_node *s = &w->ui->nodes[setter];
        w->instance = at;
        w->port = s->is_muted ? NULL : s->ports;
        return;
    }
}

static void follow_node(walk *w, int32_t node, const nino_ui_link *l)
{
    const nino_ui_node *n = &w->ui->nodes[node];
    int32_t from = 0;
    if (n->is_bypassed) {
        w->ui->work += (uint64_t) n->n_ports;
        w->port = passed_through(n, l->slot, w->want);
        if (!w->port)
            ui_follow_end(w, NINO_UI_FOUND_NOTHING);
        return;
    }
    switch (n->kind) {
    case NINO_UI_NODE:
        w->out->instance = w->instance;
        w->out->node = node;
        w->out->slot = l->slot;
        ui_follow_end(w, n->is_muted ? NINO_UI_FOUND_MUTED : NINO_UI_FOUND_NODE);
        return;
    case NINO_UI_INSTANCE:
        if (n->is_muted)
            ui_follow_end(w, NINO_UI_FOUND_MUTED);
        else
            ui_follow_enter(w, node, l);
        return;
    case NINO_UI_REROUTE: w->port = n->ports; break;
    case NINO_UI_GET: follow_get(w, n); break;
    case NINO_UI_VALUE:
        ui_follow_give(w, (nino_json *) nino_json_at(
                              nino_ui_values(w->ui, w->instance, node, &from), (uint32_t) from));
        return;
    case NINO_UI_NOTE: break;
    }
    if (!w->port)
        ui_follow_end(w, NINO_UI_FOUND_NOTHING);
}

static void ui_follow_step(walk *w)
{
    const nino_ui_link *l = w->link;
    const nino_ui_port *port = w->port;
    w->link = NULL;
    w->port = NULL;
    if (port && !port->link_id)
        ui_follow_end(w, NINO_UI_FOUND_NOTHING);
    else if (port && port->link < 0)
        ui_follow_broken(w, N_("does not exist"), port->link_id);
    else if (port)
        w->link = &w->ui->links[port->link];
    else if (l->is_double)
        ui_follow_broken(w, N_("is defined twice, differently"), l->id);
    else if (l->origin == NINO_UI_OUTER)
        ui_follow_leave(w, l);
    else if (l->origin < 0)
        ui_follow_broken(w, N_("comes from a node that does not exist"), l->id);
    else
        follow_node(w, l->origin, l);
}

void nino_ui_follow(nino_ui *ui, int32_t instance, const nino_ui_port *port, nino_ui_source *out)
{
    walk w = { .ui = ui, .want = port->type, .port = port, .instance = instance, .out = out };
    *out = (nino_ui_source){ .found = NINO_UI_FOUND_NOTHING };
    for (int n = 0; w.link || w.port; n++) {
        const char *id = w.link ? w.link->id : w.port->link_id;
        if (n == MAX_STEPS)
            ui_follow_broken(&w, N_("runs in a circle"), id);
        else if (ui->work++ > MAX_WORK)
            ui_follow_broken(&w, N_("is one of too many that share a long way"), id);
        else
            ui_follow_step(&w);
    }
}
