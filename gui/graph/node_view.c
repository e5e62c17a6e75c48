// What a node shows is copied out of the document, which changes under it. A text of all that
// matters tells whether anything has to be drawn again.
#include "graph/node_view.h"
#include "graph/picture.h"

#include <math.h>
#include <string.h>

enum { PICTURE = 120 }; // height of a picture, at least

typedef struct Slot {
    char *label, *type;
    double y; // inside the view
    gboolean is_linked, is_optional, is_row;
} Slot;

typedef struct Row {
    char *name, *label;
    double y, height;
    GtkWidget *editor;
    gboolean is_text, is_control, is_linked, is_inert;
} Row;

struct _NinoNodeView {
    GtkWidget parent;
    char *id, *title, *signature, *color, *bgcolor;
    nino_doc_kind kind;
    int mode;
    double x, y, width, height, min_height; // of the whole view
    gboolean is_collapsed, is_pinned, is_selected, has_editors;
    NinoDetail detail;
    GArray *inputs, *outputs; // Slot
    GArray *rows;             // Row
    NinoNodeMark mark;
    gboolean has_mark;
    char *error;
    GdkTexture *made, *loaded; // the picture to show: what it made, or what it loads
    char *loaded_path;
    double picture_y;
    char *wanted;
    gboolean wants_inputs;
    NinoNodeEditFn fn;
    gpointer user;
};

G_DEFINE_TYPE(NinoNodeView, nino_node_view, GTK_TYPE_WIDGET)

static void clear_slot(gpointer p)
{
    g_free(((Slot *) p)->label);
    g_free(((Slot *) p)->type);
}

static void clear_row(gpointer p)
{
    Row *r = p;
    if (r->editor) {
        nino_editor_stop(r->editor);
        gtk_widget_unparent(r->editor);
    }
    g_free(r->name);
    g_free(r->label);
}

#define SLOTS(a, i) (&g_array_index((a), Slot, (i)))
#define ROWS(v, i) (&g_array_index((v)->rows, Row, (i)))

static gboolean is_end(const NinoNodeView *v)
{
    return v->kind == NINO_DOC_INPUT || v->kind == NINO_DOC_OUTPUT;
}

static double title_height(const NinoNodeView *v)
{
    return v->kind == NINO_DOC_REROUTE ? 0 : NINO_NODE_TITLE;
}

// ---- layout ----------------------------------------------------------------------------------

// Slots stand below each other on both sides; a value's socket stands beside its row.
static double place_slots(NinoNodeView *v)
{
    const double top = title_height(v) + (v->kind == NINO_DOC_REROUTE ? 3 : 0);
    int n[2] = { 0, 0 };
    for (guint k = 0; k < 2; k++) {
        GArray *slots = k ? v->outputs : v->inputs;
        for (guint i = 0; i < slots->len; i++)
            if (!SLOTS(slots, i)->is_row)
                SLOTS(slots, i)->y =
                    v->kind == NINO_DOC_REROUTE ? 13 : top + (n[k]++ + 0.7) * NINO_NODE_SLOT;
    }
    return top + MAX(n[0], n[1]) * NINO_NODE_SLOT + 6;
}

static void place_rows(NinoNodeView *v)
{
    double y = place_slots(v), fixed = y, n_text = 0;
    if (v->is_collapsed) {
        v->height = NINO_NODE_TITLE;
        return;
    }
    for (guint i = 0; i < v->rows->len; i++) {
        n_text += ROWS(v, i)->is_text;
        fixed += ROWS(v, i)->is_text ? 4 : NINO_NODE_ROW;
    }
    v->min_height = fixed + n_text * 46 + (v->rows->len ? 8 : 0);
    if (v->kind == NINO_DOC_REROUTE)
        v->min_height = 26;
    v->picture_y = v->min_height + 2;
    if ((v->made || v->loaded) && !n_text)
        v->min_height += MAX(PICTURE, MIN(v->width, 1.5 * PICTURE) - 60);
    v->height = MAX(v->height, v->min_height);
    const double text = n_text ? (v->height - fixed - 8) / n_text : 0;
    for (guint i = 0; i < v->rows->len; i++) {
        Row *r = ROWS(v, i);
        r->y = y + 2;
        r->height = r->is_text ? text : NINO_NODE_ROW - 4;
        y += r->is_text ? text + 4 : NINO_NODE_ROW;
    }
}

static void tie_rows(NinoNodeView *v, const nino_doc_node *n)
{
    for (guint i = 0; i < v->rows->len; i++) {
        const nino_doc_widget *w = nino_doc_widget_find(n, ROWS(v, i)->name);
        if (w && w->input >= 0 && w->input < (int) v->inputs->len && !ROWS(v, i)->is_control)
            SLOTS(v->inputs, w->input)->y = ROWS(v, i)->y + (NINO_NODE_ROW - 4) / 2.0;
    }
}

static void label_area(const NinoNodeView *v, double *x, double *width)
{
    *x = floor(v->width * 0.42);
    *width = v->width - *x - 10;
}

// ---- reading ---------------------------------------------------------------------------------

static void read_slots(NinoNodeView *v, const nino_doc_node *n)
{
    g_array_set_size(v->inputs, 0);
    g_array_set_size(v->outputs, 0);
    for (int i = 0; i < n->n_inputs; i++) {
        const nino_doc_input *in = &n->inputs[i];
        const Slot s = { .label = g_strdup(in->label),
                         .type = g_strdup(in->type),
                         .is_linked = in->link >= 0,
                         .is_optional = in->is_optional,
                         .is_row = in->widget && nino_doc_widget_find(n, in->widget) };
        g_array_append_val(v->inputs, s);
    }
    for (int i = 0; i < n->n_outputs; i++) {
        const nino_doc_output *out = &n->outputs[i];
        const Slot s = { .label = g_strdup(out->label),
                         .type = g_strdup(out->type),
                         .is_linked = out->n_links > 0 };
        g_array_append_val(v->outputs, s);
    }
}

static void read_rows(NinoNodeView *v, const nino_doc_node *n)
{
    g_array_set_size(v->rows, 0);
    v->has_editors = FALSE;
    for (int i = 0; i < n->n_widgets; i++) {
        const nino_doc_widget *w = &n->widgets[i];
        const char *label = w->param && w->param->label ? w->param->label : w->name;
        Row r = { .name = g_strdup(w->name),
                  .label = g_strdup(label),
                  .is_text = nino_editor_is_multiline(w),
                  .is_linked = w->is_linked,
                  .is_inert = w->param && w->param->is_inert };
        g_array_append_val(v->rows, r);
        if (!w->control)
            continue;
        r = (Row){ .name = g_strdup(w->name),
                   .label = g_strdup("after a run"),
                   .is_control = TRUE };
        g_array_append_val(v->rows, r);
    }
}

static char *rows_signature(const nino_doc_node *n)
{
    GString *s = g_string_new(NULL);
    for (int i = 0; i < n->n_widgets; i++)
        g_string_append_printf(s, "%s:%d:%d|", n->widgets[i].name, n->widgets[i].param != NULL,
                               n->widgets[i].control != NULL);
    return g_string_free(s, FALSE);
}

static char *signature_of(const nino_doc_node *n, const char *rows)
{
    GString *s = g_string_new(rows);
    g_string_append_printf(s, "\n%s|%d|%g|%g|%g|%g|%d|%d|%d|%s|%s", n->title, n->kind, n->x, n->y,
                           n->width, n->height, n->mode, n->is_collapsed, n->is_pinned,
                           n->color ? n->color : "", n->bgcolor ? n->bgcolor : "");
    for (int i = 0; i < n->n_inputs; i++)
        g_string_append_printf(s, "|%s:%s:%d", n->inputs[i].label, n->inputs[i].type,
                               n->inputs[i].link >= 0);
    for (int i = 0; i < n->n_outputs; i++)
        g_string_append_printf(s, "|%s:%s:%d", n->outputs[i].label, n->outputs[i].type,
                               n->outputs[i].n_links > 0);
    return g_string_free(s, FALSE);
}

static void name_it(NinoNodeView *v)
{
    static const char *const states[] = { "",       ", queued", ", running",
                                          ", done", ", cached", ", failed" };
    g_autofree char *name = g_strdup_printf("%s, node %s%s%s%s%s", v->title, v->id,
                                            v->mode == NINO_MODE_MUTED      ? ", muted"
                                            : v->mode == NINO_MODE_BYPASSED ? ", bypassed"
                                                                            : "",
                                            v->is_collapsed ? ", collapsed" : "",
                                            v->has_mark ? states[v->mark.state] : "",
                                            v->is_selected ? ", selected" : "");
    gtk_accessible_update_property(GTK_ACCESSIBLE(v), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

static double collapsed_width(NinoNodeView *v)
{
    PangoLayout *l = gtk_widget_create_pango_layout(GTK_WIDGET(v), v->title);
    int width = 0;
    pango_layout_get_pixel_size(l, &width, NULL);
    g_object_unref(l);
    return CLAMP(width + 44, 80, 400);
}

// The height depends on the picture.
static void place_again(NinoNodeView *v, const nino_doc_node *n)
{
    v->height = n->height + title_height(v);
    place_rows(v);
    tie_rows(v, n);
    gtk_widget_queue_resize(GTK_WIDGET(v));
    gtk_widget_queue_draw(GTK_WIDGET(v));
}

static void read_node(NinoNodeView *v, const nino_doc_node *n)
{
    g_free(v->title);
    g_free(v->color);
    g_free(v->bgcolor);
    v->title = g_strdup(n->title);
    v->color = g_strdup(n->color);
    v->bgcolor = g_strdup(n->bgcolor);
    v->kind = n->kind;
    v->mode = n->mode;
    v->is_collapsed = n->is_collapsed && n->kind != NINO_DOC_REROUTE;
    v->is_pinned = n->is_pinned;
    v->x = n->x;
    v->y = is_end(v) ? n->y : n->y - title_height(v);
    v->width = is_end(v) ? 150 : MAX(n->width, n->kind == NINO_DOC_REROUTE ? 75 : 140);
    v->height = n->height + title_height(v);
    read_slots(v, n);
    if (v->is_collapsed)
        v->width = collapsed_width(v);
    place_rows(v);
    tie_rows(v, n);
}

// The picture that a node loads, once it was seen.
static void load_picture(NinoNodeView *v, const nino_doc_node *n)
{
    g_autofree char *path = NULL;
    for (int i = 0; i < n->n_widgets && !path; i++)
        path = nino_editors_input_path(&n->widgets[i]);
    if (!g_strcmp0(path, v->loaded_path))
        return;
    g_free(v->loaded_path);
    v->loaded_path = g_strdup(path);
    g_clear_object(&v->loaded);
    v->loaded = path ? nino_small_picture_load(path) : NULL;
    place_again(v, n);
}

static void update_editors(NinoNodeView *v, const nino_doc_node *n)
{
    if (v->has_editors)
        load_picture(v, n);
    for (guint i = 0; i < v->rows->len; i++) {
        Row *r = ROWS(v, i);
        const nino_doc_widget *w = nino_doc_widget_find(n, r->name);
        if (w && r->editor)
            nino_editor_update(r->editor, w);
    }
}

static void on_edit(gpointer user, const char *name, NinoEditKind kind, const char *text)
{
    NinoNodeView *v = user;
    v->fn(v->user, v->id, name, kind, text);
}

// Editors exist from the first time that the node is seen in full.
static void need_editors(NinoNodeView *v)
{
    nino_document *d =
        v->has_editors || v->is_collapsed ? NULL : nino_canvas_get_document(NINO_CANVAS(v->user));
    const nino_doc_node *n = d ? nino_document_node(d, nino_document_find(d, v->id)) : NULL;
    if (!n)
        return;
    v->has_editors = TRUE;
    for (guint i = 0; i < v->rows->len; i++) {
        Row *r = ROWS(v, i);
        const nino_doc_widget *w = nino_doc_widget_find(n, r->name);
        if (!w)
            continue;
        r->editor = r->is_control ? nino_editor_new_control(w, on_edit, v)
                                  : nino_editor_new(w, TRUE, on_edit, v);
        gtk_widget_set_parent(r->editor, GTK_WIDGET(v));
        gtk_widget_set_child_visible(r->editor, v->detail == NINO_DETAIL_FULL);
    }
    load_picture(v, n);
}

void nino_node_view_update(NinoNodeView *v, const nino_doc_node *n)
{
    g_autofree char *rows = rows_signature(n);
    char *now = signature_of(n, rows);
    const gboolean same = v->signature && !strcmp(now, v->signature);
    const gboolean same_rows =
        v->signature && g_str_has_prefix(v->signature, rows) && v->signature[strlen(rows)] == '\n';
    g_free(v->signature);
    v->signature = now;
    if (!same_rows)
        read_rows(v, n);
    if (!same) {
        read_node(v, n);
        name_it(v);
        for (guint i = 0; i < v->rows->len; i++)
            if (ROWS(v, i)->editor)
                gtk_widget_set_child_visible(ROWS(v, i)->editor,
                                             v->detail == NINO_DETAIL_FULL && !v->is_collapsed);
        gtk_widget_queue_resize(GTK_WIDGET(v));
    }
    update_editors(v, n);
    if (!same_rows && v->detail == NINO_DETAIL_FULL && gtk_widget_get_mapped(GTK_WIDGET(v)))
        need_editors(v);
}

// ---- drawing ---------------------------------------------------------------------------------

typedef struct Pen {
    GtkSnapshot *s;
    PangoLayout *layout;
    NinoGraphColors c;
} Pen;

static void draw_text(Pen *p, const char *text, double x, double y, double width, int align,
                      GdkRGBA color)
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

static void rounded(cairo_t *cr, double x, double y, double w, double h, double top, double bottom)
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
    if (v->kind == NINO_DOC_UNKNOWN && !c->is_high_contrast) {
        gdk_rgba_parse(&out, c->is_dark ? "#4a3236" : "#f6e3e4");
        return out;
    }
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
    if (v->has_mark && v->mark.state == NINO_NODE_FAILED)
        return c->error;
    if (v->has_mark && v->mark.state == NINO_NODE_RUNNING)
        return c->running;
    if (v->is_selected || gtk_widget_has_focus(GTK_WIDGET(v)))
        return c->accent;
    *width = c->is_high_contrast ? 2 : 1;
    return c->border;
}

static void draw_box(const NinoNodeView *v, const Pen *p)
{
    const double w = v->width, h = v->height, t = title_height(v);
    double line;
    const GdkRGBA body = body_color(v, &p->c), title = title_color(v, &p->c),
                  edge = outline(v, &p->c, &line);
    const gboolean flat = v->is_collapsed || t == 0;
    cairo_t *cr =
        gtk_snapshot_append_cairo(p->s, &GRAPHENE_RECT_INIT(-3, -3, (float) w + 6, (float) h + 6));
    rounded(cr, 0, 0, w, h, 7, 7);
    gdk_cairo_set_source_rgba(cr, flat && t > 0 ? &title : &body);
    cairo_fill(cr);
    if (!flat) {
        rounded(cr, 0, 0, w, t, 7, 0);
        gdk_cairo_set_source_rgba(cr, &title);
        cairo_fill(cr);
    }
    if (v->mode == NINO_MODE_BYPASSED) {
        GdkRGBA tint = p->c.bypass;
        tint.alpha = 0.45f;
        rounded(cr, 0, 0, w, h, 7, 7);
        gdk_cairo_set_source_rgba(cr, &tint);
        cairo_fill(cr);
    }
    rounded(cr, 0, 0, w, h, 7, 7);
    gdk_cairo_set_source_rgba(cr, &edge);
    cairo_set_line_width(cr, line);
    cairo_stroke(cr);
    cairo_destroy(cr);
}

// Far out: rectangles that need no path.
static void draw_plain_box(const NinoNodeView *v, const Pen *p)
{
    const float w = (float) v->width, h = (float) v->height, t = (float) title_height(v);
    double line;
    const GdkRGBA body = body_color(v, &p->c), title = title_color(v, &p->c),
                  edge = outline(v, &p->c, &line);
    if (line > 2) {
        const float b = (float) line * 2;
        gtk_snapshot_append_color(p->s, &edge, &GRAPHENE_RECT_INIT(-b, -b, w + 2 * b, h + 2 * b));
    }
    gtk_snapshot_append_color(p->s, &body, &GRAPHENE_RECT_INIT(0, t, w, MAX(h - t, 0)));
    if (t > 0)
        gtk_snapshot_append_color(p->s, &title, &GRAPHENE_RECT_INIT(0, 0, w, t));
    if (v->mode == NINO_MODE_BYPASSED) {
        GdkRGBA tint = p->c.bypass;
        tint.alpha = 0.45f;
        gtk_snapshot_append_color(p->s, &tint, &GRAPHENE_RECT_INIT(0, 0, w, h));
    }
}

static char *mark_text(const NinoNodeMark *m)
{
    if (m->state == NINO_NODE_QUEUED)
        return g_strdup("queued");
    if (m->state == NINO_NODE_CACHED)
        return g_strdup("cached");
    if (m->state == NINO_NODE_FAILED)
        return g_strdup("failed");
    GString *s = g_string_new(NULL);
    if (m->state == NINO_NODE_RUNNING && m->progress >= 0)
        g_string_append_printf(s, "%.0f %%", 100 * CLAMP(m->progress, 0, 1));
    if (m->seconds >= 0)
        g_string_append_printf(s, m->seconds < 1 ? "%s%.0f ms" : "%s%.2f s", s->len ? " · " : "",
                               m->seconds < 1 ? m->seconds * 1e3 : m->seconds);
    if (m->bytes) {
        const guint64 abs = (guint64) (m->bytes < 0 ? -m->bytes : m->bytes);
        g_autofree char *size = g_format_size_full(abs, G_FORMAT_SIZE_IEC_UNITS);
        g_string_append_printf(s, "%s%s%s", s->len ? " · " : "", m->bytes < 0 ? "−" : "+", size);
    }
    return g_string_free(s, FALSE);
}

static GdkRGBA mark_color(NinoNodeState state, const NinoGraphColors *c)
{
    return state == NINO_NODE_FAILED    ? c->error
           : state == NINO_NODE_RUNNING ? c->running
           : state == NINO_NODE_CACHED  ? c->cached
           : state == NINO_NODE_DONE    ? c->done
                                        : c->dim;
}

// A ring in the place of the title's dot: it fills while the node runs.
static void draw_ring(const NinoNodeView *v, const Pen *p)
{
    const double cx = 15, cy = NINO_NODE_TITLE / 2.0, r = 5.5;
    cairo_t *cr = gtk_snapshot_append_cairo(
        p->s, &GRAPHENE_RECT_INIT((float) cx - 8, (float) cy - 8, 16, 16));
    GdkRGBA color = v->has_mark ? mark_color(v->mark.state, &p->c) : p->c.dim;
    const NinoNodeState state = v->has_mark ? v->mark.state : NINO_NODE_IDLE;
    cairo_set_line_width(cr, 2.5);
    if (state == NINO_NODE_IDLE || state == NINO_NODE_QUEUED) {
        gdk_cairo_set_source_rgba(cr, &color);
        cairo_arc(cr, cx, cy, state == NINO_NODE_QUEUED ? r - 1 : 3.5, 0, 2 * G_PI);
        state == NINO_NODE_QUEUED ? cairo_stroke(cr) : cairo_fill(cr);
    } else if (state == NINO_NODE_RUNNING) {
        GdkRGBA faint = color;
        faint.alpha = 0.3f;
        gdk_cairo_set_source_rgba(cr, &faint);
        cairo_arc(cr, cx, cy, r, 0, 2 * G_PI);
        cairo_stroke(cr);
        gdk_cairo_set_source_rgba(cr, &color);
        cairo_arc(cr, cx, cy, r, -G_PI / 2,
                  -G_PI / 2 + 2 * G_PI * (v->mark.progress < 0 ? 0.25 : v->mark.progress));
        cairo_stroke(cr);
    } else {
        gdk_cairo_set_source_rgba(cr, &color);
        cairo_arc(cr, cx, cy, r, 0, 2 * G_PI);
        cairo_fill(cr);
    }
    cairo_destroy(cr);
}

static void draw_title(const NinoNodeView *v, Pen *p)
{
    g_autofree char *badge = v->has_mark ? mark_text(&v->mark) : NULL;
    double right = v->width - 10;
    if (v->kind == NINO_DOC_REROUTE)
        return;
    draw_ring(v, p);
    if (badge && *badge) {
        int w = 0, h = 0;
        pango_layout_set_width(p->layout, -1);
        pango_layout_set_text(p->layout, badge, -1);
        pango_layout_get_pixel_size(p->layout, &w, &h);
        right -= MIN(w, v->width * 0.6);
        draw_text(p, badge, right, NINO_NODE_TITLE / 2.0, w + 1, 0,
                  mark_color(v->mark.state, &p->c));
        right -= 6;
    }
    if (v->is_pinned) {
        draw_text(p, "📌", right - 16, NINO_NODE_TITLE / 2.0, 18, 0, p->c.dim);
        right -= 18;
    }
    draw_text(p, v->title, 28, NINO_NODE_TITLE / 2.0, right - 28, 0, p->c.text);
}

static gboolean fits(const NinoNodeView *v, const Slot *s, gboolean is_input)
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
            if (!fits(v, s, !k))
                color.alpha = 0.15f;
            // A value's socket shows only when it is used or may be.
            else if (s->is_row && !s->is_linked)
                color.alpha = v->wanted ? 1 : 0.35f;
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
            color.alpha = fits(v, s, !k) ? 1 : 0.3f;
            if (!s->is_row)
                draw_text(p, s->label, k ? v->width - 12 - room : 12, s->y, room, (int) k, color);
        }
    }
    label_area(v, &x, &width);
    for (guint i = 0; i < v->rows->len; i++) {
        const Row *r = ROWS(v, i);
        GdkRGBA color = p->c.dim;
        color.alpha = r->is_inert ? 0.6f : 1;
        if (!r->is_text)
            draw_text(p, r->label, 12, r->y + r->height / 2, x - 16, 0, color);
    }
}

// As large as it fits below the values.
static void draw_picture(const NinoNodeView *v, const Pen *p)
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

// In the place of editors that are too small to read.
static void draw_stubs(const NinoNodeView *v, const Pen *p)
{
    double x, width;
    GdkRGBA c = p->c.dim;
    c.alpha = 0.16f;
    label_area(v, &x, &width);
    for (guint i = 0; i < v->rows->len; i++) {
        const Row *r = ROWS(v, i);
        gtk_snapshot_append_color(
            p->s, &c,
            &GRAPHENE_RECT_INIT(r->is_text ? 10 : (float) x, (float) r->y + 2,
                                r->is_text ? (float) v->width - 20 : (float) width,
                                (float) MAX(r->height - 4, 2)));
    }
}

static void draw_error(const NinoNodeView *v, Pen *p)
{
    if (!v->error || v->is_collapsed)
        return;
    draw_text(p, v->error, 4, v->height + 10, MAX(v->width - 8, 220), 0, p->c.error);
}

static void snapshot(GtkWidget *w, GtkSnapshot *s)
{
    NinoNodeView *v = NINO_NODE_VIEW(w);
    Pen p = { .s = s };
    nino_graph_colors(w, &p.c);
    const gboolean faint = v->mode == NINO_MODE_MUTED || v->mode == NINO_MODE_BYPASSED;
    if (faint)
        gtk_snapshot_push_opacity(s, v->mode == NINO_MODE_MUTED ? 0.4 : 0.75);
    if (v->detail == NINO_DETAIL_BOX) {
        draw_plain_box(v, &p);
    } else {
        p.layout = gtk_widget_create_pango_layout(w, NULL);
        pango_layout_set_ellipsize(p.layout, PANGO_ELLIPSIZE_END);
        v->detail == NINO_DETAIL_FULL ? draw_box(v, &p) : draw_plain_box(v, &p);
        draw_title(v, &p);
        if (!v->is_collapsed && v->detail == NINO_DETAIL_FULL)
            draw_labels(v, &p);
        else if (!v->is_collapsed)
            draw_stubs(v, &p);
        if (!v->is_collapsed && v->detail == NINO_DETAIL_FULL)
            draw_dots(v, &p);
        if (!v->is_collapsed)
            draw_picture(v, &p);
        draw_error(v, &p);
        g_object_unref(p.layout);
    }
    for (guint i = 0; i < v->rows->len && v->detail == NINO_DETAIL_FULL && !v->is_collapsed; i++)
        if (ROWS(v, i)->editor)
            gtk_widget_snapshot_child(w, ROWS(v, i)->editor, s);
    if (faint)
        gtk_snapshot_pop(s);
}

// ---- widget ----------------------------------------------------------------------------------

static void size_allocate(GtkWidget *w, int width, int height, int baseline)
{
    NinoNodeView *v = NINO_NODE_VIEW(w);
    double x, area;
    (void) width, (void) height, (void) baseline;
    label_area(v, &x, &area);
    for (guint i = 0; i < v->rows->len; i++) {
        const Row *r = ROWS(v, i);
        int min_w = 0, min_h = 0;
        if (!r->editor || !gtk_widget_get_child_visible(r->editor))
            continue;
        gtk_widget_measure(r->editor, GTK_ORIENTATION_HORIZONTAL, -1, &min_w, NULL, NULL, NULL);
        const double left = r->is_text ? 10 : MIN(x, v->width - 10 - min_w);
        const int room = (int) MAX(v->width - 10 - left, min_w);
        gtk_widget_measure(r->editor, GTK_ORIENTATION_VERTICAL, room, &min_h, NULL, NULL, NULL);
        const int h = (int) MAX(r->height, min_h);
        GskTransform *t = gsk_transform_translate(
            NULL, &GRAPHENE_POINT_INIT((float) left, (float) floor(r->y + (r->height - h) / 2)));
        gtk_widget_allocate(r->editor, room, h, -1, t);
    }
}

static void measure(GtkWidget *w, GtkOrientation o, int for_size, int *min, int *nat, int *min_base,
                    int *nat_base)
{
    const NinoNodeView *v = NINO_NODE_VIEW(w);
    (void) for_size;
    *min = *nat = (int) ceil(o == GTK_ORIENTATION_HORIZONTAL ? v->width : v->height);
    *min_base = *nat_base = -1;
}

static void map(GtkWidget *w)
{
    NinoNodeView *v = NINO_NODE_VIEW(w);
    if (v->detail == NINO_DETAIL_FULL)
        need_editors(v);
    GTK_WIDGET_CLASS(nino_node_view_parent_class)->map(w);
}

static void on_focus(GtkWidget *w, GParamSpec *spec, gpointer user)
{
    (void) spec, (void) user;
    gtk_widget_queue_draw(w);
}

static void dispose(GObject *o)
{
    NinoNodeView *v = NINO_NODE_VIEW(o);
    if (v->rows)
        g_array_set_size(v->rows, 0);
    G_OBJECT_CLASS(nino_node_view_parent_class)->dispose(o);
}

static void finalize(GObject *o)
{
    NinoNodeView *v = NINO_NODE_VIEW(o);
    g_clear_pointer(&v->rows, g_array_unref);
    g_clear_pointer(&v->inputs, g_array_unref);
    g_clear_pointer(&v->outputs, g_array_unref);
    g_free(v->id);
    g_free(v->title);
    g_free(v->signature);
    g_free(v->color);
    g_free(v->bgcolor);
    g_free(v->error);
    g_free(v->wanted);
    g_free(v->loaded_path);
    g_clear_object(&v->made);
    g_clear_object(&v->loaded);
    G_OBJECT_CLASS(nino_node_view_parent_class)->finalize(o);
}

static void nino_node_view_class_init(NinoNodeViewClass *klass)
{
    GtkWidgetClass *wc = GTK_WIDGET_CLASS(klass);
    G_OBJECT_CLASS(klass)->dispose = dispose;
    G_OBJECT_CLASS(klass)->finalize = finalize;
    wc->snapshot = snapshot;
    wc->size_allocate = size_allocate;
    wc->measure = measure;
    wc->map = map;
    gtk_widget_class_set_css_name(wc, "ninonode");
    gtk_widget_class_set_accessible_role(wc, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void nino_node_view_init(NinoNodeView *v)
{
    v->inputs = g_array_new(FALSE, TRUE, sizeof(Slot));
    v->outputs = g_array_new(FALSE, TRUE, sizeof(Slot));
    v->rows = g_array_new(FALSE, TRUE, sizeof(Row));
    g_array_set_clear_func(v->inputs, clear_slot);
    g_array_set_clear_func(v->outputs, clear_slot);
    g_array_set_clear_func(v->rows, clear_row);
    gtk_widget_set_focusable(GTK_WIDGET(v), TRUE);
    g_signal_connect(v, "notify::has-focus", G_CALLBACK(on_focus), NULL);
}

GtkWidget *nino_node_view_new(const nino_doc_node *n, NinoNodeEditFn fn, gpointer user)
{
    NinoNodeView *v = g_object_new(NINO_TYPE_NODE_VIEW, NULL);
    v->id = g_strdup(n->id);
    v->fn = fn;
    v->user = user;
    nino_node_view_update(v, n);
    return GTK_WIDGET(v);
}

// ---- from outside ----------------------------------------------------------------------------

const char *nino_node_view_id(NinoNodeView *v) { return v->id; }
const char *nino_node_view_title(NinoNodeView *v) { return v->title; }

void nino_node_view_get_box(NinoNodeView *v, graphene_rect_t *box)
{
    *box = GRAPHENE_RECT_INIT((float) v->x, (float) v->y, (float) v->width, (float) v->height);
}

void nino_node_view_set_place(NinoNodeView *v, double x, double y)
{
    v->x = x;
    v->y = y;
}

void nino_node_view_set_size(NinoNodeView *v, double width, double height)
{
    v->width = MAX(width, 140);
    v->height = MAX(height, v->min_height);
    place_rows(v);
    gtk_widget_queue_resize(GTK_WIDGET(v));
}

static graphene_point_t slot_point(const NinoNodeView *v, GArray *slots, int i, double x)
{
    const double y = v->is_collapsed || i < 0 || i >= (int) slots->len ? NINO_NODE_TITLE / 2.0
                                                                       : SLOTS(slots, i)->y;
    return GRAPHENE_POINT_INIT((float) (v->x + x), (float) (v->y + y));
}

graphene_point_t nino_node_view_input(NinoNodeView *v, int i)
{
    return slot_point(v, v->inputs, i, 0);
}

graphene_point_t nino_node_view_output(NinoNodeView *v, int i)
{
    return slot_point(v, v->outputs, i, v->width);
}

static int slot_at(const NinoNodeView *v, GArray *slots, double x, double y, double reach)
{
    int best = -1;
    double least = 10;
    if (v->is_collapsed || x > reach || x < -12)
        return -1;
    for (guint i = 0; i < slots->len; i++) {
        const double far = fabs(SLOTS(slots, i)->y - y);
        const gboolean in_reach = !SLOTS(slots, i)->is_row || x < 9;
        if (far < least && in_reach) {
            best = (int) i;
            least = far;
        }
    }
    return best;
}

int nino_node_view_input_at(NinoNodeView *v, double x, double y)
{
    return slot_at(v, v->inputs, x, y, 18);
}

int nino_node_view_output_at(NinoNodeView *v, double x, double y)
{
    return slot_at(v, v->outputs, v->width - x, y, 18);
}

gboolean nino_node_view_is_resize_corner(NinoNodeView *v, double x, double y)
{
    return !v->is_collapsed && !is_end(v) && v->kind != NINO_DOC_REROUTE && x > v->width - 14 &&
           y > v->height - 14;
}

void nino_node_view_set_detail(NinoNodeView *v, NinoDetail detail)
{
    if (detail == v->detail)
        return;
    v->detail = detail;
    for (guint i = 0; i < v->rows->len; i++)
        if (ROWS(v, i)->editor)
            gtk_widget_set_child_visible(ROWS(v, i)->editor,
                                         detail == NINO_DETAIL_FULL && !v->is_collapsed);
    if (detail == NINO_DETAIL_FULL && gtk_widget_get_mapped(GTK_WIDGET(v)))
        need_editors(v);
    gtk_widget_queue_allocate(GTK_WIDGET(v));
    gtk_widget_queue_draw(GTK_WIDGET(v));
}

void nino_node_view_set_selected(NinoNodeView *v, gboolean selected)
{
    if (v->is_selected == selected)
        return;
    v->is_selected = selected;
    name_it(v);
    gtk_widget_queue_draw(GTK_WIDGET(v));
}

void nino_node_view_set_mark(NinoNodeView *v, const NinoNodeMark *mark)
{
    const NinoNodeMark none = { .seconds = -1 };
    const NinoNodeMark now = mark ? *mark : none;
    const gboolean renamed = v->has_mark != (mark != NULL) || v->mark.state != now.state;
    if (!renamed && v->mark.progress == now.progress && v->mark.seconds == now.seconds &&
        v->mark.bytes == now.bytes && !g_strcmp0(v->error, now.error))
        return;
    g_free(v->error);
    v->error = g_strdup(now.error);
    v->mark = now;
    v->mark.error = v->error;
    v->has_mark = mark != NULL;
    if (renamed)
        name_it(v);
    gtk_widget_set_tooltip_text(GTK_WIDGET(v), v->error);
    gtk_widget_queue_draw(GTK_WIDGET(v));
}

void nino_node_view_set_picture(NinoNodeView *v, GdkTexture *picture)
{
    nino_document *d = nino_canvas_get_document(NINO_CANVAS(v->user));
    const nino_doc_node *n = d ? nino_document_node(d, nino_document_find(d, v->id)) : NULL;
    if (v->made == picture || !n)
        return;
    g_set_object(&v->made, picture);
    place_again(v, n);
}

void nino_node_view_set_wanted(NinoNodeView *v, const char *type, gboolean inputs)
{
    if (!g_strcmp0(v->wanted, type) && v->wants_inputs == inputs)
        return;
    g_free(v->wanted);
    v->wanted = g_strdup(type);
    v->wants_inputs = inputs;
    gtk_widget_queue_draw(GTK_WIDGET(v));
}

gboolean nino_node_view_edit(NinoNodeView *v)
{
    for (guint i = 0; i < v->rows->len; i++)
        if (ROWS(v, i)->editor && gtk_widget_child_focus(ROWS(v, i)->editor, GTK_DIR_TAB_FORWARD))
            return TRUE;
    return FALSE;
}

GdkRGBA nino_node_view_map_color(NinoNodeView *v)
{
    NinoGraphColors c;
    nino_graph_colors(GTK_WIDGET(v), &c);
    return v->has_mark && v->mark.state != NINO_NODE_IDLE ? mark_color(v->mark.state, &c)
           : v->bgcolor                                   ? body_color(v, &c)
                                                          : c.dim;
}
