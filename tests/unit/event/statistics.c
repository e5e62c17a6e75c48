// The table of statistics: every row against a case worked out by hand, what nothing is known of, and
// which of them are shown.
#include <ninodes/statistics.h>
#include "tests/test.h"

#include <math.h>

static const char *const names[] = { "",     "conv2d",      "conv",        "cast_f16",
                                     "move", "3 VAEDecode", "expand_q8_0", "gemm",
                                     "flux", "other",       "load",        "4x8" };
enum { CONV = 1, CAST = 3, NODE = 5, EXPAND = 6, FLUX = 8, OTHER = 9, LOAD = 10, SHAPE = 11 };

static const char *name_of(void *priv, uint32_t id)
{
    (void) priv;
    return id < sizeof(names) / sizeof(names[0]) ? names[id] : "";
}

static void add(nino_stats *s, nino_event e) { nino_stats_add(s, &e, 1, name_of, NULL); }

static void kernel(nino_stats *s, uint32_t name, uint64_t ns, unsigned bits, double bytes)
{
    add(s, (nino_event){ .kind = NINO_EV_KERNEL,
                         .name = name,
                         .parent = 7,
                         .id = nino_kernel_id(bits, 0),
                         .u.kernel = { .dur_ns = ns,
                                       .bytes = bytes,
                                       .family = name == CAST ? 4u : 2u,
                                       .shape = SHAPE } });
}

static void node(nino_stats *s, uint32_t id, uint64_t from_ns, uint64_t ns)
{
    add(s, (nino_event){ .kind = NINO_EV_NODE, .name = NODE, .id = id, .t_ns = from_ns });
    add(s, (nino_event){ .kind = NINO_EV_END, .id = id, .t_ns = from_ns + ns });
}

static void job(nino_stats *s, uint32_t name, uint64_t ns, uint32_t status)
{
    static uint64_t now = 1000;
    static uint32_t id = 1000;
    add(s, (nino_event){ .kind = NINO_EV_JOB, .name = name, .id = ++id, .t_ns = now });
    now += ns;
    add(s, (nino_event){ .kind = NINO_EV_END, .id = id, .t_ns = now, .u.scope.arg0 = status });
}

static void memory(nino_stats *s, uint8_t op, uint64_t bytes, uint64_t in_use, bool is_hit)
{
    nino_event e = { .kind = NINO_EV_MEM, .sub = op };
    e.u.mem.bytes = bytes;
    e.u.mem.in_use = in_use;
    e.u.mem.is_hit = is_hit;
    add(s, e);
}

static void transfer(nino_stats *s, uint8_t sub, double bytes)
{
    add(s, (nino_event){ .kind = NINO_EV_TRANSFER,
                         .sub = sub,
                         .name = LOAD,
                         .u.kernel = { .dur_ns = 10, .bytes = bytes } });
}

static void chunk(nino_stats *s, uint32_t order, uint32_t frames, uint64_t ns)
{
    nino_event e = { .kind = NINO_EV_CHUNK };
    e.u.chunk.order = order;
    e.u.chunk.frames = frames;
    e.u.chunk.ns = ns;
    add(s, e);
}

static void clip(nino_stats *s, uint32_t frames, uint64_t ns, uint32_t n_borders, float border)
{
    nino_event e = { .kind = NINO_EV_CLIP };
    e.u.clip.frames = frames;
    e.u.clip.ns = ns;
    e.u.clip.n_borders = n_borders;
    e.u.clip.border = border;
    e.u.clip.limit = 4;
    add(s, e);
}

static void fill(nino_stats *s)
{
    // 5 jobs of one name: 2 older of 10 and 20 ns, 3 newer of 30, 45 and 40; others do not count
    job(s, FLUX, 10, 0);
    job(s, OTHER, 5000, 0);
    job(s, FLUX, 20, 0);
    job(s, FLUX, 9000, 1); // failed
    job(s, FLUX, 30, 0);
    job(s, FLUX, 45, 0);
    job(s, FLUX, 40, 0);
    // two runs of a node: 3 s and 1 s, the first waited 0.5 s for weights
    add(s, (nino_event){ .kind = NINO_EV_NODE, .name = NODE, .id = 7, .t_ns = 0 });
    kernel(s, CONV, 600, 16, 6000);
    kernel(s, CONV, 200, 32, 2000);
    kernel(s, CONV, 100, 8, 1000);
    kernel(s, CAST, 80, 16, 800);
    kernel(s, EXPAND, 20, 32, 200);
    add(s, (nino_event){ .kind = NINO_EV_ONCE, .parent = 7, .u.once.load_ns = 500000000 });
    add(s, (nino_event){ .kind = NINO_EV_END, .id = 7, .t_ns = 3000000000u });
    node(s, 8, 4000000000u, 1000000000);
    // 10 bytes/ns = 10 GB/s of 40
    add(s, (nino_event){ .kind = NINO_EV_CEILINGS, .u.ceilings.bandwidth = 40e9 });
    memory(s, NINO_MEM_BUDGET, 1000, 0, false);
    memory(s, NINO_MEM_ALLOC, 100, 100, false);
    memory(s, NINO_MEM_ALLOC, 300, 400, true);
    add(s, (nino_event){ .kind = NINO_EV_CACHE, .sub = NINO_CACHE_NODE, .u.scope.arg0 = 1 });
    add(s, (nino_event){ .kind = NINO_EV_CACHE, .sub = NINO_CACHE_PROGRAM, .u.scope.arg1 = 1 });
    transfer(s, NINO_TRANSFER_AHEAD, 300);
    transfer(s, NINO_TRANSFER_LATE, 100);
    // an encode, whose pieces end with no clip; then 2 tiles of a clip of 9 frames in 3 chunks that
    // share a frame each, borders at 3 of 4; a second clip in one piece
    chunk(s, 0, 100, 100000);
    add(s, (nino_event){ .kind = NINO_EV_NODE, .name = NODE, .id = 9, .t_ns = 6000000000u });
    for (int tile = 0; tile < 2; tile++) {
        chunk(s, 0, 4, 100);
        chunk(s, 1, 4, 100);
        chunk(s, 2, 4, 100);
    }
    clip(s, 9, 1000, 2, 3);
    chunk(s, 0, 5, 150);
    clip(s, 5, 200, 0, 100);
    nino_event seam = { .kind = NINO_EV_SEAM };
    seam.u.seam.pixels = 300;
    seam.u.seam.recomputed = 100;
    add(s, seam);
}

static const struct {
    const char *name;
    double value;
} want[] = {
    { "average_execution_time", 2 },
    { "longest_execution_time", 3 },
    { "total_executions", 2 },
    { "execution_trend", 40.0 / 15 - 1 }, // medians of 30, 45, 40 and of 10, 20
    { "cache_hit_rate", 2.0 / 3 },        // two requests and a result; the driver's program is none
    { "memory_efficiency", 300.0 / 400 },
    { "memory_use", 0.4 },
    { "total_memory_saves", 1 },
    { "precision_efficiency", 780.0 / 1000 },
    { "precision_share_32", 220.0 / 1000 },
    { "precision_share_16", 680.0 / 1000 },
    { "precision_share_8", 100.0 / 1000 },
    { "conversion_overhead", 100.0 / 1000 },
    { "conversion_time", 100e-9 },
    { "conversion_bytes", 1000 },
    { "total_precision_optimizations", 3 },
    { "bandwidth_utilisation", 0.25 },
    { "batch_efficiency", 1 }, // of one run: 4
    { "total_batch_optimizations", 1 },
    { "prefetch_efficiency", 0.75 },
    { "total_prefetch_hits", 1 },
    { "prefetch_late_bytes", 100 },
    { "weight_wait_time", 0.5 },
    { "video_efficiency", 750.0 / 1200 },
    { "total_video_optimizations", 7 },
    { "temporal_efficiency", (9 * 2 + 5) / 29.0 },
    { "temporal_consistency", 0.75 },
    { "total_temporal_optimizations", 2 },
    { "adaptive_efficiency", 0.75 },
    { "total_adaptive_adjustments", 1 },
    { "total_driver_programs", 1 },
};
enum { N_WANT = sizeof(want) / sizeof(want[0]) };

static void test_values(void)
{
    nino_stats *s = nino_stats_create();
    size_t n = 0;
    fill(s);
    for (const nino_statistic *t = nino_statistics(); t->name; t++, n++) {
        CHECK(n < N_WANT); // a row without a case
        CHECK_STR(t->name, want[n].name);
        const double v = t->value(s);
        if (!(fabs(v - want[n].value) <= 1e-9 * fabs(want[n].value)))
            printf("  %s: %.9g instead of %.9g\n", t->name, v, want[n].value);
        CHECK(fabs(v - want[n].value) <= 1e-9 * fabs(want[n].value));
        CHECK(nino_statistic_speaks(t, v));
        CHECK(*t->label && *t->definition && *t->formula && !strchr(t->formula, '\n'));
    }
    CHECK(n == N_WANT);
    nino_stats_destroy(&s);
}

static void test_empty(void)
{
    nino_stats *s = nino_stats_create();
    for (const nino_statistic *t = nino_statistics(); t->name; t++)
        if (strcmp(t->name, "total_executions") != 0)
            CHECK(!nino_statistic_speaks(t, t->value(s)));
    job(s, FLUX, 10, 0);
    job(s, FLUX, 10, 0);
    job(s, FLUX, 10, 0);
    for (const nino_statistic *t = nino_statistics(); t->name; t++)
        if (!strcmp(t->name, "execution_trend"))
            CHECK(isnan(t->value(s))); // of three nothing can be said
    nino_stats_destroy(&s);
}

int main(void)
{
    test_values();
    test_empty();
    CHECK_STR(nino_statistic_unit_text(NINO_STATISTIC_SHARE), "%");
    return 0;
}
