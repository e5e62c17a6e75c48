// What the tests of the canvas share: a window with one, a document in it, two workflows, pictures.
#pragma once
#include "canvas/canvas.h"

#include <locale.h>

#include "settings/keys.h"
#include "node/node_view.h"
#include "tests/gui/program/loop.h"

static GtkWidget *window;
static NinoCanvas *canvas;
static nino_document *doc;
static nino_error err;
static int n_changed, n_problems;

static inline void shot(const char *name)
{
    const char *dir = g_getenv("NINODES_SHOTS");
    if (!dir)
        return;
    const int w = gtk_widget_get_width(window), h = gtk_widget_get_height(window);
    GdkPaintable *p = gtk_widget_paintable_new(window);
    GskRenderNode *node = NULL;
    for (int i = 0; !node && i < 400; i++) { // nothing was drawn yet
        GtkSnapshot *s = gtk_snapshot_new();
        gdk_paintable_snapshot(p, s, w, h);
        if (!(node = gtk_snapshot_free_to_node(s)))
            spin_loop(25);
    }
    GskRenderer *r = gtk_native_get_renderer(GTK_NATIVE(window));
    GdkTexture *t =
        gsk_renderer_render_texture(r, node, &GRAPHENE_RECT_INIT(0, 0, (float) w, (float) h));
    g_autofree char *path = g_strdup_printf("%s/%s.png", dir, name);
    CHECK(gdk_texture_save_to_png(t, path));
    g_object_unref(t);
    gsk_render_node_unref(node);
    g_object_unref(p);
}

static inline void dark(gboolean on)
{
    g_object_set(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", on, NULL);
}

static inline GdkTexture *small_picture(void)
{
    static guchar pixels[64 * 64 * 4];
    for (gsize i = 0; i < sizeof(pixels); i++)
        pixels[i] = (guchar) (i % 4 == 3 ? 255 : i / 64);
    g_autoptr(GBytes) bytes = g_bytes_new_static(pixels, sizeof(pixels));
    return gdk_memory_texture_new(64, 64, GDK_MEMORY_DEFAULT, bytes, (gsize) 64 * 4);
}

static inline void close_document(void)
{
    nino_canvas_set_document(canvas, NULL);
    nino_document_destroy(&doc);
}

static inline void open_text(const char *json)
{
    close_document();
    doc = nino_document_load(json, strlen(json), "flow.json", &err);
    CHECK(doc);
    nino_canvas_set_document(canvas, doc);
    spin_loop(50);
}

static inline const nino_doc_node *node(const char *id)
{
    const nino_doc_node *n = nino_document_node(doc, nino_document_find(doc, id));
    CHECK(n);
    return n;
}

static inline GtkWidget *view_of(const char *id)
{
    for (GtkWidget *w = gtk_widget_get_first_child(GTK_WIDGET(canvas)); w;
         w = gtk_widget_get_next_sibling(w))
        if (NINO_IS_NODE_VIEW(w) && !strcmp(nino_node_view_id(NINO_NODE_VIEW(w)), id))
            return w;
    return NULL;
}

static inline int count_views(void)
{
    int n = 0;
    for (GtkWidget *w = gtk_widget_get_first_child(GTK_WIDGET(canvas)); w;
         w = gtk_widget_get_next_sibling(w))
        n += NINO_IS_NODE_VIEW(w);
    return n;
}

static inline void act(const char *name)
{
    CHECK(gtk_widget_activate_action(GTK_WIDGET(canvas), name, NULL));
}

static inline void select_node(const char *id)
{
    nino_canvas_select(canvas, (const char *[]){ id, NULL });
}

static const char flow[] =
    "{\"1\": {\"class_type\": \"CheckpointLoaderSimple\", \"inputs\": {\"ckpt_name\": "
    "\"a.safetensors\"}}, \"2\": {\"class_type\": \"CLIPTextEncode\", \"inputs\": {\"clip\": "
    "[\"1\", 1], \"text\": \"a lighthouse\"}}, \"3\": {\"class_type\": \"KSampler\", \"inputs\": "
    "{\"model\": [\"1\", 0], \"positive\": [\"2\", 0], \"negative\": [\"2\", 0], \"latent_image\": "
    "[\"4\", 0], \"seed\": 5}}, \"4\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": "
    "{\"width\": 64}}, \"5\": {\"class_type\": \"VAEDecode\", \"inputs\": {\"samples\": [\"3\", "
    "0], \"vae\": [\"1\", 2]}}}";

static const char nested[] =
    "{\"nodes\": [{\"id\": 2, \"type\": \"S\", \"pos\": [0, 0], \"size\": [200, 60], \"inputs\": "
    "[], \"outputs\": [{\"name\": \"out\", \"type\": \"LATENT\", \"links\": []}]}], \"links\": [], "
    "\"definitions\": {\"subgraphs\": [{\"id\": \"S\", \"name\": \"Inside\", \"inputNode\": "
    "{\"id\": -10, \"bounding\": [-300, 0, 120, 60]}, \"outputNode\": {\"id\": -20, \"bounding\": "
    "[500, 0, 120, 60]}, \"inputs\": [], \"outputs\": [{\"name\": \"out\", \"type\": \"LATENT\", "
    "\"linkIds\": [1]}], \"nodes\": [{\"id\": 2, \"type\": \"EmptyLatentImage\", \"pos\": [0, 0], "
    "\"size\": [315, 106], \"outputs\": [{\"name\": \"LATENT\", \"type\": \"LATENT\", \"links\": "
    "[1]}], \"widgets_values\": [64, 64, 1]}], \"links\": [{\"id\": 1, \"origin_id\": 2, "
    "\"origin_slot\": 0, \"target_id\": -20, \"target_slot\": 0, \"type\": \"LATENT\"}]}]}}";

static inline void on_changed(void) { n_changed++; }
static inline void on_problem(void) { n_problems++; }

static inline void open_window(void)
{
    gtk_init();
    setlocale(LC_NUMERIC, "C");
    window = gtk_window_new();
    canvas = NINO_CANVAS(nino_canvas_new());
    nino_keys_add_to_canvas(GTK_WIDGET(canvas));
    g_signal_connect(canvas, "changed", G_CALLBACK(on_changed), NULL);
    g_signal_connect(canvas, "problem", G_CALLBACK(on_problem), NULL);
    gtk_window_set_default_size(GTK_WINDOW(window), 1200, 800);
    gtk_window_set_child(GTK_WINDOW(window), GTK_WIDGET(canvas));
    gtk_window_present(GTK_WINDOW(window));
    WAIT_FOR(gtk_widget_get_width(GTK_WIDGET(canvas)) > 0);
}

static inline void close_window(void)
{
    close_document();
    gtk_window_destroy(GTK_WINDOW(window));
}
