// The views of tiles, roofline, device, steps, advice and comparison over a made-up run: drawn in
// light and dark, empty ones too, exported to files that parse, and the loop of advice. usage:
// views_of_device FOLDER_FOR_PICTURES [TRACE]
#include "base/i18n.h"
#include "compare/compare_view.h"
#include "live/advice_view.h"
#include "live/views.h"
#include "tests/history.h"

#include <locale.h>

#undef CHECK
#define CHECK(cond)                                                                                \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            g_printerr("%s:%d: failed: %s\n", __FILE__, __LINE__, #cond);                          \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static const char *const ids[] = { "tiles", "roofline", "device", "steps", "advice", "compare" };

static void iterate(int ms)
{
    const gint64 until = g_get_monotonic_time() + (gint64) ms * 1000;
    do {
        while (g_main_context_iteration(NULL, FALSE))
            ;
        g_usleep(2000);
    } while (g_get_monotonic_time() < until);
}

// ---- a run -------------------------------------------------------------------------------------

static void tiles(fake_run *r, uint32_t node)
{
    for (int i = 0; i < 12; i++) {
        const int x = i % 4 * 192, y = i / 4 * 192, w = x == 576 ? 192 : 256,
                  h = y == 384 ? 192 : 256;
        r->t += 30000000 + (uint64_t) i * 2000000;
        fake_add(r,
                 (nino_event){ .kind = NINO_EV_TILE_INFO,
                               .parent = node,
                               .u.tile = { (uint16_t) x, (uint16_t) y, (uint16_t) w, (uint16_t) h,
                                           (uint16_t) (x ? x + 64 : 0), (uint16_t) (y ? y + 64 : 0),
                                           (uint16_t) (x == 576 ? 128
                                                       : x      ? 128
                                                                : 192),
                                           (uint16_t) (y == 384 ? 128
                                                       : y      ? 128
                                                                : 192),
                                           (uint16_t) i, 12, 0, 1,
                                           (uint64_t) (30 + i * 2) * 1000000, 180u << 20 } });
    }
    fake_add(r, (nino_event){ .kind = NINO_EV_SEAM,
                              .u.seam = { 0.42f, 11, 0.03f, 17, (uint64_t) 768 * 576, 190000 } });
}

static void host(fake_run *r, double own)
{
    const double mib = 1 << 20;
    nino_sample s;
    nino_sample_clear(&s, NINO_EV_HOST);
    s.value[NINO_COUNTER_VRAM_TOTAL] = 512 * mib;
    s.value[NINO_COUNTER_GTT_TOTAL] = 98304 * mib;
    s.value[NINO_COUNTER_RAM_TOTAL] = 131072 * mib;
    s.value[NINO_COUNTER_SWAP_TOTAL] = 8192 * mib;
    s.value[NINO_COUNTER_SWAP_USED] = 40 * mib;
    s.value[NINO_COUNTER_PROCESS_RAM] = own * mib;
    s.value[NINO_COUNTER_CPU_BUSY] = 23;
    s.value[NINO_COUNTER_FABRIC_CLOCK] = 2000;
    s.value[NINO_COUNTER_MEMORY_CLOCK] = 1000;
    s.value[NINO_COUNTER_GPU_THROTTLE] = 0;
    fake_sample(r, &s);
}

static fake_run make(double speed)
{
    static const struct {
        const char *name;
        double us, flops, bytes;
    } kernel[] = { { "conv3x3_f16", 900, 6e9, 4e6 },
                   { "gemm_f16", 400, 3e9, 6e6 },
                   { "attention_f16", 300, 1.1e9, 5e6 },
                   { "group_norm_f16", 60, 4e6, 9e6 },
                   { "silu", 30, 1e6, 4e6 } };
    fake_run r = fake_begin();
    fake_ceilings(&r, 12e12, 24e12, 210e9, 9e-6, 1700000000);
    uint32_t node = fake_scope(&r, NINO_EV_NODE, "3 KSampler", 1);
    for (uint32_t i = 0; i < 24; i++) {
        const uint64_t begin = r.t;
        for (int k = 0; k < 40; k++) {
            const int j = k % 5;
            fake_kernel(&r, node, kernel[j].name, kernel[j].us * speed * (1 + 0.03 * (k % 7)),
                        kernel[j].flops, kernel[j].bytes);
            if (k % 10 == 0) {
                fake_device(&r, 2900 - (double) (i * 20), 60 + (double) (i % 9));
                host(&r, 2100 + i * 3);
            }
        }
        const double s = (double) (r.t - begin) * 1e-9 + (i == 9 ? 0.05 : 0);
        r.t = begin;
        fake_step(&r, node, i, 24, s);
    }
    fake_end(&r, node);
    node = fake_scope(&r, NINO_EV_NODE, "8 VAEDecode", 1);
    tiles(&r, node);
    fake_end(&r, node);
    fake_end(&r, 1);
    return r;
}

static void load(NinoRun *run, const char *path)
{
    g_autoptr(GError) error = NULL;
    if (!nino_run_load(run, path, &error)) {
        g_printerr("%s\n", error->message);
        exit(1);
    }
}

// ---- pictures ----------------------------------------------------------------------------------

static int colours_of(GdkTexture *t)
{
    const int w = gdk_texture_get_width(t), h = gdk_texture_get_height(t);
    uint32_t *px = g_new(uint32_t, (size_t) w * (size_t) h), seen[32];
    int n = 0;
    gdk_texture_download(t, (guchar *) px, (gsize) w * 4);
    for (size_t i = 0; i < (size_t) w * (size_t) h && n < 32; i++) {
        int k = 0;
        while (k < n && seen[k] != px[i])
            k++;
        if (k == n)
            seen[n++] = px[i];
    }
    g_free(px);
    return n;
}

static GdkTexture *drawn(GtkWidget *w, const char *theme)
{
    GdkPaintable *p = gtk_widget_paintable_new(w);
    const int width = gtk_widget_get_width(w), height = gtk_widget_get_height(w);
    GtkSnapshot *s = gtk_snapshot_new();
    const float v = strcmp(theme, "dark") ? 0.96f : 0.2f;
    gtk_snapshot_append_color(s, &(GdkRGBA){ v, v, v, 1 },
                              &GRAPHENE_RECT_INIT(0, 0, (float) width, (float) height));
    gdk_paintable_snapshot(p, GDK_SNAPSHOT(s), width, height);
    GskRenderNode *node = gtk_snapshot_free_to_node(s);
    GdkTexture *t =
        gsk_renderer_render_texture(gtk_native_get_renderer(gtk_widget_get_native(w)), node,
                                    &GRAPHENE_RECT_INIT(0, 0, (float) width, (float) height));
    gsk_render_node_unref(node);
    g_object_unref(p);
    return t;
}

// Once it has so many colours: what is in the place of a plot comes after the first frame.
static void shoot(GtkWidget *w, const char *dir, const char *id, const char *theme, int least)
{
    g_autoptr(GdkTexture) t = drawn(w, theme);
    for (int tries = 0; colours_of(t) < least && tries < 400; tries++) {
        iterate(25);
        g_object_unref(t);
        t = drawn(w, theme);
    }
    g_autofree char *path = g_strdup_printf("%s/%s-%s.png", dir, id, theme);
    CHECK(gdk_texture_save_to_png(t, path));
    if (colours_of(t) < least) {
        g_printerr("%s: only %d colours\n", path, colours_of(t));
        exit(1);
    }
}

// ---- exports -----------------------------------------------------------------------------------

static void export_one(GtkWidget *view, const char *dir, const char *id, const char *type)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_strdup_printf("%s/%s.%s", dir, id, type), *text = NULL;
    gsize len = 0;
    if (!nino_export_view(view, path, 800, 450, FALSE, &error)) {
        g_printerr("%s: %s\n", path, error->message);
        exit(1);
    }
    CHECK(g_file_get_contents(path, &text, &len, NULL) && len > 20);
    if (!strcmp(type, "svg"))
        CHECK(strstr(text, "<svg") && g_str_has_suffix(g_strchomp(text), "</svg>"));
    if (!strcmp(type, "png")) {
        g_autoptr(GdkTexture) t = gdk_texture_new_from_filename(path, NULL);
        CHECK(t && gdk_texture_get_width(t) == 1600 && colours_of(t) > 4);
    }
    if (!strcmp(type, "csv")) { // as many fields in every line
        g_auto(GStrv) lines = g_strsplit(text, "\r\n", -1);
        CHECK(g_strv_length(lines) > 2);
    }
    if (!strcmp(type, "csv") &&
        !strcmp(id, "device")) // figures as they came, RAM of others made of them
        CHECK(strstr(text, "\r\n0.00072,2202009600,1073741824,,268435456,1073741824,133089460224,"
                           "41943040,50,23,2900,2000,1000,60,"));
    if (!strcmp(type, "csv") &&
        !strcmp(id, "steps")) { // energy: 60 to 68 W for the time of the step
        g_auto(GStrv) line = g_strsplit(text, "\r\n", 4);
        double ms, sigma, joules;
        CHECK(g_str_has_prefix(line[0], "step,ms,sigma,joules,"));
        CHECK(sscanf(line[2], "2,%lf,%lf,%lf", &ms, &sigma, &joules) == 3);
        CHECK(joules > 59.9 * ms * 1e-3 && joules < 68.1 * ms * 1e-3);
    }
    if (!strcmp(type, "json")) {
        CHECK(text[0] == '[' && g_str_has_suffix(g_strchomp(text), "]") && strstr(text, "\": "));
        CHECK(!strstr(text, "nan") && !strstr(text, "inf"));
    }
}

static void export_all(GtkWidget *view, const char *dir, const char *id)
{
    for (const char *const *t = nino_export_types(view, TRUE, TRUE); *t; t++)
        export_one(view, dir, id, *t);
    g_autoptr(GError) error = NULL;
    CHECK(!nino_export_view(view, "/tmp/x.bmp", 100, 100, FALSE, &error) && error);
}

static void check_trace(NinoRun *run, const char *dir)
{
    g_autoptr(GError) error = NULL;
    uint64_t n;
    nino_error err;
    g_autofree char *path = g_strdup_printf("%s/run.json.gz", dir);
    CHECK(nino_export_trace(run, path, &error));
    CHECK(nino_trace_check(path, &n, &err) == NINO_OK && n > 100);
    g_autofree char *perfetto = g_strdup_printf("%s/run.pftrace", dir), *bytes = NULL;
    gsize len = 0;
    CHECK(nino_export_trace(run, perfetto, &error)); // the ending decides
    CHECK(g_file_get_contents(perfetto, &bytes, &len, NULL) && len > 1000 && bytes[0] == 0x0a);
    nino_history *h = nino_history_create(0);
    nino_compare c;
    CHECK(nino_history_load(h, path, &err) == NINO_OK);
    CHECK(nino_compare_runs(nino_run_history(run), h, &c, &err) == NINO_OK);
    for (size_t i = 0; i < c.n_rows; i++) // nothing is lost on the way
        CHECK(c.rows[i].n_a == c.rows[i].n_b && fabs(c.rows[i].total_a - c.rows[i].total_b) < 1e-6);
    nino_compare_release(&c);
    nino_history_destroy(&h);
    g_autofree char *below = g_strconcat(path, "/x.json", NULL); // below a file
    CHECK(!nino_export_trace(run, below, &error) && error);
}

// ---- language ----------------------------------------------------------------------------------

static void find_english(gpointer is_english, const NinoCell *cells, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(cells[i].column, "title"))
            *(int *) is_english |= strstr(cells[i].text, "tiles") != NULL;
}

// Is there a label with these words?
static gboolean has_label(GtkWidget *widget, const char *words)
{
    if (GTK_IS_LABEL(widget) && strstr(gtk_label_get_text(GTK_LABEL(widget)), words))
        return TRUE;
    for (GtkWidget *c = gtk_widget_get_first_child(widget); c; c = gtk_widget_get_next_sibling(c))
        if (has_label(c, words))
            return TRUE;
    return FALSE;
}

static const char workflow[] =
    "{\"8\": {\"class_type\": \"VAEDecodeTiled\", \"inputs\": {\"tile_size\": 256, "
    "\"overlap\": 64, \"temporal_size\": 64, \"temporal_overlap\": 8}}}";

// Advice is in the app's language, in files in English.
static void check_german(GtkWidget *view, const char *dir)
{
    g_autofree char *built = g_build_filename(g_getenv("B"), "locale", NULL);
    g_autofree char *catalogues = g_canonicalize_filename(built, NULL);
    if (!g_file_test(catalogues, G_FILE_TEST_IS_DIR)) {
        test_skip_part("German, no catalogue was built");
        return;
    }
    gtk_stack_set_visible_child(GTK_STACK(gtk_widget_get_parent(view)), view);
    nino_advice_view_set_workflow(NINO_ADVICE_VIEW(view), workflow, strlen(workflow), NULL, NULL);
    nino_advice_view_refresh(NINO_ADVICE_VIEW(view));
    CHECK(has_label(view, "tiles of up to") && !has_label(view, "Kacheln"));
    g_setenv("LANGUAGE", "de", TRUE);
    setlocale(LC_MESSAGES, "C.UTF-8"); // in "C" the language counts for nothing
    bindtextdomain("ninodes", catalogues);
    bind_textdomain_codeset("ninodes", "UTF-8");
    textdomain("ninodes");
    nino_advice_view_refresh(NINO_ADVICE_VIEW(view));
    CHECK(has_label(view, "Kacheln bis ") && !has_label(view, "tiles of up to"));
    shoot(view, dir, "advice-german", "dark", 8);
    int is_english = 0;
    nino_view_get_export(view)->rows(view, find_english, &is_english);
    CHECK(is_english);
    setlocale(LC_MESSAGES, "C");
}

// ---- advice ------------------------------------------------------------------------------------

static char *applied;
static int tries[2];   // runs that were asked for, without and with it
static char order[32]; // "ABBA..."

static void on_apply(GtkWidget *w, const char *rule, int action, const char *setting, gpointer user)
{
    (void) w;
    (void) rule;
    (void) user;
    CHECK(action == NINO_ADVICE_SET || action == NINO_ADVICE_OPTION);
    g_free(applied);
    applied = g_strdup(setting);
}

static void on_try(GtkWidget *w, int action, const char *setting, gboolean is_with, gpointer user)
{
    (void) w;
    (void) user;
    CHECK(action == NINO_ADVICE_SET && strchr(setting, '='));
    order[tries[0] + tries[1]] = is_with ? 'B' : 'A';
    tries[is_with]++;
}

static GtkWidget *find_button(GtkWidget *w, const char *label)
{
    if (GTK_IS_BUTTON(w) && !g_strcmp0(gtk_button_get_label(GTK_BUTTON(w)), label))
        return w;
    for (GtkWidget *c = gtk_widget_get_first_child(w); c; c = gtk_widget_get_next_sibling(c)) {
        GtkWidget *found = find_button(c, label);
        if (found)
            return found;
    }
    return NULL;
}

// The run that was asked for: cold runs take 50 times as long, the advice makes two files where one
// was in the same time, and it saves about 6 % of a file.
static void answer_try(NinoRun *run, fake_run *f, int i, GtkWidget *keep)
{
    const gboolean is_with = order[i] == 'B';
    const uint64_t ms = i < 2     ? (i ? 400 : 20000)
                        : is_with ? 760 + (uint64_t) i
                                  : 400 + (uint64_t) i;
    const uint64_t begin = f->t, end = begin + ms * 1000000u;
    nino_event ev[4] = { { .t_ns = begin, .kind = NINO_EV_JOB, .id = 900 + (guint) i },
                         { .t_ns = end - 2, .kind = NINO_EV_OUTPUT },
                         { .t_ns = end - 1, .kind = NINO_EV_OUTPUT },
                         { .t_ns = end, .kind = NINO_EV_END, .id = 900 + (guint) i } };
    nino_run_restart(run, begin);
    if (!is_with)
        ev[1].kind = NINO_EV_NOTE;
    f->t = end + 1000000;
    nino_run_add(run, ev, 4, fake_name, f);
    for (int n = 0; n < 600 && tries[0] + tries[1] == i + 1 && !gtk_widget_get_sensitive(keep); n++)
        iterate(50);
}

// Apply asks for runs in turn, leaves the workflow alone, and keeps what was kept.
static void check_loop(GtkWidget *view, NinoRun *run, const char *dir)
{
    gtk_stack_set_visible_child(GTK_STACK(gtk_widget_get_parent(view)), view);
    nino_advice_view_set_workflow(NINO_ADVICE_VIEW(view), workflow, strlen(workflow), NULL, NULL);
    nino_advice_view_refresh(NINO_ADVICE_VIEW(view));
    g_signal_connect(view, "apply", G_CALLBACK(on_apply), NULL);
    g_signal_connect(view, "try", G_CALLBACK(on_try), NULL);
    GtkWidget *b = find_button(view, "Apply");
    CHECK(b);
    g_signal_emit_by_name(b, "clicked");
    fake_run again = make(0.5);
    again.t += (uint64_t) 3600 * 1000000000u; // later than the first
    for (int i = 0; i < 18; i++) {
        CHECK(tries[0] + tries[1] == i + 1 && !applied);
        CHECK(!gtk_widget_get_sensitive(find_button(view, "Keep")));
        answer_try(run, &again, i, find_button(view, "Keep"));
    }
    CHECK_STR(order, "ABABBABAABBAABABBA"); // two that warm up, then Thue-Morse
    CHECK(tries[0] == 9 && tries[1] == 9 && !applied);
    shoot(view, dir, "advice-trial", "dark", 8);
    b = find_button(view, "Keep");
    CHECK(b && gtk_widget_get_sensitive(b) && find_button(view, "Revert"));
    g_signal_emit_by_name(b, "clicked");
    CHECK(applied && g_str_has_prefix(applied, "8."));
    g_autofree char *log =
                        g_build_filename(g_get_user_state_dir(), "ninodes", "advice.jsonl", NULL),
                    *text = NULL;
    CHECK(g_file_get_contents(log, &text, NULL, NULL) && strstr(text, "\"decision\": \"kept\""));
    printf("  %s", text);
    CHECK(strstr(text, "\"before_s\": 0.4") && strstr(text, "\"after_s\": 0.38"));
    CHECK(strstr(text, "\"rounds\": 8") && strstr(text, "\"percent\": -6.0"));
    nino_history_destroy(&again.h);
}

// ---- slow steps --------------------------------------------------------------------------------

static void count_slow(gpointer user, const NinoCell *cells, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *(int *) user += !strcmp(cells[i].column, "slow") && !strcmp(cells[i].text, "yes");
}

static int slow_of(const char *dir, const double *seconds, uint32_t n)
{
    fake_run r = fake_begin();
    const uint32_t node = fake_scope(&r, NINO_EV_NODE, "3 KSampler", 1);
    for (uint32_t i = 0; i < n; i++)
        fake_step(&r, node, i, n, seconds[i]);
    fake_end(&r, node);
    fake_end(&r, 1);
    g_autofree char *path = g_strdup_printf("%s/steps.ninotrace", dir);
    CHECK(nino_history_save(r.h, path, NULL) == NINO_OK);
    nino_history_destroy(&r.h);
    g_autoptr(NinoRun) run = nino_run_new();
    load(run, path);
    GtkWidget *view = g_object_ref_sink(nino_view_new(nino_view_find("steps"), run));
    int slow = 0;
    nino_view_get_export(view)->rows(view, count_slow, &slow);
    g_object_unref(view);
    return slow;
}

// Also of few steps the one that compiles is told from the others; of two it cannot be.
static void check_slow_steps(const char *dir)
{
    CHECK(slow_of(dir, (const double[]){ 1.0, 0.036, 0.0357, 0.0355 }, 4) == 1);
    CHECK(slow_of(dir, (const double[]){ 1.0, 0.036, 0.035 }, 3) == 1);
    CHECK(slow_of(dir, (const double[]){ 0.042, 0.036, 0.0357, 0.0355 }, 4) == 0);
    CHECK(slow_of(dir, (const double[]){ 1.0, 0.036 }, 2) == 0);
    CHECK(slow_of(dir, (const double[]){ 1, 2, 1, 2, 1, 2, 1, 2 }, 8) == 0);
}

// ---- main --------------------------------------------------------------------------------------

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    gtk_init();
    const char *dir = argv[1];
    fake_run a = make(1), b = make(0.8);
    g_autofree char *first = g_strdup_printf("%s/first.json", dir),
                    *second = g_strdup_printf("%s/second.json", dir);
    CHECK(nino_history_save(a.h, first, NULL) == NINO_OK &&
          nino_history_save(b.h, second, NULL) == NINO_OK);
    NinoRun *run = nino_run_new();
    GtkWidget *window = gtk_window_new(), *stack = gtk_stack_new(), *view[G_N_ELEMENTS(ids)];
    for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) {
        CHECK(nino_view_find(ids[i]));
        view[i] = nino_view_new(nino_view_find(ids[i]), run);
        gtk_stack_add_named(GTK_STACK(stack), view[i], ids[i]);
    }
    gtk_window_set_child(GTK_WINDOW(window), stack);
    gtk_window_set_default_size(GTK_WINDOW(window), 960, 560);
    gtk_window_present(GTK_WINDOW(window));
    for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) { // nothing there yet: a word instead
        gtk_stack_set_visible_child(GTK_STACK(stack), view[i]);
        iterate(120);
        g_autofree char *id = g_strconcat(ids[i], "-empty", NULL);
        shoot(view[i], dir, id, "light", 2);
    }
    load(run, argc > 2 ? argv[2] : second);
    g_autoptr(GError) error = NULL;
    CHECK(nino_compare_view_open(NINO_COMPARE_VIEW(view[5]), first, &error));
    CHECK(!nino_compare_view_open(NINO_COMPARE_VIEW(view[5]), "/nonexistent.json", &error) &&
          error);
    for (int dark = 0; dark < 2; dark++) {
        g_object_set(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", dark, NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) {
            gtk_stack_set_visible_child(GTK_STACK(stack), view[i]);
            iterate(250);
            shoot(view[i], dir, ids[i], dark ? "dark" : "light", 6);
        }
    }
    for (size_t i = 0; i < G_N_ELEMENTS(ids); i++)
        export_all(view[i], dir, ids[i]);
    check_trace(run, dir);
    check_slow_steps(dir);
    if (argc == 2) {
        check_german(view[4], dir);
        check_loop(view[4], run, dir);
    }
    gtk_window_destroy(GTK_WINDOW(window));
    iterate(50);
    g_object_unref(run);
    nino_history_destroy(&a.h);
    nino_history_destroy(&b.h);
    g_free(applied);
    return 0;
}
