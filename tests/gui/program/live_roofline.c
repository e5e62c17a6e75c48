// The roofline's axis: what arithmetic intensity counts is chosen, also with the keyboard; kernels
// move, others are said not to be known, limits follow, and what is written out tells the choice.
// usage: live_roofline FOLDER_FOR_PICTURES
#include "live/roofline_priv.h"
#include "plot/export.h"
#include "tests/gui/program/views.h"

#include <math.h>

static const char *name_of(void *priv, uint32_t id)
{
    static const char *const names[] = { "",
                                         "gemm",
                                         "gemm_f16",
                                         "add",
                                         "mixed",
                                         "1x8x8",
                                         "64x1x1//",
                                         "64x1x1/8x1x1/8000000",
                                         "64x1x1/8x1x1/4000000",
                                         "64x1x1/8x1x1/1000000",
                                         "hot",
                                         "small" };
    (void) priv;
    return id < G_N_ELEMENTS(names) ? names[id] : "";
}

static void add(NinoRun *run, uint64_t t, uint32_t name, uint32_t launch, double flops,
                double bytes)
{
    const nino_event e = { .t_ns = t,
                           .kind = NINO_EV_KERNEL,
                           .track = 256,
                           .name = name,
                           .id = nino_kernel_id(16, launch),
                           .u.kernel = { .dur_ns = 1000000,
                                         .flops = flops,
                                         .bytes = bytes,
                                         .family = name,
                                         .shape = 5 } };
    nino_run_add(run, &e, 1, name_of, NULL);
}

static NinoRun *make_run(void)
{
    NinoRun *run = nino_run_new();
    nino_ceilings c = { .flops_f32 = 1e12, .bandwidth = 20e9, .measured_at = 1700000000 };
    c.point[0] =
        (nino_ceiling_point){ .bytes = 256 << 10, .read = 100e9, .write = 50e9, .copy = 90e9 };
    c.point[1] =
        (nino_ceiling_point){ .bytes = 512 << 10, .read = 20e9, .write = 10e9, .copy = 20e9 };
    c.n_points = 2;
    g_strlcpy(c.device, "a device", sizeof(c.device));
    for (uint64_t i = 0; i < 4; i++) {
        add(run, 1000000000 + i * 10000000, 1, 7, 4e7, 1e6);  // tiles take eight times the bytes
        add(run, 1002000000 + i * 10000000, 2, 6, 3e7, 1e6);  // not known
        add(run, 1004000000 + i * 10000000, 3, 8, 1e6, 4e6);  // the same
        add(run, 1005000000 + i * 10000000, 10, 6, 1e6, 3e7); // faster than memory was measured
        add(run, 1007500000 + i * 10000000, 11, 6, 1e5, 1e5); // a cache holds it
        add(run, 1006000000 + i * 10000000, 4, i == 2 ? 6 : 9, 1e7, 1e6); // not known of one call
    }
    nino_run_set_ceilings(run, &c);
    return run;
}

typedef struct Row {
    double least, requested, share;
    char axis[16], limit[16];
} Row;

static void take_row(gpointer rows, const NinoCell *cells, size_t n)
{
    Row *r = g_new0(Row, 1);
    for (size_t i = 0; i < n; i++) {
        const NinoCell *c = &cells[i];
        if (!strcmp(c->column, "flop_per_byte"))
            r->least = c->number;
        if (!strcmp(c->column, "flop_per_requested_byte"))
            r->requested = c->number;
        if (!strcmp(c->column, "share_of_limit"))
            r->share = c->number;
        if (!strcmp(c->column, "limit_of"))
            CHECK(!strncmp(c->text, "measured 2023-11-1", 18)); // 1700000000
        if (!strcmp(c->column, "axis"))
            g_strlcpy(r->axis, c->text, sizeof(r->axis));
        if (!strcmp(c->column, "limit"))
            g_strlcpy(r->limit, c->text, sizeof(r->limit));
    }
    g_hash_table_insert(rows, g_strdup(cells[0].text), r);
}

static void check_row(GtkWidget *view, const char *kernel, const char *axis, const char *limit,
                      double least, double requested, double share)
{
    g_autoptr(GHashTable) rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    nino_view_get_export(view)->rows(view, take_row, rows);
    CHECK(g_hash_table_size(rows) == 6);
    const Row *r = g_hash_table_lookup(rows, kernel);
    CHECK(r && !strcmp(r->axis, axis) && !strcmp(r->limit, limit));
    CHECK(fabs(r->least - least) < 1e-9 && fabs(r->share - share) < 1e-9);
    CHECK(isnan(requested) ? isnan(r->requested) : fabs(r->requested - requested) < 1e-9);
}

static GBytes *written(GtkWidget *view, const char *dir, const char *name)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_strdup_printf("%s/%s", dir, name);
    char *text;
    gsize n;
    CHECK(nino_export_view(view, path, 800, 450, FALSE, &error));
    CHECK(g_file_get_contents(path, &text, &n, NULL));
    return g_bytes_new_take(text, n);
}

static gboolean is_told(GtkWidget *area, const char *text)
{
    g_autofree char *s = gtk_test_accessible_check_property(
        GTK_ACCESSIBLE(area), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, "not this one");
    return s && strstr(s, text);
}

// Steps to the kernel; what is read out has the text.
static gboolean reads(GtkWidget *area, const char *kernel, const char *text)
{
    press(area, GDK_KEY_Home, 0);
    for (int i = 0; i < 7; i++, press(area, GDK_KEY_Right, 0))
        if (is_told(area, kernel))
            return is_told(area, text);
    return FALSE;
}

static void check_axis(NinoRun *run, const char *dir)
{
    GtkWidget *view, *window = show(run, "roofline", &view);
    GtkWidget *area = find(view, NINO_TYPE_AREA);
    GtkWidget *least = toggle_of(view, "Per byte that must move");
    GtkWidget *requested = toggle_of(view, "Per byte that work-groups request");
    CHECK(least && requested && gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(least)));
    CHECK(strstr(gtk_widget_get_tooltip_text(least), "each operand once"));
    CHECK(strstr(gtk_widget_get_tooltip_text(requested), "fill their tiles"));
    check_row(view, "gemm", "least", "memory", 40, 5, 40.0 / 800);
    check_row(view, "gemm_f16", "least", "memory", 30, NAN, 30.0 / 600);
    check_row(view, "add", "least", "memory", 0.25, 0.25, 1.0 / 5);
    check_row(view, "hot", "least", "memory", 1.0 / 30, NAN, 1); // not 150 %
    check_row(view, "small", "least", "cache", 1, NAN, 0.1 / 100);
    gtk_widget_grab_focus(area);
    CHECK(reads(area, "gemm (gemm)", "5.00 per byte that its work-groups request"));
    CHECK(reads(area, "add", "its work-groups request the same"));
    CHECK(reads(area, "gemm_f16 (gemm_f16)", "what its work-groups request is not known"));
    CHECK(reads(area, "mixed", "what its work-groups request is not known"));
    g_autoptr(GBytes) svg = written(view, dir, "roofline-least.svg");
    g_autoptr(GBytes) png = written(view, dir, "roofline-least.png");

    // the keyboard gets there from the plot, and chooses
    CHECK(gtk_widget_child_focus(window, GTK_DIR_TAB_BACKWARD));
    CHECK(gtk_window_get_focus(GTK_WINDOW(window)) == requested);
    CHECK(gtk_widget_activate(requested));
    WAIT_FOR(!gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(least)));
    check_row(view, "gemm", "requested", "cache", 40, 5, 40.0 / 500);
    check_row(view, "gemm_f16", "least", "memory", 30, NAN, 30.0 / 600);
    check_row(view, "mixed", "least", "memory", 10, NAN, 10.0 / 200);
    check_row(view, "add", "requested", "cache", 0.25, 0.25, 1.0 / 25);
    g_autoptr(GBytes) svg2 = written(view, dir, "roofline-requested.svg");
    g_autoptr(GBytes) png2 = written(view, dir, "roofline-requested.png");
    CHECK(!g_bytes_equal(svg, svg2) && !g_bytes_equal(png, png2));
    gtk_window_destroy(GTK_WINDOW(window));
}

// ---- what is where -----------------------------------------------------------------------------

static gboolean is_inside(const Taken *t, const NinoPlotBox *b)
{
    return t->x >= b->x && t->x + t->w <= b->x + b->w && t->y >= b->y - 2 &&
           t->y + t->h <= b->y + b->h + 2;
}

// Behind the kernels in the list of places are those of all names: of ceilings, then of kernels.
static gboolean has_name(const Roofline *r, NinoPlot *p, size_t i)
{
    const Taken *k = &r->taken[i];
    const float w = nino_plot_text_width(p, r->op[i].name);
    for (size_t n = r->n; n < r->n_taken; n++) {
        const Taken *t = &r->taken[n];
        if (t->w == w && fabsf(t->x + t->w / 2 - k->x - k->w / 2) < w / 2 + k->w + 8 &&
            fabsf(t->y - k->y) < 40)
            return TRUE;
    }
    return FALSE;
}

// Three kernels side by side, one at the first mark of the axis: no square is cut, each has its name in the plot. Of more than
// are named the picture says so.
static void check_places(void)
{
    enum { WIDTH = 900, HEIGHT = 400 };
    NinoRun *run = nino_run_new();
    add(run, 1000000000, 1, 6, 4e6, 4e4);
    add(run, 1002000000, 2, 6, 4e6, 2.4e4);
    add(run, 1004000000, 3, 6, 4e6, 1.6e4);
    add(run, 1006000000, 4, 6, 1e4, 1e5);
    Roofline r = { .run = run };
    cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, WIDTH, HEIGHT);
    cairo_t *cr = cairo_create(s);
    g_autoptr(GHashTable) texts =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_object_unref);
    PangoContext *pango = pango_cairo_create_context(cr);
    NinoPlot p = { .cr = cr, .pango = pango, .layouts = texts, .width = WIDTH, .height = HEIGHT };
    nino_roofline_draw(NULL, &p, &r);
    const NinoPlotBox b = nino_roofline_box(WIDTH, HEIGHT, nino_plot_text_height(&p));
    CHECK(r.n == 4);
    for (size_t i = 0; i < r.n_taken; i++)
        CHECK(is_inside(&r.taken[i], &b));
    for (size_t i = 0; i < r.n; i++)
        CHECK(has_name(&r, &p, i));
    CHECK(!g_hash_table_contains(texts, "1 square has no name here: point at it"));
    for (uint32_t i = 0; i < 3; i++) // the seventh
        add(run, 1008000000 + i * 2000000, i < 2 ? 10 + i : 5, 6, 1e6, 1e5 * (i + 2));
    nino_roofline_draw(NULL, &p, &r);
    CHECK(r.n == 7 && g_hash_table_contains(texts, "1 square has no name here: point at it"));
    g_object_unref(pango);
    cairo_destroy(cr);
    cairo_surface_destroy(s);
    g_object_unref(run);
}

// As of a small device, beside the profile of a large one: the lines lie close to each other.
static void check_lines(const char *dir)
{
    enum { WIDTH = 940, HEIGHT = 250 };
    NinoRun *run = nino_run_new();
    nino_ceilings c = { .flops_f32 = 196e9, .bandwidth = 17.6e9, .measured_at = 1700000000 };
    c.point[0] = (nino_ceiling_point){ .bytes = 256 << 10, .copy = 182e9 };
    c.n_points = 1;
    nino_run_set_ceilings(run, &c);
    add(run, 1000000000, 1, 6, 4e6, 4e8);
    add(run, 1002000000, 2, 6, 4e6, 4e6);
    Roofline r = { .run = run, .has_overlay = TRUE };
    r.overlay = (nino_ceilings){ .flops_f32 = 30e12, .flops_f16 = 59e12, .bandwidth = 212e9 };
    cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, WIDTH, HEIGHT);
    cairo_t *cr = cairo_create(s);
    PangoContext *pango = pango_cairo_create_context(cr);
    g_autoptr(GHashTable) texts =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_object_unref);
    NinoPlot p = { .cr = cr, .pango = pango, .layouts = texts, .width = WIDTH, .height = HEIGHT };
    PangoFontDescription *font = pango_font_description_from_string("Sans");
    pango_font_description_set_absolute_size(font, 11 * PANGO_SCALE);
    pango_context_set_font_description(pango, font);
    pango_font_description_free(font);
    p.fg = p.dim = (GdkRGBA){ 0, 0, 0, 1 };
    p.bg = (GdkRGBA){ 1, 1, 1, 1 };
    nino_plot_bar(&p, 0, 0, WIDTH, HEIGHT, &p.bg);
    nino_roofline_draw(NULL, &p, &r);
    CHECK(r.n_lines == 6 && r.n_taken == r.n + r.n_lines + r.n); // each has its name
    for (size_t i = r.n; i < r.n + r.n_lines; i++)               // of the ceilings
        CHECK(!nino_roofline_crosses(&r, &r.taken[i]));
    CHECK(g_hash_table_contains(texts, "gfx1151 212 GB/s") &&
          g_hash_table_contains(texts, "memory 17.6 GB/s"));
    g_autofree char *path = g_build_filename(dir, "roofline-lines.png", NULL);
    CHECK(cairo_surface_write_to_png(s, path) == CAIRO_STATUS_SUCCESS);
    CHECK(nino_roofline_crosses(&r, &(Taken){ r.line[0].x0, 0, 400, HEIGHT }));
    g_object_unref(pango);
    cairo_destroy(cr);
    cairo_surface_destroy(s);
    g_object_unref(run);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    if (!gtk_init_check()) {
        g_print("skip: no display\n");
        return 77;
    }
    NinoRun *run = make_run();
    check_axis(run, argv[1]);
    check_places();
    check_lines(argv[1]);
    g_object_unref(run);
    return 0;
}
