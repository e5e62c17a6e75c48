// Loaders of diffusion models and the nodes that change how a model samples, through workflows over
// the tiny models: what must not change the latent, what must, what is held in memory, and what
// cannot run.
#include "core/file/latent_file.h"
#include "tests/flow.h"
#include "tests/random_net.h"

#include <sys/stat.h>

static const char *assets;
static char log_text[4096];

static void log_line(void *priv, nino_log_level level, const char *line)
{
    (void) priv;
    (void) level;
    const size_t n = strlen(log_text);
    snprintf(log_text + n, sizeof(log_text) - n, "%s\n", line);
}

// Models of the assets, and those that this test makes.
static nino_ctx *open_ctx(void)
{
    static char models[512], own[512], output[512];
    const char *roots[] = { models, own, NULL };
    nino_error err = { 0 };
    snprintf(models, sizeof(models), "%s/models", assets);
    snprintf(own, sizeof(own), "%s/models", flow_temp());
    snprintf(output, sizeof(output), "%s/output", flow_temp());
    const nino_ctx_params p = {
        NINO_CTX_PARAMS_INIT, .device = "ref", .log = log_line, .log_level = NINO_LOG_WARN,
        .job = &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = roots, .output_dir = output }
    };
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    return ctx;
}

static flow_result run(nino_ctx *ctx, const char *json)
{
    nino_graph *g = flow_graph(json);
    const flow_result r = flow_run(ctx, g, NULL);
    nino_graph_destroy(&g);
    return r;
}

static nino_array *latent_of(nino_ctx *ctx, const char *json)
{
    nino_error err = { 0 };
    nino_array *a = NULL;
    const flow_result r = run(ctx, json);
    CHECK_OK(r.st, r.err);
    CHECK(r.n_paths == 1);
    nino_weights *w = nino_weights_open(r.path[0], &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    CHECK_OK(nino_latent_load(w, &a, &err), err);
    nino_weights_unref(&w);
    return a;
}

// Two steps of SD1.5. `nodes` are those between the checkpoint "4" and the model that is sampled,
// `model`.
static nino_array *sd_latent(nino_ctx *ctx, const char *loader, const char *nodes,
                             const char *model)
{
    char json[4096];
    snprintf(json, sizeof(json),
             "{'4': {'class_type': '%s', 'inputs': {'ckpt_name': 'sd15_tiny.safetensors'}}, %s"
             "'5': {'class_type': 'EmptyLatentImage', 'inputs': {'width': 64, 'height': 56, "
             "'batch_size': 1}},"
             "'6': {'class_type': 'CLIPTextEncode', 'inputs': {'text': 'a cat', 'clip': ['4', 1]}},"
             "'7': {'class_type': 'CLIPTextEncode', 'inputs': {'text': 'a', 'clip': ['4', 1]}},"
             "'3': {'class_type': 'KSampler', 'inputs': {'seed': 1, 'steps': 2, 'cfg': 5, "
             "'sampler_name': 'euler', 'scheduler': 'normal', 'denoise': 1, 'model': ['%s', 0], "
             "'positive': ['6', 0], 'negative': ['7', 0], 'latent_image': ['5', 0]}},"
             "'9': {'class_type': 'SaveLatent', 'inputs': {'samples': ['3', 0], "
             "'filename_prefix': 'l'}}}",
             loader, nodes, model);
    return latent_of(ctx, json);
}

// Two steps of Flux.
static nino_array *flux_latent(nino_ctx *ctx, const char *loader, const char *file,
                               const char *dtype, const char *nodes, const char *model)
{
    char json[4096];
    snprintf(json, sizeof(json),
             "{'4': {'class_type': '%s', 'inputs': {'unet_name': '%s', 'weight_dtype': '%s'}}, %s"
             "'2': {'class_type': 'DualCLIPLoader', 'inputs': {'clip_name1': "
             "'t5xxl_tiny.safetensors', 'clip_name2': 'clip_l_tiny.safetensors', 'type': 'flux'}},"
             "'5': {'class_type': 'EmptySD3LatentImage', 'inputs': {'width': 64, 'height': 48, "
             "'batch_size': 1}},"
             "'6': {'class_type': 'CLIPTextEncode', 'inputs': {'text': 'a cat', 'clip': ['2', 0]}},"
             "'3': {'class_type': 'KSampler', 'inputs': {'seed': 1, 'steps': 2, 'cfg': 1, "
             "'sampler_name': 'euler', 'scheduler': 'simple', 'denoise': 1, 'model': ['%s', 0], "
             "'positive': ['6', 0], 'negative': ['6', 0], 'latent_image': ['5', 0]}},"
             "'9': {'class_type': 'SaveLatent', 'inputs': {'samples': ['3', 0], "
             "'filename_prefix': 'l'}}}",
             loader, file, dtype, nodes, model);
    return latent_of(ctx, json);
}

static double difference(const nino_array *a, const nino_array *b)
{
    double d = 0, n = 0;
    CHECK(nino_shape_equal(&a->shape, &b->shape));
    for (int64_t i = 0; i < nino_shape_count(&a->shape); i++) {
        const double p = nino_array_f32(a)[i], q = nino_array_f32(b)[i];
        CHECK(isfinite(p));
        d += (p - q) * (p - q);
        n += q * q;
    }
    return d / n;
}

typedef struct variant {
    const char *nodes, *model;
    bool is_same;
} variant;

#define ON_4 "'model': ['4', 0]"

static void test_sd(nino_ctx *ctx)
{
    static const variant v[] = {
        { "'8': {'class_type': 'ModelSamplingDiscrete', 'inputs': {" ON_4
          ", 'sampling': 'eps', 'zsnr': false}},",
          "8", true },
        { "'8': {'class_type': 'ModelSamplingDiscrete', 'inputs': {" ON_4
          ", 'sampling': 'v_prediction', 'zsnr': false}},",
          "8", false },
        { "'8': {'class_type': 'ModelSamplingDiscrete', 'inputs': {" ON_4
          ", 'sampling': 'lcm', 'zsnr': false}},",
          "8", false },
        { "'8': {'class_type': 'ModelSamplingDiscrete', 'inputs': {" ON_4
          ", 'sampling': 'x0', 'zsnr': true}},",
          "8", false },
        { "'8': {'class_type': 'ModelSamplingContinuousEDM', 'inputs': {" ON_4
          ", 'sampling': 'v_prediction', 'sigma_max': 120, 'sigma_min': 0.002}},",
          "8", false },
        { "'8': {'class_type': 'ModelSamplingContinuousEDM', 'inputs': {" ON_4
          ", 'sampling': 'edm_playground_v2.5', 'sigma_max': 80, 'sigma_min': 0.002}},",
          "8", false },
        { "'8': {'class_type': 'ModelSamplingContinuousV', 'inputs': {" ON_4
          ", 'sampling': 'v_prediction', 'sigma_max': 500, 'sigma_min': 0.03}},",
          "8", false },
        { "'8': {'class_type': 'RescaleCFG', 'inputs': {" ON_4 ", 'multiplier': 0}},", "8", true },
        { "'8': {'class_type': 'RescaleCFG', 'inputs': {" ON_4 ", 'multiplier': 0.7}},", "8",
          false },
        { "'8': {'class_type': 'ModelComputeDtype', 'inputs': {" ON_4 ", 'dtype': 'fp32'}},", "8",
          true },
        // the network of the first loader, whatever the second one is called
        { "'8': {'class_type': 'ROCMOptimizedCheckpointLoader', 'inputs': {'ckpt_name': "
          "'sd15_tiny.safetensors'}},",
          "8", true },
        { "'8': {'class_type': 'UNETLoader', 'inputs': {'unet_name': 'copy.safetensors', "
          "'weight_dtype': 'default'}},",
          "8", true },
    };
    nino_array *want = sd_latent(ctx, "CheckpointLoaderSimple", "", "4");
    for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
        nino_array *got = sd_latent(ctx, "CheckpointLoaderSimple", v[i].nodes, v[i].model);
        const double d = difference(got, want);
        if ((d == 0) != v[i].is_same)
            fprintf(stderr, "%s: %g\n", v[i].nodes, d);
        CHECK((d == 0) == v[i].is_same);
        nino_array_unref(&got);
    }
    nino_array *rocm = sd_latent(ctx, "ROCmCheckpointLoader", "", "4");
    CHECK(difference(rocm, want) == 0);
    nino_array_unref(&rocm);
    nino_array_unref(&want);
}

static void test_flux(nino_ctx *ctx)
{
    static const char file[] = "flux_tiny.safetensors", scaled[] = "flux_tiny_fp8_e4m3fn_scaled"
                                                                   ".safetensors";
    static const variant v[] = {
        { "'8': {'class_type': 'ModelSamplingFlux', 'inputs': {" ON_4
          ", 'max_shift': 1.15, 'base_shift': 0.5, 'width': 1024, 'height': 1024}},",
          "8", true },
        { "'8': {'class_type': 'ModelSamplingFlux', 'inputs': {" ON_4
          ", 'max_shift': 1.15, 'base_shift': 0.5, 'width': 256, 'height': 256}},",
          "8", false },
        { "'8': {'class_type': 'ModelSamplingAuraFlow', 'inputs': {" ON_4 ", 'shift': 1.73}},", "8",
          false },
        { "'8': {'class_type': 'ModelSamplingSD3', 'inputs': {" ON_4 ", 'shift': 3}},", "8",
          false },
    };
    nino_array *want = flux_latent(ctx, "UNETLoader", file, "default", "", "4");
    for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
        nino_array *got = flux_latent(ctx, "UNETLoader", file, "default", v[i].nodes, v[i].model);
        CHECK((difference(got, want) == 0) == v[i].is_same);
        nino_array_unref(&got);
    }
    static const char *const loaders[] = { "ROCmDiffusionLoader", "ROCMOptimizedUNetLoader" };
    for (int i = 0; i < 2; i++) {
        nino_array *got = flux_latent(ctx, loaders[i], file, "default", "", "4");
        CHECK(difference(got, want) == 0);
        nino_array_unref(&got);
    }
    nino_array *e4 = flux_latent(ctx, "UNETLoader", file, "fp8_e4m3fn", "", "4");
    nino_array *fast = flux_latent(ctx, "UNETLoader", file, "fp8_e4m3fn_fast", "", "4");
    nino_array *e5 = flux_latent(ctx, "ROCmDiffusionLoader", file, "fp8_e5m2", "", "4");
    CHECK(difference(e4, want) > 1e-9 && difference(e4, want) < 0.1);
    CHECK(difference(e5, want) > difference(e4, want) && difference(fast, e4) == 0);
    CHECK(!strstr(log_text, "weight_dtype"));
    nino_array *s = flux_latent(ctx, "UNETLoader", scaled, "default", "", "4");
    CHECK(!strstr(log_text, "weight_dtype"));
    nino_array *kept = flux_latent(ctx, "UNETLoader", scaled, "fp8_e5m2", "", "4");
    CHECK(difference(kept, s) == 0);
    CHECK(strstr(log_text, "weight_dtype fp8_e5m2 would lose the scales"));
    nino_array *all[] = { want, e4, fast, e5, s, kept };
    for (int i = 0; i < 6; i++)
        nino_array_unref(&all[i]);
}

// ---- memory ----------------------------------------------------------------------------------
static uint64_t weights_of(nino_ctx *ctx, const char *json, uint64_t *peak)
{
    nino_error err = { 0 };
    nino_event ev[64];
    nino_mem_stat m;
    nino_status st;
    nino_graph *g = flow_graph(json);
    nino_job *job = nino_job_start(ctx, g, NULL, &err);
    CHECK_OK(job ? NINO_OK : err.code, err);
    while (!nino_job_done(job, &st, &err))
        if (!nino_job_poll(job, ev, 64))
            nino_job_wait(job, 20);
    CHECK_OK(st, err);
    nino_job_memory(job, &m);
    nino_job_destroy(&job);
    nino_graph_destroy(&g);
    *peak = m.peak_by_owner[NINO_OWN_WEIGHTS];
    return m.by_owner[NINO_OWN_WEIGHTS];
}

// Sampling on the model of one loader with the text encoder of another, both of the same file.
static nino_ctx *hold(const char *model, const char *clip, const char *options, uint64_t *bytes)
{
    char json[4096];
    uint64_t peak, again;
    nino_ctx *ctx = open_ctx();
    snprintf(json, sizeof(json),
             "{'4': {'class_type': 'ROCMOptimizedCheckpointLoader', 'inputs': {'ckpt_name': "
             "'sd15_tiny.safetensors'%s}},"
             "'8': {'class_type': 'CheckpointLoaderSimple', 'inputs': {'ckpt_name': "
             "'sd15_tiny.safetensors'}},"
             "'5': {'class_type': 'EmptyLatentImage', 'inputs': {'width': 64, 'height': 64, "
             "'batch_size': 1}},"
             "'6': {'class_type': 'CLIPTextEncode', 'inputs': {'text': 'a cat', 'clip': ['%s', "
             "1]}},"
             "'3': {'class_type': 'KSampler', 'inputs': {'seed': 1, 'steps': 1, 'cfg': 1, "
             "'sampler_name': 'euler', 'scheduler': 'normal', 'denoise': 1, 'model': ['4', 0], "
             "'positive': ['6', 0], 'negative': ['6', 0], 'latent_image': ['5', 0]}},"
             "'7': {'class_type': 'KSampler', 'inputs': {'seed': 1, 'steps': 1, 'cfg': 1, "
             "'sampler_name': 'euler', 'scheduler': 'normal', 'denoise': 1, 'model': ['%s', 0], "
             "'positive': ['6', 0], 'negative': ['6', 0], 'latent_image': ['3', 0]}},"
             "'9': {'class_type': 'SaveLatent', 'inputs': {'samples': ['7', 0], "
             "'filename_prefix': 'l'}}}",
             options, clip, model);
    *bytes = weights_of(ctx, json, &peak);
    CHECK(*bytes > 0 && peak == *bytes);
    again = weights_of(ctx, json, &peak); // the old network goes before the new one comes
    CHECK(again == *bytes && peak == *bytes);
    return ctx;
}

static void test_memory(void)
{
    uint64_t one, shared, reloaded;
    nino_ctx *a = hold("4", "4", "", &one), *b = hold("8", "8", "", &shared);
    nino_ctx *c = hold("4", "4", ", 'force_reload': true", &reloaded);
    CHECK(shared == one && reloaded == one);
    nino_ctx_destroy(&a);
    nino_ctx_destroy(&b);
    nino_ctx_destroy(&c);
}

// ---- what cannot run -------------------------------------------------------------------------
static void save_net(net_list l, const char *file)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/models/%s", flow_temp(), file);
    net_save(&l, path, NINO_F32, NET_SPARSE);
}

static void make_files(void)
{
    static const char *const folders[] = { "models", "models/checkpoints",
                                           "models/diffusion_models" };
    char path[512];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/%s", flow_temp(), folders[i]);
        CHECK(mkdir(path, 0700) == 0);
    }
    snprintf(path, sizeof(path),
             "cp %s/models/checkpoints/sd15_tiny.safetensors "
             "%s/models/diffusion_models/copy.safetensors",
             assets, flow_temp());
    CHECK(system(path) == 0);
    net_list aura = { .prefix = "model.diffusion_model." };
    for (int i = 0; i < 6; i++)
        net_linear(&aura, 8, 8, true, "double_layers.%d.attn.w1q", i);
    save_net(aura, "checkpoints/aura.safetensors");
    const net_unet tiny = { 32, 2, { 1, 2 }, { 1, 1 }, 1, 24, 0, 4, 4, false };
    net_list broken = net_list_unet(&tiny, "model.diffusion_model.");
    broken.n -= 2; // without its last layer
    save_net(broken, "checkpoints/broken.safetensors");
}

static void fails(nino_ctx *ctx, const char *json, nino_status st, const char *where,
                  const char *words)
{
    const flow_result r = run(ctx, json);
    if (r.st != st || !strstr(r.err.where, where) || !strstr(r.err.msg, words))
        fprintf(stderr, "%s: %s (%s)\n", r.err.where, r.err.msg, nino_status_name(r.st));
    CHECK(r.st == st && strstr(r.err.where, where) && strstr(r.err.msg, words));
}

static void test_refused(nino_ctx *ctx)
{
#define TAIL                                                                                       \
    "'5': {'class_type': 'EmptyLatentImage', 'inputs': {'width': 64, 'height': 64, 'batch_size': " \
    "1}}, '2': {'class_type': 'CheckpointLoaderSimple', 'inputs': {'ckpt_name': "                  \
    "'sd15_tiny.safetensors'}}, '6': {'class_type': 'CLIPTextEncode', 'inputs': {'text': 'a', "    \
    "'clip': ['2', 1]}}, '3': {'class_type': 'KSampler', 'inputs': {'seed': 1, 'steps': 1, "       \
    "'cfg': 1, 'sampler_name': 'euler', 'scheduler': 'normal', 'denoise': 1, 'model': ['4', 0], "  \
    "'positive': ['6', 0], 'negative': ['6', 0], 'latent_image': ['5', 0]}}, '9': {'class_type': " \
    "'SaveLatent', 'inputs': {'samples': ['3', 0], 'filename_prefix': 'x'}}}"
    // a checkpoint of another family: the sampler says so, the rest of the file could be used
    fails(ctx,
          "{'4': {'class_type': 'CheckpointLoaderSimple', 'inputs': {'ckpt_name': "
          "'aura.safetensors'}}, " TAIL,
          NINO_ERR_UNSUPPORTED, "3 KSampler", "of the aura family");
    fails(ctx,
          "{'4': {'class_type': 'CheckpointLoaderSimple', 'inputs': {'ckpt_name': "
          "'broken.safetensors'}}, " TAIL,
          NINO_ERR_FORMAT, "4 CheckpointLoaderSimple", "no such tensor");
    fails(ctx,
          "{'4': {'class_type': 'ModelSamplingContinuousV', 'inputs': {'model': ['2', 0], "
          "'sampling': 'v_prediction', 'sigma_max': 1, 'sigma_min': 2}}, " TAIL,
          NINO_ERR_FORMAT, "", "0 < sigma_min < sigma_max");
}

int main(void)
{
    assets = test_models();
    make_files();
    nino_ctx *ctx = open_ctx();
    test_sd(ctx);
    if (test_assets())
        test_flux(ctx);
    else
        test_skip_part("Flux's files in several types");
    test_refused(ctx);
    nino_ctx_destroy(&ctx);
    test_memory();
    flow_clean();
    return 0;
}
