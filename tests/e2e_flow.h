// Workflows against the latents and pictures that ComfyUI made of them.
#pragma once
#include "core/file/latent_file.h"
#include "tests/e2e.h"
#include "tests/vae.h"

// The workflow with a node that saves the latent of a node, too. Takes json.
static inline char *e2e_with_latent(char *json, const char *node)
{
    const size_t room = strlen(json) + 200;
    char *out = malloc(room);
    CHECK(out && json[0] == '{');
    snprintf(out, room,
             "{\"999\": {\"class_type\": \"SaveLatent\", \"inputs\": {\"samples\": [\"%s\", 0], "
             "\"filename_prefix\": \"z\"}}, %s",
             node, json + 1);
    free(json);
    return out;
}

// most: NMSE
static inline void e2e_check_latent(const char *path, const nino_weights *ref, const char *tensor,
                                    double most)
{
    nino_error err = { 0 };
    nino_array *got = NULL;
    nino_weights *w = test_open("%s", path);
    CHECK_OK(nino_latent_load(w, &got, &err), err);
    nino_array *want = test_tensor(ref, tensor, true);
    const double far = test_nmse(got, want);
    printf(" latent nmse %.1e", far);
    CHECK(far <= most);
    nino_array_unref(&got);
    nino_array_unref(&want);
    nino_weights_unref(&w);
}

// Within `most` of 255 everywhere, and 50 dB.
static inline void e2e_check_picture(const char *path, const char *want_path, int most)
{
    nino_png got = e2e_png(path), want = e2e_png(want_path);
    const double psnr = test_psnr(got.pixels, want.pixels);
    const int worst = e2e_difference(path, want_path);
    printf(", picture %d of 255, %.1f dB", worst, psnr);
    CHECK(worst <= most && psnr >= 50);
    nino_png_release(&got);
    nino_png_release(&want);
}

// A workflow of e2e_2026 with its own file of references, latent_node_N.
typedef struct e2e_flow {
    const char *name;
    const char *sampler; // the node that gives the latent
    double most;         // NMSE of the latent
} e2e_flow;

// Pictures, the latent, and what was planned to the byte. In a context that has run nothing yet.
static inline void e2e_check_flow(nino_ctx *ctx, const char *assets, const e2e_flow *c)
{
    nino_plan plan = { 0 };
    const bool is_pair = strstr(c->name, "_b2") != NULL;
    char want[512], tensor[32];
    nino_error err = { 0 };
    int pictures = 0, latents = 0;
    nino_weights *ref = test_open("%s/e2e_2026/expected/%s_ref.safetensors", assets, c->name);
    char *json = e2e_with_latent(e2e_workflow(assets, "e2e_2026", c->name), c->sampler);
    nino_graph *g = nino_graph_load(json, strlen(json), c->name, &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    CHECK_OK(nino_graph_plan(ctx, g, NULL, NULL, &plan, &err), err);
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
    CHECK(plan.fits && plan.peak_bytes == r.memory.peak);
    CHECK(plan.weight_bytes == r.memory.peak_by_owner[NINO_OWN_WEIGHTS]);
    nino_plan_release(&plan);
    nino_graph_destroy(&g);
    nino_weights_unref(&ref);
    free(json);
}

// All of them on every device; assets: the test data that has them, NULL where it is not here.
static inline int e2e_check_flows(const char *assets, const e2e_flow *flows, size_t n)
{
#if defined(__SANITIZE_ADDRESS__)
    static const char *const devices[] = { "cl", NULL }; // the plain loops would take minutes
#else
    static const char *const devices[] = { "ref", "cl", NULL };
#endif
    if (!assets)
        return test_skip("no test data folder");
    for (const char *const *name = devices; *name; name++) {
        printf("%s\n", *name);
        for (size_t i = 0; i < n; i++) {
            nino_ctx *ctx = flow_open_with(*name, assets, "/e2e_2026/input");
            if (ctx)
                e2e_check_flow(ctx, assets, &flows[i]);
            nino_ctx_destroy(&ctx);
        }
    }
    flow_clean();
    return 0;
}
