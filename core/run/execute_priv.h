// Internal to the executor: its state, and what its files do for each other.
#pragma once
#include "core/run/execute.h"

#define MAX_PORTS 64 // of one node; a bit each in node_state.untaken

typedef enum plan_of_node {
    NODE_SKIP,   // nobody needs it: what would use it is in the cache
    NODE_CACHED, // its result is in the cache
    NODE_RUN,
    NODE_MAYBE // only a node that decides late can say; its turn comes when that one has
} plan_of_node;

typedef struct node_state {
    nino_hash key, shape; // of the result; of how it is planned
    plan_of_node what;
    nino_value **out;
    int n_out;
    int pending;      // uses of `out` still to come, also those that are not certain
    bool is_needed;   // one of them is certain
    bool is_done;     // it has run, or was taken from the cache
    bool is_settled;  // a node that decides late has decided
    uint64_t untaken; // input ports that it does not look at
    bool is_volatile; // never from the cache, never into it
    nino_share share; // what of it this run has, if it is a part of several
} node_state;

typedef struct run_state {
    nino_exec *x;
    node_state *node; // by index of the graph
} run_state;

// A node that runs: what it sees, and what the executor needs to serve it.
typedef struct node_run {
    nino_run base; // first: nino_run_output() gets back to here
    nino_exec *x;
    nino_value *in[MAX_PORTS];  // of this turn
    nino_value *cut[MAX_PORTS]; // of them, what was made for it: parts of batches
    nino_shown shown;
} node_run;

// ---- execute_tell.c: what nodes and the executor say
void nino_exec_show_path(nino_exec *x, const char *node, const char *path);
__attribute__((format(printf, 3, 4))) void nino_exec_say(nino_exec *x, nino_log_level level,
                                                         const char *fmt, ...);
void nino_exec_node_progress(nino_exec *x);

// ---- execute.c
// All that was decided to run. A plan has a cache of its own: what the run's would keep (a model that
// a LoRA made) stays on the device to the end, and what earlier runs left there is none of its business.
nino_status nino_exec_run_all(run_state *rs, nino_error *err);
void nino_exec_release_nodes(run_state *rs);

// ---- execute_choose.c: what the planner makes of a run
// Walks it from the values that it will start from, sets x->choice and x->total_flops, tells what was
// chosen; what cannot be planned runs without. The device hears which programs will come.
nino_status nino_exec_choose(run_state *rs, nino_planned *out, nino_error *err);
// A run for which there was too little memory: how much would have done, and for which node.
void nino_exec_name_least(const nino_planned *p, nino_error *err);
// ---- execute_error.c: precision.measure_error
// The node has given s->out in 16 bits, by ops since n_ops: runs it once more in f32, and tells how
// far its latents and pictures are from those.
void nino_exec_measure_error(run_state *rs, const nino_gnode *n, node_state *s, node_run *r,
                             uint64_t n_ops);

// ---- execute_decide.c: which nodes run
// The link of an input port that the node looks at; node < 0: none.
nino_link nino_exec_source(const run_state *rs, int i, int port);
void nino_exec_drop_uses(run_state *rs, int i); // the last one frees the outputs
// Node k of the order, which decides late, has the parameters of all its turns (each calls
// nino_exec_late_takes()): what it looks at has to run, the rest is let go. Returns where in the
// order to go on.
void nino_exec_late_begin(run_state *rs, int i);
void nino_exec_late_takes(run_state *rs, int i);
int nino_exec_late_end(run_state *rs, int k);
nino_status nino_exec_decide(run_state *rs, nino_error *err);
// Behind that: runs with the same one are planned alike. False: not known.
bool nino_exec_shape(run_state *rs, nino_hash *out);

// ---- share.c: runs that are parts
// Whether node i, or one before it, is such that a batch may begin to be shared out there: then its
// results may be a part. Sources first.
bool nino_share_may_begin(run_state *rs, int i);
// Sets what node i has of its results: all, a part, nothing (then *runs is false).
nino_status nino_share_decide(run_state *rs, int i, bool *runs, nino_error *err);
// Whether a node that decides late cannot be asked here.
bool nino_share_waits(const run_state *rs, int i);
// Inputs of the node's part, in r->in; and what it made of them is said to be a part.
nino_status nino_share_cut(run_state *rs, int i, node_run *r, nino_error *err);
nino_status nino_share_tag(run_state *rs, int i, nino_error *err);
void nino_share_release(node_run *r);
// The results of node i are for the run that joins the parts.
nino_status nino_share_keep(run_state *rs, int i, nino_error *err);

// ---- execute.c
// Parameters whose values come through links are only known now.
nino_status nino_exec_link_params(run_state *rs, const nino_gnode *n, int turn, nino_error *err);
