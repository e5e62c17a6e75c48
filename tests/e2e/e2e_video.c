// Whole video pipelines over the tiny Wan models, against torch's and ComfyUI's own numbers: noise,
// sigmas, every step's x0 and the latent from the reference's own conditioning, then the workflow's
// latent.
#include "core/file/latent_file.h"
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
    char *json = e2e_workflow(assets, "e2e", name);
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

// The latent through the small model's VAE is the reference's frames, but for 2 of 255.
static void check_frames(nino_stream *s, const nino_vae *v, const nino_array *latent,
                         const nino_weights *ref, const e2e_case *c)
{
    nino_vae_clip clip;
    nino_array z = *latent, *want = ref_tensor(ref, c, "frames"), *got;
    double most = 0;
    z.shape = nino_shape_make(4, latent->shape.dim + 1);
    nino_vae_clip_begin(&clip, v, true);
    got = nino_download(s, nino_vae_clip_next(s, &clip, nino_upload(s, &z, NINO_F32)), NINO_F32);
    nino_vae_clip_end(&clip);
    CHECK(got && nino_shape_equal(&got->shape, &want->shape));
    for (int64_t i = 0; i < nino_shape_count(&want->shape); i++) {
        const double p = fmin(fmax((double) nino_array_f32(got)[i], 0), 1);
        most = fmax(most, fabs(p - (double) nino_array_f32(want)[i]) * 255);
    }
    printf("  %s: frames differ by %.4f of 255 at most\n", c->workflow, most);
    CHECK(most <= 2);
    nino_array_unref(&got);
    nino_array_unref(&want);
}

static void decode(const char *assets, const nino_array *latent, const nino_weights *ref,
                   const e2e_case *c)
{
    nino_error err = { 0 };
    nino_vae *v = NULL;
    test_device d;
    nino_weights *w = test_open("%s/models/vae/wan_2.1_vae_tiny.safetensors", assets);
    if (!test_device_open(&d, "cl", 0))
        CHECK(test_device_open(&d, "ref", 0));
    CHECK_OK(nino_vae_load(w, "vae", &v, &err), err);
    nino_stream_set_precision(d.s, NINO_PREC_F32);
    check_frames(d.s, v, latent, ref, c);
    nino_vae_unref(&v);
    nino_weights_unref(&w);
    test_device_close(&d);
}

// The latent that was saved is the reference's, and so are its frames.
static void compare(const flow_result *r, const char *assets, const e2e_case *c, const char *what,
                    bool with_frames)
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
    if (with_frames)
        decode(assets, got, w, c);
    nino_array_unref(&first);
    nino_array_unref(&got);
    nino_array_unref(&want);
    nino_weights_unref(&file);
    nino_weights_unref(&w);
}

static void check_latent(nino_ctx *ctx, const char *assets, const e2e_case *c, bool with_frames)
{
    char *json = latent_workflow(assets, c->workflow);
    const flow_result r = e2e_run(ctx, json);
    compare(&r, assets, c, "the workflow", with_frames);
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
    compare(&r, assets, &cases[0], "two experts", false);
    nino_graph_destroy(&g);
}

int main(void)
{
    static const char *const devices[] = { "ref", "cl", NULL };
    const size_t n = sizeof(cases) / sizeof(cases[0]);
    for (const char *const *name = devices; *name; name++) {
        test_device d;
        if (!test_device_open(&d, *name, 0))
            continue;
        printf("%s\n", *name);
        for (const char *data = NULL; (data = test_data_next(data));)
            for (size_t i = 0; i < n; i++)
                check_steps(&d, data, &cases[i]);
        test_device_close(&d);
        if (!strcmp(*name, "ref"))
            continue; // the plain loops take seconds for 512 tokens of text
        for (const char *data = NULL; (data = test_data_next(data));) {
            nino_ctx *ctx = flow_open(*name, data);
            for (size_t i = 0; ctx && i < n; i++)
                check_latent(ctx, data, &cases[i], !test_data_is_own(data)); // else wan_vae does
            if (ctx)
                check_experts(ctx, data);
            nino_ctx_destroy(&ctx);
        }
    }
    flow_clean();
    return 0;
}
