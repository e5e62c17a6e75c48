// What a row of the comparison holds, and how its cells look, sort and are exported.
#include "compare/compare_row.h"

#include "base/i18n.h"
#include "base/table.h"
#include "plot/pick_menu.h"
#include "plot/plot.h"

#include <math.h>
#include <string.h>

G_DEFINE_TYPE(NinoCompareRow, nino_compare_row, G_TYPE_OBJECT)
static void nino_compare_row_class_init(NinoCompareRowClass *c) { (void) c; }
static void nino_compare_row_init(NinoCompareRow *r) { (void) r; }

NinoCompareRow *nino_compare_row_new(const nino_compare_row *r, gboolean is_a_file)
{
    NinoCompareRow *row = g_object_new(NINO_TYPE_COMPARE_ROW, NULL);
    row->r = *r;
    row->is_a_file = is_a_file;
    return row;
}

static double compare_row_change(const nino_compare_row *r)
{
    return r->n_a && r->n_b && r->a.median > 0 ? 100 * (r->b.median / r->a.median - 1) : NAN;
}

typedef enum Column { WHAT, TIME_A, TIME_B, DELTA, CHANGE, CONFIDENCE, N_COLUMNS } Column;
static const char *const titles[] = { N_("Node, steps, kernel"), N_("Baseline"), N_("This run"),
                                      N_("Difference"),          N_("Change"),   N_("Confidence") };

// What is done once is left out of all: compiling, reading weights.
static void say_what(char *buf, size_t size, const NinoCompareRow *row)
{
    const nino_compare_row *r = &row->r;
    switch (r->kind) {
    case NINO_COMPARE_RUN:
        g_snprintf(buf, size, "%s",
                   row->is_a_file ? _("a file of the run, without compiling")
                                  : _("the run, without compiling"));
        break;
    case NINO_COMPARE_NODE: g_snprintf(buf, size, "%s", r->node); break;
    case NINO_COMPARE_STEPS: g_snprintf(buf, size, _("    a step of %s"), r->node); break;
    case NINO_COMPARE_KERNEL:
        g_snprintf(buf, size, _("        a call of %s %s"), r->name, r->shape);
        break;
    }
}

// What may be said of the difference.
static void say_verdict(char *buf, size_t size, const nino_compare_row *r)
{
    const nino_effect *f = &r->effect;
    if (!r->n_a || !r->n_b)
        g_snprintf(buf, size, "%s", r->n_a ? _("only in the baseline") : _("only in this run"));
    else if (r->cached_a != r->cached_b)
        g_snprintf(buf, size, "%s",
                   r->cached_a ? _("cached in the baseline") : _("cached in this run"));
    else if (f->is_too_few)
        g_snprintf(buf, size, "%s",
                   f->rounds < 2 ? _("one run each: no spread") : _("too few to tell"));
    else
        g_snprintf(buf, size, f->p < 1e-4 ? "%s (p < %.4f)" : "%s (p %.4f)",
                   f->verdict < 0   ? _("faster")
                   : f->verdict > 0 ? _("slower")
                                    : _("no difference shown"),
                   MAX(f->p, 1e-4));
}

static void compare_row_say(char *buf, size_t size, const NinoCompareRow *row, Column column)
{
    const nino_compare_row *r = &row->r;
    char t[40];
    const double delta = r->b.median - r->a.median;
    buf[0] = 0;
    switch (column) {
    case WHAT: say_what(buf, size, row); break;
    case TIME_A:
        if (r->n_a)
            nino_format_ns(buf, size, r->a.median * 1e9);
        break;
    case TIME_B:
        if (r->n_b)
            nino_format_ns(buf, size, r->b.median * 1e9);
        break;
    case DELTA:
        if (!r->n_a || !r->n_b)
            break;
        nino_format_ns(t, sizeof(t), fabs(delta) * 1e9);
        g_snprintf(buf, size, "%s%s", delta < 0 ? "−" : "+", t);
        break;
    case CHANGE:
        if (isfinite(compare_row_change(r)) && r->cached_a == r->cached_b)
            g_snprintf(buf, size, "%s%.1f %%", compare_row_change(r) < 0 ? "−" : "+",
                       fabs(compare_row_change(r)));
        break;
    case CONFIDENCE: say_verdict(buf, size, r); break;
    case N_COLUMNS: break;
    }
}

// What a column is sorted by; NAN: after all others.
static double sort_value(const nino_compare_row *r, Column column)
{
    switch (column) {
    case TIME_A: return r->n_a ? r->a.median : NAN;
    case TIME_B: return r->n_b ? r->b.median : NAN;
    case DELTA: return r->n_a && r->n_b ? r->b.median - r->a.median : NAN;
    case CHANGE: return r->cached_a == r->cached_b ? compare_row_change(r) : NAN;
    case CONFIDENCE: return r->effect.is_too_few ? NAN : r->effect.p;
    default: return NAN;
    }
}

static int compare_rows(gconstpointer a, gconstpointer b, gpointer column)
{
    const nino_compare_row *x = &((const NinoCompareRow *) a)->r,
                           *y = &((const NinoCompareRow *) b)->r;
    const Column c = (Column) GPOINTER_TO_INT(column);
    if (c == WHAT) {
        const int by_node = strcmp(x->node, y->node);
        return by_node ? by_node : strcmp(x->name, y->name);
    }
    const double u = sort_value(x, c), v = sort_value(y, c);
    return isnan(u) || isnan(v) ? isnan(u) - isnan(v) : u < v ? -1 : u > v;
}

static gboolean is_text(Column c) { return c == WHAT || c == CONFIDENCE; }

static void on_compare_row_setup(GtkSignalListItemFactory *f, GtkListItem *item, gpointer column)
{
    (void) f;
    GtkWidget *l = gtk_label_new(NULL);
    const Column c = (Column) GPOINTER_TO_INT(column);
    gtk_label_set_xalign(GTK_LABEL(l), is_text(c) ? 0 : 1);
    gtk_label_set_ellipsize(GTK_LABEL(l), PANGO_ELLIPSIZE_END);
    gtk_widget_add_css_class(l, c == WHAT || c == CONFIDENCE ? "text" : "numeric");
    gtk_list_item_set_child(item, l);
}

static void on_compare_row_bind(GtkSignalListItemFactory *f, GtkListItem *item, gpointer column)
{
    (void) f;
    char text[256];
    GtkWidget *l = gtk_list_item_get_child(item);
    const NinoCompareRow *row = NINO_COMPARE_ROW(gtk_list_item_get_item(item));
    const nino_compare_row *r = &row->r;
    compare_row_say(text, sizeof(text), row, (Column) GPOINTER_TO_INT(column));
    gtk_label_set_text(GTK_LABEL(l), text);
    g_object_set_data(G_OBJECT(l), NINO_CELL_ITEM, gtk_list_item_get_item(item));
    const gboolean is_word =
        GPOINTER_TO_INT(column) == CONFIDENCE || GPOINTER_TO_INT(column) == CHANGE;
    gtk_widget_set_tooltip_text(l, NULL);
    gtk_widget_remove_css_class(l, "success");
    gtk_widget_remove_css_class(l, "error");
    if (is_word && r->effect.verdict)
        gtk_widget_add_css_class(l, r->effect.verdict < 0 ? "success" : "error");
    if (GPOINTER_TO_INT(column) != CONFIDENCE || !isfinite(r->effect.low))
        return;
    g_autofree char *tip = g_strdup_printf(
        _("%+.1f to %+.1f %% with %.4g %% confidence, from the spread within these two runs"),
        r->effect.low, r->effect.high, 100 * (1 - r->effect.alpha));
    gtk_widget_set_tooltip_text(l, tip);
}

void nino_compare_row_add_columns(GtkColumnView *table)
{
    for (int i = 0; i < N_COLUMNS; i++) {
        GtkListItemFactory *f = gtk_signal_list_item_factory_new();
        g_signal_connect(f, "setup", G_CALLBACK(on_compare_row_setup), GINT_TO_POINTER(i));
        g_signal_connect(f, "bind", G_CALLBACK(on_compare_row_bind), GINT_TO_POINTER(i));
        GtkColumnViewColumn *c = gtk_column_view_column_new(_(titles[i]), f);
        gtk_column_view_column_set_expand(c, i == WHAT);
        gtk_column_view_column_set_resizable(c, TRUE);
        GtkSorter *sorter =
            GTK_SORTER(gtk_custom_sorter_new(compare_rows, GINT_TO_POINTER(i), NULL));
        gtk_column_view_column_set_sorter(c, sorter);
        g_object_unref(sorter);
        gtk_column_view_append_column(table, c);
        g_object_unref(c);
        nino_table_set_title(table, i, NULL, !is_text((Column) i));
    }
}

void nino_compare_row_export(const NinoCompareRow *row, NinoRowFn fn, gpointer user)
{
    static const char *const verdicts[] = { "faster", "none", "slower" };
    const nino_compare_row *r = &row->r;
    const NinoCell cells[] = { { "kind", nino_compare_kind_name(r->kind), 0 },
                               { "node", r->node, 0 },
                               { "kernel", r->name, 0 },
                               { "shape", r->shape, 0 },
                               { "calls_a", NULL, (double) r->n_a },
                               { "calls_b", NULL, (double) r->n_b },
                               { "total_ms_a", NULL, r->total_a * 1e3 },
                               { "total_ms_b", NULL, r->total_b * 1e3 },
                               { "median_ms_a", NULL, r->a.median * 1e3 },
                               { "median_ms_b", NULL, r->b.median * 1e3 },
                               { "change_percent", NULL, compare_row_change(r) },
                               { "low_percent", NULL, r->effect.low },
                               { "high_percent", NULL, r->effect.high },
                               { "p", NULL, r->effect.p },
                               { "verdict",
                                 r->effect.is_too_few ? "" : verdicts[r->effect.verdict + 1], 0 } };
    fn(user, cells, G_N_ELEMENTS(cells));
}
