// What kernels were launched for: calls of one kernel that are alike in program, call, work size and
// shape, counted together.
#include "core/monitor/history/history_priv.h"

#include <stdlib.h>

typedef struct launches {
    nino_launch_stat *list;
    size_t n, cap;
    uint32_t *slot; // open addressing: index + 1, 0: empty; a power of two
    size_t n_slots;
} launches;

static uint64_t launch_mix(const nino_launch_stat *s)
{
    uint64_t h = (uint64_t) s->kernel << 32 | s->launch;
    h = (h ^ (uint64_t) s->shape << 17) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint32_t *launch_slot(const launches *l, const nino_launch_stat *key)
{
    for (size_t i = launch_mix(key);; i++) {
        uint32_t *slot = &l->slot[i & (l->n_slots - 1)];
        const nino_launch_stat *s = *slot ? &l->list[*slot - 1] : NULL;
        if (!s || (s->kernel == key->kernel && s->launch == key->launch && s->shape == key->shape))
            return slot;
    }
}

static bool launch_grow(launches *l)
{
    if (2 * (l->n + 1) <= l->n_slots)
        return true;
    const size_t n = l->n_slots ? 2 * l->n_slots : 256;
    uint32_t *slot = calloc(n, sizeof(*slot));
    if (!slot)
        return false;
    free(l->slot);
    l->slot = slot;
    l->n_slots = n;
    for (size_t i = 0; i < l->n; i++)
        *launch_slot(l, &l->list[i]) = (uint32_t) i + 1;
    return true;
}

// The entry of the key, made where there is none; NULL: out of memory.
static nino_launch_stat *launch_entry(launches *l, const nino_launch_stat *key)
{
    if (!launch_grow(l))
        return NULL;
    uint32_t *slot = launch_slot(l, key);
    if (l->list && *slot)
        return &l->list[*slot - 1];
    if (!history_reserve((void **) &l->list, &l->cap, l->n, sizeof(*l->list)) || !l->list)
        return NULL;
    l->list[l->n] = *key;
    *slot = (uint32_t) ++l->n;
    return &l->list[l->n - 1];
}

static bool launch_count(launches *l, const nino_event *e)
{
    const uint64_t ns = e->u.kernel.dur_ns;
    const nino_launch_stat key = { .kernel = e->name,
                                   .launch = nino_kernel_launch(e),
                                   .shape = e->u.kernel.shape,
                                   .op = e->sub,
                                   .bits = (uint8_t) nino_kernel_bits(e),
                                   .min_ns = ns };
    nino_launch_stat *s = launch_entry(l, &key);
    if (!s)
        return false;
    s->calls++;
    s->total_ns += ns;
    s->min_ns = ns < s->min_ns ? ns : s->min_ns;
    s->max_ns = ns > s->max_ns ? ns : s->max_ns;
    s->flops += e->u.kernel.flops;
    s->bytes += e->u.kernel.bytes;
    return true;
}

static int launch_by_time(const void *a, const void *b)
{
    const nino_launch_stat *x = a, *y = b;
    return x->total_ns < y->total_ns ? 1 : x->total_ns > y->total_ns ? -1 : 0;
}

nino_launch_stat *nino_history_launches(const nino_history *h, uint64_t t0, uint64_t t1, size_t *n)
{
    launches l = { .n = 0 };
    bool ok = true;
    for (size_t i = 0; i < h->n_tracks && ok; i++) {
        const history_list *list = &h->track[i]->slices;
        for (size_t k = nino_history_lower(list->ev, list->n, t0);
             k < list->n && list->ev[k].t_ns < t1 && ok; k++)
            ok = list->ev[k].kind != NINO_EV_KERNEL || launch_count(&l, &list->ev[k]);
    }
    free(l.slot);
    if (!ok || !l.n) {
        free(l.list);
        l.list = NULL;
        l.n = 0;
    }
    if (l.n)
        qsort(l.list, l.n, sizeof(*l.list), launch_by_time);
    *n = l.n;
    return l.list;
}
