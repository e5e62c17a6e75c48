// Conditioning lists: creation, copies that share their arrays, joining.
#include "core/model/cond/cond.h"

#include <stdlib.h>
#include <string.h>

nino_cond *nino_cond_create(int n)
{
    nino_cond *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->refs = 1;
    c->n = n;
    c->entry = calloc((size_t) n + 1, sizeof(*c->entry)); // +1: an empty list has memory too
    if (!c->entry) {
        free(c);
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        c->entry[i].strength = 1;
        c->entry[i].mask_strength = 1;
        c->entry[i].end = 1;
    }
    return c;
}

// The arrays an entry holds by name; its reference latents are a list beside them.
enum { N_NAMED = 8, N_ARRAYS = N_NAMED + NINO_COND_CONTROLS };
static nino_array **array_of(nino_cond_entry *e, int i)
{
    nino_array **const all[N_NAMED] = { &e->context, &e->context_mask,   &e->pooled,
                                        &e->mask,    &e->concat_latent,  &e->concat_mask,
                                        &e->vision,  &e->control_context };
    return i < N_NAMED ? all[i] : &e->control[i - N_NAMED];
}

static void release_entry(nino_cond_entry *e)
{
    for (int i = 0; i < N_ARRAYS; i++)
        nino_array_unref(array_of(e, i));
    nino_cond_control_unref(&e->control_net);
    for (int i = 0; i < e->n_refs; i++)
        nino_array_unref(&e->refs[i]);
    for (int i = 0; i < e->n_pictures; i++)
        nino_array_unref(&e->pictures[i].embeds);
    free(e->refs);
    free(e->pictures);
}

// *to becomes *from with references of its own. False: no memory, *to is as before.
static bool copy_entry(nino_cond_entry *to, const nino_cond_entry *from)
{
    nino_array **refs = calloc((size_t) from->n_refs + 1, sizeof(*refs));
    nino_cond_picture *pictures = calloc((size_t) from->n_pictures + 1, sizeof(*pictures));
    if (!refs || !pictures) {
        free(refs);
        free(pictures);
        return false;
    }
    *to = *from;
    to->refs = refs;
    to->pictures = pictures;
    for (int i = 0; i < from->n_pictures; i++) {
        pictures[i] = from->pictures[i];
        nino_array_ref(pictures[i].embeds);
    }
    for (int i = 0; i < N_ARRAYS; i++)
        nino_array_ref(*array_of(to, i));
    nino_cond_control_ref(to->control_net);
    for (int i = 0; i < from->n_refs; i++)
        refs[i] = nino_array_ref(from->refs[i]);
    return true;
}

nino_cond *nino_cond_join(const nino_cond *a, const nino_cond *b)
{
    nino_cond *c = nino_cond_create(a->n + b->n);
    for (int i = 0; c && i < a->n + b->n; i++)
        if (!copy_entry(&c->entry[i], i < a->n ? &a->entry[i] : &b->entry[i - a->n]))
            nino_cond_unref(&c);
    return c;
}

nino_cond *nino_cond_copy(const nino_cond *c) { return nino_cond_join(c, &(nino_cond){ 0 }); }

nino_cond *nino_cond_ref(nino_cond *c)
{
    if (c)
        __atomic_add_fetch(&c->refs, 1, __ATOMIC_RELAXED);
    return c;
}

void nino_cond_unref(nino_cond **pc)
{
    nino_cond *c = *pc;
    *pc = NULL;
    if (!c || __atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL))
        return;
    for (int i = 0; i < c->n; i++)
        release_entry(&c->entry[i]);
    free(c->entry);
    free(c);
}

uint64_t nino_cond_bytes(const nino_cond *c)
{
    if (!c)
        return 0;
    uint64_t sum = sizeof(*c);
    for (int i = 0; i < c->n; i++) {
        nino_cond_entry *e = &c->entry[i];
        sum += sizeof(*e) + (e->control_net ? e->control_net->bytes : 0);
        for (int k = 0; k < N_ARRAYS; k++)
            sum += *array_of(e, k) ? (*array_of(e, k))->bytes : 0;
        for (int k = 0; k < e->n_refs; k++)
            sum += sizeof(*e->refs) + e->refs[k]->bytes;
        for (int k = 0; k < e->n_pictures; k++)
            sum += sizeof(*e->pictures) + e->pictures[k].embeds->bytes;
    }
    return sum;
}

nino_cond_control *nino_cond_control_ref(nino_cond_control *c)
{
    if (c)
        __atomic_add_fetch(&c->refs, 1, __ATOMIC_RELAXED);
    return c;
}

void nino_cond_control_unref(nino_cond_control **pc)
{
    nino_cond_control *c = *pc;
    *pc = NULL;
    if (c && !__atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL))
        c->destroy(c);
}

bool nino_cond_add_ref(nino_cond_entry *e, nino_array *latent)
{
    nino_array **refs = realloc(e->refs, (size_t) (e->n_refs + 1) * sizeof(*refs));
    if (!refs)
        return false;
    e->refs = refs;
    e->refs[e->n_refs++] = nino_array_ref(latent);
    return true;
}

bool nino_cond_add_picture(nino_cond_entry *e, const nino_cond_picture *p)
{
    nino_cond_picture *all = realloc(e->pictures, (size_t) (e->n_pictures + 1) * sizeof(*all));
    if (!all)
        return false;
    e->pictures = all;
    all[e->n_pictures] = *p;
    nino_array_ref(all[e->n_pictures++].embeds);
    return true;
}

void nino_cond_set_array(nino_array **slot, nino_array *a)
{
    nino_array *old = *slot;
    *slot = nino_array_ref(a);
    nino_array_unref(&old);
}
