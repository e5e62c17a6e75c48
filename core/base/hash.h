// Internal: content keys (XXH3, 128 bit) for caches of this process.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct nino_hash {
    uint64_t lo, hi;
} nino_hash;

typedef struct nino_hasher nino_hasher;
nino_hasher *nino_hasher_create(void); // NULL: out of memory
void nino_hasher_add(nino_hasher *h, const void *p, size_t n);
nino_hash nino_hasher_finish(nino_hasher **h); // frees, *h becomes NULL
nino_hash nino_hash_bytes(const void *p, size_t n);
