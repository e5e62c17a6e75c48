// The pool against a model of it: blocks never overlap, neighbours merge, counters add up.
#include "core/event/ring.h"
#include "core/op/pool.h"
#include "tests/test.h"

#include <pthread.h>
#include <time.h>
#include <semaphore.h>

#define MIB ((uint64_t) 1 << 20)

static nino_error err;
static uint64_t live_bytes;
static int live_arenas, refuse_above_mib;

static void *create(void *priv, uint64_t bytes, nino_error *e)
{
    (void) priv;
    (void) e;
    if (refuse_above_mib && bytes > (uint64_t) refuse_above_mib * MIB)
        return NULL;
    live_arenas++;
    live_bytes += bytes;
    uint64_t *h = malloc(sizeof(*h));
    *h = bytes;
    return h;
}
static void destroy(void *priv, void *handle)
{
    (void) priv;
    live_arenas--;
    live_bytes -= *(uint64_t *) handle;
    free(handle);
}

static nino_pool *make(uint64_t budget, uint64_t min_arena, uint64_t max_arena)
{
    const nino_pool_params p = {
        .ops = { create, destroy }, .budget = budget, .min_arena = min_arena, .max_arena = max_arena
    };
    nino_pool *pool = nino_pool_create(&p);
    CHECK(pool);
    return pool;
}

static nino_mem_stat stat(const nino_pool *p)
{
    nino_mem_stat m;
    nino_pool_stat(p, &m);
    return m;
}

static void test_classes(void)
{
    static const uint64_t cases[][2] = {
        { 0, 256 },
        { 1, 256 },
        { 256, 256 },
        { 257, 512 },
        { 2048, 2048 },
        { 2049, 2304 },
        { 4096, 4096 },
        { 4097, 4608 },
        { 8191, 8192 },
        { MIB, MIB },
        { MIB + 1, MIB + MIB / 8 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK(nino_pool_class_bytes(cases[i][0]) == cases[i][1]);
    for (uint64_t n = 1; n < 100000; n += 37) {
        const uint64_t c = nino_pool_class_bytes(n);
        CHECK(c >= n && c % 256 == 0 && (n < 2048 || c - n <= n / 8));
        CHECK(nino_pool_class_bytes(c) == c);
    }
}

static void test_counters(void)
{
    nino_pool *p = make(0, 4 * MIB, 0);
    nino_block a, b, c;
    CHECK_OK(nino_pool_alloc(p, MIB, NINO_OWN_ACTIVATION, &a, &err), err);
    CHECK_OK(nino_pool_alloc(p, 2 * MIB, NINO_OWN_ACTIVATION, &b, &err), err);
    CHECK_OK(nino_pool_alloc(p, 1000, NINO_OWN_WEIGHTS, &c, &err), err);
    nino_mem_stat m = stat(p);
    CHECK(m.in_use == 3 * MIB + 1024 && m.peak == m.in_use && m.reserved == 8 * MIB);
    CHECK(m.by_owner[NINO_OWN_WEIGHTS] == 1024 && m.by_owner[NINO_OWN_ACTIVATION] == 3 * MIB);
    CHECK(m.allocs == 3 && m.hits == 1 && m.reused_bytes == 2 * MIB);
    CHECK(c.arena != a.arena && a.arena == b.arena && b.offset == MIB && a.base == b.base);
    CHECK(m.largest_free == 4 * MIB - 1024);
    nino_pool_free(p, &a);
    CHECK(!a.arena);
    nino_pool_free(p, &a); // nothing to free
    m = stat(p);
    CHECK(m.in_use == 2 * MIB + 1024 && m.peak == 3 * MIB + 1024);
    CHECK(m.fragmentation > 0 && m.fragmentation < 1);
    nino_pool_reset_peak(p);
    CHECK(stat(p).peak == 2 * MIB + 1024);
    nino_pool_free(p, &b);
    CHECK(stat(p).largest_free == 4 * MIB); // merged again
    CHECK(nino_pool_trim(p) == 4 * MIB && live_arenas == 1 && stat(p).trims == 1);
    nino_pool_free(p, &c);
    nino_pool_destroy(&p);
    CHECK(!p && live_arenas == 0 && live_bytes == 0);
}

static void test_best_fit(void)
{
    nino_pool *p = make(0, 16 * MIB, 0);
    nino_block b[5];
    static const uint64_t size[5] = { 3 * MIB, 1 * MIB, 2 * MIB, 1 * MIB, 9 * MIB };
    for (int i = 0; i < 5; i++)
        CHECK_OK(nino_pool_alloc(p, size[i], NINO_OWN_ACTIVATION, &b[i], &err), err);
    nino_pool_free(p, &b[0]); // holes of 3 and 2 MiB
    nino_pool_free(p, &b[2]);
    nino_block x;
    CHECK_OK(nino_pool_alloc(p, 2 * MIB, NINO_OWN_ACTIVATION, &x, &err), err);
    CHECK(x.offset == 4 * MIB); // the smaller hole
    nino_pool_free(p, &b[1]);   // 3 + 1
    CHECK(stat(p).largest_free == 4 * MIB);
    nino_pool_free(p, &x); // 3 + 1 + 2
    CHECK(stat(p).largest_free == 6 * MIB);
    nino_pool_destroy(&p);
}

static void test_budget(void)
{
    nino_pool *p = make(10 * MIB, 4 * MIB, 0);
    nino_block a, b, c;
    CHECK(nino_pool_would_fit(p, 10 * MIB) && !nino_pool_would_fit(p, 11 * MIB));
    CHECK_OK(nino_pool_alloc(p, 6 * MIB, NINO_OWN_ACTIVATION, &a, &err), err);
    CHECK_OK(nino_pool_alloc(p, 4 * MIB, NINO_OWN_ACTIVATION, &b, &err), err);
    CHECK(!nino_pool_would_fit(p, 1));
    CHECK(nino_pool_alloc(p, MIB, NINO_OWN_WORKSPACE, &c, &err) == NINO_ERR_NOMEM);
    CHECK(strstr(err.msg, "1.0 MiB") && strstr(err.msg, "workspace") && strstr(err.msg, "10.0"));
    CHECK(stat(p).fails == 1 && stat(p).in_use == 10 * MIB);
    // Full to the byte: the least block is too much.
    CHECK(nino_pool_alloc(p, 1, NINO_OWN_WEIGHTS, &c, &err) == NINO_ERR_NOMEM);
    // Weights go where they fit when the budget allows no arena of their own.
    nino_pool_free(p, &b);
    CHECK_OK(nino_pool_alloc(p, MIB, NINO_OWN_WEIGHTS, &c, &err), err);
    nino_pool_free(p, &c);
    // An idle arena that is too small makes room for a bigger one.
    CHECK(nino_pool_would_fit(p, 4 * MIB));
    nino_pool_free(p, &a);
    CHECK(nino_pool_would_fit(p, 10 * MIB));
    CHECK_OK(nino_pool_alloc(p, 10 * MIB, NINO_OWN_ACTIVATION, &a, &err), err);
    CHECK(stat(p).reserved == 10 * MIB && live_arenas == 1);
    nino_pool_set_budget(p, 0);
    CHECK_OK(nino_pool_alloc(p, 100 * MIB, NINO_OWN_ACTIVATION, &b, &err), err);
    nino_pool_destroy(&p);
}

// 60 of 100 MiB are free, but in arenas that are in use: one piece of that size is made beforehand.
static void test_gather(void)
{
    nino_pool *p = make(100 * MIB, 20 * MIB, 0);
    nino_block a[5] = { 0 }, b = { 0 };
    for (int i = 0; i < 5; i++)
        CHECK_OK(nino_pool_alloc(p, 8 * MIB, NINO_OWN_ACTIVATION, &a[i], &err), err);
    CHECK(stat(p).reserved == 60 * MIB && live_arenas == 3);
    CHECK(nino_pool_gather(p, 60 * MIB, &err) == NINO_ERR_NOMEM && stat(p).reserved == 60 * MIB);
    // What is in use stays; weights may go for it.
    CHECK_OK(nino_pool_alloc(p, 20 * MIB, NINO_OWN_WEIGHTS, &b, &err), err);
    CHECK(stat(p).reserved == 80 * MIB && nino_pool_largest_gather(p) == 40 * MIB);
    nino_pool_free(p, &b);
    CHECK(nino_pool_gather(p, 40 * MIB + 256, &err) == NINO_ERR_NOMEM);
    CHECK_OK(nino_pool_gather(p, 40 * MIB, &err), err);
    for (int i = 0; i < 5; i++)
        nino_pool_free(p, &a[i]);
    CHECK_OK(nino_pool_gather(p, 60 * MIB, &err), err);
    CHECK(stat(p).reserved == 60 * MIB && live_arenas == 1 && stat(p).largest_free == 60 * MIB);
    CHECK(nino_pool_largest_gather(p) == 100 * MIB);
    CHECK_OK(nino_pool_gather(p, 50 * MIB, &err), err); // it is there
    CHECK(live_arenas == 1 && !stat(p).in_use);
    // Weights do not lie in it, as long as there is room elsewhere.
    CHECK_OK(nino_pool_alloc(p, MIB, NINO_OWN_WEIGHTS, &b, &err), err);
    CHECK(stat(p).largest_free == 60 * MIB && live_arenas == 2);
    CHECK_OK(nino_pool_alloc(p, 60 * MIB, NINO_OWN_ACTIVATION, &a[0], &err), err);
    nino_pool_free(p, &a[0]);
    nino_pool_free(p, &b);
    CHECK(nino_pool_gather(p, 101 * MIB, &err) == NINO_ERR_NOMEM);
    nino_pool_destroy(&p);
    CHECK(!live_arenas);
}

static void test_limits(void)
{
    nino_pool *p = make(0, MIB, 8 * MIB);
    nino_block a;
    CHECK(nino_pool_alloc(p, 9 * MIB, NINO_OWN_ACTIVATION, &a, &err) == NINO_ERR_NOMEM);
    CHECK(strstr(err.msg, "one buffer"));
    CHECK(nino_pool_alloc(p, UINT64_MAX, NINO_OWN_ACTIVATION, &a, &err) == NINO_ERR_NOMEM);
    CHECK_OK(nino_pool_alloc(p, 8 * MIB, NINO_OWN_ACTIVATION, &a, &err), err);
    nino_pool_destroy(&p);
    refuse_above_mib = 2; // the device says no to the comfortable size, yes to the exact one
    p = make(0, 4 * MIB, 0);
    CHECK_OK(nino_pool_alloc(p, 2 * MIB, NINO_OWN_ACTIVATION, &a, &err), err);
    CHECK(stat(p).reserved == 2 * MIB);
    CHECK(nino_pool_alloc(p, 3 * MIB, NINO_OWN_ACTIVATION, &a, &err) == NINO_ERR_NOMEM);
    refuse_above_mib = 0;
    nino_pool_destroy(&p);
}

// Random traffic with a fixed seed; every byte has at most one owner.
static void test_traffic(bool is_virtual)
{
    enum { N = 200 };
    static nino_block b[N];
    static bool used[N];
    const nino_pool_params params = { .min_arena = MIB };
    nino_pool *p = is_virtual ? nino_pool_create(&params) : make(64 * MIB, MIB, 0);
    uint64_t sum = 0, high = 0;
    uint32_t r = 1;
    memset(used, 0, sizeof(used));
    for (int step = 0; step < 20000; step++) {
        r = r * 1664525 + 1013904223;
        const int i = (int) (r >> 8) % N;
        if (used[i]) {
            sum -= b[i].bytes;
            nino_pool_free(p, &b[i]);
            used[i] = false;
            continue;
        }
        const uint64_t bytes = (r >> 16) * (uint64_t) (r % 7 == 0 ? 16 : 1) + 1;
        if (nino_pool_alloc(p, bytes, (nino_mem_owner) (r % 3), &b[i], &err))
            continue;
        used[i] = true;
        sum += b[i].bytes;
        high = sum > high ? sum : high;
        CHECK(b[i].bytes >= bytes && b[i].offset % 256 == 0);
        for (int k = 0; k < N; k++)
            CHECK(k == i || !used[k] || b[k].arena != b[i].arena ||
                  b[k].offset + b[k].bytes <= b[i].offset ||
                  b[i].offset + b[i].bytes <= b[k].offset);
    }
    CHECK(stat(p).in_use == sum && stat(p).peak == high);
    for (int i = 0; i < N; i++)
        if (used[i])
            nino_pool_free(p, &b[i]);
    const nino_mem_stat m = stat(p);
    CHECK(m.in_use == 0 && m.by_owner[0] + m.by_owner[1] + m.by_owner[2] == 0);
    CHECK(nino_pool_trim(p) == m.reserved && stat(p).reserved == 0 && stat(p).largest_free == 0);
    nino_pool_destroy(&p);
    CHECK(live_arenas == 0);
}

// ---- a driver that hangs ------------------------------------------------------------------------

static sem_t is_in, may_go;

static void *create_at_last(void *priv, uint64_t bytes, nino_error *e)
{
    sem_post(&is_in);
    sem_wait(&may_go);
    return create(priv, bytes, e);
}

static void *allocate(void *priv)
{
    nino_block b;
    nino_error e = { 0 };
    CHECK_OK(nino_pool_alloc(priv, 256, NINO_OWN_WEIGHTS, &b, &e), e);
    nino_pool_free(priv, &b);
    return NULL;
}

static void *let_go(void *unused)
{
    nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    sem_post(&may_go);
    return unused;
}

// While the driver makes a buffer and does not come back, viewers are told all but the blocks. Of one that takes its time
// (is_late) the blocks are told, too: who looks waits for up to a second.
static void test_hang(bool is_late)
{
    const nino_pool_params p = {
        .ops = { create_at_last, destroy }, .budget = 8 * MIB, .min_arena = MIB, .max_arena = MIB
    };
    nino_event ev[8];
    pthread_t t, late;
    nino_monitor *m = nino_monitor_create();
    nino_pool *pool = nino_pool_create(&p);
    CHECK(m && pool && !sem_init(&is_in, 0, 0) && !sem_init(&may_go, 0, 0));
    nino_pool_set_monitor(pool, m);
    CHECK(!pthread_create(&t, NULL, allocate, pool));
    sem_wait(&is_in);
    if (is_late) {
        CHECK(!pthread_create(&late, NULL, let_go, NULL));
        CHECK(nino_monitor_blocks(m, ev, 8) >= 1); // the arena, and the block while it is there
        CHECK(!pthread_join(late, NULL));
    } else {
        CHECK(nino_monitor_blocks(m, ev, 8) == 0);
        sem_post(&may_go);
    }
    CHECK(!pthread_join(t, NULL));
    CHECK(nino_monitor_blocks(m, ev, 8) == 1); // the arena
    nino_pool_destroy(&pool);
    nino_monitor_destroy(&m);
    CHECK(live_arenas == 0);
}

int main(void)
{
    test_hang(false);
    test_hang(true);
    test_classes();
    test_counters();
    test_best_fit();
    test_budget();
    test_gather();
    test_limits();
    test_traffic(false);
    test_traffic(true);
    return 0;
}
