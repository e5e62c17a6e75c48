// First steps: an example with the models that come with it, and the folders of the user's ComfyUI.
#include "window/window_priv.h"

#include "base/i18n.h"
#include "base/chosen.h"
#include "node/editors.h"
#include "settings/prefs.h"
#include "window/computer_window.h"

void nino_window_set_folders(NinoWindow *w, const char *models, const char *input)
{
    const char *const list[] = { models, NULL };
    g_strfreev(w->options.models);
    g_free(w->options.input);
    w->options.models = models ? g_strdupv((char **) list) : NULL;
    w->options.input = g_strdup(input);
    nino_window_use_folders(w);
}

// Who has no models yet sees an example with those of the demo, wherever it is opened from.
void nino_window_need_demo(NinoWindow *w, const char *path)
{
    g_auto(GStrv) examples = nino_welcome_examples();
    g_autofree char *models = nino_welcome_demo("models"), *input = nino_welcome_demo("input");
    if (w->options.models || !models || g_file_test("models", G_FILE_TEST_IS_DIR) ||
        !g_strv_contains((const char *const *) examples, path))
        return;
    nino_window_set_folders(w, models, input);
    nino_engine_restart(w->engine);
}

static guint count_files(const char *folder, int deep)
{
    guint n = 0;
    const char *name;
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (g_file_test(path, G_FILE_TEST_IS_DIR))
            n += deep > 0 ? count_files(path, deep - 1) : 0;
        else
            n += g_str_has_suffix(name, ".safetensors") || g_str_has_suffix(name, ".gguf") ||
                 g_str_has_suffix(name, ".ckpt") || g_str_has_suffix(name, ".pth") ||
                 g_str_has_suffix(name, ".sft");
    }
    return n;
}

static void use_comfyui(NinoWindow *w, const char *folder)
{
    enum { DEEP = 4 }; // folders of folders of models
    g_autofree char *models = g_build_filename(folder, "models", NULL);
    g_autofree char *input = g_build_filename(folder, "input", NULL);
    g_autofree char *text = NULL;
    if (!g_file_test(models, G_FILE_TEST_IS_DIR)) {
        text = g_strdup_printf(_("%s has no folder “models”: it is not a ComfyUI"), folder);
        nino_bar_show(w->bar, "comfyui", NINO_BAR_ERROR, text, NULL);
        return;
    }
    nino_prefs_set("models", models);
    if (g_file_test(input, G_FILE_TEST_IS_DIR))
        nino_prefs_set("input", input);
    nino_window_set_folders(w, models, nino_prefs_text("input"));
    nino_engine_restart(w->engine);
    const guint n = count_files(models, DEEP);
    text = g_strdup_printf(
        ngettext("%u model of %s is used from now on", "%u models of %s are used from now on", n),
        n, models);
    nino_bar_show(w->bar, "comfyui", NINO_BAR_NEWS, text, NULL);
}

static void on_comfyui(GtkNativeDialog *dialog, int response, gpointer user)
{
    g_autofree char *path = nino_chosen_path(dialog, response);
    if (path)
        use_comfyui(user, path);
    g_object_unref(dialog);
}

static void action_comfyui(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a, (void) parameter;
    GtkFileChooserNative *dialog =
        nino_chooser_new(_("Folder of your ComfyUI"), GTK_WINDOW(user),
                         GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER, _("_Open"));
    g_signal_connect_object(dialog, "response", G_CALLBACK(on_comfyui), user, 0);
    gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(dialog), TRUE);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

static void action_comfyui_at(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a;
    use_comfyui(user, g_variant_get_string(parameter, NULL));
}

static void action_computer(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    NinoWindow *w = user;
    (void) a, (void) parameter;
    if (!w->computer) {
        w->computer = nino_computer_window_new(GTK_WINDOW(w), w->engine, w->options.device);
        g_object_add_weak_pointer(G_OBJECT(w->computer), (gpointer *) &w->computer);
        g_signal_connect_object(w, "destroy", G_CALLBACK(gtk_window_destroy), w->computer,
                                G_CONNECT_SWAPPED);
    }
    gtk_window_present(GTK_WINDOW(w->computer));
}

void nino_window_start_init(NinoWindow *w)
{
    static const GActionEntry actions[] = {
        { .name = "comfyui", .activate = action_comfyui },
        { .name = "comfyui-at", .activate = action_comfyui_at, .parameter_type = "s" },
        { .name = "computer", .activate = action_computer },
    };
    g_action_map_add_action_entries(G_ACTION_MAP(w), actions, G_N_ELEMENTS(actions), w);
}
