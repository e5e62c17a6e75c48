// Decoding runs in a GTask thread; the textures share the decoded bytes.
#include "viewer/frames.h"

#include <ninodes/picture.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((guint64) 1 << 30) // of one result's frames

typedef struct Loading {
    char **paths;
    NinoFramesReady ready;
    gpointer user;
    double fps; // what the thread found
} Loading;

static void loading_free(gpointer p)
{
    Loading *l = p;
    g_strfreev(l->paths);
    g_free(l);
}

gboolean nino_frames_can_show(const char *path)
{
    static const char *const endings[] = { ".png",  ".jpg", ".jpeg", ".webp", ".apng",  ".mp4",
                                           ".webm", ".mov", ".m4v",  ".mkv",  ".latent" };
    g_autofree char *lower = g_ascii_strdown(path, -1);
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++)
        if (g_str_has_suffix(lower, endings[i]))
            return TRUE;
    return FALSE;
}

// The frames share the picture's bytes, which it loses.
static void add_frames(GPtrArray *out, nino_picture *p, guint64 *bytes)
{
    const gsize n = (gsize) p->width * (gsize) p->height * 4;
    g_autoptr(GBytes) all =
        g_bytes_new_with_free_func(p->rgba, n * (gsize) p->frames, free, p->rgba);
    p->rgba = NULL;
    for (int i = 0; i < p->frames && (*bytes + n <= MAX_BYTES || !out->len); i++) {
        g_autoptr(GBytes) pixels = g_bytes_new_from_bytes(all, (gsize) i * n, n);
        g_ptr_array_add(out, gdk_memory_texture_new(p->width, p->height, GDK_MEMORY_R8G8B8A8,
                                                    pixels, (gsize) p->width * 4));
        *bytes += n;
    }
}

static void frames_load_all(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    (void) source;
    Loading *l = data;
    GPtrArray *out = g_ptr_array_new_with_free_func(g_object_unref);
    guint64 bytes = 0;
    for (int i = 0; l->paths[i] && !g_cancellable_is_cancelled(cancellable); i++) {
        nino_picture p = { 0 };
        nino_error err = { 0 };
        if (nino_picture_load(l->paths[i], &p, &err)) {
            g_object_set_data_full(
                G_OBJECT(task), "why",
                g_error_new(G_IO_ERROR, G_IO_ERROR_FAILED, "%s: %s", err.where, err.msg),
                (GDestroyNotify) g_error_free);
            break;
        }
        if (p.fps > 0)
            l->fps = p.fps;
        add_frames(out, &p, &bytes);
        nino_picture_release(&p);
    }
    g_task_return_pointer(task, out, (GDestroyNotify) g_ptr_array_unref);
}

static void on_frames_loaded(GObject *source, GAsyncResult *result, gpointer user)
{
    (void) source, (void) user;
    GTask *task = G_TASK(result);
    const Loading *l = g_task_get_task_data(task);
    g_autoptr(GPtrArray) frames = g_task_propagate_pointer(task, NULL);
    if (frames && !g_cancellable_is_cancelled(g_task_get_cancellable(task)))
        l->ready(l->user, frames, l->fps, g_object_get_data(G_OBJECT(task), "why"));
}

void nino_frames_load(const char *const *paths, GCancellable *cancellable, NinoFramesReady ready,
                      gpointer user)
{
    Loading *l = g_new0(Loading, 1);
    l->paths = g_strdupv((char **) paths);
    l->ready = ready;
    l->user = user;
    g_autoptr(GTask) task = g_task_new(NULL, cancellable, on_frames_loaded, NULL);
    g_task_set_task_data(task, l, loading_free);
    g_task_run_in_thread(task, frames_load_all);
}

// The mean of the pixels that fall into each small one.
static void frames_shrink(const guchar *src, int w, int h, guchar *dst, int tw, int th)
{
    for (int y = 0; y < th; y++) {
        const int y0 = y * h / th, y1 = MAX((y + 1) * h / th, y0 + 1);
        for (int x = 0; x < tw; x++) {
            const int x0 = x * w / tw, x1 = MAX((x + 1) * w / tw, x0 + 1);
            guint64 sum[4] = { 0 };
            for (int sy = y0; sy < y1; sy++)
                for (int sx = x0; sx < x1; sx++)
                    for (int c = 0; c < 4; c++)
                        sum[c] += src[((gsize) sy * (gsize) w + (gsize) sx) * 4 + (gsize) c];
            const guint64 n = (guint64) (y1 - y0) * (guint64) (x1 - x0);
            for (int c = 0; c < 4; c++)
                dst[(y * tw + x) * 4 + c] = (guchar) (sum[c] / n);
        }
    }
}

GdkTexture *nino_frames_thumbnail(GdkTexture *texture, int size)
{
    const int w = gdk_texture_get_width(texture), h = gdk_texture_get_height(texture);
    const int longest = MAX(w, h);
    if (longest <= size)
        return g_object_ref(texture);
    const int tw = MAX(w * size / longest, 1), th = MAX(h * size / longest, 1);
    g_autofree guchar *pixels = g_malloc((gsize) w * (gsize) h * 4);
    gdk_texture_download(texture, pixels, (gsize) w * 4);
    guchar *small = g_malloc((gsize) tw * (gsize) th * 4);
    frames_shrink(pixels, w, h, small, tw, th);
    g_autoptr(GBytes) bytes = g_bytes_new_take(small, (gsize) tw * (gsize) th * 4);
    // What gdk_texture_download() writes: the memory format of cairo.
    return gdk_memory_texture_new(tw, th, GDK_MEMORY_DEFAULT, bytes, (gsize) tw * 4);
}

static void load_small(GTask *task, gpointer source, gpointer path, GCancellable *cancellable)
{
    (void) source, (void) cancellable;
    nino_picture p = { 0 };
    guint64 bytes = 0;
    if (nino_picture_load_frames(path, 1, &p, NULL)) {
        g_task_return_pointer(task, NULL, NULL);
        return;
    }
    g_autoptr(GPtrArray) one = g_ptr_array_new_with_free_func(g_object_unref);
    add_frames(one, &p, &bytes);
    nino_picture_release(&p);
    const int size = GPOINTER_TO_INT(g_object_get_data(G_OBJECT(task), "size"));
    g_task_return_pointer(task, nino_frames_thumbnail(one->pdata[0], size), g_object_unref);
}

static void on_small(GObject *picture, GAsyncResult *result, gpointer user)
{
    (void) user;
    g_autoptr(GdkTexture) t = g_task_propagate_pointer(G_TASK(result), NULL);
    if (t && !gtk_picture_get_paintable(GTK_PICTURE(picture)))
        gtk_picture_set_paintable(GTK_PICTURE(picture), GDK_PAINTABLE(t));
}

void nino_frames_fill(GtkPicture *picture, const char *path, int size)
{
    g_autoptr(GTask) task = g_task_new(picture, NULL, on_small, NULL);
    g_task_set_task_data(task, g_strdup(path), g_free);
    g_object_set_data(G_OBJECT(task), "size", GINT_TO_POINTER(size));
    g_task_run_in_thread(task, load_small);
}
