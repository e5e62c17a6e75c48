// What holds for runs of every sampler: progress, cancelling, errors, bad options, short lists of
// sigmas, a denoiser that knows the answer; runs in two parts; batches; options.
#include "core/sample/noise/rng.h"
#include "core/sample/solver/sampler.h"
#include "tests/test.h"
#include <math.h>

enum { count = 96 };
static nino_error err;

typedef struct probe {
    int calls, steps, fail_at; // fail_at: the call that fails, from 1
    int cancel_at;
    volatile int cancel;
    bool is_constant; // x0 is always `answer`
    float answer[count];
    double last_sigma;
    int64_t n;
} probe;

static nino_status denoise(void *priv, const float *x, double sigma, float *D, float *U,
                           nino_error *e)
{
    probe *p = priv;
    CHECK(!p->cancel); // nothing is evaluated after that
    p->calls++;
    p->last_sigma = sigma;
    if (p->calls == p->cancel_at)
        p->cancel = 1;
    if (p->calls == p->fail_at) {
        *e = (nino_error){ .code = NINO_ERR_DEVICE, .msg = "lost" };
        return NINO_ERR_DEVICE;
    }
    for (int64_t i = 0; i < p->n; i++) {
        D[i] = p->is_constant ? p->answer[i % count] : (float) tanh(x[i] / (1 + sigma));
        if (U)
            U[i] = p->is_constant ? D[i] : D[i] * 0.9f;
    }
    return NINO_OK;
}

static void on_step(void *priv, int step, int total, double sigma, const float *x, const float *D)
{
    probe *p = priv;
    CHECK(step == p->steps && total > 0 && sigma > 0);
    CHECK(isfinite(x[0]) && isfinite(D[count - 1]));
    for (int i = 0; p->is_constant && i < count; i++) // what is shown is what was denoised
        CHECK(fabsf(D[i] - p->answer[i]) < 1e-3f * (1 + (float) sigma));
    p->steps++;
}

static nino_status run(const nino_sampler *s, const nino_sampling *ms, probe *p, float *x,
                       const float *sigmas, int n)
{
    p->calls = p->steps = 0;
    p->cancel = 0;
    p->n = p->n ? p->n : count;
    const nino_sampler_run r = { .ms = ms,
                                 .denoise = denoise,
                                 .denoise_priv = p,
                                 .x = x,
                                 .count = p->n,
                                 .sigmas = sigmas,
                                 .n_sigmas = n,
                                 .seed = 11,
                                 .on_step = on_step,
                                 .step_priv = p,
                                 .cancel = &p->cancel };
    return nino_sampler_run_all(s, &r, &err);
}

static void start(const nino_sampling *ms, float sigma, float *x)
{
    nino_noise_fill(3, x, 1, count, NULL);
    nino_sampling_noise_scaling(ms, sigma, false, x, NULL, x, count);
}

static bool is_stopping_early(nino_sampler_id id) // ends at the last sigma that is not 0
{
    return id == NINO_SAMPLER_DPM_FAST || id == NINO_SAMPLER_DPM_ADAPTIVE ||
           id == NINO_SAMPLER_UNI_PC || id == NINO_SAMPLER_UNI_PC_BH2;
}

// A denoiser that always says the same: every sampler ends there.
static void check_answer(const nino_sampling *ms, nino_sampler_id id, const float *sigmas, int n)
{
    probe p = { .is_constant = true };
    float x[count];
    const nino_sampler s = nino_sampler_default(id);
    nino_noise_fill(4, p.answer, 1, count, NULL);
    nino_noise_fill(3, x, 1, count, NULL);
    nino_sampling_noise_scaling(ms, sigmas[0], false, x, p.answer, x, count);
    CHECK_OK(run(&s, ms, &p, x, sigmas, n), err);
    const double slack = is_stopping_early(id) ? 5 * sigmas[n - 2] + 0.02 : 1e-4;
    for (int i = 0; i < count; i++)
        if (!(fabsf(x[i] - p.answer[i]) <= slack)) {
            fprintf(stderr, "%s, %d sigmas: x[%d] is %g, x0 %g\n", nino_sampler_get(id)->name, n, i,
                    x[i], p.answer[i]);
            exit(1);
        }
    if (id != NINO_SAMPLER_DPM_FAST && id != NINO_SAMPLER_DPM_ADAPTIVE)
        CHECK(p.steps == n - 1);
}

static void check_interrupted(const nino_sampling *ms, nino_sampler_id id, const float *sigmas,
                              int n)
{
    float x[count];
    const nino_sampler s = nino_sampler_default(id);
    probe p = { .fail_at = 3 };
    start(ms, sigmas[0], x);
    CHECK(run(&s, ms, &p, x, sigmas, n) == NINO_ERR_DEVICE && p.calls == 3);
    CHECK_STR(err.msg, "lost");
    p = (probe){ .cancel_at = 2 };
    start(ms, sigmas[0], x);
    CHECK(run(&s, ms, &p, x, sigmas, n) == NINO_ERR_CANCELLED && p.calls == 2);
    p = (probe){ 0 };
    start(ms, sigmas[0], x);
    const float before = x[0];
    CHECK_OK(run(&s, ms, &p, x, sigmas, 1), err);
    CHECK_OK(run(&s, ms, &p, x, sigmas, 0), err);
    CHECK(p.calls == 0 && x[0] == before);
}

static void check_all(void)
{
    static const float eps[] = { 12, 6, 3, 1, 0.4f, 0.1f, 0.03f, 0 };
    static const float flow[] = { 1, 0.9f, 0.75f, 0.6f, 0.4f, 0.2f, 0.03f, 0 };
    nino_sampling *ms[2] = { nino_sampling_discrete(NINO_PRED_EPS, false),
                             nino_sampling_flow(3, 1000) };
    for (int k = 0; k < 2; k++) {
        const float *s = k ? flow : eps;
        for (int id = 0; id <= NINO_SAMPLER_EULER_PP; id++) {
            for (int n = 4; n <= 8; n++)
                check_answer(ms[k], (nino_sampler_id) id, s + 8 - n, n);
            check_answer(ms[k], (nino_sampler_id) id, s, 8);
            check_interrupted(ms[k], (nino_sampler_id) id, s, 8);
            // One step, and a run that does not end in 0: finite, no more is promised.
            for (int n = 2; n <= 5; n++) {
                const nino_sampler o = nino_sampler_default((nino_sampler_id) id);
                probe p = { 0 };
                float x[count];
                start(ms[k], s[2], x);
                CHECK_OK(run(&o, ms[k], &p, x, n == 2 ? s + 6 : s + 2, n), err);
                for (int i = 0; i < count; i++)
                    CHECK(isfinite(x[i]));
            }
        }
    }
    nino_sampling_unref(&ms[0]);
    nino_sampling_unref(&ms[1]);
}

static void sample(nino_sampler s, const nino_sampling *ms, const float *sigmas, int n, float *x)
{
    probe p = { 0 };
    CHECK_OK(run(&s, ms, &p, x, sigmas, n), err);
}

// A KSamplerAdvanced that leaves its noise and one that goes on from there are one run.
static void check_two_parts(void)
{
    static const float s[] = { 12, 6, 3, 1, 0.4f, 0 }, f[] = { 1, 0.9f, 0.6f, 0.3f, 0.1f, 0 };
    nino_sampling *eps = nino_sampling_discrete(NINO_PRED_EPS, false);
    nino_sampling *flow = nino_sampling_flow(3, 1000);
    static const nino_sampler_id ids[] = { NINO_SAMPLER_EULER, NINO_SAMPLER_HEUN,
                                           NINO_SAMPLER_DPM_2 };
    for (int k = 0; k < 3; k++)
        for (int cut = 1; cut <= 4; cut++) {
            const nino_sampler o = nino_sampler_default(ids[k]);
            float whole[count], parts[count];
            start(eps, s[0], whole);
            memcpy(parts, whole, sizeof(parts));
            sample(o, eps, s, 6, whole);
            sample(o, eps, s, cut + 1, parts);
            sample(o, eps, s + cut, 6 - cut, parts);
            CHECK(!memcmp(whole, parts, sizeof(parts)));

            // of flow models the latent in between is x / (1 - s), and is mixed with no noise again
            const float no_noise[count] = { 0 };
            start(flow, f[0], whole);
            memcpy(parts, whole, sizeof(parts));
            sample(o, flow, f, 6, whole);
            sample(o, flow, f, cut + 1, parts);
            nino_sampling_inverse_noise_scaling(flow, f[cut], parts, count);
            nino_sampling_noise_scaling(flow, f[cut], false, no_noise, parts, parts, count);
            sample(o, flow, f + cut, 6 - cut, parts);
            for (int i = 0; i < count; i++)
                CHECK(fabsf(whole[i] - parts[i]) <= 2e-6f);
        }
    nino_sampling_unref(&eps);
    nino_sampling_unref(&flow);
}

// Samplers that draw no noise treat every item of a batch alone.
static void check_batch(void)
{
    static const float s[] = { 12, 6, 3, 1, 0.4f, 0 };
    nino_sampling *ms = nino_sampling_discrete(NINO_PRED_EPS, false);
    float two[2 * count], one[count];
    for (int id = 0; id < NINO_SAMPLER_COUNT; id++) {
        nino_sampler o = nino_sampler_default((nino_sampler_id) id);
        if (id == NINO_SAMPLER_DPM_ADAPTIVE || id == NINO_SAMPLER_DDPM || id == NINO_SAMPLER_LCM)
            continue; // one step size for all; noise that no option takes away
        o.s_noise = 0;
        start(ms, s[0], two);
        for (int i = 0; i < count; i++)
            two[count + i] = 0.5f * two[i];
        memcpy(one, two + count, sizeof(one));
        probe p = { .n = 2 * count };
        CHECK_OK(run(&o, ms, &p, two, s, 6), err);
        sample(o, ms, s, 6, one);
        if (memcmp(one, two + count, sizeof(one)) != 0) {
            fprintf(stderr, "%s: an item of a batch differs\n", nino_sampler_get(o.id)->name);
            exit(1);
        }
    }
    nino_sampling_unref(&ms);
}

static double distance(nino_sampler a, nino_sampler b)
{
    static const float s[] = { 12, 6, 3, 1, 0.4f, 0.1f, 0 };
    nino_sampling *ms = nino_sampling_discrete(NINO_PRED_EPS, false);
    float x[count], y[count];
    double worst = 0;
    start(ms, s[0], x);
    memcpy(y, x, sizeof(y));
    sample(a, ms, s, 7, x);
    sample(b, ms, s, 7, y);
    for (int i = 0; i < count; i++)
        worst = fmax(worst, fabsf(x[i] - y[i]));
    nino_sampling_unref(&ms);
    return worst;
}

// What the nodes of single samplers can set.
static void check_options(void)
{
    nino_sampler a = nino_sampler_default(NINO_SAMPLER_EULER_ANCESTRAL), b = a;
    a.eta = 0;
    CHECK(distance(a, nino_sampler_default(NINO_SAMPLER_EULER)) < 1e-5);
    CHECK(distance(a, b) > 1e-2);
    b.s_noise = 0;
    CHECK(distance(nino_sampler_default(NINO_SAMPLER_EULER_ANCESTRAL), b) > 1e-2);
    a = nino_sampler_default(NINO_SAMPLER_RES_MULTISTEP_ANCESTRAL);
    a.eta = 0;
    CHECK(distance(a, nino_sampler_default(NINO_SAMPLER_RES_MULTISTEP)) == 0);
    a = nino_sampler_default(NINO_SAMPLER_DPMPP_2M_SDE);
    a.solver_type = NINO_SOLVER_HEUN;
    CHECK(distance(a, nino_sampler_default(NINO_SAMPLER_DPMPP_2M_SDE_HEUN)) == 0);
    CHECK(distance(a, nino_sampler_default(NINO_SAMPLER_DPMPP_2M_SDE)) > 0);
    a = nino_sampler_default(NINO_SAMPLER_LMS);
    a.order = 1;
    CHECK(distance(a, nino_sampler_default(NINO_SAMPLER_EULER)) < 1e-5);
    a.order = 100; // as many as there are steps
    CHECK(isfinite(distance(a, a)));
    a = nino_sampler_default(NINO_SAMPLER_ER_SDE);
    a.solver_type = NINO_SOLVER_ODE;
    a.max_stage = 1; // DDIM is Euler in sigma
    CHECK(distance(a, nino_sampler_default(NINO_SAMPLER_EULER)) < 1e-5);
    a = b = nino_sampler_default(NINO_SAMPLER_SA_SOLVER);
    a.use_pece = true;
    CHECK(distance(a, nino_sampler_default(NINO_SAMPLER_SA_SOLVER_PECE)) == 0);
    a = b;
    a.eta = 0;
    a.predictor_order = 1;
    a.corrector_order = 0; // first order: DDIM
    CHECK(distance(a, nino_sampler_default(NINO_SAMPLER_EULER)) < 1e-5);
    a.simple_order_2 = true;
    a.predictor_order = a.corrector_order = 2;
    CHECK(distance(a, nino_sampler_default(NINO_SAMPLER_DPMPP_2M)) < 0.2);
    a = nino_sampler_default(NINO_SAMPLER_DPM_ADAPTIVE);
    a.rtol = 1e-3;
    a.atol = 1e-4;
    b = a;
    b.order = 2;
    CHECK(distance(a, b) < 0.01);
    a = nino_sampler_default(NINO_SAMPLER_EULER);
    a.s_churn = 20;
    CHECK(distance(a, nino_sampler_default(NINO_SAMPLER_EULER)) > 1e-3);
}

static void check_refused(nino_sampler s, const float *sigmas, int n, const char *what)
{
    nino_sampling *ms = nino_sampling_discrete(NINO_PRED_EPS, false);
    float x[count];
    probe p = { 0 };
    start(ms, 1, x);
    CHECK(run(&s, ms, &p, x, sigmas, n) == NINO_ERR_RANGE);
    CHECK_STR(err.where, nino_sampler_get(s.id)->name);
    CHECK_STR(err.msg, what);
    nino_sampling_unref(&ms);
}

// Nothing to sample, and nobody to do it.
static void check_nobody(void)
{
    static const float s[] = { 12, 6, 3, 0 };
    const nino_sampler_run none = { .denoise = denoise, .sigmas = s, .n_sigmas = 4 };
    nino_sampler a = nino_sampler_default(NINO_SAMPLER_EULER);
    CHECK(nino_sampler_run_all(&a, &none, &err) == NINO_ERR_ARG);
    CHECK_STR(err.where, "sampler");
    CHECK_STR(err.msg, "nothing to sample");
    float x[1] = { 0 };
    const nino_sampler_run some = {
        .denoise = denoise, .x = x, .count = 1, .sigmas = s, .n_sigmas = 4
    };
    a.id = (nino_sampler_id) (NINO_SAMPLER_EULER_PP + 1);
    CHECK(nino_sampler_run_all(&a, &some, &err) == NINO_ERR_ARG);
}

static void check_bad(void)
{
    static const float s[] = { 12, 6, 3, 0 }, from_zero[] = { 0, 0, 0 }, rising[] = { 1, 2, 3 };
    static const float equal[] = { 3, 3, 3, 3, 3 };
    const char *const no_range = "the first and the last sigma must be above 0";
    nino_sampler a = nino_sampler_default(NINO_SAMPLER_DPM_ADAPTIVE);
    a.order = 4;
    check_refused(a, s, 4, "order must be 2 or 3");
    a.order = 1;
    check_refused(a, s, 4, "order must be 2 or 3");
    a.order = 3;
    check_refused(a, from_zero, 3, no_range);
    a.eta = 1;
    check_refused(a, rising, 3, "eta must be 0 where sigmas rise");
    a.eta = a.rtol = a.atol = 0;
    check_refused(a, s, 4, "the step's error is not a finite number");
    a.h_init = 0;
    check_refused(a, s, 4, "the step size fell to nothing: rtol and atol are too small");
    check_refused(nino_sampler_default(NINO_SAMPLER_DPM_FAST), from_zero, 3, no_range);
    check_refused(nino_sampler_default(NINO_SAMPLER_SA_SOLVER), equal, 5, "two sigmas are equal");
    static const nino_sampler_id past[] = { NINO_SAMPLER_IPNDM, NINO_SAMPLER_IPNDM_V,
                                            NINO_SAMPLER_DEIS };
    for (int i = 0; i < 3; i++)
        for (int order = 0; order <= 5; order += 5) {
            a = nino_sampler_default(past[i]);
            a.order = order;
            check_refused(a, s, 4, "order must be 1 .. 4");
        }
    a = nino_sampler_default(NINO_SAMPLER_LMS);
    a.order = 0;
    check_refused(a, s, 4, "order must be 1 .. 126 where there are as many steps");
    static const nino_sampler_id inner[] = { NINO_SAMPLER_DPMPP_SDE, NINO_SAMPLER_SEEDS_2,
                                             NINO_SAMPLER_SEEDS_3 };
    for (int i = 0; i < 3; i++) {
        a = nino_sampler_default(inner[i]);
        a.r = 0;
        check_refused(a, s, 4, "r must be above 0");
    }
    for (int i = 0; i < 4; i++) {
        a = nino_sampler_default(NINO_SAMPLER_SA_SOLVER);
        a.predictor_order = i == 0 ? 7 : i == 1 ? 0 : 3;
        a.corrector_order = i == 2 ? 7 : i == 3 ? -1 : 4;
        check_refused(a, s, 4, "predictor_order must be 1 .. 6, corrector_order 0 .. 6");
    }
    check_nobody();
}

static void check_names(void)
{
    nino_sampler_id id;
    for (int i = 0; i < NINO_SAMPLER_COUNT; i++)
        CHECK(nino_sampler_find(nino_sampler_names[i], &id) && (int) id == i);
    CHECK(!nino_sampler_names[NINO_SAMPLER_COUNT]);
    CHECK(!nino_sampler_find("euler_a", &id) && !nino_sampler_find("", &id));
    CHECK(!nino_sampler_find("euler_pp", &id)); // made by a node only
    CHECK(nino_sampler_get(NINO_SAMPLER_UNI_PC)->discards_penultimate);
    CHECK(!nino_sampler_get(NINO_SAMPLER_EULER)->discards_penultimate);
    CHECK(nino_sampler_get(NINO_SAMPLER_DDIM)->has_own_mask_noise);
}

int main(void)
{
    check_names();
    check_all();
    check_two_parts();
    check_batch();
    check_options();
    check_bad();
    return 0;
}
