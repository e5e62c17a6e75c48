// SEEDS-2 and SEEDS-3: exponential solvers for the reverse SDE with two and three evaluations a
// step, data prediction (Gonzalez et al. 2023, arXiv 2305.14267). The noise of a step's parts is
// carried on, so that it adds up to the noise of the whole step.
#include "core/sample/solver/solve.h"
#include <string.h>

static float phi_1(float h) { return f_expm1(h); }
static float phi_2(float h) { return (f_expm1(h) - h) / h; }

static float lerp(float a, float b, float w)
{
    return w < 0.5f ? a + w * (b - a) : b - (b - a) * (1.0f - w);
}

typedef struct seeds {
    nino_solve *s;
    float *D, *D2, *D3, *x2, *x3, *noise, *fresh; // noise: so far in this step, of size 1 at sigma
    float lambda_s, lambda_t, h, h_eta;
    double eta;
    bool has_noise;
} seeds;

static nino_status seeds_create(seeds *p, nino_solve *s)
{
    float *a[7];
    const nino_status st = nino_solve_arrays(s, a, 7);
    *p = (seeds){ .s = s, .eta = s->opt->eta };
    p->has_noise = s->opt->eta > 0 && s->opt->s_noise > 0;
    if (st == NINO_OK) {
        p->D = a[0];
        p->D2 = a[1];
        p->D3 = a[2];
        p->x2 = a[3];
        p->x3 = a[4];
        p->noise = a[5];
        p->fresh = a[6];
    }
    return st;
}

static void seeds_begin(seeds *p, float from, float to)
{
    p->lambda_s = nino_half_log_snr(p->s, from);
    p->lambda_t = nino_half_log_snr(p->s, to);
    p->h = p->lambda_t - p->lambda_s;
    p->h_eta = p->h * (float) (p->eta + 1);
}

// sigma / from e^(-r h eta): what of x stays at fraction r of the step
static float seeds_keep_at(const seeds *p, float r, float sigma, float from)
{
    return sigma / from * f_exp(-r * p->h * (float) p->eta);
}

// Carries the noise from fraction r0 to r1 of the step and adds it to x.
static void seeds_add_noise(seeds *p, double r0, double r1, float sigma, float *x)
{
    if (!p->has_noise)
        return;
    nino_solve_noise(p->s, p->fresh);
    const float eta = (float) p->eta, s_noise = (float) p->s->opt->s_noise;
    if (r0 == 0) {
        const float size = f_sqrt(-f_expm1((float) (-2 * r1) * p->h * eta));
        EACH(p->s) p->noise[i] = size * p->fresh[i];
    } else {
        const float segment = (float) (r0 - r1) * p->h * eta, decay = f_exp(segment);
        const float size = f_sqrt(-f_expm1(segment * 2.0f));
        EACH(p->s) p->noise[i] = p->noise[i] * decay + size * p->fresh[i];
    }
    EACH(p->s) x[i] += p->noise[i] * sigma * s_noise;
}

static nino_status seeds_2_step(seeds *p, float from, float to)
{
    nino_solve *s = p->s;
    float *x = s->x;
    const double r = s->opt->r;
    const float fac = (float) (1 / (2 * r));
    seeds_begin(p, from, to);
    const float lambda_1 = lerp(p->lambda_s, p->lambda_t, (float) r);
    const float sigma_1 = nino_sigma_of_half_log_snr(s, lambda_1);
    const float alpha_1 = sigma_1 * f_exp(lambda_1), alpha = to * f_exp(p->lambda_t);

    const float keep_1 = seeds_keep_at(p, (float) r, sigma_1, from);
    const float add_1 = alpha_1 * phi_1((float) -r * p->h_eta);
    EACH(s) p->x2[i] = keep_1 * x[i] - add_1 * p->D[i];
    seeds_add_noise(p, 0, r, sigma_1, p->x2);
    const nino_status st = nino_solve_denoise(s, p->x2, sigma_1, p->D2, NULL);
    if (st)
        return st;
    const float keep = seeds_keep_at(p, 1, to, from), add = alpha * phi_1(-p->h_eta);
    EACH(s) x[i] = keep * x[i] - add * lerp(p->D[i], p->D2[i], fac);
    seeds_add_noise(p, r, 1, to, x);
    return NINO_OK;
}

static nino_status seeds_3_step(seeds *p, float from, float to)
{
    nino_solve *s = p->s;
    float *x = s->x;
    const double r1 = s->opt->r, r2 = s->opt->r2;
    seeds_begin(p, from, to);
    const float lambda_1 = lerp(p->lambda_s, p->lambda_t, (float) r1);
    const float lambda_2 = lerp(p->lambda_s, p->lambda_t, (float) r2);
    const float sigma_1 = nino_sigma_of_half_log_snr(s, lambda_1);
    const float sigma_2 = nino_sigma_of_half_log_snr(s, lambda_2);
    const float alpha_1 = sigma_1 * f_exp(lambda_1), alpha_2 = sigma_2 * f_exp(lambda_2);
    const float alpha = to * f_exp(p->lambda_t);

    const float keep_1 = seeds_keep_at(p, (float) r1, sigma_1, from);
    const float add_1 = alpha_1 * phi_1((float) -r1 * p->h_eta);
    EACH(s) p->x2[i] = keep_1 * x[i] - add_1 * p->D[i];
    seeds_add_noise(p, 0, r1, sigma_1, p->x2);
    nino_status st = nino_solve_denoise(s, p->x2, sigma_1, p->D2, NULL);
    if (st)
        return st;

    const float a2 = (float) (r2 / r1) * phi_2((float) -r2 * p->h_eta);
    const float a1 = phi_1((float) -r2 * p->h_eta) - a2;
    const float keep_2 = seeds_keep_at(p, (float) r2, sigma_2, from);
    EACH(s) p->x3[i] = keep_2 * x[i] - alpha_2 * (a1 * p->D[i] + a2 * p->D2[i]);
    seeds_add_noise(p, r1, r2, sigma_2, p->x3);
    if ((st = nino_solve_denoise(s, p->x3, sigma_2, p->D3, NULL)))
        return st;

    const float b3 = phi_2(-p->h_eta) / (float) r2, b1 = phi_1(-p->h_eta) - b3;
    const float keep = seeds_keep_at(p, 1, to, from);
    EACH(s) x[i] = keep * x[i] - alpha * (b1 * p->D[i] + b3 * p->D3[i]);
    seeds_add_noise(p, r2, 1, to, x);
    return NINO_OK;
}

static nino_status seeds_run(nino_solve *s, nino_status (*step)(seeds *p, float from, float to))
{
    seeds p;
    nino_status st = seeds_create(&p, s);
    if (!(s->opt->r > 0))
        return nino_solve_fail(s, "r must be above 0");
    nino_solve_offset_first_sigma(s);
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        const float from = s->sigma[k], to = s->sigma[k + 1];
        if ((st = nino_solve_denoise(s, s->x, from, p.D, NULL)))
            break;
        nino_solve_report(s, k, from, s->x, p.D);
        if (to == 0)
            memcpy(s->x, p.D, (size_t) s->count * sizeof(float));
        else
            st = step(&p, from, to);
    }
    return st;
}

nino_status nino_sample_seeds_2(nino_solve *s) { return seeds_run(s, seeds_2_step); }
nino_status nino_sample_seeds_3(nino_solve *s) { return seeds_run(s, seeds_3_step); }
