// The memory pool under traffic of every kind: which block is handed out and why, what the budget refuses, what is
// given back, what viewers are told. Each step is compared with a second pool, written as plainly as the policy
// in core/op/pool.h reads: a list of pieces for each arena, searched from one end to the other.
#include "core/base/error.h"
#include "core/event/ring.h"
#include "core/op/pool.h"
#include "tests/test.h"

#include <stdbool.h>

enum { ARENAS = 64, PIECES = 4096, LIVE = 48, STEPS = 1500 };
#define KIB ((uint64_t) 1 << 10)
#define MIB ((uint64_t) 1 << 20)

static nino_error err;

// ---- the plain pool --------------------------------------------------------------------------------

typedef struct piece {
    uint64_t at, bytes;
    bool is_free;
    nino_mem_owner owner;
} piece;

typedef struct plain_arena {
    uint64_t bytes; // 0: there is none
    bool has_weights, is_gathered;
    piece piece[PIECES];
    int n;
} plain_arena;

typedef struct plain_pool {
    nino_pool_params p;
    plain_arena arena[ARENAS];
    nino_mem_stat stat;
} plain_pool;

static plain_pool plain;

static uint64_t used(const plain_arena *a)
{
    uint64_t n = 0;
    for (int i = 0; i < a->n; i++)
        n += a->piece[i].is_free ? 0 : a->piece[i].bytes;
    return n;
}

// Eighths of an octave, 256 bytes at least.
static uint64_t class_of(uint64_t bytes)
{
    uint64_t octave = 256, step;
    while (octave * 2 <= bytes)
        octave *= 2;
    step = octave / 8 < 256 ? 256 : octave / 8;
    return bytes <= 256 ? 256 : (bytes + step - 1) / step * step;
}

static bool has_room(uint64_t bytes)
{
    return !plain.p.budget || plain.stat.reserved + bytes <= plain.p.budget;
}

static uint64_t plain_trim(bool spares)
{
    uint64_t n = 0;
    for (int i = 0; i < ARENAS; i++) {
        plain_arena *a = &plain.arena[i];
        if (!a->bytes || used(a) || (spares && a->is_gathered))
            continue;
        n += a->bytes;
        a->bytes = 0;
        a->n = 0;
        a->is_gathered = a->has_weights = false;
    }
    plain.stat.reserved -= n;
    plain.stat.trims += n > 0;
    return n;
}

static int plain_make(uint64_t bytes, bool weights)
{
    int i = 0;
    while (plain.arena[i].bytes)
        i++;
    CHECK(i < ARENAS);
    plain.arena[i].bytes = bytes;
    plain.arena[i].has_weights = weights;
    plain.arena[i].is_gathered = false;
    plain.arena[i].n = 1;
    plain.arena[i].piece[0] = (piece){ .bytes = bytes, .is_free = true };
    plain.stat.reserved += bytes;
    return i;
}

// The smallest free piece that is large enough; of the same size in one arena the lowest, of several the first
// arena's.
static bool plain_find(uint64_t bytes, bool weights, bool any, int *arena, int *at)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < ARENAS; i++) {
        const plain_arena *a = &plain.arena[i];
        if (!a->bytes || (!any && (used(a) || a->is_gathered) && a->has_weights != weights))
            continue;
        for (int k = 0; k < a->n; k++)
            if (a->piece[k].is_free && a->piece[k].bytes >= bytes && a->piece[k].bytes < least) {
                least = a->piece[k].bytes;
                *arena = i;
                *at = k;
            }
    }
    return least != UINT64_MAX;
}

static int plain_grow(uint64_t bytes, bool weights)
{
    const uint64_t most = plain.p.max_arena ? plain.p.max_arena : UINT64_MAX;
    uint64_t want = plain.stat.reserved;
    if (bytes > most)
        return -1;
    plain_trim(weights);
    if (!plain.p.is_exact) {
        want = plain.stat.reserved / 4 > plain.p.min_arena ? plain.stat.reserved / 4
                                                           : plain.p.min_arena;
        want = want > 1024 * MIB ? 1024 * MIB : want;
        want = (want > most ? most : want) / 256 * 256;
        if (want > bytes && has_room(want))
            return plain_make(want, weights);
        if (!has_room(bytes) && weights)
            plain_trim(false);
    }
    return has_room(bytes) ? plain_make(bytes, weights) : -1;
}

// *hit: it lies in an arena that was there.
static bool plain_alloc(uint64_t bytes, nino_mem_owner owner, int *arena, uint64_t *offset,
                        uint64_t *rounded, bool *hit)
{
    const bool weights = owner == NINO_OWN_WEIGHTS;
    int at = 0;
    *hit = false;
    if (!plain.p.is_exact) {
        bytes = weights ? (bytes + 255) / 256 * 256 : class_of(bytes);
        *hit = plain_find(bytes, weights, false, arena, &at);
    }
    if (!*hit) {
        *arena = plain_grow(bytes, weights);
        if (*arena < 0 && !plain.p.is_exact)
            *hit = plain_find(bytes, weights, true, arena, &at);
    }
    if (*arena < 0) {
        plain.stat.fails++;
        return false;
    }
    plain_arena *a = &plain.arena[*arena];
    if (!used(a))
        a->has_weights = weights;
    piece *p = &a->piece[at];
    if (p->bytes > bytes) {
        CHECK(a->n < PIECES);
        memmove(p + 2, p + 1, (size_t) (a->n - at - 1) * sizeof(*p));
        p[1] = (piece){ .at = p->at + bytes, .bytes = p->bytes - bytes, .is_free = true };
        a->n++;
    }
    p->bytes = bytes;
    p->is_free = false;
    p->owner = owner;
    *offset = p->at;
    *rounded = bytes;
    nino_mem_stat *s = &plain.stat;
    s->allocs++;
    s->hits += *hit;
    s->requested_bytes += bytes;
    s->reused_bytes += *hit ? bytes : 0;
    s->in_use += bytes;
    s->by_owner[owner] += bytes;
    s->peak = s->in_use > s->peak ? s->in_use : s->peak;
    if (s->by_owner[owner] > s->peak_by_owner[owner])
        s->peak_by_owner[owner] = s->by_owner[owner];
    return true;
}

static void plain_free(int arena, uint64_t offset)
{
    plain_arena *a = &plain.arena[arena];
    int k = 0;
    while (a->piece[k].at != offset)
        k++;
    plain.stat.in_use -= a->piece[k].bytes;
    plain.stat.by_owner[a->piece[k].owner] -= a->piece[k].bytes;
    a->piece[k].is_free = true;
    for (k = 0; k + 1 < a->n;) {
        piece *p = &a->piece[k];
        if (!p[0].is_free || !p[1].is_free) {
            k++;
            continue;
        }
        p[0].bytes += p[1].bytes;
        memmove(p + 1, p + 2, (size_t) (a->n - k - 2) * sizeof(*p));
        a->n--;
    }
}

static bool plain_gather(uint64_t bytes)
{
    int a, at;
    if (plain.p.is_exact || plain_find(bytes, false, false, &a, &at))
        return true;
    plain_trim(false);
    bytes = (bytes + 255) / 256 * 256;
    if (!has_room(bytes) || (plain.p.max_arena && bytes > plain.p.max_arena)) {
        plain.stat.fails++;
        return false;
    }
    plain.arena[plain_make(bytes, false)].is_gathered = true;
    return true;
}

static uint64_t plain_largest_gather(void)
{
    uint64_t taken = 0;
    for (int i = 0; i < ARENAS; i++)
        for (int k = 0; k < plain.arena[i].n; k++)
            if (!plain.arena[i].piece[k].is_free &&
                plain.arena[i].piece[k].owner != NINO_OWN_WEIGHTS) {
                taken += plain.arena[i].bytes;
                break;
            }
    const uint64_t most = plain.p.max_arena ? plain.p.max_arena : UINT64_MAX;
    const uint64_t left = !plain.p.budget          ? UINT64_MAX
                          : plain.p.budget > taken ? plain.p.budget - taken
                                                   : 0;
    return left < most ? left : most;
}

static bool plain_would_fit(uint64_t bytes)
{
    int a, at;
    uint64_t busy = 0;
    bytes = class_of(bytes);
    for (int i = 0; i < ARENAS; i++)
        busy += used(&plain.arena[i]) ? plain.arena[i].bytes : 0;
    return plain_find(bytes, false, true, &a, &at) ||
           ((!plain.p.max_arena || bytes <= plain.p.max_arena) &&
            (!plain.p.budget || busy + bytes <= plain.p.budget));
}

// ---- both --------------------------------------------------------------------------------------------

static void compare(const nino_pool *p)
{
    nino_mem_stat m, *s = &plain.stat;
    s->largest_free = 0;
    for (int i = 0; i < ARENAS; i++)
        for (int k = 0; k < plain.arena[i].n; k++)
            if (plain.arena[i].piece[k].is_free && plain.arena[i].piece[k].bytes > s->largest_free)
                s->largest_free = plain.arena[i].piece[k].bytes;
    nino_pool_stat(p, &m);
    s->budget = plain.p.budget;
    s->fragmentation = s->reserved > s->in_use
                           ? 1 - (double) s->largest_free / (double) (s->reserved - s->in_use)
                           : 0;
    CHECK(m.in_use == s->in_use && m.in_use == nino_pool_in_use(p) && m.peak == s->peak);
    CHECK(m.reserved == s->reserved && m.budget == s->budget && m.largest_free == s->largest_free);
    CHECK(m.allocs == s->allocs && m.hits == s->hits && m.fails == s->fails);
    CHECK(m.trims == s->trims && m.requested_bytes == s->requested_bytes);
    CHECK(m.reused_bytes == s->reused_bytes && m.fragmentation == s->fragmentation);
    for (int i = 0; i < NINO_OWN_COUNT; i++)
        CHECK(m.by_owner[i] == s->by_owner[i] && m.peak_by_owner[i] == s->peak_by_owner[i]);
}

// What viewers are told of the last step: a block that came or went, or what was refused.
static void check_event(nino_mon_reader *r, nino_mem_op op, uint64_t bytes, nino_mem_owner owner,
                        bool hit, int arena, uint64_t offset)
{
    nino_event ev[64], last = { .kind = NINO_EV_NONE };
    for (size_t n; (n = nino_mon_reader_read(r, ev, 64, NULL));)
        for (size_t i = 0; i < n; i++)
            if (ev[i].kind == NINO_EV_MEM)
                last = ev[i];
    CHECK(last.kind == NINO_EV_MEM && last.sub == op && last.u.mem.bytes == bytes);
    CHECK(last.u.mem.owner == owner && last.u.mem.is_hit == hit);
    CHECK((int) last.u.mem.arena == arena + 1 && last.id == (arena < 0 ? 0 : offset / 256));
    CHECK(last.u.mem.in_use == plain.stat.in_use && last.u.mem.reserved == plain.stat.reserved);
    CHECK(last.u.mem.owner_use == plain.stat.by_owner[owner] / 256);
}

// Buffers of the driver, as many and as large as the arenas.
static uint64_t buffer[ARENAS];

static void *create(void *priv, uint64_t bytes, nino_error *e)
{
    (void) priv;
    (void) e;
    for (int i = 0; i < ARENAS; i++)
        if (!buffer[i]) {
            buffer[i] = bytes;
            return &buffer[i];
        }
    return NULL;
}

static void give_back(void *priv, void *handle)
{
    (void) priv;
    CHECK(*(uint64_t *) handle);
    *(uint64_t *) handle = 0;
}

static uint64_t all_buffers(void)
{
    uint64_t n = 0;
    for (int i = 0; i < ARENAS; i++)
        n += buffer[i];
    return n;
}

// What a viewer that comes late is told: each arena, and its blocks from the lowest on.
static void check_blocks(nino_monitor *m)
{
    static nino_event ev[ARENAS + LIVE];
    const size_t n = nino_monitor_blocks(m, ev, ARENAS + LIVE);
    size_t k = 0;
    for (int i = 0; i < ARENAS; i++) {
        const plain_arena *a = &plain.arena[i];
        if (!a->bytes)
            continue;
        CHECK(k < n && ev[k].sub == NINO_MEM_ARENA && ev[k].u.mem.bytes == a->bytes);
        CHECK((int) ev[k].u.mem.arena == i + 1 && !ev[k].id && ev[k].kind == NINO_EV_MEM);
        CHECK(ev[k].u.mem.owner == NINO_OWN_ACTIVATION);
        CHECK(ev[k++].u.mem.in_use == plain.stat.in_use);
        for (int j = 0; j < a->n; j++) {
            const piece *b = &a->piece[j];
            if (b->is_free)
                continue;
            CHECK(k < n && ev[k].sub == NINO_MEM_BLOCK && ev[k].u.mem.bytes == b->bytes);
            CHECK((int) ev[k].u.mem.arena == i + 1 && ev[k].id == b->at / 256);
            CHECK(ev[k].u.mem.owner == b->owner && ev[k].u.mem.reserved == plain.stat.reserved);
            CHECK(ev[k].u.mem.largest_free == plain.stat.largest_free);
            CHECK(ev[k++].u.mem.owner_use == plain.stat.by_owner[b->owner] / 256);
        }
    }
    CHECK(k == n);
    if (n > 1) // into less room: as many as there is
        CHECK(nino_monitor_blocks(m, ev, n - 1) == n - 1 && nino_monitor_blocks(m, ev, 1) == 1);
}

typedef struct live {
    nino_block b;
    int arena;
    uint64_t offset;
    nino_mem_owner owner;
} live;

static void take(nino_pool *pool, nino_mon_reader *r, live *l, uint64_t bytes, nino_mem_owner owner)
{
    uint64_t rounded = 0;
    bool hit = false;
    const bool fits = plain_alloc(bytes, owner, &l->arena, &l->offset, &rounded, &hit);
    const nino_status st = nino_pool_alloc(pool, bytes, owner, &l->b, &err);
    CHECK(st == (fits ? NINO_OK : NINO_ERR_NOMEM));
    l->owner = owner;
    if (fits) {
        CHECK((int) l->b.arena == l->arena + 1 && l->b.offset == l->offset &&
              l->b.bytes == rounded);
        check_event(r, NINO_MEM_ALLOC, rounded, owner, hit, l->arena, l->offset);
    } else {
        l->b = (nino_block){ 0 };
        if (!plain.p.is_exact)
            rounded = owner == NINO_OWN_WEIGHTS ? (bytes + 255) / 256 * 256 : class_of(bytes);
        check_event(r, NINO_MEM_FAIL, plain.p.is_exact ? bytes : rounded, owner, false, -1, 0);
    }
}

static void drop(nino_pool *pool, nino_mon_reader *r, live *l)
{
    const uint64_t bytes = l->b.bytes;
    plain_free(l->arena, l->offset);
    nino_pool_free(pool, &l->b);
    CHECK(!l->b.arena);
    check_event(r, NINO_MEM_FREE, bytes, l->owner, false, l->arena, l->offset);
}

static void traffic(const nino_pool_params *params, uint32_t seed)
{
    static live all[LIVE];
    nino_monitor *m = nino_monitor_create();
    nino_mon_reader *r = nino_mon_reader_create(m);
    nino_pool_params with = *params;
    with.ops.create = create;
    with.ops.destroy = give_back;
    nino_pool *pool = nino_pool_create(&with);
    uint64_t high = 0;
    CHECK(m && r && pool);
    nino_pool_set_monitor(pool, m);
    memset(&plain, 0, sizeof(plain));
    memset(all, 0, sizeof(all));
    plain.p = *params;
    plain.p.min_arena = params->min_arena ? params->min_arena : 64 * MIB;
    for (int i = 0; i < STEPS; i++) {
        seed = seed * 1664525 + 1013904223;
        const unsigned n = seed >> 8, what = n % 64;
        live *l = &all[n / 64 % LIVE];
        const uint64_t bytes = n / 64 / LIVE % (what % 8 ? 70000 : 900000);
        const uint64_t gather = n % 3 ? bytes + 1 : (bytes / 256 + 1) * 256;
        if (what == 0)
            CHECK(nino_pool_trim(pool) == plain_trim(false));
        else if (what == 1)
            CHECK(plain_gather(gather) == !nino_pool_gather(pool, gather, &err));
        else if (what == 2 && params->budget)
            nino_pool_set_budget(pool, plain.p.budget = params->budget / 2 * (1 + n % 3));
        else if (what == 3 && i > STEPS / 2) {
            nino_pool_reset_peak(pool);
            plain.stat.peak = plain.stat.in_use;
            memcpy(plain.stat.peak_by_owner, plain.stat.by_owner, sizeof(plain.stat.by_owner));
        } else if (what == 4) {
            CHECK(nino_pool_take_window_peak(pool) == high);
            high = plain.stat.in_use;
        } else if (l->b.arena)
            drop(pool, r, l);
        else
            take(pool, r, l, bytes, (nino_mem_owner) (n / 7 % NINO_OWN_COUNT));
        high = plain.stat.in_use > high ? plain.stat.in_use : high;
        for (int k = 1; k <= 64; k *= 4)
            CHECK(nino_pool_would_fit(pool, bytes * k) == plain_would_fit(bytes * k));
        CHECK(nino_pool_would_fit(pool, plain.p.budget) == plain_would_fit(plain.p.budget));
        CHECK(nino_pool_largest_gather(pool) == plain_largest_gather());
        compare(pool);
        CHECK(all_buffers() == plain.stat.reserved);
        if (i % 16 == 0)
            check_blocks(m);
    }
    nino_pool_destroy(&pool);
    CHECK(!pool && !all_buffers());
    nino_mon_reader_destroy(&r);
    nino_monitor_destroy(&m);
}

// ---- words -------------------------------------------------------------------------------------------

static void *refuse(void *priv, uint64_t bytes, nino_error *e)
{
    (void) bytes;
    if (priv)
        nino_fail(e, *(nino_status *) priv, "driver", "says no");
    return NULL;
}

static void destroy(void *priv, void *handle)
{
    (void) priv;
    (void) handle;
}

static void check_words(const nino_pool_params *params, uint64_t bytes, nino_mem_owner owner,
                        nino_status st, const char *kind, const char *words)
{
    nino_block b;
    nino_pool *p = nino_pool_create(params);
    CHECK(p);
    err = (nino_error){ .code = NINO_OK };
    CHECK(nino_pool_alloc(p, bytes, owner, &b, &err) == st && err.code == st);
    CHECK_STR(err.msg, words);
    CHECK_STR(err.kind, kind ? kind : nino_status_name(st));
    nino_pool_destroy(&p);
}

// Of 4000 MiB each, so that a count which is off by a millionth of itself shows.
static void check_in_use(void)
{
    nino_block b;
    nino_pool_params params = { .budget = 5000 * MIB, .is_exact = true };
    nino_pool *p = nino_pool_create(&params);
    CHECK_OK(nino_pool_alloc(p, 4000 * MIB, NINO_OWN_WEIGHTS, &b, &err), err);
    CHECK(nino_pool_alloc(p, 4000 * MIB, NINO_OWN_WORKSPACE, &b, &err) == NINO_ERR_NOMEM);
    CHECK_STR(err.msg, "needs 4000.0 MiB for workspace, free 1000.0 MiB of a budget of 5000.0 MiB");
    nino_pool_set_budget(p, 3000 * MIB);
    CHECK(nino_pool_alloc(p, 1, NINO_OWN_WORKSPACE, &b, &err) == NINO_ERR_NOMEM);
    CHECK_STR(err.msg, "needs 0.0 MiB for workspace, free 0.0 MiB of a budget of 3000.0 MiB");
    nino_pool_destroy(&p);
}

static void check_refusals(void)
{
    static nino_status none = NINO_ERR_NOMEM, gone = NINO_ERR_DEVICE;
    const nino_pool_params small = { .max_arena = 3 * MIB, .min_arena = MIB },
                           budget = { .budget = 5 * MIB, .min_arena = MIB };
    nino_pool_params driver = { .ops = { refuse, destroy }, .min_arena = MIB };
    check_words(&small, 3 * MIB + 1, NINO_OWN_WEIGHTS, NINO_ERR_NOMEM, NINO_KIND_BUDGET,
                "needs one buffer of 3.0 MiB, the device allows 3.0 MiB");
    check_words(&budget, 6 * MIB, NINO_OWN_STAGING, NINO_ERR_NOMEM, NINO_KIND_BUDGET,
                "needs 6.0 MiB for staging, free 5.0 MiB of a budget of 5.0 MiB");
    check_words(&driver, 2 * MIB, NINO_OWN_ACTIVATION, NINO_ERR_NOMEM, NULL,
                "the device refused 2.0 MiB for activation, in use 0.0 MiB");
    driver.priv = &none;
    check_words(&driver, 2 * MIB, NINO_OWN_WORKSPACE, NINO_ERR_NOMEM, NULL,
                "the device refused 2.0 MiB for workspace, in use 0.0 MiB: says no");
    check_in_use();
    driver.priv = &gone; // less memory would not help
    check_words(&driver, 2 * MIB, NINO_OWN_WEIGHTS, NINO_ERR_DEVICE, NULL, "says no");
}

int main(void)
{
    static const nino_pool_params params[] = {
        { .budget = 0, .min_arena = 100 * KIB },
        { .budget = 1200 * KIB, .min_arena = 100 * KIB },
        { .budget = 1200 * KIB, .min_arena = 100 * KIB, .max_arena = 300 * KIB },
        { .budget = 2048 * KIB, .min_arena = 33 * KIB + 100 },
        { .budget = 700 * KIB, .min_arena = 0 }, // every arena as large as its first block
        { .budget = 1200 * KIB, .is_exact = true },
        { .budget = 1200 * KIB, .is_always_exact = true, .is_exact = true, .max_arena = 200 * KIB },
        { .budget = 0, .min_arena = 1 },
        { .budget = 1200 * KIB, .min_arena = 400 * KIB, .max_arena = 300 * KIB },
    };
    for (size_t i = 0; i < sizeof(params) / sizeof(params[0]); i++)
        traffic(&params[i], 77 + (uint32_t) i);
    check_refusals();
    return 0;
}
