// The widgets of Profile beside the views: details of what is chosen, rows of the timeline that are found, hidden and kept,
// what views keep for a saved view, the plot of a sweep and what it keeps.
// usage: profile FOLDER
#include "details/details.h"
#include "live/sweep_plot.h"
#include "live/timeline.h"
#include "tests/gui/program/made_run.h"
#include "tests/gui/program/views.h"

#include <glib/gstdio.h>

static GtkWidget *button(GtkWidget *w, const char *label)
{
    if (GTK_IS_BUTTON(w) && gtk_widget_get_mapped(w) && has_label(w, label))
        return w;
    GtkWidget *found = NULL;
    for (GtkWidget *c = gtk_widget_get_first_child(w); c && !found;
         c = gtk_widget_get_next_sibling(c))
        found = button(c, label);
    return found;
}

static NinoRun *make(void)
{
    NinoRun *run = nino_run_new();
    Maker m = { .run = run, .t = 1000000000, .gpu = 1000000000, .seed = 1 };
    nino_ceilings c = { .flops_f32 = 1e13, .bandwidth = 1e11, .measured_at = 1700000000 };
    uint32_t job;
    const uint32_t node = make_start(&m, &job);
    for (int i = 0; i < 4; i++)
        make_step(&m, node, i, 4);
    make_end(&m, node, job);
    nino_run_set_ceilings(run, &c);
    return run;
}

static int32_t span_named(NinoRun *run, const char *name, uint32_t number)
{
    size_t n;
    const nino_span *s = nino_history_spans(nino_run_history(run), &n);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(nino_run_name(run, s[i].name), name) && s[i].arg0 == number)
            return (int32_t) i;
    return -1;
}

// ---- details -----------------------------------------------------------------------------------

static GtkWidget *area_of(GtkWidget *w, const char *label)
{
    g_autofree char *other = NULL; // NULL: it is this one
    if (NINO_IS_AREA(w) && gtk_widget_get_mapped(w)) {
        other = gtk_test_accessible_check_property(GTK_ACCESSIBLE(w), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                                   label);
        return other ? NULL : w;
    }
    GtkWidget *found = NULL;
    for (GtkWidget *c = gtk_widget_get_first_child(w); c && !found;
         c = gtk_widget_get_next_sibling(c))
        found = area_of(c, label);
    return found;
}

// Their times have many bars, although one call is seven times as long as the others: the last one is of it alone.
static void check_peers(GtkWidget *details)
{
    GtkWidget *area = NULL;
    WAIT_FOR((area = area_of(details, "How long its peers took")) != NULL);
    g_autofree char *was = NULL;
    int bars = 0;
    CHECK(press(area, GDK_KEY_Home, 0));
    for (gboolean is_other = TRUE; is_other; bars += is_other) {
        g_autofree char *now = description_of(area);
        is_other = g_strcmp0(now, was) != 0;
        g_free(was);
        was = g_steal_pointer(&now);
        CHECK(press(area, GDK_KEY_Right, 0));
    }
    CHECK(bars > 8 && is_described(area, "1 of 1.") && is_described(area, " to 7."));
    CHECK(press(area, GDK_KEY_Escape, 0));
}

static void test_details(NinoRun *run, const char *dir)
{
    GtkWidget *window = gtk_window_new(), *details = nino_details_new(run);
    gtk_window_set_child(GTK_WINDOW(window), details);
    gtk_window_set_default_size(GTK_WINDOW(window), 264, 640);
    gtk_window_present(GTK_WINDOW(window));
    WAIT_FOR(gtk_widget_get_mapped(details) && has_label(details, "Choose a bar"));

    nino_run_pick_span(run, span_named(run, "step", 2));
    WAIT_FOR(has_label(details, "step 3/4") && has_label(details, "of its 4 peers")
                 ? TRUE
                 : has_label(details, "The longest of 4") ||
                       has_label(details, "The shortest of 4"));
    CHECK(has_label(details, "3 KSampler") && !button(details, "Source"));
    save_picture(details, dir, "details-step");
    CHECK(nino_run_picked(run) == NINO_PICK_SPAN);

    nino_event call;
    const uint32_t gemm = nino_history_find(nino_run_history(run), "gemm_f16");
    CHECK(gemm && nino_history_calls(nino_run_history(run), gemm, 0, UINT64_MAX, &call, 1));
    nino_run_pick_slice(run, &call);
    WAIT_FOR(has_label(details, "call of a kernel"));
    CHECK(nino_run_kernel(run) == gemm && has_label(details, "The longest of"));
    CHECK(button(details, "Source") && button(details, "Machine code"));
    CHECK(has_label(details, "of the bound, measured"));
    spin_loop(100);
    save_picture(details, dir, "details-call");

    nino_run_set_kernel(run, nino_history_find(nino_run_history(run), "conv3x3_f16"));
    WAIT_FOR(has_label(details, "all its calls") && has_label(details, "Median"));
    CHECK(nino_run_picked(run) == NINO_PICK_KERNEL);
    check_peers(details);

    guint64 t0, t1;
    nino_run_pick_span(run, span_named(run, "step", 1));
    WAIT_FOR(has_label(details, "step 2/4"));
    g_signal_emit_by_name(button(details, "Select its time"), "clicked");
    CHECK(nino_run_range(run, &t0, &t1) && nino_run_picked(run) == NINO_PICK_SPAN);
    nino_run_select(run, t0, t1 + 1);
    WAIT_FOR(has_label(details, "Selected range"));
    nino_run_select(run, 0, 0); // nothing is chosen any more
    WAIT_FOR(has_label(details, "Choose a bar") && nino_run_picked(run) == NINO_PICK_NOTHING);
    gtk_window_destroy(GTK_WINDOW(window));
}

// Nodes have the titles of the canvas in all that people see, and are found by them.
static void test_titles(NinoRun *run)
{
    GtkWidget *view, *window = show(run, "timeline", &view), *own = gtk_window_new(),
                     *details = nino_details_new(run);
    gtk_window_set_child(GTK_WINDOW(own), details);
    gtk_window_present(GTK_WINDOW(own));
    CHECK_STR(nino_run_title(run, "3 KSampler"), "3 KSampler");
    GHashTable *titles = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_hash_table_insert(titles, g_strdup("3 KSampler"), g_strdup("3 First pass"));
    nino_run_set_titles(run, titles);
    CHECK_STR(nino_run_title(run, "3 KSampler (cached)"), "3 First pass (cached)");
    CHECK_STR(nino_run_title(run, "8 VAEDecode"), "8 VAEDecode");
    CHECK_STR(nino_run_title(run, "gemm_f16"), "gemm_f16");
    CHECK(nino_timeline_find(view, "first pass") == 1);
    CHECK(nino_timeline_find_next(view));
    WAIT_FOR(has_label(details, "3 First pass"));
    nino_run_pick_span(run, span_named(run, "step", 2)); // the way to it
    WAIT_FOR(has_label(details, "3 First pass"));
    nino_timeline_find(view, "");
    nino_run_set_titles(run, NULL);
    nino_run_select(run, 0, 0);
    gtk_window_destroy(GTK_WINDOW(own));
    gtk_window_destroy(GTK_WINDOW(window));
}

// ---- rows --------------------------------------------------------------------------------------

static void test_rows(NinoRun *run, const char *dir)
{
    GtkWidget *view, *window = show(run, "timeline", &view);
    g_autofree char *none = nino_timeline_rows(view);
    CHECK_STR(none, "");
    CHECK(nino_timeline_find(view, "GEMM") == 4 * 16 + 9 * 4); // of every block
    CHECK(nino_timeline_find_next(view) && nino_run_picked_slice(run));
    const guint64 first = nino_run_cursor(run);
    CHECK(nino_timeline_find_next(view) && nino_run_cursor(run) > first);
    spin_loop(100);
    save_picture(view, dir, "timeline-found");
    CHECK(!nino_timeline_find(view, "no such") && !nino_timeline_find_next(view));
    nino_timeline_find(view, "");

    nino_timeline_set_rows(view, "q256.0=2,nonsense,s0.0=1,t0=4,s0.1=9");
    g_autofree char *rows = nino_timeline_rows(view);
    CHECK_STR(rows, "q256.0=2,s0.0=1,t0=4"); // what cannot be is left out
    spin_loop(100);
    save_picture(view, dir, "timeline-rows");
    GtkWidget *area =
        find(gtk_widget_get_next_sibling(gtk_widget_get_first_child(view)), NINO_TYPE_AREA);
    gtk_widget_grab_focus(area);
    CHECK(press(area, GDK_KEY_h, 0)); // the row in front, the pinned queue
    g_autofree char *hidden = nino_timeline_rows(view);
    CHECK(strcmp(hidden, rows) != 0);
    nino_timeline_set_rows(view, NULL);
    gtk_window_destroy(GTK_WINDOW(window));
}

// What views keep of themselves comes back in another one.
static void test_saved(NinoRun *run)
{
    const char *const ids[] = { "kernels", "roofline", NULL };
    GtkWidget *a[2], *b[2];
    GtkWidget *first = show_views(run, ids, a), *second = show_views(run, ids, b);
    gtk_editable_set_text(GTK_EDITABLE(find(a[0], GTK_TYPE_SEARCH_ENTRY)), "conv: 3x3");
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(toggle_of(a[0], "By shape")), TRUE);
    gtk_toggle_button_set_active(
        GTK_TOGGLE_BUTTON(toggle_of(a[1], "Per byte that work-groups request")), TRUE);
    for (int i = 0; i < 2; i++) {
        const NinoViewType *type = nino_view_find(ids[i]);
        g_autofree char *kept = type->save(a[i]), *again = NULL, *empty = NULL;
        type->restore(b[i], kept);
        again = type->save(b[i]);
        CHECK_STR(again, kept);
        type->restore(b[i], "");
        empty = type->save(b[i]);
        CHECK(strcmp(empty, kept) != 0);
    }
    gtk_window_destroy(GTK_WINDOW(first));
    gtk_window_destroy(GTK_WINDOW(second));
}

// A dot is a kernel; a click chooses it.
static void test_roofline(NinoRun *run)
{
    GtkWidget *view, *window = show(run, "roofline", &view);
    GtkWidget *area = find(view, NINO_TYPE_AREA);
    nino_run_set_kernel(run, 0);
    for (int x = 90; x < gtk_widget_get_width(area) && !nino_run_kernel(run); x += 4)
        for (int y = 20; y < gtk_widget_get_height(area) && !nino_run_kernel(run); y += 4)
            click_at(area, 1, x, y);
    CHECK(nino_run_kernel(run) && nino_run_picked(run) == NINO_PICK_KERNEL);
    gtk_window_destroy(GTK_WINDOW(window));
}

// ---- sweep -------------------------------------------------------------------------------------

// In place of the command: tells what it was asked for.
static void make_command(const char *dir)
{
    g_autofree char *path = g_build_filename(dir, "ninodes", NULL), *asked = NULL, *script = NULL;
    g_autofree char *paths = g_strjoin(":", dir, g_getenv("PATH"), NULL);
    asked = g_build_filename(dir, "asked", NULL);
    script = g_strdup_printf("#!/bin/sh\necho \"$@\" >'%s'\n", asked);
    CHECK(g_file_set_contents(path, script, -1, NULL) && !g_chmod(path, 0755));
    g_setenv("PATH", paths, TRUE);
}

static void test_sweep(NinoRun *run, const char *dir)
{
    static const char printed[] =
        "device: x (1), schedule cpu\ncall: linear\n"
        "median of 12 2.0000 ms, MAD 0.1000, fastest 1.8000: 98.8 GFLOP/s\n"
        "  gemm                             1 x     2.0000 ms, MAD 0.1000\n"
        "gemm_pieces     1     1.5000 ms, MAD 0.0500, fastest 1.4000  faster\n"
        "gemm_pieces     8     2.1000 ms, MAD 0.2000, fastest 1.9000  no difference\n"
        "gemm_rows      48     1.9500 ms, MAD 0.3000, fastest 1.7000  no verdict\n";
    GtkWidget *window = gtk_window_new(), *plot = nino_sweep_plot_new(run);
    g_autofree char *asked = g_build_filename(dir, "asked", NULL), *text = NULL;
    gtk_window_set_child(GTK_WINDOW(window), plot);
    gtk_window_set_default_size(GTK_WINDOW(window), 560, 260);
    gtk_window_present(GTK_WINDOW(window));
    nino_sweep_plot_set(plot, "no sweep");
    CHECK(!gtk_widget_get_visible(plot));
    nino_sweep_plot_set(plot, printed);
    WAIT_FOR(gtk_widget_get_mapped(plot) && gtk_widget_get_width(plot) > 0);
    GtkWidget *area = find(plot, NINO_TYPE_AREA), *keep = button(plot, "Keep this");
    CHECK(keep && !gtk_widget_get_sensitive(keep));
    gtk_widget_grab_focus(area);
    press(area, GDK_KEY_End, 0); // by keyboard: the last column
    press(area, GDK_KEY_Return, 0);
    CHECK(has_label(plot, "gemm_rows 48: 1.95 ms, no verdict") && gtk_widget_get_sensitive(keep));
    save_picture(plot, dir, "sweep");
    make_command(dir);
    g_signal_emit_by_name(keep, "clicked");
    spin_loop(100);
    save_picture(plot, dir, "sweep");
    WAIT_FOR(has_label(plot, "gemm_rows 48 is kept for this device"));
    CHECK(g_file_get_contents(asked, &text, NULL, NULL));
    CHECK_STR(text, "tune -q --keep gemm_rows=48\n");
    gtk_window_destroy(GTK_WINDOW(window));
}

// ---- what a kernel was compiled to -------------------------------------------------------------

static void take_fact(gpointer all, const char *what, const char *is)
{
    g_string_append_printf(all, "%s=%s\n", what, is);
}

// Registers, occupancy and the mix of instructions, behind options however long.
static void test_figures(const char *dir)
{
    g_autofree char *path = g_build_filename(dir, "ninodes", NULL),
                    *options = g_strnfill(2000, 'x');
    g_autofree char *script =
        g_strdup_printf("#!/bin/sh\necho '; for gfx1151, by clang -O3; %s'\n"
                        "echo '; vgprs 24, sgprs 30, spills 0, waves_per_simd 16, code_bytes 400'\n"
                        "echo '; instructions: valu 12, salu 3'\necho code\n",
                        options);
    g_autoptr(GString) all = g_string_new(NULL);
    g_autoptr(GCancellable) cancellable = g_cancellable_new();
    nino_kernel_told told = { .program = "p", .call = "c" };
    CHECK(g_file_set_contents(path, script, -1, NULL) && !g_chmod(path, 0755));
    nino_kernel_figures_ask("gemm", &told, NULL, cancellable, take_fact, all);
    WAIT_FOR(strstr(all->str, "Compiled="));
    CHECK(strstr(all->str, "Vector registers=24\n") &&
          strstr(all->str, "Occupancy, waves a SIMD=16\n"));
    CHECK(strstr(all->str, "Instructions=valu 12, salu 3\n"));
}

// A choice that changes faster than a compiler works: one process at a time, none for what nobody wants any more, one answer
// for all that ask the same.
static void test_figures_at_once(const char *dir)
{
    g_autofree char *path = g_build_filename(dir, "ninodes", NULL);
    g_autofree char *log = g_build_filename(dir, "asked.log", NULL), *text = NULL;
    g_autofree char *script =
        g_strdup_printf("#!/bin/sh\nmkdir %s/alone || echo two >>%s\necho $6 >>%s\n"
                        "sleep 0.1\nrmdir %s/alone\necho '; vgprs 1'\n",
                        dir, log, log, dir);
    GString *all[20];
    g_autoptr(GCancellable) kept = g_cancellable_new();
    CHECK(g_file_set_contents(path, script, -1, NULL) && !g_chmod(path, 0755));
    for (int i = 0; i < 20; i++) { // 0, 5, 10, 15 and the last ones are kept
        const gboolean is_kept = i % 5 == 0 || i > 17;
        g_autoptr(GCancellable) own = g_cancellable_new();
        nino_kernel_told told = { .call = "c" };
        g_snprintf(told.program, sizeof(told.program), "p%d", i > 17 ? 15 : i);
        all[i] = g_string_new(NULL);
        nino_kernel_figures_ask("gemm", &told, NULL, is_kept ? kept : own, take_fact, all[i]);
        if (!is_kept)
            g_cancellable_cancel(own);
    }
    WAIT_FOR(all[19]->len);
    for (int i = 0; i < 20; i++) {
        CHECK(i % 5 == 0 || i > 17 ? strstr(all[i]->str, "Vector registers=1\n") != NULL
                                   : !all[i]->len);
        g_string_free(all[i], TRUE);
    }
    CHECK(g_file_get_contents(log, &text, NULL, NULL));
    CHECK_STR(text, "p0\np5\np10\np15\n");
}

int main(int argc, char **argv)
{
    CHECK(argc > 1);
    if (!gtk_init_check()) {
        g_print("skip: no display\n");
        return 77;
    }
    g_autoptr(NinoRun) run = make();
    test_details(run, argv[1]);
    test_titles(run);
    test_rows(run, argv[1]);
    test_saved(run);
    test_roofline(run);
    test_sweep(run, argv[1]);
    test_figures(argv[1]);
    test_figures_at_once(argv[1]);
    return 0;
}
