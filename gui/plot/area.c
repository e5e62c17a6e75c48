// The plot widget: drawing, keys, menu.
#include "plot/area_priv.h"

#include <math.h>

#include "base/empty.h"
#include "base/i18n.h"
#include "base/tokens.h"
#include "plot/pick_menu.h"

G_DEFINE_TYPE(NinoArea, nino_area, GTK_TYPE_WIDGET)

NinoRun *nino_area_run(NinoArea *area) { return area->run; }
gpointer nino_area_user(NinoArea *area) { return area->user; }

void nino_area_get_box(NinoArea *a, NinoPlotBox *box)
{
    GtkWidget *w = GTK_WIDGET(a);
    const float width = (float) gtk_widget_get_width(w), height = (float) gtk_widget_get_height(w);
    *box = (NinoPlotBox){ 0, 0, width, height };
    if (a->type->box)
        a->type->box(a, width, height, box, a->user);
    box->w = MAX(box->w, 1);
}

float nino_area_line(NinoArea *a)
{
    PangoLayout *l = gtk_widget_create_pango_layout(GTK_WIDGET(a), "Xg");
    int h;
    pango_layout_get_pixel_size(l, NULL, &h);
    g_object_unref(l);
    return (float) h;
}

// ---- drawing -----------------------------------------------------------------------------------

static void set_colours(NinoPlot *p, NinoTheme theme)
{
    p->theme = theme;
    p->is_dark = nino_theme_is_dark(theme);
    p->fg = *nino_token(NINO_COLOUR_PLOT_TEXT, theme);
    p->bg = *nino_token(NINO_COLOUR_PLOT, theme);
    p->dim = *nino_token(NINO_COLOUR_PLOT_DIM, theme);
    p->grid = *nino_token(NINO_COLOUR_PLOT_GRID, theme);
}

static void draw_focus(NinoPlot *p)
{
    const GdkRGBA c = nino_plot_alpha(nino_plot_colour(4), 0.9f);
    nino_plot_frame(p, 0, 0, p->width, p->height, &c);
}

// Where a plot has nothing to draw, a widget says so, and what can be done while nothing at all is known.
static gboolean update_nothing(gpointer area)
{
    static const NinoEmpty nothing = { .icon = "x-office-presentation-symbolic", .text = NULL };
    NinoArea *a = area;
    a->later = 0;
    if (a->nothing && !a->empty) {
        a->empty = nino_empty_new(&nino_empty_no_run);
        gtk_widget_set_parent(a->empty, GTK_WIDGET(a));
    }
    if (a->nothing)
        nino_empty_say(a->empty,
                       nino_history_count(nino_run_history(a->run)) ? &nothing : &nino_empty_no_run,
                       a->nothing);
    if (a->empty)
        gtk_widget_set_visible(a->empty, a->nothing != NULL);
    return G_SOURCE_REMOVE;
}

static void set_nothing(NinoArea *a, const char *text)
{
    const gboolean is_same = a->nothing == text && !text;
    a->nothing = text;
    if (!is_same && !a->later)
        a->later = g_idle_add(update_nothing, a);
}

static void area_snapshot(GtkWidget *w, GtkSnapshot *s)
{
    NinoArea *a = NINO_AREA(w);
    NinoPlot p = { .snapshot = s,
                   .pango = gtk_widget_get_pango_context(w),
                   .layouts = a->layouts,
                   .width = (float) gtk_widget_get_width(w),
                   .height = (float) gtk_widget_get_height(w) };
    set_colours(&p, nino_theme_of(w));
    if (p.width < 40 || p.height < 30)
        return;
    nino_run_draw_begin(a->run);
    nino_plot_clip(&p, 0, 0, p.width, p.height);
    a->type->draw(a, &p, a->user);
    if (gtk_widget_has_focus(w))
        nino_area_draw_item(a, &p);
    if (gtk_widget_has_visible_focus(w))
        draw_focus(&p);
    nino_plot_unclip(&p);
    set_nothing(a, p.nothing);
    if (a->empty && a->nothing)
        gtk_widget_snapshot_child(w, a->empty, s);
    nino_run_draw_end(a->run);
}

// As large as it wants to be, in the middle.
static void area_allocate(GtkWidget *w, int width, int height, int baseline)
{
    NinoArea *a = NINO_AREA(w);
    GtkRequisition least, wanted;
    (void) baseline;
    if (!a->empty || !gtk_widget_get_visible(a->empty))
        return;
    gtk_widget_get_preferred_size(a->empty, &least, &wanted);
    const int w0 = MAX(MIN(wanted.width, width), least.width);
    int h0;
    gtk_widget_measure(a->empty, GTK_ORIENTATION_VERTICAL, w0, &h0, NULL, NULL, NULL);
    gtk_widget_size_allocate(a->empty,
                             &(GtkAllocation){ (width - w0) / 2, (height - h0) / 2, w0, h0 }, -1);
}

void nino_area_export(GtkWidget *area, cairo_t *cr, double width, double height, gboolean is_dark)
{
    NinoArea *a = NINO_AREA(area);
    PangoContext *pango = pango_cairo_create_context(cr);
    PangoFontDescription *font = pango_font_description_from_string("Sans");
    pango_font_description_set_absolute_size(font, NINO_FONT_SMALL * PANGO_SCALE);
    pango_context_set_font_description(pango, font);
    NinoPlot p = { .cr = cr, .pango = pango, .width = (float) width, .height = (float) height };
    set_colours(&p, is_dark ? NINO_THEME_DARK : NINO_THEME_LIGHT);
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
    size_t n;
    const nino_event *note = nino_history_points(nino_run_history(a->run), NINO_EV_NOTE, &n);
    for (size_t i = 0; i < n; i++) {
        const float at = floorf(nino_area_x(a, box, note[i].t_ns));
        if (at < box->x || at >= box->x + box->w)
            continue;
        nino_plot_bar(p, at, box->y, 1, box->h, nino_plot_colour(4));
        nino_plot_bar(p, at - 3, box->y, 7, 5, nino_plot_colour(4));
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

// ---- pointer and keys --------------------------------------------------------------------------

static gboolean on_area_key(GtkEventControllerKey *c, guint key, guint code, GdkModifierType mods,
                            gpointer user)
{
    (void) c, (void) code;
    NinoArea *a = user;
    const gboolean is_known = nino_history_end(nino_run_history(a->run)) > 0;
    if (a->type->has_time && is_known && nino_area_time_key(a, key, mods))
        return TRUE;
    if (a->type->item && !(mods & (GDK_CONTROL_MASK | GDK_ALT_MASK)) && nino_area_item_key(a, key))
        return TRUE;
    return a->type->key && a->type->key(a, key, mods, a->user);
}

// ---- menu --------------------------------------------------------------------------------------

// By a key: of the thing that arrows have stepped to, or of what is at the cursor.
static gboolean area_menu_at(GtkWidget *w, double *x, double *y, GMenu *more, gpointer user)
{
    NinoArea *a = NINO_AREA(w);
    NinoPlotBox box;
    const guint64 t = a->type->has_time ? nino_run_cursor(a->run) : 0;
    gboolean is_chosen = FALSE;
    (void) user;
    nino_area_get_box(a, &box);
    if (*x < 0 && t) {
        *x = CLAMP((double) nino_area_x(a, &box, t), (double) box.x, (double) (box.x + box.w));
        *y = a->type->menu ? -1 : (double) (box.y + box.h / 2);
    } else if (*x < 0 && !a->type->menu && !nino_area_item_place(a, x, y)) {
        return FALSE;
    }
    if (a->type->menu)
        is_chosen = a->type->menu(a, x, y, more, a->user);
    else if (a->type->click)
        is_chosen = a->type->click(a, *x, *y, 1, a->user);
    if (a->type->has_time && *x >= (double) box.x && nino_history_end(nino_run_history(a->run))) {
        g_autoptr(GMenu) last = g_menu_new();
        g_autoptr(GMenuItem) note = g_menu_item_new(_("Note about this moment…"), NULL);
        g_menu_item_set_action_and_target(note, "plot.note", "t",
                                          (guint64) nino_area_time(a, &box, *x));
        g_menu_append_item(last, note);
        g_menu_append_section(more, NULL, G_MENU_MODEL(last));
    }
    return is_chosen;
}

static void area_note(GtkWidget *w, const char *action, GVariant *t)
{
    (void) action;
    nino_area_ask_note(NINO_AREA(w), g_variant_get_uint64(t));
}

static void area_popup(GtkWidget *w, const char *action, GVariant *parameter)
{
    (void) action, (void) parameter;
    gtk_widget_grab_focus(w);
    nino_pick_menu_open(w, -1, -1);
}

// ---- widget ------------------------------------------------------------------------------------

static void on_area_click(GtkGestureClick *g, int n_press, double x, double y, gpointer user)
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

static void area_measure(GtkWidget *w, GtkOrientation orientation, int for_size, int *minimum,
                         int *natural, int *minimum_baseline, int *natural_baseline)
{
    (void) for_size;
    const NinoAreaType *t = NINO_AREA(w)->type;
    *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? t->min_width : t->min_height;
    *natural = *minimum;
    *minimum_baseline = *natural_baseline = -1;
}

static void area_dispose(GObject *o)
{
    NinoArea *a = NINO_AREA(o);
    g_clear_handle_id(&a->later, g_source_remove);
    a->empty = NULL;
    if (a->user_free && a->user)
        a->user_free(a->user);
    a->user = NULL;
    GtkWidget *child; // a popover that is open
    while ((child = gtk_widget_get_first_child(GTK_WIDGET(o))))
        gtk_widget_unparent(child);
    g_clear_object(&a->run);
    g_clear_pointer(&a->layouts, g_hash_table_unref);
    g_clear_pointer(&a->said, g_free);
    G_OBJECT_CLASS(nino_area_parent_class)->dispose(o);
}

static void nino_area_class_init(NinoAreaClass *klass)
{
    GtkWidgetClass *wc = GTK_WIDGET_CLASS(klass);
    G_OBJECT_CLASS(klass)->dispose = area_dispose;
    wc->snapshot = area_snapshot;
    wc->measure = area_measure;
    wc->size_allocate = area_allocate;
    wc->realize = realize;
    wc->css_changed = css_changed;
    gtk_widget_class_install_action(wc, "plot.note", "t", area_note);
    gtk_widget_class_install_action(wc, "menu.popup", NULL, area_popup); // for screen readers
    gtk_widget_class_set_css_name(wc, "plotarea");
    gtk_widget_class_set_accessible_role(wc, GTK_ACCESSIBLE_ROLE_IMG);
}

static void nino_area_init(NinoArea *a)
{
    a->item = -1;
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
    GtkEventController *c = gtk_event_controller_key_new();
    g_signal_connect(c, "key-pressed", G_CALLBACK(on_area_key), a);
    gtk_widget_add_controller(w, c);
    GtkGesture *g = gtk_gesture_click_new();
    g_signal_connect(g, "released", G_CALLBACK(on_area_click), a);
    gtk_widget_add_controller(w, GTK_EVENT_CONTROLLER(g));
    if (a->type->has_time)
        nino_area_add_time_controllers(a);
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
    static const char *const all[] = { "changed", "cleared", "range", "kernel",
                                       "pick",    "view",    "cursor" };
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        if (type->draws_itself ? FALSE : i < 5 || type->has_time)
            g_signal_connect_object(run, all[i], G_CALLBACK(redraw), a, G_CONNECT_SWAPPED);
    nino_area_add_reading(a);
    const gboolean has_menu = type->menu || type->click || type->has_time;
    if (has_menu)
        nino_pick_menu_add(GTK_WIDGET(a), run, area_menu_at, NULL);
    gtk_widget_action_set_enabled(GTK_WIDGET(a), "menu.popup", has_menu);
    add_controllers(a);
    return GTK_WIDGET(a);
}
