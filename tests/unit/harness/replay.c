// A call made again by itself: on the reference, and on an OpenCL device with the ways to cut it; what
// cannot be made is said; sources of programs.
#include "core/op/device/device.h"
#include "core/op/sched.h"
#include <ninodes/kernel.h>
#include "tests/test.h"

#include <math.h>

static nino_error err;
static int n_told;

static void on_setting(void *priv, const char *what)
{
    (void) priv;
    CHECK(*what);
    n_told++;
}

static nino_replay_params params(const char *device, const char *call)
{
    return (nino_replay_params){
        NINO_REPLAY_PARAMS_INIT, .device = device, .cache_dir = "", .call = call, .rounds = 3,
        .progress = on_setting
    };
}

static void test_ref(void)
{
    nino_replay_result r;
    nino_replay_params p = params("ref", "linear f32:7x64 weight=f32:32 bias act=silu");
    CHECK_OK(nino_replay(&p, &r, &err), err);
    CHECK(r.n_settings == 1 && r.setting[0].time.n == 3 && r.setting[0].time.median > 0);
    CHECK(!*r.setting[0].name && isnan(r.setting[0].effect.percent));
    CHECK(r.flops == 2.0 * 7 * 64 * 32 && r.bytes > 0 && isnan(r.peak_percent));
    CHECK(r.n_kernels == 1 && r.kernel[0].launches == 1 && r.kernel[0].time.n == 3);
    CHECK_STR(r.kernel[0].name, "linear");
    CHECK_STR(r.schedule, "ref");
    CHECK(n_told == 1);
    p.sweep = true; // it has no ways
    CHECK_OK(nino_replay(&p, &r, &err), err);
    CHECK(r.n_settings == 1);
}

static void test_bad(void)
{
    nino_replay_result r = { .n_kernels = 7 };
    nino_replay_params p = params("ref", "linear f32:7x64");
    CHECK(nino_replay(&p, &r, &err) == NINO_ERR_FORMAT);
    p.call = NULL;
    CHECK(nino_replay(&p, &r, &err) == NINO_ERR_ARG);
    p.call = "scale f32:7 act=silu f16:7"; // its second source would be f32
    CHECK(nino_replay(&p, &r, &err) != NINO_OK);
    p.call = "add f32:7x64 f32:7x65"; // shapes that do not fit
    CHECK(nino_replay(&p, &r, &err) == NINO_ERR_ARG);
    p.call = "scale f32:7 scale=2";
    p.rounds = NINO_MAX_ROUNDS + 1;
    CHECK(nino_replay(&p, &r, &err) == NINO_ERR_RANGE);
    p.rounds = 3;
    p.schedule = "cpu";
    CHECK(nino_replay(&p, &r, &err) == NINO_ERR_ARG);
    p.schedule = NULL;
    p.device = "cl:99";
    CHECK(nino_replay(&p, &r, &err) != NINO_OK);
    CHECK(nino_replay(NULL, &r, &err) == NINO_ERR_ARG);
    CHECK(r.n_kernels == 7);
}

static void test_source(void)
{
    char *source = NULL, *options = NULL;
    static const char *const bad[] = { "",          "cpu",        "cpu ", " gemm", "cpu ../gemm",
                                       "none gemm", "cpu nothing" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(nino_kernel_source(bad[i], &source, &options, &err) != NINO_OK && !source);
    CHECK_OK(nino_kernel_source("wmma wmma -DF16=1", &source, &options, &err), err);
    CHECK(strstr(source, "gemm_wmma") && !strstr(source, "#include \""));
    CHECK(strstr(options, "-DSCHED_GENERIC=1 -DF16=1"));
    free(source);
    free(options);
}

// What gfx1151 would do calls with, by its matrix instructions or without; every case of a kind has one.
static void test_elsewhere(void)
{
    static const struct {
        const char *call, *kernel, *program;
    } calls[] = { { "linear f32:1024x1024 weight=f16:1024", "gemm_wmma_", "wmma wmma " },
                  { "attention f32:1x1024x512 f32:1x1024x512 f32:1x1024x512 heads=8", "", "wmma " },
                  { "scale bf16:33x64 scale=0.5", "scale", "wmma basic -DBF16=1" },
                  { "layer_norm f32:33x64 gamma bias eps=1e-05", "row_norm",
                    "wmma basic -DF16=1" } };
    char kernel[NINO_KERNEL_SYMBOL];
    nino_kernel_told t;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        CHECK_OK(nino_kernel_on("gfx1151", calls[i].call, kernel, &t, &err), err);
        CHECK(!strncmp(kernel, calls[i].kernel, strlen(calls[i].kernel)));
        CHECK(!strncmp(t.program, calls[i].program, strlen(calls[i].program)));
        CHECK(!strstr(t.call, "f32:") && strstr(t.call, i == 2 ? " bf16:" : " f16:"));
    }
    CHECK(nino_kernel_on("nothing", calls[0].call, kernel, &t, &err) == NINO_ERR_UNKNOWN);
    CHECK(nino_kernel_on("gfx1151", "linear f32:1", kernel, &t, &err) == NINO_ERR_FORMAT);
    CHECK(nino_kernel_on("ref", calls[0].call, kernel, &t, &err) == NINO_ERR_UNSUPPORTED);
}

static void test_cl(void)
{
    nino_replay_result r;
    nino_kernel_facts f;
    nino_replay_params p = params("cl", "linear f32:33x64 weight=f16:32 bias");
    p.sweep = true;
    p.schedule = "cpu";
    n_told = 0;
    CHECK_OK(nino_replay(&p, &r, &err), err);
    CHECK(r.n_settings > 4 && n_told == (int) r.n_settings && r.n_kernels > 0);
    for (size_t i = 1; i < r.n_settings; i++) {
        CHECK(r.setting[i].time.n == 3 && r.setting[i].value > 0);
        CHECK(!strncmp(r.setting[i].name, "gemm_", 5));
        CHECK(r.setting[i].effect.is_too_few); // nothing can be said of three rounds
    }
    for (size_t i = 0; i < r.n_kernels; i++)
        CHECK(r.kernel[i].launches > 0 && r.kernel[i].time.median > 0);
    p.call = "scale f32:33x64 scale=0.5";
    CHECK_OK(nino_replay(&p, &r, &err), err);
    CHECK(r.n_settings == 1 && r.n_kernels == 1);
    CHECK_OK(nino_kernel_ask("cl", "", "cpu elt", r.kernel[0].name, &f, &err), err);
    CHECK(f.most_items > 0 && *f.device);
    CHECK(nino_kernel_ask("cl", "", "cpu elt", "no_such", &f, &err) != NINO_OK);
}

int main(void)
{
    test_ref();
    test_bad();
    CHECK(nino_kernel_ask("ref", "", "cpu elt", "scale", &(nino_kernel_facts){ 0 }, &err) ==
          NINO_ERR_UNSUPPORTED);
    if (!nino_cl_provider) {
        test_skip_part("sources and OpenCL: built without");
        return 0;
    }
    test_source();
    test_elsewhere();
    nino_backend *be = nino_device_open("cl", NULL, NULL, &err);
    const bool has_cl = be != NULL;
    nino_backend_close(&be);
    if (has_cl)
        test_cl();
    else
        test_skip_part("replay on OpenCL: no device");
    return 0;
}
