// How a node is drawn, in three details: everything, stubs in place of editors, a coloured box.
#include "node/node_state.h"
#include "node/node_view_priv.h"

#include <math.h>
#include <string.h>

#include "base/i18n.h"

typedef struct Pen {
    GtkSnapshot *s;
    PangoLayout *layout;
    NinoGraphColors c;
} Pen;

static void node_view_draw_draw_text(Pen *p, const char *text, double x, double y, double width,
                                     int align, GdkRGBA color)
{
    int h = 0, w = 0;
    pango_layout_set_width(p->layout, (int) (MAX(width, 1) * PANGO_SCALE));
    pango_layout_set_text(p->layout, text, -1);
    pango_layout_get_pixel_size(p->layout, &w, &h);
    pango_layout_set_width(p->layout, (int) (MAX(width, 1) * PANGO_SCALE));
    gtk_snapshot_save(p->s);
    gtk_snapshot_translate(p->s, &GRAPHENE_POINT_INIT((float) (x + (align ? MAX(width - w, 0) : 0)),
                                                      (float) (y - h / 2.0)));
    gtk_snapshot_append_layout(p->s, p->layout, &color);
    gtk_snapshot_restore(p->s);
}

static void node_view_draw_rounded(cairo_t *cr, double x, double y, double w, double h, double top,
                                   double bottom)
{
    cairo_new_sub_path(cr);
    cairo_arc(cr, x + w - top, y + top, top, -G_PI / 2, 0);
    cairo_arc(cr, x + w - bottom, y + h - bottom, bottom, 0, G_PI / 2);
    cairo_arc(cr, x + bottom, y + h - bottom, bottom, G_PI / 2, G_PI);
    cairo_arc(cr, x + top, y + top, top, G_PI, 3 * G_PI / 2);
    cairo_close_path(cr);
}

static GdkRGBA body_color(const NinoNodeView *v, const NinoGraphColors *c)
{
    GdkRGBA out;
    if (v->kind == NINO_DOC_UNKNOWN)
        return c->unknown;
    return !c->is_high_contrast && nino_file_color(v->bgcolor, c->is_dark, &out) ? out : c->body;
}

static GdkRGBA title_color(const NinoNodeView *v, const NinoGraphColors *c)
{
    GdkRGBA out;
    return !c->is_high_contrast && nino_file_color(v->color, c->is_dark, &out) ? out : c->title;
}

static GdkRGBA outline(const NinoNodeView *v, const NinoGraphColors *c, double *width)
{
    *width = 2.5;
    const NinoNodeState state = v->has_mark ? v->mark.state : NINO_NODE_IDLE;
    if (state == NINO_NODE_RUNNING || state == NINO_NODE_PAUSED || state >= NINO_NODE_CANCELLED)
        return nino_node_state_color(state, c);
    if (v->is_selected || gtk_widget_has_focus(GTK_WIDGET(v)))
        return c->accent;
    *width = c->is_high_contrast ? 2 : 1;
    return c->border;
}

enum { BAND = 4 }; // of the colour of its category, along the upper edge

static gboolean has_category(const NinoNodeView *v) { return v->kind == NINO_DOC_NODE; }

static void draw_category(const NinoNodeView *v, cairo_t *cr)
{
    if (!has_category(v))
        return;
    cairo_save(cr);
    node_view_draw_rounded(cr, 0, 0, v->width, v->height, NINO_RADIUS, NINO_RADIUS);
    cairo_clip(cr);
    gdk_cairo_set_source_rgba(cr, nino_token_category(v->category));
    cairo_rectangle(cr, 0, 0, v->width, BAND);
    cairo_fill(cr);
    cairo_restore(cr);
}

static void draw_box(const NinoNodeView *v, const Pen *p)
{
    const double w = v->width, h = v->height, t = nino_node_view_title_height(v);
    double line;
    const GdkRGBA body = body_color(v, &p->c), title = title_color(v, &p->c),
                  edge = outline(v, &p->c, &line);
    const gboolean flat = v->is_collapsed || t == 0;
    cairo_t *cr =
        gtk_snapshot_append_cairo(p->s, &GRAPHENE_RECT_INIT(-3, -3, (float) w + 6, (float) h + 6));
    node_view_draw_rounded(cr, 0, 0, w, h, NINO_RADIUS, NINO_RADIUS);
    gdk_cairo_set_source_rgba(cr, flat && t > 0 ? &title : &body);
    cairo_fill(cr);
    if (!flat) {
        node_view_draw_rounded(cr, 0, 0, w, t, NINO_RADIUS, 0);
        gdk_cairo_set_source_rgba(cr, &title);
        cairo_fill(cr);
    }
    draw_category(v, cr);
    if (v->mode == NINO_MODE_BYPASSED) {
        GdkRGBA tint = p->c.bypass;
        tint.alpha = 0.45f;
        node_view_draw_rounded(cr, 0, 0, w, h, NINO_RADIUS, NINO_RADIUS);
        gdk_cairo_set_source_rgba(cr, &tint);
        cairo_fill(cr);
    }
    node_view_draw_rounded(cr, 0, 0, w, h, NINO_RADIUS, NINO_RADIUS);
    gdk_cairo_set_source_rgba(cr, &edge);
    cairo_set_line_width(cr, line);
    cairo_stroke(cr);
    cairo_destroy(cr);
}

// Far out: rectangles that need no path.
static void draw_plain_box(const NinoNodeView *v, const Pen *p)
{
    const float w = (float) v->width, h = (float) v->height,
                t = (float) nino_node_view_title_height(v);
    double line;
    const gboolean is_small = v->detail == NINO_DETAIL_BOX;
    const GdkRGBA body = body_color(v, &p->c), edge = outline(v, &p->c, &line),
                  title = is_small && p->c.is_high_contrast ? p->c.border : title_color(v, &p->c);
    if (line >= 2) { // marked, or high contrast, where bodies are like the canvas
        const float b = (float) MAX(line * 2, is_small ? 8 : 3);
        gtk_snapshot_append_color(p->s, &edge, &GRAPHENE_RECT_INIT(-b, -b, w + 2 * b, h + 2 * b));
    }
    gtk_snapshot_append_color(p->s, &body, &GRAPHENE_RECT_INIT(0, t, w, MAX(h - t, 0)));
    if (t > 0)
        gtk_snapshot_append_color(p->s, &title, &GRAPHENE_RECT_INIT(0, 0, w, t));
    if (t > 0 && has_category(v)) // from afar the title has no text to be read on it
        gtk_snapshot_append_color(p->s, nino_token_category(v->category),
                                  &GRAPHENE_RECT_INIT(0, 0, w, is_small ? t : 2 * BAND));
    if (v->mode == NINO_MODE_BYPASSED) {
        GdkRGBA tint = p->c.bypass;
        tint.alpha = 0.45f;
        gtk_snapshot_append_color(p->s, &tint, &GRAPHENE_RECT_INIT(0, 0, w, h));
    }
}

// What it made is not what the next run will have.
static gboolean would_run(const NinoNodeView *v)
{
    return v->ahead == NINO_AHEAD_RUN &&
           (!v->has_mark || v->mark.state == NINO_NODE_IDLE || v->mark.state == NINO_NODE_DONE ||
            v->mark.state == NINO_NODE_CACHED || v->mark.state == NINO_NODE_CANCELLED);
}

static void draw_triangle(cairo_t *cr, double cx, double cy, const GdkRGBA *color)
{
    gdk_cairo_set_source_rgba(cr, color);
    cairo_move_to(cr, cx - 4.5, cy - 5.5);
    cairo_line_to(cr, cx + 5.5, cy);
    cairo_line_to(cr, cx - 4.5, cy + 5.5);
    cairo_close_path(cr);
    cairo_fill(cr);
}

// In the place of the title's dot: what the next run would do, else what the last one did.
static void draw_state(const NinoNodeView *v, const Pen *p)
{
    const double cx = 15, cy = NINO_NODE_TITLE / 2.0;
    cairo_t *cr = gtk_snapshot_append_cairo(
        p->s, &GRAPHENE_RECT_INIT((float) cx - 8, (float) cy - 8, 16, 16));
    const NinoNodeState state = v->has_mark ? v->mark.state : NINO_NODE_IDLE;
    const gboolean is_kept = v->ahead == NINO_AHEAD_KEPT && state == NINO_NODE_IDLE;
    if (would_run(v))
        draw_triangle(cr, cx, cy, &p->c.accent);
    else
        nino_node_state_draw(cr, cx, cy, is_kept ? NINO_NODE_CACHED : state, v->mark.progress,
                             &p->c);
    cairo_destroy(cr);
}

static void draw_title(const NinoNodeView *v, Pen *p)
{
    g_autofree char *badge = v->has_mark ? nino_node_state_text(&v->mark) : NULL;
    double right = v->width - 10;
    if (v->kind == NINO_DOC_REROUTE)
        return;
    draw_state(v, p);
    if (badge && *badge) {
        int w = 0, h = 0;
        pango_layout_set_width(p->layout, -1);
        pango_layout_set_text(p->layout, badge, -1);
        pango_layout_get_pixel_size(p->layout, &w, &h);
        right -= MIN(w, v->width * 0.6);
        node_view_draw_draw_text(p, badge, right, NINO_NODE_TITLE / 2.0, w + 1, 0,
                                 would_run(v) ? p->c.dim
                                              : nino_node_state_color(v->mark.state, &p->c));
        right -= 6;
    }
    if (v->is_pinned) {
        node_view_draw_draw_text(p, "📌", right - 16, NINO_NODE_TITLE / 2.0, 18, 0, p->c.dim);
        right -= 18;
    }
    node_view_draw_draw_text(p, v->title, 28, NINO_NODE_TITLE / 2.0, right - 28, 0, p->c.text);
}

// How much of its colour is left to what is less important; high contrast keeps it readable.
static float weak(const Pen *p, float alpha)
{
    return p->c.is_high_contrast ? MAX(alpha, 0.6f) : alpha;
}

static gboolean node_view_draw_fits(const NinoNodeView *v, const Slot *s, gboolean is_input)
{
    if (!v->wanted)
        return TRUE;
    if (v->wants_inputs != is_input)
        return FALSE;
    return is_input ? nino_document_types_fit(v->wanted, s->type)
                    : nino_document_types_fit(s->type, v->wanted);
}

static void draw_dots(const NinoNodeView *v, const Pen *p)
{
    cairo_t *cr = gtk_snapshot_append_cairo(
        p->s, &GRAPHENE_RECT_INIT(-6, 0, (float) v->width + 12, (float) v->height));
    for (guint k = 0; k < 2; k++) {
        GArray *slots = k ? v->outputs : v->inputs;
        for (guint i = 0; i < slots->len; i++) {
            const Slot *s = SLOTS(slots, i);
            GdkRGBA color = nino_type_color(s->type, p->c.is_dark);
            if (!node_view_draw_fits(v, s, !k))
                color.alpha = weak(p, 0.15f);
            // A value's socket shows only when it is used or may be; in high contrast all there is has to be seen.
            else if (s->is_row && !s->is_linked)
                color.alpha = v->wanted || p->c.is_high_contrast ? 1 : 0.35f;
            gdk_cairo_set_source_rgba(cr, &color);
            cairo_arc(cr, k ? v->width : 0, s->y, s->is_row && !s->is_linked ? 3.2 : 4.5, 0,
                      2 * G_PI);
            if (s->is_optional && !s->is_linked && !s->is_row) {
                cairo_set_line_width(cr, 1.6);
                cairo_stroke(cr);
            } else {
                cairo_fill(cr);
            }
        }
    }
    cairo_destroy(cr);
}

static void draw_labels(const NinoNodeView *v, Pen *p)
{
    if (v->kind == NINO_DOC_REROUTE)
        return;
    const gboolean both = v->inputs->len && v->outputs->len;
    const double room = both ? v->width / 2 - 14 : v->width - 28;
    double x, width;
    for (guint k = 0; k < 2; k++) {
        GArray *slots = k ? v->outputs : v->inputs;
        for (guint i = 0; i < slots->len; i++) {
            const Slot *s = SLOTS(slots, i);
            GdkRGBA color = p->c.dim;
            color.alpha = node_view_draw_fits(v, s, !k) ? 1 : weak(p, 0.3f);
            if (!s->is_row)
                node_view_draw_draw_text(p, s->label, k ? v->width - 12 - room : 12, s->y, room,
                                         (int) k, color);
        }
    }
    if (nino_node_view_is_end(v)) {
        const gboolean takes = v->wanted && (v->kind == NINO_DOC_OUTPUT) == v->wants_inputs;
        node_view_draw_draw_text(p, "+", v->kind == NINO_DOC_OUTPUT ? 12 : v->width - 24,
                                 nino_node_view_new_port_y(v), 12, 1,
                                 takes ? p->c.accent : p->c.dim);
    }
    nino_node_view_label_area(v, &x, &width);
    for (guint i = 0; i < v->rows->len; i++) {
        const Row *r = ROWS(v, i);
        GdkRGBA color = p->c.dim;
        color.alpha = r->is_inert ? 0.6f : 1;
        if (r->is_changed) { // since the last run: by shape as well
            color = p->c.accent;
            gtk_snapshot_append_color(
                p->s, &color,
                &GRAPHENE_RECT_INIT(5, (float) (r->y + 3), 3, (float) MAX(r->height - 6, 3)));
        }
        if (!r->is_text)
            node_view_draw_draw_text(p, r->label, 12, r->y + r->height / 2, x - 16, 0, color);
    }
}

// As large as it fits below the values.
static void node_view_draw_draw_picture(const NinoNodeView *v, const Pen *p)
{
    GdkTexture *t = v->made ? v->made : v->loaded;
    const double room_w = v->width - 20, room_h = v->height - v->picture_y - 10;
    if (!t || room_h < 20 || room_w < 20)
        return;
    const double tw = gdk_texture_get_width(t), th = gdk_texture_get_height(t);
    const double scale = MIN(room_w / tw, room_h / th);
    gtk_snapshot_append_texture(
        p->s, t,
        &GRAPHENE_RECT_INIT((float) ((v->width - tw * scale) / 2),
                            (float) (v->picture_y + (room_h - th * scale) / 2),
                            (float) (tw * scale), (float) (th * scale)));
}

// "7 · 10 · euler", in one line; NULL: there are none. g_free().
static char *values_of(const NinoNodeView *v)
{
    enum { MOST = 80 };
    const nino_doc_node *n = v->rows->len ? v->host->find(v->user, v->id) : NULL;
    g_autoptr(GString) s = g_string_new(NULL);
    for (int i = 0; n && i < n->n_widgets && s->len < MOST; i++) {
        if (!n->widgets[i].is_linked && *n->widgets[i].text)
            g_string_append_printf(s, "%s%s", s->len ? " · " : "", n->widgets[i].text);
    }
    return s->len ? g_strdelimit(g_utf8_substring(s->str, 0, MIN(g_utf8_strlen(s->str, -1), MOST)),
                                 "\n\t", ' ')
                  : NULL;
}

// What can be read from afar: the title over the whole box, and below it the values where there is room.
static void draw_far(const NinoNodeView *v, const Pen *p)
{
    enum { PAD = 6 };
    int h = 0;
    g_autofree char *values = v->is_collapsed ? NULL : values_of(v);
    g_autoptr(PangoLayout) l = pango_layout_copy(p->layout);
    PangoFontDescription *font = pango_font_description_new();
    pango_font_description_set_absolute_size(font, v->text * PANGO_SCALE);
    pango_layout_set_font_description(l, font);
    pango_font_description_free(font);
    pango_layout_set_width(l, (int) (MAX(v->width - 2 * PAD, 1) * PANGO_SCALE));
    pango_layout_set_wrap(l, PANGO_WRAP_WORD_CHAR);
    pango_layout_set_height(l, (int) (MAX(v->height - 2 * PAD, 1) * PANGO_SCALE));
    pango_layout_set_text(l, v->title, -1);
    pango_layout_get_pixel_size(l, NULL, &h);
    gtk_snapshot_save(p->s);
    gtk_snapshot_translate(p->s, &GRAPHENE_POINT_INIT(PAD, PAD));
    gtk_snapshot_append_layout(p->s, l, &p->c.text);
    pango_layout_set_height(l, -1); // one line
    pango_layout_set_text(l, values ? values : "", -1);
    gtk_snapshot_translate(p->s, &GRAPHENE_POINT_INIT(0, (float) h));
    pango_layout_get_pixel_size(l, NULL, &h);
    if (values && v->height - 2 * PAD > 2 * h && !v->made && !v->loaded)
        gtk_snapshot_append_layout(p->s, l, &p->c.dim);
    gtk_snapshot_restore(p->s);
}

static void draw_error(const NinoNodeView *v, Pen *p)
{
    const graphene_rect_t at = nino_node_view_error_box(v);
    if (at.size.height <= 0)
        return;
    const double width = MIN(v->error_width, (double) at.size.width);
    const GdkRGBA ground = { p->c.canvas.red, p->c.canvas.green, p->c.canvas.blue, 0.85f };
    gtk_snapshot_append_color(
        p->s, &ground, // links go on behind it
        &GRAPHENE_RECT_INIT(at.origin.x, at.origin.y, (float) width, at.size.height));
    node_view_draw_draw_text(p, v->error, (double) at.origin.x,
                             (double) (at.origin.y + at.size.height / 2), (double) at.size.width, 0,
                             p->c.error);
}

void nino_node_view_snapshot(GtkWidget *w, GtkSnapshot *s)
{
    NinoNodeView *v = NINO_NODE_VIEW(w);
    Pen p = { .s = s };
    nino_graph_colors(w, &p.c);
    const gboolean faint = v->mode == NINO_MODE_MUTED || v->mode == NINO_MODE_BYPASSED;
    if (faint)
        gtk_snapshot_push_opacity(s, (double) weak(&p, v->mode == NINO_MODE_MUTED ? 0.4f : 0.75f));
    if (v->detail == NINO_DETAIL_BOX) {
        draw_plain_box(v, &p);
    } else {
        p.layout = gtk_widget_create_pango_layout(w, NULL);
        pango_layout_set_ellipsize(p.layout, PANGO_ELLIPSIZE_END);
        const gboolean is_near = v->detail == NINO_DETAIL_FULL;
        is_near ? draw_box(v, &p) : draw_plain_box(v, &p);
        if (is_near)
            draw_title(v, &p);
        if (!v->is_collapsed && is_near)
            draw_labels(v, &p);
        if (!v->is_collapsed && is_near)
            draw_dots(v, &p);
        if (!v->is_collapsed)
            node_view_draw_draw_picture(v, &p);
        if (is_near)
            draw_error(v, &p);
        else if (v->kind != NINO_DOC_REROUTE)
            draw_far(v, &p);
        g_object_unref(p.layout);
    }
    for (guint i = 0; i < v->rows->len && v->detail == NINO_DETAIL_FULL && !v->is_collapsed; i++)
        if (ROWS(v, i)->editor)
            gtk_widget_snapshot_child(w, ROWS(v, i)->editor, s);
    if (faint)
        gtk_snapshot_pop(s);
}

GdkRGBA nino_node_view_map_color(NinoNodeView *v, gboolean is_dot)
{
    NinoGraphColors c;
    nino_graph_colors(GTK_WIDGET(v), &c);
    return v->has_mark && v->mark.state != NINO_NODE_IDLE ? nino_node_state_color(v->mark.state, &c)
           : is_dot && !v->bgcolor                        ? c.dim
                                                          : body_color(v, &c);
}
