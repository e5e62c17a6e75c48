// Layout and what the window remembers of it. `win.state` says over D-Bus what goes on: "empty",
// "ready", "invalid", "running", "paused", "done", "failed", "cancelled".
#include "window/window_priv.h"

#include <ninodes/node.h>

#include <string.h>

#include "settings/actions.h"
#include "viewer/gallery.h"
#include "settings/keys.h"
#include "settings/prefs.h"
#include "node/editors.h"
#include "base/i18n.h"
#include "live/views.h"

G_DEFINE_TYPE(NinoWindow, nino_window, GTK_TYPE_APPLICATION_WINDOW)

static const char *const panel_names[] = { "result", "queue", "problems", "form", "log" };

static GSimpleAction *window_find(NinoWindow *w, const char *action)
{
    return G_SIMPLE_ACTION(g_action_map_lookup_action(G_ACTION_MAP(w), action));
}

void nino_window_set_enabled(NinoWindow *w, const char *action, gboolean enabled)
{
    g_simple_action_set_enabled(window_find(w, action), enabled);
}

void nino_window_set_state_text(NinoWindow *w, const char *action, const char *value)
{
    g_simple_action_set_state(window_find(w, action), g_variant_new_string(value));
}

void nino_window_set_state_bool(NinoWindow *w, const char *action, gboolean value)
{
    g_simple_action_set_state(window_find(w, action), g_variant_new_boolean(value));
}

void nino_window_say(NinoWindow *w, const char *text)
{
    if (g_strcmp0(gtk_label_get_text(w->status), text) == 0)
        return;
    gtk_label_set_text(w->status, text);
    gtk_widget_set_tooltip_text(GTK_WIDGET(w->status), text);
}

// ---- panels -------------------------------------------------------------------------------------

void nino_window_show_panel(NinoWindow *w, const char *name)
{
    for (int i = 0; i < (int) G_N_ELEMENTS(panel_names); i++)
        if (!strcmp(panel_names[i], name)) {
            gtk_notebook_set_current_page(w->side, i);
            gtk_widget_set_visible(GTK_WIDGET(w->side), TRUE);
            nino_window_set_state_bool(w, "side", TRUE);
            nino_window_set_state_text(w, "panel", name);
        }
}

static void on_side_page(GtkNotebook *side, GtkWidget *page, guint i, gpointer user)
{
    (void) side, (void) page;
    if (i < G_N_ELEMENTS(panel_names))
        nino_window_set_state_text(user, "panel", panel_names[i]);
}

static void action_panel(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a;
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
    (void) parameter;
    gtk_widget_set_visible(GTK_WIDGET(NINO_WINDOW(user)->side), toggle(a));
}

static void action_live(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) parameter;
    gtk_widget_set_visible(GTK_WIDGET(NINO_WINDOW(user)->live), toggle(a));
}

static void action_focus_mode(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) parameter;
    NinoWindow *w = user;
    const gboolean only_canvas = toggle(a);
    gtk_widget_set_visible(GTK_WIDGET(w->side), !only_canvas);
    gtk_widget_set_visible(GTK_WIDGET(w->live), !only_canvas);
    gtk_widget_set_visible(w->status_bar, !only_canvas);
    nino_window_set_state_bool(w, "side", !only_canvas);
    nino_window_set_state_bool(w, "live", !only_canvas);
}

static void action_shortcuts(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a, (void) parameter;
    GtkWidget *window = nino_commands_shortcuts_window();
    gtk_window_set_transient_for(GTK_WINDOW(window), user);
    gtk_window_present(GTK_WINDOW(window));
}

static void action_step_tab(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) parameter;
    NinoWindow *w = user;
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

void nino_window_title_panel(NinoWindow *w, GtkWidget *panel, const char *title)
{
    gtk_notebook_set_tab_label_text(w->side, panel, title);
    nino_window_name_tab(w->side, panel, title);
}

static void add_panel(NinoWindow *w, GtkWidget *child, const char *title)
{
    gtk_notebook_append_page(w->side, child, gtk_label_new(title));
    nino_window_name_tab(w->side, child, title);
    gtk_notebook_set_tab_reorderable(w->side, child, FALSE);
}

static GtkWidget *log_panel(NinoWindow *w)
{
    w->log = GTK_TEXT_VIEW(gtk_text_view_new());
    gtk_text_view_set_editable(w->log, FALSE);
    gtk_text_view_set_wrap_mode(w->log, GTK_WRAP_WORD_CHAR);
    gtk_text_view_set_accepts_tab(w->log, FALSE);
    gtk_widget_add_css_class(GTK_WIDGET(w->log), "log");
    gtk_accessible_update_property(GTK_ACCESSIBLE(w->log), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Log of the worker"), -1);
    GtkWidget *scroller = gtk_scrolled_window_new();
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), GTK_WIDGET(w->log));
    GtkWidget *overlay = gtk_overlay_new();
    w->log_empty = gtk_label_new(_("Nothing was said so far"));
    gtk_widget_add_css_class(w->log_empty, "dim-label");
    gtk_widget_set_halign(w->log_empty, GTK_ALIGN_CENTER);
    gtk_widget_set_valign(w->log_empty, GTK_ALIGN_CENTER);
    gtk_widget_set_can_target(w->log_empty, FALSE);
    gtk_overlay_set_child(GTK_OVERLAY(overlay), scroller);
    gtk_overlay_add_overlay(GTK_OVERLAY(overlay), w->log_empty);
    return overlay;
}

static void action_view(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a;
    NinoWindow *w = user;
    const char *id = g_variant_get_string(parameter, NULL);
    for (int i = 0; nino_views[i]; i++)
        if (!strcmp(nino_views[i]->id, id)) {
            gtk_notebook_set_current_page(w->live, i);
            gtk_widget_set_visible(GTK_WIDGET(w->live), TRUE);
            nino_window_set_state_bool(w, "live", TRUE);
        }
}

// One page a view of the table; its title explains itself in a tooltip.
static void add_views(NinoWindow *w)
{
    w->records = nino_run_new();
    for (const NinoViewType *const *v = nino_views; *v; v++) {
        GtkWidget *label = gtk_label_new(_((*v)->title));
        gtk_widget_set_tooltip_text(label, _((*v)->help));
        GtkWidget *view = nino_view_new(*v, w->records);
        gtk_notebook_append_page(w->live, view, label);
        nino_window_name_tab(w->live, view, _((*v)->title));
        nino_window_add_advice(w, view);
    }
}

static void add_panels(NinoWindow *w)
{
    w->viewer = NINO_VIEWER(nino_viewer_new());
    w->queue = NINO_QUEUE_PANEL(nino_queue_panel_new(w->engine));
    w->problems = NINO_PROBLEMS(nino_problems_new());
    add_panel(w, GTK_WIDGET(w->viewer), _("Results"));
    add_panel(w, GTK_WIDGET(w->queue), _("Queue"));
    add_panel(w, GTK_WIDGET(w->problems), _("Problems"));
    w->form = NINO_FORM(nino_form_new());
    add_panel(w, GTK_WIDGET(w->form), _("Form"));
    add_panel(w, log_panel(w), _("Log"));
    nino_viewer_add_actions(w->viewer, G_ACTION_MAP(w));
    g_signal_connect(w->side, "switch-page", G_CALLBACK(on_side_page), w);
    add_views(w);
}

// ---- what is remembered -------------------------------------------------------------------------

static void restore_layout(NinoWindow *w)
{
    gtk_window_set_default_size(GTK_WINDOW(w), (int) nino_state_number("width", 1280),
                                (int) nino_state_number("height", 840));
    if (nino_state_number("maximized", 0) > 0)
        gtk_window_maximize(GTK_WINDOW(w));
    gtk_paned_set_position(w->columns, (int) nino_state_number("columns", 760));
    gtk_paned_set_position(w->rows, (int) nino_state_number("rows", 500));
    const gboolean side = nino_state_number("side", 1) > 0, live = nino_state_number("live", 1) > 0;
    gtk_widget_set_visible(GTK_WIDGET(w->side), side);
    gtk_widget_set_visible(GTK_WIDGET(w->live), live);
    nino_window_set_state_bool(w, "side", side);
    nino_window_set_state_bool(w, "live", live);
}

static void remember_layout(NinoWindow *w)
{
    int width = 0, height = 0;
    gtk_window_get_default_size(GTK_WINDOW(w), &width, &height);
    nino_state_set_number("width", width);
    nino_state_set_number("height", height);
    nino_state_set_number("maximized", gtk_window_is_maximized(GTK_WINDOW(w)));
    nino_state_set_number("columns", gtk_paned_get_position(w->columns));
    nino_state_set_number("rows", gtk_paned_get_position(w->rows));
    nino_state_set_number("side", gtk_widget_get_visible(GTK_WIDGET(w->side)));
    nino_state_set_number("live", gtk_widget_get_visible(GTK_WIDGET(w->live)));
    nino_state_flush();
}

// ---- the object ---------------------------------------------------------------------------------

static gboolean on_drop(GtkDropTarget *target, const GValue *value, double x, double y,
                        gpointer user)
{
    (void) target, (void) x, (void) y;
    for (GSList *l = g_value_get_boxed(value); l; l = l->next)
        nino_window_open(user, l->data);
    return TRUE;
}

static void window_dispose(GObject *o)
{
    NinoWindow *w = NINO_WINDOW(o);
    if (w->engine)
        remember_layout(w);
    nino_window_file_dispose(w);
    nino_window_run_dispose(w);
    G_OBJECT_CLASS(nino_window_parent_class)->dispose(o);
}

static void window_finalize(GObject *o)
{
    NinoWindow *w = NINO_WINDOW(o);
    g_strfreev(w->options.models);
    g_free(w->options.input);
    g_free(w->options.output);
    g_free(w->options.device);
    G_OBJECT_CLASS(nino_window_parent_class)->finalize(o);
}

static void nino_window_class_init(NinoWindowClass *klass)
{
    GtkWidgetClass *wc = GTK_WIDGET_CLASS(klass);
    G_OBJECT_CLASS(klass)->dispose = window_dispose;
    G_OBJECT_CLASS(klass)->finalize = window_finalize;
    gtk_widget_class_set_template_from_resource(wc, "/org/ninodes/Studio/window.ui");
#define BIND(name) gtk_widget_class_bind_template_child(wc, NinoWindow, name)
    BIND(bar);
    BIND(rows);
    BIND(columns);
    BIND(center);
    BIND(tabs);
    BIND(side);
    BIND(live);
    BIND(recent_box);
    BIND(recent_button);
    BIND(menu_button);
    BIND(status_bar);
    BIND(progress);
    BIND(status);
    BIND(device);
    BIND(memory);
    BIND(cost);
#undef BIND
}

static void nino_window_init(NinoWindow *w)
{
    static const GActionEntry actions[] = {
        { .name = "state", .state = "'empty'" },
        { .name = "panel", .activate = action_panel, .parameter_type = "s", .state = "'result'" },
        { .name = "view", .activate = action_view, .parameter_type = "s" },
        { .name = "side", .activate = action_side, .state = "true" },
        { .name = "live", .activate = action_live, .state = "true" },
        { .name = "focus-mode", .activate = action_focus_mode, .state = "false" },
        { .name = "next-tab", .activate = action_step_tab },
        { .name = "previous-tab", .activate = action_step_tab },
        { .name = "shortcuts", .activate = action_shortcuts },
    };
    g_type_ensure(NINO_TYPE_BAR);
    gtk_widget_init_template(GTK_WIDGET(w));
    g_action_map_add_action_entries(G_ACTION_MAP(w), actions, G_N_ELEMENTS(actions), w);
    w->engine = nino_engine_new();
    add_panels(w);
    g_autoptr(GMenuModel) menu = nino_commands_menu();
    gtk_menu_button_set_menu_model(w->menu_button, menu);
    nino_keys_add_to_window(GTK_WIDGET(w));
    nino_window_file_init(w);
    nino_window_run_init(w);
    restore_layout(w);
    GtkDropTarget *drop = gtk_drop_target_new(GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);
    g_signal_connect(drop, "drop", G_CALLBACK(on_drop), w);
    gtk_widget_add_controller(GTK_WIDGET(w), GTK_EVENT_CONTROLLER(drop));
    nino_window_run_update(w);
}

static char *window_chosen(const char *option, const char *key)
{
    const char *v = option ? option : nino_prefs_text(key);
    return g_strdup(*v ? v : NULL);
}

// The file with the classes of the user's ComfyUI, which the worker is to read, too; NULL: none, or
// it cannot be read, which is told.
static const char *read_object_info(NinoWindow *w)
{
    const char *path = nino_prefs_text("object-info");
    nino_error err = { 0 };
    if (!*path || !nino_node_add_info(path, &err))
        return *path ? path : NULL;
    g_autofree char *text = g_strdup_printf(_("Classes of your ComfyUI (preferences): %s: %s"),
                                            *err.where ? err.where : path, err.msg);
    nino_bar_show(w->bar, "object-info", NINO_BAR_ERROR, text, NULL);
    return NULL;
}

GtkWidget *nino_window_measure_row(gpointer window, GtkWidget **named)
{
    const NinoWindow *w = window;
    return nino_measure_row_new(w->engine, w->options.device, named);
}

GtkWidget *nino_window_new(GtkApplication *app, const NinoWindowOptions *options)
{
    NinoWindow *w = g_object_new(NINO_TYPE_WINDOW, "application", app, NULL);
    const char *const pref_models[] = { nino_prefs_text("models"), NULL };
    w->options = (NinoWindowOptions){
        .models = options->models   ? g_strdupv(options->models)
                  : *pref_models[0] ? g_strdupv((char **) pref_models)
                                    : NULL,
        .input = window_chosen(options->input, "input"),
        .output = window_chosen(options->output, "output"),
        .device = window_chosen(options->device, "device"),
    };
    nino_engine_set_options(w->engine, (const char *const *) w->options.models, w->options.input,
                            w->options.output, w->options.device, read_object_info(w));
    nino_editors_set_folders((const char *const *) w->options.models, w->options.input);
    nino_problems_set_folders(w->problems, (const char *const *) w->options.models,
                              w->options.input);
    nino_gallery_restore(w->viewer);
    nino_window_recover(w);
    nino_engine_resume(w->engine);
    return GTK_WIDGET(w);
}

void nino_window_end(NinoWindow *w)
{
    nino_window_autosave(w);
    gtk_window_destroy(GTK_WINDOW(w));
}
