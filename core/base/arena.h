// Internal: bump allocator for parse trees and graphs: many small objects, one destroy.
#pragma once
#include <stddef.h>

typedef struct nino_arena nino_arena;

nino_arena *nino_arena_create(void);             // NULL: out of memory
void nino_arena_destroy(nino_arena **a);         // NULL-safe, *a becomes NULL
void *nino_arena_alloc(nino_arena *a, size_t n); // 16-byte aligned, zeroed; NULL: out of memory
char *nino_arena_strndup(nino_arena *a, const char *s, size_t n);
char *nino_arena_strdup(nino_arena *a, const char *s);
size_t nino_arena_bytes(const nino_arena *a);
