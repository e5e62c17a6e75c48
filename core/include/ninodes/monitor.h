// What a run tells about itself while it works: the event, counters in samples, statistics over
// events, trace files, and attaching to another process.
//
// Threads: events, samples and launches are plain data. A nino_stats, nino_trace or nino_attach
// belongs to one thread at a time.
#pragma once
#include <ninodes/counter.h>

NINO_BEGIN

// ---- events ----------------------------------------------------------------------------------

// The kinds of events. Scopes begin with an event of their own kind, which carries their name, and
// end with NINO_EV_END; they nest. All other kinds are points in time. The numbers are those of
// trace files and of the socket, so they never change.
typedef enum nino_event_kind {
    NINO_EV_NONE = 0,
    // Scope: a job, from its start to its end.
    NINO_EV_JOB = 1,
    // Scope: a node runs. u.scope.arg0 is its place in the order of the run, arg1 how many nodes
    // there are; the name is "ID CLASS".
    NINO_EV_NODE = 2,
    // Scope: a part of a model, such as "decoder.up.3", "load" or "encode". A name that begins with
    // NINO_STAGE_COMPILE is no part of the node around it: kernels are prepared, which the node
    // waits for. u.scope.arg0 has the flag that the driver has them in a cache, and which of all
    // programs these are, from 1; arg1 the flag that the next run will have them, and how many there
    // are, 0: not known. See NINO_COMPILE_FLAG.
    NINO_EV_STAGE = 3,
    // Scope: step u.scope.arg0 of arg1 of a sampling.
    NINO_EV_STEP = 4,
    // Scope: tile u.scope.arg0 of arg1. Where it lies follows in a NINO_EV_TILE_INFO.
    NINO_EV_TILE = 5,
    // The scope `id` has ended at t_ns. u.scope.arg0 is its status, 0 for ok.
    NINO_EV_END = 6,
    // One kernel of the device, told when it has finished: u.kernel.
    NINO_EV_KERNEL = 7,
    // Something happened in the memory pool: u.mem.
    NINO_EV_MEM = 8,
    // Counters of the device, ten times a second: u.sample.
    NINO_EV_DEVICE = 9,
    // How far the job has come: u.progress.
    NINO_EV_PROGRESS = 10,
    // A message. The name is its text, u.scope.arg0 its nino_log_level. The message that a sampling
    // has left steps behind to go on with has their number in arg1.
    NINO_EV_MESSAGE = 11,
    // Where the tile of scope `parent` lies: u.tile; name: why tiles, and of this size; `id`: which device
    // computed it, as a text ("cl:1"; 0: not told).
    NINO_EV_TILE_INFO = 12,
    // What the seam meter found: u.seam.
    NINO_EV_SEAM = 13,
    // This reader was too slow, and u.lost of its records were dropped.
    NINO_EV_LOST = 14,
    // An output file was written. The name is its path.
    NINO_EV_OUTPUT = 15,
    // A copy between host and device, or a file that was read: u.kernel with bytes and duration.
    // The name says which; `sub` is a nino_transfer.
    NINO_EV_TRANSFER = 16,
    // A cache was asked. `sub` is a nino_cache, u.scope.arg0 is 1 for a hit. The name is "ID CLASS"
    // for results of nodes, else the file. arg1 is 1 for a program that is never kept here, because
    // the driver has a cache of its own.
    NINO_EV_CACHE = 17,
    // The sampler step of scope `parent` is done: u.step.
    NINO_EV_STEP_INFO = 18,
    // A preview was written: u.step. The name is the path of a PNG file, which the next preview
    // replaces and which goes with the context.
    NINO_EV_PREVIEW = 19,
    // Counters of the machine, twice a second: u.sample. Every new viewer is told the last one.
    NINO_EV_HOST = 20,
    // How fast the device can be (ninodes/measure.h): u.ceilings. The name is the device. The
    // points of its bandwidth follow. Every new viewer is told them again.
    NINO_EV_CEILINGS = 21,
    // One point of the bandwidth: u.ceiling_point.
    NINO_EV_CEILING_POINT = 22,
    // A piece of a clip went through a video VAE: u.chunk; `id` as of a TILE_INFO.
    NINO_EV_CHUNK = 23,
    // A whole clip has been decoded: u.clip.
    NINO_EV_CLIP = 24,
    // What a user has noted about a moment (nino_history_note()). The name is the text.
    NINO_EV_NOTE = 25,
    // What the node has done that running it again would not repeat, told when it ends: u.once.
    NINO_EV_ONCE = 26,
    // What earlier records, which are not held any more, add up to: u.sum. A viewer that comes late
    // is told these first; nino_stats_add() takes them. Their time is 0, and what is in them is
    // between the two ends of one version.
    NINO_EV_SUM = 27,
    // What the planner has chosen for a node before the run: u.choice. The name says it, and why:
    // "8 VAEDecode: tiles of 512 pixels (least predicted time of 9 ways: 3.1 s, ...)".
    NINO_EV_CHOICE = 28,
} nino_event_kind;

#define NINO_STAGE_COMPILE "compile "
// At a kernel's first launch, with drivers that compile then (PoCL): a scope as above with the number
// 0, as it is of no further program.
#define NINO_STAGE_LAUNCH NINO_STAGE_COMPILE "at launch: "
// The flag and the number in an argument of such a scope, and an argument of both.
#define NINO_COMPILE_FLAG(arg) ((arg) &1)
#define NINO_COMPILE_NUMBER(arg) ((arg) >> 1)
#define NINO_COMPILE_ARG(flag, number) ((uint32_t) ((number) << 1 | ((flag) != 0)))

// Which cache a NINO_EV_CACHE is about.
typedef enum nino_cache {
    // Compiled kernels.
    NINO_CACHE_PROGRAM = 0,
    // Results of nodes.
    NINO_CACHE_NODE = 1,
    // Opened model files.
    NINO_CACHE_FILE = 2
} nino_cache;

// How a NINO_EV_TRANSFER came about.
typedef enum nino_transfer {
    // It was asked for and waited for.
    NINO_TRANSFER_DIRECT = 0,
    // It was fetched ahead, and was there before it was needed.
    NINO_TRANSFER_AHEAD = 1,
    // It was fetched ahead, but the job had to wait for it.
    NINO_TRANSFER_LATE = 2,
    // Nobody fetched it ahead, and the job had to wait for the disk.
    NINO_TRANSFER_COLD = 3
} nino_transfer;

// What a NINO_EV_MEM tells of the pool.
typedef enum nino_mem_op {
    NINO_MEM_ALLOC = 0,
    NINO_MEM_FREE = 1,
    // Memory that was held for later was given back to the driver.
    NINO_MEM_TRIM = 2,
    // The budget has changed to `bytes`.
    NINO_MEM_BUDGET = 3,
    // A request was refused.
    NINO_MEM_FAIL = 4,
    // `bytes` more are held from the driver, as the arena of number `arena`.
    NINO_MEM_ARENA = 5,
    // That arena was given back.
    NINO_MEM_GONE = 6,
    // A late viewer is told of a block that is there already. It counts as no request.
    NINO_MEM_BLOCK = 7,
    // By its plan the job that has begun has `bytes` at most in use, with what earlier jobs have left there; not told
    // where there is no plan.
    NINO_MEM_PLANNED = 8
} nino_mem_op;

// What a block of the pool is for.
typedef enum nino_mem_owner {
    NINO_OWN_WEIGHTS = 0,
    NINO_OWN_ACTIVATION = 1,
    NINO_OWN_WORKSPACE = 2,
    NINO_OWN_STAGING = 3,
    NINO_OWN_COUNT
} nino_mem_owner;

// One event: 64 bytes in the byte order of the host. Between processes of one machine it travels as
// it is. Names are ids of texts: nino_job_name(), nino_attach_name() and nino_history_name()
// resolve those of their own events. Texts of OUTPUT and MESSAGE, which come once, are known to the
// first two until 8192 later ones have come.
typedef struct nino_event {
    // CLOCK_MONOTONIC. Of kernels and transfers it is the start of execution on the device.
    uint64_t t_ns;
    // A nino_event_kind.
    uint8_t kind;
    // MEM: nino_mem_op. CACHE: nino_cache. TRANSFER: nino_transfer. KERNEL: number of the op + 1,
    // or 0 for what is no op. DEVICE and HOST: how many records of this sample follow.
    uint8_t sub;
    // Small number of the thread that told it, 0 for the job's; from 256 on a queue of the device.
    uint16_t track;
    // Id of the name's text.
    uint32_t name;
    // Scopes and END: the scope. KERNEL: nino_kernel_id(). MEM: where the block lies in its arena,
    // in units of 256 bytes. TILE_INFO and CHUNK: a text, the device. Else 0.
    uint32_t id;
    // The enclosing scope.
    uint32_t parent;
    // The member that belongs to the kind.
    union {
        struct {
            uint32_t arg0, arg1;
        } scope;
        struct {
            // From start to end.
            uint64_t dur_ns;
            // Microseconds from being queued, and from being submitted, to the start. Of weights that
            // come in (TRANSFER "load") queued_us is the part of dur_ns that they were waited for.
            uint32_t queued_us;
            uint32_t submitted_us;
            // Arithmetic of this launch, as the op table counts it; of Winograd's products their
            // own. An op of several kernels has all of it on the main one.
            double flops;
            // Bytes that it must move at least.
            double bytes;
            // Texts: the shape ("1x512x512x128") and the family of ops ("conv", "gemm", "norm",
            // "attn", "elt", "move").
            uint32_t shape;
            uint32_t family;
        } kernel;
        struct {
            // Of this request.
            uint64_t bytes;
            // After it: bytes handed out, bytes held from the driver, and the largest free block.
            uint64_t in_use;
            uint64_t reserved;
            uint64_t largest_free;
            // A nino_mem_owner.
            uint8_t owner;
            // 1 when it was served from memory that was held already.
            uint8_t is_hit;
            // ALLOC and FREE: the block's arena; 0 when not told. Numbers are used again.
            uint16_t arena;
            // After it: what this owner has, in units of 256 bytes.
            uint32_t owner_use;
        } mem;
        // DEVICE and HOST: some counters and their values; see nino_sample.
        struct {
            // A nino_counter_id; NONE where there is no value.
            uint16_t id[4];
            // NaN: not known.
            double value[4];
        } sample;
        struct {
            // Per second; 0: not known.
            double flops_f32, flops_f16, bandwidth;
            // Seconds.
            double launch_s;
            // Seconds since 1970; 0: these are the figures of a data sheet.
            uint64_t measured_at;
        } ceilings;
        struct {
            // Size of the working set.
            uint64_t bytes;
            // Bytes per second.
            double read, write, copy;
            // Number of this point, and how many there are.
            uint32_t index, n;
        } ceiling_point;
        struct {
            // In the job's unit of work: planned FLOPs, or nodes where there is no plan.
            double done, total;
            // Seconds left; NaN: not known yet.
            double eta_s;
            uint32_t node_index, n_nodes;
            uint32_t step, n_steps;
        } progress;
        struct {
            // The tile in pixels of the output.
            uint16_t x, y, w, h;
            // The part of it that no neighbour shares.
            uint16_t core_x, core_y, core_w, core_h;
            // Place in the order of computation, of how many.
            uint16_t order, n;
            // Stock tiling goes over the picture in three passes.
            uint16_t pass, n_passes;
            uint64_t ns;
            uint64_t peak_bytes;
        } tile;
        struct {
            // |difference| of neighbouring tiles where they overlap, in 1/255.
            float mean, max;
            // Mean step across the seams less the mean step beside them, in 1/255.
            float gradient;
            uint32_t n_seams;
            // Pixels of the output, and those that were computed more than once.
            uint64_t pixels, recomputed;
        } seam;
        struct {
            // Steps that are finished, of how many.
            uint32_t step, total;
            // Noise level and duration of this step; of a PREVIEW what making the picture took.
            double sigma, seconds;
            // Seconds that this sampling has left; NaN: not known yet.
            double eta_s;
            // PREVIEW: size of the picture.
            uint32_t width, height;
        } step;
        struct {
            // Frames of the result that came out.
            uint32_t first, frames;
            // Number of this piece, of how many; n is 0 when that is not known.
            uint32_t order, n;
            uint64_t ns;
            // What is kept for the next piece.
            uint64_t cache_bytes;
            uint64_t peak_bytes;
        } chunk;
        struct {
            // Brightness of the first frame and of the others.
            float first_mean, rest_mean;
            // Saturation of the same: the strongest channel less the weakest.
            float first_colour, rest_colour;
            // Mean step between frames where pieces meet, and what it may be: the median of all
            // steps plus three median deviations. In 1/255.
            float border, limit;
            uint32_t frames, n_borders;
            uint64_t ns;
        } clip;
        struct {
            uint64_t load_ns; // waiting for weights from files
        } once;
        struct {
            // Predicted of the whole run, weights included: as chosen, as it would be without
            // choosing, and without a budget (0: the same).
            double seconds, unchosen, unlimited;
            // Ways that were compared; 0: planned like the run before.
            uint32_t walks;
        } choice;
        uint64_t lost;
        uint64_t sum[5];
        uint64_t pad[5];
    } u;
} nino_event;

// ---- samples ---------------------------------------------------------------------------------

// What the counters of one kind of sample (ninodes/counter.h) were at one moment. An event has room
// for a few values, so a sample is told by several, one behind the other and of the same time;
// `sub` says how many follow. Readers skip numbers they do not know: a newer program told them.
typedef struct nino_sample {
    uint64_t t_ns;
    // NINO_EV_DEVICE or NINO_EV_HOST.
    uint8_t kind;
    // Nothing of it follows.
    bool is_whole;
    // By nino_counter_id; NaN: not known.
    double value[NINO_COUNTER_MAX];
} nino_sample;

enum { NINO_SAMPLE_VALUES = 4, NINO_SAMPLE_RECORDS = NINO_COUNTER_MAX / NINO_SAMPLE_VALUES };

// Makes *s a sample of which nothing is known.
NINO_API void nino_sample_clear(nino_sample *s, nino_event_kind kind);
// Writes a sample as events: all counters of its kind, also those that are not known. Returns their
// number.
NINO_API size_t nino_sample_write(const nino_sample *s, nino_event out[NINO_SAMPLE_RECORDS]);
// Takes in an event of kind DEVICE or HOST. The first one of another sample than before clears *s,
// which may begin as all zeros. Returns true when the sample is whole.
NINO_API bool nino_sample_add(nino_sample *s, const nino_event *ev);
// Takes the value of one counter from an event. False: it does not tell that counter.
NINO_API bool nino_sample_value(const nino_event *ev, nino_counter_id id, double *v);

// ---- launches --------------------------------------------------------------------------------

// How a kernel was launched. Kernel events carry it as one name for all launches alike.
typedef struct nino_launch {
    // Work-items; all 0: not told.
    uint64_t global[3];
    // Work-items of a work-group; all 0: the driver chose.
    uint64_t local[3];
    // Bytes of global memory that the work-groups load and store: an operand counts as often as
    // they fill their tiles with it, or go over it. 0: not known.
    double requested;
} nino_launch;

enum { NINO_LAUNCH_TEXT = 160, NINO_WORK_TEXT = 64 };
// Writes the name, GLOBAL/LOCAL/BYTES such as "4096x16x1/64x1x1/8388608"; what is not known is left
// out. Returns buf. Events have more behind it: which program and call it was for
// (nino_kernel_told_read()).
NINO_API const char *nino_launch_write(char buf[NINO_LAUNCH_TEXT], const nino_launch *l);
// Reads such a name. False: it is none, and *out is all zeros.
NINO_API bool nino_launch_read(nino_launch *out, const char *text);
// Writes a size in words, "4096x16x1", or "" for one that is all 0. Returns buf.
NINO_API const char *nino_work_text(char buf[NINO_WORK_TEXT], const uint64_t size[3]);

// The `id` of a KERNEL: bits of an element that it stores (32, 16, 8; 0: not known), and the name
// of its launch (0: not told).
static inline uint32_t nino_kernel_id(unsigned bits, uint32_t launch)
{
    return (bits & 0xff) | (launch < 1u << 24 ? launch << 8 : 0);
}
static inline unsigned nino_kernel_bits(const nino_event *ev) { return ev->id & 0xff; }
static inline uint32_t nino_kernel_launch(const nino_event *ev) { return ev->id >> 8; }

// ---- statistics ------------------------------------------------------------------------------

// The calls of one kernel, or of one family of ops.
typedef struct nino_op_stat {
    // Owned by the nino_stats.
    const char *name, *family;
    uint64_t calls, total_ns, min_ns, max_ns;
    // Percentiles lie between the calls around their place, in proportion, as in nino_histogram. Of families, of a kernel
    // with more than 16384 calls, and where sums were told, they come from a logarithmic histogram with bins 2 % wide.
    double mean_ns, sigma_ns, p50_ns, p95_ns;
    // Sums over the calls.
    double flops, bytes;
    // Sum of what nino_launch says; NaN: not known of every call that has bytes.
    double requested;
    // Over total_ns; 0: there is no arithmetic, or nothing that moves.
    double gflops, gbps;
} nino_op_stat;

typedef struct nino_node_stat {
    // "ID CLASS".
    char name[96];
    uint64_t ns, kernel_ns;
    // Bytes of the pool in use at its end less those at its begin.
    int64_t mem_delta;
    // Most bytes in use while it ran.
    uint64_t mem_peak;
    uint64_t calls;
} nino_node_stat;

// The memory pool, in bytes; allocs to trims are counts.
typedef struct nino_mem_stat {
    uint64_t in_use, peak, reserved, budget, largest_free;
    uint64_t by_owner[NINO_OWN_COUNT], peak_by_owner[NINO_OWN_COUNT];
    uint64_t allocs, hits, fails, trims;
    uint64_t requested_bytes, reused_bytes;
    // 1 - largest_free / free; 0 when nothing is free.
    double fragmentation;
} nino_mem_stat;

// The performance figures of the ROCm extension, each counted from events. NaN: there is no sample,
// which is shown as "n/a".
typedef struct nino_perf_stats {
    // Seconds for a run of a node.
    double average_execution_time;
    // Runs of nodes that ended.
    double total_executions;
    // Hits / look-ups, of the pool (ALLOC) and of the caches (CACHE).
    double cache_hit_rate;
    // Bytes reused / bytes requested of the pool.
    double memory_efficiency;
    // Share of kernel time in storage of 16 bits or less.
    double precision_efficiency;
    // Average batch of a node's run / largest batch.
    double batch_efficiency;
    // Bytes fetched ahead that were there in time / bytes fetched ahead.
    double prefetch_efficiency;
    // Requests that the pool served without asking the driver.
    double total_memory_saves;
    // Kernels in storage of 16 bits or less.
    double total_precision_optimizations;
    // Runs of nodes with more than one image at once.
    double total_batch_optimizations;
    // Pieces fetched ahead that were there in time.
    double total_prefetch_hits;
    // Programs that were left to the driver and its own cache. They are in no rate.
    double total_driver_programs;
} nino_perf_stats;

// Energy that the device took while jobs ran: the integral of its power samples. NaN without any.
typedef struct nino_energy_stat {
    // Of all jobs, and of the last one, also while it runs.
    double joules, last_joules;
    // Time of jobs that samples cover.
    double seconds;
    // Jobs that ended with samples.
    uint64_t jobs;
} nino_energy_stat;

// Statistics over the events that were added.
typedef struct nino_stats nino_stats;
// NULL: out of memory.
NINO_API nino_stats *nino_stats_create(void);
NINO_API void nino_stats_destroy(nino_stats **s);
// Adds n events. name() resolves their texts: nino_job_name(), nino_attach_name() and the like,
// with what they take as priv.
NINO_API void nino_stats_add(nino_stats *s, const nino_event *ev, size_t n,
                             const char *(*name)(void *priv, uint32_t id), void *priv);
// Each of these three fills up to max entries, and returns how many there are: kernels and families
// by their total time, longest first, and nodes in the order in which they ran.
NINO_API size_t nino_stats_ops(const nino_stats *s, nino_op_stat *out, size_t max);
NINO_API size_t nino_stats_families(const nino_stats *s, nino_op_stat *out, size_t max);
NINO_API size_t nino_stats_nodes(const nino_stats *s, nino_node_stat *out, size_t max);
// Of the time of node i, in the order of nino_stats_nodes(): what running it again would not repeat
// (NINO_EV_ONCE), in nanoseconds.
NINO_API uint64_t nino_stats_node_once(const nino_stats *s, size_t i);
NINO_API void nino_stats_memory(const nino_stats *s, nino_mem_stat *out);
NINO_API void nino_stats_perf(const nino_stats *s, nino_perf_stats *out);
NINO_API void nino_stats_energy(const nino_stats *s, nino_energy_stat *out);
// Events that were lost before they came here.
NINO_API uint64_t nino_stats_lost(const nino_stats *s);
// Nanoseconds that went into preparing kernels (NINO_STAGE_COMPILE), which are in the time of no
// node, and for how many programs.
NINO_API uint64_t nino_stats_preparing(const nino_stats *s, uint64_t *programs);
// Events that were counted. Those of them that came as sums only (NINO_EV_SUM), because they were
// not held any more, are in *summed, which may be NULL.
NINO_API uint64_t nino_stats_count(const nino_stats *s, uint64_t *summed);

// ---- trace files ----------------------------------------------------------------------------

// A trace that is being written. The name's ending chooses its form: .pftrace is Perfetto's own
// (TrackEvent), .ninotrace ours, the only one that keeps every event, and all else Chrome's JSON;
// .json.gz and .pftrace.gz are compressed. Ours and Perfetto's can be read at any time, also after
// a crash; Chrome's is there once it is finished.
typedef struct nino_trace nino_trace;
// Errors: NINO_ERR_IO, NINO_ERR_NOMEM.
NINO_API nino_trace *nino_trace_create(const char *path, nino_error *err);
// The same for records that are there already: the file appears once it is finished, whatever its form, and until then
// what was there before stays.
NINO_API nino_trace *nino_trace_create_whole(const char *path, nino_error *err);
// As nino_stats_add().
NINO_API void nino_trace_add(nino_trace *t, const nino_event *ev, size_t n,
                             const char *(*name)(void *priv, uint32_t id), void *priv);
// Both end the object: the first completes the file, the second gives it up.
NINO_API nino_status nino_trace_finish(nino_trace **t, nino_error *err);
NINO_API void nino_trace_abort(nino_trace **t);
// Checks a trace: that it can be read, that scopes are balanced, times ascend, and nothing overlaps
// on a track. An error names the track.
NINO_API nino_status nino_trace_check(const char *path, uint64_t *n_events, nino_error *err);
// Reads a trace back: gives its events to add() in the order in which they were written, in
// batches; name and name_priv are for the time of the call. Messages, progress and the fine print
// of older versions may be missing. A Chrome trace of another program (CLIntercept, PyTorch's
// profiler, ...; complete events, ph X) is taken as one job: what ran on a device as kernels and
// transfers, what ran on threads as nested stages; times begin at 1 µs. Errors: NINO_ERR_IO,
// NINO_ERR_FORMAT, NINO_ERR_NOMEM.
NINO_API nino_status nino_trace_read(const char *path,
                                     void (*add)(void *priv, const nino_event *ev, size_t n,
                                                 const char *(*name)(void *name_priv, uint32_t id),
                                                 void *name_priv),
                                     void *priv, nino_error *err);
// Adds the kernels, nodes and memory of a trace to stats. Errors: as nino_trace_read().
NINO_API nino_status nino_trace_load(const char *path, nino_stats *stats, nino_error *err);

// ---- attaching to another process ------------------------------------------------------------

// A connection to a run or a worker. Each of them listens on $XDG_RUNTIME_DIR/ninodes/PID.sock, for
// processes of the same user. A viewer that comes late is first told the names so far, what the
// events that are not held any more add up to (NINO_EV_SUM: before this job, then of it), the scopes
// that were open then, and all events since: its totals are those of one that saw all.
typedef struct nino_attach nino_attach;

// target is the path of a socket or a process id; NULL: the newest run. Errors: NINO_ERR_MISSING
// (nobody listens there), NINO_ERR_IO, NINO_ERR_NOMEM.
NINO_API nino_attach *nino_attach_open(const char *target, nino_error *err);
NINO_API void nino_attach_close(nino_attach **a);
// The descriptor to poll() for reading. Owned by a.
NINO_API int nino_attach_fd(const nino_attach *a);
// Takes what is there and never blocks; *n is the number of events copied. NINO_ERR_IO: the run has
// ended.
NINO_API nino_status nino_attach_read(nino_attach *a, nino_event *out, size_t max, size_t *n,
                                      nino_error *err);
// Text of an id in an event, "" for one that is not known; attach is a nino_attach. Owned by it.
NINO_API const char *nino_attach_name(void *attach, uint32_t id);
NINO_API int nino_attach_pid(const nino_attach *a);

// A process that listens.
typedef struct nino_run_info {
    char socket[108];
    int pid;
    // CLOCK_MONOTONIC.
    uint64_t started_ns;
    // Name of the workflow.
    char title[128];
} nino_run_info;
// Fills up to max entries, newest first, and returns how many processes there are.
NINO_API size_t nino_attach_list(nino_run_info *out, size_t max);
// Asks the run to cancel, as SIGINT does there.
NINO_API nino_status nino_attach_cancel(nino_attach *a, nino_error *err);

NINO_END
