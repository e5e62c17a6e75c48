// Live performance events: the record, statistics over records, trace files, and attaching to
// another process.
//
// Thread-safety: nino_stats and nino_attach: one thread at a time. Records are plain data.
#pragma once
#include <ninodes/counter.h>

NINO_BEGIN

typedef enum nino_event_kind {
    NINO_EV_NONE = 0,
    // Scopes: id is the scope's, parent the enclosing one. *_BEGIN carries name; END repeats the
    // id.
    NINO_EV_JOB = 1,
    NINO_EV_NODE =
        2, // u.scope.arg0: index of the node in run order, arg1: nodes in all; name: "ID CLASS"
    NINO_EV_STAGE = 3, // a part of a model: "decoder.up.3", "load", "encode"
    NINO_EV_STEP = 4,  // sampler step arg0 of arg1
    NINO_EV_TILE = 5,  // tile arg0 of arg1; geometry follows in a NINO_EV_TILE_INFO
    NINO_EV_END = 6,   // end of scope `id`; t_ns is the end time, u.scope.arg0 the status (0 ok)
    // Points.
    NINO_EV_KERNEL = 7,     // one device kernel, published when it has finished; u.kernel
    NINO_EV_MEM = 8,        // pool: u.mem
    NINO_EV_DEVICE = 9,     // counters of the device, ten times a second: u.sample
    NINO_EV_PROGRESS = 10,  // u.progress
    NINO_EV_MESSAGE = 11,   // name: text; arg0: nino_log_level; arg1: steps that a sampling leaves
                            // behind to go on with, of the message that says so
    NINO_EV_TILE_INFO = 12, // u.tile of scope `parent`
    NINO_EV_SEAM = 13,      // result of the seam meter: u.seam
    NINO_EV_LOST = 14,      // u.lost records of this reader were dropped
    NINO_EV_OUTPUT = 15,    // an output file was written; name: path
    NINO_EV_TRANSFER =
        16, // host<->device copy or file read: u.kernel with bytes and duration; name says which
    NINO_EV_CACHE = 17,     // look-up: sub nino_cache, arg0 1 hit; name: "ID CLASS" (NODE), file;
                            // arg1 1 (PROGRAM): never kept here, for the driver has its own cache
    NINO_EV_STEP_INFO = 18, // a sampler step of scope `parent` is done: u.step
    NINO_EV_PREVIEW = 19,   // a latent preview was written; name: path (PNG, replaced by the next
                            // one, gone with the ctx), u.step
    // What goes with the device samples; told again to every new viewer.
    NINO_EV_HOST = 20,     // counters of the machine, twice a second: u.sample
    NINO_EV_CEILINGS = 21, // how fast the device can be (ninodes/measure.h): u.ceilings; name: the
                           // device; the points of its bandwidth follow
    NINO_EV_CEILING_POINT = 22, // u.ceiling_point
    NINO_EV_CHUNK = 23,         // a piece of a clip went through a video VAE: u.chunk
    NINO_EV_CLIP = 24,          // a clip has been decoded: u.clip
    NINO_EV_NOTE = 25, // what a user has noted about a moment (nino_history_note); name: text
} nino_event_kind;

typedef enum nino_cache {
    NINO_CACHE_PROGRAM = 0, // compiled kernels
    NINO_CACHE_NODE = 1,    // results of nodes
    NINO_CACHE_FILE = 2     // opened model files
} nino_cache;

// `sub` of NINO_EV_TRANSFER.
typedef enum nino_transfer {
    NINO_TRANSFER_DIRECT = 0, // asked for and waited for
    NINO_TRANSFER_AHEAD = 1,  // prefetched, and there before it was needed
    NINO_TRANSFER_LATE = 2    // prefetched, but the job had to wait
} nino_transfer;

typedef enum nino_mem_op {
    NINO_MEM_ALLOC = 0,
    NINO_MEM_FREE = 1,
    NINO_MEM_TRIM = 2,   // cached bytes were given back to the driver
    NINO_MEM_BUDGET = 3, // the budget changed: bytes is the new one
    NINO_MEM_FAIL = 4,   // a request was refused
    NINO_MEM_ARENA = 5,  // `bytes` more are held from the driver, as arena number `arena`
    NINO_MEM_GONE = 6,   // that arena was given back
    NINO_MEM_BLOCK = 7   // a block that is there, told to a late viewer: no request
} nino_mem_op;

typedef enum nino_mem_owner {
    NINO_OWN_WEIGHTS = 0,
    NINO_OWN_ACTIVATION = 1,
    NINO_OWN_WORKSPACE = 2,
    NINO_OWN_STAGING = 3,
    NINO_OWN_COUNT
} nino_mem_owner;

// One event: 64 bytes, host byte order, also the wire format between processes of one machine.
typedef struct nino_event {
    uint64_t
        t_ns;     // CLOCK_MONOTONIC; for kernels and transfers the start of execution on the device
    uint8_t kind; // nino_event_kind
    uint8_t sub;  // nino_mem_op for MEM, nino_op_id + 1 for KERNEL (0: not an op), nino_cache,
                  // nino_transfer; DEVICE and HOST: records of this sample that follow
    uint16_t track;  // small number of the producing thread (0 job thread) or device queue (>= 256)
    uint32_t name;   // interned string id
    uint32_t id;     // scope id (scopes, END); KERNEL: nino_kernel_id(); MEM: place of the block in
                     // its arena, in units of 256; else 0
    uint32_t parent; // enclosing scope
    union {
        struct {
            uint32_t arg0, arg1;
        } scope;
        struct {
            uint64_t dur_ns;       // end - start
            uint32_t queued_us;    // start - queued, microseconds
            uint32_t submitted_us; // start - submitted
            double flops;    // arithmetic of this launch, from the op table; the op's total on its
                             // main kernel
            double bytes;    // bytes it must move at least
            uint32_t shape;  // interned "1x512x512x128"
            uint32_t family; // interned op family: "conv", "gemm", "norm", "attn", "elt", "move"
        } kernel;
        struct {
            uint64_t bytes;        // of this request
            uint64_t in_use;       // after it: bytes handed out
            uint64_t reserved;     // after it: bytes held from the driver
            uint64_t largest_free; // largest free block
            uint8_t owner;         // nino_mem_owner
            uint8_t is_hit;        // 1: served from cached memory
            uint16_t arena;     // of the block (ALLOC, FREE); numbers are used again; 0: not told
            uint32_t owner_use; // after it: bytes handed out to this owner, in units of 256
        } mem;
        struct {             // DEVICE and HOST: see nino_sample
            uint16_t id[4];  // nino_counter_id; NONE: no value
            double value[4]; // NaN: not known
        } sample;
        struct {
            double flops_f32, flops_f16, bandwidth; // per second; 0: not known
            double launch_s;
            uint64_t measured_at; // seconds since 1970; 0: figures of a profile
        } ceilings;
        struct {
            uint64_t bytes;
            double read, write, copy; // bytes/s
            uint32_t index, n;        // of how many points
        } ceiling_point;
        struct {
            double done, total; // in work units of the job (predicted FLOPs, else nodes)
            double eta_s;       // seconds left; NaN: not known yet
            uint32_t node_index, n_nodes;
            uint32_t step, n_steps;
        } progress;
        struct {
            uint16_t x, y, w, h;                     // tile in output pixels
            uint16_t core_x, core_y, core_w, core_h; // the part not shared with neighbours
            uint16_t order, n;                       // in the order of computation
            uint16_t pass, n_passes;                 // stock tiling runs three passes
            uint64_t ns;
            uint64_t peak_bytes;
        } tile;
        struct {
            float mean, max; // |difference| of neighbouring tiles in their shared area, in 1/255
            float gradient;  // mean step across the seams minus the mean step beside them, in 1/255
            uint32_t n_seams;
            uint64_t pixels, recomputed; // output pixels; pixels computed more than once
        } seam;
        struct {
            uint32_t step, total;   // finished steps, of how many
            double sigma, seconds;  // of this step; PREVIEW: what making the picture took
            double eta_s;           // seconds left of this sampling; NaN: not known yet
            uint32_t width, height; // PREVIEW: of the picture
        } step;
        struct {
            uint32_t first, frames; // of the result that came out
            uint32_t order, n;      // piece, of how many; n 0: not known
            uint64_t ns;
            uint64_t cache_bytes; // kept for the next piece
            uint64_t peak_bytes;
        } chunk;
        struct {
            float first_mean, rest_mean;     // brightness of the first frame and of the others
            float first_colour, rest_colour; // saturation: strongest less weakest channel
            float border, limit; // mean step between frames where pieces meet, and what it may be:
                                 // median of all steps + 3 median deviations; in 1/255
            uint32_t frames, n_borders;
            uint64_t ns;
        } clip;
        uint64_t lost;
        uint64_t pad[5];
    } u;
} nino_event;

// ---- samples ---------------------------------------------------------------------------------

// What the counters of one kind of sample (ninodes/counter.h) were at one moment. A record has room
// for a few values, so a sample is told by several, one behind the other and of the same time;
// `sub` says how many follow. Readers skip numbers they do not know: a newer program told them.
typedef struct nino_sample {
    uint64_t t_ns;
    uint8_t kind;                   // NINO_EV_DEVICE, NINO_EV_HOST
    bool is_whole;                  // nothing of it follows
    double value[NINO_COUNTER_MAX]; // by nino_counter_id; NaN: not known
} nino_sample;

enum { NINO_SAMPLE_VALUES = 4, NINO_SAMPLE_RECORDS = NINO_COUNTER_MAX / NINO_SAMPLE_VALUES };

// A sample of which nothing is known.
NINO_API void nino_sample_clear(nino_sample *s, nino_event_kind kind);
// The records of a sample: all counters of its kind, also what is not known. Returns their number.
NINO_API size_t nino_sample_write(const nino_sample *s, nino_event out[NINO_SAMPLE_RECORDS]);
// Takes a record of DEVICE or HOST in; the first of another sample than before clears *s, which may
// begin as all zeros. True: the sample is whole.
NINO_API bool nino_sample_add(nino_sample *s, const nino_event *ev);
// The value of one counter; false: this record does not tell it.
NINO_API bool nino_sample_value(const nino_event *ev, nino_counter_id id, double *v);

// ---- launches --------------------------------------------------------------------------------

// How a kernel was launched. Kernel events carry it as one interned name for all launches alike.
typedef struct nino_launch {
    uint64_t global[3]; // work-items; all 0: not told
    uint64_t local[3];  // of a work-group; all 0: the driver's choice
    // Bytes of global memory that the work-groups load and store: an operand counts as often as
    // they fill their tiles with it, or go over it. 0: not known.
    double requested;
} nino_launch;

enum { NINO_LAUNCH_TEXT = 160, NINO_WORK_TEXT = 64 };
// The name: "4096x16x1/64x1x1/8388608", GLOBAL/LOCAL/BYTES; what is not known is left out.
NINO_API const char *nino_launch_write(char buf[NINO_LAUNCH_TEXT], const nino_launch *l);
// False, and nothing told in *out: the text is no such name.
NINO_API bool nino_launch_read(nino_launch *out, const char *text);
// A size in words: "4096x16x1"; "" for one that is all 0.
NINO_API const char *nino_work_text(char buf[NINO_WORK_TEXT], const uint64_t size[3]);

// What the `id` of a KERNEL holds: bits of a stored element (32, 16, 8; 0: not known) and the name
// of the launch (0: not told).
static inline uint32_t nino_kernel_id(unsigned bits, uint32_t launch)
{
    return (bits & 0xff) | (launch < 1u << 24 ? launch << 8 : 0);
}
static inline unsigned nino_kernel_bits(const nino_event *ev) { return ev->id & 0xff; }
static inline uint32_t nino_kernel_launch(const nino_event *ev) { return ev->id >> 8; }

// ---- statistics ------------------------------------------------------------------------------

typedef struct nino_op_stat {
    const char *name, *family; // live until the stats object is destroyed
    uint64_t calls, total_ns, min_ns, max_ns;
    double mean_ns, sigma_ns, p50_ns,
        p95_ns;          // percentiles from a fixed logarithmic histogram, 2 % wide bins
    double flops, bytes; // sums
    double requested;    // sum, as in nino_launch; NaN: not known of every call that has bytes
    double gflops, gbps; // over total_ns; 0: none
} nino_op_stat;

typedef struct nino_node_stat {
    char name[96];
    uint64_t ns, kernel_ns;
    int64_t mem_delta; // pool bytes in use at end minus begin
    uint64_t mem_peak; // highest in_use while it ran
    uint64_t calls;
} nino_node_stat;

typedef struct nino_mem_stat {
    uint64_t in_use, peak, reserved, budget, largest_free;
    uint64_t by_owner[NINO_OWN_COUNT], peak_by_owner[NINO_OWN_COUNT];
    uint64_t allocs, hits, fails, trims;
    uint64_t requested_bytes, reused_bytes;
    double fragmentation; // 1 - largest_free / free, 0 when nothing is free
} nino_mem_stat;

// The performance statistics of the seed project, each counted from events; NaN: no sample ("n/a").
typedef struct nino_perf_stats {
    double average_execution_time; // seconds per node run
    double total_executions;       // node runs that ended
    double cache_hit_rate;         // hits / look-ups of the pool (ALLOC) and of the caches (CACHE)
    double memory_efficiency;      // bytes reused / bytes requested of the pool
    double precision_efficiency;   // share of kernel time in storage of 16 bits or less
    double batch_efficiency;       // average batch of a node run / largest batch
    double prefetch_efficiency;    // prefetched bytes that were there in time / prefetched bytes
    double total_memory_saves;     // pool requests served without asking the driver
    double total_precision_optimizations; // kernels in storage of 16 bits or less
    double total_batch_optimizations;     // node runs with more than one image at once
    double total_prefetch_hits;           // prefetched pieces that were there in time
    double total_driver_programs; // programs left to the driver and its own cache; in no rate
} nino_perf_stats;

// Energy the device took while jobs ran: the integral of its power samples. Without any: NaN.
typedef struct nino_energy_stat {
    double joules, last_joules; // of all jobs; of the last one, also while it runs
    double seconds;             // of jobs that samples cover
    uint64_t jobs;              // that ended with samples
} nino_energy_stat;

typedef struct nino_stats nino_stats;
NINO_API nino_stats *nino_stats_create(void);
NINO_API void nino_stats_destroy(nino_stats **s);
// Feeds records; `name` resolves an interned id (see nino_attach_name, nino_job_name).
NINO_API void nino_stats_add(nino_stats *s, const nino_event *ev, size_t n,
                             const char *(*name)(void *priv, uint32_t id), void *priv);
NINO_API size_t nino_stats_ops(const nino_stats *s, nino_op_stat *out, size_t max); // by total time
NINO_API size_t nino_stats_families(const nino_stats *s, nino_op_stat *out,
                                    size_t max); // by total time
NINO_API size_t nino_stats_nodes(const nino_stats *s, nino_node_stat *out,
                                 size_t max); // in run order
NINO_API void nino_stats_memory(const nino_stats *s, nino_mem_stat *out);
NINO_API void nino_stats_perf(const nino_stats *s, nino_perf_stats *out);
NINO_API void nino_stats_energy(const nino_stats *s, nino_energy_stat *out);
NINO_API uint64_t nino_stats_lost(const nino_stats *s);

// ---- trace files ----------------------------------------------------------------------------

// Chrome JSON trace; where the path ends in .pftrace: Perfetto's own form (TrackEvent), with the
// same tracks, slices, counters and arrows; in .ninotrace: own form, the only one that keeps every
// record. .json.gz and .pftrace.gz are compressed. Files of ninodes' and Perfetto's form can be
// read at any time, also after a crash; finish() renames the others into place. Both end the
// object.
typedef struct nino_trace nino_trace;
NINO_API nino_trace *nino_trace_create(const char *path, nino_error *err);
NINO_API void nino_trace_add(nino_trace *t, const nino_event *ev, size_t n,
                             const char *(*name)(void *priv, uint32_t id), void *priv);
NINO_API nino_status nino_trace_finish(nino_trace **t, nino_error *err);
NINO_API void nino_trace_abort(nino_trace **t);
// Checks a Chrome trace: parses, balanced, monotonic, no overlapping slices on a track. Errors name
// the track.
NINO_API nino_status nino_trace_check(const char *path, uint64_t *n_events, nino_error *err);
// Reads a trace written by ninodes back: gives its records to `add` in the order they were written,
// in batches; `name` and `name_priv` are for the time of the call. Messages, progress and the fine
// print of older versions may be missing. A Chrome trace of another program (CLIntercept, PyTorch's
// profiler, ...; complete events, ph X) is taken as one job: what ran on a device as kernels and
// transfers, what ran on threads as nested stages; times begin at 1 µs.
NINO_API nino_status nino_trace_read(const char *path,
                                     void (*add)(void *priv, const nino_event *ev, size_t n,
                                                 const char *(*name)(void *name_priv, uint32_t id),
                                                 void *name_priv),
                                     void *priv, nino_error *err);
// Adds the kernels, nodes and memory of a trace written by ninodes to `stats`.
NINO_API nino_status nino_trace_load(const char *path, nino_stats *stats, nino_error *err);

// ---- attaching to another process ------------------------------------------------------------

// Every run listens on $XDG_RUNTIME_DIR/ninodes/PID.sock (same user only). A late viewer gets a
// snapshot first: names so far, open scopes, memory state and the records still held in the history
// ring.
typedef struct nino_attach nino_attach;

// target: a socket path, a process id, or NULL for the newest run. Errors: NINO_ERR_MISSING (nobody
// listens).
NINO_API nino_attach *nino_attach_open(const char *target, nino_error *err);
NINO_API void nino_attach_close(nino_attach **a);
NINO_API int nino_attach_fd(const nino_attach *a); // to poll() for reading
// Reads what is there without blocking. *n = records copied. Returns NINO_ERR_IO when the run has
// ended.
NINO_API nino_status nino_attach_read(nino_attach *a, nino_event *out, size_t max, size_t *n,
                                      nino_error *err);
NINO_API const char *nino_attach_name(void *attach, uint32_t id); // fits the `name` callbacks above
NINO_API int nino_attach_pid(const nino_attach *a);
// Sockets of live runs, newest first; returns the number found (paths are truncated to fit).
typedef struct nino_run_info {
    char socket[108];
    int pid;
    uint64_t started_ns; // CLOCK_MONOTONIC
    char title[128];     // workflow name
} nino_run_info;
NINO_API size_t nino_attach_list(nino_run_info *out, size_t max);
// Asks the run to cancel (same as SIGINT there).
NINO_API nino_status nino_attach_cancel(nino_attach *a, nino_error *err);

NINO_END
