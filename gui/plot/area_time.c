// The time axis that plots share: the wheel zooms, dragging selects or pans, the pointer moves the
// cursor, and keys do all of it.
#include "plot/area_priv.h"

#include <math.h>

float nino_area_x(NinoArea *a, const NinoPlotBox *box, guint64 t)
{
    guint64 t0, t1;
    nino_run_view(a->run, &t0, &t1);
    return box->x + (float) (((double) t - (double) t0) / (double) (t1 - t0)) * box->w;
}

guint64 nino_area_time(NinoArea *a, const NinoPlotBox *box, double x)
{
    guint64 t0, t1;
    nino_run_view(a->run, &t0, &t1);
    const double t = (double) t0 + (x - (double) box->x) / (double) box->w * (double) (t1 - t0);
    return t > 0 ? (guint64) t : 0;
}

// Zooms so that time t stays where it is; never beyond what is known, never closer than 1 µs.
static void zoom(NinoArea *a, guint64 t, double factor)
{
    guint64 t0, t1;
    const nino_history *h = nino_run_history(a->run);
    const double begin = (double) nino_history_begin(h), end = (double) nino_history_end(h);
    nino_run_view(a->run, &t0, &t1);
    const double range = MAX((double) (t1 - t0) * factor, 1000);
    if (range >= (end - begin) * 1.02) {
        nino_run_set_view(a->run, 0, 0);
        return;
    }
    const double share = ((double) t - (double) t0) / (double) (t1 - t0);
    double from = (double) t - share * range;
    from = CLAMP(from, begin, MAX(end - range, begin));
    nino_run_set_view(a->run, (guint64) from, (guint64) (from + range));
}

static void pan_from(NinoArea *a, const guint64 view[2], double ns)
{
    const nino_history *h = nino_run_history(a->run);
    const double begin = (double) nino_history_begin(h), end = (double) nino_history_end(h);
    const double range = (double) (view[1] - view[0]);
    const double from = CLAMP((double) view[0] + ns, begin, MAX(end - range, begin));
    if (range < end - begin)
        nino_run_set_view(a->run, (guint64) from, (guint64) (from + range));
}

static void area_time_pan(NinoArea *a, double share)
{
    guint64 view[2];
    nino_run_view(a->run, &view[0], &view[1]);
    pan_from(a, view, share * (double) (view[1] - view[0]));
}

// Whether the plot is in something that now has more than it shows.
static gboolean scrolls(NinoArea *a)
{
    GtkWidget *w = gtk_widget_get_ancestor(GTK_WIDGET(a), GTK_TYPE_SCROLLED_WINDOW);
    if (!w)
        return FALSE;
    GtkAdjustment *v = gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(w));
    return gtk_adjustment_get_upper(v) - gtk_adjustment_get_lower(v) >
           gtk_adjustment_get_page_size(v) + 0.5;
}

static gboolean on_area_time_scroll(GtkEventControllerScroll *c, double dx, double dy,
                                    gpointer user)
{
    NinoArea *a = user;
    NinoPlotBox box;
    nino_area_get_box(a, &box);
    const GdkModifierType mods =
        gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(c));
    if (mods & GDK_SHIFT_MASK)
        area_time_pan(a, dy * 0.1);
    else if (mods & GDK_CONTROL_MASK || !scrolls(a))
        zoom(a, nino_area_time(a, &box, a->pointer_x), pow(1.25, dy));
    else
        return GDK_EVENT_PROPAGATE;
    if (dx != 0)
        area_time_pan(a, dx * 0.1);
    return GDK_EVENT_STOP;
}

static void on_area_time_motion(GtkEventControllerMotion *c, double x, double y, gpointer user)
{
    (void) c, (void) y;
    NinoArea *a = user;
    NinoPlotBox box;
    a->pointer_x = x;
    if (!nino_history_end(nino_run_history(a->run)))
        return;
    nino_area_get_box(a, &box);
    const gboolean inside = x >= (double) box.x && x < (double) (box.x + box.w);
    nino_run_set_cursor(a->run, inside ? nino_area_time(a, &box, x) : 0);
}

static void on_area_time_leave(GtkEventControllerMotion *c, gpointer user)
{
    (void) c;
    NinoArea *a = user;
    nino_run_set_cursor(a->run, 0);
}

static void drag_begin(GtkGestureDrag *g, double x, double y, gpointer user)
{
    (void) y;
    NinoArea *a = user;
    const GdkModifierType mods =
        gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(g));
    gtk_widget_grab_focus(GTK_WIDGET(a));
    a->drag_x = x;
    a->dragging = FALSE;
    a->panning = mods & GDK_SHIFT_MASK ||
                 gtk_gesture_single_get_current_button(GTK_GESTURE_SINGLE(g)) == GDK_BUTTON_MIDDLE;
    nino_run_view(a->run, &a->pan_view[0], &a->pan_view[1]);
}

static void drag_update(GtkGestureDrag *g, double dx, double dy, gpointer user)
{
    (void) dy;
    NinoArea *a = user;
    NinoPlotBox box;
    if (!a->dragging && fabs(dx) < 4)
        return;
    a->dragging = TRUE;
    gtk_gesture_set_state(GTK_GESTURE(g), GTK_EVENT_SEQUENCE_CLAIMED);
    nino_area_get_box(a, &box);
    if (a->panning) {
        pan_from(a, a->pan_view, -dx / (double) box.w * (double) (a->pan_view[1] - a->pan_view[0]));
        return;
    }
    const double left = (double) box.x, right = (double) (box.x + box.w);
    const guint64 from = nino_area_time(a, &box, CLAMP(a->drag_x, left, right));
    const guint64 to = nino_area_time(a, &box, CLAMP(a->drag_x + dx, left, right));
    nino_run_select(a->run, MIN(from, to), MAX(from, to));
}

gboolean nino_area_time_key(NinoArea *a, guint key, GdkModifierType mods)
{
    guint64 t0, t1, r0, r1;
    nino_run_view(a->run, &t0, &t1);
    const gboolean is_part = nino_run_range(a->run, &r0, &r1);
    guint64 cursor = nino_run_cursor(a->run);
    if (!cursor || cursor < t0 || cursor > t1)
        cursor = t0 + (t1 - t0) / 2;
    const gint64 step =
        (gint64) MAX((t1 - t0) / 100, 1) * (key == GDK_KEY_Left || key == GDK_KEY_KP_Left ? -1 : 1);
    switch (key) {
    case GDK_KEY_plus:
    case GDK_KEY_equal:
    case GDK_KEY_KP_Add: zoom(a, cursor, 0.7); return TRUE;
    case GDK_KEY_minus:
    case GDK_KEY_KP_Subtract: zoom(a, cursor, 1 / 0.7); return TRUE;
    case GDK_KEY_0:
    case GDK_KEY_Home: nino_run_set_view(a->run, 0, 0); return TRUE;
    case GDK_KEY_Page_Up: area_time_pan(a, -0.5); return TRUE;
    case GDK_KEY_Page_Down: area_time_pan(a, 0.5); return TRUE;
    case GDK_KEY_Escape:
        if (!is_part)
            return FALSE;
        nino_run_select(a->run, 0, 0);
        return TRUE;
    case GDK_KEY_m: nino_area_ask_note(a, cursor); return TRUE;
    case GDK_KEY_f: // the selection fills the view
        if (is_part)
            nino_run_set_view(a->run, r0, r1);
        return is_part;
    case GDK_KEY_Left:
    case GDK_KEY_KP_Left:
    case GDK_KEY_Right:
    case GDK_KEY_KP_Right:
        if (mods & GDK_CONTROL_MASK) {
            area_time_pan(a, step < 0 ? -0.1 : 0.1);
            return TRUE;
        }
        if (mods & GDK_SHIFT_MASK) { // the end that the cursor is at moves along
            const guint64 to = (guint64) ((gint64) cursor + step);
            const guint64 fixed = !is_part ? cursor : cursor == r0 ? r1 : r0;
            nino_run_select(a->run, MIN(fixed, to), MAX(fixed, to));
        }
        nino_run_set_cursor(a->run,
                            (guint64) CLAMP((gint64) cursor + step, (gint64) t0, (gint64) t1));
        return TRUE;
    default: return FALSE;
    }
}

void nino_area_add_time_controllers(NinoArea *a)
{
    GtkWidget *w = GTK_WIDGET(a);
    GtkEventController *c = gtk_event_controller_motion_new();
    g_signal_connect(c, "motion", G_CALLBACK(on_area_time_motion), a);
    g_signal_connect(c, "leave", G_CALLBACK(on_area_time_leave), a);
    gtk_widget_add_controller(w, c);
    c = gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
    g_signal_connect(c, "scroll", G_CALLBACK(on_area_time_scroll), a);
    gtk_widget_add_controller(w, c);
    GtkGesture *g = gtk_gesture_drag_new();
    gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(g), 0);
    g_signal_connect(g, "drag-begin", G_CALLBACK(drag_begin), a);
    g_signal_connect(g, "drag-update", G_CALLBACK(drag_update), a);
    gtk_widget_add_controller(w, GTK_EVENT_CONTROLLER(g));
}
