// Stable Diffusion 3.5 and Chroma from prompt to picture, against ComfyUI's pictures and latents:
// every combination of SD3's text encoders, prompts of which some are empty, zeroed and scheduled
// negatives, a picture of odd latent sides, layers that are left out, LoRAs, weights in prompts,
// padding, distilled guidance and another noise schedule.
#include "tests/e2e_flow.h"

typedef struct flow_case {
    const char *name;
    const char *sampler; // the node that gives the latent
    double most;         // NMSE of the latent
} flow_case;

// 1e-4 where the weights are rounded to bf16 after a LoRA, which the references do not do.
static const flow_case cases[] = {
    { "sd3_triple_euler", "8", 1e-6 },
    { "sd3_default_shift_b2", "7", 1e-6 },
    { "sd3_dualclip_no_t5", "8", 1e-6 },
    { "sd3_encode_sd3_empty_t5", "8", 1e-6 },
    { "sd3_encode_sd3_zero_neg", "12", 1e-6 },
    { "sd3_img2img_odd", "10", 1e-6 },
    { "sd3_lora_peft", "9", 1e-6 },
    { "sd3_skip_layer", "9", 1e-6 },
    { "chroma_euler_simple", "8", 1e-6 },
    { "chroma_weights_minpad_b2", "8", 1e-6 },
    { "chroma_auraflow_shift_guidance", "9", 1e-6 },
    { "chroma_lora_kohya", "9", 1e-4 },
};

static void check_case(nino_ctx *ctx, const char *assets, const flow_case *c)
{
    const bool is_pair = strstr(c->name, "_b2") != NULL;
    char want[512], tensor[32];
    nino_error err = { 0 };
    int pictures = 0, latents = 0;
    nino_weights *ref = test_open("%s/e2e_2026/expected/%s_ref.safetensors", assets, c->name);
    char *json = e2e_with_latent(e2e_workflow(assets, "e2e_2026", c->name), c->sampler);
    nino_graph *g = nino_graph_load(json, strlen(json), c->name, &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    const flow_result r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    printf("  %s:", c->name);
    snprintf(tensor, sizeof(tensor), "latent_node_%s", c->sampler);
    for (size_t i = 0; i < r.n_paths; i++)
        if (strstr(r.path[i], ".latent") && !latents++)
            e2e_check_latent(r.path[i], ref, tensor, c->most);
    for (size_t i = 0; i < r.n_paths; i++)
        if (strstr(r.path[i], ".png")) {
            pictures++;
            snprintf(want, sizeof(want), "%s/e2e_2026/expected/%s%s.png", assets, c->name,
                     !is_pair        ? ""
                     : pictures == 1 ? "_1"
                                     : "_2");
            e2e_check_picture(r.path[i], want, 2);
        }
    printf("\n");
    fflush(stdout);
    CHECK(latents == 1 && pictures == 1 + is_pair);
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
    const char *assets = test_assets();
    if (!assets)
        return test_skip("no test data folder");
    for (const char *const *name = devices; *name; name++) {
        nino_ctx *ctx = flow_open_with(*name, assets, "/e2e_2026/input");
        if (!ctx)
            continue;
        printf("%s\n", *name);
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
            check_case(ctx, assets, &cases[i]);
        nino_ctx_destroy(&ctx);
    }
    flow_clean();
    return 0;
}
