// Running workflows in tests through the public API: what ran, what came out.
#pragma once
#include "tests/test.h"
#include <ninodes/ninodes.h>

#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>

typedef struct flow_result {
    nino_status st;
    nino_error err;
    char ran[2048];  // "1 LoadLatent|3 VAEDecode (cached)|" in run order
    char hits[1024]; // "4 SaveImage|": nodes that were found in the cache, as the events say
    char path[16][600];
    size_t n_paths, n_texts;
    char text[4][2048];
    uint64_t n_kernels, n_progress, n_tiles, n_seams, n_steps;
    double last_done, last_total;
    nino_mem_stat memory; // of the pool
} flow_result;

// A private folder that goes with the test.
static inline const char *flow_temp(void)
{
    static char dir[] = "/tmp/ninodes-flow-XXXXXX";
    static int made;
    if (!made++)
        CHECK(mkdtemp(dir));
    return dir;
}

// What runs have written so far goes: thousands of them fill a disk.
static inline void flow_forget_outputs(void)
{
    char cmd[128];
    snprintf(cmd, sizeof(cmd), "rm -rf %s/output", flow_temp());
    CHECK(system(cmd) == 0);
}

static inline void flow_clean(void)
{
    char cmd[128];
    snprintf(cmd, sizeof(cmd), "rm -rf %s", flow_temp());
    CHECK(system(cmd) == 0);
}

// What a test makes itself: models that flow_open finds behind those of its assets.
static inline const char *flow_models(void)
{
    static char dir[512];
    snprintf(dir, sizeof(dir), "%s/models", flow_temp());
    return dir;
}

// assets: models come from there, and pictures from its folder `pictures`; NULL: from the private
// folder. Outputs go to the private folder. NULL: there is no such device here.
static inline nino_ctx *flow_open_with(const char *device, const char *assets, const char *pictures)
{
    static char models[512], input[512], output[512];
    const char *roots[] = { models, assets ? flow_models() : NULL, NULL };
    nino_error err = { 0 };
    snprintf(models, sizeof(models), "%s/models", assets ? assets : flow_temp());
    snprintf(input, sizeof(input), "%s%s", assets ? assets : flow_temp(),
             assets ? pictures : "/input");
    snprintf(output, sizeof(output), "%s/output", flow_temp());
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .device = device,
                                .job = &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = roots,
                                                            .input_dir = input,
                                                            .output_dir = output } };
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    if (!ctx && err.code == NINO_ERR_UNKNOWN)
        return NULL;
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    return ctx;
}

static inline nino_ctx *flow_open(const char *device, const char *assets)
{
    return flow_open_with(device, assets, "/taesd_ref");
}

// With so many bytes of device memory, the models of that folder and results kept. NULL: there is no such device here.
static inline nino_ctx *flow_open_limited(const char *device, const char *models, uint64_t limit)
{
    char output[512];
    const char *roots[] = { models, NULL };
    nino_error err = { 0 };
    snprintf(output, sizeof(output), "%s/output", flow_temp());
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .device = device, .mem_limit = limit,
                                .job = &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = roots,
                                                            .output_dir = output,
                                                            .keep_results = true } };
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    if (!ctx && err.code == NINO_ERR_UNKNOWN)
        return NULL;
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    return ctx;
}

// Nodes, each in ' for ", as one workflow; until the next one is made.
static inline const char *flow_of(const char *first, ...)
{
    static char text[8192];
    size_t n = (size_t) snprintf(text, sizeof(text), "{%s", first);
    va_list more;
    va_start(more, first);
    for (const char *node; n < sizeof(text) && (node = va_arg(more, const char *));)
        n += (size_t) snprintf(text + n, sizeof(text) - n, ",%s", node);
    va_end(more);
    CHECK(n + 1 < sizeof(text));
    snprintf(text + n, sizeof(text) - n, "}");
    return text;
}
#define FLOW_OF(...) flow_of(__VA_ARGS__, NULL)

// JSON with ' for "
static inline nino_graph *flow_graph(const char *quoted)
{
    nino_error err = { 0 };
    char *json = test_quoted(quoted);
    nino_graph *g = nino_graph_load(json, strlen(json), "test", &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    free(json);
    return g;
}

static inline void flow_events(nino_job *job, flow_result *r)
{
    nino_event ev[256];
    for (size_t n; (n = nino_job_poll(job, ev, 256));)
        for (size_t i = 0; i < n; i++) {
            const size_t len = strlen(r->ran), hits = strlen(r->hits);
            if (ev[i].kind == NINO_EV_NODE)
                snprintf(r->ran + len, sizeof(r->ran) - len, "%s|", nino_job_name(job, ev[i].name));
            if (ev[i].kind == NINO_EV_CACHE && ev[i].sub == NINO_CACHE_NODE && ev[i].u.scope.arg0)
                snprintf(r->hits + hits, sizeof(r->hits) - hits, "%s|",
                         nino_job_name(job, ev[i].name));
            r->n_kernels += ev[i].kind == NINO_EV_KERNEL;
            r->n_tiles += ev[i].kind == NINO_EV_TILE_INFO;
            r->n_seams += ev[i].kind == NINO_EV_SEAM;
            r->n_steps += ev[i].kind == NINO_EV_STEP_INFO;
            if (ev[i].kind == NINO_EV_PROGRESS) {
                CHECK(ev[i].u.progress.done >= r->last_done);
                r->n_progress++;
                r->last_done = ev[i].u.progress.done;
                r->last_total = ev[i].u.progress.total;
            }
        }
}

// Waits for the end and takes what the job made; destroys the job.
static inline flow_result flow_finish(nino_job *job)
{
    flow_result r = { 0 };
    nino_job_output files[16];
    nino_job_text texts[4];
    while (!nino_job_done(job, &r.st, &r.err)) {
        flow_events(job, &r);
        nino_job_wait(job, 50);
    }
    nino_job_memory(job, &r.memory);
    r.n_paths = nino_job_outputs(job, files, 16);
    for (size_t i = 0; i < r.n_paths && i < 16; i++)
        snprintf(r.path[i], sizeof(r.path[i]), "%s", files[i].path);
    r.n_texts = nino_job_texts(job, texts, 4);
    for (size_t i = 0; i < r.n_texts && i < 4; i++)
        snprintf(r.text[i], sizeof(r.text[i]), "%s", texts[i].text);
    nino_job_destroy(&job);
    return r;
}

static inline flow_result flow_run(nino_ctx *ctx, nino_graph *g, const nino_job_options *params)
{
    nino_error err = { 0 };
    nino_job *job = nino_job_start(ctx, g, params, &err);
    if (!job)
        return (flow_result){ .st = err.code, .err = err };
    return flow_finish(job);
}

// The same of a workflow as text, which must run.
static inline flow_result flow_run_json(nino_ctx *ctx, const char *json)
{
    nino_graph *g = flow_graph(json);
    const flow_result r = flow_run(ctx, g, NULL);
    nino_graph_destroy(&g);
    CHECK_OK(r.st, r.err);
    return r;
}

// Makes a PNG file of a picture where a context that flow_open() opened without assets finds it.
static inline void flow_picture(nino_ctx *ctx, const nino_raster *r, const char *name)
{
    nino_error err = { 0 };
    char path[256];
    nino_graph *g = flow_graph("{'1': {'class_type': 'LoadImage', 'inputs': {'image': 'memory'}},"
                               " '2': {'class_type': 'SaveImage', 'inputs':"
                               " {'images': ['1', 0], 'filename_prefix': 'in'}}}");
    CHECK_OK(nino_graph_set_image(g, "1", r, &err), err);
    const flow_result f = flow_run(ctx, g, NULL);
    CHECK_OK(f.st, f.err);
    CHECK(f.n_paths == 1);
    snprintf(path, sizeof(path), "%s/input", flow_temp());
    CHECK(mkdir(path, 0700) == 0 || errno == EEXIST);
    snprintf(path, sizeof(path), "%s/input/%s", flow_temp(), name);
    CHECK(rename(f.path[0], path) == 0);
    nino_graph_destroy(&g);
}
