// From a picture to the input of a CLIP vision network: bicubic scaling with antialias, the middle,
// 8 bits, normalised colours, patches.
// Sources: ComfyUI clip_vision.py clip_preprocess(); torch's interpolate(mode="bicubic",
// antialias=True), whose kernel is Keys' cubic with a = -0.5 and whose sums are in single
// precision.
#include <math.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/model/clip/clip_vision.h"

typedef struct taps { // output i: sum over k < count[i] of weight[i * size + k] * in[start[i] + k]
    int size;
    int64_t *start, *count;
    float *weight;
} taps;

static float clip_pixels_cubic(float x)
{
    const float a = -0.5f;
    x = fabsf(x);
    if (x < 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

static void release_taps(taps *t)
{
    free(t->start);
    free(t->count);
    free(t->weight);
}

static bool make_taps(taps *t, int64_t in, int64_t out)
{
    const float scale = (float) in / (float) out;
    const float support = scale >= 1 ? 2 * scale : 2, inverse = scale >= 1 ? 1 / scale : 1;
    *t = (taps){ .size = (int) ceilf(support) * 2 + 1 };
    t->start = calloc((size_t) out, sizeof(*t->start));
    t->count = calloc((size_t) out, sizeof(*t->count));
    t->weight = calloc((size_t) (out * t->size), sizeof(*t->weight));
    if (!t->start || !t->count || !t->weight)
        return false;
    for (int64_t i = 0; i < out; i++) {
        const float centre = scale * ((float) i + 0.5f);
        int64_t lo = (int64_t) (centre - support + 0.5f), hi = (int64_t) (centre + support + 0.5f);
        lo = lo < 0 ? 0 : lo;
        hi = hi > in ? in : hi;
        float *w = t->weight + i * t->size, sum = 0;
        for (int64_t k = 0; k < hi - lo; k++)
            sum += w[k] = clip_pixels_cubic(((float) (k + lo) - centre + 0.5f) * inverse);
        for (int64_t k = 0; k < hi - lo && sum != 0; k++)
            w[k] /= sum;
        t->start[i] = lo;
        t->count[i] = hi - lo;
    }
    return true;
}

// One axis of [outer][from][inner] becomes [outer][to][inner].
static bool scale_axis(const float *src, float *dst, int64_t outer, int64_t from, int64_t to,
                       int64_t inner)
{
    taps t;
    const bool ok = make_taps(&t, from, to);
    for (int64_t o = 0; ok && o < outer; o++)
        for (int64_t i = 0; i < to; i++)
            for (int64_t c = 0; c < inner; c++) {
                const float *in = src + (o * from + t.start[i]) * inner + c;
                float sum = 0;
                for (int64_t k = 0; k < t.count[i]; k++)
                    sum += in[k * inner] * t.weight[i * t.size + k];
                dst[(o * to + i) * inner + c] = sum;
            }
    release_taps(&t);
    return ok;
}

// One picture [h,w,c]; only its first three channels count.
typedef struct picture {
    int64_t h, w;
    float *v; // [h,w,3]
} picture;

static bool scale_picture(picture *p, int64_t h, int64_t w)
{
    float *wide = calloc((size_t) (p->h * w * 3), sizeof(float));
    float *out = calloc((size_t) (h * w * 3), sizeof(float));
    const bool ok = wide && out && scale_axis(p->v, wide, p->h, p->w, w, 3) &&
                    scale_axis(wide, out, 1, p->h, h, w * 3);
    free(wide);
    if (ok) {
        free(p->v);
        *p = (picture){ h, w, out };
    } else {
        free(out);
    }
    return ok;
}

// Patch rows of the size x size pixels in the middle.
static void cut_patches(const nino_clip_vision *v, const picture *p, float *dst)
{
    const int64_t size = (int64_t) v->side * v->patch, n = v->patch;
    const int64_t y0 = (p->h - size) / 2, x0 = (p->w - size) / 2;
    for (int64_t py = 0; py < v->side; py++)
        for (int64_t px = 0; px < v->side; px++)
            for (int c = 0; c < 3; c++)
                for (int64_t y = 0; y < n; y++)
                    for (int64_t x = 0; x < n; x++) {
                        const int64_t at = (y0 + py * n + y) * p->w + x0 + px * n + x;
                        const float u = fminf(fmaxf(255 * p->v[at * 3 + c], 0), 255);
                        *dst++ = (rintf(u) / 255 - v->mean[c]) / v->dev[c];
                    }
}

static bool one_picture(const nino_clip_vision *v, const float *src, int64_t h, int64_t w,
                        int64_t channels, bool crop, float *dst)
{
    const int64_t size = (int64_t) v->side * v->patch;
    const double scale = (double) size / (double) (h < w ? h : w); // exact on the shorter side
    picture p = { h, w, calloc((size_t) (h * w * 3), sizeof(float)) };
    bool ok = p.v != NULL;
    for (int64_t i = 0; ok && i < h * w * 3; i++)
        p.v[i] = src[i / 3 * channels + i % 3];
    if (ok && (h != size || w != size))
        ok = scale_picture(&p, crop ? (int64_t) rint(scale * (double) h) : size,
                           crop ? (int64_t) rint(scale * (double) w) : size);
    if (ok)
        cut_patches(v, &p, dst);
    free(p.v);
    return ok;
}

nino_status nino_clip_vision_pixels(const nino_clip_vision *v, const nino_array *image, bool crop,
                                    nino_array **out, nino_error *err)
{
    const int64_t *d = image->shape.dim, row = 3 * (int64_t) v->patch * v->patch;
    const int64_t patches = (int64_t) v->side * v->side;
    *out = NULL;
    if (image->shape.rank != 4 || d[3] < 3 || d[1] < 1 || d[2] < 1)
        return nino_fail(err, NINO_ERR_RANGE, "image", "CLIP vision needs a picture in colour");
    if (d[1] / d[2] > 512 || d[2] / d[1] > 512)
        return nino_fail(err, NINO_ERR_RANGE, "image",
                         "a picture of %lld x %lld is too long for CLIP vision", (long long) d[2],
                         (long long) d[1]);
    *out = nino_array_create(NINO_F32, NINO_SHAPE(d[0], patches, row));
    bool ok = *out != NULL;
    for (int64_t i = 0; ok && i < d[0]; i++)
        ok = one_picture(v, nino_array_f32(image) + i * d[1] * d[2] * d[3], d[1], d[2], d[3], crop,
                         nino_array_f32(*out) + i * patches * row);
    if (ok)
        return NINO_OK;
    nino_array_unref(out);
    return nino_fail(err, NINO_ERR_NOMEM, "image", "out of memory");
}
