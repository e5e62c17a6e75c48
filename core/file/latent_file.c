// ComfyUI's .latent files: a safetensors file with `latent_tensor` in [N,C,H,W] or [N,C,T,H,W].
#include "core/file/latent_file.h"

#include "core/base/error.h"
#include "core/file/safetensors.h"

#include <string.h>

// Files from before `latent_format_version_0` hold values that Stable Diffusion's factor had
// already scaled. Source: nodes.py, LoadLatent.
#define OLD_SCALE ((float) (1.0 / 0.18215))

nino_status nino_latent_load(nino_weights *w, nino_array **samples, nino_error *err)
{
    const char *path = nino_weights_path(w);
    const nino_tensor_info *t = nino_weights_find(w, "latent_tensor");
    if (!t)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "schema", path,
                              "no tensor called latent_tensor: not a .latent file");
    if (t->rank != 4 && t->rank != 5)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "shape", path,
                              "latent_tensor has %d dimensions, expected 4 or 5", t->rank);
    for (int i = 0; i < t->rank; i++)
        if (!t->dim[i])
            return nino_fail_kind(err, NINO_ERR_FORMAT, "shape", path, "latent_tensor is empty");
    nino_error why;
    nino_array *external = nino_weights_read_f32(w, t, &why);
    if (!external) {
        if (err)
            *err = why;
        return why.code;
    }
    nino_array *a = nino_array_to_channels_last(external);
    nino_array_unref(&external);
    if (!a)
        return nino_fail(err, NINO_ERR_NOMEM, path, "out of memory");
    if (!nino_weights_find(w, "latent_format_version_0"))
        for (size_t i = 0; i < a->bytes / sizeof(float); i++)
            nino_array_f32(a)[i] *= OLD_SCALE;
    *samples = a;
    return NINO_OK;
}

nino_status nino_latent_save(const char *dir, const char *name, const nino_array *samples,
                             const nino_meta *meta, int n_meta, nino_error *err)
{
    nino_array *external = nino_array_to_channels_first(samples);
    nino_array *version = nino_array_create(NINO_F32, NINO_SHAPE(0));
    nino_status st;
    if (external && version) {
        const nino_st_entry entries[] = { { "latent_tensor", external },
                                          { "latent_format_version_0", version } };
        st = nino_st_save(dir, name, true, entries, 2, meta, n_meta, err);
    } else {
        st = nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    }
    nino_array_unref(&external);
    nino_array_unref(&version);
    return st;
}
