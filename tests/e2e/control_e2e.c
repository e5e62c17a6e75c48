// Control networks from prompt to picture, against ComfyUI's pictures and latents: ControlNets of
// SD1.5, SDXL (union, control-LoRA) and FLUX.1, chains with ranges, areas, masks, several hints for a
// batch, inpainting, both apply nodes, and the edges that Canny finds.
#include "tests/e2e_flow.h"

typedef struct control_flow {
    const char *name;
    const char *sampler; // the node that gives the latent
    const char *canny;   // the node that gives edges; NULL: none
    int pictures;
    bool is_long; // on plain loops only where long tests are asked for
} control_flow;

static const control_flow cases[] = {
    { "cn_apply_legacy", "8", NULL, 1, true },
    { "cn_area", "11", NULL, 1, true },
    { "cn_batch3_hints2", "10", NULL, 3, true },
    { "cn_canny_adv", "9", "6", 1, false },
    { "cn_control_lora_sdxl", "11", "8", 2, false },
    { "cn_flux_union_auto", "11", NULL, 1, false },
    { "cn_flux_union_canny", "11", NULL, 1, false },
    { "cn_inpaint", "11", "6", 1, false },
    { "cn_mask_cfg1", "13", NULL, 1, false },
    { "cn_sdxl_union_auto", "11", NULL, 1, true },
    { "cn_sdxl_union_canny", "11", NULL, 1, false },
    { "cn_sdxl_union_openpose", "11", NULL, 1, true },
    { "cn_two_ranges", "11", NULL, 1, false },
    { "sdxl_unet_fp8_dualclip", "7", NULL, 1, false },
};

// The workflow with a node that saves the edges, too. Takes json.
static char *with_edges(char *json, const char *node)
{
    if (!node)
        return json;
    const size_t room = strlen(json) + 200;
    char *out = malloc(room);
    CHECK(out && json[0] == '{');
    snprintf(out, room,
             "{\"998\": {\"class_type\": \"SaveImage\", \"inputs\": {\"images\": [\"%s\", 0], "
             "\"filename_prefix\": \"edges\"}}, %s",
             node, json + 1);
    free(json);
    return out;
}

// At most 0.1 % of the pixels are another edge or none.
static void check_edges(const char *path, const nino_weights *ref, const char *node)
{
    char tensor[32];
    snprintf(tensor, sizeof(tensor), "canny_node_%s", node);
    nino_array *want = test_tensor(ref, tensor, false); // [1,H,W,1]
    nino_png got = e2e_png(path);
    const int64_t n = nino_shape_count(&want->shape);
    int64_t wrong = 0;
    CHECK(nino_shape_count(&got.pixels->shape) == 3 * n);
    for (int64_t i = 0; i < n; i++)
        wrong += (nino_array_f32(got.pixels)[3 * i] > 0.5f) != (nino_array_f32(want)[i] > 0.5f);
    printf(", %lld of %lld edge pixels differ", (long long) wrong, (long long) n);
    CHECK(1000 * wrong <= n);
    nino_png_release(&got);
    nino_array_unref(&want);
}

static void check_case(nino_ctx *ctx, const char *assets, const control_flow *c)
{
    char want[512], tensor[32];
    nino_error err = { 0 };
    int pictures = 0, latents = 0, edges = 0;
    nino_weights *ref = test_open("%s/e2e_2026/expected/%s_ref.safetensors", assets, c->name);
    char *json = e2e_with_latent(e2e_workflow(assets, "e2e_2026", c->name), c->sampler);
    json = with_edges(json, c->canny);
    nino_graph *g = nino_graph_load(json, strlen(json), c->name, &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    const flow_result r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    printf("  %s:", c->name);
    snprintf(tensor, sizeof(tensor), "latent_node_%s", c->sampler);
    for (size_t i = 0; i < r.n_paths; i++)
        if (strstr(r.path[i], ".latent") && !latents++)
            e2e_check_latent(r.path[i], ref, tensor, 1e-6);
    for (size_t i = 0; i < r.n_paths; i++) {
        if (!strstr(r.path[i], ".png"))
            continue;
        if (strstr(r.path[i], "edges")) {
            check_edges(r.path[i], ref, c->canny);
            edges++;
            continue;
        }
        char number[16] = "";
        if (c->pictures > 1)
            snprintf(number, sizeof(number), "_%d", pictures + 1);
        snprintf(want, sizeof(want), "%s/e2e_2026/expected/%s%s.png", assets, c->name, number);
        e2e_check_picture(r.path[i], want, 2);
        pictures++;
    }
    printf("\n");
    fflush(stdout);
    CHECK(latents == 1 && pictures == c->pictures && edges == (c->canny != NULL));
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
    const bool is_long = getenv("NINODES_TEST_LONG") != NULL;
    const char *assets = test_assets();
    if (!assets)
        return test_skip("no test data folder");
    for (const char *const *name = devices; *name; name++) {
        nino_ctx *ctx = flow_open_with(*name, assets, "/e2e_2026/input");
        if (!ctx)
            continue;
        printf("%s\n", *name);
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
            if (is_long || !cases[i].is_long || strcmp(*name, "ref") != 0)
                check_case(ctx, assets, &cases[i]);
        nino_ctx_destroy(&ctx);
    }
    flow_clean();
    return 0;
}
