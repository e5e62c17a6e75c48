// Reference normalisations: group, layer and root mean square.
#include "core/op/ref/ref.h"

#include <math.h>

// Of p positions of c channels, those of one group: its `per` ones from x on.
static void group_moments(const float *x, int64_t p, int64_t c, int64_t per, double *mean,
                          double *variance)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < p; i++)
        for (int64_t k = 0; k < per; k++)
            sum += x[i * c + k];
    *mean = sum / (double) (p * per);
    for (int64_t i = 0; i < p; i++)
        for (int64_t k = 0; k < per; k++)
            squares += (x[i * c + k] - *mean) * (x[i * c + k] - *mean);
    *variance = squares / (double) (p * per);
}

nino_status nino_ref_group_norm(const nino_ref_args *a, nino_error *err)
{
    const nino_shape *s = &a->d->src[0];
    const int64_t n = s->dim[0], c = s->dim[s->rank - 1], p = nino_shape_count(s) / (n * c);
    const int64_t groups = a->d->attr.groups, per = c / groups;
    (void) err;
    for (int64_t b = 0; b < n; b++)
        for (int64_t g = 0; g < groups; g++) {
            const float *x = a->x[0] + b * p * c + g * per;
            const float *given = a->d->n_src > 1 ? a->x[1] + (b * groups + g) * 3 : NULL;
            float *y = a->y + b * p * c + g * per;
            double mean = 0, var = 0;
            if (given) {
                mean = (double) given[0] + (double) given[1];
                var = given[2];
            } else {
                group_moments(x, p, c, per, &mean, &var);
            }
            const double r = 1 / sqrt(var + a->d->attr.eps);
            for (int64_t i = 0; i < p; i++)
                for (int64_t k = 0; k < per; k++) {
                    const double v =
                        (x[i * c + k] - mean) * r * a->w[g * per + k] + a->b[g * per + k];
                    y[i * c + k] = (float) nino_ref_activate(a->d->attr.act, v);
                }
        }
    return NINO_OK;
}

nino_status nino_ref_group_stat(const nino_ref_args *a, nino_error *err)
{
    const nino_shape *s = &a->d->src[0];
    const int64_t n = s->dim[0], c = s->dim[s->rank - 1], p = nino_shape_count(s) / (n * c);
    const int64_t groups = a->d->attr.groups, per = c / groups;
    (void) err;
    for (int64_t i = 0; i < n * groups; i++) {
        float *y = a->y + i * 3;
        double mean, var;
        group_moments(a->x[0] + i / groups * p * c + i % groups * per, p, c, per, &mean, &var);
        y[0] = (float) mean;
        y[1] = (float) (mean - y[0]);
        y[2] = (float) var;
    }
    return NINO_OK;
}

nino_status nino_ref_layer_norm(const nino_ref_args *a, nino_error *err)
{
    const nino_shape *s = &a->d->src[0];
    const int64_t c = s->dim[s->rank - 1], rows = nino_shape_count(s) / c;
    nino_op_rows r = { 0 };
    (void) err;
    if (a->d->n_src == 3)
        nino_op_broadcast(s, &a->d->src[1], &r);
    for (int64_t i = 0; i < rows; i++) {
        const float *x = a->x[0] + i * c;
        const int64_t at = nino_ref_row(&r, i) * c;
        double mean = 0, var = 0;
        for (int64_t k = 0; k < c; k++)
            mean += x[k];
        mean /= (double) c;
        for (int64_t k = 0; k < c; k++)
            var += (x[k] - mean) * (x[k] - mean);
        const double f = 1 / sqrt(var / (double) c + a->d->attr.eps);
        for (int64_t k = 0; k < c; k++) {
            double v = (x[k] - mean) * f * (a->w ? a->w[k] : 1) + (a->b ? a->b[k] : 0);
            if (a->d->n_src == 3)
                v = v * (1.0 + a->x[1][at + k]) + a->x[2][at + k];
            a->y[i * c + k] = (float) v;
        }
    }
    return NINO_OK;
}

nino_status nino_ref_rms_norm(const nino_ref_args *a, nino_error *err)
{
    const nino_shape *s = &a->d->src[0];
    const int64_t c = s->dim[s->rank - 1] / a->d->attr.groups, n = nino_shape_count(s) / c;
    (void) err;
    for (int64_t i = 0; i < n; i++) {
        const float *x = a->x[0] + i * c;
        double square = 0;
        for (int64_t k = 0; k < c; k++)
            square += (double) x[k] * x[k];
        const double f = 1 / sqrt(square / (double) c + a->d->attr.eps);
        for (int64_t k = 0; k < c; k++)
            a->y[i * c + k] =
                (float) nino_ref_activate(a->d->attr.act, x[k] * f * (a->w ? a->w[k] : 1));
    }
    return NINO_OK;
}
