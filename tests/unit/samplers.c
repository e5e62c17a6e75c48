// Every sampler against what ComfyUI's own code made of the same noise with a closed-form denoiser.
#include "core/sample/rng.h"
#include "tests/sampling.h"

enum { count = 256 };

typedef struct toy {
    int calls;
    float sigma[512];
} toy;

// cond = 0.9 tanh(0.7 x / (1 + s)) + 0.05 s / (1 + s); uncond = 0.8 cond - 0.01; cfg 2
static nino_status toy_denoise(void *priv, const float *x, double sigma, float *denoised,
                               float *uncond, nino_error *err)
{
    (void) err;
    toy *t = priv;
    const float s = (float) sigma;
    if (t->calls < 512)
        t->sigma[t->calls] = s;
    t->calls++;
    for (int i = 0; i < count; i++) {
        const float c = 0.9f * (float) tanh(0.7f * x[i] / (1 + s)) + 0.05f * s / (1 + s);
        const float u = 0.8f * c - 0.01f;
        denoised[i] = u + 2 * (c - u);
        if (uncond)
            uncond[i] = u;
    }
    return NINO_OK;
}

static nino_sampling *sampling_of(const char *family)
{
    if (!strncmp(family, "eps/", 4))
        return nino_sampling_discrete(NINO_PRED_EPS, false);
    if (!strncmp(family, "flow/", 5))
        return nino_sampling_flux(1.15);
    return nino_sampling_flow(8, 1000);
}

static double check_case(const nino_json *v, nino_weights *w, double *worst_sigma)
{
    char name[96];
    nino_error err = { 0 };
    nino_sampler_id id;
    toy t = { 0 };
    CHECK(nino_sampler_find(strchr(v->key, '/') + 1, &id));
    nino_sampling *ms = sampling_of(v->key);
    snprintf(name, sizeof(name), "%s/sigmas", v->key);
    nino_array *sigmas = test_tensor(w, name, false);
    snprintf(name, sizeof(name), "%s/final", v->key);
    nino_array *want = test_tensor(w, name, false);
    nino_array *noise = test_tensor(w, "noise_seed7_1x4x8x8", false);
    const float *s = nino_array_f32(sigmas);
    const int n = (int) sigmas->shape.dim[0];

    float x[count];
    nino_sampling_noise_scaling(ms, s[0], nino_sampling_is_max_denoise(ms, s[0]),
                                nino_array_f32(noise), NULL, x, count);
    const nino_sampler sampler = nino_sampler_default(id);
    const nino_sampler_run run = { .ms = ms,
                                   .denoise = toy_denoise,
                                   .denoise_priv = &t,
                                   .x = x,
                                   .count = count,
                                   .sigmas = s,
                                   .n_sigmas = n,
                                   .seed = 12345 };
    CHECK_OK(nino_sampler_run_all(&sampler, &run, &err), err);
    if (getenv("INV"))
    nino_sampling_inverse_noise_scaling(ms, nino_sampler_end_sigma(id, s, n), x, count);

    const nino_json *calls = nino_json_get(v, "model_calls");
    if ((int) calls->count != t.calls)
        printf("%s: %d calls, want %d\n", v->key, t.calls, (int) calls->count);
    int i = 0;
    *worst_sigma = 0;
    for (const nino_json *c = calls->child; c && i < t.calls; c = c->next, i++) {
        const double e = fabs(t.sigma[i] / test_number(c) - 1);
        *worst_sigma = e > *worst_sigma ? e : *worst_sigma;
    }
    double d = 0, q = 0;
    for (int k = 0; k < count; k++) {
        const double a = x[k], b = nino_array_f32(want)[k];
        d += (a - b) * (a - b);
        q += b * b;
    }
    nino_array_unref(&sigmas);
    nino_array_unref(&want);
    nino_array_unref(&noise);
    nino_sampling_unref(&ms);
    return d / q;
}

int main(void)
{
    if (!test_assets())
        return test_skip("no reference samples");
    char folder[400];
    snprintf(folder, sizeof(folder), "%s/vectors", test_assets());
    nino_json_doc *doc = test_json(folder, "samplers.json");
    nino_weights *w = test_open("%s/samplers.safetensors", folder);
    int n = 0;
    for (const nino_json *v = nino_json_get(doc->root, "runs")->child; v; v = v->next, n++) {
        double ws;
        const double e = check_case(v, w, &ws);
        printf("%-40s nmse %.3g  sigma %.3g %s\n", v->key, e, ws, !(e <= 1e-12) ? "<---" : "");
    }
    nino_json_doc_destroy(&doc);
    nino_weights_unref(&w);
    return 0;
}
