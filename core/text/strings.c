// A set of byte strings with numbers: the pieces of a vocabulary.
#include "core/text/strings.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t) 1 << 31)

// FNV's low bits are weak: spread them before they choose a slot.
static uint64_t strings_mix(uint64_t h)
{
    h ^= h >> 32;
    h *= 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t strings_slot_of(uint64_t mixed, uint32_t number)
{
    return (mixed & 0xffffffff00000000u) | (number + 1);
}

static bool grow_slots(nino_strings *s, uint32_t n)
{
    uint32_t want = 64;
    while (want < n + n / 2 && want < UINT32_C(1) << 31)
        want *= 2;
    if (want <= s->n_slots)
        return true;
    uint64_t *slots = calloc(want, sizeof(*slots));
    if (!slots)
        return false;
    for (uint32_t i = 0; i < s->n; i++) {
        size_t len;
        const char *p = nino_strings_at(s, i, &len);
        const uint64_t h = strings_mix(nino_strings_hash(NINO_STRINGS_HASH, p, len));
        uint32_t k = (uint32_t) h & (want - 1);
        while (slots[k])
            k = (k + 1) & (want - 1);
        slots[k] = strings_slot_of(h, i);
    }
    free(s->slots);
    s->slots = slots;
    s->n_slots = want;
    return true;
}

bool nino_strings_reserve(nino_strings *s, uint32_t n, size_t n_bytes)
{
    if (n > (UINT32_C(1) << 30) || n_bytes > MAX_BYTES)
        return false;
    if (n > s->cap || !s->start) {
        const uint32_t cap = n > s->cap ? n : s->cap;
        uint32_t *start = realloc(s->start, ((size_t) cap + 1) * sizeof(*start));
        if (!start)
            return false;
        s->start = start;
        s->cap = cap;
        start[s->n] = (uint32_t) s->n_bytes;
    }
    if (n_bytes > s->cap_bytes) {
        char *bytes = realloc(s->bytes, n_bytes);
        if (!bytes)
            return false;
        s->bytes = bytes;
        s->cap_bytes = n_bytes;
    }
    return grow_slots(s, n);
}

void nino_strings_release(nino_strings *s)
{
    free(s->bytes);
    free(s->start);
    free(s->slots);
    *s = (nino_strings){ 0 };
}

// The number of a string and its slot, or -1 and the slot it would go to. There are slots.
static int64_t find_slot(const nino_strings *s, uint64_t mixed, const char *p, size_t len,
                         uint32_t *slot)
{
    uint32_t k = (uint32_t) mixed & (s->n_slots - 1);
    for (; s->slots[k]; k = (k + 1) & (s->n_slots - 1)) {
        if ((s->slots[k] ^ mixed) >> 32)
            continue;
        const uint32_t i = (uint32_t) s->slots[k] - 1;
        size_t n;
        const char *q = nino_strings_at(s, i, &n);
        if (n == len && (!n || !memcmp(p, q, n))) {
            *slot = k;
            return i;
        }
    }
    *slot = k;
    return -1;
}

int64_t nino_strings_find_hashed(const nino_strings *s, uint64_t hash, const char *p, size_t len)
{
    uint32_t slot;
    return s->n_slots ? find_slot(s, strings_mix(hash), p, len, &slot) : -1;
}

int64_t nino_strings_find(const nino_strings *s, const char *p, size_t len)
{
    return nino_strings_find_hashed(s, nino_strings_hash(NINO_STRINGS_HASH, p, len), p, len);
}

// Room for one more string of len bytes.
static bool strings_grow(nino_strings *s, size_t len)
{
    const size_t need = s->n_bytes + len;
    const bool is_full = s->n + 1 > s->cap || s->n + s->n / 2 >= s->n_slots;
    if (!is_full && s->bytes && need <= s->cap_bytes)
        return true;
    const uint32_t n = is_full ? s->n + s->n / 2 + 64 : s->cap;
    const size_t bytes = need > s->cap_bytes ? need + need / 2 + 1024 : s->cap_bytes;
    return need <= MAX_BYTES && nino_strings_reserve(s, n, bytes < MAX_BYTES ? bytes : MAX_BYTES);
}

void nino_strings_prefetch(const nino_strings *s, uint64_t hash)
{
    if (s->n_slots)
        __builtin_prefetch(&s->slots[(uint32_t) strings_mix(hash) & (s->n_slots - 1)], 1);
}

int64_t nino_strings_add(nino_strings *s, const char *p, size_t len, bool *is_new)
{
    return nino_strings_add_hashed(s, nino_strings_hash(NINO_STRINGS_HASH, p, len), p, len, is_new);
}

int64_t nino_strings_add_hashed(nino_strings *s, uint64_t hash, const char *p, size_t len,
                                bool *is_new)
{
    const uint64_t h = strings_mix(hash);
    uint32_t slot;
    *is_new = false;
    if (!strings_grow(s, len))
        return -1;
    const int64_t old = find_slot(s, h, p, len, &slot);
    if (old >= 0)
        return old;
    *is_new = true;
    if (len)
        memcpy(s->bytes + s->n_bytes, p, len);
    s->n_bytes += len;
    if (len > s->longest)
        s->longest = (uint32_t) len;
    s->slots[slot] = strings_slot_of(h, s->n);
    s->start[++s->n] = (uint32_t) s->n_bytes;
    return s->n - 1;
}
