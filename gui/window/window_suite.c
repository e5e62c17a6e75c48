// Actions of the benchmark suite: its window, which is made when it is first asked for, and what its buttons do.
#include "window/window_priv.h"

#include "window/suite_window.h"

static GtkWidget *suite_window(NinoWindow *w)
{
    if (!w->suite) // goes with w, and not before
        w->suite = nino_suite_window_new(GTK_WINDOW(w), w->engine, w->options.device);
    return w->suite;
}

static void action_suite(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a, (void) parameter;
    gtk_window_present(GTK_WINDOW(suite_window(user)));
}

static void action_suite_run(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) parameter;
    GtkWidget *window = suite_window(user);
    if (g_str_equal(g_action_get_name(G_ACTION(a)), "suite-start"))
        nino_suite_window_start(window);
    else
        nino_suite_window_stop(window);
}

static void action_suite_file(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    NinoWindow *w = user;
    g_autoptr(GError) error = NULL;
    const char *path = g_variant_get_string(parameter, NULL);
    const gboolean is_save = g_str_equal(g_action_get_name(G_ACTION(a)), "suite-save-to");
    if (!(is_save ? nino_suite_window_save : nino_suite_window_open)(suite_window(w), path, &error))
        nino_bar_show(w->bar, "suite", NINO_BAR_ERROR, error->message, NULL);
}

void nino_window_suite_init(NinoWindow *w)
{
    static const GActionEntry actions[] = {
        { .name = "suite", .activate = action_suite },
        { .name = "suite-start", .activate = action_suite_run },
        { .name = "suite-cancel", .activate = action_suite_run },
        { .name = "suite-open-path", .activate = action_suite_file, .parameter_type = "s" },
        { .name = "suite-save-to", .activate = action_suite_file, .parameter_type = "s" },
    };
    g_action_map_add_action_entries(G_ACTION_MAP(w), actions, G_N_ELEMENTS(actions), w);
}
