// What the canvas draws itself: grid, groups, links, the minimap and what is being dragged.
#include "canvas/canvas_priv.h"

#include <math.h>
#include <string.h>

#include "base/i18n.h"

typedef struct View { // the part of the workflow on the screen
    double x0, y0, x1, y1;
} View;

static View visible_part(NinoCanvas *c)
{
    View v;
    nino_canvas_view_world(&c->view, 0, 0, &v.x0, &v.y0);
    nino_canvas_view_world(&c->view, c->view.width, c->view.height, &v.x1, &v.y1);
    return v;
}

// ---- what is kept ----------------------------------------------------------------------------

// Grid and links lie on all of the canvas. Made anew whenever a badge of a node changes, they would
// have all of it painted again: GTK takes a repeat or cairo node for unchanged only if it is the
// same one.

static void add_bytes(GByteArray *key, const void *p, gsize n)
{
    g_byte_array_append(key, p, (guint) n);
}

// Takes key: all that decides how the node looks. FALSE: it is to be made.
static gboolean is_kept(CanvasKept *k, GByteArray *key)
{
    const gboolean is_same =
        k->node && k->key->len == key->len && !memcmp(k->key->data, key->data, key->len);
    if (is_same) {
        g_byte_array_unref(key);
        return TRUE;
    }
    nino_canvas_forget(k);
    k->key = key;
    return FALSE;
}

void nino_canvas_forget(CanvasKept *k)
{
    g_clear_pointer(&k->node, gsk_render_node_unref);
    g_clear_pointer(&k->key, g_byte_array_unref);
}

// ---- grid ------------------------------------------------------------------------------------

static void draw_grid(NinoCanvas *c, GtkSnapshot *s, const NinoGraphColors *colors)
{
    const float w = (float) c->view.width;
    const float h = (float) c->view.height;
    double step = 20 * c->view.zoom;
    while (step < 14)
        step *= 4;
    const float x = (float) fmod(c->view.x, step), y = (float) fmod(c->view.y, step),
                size = (float) step;
    const float place[] = { w, h, x, y, size };
    gtk_snapshot_append_color(s, &colors->canvas, &GRAPHENE_RECT_INIT(0, 0, w, h));
    if (colors->is_high_contrast)
        return;
    GByteArray *key = g_byte_array_new();
    add_bytes(key, place, sizeof(place));
    add_bytes(key, &colors->grid, sizeof(colors->grid));
    if (!is_kept(&c->grid, key)) { // one node whatever the size
        GtkSnapshot *made = gtk_snapshot_new();
        gtk_snapshot_push_repeat(made, &GRAPHENE_RECT_INIT(0, 0, w, h),
                                 &GRAPHENE_RECT_INIT(x, y, size, size));
        gtk_snapshot_append_color(made, &colors->grid, &GRAPHENE_RECT_INIT(x, y, 2, 2));
        gtk_snapshot_pop(made);
        c->grid.node = gtk_snapshot_free_to_node(made);
    }
    gtk_snapshot_append_node(s, c->grid.node);
}

// ---- groups ----------------------------------------------------------------------------------

static void draw_text(NinoCanvas *c, GtkSnapshot *s, const char *text, double x, double y,
                      double size, double width, const GdkRGBA *color)
{
    PangoLayout *l = gtk_widget_create_pango_layout(GTK_WIDGET(c), text);
    PangoFontDescription *f = pango_font_description_copy(
        pango_context_get_font_description(pango_layout_get_context(l)));
    pango_font_description_set_absolute_size(f, size * PANGO_SCALE);
    pango_layout_set_font_description(l, f);
    pango_layout_set_ellipsize(l, PANGO_ELLIPSIZE_END);
    pango_layout_set_width(l, (int) (MAX(width, 1) * PANGO_SCALE));
    gtk_snapshot_save(s);
    gtk_snapshot_translate(s, &GRAPHENE_POINT_INIT((float) x, (float) y));
    gtk_snapshot_append_layout(s, l, color);
    gtk_snapshot_restore(s);
    pango_font_description_free(f);
    g_object_unref(l);
}

static void draw_group(NinoCanvas *c, GtkSnapshot *s, int i, const NinoGraphColors *colors)
{
    const nino_doc_group *g = nino_document_group(c->doc, i);
    const graphene_rect_t at = nino_canvas_spots_group_box(&c->spots, i);
    GdkRGBA fill, edge, text = colors->text;
    if (!g->color || !gdk_rgba_parse(&fill, g->color))
        gdk_rgba_parse(&fill, "#335588");
    edge = fill;
    fill.alpha = colors->is_high_contrast ? 0 : 0.22f;
    edge.alpha = colors->is_high_contrast ? 1 : 0.45f;
    const double z = c->view.zoom;
    const graphene_rect_t box = nino_canvas_view_on_screen(&c->view, &at);
    gtk_snapshot_append_color(s, &fill, &box);
    gtk_snapshot_append_color(
        s, &edge,
        &GRAPHENE_RECT_INIT(box.origin.x, box.origin.y, box.size.width, (float) (34 * z)));
    if (24 * z >= 5 && *g->title)
        draw_text(c, s, g->title, box.origin.x + 8 * z, box.origin.y + 3 * z, 22 * z,
                  box.size.width - 12 * z, &text);
    if (nino_canvas_spots_is_bright(&c->spots, i))
        gtk_snapshot_append_border(
            s, &GSK_ROUNDED_RECT_INIT(box.origin.x, box.origin.y, box.size.width, box.size.height),
            (float[4]){ 2.5f, 2.5f, 2.5f, 2.5f },
            (GdkRGBA[4]){ colors->accent, colors->accent, colors->accent, colors->accent });
}

// ---- links -----------------------------------------------------------------------------------

graphene_point_t *nino_canvas_link_points(NinoCanvas *c, const nino_doc_link *l, int *n)
{
    graphene_point_t *p = g_new(graphene_point_t, (gsize) l->n_reroutes + 2);
    p[0] = nino_node_view_output(nino_canvas_node(c, l->from), l->from_slot);
    for (int i = 0; i < l->n_reroutes; i++)
        p[i + 1] = nino_canvas_spots_point(&c->spots, l->reroutes[i]);
    p[l->n_reroutes + 1] = nino_node_view_input(nino_canvas_node(c, l->to), l->to_slot);
    *n = l->n_reroutes + 2;
    return p;
}

// How far the curve goes on before it turns.
static double swing(graphene_point_t a, graphene_point_t b)
{
    return MAX(hypot(b.x - a.x, b.y - a.y) * 0.25, 12);
}

static gboolean touches(graphene_point_t a, graphene_point_t b, const View *v)
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

static gboolean is_selected(NinoCanvas *c, int node)
{
    NinoNodeView *v = nino_canvas_node(c, node);
    return v && g_hash_table_contains(c->selected, nino_node_view_id(v));
}

static void draw_points(NinoCanvas *c, cairo_t *cr, const nino_doc_link *l,
                        const graphene_point_t *p, const NinoGraphColors *colors)
{
    for (int i = 0; i < l->n_reroutes; i++) {
        cairo_arc(cr, p[i].x, p[i].y, 7, 0, 2 * G_PI);
        cairo_fill(cr);
        if (!nino_canvas_spots_is_bright(&c->spots,
                                         nino_document_n_groups(c->doc) + l->reroutes[i]))
            continue;
        cairo_save(cr);
        gdk_cairo_set_source_rgba(cr, &colors->accent);
        cairo_set_line_width(cr, 2.5);
        cairo_arc(cr, p[i].x, p[i].y, 9.5, 0, 2 * G_PI);
        cairo_stroke(cr);
        cairo_restore(cr);
    }
}

static void line_look(NinoCanvas *c, const nino_doc_link *l, const NinoGraphColors *colors,
                      GdkRGBA *color, double *width)
{
    const gboolean is_near = is_selected(c, l->from) || is_selected(c, l->to);
    *color = nino_type_color(l->type, colors->is_dark);
    color->alpha = is_near ? 1 : 0.8f;
    *width = nino_canvas_view_detail(&c->view) == NINO_DETAIL_BOX ? 1 / c->view.zoom
             : is_near                                            ? 3.6
                                                                  : 2.4;
}

static void draw_link(NinoCanvas *c, cairo_t *cr, const nino_doc_link *l, const View *v,
                      const NinoGraphColors *colors)
{
    int n = 0;
    g_autofree graphene_point_t *p = nino_canvas_link_points(c, l, &n);
    const gboolean is_far = nino_canvas_view_detail(&c->view) == NINO_DETAIL_BOX;
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
    cairo_stroke(cr);
    if (!is_far)
        draw_points(c, cr, l, p + 1, colors);
}

static GskRenderNode *make_links(NinoCanvas *c, const NinoGraphColors *colors)
{
    const View v = visible_part(c);
    GtkSnapshot *s = gtk_snapshot_new();
    cairo_t *cr = gtk_snapshot_append_cairo(
        s, &GRAPHENE_RECT_INIT(0, 0, (float) c->view.width, (float) c->view.height));
    cairo_translate(cr, c->view.x, c->view.y);
    cairo_scale(cr, c->view.zoom, c->view.zoom);
    if (nino_canvas_view_detail(&c->view) == NINO_DETAIL_BOX)
        cairo_set_antialias(cr, CAIRO_ANTIALIAS_NONE);
    else if (nino_canvas_view_detail(&c->view) == NINO_DETAIL_TITLE)
        cairo_set_antialias(cr, CAIRO_ANTIALIAS_FAST);
    for (int i = 0; i < nino_document_n_links(c->doc); i++)
        draw_link(c, cr, nino_document_link(c->doc, i), &v, colors);
    cairo_destroy(cr);
    return gtk_snapshot_free_to_node(s);
}

// All that decides how the links look.
static GByteArray *links_key(NinoCanvas *c, const NinoGraphColors *colors)
{
    GByteArray *key = g_byte_array_new();
    const double place[] = { c->view.zoom,  c->view.x,      c->view.y,
                             c->view.width, c->view.height, nino_canvas_view_detail(&c->view) };
    add_bytes(key, place, sizeof(place));
    add_bytes(key, &colors->accent, sizeof(colors->accent));
    for (int i = 0; i < nino_document_n_links(c->doc); i++) {
        const nino_doc_link *l = nino_document_link(c->doc, i);
        int n = 0;
        g_autofree graphene_point_t *p = nino_canvas_link_points(c, l, &n);
        GdkRGBA color;
        double width;
        line_look(c, l, colors, &color, &width);
        add_bytes(key, p, (gsize) n * sizeof(*p));
        add_bytes(key, &color, sizeof(color));
        add_bytes(key, &width, sizeof(width));
        for (int k = 0; k < l->n_reroutes; k++) {
            const gboolean bright = nino_canvas_spots_is_bright(
                &c->spots, nino_document_n_groups(c->doc) + l->reroutes[k]);
            add_bytes(key, &bright, sizeof(bright));
        }
    }
    return key;
}

static void draw_links(NinoCanvas *c, GtkSnapshot *s, const NinoGraphColors *colors)
{
    if (!is_kept(&c->links, links_key(c, colors)))
        c->links.node = make_links(c, colors);
    gtk_snapshot_append_node(s, c->links.node);
}

static graphene_point_t on_curve(graphene_point_t a, graphene_point_t b, double t)
{
    const double d = swing(a, b), u = 1 - t;
    const double x =
        u * u * u * a.x + 3 * u * u * t * (a.x + d) + 3 * u * t * t * (b.x - d) + t * t * t * b.x;
    const double y = u * u * u * a.y + 3 * u * u * t * a.y + 3 * u * t * t * b.y + t * t * t * b.y;
    return GRAPHENE_POINT_INIT((float) x, (float) y);
}

int nino_canvas_link_at(NinoCanvas *c, double x, double y, int *segment)
{
    const double reach = MAX(6, 6 / c->view.zoom);
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

// ---- what is being dragged -------------------------------------------------------------------

static void draw_new_link(NinoCanvas *c, GtkSnapshot *s, const NinoGraphColors *colors)
{
    const nino_doc_node *n = nino_document_node(c->doc, c->link_node);
    NinoNodeView *v = nino_canvas_node(c, c->link_node);
    if (!n || !v)
        return;
    double x, y;
    nino_canvas_view_world(&c->view, c->px, c->py, &x, &y);
    const graphene_point_t tip = GRAPHENE_POINT_INIT((float) x, (float) y);
    const char *type =
        c->link_from_output ? n->outputs[c->link_slot].type : n->inputs[c->link_slot].type;
    const GdkRGBA color = nino_type_color(type, colors->is_dark);
    cairo_t *cr = gtk_snapshot_append_cairo(
        s, &GRAPHENE_RECT_INIT(0, 0, (float) c->view.width, (float) c->view.height));
    cairo_translate(cr, c->view.x, c->view.y);
    cairo_scale(cr, c->view.zoom, c->view.zoom);
    gdk_cairo_set_source_rgba(cr, &color);
    cairo_set_line_width(cr, 3.2);
    if (c->link_from_output)
        trace(cr, nino_node_view_output(v, c->link_slot), tip, FALSE);
    else
        trace(cr, tip, nino_node_view_input(v, c->link_slot), FALSE);
    cairo_stroke(cr);
    cairo_arc(cr, x, y, 5, 0, 2 * G_PI);
    cairo_fill(cr);
    cairo_destroy(cr);
}

static void draw_selection(NinoCanvas *c, GtkSnapshot *s, const NinoGraphColors *colors)
{
    GdkRGBA fill = colors->accent;
    const float x = (float) MIN(c->x0, c->px), y = (float) MIN(c->y0, c->py);
    const float w = (float) fabs(c->px - c->x0), h = (float) fabs(c->py - c->y0);
    fill.alpha = 0.15f;
    gtk_snapshot_append_color(s, &fill, &GRAPHENE_RECT_INIT(x, y, w, h));
    gtk_snapshot_append_border(
        s, &GSK_ROUNDED_RECT_INIT(x, y, w, h), (float[4]){ 1, 1, 1, 1 },
        (GdkRGBA[4]){ colors->accent, colors->accent, colors->accent, colors->accent });
}

// ---- minimap ---------------------------------------------------------------------------------

graphene_rect_t nino_canvas_bounds(NinoCanvas *c)
{
    graphene_rect_t all = GRAPHENE_RECT_INIT(0, 0, 0, 0), box;
    gboolean any = FALSE;
    for (guint i = 0; i < c->nodes->len; i++) {
        nino_node_view_get_box(g_ptr_array_index(c->nodes, i), &box);
        any ? graphene_rect_union(&all, &box, &all) : (void) (all = box);
        any = TRUE;
    }
    for (int i = 0; c->doc && i < nino_document_n_groups(c->doc); i++) {
        const nino_doc_group *g = nino_document_group(c->doc, i);
        box = GRAPHENE_RECT_INIT((float) g->x, (float) g->y, (float) g->width, (float) g->height);
        any ? graphene_rect_union(&all, &box, &all) : (void) (all = box);
        any = TRUE;
    }
    return all;
}

gboolean nino_canvas_minimap_box(NinoCanvas *c, graphene_rect_t *box, double *scale,
                                 graphene_rect_t *bounds)
{
    const double w = c->view.width, h = c->view.height;
    *bounds = nino_canvas_bounds(c);
    if (!c->has_minimap || c->nodes->len < 2 || w < 480 || h < 320 || bounds->size.width < 1)
        return FALSE;
    const double x = bounds->origin.x * c->view.zoom + c->view.x,
                 y = bounds->origin.y * c->view.zoom + c->view.y;
    if (x >= 0 && y >= 0 && x + bounds->size.width * c->view.zoom <= w &&
        y + bounds->size.height * c->view.zoom <= h)
        return FALSE;
    const float pad = 40;
    *bounds = GRAPHENE_RECT_INIT(bounds->origin.x - pad, bounds->origin.y - pad,
                                 bounds->size.width + 2 * pad, bounds->size.height + 2 * pad);
    *scale = MIN(MIN(200, w * 0.2) / bounds->size.width, MIN(130, h * 0.2) / bounds->size.height);
    const double mw = bounds->size.width * *scale, mh = bounds->size.height * *scale;
    *box = GRAPHENE_RECT_INIT((float) (w - mw - 12), (float) (h - mh - 12), (float) mw, (float) mh);
    return TRUE;
}

static void draw_minimap(NinoCanvas *c, GtkSnapshot *s, const NinoGraphColors *colors)
{
    graphene_rect_t box, bounds, node;
    double scale;
    GdkRGBA back = colors->title, edge = colors->border;
    if (!nino_canvas_minimap_box(c, &box, &scale, &bounds))
        return;
    back.alpha = 0.9f;
    gtk_snapshot_append_color(s, &back, &box);
    gtk_snapshot_push_clip(s, &box);
    for (guint i = 0; i < c->nodes->len; i++) {
        NinoNodeView *v = g_ptr_array_index(c->nodes, i);
        GdkRGBA color = nino_node_view_map_color(v);
        nino_node_view_get_box(v, &node);
        if (g_hash_table_contains(c->selected, nino_node_view_id(v)))
            color = colors->accent;
        gtk_snapshot_append_color(
            s, &color,
            &GRAPHENE_RECT_INIT((float) (box.origin.x + (node.origin.x - bounds.origin.x) * scale),
                                (float) (box.origin.y + (node.origin.y - bounds.origin.y) * scale),
                                (float) MAX(node.size.width * scale, 1.5),
                                (float) MAX(node.size.height * scale, 1.5)));
    }
    const View v = visible_part(c);
    gtk_snapshot_append_border(
        s,
        &GSK_ROUNDED_RECT_INIT((float) (box.origin.x + (v.x0 - bounds.origin.x) * scale),
                               (float) (box.origin.y + (v.y0 - bounds.origin.y) * scale),
                               (float) ((v.x1 - v.x0) * scale), (float) ((v.y1 - v.y0) * scale)),
        (float[4]){ 1.5f, 1.5f, 1.5f, 1.5f },
        (GdkRGBA[4]){ colors->accent, colors->accent, colors->accent, colors->accent });
    gtk_snapshot_pop(s);
    gtk_snapshot_append_border(
        s, &GSK_ROUNDED_RECT_INIT(box.origin.x, box.origin.y, box.size.width, box.size.height),
        (float[4]){ 1, 1, 1, 1 }, (GdkRGBA[4]){ edge, edge, edge, edge });
}

static void draw_empty(NinoCanvas *c, GtkSnapshot *s, const NinoGraphColors *colors)
{
    PangoLayout *l = gtk_widget_create_pango_layout(GTK_WIDGET(c), _("Double-click to add a node"));
    int w, h;
    pango_layout_get_pixel_size(l, &w, &h);
    gtk_snapshot_save(s);
    gtk_snapshot_translate(
        s, &GRAPHENE_POINT_INIT((float) (c->view.width - w) / 2, (float) (c->view.height - h) / 2));
    gtk_snapshot_append_layout(s, l, &colors->dim);
    gtk_snapshot_restore(s);
    g_object_unref(l);
}

void nino_canvas_draw(NinoCanvas *c, GtkSnapshot *s)
{
    NinoGraphColors colors;
    nino_graph_colors(GTK_WIDGET(c), &colors);
    draw_grid(c, s, &colors);
    for (int i = 0; c->doc && i < nino_document_n_groups(c->doc); i++)
        draw_group(c, s, i, &colors);
    if (c->doc && c->nodes->len == (guint) nino_document_n_nodes(c->doc))
        draw_links(c, s, &colors);
    for (guint i = 0; i < c->nodes->len; i++)
        gtk_widget_snapshot_child(GTK_WIDGET(c), g_ptr_array_index(c->nodes, i), s);
    if (c->doc && !c->nodes->len)
        draw_empty(c, s, &colors);
    if (c->drag == DRAG_LINK)
        draw_new_link(c, s, &colors);
    if (c->drag == DRAG_BOX)
        draw_selection(c, s, &colors);
    draw_minimap(c, s, &colors);
    gtk_widget_snapshot_child(GTK_WIDGET(c), c->bar, s);
}
