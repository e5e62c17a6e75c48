// Masks grown, blurred, drawn, made from colours, under the rules of extensions.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/ext/ext.h"

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static nino_array *like(const nino_array *a, const nino_run *r, nino_error *err)
{
    return nino_node_array(NINO_F32, a->shape, r->def->key, err);
}

// The mask as output 0, 1 minus it as output 1; takes it.
static nino_status give_both(nino_run *r, nino_array *m, nino_error *err)
{
    nino_array *inverse = m ? like(m, r, err) : NULL;
    for (int64_t i = 0; inverse && i < nino_shape_count(&m->shape); i++)
        nino_array_f32(inverse)[i] = 1.0f - nino_array_f32(m)[i];
    const nino_status st = nino_out_mask(r, 0, m, err);
    if (st) {
        nino_array_unref(&inverse);
        return st;
    }
    return nino_out_mask(r, 1, inverse, err);
}

// ---- Gaussian blurs --------------------------------------------------------------------------

// Mirrored without repeating the edge.
static int64_t mirror(int64_t i, int64_t n)
{
    while (n > 1 && (i < 0 || i >= n))
        i = i < 0 ? -i : 2 * (n - 1) - i;
    return n > 1 ? i : 0;
}

// Seconds of work on a large mask: a cancel is seen between lines.
static nino_status blur_lines(const nino_run *r, const float *src, float *dst, int64_t n,
                              int64_t lines, int64_t step, int64_t line_step, const float *k,
                              int64_t radius, nino_error *err)
{
    nino_status st = NINO_OK;
    for (int64_t l = 0; l < lines && !(st = nino_node_cancelled(r, err)); l++)
        for (int64_t i = 0; i < n; i++) {
            double sum = 0;
            for (int64_t j = -radius; j <= radius; j++)
                sum += (double) k[j + radius] * src[l * line_step + mirror(i + j, n) * step];
            dst[l * line_step + i * step] = (float) sum;
        }
    return st;
}

// torchvision's gaussian_blur with a kernel of `size` (odd): sigma follows from it.
static nino_status blur(const nino_run *r, nino_array *m, int64_t size, nino_error *err)
{
    const nino_shape s = m->shape;
    if (r->is_plan)
        return NINO_OK;
    const double sigma = (double) size * 0.15 + 0.35;
    const int64_t radius = size / 2;
    float *k = malloc((size_t) size * sizeof(*k)),
          *wide = malloc((size_t) (s.dim[1] * s.dim[2]) * sizeof(*wide));
    nino_status st =
        k && wide ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    double sum = 0;
    for (int64_t i = 0; k && i < size; i++) {
        const double x = (double) (i - radius) / sigma;
        k[i] = (float) exp(-0.5 * x * x);
        sum += k[i];
    }
    for (int64_t i = 0; k && i < size; i++)
        k[i] = (float) (k[i] / sum);
    for (int64_t n = 0; !st && n < s.dim[0]; n++) {
        float *v = nino_array_f32(m) + n * s.dim[1] * s.dim[2];
        st = blur_lines(r, v, wide, s.dim[2], s.dim[1], 1, s.dim[2], k, radius, err);
        if (!st)
            st = blur_lines(r, wide, v, s.dim[1], s.dim[2], s.dim[2], 1, k, radius, err);
    }
    free(k);
    free(wide);
    return st;
}

typedef struct blur_params {
    int64_t amount;
    int64_t device;
} blur_params;

static nino_status blur_run(nino_run *r, nino_error *err)
{
    const int64_t amount = ((const blur_params *) r->params)->amount;
    nino_array *m = nino_picture_copy(nino_in_mask(r, 0), r->def->key, err);
    const nino_status st = m && amount ? blur(r, m, amount | 1, err) : NINO_OK;
    if (st) {
        nino_array_unref(&m);
        return st;
    }
    return nino_out_mask(r, 0, m, err);
}

NINO_NODE(essentials_blur, "MaskBlur+", "Mask Blur", "essentials/mask", "Blurs masks",
          NINO_INPUTS(NINO_PORT(mask, MASK)), NINO_OUTPUTS(NINO_PORT(MASK, MASK)),
          NINO_PARAMS(blur_params,
                      NINO_P_INT(blur_params, amount, 6, 0, 256, 1, .label = "Amount",
                                 .help = "Size of the blur in pixels, 0 for none"),
                      NINO_P_ENUM(blur_params, device, NINO_WORDS("auto", "cpu", "gpu"), 0,
                                  .label = "Device",
                                  .help = "Accepted for compatibility, nothing here depends on it",
                                  .is_inert = true)),
          NINO_RUN(blur_run));

typedef struct smooth_params {
    int64_t amount;
} smooth_params;

static nino_status smooth_run(nino_run *r, nino_error *err)
{
    const int64_t amount = ((const smooth_params *) r->params)->amount;
    nino_array *m = nino_picture_copy(nino_in_mask(r, 0), r->def->key, err);
    for (int64_t i = 0; m && amount && i < nino_shape_count(&m->shape); i++)
        nino_array_f32(m)[i] = nino_array_f32(m)[i] > 0.5f ? 1.0f : 0.0f;
    const nino_status st = m && amount ? blur(r, m, amount | 1, err) : NINO_OK;
    if (st) {
        nino_array_unref(&m);
        return st;
    }
    // The blur works on bytes of 0 and 1: what is not white rounds to the nearer one.
    for (int64_t i = 0; m && amount && i < nino_shape_count(&m->shape); i++)
        nino_array_f32(m)[i] = rintf(nino_array_f32(m)[i]);
    return nino_out_mask(r, 0, m, err);
}

NINO_NODE(essentials_smooth, "MaskSmooth+", "Mask Smooth", "essentials/mask",
          "Rounds the outlines of masks", NINO_INPUTS(NINO_PORT(mask, MASK)),
          NINO_OUTPUTS(NINO_PORT(MASK, MASK)),
          NINO_PARAMS(smooth_params,
                      NINO_P_INT(smooth_params, amount, 0, 0, 127, 1, .label = "Amount",
                                 .help = "Size of the blur in pixels, 0 for none")),
          NINO_RUN(smooth_run));

// ---- GrowMaskWithBlur ------------------------------------------------------------------------

typedef struct grow_params {
    int64_t expand;
    double incremental_expandrate;
    bool tapered_corners;
    bool flip_input;
    double blur_radius;
    double lerp_alpha;
    double decay_factor;
    bool fill_holes;
} grow_params;

// One step of grey dilation or erosion with a 3x3 cross or square; edges are mirrored with the edge.
static void grow_step(const float *src, float *dst, int64_t h, int64_t w, bool grows, bool cross)
{
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            float v = src[y * w + x];
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++) {
                    if (cross && dx && dy)
                        continue;
                    const int64_t sy = least(most(y + dy, 0), h - 1),
                                  sx = least(most(x + dx, 0), w - 1);
                    v = grows ? fmaxf(v, src[sy * w + sx]) : fminf(v, src[sy * w + sx]);
                }
            dst[y * w + x] = v;
        }
}

// What no way over zeros leads to from the edge becomes 1.
static bool fill(float *v, int64_t h, int64_t w)
{
    int64_t *stack = malloc((size_t) (h * w) * sizeof(*stack)), n = 0;
    uint8_t *seen = calloc((size_t) (h * w), 1);
    for (int64_t i = 0; stack && seen && i < h * w; i++) {
        const int64_t y = i / w, x = i % w;
        if ((y == 0 || x == 0 || y == h - 1 || x == w - 1) && !(v[i] > 0)) {
            seen[i] = 1;
            stack[n++] = i;
        }
    }
    while (stack && seen && n) {
        const int64_t i = stack[--n], y = i / w, x = i % w;
        const int64_t next[] = { y ? i - w : -1, y + 1 < h ? i + w : -1, x ? i - 1 : -1,
                                 x + 1 < w ? i + 1 : -1 };
        for (int k = 0; k < 4; k++)
            if (next[k] >= 0 && !seen[next[k]] && !(v[next[k]] > 0)) {
                seen[next[k]] = 1;
                stack[n++] = next[k];
            }
    }
    const bool ok = stack && seen;
    for (int64_t i = 0; ok && i < h * w; i++)
        v[i] = seen[i] ? 0 : 255;
    free(stack);
    free(seen);
    return ok;
}

// Three box blurs in a row stand for PIL's Gaussian on 8 bits: so does PIL make it.
static nino_status box_lines(const nino_run *r, const uint8_t *src, uint8_t *dst, int64_t n,
                             int64_t lines, int64_t step, int64_t line_step, double radius,
                             nino_error *err)
{
    nino_status st = NINO_OK;
    const int64_t whole = (int64_t) radius;
    const uint32_t ww = (uint32_t) ((double) (1 << 24) / (radius * 2 + 1)),
                   fw = ((1u << 24) - (uint32_t) (whole * 2 + 1) * ww) / 2;
    for (int64_t l = 0; l < lines && !(st = nino_node_cancelled(r, err)); l++)
        for (int64_t i = 0; i < n; i++) {
            uint64_t sum = 1u << 23;
            for (int64_t j = -whole - 1; j <= whole + 1; j++) {
                const int64_t at = least(most(i + j, 0), n - 1);
                const bool edge = j == -whole - 1 || j == whole + 1;
                sum += (uint64_t) src[l * line_step + at * step] * (edge ? fw : ww);
            }
            dst[l * line_step + i * step] = (uint8_t) (sum >> 24);
        }
    return st;
}

static double box_radius(double sigma)
{
    const double s2 = sigma * sigma / 3, side = sqrt(12 * s2 + 1), l = floor((side - 1) / 2);
    const double a = (2 * l + 1) * (l * (l + 1) - 3 * s2) / (6 * (s2 - (l + 1) * (l + 1)));
    return l + a;
}

static nino_status blur8(const nino_run *r, float *v, int64_t h, int64_t w, double sigma,
                         nino_error *err)
{
    const size_t n = (size_t) (h * w);
    uint8_t *a = calloc(n, 1), *b = calloc(n, 1);
    const double radius = box_radius(sigma);
    nino_status st =
        a && b ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    for (size_t i = 0; !st && i < n; i++)
        a[i] = (uint8_t) fminf(fmaxf(v[i] * 255.0f, 0), 255);
    for (int k = 0; !st && k < 6; k++) {
        st = k < 3 ? box_lines(r, a, b, w, h, 1, w, radius, err)
                   : box_lines(r, a, b, h, w, w, 1, radius, err);
        memcpy(a, b, n);
    }
    for (size_t i = 0; !st && i < n; i++)
        v[i] = (float) a[i] / 255.0f;
    free(a);
    free(b);
    return st;
}

// Between frames: part of the one before, or what is left of it.
static void blend_frames(const grow_params *p, float *v, const float *before, int64_t n)
{
    const float alpha = (float) p->lerp_alpha, decay = (float) p->decay_factor;
    float top = 0;
    for (int64_t i = 0; i < n && alpha < 1; i++)
        v[i] = alpha * v[i] + (1 - alpha) * before[i];
    for (int64_t i = 0; i < n && decay < 1; i++) {
        v[i] += decay * before[i];
        top = fmaxf(top, v[i]);
    }
    for (int64_t i = 0; i < n && decay < 1 && top > 0; i++)
        v[i] /= top;
}

// Up to thousands of steps: a cancel is seen between them.
static nino_status grow_frame(const nino_run *r, float *v, float *spare, int64_t h, int64_t w,
                              double expand, nino_error *err)
{
    const grow_params *p = r->params;
    const int64_t steps = (int64_t) fabs(rint(expand));
    for (int64_t k = 0; k < steps; k++) {
        if (nino_node_cancelled(r, err))
            return NINO_ERR_CANCELLED;
        grow_step(v, spare, h, w, expand >= 0, p->tapered_corners);
        memcpy(v, spare, (size_t) (h * w) * sizeof(float));
    }
    return !p->fill_holes || fill(v, h, w)
               ? NINO_OK
               : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
}

static nino_status grow_run(nino_run *r, nino_error *err)
{
    const grow_params *p = r->params;
    nino_array *m = nino_picture_copy(nino_in_mask(r, 0), r->def->key, err);
    if (!m)
        return NINO_ERR_NOMEM;
    const int64_t h = m->shape.dim[1], w = m->shape.dim[2], n = h * w;
    float *spare = malloc((size_t) n * sizeof(float));
    double expand = (double) p->expand;
    nino_status st = spare ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    for (int64_t i = 0; !st && !r->is_plan && i < m->shape.dim[0]; i++) {
        float *v = nino_array_f32(m) + i * n;
        for (int64_t k = 0; p->flip_input && k < n; k++)
            v[k] = 1 - v[k];
        st = grow_frame(r, v, spare, h, w, expand, err);
        expand += expand < 0 ? -p->incremental_expandrate : p->incremental_expandrate;
        if (i)
            blend_frames(p, v, v - n, n);
    }
    for (int64_t i = 0; !st && !r->is_plan && p->blur_radius > 0 && i < m->shape.dim[0]; i++)
        st = blur8(r, nino_array_f32(m) + i * n, h, w, p->blur_radius, err);
    free(spare);
    if (st) {
        nino_array_unref(&m);
        return st;
    }
    return give_both(r, m, err);
}

NINO_NODE(kj_grow, "GrowMaskWithBlur", "Grow Mask With Blur", "KJNodes/masking",
          "Grows or shrinks masks, frame by frame, and blurs them",
          NINO_INPUTS(NINO_PORT(mask, MASK)),
          NINO_OUTPUTS(NINO_PORT(mask, MASK), NINO_PORT(mask_inverted, MASK)),
          NINO_PARAMS(
              grow_params,
              NINO_P_INT(grow_params, expand, 0, -16384, 16384, 1, .label = "Grow",
                         .help = "Pixels, less than 0 shrinks"),
              NINO_P_FLOAT(grow_params, incremental_expandrate, 0.0, 0.0, 100.0, 0.1,
                           .label = "Rate", .help = "How much more each frame grows"),
              NINO_P_BOOL(grow_params, tapered_corners, true, .label = "Round",
                          .help = "Grows diamonds, off, squares"),
              NINO_P_BOOL(grow_params, flip_input, false, .label = "Invert",
                          .help = "Takes the opposite first"),
              NINO_P_FLOAT(grow_params, blur_radius, 0.0, 0.0, 100.0, 0.1, .label = "Blur",
                           .help = "Radius of a Gaussian blur"),
              NINO_P_FLOAT(grow_params, lerp_alpha, 1.0, 0.0, 1.0, 0.01, .label = "Share",
                           .help = "How much of a frame is its own, the rest is of the one before"),
              NINO_P_FLOAT(grow_params, decay_factor, 1.0, 0.0, 1.0, 0.01, .label = "Decay",
                           .help = "Below 1, so much of the frame before is added"),
              NINO_P_BOOL(grow_params, fill_holes, false, .label = "Fill holes",
                          .help = "Fills what is surrounded", .optional = true)),
          NINO_RUN(grow_run));

// ---- of colours ------------------------------------------------------------------------------

typedef struct color_params {
    bool invert;
    int64_t red;
    int64_t green;
    int64_t blue;
    int64_t threshold;
    int64_t per_batch;
} color_params;

static nino_status color_run(nino_run *r, nino_error *err)
{
    const color_params *p = r->params;
    const nino_array *a = nino_in_image(r, 0);
    const nino_shape s = a->shape;
    const double rgb[3] = { (double) p->red, (double) p->green, (double) p->blue };
    nino_array *m =
        nino_node_array(NINO_F32, NINO_SHAPE(s.dim[0], s.dim[1], s.dim[2]), r->def->key, err);
    for (int64_t i = 0; m && !r->is_plan && i < nino_shape_count(&m->shape); i++) {
        double d = 0;
        for (int k = 0; k < 3; k++) {
            const double e = (double) nino_array_f32(a)[i * s.dim[3] + k] * 255 - rgb[k];
            d += e * e;
        }
        nino_array_f32(m)[i] = (sqrt(d) <= (double) p->threshold) != p->invert ? 1.0f : 0.0f;
    }
    return nino_out_mask(r, 0, m, err);
}

NINO_NODE(
    kj_color_mask, "ColorToMask", "Color To Mask", "KJNodes/masking", "Where images have a colour",
    NINO_INPUTS(NINO_PORT(images, IMAGE)), NINO_OUTPUTS(NINO_PORT(MASK, MASK)),
    NINO_PARAMS(
        color_params,
        NINO_P_BOOL(color_params, invert, false, .label = "Invert", .help = "Takes the opposite"),
        NINO_P_INT(color_params, red, 0, 0, 255, 1, .label = "Red", .help = "From 0 to 255"),
        NINO_P_INT(color_params, green, 0, 0, 255, 1, .label = "Green", .help = "From 0 to 255"),
        NINO_P_INT(color_params, blue, 0, 0, 255, 1, .label = "Blue", .help = "From 0 to 255"),
        NINO_P_INT(color_params, threshold, 10, 0, 255, 1, .label = "Threshold",
                   .help = "How far a colour may be away"),
        NINO_P_INT(color_params, per_batch, 16, 1, 4096, 1, .label = "Per batch",
                   .help = "Accepted for compatibility, nothing here depends on it",
                   .is_inert = true)),
    NINO_RUN(color_run));

typedef struct from_color_params {
    int64_t red;
    int64_t green;
    int64_t blue;
    int64_t threshold;
} from_color_params;

static nino_status from_color_run(nino_run *r, nino_error *err)
{
    const from_color_params *p = r->params;
    const nino_array *a = nino_in_image(r, 0);
    const nino_shape s = a->shape;
    const int64_t rgb[3] = { p->red, p->green, p->blue };
    nino_array *m =
        nino_node_array(NINO_F32, NINO_SHAPE(s.dim[0], s.dim[1], s.dim[2]), r->def->key, err);
    for (int64_t i = 0; m && !r->is_plan && i < nino_shape_count(&m->shape); i++) {
        bool is = true;
        for (int k = 0; k < 3; k++) {
            const float v = fminf(fmaxf(nino_array_f32(a)[i * s.dim[3] + k], 0), 1);
            is = is && llabs((int64_t) rintf(v * 255.0f) - rgb[k]) <= p->threshold;
        }
        nino_array_f32(m)[i] = is ? 1.0f : 0.0f;
    }
    return nino_out_mask(r, 0, m, err);
}

NINO_NODE(essentials_from_color, "MaskFromColor+", "Mask From Color", "essentials/mask",
          "Where images have a colour", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(MASK, MASK)),
          NINO_PARAMS(from_color_params,
                      NINO_P_INT(from_color_params, red, 255, 0, 255, 1, .label = "Red",
                                 .help = "From 0 to 255"),
                      NINO_P_INT(from_color_params, green, 255, 0, 255, 1, .label = "Green",
                                 .help = "From 0 to 255"),
                      NINO_P_INT(from_color_params, blue, 255, 0, 255, 1, .label = "Blue",
                                 .help = "From 0 to 255"),
                      NINO_P_INT(from_color_params, threshold, 0, 0, 127, 1, .label = "Threshold",
                                 .help = "How far a colour may be away")),
          NINO_RUN(from_color_run));

typedef struct rgbcmy_params {
    double threshold_r;
    double threshold_g;
    double threshold_b;
} rgbcmy_params;

// Red, green, blue, cyan, magenta, yellow, black, white: bits say which channels are high.
static nino_status rgbcmy_run(nino_run *r, nino_error *err)
{
    static const uint8_t high[8] = { 1, 2, 4, 6, 5, 3, 0, 7 };
    const rgbcmy_params *p = r->params;
    const float limit[3] = { (float) p->threshold_r, (float) p->threshold_g,
                             (float) p->threshold_b };
    const nino_array *a = nino_in_image(r, 0);
    const nino_shape s = a->shape;
    nino_status st = NINO_OK;
    for (int o = 0; o < 8 && !st; o++) {
        nino_array *m =
            nino_node_array(NINO_F32, NINO_SHAPE(s.dim[0], s.dim[1], s.dim[2]), r->def->key, err);
        for (int64_t i = 0; m && !r->is_plan && i < nino_shape_count(&m->shape); i++) {
            bool is = true;
            for (int k = 0; k < 3; k++) {
                const float v = nino_array_f32(a)[i * s.dim[3] + k];
                const bool strict = o == 4 && k == 2; // as the original asks for magenta
                is = is && (high[o] >> k & 1 ? strict ? v > 1 - limit[k] : v >= 1 - limit[k]
                            : o == 6 ? v <= limit[k]
                                             : v < limit[k]);
            }
            nino_array_f32(m)[i] = is ? 1.0f : 0.0f;
        }
        st = nino_out_mask(r, o, m, err);
    }
    return st;
}

NINO_NODE(essentials_rgbcmy, "MaskFromRGBCMYBW+", "Mask From RGB/CMY/BW", "essentials/mask",
          "Where images have a pure colour", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(red, MASK), NINO_PORT(green, MASK), NINO_PORT(blue, MASK),
                       NINO_PORT(cyan, MASK), NINO_PORT(magenta, MASK), NINO_PORT(yellow, MASK),
                       NINO_PORT(black, MASK), NINO_PORT(white, MASK)),
          NINO_PARAMS(rgbcmy_params,
                      NINO_P_FLOAT(rgbcmy_params, threshold_r, 0.15, 0.0, 1.0, 0.01, .label = "Red",
                                   .help = "How far red may be from 0 or 1"),
                      NINO_P_FLOAT(rgbcmy_params, threshold_g, 0.15, 0.0, 1.0, 0.01,
                                   .label = "Green", .help = "How far green may be from 0 or 1"),
                      NINO_P_FLOAT(rgbcmy_params, threshold_b, 0.15, 0.0, 1.0, 0.01,
                                   .label = "Blue", .help = "How far blue may be from 0 or 1")),
          NINO_RUN(rgbcmy_run));

typedef struct easy_channel_params {
    int64_t channel;
} easy_channel_params;

static nino_status easy_channel_run(nino_run *r, nino_error *err)
{
    const int64_t k = ((const easy_channel_params *) r->params)->channel;
    const nino_array *a = nino_in_image(r, 0);
    const nino_shape s = a->shape;
    nino_array *m =
        nino_node_array(NINO_F32, NINO_SHAPE(s.dim[0], s.dim[1], s.dim[2]), r->def->key, err);
    for (int64_t i = 0; m && i < nino_shape_count(&m->shape); i++)
        nino_array_f32(m)[i] = nino_array_f32(a)[i * s.dim[3] + k];
    return nino_out_mask(r, 0, m, err);
}

NINO_NODE(easy_channel, "easy imageToMask", "ImageToMask (Deprecated)", "EasyUse/Deprecated",
          "A channel of images as a mask", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(MASK, MASK)),
          NINO_PARAMS(easy_channel_params,
                      NINO_P_ENUM(easy_channel_params, channel, NINO_WORDS("red", "green", "blue"),
                                  0, .label = "Channel", .help = "What becomes the mask")),
          NINO_RUN(easy_channel_run));
