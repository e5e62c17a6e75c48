// Statistics: sums, percentiles, nodes with late kernels, memory, and every performance counter.
#include <ninodes/monitor.h>
#include "tests/test.h"

#include <math.h>

static const char *const names[] = { "",     "conv2d",           "conv",        "group_norm",
                                     "norm", "1 LoadVAE",        "2 VAEDecode", "4x64x64x128",
                                     "read", "64x1x1/8x1x1/300", "64x1x1//" };
static const char *name_of(void *priv, uint32_t id)
{
    (void) priv;
    return id < sizeof(names) / sizeof(names[0]) ? names[id] : "";
}

static nino_event kernel(uint32_t name, uint32_t parent, uint64_t ns, uint32_t bits)
{
    return (nino_event){
        .t_ns = 5,
        .kind = NINO_EV_KERNEL,
        .name = name,
        .parent = parent,
        .id = bits,
        .u.kernel = { .dur_ns = ns, .flops = 100, .bytes = 10, .family = name + 1, .shape = 7 }
    };
}

static void add(nino_stats *s, nino_event e) { nino_stats_add(s, &e, 1, name_of, NULL); }

static bool near(double a, double b, double tol) { return fabs(a - b) <= tol * fabs(b); }

static void test_empty(void)
{
    nino_stats *s = nino_stats_create();
    nino_op_stat o;
    nino_perf_stats p;
    nino_mem_stat m;
    CHECK(nino_stats_ops(s, &o, 1) == 0 && nino_stats_families(s, &o, 1) == 0);
    nino_stats_perf(s, &p);
    CHECK(isnan(p.average_execution_time) && isnan(p.cache_hit_rate) &&
          isnan(p.memory_efficiency) && isnan(p.precision_efficiency) &&
          isnan(p.batch_efficiency) && isnan(p.prefetch_efficiency));
    CHECK(p.total_executions == 0 && p.total_memory_saves == 0);
    nino_stats_memory(s, &m);
    CHECK(m.fragmentation == 0 && m.peak == 0);
    nino_stats_destroy(&s);
    CHECK(!s);
    nino_stats_destroy(&s);
}

// Of few calls a percentile lies between two, as the histogram of them has it.
static void test_few_calls(void)
{
    nino_stats *s = nino_stats_create();
    static const uint64_t ns[] = { 1000000, 3000000, 2000000, 10000000, 4000000 };
    nino_op_stat o;
    for (size_t i = 0; i < 5; i++) {
        add(s, kernel(1, 0, ns[i], 32));
        CHECK(nino_stats_ops(s, &o, 1) == 1);
        if (i == 1)
            CHECK(near(o.p50_ns, 2000000, 1e-9) && near(o.p95_ns, 2900000, 1e-9));
    }
    CHECK(near(o.p50_ns, 3000000, 1e-9) && near(o.p95_ns, 8800000, 1e-9));
    nino_stats_destroy(&s);
}

// Of very many, which are not kept, it is as near as the bins are wide.
static void test_many_calls(void)
{
    nino_stats *s = nino_stats_create();
    nino_op_stat o;
    for (uint64_t i = 0; i < 40000; i++)
        add(s, kernel(1, 0, 100000 + i * 7919 % 40000, 32));
    CHECK(nino_stats_ops(s, &o, 1) == 1);
    CHECK(near(o.p50_ns, 120e3, 0.02) && near(o.p95_ns, 138e3, 0.02));
    nino_stats_destroy(&s);
}

static void test_ops(void)
{
    nino_stats *s = nino_stats_create();
    double sum = 0, sum2 = 0;
    for (uint64_t i = 1; i <= 1000; i++) { // 1..1000 us
        add(s, kernel(1, 0, i * 1000, 32));
        sum += (double) i * 1000;
        sum2 += (double) i * 1000 * (double) i * 1000;
    }
    add(s, kernel(3, 0, 7, 32));
    nino_op_stat o[4];
    CHECK(nino_stats_ops(s, o, 4) == 2);
    CHECK_STR(o[0].name, "conv2d");
    CHECK_STR(o[0].family, "conv");
    CHECK(o[0].calls == 1000 && o[0].min_ns == 1000 && o[0].max_ns == 1000000);
    CHECK(o[0].total_ns == (uint64_t) sum && near(o[0].mean_ns, sum / 1000, 1e-9));
    CHECK(near(o[0].sigma_ns, sqrt((sum2 - sum * sum / 1000) / 999), 1e-6));
    CHECK(near(o[0].p50_ns, 500.5e3, 1e-9) && near(o[0].p95_ns, 950.05e3, 1e-9));
    CHECK(o[0].flops == 100e3 && near(o[0].gflops, 100e3 / sum, 1e-9));
    CHECK(near(o[0].gbps, 10e3 / sum, 1e-9));
    CHECK(o[1].calls == 1 && o[1].p50_ns == 7 && o[1].p95_ns == 7 && o[1].sigma_ns == 0);
    CHECK(nino_stats_ops(s, o, 1) == 2); // says how many there are
    CHECK(nino_stats_families(s, o, 4) == 2);
    CHECK_STR(o[0].name, "conv");
    CHECK(o[0].calls == 1000 && near(o[0].p95_ns, 950e3, 0.02));
    // a transfer is a family of its own
    add(s, (nino_event){ .kind = NINO_EV_TRANSFER, .name = 8, .u.kernel.dur_ns = 5000000000u });
    CHECK(nino_stats_families(s, o, 4) == 3);
    CHECK_STR(o[0].name, "transfer");
    nino_stats_destroy(&s);
}

// What was requested adds up where it is known of every call that has bytes.
static void test_requested(void)
{
    nino_stats *s = nino_stats_create();
    nino_op_stat o[4];
    nino_event e = kernel(1, 0, 20, nino_kernel_id(16, 9));
    add(s, e);
    add(s, e);
    e.u.kernel.bytes = 0; // a helper
    e.id = nino_kernel_id(16, 10);
    add(s, e);
    CHECK(nino_stats_ops(s, o, 4) == 1 && o[0].requested == 600 && o[0].bytes == 20);
    CHECK(nino_stats_families(s, o, 4) == 1 && o[0].requested == 600);
    nino_perf_stats p;
    nino_stats_perf(s, &p);
    CHECK(p.total_precision_optimizations == 3);
    e.u.kernel.bytes = 1;
    add(s, e);
    CHECK(nino_stats_ops(s, o, 4) == 1 && isnan(o[0].requested));
    nino_stats_destroy(&s);
}

static const char *swapped(void *priv, uint32_t id)
{
    (void) priv;
    return id == 1 ? "group_norm" : id == 2 ? "norm" : "";
}

static const char *compiling(void *priv, uint32_t id)
{
    (void) priv;
    return id == 1 ? "3 CLIPTextEncode" : id == 2 ? "compile gemm" : id == 3 ? "encode" : "";
}

// Kernels that are prepared are in the time of no node, while it lasts and afterwards.
static void test_preparing(void)
{
    const nino_event ev[] = {
        { .t_ns = 100, .kind = NINO_EV_JOB, .id = 1 },
        { .t_ns = 1000, .kind = NINO_EV_NODE, .id = 2, .parent = 1, .name = 1 },
        { .t_ns = 1100, .kind = NINO_EV_STAGE, .id = 3, .parent = 2, .name = 3 },
        { .t_ns = 1200, .kind = NINO_EV_STAGE, .id = 4, .parent = 3, .name = 2 },
        { .t_ns = 6200, .kind = NINO_EV_MESSAGE },
        { .t_ns = 9200, .kind = NINO_EV_END, .id = 4 },
        { .t_ns = 9300, .kind = NINO_EV_STAGE, .id = 5, .parent = 3, .name = 2 },
        { .t_ns = 9800, .kind = NINO_EV_END, .id = 5 },
        { .t_ns = 9900, .kind = NINO_EV_END, .id = 3 },
        { .t_ns = 10000, .kind = NINO_EV_END, .id = 2 },
    };
    nino_stats *s = nino_stats_create();
    nino_node_stat n;
    uint64_t programs;
    nino_stats_add(s, ev, 5, compiling, s);
    CHECK(nino_stats_nodes(s, &n, 1) == 1 && n.ns == 200);
    CHECK(nino_stats_preparing(s, &programs) == 5000 && programs == 1);
    nino_stats_add(s, ev + 5, 5, compiling, s);
    CHECK(nino_stats_nodes(s, &n, 1) == 1 && n.ns == 9000 - 8500);
    CHECK(nino_stats_preparing(s, &programs) == 8500 && programs == 2);
    nino_stats_destroy(&s);
}

// Two runs number their names differently.
static void test_sources(void)
{
    nino_stats *s = nino_stats_create();
    add(s, kernel(1, 0, 10, 0));
    const nino_event e = kernel(1, 0, 30, 0);
    nino_stats_add(s, &e, 1, swapped, &s);
    nino_op_stat o[4];
    CHECK(nino_stats_ops(s, o, 4) == 2);
    CHECK_STR(o[0].name, "group_norm");
    CHECK_STR(o[0].family, "norm");
    nino_stats_destroy(&s);
}

static nino_event mem(uint8_t sub, unsigned owner, uint64_t bytes, uint64_t in_use, uint32_t use,
                      int hit)
{
    return (nino_event){ .t_ns = 5,
                         .kind = NINO_EV_MEM,
                         .sub = sub,
                         .u.mem = { .bytes = bytes,
                                    .in_use = in_use,
                                    .reserved = 4096,
                                    .largest_free = 1024,
                                    .owner = (uint16_t) owner,
                                    .is_hit = (uint16_t) hit,
                                    .owner_use = use } };
}

static void test_nodes(void)
{
    nino_stats *s = nino_stats_create();
    add(s, (nino_event){ .t_ns = 100, .kind = NINO_EV_JOB, .id = 1 });
    add(s, (nino_event){ .t_ns = 100, .kind = NINO_EV_NODE, .id = 2, .parent = 1, .name = 5 });
    add(s, mem(NINO_MEM_ALLOC, NINO_OWN_WEIGHTS, 1024, 1024, 4, 0));
    add(s, (nino_event){ .t_ns = 1100, .kind = NINO_EV_END, .id = 2 });
    const nino_event node = { .t_ns = 2000, .kind = NINO_EV_NODE, .id = 3, .parent = 1, .name = 6 };
    add(s, node);
    add(s, node); // a late viewer is told twice
    add(s, (nino_event){ .t_ns = 2000, .kind = NINO_EV_STAGE, .id = 4, .parent = 3 });
    add(s, mem(NINO_MEM_ALLOC, NINO_OWN_ACTIVATION, 2048, 3072, 8, 1));
    add(s, kernel(1, 4, 500, 16));
    add(s, mem(NINO_MEM_FREE, NINO_OWN_ACTIVATION, 2048, 1024, 0, 0));
    add(s, (nino_event){ .t_ns = 2500, .kind = NINO_EV_END, .id = 4 });
    add(s, kernel(1, 4, 300, 32)); // published after its stage has ended
    add(s, (nino_event){ .t_ns = 5000, .kind = NINO_EV_END, .id = 3 });
    add(s, (nino_event){ .t_ns = 5000, .kind = NINO_EV_END, .id = 99 }); // never announced
    nino_node_stat n[4];
    CHECK(nino_stats_nodes(s, n, 4) == 2);
    CHECK_STR(n[0].name, "1 LoadVAE");
    CHECK(n[0].ns == 1000 && n[0].mem_delta == 1024 && n[0].kernel_ns == 0);
    CHECK_STR(n[1].name, "2 VAEDecode");
    CHECK(n[1].ns == 3000 && n[1].kernel_ns == 800 && n[1].calls == 1);
    CHECK(n[1].mem_delta == 0 && n[1].mem_peak == 3072);

    add(s, (nino_event){ .t_ns = 6000, .kind = NINO_EV_NODE, .id = 7, .parent = 1, .name = 6 });
    add(s, (nino_event){ .t_ns = 6600, .kind = NINO_EV_MESSAGE });
    CHECK(nino_stats_nodes(s, n, 4) == 2 && n[1].ns == 3600 && n[1].calls == 1); // still running

    nino_mem_stat m;
    nino_stats_memory(s, &m);
    CHECK(m.allocs == 2 && m.hits == 1 && m.peak == 3072 && m.in_use == 1024);
    CHECK(m.by_owner[NINO_OWN_WEIGHTS] == 1024 && m.by_owner[NINO_OWN_ACTIVATION] == 0);
    CHECK(m.peak_by_owner[NINO_OWN_ACTIVATION] == 2048);
    CHECK(near(m.fragmentation, 1 - 1024.0 / 3072, 1e-9));

    nino_perf_stats p;
    nino_stats_perf(s, &p);
    CHECK(p.total_executions == 2 && near(p.average_execution_time, 2000e-9, 1e-9));
    CHECK(near(p.memory_efficiency, 2048.0 / 3072, 1e-9));
    CHECK(near(p.precision_efficiency, 500.0 / 800, 1e-9));
    CHECK(p.total_precision_optimizations == 1 && p.total_memory_saves == 1);
    CHECK(p.batch_efficiency == 1 && p.total_batch_optimizations == 1); // 4x64x64x128
    CHECK(near(p.cache_hit_rate, 0.5, 1e-9) && isnan(p.prefetch_efficiency));
    for (int i = 0; i < 3; i++)
        add(s, (nino_event){ .kind = NINO_EV_CACHE, .u.scope.arg0 = i < 2 });
    for (int i = 0; i < 4; i++) // the driver's own affair: neither hits nor misses
        add(s, (nino_event){ .kind = NINO_EV_CACHE, .sub = NINO_CACHE_PROGRAM, .u.scope.arg1 = 1 });
    add(s, (nino_event){ .kind = NINO_EV_TRANSFER,
                         .sub = NINO_TRANSFER_AHEAD,
                         .name = 8,
                         .u.kernel.bytes = 300 });
    add(s,
        (nino_event){ .kind = NINO_EV_TRANSFER, .sub = NINO_TRANSFER_LATE, .u.kernel.bytes = 100 });
    add(s, (nino_event){ .kind = NINO_EV_LOST, .u.lost = 12 });
    nino_stats_perf(s, &p);
    CHECK(near(p.cache_hit_rate, 3.0 / 5, 1e-9) && p.total_driver_programs == 4);
    CHECK(near(p.prefetch_efficiency, 0.75, 1e-9) && p.total_prefetch_hits == 1);
    CHECK(nino_stats_lost(s) == 12);
    nino_stats_destroy(&s);
}

static nino_event power(double seconds, double watt)
{
    return (nino_event){ .t_ns = (uint64_t) (seconds * 1e9),
                         .kind = NINO_EV_DEVICE,
                         .u.sample = { { NINO_COUNTER_GPU_POWER }, { watt } } };
}

static void test_energy(void)
{
    nino_energy_stat e;
    nino_stats *s = nino_stats_create();
    nino_stats_energy(s, &e);
    CHECK(isnan(e.joules) && isnan(e.last_joules) && e.jobs == 0);
    add(s, power(0.5, 10));
    add(s, (nino_event){ .t_ns = 1000000000, .kind = NINO_EV_JOB, .id = 9 });
    add(s, power(1.5, 20)); // 7.5 J since the job began
    add(s, power(1.7, NAN));
    add(s, power(2.5, 40)); // 30 J
    nino_stats_energy(s, &e);
    CHECK(near(e.joules, 37.5, 1e-12) && e.last_joules == e.joules && e.jobs == 0);
    add(s, (nino_event){ .t_ns = 3000000000, .kind = NINO_EV_END, .id = 9 }); // 20 J
    add(s, power(4, 500));                                                    // nothing runs
    nino_stats_energy(s, &e);
    CHECK(near(e.joules, 57.5, 1e-12) && near(e.seconds, 2, 1e-12) && e.jobs == 1);
    add(s, (nino_event){ .t_ns = 5000000000, .kind = NINO_EV_JOB, .id = 12 });
    add(s, power(8, 500)); // three seconds without a sample are not covered
    add(s, power(8.1f, 500));
    nino_stats_energy(s, &e);
    CHECK(near(e.last_joules, 50, 1e-3) && near(e.joules, 107.5, 1e-3));
    nino_stats_destroy(&s);
}

int main(void)
{
    test_energy();
    test_empty();
    test_ops();
    test_few_calls();
    test_many_calls();
    test_requested();
    test_sources();
    test_preparing();
    test_nodes();
    return 0;
}
