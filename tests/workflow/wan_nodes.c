// Wan's conditioning nodes in whole workflows: tiny networks of random weights for pictures and for
// videos to follow, the test data's VAE and text encoder; every frame is decoded, and what is shown
// to the network makes a difference.
#include "core/media/png.h"
#include "tests/e2e.h"
#include "tests/random_net.h"

static const char *assets;

static nino_ctx *open_ctx(void)
{
    static char models[512], own[512], output[512];
    const char *roots[] = { models, own, NULL };
    nino_error err = { 0 };
    snprintf(models, sizeof(models), "%s/models", assets);
    snprintf(own, sizeof(own), "%s/models", flow_temp());
    snprintf(output, sizeof(output), "%s/output", flow_temp());
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .device = "ref",
                                .job = &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = roots,
                                                            .output_dir = output } };
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    return ctx;
}

static void save_net(const net_wan *net, const char *name)
{
    net_list l = net_list_wan(net, NULL);
    char path[256];
    snprintf(path, sizeof(path), "%s/models/diffusion_models/%s", flow_temp(), name);
    net_save(&l, path, NINO_F32, NET_RANDOM);
}

// `node` with these inputs makes conditioning and latent; one step is sampled and decoded.
static flow_result run(nino_ctx *ctx, const char *net, const char *node, const char *inputs)
{
    char json[3000];
    snprintf(json, sizeof(json),
             "{'1': {'class_type': 'UNETLoader', 'inputs': {'unet_name': '%s', 'weight_dtype': "
             "'default'}}, '2': {'class_type': 'CLIPLoader', 'inputs': {'clip_name': "
             "'umt5_tiny.safetensors', 'type': 'wan'}}, '3': {'class_type': 'VAELoader', 'inputs': "
             "{'vae_name': 'wan_2.1_vae_tiny.safetensors'}}, '4': {'class_type': 'CLIPTextEncode', "
             "'inputs': {'text': 'a cat', 'clip': ['2', 0]}}, '5': {'class_type': 'EmptyImage', "
             "'inputs': {'width': 40, 'height': 40, 'batch_size': 1, 'color': 16711680}}, '6': "
             "{'class_type': 'EmptyImage', 'inputs': {'width': 48, 'height': 32, 'batch_size': 5, "
             "'color': 65280}}, '7': {'class_type': '%s', 'inputs': {'positive': ['4', 0], "
             "'negative': ['4', 0], 'vae': ['3', 0], 'width': 32, 'height': 16, 'length': 5, "
             "'batch_size': 1%s}}, '8': {'class_type': 'KSampler', 'inputs': {'seed': 3, 'steps': "
             "1, 'cfg': 1, 'sampler_name': 'euler', 'scheduler': 'simple', 'denoise': 1, 'model': "
             "['1', 0], 'positive': ['7', 0], 'negative': ['7', 1], 'latent_image': ['7', 2]}}, "
             "'9': {'class_type': 'VAEDecode', 'inputs': {'samples': ['8', 0], 'vae': ['3', 0]}}, "
             "'10': {'class_type': 'SaveImage', 'inputs': {'filename_prefix': 'w', 'images': "
             "['9', 0]}}}",
             net, node, inputs);
    nino_graph *g = flow_graph(json);
    const flow_result r = flow_run(ctx, g, NULL);
    nino_graph_destroy(&g);
    CHECK_OK(r.st, r.err);
    return r;
}

static double difference(const flow_result *a, const flow_result *b)
{
    double sum = 0;
    CHECK(a->n_paths == b->n_paths);
    for (size_t i = 0; i < a->n_paths; i++) {
        nino_png x = e2e_png(a->path[i]), y = e2e_png(b->path[i]);
        CHECK(x.pixels->shape.dim[1] == 16 && x.pixels->shape.dim[2] == 32);
        CHECK(nino_shape_equal(&x.pixels->shape, &y.pixels->shape));
        for (int64_t k = 0; k < nino_shape_count(&x.pixels->shape); k++)
            sum +=
                fabs((double) nino_array_f32(x.pixels)[k] - (double) nino_array_f32(y.pixels)[k]);
        nino_png_release(&x);
        nino_png_release(&y);
    }
    return sum;
}

// Nothing, a first picture, a last one too, all of which the network tells apart.
static void pictures(nino_ctx *ctx)
{
    const flow_result r[] = {
        run(ctx, "i2v.safetensors", "WanImageToVideo", ""),
        run(ctx, "i2v.safetensors", "WanImageToVideo", ", 'start_image': ['5', 0]"),
        run(ctx, "i2v.safetensors", "WanFirstLastFrameToVideo", ", 'start_image': ['5', 0]"),
        run(ctx, "i2v.safetensors", "WanFirstLastFrameToVideo",
            ", 'start_image': ['5', 0], 'end_image': ['6', 0]"),
    };
    for (int i = 0; i < 4; i++)
        CHECK(r[i].n_paths == 5);
    CHECK(difference(&r[0], &r[1]) > 0);
    CHECK(difference(&r[1], &r[2]) == 0); // the same without an end
    CHECK(difference(&r[2], &r[3]) > 0);
}

// A video to follow, and how much; a reference is a latent frame more, to be cut off by the user.
static void follow(nino_ctx *ctx)
{
    const flow_result none = run(ctx, "vace.safetensors", "WanVaceToVideo", ", 'strength': 1"),
                      video = run(ctx, "vace.safetensors", "WanVaceToVideo",
                                  ", 'strength': 1, 'control_video': ['6', 0]"),
                      weak = run(ctx, "vace.safetensors", "WanVaceToVideo",
                                 ", 'strength': 0, 'control_video': ['6', 0]"),
                      ref = run(ctx, "vace.safetensors", "WanVaceToVideo",
                                ", 'strength': 1, 'reference_image': ['5', 0]");
    CHECK(none.n_paths == 5 && video.n_paths == 5 && weak.n_paths == 5);
    CHECK(ref.n_paths == 9); // one latent frame more is four
    CHECK(difference(&none, &video) > 0 && difference(&video, &weak) > 0);
}

// What measures a model measures every Wan: one latent frame of its channels.
static void measured(nino_ctx *ctx, const char *net, const char *node, const char *expected)
{
    char json[1200];
    snprintf(json, sizeof(json),
             "{'1': {'class_type': 'UNETLoader', 'inputs': {'unet_name': '%s', 'weight_dtype': "
             "'default'}}, '2': {'class_type': 'CLIPLoader', 'inputs': {'clip_name': "
             "'umt5_tiny.safetensors', 'type': 'wan'}}, '3': {'class_type': 'VAELoader', 'inputs': "
             "{'vae_name': 'wan_2.1_vae_tiny.safetensors'}}, '4': {'class_type': '%s', 'inputs': "
             "{'model': ['1', 0]%s}}}",
             net, node,
             strstr(node, "Flux") ? ", 'vae': ['3', 0], 'clip': ['2', 0], 'test_resolutions': "
                                    "'16x16', 'test_steps': 2, 'test_cfg_values': '1,4', "
                                    "'test_hipblas': true, 'generate_report': true"
                                  : ", 'test_steps': 20");
    nino_graph *g = flow_graph(json);
    const flow_result r = flow_run(ctx, g, NULL);
    nino_graph_destroy(&g);
    CHECK_OK(r.st, r.err);
    CHECK(r.n_texts >= 3 && strstr(r.text[2], expected) && r.n_steps == 0);
}

int main(void)
{
    static const net_wan t2v = { 128, 96, 1, 16, 16, 32, 0, 0, 0 };
    static const net_wan large = { 128, 96, 1, 48, 48, 32, 0, 0, 0 }; // 2.2 5B
    static const net_wan i2v = { 128, 96, 1, 36, 16, 32, 0, 0, 0 };
    static const net_wan vace = { 128, 96, 2, 16, 16, 32, 0, 0, 1 };
    char cmd[200];
    assets = test_models();
    snprintf(cmd, sizeof(cmd), "mkdir -p %s/models/diffusion_models", flow_temp());
    CHECK(system(cmd) == 0);
    save_net(&i2v, "i2v.safetensors");
    save_net(&vace, "vace.safetensors");
    save_net(&t2v, "t2v.safetensors");
    save_net(&large, "large.safetensors");
    nino_ctx *ctx = open_ctx();
    pictures(ctx);
    follow(ctx);
    measured(ctx, "t2v.safetensors", "ROCMSamplerPerformanceMonitor", "precision_mode: ");
    measured(ctx, "large.safetensors", "ROCMSamplerPerformanceMonitor", "precision_mode: ");
    measured(ctx, "i2v.safetensors", "ROCMFluxBenchmark", "a step against cfg 1: ");
    measured(ctx, "vace.safetensors", "ROCMFluxBenchmark", "a step against cfg 1: ");
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
