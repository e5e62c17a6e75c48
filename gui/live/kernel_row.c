// Rows and columns of the kernel table: what a row holds and stands for, how its cells look, sort and match. Cells
// change only when their text does.
#include "live/kernel_row.h"

#include "base/i18n.h"
#include "base/table.h"
#include "plot/pick_menu.h"
#include "plot/plot.h"

#include <math.h>
#include <string.h>

enum { MOST_CHARS = 32 }; // of a text

static const struct {
    const char *id, *title, *tip;
    int chars;
    void (*format)(char *buf, size_t size, double v);
} columns[NINO_KERNEL_COLUMNS] = {
    { "kernel", N_("Kernel"), N_("Name of the kernel or transfer"), 16, NULL },
    { "family", N_("Family"), N_("Op family"), 7, NULL },
    { "global", N_("Global"), N_("Work-items of a launch, along each axis"), 12, NULL },
    { "local", N_("Local"),
      N_("Work-items of a work-group, along each axis; where the kernel leaves them open they are "
         "the driver's choice"),
      12, NULL },
    { "calls", N_("Calls"), N_("How often it ran in the range"), 5, nino_format_count },
    { "total_ns", N_("Total"), N_("Sum of the times on the device"), 6, nino_format_ns },
    { "share", N_("Share"), N_("Of the time of all kernels and transfers in the range"), 6,
      nino_format_share },
    { "mean_ns", N_("Mean"), N_("Total divided by calls"), 6, nino_format_ns },
    { "min_ns", N_("Min"), N_("Shortest call"), 6, nino_format_ns },
    { "max_ns", N_("Max"), N_("Longest call"), 6, nino_format_ns },
    { "sigma_ns", "σ", N_("Standard deviation of the calls"), 6, nino_format_ns },
    // xgettext:no-c-format
    { "p50_ns", "p50", N_("Half of the calls are shorter (of very many: within 2 %)"), 6,
      nino_format_ns },
    // xgettext:no-c-format
    { "p95_ns", "p95", N_("95 % of the calls are shorter (of very many: within 2 %)"), 6,
      nino_format_ns },
    { "gflops", "GFLOP/s", N_("Arithmetic of the op table divided by total time"), 7, NULL },
    { "gbps", "GB/s", N_("Bytes the op must move at least, divided by total time"), 5, NULL },
    // xgettext:no-c-format
    { "peak_share", N_("% peak"),
      N_("Larger share of what the device can do in arithmetic and in the bandwidth of that "
         "working "
         "set: as measured, else by its data sheet (the roofline says which)"),
      7, nino_format_share },
};

G_DEFINE_TYPE(NinoKernelRow, nino_kernel_row, G_TYPE_OBJECT)

static guint row_changed;

static void row_finalize(GObject *o)
{
    NinoKernelRow *r = NINO_KERNEL_ROW(o);
    g_free(r->op);
    for (int c = 0; c < NINO_KERNEL_TEXTS; c++)
        g_free(r->text[c]);
    G_OBJECT_CLASS(nino_kernel_row_parent_class)->finalize(o);
}

static void nino_kernel_row_class_init(NinoKernelRowClass *klass)
{
    G_OBJECT_CLASS(klass)->finalize = row_finalize;
    row_changed = g_signal_new("changed", NINO_TYPE_KERNEL_ROW, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                               NULL, G_TYPE_NONE, 0);
}

static void nino_kernel_row_init(NinoKernelRow *r) { (void) r; }

static double items_of(const uint64_t size[3])
{
    return (double) size[0] * (double) size[1] * (double) size[2];
}

NinoKernelRow *nino_kernel_row_new(const nino_op_stat *o, gboolean has_work)
{
    NinoKernelRow *r = g_object_new(NINO_TYPE_KERNEL_ROW, NULL);
    const char *sizes = has_work ? strrchr(o->name, ' ') : NULL;
    g_autofree char *launch = sizes ? g_strconcat(sizes + 1, "/", NULL) : NULL;
    char text[NINO_WORK_TEXT];
    nino_launch l = { .requested = 0 };
    const gboolean is_told = launch && nino_launch_read(&l, launch);
    r->op = g_strdup(o->name);
    r->text[NINO_KERNEL_NAME] =
        is_told ? g_strndup(o->name, (gsize) (sizes - o->name)) : g_strdup(o->name);
    r->text[NINO_KERNEL_FAMILY] = g_strdup(o->family);
    r->text[NINO_KERNEL_GLOBAL] = g_strdup(nino_work_text(text, l.global));
    r->text[NINO_KERNEL_LOCAL] = g_strdup(nino_work_text(text, l.local));
    r->value[NINO_KERNEL_GLOBAL] = items_of(l.global);
    r->value[NINO_KERNEL_LOCAL] = items_of(l.local);
    return r;
}

static gboolean is_kernel_row_same(const double *a, const double *b)
{
    for (int c = NINO_KERNEL_TEXTS; c < NINO_KERNEL_COLUMNS; c++)
        if (a[c] != b[c] && !(isnan(a[c]) && isnan(b[c])))
            return FALSE;
    return TRUE;
}

void nino_kernel_row_set(NinoKernelRow *r, const double value[NINO_KERNEL_COLUMNS])
{
    if (is_kernel_row_same(value, r->value))
        return;
    for (int c = NINO_KERNEL_TEXTS; c < NINO_KERNEL_COLUMNS; c++)
        r->value[c] = value[c];
    g_signal_emit(r, row_changed, 0);
}

// Whether the driver chose the local size.
static gboolean is_drivers(const NinoKernelRow *r)
{
    return *r->text[NINO_KERNEL_GLOBAL] && !*r->text[NINO_KERNEL_LOCAL];
}

static void format_cell(const NinoKernelRow *r, int column, char *buf, size_t size)
{
    const double v = r->value[column];
    if (column == NINO_KERNEL_LOCAL && is_drivers(r))
        g_strlcpy(buf, _("driver's choice"), size);
    else if (column < NINO_KERNEL_TEXTS && !*r->text[column])
        g_strlcpy(buf, "–", size);
    else if (column == NINO_KERNEL_FAMILY)
        g_strlcpy(buf, nino_plot_family_name(r->text[column]), size);
    else if (column < NINO_KERNEL_TEXTS)
        g_strlcpy(buf, r->text[column], size);
    else if (columns[column].format)
        columns[column].format(buf, size, v);
    else if (v > 0)
        g_snprintf(buf, size, v < 100 ? "%.1f" : "%.0f", v);
    else
        g_strlcpy(buf, "–", size);
}

NinoCell nino_kernel_row_cell(const NinoKernelRow *r, int column)
{
    NinoCell cell = { columns[column].id, NULL, r->value[column] };
    if (column < NINO_KERNEL_TEXTS)
        cell.text =
            column == NINO_KERNEL_LOCAL && is_drivers(r) ? "driver's choice" : r->text[column];
    return cell;
}

gboolean nino_kernel_row_matches(const NinoKernelRow *r, const char *text)
{
    char cell[128];
    for (int c = 0; c < NINO_KERNEL_TEXTS; c++) {
        format_cell(r, c, cell, sizeof(cell));
        if (strcasestr(cell, text))
            return TRUE;
    }
    return !*text;
}

// ---- what it stands for in a run ----------------------------------------------------------------

uint32_t nino_kernel_row_kernel(const NinoKernelRow *r, NinoRun *run)
{
    const nino_history *h = nino_run_history(run);
    const char *end = strrchr(r->text[NINO_KERNEL_NAME], ' ');
    const uint32_t id = nino_history_find(h, r->text[NINO_KERNEL_NAME]);
    if (id || !end)
        return id;
    g_autofree char *name =
        g_strndup(r->text[NINO_KERNEL_NAME], (gsize) (end - r->text[NINO_KERNEL_NAME]));
    return nino_history_find(h, name);
}

// Whether the call is one of the row's, if those of its kernel are told apart.
static gboolean has_call(const NinoKernelRow *r, NinoRun *run, uint32_t kernel,
                         const nino_event *call)
{
    const char *part = r->op + strlen(nino_run_name(run, kernel));
    if (!*part)
        return TRUE;
    const char *launch = nino_run_name(run, nino_kernel_launch(call));
    if (*r->text[NINO_KERNEL_GLOBAL])
        return g_str_has_prefix(launch, part + 1) && launch[strlen(part + 1)] == '/';
    return !strcmp(nino_run_name(run, call->u.kernel.shape), part + 1);
}

gboolean nino_kernel_row_longest(const NinoKernelRow *r, NinoRun *run, nino_event *out)
{
    nino_event call[64];
    guint64 t0, t1;
    const uint32_t kernel = nino_kernel_row_kernel(r, run);
    nino_run_range(run, &t0, &t1);
    const size_t n =
        MIN(nino_history_calls(nino_run_history(run), kernel, t0, t1, call, G_N_ELEMENTS(call)),
            G_N_ELEMENTS(call));
    size_t i = 0;
    while (i < n && !has_call(r, run, kernel, &call[i]))
        i++;
    if (n)
        *out = call[i < n ? i : 0];
    return n > 0;
}

// ---- cells -------------------------------------------------------------------------------------

static void refresh_label(NinoKernelRow *r, GtkLabel *label)
{
    char text[128];
    format_cell(r, GPOINTER_TO_INT(g_object_get_data(G_OBJECT(label), "column")), text,
                sizeof(text));
    if (!g_strcmp0(gtk_label_get_text(label), text))
        return;
    gtk_label_set_text(label, text);
    if (gtk_label_get_ellipsize(label)) // it may not have room
        gtk_widget_set_tooltip_text(GTK_WIDGET(label), text);
}

static gboolean is_text(int column)
{
    return column == NINO_KERNEL_NAME || column == NINO_KERNEL_FAMILY;
}

static void on_setup(GtkSignalListItemFactory *f, GtkListItem *item, gpointer column)
{
    (void) f;
    const int c = GPOINTER_TO_INT(column);
    GtkWidget *label = gtk_label_new(NULL);
    gtk_label_set_xalign(GTK_LABEL(label), is_text(c) ? 0 : 1);
    gtk_label_set_width_chars(GTK_LABEL(label), columns[c].chars);
    if (is_text(c)) { // wider only where there is room
        gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
        gtk_label_set_max_width_chars(GTK_LABEL(label), MOST_CHARS);
    } else {
        gtk_widget_add_css_class(label, "numeric");
    }
    g_object_set_data(G_OBJECT(label), "column", column);
    gtk_list_item_set_child(item, label);
}

static void on_bind(GtkSignalListItemFactory *f, GtkListItem *item, gpointer column)
{
    (void) f, (void) column;
    NinoKernelRow *r = gtk_list_item_get_item(item);
    GtkWidget *label = gtk_list_item_get_child(item);
    refresh_label(r, GTK_LABEL(label));
    g_object_set_data(G_OBJECT(label), NINO_CELL_ITEM, r);
    g_signal_connect(r, "changed", G_CALLBACK(refresh_label), label);
}

static void on_unbind(GtkSignalListItemFactory *f, GtkListItem *item, gpointer column)
{
    (void) f, (void) column;
    g_signal_handlers_disconnect_by_func(gtk_list_item_get_item(item), G_CALLBACK(refresh_label),
                                         gtk_list_item_get_child(item));
    g_object_set_data(G_OBJECT(gtk_list_item_get_child(item)), NINO_CELL_ITEM, NULL);
}

// Work sizes sort by how many work-items they are.
static int kernel_row_compare(gconstpointer a, gconstpointer b, gpointer column)
{
    const NinoKernelRow *x = a, *y = b;
    const int c = GPOINTER_TO_INT(column);
    if (c == NINO_KERNEL_NAME || c == NINO_KERNEL_FAMILY)
        return strcmp(x->text[c], y->text[c]);
    const double u = isnan(x->value[c]) ? -1 : x->value[c];
    const double v = isnan(y->value[c]) ? -1 : y->value[c];
    return u < v ? -1 : u > v;
}

GtkColumnViewColumn *nino_kernel_row_add_column(GtkColumnView *view, int c)
{
    GtkListItemFactory *f = gtk_signal_list_item_factory_new();
    g_signal_connect(f, "setup", G_CALLBACK(on_setup), GINT_TO_POINTER(c));
    g_signal_connect(f, "bind", G_CALLBACK(on_bind), GINT_TO_POINTER(c));
    g_signal_connect(f, "unbind", G_CALLBACK(on_unbind), GINT_TO_POINTER(c));
    GtkColumnViewColumn *col = gtk_column_view_column_new(_(columns[c].title), f);
    GtkSorter *sorter =
        GTK_SORTER(gtk_custom_sorter_new(kernel_row_compare, GINT_TO_POINTER(c), NULL));
    gtk_column_view_column_set_sorter(col, sorter);
    g_object_unref(sorter);
    gtk_column_view_column_set_resizable(col, TRUE);
    gtk_column_view_column_set_expand(col, c == NINO_KERNEL_NAME);
    gtk_column_view_append_column(view, col);
    g_object_unref(col);
    return col;
}

void nino_kernel_row_explain(GtkColumnView *view)
{
    for (int c = 0; c < NINO_KERNEL_COLUMNS; c++)
        nino_table_set_title(view, c, _(columns[c].tip), !is_text(c));
}
