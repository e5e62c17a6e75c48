// Texts that pass: a slot for each of the newest, found by the low bits of their ids.
#include "core/event/passing.h"

#include <stdlib.h>
#include <string.h>

nino_passing *nino_passing_create(void) { return calloc(1, sizeof(nino_passing)); }

void nino_passing_destroy(nino_passing **passing)
{
    nino_passing *p = *passing;
    for (size_t i = 0; p && i < NINO_PASSING_SLOTS; i++)
        free(atomic_load(&p->slot[i].text));
    free(p);
    *passing = NULL;
}

bool nino_passing_put(nino_passing *p, uint32_t id, const char *text, size_t len)
{
    const size_t i = id % NINO_PASSING_SLOTS;
    char *copy = strndup(text, len);
    if (!copy)
        return false;
    atomic_store_explicit(&p->slot[i].id, 0, memory_order_release);
    free(atomic_exchange(&p->slot[i].text, copy));
    atomic_store_explicit(&p->slot[i].id, id, memory_order_release);
    return true;
}

const char *nino_passing_text(const nino_passing *p, uint32_t id)
{
    const size_t i = id % NINO_PASSING_SLOTS;
    const bool is_there = id && atomic_load_explicit(&p->slot[i].id, memory_order_acquire) == id;
    return is_there ? atomic_load_explicit(&p->slot[i].text, memory_order_acquire) : "";
}
