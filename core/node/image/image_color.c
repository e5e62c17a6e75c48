// Images: fewer colours, colour spaces, grey-scale morphology. Behaviour of ComfyUI's
// nodes_post_processing.py (ImageQuantize) and nodes_morphology.py, whose filters and factors are
// kornia's.
#include <math.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/node/palette.h"
#include "core/node/planar.h"

static nino_status needs_rgb(const nino_array *a, nino_error *err)
{
    const int64_t c = a->shape.dim[3];
    return c == 3 ? NINO_OK
                  : nino_fail_kind(err, NINO_ERR_ARG, "shape", "image",
                                   "needs 3 channels, not %lld (SplitImageWithAlpha takes alpha "
                                   "off)",
                                   (long long) c);
}

// ---- ImageQuantize ---------------------------------------------------------------------------

static const char *const dithers[] = { "none",    "floyd-steinberg", "bayer-2", "bayer-4",
                                       "bayer-8", "bayer-16",        NULL };
enum { DITHER_NONE, DITHER_DIFFUSE, DITHER_BAYER_2 };

typedef struct quantize_params {
    int64_t colors, dither;
} quantize_params;

// One picture, through 8 bits.
static nino_status quantize(const quantize_params *p, float *v, int64_t h, int64_t w,
                            nino_error *err)
{
    uint8_t(*rgb)[3] = malloc((size_t) (h * w) * sizeof(*rgb));
    uint8_t *byte = (uint8_t *) rgb;
    nino_palette palette;
    if (!rgb)
        return nino_fail(err, NINO_ERR_NOMEM, "ImageQuantize", "out of memory");
    for (int64_t i = 0; i < h * w * 3; i++) {
        const float level = v[i] * 255.0f;
        byte[i] = level >= 255 ? 255 : level > 0 ? (uint8_t) level : 0;
    }
    nino_status st = nino_palette_make((const uint8_t(*)[3]) rgb, (size_t) (h * w), (int) p->colors,
                                       &palette, err);
    if (!st && p->dither >= DITHER_BAYER_2)
        nino_palette_bayer(&palette, rgb, h, w, (int) (p->dither - DITHER_BAYER_2) + 1);
    if (!st)
        st = nino_palette_draw(&palette, rgb, h, w, p->dither == DITHER_DIFFUSE, err);
    for (int64_t i = 0; !st && i < h * w * 3; i++)
        v[i] = (float) byte[i] / 255.0f;
    free(rgb);
    return st;
}

static nino_status quantize_run(nino_run *r, nino_error *err)
{
    nino_status st = needs_rgb(nino_in_image(r, 0), err);
    nino_array *out = st ? NULL : nino_picture_copy(nino_in_image(r, 0), r->def->key, err);
    if (!out)
        return st ? st : NINO_ERR_NOMEM;
    const nino_picture p = nino_picture_of(out);
    for (int64_t i = 0; !st && !r->is_plan && i < p.n; i++)
        if (!(st = nino_node_cancelled(r, err)))
            st = quantize(r->params, nino_picture_at(&p, i, 0, 0), p.h, p.w, err);
    if (st)
        nino_array_unref(&out);
    return st ? st : nino_out_image(r, 0, out, err);
}

NINO_NODE(
    image_quantize, "ImageQuantize", "ImageQuantize", "image/postprocessing",
    "Draws an image with few colours", NINO_INPUTS(NINO_PORT(image, IMAGE)),
    NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
    NINO_PARAMS(
        quantize_params,
        NINO_P_INT(quantize_params, colors, 256, 1, 256, 1, .label = "Colors",
                   .help = "How many are kept, chosen by median cut for each image"),
        NINO_P_ENUM(quantize_params, dither, dithers, DITHER_NONE, .label = "Dither",
                    .help = "How the colours between are shown: not, by error diffusion or by an "
                            "ordered pattern")),
    NINO_RUN(quantize_run));

// ---- ImageRGBToYUV, ImageYUVToRGB ------------------------------------------------------------

static void to_yuv(const float *rgb, float *yuv)
{
    yuv[0] = 0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2];
    yuv[1] = (rgb[2] - yuv[0]) * 0.564f + 0.5f;
    yuv[2] = (rgb[0] - yuv[0]) * 0.713f + 0.5f;
}

static nino_status to_yuv_run(nino_run *r, nino_error *err)
{
    const nino_array *in = nino_in_image(r, 0);
    nino_status st = needs_rgb(in, err);
    for (int k = 0; !st && k < 3; k++) { // each in three equal channels, to be looked at
        nino_array *out = nino_node_array(NINO_F32, in->shape, r->def->key, err);
        for (int64_t i = 0; out && !r->is_plan && i < nino_shape_count(&in->shape); i += 3) {
            float yuv[3], *v = nino_array_f32(out) + i;
            to_yuv(nino_array_f32(in) + i, yuv);
            v[0] = v[1] = v[2] = yuv[k];
        }
        st = nino_out_image(r, k, out, err);
    }
    return st;
}

static const nino_port yuv_out[] = {
    NINO_PORT(Y, IMAGE), NINO_PORT(U, IMAGE), NINO_PORT(V, IMAGE), { 0 }
};
NINO_NODE(rgb_to_yuv, "ImageRGBToYUV", "ImageRGBToYUV", "image/batch",
          "Brightness and the two colour differences of an image, each as a grey image",
          NINO_INPUTS(NINO_PORT(image, IMAGE)), .outputs = yuv_out, NINO_RUN(to_yuv_run));

static float mean(const float *v, int64_t n)
{
    float sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += v[i];
    return sum / (float) n;
}

static float image_color_unit_range(float v) { return v < 0 ? 0 : v > 1 ? 1 : v; }

static void image_color_to_rgb(float y, float u, float v, float *rgb)
{
    rgb[0] = image_color_unit_range(y + 1.403f * (v - 0.5f));
    rgb[1] = image_color_unit_range(y - 0.714f * (v - 0.5f) - 0.344f * (u - 0.5f));
    rgb[2] = image_color_unit_range(y + 1.773f * (u - 0.5f));
}

static nino_status to_rgb_run(nino_run *r, nino_error *err)
{
    const nino_array *in[3];
    for (int k = 0; k < 3; k++) {
        in[k] = nino_in_image(r, k);
        for (int d = 0; d < 3; d++)
            if (in[k]->shape.dim[d] != in[0]->shape.dim[d])
                return nino_fail_kind(err, NINO_ERR_ARG, "shape", k == 1 ? "U" : "V",
                                      "is another size, or as many images, than Y");
    }
    nino_shape shape = in[0]->shape;
    shape.dim[3] = 3;
    nino_array *out = nino_node_array(NINO_F32, shape, r->def->key, err);
    for (int64_t i = 0; out && !r->is_plan && i < nino_shape_count(&shape) / 3; i++) {
        float v[3];
        for (int k = 0; k < 3; k++)
            v[k] = mean(nino_array_f32(in[k]) + i * in[k]->shape.dim[3], in[k]->shape.dim[3]);
        image_color_to_rgb(v[0], v[1], v[2], nino_array_f32(out) + i * 3);
    }
    return nino_out_image(r, 0, out, err);
}

NINO_NODE(yuv_to_rgb, "ImageYUVToRGB", "ImageYUVToRGB", "image/batch",
          "An image of its brightness and its two colour differences", .inputs = yuv_out,
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)), NINO_RUN(to_rgb_run));

// ---- Morphology ------------------------------------------------------------------------------

static const char *const operations[] = { "erode",    "dilate",     "open",    "close",
                                          "gradient", "bottom_hat", "top_hat", NULL };
enum { ERODE, DILATE, OPEN, CLOSE, GRADIENT, BOTTOM_HAT, TOP_HAT };

typedef struct morphology_params {
    int64_t operation, kernel_size;
} morphology_params;

// v[i] = the most (least) of v[i - k / 2 .. i - k / 2 + k - 1] as far as that is inside, `step`
// apart; line has room for 3 (n + k - 1). Three passes whatever k is: van Herk 1992, Gil and Werman
// 1993: running extremes from the start and to the end of every block of k.
static void extreme_line(float *v, int64_t n, int64_t step, int64_t k, bool most, float *line)
{
    const int64_t m = n + k - 1, left = k / 2;
    float *from = line + m, *to = from + m;
    for (int64_t i = 0; i < m; i++) {
        const bool inside = i >= left && i < left + n;
        line[i] = inside ? v[(i - left) * step] : most ? -INFINITY : INFINITY;
    }
    for (int64_t i = 0; i < m; i++)
        from[i] = i % k == 0 ? line[i]
                  : most     ? fmaxf(from[i - 1], line[i])
                             : fminf(from[i - 1], line[i]);
    for (int64_t i = m - 1; i >= 0; i--)
        to[i] = i == m - 1 || i % k == k - 1 ? line[i]
                : most                       ? fmaxf(to[i + 1], line[i])
                                             : fminf(to[i + 1], line[i]);
    for (int64_t i = 0; i < n; i++)
        v[i * step] = most ? fmaxf(to[i], from[i + k - 1]) : fminf(to[i], from[i + k - 1]);
}

// Grows (or shrinks) what is bright, in place.
static nino_status image_color_extreme(nino_run *r, nino_array *a, int64_t k, bool most,
                                       nino_error *err)
{
    const nino_picture p = nino_picture_of(a);
    const int64_t longest = (p.h > p.w ? p.h : p.w) + k - 1;
    float *line = malloc((size_t) longest * 3 * sizeof(*line));
    nino_status st = line ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    for (int64_t i = 0; !st && i < p.n; i++) {
        st = nino_node_cancelled(r, err);
        for (int64_t y = 0; !st && y < p.h; y++)
            for (int64_t c = 0; c < p.c; c++)
                extreme_line(nino_picture_at(&p, i, y, 0) + c, p.w, p.c, k, most, line);
        for (int64_t x = 0; !st && x < p.w; x++)
            for (int64_t c = 0; c < p.c; c++)
                extreme_line(nino_picture_at(&p, i, 0, x) + c, p.h, p.w * p.c, k, most, line);
    }
    free(line);
    return st;
}

// a -= b
static void take_away(nino_array *a, const nino_array *b)
{
    for (int64_t i = 0; i < nino_shape_count(&a->shape); i++)
        nino_array_f32(a)[i] -= nino_array_f32(b)[i];
}

// `out` and `other` are copies of the image.
static nino_status morph(nino_run *r, nino_array *out, nino_array *other, nino_error *err)
{
    const morphology_params *p = r->params;
    const int64_t op = p->operation, k = p->kernel_size;
    const bool grows = op == DILATE || op == CLOSE || op == GRADIENT || op == BOTTOM_HAT;
    nino_array *first = op == TOP_HAT ? other : out;
    nino_status st = image_color_extreme(r, first, k, grows, err);
    if (!st && op != ERODE && op != DILATE) // the second half, of the other one for the gradient
        st = image_color_extreme(r, op == GRADIENT ? other : first, k, !grows, err);
    if (!st && (op == GRADIENT || op == BOTTOM_HAT || op == TOP_HAT))
        take_away(out, other);
    return st;
}

static nino_status morphology_run(nino_run *r, nino_error *err)
{
    nino_array *out = nino_picture_copy(nino_in_image(r, 0), r->def->key, err);
    nino_array *other = out ? nino_picture_copy(nino_in_image(r, 0), r->def->key, err) : NULL;
    nino_status st = other ? NINO_OK : NINO_ERR_NOMEM;
    if (!st && !r->is_plan)
        st = morph(r, out, other, err);
    nino_array_unref(&other);
    if (st)
        nino_array_unref(&out);
    return st ? st : nino_out_image(r, 0, out, err);
}

NINO_NODE(
    morphology, "Morphology", "ImageMorphology", "image/postprocessing",
    "Shrinks or grows the bright areas of an image, or shows what that changes",
    NINO_INPUTS(NINO_PORT(image, IMAGE)), NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
    NINO_PARAMS(
        morphology_params,
        NINO_P_ENUM(morphology_params, operation, operations, ERODE, .label = "Operation",
                    .help = "What happens to bright areas; gradient and the hats are differences"),
        NINO_P_INT(morphology_params, kernel_size, 3, 3, 999, 1, .label = "Size", .unit = "px",
                   .ui_max.i = 31, .help = "Side of the square that is looked at around a pixel")),
    NINO_RUN(morphology_run));
