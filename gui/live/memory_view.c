// Memory over time: what the pool has handed out, stacked by owner, under what it holds from the
// driver, before what the run's plan uses at most. Each pixel column shows its moment of highest use, so no peak is lost.
#include "plot/view.h"

#include "base/i18n.h"
#include "plot/area.h"

#include <math.h>

enum { LEFT = 74, LEGEND = 18, BOTTOM = 20, PLANNED_COLOUR = 4, ONE_ROW = 1180 };

static const char *const owners[] = { N_("weights"), N_("activations"), N_("workspace"),
                                      N_("staging") };
static const int owner_colour[] = { 0, 1, 2, 5 };

// The second says what of it all is held, planned and allowed.
static int legend_rows(float width) { return width < ONE_ROW ? 2 : 1; }

static void memory_view_plot_box(NinoArea *area, float width, float height, NinoPlotBox *box,
                                 gpointer user)
{
    (void) area, (void) user;
    const float top =
        (float) legend_rows(width) * LEGEND + 12; // half a mark of the axis is above it
    *box = (NinoPlotBox){ LEFT, top, MAX(width - LEFT - 8, 1), MAX(height - top - BOTTOM, 1) };
}

// The end of the value axis: what was ever held, so that it does not jump with the zoom; what was
// ever used or is planned to be, when that would be a line at the bottom of it.
static double memory_view_find_top(const nino_history *h)
{
    nino_mem_stat m;
    nino_stats_memory(nino_history_stats(h), &m);
    const uint64_t use = MAX(m.peak, nino_history_planned(h, NULL));
    const uint64_t held = m.reserved > 4 * use ? 0 : m.reserved;
    const uint64_t budget = m.budget > 4 * use ? 0 : m.budget;
    const double most = (double) MAX(MAX(MAX(use, held), budget), 1 << 20) * 1.02;
    const double step = pow(2, floor(log2(most)) - 2);
    return ceil(most / step) * step;
}

// 0: there is none.
static double memory_view_budget(const nino_history *h)
{
    nino_mem_stat m;
    nino_stats_memory(nino_history_stats(h), &m);
    return (double) m.budget;
}

typedef struct Column {
    float reserved, use[NINO_OWN_COUNT]; // pixels
} Column;

static Column column_of(const nino_history *h, uint64_t t0, uint64_t t1, double top, float height)
{
    nino_mem_point m;
    Column c = { 0 };
    if (!nino_history_memory_peak(h, t0, t1, &m))
        return c;
    double sum = 0;
    const double scale = (double) height / top;
    for (int o = 0; o < NINO_OWN_COUNT; o++) {
        c.use[o] = (float) (round((sum + (double) m.by_owner[o]) * scale) - round(sum * scale));
        sum += (double) m.by_owner[o];
    }
    c.reserved = (float) round((double) m.reserved * scale);
    return c;
}

static gboolean is_memory_view_same(const Column *a, const Column *b)
{
    for (int o = 0; o < NINO_OWN_COUNT; o++)
        if (a->use[o] != b->use[o])
            return FALSE;
    return a->reserved == b->reserved;
}

static void draw_column(NinoPlot *p, const NinoPlotBox *box, const Column *c, float x, float w)
{
    float y = box->y + box->h;
    for (int o = 0; o < NINO_OWN_COUNT; o++) {
        y -= c->use[o];
        nino_plot_bar(p, x, y, w, c->use[o], nino_plot_colour((size_t) owner_colour[o]));
    }
    if (c->reserved > 0 && c->reserved <= box->h)
        nino_plot_bar(p, x, box->y + box->h - c->reserved, w, 1, &p->fg);
}

// What the plan of the run uses at most, from the moment when the run was planned: the whole of it behind the columns, its
// end over them.
static void draw_planned(NinoArea *area, NinoPlot *p, const NinoPlotBox *box, double top,
                         gboolean is_behind)
{
    uint64_t since = 0;
    const double planned =
        (double) nino_history_planned(nino_run_history(nino_area_run(area)), &since);
    const float x = roundf(CLAMP(nino_area_x(area, box, since), box->x, box->x + box->w));
    const float h = (float) round(planned * (double) box->h / top), y = box->y + box->h - h;
    const GdkRGBA *line = nino_plot_colour(PLANNED_COLOUR), band = nino_plot_alpha(line, 0.15f);
    if (planned > 0)
        nino_plot_bar(p, x, y, box->x + box->w - x, is_behind ? h : 2, is_behind ? &band : line);
}

static void memory_view_draw_legend(NinoArea *area, NinoPlot *p, double top)
{
    NinoRun *run = nino_area_run(area);
    nino_history *h = nino_run_history(run);
    nino_mem_point m = { 0 };
    const guint64 cursor = nino_run_cursor(run);
    guint64 from = cursor ? cursor : UINT64_MAX - 1, to = from + 1; // what is now
    if (!cursor && !nino_run_is_live(run))                          // all is given back then
        nino_run_view(run, &from, &to);
    nino_history_memory_peak(h, from, to, &m);
    float x = LEFT;
    char v[32], text[64];
    nino_format_ns(v, sizeof(v), (double) cursor - (double) nino_history_begin(h));
    nino_plot_text(p, LEFT - 8, 3, LEFT - 10, NINO_PLOT_RIGHT, &p->dim,
                   cursor                  ? v
                   : nino_run_is_live(run) ? _("now")
                                           : _("at peak"));
    for (int o = 0; o < NINO_OWN_COUNT && x < p->width - 60; o++) {
        nino_format_bytes(v, sizeof(v), (double) m.by_owner[o]);
        g_snprintf(text, sizeof(text), "%s %s", _(owners[o]), v);
        x = nino_plot_legend(p, x, 3, nino_plot_colour((size_t) owner_colour[o]), text);
    }
    float y = 3;
    if (legend_rows(p->width) > 1) {
        x = LEFT;
        y += LEGEND;
    }
    nino_format_bytes(v, sizeof(v), (double) m.reserved);
    g_snprintf(text, sizeof(text),
               (double) m.reserved > top ? _("held %s (above this axis)") : _("held %s"), v);
    if (x < p->width - 60)
        x = nino_plot_legend(p, x, y, &p->fg, text);
    const double planned = (double) nino_history_planned(h, NULL);
    nino_format_bytes(v, sizeof(v), planned);
    g_snprintf(text, sizeof(text), _("planned %s"), v);
    if (planned > 0 && x < p->width - 60)
        x = nino_plot_legend(p, x, y, nino_plot_colour(PLANNED_COLOUR), text);
    const double budget = memory_view_budget(h);
    nino_format_bytes(v, sizeof(v), budget);
    g_snprintf(text, sizeof(text), budget > top ? _("budget %s (above this axis)") : _("budget %s"),
               v);
    if (budget > 0 && x < p->width - 60)
        nino_plot_legend(p, x, y, nino_plot_colour(NINO_PLOT_FAILED), text);
}

// What the pool may take at most, where the axis reaches so far; else the legend says it alone.
static void draw_budget(NinoPlot *p, const NinoPlotBox *box, double budget, double top)
{
    if (budget > 0 && budget <= top)
        nino_plot_bar(p, box->x, box->y + box->h - (float) round(budget * (double) box->h / top),
                      box->w, 2, nino_plot_colour(NINO_PLOT_FAILED));
}

static void memory_view_draw(NinoArea *area, NinoPlot *p, gpointer user)
{
    NinoRun *run = nino_area_run(area);
    const nino_history *h = nino_run_history(run);
    NinoPlotBox box;
    size_t n;
    guint64 t0, t1;
    memory_view_plot_box(area, p->width, p->height, &box, user);
    nino_history_points(h, NINO_EV_MEM, &n);
    if (!n) {
        nino_plot_empty(p, _("Device memory by owner appears here while a workflow runs"));
        return;
    }
    nino_run_view(run, &t0, &t1);
    const double top = memory_view_find_top(h), per = (double) (t1 - t0) / (double) box.w;
    nino_plot_value_axis(p, &box, top, nino_format_bytes);
    nino_plot_time_axis(p, &box, t0, t1, nino_history_begin(h));
    draw_planned(area, p, &box, top, TRUE);
    Column was = { 0 };
    int since = 0;
    // while records come, half as many columns: half the cost of a frame
    const int columns = (int) box.w, step = nino_run_is_live(run) ? 2 : 1;
    for (int c = 0; c < columns + step; c += step) {
        Column now = { 0 };
        const uint64_t a = t0 + (uint64_t) (per * c);
        if (c < columns && a < nino_history_end(h))
            now = column_of(h, a, MAX(t0 + (uint64_t) (per * (c + step)), a + 1), top, box.h);
        if (c < columns && is_memory_view_same(&now, &was))
            continue;
        draw_column(p, &box, &was, box.x + (float) since, (float) (MIN(c, columns) - since));
        was = now;
        since = c;
    }
    memory_view_draw_legend(area, p, top);
    draw_planned(area, p, &box, top, FALSE);
    draw_budget(p, &box, memory_view_budget(h), top);
    nino_area_draw_marks(area, p, &box);
}

static gboolean memory_view_tip(NinoArea *area, double x, double y, GString *text, gpointer user)
{
    const float width = (float) gtk_widget_get_width(GTK_WIDGET(area));
    if (y < (double) legend_rows(width) * LEGEND) {
        g_string_append(
            text, _("<b>weights</b>: of models; <b>activations</b>: what layers make "
                    "for the next ones; <b>workspace</b>: scratch of one kernel; "
                    "<b>staging</b>: copies on their way between host and device; "
                    "<b>held</b>: what the pool has from the driver, used or not; "
                    "<b>planned</b>: the most that this run should have in use, by its plan; "
                    "<b>budget</b>: what it may take at most. The figures are those at the cursor; "
                    "without one those of now, or of the highest use that is shown of a run "
                    "that is over"));
        return TRUE;
    }
    NinoRun *run = nino_area_run(area);
    GtkWidget *w = GTK_WIDGET(area);
    NinoPlotBox box;
    nino_mem_point m;
    char v[32];
    memory_view_plot_box(area, (float) gtk_widget_get_width(w), (float) gtk_widget_get_height(w),
                         &box, user);
    const guint64 at = nino_area_time(area, &box, x), next = nino_area_time(area, &box, x + 1);
    if (!nino_history_memory_peak(nino_run_history(run), at, MAX(next, at + 1), &m))
        return FALSE;
    nino_format_bytes(v, sizeof(v), (double) m.in_use);
    g_string_append_printf(text, _("<b>%s in use</b>"), v);
    for (int o = 0; o < NINO_OWN_COUNT; o++) {
        nino_format_bytes(v, sizeof(v), (double) m.by_owner[o]);
        g_string_append_printf(text, "\n%s %s", _(owners[o]), v);
    }
    nino_format_bytes(v, sizeof(v), (double) m.reserved);
    g_string_append_printf(text, _("\nheld from the driver %s"), v);
    nino_format_bytes(v, sizeof(v), (double) m.largest_free);
    g_string_append_printf(text, _("\nlargest free block %s"), v);
    const double planned = (double) nino_history_planned(nino_run_history(run), NULL);
    nino_format_bytes(v, sizeof(v), planned);
    if (planned > 0)
        g_string_append_printf(text, _("\nplanned at most %s"), v);
    const double budget = memory_view_budget(nino_run_history(run));
    nino_format_bytes(v, sizeof(v), budget);
    if (budget > 0)
        g_string_append_printf(text, _("\nbudget %s"), v);
    return TRUE;
}

// Every record of the range: time, owners, held, largest free, planned.
static void memory_view_export_rows(GtkWidget *view, NinoRowFn row, gpointer user)
{
    NinoRun *run = nino_area_run(NINO_AREA(view));
    nino_history *h = nino_run_history(run);
    size_t n;
    guint64 t0, t1;
    const nino_event *ev = nino_history_points(h, NINO_EV_MEM, &n);
    nino_run_range(run, &t0, &t1);
    nino_mem_point m;
    uint64_t since = 0;
    const double planned = (double) nino_history_planned(h, &since);
    for (size_t i = nino_history_lower(ev, n, t0); i < n && ev[i].t_ns < t1; i++) {
        if (!nino_history_memory(h, i, &m))
            continue;
        const NinoCell cells[] = {
            { "time_ms", NULL, (double) (m.t_ns - nino_history_begin(h)) * 1e-6 },
            { "in_use_bytes", NULL, (double) m.in_use },
            { "weights_bytes", NULL, (double) m.by_owner[NINO_OWN_WEIGHTS] },
            { "activations_bytes", NULL, (double) m.by_owner[NINO_OWN_ACTIVATION] },
            { "workspace_bytes", NULL, (double) m.by_owner[NINO_OWN_WORKSPACE] },
            { "staging_bytes", NULL, (double) m.by_owner[NINO_OWN_STAGING] },
            { "held_bytes", NULL, (double) m.reserved },
            { "largest_free_bytes", NULL, (double) m.largest_free },
            { "planned_bytes", NULL, planned > 0 && m.t_ns >= since ? planned : (double) NAN },
        };
        row(user, cells, G_N_ELEMENTS(cells));
    }
}

static GtkWidget *new_memory_view(NinoRun *run)
{
    static const NinoAreaType type = { .label = N_("Memory over time"),
                                       .draw = memory_view_draw,
                                       .tip = memory_view_tip,
                                       .box = memory_view_plot_box,
                                       .has_time = TRUE,
                                       .min_width = 260,
                                       .min_height = 110 };
    static const NinoViewExport x = { .draw = nino_area_export, .rows = memory_view_export_rows };
    GtkWidget *w = nino_area_new(run, &type, NULL, NULL);
    nino_view_set_export(w, &x);
    return w;
}

const NinoViewType nino_view_memory = {
    .id = "memory",
    .title = N_("Memory"),
    .help = N_("Device memory over time by what it is used for"),
    .create = new_memory_view,
};
