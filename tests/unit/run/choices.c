// Inputs of the ROCm nodes that choose how a run is done: each changes what is planned, launched or
// freed. batch_optimization, use_rocm_optimizations, cleanup_frequency, memory_threshold; purge_models,
// purge_cache, unload_all_models, empty_cache.
#include "tests/flow.h"
#include "tests/random_vae.h"

#include "core/op/backend.h"
#include "core/run/context.h"

#include <math.h>

static nino_error err;
static const char *decoder = "ROCMOptimizedVAEDecode";

static nino_graph *decode(int side, int batch, bool optimised, bool batching)
{
    char json[900];
    snprintf(json, sizeof(json),
             "{'1': {'class_type': 'EmptyLatentImage', 'inputs': {'width': %d, 'height': %d, "
             "'batch_size': %d}},"
             "'2': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'a.safetensors'}},"
             "'3': {'class_type': '%s', 'inputs': {'samples': ['1', 0], 'vae': "
             "['2', 0], 'tile_size': 256, 'overlap': 32, 'use_rocm_optimizations': %s, "
             "'precision_mode': 'fp32', 'batch_optimization': %s}},"
             "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['3', 0], 'filename_prefix': "
             "'a'}}}",
             side, side, batch, decoder, optimised ? "true" : "false", batching ? "true" : "false");
    return flow_graph(json);
}

static nino_ctx *open_limited(const char *device, uint64_t limit)
{
    char models[512];
    snprintf(models, sizeof(models), "%s/models", flow_temp());
    return flow_open_limited(device, models, limit);
}

static nino_scheme_info plan(nino_ctx *ctx, nino_graph *g, const char *profile,
                             nino_scheme_choice *first, uint64_t *kernels)
{
    nino_scheme_info i = { NINO_SCHEME_INFO_INIT };
    *first = (nino_scheme_choice){ NINO_SCHEME_CHOICE_INIT };
    nino_scheme *s = nino_scheme_create(ctx, g, profile, NULL, 0, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    CHECK_OK(nino_scheme_get(s, &i, &err), err);
    CHECK(i.ways >= 1);
    if (nino_scheme_choices(s))
        CHECK_OK(nino_scheme_choice_get(s, 0, first, &err), err);
    else
        CHECK(nino_scheme_choice_get(s, 0, first, &err) == NINO_ERR_RANGE);
    *kernels = nino_scheme_plan(s)->kernels;
    const nino_plan *all = nino_scheme_plan(s);
    const double least = fmax(all->flops / all->basis.peak, all->bytes / all->basis.bandwidth);
    CHECK(!(all->basis.peak > 0) || fabs(all->basis.least_seconds - least) <= 1e-6 * least);
    first->what = first->node = NULL; // they go with it
    nino_scheme_destroy(&s);
    return i;
}

// Pictures of a batch go through together where that is predicted to be faster, and the planned
// launches are the run's.
static void check_batch(const char *device, const char *profile)
{
    nino_ctx *ctx = open_limited(device, 0);
    nino_scheme_choice one, all;
    uint64_t n_one, n_all;
    if (!ctx) {
        test_skip_part("there is no such device");
        return;
    }
    nino_graph *g = decode(64, 4, true, false);
    plan(ctx, g, profile, &one, &n_one);
    nino_graph_destroy(&g);
    g = decode(64, 4, true, true);
    plan(ctx, g, profile, &all, &n_all);
    printf("  %s: one at a time %d launches, %d at once %d\n", profile ? profile : device,
           (int) n_one, all.images, (int) n_all);
    CHECK(one.images == 0 && all.images == 4 && n_all < n_one / 3);
    if (!profile) {
        const flow_result r = flow_run(ctx, g, NULL);
        CHECK_OK(r.st, r.err);
        CHECK(nino_ctx_backend(ctx)->n_ops == n_all);
    }
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
}

// Without the switch the ops do as they do by themselves: tiles, where the planner takes bands.
static void check_optimised(void)
{
    nino_scheme_choice c;
    uint64_t n;
    nino_ctx *ctx = open_limited("ref", 0);
    nino_graph *on = decode(320, 1, true, true), *off = decode(320, 1, false, true);
    const uint64_t peak = plan(ctx, on, NULL, &c, &n).peak_bytes;
    nino_ctx_destroy(&ctx);
    ctx = open_limited("ref", peak * 6 / 10);
    nino_scheme_info i = plan(ctx, on, NULL, &c, &n);
    CHECK(i.fits && i.is_pressed);
    CHECK_STR(i.loss, "rounding");
    const flow_result bands = flow_run(ctx, on, NULL);
    CHECK_OK(bands.st, bands.err);
    i = plan(ctx, off, NULL, &c, &n);
    CHECK(i.fits);
    CHECK_STR(i.loss, "tiles are blended");
    const flow_result tiles = flow_run(ctx, off, NULL);
    CHECK_OK(tiles.st, tiles.err);
    CHECK(tiles.n_tiles > 0 && tiles.n_tiles != bands.n_tiles);
    nino_graph_destroy(&on);
    nino_graph_destroy(&off);
    nino_ctx_destroy(&ctx);
}

static const char *tidy(nino_ctx *ctx, const char *more, uint64_t *trims)
{
    static flow_result r;
    nino_mem_stat m;
    char json[400];
    snprintf(json, sizeof(json),
             "{'1': {'class_type': 'ROCMMemoryOptimizer', 'inputs': {'optimization_level': "
             "'aggressive', 'enable_gc': true, 'clear_cache': true%s}}}",
             more);
    // something to free
    nino_graph *g = decode(32, 1, true, true);
    r = flow_run(ctx, g, &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .is_anew = true });
    CHECK_OK(r.st, r.err);
    nino_graph_destroy(&g);
    g = flow_graph(json);
    nino_pool_stat(nino_ctx_backend(ctx)->pool, &m);
    const uint64_t before = m.trims;
    CHECK(m.by_owner[NINO_OWN_WEIGHTS] > 0);
    r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    nino_graph_destroy(&g);
    nino_pool_stat(nino_ctx_backend(ctx)->pool, &m);
    *trims = m.trims - before;
    CHECK((m.by_owner[NINO_OWN_WEIGHTS] == 0) == (*trims > 0));
    return r.text[1];
}

static void check_tidy(void)
{
    uint64_t trims;
    nino_ctx *ctx = open_limited("ref", (uint64_t) 1 << 30);
    for (int i = 0; i < 7; i++) { // the first of three
        const char *log = tidy(ctx, ", 'cleanup_frequency': 3", &trims);
        CHECK((i % 3 == 0) == (trims > 0));
        CHECK(i % 3 ? strstr(log, i % 3 == 1 ? "nothing freed: run 2 of 3" : "run 3 of 3") != NULL
                    : strstr(log, "weights on the device: ") != NULL);
    }
    CHECK(strstr(tidy(ctx, ", 'cleanup_frequency': 1, 'memory_threshold': 0.85", &trims),
                 "% of the budget is in use, it is to be 85.0 %"));
    CHECK(!trims);
    tidy(ctx, ", 'cleanup_frequency': 1, 'memory_threshold': 0.0", &trims);
    CHECK(trims > 0);
    nino_ctx_destroy(&ctx);
    ctx = open_limited("ref", 1200 << 10); // of which the weights are more than a tenth
    tidy(ctx, ", 'cleanup_frequency': 1, 'memory_threshold': 0.1", &trims);
    CHECK(trims > 0);
    nino_ctx_destroy(&ctx);
}

// Two decodes with a node between them. Returns the weights that came in, which the plan says, too.
static uint64_t loads_around(const char *node, uint64_t *trims)
{
    char json[1200];
    nino_scheme_info i = { NINO_SCHEME_INFO_INIT };
    nino_mem_stat m;
    nino_ctx *ctx = open_limited("ref", (uint64_t) 1 << 30);
    snprintf(json, sizeof(json),
             "{'1': {'class_type': 'EmptyLatentImage', 'inputs': {'width': 64, 'height': 64, "
             "'batch_size': 1}},"
             "'2': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'a.safetensors'}},"
             "'3': {'class_type': 'VAEDecode', 'inputs': {'samples': ['1', 0], 'vae': ['2', 0]}},"
             "%s,"
             "'5': {'class_type': 'GetImageSize', 'inputs': {'image': ['4', 0]}},"
             "'6': {'class_type': 'EmptyLatentImage', 'inputs': {'width': ['5', 0], 'height': 16, "
             "'batch_size': 1}},"
             "'7': {'class_type': 'VAEDecode', 'inputs': {'samples': ['6', 0], 'vae': ['2', 0]}},"
             "'8': {'class_type': 'SaveImage', 'inputs': {'images': ['7', 0], 'filename_prefix': "
             "'a'}}}",
             node);
    nino_graph *g = flow_graph(json);
    nino_scheme *s = nino_scheme_create(ctx, g, NULL, NULL, 0, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    CHECK_OK(nino_scheme_get(s, &i, &err), err);
    nino_scheme_destroy(&s);
    const flow_result r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    const uint64_t bytes = nino_ctx_backend(ctx)->load_bytes;
    CHECK(i.load_bytes == bytes);
    nino_pool_stat(nino_ctx_backend(ctx)->pool, &m);
    *trims = m.trims;
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
    return bytes;
}

#define BETWEEN(class, port, settings)                                                             \
    "'4': {'class_type': '" class "', 'inputs': {'" port "': ['3', 0], " settings "}}"
#define PURGE(settings) BETWEEN("LayerUtility: PurgeVRAM V2", "anything", settings)
#define DEBUG(settings) BETWEEN("VRAM_Debug", "any_input", "'gc_collect': true, " settings)

static void check_purge(void)
{
    uint64_t none, cache, models;
    const uint64_t once = loads_around(PURGE("'purge_cache': false, 'purge_models': false"), &none);
    CHECK(loads_around(PURGE("'purge_cache': true, 'purge_models': false"), &cache) == once);
    CHECK(cache > none);
    CHECK(loads_around(PURGE("'purge_cache': false, 'purge_models': true"), &models) > once);
    CHECK(models == none);
    CHECK(loads_around(DEBUG("'empty_cache': true, 'unload_all_models': false"), &cache) == once);
    CHECK(cache > none);
    CHECK(loads_around(DEBUG("'empty_cache': false, 'unload_all_models': true"), &models) > once);
    CHECK(models == none);
}

// The rate at which weights come in is assumed until a large load has measured it, and is then known
// for the folder that they came from, in later programs, too.
static void check_load_rate(void)
{
    const uint64_t large = NINO_LARGE_LOAD;
    char cache[512];
    nino_scheme_choice c;
    uint64_t kernels;
    snprintf(cache, sizeof(cache), "%s/cache", flow_temp());
    char models[512];
    snprintf(models, sizeof(models), "%s/models", flow_temp());
    const char *roots[] = { models, NULL };
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .device = "ref", .cache_dir = cache,
                                .job =
                                    &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = roots } };
    nino_graph *g = decode(64, 1, true, true);
    for (int i = 0; i < 2; i++) {
        nino_ctx *ctx = nino_ctx_create(&p, &err);
        CHECK_OK(ctx ? NINO_OK : err.code, err);
        nino_ctx_keep_load_rate(ctx, models, large - 1, 1); // too little to say
        nino_ctx_renew_load_rate(ctx, "elsewhere");
        CHECK(!nino_ctx_backend(ctx)->profile.is_load_measured);
        nino_scheme_info s = plan(ctx, g, NULL, &c, &kernels);
        CHECK(s.is_load_measured == (i > 0));
        CHECK(i || fabs((double) s.load_bytes / s.load_seconds - 1e9) < 1);
        nino_ctx_keep_load_rate(ctx, models, 2 * large,
                                250000000); // 512 MiB in a quarter of a second
        s = plan(ctx, g, NULL, &c, &kernels);
        CHECK(s.is_load_measured);
        CHECK(fabs((double) s.load_bytes / s.load_seconds / (0x1p29 / 0.25) - 1) < 1e-6);
        nino_ctx_destroy(&ctx);
    }
    nino_graph_destroy(&g);
}

int main(void)
{
    char dir[512], cmd[600];
    snprintf(dir, sizeof(dir), "%s/models/vae", flow_temp());
    snprintf(cmd, sizeof(cmd), "mkdir -p %s", dir);
    CHECK(system(cmd) == 0);
    const random_vae net = {
        .ch = 32, .mult = { 1, 2 }, .n_levels = 2, .n_res = 1, .z = 4, .dtype = NINO_F32, .seed = 5
    };
    CHECK_OK(random_vae_save(net, dir, "a.safetensors", &err), err);
    static const char *const phases[] = { "ROCMOptimizedVAEDecodeV2",
                                          "ROCMOptimizedVAEDecodeV2Phase2",
                                          "ROCMOptimizedVAEDecodeV2Phase3" };
    check_batch("ref", "gfx1151");
    check_batch("cl", NULL);
    for (int i = 0; i < 3; i++) {
        decoder = phases[i];
        check_batch("ref", "gfx1151");
    }
    decoder = "ROCMOptimizedVAEDecode";
    check_load_rate();
    check_optimised();
    check_tidy();
    check_purge();
    flow_clean();
    return 0;
}
