// The table of peers. Its rows are made anew when the range or the records change; what was chosen stays so.
#include "live/kernel_peers.h"

#include "base/empty.h"
#include "base/i18n.h"
#include "base/scroller.h"
#include "base/table.h"
#include "plot/pick_menu.h"
#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>

G_DEFINE_TYPE(NinoPeer, nino_peer, G_TYPE_OBJECT)

enum { MOST_CHARS = 32 };
enum { KERNEL, CALL, WORK, LAUNCHES, TOTAL, MEAN, SHARE, GFLOPS, GBPS, PEAK, COLUMNS };

static const struct {
    const char *id, *title, *tip;
    int chars;
} columns[COLUMNS] = {
    { "kernel", N_("Kernel"), N_("Name of the kernel"), 10 },
    { "call", N_("Op"), N_("The op that it was launched for: types, shapes, attributes"), 18 },
    { "global", N_("Work"), N_("Work-items of a launch, and of a work-group"), 11 },
    { "launches", N_("Calls"), N_("How often it was launched so in the range"), 5 },
    { "total_ns", N_("Total"), N_("Sum of the times on the device"), 6 },
    { "mean_ns", N_("Mean"), N_("Total divided by calls"), 6 },
    { "share", N_("Share"), N_("Of the time of all kernels and transfers in the range"), 6 },
    { "gflops", "GFLOP/s", N_("Arithmetic of the op table divided by total time"), 7 },
    { "gbps", "GB/s", N_("Bytes the op must move at least, divided by total time"), 5 },
    // xgettext:no-c-format
    { "peak_share", N_("% of bound"),
      N_("The time that arithmetic or memory would need at what this device can do, divided by the "
         "time it took"),
      7 },
};

static void peer_finalize(GObject *o)
{
    NinoPeer *p = NINO_PEER(o);
    g_free(p->kernel);
    g_free(p->shape);
    g_free(p->work);
    G_OBJECT_CLASS(nino_peer_parent_class)->finalize(o);
}

static void nino_peer_class_init(NinoPeerClass *klass)
{
    G_OBJECT_CLASS(klass)->finalize = peer_finalize;
}

static void nino_peer_init(NinoPeer *p) { (void) p; }

typedef struct Peers {
    NinoRun *run;
    GtkWidget *view;
    GListStore *rows;
    GtkSortListModel *sorted;
    GtkSingleSelection *selection;
    NinoPeerFn chosen;
    gpointer user;
    gboolean filling;
} Peers;

static void peers_free(gpointer data)
{
    Peers *p = data;
    g_object_unref(p->rows);
    g_object_unref(p->run);
    g_free(p);
}

// ---- cells -------------------------------------------------------------------------------------

static double value_of(const NinoPeer *p, int column)
{
    const double total = (double) p->stat.total_ns;
    switch (column) {
    case WORK: {
        nino_launch l;
        return nino_launch_read(&l, p->work) ? (double) l.global[0] * (double) l.global[1] : 0;
    }
    case LAUNCHES: return (double) p->stat.calls;
    case TOTAL: return total;
    case MEAN: return total / (double) MAX(p->stat.calls, 1);
    case SHARE: return p->share;
    case GFLOPS: return total > 0 ? p->stat.flops / total : 0;
    case GBPS: return total > 0 ? p->stat.bytes / total : 0;
    case PEAK: return p->peak;
    default: return 0;
    }
}

static const char *peer_text_of(const NinoPeer *p, int column)
{
    return column == KERNEL ? p->kernel
           : column == CALL ? (*p->told.call ? p->told.call : p->shape)
           : column == WORK ? p->work
                            : NULL;
}

static void format_peer(const NinoPeer *p, int column, char *buf, gsize size)
{
    const double v = value_of(p, column);
    if (peer_text_of(p, column))
        g_strlcpy(buf, *peer_text_of(p, column) ? peer_text_of(p, column) : "–", size);
    else if (column == LAUNCHES)
        nino_format_count(buf, size, v);
    else if (column == TOTAL || column == MEAN)
        nino_format_ns(buf, size, v);
    else if (column == SHARE || column == PEAK)
        nino_format_share(buf, size, v);
    else if (v > 0)
        g_snprintf(buf, size, v < 100 ? "%.1f" : "%.0f", v);
    else
        g_strlcpy(buf, "–", size);
}

static void on_peer_setup(GtkSignalListItemFactory *f, GtkListItem *item, gpointer column)
{
    (void) f;
    const int c = GPOINTER_TO_INT(column);
    GtkWidget *label = gtk_label_new(NULL);
    gtk_label_set_width_chars(GTK_LABEL(label), columns[c].chars);
    gtk_label_set_max_width_chars(GTK_LABEL(label), MOST_CHARS); // of texts, where there is room
    gtk_label_set_xalign(GTK_LABEL(label), c <= WORK ? 0 : 1);
    gtk_label_set_ellipsize(GTK_LABEL(label),
                            c <= WORK ? PANGO_ELLIPSIZE_END : PANGO_ELLIPSIZE_NONE);
    gtk_widget_add_css_class(label, "numeric");
    gtk_list_item_set_child(item, label);
}

static void on_peer_bind(GtkSignalListItemFactory *f, GtkListItem *item, gpointer column)
{
    (void) f;
    char text[NINO_KERNEL_CALL];
    const int c = GPOINTER_TO_INT(column);
    GtkWidget *label = gtk_list_item_get_child(item);
    format_peer(gtk_list_item_get_item(item), c, text, sizeof(text));
    gtk_label_set_text(GTK_LABEL(label), text);
    g_object_set_data(G_OBJECT(label), NINO_CELL_ITEM, gtk_list_item_get_item(item));
    if (c <= WORK)
        gtk_widget_set_tooltip_text(label, text);
}

static void on_peer_unbind(GtkSignalListItemFactory *f, GtkListItem *item, gpointer column)
{
    (void) f, (void) column;
    g_object_set_data(G_OBJECT(gtk_list_item_get_child(item)), NINO_CELL_ITEM, NULL);
}

static int compare_peers(gconstpointer a, gconstpointer b, gpointer column)
{
    const int c = GPOINTER_TO_INT(column);
    const NinoPeer *x = a, *y = b;
    if (c == KERNEL || c == CALL)
        return strcmp(peer_text_of(x, c), peer_text_of(y, c));
    const double u = value_of(x, c), v = value_of(y, c);
    const double s = isnan(u) ? -1 : u, t = isnan(v) ? -1 : v;
    return s < t ? -1 : s > t;
}

static GtkColumnViewColumn *add_column(GtkColumnView *view, int c)
{
    GtkListItemFactory *f = gtk_signal_list_item_factory_new();
    g_signal_connect(f, "setup", G_CALLBACK(on_peer_setup), GINT_TO_POINTER(c));
    g_signal_connect(f, "bind", G_CALLBACK(on_peer_bind), GINT_TO_POINTER(c));
    g_signal_connect(f, "unbind", G_CALLBACK(on_peer_unbind), NULL);
    GtkColumnViewColumn *col = gtk_column_view_column_new(_(columns[c].title), f);
    GtkSorter *sorter = GTK_SORTER(gtk_custom_sorter_new(compare_peers, GINT_TO_POINTER(c), NULL));
    gtk_column_view_column_set_sorter(col, sorter);
    g_object_unref(sorter);
    gtk_column_view_column_set_resizable(col, TRUE);
    gtk_column_view_column_set_expand(col, c == CALL);
    gtk_column_view_append_column(view, col);
    g_object_unref(col);
    return col;
}

// ---- rows --------------------------------------------------------------------------------------

static NinoPeer *make_peer(Peers *p, const nino_launch_stat *s, double all_ns)
{
    NinoPeer *r = g_object_new(NINO_TYPE_PEER, NULL);
    const char *launch = nino_run_name(p->run, s->launch);
    char global[NINO_WORK_TEXT], local[NINO_WORK_TEXT];
    const double calls = (double) s->calls;
    nino_launch l;
    nino_launch_read(&l, launch);
    r->stat = *s;
    nino_kernel_told_read(&r->told, launch);
    r->kernel = g_strdup(nino_run_name(p->run, s->kernel));
    r->shape = g_strdup(nino_run_name(p->run, s->shape));
    nino_work_text(global, l.global);
    nino_work_text(local, l.local);
    r->work = *global ? g_strconcat(global, "/", local, NULL) : g_strdup("");
    r->share = all_ns > 0 ? (double) s->total_ns / all_ns : NAN;
    r->peak = nino_run_peak_share(p->run, s->flops / calls, s->bytes / calls,
                                  (double) s->total_ns * 1e-9 / calls, s->bits);
    return r;
}

static gboolean is_same_peer(const nino_launch_stat *a, const nino_launch_stat *b)
{
    return a->kernel == b->kernel && a->launch == b->launch && a->shape == b->shape;
}

// The place of the row that was chosen, else of the kernel's longest.
static guint place_of(Peers *p, const nino_launch_stat *was, uint32_t kernel)
{
    guint at = GTK_INVALID_LIST_POSITION;
    guint64 longest = 0;
    const guint n = g_list_model_get_n_items(G_LIST_MODEL(p->selection));
    for (guint i = 0; i < n; i++) {
        g_autoptr(NinoPeer) r = g_list_model_get_item(G_LIST_MODEL(p->selection), i);
        if (was->kernel == kernel && is_same_peer(&r->stat, was))
            return i;
        if (r->stat.kernel == kernel &&
            (at == GTK_INVALID_LIST_POSITION || r->stat.total_ns > longest)) {
            at = i;
            longest = r->stat.total_ns;
        }
    }
    return at;
}

NinoPeer *nino_kernel_peers_fill(GtkWidget *peers, uint32_t kernel)
{
    Peers *p = g_object_get_data(G_OBJECT(peers), "peers");
    NinoPeer *now = gtk_single_selection_get_selected_item(p->selection);
    const nino_launch_stat was = now ? now->stat : (nino_launch_stat){ .kernel = 0 };
    guint64 t0, t1;
    size_t n = 0;
    nino_run_range(p->run, &t0, &t1);
    nino_launch_stat *list =
        kernel ? nino_history_launches(nino_run_history(p->run), t0, t1, &n) : NULL;
    const double all = nino_run_device_ns(p->run);
    int op = -1;
    for (size_t i = 0; i < n && op < 0; i++)
        if (list[i].kernel == kernel)
            op = list[i].op;
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_object_unref);
    for (size_t i = 0; i < n; i++)
        if (list[i].kernel == kernel || (op > 0 && list[i].op == op))
            g_ptr_array_add(rows, make_peer(p, &list[i], all));
    free(list);
    p->filling = TRUE;
    g_list_store_splice(p->rows, 0, g_list_model_get_n_items(G_LIST_MODEL(p->rows)), rows->pdata,
                        rows->len);
    gtk_single_selection_set_selected(p->selection, place_of(p, &was, kernel));
    p->filling = FALSE;
    return gtk_single_selection_get_selected_item(p->selection);
}

NinoPeer *nino_kernel_peers_chosen(GtkWidget *peers)
{
    const Peers *p = g_object_get_data(G_OBJECT(peers), "peers");
    return gtk_single_selection_get_selected_item(p->selection);
}

static void on_peer_selected(Peers *p)
{
    if (!p->filling)
        p->chosen(p->user, gtk_single_selection_get_selected_item(p->selection));
}

void nino_kernel_peers_export(GtkWidget *peers, NinoRowFn row, gpointer user)
{
    Peers *p = g_object_get_data(G_OBJECT(peers), "peers");
    const guint n = g_list_model_get_n_items(G_LIST_MODEL(p->selection));
    for (guint i = 0; i < n; i++) {
        g_autoptr(NinoPeer) r = g_list_model_get_item(G_LIST_MODEL(p->selection), i);
        NinoCell cells[COLUMNS + 1];
        for (int c = 0; c < COLUMNS; c++)
            cells[c] = (NinoCell){ columns[c].id, peer_text_of(r, c), value_of(r, c) };
        cells[COLUMNS] = (NinoCell){ "program", r->told.program, 0 };
        row(user, cells, G_N_ELEMENTS(cells));
    }
}

static gboolean peers_menu(GtkWidget *view, double *x, double *y, GMenu *more, gpointer user)
{
    const Peers *p = user;
    (void) more;
    const NinoPeer *row =
        nino_pick_row_at(view, x, y, gtk_single_selection_get_selected_item(p->selection));
    if (!row)
        return FALSE;
    nino_pick_select(p->selection, row);
    nino_run_pick_kernel(p->run, row->stat.kernel);
    return TRUE;
}

GtkWidget *nino_kernel_peers_new(NinoRun *run, NinoPeerFn chosen, gpointer user)
{
    static const NinoEmpty none = {
        "x-office-presentation-symbolic",
        N_("Choose a kernel in the table of kernels or in the timeline"),
        { { N_("Kernels"), "win.view::kernels" }, { N_("Open trace…"), "win.open-trace" } },
    };
    Peers *p = g_new0(Peers, 1);
    p->run = g_object_ref(run);
    p->chosen = chosen;
    p->user = user;
    p->rows = g_list_store_new(NINO_TYPE_PEER);
    p->view = gtk_column_view_new(NULL);
    GtkColumnView *view = GTK_COLUMN_VIEW(p->view);
    GtkColumnViewColumn *total = NULL;
    for (int c = 0; c < COLUMNS; c++) {
        GtkColumnViewColumn *col = add_column(view, c);
        total = c == TOTAL ? col : total;
    }
    for (int c = 0; c < COLUMNS; c++)
        nino_table_set_title(view, c, _(columns[c].tip), c > WORK);
    p->sorted = gtk_sort_list_model_new(G_LIST_MODEL(g_object_ref(p->rows)),
                                        g_object_ref(gtk_column_view_get_sorter(view)));
    p->selection = gtk_single_selection_new(G_LIST_MODEL(p->sorted));
    gtk_single_selection_set_autoselect(p->selection, FALSE);
    gtk_single_selection_set_can_unselect(p->selection, TRUE);
    gtk_column_view_set_model(view, GTK_SELECTION_MODEL(p->selection));
    g_object_unref(p->selection);
    gtk_column_view_sort_by_column(view, total, GTK_SORT_DESCENDING);
    gtk_column_view_set_show_row_separators(view, TRUE);
    gtk_widget_add_css_class(p->view, "data-table");
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->view), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Launches of the same op"), -1);
    g_signal_connect_swapped(p->selection, "notify::selected", G_CALLBACK(on_peer_selected), p);
    nino_pick_menu_add(p->view, run, peers_menu, p);
    GtkWidget *pane = nino_empty_or_rows(nino_empty_new(&none), nino_scroller_new(p->view),
                                         G_LIST_MODEL(p->selection));
    g_object_set_data_full(G_OBJECT(pane), "peers", p, peers_free);
    return pane;
}
