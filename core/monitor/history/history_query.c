// What tables and plots show of a history: statistics of a range, histograms, calls by duration,
// call paths.
#include "core/monitor/history/history.h"

#include "core/base/error.h"

#include <stdio.h>

// ---- statistics of a range ---------------------------------------------------------------------

typedef struct span_end {
    uint64_t t_ns;
    uint32_t id;
} span_end;

static int by_end(const void *a, const void *b)
{
    const uint64_t x = ((const span_end *) a)->t_ns, y = ((const span_end *) b)->t_ns;
    return x < y ? -1 : x > y;
}

// A sorted source of records; the earliest of all sources is fed next.
typedef struct cursor {
    const nino_event *ev;
    size_t i, n;
} cursor;

typedef struct replay {
    const nino_history *h;
    nino_stats *stats;
    uint64_t t0, t1;
    cursor list[HISTORY_TRACKS + 3];
    size_t n_lists;
    span_end *end;
    size_t n_ends, at_end, at_span;
} replay;

static void feed(const replay *r, const nino_event *ev)
{
    nino_stats_add(r->stats, ev, 1, nino_history_name, (void *) r->h);
}

static void history_query_add_list(replay *r, const nino_event *ev, size_t n)
{
    const size_t i = nino_history_lower(ev, n, r->t0), end = nino_history_lower(ev, n, r->t1);
    if (ev && i < end)
        r->list[r->n_lists++] = (cursor){ ev, i, end };
}

static void feed_begin(const replay *r, const nino_span *s)
{
    feed(r, &(nino_event){ .t_ns = s->begin_ns,
                           .kind = s->kind,
                           .track = s->track,
                           .name = s->name,
                           .id = s->id,
                           .parent = s->parent >= 0 ? r->h->span[s->parent].id : 0,
                           .u.scope = { s->arg0, s->arg1 } });
}

// The memory and the scopes the range begins with.
static void feed_start(replay *r)
{
    const history_list *l = &r->h->list[NINO_EV_MEM];
    const size_t before = nino_history_lower(l->ev, l->n, r->t0);
    nino_mem_point p;
    if (before && nino_history_memory(r->h, before - 1, &p))
        for (int o = 0; o < NINO_OWN_COUNT; o++)
            feed(r, &(nino_event){ .t_ns = r->t0,
                                   .kind = NINO_EV_MEM,
                                   .sub = NINO_MEM_FREE,
                                   .u.mem = { .in_use = p.in_use,
                                              .reserved = p.reserved,
                                              .largest_free = p.largest_free,
                                              .owner = (uint8_t) o,
                                              .owner_use = (uint32_t) (p.by_owner[o] / 256) } });
    for (; r->at_span < r->h->n_spans; r->at_span++) {
        const nino_span *s = &r->h->span[r->at_span];
        if (s->begin_ns >= r->t0)
            break;
        if (!s->end_ns || s->end_ns >= r->t0)
            feed_begin(r, s);
    }
}

// Feeds the earliest record that is left; false: none.
static bool feed_next(replay *r)
{
    const nino_span *s = r->at_span < r->h->n_spans ? &r->h->span[r->at_span] : NULL;
    const span_end *e = r->at_end < r->n_ends ? &r->end[r->at_end] : NULL;
    cursor *c = NULL;
    for (size_t i = 0; i < r->n_lists; i++)
        if (r->list[i].i < r->list[i].n &&
            (!c || r->list[i].ev[r->list[i].i].t_ns < c->ev[c->i].t_ns))
            c = &r->list[i];
    const uint64_t at_span = s && s->begin_ns < r->t1 ? s->begin_ns : UINT64_MAX;
    const uint64_t at_end = e ? e->t_ns : UINT64_MAX;
    const uint64_t at_list = c ? c->ev[c->i].t_ns : UINT64_MAX;
    if (at_span == UINT64_MAX && at_end == UINT64_MAX && at_list == UINT64_MAX)
        return false;
    if (at_span <= at_list && at_span <= at_end) {
        feed_begin(r, s);
        r->at_span++;
    } else if (at_list <= at_end && c) { // what happens as a scope ends is still its own
        feed(r, &c->ev[c->i++]);
    } else if (e) {
        feed(r, &(nino_event){ .t_ns = e->t_ns, .kind = NINO_EV_END, .id = e->id });
        r->at_end++;
    }
    return true;
}

nino_stats *nino_history_range_stats(const nino_history *h, uint64_t t0, uint64_t t1)
{
    replay r = { .h = h, .stats = nino_stats_create(), .t0 = t0, .t1 = t1 };
    r.end = malloc((h->n_spans + 1) * sizeof(*r.end));
    if (!r.stats || !r.end) {
        nino_stats_destroy(&r.stats);
        free(r.end);
        return NULL;
    }
    for (size_t i = 0; i < h->n_spans; i++)
        if (h->span[i].end_ns >= t0 && h->span[i].end_ns < t1 && h->span[i].end_ns)
            r.end[r.n_ends++] = (span_end){ h->span[i].end_ns, h->span[i].id };
    qsort(r.end, r.n_ends, sizeof(*r.end), by_end);
    for (size_t i = 0; i < h->n_tracks; i++)
        history_query_add_list(&r, h->track[i]->slices.ev, h->track[i]->slices.n);
    history_query_add_list(&r, h->list[NINO_EV_MEM].ev, h->list[NINO_EV_MEM].n);
    history_query_add_list(&r, h->list[NINO_EV_CACHE].ev, h->list[NINO_EV_CACHE].n);
    feed_start(&r);
    while (feed_next(&r))
        ;
    free(r.end);
    return r.stats;
}

// ---- by shape, by work size --------------------------------------------------------------------

typedef struct parts {
    const nino_history *h;
    bool is_work; // what goes with the name: the work size, else the shape
    struct {
        uint32_t name, part;
    } * pair;
    size_t n, cap;
    char text[256];
} parts;

// Ids behind those of the history's names are pairs.
static const char *pair_name(void *priv, uint32_t id)
{
    parts *s = priv;
    nino_history *h = (nino_history *) s->h;
    if (id < h->n_names)
        return nino_history_name(h, id);
    const char *part = nino_history_name(h, s->pair[id - h->n_names].part);
    // Of a launch its two sizes: what was requested differs among launches of one size.
    const char *bytes = s->is_work ? strrchr(part, '/') : NULL;
    snprintf(s->text, sizeof(s->text), "%s%s%.*s",
             nino_history_name(h, s->pair[id - h->n_names].name), *part ? " " : "",
             bytes ? (int) (bytes - part) : 128, part);
    return s->text;
}

static bool history_query_add_pairs(parts *s, const history_list *l, uint64_t t0, uint64_t t1,
                                    nino_stats *stats)
{
    for (size_t i = nino_history_lower(l->ev, l->n, t0); i < l->n && l->ev[i].t_ns < t1; i++) {
        nino_event e = l->ev[i];
        uint32_t part = e.u.kernel.shape;
        if (s->is_work)
            part = e.kind == NINO_EV_KERNEL ? nino_kernel_launch(&e) : 0;
        size_t k = 0;
        while (k < s->n && (s->pair[k].name != e.name || s->pair[k].part != part))
            k++;
        if (k == s->n) {
            if (!history_reserve((void **) &s->pair, &s->cap, s->n, sizeof(*s->pair)))
                return false;
            s->pair[s->n].name = e.name;
            s->pair[s->n++].part = part;
        }
        e.name = s->h->n_names + (uint32_t) k;
        nino_stats_add(stats, &e, 1, pair_name, s);
    }
    return true;
}

static nino_stats *part_stats(const nino_history *h, bool is_work, uint64_t t0, uint64_t t1)
{
    parts s = { .h = h, .is_work = is_work };
    nino_stats *stats = nino_stats_create();
    bool ok = stats != NULL;
    for (size_t i = 0; i < h->n_tracks && ok; i++)
        ok = history_query_add_pairs(&s, &h->track[i]->slices, t0, t1, stats);
    free(s.pair);
    if (!ok)
        nino_stats_destroy(&stats);
    return stats;
}

nino_stats *nino_history_shape_stats(const nino_history *h, uint64_t t0, uint64_t t1)
{
    return part_stats(h, false, t0, t1);
}

nino_stats *nino_history_work_stats(const nino_history *h, uint64_t t0, uint64_t t1)
{
    return part_stats(h, true, t0, t1);
}

// ---- calls -------------------------------------------------------------------------------------

typedef struct call {
    uint64_t ns;
    const nino_event *ev;
} call;

static int longest_first(const void *a, const void *b)
{
    const call *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return x->ev->t_ns < y->ev->t_ns ? -1 : x->ev->t_ns > y->ev->t_ns;
}

// The calls of a kernel in the range, longest first; NULL: out of memory.
static call *find_calls(const nino_history *h, uint32_t name, uint64_t t0, uint64_t t1, size_t *n)
{
    call *list = NULL;
    size_t cap = 0;
    *n = 0;
    for (size_t k = 0; k < h->n_tracks; k++) {
        const history_list *l = &h->track[k]->slices;
        const size_t end = nino_history_lower(l->ev, l->n, t1);
        for (size_t i = nino_history_lower(l->ev, l->n, t0); i < end; i++) {
            const nino_event *e = &l->ev[i];
            if (name ? e->name != name : e->kind != NINO_EV_KERNEL)
                continue;
            if (!history_reserve((void **) &list, &cap, *n, sizeof(*list))) {
                free(list);
                return NULL;
            }
            list[(*n)++] = (call){ e->u.kernel.dur_ns, e };
        }
    }
    if (!list)
        return malloc(1);
    qsort(list, *n, sizeof(*list), longest_first);
    return list;
}

size_t nino_history_calls(const nino_history *h, uint32_t name, uint64_t t0, uint64_t t1,
                          nino_event *out, size_t max)
{
    size_t n;
    call *c = find_calls(h, name, t0, t1, &n);
    for (size_t i = 0; c && i < n && i < max; i++)
        out[i] = *c[i].ev;
    free(c);
    return c ? n : 0;
}

// The value below which a share q of the calls lies; c is sorted downwards.
static double history_query_quantile(const call *c, size_t n, double q)
{
    const double at = (1 - q) * (double) (n - 1);
    const size_t i = (size_t) at;
    const double rest = at - (double) i, a = (double) c[i].ns;
    return i + 1 < n ? a + rest * ((double) c[i + 1].ns - a) : a;
}

nino_status nino_history_histogram(const nino_history *h, uint32_t name, uint64_t t0, uint64_t t1,
                                   nino_histogram *out, nino_error *err)
{
    size_t n;
    call *c = find_calls(h, name, t0, t1, &n);
    if (!c)
        return nino_fail(err, NINO_ERR_NOMEM, "histogram", "out of memory");
    *out = (nino_histogram){ .calls = n };
    if (n) {
        const double q1 = history_query_quantile(c, n, 0.25),
                     q3 = history_query_quantile(c, n, 0.75);
        out->max_ns = c[0].ns;
        out->min_ns = c[n - 1].ns;
        out->p50_ns = history_query_quantile(c, n, 0.5);
        out->p95_ns = history_query_quantile(c, n, 0.95);
        out->p99_ns = history_query_quantile(c, n, 0.99);
        out->outlier_ns = q3 + 3 * (q3 - q1);
        // The bins cover what is usual; a rare call a hundred times as long must not flatten them.
        double hi = out->outlier_ns < (double) out->max_ns ? out->outlier_ns : (double) out->max_ns;
        out->lo_ns = (double) out->min_ns;
        if (hi <= out->lo_ns)
            hi = out->lo_ns + 1;
        out->bin_ns = (hi - out->lo_ns) / (NINO_HISTOGRAM_BINS - 1);
    }
    for (size_t i = 0; i < n; i++) {
        const double bin = ((double) c[i].ns - out->lo_ns) / out->bin_ns;
        out->bin[bin < NINO_HISTOGRAM_BINS - 1 ? (size_t) bin : NINO_HISTOGRAM_BINS - 1]++;
        out->outliers += (double) c[i].ns > out->outlier_ns;
    }
    free(c);
    return NINO_OK;
}
