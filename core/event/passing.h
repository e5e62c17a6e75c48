// Internal: texts that one record says and none after it (a file, a message): only the newest are
// kept, so that they take no more room however many there are.
// Threads: one at a time puts; any thread may read. A text that is read lives until
// NINO_PASSING_SLOTS later ones have been put.
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NINO_PASSING_BIT 0x80000000u // set in their ids, which count up; in no other id of a text
enum { NINO_PASSING_SLOTS = 16384 }; // a power of two

typedef struct nino_passing {
    struct {
        _Atomic uint32_t id; // 0: free
        _Atomic(char *) text;
    } slot[NINO_PASSING_SLOTS];
} nino_passing;

nino_passing *nino_passing_create(void);     // NULL: out of memory
void nino_passing_destroy(nino_passing **p); // NULL-safe
// In place of the one whose id is NINO_PASSING_SLOTS less. False: out of memory.
bool nino_passing_put(nino_passing *p, uint32_t id, const char *text, size_t len);
const char *nino_passing_text(const nino_passing *p, uint32_t id); // "" for one that is gone
