// The device and the machine over time, on the axis of the timeline: a strip with an axis of its
// own for each kind of memory (the process', GTT, VRAM, RAM, swap: they differ by orders of
// magnitude), load, clocks, power, throttling, temperature.
#include "plot/view.h"

#include "base/i18n.h"
#include "plot/area.h"

#include <math.h>

enum { LEFT = 76, RIGHT = 12, AXIS = 20, GAP = 10, STRIP = 56, LEAST = 240 };

typedef double (*Value)(const nino_event *e);

static double gtt(const nino_event *e)
{
    return e->u.device.gtt_used ? (double) e->u.device.gtt_used : NAN;
}
static double vram(const nino_event *e)
{
    return e->u.device.vram_used ? (double) e->u.device.vram_used : NAN;
}
static double mhz(const nino_event *e) { return (double) e->u.device.mhz; }
static double watt(const nino_event *e) { return (double) e->u.device.watt; }
static double celsius(const nino_event *e) { return (double) e->u.device.celsius; }
static double busy(const nino_event *e) { return (double) e->u.device.busy; }
static double own(const nino_event *e) { return e->u.host.own ? e->u.host.own * 1048576.0 : NAN; }
static double others(const nino_event *e)
{
    return e->u.host.gtt_others ? e->u.host.gtt_others * 4194304.0 : NAN;
}
// One line for each reason, so that what throttles can be told apart.
static double throttle(const nino_event *e, unsigned bits)
{
    return e->u.host.throttle & bits ? 1 : NAN;
}
static double by_power(const nino_event *e)
{
    return throttle(e, NINO_THROTTLE_POWER | NINO_THROTTLE_CURRENT);
}
static double by_heat(const nino_event *e)
{
    return throttle(e, NINO_THROTTLE_TEMPERATURE | NINO_THROTTLE_PROCHOT);
}
static double by_other(const nino_event *e) { return throttle(e, NINO_THROTTLE_OTHER); }
static double swap(const nino_event *e)
{
    return e->u.host.swap_total ? e->u.host.swap_used * 1048576.0 : NAN;
}
static double cpu(const nino_event *e) { return (double) e->u.host.cpu_busy; }
static double fabric(const nino_event *e) { return (double) e->u.host.fabric_mhz; }
static double memory_mhz(const nino_event *e) { return (double) e->u.host.memory_mhz; }
static double ram_total(const nino_event *e) { return e->u.host.ram_total * 1048576.0; }
// What does not belong to the process; what is available and its share of GTT, which lies in RAM,
// are in the samples of the device: value_of() takes them off.
static double ram_others(const nino_event *e)
{
    return e->u.host.ram_total ? ram_total(e) - e->u.host.own * 1048576.0 : NAN;
}
static double available(const nino_event *e)
{
    return e->u.device.ram_available ? (double) e->u.device.ram_available : NAN;
}

static void format_mhz(char *buf, size_t n, double v) { g_snprintf(buf, n, "%.0f MHz", v); }
static void format_watt(char *buf, size_t n, double v) { g_snprintf(buf, n, "%.0f W", v); }
static void format_celsius(char *buf, size_t n, double v) { g_snprintf(buf, n, "%.0f °C", v); }
static void format_throttle(char *buf, size_t n, double v)
{
    g_snprintf(buf, n, "%s", v > 0 ? _("yes") : _("no"));
}
static void format_percent(char *buf, size_t n, double v) { g_snprintf(buf, n, "%.0f %%", v); }

typedef struct Series {
    const char *name, *column;
    nino_event_kind kind;
    Value value;
    size_t colour;
} Series;

typedef struct Strip {
    const char *name;
    void (*format)(char *buf, size_t size, double v);
    double least_top; // of the axis
    Series series[3];
} Strip;

static const Strip strips[] = {
    { N_("Process"),
      nino_format_bytes,
      1 << 20,
      { { N_("RAM of the process"), "process_bytes", NINO_EV_HOST, own, 2 } } },
    { "GTT",
      nino_format_bytes,
      1 << 20,
      { { N_("GTT in use"), "gtt_bytes", NINO_EV_DEVICE, gtt, 0 },
        { N_("GTT of others"), "gtt_others_bytes", NINO_EV_HOST, others, 7 } } },
    { "VRAM",
      nino_format_bytes,
      1 << 20,
      { { N_("VRAM in use"), "vram_bytes", NINO_EV_DEVICE, vram, 1 } } },
    { "RAM",
      nino_format_bytes,
      1 << 20,
      { { N_("RAM available"), "ram_available_bytes", NINO_EV_DEVICE, available, 4 },
        { N_("RAM of others"), "ram_others_bytes", NINO_EV_HOST, ram_others, 7 } } },
    { N_("Swap"),
      nino_format_bytes,
      1 << 20,
      { { N_("swap in use"), "swap_bytes", NINO_EV_HOST, swap, 3 } } },
    { N_("Load"),
      format_percent,
      100,
      { { "GPU", "gpu_percent", NINO_EV_DEVICE, busy, 0 },
        { "CPU", "cpu_percent", NINO_EV_HOST, cpu, 1 } } },
    { N_("Clock"),
      format_mhz,
      100,
      { { N_("clock"), "mhz", NINO_EV_DEVICE, mhz, 2 },
        { N_("fabric"), "fabric_mhz", NINO_EV_HOST, fabric, 5 },
        { N_("memory clock"), "memory_mhz", NINO_EV_HOST, memory_mhz, 7 } } },
    { N_("Power"), format_watt, 10, { { N_("power"), "watt", NINO_EV_DEVICE, watt, 3 } } },
    { N_("Throttled"),
      format_throttle,
      1,
      { { N_("by power or current"), "throttled_power", NINO_EV_HOST, by_power, 3 },
        { N_("by temperature"), "throttled_temperature", NINO_EV_HOST, by_heat, 5 },
        { N_("not said by what"), "throttled_other", NINO_EV_HOST, by_other, 7 } } },
    { N_("Temperature"),
      format_celsius,
      60,
      { { N_("temperature"), "celsius", NINO_EV_DEVICE, celsius, 5 } } },
};
enum { N_STRIPS = G_N_ELEMENTS(strips), N_SERIES = 3 };

static const nino_event *points(NinoRun *run, nino_event_kind kind, size_t *n)
{
    const nino_event *ev = nino_history_points(nino_run_history(run), kind, n);
    if (!ev)
        *n = 0;
    return ev;
}

static double value_of(NinoRun *run, const Series *s, const nino_event *e)
{
    size_t n;
    const double v = s->value(e);
    if (s->value != ram_others || isnan(v))
        return v;
    const nino_event *d = points(run, NINO_EV_DEVICE, &n);
    const size_t at = n ? nino_history_lower(d, n, e->t_ns + 1) : 0;
    d = d && n ? &d[at ? at - 1 : 0] : NULL;
    if (!d || !d->u.device.ram_available)
        return NAN;
    const double own_gtt = (double) d->u.device.gtt_used - e->u.host.gtt_others * 4194304.0;
    return MAX(v - (double) d->u.device.ram_available - MAX(own_gtt, 0), 0);
}

// The next value of two digits, in binary units if it is bytes.
static double round_up(const Strip *s, double v)
{
    const double unit = s->format == nino_format_bytes ? pow(1024, floor(log(v) / log(1024))) : 1;
    const double step = pow(10, floor(log10(v / unit)) - 1) * unit;
    return ceil(v / step - 1e-9) * step;
}

// Highest value of a strip; NaN: no value at all (the strip is left out).
static double top_of(NinoRun *run, const Strip *s)
{
    double top = NAN;
    for (int i = 0; i < N_SERIES && s->series[i].name; i++) {
        size_t n;
        const nino_event *ev = points(run, s->series[i].kind, &n);
        for (size_t k = 0; k < n; k++) {
            const double v = value_of(run, &s->series[i], &ev[k]);
            if (isfinite(v) && !(v <= top))
                top = v;
        }
    }
    if (isnan(top))
        return top;
    size_t n; // all the RAM there is
    const nino_event *host = points(run, NINO_EV_HOST, &n);
    const double all = n && s->series[1].value == ram_others ? ram_total(&host[n - 1]) : 0;
    if (s->format == format_percent)
        return MAX(top, s->least_top);
    return all ? MAX(all, top) : round_up(s, MAX(top * 1.05, s->least_top));
}

// The sample that holds at t: the last one with a value before it, or the first one. NULL: none.
static const nino_event *sample_at(NinoRun *run, const Series *s, guint64 t)
{
    size_t n;
    const nino_event *ev = points(run, s->kind, &n);
    const size_t end = n ? nino_history_lower(ev, n, t + 1) : 0;
    for (size_t i = end; i > 0; i--)
        if (isfinite(value_of(run, s, &ev[i - 1])))
            return &ev[i - 1];
    for (size_t i = end; i < n; i++)
        if (isfinite(value_of(run, s, &ev[i])))
            return &ev[i];
    return NULL;
}

// ---- drawing -----------------------------------------------------------------------------------

// One bar a pixel column, from the lowest to the highest sample in it.
static void draw_series(NinoArea *area, NinoPlot *p, const NinoPlotBox *b, const Series *s,
                        double top, guint64 t0, guint64 t1)
{
    size_t n;
    const nino_event *ev = points(nino_area_run(area), s->kind, &n);
    const GdkRGBA *c = nino_plot_colour(s->colour);
    float last_y = NAN, last_x = 0;
    size_t i = n ? nino_history_lower(ev, n, t0) : 0;
    i = i ? i - 1 : 0;
    while (i < n && ev[i].t_ns < t1) {
        const float x = floorf(nino_area_x(area, b, ev[i].t_ns));
        double lo = INFINITY, hi = -INFINITY;
        for (; i < n && floorf(nino_area_x(area, b, ev[i].t_ns)) <= x; i++) {
            const double v = value_of(nino_area_run(area), s, &ev[i]);
            lo = isfinite(v) ? MIN(lo, v) : lo;
            hi = isfinite(v) ? MAX(hi, v) : hi;
        }
        if (hi < lo) {
            last_y = NAN;
            continue;
        }
        const float y1 = roundf(b->y + b->h - (float) (hi / top) * b->h) - 1;
        const float y0 = roundf(b->y + b->h - (float) (lo / top) * b->h) + 1;
        if (isfinite(last_y)) { // a step from the sample before
            nino_plot_bar(p, last_x, last_y, x - last_x, 2, c);
            nino_plot_bar(p, x, MIN(last_y, y1), 2, MAX(fabsf(last_y - y1), 2), c);
        }
        nino_plot_bar(p, x, y1, 2, MAX(y0 - y1, 2), c);
        last_y = y1;
        last_x = x;
    }
}

static void draw_strip(NinoArea *area, NinoPlot *p, const NinoPlotBox *b, const Strip *s,
                       double top, guint64 t0, guint64 t1)
{
    float x = b->x + 4;
    const float line = nino_plot_text_height(p);
    if (b->h < line * 5) { // no room for steps between
        char text[32];
        s->format(text, sizeof(text), top);
        nino_plot_bar(p, b->x, b->y + b->h - 1, b->w, 1, &p->grid);
        nino_plot_text(p, b->x - 6, b->y - floorf(line / 2), LEFT - 8, NINO_PLOT_RIGHT, &p->dim,
                       text);
        s->format(text, sizeof(text), 0);
        if (b->h >= line * 1.8f) // else they would lie on each other
            nino_plot_text(p, b->x - 6, b->y + b->h - line, LEFT - 8, NINO_PLOT_RIGHT, &p->dim,
                           text);
    } else {
        nino_plot_value_axis(p, b, top, s->format);
    }
    nino_plot_clip(p, b->x, b->y - 2, b->w, b->h + 4);
    for (int i = 0; i < N_SERIES && s->series[i].name; i++)
        draw_series(area, p, b, &s->series[i], top, t0, t1);
    nino_plot_unclip(p);
    for (int i = 0; i < N_SERIES && s->series[i].name; i++) {
        char text[80], v[32];
        const Series *k = &s->series[i];
        NinoRun *run = nino_area_run(area);
        const guint64 cursor = nino_run_cursor(run); // its values, else those of the end
        const nino_event *e = sample_at(run, k, cursor ? cursor : UINT64_MAX - 1);
        if (!e)
            continue;
        s->format(v, sizeof(v), value_of(run, k, e));
        g_snprintf(text, sizeof(text), "%s %s", _(k->name), v);
        const GdkRGBA bg = nino_plot_alpha(&p->bg, 0.7f);
        nino_plot_bar(p, x - 2, b->y - nino_plot_text_height(p) - 2,
                      nino_plot_text_width(p, text) + 18, nino_plot_text_height(p), &bg);
        x = nino_plot_legend(p, x, b->y - nino_plot_text_height(p) - 2, nino_plot_colour(k->colour),
                             text);
    }
}

static void get_box(NinoArea *area, float width, float height, NinoPlotBox *box, gpointer user)
{
    (void) area;
    (void) user;
    *box = (NinoPlotBox){ LEFT, 4, MAX(width - LEFT - RIGHT, 10), MAX(height - AXIS - 8, 10) };
}

static void draw(NinoArea *area, NinoPlot *p, gpointer user)
{
    NinoRun *run = nino_area_run(area);
    NinoPlotBox all;
    guint64 t0, t1;
    double top[N_STRIPS];
    int n = 0, k = 0;
    for (size_t i = 0; i < N_STRIPS; i++) {
        top[i] = top_of(run, &strips[i]);
        n += !isnan(top[i]);
    }
    if (!n) {
        nino_plot_empty(
            p, _("Memory, clock, power, temperature and load appear here while a job runs"));
        return;
    }
    get_box(area, p->width, p->height, &all, user);
    nino_run_view(run, &t0, &t1);
    const float each = floorf((all.h + GAP) / (float) n);
    for (size_t i = 0; i < N_STRIPS; i++) {
        if (isnan(top[i]))
            continue;
        const float line = nino_plot_text_height(p) + 2; // for the names and values above it
        const NinoPlotBox b = { all.x, all.y + (float) k++ * each + line, all.w,
                                MAX(each - GAP - line, 4) };
        draw_strip(area, p, &b, &strips[i], top[i], t0, t1);
    }
    nino_plot_time_axis(p, &all, t0, t1, nino_history_begin(nino_run_history(run)));
    nino_area_draw_marks(area, p, &all);
}

static gboolean tip(NinoArea *area, double x, double y, GString *text, gpointer user)
{
    NinoPlotBox b;
    (void) y;
    GtkWidget *w = GTK_WIDGET(area);
    get_box(area, (float) gtk_widget_get_width(w), (float) gtk_widget_get_height(w), &b, user);
    if (x < (double) b.x) {
        g_string_append(text, _("<b>GTT</b>: memory of the machine that the device may use; "
                                "<b>VRAM</b>: memory of its own; <b>process</b>: the one that "
                                "computes; <b>others</b>: what neither is available nor belongs to "
                                "the process or to its GTT"));
        return TRUE;
    }
    const guint64 t = nino_area_time(area, &b, x);
    for (size_t i = 0; i < N_STRIPS; i++)
        for (int k = 0; k < N_SERIES && strips[i].series[k].name; k++) {
            char v[40];
            const Series *s = &strips[i].series[k];
            const nino_event *e = sample_at(nino_area_run(area), s, t);
            if (!e)
                continue;
            strips[i].format(v, sizeof(v), value_of(nino_area_run(area), s, e));
            g_string_append_printf(text, "%s%s: %s", text->len ? "\n" : "", _(s->name), v);
        }
    return text->len > 0;
}

// ---- widget ------------------------------------------------------------------------------------

static void export_rows(GtkWidget *view, NinoRowFn row, gpointer user)
{
    NinoRun *run = nino_area_run(g_object_get_data(G_OBJECT(view), "area"));
    size_t n, m;
    const nino_event *d = points(run, NINO_EV_DEVICE, &n), *h = points(run, NINO_EV_HOST, &m);
    const uint64_t begin = nino_history_begin(nino_run_history(run));
    for (size_t i = 0; i < n; i++) {
        NinoCell cells[1 + N_STRIPS * N_SERIES] = {
            { "seconds", NULL, ((double) d[i].t_ns - (double) begin) * 1e-9 }
        };
        size_t k = 1, at = m ? nino_history_lower(h, m, d[i].t_ns) : 0;
        at = at < m ? at : m ? m - 1 : 0;
        for (size_t s = 0; s < N_STRIPS; s++)
            for (int j = 0; j < N_SERIES && strips[s].series[j].name; j++) {
                const Series *x = &strips[s].series[j];
                const nino_event *e = x->kind == NINO_EV_DEVICE ? &d[i] : m ? &h[at] : NULL;
                cells[k++] = (NinoCell){ x->column, NULL, e ? value_of(run, x, e) : NAN };
            }
        row(user, cells, k);
    }
}

static void export_draw(GtkWidget *view, cairo_t *cr, double w, double h, gboolean is_dark)
{
    nino_area_export(g_object_get_data(G_OBJECT(view), "area"), cr, w, h, is_dark);
}

// As high as its strips need; the view scrolls when they are many.
static void on_changed(NinoArea *area)
{
    int n = 0, now;
    for (size_t i = 0; i < N_STRIPS; i++)
        n += !isnan(top_of(nino_area_run(area), &strips[i]));
    gtk_widget_get_size_request(GTK_WIDGET(area), NULL, &now);
    if (MAX(n * STRIP, LEAST) != now)
        gtk_widget_set_size_request(GTK_WIDGET(area), 320, MAX(n * STRIP, LEAST));
}

static GtkWidget *new_device_view(NinoRun *run)
{
    static const NinoAreaType type = { .label = N_("Device counters"),
                                       .draw = draw,
                                       .tip = tip,
                                       .box = get_box,
                                       .has_time = TRUE,
                                       .min_width = 320,
                                       .min_height = LEAST };
    static const NinoViewExport x = { .draw = export_draw, .rows = export_rows };
    GtkWidget *area = nino_area_new(run, &type, NULL, NULL), *w = gtk_scrolled_window_new();
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(w), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(w), area);
    g_object_set_data(G_OBJECT(w), "area", area);
    g_signal_connect_object(run, "changed", G_CALLBACK(on_changed), area, G_CONNECT_SWAPPED);
    on_changed(NINO_AREA(area));
    nino_view_set_export(w, &x);
    return w;
}

const NinoViewType nino_view_device = {
    .id = "device",
    .title = N_("Device"),
    .help = N_("Memory, load, clock, power and temperature over time"),
    .create = new_device_view,
};
