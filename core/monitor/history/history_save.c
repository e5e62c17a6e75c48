// A history as a trace file: its records in the order of time, written as a run writes them.
#include "core/monitor/history/history_priv.h"

#include "core/base/error.h"
#include "core/monitor/trace/trace.h"

typedef struct record {
    uint64_t t_ns;
    uint64_t order; // of records of one time: scopes begin before and end after what is in them
    nino_event ev;
} record;

typedef struct records {
    record *list;
    size_t n;
} records;

static void history_save_put(records *r, const nino_event *ev, uint64_t order)
{
    r->list[r->n++] = (record){ ev->t_ns, order, *ev };
}

static int by_time(const void *x, const void *y)
{
    const record *a = x, *b = y;
    if (a->t_ns != b->t_ns)
        return a->t_ns < b->t_ns ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static size_t history_save_count(const nino_history *h)
{
    size_t n = h->n_spans * 2;
    for (size_t i = 0; i < h->n_tracks; i++)
        n += h->track[i]->slices.n;
    for (int k = 0; k < HISTORY_KINDS; k++)
        n += h->list[k].n;
    return n;
}

static void history_save_gather(const nino_history *h, records *r)
{
    for (size_t i = 0; i < h->n_spans; i++) {
        const nino_span *s = &h->span[i];
        history_save_put(r,
                         &(nino_event){ .t_ns = s->begin_ns,
                                        .kind = s->kind,
                                        .track = s->track,
                                        .name = s->name,
                                        .id = s->id,
                                        .parent = s->parent >= 0 ? h->span[s->parent].id : 0,
                                        .u.scope = { s->arg0, s->arg1 } },
                         i);
        if (s->end_ns)
            history_save_put(r,
                             &(nino_event){ .t_ns = s->end_ns,
                                            .kind = NINO_EV_END,
                                            .track = s->track,
                                            .id = s->id,
                                            .u.scope.arg0 = (uint32_t) s->status },
                             UINT64_MAX - i); // inner scopes end first
    }
    for (size_t i = 0; i < h->n_tracks; i++)
        for (size_t k = 0; k < h->track[i]->slices.n; k++)
            history_save_put(r, &h->track[i]->slices.ev[k], UINT32_MAX + (uint64_t) k);
    for (uint64_t i = 0; i < HISTORY_KINDS; i++) // kind by kind: records of a sample stay together
        for (size_t k = 0; k < h->list[i].n; k++)
            history_save_put(r, &h->list[i].ev[k], ((i + 1) << 32) + k);
}

nino_status nino_history_save(const nino_history *h, const char *path, nino_error *err)
{
    records r = { .list = calloc(history_save_count(h) + 1, sizeof(*r.list)) };
    if (!r.list)
        return nino_fail(err, NINO_ERR_NOMEM, path, "out of memory");
    history_save_gather(h, &r);
    qsort(r.list, r.n, sizeof(*r.list), by_time);
    nino_error e = { .code = NINO_OK };
    nino_trace *t = nino_trace_create_whole(path, &e);
    for (size_t i = 0; t && i < r.n; i++)
        nino_trace_add(t, &r.list[i].ev, 1, nino_history_name, (void *) h);
    if (t && h->lost)
        nino_trace_add(t,
                       &(nino_event){ .t_ns = h->end_ns, .kind = NINO_EV_LOST, .u.lost = h->lost },
                       1, nino_history_name, (void *) h);
    const nino_status st = t ? nino_trace_finish(&t, &e) : e.code;
    free(r.list);
    if (st && err)
        *err = e;
    return st;
}
