// Of what took time a transfer is no kernel, though it may be chosen.
#include "live/shown_kernel.h"

// Of the selected range; *n: how many. g_free().
static nino_op_stat *shown_kernel_ops(NinoRun *run, size_t *n)
{
    const nino_stats *s = nino_run_stats(run);
    *n = s ? nino_stats_ops(s, NULL, 0) : 0;
    nino_op_stat *ops = g_new0(nino_op_stat, *n + 1);
    if (*n)
        nino_stats_ops(s, ops, *n);
    return ops;
}

uint32_t nino_shown_kernel(NinoRun *run)
{
    size_t n;
    uint32_t found = nino_run_kernel(run);
    if (found)
        return found;
    g_autofree nino_op_stat *ops = shown_kernel_ops(run, &n);
    for (size_t i = 0; i < n && !found; i++)
        if (strcmp(ops[i].family, "transfer") != 0)
            found = nino_history_find(nino_run_history(run), ops[i].name);
    return found;
}

void nino_shown_calls(NinoRun *run, uint32_t kernel, nino_histogram *out)
{
    guint64 t0, t1;
    size_t n;
    nino_run_range(run, &t0, &t1);
    if (!kernel || nino_history_histogram(nino_run_history(run), kernel, t0, t1, out, NULL))
        *out = (nino_histogram){ .calls = 0 };
    g_autofree nino_op_stat *ops = shown_kernel_ops(run, &n);
    for (size_t i = 0; i < n; i++)
        if (ops[i].calls == out->calls && !strcmp(ops[i].name, nino_run_name(run, kernel))) {
            out->p50_ns = ops[i].p50_ns;
            out->p95_ns = ops[i].p95_ns;
            out->p99_ns = MAX(out->p99_ns, out->p95_ns); // of very many, those two are within 2 %
        }
}
