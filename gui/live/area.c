// The plot widget: redraw, tooltip, pointer and keys of the shared time axis.
#include "live/area.h"

#include <math.h>

#include "i18n.h"

struct _NinoArea {
    GtkWidget parent;
    NinoRun *run;
    const NinoAreaType *type;
    gpointer user;
    GDestroyNotify user_free;
    GHashTable *layouts;
    double pointer_x, pointer_y; // scroll events have no position
    double drag_x;
    gboolean dragging, panning;
    guint64 pan_view[2];
};

G_DEFINE_TYPE(NinoArea, nino_area, GTK_TYPE_WIDGET)

NinoRun *nino_area_run(NinoArea *area) { return area->run; }
gpointer nino_area_user(NinoArea *area) { return area->user; }

// ---- drawing -----------------------------------------------------------------------------------

static void set_colours(NinoPlot *p, const GdkRGBA *fg)
{
    p->fg = *fg;
    p->is_dark = fg->red + fg->green + fg->blue > 1.5f;
    const float v = p->is_dark ? 0.11f : 1.0f;
    p->bg = (GdkRGBA){ v, v, v, 1 };
    p->dim = nino_plot_alpha(fg, 0.72f);
    p->grid = nino_plot_alpha(fg, 0.12f);
}

static void draw_focus(NinoPlot *p)
{
    const GdkRGBA c = nino_plot_alpha(nino_plot_colour(4), 0.9f);
    nino_plot_frame(p, 0, 0, p->width, p->height, &c);
}

static void snapshot(GtkWidget *w, GtkSnapshot *s)
{
    NinoArea *a = NINO_AREA(w);
    NinoPlot p = { .snapshot = s,
                   .pango = gtk_widget_get_pango_context(w),
                   .layouts = a->layouts,
                   .width = (float) gtk_widget_get_width(w),
                   .height = (float) gtk_widget_get_height(w) };
    GdkRGBA fg;
    gtk_style_context_get_color(gtk_widget_get_style_context(w), &fg);
    set_colours(&p, &fg);
    if (p.width < 40 || p.height < 30)
        return;
    nino_run_draw_begin(a->run);
    nino_plot_clip(&p, 0, 0, p.width, p.height);
    a->type->draw(a, &p, a->user);
    if (gtk_widget_has_visible_focus(w))
        draw_focus(&p);
    nino_plot_unclip(&p);
    nino_run_draw_end(a->run);
}

void nino_area_export(GtkWidget *area, cairo_t *cr, double width, double height, gboolean is_dark)
{
    NinoArea *a = NINO_AREA(area);
    PangoContext *pango = pango_cairo_create_context(cr);
    PangoFontDescription *font = pango_font_description_from_string("Sans 9");
    pango_context_set_font_description(pango, font);
    NinoPlot p = { .cr = cr, .pango = pango, .width = (float) width, .height = (float) height };
    const float v = is_dark ? 0.93f : 0.1f;
    set_colours(&p, &(GdkRGBA){ v, v, v, 1 });
    nino_plot_bar(&p, 0, 0, p.width, p.height, &p.bg);
    a->type->draw(a, &p, a->user);
    pango_font_description_free(font);
    g_object_unref(pango);
}

void nino_area_draw_marks(NinoArea *a, NinoPlot *p, const NinoPlotBox *box)
{
    guint64 t0, t1;
    if (nino_run_range(a->run, &t0, &t1)) {
        const float x0 = CLAMP(nino_area_x(a, box, t0), box->x, box->x + box->w);
        const float x1 = CLAMP(nino_area_x(a, box, t1), box->x, box->x + box->w);
        const GdkRGBA shade = nino_plot_alpha(&p->fg, 0.16f), edge = nino_plot_alpha(&p->fg, 0.6f);
        nino_plot_bar(p, box->x, box->y, x0 - box->x, box->h, &shade);
        nino_plot_bar(p, x1, box->y, box->x + box->w - x1, box->h, &shade);
        nino_plot_bar(p, floorf(x0), box->y, 1, box->h, &edge);
        nino_plot_bar(p, floorf(x1), box->y, 1, box->h, &edge);
    }
    const guint64 cursor = nino_run_cursor(a->run);
    const float x = nino_area_x(a, box, cursor);
    if (cursor && x >= box->x && x < box->x + box->w) {
        const GdkRGBA c = nino_plot_alpha(&p->fg, 0.45f);
        nino_plot_bar(p, floorf(x), box->y, 1, box->h, &c);
    }
}

// ---- rendering --------------------------------------------------------------------------------

// What GTK does with the drawing (render nodes to pixels) is part of what watching costs: frames in
// which one of the run's plots was drawn count whole.
static void on_frame_begin(GdkFrameClock *clock, NinoRun *run)
{
    (void) clock;
    nino_run_frame_begin(run);
}

static void on_frame_end(GdkFrameClock *clock, NinoRun *run)
{
    (void) clock;
    nino_run_frame_end(run);
}

static void watch_clock(GtkWidget *w)
{
    GdkFrameClock *clock = gtk_widget_get_frame_clock(w);
    NinoRun *run = NINO_AREA(w)->run;
    if (g_signal_handler_find(clock, G_SIGNAL_MATCH_FUNC | G_SIGNAL_MATCH_DATA, 0, 0, NULL,
                              (gpointer) on_frame_begin, run))
        return; // another plot of this run in the window
    g_signal_connect_object(clock, "before-paint", G_CALLBACK(on_frame_begin), run, 0);
    g_signal_connect_object(clock, "after-paint", G_CALLBACK(on_frame_end), run, 0);
}

static void realize(GtkWidget *w)
{
    GTK_WIDGET_CLASS(nino_area_parent_class)->realize(w);
    watch_clock(w);
}

// ---- time axis ---------------------------------------------------------------------------------

static void get_box(NinoArea *a, NinoPlotBox *box)
{
    GtkWidget *w = GTK_WIDGET(a);
    const float width = (float) gtk_widget_get_width(w), height = (float) gtk_widget_get_height(w);
    *box = (NinoPlotBox){ 0, 0, width, height };
    if (a->type->box)
        a->type->box(a, width, height, box, a->user);
    box->w = MAX(box->w, 1);
}

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

static void pan(NinoArea *a, double share)
{
    guint64 view[2];
    nino_run_view(a->run, &view[0], &view[1]);
    pan_from(a, view, share * (double) (view[1] - view[0]));
}

static gboolean on_scroll(GtkEventControllerScroll *c, double dx, double dy, gpointer user)
{
    NinoArea *a = user;
    NinoPlotBox box;
    get_box(a, &box);
    const GdkModifierType mods =
        gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(c));
    if (mods & GDK_SHIFT_MASK)
        pan(a, dy * 0.1);
    else if (mods & GDK_CONTROL_MASK || !gtk_widget_get_ancestor(GTK_WIDGET(a), GTK_TYPE_VIEWPORT))
        zoom(a, nino_area_time(a, &box, a->pointer_x), pow(1.25, dy));
    else
        return GDK_EVENT_PROPAGATE; // a plot in something that scrolls
    if (dx != 0)
        pan(a, dx * 0.1);
    return GDK_EVENT_STOP;
}

static void on_motion(GtkEventControllerMotion *c, double x, double y, gpointer user)
{
    (void) c;
    NinoArea *a = user;
    NinoPlotBox box;
    a->pointer_x = x;
    a->pointer_y = y;
    if (!a->type->has_time || !nino_history_end(nino_run_history(a->run)))
        return;
    get_box(a, &box);
    const gboolean inside = x >= (double) box.x && x < (double) (box.x + box.w);
    nino_run_set_cursor(a->run, inside ? nino_area_time(a, &box, x) : 0);
}

static void on_leave(GtkEventControllerMotion *c, gpointer user)
{
    (void) c;
    NinoArea *a = user;
    if (a->type->has_time)
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
    get_box(a, &box);
    if (a->panning) {
        pan_from(a, a->pan_view, -dx / (double) box.w * (double) (a->pan_view[1] - a->pan_view[0]));
        return;
    }
    const double left = (double) box.x, right = (double) (box.x + box.w);
    const guint64 from = nino_area_time(a, &box, CLAMP(a->drag_x, left, right));
    const guint64 to = nino_area_time(a, &box, CLAMP(a->drag_x + dx, left, right));
    nino_run_select(a->run, MIN(from, to), MAX(from, to));
}

static gboolean time_key(NinoArea *a, guint key, GdkModifierType mods)
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
    case GDK_KEY_Page_Up: pan(a, -0.5); return TRUE;
    case GDK_KEY_Page_Down: pan(a, 0.5); return TRUE;
    case GDK_KEY_Escape:
        if (!is_part)
            return FALSE;
        nino_run_select(a->run, 0, 0);
        return TRUE;
    case GDK_KEY_f: // the selection fills the view
        if (is_part)
            nino_run_set_view(a->run, r0, r1);
        return is_part;
    case GDK_KEY_Left:
    case GDK_KEY_KP_Left:
    case GDK_KEY_Right:
    case GDK_KEY_KP_Right:
        if (mods & GDK_CONTROL_MASK) {
            pan(a, step < 0 ? -0.1 : 0.1);
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

static gboolean on_key(GtkEventControllerKey *c, guint key, guint code, GdkModifierType mods,
                       gpointer user)
{
    (void) c, (void) code;
    NinoArea *a = user;
    const gboolean is_known = nino_history_end(nino_run_history(a->run)) > 0;
    if (a->type->has_time && is_known && time_key(a, key, mods))
        return TRUE;
    return a->type->key && a->type->key(a, key, mods, a->user);
}

// ---- widget ------------------------------------------------------------------------------------

static void on_click(GtkGestureClick *g, int n_press, double x, double y, gpointer user)
{
    (void) g;
    NinoArea *a = user;
    gtk_widget_grab_focus(GTK_WIDGET(a));
    const gboolean was_drag = a->dragging;
    const gboolean used = !was_drag && a->type->click && a->type->click(a, x, y, n_press, a->user);
    if (!was_drag && !used && n_press == 1 && a->type->has_time)
        nino_run_select(a->run, 0, 0);
    a->dragging = FALSE;
}

static gboolean on_tooltip(GtkWidget *w, int x, int y, gboolean keyboard, GtkTooltip *tip,
                           gpointer user)
{
    (void) user;
    NinoArea *a = NINO_AREA(w);
    NinoPlotBox box;
    if (!a->type->tip)
        return FALSE;
    if (keyboard) {
        get_box(a, &box);
        x = (int) nino_area_x(a, &box, nino_run_cursor(a->run));
        y = (int) (box.y + box.h / 2);
    }
    g_autoptr(GString) text = g_string_new(NULL);
    if (!a->type->tip(a, x, y, text, a->user))
        return FALSE;
    gtk_tooltip_set_markup(tip, text->str);
    return TRUE;
}

static void redraw(NinoArea *a)
{
    if (gtk_widget_get_mapped(GTK_WIDGET(a)))
        gtk_widget_queue_draw(GTK_WIDGET(a));
}

static void css_changed(GtkWidget *w, GtkCssStyleChange *change)
{
    GTK_WIDGET_CLASS(nino_area_parent_class)->css_changed(w, change);
    g_hash_table_remove_all(NINO_AREA(w)->layouts); // maybe another font
}

static void measure(GtkWidget *w, GtkOrientation orientation, int for_size, int *minimum,
                    int *natural, int *minimum_baseline, int *natural_baseline)
{
    (void) for_size;
    const NinoAreaType *t = NINO_AREA(w)->type;
    *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? t->min_width : t->min_height;
    *natural = *minimum;
    *minimum_baseline = *natural_baseline = -1;
}

static void dispose(GObject *o)
{
    NinoArea *a = NINO_AREA(o);
    if (a->user_free && a->user)
        a->user_free(a->user);
    a->user = NULL;
    g_clear_object(&a->run);
    g_clear_pointer(&a->layouts, g_hash_table_unref);
    G_OBJECT_CLASS(nino_area_parent_class)->dispose(o);
}

static void nino_area_class_init(NinoAreaClass *klass)
{
    GtkWidgetClass *wc = GTK_WIDGET_CLASS(klass);
    G_OBJECT_CLASS(klass)->dispose = dispose;
    wc->snapshot = snapshot;
    wc->measure = measure;
    wc->realize = realize;
    wc->css_changed = css_changed;
    gtk_widget_class_set_css_name(wc, "plotarea");
    gtk_widget_class_set_accessible_role(wc, GTK_ACCESSIBLE_ROLE_IMG);
}

static void nino_area_init(NinoArea *a)
{
    a->layouts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_object_unref);
    gtk_widget_set_focusable(GTK_WIDGET(a), TRUE);
    gtk_widget_set_hexpand(GTK_WIDGET(a), TRUE);
    gtk_widget_set_vexpand(GTK_WIDGET(a), TRUE);
    // Time and figures go from left to right in every language.
    gtk_widget_set_direction(GTK_WIDGET(a), GTK_TEXT_DIR_LTR);
}

static void add_controllers(NinoArea *a)
{
    GtkWidget *w = GTK_WIDGET(a);
    GtkEventController *c = gtk_event_controller_motion_new();
    g_signal_connect(c, "motion", G_CALLBACK(on_motion), a);
    g_signal_connect(c, "leave", G_CALLBACK(on_leave), a);
    gtk_widget_add_controller(w, c);
    c = gtk_event_controller_key_new();
    g_signal_connect(c, "key-pressed", G_CALLBACK(on_key), a);
    gtk_widget_add_controller(w, c);
    GtkGesture *g = gtk_gesture_click_new();
    g_signal_connect(g, "released", G_CALLBACK(on_click), a);
    gtk_widget_add_controller(w, GTK_EVENT_CONTROLLER(g));
    if (!a->type->has_time)
        return;
    c = gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
    g_signal_connect(c, "scroll", G_CALLBACK(on_scroll), a);
    gtk_widget_add_controller(w, c);
    g = gtk_gesture_drag_new();
    gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(g), 0);
    g_signal_connect(g, "drag-begin", G_CALLBACK(drag_begin), a);
    g_signal_connect(g, "drag-update", G_CALLBACK(drag_update), a);
    gtk_widget_add_controller(w, GTK_EVENT_CONTROLLER(g));
}

GtkWidget *nino_area_new(NinoRun *run, const NinoAreaType *type, gpointer user,
                         GDestroyNotify user_free)
{
    NinoArea *a = g_object_new(NINO_TYPE_AREA, NULL);
    a->run = g_object_ref(run);
    a->type = type;
    a->user = user;
    a->user_free = user_free;
    gtk_widget_set_size_request(GTK_WIDGET(a), type->min_width, type->min_height);
    gtk_accessible_update_property(GTK_ACCESSIBLE(a), GTK_ACCESSIBLE_PROPERTY_LABEL, _(type->label),
                                   -1);
    static const char *const all[] = { "changed", "cleared", "range", "kernel", "view", "cursor" };
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        if (type->draws_itself ? FALSE : i < 4 || type->has_time)
            g_signal_connect_object(run, all[i], G_CALLBACK(redraw), a, G_CONNECT_SWAPPED);
    if (type->tip) {
        gtk_widget_set_has_tooltip(GTK_WIDGET(a), TRUE);
        g_signal_connect(a, "query-tooltip", G_CALLBACK(on_tooltip), NULL);
    }
    add_controllers(a);
    return GTK_WIDGET(a);
}
