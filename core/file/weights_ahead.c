// Reading ahead: a thread asks the kernel for the tensors that a model needs next while the one
// before is packed, sent, or computed with. The bytes wait in the page cache, which the kernel
// bounds and gives up where memory is short: no memory of ours, no second copy.
#include <fcntl.h>
#include "core/base/thread.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/file/weights_priv.h"

#define WINDOW ((uint64_t) 128 << 20) // ahead of what is being read
#define STEP ((uint64_t) 8 << 20) // asked for at a time, so that closing a file waits for little

struct nino_ahead {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool has_thread, is_over, has_failed;
    uint32_t *order; // tensors as the model named them
    uint32_t *place; // by tensor: index + 1 in order; 0: not named
    size_t n;
    size_t now, next; // in order: what is being read; what is asked for next
    uint64_t at;      // bytes of order[next] that are asked for
    uint64_t ahead;   // bytes asked for beyond `now`
};

nino_ahead *nino_ahead_create(int tensors)
{
    nino_ahead *a = calloc(1, sizeof(*a));
    if (!a)
        return NULL;
    a->order = calloc((size_t) tensors + 1, sizeof(*a->order));
    a->place = calloc((size_t) tensors + 1, sizeof(*a->place));
    if (!a->order || !a->place || pthread_mutex_init(&a->lock, NULL)) {
        free(a->order);
        free(a->place);
        free(a);
        return NULL;
    }
    pthread_cond_init(&a->wake, NULL);
    return a;
}

// A view's tensors are read where the file has them.
static nino_weights *find_file(nino_weights *w, const nino_tensor_info *t, size_t *index)
{
    *index = (size_t) (t - w->header.infos);
    while (w->base) // a view has its base's table
        w = w->base;
    return w;
}

void nino_weights_expect(nino_weights *w, const nino_tensor_info *t)
{
    size_t i;
    nino_ahead *a = find_file(w, t, &i)->ahead;
    pthread_mutex_lock(&a->lock);
    if (!a->place[i]) {
        a->order[a->n++] = (uint32_t) i;
        a->place[i] = (uint32_t) a->n;
    }
    pthread_mutex_unlock(&a->lock);
}

// The next piece to ask for; false: none, for now.
static bool weights_ahead_take(const nino_weights *w, nino_ahead *a, uint64_t *offset,
                               uint64_t *bytes)
{
    while (a->next < a->n && a->ahead < WINDOW) {
        const nino_tensor_info *t = &w->header.infos[a->order[a->next]];
        const uint64_t left = t->bytes - a->at;
        if (!left || t->is_strided) {
            a->next++;
            a->at = 0;
            continue;
        }
        *offset = t->offset + a->at;
        *bytes = left < STEP ? left : STEP;
        a->at += *bytes;
        a->ahead += *bytes;
        return true;
    }
    return false;
}

static void *weights_ahead_run(void *priv)
{
    const nino_weights *w = priv;
    nino_ahead *a = w->ahead;
    uint64_t offset, bytes;
    pthread_mutex_lock(&a->lock);
    while (!a->is_over) {
        if (!weights_ahead_take(w, a, &offset, &bytes)) {
            pthread_cond_wait(&a->wake, &a->lock);
            continue;
        }
        pthread_mutex_unlock(&a->lock);
        posix_fadvise(w->fd, (off_t) offset, (off_t) bytes, POSIX_FADV_WILLNEED);
        pthread_mutex_lock(&a->lock);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

// From `now` on, unless that is between what was read and what is asked for already.
static void weights_ahead_move_to(const nino_weights *w, nino_ahead *a, size_t now)
{
    if (now < a->now || now >= a->next) {
        a->next = now + 1;
        a->at = a->ahead = 0;
    } else {
        a->ahead = a->at;
        for (size_t i = now + 1; i < a->next; i++)
            a->ahead += w->header.infos[a->order[i]].bytes;
    }
    a->now = now;
}

void nino_weights_read_ahead(nino_weights *w, const nino_tensor_info *t)
{
    size_t i;
    nino_weights *file = find_file(w, t, &i);
    nino_ahead *a = file->ahead;
    if (file->file_bytes <= WINDOW / 8)
        return;
    pthread_mutex_lock(&a->lock);
    if (a->place[i])
        weights_ahead_move_to(file, a, a->place[i] - 1);
    if (!a->has_thread && !a->has_failed)
        a->has_failed =
            nino_thread_start(&a->thread, "nino-read-ahead", weights_ahead_run, file) != 0;
    a->has_thread = !a->has_failed;
    pthread_cond_signal(&a->wake);
    pthread_mutex_unlock(&a->lock);
}

// Of the pages that these bytes of the file are in.
static uint64_t missing_pages(int fd, uint64_t offset, uint64_t bytes)
{
    const uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE), from = offset / page * page;
    const size_t length = (size_t) (offset + bytes - from), n = (length + page - 1) / page;
    uint64_t missing = 0;
    unsigned char *is_there = malloc(n + 1);
    void *at = is_there && length ? mmap(NULL, length, PROT_READ, MAP_SHARED, fd, (off_t) from)
                                  : MAP_FAILED;
    if (at != MAP_FAILED) {
        if (!mincore(at, length, is_there))
            for (size_t i = 0; i < n; i++)
                missing += is_there[i] & 1 ? 0 : page;
        munmap(at, length);
    }
    free(is_there);
    return missing < bytes ? missing : bytes;
}

uint64_t nino_weights_missing(nino_weights *w, const nino_tensor_info *t, bool *is_ahead)
{
    size_t i;
    nino_weights *file = find_file(w, t, &i);
    nino_ahead *a = file->ahead;
    *is_ahead = false;
    if (file->file_bytes <= WINDOW / 8 || t->is_strided)
        return 0;
    pthread_mutex_lock(&a->lock);
    *is_ahead = a->place[i] && a->place[i] - 1 > a->now && a->place[i] - 1 < a->next;
    pthread_mutex_unlock(&a->lock);
    return missing_pages(file->fd, t->offset, t->bytes);
}

void nino_ahead_destroy(nino_ahead *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->is_over = true;
    pthread_cond_signal(&a->wake);
    pthread_mutex_unlock(&a->lock);
    if (a->has_thread)
        pthread_join(a->thread, NULL);
    pthread_cond_destroy(&a->wake);
    pthread_mutex_destroy(&a->lock);
    free(a->order);
    free(a->place);
    free(a);
}
