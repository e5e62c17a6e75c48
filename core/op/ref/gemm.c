// Reference linear and convolution: one implicit matrix product, rows of outputs at a time.
#include "core/op/ref/ref.h"

#include <stdlib.h>
#include <string.h>

// sum[n] += x[c] * w[c][n] over c
static void add_products(double *sum, const float *x, const float *w, int64_t c, int64_t n)
{
    for (int64_t k = 0; k < c; k++, w += n) {
        const double v = x[k];
        for (int64_t i = 0; i < n; i++)
            sum[i] += v * w[i];
    }
}

// v = sum + bias; v += residual; v = act(v). `at` is the offset of this row in the result.
static void finish_row(const nino_ref_args *a, const double *sum, int64_t at, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double v = sum[i] + (a->b ? a->b[i] : 0);
        if (a->d->has_residual)
            v += a->x[1][at + i];
        a->y[at + i] = (float) nino_ref_activate(a->d->attr.act, v);
    }
}

nino_status nino_ref_linear(const nino_ref_args *a, nino_error *err)
{
    const int64_t n = a->d->weight->n, c = a->d->weight->c;
    const int64_t rows = nino_shape_count(&a->d->src[0]) / c;
    double *sum = malloc((size_t) n * sizeof(*sum));
    if (!sum)
        return nino_ref_nomem(err);
    nino_status st = NINO_OK;
    for (int64_t r = 0; r < rows && !(st = nino_ref_cancelled(a, err)); r++) {
        memset(sum, 0, (size_t) n * sizeof(*sum));
        add_products(sum, a->x[0] + r * c, a->w, c, n);
        finish_row(a, sum, r * n, n);
    }
    free(sum);
    return st;
}

// The products of one output pixel: image b, row oy, column ox.
static void conv_pixel(const nino_ref_args *a, int64_t b, int64_t oy, int64_t ox, double *sum)
{
    const nino_op_attr *at = &a->d->attr;
    const int64_t h = a->d->src[0].dim[1], w = a->d->src[0].dim[2];
    const int64_t n = a->d->weight->n, c = a->d->weight->c;
    const int64_t enlarge = at->upsample2x ? 2 : 1, pad = nino_op_pad_begin(at);
    for (int t = 0; t < at->kernel * at->kernel; t++) {
        const int64_t y = oy * at->stride + t / at->kernel - pad;
        const int64_t x = ox * at->stride + t % at->kernel - pad;
        if (y < 0 || x < 0 || y >= h * enlarge || x >= w * enlarge)
            continue; // zero padding
        const int64_t pixel = (b * h + y / enlarge) * w + x / enlarge;
        add_products(sum, a->x[0] + pixel * c, a->w + t * c * n, c, n);
    }
}

// Every row of the result from the products of its pixel.
static nino_status each_pixel(const nino_ref_args *a,
                              void (*pixel)(const nino_ref_args *a, int64_t b, int64_t oy,
                                            int64_t ox, double *sum),
                              nino_error *err)
{
    const nino_shape *o = &a->d->dst;
    const int64_t n = o->dim[3];
    double *sum = malloc((size_t) n * sizeof(*sum));
    if (!sum)
        return nino_ref_nomem(err);
    const int64_t pixels = o->dim[0] * o->dim[1] * o->dim[2];
    nino_status st = NINO_OK;
    for (int64_t i = 0; i < pixels && !(st = nino_ref_cancelled(a, err)); i++) {
        const int64_t row = i / o->dim[2];
        memset(sum, 0, (size_t) n * sizeof(*sum));
        pixel(a, row / o->dim[1], row % o->dim[1], i % o->dim[2], sum);
        finish_row(a, sum, i * n, n);
    }
    free(sum);
    return st;
}

nino_status nino_ref_conv2d(const nino_ref_args *a, nino_error *err)
{
    return each_pixel(a, conv_pixel, err);
}

// The products of pixel (oy, ox) of result frame t.
static void conv3d_pixel(const nino_ref_args *a, int64_t t, int64_t oy, int64_t ox, double *sum)
{
    const nino_op_attr *at = &a->d->attr;
    const int64_t h = a->d->dst.dim[1], w = a->d->dst.dim[2];
    const int64_t n = a->d->weight->n, c = a->d->weight->c;
    const int history = nino_op_history(a->d), area = at->kernel * at->kernel;
    const int64_t earlier = history ? a->d->src[history].dim[0] : 0;
    for (int k = 0; k < 3 * area; k++) {
        const int64_t frame = t * at->stride_t + k / area - at->pad_t;
        const int64_t y = oy + k % area / at->kernel - at->kernel / 2;
        const int64_t x = ox + k % at->kernel - at->kernel / 2;
        if (frame < 0 || y < 0 || x < 0 || y >= h || x >= w)
            continue; // zero padding
        const float *from = frame < earlier ? a->x[history] + frame * h * w * c
                                            : a->x[0] + (frame - earlier) * h * w * c;
        add_products(sum, from + (y * w + x) * c, a->w + k * c * n, c, n);
    }
}

nino_status nino_ref_conv3d(const nino_ref_args *a, nino_error *err)
{
    return each_pixel(a, conv3d_pixel, err);
}
