// Weight tables of resampling. Definitions: torch.nn.functional.interpolate with
// align_corners=False for nearest-exact, bilinear, bicubic and area; PIL Resample.c for Lanczos.
// (torch computes positions in single precision, differently by shape: up to 2e-5 apart from here.)
#include "core/op/resample.h"

#include "core/base/error.h"

#include <math.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846;

// Half width of the Lanczos kernel in input pixels: it widens when the image shrinks.
static double lanczos_support(int64_t in, int64_t out)
{
    return 3.0 * fmax(1.0, (double) in / (double) out);
}

int nino_resample_taps(nino_filter f, int64_t in, int64_t out)
{
    int64_t taps = 1;
    switch (f) {
    case NINO_FILTER_BILINEAR: taps = 2; break;
    case NINO_FILTER_BICUBIC: taps = 4; break;
    case NINO_FILTER_AREA: taps = (in + out - 1) / out + (in % out != 0); break;
    case NINO_FILTER_LANCZOS: taps = (int64_t) ceil(lanczos_support(in, out)) * 2 + 1; break;
    default: break;
    }
    return (int) (taps < in ? taps : in);
}

static double sinc(double x) { return x == 0 ? 1 : sin(PI * x) / (PI * x); }
static double lanczos(double x) { return fabs(x) < 3 ? sinc(x) * sinc(x / 3) : 0; }

// Keys' cubic with a = -0.75.
static double resample_table_cubic(double x)
{
    const double a = -0.75;
    x = fabs(x);
    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static int64_t clamp(int64_t v, int64_t lo, int64_t hi) { return v < lo ? lo : v > hi ? hi : v; }

// Inputs `first` .. `first + n - 1` of one output and their weights. n is at most the unclamped
// number of taps; indices outside the input stand for its border (torch) and are folded onto it.
typedef struct window {
    int64_t first;
    int n;
} window;

static window resample_table_place(nino_filter f, int64_t in, int64_t out, int64_t i)
{
    const double scale = (double) in / (double) out, centre = ((double) i + 0.5) * scale;
    window w = { 0, 1 };
    switch (f) {
    case NINO_FILTER_BILINEAR:
        w.first = (int64_t) floor(fmax(centre - 0.5, 0));
        w.n = 2;
        break;
    case NINO_FILTER_BICUBIC:
        w.first = (int64_t) floor(centre - 0.5) - 1;
        w.n = 4;
        break;
    case NINO_FILTER_AREA:
        w.first = i * in / out;
        w.n = (int) (((i + 1) * in + out - 1) / out - w.first);
        break;
    case NINO_FILTER_LANCZOS: {
        const double support = lanczos_support(in, out);
        const int64_t end = clamp((int64_t) (centre + support + 0.5), 0, in);
        w.first = clamp((int64_t) (centre - support + 0.5), 0, in);
        w.n = (int) (end - w.first);
        break;
    }
    default: // torch computes nearest-exact in single precision
        w.first = (int64_t) floorf(((float) i + 0.5f) * ((float) in / (float) out));
        break;
    }
    return w;
}

static double resample_table_weigh(nino_filter f, int64_t in, int64_t out, int64_t i, int64_t x,
                                   const window *w)
{
    const double scale = (double) in / (double) out, centre = ((double) i + 0.5) * scale;
    switch (f) {
    case NINO_FILTER_BILINEAR: {
        const double t = fmax(centre - 0.5, 0) - (double) w->first;
        return x == w->first ? 1 - t : t;
    }
    case NINO_FILTER_BICUBIC: return resample_table_cubic((double) x + 0.5 - centre);
    case NINO_FILTER_AREA: return 1.0 / w->n;
    case NINO_FILTER_LANCZOS: return lanczos(((double) x + 0.5 - centre) / fmax(scale, 1));
    default: return 1;
    }
}

void nino_resample_fill(nino_filter f, int64_t in, int64_t out, int32_t *start, float *weight)
{
    const int taps = nino_resample_taps(f, in, out);
    for (int64_t i = 0; i < out; i++) {
        const window w = resample_table_place(f, in, out, i);
        float *to = weight + i * taps;
        double sum = 0;
        start[i] = (int32_t) clamp(w.first, 0, in - taps);
        for (int t = 0; t < taps; t++)
            to[t] = 0;
        for (int k = 0; k < w.n; k++)
            sum += resample_table_weigh(f, in, out, i, w.first + k, &w);
        for (int k = 0; k < w.n; k++) {
            const int64_t x = clamp(w.first + k, 0, in - 1);
            to[x - start[i]] +=
                (float) (resample_table_weigh(f, in, out, i, w.first + k, &w) / sum);
        }
    }
}

nino_status nino_resample_make(nino_filter f, int64_t in, int64_t out, nino_resample_axis *axis,
                               nino_error *err)
{
    const int taps = nino_resample_taps(f, in, out);
    *axis = (nino_resample_axis){ .in = (int) in, .out = (int) out, .taps = taps };
    axis->start = calloc((size_t) out, sizeof(*axis->start));
    axis->weight = calloc((size_t) out * (size_t) taps, sizeof(*axis->weight));
    if (!axis->start || !axis->weight) {
        nino_resample_release(axis);
        return nino_fail(err, NINO_ERR_NOMEM, "resample", "no memory for the tables");
    }
    nino_resample_fill(f, in, out, axis->start, axis->weight);
    return NINO_OK;
}

void nino_resample_release(nino_resample_axis *axis)
{
    free(axis->start);
    free(axis->weight);
    *axis = (nino_resample_axis){ 0 };
}
