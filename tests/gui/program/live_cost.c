// What watching costs: all views in one window, a run of thousands of records a second, redrawn ten
// times a second. Prints shares of one core; fails when the views alone use more than 3 %.
// usage: live_cost [SECONDS [VIEW]]
#include "live/views.h"
#include "tests/gui/program/made_run.h"

#include <stdlib.h>
#include <time.h>

typedef struct Feed {
    Maker m;
    uint32_t node, job;
    int step;
} Feed;

// A step every 100 ms: about 500 records with 95 kernels each, as a fast GPU makes.
static gboolean feed(gpointer user)
{
    Feed *f = user;
    f->m.t = MAX(f->m.t, (uint64_t) g_get_monotonic_time() * 1000);
    for (int i = 0; i < 6; i++)
        make_step(&f->m, f->node, f->step++, 100000);
    flush(&f->m);
    return G_SOURCE_CONTINUE;
}

// All of them, or the one of that id.
static GtkWidget *all_views(NinoRun *run, const char *id)
{
    if (id)
        return nino_view_new(nino_view_find(id), run);
    GtkWidget *grid = gtk_grid_new();
    gtk_grid_set_column_homogeneous(GTK_GRID(grid), TRUE);
    gtk_grid_set_row_homogeneous(GTK_GRID(grid), TRUE);
    int i = 0;
    for (const NinoViewType *const *v = nino_views; *v; v++, i++)
        gtk_grid_attach(GTK_GRID(grid), nino_view_new(*v, run), i % 2, i / 2, 1, 1);
    return grid;
}

static double cpu_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static gboolean nothing(gpointer user)
{
    (void) user;
    return G_SOURCE_CONTINUE;
}

static void measure(NinoRun *run, const char *what, double seconds, gboolean fail_above)
{
    const double wall = cpu_s(CLOCK_MONOTONIC), cpu = cpu_s(CLOCK_THREAD_CPUTIME_ID);
    const double process = cpu_s(CLOCK_PROCESS_CPUTIME_ID);
    NinoRunCost c;
    const guint wake = g_timeout_add(100, nothing, NULL);
    while (cpu_s(CLOCK_MONOTONIC) < wall + seconds)
        g_main_context_iteration(NULL, TRUE);
    g_source_remove(wake);
    nino_run_cost(run, &c);
    const double t = cpu_s(CLOCK_MONOTONIC) - wall;
    const double records = (double) nino_history_count(nino_run_history(run));
    g_print("%-8s views %.2f %%, adding %.2f %%, main thread %.2f %%, process %.2f %% of a core; "
            "every %u ms, %.0f records\n",
            what, c.draw * 100, c.add * 100, (cpu_s(CLOCK_THREAD_CPUTIME_ID) - cpu) / t * 100,
            (cpu_s(CLOCK_PROCESS_CPUTIME_ID) - process) / t * 100, c.interval_ms, records);
    if (fail_above && c.draw > 0.03) {
        g_printerr("the views use more than 3 %% of a core\n");
        exit(1);
    }
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? g_ascii_strtod(argv[1], NULL) : 6;
    if (!gtk_init_check()) {
        g_print("skip: no display\n");
        return 77;
    }
    NinoRun *run = nino_run_new();
    GtkWidget *window = gtk_window_new();
    gtk_window_set_default_size(GTK_WINDOW(window), 1360, 860);
    gtk_window_set_child(GTK_WINDOW(window), all_views(run, argc > 2 ? argv[2] : NULL));
    gtk_window_present(GTK_WINDOW(window));
    Feed f = { .m = { .run = run, .t = (uint64_t) g_get_monotonic_time() * 1000, .seed = 1 } };
    f.node = make_start(&f.m, &f.job);
    nino_run_set_live(run, TRUE);
    const guint timer = g_timeout_add(100, feed, &f);
    measure(run, "warm-up", 3, FALSE);
    measure(run, "live", seconds, TRUE);
    nino_run_set_rate(run, 2);
    measure(run, "quiet", seconds, TRUE);
    g_source_remove(timer);
    make_end(&f.m, f.node, f.job);
    nino_run_set_live(run, FALSE);
    measure(run, "idle", 3, TRUE);
    gtk_window_destroy(GTK_WINDOW(window));
    g_object_unref(run);
    return 0;
}
