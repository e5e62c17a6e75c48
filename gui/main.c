// ninodes-studio: application, command line, shortcuts.
#include "app/window.h"

#include <ninodes/base.h>
#include <stdlib.h>

static NinoWindowOptions options;

static void activate(GApplication *app)
{
    GtkWindow *w = gtk_application_get_active_window(GTK_APPLICATION(app));
    if (!w)
        w = GTK_WINDOW(nino_window_new(GTK_APPLICATION(app), &options));
    gtk_window_present(w);
}

static void open_files(GApplication *app, GFile **files, int n, const char *hint)
{
    (void) hint;
    for (int i = 0; i < n; i++) {
        GtkWidget *w = nino_window_new(GTK_APPLICATION(app), &options);
        nino_window_open(NINO_WINDOW(w), files[i]);
        gtk_window_present(GTK_WINDOW(w));
    }
}

static void quit(GSimpleAction *action, GVariant *parameter, gpointer app)
{
    (void) action, (void) parameter;
    GList *windows;
    while ((windows = gtk_application_get_windows(app)))
        gtk_window_destroy(windows->data);
}

static void startup(GApplication *app)
{
    static const GActionEntry actions[] = { { .name = "quit", .activate = quit } };
    static const struct {
        const char *action, *keys[3];
    } shortcuts[] = {
        { "win.open", { "<Control>o" } },
        { "win.run", { "<Control>Return", "<Control>KP_Enter" } },
        { "win.cancel", { "<Control><Alt>Return" } },
        { "app.quit", { "<Control>q" } },
    };
    g_action_map_add_action_entries(G_ACTION_MAP(app), actions, G_N_ELEMENTS(actions), app);
    for (size_t i = 0; i < G_N_ELEMENTS(shortcuts); i++)
        gtk_application_set_accels_for_action(GTK_APPLICATION(app), shortcuts[i].action,
                                              (const char *const *) shortcuts[i].keys);
}

static int local_options(GApplication *app, GVariantDict *dict, gpointer user)
{
    (void) app, (void) user;
    if (g_variant_dict_contains(dict, "version")) {
        g_print("ninodes-studio %s\n", nino_version());
        return 0;
    }
    return -1; // go on
}

int main(int argc, char **argv)
{
    const GOptionEntry entries[] = {
        { "models", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.models, "Model folder; repeatable",
          "DIR" },
        { "input", 0, 0, G_OPTION_ARG_FILENAME, &options.input, "Folder of input files", "DIR" },
        { "output", 0, 0, G_OPTION_ARG_FILENAME, &options.output, "Folder for results", "DIR" },
        { "device", 0, 0, G_OPTION_ARG_STRING, &options.device, "Device to run on", "SEL" },
        { "version", 0, 0, G_OPTION_ARG_NONE, NULL, "Print the version", NULL },
        { 0 },
    };
    g_autoptr(GtkApplication) app =
        gtk_application_new("org.ninodes.Studio", G_APPLICATION_HANDLES_OPEN);
    g_application_add_main_option_entries(G_APPLICATION(app), entries);
    g_application_set_option_context_parameter_string(G_APPLICATION(app), "[WORKFLOW]…");
    g_signal_connect(app, "handle-local-options", G_CALLBACK(local_options), NULL);
    g_signal_connect(app, "startup", G_CALLBACK(startup), NULL);
    g_signal_connect(app, "activate", G_CALLBACK(activate), NULL);
    g_signal_connect(app, "open", G_CALLBACK(open_files), NULL);
    return g_application_run(G_APPLICATION(app), argc, argv);
}
