// Allocation failures in arenas, which take memory in large pieces: each thing in one can be what there
// is no memory for. The Makefile links with --wrap what includes this.
#pragma once
#include "core/base/arena.h"
#include "tests/oom.h"

void *__real_nino_arena_alloc(nino_arena *a, size_t n);
char *__real_nino_arena_strndup(nino_arena *a, const char *s, size_t n);
char *__real_nino_arena_strdup(nino_arena *a, const char *s);
void *__wrap_nino_arena_alloc(nino_arena *a, size_t n);
char *__wrap_nino_arena_strndup(nino_arena *a, const char *s, size_t n);
char *__wrap_nino_arena_strdup(nino_arena *a, const char *s);

void *__wrap_nino_arena_alloc(nino_arena *a, size_t n)
{
    return oom_fails() ? NULL : __real_nino_arena_alloc(a, n);
}
char *__wrap_nino_arena_strndup(nino_arena *a, const char *s, size_t n)
{
    return oom_fails() ? NULL : __real_nino_arena_strndup(a, s, n);
}
char *__wrap_nino_arena_strdup(nino_arena *a, const char *s)
{
    return oom_fails() ? NULL : __real_nino_arena_strdup(a, s);
}
