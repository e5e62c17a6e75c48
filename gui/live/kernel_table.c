// The kernel table: what every kernel cost in the selected range, sortable by each figure, filtered
// by text; a row for each kernel, or for each shape or work size that it ran with. Rows are kept
// and change in place twice a second.
#include "plot/view.h"

#include "base/empty.h"
#include "base/i18n.h"
#include "base/scroller.h"
#include "base/tick.h"
#include "live/kernel_row.h"
#include "plot/pick_menu.h"
#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_OPS = 4096, UPDATE_MS = 500 };

// ---- the table ---------------------------------------------------------------------------------

typedef struct Table {
    NinoRun *run; // the widget holds it
    GtkWidget *box, *view, *search, *by_shape, *by_work, *page, *count;
    GtkColumnViewColumn *sizes[2]; // global, local
    GListStore *rows;
    GHashTable *by_name; // "op\nfamily" -> NinoKernelRow
    GtkSortListModel *sorted;
    GtkFilter *filter;
    GtkSingleSelection *selection;
    nino_op_stat *ops;
    gint64 updated;
    guint later;
    gboolean selecting; // by us
} Table;

static gboolean is_by(GtkWidget *toggle)
{
    return gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(toggle));
}

static NinoKernelRow *kernel_table_row_of(Table *t, const nino_op_stat *o)
{
    g_autofree char *key = g_strconcat(o->name, "\n", o->family, NULL);
    NinoKernelRow *r = g_hash_table_lookup(t->by_name, key);
    if (r)
        return r;
    r = nino_kernel_row_new(o, is_by(t->by_work));
    g_hash_table_insert(t->by_name, g_steal_pointer(&key), r); // the list owns it
    g_list_store_append(t->rows, r);
    g_object_unref(r);
    return r;
}

static void set_values(Table *t, NinoKernelRow *r, const nino_op_stat *o, double all_ns)
{
    nino_history *h = nino_run_history(t->run);
    const unsigned bits = nino_history_bits(h, nino_kernel_row_kernel(r, t->run));
    const double v[NINO_KERNEL_COLUMNS] = {
        [NINO_KERNEL_CALLS] = (double) o->calls,
        [NINO_KERNEL_TOTAL] = (double) o->total_ns,
        [NINO_KERNEL_SHARE] = all_ns > 0 ? (double) o->total_ns / all_ns : 0,
        [NINO_KERNEL_MEAN] = o->mean_ns,
        [NINO_KERNEL_MIN] = (double) o->min_ns,
        [NINO_KERNEL_MAX] = (double) o->max_ns,
        [NINO_KERNEL_SIGMA] = o->calls > 1 ? o->sigma_ns : NAN, // of one there is none
        [NINO_KERNEL_P50] = o->p50_ns,
        [NINO_KERNEL_P95] = o->p95_ns,
        [NINO_KERNEL_GFLOPS] = o->gflops,
        [NINO_KERNEL_GBPS] = o->gbps,
        [NINO_KERNEL_PEAK] =
            nino_run_peak_share(t->run, o->flops / (double) o->calls, o->bytes / (double) o->calls,
                                o->mean_ns * 1e-9, bits),
    };
    r->is_seen = TRUE;
    nino_kernel_row_set(r, v);
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
        g_autofree char *key = g_strconcat(r->op, "\n", r->text[NINO_KERNEL_FAMILY], NULL);
        g_hash_table_remove(t->by_name, key);
        g_list_store_remove(t->rows, i);
    }
}

static void show_count(Table *t, size_t n, double all_ns)
{
    char time[48], text[128];
    guint64 t0, t1;
    nino_format_ns(time, sizeof(time), all_ns);
    const char *range = nino_run_range(t->run, &t0, &t1) ? _(" in the selected range") : "";
    g_snprintf(text, sizeof(text),
               is_by(t->by_shape)
                   ? ngettext("%zu shape of kernels, %s%s", "%zu shapes of kernels, %s%s", n)
               : is_by(t->by_work) ? ngettext("%zu work size of kernels, %s%s",
                                              "%zu work sizes of kernels, %s%s", n)
                                   : ngettext("%zu kernel, %s%s", "%zu kernels, %s%s", n),
               n, time, range);
    if (all_ns == 0) // nothing ran
        text[0] = 0;
    if (g_strcmp0(gtk_label_get_text(GTK_LABEL(t->count)), text) != 0)
        gtk_label_set_text(GTK_LABEL(t->count), text);
    gtk_widget_set_tooltip_text(t->count, text);
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

static void kernel_table_fill(Table *t)
{
    guint64 t0, t1;
    nino_history *h = nino_run_history(t->run);
    const gboolean is_by_shape = is_by(t->by_shape), is_by_work = is_by(t->by_work);
    nino_run_range(t->run, &t0, &t1);
    nino_stats *own = is_by_shape  ? nino_history_shape_stats(h, t0, t1)
                      : is_by_work ? nino_history_work_stats(h, t0, t1)
                                   : NULL;
    const nino_stats *s = is_by_shape || is_by_work ? own : nino_run_stats(t->run);
    if (!s)
        return;
    const size_t n = MIN(nino_stats_ops(s, t->ops, MAX_OPS), MAX_OPS);
    double all = 0;
    for (size_t i = 0; i < n; i++)
        all += (double) t->ops[i].total_ns;
    t->selecting = TRUE;
    const gboolean was_at_top = is_at_top(t);
    for (size_t i = 0; i < n; i++)
        set_values(t, kernel_table_row_of(t, &t->ops[i]), &t->ops[i], all);
    remove_unseen(t);
    gtk_sorter_changed(gtk_sort_list_model_get_sorter(t->sorted), GTK_SORTER_CHANGE_DIFFERENT);
    stay_at_top(t, was_at_top);
    t->selecting = FALSE;
    nino_stats_destroy(&own);
    show_count(t, n, all);
}

// What can be done follows from the rows that there are, and from the chosen one.
static void kernel_table_offer(Table *t)
{
    const gboolean has_rows = g_list_model_get_n_items(G_LIST_MODEL(t->rows)) > 0;
    gtk_widget_set_sensitive(t->by_shape, has_rows || is_by(t->by_shape));
    gtk_widget_set_sensitive(t->by_work, has_rows || is_by(t->by_work));
    gtk_widget_set_sensitive(t->page, gtk_single_selection_get_selected_item(t->selection) != NULL);
}

// Now; what was to come later is part of it.
static void kernel_table_update(GtkWidget *box)
{
    Table *t = g_object_get_data(G_OBJECT(box), "table");
    g_clear_handle_id(&t->later, g_source_remove);
    if (gtk_widget_get_mapped(t->box)) {
        nino_run_draw_begin(t->run);
        kernel_table_fill(t);
        kernel_table_offer(t);
        nino_run_draw_end(t->run);
        t->updated = g_get_monotonic_time();
    }
}

static gboolean on_later(gpointer box)
{
    Table *t = g_object_get_data(G_OBJECT(box), "table");
    t->later = 0; // this source ends by itself
    kernel_table_update(box);
    return G_SOURCE_REMOVE;
}

static void on_kernel_table_changed(GtkWidget *box)
{
    Table *t = g_object_get_data(G_OBJECT(box), "table");
    const gint64 since = (g_get_monotonic_time() - t->updated) / 1000;
    if (!nino_run_is_live(t->run) || since >= UPDATE_MS)
        kernel_table_update(box);
    else if (!t->later)
        t->later = nino_tick_add((guint) (UPDATE_MS - since), on_later, box);
}

// ---- selection ---------------------------------------------------------------------------------

static void on_selected(Table *t)
{
    NinoKernelRow *r = gtk_single_selection_get_selected_item(t->selection);
    kernel_table_offer(t);
    if (!t->selecting && r)
        nino_run_set_kernel(t->run, nino_kernel_row_kernel(r, t->run));
}

// The kernel was chosen elsewhere.
static void on_kernel(GtkWidget *box)
{
    Table *t = g_object_get_data(G_OBJECT(box), "table");
    const uint32_t kernel = nino_run_kernel(t->run);
    NinoKernelRow *now = gtk_single_selection_get_selected_item(t->selection);
    if (now && kernel && nino_kernel_row_kernel(now, t->run) == kernel)
        return; // the one of its shapes that was chosen here
    const guint n = g_list_model_get_n_items(G_LIST_MODEL(t->selection));
    guint at = GTK_INVALID_LIST_POSITION;
    for (guint i = 0; i < n && at == GTK_INVALID_LIST_POSITION; i++) {
        g_autoptr(NinoKernelRow) r = g_list_model_get_item(G_LIST_MODEL(t->selection), i);
        if (kernel && nino_kernel_row_kernel(r, t->run) == kernel)
            at = i;
    }
    t->selecting = TRUE;
    gtk_single_selection_set_selected(t->selection, at);
    t->selecting = FALSE;
}

// A double click shows the longest call in the timeline.
static void on_kernel_table_activate(GtkColumnView *view, guint position, Table *t)
{
    (void) view;
    g_autoptr(NinoKernelRow) r = g_list_model_get_item(G_LIST_MODEL(t->selection), position);
    nino_event call;
    if (r && nino_kernel_row_longest(r, t->run, &call))
        nino_run_show(t->run, &call);
}

// ---- menu --------------------------------------------------------------------------------------

static gboolean kernel_table_menu(GtkWidget *view, double *x, double *y, GMenu *more, gpointer user)
{
    Table *t = user;
    const NinoKernelRow *r =
        nino_pick_row_at(view, x, y, gtk_single_selection_get_selected_item(t->selection));
    g_autoptr(GMenu) own = g_menu_new();
    if (!r)
        return FALSE;
    nino_pick_select(t->selection, r);
    nino_run_pick_kernel(t->run, nino_kernel_row_kernel(r, t->run));
    g_menu_append(own, _("Filter the table by its name"), "kernels.filter");
    g_menu_append_section(more, NULL, G_MENU_MODEL(own));
    return TRUE;
}

static void menu_filter(GSimpleAction *a, GVariant *parameter, gpointer box)
{
    (void) a, (void) parameter;
    const Table *t = g_object_get_data(box, "table");
    gtk_editable_set_text(GTK_EDITABLE(t->search), nino_run_name(t->run, nino_run_kernel(t->run)));
}

static void add_menu(Table *t)
{
    static const GActionEntry actions[] = { { .name = "filter", .activate = menu_filter } };
    g_autoptr(GSimpleActionGroup) group = g_simple_action_group_new();
    g_action_map_add_action_entries(G_ACTION_MAP(group), actions, G_N_ELEMENTS(actions), t->box);
    gtk_widget_insert_action_group(t->box, "kernels", G_ACTION_GROUP(group));
    nino_pick_menu_add(t->view, t->run, kernel_table_menu, t);
}

// ---- filter, export ----------------------------------------------------------------------------

static gboolean kernel_table_matches(gpointer item, gpointer table)
{
    const Table *t = table;
    return nino_kernel_row_matches(item, gtk_editable_get_text(GTK_EDITABLE(t->search)));
}

static void on_kernel_table_search(Table *t)
{
    gtk_filter_changed(t->filter, GTK_FILTER_CHANGE_DIFFERENT);
}

static void kernel_table_export_rows(GtkWidget *view, NinoRowFn row, gpointer user)
{
    Table *t = g_object_get_data(G_OBJECT(view), "table");
    const guint n = g_list_model_get_n_items(G_LIST_MODEL(t->selection));
    for (guint i = 0; i < n; i++) {
        g_autoptr(NinoKernelRow) r = g_list_model_get_item(G_LIST_MODEL(t->selection), i);
        NinoCell cells[NINO_KERNEL_COLUMNS + 1];
        for (int c = 0; c < NINO_KERNEL_COLUMNS; c++)
            cells[c] = nino_kernel_row_cell(r, c);
        cells[NINO_KERNEL_COLUMNS] = (NinoCell){ "peak_of", nino_run_peak_of(t->run), 0 };
        row(user, cells, G_N_ELEMENTS(cells));
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

// Only where rows are told apart by them.
static void show_sizes(Table *t)
{
    for (int i = 0; i < 2; i++)
        gtk_column_view_column_set_visible(t->sizes[i], is_by(t->by_work));
}

// One of the two at most.
static void on_toggled(GtkWidget *toggle, Table *t)
{
    GtkWidget *other = toggle == t->by_shape ? t->by_work : t->by_shape;
    if (is_by(toggle) && is_by(other)) {
        gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(other), FALSE); // comes back here
        return;
    }
    show_sizes(t);
    kernel_table_update(t->box);
}

static void make_model(Table *t)
{
    t->view = gtk_column_view_new(NULL);
    GtkColumnView *view = GTK_COLUMN_VIEW(t->view);
    GtkColumnViewColumn *col[NINO_KERNEL_COLUMNS];
    for (int c = 0; c < NINO_KERNEL_COLUMNS; c++)
        col[c] = nino_kernel_row_add_column(view, c);
    t->sizes[0] = col[NINO_KERNEL_GLOBAL];
    t->sizes[1] = col[NINO_KERNEL_LOCAL];
    show_sizes(t);
    nino_kernel_row_explain(view);
    t->filter = GTK_FILTER(gtk_custom_filter_new(kernel_table_matches, t, NULL));
    GtkFilterListModel *filtered =
        gtk_filter_list_model_new(G_LIST_MODEL(g_object_ref(t->rows)), t->filter);
    t->sorted = gtk_sort_list_model_new(G_LIST_MODEL(filtered),
                                        g_object_ref(gtk_column_view_get_sorter(view)));
    t->selection = gtk_single_selection_new(G_LIST_MODEL(t->sorted));
    gtk_single_selection_set_autoselect(t->selection, FALSE);
    gtk_single_selection_set_can_unselect(t->selection, TRUE);
    gtk_column_view_set_model(view, GTK_SELECTION_MODEL(t->selection));
    g_object_unref(t->selection);
    gtk_column_view_sort_by_column(view, col[NINO_KERNEL_TOTAL], GTK_SORT_DESCENDING);
    gtk_column_view_set_show_row_separators(view, TRUE);
    gtk_widget_add_css_class(t->view, "data-table");
    gtk_accessible_update_property(GTK_ACCESSIBLE(t->view), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Kernels"), -1);
    g_signal_connect_swapped(t->selection, "notify::selected", G_CALLBACK(on_selected), t);
    g_signal_connect(t->view, "activate", G_CALLBACK(on_kernel_table_activate), t);
}

static void connect(Table *t, NinoRun *run)
{
    g_signal_connect_object(run, "changed", G_CALLBACK(on_kernel_table_changed), t->box,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(run, "range", G_CALLBACK(kernel_table_update), t->box,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(run, "kernel", G_CALLBACK(on_kernel), t->box, G_CONNECT_SWAPPED);
    g_signal_connect(t->box, "map", G_CALLBACK(kernel_table_update), NULL);
    g_signal_connect(t->by_shape, "toggled", G_CALLBACK(on_toggled), t);
    g_signal_connect(t->by_work, "toggled", G_CALLBACK(on_toggled), t);
    g_signal_connect_swapped(t->search, "search-changed", G_CALLBACK(on_kernel_table_search), t);
}

// Not as the action of the button, which would make it one that can be pressed.
static void on_kernel_table_page(GtkWidget *button)
{
    gtk_widget_activate_action(button, "win.view", "s", "kernel");
}

static GtkWidget *kernel_table_make_bar(Table *t)
{
    GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_M);
    t->search = gtk_search_entry_new();
    g_object_set(t->search, "placeholder-text", _("Filter kernels"), NULL);
    gtk_widget_set_tooltip_text(
        t->search, _("Shows what has this text in its kernel, its family or its work size"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(t->search), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Filter kernels"), -1);
    t->by_shape = gtk_toggle_button_new_with_label(_("By shape"));
    gtk_widget_set_tooltip_text(t->by_shape, _("A row for every shape that a kernel made"));
    t->by_work = gtk_toggle_button_new_with_label(_("By work size"));
    gtk_widget_set_tooltip_text(
        t->by_work,
        _("A row for every global and local size that a kernel was launched with; traces of "
          "versions that did not record them have one row a kernel"));
    t->count = gtk_label_new("");
    gtk_label_set_ellipsize(GTK_LABEL(t->count), PANGO_ELLIPSIZE_END);
    gtk_widget_add_css_class(t->count, "dim-label");
    gtk_widget_set_margin_start(bar, NINO_SPACE_S);
    gtk_widget_set_margin_top(bar, NINO_SPACE_S);
    gtk_widget_set_margin_bottom(bar, NINO_SPACE_S);
    gtk_box_append(GTK_BOX(bar), t->search);
    gtk_box_append(GTK_BOX(bar), t->by_shape);
    gtk_box_append(GTK_BOX(bar), t->by_work);
    GtkWidget *page = t->page = gtk_button_new_with_label(_("Look into it"));
    gtk_widget_set_tooltip_text(
        page, _("The chosen kernel by itself: its peers, source, machine code, and a replay"));
    g_signal_connect(page, "clicked", G_CALLBACK(on_kernel_table_page), NULL);
    gtk_box_append(GTK_BOX(bar), page);
    gtk_box_append(GTK_BOX(bar), nino_pick_menu_button(t->run, _("Menu of the chosen kernel")));
    gtk_box_append(GTK_BOX(bar), t->count);
    return bar;
}

static GtkWidget *with_empty(Table *t, GtkWidget *list)
{
    GtkWidget *empty = nino_empty_new(&nino_empty_no_run);
    nino_empty_say(empty, &nino_empty_no_run,
                   _("Kernels and what they cost appear here while a workflow runs"));
    nino_empty_add_search(empty, GTK_EDITABLE(t->search), N_("No kernel is called so"));
    return nino_empty_or_rows(empty, list, G_LIST_MODEL(t->selection));
}

static GtkWidget *new_kernel_table(NinoRun *run)
{
    static const NinoViewExport x = { .rows = kernel_table_export_rows };
    Table *t = g_new0(Table, 1);
    t->run = g_object_ref(run);
    t->ops = g_new(nino_op_stat, MAX_OPS);
    t->rows = g_list_store_new(NINO_TYPE_KERNEL_ROW);
    t->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    t->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_box_append(GTK_BOX(t->box), kernel_table_make_bar(t));
    make_model(t);
    GtkWidget *scroll = nino_scroller_new(t->view);
    gtk_widget_set_vexpand(scroll, TRUE);
    gtk_box_append(GTK_BOX(t->box), with_empty(t, scroll));
    g_object_set_data_full(G_OBJECT(t->box), "table", t, table_free);
    connect(t, run);
    kernel_table_offer(t);
    add_menu(t);
    nino_view_set_export(t->box, &x);
    return t->box;
}

// "s" and "w": by shape, by work size; then the filter.
static char *kernel_table_save(GtkWidget *view)
{
    const Table *t = g_object_get_data(G_OBJECT(view), "table");
    return g_strdup_printf("%s:%s",
                           is_by(t->by_shape)  ? "s"
                           : is_by(t->by_work) ? "w"
                                               : "",
                           gtk_editable_get_text(GTK_EDITABLE(t->search)));
}

static void kernel_table_restore(GtkWidget *view, const char *text)
{
    const Table *t = g_object_get_data(G_OBJECT(view), "table");
    const char *filter = strchr(text, ':');
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(t->by_shape), *text == 's');
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(t->by_work), *text == 'w');
    gtk_editable_set_text(GTK_EDITABLE(t->search), filter ? filter + 1 : "");
}

const NinoViewType nino_view_kernel_table = {
    .id = "kernels",
    .title = N_("Kernels"),
    .help = N_("What every kernel cost in the selected range"),
    .create = new_kernel_table,
    .save = kernel_table_save,
    .restore = kernel_table_restore,
};
