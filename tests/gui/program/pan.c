// How fast the canvas pans and zooms over a made workflow of 541 nodes; run by bench/canvas.sh.
#include "canvas/canvas.h"

#include <math.h>
#include <time.h>

#include "tests/test.h"

typedef struct Run {
    NinoCanvas *canvas;
    int frames, wanted;
    double x, y, zoom;
    gint64 begin;
    clock_t cpu;
    GMainLoop *loop;
} Run;

// Columns of chains: loader, text, latent, sampler, decode, save; as in files of this size.
static nino_document *make(int n_nodes)
{
    static const char *const classes[] = { "CheckpointLoaderSimple",
                                           "CLIPTextEncode",
                                           "EmptyLatentImage",
                                           "KSampler",
                                           "VAEDecode",
                                           "SaveImage" };
    GString *s = g_string_new("{");
    for (int i = 0; i < n_nodes; i++) {
        const int kind = i % 6, first = i - kind;
        g_string_append_printf(s, "%s\"%d\": {\"class_type\": \"%s\", \"inputs\": {", i ? ", " : "",
                               i, classes[kind]);
        if (kind == 1)
            g_string_append_printf(s, "\"clip\": [\"%d\", 1], \"text\": \"a lighthouse, %d\"",
                                   first, i);
        else if (kind == 3)
            g_string_append_printf(s,
                                   "\"model\": [\"%d\", 0], \"positive\": [\"%d\", 0], "
                                   "\"negative\": [\"%d\", 0], \"latent_image\": [\"%d\", 0]",
                                   first, first + 1, first + 1,
                                   i % 4 ? first + 2 : MAX(first - 3, 2));
        else if (kind == 4)
            g_string_append_printf(s, "\"samples\": [\"%d\", 0], \"vae\": [\"%d\", 2]", i - 1,
                                   first);
        else if (kind == 5)
            g_string_append_printf(s, "\"images\": [\"%d\", 0]", i - 1);
        g_string_append(s, "}}");
    }
    g_string_append_c(s, '}');
    nino_error err = { 0 };
    nino_document *d = nino_document_load(s->str, s->len, "made.json", &err);
    CHECK(d);
    g_string_free(s, TRUE);
    return d;
}

static gboolean tick(GtkWidget *w, GdkFrameClock *fc, gpointer user)
{
    Run *r = user;
    (void) w, (void) fc;
    if (!r->frames) {
        r->begin = g_get_monotonic_time();
        r->cpu = clock();
    }
    if (r->frames++ == r->wanted) {
        g_main_loop_quit(r->loop);
        return G_SOURCE_REMOVE;
    }
    const double t = r->frames * 0.02;
    nino_canvas_set_offset(r->canvas, r->x + 900 * sin(t) / r->zoom,
                           r->y + 500 * sin(t * 0.7) / r->zoom);
    return G_SOURCE_CONTINUE;
}

static void measure(NinoCanvas *c, GMainLoop *loop, double zoom, int frames)
{
    Run r = { .canvas = c, .wanted = frames, .zoom = zoom, .loop = loop };
    nino_canvas_set_zoom(c, zoom);
    nino_canvas_get_offset(c, &r.x, &r.y);
    gtk_widget_add_tick_callback(GTK_WIDGET(c), tick, &r, NULL);
    g_main_loop_run(loop);
    const double s = (double) (g_get_monotonic_time() - r.begin) * 1e-6;
    const double cpu = (double) (clock() - r.cpu) / CLOCKS_PER_SEC;
    printf("zoom %.2f: %.1f frames/s, %.1f ms of one core a frame\n", zoom, frames / s,
           cpu * 1e3 / frames);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const double zooms[] = { 0.06, 0.15, 0.3, 0.6, 1.0 };
    const int frames = argc > 1 ? atoi(argv[1]) : 200;
    gtk_init();
    nino_document *d = make(541);
    GtkWidget *window = gtk_window_new(), *c = nino_canvas_new();
    GMainLoop *loop = g_main_loop_new(NULL, FALSE);
    gtk_window_set_default_size(GTK_WINDOW(window), 1200, 800);
    gtk_window_set_child(GTK_WINDOW(window), c);
    const gint64 begin = g_get_monotonic_time();
    nino_canvas_set_document(NINO_CANVAS(c), d);
    printf("541 nodes, %d links: shown after %.0f ms\n", nino_document_n_links(d),
           (double) (g_get_monotonic_time() - begin) * 1e-3);
    gtk_window_present(GTK_WINDOW(window));
    for (int i = 0; i < 50; i++)
        g_main_context_iteration(NULL, FALSE);
    for (gsize i = 0; i < G_N_ELEMENTS(zooms); i++)
        measure(NINO_CANVAS(c), loop, zooms[i], frames);
    gtk_window_destroy(GTK_WINDOW(window));
    g_main_loop_unref(loop);
    nino_document_destroy(&d);
    return 0;
}
