// The strip is as wide as the run, whatever the plots below show: the part that they show is a window in it.
#include "plot/overview.h"

#include "base/i18n.h"
#include "plot/area.h"

#include <math.h>

enum {
    EDGE = 6,  // pixels beside an end of the window that take hold of it
    NODES = 7, // heights
    STEPS = 9,
    HEIGHT = 48,
    COLUMN = 2,
    LEAST_NS = 1000
};

typedef enum Hold { HOLD_NOTHING, HOLD_BEGIN, HOLD_END, HOLD_WINDOW, HOLD_RANGE } Hold;

typedef struct Overview {
    NinoRun *run; // the area's
    GtkWidget *area;
    Hold hold;
    double x; // where the drag began, where the pointer is
    gboolean is_moved;
    guint64 view[2]; // when it began
} Overview;

// ---- time and pixels ---------------------------------------------------------------------------

static NinoPlotBox overview_box(const Overview *o)
{
    const float w = (float) gtk_widget_get_width(o->area);
    return (NinoPlotBox){ NINO_SPACE_S, NINO_SPACE_XS, MAX(w - 2 * NINO_SPACE_S, 1),
                          HEIGHT - 2 * NINO_SPACE_XS };
}

static gboolean whole_run(const Overview *o, guint64 *t0, guint64 *t1)
{
    const nino_history *h = nino_run_history(o->run);
    *t0 = nino_history_begin(h);
    *t1 = MAX(nino_history_end(h), *t0 + 1);
    return nino_history_end(h) > 0;
}

static float overview_x(const Overview *o, const NinoPlotBox *b, guint64 t)
{
    guint64 t0, t1;
    whole_run(o, &t0, &t1);
    const double share = ((double) t - (double) t0) / (double) (t1 - t0);
    return b->x + (float) CLAMP(share, 0, 1) * b->w;
}

static guint64 overview_time(const Overview *o, double x)
{
    guint64 t0, t1;
    const NinoPlotBox b = overview_box(o);
    whole_run(o, &t0, &t1);
    const double share = CLAMP((x - (double) b.x) / (double) b.w, 0, 1);
    return t0 + (guint64) (share * (double) (t1 - t0));
}

// The part that is shown, within the run; FALSE: all of it.
static gboolean shown_part(const Overview *o, guint64 *t0, guint64 *t1)
{
    guint64 begin, end;
    whole_run(o, &begin, &end);
    const gboolean is_part = nino_run_view(o->run, t0, t1);
    *t0 = CLAMP(*t0, begin, end);
    *t1 = CLAMP(*t1, begin, end);
    return is_part && *t1 > *t0;
}

// Shows [from, to) of the run, moved into it; all of it where that is what remains.
static void show_part(const Overview *o, double from, double to)
{
    guint64 begin, end;
    whole_run(o, &begin, &end);
    const double all = (double) (end - begin);
    const double range = CLAMP(to - from, MIN(LEAST_NS, all), all);
    from = CLAMP(from, (double) begin, (double) end - range);
    if (range >= all)
        nino_run_set_view(o->run, 0, 0);
    else
        nino_run_set_view(o->run, (guint64) from, (guint64) (from + range));
}

// ---- drawing -----------------------------------------------------------------------------------

// Bars of a kind in a row; those that are less than a pixel apart are one.
static void draw_spans(const Overview *o, NinoPlot *p, const NinoPlotBox *b, float y, float h,
                       guint kind)
{
    size_t n;
    const nino_history *history = nino_run_history(o->run);
    const nino_span *s = nino_history_spans(history, &n);
    float free_from = b->x - 1;
    for (size_t i = 0; i < n; i++) {
        if (s[i].kind != kind)
            continue;
        const guint64 end = s[i].end_ns ? s[i].end_ns : nino_history_end(history);
        const float x0 = floorf(overview_x(o, b, s[i].begin_ns));
        const float x1 = MAX(floorf(overview_x(o, b, end)), x0 + 1);
        if (x1 <= free_from)
            continue;
        const float w = x1 - MAX(x0, free_from);
        nino_plot_bar(
            p, MAX(x0, free_from), y, w > 3 ? w - 1 : w, h,
            nino_plot_colour(s[i].status ? NINO_PLOT_FAILED : nino_plot_scope(s[i].kind, "")));
        free_from = x1;
    }
}

static void draw_silhouette(const Overview *o, NinoPlot *p, const NinoPlotBox *b, float y, float h)
{
    guint64 t0, t1;
    nino_mem_point m;
    nino_mem_stat all;
    nino_history *history = nino_run_history(o->run);
    whole_run(o, &t0, &t1);
    nino_stats_memory(nino_history_stats(history), &all);
    const GdkRGBA c = nino_plot_alpha(nino_plot_colour(4), 0.8f);
    const double per = (double) (t1 - t0) / (double) b->w;
    for (float x = 0; all.peak && x < b->w; x += COLUMN) {
        const guint64 at = t0 + (guint64) ((double) x * per);
        if (!nino_history_memory_peak(history, at, at + (guint64) (per * COLUMN) + 1, &m))
            continue;
        const float is = roundf((float) ((double) m.in_use / (double) all.peak) * h);
        nino_plot_bar(p, b->x + x, y + h - is, MIN(COLUMN, b->w - x), is, &c);
    }
}

static void draw_window(const Overview *o, NinoPlot *p, const NinoPlotBox *b)
{
    guint64 t0, t1;
    const gboolean is_part = shown_part(o, &t0, &t1);
    const float x0 = floorf(overview_x(o, b, t0)),
                x1 = is_part ? MAX(floorf(overview_x(o, b, t1)), x0 + 2) : b->x + b->w;
    const GdkRGBA beside = nino_plot_alpha(&p->bg, 0.65f);
    if (is_part) {
        nino_plot_bar(p, b->x, b->y, x0 - b->x, b->h, &beside);
        nino_plot_bar(p, x1, b->y, b->x + b->w - x1, b->h, &beside);
    }
    const GdkRGBA *accent = nino_token(NINO_COLOUR_ACCENT, p->theme);
    nino_plot_frame(p, x0, b->y - 1, x1 - x0, b->h + 2, is_part ? accent : &p->grid);
    for (int i = 0; i < 2 && is_part; i++) // what ends are taken hold of
        nino_plot_bar(p, (i ? x1 : x0) - 1, b->y + b->h / 2 - 7, 3, 14, accent);
}

static void overview_draw(NinoArea *area, NinoPlot *p, gpointer user)
{
    (void) area;
    Overview *o = user;
    guint64 t0, t1;
    const NinoPlotBox b = overview_box(o);
    const float under = b.y + NODES + STEPS + 2;
    if (!whole_run(o, &t0, &t1)) {
        nino_plot_empty(p, _("The whole run appears here"));
        return;
    }
    draw_silhouette(o, p, &b, under, b.y + b.h - under);
    draw_spans(o, p, &b, b.y, NODES, NINO_EV_NODE);
    draw_spans(o, p, &b, b.y + NODES + 1, STEPS, NINO_EV_STEP);
    draw_spans(o, p, &b, b.y + NODES + 1, STEPS, NINO_EV_TILE);
    if (nino_run_range(o->run, &t0, &t1)) {
        const float x0 = floorf(overview_x(o, &b, t0));
        const float x1 = MAX(floorf(overview_x(o, &b, t1)), x0 + 1);
        const GdkRGBA shade = nino_plot_alpha(&p->fg, 0.16f);
        nino_plot_bar(p, x0, b.y, x1 - x0, b.h, &shade);
        nino_plot_bar(p, x0, b.y + b.h - 2, x1 - x0, 2, &p->fg);
    }
    draw_window(o, p, &b);
}

// ---- read-out ----------------------------------------------------------------------------------

static void overview_say(const Overview *o)
{
    guint64 begin, end, t0, t1;
    char from[40], to[40], all[40];
    if (!whole_run(o, &begin, &end))
        return;
    const gboolean is_part = shown_part(o, &t0, &t1);
    nino_format_ns(from, sizeof(from), (double) (t0 - begin));
    nino_format_ns(to, sizeof(to), (double) (t1 - begin));
    nino_format_ns(all, sizeof(all), (double) (end - begin));
    g_autofree char *text = is_part ? g_strdup_printf(_("%s to %s of %s are shown"), from, to, all)
                                    : g_strdup_printf(_("all of %s is shown"), all);
    nino_area_say(NINO_AREA(o->area), text);
}

static gboolean overview_tip(NinoArea *area, double x, double y, GString *text, gpointer user)
{
    (void) area, (void) x, (void) y;
    const Overview *o = user;
    guint64 t0, t1;
    overview_say(o);
    g_string_append(text, shown_part(o, &t0, &t1)
                              ? _("Drag the window or its ends; beside it, dragging selects a "
                                  "range and a double click shows all")
                              : _("The whole run: dragging selects a range, the wheel zooms"));
    return TRUE;
}

static void on_overview_view(GtkWidget *area)
{
    overview_say(nino_area_user(NINO_AREA(area)));
    if (gtk_widget_get_mapped(area))
        gtk_widget_queue_draw(area);
}

// ---- pointer -----------------------------------------------------------------------------------

static Hold hold_at(const Overview *o, double x)
{
    guint64 t0, t1;
    const NinoPlotBox b = overview_box(o);
    if (!shown_part(o, &t0, &t1))
        return HOLD_RANGE;
    const double x0 = (double) overview_x(o, &b, t0), x1 = (double) overview_x(o, &b, t1);
    // of a window of a few pixels the ends lie outside it
    const double inside = MIN(EDGE, (x1 - x0) / 3);
    return x >= x0 - EDGE && x < x0 + inside   ? HOLD_BEGIN
           : x > x1 - inside && x <= x1 + EDGE ? HOLD_END
           : x > x0 && x < x1                  ? HOLD_WINDOW
                                               : HOLD_RANGE;
}

static void on_overview_motion(GtkEventControllerMotion *c, double x, double y, Overview *o)
{
    static const char *const shape[] = { [HOLD_NOTHING] = "default",
                                         [HOLD_BEGIN] = "ew-resize",
                                         [HOLD_END] = "ew-resize",
                                         [HOLD_WINDOW] = "grab",
                                         [HOLD_RANGE] = "crosshair" };
    (void) c, (void) y;
    if (!o->hold) {
        o->x = x;
        gtk_widget_set_cursor_from_name(o->area, shape[hold_at(o, x)]);
    }
}

static void on_overview_begin(GtkGestureDrag *g, double x, double y, Overview *o)
{
    (void) y;
    guint64 t0, t1;
    const GdkModifierType mods =
        gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(g));
    gtk_widget_grab_focus(o->area);
    if (!whole_run(o, &t0, &t1))
        return;
    shown_part(o, &o->view[0], &o->view[1]);
    o->hold = mods & GDK_SHIFT_MASK ? HOLD_RANGE : hold_at(o, x);
    o->x = x;
    o->is_moved = FALSE;
}

static void on_overview_update(GtkGestureDrag *g, double dx, double dy, Overview *o)
{
    (void) dy;
    guint64 begin, end;
    const NinoPlotBox b = overview_box(o);
    if (!o->hold || (!o->is_moved && fabs(dx) < 3))
        return;
    o->is_moved = TRUE;
    gtk_gesture_set_state(GTK_GESTURE(g), GTK_EVENT_SEQUENCE_CLAIMED);
    whole_run(o, &begin, &end);
    const double ns = dx / (double) b.w * (double) (end - begin);
    const double t0 = (double) o->view[0], t1 = (double) o->view[1];
    if (o->hold == HOLD_WINDOW)
        show_part(o, t0 + ns, t1 + ns);
    else if (o->hold == HOLD_BEGIN)
        show_part(o, CLAMP(t0 + ns, (double) begin, t1 - LEAST_NS), t1);
    else if (o->hold == HOLD_END)
        show_part(o, t0, CLAMP(t1 + ns, t0 + LEAST_NS, (double) end));
    else {
        const guint64 from = overview_time(o, o->x), to = overview_time(o, o->x + dx);
        nino_run_select(o->run, MIN(from, to), MAX(from, to));
    }
}

static void on_overview_end(GtkGestureDrag *g, double dx, double dy, Overview *o)
{
    (void) g, (void) dx, (void) dy;
    o->hold = HOLD_NOTHING;
}

// Beside the window: it comes there; a second time all is shown.
static gboolean overview_click(NinoArea *area, double x, double y, int n_press, gpointer user)
{
    (void) area, (void) y;
    Overview *o = user;
    guint64 t0, t1;
    if (!shown_part(o, &t0, &t1) || o->is_moved)
        return FALSE;
    const double half = (double) (t1 - t0) / 2, at = (double) overview_time(o, x);
    if (n_press == 2)
        nino_run_set_view(o->run, 0, 0);
    else if (hold_at(o, x) == HOLD_RANGE)
        show_part(o, at - half, at + half);
    return FALSE; // nothing of which there would be a menu
}

static void overview_zoom(const Overview *o, double at, double factor)
{
    guint64 t0, t1;
    shown_part(o, &t0, &t1);
    show_part(o, at - (at - (double) t0) * factor, at + ((double) t1 - at) * factor);
}

static gboolean on_overview_scroll(GtkEventControllerScroll *c, double dx, double dy, Overview *o)
{
    (void) c, (void) dx;
    guint64 t0, t1;
    if (!whole_run(o, &t0, &t1))
        return GDK_EVENT_PROPAGATE;
    shown_part(o, &t0, &t1);
    const double at = (double) overview_time(o, o->x);
    overview_zoom(o, CLAMP(at, (double) t0, (double) t1), pow(1.25, dy));
    return GDK_EVENT_STOP;
}

// ---- keys --------------------------------------------------------------------------------------

// Arrows move the window; with Ctrl its begin, with Shift its end.
static gboolean overview_key(NinoArea *area, guint key, GdkModifierType mods, gpointer user)
{
    (void) area;
    Overview *o = user;
    guint64 t0, t1, begin, end;
    if (!whole_run(o, &begin, &end) || mods & GDK_ALT_MASK)
        return FALSE;
    shown_part(o, &t0, &t1);
    const double from = (double) t0, to = (double) t1, range = to - from, middle = from + range / 2;
    const double step = key == GDK_KEY_Left || key == GDK_KEY_KP_Left ? -range / 10 : range / 10;
    switch (key) {
    case GDK_KEY_Left:
    case GDK_KEY_KP_Left:
    case GDK_KEY_Right:
    case GDK_KEY_KP_Right:
        if (mods & GDK_CONTROL_MASK)
            show_part(o, MAX(from + step, (double) begin), to);
        else if (mods & GDK_SHIFT_MASK)
            show_part(o, from, MIN(to + step, (double) end));
        else
            show_part(o, from + step, to + step);
        return TRUE;
    case GDK_KEY_Page_Up: show_part(o, from - range, from); return TRUE;
    case GDK_KEY_Page_Down: show_part(o, to, to + range); return TRUE;
    case GDK_KEY_plus:
    case GDK_KEY_equal:
    case GDK_KEY_KP_Add: overview_zoom(o, middle, 0.7); return TRUE;
    case GDK_KEY_minus:
    case GDK_KEY_KP_Subtract: overview_zoom(o, middle, 1 / 0.7); return TRUE;
    case GDK_KEY_0:
    case GDK_KEY_Home: nino_run_set_view(o->run, 0, 0); return TRUE;
    case GDK_KEY_f:
        if (!nino_run_range(o->run, &t0, &t1))
            return FALSE;
        nino_run_set_view(o->run, t0, t1);
        return TRUE;
    case GDK_KEY_Escape:
        if (!nino_run_range(o->run, &t0, &t1))
            return FALSE;
        nino_run_select(o->run, 0, 0);
        return TRUE;
    default: return FALSE;
    }
}

// ---- widget ------------------------------------------------------------------------------------

GtkWidget *nino_overview_new(NinoRun *run)
{
    static const NinoAreaType type = { .label = N_("The whole run"),
                                       .draw = overview_draw,
                                       .tip = overview_tip,
                                       .click = overview_click,
                                       .key = overview_key,
                                       .min_width = 240,
                                       .min_height = HEIGHT };
    Overview *o = g_new0(Overview, 1);
    o->run = run;
    o->area = nino_area_new(run, &type, o, g_free);
    gtk_widget_set_vexpand(o->area, FALSE);
    GtkGesture *drag = gtk_gesture_drag_new();
    g_signal_connect(drag, "drag-begin", G_CALLBACK(on_overview_begin), o);
    g_signal_connect(drag, "drag-update", G_CALLBACK(on_overview_update), o);
    g_signal_connect(drag, "drag-end", G_CALLBACK(on_overview_end), o);
    gtk_widget_add_controller(o->area, GTK_EVENT_CONTROLLER(drag));
    GtkEventController *c = gtk_event_controller_motion_new();
    g_signal_connect(c, "motion", G_CALLBACK(on_overview_motion), o);
    gtk_widget_add_controller(o->area, c);
    c = gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL);
    g_signal_connect(c, "scroll", G_CALLBACK(on_overview_scroll), o);
    gtk_widget_add_controller(o->area, c);
    static const char *const all[] = { "view", "changed", "cleared" };
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        g_signal_connect_object(run, all[i], G_CALLBACK(on_overview_view), o->area,
                                G_CONNECT_SWAPPED);
    return o->area;
}
