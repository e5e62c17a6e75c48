// Private to core/monitor/advice: the runs of a recording, each summed up by nodes, steps and kernels.
#pragma once
#include <ninodes/compare.h>

enum {
    COMPARE_SAMPLES = 24, // a rank test of more takes long, and shows little more
    COMPARE_RUNS = 24
};

// Every stride-th value of a row whose length is not known before.
typedef struct compare_sample {
    double v[COMPARE_SAMPLES], total;
    size_t n, stride;
    uint64_t seen;
} compare_sample;

// Calls of one kernel and shape in one node.
typedef struct compare_calls {
    int32_t node; // index of the run's nodes, -1: none
    uint32_t name, shape;
    compare_sample t;
    bool is_matched;
} compare_calls;

typedef struct compare_node {
    char name[96]; // without " (cached)"
    double seconds;
    uint32_t runs;
    bool is_cached; // it did not run
    compare_sample step;
    uint64_t step_ns; // when the last one ended
    int32_t span;     // index of its first one
    int32_t other;    // its partner, -1: none
} compare_node;

// One run: of a job, or all there is where there are no jobs.
typedef struct compare_side {
    const nino_history *h;
    uint64_t begin_ns, end_ns, until_ns; // until: the next job begins
    bool has_job;
    const char *end; // how it ended; NULL: no job
    uint64_t files;
    double once_s; // in no time here: preparing kernels, reading weights
    compare_node *node;
    size_t n_nodes, cap_nodes;
    compare_calls *calls;
    size_t n_calls, cap_calls;
    uint32_t *slot; // open addressing over calls, 0: empty, else index + 1
    size_t n_slots; // a power of two
    bool failed;    // out of memory
} compare_side;

// The newest run of a recording, and those directly before it that did the same work: the same
// nodes, kernels, shapes and numbers of calls, which have the same indices in all of them.
typedef struct compare_recording {
    compare_side run[COMPARE_RUNS];
    size_t n; // at least 1
    bool failed;
} compare_recording;

// is_flat: kernels whatever node and shape they have.
void compare_recording_read(const nino_history *h, bool is_flat, compare_recording *out);
void compare_recording_release(compare_recording *r);
int32_t compare_side_find_node(const compare_side *s, const char *name);
const char *compare_side_text(const compare_side *s, uint32_t id);
// Room for one more of n things of `size` bytes. False: out of memory.
bool compare_side_grow(void **p, size_t *cap, size_t n, size_t size);
