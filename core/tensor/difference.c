// Differences of arrays.
#include "core/tensor/difference.h"

#include <math.h>
#include <string.h>

nino_difference nino_array_difference(const nino_array *x, const nino_array *y)
{
    nino_difference d = { .is_equal = !memcmp(x->data, y->data, x->bytes) };
    double power = 0, sum = 0, least = INFINITY, largest = -INFINITY;
    const int64_t n = nino_shape_count(&x->shape);
    for (int64_t i = 0; i < n; i++) {
        const double u = (double) nino_array_f32(x)[i], v = (double) nino_array_f32(y)[i] - u;
        sum += v * v;
        power += u * u;
        least = fmin(least, u);
        largest = fmax(largest, u);
        d.most = fmax(d.most, fabs(v));
    }
    const double range = largest - least;
    d.nmse = power > 0 ? sum / power : sum;
    d.psnr = sum > 0 ? 10 * log10(range * range * (double) n / sum) : INFINITY;
    return d;
}
