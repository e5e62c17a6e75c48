// Where things are in the window: two perspectives, the rail with its drawers, the results beside the
// canvas; and what of it is remembered. What is empty takes no room.
#include "window/window_priv.h"

#include <string.h>

#include "base/empty.h"
#include "base/i18n.h"
#include "base/tokens.h"
#include "settings/prefs.h"

// The drawers in the order of the rail.
static const struct {
    const char *name, *title, *icon, *help;
} drawers[] = {
    { "nodes", N_("Nodes"), "list-add-symbolic",
      N_("Kinds of nodes: Enter, a double click or dragging adds one") },
    { "models", N_("Models"), "drive-harddisk-symbolic",
      N_("Files of the model folders: each is added with the node that loads it") },
    { "workflows", N_("Workflows"), "folder-symbolic", N_("Recent workflows and examples") },
    { "queue", N_("Queue"), "view-list-symbolic", N_("What runs, waits and is done (q)") },
    { "problems", N_("Problems"), "dialog-warning-symbolic",
      N_("What keeps the workflow from running, and what it needs (Ctrl+4)") },
    { "form", N_("Form"), "document-edit-symbolic", N_("The values of the workflow in a list") },
    { "log", N_("Log"), "utilities-terminal-symbolic", N_("What the worker said") },
};

// ---- perspectives -------------------------------------------------------------------------------

void nino_window_show_perspective(NinoWindow *w, const char *name)
{
    const gboolean is_new = !g_str_equal(gtk_stack_get_visible_child_name(w->perspectives), name);
    gtk_stack_set_visible_child_name(w->perspectives, name);
    nino_window_set_state_text(w, "perspective", name);
    if (is_new && g_str_equal(name, "profile")) // the timeline's keys work at once
        gtk_widget_child_focus(w->timeline_box, GTK_DIR_TAB_FORWARD);
}

static void action_perspective(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a;
    const char *name = g_variant_get_string(parameter, NULL);
    if (g_str_equal(name, "compose") || g_str_equal(name, "profile"))
        nino_window_show_perspective(user, name);
}

// ---- drawers ------------------------------------------------------------------------------------

static void show_drawer(NinoWindow *w, const char *name)
{
    const gboolean any = *name != 0;
    if (any)
        gtk_stack_set_visible_child_name(w->drawer, name);
    gtk_widget_set_visible(GTK_WIDGET(w->drawer), any);
    nino_window_set_state_text(w, "drawer", name);
}

static void show_side(NinoWindow *w, gboolean on)
{
    gtk_widget_set_visible(w->side, on);
    nino_window_set_state_bool(w, "side", on);
}

void nino_window_show_panel(NinoWindow *w, const char *name)
{
    nino_window_show_perspective(w, "compose");
    if (g_str_equal(name, "result"))
        show_side(w, TRUE);
    else if (gtk_stack_get_child_by_name(w->drawer, name))
        show_drawer(w, name);
}

// Until there is a picture to look at, the drawer is as narrow as what it says.
static void give_side_room(NinoWindow *w)
{
    gboolean is_set;
    g_object_get(w->columns, "position-set", &is_set, NULL);
    if (!is_set)
        gtk_paned_set_position(w->columns, (int) nino_state_number("canvas", 860));
}

void nino_window_has_results(NinoWindow *w)
{
    give_side_room(w);
    if (!w->had_results && !gtk_widget_get_visible(w->side))
        show_side(w, TRUE);
    w->had_results = TRUE; // closed by the user from now on, it stays closed
}

static void action_panel(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a;
    nino_window_show_panel(user, g_variant_get_string(parameter, NULL));
}

// Of the rail: the button of the drawer that is open closes it.
static void action_drawer(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    g_autoptr(GVariant) state = g_action_get_state(G_ACTION(a));
    if (g_variant_equal(state, parameter))
        show_drawer(user, "");
    else
        nino_window_show_panel(user, g_variant_get_string(parameter, NULL));
}

static gboolean toggle(GSimpleAction *a)
{
    g_autoptr(GVariant) state = g_action_get_state(G_ACTION(a));
    const gboolean on = !g_variant_get_boolean(state);
    g_simple_action_set_state(a, g_variant_new_boolean(on));
    return on;
}

static void action_side(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    NinoWindow *w = user;
    (void) parameter;
    gtk_widget_set_visible(w->side, toggle(a));
    w->had_results = TRUE;
}

static void action_focus_mode(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    NinoWindow *w = user;
    (void) parameter;
    const gboolean only_canvas = toggle(a);
    nino_window_show_perspective(w, "compose");
    gtk_widget_set_visible(w->rail, !only_canvas);
    gtk_widget_set_visible(w->status_bar, !only_canvas);
    if (only_canvas)
        show_drawer(w, "");
    show_side(w, !only_canvas && nino_viewer_count(w->viewer) > 0);
}

static void action_step_tab(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    NinoWindow *w = user;
    (void) parameter;
    const int n = gtk_notebook_get_n_pages(w->tabs);
    const int by = g_str_equal(g_action_get_name(G_ACTION(a)), "next-tab") ? 1 : n - 1;
    if (n > 1)
        gtk_notebook_set_current_page(w->tabs, (gtk_notebook_get_current_page(w->tabs) + by) % n);
}

// A notebook calls each of its tabs "Tab"; a screen reader needs to know which one it is.
void nino_window_name_tab(GtkNotebook *notebook, GtkWidget *page, const char *name)
{
    GtkWidget *label = gtk_notebook_get_tab_label(notebook, page);
    GtkWidget *tab = label ? gtk_widget_get_parent(label) : NULL;
    if (tab)
        gtk_accessible_update_property(GTK_ACCESSIBLE(tab), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                       -1);
}

static void title_button(GtkWidget *button, const char *title)
{
    gtk_label_set_text(g_object_get_data(G_OBJECT(button), "label"), title);
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, title,
                                   -1);
}

void nino_window_title_panel(NinoWindow *w, GtkWidget *panel, const char *title)
{
    GtkWidget *button = g_object_get_data(G_OBJECT(panel), "button");
    gtk_stack_page_set_title(gtk_stack_get_page(w->drawer, panel), title);
    title_button(button, title);
}

static void add_drawer(NinoWindow *w, int i, GtkWidget *panel)
{
    GtkWidget *button = gtk_toggle_button_new(),
              *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_HAIR);
    GtkWidget *label = gtk_label_new("");
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_justify(GTK_LABEL(label), GTK_JUSTIFY_CENTER);
    gtk_box_append(GTK_BOX(box), gtk_image_new_from_icon_name(drawers[i].icon));
    gtk_box_append(GTK_BOX(box), label);
    gtk_button_set_child(GTK_BUTTON(button), box);
    gtk_button_set_has_frame(GTK_BUTTON(button), FALSE);
    gtk_widget_set_tooltip_text(button, _(drawers[i].help));
    g_object_set_data(G_OBJECT(button), "label", label);
    g_object_set_data(G_OBJECT(panel), "button", button);
    gtk_stack_add_titled(w->drawer, panel, drawers[i].name, _(drawers[i].title));
    gtk_box_append(GTK_BOX(w->rail), button);
    title_button(button, _(drawers[i].title));
    gtk_actionable_set_action_target(GTK_ACTIONABLE(button), "s", drawers[i].name);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(button), "win.drawer");
}

static GtkWidget *log_panel(NinoWindow *w)
{
    w->log = GTK_TEXT_VIEW(gtk_text_view_new());
    gtk_text_view_set_editable(w->log, FALSE);
    gtk_text_view_set_wrap_mode(w->log, GTK_WRAP_WORD_CHAR);
    gtk_text_view_set_accepts_tab(w->log, FALSE);
    gtk_widget_add_css_class(GTK_WIDGET(w->log), "log");
    nino_window_log_init(w->log);
    gtk_accessible_update_property(GTK_ACCESSIBLE(w->log), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Log of the worker"), -1);
    GtkWidget *scroller = gtk_scrolled_window_new();
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), GTK_WIDGET(w->log));
    GtkWidget *overlay = gtk_overlay_new();
    static const NinoEmpty empty = { "utilities-terminal-symbolic",
                                     N_("No messages so far"),
                                     { { N_("Start a run"), "win.run" },
                                       { N_("Workflows"), "win.drawer::workflows" } } };
    w->log_empty = nino_empty_new(&empty);
    gtk_overlay_set_child(GTK_OVERLAY(overlay), scroller);
    gtk_overlay_add_overlay(GTK_OVERLAY(overlay), w->log_empty);
    return overlay;
}

static void add_panels(NinoWindow *w)
{
    w->viewer = NINO_VIEWER(nino_viewer_new());
    gtk_widget_set_hexpand(GTK_WIDGET(w->viewer), TRUE);
    gtk_box_append(GTK_BOX(w->side), GTK_WIDGET(w->viewer));
    w->queue = NINO_QUEUE_PANEL(nino_queue_panel_new(w->engine));
    w->problems = NINO_PROBLEMS(nino_problems_new());
    w->form = NINO_FORM(nino_form_new());
    GtkWidget *const panels[] = { nino_window_new_shelf(w, "nodes"),
                                  nino_window_new_shelf(w, "models"),
                                  nino_window_new_shelf(w, "workflows"),
                                  GTK_WIDGET(w->queue),
                                  GTK_WIDGET(w->problems),
                                  GTK_WIDGET(w->form),
                                  log_panel(w) };
    for (int i = 0; i < (int) G_N_ELEMENTS(drawers); i++)
        add_drawer(w, i, panels[i]);
    nino_viewer_add_actions(w->viewer, G_ACTION_MAP(w));
}

// ---- what is remembered -------------------------------------------------------------------------

void nino_window_layout_restore(NinoWindow *w)
{
    gtk_window_set_default_size(GTK_WINDOW(w), (int) nino_state_number("width", 1280),
                                (int) nino_state_number("height", 840));
    if (nino_state_number("maximized", 0) > 0)
        gtk_window_maximize(GTK_WINDOW(w));
    gtk_paned_set_position(w->drawer_pane, (int) nino_state_number("drawer", 280));
    nino_window_profile_restore(w);
    if (nino_state_number("profile", 0) > 0)
        nino_window_show_perspective(w, "profile");
}

void nino_window_layout_remember(NinoWindow *w)
{
    int width = 0, height = 0;
    gtk_window_get_default_size(GTK_WINDOW(w), &width, &height);
    nino_state_set_number("width", width);
    nino_state_set_number("height", height);
    nino_state_set_number("maximized", gtk_window_is_maximized(GTK_WINDOW(w)));
    nino_state_set_number("drawer", gtk_paned_get_position(w->drawer_pane));
    if (nino_viewer_count(w->viewer))
        nino_state_set_number("canvas", gtk_paned_get_position(w->columns));
    nino_window_profile_remember(w);
    nino_state_set_number(
        "profile", g_str_equal(gtk_stack_get_visible_child_name(w->perspectives), "profile"));
    nino_state_flush();
}

void nino_window_layout_init(NinoWindow *w)
{
    static const GActionEntry actions[] = {
        { .name = "perspective",
          .activate = action_perspective,
          .parameter_type = "s",
          .state = "'compose'" },
        { .name = "panel", .activate = action_panel, .parameter_type = "s" },
        { .name = "drawer", .activate = action_drawer, .parameter_type = "s", .state = "''" },
        { .name = "side", .activate = action_side, .state = "false" },
        { .name = "focus-mode", .activate = action_focus_mode, .state = "false" },
        { .name = "next-tab", .activate = action_step_tab },
        { .name = "previous-tab", .activate = action_step_tab },
    };
    g_action_map_add_action_entries(G_ACTION_MAP(w), actions, G_N_ELEMENTS(actions), w);
    add_panels(w);
    nino_window_profile_init(w);
}
