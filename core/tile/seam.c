// The seam meter's sums.
#include "core/tile/seam.h"

#include <math.h>

static float seam_seen(const nino_seam *m, float v)
{
    return m->is_picture ? fminf(fmaxf(v, 0), 1) : v;
}

void nino_seam_compare(nino_seam *m, const nino_array *a, const nino_array *b)
{
    if (!a || !b || !nino_shape_equal(&a->shape, &b->shape))
        return;
    const float *p = nino_array_f32(a), *q = nino_array_f32(b);
    const int64_t n = nino_shape_count(&a->shape);
    double sum = 0;
    float max = 0;
    for (int64_t i = 0; i < n; i++) {
        const float d = fabsf(seam_seen(m, p[i]) - seam_seen(m, q[i]));
        sum += (double) d;
        max = d > max ? d : max;
    }
    m->sum += sum;
    m->n += (uint64_t) n;
    m->max = (double) max > m->max ? (double) max : m->max;
    m->n_seams++;
}

// Mean |difference| between the two sides of a line, as a sum over it. step: elements between
// neighbours across the line; the line runs over n positions, stride elements apart.
static double step_at(const float *p, int64_t step, int64_t n, int64_t stride, int c)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < c; k++)
            sum += fabs((double) p[i * stride + k] - (double) p[i * stride + k - step]);
    return sum;
}

// A line between at-1 and at, along an image axis of `size` elements.
static void add_line(nino_seam *m, const float *image, int at, int size, int64_t step, int64_t n,
                     int64_t stride, int c)
{
    if (at < 2 || at + 1 >= size)
        return;
    const float *p = image + at * step;
    m->across += step_at(p, step, n, stride, c);
    m->n_across += (uint64_t) (n * c);
    m->beside += step_at(p - step, step, n, stride, c) + step_at(p + step, step, n, stride, c);
    m->n_beside += (uint64_t) (2 * n * c);
}

void nino_seam_lines(nino_seam *m, const float *image, int h, int w, int c, const nino_tile_axis *x,
                     const nino_tile_axis *y, int unit)
{
    const int64_t row = (int64_t) w * c;
    for (int i = 1; i < x->n; i++) {
        add_line(m, image, x->pos[i] * unit, w, c, h, row, c);
        add_line(m, image, (x->pos[i - 1] + x->len[i - 1]) * unit, w, c, h, row, c);
    }
    for (int i = 1; i < y->n; i++) {
        add_line(m, image, y->pos[i] * unit, h, row, w, c, c);
        add_line(m, image, (y->pos[i - 1] + y->len[i - 1]) * unit, h, row, w, c, c);
    }
}

void nino_seam_report(const nino_seam *m, uint64_t area, uint64_t computed, int factor,
                      nino_monitor *monitor, nino_seam_result *out)
{
    const uint64_t cell = (uint64_t) factor * (uint64_t) factor;
    out->mean = m->n ? 255 * m->sum / (double) m->n : 0;
    out->max = 255 * m->max;
    out->gradient =
        m->n_across ? 255 * (m->across / (double) m->n_across - m->beside / (double) m->n_beside)
                    : 0;
    out->n_seams = m->n_seams;
    out->pixels = area * cell;
    out->recomputed = (computed - area) * cell;
    nino_event e = { .kind = NINO_EV_SEAM };
    e.u.seam.mean = (float) out->mean;
    e.u.seam.max = (float) out->max;
    e.u.seam.gradient = (float) out->gradient;
    e.u.seam.n_seams = out->n_seams;
    e.u.seam.pixels = out->pixels;
    e.u.seam.recomputed = out->recomputed;
    nino_monitor_publish(monitor, &e);
}
