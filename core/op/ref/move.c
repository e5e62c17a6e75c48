// Reference ops that only move values.
#include "core/op/ref/ref.h"

#include <string.h>

// Product of the dimensions from..to-1.
static int64_t extent(const nino_shape *s, int from, int to)
{
    int64_t n = 1;
    for (int i = from; i < to; i++)
        n *= s->dim[i];
    return n;
}

nino_status nino_ref_concat(const nino_ref_args *a, nino_error *err)
{
    const int axis = a->d->attr.axis;
    const int64_t outer = extent(&a->d->dst, 0, axis);
    float *y = a->y;
    (void) err;
    for (int64_t o = 0; o < outer; o++)
        for (int i = 0; i < 2; i++) {
            const int64_t n = extent(&a->d->src[i], axis, a->d->src[i].rank);
            memcpy(y, a->x[i] + o * n, (size_t) n * sizeof(*y));
            y += n;
        }
    return NINO_OK;
}

nino_status nino_ref_slice(const nino_ref_args *a, nino_error *err)
{
    const nino_shape *s = &a->d->src[0], *d = &a->d->dst;
    const int axis = a->d->attr.axis;
    const int64_t outer = extent(d, 0, axis), inner = extent(d, axis + 1, d->rank);
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
        stride[i] = extent(s, a->d->attr.perm[i] + 1, s->rank);
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
