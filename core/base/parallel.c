// Parallel loops on the host: threads that take the next item until there are none.
#include "core/base/parallel.h"

#include "core/base/file.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

enum { MAX_THREADS = 32 };

typedef struct loop {
    int64_t n;
    void (*fn)(void *priv, int64_t i);
    void *priv;
    _Atomic int64_t next;
    _Atomic uint64_t waited_ns, threads; // for files, of those that took items
} loop;

static void *take_items(void *priv)
{
    loop *l = priv;
    const uint64_t before = nino_file_waited_ns();
    bool has_some = false;
    for (int64_t i; (i = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed)) < l->n;) {
        l->fn(l->priv, i);
        has_some = true;
    }
    l->threads += has_some;
    l->waited_ns += nino_file_waited_ns() - before;
    return NULL;
}

// Processors that this process may use: a container or taskset may allow fewer than there are.
static int processors(void)
{
#ifdef CPU_COUNT
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof(set), &set))
        return CPU_COUNT(&set);
#endif
    return (int) sysconf(_SC_NPROCESSORS_ONLN);
}

void nino_parallel(int64_t n, void (*fn)(void *priv, int64_t i), void *priv)
{
    loop l = { .n = n, .fn = fn, .priv = priv };
    const uint64_t before = nino_file_waited_ns();
    pthread_t thread[MAX_THREADS];
    int started = 0, most = n > 1 ? processors() : 1;
    most = most > MAX_THREADS ? MAX_THREADS : most;
    most = n < most ? (int) n : most;
    while (started < most - 1 && !pthread_create(&thread[started], NULL, take_items, &l))
        started++;
    take_items(&l);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    nino_file_set_waited_ns(before + (l.threads ? l.waited_ns / l.threads : 0));
}
