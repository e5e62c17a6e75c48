// The performance statistics of the seed project, each with its definition in the tooltip, for the
// selected range or the whole run. Those of batches are left out: of a run of one picture they only
// say that kernels have sides of different lengths (0.34 for a perfect one).
#include "plot/view.h"

#include "base/i18n.h"
#include "plot/plot.h"

#include <math.h>
#include <stddef.h>

typedef enum Unit { SECONDS, COUNT, SHARE } Unit;

static const struct {
    const char *key, *title, *definition;
    size_t offset;
    Unit unit;
} figures[] = {
#define ROW(member, title, unit, text)                                                             \
    {                                                                                              \
#member, title, text, offsetof(nino_perf_stats, member), unit                              \
    }
    ROW(average_execution_time, N_("Average execution time"), SECONDS,
        N_("Time of all node runs that ended, divided by their number.")),
    ROW(total_executions, N_("Total executions"), COUNT,
        N_("Node runs that ended. Nodes whose result came from the cache did not run.")),
    ROW(cache_hit_rate, N_("Cache hit rate"), SHARE,
        N_("Hits divided by look-ups: requests to the memory pool, compiled kernels, results of "
           "nodes "
           "and opened model files.")),
    ROW(memory_efficiency, N_("Memory efficiency"), SHARE,
        N_("Bytes of pool requests served from memory already held, divided by all bytes "
           "requested.")),
    ROW(precision_efficiency, N_("Precision efficiency"), SHARE,
        N_("Share of the kernel time whose kernels store 16 bits an element or less.")),
    ROW(prefetch_efficiency, N_("Prefetch efficiency"), SHARE,
        N_("Prefetched bytes that were there before they were needed, divided by all bytes "
           "prefetched.")),
    ROW(total_memory_saves, N_("Memory saves"), COUNT,
        N_("Pool requests that were served without asking the driver.")),
    ROW(total_precision_optimizations, N_("Precision optimizations"), COUNT,
        N_("Kernels that store 16 bits an element or less.")),
    ROW(total_prefetch_hits, N_("Prefetch hits"), COUNT,
        N_("Prefetched pieces that were there before they were needed.")),
    ROW(total_driver_programs, N_("Programs left to the driver"), COUNT,
        N_("Compiled kernels that are not kept here because the driver has a cache of its own "
           "(PoCL). They count neither as hits nor as misses.")),
#undef ROW
};

typedef struct Perf {
    NinoRun *run;
    GtkWidget *grid, *scope, *value[G_N_ELEMENTS(figures)];
} Perf;

static double perf_view_value_of(const nino_perf_stats *s, size_t i)
{
    return *(const double *) ((const char *) s + figures[i].offset);
}

static void format(char *buf, size_t size, double v, Unit unit)
{
    switch (unit) {
    case SECONDS: nino_format_ns(buf, size, v * 1e9); return;
    case SHARE: nino_format_share(buf, size, v); return;
    case COUNT: nino_format_count(buf, size, v); return;
    }
}

static gboolean perf_view_get(NinoRun *run, nino_perf_stats *s)
{
    const nino_stats *stats = nino_run_stats(run);
    if (stats)
        nino_stats_perf(stats, s);
    return stats != NULL;
}

static void perf_view_update(GtkWidget *grid)
{
    Perf *f = g_object_get_data(G_OBJECT(grid), "perf");
    nino_perf_stats s;
    guint64 t0, t1;
    if (!gtk_widget_get_mapped(grid) || !perf_view_get(f->run, &s))
        return;
    nino_run_draw_begin(f->run);
    for (size_t i = 0; i < G_N_ELEMENTS(figures); i++) {
        char text[48];
        format(text, sizeof(text), perf_view_value_of(&s, i), figures[i].unit);
        if (g_strcmp0(gtk_label_get_text(GTK_LABEL(f->value[i])), text) != 0)
            gtk_label_set_text(GTK_LABEL(f->value[i]), text);
    }
    const char *scope = nino_run_range(f->run, &t0, &t1) ? _("Selected range") : _("Whole run");
    if (g_strcmp0(gtk_label_get_text(GTK_LABEL(f->scope)), scope) != 0)
        gtk_label_set_text(GTK_LABEL(f->scope), scope);
    nino_run_draw_end(f->run);
}

static void perf_view_export_rows(GtkWidget *view, NinoRowFn row, gpointer user)
{
    Perf *f = g_object_get_data(G_OBJECT(view), "perf");
    nino_perf_stats s;
    if (!perf_view_get(f->run, &s))
        return;
    for (size_t i = 0; i < G_N_ELEMENTS(figures); i++) {
        const NinoCell cells[] = { { "figure", figures[i].key, 0 },
                                   { "value", NULL, perf_view_value_of(&s, i) },
                                   { "definition", figures[i].definition, 0 } };
        row(user, cells, G_N_ELEMENTS(cells));
    }
}

static GtkWidget *new_perf_view(NinoRun *run)
{
    static const NinoViewExport x = { .rows = perf_view_export_rows };
    Perf *f = g_new0(Perf, 1);
    f->run = run;
    f->grid = gtk_grid_new();
    gtk_grid_set_column_spacing(GTK_GRID(f->grid), 24);
    gtk_grid_set_row_spacing(GTK_GRID(f->grid), 6);
    f->scope = gtk_label_new(_("Whole run"));
    gtk_label_set_xalign(GTK_LABEL(f->scope), 0);
    gtk_widget_add_css_class(f->scope, "heading");
    gtk_grid_attach(GTK_GRID(f->grid), f->scope, 0, 0, 2, 1);
    for (size_t i = 0; i < G_N_ELEMENTS(figures); i++) {
        GtkWidget *name = gtk_label_new(_(figures[i].title));
        f->value[i] = gtk_label_new(_("n/a"));
        gtk_label_set_xalign(GTK_LABEL(name), 0);
        gtk_label_set_xalign(GTK_LABEL(f->value[i]), 1);
        gtk_label_set_width_chars(GTK_LABEL(f->value[i]), 12);
        gtk_widget_add_css_class(f->value[i], "numeric");
        gtk_widget_set_tooltip_text(name, _(figures[i].definition));
        gtk_widget_set_tooltip_text(f->value[i], _(figures[i].definition));
        gtk_accessible_update_property(GTK_ACCESSIBLE(f->value[i]),
                                       GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                       _(figures[i].definition), -1);
        gtk_grid_attach(GTK_GRID(f->grid), name, 0, (int) i + 1, 1, 1);
        gtk_grid_attach(GTK_GRID(f->grid), f->value[i], 1, (int) i + 1, 1, 1);
    }
    GtkWidget *scroll = gtk_scrolled_window_new();
    gtk_widget_set_margin_start(f->grid, 12);
    gtk_widget_set_margin_end(f->grid, 12);
    gtk_widget_set_margin_top(f->grid, 8);
    gtk_widget_set_margin_bottom(f->grid, 8);
    gtk_widget_set_halign(f->grid, GTK_ALIGN_START);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), f->grid);
    g_object_set_data(G_OBJECT(f->grid), "perf", f);
    g_object_set_data_full(G_OBJECT(scroll), "perf", f, g_free);
    g_object_set_data_full(G_OBJECT(f->grid), "run", g_object_ref(run), g_object_unref);
    g_signal_connect_object(run, "changed", G_CALLBACK(perf_view_update), f->grid,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(run, "range", G_CALLBACK(perf_view_update), f->grid, G_CONNECT_SWAPPED);
    g_signal_connect(f->grid, "map", G_CALLBACK(perf_view_update), NULL);
    nino_view_set_export(scroll, &x);
    return scroll;
}

const NinoViewType nino_view_perf = {
    .id = "performance",
    .title = N_("Performance"),
    .help = N_("Efficiency of caches, memory, precision and prefetching"),
    .create = new_perf_view,
};
