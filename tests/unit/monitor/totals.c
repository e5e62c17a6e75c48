// A viewer that comes when most records are not held any more has the same totals as one that saw
// all of them; what is missing one by one is told to the record, and what is lost, too.
#include "core/event/ring.h"
#include "core/event/stats_sums.h"
#include "core/monitor/link/serve.h"
#include "tests/test.h"
#include <ninodes/statistics.h>
#include <ninodes/history.h>

#include <math.h>
#include <poll.h>
#include <stdbool.h>

static nino_error err;
static uint64_t published;
// Who sees all of it, in this process: of all jobs, and of the last one.
static nino_mon_reader *early;
static nino_stats *early_all, *early_job;

static const char *monitor_name(void *m, uint32_t id) { return nino_monitor_name_text(m, id); }

static void look_early(nino_monitor *m)
{
    static nino_event ev[8192];
    uint64_t lost = 0;
    const size_t n = early ? nino_mon_reader_read(early, ev, 8192, &lost) : 0;
    CHECK(!lost && n < 8192);
    for (size_t i = 0; i < n; i++) {
        if (ev[i].kind == NINO_EV_JOB) {
            nino_stats *next = nino_stats_create();
            CHECK(next);
            nino_stats_go_on(next, early_job);
            nino_stats_destroy(&early_job);
            early_job = next;
        }
        nino_stats_add(early_all, &ev[i], 1, monitor_name, m);
        nino_stats_add(early_job, &ev[i], 1, monitor_name, m);
    }
}

static void put(nino_monitor *m, nino_server *s, nino_event ev)
{
    nino_monitor_publish(m, &ev);
    static uint64_t looked;
    if (++published < looked + 4096)
        return;
    looked = published;
    look_early(m);
    for (int i = 0; i < 10000; i++) { // until it has counted what the ring will be short of
        if (!s || nino_server_counted(s) + NINO_RING_SIZE / 4 * 3 >= published)
            return;
        usleep(1000);
    }
    CHECK(!"the server counts");
}

static uint64_t planned_for(int nodes) { return (uint64_t) nodes << 20; }

// A made-up job: nodes with steps, kernels of several shapes and lengths, memory, caches, power.
static void run_job(nino_monitor *m, nino_server *s, int nodes, int steps, bool is_left_open)
{
    static const char *const op[] = { "gemm", "conv", "norm" };
    const uint32_t job = nino_monitor_begin(m, NINO_EV_JOB, "job", 0, 0);
    published++;
    put(m, s,
        (nino_event){ .kind = NINO_EV_MEM,
                      .sub = NINO_MEM_PLANNED,
                      .u.mem = { planned_for(nodes), 0, 1 << 20, 1 << 19, NINO_OWN_ACTIVATION } });
    for (int i = 0; i < nodes; i++) {
        char name[40];
        snprintf(name, sizeof(name), "%d Node%d", i, i);
        const uint32_t node = nino_monitor_begin(m, NINO_EV_NODE, name, (uint32_t) i, 0);
        published++;
        put(m, s,
            (nino_event){ .kind = NINO_EV_MEM,
                          .sub = NINO_MEM_ALLOC,
                          .u.mem = { 4096, (uint64_t) (i + 1) * 4096, 1 << 20, 1 << 19,
                                     (uint8_t) (i % NINO_OWN_COUNT), i % 2, 0, 16 } });
        for (int k = 0; k < steps; k++) {
            const uint32_t step = nino_monitor_begin(m, NINO_EV_STEP, "step", 0, 0);
            for (int j = 0; j < 8; j++) {
                const uint64_t ns = (uint64_t) (1000 + (k * 37 + j * 101 + i * 7) % 90000);
                put(m, s,
                    (nino_event){
                        .kind = NINO_EV_KERNEL,
                        .track = 256,
                        .name = nino_monitor_name(m, op[j % 3]),
                        .id = nino_kernel_id(j % 2 ? 16 : 32, 0),
                        .u.kernel = { .dur_ns = ns,
                                      .flops = (double) ns * 3,
                                      .bytes = 64,
                                      .shape = nino_monitor_name(m, "2x64"),
                                      .family = nino_monitor_name(m, j % 3 ? "conv" : "gemm") } });
            }
            put(m, s, (nino_event){ .kind = NINO_EV_CACHE, .u.scope.arg0 = k % 3 == 0 });
            nino_monitor_end(m, step);
            published += 2;
        }
        if (is_left_open && i == nodes - 1)
            return;
        nino_monitor_end(m, node);
        published++;
    }
    nino_monitor_end(m, job);
    published++;
}

// Adds what comes until this message does; the history forgets when a job begins, as the app's does.
static void read_all(nino_attach *a, nino_stats *all, nino_history *job, const char *end,
                     uint64_t *records)
{
    nino_event part[500];
    for (bool done = false; !done;) {
        size_t n;
        struct pollfd p = { nino_attach_fd(a), POLLIN, 0 };
        CHECK_OK(nino_attach_read(a, part, 500, &n, &err), err);
        nino_stats_add(all, part, n, nino_attach_name, a);
        for (size_t i = 0; i < n; i++) {
            if (part[i].kind == NINO_EV_JOB)
                nino_history_restart(job, part[i].t_ns);
            nino_history_add(job, &part[i], 1, nino_attach_name, a);
            *records += part[i].kind != NINO_EV_SUM;
            done = done || (part[i].kind == NINO_EV_MESSAGE &&
                            !strcmp(nino_attach_name(a, part[i].name), end));
        }
        if (!n)
            poll(&p, 1, 1000);
    }
}

static bool is_near(double a, double b) { return fabs(a - b) <= 1e-9 * fabs(b); }

static void same_ops(const nino_op_stat *a, const nino_op_stat *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        CHECK_STR(a[i].name, b[i].name);
        CHECK_STR(a[i].family, b[i].family);
        CHECK(a[i].calls == b[i].calls && a[i].total_ns == b[i].total_ns);
        CHECK(a[i].min_ns == b[i].min_ns && a[i].max_ns == b[i].max_ns);
        CHECK(a[i].p50_ns == b[i].p50_ns && a[i].p95_ns == b[i].p95_ns);
        CHECK(a[i].flops == b[i].flops && a[i].bytes == b[i].bytes);
        CHECK(is_near(a[i].mean_ns, b[i].mean_ns) && is_near(a[i].sigma_ns, b[i].sigma_ns));
    }
}

static void same_totals(const nino_stats *a, const nino_stats *b)
{
    nino_op_stat op[2][16];
    nino_node_stat node[2][64];
    nino_mem_stat mem[2];
    const size_t n = nino_stats_ops(a, op[0], 16), n_nodes = nino_stats_nodes(a, node[0], 64);
    CHECK(n && n == nino_stats_ops(b, op[1], 16));
    same_ops(op[0], op[1], n);
    CHECK(n_nodes && n_nodes == nino_stats_nodes(b, node[1], 64) && n_nodes <= 64);
    for (size_t i = 0; i < n_nodes; i++) {
        CHECK_STR(node[0][i].name, node[1][i].name);
        CHECK(node[0][i].ns == node[1][i].ns && node[0][i].kernel_ns == node[1][i].kernel_ns);
        CHECK(node[0][i].calls == node[1][i].calls);
        CHECK(node[0][i].mem_delta == node[1][i].mem_delta);
        CHECK(node[0][i].mem_peak == node[1][i].mem_peak);
    }
    nino_stats_memory(a, &mem[0]);
    nino_stats_memory(b, &mem[1]);
    CHECK(!memcmp(&mem[0], &mem[1], sizeof(mem[0])));
    for (const nino_statistic *t = nino_statistics(); t->name; t++) {
        const double x = t->value(a), y = t->value(b);
        CHECK(is_near(x, y) || (isnan(x) && isnan(y)));
    }
    CHECK(nino_stats_count(a, NULL) == nino_stats_count(b, NULL));
}

static void late_is_as_early(void)
{
    nino_monitor *m = nino_monitor_create();
    nino_server *s = nino_server_start(m, "", NULL, NULL, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    early = nino_mon_reader_create(m);
    early_all = nino_stats_create();
    early_job = nino_stats_create();
    nino_stats *all = nino_stats_create();
    nino_history *job = nino_history_create(0);
    CHECK(early && early_all && early_job && all && job);
    run_job(m, s, 5, 2500, false); // 137 thousand records,
    run_job(m, s, 40, 300, true);  // and as many of one that runs
    CHECK(published > 250000);
    nino_attach *late = nino_attach_open(nino_server_path(s), &err);
    CHECK_OK(late ? NINO_OK : err.code, err);
    nino_monitor_message(m, NINO_LOG_INFO, "the end of what is read");
    published++;
    look_early(m);
    uint64_t records = 0, summed;
    read_all(late, all, job, "the end of what is read", &records);
    CHECK(nino_stats_count(all, &summed) == published && nino_stats_lost(all) == 0);
    CHECK(summed > 150000 && published - summed <= NINO_RING_SIZE);
    CHECK(records == published - summed);
    same_totals(all, early_all);
    same_totals(nino_history_stats(job), early_job);
    CHECK(nino_history_planned(job, NULL) == planned_for(40)); // told long ago

    // A second one, later, never has less.
    nino_op_stat before[16], after[16];
    const size_t n = nino_stats_ops(all, before, 16);
    nino_attach *later = nino_attach_open(nino_server_path(s), &err);
    nino_stats *again = nino_stats_create();
    CHECK(later && again);
    put(m, s, (nino_event){ .kind = NINO_EV_CACHE });
    nino_monitor_message(m, NINO_LOG_INFO, "another end");
    read_all(later, again, job, "another end", &records);
    CHECK(nino_stats_count(again, NULL) == published + 1);
    CHECK(nino_stats_ops(again, after, 16) == n);
    same_ops(before, after, n);
    nino_stats_destroy(&again);
    nino_attach_close(&later);
    nino_attach_close(&late);
    nino_history_destroy(&job);
    nino_stats_destroy(&all);
    nino_stats_destroy(&early_all);
    nino_stats_destroy(&early_job);
    nino_mon_reader_destroy(&early);
    nino_server_stop(&s);
    nino_monitor_destroy(&m);
}

// More at once than the rings hold: what nobody could count is told as lost, no more and no less.
static void loss_is_told(void)
{
    enum { MANY = 300000 };
    nino_monitor *m = nino_monitor_create();
    nino_server *s = nino_server_start(m, "", NULL, NULL, &err);
    nino_stats *all = nino_stats_create();
    nino_history *job = nino_history_create(0);
    uint64_t records = 0, summed;
    CHECK(s && all && job);
    for (int i = 0; i < MANY - 1; i++)
        nino_monitor_publish(m, &(nino_event){ .kind = NINO_EV_CACHE });
    nino_attach *a = nino_attach_open(nino_server_path(s), &err);
    CHECK_OK(a ? NINO_OK : err.code, err);
    nino_monitor_message(m, NINO_LOG_INFO, "the end");
    read_all(a, all, job, "the end", &records);
    CHECK(nino_stats_count(all, &summed) + nino_stats_lost(all) == MANY);
    CHECK(records >= NINO_RING_SIZE / 2);
    CHECK(nino_stats_lost(nino_history_stats(job)) == nino_stats_lost(all));
    nino_attach_close(&a);
    nino_history_destroy(&job);
    nino_stats_destroy(&all);
    nino_server_stop(&s);
    nino_monitor_destroy(&m);
}

int main(void)
{
    char dir[] = "/tmp/ninodes-totals-XXXXXX", cmd[64];
    CHECK(mkdtemp(dir) && !setenv("XDG_RUNTIME_DIR", dir, 1));
    late_is_as_early();
    loss_is_told();
    snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
    CHECK(system(cmd) == 0);
    return 0;
}
