// Guiders as values on links, and what of them goes beyond single items of a batch.
#include "core/sample/guide/guide.h"

#include "core/model/control/control.h"

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

// ---- items of a batch --------------------------------------------------------------------------

static bool is_single(const nino_array *a) { return !a || !a->shape.rank || a->shape.dim[0] <= 1; }

static bool is_control_single(const nino_cond_control *c)
{
    for (const nino_control_use *u = c ? nino_control_use_of((nino_cond_control *) c) : NULL; u;
         u = u->previous)
        if (!is_single(u->hint) || !is_single(u->mask))
            return false;
    return true;
}

static bool is_entry_single(const nino_cond_entry *e)
{
    bool yes = is_single(e->context) && is_single(e->context_mask) && is_single(e->pooled) &&
               is_single(e->mask) && is_single(e->concat_latent) && is_single(e->concat_mask) &&
               is_single(e->vision) && is_single(e->control_context) &&
               is_control_single(e->control_net);
    for (int i = 0; i < e->n_controls; i++)
        yes &= is_single(e->control[i]);
    for (int i = 0; i < e->n_refs; i++)
        yes &= is_single(e->refs[i]);
    return yes;
}

static bool is_cond_single(const nino_cond *c)
{
    for (int i = 0; c && i < c->n; i++)
        if (!is_entry_single(&c->entry[i]))
            return false;
    return true;
}

// Patches that are known to work on each item alone.
static bool is_model_apart(const nino_model *m)
{
    for (int i = 0; m && i < m->n_patches; i++)
        switch (m->patch[i].kind) {
        case NINO_PATCH_RESCALE:
        case NINO_PATCH_CFG:
        case NINO_PATCH_SKIP_NEGATIVE:
        case NINO_PATCH_EPSILON:
        case NINO_PATCH_PERTURBED:
        case NINO_PATCH_DOWNSCALE: break;
        default: return false;
        }
    return true;
}

bool nino_guide_is_apart(const nino_guider *g, nino_sampler_id sampler)
{
    return g->kind != NINO_GUIDE_PERP_NEG && sampler != NINO_SAMPLER_DPM_ADAPTIVE &&
           is_model_apart(g->model) && is_model_apart(g->model2) && is_cond_single(g->positive) &&
           is_cond_single(g->middle) && is_cond_single(g->negative);
}
