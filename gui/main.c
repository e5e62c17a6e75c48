// ninodes-studio: application, command line, app-wide actions.
#include "settings/keys.h"
#include "settings/keys_window.h"
#include "settings/prefs.h"
#include "settings/prefs_window.h"
#include "settings/theme.h"
#include "window/window.h"
#include "base/i18n.h"

#include <glib-unix.h>
#include <ninodes/base.h>
#include <signal.h>
#include <stdlib.h>

static NinoWindowOptions options;
static char *attach_target;

static NinoWindow *window_of(GApplication *app)
{
    GList *windows = gtk_application_get_windows(GTK_APPLICATION(app));
    for (; windows; windows = windows->next)
        if (NINO_IS_WINDOW(windows->data))
            return windows->data;
    return NINO_WINDOW(nino_window_new(GTK_APPLICATION(app), &options));
}

static void main_activate(GApplication *app) { gtk_window_present(GTK_WINDOW(window_of(app))); }

static void open_files(GApplication *app, GFile **files, int n, const char *hint)
{
    (void) hint;
    NinoWindow *w = window_of(app);
    for (int i = 0; i < n; i++)
        nino_window_open(w, files[i]);
    gtk_window_present(GTK_WINDOW(w));
}

// ---- actions of the app -------------------------------------------------------------------------

// Windows are asked, not destroyed: there may be unsaved work.
static void quit(GSimpleAction *action, GVariant *parameter, gpointer app)
{
    (void) action, (void) parameter;
    g_autoptr(GList) windows = g_list_copy(gtk_application_get_windows(app));
    for (GList *l = windows; l; l = l->next)
        gtk_window_close(l->data);
}

static void preferences(GSimpleAction *action, GVariant *parameter, gpointer app)
{
    (void) action, (void) parameter;
    NinoWindow *w = window_of(app);
    nino_prefs_window_present(GTK_WINDOW(w), _("Speed"), nino_window_measure_row, w);
}

static void keys(GSimpleAction *action, GVariant *parameter, gpointer app)
{
    (void) action, (void) parameter;
    nino_keys_window_present(GTK_WINDOW(window_of(app)));
}

static void about(GSimpleAction *action, GVariant *parameter, gpointer app)
{
    (void) action, (void) parameter;
    gtk_show_about_dialog(
        GTK_WINDOW(window_of(app)), "program-name", "Ninodes Studio", "version", nino_version(),
        "comments", _("Runs ComfyUI workflows with OpenCL and shows where time and memory go"),
        "logo-icon-name", "org.ninodes.Studio", "license-type", GTK_LICENSE_MIT_X11, NULL);
}

static void attach(GSimpleAction *action, GVariant *parameter, gpointer app)
{
    (void) action;
    NinoWindow *w = window_of(app);
    nino_window_attach(w, g_variant_get_string(parameter, NULL));
    gtk_window_present(GTK_WINDOW(w));
}

// Of the desktop file: its actions cannot have a parameter where the bus starts the app.
static void attach_newest(GSimpleAction *action, GVariant *parameter, gpointer app)
{
    (void) action, (void) parameter;
    g_action_group_activate_action(app, "attach", g_variant_new_string("newest"));
}

// Nobody is there to be asked: unsaved workflows are kept as after a crash, and the worker ends.
static gboolean on_signal(gpointer app)
{
    g_autoptr(GList) windows = g_list_copy(gtk_application_get_windows(app));
    for (GList *l = windows; l; l = l->next)
        if (NINO_IS_WINDOW(l->data))
            nino_window_end(l->data);
    g_application_quit(app);
    return G_SOURCE_CONTINUE;
}

static void startup(GApplication *app)
{
    static const int ends[] = { SIGTERM, SIGINT, SIGHUP };
    for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
        g_unix_signal_add(ends[i], on_signal, app);
    static const GActionEntry actions[] = {
        { .name = "quit", .activate = quit },
        { .name = "preferences", .activate = preferences },
        { .name = "keys", .activate = keys },
        { .name = "about", .activate = about },
        { .name = "attach", .activate = attach, .parameter_type = "s" },
        { .name = "attach-newest", .activate = attach_newest },
    };
    g_action_map_add_action_entries(G_ACTION_MAP(app), actions, G_N_ELEMENTS(actions), app);
    nino_prefs_add_actions(G_ACTION_MAP(app));
    nino_keys_start(GTK_APPLICATION(app));
    nino_theme_start();
}

static int local_options(GApplication *app, GVariantDict *dict, gpointer user)
{
    (void) user;
    if (g_variant_dict_contains(dict, "version")) {
        g_print("ninodes-studio %s\n", nino_version());
        return 0;
    }
    if (attach_target) { // also by the instance that runs already
        g_autoptr(GError) error = NULL;
        if (!g_application_register(app, NULL, &error)) {
            g_printerr("ninodes-studio: %s\n", error->message);
            return 1;
        }
        g_action_group_activate_action(G_ACTION_GROUP(app), "attach",
                                       g_variant_new_string(attach_target));
    }
    return -1; // go on
}

int main(int argc, char **argv)
{
    nino_i18n_start(nino_prefs_text("language"));
    const GOptionEntry entries[] = {
        { "models", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.models,
          _("Model folder; repeatable"), "DIR" },
        { "input", 0, 0, G_OPTION_ARG_FILENAME, &options.input, _("Folder of input files"), "DIR" },
        { "output", 0, 0, G_OPTION_ARG_FILENAME, &options.output, _("Folder for results"), "DIR" },
        { "device", 0, 0, G_OPTION_ARG_STRING, &options.device, _("Device to run on"), "SEL" },
        { "attach", 0, 0, G_OPTION_ARG_STRING, &attach_target,
          _("Watch a run that goes on already (“newest” for the newest one)"), "PID|SOCKET" },
        { "version", 0, 0, G_OPTION_ARG_NONE, NULL, _("Print the version"), NULL },
        { 0 },
    };
    // Before GTK opens a display: drawing with the processor keeps the GPU for the run.
    if (g_strcmp0(nino_prefs_text("renderer"), "gpu") != 0)
        g_setenv("GSK_RENDERER", "cairo", FALSE);
    g_autoptr(GtkApplication) app =
        gtk_application_new("org.ninodes.Studio", G_APPLICATION_HANDLES_OPEN);
    g_application_add_main_option_entries(G_APPLICATION(app), entries);
    g_application_set_option_context_parameter_string(G_APPLICATION(app), "[WORKFLOW|TRACE]…");
    g_signal_connect(app, "handle-local-options", G_CALLBACK(local_options), NULL);
    g_signal_connect(app, "startup", G_CALLBACK(startup), NULL);
    g_signal_connect(app, "activate", G_CALLBACK(main_activate), NULL);
    g_signal_connect(app, "open", G_CALLBACK(open_files), NULL);
    return g_application_run(G_APPLICATION(app), argc, argv);
}
