// The gate between the ops of a job: closed while the job is paused.
#include "core/op/gate.h"

#include <stddef.h>
#include <time.h>

enum { LOOK_NS = 20000000 };

void nino_gate_init(nino_gate *g)
{
    atomic_init(&g->asked, 0);
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->changed, NULL);
}

void nino_gate_release(nino_gate *g)
{
    pthread_cond_destroy(&g->changed);
    pthread_mutex_destroy(&g->lock);
}

void nino_gate_set(nino_gate *g, bool is_closed)
{
    pthread_mutex_lock(&g->lock);
    if (is_closed)
        atomic_fetch_or(&g->asked, NINO_GATE_CLOSED);
    else
        atomic_fetch_and(&g->asked, ~NINO_GATE_CLOSED);
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

bool nino_gate_is_closed(nino_gate *g) { return atomic_load(&g->asked) & NINO_GATE_CLOSED; }

void nino_gate_ask_trim(nino_gate *g) { atomic_fetch_or(&g->asked, NINO_GATE_TRIM); }

bool nino_gate_take_trim(nino_gate *g)
{
    return atomic_fetch_and(&g->asked, ~NINO_GATE_TRIM) & NINO_GATE_TRIM;
}

void nino_gate_wait(nino_gate *g, const volatile int *cancel)
{
    pthread_mutex_lock(&g->lock);
    while (nino_gate_is_closed(g) && !(cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED))) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec += LOOK_NS;
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&g->changed, &g->lock, &t);
    }
    pthread_mutex_unlock(&g->lock);
}
