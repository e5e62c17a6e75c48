// Choosing the network of an upscale model's file, and what all of them share.
#include "core/model/upscale/upscale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/model/detect.h"

static nino_status refuse(const nino_weights *file, const nino_detected *d, nino_error *err)
{
    const char *path = nino_weights_path(file), *slash = strrchr(path, '/');
    const char *what = d->is_lora        ? "a LoRA"
                       : d->diffusion[0] ? "a diffusion model"
                       : d->text[0][0]   ? "a text encoder"
                       : d->vae[0]       ? "a VAE"
                                         : NULL;
    path = slash ? slash + 1 : path;
    if (d->upscale[0])
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "model", path,
                              "this is a %s model; the upscale models that can be run are ESRGAN "
                              "(Real-ESRGAN, BSRGAN) and compact ones (SRVGG)",
                              d->upscale);
    if (what)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "model", path,
                              "not an upscale model: this is %s", what);
    return nino_fail_kind(err, NINO_ERR_FORMAT, "model", path,
                          "not a known upscale model: those that can be run are ESRGAN "
                          "(Real-ESRGAN, BSRGAN) and compact ones (SRVGG)");
}

nino_status nino_upscale_load(nino_weights *file, const char *name, nino_upscale **out,
                              nino_error *err)
{
    nino_detected d;
    nino_upscale *u = calloc(1, sizeof(*u));
    nino_status st;
    *out = NULL;
    if (!u)
        return nino_fail(err, NINO_ERR_NOMEM, nino_weights_path(file), "no memory for its layers");
    *u = (nino_upscale){ .refs = 1, .least = 1, .multiple = 1 };
    nino_detect(file, &d);
    snprintf(u->name, sizeof(u->name), "%s", name ? name : nino_weights_path(file));
    snprintf(u->family, sizeof(u->family), "%s", d.upscale);
    u->weight_bytes = nino_weights_bytes(file, d.upscale_prefix);
    u->identity = nino_weights_identity(file);
    if (!strcmp(d.upscale, NINO_UPSCALE_ESRGAN))
        st = nino_upscale_esrgan_load(file, d.upscale_prefix, u, err);
    else if (!strcmp(d.upscale, NINO_UPSCALE_COMPACT))
        st = nino_upscale_compact_load(file, d.upscale_prefix, u, err);
    else
        st = refuse(file, &d, err);
    if (st)
        nino_upscale_unref(&u);
    *out = u;
    return st;
}

int64_t nino_upscale_padded(const nino_upscale *u, int64_t n)
{
    n = n < u->least ? u->least : n;
    return (n + u->multiple - 1) / u->multiple * u->multiple;
}

int64_t nino_upscale_source(int64_t n, int64_t i)
{
    const int64_t mirrored = 2 * (n - 1) - i;
    return i < n ? i : mirrored > 0 ? mirrored : 0;
}

nino_upscale *nino_upscale_ref(nino_upscale *u)
{
    if (u)
        __atomic_add_fetch(&u->refs, 1, __ATOMIC_RELAXED);
    return u;
}

void nino_upscale_unref(nino_upscale **pu)
{
    nino_upscale *u = *pu;
    *pu = NULL;
    if (!u || __atomic_sub_fetch(&u->refs, 1, __ATOMIC_ACQ_REL))
        return;
    nino_layers_release(&u->layers);
    free(u);
}
