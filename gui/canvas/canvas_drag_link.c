// Links while they are dragged: from a slot, to a slot, a node or into the open.
#include "canvas/canvas_priv.h"

#include <string.h>

void nino_canvas_show_wanted(NinoCanvas *c, gboolean on)
{
    const char *type = on ? nino_canvas_links_type(&c->links, c->doc) : NULL;
    for (guint i = 0; i < c->nodes->len; i++)
        nino_node_view_set_wanted(g_ptr_array_index(c->nodes, i), type, c->links.from_output);
}

gboolean nino_canvas_begin_link(NinoCanvas *c, NinoNodeView *v, double x, double y)
{
    const int node = nino_canvas_number_of(c, v), out = nino_node_view_output_at(v, x, y);
    const int in = out < 0 ? nino_node_view_input_at(v, x, y) : -1;
    const nino_doc_node *n = nino_document_node(c->doc, node);
    if (!n || (out < 0 && in < 0))
        return FALSE;
    c->links.cut_node = -1;
    c->links.node = node;
    c->links.slot = out >= 0 ? out : in;
    c->links.from_output = out >= 0;
    const nino_doc_link *l = in < 0 ? NULL : nino_document_link(c->doc, n->inputs[in].link);
    if (l && !l->is_offered) { // takes the end of the link along
        c->links.cut_node = node;
        c->links.cut_input = in;
        c->links.node = l->from;
        c->links.slot = l->from_slot;
        c->links.from_output = TRUE;
    }
    c->drag = DRAG_LINK;
    nino_canvas_show_wanted(c, TRUE);
    return TRUE;
}

// The input that a link dropped on a node goes to: the slot under the pointer, or the first that
// fits and is free; of values only where no socket fits.
static int pick_input(const nino_doc_node *n, int at, const char *type)
{
    int taken = -1, value = -1;
    if (at >= 0)
        return at;
    for (int i = 0; i < n->n_inputs; i++) {
        const nino_doc_input *in = &n->inputs[i];
        if (!nino_document_types_fit(type, in->type))
            continue;
        if (!in->widget && in->link < 0)
            return i;
        int *const other = in->widget ? &value : &taken;
        if (*other < 0 && (!in->widget || in->link < 0))
            *other = i;
    }
    return taken >= 0 ? taken : value;
}

// The open side of an end of the subgraph makes a new port.
static gboolean is_open_side(const NinoCanvas *c, const nino_doc_node *n, NinoNodeView *v, double x,
                             double y)
{
    if (n && n->kind == NINO_DOC_OUTPUT && c->links.from_output)
        return nino_node_view_input_at(v, x, y) < 0;
    return n && n->kind == NINO_DOC_INPUT && !c->links.from_output &&
           nino_node_view_output_at(v, x, y) < 0;
}

static int pick_output(const nino_doc_node *n, int at, const char *type)
{
    for (int i = 0; i < n->n_outputs && at < 0; i++)
        if (nino_document_types_fit(n->outputs[i].type, type))
            return i;
    return at;
}

void nino_canvas_drop_link(NinoCanvas *c)
{
    nino_error err = { 0 };
    nino_status st = NINO_OK;
    NinoNodeView *v = nino_canvas_node_at(c, c->px, c->py);
    const int to = v ? nino_canvas_number_of(c, v) : -1;
    const nino_doc_node *n = nino_document_node(c->doc, to);
    const char *type = nino_canvas_links_type(&c->links, c->doc);
    double x = 0, y = 0;
    if (v)
        nino_canvas_inside(c, v, c->px, c->py, &x, &y);
    if (!n && c->links.cut_node < 0) {
        nino_canvas_open_search(c, c->px, c->py, type, c->links.from_output, FALSE);
        return;
    }
    const gboolean is_new = is_open_side(c, n, v, x, y);
    const int slot = !n || is_new ? -1
                     : c->links.from_output
                         ? pick_input(n, nino_node_view_input_at(v, x, y), type)
                         : pick_output(n, nino_node_view_output_at(v, x, y), type);
    if (to == c->links.cut_node && slot == c->links.cut_input && n)
        return; // back where it was
    nino_document_begin(c->doc, slot >= 0 || is_new ? "Connect" : "Disconnect");
    if (c->links.cut_node >= 0)
        st = nino_document_disconnect(c->doc, c->links.cut_node, c->links.cut_input, &err);
    if (!st && is_new)
        st = nino_document_add_port(c->doc, c->links.node, c->links.from_output, c->links.slot,
                                    &err);
    else if (!st && n && slot >= 0)
        st = c->links.from_output
                 ? nino_document_connect(c->doc, c->links.node, c->links.slot, to, slot, &err)
                 : nino_document_connect(c->doc, to, slot, c->links.node, c->links.slot, &err);
    if (st)
        nino_document_cancel(c->doc);
    else
        st = nino_document_end(c->doc, &err);
    nino_canvas_did(c, st, &err);
    if (st)
        nino_canvas_sync(c);
}
