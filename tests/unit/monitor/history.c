// History of a run: nesting, rows, busy time against a plain count, memory maxima, the pool's map
// replayed, ranges, histograms, call paths, bounded memory, and a trace file that gives the same.
#include <ninodes/advice.h>
#include "core/event/publish.h"
#include "core/op/pool.h"
#include "tests/test.h"

#include <math.h>
#include <unistd.h>

static nino_error err;
#define LAUNCH "64x2x1/16x1x1/700|cpu elt|scale f16:4"
static const char *const names[] = { "",        "job",  "1 KSampler", "step",
                                     "unet.in", "conv", "conv2d",     "norm",
                                     "gn",      "read", LAUNCH,       "64x2x1/16x1x1/800",
                                     "64x2x1//" };
static const char *name_of(void *priv, uint32_t id)
{
    (void) priv;
    return id < sizeof(names) / sizeof(names[0]) ? names[id] : "";
}

static void add(nino_history *h, nino_event e) { nino_history_add(h, &e, 1, name_of, NULL); }

static void begin(nino_history *h, uint64_t t, nino_event_kind kind, uint32_t name, uint32_t id,
                  uint32_t up)
{
    add(h, (nino_event){ .t_ns = t, .kind = (uint8_t) kind, .name = name, .id = id, .parent = up });
}

static void end(nino_history *h, uint64_t t, uint32_t id, uint32_t status)
{
    add(h, (nino_event){ .t_ns = t, .kind = NINO_EV_END, .id = id, .u.scope.arg0 = status });
}

static void kernel(nino_history *h, uint64_t t, uint64_t ns, uint32_t name, uint32_t up)
{
    add(h,
        (nino_event){ .t_ns = t,
                      .kind = NINO_EV_KERNEL,
                      .track = 256,
                      .name = name,
                      .id = 16,
                      .parent = up,
                      .u.kernel = { .dur_ns = ns, .flops = 10, .bytes = 5, .family = name - 1 } });
}

static void test_spans(void)
{
    nino_history *h = nino_history_create(0);
    size_t n;
    CHECK(nino_history_begin(h) == 0 && nino_history_end(h) == 0);
    CHECK(!nino_history_points(h, NINO_EV_DEVICE, &n) && n == 0);
    begin(h, 100, NINO_EV_JOB, 1, 1, 0);
    begin(h, 110, NINO_EV_NODE, 2, 2, 1);
    begin(h, 110, NINO_EV_NODE, 2, 2, 1); // told twice
    begin(h, 120, NINO_EV_STEP, 3, 3, 2);
    begin(h, 125, NINO_EV_STAGE, 4, 4, 3);
    begin(h, 140, NINO_EV_STEP, 3, 5, 2); // the ends of 3 and 4 were lost
    end(h, 150, 5, 8);
    const nino_span *s = nino_history_spans(h, &n);
    CHECK(n == 5 && s[3].parent == 2 && s[3].depth == 3 && s[3].end_ns == 140 && s[3].is_cut);
    CHECK(s[2].is_cut && !s[4].is_cut && s[4].status == 8 && s[4].end_ns == 150);
    CHECK(s[4].parent == 1 && s[1].end_ns == 0);
    CHECK(nino_history_span_of(h, 4) == 3 && nino_history_span_of(h, 99) == -1);
    CHECK(nino_history_enclosing(h, 3, NINO_EV_NODE) == 1);
    CHECK(nino_history_enclosing(h, 0, NINO_EV_NODE) == -1);
    const uint32_t *row = nino_history_row(h, 0, 2, &n);
    CHECK(n == 2 && row[0] == 2 && row[1] == 4);
    CHECK(!nino_history_row(h, 0, 9, &n) && !nino_history_row(h, 7, 0, &n));
    CHECK_STR(nino_history_name(h, s[1].name), "1 KSampler");
    CHECK(nino_history_find(h, "step") == s[2].name && !nino_history_find(h, "nothing"));
    end(h, 160, 77, 0); // of a scope that was never told
    nino_history_clear(h);
    CHECK(nino_history_spans(h, &n) != NULL || n == 0);
    CHECK(nino_history_count(h) == 0);
    nino_history_destroy(&h);
    CHECK(!h);
    nino_history_destroy(&h);
}

// Busy time by check points equals busy time by counting, whatever order the records came in.
static void test_busy(void)
{
    enum { N = 5000 };
    static uint64_t at[N], ns[N];
    static int which[N];
    nino_history *h = nino_history_create(0);
    uint64_t seed = 7, t = 1000;
    for (int i = 0; i < N; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        at[i] = t;
        ns[i] = 10 + (seed >> 40) % 90;
        which[i] = (seed >> 33) & 1;
        t += ns[i] + (seed >> 50) % 20;
    }
    for (int i = 0; i < N; i += 10) // batches from two sides, backwards every second one
        for (int k = 0; k < 10; k++) {
            const int j = i + (i / 10 % 2 ? 9 - k : k);
            kernel(h, at[j], ns[j], which[j] ? 8 : 6, 0);
        }
    size_t n;
    const nino_event *e = nino_history_slices(h, 256, &n);
    CHECK(n == N);
    for (size_t i = 1; i < n; i++)
        CHECK(e[i - 1].t_ns <= e[i].t_ns);
    CHECK(nino_history_slice_at(h, 256, at[77]) == 77);
    const size_t conv = nino_history_family_of(h, nino_history_find(h, "conv"));
    const size_t norm = nino_history_family_of(h, nino_history_find(h, "gn"));
    CHECK(conv == 0 && norm == NINO_HISTORY_FAMILIES - 1); // "gn" is a kernel, not a family
    for (uint64_t a = 900; a < t; a += t / 37)
        for (uint64_t b = a; b < t + 100; b += t / 23) {
            uint64_t want[2] = { 0, 0 }, out[NINO_HISTORY_FAMILIES];
            for (int i = 0; i < N; i++) {
                const uint64_t lo = at[i] > a ? at[i] : a;
                const uint64_t hi = at[i] + ns[i] < b ? at[i] + ns[i] : b;
                want[which[i]] += hi > lo ? hi - lo : 0;
            }
            nino_history_busy(h, 256, a, b, out);
            CHECK(out[0] == want[0] && out[1] == want[1]);
        }
    nino_track_info info[4];
    CHECK(nino_history_tracks(h, info, 4) == 1 && info[0].n_slices == N);
    nino_history_destroy(&h);
}

static nino_event memory(uint64_t t, nino_mem_op op, uint16_t arena, uint64_t offset,
                         uint64_t bytes, uint64_t in_use)
{
    return (nino_event){ .t_ns = t,
                         .kind = NINO_EV_MEM,
                         .sub = (uint8_t) op,
                         .id = (uint32_t) (offset / 256),
                         .u.mem = { .bytes = bytes,
                                    .in_use = in_use,
                                    .reserved = 4096,
                                    .owner = NINO_OWN_WEIGHTS,
                                    .arena = arena,
                                    .owner_use = (uint32_t) (in_use / 256) } };
}

static void test_memory_peaks(void)
{
    enum { N = 9000 };
    static uint64_t use[N];
    nino_history *h = nino_history_create(0);
    uint64_t seed = 3;
    nino_mem_point p;
    CHECK(!nino_history_memory_peak(h, 0, 100, &p));
    for (int i = 0; i < N; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        use[i] = (seed >> 40) * 256;
        add(h, memory(1000 + 10 * (uint64_t) i, NINO_MEM_ALLOC, 0, 0, 256, use[i]));
    }
    for (int a = 0; a < N; a += 611)
        for (int b = a + 1; b <= N; b += 397) {
            uint64_t want = 0;
            for (int i = a > 0 ? a - 1 : 0; i < b; i++)
                want = use[i] > want ? use[i] : want;
            CHECK(nino_history_memory_peak(h, 1000 + 10 * (uint64_t) a, 1000 + 10 * (uint64_t) b,
                                           &p));
            CHECK(p.in_use == want &&
                  p.by_owner[NINO_OWN_WEIGHTS] == (want & (UINT32_MAX * 256ull)));
        }
    // between two records the state of the one before holds
    CHECK(nino_history_memory_peak(h, 1001, 1002, &p) && p.in_use == use[0]);
    CHECK(!nino_history_memory_peak(h, 1, 2, &p));
    nino_history_destroy(&h);
}

static void test_pool(void)
{
    nino_history *h = nino_history_create(0);
    add(h, memory(5, NINO_MEM_BUDGET, 0, 0, 8192, 0));
    add(h, memory(10, NINO_MEM_ARENA, 1, 0, 4096, 0));
    add(h, memory(20, NINO_MEM_ALLOC, 1, 0, 1024, 1024));
    add(h, memory(30, NINO_MEM_ALLOC, 1, 1024, 1024, 2048));
    add(h, memory(40, NINO_MEM_ALLOC, 1, 2048, 512, 2560));
    add(h, memory(50, NINO_MEM_FREE, 1, 1024, 1024, 1536));
    add(h, memory(60, NINO_MEM_FREE, 1, 0, 1024, 512));
    nino_pool_map m;
    CHECK_OK(nino_history_pool(h, 45, &m, &err), err);
    CHECK(m.n_arenas == 1 && m.n_blocks == 4 && m.arena[0].used == 2560 && m.arena[0].n == 4);
    CHECK(m.block[3].is_free && m.block[3].bytes == 1536 && m.largest_free == 1536);
    CHECK(m.fragmentation == 0 && m.in_use == 2560 && m.unknown_bytes == 0 && m.budget == 8192);
    CHECK(m.block[1].offset == 1024 && m.block[1].since_ns == 30 && !m.block[1].is_free);
    CHECK(nino_pool_map_fit(&m, 1500) == NINO_FIT_BLOCK);
    CHECK(nino_pool_map_fit(&m, 4096) == NINO_FIT_ARENA);
    CHECK(nino_pool_map_fit(&m, 5000) == NINO_FIT_NO);
    nino_pool_map_release(&m);
    CHECK_OK(nino_history_pool(h, UINT64_MAX, &m, &err), err);
    CHECK(m.n_blocks == 3 && m.block[0].is_free && m.block[0].bytes == 2048);
    CHECK(m.free_bytes == 3584 && fabs(m.fragmentation - (1 - 2048.0 / 3584)) < 1e-12);
    nino_pool_map_release(&m);
    // a block over places whose ends were lost; then the arena goes and its number is used again
    add(h, memory(70, NINO_MEM_ALLOC, 1, 1792, 1024, 1024));
    CHECK_OK(nino_history_pool(h, UINT64_MAX, &m, &err), err);
    CHECK(m.arena[0].used == 1024 && m.n_blocks == 3);
    nino_pool_map_release(&m);
    add(h, memory(80, NINO_MEM_GONE, 1, 0, 4096, 0));
    add(h, memory(90, NINO_MEM_ALLOC, 7, 256, 256, 1000)); // an arena that was never told
    CHECK_OK(nino_history_pool(h, UINT64_MAX, &m, &err), err);
    CHECK(m.n_arenas == 1 && m.arena[0].number == 7 && m.arena[0].bytes == 0);
    CHECK(m.unknown_bytes == 744 && m.n_blocks == 2);
    nino_pool_map_release(&m);
    nino_history_destroy(&h);
}

static const char *device_name(void *priv, uint32_t id)
{
    (void) priv;
    return id == 9 ? "a device" : "";
}

// A new job of the process: the blocks that are there and the ceilings stay, the records go. A
// process that begins anew holds nothing.
static void test_restart(void)
{
    nino_history *h = nino_history_create(0);
    nino_event e = { .t_ns = 1, .kind = NINO_EV_CEILINGS, .name = 9 };
    e.u.ceilings.flops_f32 = 2e12;
    nino_history_add(h, &e, 1, device_name, NULL);
    e = (nino_event){ .t_ns = 1, .kind = NINO_EV_CEILING_POINT };
    e.u.ceiling_point.copy = 5e9;
    nino_history_add(h, &e, 1, device_name, NULL);
    begin(h, 2, NINO_EV_JOB, 1, 1, 0);
    kernel(h, 3, 100, 6, 1);
    add(h, memory(5, NINO_MEM_BUDGET, 0, 0, 8192, 0));
    add(h, memory(10, NINO_MEM_ARENA, 1, 0, 4096, 0));
    add(h, memory(20, NINO_MEM_ALLOC, 1, 0, 1024, 1024));
    add(h, memory(30, NINO_MEM_ALLOC, 1, 1024, 1024, 2048));
    add(h, memory(50, NINO_MEM_FREE, 1, 0, 1024, 1024));
    nino_history_restart(h, 70);
    begin(h, 70, NINO_EV_JOB, 1, 2, 0);
    nino_pool_map m;
    nino_mem_point p;
    nino_ceilings c;
    size_t n;
    CHECK(nino_history_begin(h) == 70 && nino_history_end(h) == 70);
    nino_history_slices(h, 256, &n);
    CHECK(n == 0 && nino_history_memory_peak(h, 70, 71, &p) && p.in_use == 1024);
    CHECK(p.by_owner[NINO_OWN_WEIGHTS] == 1024 && p.reserved == 4096);
    CHECK_OK(nino_history_pool(h, UINT64_MAX, &m, &err), err);
    CHECK(m.n_arenas == 1 && m.arena[0].bytes == 4096 && m.arena[0].used == 1024);
    CHECK(m.n_blocks == 3 && m.block[1].offset == 1024 && !m.block[1].is_free);
    CHECK(m.budget == 8192 && m.unknown_bytes == 0 && m.largest_free == 2048);
    nino_pool_map_release(&m);
    CHECK(nino_history_ceilings(h, &c) && c.flops_f32 == 2e12 && c.n_points == 1);
    CHECK_STR(c.device, "a device");
    e = memory(80, NINO_MEM_BUDGET, 0, 0, 8192, 0); // of a new process
    e.u.mem.reserved = 0;
    add(h, e);
    CHECK_OK(nino_history_pool(h, UINT64_MAX, &m, &err), err);
    CHECK(m.n_arenas == 0 && m.reserved == 0 && m.unknown_bytes == 0);
    nino_pool_map_release(&m);
    nino_history_destroy(&h);
}

static const char *monitor_name(void *m, uint32_t id) { return nino_monitor_name_text(m, id); }

// The map replayed from what a real pool publishes is the pool.
static void test_pool_replayed(void)
{
    nino_monitor *mon = nino_monitor_create();
    nino_mon_reader *r = nino_mon_reader_create(mon);
    nino_pool *pool =
        nino_pool_create(&(nino_pool_params){ .budget = 64 << 20, .min_arena = 4 << 20 });
    nino_history *h = nino_history_create(0);
    nino_block block[40] = { { 0 } };
    nino_event ev[64];
    uint64_t seed = 11;
    CHECK(mon && r && pool && h);
    nino_pool_set_monitor(pool, mon);
    for (int i = 0; i < 2000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        nino_block *b = &block[(seed >> 33) % 40];
        if (b->arena)
            nino_pool_free(pool, b);
        else
            nino_pool_alloc(pool, 1000 + (seed >> 40) % (3 << 20), (nino_mem_owner) (i % 4), b,
                            NULL);
        if (i % 500 == 499)
            nino_pool_trim(pool);
        for (size_t n; (n = nino_mon_reader_read(r, ev, 64, NULL)) > 0;)
            nino_history_add(h, ev, n, monitor_name, mon);
        if (i % 97)
            continue;
        nino_mem_stat s;
        nino_pool_map m;
        uint64_t held = 0;
        nino_pool_stat(pool, &s);
        CHECK_OK(nino_history_pool(h, UINT64_MAX, &m, &err), err);
        for (size_t a = 0; a < m.n_arenas; a++)
            held += m.arena[a].bytes;
        CHECK(m.in_use == s.in_use && m.reserved == s.reserved && held == s.reserved);
        CHECK(m.unknown_bytes == 0 && m.largest_free == s.largest_free && m.budget == s.budget);
        nino_pool_map_release(&m);
    }
    for (int i = 0; i < 40; i++)
        nino_pool_free(pool, &block[i]);
    nino_history_destroy(&h);
    nino_pool_destroy(&pool);
    nino_mon_reader_destroy(&r);
    nino_monitor_destroy(&mon);
}

// A run of two nodes, ten steps each with a fast and a slow kernel.
static void a_run(nino_history *h)
{
    uint32_t id = 1;
    uint64_t t = 1000;
    begin(h, t, NINO_EV_JOB, 1, id++, 0);
    begin(h, t, NINO_EV_NODE, 2, id++, 1);
    for (int i = 0; i < 10; i++) {
        begin(h, t + 1, NINO_EV_STEP, 3, id, 2);
        kernel(h, t + 10, 100, 6, id);
        kernel(h, t + 110, i == 7 ? 5000 : 20 + (uint64_t) i, 8, id);
        add(h,
            (nino_event){ .t_ns = t + 120,
                          .kind = NINO_EV_STEP_INFO,
                          .parent = id,
                          .u.step = { .step = (uint32_t) i + 1, .total = 10, .sigma = 3.5 - i } });
        end(h, t + 10000, id++, 0);
        t += 10000;
    }
    end(h, t, 2, 0);
    end(h, t + 5, 1, 0);
}

static void shaped(nino_history *h, uint64_t t, uint64_t ns, uint32_t shape)
{
    add(h, (nino_event){ .t_ns = t,
                         .kind = NINO_EV_KERNEL,
                         .track = 256,
                         .name = 6,
                         .u.kernel = { .dur_ns = ns, .family = 6, .shape = shape } });
}

// A row for every shape; together they are the kernel.
static void test_shapes(void)
{
    nino_history *h = nino_history_create(0);
    nino_op_stat op[8];
    for (uint64_t i = 0; i < 12; i++)
        shaped(h, 1000 + i * 100, i % 3 == 2 ? 50 : 10, i % 3 == 2 ? 9 : i % 3 ? 0 : 4);
    nino_stats *s = nino_history_shape_stats(h, 1000, 1000 + 900);
    CHECK(s && nino_stats_ops(s, op, 8) == 3);
    CHECK_STR(op[0].name, "conv2d read");
    CHECK_STR(op[0].family, "conv2d");
    CHECK(op[0].calls == 3 && op[0].total_ns == 150 && op[0].min_ns == 50);
    CHECK(op[1].calls == 3 && op[2].calls == 3 && op[1].total_ns + op[2].total_ns == 60);
    CHECK(!strcmp(op[1].name, "conv2d") != !strcmp(op[2].name, "conv2d"));
    nino_stats_destroy(&s);
    nino_history_destroy(&h);
}

// A row for every work size, whatever was requested; without one the kernel by its name.
static void test_work(void)
{
    nino_history *h = nino_history_create(0);
    nino_op_stat op[8];
    for (uint64_t i = 0; i < 12; i++)
        add(h, (nino_event){ .t_ns = 1000 + i * 100,
                             .kind = NINO_EV_KERNEL,
                             .track = 256,
                             .name = 6,
                             .id = nino_kernel_id(16, i % 4 < 3 ? 10 + (uint32_t) i % 4 : 0),
                             .u.kernel = { .dur_ns = 10 + i % 4, .family = 6, .bytes = 1 } });
    add(h, (nino_event){ .t_ns = 5000,
                         .kind = NINO_EV_TRANSFER,
                         .track = 256,
                         .name = 9,
                         .u.kernel.dur_ns = 1 });
    nino_stats *s = nino_history_work_stats(h, 1000, 6000);
    CHECK(s && nino_stats_ops(s, op, 8) == 4);
    CHECK_STR(op[0].name, "conv2d 64x2x1/16x1x1"); // two sums of bytes, one size
    CHECK(op[0].calls == 6 && op[0].total_ns == 63 && op[0].requested == 3 * 700 + 3 * 800);
    CHECK_STR(op[1].name, "conv2d");
    CHECK(op[1].calls == 3 && isnan(op[1].requested));
    CHECK_STR(op[2].name, "conv2d 64x2x1/");
    CHECK_STR(op[3].name, "read");
    nino_stats_destroy(&s);
    CHECK(nino_history_bits(h, nino_history_find(h, "conv2d")) == 16);
    nino_history_destroy(&h);
}

static void test_queries(void)
{
    nino_history *h = nino_history_create(0);
    a_run(h);
    const uint32_t gn = nino_history_find(h, "gn");
    nino_op_stat op[4];
    nino_perf_stats perf;
    nino_stats *s = nino_history_range_stats(h, 0, UINT64_MAX);
    CHECK(nino_stats_ops(s, op, 4) == 2 && op[0].calls == 10 && op[0].total_ns == 5218);
    nino_stats_perf(s, &perf);
    CHECK(perf.total_executions == 1);
    nino_stats_destroy(&s);
    s = nino_history_range_stats(h, 11000, 31000); // steps 1 and 2
    CHECK(nino_stats_ops(s, op, 4) == 2 && op[0].calls == 2 && op[0].total_ns == 200);
    CHECK_STR(op[0].name, "conv2d");
    nino_node_stat node;
    CHECK(nino_stats_nodes(s, &node, 1) == 1 && node.kernel_ns == 243 && node.calls == 0);
    nino_stats_destroy(&s);

    nino_event call[3];
    CHECK(nino_history_calls(h, gn, 0, UINT64_MAX, call, 3) == 10);
    CHECK(call[0].u.kernel.dur_ns == 5000 && call[1].u.kernel.dur_ns == 29);
    CHECK(nino_history_calls(h, 0, 0, UINT64_MAX, NULL, 0) == 20);
    nino_histogram hist;
    CHECK_OK(nino_history_histogram(h, gn, 0, UINT64_MAX, &hist, &err), err);
    CHECK(hist.calls == 10 && hist.min_ns == 20 && hist.max_ns == 5000 && hist.outliers == 1);
    CHECK(hist.p50_ns == 24.5 && hist.bin[NINO_HISTOGRAM_BINS - 1] == 1);
    uint64_t sum = 0;
    for (int i = 0; i < NINO_HISTOGRAM_BINS; i++)
        sum += hist.bin[i];
    CHECK(sum == 10);
    CHECK_OK(nino_history_histogram(h, gn, 5, 6, &hist, &err), err);
    CHECK(hist.calls == 0);

    nino_flame *f = NULL;
    size_t n = 0;
    CHECK_OK(nino_history_flame(h, 0, UINT64_MAX, true, &f, &n, &err), err);
    CHECK(n == 5 && f[0].kind == NINO_EV_JOB && f[0].ns == 6218 && f[0].parent == -1);
    CHECK(f[2].kind == NINO_EV_STEP && f[2].calls == 10 && f[2].depth == 2 && f[2].parent == 1);
    CHECK(f[3].name == gn && f[3].ns == 5218 && f[3].calls == 10 && f[3].parent == 2);
    CHECK(f[4].ns == 1000 && f[4].kind == NINO_EV_KERNEL);
    free(f);
    CHECK_OK(nino_history_flame(h, 11000, 31000, false, &f, &n, &err), err);
    CHECK(n == 3 && f[0].ns == 20000 && f[2].ns == 19998 && f[2].calls == 2);
    free(f);
    nino_history_destroy(&h);
}

// More than fits: the newer half stays, in every list, and the scopes still nest.
static void test_bounded(void)
{
    nino_history *h = nino_history_create(1000);
    begin(h, 10, NINO_EV_JOB, 1, 1, 0);
    begin(h, 11, NINO_EV_NODE, 2, 2, 1);
    add(h, memory(12, NINO_MEM_ARENA, 1, 0, 1 << 20, 0));
    add(h, memory(13, NINO_MEM_ALLOC, 1, 512, 256, 256)); // stays all the time
    uint32_t id = 3;
    for (uint64_t t = 100; t < 100000; t += 100, id++) {
        begin(h, t, NINO_EV_STEP, 3, id, 2);
        kernel(h, t + 10, 50, 6, id);
        add(h, memory(t + 20, NINO_MEM_ALLOC, 1, 4096, 1024, 1280));
        add(h, memory(t + 70, NINO_MEM_FREE, 1, 4096, 1024, 256));
        end(h, t + 90, id, 0);
    }
    size_t n_spans, n_slices, n_mem;
    const nino_span *s = nino_history_spans(h, &n_spans);
    nino_history_slices(h, 256, &n_slices);
    nino_history_points(h, NINO_EV_MEM, &n_mem);
    CHECK(n_spans + n_slices + n_mem <= 1000 && n_slices > 100 && n_mem > 200);
    CHECK(nino_history_dropped(h) + n_spans + n_slices + n_mem == nino_history_count(h) - 999);
    CHECK(s[0].kind == NINO_EV_JOB && s[1].kind == NINO_EV_NODE);
    for (size_t i = 2; i < n_spans; i++)
        CHECK(s[i].parent == 1 && nino_history_span_of(h, s[i].id) == (int32_t) i);
    uint64_t busy[NINO_HISTORY_FAMILIES];
    nino_history_busy(h, 256, 0, UINT64_MAX / 2, busy);
    CHECK(busy[0] == 50 * n_slices);
    nino_pool_map m; // at the first moment that is kept, and now
    CHECK_OK(nino_history_pool(h, nino_history_begin(h), &m, &err), err);
    CHECK(m.arena[0].bytes == 1 << 20 && m.block[1].offset == 512 && m.block[1].since_ns == 13);
    nino_pool_map_release(&m);
    CHECK_OK(nino_history_pool(h, UINT64_MAX, &m, &err), err);
    CHECK(m.arena[0].used == 256);
    nino_pool_map_release(&m);
    nino_op_stat op;
    CHECK(nino_stats_ops(nino_history_stats(h), &op, 1) == 1 && op.calls == 999); // all of them
    nino_history_destroy(&h);
}

static nino_history *kept;
static nino_trace *written;

static void both(const nino_event *ev)
{
    nino_history_add(kept, ev, 1, name_of, NULL);
    nino_trace_add(written, ev, 1, name_of, NULL);
}

static void test_trace(const char *path)
{
    nino_history *h = nino_history_create(0), *r = nino_history_create(0);
    nino_trace *t = nino_trace_create(path, &err);
    CHECK(t);
    kept = h;
    written = t;
    both(&(nino_event){ .t_ns = 2000, .kind = NINO_EV_JOB, .name = 1, .id = 1 });
    both(&(nino_event){
        .t_ns = 2001, .kind = NINO_EV_NODE, .name = 2, .id = 2, .parent = 1, .u.scope = { 3, 4 } });
    both(&(nino_event){ .t_ns = 2002, .kind = NINO_EV_STAGE, .name = 4, .id = 3, .track = 5 });
    nino_event e = memory(2003, NINO_MEM_ALLOC, 3, 512, 256, 256);
    both(&e);
    both(&(nino_event){ .t_ns = 2010,
                        .kind = NINO_EV_KERNEL,
                        .track = 258,
                        .name = 6,
                        .id = nino_kernel_id(16, 10),
                        .parent = 2,
                        .sub = 3,
                        .u.kernel = { .dur_ns = 100,
                                      .queued_us = 7,
                                      .submitted_us = 3,
                                      .flops = 1e9,
                                      .bytes = 1e6,
                                      .family = 5,
                                      .shape = 7 } });
    both(&(nino_event){ .t_ns = 2020,
                        .kind = NINO_EV_TILE_INFO,
                        .parent = 2,
                        .u.tile = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 } });
    both(&(nino_event){
        .t_ns = 2021, .kind = NINO_EV_SEAM, .u.seam = { 0.5f, 2.25f, 0.125f, 7, 1000, 100 } });
    both(&(nino_event){ .t_ns = 2022,
                        .kind = NINO_EV_STEP_INFO,
                        .parent = 2,
                        .u.step = { 1, 20, 14.6, 0.25, (double) NAN, 0, 0 } });
    both(&(nino_event){ .t_ns = 2023,
                        .kind = NINO_EV_DEVICE,
                        .track = 4,
                        .u.sample = { { NINO_COUNTER_GPU_BUSY, NINO_COUNTER_GPU_CLOCK,
                                        NINO_COUNTER_GTT_USED, NINO_COUNTER_GPU_POWER },
                                      { (double) NAN, 2900.125, 1ull << 40, 0 } } });
    both(&(nino_event){
        .t_ns = 2023,
        .kind = NINO_EV_HOST,
        .u.sample = { { NINO_COUNTER_PROCESS_RAM, NINO_COUNTER_GTT_OTHERS, NINO_COUNTER_GTT_TOTAL },
                      { 12345678, 4096, 1 << 30 } } });
    both(&(nino_event){ .t_ns = 2024,
                        .kind = NINO_EV_CACHE,
                        .sub = NINO_CACHE_FILE,
                        .name = 9,
                        .u.scope.arg0 = 1 });
    both(&(nino_event){
        .t_ns = 2025, .kind = NINO_EV_MESSAGE, .name = 9, .u.scope.arg0 = NINO_LOG_WARN });
    both(&(nino_event){ .t_ns = 2030, .kind = NINO_EV_END, .id = 3, .track = 5 });
    both(&(nino_event){ .t_ns = 2040, .kind = NINO_EV_END, .id = 2, .u.scope.arg0 = 9 });
    both(&(nino_event){ .t_ns = 2050, .kind = NINO_EV_END, .id = 1 });
    CHECK_OK(nino_trace_finish(&t, &err), err);
    CHECK_OK(nino_history_load(r, path, &err), err);
    size_t n, m;
    const nino_span *a = nino_history_spans(h, &n), *b = nino_history_spans(r, &m);
    CHECK(n == 3 && m == 3);
    for (size_t i = 0; i < n; i++) {
        CHECK(a[i].begin_ns == b[i].begin_ns && a[i].end_ns == b[i].end_ns);
        CHECK(a[i].kind == b[i].kind && a[i].parent == b[i].parent && a[i].track == b[i].track);
        CHECK(a[i].arg0 == b[i].arg0 && a[i].arg1 == b[i].arg1 && a[i].status == b[i].status);
        CHECK_STR(nino_history_name(r, b[i].name), nino_history_name(h, a[i].name));
    }
    const nino_event *x = nino_history_slices(h, 258, &n), *y = nino_history_slices(r, 258, &m);
    CHECK(n == 1 && m == 1 && x->t_ns == y->t_ns && x->sub == y->sub);
    CHECK(nino_kernel_bits(x) == 16 && nino_kernel_bits(y) == 16);
    CHECK_STR(nino_history_name(r, nino_kernel_launch(y)), LAUNCH);
    CHECK_STR(nino_history_name(h, nino_kernel_launch(x)), LAUNCH);
    CHECK(x->parent == y->parent && x->u.kernel.dur_ns == y->u.kernel.dur_ns);
    CHECK(y->u.kernel.queued_us == 7 && y->u.kernel.submitted_us == 3);
    CHECK_STR(nino_history_name(r, y->u.kernel.shape), "norm");
    const nino_event_kind kinds[] = { NINO_EV_MEM, NINO_EV_TILE_INFO, NINO_EV_SEAM,
                                      NINO_EV_STEP_INFO, NINO_EV_CACHE };
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        x = nino_history_points(h, kinds[k], &n);
        y = nino_history_points(r, kinds[k], &m);
        CHECK(n == 1 && m == 1 && x->sub == y->sub && x->id == y->id && x->parent == y->parent);
        CHECK(x->t_ns == y->t_ns);
        CHECK_STR(nino_history_name(r, y->name), nino_history_name(h, x->name));
        CHECK(isnan(x->u.step.eta_s) || !memcmp(x->u.pad, y->u.pad, sizeof(x->u.pad)));
    }
    y = nino_history_points(r, NINO_EV_STEP_INFO, &m);
    CHECK(y->u.step.sigma == 14.6 && isnan(y->u.step.eta_s));
    static const double told[][2] = {
        { NINO_COUNTER_GPU_BUSY, (double) NAN },  { NINO_COUNTER_GPU_CLOCK, 2900.125 },
        { NINO_COUNTER_GTT_USED, 1ull << 40 },    { NINO_COUNTER_GPU_POWER, 0 },
        { NINO_COUNTER_PROCESS_RAM, 12345678 },   { NINO_COUNTER_GTT_OTHERS, 4096 },
        { NINO_COUNTER_VRAM_USED, (double) NAN }, // was not told
    };
    for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
        const nino_reading *g = nino_history_counter(r, (nino_counter_id) told[i][0], &m);
        CHECK(m == 1 && g->t_ns == 2023);
        CHECK(isnan(told[i][1]) ? isnan(g->value) : g->value == told[i][1]);
    }
    y = nino_history_points(r, NINO_EV_MESSAGE, &m);
    CHECK(m == 1 && y->u.scope.arg0 == NINO_LOG_WARN);
    CHECK_STR(nino_history_name(r, y->name), "read");
    CHECK(nino_history_load(r, "/nowhere/t.json", &err) == NINO_ERR_MISSING);
    nino_history_destroy(&h);
    nino_history_destroy(&r);
}

// Two samples of one time, of several records each, are the same after saving and loading.
static void test_samples(void)
{
    char path[] = "/tmp/nino-samples-XXXXXX";
    const int fd = mkstemp(path);
    nino_event ev[NINO_SAMPLE_RECORDS];
    nino_history *h = nino_history_create(0), *r = nino_history_create(0);
    nino_sample s;
    CHECK(fd >= 0 && close(fd) == 0);
    for (int k = 0; k < 2; k++) {
        nino_sample_clear(&s, k ? NINO_EV_HOST : NINO_EV_DEVICE);
        s.t_ns = 5000;
        for (unsigned id = 1; id < NINO_COUNTER_END; id++)
            s.value[id] = id;
        const size_t n = nino_sample_write(&s, ev);
        for (size_t i = 0; i < n; i++)
            add(h, ev[i]);
    }
    CHECK_OK(nino_history_save(h, path, &err), err);
    CHECK_OK(nino_history_load(r, path, &err), err);
    for (unsigned id = 1; id < NINO_COUNTER_END; id++) {
        size_t n;
        const nino_reading *g = nino_history_counter(r, (nino_counter_id) id, &n);
        CHECK(n == 1 && g->t_ns == 5000 && g->value == id);
    }
    size_t n;
    const nino_reading *g = nino_history_counter(h, NINO_COUNTER_GPU_BUSY, &n);
    CHECK(nino_reading_lower(g, n, 5000) == 0 && nino_reading_lower(g, n, 5001) == 1);
    CHECK(!nino_history_counter(h, NINO_COUNTER_NONE, &n) && n == 0);
    remove(path);
    nino_history_destroy(&h);
    nino_history_destroy(&r);
}

// Samples of an idle device neither begin nor prolong what is shown.
static void test_idle(void)
{
    nino_history *h = nino_history_create(0);
    nino_event ev = { .kind = NINO_EV_DEVICE, .t_ns = 100 };
    add(h, ev);
    CHECK(nino_history_begin(h) == 100 && nino_history_end(h) == 100);
    add(h, (nino_event){ .kind = NINO_EV_JOB, .t_ns = 5000, .id = 1, .track = 1 });
    CHECK(nino_history_begin(h) == 5000 && nino_history_end(h) == 5000);
    ev.t_ns = 6000;
    add(h, ev); // at work
    CHECK(nino_history_end(h) == 6000);
    add(h, (nino_event){ .kind = NINO_EV_END, .t_ns = 7000, .id = 1, .track = 1 });
    ev.t_ns = 9000;
    add(h, ev);
    ev.kind = NINO_EV_HOST;
    add(h, ev);
    CHECK(nino_history_begin(h) == 5000 && nino_history_end(h) == 7000);
    nino_history_destroy(&h);
}

// Notes: at most one a moment, changed and taken away, kept in the file.
static void test_notes(void)
{
    nino_error e;
    size_t n;
    nino_history *h = nino_history_create(0), *again = nino_history_create(0);
    char path[] = "/tmp/nino-notes-XXXXXX";
    const int fd = mkstemp(path);
    CHECK(fd >= 0 && !close(fd));
    kernel(h, 5000, 3000, 8, 0);
    CHECK(nino_history_note(h, 7000, "here it waits") && nino_history_note(h, 6000, "first"));
    CHECK(nino_history_note(h, 7000, "here \"it\" slept"));
    CHECK(!nino_history_note(h, 0, "never") && nino_history_note(h, 6500, ""));
    const nino_event *ev = nino_history_points(h, NINO_EV_NOTE, &n);
    CHECK(n == 2 && ev[0].t_ns == 6000 && ev[1].t_ns == 7000);
    CHECK_STR(nino_history_name(h, ev[1].name), "here \"it\" slept");
    CHECK_OK(nino_history_save(h, path, &e), e);
    CHECK_OK(nino_history_load(again, path, &e), e);
    ev = nino_history_points(again, NINO_EV_NOTE, &n);
    CHECK(n == 2 && ev[1].t_ns - ev[0].t_ns == 1000);
    CHECK_STR(nino_history_name(again, ev[1].name), "here \"it\" slept");
    CHECK(nino_history_note(h, 6000, NULL));
    nino_history_points(h, NINO_EV_NOTE, &n);
    CHECK(n == 1);
    CHECK(!unlink(path));
    nino_history_destroy(&h);
    nino_history_destroy(&again);
}

int main(void)
{
    char dir[] = "/tmp/ninodes-history-XXXXXX", path[64];
    CHECK(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/t.json.gz", dir);
    test_spans();
    test_busy();
    test_idle();
    test_samples();
    test_memory_peaks();
    test_pool();
    test_restart();
    test_pool_replayed();
    test_shapes();
    test_work();
    test_queries();
    test_bounded();
    test_trace(path);
    unlink(path);
    rmdir(dir);
    test_notes();
    return 0;
}
