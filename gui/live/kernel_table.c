// The kernel table: what every kernel cost in the selected range, sortable by each figure, filtered
// by text. Rows are kept and change in place twice a second; cells change only when their text
// does.
#include "live/views.h"

#include "i18n.h"
#include "live/plot.h"
#include "live/view.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_OPS = 4096, UPDATE_MS = 500 };

// ---- rows --------------------------------------------------------------------------------------

enum {
    COL_NAME,
    COL_FAMILY,
    COL_CALLS,
    COL_TOTAL,
    COL_SHARE,
    COL_MEAN,
    COL_MIN,
    COL_MAX,
    COL_SIGMA,
    COL_P50,
    COL_P95,
    COL_GFLOPS,
    COL_GBPS,
    COL_PEAK,
    N_COLUMNS
};

static const struct {
    const char *id, *title, *tip;
    int chars;
    void (*format)(char *buf, size_t size, double v);
} columns[N_COLUMNS] = {
    { "kernel", N_("Kernel"), N_("Name of the kernel or transfer"), 18, NULL },
    { "family", N_("Family"), N_("Op family"), 9, NULL },
    { "calls", N_("Calls"), N_("How often it ran in the range"), 7, nino_format_count },
    { "total_ns", N_("Total"), N_("Sum of the times on the device"), 7, nino_format_ns },
    { "share", N_("Share"), N_("Of the time of all kernels and transfers"), 6, nino_format_share },
    { "mean_ns", N_("Mean"), N_("Total divided by calls"), 7, nino_format_ns },
    { "min_ns", N_("Min"), N_("Shortest call"), 7, nino_format_ns },
    { "max_ns", N_("Max"), N_("Longest call"), 7, nino_format_ns },
    { "sigma_ns", "σ", N_("Standard deviation of the calls"), 7, nino_format_ns },
    // xgettext:no-c-format
    { "p50_ns", "p50", N_("Half of the calls are shorter (within 2 %)"), 7, nino_format_ns },
    // xgettext:no-c-format
    { "p95_ns", "p95", N_("95 % of the calls are shorter (within 2 %)"), 7, nino_format_ns },
    { "gflops", "GFLOP/s", N_("Arithmetic of the op table divided by total time"), 7, NULL },
    { "gbps", "GB/s", N_("Bytes the op must move at least, divided by total time"), 7, NULL },
    // xgettext:no-c-format
    { "peak_share", N_("% of peak"),
      N_("Larger share of the ceilings of this device, arithmetic and bandwidth: as measured "
         "(ninodes devices --measure), else those of its profile"),
      7, nino_format_share },
};

#define NINO_TYPE_KERNEL_ROW (nino_kernel_row_get_type())
G_DECLARE_FINAL_TYPE(NinoKernelRow, nino_kernel_row, NINO, KERNEL_ROW, GObject)

struct _NinoKernelRow {
    GObject parent;
    char *name, *family;
    double value[N_COLUMNS];
    gboolean is_seen; // in this update
};

G_DEFINE_TYPE(NinoKernelRow, nino_kernel_row, G_TYPE_OBJECT)

static guint row_changed;

static void row_finalize(GObject *o)
{
    g_free(NINO_KERNEL_ROW(o)->name);
    g_free(NINO_KERNEL_ROW(o)->family);
    G_OBJECT_CLASS(nino_kernel_row_parent_class)->finalize(o);
}

static void nino_kernel_row_class_init(NinoKernelRowClass *klass)
{
    G_OBJECT_CLASS(klass)->finalize = row_finalize;
    row_changed = g_signal_new("changed", NINO_TYPE_KERNEL_ROW, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                               NULL, G_TYPE_NONE, 0);
}

static void nino_kernel_row_init(NinoKernelRow *r) { (void) r; }

static void format_cell(const NinoKernelRow *r, int column, char *buf, size_t size)
{
    const double v = r->value[column];
    if (column == COL_NAME || column == COL_FAMILY)
        g_strlcpy(buf, column == COL_NAME ? r->name : r->family, size);
    else if (columns[column].format)
        columns[column].format(buf, size, v);
    else if (v > 0)
        g_snprintf(buf, size, v < 100 ? "%.1f" : "%.0f", v);
    else
        g_strlcpy(buf, "–", size);
}

// ---- the table ---------------------------------------------------------------------------------

typedef struct Table {
    NinoRun *run; // the widget holds it
    GtkWidget *box, *view, *search, *by_shape, *count;
    GListStore *rows;
    GHashTable *by_name; // "name\nfamily" -> NinoKernelRow
    GtkSortListModel *sorted;
    GtkFilter *filter;
    GtkSingleSelection *selection;
    nino_op_stat *ops;
    gint64 updated;
    guint later;
    gboolean selecting; // by us
} Table;

static NinoKernelRow *row_of(Table *t, const nino_op_stat *o)
{
    g_autofree char *key = g_strconcat(o->name, "\n", o->family, NULL);
    NinoKernelRow *r = g_hash_table_lookup(t->by_name, key);
    if (r)
        return r;
    r = g_object_new(NINO_TYPE_KERNEL_ROW, NULL);
    r->name = g_strdup(o->name);
    r->family = g_strdup(o->family);
    g_hash_table_insert(t->by_name, g_steal_pointer(&key), r); // the list owns it
    g_list_store_append(t->rows, r);
    g_object_unref(r);
    return r;
}

static gboolean is_same(const double *a, const double *b)
{
    for (int c = 0; c < N_COLUMNS; c++)
        if (a[c] != b[c] && !(isnan(a[c]) && isnan(b[c])))
            return FALSE;
    return TRUE;
}

// The kernel of a row: its name, or what is before the shape.
static uint32_t kernel_of(Table *t, const NinoKernelRow *r)
{
    const nino_history *h = nino_run_history(t->run);
    const char *end = strrchr(r->name, ' ');
    const uint32_t id = nino_history_find(h, r->name);
    if (id || !end)
        return id;
    g_autofree char *name = g_strndup(r->name, (gsize) (end - r->name));
    return nino_history_find(h, name);
}

static void set_values(Table *t, NinoKernelRow *r, const nino_op_stat *o, double all_ns)
{
    nino_history *h = nino_run_history(t->run);
    const unsigned bits = nino_history_bits(h, kernel_of(t, r));
    const double v[N_COLUMNS] = {
        [COL_CALLS] = (double) o->calls,
        [COL_TOTAL] = (double) o->total_ns,
        [COL_SHARE] = all_ns > 0 ? (double) o->total_ns / all_ns : 0,
        [COL_MEAN] = o->mean_ns,
        [COL_MIN] = (double) o->min_ns,
        [COL_MAX] = (double) o->max_ns,
        [COL_SIGMA] = o->sigma_ns,
        [COL_P50] = o->p50_ns,
        [COL_P95] = o->p95_ns,
        [COL_GFLOPS] = o->gflops,
        [COL_GBPS] = o->gbps,
        [COL_PEAK] = nino_run_peak_share(t->run, o->gflops, o->gbps, bits),
    };
    r->is_seen = TRUE;
    if (is_same(v, r->value))
        return;
    memcpy(r->value, v, sizeof(v));
    g_signal_emit(r, row_changed, 0);
}

// Rows of kernels that do not occur in the range go.
static void remove_unseen(Table *t)
{
    for (guint i = g_list_model_get_n_items(G_LIST_MODEL(t->rows)); i-- > 0;) {
        g_autoptr(NinoKernelRow) r = g_list_model_get_item(G_LIST_MODEL(t->rows), i);
        if (r->is_seen) {
            r->is_seen = FALSE;
            continue;
        }
        g_autofree char *key = g_strconcat(r->name, "\n", r->family, NULL);
        g_hash_table_remove(t->by_name, key);
        g_list_store_remove(t->rows, i);
    }
}

static gboolean is_by_shape(const Table *t)
{
    return gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(t->by_shape));
}

static void show_count(Table *t, size_t n, double all_ns)
{
    char time[48], text[96];
    guint64 t0, t1;
    nino_format_ns(time, sizeof(time), all_ns);
    g_snprintf(text, sizeof(text),
               is_by_shape(t)
                   ? ngettext("%zu shape of kernels, %s%s", "%zu shapes of kernels, %s%s", n)
                   : ngettext("%zu kernel, %s%s", "%zu kernels, %s%s", n),
               n, time, nino_run_range(t->run, &t0, &t1) ? _(" in the selected range") : "");
    if (g_strcmp0(gtk_label_get_text(GTK_LABEL(t->count)), text) != 0)
        gtk_label_set_text(GTK_LABEL(t->count), text);
}

// The list holds on to the row it shows first; who looks at the top wants to see the new top.
static void stay_at_top(Table *t, gboolean was_at_top)
{
    if (was_at_top && g_list_model_get_n_items(G_LIST_MODEL(t->selection)))
        gtk_widget_activate_action(gtk_widget_get_last_child(t->view), "list.scroll-to-item", "u",
                                   0u);
}

static gboolean is_at_top(const Table *t)
{
    GtkAdjustment *v = gtk_scrollable_get_vadjustment(GTK_SCROLLABLE(t->view));
    return !v || gtk_adjustment_get_value(v) < 1;
}

static void fill(Table *t)
{
    guint64 t0, t1;
    nino_run_range(t->run, &t0, &t1);
    nino_stats *own =
        is_by_shape(t) ? nino_history_shape_stats(nino_run_history(t->run), t0, t1) : NULL;
    const nino_stats *s = is_by_shape(t) ? own : nino_run_stats(t->run);
    if (!s)
        return;
    const size_t n = MIN(nino_stats_ops(s, t->ops, MAX_OPS), MAX_OPS);
    double all = 0;
    for (size_t i = 0; i < n; i++)
        all += (double) t->ops[i].total_ns;
    t->selecting = TRUE;
    const gboolean was_at_top = is_at_top(t);
    for (size_t i = 0; i < n; i++)
        set_values(t, row_of(t, &t->ops[i]), &t->ops[i], all);
    remove_unseen(t);
    gtk_sorter_changed(gtk_sort_list_model_get_sorter(t->sorted), GTK_SORTER_CHANGE_DIFFERENT);
    stay_at_top(t, was_at_top);
    t->selecting = FALSE;
    nino_stats_destroy(&own);
    show_count(t, n, all);
}

// Now; what was to come later is part of it.
static void update(GtkWidget *box)
{
    Table *t = g_object_get_data(G_OBJECT(box), "table");
    g_clear_handle_id(&t->later, g_source_remove);
    if (gtk_widget_get_mapped(t->box)) {
        nino_run_draw_begin(t->run);
        fill(t);
        nino_run_draw_end(t->run);
        t->updated = g_get_monotonic_time();
    }
}

static gboolean on_later(gpointer box)
{
    Table *t = g_object_get_data(G_OBJECT(box), "table");
    t->later = 0; // this source ends by itself
    update(box);
    return G_SOURCE_REMOVE;
}

static void on_changed(GtkWidget *box)
{
    Table *t = g_object_get_data(G_OBJECT(box), "table");
    const gint64 since = (g_get_monotonic_time() - t->updated) / 1000;
    if (!nino_run_is_live(t->run) || since >= UPDATE_MS)
        update(box);
    else if (!t->later)
        t->later = g_timeout_add((guint) (UPDATE_MS - since), on_later, box);
}

// ---- selection ---------------------------------------------------------------------------------

static void on_selected(Table *t)
{
    NinoKernelRow *r = gtk_single_selection_get_selected_item(t->selection);
    if (!t->selecting && r)
        nino_run_set_kernel(t->run, kernel_of(t, r));
}

// The kernel was chosen elsewhere.
static void on_kernel(GtkWidget *box)
{
    Table *t = g_object_get_data(G_OBJECT(box), "table");
    const uint32_t kernel = nino_run_kernel(t->run);
    NinoKernelRow *now = gtk_single_selection_get_selected_item(t->selection);
    if (now && kernel && kernel_of(t, now) == kernel)
        return; // the one of its shapes that was chosen here
    const guint n = g_list_model_get_n_items(G_LIST_MODEL(t->selection));
    guint at = GTK_INVALID_LIST_POSITION;
    for (guint i = 0; i < n && at == GTK_INVALID_LIST_POSITION; i++) {
        g_autoptr(NinoKernelRow) r = g_list_model_get_item(G_LIST_MODEL(t->selection), i);
        if (kernel && kernel_of(t, r) == kernel)
            at = i;
    }
    t->selecting = TRUE;
    gtk_single_selection_set_selected(t->selection, at);
    t->selecting = FALSE;
}

// The longest call of the row, among the longest ones of its kernel.
static gboolean longest_of(Table *t, const NinoKernelRow *r, nino_event *out)
{
    nino_event call[64];
    guint64 t0, t1;
    nino_history *h = nino_run_history(t->run);
    const uint32_t kernel = kernel_of(t, r);
    const char *shape = r->name + strlen(nino_run_name(t->run, kernel));
    nino_run_range(t->run, &t0, &t1);
    const size_t n =
        MIN(nino_history_calls(h, kernel, t0, t1, call, G_N_ELEMENTS(call)), G_N_ELEMENTS(call));
    size_t i = 0;
    while (i < n && *shape && strcmp(nino_run_name(t->run, call[i].u.kernel.shape), shape + 1) != 0)
        i++;
    if (n)
        *out = call[i < n ? i : 0];
    return n > 0;
}

// A double click shows the longest call in the timeline.
static void on_activate(GtkColumnView *view, guint position, Table *t)
{
    (void) view;
    g_autoptr(NinoKernelRow) r = g_list_model_get_item(G_LIST_MODEL(t->selection), position);
    nino_event call;
    if (r && longest_of(t, r, &call))
        nino_run_show(t->run, &call);
}

// ---- columns -----------------------------------------------------------------------------------

static void refresh_label(NinoKernelRow *r, GtkLabel *label)
{
    char text[128];
    format_cell(r, GPOINTER_TO_INT(g_object_get_data(G_OBJECT(label), "column")), text,
                sizeof(text));
    if (g_strcmp0(gtk_label_get_text(label), text) != 0)
        gtk_label_set_text(label, text);
}

static void on_setup(GtkSignalListItemFactory *f, GtkListItem *item, gpointer column)
{
    (void) f;
    const int c = GPOINTER_TO_INT(column);
    GtkWidget *label = gtk_label_new(NULL);
    gtk_label_set_xalign(GTK_LABEL(label), c <= COL_FAMILY ? 0 : 1);
    gtk_label_set_width_chars(GTK_LABEL(label), columns[c].chars);
    if (c <= COL_FAMILY)
        gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    else
        gtk_widget_add_css_class(label, "numeric");
    g_object_set_data(G_OBJECT(label), "column", column);
    gtk_list_item_set_child(item, label);
}

static void on_bind(GtkSignalListItemFactory *f, GtkListItem *item, gpointer column)
{
    (void) f, (void) column;
    NinoKernelRow *r = gtk_list_item_get_item(item);
    GtkWidget *label = gtk_list_item_get_child(item);
    refresh_label(r, GTK_LABEL(label));
    g_signal_connect(r, "changed", G_CALLBACK(refresh_label), label);
}

static void on_unbind(GtkSignalListItemFactory *f, GtkListItem *item, gpointer column)
{
    (void) f, (void) column;
    g_signal_handlers_disconnect_by_func(gtk_list_item_get_item(item), G_CALLBACK(refresh_label),
                                         gtk_list_item_get_child(item));
}

static int compare(gconstpointer a, gconstpointer b, gpointer column)
{
    const NinoKernelRow *x = a, *y = b;
    const int c = GPOINTER_TO_INT(column);
    if (c == COL_NAME || c == COL_FAMILY)
        return strcmp(c == COL_NAME ? x->name : x->family, c == COL_NAME ? y->name : y->family);
    const double u = isnan(x->value[c]) ? -1 : x->value[c];
    const double v = isnan(y->value[c]) ? -1 : y->value[c];
    return u < v ? -1 : u > v;
}

static GtkColumnViewColumn *add_column(GtkColumnView *view, int c)
{
    GtkListItemFactory *f = gtk_signal_list_item_factory_new();
    g_signal_connect(f, "setup", G_CALLBACK(on_setup), GINT_TO_POINTER(c));
    g_signal_connect(f, "bind", G_CALLBACK(on_bind), GINT_TO_POINTER(c));
    g_signal_connect(f, "unbind", G_CALLBACK(on_unbind), GINT_TO_POINTER(c));
    GtkColumnViewColumn *col = gtk_column_view_column_new(_(columns[c].title), f);
    GtkSorter *sorter = GTK_SORTER(gtk_custom_sorter_new(compare, GINT_TO_POINTER(c), NULL));
    gtk_column_view_column_set_sorter(col, sorter);
    g_object_unref(sorter);
    gtk_column_view_column_set_resizable(col, TRUE);
    gtk_column_view_column_set_expand(col, c == COL_NAME);
    gtk_column_view_append_column(view, col);
    g_object_unref(col);
    return col;
}

// Headers have no tooltips of their own in this GTK: their widgets are the children of the first
// one.
static void explain_columns(GtkColumnView *view)
{
    GtkWidget *title = gtk_widget_get_first_child(gtk_widget_get_first_child(GTK_WIDGET(view)));
    for (int c = 0; c < N_COLUMNS && title; c++) {
        gtk_widget_set_tooltip_text(title, _(columns[c].tip));
        title = gtk_widget_get_next_sibling(title);
    }
}

static gboolean matches(gpointer item, gpointer table)
{
    const Table *t = table;
    const NinoKernelRow *r = item;
    const char *text = gtk_editable_get_text(GTK_EDITABLE(t->search));
    return !*text || strcasestr(r->name, text) || strcasestr(r->family, text);
}

static void on_search(Table *t) { gtk_filter_changed(t->filter, GTK_FILTER_CHANGE_DIFFERENT); }

static void export_rows(GtkWidget *view, NinoRowFn row, gpointer user)
{
    Table *t = g_object_get_data(G_OBJECT(view), "table");
    const guint n = g_list_model_get_n_items(G_LIST_MODEL(t->selection));
    for (guint i = 0; i < n; i++) {
        g_autoptr(NinoKernelRow) r = g_list_model_get_item(G_LIST_MODEL(t->selection), i);
        NinoCell cells[N_COLUMNS];
        for (int c = 0; c < N_COLUMNS; c++)
            cells[c] = (NinoCell){ columns[c].id, NULL, r->value[c] };
        cells[COL_NAME].text = r->name;
        cells[COL_FAMILY].text = r->family;
        row(user, cells, N_COLUMNS);
    }
}

// ---- widget ------------------------------------------------------------------------------------

static void table_free(gpointer data)
{
    Table *t = data;
    g_clear_handle_id(&t->later, g_source_remove);
    g_clear_object(&t->rows);
    g_hash_table_unref(t->by_name);
    g_clear_object(&t->run);
    g_free(t->ops);
    g_free(t);
}

static void make_model(Table *t)
{
    t->view = gtk_column_view_new(NULL);
    GtkColumnView *view = GTK_COLUMN_VIEW(t->view);
    GtkColumnViewColumn *total = NULL;
    for (int c = 0; c < N_COLUMNS; c++) {
        GtkColumnViewColumn *col = add_column(view, c);
        total = c == COL_TOTAL ? col : total;
    }
    explain_columns(view);
    t->filter = GTK_FILTER(gtk_custom_filter_new(matches, t, NULL));
    GtkFilterListModel *filtered =
        gtk_filter_list_model_new(G_LIST_MODEL(g_object_ref(t->rows)), t->filter);
    t->sorted = gtk_sort_list_model_new(G_LIST_MODEL(filtered),
                                        g_object_ref(gtk_column_view_get_sorter(view)));
    t->selection = gtk_single_selection_new(G_LIST_MODEL(t->sorted));
    gtk_single_selection_set_autoselect(t->selection, FALSE);
    gtk_single_selection_set_can_unselect(t->selection, TRUE);
    gtk_column_view_set_model(view, GTK_SELECTION_MODEL(t->selection));
    g_object_unref(t->selection);
    gtk_column_view_sort_by_column(view, total, GTK_SORT_DESCENDING);
    gtk_column_view_set_show_row_separators(view, TRUE);
    gtk_widget_add_css_class(t->view, "data-table");
    gtk_accessible_update_property(GTK_ACCESSIBLE(t->view), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Kernels"), -1);
    g_signal_connect_swapped(t->selection, "notify::selected", G_CALLBACK(on_selected), t);
    g_signal_connect(t->view, "activate", G_CALLBACK(on_activate), t);
}

static void connect(Table *t, NinoRun *run)
{
    g_signal_connect_object(run, "changed", G_CALLBACK(on_changed), t->box, G_CONNECT_SWAPPED);
    g_signal_connect_object(run, "range", G_CALLBACK(update), t->box, G_CONNECT_SWAPPED);
    g_signal_connect_object(run, "kernel", G_CALLBACK(on_kernel), t->box, G_CONNECT_SWAPPED);
    g_signal_connect(t->box, "map", G_CALLBACK(update), NULL);
    g_signal_connect_swapped(t->by_shape, "toggled", G_CALLBACK(update), t->box);
    g_signal_connect_swapped(t->search, "search-changed", G_CALLBACK(on_search), t);
}

GtkWidget *nino_kernel_table_new(NinoRun *run)
{
    static const NinoViewExport x = { .rows = export_rows };
    Table *t = g_new0(Table, 1);
    t->run = g_object_ref(run);
    t->ops = g_new(nino_op_stat, MAX_OPS);
    t->rows = g_list_store_new(NINO_TYPE_KERNEL_ROW);
    t->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    t->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    t->search = gtk_search_entry_new();
    g_object_set(t->search, "placeholder-text", _("Filter kernels"), NULL);
    gtk_widget_set_tooltip_text(t->search,
                                _("Shows kernels and families whose name has this text"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(t->search), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Filter kernels"), -1);
    t->by_shape = gtk_toggle_button_new_with_label(_("By shape"));
    gtk_widget_set_tooltip_text(
        t->by_shape,
        _("A row for every shape that a kernel ran with: its work size follows from it"));
    t->count = gtk_label_new("");
    gtk_widget_add_css_class(t->count, "dim-label");
    GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    gtk_widget_set_margin_start(bar, 6);
    gtk_widget_set_margin_top(bar, 6);
    gtk_widget_set_margin_bottom(bar, 6);
    gtk_box_append(GTK_BOX(bar), t->search);
    gtk_box_append(GTK_BOX(bar), t->by_shape);
    gtk_box_append(GTK_BOX(bar), t->count);
    make_model(t);
    GtkWidget *scroll = gtk_scrolled_window_new();
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), t->view);
    gtk_widget_set_vexpand(scroll, TRUE);
    gtk_box_append(GTK_BOX(t->box), bar);
    gtk_box_append(GTK_BOX(t->box), scroll);
    g_object_set_data_full(G_OBJECT(t->box), "table", t, table_free);
    connect(t, run);
    nino_view_set_export(t->box, &x);
    return t->box;
}
