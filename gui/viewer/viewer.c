// One result is a group of files; its frames are loaded when it is shown and forgotten after.
#include "viewer/viewer_priv.h"

#include "viewer/frames.h"
#include "base/empty.h"
#include "base/i18n.h"

#include <math.h>

#define THUMB 72

G_DEFINE_TYPE(NinoViewer, nino_viewer, GTK_TYPE_WIDGET)
static guint failed_signal, open_signal, use_signal;

Result *nino_viewer_result(NinoViewer *v, int i)
{
    return i >= 0 && (guint) i < v->results->len ? v->results->pdata[i] : NULL;
}

void nino_viewer_fail(NinoViewer *v, const char *text) { g_signal_emit(v, failed_signal, 0, text); }

void nino_viewer_open(NinoViewer *v, const char *path) { g_signal_emit(v, open_signal, 0, path); }

void nino_viewer_use(NinoViewer *v, const char *path) { g_signal_emit(v, use_signal, 0, path); }

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

void nino_viewer_describe(NinoViewer *v, const char *text)
{
    gtk_label_set_text(GTK_LABEL(v->caption), text);
    gtk_widget_set_tooltip_text(v->caption, text);
    nino_viewer_history_changed(v);
    gtk_accessible_update_property(GTK_ACCESSIBLE(v->area), GTK_ACCESSIBLE_PROPERTY_LABEL, text,
                                   -1);
}

void nino_viewer_describe_result(NinoViewer *v, const Result *r, guint n_frames)
{
    GdkTexture *t = nino_picture_area_get(v->area);
    g_autofree char *name = g_path_get_basename(r->paths->pdata[0]);
    g_autoptr(GString) text = g_string_new(name);
    g_string_append_printf(text, ", %d × %d", t ? gdk_texture_get_width(t) : 0,
                           t ? gdk_texture_get_height(t) : 0);
    if (g_str_has_suffix(name, ".latent"))
        g_string_append(text, _(", a latent in rough colours"));
    if (n_frames > 1)
        g_string_append_printf(text, ngettext(", %u frame", ", %u frames", n_frames), n_frames);
    if (n_frames > 1 && v->fps_own > 0)
        g_string_append_printf(text, _(", %.4g a second, %.1f s"), v->fps_own,
                               n_frames / v->fps_own);
    nino_viewer_describe(v, text->str);
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

enum { AROUND = 16 }; // of the thumbnail that is shown, a piece of its neighbours

// What is shown is in view in the strip, once that is laid out.
static gboolean scroll_strip(gpointer user)
{
    NinoViewer *v = user;
    const Result *r = nino_viewer_result(v, v->shown);
    GtkWidget *scroller = gtk_widget_get_ancestor(v->strip, GTK_TYPE_SCROLLED_WINDOW);
    graphene_rect_t box;
    v->strip_idle = 0;
    if (r && gtk_widget_get_width(r->button) &&
        gtk_widget_compute_bounds(r->button, v->strip, &box))
        gtk_adjustment_clamp_page(
            gtk_scrolled_window_get_hadjustment(GTK_SCROLLED_WINDOW(scroller)),
            box.origin.x - AROUND, box.origin.x + box.size.width + AROUND);
    return G_SOURCE_REMOVE;
}

static void strip_changed(NinoViewer *v)
{
    if (!v->strip_idle)
        v->strip_idle = g_idle_add(scroll_strip, v);
}

static void viewer_show(NinoViewer *v, int index)
{
    const Result *r = nino_viewer_result(v, index);
    if (!r)
        return;
    v->shown = index;
    mark_shown(v);
    strip_changed(v);
    if (nino_frames_can_show(r->paths->pdata[0])) {
        nino_viewer_load_shown(v);
    } else {
        g_cancellable_cancel(v->loading);
        g_autofree char *name = g_path_get_basename(r->paths->pdata[0]);
        g_autofree char *text = g_strdup_printf(
            _("%s\ncannot be shown here; “Open with another program” plays it"), name);
        static const NinoEmpty other = { "text-x-generic-symbolic",
                                         NULL,
                                         { { N_("Open with another program"),
                                             "win.viewer-open-elsewhere" } } };
        nino_empty_say(v->empty, &other, text);
        gtk_stack_set_visible_child_name(GTK_STACK(v->stack), "empty");
        nino_viewer_describe(v, name);
    }
    nino_viewer_update_actions(v);
}

void nino_viewer_show(NinoViewer *v, guint index) { viewer_show(v, (int) index); }

static void on_thumb(GtkToggleButton *button, gpointer user)
{
    NinoViewer *v = user;
    if (v->updating)
        return;
    for (guint i = 0; i < v->results->len; i++)
        if (((Result *) v->results->pdata[i])->button == GTK_WIDGET(button)) {
            v->settled = i + 1 < v->results->len; // the newest one: follow new ones again
            nino_viewer_stop(v);
            viewer_show(v, (int) i);
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

// Onto a node, or into another program.
static GdkContentProvider *on_thumb_drag(GtkDragSource *source, double x, double y, gpointer path)
{
    (void) source, (void) x, (void) y;
    GSList file = { .data = g_file_new_for_path(path) };
    GdkContentProvider *files = gdk_content_provider_new_typed(GDK_TYPE_FILE_LIST, &file);
    g_object_unref(file.data);
    return files;
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
    g_autofree char *name = g_strdup_printf(_("Result %u: %s"), v->results->len + 1, base);
    gtk_accessible_update_property(GTK_ACCESSIBLE(r->button), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                   -1);
    gtk_widget_set_tooltip_text(r->button, path);
    g_signal_connect(r->button, "toggled", G_CALLBACK(on_thumb), v);
    GtkDragSource *drag = gtk_drag_source_new();
    gtk_drag_source_set_actions(drag, GDK_ACTION_COPY);
    g_signal_connect_data(drag, "prepare", G_CALLBACK(on_thumb_drag), g_strdup(path),
                          (GClosureNotify) (void (*)(void)) g_free, 0);
    gtk_widget_add_controller(r->button, GTK_EVENT_CONTROLLER(drag));
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
    Result *r = nino_viewer_result(v, (int) v->results->len - 1);
    const gboolean is_new = !r || g_strcmp0(r->group, group) != 0;
    if (is_new) {
        r = new_result(v, group, path);
        nino_frames_fill(GTK_PICTURE(r->picture), path, THUMB);
        nino_viewer_history_read(r, path);
    }
    g_ptr_array_add(r->paths, g_strdup(path));
    if (r->paths->len > 1) {
        char text[16];
        g_snprintf(text, sizeof(text), "%u", r->paths->len);
        gtk_label_set_text(GTK_LABEL(r->badge), text);
        gtk_widget_set_visible(r->badge, TRUE);
    }
    if (!v->settled)
        viewer_show(v, (int) v->results->len - 1);
    nino_viewer_update_actions(v);
}

guint nino_viewer_count(NinoViewer *v) { return v->results->len; }

void nino_viewer_preview(NinoViewer *v, GdkTexture *t, unsigned step, unsigned total,
                         double seconds, double share)
{
    if (v->settled)
        return;
    nino_viewer_stop(v);
    v->in_preview = TRUE;
    if (v->compared >= 0)
        nino_viewer_compare_off(v);
    gtk_widget_set_visible(v->play_bar, FALSE);
    nino_picture_area_set(v->area, t);
    gtk_stack_set_visible_child_name(GTK_STACK(v->stack), "picture");
    g_autofree char *cost =
        share >= 0 ? g_strdup_printf(_(" (%.1f %% of the sampling)"), share * 100) : g_strdup("");
    g_autofree char *text = g_strdup_printf(_("Preview of step %u of %u, took %.0f ms%s"), step,
                                            total, seconds * 1e3, cost);
    nino_viewer_describe(v, text);
    nino_viewer_update_actions(v);
}

void nino_viewer_preview_end(NinoViewer *v)
{
    if (!v->in_preview)
        return;
    v->in_preview = FALSE;
    if (v->results->len)
        viewer_show(v, v->shown >= 0 ? v->shown : (int) v->results->len - 1);
    else
        nino_viewer_describe(v, _("The last preview; the run gave no result"));
}

// ---- building -----------------------------------------------------------------------------------

static void viewer_dispose(GObject *o)
{
    NinoViewer *v = NINO_VIEWER(o);
    nino_viewer_play_dispose(v);
    g_clear_handle_id(&v->zoom_idle, g_source_remove);
    g_clear_handle_id(&v->strip_idle, g_source_remove);
    v->map = NULL;
    g_clear_pointer(&v->box, gtk_widget_unparent);
    g_clear_pointer(&v->results, g_ptr_array_unref);
    G_OBJECT_CLASS(nino_viewer_parent_class)->dispose(o);
}

static void nino_viewer_class_init(NinoViewerClass *klass)
{
    GtkWidgetClass *wc = GTK_WIDGET_CLASS(klass);
    G_OBJECT_CLASS(klass)->dispose = viewer_dispose;
    gtk_widget_class_set_layout_manager_type(wc, GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_css_name(wc, "viewer");
    gtk_widget_class_set_template_from_resource(wc, "/org/ninodes/Studio/viewer.ui");
#define BIND(name) gtk_widget_class_bind_template_child(wc, NinoViewer, name)
    BIND(box);
    BIND(tools);
    BIND(stack);
    BIND(empty_page);
    BIND(strip);
    BIND(caption);
    BIND(zoom_label);
    BIND(split);
    BIND(compare_bar);
    BIND(play_bar);
    BIND(frame);
    BIND(fps);
    BIND(other);
    BIND(time);
    BIND(made);
    BIND(made_line);
    BIND(search);
    BIND(area);
#undef BIND
    failed_signal = g_signal_new("failed", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                 NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
    open_signal = g_signal_new("open", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                               NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
    use_signal = g_signal_new("use", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                              NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void nino_viewer_init(NinoViewer *v)
{
    v->results = g_ptr_array_new_with_free_func(result_free);
    v->shown = v->compared = -1;
    g_type_ensure(NINO_TYPE_PICTURE_AREA);
    gtk_widget_init_template(GTK_WIDGET(v));
    gtk_accessible_update_property(GTK_ACCESSIBLE(v->area), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("No result yet"), -1);
    g_signal_connect(v->area, "zoomed", G_CALLBACK(on_zoomed), v);
    GtkWidget *scroller = gtk_widget_get_ancestor(v->strip, GTK_TYPE_SCROLLED_WINDOW);
    g_signal_connect_swapped(gtk_scrolled_window_get_hadjustment(GTK_SCROLLED_WINDOW(scroller)),
                             "changed", G_CALLBACK(strip_changed), v);
    static const NinoEmpty empty = { "insert-image-symbolic",
                                     N_("Results appear here"),
                                     { { N_("Start a run"), "win.run" },
                                       { N_("Workflows"), "win.drawer::workflows" } } };
    v->empty = nino_empty_new(&empty);
    gtk_widget_set_hexpand(v->empty, TRUE);
    gtk_box_append(GTK_BOX(v->empty_page), v->empty);
    nino_viewer_play_init(v);
    nino_viewer_history_init(v);
}

GtkWidget *nino_viewer_new(void) { return g_object_new(NINO_TYPE_VIEWER, NULL); }
