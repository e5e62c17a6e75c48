// Links run as curves from slot to slot through their points; far away they are straight.
#include "canvas/canvas_links.h"

#include <math.h>

static NinoNodeView *canvas_links_node_of(const CanvasScene *c, int node)
{
    return node >= 0 && node < (int) c->nodes->len ? g_ptr_array_index(c->nodes, (guint) node)
                                                   : NULL;
}

// ---- how they run ----------------------------------------------------------------------------

graphene_point_t *nino_canvas_link_points(const CanvasScene *c, const nino_doc_link *l, int *n)
{
    graphene_point_t *p = g_new(graphene_point_t, (gsize) l->n_reroutes + 2);
    p[0] = nino_node_view_output(canvas_links_node_of(c, l->from), l->from_slot);
    for (int i = 0; i < l->n_reroutes; i++)
        p[i + 1] = nino_canvas_spots_point(c->spots, l->reroutes[i]);
    p[l->n_reroutes + 1] = nino_node_view_input(canvas_links_node_of(c, l->to), l->to_slot);
    *n = l->n_reroutes + 2;
    return p;
}

// How far the curve goes on before it turns.
static double swing(graphene_point_t a, graphene_point_t b)
{
    return MAX(hypot(b.x - a.x, b.y - a.y) * 0.25, 12);
}

static gboolean touches(graphene_point_t a, graphene_point_t b, const CanvasPart *v)
{
    const double d = swing(a, b) + 8;
    return MAX(a.x, b.x) + d > v->x0 && MIN(a.x, b.x) - d < v->x1 && MAX(a.y, b.y) + 8 > v->y0 &&
           MIN(a.y, b.y) - 8 < v->y1;
}

static void trace(cairo_t *cr, graphene_point_t a, graphene_point_t b, gboolean is_straight)
{
    const double d = swing(a, b);
    cairo_move_to(cr, a.x, a.y);
    if (is_straight)
        cairo_line_to(cr, b.x, b.y);
    else
        cairo_curve_to(cr, a.x + d, a.y, b.x - d, b.y, b.x, b.y);
}

static gboolean is_selected(const CanvasScene *c, int node)
{
    NinoNodeView *v = canvas_links_node_of(c, node);
    return v && g_hash_table_contains(c->selected, nino_node_view_id(v));
}

static void draw_points(const CanvasScene *c, cairo_t *cr, const nino_doc_link *l,
                        const graphene_point_t *p, const NinoGraphColors *colors)
{
    for (int i = 0; i < l->n_reroutes; i++) {
        cairo_arc(cr, p[i].x, p[i].y, 7, 0, 2 * G_PI);
        cairo_fill(cr);
        if (!nino_canvas_spots_is_bright(c->spots, nino_document_n_groups(c->doc) + l->reroutes[i]))
            continue;
        cairo_save(cr);
        gdk_cairo_set_source_rgba(cr, &colors->accent);
        cairo_set_line_width(cr, 2.5);
        cairo_arc(cr, p[i].x, p[i].y, 9.5, 0, 2 * G_PI);
        cairo_stroke(cr);
        cairo_restore(cr);
    }
}

static void line_look(const CanvasScene *c, const nino_doc_link *l, const NinoGraphColors *colors,
                      GdkRGBA *color, double *width)
{
    const gboolean is_near = is_selected(c, l->from) || is_selected(c, l->to);
    *color = nino_type_color(l->type, colors->is_dark);
    color->alpha = is_near ? 1 : 0.8f;
    *width = nino_canvas_view_detail(c->view) == NINO_DETAIL_BOX ? 1 / c->view->zoom
             : is_near                                           ? 3.6
                                                                 : 2.4;
}

static void draw_link(const CanvasScene *c, cairo_t *cr, const nino_doc_link *l,
                      const CanvasPart *v, const NinoGraphColors *colors)
{
    int n = 0;
    g_autofree graphene_point_t *p = nino_canvas_link_points(c, l, &n);
    const gboolean is_far = nino_canvas_view_detail(c->view) == NINO_DETAIL_BOX;
    GdkRGBA color;
    double width;
    gboolean any = FALSE;
    for (int i = 0; i + 1 < n; i++)
        if (touches(p[i], p[i + 1], v)) {
            trace(cr, p[i], p[i + 1], is_far);
            any = TRUE;
        }
    if (!any)
        return;
    line_look(c, l, colors, &color, &width);
    gdk_cairo_set_source_rgba(cr, &color);
    cairo_set_line_width(cr, width);
    if (l->is_offered) // it is not in the file
        cairo_set_dash(cr, (double[]){ 3 * width, 2 * width }, 2, 0);
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
    if (!is_far)
        draw_points(c, cr, l, p + 1, colors);
}

static GskRenderNode *make_links(const CanvasScene *c, const NinoGraphColors *colors)
{
    const CanvasPart v = nino_canvas_view_part(c->view);
    GtkSnapshot *s = gtk_snapshot_new();
    cairo_t *cr = gtk_snapshot_append_cairo(
        s, &GRAPHENE_RECT_INIT(0, 0, (float) c->view->width, (float) c->view->height));
    cairo_translate(cr, c->view->x, c->view->y);
    cairo_scale(cr, c->view->zoom, c->view->zoom);
    if (nino_canvas_view_detail(c->view) == NINO_DETAIL_BOX)
        cairo_set_antialias(cr, CAIRO_ANTIALIAS_NONE);
    else if (nino_canvas_view_detail(c->view) == NINO_DETAIL_TITLE)
        cairo_set_antialias(cr, CAIRO_ANTIALIAS_FAST);
    for (int i = 0; i < nino_document_n_links(c->doc); i++)
        draw_link(c, cr, nino_document_link(c->doc, i), &v, colors);
    cairo_destroy(cr);
    return gtk_snapshot_free_to_node(s);
}

// All that decides how the links look.
static GByteArray *links_key(const CanvasScene *c, const NinoGraphColors *colors)
{
    GByteArray *key = g_byte_array_new();
    const double place[] = { c->view->zoom,  c->view->x,      c->view->y,
                             c->view->width, c->view->height, nino_canvas_view_detail(c->view) };
    nino_canvas_kept_add(key, place, sizeof(place));
    nino_canvas_kept_add(key, &colors->accent, sizeof(colors->accent));
    for (int i = 0; i < nino_document_n_links(c->doc); i++) {
        const nino_doc_link *l = nino_document_link(c->doc, i);
        int n = 0;
        g_autofree graphene_point_t *p = nino_canvas_link_points(c, l, &n);
        GdkRGBA color;
        double width;
        line_look(c, l, colors, &color, &width);
        nino_canvas_kept_add(key, p, (gsize) n * sizeof(*p));
        nino_canvas_kept_add(key, &color, sizeof(color));
        nino_canvas_kept_add(key, &width, sizeof(width));
        for (int k = 0; k < l->n_reroutes; k++) {
            const gboolean bright = nino_canvas_spots_is_bright(
                c->spots, nino_document_n_groups(c->doc) + l->reroutes[k]);
            nino_canvas_kept_add(key, &bright, sizeof(bright));
        }
    }
    return key;
}

void nino_canvas_links_draw(CanvasLinks *own, const CanvasScene *c, const NinoGraphColors *colors,
                            GtkSnapshot *s)
{
    if (!nino_canvas_kept_is(&own->drawn, links_key(c, colors)))
        own->drawn.node = make_links(c, colors);
    gtk_snapshot_append_node(s, own->drawn.node);
}

static graphene_point_t on_curve(graphene_point_t a, graphene_point_t b, double t)
{
    const double d = swing(a, b), u = 1 - t;
    const double x =
        u * u * u * a.x + 3 * u * u * t * (a.x + d) + 3 * u * t * t * (b.x - d) + t * t * t * b.x;
    const double y = u * u * u * a.y + 3 * u * u * t * a.y + 3 * u * t * t * b.y + t * t * t * b.y;
    return GRAPHENE_POINT_INIT((float) x, (float) y);
}

int nino_canvas_links_at(const CanvasScene *c, double x, double y, int *segment)
{
    const double reach = MAX(6, 6 / c->view->zoom);
    for (int i = 0; c->doc && i < nino_document_n_links(c->doc); i++) {
        int n = 0;
        g_autofree graphene_point_t *p =
            nino_canvas_link_points(c, nino_document_link(c->doc, i), &n);
        for (int k = 0; k + 1 < n; k++)
            for (int t = 0; t <= 40; t++) {
                const graphene_point_t at = on_curve(p[k], p[k + 1], t / 40.0);
                if (hypot(at.x - x, at.y - y) < reach) {
                    *segment = k;
                    return i;
                }
            }
    }
    return -1;
}

// ---- the one that is dragged -----------------------------------------------------------------

const char *nino_canvas_links_type(const CanvasLinks *own, nino_document *d)
{
    const nino_doc_node *n = nino_document_node(d, own->node);
    if (!n)
        return NULL;
    return own->from_output ? n->outputs[own->slot].type : n->inputs[own->slot].type;
}

void nino_canvas_links_draw_dragged(const CanvasLinks *own, const CanvasScene *c, double px,
                                    double py, const NinoGraphColors *colors, GtkSnapshot *s)
{
    const char *type = nino_canvas_links_type(own, c->doc);
    NinoNodeView *v = canvas_links_node_of(c, own->node);
    double x, y;
    if (!type || !v)
        return;
    nino_canvas_view_world(c->view, px, py, &x, &y);
    const graphene_point_t tip = GRAPHENE_POINT_INIT((float) x, (float) y);
    const GdkRGBA color = nino_type_color(type, colors->is_dark);
    cairo_t *cr = gtk_snapshot_append_cairo(
        s, &GRAPHENE_RECT_INIT(0, 0, (float) c->view->width, (float) c->view->height));
    cairo_translate(cr, c->view->x, c->view->y);
    cairo_scale(cr, c->view->zoom, c->view->zoom);
    gdk_cairo_set_source_rgba(cr, &color);
    cairo_set_line_width(cr, 3.2);
    if (own->from_output)
        trace(cr, nino_node_view_output(v, own->slot), tip, FALSE);
    else
        trace(cr, tip, nino_node_view_input(v, own->slot), FALSE);
    cairo_stroke(cr);
    cairo_arc(cr, x, y, 5, 0, 2 * G_PI);
    cairo_fill(cr);
    cairo_destroy(cr);
}
