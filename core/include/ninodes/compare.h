// Two runs compared: nodes, sampler steps and kernels of one are aligned with those of the other,
// with the difference and how sure it is.
//
// Nodes are aligned by id and class, else by class and order; steps by node; kernels by node, name
// and shape, or by name alone with a run that has no nodes, the trace of another program. Preparing
// kernels (NINO_STAGE_COMPILE) and reading weights (NINO_EV_ONCE) are in no time here.
//
// What is claimed. Steps and calls are many in each run: up to 24 of each, spread evenly, are
// judged by the rank test of ninodes/experiment.h, with a chance of 1 % for a wrong claim in all of
// the comparison. That is about these two recordings: what changes from run to run, such as a clock
// or another program that was busy all the time, it cannot see. Of a run and of its nodes there is
// one time each, from which nothing can be claimed: `ninodes bench WORKFLOW --against` and
// nino_experiment measure several in turn.
//
// Threads: plain functions and data; a history that is compared belongs to the calling thread.
#pragma once
#include <ninodes/experiment.h>
#include <ninodes/history.h>

NINO_BEGIN

// What a row compares.
typedef enum nino_compare_kind {
    // Wall time of the last job; one each, no verdict.
    NINO_COMPARE_RUN,
    // Wall time of a node; one each, no verdict.
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
    // Calls; 0: only the other run has it.
    uint64_t n_a, n_b;
    // Seconds of all.
    double total_a, total_b;
    // Seconds of one: a file that the RUN wrote (the run, where not both wrote some), a run of the NODE, a
    // step, a call. Medians are what is compared. n is of what they are from.
    nino_spread a, b;
    // Of b against a. RUN, NODE, and what has too few calls: is_too_few.
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
// Name of a kind: "run", "node", "steps", "kernel". Never NULL.
NINO_API const char *nino_compare_kind_name(nino_compare_kind k);

NINO_END
