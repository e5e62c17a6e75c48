// Euler steps. Karras et al. (2022), algorithm 2; ancestral: k-diffusion; for flow models the step
// down and the noise up keep x = (1 - s) x0 + s noise; CFG++: Chung et al. (2024).
#include "core/sample/solver/solve.h"
#include <string.h>

nino_status nino_sample_euler(nino_solve *s)
{
    float *x = s->x, *a[2];
    nino_status st = nino_solve_arrays(s, a, 2);
    float *D = a[0], *noise = a[1];
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        const float hat = nino_solve_churn(s, k, noise);
        if ((st = nino_solve_denoise(s, x, hat, D, NULL)))
            break;
        nino_solve_report(s, k, hat, x, D);
        const float dt = s->sigma[k + 1] - hat;
        EACH(s) x[i] += (x[i] - D[i]) / hat * dt;
    }
    return st;
}

// x at `from`, D -> x at `to`
static void ancestral(nino_solve *s, float from, float to, const float *D, float *noise)
{
    float *x = s->x;
    const nino_ancestral step = nino_ancestral_step(from, to, s->opt->eta);
    if (step.down == 0) {
        memcpy(x, D, (size_t) s->count * sizeof(float));
        return;
    }
    const float dt = step.down - from, s_noise = (float) s->opt->s_noise;
    nino_solve_noise(s, noise);
    EACH(s) x[i] = x[i] + (x[i] - D[i]) / from * dt + noise[i] * s_noise * step.up;
}

static void ancestral_flow(nino_solve *s, float from, float to, const float *D, float *noise)
{
    float *x = s->x;
    if (to == 0) {
        memcpy(x, D, (size_t) s->count * sizeof(float));
        return;
    }
    const nino_ancestral_flow step = nino_ancestral_flow_step(from, to, s->opt->eta);
    const float q = step.down / from, s_noise = (float) s->opt->s_noise;
    EACH(s) x[i] = q * x[i] + (1.0f - q) * D[i];
    if (s->opt->eta <= 0)
        return;
    nino_solve_noise(s, noise);
    EACH(s) x[i] = step.keep * x[i] + noise[i] * s_noise * step.up;
}

nino_status nino_sample_euler_ancestral(nino_solve *s)
{
    float *a[2];
    nino_status st = nino_solve_arrays(s, a, 2);
    float *D = a[0], *noise = a[1];
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        const float from = s->sigma[k], to = s->sigma[k + 1];
        if ((st = nino_solve_denoise(s, s->x, from, D, NULL)))
            break;
        nino_solve_report(s, k, from, s->x, D);
        (s->is_flow ? ancestral_flow : ancestral)(s, from, to, D, noise);
    }
    return st;
}

// The direction to noise is taken from U, x0 from D.
nino_status nino_sample_euler_ancestral_cfg_pp(nino_solve *s)
{
    float *x = s->x, *a[3];
    nino_status st = nino_solve_arrays(s, a, 3);
    float *D = a[0], *U = a[1], *noise = a[2];
    const float s_noise = (float) s->opt->s_noise;
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        const float from = s->sigma[k], to = s->sigma[k + 1];
        if ((st = nino_solve_denoise(s, x, from, D, U)))
            break;
        nino_solve_report(s, k, from, x, D);
        if (to == 0) {
            memcpy(x, D, (size_t) s->count * sizeof(float));
            continue;
        }
        const float alpha_s = from * f_exp(nino_half_log_snr(s, from));
        const float alpha_t = to * f_exp(nino_half_log_snr(s, to));
        const nino_ancestral step = nino_ancestral_step(from / alpha_s, to / alpha_t, s->opt->eta);
        const float down = alpha_t * step.down;
        EACH(s) x[i] = alpha_t * D[i] + down * ((x[i] - alpha_s * U[i]) / from);
        if (s->opt->eta > 0 && s_noise > 0) {
            nino_solve_noise(s, noise);
            EACH(s) x[i] += alpha_t * noise[i] * s_noise * step.up;
        }
    }
    return st;
}

// The first form CFG++ had: the direction is that of x moved by U - D.
nino_status nino_sample_euler_pp(nino_solve *s)
{
    float *x = s->x, *a[2];
    nino_status st = nino_solve_arrays(s, a, 2);
    float *D = a[0], *U = a[1];
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        const float sigma = s->sigma[k], dt = s->sigma[k + 1] - sigma;
        if ((st = nino_solve_denoise(s, x, sigma, D, U)))
            break;
        nino_solve_report(s, k, sigma, x, D);
        EACH(s) x[i] += (x[i] - D[i] + U[i] - D[i]) / sigma * dt;
    }
    return st;
}
