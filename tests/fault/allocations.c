// Allocations of the library fail in whole workflows, threads and mappings as well, once or from
// there on: the run is done with the same bits or ends with a clean error, nothing is kept, and the
// next run has the same bits. An argument names the one workflow to try.
#include "tests/fault/flows.h"
#include "tests/oom.h"

static nino_error err;
static long n_same, n_refused;
static char now[200];

static void tell_now(void)
{
    if (now[0])
        fprintf(stderr, "%s\n", now);
}

// One run whose at-th allocation fails, 0: none. Returns how many there were.
static long run_case(int flow, const char *device, long at, int sticky, uint64_t *expected)
{
    uint64_t made = 0;
    nino_status st = NINO_OK;
    const long live = oom.live;
    err = (nino_error){ 0 };
    nino_graph *g = flows_graph(flow, &err);
    CHECK(g);
    oom.sticky = sticky;
    oom.calls = oom.fired = 0;
    oom.at = at;
    nino_ctx *ctx = flows_open(device, 0, &err);
    st = ctx ? flows_run(ctx, g, &made, &err) : err.code;
    const long calls = oom.calls;
    oom.at = 0;
    if (st) {
        const bool is_clean = oom.fired && st == err.code && err.msg[0] && !strchr(err.msg, '\n');
        if (!is_clean)
            fprintf(stderr, "status %d, %d: %s: %s%s\n", st, err.code, err.where, err.msg,
                    oom.fired ? "" : " (none had failed)");
        CHECK(is_clean);
        n_refused++;
    } else if (at) {
        CHECK(made == *expected);
        n_same++;
    }
    if (at) {
        if (!ctx || (err.kind && !strcmp(err.kind, "lost"))) {
            nino_ctx_destroy(&ctx);
            CHECK(ctx = flows_open(device, 0, &err));
        }
        CHECK_OK(flows_run(ctx, g, &made, &err), err);
        CHECK(made == *expected);
    } else {
        *expected = made;
    }
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
    if (at && oom.live != live)
        fprintf(stderr, "%ld allocations are left\n", oom.live - live);
    CHECK(!at || oom.live == live);
    return calls;
}

static void sweep(int flow, const char *device, int points)
{
    uint64_t expected = 0;
    run_case(flow, device, 0, 0, &expected); // makes what is made once a process
    const long all = run_case(flow, device, 0, 0, &expected);
    for (int i = 0; i < points; i++) {
        const long at = 1 + all * (2L * i + 1) / (2L * points);
        const int sticky = i % 2;
        snprintf(now, sizeof(now), "%s on %s: allocation %ld of %ld%s", flow_names[flow], device,
                 at, all, sticky ? " and on" : "");
        run_case(flow, device, at, sticky, &expected);
    }
    printf("  %s: %d of %ld allocations\n", flow_names[flow], points, all);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *text = getenv("NINODES_TEST_LONG");
    const bool is_long = text && *text;
    if (!flows_are_here())
        return test_skip("the models of the project are not here");
    setenv("NINODES_HELPERS", "0", 1);
    atexit(tell_now);
    flows_prepare();
    nino_device_info one;
    const char *device = nino_devices(&one, 1) && strcmp(one.selector, "ref") != 0 ? "cl" : "ref";
    oom.wide = 1;
    for (int i = 0; i < (is_long ? FLOWS : 1); i++)
        if (argc < 2 || !strcmp(argv[1], flow_names[i]))
            sweep(i, device, !is_long ? 10 : i ? 100 : 300);
    now[0] = 0;
    figure_add("allocations that fail in whole workflows", "each clean, none kept", true,
               "%ld: %ld times the same bits, %ld times a clean error", n_same + n_refused, n_same,
               n_refused);
    flow_clean();
    return 0;
}
