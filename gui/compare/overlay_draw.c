// How two runs over each other are drawn: nodes and their steps or tiles in lanes, the baseline lower and pale;
// below them what both devices did.
#include "compare/overlay_priv.h"

#include <math.h>
#include <string.h>

#include "base/i18n.h"

NinoPlotBox nino_overlay_box(float width, float height)
{
    return (NinoPlotBox){ LEFT, HEAD, MAX(width - LEFT - 8, 1), MAX(height - HEAD - FOOT, 1) };
}

float nino_overlay_x(const Overlay *o, const NinoPlotBox *b, double at)
{
    const double x = (at - o->from) / (o->to - o->from);
    return b->x + (float) CLAMP(x, 0, 1) * b->w;
}

float nino_overlay_lane_y(const Overlay *o, const NinoPlotBox *b, int lane)
{
    return b->y + GAP + (float) ((lane - (lane == LANES && !o->has_parts)) * (BAR + SHIFT + GAP));
}

void nino_overlay_say_change(char *buf, size_t size, const Slot *s)
{
    const double change = 100 * (s->seconds[SHOWN] / s->seconds[BASE] - 1);
    if (!s->end[BASE] || !s->end[SHOWN])
        g_strlcpy(buf, s->end[BASE] ? _("only in the baseline") : _("only in this run"), size);
    else if (s->is_cached[BASE] != s->is_cached[SHOWN])
        g_strlcpy(buf, s->is_cached[BASE] ? _("cached in the baseline") : _("cached in this run"),
                  size);
    else if (s->seconds[BASE] > 0)
        g_snprintf(buf, size, "%s%.1f %%", change < 0 ? "−" : "+", fabs(change));
    else
        g_strlcpy(buf, "", size);
}

static void draw_part(const Overlay *o, NinoPlot *p, const NinoPlotBox *b, const Part *e)
{
    const float x0 = floorf(nino_overlay_x(o, b, e->at));
    const float x1 = MAX(floorf(nino_overlay_x(o, b, e->end)), x0 + 1);
    const float y = nino_overlay_lane_y(o, b, e->lane) + (e->side == BASE ? SHIFT : 0);
    if (e->end < o->from || e->at > o->to)
        return;
    const char *name = nino_history_name(nino_overlay_history(o, e->side), e->name);
    GdkRGBA c = *nino_plot_colour(e->is_failed ? NINO_PLOT_FAILED : nino_plot_scope(e->kind, name));
    if (e->side == BASE) {
        const GdkRGBA edge = nino_plot_mix(&c, &p->fg, 0.3f);
        c = nino_plot_faint(p, &c);
        nino_plot_bar(p, x0, y, x1 - x0, BAR, &c);
        if (x1 - x0 > 3)
            nino_plot_frame(p, x0, y, x1 - x0, BAR, &edge);
        return;
    }
    char text[96];
    nino_plot_bar(p, x0, y, MAX(x1 - x0 - 1, 1), BAR, &c);
    if (e->number)
        g_snprintf(text, sizeof(text), "%u", e->number);
    else
        g_strlcpy(text, nino_run_title(o->run, name), sizeof(text));
    const GdkRGBA ink = nino_plot_ink(&c);
    if (x1 - x0 > 26)
        nino_plot_text(p, x0 + 4, y + floorf((BAR - nino_plot_text_height(p)) / 2), x1 - x0 - 8,
                       NINO_PLOT_LEFT, &ink, text);
}

// The share of [a, b) of the axis in which the device of a side was busy, by family.
static double busy_of(const Overlay *o, int side, double a, double b,
                      uint64_t sum[NINO_HISTORY_FAMILIES])
{
    nino_track_info track[64];
    nino_history *h = nino_overlay_history(o, side);
    const size_t n = MIN(nino_history_tracks(h, track, G_N_ELEMENTS(track)), G_N_ELEMENTS(track));
    double covered = 0;
    memset(sum, 0, NINO_HISTORY_FAMILIES * sizeof(*sum));
    for (guint i = 0; i < o->slots->len; i++) {
        const Slot *s = &g_array_index(o->slots, Slot, i);
        const double own = (double) (s->end[side] - s->begin[side]);
        const double from = MAX(a, s->at), to = MIN(b, s->at + own);
        if (!s->end[side] || from >= to)
            continue;
        const uint64_t t0 = s->begin[side] + (uint64_t) (from - s->at);
        const uint64_t t1 = MAX(s->begin[side] + (uint64_t) (to - s->at), t0 + 1);
        covered += to - from;
        for (size_t k = 0; k < n; k++) {
            uint64_t busy[NINO_HISTORY_FAMILIES];
            if (track[k].number < 256)
                continue;
            nino_history_busy(h, track[k].number, t0, t1, busy);
            for (int f = 0; f < NINO_HISTORY_FAMILIES; f++)
                sum[f] += busy[f];
        }
    }
    return covered;
}

static void draw_device(const Overlay *o, NinoPlot *p, const NinoPlotBox *b, int side)
{
    enum { STEP = 2 };
    const char *names[NINO_HISTORY_FAMILIES];
    const size_t n =
        nino_history_families(nino_overlay_history(o, side), names, NINO_HISTORY_FAMILIES);
    const float bottom =
        nino_overlay_lane_y(o, b, LANES) + DEVICE + (side == BASE ? DEVICE + 2 : 0);
    const double per_px = (o->to - o->from) / (double) b->w;
    for (int column = 0; column * STEP < (int) b->w; column++) {
        const float x = (float) (column * STEP);
        uint64_t busy[NINO_HISTORY_FAMILIES];
        const double at = o->from + (double) x * per_px, wide = per_px * STEP;
        if (busy_of(o, side, at, at + wide, busy) <= 0)
            continue;
        float y = bottom;
        for (size_t f = 0; f < NINO_HISTORY_FAMILIES; f++) {
            const float h = roundf((float) ((double) busy[f] / wide) * DEVICE);
            const float fits = MIN(h, y - (bottom - DEVICE));
            GdkRGBA c = *nino_plot_colour(nino_plot_family(f < n ? names[f] : NULL));
            if (side == BASE)
                c = nino_plot_faint(p, &c);
            y -= fits;
            nino_plot_bar(p, b->x + x, y, STEP, fits, &c);
        }
    }
}

// Names of slots and how they differ, where there is room; their edges; the marked one's ground.
static void draw_slots(const Overlay *o, NinoPlot *p, const NinoPlotBox *b)
{
    const float line = nino_plot_text_height(p);
    for (guint i = 0; i < o->slots->len; i++) {
        const Slot *s = &g_array_index(o->slots, Slot, i);
        char change[64], text[176];
        if (s->at > o->to || s->at + s->width < o->from)
            continue;
        const float x0 = floorf(nino_overlay_x(o, b, s->at)),
                    x1 = nino_overlay_x(o, b, s->at + s->width);
        if (*o->marked && !strcmp(o->marked, s->name)) {
            const GdkRGBA ground = nino_plot_alpha(nino_plot_colour(4), 0.18f);
            nino_plot_bar(p, x0, b->y, MAX(x1 - x0, 2), b->h, &ground);
        }
        nino_plot_bar(p, x0, b->y - 4, 1, b->h + 4, &p->grid);
        nino_overlay_say_change(change, sizeof(change), s);
        g_snprintf(text, sizeof(text), "%s  %s", s->name, change);
        if (*s->name && x1 - x0 > 34)
            nino_plot_text(p, x0 + 3, b->y - line - 2, x1 - x0 - 6, NINO_PLOT_LEFT, &p->fg, text);
    }
}

void nino_overlay_draw(NinoArea *area, NinoPlot *p, gpointer user)
{
    (void) area;
    Overlay *o = user;
    if (!o->base || !o->slots->len) {
        nino_plot_empty(p, _("The two runs appear here over each other"));
        return;
    }
    static const char *const lanes[] = { N_("nodes"), N_("parts"), N_("device"), N_("baseline") };
    const NinoPlotBox b = nino_overlay_box(p->width, p->height);
    const float line = nino_plot_text_height(p);
    const float y[] = { nino_overlay_lane_y(o, &b, 0), nino_overlay_lane_y(o, &b, 1),
                        nino_overlay_lane_y(o, &b, 2) + HALF - 4,
                        nino_overlay_lane_y(o, &b, 2) + DEVICE + HALF - 4 };
    for (int i = 0; i < 4; i++)
        if (i != LANE_PART || o->has_parts)
            nino_plot_text(p, 6, y[i] + floorf((BAR - line) / 2), LEFT - 12, NINO_PLOT_LEFT,
                           &p->dim, _(lanes[i]));
    const GdkRGBA pale = nino_plot_faint(p, nino_plot_colour(NINO_PLOT_NODE));
    const float x = nino_plot_legend(p, LEFT, 2, nino_plot_colour(NINO_PLOT_NODE), _("this run"));
    nino_plot_legend(p, x, 2, &pale, _("the baseline, behind it"));
    nino_plot_clip(p, b.x, 0, b.w + 1, p->height);
    draw_slots(o, p, &b);
    for (guint i = 0; i < o->parts->len; i++)
        draw_part(o, p, &b, &g_array_index(o->parts, Part, i));
    draw_device(o, p, &b, SHOWN);
    draw_device(o, p, &b, BASE);
    nino_plot_unclip(p);
    nino_plot_time_axis(p, &b, (guint64) o->from, (guint64) MAX(o->to, o->from + 1), 0);
}
