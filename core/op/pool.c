// The memory pool: best fit over arenas, counters, events. Segments of an arena are a doubly linked
// list in address order inside one array, its free ones another in no order; a block's slot is its
// segment. Plans ask pools for blocks thousands of times, so nothing walks what is handed out.
#include "core/op/pool.h"

#include "core/base/error.h"
#include "core/base/size.h"
#include "core/base/time.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define ALIGN 256u
#define MAX_SHARED_ARENA ((uint64_t) 1 << 30)
#define DEFAULT_MIN_ARENA ((uint64_t) 64 << 20)
#define NONE UINT32_MAX

typedef struct segment {
    uint64_t offset, bytes;
    uint32_t arena;         // index
    uint32_t prev, next;    // neighbours by address; for unused entries next is the free chain
    uint32_t before, after; // of the arena's free ones
    nino_mem_owner owner;   // of a handed-out segment
    bool is_free;           // not handed out
} segment;

typedef struct arena {
    void *handle;
    uint64_t bytes, used; // bytes == 0: slot not in use
    uint32_t first;       // lowest segment
    uint32_t free;        // one that is not handed out, or NONE
    bool holds_weights;   // what it was made for
    bool is_gathered;     // and nothing else may come into it, even while it is free
} arena;

typedef _Atomic uint64_t counter;

struct nino_pool {
    nino_pool_params p;
    nino_monitor *monitor;
    pthread_mutex_t
        lock; // of everything down to `unused`: the allocating thread, and who describes
    arena *arenas;
    uint32_t n_arenas, cap_arenas;
    segment *segs;
    uint32_t n_segs, cap_segs, unused;
    bool is_stale; // largest_free is
    // Written by the one thread that allocates, read by any.
    counter in_use, peak, window_peak, reserved, budget, largest_free;
    counter by_owner[NINO_OWN_COUNT], peak_by_owner[NINO_OWN_COUNT];
    counter allocs, hits, fails, trims, requested, reused;
};

static uint64_t pool_get(const counter *c) { return atomic_load_explicit(c, memory_order_relaxed); }
static void pool_set(counter *c, uint64_t v) { atomic_store_explicit(c, v, memory_order_relaxed); }
static void pool_add(counter *c, uint64_t v) { pool_set(c, pool_get(c) + v); }
static void raise_to(counter *c, uint64_t v)
{
    if (v > pool_get(c))
        pool_set(c, v);
}

uint64_t nino_pool_class_bytes(uint64_t bytes)
{
    if (bytes <= ALIGN)
        return ALIGN;
    if (bytes > UINT64_MAX / 2)
        return UINT64_MAX & ~(uint64_t) (ALIGN - 1);
    const int octave = 63 - __builtin_clzll(bytes);
    uint64_t step = octave > 3 ? (uint64_t) 1 << (octave - 3) : 1;
    if (step < ALIGN)
        step = ALIGN;
    return (bytes + step - 1) / step * step;
}

nino_pool *nino_pool_create(const nino_pool_params *p)
{
    nino_pool *pool = calloc(1, sizeof(*pool));
    if (!pool)
        return NULL;
    pool->p = *p;
    pool->p.is_exact |= p->is_always_exact;
    if (!pool->p.min_arena)
        pool->p.min_arena = DEFAULT_MIN_ARENA;
    if (!pool->p.max_arena)
        pool->p.max_arena = UINT64_MAX;
    pool->unused = NONE;
    pthread_mutex_init(&pool->lock, NULL);
    pool_set(&pool->budget, p->budget);
    return pool;
}

// ---- segments --------------------------------------------------------------------------------

static uint32_t new_segment(nino_pool *p)
{
    if (p->unused != NONE) {
        const uint32_t i = p->unused;
        p->unused = p->segs[i].next;
        return i;
    }
    if (p->n_segs == p->cap_segs) {
        const uint32_t cap = p->cap_segs ? p->cap_segs * 2 : 64;
        segment *s = realloc(p->segs, cap * sizeof(*s));
        if (!s)
            return NONE;
        p->segs = s;
        p->cap_segs = cap;
    }
    return p->n_segs++;
}

static void drop_segment(nino_pool *p, uint32_t i)
{
    p->segs[i] = (segment){ .next = p->unused, .arena = NONE };
    p->unused = i;
}

static void list_free(nino_pool *p, uint32_t i)
{
    segment *s = &p->segs[i];
    uint32_t *first = &p->arenas[s->arena].free;
    s->is_free = true;
    s->before = NONE;
    s->after = *first;
    if (*first != NONE)
        p->segs[*first].before = i;
    *first = i;
}

static void unlist_free(nino_pool *p, uint32_t i)
{
    segment *s = &p->segs[i];
    s->is_free = false;
    if (s->after != NONE)
        p->segs[s->after].before = s->before;
    *(s->before != NONE ? &p->segs[s->before].after : &p->arenas[s->arena].free) = s->after;
}

// Joins segment i with the free one that follows it.
static void join_next(nino_pool *p, uint32_t i)
{
    const uint32_t n = p->segs[i].next;
    unlist_free(p, n);
    p->segs[i].bytes += p->segs[n].bytes;
    p->segs[i].next = p->segs[n].next;
    if (p->segs[n].next != NONE)
        p->segs[p->segs[n].next].prev = i;
    drop_segment(p, n);
}

static uint64_t largest_free(const nino_pool *p)
{
    uint64_t best = 0;
    for (uint32_t a = 0; a < p->n_arenas; a++)
        for (uint32_t i = p->arenas[a].bytes ? p->arenas[a].free : NONE; i != NONE;
             i = p->segs[i].after)
            best = p->segs[i].bytes > best ? p->segs[i].bytes : best;
    return best;
}

static void freshen_largest(nino_pool *p)
{
    pthread_mutex_lock(&p->lock);
    if (p->is_stale)
        pool_set(&p->largest_free, largest_free(p));
    p->is_stale = false;
    pthread_mutex_unlock(&p->lock);
}

static bool fits_better(const nino_pool *p, uint32_t i, uint32_t best)
{
    const segment *a = &p->segs[i], *b = &p->segs[best];
    return a->bytes != b->bytes ? a->bytes < b->bytes
                                : a->arena == b->arena && a->offset < b->offset;
}

// Only who watches pays for it; others ask (nino_pool_stat).
static void note_largest(nino_pool *p)
{
    p->is_stale = !p->monitor || !nino_monitor_is_on(p->monitor);
    if (!p->is_stale)
        pool_set(&p->largest_free, largest_free(p));
}

// Best fit among arenas of one kind; the lowest arena and address win ties.
static uint32_t find_fit(const nino_pool *p, uint64_t bytes, bool weights, bool any_kind)
{
    uint32_t best = NONE;
    for (uint32_t a = 0; a < p->n_arenas; a++) {
        const arena *ar = &p->arenas[a];
        const bool has_kind = ar->used || ar->is_gathered;
        if (!ar->bytes || (!any_kind && has_kind && ar->holds_weights != weights))
            continue;
        for (uint32_t i = ar->free; i != NONE; i = p->segs[i].after)
            if (p->segs[i].bytes >= bytes && (best == NONE || fits_better(p, i, best)))
                best = i;
    }
    return best;
}

// ---- events and counters ---------------------------------------------------------------------

// arena: index, NONE when the event is about no block; offset: of the block.
static void publish_at(nino_pool *p, nino_mem_op op, uint64_t bytes, nino_mem_owner owner,
                       bool is_hit, uint32_t arena_index, uint64_t offset)
{
    if (!p->monitor || !nino_monitor_is_on(p->monitor))
        return;
    nino_event ev = { .kind = NINO_EV_MEM, .sub = (uint8_t) op };
    if (arena_index < UINT16_MAX && offset / ALIGN <= UINT32_MAX) {
        ev.u.mem.arena = (uint16_t) (arena_index + 1);
        ev.id = (uint32_t) (offset / ALIGN);
    }
    ev.u.mem.bytes = bytes;
    ev.u.mem.in_use = pool_get(&p->in_use);
    ev.u.mem.reserved = pool_get(&p->reserved);
    ev.u.mem.largest_free = pool_get(&p->largest_free);
    ev.u.mem.owner = (uint8_t) owner;
    ev.u.mem.is_hit = is_hit;
    ev.u.mem.owner_use = (uint32_t) (pool_get(&p->by_owner[owner]) / ALIGN);
    nino_monitor_publish(p->monitor, &ev);
}

static void pool_publish(nino_pool *p, nino_mem_op op, uint64_t bytes, nino_mem_owner owner,
                         bool is_hit)
{
    publish_at(p, op, bytes, owner, is_hit, NONE, 0);
}

// ---- arenas ----------------------------------------------------------------------------------

static void drop_arena(nino_pool *p, uint32_t a)
{
    arena *ar = &p->arenas[a];
    drop_segment(p, ar->first); // wholly free: it has one segment
    if (p->p.ops.destroy)
        p->p.ops.destroy(p->p.priv, ar->handle);
    pool_set(&p->reserved, pool_get(&p->reserved) - ar->bytes);
    publish_at(p, NINO_MEM_GONE, ar->bytes, NINO_OWN_ACTIVATION, false, a, 0);
    *ar = (arena){ 0 };
}

static uint64_t idle_bytes(const nino_pool *p)
{
    uint64_t n = 0;
    for (uint32_t a = 0; a < p->n_arenas; a++)
        if (p->arenas[a].bytes && !p->arenas[a].used)
            n += p->arenas[a].bytes;
    return n;
}

// Makes an arena of exactly `bytes`; returns its segment or NONE.
static uint32_t make_arena(nino_pool *p, uint64_t bytes, bool weights, nino_error *err)
{
    uint32_t a = 0;
    while (a < p->n_arenas && p->arenas[a].bytes)
        a++;
    if (a == p->cap_arenas) {
        const uint32_t cap = p->cap_arenas ? p->cap_arenas * 2 : 16;
        arena *n = realloc(p->arenas, cap * sizeof(*n));
        if (!n)
            return NONE;
        p->arenas = n;
        p->cap_arenas = cap;
    }
    const uint32_t s = new_segment(p);
    if (s == NONE)
        return NONE;
    void *handle = NULL;
    if (p->p.ops.create && !(handle = p->p.ops.create(p->p.priv, bytes, err))) {
        drop_segment(p, s);
        return NONE;
    }
    if (a == p->n_arenas)
        p->n_arenas++;
    p->arenas[a] = (arena){
        .handle = handle, .bytes = bytes, .first = s, .free = NONE, .holds_weights = weights
    };
    p->segs[s] = (segment){ .bytes = bytes, .arena = a, .prev = NONE, .next = NONE };
    list_free(p, s);
    pool_add(&p->reserved, bytes);
    publish_at(p, NINO_MEM_ARENA, bytes, NINO_OWN_ACTIVATION, false, a, 0);
    return s;
}

static bool in_budget(const nino_pool *p, uint64_t more)
{
    const uint64_t budget = pool_get(&p->budget), reserved = pool_get(&p->reserved);
    return !budget || (more <= budget && reserved <= budget - more);
}

static uint64_t pool_trim(nino_pool *p, bool spares_gathered)
{
    uint64_t n = 0;
    for (uint32_t a = 0; a < p->n_arenas; a++)
        if (p->arenas[a].bytes && !p->arenas[a].used &&
            !(spares_gathered && p->arenas[a].is_gathered)) {
            n += p->arenas[a].bytes;
            drop_arena(p, a);
        }
    note_largest(p);
    if (n) {
        pool_add(&p->trims, 1);
        pool_publish(p, NINO_MEM_TRIM, n, NINO_OWN_ACTIVATION, false);
    }
    return n;
}

uint64_t nino_pool_trim(nino_pool *p)
{
    pthread_mutex_lock(&p->lock);
    const uint64_t n = pool_trim(p, false);
    pthread_mutex_unlock(&p->lock);
    return n;
}

// A new arena for a request: comfortably large, else exactly as large as needed, else NONE.
static uint32_t pool_grow(nino_pool *p, uint64_t bytes, bool weights, nino_error *err)
{
    if (bytes > p->p.max_arena)
        return NONE;
    pool_trim(p, weights); // they were all too small, or this would not be needed
    if (p->p.is_exact)
        return in_budget(p, bytes) ? make_arena(p, bytes, weights, err) : NONE;
    uint64_t want = pool_get(&p->reserved) / 4; // grow with use: few arenas, little waste
    if (want < p->p.min_arena)
        want = p->p.min_arena;
    if (want > MAX_SHARED_ARENA)
        want = MAX_SHARED_ARENA;
    if (want > p->p.max_arena)
        want = p->p.max_arena;
    want = want / ALIGN * ALIGN;
    if (want > bytes && in_budget(p, want)) {
        const uint32_t s = make_arena(p, want, weights, err);
        if (s != NONE)
            return s;
    }
    if (!in_budget(p, bytes) && weights)
        pool_trim(p, false);
    return in_budget(p, bytes) ? make_arena(p, bytes, weights, err) : NONE;
}

// ---- the interface ---------------------------------------------------------------------------

static nino_status pool_refuse(nino_pool *p, uint64_t bytes, nino_mem_owner owner,
                               const nino_error *why, nino_error *err)
{
    static const char *const owners[] = { "weights", "activation", "workspace", "staging" };
    const uint64_t budget = pool_get(&p->budget), in_use = pool_get(&p->in_use);
    pool_add(&p->fails, 1);
    pool_publish(p, NINO_MEM_FAIL, bytes, owner, false);
    if (why->code &&
        why->code != NINO_ERR_NOMEM) { // the device is gone; less memory would not help
        if (err)
            *err = *why;
        return why->code;
    }
    if (bytes > p->p.max_arena)
        return nino_fail_kind(err, NINO_ERR_NOMEM, NINO_KIND_BUDGET, "device memory",
                              "needs one buffer of %.1f MiB, the device allows %.1f MiB",
                              (double) bytes / 1048576, (double) p->p.max_arena / 1048576);
    if (budget && !in_budget(p, bytes))
        return nino_fail_kind(err, NINO_ERR_NOMEM, NINO_KIND_BUDGET, "device memory",
                              "needs %.1f MiB for %s, free %.1f MiB of a budget of %.1f MiB",
                              (double) bytes / 1048576, owners[owner],
                              budget > in_use ? (double) (budget - in_use) / 1048576 : 0.0,
                              (double) budget / 1048576);
    return nino_fail(err, NINO_ERR_NOMEM, "device memory",
                     "the device refused %.1f MiB for %s, in use %.1f MiB%s%s",
                     (double) bytes / 1048576, owners[owner], (double) in_use / 1048576,
                     why->code ? ": " : "", why->code ? why->msg : "");
}

// Hands out the low end of segment s.
static bool carve(nino_pool *p, uint32_t s, uint64_t bytes)
{
    if (p->segs[s].bytes > bytes) {
        const uint32_t rest = new_segment(p);
        if (rest == NONE)
            return false;
        segment *a = &p->segs[s], *b = &p->segs[rest];
        *b = (segment){ .offset = a->offset + bytes,
                        .bytes = a->bytes - bytes,
                        .arena = a->arena,
                        .prev = s,
                        .next = a->next };
        if (a->next != NONE)
            p->segs[a->next].prev = rest;
        a->next = rest;
        a->bytes = bytes;
        list_free(p, rest);
    }
    unlist_free(p, s);
    p->arenas[p->segs[s].arena].used += bytes;
    return true;
}

static nino_status pool_allocate(nino_pool *p, uint64_t bytes, nino_mem_owner owner,
                                 nino_block *out, nino_error *err)
{
    const bool weights = owner == NINO_OWN_WEIGHTS;
    nino_error why = { 0 };
    bool is_hit = false;
    uint32_t s = NONE;
    if (!p->p.is_exact) {
        // Weights stay as long as their model, beside nothing else: a class would only cost room.
        bytes = weights && bytes < UINT64_MAX / 2 ? (bytes + ALIGN - 1) / ALIGN * ALIGN
                                                  : nino_pool_class_bytes(bytes);
        s = find_fit(p, bytes, weights, false);
        is_hit = s != NONE;
    }
    if (s == NONE)
        s = pool_grow(p, bytes, weights, &why);
    if (s == NONE && !p->p.is_exact) { // last resort: the other kind's arenas
        s = find_fit(p, bytes, weights, true);
        is_hit = s != NONE;
    }
    if (s == NONE || !carve(p, s, bytes))
        return pool_refuse(p, bytes, owner, &why, err);

    segment *g = &p->segs[s];
    arena *ar = &p->arenas[g->arena];
    g->owner = owner;
    if (ar->used == bytes) // it was idle: it changes its kind
        ar->holds_weights = weights;
    pool_add(&p->allocs, 1);
    pool_add(&p->hits, is_hit);
    pool_add(&p->requested, bytes);
    pool_add(&p->reused, is_hit ? bytes : 0);
    pool_add(&p->in_use, bytes);
    pool_add(&p->by_owner[owner], bytes);
    raise_to(&p->peak, pool_get(&p->in_use));
    raise_to(&p->window_peak, pool_get(&p->in_use));
    raise_to(&p->peak_by_owner[owner], pool_get(&p->by_owner[owner]));
    note_largest(p);
    publish_at(p, NINO_MEM_ALLOC, bytes, owner, is_hit, g->arena, g->offset);
    *out = (nino_block){
        .arena = g->arena + 1, .slot = s, .offset = g->offset, .bytes = bytes, .base = ar->handle
    };
    return NINO_OK;
}

nino_status nino_pool_alloc(nino_pool *p, uint64_t bytes, nino_mem_owner owner, nino_block *out,
                            nino_error *err)
{
    pthread_mutex_lock(&p->lock);
    const nino_status st = pool_allocate(p, bytes, owner, out, err);
    pthread_mutex_unlock(&p->lock);
    return st;
}

nino_status nino_pool_gather(nino_pool *p, uint64_t bytes, nino_error *err)
{
    nino_error why = { 0 };
    nino_status st = NINO_OK;
    pthread_mutex_lock(&p->lock);
    if (!p->p.is_exact && find_fit(p, bytes, false, false) == NONE) {
        uint32_t s = NONE;
        pool_trim(p, false);
        bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
        if (in_budget(p, bytes) && bytes <= p->p.max_arena)
            s = make_arena(p, bytes, false, &why);
        if (s == NONE)
            st = pool_refuse(p, bytes, NINO_OWN_ACTIVATION, &why, err);
        else
            p->arenas[p->segs[s].arena].is_gathered = true;
        note_largest(p);
    }
    pthread_mutex_unlock(&p->lock);
    return st;
}

uint64_t nino_pool_largest_gather(nino_pool *p)
{
    const uint64_t budget = pool_get(&p->budget);
    uint64_t taken = 0;
    pthread_mutex_lock(&p->lock);
    for (uint32_t a = 0; a < p->n_arenas; a++) {
        uint32_t i = p->arenas[a].bytes ? p->arenas[a].first : NONE;
        while (i != NONE && (p->segs[i].is_free || p->segs[i].owner == NINO_OWN_WEIGHTS))
            i = p->segs[i].next;
        taken += i != NONE ? p->arenas[a].bytes : 0;
    }
    pthread_mutex_unlock(&p->lock);
    const uint64_t most = !budget ? UINT64_MAX : budget > taken ? budget - taken : 0;
    return most < p->p.max_arena ? most : p->p.max_arena;
}

void nino_pool_free(nino_pool *p, nino_block *b)
{
    if (!b->arena)
        return;
    pthread_mutex_lock(&p->lock);
    uint32_t s = b->slot;
    segment *g = &p->segs[s];
    const nino_mem_owner owner = g->owner;
    const uint32_t arena_index = g->arena; // joining may drop the segment
    list_free(p, s);
    p->arenas[g->arena].used -= g->bytes;
    pool_add(&p->in_use, -g->bytes);
    pool_add(&p->by_owner[owner], -g->bytes);
    if (g->next != NONE && p->segs[g->next].is_free)
        join_next(p, s);
    if (p->segs[s].prev != NONE && p->segs[p->segs[s].prev].is_free)
        join_next(p, p->segs[s].prev);
    note_largest(p);
    publish_at(p, NINO_MEM_FREE, b->bytes, owner, false, arena_index, b->offset);
    pthread_mutex_unlock(&p->lock);
    *b = (nino_block){ 0 };
}

// ---- for late viewers ------------------------------------------------------------------------

static nino_event state_event(const nino_pool *p, nino_mem_op op, uint64_t now,
                              uint32_t arena_index, const segment *g, uint64_t bytes)
{
    const nino_mem_owner owner = g ? g->owner : NINO_OWN_ACTIVATION;
    return (
        nino_event){ .t_ns = now,
                     .kind = NINO_EV_MEM,
                     .sub = (uint8_t) op,
                     .id = g ? (uint32_t) (g->offset / ALIGN) : 0,
                     .u.mem = { .bytes = bytes,
                                .in_use = pool_get(&p->in_use),
                                .reserved = pool_get(&p->reserved),
                                .largest_free = pool_get(&p->largest_free),
                                .owner = (uint8_t) owner,
                                .arena = (uint16_t) (arena_index + 1),
                                .owner_use = (uint32_t) (pool_get(&p->by_owner[owner]) / ALIGN) } };
}

// The lock is held while the driver makes a buffer, and a driver may hang: who only looks does not
// wait for that.
static bool pool_lock_soon(nino_pool *p)
{
    enum { NAP_NS = 1000000, NAPS = 1000 };
    int i = 0;
    while (pthread_mutex_trylock(&p->lock)) {
        if (i++ == NAPS)
            return false;
        nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
    }
    return true;
}

static size_t pool_describe(void *priv, nino_event *out, size_t max)
{
    nino_pool *p = priv;
    size_t n = 0;
    if (!pool_lock_soon(p))
        return 0;
    const uint64_t now = nino_now_ns(); // events before this moment are older, later ones are not
    for (uint32_t a = 0; a < p->n_arenas && a < UINT16_MAX - 1; a++) {
        const arena *ar = &p->arenas[a];
        if (!ar->bytes || n == max)
            continue;
        out[n++] = state_event(p, NINO_MEM_ARENA, now, a, NULL, ar->bytes);
        for (uint32_t i = ar->first; i != NONE && n < max; i = p->segs[i].next)
            if (!p->segs[i].is_free && p->segs[i].offset / ALIGN <= UINT32_MAX)
                out[n++] = state_event(p, NINO_MEM_BLOCK, now, a, &p->segs[i], p->segs[i].bytes);
    }
    pthread_mutex_unlock(&p->lock);
    return n;
}

void nino_pool_destroy(nino_pool **pp)
{
    nino_pool *p = *pp;
    if (!p)
        return;
    if (p->monitor)
        nino_monitor_set_blocks(p->monitor, NULL, NULL);
    pthread_mutex_destroy(&p->lock);
    for (uint32_t a = 0; a < p->n_arenas; a++)
        if (p->arenas[a].bytes && p->p.ops.destroy)
            p->p.ops.destroy(p->p.priv, p->arenas[a].handle);
    free(p->arenas);
    free(p->segs);
    free(p);
    *pp = NULL;
}

void nino_pool_set_monitor(nino_pool *p, nino_monitor *m)
{
    if (p->monitor && p->monitor != m)
        nino_monitor_set_blocks(p->monitor, NULL, NULL);
    p->monitor = m;
    freshen_largest(p);
    if (m)
        nino_monitor_set_blocks(m, pool_describe, p);
    pool_publish(p, NINO_MEM_BUDGET, pool_get(&p->budget), NINO_OWN_ACTIVATION, false);
}

void nino_pool_set_exact(nino_pool *p, bool is_exact)
{
    pthread_mutex_lock(&p->lock);
    p->p.is_exact = is_exact || p->p.is_always_exact;
    pthread_mutex_unlock(&p->lock);
}

void nino_pool_set_budget(nino_pool *p, uint64_t budget)
{
    if (pool_get(&p->budget) == budget)
        return;
    pool_set(&p->budget, budget);
    pool_publish(p, NINO_MEM_BUDGET, budget, NINO_OWN_ACTIVATION, false);
}

void nino_pool_tell_planned(nino_pool *p, uint64_t bytes)
{
    pool_publish(p, NINO_MEM_PLANNED, bytes, NINO_OWN_ACTIVATION, false);
}

uint64_t nino_pool_in_use(const nino_pool *p) { return pool_get(&p->in_use); }

void nino_pool_stat(const nino_pool *p, nino_mem_stat *out)
{
    freshen_largest((nino_pool *) p); // bookkeeping beside what the pool is
    *out = (nino_mem_stat){ .in_use = pool_get(&p->in_use),
                            .peak = pool_get(&p->peak),
                            .reserved = pool_get(&p->reserved),
                            .budget = pool_get(&p->budget),
                            .largest_free = pool_get(&p->largest_free),
                            .allocs = pool_get(&p->allocs),
                            .hits = pool_get(&p->hits),
                            .fails = pool_get(&p->fails),
                            .trims = pool_get(&p->trims),
                            .requested_bytes = pool_get(&p->requested),
                            .reused_bytes = pool_get(&p->reused) };
    for (int i = 0; i < NINO_OWN_COUNT; i++) {
        out->by_owner[i] = pool_get(&p->by_owner[i]);
        out->peak_by_owner[i] = pool_get(&p->peak_by_owner[i]);
    }
    if (out->reserved > out->in_use)
        out->fragmentation =
            1 - (double) out->largest_free / (double) (out->reserved - out->in_use);
    if (out->fragmentation < 0) // another thread was between two counters
        out->fragmentation = 0;
}

uint64_t nino_pool_take_window_peak(nino_pool *p)
{
    const uint64_t peak = pool_get(&p->window_peak);
    pool_set(&p->window_peak, pool_get(&p->in_use));
    return peak;
}

void nino_pool_reset_peak(nino_pool *p)
{
    pool_set(&p->peak, pool_get(&p->in_use));
    for (int i = 0; i < NINO_OWN_COUNT; i++)
        pool_set(&p->peak_by_owner[i], pool_get(&p->by_owner[i]));
}

bool nino_pool_would_fit(const nino_pool *p, uint64_t bytes)
{
    bytes = nino_pool_class_bytes(bytes);
    if (find_fit(p, bytes, false, true) != NONE)
        return true;
    const uint64_t budget = pool_get(&p->budget), busy = pool_get(&p->reserved) - idle_bytes(p);
    return bytes <= p->p.max_arena && (!budget || (bytes <= budget && busy <= budget - bytes));
}
