// Internal: what a network is made of: the weights and tables that were read for it and the memory
// its layers are described in. It owns them all, so that a network, or what was read of one, goes
// with one call, and its structs just point.
// Thread-safety: one thread at a time.
#pragma once
#include "core/op/weight.h"

typedef struct nino_layers_item { // one of the two
    struct nino_layers_item *next;
    nino_weight *weight;
    nino_array *array;
} nino_layers_item;

typedef struct nino_layers { // all zero: nothing yet
    struct nino_arena *arena;
    nino_layers_item *items; // what has to be given back, the newest first
} nino_layers;

// n things of `size` bytes, zeroed. NULL: no memory.
void *nino_layers_alloc(nino_layers *l, size_t n, size_t size);
// Takes *w or *a, which may be NULL. False: no memory, and it is gone and NULL.
bool nino_layers_keep(nino_layers *l, nino_weight **w);
bool nino_layers_keep_array(nino_layers *l, nino_array **a);
void nino_layers_release(nino_layers *l); // to nothing; weights leave every backend, too
