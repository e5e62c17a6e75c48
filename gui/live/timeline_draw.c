// Drawing of the timeline: scopes as nested bars, what waits and runs on a device queue (each
// kernel, or from afar how busy the queue was), arrows from the scope that enqueued a kernel to its
// start.
#include "live/timeline_priv.h"

#include <math.h>

#include "base/i18n.h"

// ---- scopes ------------------------------------------------------------------------------------

static View view_of(const NinoPlot *p, Timeline *t, const NinoPlotBox *box)
{
    View v = { .h = nino_run_history(t->run), .box = *box };
    const char *names[NINO_HISTORY_FAMILIES];
    const size_t n = nino_history_families(v.h, names, NINO_HISTORY_FAMILIES);
    for (size_t f = 0; f < NINO_HISTORY_FAMILIES; f++) {
        v.family[f] = nino_plot_colour(nino_plot_family(f < n ? names[f] : NULL));
        v.faint[f] = nino_plot_faint(p, v.family[f]);
    }
    nino_run_view(t->run, &v.t0, &v.t1);
    v.per_ns = (double) box->w / (double) (v.t1 - v.t0);
    return v;
}

static float timeline_draw_x_of(const View *v, uint64_t t)
{
    const double x = ((double) t - (double) v->t0) * v->per_ns;
    return v->box.x + (float) CLAMP(x, 0, (double) v->box.w);
}

static uint64_t time_at(const View *v, float x)
{
    return v->t0 + (uint64_t) ((double) MAX(x - v->box.x, 0) / v->per_ns);
}

size_t nino_timeline_span_at(const View *v, const nino_span *s, const uint32_t *row, size_t n,
                             uint64_t t)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        const uint64_t end = s[row[mid]].end_ns ? s[row[mid]].end_ns : nino_history_end(v->h);
        if (end <= t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void draw_text_in(NinoPlot *p, float x0, float x1, float y, float h, const GdkRGBA *on,
                         const char *text)
{
    const GdkRGBA ink = nino_plot_ink(on);
    if (x1 - x0 > 26)
        nino_plot_text(p, x0 + 4, y + floorf((h - nino_plot_text_height(p)) / 2), x1 - x0 - 8,
                       NINO_PLOT_LEFT, &ink, text);
}

// Spans narrower than a pixel are one bar together; the search goes on behind that pixel.
static void draw_scopes(NinoPlot *p, Timeline *t, const View *v, const Row *r, float y)
{
    size_t n, n_spans;
    const nino_span *s = nino_history_spans(v->h, &n_spans);
    const uint32_t *row = nino_history_row(v->h, r->track, r->depth, &n);
    for (size_t i = nino_timeline_span_at(v, s, row, n, v->t0);
         i < n && s[row[i]].begin_ns < v->t1;) {
        const nino_span *e = &s[row[i]];
        const uint64_t end = e->end_ns ? e->end_ns : nino_history_end(v->h);
        const float x0 = floorf(timeline_draw_x_of(v, e->begin_ns)),
                    x1 = floorf(timeline_draw_x_of(v, end));
        const char *name = nino_history_name((void *) v->h, e->name);
        GdkRGBA c =
            *nino_plot_colour(e->status ? NINO_PLOT_FAILED : nino_plot_scope(e->kind, name));
        if (!nino_timeline_matches(t, e->name))
            c = nino_plot_faint(p, &c);
        if (x1 - x0 >= 2) {
            nino_plot_bar(p, x0, y, x1 - x0 - 1, r->h, &c);
            char text[96];
            if (!e->arg1 || (e->kind != NINO_EV_STEP && e->kind != NINO_EV_TILE))
                g_strlcpy(text, nino_run_title(t->run, name), sizeof(text));
            else if (x1 - x0 > 72)
                g_snprintf(text, sizeof(text), "%s %u", nino_run_title(t->run, name), e->arg0 + 1);
            else
                g_snprintf(text, sizeof(text), "%u", e->arg0 + 1);
            draw_text_in(p, x0, x1, y, r->h, &c, text);
            i++;
        } else {
            float to = x0 + 1;
            size_t k = i;
            do { // a run of narrow ones
                k = MAX(nino_timeline_span_at(v, s, row, n, time_at(v, to)), k + 1);
                if (k >= n || s[row[k]].begin_ns >= v->t1)
                    break;
                const float next = floorf(timeline_draw_x_of(v, s[row[k]].begin_ns));
                const uint64_t stop = s[row[k]].end_ns ? s[row[k]].end_ns : nino_history_end(v->h);
                if (next > to + 1 || timeline_draw_x_of(v, stop) - next >= 2)
                    break;
                to = next + 1;
            } while (to < v->box.x + v->box.w);
            nino_plot_bar(p, x0, y + 2, to - x0, r->h - 4, &c);
            i = k;
        }
    }
}

// ---- kernels and transfers ---------------------------------------------------------------------

enum { BEFORE = 4 }; // slices that may reach into a time from before it

// Nothing is chosen nor searched, or it is what is.
static gboolean is_looked_at(Timeline *t, uint32_t name)
{
    const uint32_t chosen = nino_run_kernel(t->run);
    return (!chosen || name == chosen) && nino_timeline_matches(t, name);
}

static void draw_each(NinoPlot *p, Timeline *t, const View *v, const Row *r, float y,
                      const nino_event *ev, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        const nino_event *e = &ev[i];
        const uint64_t end = e->t_ns + e->u.kernel.dur_ns;
        if (end < v->t0)
            continue;
        const float x0 = floorf(timeline_draw_x_of(v, e->t_ns)),
                    x1 = MAX(floorf(timeline_draw_x_of(v, end)), x0 + 1);
        const size_t f = nino_history_family_of(v->h, e->u.kernel.family);
        const GdkRGBA c = is_looked_at(t, e->name) ? *v->family[f] : v->faint[f];
        nino_plot_bar(p, x0, y, MAX(x1 - x0 - (x1 - x0 > 3 ? 1 : 0), 1), r->h, &c);
        draw_text_in(p, x0, x1, y, r->h, &c, nino_history_name((void *) v->h, e->name));
    }
}

// Of a column of busy time: by family what is looked at, then by family the rest.
typedef struct Column {
    float height[2 * NINO_HISTORY_FAMILIES];
} Column;

typedef struct Busy { // of a row, while it is drawn
    Timeline *t;
    const View *v;
    const Row *row;
    const nino_event *ev;
    size_t at, n;       // what begins before `at` has ended
    gboolean is_parted; // something is chosen or searched
} Busy;

// What is looked at of [a, b), from the slices themselves: the sums that are kept do not tell kernels apart.
static void busy_looked_at(Busy *r, uint64_t a, uint64_t b, uint64_t out[NINO_HISTORY_FAMILIES])
{
    memset(out, 0, NINO_HISTORY_FAMILIES * sizeof(*out));
    while (r->at + BEFORE < r->n && r->ev[r->at + BEFORE].t_ns <= a)
        r->at++;
    for (size_t i = r->at; i < r->n && r->ev[i].t_ns < b; i++) {
        const nino_event *e = &r->ev[i];
        const uint64_t from = MAX(a, e->t_ns), to = MIN(b, e->t_ns + e->u.kernel.dur_ns);
        if (from < to && is_looked_at(r->t, e->name))
            out[nino_history_family_of(r->v->h, e->u.kernel.family)] += to - from;
    }
}

static Column busy_column(Busy *r, uint64_t a, uint64_t b)
{
    uint64_t all[NINO_HISTORY_FAMILIES], part[NINO_HISTORY_FAMILIES];
    Column c = { 0 };
    float used = 0;
    nino_history_busy(r->v->h, r->row->track, a, b, all);
    if (r->is_parted)
        busy_looked_at(r, a, b, part);
    else
        memcpy(part, all, sizeof(part));
    for (int i = 0; i < 2 * NINO_HISTORY_FAMILIES; i++) {
        const int f = i % NINO_HISTORY_FAMILIES;
        const uint64_t ns = i == f ? part[f] : all[f] - MIN(all[f], part[f]);
        const float full = (float) ((double) ns / (double) (b - a)) * r->row->h;
        c.height[i] = MIN(roundf(used + full), r->row->h) - MIN(roundf(used), r->row->h);
        used += full;
    }
    return c;
}

static void draw_column(NinoPlot *p, const Busy *r, const Column *c, float x, float w, float y)
{
    float bottom = y + r->row->h;
    for (int i = 0; i < 2 * NINO_HISTORY_FAMILIES; i++) {
        const int f = i % NINO_HISTORY_FAMILIES;
        bottom -= c->height[i];
        nino_plot_bar(p, x, bottom, w, c->height[i], i == f ? r->v->family[f] : &r->v->faint[f]);
    }
}

// Columns of busy time, stacked; neighbours that look the same are one bar.
static void draw_busy(NinoPlot *p, Busy *r, float y, int step)
{
    const View *v = r->v;
    const int n = MIN((int) v->box.w, MAX_COLUMNS);
    Column was = { 0 };
    int since = 0;
    for (int c = 0; c < n + step; c += step) {
        Column now = { 0 };
        const uint64_t a = time_at(v, v->box.x + (float) c);
        if (c < n)
            now = busy_column(r, a, MAX(time_at(v, v->box.x + (float) (c + step)), a + 1));
        if (c < n && !memcmp(&now, &was, sizeof(now)))
            continue;
        draw_column(p, r, &was, v->box.x + (float) since, (float) (MIN(c, n) - since), y);
        was = now;
        since = c;
    }
}

static void draw_slices(NinoPlot *p, Timeline *t, const View *v, const Row *r, float y)
{
    size_t n;
    const nino_event *ev = nino_history_slices(v->h, r->track, &n);
    size_t from = nino_history_slice_at(v->h, r->track, v->t0);
    const size_t to = nino_history_slice_at(v->h, r->track, v->t1);
    from -= MIN(from, BEFORE);
    Busy busy = { t, v, r, ev, from, to, nino_run_kernel(t->run) || t->find };
    if (to - from <= (size_t) v->box.w / 2)
        draw_each(p, t, v, r, y, ev, from, to);
    else
        draw_busy(p, &busy, y, nino_run_is_live(t->run) ? 2 : 1); // live: half the cost
}

// How many kernels wait at a time: handed to the driver (submitted) and not yet (queued).
static void count_waiting(const nino_event *ev, size_t n, size_t i, uint64_t t, int *queued,
                          int *submitted)
{
    *queued = *submitted = 0;
    for (size_t k = i; k < n && k < i + LOOK_AHEAD; k++) {
        const uint64_t sub = ev[k].t_ns - MIN(ev[k].t_ns, ev[k].u.kernel.submitted_us * 1000ull);
        const uint64_t que = ev[k].t_ns - MIN(ev[k].t_ns, ev[k].u.kernel.queued_us * 1000ull);
        const bool is_weight = ev[k].kind == NINO_EV_TRANSFER && ev[k].sub; // waits within itself
        if (is_weight || ev[k].t_ns <= t || que > t)
            continue;
        if (sub <= t)
            ++*submitted;
        else
            ++*queued;
    }
}

static void draw_waiting(NinoPlot *p, const View *v, const Row *r, float y)
{
    size_t n, i;
    const nino_event *ev = nino_history_slices(v->h, r->track, &n);
    const GdkRGBA q = nino_plot_alpha(&p->fg, 0.28f), s = nino_plot_alpha(&p->fg, 0.62f);
    const int columns = MIN((int) v->box.w, MAX_COLUMNS);
    int was_q = 0, was_s = 0, since = 0;
    i = nino_history_slice_at(v->h, r->track, v->t0);
    for (int c = 0; c <= columns; c++) {
        int now_q = 0, now_s = 0;
        const uint64_t t = time_at(v, v->box.x + (float) c);
        while (i < n && ev[i].t_ns <= t && ev[i].t_ns < v->t1) {
            if (i + 64 < n && ev[i + 64].t_ns <= t) // many in one pixel
                i = nino_history_slice_at(v->h, r->track, t);
            else
                i++;
        }
        if (c < columns)
            count_waiting(ev, n, i, t, &now_q, &now_s);
        if (c < columns && now_q == was_q && now_s == was_s)
            continue;
        const float x = v->box.x + (float) since, w = (float) (c - since);
        nino_plot_bar(p, x, y + r->h - (float) was_s, w, (float) was_s, &s);
        nino_plot_bar(p, x, y + r->h - (float) (was_s + was_q), w, (float) was_q, &q);
        was_q = now_q;
        was_s = now_s;
        since = c;
    }
}

// ---- flow --------------------------------------------------------------------------------------

static const Row *timeline_draw_row_of(const Timeline *t, RowKind kind, uint16_t track,
                                       uint16_t depth)
{
    for (int i = 0; i < t->n_rows; i++)
        if (t->row[i].kind == kind && t->row[i].track == track && t->row[i].depth == depth)
            return &t->row[i];
    return NULL;
}

// From the scope that enqueued the kernel, at the time when it did, to where the kernel begins.
static void draw_arrow(NinoPlot *p, const Timeline *t, const View *v, const Row *queue,
                       const nino_event *e, float top, const GdkRGBA *colour)
{
    size_t n;
    const int32_t i = nino_history_span_of(v->h, e->parent);
    const nino_span *s = i >= 0 ? &nino_history_spans(v->h, &n)[i] : NULL;
    const Row *host = s ? timeline_draw_row_of(t, ROW_SCOPES, s->track, s->depth) : NULL;
    const uint64_t queued = e->t_ns - MIN(e->t_ns, e->u.kernel.queued_us * 1000ull);
    if (!host || e->t_ns < v->t0 || e->t_ns >= v->t1 || queued < v->t0)
        return;
    const float x0 = timeline_draw_x_of(v, queued),
                y0 = top + nino_timeline_row_y(t, host) + host->h - 2;
    const float x1 = timeline_draw_x_of(v, e->t_ns), y1 = top + nino_timeline_row_y(t, queue);
    const float line[][2] = {
        { x0, y0 }, { x0, (y0 + y1) / 2 }, { x1, (y0 + y1) / 2 }, { x1, y1 }
    };
    const float tip[][2] = { { x1 - 3, y1 - 5 }, { x1, y1 }, { x1 + 3, y1 - 5 } };
    nino_plot_line(p, line, G_N_ELEMENTS(line), 1, 0, colour);
    nino_plot_line(p, tip, G_N_ELEMENTS(tip), 1, 0, colour);
}

// Arrows while few kernels are in view: among many they would hide the rest.
static void draw_flow(NinoPlot *p, const Timeline *t, const View *v, const Row *r, float top)
{
    size_t n;
    const nino_event *ev = nino_history_slices(v->h, r->track, &n);
    const size_t from = nino_history_slice_at(v->h, r->track, v->t0);
    const size_t to = nino_history_slice_at(v->h, r->track, v->t1);
    const GdkRGBA c = nino_plot_alpha(&p->fg, 0.55f);
    for (size_t i = from; i < to && to - from <= MAX_ARROWS; i++)
        draw_arrow(p, t, v, r, &ev[i], top, &c);
}

// ---- what is chosen ----------------------------------------------------------------------------

static void draw_pick_frame(NinoPlot *p, const View *v, uint64_t from, uint64_t to, float y,
                            float h)
{
    if (to < v->t0 || from >= v->t1)
        return;
    const float x0 = floorf(timeline_draw_x_of(v, from)), x1 = floorf(timeline_draw_x_of(v, to));
    const float w = MAX(x1 - x0, 2);
    nino_plot_frame(p, x0 - 1, y - 1, w + 1, h + 2, &p->fg);
    nino_plot_frame(p, x0 - 2, y - 2, w + 3, h + 4, &p->bg);
}

// Where the call waited: handed over, then with the driver, on the line of what waits.
static void draw_pick_wait(NinoPlot *p, const Timeline *t, const View *v, const nino_event *e,
                           float top)
{
    const Row *wait = timeline_draw_row_of(t, ROW_WAIT, e->track, 0);
    const uint64_t queued = e->t_ns - MIN(e->t_ns, e->u.kernel.queued_us * 1000ull);
    const uint64_t submitted = e->t_ns - MIN(e->t_ns, e->u.kernel.submitted_us * 1000ull);
    const GdkRGBA *c = nino_plot_colour(3), weak = nino_plot_alpha(c, 0.6f);
    if (!wait || !e->u.kernel.queued_us || e->t_ns < v->t0 || queued >= v->t1)
        return;
    const float x0 = timeline_draw_x_of(v, queued), x1 = timeline_draw_x_of(v, submitted);
    const float x2 = timeline_draw_x_of(v, e->t_ns), y = top + nino_timeline_row_y(t, wait) + 3;
    nino_plot_bar(p, x0, y, MAX(x1 - x0, 1), wait->h - 6, &weak);
    nino_plot_bar(p, x1, y, MAX(x2 - x1, 1), wait->h - 6, c);
}

// The chosen call with its link; of a scope the links of the calls that it enqueued, if they are few.
static void draw_pick(NinoPlot *p, const Timeline *t, const View *v, float top)
{
    size_t n;
    const nino_span *all = nino_history_spans(v->h, &n);
    const int32_t at = nino_run_picked_span(t->run);
    const nino_event *e = nino_run_picked_slice(t->run);
    const Row *row = NULL;
    if (e) {
        row = timeline_draw_row_of(t, ROW_QUEUE, e->track, 0);
        const Row *host = timeline_draw_row_of(t, ROW_HOST, e->track, 0);
        if (row) {
            draw_pick_wait(p, t, v, e, top);
            draw_arrow(p, t, v, row, e, top, nino_plot_colour(3));
        }
        row = row ? row : host;
        if (row)
            draw_pick_frame(p, v, e->t_ns, e->t_ns + e->u.kernel.dur_ns,
                            top + nino_timeline_row_y(t, row), row->h);
        return;
    }
    row = at >= 0 ? timeline_draw_row_of(t, ROW_SCOPES, all[at].track, all[at].depth) : NULL;
    if (!row)
        return;
    for (int i = 0, links = 0; i < t->n_rows; i++) {
        const Row *r = &t->row[i];
        size_t k;
        const nino_event *ev = nino_history_slices(v->h, r->track, &k);
        for (size_t s = nino_history_slice_at(v->h, r->track, all[at].begin_ns);
             r->kind == ROW_QUEUE && s < k && ev[s].t_ns < v->t1 && links < MAX_ARROWS; s++)
            if (ev[s].parent == all[at].id) {
                draw_arrow(p, t, v, r, &ev[s], top, nino_plot_colour(3));
                links++;
            }
    }
    draw_pick_frame(p, v, all[at].begin_ns,
                    all[at].end_ns ? all[at].end_ns : nino_history_end(v->h),
                    top + nino_timeline_row_y(t, row), row->h);
}

// ---- drawing -----------------------------------------------------------------------------------

static void draw_row(NinoArea *area, NinoPlot *p, Timeline *t, const View *v, const Row *r, float y)
{
    const float line = nino_plot_text_height(p);
    if (gtk_widget_has_focus(GTK_WIDGET(area)) && r == &t->row[t->focus_row] && p->snapshot) {
        const GdkRGBA c = nino_plot_alpha(&p->fg, 0.08f);
        nino_plot_bar(p, 0, y, p->width, r->h, &c);
    }
    nino_plot_text(p, 6, y + floorf((r->h - line) / 2), (float) t->gutter - 12, NINO_PLOT_LEFT,
                   &p->dim, r->label);
    switch (r->kind) {
    case ROW_SCOPES: draw_scopes(p, t, v, r, y); break;
    case ROW_HOST:
    case ROW_QUEUE: draw_slices(p, t, v, r, y); break;
    case ROW_WAIT: draw_waiting(p, v, r, y); break;
    }
}

// Pinned rows lie over those that are scrolled behind them.
void nino_timeline_draw_rows(NinoArea *area, NinoPlot *p, Timeline *t, const NinoPlotBox *box,
                             float top)
{
    const View v = view_of(p, t, box);
    for (int pinned = 0; pinned < 2; pinned++) {
        const float at = p->cr || !t->scroll ? 0 : (float) gtk_adjustment_get_value(t->scroll);
        if (pinned && t->pinned_height > 0) {
            nino_plot_bar(p, 0, top + at, p->width, t->pinned_height, &p->bg);
            nino_plot_bar(p, 0, top + at + t->pinned_height - 1, p->width, 1, &p->grid);
        }
        for (int i = 0; i < t->n_rows; i++)
            if (t->row[i].is_pinned == pinned)
                draw_row(area, p, t, &v, &t->row[i], top + t->row[i].y + (pinned ? at : 0));
    }
    for (int i = 0; i < t->n_rows; i++)
        if (t->row[i].kind == ROW_QUEUE)
            draw_flow(p, t, &v, &t->row[i], top);
    draw_pick(p, t, &v, top);
}

void nino_timeline_draw_legend(NinoPlot *p, Timeline *t, float y)
{
    const char *names[NINO_HISTORY_FAMILIES];
    const size_t n = nino_history_families(nino_run_history(t->run), names, NINO_HISTORY_FAMILIES);
    const GdkRGBA q = nino_plot_alpha(&p->fg, 0.28f), s = nino_plot_alpha(&p->fg, 0.62f);
    const float room =
        nino_plot_text_width(p, _("queued")) + nino_plot_text_width(p, _("submitted")) + 2 * 30;
    float x = (float) t->gutter;
    for (size_t f = 0; f < n && x < p->width - room - 60; f++)
        x = nino_plot_legend(p, x, y, nino_plot_colour(nino_plot_family(names[f])),
                             nino_plot_family_name(names[f]));
    x = nino_plot_legend(p, x, y, &q, _("queued"));
    nino_plot_legend(p, x, y, &s, _("submitted"));
}
