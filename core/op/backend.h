// Internal: what a device must be able to do. Implementations: core/op/ref (oracle),
// core/op/plan/plan (counts only), cl/. One job thread uses a backend at a time.
#pragma once
#include "core/op/ceilings.h"
#include "core/op/pace.h"
#include "core/op/pool.h"
#include "core/op/profile.h"
#include "core/op/programs.h"
#include "core/op/stream.h"
#include <ninodes/ctx.h>
#include <ninodes/kernel.h>

struct nino_tensor {
    int refs;
    nino_dtype dtype;
    nino_shape shape;
    nino_stream *stream;
    nino_block mem; // core/op/pool.h
    bool is_view;   // shares `base`'s memory
    nino_tensor *base;
    nino_tensor *prev, *next; // the stream's living tensors
};

// A weight as one backend holds it.
typedef struct nino_packed {
    nino_block mem;
    nino_dtype dtype; // storage on the device
    void *priv;       // backend's own, freed by its unpack hook
} nino_packed;

typedef struct nino_op_call {
    nino_op_desc d;
    nino_tensor *src[NINO_OP_MAX_SRC];
    nino_tensor *dst;
    const nino_packed *weight, *bias, *norm; // packed for this backend, NULL if none
    nino_block workspace;                    // impl->workspace(d) bytes
} nino_op_call;

typedef struct nino_backend_impl {
    const char *name;                // "cl", "ref", "plan"
    void (*close)(nino_backend *be); // last: pool and weights are gone; frees be
    // src may go as soon as this returns.
    nino_status (*upload)(nino_backend *be, const nino_block *dst, const void *src, size_t bytes,
                          nino_error *err);
    nino_status (*download)(nino_backend *be, const nino_block *src, void *dst, size_t bytes,
                            nino_error *err); // waits
    nino_status (*fill_zero)(nino_backend *be, const nino_block *dst, size_t bytes,
                             nino_error *err);
    // Storage of a weight here: its type and byte count, without reading it.
    size_t (*packed_bytes)(nino_backend *be, const nino_weight *w, nino_dtype *dtype);
    // Reads and packs w into out->mem (already allocated with packed_bytes).
    nino_status (*pack)(nino_backend *be, const nino_weight *w, nino_packed *out, nino_error *err);
    void (*unpack)(nino_backend *be, nino_packed *p); // optional: frees p->priv
    size_t (*workspace)(nino_backend *be, const nino_op_desc *d);
    // Enqueues; errors of the device may surface later. Never blocks longer than its queue bound.
    nino_status (*run)(nino_backend *be, const nino_op_call *call, nino_error *err);
    nino_status (*finish)(nino_backend *be, nino_error *err);
    // Optional: the stream's scopes, for backends that keep sums by scope.
    void (*scope_begin)(nino_backend *be, nino_event_kind kind, const char *name, uint32_t arg0,
                        uint32_t arg1);
    void (*scope_end)(nino_backend *be);
    // Optional: the coming work will ask for these programs.
    void (*expect)(nino_backend *be, const nino_programs *programs);
    // Optional, of a helper process: compiles a program that is not there; of one that is, puts a binary
    // into the cache, with all that the driver would compile later.
    nino_status (*compile)(nino_backend *be, const nino_plan_program *program, nino_error *err);
    // Optional: what the driver says of a kernel; the names of the device are the caller's.
    nino_status (*ask)(nino_backend *be, const char *file, const char *options, const char *kernel,
                       nino_kernel_facts *out, nino_error *err);
    // Optional: measures one ceiling of the device, the median of `repeats`, each of about so many
    // seconds: bytes/s, FLOP/s or seconds. bytes: the working set, or what is copied; a power of
    // two.
    nino_status (*probe)(nino_backend *be, nino_ceiling_kind kind, uint64_t bytes, int repeats,
                         double seconds, double *rate, nino_error *err);
} nino_backend_impl;

// An implementation embeds this as its first member and creates `pool` with its own arena hooks.

struct nino_backend {
    const nino_backend_impl *impl;
    nino_pool *pool;
    nino_profile profile;       // numbers and policy of this device
    nino_monitor *monitor;      // may be NULL; set by the stream that uses it
    const volatile int *cancel; // likewise; waits and long host work look at it
    const nino_log *log;
    nino_ceiling_watch *watch; // may be NULL: is told the times of kernels that somebody watches
    nino_device_info info;     // which device this is; set by nino_device_open()
    // Running totals of the scheduled work, for plan and progress.
    double flops, bytes;
    double spared; // FLOPs that were not scheduled, because an earlier run kept what they give
    uint64_t n_ops;
    uint16_t queue;      // see nino_stream_params.queue
    uint64_t turn;       // counts ops: the weights of the one being prepared are not given up
    uint64_t node_turn;  // the first of the node that runs
    nino_evict evict;    // which weights go first
    uint64_t load_ns;    // spent bringing weights in, so that progress can leave it out
    uint64_t pause_ns;   // of that, waited because the job was paused
    uint64_t load_bytes; // of the weights brought in, as the device holds them
    uint64_t evicted;    // bytes of weights that were given up for room
    uint64_t mem_limit;  // that was asked for; 0: none was
    uint64_t late_bytes; // of the files, that were not in memory when they were to be read
    uint64_t stall_ns;   // of load_ns, for which reading them waited
    uint64_t n_cleanups; // runs of nodes that may free memory, of which some do
    uint64_t build_ns;   // spent waiting for kernels to be compiled or taken from the cache
    uint64_t n_builds;   // programs that came so
    uint64_t ops;        // bit i: nino_ops[i] has run
    nino_paces *paces;   // what adaptive settings know; NULL: none was asked for yet. Owned
};

// From now on so, for what is planned for be as well: as nino_profile.switched.
void nino_backend_set_switched(nino_backend *be, uint32_t switched);

// The stream that uses be has been cancelled: waits may give up (NINO_ERR_CANCELLED), and what is
// enqueued then ends by itself. Without a stream, false.
static inline bool nino_backend_is_cancelled(const nino_backend *be)
{
    return be->cancel && __atomic_load_n(be->cancel, __ATOMIC_RELAXED);
}

// Weight residency: the packed form of w on be, packing it now if needed, or anew where it is there for
// another `kept` (nino_sched_kept(); F32: none). Freed by
// nino_weight_destroy(), by nino_backend_drop_weights() or when the backend closes; none of these
// may run at the same time as a job on be.
const nino_packed *nino_backend_weight(nino_backend *be, const nino_weight *w, nino_dtype kept,
                                       nino_error *err);
// A block of the pool. When the budget does not allow it, weights that other ops used (the text
// encoder's, while the diffusion model runs) are given up, in the order of be->evict; they are read
// again when they are needed again. The sizes and order are the same in plan.
nino_status nino_backend_alloc(nino_backend *be, uint64_t bytes, nino_mem_owner owner,
                               nino_block *out, nino_error *err);
// One free piece of `bytes` for all but weights, see nino_pool_gather(); weights go for it as above.
nino_status nino_backend_gather(nino_backend *be, uint64_t bytes, nino_error *err);
void nino_weight_evict(nino_weight *w); // from every backend
// The op that uses w has been enqueued: if its values are made at use, they go. w may be NULL.
void nino_backend_drop_made(nino_backend *be, const nino_weight *w);
void nino_backend_drop_weights(nino_backend *be);              // all of them
void nino_backend_drop_since(nino_backend *be, uint64_t turn); // that came in since that turn
void nino_backend_close(nino_backend **be);                    // NULL-safe
// Bytes of the matrices on be that are 16 or 32 bits wide, and what 8-bit floats would take.
void nino_backend_weight_sizes(const nino_backend *be, uint64_t *wide, uint64_t *narrow);
// Bytes on be of the weights that the other one keeps alike.
uint64_t nino_backend_weights_on_both(const nino_backend *be, const nino_backend *other);
// False: work that a cancel left behind still runs in the driver; closing would wait for it.
bool nino_backend_is_idle(nino_backend *be);

// The backends of core. cl's constructor is in cl/cl.h and reached through core/op/device/device.h.
nino_backend *nino_ref_open(uint64_t mem_limit, const nino_log *log, nino_error *err);
// Plans for a device described by a profile: same pool, same packing sizes, same workspaces, no
// data.
nino_backend *nino_plan_open(const nino_profile *profile, uint64_t mem_limit, const nino_log *log,
                             nino_error *err);
