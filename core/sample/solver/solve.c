// What all samplers need of a run: the denoiser, arrays, noise, ancestral steps, log SNR.
#include "core/sample/solver/solve.h"
#include "core/base/error.h"
#include <stdlib.h>
#include <string.h>

nino_status nino_solve_denoise(nino_solve *s, const float *x, float sigma, float *D, float *U)
{
    const nino_sampler_run *run = s->run;
    if (run->cancel && *run->cancel)
        return nino_fail(s->err, NINO_ERR_CANCELLED, "sampler", "cancelled");
    return run->denoise(run->denoise_priv, x, sigma, D, U, s->err);
}

void nino_solve_report(nino_solve *s, int k, float sigma, const float *x, const float *D)
{
    if (s->run->on_step)
        s->run->on_step(s->run->step_priv, k, s->n_steps, sigma, x, D);
}

static nino_status solve_keep(nino_solve *s, int64_t n, float **v)
{
    *v = s->n_arrays < SOLVE_MAX_ARRAYS ? calloc((size_t) n, sizeof(float)) : NULL;
    if (!*v)
        return nino_fail(s->err, NINO_ERR_NOMEM, "sampler", "no memory for %lld values",
                         (long long) n);
    s->array[s->n_arrays++] = *v;
    return NINO_OK;
}

nino_status nino_solve_arrays(nino_solve *s, float **array, int n)
{
    nino_status st = NINO_OK;
    for (int k = 0; st == NINO_OK && k < n; k++)
        st = solve_keep(s, s->count, &array[k]);
    return st;
}

nino_status nino_solve_scalars(nino_solve *s, int n, float **v) { return solve_keep(s, n, v); }

// The noise of a part is cut out of that of the whole, which is drawn into s->drawn.
static float *solve_drawn(const nino_solve *s, float *dst) { return s->drawn ? s->drawn : dst; }

static void solve_cut(const nino_solve *s, float *dst)
{
    if (s->drawn)
        memcpy(dst, s->drawn + s->run->at, (size_t) s->count * sizeof(*dst));
}

void nino_solve_noise(nino_solve *s, float *dst)
{
    nino_rng_randn(&s->rng, solve_drawn(s, dst), s->drawn ? s->run->whole : s->count);
    solve_cut(s, dst);
}

nino_status nino_solve_tree_noise(nino_solve *s, float from, float to, float *dst)
{
    if (!s->tree) {
        const nino_status st =
            nino_brownian_create(s->tree_from, s->tree_to, s->drawn ? s->run->whole : s->count,
                                 s->run->seed, &s->tree, s->err);
        if (st)
            return st;
    }
    const nino_status st = nino_brownian_noise(s->tree, from, to, solve_drawn(s, dst), s->err);
    if (!st)
        solve_cut(s, dst);
    return st;
}

nino_status nino_solve_fail(nino_solve *s, const char *what)
{
    return nino_fail(s->err, NINO_ERR_RANGE, s->name, "%s", what);
}

float nino_solve_churn(nino_solve *s, int k, float *noise)
{
    const nino_sampler *o = s->opt;
    const float sigma = s->sigma[k];
    if (!(o->s_churn > 0) || !(o->s_tmin <= sigma && sigma <= o->s_tmax))
        return sigma;
    if (!s->has_churned) { // its noise comes after the start noise of the same generator
        nino_solve_noise(s, noise);
        s->has_churned = true;
    }
    const double gamma = fmin(o->s_churn / s->n_steps, sqrt(2) - 1);
    const float hat = sigma * (float) (gamma + 1);
    const float size = f_sqrt(hat * hat - sigma * sigma);
    nino_solve_noise(s, noise);
    EACH(s) s->x[i] += noise[i] * (float) o->s_noise * size;
    return hat;
}

nino_ancestral nino_ancestral_step(float from, float to, double eta)
{
    if (eta == 0)
        return (nino_ancestral){ to, 0 };
    const float full = f_sqrt(to * to * (from * from - to * to) / (from * from));
    const float up = fminf(to, (float) eta * full);
    return (nino_ancestral){ f_sqrt(to * to - up * up), up };
}

nino_ancestral_flow nino_ancestral_flow_step(float from, float to, double eta)
{
    const float ratio = 1.0f + (to / from - 1.0f) * (float) eta;
    const float down = to * ratio;
    const float alpha = 1.0f - to, alpha_down = 1.0f - down;
    const float up = f_sqrt(to * to - down * down * (alpha * alpha) / (alpha_down * alpha_down));
    return (nino_ancestral_flow){ down, alpha / alpha_down, up };
}

float nino_half_log_snr(const nino_solve *s, float sigma)
{
    return -f_log(s->is_flow ? sigma / (1.0f - sigma) : sigma);
}

float nino_sigma_of_half_log_snr(const nino_solve *s, float lambda)
{
    return s->is_flow ? 1.0f / (1.0f + f_exp(lambda)) : f_exp(-lambda);
}

void nino_solve_offset_first_sigma(nino_solve *s)
{
    if (s->is_flow && s->n_steps > 0 && s->sigma[0] >= 1)
        s->sigma[0] = (float) nino_sampling_percent_to_sigma(s->run->ms, 1e-4);
}

bool nino_solve_linear(float *a, float *b, int n)
{
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int r = k + 1; r < n; r++)
            if (fabsf(a[r * n + k]) > fabsf(a[pivot * n + k]))
                pivot = r;
        if (a[pivot * n + k] == 0)
            return false;
        for (int c = 0; pivot != k && c < n; c++) {
            const float t = a[k * n + c];
            a[k * n + c] = a[pivot * n + c];
            a[pivot * n + c] = t;
        }
        const float t = b[k];
        b[k] = b[pivot];
        b[pivot] = t;
        const float inverse = 1.0f / a[k * n + k];
        for (int r = k + 1; r < n; r++) {
            const float f = a[r * n + k] * inverse;
            for (int c = k + 1; c < n; c++)
                a[r * n + c] -= f * a[k * n + c];
            b[r] -= f * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int c = k + 1; c < n; c++)
            b[k] -= a[k * n + c] * b[c];
        b[k] /= a[k * n + k];
    }
    return true;
}
