// QwenImageDiffsynthControlnet from files to picture: against torch's latent and picture, with a
// mask and a picture of another size; what changes the result and what does not; what is refused.
#include "tests/e2e_flow.h"

#include "core/run/context.h"

static const e2e_flow flows[] = { { "qwen_own_patch", "8", 1e-6 } };

#define VAE "wan_2.1_vae_tiny.safetensors"
#define MODEL                                                                                      \
    "'UNETLoader', 'inputs': {'unet_name': 'qwen_image_d64.safetensors', 'weight_dtype': "         \
    "'default'}"

typedef struct setup {
    const char *model, *vae, *patch, *more; // more: inputs of the node
    bool has_area;                          // a second prompt, for a part of the latent
} setup;

static flow_result run(nino_ctx *ctx, setup how)
{
    char json[3000];
    snprintf(json, sizeof(json),
             "{'1': {'class_type': %s},"
             "'2': {'class_type': 'CLIPLoader', 'inputs': {'clip_name': "
             "'qwen_2.5_vl_7b_tiny.safetensors', 'type': 'qwen_image'}},"
             "'3': {'class_type': 'VAELoader', 'inputs': {'vae_name': '%s'}},"
             "'5': {'class_type': 'CLIPTextEncode', 'inputs': {'clip': ['2', 0], 'text': 'a'}},"
             "'6': {'class_type': 'ConditioningSetArea', 'inputs': {'conditioning': ['5', 0], "
             "'width': 64, 'height': 64, 'x': 16, 'y': 8, 'strength': 1}},"
             "'9': {'class_type': 'ConditioningCombine', 'inputs': {'conditioning_1': ['5', 0], "
             "'conditioning_2': ['6', 0]}},"
             "'7': {'class_type': 'EmptySD3LatentImage', 'inputs': {'width': 96, 'height': 72, "
             "'batch_size': 2}},"
             "'10': {'class_type': 'EmptyImage', 'inputs': {'width': 40, 'height': 64, "
             "'batch_size': 2, 'color': 16744448}},"
             "'11': {'class_type': 'SolidMask', 'inputs': {'value': 0.7, 'width': 32, 'height': "
             "20}},"
             "'14': {'class_type': 'SolidMask', 'inputs': {'value': 0, 'width': 5, 'height': 3}},"
             "'12': {'class_type': 'ModelPatchLoader', 'inputs': {'name': '%s'}},"
             "'13': {'class_type': 'QwenImageDiffsynthControlnet', 'inputs': {'model': ['1', 0], "
             "'model_patch': ['12', 0], 'vae': ['3', 0], 'image': ['10', 0], %s}},"
             "'8': {'class_type': 'KSampler', 'inputs': {'model': ['13', 0], 'positive': ['%d', "
             "0], 'negative': ['5', 0], 'latent_image': ['7', 0], 'seed': 1, 'steps': 2, 'cfg': 2, "
             "'sampler_name': 'euler', 'scheduler': 'simple', 'denoise': 1}},"
             "'15': {'class_type': 'SaveLatent', 'inputs': {'samples': ['8', 0], "
             "'filename_prefix': 'l'}}}",
             how.model ? how.model : MODEL, how.vae ? how.vae : VAE, how.patch, how.more,
             how.has_area ? 9 : 5);
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

#define PLAIN "qwen_patch_own.safetensors"
#define MASKED "qwen_patch_own_mask.safetensors"

// Each differs from all others.
static void check_effect(nino_ctx *ctx)
{
    static const setup list[] = {
        { .patch = PLAIN, .more = "'strength': 0" },
        { .patch = PLAIN, .more = "'strength': 1" },
        { .patch = PLAIN, .more = "'strength': -0.5" },
        { .patch = MASKED, .more = "'strength': 1" },
        { .patch = MASKED, .more = "'strength': 1, 'mask': ['11', 0]" },
        { .patch = PLAIN, .more = "'strength': 1", .has_area = true },
    };
    enum { N = sizeof(list) / sizeof(list[0]) };
    nino_array *got[N];
    for (int i = 0; i < N; i++) {
        got[i] = latent_of(ctx, list[i]);
        for (int k = 0; k < i; k++)
            CHECK(got[i]->bytes == got[k]->bytes &&
                  memcmp(got[i]->data, got[k]->data, got[i]->bytes) != 0);
    }
    // nothing to paint is no mask; a network that takes none goes on without
    nino_array *same[] = {
        latent_of(ctx, (setup){ .patch = MASKED, .more = "'strength': 1, 'mask': ['14', 0]" }),
        latent_of(ctx, (setup){ .patch = PLAIN, .more = "'strength': 1, 'mask': ['11', 0]" })
    };
    CHECK(!memcmp(same[0]->data, got[3]->data, got[3]->bytes));
    CHECK(!memcmp(same[1]->data, got[1]->data, got[1]->bytes));
    nino_array_unref(&same[0]);
    nino_array_unref(&same[1]);
    for (int i = 0; i < N; i++)
        nino_array_unref(&got[i]);
}

static void refused(nino_ctx *ctx, setup how, nino_status st, const char *text)
{
    how.more = "'strength': 1";
    const flow_result r = run(ctx, how);
    if (r.st != st || (!strstr(r.err.msg, text) && !strstr(r.err.where, text)))
        fprintf(stderr, "%d %s: %s\n", (int) r.st, r.err.where, r.err.msg);
    CHECK(r.st == st && (strstr(r.err.msg, text) || strstr(r.err.where, text)));
}

static void count(void *n, const nino_value *v) { *(int *) n += v->type == NINO_PORT_MODEL_PATCH; }

int main(void)
{
    const char *data = test_data_next(NULL);
    nino_ctx *ctx = flow_open("ref", data);
    int n = 0;
    check_effect(ctx);
    nino_ctx_each_object(ctx, count, &n);
    CHECK(n == 2); // of two files, whatever the number of nodes that opened them
    refused(ctx,
            (setup){ .model = "'CheckpointLoaderSimple', 'inputs': {'ckpt_name': "
                              "'sd15_tiny.safetensors'}",
                     .patch = PLAIN },
            NINO_ERR_ARG, "it is for Qwen-Image");
    refused(ctx, (setup){ .vae = "flux2_vae_own.safetensors", .patch = PLAIN }, NINO_ERR_ARG,
            "16 channels");
    refused(ctx, (setup){ .patch = "none.safetensors" }, NINO_ERR_MISSING, "none.safetensors");
    nino_ctx_destroy(&ctx);
    return e2e_check_flows(data, flows, sizeof(flows) / sizeof(flows[0]));
}
