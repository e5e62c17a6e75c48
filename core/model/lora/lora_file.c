// LoRA files: their tensors, gathered into layers, and what was used of them.
#include "core/model/lora/lora_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/error.h"

static int lora_file_by_name(const void *a, const void *b)
{
    const lora_layer *x = a, *y = b;
    const size_t n = x->name_len < y->name_len ? x->name_len : y->name_len;
    const int c = memcmp(x->name, y->name, n);
    return c ? c : (x->name_len > y->name_len) - (x->name_len < y->name_len);
}

// One layer a tensor at first; those of one name become one.
static nino_status lora_file_gather(nino_lora *l, nino_error *err)
{
    const int n = nino_weights_count(l->file);
    int k = 0, layers = 0;
    l->arena = nino_arena_create();
    l->layer = l->arena ? nino_arena_alloc(l->arena, (size_t) (n + 1) * sizeof(*l->layer)) : NULL;
    if (!l->layer)
        return nino_fail(err, NINO_ERR_NOMEM, l->name, "out of memory");
    for (int i = 0; i < n; i++) {
        const nino_tensor_info *t = nino_weights_at(l->file, i);
        lora_role role;
        if (!lora_key_parse(t->name, &l->layer[k].name_len, &role))
            continue;
        l->layer[k].name = t->name;
        l->layer[k++].t[role] = t;
    }
    if (k)
        qsort(l->layer, (size_t) k, sizeof(l->layer[0]), lora_file_by_name);
    for (int i = 0; i < k; i++) {
        if (layers && !lora_file_by_name(&l->layer[layers - 1], &l->layer[i]))
            for (int r = 0; r < LORA_ROLES; r++) {
                const nino_tensor_info **to = &l->layer[layers - 1].t[r];
                *to = *to ? *to : l->layer[i].t[r];
            }
        else
            l->layer[layers++] = l->layer[i];
    }
    l->n_layers = layers;
    return NINO_OK;
}

nino_status nino_lora_open(nino_weights *file, const char *name, nino_lora **out, nino_error *err)
{
    nino_lora *l = calloc(1, sizeof(*l));
    *out = NULL;
    if (!l)
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    l->refs = 1;
    l->file = nino_weights_ref(file);
    snprintf(l->name, sizeof(l->name), "%s", name ? name : nino_weights_path(file));
    const nino_status st = lora_file_gather(l, err);
    if (st)
        nino_lora_unref(&l);
    *out = l;
    return st;
}

nino_lora *nino_lora_ref(nino_lora *l)
{
    if (l)
        __atomic_add_fetch(&l->refs, 1, __ATOMIC_RELAXED);
    return l;
}

void nino_lora_unref(nino_lora **pl)
{
    nino_lora *l = pl ? *pl : NULL;
    if (!l)
        return;
    *pl = NULL;
    if (__atomic_sub_fetch(&l->refs, 1, __ATOMIC_ACQ_REL))
        return;
    nino_arena_destroy(&l->arena);
    nino_weights_unref(&l->file);
    free(l);
}

int nino_lora_count(const nino_lora *l) { return nino_weights_count(l->file); }

nino_lora_stack *nino_lora_stack_ref(nino_lora_stack *s)
{
    if (s)
        __atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
    return s;
}

void nino_lora_stack_unref(nino_lora_stack **ps)
{
    nino_lora_stack *s = ps ? *ps : NULL;
    if (!s)
        return;
    *ps = NULL;
    if (__atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL))
        return;
    for (int i = 0; i < s->n; i++)
        nino_lora_unref(&s->e[i].lora);
    free(s);
}

const char *nino_lora_unused(const nino_lora *l, const nino_lora_report *r, char *buf, size_t size)
{
    enum { SHOWN = 4 };
    const int n = nino_lora_count(l);
    int unused = 0;
    size_t len = 0;
    buf[0] = 0;
    for (int i = 0; i < n; i++)
        unused += !r->used[i];
    if (unused == n)
        len = (size_t) snprintf(buf, size, "none of its %d tensors is for this model: ", n);
    else if (unused)
        len = (size_t) snprintf(buf, size, "%d of its %d tensors are not for this model: ", unused,
                                n);
    for (int i = 0, shown = 0; i < n && unused && shown <= SHOWN && len < size; i++) {
        if (r->used[i])
            continue;
        len += (size_t) snprintf(buf + len, size - len, "%s%.100s", shown ? ", " : "",
                                 shown == SHOWN ? "..." : nino_weights_at(l->file, i)->name);
        shown++;
    }
    return buf;
}
