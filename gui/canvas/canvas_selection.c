// What is selected, nodes and spots; it moves together: taken, dragged, and written down as one step.
#include "canvas/canvas_priv.h"

void nino_canvas_unselect(NinoCanvas *c)
{
    g_hash_table_remove_all(c->selected);
    nino_canvas_spots_select_none(&c->spots);
}

void nino_canvas_select_spot(NinoCanvas *c, NinoSpot *s, gboolean selected)
{
    nino_spot_set(s, s->label, selected);
    nino_canvas_selection_changed(c);
}

void nino_canvas_toggle(NinoCanvas *c, const char *id, gboolean selected)
{
    if (selected)
        g_hash_table_add(c->selected, g_strdup(id));
    else
        g_hash_table_remove(c->selected, id);
    nino_canvas_selection_changed(c);
}

void nino_canvas_select_only(NinoCanvas *c, const char *id)
{
    g_autofree char *own = g_strdup(id);
    nino_canvas_unselect(c);
    if (own)
        g_hash_table_add(c->selected, g_strdup(own));
    nino_canvas_selection_changed(c);
}

void nino_canvas_select(NinoCanvas *c, const char *const *ids)
{
    nino_canvas_unselect(c);
    for (; ids && *ids; ids++)
        if (g_hash_table_contains(c->by_id, *ids))
            g_hash_table_add(c->selected, g_strdup(*ids));
    nino_canvas_selection_changed(c);
}

// In the order of the document.
const char **nino_canvas_selected_ids(NinoCanvas *c, size_t *n)
{
    const char **ids = g_new0(const char *, c->nodes->len + 1);
    *n = 0;
    for (guint i = 0; i < c->nodes->len; i++) {
        const char *id = nino_node_view_id(g_ptr_array_index(c->nodes, i));
        if (g_hash_table_contains(c->selected, id))
            ids[(*n)++] = id;
    }
    return ids;
}

char **nino_canvas_get_selection(NinoCanvas *c)
{
    size_t n = 0;
    char **ids = (char **) nino_canvas_selected_ids(c, &n);
    for (size_t i = 0; i < n; i++)
        ids[i] = g_strdup(ids[i]);
    return ids;
}

// ---- moving it ---------------------------------------------------------------------------------

void nino_canvas_take_selection(NinoCanvas *c)
{
    g_array_set_size(c->moved, 0);
    for (guint i = 0; i < c->nodes->len; i++) {
        NinoNodeView *v = g_ptr_array_index(c->nodes, i);
        const nino_doc_node *n = nino_document_node(c->doc, (int) i);
        graphene_rect_t box;
        nino_node_view_get_box(v, &box);
        const CanvasMoved m = { v, box.origin.x, box.origin.y };
        if (n && !n->is_pinned &&
            (g_hash_table_contains(c->selected, n->id) ||
             nino_canvas_spots_takes(&c->spots, nino_node_view_middle(v))))
            g_array_append_val(c->moved, m);
    }
    nino_canvas_spots_take(&c->spots);
}

void nino_canvas_drag_selection(NinoCanvas *c, double dx, double dy)
{
    for (guint i = 0; i < c->moved->len; i++) {
        const CanvasMoved *m = &g_array_index(c->moved, CanvasMoved, i);
        nino_node_view_set_place(m->view, m->x + dx, m->y + dy);
    }
    c->spots.dx = dx;
    c->spots.dy = dy;
}

void nino_canvas_drop_selection(NinoCanvas *c, double dx, double dy)
{
    nino_error err = { 0 };
    nino_status st = NINO_OK;
    const guint n = c->moved->len;
    const int n_spots = nino_canvas_spots_n_moved(&c->spots);
    c->spots.dx = c->spots.dy = 0;
    if (!n && !n_spots)
        return;
    const char **ids = g_new0(const char *, n + 1);
    for (guint i = 0; i < n; i++)
        ids[i] = nino_node_view_id(g_array_index(c->moved, CanvasMoved, i).view);
    if (n_spots)
        nino_document_begin(c->doc, nino_canvas_spots_selected_group(&c->spots) ? "Move group"
                                    : n                                         ? "Move"
                                                                                : "Move reroute");
    if (n_spots)
        st = nino_canvas_spots_move(&c->spots, dx, dy, &err);
    if (!st && n)
        st = nino_document_move(c->doc, ids, n, dx, dy, &err);
    g_free(ids);
    if (st && n_spots)
        nino_document_cancel(c->doc);
    else if (n_spots)
        st = nino_document_end(c->doc, &err);
    nino_canvas_did(c, st, &err);
}
