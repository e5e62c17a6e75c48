// Host arithmetic on what comes with conditioning: masks and latents as small pictures, numbers as
// waves.
// Definitions: torch.nn.functional.interpolate(mode="bilinear", align_corners=False); ComfyUI's
// comfy/utils.py common_upscale(crop="center") and resize_to_batch_size.
#include "core/sample/guide/guide_priv.h"

#include <math.h>
#include <string.h>

#include "core/base/error.h"
#include "core/op/resample.h"

// The part of an axis that remains when a picture is cut to another aspect ratio.
typedef struct window {
    int64_t at, n;
} window;

static void planes_cut(int64_t h, int64_t w, int64_t new_h, int64_t new_w, window *y, window *x)
{
    const double old_aspect = (double) w / (double) h, aspect = (double) new_w / (double) new_h;
    *y = (window){ 0, h };
    *x = (window){ 0, w };
    if (old_aspect > aspect)
        x->at = (int64_t) rint(((double) w - (double) w * (aspect / old_aspect)) / 2);
    else if (old_aspect < aspect)
        y->at = (int64_t) rint(((double) h - (double) h * (old_aspect / aspect)) / 2);
    x->n -= 2 * x->at;
    y->n -= 2 * y->at;
}

static void scale_plane(const float *src, int64_t row, int64_t c, const nino_resample_axis *y,
                        const nino_resample_axis *x, float *dst)
{
    for (int i = 0; i < y->out; i++)
        for (int j = 0; j < x->out; j++)
            for (int64_t k = 0; k < c; k++) {
                float sum = 0;
                for (int a = 0; a < y->taps; a++) {
                    const float *line = src + (y->start[i] + a) * row + k;
                    float part = 0;
                    for (int b = 0; b < x->taps; b++)
                        part += x->weight[j * x->taps + b] * line[(x->start[j] + b) * c];
                    sum += y->weight[i * y->taps + a] * part;
                }
                *dst++ = sum;
            }
}

nino_array *nino_planes_scale(const nino_array *a, int64_t h, int64_t w, nino_filter f, bool center,
                              nino_error *err)
{
    const int64_t n = a->shape.dim[0], c = a->shape.dim[3], row = a->shape.dim[2] * c;
    window y = { 0, a->shape.dim[1] }, x = { 0, a->shape.dim[2] };
    nino_resample_axis ty = { 0 }, tx = { 0 };
    nino_array *out = NULL;
    if (center)
        planes_cut(y.n, x.n, h, w, &y, &x);
    if (y.n == h && x.n == w && y.n == a->shape.dim[1] && x.n == a->shape.dim[2])
        return nino_array_ref((nino_array *) a);
    if (y.n < 1 || x.n < 1) {
        nino_fail_kind(err, NINO_ERR_RANGE, "shape", "", "nothing of a picture is left to scale");
        return NULL;
    }
    if (nino_resample_make(f, y.n, h, &ty, err) || nino_resample_make(f, x.n, w, &tx, err))
        goto end;
    if (!(out = nino_array_create(NINO_F32, NINO_SHAPE(n, h, w, c)))) {
        nino_fail(err, NINO_ERR_NOMEM, "", "no memory to scale a mask or latent");
        goto end;
    }
    for (int64_t i = 0; i < n; i++)
        scale_plane(nino_array_f32(a) + (i * a->shape.dim[1] + y.at) * row + x.at * c, row, c, &ty,
                    &tx, nino_array_f32(out) + i * h * w * c);
end:
    nino_resample_release(&ty);
    nino_resample_release(&tx);
    return out;
}

// torch multiplies in floats.
static int64_t first_at(const window *w, int64_t i, int64_t n)
{
    const int64_t at = (int64_t) floorf((float) i * ((float) w->n / (float) n));
    return w->at + (at < w->n ? at : w->n - 1);
}

nino_array *nino_planes_first(const nino_array *a, int64_t h, int64_t w, nino_error *err)
{
    const int64_t *d = a->shape.dim, c = d[3];
    window y, x;
    planes_cut(d[1], d[2], h, w, &y, &x);
    if (y.n < 1 || x.n < 1) {
        nino_fail_kind(err, NINO_ERR_RANGE, "shape", "", "nothing of a picture is left to scale");
        return NULL;
    }
    nino_array *out = nino_array_create(NINO_F32, NINO_SHAPE(d[0], h, w, c));
    if (!out) {
        nino_fail(err, NINO_ERR_NOMEM, "", "no memory to scale a mask or latent");
        return NULL;
    }
    float *to = nino_array_f32(out);
    for (int64_t i = 0; i < d[0] * h; i++)
        for (int64_t j = 0; j < w; j++, to += c) {
            const int64_t row = i / h * d[1] + first_at(&y, i % h, h);
            memcpy(to, nino_array_f32(a) + (row * d[2] + first_at(&x, j, w)) * c,
                   (size_t) c * sizeof(*to));
        }
    return out;
}

nino_array *nino_planes_pick(const nino_array *a, int64_t n, nino_error *err)
{
    const int64_t had = a->shape.dim[0];
    if (had == n)
        return nino_array_ref((nino_array *) a);
    nino_shape shape = a->shape;
    shape.dim[0] = n;
    nino_array *out = nino_array_create(a->dtype, shape);
    if (!out) {
        nino_fail(err, NINO_ERR_NOMEM, "", "no memory for a batch of masks or latents");
        return NULL;
    }
    const size_t bytes = a->bytes / (size_t) had;
    for (int64_t i = 0; i < n; i++) {
        double from = 0; // where in the old batch
        if (n > 1 && n < had)
            from = rint((double) i * ((double) (had - 1) / (double) (n - 1)));
        else if (n > had)
            from = floor(((double) i + 0.5) * ((double) had / (double) n));
        const size_t k = (size_t) fmin(from, (double) (had - 1));
        memcpy((char *) out->data + (size_t) i * bytes, (const char *) a->data + k * bytes, bytes);
    }
    return out;
}

nino_array *nino_planes_to_frames(const nino_array *m, int64_t frames, nino_error *err)
{
    nino_resample_axis t;
    const int64_t n = m->shape.dim[0], cells = m->shape.dim[1] * m->shape.dim[2];
    if (n == frames)
        return nino_array_ref((nino_array *) m);
    if (nino_resample_make(NINO_FILTER_BILINEAR, n, frames, &t, err))
        return NULL;
    nino_array *out =
        nino_array_create(NINO_F32, NINO_SHAPE(frames, m->shape.dim[1], m->shape.dim[2]));
    for (int64_t f = 0; out && f < frames; f++)
        for (int k = 0; k < t.taps; k++)
            for (int64_t i = 0; i < cells; i++)
                nino_array_f32(out)[f * cells + i] +=
                    t.weight[f * t.taps + k] * nino_array_f32(m)[(t.start[f] + k) * cells + i];
    nino_resample_release(&t);
    return out;
}

float *nino_guide_embed(float *to, double v, int dim)
{
    const int half = dim / 2;
    for (int k = 0; k < half; k++) {
        const float freq = expf((float) (-log(10000.0) * k / half));
        to[k] = cosf((float) v * freq);
        to[k + half] = sinf((float) v * freq);
    }
    return to + dim;
}
