// The steps of the sampler: how long each took, its sigma, what previews cost, which ones were far
// slower than their like.
#include "plot/view.h"

#include "base/i18n.h"
#include "plot/area.h"

#include <math.h>

enum { LEFT = 84, RIGHT = 66, BOTTOM = 38, MAX_STEPS = 2048 };

typedef struct Steps {
    NinoRun *run; // the widgets hold it
    const nino_event *ev;
    size_t n, total;
    double median, limit, sum, preview_s; // limit: what is longer is slow
    double usual;                         // the longest that is not far above the median
    double most_sigma, least_sigma, top;
} Steps;

static int step_plot_by_value(const void *x, const void *y)
{
    const double a = *(const double *) x, b = *(const double *) y;
    return a < b ? -1 : a > b;
}

static uint64_t begin_of(const nino_event *step)
{
    return step->t_ns - MIN(step->t_ns, (uint64_t) (step->u.step.seconds * 1e9));
}

static double median_of(double *list, size_t n)
{
    qsort(list, n, sizeof(*list), step_plot_by_value);
    return (list[n / 2] + list[(n - 1) / 2]) / 2;
}

// Seven times the median deviation lies where Tukey's far outliers begin, among normal ones; unlike quartiles, which of four steps
// are the extremes themselves, it tells one that is slow from three that are not.
static double slow_limit(double *list, size_t n, double median)
{
    if (n < 3)
        return INFINITY; // which of two is the usual one cannot be told
    for (size_t i = 0; i < n; i++)
        list[i] = fabs(list[i] - median);
    return median + MAX(7 * median_of(list, n), 0.3 * median);
}

static gboolean is_slow(const Steps *s, size_t i) { return s->ev[i].u.step.seconds > s->limit; }

// The steps of the last sampling.
static void step_plot_update(Steps *s)
{
    size_t n, m;
    nino_history *h = nino_run_history(s->run);
    const nino_event *ev = nino_history_points(h, NINO_EV_STEP_INFO, &n);
    const nino_event *pre = nino_history_points(h, NINO_EV_PREVIEW, &m);
    *s = (Steps){ .run = s->run };
    if (!ev || !n)
        return;
    size_t first = n - 1;
    while (first > 0 && ev[first - 1].u.step.step < ev[first].u.step.step && n - first < MAX_STEPS)
        first--;
    s->ev = ev + first;
    s->n = n - first;
    s->total = MAX(ev[n - 1].u.step.total, s->n);
    double *sorted = g_new(double, s->n);
    s->least_sigma = INFINITY;
    for (size_t i = 0; i < s->n; i++) {
        sorted[i] = s->ev[i].u.step.seconds;
        s->sum += sorted[i];
        s->top = MAX(s->top, sorted[i]);
        const double sigma = s->ev[i].u.step.sigma;
        s->most_sigma = isfinite(sigma) ? MAX(s->most_sigma, sigma) : s->most_sigma;
        s->least_sigma = isfinite(sigma) && sigma > 0 ? MIN(s->least_sigma, sigma) : s->least_sigma;
    }
    s->median = median_of(sorted, s->n);
    for (size_t i = 0; i < s->n; i++)
        s->usual = sorted[i] <= 4 * s->median ? sorted[i] : s->usual;
    s->limit = slow_limit(sorted, s->n, s->median);
    g_free(sorted);
    const uint64_t begin = begin_of(&s->ev[0]);
    for (size_t i = pre ? nino_history_lower(pre, m, begin) : m; i < m; i++)
        s->preview_s += pre[i].u.step.seconds;
}

// What the device took from begin to end, from its samples of power, each of which stands for the
// time since the one before; NAN: it does not tell.
static double joules(const Steps *s, uint64_t begin, uint64_t end)
{
    size_t n;
    const nino_reading *d =
        nino_history_counter(nino_run_history(s->run), NINO_COUNTER_GPU_POWER, &n);
    double sum = NAN;
    for (size_t i = nino_reading_lower(d, n, begin); i < n; i++) {
        const uint64_t from = i ? MAX(d[i - 1].t_ns, begin) : begin, to = MIN(d[i].t_ns, end);
        if (from >= end)
            break;
        if (isfinite(d[i].value) && to > from)
            sum = (isnan(sum) ? 0 : sum) + d[i].value * (double) (to - from) * 1e-9;
    }
    return sum;
}

static NinoPlotBox step_plot_box_of(float width, float height, float line)
{
    const float top = line + 14;
    return (NinoPlotBox){ LEFT, top, MAX(width - LEFT - RIGHT, 10),
                          MAX(height - top - BOTTOM, 10) };
}

static float sigma_y(const Steps *s, const NinoPlotBox *b, double sigma)
{
    const double lo = log(s->least_sigma), hi = log(s->most_sigma);
    const double t = hi > lo && sigma > 0 ? (log(sigma) - lo) / (hi - lo) : 0;
    return b->y + b->h - (float) CLAMP(t, 0, 1) * (b->h - 4) - 2;
}

static void format_seconds(char *buf, size_t size, double v) { nino_format_ns(buf, size, v * 1e9); }

static void draw_sigma(const Steps *s, NinoPlot *p, const NinoPlotBox *b)
{
    float(*xy)[2] = g_malloc0_n(s->n, sizeof(*xy));
    size_t n = 0;
    char text[32];
    if (s->most_sigma > 0 && isfinite(s->least_sigma)) {
        const size_t stride = s->n / 300 + 1; // few enough for a smooth stroke
        for (size_t i = 0; i < s->n; i += stride) {
            xy[n][0] = b->x + ((float) i + 0.5f) * b->w / (float) s->total;
            xy[n++][1] = sigma_y(s, b, s->ev[i].u.step.sigma);
        }
        nino_plot_line(p, xy, n, 2, 0, nino_plot_colour(3));
        const float line = nino_plot_text_height(p);
        g_snprintf(text, sizeof(text), "σ %.3g", s->most_sigma);
        nino_plot_text(p, b->x + b->w + 5, b->y - 2, RIGHT - 6, NINO_PLOT_LEFT, nino_plot_colour(3),
                       text);
        g_snprintf(text, sizeof(text), "σ %.3g", s->least_sigma);
        nino_plot_text(p, b->x + b->w + 5, b->y + b->h - line, RIGHT - 6, NINO_PLOT_LEFT,
                       nino_plot_colour(3), text);
    }
    g_free(xy);
}

static void step_plot_draw_head(const Steps *s, NinoPlot *p, const GdkRGBA *line, size_t slow)
{
    char text[320], median[32], cost[128] = "";
    nino_format_ns(median, sizeof(median), s->median * 1e9);
    if (s->preview_s > 0)
        g_snprintf(cost, sizeof(cost), _(", previews %.1f %%"),
                   100 * s->preview_s / (s->sum + s->preview_s));
    const double energy = joules(s, begin_of(&s->ev[0]), s->ev[s->n - 1].t_ns);
    if (isfinite(energy)) {
        const size_t at = strlen(cost);
        g_snprintf(cost + at, sizeof(cost) - at, _(", %.3g J a step"), energy / (double) s->n);
    }
    g_snprintf(text, sizeof(text), _("%zu of %zu steps, median %s, %.2f steps/s%s, %zu slow"), s->n,
               s->total, median, s->sum > 0 ? (double) s->n / s->sum : 0, cost, slow);
    float x = nino_plot_legend(p, LEFT, 4, nino_plot_colour(0), _("step"));
    x = nino_plot_legend(p, x, 4, nino_plot_colour(5), _("slow"));
    x = nino_plot_legend(p, x, 4, line, _("median"));
    x = nino_plot_legend(p, x, 4, nino_plot_colour(3), _("sigma (log)"));
    nino_plot_text(p, p->width - 10, 4, p->width - x - 16, NINO_PLOT_RIGHT, &p->fg, text);
}

static void step_plot_draw(NinoArea *area, NinoPlot *p, gpointer user)
{
    (void) area;
    Steps *s = user;
    size_t slow = 0;
    step_plot_update(s);
    if (!s->n) {
        nino_plot_empty(p, _("The steps of the sampler appear here"));
        return;
    }
    const NinoPlotBox b = step_plot_box_of(p->width, p->height, nino_plot_text_height(p));
    // Steps that took many times as long (the first compiles) do not press the others flat.
    const gboolean is_cut = s->n > 2 && s->top > 4 * s->usual;
    const double top = is_cut ? s->usual * 1.8 : s->top * 1.08;
    nino_plot_value_axis(p, &b, top, format_seconds);
    const float each = b.w / (float) s->total;
    for (size_t i = 0; i < s->n; i++) {
        const double v = s->ev[i].u.step.seconds;
        const float x0 = floorf(b.x + (float) i * each), x1 = floorf(b.x + (float) (i + 1) * each);
        const float h = roundf((float) (MIN(v / top, 1)) * b.h);
        slow += is_slow(s, i);
        nino_plot_bar(p, x0, b.y + b.h - h, MAX(x1 - x0 - (each > 4 ? 2 : 0), 1), MAX(h, 1),
                      nino_plot_colour(is_slow(s, i) ? 5 : 0));
        if (v > top) { // goes on above: a gap, and how long it is
            char text[40];
            nino_format_ns(text, sizeof(text), v * 1e9);
            nino_plot_bar(p, x0, b.y + 4, x1 - x0, 2, &p->bg);
            if (x1 - x0 > nino_plot_text_width(p, text) + 8) {
                const GdkRGBA ink = nino_plot_ink(nino_plot_colour(is_slow(s, i) ? 5 : 0));
                nino_plot_text(p, floorf((x0 + x1) / 2), b.y + 8, 0, NINO_PLOT_CENTRE, &ink, text);
            }
        }
    }
    const GdkRGBA line = nino_plot_alpha(&p->fg, 0.6f);
    nino_plot_bar(p, b.x, roundf(b.y + b.h - (float) (s->median / top) * b.h), b.w, 1, &line);
    draw_sigma(s, p, &b);
    const size_t step =
        (size_t) MAX(nino_plot_step((double) s->total, MAX((int) (b.w / 60), 1)), 1);
    for (size_t i = 0; i < s->total; i += step) {
        char text[24];
        g_snprintf(text, sizeof(text), "%zu", i + 1);
        nino_plot_text(p, b.x + ((float) i + 0.5f) * each, b.y + b.h + 2, 0, NINO_PLOT_CENTRE,
                       &p->dim, text);
    }
    nino_plot_text(p, b.x + b.w / 2, b.y + b.h + nino_plot_text_height(p) + 3, b.w,
                   NINO_PLOT_CENTRE, &p->dim, _("step"));
    step_plot_draw_head(s, p, &line, slow);
}

static const nino_event *step_plot_at(NinoArea *area, Steps *s, double x)
{
    const NinoPlotBox b = step_plot_box_of((float) gtk_widget_get_width(GTK_WIDGET(area)),
                                           (float) gtk_widget_get_height(GTK_WIDGET(area)), 0);
    step_plot_update(s);
    const double i = (x - (double) b.x) / (double) b.w * (double) s->total;
    return i >= 0 && i < (double) s->n ? &s->ev[(size_t) i] : NULL;
}

static gboolean step_plot_item(NinoArea *area, int i, double *x, double *y, gpointer user)
{
    Steps *s = user;
    GtkWidget *w = GTK_WIDGET(area);
    const NinoPlotBox b = step_plot_box_of((float) gtk_widget_get_width(w),
                                           (float) gtk_widget_get_height(w), nino_area_line(area));
    step_plot_update(s);
    if ((size_t) i >= s->n)
        return FALSE;
    *x = (double) b.x + (i + 0.5) * (double) b.w / (double) s->total;
    *y = (double) (b.y + b.h) - s->ev[i].u.step.seconds / (s->top * 1.08) * (double) b.h;
    return TRUE;
}

static gboolean step_plot_tip(NinoArea *area, double x, double y, GString *text, gpointer user)
{
    Steps *s = user;
    const nino_event *e = step_plot_at(area, s, x);
    char took[32];
    if (s->n && y < (double) nino_area_line(area) + 8) {
        g_string_append(text, _("<b>slow</b>: longer than the median by 30 percent, and by "
                                "seven times the median deviation from it; "
                                "<b>sigma</b>: how much noise was left"));
        return TRUE;
    }
    if (!e)
        return FALSE;
    nino_format_ns(took, sizeof(took), e->u.step.seconds * 1e9);
    g_string_append_printf(text, _("<b>Step %u of %u</b>: %s, %.0f %% of the median\nsigma %.4g"),
                           e->u.step.step, e->u.step.total, took,
                           100 * e->u.step.seconds / s->median, e->u.step.sigma);
    return TRUE;
}

// Shows the step on the time axis of the other plots.
static gboolean step_plot_click(NinoArea *area, double x, double y, int n_press, gpointer user)
{
    const nino_event *e = step_plot_at(area, user, x);
    (void) y;
    if (!e || n_press != 1)
        return FALSE;
    const guint64 d = (guint64) (e->u.step.seconds * 1e9);
    NinoRun *run = nino_area_run(area);
    nino_run_select(run, e->t_ns - MIN(d, e->t_ns), e->t_ns);
    nino_run_pick_span(run, nino_history_span_of(nino_run_history(run), e->parent));
    return TRUE;
}

static void step_plot_export_rows(GtkWidget *view, NinoRowFn row, gpointer user)
{
    Steps *s = nino_area_user(NINO_AREA(view));
    step_plot_update(s);
    for (size_t i = 0; i < s->n; i++) {
        const NinoCell cells[] = { { "step", NULL, s->ev[i].u.step.step },
                                   { "ms", NULL, s->ev[i].u.step.seconds * 1e3 },
                                   { "sigma", NULL, s->ev[i].u.step.sigma },
                                   { "joules", NULL,
                                     joules(s, begin_of(&s->ev[i]), s->ev[i].t_ns) },
                                   { "slow", is_slow(s, i) ? "yes" : "no", 0 } };
        row(user, cells, G_N_ELEMENTS(cells));
    }
}

static GtkWidget *new_step_plot(NinoRun *run)
{
    static const NinoAreaType type = { .label = N_("Sampler steps"),
                                       .draw = step_plot_draw,
                                       .tip = step_plot_tip,
                                       .item = step_plot_item,
                                       .click = step_plot_click,
                                       .min_width = 320,
                                       .min_height = 180 };
    static const NinoViewExport x = { .draw = nino_area_export, .rows = step_plot_export_rows };
    Steps *s = g_new0(Steps, 1);
    s->run = run;
    GtkWidget *w = nino_area_new(run, &type, s, g_free);
    nino_view_set_export(w, &x);
    return w;
}

const NinoViewType nino_view_step_plot = {
    .id = "steps",
    .title = N_("Steps"),
    .help = N_("How long every sampler step took, and its sigma"),
    .create = new_step_plot,
};
