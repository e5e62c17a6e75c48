// The menu of what is chosen: where its time is, what it is called, and the ways into a kernel.
#include "plot/pick_menu.h"

#include "base/i18n.h"

typedef struct PickMenu {
    NinoRun *run;
    NinoPickAtFn at;
    gpointer user;
} PickMenu;

// ---- what is chosen ----------------------------------------------------------------------------

gboolean nino_pick_longest(NinoRun *run, nino_event *call)
{
    guint64 t0, t1;
    nino_run_range(run, &t0, &t1);
    return nino_history_calls(nino_run_history(run), nino_run_kernel(run), t0, t1, call, 1) > 0;
}

gboolean nino_pick_time(NinoRun *run, guint64 *t0, guint64 *t1)
{
    size_t n;
    nino_history *h = nino_run_history(run);
    const nino_event *e = nino_run_picked_slice(run);
    const int32_t at = nino_run_picked_span(run);
    nino_event call;
    if (!e && nino_run_picked(run) == NINO_PICK_KERNEL && nino_pick_longest(run, &call))
        e = &call;
    if (e) {
        *t0 = e->t_ns;
        *t1 = e->t_ns + MAX(e->u.kernel.dur_ns, 1);
    } else if (at >= 0) {
        const nino_span *s = &nino_history_spans(h, &n)[at];
        *t0 = s->begin_ns;
        *t1 = s->end_ns ? s->end_ns : nino_history_end(h);
    } else {
        return nino_run_picked(run) == NINO_PICK_RANGE && nino_run_range(run, t0, t1);
    }
    return TRUE;
}

static const char *pick_name(NinoRun *run)
{
    size_t n;
    const nino_event *e = nino_run_picked_slice(run);
    const int32_t at = nino_run_picked_span(run);
    const uint32_t name = e         ? e->name
                          : at >= 0 ? nino_history_spans(nino_run_history(run), &n)[at].name
                          : nino_run_picked(run) == NINO_PICK_KERNEL ? nino_run_kernel(run)
                                                                     : 0;
    return nino_run_title(run, nino_run_name(run, name));
}

static gboolean is_pick_kernel(NinoRun *run)
{
    const nino_event *e = nino_run_picked_slice(run);
    nino_event call;
    return e ? e->kind == NINO_EV_KERNEL
             : nino_run_picked(run) == NINO_PICK_KERNEL && nino_pick_longest(run, &call) &&
                   call.kind == NINO_EV_KERNEL;
}

// ---- actions -----------------------------------------------------------------------------------

// What was chosen stays so: a range takes its place else.
static void pick_select(GtkWidget *w, NinoRun *run)
{
    (void) w;
    guint64 t0, t1;
    const int32_t span = nino_run_picked_span(run);
    const nino_event *e = nino_run_picked_slice(run);
    const nino_event call = e ? *e : (nino_event){ .t_ns = 0 };
    if (!nino_pick_time(run, &t0, &t1))
        return;
    nino_run_select(run, t0, t1);
    if (e)
        nino_run_pick_slice(run, &call);
    else
        nino_run_pick_span(run, span);
}

static void pick_zoom(GtkWidget *w, NinoRun *run)
{
    guint64 t0, t1;
    if (!nino_pick_time(run, &t0, &t1))
        return;
    const guint64 margin = MAX((t1 - t0) / 4, 2000);
    nino_run_set_view(run, t0 - MIN(t0, margin), t1 + margin);
    gtk_widget_activate_action(w, "win.view", "s", "timeline");
}

static void pick_longest(GtkWidget *w, NinoRun *run)
{
    nino_event call;
    if (nino_pick_longest(run, &call))
        nino_run_show(run, &call);
    gtk_widget_activate_action(w, "win.view", "s", "timeline");
}

// Rows and bars with the name of what is chosen.
static void pick_only(GtkWidget *w, NinoRun *run)
{
    gtk_widget_activate_action(w, "win.find-in-timeline", "s", pick_name(run));
}

static void pick_copy(GtkWidget *w, NinoRun *run)
{
    gdk_clipboard_set_text(gtk_widget_get_clipboard(w), pick_name(run));
}

static const struct {
    const char *name;
    void (*act)(GtkWidget *w, NinoRun *run);
} acts[] = { { "select", pick_select },
             { "zoom", pick_zoom },
             { "longest", pick_longest },
             { "only", pick_only },
             { "copy", pick_copy } };

static void on_pick_action(GSimpleAction *a, GVariant *parameter, gpointer w)
{
    (void) parameter;
    for (size_t i = 0; i < G_N_ELEMENTS(acts); i++)
        if (g_str_equal(acts[i].name, g_action_get_name(G_ACTION(a))))
            acts[i].act(w, g_object_get_data(w, "nino-pick-run"));
}

void nino_pick_actions(GtkWidget *w, NinoRun *run)
{
    g_autoptr(GSimpleActionGroup) group = g_simple_action_group_new();
    g_object_set_data_full(G_OBJECT(w), "nino-pick-run", g_object_ref(run), g_object_unref);
    for (size_t i = 0; i < G_N_ELEMENTS(acts); i++) {
        g_autoptr(GSimpleAction) a = g_simple_action_new(acts[i].name, NULL);
        g_signal_connect(a, "activate", G_CALLBACK(on_pick_action), w);
        g_action_map_add_action(G_ACTION_MAP(group), G_ACTION(a));
    }
    gtk_widget_insert_action_group(w, "pick", G_ACTION_GROUP(group));
}

// ---- the menu ----------------------------------------------------------------------------------

GMenu *nino_pick_menu_new(NinoRun *run)
{
    guint64 t0, t1;
    GMenu *menu = g_menu_new();
    g_autoptr(GMenu) time = g_menu_new(), kernel = g_menu_new(), name = g_menu_new();
    if (nino_run_picked(run) == NINO_PICK_KERNEL)
        g_menu_append(time, _("Its longest call in the timeline"), "pick.longest");
    else if (nino_pick_time(run, &t0, &t1)) {
        g_menu_append(time, _("Zoom to it"), "pick.zoom");
        if (nino_run_picked(run) != NINO_PICK_RANGE)
            g_menu_append(time, _("Select its time"), "pick.select");
    }
    if (is_pick_kernel(run)) {
        g_menu_append(kernel, _("Peers"), "win.view::kernel/peers");
        g_menu_append(kernel, _("Source"), "win.view::kernel/source");
        g_menu_append(kernel, _("Machine code"), "win.view::kernel/code");
        g_menu_append(kernel, _("Replay"), "win.view::kernel/replay");
    }
    if (*pick_name(run)) {
        g_menu_append(name, _("Only what is called so"), "pick.only");
        g_menu_append(name, _("Copy the name"), "pick.copy");
    }
    GMenu *const parts[] = { time, kernel, name };
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        if (g_menu_model_get_n_items(G_MENU_MODEL(parts[i])))
            g_menu_append_section(menu, NULL, G_MENU_MODEL(parts[i]));
    return menu;
}

static gboolean pick_menu_gone(gpointer popover)
{
    if (gtk_widget_get_parent(popover))
        gtk_widget_unparent(popover);
    return G_SOURCE_REMOVE;
}

// Not at once: its item is activated after it was closed.
static void on_pick_menu_closed(GtkWidget *popover, gpointer w)
{
    GtkWidget *row = g_object_get_data(G_OBJECT(popover), "nino-focus");
    gtk_widget_set_can_target(w, TRUE);
    gtk_widget_grab_focus(row && gtk_widget_is_ancestor(row, w) ? row : w);
    g_idle_add_full(G_PRIORITY_LOW, pick_menu_gone, g_object_ref(popover), g_object_unref);
}

// Separators between sections come from an idle of GTK's, after the menu was measured: it would scroll.
static gboolean pick_menu_fit(gpointer popover)
{
    if (gtk_widget_get_mapped(popover)) {
        gtk_widget_queue_resize(popover);
        gtk_popover_present(popover);
    }
    return G_SOURCE_REMOVE;
}

void nino_pick_menu_open(GtkWidget *w, double x, double y)
{
    const PickMenu *m = g_object_get_data(G_OBJECT(w), "nino-pick-menu");
    g_autoptr(GMenu) more = g_menu_new();
    if (!m)
        return;
    const gboolean is_chosen = m->at(w, &x, &y, more, m->user);
    g_autoptr(GMenu) menu = is_chosen ? nino_pick_menu_new(m->run) : g_menu_new();
    for (int i = 0; i < g_menu_model_get_n_items(G_MENU_MODEL(more)); i++) {
        g_autoptr(GMenuItem) item = g_menu_item_new_from_model(G_MENU_MODEL(more), i);
        g_menu_append_item(menu, item);
    }
    if (!g_menu_model_get_n_items(G_MENU_MODEL(menu)))
        return;
    GtkWidget *popover = gtk_popover_menu_new_from_model(G_MENU_MODEL(menu)),
              *focus = gtk_root_get_focus(gtk_widget_get_root(w));
    if (focus && gtk_widget_is_ancestor(focus, w)) // comes back to where it was
        g_object_set_data_full(G_OBJECT(popover), "nino-focus", g_object_ref(focus),
                               g_object_unref);
    gtk_widget_set_can_target(w, FALSE); // else tooltips of what is below cover the menu
    gtk_widget_set_parent(popover, w);
    gtk_popover_set_has_arrow(GTK_POPOVER(popover), FALSE);
    gtk_popover_set_pointing_to(GTK_POPOVER(popover), &(GdkRectangle){ (int) x, (int) y, 1, 1 });
    g_signal_connect_object(popover, "closed", G_CALLBACK(on_pick_menu_closed), w, 0);
    g_signal_connect_object(w, "destroy", G_CALLBACK(pick_menu_gone), popover, G_CONNECT_SWAPPED);
    gtk_popover_popup(GTK_POPOVER(popover));
    g_idle_add_full(G_PRIORITY_DEFAULT_IDLE, pick_menu_fit, g_object_ref(popover), g_object_unref);
}

static void on_pick_secondary(GtkGestureClick *g, int n_press, double x, double y, gpointer w)
{
    (void) n_press;
    gtk_gesture_set_state(GTK_GESTURE(g), GTK_EVENT_SEQUENCE_CLAIMED);
    nino_pick_menu_open(w, x, y);
}

static gboolean on_pick_key(GtkWidget *w, GVariant *args, gpointer user)
{
    (void) args, (void) user;
    nino_pick_menu_open(w, -1, -1);
    return TRUE;
}

void nino_pick_menu_add(GtkWidget *w, NinoRun *run, NinoPickAtFn at, gpointer user)
{
    PickMenu *m = g_new0(PickMenu, 1);
    *m = (PickMenu){ .run = run, .at = at, .user = user };
    g_object_set_data_full(G_OBJECT(w), "nino-pick-menu", m, g_free);
    nino_pick_actions(w, run); // holds the run
    GtkGesture *g = gtk_gesture_click_new();
    gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(g), GDK_BUTTON_SECONDARY);
    g_signal_connect(g, "pressed", G_CALLBACK(on_pick_secondary), w);
    gtk_widget_add_controller(w, GTK_EVENT_CONTROLLER(g));
    GtkEventController *c = gtk_shortcut_controller_new();
    gtk_shortcut_controller_add_shortcut(
        GTK_SHORTCUT_CONTROLLER(c),
        gtk_shortcut_new(
            gtk_alternative_trigger_new(gtk_keyval_trigger_new(GDK_KEY_Menu, 0),
                                        gtk_keyval_trigger_new(GDK_KEY_F10, GDK_SHIFT_MASK)),
            gtk_callback_action_new(on_pick_key, NULL, NULL)));
    gtk_widget_add_controller(w, c);
}

// ---- rows of tables ----------------------------------------------------------------------------

// The item of the first cell in w.
static gpointer pick_cell_item(GtkWidget *w)
{
    gpointer item = g_object_get_data(G_OBJECT(w), NINO_CELL_ITEM);
    for (GtkWidget *c = gtk_widget_get_first_child(w); c && !item;
         c = gtk_widget_get_next_sibling(c))
        item = pick_cell_item(c);
    return item;
}

// A cell of the item that can be seen.
static GtkWidget *pick_cell_of(GtkWidget *w, gpointer item)
{
    if (g_object_get_data(G_OBJECT(w), NINO_CELL_ITEM) == item && gtk_widget_get_mapped(w))
        return w;
    GtkWidget *found = NULL;
    for (GtkWidget *c = gtk_widget_get_first_child(w); c && !found;
         c = gtk_widget_get_next_sibling(c))
        found = pick_cell_of(c, item);
    return found;
}

gpointer nino_pick_row_at(GtkWidget *table, double *x, double *y, gpointer selected)
{
    if (*x < 0) {
        GtkWidget *cell = selected ? pick_cell_of(table, selected) : NULL;
        if (!cell || !gtk_widget_translate_coordinates(cell, table, 8, 8, x, y))
            *x = *y = 24;
        return selected;
    }
    for (GtkWidget *w = gtk_widget_pick(table, *x, *y, GTK_PICK_DEFAULT); w && w != table;
         w = gtk_widget_get_parent(w)) {
        if (!g_strcmp0(gtk_widget_get_css_name(w), "row"))
            return pick_cell_item(w);
        gpointer item = g_object_get_data(G_OBJECT(w), NINO_CELL_ITEM);
        if (item)
            return item;
    }
    return NULL;
}

void nino_pick_select(GtkSingleSelection *selection, gconstpointer item)
{
    const guint n = g_list_model_get_n_items(G_LIST_MODEL(selection));
    for (guint i = 0; i < n; i++) {
        g_autoptr(GObject) at = g_list_model_get_item(G_LIST_MODEL(selection), i);
        if (at == item)
            gtk_single_selection_set_selected(selection, i);
    }
}

GtkListBoxRow *nino_pick_list_row_at(GtkWidget *list, double *x, double *y)
{
    if (*x >= 0) {
        GtkListBoxRow *at = gtk_list_box_get_row_at_y(GTK_LIST_BOX(list), (int) *y);
        if (at)
            gtk_widget_grab_focus(GTK_WIDGET(at));
        return at;
    }
    GtkWidget *row = gtk_widget_get_focus_child(list);
    if (!GTK_IS_LIST_BOX_ROW(row) || !gtk_widget_translate_coordinates(row, list, 8, 8, x, y))
        return NULL;
    return GTK_LIST_BOX_ROW(row);
}

// ---- a button for it ---------------------------------------------------------------------------

static void on_pick_button_popup(GtkMenuButton *button, gpointer run)
{
    g_autoptr(GMenu) menu = nino_pick_menu_new(run);
    gtk_menu_button_set_menu_model(button, G_MENU_MODEL(menu));
}

static void on_pick_button_pick(GtkWidget *button)
{
    NinoRun *run = g_object_get_data(G_OBJECT(button), "nino-pick-run");
    gtk_widget_set_sensitive(button, nino_run_picked(run) != NINO_PICK_NOTHING);
}

GtkWidget *nino_pick_menu_button(NinoRun *run, const char *name)
{
    GtkWidget *button = gtk_menu_button_new();
    gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(button), "view-more-symbolic");
    gtk_menu_button_set_has_frame(GTK_MENU_BUTTON(button), FALSE);
    gtk_widget_set_tooltip_text(button, _("What can be done with what is chosen (Shift+F10)"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    nino_pick_actions(button, run);
    gtk_menu_button_set_create_popup_func(GTK_MENU_BUTTON(button), on_pick_button_popup, run, NULL);
    static const char *const picks[] = { "pick", "cleared" };
    for (size_t i = 0; i < G_N_ELEMENTS(picks); i++)
        g_signal_connect_object(run, picks[i], G_CALLBACK(on_pick_button_pick), button,
                                G_CONNECT_SWAPPED);
    on_pick_button_pick(button);
    return button;
}
