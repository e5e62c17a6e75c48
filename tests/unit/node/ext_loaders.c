// Loaders of extensions in runs: what they open can be used, and the name that they give.
#include "tests/flow.h"

#define NODE(id, class, inputs) "'" id "': {'class_type': '" class "', 'inputs': {" inputs "}}"
#define SHOW(id, from, slot) NODE(id, "Display Any (rgthree)", "'source': ['" from "', " slot "]")

static flow_result run(const char *assets, const char *json)
{
    nino_ctx *ctx = flow_open("ref", assets);
    CHECK(ctx != NULL);
    const flow_result r = flow_run_json(ctx, json);
    nino_ctx_destroy(&ctx);
    return r;
}

// Model, text encoder and VAE of the file make a picture; the prompt comes as a text.
static void checkpoints(void)
{
    static const char *const loaders[][2] = {
        { "Checkpoint Loader with Name (Image Saver)", "sd15_tiny.safetensors" },
        { "Checkpoint Loader (Simple)", "sd15_tiny" },
        { "CheckpointLoader|pysssss", "" },
    };
    char json[2000];
    for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++) {
        snprintf(
            json, sizeof(json), "{'1': {'class_type': '%s', 'inputs': {%s}}, %s}", loaders[i][0],
            "'ckpt_name': 'sd15_tiny.safetensors', 'prompt': '[none]'",
            NODE("2", "Text to Conditioning", "'clip': ['1', 1], 'text': 'a cat'") ", " NODE("3", "EmptyLatentImage", "'width': 32, 'height': 32, 'batch_size': 1") ", " NODE(
                "4", "KSampler",
                "'model': ['1', 0], 'positive': ['2', 0], 'negative': ['2', 0], "
                "'latent_image': ['3', 0], 'seed': 1, 'steps': 1, 'cfg': 1, 'sampler_name': "
                "'euler', 'scheduler': 'normal', 'denoise': 1") ", " NODE("5", "VAEDecode",
                                                                          "'samples': ['4', "
                                                                          "0], 'vae': ['1', "
                                                                          "2]") ", " NODE("6",
                                                                                          "Sav"
                                                                                          "eIm"
                                                                                          "ag"
                                                                                          "e",
                                                                                          "'im"
                                                                                          "age"
                                                                                          "s':"
                                                                                          " ['"
                                                                                          "5',"
                                                                                          " 0]"
                                                                                          ", "
                                                                                          "'fi"
                                                                                          "len"
                                                                                          "ame"
                                                                                          "_pr"
                                                                                          "efi"
                                                                                          "x':"
                                                                                          " '"
                                                                                          "x'") ","
                                                                                                " " SHOW(
                                                                                                    "7",
                                                                                                    "1",
                                                                                                    "3"));
        const flow_result r = run("tests/data", json);
        CHECK(r.n_paths == 1 && r.n_texts == 1);
        CHECK_STR(r.text[0], loaders[i][1]);
    }
}

static void names(void)
{
    flow_result r =
        run("tests/data",
            "{" NODE("1", "easy ckptNames",
                     "'ckpt_name': 'sd15_tiny.safetensors'") ", " SHOW("2", "1", "0") "}");
    CHECK_STR(r.text[0], "sd15_tiny.safetensors");
    r = run("tests/data",
            "{" NODE("1", "UNet loader with Name (Image Saver)",
                     "'unet_name': 'flux_tiny.safetensors', 'weight_dtype': "
                     "'default'") ", " SHOW("2", "1", "1") ", " SHOW("3", "1", "0") "}");
    CHECK_STR(r.text[0], "flux_tiny.safetensors");
    CHECK_STR(r.text[1], "MODEL");
    r = run("tests/data",
            "{" NODE("1", "DiffusionModelLoaderKJ",
                     "'model_name': 'flux_tiny.safetensors', 'weight_dtype': "
                     "'default', 'compute_dtype': 'default'") ", " SHOW("2", "1", "0") "}");
    CHECK_STR(r.text[0], "MODEL");
    r = run(
        "data/demo",
        "{" NODE(
            "1", "GGUFLoaderKJ",
            "'model_name': 'demo_flux_Q8_0.gguf', 'extra_model_name': 'none'") ", " SHOW("2", "1",
                                                                                         "0") "}");
    CHECK_STR(r.text[0], "MODEL");
}

int main(void)
{
    checkpoints();
    names();
    flow_clean();
    return 0;
}
