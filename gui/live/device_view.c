// The device and the machine over time, on the axis of the timeline: a strip with an axis of its
// own for each kind of memory (the process', GTT, VRAM, RAM, swap: they differ by orders of
// magnitude), load, clocks, power, throttling, temperature.
#include "plot/view.h"

#include "base/i18n.h"
#include "base/scroller.h"
#include "plot/area.h"

#include <math.h>

enum { LEFT = 76, RIGHT = 12, AXIS = 20, GAP = 10, STRIP = 56, LEAST = 240 };

static void format_mhz(char *buf, size_t n, double v) { g_snprintf(buf, n, "%.0f MHz", v); }
static void format_watt(char *buf, size_t n, double v) { g_snprintf(buf, n, "%.0f W", v); }
static void format_celsius(char *buf, size_t n, double v) { g_snprintf(buf, n, "%.0f °C", v); }
static void format_throttle(char *buf, size_t n, double v)
{
    g_snprintf(buf, n, "%s", v > 0 ? _("yes") : _("no"));
}
static void format_percent(char *buf, size_t n, double v) { g_snprintf(buf, n, "%.0f %%", v); }

typedef struct Series Series;
// What is drawn of a reading; NaN: nothing.
typedef double (*Value)(NinoRun *run, const Series *s, const nino_reading *r);

struct Series {
    const char *name, *column;
    nino_counter_id counter;
    Value value;   // NULL: as it was told
    unsigned bits; // of flags()
    size_t colour;
};

static double others(NinoRun *run, const Series *s, const nino_reading *r);
static double flags(NinoRun *run, const Series *s, const nino_reading *r);

// Strips have the counters whose plot they are (ninodes/counter.h), then what is made of some.
enum { MAX_STRIPS = 32, N_SERIES = 8 };
typedef struct Strip {
    const char *name;
    double least_top; // of the axis
    Series own[3];    // not in the table
    nino_unit unit;
    void (*format)(char *buf, size_t size, double v);
    Series series[N_SERIES];
} Strip;

static Strip strips[MAX_STRIPS] = {
    { .name = N_("Process"), .least_top = 1 << 20 },
    { .name = "GTT", .least_top = 1 << 20 },
    { .name = "VRAM", .least_top = 1 << 20 },
    { .name = "RAM",
      .least_top = 1 << 20,
      .own = { { N_("RAM of others"), "ram_others_bytes", NINO_COUNTER_RAM_TOTAL, others, 0,
                 7 } } },
    { .name = N_("Swap"), .least_top = 1 << 20 },
    { .name = N_("Load"), .least_top = 100 },
    { .name = N_("Clock"), .least_top = 100 },
    { .name = N_("Power"), .least_top = 10 },
    { .name = N_("Throttled"),
      .least_top = 1,
      .format = format_throttle,
      .own = { { N_("by power or current"), "throttled_power", NINO_COUNTER_GPU_THROTTLE, flags,
                 NINO_THROTTLE_POWER | NINO_THROTTLE_CURRENT, 3 },
               { N_("by temperature"), "throttled_temperature", NINO_COUNTER_GPU_THROTTLE, flags,
                 NINO_THROTTLE_TEMPERATURE | NINO_THROTTLE_PROCHOT, 5 },
               { N_("not said by what"), "throttled_other", NINO_COUNTER_GPU_THROTTLE, flags,
                 NINO_THROTTLE_OTHER, 7 } } },
    { .name = N_("Temperature"), .least_top = 60 },
};
static size_t n_strips; // 0: not filled in yet

static void add_series(Strip *s, const Series *add)
{
    for (int i = 0; i < N_SERIES; i++)
        if (!s->series[i].name) {
            s->series[i] = *add;
            return;
        }
}

// A plot that is not among the strips becomes one behind them.
static void fill_strips(void)
{
    static void (*const formats[])(char *, size_t, double) = {
        [NINO_UNIT_NONE] = nino_format_count,  [NINO_UNIT_PERCENT] = format_percent,
        [NINO_UNIT_BYTES] = nino_format_bytes, [NINO_UNIT_MHZ] = format_mhz,
        [NINO_UNIT_WATT] = format_watt,        [NINO_UNIT_CELSIUS] = format_celsius
    };
    const nino_counter *c;
    if (n_strips)
        return;
    for (unsigned id = 1; (c = nino_counter_row(id)); id++)
        for (size_t i = 0; c->plot && i < MAX_STRIPS; i++)
            if (!strips[i].name || !strcmp(strips[i].name, c->plot)) {
                strips[i].name = c->plot;
                strips[i].unit = (nino_unit) c->unit;
                strips[i].format = formats[c->unit];
                strips[i].least_top = MAX(strips[i].least_top, 1);
                add_series(&strips[i], &(Series){ .name = c->label,
                                                  .column = nino_counter_word(c, c->column),
                                                  .counter = (nino_counter_id) id,
                                                  .colour = c->colour });
                break;
            }
    for (; n_strips < MAX_STRIPS && strips[n_strips].name; n_strips++)
        for (size_t i = 0; i < G_N_ELEMENTS(strips[0].own) && strips[n_strips].own[i].name; i++)
            add_series(&strips[n_strips], &strips[n_strips].own[i]);
}

static const nino_reading *readings(NinoRun *run, nino_counter_id id, size_t *n)
{
    return nino_history_counter(nino_run_history(run), id, n);
}

static double device_view_value_of(NinoRun *run, const Series *s, const nino_reading *r)
{
    return s->value ? s->value(run, s, r) : r->value;
}

// One line for each reason, so that what throttles can be told apart.
static double flags(NinoRun *run, const Series *s, const nino_reading *r)
{
    (void) run;
    return r->value > 0 && (unsigned) r->value & s->bits ? 1 : NAN;
}

// A counter at t: as told last before, else first after it.
static double device_view_at(NinoRun *run, nino_counter_id id, uint64_t t)
{
    size_t n;
    const nino_reading *r = readings(run, id, &n);
    const size_t i = nino_reading_lower(r, n, t + 1);
    return n ? r[i ? i - 1 : 0].value : NAN;
}

// The same as a part of a sum: nothing where it is not known.
static double part_at(NinoRun *run, nino_counter_id id, uint64_t t)
{
    const double v = device_view_at(run, id, t);
    return isnan(v) ? 0 : v;
}

// What does not belong to the process: neither available, nor its own, nor in its share of GTT,
// which lies in RAM.
static double others(NinoRun *run, const Series *s, const nino_reading *r)
{
    (void) s;
    const uint64_t t = r->t_ns;
    const double available = device_view_at(run, NINO_COUNTER_RAM_AVAILABLE, t);
    const double own = part_at(run, NINO_COUNTER_PROCESS_RAM, t);
    const double gtt =
        part_at(run, NINO_COUNTER_GTT_USED, t) - part_at(run, NINO_COUNTER_GTT_OTHERS, t);
    const double rest = r->value - available - own - MAX(gtt, 0);
    return isnan(rest) ? NAN : MAX(rest, 0);
}

// The next value of two digits, in binary units if it is bytes.
static double round_up(const Strip *s, double v)
{
    const double unit = s->unit == NINO_UNIT_BYTES ? pow(1024, floor(log(v) / log(1024))) : 1;
    const double step = pow(10, floor(log10(v / unit)) - 1) * unit;
    return ceil(v / step - 1e-9) * step;
}

// Highest value of a strip; NaN: no value at all (the strip is left out).
static double top_of(NinoRun *run, const Strip *s)
{
    double top = NAN;
    for (int i = 0; i < N_SERIES && s->series[i].name; i++) {
        size_t n;
        const nino_reading *r = readings(run, s->series[i].counter, &n);
        for (size_t k = 0; k < n; k++) {
            const double v = device_view_value_of(run, &s->series[i], &r[k]);
            if (isfinite(v) && !(v <= top))
                top = v;
        }
    }
    if (isnan(top))
        return top;
    // all the RAM there is
    const double all =
        s->own[0].value == others ? device_view_at(run, NINO_COUNTER_RAM_TOTAL, UINT64_MAX - 1) : 0;
    if (s->unit == NINO_UNIT_PERCENT)
        return MAX(top, s->least_top);
    return all > 0 ? MAX(all, top) : round_up(s, MAX(top * 1.05, s->least_top));
}

// The reading that holds at t: the last one with a value before it, or the first one. NULL: none.
static const nino_reading *reading_at(NinoRun *run, const Series *s, guint64 t)
{
    size_t n;
    const nino_reading *r = readings(run, s->counter, &n);
    const size_t end = nino_reading_lower(r, n, t + 1);
    for (size_t i = end; i > 0; i--)
        if (isfinite(device_view_value_of(run, s, &r[i - 1])))
            return &r[i - 1];
    for (size_t i = end; i < n; i++)
        if (isfinite(device_view_value_of(run, s, &r[i])))
            return &r[i];
    return NULL;
}

// ---- drawing -----------------------------------------------------------------------------------

// One bar a pixel column, from the lowest to the highest sample in it.
static void draw_series(NinoArea *area, NinoPlot *p, const NinoPlotBox *b, const Series *s,
                        double top, guint64 t0, guint64 t1)
{
    size_t n;
    const nino_reading *r = readings(nino_area_run(area), s->counter, &n);
    const GdkRGBA *c = nino_plot_colour(s->colour);
    float last_y = NAN, last_x = 0;
    size_t i = nino_reading_lower(r, n, t0);
    i = i ? i - 1 : 0;
    while (i < n && r[i].t_ns < t1) {
        const float x = floorf(nino_area_x(area, b, r[i].t_ns));
        double lo = INFINITY, hi = -INFINITY;
        for (; i < n && floorf(nino_area_x(area, b, r[i].t_ns)) <= x; i++) {
            const double v = device_view_value_of(nino_area_run(area), s, &r[i]);
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
        const nino_reading *r = reading_at(run, k, cursor ? cursor : UINT64_MAX - 1);
        if (!r)
            continue;
        s->format(v, sizeof(v), device_view_value_of(run, k, r));
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

static void device_view_draw(NinoArea *area, NinoPlot *p, gpointer user)
{
    NinoRun *run = nino_area_run(area);
    NinoPlotBox all;
    guint64 t0, t1;
    double top[MAX_STRIPS];
    int n = 0, k = 0;
    for (size_t i = 0; i < n_strips; i++) {
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
    for (size_t i = 0; i < n_strips; i++) {
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

static gboolean device_view_tip(NinoArea *area, double x, double y, GString *text, gpointer user)
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
    for (size_t i = 0; i < n_strips; i++)
        for (int k = 0; k < N_SERIES && strips[i].series[k].name; k++) {
            char v[40];
            const Series *s = &strips[i].series[k];
            const nino_reading *r = reading_at(nino_area_run(area), s, t);
            if (!r)
                continue;
            strips[i].format(v, sizeof(v), device_view_value_of(nino_area_run(area), s, r));
            g_string_append_printf(text, "%s%s: %s", text->len ? "\n" : "", _(s->name), v);
        }
    return text->len > 0;
}

// ---- widget ------------------------------------------------------------------------------------

static void device_view_export_rows(GtkWidget *view, NinoRowFn row, gpointer user)
{
    NinoRun *run = nino_area_run(g_object_get_data(G_OBJECT(view), "area"));
    size_t n; // a row for every sample of the device
    const nino_reading *d = readings(run, NINO_COUNTER_GPU_BUSY, &n);
    const uint64_t begin = nino_history_begin(nino_run_history(run));
    for (size_t i = 0; i < n; i++) {
        NinoCell cells[1 + MAX_STRIPS * N_SERIES] = {
            { "seconds", NULL, ((double) d[i].t_ns - (double) begin) * 1e-9 }
        };
        size_t k = 1;
        for (size_t s = 0; s < n_strips; s++)
            for (int j = 0; j < N_SERIES && strips[s].series[j].name; j++) {
                const Series *x = &strips[s].series[j];
                size_t m;
                const nino_reading *r = readings(run, x->counter, &m);
                const size_t next = nino_reading_lower(r, m, d[i].t_ns);
                cells[k++] =
                    (NinoCell){ x->column, NULL,
                                m ? device_view_value_of(run, x, &r[MIN(next, m - 1)]) : NAN };
            }
        row(user, cells, k);
    }
}

static void device_view_export_draw(GtkWidget *view, cairo_t *cr, double w, double h,
                                    gboolean is_dark)
{
    nino_area_export(g_object_get_data(G_OBJECT(view), "area"), cr, w, h, is_dark);
}

// As high as its strips need; the view scrolls when they are many.
static void on_device_view_changed(NinoArea *area)
{
    int n = 0, now;
    for (size_t i = 0; i < n_strips; i++)
        n += !isnan(top_of(nino_area_run(area), &strips[i]));
    gtk_widget_get_size_request(GTK_WIDGET(area), NULL, &now);
    if (MAX(n * STRIP, LEAST) != now)
        gtk_widget_set_size_request(GTK_WIDGET(area), 320, MAX(n * STRIP, LEAST));
}

static GtkWidget *new_device_view(NinoRun *run)
{
    static const NinoAreaType type = { .label = N_("Device counters"),
                                       .draw = device_view_draw,
                                       .tip = device_view_tip,
                                       .box = get_box,
                                       .has_time = TRUE,
                                       .min_width = 320,
                                       .min_height = LEAST };
    static const NinoViewExport x = { .draw = device_view_export_draw,
                                      .rows = device_view_export_rows };
    fill_strips();
    GtkWidget *area = nino_area_new(run, &type, NULL, NULL), *w = nino_plot_scroller_new(area);
    g_object_set_data(G_OBJECT(w), "area", area);
    g_signal_connect_object(run, "changed", G_CALLBACK(on_device_view_changed), area,
                            G_CONNECT_SWAPPED);
    on_device_view_changed(NINO_AREA(area));
    nino_view_set_export(w, &x);
    return w;
}

const NinoViewType nino_view_device = {
    .id = "device",
    .title = N_("Device"),
    .help = N_("Memory, load, clock, power and temperature over time"),
    .create = new_device_view,
};
