// Whole video pipelines over the tiny Wan models, against ComfyUI's own numbers: noise, sigmas,
// every step's x0 and the latent from the reference's own conditioning, then the workflow's latent.
#include "core/format/latent.h"
#include "tests/e2e_steps.h"

static const e2e_case cases[] = {
    { "wan_tiny_euler", "wan_tiny", "euler", "diffusion_models/wan_t2v_tiny.safetensors",
      NINO_SAMPLER_EULER, NINO_SCHEDULER_SIMPLE, 123, 5, 6.0 },
    { "wan_tiny_uni_pc", "wan_tiny", "uni_pc", "diffusion_models/wan_t2v_tiny.safetensors",
      NINO_SAMPLER_UNI_PC, NINO_SCHEDULER_SIMPLE, 123, 5, 6.0 },
    { "wan_tiny_res_multistep", "wan_tiny", "res_multistep",
      "diffusion_models/wan_t2v_tiny.safetensors", NINO_SAMPLER_RES_MULTISTEP,
      NINO_SCHEDULER_SIMPLE, 123, 5, 6.0 },
};

// The workflow up to the latent, which is saved.
static char *latent_workflow(const char *assets, const char *name)
{
    static const char saved[] = ", \"90\": {\"class_type\": \"SaveLatent\", \"inputs\": "
                                "{\"filename_prefix\": \"x\", \"samples\": [\"3\", 0]}}}";
    char *json = e2e_workflow(assets, name);
    size_t len = 0;
    while (json[len] && strncmp(json + len, "\"8\": {", 6) != 0) // VAEDecode and what follows
        len++;
    CHECK(json[len]);
    while (len && json[len - 1] != '}')
        len--;
    char *out = calloc(1, len + sizeof(saved));
    CHECK(out != NULL);
    memcpy(out, json, len);
    memcpy(out + len, saved, sizeof(saved));
    free(json);
    return out;
}

// The latent that was saved is the reference's.
static void compare(const flow_result *r, const char *assets, const e2e_case *c, const char *what)
{
    nino_error err = { 0 };
    CHECK(r->n_paths == 1);
    nino_weights *w = test_open("%s/e2e/expected/%s_ref.safetensors", assets, c->ref);
    nino_weights *file = test_open("%s", r->path[0]);
    nino_array *got = NULL, *want = ref_tensor(w, c, "latent_comfy");
    CHECK_OK(nino_latent_load(file, &got, &err), err);
    nino_array *first = nino_array_to_channels_first(got);
    printf("  %s: latent of %s nmse %.1e\n", c->workflow, what, test_nmse(first, want));
    CHECK(test_nmse(first, want) <= 1e-5);
    nino_array_unref(&first);
    nino_array_unref(&got);
    nino_array_unref(&want);
    nino_weights_unref(&file);
    nino_weights_unref(&w);
}

static void check_latent(nino_ctx *ctx, const char *assets, const e2e_case *c)
{
    char *json = latent_workflow(assets, c->workflow);
    const flow_result r = e2e_run(ctx, json);
    compare(&r, assets, c, "the workflow");
    free(json);
}

// Two models, one after the other: here the same, so that the result is that of one.
static const char experts[] =
    "{'1': {'class_type': 'UNETLoader', 'inputs': {'unet_name': 'wan_t2v_tiny.safetensors', "
    "'weight_dtype': 'default'}}, '2': {'class_type': 'ModelSamplingSD3', 'inputs': {'model': "
    "['1', 0], 'shift': 8}}, '3': {'class_type': 'CLIPLoader', 'inputs': {'clip_name': "
    "'umt5_tiny.safetensors', 'type': 'wan'}}, '4': {'class_type': 'CLIPTextEncode', 'inputs': "
    "{'clip': ['3', 0], 'text': 'a photo of a cat'}}, '5': {'class_type': 'CLIPTextEncode', "
    "'inputs': {'clip': ['3', 0], 'text': 'blurry, low quality'}}, '6': {'class_type': "
    "'EmptyHunyuanLatentVideo', 'inputs': {'width': 64, 'height': 48, 'length': 9, 'batch_size': "
    "1}}, '7': {'class_type': 'KSamplerAdvanced', 'inputs': {'model': ['2', 0], 'add_noise': "
    "'enable', 'noise_seed': 123, 'steps': 5, 'cfg': 6, 'sampler_name': 'euler', 'scheduler': "
    "'simple', 'positive': ['4', 0], 'negative': ['5', 0], 'latent_image': ['6', 0], "
    "'start_at_step': 0, 'end_at_step': 2, 'return_with_leftover_noise': 'enable'}}, '8': "
    "{'class_type': 'ROCMOptimizedKSamplerAdvanced', 'inputs': {'model': ['2', 0], 'add_noise': "
    "'disable', 'noise_seed': 0, 'steps': 5, 'cfg': 6, 'sampler_name': 'euler', 'scheduler': "
    "'simple', 'positive': ['4', 0], 'negative': ['5', 0], 'latent_image': ['7', 0], "
    "'start_at_step': 2, 'end_at_step': 10000, 'return_with_leftover_noise': 'disable'}}, '9': "
    "{'class_type': 'SaveLatent', 'inputs': {'filename_prefix': 'x', 'samples': ['8', 0]}}}";

static void check_experts(nino_ctx *ctx, const char *assets)
{
    nino_graph *g = flow_graph(experts);
    const flow_result r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    compare(&r, assets, &cases[0], "two experts");
    nino_graph_destroy(&g);
}

int main(void)
{
    static const char *const devices[] = { "ref", "cl", NULL };
    const char *assets = test_assets();
    const size_t n = sizeof(cases) / sizeof(cases[0]);
    if (!assets)
        return test_skip("no test data folder");
    for (const char *const *name = devices; *name; name++) {
        test_device d;
        if (!test_device_open(&d, *name, 0))
            continue;
        printf("%s\n", *name);
        for (size_t i = 0; i < n; i++)
            check_steps(&d, assets, &cases[i]);
        test_device_close(&d);
        nino_ctx *ctx = flow_open(*name, assets);
        // the plain loops take seconds for 512 tokens of text
        for (size_t i = 0; ctx && i < (strcmp(*name, "ref") != 0 ? n : 1); i++)
            check_latent(ctx, assets, &cases[i]);
        if (ctx && strcmp(*name, "ref") != 0)
            check_experts(ctx, assets);
        nino_ctx_destroy(&ctx);
    }
    flow_clean();
    return 0;
}
