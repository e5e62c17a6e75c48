// Owning what a network is made of.
#include "core/model/layers.h"

#include "core/base/arena.h"

typedef nino_layers_item layers_item;

void *nino_layers_alloc(nino_layers *l, size_t n, size_t size)
{
    if (!l->arena)
        l->arena = nino_arena_create();
    return l->arena && n <= SIZE_MAX / size ? nino_arena_alloc(l->arena, n * size) : NULL;
}

// Takes one of the two.
static bool layers_push(nino_layers *l, nino_weight *weight, nino_array *array)
{
    layers_item *item = nino_layers_alloc(l, 1, sizeof(*item));
    if (!item)
        return false;
    *item = (layers_item){ .next = l->items, .weight = weight, .array = array };
    l->items = item;
    return true;
}

bool nino_layers_keep(nino_layers *l, nino_weight **w)
{
    if (!*w || layers_push(l, *w, NULL))
        return true;
    nino_weight_destroy(w);
    return false;
}

bool nino_layers_keep_array(nino_layers *l, nino_array **a)
{
    if (!*a || layers_push(l, NULL, *a))
        return true;
    nino_array_unref(a);
    return false;
}

void nino_layers_release(nino_layers *l)
{
    for (layers_item *i = l->items; i; i = i->next) {
        nino_weight_destroy(&i->weight);
        nino_array_unref(&i->array);
    }
    nino_arena_destroy(&l->arena);
    *l = (nino_layers){ 0 };
}
