// Every sampler against what ComfyUI's own code made of the same noise with a closed-form denoiser:
// a few values of each run from sampler_values.h, all of them and the sigmas of every call where
// the reference files are at hand.
#include "core/sample/noise/rng.h"
#include "tests/sampling.h"
#include "tests/unit/sample/sampler_values.h"

enum { count = 256, max_calls = 64 };
static const double tolerance = 1e-12; // of the squared error; float's own is about 1e-14

typedef struct toy {
    int calls;
    double sigma[max_calls];
} toy;

// cond = 0.9 tanh(0.7 x / (1 + s)) + 0.05 s / (1 + s); uncond = 0.8 cond - 0.01; cfg 2
static nino_status toy_denoise(void *priv, const float *x, double sigma, float *denoised,
                               float *uncond, nino_error *err)
{
    (void) err;
    toy *t = priv;
    const float s = (float) sigma;
    CHECK(t->calls < max_calls);
    t->sigma[t->calls++] = sigma;
    for (int i = 0; i < count; i++) {
        const float c = 0.9f * (float) tanh(0.7f * x[i] / (1 + s)) + 0.05f * s / (1 + s);
        const float u = 0.8f * c - 0.01f;
        denoised[i] = u + 2 * (c - u);
        if (uncond)
            uncond[i] = u;
    }
    return NINO_OK;
}

static nino_sampling *sampling_of(const char *run)
{
    nino_sampling *ms = !strncmp(run, "eps/", 4)    ? nino_sampling_discrete(NINO_PRED_EPS, false)
                        : !strncmp(run, "flow/", 5) ? nino_sampling_flux(1.15)
                                                    : nino_sampling_flow(8, 1000);
    CHECK(ms != NULL);
    return ms;
}

static nino_sampler_id sampler_of(const char *run)
{
    nino_sampler_id id;
    CHECK(nino_sampler_find(strchr(run, '/') + 1, &id));
    return id;
}

// x[count] = the result; sigmas NULL: those of KSampler with 8 steps, karras or simple (flow).
static void sample(const char *run, const float *sigmas, int n, float *x, toy *t)
{
    nino_error err = { 0 };
    nino_sampling *ms = sampling_of(run);
    const nino_sampler sampler = nino_sampler_default(sampler_of(run));
    const nino_ksampler_steps steps = {
        .scheduler = nino_sampling_is_flow(ms) ? NINO_SCHEDULER_SIMPLE : NINO_SCHEDULER_KARRAS,
        .discard_penultimate = nino_sampler_get(sampler.id)->discards_penultimate,
        .steps = 8,
        .denoise = 1,
        .start_step = -1,
        .end_step = -1
    };
    nino_sigmas own;
    CHECK_OK(nino_schedule_ksampler(ms, &steps, &own, &err), err);
    const float *s = sigmas ? sigmas : own.v;
    nino_noise_fill(7, x, 1, count, NULL);
    nino_sampling_noise_scaling(ms, s[0], nino_sampling_is_max_denoise(ms, s[0]), x, NULL, x,
                                count);
    *t = (toy){ 0 };
    const nino_sampler_run r = { .ms = ms,
                                 .denoise = toy_denoise,
                                 .denoise_priv = t,
                                 .x = x,
                                 .count = count,
                                 .sigmas = s,
                                 .n_sigmas = sigmas ? n : own.n,
                                 .seed = 12345 };
    CHECK_OK(nino_sampler_run_all(&sampler, &r, &err), err);
    nino_sigmas_release(&own);
    nino_sampling_unref(&ms);
}

static void check_values(void)
{
    const int n = (int) (sizeof(sampler_values) / sizeof(*sampler_values));
    for (int k = 0; k < n; k++) {
        float x[count];
        toy t;
        sample(sampler_values[k].run, NULL, 0, x, &t);
        for (int i = 0; i < 4; i++) {
            const float got = x[i < 2 ? i : count - 4 + i], want = sampler_values[k].value[i];
            if (!(fabsf(got - want) <= 1e-5f) || t.calls != sampler_values[k].calls) {
                fprintf(stderr, "%s: value %d is %.9g, expected %.9g; %d calls, expected %d\n",
                        sampler_values[k].run, i, got, want, t.calls, sampler_values[k].calls);
                exit(1);
            }
        }
    }
    CHECK(n == 3 * NINO_SAMPLER_COUNT);
}

static double check_reference(const nino_json *v, nino_weights *w)
{
    char name[96];
    snprintf(name, sizeof(name), "%s/sigmas", v->key);
    nino_array *sigmas = test_tensor(w, name, false);
    snprintf(name, sizeof(name), "%s/final", v->key);
    nino_array *want = test_tensor(w, name, false);
    float x[count];
    toy t;
    sample(v->key, nino_array_f32(sigmas), (int) sigmas->shape.dim[0], x, &t);

    const nino_json *calls = nino_json_get(v, "model_calls");
    CHECK((int) calls->count == t.calls);
    for (int i = 0; i < t.calls; i++)
        CHECK(test_is_near(t.sigma[i], test_number(nino_json_at(calls, (uint32_t) i)), 1e-6));
    double d = 0, q = 0;
    for (int k = 0; k < count; k++) {
        const double a = x[k], b = nino_array_f32(want)[k];
        d += (a - b) * (a - b);
        q += b * b;
    }
    if (!(d / q <= tolerance)) {
        fprintf(stderr, "%s: NMSE %g\n", v->key, d / q);
        exit(1);
    }
    nino_array_unref(&sigmas);
    nino_array_unref(&want);
    return d / q;
}

int main(void)
{
    check_values();
    if (!test_assets()) {
        test_skip_part("all values of the runs and the sigmas of their calls");
        return 0;
    }
    char folder[400];
    snprintf(folder, sizeof(folder), "%s/vectors", test_assets());
    nino_json_doc *doc = test_json(folder, "samplers.json");
    nino_weights *w = test_open("%s/samplers.safetensors", folder);
    int n = 0, n_exact = 0;
    double worst = 0;
    const char *where = "";
    for (const nino_json *v = nino_json_get(doc->root, "runs")->child; v; v = v->next, n++) {
        const double e = check_reference(v, w);
        n_exact += e == 0;
        if (e > worst) {
            worst = e;
            where = v->key;
        }
    }
    CHECK(n == 3 * NINO_SAMPLER_COUNT);
    printf("  %d runs, %d bit-equal, worst NMSE %.2g (%s)\n", n, n_exact, worst, where);
    nino_json_doc_destroy(&doc);
    nino_weights_unref(&w);
    return 0;
}
