// Text encoders as values on links: sharing, and copies that share the networks.
#include "core/model/clip/clip.h"

#include <stdlib.h>

nino_clip *nino_clip_copy(const nino_clip *c)
{
    nino_clip *copy = malloc(sizeof(*copy));
    if (!copy)
        return NULL;
    *copy = *c;
    copy->refs = 1;
    copy->owner = nino_clip_ref(c->owner ? c->owner : (nino_clip *) c);
    return copy;
}

nino_clip *nino_clip_ref(nino_clip *c)
{
    if (c)
        __atomic_add_fetch(&c->refs, 1, __ATOMIC_RELAXED);
    return c;
}

void nino_clip_unref(nino_clip **pc)
{
    nino_clip *c = pc ? *pc : NULL;
    if (!c)
        return;
    *pc = NULL;
    if (__atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL))
        return;
    if (c->owner)
        nino_clip_unref(&c->owner);
    else if (c->destroy)
        c->destroy(c);
    free(c);
}
