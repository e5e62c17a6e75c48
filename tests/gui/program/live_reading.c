// What is read from live views: where the time of a selection goes, whether a request would fit
// into the pool, the value at the cursor or at what arrows step to, on the screen and for a screen
// reader. usage: live_reading FOLDER_FOR_PICTURES
#include "tests/gui/program/made_run.h"
#include "tests/gui/program/views.h"

static NinoRun *make_run(void)
{
    NinoRun *run = nino_run_new();
    Maker m = { .run = run, .t = 1000000000, .gpu = 1000000000, .seed = 1 };
    uint32_t job;
    const uint32_t node = make_start(&m, &job);
    for (int i = 0; i < 12; i++) {
        put(&m, (nino_event){ .t_ns = m.t,
                              .kind = NINO_EV_DEVICE,
                              .u.sample = { { NINO_COUNTER_GPU_CLOCK, NINO_COUNTER_GPU_POWER,
                                              NINO_COUNTER_GTT_USED, NINO_COUNTER_GPU_BUSY },
                                            { 2900 - i * 100, 60, 1 << 30, 50 } } });
        make_step(&m, node, i, 12);
    }
    make_end(&m, node, job);
    spin_loop(200);
    return run;
}

// ---- flame graph -------------------------------------------------------------------------------

static void keep_path(gpointer table, const NinoCell *cells, size_t n)
{
    CHECK(n == 3);
    const double v[] = { cells[1].number, cells[2].number };
    g_hash_table_insert(table, g_strdup(cells[0].text), g_memdup2(v, sizeof(v)));
}

// Nanoseconds and calls of every path that the view shows.
static GHashTable *paths_of(GtkWidget *view)
{
    GHashTable *t = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    nino_view_get_export(view)->rows(view, keep_path, t);
    return t;
}

static double ns_of(GHashTable *t, const char *path)
{
    const double *v = g_hash_table_lookup(t, path);
    return v ? v[0] : 0;
}

// What parts take is what the whole takes; of wall times, some of it.
static void check_sums(GHashTable *t, gboolean is_all)
{
    GHashTableIter i, k;
    gpointer path, v, part, w;
    g_hash_table_iter_init(&i, t);
    while (g_hash_table_iter_next(&i, &path, &v)) {
        double sum = 0;
        const size_t len = strlen(path);
        g_hash_table_iter_init(&k, t);
        while (g_hash_table_iter_next(&k, &part, &w))
            if (!strncmp(part, path, len) && ((char *) part)[len] == ';' &&
                !strchr((char *) part + len + 1, ';'))
                sum += *(double *) w;
        CHECK(sum <= *(double *) v && (!is_all || !(sum > 0) || sum >= *(double *) v));
    }
}

static double kernel_ns(NinoRun *run, guint64 t0, guint64 t1)
{
    double ns = 0;
    nino_track_info track[16];
    nino_history *h = nino_run_history(run);
    const size_t n = nino_history_tracks(h, track, G_N_ELEMENTS(track));
    for (size_t i = 0; i < n; i++) {
        size_t m;
        const nino_event *ev = nino_history_slices(h, track[i].number, &m);
        for (size_t k = 0; k < m; k++)
            if (ev[k].t_ns >= t0 && ev[k].t_ns < t1)
                ns += (double) ev[k].u.kernel.dur_ns;
    }
    return ns;
}

typedef struct Bar {
    double x, y, w, h;
} Bar;

// The bars of one depth, from left to right, as an export of the view draws them.
static int bars_of(GtkWidget *view, int depth, Bar *bar, int max)
{
    enum { WIDTH = 900, ROW = 21, LEGEND = 22 };
    g_autoptr(GString) svg = exported(view, WIDTH, 300);
    int n = 0;
    for (const char *at = strstr(svg->str, " d=\"M"); at; at = strstr(at + 1, " d=\"M")) {
        double x0, y0, x1, y1, x2, y2, x3, y3;
        if (sscanf(at, " d=\"M %lf %lf L %lf %lf L %lf %lf L %lf %lf Z", &x0, &y0, &x1, &y1, &x2,
                   &y2, &x3, &y3) == 8 &&
            y0 == LEGEND + depth * ROW && y2 - y0 == ROW - 1 && n < max)
            bar[n++] = (Bar){ x0, y0, x1 - x0, y2 - y0 };
    }
    return n;
}

// Parts lie in what they are parts of; the longest comes first; widths are shares of the time.
static void check_bars(GtkWidget *view)
{
    g_autoptr(GHashTable) t = paths_of(view);
    Bar whole, top[8], part[64];
    CHECK(bars_of(view, 0, &whole, 1) == 1);
    const int n = bars_of(view, 1, top, G_N_ELEMENTS(top));
    double end = whole.x;
    CHECK(n >= 1 && whole.w > 880);
    for (int i = 0; i < n; i++) {
        CHECK(fabs(top[i].x - end) < 2 && (i == 0 || top[i].w <= top[i - 1].w + 1));
        end = top[i].x + top[i].w + 1;
    }
    CHECK(fabs(end - whole.x - whole.w) < 3);
    const double share = ns_of(t, "job;3 KSampler") / ns_of(t, "job");
    CHECK(share > 0.3 && fabs(top[0].w / whole.w - MAX(share, 1 - share)) < 0.005);
    const int m = bars_of(view, 2, part, G_N_ELEMENTS(part));
    for (int i = 0; i < m; i++) {
        int in = 0;
        for (int k = 0; k < n; k++)
            in += part[i].x >= top[k].x && part[i].x + part[i].w <= top[k].x + top[k].w + 1;
        CHECK(in == 1);
    }
}

// What the flame graph shows is the selection: its kernels, no others, all of them.
static void check_selected(NinoRun *run, GtkWidget *flame)
{
    guint64 t0, t1;
    const gboolean is_part = nino_run_range(run, &t0, &t1);
    spin_loop(50);
    g_autoptr(GHashTable) t = paths_of(flame);
    CHECK(ns_of(t, "job") > 0 && ns_of(t, "job") == kernel_ns(run, t0, t1));
    CHECK(has_label(flame, is_part ? "Selected range" : "Whole run"));
    check_sums(t, TRUE);
}

static void check_flame(NinoRun *run, const char *dir)
{
    GtkWidget *view[2],
        *window = show_views(run, (const char *const[]){ "timeline", "flame", NULL }, view);
    GtkWidget *time = find(find(view[0], GTK_TYPE_SCROLLED_WINDOW), NINO_TYPE_AREA);
    GtkWidget *area = find(view[1], NINO_TYPE_AREA);
    guint64 a, b, c, d;
    check_selected(run, view[1]);
    check_bars(view[1]);
    save_picture(view[1], dir, "flame-all");

    // a step, then a node, chosen in the timeline by keys
    nino_run_range(run, &a, &b);
    nino_run_set_cursor(run, a + 1);
    CHECK(press(time, GDK_KEY_Down, 0) && press(time, GDK_KEY_Down, 0));
    CHECK(press(time, GDK_KEY_n, 0) && press(time, GDK_KEY_n, 0) && press(time, GDK_KEY_Return, 0));
    CHECK(nino_run_range(run, &c, &d) && c > a && d < b);
    check_selected(run, view[1]);
    {
        g_autoptr(GHashTable) t = paths_of(view[1]);
        const double *step = g_hash_table_lookup(t, "job;3 KSampler;step");
        CHECK(step && step[1] == 1 && step[0] == ns_of(t, "job"));
        CHECK(!g_hash_table_lookup(t, "job;8 VAEDecode"));
    }
    save_picture(view[1], dir, "flame-step");
    CHECK(press(time, GDK_KEY_Up, 0) && press(time, GDK_KEY_Return, 0));
    CHECK(nino_run_range(run, &c, &d));
    check_selected(run, view[1]);
    {
        g_autoptr(GHashTable) t = paths_of(view[1]);
        const double *step = g_hash_table_lookup(t, "job;3 KSampler;step");
        CHECK(step && step[1] == 12 && !g_hash_table_lookup(t, "job;8 VAEDecode"));
    }
    // any range, of the device and of the clock on the wall
    nino_run_select(run, a + (b - a) / 2, b - (b - a) / 7);
    check_selected(run, view[1]);
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(toggle_of(view[1], "Wall time")), TRUE);
    spin_loop(50);
    {
        nino_run_range(run, &c, &d);
        g_autoptr(GHashTable) t = paths_of(view[1]);
        CHECK(ns_of(t, "job") == (double) (d - c));
        check_sums(t, FALSE);
    }
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(toggle_of(view[1], "On device")), TRUE);
    CHECK(press(time, GDK_KEY_Escape, 0) && !nino_run_range(run, &c, &d));
    check_selected(run, view[1]);

    // keys say what they come to; what is entered fills the width, and is left again
    CHECK(press(area, GDK_KEY_Right, 0) && is_described(area, "job"));
    CHECK(press(area, GDK_KEY_Down, 0));
    const gboolean is_first = is_described(area, "3 KSampler");
    CHECK(is_first || is_described(area, "8 VAEDecode"));
    CHECK(press(area, GDK_KEY_Return, 0));
    Bar bar[8];
    CHECK(bars_of(view[1], 1, bar, 8) == 1 && bar[0].w > 880);
    CHECK(press(area, GDK_KEY_BackSpace, 0) && bars_of(view[1], 1, bar, 8) == 2);
    click_at(area, 1, 4 + (bar[1].x + bar[1].w / 2 - 4) / 892 * (gtk_widget_get_width(area) - 8),
             bar[1].y + 5);
    CHECK(is_described(area, is_first ? "8 VAEDecode" : "3 KSampler"));
    gtk_window_destroy(GTK_WINDOW(window));
    nino_run_set_cursor(run, 0);
}

// ---- would it fit ------------------------------------------------------------------------------

typedef struct Pool {
    NinoRun *run;
    guint64 t, in_use, reserved;
} Pool;

static void pool_event(Pool *p, nino_mem_op op, uint16_t arena, guint64 at_mib, guint64 mib)
{
    const guint64 bytes = mib << 20;
    p->in_use += op == NINO_MEM_ALLOC ? bytes : op == NINO_MEM_FREE ? -bytes : 0;
    p->reserved += op == NINO_MEM_ARENA ? bytes : 0;
    const nino_event ev = { .t_ns = p->t += 1000000,
                            .kind = NINO_EV_MEM,
                            .sub = (uint8_t) op,
                            .id = (uint32_t) ((at_mib << 20) / 256),
                            .u.mem = { .bytes = bytes,
                                       .in_use = p->in_use,
                                       .reserved = p->reserved,
                                       .arena = arena,
                                       .owner_use = (uint32_t) (p->in_use / 256) } };
    nino_run_add(p->run, &ev, 1, name_of, NULL);
}

// The answer on the screen, and to who cannot see it while the focus is on the size.
static gboolean answers(GtkWidget *view, double mib, const char *answer)
{
    GtkWidget *size = find(view, GTK_TYPE_SPIN_BUTTON);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(size), mib);
    g_autofree char *all =
        g_strdup_printf("Would a request of %.0f MiB be served? It %s", mib, answer);
    return has_label(view, answer) && is_described(size, all);
}

static void check_fit(const char *dir)
{
    Pool p = { .run = nino_run_new(), .t = 1000000000 };
    GtkWidget *view, *window = show(p.run, "pool", &view);
    CHECK(answers(view, 10, "is not known yet"));
    pool_event(&p, NINO_MEM_BUDGET, 0, 0, 640);
    pool_event(&p, NINO_MEM_ARENA, 1, 0, 256);
    for (guint64 at = 0; at < 256; at += 64)
        pool_event(&p, NINO_MEM_ALLOC, 1, at, 64);
    const guint64 full = p.t;
    pool_event(&p, NINO_MEM_FREE, 1, 64, 64); // two holes: 128 MiB free, no more than 64 in one
    pool_event(&p, NINO_MEM_FREE, 1, 192, 64);
    WAIT_FOR(has_label(view, "128 MiB free, the largest block of it 64 MiB"));
    CHECK(answers(view, 64, "fits into a free block") &&
          answers(view, 1, "fits into a free block"));
    CHECK(answers(view, 65, "fits with one more arena"));
    CHECK(answers(view, 384, "fits with one more arena") && answers(view, 400, "does not fit"));
    save_picture(view, dir, "pool-holes");
    pool_event(&p, NINO_MEM_ARENA, 2, 0, 128); // nothing in it: it can be given back
    WAIT_FOR(has_label(view, "the largest block of it 128 MiB"));
    CHECK(answers(view, 100, "fits into a free block"));
    CHECK(answers(view, 300, "fits after idle arenas are given back"));
    CHECK(answers(view, 400, "does not fit") && answers(view, 4000, "does not fit"));
    nino_run_select(p.run, full - 1000, full + 1); // as it was then
    CHECK(has_label(view, "· 0 B free") && answers(view, 64, "fits with one more arena"));
    nino_run_select(p.run, 0, 0);
    // the blocks are still there when the next job begins
    nino_run_restart(p.run, p.t += 1000000);
    CHECK(has_label(view, "the largest block of it 128 MiB"));
    CHECK(answers(view, 128, "fits into a free block") && answers(view, 400, "does not fit"));
    GtkWidget *area = find(view, NINO_TYPE_AREA); // block by block
    gtk_widget_grab_focus(area);
    CHECK(press(area, GDK_KEY_Right, 0) && is_described(area, "weights 64 MiB at 0 B of arena 1"));
    CHECK(press(area, GDK_KEY_Right, 0) && is_described(area, "free 64 MiB at 64 MiB of arena 1"));
    CHECK(press(area, GDK_KEY_End, 0) && is_described(area, "free 128 MiB at 0 B of arena 2"));
    spin_loop(100);
    save_picture(view, dir, "pool-step");
    gtk_window_destroy(GTK_WINDOW(window));
    g_object_unref(p.run);
}

// ---- crosshair and read-out --------------------------------------------------------------------

static uint32_t *pixels_of(GtkWidget *w, int *width, int *height)
{
    g_autoptr(GdkTexture) t = picture_of(w);
    *width = gdk_texture_get_width(t);
    *height = gdk_texture_get_height(t);
    uint32_t *px = g_new(uint32_t, (size_t) *width * (size_t) *height);
    gdk_texture_download(t, (guchar *) px, (gsize) *width * 4);
    return px;
}

// The only column where all of the lower part differs between the two pictures; -1: not one.
static int column_between(const uint32_t *a, const uint32_t *b, int w, int h)
{
    int found = -1, n = 0;
    for (int x = 0; x < w; x++) {
        int y = h * 2 / 3;
        while (y < h - 30 && a[y * w + x] != b[y * w + x])
            y++;
        if (y < h - 30)
            continue;
        found = x;
        n++;
    }
    return n == 1 ? found : -1;
}

// The crosshair is at the time of the cursor: the pointer there means this time.
static void check_crosshair(NinoRun *run, GtkWidget *area, guint64 t)
{
    int w, h;
    guint64 a, b;
    nino_run_view(run, &a, &b);
    nino_run_set_cursor(run, 0);
    spin_loop(100);
    uint32_t *without = pixels_of(area, &w, &h);
    nino_run_set_cursor(run, t);
    spin_loop(100);
    uint32_t *with = pixels_of(area, &w, &h);
    const int x = column_between(without, with, w, h);
    g_free(without);
    g_free(with);
    CHECK(x > 0);
    point_at(area, x + 0.5, h / 2.0);
    CHECK(fabs((double) nino_run_cursor(run) - (double) t) <= 1.5 * (double) (b - a) / (w - 120));
    nino_run_set_cursor(run, t);
}

// Blue, green, red, give or take what rounding does.
static gboolean is_like(uint32_t px, const int wanted[3])
{
    for (int i = 0; i < 3; i++)
        if (abs((int) (px >> (8 * i) & 255) - wanted[i]) > 2)
            return FALSE;
    return TRUE;
}

// Where the line of a colour lies, two pixels high, as an export draws it; NAN: there is none.
static double line_at(GtkWidget *view, int width, int height, size_t colour)
{
    const GdkRGBA *c = nino_plot_colour(colour);
    cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
    cairo_t *cr = cairo_create(s);
    nino_view_get_export(view)->draw(view, cr, width, height, FALSE);
    cairo_surface_flush(s);
    const unsigned char *px = cairo_image_surface_get_data(s);
    const int wanted[] = { (int) lroundf(c->blue * 255), (int) lroundf(c->green * 255),
                           (int) lroundf(c->red * 255) };
    double at = (double) NAN;
    for (int y = 0; y < height && isnan(at); y++) {
        int n = 0;
        for (int x = 0; x < width; x++)
            n += is_like(((const uint32_t *) (px + y * cairo_image_surface_get_stride(s)))[x],
                         wanted);
        at = n > width / 2 ? y : at;
    }
    cairo_destroy(cr);
    cairo_surface_destroy(s);
    return at;
}

static void find_planned(gpointer user, const NinoCell *cells, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(cells[i].column, "planned_bytes") && isfinite(cells[i].number))
            *(double *) user = cells[i].number;
}

// The memory in use at t, as text.
static char *in_use_at(NinoRun *run, guint64 t)
{
    nino_mem_point m;
    char v[32];
    CHECK(nino_history_memory_peak(nino_run_history(run), t, t + 1, &m));
    nino_format_bytes(v, sizeof(v), (double) m.in_use);
    return g_strdup_printf("%s in use", v);
}

// A line of the colour over most of the width.
static gboolean has_line(GtkWidget *w, const GdkRGBA *c)
{
    int width, height;
    g_autofree uint32_t *px = pixels_of(w, &width, &height);
    const int wanted[] = { (int) lroundf(c->blue * 255), (int) lroundf(c->green * 255),
                           (int) lroundf(c->red * 255) };
    for (int y = 0; y < height; y++) {
        int n = 0;
        for (int x = 0; x < width; x++)
            n += is_like(px[y * width + x], wanted);
        if (n > width / 2)
            return TRUE;
    }
    return FALSE;
}

// What the plan uses at most is drawn where the axis has that value: a band below the line, behind the columns; and it is in
// the table. Nothing of it is there for a run without a plan.
static void check_planned(NinoRun *run, GtkWidget *view)
{
    enum { WIDTH = 900, HEIGHT = 300, LEFT = 74, TOP = 24, BOTTOM = 20 };
    const double planned = (double) nino_history_planned(nino_run_history(run), NULL);
    CHECK(planned == 2.5 * 0x1p30);
    WAIT_FOR(has_line(view, nino_plot_colour(4)));
    const double h = HEIGHT - TOP - BOTTOM, line = line_at(view, WIDTH, HEIGHT, 4),
                 budget = line_at(view, WIDTH, HEIGHT, NINO_PLOT_FAILED);
    CHECK(line > budget && budget > TOP);
    const double share = (TOP + h - line) / (TOP + h - budget); // of 4 GiB, where that line is
    CHECK(fabs(share - planned / (4 * 0x1p30)) < 2 / h);
    double found = 0;
    nino_view_get_export(view)->rows(view, find_planned, &found);
    CHECK(found == planned);
    NinoRun *none = nino_run_new();
    nino_run_add(none,
                 &(nino_event){ .kind = NINO_EV_MEM,
                                .t_ns = 1000,
                                .u.mem = { .bytes = 256, .in_use = 1 << 20, .reserved = 1 << 20 } },
                 1, name_of, NULL);
    GtkWidget *other = g_object_ref_sink(nino_view_new(nino_view_find("memory"), none));
    CHECK(isnan(line_at(other, WIDTH, HEIGHT, 4)));
    g_object_unref(other);
    g_object_unref(none);
}

static void check_readout(NinoRun *run, const char *dir)
{
    static const char *const ids[] = { "timeline", "memory", "device", NULL };
    GtkWidget *view[3], *window = show_views(run, ids, view);
    GtkWidget *time = find(find(view[0], GTK_TYPE_SCROLLED_WINDOW), NINO_TYPE_AREA);
    guint64 a, b;
    view[2] = find(view[2], NINO_TYPE_AREA);
    nino_run_view(run, &a, &b);
    check_crosshair(run, time, a + (b - a) / 3);
    check_crosshair(run, view[1], a + (b - a) / 3);
    check_crosshair(run, view[2], a + (b - a) / 3);
    nino_run_set_cursor(run, a + (b - a) / 3);
    spin_loop(100);
    save_picture(gtk_window_get_child(GTK_WINDOW(window)), dir, "crosshair");

    // keys move it in all of them; who has the focus says the value
    nino_run_set_view(run, a, a + 60000000); // weights come, one every 6 ms
    nino_run_set_cursor(run, a + 9000000);
    gtk_widget_grab_focus(view[1]);
    WAIT_FOR(gtk_widget_is_focus(view[1]));
    char was[64] = "";
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 10; k++) // six milliseconds
            CHECK(press(view[1], GDK_KEY_Right, 0));
        const guint64 t = a + 9000000 + (guint64) (i + 1) * 6000000;
        CHECK(nino_run_cursor(run) == t);
        g_autofree char *value = in_use_at(run, t), *when = g_strdup_printf("at %d", 15 + 6 * i);
        CHECK(is_described(view[1], value) && is_described(view[1], when));
        CHECK(strcmp(was, value) != 0);
        g_strlcpy(was, value, sizeof(was));
    }
    CHECK(is_described(view[1], "budget 4")); // GiB; and a line where it is
    WAIT_FOR(has_line(view[1], nino_plot_colour(NINO_PLOT_FAILED)));
    CHECK(is_described(view[1], "planned at most 2.5")); // GiB
    check_planned(run, view[1]);
    CHECK(press(view[1], GDK_KEY_Left, 0) && nino_run_cursor(run) == a + 26400000);

    // m asks for a note there, m again shows it for changing; it is read out in every plot
    for (int i = 0; i < 2; i++) {
        nino_run_set_cursor(run, a + 26400000); // wherever the pointer is
        CHECK(press(view[1], GDK_KEY_m, 0));
        GtkWidget *entry = find(view[1], GTK_TYPE_ENTRY);
        CHECK(entry);
        CHECK(!strcmp(gtk_editable_get_text(GTK_EDITABLE(entry)), i ? "weights here" : ""));
        gtk_editable_set_text(GTK_EDITABLE(entry), i ? " weights are here " : "weights here");
        g_signal_emit_by_name(entry, "activate");
        WAIT_FOR(!find(view[1], GTK_TYPE_ENTRY));
        nino_run_set_cursor(run, a + 26400000);
        nino_area_read_out(NINO_AREA(view[1]));
        CHECK(is_described(view[1], i ? "noted: weights are here" : "noted: weights here"));
    }
    size_t n_notes;
    nino_history_points(nino_run_history(run), NINO_EV_NOTE, &n_notes);
    CHECK(n_notes == 1);
    nino_area_read_out(NINO_AREA(view[2]));
    CHECK(is_described(view[2], "noted: weights are here"));
    spin_loop(100);
    save_picture(gtk_window_get_child(GTK_WINDOW(window)), dir, "note");
    nino_run_set_view(run, 0, 0);

    // of the device, the sample that holds then
    size_t n;
    const nino_reading *dev =
        nino_history_counter(nino_run_history(run), NINO_COUNTER_GPU_CLOCK, &n);
    CHECK(n == 12);
    gtk_widget_grab_focus(view[2]);
    nino_run_set_cursor(run, dev[4].t_ns + (dev[5].t_ns - dev[4].t_ns) * 9 / 10);
    CHECK(is_described(view[2], "clock: 2500 MHz") && is_described(view[2], "GTT in use: 1 GiB"));
    CHECK(!is_described(view[1], "2500 MHz")); // it has no focus

    // of the timeline, what is in the row; below it, for who sees
    gtk_widget_grab_focus(time);
    CHECK(press(time, GDK_KEY_Up, 0) && press(time, GDK_KEY_Up, 0) && press(time, GDK_KEY_Up, 0));
    CHECK(press(time, GDK_KEY_Down, 0) && is_described(time, "3 KSampler node"));
    CHECK(has_label(view[0], "3 KSampler node"));
    CHECK(press(time, GDK_KEY_Down, 0) && is_described(time, "step 5/12 step"));
    CHECK(has_label(view[0], "step 5/12 step"));
    CHECK(press(time, GDK_KEY_n, 0) && is_described(time, "step 6/12 step"));
    nino_run_set_cursor(run, 0);
    gtk_window_destroy(GTK_WINDOW(window));
}

// Plots of other things: arrows step over them, Return does what a click does.
static void check_items(NinoRun *run, const char *dir)
{
    GtkWidget *view, *window = show(run, "steps", &view);
    guint64 a, b;
    int w, h;
    gtk_widget_grab_focus(view);
    spin_loop(100);
    uint32_t *without = pixels_of(view, &w, &h);
    CHECK(press(view, GDK_KEY_Right, 0) && is_described(view, "Step 1 of 12"));
    CHECK(press(view, GDK_KEY_Left, 0) && is_described(view, "Step 1 of 12"));
    CHECK(press(view, GDK_KEY_Right, 0) && is_described(view, "Step 2 of 12"));
    spin_loop(100);
    uint32_t *with = pixels_of(view, &w, &h);
    CHECK(column_between(without, with, w, h) > 0);
    g_free(without);
    g_free(with);
    save_picture(view, dir, "steps-step");
    CHECK(press(view, GDK_KEY_End, 0) && press(view, GDK_KEY_Right, 0));
    CHECK(is_described(view, "Step 12 of 12"));
    CHECK(press(view, GDK_KEY_Return, 0) && nino_run_range(run, &a, &b));
    nino_run_select(run, 0, 0);
    CHECK(press(view, GDK_KEY_Escape, 0) && !press(view, GDK_KEY_Escape, 0));
    gtk_window_destroy(GTK_WINDOW(window));

    window = show(run, "roofline", &view);
    GtkWidget *roof = find(view, NINO_TYPE_AREA);
    gtk_widget_grab_focus(roof);
    CHECK(press(roof, GDK_KEY_Right, 0) && press(roof, GDK_KEY_Return, 0));
    const char *name = nino_run_name(run, nino_run_kernel(run));
    CHECK(*name && is_described(roof, name) && is_described(roof, "FLOP per byte"));
    spin_loop(100);
    save_picture(view, dir, "roofline-step");
    gtk_window_destroy(GTK_WINDOW(window));

    window = show(run, "histogram", &view); // of that kernel
    GtkWidget *area = find(view, NINO_TYPE_AREA);
    gtk_widget_grab_focus(area);
    CHECK(press(area, GDK_KEY_Right, 0) && is_described(area, "calls of"));
    spin_loop(100);
    save_picture(view, dir, "histogram-step");
    nino_run_set_kernel(run, 0);
    gtk_window_destroy(GTK_WINDOW(window));
}

// Marks of an axis: nothing without a unit, no digits that say nothing, of bytes one unit.
static void check_marks(void)
{
    static const struct {
        void (*format)(char *buf, size_t size, double v);
        double v, unit;
        const char *text;
    } rows[] = {
        { nino_format_ns, 0, 1, "0" },
        { nino_format_ns, 5e6, 1, "5\u00a0ms" },
        { nino_format_ns, 10e6, 1, "10\u00a0ms" },
        { nino_format_ns, 2.5e6, 1, "2.5\u00a0ms" },
        { nino_format_ns, 12.5e9, 1, "12.5\u00a0s" },
        { nino_format_ns, 100e3, 1, "100\u00a0µs" },
        { nino_format_bytes, 0, 1 << 30, "0" },
        { nino_format_bytes, 1 << 29, 1 << 30, "0.5\u00a0GiB" },
        { nino_format_bytes, 3ll << 30, 1 << 30, "3\u00a0GiB" },
        { nino_format_bytes, 200 << 20, 1 << 20, "200\u00a0MiB" },
        { nino_format_bytes, 100, 1, "100\u00a0B" },
        { nino_format_count, 8, 1, "8" },
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        char text[40];
        nino_plot_mark(text, sizeof(text), rows[i].v, rows[i].unit, rows[i].format);
        CHECK_STR(text, rows[i].text);
    }
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    if (!gtk_init_check()) {
        g_print("skip: no display\n");
        return 77;
    }
    check_marks();
    NinoRun *run = make_run();
    nino_run_set_ceilings(
        run, &(nino_ceilings){ .flops_f32 = 14e12, .flops_f16 = 28e12, .bandwidth = 220e9 });
    check_flame(run, argv[1]);
    check_fit(argv[1]);
    check_readout(run, argv[1]);
    check_items(run, argv[1]);
    g_object_unref(run);
    return 0;
}
