// Everything recorded about one run, kept in memory for views: scopes as spans, kernels and
// transfers sorted by time, memory, samples; and the queries by time range that plots and tables
// are made of. None of them scans all records to draw a picture.
//
// Times are CLOCK_MONOTONIC nanoseconds; a range is [t0, t1). Thread-safety: one thread at a time.
// Pointers into a history live until the next add, load or clear.
#pragma once
#include <ninodes/monitor.h>

NINO_BEGIN

typedef struct nino_history nino_history;

// Keeps up to max_records (0: two million, about 160 MiB); when there are more, the older half
// goes. NULL: out of memory.
NINO_API nino_history *nino_history_create(size_t max_records);
NINO_API void nino_history_destroy(nino_history **h);
NINO_API void nino_history_clear(nino_history *h);
// The next job of the same process begins at t: forgets the records, but not what goes on to be so,
// the blocks of the pool and the ceilings of the device.
NINO_API void nino_history_restart(nino_history *h, uint64_t t);
// Names are kept as ids of the history itself; ids in what the functions below return are resolved
// with nino_history_name().
NINO_API void nino_history_add(nino_history *h, const nino_event *ev, size_t n,
                               const char *(*name)(void *priv, uint32_t id), void *priv);
// Adds the records of a trace written by ninodes.
NINO_API nino_status nino_history_load(nino_history *h, const char *path, nino_error *err);
// Writes what is kept as a Chrome trace, compressed when path ends in .gz.
NINO_API nino_status nino_history_save(const nino_history *h, const char *path, nino_error *err);

// Notes something about a moment, in place of what was noted there; text NULL or "" takes that
// away. Notes are points (NINO_EV_NOTE) and are saved with the records. False: t is 0, or no
// memory.
NINO_API bool nino_history_note(nino_history *h, uint64_t t, const char *text);

// Fits the `name` callbacks of monitor.h; "" for ids that are not known.
NINO_API const char *nino_history_name(void *history, uint32_t id);
NINO_API uint32_t nino_history_find(const nino_history *h, const char *text); // 0: never seen
// First and last time seen; both 0 while there is nothing. Samples of a device that idles before or
// after the work do not count.
NINO_API uint64_t nino_history_begin(const nino_history *h);
NINO_API uint64_t nino_history_end(const nino_history *h);
NINO_API uint64_t nino_history_count(const nino_history *h); // records added, kept or not
// Records that are gone because there were too many of them or no memory for them.
NINO_API uint64_t nino_history_dropped(const nino_history *h);
// Records that were lost before they came here (NINO_EV_LOST).
NINO_API uint64_t nino_history_lost(const nino_history *h);

// ---- scopes ----------------------------------------------------------------------------------

typedef struct nino_span {
    uint64_t begin_ns, end_ns; // end 0: still open
    uint32_t id, name;
    uint32_t arg0, arg1; // as in the event
    int32_t parent;      // index of the enclosing span, -1: none
    uint16_t track, depth;
    uint8_t kind;   // nino_event_kind: JOB to TILE
    uint8_t is_cut; // its end was never told; a later scope shows that it is over
    int16_t status; // of the end: 0 ok, else -nino_status
} nino_span;

// In the order they began; parents before children.
NINO_API const nino_span *nino_history_spans(const nino_history *h, size_t *n);
NINO_API int32_t nino_history_span_of(const nino_history *h, uint32_t scope_id); // -1: not kept
// Enclosing span of that kind, the span itself included; -1: none.
NINO_API int32_t nino_history_enclosing(const nino_history *h, int32_t span, nino_event_kind kind);
// Indexes of the spans at one depth of a thread, by time; they do not overlap.
NINO_API const uint32_t *nino_history_row(const nino_history *h, uint16_t track, uint16_t depth,
                                          size_t *n);

// ---- tracks: threads and device queues -------------------------------------------------------

enum { NINO_HISTORY_FAMILIES = 12 }; // told apart in plots; the last one collects the rest

typedef struct nino_track_info {
    uint16_t number;   // as in the events: below 256 a thread, else a device queue
    uint16_t n_rows;   // depths of scopes
    uint64_t n_slices; // kernels and transfers
} nino_track_info;

NINO_API size_t nino_history_tracks(const nino_history *h, nino_track_info *out, size_t max);
// Kernels and transfers of a track by start; records as they came, with the history's name ids.
NINO_API const nino_event *nino_history_slices(const nino_history *h, uint16_t track, size_t *n);
// First slice of the track that begins at t or later; their number when there is none.
NINO_API size_t nino_history_slice_at(const nino_history *h, uint16_t track, uint64_t t);
// Bits of an element that a kernel stored last; 0: not known.
NINO_API unsigned nino_history_bits(const nino_history *h, uint32_t kernel_name);
// Op families in the order they were seen; their number. "" is "other".
NINO_API size_t nino_history_families(const nino_history *h, const char **out, size_t max);
// Nanoseconds of the range in which the track was busy with each family. O(log n).
NINO_API void nino_history_busy(const nino_history *h, uint16_t track, uint64_t t0, uint64_t t1,
                                uint64_t out[NINO_HISTORY_FAMILIES]);
NINO_API size_t nino_history_family_of(const nino_history *h, uint32_t family_name);

// ---- points ----------------------------------------------------------------------------------

// Records of one kind by time: DEVICE and HOST (see nino_history_counter), TILE_INFO, SEAM,
// STEP_INFO, PREVIEW, PROGRESS, MESSAGE, OUTPUT, CACHE, MEM, NOTE. Others: NULL.
NINO_API const nino_event *nino_history_points(const nino_history *h, nino_event_kind kind,
                                               size_t *n);
// First record of `list` (sorted by time) at t or later.
NINO_API size_t nino_history_lower(const nino_event *list, size_t n, uint64_t t);

// ---- counters --------------------------------------------------------------------------------

typedef struct nino_reading {
    uint64_t t_ns;
    double value; // NaN: was looked for, and not known
} nino_reading;

// What samples told of one counter (ninodes/counter.h), by time. None: NULL, *n is 0.
NINO_API const nino_reading *nino_history_counter(const nino_history *h, nino_counter_id id,
                                                  size_t *n);
// First reading of `list` at t or later; n when there is none.
NINO_API size_t nino_reading_lower(const nino_reading *list, size_t n, uint64_t t);

// ---- memory ----------------------------------------------------------------------------------

typedef struct nino_mem_point {
    uint64_t t_ns, in_use, reserved, largest_free;
    uint64_t by_owner[NINO_OWN_COUNT];
} nino_mem_point;

// The state after the i-th record of nino_history_points(h, NINO_EV_MEM).
NINO_API bool nino_history_memory(const nino_history *h, size_t i, nino_mem_point *out);
// The moment of highest use in the range, the state it begins with included. False: nothing known.
// O(log n).
NINO_API bool nino_history_memory_peak(const nino_history *h, uint64_t t0, uint64_t t1,
                                       nino_mem_point *out);

typedef struct nino_pool_block {
    uint64_t offset, bytes;
    uint64_t since_ns; // handed out or freed; 0: before the records begin
    uint32_t scope;    // that asked for it, 0: not known
    uint16_t arena;    // index into arena[]
    uint8_t owner;     // nino_mem_owner
    uint8_t is_free;
} nino_pool_block;

typedef struct nino_pool_arena {
    uint64_t bytes; // 0: its size was not told; the end of its last block is taken
    uint64_t used;
    uint32_t number, first, n; // first: index of its first block
} nino_pool_arena;

typedef struct nino_pool_map {
    uint64_t t_ns, in_use, reserved, budget; // budget 0: none
    uint64_t largest_free, free_bytes;
    uint64_t unknown_bytes; // in use, but handed out before the records begin
    double fragmentation;   // 1 - largest_free / free_bytes; 0 when nothing is free
    nino_pool_arena *arena; // by number
    nino_pool_block *block; // by arena and address, free ones included
    size_t n_arenas, n_blocks;
} nino_pool_map;

// The pool as it was at t (UINT64_MAX: now). Errors: NINO_ERR_NOMEM.
NINO_API nino_status nino_history_pool(const nino_history *h, uint64_t t, nino_pool_map *out,
                                       nino_error *err);
NINO_API void nino_pool_map_release(nino_pool_map *m);
typedef enum nino_fit {
    NINO_FIT_BLOCK = 0, // into a free block
    NINO_FIT_ARENA = 1, // the budget allows a new arena
    NINO_FIT_TRIM = 2,  // after arenas that are wholly free were given back
    NINO_FIT_NO = 3
} nino_fit;
// Would one request of `bytes` be served in this state?
NINO_API nino_fit nino_pool_map_fit(const nino_pool_map *m, uint64_t bytes);

// ---- what tables and plots show --------------------------------------------------------------

// Statistics of the whole run (the history's own) or of a range (the caller destroys them; NULL:
// out of memory). A range counts the kernels that begin in it and the node runs that end in it.
NINO_API const nino_stats *nino_history_stats(const nino_history *h);
NINO_API nino_stats *nino_history_range_stats(const nino_history *h, uint64_t t0, uint64_t t1);
// Of the kernels and transfers that begin in the range, one op for every shape that they ran with:
// "gemm 1x77x64". NULL: out of memory.
NINO_API nino_stats *nino_history_shape_stats(const nino_history *h, uint64_t t0, uint64_t t1);
// The same for every work size, behind the last blank: "gemm 4096x16x1/64x1x1" (see nino_launch; no
// local size: the driver's choice). The bare name for what tells none.
NINO_API nino_stats *nino_history_work_stats(const nino_history *h, uint64_t t0, uint64_t t1);

// Calls of one kernel that begin in the range, by duration, longest first; returns how many there
// are. `name` 0: of any kernel.
NINO_API size_t nino_history_calls(const nino_history *h, uint32_t name, uint64_t t0, uint64_t t1,
                                   nino_event *out, size_t max);

enum { NINO_HISTOGRAM_BINS = 64 };
typedef struct nino_histogram {
    uint64_t calls, min_ns, max_ns;
    double p50_ns, p95_ns, p99_ns;
    double lo_ns, bin_ns; // bin i counts [lo + i bin, lo + (i + 1) bin); the last one all above
    double outlier_ns; // calls above are outliers: third quartile + 3 interquartile ranges (Tukey)
    uint64_t outliers;
    uint64_t bin[NINO_HISTOGRAM_BINS];
} nino_histogram;
// Errors: NINO_ERR_NOMEM.
NINO_API nino_status nino_history_histogram(const nino_history *h, uint32_t name, uint64_t t0,
                                            uint64_t t1, nino_histogram *out, nino_error *err);

typedef struct nino_flame {
    uint32_t name;
    int32_t parent; // index, -1: a root
    uint16_t depth;
    uint8_t kind;   // nino_event_kind: a scope, KERNEL or TRANSFER
    uint8_t family; // of kernels: as nino_history_family_of()
    uint64_t ns, calls;
} nino_flame;
// Time of the range by call path, paths of equal names merged: parents before children, children
// of one parent together, longest first. on_device: time of kernels and transfers, summed upwards;
// else wall time of the scopes. *out is freed with free(). Errors: NINO_ERR_NOMEM.
NINO_API nino_status nino_history_flame(const nino_history *h, uint64_t t0, uint64_t t1,
                                        bool on_device, nino_flame **out, size_t *n,
                                        nino_error *err);

NINO_END
