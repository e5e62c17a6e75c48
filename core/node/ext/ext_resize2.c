// More sizes: those of rgthree, Custom-Scripts, Easy-Use and WAS, and masks.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/ext/ext.h"

static const nino_scale_method methods[] = { NINO_SCALE_NEAREST, NINO_SCALE_BILINEAR,
                                             NINO_SCALE_AREA, NINO_SCALE_BICUBIC,
                                             NINO_SCALE_LANCZOS };
static const float black[3] = { 0 };

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static nino_status too_small(const char *key, nino_error *err)
{
    return nino_fail_kind(err, NINO_ERR_RANGE, "range", key, "nothing would be left of the image");
}

// ---- Image Resize (rgthree) ------------------------------------------------------------------

typedef struct rgthree_params {
    int64_t measurement;
    int64_t width;
    int64_t height;
    int64_t fit;
    int64_t method;
} rgthree_params;

// Scaled to sw x sh, then cut or framed to w x h in the middle.
static nino_status scaled_framed(nino_run *r, int64_t sw, int64_t sh, int64_t w, int64_t h,
                                 nino_scale_method method, nino_array **out, nino_error *err)
{
    nino_array *a = NULL, *cut = NULL;
    if (sw < 1 || sh < 1 || w < 1 || h < 1)
        return too_small("width", err);
    nino_status st = nino_rescale(r, nino_in_image(r, 0), sw, sh, method, false, &a, err);
    if (st)
        return st;
    cut = nino_picture_crop(a, most(sh - h, 0) / 2, most(sw - w, 0) / 2, least(h, sh), least(w, sw),
                            r->def->key, err);
    nino_array_unref(&a);
    if (cut && (sw < w || sh < h)) {
        *out = nino_ext_framed(cut, most(h - sh, 0) / 2, most(w - sw, 0) / 2, h, w, black,
                               r->def->key, err);
        nino_array_unref(&cut);
    } else {
        *out = cut;
    }
    return *out ? NINO_OK : NINO_ERR_NOMEM;
}

static nino_status rgthree_resize_run(nino_run *r, nino_error *err)
{
    enum { FIT_CROP, FIT_PAD, FIT_CONTAIN };
    const rgthree_params *p = r->params;
    const nino_picture s = nino_picture_of(nino_in_image(r, 0));
    const double W = (double) s.w, H = (double) s.h;
    int64_t w = p->width, h = p->height, fit = p->fit;
    if (p->measurement == 1) {
        w = (int64_t) rint((double) w * W / 100);
        h = (int64_t) rint((double) h * H / 100);
    }
    if (!w && !h) {
        w = s.w;
        h = s.h;
    }
    if (!w || !h) {
        w = w ? w : (int64_t) rint((double) h / H * W);
        h = h ? h : (int64_t) rint((double) w / W * H);
        fit = FIT_CONTAIN;
    }
    int64_t sw = w, sh = h;
    const double wide = (double) h / H * W, high = (double) w / W * H;
    if (wide > (double) w)
        *(fit == FIT_CROP ? &sw : &sh) = (int64_t) rint(fit == FIT_CROP ? wide : high);
    else if (high > (double) h)
        *(fit == FIT_CROP ? &sh : &sw) = (int64_t) rint(fit == FIT_CROP ? high : wide);
    nino_array *out = NULL;
    nino_status st = scaled_framed(r, sw, sh, fit == FIT_CONTAIN ? sw : w,
                                   fit == FIT_CONTAIN ? sh : h, methods[p->method], &out, err);
    if (!st)
        st = nino_out_image(r, 0, out, err);
    if (!st)
        st = nino_out_int(r, 1, fit == FIT_CONTAIN ? sw : w, err);
    return st ? st : nino_out_int(r, 2, fit == FIT_CONTAIN ? sh : h, err);
}

NINO_NODE(
    rgthree_resize, "Image Resize (rgthree)", "Image Resize (rgthree)", "rgthree",
    "Scales images, cuts or pads them", NINO_INPUTS(NINO_PORT(image, IMAGE)),
    NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE), NINO_PORT(WIDTH, INT), NINO_PORT(HEIGHT, INT)),
    NINO_PARAMS(rgthree_params,
                NINO_P_ENUM(rgthree_params, measurement, NINO_WORDS("pixels", "percentage"), 0,
                            .label = "Unit", .help = "Pixels or parts of the size"),
                NINO_P_INT(rgthree_params, width, 0, 0, 16384, 1, .label = "Width",
                           .help = "New width, 0 to keep the aspect ratio"),
                NINO_P_INT(rgthree_params, height, 0, 0, 16384, 1, .label = "Height",
                           .help = "New height, 0 to keep the aspect ratio"),
                NINO_P_ENUM(rgthree_params, fit, NINO_WORDS("crop", "pad", "contain"), 0,
                            .label = "Fit", .help = "What becomes of the aspect ratio"),
                NINO_P_ENUM(rgthree_params, method,
                            NINO_WORDS("nearest-exact", "bilinear", "area", "bicubic", "lanczos"),
                            0, .label = "Method", .help = "How values between pixels are found")),
    NINO_RUN(rgthree_resize_run));

// ---- ConstrainImage --------------------------------------------------------------------------

typedef struct constrain_params {
    int64_t max_width;
    int64_t max_height;
    int64_t min_width;
    int64_t min_height;
    int64_t crop_if_required;
} constrain_params;

typedef struct box {
    int64_t w, h, cw, ch; // scaled, then cut
} box;

// max(min(size, least), most), as the original does it: with a least of 0 the most counts.
static box constrain(const constrain_params *p, bool is_video, int64_t W, int64_t H)
{
    const double aspect = (double) W / (double) H;
    const bool crops = p->crop_if_required == 0;
    // The class for videos always starts from the largest size.
    box b = { .w = is_video ? most(least(W, p->min_width), p->max_width)
                            : least(most(W, p->min_width), p->max_width),
              .h = is_video ? most(least(H, p->min_height), p->max_height)
                            : least(most(H, p->min_height), p->max_height) };
    if ((double) b.w / (double) b.h > aspect) {
        b.w = most((int64_t) ((double) b.h * aspect), p->min_width);
        if (crops)
            b.h = (int64_t) ((double) H / ((double) W / (double) b.w));
    } else {
        b.h = most((int64_t) ((double) b.w / aspect), p->min_height);
        if (crops)
            b.w = (int64_t) ((double) W / ((double) H / (double) b.h));
    }
    b.cw = crops ? least(b.w, p->max_width) : b.w;
    b.ch = crops ? least(b.h, p->max_height) : b.h;
    return b;
}

static nino_status constrained(nino_run *r, bool is_video, nino_array **out, nino_error *err)
{
    const constrain_params *p = r->params;
    const nino_picture s = nino_picture_of(nino_in_image(r, 0));
    if (p->max_width < 1 || p->max_height < 1)
        return too_small(p->max_width < 1 ? "max_width" : "max_height", err);
    const box b = constrain(p, is_video, s.w, s.h);
    return scaled_framed(r, b.w, b.h, b.cw, b.ch, NINO_SCALE_LANCZOS, out, err);
}

static nino_status constrain_run(nino_run *r, nino_error *err)
{
    nino_array *all = NULL;
    nino_status st = constrained(r, false, &all, err);
    if (st)
        return st;
    if (!(r->out[0] = nino_value_create_list(NINO_PORT_IMAGE)))
        st = nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    for (int64_t i = 0; !st && i < all->shape.dim[0]; i++) {
        nino_value *v = nino_value_create(NINO_PORT_IMAGE);
        if (v)
            v->u.image = nino_picture_batch(all, i, 1, r->def->key, err);
        if (!v || !v->u.image || !nino_value_append(r->out[0], v))
            st = nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    }
    nino_array_unref(&all);
    return st;
}

static nino_status constrain_video_run(nino_run *r, nino_error *err)
{
    nino_array *all = NULL;
    const nino_status st = constrained(r, true, &all, err);
    return st ? st : nino_out_image(r, 0, all, err);
}

NINO_NODE(constrain_image, "ConstrainImage|pysssss", "Constrain Image", "image",
          "Scales images into limits; they come out one by one",
          NINO_INPUTS(NINO_PORT(images, IMAGE)), NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(constrain_params,
                      NINO_P_INT(constrain_params, max_width, 1024, 0, INT64_MAX, 1,
                                 .label = "Most width", .help = "The width is at most this"),
                      NINO_P_INT(constrain_params, max_height, 1024, 0, INT64_MAX, 1,
                                 .label = "Most height", .help = "The height is at most this"),
                      NINO_P_INT(constrain_params, min_width, 0, 0, INT64_MAX, 1,
                                 .label = "Least width", .help = "The width is at least this"),
                      NINO_P_INT(constrain_params, min_height, 0, 0, INT64_MAX, 1,
                                 .label = "Least height", .help = "The height is at least this"),
                      NINO_P_ENUM(constrain_params, crop_if_required, NINO_WORDS("yes", "no"), 1,
                                  .label = "Crop", .help = "Cuts off what is too long")),
          NINO_RUN(constrain_run));

NINO_NODE(constrain_video, "ConstrainImageforVideo|pysssss", "Constrain Image for Video", "image",
          "Scales images into limits", NINO_INPUTS(NINO_PORT(images, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(constrain_params,
                      NINO_P_INT(constrain_params, max_width, 1024, 0, INT64_MAX, 1,
                                 .label = "Most width", .help = "The width is at most this"),
                      NINO_P_INT(constrain_params, max_height, 1024, 0, INT64_MAX, 1,
                                 .label = "Most height", .help = "The height is at most this"),
                      NINO_P_INT(constrain_params, min_width, 0, 0, INT64_MAX, 1,
                                 .label = "Least width", .help = "The width is at least this"),
                      NINO_P_INT(constrain_params, min_height, 0, 0, INT64_MAX, 1,
                                 .label = "Least height", .help = "The height is at least this"),
                      NINO_P_ENUM(constrain_params, crop_if_required, NINO_WORDS("yes", "no"), 1,
                                  .label = "Crop", .help = "Cuts off what is too long")),
          NINO_RUN(constrain_video_run));

// ---- Easy-Use --------------------------------------------------------------------------------

typedef struct down_params {
    int64_t size;
    bool mode;
} down_params;

// Smaller ones stay as they are.
static nino_status down_run(nino_run *r, nino_error *err)
{
    const down_params *p = r->params;
    const nino_picture s = nino_picture_of(nino_in_image(r, 0));
    const int64_t side = p->mode ? most(s.w, s.h) : least(s.w, s.h);
    if (side <= p->size) {
        nino_ext_give(r, 0, r->in[0]);
        return NINO_OK;
    }
    const double by = (double) p->size / (double) side;
    nino_array *out = NULL;
    const int64_t w = most((int64_t) ((double) s.w * by), 1),
                  h = most((int64_t) ((double) s.h * by), 1);
    const nino_status st =
        nino_rescale(r, nino_in_image(r, 0), w, h, NINO_SCALE_LANCZOS, true, &out, err);
    return st ? st : nino_out_image(r, 0, out, err);
}

NINO_NODE(easy_down, "easy imageScaleDownToSize", "Image Scale Down To Size", "EasyUse/Image",
          "Scales images down to a length of a side", NINO_INPUTS(NINO_PORT(images, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(down_params,
                      NINO_P_INT(down_params, size, 512, 1, 16384, 1, .label = "Size",
                                 .help = "Length of the side in pixels"),
                      NINO_P_BOOL(down_params, mode, true, .label = "Longer side",
                                  .help = "On, the longer side counts, off, the shorter one")),
          NINO_RUN(down_run));

typedef struct norm_params {
    int64_t upscale_method;
    double scale_by;
} norm_params;

// To multiples of 8, rounded down.
static nino_status norm_run(nino_run *r, nino_error *err)
{
    const norm_params *p = r->params;
    const nino_picture s = nino_picture_of(nino_in_image(r, 0));
    const int64_t w = (int64_t) ((double) s.w * p->scale_by) / 8 * 8,
                  h = (int64_t) ((double) s.h * p->scale_by) / 8 * 8;
    nino_array *out = NULL;
    const nino_status st = scaled_framed(r, w, h, w, h, methods[p->upscale_method], &out, err);
    return st ? st : nino_out_image(r, 0, out, err);
}

NINO_NODE(
    easy_norm, "easy imageScaleToNormPixels", "ImageScaleToNormPixels", "EasyUse/Image",
    "Scales images to multiples of 8 pixels", NINO_INPUTS(NINO_PORT(image, IMAGE)),
    NINO_OUTPUTS(NINO_PORT(image, IMAGE)),
    NINO_PARAMS(norm_params,
                NINO_P_ENUM(norm_params, upscale_method,
                            NINO_WORDS("nearest-exact", "bilinear", "area", "bicubic", "lanczos"),
                            0, .label = "Method", .help = "How values between pixels are found"),
                NINO_P_FLOAT(norm_params, scale_by, 1.0, 0.01, 8.0, 0.01, .label = "Scale",
                             .help = "What both sides are multiplied by")),
    NINO_RUN(norm_run));

// ---- WAS -------------------------------------------------------------------------------------

typedef struct was_params {
    int64_t mode;
    int64_t supersample;
    int64_t resampling;
    double rescale_factor;
    int64_t resize_width;
    int64_t resize_height;
} was_params;

static nino_status was_scale(nino_run *r, const nino_array *x, int64_t w, int64_t h,
                             nino_scale_method method, nino_array **out, nino_error *err)
{
    const nino_picture s = nino_picture_of(x);
    nino_array *a = nino_node_array(NINO_F32, NINO_SHAPE(s.n, h, w, s.c), r->def->key, err);
    const nino_status st = !a           ? err->code
                           : r->is_plan ? NINO_OK
                                        : nino_rescale_pil(x, a, method, err);
    *out = st ? NULL : a;
    if (st)
        nino_array_unref(&a);
    return st;
}

// PIL's filters. Supersampling: eight times as large first.
static nino_status was_resize_run(nino_run *r, nino_error *err)
{
    static const nino_scale_method of[] = { NINO_SCALE_LANCZOS, NINO_SCALE_NEAREST,
                                            NINO_SCALE_BILINEAR, NINO_SCALE_BICUBIC };
    const was_params *p = r->params;
    const nino_picture s = nino_picture_of(nino_in_image(r, 0));
    int64_t w = p->resize_width, h = p->resize_height;
    nino_array *large = NULL, *out = NULL;
    if (p->mode == 0) {
        w = (int64_t) ((double) s.w * p->rescale_factor);
        h = (int64_t) ((double) s.h * p->rescale_factor);
    } else { // to multiples of 8
        w = w % 8 ? w + (8 - w % 8) : w;
        h = h % 8 ? h + (8 - h % 8) : h;
    }
    if (w < 1 || h < 1)
        return too_small("rescale_factor", err);
    nino_status st = NINO_OK;
    if (p->supersample == 0)
        st = was_scale(r, nino_in_image(r, 0), w * 8, h * 8, of[p->resampling], &large, err);
    if (!st)
        st = was_scale(r, large ? large : nino_in_image(r, 0), w, h, of[p->resampling], &out, err);
    nino_array_unref(&large);
    return st ? st : nino_out_image(r, 0, out, err);
}

NINO_NODE(was_resize, "Image Resize", "Image Resize", "WAS Suite/Image/Transform", "Scales images",
          NINO_INPUTS(NINO_PORT(image, IMAGE)), NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(was_params,
                      NINO_P_ENUM(was_params, mode, NINO_WORDS("rescale", "resize"), 0,
                                  .label = "Mode", .help = "By a factor, or to a size"),
                      NINO_P_ENUM(was_params, supersample, NINO_WORDS("true", "false"), 0,
                                  .label = "Supersample",
                                  .help = "Scales to eight times the size first"),
                      NINO_P_ENUM(was_params, resampling,
                                  NINO_WORDS("lanczos", "nearest", "bilinear", "bicubic"), 0,
                                  .label = "Method", .help = "How values between pixels are found"),
                      NINO_P_FLOAT(was_params, rescale_factor, 2.0, 0.01, 16.0, 0.01,
                                   .label = "Factor", .help = "What both sides are multiplied by"),
                      NINO_P_INT(was_params, resize_width, 1024, 1, 48000, 1, .label = "Width",
                                 .help = "New width"),
                      NINO_P_INT(was_params, resize_height, 1536, 1, 48000, 1, .label = "Height",
                                 .help = "New height")),
          NINO_RUN(was_resize_run));

// ---- masks -----------------------------------------------------------------------------------

typedef struct mask_params {
    int64_t width;
    int64_t height;
    bool keep_proportions;
    int64_t upscale_method;
    int64_t crop;
} mask_params;

static nino_status mask_run(nino_run *r, nino_error *err)
{
    const mask_params *p = r->params;
    const nino_array *m = nino_in_mask(r, 0);
    const nino_shape s = m->shape;
    int64_t w = p->width ? p->width : s.dim[2], h = p->height ? p->height : s.dim[1];
    if (p->keep_proportions) {
        const double by = fmin((double) w / (double) s.dim[2], (double) h / (double) s.dim[1]);
        w = (int64_t) rint((double) s.dim[2] * by);
        h = (int64_t) rint((double) s.dim[1] * by);
    }
    if (w < 1 || h < 1)
        return too_small("width", err);
    nino_array *in = nino_node_array(NINO_F32, NINO_SHAPE(s.dim[0], s.dim[1], s.dim[2], 1),
                                     r->def->key, err),
               *sized = NULL, *out = NULL;
    nino_status st = in ? NINO_OK : NINO_ERR_NOMEM;
    if (in) {
        memcpy(in->data, m->data, m->bytes);
        st = nino_rescale(r, in, w, h, methods[p->upscale_method], p->crop == 1, &sized, err);
    }
    if (!st && (out = nino_node_array(NINO_F32, NINO_SHAPE(s.dim[0], h, w), r->def->key, err)))
        memcpy(out->data, sized->data, out->bytes);
    nino_array_unref(&in);
    nino_array_unref(&sized);
    if (!st)
        st = nino_out_mask(r, 0, out, err);
    if (!st)
        st = nino_out_int(r, 1, w, err);
    return st ? st : nino_out_int(r, 2, h, err);
}

NINO_NODE(
    kj_resize_mask, "ResizeMask", "Resize Mask", "KJNodes/masking", "Scales masks",
    NINO_INPUTS(NINO_PORT(mask, MASK)),
    NINO_OUTPUTS(NINO_PORT(mask, MASK), NINO_PORT(width, INT), NINO_PORT(height, INT)),
    NINO_PARAMS(mask_params,
                NINO_P_INT(mask_params, width, 512, 0, 16384, 1, .label = "Width",
                           .help = "Width in pixels"),
                NINO_P_INT(mask_params, height, 512, 0, 16384, 1, .label = "Height",
                           .help = "Height in pixels"),
                NINO_P_BOOL(mask_params, keep_proportions, false, .label = "Aspect ratio",
                            .help = "Keeps it"),
                NINO_P_ENUM(mask_params, upscale_method,
                            NINO_WORDS("nearest-exact", "bilinear", "area", "bicubic", "lanczos"),
                            0, .label = "Method", .help = "How values between pixels are found"),
                NINO_P_ENUM(mask_params, crop, NINO_WORDS("disabled", "center"), 0, .label = "Crop",
                            .help = "Cuts to the new aspect ratio first")),
    NINO_RUN(mask_run));
