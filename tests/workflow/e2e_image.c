// Whole pipelines over the tiny models, against ComfyUI's own numbers: noise, sigmas, every step's
// x0 and the latent from the reference's own conditioning, then the workflow's PNG.
#include "core/sample/guide.h"
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

static const e2e_case cases[] = {
    { "sd15_tiny_euler", "sd15_tiny", "euler", "checkpoints/sd15_tiny.safetensors",
      NINO_SAMPLER_EULER, NINO_SCHEDULER_NORMAL, 42, 6, 7.5 },
    { "sd15_tiny_dpmpp_2m", "sd15_tiny", "dpmpp_2m", "checkpoints/sd15_tiny.safetensors",
      NINO_SAMPLER_DPMPP_2M, NINO_SCHEDULER_KARRAS, 42, 6, 7.5 },
    { "sd15_tiny_euler_ancestral", "sd15_tiny", "euler_ancestral",
      "checkpoints/sd15_tiny.safetensors", NINO_SAMPLER_EULER_ANCESTRAL, NINO_SCHEDULER_NORMAL, 42,
      6, 7.5 },
    { "sd15_tiny_dpmpp_2m_sde", "sd15_tiny", "dpmpp_2m_sde", "checkpoints/sd15_tiny.safetensors",
      NINO_SAMPLER_DPMPP_2M_SDE, NINO_SCHEDULER_KARRAS, 42, 6, 7.5 },
    { "flux_tiny_bf16", "flux_tiny", "bf16", "diffusion_models/flux_tiny.safetensors",
      NINO_SAMPLER_EULER, NINO_SCHEDULER_SIMPLE, 7, 4, 1.0 },
};

// ---- sampling from the reference's conditioning ----------------------------------------------

static nino_array *ref_tensor(const nino_weights *w, const e2e_case *c, const char *leaf)
{
    char name[96];
    snprintf(name, sizeof(name), "%s/%s", c->run, leaf);
    return test_tensor(w, name, false);
}

static nino_cond *ref_cond(const nino_weights *w, const char *context, const char *pooled)
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
    const nino_array *want; // [steps,1,C,h,w]
    double worst;
    int n;
} steps;

static void on_step(void *priv, const nino_sample_step *step)
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

static void check_start(const e2e_case *c, const nino_weights *w, const nino_sigmas *sigmas)
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

static void check_steps(test_device *d, const char *assets, const e2e_case *c)
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
    CHECK_OK(nino_schedule_make(net->sampling, c->scheduler, c->steps, &sigmas, &err), err);
    check_start(c, w, &sigmas);

    nino_array *want = ref_tensor(w, c, "denoised_steps"), *end = ref_tensor(w, c, "latent_comfy");
    const int64_t *dim = end->shape.dim;
    nino_array *empty = nino_array_create(NINO_F32, NINO_SHAPE(1, dim[2], dim[3], dim[1]));
    steps s = { .want = want };
    const nino_sampler sampler = nino_sampler_default(c->sampler);
    nino_array *out = NULL, *x0 = NULL;
    const nino_sample_params p = { .guider = &g,
                                   .noise = { .seed = c->seed },
                                   .sampler = &sampler,
                                   .sigmas = sigmas.v,
                                   .n_sigmas = sigmas.n,
                                   .samples = empty,
                                   .on_step = on_step,
                                   .priv = &s };
    CHECK_OK(nino_sample_latent(d->s, &p, &out, &x0, &err), err);
    nino_array *first = nino_array_to_channels_first(out);
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

// ---- the workflow ----------------------------------------------------------------------------

// The stock classes' names become those of the ROCm extension.
static char *rename_classes(const char *json)
{
    static const char *const names[][2] = {
        { "\"KSampler\"", "\"ROCMOptimizedKSampler\"" },
        { "\"VAEDecode\"", "\"ROCMOptimizedVAEDecode\"" },
        { "\"CheckpointLoaderSimple\"", "\"ROCMOptimizedCheckpointLoader\"" },
        { "\"UNETLoader\"", "\"ROCmDiffusionLoader\"" },
    };
    // required inputs that the stock VAE decode does not have
    static const char extra[] =
        "\"tile_size\": 768, \"overlap\": 96, \"use_rocm_optimizations\": "
        "true, \"precision_mode\": \"auto\", \"batch_optimization\": true, ";
    const size_t room = strlen(json) * 2 + 1024;
    char *out = calloc(1, room), *to = out;
    CHECK(out);
    bool is_decode = false;
    while (*json) {
        bool done = false;
        for (size_t i = 0; i < 4 && !done; i++)
            if (!strncmp(json, names[i][0], strlen(names[i][0]))) {
                to += snprintf(to, room - (size_t) (to - out), "%s", names[i][1]);
                json += strlen(names[i][0]);
                is_decode = i == 1;
                done = true;
            }
        if (done)
            continue;
        *to++ = *json++;
        if (is_decode && to[-1] == '{') {
            to += snprintf(to, room - (size_t) (to - out), "%s", extra);
            is_decode = false;
        }
    }
    return out;
}

static void check_png(nino_ctx *ctx, const char *assets, const e2e_case *c)
{
    char *json = e2e_workflow(assets, c->workflow);
    const flow_result r = e2e_run(ctx, json);
    e2e_check(&r, assets, c->workflow, 2);
    char *renamed = rename_classes(json);
    CHECK(strstr(renamed, "ROCMOptimizedKSampler") && strstr(renamed, "ROCMOptimizedVAEDecode"));
    const flow_result other = e2e_run(ctx, renamed);
    CHECK(e2e_difference(r.path[0], other.path[0]) == 0);
    free(renamed);
    free(json);
}

int main(void)
{
#if defined(__SANITIZE_ADDRESS__)
    static const char *const devices[] = { "cl", NULL }; // the plain loops would take minutes
#else
    static const char *const devices[] = { "ref", "cl", NULL };
#endif
    const char *assets = test_assets();
    if (!assets)
        return test_skip("no test data folder");
    for (const char *const *name = devices; *name; name++) {
        test_device d;
        if (!test_device_open(&d, *name, 0))
            continue;
        printf("%s\n", *name);
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
            check_steps(&d, assets, &cases[i]);
        test_device_close(&d);
        nino_ctx *ctx = flow_open(*name, assets);
        for (size_t i = 0; ctx && i < sizeof(cases) / sizeof(cases[0]); i++)
            check_png(ctx, assets, &cases[i]);
        nino_ctx_destroy(&ctx);
    }
    flow_clean();
    return 0;
}
