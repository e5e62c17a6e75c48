// LoRA and quantised files in whole pipelines, against the pictures that ComfyUI made.
#include "tests/e2e.h"

static const char *const lora_flows[] = { "flux_tiny_lora_kohya_0.8", "flux_tiny_lora_comfy_0.8",
                                          "flux_tiny_lora_diffusers_1.0" };
static const char *const expected[] = { "flux_tiny_lora_kohya_0.8", "flux_tiny_lora_kohya_0.8",
                                        "flux_tiny_lora_diffusers_1.0" };
static const char *const quantised[] = { "flux_tiny_gguf_q4_K", "flux_tiny_gguf_q8_0",
                                         "flux_tiny_fp8_scaled" };

static void check_all(nino_ctx *ctx, const char *assets)
{
    for (size_t i = 0; i < 3; i++) {
        char *json = e2e_workflow(assets, lora_flows[i]);
        const flow_result r = e2e_run(ctx, json);
        e2e_check(&r, assets, expected[i], 2);
        char plain[512];
        snprintf(plain, sizeof(plain), "%s/e2e/expected/flux_tiny_bf16.png", assets);
        CHECK(e2e_difference(r.path[0], plain) > 2);
        free(json);
    }
    for (size_t i = 0; i < 3; i++) {
        char *json = e2e_workflow(assets, quantised[i]);
        const flow_result r = e2e_run(ctx, json);
        e2e_check(&r, assets, quantised[i], 2);
        free(json);
    }
}

int main(void)
{
    static const char *const devices[] = { "ref", "cl", NULL };
    const char *assets = test_assets();
    if (!assets)
        return test_skip("no test data folder");
    for (const char *const *name = devices; *name; name++) {
        nino_ctx *ctx = flow_open(*name, assets);
        if (!ctx)
            continue;
        printf("%s\n", *name);
        check_all(ctx, assets);
        nino_ctx_destroy(&ctx);
    }
    flow_clean();
    return 0;
}
