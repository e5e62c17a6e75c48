// Bars, text and axes on a GtkSnapshot or on cairo.
#include "plot/plot.h"

#include "base/i18n.h"
#include "base/tokens.h"

#include <math.h>
#include <ninodes/monitor.h>

// Of families: as in their records.
static const char *const kind_names[NINO_PLOT_COLOURS] = {
    [NINO_PLOT_JOB] = N_("job"),     [NINO_PLOT_NODE] = N_("node"),
    [NINO_PLOT_STAGE] = N_("stage"), [NINO_PLOT_STEP] = N_("step"),
    [NINO_PLOT_TILE] = N_("tile"),   [NINO_PLOT_COMPILE] = N_("compile"),
    [NINO_PLOT_GEMM] = "gemm",       [NINO_PLOT_CONV] = "conv",
    [NINO_PLOT_NORM] = "norm",       [NINO_PLOT_ATTN] = "attn",
    [NINO_PLOT_ELT] = "elt",         [NINO_PLOT_MOVE] = "move",
    [NINO_PLOT_IMAGE] = "image",     [NINO_PLOT_TRANSFER] = N_("transfer"),
    [NINO_PLOT_OTHER] = N_("other"), [NINO_PLOT_FAILED] = N_("failed"),
};

const GdkRGBA *nino_plot_colour(size_t i) { return nino_token_series(i); }
G_STATIC_ASSERT((int) NINO_SERIES_COLOURS == (int) NINO_PLOT_COLOURS);

const char *nino_plot_kind_name(size_t i)
{
    const char *name = i < NINO_PLOT_COLOURS ? kind_names[i] : NULL;
    return !name ? "" : i >= NINO_PLOT_GEMM && i < NINO_PLOT_TRANSFER ? name : _(name);
}

size_t nino_plot_scope(uint8_t kind, const char *name)
{
    static const size_t of_kind[] = { NINO_PLOT_OTHER, NINO_PLOT_JOB,  NINO_PLOT_NODE,
                                      NINO_PLOT_STAGE, NINO_PLOT_STEP, NINO_PLOT_TILE };
    if (kind == NINO_EV_STAGE && g_str_has_prefix(name, NINO_STAGE_COMPILE))
        return NINO_PLOT_COMPILE;
    return of_kind[kind <= NINO_EV_TILE ? kind : 0];
}

size_t nino_plot_family(const char *family)
{
    size_t i = NINO_PLOT_GEMM;
    while (i < NINO_PLOT_OTHER && g_strcmp0(family, kind_names[i]) != 0)
        i++;
    return i;
}

const char *nino_plot_family_name(const char *family)
{
    const size_t i = nino_plot_family(family);
    return i < NINO_PLOT_OTHER ? nino_plot_kind_name(i) : family;
}

static float luminance(const GdkRGBA *c)
{
    return 0.2126f * powf(c->red, 2.2f) + 0.7152f * powf(c->green, 2.2f) +
           0.0722f * powf(c->blue, 2.2f);
}

GdkRGBA nino_plot_ink(const GdkRGBA *c)
{
    // Of this luminance, black and white have the same contrast.
    return *nino_token(luminance(c) > 0.179f ? NINO_COLOUR_UNDER : NINO_COLOUR_OVER,
                       NINO_THEME_LIGHT);
}

static float contrast(const GdkRGBA *a, const GdkRGBA *b)
{
    const float x = luminance(a) + 0.05f, y = luminance(b) + 0.05f;
    return MAX(x, y) / MIN(x, y);
}

// Nearer to the ground, but never so near that it is lost there: then nearer to the text, which makes it greyer.
GdkRGBA nino_plot_faint(const NinoPlot *p, const GdkRGBA *c)
{
    const float least = nino_theme_is_contrast(p->theme) ? 3 : 1.8f;
    GdkRGBA out = nino_plot_mix(c, &p->bg, 0.7f);
    for (int i = 0; i < 20 && contrast(&out, &p->bg) < least; i++)
        out = nino_plot_mix(&out, &p->fg, 0.1f);
    return out;
}

GdkRGBA nino_plot_alpha(const GdkRGBA *c, float alpha)
{
    return (GdkRGBA){ c->red, c->green, c->blue, c->alpha * alpha };
}

GdkRGBA nino_plot_mix(const GdkRGBA *a, const GdkRGBA *b, float s)
{
    return (GdkRGBA){ a->red + (b->red - a->red) * s, a->green + (b->green - a->green) * s,
                      a->blue + (b->blue - a->blue) * s, a->alpha + (b->alpha - a->alpha) * s };
}

void nino_plot_bar(NinoPlot *p, float x, float y, float w, float h, const GdkRGBA *c)
{
    if (w <= 0 || h <= 0)
        return;
    if (p->snapshot) {
        gtk_snapshot_append_color(p->snapshot, c, &GRAPHENE_RECT_INIT(x, y, w, h));
        return;
    }
    gdk_cairo_set_source_rgba(p->cr, c);
    cairo_set_antialias(p->cr, CAIRO_ANTIALIAS_NONE);
    cairo_rectangle(p->cr, (double) x, (double) y, (double) w, (double) h);
    cairo_fill(p->cr);
}

void nino_plot_frame(NinoPlot *p, float x, float y, float w, float h, const GdkRGBA *c)
{
    nino_plot_bar(p, x, y, w, 1, c);
    nino_plot_bar(p, x, y + h - 1, w, 1, c);
    nino_plot_bar(p, x, y + 1, 1, h - 2, c);
    nino_plot_bar(p, x + w - 1, y + 1, 1, h - 2, c);
}

void nino_plot_line(NinoPlot *p, const float (*xy)[2], size_t n, float width, float dash,
                    const GdkRGBA *c)
{
    cairo_t *cr = p->cr;
    if (n < 2)
        return;
    if (p->snapshot)
        cr = gtk_snapshot_append_cairo(p->snapshot, &GRAPHENE_RECT_INIT(0, 0, p->width, p->height));
    gdk_cairo_set_source_rgba(cr, c);
    cairo_set_antialias(cr, CAIRO_ANTIALIAS_DEFAULT);
    cairo_set_line_width(cr, (double) width);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    const double dashes[] = { (double) dash, (double) dash };
    cairo_set_dash(cr, dashes, dash > 0 ? 2 : 0, 0);
    cairo_move_to(cr, (double) xy[0][0], (double) xy[0][1]);
    for (size_t i = 1; i < n; i++)
        cairo_line_to(cr, (double) xy[i][0], (double) xy[i][1]);
    cairo_stroke(cr);
    if (p->snapshot)
        cairo_destroy(cr);
}

void nino_plot_clip(NinoPlot *p, float x, float y, float w, float h)
{
    if (p->snapshot) {
        gtk_snapshot_push_clip(p->snapshot, &GRAPHENE_RECT_INIT(x, y, w, h));
        return;
    }
    cairo_save(p->cr);
    cairo_rectangle(p->cr, (double) x, (double) y, (double) w, (double) h);
    cairo_clip(p->cr);
}

void nino_plot_unclip(NinoPlot *p)
{
    if (p->snapshot)
        gtk_snapshot_pop(p->snapshot);
    else
        cairo_restore(p->cr);
}

// ---- text --------------------------------------------------------------------------------------

static PangoLayout *layout_of(NinoPlot *p, const char *text)
{
    PangoLayout *l = p->layouts ? g_hash_table_lookup(p->layouts, text) : NULL;
    if (l)
        return g_object_ref(l);
    l = pango_layout_new(p->pango);
    pango_layout_set_text(l, text, -1);
    pango_layout_set_single_paragraph_mode(l, TRUE);
    if (p->layouts) {
        if (g_hash_table_size(p->layouts) > 1024) // texts that change all the time
            g_hash_table_remove_all(p->layouts);
        g_hash_table_insert(p->layouts, g_strdup(text), g_object_ref(l));
    }
    return l;
}

float nino_plot_text_width(NinoPlot *p, const char *text)
{
    int w;
    PangoLayout *l = layout_of(p, text);
    pango_layout_set_width(l, -1);
    pango_layout_get_pixel_size(l, &w, NULL);
    g_object_unref(l);
    return (float) w;
}

float nino_plot_text_height(NinoPlot *p)
{
    int h;
    PangoLayout *l = layout_of(p, "Xg");
    pango_layout_get_pixel_size(l, NULL, &h);
    g_object_unref(l);
    return (float) h;
}

float nino_plot_text(NinoPlot *p, float x, float y, float max_width, NinoPlotAlign align,
                     const GdkRGBA *c, const char *text)
{
    if (!*text)
        return 0;
    int w;
    PangoLayout *l = layout_of(p, text);
    pango_layout_set_width(l, -1);
    pango_layout_get_pixel_size(l, &w, NULL);
    if (max_width > 0 && (float) w > max_width) {
        pango_layout_set_ellipsize(l, PANGO_ELLIPSIZE_END);
        pango_layout_set_width(l, (int) (max_width * PANGO_SCALE));
        w = (int) max_width;
    }
    const float left = align == NINO_PLOT_LEFT    ? x
                       : align == NINO_PLOT_RIGHT ? x - (float) w
                                                  : floorf(x - (float) w / 2);
    if (p->snapshot) {
        gtk_snapshot_save(p->snapshot);
        gtk_snapshot_translate(p->snapshot, &GRAPHENE_POINT_INIT(left, y));
        gtk_snapshot_append_layout(p->snapshot, l, c);
        gtk_snapshot_restore(p->snapshot);
    } else {
        gdk_cairo_set_source_rgba(p->cr, c);
        cairo_move_to(p->cr, (double) left, (double) y);
        pango_cairo_show_layout(p->cr, l);
    }
    g_object_unref(l);
    return (float) w;
}

enum { ROOM_FOR_EMPTY = 160 }; // a picture over a sentence of two lines over buttons

void nino_plot_empty(NinoPlot *p, const char *text)
{
    if (p->cr || p->height < ROOM_FOR_EMPTY)
        nino_plot_text(p, p->width / 2, floorf((p->height - nino_plot_text_height(p)) / 2),
                       p->width - 16, NINO_PLOT_CENTRE, &p->dim, text);
    else
        p->nothing = text;
}

// ---- axes --------------------------------------------------------------------------------------

double nino_plot_step(double range, int n)
{
    if (!(range > 0))
        return 1;
    const double raw = range / n, base = pow(10, floor(log10(raw)));
    const double f = raw / base;
    return base * (f <= 1 ? 1 : f <= 2 ? 2 : f <= 5 ? 5 : 10);
}

// A time on an axis whose marks are `step` apart: as many digits as tell two marks apart.
static void format_mark(char *buf, size_t size, double ns, double step)
{
    const double unit = step >= 1e9 ? 1e9 : step >= 1e6 ? 1e6 : step >= 1e3 ? 1e3 : 1;
    const char *name = unit >= 1e9 ? "s" : unit >= 1e6 ? "ms" : unit >= 1e3 ? "µs" : "ns";
    if (fabs(ns) >= 1e9 && unit < 1e9) { // far from the origin: seconds, with enough digits
        const int digits = (int) ceil(9 - log10(step));
        g_snprintf(buf, size, "%.*f s", CLAMP(digits, 0, 9), ns * 1e-9);
        return;
    }
    g_snprintf(buf, size, "%g %s", ns / unit, name);
}

void nino_plot_time_axis(NinoPlot *p, const NinoPlotBox *box, guint64 t0, guint64 t1,
                         guint64 origin)
{
    const double range = (double) (t1 - t0), from = (double) t0 - (double) origin;
    const double step = nino_plot_step(range, MAX((int) (box->w / 100), 1));
    float free_from = box->x - 20;
    const double first = ceil(from / step);
    for (int i = 0; (first + i) * step <= from + range; i++) {
        const double t = (first + i) * step;
        const float x = floorf(box->x + (float) ((t - from) / range) * box->w);
        nino_plot_bar(p, x, box->y, 1, box->h, &p->grid);
        char text[40];
        format_mark(text, sizeof(text), t, step);
        const float w = nino_plot_text_width(p, text);
        const float left = MIN(MAX(x - floorf(w / 2), 0), p->width - w);
        if (left < free_from)
            continue;
        nino_plot_text(p, left, box->y + box->h + 2, 0, NINO_PLOT_LEFT, &p->dim, text);
        free_from = left + w + 10;
    }
}

void nino_plot_mark(char *buf, size_t size, double v, double unit,
                    void (*format)(char *buf, size_t size, double v))
{
    format(buf, size, unit > 1 ? unit : v);
    char *end = strchr(buf, '\xc2'), *to = end; // the space before a unit
    if (!v) {
        g_strlcpy(buf, "0", size);
    } else if (unit > 1 && end) {
        g_autofree char *name = g_strdup(end);
        g_snprintf(buf, size, "%.4g%s", v / unit, name);
    } else if (end && strcspn(buf, ".,") < (size_t) (end - buf)) {
        while (to > buf && to[-1] == '0')
            to--;
        to -= to > buf && !g_ascii_isdigit(to[-1]);
        memmove(to, end, strlen(end) + 1);
    }
}

void nino_plot_value_axis(NinoPlot *p, const NinoPlotBox *box, double top,
                          void (*format)(char *buf, size_t size, double v))
{
    const float line = nino_plot_text_height(p);
    // Bytes have steps that are round in binary units. One mark at least is above the lowest.
    const double unit =
        format == nino_format_bytes ? pow(1024, floor(log(MAX(top, 1)) / log(1024))) : 1;
    int n = MAX((int) (box->h / (line * 2.5f)), 1);
    double step;
    do
        step = nino_plot_step(top / unit, n) * unit;
    while (step > top && n++ < 10);
    for (int i = 0; i * step <= top * 1.0001; i++) {
        const double v = i * step;
        const float y = floorf(box->y + box->h - (float) (v / top) * box->h);
        char text[40];
        nino_plot_bar(p, box->x, y, box->w, 1, &p->grid);
        nino_plot_mark(text, sizeof(text), v, unit, format);
        // The lowest one ends with the box: below it are the marks of the other axis.
        nino_plot_text(p, box->x - 6, CLAMP(y - floorf(line / 2), 0, box->y + box->h - line + 2), 0,
                       NINO_PLOT_RIGHT, &p->dim, text);
    }
}

float nino_plot_legend(NinoPlot *p, float x, float y, const GdkRGBA *colour, const char *text)
{
    const float line = nino_plot_text_height(p), room = p->width - x - 14 - 4;
    if (room < 2 * line)
        return x;
    nino_plot_bar(p, x, y + floorf((line - 10) / 2), 10, 10, colour);
    return x + 14 + nino_plot_text(p, x + 14, y, room, NINO_PLOT_LEFT, &p->fg, text) + 16;
}

// ---- numbers -----------------------------------------------------------------------------------

#define NBSP "\xc2\xa0" // number and unit stay on one line

static void format_unit(char *buf, size_t size, double v, const char *unit)
{
    const double a = fabs(v);
    g_snprintf(buf, size, "%.*f" NBSP "%s", a >= 100 || v == 0 ? 0 : a >= 10 ? 1 : 2, v, unit);
}

void nino_format_ns(char *buf, size_t size, double ns)
{
    const double a = fabs(ns);
    if (isnan(ns))
        g_strlcpy(buf, "–", size);
    else if (a == 0)
        g_strlcpy(buf, "0" NBSP "s", size);
    else if (a >= 60e9)
        g_snprintf(buf, size, "%d:%04.1f" NBSP "min", (int) (ns / 60e9), fmod(a, 60e9) * 1e-9);
    else if (a >= 1e9)
        format_unit(buf, size, ns * 1e-9, "s");
    else if (a >= 1e6)
        format_unit(buf, size, ns * 1e-6, "ms");
    else if (a >= 1e3)
        format_unit(buf, size, ns * 1e-3, "µs");
    else
        g_snprintf(buf, size, "%.0f" NBSP "ns", ns);
}

void nino_format_bytes(char *buf, size_t size, double bytes)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    int u = 0;
    while (fabs(bytes) >= 1024 && u < 4) {
        bytes /= 1024;
        u++;
    }
    if (isnan(bytes))
        g_strlcpy(buf, "–", size);
    else if (u == 0 || bytes == floor(bytes))
        g_snprintf(buf, size, "%.0f" NBSP "%s", bytes, units[u]);
    else
        format_unit(buf, size, bytes, units[u]);
}

void nino_format_count(char *buf, size_t size, double n)
{
    char digits[40];
    if (isnan(n)) {
        g_strlcpy(buf, "–", size);
        return;
    }
    g_snprintf(digits, sizeof(digits), "%.0f", n);
    const size_t len = strlen(digits);
    size_t k = 0;
    for (size_t i = 0; i < len && k + 4 < size; i++) {
        if (i && (len - i) % 3 == 0 && digits[i - 1] != '-') { // U+202F, narrow no-break space
            memcpy(buf + k, "\xe2\x80\xaf", 3);
            k += 3;
        }
        buf[k++] = digits[i];
    }
    buf[k] = 0;
}

void nino_format_hz(char *buf, size_t size, double hz)
{
    g_snprintf(buf, size, "%.*f" NBSP "Hz", hz < 1 ? 1 : 0, hz);
}

void nino_format_share(char *buf, size_t size, double share)
{
    if (isnan(share))
        g_strlcpy(buf, "–", size);
    else
        g_snprintf(buf, size, "%.1f" NBSP "%%", share * 100);
}
