// DPM-Solver++ for the reverse SDE (Lu et al. 2022), in half log SNR lambda and alpha = sigma
// e^lambda: SDE (one step, an inner point), 2M and 3M SDE (multistep). Noise comes from a Brownian
// tree, so that it belongs to the interval and not to the number of steps.
#include "core/sample/solver/solve.h"
#include <string.h>

// x += scale N(from, to) s_noise size, as torch multiplies: ((scale N) s_noise) size
static nino_status dpmpp_sde_add_noise(nino_solve *s, float *x, float from, float to, float scale,
                                       float size, float *noise)
{
    const float s_noise = (float) s->opt->s_noise;
    const nino_status st = nino_solve_tree_noise(s, from, to, noise);
    if (st == NINO_OK)
        EACH(s) x[i] += scale * noise[i] * s_noise * size;
    return st;
}

// A step of the SDE solver from lambda_s to `lambda` (at sigma): x -> out with x0 = D.
static nino_status sde_step(nino_solve *s, float sigma_s, float lambda_s, float sigma, float lambda,
                            const float *D, float *out, float *noise)
{
    const double eta = s->opt->eta;
    const float alpha_s = sigma_s * f_exp(lambda_s), alpha = sigma * f_exp(lambda);
    const nino_ancestral step = nino_ancestral_step(f_exp(-lambda_s), f_exp(-lambda), eta);
    const float h = -f_log(step.down) - lambda_s;
    const float keep = alpha / alpha_s * f_exp(-h), add = alpha * f_expm1(-h);
    EACH(s) out[i] = keep * s->x[i] - add * D[i];
    if (eta > 0 && s->opt->s_noise > 0)
        return dpmpp_sde_add_noise(s, out, sigma_s, sigma, alpha, step.up, noise);
    return NINO_OK;
}

nino_status nino_sample_dpmpp_sde(nino_solve *s)
{
    float *x = s->x, *a[4];
    nino_status st = nino_solve_arrays(s, a, 4);
    float *D = a[0], *x2 = a[1], *D2 = a[2], *noise = a[3];
    const double r = s->opt->r, fac = 1 / (2 * r);
    if (!(r > 0))
        return nino_solve_fail(s, "r must be above 0");
    nino_solve_offset_first_sigma(s);
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        const float from = s->sigma[k], to = s->sigma[k + 1];
        if ((st = nino_solve_denoise(s, x, from, D, NULL)))
            break;
        nino_solve_report(s, k, from, x, D);
        if (to == 0) {
            memcpy(x, D, (size_t) s->count * sizeof(float));
            continue;
        }
        const float lambda_s = nino_half_log_snr(s, from), lambda_t = nino_half_log_snr(s, to);
        const float lambda_m = lambda_s + (float) r * (lambda_t - lambda_s);
        const float mid = nino_sigma_of_half_log_snr(s, lambda_m);
        if ((st = sde_step(s, from, lambda_s, mid, lambda_m, D, x2, noise)) ||
            (st = nino_solve_denoise(s, x2, mid, D2, NULL)))
            break;
        EACH(s) D2[i] = (float) (1 - fac) * D[i] + (float) fac * D2[i];
        st = sde_step(s, from, lambda_s, to, lambda_t, D2, x, noise);
    }
    return st;
}

// One multistep step from lambda_s over h: x = the first-order solution.
typedef struct sde_multi {
    float h, h_eta, alpha;
} sde_multi;

static sde_multi first_order(nino_solve *s, float from, float to, const float *D)
{
    const float eta = (float) s->opt->eta;
    const float lambda_t = nino_half_log_snr(s, to);
    const float h = lambda_t - nino_half_log_snr(s, from);
    const sde_multi m = { h, h * (float) (s->opt->eta + 1), to * f_exp(lambda_t) };
    const float keep = to / from * f_exp(-h * eta), add = m.alpha * -f_expm1(-m.h_eta);
    EACH(s) s->x[i] = keep * s->x[i] + add * D[i];
    return m;
}

static nino_status multi_noise(nino_solve *s, float from, float to, float h, float *noise)
{
    const double eta = s->opt->eta;
    if (!(eta > 0) || !(s->opt->s_noise > 0))
        return NINO_OK;
    const nino_status st = nino_solve_tree_noise(s, from, to, noise);
    const float size = f_sqrt(-f_expm1(-2.0f * h * (float) eta));
    if (st == NINO_OK)
        EACH(s) s->x[i] += noise[i] * to * size * (float) s->opt->s_noise;
    return st;
}

nino_status nino_sample_dpmpp_2m_sde(nino_solve *s)
{
    float *x = s->x, *a[3], h_last = 0;
    nino_status st = nino_solve_arrays(s, a, 3);
    float *D = a[0], *old = a[1], *noise = a[2];
    nino_solve_offset_first_sigma(s);
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        const float from = s->sigma[k], to = s->sigma[k + 1];
        if ((st = nino_solve_denoise(s, x, from, D, NULL)))
            break;
        nino_solve_report(s, k, from, x, D);
        if (to == 0) {
            memcpy(x, D, (size_t) s->count * sizeof(float));
            break;
        }
        const sde_multi m = first_order(s, from, to, D);
        if (k > 0) {
            const float inverse_r = 1.0f / (h_last / m.h), grow = -f_expm1(-m.h_eta);
            const float w = s->opt->solver_type == NINO_SOLVER_HEUN
                                ? m.alpha * (grow / -m.h_eta + 1.0f) * inverse_r
                                : 0.5f * m.alpha * grow * inverse_r;
            EACH(s) x[i] += w * (D[i] - old[i]);
        }
        st = multi_noise(s, from, to, m.h, noise);
        float *swap = old;
        old = D;
        D = swap;
        h_last = m.h;
    }
    return st;
}

// Second and third order terms; D1, D2: the last two x0, h1, h2: the last two steps.
static void third_order(nino_solve *s, const sde_multi *m, float h1, float h2, const float *D,
                        const float *D1, const float *D2)
{
    float *x = s->x;
    const float phi_2 = f_expm1(-m->h_eta) / m->h_eta + 1.0f, phi_3 = phi_2 / m->h_eta - 0.5f;
    const float r0 = h1 / m->h, r1 = h2 / m->h;
    const float w2 = m->alpha * phi_2, w3 = m->alpha * phi_3;
    if (h2 == 0) { // only one old step
        EACH(s) x[i] += w2 * ((D[i] - D1[i]) / r0);
        return;
    }
    EACH(s)
    {
        const float d10 = (D[i] - D1[i]) / r0, d11 = (D1[i] - D2[i]) / r1;
        const float d1 = d10 + (d10 - d11) * r0 / (r0 + r1), d2 = (d10 - d11) / (r0 + r1);
        x[i] = x[i] + w2 * d1 - w3 * d2;
    }
}

nino_status nino_sample_dpmpp_3m_sde(nino_solve *s)
{
    float *x = s->x, *a[4], h1 = 0, h2 = 0;
    nino_status st = nino_solve_arrays(s, a, 4);
    float *D = a[0], *D1 = a[1], *D2 = a[2], *noise = a[3];
    nino_solve_offset_first_sigma(s);
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        const float from = s->sigma[k], to = s->sigma[k + 1];
        if ((st = nino_solve_denoise(s, x, from, D, NULL)))
            break;
        nino_solve_report(s, k, from, x, D);
        if (to == 0) {
            memcpy(x, D, (size_t) s->count * sizeof(float));
            break;
        }
        const sde_multi m = first_order(s, from, to, D);
        if (k > 0)
            third_order(s, &m, h1, k > 1 ? h2 : 0, D, D1, D2);
        st = multi_noise(s, from, to, m.h, noise);
        float *oldest = D2;
        D2 = D1;
        D1 = D;
        D = oldest;
        h2 = h1;
        h1 = m.h;
    }
    return st;
}
