// The canvas widget: nodes of the document as children; canvas_selection.c has the selection,
// canvas_place.c place and zoom.
#include "canvas/canvas_priv.h"

#include <string.h>

#include "base/i18n.h"
#include "base/tokens.h"

G_DEFINE_TYPE(NinoCanvas, nino_canvas, GTK_TYPE_WIDGET)

enum { PROP_0, PROP_ZOOM };
static guint signals[N_SIGNALS];

NinoNodeView *nino_canvas_node(NinoCanvas *c, int node)
{
    return node >= 0 && node < (int) c->nodes->len ? g_ptr_array_index(c->nodes, (guint) node)
                                                   : NULL;
}

CanvasScene nino_canvas_scene(NinoCanvas *c)
{
    return (CanvasScene){ c->doc, c->nodes, c->selected, &c->spots, &c->view };
}

void nino_canvas_selection_changed(NinoCanvas *c)
{
    nino_canvas_enable_actions(c);
    for (guint i = 0; i < c->nodes->len; i++) {
        NinoNodeView *v = g_ptr_array_index(c->nodes, i);
        nino_node_view_set_selected(v, g_hash_table_contains(c->selected, nino_node_view_id(v)));
    }
    gtk_widget_queue_draw(GTK_WIDGET(c));
    g_signal_emit(c, signals[SIGNAL_SELECTION], 0);
}

// ---- the document ----------------------------------------------------------------------------

gboolean nino_canvas_did(NinoCanvas *c, nino_status st, const nino_error *err)
{
    if (st) {
        g_autofree char *text =
            *err->where ? g_strdup_printf("%s: %s", err->where, err->msg) : g_strdup(err->msg);
        g_signal_emit(c, signals[SIGNAL_PROBLEM], 0, text);
        return FALSE;
    }
    nino_canvas_changed(c);
    return TRUE;
}

static void on_canvas_edit(gpointer user, const char *id, const char *name, NinoEditKind kind,
                           const char *text)
{
    NinoCanvas *c = user;
    nino_error err = { 0 };
    if (!c->doc) // the editor goes with it
        return;
    if (kind == NINO_EDIT_DONE)
        nino_document_seal(c->doc);
    else if (kind == NINO_EDIT_REFUSED)
        g_signal_emit(c, signals[SIGNAL_PROBLEM], 0, text);
    else if (kind == NINO_EDIT_CONTROL)
        nino_canvas_did(c, nino_document_set_control(c->doc, id, name, text, &err), &err);
    else
        nino_canvas_did(c, nino_document_set_text(c->doc, id, name, text, &err), &err);
}

static const nino_doc_node *canvas_find_node(gpointer user, const char *id)
{
    nino_document *d = NINO_CANVAS(user)->doc;
    return d ? nino_document_node(d, nino_document_find(d, id)) : NULL;
}

static const NinoNodeHost node_host = { .edit = on_canvas_edit,
                                        .find = canvas_find_node,
                                        .sent = nino_canvas_sent,
                                        .room = nino_canvas_room };

static void on_level(GtkButton *button, gpointer user)
{
    NinoCanvas *c = user;
    nino_error err = { 0 };
    const int keep = GPOINTER_TO_INT(g_object_get_data(G_OBJECT(button), "level"));
    const int levels = nino_document_depth(c->doc) - keep;
    if (levels > 0)
        nino_canvas_did(c, nino_document_leave(c->doc, levels, &err), &err);
}

// Workflow › Upscale › ...
static void show_path(NinoCanvas *c)
{
    const int depth = c->doc ? nino_document_depth(c->doc) : 0;
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(c->bar)))
        gtk_box_remove(GTK_BOX(c->bar), child);
    gtk_widget_set_visible(c->bar, depth > 0);
    for (int i = 0; i <= depth && depth; i++) {
        const char *name = i ? nino_document_level_name(c->doc, i - 1) : _("Workflow");
        GtkWidget *b = gtk_button_new_with_label(name ? name : "");
        if (i)
            gtk_box_append(GTK_BOX(c->bar), gtk_label_new("›"));
        gtk_button_set_has_frame(GTK_BUTTON(b), FALSE);
        gtk_widget_set_sensitive(b, i < depth);
        g_object_set_data(G_OBJECT(b), "level", GINT_TO_POINTER(i));
        g_signal_connect(b, "clicked", G_CALLBACK(on_level), c);
        gtk_box_append(GTK_BOX(c->bar), b);
    }
}

static char *prefix_of(nino_document *d)
{
    GString *s = g_string_new(NULL);
    for (int i = 0; d && i < nino_document_depth(d); i++)
        g_string_append_printf(s, "%s:", nino_document_level_id(d, i));
    return g_string_free(s, FALSE);
}

static void drop_view(gpointer p)
{
    gtk_widget_unparent(p);
    g_object_unref(p);
}

// Another place of the workflow: ids mean other nodes.
static gboolean change_place(NinoCanvas *c)
{
    char *prefix = prefix_of(c->doc);
    const gboolean same = !strcmp(prefix, c->prefix);
    g_free(c->prefix);
    c->prefix = prefix;
    show_path(c);
    if (same)
        return FALSE;
    g_ptr_array_set_size(c->nodes, 0);
    nino_canvas_spots_clear(&c->spots);
    g_hash_table_remove_all(c->by_id);
    nino_canvas_unselect(c);
    return TRUE;
}

static gboolean is_gone(gpointer id, gpointer value, gpointer by_id)
{
    (void) value;
    return !g_hash_table_contains(by_id, id);
}

static gboolean has_focus(NinoCanvas *c)
{
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(c));
    GtkWidget *w = root ? gtk_root_get_focus(root) : NULL;
    return w && (w == GTK_WIDGET(c) || gtk_widget_is_ancestor(w, GTK_WIDGET(c)));
}

void nino_canvas_sync(NinoCanvas *c)
{
    const gboolean had_focus = has_focus(c);
    const int n = c->doc ? nino_document_n_nodes(c->doc) : 0;
    const gboolean is_new = change_place(c);
    GPtrArray *views = g_ptr_array_new_with_free_func(drop_view);
    GHashTable *by_id = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (int i = 0; i < n; i++) {
        const nino_doc_node *node = nino_document_node(c->doc, i);
        NinoNodeView *v = g_hash_table_lookup(c->by_id, node->id);
        if (v) {
            g_object_ref(v);
            nino_node_view_update(v, node);
        } else {
            v = NINO_NODE_VIEW(nino_node_view_new(node, &node_host, c));
            g_object_ref_sink(v);
            gtk_widget_set_child_visible(GTK_WIDGET(v), FALSE);
            gtk_widget_insert_before(GTK_WIDGET(v), GTK_WIDGET(c), c->bar);
        }
        g_ptr_array_add(views, v);
        g_hash_table_insert(by_id, g_strdup(node->id), v);
    }
    for (guint i = 0; i < c->nodes->len; i++) { // those that stay must not be unparented
        NinoNodeView *v = g_ptr_array_index(c->nodes, i);
        if (g_hash_table_lookup(by_id, nino_node_view_id(v)) == v) {
            g_object_unref(v);
            c->nodes->pdata[i] = NULL;
        }
    }
    g_ptr_array_set_free_func(c->nodes, NULL);
    for (guint i = 0; i < c->nodes->len; i++)
        if (c->nodes->pdata[i])
            drop_view(c->nodes->pdata[i]);
    g_ptr_array_unref(c->nodes);
    g_hash_table_unref(c->by_id);
    c->nodes = views;
    c->by_id = by_id;
    g_hash_table_foreach_remove(c->selected, is_gone, by_id);
    nino_canvas_spots_sync(&c->spots, c->doc, c->nodes, GTK_WIDGET(c), c->bar);
    nino_canvas_selection_changed(c);
    nino_canvas_show_marks(c);
    if (is_new)
        nino_canvas_first_view(c);
    nino_canvas_moved(c);
    if (had_focus && !has_focus(c)) // what had it is gone
        gtk_widget_grab_focus(GTK_WIDGET(c));
}

void nino_canvas_changed(NinoCanvas *c)
{
    c->view.fitted.zoom = 0; // who edits has the view where it is wanted
    nino_canvas_sync(c);
    g_signal_emit(c, signals[SIGNAL_CHANGED], 0);
}

void nino_canvas_refresh(NinoCanvas *c) { nino_canvas_sync(c); }

void nino_canvas_set_document(NinoCanvas *c, nino_document *d)
{
    c->doc = NULL;
    nino_canvas_sync(c);
    nino_canvas_unselect(c);
    g_hash_table_remove_all(c->marks); // ids mean other nodes now
    g_hash_table_remove_all(c->issues);
    g_hash_table_remove_all(c->pictures);
    g_hash_table_remove_all(c->ahead);
    g_hash_table_remove_all(c->sent);
    c->doc = d;
    nino_canvas_sync(c);
    nino_canvas_first_view(c);
}

nino_document *nino_canvas_get_document(NinoCanvas *c) { return c->doc; }

gboolean nino_canvas_show_node(NinoCanvas *c, const char *node_id)
{
    g_auto(GStrv) path = g_strsplit(node_id, ":", -1);
    nino_error err = { 0 };
    const guint n = g_strv_length(path);
    if (!c->doc || !n)
        return FALSE;
    g_autofree char *inside = prefix_of(c->doc);
    g_autofree char *wanted = g_strconcat(inside, path[n - 1], NULL);
    if (strcmp(wanted, node_id) != 0) { // it is somewhere else
        if (nino_document_leave(c->doc, nino_document_depth(c->doc), &err))
            return FALSE;
        for (guint i = 0; i + 1 < n; i++)
            if (nino_document_enter(c->doc, path[i], &err))
                break;
        nino_canvas_changed(c);
    }
    NinoNodeView *v = g_hash_table_lookup(c->by_id, path[n - 1]);
    if (!v)
        return FALSE;
    nino_canvas_select_only(c, path[n - 1]);
    if (c->view.zoom < 0.5)
        nino_canvas_set_zoom(c, 0.8);
    nino_canvas_reveal_node(c, v);
    gtk_widget_grab_focus(GTK_WIDGET(v));
    return TRUE;
}

// ---- widget ----------------------------------------------------------------------------------

static void canvas_size_allocate(GtkWidget *w, int width, int height, int baseline)
{
    NinoCanvas *c = NINO_CANVAS(w);
    const gboolean is_resized = c->view.width != width || c->view.height != height;
    (void) baseline;
    c->view.width = width;
    c->view.height = height;
    for (guint i = 0; i < c->nodes->len; i++) {
        GtkWidget *v = g_ptr_array_index(c->nodes, i);
        graphene_rect_t box;
        if (!gtk_widget_get_child_visible(v))
            continue;
        nino_node_view_get_box(NINO_NODE_VIEW(v), &box);
        int min_w, min_h;
        gtk_widget_measure(v, GTK_ORIENTATION_HORIZONTAL, -1, &min_w, NULL, NULL, NULL);
        gtk_widget_measure(v, GTK_ORIENTATION_VERTICAL, -1, &min_h, NULL, NULL, NULL);
        GskTransform *t = gsk_transform_translate(
            NULL, &GRAPHENE_POINT_INIT((float) (box.origin.x * c->view.zoom + c->view.x),
                                       (float) (box.origin.y * c->view.zoom + c->view.y)));
        t = gsk_transform_scale(t, (float) c->view.zoom, (float) c->view.zoom);
        gtk_widget_allocate(v, min_w, min_h, -1, t);
    }
    nino_canvas_spots_allocate(&c->spots, &c->view);
    if (gtk_widget_get_visible(c->bar)) {
        GtkRequisition r;
        gtk_widget_get_preferred_size(c->bar, &r, NULL);
        gtk_widget_allocate(c->bar, r.width, r.height, -1,
                            gsk_transform_translate(NULL, &GRAPHENE_POINT_INIT(10, 10)));
    }
    if (c->popover)
        gtk_popover_present(GTK_POPOVER(c->popover));
    if (!c->moved_source && is_resized)
        c->moved_source = g_idle_add_full(G_PRIORITY_HIGH_IDLE, nino_canvas_moved_later, c, NULL);
}

static void canvas_measure(GtkWidget *w, GtkOrientation o, int for_size, int *min, int *nat,
                           int *min_base, int *nat_base)
{
    (void) w, (void) for_size;
    *min = 160;
    *nat = o == GTK_ORIENTATION_HORIZONTAL ? 800 : 600;
    *min_base = *nat_base = -1;
}

static void canvas_snapshot(GtkWidget *w, GtkSnapshot *s) { nino_canvas_draw(NINO_CANVAS(w), s); }

static void get_property(GObject *o, guint id, GValue *value, GParamSpec *spec)
{
    if (id == PROP_ZOOM)
        g_value_set_double(value, NINO_CANVAS(o)->view.zoom);
    else
        G_OBJECT_WARN_INVALID_PROPERTY_ID(o, id, spec);
}

static void set_property(GObject *o, guint id, const GValue *value, GParamSpec *spec)
{
    if (id == PROP_ZOOM)
        nino_canvas_set_zoom(NINO_CANVAS(o), g_value_get_double(value));
    else
        G_OBJECT_WARN_INVALID_PROPERTY_ID(o, id, spec);
}

static void canvas_dispose(GObject *o)
{
    NinoCanvas *c = NINO_CANVAS(o);
    if (c->mark_source)
        g_source_remove(c->mark_source);
    if (c->moved_source)
        g_source_remove(c->moved_source);
    c->mark_source = c->moved_source = 0;
    c->doc = NULL;
    if (c->nodes)
        g_ptr_array_set_size(c->nodes, 0);
    nino_canvas_spots_clear(&c->spots);
    g_clear_pointer(&c->popover, gtk_widget_unparent);
    g_clear_weak_pointer(&c->focus_before);
    g_clear_pointer(&c->bar, gtk_widget_unparent);
    G_OBJECT_CLASS(nino_canvas_parent_class)->dispose(o);
}

static void canvas_finalize(GObject *o)
{
    NinoCanvas *c = NINO_CANVAS(o);
    nino_canvas_kept_release(&c->grid);
    nino_canvas_kept_release(&c->links.drawn);
    g_ptr_array_unref(c->nodes);
    nino_canvas_spots_release(&c->spots);
    g_hash_table_unref(c->by_id);
    g_hash_table_unref(c->selected);
    g_hash_table_unref(c->marks);
    g_hash_table_unref(c->issues);
    g_hash_table_unref(c->pictures);
    g_hash_table_unref(c->ahead);
    g_hash_table_unref(c->sent);
    g_array_unref(c->moved);
    g_free(c->prefix);
    G_OBJECT_CLASS(nino_canvas_parent_class)->finalize(o);
}

static void nino_canvas_class_init(NinoCanvasClass *klass)
{
    GtkWidgetClass *wc = GTK_WIDGET_CLASS(klass);
    GObjectClass *oc = G_OBJECT_CLASS(klass);
    oc->dispose = canvas_dispose;
    oc->finalize = canvas_finalize;
    oc->get_property = get_property;
    oc->set_property = set_property;
    wc->size_allocate = canvas_size_allocate;
    wc->measure = canvas_measure;
    wc->snapshot = canvas_snapshot;
    g_object_class_install_property(
        oc, PROP_ZOOM,
        g_param_spec_double("zoom", NULL, NULL, NINO_CANVAS_MIN_ZOOM, NINO_CANVAS_MAX_ZOOM, 1,
                            G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS));
    const GType t = NINO_TYPE_CANVAS;
    signals[SIGNAL_CHANGED] =
        g_signal_new("changed", t, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
    signals[SIGNAL_SELECTION] =
        g_signal_new("selection", t, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
    signals[SIGNAL_PROBLEM] = g_signal_new("problem", t, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                           G_TYPE_NONE, 1, G_TYPE_STRING);
    gtk_widget_class_set_css_name(wc, "ninocanvas");
    gtk_widget_class_set_accessible_role(wc, GTK_ACCESSIBLE_ROLE_GROUP);
    nino_canvas_add_actions(wc);
}

static void nino_canvas_init(NinoCanvas *c)
{
    nino_graph_add_css();
    c->view.zoom = 1;
    c->prefix = g_strdup("");
    c->has_minimap = TRUE;
    c->links.cut_node = -1;
    c->nodes = g_ptr_array_new_with_free_func(drop_view);
    nino_canvas_spots_init(&c->spots);
    c->by_id = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    c->selected = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    c->marks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, nino_canvas_free_mark);
    c->issues = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    c->pictures = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_object_unref);
    c->ahead = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    c->sent = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    c->moved = g_array_new(FALSE, FALSE, sizeof(CanvasMoved));
    c->bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_HAIR);
    gtk_widget_add_css_class(c->bar, "canvasbar");
    gtk_widget_set_visible(c->bar, FALSE);
    gtk_widget_set_parent(c->bar, GTK_WIDGET(c));
    gtk_widget_set_focusable(GTK_WIDGET(c), TRUE);
    gtk_widget_set_hexpand(GTK_WIDGET(c), TRUE);
    gtk_widget_set_vexpand(GTK_WIDGET(c), TRUE);
    gtk_widget_set_overflow(GTK_WIDGET(c), GTK_OVERFLOW_HIDDEN);
    nino_graph_keep_ltr(GTK_WIDGET(c));
    gtk_accessible_update_property(GTK_ACCESSIBLE(c), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Workflow canvas"), -1);
    nino_canvas_add_input(c);
    nino_canvas_take_items(c);
    nino_canvas_take_files(c);
}

GtkWidget *nino_canvas_new(void) { return g_object_new(NINO_TYPE_CANVAS, NULL); }
