// Whole video workflows to pictures: the nodes that decode and encode clips, against ComfyUI's own
// frames.
#include "tests/e2e.h"

#define FRAMES 9
#define DECODE                                                                                     \
    "\"8\": {\"class_type\": \"%s\", \"inputs\": {\"samples\": [\"3\", 0], \"vae\": [\"39\", "     \
    "0]%s}}, "
#define SAVE                                                                                       \
    "\"28\": {\"class_type\": \"SaveImage\", \"inputs\": {\"filename_prefix\": \"f\", "            \
    "\"images\": "                                                                                 \
    "[\"8\", 0]}}}"
// The frames through the VAE and back, once more.
#define AGAIN                                                                                      \
    "\"50\": {\"class_type\": \"VAEEncode\", \"inputs\": {\"pixels\": [\"8\", 0], \"vae\": "       \
    "[\"39\", "                                                                                    \
    "0]}}, \"51\": {\"class_type\": \"VAEDecode\", \"inputs\": {\"samples\": [\"50\", 0], "        \
    "\"vae\": "                                                                                    \
    "[\"39\", 0]}}, \"28\": {\"class_type\": \"SaveImage\", \"inputs\": {\"filename_prefix\": "    \
    "\"g\", \"images\": [\"51\", 0]}}}"

// The workflow up to its sampler, then a decoder of class `decoder` and what follows it.
static char *workflow(const char *assets, const char *name, const char *decoder, const char *more,
                      const char *rest)
{
    char *json = e2e_workflow(assets, "e2e", name), *cut = strstr(json, "\"8\": {");
    CHECK(cut);
    const size_t head = (size_t) (cut - json), size = head + 2048;
    char *out = calloc(1, size);
    CHECK(out);
    memcpy(out, json, head);
    snprintf(out + head, size - head, DECODE "%s", decoder, more, rest);
    free(json);
    return out;
}

static flow_result run(nino_ctx *ctx, char *json)
{
    nino_error err = { 0 };
    nino_graph *g = nino_graph_load(json, strlen(json), "wan", &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    flow_result r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    nino_graph_destroy(&g);
    free(json);
    return r;
}

// The test data shows the frames side by side.
static void compare(const flow_result *r, const char *assets, const char *name)
{
    char want[512];
    int worst = 0;
    snprintf(want, sizeof(want), "%s/e2e/expected/%s.png", assets, name);
    nino_png all = e2e_png(want);
    const int64_t h = all.pixels->shape.dim[1], w = all.pixels->shape.dim[2] / FRAMES;
    CHECK(r->n_paths == FRAMES);
    for (int i = 0; i < FRAMES; i++) {
        nino_png one = e2e_png(r->path[i]);
        CHECK(one.pixels->shape.dim[1] == h && one.pixels->shape.dim[2] == w);
        for (int64_t k = 0; k < h * w * 3; k++) {
            const int64_t y = k / (w * 3), x = k % (w * 3);
            const float a = nino_array_f32(one.pixels)[k];
            const float b = nino_array_f32(all.pixels)[(y * FRAMES + i) * w * 3 + x];
            const int d = (int) lroundf(fabsf(a - b) * 255);
            worst = d > worst ? d : worst;
        }
        nino_png_release(&one);
    }
    nino_png_release(&all);
    printf("  %s: largest difference %d of 255\n", name, worst);
    CHECK(worst <= 2);
}

static void check_decoders(nino_ctx *ctx, const char *assets)
{
    static const struct {
        const char *name, *inputs;
    } decoders[] = {
        { "VAEDecode", "" },
        { "VAEDecodeTiled", ", \"tile_size\": 512, \"overlap\": 64, \"temporal_size\": 64, "
                            "\"temporal_overlap\": 8" },
        { "ROCMOptimizedVAEDecode",
          ", \"tile_size\": 768, \"overlap\": 96, \"use_rocm_optimizations\": true, "
          "\"precision_mode\": \"fp32\", \"batch_optimization\": true, "
          "\"enable_temporal_tiling\": \"enable\", \"temporal_chunk_size\": 4, "
          "\"temporal_overlap\": 8, \"last_frame_fix\": true" },
        { "ROCMOptimizedVAEDecodeTiled",
          ", \"tile_size\": 768, \"overlap\": 96, \"temporal_size\": 8, \"temporal_overlap\": 4, "
          "\"rocm_optimizations\": true" },
    };
    for (size_t i = 0; i < sizeof(decoders) / sizeof(decoders[0]); i++) {
        const flow_result r = run(
            ctx, workflow(assets, "wan_tiny_euler", decoders[i].name, decoders[i].inputs, SAVE));
        compare(&r, assets, "wan_tiny_euler");
    }
    const flow_result r = run(ctx, workflow(assets, "wan_tiny_euler", "VAEDecode", "", AGAIN));
    CHECK(r.n_paths == FRAMES);
}

// The same graph without a device: memory and time by stage.
static void check_plan(nino_ctx *ctx, const char *assets)
{
    nino_error err = { 0 };
    nino_plan plan = { 0 };
    char *json = workflow(assets, "wan_tiny_euler", "VAEDecode", "", SAVE);
    nino_graph *g = nino_graph_load(json, strlen(json), "wan", &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    CHECK_OK(nino_graph_plan(ctx, g, "gfx1151", NULL, &plan, &err), err);
    bool has_decoder = false;
    for (size_t i = 0; i < plan.n_scopes; i++)
        has_decoder |= strstr(plan.scopes[i].name, "decoder.up") && plan.scopes[i].flops > 0;
    CHECK(has_decoder && plan.peak_bytes > 0 && plan.seconds > 0);
    nino_plan_release(&plan);
    nino_graph_destroy(&g);
    free(json);
}

int main(void)
{
    static const char *const devices[] = { "cl", "ref", NULL };
    const char *assets = test_models();
    nino_ctx *ctx = NULL;
    for (int i = 0; devices[i] && !ctx; i++) // ref only where there is no other: it is slow
        ctx = flow_open(devices[i], assets);
    CHECK(ctx);
    for (const char *const *n =
             (const char *const[]){ "wan_tiny_uni_pc", "wan_tiny_res_multistep", NULL };
         *n; n++) {
        const flow_result r = run(ctx, workflow(assets, *n, "VAEDecode", "", SAVE));
        compare(&r, assets, *n);
    }
    check_decoders(ctx, assets);
    check_plan(ctx, assets);
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
