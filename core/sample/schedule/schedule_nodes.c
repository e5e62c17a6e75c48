// The scheduler nodes: noise levels from formulas and from published tables. Karras et al. (2022);
// VP: Song et al. (2021); Laplace: Hang et al. (2024); Align Your Steps: Sabour et al. (2024);
// Optimal Steps: Pei et al. (2025).
#include "core/base/error.h"
#include "core/tensor/scalar.h"
#include "core/sample/schedule/schedule_priv.h"
#include <float.h>

// where: the parameter without which there is no result
static nino_status check_positive(double v, const char *where, nino_error *err)
{
    if (v > 0)
        return NINO_OK;
    return nino_fail(err, NINO_ERR_RANGE, where, "%g: must be above 0 here", v);
}

nino_status nino_schedule_karras(int steps, double sigma_max, double sigma_min, double rho,
                                 nino_sigmas *out, nino_error *err)
{
    nino_status st;
    if ((st = nino_schedule_check_steps(steps, err)) || (st = check_positive(rho, "rho", err)) ||
        (st = nino_sigmas_create(steps + 1, out, err)))
        return st;
    const double low = pow(sigma_min, 1 / rho), high = pow(sigma_max, 1 / rho);
    for (int k = 0; k < steps; k++) {
        const float u = f_linspace(0, 1, steps, k);
        out->v[k] = f_pow((float) high + u * (float) (low - high), (float) rho);
    }
    return NINO_OK;
}

nino_status nino_schedule_exponential(int steps, double sigma_max, double sigma_min,
                                      nino_sigmas *out, nino_error *err)
{
    nino_status st;
    if ((st = nino_schedule_check_steps(steps, err)) ||
        (st = check_positive(sigma_max, "sigma_max", err)) ||
        (st = check_positive(sigma_min, "sigma_min", err)) ||
        (st = nino_sigmas_create(steps + 1, out, err)))
        return st;
    for (int k = 0; k < steps; k++)
        out->v[k] = f_exp(f_linspace((float) log(sigma_max), (float) log(sigma_min), steps, k));
    return NINO_OK;
}

nino_status nino_schedule_polyexponential(int steps, double sigma_max, double sigma_min, double rho,
                                          nino_sigmas *out, nino_error *err)
{
    nino_status st;
    if ((st = nino_schedule_check_steps(steps, err)) ||
        (st = check_positive(sigma_max, "sigma_max", err)) ||
        (st = check_positive(sigma_min, "sigma_min", err)) ||
        (st = nino_sigmas_create(steps + 1, out, err)))
        return st;
    const float range = (float) (log(sigma_max) - log(sigma_min)), low = (float) log(sigma_min);
    for (int k = 0; k < steps; k++)
        out->v[k] = f_exp(f_pow(f_linspace(1, 0, steps, k), (float) rho) * range + low);
    return NINO_OK;
}

nino_status nino_schedule_laplace(int steps, double sigma_max, double sigma_min, double mu,
                                  double beta, nino_sigmas *out, nino_error *err)
{
    nino_status st;
    if ((st = nino_schedule_check_steps(steps, err)) || (st = nino_sigmas_create(steps, out, err)))
        return st;
    for (int k = 0; k < steps; k++) {
        const float u = 0.5f - f_linspace(0, 1, steps, k); // 1/2 .. -1/2
        const float side = (float) ((u > 0) - (u < 0));
        const float log_tail = f_log(1.0f - 2.0f * fabsf(u) + 1e-5f);
        const float l = (float) mu - (float) beta * side * log_tail;
        out->v[k] = fminf(fmaxf(f_exp(l), (float) sigma_min), (float) sigma_max);
    }
    return NINO_OK;
}

nino_status nino_schedule_vp(int steps, double beta_d, double beta_min, double eps_s,
                             nino_sigmas *out, nino_error *err)
{
    nino_status st;
    if ((st = nino_schedule_check_steps(steps, err)) ||
        (st = nino_sigmas_create(steps + 1, out, err)))
        return st;
    for (int k = 0; k < steps; k++) {
        const float t = f_linspace(1, (float) eps_s, steps, k);
        out->v[k] = f_sqrt(f_expm1((float) beta_d * (t * t) / 2.0f + (float) beta_min * t));
    }
    return NINO_OK;
}

// How much longer the noise stays strong: fitted lines in the number of tokens, for 10 and for 200
// steps; between and beyond them on the line through both. Of large pictures the one for 200.
static double flux2_mu(double tokens, int steps)
{
    const double at_200 = 0.00016927 * tokens + 0.45666666;
    const double at_10 = 8.73809524e-05 * tokens + 1.89833333;
    const double a = (at_200 - at_10) / 190;
    return tokens > 4300 ? at_200 : a * steps + (at_200 - 200 * a);
}

nino_status nino_schedule_flux2(int steps, int64_t width, int64_t height, nino_sigmas *out,
                                nino_error *err)
{
    nino_status st;
    if ((st = nino_schedule_check_steps(steps, err)) ||
        (st = nino_sigmas_create(steps + 1, out, err)))
        return st;
    const double tokens = rint((double) width * (double) height / 256);
    const float shift = (float) exp(flux2_mu(tokens, steps));
    for (int k = 0; k < steps; k++) {
        const float t = f_linspace(1, 0, steps + 1, k);
        out->v[k] = shift / (shift + (1 / t - 1));
    }
    return NINO_OK;
}

nino_status nino_schedule_sd_turbo(const nino_sampling *ms, int steps, double denoise,
                                   nino_sigmas *out, nino_error *err)
{
    nino_status st = nino_schedule_check_steps(steps, err);
    if (st)
        return st;
    const int first = 10 - (int) (10 * fmin(fmax(denoise, 0), 1)); // of the time steps 999 .. 99
    const int n = steps < 10 - first ? steps : 10 - first;
    if ((st = nino_sigmas_create(n + 1, out, err)))
        return st;
    for (int k = 0; k < n; k++)
        out->v[k] = nino_sampling_sigma(ms, (float) (999 - 100 * (first + k)));
    return NINO_OK;
}

// ---- beta -------------------------------------------------------------------------------------
static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign); // lgamma() writes a global
}

// Continued fraction of I_x(a, b) (DLMF 8.17.22), evaluated by Lentz's method.
static double beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double f = d;
    for (int m = 1; m < 1000; m++) {
        double step = 1;
        for (int is_odd = 0; is_odd < 2; is_odd++) {
            const double t = is_odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                                    : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
            d = 1 + t * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + t / c;
            c = fabs(c) < tiny ? tiny : c;
            f *= step = d * c;
        }
        if (fabs(step - 1) < 1e-16)
            break;
    }
    return f;
}

static double beta_cdf(double x, double a, double b)
{
    if (x <= 0 || x >= 1)
        return x >= 1;
    const double front =
        exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(x, a, b) / a;
    return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double nino_beta_quantile(double p, double a, double b)
{
    double low = 0, high = 1;
    if (p <= 0 || p >= 1)
        return p >= 1;
    for (int i = 0; i < 60; i++) {
        const double mid = (low + high) / 2;
        const double d = beta_cdf(mid, a, b) - p;
        if (fabs(d) < 4 * DBL_EPSILON) // 1/2 comes out as 1/2 where a == b
            return mid;
        *(d < 0 ? &low : &high) = mid;
    }
    return (low + high) / 2;
}

nino_status nino_schedule_beta(const nino_sampling *ms, int steps, double alpha, double beta,
                               nino_sigmas *out, nino_error *err)
{
    nino_status st;
    if ((st = nino_schedule_check_steps(steps, err)) ||
        (st = check_positive(alpha, "alpha", err)) || (st = check_positive(beta, "beta", err)) ||
        (st = nino_sigmas_create(steps + 1, out, err)))
        return st;
    int n = 0, last = -1;
    for (int k = 0; k < steps; k++) {
        const double u = 1 - (double) k / steps;
        const int at = (int) rint(nino_beta_quantile(u, alpha, beta) * (ms->n - 1));
        if (at != last)
            out->v[n++] = ms->sigmas[at];
        last = at;
    }
    out->v[n] = 0;
    out->n = n + 1;
    return NINO_OK;
}

// ---- tables -----------------------------------------------------------------------------------
nino_status nino_schedule_from_levels(const double *level, int n, int steps, double denoise,
                                      nino_sigmas *out, nino_error *err)
{
    nino_status st = nino_schedule_check_steps(steps, err);
    if (st)
        return st;
    if (denoise <= 0)
        return nino_sigmas_create(0, out, err);
    if ((st = nino_sigmas_create(steps + 1, out, err)))
        return st;
    for (int k = 0; k < steps; k++) {
        const double at = (double) k * (n - 1) / steps;
        const int i = (int) at;
        const double w = at - i;
        out->v[k] =
            (float) (w > 0 ? exp((1 - w) * log(level[i]) + w * log(level[i + 1])) : level[i]);
    }
    nino_sigmas_keep_last(out, (denoise < 1 ? (int) rint(steps * denoise) : steps) + 1);
    return NINO_OK;
}

static const double ays_sd1[] = { 14.6146412293, 6.4745760956, 3.8636745985, 2.6946151520,
                                  1.8841921177,  1.3943805092, 0.9642583904, 0.6523686016,
                                  0.3977456272,  0.1515232662, 0.0291671582 };
static const double ays_sdxl[] = { 14.6146412293, 6.3184485287, 3.7681790315, 2.1811480769,
                                   1.3405244945,  0.8620721141, 0.5550693289, 0.3798540708,
                                   0.2332364134,  0.1114188177, 0.0291671582 };
static const double ays_svd[] = { 700,   54.5,  15.886, 7.977, 4.248, 1.789,
                                  0.981, 0.403, 0.173,  0.034, 0.002 };
static const double optimal_flux[] = { 0.9968, 0.9886, 0.9819, 0.975,  0.966, 0.9471,
                                       0.9158, 0.8287, 0.5512, 0.2808, 0.001 };
static const double optimal_wan[] = { 1,     0.997, 0.995, 0.993, 0.991, 0.989, 0.987,
                                      0.985, 0.98,  0.975, 0.973, 0.968, 0.96,  0.946,
                                      0.927, 0.902, 0.864, 0.776, 0.539, 0.208, 0.001 };
static const double optimal_chroma[] = { 0.992, 0.99,  0.988, 0.985, 0.982, 0.978, 0.973,
                                         0.968, 0.961, 0.953, 0.943, 0.931, 0.917, 0.9,
                                         0.881, 0.858, 0.832, 0.802, 0.769, 0.731, 0.69,
                                         0.646, 0.599, 0.55,  0.501, 0.451, 0.402, 0.355,
                                         0.311, 0.27,  0.232, 0.199, 0.169, 0.143, 0.12,
                                         0.101, 0.084, 0.07,  0.058, 0.048, 0.001 };
#define TABLE(t)                                                                                   \
    {                                                                                              \
        t, (int) (sizeof(t) / sizeof(*t))                                                          \
    }
static const struct {
    const double *v;
    int n;
} tables[] = {
    [NINO_LEVELS_AYS_SD1] = TABLE(ays_sd1),
    [NINO_LEVELS_AYS_SDXL] = TABLE(ays_sdxl),
    [NINO_LEVELS_AYS_SVD] = TABLE(ays_svd),
    [NINO_LEVELS_OPTIMAL_FLUX] = TABLE(optimal_flux),
    [NINO_LEVELS_OPTIMAL_WAN] = TABLE(optimal_wan),
    [NINO_LEVELS_OPTIMAL_CHROMA] = TABLE(optimal_chroma),
};

nino_status nino_schedule_levels(nino_noise_levels table, int steps, double denoise,
                                 nino_sigmas *out, nino_error *err)
{
    return nino_schedule_from_levels(tables[table].v, tables[table].n, steps, denoise, out, err);
}
