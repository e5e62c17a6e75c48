// Two runs compared: nodes, sampler steps and kernels of one are aligned with those of the other,
// with the difference and how sure it is.
//
// Nodes are aligned by id and class, else by class and order; steps by node and number; kernels by
// node, name and shape, or by name alone with a run that has no nodes, the trace of another
// program. Confidence comes from the spread of the calls within the two runs (Welch's t test; steps
// are paired). What changes from run to run only, such as another program that was busy all the
// time, it cannot see.
//
// Threads: plain functions and data; a history that is compared belongs to the calling thread.
#pragma once
#include <ninodes/history.h>

NINO_BEGIN

// What a row compares.
typedef enum nino_compare_kind {
    // Wall time of the last job.
    NINO_COMPARE_RUN,
    // Wall time of a node; its confidence is that of its kernels' time.
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
    // Seconds of all calls.
    double total_a, total_b;
    // Seconds of a call.
    double mean_a, mean_b;
    // 95 % interval of mean_b - mean_a, for RUN and NODE of their kernel time; NaN: the spread is
    // not known.
    double low, high;
    // Chance of so large a difference among equal runs, two-sided; NaN: the spread is not known.
    double p;
    // -1: b is faster; 1: b is slower; 0: no difference is shown. One is shown when p is below 0.01
    // and it is more than 1 %; for RUN and NODE, when wall time and kernel time changed the same
    // way.
    int verdict;
    // NODE: it did not run, because its result was there already.
    bool cached_a, cached_b;
} nino_compare_row;

typedef struct nino_compare {
    // Energy of the last job; NaN: there are no samples.
    double joules_a, joules_b;
    // Most bytes of the pool in use.
    uint64_t peak_a, peak_b;
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
