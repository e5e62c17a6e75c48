// Calls as texts: what is written of every case of the harness gives the same call when it is read; what is
// wrong is said, whatever it is.
#include "core/harness/kernel_call.h"
#include "core/harness/kernel_check_priv.h"
#include "tests/test.h"

static nino_error err;

static void test_round_trip(const nino_profile *p)
{
    size_t n = 0;
    for (size_t i = 0; i < nino_n_check_cases; i++) {
        const nino_check_case *c = &nino_check_cases[i];
        char text[NINO_CALL_TEXT], again[NINO_CALL_TEXT], name[160], second[160];
        nino_check_case r;
        nino_dtype type;
        check_job a, b;
        if (c->is_large || c->only_bench)
            continue;
        CHECK_OK(check_job_init(&a, c, NINO_F16, p, 1, &err), err);
        CHECK(*nino_call_write(text, &a.d));
        CHECK_OK(nino_call_read(text, &r, &type, &err), err);
        CHECK_OK(check_job_init(&b, &r, type, p, 1, &err), err);
        CHECK_STR(nino_call_write(again, &b.d), text);
        nino_check_name(c, NINO_F16, -1, name, sizeof(name));
        r.spread = c->spread; // of the values: no part of the call
        nino_check_name(&r, type, -1, second, sizeof(second));
        if (c->op != NINO_OP_BLEND_DIV && c->op != NINO_OP_CAST) // f32 in; its result's type
            CHECK_STR(second, name);
        check_job_release(&a);
        check_job_release(&b);
        n++;
    }
    CHECK(n > 100);
}

static void test_text(void)
{
    nino_check_case c;
    nino_dtype type;
    CHECK_OK(nino_call_read("linear bf16:2x77x768 weight=q8_0:3072 bias residual act=gelu", &c,
                            &type, &err),
             err);
    CHECK(c.op == NINO_OP_LINEAR && type == NINO_BF16 && c.src[0][0] == 2 && c.src[0][2] == 768);
    CHECK(c.weight == NINO_Q8_0 && c.n == 3072 && c.bias && c.residual && c.only_bench);
    CHECK(c.attr.act == NINO_ACT_GELU && !c.src[1][0]);
    CHECK_OK(nino_call_read("attention f16:1x9x64 f16:1x5x64 f16:1x5x64 heads=8 scale=0.125", &c,
                            &type, &err),
             err);
    CHECK(c.attr.heads == 8 && c.attr.scale == 0.125f && c.src[2][1] == 5);
    CHECK_OK(nino_call_read("permute f32:1x2x3 perm=0x2x1", &c, &type, &err), err);
    CHECK(c.attr.perm[1] == 2 && c.attr.perm[2] == 1);
}

static void test_bad(void)
{
    static const char *const bad[] = {
        "",
        "nothing",
        "linear",
        "linear ",
        "linear  f16:7x3",
        "linear f16:7x3",
        "linear f16:7x3 weight=f16",
        "linear f16:7x3 weight=f16:0",
        "linear f16:7x3 weight=f16:-5",
        "linear f16:7x3 weight=bool:5",
        "linear f17:7x3 weight=f16:5",
        "linear i8:7x3 weight=f16:5",
        "linear f16:7x weight=f16:5",
        "linear f16:0x3 weight=f16:5",
        "linear f16:7x0x3 weight=f16:5",
        "linear f16:1x1x1x1x1x1 weight=f16:5",
        "linear f16:99999999999x3 weight=f16:5",
        "linear f16:100000x100000x100000 weight=f16:5",
        "linear f16:7x3 f16:7 f16:7 f16:7 f16:7 weight=f16:5",
        "linear f16:7x3 weight=f16:5 act=gelo",
        "linear f16:7x3 weight=f16:5 pad=9",
        "linear f16:7x3 weight=f16:5 kernel=1e99",
        "linear f16:7x3 weight=f16:5 kernel=nan",
        "linear f16:7x3 weight=f16:5 and more",
        "act f16:7x3 weight=f16:5",
        "conv2d f16:1x7x7x3 weight=f16:5 kernel=2 stride=1",
        "attention f16:1x9x64 f16:1x5x64 f16:1x5x64",
        "attention f16:1x9x64 f16:1x5x64 f16:1x5x64 heads=-1",
        "group_stat f16:1x9x64",
        "slice f16:7x3 axis=2 out=1",
        "slice f16:7x3 axis=-1 out=1",
        "slice f16:7x3 axis=1",
        "resample f16:1x4x4x3 out=8",
        "permute f32:1x2x3 perm=0x2x2",
        "permute f32:1x2x3 perm=0x3x1",
        "cast f32:1x2x3 to=f99",
    };
    char large[2000];
    nino_check_case c;
    nino_dtype type;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (nino_call_read(bad[i], &c, &type, &err) != NINO_ERR_FORMAT) {
            fprintf(stderr, "taken: %s\n", bad[i]);
            exit(1);
        }
    memset(large, 'a', sizeof(large) - 1);
    large[sizeof(large) - 1] = 0;
    CHECK(nino_call_read(large, &c, &type, &err) == NINO_ERR_FORMAT);
    CHECK(nino_call_read("group_norm f16:1x9x64 groups=8", &c, &type, &err) ==
          NINO_ERR_UNSUPPORTED);
}

int main(void)
{
    test_text();
    test_bad();
    test_round_trip(&nino_profile_ref);
    return 0;
}
