// Allocation failures: a program linked with --wrap (the Makefile does it for tests/unit/oom*.c)
// makes the n-th allocation of the code under test fail, or all from the n-th on, and counts what
// is not freed. Only calls from our own objects are affected, not those inside libc and libraries.
#pragma once
#include "core/base/error.h"
#include "tests/test.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

static struct {
    long at;    // 1: the next allocation fails; 0: none does
    long calls; // since oom_each() began this round
    long live;  // allocations not freed yet
    int sticky; // everything after it fails too
    int fired;
    int wide; // threads and mappings count as well
} oom;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
int __real_posix_memalign(void **p, size_t align, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);
int __wrap_posix_memalign(void **p, size_t align, size_t n);
void __wrap_free(void *p);

static int oom_fails(void)
{
    const long k = __atomic_add_fetch(&oom.calls, 1, __ATOMIC_RELAXED); // threads pack weights
    if (!oom.at || !(k == oom.at || (oom.sticky && k > oom.at)))
        return 0;
    __atomic_store_n(&oom.fired, 1, __ATOMIC_RELAXED);
    errno = ENOMEM;
    return 1;
}

// A thread that cannot be made, a file that cannot be mapped.
int __real_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *priv);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *priv);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *priv)
{
    return oom.wide && oom_fails() ? EAGAIN : __real_pthread_create(t, a, f, priv);
}
void *__real_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from)
{
    return oom.wide && oom_fails() ? MAP_FAILED : __real_mmap(at, n, prot, flags, fd, from);
}

static void *oom_count(void *p)
{
    __atomic_add_fetch(&oom.live, p != NULL, __ATOMIC_RELAXED);
    return p;
}

void *__wrap_malloc(size_t n) { return oom_fails() ? NULL : oom_count(__real_malloc(n)); }
void *__wrap_calloc(size_t n, size_t size)
{
    return oom_fails() ? NULL : oom_count(__real_calloc(n, size));
}
void *__wrap_realloc(void *p, size_t n)
{
    if (oom_fails())
        return NULL;
    void *q = __real_realloc(p, n);
    return p ? q : oom_count(q);
}
char *__wrap_strdup(const char *s) { return oom_fails() ? NULL : oom_count(__real_strdup(s)); }
char *__wrap_strndup(const char *s, size_t n)
{
    return oom_fails() ? NULL : oom_count(__real_strndup(s, n));
}
void *__wrap_aligned_alloc(size_t align, size_t n)
{
    return oom_fails() ? NULL : oom_count(__real_aligned_alloc(align, n));
}
int __wrap_posix_memalign(void **p, size_t align, size_t n)
{
    if (oom_fails())
        return ENOMEM;
    const int rc = __real_posix_memalign(p, align, n);
    if (!rc)
        oom_count(*p);
    return rc;
}
void __wrap_free(void *p)
{
    __atomic_sub_fetch(&oom.live, p != NULL, __ATOMIC_RELAXED);
    __real_free(p);
}

// Preparations and checks inside a scenario, between the two, do not fail and do not count.
static inline long oom_pause(void)
{
    const long at = oom.at;
    oom.at = 0;
    return at;
}
static inline void oom_resume(long at)
{
    oom.at = at;
    oom.calls = 0;
}

// What a call in a scenario came to: true where it succeeded; else it had to, and says so.
static inline bool oom_passed(nino_status st, const nino_error *err, int may_fail)
{
    if (st) {
        CHECK(may_fail && oom.fired);
        CHECK(st == NINO_ERR_NOMEM && err->code == NINO_ERR_NOMEM);
    }
    return !st;
}

// Runs scenario(1) with every single allocation failing, once and from there on, until it gets by
// without reaching the failing one, and scenario(0) with none failing at the end. The scenario
// checks that its calls fail cleanly (may_fail) or succeed, and frees everything. Returns the
// number of allocations.
static inline long oom_each(void (*scenario)(int may_fail))
{
    long n = 0;
    for (int sticky = 0; sticky < 2; sticky++)
        for (n = 1;; n++) {
            const long live = oom.live;
            oom.at = n;
            oom.sticky = sticky;
            oom.calls = oom.fired = 0;
            scenario(1);
            oom.at = 0;
            if (oom.live != live)
                fprintf(stderr, "allocation %ld%s: %ld not freed\n", n, sticky ? " and on" : "",
                        oom.live - live);
            CHECK(oom.live == live);
            if (!oom.fired)
                break;
        }
    scenario(0);
    return n - 1;
}
