// Scopes: the nesting job > node > stage > step > tile of each thread, kept also while nobody
// listens, so that a viewer that comes late is told where the run is.
#include "core/event/ring.h"

#include "core/base/time.h"

uint32_t nino_ring_current(const nino_ring *r)
{
    const int depth = r->depth < NINO_MAX_DEPTH ? r->depth : NINO_MAX_DEPTH;
    return depth ? r->scope[depth - 1].begin.id : r->parent;
}

void nino_monitor_adopt(nino_monitor *m, uint32_t parent)
{
    nino_ring *r = m ? nino_ring_get(m) : NULL;
    if (r)
        r->parent = parent;
}

uint32_t nino_monitor_current(const nino_monitor *m)
{
    const nino_ring *r = m ? nino_ring_get((nino_monitor *) m) : NULL;
    return r ? nino_ring_current(r) : 0;
}

uint32_t nino_monitor_begin(nino_monitor *m, nino_event_kind scope_kind, const char *name,
                            uint32_t arg0, uint32_t arg1)
{
    if (!m)
        return 1;
    uint32_t id = atomic_fetch_add_explicit(&m->next_scope, 1, memory_order_relaxed);
    if (!id) // after 2^32 scopes
        id = atomic_fetch_add_explicit(&m->next_scope, 1, memory_order_relaxed);
    nino_ring *r = nino_ring_get(m);
    if (!r)
        return id;
    nino_open_scope open = { .begin = { .t_ns = nino_now_ns(),
                                        .kind = (uint8_t) scope_kind,
                                        .name = scope_kind == NINO_EV_JOB
                                                    ? nino_monitor_passing(m, name)
                                                    : nino_monitor_name(m, name),
                                        .id = id,
                                        .parent = nino_ring_current(r),
                                        .u.scope = { arg0, arg1 } },
                             .seq = UINT64_MAX };
    if (scope_kind == NINO_EV_JOB)
        r->track = 0; // whatever thread runs jobs is track 0
    open.begin.track = r->track;
    pthread_mutex_lock(&r->scope_lock); // record and stack change together for a late viewer
    if (r->depth < NINO_MAX_DEPTH) {
        if (nino_monitor_is_on(m)) {
            open.seq = atomic_load_explicit(&r->head, memory_order_relaxed);
            nino_ring_push(m, r, &open.begin);
        }
        r->scope[r->depth] = open;
    }
    r->depth++;
    pthread_mutex_unlock(&r->scope_lock);
    return id;
}

void nino_monitor_end_with(nino_monitor *m, uint32_t scope_id, nino_status st)
{
    nino_ring *r = m ? nino_ring_get(m) : NULL;
    if (!r)
        return;
    pthread_mutex_lock(&r->scope_lock);
    const int kept = r->depth < NINO_MAX_DEPTH ? r->depth : NINO_MAX_DEPTH;
    int at = kept - 1;
    while (at >= 0 && r->scope[at].begin.id != scope_id)
        at--;
    if (at >= 0) {
        const uint64_t now = nino_now_ns();
        for (int i = kept - 1; i >= at && nino_monitor_is_on(m); i--)
            nino_ring_push(m, r,
                           &(nino_event){ .t_ns = now,
                                          .kind = NINO_EV_END,
                                          .id = r->scope[i].begin.id,
                                          .parent = r->scope[i].begin.parent,
                                          .u.scope.arg0 = (uint32_t) - (int) st });
        r->depth = at;
    } else if (r->depth > NINO_MAX_DEPTH) {
        r->depth--; // one that was too deep to be kept
    }
    pthread_mutex_unlock(&r->scope_lock);
}

void nino_monitor_end(nino_monitor *m, uint32_t scope_id)
{
    nino_monitor_end_with(m, scope_id, NINO_OK);
}
