// Internal to core/event: what statistics are made of, and how they are told to others as events.
#pragma once
#include "core/event/stats_sums.h"

enum {
    STATS_BINS = 2240,   // 1.02^2240 > 2^63 ns
    STATS_CALLS = 16384, // of a kernel that are kept one by one
    STATS_SCOPES = 8192, // remembered scopes: kernels finish after the scope they belong to
    STATS_OPEN = 16,     // nodes open at once
    STATS_JOBS = 20      // whose times make the trend
};

typedef struct op_acc {
    char *name, *family;
    uint64_t calls, total_ns, min_ns, max_ns;
    double mean, m2; // Welford
    double flops, bytes, requested;
    uint64_t unrequested; // calls with bytes of which `requested` is not known
    uint32_t *bin;
    // What each call took, the first n_sorted in order; of more than STATS_CALLS, or where sums came, there are the bins.
    uint64_t *call;
    size_t n_call, cap_call, n_sorted;
} op_acc;

typedef struct node_acc {
    char name[96];
    uint64_t ns, kernel_ns, calls, mem_peak, once_ns;
    uint64_t mem_delta; // signed; here it may wrap, whatever a peer tells
} node_acc;

typedef struct open_node {
    uint32_t id;
    int node;
    uint64_t begin_ns, mem;
    uint32_t batch; // largest leading dimension of its kernels
    uint64_t paused_ns;
} open_node;

typedef struct stats_job {
    uint64_t name, ns; // name: a hash, never 0
} stats_job;

struct nino_stats {
    op_acc *op;
    size_t n_op, cap_op;
    int32_t *op_of; // by name id, -1: not seen; a guess: another run numbers names differently
    size_t n_op_of;
    node_acc *node;
    size_t n_node, cap_node;
    open_node open[STATS_OPEN];
    int n_open;
    struct {
        uint32_t id;
        int32_t node;
    } scope[STATS_SCOPES];
    int last_node;           // begun last, -1: none
    uint64_t pause;          // scope of a pause, or of preparing a kernel, that lasts; 0: none
    uint64_t pause_ns;       // when it began
    uint64_t pause_prepares; // 1: a program is prepared, 2: a kernel at its first launch
    uint64_t prepare_ns, n_prepared;
    nino_mem_stat mem;
    uint64_t lost, last_ns;
    uint64_t count, summed; // records added; those that came as sums
    char *sum_family;       // of the kernel that is being told as sums,
    uint64_t sum_counts[5]; // its counts,
    op_acc *sum_op;         // and itself, for its bins
    uint64_t runs, run_ns, batch_sum, batch_max, batch_runs, batched;
    uint64_t look_ups, look_hits, n_driver_programs, timed_ns, short_ns, n_short;
    uint64_t ahead_bytes, late_bytes, n_ahead;
    uint64_t byte_ns;    // of timed_ns: stored 8 bits an element
    uint64_t longest_ns; // of a node's runs
    double bandwidth;    // bytes/s, as last told (NINO_EV_CEILINGS); 0: not yet
    uint64_t chunk_ns, chunk_frames, n_chunks; // of clips that have ended, from here
    uint64_t clip_ns, clip_frames, n_borders;
    double border, limit; // sums over clips whose pieces meet
    uint64_t open_ns, open_frames, open_tiles,
        n_open_chunks;                    // to here; of the clip that is decoded
    uint64_t pixels, recomputed, n_tiled; // of what was put together from tiles
    stats_job job[STATS_JOBS];            // the last ones that ended, as a ring
    uint64_t n_jobs;
    stats_job running; // begin_ns in `ns`; id 0: none
    uint64_t running_id;
    struct {
        uint64_t job;     // scope of the running job, 0: none
        uint64_t from_ns; // counted up to here
        double watt;      // of the last sample
        uint64_t watt_ns; // when that was; 0: none yet
        nino_energy_stat sum;
        uint64_t has_samples; // in this job
    } power;
};

typedef const char *(*nino_name_fn)(void *priv, uint32_t id);

// The kernel of this name and family, made when it is new; NULL: out of memory.
op_acc *nino_stats_op(nino_stats *s, const char *name, const char *family);
// The index of a node; -1: out of memory.
int nino_stats_node(nino_stats *s, const char *name);
// One more job has ended; name 0: none has.
void nino_stats_add_job(nino_stats *s, uint64_t name, uint64_t ns);
// Takes in what decoding and jobs tell, for statistics.c.
void nino_stats_add_work(nino_stats *s, const nino_event *ev, nino_name_fn name, void *priv);
// a += b, as if b's calls had been counted in a.
void nino_stats_merge(op_acc *a, const op_acc *b);
// Takes in a NINO_EV_SUM.
void nino_stats_add_sum(nino_stats *s, const nino_event *ev, nino_name_fn name, void *priv);
