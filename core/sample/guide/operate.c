// Operations on latents that nodes carry on LATENT_OPERATION links. Behaviour of ComfyUI 0.33.0
// comfy_extras/nodes_latent.py.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/sample/guide/guide.h"

// Lengths of the cells' vectors over channels. x [C,cells].
static void lengths(const float *x, int64_t channels, int64_t cells, float more, float *to)
{
    for (int64_t i = 0; i < cells; i++) {
        double sum = 0;
        for (int64_t c = 0; c < channels; c++)
            sum += (double) x[c * cells + i] * (double) x[c * cells + i];
        to[i] = (float) sqrt(sum) + more;
    }
}

// Reinhard's curve on the lengths, whose white point follows from their spread.
static void tonemap(float *x, double multiplier, int64_t channels, int64_t cells, float *len)
{
    double mean = 0, square = 0;
    lengths(x, channels, cells, 1e-10f, len);
    for (int64_t i = 0; i < cells; i++)
        mean += (double) len[i] / (double) cells;
    for (int64_t i = 0; i < cells; i++)
        square += ((double) len[i] - mean) * ((double) len[i] - mean);
    const double top = (sqrt(square / (double) (cells - 1)) * 5 + mean) * multiplier;
    for (int64_t i = 0; i < cells; i++) {
        const double now = (double) len[i] / top;
        const float by = (float) (now / (now + 1) * top / (double) len[i]);
        for (int64_t c = 0; c < channels; c++)
            x[c * cells + i] *= by;
    }
}

static int64_t mirrored(int64_t i, int64_t n)
{
    i = i < 0 ? -i : i;
    return i < n ? i : 2 * (n - 1) - i;
}

// The directions of the cells' vectors less their blur; lengths stay.
static void sharpen(float *x, const float *kernel, int64_t radius, int64_t channels, int64_t h,
                    int64_t w, float *len, float *unit)
{
    const int64_t side = 2 * radius + 1;
    lengths(x, channels, h * w, 1e-6f, len);
    for (int64_t c = 0; c < channels; c++, x += h * w) {
        for (int64_t i = 0; i < h * w; i++)
            unit[i] = x[i] / len[i];
        for (int64_t y = 0; y < h; y++)
            for (int64_t v = 0; v < w; v++) {
                double sum = 0;
                for (int64_t i = 0; i < side * side; i++)
                    sum +=
                        (double) kernel[i] * (double) unit[mirrored(y + i / side - radius, h) * w +
                                                           mirrored(v + i % side - radius, w)];
                x[y * w + v] = (float) sum * len[y * w + v];
            }
    }
}

static float *sharpen_kernel(const nino_patch *p)
{
    const int64_t radius = (int64_t) p->v[0], side = 2 * radius + 1;
    float *k = malloc((size_t) (side * side) * sizeof(*k));
    double sum = 0;
    for (int64_t i = 0; i < side * side && k; i++) {
        const int64_t row = i / side - radius, column = i % side - radius;
        const double y = (double) row / (double) radius, x = (double) column / (double) radius;
        k[i] = (float) exp(-(x * x + y * y) / (2 * p->v[1] * p->v[1]));
        sum += (double) k[i];
    }
    for (int64_t i = 0; i < side * side && k; i++)
        k[i] = (float) ((double) k[i] / sum * p->v[2] * -10);
    if (k)
        k[side * side / 2] += (float) (p->v[2] * 10 + 1);
    return k;
}

nino_status nino_latent_operate(const nino_patch *p, float *x, int64_t batch, int64_t channels,
                                const int64_t *axis, int n_axes, nino_error *err)
{
    int64_t cells = 1;
    for (int i = 0; i < n_axes; i++)
        cells *= axis[i];
    const bool is_sharpen = p->kind == NINO_PATCH_SHARPEN;
    if (is_sharpen && n_axes != 2)
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "shape", "LatentOperationSharpen",
                              "it sharpens pictures, not videos");
    if (is_sharpen && ((double) axis[0] <= p->v[0] || (double) axis[1] <= p->v[0]))
        return nino_fail_kind(err, NINO_ERR_RANGE, "range", "LatentOperationSharpen",
                              "a radius of %d does not fit into %lldx%lld cells", (int) p->v[0],
                              (long long) axis[1], (long long) axis[0]);
    float *len = malloc((size_t) cells * sizeof(*len));
    float *kernel = is_sharpen ? sharpen_kernel(p) : NULL;
    float *unit = is_sharpen ? malloc((size_t) cells * sizeof(*unit)) : NULL;
    const bool ok = len && (!is_sharpen || (kernel && unit));
    for (int64_t b = 0; b < batch && ok; b++, x += channels * cells)
        if (is_sharpen)
            sharpen(x, kernel, (int64_t) p->v[0], channels, axis[0], axis[1], len, unit);
        else
            tonemap(x, p->v[0], channels, cells, len);
    free(len);
    free(kernel);
    free(unit);
    return ok ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, "", "no memory for a latent operation");
}
