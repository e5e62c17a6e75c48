// Reference group normalisation: mean, variance, then scale, shift and activation.
#include "core/op/ref/ref.h"

#include <math.h>

nino_status nino_ref_group_norm(const nino_ref_args *a, nino_error *err)
{
    const nino_shape *s = &a->d->src[0];
    const int64_t n = s->dim[0], c = s->dim[s->rank - 1], p = nino_shape_count(s) / (n * c);
    const int64_t per = c / a->d->attr.groups;
    (void) err;
    for (int64_t b = 0; b < n; b++)
        for (int64_t g = 0; g < a->d->attr.groups; g++) {
            const float *x = a->x[0] + b * p * c + g * per;
            float *y = a->y + b * p * c + g * per;
            double mean = 0, var = 0;
            for (int64_t i = 0; i < p; i++)
                for (int64_t k = 0; k < per; k++)
                    mean += x[i * c + k];
            mean /= (double) (p * per);
            for (int64_t i = 0; i < p; i++)
                for (int64_t k = 0; k < per; k++)
                    var += (x[i * c + k] - mean) * (x[i * c + k] - mean);
            const double r = 1 / sqrt(var / (double) (p * per) + a->d->attr.eps);
            for (int64_t i = 0; i < p; i++)
                for (int64_t k = 0; k < per; k++) {
                    const double v =
                        (x[i * c + k] - mean) * r * a->w[g * per + k] + a->b[g * per + k];
                    y[i * c + k] = (float) nino_ref_activate(a->d->attr.act, v);
                }
        }
    return NINO_OK;
}
