// Images and masks at another size, in nine ways. Behaviour of ComfyUI's nodes_post_processing.py
// (ResizeImageMaskNode).
#include <math.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/planar.h"

static const char *const resize_types[] = { "scale dimensions",
                                            "scale by multiplier",
                                            "scale longer dimension",
                                            "scale shorter dimension",
                                            "scale width",
                                            "scale height",
                                            "scale total pixels",
                                            "match size",
                                            "scale to multiple",
                                            NULL };
enum { DIMENSIONS, FACTOR, LONGER, SHORTER, WIDTH, HEIGHT, TOTAL, MATCH, MULTIPLE };

static const char *const resize_methods[] = { "nearest-exact", "bilinear", "area",
                                              "bicubic",       "lanczos",  NULL };
static const nino_scale_method resize_method_of[] = { NINO_SCALE_NEAREST, NINO_SCALE_BILINEAR,
                                                      NINO_SCALE_AREA, NINO_SCALE_BICUBIC,
                                                      NINO_SCALE_LANCZOS };

typedef struct resize_params {
    int64_t resize_type, width, height, crop, longer_size, shorter_size, multiple, scale_method;
    double multiplier, megapixels;
} resize_params;

typedef struct resize_to {
    int64_t w, h;
    bool center;
} resize_to;

static nino_array *resize_array(const nino_value *v)
{
    return v->type == NINO_PORT_MASK ? v->u.mask : v->u.image;
}

// Python's round(), and at least 1 where one side follows from the other.
static int64_t resize_round(double v) { return (int64_t) rint(v); }
static int64_t resize_follow(double v) { return v < 1 ? 1 : resize_round(v); }

// A side of 0 comes from the other by the aspect ratio.
static resize_to resize_sides(double w, double h, int64_t width, int64_t height, bool center)
{
    if (!width && !height)
        return (resize_to){ (int64_t) w, (int64_t) h, false };
    if (!width)
        width = resize_follow(w * (double) height / h);
    else if (!height)
        height = resize_follow(h * (double) width / w);
    return (resize_to){ width, height, center };
}

// One side gets `size`, the other keeps the ratio.
static resize_to resize_edge(double w, double h, int64_t size, bool longer)
{
    const double s = (double) size;
    if (w == h)
        return (resize_to){ size, size, false };
    if ((w > h) == longer)
        return (resize_to){ size, resize_round(h / w * s), false };
    return (resize_to){ resize_round(w / h * s), size, false };
}

static resize_to resize_target(const nino_run *r, double w, double h)
{
    const resize_params *p = r->params;
    switch (p->resize_type) {
    case DIMENSIONS: return resize_sides(w, h, p->width, p->height, p->crop == 1);
    case FACTOR:
        return (resize_to){ resize_round(w * p->multiplier), resize_round(h * p->multiplier),
                            false };
    case LONGER: return resize_edge(w, h, p->longer_size, true);
    case SHORTER: return resize_edge(w, h, p->shorter_size, false);
    case WIDTH: return resize_sides(w, h, p->width, 0, false);
    case HEIGHT: return resize_sides(w, h, 0, p->height, false);
    case TOTAL: {
        const double by = sqrt(trunc(p->megapixels * 1024 * 1024) / (w * h));
        return (resize_to){ resize_round(w * by), resize_round(h * by), false };
    }
    default: {
        const nino_picture like = nino_picture_of(resize_array(r->in[1]));
        return (resize_to){ like.w, like.h, p->crop == 1 };
    }
    }
}

// Covers a size whose sides are multiples, and cuts off what is too much. *out NULL: as it is.
static nino_status resize_multiple(nino_run *r, const nino_array *x, nino_array **out,
                                   nino_error *err)
{
    const resize_params *p = r->params;
    const nino_picture s = nino_picture_of(x);
    const int64_t w = s.w / p->multiple * p->multiple, h = s.h / p->multiple * p->multiple;
    nino_array *wide = NULL;
    if (p->multiple <= 1 || !w || !h || (w == s.w && h == s.h))
        return NINO_OK;
    const double by_w = (double) w / (double) s.w, by_h = (double) h / (double) s.h;
    const int64_t sw = by_w >= by_h ? w : (int64_t) ceil((double) s.w * by_h);
    const int64_t sh = by_w >= by_h ? (int64_t) ceil((double) s.h * by_w) : h;
    const nino_status st =
        nino_rescale(r, x, sw, sh, resize_method_of[p->scale_method], false, &wide, err);
    if (st)
        return st;
    *out = nino_picture_crop(wide, (sh - h) / 2, (sw - w) / 2, h, w, r->def->key, err);
    nino_array_unref(&wide);
    return *out ? NINO_OK : NINO_ERR_NOMEM;
}

static nino_status resize_run(nino_run *r, nino_error *err)
{
    const resize_params *p = r->params;
    const bool is_mask = r->in[0]->type == NINO_PORT_MASK;
    // a mask is a picture of one channel
    nino_array flat = *resize_array(r->in[0]), *out = NULL;
    const nino_picture s = nino_picture_of(&flat);
    nino_status st = NINO_OK;
    if (is_mask)
        flat.shape = NINO_SHAPE(s.n, s.h, s.w, 1);
    if (p->resize_type == MATCH && !r->in[1])
        return nino_fail_kind(err, NINO_ERR_ARG, "value", "resize_type.match",
                              "nothing whose size could be matched is connected");
    if (p->resize_type == MULTIPLE) {
        st = resize_multiple(r, &flat, &out, err);
    } else {
        const resize_to to = resize_target(r, (double) s.w, (double) s.h);
        const bool same = p->resize_type == DIMENSIONS && !p->width && !p->height;
        if (!same)
            st = nino_rescale(r, &flat, to.w, to.h, resize_method_of[p->scale_method], to.center,
                              &out, err);
    }
    if (st)
        return st;
    if (!out) {
        r->out[0] = nino_value_ref(r->in[0]);
        return NINO_OK;
    }
    if (is_mask)
        out->shape = NINO_SHAPE(out->shape.dim[0], out->shape.dim[1], out->shape.dim[2]);
    return is_mask ? nino_out_mask(r, 0, out, err) : nino_out_image(r, 0, out, err);
}

#define SIZE_ROW(key, fld, text, is_when)                                                          \
    NINO_K_INT(key, resize_params, fld, 512, 0, 16384, 1, .label = text, .unit = "px",             \
               .help = "New length; 0: from the other side, by the aspect ratio",                  \
               .ui_max.i = 4096, .when = is_when)
#define CROP_ROW(is_when)                                                                          \
    {                                                                                              \
        .key = "resize_type.crop", .type = NINO_ENUM,                                              \
        .offset = NINO_FIELD(resize_params, crop, int64_t),                                        \
        .names = (const char *const[]){ "disabled", "center", NULL }, .def.i = 1, .label = "Crop", \
        .help = "center: cut to the new aspect ratio instead of stretching", .when = is_when       \
    }

NINO_NODE(
    resize_image_mask, "ResizeImageMaskNode", "Resize Image/Mask", "image/transform",
    "Scales images or masks by a factor, to a size, a number of pixels, a multiple",
    NINO_INPUTS(NINO_PORT(input, ANY, .types = "IMAGE,MASK", .match = "input_type",
                          .help = "Images or masks"),
                { .key = "resize_type.match",
                  .type = NINO_PORT_ANY,
                  .types = "IMAGE,MASK",
                  .when = "match size",
                  .help = "What has the size" }),
    NINO_OUTPUTS(NINO_PORT(resized, ANY, .types = "IMAGE,MASK", .match = "input_type")),
    NINO_PARAMS(
        resize_params,
        NINO_P_ENUM(resize_params, resize_type, resize_types, 0, .label = "How",
                    .help = "What decides the new size"),
        SIZE_ROW("resize_type.width", width, "Width", "scale dimensions|scale width"),
        SIZE_ROW("resize_type.height", height, "Height", "scale dimensions|scale height"),
        CROP_ROW("scale dimensions|match size"),
        NINO_K_FLOAT("resize_type.multiplier", resize_params, multiplier, 1.0, 0.01, 8.0, 0.01,
                     .label = "Factor", .help = "New size as a multiple of the old one",
                     .when = "scale by multiplier"),
        SIZE_ROW("resize_type.longer_size", longer_size, "Longer side", "scale longer dimension"),
        SIZE_ROW("resize_type.shorter_size", shorter_size, "Shorter side",
                 "scale shorter dimension"),
        NINO_K_FLOAT("resize_type.megapixels", resize_params, megapixels, 1.0, 0.01, 16.0, 0.01,
                     .label = "Megapixels", .help = "New number of pixels, in units of 1024x1024",
                     .when = "scale total pixels"),
        NINO_K_INT("resize_type.multiple", resize_params, multiple, 8, 1, 16384, 1,
                   .label = "Multiple of", .unit = "px",
                   .help = "Both sides become multiples of it; what is too much is cut off",
                   .when = "scale to multiple"),
        NINO_P_ENUM(resize_params, scale_method, resize_methods, 2, .label = "Method",
                    .help = "How values between pixels are found")),
    NINO_RUN(resize_run));
