// Scaled once, with cairo.
#include "node/small_picture.h"

#include <ninodes/picture.h>
#include <stdlib.h>

enum { MAX_SIDE = 512 };

GdkTexture *nino_small_picture(GdkTexture *picture)
{
    const int w = gdk_texture_get_width(picture), h = gdk_texture_get_height(picture);
    const double scale = (double) MAX_SIDE / MAX(w, h);
    if (scale >= 1)
        return g_object_ref(picture);
    const int sw = MAX((int) (w * scale), 1), sh = MAX((int) (h * scale), 1);
    cairo_surface_t *full = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, w, h);
    cairo_surface_t *small = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, sw, sh);
    if (cairo_surface_status(full) || cairo_surface_status(small)) {
        cairo_surface_destroy(full);
        cairo_surface_destroy(small);
        return g_object_ref(picture);
    }
    gdk_texture_download(picture, cairo_image_surface_get_data(full),
                         (gsize) cairo_image_surface_get_stride(full));
    cairo_surface_mark_dirty(full);
    cairo_t *cr = cairo_create(small);
    cairo_scale(cr, (double) sw / w, (double) sh / h);
    cairo_set_source_surface(cr, full, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_GOOD);
    cairo_paint(cr);
    cairo_destroy(cr);
    cairo_surface_flush(small);
    const gsize stride = (gsize) cairo_image_surface_get_stride(small);
    g_autoptr(GBytes) bytes = g_bytes_new(cairo_image_surface_get_data(small), stride * (gsize) sh);
    GdkTexture *out = gdk_memory_texture_new(sw, sh, GDK_MEMORY_DEFAULT, bytes, stride);
    cairo_surface_destroy(full);
    cairo_surface_destroy(small);
    return out;
}

GdkTexture *nino_full_picture_load(const char *path)
{
    nino_picture p = { 0 };
    if (nino_picture_load_frames(path, 1, &p, NULL))
        return NULL;
    const gsize n = (gsize) p.width * (gsize) p.height * 4;
    g_autoptr(GBytes) pixels = g_bytes_new_with_free_func(p.rgba, n, free, p.rgba);
    p.rgba = NULL;
    GdkTexture *out =
        gdk_memory_texture_new(p.width, p.height, GDK_MEMORY_R8G8B8A8, pixels, (gsize) p.width * 4);
    nino_picture_release(&p);
    return out;
}

GdkTexture *nino_small_picture_load(const char *path)
{
    g_autoptr(GdkTexture) full = nino_full_picture_load(path);
    return full ? nino_small_picture(full) : NULL;
}
