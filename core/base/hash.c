// Content keys: XXH3, 128 bit.
#include "core/base/hash.h"

#include <xxhash.h>

static nino_hash from_xxh(XXH128_hash_t h) { return (nino_hash){ h.low64, h.high64 }; }

nino_hasher *nino_hasher_create(void)
{
    XXH3_state_t *s = XXH3_createState();
    if (s)
        XXH3_128bits_reset(s);
    return (nino_hasher *) s;
}

void nino_hasher_add(nino_hasher *h, const void *p, size_t n)
{
    if (n)
        XXH3_128bits_update((XXH3_state_t *) h, p, n);
}

nino_hash nino_hasher_finish(nino_hasher **h)
{
    XXH3_state_t *s = (XXH3_state_t *) *h;
    const nino_hash r = from_xxh(XXH3_128bits_digest(s));
    XXH3_freeState(s);
    *h = NULL;
    return r;
}

nino_hash nino_hash_bytes(const void *p, size_t n) { return from_xxh(XXH3_128bits(p, n)); }
