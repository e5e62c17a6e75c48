// Everything that was told about one run, kept in memory for views: scopes as spans, kernels and
// transfers by time, memory, counters; and the questions about ranges of time that plots and tables
// are made of. None of them goes over all events to draw a picture.
//
// Times are nanoseconds of CLOCK_MONOTONIC; a range is [t0, t1). Pointers into a history, and what
// it returns as const, live until its next add, load, restart or clear.
//
// Threads: a history belongs to one thread at a time.
#pragma once
#include <ninodes/monitor.h>

NINO_BEGIN

typedef struct nino_history nino_history;

// Makes a history of up to max_records events (0: two million, about 160 MiB). When there are more,
// the older half goes. NULL: out of memory.
NINO_API nino_history *nino_history_create(size_t max_records);
NINO_API void nino_history_destroy(nino_history **h);
// Forgets everything.
NINO_API void nino_history_clear(nino_history *h);
// The next job of the same process begins at t: forgets the events, but not what goes on to be so,
// the blocks of the pool and the ceilings of the device.
NINO_API void nino_history_restart(nino_history *h, uint64_t t);
// Adds n events; name and priv as in nino_stats_add(). The history gives names ids of its own:
// those in all that the functions below return are resolved by nino_history_name().
NINO_API void nino_history_add(nino_history *h, const nino_event *ev, size_t n,
                               const char *(*name)(void *priv, uint32_t id), void *priv);
// Adds the events of a trace. Errors: as nino_trace_read().
NINO_API nino_status nino_history_load(nino_history *h, const char *path, nino_error *err);
// Writes what is kept as a trace, in the form that nino_trace_create() takes from the name; the file appears whole or
// not at all, in the place of an older one.
NINO_API nino_status nino_history_save(const nino_history *h, const char *path, nino_error *err);

// Notes something about a moment, in place of what was noted there; text NULL or "" takes that
// away. Notes are points (NINO_EV_NOTE) and are saved with the events. False: t is 0, or out of
// memory.
NINO_API bool nino_history_note(nino_history *h, uint64_t t, const char *text);

// Text of an id, "" for one that is not known; history is a nino_history. Fits the `name` callbacks
// of ninodes/monitor.h.
NINO_API const char *nino_history_name(void *history, uint32_t id);
// The other way. 0: no event has this text.
NINO_API uint32_t nino_history_find(const nino_history *h, const char *text);
// First and last time of the work; both 0 while there is nothing. Samples of a device that idles
// before or after it do not count.
NINO_API uint64_t nino_history_begin(const nino_history *h);
NINO_API uint64_t nino_history_end(const nino_history *h);
// Events that were added, kept or not.
NINO_API uint64_t nino_history_count(const nino_history *h);
// Events that are gone because there were too many of them, or no memory for them.
NINO_API uint64_t nino_history_dropped(const nino_history *h);
// Events that were lost before they came here (NINO_EV_LOST).
NINO_API uint64_t nino_history_lost(const nino_history *h);

// ---- scopes ----------------------------------------------------------------------------------

// A scope with its begin and its end.
typedef struct nino_span {
    // end_ns is 0 while it is open.
    uint64_t begin_ns, end_ns;
    // The scope, and its name.
    uint32_t id, name;
    // As in the event that began it.
    uint32_t arg0, arg1;
    // Index of the enclosing span; -1: none.
    int32_t parent;
    uint16_t track, depth;
    // A nino_event_kind from JOB to TILE.
    uint8_t kind;
    // Its end was never told; a later scope shows that it is over.
    uint8_t is_cut;
    // Of its end: 0 ok, else -nino_status.
    int16_t status;
} nino_span;

// All spans in the order in which they began, parents before children.
NINO_API const nino_span *nino_history_spans(const nino_history *h, size_t *n);
// Index of the span of a scope; -1: it is not kept.
NINO_API int32_t nino_history_span_of(const nino_history *h, uint32_t scope_id);
// The nearest span of that kind that encloses a span, or the span itself; -1: none.
NINO_API int32_t nino_history_enclosing(const nino_history *h, int32_t span, nino_event_kind kind);
// Indexes of the spans at one depth of a thread, by time; they do not overlap.
NINO_API const uint32_t *nino_history_row(const nino_history *h, uint16_t track, uint16_t depth,
                                          size_t *n);

// ---- tracks: threads and device queues -------------------------------------------------------

// Families of ops that are told apart in plots; the last one collects the rest.
enum { NINO_HISTORY_FAMILIES = 12 };

typedef struct nino_track_info {
    // As in the events: below 256 a thread, else a queue of the device.
    uint16_t number;
    // Depths of its scopes.
    uint16_t n_rows;
    // Kernels and transfers.
    uint64_t n_slices;
} nino_track_info;

// Fills up to max entries, and returns how many tracks there are.
NINO_API size_t nino_history_tracks(const nino_history *h, nino_track_info *out, size_t max);
// Kernels and transfers of a track by their start: events as they came, with the history's names.
NINO_API const nino_event *nino_history_slices(const nino_history *h, uint16_t track, size_t *n);
// Index of the first of them that begins at t or later; their number when there is none.
NINO_API size_t nino_history_slice_at(const nino_history *h, uint16_t track, uint64_t t);
// Bits of an element that a kernel stored last; 0: not known.
NINO_API unsigned nino_history_bits(const nino_history *h, uint32_t kernel_name);
// Fills up to max names of families in the order in which they were seen, and returns how many
// there are. "" stands for what has no family.
NINO_API size_t nino_history_families(const nino_history *h, const char **out, size_t max);
// Nanoseconds of the range in which the track was busy with each family, in O(log n).
NINO_API void nino_history_busy(const nino_history *h, uint16_t track, uint64_t t0, uint64_t t1,
                                uint64_t out[NINO_HISTORY_FAMILIES]);
// Place of a family in these lists.
NINO_API size_t nino_history_family_of(const nino_history *h, uint32_t family_name);

// ---- points ----------------------------------------------------------------------------------

// Events of one kind by time: TILE_INFO, SEAM, STEP_INFO, PREVIEW, PROGRESS, MESSAGE, OUTPUT,
// CACHE, MEM, NOTE, ONCE, and DEVICE and HOST, which nino_history_counter() has counter by counter.
// NULL for other kinds.
NINO_API const nino_event *nino_history_points(const nino_history *h, nino_event_kind kind,
                                               size_t *n);
// What runs of one workflow must have in common for their times to be compared: the device, the files of models that were
// opened, and how many nodes' results were there from earlier runs. "" : nothing is known. free() it; NULL: out of memory.
NINO_API char *nino_history_kind(const nino_history *h);
// Index of the first event of list, which is sorted by time, at t or later; n when there is none.
NINO_API size_t nino_history_lower(const nino_event *list, size_t n, uint64_t t);

// ---- counters --------------------------------------------------------------------------------

typedef struct nino_reading {
    uint64_t t_ns;
    // NaN: it was looked for, and not known.
    double value;
} nino_reading;

// What samples told of one counter (ninodes/counter.h), by time. NULL, and *n is 0: nothing.
NINO_API const nino_reading *nino_history_counter(const nino_history *h, nino_counter_id id,
                                                  size_t *n);
// Index of the first reading of list at t or later; n when there is none.
NINO_API size_t nino_reading_lower(const nino_reading *list, size_t n, uint64_t t);

// ---- memory ----------------------------------------------------------------------------------

// The pool at one moment, in bytes.
typedef struct nino_mem_point {
    uint64_t t_ns, in_use, reserved, largest_free;
    uint64_t by_owner[NINO_OWN_COUNT];
} nino_mem_point;

// The state after event i of nino_history_points(h, NINO_EV_MEM). False: there is no such event.
NINO_API bool nino_history_memory(const nino_history *h, size_t i, nino_mem_point *out);
// The moment of highest use in the range, the state with which it begins included, in O(log n).
// False: nothing is known of it.
NINO_API bool nino_history_memory_peak(const nino_history *h, uint64_t t0, uint64_t t1,
                                       nino_mem_point *out);

// The most bytes that the plan of the last job uses, which was told at *since_ns (may be NULL). 0: no plan was told.
NINO_API uint64_t nino_history_planned(const nino_history *h, uint64_t *since_ns);

// A piece of an arena.
typedef struct nino_pool_block {
    uint64_t offset, bytes;
    // When it was handed out or freed; 0: before the events begin.
    uint64_t since_ns;
    // The scope that asked for it; 0: not known.
    uint32_t scope;
    // Index of its arena.
    uint16_t arena;
    // A nino_mem_owner.
    uint8_t owner;
    uint8_t is_free;
} nino_pool_block;

// Memory that the pool holds from the driver.
typedef struct nino_pool_arena {
    // 0: its size was not told; the end of its last block is taken.
    uint64_t bytes;
    uint64_t used;
    // Its number in the events, the index of its first block, and how many blocks it has.
    uint32_t number, first, n;
} nino_pool_arena;

// All of the pool at one moment.
typedef struct nino_pool_map {
    // budget 0: there is none.
    uint64_t t_ns, in_use, reserved, budget;
    uint64_t largest_free, free_bytes;
    // In use, but handed out before the events begin.
    uint64_t unknown_bytes;
    // 1 - largest_free / free_bytes; 0 when nothing is free.
    double fragmentation;
    // Arenas by their number, and blocks by arena and offset, free ones included. Both are owned;
    // nino_pool_map_release().
    nino_pool_arena *arena;
    nino_pool_block *block;
    size_t n_arenas, n_blocks;
} nino_pool_map;

// The pool as it was at t (UINT64_MAX: now). Errors: NINO_ERR_NOMEM.
NINO_API nino_status nino_history_pool(const nino_history *h, uint64_t t, nino_pool_map *out,
                                       nino_error *err);
NINO_API void nino_pool_map_release(nino_pool_map *m);

// How the pool would serve a request.
typedef enum nino_fit {
    // From a free block.
    NINO_FIT_BLOCK = 0,
    // From a new arena, which the budget allows.
    NINO_FIT_ARENA = 1,
    // After arenas that are wholly free were given back.
    NINO_FIT_TRIM = 2,
    NINO_FIT_NO = 3
} nino_fit;
// Says how a request of so many bytes would be served in this state.
NINO_API nino_fit nino_pool_map_fit(const nino_pool_map *m, uint64_t bytes);

// ---- what tables and plots show --------------------------------------------------------------

// Statistics of the whole run, owned by the history.
NINO_API const nino_stats *nino_history_stats(const nino_history *h);
// Statistics of a range: of the kernels that begin in it and the runs of nodes that end in it. The
// caller destroys these, and those of the next two functions. NULL: out of memory.
NINO_API nino_stats *nino_history_range_stats(const nino_history *h, uint64_t t0, uint64_t t1);
// Statistics of the kernels and transfers that begin in the range, one op for every shape that they
// ran with: "gemm 1x77x64".
NINO_API nino_stats *nino_history_shape_stats(const nino_history *h, uint64_t t0, uint64_t t1);
// The same for every work size, which stands behind the last blank: "gemm 4096x16x1/64x1x1" (see
// nino_launch; without a local size the driver chose). What tells none has its bare name.
NINO_API nino_stats *nino_history_work_stats(const nino_history *h, uint64_t t0, uint64_t t1);

// Calls of one kernel that are alike: in program, call and work size (what the launch's name tells,
// see nino_kernel_told_read()) and in shape.
typedef struct nino_launch_stat {
    // Names: of the kernel; of the launch and the shape, 0: not told.
    uint32_t kernel, launch, shape;
    // As in the events: number of the op + 1, bits of an element that is stored.
    uint8_t op, bits;
    uint64_t calls, total_ns, min_ns, max_ns;
    double flops, bytes;
} nino_launch_stat;
// Of the kernels that begin in the range, those that took longest in all first. The caller frees
// the list with free(). NULL, and *n is 0: there are none, or out of memory.
NINO_API nino_launch_stat *nino_history_launches(const nino_history *h, uint64_t t0, uint64_t t1,
                                                 size_t *n);

// Fills up to max calls of one kernel that begin in the range, longest first, and returns how many
// there are. name 0: of any kernel.
NINO_API size_t nino_history_calls(const nino_history *h, uint32_t name, uint64_t t0, uint64_t t1,
                                   nino_event *out, size_t max);

enum { NINO_HISTOGRAM_BINS = 64 };
// How long the calls of a kernel took.
typedef struct nino_histogram {
    uint64_t calls, min_ns, max_ns;
    double p50_ns, p95_ns, p99_ns;
    // Bin i counts calls of [lo + i bin, lo + (i + 1) bin); the last one all above.
    double lo_ns, bin_ns;
    // Calls above this are outliers: third quartile + 3 interquartile ranges (Tukey).
    double outlier_ns;
    uint64_t outliers;
    uint64_t bin[NINO_HISTOGRAM_BINS];
} nino_histogram;
// Fills *out from the calls that begin in the range; name as in nino_history_calls(). Errors:
// NINO_ERR_NOMEM.
NINO_API nino_status nino_history_histogram(const nino_history *h, uint32_t name, uint64_t t0,
                                            uint64_t t1, nino_histogram *out, nino_error *err);

// A bar of a flame graph.
typedef struct nino_flame {
    uint32_t name;
    // Index of the bar below it; -1: it is a root.
    int32_t parent;
    uint16_t depth;
    // A nino_event_kind: a scope, KERNEL or TRANSFER.
    uint8_t kind;
    // Of kernels: as nino_history_family_of().
    uint8_t family;
    uint64_t ns, calls;
} nino_flame;
// The time of the range by call path, paths of equal names and families merged: parents before
// children, the children of one parent together, longest first. With on_device it is the time of kernels and
// transfers, summed upwards, else the wall time of the scopes. The caller frees *out with free().
// Errors: NINO_ERR_NOMEM.
NINO_API nino_status nino_history_flame(const nino_history *h, uint64_t t0, uint64_t t1,
                                        bool on_device, nino_flame **out, size_t *n,
                                        nino_error *err);

NINO_END
