// What a second run on the same ctx computes again: only what changed, and what it costs in memory.
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "core/file/latent_file.h"
#include "core/run/execute.h"
#include "tests/flow.h"
#include "tests/flow_vae.h"

static const char flow[] =
    "{'1': {'class_type': 'EmptyLatentImage', 'inputs': {'width': 64, 'height': 64, 'batch_size': "
    "1}},"
    "'2': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'a.safetensors'}},"
    "'3': {'class_type': 'ROCMOptimizedVAEDecode', 'inputs': {'samples': ['1', 0], 'vae': ['2', "
    "0], "
    "'tile_size': 256, 'overlap': 32, 'use_rocm_optimizations': true, 'precision_mode': 'auto', "
    "'batch_optimization': true}},"
    "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['3', 0], 'filename_prefix': 'a'}}}";

static char log_text[4096];

static void log_line(void *priv, nino_log_level level, const char *line)
{
    (void) priv;
    const size_t n = strlen(log_text);
    snprintf(log_text + n, sizeof(log_text) - n, "%d %s\n", (int) level, line);
}

static void make_files(void)
{
    char dir[512];
    nino_error err = { 0 };
    random_vae small = flow_small_vae;
    small.mult[1] = 1;
    small.with_encoder = true;
    small.seed = 3;
    flow_save_vae(small, "vae", "a.safetensors");
    flow_save_vae(small, "checkpoints", "c.safetensors");
    // a latent that no number format can hold the decode of, and one that f16 cannot
    nino_array *z = nino_array_create(NINO_F32, NINO_SHAPE(1, 8, 8, 4));
    for (int64_t i = 0; i < nino_shape_count(&z->shape); i++)
        nino_array_f32(z)[i] = (float) (1 + i % 7) * 1e5f;
    snprintf(dir, sizeof(dir), "%s/input", flow_temp());
    CHECK_OK(nino_latent_save(dir, "big.latent", z, NULL, 0, &err), err);
    nino_array_f32(z)[17] = NAN;
    CHECK_OK(nino_latent_save(dir, "nan.latent", z, NULL, 0, &err), err);
    nino_array_unref(&z);
}

// What a run would do is told before it, and is what it does.
static void check_ahead(nino_ctx *ctx, nino_graph *g, const char *ran)
{
    nino_error err = { 0 };
    nino_buf told = { 0 };
    CHECK_OK(nino_run_ahead(ctx, g, NULL, &told, &err), err);
    nino_buf_addc(&told, 0);
    CHECK(!told.failed);
    for (const char *at = ran; *at; at = strchr(at, '|') + 1) {
        char line[40];
        const bool is_kept = strcspn(at, "(") < strcspn(at, "|");
        snprintf(line, sizeof(line), "%s %.*s\n", is_kept ? "kept" : "run", (int) strcspn(at, " "),
                 at);
        if (!strstr(told.data, line))
            printf("told:\n%sbut not %s", told.data, line);
        CHECK(strstr(told.data, line));
    }
    nino_buf_release(&told);
}

static flow_result run(nino_ctx *ctx, nino_graph *g, const char *want)
{
    check_ahead(ctx, g, want);
    const flow_result r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    CHECK_STR(r.ran, want);
    return r;
}

static void set(nino_graph *g, const char *assignment)
{
    nino_error err = { 0 };
    CHECK_OK(nino_graph_set(g, assignment, &err), err);
}

static void check_changes(nino_ctx *ctx)
{
    nino_graph *g = flow_graph(flow);
    const char *fresh = "1 EmptyLatentImage|2 VAELoader|3 ROCMOptimizedVAEDecode|4 SaveImage|";
    const flow_result first = run(ctx, g, fresh);
    CHECK_STR(first.hits, "");
    CHECK(first.n_paths == 1 && strstr(first.path[0], "/a_00001_.png"));
    // nothing changed: the same file is the answer
    const char *all = "1 EmptyLatentImage (cached)|2 VAELoader (cached)|3 ROCMOptimizedVAEDecode "
                      "(cached)|4 SaveImage (cached)|";
    const flow_result again = run(ctx, g, all);
    CHECK(again.n_paths == 1);
    CHECK_STR(again.path[0], first.path[0]);
    CHECK(again.n_kernels == 0);
    CHECK_STR(again.hits, "4 SaveImage|"); // nobody asks for what it was made of
    // the file is gone: it is written again, from the cached image
    CHECK(unlink(first.path[0]) == 0);
    const char *save = "1 EmptyLatentImage (cached)|2 VAELoader (cached)|3 ROCMOptimizedVAEDecode "
                       "(cached)|4 SaveImage|";
    CHECK_STR(run(ctx, g, save).path[0], first.path[0]);
    set(g, "4.filename_prefix=b");
    CHECK(strstr(run(ctx, g, save).path[0], "/b_00001_.png"));
    set(g, "1.width=48");
    const flow_result part = run(
        ctx, g, "1 EmptyLatentImage|2 VAELoader (cached)|3 ROCMOptimizedVAEDecode|4 SaveImage|");
    CHECK_STR(part.hits, "2 VAELoader|");
    set(g, "1.width=64"); // both results are remembered
    run(ctx, g, all);
    set(g, "3.precision_mode=fp16");
    run(ctx, g,
        "1 EmptyLatentImage (cached)|2 VAELoader (cached)|3 ROCMOptimizedVAEDecode|4 "
        "SaveImage|");
    set(g, "3.precision_mode=auto");
    // a file that changed is another file
    char path[512];
    snprintf(path, sizeof(path), "%s/models/vae/a.safetensors", flow_temp());
    const struct timespec times[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
    run(ctx, g, "1 EmptyLatentImage (cached)|2 VAELoader|3 ROCMOptimizedVAEDecode|4 SaveImage|");
    // another storage for the whole job
    const nino_job_options f16 = { NINO_JOB_OPTIONS_INIT, .precision = NINO_PRECISION_F16 };
    const flow_result r = flow_run(ctx, g, &f16);
    CHECK_OK(r.st, r.err);
    CHECK_STR(r.ran, fresh);
    nino_graph_destroy(&g);
}

static uint64_t weights_in_use(nino_ctx *ctx, nino_graph *g)
{
    nino_error err = { 0 };
    nino_mem_stat m;
    nino_status st;
    nino_job *job = nino_job_start(ctx, g, NULL, &err);
    CHECK_OK(job ? NINO_OK : err.code, err);
    nino_event ev[64];
    while (!nino_job_done(job, &st, &err))
        if (!nino_job_poll(job, ev, 64))
            nino_job_wait(job, 20);
    CHECK_OK(st, err);
    nino_job_memory(job, &m);
    CHECK(m.peak_by_owner[NINO_OWN_WEIGHTS] == m.by_owner[NINO_OWN_WEIGHTS]); // never two copies
    nino_job_destroy(&job);
    return m.by_owner[NINO_OWN_WEIGHTS];
}

static void check_checkpoint(nino_ctx *ctx)
{
    nino_graph *c = flow_graph(
        "{'2': {'class_type': 'ROCMOptimizedCheckpointLoader', 'inputs': {'ckpt_name': "
        "'c.safetensors', 'force_reload': true}},"
        "'1': {'class_type': 'EmptyLatentImage', 'inputs': {'width': 64, 'height': 64, "
        "'batch_size': 1}},"
        "'3': {'class_type': 'VAEDecode', 'inputs': {'samples': ['1', 0], 'vae': ['2', 2]}},"
        "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['3', 0], 'filename_prefix': "
        "'c'}}}");
    const uint64_t one = weights_in_use(ctx, c);
    CHECK(one > 0);
    CHECK(weights_in_use(ctx, c) == one);
    set(c, "2.force_reload=false");
    const flow_result r = flow_run(ctx, c, NULL);
    CHECK_OK(r.st, r.err);
    CHECK(strstr(r.ran, "2 ROCMOptimizedCheckpointLoader|"));
    CHECK(strstr(flow_run(ctx, c, NULL).ran, "2 ROCMOptimizedCheckpointLoader (cached)|"));
    set(c, "2.use_cache=false");
    for (int i = 0; i < 2; i++)
        CHECK(strstr(flow_run(ctx, c, NULL).ran, "2 ROCMOptimizedCheckpointLoader|"));
    nino_graph_destroy(&c);
}

static void check_nan(nino_ctx *ctx)
{
    nino_graph *g = flow_graph(
        "{'1': {'class_type': 'LoadLatent', 'inputs': {'latent': 'nan.latent'}},"
        "'2': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'a.safetensors'}},"
        "'3': {'class_type': 'VAEDecode', 'inputs': {'samples': ['1', 0], 'vae': ['2', 0]}},"
        "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['3', 0], 'filename_prefix': "
        "'n'}}}");
    flow_result r = flow_run(ctx, g, NULL);
    CHECK(r.st == NINO_ERR_RANGE);
    CHECK_STR(r.err.kind, "nan");
    CHECK(strstr(r.err.where, "3 VAEDecode"));
    CHECK(r.n_paths == 0);
    // too large for f16: said, and computed again in f32
    const nino_job_options f16 = { NINO_JOB_OPTIONS_INIT, .precision = NINO_PRECISION_F16 };
    set(g, "1.latent=big.latent");
    log_text[0] = 0;
    r = flow_run(ctx, g, &f16);
    CHECK_OK(r.st, r.err);
    CHECK(r.n_paths == 1);
    CHECK(strstr(log_text, "1 3 VAEDecode: ") && strstr(log_text, "once more in f32"));
    nino_graph_destroy(&g);
}

static void check_monitors(nino_ctx *ctx)
{
    nino_graph *g = flow_graph(
        "{'1': {'class_type': 'ROCMMemoryOptimizer', 'inputs': {'optimization_level': "
        "'aggressive', 'enable_gc': true, 'clear_cache': true, 'cleanup_frequency': 10}}}");
    const flow_result r = run(ctx, g, "1 ROCMMemoryOptimizer|");
    CHECK(r.n_texts >= 2);
    CHECK(strstr(r.text[0], "before: ") && strstr(r.text[0], "after: 0.00 GiB in use"));
    CHECK(strstr(r.text[0], "loaded VAE: a.safetensors, "));
    CHECK(strstr(r.text[1], "weights on the device: ") && strstr(r.text[1], "device pool: "));
    CHECK(strstr(r.text[1], "loaded models forgotten") && strstr(r.text[2], "% of "));
    run(ctx, g, "1 ROCMMemoryOptimizer|"); // never from the cache
    nino_graph_destroy(&g);
    g = flow_graph(flow); // and everything that was cached is gone
    run(ctx, g, "1 EmptyLatentImage|2 VAELoader|3 ROCMOptimizedVAEDecode|4 SaveImage|");
    nino_graph_destroy(&g);
    g = flow_graph("{'1': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'a.safetensors'}},"
                   "'2': {'class_type': 'ROCMVAEPerformanceMonitor', 'inputs': {'vae': ['1', 0], "
                   "'test_resolution': 256}}}");
    const flow_result m = flow_run(ctx, g, NULL);
    CHECK_OK(m.st, m.err);
    CHECK(m.n_texts == 3);
    CHECK(strstr(m.text[0], "Device: reference") && strstr(m.text[0], "4 channels"));
    CHECK(strstr(m.text[1], "GB/s (median of 10, MAD ") &&
          strstr(m.text[1], "GFLOP/s (median of "));
    CHECK(!strstr(m.text[1], "n = 1") && m.n_tiles == 0 &&
          m.n_seams == 0); // of probes, not the run
    CHECK(strstr(m.text[1], "decode ") && strstr(m.text[1], "s per megapixel"));
    CHECK(strstr(m.text[2], "tile_size: ") && strstr(m.text[2], "fastest measured: "));
    nino_graph_destroy(&g);
}

int main(void)
{
    char models[512], input[512], output[512];
    nino_error err = { 0 };
    make_files();
    snprintf(models, sizeof(models), "%s/models", flow_temp());
    snprintf(input, sizeof(input), "%s/input", flow_temp());
    snprintf(output, sizeof(output), "%s/output", flow_temp());
    const char *roots[] = { models, NULL };
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .device = "ref", .log = log_line,
                                .log_level = NINO_LOG_WARN,
                                .job = &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = roots,
                                                            .input_dir = input,
                                                            .output_dir = output } };
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    check_changes(ctx);
    check_checkpoint(ctx);
    check_nan(ctx);
    check_monitors(ctx);
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
