// Sampling from the conditioning of a recorded run: noise, sigmas, every step's x0 and the latent
// against ComfyUI's.
#pragma once
#include "core/sample/guide/guide.h"
#include "tests/e2e.h"
#include "tests/vae.h"

typedef struct e2e_case {
    const char *workflow, *ref, *run; // files of e2e, and what the tensors' names begin with
    const char *model;                // below models
    nino_sampler_id sampler;
    nino_scheduler scheduler;
    uint64_t seed;
    int steps;
    double cfg;
} e2e_case;

// ---- sampling from the reference's conditioning ----------------------------------------------

static inline nino_array *ref_tensor(const nino_weights *w, const e2e_case *c, const char *leaf)
{
    char name[96];
    snprintf(name, sizeof(name), "%s/%s", c->run, leaf);
    return test_tensor(w, name, false);
}

// What happened at every step, [steps,values of a latent]: it may have more dimensions than arrays.
static inline nino_array *ref_steps(const nino_weights *w, const e2e_case *c)
{
    char name[96];
    nino_error err = { 0 };
    snprintf(name, sizeof(name), "%s/denoised_steps", c->run);
    const nino_tensor_info *t = nino_weights_find(w, name);
    CHECK(t && t->dtype == NINO_F32);
    const int64_t count = (int64_t) (t->bytes / sizeof(float));
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(t->dim[0], count / t->dim[0]));
    CHECK(a != NULL);
    CHECK_OK(nino_weights_read(w, t, a->data, &err), err);
    return a;
}

static inline nino_cond *ref_cond(const nino_weights *w, const char *context, const char *pooled)
{
    nino_cond *cond = nino_cond_create(1);
    CHECK(cond);
    nino_array *a = test_tensor(w, context, false);
    nino_cond_set_array(&cond->entry->context, a);
    nino_array_unref(&a);
    if (pooled) {
        a = test_tensor(w, pooled, false);
        nino_cond_set_array(&cond->entry->pooled, a);
        nino_array_unref(&a);
        cond->entry->has_guidance = true;
        cond->entry->guidance = 3.5;
    }
    return cond;
}

typedef struct steps {
    const nino_array *want; // [steps,values]
    double worst;
    int n;
} steps;

static inline void ref_on_step(void *priv, const nino_sample_step *step)
{
    steps *s = priv;
    const size_t n = (size_t) nino_shape_count(&step->shape);
    double diff = 0, power = 0;
    const float *want = nino_array_f32(s->want) + (size_t) s->n++ * n;
    CHECK(s->n <= s->want->shape.dim[0]);
    for (size_t i = 0; i < n; i++) {
        const double d = (double) step->denoised[i] - (double) want[i];
        diff += d * d;
        power += (double) want[i] * (double) want[i];
    }
    if (diff / power > s->worst)
        s->worst = diff / power;
}

static inline void check_start(const e2e_case *c, const nino_weights *w, const nino_sigmas *sigmas)
{
    nino_array *noise = ref_tensor(w, c, "noise"), *sig = ref_tensor(w, c, "sigmas");
    const int64_t n = nino_shape_count(&noise->shape);
    float *made = malloc((size_t) n * sizeof(*made));
    CHECK(made && sig->shape.dim[0] == sigmas->n);
    nino_noise_fill(c->seed, made, 1, n, NULL);
    for (int64_t i = 0; i < n; i++)
        CHECK(fabs((double) made[i] - (double) nino_array_f32(noise)[i]) < 2e-6);
    for (int i = 0; i < sigmas->n; i++)
        CHECK(fabs((double) sigmas->v[i] - (double) nino_array_f32(sig)[i]) <=
              1e-6 * (double) sigmas->v[0]);
    free(made);
    nino_array_unref(&noise);
    nino_array_unref(&sig);
}

static inline void check_steps(test_device *d, const char *assets, const e2e_case *c)
{
    nino_error err = { 0 };
    nino_diffusion *net = NULL;
    nino_weights *file = test_open("%s/models/%s", assets, c->model);
    nino_weights *w = test_open("%s/e2e/expected/%s_ref.safetensors", assets, c->ref);
    const bool is_flux = !strcmp(c->ref, "flux_tiny");
    CHECK_OK(nino_diffusion_load(file, c->model, &net, &err), err);
    nino_guider g = { .refs = 1, .kind = NINO_GUIDE_CFG, .model = nino_model_create(net) };
    g.cfg = c->cfg;
    g.positive = ref_cond(w, "cond", is_flux ? "pooled" : NULL);
    g.negative = ref_cond(w, is_flux ? "cond" : "uncond", is_flux ? "pooled" : NULL);
    nino_sigmas sigmas = { 0 };
    const nino_ksampler_steps k = { .scheduler = c->scheduler,
                                    .discard_penultimate =
                                        nino_sampler_get(c->sampler)->discards_penultimate,
                                    .steps = c->steps,
                                    .denoise = 1,
                                    .end_step = c->steps };
    CHECK_OK(nino_schedule_ksampler(net->sampling, &k, &sigmas, &err), err);
    check_start(c, w, &sigmas);

    nino_array *want = ref_steps(w, c), *end = ref_tensor(w, c, "latent_comfy");
    nino_array *first = nino_array_to_channels_last(end);
    nino_array *empty = nino_array_create(NINO_F32, first->shape);
    nino_array_unref(&first);
    steps s = { .want = want };
    const nino_sampler sampler = nino_sampler_default(c->sampler);
    nino_array *out = NULL, *x0 = NULL;
    const nino_sample_params p = { .guider = &g,
                                   .noise = { .seed = c->seed },
                                   .sampler = &sampler,
                                   .sigmas = sigmas.v,
                                   .n_sigmas = sigmas.n,
                                   .samples = empty,
                                   .on_step = ref_on_step,
                                   .priv = &s };
    CHECK_OK(nino_sample_latent(d->s, &p, &out, &x0, &err), err);
    first = nino_array_to_channels_first(out);
    printf("  %s: x0 of %d steps nmse %.1e at most, latent %.1e\n", c->workflow, s.n, s.worst,
           test_nmse(first, end));
    CHECK(s.n == want->shape.dim[0] && s.worst <= 1e-5);
    CHECK(test_nmse(first, end) <= 1e-5);

    nino_array_unref(&first);
    nino_array_unref(&out);
    nino_array_unref(&x0);
    nino_array_unref(&empty);
    nino_array_unref(&want);
    nino_array_unref(&end);
    nino_sigmas_release(&sigmas);
    nino_model_unref(&g.model);
    nino_cond_unref(&g.positive);
    nino_cond_unref(&g.negative);
    nino_diffusion_unref(&net);
    nino_weights_unref(&file);
    nino_weights_unref(&w);
}
