// The tuning that is shipped: it is what the clock model says, never slower by it than the standard, in force where
// nobody has tuned, and gone where somebody has. With --print PATH the tables are written there (make tuned).
#include "core/base/json.h"
#include "core/harness/kernel_check_priv.h"
#include "core/harness/tune_choices.h"
#include "tests/test.h"

#include <math.h>
#include <sys/stat.h>

static nino_error err;
static nino_profile p;
static char dir[] = "/tmp/nino-tuned-XXXXXX"; // of the user, empty until test_folder()

static bool is_same(const nino_tuning_info *a, const nino_tuning_info *b)
{
    bool same = a->n == b->n && !strcmp(a->device, b->device);
    for (size_t i = 0; i < a->n && same; i++)
        same = !strcmp(a->choice[i].name, b->choice[i].name) &&
               a->choice[i].value == b->choice[i].value &&
               fabs(a->choice[i].gain - b->choice[i].gain) < 1e-3;
    return same;
}

static const nino_tune_row *row_of(const char *name)
{
    const nino_tune_row *r = nino_tune_rows;
    while (r->name && strcmp(r->name, name) != 0)
        r++;
    CHECK(r->name);
    return r;
}

// Every row that gfx1151 has; one at least gains, and no shape of a row loses.
static void test_table(void)
{
    nino_tuning_info shipped, now;
    nino_profile tuned = p;
    int n_better = 0;
    CHECK_OK(nino_tune_by_model(&p, &now, &err), err);
    CHECK_OK(nino_tuning_shipped(&p, &shipped, &err), err);
    if (!is_same(&shipped, &now))
        fprintf(stderr, "data/tune/gfx1151.json is not what the clock model says: make tuned\n");
    CHECK(is_same(&shipped, &now) && shipped.n == 5);
    CHECK_OK(nino_tuning_ship(&tuned, &err), err);
    for (size_t i = 0; i < shipped.n; i++) {
        const nino_tune_choice *c = &shipped.choice[i];
        const nino_tune_row *r = row_of(c->name);
        double ratio;
        CHECK(r->tunes && nino_tune_allows(r, c->value) && c->standard == r->standard);
        CHECK(*nino_tune_field(&tuned.tuning, r) == c->value);
        CHECK_OK(nino_tune_ratio(&p, r, c->value, &ratio, &err), err);
        CHECK(ratio <= 1e-12); // against the standard alone
        CHECK_OK(nino_tune_ratio(&tuned, r, c->value, &ratio, &err), err);
        CHECK(ratio <= 1e-12); // with all others in force
        CHECK((c->value == c->standard) == (c->gain == 0) && c->gain >= 0);
        n_better += c->value != c->standard;
    }
    CHECK(n_better > 0);
}

// Products of networks' sizes, in all kinds of weights: none takes longer by the model than with the standard.
static void test_products(void)
{
    static const int rows[] = {
        17, 32, 77, 154, 256, 320, 512, 640, 1024, 2000, 4096, 4608, 27280
    };
    static const int sides[][2] = { { 320, 320 },   { 768, 3072 },   { 1280, 10240 },
                                    { 3072, 3072 }, { 3072, 12288 }, { 12288, 64 },
                                    { 3584, 3584 }, { 5120, 13824 }, { 15360, 3072 } };
    static const nino_dtype weights[] = { NINO_F16, NINO_BF16, NINO_F8_E4M3, NINO_Q8_0, NINO_Q4_K };
    nino_profile tuned = p;
    int n = 0, n_better = 0;
    CHECK_OK(nino_tuning_ship(&tuned, &err), err);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (size_t k = 0; k < sizeof(sides) / sizeof(sides[0]); k++)
            for (size_t t = 0; t < sizeof(weights) / sizeof(weights[0]); t++) {
                const nino_weight w = {
                    .role = NINO_W_MATRIX, .n = sides[k][1], .c = sides[k][0], .dtype = weights[t]
                };
                nino_op_desc d = { .op = NINO_OP_LINEAR, .n_src = 1, .weight = &w };
                d.src_type[0] = d.dst_type = NINO_F16;
                d.src[0] = NINO_SHAPE(rows[i], w.c);
                d.dst = NINO_SHAPE(rows[i], w.n);
                const double f = nino_ops[d.op].flops(&d), b = nino_ops[d.op].bytes(&d);
                const double was = nino_sched_seconds(&p, &d, f, b);
                const double is = nino_sched_seconds(&tuned, &d, f, b);
                if (is > was * (1 + 1e-9))
                    fprintf(stderr, "%d x %d -> %d, %s: %g s, without the table %g s\n", rows[i],
                            sides[k][0], sides[k][1], nino_dtype_name(weights[t]), is, was);
                CHECK(is <= was * (1 + 1e-9));
                n_better += is < was * 0.99;
                n++;
            }
    printf("%d of %d products gain more than 1 %% by the clock model\n", n_better, n);
    CHECK(n_better > n / 20);
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(text, f) >= 0 && !fclose(f));
}

// The user's folder goes before the built-in table; what is none is an error that names the file.
static void test_folder(void)
{
    char path[100], folder[100];
    nino_profile t = p;
    snprintf(folder, sizeof(folder), "%s/tune", dir);
    snprintf(path, sizeof(path), "%s/tune/gfx1151.json", dir);
    CHECK(!mkdir(folder, 0700));
    put(path, "{\"tuning\":1,\"tuned_at\":0,\"choices\":{\"gemm_tile\":{\"value\":2,"
              "\"gain\":[1,1,1]}}}");
    CHECK_OK(nino_tuning_ship(&t, &err), err);
    CHECK(t.tuning.gemm_tile == 2 && !t.tuning.gemm_costs);
    put(path, "{\"tuning\":1,\"tuned_at\":0,\"choices\":{\"gemm_tile\":{\"value\":9,"
              "\"gain\":[1,1,1]}}}");
    CHECK(nino_tuning_ship(&t, &err) == NINO_ERR_FORMAT && strstr(err.where, path));
    CHECK(t.tuning.gemm_tile == 2);
    CHECK(!remove(path));
    // A profile of which nothing is shipped keeps the standard; so does one without a clock model.
    nino_profile other;
    nino_tuning_info none;
    CHECK_OK(nino_profile_load("generic-gpu", &other, &err), err);
    CHECK_OK(nino_tuning_ship(&other, &err), err);
    CHECK(!other.tuning.gemm_tile && !other.tuning.gemm_costs);
    CHECK(nino_tune_by_model(&other, &none, &err) == NINO_ERR_UNSUPPORTED);
    CHECK(!remove(folder));
}

// Whoever has tuned has all of it, not what is shipped beside.
static void test_own(void)
{
    char cache[] = "/tmp/nino-tuned-XXXXXX", cmd[60];
    const nino_device_info dev = { .name = "gfx1151", .driver = "1", .platform = "Unit tests" };
    nino_tuning_info own = { .tuned_at = 1, .n = 1 };
    nino_profile t = p;
    CHECK(mkdtemp(cache));
    snprintf(own.device, sizeof(own.device), "%s", dev.name);
    snprintf(own.driver, sizeof(own.driver), "%s", dev.driver);
    snprintf(own.platform, sizeof(own.platform), "%s", dev.platform);
    snprintf(own.version, sizeof(own.version), "%s", nino_version());
    own.choice[0] = (nino_tune_choice){ "gemm_tile", 1, 3, 5, 3, 7 };
    CHECK_OK(nino_tuning_ship(&t, &err), err);
    CHECK(t.tuning.gemm_costs == NINO_COSTS_CLOCKS && !nino_tuning_apply(cache, &dev, &t));
    CHECK(t.tuning.gemm_costs == NINO_COSTS_CLOCKS);
    CHECK_OK(nino_tuning_save(cache, &dev, &own, &err), err);
    CHECK(nino_tuning_apply(cache, &dev, &t) && t.tuning.gemm_tile == 3 && !t.tuning.gemm_costs);
    snprintf(cmd, sizeof(cmd), "rm -rf %s", cache);
    CHECK(!system(cmd));
}

int main(int argc, char **argv)
{
    nino_tuning_info t;
    CHECK(mkdtemp(dir) && !setenv("NINODES_DATA_DIR", dir, 1));
    CHECK_OK(nino_profile_load("gfx1151", &p, &err), err);
    if (argc == 3 && !strcmp(argv[1], "--print")) {
        CHECK_OK(nino_tune_by_model(&p, &t, &err), err);
        CHECK_OK(nino_tuning_export(argv[2], &t, &err), err);
        CHECK(!remove(dir));
        return 0;
    }
    test_table();
    test_products();
    test_own();
    test_folder();
    CHECK(!remove(dir));
    return 0;
}
