// The workflows that faults are tried on, small and with models of the project's own: a picture from
// a prompt, a quantised network with a LoRA, a decode in tiles, a clip, a ControlNet. What came out
// of a run is one number, equal when every byte of its files is.
#pragma once
#include "core/base/file.h"
#include "core/base/hash.h"
#include "tests/figure.h"
#include "tests/flow.h"

static const char *const flow_names[] = { "image", "lora", "tiled", "video", "control" };
enum { FLOWS = sizeof(flow_names) / sizeof(flow_names[0]) };

static inline bool flows_are_here(void)
{
    return !access("data/demo/models/checkpoints/demo_flux.safetensors", R_OK) &&
           !access("tests/data/models/checkpoints/sd15_tiny.safetensors", R_OK);
}

// Once: the control networks lie among others, as they would in a folder of models.
static inline void flows_prepare(void)
{
    char cmd[700], here[400];
    CHECK(getcwd(here, sizeof(here)));
    snprintf(cmd, sizeof(cmd), "mkdir -p %s && ln -s %s/tests/data/synth %s/controlnet",
             flow_models(), here, flow_models());
    CHECK(system(cmd) == 0);
}

static inline const nino_job_options *flows_options(void)
{
    static char output[512];
    static const char *roots[] = { "data/demo/models", "tests/data/models", NULL, NULL };
    static nino_job_options o = {
        NINO_JOB_OPTIONS_INIT,
        .models = roots,
        .input_dir = "tests/data/e2e_2026/input",
        .output_dir = output,
        .no_metadata = true,
        .is_anew = true,
        .precision = NINO_PRECISION_F32 // 16-bit storage is chosen by what is known of the device, which other runs may change
    };
    roots[2] = flow_models();
    snprintf(output, sizeof(output), "%s/output", flow_temp());
    return &o;
}

// NULL: the cache of all programs.
static const char *flows_cache;

// mem_limit 0: none. NULL and *err: it could not be opened.
static inline nino_ctx *flows_open(const char *device, uint64_t mem_limit, nino_error *err)
{
    const nino_ctx_params p = {
        NINO_CTX_PARAMS_INIT,     .device = device, .mem_limit = mem_limit,
        .cache_dir = flows_cache, .state_dir = "",  .job = flows_options()
    };
    return nino_ctx_create(&p, err);
}

static inline nino_graph *flows_graph(int i, nino_error *err)
{
    char path[100], *json = NULL;
    size_t n = 0;
    nino_graph *g = NULL;
    snprintf(path, sizeof(path), "tests/fault/flows/%s.json", flow_names[i]);
    if (!nino_file_read(path, 1 << 20, false, &json, &n, err))
        g = nino_graph_load(json, n, flow_names[i], err);
    free(json);
    return g;
}

// Of the file's bytes, and takes the file away.
static inline uint64_t flows_take(const char *path)
{
    char *data = NULL;
    size_t n = 0;
    nino_error e = { 0 };
    CHECK_OK(nino_file_read(path, (size_t) 64 << 20, false, &data, &n, &e), e);
    const nino_hash h = nino_hash_bytes(data, n);
    free(data);
    CHECK(!unlink(path));
    return h.lo ^ h.hi;
}

// *made: what came out, 0 if nothing did.
static inline nino_status flows_run(nino_ctx *ctx, nino_graph *g, uint64_t *made, nino_error *err)
{
    const flow_result r = flow_run(ctx, g, NULL);
    *err = r.err;
    *made = 0;
    for (size_t i = 0; i < r.n_paths; i++)
        *made = *made * 31 + flows_take(r.path[i]);
    return r.st;
}
