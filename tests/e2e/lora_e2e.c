// LoRA and quantised files in whole pipelines, against the pictures that ComfyUI made.
#include "tests/e2e.h"

static const char *const lora_flows[] = { "flux_tiny_lora_kohya_0.8", "flux_tiny_lora_comfy_0.8",
                                          "flux_tiny_lora_diffusers_1.0" };
static const char *const expected[] = { "flux_tiny_lora_kohya_0.8", "flux_tiny_lora_kohya_0.8",
                                        "flux_tiny_lora_diffusers_1.0" };
static const char *const quantised[] = { "flux_tiny_gguf_q4_K", "flux_tiny_gguf_q8_0",
                                         "flux_tiny_fp8_scaled" };

static void check_all(nino_ctx *ctx, const char *assets)
{
    for (size_t i = 0; i < 3; i++) {
        char *json = e2e_workflow(assets, "e2e", lora_flows[i]);
        const flow_result r = e2e_run(ctx, json);
        e2e_check(&r, assets, "e2e", expected[i], 2);
        char plain[512];
        snprintf(plain, sizeof(plain), "%s/e2e/expected/flux_tiny_bf16.png", assets);
        CHECK(e2e_difference(r.path[0], plain) > 2);
        free(json);
    }
    for (size_t i = 0; i < 3; i++) {
        char *json = e2e_workflow(assets, "e2e", quantised[i]);
        const flow_result r = e2e_run(ctx, json);
        e2e_check(&r, assets, "e2e", quantised[i], 2);
        free(json);
    }
}

// Replaces one piece of a text, which must be there; takes it.
static char *replace(char *text, const char *from, const char *to)
{
    char *at = strstr(text, from);
    const size_t room = strlen(text) + strlen(to) + 1;
    char *out = malloc(room);
    CHECK(at && out);
    snprintf(out, room, "%.*s%s%s", (int) (at - text), text, to, at + strlen(from));
    free(text);
    return out;
}

// The loaders of extensions: objects, a stack of four, stacks on a link. Files are found by base
// name, and one that is not there is left out.
static void check_extensions(nino_ctx *ctx, const char *assets)
{
    static const char loader[] = "\"LoraLoaderModelOnly\"";
    static const char strength[] = "\"strength_model\": 0.8";
    static const char name[] = "\"lora_name\": \"flux_tiny_kohya.safetensors\",";
    static const char *const forms[][3] = {
        { "\"Power Lora Loader (rgthree)\"", "",
          "\"lora_1\": {\"on\": false, \"lora\": \"flux_tiny_kohya.safetensors\", \"strength\": "
          "3}, \"lora_2\": {\"on\": true, \"lora\": \"sub/flux_tiny_kohya.safetensors\", "
          "\"strength\": 0.8, \"strengthTwo\": 0}, \"lora_3\": {\"on\": true, \"lora\": "
          "\"gone.safetensors\", \"strength\": 1}" },
        { "\"Lora Loader Stack (rgthree)\"", "",
          "\"clip\": [\"2\", 0], \"lora_01\": \"None\", \"strength_01\": 1, \"lora_02\": "
          "\"flux_tiny_kohya.safetensors\", \"strength_02\": 0.8, \"lora_03\": \"None\", "
          "\"strength_03\": 1, \"lora_04\": \"None\", \"strength_04\": 1" },
        { "\"Load Lora\"", name,
          "\"clip\": [\"2\", 0], \"strength_model\": 0.8, \"strength_clip\": 1" },
        { "\"Lora Loader\"", name,
          "\"clip\": [\"2\", 0], \"strength_model\": 0.8, \"strength_clip\": 1" },
        { "\"LoraLoader|pysssss\"", name,
          "\"clip\": [\"2\", 0], \"strength_model\": 0.8, \"strength_clip\": 1" },
        { "\"CR Load LoRA\"", name,
          "\"clip\": [\"2\", 0], \"switch\": \"On\", \"strength_model\": 0.8, "
          "\"strength_clip\": 1" },
        { "\"CR Apply LoRA Stack\"", "", "\"clip\": [\"2\", 0], \"lora_stack\": [\"20\", 0]" },
        { "\"easy loraStackApply\"", "", "\"lora_stack\": [\"21\", 0]" },
    };
    static const char stacks[] =
        "{\"20\": {\"class_type\": \"CR LoRA Stack\", \"inputs\": {\"switch_1\": \"On\", "
        "\"lora_name_1\": \"flux_tiny_kohya.safetensors\", \"model_weight_1\": 0.8, "
        "\"clip_weight_1\": 1, \"switch_2\": \"Off\", \"lora_name_2\": \"None\", "
        "\"model_weight_2\": 1, \"clip_weight_2\": 1, \"switch_3\": \"Off\", \"lora_name_3\": "
        "\"None\", \"model_weight_3\": 1, \"clip_weight_3\": 1}}, \"21\": {\"class_type\": "
        "\"easy loraStack\", \"inputs\": {\"toggle\": true, \"mode\": \"simple\", \"num_loras\": "
        "1, \"lora_1_name\": \"flux_tiny_kohya.safetensors\", \"lora_1_strength\": 0.8}},";
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        char *json = e2e_workflow(assets, "e2e", lora_flows[0]);
        json = replace(json, loader, forms[i][0]);
        json = replace(json, name, forms[i][1]);
        json = replace(json, strength, forms[i][2]);
        json = replace(json, "{", stacks);
        const flow_result r = e2e_run(ctx, json);
        e2e_check(&r, assets, "e2e", expected[0], 2);
        free(json);
    }
}

// The other loaders, text encoder and all; a file that is for another model, which is passed over;
// one LoRA in two steps.
static void check_nodes(nino_ctx *ctx, const char *assets)
{
    static const char loader[] = "\"LoraLoaderModelOnly\"", model[] = "\"model\": [\n    \"1\"";
    static const char strength[] = "\"strength_model\": 0.8";
    static const char kohya[] = "flux_tiny_kohya.safetensors";
    static const char *const names[] = { "\"LoraLoader\"", "\"ROCMLoRALoader\"" };
    for (int i = 0; i < 2; i++) {
        char *json = e2e_workflow(assets, "e2e", lora_flows[0]);
        json = replace(json, loader, names[i]);
        json = replace(json, strength,
                       "\"clip\": [\"2\", 0], \"strength_model\": 0.8, \"strength_clip\": -1");
        const flow_result r = e2e_run(ctx, json);
        e2e_check(&r, assets, "e2e", expected[0], 2);
        free(json);
    }
    char *json = e2e_workflow(assets, "e2e", lora_flows[0]);
    json = replace(json, kohya, "lora_disney_inpainting.safetensors");
    const flow_result other = e2e_run(ctx, json);
    e2e_check(&other, assets, "e2e", "flux_tiny_bf16", 2);
    free(json);
    json = e2e_workflow(assets, "e2e", lora_flows[0]);
    json = replace(json, strength, "\"strength_model\": 1.3");
    json = replace(json, model, "\"model\": [\"20\"");
    json = replace(json, "{",
                   "{\"20\": {\"class_type\": \"LoraLoaderModelOnly\", \"inputs\": {\"lora_name\": "
                   "\"flux_tiny_comfy.safetensors\", \"strength_model\": -0.5, \"model\": [\"1\", "
                   "0]}},");
    const flow_result two = e2e_run(ctx, json);
    e2e_check(&two, assets, "e2e", expected[0], 2);
    free(json);
}

int main(void)
{
#if defined(__SANITIZE_ADDRESS__)
    static const char *const devices[] = { "cl", NULL }; // the plain loops would take minutes
#else
    static const char *const devices[] = { "ref", "cl", NULL };
#endif
    const char *assets = test_assets();
    if (!assets)
        return test_skip("no test data folder");
    for (const char *const *name = devices; *name; name++) {
        nino_ctx *ctx = flow_open(*name, assets);
        if (!ctx)
            continue;
        printf("%s\n", *name);
        check_all(ctx, assets);
        check_nodes(ctx, assets);
        check_extensions(ctx, assets);
        nino_ctx_destroy(&ctx);
    }
    flow_clean();
    return 0;
}
