// Of what took time a transfer is no kernel, though it may be chosen.
#include "live/shown_kernel.h"

uint32_t nino_shown_kernel(NinoRun *run)
{
    const uint32_t chosen = nino_run_kernel(run);
    const nino_stats *s = nino_run_stats(run);
    const size_t n = s && !chosen ? nino_stats_ops(s, NULL, 0) : 0;
    g_autofree nino_op_stat *ops = g_new0(nino_op_stat, n + 1);
    uint32_t found = chosen;
    if (n)
        nino_stats_ops(s, ops, n);
    for (size_t i = 0; i < n && !found; i++)
        if (strcmp(ops[i].family, "transfer") != 0)
            found = nino_history_find(nino_run_history(run), ops[i].name);
    return found;
}
