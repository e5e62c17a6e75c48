// What tests of live views share: a window with a view, its picture, what it exports, widgets below
// others, keys and clicks that go to the handlers of a widget.
#pragma once
#include "live/views.h"
#include "plot/area.h"
#include "tests/gui/program/loop.h"

#include <cairo-svg.h>

// A window with the view, or with several below each other (ids end with NULL, as views does).
static inline GtkWidget *show_views(NinoRun *run, const char *const *ids, GtkWidget **views)
{
    GtkWidget *window = gtk_window_new(), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_window_set_child(GTK_WINDOW(window), box);
    int n = 0;
    for (; ids[n]; n++) {
        views[n] = nino_view_new(nino_view_find(ids[n]), run);
        gtk_widget_set_vexpand(views[n], TRUE);
        gtk_box_append(GTK_BOX(box), views[n]);
    }
    CHECK(n > 0);
    gtk_window_set_default_size(GTK_WINDOW(window), 960, n == 1 ? 420 : 260 * n);
    gtk_window_present(GTK_WINDOW(window));
    WAIT_FOR(gtk_widget_get_mapped(views[n - 1]) && gtk_widget_get_width(views[n - 1]) > 0);
    spin_loop(100);
    return window;
}

static inline GtkWidget *show(NinoRun *run, const char *id, GtkWidget **view)
{
    return show_views(run, (const char *const[]){ id, NULL }, view);
}

static inline cairo_status_t keep_text(void *text, const unsigned char *data, unsigned int n)
{
    g_string_append_len(text, (const char *) data, n);
    return CAIRO_STATUS_SUCCESS;
}

// The view as its export draws it, as SVG.
static inline GString *exported(GtkWidget *view, int w, int h)
{
    GString *svg = g_string_new(NULL);
    cairo_surface_t *s = cairo_svg_surface_create_for_stream(keep_text, svg, w, h);
    cairo_t *cr = cairo_create(s);
    nino_view_get_export(view)->draw(view, cr, w, h, FALSE);
    cairo_destroy(cr);
    cairo_surface_destroy(s);
    return svg;
}

// The first widget below w of that type.
static inline GtkWidget *find(GtkWidget *w, GType type)
{
    if (g_type_is_a(G_OBJECT_TYPE(w), type))
        return w;
    GtkWidget *found = NULL;
    for (GtkWidget *c = gtk_widget_get_first_child(w); c && !found;
         c = gtk_widget_get_next_sibling(c))
        found = find(c, type);
    return found;
}

static inline GtkEventController *controller_of(GtkWidget *w, GType type)
{
    GtkEventController *found = NULL;
    g_autoptr(GListModel) list = gtk_widget_observe_controllers(w);
    for (guint i = 0; i < g_list_model_get_n_items(list) && !found; i++) {
        g_autoptr(GtkEventController) c = g_list_model_get_item(list, i);
        if (g_type_is_a(G_OBJECT_TYPE(c), type))
            found = c; // the widget holds it
    }
    return found;
}

static inline gboolean press(GtkWidget *w, guint key, GdkModifierType mods)
{
    gboolean used = FALSE;
    GtkEventController *c = controller_of(w, GTK_TYPE_EVENT_CONTROLLER_KEY);
    if (c)
        g_signal_emit_by_name(c, "key-pressed", key, 0u, mods, &used);
    return used;
}

static inline void click_at(GtkWidget *w, int n_press, double x, double y)
{
    g_signal_emit_by_name(controller_of(w, GTK_TYPE_GESTURE_CLICK), "released", n_press, x, y);
}

static inline void point_at(GtkWidget *w, double x, double y)
{
    g_signal_emit_by_name(controller_of(w, GTK_TYPE_EVENT_CONTROLLER_MOTION), "motion", x, y);
}

static inline GdkTexture *picture_of(GtkWidget *w)
{
    GdkPaintable *p = gtk_widget_paintable_new(w);
    const int width = gtk_widget_get_width(w), height = gtk_widget_get_height(w);
    GtkSnapshot *s = gtk_snapshot_new();
    gboolean dark;
    g_object_get(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", &dark, NULL);
    const float v = dark ? 0.2f : 0.96f; // what is behind views in a window
    gtk_snapshot_append_color(s, &(GdkRGBA){ v, v, v, 1 },
                              &GRAPHENE_RECT_INIT(0, 0, (float) width, (float) height));
    gdk_paintable_snapshot(p, GDK_SNAPSHOT(s), width, height);
    GskRenderNode *node = gtk_snapshot_free_to_node(s);
    CHECK(node);
    GdkTexture *t =
        gsk_renderer_render_texture(gtk_native_get_renderer(gtk_widget_get_native(w)), node,
                                    &GRAPHENE_RECT_INIT(0, 0, (float) width, (float) height));
    gsk_render_node_unref(node);
    g_object_unref(p);
    return t;
}

static inline gboolean has_label(GtkWidget *w, const char *text)
{
    if (GTK_IS_LABEL(w) && tells(gtk_label_get_text(GTK_LABEL(w)), text))
        return TRUE;
    for (GtkWidget *c = gtk_widget_get_first_child(w); c; c = gtk_widget_get_next_sibling(c))
        if (has_label(c, text))
            return TRUE;
    return FALSE;
}

// What a screen reader is told of it.
static inline char *description_of(GtkWidget *w)
{
    char *s = gtk_test_accessible_check_property(
        GTK_ACCESSIBLE(w), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, "not this one");
    CHECK(s);
    return s;
}

static inline gboolean is_described(GtkWidget *w, const char *text)
{
    g_autofree char *s = description_of(w);
    return tells(s, text);
}

static inline GtkWidget *toggle_of(GtkWidget *w, const char *label)
{
    if (GTK_IS_TOGGLE_BUTTON(w) && !g_strcmp0(gtk_button_get_label(GTK_BUTTON(w)), label))
        return w;
    GtkWidget *found = NULL;
    for (GtkWidget *c = gtk_widget_get_first_child(w); c && !found;
         c = gtk_widget_get_next_sibling(c))
        found = toggle_of(c, label);
    return found;
}

static inline void save_picture(GtkWidget *w, const char *dir, const char *name)
{
    g_autoptr(GdkTexture) t = picture_of(w);
    g_autofree char *path = g_strdup_printf("%s/%s.png", dir, name);
    CHECK(gdk_texture_save_to_png(t, path));
}
