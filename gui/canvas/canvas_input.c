// What the pointer does. Scroll events carry no position, so the pointer is followed.
#include "canvas/canvas_priv.h"

#include <math.h>
#include <string.h>

// ---- what is under the pointer ---------------------------------------------------------------

// Is it an editor inside a node, which wants the drag itself?
static gboolean is_editor_at(NinoCanvas *c, double x, double y)
{
    GtkWidget *w = gtk_widget_pick(GTK_WIDGET(c), x, y, GTK_PICK_DEFAULT);
    return w && w != GTK_WIDGET(c) && !NINO_IS_NODE_VIEW(w);
}

// ---- box -------------------------------------------------------------------------------------

static void select_box(NinoCanvas *c)
{
    double x0, y0, x1, y1;
    graphene_rect_t area, box;
    nino_canvas_view_world(&c->view, MIN(c->x0, c->px), MIN(c->y0, c->py), &x0, &y0);
    nino_canvas_view_world(&c->view, MAX(c->x0, c->px), MAX(c->y0, c->py), &x1, &y1);
    area = GRAPHENE_RECT_INIT((float) x0, (float) y0, (float) (x1 - x0), (float) (y1 - y0));
    for (guint i = 0; i < c->nodes->len; i++) {
        NinoNodeView *v = g_ptr_array_index(c->nodes, i);
        nino_node_view_get_box(v, &box);
        if (graphene_rect_intersection(&area, &box, NULL))
            g_hash_table_add(c->selected, g_strdup(nino_node_view_id(v)));
    }
    nino_canvas_spots_select_in(&c->spots, &area);
    nino_canvas_selection_changed(c);
}

static void go_minimap(NinoCanvas *c, double sx, double sy)
{
    graphene_rect_t box, bounds;
    double scale;
    if (!nino_canvas_minimap_box(c, &box, &scale, &bounds))
        return;
    const double x = (sx - box.origin.x) / scale + bounds.origin.x;
    const double y = (sy - box.origin.y) / scale + bounds.origin.y;
    nino_canvas_view_center(&c->view, x, y);
    nino_canvas_moved(c);
}

// ---- drag ------------------------------------------------------------------------------------

static void begin_node(NinoCanvas *c, NinoNodeView *v, double x, double y, GdkModifierType mods)
{
    double lx, ly;
    const char *id = nino_node_view_id(v);
    const gboolean was = g_hash_table_contains(c->selected, id);
    nino_canvas_inside(c, v, x, y, &lx, &ly);
    gtk_widget_grab_focus(GTK_WIDGET(v));
    if (nino_canvas_begin_link(c, v, lx, ly))
        return;
    if (mods & (GDK_CONTROL_MASK | GDK_SHIFT_MASK))
        nino_canvas_toggle(c, id, !was);
    else if (!was)
        nino_canvas_select_only(c, id);
    c->target = v;
    c->drag = nino_node_view_is_resize_corner(v, lx, ly) ? DRAG_RESIZE : DRAG_SELECTION;
    nino_canvas_take_selection(c);
}

static void begin_spot(NinoCanvas *c, NinoSpot *s, gboolean is_corner, GdkModifierType mods)
{
    const gboolean adds = (mods & (GDK_CONTROL_MASK | GDK_SHIFT_MASK)) != 0;
    const gboolean was = s->is_selected;
    if (!adds && !was)
        nino_canvas_unselect(c);
    nino_canvas_select_spot(c, s, !adds || !was);
    gtk_widget_grab_focus(GTK_WIDGET(s));
    c->drag = is_corner ? DRAG_GROUP_SIZE : DRAG_SELECTION;
    nino_canvas_take_selection(c);
    c->spots.resized = is_corner ? s->number : -1;
}

static void begin_empty(NinoCanvas *c, double x, double y, GdkModifierType mods)
{
    double wx, wy;
    int segment = 0;
    gboolean is_corner = FALSE;
    const CanvasScene scene = nino_canvas_scene(c);
    nino_canvas_view_world(&c->view, x, y, &wx, &wy);
    const int link = mods & GDK_ALT_MASK ? nino_canvas_links_at(&scene, wx, wy, &segment) : -1;
    NinoSpot *s = nino_canvas_spots_at(&c->spots, wx, wy, &is_corner);
    if (link >= 0 && (!s || s->is_group)) { // bends it
        nino_error err = { 0 };
        nino_canvas_did(
            c, nino_document_add_reroute(c->doc, link, segment, rint(wx), rint(wy), &err), &err);
        s = nino_canvas_spots_at(&c->spots, wx, wy, &is_corner);
    }
    if (s) {
        begin_spot(c, s, is_corner, mods);
        return;
    }
    gtk_widget_grab_focus(GTK_WIDGET(c));
    if (mods & (GDK_CONTROL_MASK | GDK_SHIFT_MASK)) {
        c->drag = DRAG_BOX;
        if (!(mods & GDK_SHIFT_MASK))
            nino_canvas_select_only(c, NULL);
        return;
    }
    c->drag = DRAG_PAN;
}

// Ctrl+Alt+click takes all links of a slot away.
static gboolean cut_slot(NinoCanvas *c, NinoNodeView *v, double x, double y)
{
    double lx, ly;
    nino_error err = { 0 };
    nino_canvas_inside(c, v, x, y, &lx, &ly);
    const int node = nino_canvas_number_of(c, v), out = nino_node_view_output_at(v, lx, ly);
    const int in = nino_node_view_input_at(v, lx, ly);
    if (out < 0 && in < 0)
        return FALSE;
    nino_canvas_did(c,
                    out >= 0 ? nino_document_disconnect_output(c->doc, node, out, &err)
                             : nino_document_disconnect(c->doc, node, in, &err),
                    &err);
    return TRUE;
}

static void on_canvas_input_drag_begin(GtkGestureDrag *g, double x, double y, gpointer user)
{
    NinoCanvas *c = user;
    const guint button = gtk_gesture_single_get_current_button(GTK_GESTURE_SINGLE(g));
    const GdkModifierType mods =
        gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(g));
    graphene_rect_t box, bounds;
    double scale;
    c->drag = DRAG_NONE;
    c->target = NULL;
    c->has_moved = FALSE;
    c->dx = c->dy = c->spots.dx = c->spots.dy = 0;
    c->spots.resized = -1;
    c->x0 = c->px = x;
    c->y0 = c->py = y;
    c->ox0 = c->view.x;
    c->oy0 = c->view.y;
    if (!c->doc) {
        gtk_gesture_set_state(GTK_GESTURE(g), GTK_EVENT_SEQUENCE_DENIED);
        return;
    }
    if (button == 2 || c->is_space_down) {
        c->drag = DRAG_PAN;
        return;
    }
    if (is_editor_at(c, x, y)) {
        gtk_gesture_set_state(GTK_GESTURE(g), GTK_EVENT_SEQUENCE_DENIED);
        return;
    }
    if (nino_canvas_minimap_box(c, &box, &scale, &bounds) &&
        graphene_rect_contains_point(&box, &GRAPHENE_POINT_INIT((float) x, (float) y))) {
        c->drag = DRAG_MINIMAP;
        go_minimap(c, x, y);
        return;
    }
    NinoNodeView *v = nino_canvas_node_at(c, x, y);
    const GdkModifierType both = GDK_CONTROL_MASK | GDK_ALT_MASK;
    if (v && (mods & both) == both && cut_slot(c, v, x, y))
        return;
    if (v)
        begin_node(c, v, x, y, mods);
    else
        begin_empty(c, x, y, mods);
}

static void drag_to(NinoCanvas *c, double dx, double dy)
{
    c->dx = dx / c->view.zoom;
    c->dy = dy / c->view.zoom;
    switch (c->drag) {
    case DRAG_PAN:
        c->view.x = c->ox0 + dx;
        c->view.y = c->oy0 + dy;
        c->view.wants_fit = FALSE;
        nino_canvas_moved(c);
        return;
    case DRAG_SELECTION:
        nino_canvas_drag_selection(c, c->dx, c->dy);
        nino_canvas_moved(c);
        return;
    case DRAG_RESIZE: {
        const nino_doc_node *n = nino_document_node(c->doc, nino_canvas_number_of(c, c->target));
        if (n)
            nino_node_view_set_size(c->target, n->width + c->dx,
                                    n->height + NINO_NODE_TITLE + c->dy);
        nino_canvas_moved(c);
        return;
    }
    case DRAG_GROUP_SIZE:
        c->spots.dx = c->dx;
        c->spots.dy = c->dy;
        gtk_widget_queue_draw(GTK_WIDGET(c));
        return;
    case DRAG_MINIMAP: go_minimap(c, c->px, c->py); return;
    default: gtk_widget_queue_draw(GTK_WIDGET(c)); return;
    }
}

static void on_canvas_input_drag_update(GtkGestureDrag *g, double dx, double dy, gpointer user)
{
    NinoCanvas *c = user;
    if (!c->doc || c->drag == DRAG_NONE)
        return;
    c->px = c->x0 + dx;
    c->py = c->y0 + dy;
    if (!c->has_moved && hypot(dx, dy) < 4)
        return;
    c->has_moved = TRUE;
    gtk_gesture_set_state(GTK_GESTURE(g), GTK_EVENT_SEQUENCE_CLAIMED);
    drag_to(c, dx, dy);
}

static void end_resize(NinoCanvas *c)
{
    nino_error err = { 0 };
    graphene_rect_t box;
    nino_node_view_get_box(c->target, &box);
    nino_canvas_did(c,
                    nino_document_resize(c->doc, nino_node_view_id(c->target), rint(box.size.width),
                                         rint(box.size.height - NINO_NODE_TITLE), &err),
                    &err);
}

static void end_group_size(NinoCanvas *c)
{
    nino_error err = { 0 };
    const int group = c->spots.resized;
    const nino_doc_group *g = nino_document_group(c->doc, group);
    const graphene_rect_t box = nino_canvas_spots_group_box(&c->spots, group);
    c->spots.resized = -1;
    c->spots.dx = c->spots.dy = 0;
    c->drag = DRAG_NONE;
    nino_canvas_did(c,
                    nino_document_place_group(c->doc, group, g->x, g->y, rint(box.size.width),
                                              rint(box.size.height), &err),
                    &err);
}

// A click on the title's dot folds the node.
static void canvas_input_click(NinoCanvas *c)
{
    double x, y;
    nino_error err = { 0 };
    if (c->drag == DRAG_PAN && !c->is_space_down) {
        nino_canvas_select_only(c, NULL);
        return;
    }
    if (c->drag != DRAG_SELECTION || !c->target)
        return;
    const char *id = nino_node_view_id(c->target);
    const nino_doc_node *n = nino_document_node(c->doc, nino_document_find(c->doc, id));
    nino_canvas_inside(c, c->target, c->x0, c->y0, &x, &y);
    if (n && x < 26 && y < NINO_NODE_TITLE && n->kind != NINO_DOC_REROUTE &&
        n->kind != NINO_DOC_INPUT && n->kind != NINO_DOC_OUTPUT)
        nino_canvas_did(c, nino_document_set_collapsed(c->doc, &id, 1, !n->is_collapsed, &err),
                        &err);
}

static void on_drag_end(GtkGestureDrag *g, double dx, double dy, gpointer user)
{
    NinoCanvas *c = user;
    const CanvasDrag drag = c->drag;
    (void) g, (void) dx, (void) dy;
    if (!c->doc || drag == DRAG_NONE)
        return;
    if (drag == DRAG_LINK)
        nino_canvas_show_wanted(c, FALSE);
    if (!c->has_moved) {
        canvas_input_click(c);
        c->drag = DRAG_NONE;
        c->spots.resized = -1;
        gtk_widget_queue_draw(GTK_WIDGET(c));
        return;
    }
    if (drag == DRAG_GROUP_SIZE) {
        end_group_size(c);
    } else {
        c->drag = DRAG_NONE;
        if (drag == DRAG_LINK)
            nino_canvas_drop_link(c);
        else if (drag == DRAG_SELECTION)
            nino_canvas_drop_selection(c, rint(c->dx), rint(c->dy));
        else if (drag == DRAG_BOX)
            select_box(c);
        else if (drag == DRAG_RESIZE)
            end_resize(c);
    }
    c->target = NULL;
    gtk_widget_queue_draw(GTK_WIDGET(c));
}

// ---- clicks ----------------------------------------------------------------------------------

// A menu is for what is under the pointer, and for all that is selected with it.
static void select_for_menu(NinoCanvas *c, NinoNodeView *v, NinoSpot *s)
{
    if (v && !g_hash_table_contains(c->selected, nino_node_view_id(v)))
        nino_canvas_select_only(c, nino_node_view_id(v));
    if (!s || s->is_selected)
        return;
    nino_canvas_unselect(c);
    nino_canvas_select_spot(c, s, TRUE);
}

static void on_canvas_input_click(GtkGestureClick *g, int n_press, double x, double y,
                                  gpointer user)
{
    NinoCanvas *c = user;
    const guint button = gtk_gesture_single_get_current_button(GTK_GESTURE_SINGLE(g));
    NinoNodeView *v = c->doc ? nino_canvas_node_at(c, x, y) : NULL;
    double wx, wy;
    gboolean is_corner = FALSE;
    if (!c->doc || is_editor_at(c, x, y))
        return;
    nino_canvas_view_world(&c->view, x, y, &wx, &wy);
    NinoSpot *s = v ? NULL : nino_canvas_spots_at(&c->spots, wx, wy, &is_corner);
    if (button == 3) {
        select_for_menu(c, v, s);
        nino_canvas_open_menu(c, x, y, v || s);
        return;
    }
    if (button != 1 || n_press != 2)
        return;
    if (s && s->is_group && !is_corner) {
        nino_canvas_open_rename(c, -1, s->number);
    } else if (!v && !s) {
        nino_canvas_open_search(c, x, y, NULL, FALSE, FALSE);
    } else if (v) {
        const int node = nino_canvas_number_of(c, v);
        const nino_doc_node *n = nino_document_node(c->doc, node);
        nino_error err = { 0 };
        double lx, ly;
        nino_canvas_inside(c, v, x, y, &lx, &ly);
        if (n->kind == NINO_DOC_SUBGRAPH)
            nino_canvas_did(c, nino_document_enter(c->doc, n->id, &err), &err);
        else if (ly < NINO_NODE_TITLE && lx > 26)
            nino_canvas_open_rename(c, node, -1);
    }
}

// ---- scrolling and zoom ----------------------------------------------------------------------

static void on_canvas_input_motion(GtkEventControllerMotion *m, double x, double y, gpointer user)
{
    NinoCanvas *c = user;
    (void) m;
    if (c->drag == DRAG_NONE) {
        c->px = x;
        c->py = y;
    }
}

// A wheel zooms as in ComfyUI; a touchpad pans.
static gboolean on_canvas_input_scroll(GtkEventControllerScroll *s, double dx, double dy,
                                       gpointer user)
{
    NinoCanvas *c = user;
    const GdkModifierType mods =
        gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(s));
    const gboolean is_wheel = gtk_event_controller_scroll_get_unit(s) == GDK_SCROLL_UNIT_WHEEL;
    if ((is_wheel && !(mods & GDK_SHIFT_MASK)) || (mods & GDK_CONTROL_MASK)) {
        nino_canvas_zoom_at(c, c->view.zoom * pow(is_wheel ? 1.15 : 1.01, -dy), c->px, c->py);
        return TRUE;
    }
    const double unit = is_wheel ? 60 : 1;
    c->view.x -= (is_wheel ? dy + dx : dx) * unit;
    c->view.y -= is_wheel ? 0 : dy * unit;
    nino_canvas_moved(c);
    return TRUE;
}

static double zoom_begin;

static void on_zoom_begin(GtkGesture *g, GdkEventSequence *seq, gpointer user)
{
    (void) g, (void) seq;
    zoom_begin = NINO_CANVAS(user)->view.zoom;
}

static void on_zoom(GtkGestureZoom *g, double scale, gpointer user)
{
    double x = 0, y = 0;
    if (gtk_gesture_get_bounding_box_center(GTK_GESTURE(g), &x, &y))
        nino_canvas_zoom_at(user, zoom_begin * scale, x, y);
}

// ---- setting up ------------------------------------------------------------------------------

// One gesture a button: the release of the right one goes to the menu, and a gesture for all would
// wait for it.
static void canvas_input_add_buttons(NinoCanvas *c)
{
    for (guint button = 1; button <= 3; button++) {
        GtkGesture *g = button == 3 ? gtk_gesture_click_new() : gtk_gesture_drag_new();
        gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(g), button);
        if (button == 3) {
            g_signal_connect(g, "pressed", G_CALLBACK(on_canvas_input_click), c);
        } else {
            g_signal_connect(g, "drag-begin", G_CALLBACK(on_canvas_input_drag_begin), c);
            g_signal_connect(g, "drag-update", G_CALLBACK(on_canvas_input_drag_update), c);
            g_signal_connect(g, "drag-end", G_CALLBACK(on_drag_end), c);
        }
        gtk_widget_add_controller(GTK_WIDGET(c), GTK_EVENT_CONTROLLER(g));
    }
    GtkGesture *twice = gtk_gesture_click_new();
    gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(twice), 1);
    g_signal_connect(twice, "pressed", G_CALLBACK(on_canvas_input_click), c);
    gtk_widget_add_controller(GTK_WIDGET(c), GTK_EVENT_CONTROLLER(twice));
}

void nino_canvas_add_input(NinoCanvas *c)
{
    GtkWidget *w = GTK_WIDGET(c);
    GtkGesture *pinch = gtk_gesture_zoom_new();
    GtkEventController *scroll =
        gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
    GtkEventController *motion = gtk_event_controller_motion_new();
    canvas_input_add_buttons(c);
    gtk_event_controller_set_propagation_phase(motion, GTK_PHASE_CAPTURE);
    g_signal_connect(pinch, "begin", G_CALLBACK(on_zoom_begin), c);
    g_signal_connect(pinch, "scale-changed", G_CALLBACK(on_zoom), c);
    g_signal_connect(scroll, "scroll", G_CALLBACK(on_canvas_input_scroll), c);
    g_signal_connect(motion, "motion", G_CALLBACK(on_canvas_input_motion), c);
    gtk_widget_add_controller(w, GTK_EVENT_CONTROLLER(pinch));
    gtk_widget_add_controller(w, scroll);
    gtk_widget_add_controller(w, motion);
    nino_canvas_add_keys(c);
}
