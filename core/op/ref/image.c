// Reference image ops: resampling, tile blending, conversion to bytes.
#include "core/op/ref/ref.h"

#include "core/op/resample.h"

#include <stdlib.h>

// [H,W,C] -> [H,w,C] along the tables of `ax`, into doubles.
static void pass_x(const nino_resample_axis *ax, const float *x, int64_t h, int64_t c, double *out)
{
    for (int64_t y = 0; y < h; y++)
        for (int64_t i = 0; i < ax->out; i++)
            for (int64_t k = 0; k < c; k++) {
                double sum = 0;
                for (int t = 0; t < ax->taps; t++)
                    sum += (double) ax->weight[i * ax->taps + t] *
                           x[(y * ax->in + ax->start[i] + t) * c + k];
                out[(y * ax->out + i) * c + k] = sum;
            }
}

// [H,row] -> [h,row]
static void pass_y(const nino_resample_axis *ay, const double *x, int64_t row, float *out)
{
    for (int64_t i = 0; i < ay->out; i++)
        for (int64_t k = 0; k < row; k++) {
            double sum = 0;
            for (int t = 0; t < ay->taps; t++)
                sum += (double) ay->weight[i * ay->taps + t] * x[(ay->start[i] + t) * row + k];
            out[i * row + k] = (float) sum;
        }
}

nino_status nino_ref_resample(const nino_ref_args *a, nino_error *err)
{
    const nino_shape *s = &a->d->src[0], *d = &a->d->dst;
    const int64_t h = s->dim[1], w = s->dim[2], c = s->dim[3], oh = d->dim[1], ow = d->dim[2];
    nino_resample_axis ax = { 0 }, ay = { 0 };
    double *half = malloc((size_t) (h * ow * c) * sizeof(*half));
    if (!half)
        return nino_ref_nomem(err);
    nino_status st = nino_resample_make(a->d->attr.filter, w, ow, &ax, err);
    if (!st)
        st = nino_resample_make(a->d->attr.filter, h, oh, &ay, err);
    for (int64_t b = 0; !st && b < s->dim[0]; b++) {
        pass_x(&ax, a->x[0] + b * h * w * c, h, c, half);
        pass_y(&ay, half, ow * c, a->y + b * oh * ow * c);
    }
    nino_resample_release(&ax);
    nino_resample_release(&ay);
    free(half);
    return st;
}

// Weight of position i of n along one axis.
static double image_ramp(int64_t i, int64_t n, int feather, bool at_start, bool at_end)
{
    double m = 1;
    if (at_start && i < feather)
        m *= (double) (i + 1) / feather;
    if (at_end && n - 1 - i < feather)
        m *= (double) (n - i) / feather;
    return m;
}

nino_status nino_ref_blend(const nino_ref_args *a, nino_error *err)
{
    const nino_op_attr *at = &a->d->attr;
    const nino_shape *t = &a->d->src[1];
    const int64_t h = t->dim[1], w = t->dim[2], c = t->dim[3], width = a->d->dst.dim[1];
    (void) err;
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            const double m = image_ramp(x, w, at->feather_x, at->sides & 1, at->sides & 4) *
                             image_ramp(y, h, at->feather_y, at->sides & 2, at->sides & 8);
            float *to = a->y + ((at->y0 + y) * width + at->x0 + x) * (c + 1);
            for (int64_t k = 0; k < c; k++)
                to[k] = (float) (to[k] + m * a->x[1][(y * w + x) * c + k]);
            to[c] = (float) (to[c] + m);
        }
    return NINO_OK;
}

nino_status nino_ref_blend_div(const nino_ref_args *a, nino_error *err)
{
    const int64_t c = a->d->dst.dim[3], n = nino_shape_count(&a->d->dst) / c;
    (void) err;
    for (int64_t p = 0; p < n; p++) {
        const float *x = a->x[0] + p * (c + 1);
        for (int64_t k = 0; k < c; k++)
            a->y[p * c + k] = x[c] != 0 ? x[k] / x[c] : 0;
    }
    return NINO_OK;
}

nino_status nino_ref_to_rgb8(const nino_ref_args *a, nino_error *err)
{
    const int64_t c = a->d->src[0].dim[3], n = nino_shape_count(&a->d->src[0]) / c;
    (void) err;
    for (int64_t p = 0; p < n; p++)
        for (int64_t k = 0; k < 3; k++) {
            const float v = 255.0f * a->x[0][p * c + k];
            a->y[p * 3 + k] = v >= 255 ? 255 : v > 0 ? (float) (int) v : 0;
        }
    return NINO_OK;
}
