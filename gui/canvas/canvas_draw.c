// What the canvas draws itself: grid, groups, the minimap, the box of a selection; canvas_links.c
// has the links.
#include "canvas/canvas_priv.h"

#include <math.h>
#include <string.h>

#include "base/i18n.h"

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
    nino_canvas_kept_add(key, place, sizeof(place));
    nino_canvas_kept_add(key, &colors->grid, sizeof(colors->grid));
    if (!nino_canvas_kept_is(&c->grid, key)) { // one node whatever the size
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

static void canvas_draw_draw_text(NinoCanvas *c, GtkSnapshot *s, const char *text, double x,
                                  double y, double size, double width, const GdkRGBA *color)
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
        gdk_rgba_parse(&fill, nino_group_color);
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
        canvas_draw_draw_text(c, s, g->title, box.origin.x + 8 * z, box.origin.y + 3 * z, 22 * z,
                              box.size.width - 12 * z, &text);
    if (nino_canvas_spots_is_bright(&c->spots, i))
        gtk_snapshot_append_border(
            s, &GSK_ROUNDED_RECT_INIT(box.origin.x, box.origin.y, box.size.width, box.size.height),
            (float[4]){ 2.5f, 2.5f, 2.5f, 2.5f },
            (GdkRGBA[4]){ colors->accent, colors->accent, colors->accent, colors->accent });
}

// ---- what is being dragged -------------------------------------------------------------------

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
    GdkRGBA back = colors->canvas, edge = colors->border, frame = colors->dim;
    if (!nino_canvas_minimap_box(c, &box, &scale, &bounds))
        return;
    back.alpha = 0.9f;
    gtk_snapshot_append_color(s, &back, &box);
    gtk_snapshot_push_clip(s, &box);
    for (guint i = 0; i < c->nodes->len; i++) {
        NinoNodeView *v = g_ptr_array_index(c->nodes, i);
        nino_node_view_get_box(v, &node);
        const graphene_rect_t at = GRAPHENE_RECT_INIT(
            (float) (box.origin.x + (node.origin.x - bounds.origin.x) * scale),
            (float) (box.origin.y + (node.origin.y - bounds.origin.y) * scale),
            (float) MAX(node.size.width * scale, 1.5), (float) MAX(node.size.height * scale, 1.5));
        const gboolean is_dot = MIN(at.size.width, at.size.height) <= 4;
        const GdkRGBA color = g_hash_table_contains(c->selected, nino_node_view_id(v))
                                  ? colors->accent
                                  : nino_node_view_map_color(v, is_dot);
        gtk_snapshot_append_color(s, &color, &at);
        if (!is_dot) // a body may be as pale as what is behind it
            gtk_snapshot_append_border(
                s, &GSK_ROUNDED_RECT_INIT(at.origin.x, at.origin.y, at.size.width, at.size.height),
                (float[4]){ 1, 1, 1, 1 }, (GdkRGBA[4]){ edge, edge, edge, edge });
    }
    const CanvasPart v = nino_canvas_view_part(&c->view);
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
        (float[4]){ 1, 1, 1, 1 }, (GdkRGBA[4]){ frame, frame, frame, frame });
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
    const CanvasScene scene = nino_canvas_scene(c);
    nino_graph_colors(GTK_WIDGET(c), &colors);
    draw_grid(c, s, &colors);
    for (int i = 0; c->doc && i < nino_document_n_groups(c->doc); i++)
        draw_group(c, s, i, &colors);
    if (c->doc && c->nodes->len == (guint) nino_document_n_nodes(c->doc))
        nino_canvas_links_draw(&c->links, &scene, &colors, s);
    for (guint i = 0; i < c->nodes->len; i++)
        gtk_widget_snapshot_child(GTK_WIDGET(c), g_ptr_array_index(c->nodes, i), s);
    if (c->doc && !c->nodes->len)
        draw_empty(c, s, &colors);
    if (c->drag == DRAG_LINK)
        nino_canvas_links_draw_dragged(&c->links, &scene, c->px, c->py, &colors, s);
    if (c->drag == DRAG_BOX)
        draw_selection(c, s, &colors);
    draw_minimap(c, s, &colors);
    gtk_widget_snapshot_child(GTK_WIDGET(c), c->bar, s);
}
