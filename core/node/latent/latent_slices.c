// Latents cut into a batch, frames of a clip replaced. Behaviour of ComfyUI's nodes_latent.py.
#include <string.h>

#include "core/base/error.h"
#include "core/node/planar.h"

// ---- LatentCutToBatch ------------------------------------------------------------------------

typedef struct slices_params {
    int64_t dim, slice_size;
} slices_params;

enum { DIM_T, DIM_X, DIM_Y };

// The axis of a latent; -1: it has no frames, and its channels stay as they are.
static int slices_axis(const nino_array *a, int64_t dim)
{
    const int rank = a->shape.rank;
    return dim == DIM_X ? rank - 2 : dim == DIM_Y ? rank - 3 : rank == 5 ? 1 : -1;
}

static nino_status slices_run(nino_run *r, nino_error *err)
{
    const slices_params *p = r->params;
    const nino_latent *in = nino_in_latent(r, 0);
    const nino_array *a = in->samples;
    const int axis = slices_axis(a, p->dim);
    if (axis < 0) {
        r->out[0] = nino_value_ref(r->in[0]);
        return NINO_OK;
    }
    const int64_t had = a->shape.dim[axis], len = p->slice_size < had ? p->slice_size : had;
    const int64_t n = had / len;
    nino_shape shape = a->shape;
    size_t outer = 1, inner = sizeof(float);
    for (int i = 1; i < shape.rank; i++) {
        outer *= i < axis ? (size_t) shape.dim[i] : 1;
        inner *= i > axis ? (size_t) shape.dim[i] : 1;
    }
    shape.dim[0] = a->shape.dim[0] * n;
    shape.dim[axis] = len;
    nino_array *out = nino_node_array(NINO_F32, shape, r->def->key, err);
    char *to = out ? out->data : NULL;
    const size_t bytes = (size_t) len * inner;
    for (int64_t b = 0; to && b < a->shape.dim[0]; b++)
        for (int64_t s = 0; s < n; s++)
            for (size_t o = 0; o < outer; o++, to += bytes)
                memcpy(to,
                       (const char *) a->data +
                           (((size_t) b * outer + o) * (size_t) had + (size_t) (s * len)) * inner,
                       bytes);
    return nino_out_latent(r, 0, (nino_latent){ .samples = out, .factor = in->factor }, err);
}

NINO_NODE(latent_slices, "LatentCutToBatch", "LatentCutToBatch", "model/latent/advanced",
          "Cuts a latent into slices that become a batch; a rest is dropped",
          NINO_INPUTS(NINO_PORT(samples, LATENT)), NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(slices_params,
                      NINO_P_ENUM(slices_params, dim, NINO_WORDS("t", "x", "y"), 0,
                                  .label = "Direction",
                                  .help = "Frames (t), columns (x) or rows (y)"),
                      NINO_P_INT(slices_params, slice_size, 1, 1, 16384, 1, .label = "Slice",
                                 .help = "How many a slice has")),
          NINO_RUN(slices_run));

// ---- ReplaceVideoLatentFrames ----------------------------------------------------------------

typedef struct replace_params {
    int64_t index;
} replace_params;

// Whether the shapes agree in everything but the frames.
static bool replace_fits(const nino_array *a, const nino_array *b)
{
    bool fits = a->shape.rank == 5 && b->shape.rank == 5;
    for (int i = 0; fits && i < 5; i++)
        fits = i == 1 || a->shape.dim[i] == b->shape.dim[i];
    return fits;
}

static nino_status replace_run(nino_run *r, nino_error *err)
{
    const nino_latent *to = nino_in_latent(r, 0), *from = nino_in_latent(r, 1);
    int64_t at = ((const replace_params *) r->params)->index;
    r->out[0] = NULL;
    if (!from) {
        r->out[0] = nino_value_ref(r->in[0]);
        return NINO_OK;
    }
    if (!replace_fits(to->samples, from->samples))
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", "source",
                              "it is no clip of the destination's size");
    const int64_t n = to->samples->shape.dim[1], len = from->samples->shape.dim[1];
    at += at < 0 ? n : 0;
    if (at < 0 || at + len > n) {
        nino_logf(r->log, NINO_LOG_WARN,
                  "%s %s: %lld frames do not fit behind frame %lld of %lld; nothing is replaced",
                  r->node_id, r->def->key, (long long) len, (long long) at, (long long) n);
        r->out[0] = nino_value_ref(r->in[0]);
        return NINO_OK;
    }
    nino_array *out = nino_picture_copy(to->samples, r->def->key, err);
    const size_t batches = (size_t) to->samples->shape.dim[0];
    const size_t frame = to->samples->bytes / batches / (size_t) n;
    for (size_t b = 0; out && b < batches; b++)
        memcpy((char *) out->data + (b * (size_t) n + (size_t) at) * frame,
               (const char *) from->samples->data + b * (size_t) len * frame, (size_t) len * frame);
    return nino_out_latent_like(r, 0, to, out, err);
}

NINO_NODE(replace_frames, "ReplaceVideoLatentFrames", "Replace Video Latent Frames",
          "model/latent/batch", "Puts frames of a clip in the place of those of another",
          NINO_INPUTS(NINO_PORT(destination, LATENT), NINO_PORT(source, LATENT, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(replace_params,
                      NINO_P_INT(replace_params, index, 0, -16384, 16384, 1, .label = "From",
                                 .help = "First latent frame; negative: counted from the end")),
          NINO_RUN(replace_run));
