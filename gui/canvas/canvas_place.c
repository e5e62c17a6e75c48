// Place and zoom of the canvas: which nodes are seen and in how much detail.
#include "canvas/canvas_priv.h"

#include <math.h>

void nino_canvas_world(NinoCanvas *c, double sx, double sy, double *x, double *y)
{
    *x = (sx - c->ox) / c->zoom;
    *y = (sy - c->oy) / c->zoom;
}

static NinoDetail detail_at(double zoom)
{
    return zoom >= 0.5 ? NINO_DETAIL_FULL : zoom >= 0.24 ? NINO_DETAIL_TITLE : NINO_DETAIL_BOX;
}

// Nodes outside are not mapped: GTK neither lays them out nor draws them. Where editors come into
// view, the canvas asks for a layout that begins at the window: a text area asks for its own size
// again while it gets its first, and what is above the canvas and not in that layout would have to
// be drawn in need of one (GTK: "Trying to snapshot GtkStack without a current allocation").
void nino_canvas_moved(NinoCanvas *c)
{
    gboolean shows_editors = FALSE;
    const double w = gtk_widget_get_width(GTK_WIDGET(c)), h = gtk_widget_get_height(GTK_WIDGET(c));
    const double margin = 40;
    graphene_rect_t box;
    c->detail = detail_at(c->zoom);
    for (guint i = 0; i < c->views->len; i++) {
        NinoNodeView *v = g_ptr_array_index(c->views, i);
        nino_node_view_get_box(v, &box);
        const double x = box.origin.x * c->zoom + c->ox, y = box.origin.y * c->zoom + c->oy;
        const gboolean visible = x < w + margin && y < h + margin &&
                                 x + box.size.width * c->zoom > -margin &&
                                 y + box.size.height * c->zoom > -margin;
        const gboolean was_full = gtk_widget_get_child_visible(GTK_WIDGET(v)) &&
                                  nino_node_view_get_detail(v) == NINO_DETAIL_FULL;
        shows_editors |= visible && c->detail == NINO_DETAIL_FULL && !was_full;
        if (visible)
            nino_node_view_set_detail(v, c->detail);
        if (gtk_widget_get_child_visible(GTK_WIDGET(v)) != visible)
            gtk_widget_set_child_visible(GTK_WIDGET(v), visible);
    }
    nino_canvas_show_spots(c);
    if (shows_editors)
        gtk_widget_queue_resize(GTK_WIDGET(c));
    else
        gtk_widget_queue_allocate(GTK_WIDGET(c));
}

static void show_box(NinoCanvas *c, const graphene_rect_t *box, double most)
{
    const double w = gtk_widget_get_width(GTK_WIDGET(c)), h = gtk_widget_get_height(GTK_WIDGET(c));
    c->zoom = CLAMP(MIN((w - 48) / box->size.width, (h - 48) / box->size.height),
                    NINO_CANVAS_MIN_ZOOM, most);
    c->ox = (w - box->size.width * c->zoom) / 2 - box->origin.x * c->zoom;
    c->oy = (h - box->size.height * c->zoom) / 2 - box->origin.y * c->zoom;
    nino_canvas_moved(c);
    g_object_notify(G_OBJECT(c), "zoom");
}

static void show_all(NinoCanvas *c)
{
    const graphene_rect_t all = nino_canvas_bounds(c);
    if (all.size.width < 1 || all.size.height < 1)
        return;
    show_box(c, &all, 1);
    c->fit_box = all;
    c->fit_zoom = c->zoom;
    c->fit_ox = c->ox;
    c->fit_oy = c->oy;
}

// Is everything still where fitting it put it?
static gboolean is_untouched(NinoCanvas *c)
{
    return c->fit_zoom == c->zoom && c->fit_ox == c->ox && c->fit_oy == c->oy;
}

gboolean nino_canvas_moved_later(gpointer user)
{
    NinoCanvas *c = user;
    c->moved_source = 0;
    if (c->wants_fit && gtk_widget_get_width(GTK_WIDGET(c)) > 50)
        nino_canvas_fit(c);
    else if (is_untouched(c) && gtk_widget_get_width(GTK_WIDGET(c)) > 50) // all was in view
        show_all(c);
    nino_canvas_moved(c);
    return G_SOURCE_REMOVE;
}

void nino_canvas_zoom_at(NinoCanvas *c, double zoom, double x, double y)
{
    zoom = CLAMP(zoom, NINO_CANVAS_MIN_ZOOM, NINO_CANVAS_MAX_ZOOM);
    if (!isfinite(x) || !isfinite(y) || zoom == c->zoom)
        return;
    c->ox = x - (x - c->ox) * zoom / c->zoom;
    c->oy = y - (y - c->oy) * zoom / c->zoom;
    c->zoom = zoom;
    c->wants_fit = FALSE;
    nino_canvas_moved(c);
    g_object_notify(G_OBJECT(c), "zoom");
}

void nino_canvas_set_zoom(NinoCanvas *c, double zoom)
{
    nino_canvas_zoom_at(c, zoom, gtk_widget_get_width(GTK_WIDGET(c)) / 2.0,
                        gtk_widget_get_height(GTK_WIDGET(c)) / 2.0);
}

double nino_canvas_get_zoom(NinoCanvas *c) { return c->zoom; }

void nino_canvas_set_offset(NinoCanvas *c, double x, double y)
{
    c->ox = -x * c->zoom;
    c->oy = -y * c->zoom;
    c->wants_fit = FALSE;
    nino_canvas_moved(c);
}

void nino_canvas_get_offset(NinoCanvas *c, double *x, double *y)
{
    *x = -c->ox / c->zoom;
    *y = -c->oy / c->zoom;
}

void nino_canvas_fit_grown(NinoCanvas *c)
{
    const graphene_rect_t all = nino_canvas_bounds(c);
    if (is_untouched(c) && !graphene_rect_equal(&all, &c->fit_box))
        show_all(c);
}

void nino_canvas_fit(NinoCanvas *c)
{
    graphene_rect_t all, box;
    gboolean any = FALSE;
    if (gtk_widget_get_width(GTK_WIDGET(c)) < 50 || gtk_widget_get_height(GTK_WIDGET(c)) < 50) {
        c->wants_fit = TRUE;
        return;
    }
    c->wants_fit = FALSE;
    for (guint i = 0; i < c->views->len; i++) {
        NinoNodeView *v = g_ptr_array_index(c->views, i);
        if (!g_hash_table_contains(c->selected, nino_node_view_id(v)))
            continue;
        nino_node_view_get_box(v, &box);
        any ? graphene_rect_union(&all, &box, &all) : (void) (all = box);
        any = TRUE;
    }
    for (guint i = 0; i < c->spots->len; i++) {
        NinoSpot *s = g_ptr_array_index(c->spots, i);
        if (!s->is_selected)
            continue;
        box = nino_canvas_spot_box(c, s);
        any ? graphene_rect_union(&all, &box, &all) : (void) (all = box);
        any = TRUE;
    }
    if (any)
        show_box(c, &all, 1.5);
    else
        show_all(c);
}

// Scrolls no further than needed.
void nino_canvas_reveal(NinoCanvas *c, const graphene_rect_t *box)
{
    const double w = gtk_widget_get_width(GTK_WIDGET(c)), h = gtk_widget_get_height(GTK_WIDGET(c));
    const double x0 = box->origin.x * c->zoom + c->ox, y0 = box->origin.y * c->zoom + c->oy;
    const double x1 = x0 + box->size.width * c->zoom, y1 = y0 + box->size.height * c->zoom;
    if (w < 50)
        return;
    c->ox += x0 < 20 ? 20 - x0 : x1 > w - 20 ? MAX(w - 20 - x1, 20 - x0) : 0;
    c->oy += y0 < 20 ? 20 - y0 : y1 > h - 20 ? MAX(h - 20 - y1, 20 - y0) : 0;
    nino_canvas_moved(c);
}

void nino_canvas_reveal_node(NinoCanvas *c, NinoNodeView *v)
{
    graphene_rect_t box;
    nino_node_view_get_box(v, &box);
    nino_canvas_reveal(c, &box);
}

NinoNodeView *nino_canvas_view_at(NinoCanvas *c, double sx, double sy)
{
    const double reach = 8;
    double x, y;
    nino_canvas_world(c, sx, sy, &x, &y);
    for (guint i = c->views->len; i > 0; i--) { // the last one is on top
        NinoNodeView *v = g_ptr_array_index(c->views, i - 1);
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
    nino_canvas_world(c, sx, sy, x, y);
    *x -= box.origin.x;
    *y -= box.origin.y;
}
