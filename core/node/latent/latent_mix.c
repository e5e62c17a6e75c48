// Arithmetic on latents, and their batches. Behaviour of ComfyUI's nodes_latent.py and nodes.py
// (LatentBlend, LatentFromBatch, RepeatLatentBatch).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/planar.h"

static const nino_port two_in[] = { NINO_PORT(samples1, LATENT),
                                    NINO_PORT(samples2, LATENT),
                                    { 0 } };

// b at a's size; *out is a new reference. Frames and channels cannot be fitted.
static nino_status sized_like(nino_run *r, const nino_array *a, nino_array *b,
                              nino_scale_method method, nino_array **out, nino_error *err)
{
    const nino_picture pa = nino_picture_of(a), pb = nino_picture_of(b);
    char da[96], db[96];
    nino_shape_print(da, sizeof(da), &a->shape);
    nino_shape_print(db, sizeof(db), &b->shape);
    if (a->shape.rank != b->shape.rank || pa.c != pb.c || pa.t != pb.t)
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", "samples2",
                              "a latent of %s does not go with one of %s", db, da);
    if (pa.h != pb.h || pa.w != pb.w)
        return nino_rescale(r, b, pa.w, pa.h, method, true, out, err);
    *out = nino_array_ref(b);
    return NINO_OK;
}

// ---- LatentAdd, LatentSubtract, LatentMultiply -----------------------------------------------

// a + sign b; b is scaled and repeated to a.
static nino_status latent_mix_add(nino_run *r, float sign, nino_error *err)
{
    const nino_latent *to = nino_in_latent(r, 0);
    const nino_array *a = to->samples;
    nino_array *b = NULL;
    const nino_status st =
        sized_like(r, a, nino_in_latent(r, 1)->samples, NINO_SCALE_BILINEAR, &b, err);
    if (st)
        return st;
    nino_array *out = nino_picture_copy(a, r->def->key, err);
    const int64_t n = a->shape.dim[0], cells = nino_shape_count(&a->shape) / n;
    for (int64_t i = 0; out && i < n; i++) {
        const float *from = nino_array_f32(b) + i % b->shape.dim[0] * cells;
        for (int64_t k = 0; k < cells; k++)
            nino_array_f32(out)[i * cells + k] += sign * from[k];
    }
    nino_array_unref(&b);
    return nino_out_latent_like(r, 0, to, out, err);
}

static nino_status latent_mix_add_run(nino_run *r, nino_error *err)
{
    return latent_mix_add(r, 1.0f, err);
}
static nino_status latent_mix_subtract_run(nino_run *r, nino_error *err)
{
    return latent_mix_add(r, -1.0f, err);
}

NINO_NODE(latent_add, "LatentAdd", "LatentAdd", "latent/advanced",
          "The sum of two latents; the second is scaled and repeated to the first",
          .inputs = two_in, NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)), NINO_RUN(latent_mix_add_run));
NINO_NODE(latent_subtract, "LatentSubtract", "LatentSubtract", "latent/advanced",
          "The difference of two latents; the second is scaled and repeated to the first",
          .inputs = two_in, NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_RUN(latent_mix_subtract_run));

typedef struct multiply_params {
    double multiplier;
} multiply_params;

static nino_status multiply_run(nino_run *r, nino_error *err)
{
    const float f = (float) ((const multiply_params *) r->params)->multiplier;
    const nino_latent *in = nino_in_latent(r, 0);
    nino_array *out = nino_picture_copy(in->samples, r->def->key, err);
    const int64_t n = nino_shape_count(&in->samples->shape);
    for (int64_t i = 0; out && i < n; i++)
        nino_array_f32(out)[i] *= f;
    return nino_out_latent_like(r, 0, in, out, err);
}

NINO_NODE(latent_multiply, "LatentMultiply", "LatentMultiply", "latent/advanced",
          "A latent times a number", NINO_INPUTS(NINO_PORT(samples, LATENT)),
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(multiply_params, NINO_P_FLOAT(multiply_params, multiplier, 1.0, -10.0, 10.0,
                                                    0.01, .label = "Factor",
                                                    .help = "What every number is multiplied by")),
          NINO_RUN(multiply_run));

// ---- LatentInterpolate -----------------------------------------------------------------------

static float length(const float *v, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double) v[i] * (double) v[i];
    return (float) sqrt(sum);
}

// Directions and lengths of a cell's vector are mixed apart. A vector of zeros has no direction.
static void interpolate(const float *a, const float *b, float *out, int64_t c, float ratio,
                        float rest)
{
    const float la = length(a, c), lb = length(b, c);
    for (int64_t k = 0; k < c; k++)
        out[k] = (la > 0 ? a[k] / la : 0) * ratio + (lb > 0 ? b[k] / lb : 0) * rest;
    const float lt = length(out, c), want = la * ratio + lb * rest;
    for (int64_t k = 0; k < c; k++)
        out[k] = lt > 0 ? out[k] / lt * want : 0;
}

typedef struct interpolate_params {
    double ratio;
} interpolate_params;

static nino_status interpolate_run(nino_run *r, nino_error *err)
{
    const double ratio = ((const interpolate_params *) r->params)->ratio;
    const nino_latent *to = nino_in_latent(r, 0);
    const nino_picture a = nino_picture_of(to->samples);
    nino_array *b = NULL;
    const nino_status st =
        sized_like(r, to->samples, nino_in_latent(r, 1)->samples, NINO_SCALE_BILINEAR, &b, err);
    if (st)
        return st;
    nino_array *out = nino_node_array(NINO_F32, to->samples->shape, r->def->key, err);
    const int64_t cells = a.t * a.h * a.w;
    for (int64_t i = 0; out && i < a.n; i++) {
        const float *from = nino_array_f32(b) + i % b->shape.dim[0] * cells * a.c;
        for (int64_t k = 0; k < cells; k++)
            interpolate(a.v + (i * cells + k) * a.c, from + k * a.c,
                        nino_array_f32(out) + (i * cells + k) * a.c, a.c, (float) ratio,
                        (float) (1.0 - ratio));
    }
    nino_array_unref(&b);
    return nino_out_latent_like(r, 0, to, out, err);
}

NINO_NODE(latent_interpolate, "LatentInterpolate", "LatentInterpolate", "latent/advanced",
          "A latent between two, without the loss of contrast that averaging brings",
          .inputs = two_in, NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(interpolate_params,
                      NINO_P_FLOAT(interpolate_params, ratio, 1.0, 0.0, 1.0, 0.01, .label = "Ratio",
                                   .help = "1: only samples1, 0: only samples2")),
          NINO_RUN(interpolate_run));

// ---- LatentBlend -----------------------------------------------------------------------------

typedef struct blend_params {
    double blend_factor;
} blend_params;

static nino_status latent_mix_blend_run(nino_run *r, nino_error *err)
{
    const double factor = ((const blend_params *) r->params)->blend_factor;
    const float fa = (float) factor, fb = (float) (1.0 - factor);
    const nino_latent *to = nino_in_latent(r, 0);
    const nino_array *a = to->samples;
    nino_array *b = NULL;
    nino_status st = sized_like(r, a, nino_in_latent(r, 1)->samples, NINO_SCALE_BICUBIC, &b, err);
    if (st)
        return st;
    const int64_t na = a->shape.dim[0], nb = b->shape.dim[0], n = na > nb ? na : nb;
    if (na != 1 && nb != 1 && (st = nino_batch_agrees(nb, na, "samples2", err))) {
        nino_array_unref(&b);
        return st;
    }
    nino_array *out = nino_picture_batch(a, 0, n, r->def->key, err);
    const int64_t cells = nino_shape_count(&a->shape) / na;
    for (int64_t i = 0; out && i < n; i++) {
        const float *from = nino_array_f32(b) + i % nb * cells;
        float *v = nino_array_f32(out) + i * cells;
        for (int64_t k = 0; k < cells; k++)
            v[k] = v[k] * fa + from[k] * fb;
    }
    nino_array_unref(&b);
    return nino_out_latent_like(r, 0, to, out, err);
}

NINO_NODE(latent_blend, "LatentBlend", "Latent Blend", "_for_testing",
          "The weighted mean of two latents; the second is scaled to the first", .inputs = two_in,
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(blend_params, NINO_P_FLOAT(blend_params, blend_factor, 0.5, 0.0, 1.0, 0.01,
                                                 .label = "Factor",
                                                 .help = "1: only samples1, 0: only samples2")),
          NINO_RUN(latent_mix_blend_run));

// ---- LatentBatch -----------------------------------------------------------------------------

static int64_t index_of(const nino_latent *l, int64_t i)
{
    return l->batch_index ? l->batch_index[i] : i;
}

static int64_t *new_index(int64_t n, const char *what, nino_error *err)
{
    int64_t *index = malloc((size_t) n * sizeof(*index));
    if (!index)
        nino_fail(err, NINO_ERR_NOMEM, what, "out of memory");
    return index;
}

static nino_status latent_mix_batch_run(nino_run *r, nino_error *err)
{
    const nino_latent *a = nino_in_latent(r, 0), *b = nino_in_latent(r, 1);
    const int64_t na = a->samples->shape.dim[0], nb = b->samples->shape.dim[0];
    nino_array *fitted = NULL;
    nino_latent l = { 0 };
    const nino_status st = sized_like(r, a->samples, b->samples, NINO_SCALE_BILINEAR, &fitted, err);
    if (st)
        return st;
    if ((l.batch_index = new_index(na + nb, r->def->key, err))) {
        for (int64_t i = 0; i < na + nb; i++)
            l.batch_index[i] = i < na ? index_of(a, i) : index_of(b, i - na);
        l.samples = nino_picture_join(a->samples, fitted, 0, r->def->key, err);
        l.noise_mask = nino_array_ref(a->noise_mask);
    }
    nino_array_unref(&fitted);
    return nino_out_latent(r, 0, l, err);
}

NINO_NODE(latent_batch, "LatentBatch", "LatentBatch", "latent/batch",
          "Puts two batches one after the other; the second is scaled to the first",
          .inputs = two_in, NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_RUN(latent_mix_batch_run));

// ---- LatentFromBatch -------------------------------------------------------------------------

typedef struct from_params {
    int64_t batch_index, length;
} from_params;

static nino_status latent_mix_from_run(nino_run *r, nino_error *err)
{
    const from_params *p = r->params;
    const nino_latent *in = nino_in_latent(r, 0);
    const int64_t n = in->samples->shape.dim[0];
    const int64_t from = p->batch_index < 0 ? p->batch_index + n : p->batch_index;
    const int64_t at = from < 0 ? 0 : from < n ? from : n - 1;
    const int64_t len = p->length < n - at ? p->length : n - at;
    nino_latent l = { 0 };
    if (in->noise_mask && in->noise_mask->shape.dim[0] == 1)
        l.noise_mask = nino_array_ref(in->noise_mask);
    else if (in->noise_mask) // one mask for each, going round
        l.noise_mask = nino_picture_batch(in->noise_mask, at, len, r->def->key, err);
    if ((!in->noise_mask || l.noise_mask) && (l.batch_index = new_index(len, r->def->key, err))) {
        for (int64_t i = 0; i < len; i++)
            l.batch_index[i] = index_of(in, at + i);
        l.samples = nino_picture_batch(in->samples, at, len, r->def->key, err);
    }
    return nino_out_latent(r, 0, l, err);
}

NINO_NODE(latent_from_batch, "LatentFromBatch", "Latent From Batch", "latent/batch",
          "Takes some latents of a batch; each keeps the noise it would have had there",
          NINO_INPUTS(NINO_PORT(samples, LATENT)), NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(from_params,
                      NINO_P_INT(from_params, batch_index, 0, -16384, 16384, 1, .label = "First",
                                 .help = "The first one that is taken; negative: from the end"),
                      NINO_P_INT(from_params, length, 1, 1, 64, 1, .label = "Count",
                                 .help = "How many are taken")),
          NINO_RUN(latent_mix_from_run));

// ---- RepeatLatentBatch -----------------------------------------------------------------------

typedef struct repeat_params {
    int64_t amount;
} repeat_params;

// Each repetition has numbers of its own, so that the noise differs.
static int64_t *repeated_index(const nino_latent *in, int64_t amount, const char *what,
                               nino_error *err)
{
    const int64_t n = in->samples->shape.dim[0];
    int64_t *index = new_index(n * amount, what, err), lo = INT64_MAX, hi = INT64_MIN;
    for (int64_t i = 0; i < n; i++) {
        lo = in->batch_index[i] < lo ? in->batch_index[i] : lo;
        hi = in->batch_index[i] > hi ? in->batch_index[i] : hi;
    }
    for (int64_t i = 0; index && i < n * amount; i++)
        index[i] = in->batch_index[i % n] + i / n * (hi - lo + 1);
    return index;
}

static nino_status latent_mix_repeat_run(nino_run *r, nino_error *err)
{
    const int64_t amount = ((const repeat_params *) r->params)->amount;
    const nino_latent *in = nino_in_latent(r, 0);
    const nino_array *mask = in->noise_mask;
    nino_latent l = { 0 };
    if (mask && mask->shape.dim[0] > 1)
        l.noise_mask = nino_picture_batch(mask, 0, mask->shape.dim[0] * amount, r->def->key, err);
    else
        l.noise_mask = nino_array_ref(in->noise_mask);
    if (in->batch_index)
        l.batch_index = repeated_index(in, amount, r->def->key, err);
    if ((!mask || l.noise_mask) && (!in->batch_index || l.batch_index))
        l.samples = nino_picture_batch(in->samples, 0, in->samples->shape.dim[0] * amount,
                                       r->def->key, err);
    return nino_out_latent(r, 0, l, err);
}

NINO_NODE(latent_repeat, "RepeatLatentBatch", "Repeat Latent Batch", "latent/batch",
          "The same latents several times, to be sampled with different noise",
          NINO_INPUTS(NINO_PORT(samples, LATENT)), NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(repeat_params,
                      NINO_P_INT(repeat_params, amount, 1, 1, 64, 1, .label = "Times",
                                 .help = "How often the batch is repeated")),
          NINO_RUN(latent_mix_repeat_run));

// ---- LatentBatchSeedBehavior -----------------------------------------------------------------

typedef struct seed_params {
    int64_t seed_behavior;
} seed_params;

static nino_status seed_run(nino_run *r, nino_error *err)
{
    const bool is_fixed = ((const seed_params *) r->params)->seed_behavior == 1;
    const nino_latent *in = nino_in_latent(r, 0);
    const int64_t n = in->samples->shape.dim[0];
    nino_latent l = { 0 };
    if (is_fixed && !(l.batch_index = new_index(n, r->def->key, err)))
        return NINO_ERR_NOMEM;
    for (int64_t i = 0; is_fixed && i < n; i++)
        l.batch_index[i] = in->batch_index ? in->batch_index[0] : 0;
    l.samples = nino_array_ref(in->samples);
    l.noise_mask = nino_array_ref(in->noise_mask);
    return nino_out_latent(r, 0, l, err);
}

NINO_NODE(latent_seed, "LatentBatchSeedBehavior", "LatentBatchSeedBehavior", "latent/advanced",
          "Whether the latents of a batch get different noise",
          NINO_INPUTS(NINO_PORT(samples, LATENT)), NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(seed_params,
                      NINO_P_ENUM(seed_params, seed_behavior, NINO_WORDS("random", "fixed"), 1,
                                  .label = "Noise",
                                  .help = "fixed: every latent of the batch gets the same noise")),
          NINO_RUN(seed_run));
