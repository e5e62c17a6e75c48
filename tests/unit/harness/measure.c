// Ceilings of a device: what is kept and found again, what is refused, what a profile makes of it,
// and a quick measurement where there is an OpenCL device.
#include "core/op/device/device.h"
#include "core/op/ceilings.h"
#include "tests/test.h"

#include <math.h>
#include <sys/stat.h>

static char dir[64];
static const nino_device_info dev = {
    .selector = "cl:0", .name = "Test / device", .driver = "1.2", .platform = "Unit tests"
};

static const char good[] =
    "{\"format\": 1, \"device\": \"Test / device\", \"driver\": \"1.2\", \"platform\": \"Unit "
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
    CHECK(nino_ceilings_bandwidth(&c, 10) == 7e11 && nino_ceilings_bandwidth(&c, 4096) == 3e11);
    CHECK(nino_ceilings_bandwidth(&c, 1u << 30) == 1e11);
    CHECK(fabs(nino_ceilings_bandwidth(&c, 2048) - 5e11) < 1e3); // half-way on a logarithmic scale
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
        { "\"format\": 1", "\"format\": 2" },
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

static void test_profile(void)
{
    nino_ceilings c;
    nino_error err;
    CHECK_OK(nino_ceilings_of_profile("gfx1151", &c, &err), err);
    CHECK(c.flops_f32 == 29.7e12 && c.bandwidth == 212e9 && !c.measured_at && !c.n_points);
    CHECK(nino_ceilings_bandwidth(&c, 1) == 212e9);
    CHECK(nino_ceilings_of_profile("none", &c, &err) == NINO_ERR_UNKNOWN);
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
    test_measure();
    char cmd[100];
    snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
    CHECK(system(cmd) == 0);
    return 0;
}
