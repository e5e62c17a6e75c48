// One table of columns says how each figure is written, how it is read out and what its column means.
#include "window/suite_table.h"

#include <math.h>
#include <string.h>

#include "base/i18n.h"
#include "base/scroller.h"
#include "base/table.h"
#include "plot/plot.h"
#include "window/suite_form.h"

#define NINO_TYPE_SUITE_ROW (suite_row_get_type())
G_DECLARE_FINAL_TYPE(SuiteRow, suite_row, NINO, SUITE_ROW, GObject)
struct _SuiteRow {
    GObject parent;
    char name[64], left_out[200];
    gboolean is_baseline;
    nino_suite_run run; // of zeros where it was left out
};
G_DEFINE_TYPE(SuiteRow, suite_row, G_TYPE_OBJECT)
static void suite_row_class_init(SuiteRowClass *c) { (void) c; }
static void suite_row_init(SuiteRow *r) { (void) r; }

// ---- figures ------------------------------------------------------------------------------------

typedef struct Figure {
    const char *title, *help;
    double (*value)(const nino_suite_run *r); // NULL: a text of its own
    void (*say)(char *buf, size_t size, const SuiteRow *row, double v);
} Figure;

static double average(const nino_suite_run *r) { return r->average_s; }
static double median(const nino_suite_run *r) { return r->median_s; }
static double least(const nino_suite_run *r) { return r->min_s; }
static double most(const nino_suite_run *r) { return r->max_s; }
static double sigma(const nino_suite_run *r) { return r->sigma_s; }
static double mad(const nino_suite_run *r) { return r->mad_s; }
static double throughput(const nino_suite_run *r) { return r->per_second; }
static double peak(const nino_suite_run *r) { return (double) r->peak_bytes; }
static double psnr(const nino_suite_run *r) { return r->psnr; }
static double rounds(const nino_suite_run *r) { return (double) r->n; }

static void say_name(char *buf, size_t size, const SuiteRow *row, double v)
{
    (void) v;
    g_snprintf(buf, size, "%s", row->name);
}

static void say_setting(char *buf, size_t size, const SuiteRow *row, double v)
{
    (void) v;
    if (*row->left_out)
        g_snprintf(buf, size, _("left out: %s"), row->left_out);
    else
        g_snprintf(buf, size, "%s", row->run.setting);
}

static void say_count(char *buf, size_t size, const SuiteRow *row, double v)
{
    (void) row;
    nino_format_count(buf, size, v);
}

static void say_time(char *buf, size_t size, const SuiteRow *row, double v)
{
    (void) row;
    nino_format_ns(buf, size, v * 1e9);
}

static void say_bytes(char *buf, size_t size, const SuiteRow *row, double v)
{
    (void) row;
    nino_format_bytes(buf, size, v);
}

static void say_rate(char *buf, size_t size, const SuiteRow *row, double v)
{
    (void) row;
    g_snprintf(buf, size, _("%.3g/s"), v);
}

static void say_change(char *buf, size_t size, const SuiteRow *row, double v)
{
    const nino_effect *e = &row->run.effect;
    (void) v;
    if (row->is_baseline || *row->left_out || !isfinite(e->percent))
        return;
    g_snprintf(buf, size, "%s%.1f %% %s", e->percent < 0 ? "−" : "+", fabs(e->percent),
               e->verdict < 0   ? _("faster")
               : e->verdict > 0 ? _("slower")
                                : _("not shown"));
}

static void say_p(char *buf, size_t size, const SuiteRow *row, double v)
{
    const double p = row->run.effect.p;
    (void) v;
    if (!row->is_baseline && !*row->left_out && isfinite(p))
        g_snprintf(buf, size, p < 1e-4 ? "< 0.0001" : "%.4f", p);
}

static void say_psnr(char *buf, size_t size, const SuiteRow *row, double v)
{
    if (row->is_baseline || isnan(v))
        return;
    if (isinf(v))
        g_snprintf(buf, size, "%s", _("equal"));
    else
        g_snprintf(buf, size, "%.1f dB", v);
}

static const Figure figures[] = {
    { N_("Case"), N_("A workflow of fixed sizes"), NULL, say_name },
    { N_("Setting"), N_("Which optimisations acted"), NULL, say_setting },
    { N_("Runs"), N_("Runs that count, each with a seed of its own"), rounds, say_count },
    { N_("Average"), N_("Arithmetic mean of the runs' times"), average, say_time },
    { N_("Median"), N_("Half of the runs took longer"), median, say_time },
    { N_("Min"), N_("The fastest run"), least, say_time },
    { N_("Max"), N_("The slowest run"), most, say_time },
    { N_("SD"), N_("Standard deviation of the runs' times"), sigma, say_time },
    { N_("MAD"), N_("Median of the distances to the median"), mad, say_time },
    { N_("Against baseline"),
      N_("Change of the time, by pairs of runs that were measured one after the other; “not shown” "
         "where chance may have made it"),
      NULL, say_change },
    { N_("p"), N_("Chance of so large a difference between equal settings"), NULL, say_p },
    { N_("Throughput"), N_("Pictures, or frames of clips, in a second of the median"), throughput,
      say_rate },
    { N_("Peak memory"), N_("Most bytes of the memory pool in use at once"), peak, say_bytes },
    { N_("Output"), N_("Difference of the pictures from the baseline's, of the same seed: PSNR"),
      psnr, say_psnr },
};

static void suite_say(char *buf, size_t size, const SuiteRow *row, const Figure *f)
{
    const double v = f->value ? f->value(&row->run) : NAN;
    buf[0] = 0;
    if (f->value && *row->left_out)
        return;
    if (!f->value || f->value == psnr || isfinite(v))
        f->say(buf, size, row, v);
}

// ---- the list -----------------------------------------------------------------------------------

static gboolean is_text(const Figure *f)
{
    return !f->value && f->say != say_p && f->say != say_change;
}

static void suite_setup(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer figure)
{
    (void) factory;
    const Figure *f = figure;
    GtkWidget *l = gtk_label_new(NULL);
    gtk_label_set_xalign(GTK_LABEL(l), is_text(f) ? 0 : 1);
    gtk_label_set_ellipsize(GTK_LABEL(l), is_text(f) ? PANGO_ELLIPSIZE_END : PANGO_ELLIPSIZE_NONE);
    gtk_widget_add_css_class(l, is_text(f) ? "text" : "numeric");
    gtk_list_item_set_child(item, l);
}

static void suite_bind(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer figure)
{
    (void) factory;
    char text[280];
    const Figure *f = figure;
    const SuiteRow *row = gtk_list_item_get_item(item);
    const nino_effect *e = &row->run.effect;
    GtkWidget *l = gtk_list_item_get_child(item);
    suite_say(text, sizeof(text), row, f);
    gtk_label_set_text(GTK_LABEL(l), text);
    gtk_widget_set_tooltip_text(l, f->say == say_setting || f->say == say_name ? text : NULL);
    gtk_widget_remove_css_class(l, "success");
    gtk_widget_remove_css_class(l, "error");
    if (f->say != say_change || row->is_baseline || *row->left_out)
        return;
    if (e->verdict)
        gtk_widget_add_css_class(l, e->verdict < 0 ? "success" : "error");
    g_autofree char *tip = g_strdup_printf(_("%+.1f to %+.1f %% with 95 %% confidence, %u rounds"),
                                           e->low, e->high, (guint) e->rounds);
    gtk_widget_set_tooltip_text(l, tip);
}

void nino_suite_table_set(GtkWidget *table, const nino_suite_result *r)
{
    GListStore *rows = g_object_get_data(G_OBJECT(table), "rows");
    g_list_store_remove_all(rows);
    for (size_t i = 0; i < r->n_cases; i++) {
        const nino_suite_case *c = &r->cases[i];
        g_autofree char *title = nino_suite_title(c->name);
        for (size_t k = 0; k < c->n_runs || (!k && *c->left_out); k++) {
            g_autoptr(SuiteRow) row = g_object_new(NINO_TYPE_SUITE_ROW, NULL);
            g_strlcpy(row->name, title, sizeof(row->name));
            g_strlcpy(row->left_out, c->left_out, sizeof(row->left_out));
            row->is_baseline = k == 0;
            if (k < c->n_runs)
                row->run = c->runs[k];
            g_list_store_append(rows, row);
        }
    }
}

GtkWidget *nino_suite_table_new(void)
{
    GtkWidget *table = gtk_column_view_new(NULL), *scroll = nino_scroller_new(table);
    GListStore *rows = g_list_store_new(NINO_TYPE_SUITE_ROW);
    for (size_t i = 0; i < G_N_ELEMENTS(figures); i++) {
        GtkListItemFactory *factory = gtk_signal_list_item_factory_new();
        g_signal_connect(factory, "setup", G_CALLBACK(suite_setup), (gpointer) &figures[i]);
        g_signal_connect(factory, "bind", G_CALLBACK(suite_bind), (gpointer) &figures[i]);
        g_autoptr(GtkColumnViewColumn) column =
            gtk_column_view_column_new(_(figures[i].title), factory);
        gtk_column_view_column_set_resizable(column, TRUE);
        gtk_column_view_column_set_expand(column, i < 2);
        gtk_column_view_append_column(GTK_COLUMN_VIEW(table), column);
        nino_table_set_title(GTK_COLUMN_VIEW(table), (int) i, _(figures[i].help),
                             !is_text(&figures[i]));
    }
    g_autoptr(GtkSingleSelection) selection =
        gtk_single_selection_new(G_LIST_MODEL(g_object_ref(rows)));
    gtk_column_view_set_model(GTK_COLUMN_VIEW(table), GTK_SELECTION_MODEL(selection));
    gtk_accessible_update_property(GTK_ACCESSIBLE(table), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Results of the benchmark suite"), -1);
    gtk_widget_add_css_class(table, "data-table");
    gtk_widget_set_vexpand(scroll, TRUE);
    g_object_set_data_full(G_OBJECT(scroll), "rows", rows, g_object_unref);
    return scroll;
}
