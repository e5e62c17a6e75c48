// ZImageFunControlnet from files to picture: against torch's latent and picture, with two pictures of
// another size and a mask; what changes the result and what does not; what is refused.
#include "tests/diffusion.h"
#include "tests/e2e_flow.h"

static const e2e_flow flows[] = { { "z_image_own_control", "8", 1e-6 } };

#define FULL "zimage_fun_own_2.1.safetensors"
#define LITE "zimage_fun_own_lite.safetensors"
#define ONE "zimage_fun_own.safetensors"
#define PICTURE "'image': ['10', 0]"
#define PAINT "'inpaint_image': ['9', 0]"

typedef struct setup {
    const char *patch, *more; // patch NULL: the sampler has the model as it is
    const char *model, *vae;
    const char *node;
    bool has_area; // two more prompts, for parts of the latent
    bool is_apart; // which cannot share an evaluation
    enum { NO_LORA, BEFORE, BEHIND } lora;
} setup;

static flow_result run(nino_ctx *ctx, setup how)
{
    char json[4100];
    snprintf(
        json, sizeof(json),
        "{'1': {'class_type': 'UNETLoader', 'inputs': {'unet_name': '%s', 'weight_dtype': "
        "'default'}},"
        "'2': {'class_type': 'CLIPLoader', 'inputs': {'clip_name': "
        "'qwen3_tiny_fp8_e4m3fn.safetensors', 'type': 'lumina2'}},"
        "'3': {'class_type': 'VAELoader', 'inputs': {'vae_name': '%s'}},"
        "'5': {'class_type': 'CLIPTextEncode', 'inputs': {'clip': ['2', 0], 'text': 'a'}},"
        "'4': {'class_type': 'CLIPTextEncode', 'inputs': {'clip': ['2', 0], 'text': 'b'}},"
        "'6': {'class_type': 'ConditioningSetArea', 'inputs': {'conditioning': ['5', 0], "
        "'width': 64, 'height': 64, 'x': 8, 'y': 8, 'strength': 1}},"
        "'18': {'class_type': 'CLIPTextEncodeControlnet', 'inputs': {'clip': ['2', 0], "
        "'conditioning': ['5', 0], 'text': 'b'}},"
        "'17': {'class_type': 'ConditioningSetArea', 'inputs': {'conditioning': ['%d', 0], "
        "'width': 64, 'height': 64, 'x': 0, 'y': 0, 'strength': 1}},"
        "'19': {'class_type': 'ConditioningCombine', 'inputs': {'conditioning_1': ['6', 0], "
        "'conditioning_2': ['17', 0]}},"
        "'16': {'class_type': 'ConditioningCombine', 'inputs': {'conditioning_1': ['5', 0], "
        "'conditioning_2': ['19', 0]}},"
        "'7': {'class_type': 'EmptySD3LatentImage', 'inputs': {'width': 72, 'height': 72, "
        "'batch_size': 2}},"
        "'9': {'class_type': 'LoadImage', 'inputs': {'image': 'tiles_72x56.png'}},"
        "'10': {'class_type': 'EmptyImage', 'inputs': {'width': 40, 'height': 64, "
        "'batch_size': 2, 'color': 16744448}},"
        "'11': {'class_type': 'SolidMask', 'inputs': {'value': 0.4, 'width': 32, 'height': 20}},"
        "'14': {'class_type': 'SolidMask', 'inputs': {'value': 1, 'width': 5, 'height': 3}},"
        "'12': {'class_type': 'ModelPatchLoader', 'inputs': {'name': '%s'}},"
        "'20': {'class_type': 'LoraLoaderModelOnly', 'inputs': {'model': ['%d', 0], 'lora_name': "
        "'own.safetensors', 'strength_model': 1}},"
        "'13': {'class_type': '%s', 'inputs': {'model': ['%d', 0], 'model_patch': ['12', 0], "
        "'vae': ['3', 0], %s}},"
        "'8': {'class_type': 'KSampler', 'inputs': {'model': ['%d', 0], 'positive': ['%d', 0], "
        "'negative': ['4', 0], 'latent_image': ['7', 0], 'seed': 1, 'steps': 2, 'cfg': 2, "
        "'sampler_name': 'euler', 'scheduler': 'simple', 'denoise': 1}},"
        "'15': {'class_type': 'SaveLatent', 'inputs': {'samples': ['8', 0], "
        "'filename_prefix': 'l'}}}",
        how.model ? how.model : "z_image_own.safetensors",
        how.vae ? how.vae : "ae_tiny.safetensors", how.is_apart ? 18 : 5,
        how.patch ? how.patch : FULL, how.lora == BEHIND ? 13 : 1,
        how.node ? how.node : "ZImageFunControlnet", how.lora == BEFORE ? 20 : 1,
        how.more ? how.more : PICTURE,
        how.lora == BEHIND ? 20
        : how.patch        ? 13
                           : 1,
        how.has_area ? 16 : 5);
    nino_graph *g = flow_graph(json);
    const flow_result r = flow_run(ctx, g, NULL);
    nino_graph_destroy(&g);
    return r;
}

static nino_array *latent_of(nino_ctx *ctx, setup how)
{
    const flow_result r = run(ctx, how);
    CHECK_OK(r.st, r.err);
    CHECK(r.n_paths == 1);
    nino_weights *w = test_open("%s", r.path[0]);
    nino_array *a = test_tensor(w, "latent_tensor", false);
    nino_weights_unref(&w);
    return a;
}

static void check_same(nino_ctx *ctx, setup how, const nino_array *want)
{
    nino_array *got = latent_of(ctx, how);
    CHECK(got->bytes == want->bytes && !memcmp(got->data, want->data, want->bytes));
    nino_array_unref(&got);
}

static void put_lora(void)
{
    static const char *const names[] = {
        "diffusion_model.layers.0.feed_forward.w1.lora_down.weight",
        "diffusion_model.layers.0.feed_forward.w1.lora_up.weight"
    };
    nino_error err = { 0 };
    nino_array *down = test_values(NINO_SHAPE(4, 32), 1), *up = test_values(NINO_SHAPE(16, 4), 2);
    const nino_st_entry e[] = { { names[0], down }, { names[1], up } };
    CHECK_OK(nino_st_save(flow_temp(), "models/loras/own.safetensors", true, e, 2, NULL, 0, &err),
             err);
    nino_array_unref(&down);
    nino_array_unref(&up);
}

// Each differs from all others.
static void check_effect(nino_ctx *ctx)
{
    static const setup list[] = {
        { .patch = NULL },
        { .patch = ONE, .more = "'strength': 1, " PICTURE },
        { .patch = ONE, .more = "'strength': -0.5, " PICTURE },
        { .patch = ONE, .more = "'strength': 1, " PICTURE, .has_area = true },
        { .patch = LITE, .more = "'strength': 1, " PICTURE },
        { .patch = FULL, .more = "'strength': 1, " PICTURE },
        { .patch = FULL, .more = "'strength': 1, " PAINT },
        { .patch = FULL, .more = "'strength': 1, " PICTURE ", " PAINT },
        { .patch = FULL, .more = "'strength': 1, " PICTURE ", " PAINT ", 'mask': ['11', 0]" },
        { .patch = FULL, .more = "'strength': 1, " PICTURE ", 'mask': ['11', 0]" },
    };
    enum { N = sizeof(list) / sizeof(list[0]) };
    nino_array *got[N];
    for (int i = 0; i < N; i++) {
        got[i] = latent_of(ctx, list[i]);
        for (int k = 0; k < i; k++)
            CHECK(got[i]->bytes == got[k]->bytes && test_nmse(got[i], got[k]) > 1e-6);
    }
    // parts that share an evaluation each see their own latent
    nino_array *apart = latent_of(
        ctx, (setup){ .patch = ONE, .more = list[3].more, .has_area = true, .is_apart = true });
    CHECK(test_nmse(apart, got[3]) < 1e-10);
    nino_array_unref(&apart);
    // a LoRA beside it, wherever it comes in
    nino_array *lora =
        latent_of(ctx, (setup){ .patch = ONE, .more = "'strength': 1, " PICTURE, .lora = BEFORE });
    CHECK(test_nmse(lora, got[1]) > 1e-6);
    check_same(ctx, (setup){ .patch = ONE, .more = "'strength': 1, " PICTURE, .lora = BEHIND },
               lora);
    nino_array_unref(&lora);
    // no strength is no patch
    check_same(ctx, (setup){ .patch = FULL, .more = "'strength': 0, " PICTURE }, got[0]);
    // where all is to be painted the other picture does not count, as if there were none
    check_same(ctx,
               (setup){ .patch = FULL,
                        .more = "'strength': 1, " PICTURE ", " PAINT ", 'mask': ['14', 0]" },
               got[5]);
    // a network that takes a hint alone goes on without the rest
    check_same(
        ctx,
        (setup){ .patch = ONE, .more = "'strength': 1, " PICTURE ", " PAINT ", 'mask': ['11', 0]" },
        got[1]);
    // the other node of these files
    check_same(ctx,
               (setup){ .patch = ONE,
                        .node = "QwenImageDiffsynthControlnet",
                        .more = "'strength': 1, " PICTURE },
               got[1]);
    for (int i = 0; i < N; i++)
        nino_array_unref(&got[i]);
}

static void refused(nino_ctx *ctx, setup how, nino_status st, const char *text)
{
    const flow_result r = run(ctx, how);
    if (r.st != st || (!strstr(r.err.msg, text) && !strstr(r.err.where, text)))
        fprintf(stderr, "%d %s: %s\n", (int) r.st, r.err.where, r.err.msg);
    CHECK(r.st == st && (strstr(r.err.msg, text) || strstr(r.err.where, text)));
}

static void check_refused(nino_ctx *ctx)
{
    refused(ctx, (setup){ .patch = ONE, .model = "flux2_klein_own.safetensors" }, NINO_ERR_ARG,
            "it is for Z-Image");
    refused(ctx, (setup){ .patch = "qwen_patch_own.safetensors" }, NINO_ERR_ARG,
            "it is for Qwen-Image");
    refused(ctx, (setup){ .patch = ONE, .model = "z_image_tiny_fp8_e4m3fn_scaled.safetensors" },
            NINO_ERR_ARG, "of width 32");
    refused(ctx, (setup){ .patch = ONE, .vae = "flux2_vae_own.safetensors" }, NINO_ERR_ARG,
            "16 channels");
    refused(ctx, (setup){ .patch = ONE, .more = PAINT }, NINO_ERR_ARG, "needs a picture");
    refused(ctx, (setup){ .patch = FULL, .more = "'mask': ['11', 0]" }, NINO_ERR_ARG,
            "here or at inpaint_image");
    refused(ctx, (setup){ .patch = "none.safetensors" }, NINO_ERR_MISSING, "none.safetensors");
}

int main(void)
{
    const char *data = test_data_next(NULL);
    put_lora();
    nino_ctx *ctx = flow_open_with("cl", data, "/e2e_2026/input");
    if (!ctx) // plain loops take longer
        ctx = flow_open_with("ref", data, "/e2e_2026/input");
    check_effect(ctx);
    check_refused(ctx);
    nino_ctx_destroy(&ctx);
    return e2e_check_flows(data, flows, sizeof(flows) / sizeof(flows[0]));
}
