// How long the calls of one kernel took: a histogram of the selected kernel in the selected range,
// and the calls that are far longer than the others, each a button that shows it in the timeline.
#include "plot/view.h"

#include "base/empty.h"
#include "base/i18n.h"
#include "base/scroller.h"
#include "plot/area.h"
#include "live/describe.h"
#include "live/shown_kernel.h"

#include <math.h>

enum { LEFT = 56, TOP = 30, BOTTOM = 42, MAX_OUTLIERS = 12, UPDATE_MS = 500, MAX_SORTED = 100000 };

typedef struct Histogram {
    NinoRun *run;                  // the widgets hold it
    GtkWidget *area, *side, *list; // the side has nothing to say before there are calls
    nino_histogram data;
    uint32_t kernel; // the one that is shown
    nino_event outlier[MAX_OUTLIERS];
    size_t n_outliers;
    gint64 updated;
} Histogram;

// ---- data --------------------------------------------------------------------------------------

static void on_histogram_row(GtkListBox *list, GtkListBoxRow *row, Histogram *h)
{
    (void) list;
    const int i = gtk_list_box_row_get_index(row);
    if ((size_t) i < h->n_outliers)
        nino_run_show(h->run, &h->outlier[i]);
}

static void show_outliers(Histogram *h)
{
    nino_history *history = nino_run_history(h->run);
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(h->list)))
        gtk_list_box_remove(GTK_LIST_BOX(h->list), child);
    for (size_t i = 0; i < h->n_outliers; i++) {
        const nino_event *e = &h->outlier[i];
        char took[48], at[48];
        nino_format_ns(took, sizeof(took), (double) e->u.kernel.dur_ns);
        nino_format_ns(at, sizeof(at),
                       (double) (e->t_ns - MIN(e->t_ns, nino_history_begin(history))));
        g_autoptr(GString) path = g_string_new(NULL), tip = g_string_new(NULL);
        nino_describe_path(h->run, nino_history_span_of(history, e->parent), path);
        nino_describe_slice(h->run, e, tip);
        g_autofree char *text = g_strdup_printf(_("<b>%s</b> at %s\n<small>%s</small>"), took, at,
                                                path->len ? path->str : _("no scope"));
        GtkWidget *label = gtk_label_new(NULL);
        gtk_label_set_markup(GTK_LABEL(label), text);
        gtk_label_set_xalign(GTK_LABEL(label), 0);
        gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
        gtk_widget_set_margin_start(label, NINO_SPACE_S); // as the heading has
        gtk_widget_set_tooltip_markup(label, tip->str);
        gtk_list_box_append(GTK_LIST_BOX(h->list), label);
    }
}

static void histogram_update(NinoArea *area)
{
    Histogram *h = nino_area_user(area);
    guint64 t0, t1;
    if (!gtk_widget_get_mapped(GTK_WIDGET(area)))
        return;
    nino_run_draw_begin(h->run);
    nino_event old[MAX_OUTLIERS];
    const size_t n_old = h->n_outliers;
    memcpy(old, h->outlier, sizeof(old));
    nino_history *history = nino_run_history(h->run);
    h->kernel = nino_shown_kernel(h->run);
    h->n_outliers = 0;
    nino_run_range(h->run, &t0, &t1);
    nino_shown_calls(h->run, h->kernel, &h->data);
    if (h->data.outliers) {
        nino_history_calls(history, h->kernel, t0, t1, h->outlier, MAX_OUTLIERS);
        h->n_outliers = MIN(h->data.outliers, MAX_OUTLIERS);
    }
    if (n_old != h->n_outliers || memcmp(old, h->outlier, n_old * sizeof(*old)) != 0)
        show_outliers(h);
    gtk_widget_set_visible(h->side, h->data.calls > 0);
    h->updated = g_get_monotonic_time();
    gtk_widget_queue_draw(GTK_WIDGET(area));
    nino_run_draw_end(h->run);
}

static void on_histogram_changed(NinoArea *area)
{
    Histogram *h = nino_area_user(area);
    if (!nino_run_is_live(h->run) ||
        g_get_monotonic_time() - h->updated >= UPDATE_MS * (gint64) 1000)
        histogram_update(area);
}

// ---- drawing -----------------------------------------------------------------------------------

static void histogram_plot_box(float width, float height, NinoPlotBox *box)
{
    *box = (NinoPlotBox){ LEFT, TOP, MAX(width - LEFT - 12, 1), MAX(height - TOP - BOTTOM, 1) };
}

static float histogram_x_of(const Histogram *h, const NinoPlotBox *box, double ns)
{
    const double bin = (ns - h->data.lo_ns) / h->data.bin_ns;
    return box->x + (float) (CLAMP(bin, 0, NINO_HISTOGRAM_BINS) / NINO_HISTOGRAM_BINS) * box->w;
}

// Lines where that share of the calls ends, each with its time above and to the right of it; where they lie close together or at the
// right end, the texts stay in order and beside each other.
static void draw_marks(NinoPlot *p, const Histogram *h, const NinoPlotBox *box)
{
    enum { N = 3, GAP = 8 };
    static const char *const name[N] = { "p50", "p95", "p99" };
    const double ns[N] = { h->data.p50_ns, h->data.p95_ns, h->data.p99_ns };
    char v[40], text[N][64];
    float left[N], width[N], end = p->width - 2, from = 0;
    for (int i = N - 1; i >= 0; i--) {
        const float x = floorf(histogram_x_of(h, box, ns[i]));
        nino_format_ns(v, sizeof(v), ns[i]);
        g_snprintf(text[i], sizeof(text[i]), "%s %s", name[i], v);
        width[i] = nino_plot_text_width(p, text[i]);
        left[i] = MIN(x + 3, end - width[i]);
        end = left[i] - GAP;
        nino_plot_bar(p, x, box->y, 1, box->h, &p->fg);
    }
    for (int i = 0; i < N; i++) {
        left[i] = MAX(left[i], from);
        from = left[i] + width[i] + GAP;
        if (left[i] + width[i] <= p->width)
            nino_plot_text(p, left[i], box->y - nino_plot_text_height(p), 0, NINO_PLOT_LEFT, &p->fg,
                           text[i]);
    }
}

// Times along the axis, the first and the last one at its ends: there it is of the longest call, which may be far beyond
// what the last bin would end with.
static void draw_times(NinoPlot *p, const Histogram *h, const NinoPlotBox *box)
{
    enum { ROOM = 110, MOST = 6 };
    const int bins = NINO_HISTOGRAM_BINS - 1; // of the same width; the last one has the rest
    const int n = CLAMP((int) (box->w / ROOM), 1, MOST);
    const float y = box->y + box->h + 2;
    char v[40], last[64], was[40] = "";
    nino_format_ns(was, sizeof(was), h->data.lo_ns);
    nino_format_ns(v, sizeof(v), (double) h->data.max_ns);
    if (!strcmp(v, was)) { // calls that all take the same
        nino_plot_text(p, box->x, y, 0, NINO_PLOT_LEFT, &p->dim, v);
        return;
    }
    *was = 0;
    g_snprintf(last, sizeof(last), h->data.outliers ? _("longest %s") : "%s", v);
    const float end = box->x + box->w - nino_plot_text_width(p, last) - 8;
    nino_plot_text(p, box->x + box->w, y, 0, NINO_PLOT_RIGHT, &p->dim, last);
    for (int i = 0; i <= n; i++) {
        const double ns = h->data.lo_ns + h->data.bin_ns * bins * i / n;
        const float x = floorf(histogram_x_of(h, box, ns));
        nino_format_ns(v, sizeof(v), ns);
        const float w = nino_plot_text_width(p, v), left = i ? x - floorf(w / 2) : x;
        if (left + w > end || !strcmp(v, was)) // calls that all take the same
            continue;
        nino_plot_bar(p, x, box->y + box->h, 1, 3, &p->dim);
        nino_plot_text(p, left, y, 0, NINO_PLOT_LEFT, &p->dim, v);
        g_strlcpy(was, v, sizeof(was));
    }
}

static void histogram_draw(NinoArea *area, NinoPlot *p, gpointer user)
{
    (void) area;
    Histogram *h = user;
    NinoPlotBox box;
    char text[160], a[40], b[40];
    if (!h->data.calls) {
        nino_plot_empty(p, _("The times of the selected kernel's calls appear here"));
        return;
    }
    histogram_plot_box(p->width, p->height, &box);
    uint64_t most = 1;
    for (int i = 0; i < NINO_HISTOGRAM_BINS; i++)
        most = MAX(most, h->data.bin[i]);
    nino_plot_value_axis(p, &box, (double) most, nino_format_count);
    nino_plot_text(p, 4, 1, LEFT, NINO_PLOT_LEFT, &p->dim, _("calls"));
    for (int i = 0; i < NINO_HISTOGRAM_BINS; i++) {
        const float x0 = floorf(box.x + box.w * (float) i / NINO_HISTOGRAM_BINS);
        const float x1 = floorf(box.x + box.w * (float) (i + 1) / NINO_HISTOGRAM_BINS);
        float bar = roundf((float) ((double) h->data.bin[i] / (double) most) * box.h);
        bar = h->data.bin[i] ? MAX(bar, 2) : 0; // one call must be seen
        const gboolean is_far = i == NINO_HISTOGRAM_BINS - 1 && h->data.outliers;
        nino_plot_bar(p, x0, box.y + box.h - bar, MAX(x1 - x0 - 1, 1), bar,
                      nino_plot_colour(is_far ? 3 : 0));
    }
    draw_times(p, h, &box);
    char count[32];
    nino_format_count(count, sizeof(count), (double) h->data.calls);
    g_snprintf(a, sizeof(a), ngettext("%s call", "%s calls", h->data.calls), count);
    g_snprintf(b, sizeof(b), ngettext("%llu outlier", "%llu outliers", h->data.outliers),
               (unsigned long long) h->data.outliers);
    g_snprintf(text, sizeof(text), "%s, %s, %s", nino_run_name(h->run, h->kernel), a, b);
    nino_plot_text(p, box.x + box.w / 2, box.y + box.h + nino_plot_text_height(p) + 3, box.w,
                   NINO_PLOT_CENTRE, &p->fg, text);
    draw_marks(p, h, &box);
}

// The i-th bin that is not empty.
static gboolean histogram_item(NinoArea *area, int i, double *x, double *y, gpointer user)
{
    const Histogram *h = user;
    NinoPlotBox box;
    GtkWidget *w = GTK_WIDGET(area);
    histogram_plot_box((float) gtk_widget_get_width(w), (float) gtk_widget_get_height(w), &box);
    for (int k = 0; k < NINO_HISTOGRAM_BINS; k++) {
        if (!h->data.bin[k] || i-- > 0)
            continue;
        *x = (double) box.x + (k + 0.5) * (double) box.w / NINO_HISTOGRAM_BINS;
        *y = (double) (box.y + box.h / 2);
        return TRUE;
    }
    return FALSE;
}

// The longest call of the bin at x; FALSE: it has none.
static gboolean call_at(NinoArea *area, const Histogram *h, double x, nino_event *call)
{
    NinoPlotBox box;
    guint64 t0, t1;
    GtkWidget *w = GTK_WIDGET(area);
    histogram_plot_box((float) gtk_widget_get_width(w), (float) gtk_widget_get_height(w), &box);
    const int bin = (int) floor((x - (double) box.x) / (double) box.w * NINO_HISTOGRAM_BINS);
    if (!h->data.calls || bin < 0 || bin >= NINO_HISTOGRAM_BINS || !h->data.bin[bin])
        return FALSE;
    nino_history *history = nino_run_history(h->run);
    nino_run_range(h->run, &t0, &t1);
    // from the longest on: those of the bins behind come before
    size_t before = 0;
    for (int i = bin + 1; i < NINO_HISTOGRAM_BINS; i++)
        before += h->data.bin[i];
    if (before > MAX_SORTED)
        return FALSE;
    g_autofree nino_event *longest = g_new(nino_event, before + 1);
    if (nino_history_calls(history, h->kernel, t0, t1, longest, before + 1) <= before)
        return FALSE;
    *call = longest[before];
    return TRUE;
}

// Of the calls of a bin the longest, beside the bins the kernel with all its calls.
static gboolean histogram_pick(NinoArea *area, Histogram *h, double x)
{
    nino_event call;
    if (call_at(area, h, x, &call))
        nino_run_pick_slice(h->run, &call);
    else
        nino_run_pick_kernel(h->run, h->kernel);
    return h->kernel != 0;
}

static gboolean histogram_click(NinoArea *area, double x, double y, int n_press, gpointer user)
{
    (void) y;
    Histogram *h = user;
    nino_event call;
    if (!call_at(area, h, x, &call))
        return FALSE;
    if (n_press == 2)
        nino_run_show(h->run, &call);
    return histogram_pick(area, h, x);
}

static gboolean histogram_menu(NinoArea *area, double *x, double *y, GMenu *more, gpointer user)
{
    (void) more;
    Histogram *h = user;
    if (*x < 0 && !nino_area_item_place(area, x, y)) {
        *x = gtk_widget_get_width(GTK_WIDGET(area)) / 2.0;
        *y = gtk_widget_get_height(GTK_WIDGET(area)) / 2.0;
        nino_run_pick_kernel(h->run, h->kernel);
        return h->kernel != 0;
    }
    return histogram_pick(area, h, *x);
}

static gboolean histogram_tip(NinoArea *area, double x, double y, GString *text, gpointer user)
{
    (void) y;
    Histogram *h = user;
    NinoPlotBox box;
    char a[40], b[40], count[32];
    GtkWidget *w = GTK_WIDGET(area);
    histogram_plot_box((float) gtk_widget_get_width(w), (float) gtk_widget_get_height(w), &box);
    const int i = (int) floor((x - (double) box.x) / (double) box.w * NINO_HISTOGRAM_BINS);
    if (!h->data.calls || i < 0 || i >= NINO_HISTOGRAM_BINS)
        return FALSE;
    nino_format_ns(a, sizeof(a), h->data.lo_ns + i * h->data.bin_ns);
    nino_format_ns(b, sizeof(b),
                   i == NINO_HISTOGRAM_BINS - 1 ? (double) h->data.max_ns
                                                : h->data.lo_ns + (i + 1) * h->data.bin_ns);
    nino_format_count(count, sizeof(count), (double) h->data.bin[i]);
    g_string_append_printf(
        text, ngettext("%s call of %s to %s", "%s calls of %s to %s", h->data.bin[i]), count, a, b);
    return TRUE;
}

// ---- widget ------------------------------------------------------------------------------------

static void histogram_export_draw(GtkWidget *view, cairo_t *cr, double w, double h,
                                  gboolean is_dark)
{
    const Histogram *data = g_object_get_data(G_OBJECT(view), "histogram");
    nino_area_export(data->area, cr, w, h, is_dark);
}

static void histogram_export_rows(GtkWidget *view, NinoRowFn row, gpointer user)
{
    const Histogram *h = g_object_get_data(G_OBJECT(view), "histogram");
    for (int i = 0; i < NINO_HISTOGRAM_BINS && h->data.calls; i++) {
        const NinoCell cells[] = { { "kernel", nino_run_name(h->run, h->kernel), 0 },
                                   { "from_ns", NULL, h->data.lo_ns + i * h->data.bin_ns },
                                   { "to_ns", NULL,
                                     i == NINO_HISTOGRAM_BINS - 1
                                         ? (double) h->data.max_ns
                                         : h->data.lo_ns + (i + 1) * h->data.bin_ns },
                                   { "calls", NULL, (double) h->data.bin[i] } };
        row(user, cells, G_N_ELEMENTS(cells));
    }
}

static GtkWidget *make_list(Histogram *h)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_XS);
    GtkWidget *title = gtk_label_new(_("Outliers"));
    gtk_label_set_xalign(GTK_LABEL(title), 0);
    gtk_widget_add_css_class(title, "heading");
    gtk_widget_set_tooltip_text(title,
                                _("Calls longer than the third quartile by three times the "
                                  "interquartile range; choose one to see it in the timeline"));
    gtk_widget_set_margin_start(title, NINO_SPACE_S);
    gtk_widget_set_margin_top(title, NINO_SPACE_S);
    h->list = gtk_list_box_new();
    gtk_list_box_set_selection_mode(GTK_LIST_BOX(h->list), GTK_SELECTION_NONE);
    gtk_list_box_set_activate_on_single_click(GTK_LIST_BOX(h->list), TRUE);
    static const NinoEmpty none = { .icon = "object-select-symbolic",
                                    .text = N_("No call is far longer than the others") };
    gtk_list_box_set_placeholder(GTK_LIST_BOX(h->list), nino_empty_new(&none));
    gtk_accessible_update_property(GTK_ACCESSIBLE(h->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Outliers"), -1);
    g_signal_connect(h->list, "row-activated", G_CALLBACK(on_histogram_row), h);
    GtkWidget *scroll = nino_page_scroller_new(h->list);
    gtk_widget_set_vexpand(scroll, TRUE);
    gtk_box_append(GTK_BOX(box), title);
    gtk_box_append(GTK_BOX(box), scroll);
    gtk_widget_set_size_request(box, 220, -1);
    return box;
}

static GtkWidget *new_histogram(NinoRun *run)
{
    static const NinoAreaType type = { .label = N_("Histogram of the selected kernel"),
                                       .draw = histogram_draw,
                                       .draws_itself = TRUE,
                                       .tip = histogram_tip,
                                       .item = histogram_item,
                                       .click = histogram_click,
                                       .menu = histogram_menu,
                                       .min_width = 240,
                                       .min_height = 120 };
    static const NinoViewExport x = { .draw = histogram_export_draw,
                                      .rows = histogram_export_rows };
    Histogram *h = g_new0(Histogram, 1);
    h->run = run;
    h->area = nino_area_new(run, &type, h, NULL);
    GtkWidget *paned = gtk_paned_new(GTK_ORIENTATION_HORIZONTAL);
    gtk_paned_set_start_child(GTK_PANED(paned), h->area);
    gtk_paned_set_end_child(GTK_PANED(paned), h->side = make_list(h));
    gtk_widget_set_visible(h->side, FALSE);
    gtk_paned_set_resize_end_child(GTK_PANED(paned), FALSE);
    gtk_paned_set_shrink_end_child(GTK_PANED(paned), FALSE);
    gtk_paned_set_shrink_start_child(GTK_PANED(paned), FALSE);
    g_object_set_data_full(G_OBJECT(paned), "histogram", h, g_free);
    g_signal_connect_object(run, "changed", G_CALLBACK(on_histogram_changed), h->area,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(run, "cleared", G_CALLBACK(histogram_update), h->area,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(run, "range", G_CALLBACK(histogram_update), h->area, G_CONNECT_SWAPPED);
    g_signal_connect_object(run, "kernel", G_CALLBACK(histogram_update), h->area,
                            G_CONNECT_SWAPPED);
    g_signal_connect(h->area, "map", G_CALLBACK(histogram_update), NULL);
    nino_view_set_export(paned, &x);
    return paned;
}

const NinoViewType nino_view_histogram = {
    .id = "histogram",
    .title = N_("Histogram"),
    .help = N_("How long the calls of the selected kernel took, and the outliers"),
    .create = new_histogram,
};
