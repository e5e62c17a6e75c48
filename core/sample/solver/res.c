// RES, refined exponential solver, second order multistep (Zhang et al. 2023, arXiv 2308.02157)
// with ancestral and CFG++ forms; gradient estimation (Permenter and Yuan 2024).
#include "core/sample/solver/solve.h"
#include <float.h>
#include <string.h>

// NaN is 0, infinity the largest number
static float to_finite(float v) { return isnan(v) ? 0.0f : fminf(fmaxf(v, -FLT_MAX), FLT_MAX); }

// The second order step. old: the x0 (CFG++: U) of the last step.
static void second_order(nino_solve *s, int k, float old_down, float down, const float *D,
                         const float *U, const float *old)
{
    float *x = s->x;
    const float t = -f_log(s->sigma[k]), t_old = -f_log(old_down);
    const float h = -f_log(down) - t, c2 = (-f_log(s->sigma[k - 1]) - t_old) / h;
    const float phi_1 = f_expm1(-h) / -h, phi_2 = (phi_1 - 1.0f) / -h;
    const float b1 = to_finite(phi_1 - phi_2 / c2), b2 = to_finite(phi_2 / c2), keep = f_exp(-h);
    if (U)
        EACH(s) x[i] = keep * (x[i] + (D[i] - U[i])) + h * (b1 * U[i] + b2 * old[i]);
    else
        EACH(s) x[i] = keep * x[i] + h * (b1 * D[i] + b2 * old[i]);
}

static nino_status res(nino_solve *s, bool is_cfg_pp)
{
    float *x = s->x, *a[4], old_down = 0;
    nino_status st = nino_solve_arrays(s, a, 4);
    float *D = a[0], *U = a[1], *old = a[2], *noise = a[3];
    const float s_noise = (float) s->opt->s_noise;
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        const float from = s->sigma[k], to = s->sigma[k + 1];
        if ((st = nino_solve_denoise(s, x, from, D, is_cfg_pp ? U : NULL)))
            break;
        nino_solve_report(s, k, from, x, D);
        const nino_ancestral step = nino_ancestral_step(from, to, s->opt->eta);
        const float dt = step.down - from;
        if (step.down != 0 && k > 0)
            second_order(s, k, old_down, step.down, D, is_cfg_pp ? U : NULL, old);
        else if (is_cfg_pp)
            EACH(s) x[i] = D[i] + (x[i] - U[i]) / from * step.down;
        else
            EACH(s) x[i] += (x[i] - D[i]) / from * dt;
        if (to > 0 && step.up != 0) {
            nino_solve_noise(s, noise);
            EACH(s) x[i] += noise[i] * s_noise * step.up;
        }
        memcpy(old, is_cfg_pp ? U : D, (size_t) s->count * sizeof(float));
        old_down = step.down;
    }
    return st;
}

nino_status nino_sample_res_multistep(nino_solve *s) { return res(s, false); }
nino_status nino_sample_res_multistep_cfg_pp(nino_solve *s) { return res(s, true); }

static nino_status gradient_estimation(nino_solve *s, bool is_cfg_pp)
{
    float *x = s->x, *a[4];
    nino_status st = nino_solve_arrays(s, a, 4);
    float *D = a[0], *U = a[1], *d = a[2], *old_d = a[3];
    const float gamma = (float) (s->opt->ge_gamma - 1);
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        const float from = s->sigma[k], to = s->sigma[k + 1], dt = to - from;
        if ((st = nino_solve_denoise(s, x, from, D, is_cfg_pp ? U : NULL)))
            break;
        nino_solve_report(s, k, from, x, D);
        const float *centre = is_cfg_pp ? U : D;
        EACH(s) d[i] = (x[i] - centre[i]) / from;
        if (to == 0) {
            memcpy(x, D, (size_t) s->count * sizeof(float));
        } else {
            if (is_cfg_pp)
                EACH(s) x[i] = D[i] + d[i] * to;
            else
                EACH(s) x[i] += d[i] * dt;
            if (k > 0)
                EACH(s) x[i] += gamma * (d[i] - old_d[i]) * dt;
        }
        float *swap = old_d;
        old_d = d;
        d = swap;
    }
    return st;
}

nino_status nino_sample_gradient_estimation(nino_solve *s) { return gradient_estimation(s, false); }
nino_status nino_sample_gradient_estimation_cfg_pp(nino_solve *s)
{
    return gradient_estimation(s, true);
}
