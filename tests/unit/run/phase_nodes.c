// The decoders of the extension's phases choose the policies that their titles say, and their inputs switch these off:
// as the executor asks them, and in a run of performance_comparison's form.
#include "core/node/node_impl.h"
#include "core/node/param.h"
#include "core/op/backend.h"
#include "tests/flow.h"

#define BIT(policy) NINO_POLICY_BIT(NINO_POLICY_##policy)

// Policies that act in a node with one input set.
static uint32_t acts(const char *class_type, const char *key, nino_default v)
{
    _Alignas(16) char params[512];
    const nino_node_def *d = nino_node_find(class_type, NULL);
    CHECK(d && d->params_size <= sizeof(params));
    nino_params_init(d, params);
    if (key) {
        const nino_param *p = nino_param_find(d, key);
        CHECK(p);
        nino_param_store(p, params, &v);
    }
    // whatever the run has
    CHECK(d->ops->switched(params, 0) == d->ops->switched(params, NINO_POLICY_ALL));
    return NINO_POLICY_STANDARD ^ d->ops->switched(params, 0);
}

static nino_precision precision_of(const char *class_type, const char *key, nino_default v)
{
    _Alignas(16) char params[512];
    const nino_node_def *d = nino_node_find(class_type, NULL);
    nino_params_init(d, params);
    if (key)
        nino_param_store(nino_param_find(d, key), params, &v);
    return d->ops->precision(params);
}

static void test_policies(void)
{
    static const char one[] = "ROCMOptimizedVAEDecodeV2", two[] = "ROCMOptimizedVAEDecodeV2Phase2",
                      three[] = "ROCMOptimizedVAEDecodeV2Phase3";
    const nino_default off = { .b = false }, none = { 0 };
    const uint32_t first = BIT(POOL) | BIT(TILES) | BIT(LAYOUT) | BIT(CACHE),
                   second = first | BIT(BATCHING) | BIT(PREFETCH);
    CHECK(acts(one, NULL, none) == first && acts(two, NULL, none) == second);
    CHECK(acts(three, NULL, none) == NINO_POLICY_ALL);
    CHECK(acts(one, "use_rocm_optimizations", off) == 0);
    CHECK(acts(one, "memory_optimization_enabled", off) == (first & ~BIT(POOL)));
    CHECK(acts(one, "adaptive_tiling", off) == (first & ~BIT(TILES)));
    CHECK(acts(two, "memory_prefetching", off) == (second & ~BIT(PREFETCH)));
    CHECK(acts(two, "tensor_layout_optimization", off) == (second & ~BIT(LAYOUT)));
    CHECK(acts(three, "memory_prefetching", off) == (NINO_POLICY_ALL & ~BIT(PREFETCH)));
    CHECK(acts(three, "use_rocm_optimizations", off) == 0);

    CHECK(precision_of(one, NULL, none) == NINO_PREC_AUTO);
    CHECK(precision_of(two, NULL, none) == NINO_PREC_MIXED);
    CHECK(precision_of(two, "adaptive_precision", off) == NINO_PREC_AUTO);
    CHECK(precision_of(two, "precision_mode", (nino_default){ .i = 1 }) == NINO_PREC_F32);
    CHECK(precision_of(three, NULL, none) == NINO_PREC_MIXED);
    CHECK(precision_of(three, "adaptive_optimization", off) == NINO_PREC_AUTO);
    CHECK(precision_of(one, "precision_mode", (nino_default){ .i = 3 }) == NINO_PREC_MIXED);
}

// Every input of the extension's nodes acts, or its name is refused; none is taken and left alone.
static void test_inert(void)
{
    int nodes = 0, inputs = 0;
    for (int i = 0; nino_node_defs[i]; i++) {
        const nino_node_def *d = nino_node_defs[i];
        if (strncmp(d->category, "ROCm Ninodes", strlen("ROCm Ninodes")) != 0)
            continue;
        nodes++;
        for (const nino_param *p = d->params; p && p->key; p++, inputs++) {
            if (p->is_inert)
                fprintf(stderr, "%s.%s does nothing\n", d->key, p->key);
            CHECK(!p->is_inert);
        }
    }
    printf("  %d inputs of %d nodes of the extension, none without effect\n", inputs, nodes);
    CHECK(nodes >= 15 && inputs > 90);
}

// ---- a run -----------------------------------------------------------------------------------

typedef struct node_counts {
    uint64_t kernels, wino, hits, allocs, narrow, texts;
} node_counts;

static node_counts counts[12];

static const char comparison[] =
    "{'1': {'class_type': 'CheckpointLoaderSimple', 'inputs': {'ckpt_name': "
    "'demo_flux.safetensors'}},"
    " '4': {'class_type': 'EmptySD3LatentImage', 'inputs': {'width': 128, 'height': 128, "
    "'batch_size': 1}},"
    " '6': {'class_type': 'VAEDecode', 'inputs': {'samples': ['4', 0], 'vae': ['1', 2]}},"
    " '7': {'class_type': 'SaveImage', 'inputs': {'images': ['6', 0], 'filename_prefix': 'a'}},"
    " '8': {'class_type': 'ROCMOptimizedVAEDecodeV2', 'inputs': {'samples': ['4', 0], 'vae': "
    "['1', 2]}},"
    " '9': {'class_type': 'SaveImage', 'inputs': {'images': ['8', 0], 'filename_prefix': 'b'}},"
    " '10': {'class_type': 'ROCMOptimizedVAEDecodeV2Phase3', 'inputs': {'samples': ['4', 0], "
    "'vae': ['1', 2]}},"
    " '11': {'class_type': 'SaveImage', 'inputs': {'images': ['10', 0], 'filename_prefix': "
    "'c'}}}";

static void count(const nino_job *job, const nino_event *e, int *node)
{
    const char *name = nino_job_name((void *) (uintptr_t) job, e->name);
    if (e->kind == NINO_EV_NODE)
        *node = atoi(name);
    if (*node < 0 || *node >= 12)
        return;
    node_counts *c = &counts[*node];
    c->kernels += e->kind == NINO_EV_KERNEL;
    c->wino += e->kind == NINO_EV_KERNEL && strstr(name, "wino") != NULL;
    c->narrow += e->kind == NINO_EV_KERNEL && nino_kernel_bits(e) == 16;
    c->allocs += e->kind == NINO_EV_MEM && e->sub == NINO_MEM_ALLOC;
    c->hits += e->kind == NINO_EV_MEM && e->sub == NINO_MEM_ALLOC && e->u.mem.is_hit;
}

static void test_run(nino_ctx *ctx)
{
    static const char *const demo[] = { "data/demo/models", NULL };
    nino_error err = { 0 };
    nino_status st = NINO_OK;
    nino_event ev[64];
    int node = -1;
    nino_job_options o = { NINO_JOB_OPTIONS_INIT, .models = demo, .no_files = true };
    nino_phase_set(&o, NINO_PHASE_BASELINE);
    nino_graph *g = flow_graph(comparison);
    nino_job *job = nino_job_start(ctx, g, &o, &err);
    CHECK_OK(job ? NINO_OK : err.code, err);
    for (size_t n; !nino_job_done(job, &st, &err); nino_job_wait(job, 100))
        while ((n = nino_job_poll(job, ev, 64)) > 0)
            for (size_t i = 0; i < n; i++)
                count(job, &ev[i], &node);
    CHECK_OK(st, err);
    // 6: the baseline, as the run has it; 8: phase 1; 10: phase 3
    CHECK(counts[6].kernels && !counts[6].wino && !counts[6].hits && !counts[6].narrow);
    CHECK(counts[8].wino && counts[8].hits && !counts[8].narrow);
    CHECK(counts[10].hits && counts[10].narrow);
    nino_job_text text[4];
    CHECK(nino_job_texts(job, text, 4) == 1 && !strcmp(text[0].node, "10"));
    nino_job_destroy(&job);
    nino_graph_destroy(&g);
}

int main(void)
{
    test_policies();
    test_inert();
    nino_ctx *ctx = flow_open("cl", NULL);
    if (ctx)
        test_run(ctx);
    else
        printf("part skipped: no OpenCL device\n");
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
