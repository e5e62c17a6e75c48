// Shows a run to every view of the live side, pictures them (light and dark), and checks that
// something is drawn, that selecting a range filters tables, that exports have content, that keys
// and text filters work, that kernels have arrows, and that a saved trace shows the same as the
// run. usage: live_views FOLDER_FOR_PICTURES [TRACE]
#include "live/views.h"
#include "live/shown_kernel.h"
#include "tests/gui/program/made_run.h"
#include "tests/gui/program/views.h"

// ---- pictures ----------------------------------------------------------------------------------

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
    int colours = 0;
    g_autoptr(GdkTexture) t = NULL;
    // A busy display may take long to the first frame.
    for (int tries = 0; colours < least_colours && tries < 200; tries++) {
        if (tries)
            spin_loop(50);
        g_clear_object(&t);
        t = picture_of(view);
        const int w = gdk_texture_get_width(t), h = gdk_texture_get_height(t);
        uint32_t *px = g_new(uint32_t, (size_t) w * (size_t) h);
        gdk_texture_download(t, (guchar *) px, (gsize) w * 4);
        colours = count_colours(px, (size_t) w * (size_t) h);
        g_free(px);
    }
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
    CHECK(count_colours((const uint32_t *) (void *) cairo_image_surface_get_data(s),
                        (size_t) 900 * 400) > 8);
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
    spin_loop(60);
    save(gtk_window_get_child(GTK_WINDOW(window)), dir, type->id, "empty", 2);

    GtkWidget *view = nino_view_new(type, run);
    gtk_window_set_child(GTK_WINDOW(window), view);
    g_object_unref(empty);
    spin_loop(60);
    save(view, dir, type->id, "light", 6);
    set_dark(TRUE);
    spin_loop(60);
    save(view, dir, type->id, "dark", 6);
    set_dark(FALSE);
    check_export(view, dir, type->id);

    // a range: tables show less, and all of it again when the range goes
    guint64 t0, t1;
    const int all = rows_of(view);
    nino_run_range(run, &t0, &t1);
    nino_run_select(run, t0, t0 + 50000000);
    spin_loop(60);
    const int part = rows_of(view);
    save(view, dir, type->id, "range", 2);
    nino_run_select(run, 0, 0);
    spin_loop(60);
    CHECK(part <= all && rows_of(view) == all);
    CHECK(g_strcmp0(type->id, "kernels") != 0 || (part < all && all >= 5));
    gtk_window_destroy(GTK_WINDOW(window));
    spin_loop(20);
}

// ---- by hand -----------------------------------------------------------------------------------

static void check_timeline_keys(NinoRun *run)
{
    GtkWidget *view, *window = show(run, "timeline", &view);
    GtkWidget *area = find(find(view, GTK_TYPE_SCROLLED_WINDOW), NINO_TYPE_AREA);
    guint64 a, b, c, d;
    CHECK(area && !nino_run_view(run, &a, &b));
    CHECK(press(area, GDK_KEY_plus, 0) && press(area, GDK_KEY_plus, 0));
    CHECK(nino_run_view(run, &c, &d) && d - c < (b - a) / 2 + 2 && c >= a && d <= b);
    CHECK(press(area, GDK_KEY_Page_Down, 0));
    nino_run_view(run, &a, &b);
    CHECK(a > c && b - a == d - c);
    CHECK(press(area, GDK_KEY_Home, 0) && !nino_run_view(run, &a, &b));
    CHECK(press(area, GDK_KEY_Right, 0) && nino_run_cursor(run) > a);
    CHECK(press(area, GDK_KEY_Right, GDK_SHIFT_MASK) && nino_run_range(run, &c, &d) && c < d);
    CHECK(press(area, GDK_KEY_f, 0) && nino_run_view(run, &a, &b) && a == c && b == d);
    CHECK(press(area, GDK_KEY_Escape, 0) && !nino_run_range(run, &c, &d));
    nino_run_set_view(run, 0, 0);
    nino_run_set_cursor(run, c + 1);
    for (int i = 0; i < 2; i++) // to the row of the steps, then to its first and second
        CHECK(press(area, GDK_KEY_Down, 0));
    CHECK(press(area, GDK_KEY_n, 0));
    const guint64 first = nino_run_cursor(run);
    CHECK(first > c + 1 && press(area, GDK_KEY_n, 0) && nino_run_cursor(run) > first);
    CHECK(press(area, GDK_KEY_p, 0) && nino_run_cursor(run) == first);
    CHECK(press(area, GDK_KEY_Return, 0) && nino_run_range(run, &c, &d) && c == first);
    nino_run_select(run, 0, 0);
    nino_run_set_cursor(run, 0);
    gtk_window_destroy(GTK_WINDOW(window));
}

// The lines of the timeline with four points: from a host row to a kernel. Begins and ends.
static int read_arrows(GtkWidget *view, double (*ends)[4], int max)
{
    g_autoptr(GString) svg = exported(view, 900, 400);
    int n = 0;
    for (const char *at = strstr(svg->str, "<path"); at; at = strstr(at + 1, "<path")) {
        const char *end = strchr(at, '>'), *d = strstr(at, " d=\""),
                   *w = strstr(at, "stroke-width");
        double x[6];
        if (!w || w > end || !d || d > end ||
            sscanf(d, " d=\"M %lf %lf L %lf %lf L %lf %lf L %lf %lf", &ends[n][0], &ends[n][1],
                   &x[0], &x[1], &x[2], &x[3], &ends[n][2], &ends[n][3]) != 8)
            continue;
        CHECK(++n < max);
    }
    return n;
}

// While few kernels are in view each has an arrow, from when it was enqueued to when it began.
static void check_flow(NinoRun *run)
{
    enum { STEP = 80, FEW = 20, MANY = 60 }; // kernels of a step of the made run
    GtkWidget *view, *window = show(run, "timeline", &view);
    static double at[64][4];
    size_t n;
    const nino_event *ev = nino_history_slices(nino_run_history(run), 256, &n);
    CHECK(n > (size_t) 4 * STEP);
    ev += (size_t) 3 * STEP; // a step begins: the queue was empty
    const uint64_t t0 = ev[0].t_ns - ev[0].u.kernel.queued_us * 1000ull - 2000;
    nino_run_set_view(run, t0, ev[FEW].t_ns);
    spin_loop(60);
    CHECK(read_arrows(view, at, G_N_ELEMENTS(at)) == FEW);
    const double per_ns = (at[FEW - 1][2] - at[0][2]) / (double) (ev[FEW - 1].t_ns - ev[0].t_ns);
    for (int i = 0; i < FEW; i++) {
        const double x = at[0][2] + per_ns * (double) (ev[i].t_ns - ev[0].t_ns);
        CHECK(fabs(at[i][2] - x) < 0.5 && at[i][3] > at[i][1]);
        CHECK(fabs(at[i][2] - at[i][0] - per_ns * ev[i].u.kernel.queued_us * 1000) < 0.5);
    }
    nino_run_set_view(run, t0, ev[MANY].t_ns);
    spin_loop(60);
    CHECK(read_arrows(view, at, G_N_ELEMENTS(at)) == 0); // they would hide the rest
    nino_run_set_view(run, 0, 0);
    gtk_window_destroy(GTK_WINDOW(window));
}

// The axis of the histogram has marks from its one end to the other.
static void check_marks(NinoRun *run)
{
    enum { WIDTH = 900, LEFT = 56, LENGTH = 3, ENOUGH = 5 };
    GtkWidget *view, *window = show(run, "histogram", &view);
    g_autoptr(GString) svg = exported(view, WIDTH, 400);
    double first = WIDTH, last = 0;
    int n = 0;
    for (const char *at = strstr(svg->str, " d=\"M"); at; at = strstr(at + 1, " d=\"M")) {
        double x, y, x1, y1, x2, y2;
        if (sscanf(at, " d=\"M %lf %lf L %lf %lf L %lf %lf", &x, &y, &x1, &y1, &x2, &y2) != 6 ||
            x2 - x != 1 || y2 - y != LENGTH)
            continue;
        first = MIN(first, x);
        last = MAX(last, x);
        n++;
    }
    CHECK(n >= ENOUGH && first == LEFT && last > WIDTH * 0.7);
    gtk_window_destroy(GTK_WINDOW(window));
}

// Letters of the two uppermost lines of a view's picture: what the axis is of, and the shares.
static int count_letters(GtkWidget *view, int width)
{
    g_autoptr(GString) svg = exported(view, width, 400);
    enum { LINES = 18 };
    double top = 1e9, y;
    int n = 0;
    for (int is_top_known = 0; is_top_known < 2; is_top_known++)
        for (const char *at = strstr(svg->str, "<use "); at; at = strstr(at + 1, "<use ")) {
            const char *found = strstr(at, " y=\"");
            if (!found || found > strchr(at, '>') || sscanf(found, " y=\"%lf", &y) != 1)
                continue;
            top = is_top_known ? top : MIN(top, y);
            n += is_top_known && y - top < LINES;
        }
    return n;
}

// The times of p50, p95 and p99 are all there, also where little room is between them.
static void check_shares(NinoRun *run)
{
    GtkWidget *view, *window = show(run, "histogram", &view);
    const int all = count_letters(view, 2400);
    CHECK(all > 3 * (int) strlen("p50") + (int) strlen("calls"));
    CHECK(count_letters(view, 900) == all && count_letters(view, 330) == all);
    gtk_window_destroy(GTK_WINDOW(window));
}

// Pixels of a colour in the timeline, but for the ruler with its legend.
static int count_pixels(GtkWidget *view, const GdkRGBA *c)
{
    enum { RULER = 40 };
    g_autoptr(GdkTexture) t = picture_of(view);
    const gsize w = (gsize) gdk_texture_get_width(t), n = w * (gsize) gdk_texture_get_height(t);
    const float wanted[] = { c->blue * 255, c->green * 255, c->red * 255 };
    g_autofree guchar *px = g_malloc(n * 4);
    int found = 0;
    gdk_texture_download(t, px, w * 4);
    for (gsize i = w * RULER; i < n; i++) {
        gboolean is = TRUE;
        for (int k = 0; k < 3; k++)
            is &= fabsf(px[4 * i + (gsize) k] - wanted[k]) < 2;
        found += is;
    }
    return found;
}

// From afar, where kernels are columns of busy time, what is not chosen is as faint as close by.
static void check_chosen(NinoRun *run)
{
    const GdkRGBA *conv = nino_plot_colour(NINO_PLOT_CONV);
    GtkWidget *view, *window = show(run, "timeline", &view);
    const uint32_t chosen = nino_history_find(nino_run_history(run), "conv3x3_f16");
    const int all = count_pixels(view, conv);
    CHECK(all > 1000 && chosen);
    nino_run_set_kernel(run, chosen);
    spin_loop(100);
    CHECK(abs(count_pixels(view, conv) - all) < all / 10);
    CHECK(count_pixels(view, nino_plot_colour(NINO_PLOT_GEMM)) == 0);
    nino_run_set_kernel(run, nino_history_find(nino_run_history(run), "gemm_f16"));
    spin_loop(100);
    CHECK(count_pixels(view, conv) == 0);
    CHECK(count_pixels(view, nino_plot_colour(NINO_PLOT_GEMM)) > 100);
    nino_run_set_kernel(run, 0);
    gtk_window_destroy(GTK_WINDOW(window));
}

// A filter shows what matches; the histogram follows the selected kernel; showing a call moves the
// time axis to it.
static void check_tables(NinoRun *run)
{
    GtkWidget *view, *window = show(run, "kernels", &view);
    nino_history *h = nino_run_history(run);
    const int all = rows_of(view);
    GtkWidget *search = find(view, GTK_TYPE_SEARCH_ENTRY);
    gtk_editable_set_text(GTK_EDITABLE(search), "CONV");
    spin_loop(400); // the entry waits for more
    CHECK(all > 3 && rows_of(view) == 1);
    gtk_window_destroy(GTK_WINDOW(window));

    window = show(run, "histogram", &view);
    nino_run_set_kernel(run, nino_history_find(h, "conv3x3_f16"));
    spin_loop(60);
    GtkWidget *list = find(view, GTK_TYPE_LIST_BOX);
    GtkListBoxRow *row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(list), 0);
    CHECK(row);
    g_signal_emit_by_name(list, "row-activated", row);
    guint64 a, b;
    CHECK(nino_run_view(run, &a, &b) && b - a < 100000000 && nino_run_cursor(run) > a);
    nino_run_set_view(run, 0, 0);
    nino_run_set_kernel(run, 0);
    gtk_window_destroy(GTK_WINDOW(window));
}

typedef struct Share {
    const char *kernel;
    double is;
} Share;

static void read_share(gpointer user, const NinoCell *cells, size_t n)
{
    Share *s = user;
    if (strcmp(cells[0].text, s->kernel) != 0)
        return;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(cells[i].column, "share"))
            s->is = cells[i].number;
}

// A run that has tiles in its timeline is not said to have none.
static void check_tiles(NinoRun *run)
{
    GtkWidget *view, *window = show(run, "tiles", &view);
    WAIT_FOR(has_label(view, "does not tell where in the image"));
    gtk_window_destroy(GTK_WINDOW(window));
}

typedef struct Quantiles {
    char kernel[64];
    double p50, p95;
} Quantiles;

static void read_quantiles(gpointer user, const NinoCell *cells, size_t n)
{
    Quantiles *q = user;
    if (*q->kernel && strcmp(cells[0].text, q->kernel) != 0)
        return;
    g_strlcpy(q->kernel, cells[0].text, sizeof(q->kernel));
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(cells[i].column, "p50_ns"))
            q->p50 = cells[i].number;
        if (!strcmp(cells[i].column, "p95_ns"))
            q->p95 = cells[i].number;
    }
}

// With none chosen, the histogram shows the kernel that the page of one kernel shows; the table has its quantiles.
static void check_none_chosen(NinoRun *run)
{
    static const char *const ids[] = { "histogram", "kernels", "kernel" };
    Quantiles q = { .kernel = "" };
    nino_histogram h;
    for (int i = 0; i < 3; i++) {
        GtkWidget *view, *window = show(run, ids[i], &view);
        CHECK(i < 2 || has_label(view, q.kernel));
        nino_view_get_export(view)->rows(view, read_quantiles, &q);
        gtk_window_destroy(GTK_WINDOW(window));
    }
    nino_shown_calls(run, nino_shown_kernel(run), &h);
    CHECK(q.p50 == h.p50_ns && q.p95 == h.p95_ns);
}

// The share of a kernel is of the same time in the table and beside its peers; there are transfers, too.
static void check_share(NinoRun *run)
{
    Share of[] = { { "conv3x3_f16", -1 }, { "conv3x3_f16", -2 } };
    static const char *const ids[] = { "kernels", "kernel" };
    nino_run_set_kernel(run, nino_history_find(nino_run_history(run), of[0].kernel));
    for (int i = 0; i < 2; i++) {
        GtkWidget *view, *window = show(run, ids[i], &view);
        nino_view_get_export(view)->rows(view, read_share, &of[i]);
        gtk_window_destroy(GTK_WINDOW(window));
    }
    nino_run_set_kernel(run, 0);
    CHECK(of[0].is > 0 && fabs(of[0].is - of[1].is) < 1e-6);
}

static void count_signal(int *n) { ++*n; }

// However much is added, "changed" comes at most ten times a second, in quiet mode twice.
static void check_rate(void)
{
    NinoRun *run = nino_run_new();
    int n = 0;
    g_signal_connect_swapped(run, "changed", G_CALLBACK(count_signal), &n);
    nino_run_set_live(run, TRUE);
    Maker m = { .run = run, .t = 1000, .gpu = 1000, .seed = 1 };
    uint32_t job;
    const uint32_t node = make_start(&m, &job);
    const gint64 from = g_get_monotonic_time();
    for (int i = 0; i < 40; i++) {
        make_step(&m, node, i, 40);
        spin_loop(10);
    }
    const double seconds = (double) (g_get_monotonic_time() - from) * 1e-6;
    CHECK(n >= 1 && n <= (int) (seconds * 10) + 2);
    nino_run_set_live(run, FALSE);
    g_object_unref(run);
}

static void check_loaded(NinoRun *run, const char *path)
{
    NinoRun *loaded = nino_run_new();
    g_autoptr(GError) error = NULL;
    CHECK(!nino_run_load(loaded, "/nowhere/x.json", &error) && error);
    CHECK(nino_run_load(loaded, path, NULL));
    for (const NinoViewType *const *v = nino_views; *v; v++) {
        GtkWidget *a, *b;
        GtkWidget *wa = show(run, (*v)->id, &a), *wb = show(loaded, (*v)->id, &b);
        CHECK(rows_of(a) == rows_of(b));
        gtk_window_destroy(GTK_WINDOW(wa));
        gtk_window_destroy(GTK_WINDOW(wb));
    }
    g_object_unref(loaded);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    if (!gtk_init_check()) {
        g_print("skip: no display\n");
        return 77;
    }
    NinoRun *run = nino_run_new();
    g_autofree char *path = g_strdup_printf("%s/trace.json.gz", argv[1]);
    if (argc > 2) {
        g_autoptr(GError) error = NULL;
        if (!nino_run_load(run, argv[2], &error)) {
            g_printerr("%s\n", error->message);
            return 1;
        }
    } else {
        Maker m = { .run = run, .t = 1000000000, .gpu = 1000000000, .seed = 1 };
        m.trace = nino_trace_create(path, NULL);
        CHECK(m.trace);
        uint32_t job;
        const uint32_t node = make_start(&m, &job);
        for (int i = 0; i < 12; i++)
            make_step(&m, node, i, 12);
        make_end(&m, node, job);
        CHECK(!nino_trace_finish(&m.trace, NULL));
    }
    nino_run_set_ceilings(
        run, &(nino_ceilings){ .flops_f32 = 14e12, .flops_f16 = 28e12, .bandwidth = 220e9 });
    for (const NinoViewType *const *v = nino_views; *v; v++)
        check_view(run, *v, argv[1]);
    if (argc == 2) {
        check_timeline_keys(run);
        check_flow(run);
        check_chosen(run);
        check_marks(run);
        check_shares(run);
        check_tables(run);
        check_share(run);
        check_none_chosen(run);
        check_tiles(run);
        check_rate();
        check_loaded(run, path);
    }
    NinoRunCost cost;
    nino_run_cost(run, &cost);
    CHECK(cost.interval_ms >= 100 && cost.dropped == 0);
    g_object_unref(run);
    return 0;
}
