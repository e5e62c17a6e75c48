// The performance statistics of the library's table, each with its definition in the tooltip, for the
// selected range or the whole run. Those that say nothing about the run are not shown; those of batches
// never: of a run of one picture they only say that kernels have sides of different lengths (0.34 for a
// perfect one).
#include "plot/view.h"

#include "base/empty.h"
#include "base/i18n.h"
#include "base/scroller.h"
#include "plot/plot.h"

#include <math.h>
#include <string.h>

enum { MOST = 64 };

typedef struct Perf {
    NinoRun *run;
    GtkWidget *page, *grid, *scope, *empty, *name[MOST], *value[MOST];
} Perf;

static void format(char *buf, size_t size, double v, nino_statistic_unit unit)
{
    switch (unit) {
    case NINO_STATISTIC_SECONDS: nino_format_ns(buf, size, v * 1e9); return;
    case NINO_STATISTIC_BYTES: nino_format_bytes(buf, size, v); return;
    case NINO_STATISTIC_SHARE: nino_format_share(buf, size, v); return;
    case NINO_STATISTIC_RATIO: g_snprintf(buf, size, "%.2f", v); return;
    case NINO_STATISTIC_COUNT: nino_format_count(buf, size, v); return;
    }
}

static gboolean is_shown(const nino_statistic *t, double v)
{
    return !strstr(t->name, "batch") && nino_statistic_speaks(t, v);
}

static void show_empty(Perf *f, gboolean is_empty)
{
    gtk_widget_set_visible(f->empty, is_empty);
    gtk_widget_set_visible(f->grid, !is_empty);
}

static void perf_view_update(GtkWidget *page)
{
    Perf *f = g_object_get_data(G_OBJECT(page), "perf");
    const nino_stats *s = gtk_widget_get_mapped(page) ? nino_run_stats(f->run) : NULL;
    const nino_statistic *t = nino_statistics();
    guint64 t0, t1;
    if (!s)
        return;
    nino_run_draw_begin(f->run);
    show_empty(f, !nino_history_count(nino_run_history(f->run)));
    for (size_t i = 0; t[i].name && i < MOST; i++) {
        char text[48];
        const double v = t[i].value(s);
        gtk_widget_set_visible(f->name[i], is_shown(&t[i], v));
        gtk_widget_set_visible(f->value[i], is_shown(&t[i], v));
        format(text, sizeof(text), v, t[i].unit);
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
    const nino_stats *s = nino_run_stats(f->run);
    for (const nino_statistic *t = nino_statistics(); s && t->name; t++) {
        const double v = t->value(s);
        if (!is_shown(t, v))
            continue;
        const NinoCell cells[] = { { "figure", t->name, 0 },
                                   { "value", NULL, v },
                                   { "unit", nino_statistic_unit_text(t->unit), 0 },
                                   { "definition", t->definition, 0 },
                                   { "formula", t->formula, 0 } };
        row(user, cells, G_N_ELEMENTS(cells));
    }
}

static void add_row(Perf *f, const nino_statistic *t, size_t i)
{
    GtkWidget *name = f->name[i] = gtk_label_new(_(t->label));
    g_autofree char *tip = g_strdup_printf("%s\n= %s", _(t->definition), t->formula);
    f->value[i] = gtk_label_new("–");
    gtk_label_set_xalign(GTK_LABEL(name), 0);
    gtk_label_set_xalign(GTK_LABEL(f->value[i]), 1);
    gtk_label_set_width_chars(GTK_LABEL(f->value[i]), 12);
    gtk_widget_add_css_class(f->value[i], "numeric");
    gtk_widget_set_tooltip_text(name, tip);
    gtk_widget_set_tooltip_text(f->value[i], tip);
    gtk_accessible_update_property(GTK_ACCESSIBLE(f->value[i]), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                   _(t->definition), -1);
    gtk_widget_set_visible(name, FALSE);
    gtk_widget_set_visible(f->value[i], FALSE);
    gtk_grid_attach(GTK_GRID(f->grid), name, 0, (int) i + 1, 1, 1);
    gtk_grid_attach(GTK_GRID(f->grid), f->value[i], 1, (int) i + 1, 1, 1);
}

static void make_grid(Perf *f)
{
    f->grid = gtk_grid_new();
    gtk_grid_set_column_spacing(GTK_GRID(f->grid), NINO_SPACE_XL);
    gtk_grid_set_row_spacing(GTK_GRID(f->grid), NINO_SPACE_S);
    f->scope = gtk_label_new(_("Whole run"));
    gtk_label_set_xalign(GTK_LABEL(f->scope), 0);
    gtk_widget_add_css_class(f->scope, "heading");
    gtk_grid_attach(GTK_GRID(f->grid), f->scope, 0, 0, 2, 1);
    const nino_statistic *t = nino_statistics();
    for (size_t i = 0; t[i].name && i < MOST; i++)
        add_row(f, &t[i], i);
    gtk_widget_set_margin_start(f->grid, NINO_SPACE_M);
    gtk_widget_set_margin_end(f->grid, NINO_SPACE_M);
    gtk_widget_set_margin_top(f->grid, NINO_SPACE_S);
    gtk_widget_set_margin_bottom(f->grid, NINO_SPACE_S);
    gtk_widget_set_halign(f->grid, GTK_ALIGN_START);
}

static GtkWidget *new_perf_view(NinoRun *run)
{
    static const NinoViewExport x = { .rows = perf_view_export_rows };
    Perf *f = g_new0(Perf, 1);
    f->run = run;
    f->page = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    make_grid(f);
    f->empty = nino_empty_new(&nino_empty_no_run);
    nino_empty_say(f->empty, &nino_empty_no_run,
                   _("Figures of caches, memory and precision appear here while a workflow runs"));
    gtk_box_append(GTK_BOX(f->page), f->grid);
    gtk_box_append(GTK_BOX(f->page), f->empty);
    GtkWidget *scroll = nino_page_scroller_new(f->page);
    g_object_set_data(G_OBJECT(f->page), "perf", f);
    g_object_set_data_full(G_OBJECT(scroll), "perf", f, g_free);
    g_object_set_data_full(G_OBJECT(f->page), "run", g_object_ref(run), g_object_unref);
    g_signal_connect_object(run, "changed", G_CALLBACK(perf_view_update), f->page,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(run, "range", G_CALLBACK(perf_view_update), f->page, G_CONNECT_SWAPPED);
    g_signal_connect(f->page, "map", G_CALLBACK(perf_view_update), NULL);
    nino_view_set_export(scroll, &x);
    return scroll;
}

const NinoViewType nino_view_perf = {
    .id = "performance",
    .title = N_("Performance"),
    .help = N_("Efficiency of caches, memory, precision and prefetching"),
    .create = new_perf_view,
};
