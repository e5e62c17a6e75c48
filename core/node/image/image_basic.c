// Images: scale, batch. Behaviour of ComfyUI's nodes.py (ImageScale, ImageScaleBy, ImageBatch).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/util.h"

// ---- ImageScale, ImageScaleBy ----------------------------------------------------------------

static const char *const methods[] = { "nearest-exact", "bilinear", "area",
                                       "bicubic",       "lanczos",  NULL };

static nino_status image_basic_scaled(nino_run *r, const nino_array *x, int64_t width,
                                      int64_t height, int64_t method, bool center, nino_error *err)
{
    nino_value *v = nino_node_out(r, 0, NINO_PORT_IMAGE, err);
    if (!v)
        return NINO_ERR_NOMEM;
    const nino_scale_method m = method == 4 ? NINO_SCALE_LANCZOS : (nino_scale_method) method;
    return nino_rescale(r, x, width, height, m, center, &v->u.image, err);
}

static int64_t at_least_1(double v) { return v < 1 ? 1 : (int64_t) rint(v); }

typedef struct scale_params {
    int64_t upscale_method, width, height, crop;
} scale_params;

static nino_status scale_run(nino_run *r, nino_error *err)
{
    const scale_params *p = r->params;
    const nino_array *x = r->in[0]->u.image;
    const double h = (double) x->shape.dim[1], w = (double) x->shape.dim[2];
    int64_t width = p->width, height = p->height;
    if (!width && !height) { // both 0: leave it alone
        r->out[0] = nino_value_ref(r->in[0]);
        return NINO_OK;
    }
    if (!width)
        width = at_least_1(w * (double) height / h);
    else if (!height)
        height = at_least_1(h * (double) width / w);
    return image_basic_scaled(r, x, width, height, p->upscale_method, p->crop == 1, err);
}

NINO_NODE(image_scale, "ImageScale", "Upscale Image", "image/upscaling", "Scales images to a size",
          NINO_INPUTS(NINO_PORT(image, IMAGE)), NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(
              scale_params,
              NINO_P_ENUM(scale_params, upscale_method, methods, 0, .label = "Method",
                          .help = "How values between pixels are found"),
              NINO_P_INT(scale_params, width, 512, 0, 16384, 1, .label = "Width", .unit = "px",
                         .help = "New width; 0 keeps the aspect ratio", .ui_max.i = 4096),
              NINO_P_INT(scale_params, height, 512, 0, 16384, 1, .label = "Height", .unit = "px",
                         .help = "New height; 0 keeps the aspect ratio", .ui_max.i = 4096),
              NINO_P_ENUM(scale_params, crop, NINO_WORDS("disabled", "center"), 0, .label = "Crop",
                          .help = "center: cut to the new aspect ratio instead of stretching")),
          NINO_RUN(scale_run, .items = NINO_ITEMS_APART));

typedef struct by_params {
    int64_t upscale_method;
    double scale_by;
} by_params;

static nino_status scale_by_run(nino_run *r, nino_error *err)
{
    const by_params *p = r->params;
    const nino_array *x = r->in[0]->u.image;
    return image_basic_scaled(r, x, (int64_t) rint((double) x->shape.dim[2] * p->scale_by),
                              (int64_t) rint((double) x->shape.dim[1] * p->scale_by),
                              p->upscale_method, false, err);
}

NINO_NODE(image_scale_by, "ImageScaleBy", "Upscale Image By", "image/upscaling",
          "Scales images by a factor", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(by_params,
                      NINO_P_ENUM(by_params, upscale_method, methods, 0, .label = "Method",
                                  .help = "How values between pixels are found"),
                      NINO_P_FLOAT(by_params, scale_by, 1.0, 0.01, 8.0, 0.01, .label = "Factor",
                                   .help = "New size as a multiple of the old one",
                                   .ui_min.f = 0.25, .ui_max.f = 4.0)),
          NINO_RUN(scale_by_run, .items = NINO_ITEMS_APART));

// ---- ImageBatch ------------------------------------------------------------------------------

// Copies `src` to image `at` of dst; a channel that src does not have is 1 (opaque).
static void image_basic_put(nino_array *dst, int64_t at, const nino_array *src)
{
    const int64_t dc = dst->shape.dim[3], sc = src->shape.dim[3];
    const int64_t cells = src->shape.dim[0] * src->shape.dim[1] * src->shape.dim[2];
    const float *s = nino_array_f32(src);
    float *d = nino_array_f32(dst) + at * dst->shape.dim[1] * dst->shape.dim[2] * dc;
    for (int64_t i = 0; i < cells; i++)
        for (int64_t k = 0; k < dc; k++)
            d[i * dc + k] = k < sc ? s[i * sc + k] : 1.0f;
}

static nino_status image_basic_batch_run(nino_run *r, nino_error *err)
{
    const nino_array *a = r->in[0]->u.image, *b = r->in[1]->u.image;
    nino_array *fitted = NULL;
    nino_status st = NINO_OK;
    if (a->shape.dim[1] != b->shape.dim[1] || a->shape.dim[2] != b->shape.dim[2]) {
        st = nino_rescale(r, b, a->shape.dim[2], a->shape.dim[1], NINO_SCALE_BILINEAR, true,
                          &fitted, err);
        if (st)
            return st;
        b = fitted;
    }
    nino_value *v = nino_node_out(r, 0, NINO_PORT_IMAGE, err);
    const int64_t c = a->shape.dim[3] > b->shape.dim[3] ? a->shape.dim[3] : b->shape.dim[3];
    if (v)
        v->u.image = nino_node_array(
            NINO_F32,
            NINO_SHAPE(a->shape.dim[0] + b->shape.dim[0], a->shape.dim[1], a->shape.dim[2], c),
            r->def->key, err);
    if (!v || !v->u.image) {
        st = NINO_ERR_NOMEM;
    } else if (!r->is_plan) {
        image_basic_put(v->u.image, 0, a);
        image_basic_put(v->u.image, a->shape.dim[0], b);
    }
    nino_array_unref(&fitted);
    return st;
}

NINO_NODE(image_batch, "ImageBatch", "Batch Images", "image",
          "Puts two batches one after the other; the second is scaled to the first",
          NINO_INPUTS(NINO_PORT(image1, IMAGE), NINO_PORT(image2, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)), NINO_RUN(image_basic_batch_run));
