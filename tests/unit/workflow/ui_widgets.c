// widgets_values: names for the values of every version of a class, and values that are changed.
#include "core/workflow/workflow.h"
#include "core/node/table/known.h"
#include "tests/prompt.h"

static nino_graph *load(const char *json)
{
    nino_error err = { 0 };
    nino_graph *g = nino_graph_load(json, strlen(json), "flow.json", &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    return g;
}

// ---- names -----------------------------------------------------------------------------------

// class, widgets_values, inputs
static const char *const orders[][3] = {
    // stock classes: what follows a seed and a picture is no input; old switches, none at all
    { "RandomNoise", "[5, \"randomize\"]", "\"noise_seed\": 5" },
    { "SamplerCustom", "[true, 5, \"fixed\", 8]",
      "\"add_noise\": true, \"noise_seed\": 5, \"cfg\": 8" },
    { "KSampler", "[5, true, 20, 8, \"euler\", \"simple\", 1]",
      "\"seed\": 5, \"steps\": 20, \"cfg\": 8, \"sampler_name\": \"euler\", \"scheduler\": "
      "\"simple\", \"denoise\": 1" },
    { "KSampler", "[18446744073709551615, \"fixed\", 20, 8, \"euler\", \"simple\"]",
      "\"seed\": 18446744073709551615, \"steps\": 20, \"cfg\": 8, \"sampler_name\": \"euler\", "
      "\"scheduler\": \"simple\"" },
    { "PrimitiveInt", "[3, \"increment\"]", "\"value\": 3" },
    { "LoadImage", "[\"a.png\", \"image\"]", "\"image\": \"a.png\"" },
    { "LoadImage", "[\"a.png\"]", "\"image\": \"a.png\"" },
    { "LoadImageMask", "[\"a.png\", \"red\", \"image\"]",
      "\"image\": \"a.png\", \"channel\": \"red\"" },
    { "LoadImageMask", "[\"a.png\", \"image\", \"red\"]",
      "\"image\": \"a.png\", \"channel\": \"red\"" },
    { "CLIPTextEncode", "[\"a\", \"of another widget\"]", "\"text\": \"a\"" },
    { "UNETLoader", "{\"weight_dtype\": \"default\", \"unet_name\": \"u\", \"other\": 1}",
      "\"unet_name\": \"u\", \"weight_dtype\": \"default\"" },
    { "EmptyLatentImage", "null", "" },
    { "PrimitiveInt", "[3, \"increment-wrap\"]", "\"value\": 3" },
    { "LoadImage", "[\"a.png\", \"\"]", "\"image\": \"a.png\"" },
    { "LoadImage", "[\"a.png\", \"video\"]", "\"image\": \"a.png\"" },
    { "LoadImage", "[\"a.png\", \"audio\"]", "\"image\": \"a.png\"" },
    // what cannot be a widget's value is given all the same, and refused later by its name
    { "EmptyLatentImage", "[{\"a\": 1}, [2], 1]",
      "\"width\": {\"a\": 1}, \"height\": {\"__value__\": [2]}, \"batch_size\": 1" },
    { "EmptyLatentImage", "[64, 1.5, null]",
      "\"width\": 64, \"height\": 1.5, \"batch_size\": null" },
    { "EmptyLatentImage", "{\"height\": 5, \"upload\": 1, \"$$x\": 2, \"other\": [3]}",
      "\"height\": 5" },
    { "EmptyLatentImage", "7", "" },
    { "EmptyLatentImage", "\"text\"", "" },

    // extensions: objects, values of the editor alone, values of formats, switches that became words
    { "Power Lora Loader (rgthree)",
      "[{}, {\"type\": \"PowerLoraLoaderHeaderWidget\"}, {\"on\": true, \"lora\": \"a\", "
      "\"strength\": 1}, {\"on\": false, \"lora\": \"b\", \"strength\": 2, \"strengthTwo\": "
      "3}, {}, \"\"]",
      "\"lora_1\": {\"on\": true, \"lora\": \"a\", \"strength\": 1}, \"lora_2\": {\"on\": "
      "false, \"lora\": \"b\", \"strength\": 2, \"strengthTwo\": 3}" },
    { "Seed (rgthree)", "[5, null, null, null]", "\"seed\": 5" },
    { "ShowText|pysssss", "[[\"shown\"]]", "" },
    { "ShowText|pysssss", "[\"\", \"shown\"]", "" },
    { "mxSlider", "[20, 20, 0]", "\"Xi\": 20, \"Xf\": 20, \"isfloatX\": 0" },
    { "VHS_VideoCombine",
      "{\"frame_rate\": 8, \"loop_count\": 0, \"filename_prefix\": \"a\", \"format\": "
      "\"video/h264-mp4\", \"pix_fmt\": \"yuv420p\", \"crf\": 19, \"pingpong\": false, "
      "\"save_output\": true, \"videopreview\": {\"hidden\": false}}",
      "\"frame_rate\": 8, \"loop_count\": 0, \"filename_prefix\": \"a\", \"format\": "
      "\"video/h264-mp4\", \"pingpong\": false, \"save_output\": true, \"pix_fmt\": "
      "\"yuv420p\", \"crf\": 19" },
    { "VHS_LoadVideo",
      "{\"video\": \"a.mp4\", \"force_rate\": 0, \"custom_width\": 0, \"custom_height\": 0, "
      "\"frame_load_cap\": 0, \"skip_first_frames\": 0, \"select_every_nth\": 1, \"format\": "
      "\"Wan\", \"choose video to upload\": \"image\", \"videopreview\": {}}",
      "\"video\": \"a.mp4\", \"force_rate\": 0, \"custom_width\": 0, \"custom_height\": 0, "
      "\"frame_load_cap\": 0, \"skip_first_frames\": 0, \"select_every_nth\": 1, \"format\": "
      "\"Wan\"" },
    { "PathchSageAttentionKJ", "[false]", "\"sage_attention\": false" },
    { "ImageResizeKJv2", "[512, 512, \"lanczos\", false, \"0, 0, 0\", \"center\", 2, \"cpu\"]",
      "\"width\": 512, \"height\": 512, \"upscale_method\": \"lanczos\", \"keep_proportion\": "
      "false, \"pad_color\": \"0, 0, 0\", \"crop_position\": \"center\", \"divisible_by\": 2, "
      "\"device\": \"cpu\"" },
    { "VAELoaderKJ", "[\"v\", \"main_device\", \"bf16\"]",
      "\"vae_name\": \"v\", \"device\": \"main_device\", \"weight_dtype\": \"bf16\"" },
    { "EmptyLatentImage", "[]", "" },

// the ROCm VAE decoder since 1.0.0
#define FIRST "[768, 96, true, \"auto\", false"
#define FIVE                                                                                       \
    "\"tile_size\": 768, \"overlap\": 96, \"use_rocm_optimizations\": true, "                      \
    "\"precision_mode\": \"auto\", \"batch_optimization\": false"
    { "ROCMOptimizedVAEDecode", FIRST "]", FIVE },
    { "ROCmVAEDecode", FIRST "]", FIVE },
    { "ROCMOptimizedVAEDecode", FIRST ", true, true, true]", FIVE },
    { "ROCMOptimizedVAEDecode", FIRST ", 8, true]", FIVE },
    { "ROCMOptimizedVAEDecode", FIRST ", 81, true, true]", FIVE ", \"compatibility_mode\": true" },
    { "ROCMOptimizedVAEDecode", FIRST ", true]", FIVE ", \"compatibility_mode\": true" },
#define TEMPORAL ", \"temporal_chunk_size\": 16, \"temporal_overlap\": 2, \"last_frame_fix\": false"
    { "ROCMOptimizedVAEDecode", FIRST ", false, true, 16, 2, false]",
      FIVE ", \"compatibility_mode\": false, \"enable_temporal_tiling\": true" TEMPORAL },
    { "ROCMOptimizedVAEDecode", FIRST ", false, \"auto\", 16, 2, false]",
      FIVE ", \"compatibility_mode\": false, \"enable_temporal_tiling\": \"auto\"" TEMPORAL },

// the ROCm samplers; skipped while they are not in the node table
#define SAMPLER                                                                                    \
    "\"seed\": 5, \"steps\": 20, \"cfg\": 1, \"sampler_name\": \"euler\", \"scheduler\": "         \
    "\"simple\", \"denoise\": 1"
#define TEN "[5, \"fixed\", 20, 1, \"euler\", \"simple\", 1"
    { "ROCMOptimizedKSampler", TEN "]", SAMPLER },
    { "ROCMOptimizedKSampler", TEN ", true, \"auto\", true, true]",
      SAMPLER ", \"precision_mode\": \"auto\"" },
    { "ROCMOptimizedKSampler", TEN ", true, \"auto\", true, true, true, true, true]",
      SAMPLER ", \"precision_mode\": \"auto\"" },
    { "ROCmKSampler", TEN ", false, \"bf16\", true]",
      SAMPLER ", \"optimize_for_video\": false, \"precision_mode\": \"bf16\", "
              "\"compatibility_mode\": true" },
#define ADVANCED                                                                                   \
    "\"add_noise\": \"enable\", \"noise_seed\": 5, \"steps\": 4, \"cfg\": 1, \"sampler_name\": "   \
    "\"euler\", \"scheduler\": \"simple\", \"start_at_step\": 0, \"end_at_step\": 2, "             \
    "\"return_with_leftover_noise\": \"enable\""
#define THIRTEEN "[\"enable\", 5, \"randomize\", 4, 1, \"euler\", \"simple\", 0, 2, \"enable\""
    { "ROCMOptimizedKSamplerAdvanced", THIRTEEN "]", ADVANCED },
    { "ROCMOptimizedKSamplerAdvanced", THIRTEEN ", true, \"auto\", true, false]",
      ADVANCED ", \"precision_mode\": \"auto\", \"compatibility_mode\": false" },
    { "ROCMOptimizedKSamplerAdvanced", THIRTEEN ", true, \"auto\", false]",
      ADVANCED ", \"optimize_for_video\": true, \"precision_mode\": \"auto\", "
               "\"compatibility_mode\": false" },
    { "ROCMSamplerCustomAdvanced", "[true, \"auto\"]",
      "\"compatibility_mode\": true, \"flash_attention\": \"auto\"" },
    { "ROCMSamplerCustomAdvanced", "[true, \"auto\", true]", "\"compatibility_mode\": true" },
    { "ROCMFluxBenchmark", "[\"64x64\", 20, \"1.0\", true, true]",
      "\"test_resolutions\": \"64x64\", \"test_steps\": 20, \"test_cfg_values\": \"1.0\", "
      "\"test_hipblas\": true, \"generate_report\": true" },
    { "ROCMFluxBenchmark", "[\"64x64\", 20, \"1.0\", true, false, true]",
      "\"test_resolutions\": \"64x64\", \"test_steps\": 20, \"test_cfg_values\": \"1.0\", "
      "\"test_hipblas\": true, \"generate_report\": true" },
    { "ROCMMemoryOptimizer", "[\"balanced\", true, true, 10]",
      "\"optimization_level\": \"balanced\", \"enable_gc\": true, \"clear_cache\": true, "
      "\"cleanup_frequency\": 10" },
    { "ROCMMemoryOptimizer", "[\"auto\", true, true, false, true, 0.85, 5]",
      "\"memory_threshold\": 0.85, \"cleanup_frequency\": 5" },

    { "ROCMOptimizedCheckpointLoader", "[\"c\"]", "\"ckpt_name\": \"c\"" },
    { "ROCMOptimizedCheckpointLoader", "[\"c\", true]",
      "\"ckpt_name\": \"c\", \"compatibility_mode\": true" },
    { "ROCMOptimizedCheckpointLoader", "[\"c\", false, true, \"auto\"]", "\"ckpt_name\": \"c\"" },
    { "ROCMOptimizedCheckpointLoader", "[\"c\", false, true, \"auto\", true]",
      "\"ckpt_name\": \"c\", \"compatibility_mode\": true" },
    { "ROCMOptimizedCheckpointLoader", "[\"c\", true, false, false]",
      "\"ckpt_name\": \"c\", \"use_cache\": true, \"force_reload\": false, "
      "\"compatibility_mode\": false" },
};

static void check_orders(void)
{
    nino_buf ui = { 0 }, api = { 0 };
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        if (!strncmp(orders[i][0], "ROC", 3) && !nino_node_find(orders[i][0], NULL))
            continue;
        nino_buf_clear(&ui);
        nino_buf_clear(&api);
        nino_buf_addf(&ui,
                      "{\"nodes\": [{\"id\": 1, \"type\": \"%s\", \"widgets_values\": %s}], "
                      "\"links\": []}",
                      orders[i][0], orders[i][1]);
        nino_buf_addf(&api, "{\"1\": {\"class_type\": \"%s\", \"inputs\": {%s}}}", orders[i][0],
                      orders[i][2]);
        nino_graph *g = load(ui.data);
        prompt_expect(g, api.data);
        nino_graph_destroy(&g);
    }
    nino_buf_release(&ui);
    nino_buf_release(&api);
}

// A file that names its widgets: a class that nobody knows, and one that has changed since.
static void check_named(void)
{
    nino_graph *g = load(
        "{\"nodes\": [{\"id\": 1, \"type\": \"Pack\", \"inputs\": ["
        "{\"name\": \"model\", \"type\": \"MODEL\", \"link\": null}, "
        "{\"name\": \"seed\", \"type\": \"INT\", \"link\": null, \"widget\": {\"name\": "
        "\"seed\"}}, "
        "{\"name\": \"a\", \"type\": \"STRING\", \"link\": null, \"widget\": {\"name\": \"a\"}}], "
        "\"widgets_values\": [5, \"fixed\", \"x\"]}, "
        "{\"id\": 2, \"type\": \"EmptyLatentImage\", \"inputs\": ["
        "{\"name\": \"kind\", \"type\": \"COMBO\", \"link\": null, \"widget\": {\"name\": "
        "\"kind\"}}, "
        "{\"name\": \"width\", \"type\": \"INT\", \"link\": null, \"widget\": {\"name\": "
        "\"width\"}}], "
        "\"widgets_values\": [\"new\", 64]}], \"links\": []}");
    prompt_expect(g,
                  "{\"1\": {\"class_type\": \"Pack\", \"inputs\": {\"seed\": 5, \"a\": \"x\"}}, "
                  "\"2\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": {\"kind\": \"new\", "
                  "\"width\": 64}}}");
    nino_graph_destroy(&g);
}

// What a file says itself comes before today's order; where it only lists what was turned into an
// input, the order of that list means nothing.
static void check_named_first(void)
{
#define W(name, type)                                                                              \
    "{\"name\": \"" name "\", \"type\": \"" type                                                   \
    "\", \"link\": null, \"widget\": {\"name\": \"" name "\"}}"
#define LOADER                                                                                     \
    "{\"id\": 1, \"type\": \"ROCMOptimizedCheckpointLoader\", \"inputs\": [" W(                    \
        "ckpt_name",                                                                               \
        "COMBO") ", " W("lazy_loading",                                                            \
                        "BOOLEAN") ", " W("optimize_for_flux",                                     \
                                          "BOOLEAN") ", " W("compatibility_mode",                  \
                                                            "BOOLEAN") "], \"widgets_values\": "   \
                                                                       "[\"c\", true, true, "      \
                                                                       "false]}"
#define LATENT                                                                                     \
    "{\"id\": 2, \"type\": \"EmptyLatentImage\", \"inputs\": [" W("height", "INT") ", " W(         \
        "width", "INT") ", " W("batch_size", "INT") "], \"widgets_values\": [64, 32, 1]}"
#define IMAGE                                                                                      \
    "{\"id\": 3, \"type\": \"LoadImage\", \"inputs\": [" W("image", "COMBO") ", " W(               \
        "upload", "IMAGEUPLOAD") "], \"widgets_values\": [\"a\", \"image\"]}"
    nino_graph *g = load("{\"nodes\": [" LOADER ", " LATENT ", " IMAGE "], \"links\": []}");
    prompt_expect(g, "{\"1\": {\"class_type\": \"ROCMOptimizedCheckpointLoader\", \"inputs\": "
                     "{\"ckpt_name\": \"c\", \"lazy_loading\": true, \"optimize_for_flux\": true, "
                     "\"compatibility_mode\": false}}, "
                     "\"2\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": {\"width\": 64, "
                     "\"height\": 32, \"batch_size\": 1}}, \"3\": {\"class_type\": \"LoadImage\", "
                     "\"inputs\": {\"image\": \"a\"}}}");
    nino_graph_destroy(&g);
}

// What a choice brings is there in the other table, too, under each of its choices.
static void check_option(const nino_param *p, const char *options)
{
    for (const char *s = p->when; *s; s += strcspn(s, "|"), s += *s == '|') {
        char key[80];
        nino_known_widget w = { 0 };
        snprintf(key, sizeof(key), "%.*s", (int) strcspn(s, "|"), s);
        const char *words = nino_known_option(options, key);
        bool found = false;
        while (words && nino_known_next(&words, &w) && !found)
            found = w.len == strlen(p->key) && !memcmp(p->key, w.name, w.len);
        if (!found)
            fprintf(stderr, "%s is no input of %s\n", p->key, key);
        CHECK(found);
    }
}

// Where a class is in both tables, ours has its widgets in the order of the other one, which may
// have newer ones between.
static void check_tables(void)
{
    int n = 0;
    for (int i = 0; nino_node_defs[i]; i++) {
        const nino_node_def *d = nino_node_defs[i];
        const nino_known_class *k = nino_known_class_find(d->key);
        const nino_param *p = d->params;
        const char *words = k ? k->widgets : "";
        nino_known_widget w;
        if (!k || (d->ops && d->ops->takes_extra) ||
            !strcmp(d->key, "SaveVideo")) // codec has moved below format
            continue;
        while (p && p->key && nino_known_next(&words, &w))
            if (w.len == strlen(p->key) && !memcmp(p->key, w.name, w.len)) {
                CHECK((w.mark == '^') == p->upload_slot);
                p++;
                for (; w.options && p->key && p->when; p++)
                    check_option(p, w.options);
            }
        if (p && p->key) {
            fprintf(stderr, "%s: %s is not at its place\n", d->key, p->key);
            exit(1);
        }
        n++;
    }
    CHECK(n > 100);
    printf("  %d classes in both tables\n", n);
}

// ---- texts with choices ----------------------------------------------------------------------

static void expect_text(const char *text, const char *want)
{
    nino_buf b = { 0 };
    nino_buf_add(&b, "", 0);
    nino_ui_dynamic_text(&b, text, strlen(text), "6");
    CHECK_STR(b.data, want);
    nino_buf_release(&b);
}

static void check_texts(void)
{
    expect_text("", "");
    expect_text("a (b:1.2) \\(c\\) d\\", "a (b:1.2) \\(c\\) d\\");
    expect_text("a // rest\nb /* c */ d /e/ //", "a \nb  d /e/ ");
    expect_text("/* open", "/* open");
    expect_text("\\{a\\|b\\}", "{a|b}");
    expect_text("{one} {{two}} {} {a", "one two  a");
    expect_text("}|", "}|");
    expect_text("{\\{x\\}}", "{x}");
    // every choice comes up, the same one each time
    int n[3] = { 0 };
    for (int i = 0; i < 100; i++) {
        char salt[16];
        nino_buf a = { 0 }, b = { 0 };
        snprintf(salt, sizeof(salt), "%d", i);
        nino_ui_dynamic_text(&a, "<{x|{y|z}}>", 11, salt);
        nino_ui_dynamic_text(&b, "<{x|{y|z}}>", 11, salt);
        CHECK_STR(a.data, b.data);
        CHECK(a.len == 3 && a.data[1] >= 'x' && a.data[1] <= 'z');
        n[a.data[1] - 'x']++;
        nino_buf_release(&a);
        nino_buf_release(&b);
    }
    CHECK(n[0] > 30 && n[1] > 10 && n[2] > 10);
    nino_buf deep = { 0 };
    for (int i = 0; i < 100000; i++)
        nino_buf_addc(&deep, '{');
    nino_buf out = { 0 };
    nino_ui_dynamic_text(&out, deep.data, deep.len, "1");
    CHECK(out.len == 100000 - 32);
    nino_buf_release(&deep);
    nino_buf_release(&out);

    // only where the editor does it, and again when it is changed
    static const char flow[] =
        "{\"nodes\": [{\"id\": 1, \"type\": \"CLIPTextEncode\", \"widgets_values\": [\"{a} // "
        "b\"]}, "
        "{\"id\": 2, \"type\": \"SaveImage\", \"widgets_values\": [\"{a} // b\"]}], \"links\": []}";
    nino_error err;
    nino_graph *g = load(flow);
    prompt_expect(g,
                  "{\"1\": {\"class_type\": \"CLIPTextEncode\", \"inputs\": {\"text\": \"a \"}}, "
                  "\"2\": {\"class_type\": \"SaveImage\", \"inputs\": {\"filename_prefix\": "
                  "\"{a} // b\"}}}");
    CHECK(!nino_graph_set(g, "1.text={b} /* c */", &err));
    CHECK(strstr(nino_graph_json(g, NULL), "\"{b} /* c */\""));
    CHECK(strstr(nino_graph_api_json(g, NULL), "\"b \""));
    nino_graph_destroy(&g);
}

// ---- changes ---------------------------------------------------------------------------------

static nino_status set(nino_graph *g, const char *assignment, nino_error *err)
{
    *err = (nino_error){ 0 };
    const nino_status st = nino_graph_set(g, assignment, err);
    CHECK(!st == !err->kind);
    return st;
}

// After `assignments` (NULL-terminated) the file reads `want`, and read again it is the same graph.
static void change(const char *json, const char *const *assignments, const char *want)
{
    nino_error err;
    nino_graph *g = load(json);
    for (; *assignments; assignments++)
        CHECK_OK(set(g, *assignments, &err), err);
    CHECK_STR(nino_graph_json(g, NULL), want);
    nino_graph *copy = nino_graph_copy(g, &err);
    CHECK(copy);
    prompt_expect(copy, nino_graph_api_json(g, NULL));
    prompt_expect(g, nino_graph_api_json(copy, NULL));
    nino_graph_destroy(&copy);
    nino_graph_destroy(&g);
}
#define CHANGE(json, want, ...) change(json, (const char *const[]){ __VA_ARGS__, NULL }, want)
#define ONE(type, rest, links)                                                                     \
    "{\"nodes\": [{\"id\": 1, \"type\": \"" type "\"" rest "}], \"links\": [" links "]}"

static void check_changes(void)
{
    CHANGE(ONE("EmptyLatentImage", ", \"widgets_values\": [64,32,1], \"pos\": [1, 2]", ""),
           ONE("EmptyLatentImage", ", \"widgets_values\": [128,8000,1], \"pos\": [1, 2]", ""),
           "1.width=128", "1.height=8000");
    CHANGE(ONE("ROCMOptimizedVAEDecode", ", \"widgets_values\": {\"overlap\": 96}", ""),
           ONE("ROCMOptimizedVAEDecode",
               ", \"widgets_values\": {\"overlap\": 64, \"tile_size\": 512}", ""),
           "1.overlap=64", "1.tile_size=512");
    // nothing there yet, too short, a former order: written anew, the rest as it was
    CHANGE(ONE("EmptyLatentImage", "", ""),
           ONE("EmptyLatentImage", ", \"widgets_values\": [512, 64]", ""), "1.height=64");
    CHANGE(ONE("EmptyLatentImage", ", \"widgets_values\": [64]", ""),
           ONE("EmptyLatentImage", ", \"widgets_values\": [72, 512, 3]", ""), "1.batch_size=3",
           "1.width=72");
    CHANGE(ONE("ROCMOptimizedVAEDecode",
               ", \"widgets_values\": [768, 96, false, \"fp32\", true, 8, true]", ""),
           ONE("ROCMOptimizedVAEDecode",
               ", \"widgets_values\": [512, 96, false, \"fp32\", true, true]", ""),
           "1.compatibility_mode=true", "1.tile_size=512");
    CHANGE(ONE("LoadImage", ", \"widgets_values\": [\"a.png\", \"image\"]", ""),
           ONE("LoadImage", ", \"widgets_values\": [\"b.png\", \"image\"]", ""), "1.image=b.png");
    // classes that cannot run here have places too
    CHANGE(ONE("StableZero123_Conditioning", ", \"widgets_values\": [1, 2, 3, 4, 5]", ""),
           ONE("StableZero123_Conditioning", ", \"widgets_values\": [1, 2, 3, 9, 5]", ""),
           "1.elevation=9");
}

static void check_links(void)
{
    // from a primitive: it changes, and so does everything that it feeds
    static const char both[] =
        "{\"nodes\": [{\"id\": 1, \"type\": \"EmptyLatentImage\", \"inputs\": ["
        "{\"name\": \"width\", \"type\": \"INT\", \"link\": 5}, "
        "{\"name\": \"height\", \"type\": \"INT\", \"link\": 6}], \"widgets_values\": [8, 8, 1]}, "
        "{\"id\": 2, \"type\": \"PrimitiveNode\", \"widgets_values\": [%s, \"fixed\"]}], "
        "\"links\": [[5, 2, 0, 1, 0, \"INT\"], [6, 2, 0, 1, 1, \"INT\"]]}";
    char before[512], after[512];
    snprintf(before, sizeof(before), both, "64");
    snprintf(after, sizeof(after), both, "72");
    CHANGE(before, after, "1.height=72");
    nino_graph *g = load(after);
    prompt_expect(g, "{\"1\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": {\"width\": 72, "
                     "\"height\": 72, \"batch_size\": 1}}}");
    nino_graph_destroy(&g);
    // from a node: the link is cut off
    CHANGE(
        "{\"nodes\": [{\"id\": 1, \"type\": \"EmptyLatentImage\", \"inputs\": ["
        "{\"name\": \"width\", \"type\": \"INT\", \"link\": 5}], \"widgets_values\": [8, 8, 1]}, "
        "{\"id\": 2, \"type\": \"PrimitiveInt\", \"outputs\": [{\"links\": [4, 5]}], "
        "\"widgets_values\": [3]}, {\"id\": 3, \"type\": \"EmptyLatentImage\", \"inputs\": ["
        "{\"name\": \"width\", \"type\": \"INT\", \"link\": 4}], \"widgets_values\": [8, 8, 1]}], "
        "\"links\": [[4, 2, 0, 3, 0, \"INT\"], [5, 2, 0, 1, 0, \"INT\"]]}",
        "{\"nodes\": [{\"id\": 1, \"type\": \"EmptyLatentImage\", \"inputs\": ["
        "{\"name\": \"width\", \"type\": \"INT\", \"link\": null}], \"widgets_values\": [72, 8, "
        "1]}, "
        "{\"id\": 2, \"type\": \"PrimitiveInt\", \"outputs\": [{\"links\": [4]}], "
        "\"widgets_values\": [3]}, {\"id\": 3, \"type\": \"EmptyLatentImage\", \"inputs\": ["
        "{\"name\": \"width\", \"type\": \"INT\", \"link\": 4}], \"widgets_values\": [8, 8, 1]}], "
        "\"links\": [[4, 2, 0, 3, 0, \"INT\"]]}",
        "1.width=72");
}

// One node in a subgraph that is used as often as `nodes` says.
#define SUB(nodes, by)                                                                             \
    "{\"nodes\": [" nodes "], \"links\": [], \"definitions\": {\"subgraphs\": [{\"id\": \"S\", "   \
    "\"nodes\": [{\"id\": 4, \"type\": \"LatentUpscaleBy\", \"widgets_values\": "                  \
    "[\"bilinear\", " by "]}], \"links\": []}]}}"
#define USE(id) "{\"id\": " id ", \"type\": \"S\"}"

static void check_subgraphs(void)
{
    nino_error err;
    CHANGE(SUB(USE("57"), "1.5"), SUB(USE("57"), "2.5"), "57:4.scale_by=2.5");
    CHANGE(SUB(USE("57") ", " USE("58"), "1.5"), SUB(USE("57") ", " USE("58"), "2.5"),
           "57:4.scale_by=2.5");
    nino_graph *g = load(SUB(USE("57") ", " USE("58"), "1.5"));
    CHECK_OK(set(g, "58:4.scale_by=3", &err), err);
    prompt_expect(g, "{\"57:4\": {\"class_type\": \"LatentUpscaleBy\", \"inputs\": "
                     "{\"upscale_method\": \"bilinear\", \"scale_by\": 3}}, "
                     "\"58:4\": {\"class_type\": \"LatentUpscaleBy\", \"inputs\": "
                     "{\"upscale_method\": \"bilinear\", \"scale_by\": 3}}}");
    nino_graph_destroy(&g);
    // the value of the instance is its own
    static const char promoted[] =
        "{\"nodes\": [{\"id\": 57, \"type\": \"S\", \"inputs\": [{\"name\": \"scale_by\", "
        "\"type\": "
        "\"FLOAT\", \"link\": null, \"widget\": {\"name\": \"scale_by\"}}], \"widgets_values\": "
        "[%s]}, "
        "{\"id\": 58, \"type\": \"S\", \"inputs\": [{\"name\": \"scale_by\", \"type\": \"FLOAT\", "
        "\"link\": null, \"widget\": {\"name\": \"scale_by\"}}], \"widgets_values\": [2]}], "
        "\"links\": [], \"definitions\": {\"subgraphs\": [{\"id\": \"S\", \"inputs\": [{\"name\": "
        "\"scale_by\", \"type\": \"FLOAT\"}], \"nodes\": [{\"id\": 4, \"type\": "
        "\"LatentUpscaleBy\", "
        "\"inputs\": [{\"name\": \"scale_by\", \"type\": \"FLOAT\", \"link\": 1}], "
        "\"widgets_values\": [\"bilinear\", 1.5]}], \"links\": [{\"id\": 1, \"origin_id\": -10, "
        "\"origin_slot\": 0, \"target_id\": 4, \"target_slot\": 0}]}]}}";
    char before[1200], after[1200];
    snprintf(before, sizeof(before), promoted, "2.5");
    snprintf(after, sizeof(after), promoted, "3.5");
    CHANGE(before, after, "57:4.scale_by=3.5");
}

static void check_refusals(void)
{
    nino_error err;
    nino_graph *g = load(SUB(USE("57") ", " USE("58"), "1.5"));
    CHECK(set(g, "57:4.samples=[\"1\", 0]", &err) == NINO_ERR_UNSUPPORTED);
    CHECK(strstr(err.msg, "only values can be set"));
    CHECK(set(g, "57:4.nothing=1", &err) == NINO_ERR_UNKNOWN);
    CHECK_STR(nino_graph_json(g, NULL), SUB(USE("57") ", " USE("58"), "1.5"));
    nino_graph_destroy(&g);
    static const char shared[] = "{\"nodes\": [" USE("57") ", " USE(
        "58") "], \"links\": [], \"definitions\": {\"subgraphs\": "
              "[{\"id\": \"S\", \"nodes\": [{\"id\": 4, \"type\": \"LatentUpscaleBy\"}], "
              "\"links\": []}]}}";
    g = load(shared);
    CHECK(set(g, "57:4.scale_by=2", &err) == NINO_ERR_UNSUPPORTED);
    CHECK(strstr(err.msg, "used 2 times"));
    CHECK_STR(nino_graph_json(g, NULL), shared);
    nino_graph_destroy(&g);
    g = load(ONE("StableZero123_Conditioning", "", ""));
    CHECK(set(g, "1.height=8", &err) == NINO_ERR_UNSUPPORTED);
    CHECK(strstr(err.msg, "width"));
    CHECK(set(g, "1.other=x", &err) == NINO_ERR_UNSUPPORTED);
    CHECK_STR(nino_graph_json(g, NULL), ONE("StableZero123_Conditioning", "", ""));
    nino_graph_destroy(&g);
}

// A prompt that came with the editor's form: both say the same afterwards.
static void check_attached(void)
{
    static const char both[] =
        "{\"prompt\": {\"1\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": {\"width\": %s}}, "
        "\"2\": {\"class_type\": \"Other\", \"inputs\": {}}}, \"extra_data\": {\"extra_pnginfo\": "
        "{\"workflow\": " ONE("EmptyLatentImage", ", \"widgets_values\": [%s, 8, 1]", "") "}}}";
    char before[600], after[600];
    nino_error err;
    snprintf(before, sizeof(before), both, "64", "64");
    snprintf(after, sizeof(after), both, "72", "72");
    nino_graph *g = load(before);
    CHECK_OK(set(g, "1.width=72", &err), err);
    CHECK_STR(nino_graph_json(g, NULL), after);
    CHECK_STR(nino_graph_ui_json(g, NULL),
              ONE("EmptyLatentImage", ", \"widgets_values\": [72, 8, 1]", ""));
    CHECK_OK(set(g, "2.text=hello", &err), err); // the form does not have it
    CHECK_STR(nino_graph_ui_json(g, NULL),
              ONE("EmptyLatentImage", ", \"widgets_values\": [72, 8, 1]", ""));
    nino_graph_destroy(&g);
}

int main(void)
{
    check_orders();
    check_named();
    check_named_first();
    check_tables();
    check_texts();
    check_changes();
    check_links();
    check_subgraphs();
    check_refusals();
    check_attached();
    return 0;
}
