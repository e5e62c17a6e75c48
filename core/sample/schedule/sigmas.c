// Lists of noise levels: making them, and the nodes that cut, flip and stretch them (ComfyUI
// nodes_custom_sampler.py).
#include "core/base/error.h"
#include "core/tensor/scalar.h"
#include "core/sample/schedule/schedule_priv.h"
#include <stdlib.h>
#include <string.h>

void nino_sigmas_release(nino_sigmas *s)
{
    if (!s)
        return;
    free(s->v);
    s->v = NULL;
    s->n = 0;
}

nino_status nino_schedule_check_steps(int steps, nino_error *err)
{
    if (steps < 1 || steps > 10000000)
        return nino_fail(err, NINO_ERR_RANGE, "steps", "%d is not in 1..10000000", steps);
    return NINO_OK;
}

nino_status nino_sigmas_create(int n, nino_sigmas *out, nino_error *err)
{
    nino_sigmas s = { 0 };
    if (n > 0) {
        s.n = n;
        s.v = calloc((size_t) n, sizeof(*s.v));
        if (!s.v)
            return nino_fail(err, NINO_ERR_NOMEM, "sigmas", "no memory for %d values", n);
    }
    *out = s;
    return NINO_OK;
}

nino_status nino_sigmas_slice(const nino_sigmas *s, int from, int to, nino_sigmas *out,
                              nino_error *err)
{
    from = from < 0 ? 0 : from > s->n ? s->n : from;
    to = to < from ? from : to > s->n ? s->n : to;
    const nino_status st = nino_sigmas_create(to - from, out, err);
    if (st == NINO_OK && out->v)
        memcpy(out->v, s->v + from, (size_t) (to - from) * sizeof(float));
    return st;
}

void nino_sigmas_keep_last(nino_sigmas *s, int n)
{
    if (!s->v || n >= s->n)
        return;
    memmove(s->v, s->v + (s->n - n), (size_t) n * sizeof(float));
    s->n = n;
}

nino_status nino_sigmas_copy(const nino_sigmas *s, nino_sigmas *out, nino_error *err)
{
    return nino_sigmas_slice(s, 0, s->n, out, err);
}

static nino_status sigmas_cut(const nino_sigmas *s, int high_end, int low_begin, nino_sigmas *high,
                              nino_sigmas *low, nino_error *err)
{
    nino_sigmas a, b;
    nino_status st = nino_sigmas_slice(s, 0, high_end, &a, err);
    if (st)
        return st;
    if ((st = nino_sigmas_slice(s, low_begin, s->n, &b, err))) {
        nino_sigmas_release(&a);
        return st;
    }
    *high = a;
    *low = b;
    return NINO_OK;
}

nino_status nino_sigmas_split(const nino_sigmas *s, int step, nino_sigmas *high, nino_sigmas *low,
                              nino_error *err)
{
    step = step < 0 ? 0 : step > s->n ? s->n : step;
    return sigmas_cut(s, step + 1, step, high, low, err);
}

nino_status nino_sigmas_split_denoise(const nino_sigmas *s, double denoise, nino_sigmas *high,
                                      nino_sigmas *low, nino_error *err)
{
    const int steps = s->n > 0 ? s->n - 1 : 0;
    const int total = (int) rint(steps * fmin(fmax(denoise, 0), 1));
    // As in ComfyUI, nothing to denoise leaves no high part: s[:-0] is empty.
    return sigmas_cut(s, total ? s->n - total : 0, s->n - (total + 1), high, low, err);
}

nino_status nino_sigmas_flip(const nino_sigmas *s, nino_sigmas *out, nino_error *err)
{
    nino_sigmas r;
    const nino_status st = nino_sigmas_create(s->n, &r, err);
    if (st)
        return st;
    for (int i = 0; i < r.n; i++)
        r.v[i] = s->v[s->n - 1 - i];
    if (r.n && r.v[0] == 0)
        r.v[0] = 0.0001f; // no sampler can start from 0
    *out = r;
    return NINO_OK;
}

nino_status nino_sigmas_set_first(const nino_sigmas *s, double sigma, nino_sigmas *out,
                                  nino_error *err)
{
    if (s->n == 0)
        return nino_fail(err, NINO_ERR_RANGE, "sigmas", "the list is empty: there is no first");
    nino_sigmas r;
    const nino_status st = nino_sigmas_copy(s, &r, err);
    if (st)
        return st;
    if (r.v)
        r.v[0] = (float) sigma;
    *out = r;
    return NINO_OK;
}

// u in (0, 1) bent by the chosen curve
static float spaced(nino_spacing spacing, float u)
{
    const float quarter = u * 3.14159265358979323846f / 2.0f;
    switch (spacing) {
    case NINO_SPACING_LINEAR: return u;
    case NINO_SPACING_COSINE: return (float) sin(quarter);
    case NINO_SPACING_SINE: return 1.0f - (float) cos(quarter);
    }
    return u;
}

nino_status nino_sigmas_extend(const nino_sigmas *s, int steps, double start_at, double end_at,
                               nino_spacing spacing, nino_sigmas *out, nino_error *err)
{
    if (steps < 1 || steps > 10000)
        return nino_fail(err, NINO_ERR_RANGE, "steps", "%d is not in 1..10000", steps);
    const double high = start_at < 0 ? INFINITY : start_at;
    int64_t n = s->n;
    for (int i = 0; i + 1 < s->n; i++)
        n += end_at <= s->v[i] && s->v[i] <= high ? steps - 1 : 0;
    if (n > INT32_MAX)
        return nino_fail(err, NINO_ERR_RANGE, "steps", "%d makes too long a list", steps);
    nino_sigmas r;
    const nino_status st = nino_sigmas_create((int) n, &r, err);
    if (st)
        return st;
    int k = 0;
    for (int i = 0; r.v && i < s->n; i++) {
        r.v[k++] = s->v[i];
        if (i + 1 == s->n || !(end_at <= s->v[i] && s->v[i] <= high))
            continue;
        for (int j = 1; j < steps; j++) {
            const float u = spaced(spacing, f_linspace(0, 1, steps + 1, j));
            r.v[k++] = u * (s->v[i + 1] - s->v[i]) + s->v[i];
        }
    }
    *out = r;
    return NINO_OK;
}

double nino_schedule_percent(const nino_sampling *ms, double percent, bool actual)
{
    if (actual && percent == 0)
        return ms->sigma_max;
    if (actual && percent == 1)
        return ms->sigma_min;
    return nino_sampling_percent_to_sigma(ms, percent);
}
