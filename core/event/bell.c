// Bells: descriptors that tell a waiting reader of new records.
#include "core/event/ring.h"

#include <sys/eventfd.h>
#include <unistd.h>

int nino_monitor_bell_create(nino_monitor *m)
{
    int fd = -1;
    pthread_mutex_lock(&m->bell_lock);
    for (int i = 0; i < NINO_MAX_BELLS && fd < 0; i++) {
        if (m->bell[i].fd)
            continue;
        if ((fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
            break;
        m->bell[i].fd = fd;
        m->bell[i].is_armed = false;
        atomic_fetch_add(&m->n_bells, 1);
    }
    pthread_mutex_unlock(&m->bell_lock);
    return fd;
}

static void set_armed(nino_monitor *m, int i, bool is_armed)
{
    if (m->bell[i].is_armed != is_armed)
        atomic_fetch_add(&m->n_armed, is_armed ? 1 : -1);
    m->bell[i].is_armed = is_armed;
}

void nino_monitor_bell_destroy(nino_monitor *m, int *fd)
{
    if (*fd < 0)
        return;
    pthread_mutex_lock(&m->bell_lock);
    for (int i = 0; i < NINO_MAX_BELLS; i++)
        if (m->bell[i].fd == *fd) {
            set_armed(m, i, false);
            m->bell[i].fd = 0;
            atomic_fetch_sub(&m->n_bells, 1);
        }
    close(*fd);
    pthread_mutex_unlock(&m->bell_lock);
    *fd = -1;
}

void nino_monitor_bell_arm(nino_monitor *m, int fd)
{
    uint64_t rung;
    pthread_mutex_lock(&m->bell_lock);
    if (read(fd, &rung, sizeof(rung)) < 0)
        rung = 0; // it was silent
    for (int i = 0; i < NINO_MAX_BELLS; i++)
        if (m->bell[i].fd == fd)
            set_armed(m, i, true);
    pthread_mutex_unlock(&m->bell_lock);
    atomic_thread_fence(memory_order_seq_cst); // before the look at the rings
}

void nino_bell_ring(int fd)
{
    const uint64_t one = 1;
    if (write(fd, &one, sizeof(one)) < 0)
        return; // it rings already
}

void nino_monitor_ring_bells(nino_monitor *m)
{
    pthread_mutex_lock(&m->bell_lock);
    for (int i = 0; i < NINO_MAX_BELLS; i++)
        if (m->bell[i].is_armed) {
            set_armed(m, i, false);
            nino_bell_ring(m->bell[i].fd);
        }
    pthread_mutex_unlock(&m->bell_lock);
}
