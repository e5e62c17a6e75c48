// Internal: a set of byte strings, each with a number (its place in order of addition): the pieces
// of a vocabulary. Open addressing; the hash can be extended byte by byte, so that all prefixes of
// a text are looked up in one pass.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct nino_strings {
    char *bytes; // all strings, one after the other
    size_t n_bytes, cap_bytes;
    uint32_t *start; // [n + 1]
    uint32_t n, cap;
    uint64_t *slots; // high half: part of the hash; low half: number + 1, 0: empty
    uint32_t n_slots;
    uint32_t longest; // bytes of the longest string
} nino_strings;

// Room for n strings of n_bytes in all; growing later is fine. False: out of memory.
bool nino_strings_reserve(nino_strings *s, uint32_t n, size_t n_bytes);
void nino_strings_release(nino_strings *s);
// Number of the string, added if it is new (*is_new); -1: out of memory or more than 2 GiB.
int64_t nino_strings_add(nino_strings *s, const char *p, size_t len, bool *is_new);
// Number, or -1.
int64_t nino_strings_find(const nino_strings *s, const char *p, size_t len);

// Hash of a longer string from that of its beginning; start with NINO_STRINGS_HASH.
#define NINO_STRINGS_HASH 0xcbf29ce484222325u
static inline uint64_t nino_strings_hash(uint64_t h, const char *p, size_t len) // FNV-1a
{
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char) p[i]) * 0x100000001b3u;
    return h;
}
int64_t nino_strings_add_hashed(nino_strings *s, uint64_t hash, const char *p, size_t len,
                                bool *is_new);
// Large tables are slow to reach: say early which string comes soon.
void nino_strings_prefetch(const nino_strings *s, uint64_t hash);
int64_t nino_strings_find_hashed(const nino_strings *s, uint64_t hash, const char *p, size_t len);

static inline const char *nino_strings_at(const nino_strings *s, uint32_t i, size_t *len)
{
    *len = s->start[i + 1] - s->start[i];
    return s->bytes + s->start[i];
}
