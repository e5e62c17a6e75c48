// Every class of node with inputs and values drawn by chance: what is legal and what is not, sizes that do not match, texts that
// are none. A run ends, well or with one line; what ran can be planned. NINODES_TEST_LONG: more of them; NINODES_TEST_SEED: others; and
// NINODES_TEST_DEVICE, NINODES_TEST_CLASS, NINODES_TEST_SHOW.
#include "tests/unit/any_case.h"

#include <signal.h>
#include <unistd.h>

enum { MAX_MS = 4000 };

static nino_ctx *ctx;
static nino_error err;
static char json[ANY_JSON]; // of the case that runs now

static void on_crash(int signal)
{
    (void) !write(2, json, strlen(json));
    (void) !write(2, "\n", 1);
    _exit(128 + signal);
}

// With one who looks at a result.
static bool make_json(const nino_node_def *d)
{
    char more[120] = "";
    any_case c;
    int n_out = 0;
    if (!any_make(&c, d))
        return false;
    while (d->outputs && d->outputs[n_out].key)
        n_out++;
    if (n_out)
        snprintf(more, sizeof(more),
                 ", 'y': {'class_type': 'PreviewAny', 'inputs': {'source': ['x', %d]}}",
                 (int) any_draw((uint64_t) n_out));
    any_json(&c, more, json, sizeof(json));
    return true;
}

// The status of the run; one that takes long is cancelled.
static nino_status run(nino_graph *g, const nino_job_options *o)
{
    nino_status st = NINO_OK;
    nino_job *job = nino_job_start(ctx, g, o, &err);
    if (!job)
        return err.code;
    for (int ms = 0; !nino_job_done(job, &st, &err); ms += 20) {
        nino_job_wait(job, 20);
        if (ms >= MAX_MS)
            nino_job_cancel(job);
    }
    nino_job_destroy(&job);
    return st;
}

static bool check_case(const nino_node_def *d, int *n_ok)
{
    static const char *const demo[] = { "data/demo/models", "tests/data/models", NULL };
    const nino_job_options o = { NINO_JOB_OPTIONS_INIT, .models = demo, .no_files = any_draw(2),
                                 .is_silent = true };
    nino_plan plan;
    bool ok = true;
    if (getenv("NINODES_TEST_SHOW"))
        fprintf(stderr, "%s\n", strstr(json, "'x': {"));
    nino_graph *g = flow_graph(json);
    const nino_status st = run(g, &o);
    if (st && st != NINO_ERR_CANCELLED && !*err.msg)
        fprintf(stderr, "%s: no word of what went wrong\n", d->key), ok = false;
    *n_ok += !st;
    if (!st && !(o.no_files && d->is_output) && // which then does nothing
        nino_graph_plan(ctx, g, NULL, &o, &plan, &err)) {
        fprintf(stderr, "%s\n  runs, but its plan says %s: %s\n", strstr(json, "'x': {"), err.where,
                err.msg);
        ok = false;
    } else if (!st && !(o.no_files && d->is_output)) {
        nino_plan_release(&plan);
    }
    nino_graph_destroy(&g);
    return ok;
}

int main(void)
{
    const bool is_one = getenv("NINODES_TEST_CLASS");
    const int times = getenv("NINODES_TEST_LONG") ? 10 : 1;
    int n_classes = 0, n = 0, n_ok = 0, wrong = 0;
    signal(SIGSEGV, on_crash);
    signal(SIGABRT, on_crash);
    signal(SIGFPE, on_crash);
    ctx = any_open();
    for (int i = 0; nino_node_defs[i]; i++) {
        const int before = n;
        for (int k = 0; k < times && (k || any_begin(i)); k++)
            if (make_json(nino_node_defs[i])) {
                n++;
                wrong += !check_case(nino_node_defs[i], &n_ok);
            }
        n_classes += n > before;
        flow_forget_outputs();
    }
    printf("  %d runs of %d classes, %d of them without an error\n", n, n_classes, n_ok);
    CHECK(is_one || (n_classes > 300 && n_ok > n / 4));
    CHECK(!wrong);
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
