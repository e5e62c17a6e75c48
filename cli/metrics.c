// The state of a run as OpenMetrics text, for dashboards: what `ninodes monitor --metrics` prints and
// `ninodes serve` answers.
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void metrics_head(FILE *f, const char *name, const char *type, const char *help)
{
    fprintf(f, "# TYPE ninodes_%s %s\n# HELP ninodes_%s %s\n", name, type, name, help);
}

// The value of a label: backslash, quote and line end are escaped.
static void label(FILE *f, const char *key, const char *value, const char *before)
{
    fprintf(f, "%s%s=\"", before, key);
    for (const char *c = value; *c; c++) {
        if (*c == '\\' || *c == '"')
            putc('\\', f);
        if (*c == '\n')
            fprintf(f, "\\n");
        else
            putc(*c, f);
    }
    putc('"', f);
}

static void gauge(FILE *f, const char *name, const char *help, double v)
{
    if (!isfinite(v))
        return; // what is not known is left out
    metrics_head(f, name, "gauge", help);
    fprintf(f, "ninodes_%s %.12g\n", name, v);
}

static void metrics_kernels(FILE *f, const nino_stats *s)
{
    const size_t n = nino_stats_ops(s, NULL, 0);
    nino_op_stat *op = calloc(n + 1, sizeof(*op));
    if (!op)
        return;
    nino_stats_ops(s, op, n);
    metrics_head(f, "kernel_seconds", "counter", "Time of a kernel or transfer on the device.");
    for (size_t i = 0; i < n; i++) {
        fprintf(f, "ninodes_kernel_seconds_total");
        label(f, "kernel", op[i].name, "{");
        label(f, "family", op[i].family, ",");
        fprintf(f, "} %.12g\n", (double) op[i].total_ns * 1e-9);
    }
    metrics_head(f, "kernel_calls", "counter", "How often it ran.");
    for (size_t i = 0; i < n; i++) {
        fprintf(f, "ninodes_kernel_calls_total");
        label(f, "kernel", op[i].name, "{");
        label(f, "family", op[i].family, ",");
        fprintf(f, "} %llu\n", (unsigned long long) op[i].calls);
    }
    free(op);
}

static void metrics_nodes(FILE *f, const nino_stats *s)
{
    const size_t n = nino_stats_nodes(s, NULL, 0);
    nino_node_stat *node = calloc(n + 1, sizeof(*node));
    if (!node)
        return;
    nino_stats_nodes(s, node, n);
    metrics_head(f, "node_seconds", "counter", "Wall time of a node.");
    for (size_t i = 0; i < n; i++) {
        fprintf(f, "ninodes_node_seconds_total");
        label(f, "node", node[i].name, "{");
        fprintf(f, "} %.12g\n", (double) node[i].ns * 1e-9);
    }
    free(node);
    uint64_t programs;
    const uint64_t preparing = nino_stats_preparing(s, &programs);
    metrics_head(f, "preparing_seconds", "counter",
                 "Time that nodes waited for kernels to be made.");
    fprintf(f, "ninodes_preparing_seconds_total %.12g\n", (double) preparing * 1e-9);
    metrics_head(f, "prepared_programs", "counter", "How many programs that was.");
    fprintf(f, "ninodes_prepared_programs_total %llu\n", (unsigned long long) programs);
}

static void metrics_memory(FILE *f, const nino_stats *s)
{
    static const char *const owners[] = { "weights", "activations", "workspace", "staging" };
    nino_mem_stat m;
    nino_stats_memory(s, &m);
    metrics_head(f, "pool_bytes", "gauge", "What the memory pool has handed out.");
    for (int i = 0; i < NINO_OWN_COUNT; i++) {
        fprintf(f, "ninodes_pool_bytes");
        label(f, "owner", owners[i], "{");
        fprintf(f, "} %llu\n", (unsigned long long) m.by_owner[i]);
    }
    gauge(f, "pool_peak_bytes", "The most that was handed out at once.", (double) m.peak);
    gauge(f, "pool_held_bytes", "What the pool has from the driver.", (double) m.reserved);
    if (m.budget)
        gauge(f, "pool_budget_bytes", "What it may take.", (double) m.budget);
}

// The counters as they were told last, in the base units of OpenMetrics.
static void metrics_counters(FILE *f, const nino_history *h)
{
    static const struct {
        const char *suffix;
        double scale;
    } base[] = { [NINO_UNIT_NONE] = { "", 1 },        [NINO_UNIT_PERCENT] = { "_ratio", 0.01 },
                 [NINO_UNIT_BYTES] = { "_bytes", 1 }, [NINO_UNIT_MHZ] = { "_hertz", 1e6 },
                 [NINO_UNIT_WATT] = { "_watts", 1 },  [NINO_UNIT_CELSIUS] = { "_celsius", 1 } };
    const nino_counter *c;
    for (unsigned id = 1; (c = nino_counter_row(id)); id++) {
        char name[96];
        size_t n;
        const nino_reading *r = nino_history_counter(h, (nino_counter_id) id, &n);
        if (!n || !isfinite(r[n - 1].value))
            continue; // what is not known is left out
        snprintf(name, sizeof(name), "%s%s", nino_counter_word(c, c->metric), base[c->unit].suffix);
        for (char *p = name; *p; p++)
            *p = *p == '.' ? '_' : *p;
        const bool is_total = c->kind == NINO_COUNTER_TOTAL;
        metrics_head(f, name, is_total ? "counter" : "gauge", c->text);
        fprintf(f, "ninodes_%s%s %.12g\n", name, is_total ? "_total" : "",
                r[n - 1].value * base[c->unit].scale);
    }
}

static void metrics_queue(FILE *f, const nino_queue *q)
{
    static const nino_queue_state states[] = { NINO_QUEUE_WAITING, NINO_QUEUE_RUNNING,
                                               NINO_QUEUE_DONE, NINO_QUEUE_FAILED,
                                               NINO_QUEUE_CANCELLED };
    if (!q)
        return;
    metrics_head(f, "queue_jobs", "gauge", "Jobs of the queue by state.");
    for (size_t k = 0; k < sizeof(states) / sizeof(states[0]); k++) {
        size_t n = 0;
        for (size_t i = 0; i < q->n_jobs; i++)
            n += q->jobs[i].state == states[k];
        fprintf(f, "ninodes_queue_jobs");
        label(f, "state", nino_queue_state_name(states[k]), "{");
        fprintf(f, "} %zu\n", n);
    }
    gauge(f, "queue_paused", "1: it is held.", q->is_paused ? 1 : 0);
}

void metrics_print(FILE *f, const nino_stats *s, const nino_history *h, const nino_queue *q)
{
    nino_energy_stat e;
    metrics_queue(f, q);
    metrics_nodes(f, s);
    metrics_kernels(f, s);
    metrics_memory(f, s);
    metrics_counters(f, h);
    nino_stats_energy(s, &e);
    if (isfinite(e.joules)) {
        metrics_head(f, "energy_joules", "counter", "What the device took while jobs ran.");
        fprintf(f, "ninodes_energy_joules_total %.12g\n", e.joules);
    }
    metrics_head(f, "telemetry_lost", "counter", "Records that were lost on the way here.");
    fprintf(f, "ninodes_telemetry_lost_total %llu\n", (unsigned long long) nino_stats_lost(s));
    uint64_t summed;
    const uint64_t count = nino_stats_count(s, &summed);
    metrics_head(f, "telemetry_records", "counter", "Records that these totals are made of.");
    fprintf(f, "ninodes_telemetry_records_total %llu\n", (unsigned long long) count);
    gauge(f, "telemetry_summed", "Those of them that are not held one by one any more.",
          (double) summed);
    fprintf(f, "# EOF\n");
}
