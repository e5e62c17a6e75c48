// What evaluations of one sampling run keep: rows of time steps.
#include "core/model/kept.h"

#include <stdlib.h>

int nino_run_time_of(nino_stream *s, const nino_run_times *k, const float *t, int64_t n)
{
    int at = -1;
    if (!k || !k->n || nino_stream_status(s, NULL))
        return -1;
    if (nino_stream_is_plan(s))
        return 0;
    for (int i = 0; i < k->n && at < 0; i++)
        at = k->t[i] == t[0] ? i : -1;
    for (int64_t i = 1; i < n; i++)
        if (t[i] != t[0])
            return -1;
    return at;
}

bool nino_run_times_alloc(nino_stream *s, nino_run_times *k, int n)
{
    if (!(k->rows = calloc((size_t) n, sizeof(nino_tensor *)))) {
        nino_stream_fail(s, NINO_ERR_NOMEM, "model", "no memory for the time steps");
        return false;
    }
    k->n_rows = n;
    return true;
}

void nino_run_times_release(nino_run_times *k)
{
    for (int i = 0; i < k->n_rows; i++)
        nino_unref(k->rows[i]);
    free(k->rows);
    k->rows = NULL;
    k->n_rows = 0;
}
