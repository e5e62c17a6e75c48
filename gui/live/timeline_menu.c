// The menu of the timeline: what can be done with the bar and the row that it was asked for on.
#include "live/timeline_priv.h"

#include "base/i18n.h"

static Timeline *timeline_of(gpointer box) { return g_object_get_data(G_OBJECT(box), "timeline"); }

static gboolean menu_time(const Timeline *t, guint64 *t0, guint64 *t1)
{
    size_t n;
    nino_history *h = nino_run_history(t->run);
    const nino_event *e = nino_run_picked_slice(t->run);
    const int32_t at = nino_run_picked_span(t->run);
    const nino_span *s = at >= 0 ? &nino_history_spans(h, &n)[at] : NULL;
    if (!e && !s)
        return FALSE;
    *t0 = e ? e->t_ns : s->begin_ns;
    *t1 = e ? e->t_ns + MAX(e->u.kernel.dur_ns, 1) : s->end_ns ? s->end_ns : nino_history_end(h);
    return TRUE;
}

static void menu_select(GSimpleAction *a, GVariant *parameter, gpointer box)
{
    (void) a, (void) parameter;
    Timeline *t = timeline_of(box);
    guint64 t0, t1;
    const int32_t span = nino_run_picked_span(t->run);
    const nino_event *e = nino_run_picked_slice(t->run);
    const nino_event call = e ? *e : (nino_event){ .t_ns = 0 };
    if (!menu_time(t, &t0, &t1))
        return;
    nino_run_select(t->run, t0, t1);
    if (e)
        nino_run_pick_slice(t->run, &call);
    else
        nino_run_pick_span(t->run, span);
}

static void menu_zoom(GSimpleAction *a, GVariant *parameter, gpointer box)
{
    (void) a, (void) parameter;
    Timeline *t = timeline_of(box);
    guint64 t0, t1;
    if (!menu_time(t, &t0, &t1))
        return;
    const guint64 margin = MAX((t1 - t0) / 4, 2000);
    nino_run_set_view(t->run, t0 - MIN(t0, margin), t1 + margin);
}

static void menu_note(GSimpleAction *a, GVariant *parameter, gpointer box)
{
    (void) a, (void) parameter;
    const Timeline *t = timeline_of(box);
    nino_area_ask_note(NINO_AREA(t->area), t->menu_at);
}

// Rows and bars with the name of what is chosen.
static void menu_only(GSimpleAction *a, GVariant *parameter, gpointer box)
{
    (void) a, (void) parameter;
    const Timeline *t = timeline_of(box);
    size_t n;
    const nino_event *e = nino_run_picked_slice(t->run);
    const int32_t at = nino_run_picked_span(t->run);
    const uint32_t name = e         ? e->name
                          : at >= 0 ? nino_history_spans(nino_run_history(t->run), &n)[at].name
                                    : 0;
    gtk_widget_activate_action(box, "win.find-in-timeline", "s", nino_run_name(t->run, name));
}

static void menu_row(GSimpleAction *a, GVariant *parameter, gpointer box)
{
    (void) parameter;
    Timeline *t = timeline_of(box);
    const char *name = g_action_get_name(G_ACTION(a));
    if (g_str_equal(name, "show-all"))
        nino_timeline_show_all(t);
    else if (t->menu_row < t->n_rows)
        nino_timeline_toggle(t, &t->row[t->menu_row],
                             g_str_equal(name, "hide")  ? ROW_HIDDEN
                             : g_str_equal(name, "pin") ? ROW_PINNED
                                                        : ROW_COLLAPSED);
}

static void of_bar(const Timeline *t, GMenu *menu)
{
    const nino_event *e = nino_run_picked_slice(t->run);
    g_autoptr(GMenu) section = g_menu_new();
    g_menu_append(section, _("Select its time"), "timeline.select");
    g_menu_append(section, _("Zoom to it"), "timeline.zoom");
    g_menu_append(section, _("Only what is called so"), "timeline.only");
    g_menu_append_section(menu, NULL, G_MENU_MODEL(section));
    if (!e || e->kind != NINO_EV_KERNEL)
        return;
    g_autoptr(GMenu) kernel = g_menu_new();
    g_menu_append(kernel, _("Look into the kernel"), "win.view::kernel/peers");
    g_menu_append(kernel, _("Source"), "win.view::kernel/source");
    g_menu_append(kernel, _("Machine code"), "win.view::kernel/code");
    g_menu_append_section(menu, NULL, G_MENU_MODEL(kernel));
}

static void of_row(const Timeline *t, const Row *r, GMenu *menu)
{
    const guint flags = nino_timeline_flags(t, r);
    g_autoptr(GMenu) section = g_menu_new();
    g_menu_append(section, _("Hide this row"), "timeline.hide");
    g_menu_append(section, flags & ROW_PINNED ? _("Unpin this row") : _("Pin this row to the top"),
                  "timeline.pin");
    g_menu_append(section,
                  flags & ROW_COLLAPSED ? _("Show all of its rows") : _("Collapse its rows"),
                  "timeline.collapse");
    g_menu_append_section(menu, NULL, G_MENU_MODEL(section));
}

static gboolean menu_gone(gpointer popover)
{
    if (gtk_widget_get_parent(popover))
        gtk_widget_unparent(popover);
    return G_SOURCE_REMOVE;
}

// Not at once: its item is activated after it was closed.
static void on_timeline_menu_closed(GtkWidget *popover, gpointer area)
{
    gtk_widget_grab_focus(area);
    g_idle_add_full(G_PRIORITY_LOW, menu_gone, g_object_ref(popover), g_object_unref);
}

void nino_timeline_menu(Timeline *t, double x, double y)
{
    const Row *r = nino_timeline_row_at(t, y);
    g_autoptr(GMenu) menu = g_menu_new(), last = g_menu_new();
    guint64 t0, t1;
    nino_run_view(t->run, &t0, &t1);
    const double width = gtk_widget_get_width(t->area) - GUTTER - 8;
    t->menu_at = t0 + (guint64) (CLAMP((x - GUTTER) / MAX(width, 1), 0, 1) * (double) (t1 - t0));
    t->menu_row = r ? (int) (r - t->row) : t->n_rows;
    if (r && x >= GUTTER && nino_timeline_pick(NINO_AREA(t->area), x, y, 1, t) &&
        menu_time(t, &t0, &t1))
        of_bar(t, menu);
    if (r)
        of_row(t, r, menu);
    if (nino_timeline_has_flags(t))
        g_menu_append(last, _("Show all rows"), "timeline.show-all");
    if (x >= GUTTER)
        g_menu_append(last, _("Note about this moment…"), "timeline.note");
    g_menu_append_section(menu, NULL, G_MENU_MODEL(last));
    GtkWidget *popover = gtk_popover_menu_new_from_model(G_MENU_MODEL(menu));
    gtk_widget_set_parent(popover, t->area);
    gtk_popover_set_has_arrow(GTK_POPOVER(popover), FALSE);
    gtk_popover_set_pointing_to(GTK_POPOVER(popover), &(GdkRectangle){ (int) x, (int) y, 1, 1 });
    g_signal_connect_object(popover, "closed", G_CALLBACK(on_timeline_menu_closed), t->area, 0);
    gtk_popover_popup(GTK_POPOVER(popover));
}

static void on_timeline_secondary(GtkGestureClick *g, int n_press, double x, double y, Timeline *t)
{
    (void) n_press;
    gtk_gesture_set_state(GTK_GESTURE(g), GTK_EVENT_SEQUENCE_CLAIMED);
    if (t->n_rows || nino_timeline_has_flags(t))
        nino_timeline_menu(t, x, y);
}

void nino_timeline_add_menu(Timeline *t, GtkWidget *box)
{
    static const GActionEntry actions[] = {
        { .name = "select", .activate = menu_select }, { .name = "zoom", .activate = menu_zoom },
        { .name = "note", .activate = menu_note },     { .name = "only", .activate = menu_only },
        { .name = "hide", .activate = menu_row },      { .name = "pin", .activate = menu_row },
        { .name = "collapse", .activate = menu_row },  { .name = "show-all", .activate = menu_row },
    };
    g_autoptr(GSimpleActionGroup) group = g_simple_action_group_new();
    g_action_map_add_action_entries(G_ACTION_MAP(group), actions, G_N_ELEMENTS(actions), box);
    gtk_widget_insert_action_group(box, "timeline", G_ACTION_GROUP(group));
    GtkGesture *g = gtk_gesture_click_new();
    gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(g), GDK_BUTTON_SECONDARY);
    g_signal_connect(g, "pressed", G_CALLBACK(on_timeline_secondary), t);
    gtk_widget_add_controller(t->area, GTK_EVENT_CONTROLLER(g));
}
