// Parameterisations: every kind of network output gives back the x0 it was made of; time steps and
// sigmas are each other's inverse; the ends of sampling.
#include "core/model/cond/model_sampling.h"
#include "core/sample/noise/rng.h"
#include "tests/test.h"
#include <math.h>

enum { n = 64 };

static bool near(double a, double b, double tol) { return fabs(a - b) <= tol * fmax(1, fabs(b)); }

// The network's output at sigma for x made of x0 and noise, from the prediction's definition.
static double output_of(const nino_sampling *ms, double s, double x0, double noise, double x)
{
    const double d = ms->sigma_data, var = s * s + d * d;
    switch (ms->prediction) {
    case NINO_PRED_EPS: return noise;
    case NINO_PRED_V: return (d * noise - s / d * x0) / sqrt(var) * d;
    case NINO_PRED_EDM: return (x0 - x * d * d / var) * sqrt(var) / (s * d);
    case NINO_PRED_X0:
    case NINO_PRED_IMG_TO_IMG: return x0;
    case NINO_PRED_FLOW:
    case NINO_PRED_COSMOS_RFLOW: return noise - x0;
    case NINO_PRED_LCM: break;
    }
    return 0;
}

static void check_prediction(nino_sampling *ms, float s)
{
    float x0[n], noise[n], x[n], out[n], got[n];
    nino_rng r;
    nino_rng_seed(&r, 5);
    nino_rng_randn(&r, x0, n);
    nino_rng_randn(&r, noise, n);
    nino_sampling_noise_scaling(ms, s, false, noise, x0, x, n);
    for (int i = 0; i < n; i++)
        out[i] = (float) output_of(ms, s, x0[i], noise[i], x[i]);
    nino_sampling_calculate_denoised(ms, s, out, x, got, n);
    for (int i = 0; i < n; i++)
        CHECK(near(got[i], x0[i], 2e-6 * (1 + s)));
    nino_sampling_calculate_denoised(ms, s, out, x, out, n); // in place
    CHECK(!memcmp(out, got, sizeof(out)));

    nino_sampling_calculate_input(ms, s, x, got, n);
    const double d = ms->sigma_data;
    const double scale = ms->prediction == NINO_PRED_FLOW || ms->prediction == NINO_PRED_IMG_TO_IMG
                             ? 1
                         : ms->prediction == NINO_PRED_COSMOS_RFLOW ? 1 / (s + 1)
                                                                    : 1 / sqrt(s * s + d * d);
    for (int i = 0; i < n; i++)
        CHECK(near(got[i], x[i] * scale, 2e-6));
    nino_sampling_unref(&ms);
    CHECK(!ms);
}

// Consistency models: nearly x0 = c_out (x - s o), and x itself where there is no noise.
static void check_lcm(void)
{
    nino_sampling *ms = nino_sampling_distilled(NINO_PRED_LCM, false);
    const float x = 2, o = 1;
    float got;
    CHECK(ms->n == 50 && nino_sampling_timestep(ms, ms->sigma_max) == 999);
    CHECK(nino_sampling_timestep(ms, ms->sigma_min) == 19);
    CHECK(near(nino_sampling_sigma(ms, 999), ms->sigma_max, 1e-6));
    nino_sampling_calculate_denoised(ms, 1, &o, &x, &got, 1);
    CHECK(near(got, 1, 1e-3));
    nino_sampling_unref(&ms);
}

static void check_inverse(nino_sampling *ms, double tol)
{
    for (int i = 1; i < ms->n; i += 97) {
        const float s = ms->sigmas[i];
        CHECK(near(nino_sampling_sigma(ms, nino_sampling_timestep(ms, s)) / s, 1, tol));
        CHECK(ms->sigmas[i] >= ms->sigmas[i - 1]);
    }
    double last = INFINITY;
    for (int p = 0; p <= 20; p++) {
        const double s = nino_sampling_percent_to_sigma(ms, p / 20.0);
        CHECK(s < last);
        last = s;
    }
    CHECK(last == 0);
    CHECK(nino_sampling_is_max_denoise(ms, ms->sigma_max));
    CHECK(nino_sampling_is_max_denoise(ms, ms->sigma_max * 1.1f));
    CHECK(!nino_sampling_is_max_denoise(ms, ms->sigma_max * 0.9f));
    nino_sampling *second = nino_sampling_ref(ms);
    nino_sampling_unref(&ms);
    CHECK(second->sigma_min == second->sigmas[0]);
    nino_sampling_unref(&second);
}

static void check_start(void)
{
    const float noise[2] = { 1, -2 }, latent[2] = { 10, 20 };
    float x[2];
    nino_sampling *eps = nino_sampling_discrete(NINO_PRED_EPS, false);
    nino_sampling_noise_scaling(eps, 3, false, noise, latent, x, 2);
    CHECK(x[0] == 13 && x[1] == 14);
    nino_sampling_noise_scaling(eps, 3, true, noise, NULL, x, 2);
    CHECK(near(x[0], sqrt(10), 1e-6) && near(x[1], -2 * sqrt(10), 1e-6));
    nino_sampling_inverse_noise_scaling(eps, 0.5f, x, 2);
    CHECK(near(x[0], sqrt(10), 1e-6));
    nino_sampling_unref(&eps);

    nino_sampling *flow = nino_sampling_flow(3, 1000);
    nino_sampling_noise_scaling(flow, 0.25f, true, noise, latent, x, 2);
    CHECK(x[0] == 7.75f && x[1] == 14.5f);
    nino_sampling_inverse_noise_scaling(flow, 0.25f, x, 2);
    CHECK(near(x[0], 7.75 / 0.75, 1e-6));
    CHECK(nino_sampling_is_flow(flow));
    nino_sampling_unref(&flow);
    nino_sampling_unref(&flow); // NULL-safe
}

int main(void)
{
    for (int p = NINO_PRED_EPS; p <= NINO_PRED_IMG_TO_IMG; p++)
        if (p != NINO_PRED_EDM)
            check_prediction(nino_sampling_discrete((nino_prediction) p, false), 1.7f);
    check_prediction(nino_sampling_continuous(NINO_SCHEDULE_EDM, NINO_PRED_EDM, 0.002, 80, 0.5), 3);
    check_prediction(nino_sampling_continuous(NINO_SCHEDULE_V, NINO_PRED_V, 0.03, 500, 1), 20);
    check_prediction(
        nino_sampling_continuous(NINO_SCHEDULE_COSMOS, NINO_PRED_COSMOS_RFLOW, 0.002, 80, 1), 2);
    check_prediction(nino_sampling_flow(3, 1000), 0.6f);
    check_lcm();
    check_inverse(nino_sampling_discrete(NINO_PRED_EPS, false), 1e-6);
    check_inverse(nino_sampling_discrete(NINO_PRED_V, true), 1e-6);
    check_inverse(nino_sampling_distilled(NINO_PRED_LCM, false), 1e-6);
    check_inverse(nino_sampling_flow(1, 1000),
                  1e-6); // with a shift the network is told sigma itself
    check_inverse(nino_sampling_continuous(NINO_SCHEDULE_EDM, NINO_PRED_EDM, 0.002, 80, 0.5), 2e-6);
    check_inverse(nino_sampling_continuous(NINO_SCHEDULE_V, NINO_PRED_V, 0.03, 500, 1), 2e-4);
    check_start();
    CHECK(near(nino_sampling_flux_mu(1.15, 0.5, 1024, 1024), 1.15, 1e-12));
    CHECK(near(nino_sampling_flux_mu(1.15, 0.5, 256, 256), 0.5, 1e-12));
    return 0;
}
