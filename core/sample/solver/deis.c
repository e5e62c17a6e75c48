// DEIS: Zhang and Chen (2023), "Fast Sampling of Diffusion Models with Exponential Integrator", the
// time-interpolating ("tab") form of diff-sampler: past slopes are interpolated in the time of a
// variance-preserving process and integrated against its kernel, numerically and in float.
#include "core/sample/solver/solve.h"
#include <string.h>

#define N_POINTS 10000

typedef struct vp { // beta(t) = beta_0 + t (beta_1 - beta_0), for sigmas from 0.002 to 80
    float beta_d, beta_0, beta_1;
} vp;

static vp vp_create(void)
{
    const float eps = 1e-3f, low = 0.002f, high = 80.0f;
    const float log_low = f_log(low * low + 1.0f), log_high = f_log(high * high + 1.0f);
    vp p;
    p.beta_d = 2.0f * (log_low / eps - log_high) / (float) (1e-3 - 1);
    p.beta_0 = log_high - 0.5f * p.beta_d;
    p.beta_1 = p.beta_d + p.beta_0;
    return p;
}

static float vp_time(const vp *p, float sigma)
{
    const float l = f_log(sigma * sigma + 1.0f);
    return (f_sqrt(p->beta_0 * p->beta_0 + 2.0f * p->beta_d * l) - p->beta_0) / p->beta_d;
}

// -1/2 d(ln alpha)/dt / sqrt(alpha (1 - alpha))
static float deis_kernel(const vp *p, float t)
{
    const float slope = p->beta_1 - p->beta_0;
    const float alpha = f_exp(-0.5f * (t * t) * slope - t * p->beta_0);
    return -0.5f * (-(t * slope) - p->beta_0) / f_sqrt(alpha * (1.0f - alpha));
}

// w[j]: weight of the slope at sigma[k - j] for the step from sigma[k] to sigma[k+1].
static void weights(const vp *p, const float *sigma, int k, int order, float *w)
{
    float t[4];
    for (int j = 0; j < order; j++)
        t[j] = vp_time(p, sigma[k - j]);
    const float next = vp_time(p, sigma[k + 1]);
    double sum[4] = { 0 };
    for (int q = 0; q < N_POINTS; q++) {
        const float tau = f_linspace(t[0], next, N_POINTS, q), g = deis_kernel(p, tau);
        for (int j = 0; j < order; j++) {
            float poly = 1;
            for (int m = 0; m < order; m++)
                if (m != j)
                    poly *= (tau - t[m]) / (t[j] - t[m]);
            sum[j] += (double) (g * poly);
        }
    }
    for (int j = 0; j < order; j++)
        w[j] = (float) sum[j] * ((next - t[0]) / N_POINTS);
}

nino_status nino_sample_deis(nino_solve *s)
{
    const int max_order = s->opt->order;
    if (max_order < 1 || max_order > 4)
        return nino_solve_fail(s, "order must be 1 .. 4");
    float *x = s->x, *d[4];
    nino_status st = nino_solve_arrays(s, d, max_order);
    const vp p = vp_create();
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        const float t = s->sigma[k], next = s->sigma[k + 1];
        float *D = d[max_order - 1]; // the oldest makes room
        memmove(d + 1, d, (size_t) (max_order - 1) * sizeof(*d));
        d[0] = D;
        if ((st = nino_solve_denoise(s, x, t, D, NULL)))
            break;
        nino_solve_report(s, k, t, x, D);
        EACH(s) D[i] = (x[i] - D[i]) / t;
        const int order = next <= 0 ? 1 : k + 1 < max_order ? k + 1 : max_order;
        float w[4] = { next - t };
        if (order > 1)
            weights(&p, s->sigma, k, order, w);
        EACH(s)
        {
            float v = x[i] + w[0] * d[0][i];
            for (int j = 1; j < order; j++)
                v += w[j] * d[j][i];
            x[i] = v;
        }
    }
    return st;
}
