// SA-Solver with every order and strength of noise against a second computation, in doubles: each
// step's weights are the integrals of Lagrange's polynomials against the kernel
// (1 + tau^2) e^(-(1 + tau^2)(lambda_t - l)) of arXiv 2309.05019, equation 14, by Simpson's rule.
#include <math.h>

#include "core/sample/noise/rng.h"
#include "core/sample/solver/sampler.h"
#include "tests/test.h"

enum { COUNT = 20, STEPS = 8, MOST = 8 };

typedef struct twice {
    bool is_flow;
    const nino_sampler *s;
    double lambda[STEPS + 1], sigma[STEPS + 1];
    int n; // steps
} twice;

static double x0_of(double x, double sigma, int i)
{
    return tanh(x / (1 + sigma)) + 0.3 * cos(i) * sigma / (1 + sigma);
}

static nino_status answer(void *priv, const float *x, double sigma, float *D, float *U,
                          nino_error *err)
{
    (void) priv, (void) U, (void) err;
    for (int i = 0; i < COUNT; i++)
        D[i] = (float) x0_of((double) x[i], sigma, i);
    return NINO_OK;
}

// ---- the second computation -----------------------------------------------------------------------

// at[order]: where the polynomials have their points, oldest first.
static void integrals(const double *at, int order, double from, double to, double tau, double *w)
{
    enum { PIECES = 400 };
    const double mul = 1 + tau * tau;
    for (int j = 0; j < order; j++) {
        w[j] = 0;
        for (int q = 0; q <= PIECES; q++) {
            const double l = from + (to - from) * q / PIECES;
            double v = mul * exp(-mul * (to - l));
            for (int m = 0; m < order; m++)
                if (m != j)
                    v *= (l - at[m]) / (at[j] - at[m]);
            w[j] += v * (q == 0 || q == PIECES ? 1 : q % 2 ? 4 : 2);
        }
        w[j] *= (to - from) / (3 * PIECES);
    }
}

// The step of step k's end, of the points up to `newest`; D by point.
static void adams(const twice *t, int k, int newest, int order, double tau, double D[][COUNT],
                  const double *x, double *out)
{
    const double from = t->lambda[k], to = t->lambda[k + 1], h = to - from, mul = 1 + tau * tau;
    const double alpha = t->sigma[k + 1] * exp(to);
    double w[MOST];
    integrals(t->lambda + newest - order + 1, order, from, to, tau, w);
    if (order == 2 && t->s->simple_order_2) { // the paper's appendix D
        const double whole = 1 - exp(-mul * h);
        w[1] = newest > k ? mul * h / 2 : whole - mul * h * h / 2 / (t->lambda[k - 1] - from);
        w[0] = whole - w[1];
    }
    for (int i = 0; i < COUNT; i++) {
        out[i] = t->sigma[k + 1] / t->sigma[k] * exp(-tau * tau * h) * x[i];
        for (int j = 0; j < order; j++)
            out[i] += alpha * w[j] * D[newest - order + 1 + j][i];
    }
}

static int least(int a, int b) { return a < b ? a : b; }

static void compute(const twice *t, uint64_t seed, double *x)
{
    const nino_sampler *s = t->s;
    const bool ends = t->sigma[t->n] == 0;
    double D[STEPS][COUNT], predicted[COUNT], noise[COUNT] = { 0 }, before[COUNT], tau = 0;
    nino_rng rng;
    nino_rng_seed(&rng, seed);
    memcpy(predicted, x, sizeof(predicted));
    for (int k = 0; k < t->n; k++) {
        const bool is_last = t->sigma[k + 1] == 0;
        for (int i = 0; i < COUNT; i++)
            D[k][i] = x0_of(predicted[i], t->sigma[k], i);
        const int corrector = least(least(s->corrector_order, k + 1), ends ? t->n - k : MOST);
        memcpy(before, x, sizeof(before));
        if (k == 0 || !corrector || (is_last && !s->use_pece)) {
            memcpy(x, predicted, sizeof(predicted));
        } else {
            adams(t, k - 1, k, corrector, tau, D, before, x);
            for (int i = 0; i < COUNT; i++)
                x[i] += tau > 0 && s->s_noise > 0 ? noise[i] : 0;
            for (int i = 0; i < COUNT && s->use_pece; i++)
                D[k][i] = x0_of(x[i], t->sigma[k], i);
        }
        if (is_last) {
            memcpy(x, D[k], sizeof(D[k]));
            return;
        }
        const double to = t->sigma[k + 1], h = t->lambda[k + 1] - t->lambda[k];
        tau = s->sde_start_sigma >= to && to >= s->sde_end_sigma ? s->eta : 0;
        const int order = least(least(s->predictor_order, k + 1), ends ? t->n - 1 - k : MOST);
        adams(t, k, k, order, tau, D, x, predicted);
        if (!(tau > 0) || !(s->s_noise > 0))
            continue;
        float drawn[COUNT];
        nino_rng_randn(&rng, drawn, COUNT);
        for (int i = 0; i < COUNT; i++) {
            noise[i] = (double) drawn[i] * to * sqrt(1 - exp(-2 * tau * tau * h)) * s->s_noise;
            predicted[i] += noise[i];
        }
    }
    // As in ComfyUI the last prediction, which nobody corrects, is dropped where the list ends early.
}

// ---- the cases ------------------------------------------------------------------------------------

static void check(const nino_sampling *ms, const nino_sampler *s, const float *sigmas, int n)
{
    float x[COUNT];
    double want[COUNT];
    nino_error err = { 0 };
    twice t = { .is_flow = nino_sampling_is_flow(ms), .s = s, .n = n - 1 };
    for (int k = 0; k < n; k++) {
        t.sigma[k] = (double) sigmas[k];
        t.lambda[k] = t.is_flow ? log((1 - t.sigma[k]) / t.sigma[k]) : -log(t.sigma[k]);
    }
    nino_noise_fill(8, x, 1, COUNT, NULL);
    for (int i = 0; i < COUNT; i++)
        want[i] = (double) (x[i] *= sigmas[0]);
    const nino_sampler_run r = { .ms = ms,
                                 .denoise = answer,
                                 .x = x,
                                 .count = COUNT,
                                 .sigmas = sigmas,
                                 .n_sigmas = n,
                                 .seed = 31 };
    CHECK_OK(nino_sampler_run_all(s, &r, &err), err);
    compute(&t, 31, want);
    for (int i = 0; i < COUNT; i++)
        if (!(fabs((double) x[i] - want[i]) <= 2e-4 * (1 + fabs(want[i])))) {
            fprintf(stderr,
                    "%s, eta %g, noise %g, orders %d and %d%s%s, %d sigmas: %g, expected %g\n",
                    t.is_flow ? "flow" : "eps", s->eta, s->s_noise, s->predictor_order,
                    s->corrector_order, s->use_pece ? ", PECE" : "",
                    s->simple_order_2 ? ", simple" : "", n, x[i], want[i]);
            exit(1);
        }
}

// All predictor and corrector orders, with a strength of noise that is neither 0, 1 nor 2.
static void check_orders(const nino_sampling *ms, const float *sigmas, int n)
{
    static const double etas[] = { 0, 0.5, 1, 1.7 };
    for (int p = 1; p <= 4; p++)
        for (int c = 0; c <= 4; c++)
            for (int e = 0; e < 4; e++)
                for (int flags = 0; flags < 8; flags++) {
                    nino_sampler s = nino_sampler_default(NINO_SAMPLER_SA_SOLVER);
                    s.eta = etas[e];
                    s.s_noise = flags & 4 ? 0.8 : 0;
                    s.predictor_order = p;
                    s.corrector_order = c;
                    s.use_pece = flags & 1;
                    s.simple_order_2 = flags & 2;
                    s.sde_start_sigma = flags & 1 ? 1e9 : (double) sigmas[2]; // from there on
                    s.sde_end_sigma = flags & 1 ? 0 : (double) sigmas[4];     // until there
                    check(ms, &s, sigmas, n);
                }
}

int main(void)
{
    static const float eps[] = { 9, 5.5f, 3.2f, 1.9f, 1, 0.5f, 0.2f, 0 };
    static const float flow[] = { 0.98f, 0.9f, 0.77f, 0.6f, 0.45f, 0.3f, 0.12f, 0 };
    nino_sampling *a = nino_sampling_discrete(NINO_PRED_EPS, false),
                  *b = nino_sampling_flow(3, 1000);
    CHECK(a && b);
    for (int n = 6; n <= 8; n++) { // those of 6 and 7 end before 0
        check_orders(a, eps, n);
        check_orders(b, flow, n);
    }
    nino_sampling_unref(&a);
    nino_sampling_unref(&b);
    return 0;
}
