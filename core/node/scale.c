// Scaling of images and latents as ComfyUI's common_upscale: four filters through the device,
// bislerp and PIL's 8-bit filters on the host.
#include "core/node/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/media/png.h"

// ---- bislerp ---------------------------------------------------------------------------------

// Directions on the arc between a and b, lengths linearly: latents keep their contrast.
static void slerp(const float *a, const float *b, float r, float *out, int64_t n)
{
    double na = 0, nb = 0, dot = 0;
    for (int64_t i = 0; i < n; i++) {
        na += (double) a[i] * a[i];
        nb += (double) b[i] * b[i];
        dot += (double) a[i] * b[i];
    }
    na = sqrt(na);
    nb = sqrt(nb);
    const double ia = na > 0 ? 1 / na : 0, ib = nb > 0 ? 1 / nb : 0;
    dot *= ia * ib;
    double wa = 1, wb = 0; // same direction: a itself
    if (dot < 1e-5 - 1) {  // opposite: no arc is shorter than another
        wa = 1 - r;
        wb = r;
    } else if (dot <= 1 - 1e-5) {
        const double omega = acos(dot), so = sin(omega), len = na * (1 - r) + nb * r;
        wa = sin((1 - r) * omega) / so * ia * len;
        wb = sin(r * omega) / so * ib * len;
    }
    for (int64_t i = 0; i < n; i++)
        out[i] = (float) (wa * a[i] + wb * b[i]);
}

// One axis of [outer][from][inner][c] becomes [outer][to][inner][c].
static void bislerp_axis(const float *src, float *dst, int64_t outer, int64_t from, int64_t to,
                         int64_t inner, int64_t c)
{
    const double scale = (double) from / (double) to;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t x = 0; x < to; x++) {
            double at = ((double) x + 0.5) * scale - 0.5;
            at = at < 0 ? 0 : at > (double) (from - 1) ? (double) (from - 1) : at;
            const int64_t i0 = (int64_t) at, i1 = i0 + 1 < from ? i0 + 1 : from - 1;
            for (int64_t k = 0; k < inner; k++)
                slerp(src + ((o * from + i0) * inner + k) * c,
                      src + ((o * from + i1) * inner + k) * c, (float) (at - (double) i0),
                      dst + ((o * to + x) * inner + k) * c, c);
        }
}

nino_status nino_rescale_bislerp(const nino_array *x, nino_array *out, nino_error *err)
{
    const int64_t n = x->shape.dim[0], h = x->shape.dim[1], w = x->shape.dim[2],
                  c = x->shape.dim[3];
    const int64_t oh = out->shape.dim[1], ow = out->shape.dim[2];
    float *wide = malloc((size_t) (n * h * ow * c) * sizeof(float));
    if (!wide)
        return nino_fail(err, NINO_ERR_NOMEM, "bislerp", "out of memory");
    bislerp_axis(nino_array_f32(x), wide, n * h, w, ow, 1, c);
    bislerp_axis(wide, nino_array_f32(out), n, h, oh, ow, c);
    free(wide);
    return NINO_OK;
}

// ---- PIL's filters, through 8 bits -----------------------------------------------------------

#define FIXED 22 // fraction bits of PIL's integer weights

typedef struct taps {
    int *start, *count; // per output position
    int32_t *weight;    // [positions][size]
    int size;
} taps;

static double lanczos3(double x)
{
    if (x <= -3 || x >= 3)
        return 0;
    if (x == 0)
        return 1;
    const double a = x * M_PI, b = a / 3;
    return sin(a) / a * (sin(b) / b);
}

static double triangle(double x) { return fmax(0, 1 - fabs(x)); }

// Keys' cubic with a = -1/2; torch's has -3/4.
static double cubic(double x)
{
    const double d = fabs(x);
    return d < 1 ? (1.5 * d - 2.5) * d * d + 1 : d < 2 ? ((-0.5 * d + 2.5) * d - 4) * d + 2 : 0;
}

// A kernel that reaches `support` pixels far, more where a picture gets smaller.
typedef struct kernel {
    double support;
    double (*at)(double x);
} kernel;

// The pixel that lies under the new one's centre: one tap.
static void taps_nearest(taps *t, int64_t to, double scale, int64_t from)
{
    for (int64_t x = 0; x < to; x++) {
        const int64_t at = (int64_t) (((double) x + 0.5) * scale);
        t->start[x] = (int) (at < from ? at : from - 1);
        t->count[x] = 1;
        t->weight[x * t->size] = 1 << FIXED;
    }
}

static bool taps_make(taps *t, int64_t from, int64_t to, const kernel *f)
{
    const double scale = (double) from / (double) to, stretch = scale < 1 ? 1 : scale;
    const double support = f->support * stretch;
    t->size = (int) ceil(support) * 2 + 1;
    t->start = calloc((size_t) to, sizeof(int));
    t->count = calloc((size_t) to, sizeof(int));
    t->weight = calloc((size_t) to * (size_t) t->size, sizeof(int32_t));
    double *k = calloc((size_t) t->size, sizeof(double));
    const bool ok = t->start && t->count && t->weight && k;
    if (ok && !f->at)
        taps_nearest(t, to, scale, from);
    for (int64_t x = 0; ok && f->at && x < to; x++) {
        const double center = ((double) x + 0.5) * scale;
        int64_t lo = (int64_t) (center - support + 0.5), hi = (int64_t) (center + support + 0.5);
        lo = lo < 0 ? 0 : lo;
        hi = hi > from ? from : hi;
        double sum = 0;
        for (int64_t i = lo; i < hi; i++)
            sum += k[i - lo] = f->at(((double) i - center + 0.5) / stretch);
        t->start[x] = (int) lo;
        t->count[x] = (int) (hi - lo);
        for (int64_t i = 0; i < hi - lo; i++) {
            const double v = (sum != 0 ? k[i] / sum : k[i]) * (1 << FIXED);
            t->weight[x * t->size + i] = (int32_t) (v < 0 ? v - 0.5 : v + 0.5);
        }
    }
    free(k);
    return ok;
}

static void taps_free(taps *t)
{
    free(t->start);
    free(t->count);
    free(t->weight);
}

// [outer][from][inner] -> [outer][to][inner], u8
static void taps_apply(const taps *t, const uint8_t *src, uint8_t *dst, int64_t outer, int64_t from,
                       int64_t to, int64_t inner)
{
    for (int64_t o = 0; o < outer; o++)
        for (int64_t x = 0; x < to; x++) {
            const int32_t *w = t->weight + x * t->size;
            const uint8_t *s = src + (o * from + t->start[x]) * inner;
            for (int64_t k = 0; k < inner; k++) {
                int64_t sum = (int64_t) 1 << (FIXED - 1);
                for (int i = 0; i < t->count[x]; i++)
                    sum += (int64_t) w[i] * s[i * inner + k];
                sum >>= FIXED;
                dst[(o * to + x) * inner + k] = (uint8_t) (sum < 0 ? 0 : sum > 255 ? 255 : sum);
            }
        }
}

// What PIL does around resizing a picture with transparency: colours weighted by alpha, and back.
static void weight_by_alpha(uint8_t *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            const unsigned t = (unsigned) v[4 * i + k] * v[4 * i + 3] + 128;
            v[4 * i + k] = (uint8_t) ((t + (t >> 8)) >> 8);
        }
}

static void divide_by_alpha(uint8_t *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3 && v[4 * i + 3]; k++) {
            const unsigned t = 255u * v[4 * i + k] / v[4 * i + 3];
            v[4 * i + k] = (uint8_t) (t > 255 ? 255 : t);
        }
}

nino_status nino_rescale_pil(const nino_array *x, nino_array *out, nino_scale_method method,
                             nino_error *err)
{
    static const kernel kernels[] = { [NINO_SCALE_NEAREST] = { 0, NULL },
                                      [NINO_SCALE_BILINEAR] = { 1, triangle },
                                      [NINO_SCALE_BICUBIC] = { 2, cubic },
                                      [NINO_SCALE_LANCZOS] = { 3, lanczos3 } };
    const kernel *f = &kernels[method];
    const int64_t n = x->shape.dim[0], h = x->shape.dim[1], w = x->shape.dim[2],
                  c = x->shape.dim[3];
    const int64_t oh = out->shape.dim[1], ow = out->shape.dim[2];
    taps across = { 0 }, down = { 0 };
    uint8_t *in8 = malloc((size_t) (h * w * c)), *wide = malloc((size_t) (h * ow * c));
    uint8_t *out8 = calloc((size_t) (oh * ow), (size_t) c);
    const bool has_alpha = c == 4 && (h != oh || w != ow);
    const bool ok =
        in8 && wide && out8 && taps_make(&across, w, ow, f) && taps_make(&down, h, oh, f);
    for (int64_t i = 0; ok && i < n; i++) {
        nino_to_u8_truncated(in8, nino_array_f32(x) + i * h * w * c, (size_t) (h * w * c));
        if (has_alpha)
            weight_by_alpha(in8, h * w);
        // a pass that changes nothing is left out, as PIL does: its weights would be exact anyway
        taps_apply(&across, in8, wide, h, w, ow, c);
        taps_apply(&down, wide, out8, 1, h, oh, ow * c);
        if (has_alpha)
            divide_by_alpha(out8, oh * ow);
        float *dst = nino_array_f32(out) + i * oh * ow * c;
        for (int64_t k = 0; k < oh * ow * c; k++)
            dst[k] = (float) out8[k] / 255.0f;
    }
    taps_free(&across);
    taps_free(&down);
    free(in8);
    free(wide);
    free(out8);
    return ok ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, "resize", "out of memory");
}

// ---- all methods -----------------------------------------------------------------------------

// Rectangle of x that has the target's aspect ratio, centred; halves round to even as in Python.
static void crop_rect(int64_t h, int64_t w, int64_t height, int64_t width, int64_t *top,
                      int64_t *left)
{
    const double was = (double) w / (double) h, will = (double) width / (double) height;
    *top = *left = 0;
    if (was > will)
        *left = (int64_t) rint(((double) w - (double) w * (will / was)) / 2);
    else if (was < will)
        *top = (int64_t) rint(((double) h - (double) h * (was / will)) / 2);
}

static nino_array *scale_crop(const nino_array *x, int64_t n, int64_t h, int64_t w, int64_t c,
                              int64_t top, int64_t left, nino_error *err)
{
    const int64_t ch = h - 2 * top, cw = w - 2 * left;
    nino_array *a = nino_node_array(NINO_F32, NINO_SHAPE(n, ch, cw, c), "crop", err);
    for (int64_t i = 0; a && i < n; i++)
        for (int64_t y = 0; y < ch; y++)
            memcpy(nino_array_f32(a) + (i * ch + y) * cw * c,
                   nino_array_f32(x) + ((i * h + top + y) * w + left) * c,
                   (size_t) (cw * c) * sizeof(float));
    return a;
}

static nino_array *on_device(nino_run *r, const nino_array *x, int64_t width, int64_t height,
                             nino_scale_method method, nino_error *err)
{
    static const nino_filter filter[] = { NINO_FILTER_NEAREST, NINO_FILTER_BILINEAR,
                                          NINO_FILTER_AREA, NINO_FILTER_BICUBIC };
    nino_tensor *t = nino_upload(r->stream, x, NINO_F32);
    t = nino_resample(r->stream, t, height, width, filter[method]);
    nino_array *out = nino_download(r->stream, t, NINO_F32);
    if (!out)
        nino_stream_status(r->stream, err);
    return out;
}

nino_status nino_rescale(nino_run *r, const nino_array *x, int64_t width, int64_t height,
                         nino_scale_method method, bool center, nino_array **out, nino_error *err)
{
    nino_status st = NINO_OK;
    const int rank = x->shape.rank;
    nino_shape shape = x->shape; // of the result
    const int64_t h = shape.dim[rank - 3], w = shape.dim[rank - 2], c = shape.dim[rank - 1];
    int64_t n = 1;
    for (int i = 0; i < rank - 3; i++)
        n *= shape.dim[i];
    if (width < 1 || height < 1 || !h || !w)
        return nino_fail(err, NINO_ERR_RANGE, r->def->key,
                         "%lld x %lld cells are nothing to scale to", (long long) width,
                         (long long) height);
    shape.dim[rank - 3] = height;
    shape.dim[rank - 2] = width;
    int64_t top = 0, left = 0;
    if (center)
        crop_rect(h, w, height, width, &top, &left);
    // a view of x as [n,h,w,c]: same bytes
    nino_array flat = *x, *cut = NULL, *res = NULL;
    flat.shape = NINO_SHAPE(n, h, w, c);
    const nino_array *src = &flat;
    if ((st = nino_node_fits(NINO_F32, shape, r->def->key, err)))
        return st;
    if (top || left) {
        if (!(cut = scale_crop(x, n, h, w, c, top, left, err)))
            return NINO_ERR_NOMEM;
        src = cut;
    }
    if (method == NINO_SCALE_BISLERP || method == NINO_SCALE_LANCZOS) {
        res = nino_node_array(NINO_F32, NINO_SHAPE(n, height, width, c), r->def->key, err);
        if (!res)
            st = NINO_ERR_NOMEM;
        else if (method == NINO_SCALE_LANCZOS && !r->is_plan)
            st = nino_rescale_pil(src, res, NINO_SCALE_LANCZOS, err);
        else if (!r->is_plan)
            st = nino_rescale_bislerp(src, res, err);
    } else if (!(res = on_device(r, src, width, height, method, err))) {
        st = nino_stream_status(r->stream, NULL);
    }
    nino_array_unref(&cut);
    if (st == NINO_OK) {
        res->shape = shape;
        *out = res;
    } else {
        nino_array_unref(&res);
    }
    return st;
}
