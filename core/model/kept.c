// What evaluations of one sampling run keep: what is made of texts, rows of time steps.
#include "core/model/kept.h"

#include <stdlib.h>

nino_tensor **nino_kept_at(nino_stream *s, nino_kept *k, int i, int n)
{
    if (!k || nino_stream_status(s, NULL))
        return NULL;
    if (!k->made) {
        if (!(k->made = calloc((size_t) n, sizeof(nino_tensor *)))) {
            nino_stream_fail(s, NINO_ERR_NOMEM, "model", "no memory for what a text is made");
            return NULL;
        }
        k->n = n;
    }
    return &k->made[i];
}

void nino_kept_release(nino_kept *k)
{
    for (int i = 0; i < k->n; i++)
        nino_unref(k->made[i]);
    free(k->made);
    *k = (nino_kept){ NULL, 0 };
}

nino_tensor *nino_kept_linear(nino_stream *s, nino_kept *k, int i, int n, nino_tensor *x,
                              const nino_linear *w, const nino_norm *norm)
{
    const bool is_small = x && nino_dim(x, 0) * nino_dim(x, 1) <= w->w->c;
    nino_tensor **at = is_small ? nino_kept_at(s, k, i, n) : NULL;
    if (at && *at)
        return nino_ref(*at);
    nino_tensor *y = nino_linear_op(s, nino_ref(x), w);
    y = norm ? nino_rms_norm(s, y, norm) : y;
    if (at)
        *at = nino_ref(y);
    return y;
}

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
