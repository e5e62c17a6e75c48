// Every allocation of schedules and samplers fails once: a clean "nomem", no leak.
#include "core/sample/latent_picture.h"
#include "core/sample/noise/brownian.h"
#include "core/sample/solver/sampler.h"
#include "tests/oom.h"
#include <math.h>

static nino_error err;

static bool done(nino_status st, int may_fail)
{
    if (st)
        CHECK_STR(err.kind, "nomem");
    return oom_passed(st, &err, may_fail);
}

static nino_status denoise(void *priv, const float *x, double sigma, float *D, float *U,
                           nino_error *e)
{
    (void) priv;
    (void) e;
    for (int i = 0; i < 20; i++) {
        D[i] = x[i] / (float) (1 + sigma);
        if (U)
            U[i] = D[i] * 0.9f;
    }
    return NINO_OK;
}

static void test_all_models(int may_fail)
{
    nino_sampling *ms[5] = {
        nino_sampling_discrete(NINO_PRED_V, true), nino_sampling_distilled(NINO_PRED_LCM, false),
        nino_sampling_flow(3, 1000), nino_sampling_flux(1.15),
        nino_sampling_continuous(NINO_SCHEDULE_EDM, NINO_PRED_EDM, 0.002, 80, 0.5)
    };
    for (int i = 0; i < 5; i++) {
        CHECK(ms[i] || (may_fail && oom.fired));
        nino_sampling_unref(&ms[i]);
    }
}

static nino_sampling *model;

static void test_schedules(int may_fail)
{
    nino_sigmas s = { 0 }, a = { 0 }, b = { 0 };
    for (int k = 0; k < NINO_SCHEDULER_COUNT; k++) {
        if (!done(nino_schedule_basic(model, (nino_scheduler) k, 4, 0.5, &s, &err), may_fail))
            continue;
        if (done(nino_sigmas_split(&s, 2, &a, &b, &err), may_fail)) {
            nino_sigmas_release(&a);
            nino_sigmas_release(&b);
        }
        if (done(nino_sigmas_extend(&s, 3, -1, 0.1, NINO_SPACING_SINE, &a, &err), may_fail))
            nino_sigmas_release(&a);
        nino_sigmas_release(&s);
    }
    if (done(nino_schedule_gits(1.2, 6, 0.7, &s, &err), may_fail))
        nino_sigmas_release(&s);
}

static nino_sampler_id id;

static void test_sampler(int may_fail)
{
    static const float sigmas[] = { 3, 1, 0.4f, 0 };
    float x[20];
    for (int i = 0; i < 20; i++)
        x[i] = (float) sin(i);
    const nino_sampler s = nino_sampler_default(id);
    const nino_sampler_run run = { .ms = model,
                                   .denoise = denoise,
                                   .x = x,
                                   .count = 20,
                                   .sigmas = sigmas,
                                   .n_sigmas = 4,
                                   .seed = 1 };
    if (done(nino_sampler_run_all(&s, &run, &err), may_fail))
        CHECK(isfinite(x[0]));
}

// With colours that are known, and grey, of pictures and clips.
static void test_pictures(int may_fail)
{
    static const nino_shape shapes[] = { { .rank = 4, .dim = { 2, 4, 3, 5 } },
                                         { .rank = 5, .dim = { 1, 16, 2, 3, 4 } },
                                         { .rank = 4, .dim = { 3, 7, 2, 2 } } };
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        nino_array *a = nino_array_create(NINO_F32, shapes[i]);
        nino_picture picture = { 0 };
        CHECK(a || (may_fail && oom.fired));
        for (int64_t k = 0; a && k < nino_shape_count(&a->shape); k++)
            nino_array_f32(a)[k] = (float) (k % 9) / 4 - 1;
        if (a && done(nino_latent_picture(a, "x", 0, &picture, &err), may_fail)) {
            CHECK(picture.frames > 0 && picture.rgba);
            nino_picture_release(&picture);
        }
        nino_array_unref(&a);
    }
}

int main(void)
{
    long n = oom_each(test_all_models);
    model = nino_sampling_discrete(NINO_PRED_EPS, false);
    n += oom_each(test_schedules);
    n += oom_each(test_pictures);
    for (int i = 0; i <= NINO_SAMPLER_EULER_PP; i++) {
        id = (nino_sampler_id) i;
        n += oom_each(test_sampler);
    }
    nino_sampling_unref(&model);
    printf("  %ld allocations\n", n);
    return 0;
}
