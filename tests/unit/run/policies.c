// Every policy of a run acts: with it switched off a counter or a trace is another one, and what is computed is the
// same.
#include "core/base/params.h"
#include "core/file/safetensors.h"
#include "core/op/backend.h"
#include "core/op/pace.h"
#include "tests/flow.h"

#include <math.h>
#include <string.h>

static const char *const demo[] = { "data/demo/models", NULL };

typedef struct counts {
    uint64_t kernels, wino, hits, allocs, cached, chunks, tiles, narrow;
    bool ran_out;      // a message said that memory did
    int tile, overlap; // pixels, as the last of those said
    nino_mem_stat mem;
} counts;

static nino_job *last_job;

static void count_one(counts *c, const nino_job *job, const nino_event *e)
{
    const char *name = nino_job_name((void *) (uintptr_t) job, e->name);
    c->kernels += e->kind == NINO_EV_KERNEL;
    c->wino += e->kind == NINO_EV_KERNEL && strstr(name, "wino") != NULL;
    c->chunks += e->kind == NINO_EV_CHUNK;
    c->tiles += e->kind == NINO_EV_TILE;
    c->cached += e->kind == NINO_EV_CACHE && e->sub == NINO_CACHE_NODE && e->u.scope.arg0;
    const char *out = strstr(name, "device memory ran out: tiles of ");
    c->ran_out |= strstr(name, "device memory ran out") != NULL;
    if (e->kind == NINO_EV_MESSAGE && out)
        CHECK(sscanf(out, "device memory ran out: tiles of %d with an overlap of %d", &c->tile,
                     &c->overlap) == 2);
}

static counts run_with(nino_ctx *ctx, const char *workflow, const nino_job_options *more)
{
    counts c = { 0 };
    nino_error err = { 0 };
    nino_status st = NINO_OK;
    nino_event ev[64];
    nino_job_options o = *more;
    nino_graph *g = flow_graph(workflow);
    nino_stats *s = nino_stats_create();
    nino_perf_stats perf;
    o.models = demo;
    o.no_files = o.keep_results = true;
    nino_job_destroy(&last_job);
    nino_job *job = last_job = nino_job_start(ctx, g, &o, &err);
    CHECK_OK(job ? NINO_OK : err.code, err);
    for (size_t n;;) {
        while ((n = nino_job_poll(job, ev, 64)) > 0) {
            nino_stats_add(s, ev, n, nino_job_name, job);
            for (size_t i = 0; i < n; i++)
                count_one(&c, job, &ev[i]);
        }
        if (nino_job_done(job, &st, &err))
            break;
        nino_job_wait(job, 100);
    }
    CHECK_OK(st, err);
    nino_stats_memory(s, &c.mem);
    nino_stats_perf(s, &perf);
    c.narrow = (uint64_t) perf.total_precision_optimizations;
    c.allocs = c.mem.allocs, c.hits = c.mem.hits;
    nino_stats_destroy(&s);
    nino_graph_destroy(&g);
    return c;
}

static counts run_off(nino_ctx *ctx, const char *workflow, uint32_t off)
{
    const nino_job_options o = { NINO_JOB_OPTIONS_INIT, .policies_off = off };
    return run_with(ctx, workflow, &o);
}

static nino_raster picture(void)
{
    nino_error err = { 0 };
    nino_raster r = { NINO_RASTER_INIT };
    CHECK_OK(nino_job_image(last_job, "9", 0, &r, &err), err);
    return r;
}

// The last job's picture is that of `before`, within `most` of 255; 0: bit by bit.
static void check_same(const float *before, size_t n, double most)
{
    const nino_raster r = picture();
    const float *v = r.data;
    double worst = 0;
    CHECK((size_t) r.n * (size_t) r.height * (size_t) r.width * 3 == n);
    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fabs((double) v[i] - (double) before[i]));
    CHECK(255 * worst <= most);
}

static float *keep_picture(size_t *n)
{
    const nino_raster r = picture();
    *n = (size_t) r.n * (size_t) r.height * (size_t) r.width * 3;
    float *v = malloc(*n * sizeof(*v));
    CHECK(v);
    memcpy(v, r.data, *n * sizeof(*v));
    return v;
}

#define PICTURE(side, seed)                                                                        \
    "{'1': {'class_type': 'CheckpointLoaderSimple', 'inputs': {'ckpt_name': "                      \
    "'demo_flux.safetensors'}},"                                                                   \
    " '3': {'class_type': 'CLIPTextEncode', 'inputs': {'text': 'a red circle', 'clip': ['1', "     \
    "1]}},"                                                                                        \
    " '4': {'class_type': 'CLIPTextEncode', 'inputs': {'text': 'blurry', 'clip': ['1', 1]}},"      \
    " '5': {'class_type': 'EmptySD3LatentImage', 'inputs': {'width': " side ", 'height': " side    \
    ", 'batch_size': 1}},"                                                                         \
    " '6': {'class_type': 'KSampler', 'inputs': {'model': ['1', 0], 'positive': ['3', 0], "        \
    "'negative': ['4', 0], 'latent_image': ['5', 0], 'seed': " seed                                \
    ", 'steps': 2, 'cfg': 3, 'sampler_name': 'euler', 'scheduler': 'simple', 'denoise': 1}},"      \
    " '8': {'class_type': 'VAEDecode', 'inputs': {'samples': ['6', 0], 'vae': ['1', 2]}},"         \
    " '9': {'class_type': 'SaveImage', 'inputs': {'images': ['8', 0], 'filename_prefix': 'p'}}}"

#define CLIP(side, decode)                                                                         \
    "{'1': {'class_type': 'CLIPLoader', 'inputs': {'clip_name': 'demo_umt5.safetensors', 'type': " \
    "'wan'}},"                                                                                     \
    " '2': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'demo_wan_vae.safetensors'}},"       \
    " '3': {'class_type': 'UNETLoader', 'inputs': {'unet_name': "                                  \
    "'demo_wan_fp8_scaled.safetensors', "                                                          \
    "'weight_dtype': 'default'}},"                                                                 \
    " '4': {'class_type': 'CLIPTextEncode', 'inputs': {'text': 'a', 'clip': ['1', 0]}},"           \
    " '5': {'class_type': 'EmptyHunyuanLatentVideo', 'inputs': {'width': " side                    \
    ", 'height': " side ", "                                                                       \
    "'length': 9, 'batch_size': 1}},"                                                              \
    " '6': {'class_type': 'KSampler', 'inputs': {'model': ['3', 0], 'positive': ['4', 0], "        \
    "'negative': ['4', 0], 'latent_image': ['5', 0], 'seed': 1, 'steps': 1, 'cfg': 1, "            \
    "'sampler_name': 'euler', 'scheduler': 'simple', 'denoise': 1}},"                              \
    " '8': {'class_type': " decode "'samples': ['6', 0], 'vae': ['2', 0]}},"                       \
    " '9': {'class_type': 'SaveImage', 'inputs': {'images': ['8', 0], 'filename_prefix': 'p'}}}"

#define OFF(policy) NINO_POLICY_BIT(NINO_POLICY_##policy)

static void test_pictures(nino_ctx *ctx)
{
    const char *flow = PICTURE("128", "1");
    size_t n;
    const counts all = run_off(ctx, flow, 0);
    float *v = keep_picture(&n);
    CHECK(all.hits * 10 > all.allocs * 9 && all.wino > 0);

    const counts pool = run_off(ctx, flow, OFF(POOL));
    check_same(v, n, 0);
    CHECK(pool.hits == 0 && pool.allocs > 0);

    const counts layout = run_off(ctx, flow, OFF(LAYOUT));
    check_same(v, n, 0.1);
    CHECK(layout.wino == 0 && layout.kernels != all.kernels);

    const counts again = run_off(ctx, flow, 0), cache = run_off(ctx, flow, OFF(CACHE));
    check_same(v, n, 0);
    CHECK(again.cached >= 1 && !again.kernels && cache.cached == 0 && cache.kernels > 0);
    const counts twice = run_off(ctx, flow, OFF(CACHE)); // nor was it put there
    CHECK(twice.cached == 0 && twice.kernels == cache.kernels);

    const counts batching = run_off(ctx, flow, OFF(BATCHING));
    check_same(v, n, 0.1);
    CHECK(batching.kernels > all.kernels);
    free(v);
}

static void test_phases(nino_ctx *ctx)
{
    counts c[NINO_PHASE_COUNT];
    for (int k = 0; k < NINO_PHASE_COUNT; k++) {
        nino_job_options o = { NINO_JOB_OPTIONS_INIT };
        nino_phase_set(&o, (nino_phase) k);
        c[k] = run_with(ctx, PICTURE("64", "2"), &o);
    }
    CHECK(!c[0].hits && !c[0].narrow && c[1].hits && !c[1].narrow && c[2].narrow && c[3].narrow);
    CHECK(c[1].kernels > c[2].kernels); // prompts together
}

static void test_clip(nino_ctx *ctx)
{
    size_t n;
    const char *whole = CLIP("32", "'VAEDecode', 'inputs': {"),
               *tiled = CLIP("96", "'VAEDecodeTiled', 'inputs': {'tile_size': 64, 'overlap': 16, ");
    const counts on = run_off(ctx, whole, OFF(TILES)); // a plan may take several at once
    float *v = keep_picture(&n);
    const counts off = run_off(ctx, whole, OFF(TILES) | OFF(STREAMING));
    check_same(v, n, 0);
    CHECK(on.chunks == 3 && off.chunks == 1 && off.mem.peak > on.mem.peak);
    CHECK(run_off(ctx, tiled, OFF(TILES)).tiles > 1); // which were asked for
    free(v);
}

// In 60 % of what the whole needs: with a plan no attempt fails. What runs without one is returned.
static counts run_short(const char *flow)
{
    nino_ctx *ctx = flow_open("cl", NULL);
    nino_error err = { 0 };
    const nino_job_options o = { NINO_JOB_OPTIONS_INIT, .models = demo, .no_files = true };
    nino_plan plan;
    nino_graph *g = flow_graph(flow);
    CHECK_OK(nino_graph_plan(ctx, g, NULL, &o, &plan, &err), err);
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .device = "cl",
                                .mem_limit = plan.peak_bytes * 6 / 10 };
    nino_plan_release(&plan);
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
    CHECK((ctx = nino_ctx_create(&p, &err)));
    const counts on = run_off(ctx, flow, 0);
    size_t n;
    float *v = keep_picture(&n);
    const counts off = run_off(ctx, flow, OFF(TILES));
    CHECK(!on.ran_out);
    CHECK(off.mem.fails > 0 && off.ran_out);
    check_same(v, n, 48); // where tiles meet: 33 and 5 of 255
    free(v);
    nino_job_destroy(&last_job);
    nino_ctx_destroy(&ctx);
    return off;
}

static void test_tiles(void)
{
    run_short(PICTURE("320", "3"));
    const counts clip = run_short(CLIP("320", "'VAEDecode', 'inputs': {"));
    CHECK(clip.tile >= 64 && clip.tile < 320 && clip.overlap == 64 && clip.tiles > 1);
}

// ---- reading ahead ---------------------------------------------------------------------------

enum { MATRICES = 24, SIDE = 512 }; // 1 MiB each: more than a file that is not worth it

static void write_model(const char *dir)
{
    static char names[MATRICES][16];
    nino_error err = { 0 };
    nino_st_entry e[MATRICES];
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(SIDE, SIDE));
    CHECK(a);
    for (int i = 0; i < MATRICES; i++) {
        snprintf(names[i], sizeof(names[i]), "m%d.weight", i);
        e[i] = (nino_st_entry){ names[i], a };
    }
    CHECK_OK(nino_st_save(dir, "m.safetensors", false, e, MATRICES, NULL, 0, &err), err);
    nino_array_unref(&a);
}

static int count_told(nino_mon_reader *r, int *ahead)
{
    nino_event ev[256];
    int all = 0;
    *ahead = 0;
    for (size_t k; (k = nino_mon_reader_read(r, ev, 256, NULL)) > 0;)
        for (size_t i = 0; i < k; i++) {
            all += ev[i].kind == NINO_EV_TRANSFER;
            *ahead += ev[i].kind == NINO_EV_TRANSFER &&
                      (ev[i].sub == NINO_TRANSFER_AHEAD || ev[i].sub == NINO_TRANSFER_LATE);
        }
    return all;
}

// Weights that were asked for ahead, of MATRICES, the first time and after they have left the device, as between the
// nodes of a run with cpu_offload; whether a page of the others is in memory is not ours to say.
static void count_ahead(nino_backend *be, const char *path, uint32_t switched, int n[2])
{
    nino_error err = { 0 };
    nino_weights *f = nino_weights_open(path, &err);
    nino_weight *w[MATRICES];
    nino_monitor *m = nino_monitor_create();
    nino_mon_reader *r = nino_mon_reader_create(m);
    CHECK(f && r);
    be->monitor = m;
    nino_backend_set_switched(be, switched);
    for (int i = 0; i < MATRICES; i++) {
        char name[16];
        snprintf(name, sizeof(name), "m%d.weight", i);
        CHECK_OK(nino_weight_get(f, "", name, NINO_W_MATRIX, SIDE, SIDE, true, &w[i], &err), err);
    }
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < MATRICES; i++) {
            be->turn++;
            CHECK(nino_backend_weight(be, w[i], NINO_F32, &err));
            usleep(2000); // the thread's turn, which the count does not rest on: 1 of 24 is enough
        }
        nino_backend_drop_weights(be);
        CHECK(count_told(r, &n[k]) == MATRICES);
    }
    be->monitor = NULL;
    for (int i = 0; i < MATRICES; i++)
        nino_weight_destroy(&w[i]);
    nino_mon_reader_destroy(&r);
    nino_monitor_destroy(&m);
    nino_weights_unref(&f);
}

static void test_prefetch(void)
{
    char path[600];
    nino_error err = { 0 };
    nino_backend *be = nino_ref_open(0, NULL, &err);
    CHECK(be);
    write_model(flow_temp());
    snprintf(path, sizeof(path), "%s/m.safetensors", flow_temp());
    int n[2];
    count_ahead(be, path, 0, n);
    CHECK(n[0] > 0 && n[1] > 0);
    count_ahead(be, path, OFF(PREFETCH), n);
    CHECK(!n[0] && !n[1]);
    nino_backend_close(&be);
}

// ---- adaptive --------------------------------------------------------------------------------

// Without a folder for what earlier tests have seen.
static void test_adaptive(void)
{
    nino_error err = { 0 };
    nino_ctx *ctx = nino_ctx_create(
        &(nino_ctx_params){ NINO_CTX_PARAMS_INIT, .device = "cl", .cache_dir = "" }, &err);
    CHECK(ctx);
    const nino_job_options o = { NINO_JOB_OPTIONS_INIT, .policies_on = OFF(ADAPTIVE) };
    uint64_t kernels[8];
    const char *flow[] = { PICTURE("64", "10"), PICTURE("64", "11"), PICTURE("64", "12") };
    run_off(ctx, flow[0], 0);
    for (int i = 0; i < 3; i++)
        kernels[i] = run_with(ctx, flow[i], &o).kernels;
    const uint64_t apart = run_off(ctx, flow[1], OFF(BATCHING)).kernels,
                   both = run_off(ctx, flow[2], 0).kernels;
    CHECK(apart > both); // it tries both ways, in turn
    CHECK(kernels[1] > both || kernels[2] > both);
    nino_job_destroy(&last_job);
    nino_ctx_destroy(&ctx);
}

static void test_paces(void)
{
    static nino_paces p;
    const nino_hash a = { 1, 2 }, b = { 3, 4 };
    int tried[2] = { 0 };
    CHECK(nino_pace_choose(&p, a) == 0 && isnan(nino_pace_of(&p, a, 0)));
    for (int i = 0; i < 2 * NINO_PACE_SAMPLES; i++) {
        const int way = nino_pace_choose(&p, a);
        tried[way]++;
        nino_pace_note(&p, a, way, way ? 1.0 : 2.0);
    }
    CHECK(tried[0] == NINO_PACE_SAMPLES && tried[1] == NINO_PACE_SAMPLES);
    CHECK(nino_pace_choose(&p, a) == 1 && nino_pace_of(&p, a, 1) == 1.0);
    for (int i = 0; i < NINO_PACE_SAMPLES; i++) // it became slower: found out
        nino_pace_note(&p, a, 1, 3.0);
    CHECK(nino_pace_choose(&p, a) == 0 && nino_pace_choose(&p, b) == 0);

    char dir[600];
    nino_error err = { 0 };
    static nino_paces q;
    const nino_device_info d = { .name = "a device", .driver = "1" };
    snprintf(dir, sizeof(dir), "%s/cache", flow_temp());
    CHECK_OK(nino_paces_save(&p, dir, &d, &err), err);
    nino_paces_load(&q, dir, &d);
    CHECK(q.n == p.n && nino_pace_of(&q, a, 0) == 2.0 && nino_pace_of(&q, a, 1) == 3.0);
    for (uint64_t i = 0; i < 2 * NINO_PACE_KEYS; i++) // the longest unused went
        nino_pace_note(&q, (nino_hash){ i, 9 }, 0, 1.0);
    CHECK(q.n == NINO_PACE_KEYS && isnan(nino_pace_of(&q, a, 0)));
}

// ---- words -----------------------------------------------------------------------------------

static void test_options(void)
{
    nino_job_options base = { NINO_JOB_OPTIONS_INIT }, over = { NINO_JOB_OPTIONS_INIT };
    nino_phase p = NINO_PHASE_BASELINE;
    CHECK(nino_options_switched(&base) == 0);
    nino_phase_set(&base, NINO_PHASE_BASELINE);
    CHECK(nino_options_switched(&base) == NINO_POLICY_STANDARD);
    CHECK(base.precision == NINO_PRECISION_F32);
    over.policies_on = OFF(POOL);
    nino_options_lay_over(&base, &over);
    CHECK(nino_options_switched(&base) == (NINO_POLICY_STANDARD & ~OFF(POOL)));
    over = (nino_job_options){ NINO_JOB_OPTIONS_INIT, .policies_off = OFF(POOL) };
    nino_options_lay_over(&base, &over);
    CHECK(nino_options_switched(&base) == NINO_POLICY_STANDARD);
    over = (nino_job_options){ NINO_JOB_OPTIONS_INIT, .precision = NINO_PRECISION_BF16 };
    nino_phase_set(&over, NINO_PHASE_VIDEO);
    CHECK(over.precision == NINO_PRECISION_BF16);
    CHECK(nino_options_switched(&over) == OFF(ADAPTIVE));
    CHECK(nino_phase_find("memory", &p) && p == NINO_PHASE_MEMORY && !nino_phase_find("all", &p));
    CHECK(!strcmp(nino_policy_name(NINO_POLICY_TILES), "tiles"));
}

int main(void)
{
    setenv("NINODES_MIXED_FROM", "16384", 1); // a picture of 64 x 64 has 16-bit maps, too
    setenv("NINODES_HALF_FROM", "16384", 1);
    test_options();
    test_paces();
    test_prefetch();
    nino_ctx *ctx = flow_open("cl", NULL);
    if (ctx) {
        test_pictures(ctx);
        test_phases(ctx);
        test_clip(ctx);
        nino_job_destroy(&last_job);
        nino_ctx_destroy(&ctx);
        test_tiles();
        test_adaptive();
    } else {
        printf("part skipped: no OpenCL device\n");
    }
    flow_clean();
    return 0;
}
