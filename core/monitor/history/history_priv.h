// Internal to core/monitor/history*.c: what a history is made of.
#pragma once
#include <ninodes/history.h>

#include <stdlib.h>
#include <string.h>

enum {
    HISTORY_DEPTH = 64,   // open scopes of one thread
    HISTORY_TRACKS = 288, // threads and queues
    HISTORY_KINDS = 32,
    HISTORY_STRIDE = 64, // records between two check points
    HISTORY_LEVELS = 3   // of maxima over 64, 64^2 and 64^3 memory records
};

typedef struct history_list {
    nino_event *ev;
    size_t n, cap;
} history_list;

typedef struct history_series {
    nino_reading *at;
    size_t n, cap;
} history_series;

typedef struct history_row {
    uint32_t *span;
    size_t n, cap;
} history_row;

typedef struct history_track {
    uint16_t number;
    int depth; // of open[]
    int32_t open[HISTORY_DEPTH];
    history_row row[HISTORY_DEPTH];
    int n_rows;
    history_list slices;
    // busy[k]: nanoseconds of each family in the slices before k * HISTORY_STRIDE
    uint64_t (*busy)[NINO_HISTORY_FAMILIES];
    size_t n_busy, cap_busy;
    uint64_t sum[NINO_HISTORY_FAMILIES];
} history_track;

typedef struct history_name {
    char *text;
    uint32_t next; // of the same hash
    int8_t family; // -1: not an op family so far
    uint8_t bits;  // of what a kernel of this name stores; 0: not known
} history_name;

// The blocks that are handed out, by arena and address.
typedef struct history_pool {
    nino_pool_block *block; // arena: its number
    size_t n, cap;
    uint64_t *arena; // bytes by number; 0: not there or not told
    size_t n_arenas, cap_arenas;
    uint64_t in_use, reserved, budget;
} history_pool;

struct nino_history {
    size_t max, kept;
    uint64_t begin_ns, end_ns, count, dropped, lost;
    bool has_work;      // something other than samples of the device has come
    history_name *name; // [0] is ""
    uint32_t n_names, cap_names;
    uint32_t *bucket;  // heads of chains through name[].next, UINT32_MAX: empty
    uint32_t n_bucket; // a power of two
    uint32_t *own_of;  // own name id by the id of the source; a guess that is checked
    uint32_t n_own_of;
    uint32_t family[NINO_HISTORY_FAMILIES];
    size_t n_families;
    nino_span *span;
    size_t n_spans, cap_spans;
    struct {
        uint32_t id;
        int32_t span; // -1: unused
    } * by_id;        // open addressing
    uint32_t n_by_id; // a power of two or 0
    history_track *track[HISTORY_TRACKS];
    size_t n_tracks;
    history_list list[HISTORY_KINDS];
    history_series counter[NINO_COUNTER_MAX]; // of the records in list[NINO_EV_DEVICE] and HOST
    // Beside list[NINO_EV_MEM]: bytes of every owner in units of 256, and where the maxima are.
    uint32_t (*use)[NINO_OWN_COUNT];
    size_t cap_use;
    uint32_t *peak[HISTORY_LEVELS];
    size_t n_peak[HISTORY_LEVELS], cap_peak[HISTORY_LEVELS];
    uint32_t use_now[NINO_OWN_COUNT];
    history_pool pool, pool_base; // now; before the first record kept
    uint64_t planned, planned_ns; // most bytes of the last job's plan, told when; 0: not told
    nino_stats *stats;
};

// Room for one more element of `size` bytes; false: out of memory.
bool history_reserve(void **data, size_t *cap, size_t n, size_t size);
// The first of n elements that is not before t. They are `stride` bytes apart and in order of their
// times, which lie time_at bytes into them. list may be NULL if there are none.
size_t history_lower(const void *list, size_t n, size_t stride, size_t time_at, uint64_t t);
// Inserts by time; returns its place, SIZE_MAX: out of memory.
size_t history_list_add(history_list *l, const nino_event *ev);
history_track *history_track_of(const nino_history *h, uint16_t number); // NULL: not seen

bool history_span_begin(nino_history *h, const nino_event *ev);
void history_span_end(nino_history *h, const nino_event *ev);
void history_drop_spans(nino_history *h, uint64_t before);

history_track *history_track_get(nino_history *h, uint16_t number); // made when new
bool history_slice_add(nino_history *h, const nino_event *ev);
void history_drop_slices(nino_history *h, history_track *t, uint64_t before);

// The values of a record of a sample; false: out of memory.
bool history_counter_add(nino_history *h, const nino_event *ev);
void history_drop_counters(nino_history *h, uint64_t before);

bool history_memory_add(nino_history *h, const nino_event *ev);
void history_drop_memory(nino_history *h, uint64_t before);
void history_pool_apply(history_pool *p, const nino_event *ev);
// Adds the state of the pool of `from` as records of time t, as a late viewer is told it.
void history_tell_pool(nino_history *to, const nino_history *from, uint64_t t);
