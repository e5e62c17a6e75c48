// End-to-end decode benchmark: a full-size AutoencoderKL (ch 128, mult 1,2,4,4, z 16, random
// weights) through the public API. Prints seconds, GFLOP/s and memory by op family, tiled against
// whole, and what telemetry costs (interleaved pairs).
//   bench/decode [--long] [--device SEL]       --long adds 1024x1024, whole and tiled
#include "core/base/time.h"
#include "core/file/latent_file.h"
#include "tests/random_vae.h"
#include <ninodes/ninodes.h>

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAIRS 12
#define WHOLE "\"class_type\":\"VAEDecode\",\"inputs\":{"
#define STOCK                                                                                      \
    "\"class_type\":\"VAEDecodeTiled\",\"inputs\":{\"tile_size\":512,\"overlap\":64,"              \
    "\"temporal_size\":64,\"temporal_overlap\":8,"
#define ROCM                                                                                       \
    "\"class_type\":\"ROCMOptimizedVAEDecodeTiled\",\"inputs\":{\"tile_size\":256,\"overlap\":64," \
    "\"temporal_size\":64,\"temporal_overlap\":8,\"rocm_optimizations\":true,"

static const struct {
    int cells;
    bool is_long, has_table;
    const char *title, *decode;
} cases[] = {
    { 32, false, true, "decode 256x256", WHOLE },
    { 64, false, true, "decode 512x512", WHOLE },
    { 64, false, false, "decode 512x512, ROCm tiles 256/64", ROCM },
    { 128, true, true, "decode 1024x1024", WHOLE },
    { 128, true, false, "decode 1024x1024, stock tiles 512/64", STOCK },
};

typedef struct result {
    double seconds;
    nino_mem_stat mem;
    nino_event seam;
    size_t n_families, n_tiles;
    nino_op_stat family[16];
    nino_stats *stats;
} result;

static char dir[256];

static void check(bool ok, const nino_error *err)
{
    if (ok)
        return;
    fprintf(stderr, "bench: %s: %s\n", err->where, err->msg);
    exit(1);
}

static const char *in_dir(const char *name)
{
    static char path[4][400];
    static int turn;
    char *p = path[turn++ % 4];
    snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
    return p;
}

// Model and latents are made once and kept in the build folder.
static void make_data(void)
{
    nino_error err;
    const char *const folders[] = { "", "models", "models/vae", "input", "out" };
    snprintf(dir, sizeof(dir), "%s/bench-data", getenv("B") ? getenv("B") : "build");
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
        mkdir(in_dir(folders[i]), 0777);
    if (access(in_dir("models/vae/full_kl.safetensors"), R_OK))
        check(!random_vae_save(random_vae_full(16), in_dir("models/vae"), "full_kl.safetensors",
                               &err),
              &err);
    for (int side = 16; side <= 128; side *= 2) {
        char name[32];
        nino_array *z = nino_array_create(NINO_F32, NINO_SHAPE(1, side, side, 16));
        uint64_t seed = 12345;
        for (int64_t i = 0; i < nino_shape_count(&z->shape); i++)
            nino_array_f32(z)[i] = random_vae_value(&seed);
        snprintf(name, sizeof(name), "z%d.latent", side);
        check(!nino_latent_save(in_dir("input"), name, z, NULL, 0, &err), &err);
        nino_array_unref(&z);
    }
}

static nino_graph *workflow(int cells, const char *decode)
{
    char json[1024];
    nino_error err;
    snprintf(
        json, sizeof(json),
        "{\"1\":{\"class_type\":\"LoadLatent\",\"inputs\":{\"latent\":\"z%d.latent\"}},"
        "\"2\":{\"class_type\":\"VAELoader\",\"inputs\":{\"vae_name\":\"full_kl.safetensors\"}},"
        "\"3\":{%s\"samples\":[\"1\",0],\"vae\":[\"2\",0]}},"
        "\"4\":{\"class_type\":\"SaveImage\",\"inputs\":{\"images\":[\"3\",0],"
        "\"filename_prefix\":\"bench\"}}}",
        cells, decode);
    nino_graph *g = nino_graph_load(json, strlen(json), "bench", &err);
    check(g, &err);
    return g;
}

// A fresh context has an empty node cache, so everything runs.
static nino_ctx *open_ctx(const char *device)
{
    const char *const models[] = { in_dir("models"), NULL };
    nino_error err;
    nino_ctx *ctx = nino_ctx_create(
        &(nino_ctx_params){ NINO_CTX_PARAMS_INIT, .device = device,
                            .job = &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = models,
                                                        .input_dir = in_dir("input"),
                                                        .output_dir = in_dir("out") } },
        &err);
    check(ctx, &err);
    return ctx;
}

// With telemetry every event goes through statistics and into a trace; without it nobody listens.
static result run(nino_ctx *ctx, nino_graph *g, bool telemetry)
{
    result r = { .stats = nino_stats_create() };
    nino_error err;
    nino_status st = NINO_OK;
    nino_event ev[512];
    const nino_job_options params = { NINO_JOB_OPTIONS_INIT,
                                      .trace_path = telemetry ? in_dir("out/trace.json") : NULL,
                                      .silent = !telemetry };
    const uint64_t start = nino_now_ns();
    nino_job *job = nino_job_start(ctx, g, &params, &err);
    check(job, &err);
    while (!nino_job_done(job, &st, &err)) {
        const size_t n = telemetry ? nino_job_poll(job, ev, 512) : 0;
        nino_stats_add(r.stats, ev, n, nino_job_name, job);
        for (size_t i = 0; i < n; i++) {
            r.n_tiles += ev[i].kind == NINO_EV_TILE_INFO;
            if (ev[i].kind == NINO_EV_SEAM)
                r.seam = ev[i];
        }
        if (!n)
            nino_job_wait(job, 100);
    }
    r.seconds = (double) (nino_now_ns() - start) * 1e-9;
    check(!st, &err);
    nino_job_memory(job, &r.mem);
    nino_job_destroy(&job);
    r.n_families = nino_stats_families(r.stats, r.family, 16);
    return r;
}

static void report(const char *device, int i)
{
    nino_error err;
    nino_plan plan;
    nino_ctx *ctx = open_ctx(device);
    nino_graph *g = workflow(cases[i].cells, cases[i].decode);
    check(!nino_graph_plan(ctx, g, NULL, NULL, &plan, &err), &err);
    result r = run(ctx, g, true);
    const uint64_t weights = r.mem.peak_by_owner[NINO_OWN_WEIGHTS];
    printf("%-38s %7.2f s  %6.1f GFLOP/s  peak %5.0f MiB above %.0f MiB of weights (plan %.0f)\n",
           cases[i].title, r.seconds, plan.flops / r.seconds * 1e-9,
           (double) (r.mem.peak - weights) / 1048576, (double) weights / 1048576,
           (double) (plan.peak_bytes - plan.weight_bytes) / 1048576);
    if (r.seam.u.seam.n_seams)
        printf("  %zu tiles, %u seams: mean |difference| %.3f, max %.2f, gradient %+.3f of 255; "
               "recomputed %.1f %%\n",
               r.n_tiles, r.seam.u.seam.n_seams, (double) r.seam.u.seam.mean,
               (double) r.seam.u.seam.max, (double) r.seam.u.seam.gradient,
               100.0 * (double) r.seam.u.seam.recomputed / (double) r.seam.u.seam.pixels);
    for (size_t f = 0; cases[i].has_table && f < r.n_families; f++)
        printf("  %-8s %5llu launches  %8.3f s  %7.1f GFLOP/s  %6.1f GB/s\n", r.family[f].name,
               (unsigned long long) r.family[f].calls, (double) r.family[f].total_ns * 1e-9,
               r.family[f].gflops, r.family[f].gbps);
    nino_stats_destroy(&r.stats);
    nino_plan_release(&plan);
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

// On against off, alternating which comes first; the median of the pairs' ratios.
static void telemetry_cost(const char *device)
{
    double ratio[PAIRS];
    nino_graph *g = workflow(32, WHOLE);
    for (int i = -1; i < PAIRS; i++) { // the first pair warms up
        double s[2];
        for (int k = 0; k < 2; k++) {
            const bool on = (k + i) & 1;
            nino_ctx *ctx = open_ctx(device);
            result r = run(ctx, g, on);
            s[on] = r.seconds;
            nino_stats_destroy(&r.stats);
            nino_ctx_destroy(&ctx);
        }
        if (i >= 0)
            ratio[i] = s[1] / s[0];
    }
    nino_graph_destroy(&g);
    qsort(ratio, PAIRS, sizeof(*ratio), by_value);
    printf(
        "telemetry (events, statistics, trace) on / off: median %+.2f %% of %d interleaved pairs, "
        "quartiles %+.2f and %+.2f %%\n",
        100 * ((ratio[PAIRS / 2] + ratio[PAIRS / 2 - 1]) / 2 - 1), PAIRS,
        100 * (ratio[PAIRS / 4] - 1), 100 * (ratio[3 * PAIRS / 4] - 1));
}

int main(int argc, char **argv)
{
    const char *device = NULL;
    bool is_long = false;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--long"))
            is_long = true;
        else if (!strcmp(argv[i], "--device") && i + 1 < argc)
            device = argv[++i];
    }
    make_data();
    nino_ctx *ctx = open_ctx(device);
    nino_device_info info;
    nino_ctx_device(ctx, &info);
    nino_ctx_destroy(&ctx);
    printf("device: %s, %u compute units (%s, %s)\n", info.name, info.compute_units, info.platform,
           info.driver);
    for (int i = 0; i < (int) (sizeof(cases) / sizeof(*cases)); i++)
        if (is_long || !cases[i].is_long)
            report(device, i);
    telemetry_cost(device);
    return 0;
}
