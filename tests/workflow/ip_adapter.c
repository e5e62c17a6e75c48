// IP-Adapters in a workflow: a picture changes what a UNet makes, where, when and as much as the
// nodes say; presets find their files; files that are none, or of another kind, are named.
#include "core/run/context.h"
#include "tests/flow.h"
#include "tests/random_net.h"
#include "tests/random_text.h"

enum { LAYERS = 11, WIDTH = 32, EYE = 24 }; // of sd15_tiny

static nino_ctx *ctx;

static void make_eye(const char *name)
{
    const random_text t = { .width = EYE,
                            .layers = 2,
                            .mlp = 32,
                            .patch = 4,
                            .side = 3,
                            .has_projection = true,
                            .projection = EYE };
    test_dir root = { "" };
    char cmd[200];
    snprintf(cmd, sizeof(cmd), "mkdir -p %s/models/clip_vision %s/models/ipadapter", flow_temp(),
             flow_temp());
    CHECK(system(cmd) == 0);
    snprintf(root.path, sizeof(root.path), "%s", flow_temp());
    nino_weights *w =
        random_text_file(&root, nino_name_of("models/clip_vision/%s", name).s, &t, 1, NULL);
    nino_weights_unref(&w);
}

static void make_adapter(const char *name, int layers, int in, const char *extra)
{
    net_list l = { 0 };
    const int64_t tokens = 4 * WIDTH;
    net_linear(&l, tokens, in, true, "image_proj.proj");
    net_norm(&l, WIDTH, "image_proj.norm");
    for (int i = 0; i < layers; i++) {
        net_linear(&l, WIDTH, WIDTH, false, "ip_adapter.%d.to_k_ip", 2 * i + 1);
        net_linear(&l, WIDTH, WIDTH, false, "ip_adapter.%d.to_v_ip", 2 * i + 1);
    }
    if (extra)
        net_linear(&l, 4, 4, false, "%s", extra);
    net_save(&l, nino_name_of("%s/models/ipadapter/%s", flow_temp(), name).s, NINO_F32, NET_RANDOM);
}

// node: the one that patches, as "class_type ... inputs" without model, ipadapter and image.
static flow_result run(const char *file, const char *node)
{
    char json[3000];
    snprintf(json, sizeof(json),
             "{'1': {'class_type': 'CheckpointLoaderSimple', 'inputs': {'ckpt_name': "
             "'sd15_tiny.safetensors'}},"
             "'2': {'class_type': 'CLIPTextEncode', 'inputs': {'clip': ['1', 1], 'text': 'a'}},"
             "'3': {'class_type': 'EmptyLatentImage', 'inputs': {'width': 64, 'height': 80, "
             "'batch_size': 1}},"
             "'4': {'class_type': 'EmptyImage', 'inputs': {'width': 20, 'height': 16, "
             "'batch_size': 2, 'color': 16744448}},"
             "'5': {'class_type': 'CLIPVisionLoader', 'inputs': {'clip_name': "
             "'CLIP-ViT-H-14-laion2B-s32B-b79K.safetensors'}},"
             "'6': {'class_type': 'IPAdapterModelLoader', 'inputs': {'ipadapter_file': '%s'}},"
             "'7': {'class_type': 'SolidMask', 'inputs': {'value': 0, 'width': 64, 'height': 80}},"
             "'8': {'class_type': 'IPAdapterUnifiedLoader', 'inputs': {'model': ['1', 0], "
             "'preset': 'PLUS (high strength)'}},"
             "'9': %s,"
             "'10': {'class_type': 'KSampler', 'inputs': {'model': ['9', 0], 'positive': ['2', 0], "
             "'negative': ['2', 0], 'latent_image': ['3', 0], 'seed': 1, 'steps': 3, 'cfg': 3, "
             "'sampler_name': 'euler', 'scheduler': 'normal', 'denoise': 1}},"
             "'11': {'class_type': 'SaveLatent', 'inputs': {'samples': ['10', 0], "
             "'filename_prefix': 'l'}}}",
             file, node);
    nino_graph *g = flow_graph(json);
    const flow_result r = flow_run(ctx, g, NULL);
    nino_graph_destroy(&g);
    return r;
}

static nino_array *latent_of(const char *file, const char *node)
{
    flow_result r = run(file, node);
    CHECK_OK(r.st, r.err);
    CHECK(r.n_paths == 1 && r.last_total > 1);
    nino_weights *w = test_open("%s", r.path[0]);
    nino_array *a = test_tensor(w, "latent_tensor", false);
    nino_weights_unref(&w);
    return a;
}

#define ADVANCED(weight, kind, combine, from, to, more)                                            \
    "{'class_type': 'IPAdapterAdvanced', 'inputs': {'model': ['1', 0], 'ipadapter': ['6', 0], "    \
    "'image': ['4', 0], 'clip_vision': ['5', 0], 'weight': " weight ", 'weight_type': '" kind      \
    "', 'combine_embeds': '" combine "', 'start_at': " from ", 'end_at': " to                      \
    ", 'embeds_scaling': 'V only'" more "}}"

static void check_effect(void)
{
    static const char *const same[] = {
        ADVANCED("0", "linear", "concat", "0", "1", ""),
        ADVANCED("1", "linear", "concat", "0", "1", ", 'attn_mask': ['7', 0]"),
        ADVANCED("1", "linear", "concat", "1", "1", ""), // over before it begins
    };
    static const char *const other[] = {
        ADVANCED("1", "linear", "concat", "0", "1", ""),
        ADVANCED("1", "linear", "add", "0", "1", ""),
        ADVANCED("1", "linear", "concat", "0", "0.4", ""),
        ADVANCED("1", "ease out", "concat", "0", "1", ""),
        ADVANCED("1", "weak middle", "concat", "0", "1", ""),
        ADVANCED("1", "style transfer", "concat", "0", "1", ""),
        ADVANCED("1", "composition", "concat", "0", "1", ""),
        ADVANCED("1", "linear", "concat", "0", "1", ", 'image_negative': ['4', 0]"),
    };
    enum { OTHERS = sizeof(other) / sizeof(other[0]) };
    nino_array *none = latent_of("ip.safetensors", same[0]), *got[OTHERS];
    for (int i = 1; i < 3; i++) {
        nino_array *a = latent_of("ip.safetensors", same[i]);
        CHECK(a->bytes == none->bytes && !memcmp(a->data, none->data, a->bytes));
        nino_array_unref(&a);
    }
    for (int i = 0; i < OTHERS; i++) {
        got[i] = latent_of("ip.safetensors", other[i]);
        CHECK(memcmp(got[i]->data, none->data, none->bytes) != 0);
        for (int k = 0; k < i; k++)
            CHECK(memcmp(got[i]->data, got[k]->data, none->bytes) != 0);
    }
    // two pictures that are alike are one, and their mean is one of them
    nino_array *mean =
        latent_of("ip.safetensors", ADVANCED("1", "linear", "average", "0", "1", ""));
    double diff = 0;
    for (int64_t i = 0; i < nino_shape_count(&mean->shape); i++)
        diff =
            fmax(diff, fabs((double) nino_array_f32(mean)[i] - (double) nino_array_f32(got[0])[i]));
    CHECK(diff < 1e-4);
    nino_array_unref(&mean);
    nino_array_unref(&none);
    for (int i = 0; i < OTHERS; i++)
        nino_array_unref(&got[i]);
}

static void refused(const char *file, const char *node, nino_status st, const char *text)
{
    const flow_result r = run(file, node);
    if (r.st != st || (!strstr(r.err.msg, text) && !strstr(r.err.where, text)))
        fprintf(stderr, "%d %s: %s\n", (int) r.st, r.err.where, r.err.msg);
    CHECK(r.st == st && (strstr(r.err.msg, text) || strstr(r.err.where, text)));
}

static void count(void *n, const nino_value *v) { *(int *) n += v->type == NINO_PORT_IPADAPTER; }

int main(void)
{
    static const char *const plain = ADVANCED("1", "linear", "concat", "0", "1", "");
    static const char *const simple =
        "{'class_type': 'IPAdapter', 'inputs': {'model': ['1', 0], 'ipadapter': ['6', 0], 'image': "
        "['4', 0], 'weight': 1, 'start_at': 0, 'end_at': 1, 'weight_type': 'standard'}}";
    static const char *const unified =
        "{'class_type': 'IPAdapter', 'inputs': {'model': ['8', 0], 'ipadapter': ['8', 1], 'image': "
        "['4', 0], 'weight': 1, 'start_at': 0, 'end_at': 1, 'weight_type': 'standard'}}";
    int n = 0;
    make_eye("CLIP-ViT-H-14-laion2B-s32B-b79K.safetensors");
    make_adapter("ip.safetensors", LAYERS, EYE, NULL);
    make_adapter("narrow.safetensors", LAYERS, EYE + 1, NULL);
    make_adapter("short.safetensors", LAYERS - 1, EYE, NULL);
    make_adapter("face.safetensors", LAYERS, EYE, "ip_adapter.0.to_q_lora.down");
    ctx = flow_open("ref", test_data_next(NULL));
    check_effect();
    nino_ctx_each_object(ctx, count, &n);
    CHECK(n == 1);
    refused("narrow.safetensors", plain, NINO_ERR_FORMAT, "narrow.safetensors");
    refused("short.safetensors", plain, NINO_ERR_ARG, "10 cross-attentions");
    refused("face.safetensors", plain, NINO_ERR_UNSUPPORTED, "FaceID");
    refused("ip.safetensors", simple, NINO_ERR_ARG, "CLIP vision");
    refused("ip.safetensors", ADVANCED("1", "style transfer precise", "concat", "0", "1", ""),
            NINO_ERR_FORMAT, "style transfer precise");
    refused("ip.safetensors", unified, NINO_ERR_MISSING, "plus");
    make_adapter("ip-adapter-plus_sd15.safetensors", LAYERS, EYE, NULL);
    nino_array *a = latent_of("ip.safetensors", unified), *b = latent_of("ip.safetensors", plain);
    CHECK(!memcmp(a->data, b->data, a->bytes)); // random, but the same
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
