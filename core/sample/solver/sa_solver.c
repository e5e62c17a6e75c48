// SA-Solver, stochastic Adams with predictor and corrector: Xue et al. (2023), arXiv 2309.05019;
// data prediction, in half log SNR. Noise is only added for sigmas in an interval; PECE evaluates
// the corrected state again.
#include "core/sample/solver/solve.h"
#include <string.h>

#define MAX_ORDER 6

// (1 + tau^2) e^(-(1 + tau^2) t) times the integral from s to t of e^((1 + tau^2) l) l^p, for
// p = 0 .. order - 1, by integration by parts.
static void exponential_integrals(float s, float t, int order, double tau, float *out)
{
    const double mul = 1 + tau * tau;
    const float decay = f_exp((float) -mul * (t - s));
    float term[MAX_ORDER];
    for (int p = 0; p < order; p++)
        term[p] = f_pow(t, (float) p) - f_pow(s, (float) p) * decay;
    for (int p = 0; p < order; p++) {
        out[p] = 0;
        for (int q = 0; q <= p; q++) {
            int sign;
            float c = (float) lgamma_r(p + 1, &sign) - (float) lgamma_r(q + 1, &sign);
            if (tau > 0)
                c -= (float) (p - q) * (float) log(mul);
            out[p] += f_exp(c) * ((p - q) % 2 ? -1.0f : 1.0f) * term[q];
        }
    }
}

// Weights of the x0 at lambda[0 .. order - 1] (oldest first) for the step from lambda s to t.
static bool adams_weights(float sigma_t, const float *lambda, int order, float s, float t,
                          double tau, float *w)
{
    float vandermonde[MAX_ORDER * MAX_ORDER];
    exponential_integrals(s, t, order, tau, w);
    for (int p = 0; p < order; p++)
        for (int j = 0; j < order; j++)
            vandermonde[p * order + j] = f_pow(lambda[j], (float) p);
    const float alpha = sigma_t * f_exp(t);
    if (!nino_solve_linear(vandermonde, w, order))
        return false;
    for (int j = 0; j < order; j++)
        w[j] *= alpha;
    return true;
}

// The paper's simple form of two points (appendix D).
static void simple_weights(float sigma_t, float lambda_old, float s, float t, double tau,
                           bool is_corrector, float *w)
{
    const float mul = (float) (1 + tau * tau), h = t - s, alpha = sigma_t * f_exp(t);
    const float whole = alpha * -f_expm1(-h * mul);
    if (is_corrector) {
        w[1] = alpha * ((float) (0.5 * (1 + tau * tau)) * h);
        w[0] = whole - w[1];
    } else {
        w[0] = alpha * ((float) (0.5 * (1 + tau * tau)) * (h * h)) / (lambda_old - s);
        w[1] = whole - w[0];
    }
}

typedef struct sa {
    nino_solve *s;
    float *lambda;       // of every sigma
    float *D[MAX_ORDER]; // past x0, D[0] the newest; n_D of them
    int n_D, max_order;
    float *pred, *noise;    // the predicted state and the noise in it
    double tau, start, end; // strength of noise, where it is added
    float h;
} sa;

// to = sigma / sigma_from e^(-tau^2 h) x + weighted x0
static nino_status adams_step(sa *p, int k_to, const float *lambda, int order, bool is_corrector,
                              float *to)
{
    nino_solve *s = p->s;
    const float from = s->sigma[k_to - 1], sigma = s->sigma[k_to];
    const float ls = p->lambda[k_to - 1], lt = p->lambda[k_to];
    float w[MAX_ORDER];
    if (s->opt->simple_order_2 && order == 2)
        simple_weights(sigma, lambda[0], ls, lt, p->tau, is_corrector, w);
    else if (!adams_weights(sigma, lambda, order, ls, lt, p->tau, w))
        return nino_solve_fail(s, "two sigmas are equal");
    const float keep = sigma / from * f_exp((float) -(p->tau * p->tau) * p->h);
    const float *x = s->x;
    EACH(s)
    {
        float sum = 0;
        for (int j = 0; j < order; j++)
            sum += w[j] * p->D[order - 1 - j][i];
        to[i] = keep * x[i] + sum;
    }
    return NINO_OK;
}

static nino_status correct(sa *p, int k, int order)
{
    nino_solve *s = p->s;
    if (order == 0) {
        memcpy(s->x, p->pred, (size_t) s->count * sizeof(float));
        return NINO_OK;
    }
    nino_status st = adams_step(p, k, p->lambda + k - order + 1, order, true, s->x);
    if (st)
        return st;
    if (p->tau > 0 && s->opt->s_noise > 0)
        EACH(s) s->x[i] += p->noise[i];
    if (s->opt->use_pece)
        st = nino_solve_denoise(s, s->x, s->sigma[k], p->D[0], NULL);
    return st;
}

static nino_status sa_solver_predict(sa *p, int k, int order)
{
    nino_solve *s = p->s;
    const float to = s->sigma[k + 1];
    p->tau = s->opt->eta > 0 && p->start >= to && to >= p->end ? s->opt->eta : 0;
    p->h = p->lambda[k + 1] - p->lambda[k];
    const nino_status st = adams_step(p, k + 1, p->lambda + k - order + 1, order, false, p->pred);
    if (st || !(p->tau > 0) || !(s->opt->s_noise > 0))
        return st;
    const float size = f_sqrt(-f_expm1((float) (-2 * (p->tau * p->tau)) * p->h));
    nino_solve_noise(s, p->noise);
    EACH(s)
    {
        p->noise[i] = p->noise[i] * to * size * (float) s->opt->s_noise;
        p->pred[i] += p->noise[i];
    }
    return NINO_OK;
}

static int sa_solver_least(int a, int b, int c)
{
    const int m = a < b ? a : b;
    return m < c ? m : c;
}

static nino_status sa_loop(sa *p)
{
    nino_solve *s = p->s;
    const nino_sampler *o = s->opt;
    const int n = s->n_steps;
    const bool ends_in_zero = s->sigma[n] == 0; // then the last orders are lower
    nino_status st = NINO_OK;
    for (int k = 0; k < n; k++) {
        float *D = p->D[p->max_order - 1];
        memmove(p->D + 1, p->D, (size_t) (p->max_order - 1) * sizeof(*p->D));
        p->D[0] = D;
        p->n_D += p->n_D < p->max_order;
        if ((st = nino_solve_denoise(s, p->pred, s->sigma[k], D, NULL)))
            return st;
        nino_solve_report(s, k, s->sigma[k], p->pred, D);
        const bool is_last = s->sigma[k + 1] == 0;
        const int predictor =
            sa_solver_least(o->predictor_order, p->n_D, ends_in_zero ? n - 1 - k : n);
        int corrector = sa_solver_least(o->corrector_order, p->n_D, ends_in_zero ? n - k : n);
        if (k == 0 || (is_last && !o->use_pece))
            corrector = 0;
        if ((st = correct(p, k, corrector)))
            return st;
        if (is_last)
            memcpy(s->x, D, (size_t) s->count * sizeof(float));
        else if ((st = sa_solver_predict(p, k, predictor)))
            return st;
    }
    return NINO_OK;
}

nino_status nino_sample_sa_solver(nino_solve *s)
{
    const nino_sampler *o = s->opt;
    if (o->predictor_order < 1 || o->predictor_order > MAX_ORDER || o->corrector_order < 0 ||
        o->corrector_order > MAX_ORDER)
        return nino_solve_fail(s, "predictor_order must be 1 .. 6, corrector_order 0 .. 6");
    const nino_sampling *ms = s->run->ms;
    sa p = { .s = s,
             .start = isnan(o->sde_start_sigma) ? nino_sampling_percent_to_sigma(ms, 0.2)
                                                : o->sde_start_sigma,
             .end = isnan(o->sde_end_sigma) ? nino_sampling_percent_to_sigma(ms, 0.8)
                                            : o->sde_end_sigma };
    p.max_order = o->predictor_order > o->corrector_order ? o->predictor_order : o->corrector_order;
    float *a[2];
    nino_status st;
    if ((st = nino_solve_arrays(s, p.D, p.max_order)) || (st = nino_solve_arrays(s, a, 2)) ||
        (st = nino_solve_scalars(s, s->n_steps + 1, &p.lambda)))
        return st;
    p.pred = a[0];
    p.noise = a[1];
    nino_solve_offset_first_sigma(s);
    for (int k = 0; k <= s->n_steps; k++)
        p.lambda[k] = nino_half_log_snr(s, s->sigma[k]);
    memcpy(p.pred, s->x, (size_t) s->count * sizeof(float));
    return sa_loop(&p);
}
