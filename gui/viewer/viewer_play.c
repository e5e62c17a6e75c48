// Frames of the shown result and of the other side of the comparison; playing keeps to the clock
// and leaves frames out where drawing is too slow.
#include "viewer/viewer_priv.h"

#include <math.h>

#include "viewer/frames.h"

#define DEFAULT_FPS 16 // of a batch of stills, as Wan's

guint nino_viewer_frame(NinoViewer *v) { return (guint) gtk_range_get_value(GTK_RANGE(v->frame)); }

static double rate(NinoViewer *v) { return gtk_spin_button_get_value(GTK_SPIN_BUTTON(v->fps)); }

// Of the other clip what is shown at the same time; frame by frame where one has no rate.
static guint other_frame(const NinoViewer *v, guint i)
{
    const double k = v->fps_own > 0 && v->fps_other > 0 ? v->fps_other / v->fps_own : 1;
    return MIN((guint) floor(i * k + 1e-6), v->other_frames->len - 1);
}

static void show_frame(NinoViewer *v, guint i)
{
    if (!v->frames || !v->frames->len)
        return;
    i = MIN(i, v->frames->len - 1);
    nino_picture_area_set(v->area, v->frames->pdata[i]);
    if (v->other_frames && v->other_frames->len)
        nino_picture_area_compare(v->area, v->other_frames->pdata[other_frame(v, i)]);
    g_autofree char *text =
        v->fps_own > 0 ? g_strdup_printf("%.2f s", i / v->fps_own) : g_strdup("");
    gtk_label_set_text(GTK_LABEL(v->time), text);
}

// ---- playing ------------------------------------------------------------------------------------

static void begin_at(NinoViewer *v, guint frame)
{
    v->play_first = frame;
    v->play_from_us = g_get_monotonic_time();
}

static void jump(NinoViewer *v, guint frame)
{
    v->is_jump = TRUE;
    gtk_range_set_value(GTK_RANGE(v->frame), frame);
    v->is_jump = FALSE;
}

void nino_viewer_stop(NinoViewer *v)
{
    g_clear_handle_id(&v->play_timer, g_source_remove);
    nino_viewer_set_bool(v, "viewer-play", FALSE);
}

static gboolean next_frame(gpointer user)
{
    NinoViewer *v = user;
    const double s = (double) (g_get_monotonic_time() - v->play_from_us) * 1e-6;
    const guint64 at = v->play_first + (guint64) floor(s * rate(v) + 1e-6);
    if (v->frames && v->frames->len > 1 && (v->loops || at < v->frames->len)) {
        jump(v, (guint) (at % v->frames->len));
        return G_SOURCE_CONTINUE;
    }
    if (v->frames && v->frames->len)
        jump(v, v->frames->len - 1);
    v->play_timer = 0;
    nino_viewer_stop(v);
    return G_SOURCE_REMOVE;
}

void nino_viewer_play(NinoViewer *v)
{
    g_clear_handle_id(&v->play_timer, g_source_remove);
    const guint now = nino_viewer_frame(v);
    begin_at(v, v->frames && now + 1 >= v->frames->len ? 0 : now); // from its end: once more
    v->play_timer = g_timeout_add((guint) fmax(1000 / rate(v) / 2, 8), next_frame, v);
    nino_viewer_set_bool(v, "viewer-play", TRUE);
}

void nino_viewer_step(NinoViewer *v, int frames)
{
    nino_viewer_stop(v);
    gtk_range_set_value(GTK_RANGE(v->frame), gtk_range_get_value(GTK_RANGE(v->frame)) + frames);
}

static void on_fps(GtkSpinButton *spin, gpointer user)
{
    (void) spin;
    NinoViewer *v = user;
    if (v->play_timer)
        nino_viewer_play(v);
}

static void on_frame(GtkRange *range, gpointer user)
{
    NinoViewer *v = user;
    show_frame(v, (guint) gtk_range_get_value(range));
    if (v->play_timer && !v->is_jump) // the user moved it: on from there
        begin_at(v, (guint) gtk_range_get_value(range));
}

// ---- frames -------------------------------------------------------------------------------------

static void viewer_play_take_frames(NinoViewer *v, GPtrArray *frames, double fps)
{
    g_clear_pointer(&v->frames, g_ptr_array_unref);
    v->frames = g_ptr_array_ref(frames);
    v->fps_own = fps;
    v->in_preview = FALSE;
    gtk_widget_set_visible(v->play_bar, frames->len > 1);
    if (frames->len > 1)
        gtk_range_set_range(GTK_RANGE(v->frame), 0, frames->len - 1);
    if (fps > 0)
        gtk_spin_button_set_value(GTK_SPIN_BUTTON(v->fps), fps);
}

static void on_frames(gpointer user, GPtrArray *frames, double fps, const GError *error)
{
    NinoViewer *v = user;
    const Result *r = nino_viewer_result(v, v->shown);
    if (!r)
        return;
    if (error)
        nino_viewer_fail(v, error->message);
    if (!frames->len)
        return;
    viewer_play_take_frames(v, frames, fps);
    show_frame(v, frames->len > 1 ? nino_viewer_frame(v) : 0);
    gtk_stack_set_visible_child_name(GTK_STACK(v->stack), "picture");
    nino_viewer_describe_result(v, r, frames->len);
    nino_viewer_update_actions(v);
}

static void on_other_frames(gpointer user, GPtrArray *frames, double fps, const GError *error)
{
    NinoViewer *v = user;
    if (error)
        nino_viewer_fail(v, error->message);
    g_clear_pointer(&v->other_frames, g_ptr_array_unref);
    v->other_frames = frames->len ? g_ptr_array_ref(frames) : NULL;
    v->fps_other = fps;
    show_frame(v, nino_viewer_frame(v));
}

static void viewer_play_load(NinoViewer *v, int index, GCancellable **slot, NinoFramesReady ready)
{
    const Result *r = nino_viewer_result(v, index);
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

void nino_viewer_load_shown(NinoViewer *v)
{
    viewer_play_load(v, v->shown, &v->loading, on_frames);
}

// ---- comparison ---------------------------------------------------------------------------------

void nino_viewer_compare_with(NinoViewer *v, guint index)
{
    if (!nino_viewer_result(v, (int) index))
        return;
    v->compared = (int) index;
    nino_viewer_set_bool(v, "viewer-compare", TRUE);
    gtk_widget_set_visible(v->compare_bar, TRUE);
    v->updating = TRUE;
    gtk_drop_down_set_selected(GTK_DROP_DOWN(v->other), index);
    v->updating = FALSE;
    viewer_play_load(v, v->compared, &v->loading_other, on_other_frames);
}

void nino_viewer_compare_off(NinoViewer *v)
{
    v->compared = -1;
    g_cancellable_cancel(v->loading_other);
    g_clear_pointer(&v->other_frames, g_ptr_array_unref);
    nino_picture_area_compare(v->area, NULL);
    gtk_widget_set_visible(v->compare_bar, FALSE);
    nino_viewer_set_bool(v, "viewer-compare", FALSE);
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

// ---- start and end ------------------------------------------------------------------------------

void nino_viewer_play_init(NinoViewer *v)
{
    v->loops = TRUE;
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(v->fps), DEFAULT_FPS);
    g_signal_connect(v->area, "split-moved", G_CALLBACK(on_split_moved), v);
    g_signal_connect(v->split, "value-changed", G_CALLBACK(on_split), v);
    g_signal_connect(v->frame, "value-changed", G_CALLBACK(on_frame), v);
    g_signal_connect(v->fps, "value-changed", G_CALLBACK(on_fps), v);
    g_signal_connect(v->other, "notify::selected", G_CALLBACK(on_other_chosen), v);
}

void nino_viewer_play_dispose(NinoViewer *v)
{
    g_clear_handle_id(&v->play_timer, g_source_remove);
    g_cancellable_cancel(v->loading);
    g_cancellable_cancel(v->loading_other);
    g_clear_object(&v->loading);
    g_clear_object(&v->loading_other);
    g_clear_pointer(&v->frames, g_ptr_array_unref);
    g_clear_pointer(&v->other_frames, g_ptr_array_unref);
}
