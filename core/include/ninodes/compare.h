// Two runs compared: nodes, sampler steps and kernels of one are aligned with those of the other,
// with the difference and how sure it is.
//
// Nodes are aligned by id and class, else by class and order; steps by node; kernels by node, name
// and shape, or by name alone with a run that has no nodes, the trace of another program. Preparing
// kernels (NINO_STAGE_COMPILE) and reading weights (NINO_EV_ONCE) are in no time here.
//
// What is claimed. Runs are judged, not their steps and calls, which share whatever a run was under:
// a clock, another program that was busy. From one run each nothing is claimed. Of a recording with
// several, the newest and up to 23 directly before it that did the same work (nodes, kernels, shapes,
// numbers of calls) count: seconds a file, a run of a node, the median step, the median call of each
// go to the rank test of ninodes/experiment.h, with a chance of 1 % for a wrong claim in all of the
// comparison; that takes some 8 runs each. What differed between the two recordings as a whole stays
// in the difference: `ninodes bench WORKFLOW --against` and nino_experiment measure in turn.
//
// Threads: plain functions and data; a history that is compared belongs to the calling thread.
#pragma once
#include <ninodes/experiment.h>
#include <ninodes/history.h>

NINO_BEGIN

// What a row compares.
typedef enum nino_compare_kind {
    // Wall time of the last job.
    NINO_COMPARE_RUN,
    // Wall time of a node.
    NINO_COMPARE_NODE,
    // The sampler steps of a node.
    NINO_COMPARE_STEPS,
    // The calls of a kernel with one shape in a node.
    NINO_COMPARE_KERNEL,
} nino_compare_kind;

// One thing in both runs, a and b.
typedef struct nino_compare_row {
    nino_compare_kind kind;
    // "3 KSampler" as the first run has it, or the second where only that has it.
    char node[96];
    // The kernel, and the shape that it ran with; "" for other rows.
    char name[96];
    char shape[64];
    // Calls in the newest run; 0: only the other recording has it.
    uint64_t n_a, n_b;
    // Seconds of all of them.
    double total_a, total_b;
    // Seconds of one: a file that the RUN wrote (the run, where not both wrote some), a run of the NODE, a
    // step, a call; of several runs, each one's own. n is of what they are from: runs, or of one run
    // up to 24 of its steps and calls.
    nino_spread a, b;
    // Of b against a; its rounds are runs. Too few of them: is_too_few.
    nino_effect effect;
    // NODE: it did not run, because its result was there already.
    bool cached_a, cached_b;
} nino_compare_row;

typedef struct nino_compare {
    // Energy of the last job; NaN: there are no samples.
    double joules_a, joules_b;
    // Most bytes of the pool in use.
    uint64_t peak_a, peak_b;
    // How the job ended: "done", "cancelled", "failed", "cut off" (killed, or it still runs); "" when
    // there is none. Never NULL.
    const char *end_a, *end_b;
    // Files that the job wrote.
    uint64_t files_a, files_b;
    size_t n_rows;
    // The run, then nodes in the order of the first run, each with its steps and with its kernels,
    // those with the largest difference of total time first. Owned; nino_compare_release().
    nino_compare_row *rows;
} nino_compare;

// Compares b with a. Errors: NINO_ERR_NOMEM.
NINO_API nino_status nino_compare_runs(const nino_history *a, const nino_history *b,
                                       nino_compare *out, nino_error *err);
NINO_API void nino_compare_release(nino_compare *c);
// Where a node is in both: index of its first span in the newest run (nino_history_spans()); -1: it has none.
typedef struct nino_compare_pair {
    int32_t a, b;
} nino_compare_pair;
// Fills up to max pairs, one for each NODE row of nino_compare_runs() and in that order, and returns how
// many there are; 0: none, or out of memory.
NINO_API size_t nino_compare_pairs(const nino_history *a, const nino_history *b,
                                   nino_compare_pair *out, size_t max);
// Name of a kind: "run", "node", "steps", "kernel". Never NULL.
NINO_API const char *nino_compare_kind_name(nino_compare_kind k);

NINO_END
