// A device with too little memory: tiles where that helps, what earlier runs kept is given up, and
// where nothing helps the error names the node and the bytes.
#include "tests/flow.h"
#include "tests/random_vae.h"

static const char flow[] =
    "{'1': {'class_type': 'EmptyLatentImage', 'inputs': {'width': 320, 'height': 256, "
    "'batch_size': 1}},"
    "'2': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'a.safetensors'}},"
    "'3': {'class_type': 'ROCMOptimizedVAEDecode', 'inputs': {'samples': ['1', 0], 'vae': ['2', "
    "0], "
    "'tile_size': 256, 'overlap': 32, 'use_rocm_optimizations': true, 'precision_mode': 'fp32', "
    "'batch_optimization': true}},"
    "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['3', 0], 'filename_prefix': 'a'}}}";

static char log_text[4096];

static void log_line(void *priv, nino_log_level level, const char *line)
{
    (void) priv;
    (void) level;
    const size_t n = strlen(log_text);
    snprintf(log_text + n, sizeof(log_text) - n, "%s\n", line);
}

static nino_ctx *open_limited(uint64_t limit)
{
    char models[512], output[512];
    nino_error err = { 0 };
    snprintf(models, sizeof(models), "%s/models", flow_temp());
    snprintf(output, sizeof(output), "%s/output", flow_temp());
    const char *roots[] = { models, NULL };
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT,
                                .device = "ref",
                                .mem_limit = limit,
                                .log = log_line,
                                .log_level = NINO_LOG_WARN,
                                .job = &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = roots,
                                                            .output_dir = output } };
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    log_text[0] = 0;
    return ctx;
}

int main(void)
{
    char dir[512], cmd[600];
    nino_error err = { 0 };
    nino_plan p = { 0 };
    snprintf(cmd, sizeof(cmd), "mkdir -p %s/models/vae", flow_temp());
    CHECK(system(cmd) == 0);
    snprintf(dir, sizeof(dir), "%s/models/vae", flow_temp());
    random_vae net = {
        .ch = 32, .mult = { 1, 2 }, .n_levels = 2, .n_res = 1, .z = 4, .dtype = NINO_F32, .seed = 5
    };
    CHECK_OK(random_vae_save(net, dir, "a.safetensors", &err), err);
    net.seed = 6;
    CHECK_OK(random_vae_save(net, dir, "b.safetensors", &err), err);
    nino_graph *g = flow_graph(flow);

    // what it takes, undisturbed
    nino_ctx *ctx = open_limited((uint64_t) 1 << 30);
    CHECK_OK(nino_graph_plan(ctx, g, NULL, NULL, &p, &err), err);
    const uint64_t peak = p.peak_bytes, weights = p.weight_bytes;
    CHECK(p.fits && peak > 2 * weights);
    nino_plan_release(&p);
    nino_ctx_destroy(&ctx);

    // less than the whole image needs
    ctx = open_limited(peak - peak / 8);
    flow_result r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    CHECK(r.n_paths == 1 && !log_text[0]); // known before, not found out
    nino_ctx_destroy(&ctx);

    // one model at a time: the first makes room for the second
    ctx = open_limited(peak + weights / 2);
    r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    CHECK(!log_text[0]);
    CHECK_OK(nino_graph_set(g, "2.vae_name=b.safetensors", &err), err);
    r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    CHECK(r.n_paths == 1);
    nino_ctx_destroy(&ctx);

    // less than the weights: they come and go
    ctx = open_limited(weights / 2);
    r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    CHECK(r.n_paths == 1);
    nino_ctx_destroy(&ctx);

    // hopeless: not even one layer
    ctx = open_limited(64 << 10);
    r = flow_run(ctx, g, NULL);
    CHECK(r.st == NINO_ERR_NOMEM && r.n_paths == 0);
    CHECK(strstr(r.err.where, "3 ROCMOptimizedVAEDecode") && r.err.msg[0]);
    CHECK(strstr(log_text, "3 ROCMOptimizedVAEDecode: what would help: a higher limit: 0.1 MiB"));
    printf("  %s: %s\n", r.err.where, r.err.msg);
    nino_ctx_destroy(&ctx);
    nino_graph_destroy(&g);
    flow_clean();
    return 0;
}
