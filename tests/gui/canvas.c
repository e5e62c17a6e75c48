// Canvas tests, in one process: nodes as widgets, edits through editors and actions, subgraphs,
// marks, pictures of real workflows with NINODES_SHOTS. tests/gui/test_canvas.sh starts it.
#include "graph/canvas.h"

#include "tests/test.h"

static GtkWidget *window;
static NinoCanvas *canvas;

static void spin_loop(int ms)
{
    const gint64 end = g_get_monotonic_time() + (gint64) ms * 1000;
    while (g_get_monotonic_time() < end)
        g_main_context_iteration(NULL, FALSE);
}

// The widget's own picture; the folder is what the caller wants to look at.
static void shot(const char *name)
{
    const char *dir = g_getenv("NINODES_SHOTS");
    if (!dir)
        return;
    const int w = gtk_widget_get_width(window), h = gtk_widget_get_height(window);
    GdkPaintable *p = gtk_widget_paintable_new(window);
    GtkSnapshot *s = gtk_snapshot_new();
    gdk_paintable_snapshot(p, s, w, h);
    GskRenderNode *node = gtk_snapshot_free_to_node(s);
    GskRenderer *r = gtk_native_get_renderer(GTK_NATIVE(window));
    GdkTexture *t =
        gsk_renderer_render_texture(r, node, &GRAPHENE_RECT_INIT(0, 0, (float) w, (float) h));
    char *path = g_strdup_printf("%s/%s.png", dir, name);
    CHECK(gdk_texture_save_to_png(t, path));
    g_free(path);
    g_object_unref(t);
    gsk_render_node_unref(node);
    g_object_unref(p);
}

static void dark(gboolean on)
{
    g_object_set(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", on, NULL);
}

static void show_files(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        nino_error err = { 0 };
        nino_document *d = nino_document_load_file(argv[i], &err);
        CHECK(d);
        nino_canvas_set_document(canvas, d);
        char *base = g_path_get_basename(argv[i]), *name = g_strconcat(base, "-light", NULL);
        spin_loop(300);
        shot(name);
        g_free(name);
        dark(TRUE);
        spin_loop(200);
        name = g_strconcat(base, "-dark", NULL);
        shot(name);
        nino_canvas_set_zoom(canvas, 1);
        spin_loop(200);
        g_free(name);
        name = g_strconcat(base, "-dark100", NULL);
        shot(name);
        dark(FALSE);
        g_free(name);
        g_free(base);
        nino_canvas_set_document(canvas, NULL);
        nino_document_destroy(&d);
    }
}

int main(int argc, char **argv)
{
    gtk_init();
    window = gtk_window_new();
    canvas = NINO_CANVAS(nino_canvas_new());
    gtk_window_set_default_size(GTK_WINDOW(window), 1300, 850);
    gtk_window_set_child(GTK_WINDOW(window), GTK_WIDGET(canvas));
    gtk_window_present(GTK_WINDOW(window));
    spin_loop(200);
    if (argc > 1) {
        show_files(argc, argv);
        return 0;
    }
    gtk_window_destroy(GTK_WINDOW(window));
    return 0;
}
