// Diffusion networks and MODEL values: sharing.
#include "core/model/diffusion/diffusion.h"
#include "core/model/lora/lora.h"

#include <stdlib.h>

nino_diffusion *nino_diffusion_ref(nino_diffusion *d)
{
    if (d)
        __atomic_add_fetch(&d->refs, 1, __ATOMIC_RELAXED);
    return d;
}

void nino_diffusion_unref(nino_diffusion **pd)
{
    nino_diffusion *d = pd ? *pd : NULL;
    if (!d)
        return;
    *pd = NULL;
    if (__atomic_sub_fetch(&d->refs, 1, __ATOMIC_ACQ_REL))
        return;
    nino_sampling_unref(&d->sampling);
    if (d->destroy)
        d->destroy(d);
    nino_layers_release(&d->layers);
    nino_lora_stack_unref(&d->loras);
    nino_weights_unref(&d->file);
    free(d);
}

nino_model *nino_model_create(nino_diffusion *net)
{
    nino_model *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    m->refs = 1;
    m->net = nino_diffusion_ref(net);
    m->sampling = nino_sampling_ref(net->sampling);
    m->format = net->format;
    return m;
}

nino_model *nino_model_copy(const nino_model *m)
{
    nino_model *c = nino_model_create(m->net);
    if (!c)
        return NULL;
    nino_sampling *first = c->sampling;
    *c = *m;
    c->refs = 1;
    nino_sampling_ref(c->sampling);
    nino_sampling_unref(&first);
    for (int i = 0; i < c->n_patches; i++) {
        nino_image_prompt_ref(c->patch[i].image);
        nino_cond_ref(c->patch[i].empty);
        nino_block_use_ref(c->patch[i].control);
    }
    return c;
}

bool nino_model_add_patch(nino_model *m, const nino_patch *p)
{
    if (m->n_patches == NINO_MODEL_PATCHES)
        return false;
    m->patch[m->n_patches] = *p;
    nino_cond_ref(p->empty);
    nino_block_use_ref(p->control);
    nino_image_prompt_ref(m->patch[m->n_patches++].image);
    return true;
}

nino_model *nino_model_ref(nino_model *m)
{
    if (m)
        __atomic_add_fetch(&m->refs, 1, __ATOMIC_RELAXED);
    return m;
}

void nino_model_unref(nino_model **pm)
{
    nino_model *m = pm ? *pm : NULL;
    if (!m)
        return;
    *pm = NULL;
    if (__atomic_sub_fetch(&m->refs, 1, __ATOMIC_ACQ_REL))
        return;
    for (int i = 0; i < m->n_patches; i++) {
        nino_image_prompt_unref(&m->patch[i].image);
        nino_cond_unref(&m->patch[i].empty);
        nino_block_use_unref(&m->patch[i].control);
    }
    nino_sampling_unref(&m->sampling);
    nino_diffusion_unref(&m->net);
    free(m);
}
