// Keys of the canvas: Tab and arrows between nodes, groups and points of links, with Ctrl without
// selecting; Shift with arrows moves, with Ctrl too resizes; Shift with Space selects more; Enter
// goes into a node, Escape out of an editor, the selection, the subgraph.
#include "canvas/canvas_priv.h"

#include <math.h>

enum { STEP = 20 }; // in the workflow

// What the focus goes to by Tab and arrows: the nodes, then groups and points of links.
static int n_stops(NinoCanvas *c) { return (int) (c->nodes->len + c->spots.all->len); }

static GtkWidget *canvas_keys_stop(NinoCanvas *c, int i)
{
    const int n = (int) c->nodes->len;
    return i < n ? g_ptr_array_index(c->nodes, (guint) i)
                 : g_ptr_array_index(c->spots.all, (guint) (i - n));
}

static graphene_rect_t stop_box(NinoCanvas *c, int i)
{
    GtkWidget *w = canvas_keys_stop(c, i);
    graphene_rect_t box;
    if (NINO_IS_SPOT(w))
        return nino_canvas_spots_handle(&c->spots, NINO_SPOT(w));
    nino_node_view_get_box(NINO_NODE_VIEW(w), &box);
    return box;
}

static int focused_stop(NinoCanvas *c)
{
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(c));
    GtkWidget *w = root ? gtk_root_get_focus(root) : NULL;
    for (int i = 0; i < n_stops(c); i++)
        if (canvas_keys_stop(c, i) == w)
            return i;
    return -1;
}

static void select_stop(NinoCanvas *c, int i, gboolean selected)
{
    GtkWidget *w = canvas_keys_stop(c, i);
    if (NINO_IS_SPOT(w))
        nino_canvas_select_spot(c, NINO_SPOT(w), selected);
    else
        nino_canvas_toggle(c, nino_node_view_id(NINO_NODE_VIEW(w)), selected);
}

static void focus_stop(NinoCanvas *c, int i, gboolean keeps_selection)
{
    if (i < 0)
        return;
    const graphene_rect_t box = stop_box(c, i);
    if (!keeps_selection) {
        nino_canvas_unselect(c);
        select_stop(c, i, TRUE);
    }
    nino_canvas_reveal(c, &box);
    gtk_widget_grab_focus(canvas_keys_stop(c, i));
}

void nino_canvas_focus_spot(NinoCanvas *c, NinoSpot *s)
{
    for (int i = 0; i < n_stops(c); i++)
        if (canvas_keys_stop(c, i) == GTK_WIDGET(s))
            focus_stop(c, i, FALSE);
}

// The nearest one in a direction: far along it counts less than far beside it.
static int neighbour(NinoCanvas *c, int from, double dx, double dy)
{
    graphene_rect_t box = stop_box(c, from);
    graphene_point_t a, b;
    int best = -1;
    double least = INFINITY;
    graphene_rect_get_center(&box, &a);
    for (int i = 0; i < n_stops(c); i++) {
        box = stop_box(c, i);
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

// ---- moving and resizing ---------------------------------------------------------------------

static void nudge(NinoCanvas *c, double dx, double dy)
{
    nino_canvas_take_selection(c);
    nino_canvas_drop_selection(c, dx * STEP, dy * STEP);
}

// Of the node or group that has the focus.
static void resize(NinoCanvas *c, double dx, double dy)
{
    const int at = focused_stop(c);
    nino_error err = { 0 };
    if (at < 0)
        return;
    if (at < (int) c->nodes->len) {
        const nino_doc_node *n = nino_document_node(c->doc, at);
        NinoNodeView *v = NINO_NODE_VIEW(canvas_keys_stop(c, at));
        const graphene_rect_t box = stop_box(c, at);
        if (!nino_node_view_is_resize_corner(v, box.size.width - 1, box.size.height - 1))
            return;
        nino_node_view_set_size(v, box.size.width + dx * STEP, box.size.height + dy * STEP);
        const graphene_rect_t now = stop_box(c, at);
        nino_canvas_did(c,
                        nino_document_resize(c->doc, n->id, rint(now.size.width),
                                             rint(now.size.height - NINO_NODE_TITLE), &err),
                        &err);
    } else if (NINO_SPOT(canvas_keys_stop(c, at))->is_group) {
        const int number = NINO_SPOT(canvas_keys_stop(c, at))->number;
        const nino_doc_group *g = nino_document_group(c->doc, number);
        nino_canvas_did(c,
                        nino_document_place_group(c->doc, number, g->x, g->y,
                                                  MAX(g->width + dx * STEP, NINO_GROUP_MIN_WIDTH),
                                                  MAX(g->height + dy * STEP, NINO_GROUP_MIN_HEIGHT),
                                                  &err),
                        &err);
    }
}

// ---- keys ------------------------------------------------------------------------------------

static gboolean on_arrow(NinoCanvas *c, double dx, double dy, GdkModifierType mods)
{
    const int at = focused_stop(c);
    const gboolean with_control = (mods & GDK_CONTROL_MASK) != 0;
    if (mods & GDK_ALT_MASK)
        return FALSE;
    if (mods & GDK_SHIFT_MASK) {
        with_control ? resize(c, dx, dy) : nudge(c, dx, dy);
    } else if (at >= 0) {
        focus_stop(c, neighbour(c, at, dx, dy), with_control);
    } else {
        c->view.x -= dx * 60;
        c->view.y -= dy * 60;
        nino_canvas_moved(c);
    }
    return TRUE;
}

static gboolean on_tab(NinoCanvas *c, int step)
{
    const int n = n_stops(c), at = focused_stop(c);
    if (!n || at + step < 0 || at + step >= n) // out of the canvas
        return FALSE;
    focus_stop(c, at + step, FALSE);
    return TRUE;
}

static gboolean on_space(NinoCanvas *c, GdkModifierType mods)
{
    const int at = focused_stop(c);
    if (!(mods & GDK_SHIFT_MASK)) {
        c->is_space_down = TRUE; // the pointer pans
    } else if (at >= 0) {
        GtkWidget *w = canvas_keys_stop(c, at);
        select_stop(c, at,
                    NINO_IS_SPOT(w) ? !NINO_SPOT(w)->is_selected
                                    : !g_hash_table_contains(c->selected,
                                                             nino_node_view_id(NINO_NODE_VIEW(w))));
    }
    return TRUE;
}

static gboolean on_canvas_keys_enter(NinoCanvas *c, GdkModifierType mods)
{
    const int at = focused_stop(c);
    NinoNodeView *v = nino_canvas_node(c, at);
    if (mods & (GDK_CONTROL_MASK | GDK_ALT_MASK) || at < 0)
        return FALSE;
    if (!v) {
        const NinoSpot *s = NINO_SPOT(canvas_keys_stop(c, at));
        nino_canvas_open_rename(c, -1, s->is_group ? s->number : -1);
        return TRUE;
    }
    const nino_doc_node *n = nino_document_node(c->doc, at);
    if (n->kind == NINO_DOC_SUBGRAPH && !n->n_widgets)
        gtk_widget_activate_action(GTK_WIDGET(c), "canvas.enter", NULL);
    else if (nino_canvas_view_detail(&c->view) != NINO_DETAIL_FULL)
        nino_canvas_set_zoom(c, 1);
    nino_canvas_reveal_node(c, v);
    return nino_node_view_edit(v);
}

// From the nodes to the canvas, and from there out of the subgraph.
static gboolean on_canvas_escape(NinoCanvas *c)
{
    const gboolean any = g_hash_table_size(c->selected) || nino_canvas_spots_n_selected(&c->spots);
    if (any) {
        gtk_widget_activate_action(GTK_WIDGET(c), "canvas.select-none", NULL);
        gtk_widget_grab_focus(GTK_WIDGET(c));
        return TRUE;
    }
    if (!nino_document_depth(c->doc))
        return FALSE;
    gtk_widget_activate_action(GTK_WIDGET(c), "canvas.leave", NULL);
    return TRUE;
}

static gboolean on_canvas_key(NinoCanvas *c, guint key, GdkModifierType mods)
{
    switch (key) {
    case GDK_KEY_Left: return on_arrow(c, -1, 0, mods);
    case GDK_KEY_Right: return on_arrow(c, 1, 0, mods);
    case GDK_KEY_Up: return on_arrow(c, 0, -1, mods);
    case GDK_KEY_Down: return on_arrow(c, 0, 1, mods);
    case GDK_KEY_Tab: return !(mods & GDK_CONTROL_MASK) && on_tab(c, 1);
    case GDK_KEY_ISO_Left_Tab: return !(mods & GDK_CONTROL_MASK) && on_tab(c, -1);
    case GDK_KEY_space: return on_space(c, mods);
    case GDK_KEY_Escape: return on_canvas_escape(c);
    case GDK_KEY_Return:
    case GDK_KEY_KP_Enter: return on_canvas_keys_enter(c, mods);
    default: return FALSE;
    }
}

static gboolean on_canvas_keys_key(GtkEventControllerKey *k, guint key, guint code,
                                   GdkModifierType mods, gpointer user)
{
    NinoCanvas *c = user;
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(c));
    GtkWidget *w = root ? gtk_root_get_focus(root) : NULL;
    (void) k, (void) code;
    if (!c->doc || !w)
        return FALSE;
    if (key == GDK_KEY_Escape && w != GTK_WIDGET(c) && !NINO_IS_NODE_VIEW(w) && !NINO_IS_SPOT(w)) {
        GtkWidget *v = gtk_widget_get_ancestor(w, NINO_TYPE_NODE_VIEW); // out of an editor
        return v && gtk_widget_grab_focus(v);
    }
    if (w != GTK_WIDGET(c) && !NINO_IS_NODE_VIEW(w) && !NINO_IS_SPOT(w))
        return FALSE;
    return on_canvas_key(c, key, mods);
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
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_canvas_keys_key), c);
    g_signal_connect(keys, "key-released", G_CALLBACK(on_key_up), c);
    gtk_widget_add_controller(GTK_WIDGET(c), keys);
}
