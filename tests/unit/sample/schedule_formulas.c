// The scheduler nodes against their formulas in doubles, with one, few and many steps and parameters
// away from the usual ones, and the quantiles of the beta distribution against its integral.
#include <math.h>

#include "core/sample/schedule/schedule_priv.h"
#include "tests/test.h"

static nino_error err;
static const int step_counts[] = { 1, 2, 3, 5, 10, 33, 1000 };
enum { COUNTS = 7 };

// From one to the other in so many values; the one where there is but one.
static double between(double from, double to, int n, int k)
{
    return n > 1 ? from + (to - from) * k / (n - 1) : from;
}

static void check_value(const char *what, const nino_sigmas *s, int k, double want, double tol)
{
    if (!(fabs((double) s->v[k] - want) <= tol * fabs(want) + 1e-7)) {
        fprintf(stderr, "%s, %d sigmas, %d: %.9g, expected %.9g\n", what, s->n, k, s->v[k], want);
        exit(1);
    }
}

static void end(nino_sigmas *s, int n)
{
    CHECK(s->n == n);
    nino_sigmas_release(s);
    nino_sigmas_release(s); // nothing twice
    nino_sigmas_release(NULL);
}

static void check_powers(int steps, double high, double low, double rho)
{
    nino_sigmas k, e, p;
    CHECK_OK(nino_schedule_karras(steps, high, low, rho, &k, &err), err);
    CHECK_OK(nino_schedule_exponential(steps, high, low, &e, &err), err);
    CHECK_OK(nino_schedule_polyexponential(steps, high, low, rho, &p, &err), err);
    for (int i = 0; i < steps; i++) {
        const double u = between(0, 1, steps, i);
        check_value("karras", &k, i, pow(pow(high, 1 / rho) * (1 - u) + pow(low, 1 / rho) * u, rho),
                    3e-5);
        check_value("exponential", &e, i, pow(high, 1 - u) * pow(low, u), 1e-5);
        check_value("polyexponential", &p, i, low * pow(high / low, pow(1 - u, rho)), 1e-5);
    }
    CHECK(k.v[steps] == 0 && e.v[steps] == 0 && p.v[steps] == 0);
    end(&k, steps + 1);
    end(&e, steps + 1);
    end(&p, steps + 1);
}

static void check_laplace(int steps, double high, double low, double mu, double beta)
{
    nino_sigmas s;
    CHECK_OK(nino_schedule_laplace(steps, high, low, mu, beta, &s, &err), err);
    for (int i = 0; i < steps; i++) {
        const double u = 0.5 - between(0, 1, steps, i), side = (u > 0) - (u < 0);
        const double v = exp(mu - beta * side * log(1 - 2 * fabs(u) + 1e-5));
        check_value("laplace", &s, i, fmin(fmax(v, low), high), 3e-3); // the tails lose digits
    }
    end(&s, steps); // without a last 0
}

static void check_vp(int steps, double beta_d, double beta_min, double eps)
{
    nino_sigmas s;
    CHECK_OK(nino_schedule_vp(steps, beta_d, beta_min, eps, &s, &err), err);
    for (int i = 0; i < steps; i++) {
        const double t = between(1, eps, steps, i);
        check_value("vp", &s, i, sqrt(exp(beta_d * t * t / 2 + beta_min * t) - 1), 1e-4);
    }
    CHECK(s.v[steps] == 0);
    end(&s, steps + 1);
}

// Black Forest Labs' compute_empirical_mu(), and e^mu / (e^mu + 1/t - 1).
static void check_flux2(int steps, int width, int height)
{
    nino_sigmas s;
    const double tokens = round(width * (double) height / 256);
    const double at_10 = 8.73809524e-05 * tokens + 1.89833333,
                 at_200 = 0.00016927 * tokens + 0.45666666;
    const double mu = tokens > 4300 ? at_200 : at_10 + (at_200 - at_10) * (steps - 10) / (200 - 10);
    CHECK_OK(nino_schedule_flux2(steps, width, height, &s, &err), err);
    for (int i = 0; i < steps; i++)
        check_value("flux2", &s, i, exp(mu) / (exp(mu) + 1 / (1 - (double) i / steps) - 1), 2e-5);
    CHECK(s.v[steps] == 0);
    end(&s, steps + 1);
}

// The share of Beta(a, b) below x, by the substitution x = sin^2: (sin)^(2a-1) (cos)^(2b-1), which
// for a and b from 1/2 on is smooth, in 4000 pieces by Simpson's rule.
static double share_below(double x, double a, double b)
{
    enum { PIECES = 4000 };
    const double top = asin(sqrt(x));
    double sum = 0, all = 0;
    for (int i = 0; i <= PIECES; i++) {
        const double w = i == 0 || i == PIECES ? 1 : i % 2 ? 4 : 2, u = (double) i / PIECES;
        const double t = top * u, h = M_PI / 2 * u;
        sum += w * pow(sin(t), 2 * a - 1) * pow(cos(t), 2 * b - 1) * top;
        all += w * pow(sin(h), 2 * a - 1) * pow(cos(h), 2 * b - 1) * (M_PI / 2);
    }
    return sum / all;
}

static void check_quantiles(void)
{
    static const double at[][2] = { { 0.5, 0.5 }, { 1, 1 },    { 1, 3 },   { 2, 1 },
                                    { 1.5, 2.5 }, { 5, 2 },    { 20, 20 }, { 3, 50 },
                                    { 0.6, 0.6 }, { 8, 0.75 }, { 1, 20 } };
    for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++)
        for (int k = 1; k < 20; k++) {
            const double a = at[i][0], b = at[i][1], p = k / 20.0;
            const double x = nino_beta_quantile(p, a, b);
            const double tol = a < 1 || b < 1 ? 1e-3 : 1e-6; // of the integral, whose end is steep
            CHECK(x > 0 && x < 1 && fabs(share_below(x, a, b) - p) < tol);
            CHECK(fabs(nino_beta_quantile(1 - p, b, a) - (1 - x)) < 1e-9); // turned round
            if (a == 0.5 && b == 0.5)                                      // the arcsine law
                CHECK(fabs(x - pow(sin(M_PI * p / 2), 2)) < 1e-9);
            if (b == 1)
                CHECK(fabs(x - pow(p, 1 / a)) < 1e-9);
        }
    CHECK(nino_beta_quantile(0, 2, 3) == 0 && nino_beta_quantile(-1, 2, 3) == 0);
    CHECK(nino_beta_quantile(1, 2, 3) == 1 && nino_beta_quantile(1.5, 2, 3) == 1);
    CHECK(nino_beta_quantile(0.5, 0.6, 0.6) == 0.5);  // of the scheduler called beta
    CHECK(nino_beta_quantile(0.001, 0.1, 1) < 1e-17); // 0.001^(1/0.1), halved until there
}

// The beta scheduler: the quantile of 1, 1 - 1/steps .. as a place in the table, each place once.
static void check_beta(int steps, double a, double b)
{
    nino_sampling *ms = nino_sampling_flow(3, 1000);
    nino_sigmas s;
    int n = 0, last = -1;
    CHECK(ms);
    CHECK_OK(nino_schedule_beta(ms, steps, a, b, &s, &err), err);
    for (int k = 0; k < steps; k++) {
        const int at = (int) rint(nino_beta_quantile(1 - (double) k / steps, a, b) * (ms->n - 1));
        if (at != last)
            CHECK(n < s.n && s.v[n++] == ms->sigmas[at]);
        last = at;
    }
    CHECK(s.n == n + 1 && s.v[n] == 0);
    nino_sigmas_release(&s);
    nino_sampling_unref(&ms);
}

int main(void)
{
    for (int i = 0; i < COUNTS; i++) {
        const int steps = step_counts[i];
        check_powers(steps, 14.6, 0.03, 7);
        check_powers(steps, 80, 0.002, 3.5);
        check_powers(steps, 1, 0.5, 0.5);
        check_powers(steps, 0.1, 2, 1); // the wrong way round
        check_laplace(steps, 14.6, 0.03, 0, 0.5);
        check_laplace(steps, 100, 0.5, 1.2, 0.8);
        check_laplace(steps, 3, 0.001, -0.7, 2);
        check_vp(steps, 19.9, 0.1, 0.001);
        check_vp(steps, 5, 2, 0.2);
        check_flux2(steps, 1024, 1024);
        check_flux2(steps, 1056, 1042); // 4298 tokens
        check_flux2(steps, 1280, 860);  // 4300
        check_flux2(steps, 1056, 1043); // 4302
        check_flux2(steps, 2048, 1536);
        check_flux2(steps, 17, 9);
        check_beta(steps, 0.6, 0.6);
        check_beta(steps, 1, 0.3);
        check_beta(steps, 12, 4);
    }
    check_quantiles();
    return 0;
}
