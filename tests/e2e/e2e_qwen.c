// Qwen-Image and its editing models in whole: sampling from the reference's own conditioning (noise,
// sigmas, every step's x0, the latent), with LoRAs, quantised files and reference latents; then
// workflows, from prompts and pictures to latents and pictures.
#include "tests/e2e_flow.h"
#include "tests/e2e_steps.h"

#include "core/model/merge/lora_apply.h"

typedef struct qwen_case {
    e2e_case e;
    double shift;           // of ModelSamplingAuraFlow; 0: as the model was trained
    bool has_norm;          // CFGNorm
    const char *lora[2];    // below models/loras
    double strength[2];     // of the LoRAs
    int n_refs;             // "ref0", "ref1"
    nino_ref_method method; // of the reference latents
    int seen;               // tokens of the prompt that are looked at; 0: all
    double most;            // NMSE of latents; 0: 1e-5
} qwen_case;

#define CASE(name, file, sampler, scheduler, seed, steps, cfg)                                     \
    .e = { name,                                                                                   \
           "qwen_tiny",                                                                            \
           name,                                                                                   \
           "diffusion_models/" file,                                                               \
           NINO_SAMPLER_##sampler,                                                                 \
           NINO_SCHEDULER_##scheduler,                                                             \
           seed,                                                                                   \
           steps,                                                                                  \
           cfg }
#define TINY "qwen_image_tiny.safetensors"
#define EDIT "qwen_image_edit_2511_tiny_fp8mixed.safetensors"
#define FP8 "qwen_image_tiny_fp8_e4m3fn_scaled.safetensors"
#define GGUF "qwen_image_tiny_Q8_0.gguf"
// What the workflows of these names do.
static const qwen_case cases[] = {
    { CASE("qwen_t2i_euler", TINY, EULER, SIMPLE, 7, 6, 2.5), .shift = 3.1 },
    { CASE("qwen_t2i_res_multistep_b2", TINY, RES_MULTISTEP, SIMPLE, 123456789, 5, 4),
      .shift = 3.1 },
    { CASE("qwen_t2i_noshift_zeroneg", TINY, DPMPP_2M, SGM_UNIFORM, 99, 5, 2) },
    { CASE("qwen_t2i_masked_tail", TINY, EULER, SIMPLE, 13, 4, 3), .shift = 3.1, .seen = 4 },
    { CASE("qwen_t2i_fp8_scaled", FP8, EULER, SIMPLE, 11, 4, 3), .shift = 3.1, .most = 1e-4 },
    { CASE("qwen_t2i_gguf_q8_0", GGUF, EULER, SIMPLE, 11, 4, 3), .shift = 3.1, .most = 1e-4 },
    { CASE("qwen_t2i_lora_lightning", TINY, EULER, SIMPLE, 5, 4, 1), .shift = 3,
      .lora = { "qwen_image_tiny_lightning" }, .strength = { 1 } },
    { CASE("qwen_t2i_lora_two", TINY, EULER, BETA, 5, 4, 2.5), .shift = 3.1,
      .lora = { "qwen_image_tiny_diffusers", "qwen_image_tiny_kohya" }, .strength = { 0.7, -0.5 } },
    { CASE("qwen_edit_plus_2img", TINY, EULER, SIMPLE, 31, 4, 4), .shift = 3, .has_norm = true,
      .n_refs = 2 },
    { CASE("qwen_edit_plus_offset_b2", TINY, EULER, SIMPLE, 32, 5, 4.5), .shift = 3,
      .has_norm = true, .n_refs = 2, .method = NINO_REFS_OFFSET },
    { CASE("qwen_edit_2511_marker", EDIT, RES_MULTISTEP, SIMPLE, 42, 4, 3), .shift = 3.1,
      .has_norm = true, .n_refs = 1, .most = 1e-4 },
};

// ---- sampling from the reference's conditioning ----------------------------------------------

static nino_cond *qwen_cond(const nino_weights *w, const qwen_case *c, const char *leaf, int seen)
{
    char name[96];
    snprintf(name, sizeof(name), "%s/%s", c->e.run, leaf);
    nino_cond *cond = ref_cond(w, name, NULL);
    nino_cond_entry *e = cond->entry;
    e->ref_method = c->method;
    e->refs = calloc((size_t) c->n_refs + 1, sizeof(*e->refs));
    CHECK(e->refs);
    for (int i = 0; i < c->n_refs; i++) {
        snprintf(name, sizeof(name), "%s/ref%d", c->e.run, i);
        e->refs[e->n_refs++] = test_tensor(w, name, true);
    }
    if (seen) {
        const int64_t n = e->context->shape.dim[1];
        CHECK((e->context_mask = nino_array_create(NINO_F32, NINO_SHAPE(1, n))) && seen < n);
        for (int i = 0; i < seen; i++)
            nino_array_f32(e->context_mask)[i] = 1;
    }
    return cond;
}

static void add_lora(nino_model **m, const char *assets, const char *name, double strength)
{
    nino_error err = { 0 };
    nino_lora *l = NULL;
    nino_model *with = NULL;
    nino_lora_report report = { 0 };
    nino_weights *w = test_open("%s/models/loras/%s.safetensors", assets, name);
    CHECK_OK(nino_lora_open(w, name, &l, &err), err);
    CHECK_OK(nino_model_with_lora(*m, l, strength, true, &report, &with, &err), err);
    CHECK(with != *m);
    nino_model_unref(m);
    *m = with;
    nino_lora_unref(&l);
    nino_weights_unref(&w);
}

static nino_model *qwen_model(const char *assets, const qwen_case *c)
{
    nino_error err = { 0 };
    nino_diffusion *net = NULL;
    nino_weights *file = test_open("%s/models/%s", assets, c->e.model);
    CHECK_OK(nino_diffusion_load(file, c->e.model, &net, &err), err);
    nino_model *m = nino_model_create(net);
    for (int i = 0; i < 2 && c->lora[i]; i++)
        add_lora(&m, assets, c->lora[i], c->strength[i]);
    if (c->shift) {
        nino_sampling_unref(&m->sampling);
        m->sampling = nino_sampling_flow(c->shift, 1);
    }
    if (c->has_norm)
        CHECK(nino_model_add_patch(m, &(nino_patch){ .kind = NINO_PATCH_POST_NORM, .v = { 1 } }));
    nino_diffusion_unref(&net);
    nino_weights_unref(&file);
    return m;
}

static void check_case(test_device *d, const char *assets, const qwen_case *c)
{
    nino_error err = { 0 };
    const double most = c->most > 0 ? c->most : 1e-5;
    nino_weights *w = test_open("%s/e2e_2026/expected/%s_ref.safetensors", assets, c->e.ref);
    nino_guider g = { .refs = 1, .kind = NINO_GUIDE_CFG, .model = qwen_model(assets, c) };
    g.cfg = c->e.cfg;
    g.positive = qwen_cond(w, c, "cond", c->seen);
    g.negative = qwen_cond(w, c, "uncond", 0);
    nino_sigmas sigmas = { 0 };
    const nino_ksampler_steps k = {
        .scheduler = c->e.scheduler, .steps = c->e.steps, .denoise = 1, .end_step = c->e.steps
    };
    CHECK_OK(nino_schedule_ksampler(g.model->sampling, &k, &sigmas, &err), err);
    check_start(&c->e, w, &sigmas);

    nino_array *want = ref_steps(w, &c->e), *end = ref_tensor(w, &c->e, "latent_comfy");
    const int64_t *dim = end->shape.dim; // a picture, as the node for empty latents makes it
    nino_array *empty = nino_array_create(NINO_F32, NINO_SHAPE(dim[0], dim[3], dim[4], dim[1]));
    steps s = { .want = want };
    const nino_sampler sampler = nino_sampler_default(c->e.sampler);
    nino_array *out = NULL, *x0 = NULL;
    const nino_sample_params p = { .guider = &g,
                                   .noise = { .seed = c->e.seed },
                                   .sampler = &sampler,
                                   .sigmas = sigmas.v,
                                   .n_sigmas = sigmas.n,
                                   .samples = empty,
                                   .on_step = ref_on_step,
                                   .priv = &s };
    CHECK_OK(nino_sample_latent(d->s, &p, &out, &x0, &err), err);
    nino_array *first = nino_array_to_channels_first(out);
    printf("  %s: x0 of %d steps nmse %.1e at most, latent %.1e\n", c->e.workflow, s.n, s.worst,
           test_nmse(first, end));
    fflush(stdout);
    CHECK(s.n == want->shape.dim[0] && s.worst <= most);
    CHECK(test_nmse(first, end) <= most);

    nino_array *all[] = { first, out, x0, empty, want, end };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        nino_array_unref(&all[i]);
    nino_sigmas_release(&sigmas);
    nino_model_unref(&g.model);
    nino_cond_unref(&g.positive);
    nino_cond_unref(&g.negative);
    nino_weights_unref(&w);
}

// ---- workflows -------------------------------------------------------------------------------

typedef struct qwen_flow {
    const char *name, *sampler; // sampler: the node that gives the latent
    double most;                // NMSE of the latent
    enum {
        QUICK,
        SLOW,
        LONG
    } pace; // SLOW: with a large picture in the prompt, which takes the
            // plain loops minutes; LONG: 4000 tokens of reference latents
} qwen_flow;

static const qwen_flow flows[] = {
    { "qwen_t2i_euler", "8", 1e-5, QUICK },
    { "qwen_t2i_res_multistep_b2", "8", 1e-5, QUICK },
    { "qwen_t2i_noshift_zeroneg", "7", 1e-5, QUICK },
    { "qwen_t2i_masked_tail", "8", 1e-5, QUICK },
    { "qwen_t2i_fp8_scaled", "8", 1e-4, QUICK },
    { "qwen_t2i_gguf_q8_0", "8", 1e-4, QUICK },
    { "qwen_t2i_lora_lightning", "9", 1e-5, QUICK },
    { "qwen_t2i_lora_two", "10", 1e-5, QUICK },
    { "qwen_edit_1img", "13", 1e-5, SLOW },
    { "qwen_edit_denoise06_noimage", "9", 1e-5, QUICK },
    { "qwen_edit_plus_2img", "18", 1e-5, SLOW },
    { "qwen_edit_plus_offset_b2", "18", 1e-5, SLOW },
    { "qwen_edit_2511_marker", "13", 1e-4, QUICK },
    { "qwen_edit_2511_full", "13", 1e-4, LONG },
    { "qwen_edit_vae_1mp", "10", 1e-4, LONG },
};

static void check_flow(nino_ctx *ctx, const char *assets, const nino_weights *ref,
                       const qwen_flow *f)
{
    char want[512];
    nino_error err = { 0 };
    int pictures = 0, latents = 0;
    char *json = e2e_with_latent(e2e_workflow(assets, "e2e_2026", f->name), f->sampler);
    nino_graph *g = nino_graph_load(json, strlen(json), f->name, &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    const flow_result r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    printf("  %s:", f->name);
    for (size_t i = 0; i < r.n_paths; i++)
        if (strstr(r.path[i], ".latent") && !latents++) {
            snprintf(want, sizeof(want), "%s/latent_comfy", f->name);
            e2e_check_latent(r.path[i], ref, want, f->most);
        }
    for (size_t i = 0; i < r.n_paths; i++)
        if (strstr(r.path[i], ".png")) {
            snprintf(want, sizeof(want), "%s/e2e_2026/expected/%s_%05d_.png", assets, f->name,
                     ++pictures);
            e2e_check_picture(r.path[i], want, 2);
        }
    printf("\n");
    fflush(stdout);
    CHECK(latents == 1 && pictures == 1 + (strstr(f->name, "b2") != NULL));
    nino_graph_destroy(&g);
    free(json);
}

static void check_flows(const char *device, const char *assets)
{
    const bool is_long = getenv("NINODES_TEST_LONG") != NULL, is_ref = !strcmp(device, "ref");
    nino_ctx *ctx = flow_open_with(device, assets, "/e2e_2026/input");
    nino_weights *ref = test_open("%s/e2e_2026/expected/qwen_tiny_ref.safetensors", assets);
    for (size_t i = 0; ctx && i < sizeof(flows) / sizeof(flows[0]); i++)
        if (is_long || flows[i].pace == QUICK || (flows[i].pace == SLOW && !is_ref))
            check_flow(ctx, assets, ref, &flows[i]);
    nino_weights_unref(&ref);
    nino_ctx_destroy(&ctx);
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
            check_case(&d, assets, &cases[i]);
        test_device_close(&d);
        check_flows(*name, assets);
    }
    flow_clean();
    return 0;
}
