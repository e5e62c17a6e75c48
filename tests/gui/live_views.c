// Shows a run to every view of the live side, pictures them (light and dark), and checks that
// something is drawn, that selecting a range filters tables, that exports have content.
// usage: live_views FOLDER_FOR_PICTURES [TRACE]
#include "live/area.h"
#include "live/view.h"

#include <math.h>
#include <stdlib.h>

static const char *const names[] = {
    "",         "job",        "3 KSampler",    "8 VAEDecode", "step",           "unet.in.4",
    "unet.mid", "unet.out.7", "decoder.up.2",  "tile",        "conv3x3_f16",    "conv",
    "gemm_f16", "gemm",       "attention_f16", "attn",        "group_norm_f16", "norm",
    "silu",     "elt",        "2x320x64x64",   "upload",
};

static const char *name_of(void *priv, uint32_t id)
{
    (void) priv;
    return id < G_N_ELEMENTS(names) ? names[id] : "";
}

#define CHECK(cond)                                                                                \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            g_printerr("%s:%d: failed: %s\n", __FILE__, __LINE__, #cond);                          \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// ---- a made-up run: the shape of a real one, the same every time
// ----------------------------------

typedef struct Maker {
    NinoRun *run;
    uint64_t t, gpu, seed; // now on the host, when the queue is free
    uint32_t next_id, use[NINO_OWN_COUNT];
} Maker;

static void put(Maker *m, nino_event ev) { nino_run_add(m->run, &ev, 1, name_of, NULL); }

static uint64_t chance(Maker *m, uint64_t n)
{
    m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
    return (m->seed >> 33) % n;
}

static uint32_t begin(Maker *m, nino_event_kind kind, uint32_t name, uint32_t up, uint32_t a,
                      uint32_t b)
{
    put(m, (nino_event){ .t_ns = m->t,
                         .kind = (uint8_t) kind,
                         .name = name,
                         .id = ++m->next_id,
                         .parent = up,
                         .u.scope = { a, b } });
    return m->next_id;
}

static void end(Maker *m, uint32_t id)
{
    put(m, (nino_event){ .t_ns = m->t, .kind = NINO_EV_END, .id = id });
}

static void memory(Maker *m, nino_mem_op op, nino_mem_owner owner, uint32_t place, uint64_t bytes)
{
    if (op == NINO_MEM_ALLOC)
        m->use[owner] += (uint32_t) (bytes / 256);
    if (op == NINO_MEM_FREE)
        m->use[owner] -= (uint32_t) (bytes / 256);
    uint64_t all = 0;
    for (int i = 0; i < NINO_OWN_COUNT; i++)
        all += m->use[i] * 256ull;
    put(m, (nino_event){ .t_ns = m->t,
                         .kind = NINO_EV_MEM,
                         .sub = (uint8_t) op,
                         .id = place,
                         .parent = m->next_id,
                         .u.mem = { .bytes = bytes,
                                    .in_use = all,
                                    .reserved = 3ull << 30,
                                    .largest_free = 300u << 20,
                                    .owner = (uint8_t) owner,
                                    .is_hit = 1,
                                    .arena = owner == NINO_OWN_WEIGHTS ? 1 : 2,
                                    .owner_use = m->use[owner] } });
}

static void kernel(Maker *m, uint32_t name, uint32_t up, uint64_t ns, double flops, double bytes)
{
    m->t += 3000 + chance(m, 2000); // the host is ahead of the queue
    const uint64_t queued = m->t, start = MAX(m->gpu + 800, m->t + 20000);
    m->gpu = start + ns + chance(m, ns / 8 + 1);
    put(m, (nino_event){ .t_ns = start,
                         .kind = NINO_EV_KERNEL,
                         .sub = 1,
                         .track = 256,
                         .name = name,
                         .id = 16,
                         .parent = up,
                         .u.kernel = { .dur_ns = m->gpu - start,
                                       .queued_us = (uint32_t) ((start - queued) / 1000),
                                       .submitted_us = 15,
                                       .flops = flops,
                                       .bytes = bytes,
                                       .family = name + 1,
                                       .shape = 20 } });
}

static void block(Maker *m, uint32_t stage, uint32_t up, int n)
{
    const uint32_t id = begin(m, NINO_EV_STAGE, stage, up, 0, 0);
    for (int i = 0; i < n; i++) {
        memory(m, NINO_MEM_ALLOC, NINO_OWN_ACTIVATION, (uint32_t) (i * 3) << 16, 24 << 20);
        kernel(m, 16, id, 60000, 1e7, 2e7);
        kernel(m, 10, id, 900000 + (chance(m, 40) == 0 ? 6000000 : 0), 9e9, 3e7);
        kernel(m, 12, id, 400000, 4e9, 4e7);
        kernel(m, 14, id, 700000, 6e9, 3e7);
        kernel(m, 18, id, 30000, 2e6, 2e7);
        if (i > 0)
            memory(m, NINO_MEM_FREE, NINO_OWN_ACTIVATION, (uint32_t) (i * 3 - 3) << 16, 24 << 20);
    }
    memory(m, NINO_MEM_FREE, NINO_OWN_ACTIVATION, (uint32_t) (n * 3 - 3) << 16, 24 << 20);
    end(m, id);
}

static void make_run(Maker *m, int steps)
{
    const uint32_t job = begin(m, NINO_EV_JOB, 1, 0, 0, 0);
    const uint32_t node = begin(m, NINO_EV_NODE, 2, job, 0, 2);
    memory(m, NINO_MEM_BUDGET, NINO_OWN_ACTIVATION, 0, 4ull << 30);
    memory(m, NINO_MEM_ARENA, NINO_OWN_WEIGHTS, 0, 2ull << 30);
    memory(m, NINO_MEM_ARENA, NINO_OWN_ACTIVATION, 0, 1ull << 30);
    for (uint32_t i = 0; i < 40; i++) {
        memory(m, NINO_MEM_ALLOC, NINO_OWN_WEIGHTS, i * (44u << 12), 44 << 20);
        put(m, (nino_event){ .t_ns = m->t,
                             .kind = NINO_EV_TRANSFER,
                             .sub = i % 4 == 3 ? NINO_TRANSFER_LATE : NINO_TRANSFER_AHEAD,
                             .track = 1,
                             .name = 21,
                             .parent = node,
                             .u.kernel = { .dur_ns = 5000000, .bytes = 44 << 20 } });
        m->t += 6000000;
        m->gpu = m->t;
    }
    memory(m, NINO_MEM_ALLOC, NINO_OWN_WORKSPACE, 200u << 12, 120 << 20);
    for (int i = 0; i < steps; i++) {
        const uint32_t step = begin(m, NINO_EV_STEP, 4, node, (uint32_t) i, (uint32_t) steps);
        const uint64_t from = m->t;
        block(m, 5, step, 6);
        block(m, 6, step, 2);
        block(m, 7, step, 8);
        m->t = MAX(m->t, m->gpu); // waits
        end(m, step);
        put(m, (nino_event){ .t_ns = m->t,
                             .kind = NINO_EV_STEP_INFO,
                             .parent = step,
                             .u.step = { (uint32_t) i + 1, (uint32_t) steps, 14.6 * pow(0.8, i),
                                         (double) (m->t - from) * 1e-9, 1, 0, 0 } });
    }
    end(m, node);
    const uint32_t decode = begin(m, NINO_EV_NODE, 3, job, 1, 2);
    for (uint32_t i = 0; i < 9; i++) {
        const uint32_t tile = begin(m, NINO_EV_TILE, 9, decode, i, 9);
        block(m, 8, tile, 4);
        m->t = MAX(m->t, m->gpu);
        end(m, tile);
    }
    end(m, decode);
    end(m, job);
}

// ---- pictures ----------------------------------------------------------------------------------

static void iterate(int ms)
{
    const gint64 until = g_get_monotonic_time() + ms * 1000;
    do {
        while (g_main_context_iteration(NULL, FALSE))
            ;
        g_usleep(2000);
    } while (g_get_monotonic_time() < until);
}

static GdkTexture *picture_of(GtkWidget *w)
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

// Different colours of a picture, up to 64.
static int count_colours(const uint32_t *px, size_t n)
{
    uint32_t seen[64];
    int n_seen = 0;
    for (size_t i = 0; i < n && n_seen < 64; i++) {
        int k = 0;
        while (k < n_seen && seen[k] != px[i])
            k++;
        if (k == n_seen)
            seen[n_seen++] = px[i];
    }
    return n_seen;
}

static void save(GtkWidget *view, const char *dir, const char *id, const char *theme,
                 int least_colours)
{
    g_autoptr(GdkTexture) t = picture_of(view);
    const int w = gdk_texture_get_width(t), h = gdk_texture_get_height(t);
    uint32_t *px = g_new(uint32_t, (size_t) w * (size_t) h);
    gdk_texture_download(t, (guchar *) px, (gsize) w * 4);
    const int colours = count_colours(px, (size_t) w * (size_t) h);
    g_free(px);
    g_autofree char *path = g_strdup_printf("%s/%s-%s.png", dir, id, theme);
    CHECK(gdk_texture_save_to_png(t, path));
    if (colours < least_colours) {
        g_printerr("%s: only %d colours\n", path, colours);
        exit(1);
    }
}

static void count_row(gpointer user, const NinoCell *cells, size_t n)
{
    CHECK(n > 1 && cells[0].column);
    ++*(int *) user;
}

static int rows_of(GtkWidget *view)
{
    const NinoViewExport *x = nino_view_get_export(view);
    int n = 0;
    if (x && x->rows)
        x->rows(view, count_row, &n);
    return n;
}

static void check_export(GtkWidget *view, const char *dir, const char *id)
{
    const NinoViewExport *x = nino_view_get_export(view);
    CHECK(x && (x->draw || x->rows));
    if (!x->draw)
        return;
    cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 900, 400);
    cairo_t *cr = cairo_create(s);
    x->draw(view, cr, 900, 400, FALSE);
    cairo_destroy(cr);
    cairo_surface_flush(s);
    CHECK(count_colours((const uint32_t *) (void *) cairo_image_surface_get_data(s), 900 * 400) >
          8);
    g_autofree char *path = g_strdup_printf("%s/%s-export.png", dir, id);
    CHECK(cairo_surface_write_to_png(s, path) == CAIRO_STATUS_SUCCESS);
    cairo_surface_destroy(s);
}

static void set_dark(gboolean dark)
{
    g_object_set(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", dark, NULL);
}

static void check_view(NinoRun *run, const NinoViewType *type, const char *dir)
{
    NinoRun *empty = nino_run_new();
    GtkWidget *window = gtk_window_new();
    gtk_window_set_default_size(GTK_WINDOW(window), 960, 420);
    gtk_window_set_child(GTK_WINDOW(window), nino_view_new(type, empty));
    gtk_window_present(GTK_WINDOW(window));
    iterate(120);
    save(gtk_window_get_child(GTK_WINDOW(window)), dir, type->id, "empty", 2);

    GtkWidget *view = nino_view_new(type, run);
    gtk_window_set_child(GTK_WINDOW(window), view);
    g_object_unref(empty);
    iterate(120);
    save(view, dir, type->id, "light", 6);
    set_dark(TRUE);
    iterate(120);
    save(view, dir, type->id, "dark", 6);
    set_dark(FALSE);
    check_export(view, dir, type->id);

    // a range: tables show less, and all of it again when the range goes
    guint64 t0, t1;
    const int all = rows_of(view);
    nino_run_range(run, &t0, &t1);
    nino_run_select(run, t0, t0 + 50000000);
    iterate(60);
    const int part = rows_of(view);
    save(view, dir, type->id, "range", 2);
    nino_run_select(run, 0, 0);
    iterate(60);
    CHECK(part <= all && rows_of(view) == all);
    CHECK(g_strcmp0(type->id, "kernels") != 0 || (part < all && all >= 5));
    gtk_window_destroy(GTK_WINDOW(window));
    iterate(20);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    if (!gtk_init_check()) {
        g_print("skip: no display\n");
        return 77;
    }
    NinoRun *run = nino_run_new();
    if (argc > 2) {
        g_autoptr(GError) error = NULL;
        if (!nino_run_load(run, argv[2], &error)) {
            g_printerr("%s\n", error->message);
            return 1;
        }
    } else {
        Maker m = { .run = run, .t = 1000000000, .gpu = 1000000000, .seed = 1 };
        make_run(&m, 12);
    }
    nino_run_set_ceilings(
        run, &(nino_ceilings){ .flops_f32 = 14e12, .flops_f16 = 28e12, .bandwidth = 220e9 });
    for (const NinoViewType *v = nino_views; v->id; v++)
        check_view(run, v, argv[1]);
    NinoRunCost cost;
    nino_run_cost(run, &cost);
    CHECK(cost.interval_ms >= 100 && cost.dropped == 0);
    g_object_unref(run);
    return 0;
}
