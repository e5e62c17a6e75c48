// The state of a run as OpenMetrics text, for dashboards: what `ninodes monitor --metrics` prints.
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void head(const char *name, const char *type, const char *help)
{
    printf("# TYPE ninodes_%s %s\n# HELP ninodes_%s %s\n", name, type, name, help);
}

// The value of a label: backslash, quote and line end are escaped.
static void label(const char *key, const char *value, const char *before)
{
    printf("%s%s=\"", before, key);
    for (const char *c = value; *c; c++) {
        if (*c == '\\' || *c == '"')
            putchar('\\');
        if (*c == '\n')
            printf("\\n");
        else
            putchar(*c);
    }
    putchar('"');
}

static void gauge(const char *name, const char *help, double v)
{
    if (!isfinite(v))
        return; // what is not known is left out
    head(name, "gauge", help);
    printf("ninodes_%s %.12g\n", name, v);
}

static void kernels(const nino_stats *s)
{
    const size_t n = nino_stats_ops(s, NULL, 0);
    nino_op_stat *op = calloc(n + 1, sizeof(*op));
    if (!op)
        return;
    nino_stats_ops(s, op, n);
    head("kernel_seconds", "counter", "Time of a kernel or transfer on the device.");
    for (size_t i = 0; i < n; i++) {
        printf("ninodes_kernel_seconds_total");
        label("kernel", op[i].name, "{");
        label("family", op[i].family, ",");
        printf("} %.12g\n", (double) op[i].total_ns * 1e-9);
    }
    head("kernel_calls", "counter", "How often it ran.");
    for (size_t i = 0; i < n; i++) {
        printf("ninodes_kernel_calls_total");
        label("kernel", op[i].name, "{");
        label("family", op[i].family, ",");
        printf("} %llu\n", (unsigned long long) op[i].calls);
    }
    free(op);
}

static void nodes(const nino_stats *s)
{
    const size_t n = nino_stats_nodes(s, NULL, 0);
    nino_node_stat *node = calloc(n + 1, sizeof(*node));
    if (!node)
        return;
    nino_stats_nodes(s, node, n);
    head("node_seconds", "counter", "Wall time of a node.");
    for (size_t i = 0; i < n; i++) {
        printf("ninodes_node_seconds_total");
        label("node", node[i].name, "{");
        printf("} %.12g\n", (double) node[i].ns * 1e-9);
    }
    free(node);
}

static void memory(const nino_stats *s)
{
    static const char *const owners[] = { "weights", "activations", "workspace", "staging" };
    nino_mem_stat m;
    nino_stats_memory(s, &m);
    head("pool_bytes", "gauge", "What the memory pool has handed out.");
    for (int i = 0; i < NINO_OWN_COUNT; i++) {
        printf("ninodes_pool_bytes");
        label("owner", owners[i], "{");
        printf("} %llu\n", (unsigned long long) m.by_owner[i]);
    }
    gauge("pool_peak_bytes", "The most that was handed out at once.", (double) m.peak);
    gauge("pool_held_bytes", "What the pool has from the driver.", (double) m.reserved);
    if (m.budget)
        gauge("pool_budget_bytes", "What it may take.", (double) m.budget);
}

static double known(uint64_t v) { return v ? (double) v : (double) NAN; }

static void device(const nino_history *h)
{
    size_t n;
    const nino_event *ev = nino_history_points(h, NINO_EV_DEVICE, &n);
    if (ev && n) {
        const nino_event *e = &ev[n - 1];
        gauge("device_busy_ratio", "Load of the device.", (double) e->u.device.busy / 100);
        gauge("device_clock_hertz", "Its clock.", (double) e->u.device.mhz * 1e6);
        gauge("device_power_watts", "What it takes.", (double) e->u.device.watt);
        gauge("device_temperature_celsius", "Its temperature.", (double) e->u.device.celsius);
        gauge("device_vram_used_bytes", "Memory of its own in use.", known(e->u.device.vram_used));
        gauge("device_gtt_used_bytes", "Memory of the machine that it uses.",
              known(e->u.device.gtt_used));
        gauge("ram_available_bytes", "Memory of the machine for new programs.",
              known(e->u.device.ram_available));
    }
    ev = nino_history_points(h, NINO_EV_HOST, &n);
    if (ev && n)
        gauge("process_resident_bytes", "Memory of the process that computes.",
              known((uint64_t) ev[n - 1].u.host.own << 20));
}

static void queue(const nino_queue *q)
{
    static const nino_queue_state states[] = { NINO_QUEUE_WAITING, NINO_QUEUE_RUNNING,
                                               NINO_QUEUE_DONE, NINO_QUEUE_FAILED,
                                               NINO_QUEUE_CANCELLED };
    if (!q)
        return;
    head("queue_jobs", "gauge", "Jobs of the queue by state.");
    for (size_t k = 0; k < sizeof(states) / sizeof(states[0]); k++) {
        size_t n = 0;
        for (size_t i = 0; i < q->n_jobs; i++)
            n += q->jobs[i].state == states[k];
        printf("ninodes_queue_jobs");
        label("state", nino_queue_state_name(states[k]), "{");
        printf("} %zu\n", n);
    }
    gauge("queue_paused", "1: it is held.", q->is_paused ? 1 : 0);
}

void metrics_print(const nino_stats *s, const nino_history *h, const nino_queue *q)
{
    nino_energy_stat e;
    queue(q);
    nodes(s);
    kernels(s);
    memory(s);
    device(h);
    nino_stats_energy(s, &e);
    if (isfinite(e.joules)) {
        head("energy_joules", "counter", "What the device took while jobs ran.");
        printf("ninodes_energy_joules_total %.12g\n", e.joules);
    }
    head("telemetry_lost", "counter", "Records that were lost on the way here.");
    printf("ninodes_telemetry_lost_total %llu\n# EOF\n", (unsigned long long) nino_stats_lost(s));
}
