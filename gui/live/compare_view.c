// The comparison of a baseline with the run that is shown: one row a node, its steps and kernels.
#include "live/compare_view.h"

#include "base/i18n.h"
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
    GtkWidget *label, *table;
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
                   f->rounds < 2 ? _("one run: no verdict") : _("too few to tell"));
    else
        g_snprintf(buf, size, f->p < 1e-4 ? "%s (p < 0.0001)" : "%s (p %.4f)",
                   f->verdict < 0   ? _("faster")
                   : f->verdict > 0 ? _("slower")
                                    : _("no difference shown"),
                   f->p);
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
            g_snprintf(buf, size, "%+.1f %%", compare_view_change(r));
        break;
    case CONFIDENCE: say_verdict(buf, size, r); break;
    case N_COLUMNS: break;
    }
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

static void compare_view_refresh(NinoCompareView *v)
{
    nino_compare c;
    nino_error err;
    nino_history *h = nino_run_history(v->run);
    const gboolean has_both = v->base && nino_history_count(h);
    gtk_widget_set_visible(v->table, has_both);
    if (!has_both) {
        g_list_store_remove_all(v->rows);
        gtk_label_set_text(GTK_LABEL(v->label),
                           v->base ? _("The next run is compared with the baseline.")
                                   : _("Keep this run as the baseline, or open a trace."));
        return;
    }
    nino_run_draw_begin(v->run);
    if (nino_compare_runs(v->base, h, &c, &err)) {
        gtk_label_set_text(GTK_LABEL(v->label), err.msg);
    } else {
        GPtrArray *items = g_ptr_array_new_with_free_func(g_object_unref);
        for (size_t i = 0; i < c.n_rows; i++) {
            CompareRow *r = g_object_new(NINO_TYPE_COMPARE_ROW, NULL);
            r->r = c.rows[i];
            g_ptr_array_add(items, r);
        }
        g_list_store_splice(v->rows, 0, g_list_model_get_n_items(G_LIST_MODEL(v->rows)),
                            items->pdata, items->len);
        g_ptr_array_unref(items);
        char a[32], b[32];
        nino_format_bytes(a, sizeof(a), (double) c.peak_a);
        nino_format_bytes(b, sizeof(b), (double) c.peak_b);
        g_autofree char *energy =
            isfinite(c.joules_a) && isfinite(c.joules_b)
                ? g_strdup_printf(_("; energy %.1f J and %.1f J"), c.joules_a, c.joules_b)
                : g_strdup("");
        g_autofree char *ended = g_strdup_printf(_(" This run: %s."), _(c.end_b));
        g_autofree char *text =
            g_strdup_printf(_("Baseline: %s (%s). Peak of the pool %s and %s%s.%s"), v->base_name,
                            _(*c.end_a ? c.end_a : "no job"), a, b, energy,
                            g_strcmp0(c.end_b, "done") && *c.end_b ? ended : "");
        gtk_label_set_text(GTK_LABEL(v->label), text);
        nino_compare_release(&c);
    }
    nino_run_draw_end(v->run);
}

static void set_base(NinoCompareView *v, nino_history *base, const char *name)
{
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
    g_autofree char *name = g_path_get_basename(path);
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
        gtk_label_set_text(GTK_LABEL(v->label), error->message);
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

static void on_compare_view_changed(NinoCompareView *v)
{
    if (!nino_run_is_live(v->run))
        compare_view_refresh(v);
}

static void compare_view_export_rows(GtkWidget *view, NinoRowFn row, gpointer user)
{
    GListModel *m = G_LIST_MODEL(NINO_COMPARE_VIEW(view)->rows);
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
        gtk_column_view_append_column(table, c);
        g_object_unref(c);
    }
}

static void compare_view_add_button(GtkBox *bar, NinoCompareView *v, const char *label,
                                    const char *help, GCallback clicked)
{
    GtkWidget *b = gtk_button_new_with_label(label);
    gtk_widget_set_tooltip_text(b, help);
    g_signal_connect(b, "clicked", clicked, v);
    gtk_box_append(bar, b);
}

static void nino_compare_view_init(NinoCompareView *v)
{
    gtk_orientable_set_orientation(GTK_ORIENTABLE(v), GTK_ORIENTATION_VERTICAL);
    GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    gtk_widget_set_margin_top(bar, 6);
    gtk_widget_set_margin_bottom(bar, 6);
    gtk_widget_set_margin_start(bar, 8);
    gtk_widget_set_margin_end(bar, 8);
    v->label = gtk_label_new(NULL);
    gtk_label_set_xalign(GTK_LABEL(v->label), 0);
    gtk_label_set_ellipsize(GTK_LABEL(v->label), PANGO_ELLIPSIZE_END);
    gtk_widget_set_hexpand(v->label, TRUE);
    gtk_box_append(GTK_BOX(bar), v->label);
    compare_view_add_button(GTK_BOX(bar), v, _("Keep as Baseline"),
                            _("Compare later runs with this one"),
                            G_CALLBACK(on_compare_view_keep));
    compare_view_add_button(GTK_BOX(bar), v, _("Open Trace…"), _("Compare with a saved trace"),
                            G_CALLBACK(on_open));
    v->rows = g_list_store_new(NINO_TYPE_COMPARE_ROW);
    GtkSelectionModel *model =
        GTK_SELECTION_MODEL(gtk_no_selection_new(G_LIST_MODEL(g_object_ref(v->rows))));
    GtkWidget *table = gtk_column_view_new(model);
    gtk_accessible_update_property(GTK_ACCESSIBLE(table), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Comparison"), -1);
    gtk_widget_add_css_class(table, "data-table");
    add_columns(GTK_COLUMN_VIEW(table));
    v->table = gtk_scrolled_window_new();
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(v->table), table);
    gtk_widget_set_vexpand(v->table, TRUE);
    gtk_box_append(GTK_BOX(v), bar);
    gtk_box_append(GTK_BOX(v), v->table);
}

static GtkWidget *new_compare_view(NinoRun *run)
{
    static const NinoViewExport x = { .rows = compare_view_export_rows };
    NinoCompareView *v = g_object_new(NINO_TYPE_COMPARE_VIEW, NULL);
    v->run = g_object_ref(run);
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
