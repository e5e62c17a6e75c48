// One result is a group of files; its frames are loaded when it is shown and forgotten after.
#include "app/viewer.h"

#include "app/frames.h"
#include "app/picture_area.h"
#include <math.h>

#define THUMB 72
#define DEFAULT_FPS 16

typedef struct Result {
    char *group;
    GPtrArray *paths;
    GtkWidget *button, *picture, *badge;
} Result;

struct _NinoViewer {
    GtkWidget parent;
    GtkWidget *box, *stack, *empty_text, *strip, *caption, *zoom_label, *split, *compare_bar,
        *play_bar, *frame, *fps, *other;
    NinoPictureArea *area;
    GActionMap *map;
    GPtrArray *results, *frames, *other_frames;
    int shown, compared;          // -1: none
    gboolean in_preview, settled; // settled: the user chose a result; new ones do not take over
    GCancellable *loading, *loading_other;
    guint play_timer, zoom_idle;
    gboolean updating;
};

G_DEFINE_TYPE(NinoViewer, nino_viewer, GTK_TYPE_WIDGET)
static guint failed_signal;

static Result *result_at(NinoViewer *v, int i)
{
    return i >= 0 && (guint) i < v->results->len ? v->results->pdata[i] : NULL;
}

static void set_enabled(NinoViewer *v, const char *name, gboolean on)
{
    GAction *a = v->map ? g_action_map_lookup_action(v->map, name) : NULL;
    if (a)
        g_simple_action_set_enabled(G_SIMPLE_ACTION(a), on);
}

static void set_bool(NinoViewer *v, const char *name, gboolean on)
{
    GAction *a = v->map ? g_action_map_lookup_action(v->map, name) : NULL;
    if (a)
        g_simple_action_set_state(G_SIMPLE_ACTION(a), g_variant_new_boolean(on));
}

static void update_actions(NinoViewer *v)
{
    const gboolean has = nino_picture_area_get(v->area) != NULL;
    static const char *const need_picture[] = { "viewer-fit",     "viewer-actual-size",
                                                "viewer-zoom-in", "viewer-zoom-out",
                                                "viewer-copy",    "viewer-save-as" };
    for (size_t i = 0; i < G_N_ELEMENTS(need_picture); i++)
        set_enabled(v, need_picture[i], has);
    set_enabled(v, "viewer-compare", v->results->len > 1);
    set_enabled(v, "viewer-play", v->frames && v->frames->len > 1);
    set_enabled(v, "viewer-next-result", v->shown + 1 < (int) v->results->len);
    set_enabled(v, "viewer-previous-result", v->shown > 0);
}

// ---- text around the picture --------------------------------------------------------------------

static gboolean show_zoom(gpointer user)
{
    NinoViewer *v = user;
    v->zoom_idle = 0;
    char text[32];
    g_snprintf(text, sizeof(text), "%.0f %%", nino_picture_area_zoom(v->area) * 100);
    gtk_label_set_text(GTK_LABEL(v->zoom_label), nino_picture_area_get(v->area) ? text : "");
    return G_SOURCE_REMOVE;
}

// The zoom also changes while sizes are handed out; a label must not change then.
static void on_zoomed(NinoPictureArea *area, gpointer user)
{
    (void) area;
    NinoViewer *v = user;
    if (!v->zoom_idle)
        v->zoom_idle = g_idle_add(show_zoom, v);
}

static void describe(NinoViewer *v, const char *text)
{
    gtk_label_set_text(GTK_LABEL(v->caption), text);
    gtk_widget_set_tooltip_text(v->caption, text);
    gtk_accessible_update_property(GTK_ACCESSIBLE(v->area), GTK_ACCESSIBLE_PROPERTY_LABEL, text,
                                   -1);
}

static void describe_result(NinoViewer *v, const Result *r, guint n_frames)
{
    GdkTexture *t = nino_picture_area_get(v->area);
    g_autofree char *name = g_path_get_basename(r->paths->pdata[0]);
    g_autofree char *frames = n_frames > 1 ? g_strdup_printf(", %u frames", n_frames) : NULL;
    g_autofree char *text =
        g_strdup_printf("%s, %d × %d%s", name, t ? gdk_texture_get_width(t) : 0,
                        t ? gdk_texture_get_height(t) : 0, frames ? frames : "");
    describe(v, text);
}

// ---- frames and playback ------------------------------------------------------------------------

static void show_frame(NinoViewer *v, guint i)
{
    if (!v->frames || !v->frames->len)
        return;
    nino_picture_area_set(v->area, v->frames->pdata[MIN(i, v->frames->len - 1)]);
    if (v->other_frames && v->other_frames->len)
        nino_picture_area_compare(v->area,
                                  v->other_frames->pdata[MIN(i, v->other_frames->len - 1)]);
}

static void stop(NinoViewer *v)
{
    g_clear_handle_id(&v->play_timer, g_source_remove);
    set_bool(v, "viewer-play", FALSE);
}

static gboolean next_frame(gpointer user)
{
    NinoViewer *v = user;
    if (!v->frames || v->frames->len < 2) {
        v->play_timer = 0;
        return G_SOURCE_REMOVE;
    }
    const guint now = (guint) gtk_range_get_value(GTK_RANGE(v->frame));
    gtk_range_set_value(GTK_RANGE(v->frame), (now + 1) % v->frames->len);
    return G_SOURCE_CONTINUE;
}

static void play(NinoViewer *v)
{
    g_clear_handle_id(&v->play_timer, g_source_remove);
    const double fps = gtk_spin_button_get_value(GTK_SPIN_BUTTON(v->fps));
    v->play_timer = g_timeout_add((guint) (1000 / fps), next_frame, v);
    set_bool(v, "viewer-play", TRUE);
}

static void on_fps(GtkSpinButton *spin, gpointer user)
{
    (void) spin;
    NinoViewer *v = user;
    if (v->play_timer)
        play(v);
}

static void on_frame(GtkRange *range, gpointer user)
{
    show_frame(user, (guint) gtk_range_get_value(range));
}

static void on_frames(gpointer user, GPtrArray *frames, const GError *error)
{
    NinoViewer *v = user;
    const Result *r = result_at(v, v->shown);
    if (!r)
        return;
    if (error)
        g_signal_emit(v, failed_signal, 0, error->message);
    if (!frames->len)
        return;
    g_clear_pointer(&v->frames, g_ptr_array_unref);
    v->frames = g_ptr_array_ref(frames);
    v->in_preview = FALSE;
    gtk_widget_set_visible(v->play_bar, frames->len > 1);
    if (frames->len > 1)
        gtk_range_set_range(GTK_RANGE(v->frame), 0, frames->len - 1);
    show_frame(v, frames->len > 1 ? (guint) gtk_range_get_value(GTK_RANGE(v->frame)) : 0);
    gtk_stack_set_visible_child_name(GTK_STACK(v->stack), "picture");
    describe_result(v, r, frames->len);
    if (!gtk_picture_get_paintable(GTK_PICTURE(r->picture))) {
        g_autoptr(GdkTexture) small = nino_frames_thumbnail(frames->pdata[0], THUMB);
        gtk_picture_set_paintable(GTK_PICTURE(r->picture), GDK_PAINTABLE(small));
    }
    update_actions(v);
}

static void on_other_frames(gpointer user, GPtrArray *frames, const GError *error)
{
    NinoViewer *v = user;
    if (error)
        g_signal_emit(v, failed_signal, 0, error->message);
    g_clear_pointer(&v->other_frames, g_ptr_array_unref);
    v->other_frames = frames->len ? g_ptr_array_ref(frames) : NULL;
    show_frame(v, (guint) gtk_range_get_value(GTK_RANGE(v->frame)));
}

static void load(NinoViewer *v, int index, GCancellable **slot, NinoFramesReady ready)
{
    const Result *r = result_at(v, index);
    g_cancellable_cancel(*slot);
    g_clear_object(slot);
    if (!r)
        return;
    *slot = g_cancellable_new();
    g_autoptr(GPtrArray) paths = g_ptr_array_new();
    for (guint i = 0; i < r->paths->len; i++)
        g_ptr_array_add(paths, r->paths->pdata[i]);
    g_ptr_array_add(paths, NULL);
    nino_frames_load((const char *const *) paths->pdata, *slot, ready, v);
}

// ---- choosing -----------------------------------------------------------------------------------

static void mark_shown(NinoViewer *v)
{
    v->updating = TRUE;
    for (guint i = 0; i < v->results->len; i++) {
        const Result *r = v->results->pdata[i];
        gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(r->button), (int) i == v->shown);
    }
    v->updating = FALSE;
}

static void show(NinoViewer *v, int index)
{
    const Result *r = result_at(v, index);
    if (!r)
        return;
    v->shown = index;
    mark_shown(v);
    if (nino_frames_can_show(r->paths->pdata[0])) {
        load(v, index, &v->loading, on_frames);
    } else {
        g_cancellable_cancel(v->loading);
        g_autofree char *name = g_path_get_basename(r->paths->pdata[0]);
        g_autofree char *text =
            g_strdup_printf("%s\ncannot be shown here; “Open with another program” plays it", name);
        gtk_label_set_text(GTK_LABEL(v->empty_text), text);
        gtk_stack_set_visible_child_name(GTK_STACK(v->stack), "empty");
        describe(v, name);
    }
    update_actions(v);
}

void nino_viewer_show(NinoViewer *v, guint index) { show(v, (int) index); }

void nino_viewer_compare_with(NinoViewer *v, guint index)
{
    if (!result_at(v, (int) index))
        return;
    v->compared = (int) index;
    set_bool(v, "viewer-compare", TRUE);
    gtk_widget_set_visible(v->compare_bar, TRUE);
    v->updating = TRUE;
    gtk_drop_down_set_selected(GTK_DROP_DOWN(v->other), index);
    v->updating = FALSE;
    load(v, v->compared, &v->loading_other, on_other_frames);
}

static void compare_off(NinoViewer *v)
{
    v->compared = -1;
    g_cancellable_cancel(v->loading_other);
    g_clear_pointer(&v->other_frames, g_ptr_array_unref);
    nino_picture_area_compare(v->area, NULL);
    gtk_widget_set_visible(v->compare_bar, FALSE);
    set_bool(v, "viewer-compare", FALSE);
}

static void on_other_chosen(GObject *drop_down, GParamSpec *pspec, gpointer user)
{
    (void) pspec;
    NinoViewer *v = user;
    const guint i = gtk_drop_down_get_selected(GTK_DROP_DOWN(drop_down));
    if (!v->updating && v->compared >= 0 && i != GTK_INVALID_LIST_POSITION)
        nino_viewer_compare_with(v, i);
}

static void on_split(GtkRange *range, gpointer user)
{
    NinoViewer *v = user;
    if (!v->updating)
        nino_picture_area_set_split(v->area, gtk_range_get_value(range));
}

static void on_split_moved(NinoPictureArea *area, gpointer user)
{
    NinoViewer *v = user;
    v->updating = TRUE;
    gtk_range_set_value(GTK_RANGE(v->split), nino_picture_area_split(area));
    v->updating = FALSE;
}

static void on_thumb(GtkToggleButton *button, gpointer user)
{
    NinoViewer *v = user;
    if (v->updating)
        return;
    for (guint i = 0; i < v->results->len; i++)
        if (((Result *) v->results->pdata[i])->button == GTK_WIDGET(button)) {
            v->settled = i + 1 < v->results->len; // the newest one: follow new ones again
            stop(v);
            show(v, (int) i);
        }
}

// ---- results of a run ---------------------------------------------------------------------------

static void result_free(gpointer p)
{
    Result *r = p;
    g_free(r->group);
    g_ptr_array_unref(r->paths);
    g_free(r);
}

static Result *new_result(NinoViewer *v, const char *group, const char *path)
{
    Result *r = g_new0(Result, 1);
    r->group = g_strdup(group);
    r->paths = g_ptr_array_new_with_free_func(g_free);
    r->button = gtk_toggle_button_new();
    r->picture = gtk_picture_new();
    gtk_widget_set_size_request(r->picture, THUMB, THUMB);
    gtk_picture_set_can_shrink(GTK_PICTURE(r->picture), TRUE);
    r->badge = gtk_label_new("");
    gtk_widget_add_css_class(r->badge, "badge");
    gtk_widget_set_halign(r->badge, GTK_ALIGN_END);
    gtk_widget_set_valign(r->badge, GTK_ALIGN_END);
    gtk_widget_set_visible(r->badge, FALSE);
    GtkWidget *overlay = gtk_overlay_new();
    gtk_overlay_set_child(GTK_OVERLAY(overlay), r->picture);
    gtk_overlay_add_overlay(GTK_OVERLAY(overlay), r->badge);
    gtk_button_set_child(GTK_BUTTON(r->button), overlay);
    gtk_widget_add_css_class(r->button, "thumbnail");
    g_autofree char *base = g_path_get_basename(path);
    g_autofree char *name = g_strdup_printf("Result %u: %s", v->results->len + 1, base);
    gtk_accessible_update_property(GTK_ACCESSIBLE(r->button), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                   -1);
    gtk_widget_set_tooltip_text(r->button, path);
    g_signal_connect(r->button, "toggled", G_CALLBACK(on_thumb), v);
    gtk_box_append(GTK_BOX(v->strip), r->button);
    g_ptr_array_add(v->results, r);
    GtkStringList *names = GTK_STRING_LIST(gtk_drop_down_get_model(GTK_DROP_DOWN(v->other)));
    v->updating = TRUE;
    gtk_string_list_append(names, base);
    v->updating = FALSE;
    return r;
}

void nino_viewer_add(NinoViewer *v, const char *group, const char *path)
{
    Result *r = result_at(v, (int) v->results->len - 1);
    const gboolean is_new = !r || g_strcmp0(r->group, group) != 0;
    if (is_new)
        r = new_result(v, group, path);
    g_ptr_array_add(r->paths, g_strdup(path));
    if (r->paths->len > 1) {
        char text[16];
        g_snprintf(text, sizeof(text), "%u", r->paths->len);
        gtk_label_set_text(GTK_LABEL(r->badge), text);
        gtk_widget_set_visible(r->badge, TRUE);
    }
    if (!v->settled)
        show(v, (int) v->results->len - 1);
    update_actions(v);
}

guint nino_viewer_count(NinoViewer *v) { return v->results->len; }

void nino_viewer_preview(NinoViewer *v, GdkTexture *t, unsigned step, unsigned total,
                         double seconds, double share)
{
    if (v->settled)
        return;
    stop(v);
    v->in_preview = TRUE;
    if (v->compared >= 0)
        compare_off(v);
    gtk_widget_set_visible(v->play_bar, FALSE);
    nino_picture_area_set(v->area, t);
    gtk_stack_set_visible_child_name(GTK_STACK(v->stack), "picture");
    g_autofree char *cost =
        share >= 0 ? g_strdup_printf(" (%.1f %% of the sampling)", share * 100) : g_strdup("");
    g_autofree char *text = g_strdup_printf("Preview of step %u of %u, took %.0f ms%s", step, total,
                                            seconds * 1e3, cost);
    describe(v, text);
    update_actions(v);
}

void nino_viewer_preview_end(NinoViewer *v)
{
    if (!v->in_preview)
        return;
    v->in_preview = FALSE;
    if (v->results->len)
        show(v, v->shown >= 0 ? v->shown : (int) v->results->len - 1);
    else
        describe(v, "The last preview; the run gave no result");
}

// ---- actions ------------------------------------------------------------------------------------

static const char *shown_path(NinoViewer *v)
{
    const Result *r = result_at(v, v->shown);
    if (!r)
        return NULL;
    const guint i = r->paths->len > 1
                        ? MIN((guint) gtk_range_get_value(GTK_RANGE(v->frame)), r->paths->len - 1)
                        : 0;
    return r->paths->pdata[i];
}

static void on_save_chosen(GtkNativeDialog *dialog, int response, gpointer user)
{
    NinoViewer *v = user;
    const char *path = g_object_get_data(G_OBJECT(dialog), "path");
    if (response == GTK_RESPONSE_ACCEPT) {
        g_autoptr(GFile) to = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
        g_autoptr(GFile) from = g_file_new_for_path(path);
        g_autoptr(GError) error = NULL;
        // The file itself, so that the workflow inside it goes along.
        if (!g_file_copy(from, to, G_FILE_COPY_OVERWRITE, NULL, NULL, NULL, &error))
            g_signal_emit(v, failed_signal, 0, error->message);
    }
    g_object_unref(dialog);
}

static void save_as(NinoViewer *v)
{
    const char *path = shown_path(v);
    if (!path)
        return;
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(v));
    GtkFileChooserNative *dialog = gtk_file_chooser_native_new(
        "Save result", GTK_WINDOW(root), GTK_FILE_CHOOSER_ACTION_SAVE, "_Save", "_Cancel");
    g_autofree char *name = g_path_get_basename(path);
    gtk_file_chooser_set_current_name(GTK_FILE_CHOOSER(dialog), name);
    g_object_set_data_full(G_OBJECT(dialog), "path", g_strdup(path), g_free);
    g_signal_connect_object(dialog, "response", G_CALLBACK(on_save_chosen), v, 0);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

static void open_elsewhere(NinoViewer *v)
{
    const char *path = shown_path(v);
    g_autofree char *uri = path ? g_filename_to_uri(path, NULL, NULL) : NULL;
    if (uri)
        gtk_show_uri(GTK_WINDOW(gtk_widget_get_root(GTK_WIDGET(v))), uri, GDK_CURRENT_TIME);
}

static void on_action(GSimpleAction *action, GVariant *parameter, gpointer user)
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
        save_as(v);
    else if (g_str_equal(name, "open-elsewhere"))
        open_elsewhere(v);
    else if (g_str_equal(name, "next-result"))
        show(v, v->shown + 1);
    else if (g_str_equal(name, "previous-result"))
        show(v, v->shown - 1);
    else if (g_str_equal(name, "next-frame"))
        gtk_range_set_value(GTK_RANGE(v->frame), gtk_range_get_value(GTK_RANGE(v->frame)) + 1);
    else if (g_str_equal(name, "previous-frame"))
        gtk_range_set_value(GTK_RANGE(v->frame), gtk_range_get_value(GTK_RANGE(v->frame)) - 1);
    else if (g_str_equal(name, "play"))
        v->play_timer ? stop(v) : play(v);
    else if (g_str_equal(name, "compare"))
        v->compared >= 0 ? compare_off(v)
                         : nino_viewer_compare_with(v, v->shown > 0 ? (guint) v->shown - 1 : 1);
}

void nino_viewer_add_actions(NinoViewer *v, GActionMap *map)
{
    static const GActionEntry entries[] = {
        { .name = "viewer-fit", .activate = on_action },
        { .name = "viewer-actual-size", .activate = on_action },
        { .name = "viewer-zoom-in", .activate = on_action },
        { .name = "viewer-zoom-out", .activate = on_action },
        { .name = "viewer-copy", .activate = on_action },
        { .name = "viewer-save-as", .activate = on_action },
        { .name = "viewer-open-elsewhere", .activate = on_action },
        { .name = "viewer-next-result", .activate = on_action },
        { .name = "viewer-previous-result", .activate = on_action },
        { .name = "viewer-next-frame", .activate = on_action },
        { .name = "viewer-previous-frame", .activate = on_action },
        { .name = "viewer-play", .activate = on_action, .state = "false" },
        { .name = "viewer-compare", .activate = on_action, .state = "false" },
    };
    v->map = map;
    g_action_map_add_action_entries(map, entries, G_N_ELEMENTS(entries), v);
    update_actions(v);
}

// ---- building -----------------------------------------------------------------------------------

static void dispose(GObject *o)
{
    NinoViewer *v = NINO_VIEWER(o);
    g_clear_handle_id(&v->play_timer, g_source_remove);
    g_clear_handle_id(&v->zoom_idle, g_source_remove);
    g_cancellable_cancel(v->loading);
    g_cancellable_cancel(v->loading_other);
    g_clear_object(&v->loading);
    g_clear_object(&v->loading_other);
    v->map = NULL;
    g_clear_pointer(&v->box, gtk_widget_unparent);
    g_clear_pointer(&v->results, g_ptr_array_unref);
    g_clear_pointer(&v->frames, g_ptr_array_unref);
    g_clear_pointer(&v->other_frames, g_ptr_array_unref);
    G_OBJECT_CLASS(nino_viewer_parent_class)->dispose(o);
}

static void nino_viewer_class_init(NinoViewerClass *klass)
{
    GtkWidgetClass *wc = GTK_WIDGET_CLASS(klass);
    G_OBJECT_CLASS(klass)->dispose = dispose;
    gtk_widget_class_set_layout_manager_type(wc, GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_css_name(wc, "viewer");
    gtk_widget_class_set_template_from_resource(wc, "/org/ninodes/Studio/viewer.ui");
#define BIND(name) gtk_widget_class_bind_template_child(wc, NinoViewer, name)
    BIND(box);
    BIND(stack);
    BIND(empty_text);
    BIND(strip);
    BIND(caption);
    BIND(zoom_label);
    BIND(split);
    BIND(compare_bar);
    BIND(play_bar);
    BIND(frame);
    BIND(fps);
    BIND(other);
    BIND(area);
#undef BIND
    failed_signal = g_signal_new("failed", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                 NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void nino_viewer_init(NinoViewer *v)
{
    v->results = g_ptr_array_new_with_free_func(result_free);
    v->shown = v->compared = -1;
    g_type_ensure(NINO_TYPE_PICTURE_AREA);
    gtk_widget_init_template(GTK_WIDGET(v));
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(v->fps), DEFAULT_FPS);
    gtk_accessible_update_property(GTK_ACCESSIBLE(v->area), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "No result yet", -1);
    g_signal_connect(v->area, "zoomed", G_CALLBACK(on_zoomed), v);
    g_signal_connect(v->area, "split-moved", G_CALLBACK(on_split_moved), v);
    g_signal_connect(v->split, "value-changed", G_CALLBACK(on_split), v);
    g_signal_connect(v->frame, "value-changed", G_CALLBACK(on_frame), v);
    g_signal_connect(v->fps, "value-changed", G_CALLBACK(on_fps), v);
    g_signal_connect(v->other, "notify::selected", G_CALLBACK(on_other_chosen), v);
}

GtkWidget *nino_viewer_new(void) { return g_object_new(NINO_TYPE_VIEWER, NULL); }
