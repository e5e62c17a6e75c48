// What all backends share: which weights are resident where, and closing.
#include "core/op/backend.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/time.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// A weight on a backend; in the weight's list and in the list of everything that is resident.
typedef struct nino_resident nino_resident;
struct nino_resident {
    nino_backend *be;
    nino_weight *w;
    nino_packed packed;
    uint64_t turn, born; // of the backend when it was last used, when it came in
    nino_dtype kept;
    nino_resident *next; // of the same weight
    nino_resident *all_prev, *all_next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static nino_resident *all;

static nino_resident *backend_find(const nino_weight *w, const nino_backend *be)
{
    pthread_mutex_lock(&lock);
    nino_resident *r = w->resident;
    while (r && r->be != be)
        r = r->next;
    pthread_mutex_unlock(&lock);
    return r;
}

// What reading a weight will have to wait for.
typedef struct awaited {
    uint64_t missing;       // bytes
    bool is_ahead;          // all of it was asked for ahead
    uint64_t begin, waited; // nino_now_ns(), nino_file_waited_ns()
} awaited;

static awaited await_weight(const nino_backend *be, const nino_weight *w)
{
    awaited a = { .is_ahead = w->n_ranges > 0 };
    if (!w->file || !strcmp(be->impl->name, "plan"))
        return (awaited){ .begin = nino_now_ns(), .waited = nino_file_waited_ns() };
    for (int i = 0; i < w->n_ranges; i++) {
        bool is_ahead;
        a.missing += nino_weights_missing(w->range[i].file, w->range[i].info, &is_ahead);
        a.is_ahead &= is_ahead;
    }
    a.begin = nino_now_ns();
    a.waited = nino_file_waited_ns();
    return a;
}

// What is made anew for every op is a part of computing, not of loading.
static void publish_load(nino_backend *be, const nino_weight *w, const awaited *a, uint64_t bytes)
{
    const uint64_t ns = nino_now_ns() - a->begin;
    const uint64_t waited = a->missing ? nino_file_waited_ns() - a->waited : 0;
    be->load_ns += w->is_made ? 0 : ns;
    be->load_bytes += w->is_made ? 0 : bytes;
    be->late_bytes += a->missing;
    be->stall_ns += waited;
    if (!be->monitor || !nino_monitor_is_on(be->monitor))
        return;
    nino_event ev = { .t_ns = a->begin, .kind = NINO_EV_TRANSFER };
    ev.name = nino_monitor_name(be->monitor, "load");
    if (a->is_ahead)
        ev.sub = a->missing ? NINO_TRANSFER_LATE : NINO_TRANSFER_AHEAD;
    else
        ev.sub = a->missing ? NINO_TRANSFER_COLD : NINO_TRANSFER_DIRECT;
    ev.u.kernel.dur_ns = ns;
    ev.u.kernel.queued_us = waited / 1000 < UINT32_MAX ? (uint32_t) (waited / 1000) : UINT32_MAX;
    ev.u.kernel.bytes = (double) bytes;
    nino_monitor_publish(be->monitor, &ev);
}

static void backend_drop(nino_resident *r);

const nino_packed *nino_backend_weight(nino_backend *be, const nino_weight *w, nino_dtype kept,
                                       nino_error *err)
{
    nino_resident *r = backend_find(w, be);
    if (r && r->kept == kept) {
        r->turn = be->turn;
        return &r->packed;
    }
    if (r) { // a run of another precision
        pthread_mutex_lock(&lock);
        backend_drop(r);
        pthread_mutex_unlock(&lock);
    }
    const awaited a = await_weight(be, w);
    r = calloc(1, sizeof(*r));
    if (!r) {
        nino_fail(err, NINO_ERR_NOMEM, "weights", "no memory for the list of weights");
        return NULL;
    }
    r->be = be;
    r->turn = r->born = be->turn;
    r->w = (nino_weight *) w; // residency is bookkeeping beside the value, which stays const
    r->kept = kept;
    // Devices that share work keep it alike: the second one finds it so, and writes nothing that the first reads.
    pthread_mutex_lock(&lock);
    if (r->w->kept != kept)
        r->w->kept = kept;
    pthread_mutex_unlock(&lock);
    const size_t bytes = be->impl->packed_bytes(be, w, &r->packed.dtype);
    if (nino_backend_alloc(be, bytes, NINO_OWN_WEIGHTS, &r->packed.mem, err) ||
        be->impl->pack(be, w, &r->packed, err)) {
        nino_pool_free(be->pool, &r->packed.mem);
        free(r);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    r->next = r->w->resident;
    r->w->resident = r;
    r->all_next = all;
    if (all)
        all->all_prev = r;
    all = r;
    pthread_mutex_unlock(&lock);
    publish_load(be, w, &a, bytes);
    return &r->packed;
}

// Takes r out of both lists and frees it. The lock is held.
static void backend_drop(nino_resident *r)
{
    nino_resident **at = &r->w->resident;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    if (r->all_prev)
        r->all_prev->all_next = r->all_next;
    else
        all = r->all_next;
    if (r->all_next)
        r->all_next->all_prev = r->all_prev;
    if (r->be->impl->unpack)
        r->be->impl->unpack(r->be, &r->packed);
    nino_pool_free(r->be->pool, &r->packed.mem);
    free(r);
}

// Whether a goes before b.
static bool goes_first(const nino_backend *be, const nino_resident *a, const nino_resident *b)
{
    const bool is_newest = be->evict == NINO_EVICT_NEWEST && a->turn >= be->node_turn &&
                           b->turn >= be->node_turn; // both are the running node's
    return is_newest ? a->turn > b->turn : a->turn < b->turn;
}

// Gives up weights in the order of be->evict, at least `bytes` of them or all that the op being
// prepared does not need. The queue is in order, so what is enqueued still finds them. 0: none left.
static uint64_t backend_evict(nino_backend *be, uint64_t bytes)
{
    uint64_t freed = 0;
    pthread_mutex_lock(&lock);
    while (freed < bytes) {
        nino_resident *first = NULL;
        for (nino_resident *r = all; r; r = r->all_next)
            if (r->be == be && r->turn != be->turn && (!first || goes_first(be, r, first)))
                first = r;
        if (!first)
            break;
        freed += first->packed.mem.bytes;
        backend_drop(first);
    }
    pthread_mutex_unlock(&lock);
    be->evicted += freed;
    return freed;
}

nino_status nino_backend_alloc(nino_backend *be, uint64_t bytes, nino_mem_owner owner,
                               nino_block *out, nino_error *err)
{
    nino_status st = nino_pool_alloc(be->pool, bytes, owner, out, err);
    for (uint64_t freed; st == NINO_ERR_NOMEM && (freed = backend_evict(be, bytes)) > 0;) {
        nino_logf(be->log, NINO_LOG_DEBUG,
                  "memory is short: %.1f MiB of weights will be read again",
                  (double) freed / 1048576.0);
        st = nino_pool_alloc(be->pool, bytes, owner, out, err);
    }
    if (!st && err)
        *err = (nino_error){ 0 };
    return st;
}

void nino_backend_set_switched(nino_backend *be, uint32_t switched)
{
    be->profile.switched = switched;
    nino_pool_set_exact(be->pool, !nino_acts(&be->profile, NINO_POLICY_POOL));
}

nino_status nino_backend_gather(nino_backend *be, uint64_t bytes, nino_error *err)
{
    nino_status st = nino_pool_gather(be->pool, bytes, err);
    while (st == NINO_ERR_NOMEM && backend_evict(be, bytes) > 0)
        st = nino_pool_gather(be->pool, bytes, err);
    return st;
}

void nino_backend_drop_made(nino_backend *be, const nino_weight *w)
{
    nino_resident *r = w && w->is_made ? backend_find(w, be) : NULL;
    if (!r)
        return;
    pthread_mutex_lock(&lock);
    backend_drop(r); // as in backend_evict(): what is enqueued still finds it
    pthread_mutex_unlock(&lock);
}

void nino_weight_evict(nino_weight *w)
{
    pthread_mutex_lock(&lock);
    while (w->resident)
        backend_drop(w->resident);
    pthread_mutex_unlock(&lock);
}

void nino_backend_drop_weights(nino_backend *be) { nino_backend_drop_since(be, 0); }

void nino_backend_drop_since(nino_backend *be, uint64_t turn)
{
    pthread_mutex_lock(&lock);
    for (nino_resident *r = all, *next; r; r = next) {
        next = r->all_next;
        if (r->be == be && r->born >= turn)
            backend_drop(r);
    }
    pthread_mutex_unlock(&lock);
}

void nino_backend_weight_sizes(const nino_backend *be, uint64_t *wide, uint64_t *narrow)
{
    *wide = *narrow = 0;
    pthread_mutex_lock(&lock);
    for (const nino_resident *r = all; r; r = r->all_next)
        if (r->be == be && r->w->role != NINO_W_VECTOR && !r->w->is_made &&
            nino_dtype_bits(r->packed.dtype) >= 16) {
            *wide += r->packed.mem.bytes;
            *narrow += (uint64_t) (r->w->n * r->w->c * nino_weight_taps(r->w));
        }
    pthread_mutex_unlock(&lock);
}

uint64_t nino_backend_weights_on_both(const nino_backend *be, const nino_backend *other)
{
    uint64_t bytes = 0;
    pthread_mutex_lock(&lock);
    for (const nino_resident *r = all; r; r = r->all_next)
        for (const nino_resident *s = r->be == be ? r->w->resident : NULL; s; s = s->next)
            bytes += s->be == other && s->kept == r->kept ? r->packed.mem.bytes : 0;
    pthread_mutex_unlock(&lock);
    return bytes;
}

bool nino_backend_is_idle(nino_backend *be)
{
    static const volatile int now = 1;
    const volatile int *before = be->cancel;
    be->cancel = &now; // then a wait is short
    const bool is_idle = be->impl->finish(be, NULL) != NINO_ERR_CANCELLED;
    be->cancel = before;
    return is_idle;
}

void nino_backend_close(nino_backend **pbe)
{
    nino_backend *be = *pbe;
    if (!be)
        return;
    be->impl->finish(be, NULL);
    nino_backend_drop_weights(be);
    nino_pool_destroy(&be->pool);
    free(be->paces);
    be->impl->close(be);
    *pbe = NULL;
}
