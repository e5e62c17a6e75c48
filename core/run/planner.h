// Internal: chooses tile sizes, batches, pieces of clips, precision and the order in which weights
// leave, all together and before a run, by what plan says each way would take.
#pragma once
#include "core/op/choice.h"
#include "core/op/profile.h"

// What a node did in a walk.
typedef struct nino_node_plan {
    nino_taken taken;
    uint64_t load_bytes, evicted; // of weights that came and went
    bool is_fixed;                // nothing can be chosen for it
} nino_node_plan;

typedef struct nino_outcome {
    double flops, seconds; // predicted, without bringing weights in
    uint64_t load_bytes;   // of weights that come in
    uint64_t peak;
    uint64_t peak_weights, peak_rest; // each by itself
    uint64_t resident;                // of the weights, what the device has of them already
    bool is_host;         // of NINO_ERR_NOMEM: it is the host's memory that was too little
    nino_node_plan *node; // of each node of the graph
} nino_outcome;

// Walks a graph on a plan backend. budget 0: without a limit. choice: of each node. NINO_ERR_NOMEM: it
// does not fit; err->where is the node.
typedef struct nino_walker {
    nino_status (*walk)(void *priv, uint64_t budget, const nino_choice *choice, nino_outcome *out,
                        nino_error *err);
    void *priv;
    const nino_profile *profile;
    int n_nodes;
    bool may_narrow; // nobody has asked for a precision
} nino_walker;

enum { NINO_PLAN_WALKS = 32 }; // most ways that are tried within one budget
// The part of a run's predicted time that a loss must save where the run fits without it: 16-bit storage, tiles
// with seams. Predictions are off by the first; a seam is seen, and nobody would have one for a little less time.
#define NINO_PLAN_NARROW_GAIN 0.05
#define NINO_PLAN_SEAM_GAIN 0.25

typedef struct nino_planned {
    nino_choice *choice; // of each node; NULL: nothing was chosen
    uint64_t *free_load; // bytes of weights that each node brings in without a budget
    nino_outcome best;
    double cost, plain_cost,
        free_cost; // seconds: of it, without choices, without a budget (0: the same)
    int walks, n_nodes;
    uint64_t budget; // that the pool should keep to: what is allowed, or a little less
    bool fits;
    bool is_pressed; // the budget makes a difference
    // Where it does not fit: the least budget with which it would, and the node that needs it; 0: not
    // known.
    uint64_t least;
    char least_node[160];
    nino_error err;
} nino_planned;

// Bytes/s at which weights come in: the profile's, or what is assumed where it says nothing.
double nino_planner_load_rate(const nino_profile *p);
// Seconds of an outcome: what the profile predicts, and weights at that rate.
double nino_planner_cost(const nino_profile *p, const nino_outcome *o);
// The same with what its losses must have saved; of two ways the one is taken of which this is less.
double nino_planner_charged(int n_nodes, double seconds, const nino_outcome *o);
// Within fixed steps at and below the budget: memory that comes in pieces is not always better for more of it, and a
// run should not take longer than one with less. NINO_OK also where nothing fits (out->fits); else what no budget
// would cure, or that the host has no memory to search. `out` is released then.
nino_status nino_planner_choose(const nino_walker *w, uint64_t budget, nino_planned *out,
                                nino_error *err);
void nino_planned_release(nino_planned *p);
bool nino_planned_copy(nino_planned *to,
                       const nino_planned *from); // *to is released; false: no memory
bool nino_planned_changes(const nino_planned *p); // something was chosen
// One line each: what was chosen for the node, and why; false: nothing.
bool nino_planner_what(const nino_planned *p, int node, char *text, size_t size);
// How much a way loses against the whole in f32: 100 and more in tiles, less by rounding in 16 bits and
// in bands.
int nino_planner_loss_of(int n_nodes, const nino_outcome *o);
// The same in words.
const char *nino_planner_loss(const nino_planned *p);
void nino_planner_why(const nino_planned *p, char *text, size_t size);
