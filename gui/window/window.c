// The window as an object, and what its parts need of it. `win.state` says over D-Bus what goes on: "empty",
// "ready", "invalid", "running", "paused", "done", "failed", "cancelled".
#include "window/window_priv.h"

#include <ninodes/node.h>

#include <string.h>

#include "settings/actions.h"
#include "settings/menu.h"
#include "viewer/gallery.h"
#include "settings/keys.h"
#include "settings/prefs.h"
#include "node/folders.h"
#include "base/i18n.h"

G_DEFINE_TYPE(NinoWindow, nino_window, GTK_TYPE_APPLICATION_WINDOW)

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

static void action_shortcuts(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a, (void) parameter;
    GtkWidget *window = nino_commands_shortcuts_window();
    gtk_window_set_transient_for(GTK_WINDOW(window), user);
    gtk_window_present(GTK_WINDOW(window));
}

// ---- the object ---------------------------------------------------------------------------------

static gboolean on_drop(GtkDropTarget *target, const GValue *value, double x, double y,
                        gpointer user)
{
    (void) target, (void) x, (void) y;
    for (GSList *l = g_value_get_boxed(value); l; l = l->next)
        nino_window_take(user, l->data);
    return TRUE;
}

static void window_dispose(GObject *o)
{
    NinoWindow *w = NINO_WINDOW(o);
    if (w->engine)
        nino_window_layout_remember(w);
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
    BIND(over);
    BIND(perspectives);
    BIND(rail);
    BIND(drawer_pane);
    BIND(drawer);
    BIND(columns);
    BIND(center);
    BIND(welcome);
    BIND(tabs);
    BIND(side);
    BIND(rows);
    BIND(timeline_box);
    BIND(profile_bar);
    BIND(runs_pane);
    BIND(runs_box);
    BIND(details_box);
    BIND(details_pane);
    BIND(overview_box);
    BIND(live);
    BIND(palette_button);
    BIND(recent_button);
    BIND(menu_button);
    BIND(run_button);
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
        { .name = "shortcuts", .activate = action_shortcuts },
    };
    g_type_ensure(NINO_TYPE_BAR);
    g_type_ensure(NINO_TYPE_WELCOME);
    gtk_widget_init_template(GTK_WIDGET(w));
    g_action_map_add_action_entries(G_ACTION_MAP(w), actions, G_N_ELEMENTS(actions), w);
    gtk_overlay_add_overlay(w->over, nino_bar_news(w->bar));
    w->engine = nino_engine_new();
    nino_window_layout_init(w);
    nino_keys_add_to_window(GTK_WIDGET(w));
    nino_window_file_init(w);
    nino_window_run_init(w);
    nino_window_start_init(w);
    nino_window_palette_init(w);
    gtk_menu_button_set_popover(w->menu_button, nino_commands_popover(G_ACTION_GROUP(w)));
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

void nino_window_use_folders(NinoWindow *w)
{
    const char *const *models = (const char *const *) w->options.models;
    nino_engine_set_options(w->engine, models, w->options.input, w->options.output,
                            w->options.device, read_object_info(w));
    nino_folders_set(models, w->options.input, w->options.output);
    nino_problems_set_folders(w->problems, models, w->options.input);
}

GtkWidget *nino_window_measure_row(gpointer window, GtkWidget **named)
{
    const NinoWindow *w = window;
    return nino_measure_row_new(w->engine, w->options.device, named);
}

GtkWidget *nino_window_new(GtkApplication *app, const NinoWindowOptions *options)
{
    NinoWindow *w = g_object_new(NINO_TYPE_WINDOW, "application", app, NULL);
    nino_window_layout_restore(w); // its init is too early: GTK sets "maximized" after it
    const char *const pref_models[] = { nino_prefs_text("models"), NULL };
    w->options = (NinoWindowOptions){
        .models = options->models   ? g_strdupv(options->models)
                  : *pref_models[0] ? g_strdupv((char **) pref_models)
                                    : NULL,
        .input = window_chosen(options->input, "input"),
        .output = window_chosen(options->output, "output"),
        .device = window_chosen(options->device, "device"),
    };
    nino_window_use_folders(w);
    nino_run_set_device(w->records, w->options.device);
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
