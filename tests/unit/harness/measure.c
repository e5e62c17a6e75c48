// Ceilings of a device: what is kept and found again, what is refused, what a profile makes of it,
// and a quick measurement where there is an OpenCL device.
#include "core/op/device/device.h"
#include "core/op/ceilings.h"
#include "core/harness/measure_first.h"
#include "tests/test.h"

#include <math.h>
#include <sys/stat.h>

static char dir[64];
static const nino_device_info dev = {
    .selector = "cl:0", .name = "Test / device", .driver = "1.2", .platform = "Unit tests"
};

static const char good[] =
    "{\"format\": 3, \"device\": \"Test / device\", \"driver\": \"1.2\", \"platform\": \"Unit "
    "tests\",\n"
    " \"measured_at\": 1700000000, \"flops_f32\": 2e12, \"flops_f16\": 0, \"bandwidth\": 1e11,\n"
    " \"launch_s\": 4e-6, \"upload\": 1e10, \"download\": 9e9, \"efficiency_gemm\": 0.5,\n"
    " \"efficiency_conv\": 0.25, \"efficiency_attn\": 0,\n"
    " \"bandwidths\": [[1024, 9e11, 8e11, 7e11], [4096, 5e11, 4e11, 3e11], [65536, 2e11, 1e11, "
    "1e11]]}";

// Puts text in the one file of the folder, whatever its name is.
static void put(const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof(path), "%s/ceilings", dir);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/ceilings/%s", dir, name);
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(text, f) >= 0);
    fclose(f);
}

static void test_use(const char *name)
{
    nino_ceilings c;
    nino_error err;
    put(name, good);
    CHECK_OK(nino_ceilings_load(dir, &dev, &c, &err), err);
    CHECK(c.measured_at == 1700000000 && c.flops_f32 == 2e12 && c.n_points == 3);
    CHECK(c.point[1].read == 5e11 && c.point[2].copy == 1e11);
    CHECK(nino_ceilings_bandwidth(&c, 10) == 9e11 && nino_ceilings_bandwidth(&c, 4096) == 5e11);
    CHECK(nino_ceilings_bandwidth(&c, 1u << 30) == 2e11);
    CHECK(fabs(nino_ceilings_bandwidth(&c, 2048) - 7e11) < 1e3); // half-way on a logarithmic scale
    nino_profile p;
    CHECK_OK(nino_profile_load("gfx1151", &p, &err), err);
    const double attn = p.efficiency_attn;
    CHECK(nino_ceilings_apply(dir, &dev, &p) && p.is_measured);
    CHECK(p.peak_f32 == 2e12 && p.peak_f16 == 2e12 && p.bandwidth == 1e11 && p.launch_s == 4e-6);
    CHECK(p.efficiency_gemm == 0.5 && p.efficiency_attn == attn); // what was not measured stays
    nino_device_info other = dev;
    snprintf(other.driver, sizeof(other.driver), "1.3");
    CHECK(nino_ceilings_load(dir, &other, &c, &err) == NINO_ERR_MISSING);
    CHECK(!nino_ceilings_apply(dir, &other, &p) && !nino_ceilings_apply("", &dev, &p));
}

// Each takes something away or spoils it: then the device counts as not measured.
static void test_bad(const char *name)
{
    static const char *const spoil[][2] = {
        { "\"format\": 3", "\"format\": 2" },
        { "\"driver\": \"1.2\"", "\"driver\": \"9\"" },
        { "\"flops_f32\": 2e12", "\"flops_f32\": -1" },
        { "\"launch_s\": 4e-6", "\"launch\": 1" },
        { "[4096,", "[512," },
        { "3e11]", "NaN]" },
        { "\"bandwidth\": 1e11", "\"bandwidth\": 0" },
        { "{", "" },
    };
    nino_ceilings c = { .measured_at = 7 };
    for (size_t i = 0; i < sizeof(spoil) / sizeof(spoil[0]); i++) {
        char text[2048];
        const char *at = strstr(good, spoil[i][0]);
        CHECK(at);
        snprintf(text, sizeof(text), "%.*s%s%s", (int) (at - good), good, spoil[i][1],
                 at + strlen(spoil[i][0]));
        put(name, text);
        CHECK(nino_ceilings_load(dir, &dev, &c, NULL) == NINO_ERR_MISSING && c.measured_at == 7);
    }
}

static bool is_near(double a, double b) { return fabs(a / b - 1) < 1e-9; }

// Never more than 1, whatever was measured or is claimed.
static void test_share(void)
{
    nino_ceilings c = { .flops_f32 = 1e12,
                        .bandwidth = 1e11,
                        .measured_at = 1,
                        .n_points = 2,
                        .point = { { 1 << 16, 8e11, 2e11, 4e11 }, { 1 << 24, 9e10, 5e10, 1e11 } } };
    CHECK(is_near(nino_ceilings_share(&c, 5e11, 0, 1, 32), 0.5));
    CHECK(is_near(nino_ceilings_share(&c, 1e9, 1e8, 0.01, 32), 0.1));           // both the same
    CHECK(is_near(nino_ceilings_share(&c, 1e6, 1e8, 0.01, 32), 0.1));           // memory
    CHECK(is_near(nino_ceilings_share(&c, 0, 1 << 16, 65536 / 4e11, 32), 0.5)); // of a cache
    CHECK(nino_ceilings_share(&c, 2e12, 0, 1, 32) == 1 &&
          nino_ceilings_share(&c, 0, 3e11, 1, 0) == 1);
    CHECK(isnan(nino_ceilings_share(&c, 0, 0, 1, 32)) &&
          isnan(nino_ceilings_share(&c, 1, 1, 0, 32)));
    c.flops_f16 = 4e12;
    CHECK(is_near(nino_ceilings_share(&c, 1e12, 0, 1, 16), 0.25));
    CHECK(is_near(nino_ceilings_share(&c, 1e12, 0, 1, 0), 0.25)); // not known: the higher one
    CHECK(nino_ceilings_share(&c, 1e12, 0, 1, 32) == 1);
    c.n_points = 0; // a data sheet: it tells of memory alone, and this came from a cache
    CHECK(isnan(nino_ceilings_share(&c, 0, 2e11, 1, 32)));
    CHECK(is_near(nino_ceilings_share(&c, 5e11, 2e11, 1, 32), 0.5));
    CHECK(is_near(nino_ceilings_share(&c, 1e11, 8e10, 1, 32), 0.8));
    c = (nino_ceilings){ .measured_at = 1 }; // nothing is known
    CHECK(isnan(nino_ceilings_share(&c, 1e12, 1e12, 1, 32)));
}

static void watch(nino_ceiling_watch *w, double flops, double bytes, double seconds, unsigned bits)
{
    const nino_event e = {
        .kind = NINO_EV_KERNEL,
        .id = nino_kernel_id(bits, 0),
        .u.kernel = { .dur_ns = (uint64_t) (seconds * 1e9), .flops = flops, .bytes = bytes }
    };
    nino_ceiling_watch_kernel(w, &e);
}

// Three kernels that are faster than the ceiling raise it, to what all of them reached.
static void test_raise(void)
{
    nino_ceiling_watch w = { .c = { .flops_f32 = 1e12,
                                    .bandwidth = 1e11,
                                    .measured_at = 7,
                                    .efficiency_gemm = 0.9,
                                    .n_points = 2,
                                    .point = { { 1 << 16, 8e11, 2e11, 4e11 },
                                               { 1 << 24, 9e10, 5e10, 1e11 } } } };
    const nino_ceilings before = w.c;
    watch(&w, 1.3e9, 0, 1e-3, 32);
    watch(&w, 1.1e9, 0, 1e-3, 32);
    for (int i = 0; i < 9; i++) {
        watch(&w, 0.9e9, 5e7, 1e-3, 32); // slower
        watch(&w, 9e9, 9e9, 0.9e-4, 32); // too short to be sure
    }
    CHECK(!w.is_raised && !memcmp(&w.c, &before, sizeof(before)));
    watch(&w, 1.2e9, 0, 1e-3, 16); // the same ceiling, where f16 is no faster
    CHECK(w.is_raised && is_near(w.c.flops_f32, 1.1e12) && w.c.measured_at == 7);
    CHECK(is_near(w.c.efficiency_gemm, 0.9 / 1.1) && w.c.bandwidth == 1e11);
    CHECK(nino_ceilings_share(&w.c, 1.1e9, 0, 1e-3, 32) == 1);
    w.is_raised = false;
    for (int i = 0; i < 3; i++)
        watch(&w, 0, 1.25e8, 1e-3, 32); // far larger than the caches
    CHECK(w.is_raised && is_near(w.c.bandwidth, 1.25e11) && w.c.point[0].read == 8e11);
    CHECK(is_near(w.c.point[1].read, 1.125e11));
    const double half = nino_ceilings_bandwidth(&w.c, 1 << 20); // between the points: both
    for (int i = 0; i < 3; i++)
        watch(&w, 0, 1 << 20, 1048576 / half / 1.01, 32);
    CHECK(w.c.point[0].read == 8e11); // too short
    w.c.flops_f16 = 3e12;
    for (int i = 0; i < 3; i++)
        watch(&w, 4e9, 0, 1e-3, 16);
    CHECK(is_near(w.c.flops_f16, 4e12) && is_near(w.c.flops_f32, 1.1e12));
    w.c.measured_at = 0; // a data sheet stays as it is
    for (int i = 0; i < 3; i++)
        watch(&w, 8e9, 0, 1e-3, 16);
    CHECK(is_near(w.c.flops_f16, 4e12));
}

// A device whose profile only stands in for its figures is measured when it is used first, once.
static void test_first(void)
{
    char cache[80];
    nino_error err;
    nino_ceilings c;
    nino_profile p;
    nino_device_info d[4];
    CHECK_OK(nino_profile_load("generic-gpu", &p, &err), err);
    CHECK(p.is_stand_in);
    CHECK_OK(nino_profile_load("gfx1151", &p, &err), err);
    CHECK(!p.is_stand_in); // of the data sheet
    nino_backend *be = nino_device_open("ref", NULL, NULL, &err);
    CHECK(be && !nino_measure_first(be, dir));
    nino_backend_close(&be);
    if (nino_devices(d, 4) < 2 || d[0].problem[0])
        return;
    snprintf(cache, sizeof(cache), "%s/first", dir);
    for (int i = 0; i < 2; i++) {
        be = nino_device_open(
            "cl:0", &(nino_ctx_params){ NINO_CTX_PARAMS_INIT, .cache_dir = cache }, NULL, &err);
        CHECK(be && be->profile.is_measured == (i > 0));
        be->profile.is_stand_in = true; // whatever this device is
        CHECK(!nino_measure_first(be, "") && nino_measure_first(be, cache) == !i);
        CHECK(be->profile.is_measured);
        nino_backend_close(&be);
    }
    CHECK_OK(nino_ceilings_load(cache, &d[0], &c, &err), err);
    CHECK(c.measured_at > 0 && c.flops_f32 > 1e6 && c.bandwidth > 1e6 && c.n_points > 2);
    CHECK(c.launch_s > 0 && !c.upload && !c.efficiency_gemm); // those take longer
}

static void test_profile(void)
{
    nino_ceilings c;
    nino_error err;
    CHECK_OK(nino_ceilings_of_profile("gfx1151", &c, &err), err);
    CHECK(c.flops_f32 == 29.7e12 && c.bandwidth == 212e9 && !c.measured_at && !c.n_points);
    CHECK(nino_ceilings_bandwidth(&c, 1) == 212e9);
    CHECK(nino_ceilings_of_profile("none", &c, &err) == NINO_ERR_UNKNOWN);
    CHECK(nino_ceilings_of_profile("pocl-cpu", &c, &err) == NINO_ERR_MISSING); // stands in
    CHECK(nino_ceilings_of_profile("generic-gpu", &c, &err) == NINO_ERR_MISSING);
}

static unsigned told;
static void on_progress(void *priv, const char *what)
{
    (void) priv;
    told += *what != 0;
}

static void test_measure(void)
{
    nino_ceilings c, again;
    nino_error err;
    nino_measure_params p = { NINO_MEASURE_PARAMS_INIT, .device = "ref", .cache_dir = dir,
                              .quick = 1, .progress = on_progress };
    CHECK(nino_measure(&p, &c, &err) == NINO_ERR_UNSUPPORTED);
    nino_device_info d[4];
    if (nino_devices(d, 4) < 2 || d[0].problem[0]) { // "ref" is always there
        printf("  skip: no OpenCL device to measure\n");
        return;
    }
    p.device = "cl:0";
    CHECK_OK(nino_measure(&p, &c, &err), err);
    CHECK(told >= 5 && c.flops_f32 > 1e6 && c.bandwidth > 1e6 && c.launch_s > 0 && c.launch_s < 1);
    CHECK(c.upload > 0 && c.download > 0 && c.n_points > 1 && c.measured_at > 0);
    for (size_t i = 0; i < c.n_points; i++)
        CHECK(c.point[i].read > 0 && c.point[i].write > 0 && c.point[i].copy > 0);
    CHECK_OK(nino_ceilings_load(dir, &d[0], &again, &err), err);
    CHECK(fabs(again.flops_f32 / c.flops_f32 - 1) < 1e-6 && again.n_points == c.n_points);
    nino_backend *be = nino_device_open(
        "cl:0", &(nino_ctx_params){ NINO_CTX_PARAMS_INIT, .cache_dir = dir }, NULL, &err);
    CHECK(be && be->profile.is_measured && be->profile.peak_f32 == again.flops_f32);
    nino_backend_close(&be);
}

int main(void)
{
    // XXH3 of "Test / device\n1.2\nUnit tests"
    const char *name = "Test___device-eacf196da25dea25.json";
    snprintf(dir, sizeof(dir), "/tmp/nino-measure-XXXXXX");
    CHECK(mkdtemp(dir));
    test_use(name);
    test_bad(name);
    test_profile();
    test_share();
    test_raise();
    test_first();
    test_measure();
    char cmd[100];
    snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
    CHECK(system(cmd) == 0);
    return 0;
}
