// Traces with every allocation failing, once and from there on: written in each form, and read.
#include "core/monitor/trace/trace_own.h"
#include "tests/oom.h"
#include "tests/unit/monitor/trace_run.h"
#include <ninodes/history.h>

static char dir[] = "/tmp/ninodes-oom-trace-XXXXXX", path[100];

static void write_trace(int may_fail)
{
    nino_error err = { 0 };
    nino_event e[64];
    const size_t n = a_run(e);
    nino_trace *t = nino_trace_create(path, &err);
    nino_status st = t ? NINO_OK : err.code;
    if (t) {
        nino_trace_add(t, e, n, name_of, NULL);
        st = nino_trace_finish(&t, &err);
    }
    oom_passed(st, &err, may_fail);
}

static void read_trace(int may_fail)
{
    nino_error err = { 0 };
    const long at = oom_pause(); // what statistics need is another matter
    nino_stats *stats = nino_stats_create();
    CHECK(stats);
    oom_resume(at);
    const nino_status st = nino_trace_load(path, stats, &err);
    if (st != NINO_ERR_UNSUPPORTED) // Perfetto's
        oom_passed(st, &err, may_fail);
    nino_stats_destroy(&stats);
}

int main(void)
{
    static const char *const forms[] = { "ninotrace", "json", "pftrace" };
    CHECK(mkdtemp(dir));
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/a.%s", dir, forms[i]);
        printf("  %s: %ld allocations", forms[i], oom_each(write_trace));
        printf(", %ld to read it\n", oom_each(read_trace));
        CHECK(!unlink(path));
    }
    CHECK(!rmdir(dir));
    return 0;
}
