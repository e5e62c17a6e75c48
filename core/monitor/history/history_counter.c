// Counters over time: one series each, of the values in the records of samples.
#include "core/monitor/history/history_priv.h"

size_t nino_reading_lower(const nino_reading *list, size_t n, uint64_t t)
{
    return history_lower(list, n, sizeof(*list), offsetof(nino_reading, t_ns), t);
}

const nino_reading *nino_history_counter(const nino_history *h, nino_counter_id id, size_t *n)
{
    const bool is_known = nino_counter_row(id) && h->counter[id].n;
    *n = is_known ? h->counter[id].n : 0;
    return is_known ? h->counter[id].at : NULL;
}

static bool add_reading(history_series *s, uint64_t t, double value)
{
    if (!history_reserve((void **) &s->at, &s->cap, s->n, sizeof(*s->at)))
        return false;
    size_t at = s->n; // nearly always in order
    while (at > 0 && s->at[at - 1].t_ns > t)
        at--;
    memmove(&s->at[at + 1], &s->at[at], (s->n - at) * sizeof(*s->at));
    s->at[at] = (nino_reading){ t, value };
    s->n++;
    return true;
}

bool history_counter_add(nino_history *h, const nino_event *ev)
{
    for (size_t i = 0; i < NINO_SAMPLE_VALUES; i++) {
        const unsigned id = ev->u.sample.id[i];
        if (nino_counter_row(id) && !add_reading(&h->counter[id], ev->t_ns, ev->u.sample.value[i]))
            return false;
    }
    return true;
}

void history_drop_counters(nino_history *h, uint64_t before)
{
    for (size_t i = 0; i < NINO_COUNTER_MAX; i++) {
        history_series *s = &h->counter[i];
        const size_t gone = nino_reading_lower(s->at, s->n, before);
        if (gone)
            memmove(s->at, s->at + gone, (s->n - gone) * sizeof(*s->at));
        s->n -= gone;
    }
}
