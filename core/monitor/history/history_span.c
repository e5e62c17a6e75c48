// Scopes of a history as spans: nesting per thread, found by id, rows for drawing.
#include "core/monitor/history/history_priv.h"

// ---- by id -------------------------------------------------------------------------------------

static uint32_t history_span_slot_of(const nino_history *h, uint32_t id)
{
    uint32_t i = id * 2654435761u & (h->n_by_id - 1);
    while (h->by_id[i].span >= 0 && h->by_id[i].id != id)
        i = (i + 1) & (h->n_by_id - 1);
    return i;
}

int32_t nino_history_span_of(const nino_history *h, uint32_t scope_id)
{
    return h->n_by_id && scope_id ? h->by_id[history_span_slot_of(h, scope_id)].span : -1;
}

static bool index_spans(nino_history *h, uint32_t n)
{
    void *p = malloc(n * sizeof(*h->by_id));
    if (!p)
        return false;
    free(h->by_id);
    h->by_id = p;
    h->n_by_id = n;
    for (uint32_t i = 0; i < n; i++)
        h->by_id[i].span = -1;
    for (size_t i = 0; i < h->n_spans; i++) {
        const uint32_t k = history_span_slot_of(h, h->span[i].id);
        h->by_id[k].id = h->span[i].id;
        h->by_id[k].span = (int32_t) i;
    }
    return true;
}

// ---- begin and end -----------------------------------------------------------------------------

static int history_span_find_open(const nino_history *h, const history_track *t, uint32_t id)
{
    int i = t->depth - 1;
    while (i >= 0 && h->span[t->open[i]].id != id)
        i--;
    return i;
}

static void history_span_close_top(nino_history *h, history_track *t, uint64_t ns, int status,
                                   bool is_cut)
{
    nino_span *s = &h->span[t->open[--t->depth]];
    s->end_ns = ns > s->begin_ns ? ns : s->begin_ns;
    s->status = (int16_t) status;
    s->is_cut = is_cut;
}

bool history_span_begin(nino_history *h, const nino_event *ev)
{
    if (nino_history_span_of(h, ev->id) >= 0 || !ev->id)
        return true; // told twice, to a viewer that came late
    history_track *t = history_track_get(h, ev->track);
    if (!t)
        return false;
    // Ends that were lost: whatever is open inside the parent is over.
    const int parent = history_span_find_open(h, t, ev->parent);
    if (parent >= 0 || !ev->parent)
        while (t->depth > parent + 1)
            history_span_close_top(h, t, ev->t_ns, 0, true);
    if (h->n_spans * 2 >= h->n_by_id && !index_spans(h, h->n_by_id ? h->n_by_id * 2 : 256))
        return false;
    history_row *row = t->depth < HISTORY_DEPTH ? &t->row[t->depth] : NULL;
    if (!row || h->n_spans >= INT32_MAX ||
        !history_reserve((void **) &h->span, &h->cap_spans, h->n_spans, sizeof(*h->span)) ||
        !history_reserve((void **) &row->span, &row->cap, row->n, sizeof(*row->span)))
        return false;
    if (ev->kind == NINO_EV_JOB)
        h->planned = 0; // each job is told its own
    const int32_t at = (int32_t) h->n_spans++;
    h->span[at] = (nino_span){ .begin_ns = ev->t_ns,
                               .id = ev->id,
                               .name = ev->name,
                               .arg0 = ev->u.scope.arg0,
                               .arg1 = ev->u.scope.arg1,
                               .parent = t->depth ? t->open[t->depth - 1] : -1,
                               .track = ev->track,
                               .depth = (uint16_t) t->depth,
                               .kind = ev->kind };
    row->span[row->n++] = (uint32_t) at;
    t->open[t->depth++] = at;
    t->n_rows = t->depth > t->n_rows ? t->depth : t->n_rows;
    const uint32_t k = history_span_slot_of(h, ev->id);
    h->by_id[k].id = ev->id;
    h->by_id[k].span = at;
    h->kept++;
    return true;
}

void history_span_end(nino_history *h, const nino_event *ev)
{
    const int32_t at = nino_history_span_of(h, ev->id);
    history_track *t = at >= 0 ? history_track_of(h, h->span[at].track) : NULL;
    const int i = t ? history_span_find_open(h, t, ev->id) : -1;
    while (i >= 0 && t->depth > i)
        history_span_close_top(h, t, ev->t_ns, t->depth == i + 1 ? (int) ev->u.scope.arg0 : 0,
                               t->depth > i + 1);
}

// Jobs and nodes stay: they are few, and everything else is told by where it belongs.
static bool is_old(const nino_span *s, uint64_t before)
{
    return s->end_ns && s->end_ns < before && s->kind != NINO_EV_JOB && s->kind != NINO_EV_NODE;
}

void history_drop_spans(nino_history *h, uint64_t before)
{
    int32_t *moved = malloc((h->n_spans + 1) * sizeof(*moved));
    if (!moved)
        return;
    size_t n = 0;
    for (size_t i = 0; i < h->n_spans; i++) {
        nino_span s = h->span[i];
        moved[i] = is_old(&s, before) ? -1 : (int32_t) n;
        if (moved[i] < 0)
            continue;
        s.parent = s.parent >= 0 ? moved[s.parent] : -1;
        h->span[n++] = s;
    }
    h->kept -= h->n_spans - n;
    h->n_spans = n;
    for (size_t k = 0; k < h->n_tracks; k++) {
        history_track *t = h->track[k];
        for (int d = 0; d < t->depth; d++)
            t->open[d] = moved[t->open[d]];
        for (int d = 0; d < t->n_rows; d++) {
            size_t m = 0;
            for (size_t i = 0; i < t->row[d].n; i++)
                if (moved[t->row[d].span[i]] >= 0)
                    t->row[d].span[m++] = (uint32_t) moved[t->row[d].span[i]];
            t->row[d].n = m;
        }
    }
    free(moved);
    for (uint32_t i = 0; i < h->n_by_id; i++)
        h->by_id[i].span = -1;
    for (size_t i = 0; i < n; i++) {
        const uint32_t k = history_span_slot_of(h, h->span[i].id);
        h->by_id[k].id = h->span[i].id;
        h->by_id[k].span = (int32_t) i;
    }
}

// ---- reading -----------------------------------------------------------------------------------

const nino_span *nino_history_spans(const nino_history *h, size_t *n)
{
    *n = h->n_spans;
    return h->span;
}

int32_t nino_history_enclosing(const nino_history *h, int32_t span, nino_event_kind kind)
{
    while (span >= 0 && h->span[span].kind != kind)
        span = h->span[span].parent;
    return span;
}

const uint32_t *nino_history_row(const nino_history *h, uint16_t track, uint16_t depth, size_t *n)
{
    const history_track *t = history_track_of(h, track);
    const bool is_there = t && depth < t->n_rows;
    *n = is_there ? t->row[depth].n : 0;
    return is_there ? t->row[depth].span : NULL;
}
