// The clip meter's sums. Running out of memory ends the measuring, not the clip.
#include "core/tile/video_meter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void nino_clip_meter_begin(nino_clip_meter *m) { *m = (nino_clip_meter){ 0 }; }

void nino_clip_meter_end(nino_clip_meter *m)
{
    free(m->steps);
    free(m->border);
    nino_array_unref(&m->last);
    *m = (nino_clip_meter){ 0 };
}

static bool video_meter_grow(nino_clip_meter *m, int64_t n)
{
    if (n <= m->room)
        return true;
    const int64_t room = n < 64 ? 64 : 2 * n;
    float *steps = realloc(m->steps, (size_t) room * sizeof(*steps));
    if (!steps)
        return false;
    m->steps = steps;
    bool *border = realloc(m->border, (size_t) room * sizeof(*border));
    if (!border)
        return false;
    m->border = border;
    memset(border + m->room, 0, (size_t) (room - m->room) * sizeof(*border));
    m->room = room;
    return true;
}

void nino_clip_meter_border(nino_clip_meter *m, int64_t frame)
{
    if (frame > 0 && video_meter_grow(m, frame + 1))
        m->border[frame] = true;
}

// Mean brightness and mean distance of a pixel's strongest channel from its weakest.
static void video_meter_look(const float *p, int64_t pixels, double *mean, double *colour)
{
    double sum = 0, spread = 0;
    for (int64_t i = 0; i < pixels; i++, p += 3) {
        sum += ((double) p[0] + (double) p[1] + (double) p[2]) / 3;
        spread += (double) (fmaxf(p[0], fmaxf(p[1], p[2])) - fminf(p[0], fminf(p[1], p[2])));
    }
    *mean = sum / (double) pixels;
    *colour = spread / (double) pixels;
}

static float step_between(const float *a, const float *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += fabs((double) a[i] - (double) b[i]);
    return (float) (sum / (double) n);
}

void nino_clip_meter_frames(nino_clip_meter *m, const nino_array *frames)
{
    const int64_t *d = frames->shape.dim, frame = d[1] * d[2] * d[3];
    const bool is_new = !m->last;
    if (!video_meter_grow(m, m->n + d[0]) ||
        (is_new && !(m->last = nino_array_create(NINO_F32, NINO_SHAPE(1, d[1], d[2], d[3])))))
        return;
    for (int64_t i = 0; i < d[0]; i++, m->n++) {
        const float *p = nino_array_f32(frames) + i * frame;
        const float *before = i ? p - frame : nino_array_f32(m->last);
        double mean, colour;
        video_meter_look(p, d[1] * d[2], &mean, &colour);
        m->steps[m->n] = m->n ? step_between(p, before, frame) : 0;
        *(m->n ? &m->mean : &m->first_mean) += mean;
        *(m->n ? &m->colour : &m->first_colour) += colour;
    }
    memcpy(m->last->data, nino_array_f32(frames) + (d[0] - 1) * frame, m->last->bytes);
}

static int video_meter_compare(const void *a, const void *b)
{
    const float x = *(const float *) a, y = *(const float *) b;
    return (x > y) - (x < y);
}

static float video_meter_median(float *v, int64_t n)
{
    qsort(v, (size_t) n, sizeof(*v), video_meter_compare);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

// What a step at a border may be: the median of all plus three times the median distance from it.
static float limit_of(const nino_clip_meter *m)
{
    const int64_t n = m->n - 1;
    float *v = n > 0 ? malloc((size_t) n * sizeof(*v)) : NULL;
    if (!v)
        return 0;
    memcpy(v, m->steps + 1, (size_t) n * sizeof(*v));
    const float middle = video_meter_median(v, n);
    for (int64_t i = 0; i < n; i++)
        v[i] = fabsf(m->steps[i + 1] - middle);
    const float limit = middle + 3 * video_meter_median(v, n);
    free(v);
    return limit;
}

void nino_clip_meter_publish(const nino_clip_meter *m, nino_monitor *monitor, uint64_t ns)
{
    nino_event e = { .kind = NINO_EV_CLIP };
    double sum = 0;
    int64_t n = 0;
    if (!m->n)
        return;
    for (int64_t i = 1; i < m->n; i++)
        if (m->border[i]) {
            sum += (double) m->steps[i];
            n++;
        }
    const double rest = m->n > 1 ? (double) (m->n - 1) : 1;
    e.u.clip.first_mean = (float) m->first_mean;
    e.u.clip.rest_mean = (float) (m->n > 1 ? m->mean / rest : m->first_mean);
    e.u.clip.first_colour = (float) m->first_colour;
    e.u.clip.rest_colour = (float) (m->n > 1 ? m->colour / rest : m->first_colour);
    e.u.clip.border = n ? (float) (255 * sum / (double) n) : 0;
    e.u.clip.limit = 255 * limit_of(m);
    e.u.clip.frames = (uint32_t) m->n;
    e.u.clip.n_borders = (uint32_t) n;
    e.u.clip.ns = ns;
    nino_monitor_publish(monitor, &e);
}
