// Values on links: creation, sharing, sizes.
#include "core/node/value.h"

#include <stdlib.h>
#include <string.h>

nino_value *nino_value_create(nino_port_type type)
{
    nino_value *v = calloc(1, sizeof(*v));
    if (v) {
        v->type = type;
        v->refs = 1;
    }
    return v;
}

nino_value *nino_value_ref(nino_value *v)
{
    if (v)
        __atomic_add_fetch(&v->refs, 1, __ATOMIC_RELAXED);
    return v;
}

void nino_value_unref(nino_value **pv)
{
    nino_value *v = pv ? *pv : NULL;
    if (!v)
        return;
    *pv = NULL;
    if (__atomic_sub_fetch(&v->refs, 1, __ATOMIC_ACQ_REL))
        return;
    switch (v->type) {
    case NINO_PORT_LATENT:
        nino_array_unref(&v->u.latent.samples);
        nino_array_unref(&v->u.latent.noise_mask);
        free(v->u.latent.batch_index);
        break;
    case NINO_PORT_IMAGE: nino_array_unref(&v->u.image); break;
    case NINO_PORT_MASK: nino_array_unref(&v->u.mask); break;
    case NINO_PORT_VAE: nino_vae_unref(&v->u.vae); break;
    case NINO_PORT_MODEL:
    case NINO_PORT_CLIP: nino_weights_unref(&v->u.unloaded.file); break;
    case NINO_PORT_STRING: free(v->u.string); break;
    default: break;
    }
    free(v);
}

bool nino_value_shares(const nino_value *a, const nino_value *b)
{
    if (!a || !b || a->type != b->type)
        return false;
    switch (a->type) {
    case NINO_PORT_VAE: return a->u.vae == b->u.vae;
    case NINO_PORT_MODEL:
    case NINO_PORT_CLIP: return a->u.unloaded.file == b->u.unloaded.file;
    default: return false;
    }
}

uint64_t nino_value_bytes(const nino_value *v)
{
    if (!v)
        return 0;
    uint64_t n = sizeof(*v);
    switch (v->type) {
    case NINO_PORT_LATENT:
        n += v->u.latent.samples ? v->u.latent.samples->bytes : 0;
        n += v->u.latent.noise_mask ? v->u.latent.noise_mask->bytes : 0;
        break;
    case NINO_PORT_IMAGE: n += v->u.image ? v->u.image->bytes : 0; break;
    case NINO_PORT_MASK: n += v->u.mask ? v->u.mask->bytes : 0; break;
    case NINO_PORT_STRING: n += v->u.string ? strlen(v->u.string) + 1 : 0; break;
    default: break;
    }
    return n;
}
