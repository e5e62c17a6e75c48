// Keys of the canvas: arrows and Tab between nodes, Enter into one, Escape out of an editor.
#include "graph/canvas_priv.h"

#include <math.h>

static int focused_node(NinoCanvas *c)
{
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(c));
    GtkWidget *w = root ? gtk_root_get_focus(root) : NULL;
    return w && NINO_IS_NODE_VIEW(w) ? nino_canvas_number_of(c, NINO_NODE_VIEW(w)) : -1;
}

static void focus_node(NinoCanvas *c, int node)
{
    NinoNodeView *v = nino_canvas_view(c, node);
    if (!v)
        return;
    nino_canvas_select_only(c, nino_node_view_id(v));
    nino_canvas_reveal(c, v);
    gtk_widget_grab_focus(GTK_WIDGET(v));
}

// The nearest node in a direction: far along it counts less than far beside it.
static int neighbour(NinoCanvas *c, int from, double dx, double dy)
{
    graphene_rect_t box;
    graphene_point_t a, b;
    int best = -1;
    double least = INFINITY;
    nino_node_view_get_box(nino_canvas_view(c, from), &box);
    graphene_rect_get_center(&box, &a);
    for (int i = 0; i < (int) c->views->len; i++) {
        nino_node_view_get_box(nino_canvas_view(c, i), &box);
        graphene_rect_get_center(&box, &b);
        const double along = (b.x - a.x) * dx + (b.y - a.y) * dy;
        const double beside = fabs((b.x - a.x) * dy) + fabs((b.y - a.y) * dx);
        if (i != from && along > 1 && along + 2.5 * beside < least) {
            best = i;
            least = along + 2.5 * beside;
        }
    }
    return best;
}

static void nudge(NinoCanvas *c, double dx, double dy)
{
    size_t n = 0;
    nino_error err = { 0 };
    g_autofree const char **ids = nino_canvas_selected_ids(c, &n);
    if (n)
        nino_canvas_did(c, nino_document_move(c->doc, ids, n, dx * 20, dy * 20, &err), &err);
}

static gboolean on_arrow(NinoCanvas *c, double dx, double dy, GdkModifierType mods)
{
    const int at = focused_node(c);
    if (mods & GDK_SHIFT_MASK) {
        nudge(c, dx, dy);
    } else if (at >= 0) {
        focus_node(c, neighbour(c, at, dx, dy));
    } else {
        c->ox -= dx * 60;
        c->oy -= dy * 60;
        nino_canvas_moved(c);
    }
    return TRUE;
}

static gboolean on_tab(NinoCanvas *c, int step)
{
    const int n = (int) c->views->len, at = focused_node(c);
    if (!n || at + step < 0 || at + step >= n) // out of the canvas
        return FALSE;
    focus_node(c, at + step);
    return TRUE;
}

static gboolean on_node_key(NinoCanvas *c, guint key, GdkModifierType mods)
{
    switch (key) {
    case GDK_KEY_Left: return on_arrow(c, -1, 0, mods);
    case GDK_KEY_Right: return on_arrow(c, 1, 0, mods);
    case GDK_KEY_Up: return on_arrow(c, 0, -1, mods);
    case GDK_KEY_Down: return on_arrow(c, 0, 1, mods);
    case GDK_KEY_Tab: return !(mods & GDK_CONTROL_MASK) && on_tab(c, 1);
    case GDK_KEY_ISO_Left_Tab: return !(mods & GDK_CONTROL_MASK) && on_tab(c, -1);
    case GDK_KEY_space: c->is_space_down = TRUE; return TRUE;
    case GDK_KEY_Return:
    case GDK_KEY_KP_Enter: {
        NinoNodeView *v = nino_canvas_view(c, focused_node(c));
        const nino_doc_node *n = nino_document_node(c->doc, focused_node(c));
        if (mods & (GDK_CONTROL_MASK | GDK_ALT_MASK) || !v)
            return FALSE;
        if (n->kind == NINO_DOC_SUBGRAPH && !n->n_widgets)
            gtk_widget_activate_action(GTK_WIDGET(c), "canvas.enter", NULL);
        else if (c->detail != NINO_DETAIL_FULL)
            nino_canvas_set_zoom(c, 1);
        nino_canvas_reveal(c, v);
        return nino_node_view_edit(v);
    }
    default: return FALSE;
    }
}

static gboolean on_key(GtkEventControllerKey *k, guint key, guint code, GdkModifierType mods,
                       gpointer user)
{
    NinoCanvas *c = user;
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(c));
    GtkWidget *w = root ? gtk_root_get_focus(root) : NULL;
    (void) k, (void) code;
    if (!c->doc || !w)
        return FALSE;
    if (key == GDK_KEY_Escape && w != GTK_WIDGET(c) && !NINO_IS_NODE_VIEW(w)) {
        GtkWidget *v = gtk_widget_get_ancestor(w, NINO_TYPE_NODE_VIEW); // out of an editor
        return v && gtk_widget_grab_focus(v);
    }
    if (w != GTK_WIDGET(c) && !NINO_IS_NODE_VIEW(w))
        return FALSE;
    return on_node_key(c, key, mods);
}

static void on_key_up(GtkEventControllerKey *k, guint key, guint code, GdkModifierType mods,
                      gpointer user)
{
    (void) k, (void) code, (void) mods;
    if (key == GDK_KEY_space)
        NINO_CANVAS(user)->is_space_down = FALSE;
}

void nino_canvas_add_keys(NinoCanvas *c)
{
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), c);
    g_signal_connect(keys, "key-released", G_CALLBACK(on_key_up), c);
    gtk_widget_add_controller(GTK_WIDGET(c), keys);
}
