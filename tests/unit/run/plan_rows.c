// Whole plans of small graphs: sums, shares of the memory, scopes, tiles, what times rest on, and what was chosen
// for each node, for a device of which every number is made up here and for the reference, within budgets.
// tests/data/recorded/graphs.txt records what is planned today, see tests/unit/recorded.h.
#include "tests/flow.h"
#include "tests/random_vae.h"
#include "tests/unit/recorded.h"

#include "core/op/backend.h"
#include "core/run/context.h"

static nino_error err;

// Devices of the user: one with matrix instructions and a clock model, one without either.
static void put_device(const char *folder, const char *name, const char *schedule, int units)
{
    char path[600];
    snprintf(path, sizeof(path), "%s/%s.json", folder, name);
    FILE *f = fopen(path, "w");
    CHECK(f);
    fprintf(
        f,
        "{\"name\": \"%s\", \"date\": \"2026-01-02\", \"about\": \"made up\", \"match\": [\"%s\"], "
        "\"is_cpu\": false, \"schedule\": \"%s\", \"act_type\": \"%s\", \"weight_type\": \"f32\", "
        "\"winograd\": false, \"winograd_stripe\": 0, \"mem_bytes\": %d, \"peak_f32\": 1e12, "
        "\"peak_f16\": 2e12, \"bandwidth\": 1e11, \"launch_s\": 1e-5, \"units\": %d, "
        "\"efficiency_gemm\": 0.5, \"efficiency_conv\": 0.4, \"efficiency_attn\": 0.3}",
        name, name, schedule, units ? "f16" : "f32", units ? 0 : 3 << 20, units);
    CHECK(!fclose(f));
}

typedef struct decode {
    const char *what, *class, *more;
    int width, height, batch;
} decode;

static const decode decodes[] = {
    { "whole", "VAEDecode", "", 64, 96, 1 },
    { "two", "VAEDecode", "", 72, 64, 2 },
    { "tiled", "VAEDecodeTiled",
      ", 'tile_size': 64, 'overlap': 16, 'temporal_size': 64, 'temporal_overlap': 8", 96, 88, 1 },
    { "tiled, small overlap", "VAEDecodeTiled",
      ", 'tile_size': 64, 'overlap': 0, 'temporal_size': 64, 'temporal_overlap': 8", 136, 64, 1 },
    { "chosen", "ROCMOptimizedVAEDecode",
      ", 'tile_size': 256, 'overlap': 32, 'use_rocm_optimizations': true, 'precision_mode': "
      "'auto', "
      "'batch_optimization': true",
      72, 96, 3 },
    { "as they are", "ROCMOptimizedVAEDecode",
      ", 'tile_size': 256, 'overlap': 32, 'use_rocm_optimizations': false, 'precision_mode': "
      "'fp32', "
      "'batch_optimization': false",
      88, 88, 1 },
};

static nino_graph *graph(const decode *d)
{
    char json[1200];
    snprintf(json, sizeof(json),
             "{'1': {'class_type': 'EmptyLatentImage', 'inputs': {'width': %d, 'height': %d, "
             "'batch_size': %d}},"
             "'2': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'a.safetensors'}},"
             "'3': {'class_type': '%s', 'inputs': {'samples': ['1', 0], 'vae': ['2', 0]%s}},"
             "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['3', 0], 'filename_prefix': "
             "'a'}}}",
             d->width, d->height, d->batch, d->class, d->more);
    return flow_graph(json);
}

static void show_plan(const char *what, const nino_plan *p)
{
    double scopes = 0;
    uint64_t peaks = 0, kernels = 0;
    const nino_plan_tiling *t = &p->tiling;
    const nino_plan_basis *b = &p->basis;
    for (size_t i = 0; i < p->n_scopes; i++) {
        const nino_plan_scope *s = &p->scopes[i];
        scopes += (s->seconds * 1e3 + s->flops * 1e-9 + s->bytes * 1e-6) * (double) (1 + i % 13);
        peaks += s->peak_bytes * (1 + i % 7);
        kernels += s->kernels * (uint64_t) (1 + s->depth);
    }
    record_row("%s: for %s ~%.8g FLOP ~%.8g bytes ~%.8g s %llu kernels, peak %llu weights %llu "
               "rest %llu of %llu %d",
               what, p->profile, p->flops, p->bytes, p->seconds, (unsigned long long) p->kernels,
               (unsigned long long) p->peak_bytes, (unsigned long long) p->weight_bytes,
               (unsigned long long) p->peak_activation_bytes, (unsigned long long) p->budget,
               p->fits);
    record_row("%s: %zu scopes ~%.8g %llu %llu, first %s, last %s; tiles %d %dx%d +%d of %d: %s",
               what, p->n_scopes, scopes, (unsigned long long) peaks, (unsigned long long) kernels,
               p->n_scopes ? p->scopes[0].name : "",
               p->n_scopes ? p->scopes[p->n_scopes - 1].name : "", t->is_tiled, t->tile_w,
               t->tile_h, t->overlap, t->n_tiles, t->why);
    record_row("%s: by %s %s %d %s ~%.8g ~%.8g ~%.8g ~%.8g ~%.8g ~%.8g least ~%.8g", what,
               *b->file ? "its file" : "", b->date, b->is_measured, b->peak_type, b->peak,
               b->bandwidth, b->launch_s, b->efficiency_gemm, b->efficiency_conv,
               b->efficiency_attn, b->least_seconds);
}

static void show_scheme(const char *what, const nino_scheme *s)
{
    nino_scheme_info i = { NINO_SCHEME_INFO_INIT };
    nino_scheme_choice c = { NINO_SCHEME_CHOICE_INIT };
    CHECK_OK(nino_scheme_get(s, &i, &err), err);
    record_row(
        "%s: budget %llu peak %llu %d%d%d ~%.8g s, %llu read in ~%.8g s, ~%.8g ~%.8g, %d ways, "
        "least %llu %s, loses %s",
        what, (unsigned long long) i.budget, (unsigned long long) i.peak_bytes, i.fits,
        i.is_pressed, i.is_load_measured, i.seconds, (unsigned long long) i.load_bytes,
        i.load_seconds, i.unchosen_seconds, i.unlimited_seconds, i.ways,
        (unsigned long long) i.least_bytes, i.least_node, i.loss);
    CHECK(i.fits == !!*i.why);
    for (size_t k = 0; k < nino_scheme_choices(s); k++) {
        CHECK_OK(nino_scheme_choice_get(s, k, &c, &err), err);
        record_row("%s: %s: %s: %d %d %d %d %d %d", what, c.node, c.what, c.tile, c.rows, c.images,
                   c.chunk, c.is_narrow, c.is_newest_first);
    }
    const size_t n = nino_scheme_choices(s);
    char words[80];
    CHECK(nino_scheme_choice_get(s, n, &c, &err) == NINO_ERR_RANGE);
    snprintf(words, sizeof(words), "there are choices for %zu nodes", n);
    CHECK_STR(err.msg, words);
}

// limit: of the context that plans, bytes; budget: that is asked for. 0: none.
static void check(const decode *d, const char *device, uint64_t limit, uint64_t budget)
{
    char what[200], models[512];
    snprintf(models, sizeof(models), "%s/models", flow_temp());
    nino_ctx *ctx = flow_open_limited("ref", models, limit);
    nino_graph *g = graph(d);
    nino_scheme *s = nino_scheme_create(ctx, g, device, NULL, budget, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    snprintf(what, sizeof(what), "%s on %s, %llu, %llu", d->what, device ? device : "ref",
             (unsigned long long) limit >> 10, (unsigned long long) budget >> 10);
    show_plan(what, nino_scheme_plan(s));
    show_scheme(what, s);
    nino_scheme_destroy(&s);
    nino_scheme_destroy(&s); // nothing
    nino_scheme_destroy(NULL);
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
}

int main(void)
{
    static const int budgets[] = { 0, 2500, 900, 400 }; // KiB
    char dir[512], cmd[1200];
    snprintf(dir, sizeof(dir), "%s/models/vae", flow_temp());
    snprintf(cmd, sizeof(cmd), "mkdir -p %s %s/devices", dir, flow_temp());
    CHECK(system(cmd) == 0 && !setenv("NINODES_DATA_DIR", flow_temp(), 1));
    const random_vae net = {
        .ch = 32, .mult = { 1, 2 }, .n_levels = 2, .n_res = 1, .z = 4, .dtype = NINO_F32, .seed = 5
    };
    CHECK_OK(random_vae_save(net, dir, "a.safetensors", &err), err);
    snprintf(dir, sizeof(dir), "%s/devices", flow_temp());
    put_device(dir, "nvidia", "wmma", 20);
    put_device(dir, "intel-arc", "generic", 0);
    for (size_t i = 0; i < sizeof(decodes) / sizeof(decodes[0]); i++)
        for (size_t k = 0; k < sizeof(budgets) / sizeof(budgets[0]); k++) {
            const uint64_t budget = (uint64_t) budgets[k] << 10;
            check(&decodes[i], NULL, budget, 0);
            check(&decodes[i], "nvidia", k % 2 ? 0 : budget, k % 2 ? budget : 0);
            if (k % 2)
                check(&decodes[i], "intel-arc", k == 1 ? 0 : budget, 0);
        }
    const decode many = {
        // tiles than are read of what is told at a time
        "many",
        "VAEDecodeTiled",
        ", 'tile_size': 64, 'overlap': 0, 'temporal_size': 64, 'temporal_overlap': 8",
        1024,
        1152,
        1
    };
    const decode row = { "a row",
                         "ROCMOptimizedVAEDecode",
                         ", 'tile_size': 256, 'overlap': 32, 'use_rocm_optimizations': true, "
                         "'precision_mode': 'auto', 'batch_optimization': true",
                         96,
                         48,
                         1 };
    check(&many, NULL, 0, 0);
    check(&row, NULL, (uint64_t) 260 << 10, 0);
    check(&row, NULL, (uint64_t) 220 << 10, 0);
    const decode small = { "small", "VAEDecode", "", 64, 24, 1 };
    check(&small, NULL, (uint64_t) 160 << 10, 0);
    check(&small, NULL, (uint64_t) 180 << 10, 0);
    recorded_check("graphs.txt");
    flow_clean();
    return 0;
}
