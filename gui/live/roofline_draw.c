// How the roofline is drawn: axes, ceilings, kernels as squares, names where there is room.
#include "live/roofline_priv.h"

#include "base/i18n.h"

#include <math.h>

enum { LEFT = 92, RIGHT = 14, BOTTOM = 38 };

// ---- axes --------------------------------------------------------------------------------------

NinoPlotBox nino_roofline_box(float width, float height, float line)
{
    const float top = line + 14;
    return (NinoPlotBox){ LEFT, top, MAX(width - LEFT - RIGHT, 10),
                          MAX(height - top - BOTTOM, 10) };
}

float nino_roofline_x(const Roofline *r, const NinoPlotBox *b, double ai)
{
    return b->x + (float) ((log10(ai) - r->lo_x) / (r->hi_x - r->lo_x)) * b->w;
}

float nino_roofline_y(const Roofline *r, const NinoPlotBox *b, double flops)
{
    return b->y + b->h - (float) ((log10(flops) - r->lo_y) / (r->hi_y - r->lo_y)) * b->h;
}

void nino_roofline_format(char *buf, size_t size, double v)
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
    const double n = v >= 1e12 ? v * 1e-12 : v * 1e-9;
    const gboolean is_whole = n >= 99.95 || fabs(n - round(n)) < 0.05;
    g_snprintf(buf, size, "%.*f %s", is_whole ? 0 : 1, n, v >= 1e12 ? "TB/s" : "GB/s");
}

static void draw_axes(const Roofline *r, NinoPlot *p, const NinoPlotBox *b)
{
    const float line = nino_plot_text_height(p);
    char text[40];
    for (int e = (int) ceil(r->lo_x); e <= (int) floor(r->hi_x); e++) {
        const float x = floorf(nino_roofline_x(r, b, pow(10, e)));
        nino_plot_bar(p, x, b->y, 1, b->h, &p->grid);
        g_snprintf(text, sizeof(text), "%g", pow(10, e));
        nino_plot_text(p, x, b->y + b->h + 2, 0, NINO_PLOT_CENTRE, &p->dim, text);
    }
    for (int e = (int) r->lo_y; e <= (int) r->hi_y; e++) {
        const float y = floorf(nino_roofline_y(r, b, pow(10, e)));
        nino_plot_bar(p, b->x, y, b->w, 1, &p->grid);
        nino_roofline_format(text, sizeof(text), pow(10, e));
        nino_plot_text(p, b->x - 4, y - floorf(line / 2), LEFT - 6, NINO_PLOT_RIGHT, &p->dim, text);
    }
    nino_plot_text(p, b->x + b->w / 2, b->y + b->h + line + 3, b->w, NINO_PLOT_CENTRE, &p->dim,
                   r->axis == ROOFLINE_LEAST
                       ? _("arithmetic intensity: FLOP per byte that must move")
                       : _("arithmetic intensity: FLOP per byte that work-groups request"));
}

// ---- names -------------------------------------------------------------------------------------

int nino_roofline_crosses(const Roofline *r, const Taken *t)
{
    int n = 0;
    for (size_t i = 0; i < r->n_lines; i++) {
        const Line *l = &r->line[i];
        const float from = MAX(t->x, l->x0), to = MIN(t->x + t->w, l->x1);
        const float slope = l->x1 > l->x0 ? (l->y1 - l->y0) / (l->x1 - l->x0) : 0;
        const float low = l->y0 + (from - l->x0) * slope, high = l->y0 + (to - l->x0) * slope;
        n += from <= to && high < t->y + t->h && low > t->y;
    }
    return n;
}

// Between two names there is a gap, a square's own name stands close to it.
static gboolean is_roofline_draw_free(const Roofline *r, const Taken *t)
{
    enum { GAP = 10 };
    for (size_t k = 0; k < r->n_taken; k++) {
        const Taken *o = &r->taken[k];
        const float gap = k < r->n ? 0 : GAP;
        if (t->x < o->x + o->w + gap && t->x + t->w + gap > o->x && t->y < o->y + o->h &&
            t->y + t->h > o->y)
            return FALSE;
    }
    return TRUE;
}

// A name at the first of these places where nothing else is and at most so many ceilings go through; NULL: nowhere.
static const Taken *roofline_draw_find_place(Roofline *r, const NinoPlotBox *b, const Taken *place,
                                             size_t n, int most)
{
    for (size_t i = 0; i < n; i++) {
        const Taken *t = &place[i];
        if (t->x < b->x || t->x + t->w > b->x + b->w || t->y < b->y - 2 ||
            t->y + t->h > b->y + b->h || !is_roofline_draw_free(r, t) ||
            nino_roofline_crosses(r, t) > most)
            continue;
        if (r->n_taken < G_N_ELEMENTS(r->taken))
            r->taken[r->n_taken++] = *t;
        return t;
    }
    return NULL;
}

// Rather on a line than nowhere, the first places first: there a name says which line it is of.
static gboolean draw_name(Roofline *r, NinoPlot *p, const NinoPlotBox *b, const char *text,
                          const GdkRGBA *fg, const Taken *place, size_t n)
{
    const GdkRGBA bg = nino_plot_alpha(&p->bg, 0.8f); // lines, of the grid as well, go on behind it
    const Taken *t = NULL;
    int most = 0;
    for (; !t && most <= ROOFLINE_CEILINGS; most++)
        t = roofline_draw_find_place(r, b, place, n, most);
    if (!t)
        return FALSE;
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

static void draw_line(Pen *d, const float (*xy)[2])
{
    nino_plot_line(d->p, xy, 2, d->width, d->dash, &d->colour);
    if (d->r->n_lines < ROOFLINE_CEILINGS)
        d->r->line[d->r->n_lines++] = (Line){ xy[0][0], xy[0][1], xy[1][0], xy[1][1] };
}

// y = min(bandwidth x, peak), cut at the box.
static void draw_slope(Pen *d, double bandwidth, double peak, const char *name)
{
    const Roofline *r = d->r;
    const double lo = pow(10, r->lo_x), hi = pow(10, r->hi_x), floor_y = pow(10, r->lo_y);
    const double from = MAX(lo, floor_y / bandwidth), ridge = MIN(peak / bandwidth, hi);
    char rate[32], text[96];
    if (bandwidth <= 0 || from >= ridge)
        return;
    const float xy[2][2] = {
        { nino_roofline_x(r, d->b, from), nino_roofline_y(r, d->b, from * bandwidth) },
        { nino_roofline_x(r, d->b, ridge), nino_roofline_y(r, d->b, ridge * bandwidth) }
    };
    if (!d->is_naming) {
        draw_line(d, xy);
        return;
    }
    format_rate(rate, sizeof(rate), bandwidth);
    g_snprintf(text, sizeof(text), "%s %s", name, rate);
    const float line = nino_plot_text_height(d->p), w = nino_plot_text_width(d->p, text);
    enum { PLACES = 9 };
    Taken place[3 * PLACES]; // on, below and over the line, from its middle to both sides
    for (int i = 0; i < PLACES; i++) {
        const int away = (i + 1) / 2;
        const float at = 0.45f + (i % 2 ? -0.12f : 0.12f) * (float) away;
        const float x = xy[0][0] + (xy[1][0] - xy[0][0]) * at,
                    y = xy[0][1] + (xy[1][1] - xy[0][1]) * at;
        place[i] = (Taken){ x - w / 2, y - line / 2, w, line };
        place[PLACES + 2 * i] = (Taken){ x + 8, y + 2, w, line };
        place[PLACES + 2 * i + 1] = (Taken){ x - 8 - w, y - 2 - line, w, line };
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
    const float y = nino_roofline_y(r, d->b, flops), x = nino_roofline_x(r, d->b, from);
    if (x >= d->b->x + d->b->w)
        return;
    const float xy[2][2] = { { x, y }, { d->b->x + d->b->w, y } };
    if (!d->is_naming) {
        draw_line(d, xy);
        return;
    }
    nino_roofline_format(rate, sizeof(rate), flops);
    g_snprintf(text, sizeof(text), "%s %s", name, rate);
    const float line = nino_plot_text_height(d->p), w = nino_plot_text_width(d->p, text);
    Taken place
        [9]; // above and below the line, from its right end on as long as it goes; at its beginning
    size_t n = 0;
    for (int i = 0; i < 8; i++) {
        const int away = i / 2;
        const float left = d->b->x + d->b->w - 4 - w - (float) away * (w / 2 + 8);
        if (!i || left + w / 2 > x)
            place[n++] = (Taken){ left, i % 2 ? y + 2 : y - line - 1, w, line };
    }
    place[n++] = (Taken){ x - w - 4, y - line - 1, w, line };
    draw_name(d->r, d->p, d->b, text, d->dash > 0 ? &d->p->dim : &d->p->fg, place, n);
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
        draw_slope(&d, r->overlay.bandwidth, peak, nino_roofline_overlay);
        draw_level(&d, r->overlay.flops_f16, r->overlay.bandwidth, "gfx1151 f16");
        draw_level(&d, r->overlay.flops_f32, r->overlay.bandwidth, "gfx1151 f32");
    }
    if (!r->has_ceilings)
        return;
    const double cache = nino_roofline_cache(&r->c), peak = MAX(r->c.flops_f32, r->c.flops_f16);
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

float nino_roofline_side(const Roofline *r, const nino_op_stat *o)
{
    return 6 + 18 * sqrtf((float) o->total_ns / (float) MAX(r->total_ns, 1));
}

// Of a kernel that is not where the axis would have it.
static void draw_hollow(NinoPlot *p, const Taken *t, const GdkRGBA *c)
{
    const GdkRGBA weak = nino_plot_alpha(c, 0.25f);
    nino_plot_bar(p, t->x, t->y, t->w, t->h, &weak);
    nino_plot_frame(p, t->x, t->y, t->w, t->h, c);
}

static void draw_kernels(Roofline *r, NinoPlot *p, const NinoPlotBox *b)
{
    const uint32_t chosen = nino_run_kernel(r->run);
    for (size_t i = 0; i < r->n; i++) {
        const nino_op_stat *o = &r->op[i];
        const float s = roundf(nino_roofline_side(r, o));
        const Taken t = { roundf(nino_roofline_x(r, b, nino_roofline_intensity(r, o)) - s / 2),
                          roundf(nino_roofline_y(r, b, o->gflops * 1e9) - s / 2), s, s };
        const GdkRGBA c = nino_plot_alpha(nino_plot_colour(nino_plot_family(o->family)), 0.85f);
        if (nino_roofline_is_known(r, o))
            nino_plot_bar(p, t.x, t.y, s, s, &c);
        else
            draw_hollow(p, &t, &c);
        if (chosen && !strcmp(o->name, nino_run_name(r->run, chosen)))
            nino_plot_frame(p, t.x - 2, t.y - 2, s + 4, s + 4, &p->fg);
        r->taken[i] = t;
    }
    r->n_taken = r->n;
}

// Names of the kernels that took longest, beside, over or under them where nothing else is. Returns how many have none.
static size_t draw_names(Roofline *r, NinoPlot *p, const NinoPlotBox *b)
{
    const float line = nino_plot_text_height(p);
    size_t named = 0;
    for (size_t i = 0; i < r->n && named < ROOFLINE_LABELS; i++) {
        const Taken k = r->taken[i];
        const float w = nino_plot_text_width(p, r->op[i].name);
        const float mid = floorf(k.y + (k.h - line) / 2), over = k.y - line - 1,
                    under = k.y + k.h + 1, right = k.x + k.w;
        const float centre = floorf(k.x + (k.w - w) / 2);
        const Taken place[] = { { right + 4, mid, w, line },      { k.x - 4 - w, mid, w, line },
                                { centre, under, w, line },       { centre, over, w, line },
                                { k.x, under, w, line },          { right - w, under, w, line },
                                { k.x, over, w, line },           { right - w, over, w, line },
                                { centre, under + line, w, line } };
        named += draw_name(r, p, b, r->op[i].name, &p->fg, place, G_N_ELEMENTS(place));
    }
    return r->n - named;
}

// What the picture does not say by itself, in its corner.
static void draw_hint(NinoPlot *p, const NinoPlotBox *b, int *lines, const char *text)
{
    nino_plot_text(p, b->x + 4, b->y + 2 + (float) *lines * nino_plot_text_height(p), b->w - 8,
                   NINO_PLOT_LEFT, &p->dim, text);
    ++*lines;
}

// How many kernels are hollow, and why, for it may be all that there is; and how those are told that have no name here.
static void draw_hints(const Roofline *r, NinoPlot *p, const NinoPlotBox *b, size_t n_nameless)
{
    char text[200];
    int lines = 0;
    g_snprintf(text, sizeof(text),
               ngettext("hollow: %zu kernel whose requests are not known, by bytes that must move",
                        "hollow: %zu kernels whose requests are not known, by bytes that must move",
                        r->n_unknown),
               r->n_unknown);
    if (r->n_unknown)
        draw_hint(p, b, &lines, text);
    g_snprintf(text, sizeof(text),
               ngettext("%zu square has no name here: point at it",
                        "%zu squares have no name here: point at them", n_nameless),
               n_nameless);
    if (n_nameless)
        draw_hint(p, b, &lines, text);
}

static void roofline_draw_draw_head(const Roofline *r, NinoPlot *p)
{
    char text[256];
    if (r->has_ceilings && r->c.measured_at) {
        g_autoptr(GDateTime) t = g_date_time_new_from_unix_local(r->c.measured_at);
        g_autofree char *day = t ? g_date_time_format(t, "%F %R") : g_strdup("");
        g_snprintf(text, sizeof(text), _("%s, measured %s"), r->c.device, day);
    } else if (r->has_ceilings) {
        g_snprintf(
            text, sizeof(text),
            _("%s: figures of its data sheet; Preferences, Measure this device, finds its own"),
            r->c.device);
    } else {
        g_snprintf(
            text, sizeof(text),
            _("The ceilings of this device are not known: Preferences, Measure this device"));
    }
    const float all = p->width - LEFT - RIGHT - 12; // between the two a gap
    const float right =
        nino_plot_text(p, p->width - RIGHT, 4, all * 0.45f, NINO_PLOT_RIGHT, &p->dim,
                       r->has_overlay ? _("dashed: gfx1151 profile (G hides it)")
                                      : _("G shows the gfx1151 profile"));
    nino_plot_text(p, LEFT, 4, all - right, NINO_PLOT_LEFT, &p->fg, text);
}

void nino_roofline_draw(NinoArea *area, NinoPlot *p, gpointer user)
{
    (void) area;
    Roofline *r = user;
    nino_roofline_update(r);
    if (!r->n && !r->has_ceilings) {
        nino_plot_empty(p, _("Kernels appear here against the ceilings of the device"));
        return;
    }
    const NinoPlotBox b = nino_roofline_box(p->width, p->height, nino_plot_text_height(p));
    draw_axes(r, p, &b);
    nino_plot_clip(p, b.x, b.y - 2, b.w, b.h + 4);
    r->n_lines = 0;
    draw_ceilings(r, p, &b, FALSE);
    draw_kernels(r, p, &b);
    draw_ceilings(r, p, &b, TRUE);
    draw_hints(r, p, &b, draw_names(r, p, &b));
    nino_plot_unclip(p);
    roofline_draw_draw_head(r, p);
}
