// Tuning: what is kept and found again, what is refused, that no choice changes a bit of a result,
// and a short tuning where there is an OpenCL device.
#include "core/harness/kernel_check_priv.h"
#include "core/op/device/device.h"
#include "core/harness/tune_choices.h"
#include "tests/test.h"

#include <math.h>
#include <sys/stat.h>

static char dir[64];
static const nino_device_info dev = {
    .selector = "cl:0", .name = "Test / device", .driver = "1.2", .platform = "Unit tests"
};

static nino_tuning_info made(void)
{
    nino_tuning_info t = { .tuned_at = 1700000000, .n = 2 };
    snprintf(t.device, sizeof(t.device), "%s", dev.name);
    snprintf(t.driver, sizeof(t.driver), "%s", dev.driver);
    snprintf(t.platform, sizeof(t.platform), "%s", dev.platform);
    snprintf(t.version, sizeof(t.version), "%s", nino_version());
    t.choice[0] = (nino_tune_choice){ "gemm_pieces", 4, 8, 5, 3, 7 };
    t.choice[1] = (nino_tune_choice){ "wino_tiles", 112, 56, 2, 1, 3 };
    return t;
}

static void test_keep(void)
{
    nino_error err;
    nino_tuning_info t = made(), u;
    nino_profile p = { .name = "x" };
    CHECK(nino_tuning_load(dir, &dev, &u, &err) == NINO_ERR_MISSING);
    CHECK(!nino_tuning_apply(dir, &dev, &p) && !p.tuning.gemm_pieces);
    CHECK_OK(nino_tuning_save(dir, &dev, &t, &err), err);
    CHECK_OK(nino_tuning_load(dir, &dev, &u, &err), err);
    CHECK(u.n == 2 && u.tuned_at == t.tuned_at && u.choice[0].value == 8);
    CHECK(u.choice[1].gain == 2 && u.choice[1].gain_low == 1 && u.choice[1].gain_high == 3);
    CHECK(u.choice[1].standard == 112);
    CHECK(nino_tuning_apply(dir, &dev, &p));
    CHECK(p.tuning.gemm_pieces == 8 && p.tuning.wino_tiles == 56 && !p.tuning.gemm_rows);
    nino_device_info other = dev;
    snprintf(other.driver, sizeof(other.driver), "1.3");
    CHECK(nino_tuning_load(dir, &other, &u, &err) == NINO_ERR_MISSING);
    CHECK(nino_tuning_load("", &dev, &u, &err) == NINO_ERR_MISSING);
}

// One value beside the others, or alone; what is none of its row's changes nothing.
static void test_keep_one(void)
{
    nino_error err;
    nino_tuning_info u;
    nino_profile p = { .name = "x" };
    nino_tune_choice c = { .name = "gemm_rows", .value = 48, .gain = NAN };
    CHECK_OK(nino_tuning_keep(dir, &dev, &c, &u, &err), err);
    CHECK_OK(nino_tuning_load(dir, &dev, &u, &err), err);
    CHECK(u.n == 3 && u.choice[0].value == 8); // those before it stay
    CHECK(nino_tuning_apply(dir, &dev, &p) && p.tuning.gemm_rows == 48 &&
          p.tuning.gemm_pieces == 8);
    c.value = 72;
    c.gain = c.gain_low = c.gain_high = 4;
    CHECK_OK(nino_tuning_keep(dir, &dev, &c, &u, &err), err);
    CHECK(u.n == 3); // in its place
    c.value = 47;
    CHECK(nino_tuning_keep(dir, &dev, &c, &u, &err) == NINO_ERR_ARG);
    snprintf(c.name, sizeof(c.name), "gemm_colour");
    CHECK(nino_tuning_keep(dir, &dev, &c, &u, &err) == NINO_ERR_UNKNOWN);
    CHECK_OK(nino_tuning_load(dir, &dev, &u, &err), err);
    CHECK(u.n == 3);
    nino_device_info fresh = dev;
    snprintf(fresh.driver, sizeof(fresh.driver), "9.9");
    c = (nino_tune_choice){ .name = "gemm_pieces", .value = 16 };
    CHECK_OK(nino_tuning_keep(dir, &fresh, &c, &u, &err), err);
    CHECK(u.n == 1 && u.choice[0].standard != 16);
    CHECK_OK(nino_tuning_reset(dir, &fresh, &err), err);
}

static void test_carry(void)
{
    nino_error err;
    nino_tuning_info t = made(), u;
    char path[200];
    snprintf(path, sizeof(path), "%s/mine.json", dir);
    nino_device_info newer = dev, other = dev;
    snprintf(newer.driver, sizeof(newer.driver), "2.0");
    snprintf(other.name, sizeof(other.name), "Another device");
    CHECK_OK(nino_tuning_export(path, &t, &err), err);
    CHECK(nino_tuning_import(path, dir, &other, &u, &err) == NINO_ERR_ARG);
    CHECK_OK(nino_tuning_import(path, dir, &newer, &u, &err), err);
    CHECK_STR(u.driver, "2.0");
    CHECK_OK(nino_tuning_load(dir, &newer, &u, &err), err);
    CHECK_OK(nino_tuning_reset(dir, &newer, &err), err);
    CHECK(nino_tuning_load(dir, &newer, &u, &err) == NINO_ERR_MISSING);
    CHECK_OK(nino_tuning_reset(dir, &newer, &err), err); // nothing to forget
    CHECK_OK(nino_tuning_load(dir, &dev, &u, &err), err);
}

// A value that is none of the row's, text for a number, another format: no tuning.
static void test_bad(void)
{
    static const char *const bad[] = {
        "{}",
        "[",
        "{\"tuning\":2,\"tuned_at\":1,\"choices\":{}}",
        "{\"tuning\":1,\"tuned_at\":1,\"choices\":{\"gemm_pieces\":{\"value\":3,\"gain\":[1,1,1]}}"
        "}",
        "{\"tuning\":1,\"tuned_at\":1,\"choices\":{\"gemm_pieces\":{\"value\":\"8\",\"gain\":[1,1,"
        "1]}}}",
        "{\"tuning\":1,\"tuned_at\":1,\"choices\":{\"gemm_rows\":{\"value\":48,\"gain\":[1,1]}}}",
        "{\"tuning\":1,\"tuned_at\":1,\"choices\":{\"gemm_rows\":{\"value\":0,\"gain\":[1,1,1]}}}",
    };
    char path[200];
    nino_error err;
    nino_tuning_info u = { .n = 77 };
    snprintf(path, sizeof(path), "%s/bad.json", dir);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        FILE *f = fopen(path, "w");
        CHECK(f && fputs(bad[i], f) >= 0);
        fclose(f);
        CHECK(nino_tuning_import(path, dir, &dev, &u, &err) != NINO_OK && u.n == 77);
    }
}

// Every value of every row but the engines gives the standard's bits, on shapes with ragged ends.
static void test_bits(nino_backend *be)
{
    static const nino_check_case cases[] = {
        { .op = NINO_OP_LINEAR, .src = { { 193, 65 } }, .n = 257, .bias = true },
        { .op = NINO_OP_CONV2D,
          .attr = { .kernel = 3, .stride = 1 },
          .src = { { 1, 35, 41, 40 } },
          .n = 64,
          .bias = true },
        { .op = NINO_OP_CONV2D,
          .attr = { .kernel = 3, .stride = 2 },
          .src = { { 1, 19, 17, 20 } },
          .n = 72 },
    };
    nino_error err;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        check_job job;
        nino_array *want = NULL;
        CHECK_OK(check_job_init(&job, &cases[c], NINO_F32, &be->profile, 7, &err), err);
        for (const nino_tune_row *r = nino_tune_rows; r->name; r++)
            for (int i = 0; i < NINO_MAX_TUNE_VALUES && r->value[i] && r->tunes; i++) {
                check_side s = { .be = be, .in_place = -1 };
                be->profile.tuning = (nino_tuning){ 0 };
                if (want)
                    *nino_tune_field(&be->profile.tuning, r) = r->value[i];
                CHECK_OK(check_side_prepare(&s, &job, &err), err);
                nino_array *got = check_side_run(&s, &err);
                CHECK_OK(got ? NINO_OK : err.code, err);
                CHECK(!want || !memcmp(want->data, got->data, got->bytes));
                check_side_release(&s);
                if (want)
                    nino_array_unref(&got);
                else
                    want = got;
            }
        nino_array_unref(&want);
        check_job_release(&job);
    }
    be->profile.tuning = (nino_tuning){ 0 };
}

static unsigned told;
static void on_try(void *priv, const char *what)
{
    (void) priv;
    told += *what != 0;
}

static void test_device(void)
{
    nino_error err;
    nino_tuning_info t, again;
    nino_tune_params p = { NINO_TUNE_PARAMS_INIT, .device = "ref", .cache_dir = dir, .quick = 1,
                           .progress = on_try };
    CHECK(nino_tune(&p, &t, &err) == NINO_ERR_UNSUPPORTED);
    nino_device_info d[4];
    if (nino_devices(d, 4) < 2 || d[0].problem[0]) { // "ref" is always there
        printf("  skip: no OpenCL device to tune\n");
        return;
    }
    const nino_ctx_params cp = { NINO_CTX_PARAMS_INIT, .cache_dir = dir };
    nino_backend *be = nino_device_open("cl:0", &cp, NULL, &err);
    CHECK_OK(be ? NINO_OK : err.code, err);
    test_bits(be);
    nino_backend_close(&be);
    p.device = "cl:0";
    CHECK_OK(nino_tune(&p, &t, &err), err);
    CHECK(told > 1 && t.n > 0 && t.tuned_at > 0);
    CHECK_OK(nino_tuning_load(dir, &d[0], &again, &err), err);
    CHECK(again.n == t.n);
    // a choice that differs was faster beyond doubt; later runs take it
    be = nino_device_open("cl:0", &cp, NULL, &err);
    CHECK_OK(be ? NINO_OK : err.code, err);
    for (size_t i = 0; i < t.n; i++) {
        const nino_tune_choice *c = &t.choice[i];
        CHECK(again.choice[i].value == c->value);
        CHECK(c->value == c->standard ? c->gain == 0 : c->gain_low > 0 && c->gain >= c->gain_low);
        for (const nino_tune_row *r = nino_tune_rows; r->name; r++)
            CHECK(strcmp(r->name, c->name) != 0 ||
                  *nino_tune_field(&be->profile.tuning, r) == c->value);
    }
    nino_backend_close(&be);
}

int main(void)
{
    snprintf(dir, sizeof(dir), "/tmp/nino-tune-XXXXXX");
    CHECK(mkdtemp(dir));
    test_keep();
    test_keep_one();
    test_carry();
    test_bad();
    test_device();
    char cmd[100];
    snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
    CHECK(system(cmd) == 0);
    return 0;
}
