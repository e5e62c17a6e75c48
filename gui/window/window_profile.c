// The perspective Profile: runs at the left, the timeline above the view that was chosen, details at the right;
// a bar that says which range is selected; any view in a window of its own.
#include "window/window_priv.h"

#include <string.h>

#include "base/i18n.h"
#include "details/details.h"
#include "live/timeline.h"
#include "live/views.h"
#include "plot/overview.h"
#include "plot/plot.h"
#include "settings/prefs.h"

// ---- views --------------------------------------------------------------------------------------

static int view_index(const char *id)
{
    for (int i = 0; nino_views[i]; i++)
        if (!strcmp(nino_views[i]->id, id))
            return i;
    return -1;
}

void nino_window_show_runs(NinoWindow *w, gboolean on)
{
    gtk_widget_set_visible(w->runs_box, on);
    nino_window_set_state_bool(w, "profile-runs", on);
}

void nino_window_show_details(NinoWindow *w, gboolean on)
{
    w->details_wait = FALSE;
    gtk_widget_set_visible(w->details_box, on);
    nino_window_set_state_bool(w, "profile-details", on);
}

// Until then the pane would be empty.
static void on_profile_pick(NinoWindow *w)
{
    if (w->details_wait && nino_run_picked(w->records) != NINO_PICK_NOTHING)
        nino_window_show_details(w, TRUE);
}

// "kernel", or one of its pages: "kernel/source".
static void action_view(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a;
    NinoWindow *w = user;
    g_auto(GStrv) part = g_strsplit(g_variant_get_string(parameter, NULL), "/", 2);
    const int i = part[0] ? view_index(part[0]) : -1;
    if (i < 0)
        return;
    w->view = g_ptr_array_index(w->views, (guint) i);
    nino_window_show_perspective(w, "profile");
    const int page = gtk_notebook_page_num(w->live, w->view);
    if (page >= 0)
        gtk_notebook_set_current_page(w->live, page);
    if (gtk_widget_is_ancestor(w->view, w->runs_box))
        nino_window_show_runs(w, TRUE);
    if (part[1])
        nino_kernel_view_page(w->view, part[1]);
}

static void on_view_page(GtkNotebook *live, GtkWidget *page, guint i, gpointer user)
{
    (void) live, (void) i;
    NINO_WINDOW(user)->view = page;
}

// The timeline above, the runs at the left; a page for each other view of the table, explained in a tooltip.
static void add_views(NinoWindow *w)
{
    w->records = nino_run_new();
    w->views = g_ptr_array_new();
    for (const NinoViewType *const *v = nino_views; *v; v++) {
        GtkWidget *view = nino_view_new(*v, w->records);
        g_ptr_array_add(w->views, view);
        nino_window_add_advice(w, view);
        if (v == nino_views || !strcmp((*v)->id, "runs")) {
            gtk_widget_set_hexpand(view, TRUE);
            gtk_box_append(GTK_BOX(v == nino_views ? w->timeline_box : w->runs_box), view);
            continue;
        }
        GtkWidget *label = gtk_label_new(_((*v)->title));
        gtk_widget_set_tooltip_text(label, _((*v)->help));
        gtk_notebook_append_page(w->live, view, label);
        nino_window_name_tab(w->live, view, _((*v)->title));
    }
    w->view = g_ptr_array_index(w->views, 0);
    g_signal_connect(w->live, "switch-page", G_CALLBACK(on_view_page), w);
}

// ---- windows of their own -----------------------------------------------------------------------

// Its views are new ones, of the same run: what is selected is selected in both windows.
void nino_window_open_view(NinoWindow *w, const char *id)
{
    const NinoViewType *type = nino_view_find(id);
    if (!type)
        return;
    GtkWidget *window = gtk_window_new(), *view = nino_view_new(type, w->records);
    g_autofree char *title = g_strdup_printf("%s — Ninodes Studio", _(type->title));
    gtk_window_set_title(GTK_WINDOW(window), title);
    gtk_window_set_default_size(GTK_WINDOW(window), 900, 520);
    gtk_widget_insert_action_group(window, "win", G_ACTION_GROUP(w));
    gtk_window_set_child(GTK_WINDOW(window), view);
    g_signal_connect_object(w, "destroy", G_CALLBACK(gtk_window_destroy), window,
                            G_CONNECT_SWAPPED);
    gtk_window_present(GTK_WINDOW(window));
}

static void action_view_window(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a;
    NinoWindow *w = user;
    const char *id = parameter ? g_variant_get_string(parameter, NULL) : "";
    for (guint i = 0; !parameter && i < w->views->len; i++)
        if (g_ptr_array_index(w->views, i) == w->view)
            id = nino_views[i]->id;
    nino_window_open_view(w, id);
}

// ---- the bar ------------------------------------------------------------------------------------

static void action_toggle(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) parameter;
    NinoWindow *w = user;
    g_autoptr(GVariant) state = g_action_get_state(G_ACTION(a));
    const gboolean on = !g_variant_get_boolean(state);
    nino_window_show_perspective(w, "profile");
    if (g_str_equal(g_action_get_name(G_ACTION(a)), "profile-runs"))
        nino_window_show_runs(w, on);
    else
        nino_window_show_details(w, on);
}

// "268–282 ms, 14.0 ms, 3 steps"
static void on_profile_range(NinoWindow *w)
{
    GtkWidget *box = g_object_get_data(G_OBJECT(w->profile_bar), "range");
    guint64 t0, t1;
    size_t n;
    char from[40], to[40], took[40];
    const gboolean any = nino_run_range(w->records, &t0, &t1);
    gtk_widget_set_visible(box, any);
    if (!any)
        return;
    guint steps = 0;
    nino_history *h = nino_run_history(w->records);
    const guint64 begin = nino_history_begin(h);
    const nino_span *all = nino_history_spans(h, &n);
    for (size_t i = 0; i < n; i++)
        steps += all[i].kind == NINO_EV_STEP && all[i].begin_ns >= t0 && all[i].begin_ns < t1;
    nino_format_ns(from, sizeof(from), (double) t0 - (double) begin);
    nino_format_ns(to, sizeof(to), (double) t1 - (double) begin);
    nino_format_ns(took, sizeof(took), (double) (t1 - t0));
    g_autofree char *counted =
        steps ? g_strdup_printf(ngettext(", %u step", ", %u steps", steps), steps) : g_strdup("");
    g_autofree char *text = g_strdup_printf("%s – %s, %s%s", from, to, took, counted);
    gtk_label_set_text(GTK_LABEL(gtk_widget_get_first_child(box)), text);
}

static void on_profile_no_range(NinoWindow *w) { nino_run_select(w->records, 0, 0); }

static GtkWidget *make_range(NinoWindow *w)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_XS);
    GtkWidget *label = gtk_label_new(""),
              *clear = gtk_button_new_from_icon_name("window-close-symbolic");
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_widget_set_tooltip_text(label, _("The selected range: all views show what lies in it"));
    gtk_widget_add_css_class(label, "numeric");
    gtk_widget_set_tooltip_text(clear, _("Select no range (Escape in a plot)"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(clear), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Select no range"), -1);
    gtk_button_set_has_frame(GTK_BUTTON(clear), FALSE);
    g_signal_connect_swapped(clear, "clicked", G_CALLBACK(on_profile_no_range), w);
    gtk_box_append(GTK_BOX(box), label);
    gtk_box_append(GTK_BOX(box), clear);
    gtk_widget_hide(box);
    g_object_set_data(G_OBJECT(w->profile_bar), "range", box);
    return box;
}

// ---- finding in the timeline --------------------------------------------------------------------

static void on_find(GtkEditable *entry, NinoWindow *w)
{
    char n[40], text[64] = "";
    const char *what = gtk_editable_get_text(entry);
    const guint found = nino_timeline_find(g_ptr_array_index(w->views, 0), what);
    nino_format_count(n, sizeof(n), found);
    if (*what)
        g_snprintf(text, sizeof(text), ngettext("%s bar", "%s bars", found), n);
    gtk_label_set_text(g_object_get_data(G_OBJECT(entry), "count"), text);
}

static void on_find_next(GtkEditable *entry, NinoWindow *w)
{
    (void) entry;
    nino_timeline_find_next(g_ptr_array_index(w->views, 0));
}

static void on_find_stop(GtkEditable *entry, NinoWindow *w)
{
    (void) w;
    gtk_editable_set_text(entry, "");
}

static void action_find(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a;
    NinoWindow *w = user;
    nino_window_show_perspective(w, "profile");
    if (parameter)
        gtk_editable_set_text(GTK_EDITABLE(w->find), g_variant_get_string(parameter, NULL));
    else
        gtk_widget_grab_focus(w->find);
}

static GtkWidget *make_find(NinoWindow *w)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_S),
              *count = gtk_label_new("");
    w->find = gtk_search_entry_new();
    g_object_set(w->find, "placeholder-text", _("Find in the timeline"), "width-chars", 18, NULL);
    gtk_widget_set_tooltip_text(
        w->find,
        _("Rows with this in a name stay, other bars fade; Enter goes to the next (Ctrl+F)"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(w->find), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Find in the timeline"), -1);
    gtk_widget_add_css_class(count, "dim-label");
    g_object_set_data(G_OBJECT(w->find), "count", count);
    g_signal_connect(w->find, "search-changed", G_CALLBACK(on_find), w);
    g_signal_connect(w->find, "activate", G_CALLBACK(on_find_next), w);
    g_signal_connect(w->find, "stop-search", G_CALLBACK(on_find_stop), w);
    gtk_box_append(GTK_BOX(box), w->find);
    gtk_box_append(GTK_BOX(box), count);
    return box;
}

// ---- the rest of the bar ------------------------------------------------------------------------

static GtkWidget *toggle(const char *icon, const char *action, const char *name, const char *help)
{
    GtkWidget *b = gtk_toggle_button_new();
    gtk_button_set_icon_name(GTK_BUTTON(b), icon);
    gtk_button_set_has_frame(GTK_BUTTON(b), FALSE);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(b), action);
    gtk_widget_set_tooltip_text(b, help);
    gtk_accessible_update_property(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    return b;
}

static void make_bar(NinoWindow *w)
{
    GtkBox *bar = GTK_BOX(w->profile_bar);
    GtkWidget *space = gtk_label_new(NULL),
              *own = gtk_button_new_from_icon_name("view-restore-symbolic");
    gtk_box_append(bar, toggle("view-list-symbolic", "win.profile-runs", _("List of runs"),
                               _("Runs that were kept")));
    gtk_box_append(bar, make_find(w));
    gtk_box_append(bar, make_range(w));
    gtk_widget_set_hexpand(space, TRUE);
    gtk_box_append(bar, space);
    GtkWidget *suite = gtk_button_new_with_label(_("Benchmark…"));
    gtk_button_set_has_frame(GTK_BUTTON(suite), FALSE);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(suite), "win.suite");
    gtk_widget_set_tooltip_text(suite,
                                _("What each optimisation gives on this device, measured in turn"));
    gtk_box_append(bar, suite);
    gtk_button_set_has_frame(GTK_BUTTON(own), FALSE);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(own), "win.view-window");
    gtk_widget_set_tooltip_text(own, _("The chosen view in a window of its own"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(own), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Open in a window"), -1);
    gtk_box_append(bar, own);
    gtk_box_append(bar, nino_window_new_views_button(w));
    gtk_box_append(bar, toggle("sidebar-show-right-symbolic", "win.profile-details",
                               _("Details pane"), _("Details of what is chosen")));
    g_signal_connect_object(w->records, "range", G_CALLBACK(on_profile_range), w,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(w->records, "cleared", G_CALLBACK(on_profile_range), w,
                            G_CONNECT_SWAPPED);
}

// ---- what is remembered -------------------------------------------------------------------------

enum { RUNS_WIDTH = 216 };

// A place of the separator is kept from the left: the width at the right is known once the pane has its own.
static gboolean restore_details(GtkWidget *pane, GdkFrameClock *clock, gpointer user)
{
    (void) clock;
    NinoWindow *w = user;
    const int all = gtk_widget_get_width(pane),
              width = (int) nino_state_number("profile-details", 0);
    if (!all)
        return G_SOURCE_CONTINUE;
    if (width > 0)
        gtk_paned_set_position(GTK_PANED(pane), all - width);
    w->has_details_width = TRUE;
    return G_SOURCE_REMOVE;
}

static void on_details_map(GtkWidget *pane, NinoWindow *w)
{
    if (!w->has_details_width)
        gtk_widget_add_tick_callback(pane, restore_details, w, NULL);
}

void nino_window_profile_restore(NinoWindow *w)
{
    gtk_paned_set_position(w->rows, (int) nino_state_number("timeline", 300));
    gtk_paned_set_position(w->runs_pane, (int) nino_state_number("profile-runs", RUNS_WIDTH));
    g_signal_connect(w->details_pane, "map", G_CALLBACK(on_details_map), w);
    nino_window_show_runs(w, nino_state_number("profile-runs-shown", 1) > 0);
    nino_window_show_details(w, FALSE);
    w->details_wait = nino_state_number("profile-details-shown", 1) > 0;
    g_signal_connect_object(w->records, "pick", G_CALLBACK(on_profile_pick), w, G_CONNECT_SWAPPED);
}

void nino_window_profile_remember(NinoWindow *w)
{
    nino_state_set_number("timeline", gtk_paned_get_position(w->rows));
    nino_state_set_number("profile-runs", gtk_paned_get_position(w->runs_pane));
    if (w->has_details_width && gtk_widget_get_visible(w->details_box))
        nino_state_set_number("profile-details", gtk_widget_get_width(GTK_WIDGET(w->details_pane)) -
                                                     gtk_paned_get_position(w->details_pane));
    nino_state_set_number("profile-runs-shown", gtk_widget_get_visible(w->runs_box));
    nino_state_set_number("profile-details-shown",
                          w->details_wait || gtk_widget_get_visible(w->details_box));
}

void nino_window_profile_init(NinoWindow *w)
{
    static const GActionEntry actions[] = {
        { .name = "view", .activate = action_view, .parameter_type = "s" },
        { .name = "view-window", .activate = action_view_window },
        { .name = "view-window-of", .activate = action_view_window, .parameter_type = "s" },
        { .name = "find-bar", .activate = action_find },
        { .name = "find-in-timeline", .activate = action_find, .parameter_type = "s" },
        { .name = "profile-runs", .activate = action_toggle, .state = "true" },
        { .name = "profile-details", .activate = action_toggle, .state = "false" },
    };
    g_action_map_add_action_entries(G_ACTION_MAP(w), actions, G_N_ELEMENTS(actions), w);
    add_views(w);
    gtk_box_prepend(GTK_BOX(w->overview_box), nino_overview_new(w->records));
    gtk_box_append(GTK_BOX(w->details_box), nino_details_new(w->records));
    nino_window_saved_views_init(w);
    nino_window_suite_init(w);
    make_bar(w);
}
