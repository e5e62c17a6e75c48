// Event rings: one a producer thread, written without locks, and readers with their own cursors.
//
// A slot is eight atomic words. The writer stores the words of record i with release order and then
// head = i + 1. A reader copies a slot with acquire loads and looks at head again: a word of record
// i + SIZE can only be seen after head = i + SIZE was, so "head < i + SIZE" proves the copy whole.
#include "core/event/ring.h"

#include "core/base/time.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(nino_event) == 64, "the wire format");

static _Atomic uint64_t next_serial = 1;

// ---- the calling thread's ring -----------------------------------------------------------------

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static __thread struct {
    uint64_t serial; // of the monitor the ring belongs to
    nino_ring *ring;
    nino_thread_token *token;
} mine;

static void token_unref(nino_thread_token *t)
{
    if (t && atomic_fetch_sub(&t->refs, 1) == 1)
        free(t);
}

static void thread_ends(void *token)
{
    nino_thread_token *t = token;
    atomic_store(&t->alive, 0);
    mine.serial = 0; // a later destructor of this thread may still publish
    mine.token = NULL;
    token_unref(t);
}

static void ring_make_key(void) { pthread_key_create(&key, thread_ends); }

static nino_thread_token *my_token(void)
{
    if (!mine.token) {
        pthread_once(&key_once, ring_make_key);
        nino_thread_token *t = calloc(1, sizeof(*t));
        if (!t)
            return NULL;
        atomic_init(&t->refs, 1);
        atomic_init(&t->alive, 1);
        if (pthread_setspecific(key, t)) {
            free(t);
            return NULL;
        }
        mine.token = t;
    }
    return mine.token;
}

static void claim(nino_ring *r, nino_thread_token *token, int index)
{
    pthread_mutex_lock(&r->scope_lock);
    token_unref(r->owner);
    atomic_fetch_add(&token->refs, 1);
    r->owner = token;
    r->depth = 0;
    r->parent = 0;
    r->track = (uint16_t) (index + 1 < NINO_MAX_RINGS ? index + 1 : NINO_MAX_RINGS - 1);
    pthread_mutex_unlock(&r->scope_lock);
}

// With m->lock: this thread's ring, else one of a thread that has ended, else a new one.
static nino_ring *find_ring(nino_monitor *m, nino_thread_token *token)
{
    const int n = atomic_load(&m->n_rings);
    int orphan = -1;
    for (int i = 0; i < n; i++) {
        nino_ring *r = atomic_load(&m->ring[i]);
        if (r->owner == token)
            return r;
        if (orphan < 0 && !atomic_load(&r->owner->alive))
            orphan = i;
    }
    if (orphan >= 0) {
        nino_ring *r = atomic_load(&m->ring[orphan]);
        claim(r, token, orphan);
        return r;
    }
    if (n == NINO_MAX_RINGS)
        return NULL;
    nino_ring *r = aligned_alloc(64, sizeof(*r));
    if (!r)
        return NULL;
    memset(r, 0, offsetof(nino_ring, word)); // slots are written before they are read
    pthread_mutex_init(&r->scope_lock, NULL);
    claim(r, token, n);
    atomic_store(&m->ring[n], r);
    atomic_store(&m->n_rings, n + 1);
    return r;
}

nino_ring *nino_ring_get(nino_monitor *m)
{
    if (mine.serial == m->serial)
        return mine.ring;
    nino_thread_token *token = my_token();
    if (!token)
        return NULL;
    pthread_mutex_lock(&m->lock);
    nino_ring *r = find_ring(m, token);
    pthread_mutex_unlock(&m->lock);
    if (r) {
        mine.serial = m->serial;
        mine.ring = r;
    }
    return r;
}

// ---- monitor -----------------------------------------------------------------------------------

nino_monitor *nino_monitor_create(void)
{
    nino_monitor *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    if (!(m->names = nino_names_create())) {
        free(m);
        return NULL;
    }
    m->serial = atomic_fetch_add(&next_serial, 1);
    atomic_init(&m->next_scope, 1);
    pthread_mutex_init(&m->lock, NULL);
    pthread_mutex_init(&m->bell_lock, NULL);
    pthread_mutex_init(&m->blocks_lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&m->changed, &attr);
    pthread_condattr_destroy(&attr);
    return m;
}

void nino_monitor_destroy(nino_monitor **monitor)
{
    nino_monitor *m = *monitor;
    if (!m)
        return;
    const int n = atomic_load(&m->n_rings);
    for (int i = 0; i < n; i++) {
        nino_ring *r = atomic_load(&m->ring[i]);
        token_unref(r->owner);
        pthread_mutex_destroy(&r->scope_lock);
        free(r);
    }
    nino_names_destroy(&m->names);
    pthread_mutex_destroy(&m->lock);
    pthread_mutex_destroy(&m->bell_lock);
    pthread_mutex_destroy(&m->blocks_lock);
    pthread_cond_destroy(&m->changed);
    free(m);
    *monitor = NULL;
}

bool nino_monitor_is_on(const nino_monitor *m)
{
    return m && atomic_load_explicit(&m->on, memory_order_relaxed) > 0;
}

uint64_t nino_monitor_number(const nino_monitor *m) { return m ? m->serial : 0; }

void nino_monitor_set_blocks(nino_monitor *m, nino_blocks_fn fn, void *priv)
{
    pthread_mutex_lock(&m->blocks_lock);
    m->blocks = fn;
    m->blocks_priv = priv;
    pthread_mutex_unlock(&m->blocks_lock);
}

size_t nino_monitor_blocks(nino_monitor *m, nino_event *out, size_t max)
{
    pthread_mutex_lock(&m->blocks_lock);
    const size_t n = m->blocks ? m->blocks(m->blocks_priv, out, max) : 0;
    pthread_mutex_unlock(&m->blocks_lock);
    return n;
}

void nino_monitor_hold(nino_monitor *m) { atomic_fetch_add(&m->on, 1); }
void nino_monitor_drop(nino_monitor *m) { atomic_fetch_sub(&m->on, 1); }

uint32_t nino_monitor_name(nino_monitor *m, const char *text)
{
    return m ? nino_names_add(m->names, text) : 0;
}

uint32_t nino_monitor_passing(nino_monitor *m, const char *text)
{
    return m ? nino_names_pass(m->names, text) : 0;
}

const char *nino_monitor_name_text(const nino_monitor *m, uint32_t id)
{
    return m ? nino_names_text(m->names, id) : "";
}

void nino_ring_push(nino_monitor *m, nino_ring *r, nino_event *ev)
{
    if (!ev->t_ns)
        ev->t_ns = nino_now_ns();
    if (!ev->parent && ev->kind > NINO_EV_END)
        ev->parent = nino_ring_current(r);
    if (ev->track < NINO_MAX_RINGS)
        ev->track = r->track;
    uint64_t w[NINO_EVENT_WORDS];
    memcpy(w, ev, sizeof(w));
    const uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    _Atomic uint64_t *slot = r->word[head % NINO_RING_SIZE];
    for (size_t i = 0; i < NINO_EVENT_WORDS; i++)
        atomic_store_explicit(&slot[i], w[i], memory_order_release);
    atomic_store_explicit(&r->head, head + 1, memory_order_release);
    if (atomic_load_explicit(&m->n_bells, memory_order_relaxed)) {
        atomic_thread_fence(memory_order_seq_cst); // pairs with that of nino_monitor_bell_arm()
        if (atomic_load_explicit(&m->n_armed, memory_order_relaxed))
            nino_monitor_ring_bells(m);
    }
}

void nino_monitor_publish(nino_monitor *m, const nino_event *ev)
{
    if (!nino_monitor_is_on(m))
        return;
    nino_ring *r = nino_ring_get(m);
    if (!r) {
        atomic_fetch_add(&m->dropped, 1);
        return;
    }
    nino_event copy = *ev;
    nino_ring_push(m, r, &copy);
}

void nino_monitor_message(nino_monitor *m, nino_log_level level, const char *fmt, ...)
{
    if (!nino_monitor_is_on(m))
        return;
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    nino_monitor_publish(m, &(nino_event){ .kind = NINO_EV_MESSAGE,
                                           .name = nino_monitor_passing(m, text),
                                           .u.scope.arg0 = level });
}

// ---- readers -----------------------------------------------------------------------------------

struct nino_mon_reader {
    nino_monitor *m;
    bool is_quiet;    // does not count as one who watches
    uint64_t dropped; // of m->dropped, already told
    struct {
        uint64_t next; // record to read from the ring
        bool has;      // ev is read but not yet handed out
        nino_event ev;
    } at[NINO_MAX_RINGS];
};

// The monitor is on for the reader from here on.
static nino_mon_reader *reader_begin(nino_mon_reader *r)
{
    nino_monitor *m = r->m;
    atomic_fetch_add(&m->on, 1);
    if (r->is_quiet)
        return r;
    pthread_mutex_lock(&m->lock); // the device sampler waits for the first reader
    atomic_fetch_add(&m->n_read, 1);
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
    return r;
}

static nino_mon_reader *reader_create(nino_monitor *m, bool is_quiet)
{
    nino_mon_reader *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->m = m;
    r->is_quiet = is_quiet;
    r->dropped = atomic_load(&m->dropped);
    return reader_begin(r);
}

nino_mon_reader *nino_mon_reader_create(nino_monitor *m)
{
    nino_mon_reader *r = m ? reader_create(m, false) : NULL;
    const int n = r ? atomic_load(&m->n_rings) : 0;
    for (int i = 0; i < n; i++)
        r->at[i].next = atomic_load(&atomic_load(&m->ring[i])->head);
    return r;
}

// The oldest record worth reading when `head` were written: with room for the writer to go on.
static uint64_t ring_oldest(uint64_t head)
{
    const uint64_t keep = NINO_RING_SIZE - NINO_RING_SIZE / 8;
    return head > keep ? head - keep : 0;
}

nino_mon_reader *nino_mon_reader_create_quiet(nino_monitor *m, nino_event *open, size_t max,
                                              size_t *n)
{
    *n = 0;
    nino_mon_reader *r = reader_create(m, true);
    if (!r)
        return NULL;
    const int n_rings = atomic_load(&m->n_rings);
    for (int i = 0; i < n_rings; i++) {
        nino_ring *ring = atomic_load(&m->ring[i]);
        pthread_mutex_lock(&ring->scope_lock);
        r->at[i].next = ring_oldest(atomic_load(&ring->head));
        const int depth = ring->depth < NINO_MAX_DEPTH ? ring->depth : NINO_MAX_DEPTH;
        for (int k = 0; k < depth && *n < max; k++)
            if (ring->scope[k].seq == UINT64_MAX || ring->scope[k].seq < r->at[i].next)
                open[(*n)++] = ring->scope[k].begin;
        pthread_mutex_unlock(&ring->scope_lock);
    }
    return r;
}

nino_mon_reader *nino_mon_reader_follow(const nino_mon_reader *r)
{
    nino_mon_reader *follower = malloc(sizeof(*follower));
    if (!follower)
        return NULL;
    *follower = *r;
    follower->is_quiet = false;
    return reader_begin(follower);
}

void nino_mon_reader_destroy(nino_mon_reader **reader)
{
    nino_mon_reader *r = *reader;
    if (!r)
        return;
    atomic_fetch_sub(&r->m->on, 1);
    if (!r->is_quiet)
        atomic_fetch_sub(&r->m->n_read, 1);
    free(r);
    *reader = NULL;
}

// Reads the next record of ring i into at[i].ev; false when there is none older than `keep`.
static bool ring_fetch(nino_mon_reader *r, int i, uint64_t keep, uint64_t *lost)
{
    const nino_ring *ring = atomic_load_explicit(&r->m->ring[i], memory_order_acquire);
    for (;;) {
        const uint64_t next = r->at[i].next;
        const uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
        if (head - next <= keep)
            return false;
        uint64_t w[NINO_EVENT_WORDS];
        const _Atomic uint64_t *slot = ring->word[next % NINO_RING_SIZE];
        for (size_t k = 0; k < NINO_EVENT_WORDS; k++)
            w[k] = atomic_load_explicit(&slot[k], memory_order_acquire);
        const uint64_t after = atomic_load_explicit(&ring->head, memory_order_relaxed);
        if (after < next + NINO_RING_SIZE) {
            memcpy(&r->at[i].ev, w, sizeof(w));
            r->at[i].next = next + 1;
            return true;
        }
        const uint64_t again = ring_oldest(after);
        *lost += again - next;
        r->at[i].next = again;
    }
}

size_t nino_mon_reader_read_behind(nino_mon_reader *r, nino_event *out, size_t max, uint64_t keep,
                                   uint64_t *lost)
{
    uint64_t gone = 0;
    size_t n = 0;
    if (!r)
        return 0;
    const int n_rings = atomic_load_explicit(&r->m->n_rings, memory_order_acquire);
    while (n < max) {
        int first = -1;
        for (int i = 0; i < n_rings; i++) {
            if (!r->at[i].has)
                r->at[i].has = ring_fetch(r, i, keep, &gone);
            if (r->at[i].has && (first < 0 || r->at[i].ev.t_ns < r->at[first].ev.t_ns))
                first = i;
        }
        if (first < 0)
            break;
        out[n++] = r->at[first].ev;
        r->at[first].has = false;
    }
    const uint64_t dropped = atomic_load(&r->m->dropped);
    gone += dropped - r->dropped;
    r->dropped = dropped;
    if (lost)
        *lost += gone;
    return n;
}

size_t nino_mon_reader_read(nino_mon_reader *r, nino_event *out, size_t max, uint64_t *lost)
{
    return nino_mon_reader_read_behind(r, out, max, 0, lost);
}
