// The comparison of a baseline with the run that is shown: one row a node, its steps and kernels.
#include "live/compare_view.h"

#include "base/empty.h"
#include "base/i18n.h"
#include "base/scroller.h"
#include "live/overlay.h"
#include "plot/kept_runs.h"
#include "plot/pick_menu.h"
#include "plot/plot.h"
#include "plot/view.h"

#include <glib/gstdio.h>
#include <math.h>
#include <unistd.h>

// ---- rows --------------------------------------------------------------------------------------

#define NINO_TYPE_COMPARE_ROW (compare_row_get_type())
G_DECLARE_FINAL_TYPE(CompareRow, compare_row, NINO, COMPARE_ROW, GObject)
struct _CompareRow {
    GObject parent;
    nino_compare_row r;
};
G_DEFINE_TYPE(CompareRow, compare_row, G_TYPE_OBJECT)
static void compare_row_class_init(CompareRowClass *c) { (void) c; }
static void compare_row_init(CompareRow *r) { (void) r; }

struct _NinoCompareView {
    GtkBox parent;
    NinoRun *run;
    nino_history *base;
    GListStore *rows;
    GtkSingleSelection *selection; // the table's
    GtkWidget *label, *overlay, *panes, *empty, *table, *together, *keep;
    gboolean filling;
    char *base_name;
};

G_DEFINE_TYPE(NinoCompareView, nino_compare_view, GTK_TYPE_BOX)

static double compare_view_change(const nino_compare_row *r)
{
    return r->n_a && r->n_b && r->a.median > 0 ? 100 * (r->b.median / r->a.median - 1) : NAN;
}

typedef enum Column { WHAT, TIME_A, TIME_B, DELTA, CHANGE, CONFIDENCE, N_COLUMNS } Column;
static const char *const titles[] = { N_("Node, steps, kernel"), N_("Baseline"), N_("This run"),
                                      N_("Difference"),          N_("Change"),   N_("Confidence") };

static void say_what(char *buf, size_t size, const nino_compare_row *r)
{
    switch (r->kind) {
    case NINO_COMPARE_RUN: g_snprintf(buf, size, _("whole run")); break;
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

static void compare_view_say(char *buf, size_t size, const nino_compare_row *r, Column column)
{
    char t[40];
    const double delta = r->b.median - r->a.median;
    buf[0] = 0;
    switch (column) {
    case WHAT: say_what(buf, size, r); break;
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
        if (isfinite(compare_view_change(r)) && r->cached_a == r->cached_b)
            g_snprintf(buf, size, "%s%.1f %%", compare_view_change(r) < 0 ? "−" : "+",
                       fabs(compare_view_change(r)));
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
    case CHANGE: return r->cached_a == r->cached_b ? compare_view_change(r) : NAN;
    case CONFIDENCE: return r->effect.is_too_few ? NAN : r->effect.p;
    default: return NAN;
    }
}

static int compare_rows(gconstpointer a, gconstpointer b, gpointer column)
{
    const nino_compare_row *x = &((const CompareRow *) a)->r, *y = &((const CompareRow *) b)->r;
    const Column c = (Column) GPOINTER_TO_INT(column);
    if (c == WHAT) {
        const int by_node = strcmp(x->node, y->node);
        return by_node ? by_node : strcmp(x->name, y->name);
    }
    const double u = sort_value(x, c), v = sort_value(y, c);
    return isnan(u) || isnan(v) ? isnan(u) - isnan(v) : u < v ? -1 : u > v;
}

static void compare_view_setup(GtkSignalListItemFactory *f, GtkListItem *item, gpointer column)
{
    (void) f;
    GtkWidget *l = gtk_label_new(NULL);
    const Column c = (Column) GPOINTER_TO_INT(column);
    gtk_label_set_xalign(GTK_LABEL(l), c == WHAT || c == CONFIDENCE ? 0 : 1);
    gtk_label_set_ellipsize(GTK_LABEL(l), PANGO_ELLIPSIZE_END);
    gtk_widget_add_css_class(l, c == WHAT || c == CONFIDENCE ? "text" : "numeric");
    gtk_list_item_set_child(item, l);
}

static void bind(GtkSignalListItemFactory *f, GtkListItem *item, gpointer column)
{
    (void) f;
    char text[256];
    GtkWidget *l = gtk_list_item_get_child(item);
    const nino_compare_row *r = &NINO_COMPARE_ROW(gtk_list_item_get_item(item))->r;
    compare_view_say(text, sizeof(text), r, (Column) GPOINTER_TO_INT(column));
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

// How runs end, as nino_compare has it: for translators.
__attribute__((unused)) static const char *const ends[] = { N_("done"), N_("cancelled"),
                                                            N_("failed"), N_("cut off"),
                                                            N_("no job") };

// ---- comparing ---------------------------------------------------------------------------------

static void compare_view_say_all(NinoCompareView *v, const char *text)
{
    gtk_label_set_text(GTK_LABEL(v->label), text);
}

// What the plans of both use at most, where both were told; the caller's.
static char *compare_view_planned(uint64_t planned_a, uint64_t planned_b)
{
    char a[32], b[32];
    nino_format_bytes(a, sizeof(a), (double) planned_a);
    nino_format_bytes(b, sizeof(b), (double) planned_b);
    return planned_a && planned_b ? g_strdup_printf(_(" (planned %s and %s)"), a, b) : g_strdup("");
}

static void compare_view_refresh(NinoCompareView *v)
{
    nino_compare c;
    nino_error err;
    nino_history *h = nino_run_history(v->run);
    const gboolean has_run = nino_history_count(h) > 0, has_both = v->base && has_run;
    gtk_widget_set_sensitive(v->keep, has_run);
    gtk_widget_set_visible(v->panes, has_both);
    gtk_widget_set_visible(v->together, has_both);
    gtk_widget_set_visible(v->empty, !has_both);
    if (!has_both) {
        static const NinoEmpty no_base = { "view-list-symbolic",
                                           N_("Keep this run as the baseline, or open a trace"),
                                           { { N_("List of kept runs"), "win.profile-runs" } } };
        nino_overlay_set(v->overlay, NULL, NULL);
        g_list_store_remove_all(v->rows);
        compare_view_say_all(v, "");
        nino_empty_say(v->empty, v->base ? &nino_empty_no_run : &no_base,
                       v->base    ? _("The next run is compared with the baseline")
                       : !has_run ? _("A run and its baseline appear here side by side")
                                  : NULL);
        return;
    }
    nino_run_draw_begin(v->run);
    if (nino_compare_runs(v->base, h, &c, &err)) {
        compare_view_say_all(v, err.msg);
    } else {
        GPtrArray *items = g_ptr_array_new_with_free_func(g_object_unref);
        for (size_t i = 0; i < c.n_rows; i++) {
            CompareRow *r = g_object_new(NINO_TYPE_COMPARE_ROW, NULL);
            r->r = c.rows[i];
            g_ptr_array_add(items, r);
        }
        v->filling = TRUE;
        g_list_store_splice(v->rows, 0, g_list_model_get_n_items(G_LIST_MODEL(v->rows)),
                            items->pdata, items->len);
        v->filling = FALSE;
        nino_overlay_set(v->overlay, v->base, &c);
        g_ptr_array_unref(items);
        char a[32], b[32];
        nino_format_bytes(a, sizeof(a), (double) c.peak_a);
        nino_format_bytes(b, sizeof(b), (double) c.peak_b);
        g_autofree char *energy =
            isfinite(c.joules_a) && isfinite(c.joules_b)
                ? g_strdup_printf(_("; energy %.1f J and %.1f J"), c.joules_a, c.joules_b)
                : g_strdup("");
        g_autofree char *planned = compare_view_planned(nino_history_planned(v->base, NULL),
                                                        nino_history_planned(h, NULL));
        g_autofree char *ended = g_strdup_printf(_(" This run: %s."), _(c.end_b));
        g_autofree char *text = g_strdup_printf(
            _("Baseline: %s (%s). %sPeak of the pool %s and %s%s%s.%s"), v->base_name,
            _(*c.end_a ? c.end_a : "no job"),
            c.n_rows && c.rows[0].effect.rounds < 2
                ? _("One run each has no spread: nothing is claimed of it. ")
                : "",
            a, b, planned, energy, g_strcmp0(c.end_b, "done") && *c.end_b ? ended : "");
        compare_view_say_all(v, text);
        nino_compare_release(&c);
    }
    nino_run_draw_end(v->run);
}

static void set_base(NinoCompareView *v, nino_history *base, const char *name)
{
    nino_overlay_set(v->overlay, NULL, NULL);
    nino_history_destroy(&v->base);
    v->base = base;
    g_free(v->base_name);
    v->base_name = g_strdup(name);
    compare_view_refresh(v);
}

gboolean nino_compare_view_open(NinoCompareView *v, const char *path, GError **error)
{
    nino_error err;
    nino_history *h = nino_history_create(0);
    if (!h || nino_history_load(h, path, &err)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s: %s", path,
                    h ? err.msg : "out of memory");
        nino_history_destroy(&h);
        return FALSE;
    }
    g_autofree char *name = nino_kept_called(path);
    set_base(v, h, name);
    return TRUE;
}

// Through a file: the copy must not share anything with the run that goes on.
void nino_compare_view_keep(NinoCompareView *v)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = NULL;
    const int fd = g_file_open_tmp("ninodes-XXXXXX.json", &path, &error);
    if (fd < 0)
        return;
    close(fd);
    nino_history *h = nino_history_create(0);
    if (h && !nino_history_save(nino_run_history(v->run), path, NULL) &&
        !nino_history_load(h, path, NULL))
        set_base(v, g_steal_pointer(&h), _("a run that was kept"));
    nino_history_destroy(&h);
    g_unlink(path);
}

// ---- widget ------------------------------------------------------------------------------------

static void on_compare_view_keep(GtkButton *b, NinoCompareView *v)
{
    (void) b;
    nino_compare_view_keep(v);
}

static void on_file(GtkNativeDialog *d, int response, NinoCompareView *v)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GFile) file = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(d));
    g_autofree char *path = file ? g_file_get_path(file) : NULL;
    if (response == GTK_RESPONSE_ACCEPT && path && !nino_compare_view_open(v, path, &error))
        compare_view_say_all(v, error->message);
    g_object_unref(d);
}

static void on_open(GtkButton *b, NinoCompareView *v)
{
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(b));
    GtkFileChooserNative *d =
        gtk_file_chooser_native_new(_("Open a trace as the baseline"), GTK_WINDOW(root),
                                    GTK_FILE_CHOOSER_ACTION_OPEN, _("_Open"), _("_Cancel"));
    g_signal_connect_object(d, "response", G_CALLBACK(on_file), v, 0);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(d));
}

static void on_together(GtkToggleButton *b, NinoCompareView *v)
{
    nino_overlay_set_together(v->overlay, gtk_toggle_button_get_active(b));
}

// ---- one selection in the table, the overlay and all other views -------------------------------

static void on_compare_view_row(NinoCompareView *v)
{
    const CompareRow *row = gtk_single_selection_get_selected_item(v->selection);
    if (v->filling || !row)
        return;
    nino_overlay_mark(v->overlay, *row->r.node ? row->r.node : NULL, FALSE);
    if (row->r.kind == NINO_COMPARE_KERNEL)
        nino_run_set_kernel(v->run, nino_history_find(nino_run_history(v->run), row->r.name));
    else if (*row->r.node)
        nino_overlay_pick(v->overlay, row->r.node);
}

// A double click or Enter: the node fills the overlay.
static void on_compare_view_activate(GtkColumnView *table, guint at, NinoCompareView *v)
{
    (void) table;
    g_autoptr(CompareRow) row = g_list_model_get_item(G_LIST_MODEL(v->selection), at);
    if (row)
        nino_overlay_mark(v->overlay, *row->r.node ? row->r.node : NULL, TRUE);
}

static void on_overlay_chosen(gpointer view, const char *node)
{
    NinoCompareView *v = view;
    const guint n = g_list_model_get_n_items(G_LIST_MODEL(v->selection));
    for (guint i = 0; i < n; i++) {
        g_autoptr(CompareRow) row = g_list_model_get_item(G_LIST_MODEL(v->selection), i);
        if (row->r.kind != NINO_COMPARE_NODE || strcmp(row->r.node, node) != 0)
            continue;
        v->filling = TRUE; // the overlay has chosen it already
        gtk_single_selection_set_selected(v->selection, i);
        v->filling = FALSE;
        return;
    }
}

// ---- the menu of a row -------------------------------------------------------------------------

// Of the whole run only what the table can do with it.
static gboolean compare_view_menu(GtkWidget *table, double *x, double *y, GMenu *more,
                                  gpointer user)
{
    NinoCompareView *v = user;
    const CompareRow *row =
        nino_pick_row_at(table, x, y, gtk_single_selection_get_selected_item(v->selection));
    if (!row || row->r.kind == NINO_COMPARE_RUN)
        return FALSE;
    nino_pick_select(v->selection, row);
    on_compare_view_row(v); // also where it was the selected one before
    g_autoptr(GMenu) own = g_menu_new();
    g_menu_append(own, _("Its node fills the overlay"), "compare.near");
    g_menu_append_section(more, NULL, G_MENU_MODEL(own));
    if (row->r.kind == NINO_COMPARE_KERNEL)
        nino_run_pick_kernel(v->run, nino_history_find(nino_run_history(v->run), row->r.name));
    return row->r.n_b > 0; // else it is only in the baseline
}

static void compare_view_near(GSimpleAction *a, GVariant *parameter, gpointer view)
{
    (void) a, (void) parameter;
    const NinoCompareView *v = view;
    const CompareRow *row = gtk_single_selection_get_selected_item(v->selection);
    if (row)
        nino_overlay_mark(v->overlay, *row->r.node ? row->r.node : NULL, TRUE);
}

static void compare_view_add_menu(NinoCompareView *v)
{
    static const GActionEntry actions[] = { { .name = "near", .activate = compare_view_near } };
    g_autoptr(GSimpleActionGroup) group = g_simple_action_group_new();
    g_action_map_add_action_entries(G_ACTION_MAP(group), actions, G_N_ELEMENTS(actions), v);
    gtk_widget_insert_action_group(GTK_WIDGET(v), "compare", G_ACTION_GROUP(group));
    nino_pick_menu_add(v->table, v->run, compare_view_menu, v);
}

static void on_compare_view_cleared(NinoCompareView *v)
{
    nino_overlay_set(v->overlay, NULL, NULL);
}

static void on_compare_view_changed(NinoCompareView *v)
{
    if (!nino_run_is_live(v->run))
        compare_view_refresh(v);
}

static void compare_view_export_rows(GtkWidget *view, NinoRowFn row, gpointer user)
{
    GListModel *m = G_LIST_MODEL(NINO_COMPARE_VIEW(view)->selection);
    static const char *const verdicts[] = { "faster", "none", "slower" };
    for (guint i = 0; i < g_list_model_get_n_items(m); i++) {
        g_autoptr(CompareRow) item = g_list_model_get_item(m, i);
        const nino_compare_row *r = &item->r;
        const NinoCell cells[] = {
            { "kind", nino_compare_kind_name(r->kind), 0 },
            { "node", r->node, 0 },
            { "kernel", r->name, 0 },
            { "shape", r->shape, 0 },
            { "calls_a", NULL, (double) r->n_a },
            { "calls_b", NULL, (double) r->n_b },
            { "total_ms_a", NULL, r->total_a * 1e3 },
            { "total_ms_b", NULL, r->total_b * 1e3 },
            { "median_ms_a", NULL, r->a.median * 1e3 },
            { "median_ms_b", NULL, r->b.median * 1e3 },
            { "change_percent", NULL, compare_view_change(r) },
            { "low_percent", NULL, r->effect.low },
            { "high_percent", NULL, r->effect.high },
            { "p", NULL, r->effect.p },
            { "verdict", r->effect.is_too_few ? "" : verdicts[r->effect.verdict + 1], 0 }
        };
        row(user, cells, G_N_ELEMENTS(cells));
    }
}

static void compare_view_export_draw(GtkWidget *view, cairo_t *cr, double w, double h,
                                     gboolean is_dark)
{
    nino_overlay_export(NINO_COMPARE_VIEW(view)->overlay, cr, w, h, is_dark);
}

static void compare_view_finalize(GObject *object)
{
    NinoCompareView *v = NINO_COMPARE_VIEW(object);
    nino_history_destroy(&v->base);
    g_clear_object(&v->rows);
    g_clear_object(&v->run);
    g_free(v->base_name);
    G_OBJECT_CLASS(nino_compare_view_parent_class)->finalize(object);
}

static void nino_compare_view_class_init(NinoCompareViewClass *c)
{
    G_OBJECT_CLASS(c)->finalize = compare_view_finalize;
}

static void add_columns(GtkColumnView *table)
{
    for (int i = 0; i < N_COLUMNS; i++) {
        GtkListItemFactory *f = gtk_signal_list_item_factory_new();
        g_signal_connect(f, "setup", G_CALLBACK(compare_view_setup), GINT_TO_POINTER(i));
        g_signal_connect(f, "bind", G_CALLBACK(bind), GINT_TO_POINTER(i));
        GtkColumnViewColumn *c = gtk_column_view_column_new(_(titles[i]), f);
        gtk_column_view_column_set_expand(c, i == WHAT);
        gtk_column_view_column_set_resizable(c, TRUE);
        GtkSorter *sorter =
            GTK_SORTER(gtk_custom_sorter_new(compare_rows, GINT_TO_POINTER(i), NULL));
        gtk_column_view_column_set_sorter(c, sorter);
        g_object_unref(sorter);
        gtk_column_view_append_column(table, c);
        g_object_unref(c);
    }
}

static GtkWidget *compare_view_add_button(GtkBox *bar, NinoCompareView *v, const char *label,
                                          const char *help, GCallback clicked)
{
    GtkWidget *b = gtk_button_new_with_label(label);
    gtk_widget_set_tooltip_text(b, help);
    g_signal_connect(b, "clicked", clicked, v);
    gtk_box_append(bar, b);
    return b;
}

// Unsorted it has steps and kernels below their node.
static GtkWidget *make_table(NinoCompareView *v)
{
    GtkWidget *table = v->table = gtk_column_view_new(NULL);
    v->rows = g_list_store_new(NINO_TYPE_COMPARE_ROW);
    add_columns(GTK_COLUMN_VIEW(table));
    GtkSortListModel *sorted =
        gtk_sort_list_model_new(G_LIST_MODEL(g_object_ref(v->rows)),
                                g_object_ref(gtk_column_view_get_sorter(GTK_COLUMN_VIEW(table))));
    v->selection = gtk_single_selection_new(G_LIST_MODEL(sorted));
    gtk_single_selection_set_autoselect(v->selection, FALSE);
    gtk_single_selection_set_can_unselect(v->selection, TRUE);
    gtk_column_view_set_model(GTK_COLUMN_VIEW(table), GTK_SELECTION_MODEL(v->selection));
    g_object_unref(v->selection);
    g_signal_connect_swapped(v->selection, "notify::selected", G_CALLBACK(on_compare_view_row), v);
    g_signal_connect(table, "activate", G_CALLBACK(on_compare_view_activate), v);
    gtk_accessible_update_property(GTK_ACCESSIBLE(table), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Comparison"), -1);
    gtk_widget_add_css_class(table, "data-table");
    GtkWidget *scroll = nino_scroller_new(table);
    gtk_widget_set_size_request(scroll, -1, 90);
    gtk_widget_set_vexpand(scroll, TRUE);
    return scroll;
}

static void nino_compare_view_init(NinoCompareView *v)
{
    gtk_orientable_set_orientation(GTK_ORIENTABLE(v), GTK_ORIENTATION_VERTICAL);
    GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_S);
    gtk_widget_set_margin_top(bar, NINO_SPACE_S);
    gtk_widget_set_margin_bottom(bar, NINO_SPACE_S);
    gtk_widget_set_margin_start(bar, NINO_SPACE_S);
    gtk_widget_set_margin_end(bar, NINO_SPACE_S);
    v->label = gtk_label_new(NULL);
    gtk_label_set_xalign(GTK_LABEL(v->label), 0);
    gtk_label_set_wrap(GTK_LABEL(v->label), TRUE);
    gtk_widget_set_hexpand(v->label, TRUE);
    gtk_box_append(GTK_BOX(bar), v->label);
    v->together = gtk_toggle_button_new_with_label(_("From the start"));
    gtk_widget_set_tooltip_text(
        v->together, _("Both runs begin together, instead of each node with its partner"));
    g_signal_connect(v->together, "toggled", G_CALLBACK(on_together), v);
    gtk_box_append(GTK_BOX(bar), v->together);
    v->keep = compare_view_add_button(GTK_BOX(bar), v, _("Keep as baseline"),
                                      _("Compare later runs with this one"),
                                      G_CALLBACK(on_compare_view_keep));
    compare_view_add_button(GTK_BOX(bar), v, _("Open trace…"), _("Compare with a saved trace"),
                            G_CALLBACK(on_open));
    gtk_box_append(GTK_BOX(v), bar);
    v->panes = gtk_paned_new(GTK_ORIENTATION_VERTICAL);
    gtk_paned_set_end_child(GTK_PANED(v->panes), make_table(v));
    gtk_paned_set_shrink_start_child(GTK_PANED(v->panes), FALSE);
    gtk_paned_set_shrink_end_child(GTK_PANED(v->panes), FALSE);
    gtk_paned_set_resize_start_child(GTK_PANED(v->panes), FALSE);
    gtk_widget_set_vexpand(v->panes, TRUE);
    gtk_box_append(GTK_BOX(v), v->panes);
    v->empty = nino_empty_new(&nino_empty_no_run);
    gtk_box_append(GTK_BOX(v), v->empty);
}

static GtkWidget *new_compare_view(NinoRun *run)
{
    static const NinoViewExport x = { .draw = compare_view_export_draw,
                                      .rows = compare_view_export_rows };
    NinoCompareView *v = g_object_new(NINO_TYPE_COMPARE_VIEW, NULL);
    v->run = g_object_ref(run);
    v->overlay = nino_overlay_new(run, on_overlay_chosen, v);
    gtk_paned_set_start_child(GTK_PANED(v->panes), v->overlay);
    compare_view_add_menu(v);
    g_signal_connect_object(run, "cleared", G_CALLBACK(on_compare_view_cleared), v,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(run, "changed", G_CALLBACK(on_compare_view_changed), v,
                            G_CONNECT_SWAPPED);
    nino_view_set_export(GTK_WIDGET(v), &x);
    compare_view_refresh(v);
    return GTK_WIDGET(v);
}

const NinoViewType nino_view_compare = {
    .id = "compare",
    .title = N_("Compare"),
    .help = N_("This run against a baseline, by node, step and kernel"),
    .create = new_compare_view,
};
