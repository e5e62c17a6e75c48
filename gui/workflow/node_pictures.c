// The files of a node are collected a moment, so that a batch is one sheet and not one by one.
#include "workflow/node_pictures.h"

#include <math.h>

#include "viewer/frames.h"
#include "node/small_picture.h"

#define WAIT_MS 120
#define MAX_ON_SHEET 16
#define SHEET 512 // pixels a side, at most

typedef struct Made { // by one node
    NinoTab *tab;     // owns it
    char *node_id;
    guint32 run;
    GPtrArray *paths;
    guint timer;
    GCancellable *loading;
} Made;

static void made_free(gpointer p)
{
    Made *m = p;
    g_clear_handle_id(&m->timer, g_source_remove);
    g_cancellable_cancel(m->loading);
    g_clear_object(&m->loading);
    g_ptr_array_unref(m->paths);
    g_free(m->node_id);
    g_free(m);
}

static void paths_free(gpointer p) { g_strfreev(p); }

// ---- in the thread ------------------------------------------------------------------------------

// The first frame of a file, not larger than a cell; NULL: it is no picture.
static GdkTexture *load_cell(const char *path, int side)
{
    g_autoptr(GdkTexture) full = nino_full_picture_load(path);
    return full ? nino_frames_thumbnail(full, side) : NULL;
}

static void paint_cell(cairo_t *cr, GdkTexture *t, double x, double y)
{
    const int w = gdk_texture_get_width(t), h = gdk_texture_get_height(t);
    cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, w, h);
    if (!cairo_surface_status(s)) {
        gdk_texture_download(t, cairo_image_surface_get_data(s),
                             (gsize) cairo_image_surface_get_stride(s));
        cairo_surface_mark_dirty(s);
        cairo_set_source_surface(cr, s, x, y);
        cairo_paint(cr);
    }
    cairo_surface_destroy(s);
}

// Row by row, as ComfyUI's editor lays a batch out.
static GdkTexture *node_pictures_make_sheet(GPtrArray *cells, guint columns)
{
    const int w = gdk_texture_get_width(cells->pdata[0]) + 2,
              h = gdk_texture_get_height(cells->pdata[0]) + 2;
    const guint rows = (cells->len + columns - 1) / columns;
    cairo_surface_t *s =
        cairo_image_surface_create(CAIRO_FORMAT_ARGB32, w * (int) columns, h * (int) rows);
    if (cairo_surface_status(s)) {
        cairo_surface_destroy(s);
        return g_object_ref(cells->pdata[0]);
    }
    cairo_t *cr = cairo_create(s);
    for (guint i = 0; i < cells->len; i++)
        paint_cell(cr, cells->pdata[i], w * (int) (i % columns) + 1, h * (int) (i / columns) + 1);
    cairo_destroy(cr);
    cairo_surface_flush(s);
    const gsize stride = (gsize) cairo_image_surface_get_stride(s);
    g_autoptr(GBytes) pixels =
        g_bytes_new(cairo_image_surface_get_data(s), stride * (gsize) h * rows);
    cairo_surface_destroy(s);
    return gdk_memory_texture_new(w * (int) columns, h * (int) rows, GDK_MEMORY_DEFAULT, pixels,
                                  stride);
}

static void node_pictures_load(GTask *task, gpointer source, gpointer data,
                               GCancellable *cancellable)
{
    (void) source;
    char **paths = data;
    const guint n = MIN(g_strv_length(paths), MAX_ON_SHEET),
                columns = MAX((guint) ceil(sqrt(n)), 1);
    g_autoptr(GPtrArray) cells = g_ptr_array_new_with_free_func(g_object_unref);
    for (guint i = 0; i < n && !g_cancellable_is_cancelled(cancellable); i++) {
        GdkTexture *t = load_cell(paths[i], SHEET / (int) columns - 2);
        if (t)
            g_ptr_array_add(cells, t);
    }
    g_task_return_pointer(task, cells->len ? node_pictures_make_sheet(cells, columns) : NULL,
                          g_object_unref);
}

// ---- on the main loop ---------------------------------------------------------------------------

static void on_node_pictures_loaded(GObject *source, GAsyncResult *result, gpointer user)
{
    (void) source;
    GTask *task = G_TASK(result);
    g_autoptr(GdkTexture) t = g_task_propagate_pointer(task, NULL);
    if (g_cancellable_is_cancelled(g_task_get_cancellable(task)) || !t)
        return; // cancelled: `user` may be gone
    const Made *m = user;
    if (nino_tab_canvas(m->tab)) // the tab is not about to go
        nino_canvas_set_picture(nino_tab_canvas(m->tab), m->node_id, t);
}

static gboolean start_loading(gpointer user)
{
    Made *m = user;
    m->timer = 0;
    g_cancellable_cancel(m->loading);
    g_clear_object(&m->loading);
    m->loading = g_cancellable_new();
    g_ptr_array_add(m->paths, NULL);
    g_autoptr(GTask) task = g_task_new(NULL, m->loading, on_node_pictures_loaded, m);
    g_task_set_task_data(task, g_strdupv((char **) m->paths->pdata), paths_free);
    g_ptr_array_set_size(m->paths, (int) m->paths->len - 1);
    g_task_run_in_thread(task, node_pictures_load);
    return G_SOURCE_REMOVE;
}

// What is known of a node; NULL if nothing is and `run` is 0.
static Made *node_pictures_find(NinoTab *tab, const char *node_id, guint32 run)
{
    static const char key[] = "node-pictures";
    GHashTable *all = g_object_get_data(G_OBJECT(tab), key);
    if (!all) {
        all = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, made_free);
        g_object_set_data_full(G_OBJECT(tab), key, all, (GDestroyNotify) g_hash_table_unref);
    }
    Made *m = g_hash_table_lookup(all, node_id);
    if (!m && run) {
        m = g_new0(Made, 1);
        m->tab = tab;
        m->node_id = g_strdup(node_id);
        m->paths = g_ptr_array_new_with_free_func(g_free);
        g_hash_table_insert(all, m->node_id, m);
    }
    if (m && run && m->run != run) {
        m->run = run;
        g_ptr_array_set_size(m->paths, 0);
        g_cancellable_cancel(
            m->loading); // else the picture of the run before comes over this one's
    }
    return m;
}

void nino_node_pictures_add(NinoTab *tab, const char *node_id, guint32 run, const char *path)
{
    Made *m = node_pictures_find(tab, node_id, run);
    g_ptr_array_add(m->paths, g_strdup(path));
    if (!m->timer)
        m->timer = g_timeout_add(WAIT_MS, start_loading, m);
}

void nino_node_pictures_preview(NinoTab *tab, const char *node_id, guint32 run, GdkTexture *t)
{
    node_pictures_find(tab, node_id, run);
    nino_canvas_set_picture(nino_tab_canvas(tab), node_id, t);
}

void nino_node_pictures_ran(NinoTab *tab, const char *node_id, guint32 run)
{
    Made *m = node_pictures_find(tab, node_id, 0);
    if (!m || m->run == run)
        return;
    node_pictures_find(tab, node_id, run);
    nino_canvas_set_picture(nino_tab_canvas(tab), node_id, NULL);
}
