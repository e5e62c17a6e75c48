// Schedulers: which noise levels a run visits, and what KSampler does with them. Karras et al.
// (2022) appendix; beta: Lee et al. (2024); linear-quadratic: Genmo Mochi; kl_optimal: Sabour et
// al. (2024).
#include "core/sample/schedule/schedule.h"
#include "core/base/error.h"
#include "core/tensor/scalar.h"
#include "core/sample/schedule/schedule_priv.h"
#include <string.h>

const char *const nino_scheduler_names[NINO_SCHEDULER_COUNT + 1] = {
#define X(id, word) #word,
    NINO_SCHEDULERS(X)
#undef X
};

bool nino_scheduler_find(const char *name, nino_scheduler *out)
{
    for (int i = 0; i < NINO_SCHEDULER_COUNT; i++)
        if (!strcmp(name, nino_scheduler_names[i])) {
            *out = (nino_scheduler) i;
            return true;
        }
    return false;
}

// ---- the schedulers ---------------------------------------------------------------------------
static nino_status simple(const nino_sampling *ms, int steps, nino_sigmas *out, nino_error *err)
{
    const nino_status st = nino_sigmas_create(steps + 1, out, err);
    const double stride = (double) ms->n / steps;
    for (int k = 0; st == NINO_OK && k < steps; k++)
        out->v[k] = ms->sigmas[ms->n - 1 - (int) (k * stride)];
    return st;
}

static nino_status ddim_uniform(const nino_sampling *ms, int steps, nino_sigmas *out,
                                nino_error *err)
{
    const bool ends_in_zero = fabsf(ms->sigmas[1]) <= 1e-5f; // of itself
    steps += ends_in_zero;
    const int stride = ms->n / steps > 1 ? ms->n / steps : 1;
    const int taken = (ms->n - 2) / stride + 1;
    const nino_status st = nino_sigmas_create(taken + !ends_in_zero, out, err);
    for (int k = 0; st == NINO_OK && k < taken; k++)
        out->v[taken - 1 - k] = ms->sigmas[1 + k * stride];
    return st;
}

// Time steps evenly from the first to the last; sgm: without the last.
static nino_status uniform_time(const nino_sampling *ms, int steps, bool is_sgm, nino_sigmas *out,
                                nino_error *err)
{
    const float start = nino_sampling_timestep(ms, ms->sigma_max);
    const float end = nino_sampling_timestep(ms, ms->sigma_min);
    const bool ends_in_zero = !is_sgm && fabsf(nino_sampling_sigma(ms, end)) <= 1e-5f;
    const int n = steps + ends_in_zero; // of sigmas
    const nino_status st = nino_sigmas_create(n + !ends_in_zero, out, err);
    for (int k = 0; st == NINO_OK && k < n; k++)
        out->v[k] = nino_sampling_sigma(ms, f_linspace(start, end, n + is_sgm, k));
    return st;
}

static nino_status sgm_uniform(const nino_sampling *ms, int steps, nino_sigmas *out,
                               nino_error *err)
{
    return uniform_time(ms, steps, true, out, err);
}

static nino_status normal(const nino_sampling *ms, int steps, nino_sigmas *out, nino_error *err)
{
    return uniform_time(ms, steps, false, out, err);
}

static nino_status karras(const nino_sampling *ms, int steps, nino_sigmas *out, nino_error *err)
{
    return nino_schedule_karras(steps, ms->sigma_max, ms->sigma_min, 7, out, err);
}

static nino_status exponential(const nino_sampling *ms, int steps, nino_sigmas *out,
                               nino_error *err)
{
    return nino_schedule_exponential(steps, ms->sigma_max, ms->sigma_min, out, err);
}

static nino_status beta(const nino_sampling *ms, int steps, nino_sigmas *out, nino_error *err)
{
    return nino_schedule_beta(ms, steps, 0.6, 0.6, out, err);
}

static nino_status linear_quadratic(const nino_sampling *ms, int n, nino_sigmas *out,
                                    nino_error *err)
{
    const nino_status st = nino_sigmas_create(n + 1, out, err);
    if (st)
        return st;
    const double threshold = 0.025;
    const int m = n / 2, q = n - m; // linear, then quadratic steps
    const double d = m - threshold * n;
    const double a = d / ((double) m * q * q), b = threshold / m - 2 * d / ((double) q * q);
    const double c = a * m * m;
    out->v[0] = ms->sigma_max;
    for (int i = 1; i < n; i++) {
        const double done = i < m ? i * threshold / m : a * ((double) i * i) + b * i + c;
        out->v[i] = (float) (1.0 - done) * ms->sigma_max;
    }
    return NINO_OK;
}

static nino_status kl_optimal(const nino_sampling *ms, int n, nino_sigmas *out, nino_error *err)
{
    const nino_status st = nino_sigmas_create(n + 1, out, err);
    const float low = (float) atan(ms->sigma_min), high = (float) atan(ms->sigma_max);
    for (int k = 0; st == NINO_OK && k < n; k++) {
        const float u = (float) k / (float) (n - 1); // n = 1: NaN, as in ComfyUI
        out->v[k] = f_tan(u * low + (1.0f - u) * high);
    }
    return st;
}

static nino_status (*const schedulers[])(const nino_sampling *ms, int steps, nino_sigmas *out,
                                         nino_error *err) = {
#define X(id, word) word,
    NINO_SCHEDULERS(X)
#undef X
};

nino_status nino_schedule_make(const nino_sampling *ms, nino_scheduler scheduler, int steps,
                               nino_sigmas *out, nino_error *err)
{
    const nino_status st = nino_schedule_check_steps(steps, err);
    if (st)
        return st;
    if (scheduler >= NINO_SCHEDULER_COUNT)
        return nino_fail(err, NINO_ERR_ARG, "scheduler", "there is no scheduler %d",
                         (int) scheduler);
    return schedulers[scheduler](ms, steps, out, err);
}

// ---- what runs do with a schedule -------------------------------------------------------------
// Steps of the whole schedule of which `steps` are the part that denoise < 1 asks for.
static nino_status whole_steps(int steps, double denoise, int *total, nino_error *err)
{
    const double whole = floor(steps / denoise);
    if (!(whole <= 10000000))
        return nino_fail(err, NINO_ERR_RANGE, "denoise", "%g of %d steps makes too long a schedule",
                         denoise, steps);
    *total = (int) whole;
    return NINO_OK;
}

nino_status nino_schedule_basic(const nino_sampling *ms, nino_scheduler scheduler, int steps,
                                double denoise, nino_sigmas *out, nino_error *err)
{
    nino_status st = nino_schedule_check_steps(steps, err);
    if (st)
        return st;
    if (denoise <= 0)
        return nino_sigmas_create(0, out, err);
    int total = steps;
    if (denoise < 1 && (st = whole_steps(steps, denoise, &total, err)))
        return st;
    if ((st = nino_schedule_make(ms, scheduler, total, out, err)))
        return st;
    nino_sigmas_keep_last(out, steps + 1);
    return NINO_OK;
}

nino_status nino_schedule_ksampler(const nino_sampling *ms, const nino_ksampler_steps *p,
                                   nino_sigmas *out, nino_error *err)
{
    nino_status st = nino_schedule_check_steps(p->steps, err);
    if (st)
        return st;
    if (p->denoise <= 0)
        return nino_sigmas_create(0, out, err);
    int total = p->steps;
    const bool is_partial = p->denoise <= 0.9999;
    if (is_partial && (st = whole_steps(p->steps, p->denoise, &total, err)))
        return st;
    nino_sigmas s;
    if ((st = nino_schedule_make(ms, p->scheduler, total + p->discard_penultimate, &s, err)))
        return st;
    if (p->discard_penultimate) {
        s.v[s.n - 2] = s.v[s.n - 1];
        s.n--;
    }
    if (is_partial)
        nino_sigmas_keep_last(&s, p->steps + 1);
    if (p->end_step >= 0 && p->end_step < s.n - 1) {
        s.n = p->end_step + 1;
        if (p->force_full_denoise)
            s.v[s.n - 1] = 0;
    }
    if (p->start_step >= 0) {
        if (p->start_step < s.n - 1)
            nino_sigmas_keep_last(&s, s.n - p->start_step);
        else
            nino_sigmas_release(&s);
    }
    *out = s;
    return NINO_OK;
}
