// Two evaluations a step: Heun (Karras et al. 2022, algorithm 2), Heun++ (Carzit, sigma-weighted
// slopes of up to three), DPM-Solver-2 (Lu et al. 2022) and its ancestral forms.
#include "core/sample/solver/solve.h"

// d = (x - D) / sigma, in D's place
static void slope(const nino_solve *s, const float *x, float sigma, float *D)
{
    EACH(s) D[i] = (x[i] - D[i]) / sigma;
}

// d = the slope at x2 = x + d_from dt
static nino_status slope_after(nino_solve *s, const float *x, const float *d_from, float dt,
                               float sigma, float *x2, float *d)
{
    EACH(s) x2[i] = x[i] + d_from[i] * dt;
    const nino_status st = nino_solve_denoise(s, x2, sigma, d, NULL);
    if (st == NINO_OK)
        slope(s, x2, sigma, d);
    return st;
}

nino_status nino_sample_heun(nino_solve *s)
{
    float *x = s->x, *a[3];
    nino_status st = nino_solve_arrays(s, a, 3);
    float *d = a[0], *x2 = a[1], *d2 = a[2];
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        const float hat = nino_solve_churn(s, k, x2), to = s->sigma[k + 1], dt = to - hat;
        if ((st = nino_solve_denoise(s, x, hat, d, NULL)))
            break;
        nino_solve_report(s, k, hat, x, d);
        slope(s, x, hat, d);
        if (to == 0) {
            EACH(s) x[i] += d[i] * dt;
            continue;
        }
        if ((st = slope_after(s, x, d, dt, to, x2, d2)))
            break;
        EACH(s) x[i] += (d[i] + d2[i]) / 2.0f * dt;
    }
    return st;
}

nino_status nino_sample_heunpp2(nino_solve *s)
{
    float *x = s->x, *a[5];
    nino_status st = nino_solve_arrays(s, a, 5);
    float *d = a[0], *x2 = a[1], *d2 = a[2], *x3 = a[3], *d3 = a[4];
    const float end = s->sigma[s->n_steps];
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        const float hat = nino_solve_churn(s, k, x2), s1 = s->sigma[k + 1], dt = s1 - hat;
        if ((st = nino_solve_denoise(s, x, hat, d, NULL)))
            break;
        nino_solve_report(s, k, hat, x, d);
        slope(s, x, hat, d);
        if (s1 == end) {
            EACH(s) x[i] += d[i] * dt;
            continue;
        }
        if ((st = slope_after(s, x, d, dt, s1, x2, d2)))
            break;
        const float s2 = s->sigma[k + 2];
        if (s2 == end) {
            const float w2 = s1 / (2.0f * s->sigma[0]), w1 = 1.0f - w2;
            EACH(s) x[i] += (d[i] * w1 + d2[i] * w2) * dt;
            continue;
        }
        if ((st = slope_after(s, x2, d2, s2 - s1, s2, x3, d3)))
            break;
        const float w = 3.0f * s->sigma[0], w2 = s1 / w, w3 = s2 / w, w1 = 1.0f - w2 - w3;
        EACH(s) x[i] += (w1 * d[i] + w2 * d2[i] + w3 * d3[i]) * dt;
    }
    return st;
}

// In between on a logarithmic scale.
static float middle(float from, float to)
{
    const float a = f_log(from), b = f_log(to);
    return f_exp(b - (b - a) * 0.5f);
}

// x from `from` to `to` by the slope in the middle; d: the slope at `from`.
static nino_status midpoint_step(nino_solve *s, const float *d, float from, float to, float *x2,
                                 float *d2)
{
    float *x = s->x;
    if (to == 0) {
        EACH(s) x[i] += d[i] * (to - from);
        return NINO_OK;
    }
    const float mid = middle(from, to);
    const nino_status st = slope_after(s, x, d, mid - from, mid, x2, d2);
    if (st == NINO_OK)
        EACH(s) x[i] += d2[i] * (to - from);
    return st;
}

nino_status nino_sample_dpm_2(nino_solve *s)
{
    float *x = s->x, *a[3];
    nino_status st = nino_solve_arrays(s, a, 3);
    float *d = a[0], *x2 = a[1], *d2 = a[2];
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        const float hat = nino_solve_churn(s, k, x2);
        if ((st = nino_solve_denoise(s, x, hat, d, NULL)))
            break;
        nino_solve_report(s, k, hat, x, d);
        slope(s, x, hat, d);
        st = midpoint_step(s, d, hat, s->sigma[k + 1], x2, d2);
    }
    return st;
}

nino_status nino_sample_dpm_2_ancestral(nino_solve *s)
{
    float *x = s->x, *a[3];
    nino_status st = nino_solve_arrays(s, a, 3);
    float *d = a[0], *x2 = a[1], *d2 = a[2];
    const float s_noise = (float) s->opt->s_noise;
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        const float from = s->sigma[k], to = s->sigma[k + 1];
        if ((st = nino_solve_denoise(s, x, from, d, NULL)))
            break;
        nino_solve_report(s, k, from, x, d);
        slope(s, x, from, d);
        const nino_ancestral eps = nino_ancestral_step(from, to, s->opt->eta);
        nino_ancestral_flow step = { eps.down, 1, eps.up };
        if (s->is_flow)
            step = nino_ancestral_flow_step(from, to, s->opt->eta);
        if ((st = midpoint_step(s, d, from, step.down, x2, d2)) || step.down == 0)
            continue;
        float *noise = d2;
        nino_solve_noise(s, noise);
        EACH(s) x[i] = step.keep * x[i] + noise[i] * s_noise * step.up;
    }
    return st;
}
