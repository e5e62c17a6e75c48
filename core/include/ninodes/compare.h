// Comparing two runs: nodes, sampler steps and kernels of one aligned with those of the other, with
// the difference and how sure it is.
//
// Nodes are aligned by id and class, else by class and order; kernels by node, name and shape (by
// name alone with a run that has no nodes: the trace of another program);
// steps by node and number. Confidence comes from the spread of the calls within the two runs
// (Welch's t test; steps: paired); what changes from run to run only, such as another program that
// was busy all the time, it cannot see.
//
// Thread-safety: plain functions and data.
#pragma once
#include <ninodes/history.h>

NINO_BEGIN

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

typedef struct nino_compare_row {
    nino_compare_kind kind;
    // "3 KSampler" of the first run, or of the second if only that has it.
    char node[96];
    // Kernel; "" for others.
    char name[96];
    char shape[64];
    // Calls; 0: only in the other run.
    uint64_t n_a, n_b;
    // Seconds.
    double total_a, total_b;
    // Of a call.
    double mean_a, mean_b;
    // 95 % interval of mean_b - mean_a (RUN, NODE: of the kernel time); NaN: no spread known.
    double low, high;
    // Chance of so large a difference if there were none, two-sided; NaN.
    double p;
    // -1: b is faster, 1: slower (p < 0.01 and more than 1 %; RUN, NODE: wall time and kernel time
    // changed the same way), 0: not shown.
    int verdict;
    // NODE: it did not run, its result was there already.
    bool cached_a, cached_b;
} nino_compare_row;

typedef struct nino_compare {
    // Of the last job; NaN: no samples.
    double joules_a, joules_b;
    // Of the pool.
    uint64_t peak_a, peak_b;
    size_t n_rows;
    // The run, then nodes in order of the first run, each with its steps and its kernels by
    // |difference of total|; owned.
    nino_compare_row *rows;
} nino_compare;

NINO_API nino_status nino_compare_runs(const nino_history *a, const nino_history *b,
                                       nino_compare *out, nino_error *err);
NINO_API void nino_compare_release(nino_compare *c);
// "run", "node", "steps", "kernel".
NINO_API const char *nino_compare_kind_name(nino_compare_kind k);

NINO_END
