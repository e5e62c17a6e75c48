// DPM-Solver++ (Lu et al. 2022): 2S single step, ancestral; 2M multistep; and their CFG++ forms, in
// which x0 comes from D and the way to noise from U (Chung et al. 2024).
#include "core/sample/solver/solve.h"
#include <string.h>

static float t_of(float sigma) { return -f_log(sigma); }
static float sigma_of(float t) { return f_exp(-t); }

// x at `from` -> x at `down`, through the x0 in the middle. U (NULL: no CFG++) becomes the one
// there.
static nino_status two_s(nino_solve *s, float from, float down, const float *D, float *U, float *x2,
                         float *D2)
{
    float *x = s->x;
    const float t = t_of(from), next = t_of(down), h = next - t, mid = t + 0.5f * h;
    const float keep = sigma_of(mid) / sigma_of(t), add = f_expm1(-h * 0.5f);
    EACH(s) x2[i] = keep * (U ? x[i] + (D[i] - U[i]) : x[i]) - add * D[i];
    const nino_status st = nino_solve_denoise(s, x2, sigma_of(mid), D2, U);
    if (st)
        return st;
    const float keep2 = sigma_of(next) / sigma_of(t), add2 = f_expm1(-h);
    EACH(s) x[i] = keep2 * (U ? x[i] + (D[i] - U[i]) : x[i]) - add2 * D2[i];
    return NINO_OK;
}

// The same for flow models, where x is a mean of x0 and noise.
static nino_status two_s_flow(nino_solve *s, float from, float down, const float *D, float *x2,
                              float *D2)
{
    float *x = s->x, mid = 0.9999f;
    if (from != 1.0f) {
        const float a = f_log((1.0f - from) / from), b = f_log((1.0f - down) / down);
        mid = 1.0f / (f_exp(a + 0.5f * (b - a)) + 1.0f);
    }
    const float q = mid / from, r = down / from;
    EACH(s) x2[i] = q * x[i] + (1.0f - q) * D[i];
    const nino_status st = nino_solve_denoise(s, x2, mid, D2, NULL);
    if (st == NINO_OK)
        EACH(s) x[i] = r * x[i] + (1.0f - r) * D2[i];
    return st;
}

nino_status nino_sample_dpmpp_2s_ancestral(nino_solve *s)
{
    float *x = s->x, *a[3];
    nino_status st = nino_solve_arrays(s, a, 3);
    float *D = a[0], *x2 = a[1], *D2 = a[2];
    const double eta = s->opt->eta;
    const float s_noise = (float) s->opt->s_noise;
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        const float from = s->sigma[k], to = s->sigma[k + 1];
        if ((st = nino_solve_denoise(s, x, from, D, NULL)))
            break;
        nino_solve_report(s, k, from, x, D);
        const nino_ancestral eps = nino_ancestral_step(from, to, eta);
        nino_ancestral_flow step = { eps.down, 1, eps.up };
        if (s->is_flow)
            step = nino_ancestral_flow_step(from, to, eta);
        if (step.down == 0 || to == 0) {
            EACH(s) x[i] += (x[i] - D[i]) / from * (step.down - from);
        } else {
            st = s->is_flow ? two_s_flow(s, from, step.down, D, x2, D2)
                            : two_s(s, from, step.down, D, NULL, x2, D2);
        }
        if (st || !(to > 0) || eta == 0)
            continue;
        float *noise = D2;
        nino_solve_noise(s, noise);
        EACH(s) x[i] = step.keep * x[i] + noise[i] * s_noise * step.up;
    }
    return st;
}

nino_status nino_sample_dpmpp_2s_ancestral_cfg_pp(nino_solve *s)
{
    float *x = s->x, *a[4];
    nino_status st = nino_solve_arrays(s, a, 4);
    float *D = a[0], *U = a[1], *x2 = a[2], *D2 = a[3];
    const float s_noise = (float) s->opt->s_noise;
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        const float from = s->sigma[k], to = s->sigma[k + 1];
        if ((st = nino_solve_denoise(s, x, from, D, U)))
            break;
        nino_solve_report(s, k, from, x, D);
        const nino_ancestral step = nino_ancestral_step(from, to, s->opt->eta);
        if (step.down == 0)
            EACH(s) x[i] = D[i] + (x[i] - U[i]) / from * step.down;
        else
            st = two_s(s, from, step.down, D, U, x2, D2);
        if (st || !(to > 0))
            continue;
        float *noise = D2;
        nino_solve_noise(s, noise);
        EACH(s) x[i] += noise[i] * s_noise * step.up;
    }
    return st;
}

nino_status nino_sample_dpmpp_2m(nino_solve *s)
{
    float *x = s->x, *a[2];
    nino_status st = nino_solve_arrays(s, a, 2);
    float *D = a[0], *old = a[1];
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        const float from = s->sigma[k], to = s->sigma[k + 1];
        if ((st = nino_solve_denoise(s, x, from, D, NULL)))
            break;
        nino_solve_report(s, k, from, x, D);
        const float t = t_of(from), next = t_of(to), h = next - t;
        const float keep = sigma_of(next) / sigma_of(t), add = f_expm1(-h);
        if (k == 0 || to == 0) {
            EACH(s) x[i] = keep * x[i] - add * D[i];
        } else {
            const float r = (t - t_of(s->sigma[k - 1])) / h, w = 1.0f / (2.0f * r);
            EACH(s) x[i] = keep * x[i] - add * ((1.0f + w) * D[i] - w * old[i]);
        }
        float *swap = old;
        old = D;
        D = swap;
    }
    return st;
}

nino_status nino_sample_dpmpp_2m_cfg_pp(nino_solve *s)
{
    float *x = s->x, *a[3];
    nino_status st = nino_solve_arrays(s, a, 3);
    float *D = a[0], *U = a[1], *old_U = a[2];
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        const float from = s->sigma[k], to = s->sigma[k + 1];
        if ((st = nino_solve_denoise(s, x, from, D, U)))
            break;
        nino_solve_report(s, k, from, x, D);
        const float t = t_of(from), h = t_of(to) - t, keep = f_exp(-h);
        if (k == 0 || to == 0) {
            EACH(s) x[i] = D[i] + -keep * U[i] + keep * x[i];
        } else {
            const float r = (t - t_of(s->sigma[k - 1])) / h;
            const float w = f_expm1(-h) * (1.0f / (2.0f * r));
            EACH(s) x[i] = D[i] + (-keep * U[i] - w * (D[i] - old_U[i])) + keep * x[i];
        }
        float *swap = old_U;
        old_U = U;
        U = swap;
    }
    return st;
}
