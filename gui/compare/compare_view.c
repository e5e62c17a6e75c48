// The comparison of a baseline with the run that is shown: one row a node, its steps and kernels.
#include "compare/compare_view.h"

#include "base/chosen.h"
#include "base/empty.h"
#include "base/i18n.h"
#include "base/scroller.h"
#include "compare/compare_row.h"
#include "compare/overlay.h"
#include "plot/kept_runs.h"
#include "plot/pick_menu.h"
#include "plot/plot.h"
#include "plot/view.h"

#include <glib/gstdio.h>
#include <math.h>
#include <unistd.h>

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
            g_ptr_array_add(items, nino_compare_row_new(&c.rows[i], c.files_a && c.files_b));
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
    g_autofree char *path = nino_chosen_path(d, response);
    if (path && !nino_compare_view_open(v, path, &error))
        compare_view_say_all(v, error->message);
    g_object_unref(d);
}

static void on_open(GtkButton *b, NinoCompareView *v)
{
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(b));
    GtkFileChooserNative *d = nino_chooser_new(_("Open a trace as the baseline"), GTK_WINDOW(root),
                                               GTK_FILE_CHOOSER_ACTION_OPEN, _("_Open"));
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
    const NinoCompareRow *row = gtk_single_selection_get_selected_item(v->selection);
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
    g_autoptr(NinoCompareRow) row = g_list_model_get_item(G_LIST_MODEL(v->selection), at);
    if (row)
        nino_overlay_mark(v->overlay, *row->r.node ? row->r.node : NULL, TRUE);
}

static void on_overlay_chosen(gpointer view, const char *node)
{
    NinoCompareView *v = view;
    const guint n = g_list_model_get_n_items(G_LIST_MODEL(v->selection));
    for (guint i = 0; i < n; i++) {
        g_autoptr(NinoCompareRow) row = g_list_model_get_item(G_LIST_MODEL(v->selection), i);
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
    const NinoCompareRow *row =
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
    const NinoCompareRow *row = gtk_single_selection_get_selected_item(v->selection);
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
    for (guint i = 0; i < g_list_model_get_n_items(m); i++) {
        g_autoptr(NinoCompareRow) item = g_list_model_get_item(m, i);
        nino_compare_row_export(item, row, user);
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
    nino_compare_row_add_columns(GTK_COLUMN_VIEW(table));
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
