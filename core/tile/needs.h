// Internal: what VAEs were found to need, kept for the next walk that asks the same. A planner walks a
// graph many times, and each time its tiles are fitted anew.
#pragma once
#include "core/base/hash.h"
#include "core/tile/fit.h"

typedef struct nino_needs nino_needs;

nino_needs *nino_needs_create(void); // NULL: no memory; nothing is kept then
void nino_needs_destroy(nino_needs **n);
// False: it is not known. `needs` may be NULL.
bool nino_needs_find(const nino_needs *needs, const nino_hash *key, nino_status *st,
                     nino_vae_need *out);
// st: NINO_OK, or that it did not fit.
void nino_needs_add(nino_needs *needs, const nino_hash *key, nino_status st,
                    const nino_vae_need *need);
