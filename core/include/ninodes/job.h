// Runs a graph on its own thread, or plans it without running.
//
// Thread-safety: one thread at a time, except nino_job_cancel(): any thread and signal handlers.
#pragma once
#include <ninodes/graph.h>
#include <ninodes/monitor.h>

NINO_BEGIN

typedef struct nino_job nino_job;

typedef struct nino_job_params {
    nino_precision_opt precision; // AUTO: the ctx's
    const char *trace_path;       // Chrome trace of this job; NULL: none
    int silent;                   // 1: no events for nino_job_poll(), for measuring what they cost
} nino_job_params;

// Starts a job. The graph is copied: it may change or go at once. Fails only if the thread cannot
// start or the graph has errors (NINO_ERR_UNSUPPORTED / NINO_ERR_FORMAT / NINO_ERR_MISSING, the
// first error of nino_graph_check()).
NINO_API nino_job *nino_job_start(nino_ctx *ctx, nino_graph *g, const nino_job_params *params,
                                  nino_error *err);
// Takes the next events, never blocks. Returns the number copied.
NINO_API size_t nino_job_poll(nino_job *job, nino_event *out, size_t max);
NINO_API const char *nino_job_name(void *job, uint32_t id); // text of an interned id
// True when the job has ended and every event was polled; *status and *err (may be NULL) then say
// how.
NINO_API bool nino_job_done(nino_job *job, nino_status *status, nino_error *err);
// Waits until something can be polled or `ms` have passed.
NINO_API void nino_job_wait(nino_job *job, int ms);
NINO_API void nino_job_cancel(nino_job *job);   // returns at once
NINO_API void nino_job_destroy(nino_job **job); // cancels, joins
// Files written, in order; owned by the job.
NINO_API size_t nino_job_outputs(const nino_job *job, const char **paths, size_t max);
// Text outputs of monitor nodes: "node id", "title", text. Owned by the job.
typedef struct nino_job_text {
    const char *node, *title, *text;
} nino_job_text;
NINO_API size_t nino_job_texts(const nino_job *job, nino_job_text *out, size_t max);
NINO_API void nino_job_memory(const nino_job *job,
                              nino_mem_stat *out); // of the device's pool, live

// ---- plan ------------------------------------------------------------------------------------
typedef struct nino_plan_scope {
    char name[96];                // "8 VAEDecode / decoder.up.2"
    int depth;                    // 0 node, 1 stage, ...
    double flops, bytes, seconds; // seconds 0: the profile has no numbers
    uint64_t kernels, peak_bytes;
} nino_plan_scope;
typedef struct nino_plan {
    char profile[64];
    double flops, bytes, seconds;
    uint64_t kernels;
    uint64_t peak_bytes; // pool, activations + workspace + weights
    uint64_t weight_bytes, peak_activation_bytes;
    uint64_t budget; // 0: unknown
    int fits;
    size_t n_scopes;
    nino_plan_scope *scopes; // owned; nino_plan_release()
    struct {
        int tiled, tile_w, tile_h, overlap, n_tiles;
    } tiling; // of the last decode in the graph
} nino_plan;
// Walks the graph's models without arithmetic. profile NULL: the ctx's device; else a name of
// data/devices.
NINO_API nino_status nino_graph_plan(nino_ctx *ctx, nino_graph *g, const char *profile,
                                     const nino_job_params *params, nino_plan *out,
                                     nino_error *err);
NINO_API void nino_plan_release(nino_plan *p);

NINO_END
