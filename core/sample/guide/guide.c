// Guiders as values on links.
#include "core/sample/guide/guide.h"

#include <stdlib.h>

nino_guider *nino_guider_ref(nino_guider *g)
{
    if (g)
        __atomic_add_fetch(&g->refs, 1, __ATOMIC_RELAXED);
    return g;
}

void nino_guider_unref(nino_guider **pg)
{
    nino_guider *g = pg ? *pg : NULL;
    if (!g)
        return;
    *pg = NULL;
    if (__atomic_sub_fetch(&g->refs, 1, __ATOMIC_ACQ_REL))
        return;
    nino_model_unref(&g->model);
    nino_model_unref(&g->model2);
    nino_cond_unref(&g->positive);
    nino_cond_unref(&g->middle);
    nino_cond_unref(&g->negative);
    free(g);
}
