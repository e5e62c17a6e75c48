// Sharing units of work among devices: who begins which, in which order they are taken, and what happens when
// a device fails.
#include "core/tile/units.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/time.h"
#include "core/op/backend.h"

enum { AHEAD = 4 }; // units a device that may wait on the host for those before them

typedef enum unit_state { UNIT_WAITS, UNIT_RUNS, UNIT_DONE } unit_state;
typedef struct unit {
    unit_state state;
    nino_unit_result r;
} unit;

typedef struct team team;
typedef struct member { // a device; 0 is the caller's own
    team *team;
    int number;
    pthread_t thread;
    bool is_there; // it computes, or looks for something to compute
    bool is_started;
    int n_done;
    uint64_t unit_ns, begin; // of its last unit, 0: not known yet; of the one it is at, 0: none
    double flops;            // since they were told
} member;

struct team {
    const nino_units *w;
    const nino_lend *lend;
    uint32_t scope; // that the caller is in
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unit *unit;
    int taken; // units before it are
    int n_members;
    bool is_over;
    volatile int stop; // the same, for streams
    member member[NINO_LEND_MAX + 1];
};

void nino_unit_drop(nino_unit_result *r)
{
    nino_unref(r->t);
    nino_array_unref(&r->a);
    r->t = NULL;
}

nino_tensor *nino_unit_tensor(nino_stream *s, nino_unit_result *r)
{
    nino_tensor *t = r->t ? r->t : r->a ? nino_upload(s, r->a, r->type) : NULL;
    r->t = NULL;
    nino_array_unref(&r->a);
    return t;
}

nino_array *nino_unit_array(nino_stream *s, nino_unit_result *r)
{
    nino_array *a = r->t ? nino_download(s, r->t, NINO_F32) : r->a;
    r->t = NULL;
    r->a = NULL;
    return a;
}

int nino_units_others(const nino_stream *s, int n)
{
    const nino_lend *l = nino_stream_lend(s);
    return !l || n < 2 ? 0 : l->n < n - 1 ? l->n : n - 1;
}

// ---- who begins what ---------------------------------------------------------------------------

// How many more units m could do in `ns` from now, each before that time is over. Of a device of which no
// unit is done nothing is known.
static int could_do(const member *m, uint64_t now, uint64_t ns)
{
    if (!m->is_there || !m->unit_ns)
        return 0;
    const uint64_t end = m->begin ? m->begin + m->unit_ns : 0;
    const uint64_t rest = end > now ? end - now : 0;
    return ns > rest ? (int) ((ns - rest - 1) / m->unit_ns) : 0;
}

// The next unit for m, or -1: all are begun, too many wait for one that is not done yet, or the others will
// have done those that are left before m could do one. The fastest never leaves one. The lock is held.
static int next_unit(const team *t, const member *m)
{
    const int end = t->taken + AHEAD * t->n_members;
    int first = -1, waiting = 0;
    for (int i = t->taken; i < t->w->n; i++) {
        if (t->unit[i].state != UNIT_WAITS)
            continue;
        if (first < 0)
            first = i;
        if (++waiting > AHEAD * t->n_members)
            break;
    }
    if (first < 0 || first >= end)
        return -1;
    const uint64_t now = nino_now_ns();
    int others = 0;
    for (int i = 0; i < t->n_members && m->unit_ns; i++)
        others += &t->member[i] != m ? could_do(&t->member[i], now, m->unit_ns) : 0;
    return others >= waiting ? -1 : first;
}

static bool spread_begin(team *t, member *m, int i)
{
    if (i < 0)
        return false;
    t->unit[i].state = UNIT_RUNS;
    m->begin = nino_now_ns();
    return true;
}

static void spread_end(team *t, member *m, int i, bool is_done)
{
    pthread_mutex_lock(&t->lock);
    t->unit[i].state = is_done ? UNIT_DONE : UNIT_WAITS;
    if (is_done && m->n_done++) // the first one also brings weights in and prepares kernels
        m->unit_ns = nino_now_ns() - m->begin;
    m->begin = 0;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

// A cancel is only a flag: whoever waits looks again soon.
static void spread_wait(team *t)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 20000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&t->changed, &t->lock, &until);
}

// ---- one unit ----------------------------------------------------------------------------------

// In a scope that is still open. False: s has failed.
static bool spread_compute(const nino_units *w, nino_stream *s, int i, nino_unit_result *r)
{
    nino_pool *pool = nino_stream_backend(s)->pool;
    int order = 0, of = 0;
    *r = (nino_unit_result){ .begin = nino_now_ns(), .device = nino_stream_device(s) };
    if (w->place(w->priv, i, &order, &of)) {
        nino_scope_begin(s, NINO_EV_TILE, "tile", (uint32_t) order, (uint32_t) of);
        r->scope = nino_monitor_current(nino_stream_monitor(s));
    }
    (void) nino_pool_take_window_peak(pool);
    w->compute(w->priv, s, i, r);
    r->type = r->t ? nino_dtype_of(r->t) : NINO_F32;
    return !nino_stream_status(s, NULL) && (r->t || r->a);
}

static void spread_close(const nino_units *w, nino_stream *s, int i)
{
    int order, of;
    if (w->place(w->priv, i, &order, &of))
        nino_scope_end(s);
}

// To the host, where it waits.
static bool spread_put_by(nino_stream *s, nino_unit_result *r)
{
    if (r->t) {
        r->a = nino_download(s, r->t, NINO_F32);
        r->t = NULL;
    }
    r->ns = nino_now_ns() - r->begin;
    r->peak = nino_pool_take_window_peak(nino_stream_backend(s)->pool);
    return r->a != NULL;
}

// ---- the other devices -------------------------------------------------------------------------

static const char *spread_name(const member *m)
{
    return m->team->lend->name(m->team->lend->priv, m->number - 1);
}

__attribute__((format(printf, 3, 4))) static void spread_say(member *m, nino_log_level level,
                                                             const char *fmt, ...)
{
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    nino_stream *own = m->team->w->s;
    nino_logf(nino_stream_backend(own)->log, level, "%s: %s: %s", m->team->w->where, spread_name(m),
              text);
    nino_monitor_message(nino_stream_monitor(own), level, "%s: %s: %s", m->team->w->where,
                         spread_name(m), text);
}

// What a unit needs is there, within the budget of that device.
static bool spread_has_room(member *m, nino_stream *s)
{
    const nino_units *w = m->team->w;
    nino_vae_need need = { 0 };
    uint64_t budget = 0;
    nino_error err = { .code = NINO_OK };
    if (nino_need_fits(s, w->need, w->priv, false, NULL))
        return true;
    if (!nino_need_get(s, w->need, w->priv, 0, &need, &err))
        (void) nino_vae_fits(s, &need, &budget);
    spread_say(m, NINO_LOG_INFO,
               "has no room to share: a part takes %.1f MiB, the budget is %.1f MiB",
               (double) (need.activations + need.weights) / 0x1p20, (double) budget / 0x1p20);
    return false;
}

// Until nothing is left. Returns what the device has failed with.
static nino_status spread_work(member *m, nino_stream *s, nino_error *err)
{
    team *t = m->team;
    nino_status st = NINO_OK;
    while (!st) {
        int i = -1;
        pthread_mutex_lock(&t->lock);
        while (!t->is_over && (i = next_unit(t, m)) < 0)
            spread_wait(t);
        const bool has_unit = !t->is_over && spread_begin(t, m, i);
        pthread_mutex_unlock(&t->lock);
        if (!has_unit)
            break;
        const double flops = nino_stream_backend(s)->flops;
        nino_unit_result r;
        const bool ok = spread_compute(t->w, s, i, &r) && spread_put_by(s, &r);
        spread_close(t->w, s, i);
        if (ok) {
            t->unit[i].r = r;
            pthread_mutex_lock(&t->lock);
            m->flops += nino_stream_backend(s)->flops - flops;
            pthread_mutex_unlock(&t->lock);
        } else {
            nino_unit_drop(&r);
            st = nino_stream_status(s, err);
            if (!st)
                st = nino_fail(err, NINO_ERR_NOMEM, t->w->where, "no host memory for a part");
        }
        spread_end(t, m, i, ok);
    }
    return st;
}

static void spread_leave(member *m, nino_status st, const nino_error *err)
{
    team *t = m->team;
    pthread_mutex_lock(&t->lock);
    m->is_there = false;
    pthread_cond_broadcast(&t->changed);
    const bool is_over = t->is_over;
    pthread_mutex_unlock(&t->lock);
    if (st && st != NINO_ERR_CANCELLED && !is_over)
        spread_say(m, NINO_LOG_WARN, "%s; the other devices do its part", err->msg);
}

static void *spread_thread(void *priv)
{
    member *m = priv;
    team *t = m->team;
    nino_monitor *monitor = nino_stream_monitor(t->w->s);
    nino_error err = { .code = NINO_OK };
    nino_status st = NINO_OK;
    nino_backend *be = t->lend->take(t->lend->priv, m->number - 1, &t->stop);
    if (be) {
        nino_monitor_adopt(monitor, t->scope);
        nino_stream *s = nino_stream_beside(t->w->s, be, m->number, &t->stop, &err);
        st = err.code;
        if (s && spread_has_room(m, s))
            st = spread_work(m, s, &err);
        nino_stream_destroy(&s);
        nino_backend_set_switched(be, 0);
        nino_monitor_adopt(monitor, 0);
        t->lend->give_back(t->lend->priv, m->number - 1, st == NINO_ERR_DEVICE);
    }
    spread_leave(m, st, &err);
    return NULL;
}

// ---- the caller's device -----------------------------------------------------------------------

// Takes what is there, in order. False: that failed. The lock is held, but not while one is taken.
static bool take_done(team *t, nino_status *st, nino_error *err)
{
    while (!*st && t->taken < t->w->n && t->unit[t->taken].state == UNIT_DONE) {
        double flops = 0;
        for (int i = 1; i < t->n_members; i++) {
            flops += t->member[i].flops;
            t->member[i].flops = 0;
        }
        pthread_mutex_unlock(&t->lock);
        if (flops > 0)
            nino_stream_spare(t->w->s, flops); // for progress: they need not be done here
        unit *u = &t->unit[t->taken];
        *st = t->w->take(t->w->priv, t->taken, &u->r, err);
        nino_unit_drop(&u->r);
        pthread_mutex_lock(&t->lock);
        t->taken++;
        pthread_cond_broadcast(&t->changed);
    }
    return !*st;
}

// Computes unit i, and takes it at once where all before it are taken.
static nino_status spread_do_own(team *t, int i, nino_error *err)
{
    const nino_units *w = t->w;
    member *own = &t->member[0];
    nino_unit_result r;
    nino_status st = NINO_OK;
    if (w->prepare)
        w->prepare(w->priv, t->taken);
    bool ok = spread_compute(w, w->s, i, &r);
    pthread_mutex_lock(&t->lock);
    const bool is_next = ok && take_done(t, &st, err) && t->taken == i;
    pthread_mutex_unlock(&t->lock);
    if (is_next)
        st = w->take(w->priv, i, &r, err);
    else if (ok && !st)
        ok = spread_put_by(w->s, &r);
    spread_close(w, w->s, i);
    if (!ok && !st)
        st = nino_stream_status(w->s, err);
    if (!ok && !st)
        st = nino_fail(err, NINO_ERR_NOMEM, w->where, "no host memory for a part");
    if (is_next || !ok || st)
        nino_unit_drop(&r);
    else
        t->unit[i].r = r;
    spread_end(t, own, i, ok && !st);
    if (is_next) {
        pthread_mutex_lock(&t->lock);
        t->taken++;
        pthread_mutex_unlock(&t->lock);
    }
    return st ? st : nino_stream_status(w->s, err);
}

static nino_status spread_run_own(team *t, nino_error *err)
{
    nino_status st = NINO_OK;
    pthread_mutex_lock(&t->lock);
    while (take_done(t, &st, err) && t->taken < t->w->n) {
        const int i = next_unit(t, &t->member[0]);
        const bool has_unit = spread_begin(t, &t->member[0], i);
        if (!has_unit)
            spread_wait(t);
        pthread_mutex_unlock(&t->lock);
        st = has_unit ? spread_do_own(t, i, err) : nino_stream_check(t->w->s, err);
        pthread_mutex_lock(&t->lock);
        if (st)
            break;
    }
    t->is_over = true;
    __atomic_store_n(&t->stop, 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    return st;
}

// ---- all of it ---------------------------------------------------------------------------------

static void spread_start(team *t)
{
    t->n_members = t->lend ? t->lend->n + 1 : 1;
    t->scope = nino_monitor_current(nino_stream_monitor(t->w->s));
    for (int i = 0; i < t->n_members; i++)
        t->member[i] = (member){ .team = t, .number = i, .is_there = true };
    for (int i = 1; i < t->n_members; i++) {
        member *m = &t->member[i];
        m->is_started = !pthread_create(&m->thread, NULL, spread_thread, m);
        if (!m->is_started) {
            pthread_mutex_lock(&t->lock);
            m->is_there = false;
            pthread_mutex_unlock(&t->lock);
        }
    }
}

// What a unit would take of another device, for who plans.
void nino_units_tell(const nino_units *w)
{
    nino_taken *t = nino_stream_taken(w->s);
    nino_vae_need need = { 0 };
    const int others = nino_units_others(w->s, w->n);
    if (!others || !nino_stream_is_plan(w->s) ||
        nino_need_get(w->s, w->need, w->priv, 0, &need, NULL))
        return;
    t->units = w->n;
    t->others = others;
    t->other_bytes = need.activations + need.weights;
}

nino_status nino_units_run(const nino_units *w, nino_error *err)
{
    const bool is_plan = nino_stream_is_plan(w->s);
    team *t = calloc(1, sizeof(*t));
    unit *units = calloc((size_t) w->n + 1, sizeof(*units));
    nino_status st = NINO_OK;
    if (!t || !units) {
        free(t);
        free(units);
        return nino_fail(err, NINO_ERR_NOMEM, w->where, "no host memory to share work");
    }
    t->w = w;
    t->unit = units;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    nino_units_tell(w);
    if (!is_plan && nino_units_others(w->s, w->n))
        t->lend = nino_stream_lend(w->s);
    spread_start(t);
    st = spread_run_own(t, err);
    for (int i = 1; i < t->n_members; i++)
        if (t->member[i].is_started)
            pthread_join(t->member[i].thread, NULL);
    for (int i = 0; i < w->n; i++)
        nino_unit_drop(&units[i].r);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
    free(units);
    free(t);
    return st;
}
