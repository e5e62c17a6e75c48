// ROCMFluxBenchmark on the small models: every resolution with every cfg, one line each; what does
// not fit is said and the rest goes on; malformed lists are refused before anything runs. What is
// measured is the demo's network: a step of it is short, whatever the size of the picture.
#include "core/op/backend.h"
#include "core/op/engine.h"
#include "core/run/context.h"
#include "tests/flow.h"
#include "tests/random_tiny.h"

#define LOADERS                                                                                    \
    "'1': {'class_type': 'UNETLoader', 'inputs': {'unet_name': 'flux_tiny.safetensors', "          \
    "'weight_dtype': 'default'}}, "                                                                \
    "'2': {'class_type': 'DualCLIPLoader', 'inputs': {'clip_name1': 't5xxl_tiny.safetensors', "    \
    "'clip_name2': 'clip_l_tiny.safetensors', 'type': 'flux'}}, "                                  \
    "'3': {'class_type': 'VAELoader', 'inputs': {'vae_name': '%s'}}, "

#define DEMO                                                                                       \
    "'1': {'class_type': 'CheckpointLoaderSimple', 'inputs': {'ckpt_name': "                       \
    "'demo_flux.safetensors'}}, "

static const char *hipblas = "true";

// from: the nodes and outputs of model, clip and vae.
static flow_result bench_of(nino_ctx *ctx, const char *loaders, const char *from, const char *sizes,
                            const char *cfgs, const char *report)
{
    char json[2048];
    snprintf(json, sizeof(json),
             "{%s'4': {'class_type': 'ROCMFluxBenchmark', 'inputs': {%s, 'test_resolutions': '%s', "
             "'test_steps': 2, 'test_cfg_values': '%s', 'test_hipblas': %s, 'generate_report': "
             "%s}}}",
             loaders, from, sizes, cfgs, hipblas, report);
    nino_graph *g = flow_graph(json);
    const flow_result r = flow_run(ctx, g, NULL);
    nino_graph_destroy(&g);
    return r;
}

static flow_result bench_demo(nino_ctx *ctx, const char *sizes, const char *cfgs,
                              const char *report)
{
    return bench_of(ctx, DEMO, "'model': ['1', 0], 'clip': ['1', 1], 'vae': ['1', 2]", sizes, cfgs,
                    report);
}

static flow_result bench(nino_ctx *ctx, const char *vae, const char *sizes, const char *cfgs,
                         const char *report)
{
    char loaders[600];
    snprintf(loaders, sizeof(loaders), LOADERS, vae);
    return bench_of(ctx, loaders, "'model': ['1', 0], 'clip': ['2', 0], 'vae': ['3', 0]", sizes,
                    cfgs, report);
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        n++;
    return n;
}

static void pictures(nino_ctx *ctx)
{
    const flow_result r = bench_demo(ctx, " 32x16,16X32 ", "1.0, 3.5", "true");
    CHECK_OK(r.st, r.err);
    CHECK(r.n_texts == 4);
    for (int i = 0; i < 4; i++) {
        CHECK(!strstr(r.text[i], "nan") && !strstr(r.text[i], "inf"));
        CHECK(count(r.text[i], "32x16") >= 2 && count(r.text[i], "16x32") >= 2);
    }
    CHECK(strstr(r.text[0], "32x16, cfg 1: ") && strstr(r.text[0], "16x32, cfg 3.5: "));
    CHECK(count(r.text[0], "s a step (median of ") == 4);
    CHECK(count(r.text[1], "\n") == 5 && count(r.text[1], "#") > 4);
    CHECK(count(r.text[2], "; a step against cfg 1: ") == 2 && r.n_steps == 0 && r.n_tiles == 0);
    CHECK(count(r.text[2], "% denoise") == 4 && strstr(r.text[2], "Cheapest for its size"));
    CHECK(strstr(r.text[3], "Weights as stored: model ") && strstr(r.text[3], "Peaks: text "));

    const flow_result only = bench_demo(ctx, "16x16", "1", "false");
    CHECK_OK(only.st, only.err);
    CHECK(only.n_texts == 1 && strstr(only.text[0], "16x16, cfg 1: "));
}

// Who multiplies is as the context has it, but with the switch off; ref only says it, as it has no choice.
static void engines(nino_ctx *ctx)
{
    nino_profile *p = &nino_ctx_backend(ctx)->profile;
    p->has_blas = true;
    p->gemm = NINO_GEMM_CLBLAST;
    CHECK_STR(nino_engine_text(p), "CLBlast");
    hipblas = "false";
    const flow_result r = bench_demo(ctx, "16x16", "1", "false");
    CHECK(r.n_texts == 1 && strstr(r.text[0], "\nLinear layers: ninodes' kernels\n"));
    CHECK(p->gemm == NINO_GEMM_CLBLAST);
    hipblas = "true";
}

static void refused(nino_ctx *ctx, const char *sizes, const char *cfgs, const char *where)
{
    const flow_result r = bench(ctx, "ae_tiny.safetensors", sizes, cfgs, "true");
    CHECK(r.st && !r.ran[0]);
    CHECK_STR(r.err.kind, "value");
    CHECK(strstr(r.err.where, where));
}

static void mistakes(nino_ctx *ctx)
{
    static const char *const sizes[] = {
        "",       "512",      "512x",         "x512",  "8x512",
        "0x-512", "512x512x", "512x99999999", "a x b", "512.5x512"
    };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        refused(ctx, sizes[i], "1", "test_resolutions");
    refused(ctx, "64x64", "", "test_cfg_values");
    refused(ctx, "64x64", "1,two", "test_cfg_values");
    refused(ctx, "64x64", "-1", "test_cfg_values");
    refused(ctx, "64x64", "nan", "test_cfg_values");
    refused(ctx, "64x64", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "test_cfg_values");
    const flow_result r = bench(ctx, "taesd", "64x64", "1", "true"); // four channels, not sixteen
    CHECK(r.st == NINO_ERR_ARG && strstr(r.err.where, "4 ROCMFluxBenchmark"));
    CHECK(strstr(r.err.msg, "its latents have 4 channels, the model's have 16"));
}

// The large picture does not fit 160 MiB, the small one does.
static void little_memory(const char *assets)
{
    char models[512];
    nino_error err = { 0 };
    snprintf(models, sizeof(models), "%s/models", assets);
    const char *roots[] = { models, NULL };
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .device = "ref",
                                .mem_limit = (uint64_t) 160 << 20,
                                .job = &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = roots,
                                                            .output_dir = flow_temp() } };
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    const flow_result r = bench(ctx, "taef1", "16x16,4096x4096", "1", "true");
    CHECK_OK(r.st, r.err);
    CHECK(strstr(r.text[0], "s a step (median of "));
    CHECK(strstr(r.text[0], "4096x4096, cfg 1: not enough memory: "));
    CHECK(strstr(r.text[2], "4096x4096, cfg 1 does not fit this device"));
    const flow_result none = bench(ctx, "taef1", "4096x4096", "1", "true");
    CHECK(none.st == NINO_ERR_NOMEM);
    nino_ctx_destroy(&ctx);
}

int main(void)
{
    const char *assets = test_models();
    random_tiny_approx(flow_models());
    nino_ctx *ctx = flow_open("ref", assets);
    mistakes(ctx);
    nino_ctx_destroy(&ctx);
    ctx = flow_open("ref", "data/demo");
    pictures(ctx);
    engines(ctx);
    nino_ctx_destroy(&ctx);
    if (test_assets())
        little_memory(assets);
    else // a small network would need no more than there is
        test_skip_part("a picture that does not fit");
    flow_clean();
    return 0;
}
