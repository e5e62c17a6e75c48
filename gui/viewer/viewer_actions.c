// What the user can do with a result: zoom, copy, save, open elsewhere, step, play, compare.
#include "viewer/viewer_priv.h"

#include <ninodes/picture.h>
#include <string.h>

#include "base/chosen.h"
#include "base/i18n.h"

static void set_enabled(NinoViewer *v, const char *name, gboolean on)
{
    GAction *a = v->map ? g_action_map_lookup_action(v->map, name) : NULL;
    if (a)
        g_simple_action_set_enabled(G_SIMPLE_ACTION(a), on);
}

void nino_viewer_set_bool(NinoViewer *v, const char *name, gboolean on)
{
    GAction *a = v->map ? g_action_map_lookup_action(v->map, name) : NULL;
    if (a)
        g_simple_action_set_state(G_SIMPLE_ACTION(a), g_variant_new_boolean(on));
}

void nino_viewer_update_actions(NinoViewer *v)
{
    const gboolean has = nino_picture_area_get(v->area) != NULL;
    gtk_widget_set_visible(v->tools, has || v->results->len); // none for nothing
    static const char *const need_picture[] = { "viewer-fit",     "viewer-actual-size",
                                                "viewer-zoom-in", "viewer-zoom-out",
                                                "viewer-copy",    "viewer-save-as",
                                                "viewer-save-to", "viewer-save-bare-to",
                                                "viewer-use" };
    for (size_t i = 0; i < G_N_ELEMENTS(need_picture); i++)
        set_enabled(v, need_picture[i], has);
    set_enabled(v, "viewer-profile", v->shown >= 0);
    set_enabled(v, "viewer-open-workflow", v->shown >= 0);
    set_enabled(v, "viewer-compare", v->results->len > 1);
    static const char *const need_frames[] = { "viewer-play", "viewer-next-frame",
                                               "viewer-previous-frame" };
    for (size_t i = 0; i < G_N_ELEMENTS(need_frames); i++)
        set_enabled(v, need_frames[i], v->frames && v->frames->len > 1);
    set_enabled(v, "viewer-next-result", v->shown + 1 < (int) v->results->len);
    set_enabled(v, "viewer-previous-result", v->shown > 0);
}

static const char *shown_path(NinoViewer *v)
{
    const Result *r = nino_viewer_result(v, v->shown);
    if (!r)
        return NULL;
    const guint i = r->paths->len > 1 ? MIN(nino_viewer_frame(v), r->paths->len - 1) : 0;
    return r->paths->pdata[i];
}

// The file itself, so that the workflow inside it goes along, or one that does not tell it.
static void viewer_actions_save_to(NinoViewer *v, const char *path, GFile *to, gboolean is_bare)
{
    g_autoptr(GFile) from = g_file_new_for_path(path);
    g_autoptr(GError) error = NULL;
    g_autofree char *to_path = g_file_get_path(to);
    nino_error err = { 0 };
    if (is_bare) {
        if (to_path && nino_picture_save_bare(path, to_path, &err))
            nino_viewer_fail(v, err.msg);
    } else if (!to_path) { // not of this machine's files
        if (!g_file_copy(from, to, G_FILE_COPY_OVERWRITE, NULL, NULL, NULL, &error))
            nino_viewer_fail(v, error->message);
    } else { // g_file_copy() puts what it could write of it in place of the old file
        g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, &error);
        if (!file)
            nino_viewer_fail(v, error->message);
        else if (nino_place_save(to_path, g_mapped_file_get_contents(file),
                                 g_mapped_file_get_length(file), &err))
            nino_viewer_fail(v, err.msg);
    }
}

static void on_save_chosen(GtkNativeDialog *dialog, int response, gpointer user)
{
    NinoViewer *v = user;
    const char *path = g_object_get_data(G_OBJECT(dialog), "path");
    g_autoptr(GFile) to = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
    if (response == GTK_RESPONSE_ACCEPT && to) {
        const char *bare = gtk_file_chooser_get_choice(GTK_FILE_CHOOSER(dialog), "bare");
        viewer_actions_save_to(v, path, to, !g_strcmp0(bare, "true"));
    }
    g_object_unref(dialog);
}

static void viewer_actions_save_as(NinoViewer *v)
{
    const char *path = shown_path(v);
    if (!path)
        return;
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(v));
    GtkFileChooserNative *dialog = nino_chooser_new(_("Save result"), GTK_WINDOW(root),
                                                    GTK_FILE_CHOOSER_ACTION_SAVE, _("_Save"));
    g_autofree char *name = g_path_get_basename(path);
    gtk_file_chooser_set_current_name(GTK_FILE_CHOOSER(dialog), name);
    if (g_str_has_suffix(name, ".png") || g_str_has_suffix(name, ".webp"))
        gtk_file_chooser_add_choice(GTK_FILE_CHOOSER(dialog), "bare",
                                    _("Without the workflow and other metadata"), NULL, NULL);
    g_object_set_data_full(G_OBJECT(dialog), "path", g_strdup(path), g_free);
    g_signal_connect_object(dialog, "response", G_CALLBACK(on_save_chosen), v, 0);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

static void action_save_to(GSimpleAction *action, GVariant *parameter, gpointer user)
{
    NinoViewer *v = user;
    g_autoptr(GFile) to = g_file_new_for_path(g_variant_get_string(parameter, NULL));
    if (shown_path(v))
        viewer_actions_save_to(
            v, shown_path(v), to,
            g_str_equal(g_action_get_name(G_ACTION(action)), "viewer-save-bare-to"));
}

static void open_elsewhere(NinoViewer *v)
{
    const char *path = shown_path(v);
    g_autofree char *uri = path ? g_filename_to_uri(path, NULL, NULL) : NULL;
    if (uri)
        gtk_show_uri(GTK_WINDOW(gtk_widget_get_root(GTK_WIDGET(v))), uri, GDK_CURRENT_TIME);
}

static void on_viewer_actions_action(GSimpleAction *action, GVariant *parameter, gpointer user)
{
    (void) parameter;
    NinoViewer *v = user;
    const char *name = g_action_get_name(G_ACTION(action)) + strlen("viewer-");
    const double z = nino_picture_area_zoom(v->area);
    if (g_str_equal(name, "fit"))
        nino_picture_area_set_zoom(v->area, 0);
    else if (g_str_equal(name, "actual-size"))
        nino_picture_area_set_zoom(v->area, 1);
    else if (g_str_equal(name, "zoom-in"))
        nino_picture_area_set_zoom(v->area, z * 1.25);
    else if (g_str_equal(name, "zoom-out"))
        nino_picture_area_set_zoom(v->area, z / 1.25);
    else if (g_str_equal(name, "copy"))
        gdk_clipboard_set_texture(gtk_widget_get_clipboard(GTK_WIDGET(v)),
                                  nino_picture_area_get(v->area));
    else if (g_str_equal(name, "save-as"))
        viewer_actions_save_as(v);
    else if (g_str_equal(name, "open-elsewhere"))
        open_elsewhere(v);
    else if (g_str_equal(name, "use") && shown_path(v))
        nino_viewer_use(v, shown_path(v));
    else if (g_str_equal(name, "profile") && shown_path(v))
        nino_viewer_show_profile(v, shown_path(v));
    else if (g_str_equal(name, "open-workflow") && shown_path(v))
        nino_viewer_open(v, shown_path(v));
    else if (g_str_equal(name, "next-result"))
        nino_viewer_show(v, (guint) v->shown + 1);
    else if (g_str_equal(name, "previous-result"))
        v->shown > 0 ? nino_viewer_show(v, (guint) v->shown - 1) : (void) 0;
    else if (g_str_equal(name, "next-frame"))
        nino_viewer_step(v, 1);
    else if (g_str_equal(name, "previous-frame"))
        nino_viewer_step(v, -1);
    else if (g_str_equal(name, "loop"))
        nino_viewer_set_bool(v, "viewer-loop", v->loops = !v->loops);
    else if (g_str_equal(name, "play"))
        v->play_timer ? nino_viewer_stop(v) : nino_viewer_play(v);
    else if (g_str_equal(name, "compare"))
        v->compared >= 0 ? nino_viewer_compare_off(v)
                         : nino_viewer_compare_with(v, v->shown > 0 ? (guint) v->shown - 1 : 1);
}

void nino_viewer_add_actions(NinoViewer *v, GActionMap *map)
{
    static const GActionEntry entries[] = {
        { .name = "viewer-fit", .activate = on_viewer_actions_action },
        { .name = "viewer-actual-size", .activate = on_viewer_actions_action },
        { .name = "viewer-zoom-in", .activate = on_viewer_actions_action },
        { .name = "viewer-zoom-out", .activate = on_viewer_actions_action },
        { .name = "viewer-copy", .activate = on_viewer_actions_action },
        { .name = "viewer-save-as", .activate = on_viewer_actions_action },
        { .name = "viewer-save-to", .activate = action_save_to, .parameter_type = "s" },
        { .name = "viewer-save-bare-to", .activate = action_save_to, .parameter_type = "s" },
        { .name = "viewer-open-elsewhere", .activate = on_viewer_actions_action },
        { .name = "viewer-use", .activate = on_viewer_actions_action },
        { .name = "viewer-profile", .activate = on_viewer_actions_action },
        { .name = "viewer-open-workflow", .activate = on_viewer_actions_action },
        { .name = "viewer-next-result", .activate = on_viewer_actions_action },
        { .name = "viewer-previous-result", .activate = on_viewer_actions_action },
        { .name = "viewer-next-frame", .activate = on_viewer_actions_action },
        { .name = "viewer-previous-frame", .activate = on_viewer_actions_action },
        { .name = "viewer-play", .activate = on_viewer_actions_action, .state = "false" },
        { .name = "viewer-loop", .activate = on_viewer_actions_action, .state = "true" },
        { .name = "viewer-compare", .activate = on_viewer_actions_action, .state = "false" },
    };
    v->map = map;
    g_action_map_add_action_entries(map, entries, G_N_ELEMENTS(entries), v);
    nino_viewer_update_actions(v);
}
