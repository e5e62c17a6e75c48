// Z-Image and FLUX.2 from prompt to picture, against ComfyUI's pictures and latents: bf16, scaled
// 8-bit floats in both layouts, GGUF, LoRAs in four dialects, guidance of both kinds, reference
// latents, image to image, odd sizes and batches, and TAEF2.
#include "tests/e2e_flow.h"

typedef struct picture_case {
    const char *family, *name; // FAMILY_NAME.json; FAMILY_ref.safetensors has NAME/latent_comfy
    const char *sampler;       // the node that gives the latent
    double most;               // NMSE of the latent
} picture_case;

// 1e-5; 1e-4 where weights are quantised.
static const picture_case cases[] = {
    { "z_image_tiny", "turbo", "3", 1e-5 },
    { "z_image_tiny", "turbo_euler_b2_odd", "3", 1e-5 },
    { "z_image_tiny", "base_cfg4", "3", 1e-5 },
    { "z_image_tiny", "no_shift_node", "3", 1e-5 },
    { "z_image_tiny", "img2img_0.6", "3", 1e-5 },
    { "z_image_tiny", "fp8_scaled", "3", 1e-4 },
    { "z_image_tiny", "gguf_q8_0", "3", 1e-4 },
    { "z_image_tiny", "lora_peft_1.0", "3", 1e-5 },
    { "z_image_tiny", "lora_kohya_0.7", "3", 1e-5 },
    { "flux2_klein_tiny", "t2i", "64", 1e-5 },
    { "flux2_klein_tiny", "base_cfg5", "64", 1e-5 },
    { "flux2_klein_tiny", "edit1", "64", 1e-5 },
    { "flux2_klein_tiny", "edit2", "64", 1e-5 },
    { "flux2_klein_tiny", "lora_comfy_1.0", "64", 1e-5 },
    { "flux2_klein_tiny", "lora_diffusers_0.8", "64", 1e-5 },
    { "flux2_klein_tiny", "taef2", "64", 1e-5 },
    { "flux2_dev_tiny", "t2i_b2", "64", 1e-5 },
    { "flux2_dev_tiny", "fp8mixed_edit1", "64", 1e-4 },
    { "flux2_dev_tiny", "ksampler", "64", 1e-5 },
};

static void check_case(nino_ctx *ctx, const char *assets, const picture_case *c)
{
    char name[96], want[512];
    nino_error err = { 0 };
    nino_weights *ref = test_open("%s/e2e_2026/expected/%s_ref.safetensors", assets, c->family);
    int pictures = 0, latents = 0;
    snprintf(name, sizeof(name), "%s_%s", c->family, c->name);
    char *json = e2e_with_latent(e2e_workflow(assets, "e2e_2026", name), c->sampler);
    nino_graph *g = nino_graph_load(json, strlen(json), name, &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    const flow_result r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    printf("  %s:", name);
    for (size_t i = 0; i < r.n_paths; i++)
        if (strstr(r.path[i], ".latent") && !latents++) {
            snprintf(want, sizeof(want), "%s/latent_comfy", c->name);
            e2e_check_latent(r.path[i], ref, want, c->most);
        }
    for (size_t i = 0; i < r.n_paths; i++)
        if (strstr(r.path[i], ".png")) {
            snprintf(want, sizeof(want), "%s/e2e_2026/expected/%s%s.png", assets, name,
                     pictures++ ? "_2" : "");
            e2e_check_picture(r.path[i], want, 2);
        }
    printf("\n");
    CHECK(latents == 1 && pictures == 1 + (strstr(c->name, "b2") != NULL));
    nino_graph_destroy(&g);
    nino_weights_unref(&ref);
    free(json);
}

int main(void)
{
#if defined(__SANITIZE_ADDRESS__)
    static const char *const devices[] = { "cl", NULL }; // the plain loops would take minutes
#else
    static const char *const devices[] = { "ref", "cl", NULL };
#endif
    const bool is_long = getenv("NINODES_TEST_LONG") != NULL; // plain loops over 512 words
    const char *assets = test_assets();
    if (!assets)
        return test_skip("no test data folder");
    for (const char *const *name = devices; *name; name++) {
        nino_ctx *ctx = flow_open_with(*name, assets, "/e2e_2026/input");
        if (!ctx)
            continue;
        printf("%s\n", *name);
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
            if (is_long || strcmp(*name, "ref") != 0 || !strcmp(cases[i].family, "z_image_tiny"))
                check_case(ctx, assets, &cases[i]);
        nino_ctx_destroy(&ctx);
    }
    flow_clean();
    return 0;
}
