// Internal to core/event: the ring of one thread and what a monitor is made of.
#pragma once
#include "core/event/publish.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    NINO_RING_SIZE = 1 << 16,
    NINO_MAX_RINGS = 256, // tracks below 256 are threads
    NINO_MAX_DEPTH = 64,  // scopes open at once in one thread
    NINO_EVENT_WORDS = sizeof(nino_event) / sizeof(uint64_t)
};

// Text of interned names. Look-ups take no lock; adding a new one does.
typedef struct nino_names nino_names;
nino_names *nino_names_create(void);
void nino_names_destroy(nino_names **n);
uint32_t nino_names_add(nino_names *n, const char *text);
const char *nino_names_text(const nino_names *n, uint32_t id); // "" for unknown ids
uint32_t nino_names_count(const nino_names *n);                // ids below this have a text
// A text that only one record says: of those, the newest NINO_PASSING_KEPT have one.
enum { NINO_PASSING_KEPT = 8192 };
uint32_t nino_names_pass(nino_names *n, const char *text);
// How many there were so far, modulo 2^32. The id of number i, from 0, is NINO_PASSING_BIT | i.
uint32_t nino_names_passed(const nino_names *n);

// An open scope, kept so that a late viewer can be told about it.
typedef struct nino_open_scope {
    nino_event begin;
    uint64_t seq; // number of its record in the ring; UINT64_MAX: the monitor was off
} nino_open_scope;

// Says whether the thread that owned a ring still lives; shared by its rings and the thread.
typedef struct nino_thread_token {
    atomic_int refs, alive;
} nino_thread_token;

typedef struct nino_ring {
    _Alignas(64) _Atomic uint64_t head; // records published so far
    _Alignas(64) nino_thread_token *owner;
    uint16_t track;
    pthread_mutex_t scope_lock; // the owner writes, the server reads
    uint32_t parent;            // of what is in no scope: nino_monitor_adopt()
    int depth;                  // may exceed NINO_MAX_DEPTH: deeper scopes are counted, not kept
    nino_open_scope scope[NINO_MAX_DEPTH];
    _Alignas(64) _Atomic uint64_t word[NINO_RING_SIZE][NINO_EVENT_WORDS];
} nino_ring;

enum { NINO_MAX_BELLS = 64 };

struct nino_monitor {
    uint64_t serial;   // never reused, unlike addresses
    atomic_int on;     // readers and holds
    atomic_int n_read; // readers
    atomic_uint next_scope;
    _Atomic uint64_t dropped; // records of threads without a ring
    atomic_int n_rings;
    _Atomic(nino_ring *) ring[NINO_MAX_RINGS];
    nino_names *names;
    pthread_mutex_t lock; // ring[] additions
    pthread_cond_t changed;
    pthread_mutex_t blocks_lock; // the next two
    nino_blocks_fn blocks;
    void *blocks_priv;
    // Bells: descriptors of those who wait. A producer looks for an armed one after each record.
    atomic_int n_bells, n_armed;
    pthread_mutex_t bell_lock;
    struct {
        int fd; // 0: free
        bool is_armed;
    } bell[NINO_MAX_BELLS];
};

// The ring of the calling thread, made on first use; NULL: out of memory or of rings.
nino_ring *nino_ring_get(nino_monitor *m);
// Appends to the calling thread's own ring; fills t_ns, parent and track where they are not set.
void nino_ring_push(nino_monitor *m, nino_ring *r, nino_event *ev);
uint32_t nino_ring_current(const nino_ring *r);
void nino_monitor_ring_bells(nino_monitor *m); // those that are armed

// The blocks now: as nino_blocks_fn; 0 without one.
size_t nino_monitor_blocks(nino_monitor *m, nino_event *out, size_t max);

// Keeps the rings written without reading them: history for viewers that come later.
void nino_monitor_hold(nino_monitor *m);
void nino_monitor_drop(nino_monitor *m);
// A reader that starts with the oldest records still held and wakes no sampler: the monitor is on
// for it, but nobody watches. Fills open with up to max scopes whose beginning is older than that,
// outermost first, and returns their number in *n.
nino_mon_reader *nino_mon_reader_create_quiet(nino_monitor *m, nino_event *open, size_t max,
                                              size_t *n);
// As nino_mon_reader_read(), but leaves the newest `keep` records of every ring for later.
size_t nino_mon_reader_read_behind(nino_mon_reader *r, nino_event *out, size_t max, uint64_t keep,
                                   uint64_t *lost);
// A reader that watches and goes on where this one is. NULL: out of memory.
nino_mon_reader *nino_mon_reader_follow(const nino_mon_reader *r);
