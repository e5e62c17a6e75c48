// The sampling nodes over the tiny models: different ways to say the same thing give the same
// latent, bit for bit; options do what their names say; monitors report what they measured.
#include "core/file/latent_file.h"
#include "tests/flow.h"
#include "tests/vae.h"

#define CKPT                                                                                       \
    "'4': {'class_type': 'CheckpointLoaderSimple', 'inputs': {'ckpt_name': "                       \
    "'sd15_tiny.safetensors'}},"                                                                   \
    "'5': {'class_type': 'EmptyLatentImage', 'inputs': {'width': 128, 'height': 96, "              \
    "'batch_size': 1}},"                                                                           \
    "'6': {'class_type': 'CLIPTextEncode', 'inputs': {'text': 'a photo of a cat', 'clip': ['4', "  \
    "1]}},"                                                                                        \
    "'7': {'class_type': 'CLIPTextEncode', 'inputs': {'text': 'blurry', 'clip': ['4', 1]}},"
#define LINKS "'model': ['4', 0], 'positive': ['6', 0], 'negative': ['7', 0], "
#define SAVE                                                                                       \
    "'9': {'class_type': 'SaveLatent', 'inputs': {'samples': ['3', 0], 'filename_prefix': 'x'}}"
#define KSAMPLER_WITH(class, steps, cfg, denoise, more)                                            \
    "'3': {'class_type': '" class "', 'inputs': {" LINKS "'latent_image': ['5', 0], 'seed': 42, "  \
                                  "'steps': " steps ", 'cfg': " cfg                                \
                                  ", 'sampler_name': 'euler', 'scheduler': 'normal', "             \
                                  "'denoise': " denoise more "}},"
#define KSAMPLER(class, more) KSAMPLER_WITH(class, "6", "7.5", "1.0", more)
#define STAGE(id, from, noise, a, b, rest)                                                         \
    "'" id "': {'class_type': 'KSamplerAdvanced', 'inputs': {" LINKS "'latent_image': ['" from     \
    "', 0], 'add_noise': '" noise "', 'noise_seed': 42, 'steps': 6, 'cfg': 7.5, 'sampler_name': "  \
    "'euler', 'scheduler': 'normal', 'start_at_step': " a ", 'end_at_step': " b                    \
    ", 'return_with_leftover_noise': '" rest "'}},"
#define PARTS(guider)                                                                              \
    "'10': {'class_type': 'RandomNoise', 'inputs': {'noise_seed': 42}},"                           \
    "'11': " guider ","                                                                            \
    "'12': {'class_type': 'KSamplerSelect', 'inputs': {'sampler_name': 'euler'}},"                 \
    "'13': {'class_type': 'BasicScheduler', 'inputs': {'model': ['4', 0], 'scheduler': 'normal', " \
    "'steps': 6, 'denoise': 1.0}},"
#define CFG "{'class_type': 'CFGGuider', 'inputs': {" LINKS "'cfg': 7.5}}"
#define CUSTOM(id, class, noise, sigmas, from, more)                                               \
    "'" id "': {'class_type': '" class "', 'inputs': {'noise': ['" noise "', 0], 'guider': "       \
                                       "['11', 0], 'sampler': ['12', 0], 'sigmas': " sigmas        \
                                       ", 'latent_image': ['" from "', 0]" more "}},"

static nino_ctx *ctx;
static char text[4][2048];

// The latent that the workflow saves.
static nino_array *latent(const char *json)
{
    nino_error err = { 0 };
    nino_array *z = NULL;
    nino_graph *g = flow_graph(json);
    const flow_result r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    CHECK(r.n_paths == 1);
    memcpy(text, r.text, sizeof(text));
    nino_weights *w = test_open("%s", r.path[0]);
    CHECK_OK(nino_latent_load(w, &z, &err), err);
    nino_weights_unref(&w);
    nino_graph_destroy(&g);
    return z;
}

static bool equal(const nino_array *a, const nino_array *b)
{
    return nino_shape_equal(&a->shape, &b->shape) && !memcmp(a->data, b->data, a->bytes);
}

static void expect_equal(const nino_array *want, const char *what, const char *json)
{
    nino_array *z = latent(json);
    if (!equal(want, z))
        fprintf(stderr, "%s: nmse %g\n", what, test_nmse(z, want));
    CHECK(equal(want, z));
    nino_array_unref(&z);
}

// Not the same computation, or not the same rounding.
static void expect_near(const nino_array *want, double least, double most, const char *what,
                        const char *json)
{
    nino_array *z = latent(json);
    const double nmse = test_nmse(z, want);
    if (!(nmse >= least && nmse <= most))
        fprintf(stderr, "%s: nmse %g\n", what, nmse);
    CHECK(nmse >= least && nmse <= most);
    nino_array_unref(&z);
}

static void same_things(void)
{
    nino_array *z = latent("{" CKPT KSAMPLER("KSampler", "") SAVE "}");
    expect_equal(z, "custom advanced",
                 "{" CKPT PARTS(CFG)
                     CUSTOM("3", "SamplerCustomAdvanced", "10", "['13', 0]", "5", "") SAVE "}");
    expect_equal(
        z, "custom",
        "{" CKPT PARTS(CFG) "'3': {'class_type': 'SamplerCustom', 'inputs': {" LINKS
                            "'add_noise': true, 'noise_seed': 42, 'cfg': 7.5, 'sampler': "
                            "['12', 0], 'sigmas': ['13', 0], 'latent_image': ['5', 0]}}," SAVE "}");
    expect_equal(z, "advanced",
                 "{" CKPT STAGE("3", "5", "enable", "0", "10000", "disable") SAVE "}");
    expect_equal(z, "rocm", "{" CKPT KSAMPLER("ROCMOptimizedKSampler", "") SAVE "}");
    expect_equal(z, "rocm custom",
                 "{" CKPT PARTS(CFG) CUSTOM("3", "ROCMSamplerCustomAdvanced", "10", "['13', 0]",
                                            "5", ", 'flash_attention': 'disable_flash'") SAVE "}");
    // in two parts: the noise that is left goes through the latent
    expect_near(z, 0, 1e-10, "two stages",
                "{" CKPT STAGE("2", "5", "enable", "0", "3", "enable")
                    STAGE("3", "2", "disable", "3", "10000", "disable") SAVE "}");
    expect_near(z, 0, 1e-10, "split",
                "{" CKPT PARTS(CFG) "'14': {'class_type': 'SplitSigmas', 'inputs': {'sigmas': "
                                    "['13', 0], 'step': 2}},"
                                    "'15': {'class_type': 'DisableNoise', 'inputs': {}}," CUSTOM(
                                        "2", "SamplerCustomAdvanced", "10", "['14', 0]", "5", "")
                                        CUSTOM("3", "SamplerCustomAdvanced", "15", "['14', 1]", "2",
                                               "") SAVE "}");
    // the last denoised is where euler ends
    expect_near(z, 0, 1e-10, "denoised",
                "{" CKPT PARTS(CFG)
                    CUSTOM("2", "SamplerCustomAdvanced", "10", "['13', 0]", "5",
                           "") "'9': {'class_type': 'SaveLatent', 'inputs': {'samples': ['2', 1], "
                               "'filename_prefix': 'x'}}}");
    nino_array_unref(&z);

    z = latent("{" CKPT KSAMPLER_WITH("KSampler", "6", "1.0", "1.0", "") SAVE "}");
    expect_equal(z, "basic guider",
                 "{" CKPT PARTS("{'class_type': 'BasicGuider', 'inputs': {'model': ['4', 0], "
                                "'conditioning': ['6', 0]}}")
                     CUSTOM("3", "SamplerCustomAdvanced", "10", "['13', 0]", "5", "") SAVE "}");
    expect_equal(z, "dual guider",
                 "{" CKPT PARTS("{'class_type': 'DualCFGGuider', 'inputs': {'model': ['4', 0], "
                                "'cond1': ['6', 0], 'cond2': ['7', 0], 'negative': ['7', 0], "
                                "'cfg_conds': 1.0, 'cfg_cond2_negative': 1.0, 'style': 'regular'}}")
                     CUSTOM("3", "SamplerCustomAdvanced", "10", "['13', 0]", "5", "") SAVE "}");
    nino_array_unref(&z);
    // nothing to do
    z = latent("{" CKPT "'9': {'class_type': 'SaveLatent', 'inputs': {'samples': ['5', 0], "
               "'filename_prefix': 'x'}}}");
    expect_equal(z, "denoise 0", "{" CKPT KSAMPLER_WITH("KSampler", "6", "7.5", "0", "") SAVE "}");
    expect_equal(z, "past the end",
                 "{" CKPT STAGE("3", "5", "enable", "6", "10000", "disable") SAVE "}");
    nino_array_unref(&z);
}

static void precisions(void)
{
    nino_array *z = latent("{" CKPT KSAMPLER("KSampler", "") SAVE "}");
    expect_equal(z, "fp32",
                 "{" CKPT KSAMPLER("ROCMOptimizedKSampler", ", 'precision_mode': 'fp32'") SAVE "}");
    expect_near(z, 1e-9, 1e-1, "bf16",
                "{" CKPT KSAMPLER("ROCMOptimizedKSampler", ", 'precision_mode': 'bf16'") SAVE "}");
    expect_equal(z, "as the stock node",
                 "{" CKPT KSAMPLER("ROCMOptimizedKSampler",
                                   ", 'precision_mode': 'bf16', 'compatibility_mode': true") SAVE
                 "}");
    expect_equal(z, "and back again", "{" CKPT KSAMPLER("KSampler", "") SAVE "}");
    nino_array_unref(&z);
}

static void monitors(void)
{
    nino_array *z = latent("{" CKPT KSAMPLER("KSampler", "") SAVE "}");
    expect_near(z, 0, 1e-9, "benchmark",
                "{" CKPT PARTS(CFG) CUSTOM("3", "ROCMSamplerCustomAdvancedBenchmark", "10",
                                           "['13', 0]", "5", "") SAVE "}");
    printf("%s", text[0]);
    CHECK(strstr(text[0], "A, one entry a forward: ") && strstr(text[0], "(median of 8, MAD "));
    CHECK(strstr(text[0], "B against A, in turn: ") && strstr(text[0], "8 rounds)"));
    CHECK(strstr(text[0], "Results: ") && strstr(text[0], "2 conditioning entries"));
    CHECK(!strstr(text[0], "same computation"));
    nino_array_unref(&z);
    z = latent("{" CKPT PARTS("{'class_type': 'BasicGuider', 'inputs': {'model': ['4', 0], "
                              "'conditioning': ['6', 0]}}")
                   CUSTOM("3", "ROCMSamplerCustomAdvancedBenchmark", "10", "['13', 0]", "5", "")
                       SAVE "}");
    CHECK(strstr(text[0], "same computation") && strstr(text[0], "equal, bit for bit"));
    nino_array_unref(&z);

    nino_graph *g =
        flow_graph("{" CKPT "'9': {'class_type': 'ROCMSamplerPerformanceMonitor', 'inputs': "
                   "{'model': ['4', 0], 'test_steps': 30}}}");
    const flow_result r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    CHECK(r.n_texts == 3);
    for (int i = 0; i < 3; i++)
        printf("%s", r.text[i]);
    CHECK(strstr(r.text[0], "sd15_tiny") && strstr(r.text[0], "Measured: 2"));
    CHECK(strstr(r.text[1], "fp32: ") && strstr(r.text[1], "bf16: ") && strstr(r.text[1], "NMSE"));
    CHECK(strstr(r.text[1], "fp16 against fp32: ") && strstr(r.text[1], " confidence, p "));
    CHECK(strstr(r.text[2], "precision_mode: ") && strstr(r.text[2], "30 steps"));
    nino_graph_destroy(&g);
}

#define FLUX                                                                                       \
    "'4': {'class_type': 'UNETLoader', 'inputs': {'unet_name': 'flux_tiny.safetensors', "          \
    "'weight_dtype': 'default'}},"                                                                 \
    "'2': {'class_type': 'DualCLIPLoader', 'inputs': {'clip_name1': 't5xxl_tiny.safetensors', "    \
    "'clip_name2': 'clip_l_tiny.safetensors', 'type': 'flux'}},"                                   \
    "'8': {'class_type': 'CLIPTextEncode', 'inputs': {'text': 'a cat', 'clip': ['2', 0]}},"        \
    "'5': {'class_type': 'EmptyLatentImage', 'inputs': {'width': 128, 'height': 96, "              \
    "'batch_size': 1}},"                                                                           \
    "'7': {'class_type': 'CLIPTextEncode', 'inputs': {'text': '', 'clip': ['2', 0]}},"
#define GUIDED(how) FLUX "'6': " how "," KSAMPLER_WITH("KSampler", "6", "1.0", "1.0", "") SAVE

static void guidance(void)
{
    // EmptyLatentImage has four channels: an empty latent takes the model's sixteen
    nino_array *z = latent("{" GUIDED("{'class_type': 'FluxGuidance', 'inputs': {'conditioning': "
                                      "['8', 0], 'guidance': 3.5}}") "}");
    CHECK(z->shape.dim[3] == 16);
    expect_equal(z, "the usual guidance",
                 "{" FLUX
                 "'6': {'class_type': 'CLIPTextEncode', 'inputs': {'text': 'a cat', 'clip': "
                 "['2', 0]}}," KSAMPLER_WITH("KSampler", "6", "1.0", "1.0", "") SAVE "}");
    expect_near(z, 1e-9, 10, "other guidance",
                "{" GUIDED("{'class_type': 'FluxGuidance', 'inputs': {'conditioning': ['8', 0], "
                           "'guidance': 10}}") "}");
    expect_near(z, 1e-9, 10, "no guidance",
                "{" GUIDED("{'class_type': 'FluxDisableGuidance', 'inputs': {'conditioning': ['8', "
                           "0]}}") "}");
    nino_array_unref(&z);
}

// Cancelled in the middle: the job ends, and only weights stay on the device.
static void cancels(void)
{
    nino_error err = { 0 };
    nino_status st = NINO_OK;
    nino_mem_stat m;
    nino_event ev[64];
    nino_graph *g =
        flow_graph("{" CKPT KSAMPLER_WITH("KSampler", "10000", "7.5", "1.0", "") SAVE "}");
    for (int after = 1; after < 4; after++) { // steps
        nino_job *job = nino_job_start(ctx, g, NULL, &err);
        CHECK_OK(job ? NINO_OK : err.code, err);
        for (int steps = 0; !nino_job_done(job, &st, &err);) {
            const size_t n = nino_job_poll(job, ev, 64);
            for (size_t i = 0; i < n; i++)
                if (ev[i].kind == NINO_EV_STEP_INFO && ++steps == after)
                    nino_job_cancel(job);
            if (!n)
                nino_job_wait(job, 20);
        }
        CHECK(st == NINO_ERR_CANCELLED);
        nino_job_memory(job, &m);
        CHECK(m.by_owner[NINO_OWN_WEIGHTS] > 0 && m.in_use == m.by_owner[NINO_OWN_WEIGHTS]);
        CHECK(nino_job_outputs(job, NULL, 0) == 0);
        nino_job_destroy(&job);
    }
    nino_graph_destroy(&g);
}

int main(void)
{
    const char *assets = test_models();
    if (!(ctx = flow_open("cl", assets)))
        ctx = flow_open("ref", assets);
    same_things();
    precisions();
    guidance();
    monitors();
    cancels();
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
