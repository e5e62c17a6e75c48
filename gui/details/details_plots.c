// Histogram of peers, the wait of a call, its place below the ceilings: what is small enough for a pane.
#include "details/details_plots.h"

#include <math.h>

#include "base/i18n.h"
#include "live/describe.h"
#include "details/peers.h"
#include "live/roofline_priv.h"
#include "plot/area.h"

enum { BINS = 32, PEERS_HEIGHT = 92, WAIT_HEIGHT = 62, ROOF_HEIGHT = 128 };

typedef struct Plot {
    NinoRun *run; // the area's
    gboolean (*update)(struct Plot *plot);
    GtkWidget *area;
    // peers
    guint bin[BINS];
    double lo, bin_ns;
    gboolean has_far; // the last bin has what is far longer than the others
    NinoPeerTimes times;
    // wait, roofline
    nino_event call;
    double flops, bytes, seconds;
    char family[32];
} Plot;

static void plot_free(gpointer user)
{
    Plot *d = user;
    g_free(d->times.ns);
    g_free(d);
}

static GtkWidget *new_plot(NinoRun *run, const NinoAreaType *type, gboolean (*update)(Plot *))
{
    Plot *d = g_new0(Plot, 1);
    d->run = run;
    d->update = update;
    d->area = nino_area_new(run, type, d, plot_free);
    gtk_widget_set_vexpand(d->area, FALSE);
    return d->area;
}

gboolean nino_details_plot_update(GtkWidget *plot)
{
    Plot *d = nino_area_user(NINO_AREA(plot));
    const gboolean any = d->update(d);
    gtk_widget_set_visible(plot, any);
    gtk_widget_queue_draw(plot);
    return any;
}

// ---- peers -------------------------------------------------------------------------------------

// The end of a bin is in it. Before what is far a bin stays empty.
static int peers_bin(const Plot *d, double ns)
{
    const int usual = d->has_far ? BINS - 2 : BINS;
    const double bin = (ns - d->lo) / d->bin_ns;
    return d->has_far && bin > usual + 0.001 ? BINS - 1 : CLAMP((int) bin, 0, usual - 1);
}

static gboolean peers_update(Plot *d)
{
    g_free(d->times.ns);
    const gboolean any = nino_peer_times(d->run, &d->times);
    memset(d->bin, 0, sizeof(d->bin));
    if (!any)
        return FALSE;
    const double *ns = d->times.ns, q1 = ns[d->times.n / 4],
                 q3 = ns[d->times.n - 1 - d->times.n / 4];
    const double fence = MAX(q3 + 3 * (q3 - q1), 1.3 * ns[d->times.n / 2]); // Tukey's far outliers
    size_t n = d->times.n;
    while (n > 1 && ns[n - 1] > fence)
        n--;
    d->lo = ns[0];
    d->has_far = n < d->times.n;
    d->bin_ns = MAX(ns[n - 1] - d->lo, d->lo * 1e-6 + 1) / (d->has_far ? BINS - 2 : BINS);
    for (size_t i = 0; i < d->times.n; i++)
        d->bin[peers_bin(d, ns[i])]++;
    return TRUE;
}

static void peers_draw(NinoArea *area, NinoPlot *p, gpointer user)
{
    (void) area;
    const Plot *d = user;
    const float line = nino_plot_text_height(p), bottom = p->height - line - 4, top = line + 4;
    const float w = p->width - 12;
    guint most = 1;
    char least[40], longest[40], own[48], text[64], end[64];
    for (int i = 0; i < BINS; i++)
        most = MAX(most, d->bin[i]);
    const int at = peers_bin(d, d->times.own);
    for (int i = 0; i < BINS; i++) {
        const float x = 6 + floorf(w * (float) i / BINS),
                    next = 6 + floorf(w * (float) (i + 1) / BINS);
        const float h =
            d->bin[i] ? MAX(floorf((bottom - top) * (float) d->bin[i] / (float) most), 2) : 0;
        const gboolean is_own = d->times.own > 0 && i == at;
        nino_plot_bar(p, x, bottom - h, MAX(next - x - 1, 1), h, nino_plot_colour(is_own ? 3 : 0));
    }
    nino_format_ns(least, sizeof(least), d->lo);
    nino_format_ns(longest, sizeof(longest), d->times.ns[d->times.n - 1]);
    nino_plot_text(p, 6, bottom + 2, 0, NINO_PLOT_LEFT, &p->dim, least);
    g_snprintf(end, sizeof(end), d->has_far ? _("longest %s") : "%s", longest);
    nino_plot_text(p, p->width - 6, bottom + 2, 0, NINO_PLOT_RIGHT, &p->dim, end);
    nino_format_ns(own, sizeof(own), d->times.own > 0 ? d->times.own : d->times.ns[d->times.n / 2]);
    g_snprintf(text, sizeof(text), d->times.own > 0 ? _("this one %s") : _("half below %s"), own);
    const double shown = d->times.own > 0 ? d->times.own : d->times.ns[d->times.n / 2];
    const float v = (float) MIN((shown - d->lo) / d->bin_ns / BINS, 1 - 0.5 / BINS);
    const float x = floorf(6 + w * CLAMP(v, 0, 1)), half = nino_plot_text_width(p, text) / 2;
    nino_plot_bar(p, x, top, 1, bottom - top, &p->fg);
    nino_plot_text(p, CLAMP(x, 6 + half, p->width - 6 - half), 2, 0, NINO_PLOT_CENTRE, &p->fg,
                   text);
}

static gboolean peers_tip(NinoArea *area, double x, double y, GString *text, gpointer user)
{
    (void) y;
    const Plot *d = user;
    const double w = gtk_widget_get_width(GTK_WIDGET(area)) - 12;
    const int i = CLAMP((int) ((x - 6) / w * BINS), 0, BINS - 1);
    char a[40], b[40];
    if (!d->times.n)
        return FALSE;
    nino_format_ns(a, sizeof(a), d->lo + d->bin_ns * i);
    nino_format_ns(b, sizeof(b),
                   d->has_far && i == BINS - 1 ? d->times.ns[d->times.n - 1]
                                               : d->lo + d->bin_ns * (i + 1));
    g_string_append_printf(text, ngettext("%u of %s to %s", "%u of %s to %s", d->bin[i]), d->bin[i],
                           a, b);
    return TRUE;
}

// The i-th bin that is not empty.
static gboolean peers_item(NinoArea *area, int i, double *x, double *y, gpointer user)
{
    const Plot *d = user;
    GtkWidget *w = GTK_WIDGET(area);
    for (int k = 0; k < BINS; k++) {
        if (!d->bin[k] || i-- > 0)
            continue;
        *x = 6 + (k + 0.5) * (gtk_widget_get_width(w) - 12) / BINS;
        *y = gtk_widget_get_height(w) / 2.0;
        return TRUE;
    }
    return FALSE;
}

GtkWidget *nino_details_peers(NinoRun *run)
{
    static const NinoAreaType type = { .label = N_("How long its peers took"),
                                       .draw = peers_draw,
                                       .tip = peers_tip,
                                       .item = peers_item,
                                       .draws_itself = TRUE,
                                       .min_width = 180,
                                       .min_height = PEERS_HEIGHT };
    return new_plot(run, &type, peers_update);
}

// ---- wait --------------------------------------------------------------------------------------

static gboolean wait_update(Plot *d)
{
    const nino_event *e = nino_run_picked_slice(d->run);
    if (!e || e->kind != NINO_EV_KERNEL || !e->u.kernel.queued_us)
        return FALSE;
    d->call = *e;
    return TRUE;
}

// Three parts by their time; each is at least wide enough to be seen, so that it is said which is which.
static void wait_draw(NinoArea *area, NinoPlot *p, gpointer user)
{
    (void) area;
    const Plot *d = user;
    const double submitted = d->call.u.kernel.submitted_us * 1e3;
    const double part[] = { MAX(d->call.u.kernel.queued_us * 1e3 - submitted, 0), submitted,
                            (double) d->call.u.kernel.dur_ns };
    static const char *const names[] = { N_("queued"), N_("submitted"), N_("ran") };
    const GdkRGBA colour[] = { nino_plot_alpha(&p->fg, 0.28f), nino_plot_alpha(&p->fg, 0.62f),
                               *nino_plot_colour(nino_plot_family(
                                   nino_run_name(d->run, d->call.u.kernel.family))) };
    const double all = MAX(part[0] + part[1] + part[2], 1);
    const float line = nino_plot_text_height(p), w = p->width - 12 - 3 * 3;
    float x = 6, at = 6;
    for (int i = 0; i < 3; i++) {
        char took[40];
        const float wide = 3 + floorf(w * (float) (part[i] / all));
        nino_plot_bar(p, x, 4, wide - 1, 16, &colour[i]);
        if (i < 2)
            nino_plot_bar(p, x + wide - 1, 2, 1, 20, &p->fg); // the next begins
        x += wide;
        nino_format_ns(took, sizeof(took), part[i]);
        nino_plot_bar(p, at, 24 + floorf((line - 8) / 2), 8, 8, &colour[i]);
        const float name = nino_plot_text(p, at + 11, 24, 0, NINO_PLOT_LEFT, &p->fg, _(names[i]));
        const float time = nino_plot_text(p, at + 11, 24 + line, 0, NINO_PLOT_LEFT, &p->dim, took);
        at += 11 + MAX(name, time) + 8;
    }
}

GtkWidget *nino_details_wait(NinoRun *run)
{
    static const NinoAreaType type = { .label = N_("Queued, submitted, run"),
                                       .draw = wait_draw,
                                       .draws_itself = TRUE,
                                       .min_width = 180,
                                       .min_height = WAIT_HEIGHT };
    return new_plot(run, &type, wait_update);
}

// ---- roofline ----------------------------------------------------------------------------------

static gboolean roof_update(Plot *d)
{
    const nino_event *e = nino_run_picked_slice(d->run);
    const nino_stats *s = nino_run_stats(d->run);
    nino_op_stat op;
    d->flops = d->bytes = d->seconds = 0;
    d->family[0] = 0;
    if (e) {
        d->flops = e->u.kernel.flops;
        d->bytes = e->u.kernel.bytes;
        d->seconds = (double) e->u.kernel.dur_ns * 1e-9;
        g_strlcpy(d->family, nino_run_name(d->run, e->u.kernel.family), sizeof(d->family));
    } else if (nino_run_picked(d->run) == NINO_PICK_KERNEL && s) {
        const size_t n = nino_stats_ops(s, NULL, 0);
        g_autofree nino_op_stat *all = g_new0(nino_op_stat, n + 1);
        nino_stats_ops(s, all, n);
        for (size_t i = 0; i < n; i++)
            if (!g_strcmp0(all[i].name, nino_run_name(d->run, nino_run_kernel(d->run)))) {
                op = all[i];
                d->flops = op.flops;
                d->bytes = op.bytes;
                d->seconds = (double) op.total_ns * 1e-9;
                g_strlcpy(d->family, op.family, sizeof(d->family));
            }
    }
    return d->flops > 0 && d->bytes > 0 && d->seconds > 0 && nino_run_ceilings(d->run);
}

// The ridge and the dot in the middle, four decades around them.
static void roof_draw(NinoArea *area, NinoPlot *p, gpointer user)
{
    (void) area;
    const Plot *d = user;
    const nino_ceilings *c = nino_run_ceilings(d->run);
    if (!c || d->seconds <= 0 || c->bandwidth <= 0)
        return;
    const double peak = MAX(c->flops_f32, c->flops_f16), ridge = peak / c->bandwidth;
    const double ai = d->flops / d->bytes, rate = d->flops / d->seconds;
    const double lo_x = log10(MIN(ai, ridge)) - 1, hi_x = log10(MAX(ai, ridge)) + 1;
    const double hi_y = log10(MAX(peak, rate)) + 0.4;
    const double lo_y = MIN(log10(rate) - 0.7, hi_y - 2);
    const float line = nino_plot_text_height(p);
    const NinoPlotBox b = { 6, line + 6, p->width - 12, p->height - 2 * line - 12 };
#define AT_X(v) (b.x + (float) ((log10(v) - lo_x) / (hi_x - lo_x)) * b.w)
#define AT_Y(v) (b.y + b.h - (float) ((log10(v) - lo_y) / (hi_y - lo_y)) * b.h)
    const float roof[][2] = { { b.x, AT_Y(pow(10, lo_x) * c->bandwidth) },
                              { AT_X(ridge), AT_Y(peak) },
                              { b.x + b.w, AT_Y(peak) } };
    char text[96], top[40], own[40];
    nino_plot_clip(p, b.x, b.y, b.w, b.h + 1);
    nino_plot_line(p, roof, 3, 2, c->measured_at ? 0 : 5, nino_plot_colour(0));
    nino_plot_bar(p, roundf(AT_X(ai)) - 4, roundf(AT_Y(rate)) - 4, 9, 9,
                  nino_plot_colour(nino_plot_family(d->family)));
    nino_plot_frame(p, roundf(AT_X(ai)) - 5, roundf(AT_Y(rate)) - 5, 11, 11, &p->fg);
    nino_plot_unclip(p);
#undef AT_X
#undef AT_Y
    nino_plot_bar(p, b.x, b.y + b.h, b.w, 1, &p->grid);
    nino_roofline_format(top, sizeof(top), MIN(peak, ai * c->bandwidth));
    nino_roofline_format(own, sizeof(own), rate);
    g_snprintf(text, sizeof(text), _("%s of %s"), own, top);
    nino_plot_text(p, 6, 2, p->width - 12, NINO_PLOT_LEFT, &p->fg, text);
    g_snprintf(text, sizeof(text),
               c->measured_at ? _("%.3g FLOP/byte, bound measured")
                              : _("%.3g FLOP/byte, bound assumed"),
               ai);
    nino_plot_text(p, 6, b.y + b.h + 3, p->width - 12, NINO_PLOT_LEFT, &p->dim, text);
}

GtkWidget *nino_details_roofline(NinoRun *run)
{
    static const NinoAreaType type = { .label = N_("Place below the ceilings of the device"),
                                       .draw = roof_draw,
                                       .draws_itself = TRUE,
                                       .min_width = 180,
                                       .min_height = ROOF_HEIGHT };
    return new_plot(run, &type, roof_update);
}
