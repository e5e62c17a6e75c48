// Every op of the device against ref. Options: --op=TEXT (in the case's name), --seed=N,
// --device=SELECTOR, --bench, --quick, --verbose. Exit 77 without an OpenCL device.
#include <ninodes/ctx.h>
#include <ninodes/selftest.h>

#include "tests/test.h"

typedef struct tally {
    unsigned n, failed;
    bool verbose;
} tally;

static void report(void *priv, const nino_selftest_case *c)
{
    tally *t = priv;
    t->n++;
    t->failed += !c->ok;
    if (c->ok && !t->verbose && c->ms == 0)
        return;
    printf("%-4s %-64s nmse %.2g (%.0g) max %.2g", c->ok ? "ok" : "FAIL", c->name, c->nmse, c->tol,
           c->max_abs);
    if (c->ms > 0)
        printf("  %.3f ms %.1f GFLOP/s", c->ms, c->gflops);
    printf("%s%s\n", *c->note ? "  " : "", c->note);
}

static bool has_device(void)
{
    nino_device_info d[16];
    const size_t n = nino_devices(d, 16);
    for (size_t i = 0; i < n && i < 16; i++)
        if (strcmp(d[i].selector, "ref") && !d[i].problem[0])
            return true;
    return false;
}

int main(int argc, char **argv)
{
    nino_selftest_params p = { NINO_SELFTEST_PARAMS_INIT, .quick = !getenv("NINODES_TEST_LONG") };
    tally t = { 0 };
    nino_error err;
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (!strncmp(a, "--op=", 5))
            p.op = a + 5;
        else if (!strncmp(a, "--seed=", 7))
            p.seed = strtoull(a + 7, NULL, 10);
        else if (!strncmp(a, "--device=", 9))
            p.device = a + 9;
        else if (!strcmp(a, "--bench"))
            p.bench = 1;
        else if (!strcmp(a, "--quick"))
            p.quick = 1;
        else if (!strcmp(a, "--full"))
            p.quick = 0;
        else if (!strcmp(a, "--verbose"))
            t.verbose = true;
        else {
            fprintf(stderr, "unknown option %s\n", a);
            return 1;
        }
    }
    if (!p.device && !has_device())
        return test_skip("no OpenCL device");
    const nino_status st = nino_selftest(&p, report, &t, &err);
    printf("%u cases, %u failed\n", t.n, t.failed);
    if (st)
        fprintf(stderr, "%s: %s\n", err.where, err.msg);
    return st != NINO_OK;
}
