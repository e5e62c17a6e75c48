// The most that a run should have in use, as viewers draw it, holds for a run behind others too: what those left in
// memory is counted in, once.
#include "tests/flow.h"

#define NODE(id, class, ...) "'" id "': {'class_type': '" class "', 'inputs': {" __VA_ARGS__ "}},"

// A picture of a model of the demo; lora: its node, or nothing.
static nino_graph *make_graph(const char *model, const char *lora)
{
    char json[3000];
    snprintf(
        json, sizeof(json),
        "{" NODE("1", "CheckpointLoaderSimple", "'ckpt_name': 'demo_flux.safetensors'") "%s%s" NODE(
            "4", "EmptySD3LatentImage", "'width': 96, 'height': 96, 'batch_size': 1")
            NODE("5", "CLIPTextEncode", "'text': 'a red circle on blue', 'clip': ['1', 1]")
                NODE("6", "CLIPTextEncode", "'text': '', 'clip': ['1', 1]") NODE(
                    "7", "KSampler",
                    "'seed': 7, 'steps': 1, 'cfg': 2.5, 'sampler_name': 'euler', 'scheduler': "
                    "'simple', "
                    "'denoise': 1.0, 'model': ['%s', 0], 'positive': ['5', 0], 'negative': ['6', "
                    "0], "
                    "'latent_image': ['4', 0]")
                    NODE("8", "VAEDecode",
                         "'samples': ['7', 0], 'vae': ['1', 2]") "'9': {'class_type': 'SaveImage', "
                                                                 "'inputs': {'filename_prefix': "
                                                                 "'a', 'images': ['8', 0]}}}",
        model, lora,
        *lora    ? "3"
        : *model ? "2"
                 : "1");
    return flow_graph(json);
}

// Runs it as one more, and compares what was told with what was in use.
static void check_run(nino_ctx *ctx, nino_graph *g, const char *what, uint64_t budget)
{
    nino_error err = { 0 };
    nino_status st;
    nino_mem_stat m;
    nino_event ev[64];
    uint64_t told = 0;
    int n_told = 0;
    nino_job *job = nino_job_start(ctx, g, NULL, &err);
    CHECK_OK(job ? NINO_OK : err.code, err);
    for (bool is_over = false; !is_over;) {
        is_over = nino_job_done(job, &st, &err);
        for (size_t k; (k = nino_job_poll(job, ev, 64)) > 0;)
            for (size_t j = 0; j < k; j++)
                if (ev[j].kind == NINO_EV_MEM && ev[j].sub == NINO_MEM_PLANNED) {
                    told = ev[j].u.mem.bytes;
                    n_told++;
                }
        if (!is_over)
            nino_job_wait(job, 20);
    }
    CHECK_OK(st, err);
    nino_job_memory(job, &m);
    nino_job_destroy(&job);
    printf("  %s: at most %.2f MiB, %.2f were in use\n", what, (double) told / 0x1p20,
           (double) m.peak / 0x1p20);
    CHECK(n_told == 1);
    CHECK((double) m.peak <= 1.001 * (double) told);
    CHECK((double) m.peak >= 0.75 * (double) told);
    CHECK(!budget || told <= budget);
}

static void check_device(const char *device, uint64_t budget)
{
    static const char lora[] =
        NODE("3", "LoraLoaderModelOnly",
             "'lora_name': 'demo_outline.safetensors', 'strength_model': 0.8, 'model': ['1', 0]");
    static const char gguf[] = NODE("2", "UnetLoaderGGUF", "'unet_name': 'demo_flux_Q8_0.gguf'");
    static const struct {
        const char *what, *set;
        int graph;
    } run[] = {
        { "the first", "7.seed=1", 0 },
        { "another seed", "7.seed=2", 0 },
        { "another prompt", "5.text=blue", 0 },
        { "the prompt before", "5.text=a red circle on blue", 0 },
        { "another size", "4.width=160", 0 },
        { "with a LoRA", "7.seed=3", 1 },
        { "another model", "7.seed=4", 2 },
        { "the first model", "7.seed=5", 0 },
        { "the size before", "4.width=96", 0 },
        { "a seed more", "7.seed=6", 0 },
    };
    nino_graph *g[] = { make_graph("", ""), make_graph("", lora), make_graph(gguf, "") };
    nino_error err = { 0 };
    nino_ctx *ctx = flow_open_limited(device, "data/demo/models", budget);
    for (size_t i = 0; i < sizeof(run) / sizeof(*run); i++) {
        CHECK_OK(nino_graph_set(g[run[i].graph], run[i].set, &err), err);
        check_run(ctx, g[run[i].graph], run[i].what, budget);
    }
    nino_ctx_destroy(&ctx);
    for (int i = 0; i < 3; i++)
        nino_graph_destroy(&g[i]);
}

int main(void)
{
    check_device("ref", (uint64_t) 1 << 30);
    check_device("ref", (uint64_t) 8 << 20);
    flow_clean();
    return 0;
}
