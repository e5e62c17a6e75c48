// What a node shows is copied out of the document, which changes under it. A text of all that
// matters tells whether anything has to be drawn again.
#include "node/folders.h"
#include "node/node_state.h"
#include "node/node_view_priv.h"
#include "node/small_picture.h"
#include "base/i18n.h"

#include <math.h>
#include <string.h>

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

// ---- layout ----------------------------------------------------------------------------------

// Slots stand below each other on both sides; a value's socket stands beside its row.
static double place_slots(NinoNodeView *v)
{
    const double top = nino_node_view_title_height(v) + (v->kind == NINO_DOC_REROUTE ? 3 : 0);
    int n[2] = { 0, 0 };
    for (guint k = 0; k < 2; k++) {
        GArray *slots = k ? v->outputs : v->inputs;
        for (guint i = 0; i < slots->len; i++)
            if (!SLOTS(slots, i)->is_row)
                SLOTS(slots, i)->y =
                    v->kind == NINO_DOC_REROUTE ? 13 : top + (n[k]++ + 0.7) * NINO_NODE_SLOT;
    }
    return top + (MAX(n[0], n[1]) + nino_node_view_is_end(v)) * NINO_NODE_SLOT + 6;
}

// As wide as the node, as ComfyUI's editor shows it, but not much higher than there.
static double picture_room(const NinoNodeView *v)
{
    GdkTexture *t = v->made ? v->made : v->loaded;
    const double w = gdk_texture_get_width(t), h = gdk_texture_get_height(t);
    return CLAMP((v->width - 20) * h / w, PICTURE_MIN, PICTURE_MAX);
}

void nino_node_view_place_rows(NinoNodeView *v)
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
        v->min_height += picture_room(v) + 10;
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

void nino_node_view_label_area(const NinoNodeView *v, double *x, double *width)
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
        const char *label = w->label                      ? w->label
                            : w->param && w->param->label ? w->param->label
                                                          : w->name;
        Row r = { .name = g_strdup(w->name),
                  .label = g_strdup(label),
                  .is_text = nino_editor_is_multiline(w),
                  .is_linked = w->is_linked,
                  .is_inert = w->param && w->param->is_inert };
        g_array_append_val(v->rows, r);
        if (!w->control)
            continue;
        r = (Row){ .name = g_strdup(w->name),
                   .label = g_strdup(_("After a run")),
                   .is_control = TRUE };
        g_array_append_val(v->rows, r);
    }
}

static char *rows_signature(const nino_doc_node *n)
{
    GString *s = g_string_new(NULL);
    for (int i = 0; i < n->n_widgets; i++)
        g_string_append_printf(s, "%s:%s:%d:%d|", n->widgets[i].name,
                               n->widgets[i].label ? n->widgets[i].label : "",
                               n->widgets[i].param != NULL, n->widgets[i].control != NULL);
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

void nino_node_view_name_it(NinoNodeView *v)
{
    g_autofree char *name = g_strdup_printf(
        _("%s, node %s%s%s%s%s%s"), v->title, v->id,
        v->mode == NINO_MODE_MUTED      ? _(", muted")
        : v->mode == NINO_MODE_BYPASSED ? _(", bypassed")
                                        : "",
        v->is_collapsed ? _(", collapsed") : "",
        v->has_mark ? nino_node_state_spoken(v->mark.state) : "",
        v->made ? _(", shows what it made") : "", v->is_selected ? _(", selected") : "");
    gtk_accessible_update_property(GTK_ACCESSIBLE(v), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

void nino_node_view_describe(NinoNodeView *v)
{
    GString *s = g_string_new(v->ahead == NINO_AHEAD_RUN    ? _("would run")
                              : v->ahead == NINO_AHEAD_KEPT ? _("its result is there")
                                                            : "");
    gboolean is_first = TRUE;
    if (v->error)
        g_string_assign(s, v->error);
    for (guint i = 0; i < v->rows->len; i++) {
        const Row *r = ROWS(v, i);
        if (!r->is_changed)
            continue;
        g_string_append(s, is_first ? (s->len ? "; " : "") : ", ");
        if (is_first)
            g_string_append(s, _("changed since the last run: "));
        g_string_append(s, r->label);
        is_first = FALSE;
    }
    gtk_accessible_update_property(GTK_ACCESSIBLE(v), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, s->str,
                                   -1);
    g_string_free(s, TRUE);
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
void nino_node_view_place_again(NinoNodeView *v, const nino_doc_node *n)
{
    v->height = n->height + nino_node_view_title_height(v);
    nino_node_view_place_rows(v);
    tie_rows(v, n);
    gtk_widget_queue_resize(GTK_WIDGET(v));
    gtk_widget_queue_draw(GTK_WIDGET(v));
}

static void node_view_read_node(NinoNodeView *v, const nino_doc_node *n)
{
    g_free(v->title);
    g_free(v->color);
    g_free(v->bgcolor);
    v->title = g_strdup(n->title);
    v->color = g_strdup(n->color);
    v->bgcolor = g_strdup(n->bgcolor);
    v->kind = n->kind;
    const nino_node_def *def = nino_node_find(n->type, NULL);
    v->category = nino_category_of(def ? def->category : NULL);
    v->mode = n->mode;
    v->is_collapsed = n->is_collapsed && n->kind != NINO_DOC_REROUTE;
    v->is_pinned = n->is_pinned;
    v->x = n->x;
    v->y = nino_node_view_is_end(v) ? n->y : n->y - nino_node_view_title_height(v);
    v->width =
        nino_node_view_is_end(v) ? 150 : MAX(n->width, n->kind == NINO_DOC_REROUTE ? 75 : 140);
    v->height = n->height + nino_node_view_title_height(v);
    read_slots(v, n);
    if (v->is_collapsed)
        v->width = collapsed_width(v);
    nino_node_view_place_rows(v);
    tie_rows(v, n);
}

// The picture that a node loads, once it was seen.
static void node_view_load_picture(NinoNodeView *v, const nino_doc_node *n)
{
    g_autofree char *path = NULL;
    for (int i = 0; i < n->n_widgets && !path; i++)
        path = nino_folders_input_path(&n->widgets[i]);
    if (!g_strcmp0(path, v->loaded_path))
        return;
    g_free(v->loaded_path);
    v->loaded_path = g_strdup(path);
    g_clear_object(&v->loaded);
    const gboolean is_picture = path && !g_str_has_suffix(path, ".latent");
    v->loaded = is_picture ? nino_small_picture_load(path) : NULL;
    nino_node_view_place_again(v, n);
}

static void update_editors(NinoNodeView *v, const nino_doc_node *n)
{
    gboolean differs = FALSE;
    if (v->has_editors)
        node_view_load_picture(v, n);
    for (guint i = 0; i < v->rows->len; i++) {
        Row *r = ROWS(v, i);
        const nino_doc_widget *w = nino_doc_widget_find(n, r->name);
        if (w && r->editor)
            nino_editor_update(r->editor, w);
        const char *sent =
            w && !r->is_control && v->host->sent ? v->host->sent(v->user, v->id, r->name) : NULL;
        const gboolean is_changed = sent && strcmp(sent, w->text) != 0;
        differs |= is_changed != r->is_changed;
        r->is_changed = is_changed;
    }
    if (differs) {
        nino_node_view_describe(v);
        gtk_widget_queue_draw(GTK_WIDGET(v));
    }
}

static void on_node_view_edit(gpointer user, const char *name, NinoEditKind kind, const char *text)
{
    NinoNodeView *v = user;
    v->host->edit(v->user, v->id, name, kind, text);
}

// Editors exist from the first time that the node is seen in full.
void nino_node_view_need_editors(NinoNodeView *v)
{
    const nino_doc_node *n =
        v->has_editors || v->is_collapsed ? NULL : v->host->find(v->user, v->id);
    if (!n)
        return;
    v->has_editors = TRUE;
    for (guint i = 0; i < v->rows->len; i++) {
        Row *r = ROWS(v, i);
        const nino_doc_widget *w = nino_doc_widget_find(n, r->name);
        if (!w)
            continue;
        r->editor = r->is_control ? nino_editor_new_control(w, on_node_view_edit, v)
                                  : nino_editor_new(w, TRUE, on_node_view_edit, v);
        if (r->is_text && !strcmp(n->type, "MarkdownNote"))
            r->editor = nino_editor_as_note(r->editor);
        gtk_widget_set_parent(r->editor, GTK_WIDGET(v));
        nino_graph_keep_ltr(r->editor);
        gtk_widget_set_child_visible(r->editor, v->detail == NINO_DETAIL_FULL);
    }
    node_view_load_picture(v, n);
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
        node_view_read_node(v, n);
        nino_node_view_name_it(v);
        for (guint i = 0; i < v->rows->len; i++)
            if (ROWS(v, i)->editor)
                gtk_widget_set_child_visible(ROWS(v, i)->editor,
                                             v->detail == NINO_DETAIL_FULL && !v->is_collapsed);
        gtk_widget_queue_resize(GTK_WIDGET(v));
    }
    update_editors(v, n);
    if (!same_rows && v->detail == NINO_DETAIL_FULL && gtk_widget_get_mapped(GTK_WIDGET(v)))
        nino_node_view_need_editors(v);
}

// ---- widget ----------------------------------------------------------------------------------

static void node_view_size_allocate(GtkWidget *w, int width, int height, int baseline)
{
    NinoNodeView *v = NINO_NODE_VIEW(w);
    double x, area;
    (void) width, (void) height, (void) baseline;
    nino_node_view_label_area(v, &x, &area);
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

static void node_view_measure(GtkWidget *w, GtkOrientation o, int for_size, int *min, int *nat,
                              int *min_base, int *nat_base)
{
    const NinoNodeView *v = NINO_NODE_VIEW(w);
    (void) for_size;
    *min = *nat = (int) ceil(o == GTK_ORIENTATION_HORIZONTAL ? v->width : v->height);
    *min_base = *nat_base = -1;
}

// Its error hangs below it and has its tooltip, too.
static gboolean node_view_contains(GtkWidget *w, double x, double y)
{
    const NinoNodeView *v = NINO_NODE_VIEW(w);
    const graphene_rect_t error = nino_node_view_error_box(v);
    return (x >= 0 && y >= 0 && x < v->width && y < v->height) ||
           (error.size.height > 0 &&
            graphene_rect_contains_point(&error, &GRAPHENE_POINT_INIT((float) x, (float) y)));
}

static void map(GtkWidget *w)
{
    NinoNodeView *v = NINO_NODE_VIEW(w);
    if (v->detail == NINO_DETAIL_FULL)
        nino_node_view_need_editors(v);
    GTK_WIDGET_CLASS(nino_node_view_parent_class)->map(w);
}

static void on_node_view_focus(GtkWidget *w, GParamSpec *spec, gpointer user)
{
    (void) spec, (void) user;
    gtk_widget_queue_draw(w);
}

static void node_view_dispose(GObject *o)
{
    NinoNodeView *v = NINO_NODE_VIEW(o);
    if (v->rows)
        g_array_set_size(v->rows, 0);
    G_OBJECT_CLASS(nino_node_view_parent_class)->dispose(o);
}

static void node_view_finalize(GObject *o)
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
    G_OBJECT_CLASS(klass)->dispose = node_view_dispose;
    G_OBJECT_CLASS(klass)->finalize = node_view_finalize;
    wc->snapshot = nino_node_view_snapshot;
    wc->size_allocate = node_view_size_allocate;
    wc->measure = node_view_measure;
    wc->contains = node_view_contains;
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
    cairo_font_options_t *font = cairo_font_options_create();
    cairo_font_options_set_hint_style(
        font, CAIRO_HINT_STYLE_NONE); // no letter loses its top where it is scaled
    gtk_widget_set_font_options(GTK_WIDGET(v), font);
    cairo_font_options_destroy(font);
    gtk_widget_set_focusable(GTK_WIDGET(v), TRUE);
    nino_graph_keep_ltr(GTK_WIDGET(v));
    g_signal_connect(v, "notify::has-focus", G_CALLBACK(on_node_view_focus), NULL);
}

GtkWidget *nino_node_view_new(const nino_doc_node *n, const NinoNodeHost *host, gpointer user)
{
    NinoNodeView *v = g_object_new(NINO_TYPE_NODE_VIEW, NULL);
    v->id = g_strdup(n->id);
    v->host = host;
    v->user = user;
    nino_node_view_update(v, n);
    return GTK_WIDGET(v);
}
