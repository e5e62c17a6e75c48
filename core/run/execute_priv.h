// Internal to the executor: its state, and what its files do for each other.
#pragma once
#include "core/run/execute.h"

#define MAX_PORTS 16 // of one node

typedef enum plan_of_node {
    NODE_SKIP,   // nobody needs it: what would use it is in the cache
    NODE_CACHED, // its result is in the cache
    NODE_RUN
} plan_of_node;

typedef struct node_state {
    nino_hash key;
    plan_of_node what;
    nino_value **out;
    int n_out;
    int pending;      // uses of `out` still to come
    bool is_volatile; // never from the cache, never into it
} node_state;

typedef struct run_state {
    nino_exec *x;
    node_state *node; // by index of the graph
} run_state;

// A node that runs: what it sees, and what the executor needs to serve it.
typedef struct node_run {
    nino_run base; // first: nino_run_output() gets back to here
    nino_exec *x;
    nino_value *in[MAX_PORTS]; // of this turn
    nino_shown shown;
} node_run;

// ---- execute_tell.c: what nodes and the executor say
void nino_exec_show_path(nino_exec *x, const char *node, const char *path);
__attribute__((format(printf, 3, 4))) void nino_exec_say(nino_exec *x, nino_log_level level,
                                                         const char *fmt, ...);
void nino_exec_node_progress(nino_exec *x);

// ---- execute_decide.c: which nodes run
typedef void (*link_fn)(run_state *rs, nino_link l);
// Whether node i looks at an input; before the run and during it the same.
bool nino_exec_takes(const run_state *rs, int i, int port);
void nino_exec_each_source(run_state *rs, int i, link_fn fn);
void nino_exec_drop_use(run_state *rs, nino_link l); // the last one frees the outputs
nino_status nino_exec_decide(run_state *rs, nino_error *err);
