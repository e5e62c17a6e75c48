// nino_bench: its statistics, files and comparisons, and a few samples on the reference backend.
#include "core/op/op.h"
#include "tests/test.h"
#include <ninodes/bench.h>

#include <math.h>

static char dir[64];

static void test_statistics(void)
{
    const double s[] = { 1, 2, 3, 4, 5 }, r[] = { 10, 10, 10, 10, 10 };
    nino_bench_case c = { .flops = 6e9, .bytes = 3e9 };
    nino_bench_fill(&c, s, r, 5);
    CHECK(c.n == 5 && c.mean_s == 3 && c.median_s == 3 && c.min_s == 1);
    CHECK(fabs(c.sigma_s - sqrt(2.5)) < 1e-12);
    // t(0.975, 4) = 2.776445
    CHECK(fabs(c.high_s - 3 - 2.776445 * sqrt(2.5 / 5)) < 1e-5 && c.low_s < 3);
    CHECK(fabs(c.ratio - 10) < 1e-12 && c.ratio_sigma < 1e-12 && c.ratio_low > 9.99);
    CHECK(c.gflops == 2 && c.gbps == 1 && isnan(c.peak_percent));
    nino_bench_fill(&c, s, r, 1);
    CHECK(c.mean_s == 1 && isnan(c.sigma_s) && isnan(c.low_s));
}

static void test_compare(void)
{
    const double a[] = { 1.00, 1.01, 0.99, 1.02 }, b[] = { 1.10, 1.12, 1.11, 1.09 };
    nino_bench_case x = { .n = 0 }, y = { .n = 0 };
    double percent, p;
    nino_bench_fill(&x, a, a, 4);
    nino_bench_fill(&y, b, b, 4);
    nino_bench_compare(&x, &y, &percent, &p);
    CHECK(fabs(percent - 100 * (1.105 / 1.005 - 1)) < 0.01 && p < 0.001);
    nino_bench_compare(&x, &x, &percent, &p);
    CHECK(fabs(percent) < 1e-9 && p > 0.99);
}

static void test_files(void)
{
    nino_error err;
    char path[200];
    const double s[] = { 0.5, 0.75 };
    nino_bench_case c[2] = { { .name = "a \"case\"", .flops = 1e9 }, { .name = "b" } };
    nino_bench_fill(&c[0], s, s, 2);
    nino_bench_fill(&c[1], s, s, 1);
    nino_bench_result r = { .device = "D",
                            .driver = "1",
                            .platform = "P",
                            .version = "0",
                            .compute_units = 7,
                            .measured_at = 99,
                            .load = 1.5,
                            .yardstick_s = 1e-3,
                            .n_cases = 2,
                            .cases = c },
                      t;
    snprintf(path, sizeof(path), "%s/r.json", dir);
    CHECK_OK(nino_bench_save(path, &r, &err), err);
    CHECK_OK(nino_bench_load(path, &t, &err), err);
    CHECK(t.n_cases == 2 && t.compute_units == 7 && t.measured_at == 99 && t.load == 1.5);
    CHECK_STR(t.device, "D");
    CHECK_STR(t.cases[0].name, c[0].name);
    CHECK(fabs(t.cases[0].ratio / c[0].ratio - 1) < 1e-8 && t.cases[0].n == 2 &&
          fabs(t.cases[0].gflops / c[0].gflops - 1) < 1e-8);
    CHECK(isnan(t.cases[1].sigma_s) && isnan(t.cases[1].gflops));
    nino_bench_release(&t);
    static const char *const bad[] = {
        "", "{}", "{\"bench\":2,\"measured_at\":1,\"cases\":[]}",
        "{\"bench\":1,\"measured_at\":1,\"cases\":[{\"name\":\"a\"}]}",
        "{\"bench\":1,\"measured_at\":1,\"cases\":[{\"n\":3,"
        "\"ratio\":1}]}"
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        FILE *f = fopen(path, "w");
        CHECK(f && fputs(bad[i], f) >= 0);
        fclose(f);
        CHECK(nino_bench_load(path, &t, &err) != NINO_OK && err.where[0]);
    }
    snprintf(path, sizeof(path), "%s/none.json", dir);
    CHECK(nino_bench_load(path, &t, &err) == NINO_ERR_MISSING || err.code == NINO_ERR_IO);
}

static void test_run(void)
{
    nino_error err;
    nino_bench_result r;
    nino_bench_params p = {
        NINO_BENCH_PARAMS_INIT, .device = "ref", .cache_dir = dir, .filter = "group_norm",
        .samples = 2,           .warmup = 1,     .quick = 1
    };
    CHECK_OK(nino_bench(&p, &r, &err), err);
    CHECK(r.n_cases == 1 && r.yardstick_s > 0 && r.cases[0].n == 2);
    CHECK(strstr(r.cases[0].name, "group_norm") && r.cases[0].ratio > 0 && r.cases[0].mean_s > 0);
    CHECK(r.cases[0].low_s <= r.cases[0].mean_s && r.cases[0].bytes > 0);
    nino_bench_release(&r);
    p.filter = "no such case";
    CHECK(nino_bench(&p, &r, &err) == NINO_ERR_UNKNOWN);
    CHECK_STR(err.where, p.filter);
    p.device = "cl:77";
    CHECK(nino_bench(&p, &r, &err) == NINO_ERR_UNKNOWN);
    p.samples = 1 << 20;
    CHECK(nino_bench(&p, &r, &err) == NINO_ERR_RANGE);
    double seconds = 0;
    CHECK_OK(nino_bench_yardstick("ref", &r, &seconds, &err), err);
    CHECK(seconds > 0 && r.yardstick_s == seconds);
    CHECK(strstr(r.device, "reference"));
}

int main(void)
{
    snprintf(dir, sizeof(dir), "/tmp/nino-bench-XXXXXX");
    CHECK(mkdtemp(dir));
    test_statistics();
    test_compare();
    test_files();
    test_run();
    char cmd[100];
    snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
    CHECK(system(cmd) == 0);
    return 0;
}
