// Whole pipelines over the tiny models, against torch's and ComfyUI's own numbers: noise, sigmas,
// every step's x0 and the latent from the reference's own conditioning, then the workflow's PNG.
#include "tests/e2e_steps.h"

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
    char *json = e2e_workflow(assets, "e2e", c->workflow);
    const flow_result r = e2e_run(ctx, json);
    e2e_check(&r, assets, "e2e", c->workflow, 2);
    char *renamed = rename_classes(json);
    CHECK(strstr(renamed, "ROCMOptimizedKSampler") && strstr(renamed, "ROCMOptimizedVAEDecode"));
    const flow_result other = e2e_run(ctx, renamed);
    CHECK(e2e_difference(r.path[0], other.path[0]) == 0);
    free(renamed);
    free(json);
}

// Networks whose heads of attention are as the metadata says, not as their widths suggest.
static void check_heads(nino_ctx *ctx, const char *assets)
{
    static const char name[] = "sdxl_unet_fp8_dualclip";
    char *json = e2e_workflow(assets, "e2e_2026", name);
    const flow_result r = e2e_run(ctx, json);
    e2e_check(&r, assets, "e2e_2026", name, 2);
    free(json);
}

int main(void)
{
#if defined(__SANITIZE_ADDRESS__)
    static const char *const devices[] = { "cl", NULL }; // the plain loops would take minutes
#else
    static const char *const devices[] = { "ref", "cl", NULL };
#endif
    for (const char *const *name = devices; *name; name++) {
        test_device d;
        if (!test_device_open(&d, *name, 0))
            continue;
        printf("%s\n", *name);
        for (const char *data = NULL; (data = test_data_next(data));) {
            for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                check_steps(&d, data, &cases[i]);
            nino_ctx *ctx = flow_open(*name, data);
            for (size_t i = 0; ctx && i < sizeof(cases) / sizeof(cases[0]); i++)
                check_png(ctx, data, &cases[i]);
            if (ctx && !test_data_is_own(data))
                check_heads(ctx, data);
            nino_ctx_destroy(&ctx);
        }
        test_device_close(&d);
    }
    flow_clean();
    return 0;
}
