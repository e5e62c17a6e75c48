// The list of what was found, a few hundred at most.
#include "core/tile/needs.h"

#include <stdlib.h>

typedef struct known {
    nino_hash key;
    nino_status st;
    nino_vae_need need;
} known;

struct nino_needs {
    known *list;
    size_t n, cap;
};

nino_needs *nino_needs_create(void) { return calloc(1, sizeof(nino_needs)); }

void nino_needs_destroy(nino_needs **n)
{
    if (*n)
        free((*n)->list);
    free(*n);
    *n = NULL;
}

bool nino_needs_find(const nino_needs *needs, const nino_hash *key, nino_status *st,
                     nino_vae_need *out)
{
    for (size_t i = needs ? needs->n : 0; i-- > 0;) {
        const known *k = &needs->list[i];
        if (k->key.lo != key->lo || k->key.hi != key->hi)
            continue;
        *st = k->st;
        *out = k->need;
        return true;
    }
    return false;
}

void nino_needs_add(nino_needs *needs, const nino_hash *key, nino_status st,
                    const nino_vae_need *need)
{
    if (needs->n == needs->cap) {
        const size_t cap = needs->cap ? 2 * needs->cap : 64;
        known *more = realloc(needs->list, cap * sizeof(*more));
        if (!more)
            return; // it will be walked again
        needs->list = more;
        needs->cap = cap;
    }
    needs->list[needs->n++] = (known){ *key, st, *need };
}
