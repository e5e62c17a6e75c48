// Bump allocator: a list of zeroed chunks that grow up to 1 MiB; big requests get a chunk of their
// own.
#include "core/base/arena.h"

#include "core/base/size.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16, FIRST_CHUNK = 4096, MAX_CHUNK = 1 << 20 };

typedef struct chunk {
    struct chunk *next;
    size_t size;
    alignas(ALIGN) unsigned char data[];
} chunk;

struct nino_arena {
    chunk *chunks;     // all, for destroy
    unsigned char *at; // free part of the chunk in use
    size_t left;       // bytes there
    size_t next_chunk; // size of the next one
    size_t bytes;      // taken from the system
};

nino_arena *nino_arena_create(void)
{
    nino_arena *a = calloc(1, sizeof(*a));
    if (a) {
        a->next_chunk = FIRST_CHUNK;
        a->bytes = sizeof(*a);
    }
    return a;
}

void nino_arena_destroy(nino_arena **a)
{
    if (!a || !*a)
        return;
    for (chunk *c = (*a)->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(*a);
    *a = NULL;
}

// calloc and not malloc: fresh pages are zero already, and the kernel hands them out on first use.
static chunk *add_chunk(nino_arena *a, size_t size)
{
    const size_t total = size + sizeof(chunk);
    chunk *c = calloc(1, total);
    if (!c)
        return NULL;
    c->size = size;
    c->next = a->chunks;
    a->chunks = c;
    a->bytes += total;
    return c;
}

void *nino_arena_alloc(nino_arena *a, size_t n)
{
    if (n > PTRDIFF_MAX - sizeof(chunk) - ALIGN)
        return NULL;
    n = nino_round_up(n ? n : 1, ALIGN);
    if (n > a->left) {
        const bool big = n > a->next_chunk / 4;
        chunk *c = add_chunk(a, big ? n : a->next_chunk);
        if (!c)
            return NULL;
        if (big) // keep what is left of the chunk in use
            return c->data;
        a->at = c->data;
        a->left = c->size;
        if (a->next_chunk < MAX_CHUNK)
            a->next_chunk *= 2;
    }
    void *p = a->at;
    a->at += n;
    a->left -= n;
    return p;
}

char *nino_arena_strndup(nino_arena *a, const char *s, size_t n)
{
    char *p = n < SIZE_MAX ? nino_arena_alloc(a, n + 1) : NULL;
    if (p && n)
        memcpy(p, s, n);
    return p;
}

char *nino_arena_strdup(nino_arena *a, const char *s)
{
    return nino_arena_strndup(a, s, strlen(s));
}
size_t nino_arena_bytes(const nino_arena *a) { return a->bytes; }
