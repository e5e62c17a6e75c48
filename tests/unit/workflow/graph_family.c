// What is said of a workflow before it runs: first what can never run here, the network it is made
// for among it, at last files that are missing; seeds of -1; values of another type than theirs.
#include "core/run/context.h"
#include "core/workflow/workflow.h"
#include "tests/test.h"

static nino_error err;

static void add_issue(void *priv, const nino_issue *i)
{
    char *out = priv;
    const size_t n = strlen(out);
    snprintf(out + n, 2000 - n, "%s%s.%s %s|", i->severity == NINO_ISSUE_ERROR ? "" : "~", i->node,
             i->input, i->code);
}

static nino_graph *graph_of(const char *quoted)
{
    char *json = test_quoted(quoted);
    nino_graph *g = nino_graph_load(json, strlen(json), "flow.json", &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    free(json);
    return g;
}

static const char *issues_of(const char *quoted, const nino_ctx *ctx)
{
    static char text[2000];
    nino_graph *g = graph_of(quoted);
    text[0] = 0;
    nino_graph_check(g, ctx, add_issue, text);
    nino_graph_destroy(&g);
    return text;
}

#define NODE(id, type, inputs) "'" id "': {'class_type': '" type "', 'inputs': {" inputs "}}"
#define UNET(name) NODE("2", "UNETLoader", "'unet_name': '" name "', 'weight_dtype': 'default'")
#define SHOWN(type) NODE("9", "PreviewAny", "'source': ['2', 0]") ", "
#define CLIP(type)                                                                                 \
    NODE("2", "CLIPLoader", "'clip_name': 'x', 'type': '" type "', 'device': 'default'")
#define LORA_SAVE ", " NODE("3", "ModelSave", "'model': ['2', 0], 'filename_prefix': 'x'")
#define CLIP_SAVE ", " NODE("3", "CLIPSave", "'clip': ['2', 0], 'filename_prefix': 'x'")

static bool is_made_for(const char *quoted, const char *input, const char *name)
{
    int row = 0, node = 0;
    const char *at = NULL;
    nino_graph *g = graph_of(quoted);
    nino_graph_check(g, NULL, NULL, NULL); // which nodes are wanted
    const char *got = nino_graph_next_family(g, NULL, &row, &node, &at);
    const bool same =
        (!name && !got) || (name && got && !strcmp(name, got) && !strcmp(g->nodes[node].id, "2") &&
                            !strcmp(at ? at : "", input));
    if (!same)
        fprintf(stderr, "%s: %s, by %s\n", quoted, got ? got : "nothing", at ? at : "its class");
    nino_graph_destroy(&g);
    return same;
}

static void check_families(void)
{
    static const struct {
        const char *file, *name;
    } files[] = {
        { "Qwen-Image-Layered_fp8.safetensors", "Qwen-Image-Layered" },
        { "sub/qwen_image_edit_2511_bf16.gguf", NULL },
        { "z_image_turbo_bf16.safetensors", NULL },
        { "flux\\\\\\\\flux-2-klein-base-9b-fp8.safetensors", NULL },
        { "sub\\\\\\\\lumina_2.safetensors", "Lumina 2" },
        { "chroma-unlocked-v39.safetensors", NULL },
        { "sd3.5_large_fp8_scaled.safetensors", NULL },
        { "sub/Chroma-Radiance_v0.2.safetensors", "Chroma Radiance" },
        { "hunyuanvideo1.5_720p.safetensors", "HunyuanVideo" },
        { "ltx-2-19b-dev.safetensors", "LTX-Video" },
        { "flux1-krea-dev.safetensors", NULL },
        { "chroma/wan2.2_t2v_high_noise_14B_fp16.safetensors", NULL },
        { "flux1-dev-fp8.safetensors", NULL },
        { "sd_xl_base_1.0.safetensors", NULL },
        { "dreamshaper_8.safetensors", NULL },
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char text[400];
        snprintf(text, sizeof(text), "{%s'%s'%s}",
                 "'2': {'class_type': 'UNETLoader', 'inputs': "
                 "{'weight_dtype': 'default', 'unet_name': ",
                 files[i].file, "}}" LORA_SAVE);
        CHECK(is_made_for(text, "unet_name", files[i].name));
    }
    CHECK(is_made_for("{" CLIP("qwen_image") CLIP_SAVE "}", "", NULL));
    CHECK(is_made_for("{" CLIP("chroma") CLIP_SAVE "}", "", NULL));
    CHECK(is_made_for("{" CLIP("pixart") CLIP_SAVE "}", "", NULL)); // Chroma's, too
    CHECK(is_made_for("{" CLIP("krea2") CLIP_SAVE "}", "type", "Krea 2"));
    CHECK(is_made_for("{" CLIP("wan") CLIP_SAVE "}", "", NULL));
    CHECK(is_made_for("{" CLIP("stable_diffusion") CLIP_SAVE "}", "", NULL));
    CHECK(is_made_for("{" NODE("2", "EmptyLTXVLatentVideo", "'width': 64") ", " NODE(
                          "3", "SaveLatent", "'samples': ['2', 0], 'filename_prefix': 'x'") "}",
                      "", "LTX-Video"));
    CHECK(is_made_for("{" NODE("2", "EmptySD3LatentImage", "'width': 64") ", " NODE(
                          "3", "SaveLatent", "'samples': ['2', 0], 'filename_prefix': 'x'") "}",
                      "", NULL));
    // nothing uses it
    CHECK(is_made_for("{" UNET("hidream_2.safetensors") "}", "", NULL));
}

static void check_order(void)
{
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .device = "ref" };
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    CHECK_STR(
        issues_of(
            "{" NODE("1", "VAELoader", "'vae_name': 'no such file.pt'") ", " NODE(
                "5", "VAESave",
                "'vae': ['1', 0]") ", " NODE("4", "ByteDanceImageNode",
                                             "'x': 1") ", " NODE("6", "SaveLatent",
                                                                 "'samples': 3, 'filename_prefix': "
                                                                 "'x'") ", " NODE("2", "UNETLoader",
                                                                                  "'unet_name': "
                                                                                  "'hidream.gguf', "
                                                                                  "'weight_dtype': "
                                                                                  "'default'")
                LORA_SAVE "}",
            ctx),
        "2.unet_name unsupported_model|5. unsupported_class|4. paid_service|"
        "6.samples bad_link|1.vae_name missing_file|2.unet_name missing_file|");
    nino_ctx_destroy(&ctx);
}

// What a file is called says nothing once it is there: a picture network may be named HiDream.
static void check_file_here(void)
{
    char dir[] = "/tmp/ninodes-family-XXXXXX", path[200];
    CHECK(mkdtemp(dir));
    const char *const models[] = { dir, NULL };
    const nino_job_options options = { NINO_JOB_OPTIONS_INIT, .models = models };
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .device = "ref", .job = &options };
    snprintf(path, sizeof(path), "mkdir %s/unet && : > %s/unet/hidream_mix.safetensors", dir, dir);
    CHECK(system(path) == 0);
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    const char *told = issues_of("{" UNET("hidream_mix.safetensors") LORA_SAVE "}", ctx);
    CHECK(!strstr(told, "unsupported_model"));
    told = issues_of("{" UNET("hidream_2.safetensors") LORA_SAVE "}", ctx);
    CHECK(strstr(told, "unsupported_model"));
    nino_ctx_destroy(&ctx);
    snprintf(path, sizeof(path), "rm -r %s", dir);
    CHECK(system(path) == 0);
}

// ---- values ----------------------------------------------------------------------------------

#define UI(type, values)                                                                           \
    "{'nodes': [{'id': 1, 'type': '" type "', 'widgets_values': [" values "]}]}"

// The editor keeps values as what they are; another type is another widget's.
static void check_types(void)
{
    CHECK(strstr(issues_of(UI("SaveLatent", "10"), NULL), "1.filename_prefix value|"));
    CHECK(strstr(issues_of(UI("SaveLatent", "true"), NULL), "1.filename_prefix value|"));
    CHECK(!strstr(issues_of(UI("SaveLatent", "'10'"), NULL), "filename_prefix"));
    CHECK(strstr(issues_of(UI("EmptyLatentImage", "true, 8, 1"), NULL), "~1.width value|"));
    CHECK(strstr(issues_of(UI("EmptyLatentImage", "'a prompt', 8, 1"), NULL), "~1.width value|"));
    CHECK(strstr(issues_of(UI("EmptyLatentImage", "64, 8, 100000"), NULL), "~1.batch_size range|"));
    // ComfyUI converts what comes in the API form
    CHECK(!strstr(issues_of("{" NODE("1", "SaveLatent", "'filename_prefix': 10") "}", NULL),
                  "filename_prefix"));
}

// The codec below the format, as ComfyUI writes it since 2026.
static void check_dotted(void)
{
#define VIDEO(inputs) "{" NODE("1", "SaveVideo", "'filename_prefix': 'x', " inputs) "}"
    CHECK_STR(issues_of(VIDEO("'format': 'mp4', 'format.codec': 'h264'"), NULL),
              "1.video missing_input|");
    CHECK_STR(issues_of(VIDEO("'format': 'mp4', 'format.codec': 'no'"), NULL),
              "1.video missing_input|1.codec value|");
    CHECK_STR(issues_of(VIDEO("'format': 'mp4', 'codec': 'h264', 'video-preview': ''"), NULL),
              "1.video missing_input|");
    CHECK_STR(
        issues_of(VIDEO("'format': 'mp4', 'format.codec': 'h264', "
                        "'format.codec.encoding': 're-encode', 'format.codec.encoding.crf': 9"),
                  NULL),
        "1.video missing_input|~1.format.codec.encoding ignored_input|"
        "~1.format.codec.encoding.crf ignored_input|");
}

static void check_seeds(void)
{
    static const char api[] = "{" NODE("1", "RandomNoise", "'noise_seed': -1") "}";
    static const char ui[] = "{'nodes': [{'id': 1, 'type': 'RandomNoise', 'widgets_values': [-1, "
                             "'fixed']}]}";
    CHECK(strstr(issues_of(api, NULL), "~1.noise_seed random_seed|"));
    CHECK(!strstr(issues_of(api, NULL), "range"));
    for (int i = 0; i < 2; i++) {
        uint64_t seeds[2] = { 0 };
        for (int k = 0; k < 2; k++) {
            nino_graph *g = graph_of(i ? ui : api);
            CHECK(nino_graph_undrawn(g) == &g->nodes[0]);
            CHECK_OK(nino_graph_draw_seeds(g, NULL, &err), err);
            const nino_json *v =
                nino_json_get(nino_json_get(g->nodes[0].json, "inputs"), "noise_seed");
            CHECK(nino_json_u64(v, &seeds[k]) && seeds[k] < (uint64_t) 1 << 50);
            // both forms say it
            CHECK(strstr(nino_graph_json(g, NULL), v->text));
            CHECK(!strstr(nino_graph_json(g, NULL), "-1") && !nino_graph_undrawn(g));
            CHECK_OK(nino_graph_set(g, "1.noise_seed=-1", &err), err);
            CHECK(strstr(nino_graph_json(g, NULL), "-1"));
            nino_graph_destroy(&g);
        }
        CHECK(seeds[0] != seeds[1]); // of 2^50
    }
    // none to draw: a class that nobody knows, a node without values, a seed that a link gives or that is there
    static const char *const others[] = { "{'1': {'class_type': 'Pack', 'inputs': {'seed': -1}}}",
                                          "{" NODE("1", "RandomNoise", "") "}",
                                          "{" NODE("1", "RandomNoise",
                                                   "'noise_seed': ['2', 0]") "}",
                                          "{" NODE("1", "RandomNoise", "'noise_seed': -2") "}" };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        nino_graph *g = graph_of(others[i]);
        char *before = strdup(nino_graph_json(g, NULL));
        CHECK(before && !nino_graph_undrawn(g));
        CHECK_OK(nino_graph_draw_seeds(g, NULL, &err), err);
        CHECK_STR(nino_graph_json(g, NULL), before);
        free(before);
        nino_graph_destroy(&g);
    }
}

int main(void)
{
    check_families();
    check_order();
    check_file_here();
    check_types();
    check_dotted();
    check_seeds();
    return 0;
}
