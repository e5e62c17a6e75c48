// Speed of what sampling computes on the host: torch's noise, the Brownian tree, and a step of
// every sampler, for one latent of SDXL size (128 x 128 x 4) and one of a Wan video.
//   bench/noise
#include "core/base/time.h"
#include "core/sample/noise/brownian.h"
#include "core/sample/noise/rng.h"
#include "core/sample/solver/sampler.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(nino_status st, const nino_error *err)
{
    if (st == NINO_OK)
        return;
    fprintf(stderr, "bench: %s: %s\n", err->where, err->msg);
    exit(1);
}

static double ms_since(uint64_t t) { return (double) (nino_now_ns() - t) / 1e6; }

static void bench_randn(float *x, int64_t n)
{
    static const struct {
        nino_rng_kernel kernel;
        const char *name;
    } kernels[] = { { NINO_RNG_AVX2, "randn" },
                    { NINO_RNG_AVX2_UNFUSED, "randn without a fused unit" },
                    { NINO_RNG_SCALAR, "randn, the C library's functions" } };
    for (int k = 0; k < 3; k++) {
        nino_rng r;
        nino_rng_seed(&r, 1);
        r.kernel = kernels[k].kernel;
        double best = 1e30;
        for (int rep = 0; rep < 5; rep++) {
            const uint64_t t = nino_now_ns();
            nino_rng_randn(&r, x, n);
            best = fmin(best, ms_since(t));
        }
        printf("%-36s %8.2f ms for %lld values, %.0f M/s\n", kernels[k].name, best, (long long) n,
               (double) n / best / 1e3);
    }
}

static void bench_tree(float *x, int64_t n)
{
    nino_error err = { 0 };
    nino_brownian *b = NULL;
    check(nino_brownian_create(0.029, 14.6, n, 1, &b, &err), &err);
    const uint64_t t = nino_now_ns();
    for (int i = 0; i < 10; i++)
        check(nino_brownian_noise(b, 14.6 - i, 13.6 - i, x, &err), &err);
    printf("%-36s %8.2f ms a draw of %lld values\n", "Brownian tree", ms_since(t) / 10,
           (long long) n);
    nino_brownian_destroy(&b);
}

static nino_status denoise(void *priv, const float *x, double sigma, float *D, float *U,
                           nino_error *err)
{
    (void) sigma;
    (void) err;
    const int64_t n = *(const int64_t *) priv;
    memcpy(D, x, (size_t) n * sizeof(float));
    for (int64_t i = 0; i < n; i++)
        D[i] *= 0.5f;
    if (U)
        memcpy(U, D, (size_t) n * sizeof(float));
    return NINO_OK;
}

static void bench_samplers(float *x, int64_t n)
{
    nino_error err = { 0 };
    nino_sampling *ms = nino_sampling_discrete(NINO_PRED_EPS, false);
    nino_sigmas s = { 0 };
    check(nino_schedule_make(ms, NINO_SCHEDULER_KARRAS, 20, &s, &err), &err);
    double worst = 0, sum = 0;
    const char *where = "";
    for (int id = 0; id < NINO_SAMPLER_COUNT; id++) {
        const nino_sampler o = nino_sampler_default((nino_sampler_id) id);
        nino_noise_fill(1, x, 1, n, NULL);
        const uint64_t t = nino_now_ns();
        check(nino_sampler_run_all(&o,
                                   &(nino_sampler_run){ .ms = ms,
                                                        .denoise = denoise,
                                                        .denoise_priv = &n,
                                                        .x = x,
                                                        .count = n,
                                                        .sigmas = s.v,
                                                        .n_sigmas = s.n },
                                   &err),
              &err);
        const double step = ms_since(t) / 20;
        sum += step;
        if (step > worst) {
            worst = step;
            where = nino_sampler_names[id];
        }
    }
    printf("%-36s %8.2f ms a step of %lld values, worst %.2f (%s)\n", "samplers, mean",
           sum / NINO_SAMPLER_COUNT, (long long) n, worst, where);
    nino_sigmas_release(&s);
    nino_sampling_unref(&ms);
}

int main(void)
{
    static const int64_t sizes[] = { 4 * 128 * 128, 16 * 21 * 60 * 104 };
    for (int k = 0; k < 2; k++) {
        float *x = malloc((size_t) sizes[k] * sizeof(*x));
        if (!x)
            return 1;
        bench_randn(x, sizes[k]);
        bench_tree(x, sizes[k]);
        bench_samplers(x, sizes[k]);
        free(x);
    }
    return 0;
}
