// Images made to fit: a number of pixels, a longest side, a frame, a model's favourite sizes, one
// beside the other. Behaviour of ComfyUI's nodes_post_processing.py (ImageScaleToTotalPixels),
// nodes_images.py (ImageScaleToMaxDimension, ResizeAndPadImage, ImageStitch) and nodes_flux.py
// (FluxKontextImageScale).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/planar.h"

static nino_status image_fit_scaled(nino_run *r, int64_t width, int64_t height,
                                    nino_scale_method method, bool center, nino_error *err)
{
    nino_array *out = NULL;
    const nino_status st =
        nino_rescale(r, nino_in_image(r, 0), width, height, method, center, &out, err);
    return st ? st : nino_out_image(r, 0, out, err);
}

// ---- ImageScaleToTotalPixels -----------------------------------------------------------------

static const char *const total_methods[] = { "nearest-exact", "bilinear", "area",
                                             "bicubic",       "lanczos",  NULL };
static const nino_scale_method total_of[] = { NINO_SCALE_NEAREST, NINO_SCALE_BILINEAR,
                                              NINO_SCALE_AREA, NINO_SCALE_BICUBIC,
                                              NINO_SCALE_LANCZOS };

typedef struct total_params {
    int64_t upscale_method;
    double megapixels;
    int64_t resolution_steps;
} total_params;

// To a multiple of `steps`, of two the even one, at least one of them.
static int64_t total_side(double side, int64_t steps)
{
    const int64_t n = (int64_t) rint(side / (double) steps);
    return (n > 0 ? n : 1) * steps;
}

static nino_status total_run(nino_run *r, nino_error *err)
{
    const total_params *p = r->params;
    const nino_picture s = nino_picture_of(nino_in_image(r, 0));
    const double by = sqrt(p->megapixels * 1024 * 1024 / (double) (s.w * s.h));
    return image_fit_scaled(r, total_side((double) s.w * by, p->resolution_steps),
                            total_side((double) s.h * by, p->resolution_steps),
                            total_of[p->upscale_method], false, err);
}

NINO_NODE(image_scale_total, "ImageScaleToTotalPixels", "ImageScaleToTotalPixels",
          "image/upscaling", "Scales images to a number of pixels",
          NINO_INPUTS(NINO_PORT(image, IMAGE)), NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(total_params,
                      NINO_P_ENUM(total_params, upscale_method, total_methods, 0, .label = "Method",
                                  .help = "How values between pixels are found"),
                      NINO_P_FLOAT(total_params, megapixels, 1.0, 0.01, 16.0, 0.01,
                                   .label = "Megapixels",
                                   .help = "New number of pixels, in units of 1024x1024"),
                      NINO_P_INT(total_params, resolution_steps, 1, 1, 256, 1, .optional = true,
                                 .label = "Multiple of", .unit = "px",
                                 .help = "Both sides become multiples of this")),
          NINO_RUN(total_run));

// ---- ImageScaleToMaxDimension ----------------------------------------------------------------

// One name is there twice, as in ComfyUI: its number is stored nowhere.
static const char *const longest_methods[] = { "area",     "lanczos", "bilinear", "nearest-exact",
                                               "bilinear", "bicubic", NULL };
static const nino_scale_method longest_of[] = { NINO_SCALE_AREA,     NINO_SCALE_LANCZOS,
                                                NINO_SCALE_BILINEAR, NINO_SCALE_NEAREST,
                                                NINO_SCALE_BILINEAR, NINO_SCALE_BICUBIC };

typedef struct longest_params {
    int64_t upscale_method, largest_size;
} longest_params;

static nino_status longest_run(nino_run *r, nino_error *err)
{
    const longest_params *p = r->params;
    const nino_picture s = nino_picture_of(nino_in_image(r, 0));
    const double size = (double) p->largest_size, h = (double) s.h, w = (double) s.w;
    const int64_t width = h > w ? (int64_t) rint(w / h * size) : p->largest_size;
    const int64_t height = w > h ? (int64_t) rint(h / w * size) : p->largest_size;
    return image_fit_scaled(r, width, height, longest_of[p->upscale_method], false, err);
}

NINO_NODE(image_scale_longest, "ImageScaleToMaxDimension", "ImageScaleToMaxDimension",
          "image/upscaling", "Scales images to a length of the longer side",
          NINO_INPUTS(NINO_PORT(image, IMAGE)), NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(longest_params,
                      NINO_P_ENUM(longest_params, upscale_method, longest_methods, 0,
                                  .label = "Method", .help = "How values between pixels are found"),
                      NINO_P_INT(longest_params, largest_size, 512, 0, 16384, 1,
                                 .label = "Longest side", .unit = "px",
                                 .help = "New length of the longer side", .ui_max.i = 4096)),
          NINO_RUN(longest_run));

// ---- FluxKontextImageScale -------------------------------------------------------------------

// Widths and heights that FLUX.1 Kontext was trained with; the nearest aspect ratio is taken, of
// two the smaller width.
static const int16_t kontext[][2] = {
    { 672, 1568 }, { 688, 1504 }, { 720, 1456 },  { 752, 1392 }, { 800, 1328 }, { 832, 1248 },
    { 880, 1184 }, { 944, 1104 }, { 1024, 1024 }, { 1104, 944 }, { 1184, 880 }, { 1248, 832 },
    { 1328, 800 }, { 1392, 752 }, { 1456, 720 },  { 1504, 688 }, { 1568, 672 },
};

static nino_status kontext_run(nino_run *r, nino_error *err)
{
    const nino_picture s = nino_picture_of(nino_in_image(r, 0));
    const double aspect = (double) s.w / (double) s.h;
    size_t best = 0;
    double least = INFINITY;
    for (size_t i = 0; i < sizeof(kontext) / sizeof(kontext[0]); i++) {
        const double d = fabs(aspect - (double) kontext[i][0] / (double) kontext[i][1]);
        if (d < least) {
            least = d;
            best = i;
        }
    }
    return image_fit_scaled(r, kontext[best][0], kontext[best][1], NINO_SCALE_LANCZOS, true, err);
}

NINO_NODE(kontext_scale, "FluxKontextImageScale", "FluxKontextImageScale",
          "advanced/conditioning/flux",
          "Scales and cuts an image to a size that FLUX.1 Kontext was trained with",
          NINO_INPUTS(NINO_PORT(image, IMAGE)), NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_RUN(kontext_run));

// ---- ResizeAndPadImage -----------------------------------------------------------------------

static const char *const pad_methods[] = { "area",     "bicubic", "nearest-exact",
                                           "bilinear", "lanczos", NULL };
static const nino_scale_method pad_of[] = { NINO_SCALE_AREA, NINO_SCALE_BICUBIC, NINO_SCALE_NEAREST,
                                            NINO_SCALE_BILINEAR, NINO_SCALE_LANCZOS };

typedef struct pad_params {
    int64_t target_width, target_height, padding_color, interpolation;
} pad_params;

static nino_status image_fit_pad_run(nino_run *r, nino_error *err)
{
    const pad_params *p = r->params;
    const nino_array *in = nino_in_image(r, 0);
    const nino_picture s = nino_picture_of(in);
    const double by =
        fmin((double) p->target_width / (double) s.w, (double) p->target_height / (double) s.h);
    const int64_t w = (int64_t) ((double) s.w * by), h = (int64_t) ((double) s.h * by);
    nino_array *sized = NULL, *out = NULL;
    const nino_status st = nino_rescale(r, in, w, h, pad_of[p->interpolation], false, &sized, err);
    if (st)
        return st;
    out = nino_picture_pad(sized, (p->target_height - h) / 2, (p->target_width - w) / 2,
                           p->target_height, p->target_width, p->padding_color ? 0.0f : 1.0f,
                           r->def->key, err);
    nino_array_unref(&sized);
    return nino_out_image(r, 0, out, err);
}

NINO_NODE(image_resize_pad, "ResizeAndPadImage", "ResizeAndPadImage", "image/transform",
          "Scales images into a frame and fills the rest", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(pad_params,
                      NINO_P_INT(pad_params, target_width, 512, 1, 16384, 1, .label = "Width",
                                 .unit = "px", .help = "Width of the frame", .ui_max.i = 4096),
                      NINO_P_INT(pad_params, target_height, 512, 1, 16384, 1, .label = "Height",
                                 .unit = "px", .help = "Height of the frame", .ui_max.i = 4096),
                      NINO_P_ENUM(pad_params, padding_color, NINO_WORDS("white", "black"), 0,
                                  .label = "Border",
                                  .help = "Colour of what the image does not fill"),
                      NINO_P_ENUM(pad_params, interpolation, pad_methods, 0, .label = "Method",
                                  .help = "How values between pixels are found")),
          NINO_RUN(image_fit_pad_run));

// ---- ImageStitch -----------------------------------------------------------------------------

static const char *const colors[] = { "white", "black", "red", "green", "blue", NULL };
static const float color_of[][3] = {
    { 1, 1, 1 }, { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }
};
enum { RIGHT, DOWN, LEFT, UP };

typedef struct stitch_params {
    int64_t direction, spacing_width, spacing_color;
    bool match_image_size;
} stitch_params;

static bool is_across(const stitch_params *p)
{
    return p->direction == RIGHT || p->direction == LEFT;
}

// Replaces *a by `next`, which is taken.
static nino_status replace(nino_array **a, nino_array *next)
{
    if (!next)
        return NINO_ERR_NOMEM;
    nino_array_unref(a);
    *a = next;
    return NINO_OK;
}

// The last image goes on until there are n.
static nino_status image_fit_extend(nino_array **a, int64_t n, const char *what, nino_error *err)
{
    const int64_t had = (*a)->shape.dim[0];
    if (had >= n)
        return NINO_OK;
    nino_array *last = nino_picture_batch(*a, had - 1, 1, what, err);
    nino_array *more = last ? nino_picture_batch(last, 0, n - had, what, err) : NULL;
    nino_array *out = more ? nino_picture_join(*a, more, 0, what, err) : NULL;
    nino_array_unref(&last);
    nino_array_unref(&more);
    return replace(a, out);
}

// Makes the sides that will touch equally long: scales the second, or pads the shorter one.
static nino_status image_fit_match(nino_run *r, nino_array *a[2], nino_error *err)
{
    const stitch_params *p = r->params;
    const nino_picture s[2] = { nino_picture_of(a[0]), nino_picture_of(a[1]) };
    const double aspect = (double) s[1].w / (double) s[1].h;
    const bool across = is_across(p);
    nino_status st = NINO_OK;
    if (p->match_image_size) {
        const int64_t h = across ? s[0].h : (int64_t) ((double) s[0].w / aspect);
        const int64_t w = across ? (int64_t) ((double) s[0].h * aspect) : s[0].w;
        nino_array *sized = NULL;
        st = nino_rescale(r, a[1], w, h, NINO_SCALE_LANCZOS, false, &sized, err);
        return st ? st : replace(&a[1], sized);
    }
    const int64_t h = s[0].h > s[1].h ? s[0].h : s[1].h, w = s[0].w > s[1].w ? s[0].w : s[1].w;
    for (int i = 0; i < 2 && st == NINO_OK; i++) {
        const int64_t ph = across ? h - s[i].h : 0, pw = across ? 0 : w - s[i].w;
        if (ph || pw)
            st = replace(&a[i],
                         nino_picture_pad(a[i], ph / 2, pw / 2, s[i].h + ph, s[i].w + pw,
                                          p->spacing_color == 0 ? 1.0f : 0.0f, r->def->key, err));
    }
    return st;
}

static nino_array *spacing(const nino_run *r, const nino_array *like, nino_error *err)
{
    const stitch_params *p = r->params;
    const nino_picture s = nino_picture_of(like);
    const int64_t width = p->spacing_width + p->spacing_width % 2;
    nino_array *out = nino_node_array(
        NINO_F32,
        nino_picture_shape(like, s.n, is_across(p) ? s.h : width, is_across(p) ? width : s.w),
        r->def->key, err);
    for (int64_t i = 0; out && i < nino_shape_count(&out->shape); i++)
        nino_array_f32(out)[i] = i % s.c < 3 ? color_of[p->spacing_color][i % s.c] : 1.0f;
    return out;
}

static nino_status stitch(nino_run *r, nino_array *a[2], nino_error *err)
{
    const stitch_params *p = r->params;
    const char *what = r->def->key;
    const int axis = is_across(p) ? 2 : 1;
    const int64_t n =
        a[0]->shape.dim[0] > a[1]->shape.dim[0] ? a[0]->shape.dim[0] : a[1]->shape.dim[0];
    const int64_t c =
        a[0]->shape.dim[3] > a[1]->shape.dim[3] ? a[0]->shape.dim[3] : a[1]->shape.dim[3];
    nino_status st = image_fit_extend(&a[0], n, what, err);
    if (st == NINO_OK)
        st = image_fit_extend(&a[1], n, what, err);
    if (st == NINO_OK)
        st = image_fit_match(r, a, err);
    for (int i = 0; i < 2 && st == NINO_OK; i++)
        if (a[i]->shape.dim[3] < c)
            st = replace(&a[i], nino_picture_channels(a[i], c, what, err));
    if (st)
        return st;
    const int first = p->direction == LEFT || p->direction == UP;
    if (p->spacing_width) {
        nino_array *gap = spacing(r, a[first], err);
        nino_array *with = gap ? nino_picture_join(a[first], gap, axis, what, err) : NULL;
        nino_array_unref(&gap);
        if ((st = replace(&a[first], with)))
            return st;
    }
    return nino_out_image(r, 0, nino_picture_join(a[first], a[!first], axis, what, err), err);
}

static nino_status stitch_run(nino_run *r, nino_error *err)
{
    if (!r->in[1]) {
        r->out[0] = nino_value_ref(r->in[0]);
        return NINO_OK;
    }
    nino_array *a[2] = { nino_array_ref(nino_in_image(r, 0)), nino_array_ref(nino_in_image(r, 1)) };
    const nino_status st = stitch(r, a, err);
    nino_array_unref(&a[0]);
    nino_array_unref(&a[1]);
    return st;
}

NINO_NODE(
    image_stitch, "ImageStitch", "Image Stitch", "image/transform", "Puts two images side by side",
    NINO_INPUTS(NINO_PORT(image1, IMAGE), NINO_PORT(image2, IMAGE, .optional = true)),
    NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
    NINO_PARAMS(
        stitch_params,
        NINO_P_ENUM(stitch_params, direction, NINO_WORDS("right", "down", "left", "up"), RIGHT,
                    .label = "Direction",
                    .help = "On which side of the first image the second goes"),
        NINO_P_BOOL(
            stitch_params, match_image_size, true, .label = "Match size",
            .help = "Scales the second image to the first; off: the shorter one gets borders"),
        NINO_P_INT(stitch_params, spacing_width, 0, 0, 1024, 2, .label = "Gap", .unit = "px",
                   .help = "Space between the two"),
        NINO_P_ENUM(stitch_params, spacing_color, colors, 0, .label = "Colour of the gap",
                    .help = "Borders have it too if it is white, and else are black")),
    NINO_RUN(stitch_run));
