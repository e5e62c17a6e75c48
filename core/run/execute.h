// Internal: the executor. Runs the wanted nodes of a checked graph on one stream.
#pragma once
#include "core/base/buf.h"
#include "core/base/eta.h"
#include "core/run/context.h"
#include "core/run/parts.h"
#include "core/run/planner.h"
#include "core/workflow/workflow.h"
#include "core/run/run_profile_priv.h"

typedef struct nino_exec {
    nino_ctx *ctx; // entered
    nino_graph *g; // checked, without errors
    nino_stream *stream;
    nino_precision precision; // for nodes that do not say otherwise
    const volatile int *cancel;
    bool is_plan; // walk the nodes on a plan backend: nothing from the cache, no files, no capture
    char *prompt_json, *workflow_json;
    nino_profile_log *profile; // for the metadata of files; NULL: none
    // Called as files and texts appear; may be NULL.
    void (*output)(void *priv, const char *node, const char *path);
    void (*text)(void *priv, const char *node, const char *title, const char *text);
    // What output nodes were given; NULL: nobody wants it.
    void (*keep)(void *priv, const char *node, nino_value *v);
    void *priv;
    const nino_choice *choice; // of each node; NULL: as ops do by themselves
    uint64_t budget;           // of the pool, whatever the planner keeps to
    nino_node_plan *found;     // of each node, filled in; NULL: nobody wants it
    // n_shards > 0: it is part `shard`, from 1, of so many; what it computes goes into `parts`.
    int shard, n_shards;
    nino_parts *parts;
    bool no_files;     // nodes that only write do not run
    bool is_anew;      // results of earlier runs are not used
    bool is_ahead;     // only what would run is asked: results are looked for, not taken
    uint32_t switched; // policies, as in nino_profile
    // For progress: predicted FLOPs, what the backend had scheduled before, and when the run began.
    double total_flops, flops_before;
    double spared_before, spared_told; // of what the backend was spared
    uint64_t started_ns, reported_ns, load_before;
    nino_eta eta;
    uint32_t n_nodes, node_index;
    uint32_t step, n_steps; // of the sampling that runs
} nino_exec;

nino_status nino_exec_run(nino_exec *x, nino_error *err);
// What of a workflow would run if it ran now, by the keys and the cache of a run.
// A line for each node that is needed: "run ID", "kept ID" (its result is there, or nobody needs it
// as a later result is), "late ID" (only the run can tell). Nothing runs, nothing is told, the cache
// stays as it is. Errors: as a run has them before it begins; kind "busy": a job is running.
nino_status nino_run_ahead(nino_ctx *ctx, nino_graph *g, const nino_job_options *options,
                           nino_buf *out, nino_error *err);
// Whether 16-bit storage may be chosen: nobody asks for a precision, and the device would use f32.
bool nino_exec_may_narrow(const nino_exec *x, const nino_profile *p);
// Prefixes err->where with "ID CLASS".
void nino_error_in_node(nino_error *err, const nino_gnode *n);
// To be the stream's progress callback: publishes NINO_EV_PROGRESS, at most every 50 ms.
void nino_exec_progress(void *exec, double flops);
nino_precision nino_precision_of(nino_precision_opt p);
// The services that a node has while it runs (nino_services).
void nino_exec_output(nino_run *r, const char *path);
void nino_exec_text(nino_run *r, const char *title, const char *text);
void nino_exec_step(nino_run *r, uint32_t step, uint32_t total);
