// Internal: the memory pool of one device. Pure bookkeeping over arenas (blocks are arena + offset,
// so that OpenCL needs no sub-buffers); the arenas themselves come from hooks, and plan runs the
// same code without hooks, which is why its peak is exact. Policy: requests are rounded to size
// classes (1/8 octave steps, at least 256 bytes); best fit in address order; neighbours merge when
// freed; arenas are at most 1 GiB except for a single larger request; budget is enforced. Weights,
// which stay, and the rest, which comes and goes, use separate arenas while the budget allows; an
// arena that is wholly free but too small is given back before a bigger one is made.
// Thread-safety: one thread at a time, except the counters (nino_pool_stat), which any thread may
// read.
#pragma once
#include "core/event/publish.h"

typedef struct nino_pool nino_pool;

typedef struct nino_block {
    uint32_t arena;  // index + 1; 0: no memory
    uint32_t slot;   // pool's own
    uint64_t offset; // bytes from the arena's start, a multiple of 256
    uint64_t bytes;  // as rounded
    void *base;      // the arena's handle (cl_mem, host pointer, NULL in plan)
} nino_block;

typedef struct nino_arena_ops {
    // Returns a handle for `bytes` of device memory or NULL (too big: the pool tries smaller, then
    // fails).
    void *(*create)(void *priv, uint64_t bytes, nino_error *err);
    void (*destroy)(void *priv, void *handle);
} nino_arena_ops;

typedef struct nino_pool_params {
    nino_arena_ops ops; // all NULL: virtual
    void *priv;
    uint64_t budget;    // bytes that may be reserved from the device; 0: unlimited
    uint64_t max_arena; // device's largest buffer, 0: unlimited. One request above 1 GiB gets an
                        // arena of its own size, if it is not above this
    uint64_t min_arena; // 0: 64 MiB
    // Every block is an arena of exactly its size, so that tools which watch buffers (oclgrind)
    // notice an access beside a block; also what a run without a pool has.
    bool is_exact;
    bool is_always_exact; // whatever nino_pool_set_exact() says
} nino_pool_params;

nino_pool *nino_pool_create(const nino_pool_params *p);
void nino_pool_destroy(nino_pool **p); // frees every arena
// Errors: NINO_ERR_NOMEM with needed, free and budget in the message, of this kind where the device would have to
// be a larger one: with more of the host's memory it would fail as well.
#define NINO_KIND_BUDGET "budget"
nino_status nino_pool_alloc(nino_pool *p, uint64_t bytes, nino_mem_owner owner, nino_block *out,
                            nino_error *err);
void nino_pool_free(nino_pool *p, nino_block *b); // b->arena becomes 0; NULL memory is fine
// Makes one arena of `bytes` for all but weights, wholly free ones given back first: what fits into
// the budget as a sum may not fit into several arenas. Nothing, where that much is free in one
// piece. Errors: NINO_ERR_NOMEM, when the budget or the device has no room for it.
nino_status nino_pool_gather(nino_pool *p, uint64_t bytes, nino_error *err);
// The largest that can be made when weights go for it.
uint64_t nino_pool_largest_gather(nino_pool *p);
uint64_t nino_pool_trim(nino_pool *p); // gives wholly free arenas back; returns the bytes
void nino_pool_set_monitor(nino_pool *p, nino_monitor *m);
void nino_pool_set_exact(nino_pool *p, bool is_exact); // of what is allocated from now on
void nino_pool_set_budget(nino_pool *p, uint64_t budget);
void nino_pool_tell_planned(nino_pool *p,
                            uint64_t bytes);   // to who watches: the most in use, by plan
uint64_t nino_pool_in_use(const nino_pool *p); // the same as its in_use, for those who ask often
void nino_pool_stat(const nino_pool *p, nino_mem_stat *out);
void nino_pool_reset_peak(nino_pool *p); // peaks become the current use
// Highest use since the last call, for parts of a job (tiles); leaves the peak counters alone.
uint64_t nino_pool_take_window_peak(nino_pool *p);
// Would one block of `bytes` fit now without more arenas than the budget allows?
bool nino_pool_would_fit(const nino_pool *p, uint64_t bytes);
// Size after rounding, for planners; weights are rounded to 256 bytes only.
uint64_t nino_pool_class_bytes(uint64_t bytes);
