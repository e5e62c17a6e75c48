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
    GAction *quit =
        g_action_map_lookup_action(G_ACTION_MAP(app), "quit"); // off, if one was closing
    g_simple_action_set_enabled(G_SIMPLE_ACTION(quit), TRUE);
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
    (void) action;
    NinoWindow *w = window_of(app);
    const char *key = parameter ? g_variant_get_string(parameter, NULL) : NULL;
    nino_prefs_window_present(GTK_WINDOW(w), key, _("Speed"), nino_window_measure_row, w);
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
        { .name = "preference", .activate = preferences, .parameter_type = "s" }, // its key
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

// ---- an app that is ending ----------------------------------------------------------------------

#define NAME "org.ninodes.Studio"
enum { ENDING_MS = 15000, LOOK_MS = 50, MAX_STARTS = 20 };

typedef enum Other { OTHER_NONE, OTHER_ENDING, OTHER_ALIVE } Other;

// The instance that has the name. One that is ending has it for a while, and what it is told nobody would
// see: it cannot be quit any more, or its loop has ended. One that is only busy answers in the end.
static Other other_instance(void)
{
    g_autoptr(GDBusConnection) bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL);
    g_autoptr(GVariant) owner =
        bus ? g_dbus_connection_call_sync(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                          "org.freedesktop.DBus", "GetNameOwner",
                                          g_variant_new("(s)", NAME), NULL, G_DBUS_CALL_FLAGS_NONE,
                                          -1, NULL, NULL)
            : NULL;
    if (!owner)
        return OTHER_NONE;
    g_autoptr(GVariant) quits = g_dbus_connection_call_sync(
        bus, NAME, "/org/ninodes/Studio", "org.gtk.Actions", "Describe",
        g_variant_new("(s)", "quit"), NULL, G_DBUS_CALL_FLAGS_NO_AUTO_START, ENDING_MS, NULL, NULL);
    gboolean can_quit = FALSE;
    if (quits)
        g_variant_get(quits, "((bgav))", &can_quit, NULL, NULL);
    return can_quit ? OTHER_ALIVE : OTHER_ENDING;
}

static void wait_for_ending_one(void)
{
    for (int ms = 0; ms < ENDING_MS && other_instance() == OTHER_ENDING; ms += LOOK_MS)
        g_usleep((gulong) LOOK_MS * 1000);
}

// It may also end between two messages: then once more.
static gboolean register_app(GApplication *app)
{
    g_autoptr(GError) error = NULL;
    for (int i = 0; i < MAX_STARTS; i++) {
        g_clear_error(&error);
        if (g_application_register(app, NULL, &error))
            return TRUE;
        g_usleep((gulong) LOOK_MS * 1000);
        wait_for_ending_one();
    }
    g_printerr("ninodes-studio: %s\n", error->message);
    return FALSE;
}

static int local_options(GApplication *app, GVariantDict *dict, gpointer user)
{
    (void) user;
    if (g_variant_dict_contains(dict, "version")) {
        g_print("ninodes-studio %s\n", nino_version());
        return 0;
    }
    if (!register_app(app))
        return 1;
    if (attach_target) { // also by the instance that runs already
        g_action_group_activate_action(G_ACTION_GROUP(app), "attach",
                                       g_variant_new_string(attach_target));
    }
    return -1; // go on
}

// Runs the app, or tells the instance that runs already. *is_told: it did that.
static int run_app(const GOptionEntry *entries, int argc, char **argv, gboolean *is_told)
{
    g_autoptr(GtkApplication) app = gtk_application_new(NAME, G_APPLICATION_HANDLES_OPEN);
    g_application_add_main_option_entries(G_APPLICATION(app), entries);
    g_application_set_option_context_parameter_string(G_APPLICATION(app), "[WORKFLOW|TRACE]…");
    g_signal_connect(app, "handle-local-options", G_CALLBACK(local_options), NULL);
    g_signal_connect(app, "startup", G_CALLBACK(startup), NULL);
    g_signal_connect(app, "activate", G_CALLBACK(main_activate), NULL);
    g_signal_connect(app, "open", G_CALLBACK(open_files), NULL);
    const int rc = g_application_run(G_APPLICATION(app), argc, argv);
    *is_told = g_application_get_is_registered(G_APPLICATION(app)) &&
               g_application_get_is_remote(G_APPLICATION(app));
    return rc;
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
    for (int i = 0;; i++) {
        gboolean is_told = FALSE;
        wait_for_ending_one();
        const int rc = run_app(entries, argc, argv, &is_told);
        // what was told is heard where an answer comes after it
        if (!is_told || i >= MAX_STARTS || other_instance() == OTHER_ALIVE)
            return rc;
    }
}
