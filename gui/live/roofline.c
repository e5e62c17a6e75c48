// The roofline: what every kernel of the selected range reached against the ceilings of the device,
// measured where it was measured, with the gfx1151 profile as an overlay.
#include "live/views.h"

#include "i18n.h"
#include "live/area.h"
#include "live/export.h"

#include <math.h>

enum { LEFT = 92, RIGHT = 14, BOTTOM = 38, MAX_OPS = 64, LABELS = 6, CEILINGS = 7 };
static const char overlay_name[] = "gfx1151";

typedef struct Taken { // where kernels and names are
    float x, y, w, h;
} Taken;

typedef struct Roofline {
    NinoRun *run; // the widgets hold it
    gboolean has_overlay;
    nino_op_stat op[MAX_OPS];
    size_t n;
    uint64_t total_ns;
    gboolean has_ceilings;
    nino_ceilings c, overlay;
    double lo_x, hi_x, lo_y, hi_y; // powers of ten
    Taken taken[MAX_OPS + CEILINGS + LABELS];
    size_t n_taken;
} Roofline;

// ---- data --------------------------------------------------------------------------------------

static double intensity(const nino_op_stat *o) { return o->flops / o->bytes; }

static void widen(double *lo, double *hi, double v)
{
    if (v > 0 && isfinite(v)) {
        *lo = MIN(*lo, floor(log10(v)));
        *hi = MAX(*hi, ceil(log10(v)));
    }
}

// Bandwidth of the fastest cache, 0: not measured.
static double cache_bandwidth(const nino_ceilings *c)
{
    double best = 0;
    for (size_t i = 0; i < c->n_points; i++)
        best = MAX(best, MAX(c->point[i].copy, c->point[i].read));
    return best;
}

static void update(Roofline *r)
{
    nino_op_stat all[MAX_OPS];
    const nino_stats *s = nino_run_stats(r->run);
    const size_t n = s ? MIN(nino_stats_ops(s, all, MAX_OPS), MAX_OPS) : 0;
    r->n = 0;
    r->total_ns = 0;
    r->lo_x = -1;
    r->hi_x = 3;
    r->lo_y = 10; // of FLOP/s
    r->hi_y = 11;
    for (size_t i = 0; i < n; i++)
        if (all[i].flops > 0 && all[i].bytes > 0 && all[i].total_ns) {
            r->op[r->n++] = all[i];
            r->total_ns += all[i].total_ns;
            widen(&r->lo_x, &r->hi_x, intensity(&all[i]));
            widen(&r->lo_y, &r->hi_y, all[i].gflops * 1e9);
        }
    const nino_ceilings *c = nino_run_ceilings(r->run);
    r->has_ceilings = c != NULL;
    if (c) {
        r->c = *c;
        widen(&r->lo_y, &r->hi_y, r->c.flops_f32 * 1.2);
        widen(&r->lo_y, &r->hi_y, r->c.flops_f16 * 1.2);
    }
    if (r->has_overlay)
        widen(&r->lo_y, &r->hi_y, r->overlay.flops_f16 * 1.2);
    r->hi_y += 0.6; // for the names of the highest ones
    r->lo_y = MAX(r->lo_y, floor(r->hi_y) - 7);
    r->lo_x = MAX(r->lo_x, -3);
}

// What bounds a kernel of that intensity, and at how many FLOP/s. f16 where its storage is short
// and the device computes faster in it is not told apart: the higher ceiling is shown as a line.
static double bound(const nino_ceilings *c, double ai, gboolean *by_memory)
{
    const double memory = c->bandwidth * ai, peak = MAX(c->flops_f32, c->flops_f16);
    *by_memory = memory < peak;
    return MIN(memory, peak);
}

// ---- axes --------------------------------------------------------------------------------------

static NinoPlotBox box_of(float width, float height, float line)
{
    const float top = line + 14;
    return (NinoPlotBox){ LEFT, top, MAX(width - LEFT - RIGHT, 10),
                          MAX(height - top - BOTTOM, 10) };
}

static float x_of(const Roofline *r, const NinoPlotBox *b, double ai)
{
    return b->x + (float) ((log10(ai) - r->lo_x) / (r->hi_x - r->lo_x)) * b->w;
}

static float y_of(const Roofline *r, const NinoPlotBox *b, double flops)
{
    return b->y + b->h - (float) ((log10(flops) - r->lo_y) / (r->hi_y - r->lo_y)) * b->h;
}

static void format_flops(char *buf, size_t size, double v)
{
    static const char *const units[] = { "FLOP/s",  "kFLOP/s", "MFLOP/s",
                                         "GFLOP/s", "TFLOP/s", "PFLOP/s" };
    int i = 0;
    for (; v >= 1000 && i < 5; i++)
        v /= 1000;
    g_snprintf(buf, size, v < 10 && v != floor(v) ? "%.1f %s" : "%.0f %s", v, units[i]);
}

static void format_rate(char *buf, size_t size, double v) // bytes/s
{
    g_snprintf(buf, size, v >= 1e12 ? "%.2f TB/s" : "%.1f GB/s", v >= 1e12 ? v * 1e-12 : v * 1e-9);
}

static void draw_axes(const Roofline *r, NinoPlot *p, const NinoPlotBox *b)
{
    const float line = nino_plot_text_height(p);
    char text[40];
    for (int e = (int) r->lo_x; e <= (int) r->hi_x; e++) {
        const float x = floorf(x_of(r, b, pow(10, e)));
        nino_plot_bar(p, x, b->y, 1, b->h, &p->grid);
        g_snprintf(text, sizeof(text), "%g", pow(10, e));
        const float half = nino_plot_text_width(p, text) / 2;
        nino_plot_text(p, CLAMP(x, b->x + half - 4, p->width - 4 - half), b->y + b->h + 2, 0,
                       NINO_PLOT_CENTRE, &p->dim, text);
    }
    for (int e = (int) r->lo_y; e <= (int) r->hi_y; e++) {
        const float y = floorf(y_of(r, b, pow(10, e)));
        nino_plot_bar(p, b->x, y, b->w, 1, &p->grid);
        format_flops(text, sizeof(text), pow(10, e));
        nino_plot_text(p, b->x - 4, CLAMP(y - floorf(line / 2), 0, b->y + b->h - line + 2),
                       LEFT - 6, NINO_PLOT_RIGHT, &p->dim, text);
    }
    nino_plot_text(p, b->x + b->w / 2, b->y + b->h + line + 3, b->w, NINO_PLOT_CENTRE, &p->dim,
                   _("arithmetic intensity, FLOP per byte"));
}

// ---- names -------------------------------------------------------------------------------------

static gboolean is_free(const Roofline *r, const Taken *t)
{
    for (size_t k = 0; k < r->n_taken; k++) {
        const Taken *o = &r->taken[k];
        if (t->x < o->x + o->w && t->x + t->w > o->x && t->y < o->y + o->h && t->y + t->h > o->y)
            return FALSE;
    }
    return TRUE;
}

// A name at the first of these places where nothing else is; NULL: nowhere.
static const Taken *find_place(Roofline *r, const NinoPlotBox *b, const Taken *place, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const Taken *t = &place[i];
        if (t->x < b->x || t->x + t->w > b->x + b->w + RIGHT || t->y < b->y - 2 || !is_free(r, t))
            continue;
        if (r->n_taken < G_N_ELEMENTS(r->taken))
            r->taken[r->n_taken++] = *t;
        return t;
    }
    return NULL;
}

static gboolean draw_name(Roofline *r, NinoPlot *p, const NinoPlotBox *b, const char *text,
                          const GdkRGBA *fg, const Taken *place, size_t n)
{
    const Taken *t = find_place(r, b, place, n);
    if (!t)
        return FALSE;
    const GdkRGBA bg = nino_plot_alpha(&p->bg, 0.8f); // lines go on behind it
    nino_plot_bar(p, t->x - 2, t->y, t->w + 4, t->h, &bg);
    nino_plot_text(p, t->x, t->y, 0, NINO_PLOT_LEFT, fg, text);
    return TRUE;
}

// ---- ceilings ----------------------------------------------------------------------------------

typedef struct Pen {
    Roofline *r;
    NinoPlot *p;
    const NinoPlotBox *b;
    GdkRGBA colour;
    float width, dash;
    gboolean is_naming; // after all lines and kernels are drawn
} Pen;

// y = min(bandwidth x, peak), cut at the box.
static void draw_slope(Pen *d, double bandwidth, double peak, const char *name)
{
    const Roofline *r = d->r;
    const double lo = pow(10, r->lo_x), hi = pow(10, r->hi_x), floor_y = pow(10, r->lo_y);
    const double from = MAX(lo, floor_y / bandwidth), ridge = MIN(peak / bandwidth, hi);
    char rate[32], text[96];
    if (bandwidth <= 0 || from >= ridge)
        return;
    const float xy[2][2] = { { x_of(r, d->b, from), y_of(r, d->b, from * bandwidth) },
                             { x_of(r, d->b, ridge), y_of(r, d->b, ridge * bandwidth) } };
    if (!d->is_naming) {
        nino_plot_line(d->p, xy, 2, d->width, d->dash, &d->colour);
        return;
    }
    format_rate(rate, sizeof(rate), bandwidth);
    g_snprintf(text, sizeof(text), "%s %s", name, rate);
    const float line = nino_plot_text_height(d->p), w = nino_plot_text_width(d->p, text);
    Taken place[6]; // below the line, from its middle to both sides
    for (int i = 0; i < 6; i++) {
        const int away = (i + 1) / 2;
        const float at = 0.45f + (i % 2 ? -0.12f : 0.12f) * (float) away;
        place[i] = (Taken){ xy[0][0] + (xy[1][0] - xy[0][0]) * at + 8,
                            xy[0][1] + (xy[1][1] - xy[0][1]) * at + 2, w, line };
    }
    draw_name(d->r, d->p, d->b, text, d->dash > 0 ? &d->p->dim : &d->p->fg, place,
              G_N_ELEMENTS(place));
}

static void draw_level(Pen *d, double flops, double bandwidth, const char *name)
{
    const Roofline *r = d->r;
    char rate[32], text[96];
    if (flops <= 0)
        return;
    const double from = bandwidth > 0 ? MAX(flops / bandwidth, pow(10, r->lo_x)) : pow(10, r->lo_x);
    const float y = y_of(r, d->b, flops), x = x_of(r, d->b, from);
    if (x >= d->b->x + d->b->w)
        return;
    const float xy[2][2] = { { x, y }, { d->b->x + d->b->w, y } };
    if (!d->is_naming) {
        nino_plot_line(d->p, xy, 2, d->width, d->dash, &d->colour);
        return;
    }
    format_flops(rate, sizeof(rate), flops);
    g_snprintf(text, sizeof(text), "%s %s", name, rate);
    const float line = nino_plot_text_height(d->p), w = nino_plot_text_width(d->p, text);
    Taken place[8]; // above and below the line, from its right end on
    for (int i = 0; i < 8; i++) {
        const int left = i / 2;
        place[i] = (Taken){ d->b->x + d->b->w - 4 - w - (float) left * (w + 8),
                            i % 2 ? y + 2 : y - line - 1, w, line };
    }
    draw_name(d->r, d->p, d->b, text, d->dash > 0 ? &d->p->dim : &d->p->fg, place,
              G_N_ELEMENTS(place));
}

static void draw_ceilings(Roofline *r, NinoPlot *p, const NinoPlotBox *b, gboolean is_naming)
{
    Pen d = { .r = r,
              .p = p,
              .b = b,
              .width = 1.2f,
              .dash = 5,
              .colour = nino_plot_alpha(&p->fg, 0.5f),
              .is_naming = is_naming };
    if (r->has_overlay) {
        const double peak = MAX(r->overlay.flops_f32, r->overlay.flops_f16);
        draw_slope(&d, r->overlay.bandwidth, peak, overlay_name);
        draw_level(&d, r->overlay.flops_f16, r->overlay.bandwidth, "gfx1151 f16");
        draw_level(&d, r->overlay.flops_f32, r->overlay.bandwidth, "gfx1151 f32");
    }
    if (!r->has_ceilings)
        return;
    const double cache = cache_bandwidth(&r->c), peak = MAX(r->c.flops_f32, r->c.flops_f16);
    d.dash = r->c.measured_at ? 0 : 5;
    d.width = 2;
    d.colour = *nino_plot_colour(0);
    draw_slope(&d, r->c.bandwidth, peak, _("memory"));
    if (cache > r->c.bandwidth * 1.1) {
        d.colour = *nino_plot_colour(2);
        draw_slope(&d, cache, peak, _("cache"));
    }
    const double widest = MAX(cache, r->c.bandwidth);
    d.colour = *nino_plot_colour(1);
    draw_level(&d, r->c.flops_f32, widest, "f32");
    if (r->c.flops_f16 > 0 && fabs(r->c.flops_f16 / r->c.flops_f32 - 1) > 0.02) {
        d.colour = *nino_plot_colour(3);
        draw_level(&d, r->c.flops_f16, widest, "f16");
    }
}

// ---- kernels -----------------------------------------------------------------------------------

static float side_of(const Roofline *r, const nino_op_stat *o)
{
    return 6 + 18 * sqrtf((float) o->total_ns / (float) MAX(r->total_ns, 1));
}

static void draw_kernels(Roofline *r, NinoPlot *p, const NinoPlotBox *b)
{
    const uint32_t chosen = nino_run_kernel(r->run);
    for (size_t i = 0; i < r->n; i++) {
        const nino_op_stat *o = &r->op[i];
        const float s = roundf(side_of(r, o));
        const Taken t = { roundf(x_of(r, b, intensity(o)) - s / 2),
                          roundf(y_of(r, b, o->gflops * 1e9) - s / 2), s, s };
        const GdkRGBA c = nino_plot_alpha(nino_plot_colour(nino_plot_family(o->family)), 0.85f);
        nino_plot_bar(p, t.x, t.y, s, s, &c);
        if (chosen && !strcmp(o->name, nino_run_name(r->run, chosen)))
            nino_plot_frame(p, t.x - 2, t.y - 2, s + 4, s + 4, &p->fg);
        r->taken[i] = t;
    }
    r->n_taken = r->n;
}

// Names of the kernels that took longest, beside them where nothing else is.
static void draw_names(Roofline *r, NinoPlot *p, const NinoPlotBox *b)
{
    const float line = nino_plot_text_height(p);
    int named = 0;
    for (size_t i = 0; i < r->n && named < LABELS; i++) {
        const Taken k = r->taken[i];
        const float w = nino_plot_text_width(p, r->op[i].name);
        const float mid = floorf(k.y + (k.h - line) / 2);
        const Taken place[] = { { k.x + k.w + 4, mid, w, line }, { k.x - 4 - w, mid, w, line } };
        named += draw_name(r, p, b, r->op[i].name, &p->fg, place, G_N_ELEMENTS(place));
    }
}

static void draw_head(const Roofline *r, NinoPlot *p)
{
    char text[256];
    if (r->has_ceilings && r->c.measured_at) {
        g_autoptr(GDateTime) t = g_date_time_new_from_unix_local(r->c.measured_at);
        g_autofree char *day = t ? g_date_time_format(t, "%F %R") : g_strdup("");
        g_snprintf(text, sizeof(text), _("%s, measured %s"), r->c.device, day);
    } else if (r->has_ceilings) {
        g_snprintf(text, sizeof(text),
                   _("%s: figures of its profile; ninodes devices --measure finds its own"),
                   r->c.device);
    } else {
        g_snprintf(text, sizeof(text),
                   _("The ceilings of this device are not known: ninodes devices --measure"));
    }
    nino_plot_text(p, LEFT, 4, p->width * 0.6f, NINO_PLOT_LEFT, &p->fg, text);
    nino_plot_text(p, p->width - RIGHT, 4, p->width * 0.32f, NINO_PLOT_RIGHT, &p->dim,
                   r->has_overlay ? _("dashed: gfx1151 profile (G hides it)")
                                  : _("G shows the gfx1151 profile"));
}

static void draw(NinoArea *area, NinoPlot *p, gpointer user)
{
    (void) area;
    Roofline *r = user;
    update(r);
    if (!r->n && !r->has_ceilings) {
        nino_plot_empty(p, _("Kernels appear here against the ceilings of the device"));
        return;
    }
    const NinoPlotBox b = box_of(p->width, p->height, nino_plot_text_height(p));
    draw_axes(r, p, &b);
    nino_plot_clip(p, b.x, b.y - 2, b.w + RIGHT, b.h + 4);
    draw_ceilings(r, p, &b, FALSE);
    draw_kernels(r, p, &b);
    draw_ceilings(r, p, &b, TRUE);
    draw_names(r, p, &b);
    nino_plot_unclip(p);
    draw_head(r, p);
}

// ---- pointer and keys --------------------------------------------------------------------------

static NinoPlotBox box_in(NinoArea *area)
{
    GtkWidget *w = GTK_WIDGET(area);
    return box_of((float) gtk_widget_get_width(w), (float) gtk_widget_get_height(w),
                  nino_area_line(area));
}

static gboolean item(NinoArea *area, int i, double *x, double *y, gpointer user)
{
    Roofline *r = user;
    const NinoPlotBox b = box_in(area);
    update(r);
    if ((size_t) i >= r->n)
        return FALSE;
    *x = (double) x_of(r, &b, intensity(&r->op[i]));
    *y = (double) y_of(r, &b, r->op[i].gflops * 1e9);
    return TRUE;
}

static const nino_op_stat *at(NinoArea *area, Roofline *r, double x, double y)
{
    const NinoPlotBox b = box_in(area);
    const nino_op_stat *best = NULL;
    double least = 12;
    for (size_t i = 0; i < r->n; i++) {
        const double dx = x - (double) x_of(r, &b, intensity(&r->op[i]));
        const double dy = y - (double) y_of(r, &b, r->op[i].gflops * 1e9);
        const double d = hypot(dx, dy) - (double) side_of(r, &r->op[i]) / 2;
        if (d < least) {
            least = d;
            best = &r->op[i];
        }
    }
    return best;
}

static gboolean tip(NinoArea *area, double x, double y, GString *text, gpointer user)
{
    Roofline *r = user;
    const nino_op_stat *o = at(area, r, x, y);
    char took[32], speed[32], top[32];
    gboolean by_memory;
    const NinoPlotBox b = box_in(area);
    if (!o && x >= (double) b.x && y <= (double) (b.y + b.h))
        return FALSE;
    if (!o) {
        g_string_append(text, _("Each square is a kernel, its area the time it took. <b>FLOP per "
                                "byte</b>: arithmetic of the op for every byte it must move at "
                                "least. Kernels under a slope can be limited by the bandwidth, "
                                "those under a level by arithmetic"));
        return TRUE;
    }
    nino_format_ns(took, sizeof(took), (double) o->total_ns);
    format_flops(speed, sizeof(speed), o->gflops * 1e9);
    g_string_append_printf(
        text, _("<b>%s</b> (%s), %llu calls, %s\n%s, %.1f GB/s, %.2f FLOP per byte"), o->name,
        o->family, (unsigned long long) o->calls, took, speed, o->gbps, intensity(o));
    if (!r->has_ceilings || r->c.bandwidth <= 0 || r->c.flops_f32 <= 0)
        return TRUE;
    const double most = bound(&r->c, intensity(o), &by_memory);
    format_flops(top, sizeof(top), most);
    g_string_append_printf(
        text, _("\nlimit: %s, %s; it reached %.0f %%%s"),
        by_memory ? _("memory bandwidth") : _("arithmetic"), top, 100 * o->gflops * 1e9 / most,
        o->gflops * 1e9 > most && by_memory ? _(" (its data was in caches)") : "");
    return TRUE;
}

static gboolean click(NinoArea *area, double x, double y, int n_press, gpointer user)
{
    Roofline *r = user;
    const nino_op_stat *o = at(area, r, x, y);
    if (!o || n_press != 1)
        return FALSE;
    nino_run_set_kernel(r->run, nino_history_find(nino_run_history(r->run), o->name));
    gtk_widget_queue_draw(GTK_WIDGET(area));
    return TRUE;
}

static gboolean key(NinoArea *area, guint keyval, GdkModifierType mods, gpointer user)
{
    Roofline *r = user;
    if ((keyval != GDK_KEY_g && keyval != GDK_KEY_G) || (mods & (GDK_CONTROL_MASK | GDK_ALT_MASK)))
        return FALSE;
    r->has_overlay = !r->has_overlay && r->overlay.bandwidth > 0;
    gtk_widget_queue_draw(GTK_WIDGET(area));
    return TRUE;
}

// ---- widget ------------------------------------------------------------------------------------

static void export_rows(GtkWidget *view, NinoRowFn row, gpointer user)
{
    Roofline *r = nino_area_user(NINO_AREA(view));
    update(r);
    for (size_t i = 0; i < r->n; i++) {
        const nino_op_stat *o = &r->op[i];
        gboolean by_memory = FALSE;
        const double most =
            r->has_ceilings && r->c.bandwidth > 0 ? bound(&r->c, intensity(o), &by_memory) : NAN;
        const NinoCell cells[] = { { "kernel", o->name, 0 },
                                   { "family", o->family, 0 },
                                   { "calls", NULL, (double) o->calls },
                                   { "total_ms", NULL, (double) o->total_ns * 1e-6 },
                                   { "flop_per_byte", NULL, intensity(o) },
                                   { "gflops", NULL, o->gflops },
                                   { "gbps", NULL, o->gbps },
                                   { "limit",
                                     isnan(most) ? ""
                                     : by_memory ? "memory"
                                                 : "arithmetic",
                                     0 },
                                   { "share_of_limit", NULL, o->gflops * 1e9 / most } };
        row(user, cells, G_N_ELEMENTS(cells));
    }
}

GtkWidget *nino_roofline_new(NinoRun *run)
{
    static const NinoAreaType type = { .label = N_("Roofline"),
                                       .draw = draw,
                                       .tip = tip,
                                       .item = item,
                                       .click = click,
                                       .key = key,
                                       .min_width = 360,
                                       .min_height = 240 };
    static const NinoViewExport x = { .draw = nino_area_export, .rows = export_rows };
    Roofline *r = g_new0(Roofline, 1);
    r->run = run;
    r->has_overlay = nino_ceilings_of_profile(overlay_name, &r->overlay, NULL) == NINO_OK;
    GtkWidget *w = nino_area_new(run, &type, r, g_free);
    nino_view_set_export(w, &x);
    return w;
}
