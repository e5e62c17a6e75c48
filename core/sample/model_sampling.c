// How a diffusion model was trained: sharing.
#include "core/sample/model_sampling.h"

#include <stdlib.h>

nino_sampling *nino_sampling_ref(nino_sampling *ms)
{
    if (ms)
        __atomic_add_fetch(&ms->refs, 1, __ATOMIC_RELAXED);
    return ms;
}

void nino_sampling_unref(nino_sampling **pms)
{
    nino_sampling *ms = pms ? *pms : NULL;
    if (!ms)
        return;
    *pms = NULL;
    if (__atomic_sub_fetch(&ms->refs, 1, __ATOMIC_ACQ_REL))
        return;
    free(ms->sigmas);
    free(ms->log_sigmas);
    free(ms);
}
