// Running totals of a process that serves its events. They lag behind: the newest records of each
// ring are left to be told one by one, so that a late viewer has both, and each record once.
#include "core/monitor/link/totals.h"

#include "core/event/stats_sums.h"

#include <stdlib.h>
#include <string.h>

enum {
    // Told one by one. The rest of a ring is for what is published until the next look.
    TOTALS_KEEP = NINO_RING_SIZE / 8 * 5,
    TOTALS_BATCH = 512,
    TOTALS_OPEN = 256
};

struct nino_totals {
    nino_monitor *m;
    nino_mon_reader *reader;
    nino_stats *past, *job; // of the jobs before the last one; of that
    nino_event begin, end;  // of the last job; kind 0: not yet
    nino_event budget;      // told last; kind 0: never
    nino_event planned;     // of the last job; kind 0: not told
    nino_event open[TOTALS_OPEN];
    size_t n_open;
    uint64_t count;
};

static const char *totals_name(void *totals, uint32_t id)
{
    return nino_names_text(((nino_totals *) totals)->m->names, id);
}

static uint32_t totals_id(void *totals, const char *text)
{
    return nino_names_add(((nino_totals *) totals)->m->names, text);
}

static void totals_add_past(void *totals, const nino_event *ev)
{
    nino_totals *t = totals;
    nino_stats_add(t->past, ev, 1, totals_name, t);
}

nino_totals *nino_totals_create(nino_monitor *m)
{
    nino_totals *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->m = m;
    t->past = nino_stats_create();
    t->job = nino_stats_create();
    if (!t->past || !t->job ||
        !(t->reader = nino_mon_reader_create_quiet(m, t->open, TOTALS_OPEN, &t->n_open)))
        nino_totals_destroy(&t);
    for (size_t i = 0; t && i < t->n_open; i++) { // begun before: told like the others
        nino_stats_add(t->job, &t->open[i], 1, totals_name, t);
        if (t->open[i].kind == NINO_EV_JOB)
            t->begin = t->open[i];
    }
    return t;
}

void nino_totals_destroy(nino_totals **totals)
{
    nino_totals *t = *totals;
    if (!t)
        return;
    nino_mon_reader_destroy(&t->reader);
    nino_stats_destroy(&t->past);
    nino_stats_destroy(&t->job);
    free(t);
    *totals = NULL;
}

// Another job begins: the last one is past. Without memory both count as one.
static void totals_begin_job(nino_totals *t, const nino_event *ev)
{
    nino_stats *fresh = nino_stats_create();
    if (fresh) {
        nino_stats_tell(t->job, &(nino_sums_out){ totals_add_past, totals_id, t });
        nino_stats_go_on(fresh, t->job);
        nino_stats_destroy(&t->job);
        t->job = fresh;
    }
    t->begin = *ev;
    t->end.kind = t->planned.kind = NINO_EV_NONE;
}

static void totals_close(nino_totals *t, uint32_t id)
{
    size_t i = 0;
    while (i < t->n_open && t->open[i].id != id)
        i++;
    if (i == t->n_open)
        return;
    memmove(&t->open[i], &t->open[i + 1], (t->n_open - i - 1) * sizeof(t->open[0]));
    t->n_open--;
}

static void totals_take(nino_totals *t, const nino_event *ev)
{
    if (ev->kind == NINO_EV_JOB)
        totals_begin_job(t, ev);
    if (ev->kind >= NINO_EV_JOB && ev->kind <= NINO_EV_TILE && t->n_open < TOTALS_OPEN)
        t->open[t->n_open++] = *ev;
    if (ev->kind == NINO_EV_END) {
        totals_close(t, ev->id);
        if (t->begin.kind && ev->id == t->begin.id)
            t->end = *ev;
    }
    if (ev->kind == NINO_EV_MEM && ev->sub == NINO_MEM_BUDGET)
        t->budget = *ev;
    if (ev->kind == NINO_EV_MEM && ev->sub == NINO_MEM_PLANNED)
        t->planned = *ev;
    nino_stats_add(t->job, ev, 1, totals_name, t);
}

void nino_totals_advance(nino_totals *t)
{
    nino_event ev[TOTALS_BATCH];
    uint64_t lost;
    size_t n;
    do {
        lost = 0;
        n = nino_mon_reader_read_behind(t->reader, ev, TOTALS_BATCH, TOTALS_KEEP, &lost);
        if (lost)
            totals_take(t, &(nino_event){ .kind = NINO_EV_LOST, .u.lost = lost });
        for (size_t i = 0; i < n; i++)
            totals_take(t, &ev[i]);
        t->count += n + lost;
    } while (n == TOTALS_BATCH);
}

// Someone who is told.
typedef struct totals_listener {
    const nino_totals *t;
    void (*add)(void *priv, const nino_event *ev);
    void *priv;
} totals_listener;

static void totals_pass_on(void *listener, const nino_event *ev)
{
    const totals_listener *l = listener;
    l->add(l->priv, ev);
}

static uint32_t totals_id_for(void *listener, const char *text)
{
    return nino_names_add(((const totals_listener *) listener)->t->m->names, text);
}

// What is in the sums, but has to be told by itself as well.
static void totals_repeat(totals_listener *l, const nino_event *ev)
{
    if (!ev->kind)
        return;
    l->add(l->priv, ev);
    nino_stats_tell_twice(&(nino_sums_out){ totals_pass_on, totals_id_for, l });
}

nino_mon_reader *nino_totals_tell(const nino_totals *t,
                                  void (*add)(void *priv, const nino_event *ev), void *priv)
{
    totals_listener l = { t, add, priv };
    const nino_sums_out out = { totals_pass_on, totals_id_for, &l };
    nino_mon_reader *follower = nino_mon_reader_follow(t->reader);
    if (!follower)
        return NULL;
    totals_repeat(&l, &t->budget);
    if (nino_stats_count(t->past, NULL) || nino_stats_lost(t->past))
        nino_stats_tell(t->past, &out);
    totals_repeat(&l, &t->begin);
    totals_repeat(&l, &t->planned);
    if (nino_stats_count(t->job, NULL) || nino_stats_lost(t->job))
        nino_stats_tell(t->job, &out);
    for (size_t i = 0; i < t->n_open; i++)
        if (!t->begin.kind || t->open[i].id != t->begin.id)
            totals_repeat(&l, &t->open[i]);
    totals_repeat(&l, &t->end);
    return follower;
}

uint64_t nino_totals_count(const nino_totals *t) { return t->count; }
