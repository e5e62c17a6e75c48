// The overlay of two runs. A slot is a node on the common axis, as wide as the longer of the two; steps, tiles
// and the work of the device lie in it where they were in their own run.
#include "compare/overlay_priv.h"

#include <math.h>
#include <string.h>

#include "base/i18n.h"

nino_history *nino_overlay_history(const Overlay *o, int side)
{
    return side == BASE ? o->base : nino_run_history(o->run);
}

// ---- what lies where ---------------------------------------------------------------------------

enum { MOST_PARTS = 20000 };

static int earlier(gconstpointer a, gconstpointer b)
{
    const Slot *x = a, *y = b;
    return x->begin[BASE] < y->begin[BASE] ? -1 : x->begin[BASE] > y->begin[BASE];
}

static void set_side(Slot *s, int side, nino_history *h, int32_t span, double seconds)
{
    size_t n;
    const nino_span *list = nino_history_spans(h, &n);
    if (span < 0 || (size_t) span >= n)
        return;
    s->begin[side] = list[span].begin_ns;
    s->end[side] = list[span].end_ns ? list[span].end_ns : nino_history_end(h);
    s->seconds[side] = seconds;
}

// A node that only the shown run has comes behind the one that it came behind there.
static void insert_shown(GArray *slots, const Slot *s)
{
    guint at = 0;
    for (guint i = 0; i < slots->len; i++) {
        const Slot *o = &g_array_index(slots, Slot, i);
        if (o->end[SHOWN] && o->begin[SHOWN] < s->begin[SHOWN])
            at = i + 1;
    }
    g_array_insert_val(slots, at, *s);
}

static void take_nodes(Overlay *o, const nino_compare *c)
{
    const nino_history *shown = nino_overlay_history(o, SHOWN);
    const size_t n = nino_compare_pairs(o->base, shown, NULL, 0);
    g_autofree nino_compare_pair *pair = g_new(nino_compare_pair, n + 1);
    nino_compare_pairs(o->base, shown, pair, n);
    g_array_set_size(o->nodes, 0);
    for (int pass = 0; pass < 2; pass++) { // those of the baseline by time, then the others
        for (size_t i = 0, k = 0; i < c->n_rows && k < n; i++) {
            const nino_compare_row *r = &c->rows[i];
            if (r->kind != NINO_COMPARE_NODE)
                continue;
            const nino_compare_pair at = pair[k++];
            if ((at.a < 0) != pass || (at.a < 0 && at.b < 0))
                continue;
            Slot s = { .at = 0 };
            g_strlcpy(s.name, r->node, sizeof(s.name));
            s.is_cached[BASE] = r->cached_a;
            s.is_cached[SHOWN] = r->cached_b;
            set_side(&s, BASE, o->base, at.a, r->total_a);
            set_side(&s, SHOWN, nino_overlay_history(o, SHOWN), at.b, r->total_b);
            if (!pass)
                g_array_append_val(o->nodes, s);
            else
                insert_shown(o->nodes, &s);
        }
        if (!pass)
            g_array_sort(o->nodes, earlier);
    }
}

// One slot for all where both runs begin together.
static void lay_slots(Overlay *o)
{
    g_array_set_size(o->slots, 0);
    Slot all = { .at = 0 };
    for (guint i = 0; i < o->nodes->len; i++) {
        Slot s = g_array_index(o->nodes, Slot, i);
        for (int k = 0; k < SIDES; k++) {
            if (!s.end[k])
                continue;
            all.begin[k] = all.end[k] ? MIN(all.begin[k], s.begin[k]) : s.begin[k];
            all.end[k] = MAX(all.end[k], s.end[k]);
        }
        if (!o->is_together)
            g_array_append_val(o->slots, s);
    }
    if (o->is_together && o->nodes->len)
        g_array_append_val(o->slots, all);
    o->all = 0;
    for (guint i = 0; i < o->slots->len; i++) {
        Slot *s = &g_array_index(o->slots, Slot, i);
        s->at = o->all;
        s->width = MAX((double) (s->end[BASE] - s->begin[BASE]),
                       (double) (s->end[SHOWN] - s->begin[SHOWN]));
        o->all += s->width;
    }
    o->from = 0;
    o->to = MAX(o->all, 1);
}

// The slot in which a side is at time t; NULL: between two nodes.
static const Slot *slot_of(const Overlay *o, int side, guint64 t)
{
    for (guint i = 0; i < o->slots->len; i++) {
        const Slot *s = &g_array_index(o->slots, Slot, i);
        if (s->end[side] && t >= s->begin[side] && t < s->end[side])
            return s;
    }
    return NULL;
}

static void take_parts(Overlay *o, int side)
{
    size_t n;
    nino_history *h = nino_overlay_history(o, side);
    const nino_span *list = nino_history_spans(h, &n);
    for (size_t i = 0; i < n && o->parts->len < MOST_PARTS; i++) {
        const nino_span *e = &list[i];
        const gboolean is_node = e->kind == NINO_EV_NODE;
        const gboolean is_compile = nino_plot_scope(e->kind, nino_history_name(h, e->name)) ==
                                    NINO_PLOT_COMPILE; // in no time of the table
        if (!is_node && !is_compile && e->kind != NINO_EV_STEP && e->kind != NINO_EV_TILE)
            continue;
        const Slot *s = slot_of(o, side, e->begin_ns);
        if (!s)
            continue;
        const double at = s->at + (double) (e->begin_ns - s->begin[side]);
        const guint64 end = e->end_ns ? e->end_ns : nino_history_end(h);
        o->has_parts |= !is_node;
        const Part p = { .at = at,
                         .end = at + (double) (end - e->begin_ns),
                         .side = (uint8_t) side,
                         .lane = is_node ? LANE_NODE : LANE_PART,
                         .kind = e->kind,
                         .is_failed = e->status != 0,
                         .name = e->name,
                         .number = is_node || is_compile ? 0 : e->arg0 + 1 };
        g_array_append_val(o->parts, p);
    }
}

static void overlay_lay_out(Overlay *o)
{
    lay_slots(o);
    g_array_set_size(o->parts, 0);
    o->has_parts = FALSE;
    for (int side = 0; side < SIDES && o->base; side++) // the shown one over the other
        take_parts(o, side);
    gtk_widget_queue_draw(o->area);
}

static Overlay *overlay_of(GtkWidget *w) { return g_object_get_data(G_OBJECT(w), "overlay"); }

void nino_overlay_set(GtkWidget *overlay, nino_history *base, const nino_compare *c)
{
    Overlay *o = overlay_of(overlay);
    o->base = base && c ? base : NULL;
    g_array_set_size(o->nodes, 0);
    if (o->base)
        take_nodes(o, c);
    overlay_lay_out(o);
}

// ---- pointer and keys --------------------------------------------------------------------------

static NinoPlotBox box_now(const Overlay *o)
{
    return nino_overlay_box((float) gtk_widget_get_width(o->area),
                            (float) gtk_widget_get_height(o->area));
}

static void overlay_set_view(Overlay *o, double from, double to)
{
    const double least = MIN(1000, o->all), wide = CLAMP(to - from, least, MAX(o->all, 1));
    o->from = CLAMP(from, 0, MAX(o->all - wide, 0));
    o->to = o->from + wide;
    gtk_widget_queue_draw(o->area);
}

static void overlay_zoom(Overlay *o, double around, double factor)
{
    const double left = (around - o->from) * factor, wide = (o->to - o->from) * factor;
    overlay_set_view(o, around - left, around - left + wide);
}

// The node at a place of the axis; where both runs begin together, of the shown one.
static const Slot *node_at(const Overlay *o, double at)
{
    for (guint i = 0; i < o->nodes->len && o->slots->len; i++) {
        const Slot *s = &g_array_index(o->slots, Slot, o->is_together ? 0 : i);
        const Slot *node = o->is_together ? &g_array_index(o->nodes, Slot, i) : s;
        const double begin =
            o->is_together ? (double) node->begin[SHOWN] - (double) s->begin[SHOWN] : s->at;
        const double width =
            o->is_together ? (double) (node->end[SHOWN] - node->begin[SHOWN]) : s->width;
        if ((!o->is_together || node->end[SHOWN]) && at >= begin && at < begin + width)
            return node;
    }
    return NULL;
}

static double axis_at(const Overlay *o, double x)
{
    const NinoPlotBox b = box_now(o);
    return o->from + (x - (double) b.x) / (double) b.w * (o->to - o->from);
}

static gboolean overlay_tip(NinoArea *area, double x, double y, GString *text, gpointer user)
{
    (void) area, (void) y;
    const Overlay *o = user;
    const Slot *s = x >= LEFT ? node_at(o, axis_at(o, x)) : NULL;
    char change[64], took[2][40];
    if (!s)
        return FALSE;
    g_autofree char *name = g_markup_escape_text(s->name, -1);
    nino_overlay_say_change(change, sizeof(change), s);
    for (int k = 0; k < SIDES; k++)
        nino_format_ns(took[k], sizeof(took[k]), s->seconds[k] * 1e9);
    g_string_append_printf(text, "<b>%s</b> %s", name, change);
    if (s->end[SHOWN])
        g_string_append_printf(text, _("\nthis run %s"), took[SHOWN]);
    if (s->end[BASE])
        g_string_append_printf(text, _("\nbaseline %s"), took[BASE]);
    g_string_append(text, _("\nThe bars also have what is done once: compiling, reading weights"));
    return TRUE;
}

static gboolean overlay_item(NinoArea *area, int i, double *x, double *y, gpointer user)
{
    (void) area;
    const Overlay *o = user;
    if (i < 0 || (guint) i >= o->slots->len || o->is_together)
        return FALSE;
    const Slot *s = &g_array_index(o->slots, Slot, i);
    const NinoPlotBox b = box_now(o);
    *x = (double) nino_overlay_x(o, &b, s->at + s->width / 2);
    *y = (double) nino_overlay_lane_y(o, &b, 0) + BAR * 0.5;
    return TRUE;
}

void nino_overlay_pick(GtkWidget *overlay, const char *node)
{
    const Overlay *o = overlay_of(overlay);
    size_t n;
    const nino_span *list = nino_history_spans(nino_run_history(o->run), &n);
    for (guint i = 0; i < o->nodes->len; i++) {
        const Slot *s = &g_array_index(o->nodes, Slot, i);
        for (size_t k = 0; k < n && s->end[SHOWN] && !strcmp(s->name, node); k++)
            if (list[k].kind == NINO_EV_NODE && list[k].begin_ns == s->begin[SHOWN])
                nino_run_pick_span(o->run, (int32_t) k);
    }
}

static gboolean overlay_click(NinoArea *area, double x, double y, int n_press, gpointer user)
{
    (void) area, (void) y;
    Overlay *o = user;
    const Slot *s = x >= LEFT && !o->is_dragged ? node_at(o, axis_at(o, x)) : NULL;
    o->is_dragged = FALSE;
    if (!s)
        return FALSE;
    g_autofree char *name = g_strdup(s->name);
    nino_overlay_pick(gtk_widget_get_parent(o->area), name);
    nino_overlay_mark(gtk_widget_get_parent(o->area), name, n_press == 2);
    o->chosen(o->user, name);
    return TRUE;
}

static gboolean overlay_key(NinoArea *area, guint key, GdkModifierType mods, gpointer user)
{
    (void) area, (void) mods;
    Overlay *o = user;
    const double middle = (o->from + o->to) / 2, wide = o->to - o->from;
    switch (key) {
    case GDK_KEY_plus:
    case GDK_KEY_equal:
    case GDK_KEY_KP_Add: overlay_zoom(o, middle, 0.7); return TRUE;
    case GDK_KEY_minus:
    case GDK_KEY_KP_Subtract: overlay_zoom(o, middle, 1 / 0.7); return TRUE;
    case GDK_KEY_0: overlay_set_view(o, 0, o->all); return TRUE;
    case GDK_KEY_Page_Up: overlay_set_view(o, o->from - wide / 2, o->to - wide / 2); return TRUE;
    case GDK_KEY_Page_Down: overlay_set_view(o, o->from + wide / 2, o->to + wide / 2); return TRUE;
    default: return FALSE;
    }
}

static gboolean on_overlay_scroll(GtkEventControllerScroll *c, double dx, double dy, Overlay *o)
{
    const NinoPlotBox b = box_now(o);
    const GdkModifierType mods =
        gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(c));
    const double pan = (dx + (mods & GDK_SHIFT_MASK ? dy : 0)) * 0.1 * (o->to - o->from);
    const double *at = g_object_get_data(G_OBJECT(o->area), "pointer");
    if (pan != 0)
        overlay_set_view(o, o->from + pan, o->to + pan);
    else
        overlay_zoom(o, axis_at(o, at ? *at : (double) (b.x + b.w / 2)), pow(1.25, dy));
    return GDK_EVENT_STOP;
}

// Scroll events have no position.
static void on_overlay_motion(GtkEventControllerMotion *c, double x, double y, Overlay *o)
{
    (void) c, (void) y;
    double *at = g_object_get_data(G_OBJECT(o->area), "pointer");
    if (!at)
        g_object_set_data_full(G_OBJECT(o->area), "pointer", at = g_new0(double, 1), g_free);
    *at = x;
}

static void on_overlay_drag_begin(GtkGestureDrag *g, double x, double y, Overlay *o)
{
    (void) g, (void) x, (void) y;
    o->drag_from = o->from;
    o->drag_to = o->to;
    o->is_dragged = FALSE;
}

static void on_overlay_drag(GtkGestureDrag *g, double dx, double dy, Overlay *o)
{
    (void) g, (void) dy;
    const NinoPlotBox b = box_now(o);
    const double by = -dx / (double) b.w * (o->drag_to - o->drag_from);
    if (fabs(dx) < 4 && !o->is_dragged)
        return;
    o->is_dragged = TRUE;
    overlay_set_view(o, o->drag_from + by, o->drag_to + by);
}

void nino_overlay_mark(GtkWidget *overlay, const char *node, gboolean is_near)
{
    Overlay *o = overlay_of(overlay);
    g_strlcpy(o->marked, node ? node : "", sizeof(o->marked));
    for (guint i = 0; i < o->slots->len && is_near && node; i++) {
        const Slot *s = &g_array_index(o->slots, Slot, i);
        if (!strcmp(s->name, node))
            overlay_set_view(o, s->at - s->width * 0.02, s->at + s->width * 1.02);
    }
    if (!node)
        overlay_set_view(o, 0, o->all);
    gtk_widget_queue_draw(o->area);
}

void nino_overlay_set_together(GtkWidget *overlay, gboolean is_together)
{
    Overlay *o = overlay_of(overlay);
    o->is_together = is_together;
    overlay_lay_out(o);
}

void nino_overlay_export(GtkWidget *overlay, cairo_t *cr, double w, double h, gboolean is_dark)
{
    nino_area_export(overlay_of(overlay)->area, cr, w, h, is_dark);
}

// ---- widget ------------------------------------------------------------------------------------

static void overlay_free(gpointer user)
{
    Overlay *o = user;
    g_array_unref(o->nodes);
    g_array_unref(o->slots);
    g_array_unref(o->parts);
    g_free(o);
}

static void add_overlay_controllers(Overlay *o)
{
    GtkEventController *c = gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
    g_signal_connect(c, "scroll", G_CALLBACK(on_overlay_scroll), o);
    gtk_widget_add_controller(o->area, c);
    c = gtk_event_controller_motion_new();
    g_signal_connect(c, "motion", G_CALLBACK(on_overlay_motion), o);
    gtk_widget_add_controller(o->area, c);
    GtkGesture *g = gtk_gesture_drag_new();
    g_signal_connect(g, "drag-begin", G_CALLBACK(on_overlay_drag_begin), o);
    g_signal_connect(g, "drag-update", G_CALLBACK(on_overlay_drag), o);
    gtk_widget_add_controller(o->area, GTK_EVENT_CONTROLLER(g));
}

GtkWidget *nino_overlay_new(NinoRun *run, NinoOverlayFn chosen, gpointer user)
{
    static const NinoAreaType type = { .label = N_("Two runs over each other"),
                                       .draw = nino_overlay_draw,
                                       .tip = overlay_tip,
                                       .item = overlay_item,
                                       .click = overlay_click,
                                       .key = overlay_key,
                                       .draws_itself = TRUE,
                                       .min_width = 240,
                                       .min_height = HEAD + 2 * (BAR + SHIFT + GAP) + GAP +
                                                     2 * DEVICE + 4 + FOOT };
    Overlay *o = g_new0(Overlay, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    o->run = run;
    o->chosen = chosen;
    o->user = user;
    o->nodes = g_array_new(FALSE, FALSE, sizeof(Slot));
    o->slots = g_array_new(FALSE, FALSE, sizeof(Slot));
    o->parts = g_array_new(FALSE, FALSE, sizeof(Part));
    o->to = 1;
    o->area = nino_area_new(run, &type, o, overlay_free);
    g_object_set_data(G_OBJECT(box), "overlay", o);
    add_overlay_controllers(o);
    gtk_box_append(GTK_BOX(box), o->area);
    return box;
}
