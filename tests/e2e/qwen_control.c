// A ControlNet of Qwen-Image for one part of the sampling, from prompt to picture, against torch
// (tests/data/make/qwen_control.py); without strength; what is refused.
#include "tests/e2e_flow.h"

static const e2e_flow flows[] = { { "qwen_own_control", "8", 1e-6 } };

static flow_result run(nino_ctx *ctx, const char *model, const char *vae, double strength)
{
    char json[2600];
    snprintf(json, sizeof(json),
             "{'1': {'class_type': 'UNETLoader', 'inputs': {'unet_name': '%s', 'weight_dtype': "
             "'default'}},"
             "'2': {'class_type': 'CLIPLoader', 'inputs': {'clip_name': "
             "'qwen_2.5_vl_7b_tiny.safetensors', 'type': 'qwen_image'}},"
             "'3': {'class_type': 'VAELoader', 'inputs': {'vae_name': '%s'}},"
             "'5': {'class_type': 'CLIPTextEncode', 'inputs': {'clip': ['2', 0], 'text': 'a'}},"
             "'7': {'class_type': 'EmptySD3LatentImage', 'inputs': {'width': 72, 'height': 40, "
             "'batch_size': 2}},"
             "'10': {'class_type': 'EmptyImage', 'inputs': {'width': 40, 'height': 64, "
             "'batch_size': 1, 'color': 16744448}},"
             "'11': {'class_type': 'ControlNetLoader', 'inputs': {'control_net_name': "
             "'qwen.safetensors'}},"
             "'12': {'class_type': 'ControlNetApplyAdvanced', 'inputs': {'positive': ['5', 0], "
             "'negative': ['5', 0], 'control_net': ['11', 0], 'image': ['10', 0], 'vae': ['3', 0], "
             "'strength': %g, 'start_percent': 0, 'end_percent': 1}},"
             "'8': {'class_type': 'KSampler', 'inputs': {'model': ['1', 0], 'positive': ['12', "
             "0], 'negative': ['12', 1], 'latent_image': ['7', 0], 'seed': 1, 'steps': 2, 'cfg': "
             "2, 'sampler_name': 'euler', 'scheduler': 'simple', 'denoise': 1}},"
             "'15': {'class_type': 'SaveLatent', 'inputs': {'samples': ['8', 0], "
             "'filename_prefix': 'l'}}}",
             model, vae, strength);
    nino_graph *g = flow_graph(json);
    const flow_result r = flow_run(ctx, g, NULL);
    nino_graph_destroy(&g);
    return r;
}

#define MODEL "qwen_image_d64.safetensors"
#define VAE "wan_2.1_vae_tiny.safetensors"

static nino_array *latent_of(nino_ctx *ctx, double strength)
{
    const flow_result r = run(ctx, MODEL, VAE, strength);
    CHECK_OK(r.st, r.err);
    CHECK(r.n_paths == 1);
    nino_weights *w = test_open("%s", r.path[0]);
    nino_array *a = test_tensor(w, "latent_tensor", false);
    nino_weights_unref(&w);
    return a;
}

static void refused(nino_ctx *ctx, const char *model, const char *vae, const char *words)
{
    const flow_result r = run(ctx, model, vae, 1);
    if (!strstr(r.err.msg, words))
        fprintf(stderr, "%d %s: %s\n", (int) r.st, r.err.where, r.err.msg);
    CHECK(r.st == NINO_ERR_ARG && strstr(r.err.msg, words));
}

int main(void)
{
    const char *data = test_data_next(NULL);
    char cmd[1400];
    snprintf(cmd, sizeof(cmd),
             "mkdir -p %s/controlnet && cp '%s/synth/control_qwen.safetensors' %s"
             "/controlnet/qwen.safetensors",
             flow_models(), data, flow_models());
    CHECK(system(cmd) == 0);
    nino_ctx *ctx = flow_open_with("ref", data, "/e2e_2026/input");
    nino_array *got[3];
    for (int i = 0; i < 3; i++) {
        got[i] = latent_of(ctx, 0.5 * i);
        for (int k = 0; k < i; k++)
            CHECK(test_nmse(got[i], got[k]) > 1e-6);
    }
    for (int i = 0; i < 3; i++)
        nino_array_unref(&got[i]);
    refused(ctx, "z_image_own.safetensors", VAE, "ControlNet of Qwen-Image");
    refused(ctx, MODEL, "flux2_vae_own.safetensors", "16 channels");
    nino_ctx_destroy(&ctx);
    return e2e_check_flows(data, flows, sizeof(flows) / sizeof(flows[0]));
}
