// Style models: two linear layers between a vision network and a text context.
// Source: ComfyUI ldm/flux/redux.py.
#include "core/model/clip/style_model.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/model/loader.h"

nino_status nino_style_load(nino_weights *file, const char *name, nino_style **out, nino_error *err)
{
    nino_style *m = calloc(1, sizeof(*m));
    *out = NULL;
    if (!m)
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    nino_loader l = { .file = file, .prefix = "", .layers = &m->layers, .err = err };
    m->refs = 1;
    snprintf(m->name, sizeof(m->name), "%s", name);
    if (nino_load_has(&l, "style_embedding"))
        nino_load_fail(&l, NINO_ERR_UNSUPPORTED, "T2I style adapters are not supported yet");
    else if (!nino_load_has(&l, "redux_down.weight"))
        nino_load_fail(&l, NINO_ERR_FORMAT, "not a style model: it has no redux_down.weight");
    nino_load_linear(&l, "redux_up", -1, &m->up);
    nino_load_linear(&l, "redux_down", nino_load_rows(&l, m->up.w), &m->down);
    if (l.st) {
        nino_style_unref(&m);
        return l.st;
    }
    m->up.act = NINO_ACT_SILU;
    m->in = (int) m->up.w->c;
    m->out = (int) m->down.w->n;
    *out = m;
    return NINO_OK;
}

nino_style *nino_style_ref(nino_style *m)
{
    if (m)
        __atomic_add_fetch(&m->refs, 1, __ATOMIC_RELAXED);
    return m;
}

void nino_style_unref(nino_style **pm)
{
    nino_style *m = *pm;
    *pm = NULL;
    if (!m || __atomic_sub_fetch(&m->refs, 1, __ATOMIC_ACQ_REL))
        return;
    nino_layers_release(&m->layers);
    free(m);
}

nino_status nino_style_tokens(nino_stream *s, const nino_style *m, const nino_array *states,
                              nino_array **out, nino_error *err)
{
    *out = NULL;
    if (states->shape.dim[2] != m->in)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "model", m->name,
                              "it is for vision networks of width %d, not %lld", m->in,
                              (long long) states->shape.dim[2]);
    const nino_shape shape = NINO_SHAPE(1, states->shape.dim[0] * states->shape.dim[1], m->out);
    nino_tensor *x = nino_upload(s, states, nino_stream_act_type(s));
    x = nino_linear_op(s, x, &m->up);
    x = nino_linear_op(s, x, &m->down);
    *out = nino_download(s, nino_reshape(s, x, shape), NINO_F32);
    return nino_stream_status(s, err);
}
