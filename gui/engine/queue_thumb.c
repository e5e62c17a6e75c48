// Small pictures in the queue's rows: the first one that a job wrote, the newest preview of the running one. They are read
// in threads, once.
#include "engine/queue_priv.h"

#include "base/i18n.h"
#include "viewer/frames.h"

enum { THUMB = 36 }; // pixels a side

static const char *first_picture(const NinoJob *j)
{
    for (char **path = j->outputs; path && *path; path++)
        if (nino_frames_can_show(*path))
            return *path;
    return NULL;
}

static void on_thumb_read(GObject *picture, GParamSpec *pspec, NinoQueuePanel *p)
{
    (void) pspec;
    GdkPaintable *t = gtk_picture_get_paintable(GTK_PICTURE(picture));
    if (t)
        g_hash_table_replace(p->thumbs, g_strdup(g_object_get_data(picture, "path")),
                             g_object_ref(t));
}

static void fill_thumb(NinoQueuePanel *p, GtkPicture *picture, const char *path)
{
    GdkPaintable *known = g_hash_table_lookup(p->thumbs, path);
    if (known) {
        gtk_picture_set_paintable(picture, known);
        return;
    }
    g_object_set_data_full(G_OBJECT(picture), "path", g_strdup(path), g_free);
    g_signal_connect_object(picture, "notify::paintable", G_CALLBACK(on_thumb_read), p, 0);
    nino_frames_fill(picture, path, 2 * THUMB); // sharp in scale 2, too
}

GtkWidget *nino_queue_thumb(NinoQueuePanel *p, const NinoJob *j)
{
    const char *path = first_picture(j);
    GtkWidget *w = j->state == NINO_QUEUE_WAITING
                       ? gtk_image_new_from_icon_name("list-drag-handle-symbolic")
                       : gtk_picture_new();
    gtk_widget_set_size_request(w, THUMB, THUMB);
    gtk_widget_set_valign(w, GTK_ALIGN_CENTER);
    if (j->state == NINO_QUEUE_WAITING) {
        gtk_widget_add_css_class(w, "dim-label");
        gtk_widget_set_tooltip_text(w, _("Drag the job to another place of the queue"));
        return w;
    }
    gtk_accessible_update_property(GTK_ACCESSIBLE(w), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Picture of the job"), -1);
    if (j->state == NINO_QUEUE_RUNNING)
        p->running_thumb = GTK_PICTURE(w);
    if (path)
        fill_thumb(p, GTK_PICTURE(w), path);
    return w;
}

static gboolean is_thumb_gone(gpointer path, gpointer texture, gpointer jobs)
{
    (void) texture;
    for (guint i = 0; i < ((GPtrArray *) jobs)->len; i++)
        if (!g_strcmp0(first_picture(g_ptr_array_index((GPtrArray *) jobs, i)), path))
            return FALSE;
    return TRUE;
}

void nino_queue_thumbs_keep(NinoQueuePanel *p)
{
    g_hash_table_foreach_remove(p->thumbs, is_thumb_gone, nino_engine_jobs(p->engine));
}

void nino_queue_panel_preview(NinoQueuePanel *p, GdkTexture *t)
{
    if (!p->running_thumb || !gtk_widget_get_mapped(GTK_WIDGET(p->running_thumb)))
        return;
    g_autoptr(GdkTexture) small = nino_frames_thumbnail(t, 2 * THUMB);
    gtk_picture_set_paintable(p->running_thumb, GDK_PAINTABLE(small));
}
