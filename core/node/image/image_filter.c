// Images: blend, blur, sharpen, noise, edges. Behaviour of ComfyUI's nodes_post_processing.py,
// nodes_images.py (ImageAddNoise) and nodes_canny.py. Edges: Canny 1986, "A Computational Approach
// to Edge Detection", with the constants of kornia's canny.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/planar.h"
#include "core/sample/noise/rng.h"

static float image_filter_unit_range(float v) { return v < 0 ? 0 : v > 1 ? 1 : v; }

// ---- ImageBlend ------------------------------------------------------------------------------

static const char *const blend_modes[] = { "normal",     "multiply",   "screen", "overlay",
                                           "soft_light", "difference", NULL };
enum { NORMAL, MULTIPLY, SCREEN, OVERLAY, SOFT_LIGHT, DIFFERENCE };

static float soft(float x) { return x <= 0.25f ? ((16 * x - 12) * x + 4) * x : sqrtf(x); }

static float blended(int64_t mode, float a, float b)
{
    switch (mode) {
    case MULTIPLY: return a * b;
    case SCREEN: return 1 - (1 - a) * (1 - b);
    case OVERLAY: return a <= 0.5f ? 2 * a * b : 1 - 2 * (1 - a) * (1 - b);
    case SOFT_LIGHT:
        return b <= 0.5f ? a - (1 - 2 * b) * a * (1 - a) : a + (2 * b - 1) * (soft(a) - a);
    case DIFFERENCE: return a - b;
    default: return b;
    }
}

typedef struct blend_params {
    double blend_factor;
    int64_t blend_mode;
} blend_params;

// The second image with the first one's channels and size.
static nino_status like_first(nino_run *r, nino_array **out, nino_error *err)
{
    const nino_array *a = nino_in_image(r, 0), *b = nino_in_image(r, 1);
    nino_array *c = a->shape.dim[3] == b->shape.dim[3]
                        ? nino_array_ref(nino_in_image(r, 1))
                        : nino_picture_channels(b, a->shape.dim[3], r->def->key, err);
    if (!c)
        return NINO_ERR_NOMEM;
    if (a->shape.dim[1] == b->shape.dim[1] && a->shape.dim[2] == b->shape.dim[2]) {
        *out = c;
        return NINO_OK;
    }
    const nino_status st =
        nino_rescale(r, c, a->shape.dim[2], a->shape.dim[1], NINO_SCALE_BICUBIC, true, out, err);
    nino_array_unref(&c);
    return st;
}

static nino_status image_filter_blend_run(nino_run *r, nino_error *err)
{
    const blend_params *p = r->params;
    const float keep = (float) (1 - p->blend_factor), mix = (float) p->blend_factor;
    const nino_array *a = nino_in_image(r, 0);
    nino_array *b = NULL;
    nino_status st = like_first(r, &b, err);
    if (st)
        return st;
    const int64_t na = a->shape.dim[0], nb = b->shape.dim[0], n = na > nb ? na : nb;
    if (na != 1 && (st = nino_batch_agrees(nb, na, "image2", err))) {
        nino_array_unref(&b);
        return st;
    }
    nino_array *out = nino_picture_batch(a, 0, n, r->def->key, err);
    const int64_t cells = nino_shape_count(&a->shape) / na;
    for (int64_t i = 0; out && !r->is_plan && i < n; i++) {
        const float *from = nino_array_f32(b) + i % nb * cells;
        float *v = nino_array_f32(out) + i * cells;
        for (int64_t k = 0; k < cells; k++)
            v[k] =
                image_filter_unit_range(v[k] * keep + blended(p->blend_mode, v[k], from[k]) * mix);
    }
    nino_array_unref(&b);
    return nino_out_image(r, 0, out, err);
}

NINO_NODE(
    image_blend, "ImageBlend", "ImageBlend", "image/postprocessing",
    "Blends two images; the second is scaled to the first",
    NINO_INPUTS(NINO_PORT(image1, IMAGE), NINO_PORT(image2, IMAGE)),
    NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
    NINO_PARAMS(blend_params,
                NINO_P_FLOAT(blend_params, blend_factor, 0.5, 0.0, 1.0, 0.01, .label = "Factor",
                             .help = "0: only image1, 1: only the blend"),
                NINO_P_ENUM(blend_params, blend_mode, blend_modes, 0, .label = "Mode",
                            .help = "How the two are combined; difference is image1 - image2")),
    NINO_RUN(image_filter_blend_run));

// ---- gaussian filter -------------------------------------------------------------------------

// Mirrors i at the edge pixels of 0..n-1; |i| reaches less than n beyond.
static int64_t mirror(int64_t i, int64_t n) { return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i; }

// exp(-t^2 / 2 sigma^2) at 2 radius + 1 points, `step` apart and centred; the sum is 1.
static void gaussian(double *k, int64_t radius, double step, double sigma)
{
    double sum = 0;
    for (int64_t i = -radius; i <= radius; i++) {
        const double t = (double) i * step;
        sum += k[i + radius] = exp(-t * t / (2.0 * sigma * sigma));
    }
    for (int64_t i = 0; i <= 2 * radius; i++)
        k[i] /= sum;
}

// One direction over a picture of h x w cells: columns, or rows if `down`. src and dst differ.
// Seconds of work on a large picture: a cancel is seen between rows.
static nino_status blur_axis(const nino_run *r, const float *src, float *dst, int64_t h, int64_t w,
                             int64_t c, bool down, const double *k, int64_t radius, nino_error *err)
{
    const int64_t n = down ? h : w, step = (down ? w : 1) * c;
    nino_status st = NINO_OK;
    for (int64_t y = 0; y < h && !(st = nino_node_cancelled(r, err)); y++)
        for (int64_t x = 0; x < w; x++)
            for (int64_t q = 0; q < c; q++) {
                const int64_t at = (y * w + x) * c + q, i = down ? y : x;
                double sum = 0;
                for (int64_t t = -radius; t <= radius; t++)
                    sum += k[t + radius] * (double) src[at + (mirror(i + t, n) - i) * step];
                dst[at] = (float) sum;
            }
    return st;
}

// A new blurred copy. The filter is a product, so one direction after the other gives the same.
static nino_array *blurred(nino_run *r, const nino_array *in, int64_t radius, double step,
                           double sigma, nino_error *err)
{
    const nino_picture s = nino_picture_of(in);
    if (radius >= s.h || radius >= s.w) {
        nino_fail_kind(err, NINO_ERR_ARG, "shape", "image",
                       "a radius of %lld needs more than %lldx%lld pixels", (long long) radius,
                       (long long) s.w, (long long) s.h);
        return NULL;
    }
    nino_array *out = nino_node_array(NINO_F32, in->shape, r->def->key, err);
    const int64_t cells = s.h * s.w * s.c;
    double *k = malloc((size_t) (2 * radius + 1) * sizeof(*k));
    float *wide = malloc((size_t) cells * sizeof(*wide));
    bool ok = out && k && wide;
    if (ok)
        gaussian(k, radius, step, sigma);
    else if (out)
        nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    for (int64_t i = 0; ok && !r->is_plan && i < s.n; i++)
        ok = !blur_axis(r, s.v + i * cells, wide, s.h, s.w, s.c, false, k, radius, err) &&
             !blur_axis(r, wide, nino_array_f32(out) + i * cells, s.h, s.w, s.c, true, k, radius,
                        err);
    free(k);
    free(wide);
    if (!ok)
        nino_array_unref(&out);
    return out;
}

typedef struct blur_params {
    int64_t blur_radius;
    double sigma;
} blur_params;

// sigma is in units of the radius.
static nino_status blur_run(nino_run *r, nino_error *err)
{
    const blur_params *p = r->params;
    return nino_out_image(r, 0,
                          blurred(r, nino_in_image(r, 0), p->blur_radius,
                                  1.0 / (double) p->blur_radius, p->sigma, err),
                          err);
}

NINO_NODE(image_blur, "ImageBlur", "ImageBlur", "image/postprocessing", "Gaussian blur",
          NINO_INPUTS(NINO_PORT(image, IMAGE)), NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(blur_params,
                      NINO_P_INT(blur_params, blur_radius, 1, 1, 31, 1, .label = "Radius",
                                 .unit = "px", .help = "How far the blur reaches"),
                      NINO_P_FLOAT(blur_params, sigma, 1.0, 0.1, 10.0, 0.1, .label = "Sigma",
                                   .help = "Width of the bell curve as a part of the radius")),
          NINO_RUN(blur_run, .items = NINO_ITEMS_APART));

typedef struct sharpen_params {
    int64_t sharpen_radius;
    double sigma, alpha;
} sharpen_params;

static nino_status sharpen_run(nino_run *r, nino_error *err)
{
    const sharpen_params *p = r->params;
    const nino_array *in = nino_in_image(r, 0);
    nino_array *out =
        blurred(r, in, p->sharpen_radius, 1.0 / (double) p->sharpen_radius, p->sigma, err);
    const double a = p->alpha * 10;
    for (int64_t i = 0; out && !r->is_plan && i < nino_shape_count(&in->shape); i++) {
        float *v = nino_array_f32(out) + i;
        *v = image_filter_unit_range(
            (float) ((1 + a) * (double) nino_array_f32(in)[i] - a * (double) *v));
    }
    return nino_out_image(r, 0, out, err);
}

NINO_NODE(
    image_sharpen, "ImageSharpen", "ImageSharpen", "image/postprocessing",
    "Adds the difference to a blurred image", NINO_INPUTS(NINO_PORT(image, IMAGE)),
    NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
    NINO_PARAMS(sharpen_params,
                NINO_P_INT(sharpen_params, sharpen_radius, 1, 1, 31, 1, .label = "Radius",
                           .unit = "px", .help = "Size of the details that are sharpened"),
                NINO_P_FLOAT(sharpen_params, sigma, 1.0, 0.1, 10.0, 0.01, .label = "Sigma",
                             .help = "Width of the bell curve as a part of the radius"),
                NINO_P_FLOAT(
                    sharpen_params, alpha, 1.0, 0.0, 5.0, 0.01, .label = "Strength",
                    .help = "A tenth of how much of the difference to the blurred image is added")),
    NINO_RUN(sharpen_run, .items = NINO_ITEMS_APART));

// ---- ImageAddNoise ---------------------------------------------------------------------------

typedef struct noise_params {
    uint64_t seed;
    double strength;
} noise_params;

static nino_status image_filter_noise_run(nino_run *r, nino_error *err)
{
    const noise_params *p = r->params;
    const nino_array *in = nino_in_image(r, 0);
    nino_array *out = nino_node_array(NINO_F32, in->shape, r->def->key, err);
    const int64_t n = nino_shape_count(&in->shape);
    nino_rng rng;
    if (out && !r->is_plan) {
        nino_rng_seed(&rng, p->seed);
        nino_rng_randn(&rng, nino_array_f32(out), n);
        for (int64_t i = 0; i < n; i++) {
            float *v = nino_array_f32(out) + i;
            *v = image_filter_unit_range(nino_array_f32(in)[i] + (float) p->strength * *v);
        }
    }
    return nino_out_image(r, 0, out, err);
}

NINO_NODE(image_noise, "ImageAddNoise", "ImageAddNoise", "image", "Adds normally distributed noise",
          NINO_INPUTS(NINO_PORT(image, IMAGE)), NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(noise_params,
                      NINO_P_SEED(noise_params, seed, .label = "Seed",
                                  .help = "Start of the random numbers"),
                      NINO_P_FLOAT(noise_params, strength, 0.5, 0.0, 1.0, 0.01, .label = "Strength",
                                   .help = "What the noise is multiplied by")),
          NINO_RUN(image_filter_noise_run));

// ---- Canny -----------------------------------------------------------------------------------

typedef struct canny_params {
    double low_threshold, high_threshold;
} canny_params;

#define BLUR_RADIUS 2
#define LEAST 1e-6f // under the root: a flat area has a tiny gradient, not none

// The eight neighbours, from the right clockwise.
static const int8_t around[8][2] = { { 0, 1 },  { 1, 1 },   { 1, 0 },  { 1, -1 },
                                     { 0, -1 }, { -1, -1 }, { -1, 0 }, { -1, 1 } };

static float edge_pixel(const float *v, int64_t h, int64_t w, int64_t y, int64_t x)
{
    y = y < 0 ? 0 : y >= h ? h - 1 : y;
    x = x < 0 ? 0 : x >= w ? w - 1 : x;
    return v[y * w + x];
}

// Sobel: length of the gradient and its direction in eighths of a turn.
static void gradients(const float *v, int64_t h, int64_t w, float *length, uint8_t *direction)
{
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            float gx = 0, gy = 0;
            for (int64_t d = -1; d <= 1; d++) {
                const float weight = d ? 1 : 2;
                gx += weight *
                      (edge_pixel(v, h, w, y + d, x + 1) - edge_pixel(v, h, w, y + d, x - 1));
                gy += weight *
                      (edge_pixel(v, h, w, y + 1, x + d) - edge_pixel(v, h, w, y - 1, x + d));
            }
            length[y * w + x] = sqrtf(gx * gx + gy * gy + LEAST);
            const float degrees = atan2f(gy, gx) * (180.0f / (float) M_PI);
            direction[y * w + x] = (uint8_t) (((int) rintf(degrees / 45) + 8) % 8);
        }
}

// Longer than both neighbours along its direction? Nothing lies beyond the edge.
static bool is_ridge(const float *length, int64_t h, int64_t w, int64_t y, int64_t x, int direction)
{
    for (int side = 0; side < 8; side += 4) {
        const int8_t *d = around[(direction + side) % 8];
        const int64_t ny = y + d[0], nx = x + d[1];
        const bool inside = ny >= 0 && ny < h && nx >= 0 && nx < w;
        if (!(length[y * w + x] - (inside ? length[ny * w + nx] : 0) > 0))
            return false;
    }
    return true;
}

enum { NONE, WEAK, STRONG };

// Weak pixels next to a strong one become strong, and so on. stack has room for all.
static void image_filter_follow(uint8_t *edge, int64_t h, int64_t w, int64_t *stack)
{
    int64_t n = 0;
    for (int64_t i = 0; i < h * w; i++)
        if (edge[i] == STRONG)
            stack[n++] = i;
    while (n) {
        const int64_t i = stack[--n], y = i / w, x = i % w;
        for (int k = 0; k < 8; k++) {
            const int64_t ny = y + around[k][0], nx = x + around[k][1];
            if (ny < 0 || ny >= h || nx < 0 || nx >= w || edge[ny * w + nx] != WEAK)
                continue;
            edge[ny * w + nx] = STRONG;
            stack[n++] = ny * w + nx;
        }
    }
}

typedef struct canny_room { // for one picture
    float *grey, *wide, *length;
    uint8_t *direction, *edge;
    int64_t *stack;
} canny_room;

static bool room_make(canny_room *m, size_t n)
{
    m->grey = calloc(n, sizeof(float));
    m->wide = calloc(n, sizeof(float));
    m->length = calloc(n, sizeof(float));
    m->direction = calloc(n, 1);
    m->edge = calloc(n, 1);
    m->stack = calloc(n, sizeof(*m->stack));
    return m->grey && m->wide && m->length && m->direction && m->edge && m->stack;
}

static void room_release(canny_room *m)
{
    free(m->grey);
    free(m->wide);
    free(m->length);
    free(m->direction);
    free(m->edge);
    free(m->stack);
}

static nino_status canny(const nino_run *r, const canny_room *m, const nino_picture *s, int64_t i,
                         float low, float high, float *out, nino_error *err)
{
    const int64_t n = s->h * s->w;
    double k[2 * BLUR_RADIUS + 1];
    for (int64_t p = 0; p < n; p++) {
        const float *v = s->v + (i * n + p) * s->c;
        m->grey[p] = 0.299f * v[0] + 0.587f * v[1] + 0.114f * v[2];
    }
    gaussian(k, BLUR_RADIUS, 1, 1);
    nino_status st = blur_axis(r, m->grey, m->wide, s->h, s->w, 1, false, k, BLUR_RADIUS, err);
    if (!st)
        st = blur_axis(r, m->wide, m->grey, s->h, s->w, 1, true, k, BLUR_RADIUS, err);
    if (st)
        return st;
    gradients(m->grey, s->h, s->w, m->length, m->direction);
    for (int64_t p = 0; p < n; p++) {
        const bool counts = is_ridge(m->length, s->h, s->w, p / s->w, p % s->w, m->direction[p]);
        m->edge[p] = !counts               ? NONE
                     : m->length[p] > high ? STRONG
                     : m->length[p] > low  ? WEAK
                                           : NONE;
    }
    image_filter_follow(m->edge, s->h, s->w, m->stack);
    for (int64_t p = 0; p < n * 3; p++)
        out[i * n * 3 + p] = m->edge[p / 3] == STRONG ? 1.0f : 0.0f;
    return nino_node_cancelled(r, err);
}

static nino_status canny_run(nino_run *r, nino_error *err)
{
    const canny_params *p = r->params;
    const nino_picture s = nino_picture_of(nino_in_image(r, 0));
    canny_room room = { 0 };
    if (p->low_threshold > p->high_threshold)
        return nino_fail_kind(err, NINO_ERR_RANGE, "range", "low_threshold",
                              "it is above high_threshold");
    if (s.h <= BLUR_RADIUS || s.w <= BLUR_RADIUS)
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", "image", "%lldx%lld is too small",
                              (long long) s.w, (long long) s.h);
    nino_array *out = nino_node_array(NINO_F32, NINO_SHAPE(s.n, s.h, s.w, 3), r->def->key, err);
    nino_status st = out ? NINO_OK : NINO_ERR_NOMEM;
    if (out && !r->is_plan && !room_make(&room, (size_t) (s.h * s.w)))
        st = nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    for (int64_t i = 0; st == NINO_OK && !r->is_plan && i < s.n; i++)
        st = canny(r, &room, &s, i, (float) p->low_threshold, (float) p->high_threshold,
                   nino_array_f32(out), err);
    room_release(&room);
    if (st)
        nino_array_unref(&out);
    return st ? st : nino_out_image(r, 0, out, err);
}

NINO_NODE(canny, "Canny", "Canny", "image/preprocessors",
          "White lines along the edges of an image, for models that draw from them",
          NINO_INPUTS(NINO_PORT(image, IMAGE)), NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(canny_params,
                      NINO_P_FLOAT(canny_params, low_threshold, 0.4, 0.01, 0.99, 0.01,
                                   .label = "Low threshold",
                                   .help = "Gradients above it count if they touch a clear edge"),
                      NINO_P_FLOAT(canny_params, high_threshold, 0.8, 0.01, 0.99, 0.01,
                                   .label = "High threshold",
                                   .help = "Gradients above it are clear edges")),
          NINO_RUN(canny_run));
