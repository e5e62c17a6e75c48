// Place and zoom of the canvas: which nodes are seen and in how much detail.
#include "canvas/canvas_priv.h"

#include <math.h>

// Nodes outside are not mapped: GTK neither lays them out nor draws them. Where editors come into
// view, the canvas asks for a layout that begins at the window: a text area asks for its own size
// again while it gets its first, and what is above the canvas and not in that layout would have to
// be drawn in need of one (GTK: "Trying to snapshot GtkStack without a current allocation").
void nino_canvas_moved(NinoCanvas *c)
{
    gboolean shows_editors = FALSE;
    const NinoDetail detail = nino_canvas_view_detail(&c->view);
    const double text = nino_canvas_view_text(&c->view);
    graphene_rect_t box;
    for (guint i = 0; i < c->nodes->len; i++) {
        NinoNodeView *v = g_ptr_array_index(c->nodes, i);
        nino_node_view_get_box(v, &box);
        const gboolean visible = nino_canvas_view_sees(&c->view, &box, 40);
        const gboolean was_full = gtk_widget_get_child_visible(GTK_WIDGET(v)) &&
                                  nino_node_view_get_detail(v) == NINO_DETAIL_FULL;
        shows_editors |= visible && detail == NINO_DETAIL_FULL && !was_full;
        if (visible)
            nino_node_view_set_detail(v, detail, text);
        if (gtk_widget_get_child_visible(GTK_WIDGET(v)) != visible)
            gtk_widget_set_child_visible(GTK_WIDGET(v), visible);
    }
    nino_canvas_spots_show(&c->spots, &c->view);
    if (shows_editors)
        gtk_widget_queue_resize(GTK_WIDGET(c));
    else
        gtk_widget_queue_allocate(GTK_WIDGET(c));
}

static void zoomed(NinoCanvas *c)
{
    nino_canvas_moved(c);
    g_object_notify(G_OBJECT(c), "zoom");
}

static void fit_all(NinoCanvas *c, double least_zoom)
{
    const graphene_rect_t all = nino_canvas_bounds(c);
    if (all.size.width < 1 || all.size.height < 1)
        return;
    nino_canvas_view_fit(&c->view, &all, least_zoom);
    zoomed(c);
}

gboolean nino_canvas_moved_later(gpointer user)
{
    NinoCanvas *c = user;
    c->moved_source = 0;
    if (c->view.wants_fit && c->view.width > 50)
        nino_canvas_first_view(c);
    else if (nino_canvas_view_is_fitted(&c->view) && c->view.width > 50) // all was in view
        fit_all(c, c->view.fitted.least);
    nino_canvas_moved(c);
    return G_SOURCE_REMOVE;
}

void nino_canvas_zoom_at(NinoCanvas *c, double zoom, double x, double y)
{
    if (nino_canvas_view_zoom_at(&c->view, zoom, x, y))
        zoomed(c);
}

void nino_canvas_set_zoom(NinoCanvas *c, double zoom)
{
    nino_canvas_zoom_at(c, zoom, c->view.width / 2.0, c->view.height / 2.0);
}

double nino_canvas_get_zoom(NinoCanvas *c) { return c->view.zoom; }

void nino_canvas_set_offset(NinoCanvas *c, double x, double y)
{
    c->view.x = -x * c->view.zoom;
    c->view.y = -y * c->view.zoom;
    c->view.wants_fit = FALSE;
    nino_canvas_moved(c);
}

void nino_canvas_get_offset(NinoCanvas *c, double *x, double *y)
{
    *x = -c->view.x / c->view.zoom;
    *y = -c->view.y / c->view.zoom;
}

void nino_canvas_fit_grown(NinoCanvas *c)
{
    const graphene_rect_t all = nino_canvas_bounds(c);
    if (nino_canvas_view_is_fitted(&c->view) && !graphene_rect_equal(&all, &c->view.fitted.box))
        fit_all(c, c->view.fitted.least);
}

void nino_canvas_first_view(NinoCanvas *c)
{
    c->view.wants_fit = !nino_canvas_view_has_room(&c->view);
    if (!c->view.wants_fit)
        fit_all(c, NINO_CANVAS_LEGIBLE);
}

void nino_canvas_fit(NinoCanvas *c)
{
    graphene_rect_t all, box;
    gboolean any = FALSE;
    if (!nino_canvas_view_has_room(&c->view)) {
        c->view.wants_fit = TRUE;
        return;
    }
    c->view.wants_fit = FALSE;
    for (guint i = 0; i < c->nodes->len; i++) {
        NinoNodeView *v = g_ptr_array_index(c->nodes, i);
        if (!g_hash_table_contains(c->selected, nino_node_view_id(v)))
            continue;
        nino_node_view_get_box(v, &box);
        any ? graphene_rect_union(&all, &box, &all) : (void) (all = box);
        any = TRUE;
    }
    for (guint i = 0; i < c->spots.all->len; i++) {
        NinoSpot *s = g_ptr_array_index(c->spots.all, i);
        if (!s->is_selected)
            continue;
        box = nino_canvas_spots_box(&c->spots, s);
        any ? graphene_rect_union(&all, &box, &all) : (void) (all = box);
        any = TRUE;
    }
    if (!any) {
        fit_all(c, 0);
        return;
    }
    nino_canvas_view_show(&c->view, &all, 1.5);
    zoomed(c);
}

void nino_canvas_reveal(NinoCanvas *c, const graphene_rect_t *box)
{
    nino_canvas_view_reveal(&c->view, box);
    nino_canvas_moved(c);
}

void nino_canvas_reveal_node(NinoCanvas *c, NinoNodeView *v)
{
    graphene_rect_t box;
    nino_node_view_get_box(v, &box);
    nino_canvas_reveal(c, &box);
}

NinoNodeView *nino_canvas_node_at(NinoCanvas *c, double sx, double sy)
{
    const double reach = 8;
    double x, y;
    nino_canvas_view_world(&c->view, sx, sy, &x, &y);
    for (guint i = c->nodes->len; i > 0; i--) { // the last one is on top
        NinoNodeView *v = g_ptr_array_index(c->nodes, i - 1);
        graphene_rect_t box;
        nino_node_view_get_box(v, &box);
        if (x >= box.origin.x - reach && x <= box.origin.x + box.size.width + reach &&
            y >= box.origin.y && y <= box.origin.y + box.size.height)
            return v;
    }
    return NULL;
}

int nino_canvas_number_of(NinoCanvas *c, NinoNodeView *v)
{
    return nino_document_find(c->doc, nino_node_view_id(v));
}

void nino_canvas_inside(NinoCanvas *c, NinoNodeView *v, double sx, double sy, double *x, double *y)
{
    graphene_rect_t box;
    nino_node_view_get_box(v, &box);
    nino_canvas_view_world(&c->view, sx, sy, x, y);
    *x -= box.origin.x;
    *y -= box.origin.y;
}
