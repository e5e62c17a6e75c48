// Reference ops that only move values.
#include "core/op/ref/ref.h"

#include <string.h>

// Product of the dimensions from..to-1.
static int64_t move_extent(const nino_shape *s, int from, int to)
{
    int64_t n = 1;
    for (int i = from; i < to; i++)
        n *= s->dim[i];
    return n;
}

nino_status nino_ref_concat(const nino_ref_args *a, nino_error *err)
{
    const int axis = a->d->attr.axis;
    const int64_t outer = move_extent(&a->d->dst, 0, axis);
    float *y = a->y;
    (void) err;
    for (int64_t o = 0; o < outer; o++)
        for (int i = 0; i < 2; i++) {
            const int64_t n = move_extent(&a->d->src[i], axis, a->d->src[i].rank);
            memcpy(y, a->x[i] + o * n, (size_t) n * sizeof(*y));
            y += n;
        }
    return NINO_OK;
}

nino_status nino_ref_slice(const nino_ref_args *a, nino_error *err)
{
    const nino_shape *s = &a->d->src[0], *d = &a->d->dst;
    const int axis = a->d->attr.axis;
    const int64_t outer = move_extent(d, 0, axis), inner = move_extent(d, axis + 1, d->rank);
    const int64_t n = d->dim[axis] * inner, step = s->dim[axis] * inner;
    (void) err;
    for (int64_t o = 0; o < outer; o++)
        memcpy(a->y + o * n, a->x[0] + o * step + a->d->attr.start * inner,
               (size_t) n * sizeof(*a->y));
    return NINO_OK;
}

nino_status nino_ref_permute(const nino_ref_args *a, nino_error *err)
{
    const nino_shape *s = &a->d->src[0], *d = &a->d->dst;
    int64_t index[NINO_MAX_RANK] = { 0 }, stride[NINO_MAX_RANK] = { 0 };
    (void) err;
    for (int i = 0; i < d->rank; i++)
        stride[i] = move_extent(s, a->d->attr.perm[i] + 1, s->rank);
    for (int64_t k = 0, n = nino_shape_count(d); k < n; k++) {
        int64_t from = 0;
        for (int i = 0; i < d->rank; i++)
            from += index[i] * stride[i];
        a->y[k] = a->x[0][from];
        for (int i = d->rank - 1; i >= 0 && ++index[i] == d->dim[i]; i--)
            index[i] = 0;
    }
    return NINO_OK;
}

nino_status nino_ref_cast(const nino_ref_args *a, nino_error *err)
{
    (void) err;
    memcpy(a->y, a->x[0], (size_t) nino_shape_count(&a->d->dst) * sizeof(*a->y));
    return NINO_OK;
}

// Value n at (t, i, j) of the enlarged result.
static float shuffled_up(const nino_ref_args *a, int64_t t, int64_t i, int64_t j, int64_t n)
{
    const int64_t *s = a->d->src[0].dim, ft = a->d->attr.fold_t, fs = a->d->attr.fold_s;
    const int64_t r = a->d->dst.dim[3] * ft * fs * fs / s[3];
    const int64_t c = (((n * ft + t % ft) * fs + i % fs) * fs + j % fs) / r;
    return a->x[0][((t / ft * s[1] + i / fs) * s[2] + j / fs) * s[3] + c];
}

static float shuffled_down(const nino_ref_args *a, int64_t t, int64_t i, int64_t j, int64_t n)
{
    const int64_t *s = a->d->src[0].dim, ft = a->d->attr.fold_t, fs = a->d->attr.fold_s;
    const int64_t g = s[3] * ft * fs * fs / a->d->dst.dim[3];
    double sum = 0;
    for (int64_t m = n * g; m < (n + 1) * g; m++) {
        const int64_t frame = t * ft + m / (fs * fs) % ft - a->d->attr.start;
        const int64_t y = i * fs + m / fs % fs, x = j * fs + m % fs;
        if (frame >= 0)
            sum += a->x[0][((frame * s[1] + y) * s[2] + x) * s[3] + m / (ft * fs * fs)];
    }
    return (float) (sum / (double) g);
}

nino_status nino_ref_shuffle(const nino_ref_args *a, nino_error *err)
{
    const int64_t *o = a->d->dst.dim, start = a->d->attr.start;
    const bool is_up = a->d->attr.is_up;
    int64_t at = 0;
    (void) err;
    for (int64_t t = 0; t < o[0]; t++)
        for (int64_t i = 0; i < o[1]; i++)
            for (int64_t j = 0; j < o[2]; j++)
                for (int64_t n = 0; n < o[3]; n++, at++) {
                    const float v =
                        is_up ? shuffled_up(a, t + start, i, j, n) : shuffled_down(a, t, i, j, n);
                    a->y[at] = v + (a->d->has_residual ? a->x[1][at] : 0);
                }
    return NINO_OK;
}
