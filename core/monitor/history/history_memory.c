// The memory of a history: the state at any moment, the highest use in any range (maxima of 64,
// 64^2 and 64^3 records), and the pool's blocks, replayed from the records.
#include "core/monitor/history/history_priv.h"

#include "core/base/error.h"
#include "core/op/pool.h"

// ---- maxima ------------------------------------------------------------------------------------

static uint64_t use_of(const nino_history *h, size_t i)
{
    return h->list[NINO_EV_MEM].ev[i].u.mem.in_use;
}

// Record i is new: every level knows the highest record of its group.
static bool raise_peaks(nino_history *h, size_t i)
{
    size_t group = i;
    for (size_t l = 0; l < HISTORY_LEVELS; l++) {
        group /= HISTORY_STRIDE;
        if (group == h->n_peak[l]) {
            if (!history_reserve((void **) &h->peak[l], &h->cap_peak[l], h->n_peak[l],
                                 sizeof(*h->peak[l])))
                return false;
            h->peak[l][h->n_peak[l]++] = (uint32_t) i;
        } else if (use_of(h, i) > use_of(h, h->peak[l][group])) {
            h->peak[l][group] = (uint32_t) i;
        }
    }
    return true;
}

// Highest record of [a, b), a < b.
static size_t highest(const nino_history *h, size_t a, size_t b)
{
    size_t best = a;
    while (a < b) {
        size_t group = 1, next = a;
        int level = -1;
        while (level + 1 < HISTORY_LEVELS && a % (group * HISTORY_STRIDE) == 0 &&
               a + group * HISTORY_STRIDE <= b) {
            group *= HISTORY_STRIDE;
            level++;
        }
        if (level >= 0)
            next = h->peak[level][a / group];
        if (use_of(h, next) > use_of(h, best))
            best = next;
        a += group;
    }
    return best;
}

// ---- adding ------------------------------------------------------------------------------------

bool history_memory_add(nino_history *h, const nino_event *ev)
{
    history_list *l = &h->list[NINO_EV_MEM];
    nino_event e = *ev;
    if (l->n && e.t_ns < l->ev[l->n - 1].t_ns)
        e.t_ns = l->ev[l->n - 1].t_ns; // several threads may report; each state is as of now
    if (!history_reserve((void **) &h->use, &h->cap_use, l->n, sizeof(*h->use)))
        return false;
    const size_t at = history_list_add(l, &e);
    if (at == SIZE_MAX)
        return false;
    if (e.u.mem.owner < NINO_OWN_COUNT)
        h->use_now[e.u.mem.owner] = e.u.mem.owner_use;
    memcpy(h->use[at], h->use_now, sizeof(h->use_now));
    if (!raise_peaks(h, at)) {
        l->n--;
        return false;
    }
    history_pool_apply(&h->pool, &e);
    if (e.sub == NINO_MEM_PLANNED) {
        h->planned = e.u.mem.bytes;
        h->planned_ns = e.t_ns;
    }
    h->kept++;
    return true;
}

void history_drop_memory(nino_history *h, uint64_t before)
{
    history_list *l = &h->list[NINO_EV_MEM];
    const size_t n = nino_history_lower(l->ev, l->n, before);
    if (!n)
        return;
    for (size_t i = 0; i < n; i++)
        history_pool_apply(&h->pool_base, &l->ev[i]);
    memmove(l->ev, l->ev + n, (l->n - n) * sizeof(*l->ev));
    memmove(h->use, h->use + n, (l->n - n) * sizeof(*h->use));
    l->n -= n;
    h->kept -= n;
    memset(h->n_peak, 0, sizeof(h->n_peak));
    for (size_t i = 0; i < l->n; i++)
        raise_peaks(h, i); // there is room: there were more before
}

// ---- reading -----------------------------------------------------------------------------------

bool nino_history_memory(const nino_history *h, size_t i, nino_mem_point *out)
{
    const history_list *l = &h->list[NINO_EV_MEM];
    if (i >= l->n)
        return false;
    const nino_event *e = &l->ev[i];
    *out = (nino_mem_point){ .t_ns = e->t_ns,
                             .in_use = e->u.mem.in_use,
                             .reserved = e->u.mem.reserved,
                             .largest_free = e->u.mem.largest_free };
    for (int o = 0; o < NINO_OWN_COUNT; o++)
        out->by_owner[o] = (uint64_t) h->use[i][o] * 256;
    return true;
}

bool nino_history_memory_peak(const nino_history *h, uint64_t t0, uint64_t t1, nino_mem_point *out)
{
    const history_list *l = &h->list[NINO_EV_MEM];
    size_t a = nino_history_lower(l->ev, l->n, t0);
    const size_t b = nino_history_lower(l->ev, l->n, t1);
    if (a > 0)
        a--; // the state the range begins with
    return a < b && nino_history_memory(h, highest(h, a, b), out);
}

uint64_t nino_history_planned(const nino_history *h, uint64_t *since_ns)
{
    if (h->planned && since_ns)
        *since_ns = h->planned_ns;
    return h->planned;
}

// ---- the pool's blocks -------------------------------------------------------------------------

static size_t history_memory_place(const history_pool *p, uint16_t arena, uint64_t offset)
{
    size_t lo = 0, hi = p->n;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        const nino_pool_block *b = &p->block[mid];
        if (b->arena < arena || (b->arena == arena && b->offset < offset))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void remove_blocks(history_pool *p, size_t at, size_t n)
{
    if (!n) // there may be no list yet
        return;
    memmove(&p->block[at], &p->block[at + n], (p->n - at - n) * sizeof(*p->block));
    p->n -= n;
}

// An arena came (bytes > 0) or went: no block of an earlier one with its number is there.
static void set_arena(history_pool *p, uint16_t number, uint64_t bytes)
{
    const size_t at = history_memory_place(p, number, 0);
    remove_blocks(p, at, history_memory_place(p, (uint16_t) (number + 1), 0) - at);
    while (number >= p->n_arenas) {
        if (!history_reserve((void **) &p->arena, &p->cap_arenas, p->n_arenas, sizeof(*p->arena)))
            return;
        p->arena[p->n_arenas++] = 0;
    }
    p->arena[number] = bytes;
}

static void set_block(history_pool *p, const nino_event *ev)
{
    const uint64_t offset = (uint64_t) ev->id * 256, end = offset + ev->u.mem.bytes;
    const size_t at = history_memory_place(p, ev->u.mem.arena, offset);
    size_t n = 0; // whatever is known to lie there is not there any more: its end was lost
    while (at + n < p->n && p->block[at + n].arena == ev->u.mem.arena &&
           p->block[at + n].offset < end)
        n++;
    remove_blocks(p, at, n);
    if ((ev->sub != NINO_MEM_ALLOC && ev->sub != NINO_MEM_BLOCK) ||
        !history_reserve((void **) &p->block, &p->cap, p->n, sizeof(*p->block)))
        return;
    memmove(&p->block[at + 1], &p->block[at], (p->n - at) * sizeof(*p->block));
    p->block[at] = (nino_pool_block){ .offset = offset,
                                      .bytes = ev->u.mem.bytes,
                                      .since_ns = ev->t_ns,
                                      .scope = ev->parent,
                                      .arena = ev->u.mem.arena,
                                      .owner = ev->u.mem.owner };
    p->n++;
}

// A budget is told when a pool begins: one that holds less than the arenas that are known is
// another process's, and none of them is there.
static void set_budget(history_pool *p, const nino_event *ev)
{
    uint64_t known = 0;
    for (size_t i = 0; i < p->n_arenas; i++)
        known += p->arena[i];
    if (known > ev->u.mem.reserved)
        p->n = p->n_arenas = 0;
    p->budget = ev->u.mem.bytes;
}

void history_pool_apply(history_pool *p, const nino_event *ev)
{
    p->in_use = ev->u.mem.in_use;
    p->reserved = ev->u.mem.reserved;
    if (ev->sub == NINO_MEM_BUDGET)
        set_budget(p, ev);
    if (!ev->u.mem.arena || ev->u.mem.arena == UINT16_MAX)
        return;
    if (ev->sub == NINO_MEM_ARENA)
        set_arena(p, ev->u.mem.arena, ev->u.mem.bytes);
    else if (ev->sub == NINO_MEM_GONE)
        set_arena(p, ev->u.mem.arena, 0);
    else if (ev->sub == NINO_MEM_ALLOC || ev->sub == NINO_MEM_FREE || ev->sub == NINO_MEM_BLOCK)
        set_block(p, ev);
}

void history_tell_pool(nino_history *to, const nino_history *from, uint64_t t)
{
    const history_pool *p = &from->pool;
    const history_list *l = &from->list[NINO_EV_MEM];
    if (!l->n)
        return;
    nino_event e = l->ev[l->n - 1]; // what is in use and held
    e.t_ns = t;
    e.sub = NINO_MEM_BUDGET;
    e.id = e.parent = e.u.mem.arena = 0;
    e.u.mem.bytes = p->budget;
    if (p->budget)
        nino_history_add(to, &e, 1, nino_history_name, (void *) from);
    e.sub = NINO_MEM_ARENA;
    for (size_t i = 1; i < p->n_arenas; i++) {
        e.u.mem.arena = (uint16_t) i;
        e.u.mem.bytes = p->arena[i];
        if (e.u.mem.bytes)
            nino_history_add(to, &e, 1, nino_history_name, (void *) from);
    }
    e.sub = NINO_MEM_BLOCK;
    for (size_t i = 0; i < p->n; i++) {
        const nino_pool_block *b = &p->block[i];
        e.id = (uint32_t) (b->offset / 256);
        e.parent = b->scope;
        e.u.mem.bytes = b->bytes;
        e.u.mem.arena = b->arena;
        e.u.mem.owner = b->owner;
        e.u.mem.owner_use = b->owner < NINO_OWN_COUNT ? from->use_now[b->owner] : 0;
        nino_history_add(to, &e, 1, nino_history_name, (void *) from);
    }
}

static bool copy_pool(history_pool *to, const history_pool *from)
{
    *to = *from;
    to->cap = from->n;
    to->cap_arenas = from->n_arenas;
    to->block = malloc((from->n + 1) * sizeof(*to->block));
    to->arena = malloc((from->n_arenas + 1) * sizeof(*to->arena));
    if (!to->block || !to->arena) {
        free(to->block);
        free(to->arena);
        return false;
    }
    if (from->n)
        memcpy(to->block, from->block, from->n * sizeof(*to->block));
    if (from->n_arenas)
        memcpy(to->arena, from->arena, from->n_arenas * sizeof(*to->arena));
    return true;
}

static void add_free(nino_pool_map *m, uint16_t arena, uint64_t offset, uint64_t end)
{
    if (end <= offset)
        return;
    m->block[m->n_blocks++] =
        (nino_pool_block){ .offset = offset, .bytes = end - offset, .arena = arena, .is_free = 1 };
    m->free_bytes += end - offset;
    m->largest_free = end - offset > m->largest_free ? end - offset : m->largest_free;
}

// The blocks of arena `number`, from block i of the pool on, with the gaps between them.
static size_t add_arena(nino_pool_map *m, const history_pool *p, uint32_t number, size_t i)
{
    const uint16_t index = (uint16_t) m->n_arenas;
    nino_pool_arena a = { .bytes = number < p->n_arenas ? p->arena[number] : 0,
                          .number = number,
                          .first = (uint32_t) m->n_blocks };
    uint64_t at = 0;
    for (; i < p->n && p->block[i].arena == number; i++) {
        nino_pool_block b = p->block[i];
        add_free(m, index, at, b.offset);
        b.arena = index;
        m->block[m->n_blocks++] = b;
        a.used += b.bytes;
        at = b.offset + b.bytes;
    }
    add_free(m, index, at, a.bytes);
    a.n = (uint32_t) m->n_blocks - a.first;
    if (a.n)
        m->arena[m->n_arenas++] = a;
    return i;
}

static nino_status make_map(const history_pool *p, nino_pool_map *m, nino_error *err)
{
    // every block may have a gap before it, every arena one at its end
    m->block = malloc((p->n * 2 + p->n_arenas + 1) * sizeof(*m->block));
    m->arena = malloc((p->n_arenas + p->n + 1) * sizeof(*m->arena));
    if (!m->block || !m->arena) {
        nino_pool_map_release(m);
        return nino_fail(err, NINO_ERR_NOMEM, "memory map", "out of memory");
    }
    size_t i = 0;
    for (uint32_t number = 1; number < p->n_arenas || i < p->n; number++) {
        if (number >= p->n_arenas) // its arena was never told
            number = p->block[i].arena;
        i = add_arena(m, p, number, i);
    }
    m->in_use = p->in_use;
    m->reserved = p->reserved;
    m->budget = p->budget;
    uint64_t known = 0;
    for (size_t a = 0; a < m->n_arenas; a++)
        known += m->arena[a].used;
    m->unknown_bytes = m->in_use > known ? m->in_use - known : 0;
    if (m->free_bytes)
        m->fragmentation = 1 - (double) m->largest_free / (double) m->free_bytes;
    return NINO_OK;
}

nino_status nino_history_pool(const nino_history *h, uint64_t t, nino_pool_map *out,
                              nino_error *err)
{
    const history_list *l = &h->list[NINO_EV_MEM];
    nino_pool_map m = { .t_ns = t < h->end_ns ? t : h->end_ns };
    nino_status st;
    if (!l->n || t >= l->ev[l->n - 1].t_ns) {
        st = make_map(&h->pool, &m, err);
    } else {
        history_pool p;
        if (!copy_pool(&p, &h->pool_base))
            return nino_fail(err, NINO_ERR_NOMEM, "memory map", "out of memory");
        for (size_t i = 0; i < l->n && l->ev[i].t_ns <= t; i++)
            history_pool_apply(&p, &l->ev[i]);
        st = make_map(&p, &m, err);
        free(p.block);
        free(p.arena);
    }
    if (!st)
        *out = m;
    return st;
}

void nino_pool_map_release(nino_pool_map *m)
{
    free(m->arena);
    free(m->block);
    m->arena = NULL;
    m->block = NULL;
    m->n_arenas = m->n_blocks = 0;
}

nino_fit nino_pool_map_fit(const nino_pool_map *m, uint64_t bytes)
{
    const uint64_t need = nino_pool_class_bytes(bytes);
    if (need <= m->largest_free)
        return NINO_FIT_BLOCK;
    if (!m->budget || (need <= m->budget && m->reserved <= m->budget - need))
        return NINO_FIT_ARENA;
    uint64_t idle = 0;
    for (size_t i = 0; i < m->n_arenas; i++)
        idle += m->arena[i].used ? 0 : m->arena[i].bytes;
    return need <= m->budget && m->reserved - idle <= m->budget - need ? NINO_FIT_TRIM
                                                                       : NINO_FIT_NO;
}
