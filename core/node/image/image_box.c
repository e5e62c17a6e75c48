// Images cut to a box or to what a mask covers, at an edge's length, side by side for the eye.
// Behaviour of ComfyUI's nodes_images.py, nodes_dataset.py and nodes_image_compare.py.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/media/png.h"
#include "core/node/planar.h"

// ---- PrimitiveBoundingBox --------------------------------------------------------------------

typedef struct box_params {
    int64_t x, y, width, height;
} box_params;

static nino_status box_run(nino_run *r, nino_error *err)
{
    const box_params *p = r->params;
    nino_buf b = { 0 };
    nino_buf_addf(&b, "{\"x\": %lld, \"y\": %lld, \"width\": %lld, \"height\": %lld}",
                  (long long) p->x, (long long) p->y, (long long) p->width, (long long) p->height);
    nino_value *v = b.failed ? NULL : nino_node_out(r, 0, NINO_PORT_BOUNDING_BOX, err);
    if (v)
        v->u.string = b.data;
    else
        nino_buf_release(&b);
    return v ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
}

#define BOX_INT(fld, d, lo, name, text)                                                            \
    NINO_P_INT(box_params, fld, d, lo, 16384, 1, .label = name, .unit = "px", .help = text)
NINO_NODE(bounding_box, "PrimitiveBoundingBox", "Bounding Box", "utilities/primitive",
          "A rectangle", NINO_OUTPUTS(NINO_PORT(BOUNDING_BOX, BOUNDING_BOX)),
          NINO_PARAMS(box_params, BOX_INT(x, 0, 0, "Left", "Its left edge"),
                      BOX_INT(y, 0, 0, "Top", "Its top edge"),
                      BOX_INT(width, 512, 1, "Width", "How wide it is"),
                      BOX_INT(height, 512, 1, "Height", "How high it is")),
          NINO_RUN(box_run));

// ---- ImageCropV2 -----------------------------------------------------------------------------

static nino_status box_number(const nino_json *box, const char *key, int64_t *out, nino_error *err)
{
    double d = 0;
    if (!nino_json_double(nino_json_get(box, key), &d) || !(d > -1e9 && d < 1e9))
        return nino_fail_kind(err, NINO_ERR_FORMAT, "value", "crop_region",
                              "the box has no number '%s'", key);
    *out = (int64_t) d;
    return NINO_OK;
}

static nino_status box_read(const nino_value *v, box_params *out, nino_error *err)
{
    nino_json_doc *doc = NULL;
    *out = (box_params){ 0, 0, 512, 512 };
    if (!v)
        return NINO_OK;
    nino_status st =
        nino_json_parse(v->u.string, strlen(v->u.string), "crop_region", NULL, &doc, err);
    st = st ? st : box_number(doc->root, "x", &out->x, err);
    st = st ? st : box_number(doc->root, "y", &out->y, err);
    st = st ? st : box_number(doc->root, "width", &out->width, err);
    st = st ? st : box_number(doc->root, "height", &out->height, err);
    nino_json_doc_destroy(&doc);
    return st;
}

static nino_status box_crop_run(nino_run *r, nino_error *err)
{
    box_params p;
    const nino_array *image = nino_in_image(r, 0);
    const nino_picture s = nino_picture_of(image);
    int64_t top, left, h, w;
    const nino_status st = box_read(r->in[1], &p, err);
    if (st)
        return st;
    const int64_t x = p.x < s.w - 1 ? p.x : s.w - 1, y = p.y < s.h - 1 ? p.y : s.h - 1;
    nino_slice_range(x, x + p.width, s.w, &left, &w);
    nino_slice_range(y, y + p.height, s.h, &top, &h);
    if (h < 1 || w < 1)
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", "crop_region",
                              "nothing of %lldx%lld is in the box", (long long) s.w,
                              (long long) s.h);
    return nino_out_image(r, 0, nino_picture_crop(image, top, left, h, w, r->def->key, err), err);
}

NINO_NODE(image_crop_box, "ImageCropV2", "Crop Image", "image/transform",
          "Cuts a rectangle out of images",
          NINO_INPUTS(NINO_PORT(image, IMAGE),
                      NINO_PORT(crop_region, BOUNDING_BOX, .optional = true,
                                .help = "The rectangle; 512x512 at the top left if there is none")),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)), NINO_RUN(box_crop_run));

// ---- ResizeImagesByLongerEdge, ResizeImagesByShorterEdge -------------------------------------

typedef struct edge_params {
    int64_t size;
} edge_params;

static nino_status edge_run(nino_run *r, bool longer, nino_error *err)
{
    const double size = (double) ((const edge_params *) r->params)->size;
    const nino_picture s = nino_picture_of(nino_in_image(r, 0));
    const double w = (double) s.w, h = (double) s.h;
    const bool by_width = longer ? w > h : w < h;
    nino_array *out = NULL;
    const int64_t tw = by_width ? (int64_t) size : (int64_t) (w * (size / h));
    const int64_t th = by_width ? (int64_t) (h * (size / w)) : (int64_t) size;
    const nino_status st =
        nino_rescale(r, nino_in_image(r, 0), tw, th, NINO_SCALE_LANCZOS, false, &out, err);
    return st ? st : nino_out_image(r, 0, out, err);
}

static nino_status longer_run(nino_run *r, nino_error *err) { return edge_run(r, true, err); }
static nino_status shorter_run(nino_run *r, nino_error *err) { return edge_run(r, false, err); }

NINO_NODE(resize_longer, "ResizeImagesByLongerEdge", "Resize Images by Longer Edge",
          "image/transform", "Scales images to a length of the longer side, through 8 bits",
          NINO_INPUTS(NINO_PORT(images, IMAGE)), NINO_OUTPUTS(NINO_PORT(images, IMAGE)),
          NINO_PARAMS(edge_params, NINO_K_INT("longer_edge", edge_params, size, 1024, 1, 8192, 1,
                                              .label = "Longer side", .unit = "px",
                                              .help = "New length of the longer side")),
          NINO_RUN(longer_run));
NINO_NODE(resize_shorter, "ResizeImagesByShorterEdge", "Resize Images by Shorter Edge",
          "image/transform", "Scales images to a length of the shorter side, through 8 bits",
          NINO_INPUTS(NINO_PORT(images, IMAGE)), NINO_OUTPUTS(NINO_PORT(images, IMAGE)),
          NINO_PARAMS(edge_params, NINO_K_INT("shorter_edge", edge_params, size, 512, 1, 8192, 1,
                                              .label = "Shorter side", .unit = "px",
                                              .help = "New length of the shorter side")),
          NINO_RUN(shorter_run));

// ---- CenterCropImages, NormalizeImages, AdjustBrightness, AdjustContrast ---------------------

typedef struct center_params {
    int64_t width, height;
} center_params;

static nino_status center_run(nino_run *r, nino_error *err)
{
    const center_params *p = r->params;
    const nino_array *image = nino_in_image(r, 0);
    const nino_picture s = nino_picture_of(image);
    const int64_t w = p->width < s.w ? p->width : s.w, h = p->height < s.h ? p->height : s.h;
    nino_array *out =
        nino_picture_crop(image, (s.h - h) / 2, (s.w - w) / 2, h, w, r->def->key, err);
    for (int64_t i = 0; out && i < nino_shape_count(&out->shape); i++) { // through 8 bits
        uint8_t v;
        nino_to_u8_truncated(&v, nino_array_f32(out) + i, 1);
        nino_array_f32(out)[i] = (float) v / 255.0f;
    }
    return nino_out_image(r, 0, out, err);
}

NINO_NODE(center_crop, "CenterCropImages", "Center Crop Images", "image/transform",
          "Cuts the middle out of images, through 8 bits", NINO_INPUTS(NINO_PORT(images, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(images, IMAGE)),
          NINO_PARAMS(center_params,
                      NINO_P_INT(center_params, width, 512, 1, 8192, 1, .label = "Width",
                                 .unit = "px", .help = "Width of what is kept"),
                      NINO_P_INT(center_params, height, 512, 1, 8192, 1, .label = "Height",
                                 .unit = "px", .help = "Height of what is kept")),
          NINO_RUN(center_run));

typedef struct tone_params {
    double factor, mean, std;
} tone_params;

enum { BRIGHTNESS, CONTRAST, NORMALIZE };

// float as torch: each step is rounded.
static nino_status tone_run(nino_run *r, int how, nino_error *err)
{
    const tone_params *p = r->params;
    nino_array *out = nino_picture_copy(nino_in_image(r, 0), r->def->key, err);
    const float factor = (float) p->factor, mean = (float) p->mean, std = (float) p->std;
    for (int64_t i = 0; out && i < nino_shape_count(&out->shape); i++) {
        float *v = nino_array_f32(out) + i;
        if (how == NORMALIZE) {
            *v = (*v - mean) / std;
            continue;
        }
        const float to = how == BRIGHTNESS ? *v * factor : (*v - 0.5f) * factor + 0.5f;
        *v = to < 0 ? 0 : to > 1 ? 1 : to;
    }
    return nino_out_image(r, 0, out, err);
}

static nino_status brightness_run(nino_run *r, nino_error *err)
{
    return tone_run(r, BRIGHTNESS, err);
}
static nino_status contrast_run(nino_run *r, nino_error *err) { return tone_run(r, CONTRAST, err); }
static nino_status normalize_run(nino_run *r, nino_error *err)
{
    return tone_run(r, NORMALIZE, err);
}

#define TONE_FACTOR(text)                                                                          \
    NINO_PARAMS(tone_params, NINO_P_FLOAT(tone_params, factor, 1.0, 0.0, 2.0, 0.01,                \
                                          .label = "Factor", .help = text))
NINO_NODE(adjust_brightness, "AdjustBrightness", "Adjust Brightness", "image/adjustments",
          "Makes images darker or brighter", NINO_INPUTS(NINO_PORT(images, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(images, IMAGE)),
          TONE_FACTOR("Values are multiplied by it; 1 changes nothing"), NINO_RUN(brightness_run));
NINO_NODE(adjust_contrast, "AdjustContrast", "Adjust Contrast", "image/adjustments",
          "Gives images less or more contrast", NINO_INPUTS(NINO_PORT(images, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(images, IMAGE)),
          TONE_FACTOR("Distances from middle grey are multiplied by it; 1 changes nothing"),
          NINO_RUN(contrast_run));
NINO_NODE(normalize_images, "NormalizeImages", "Normalize Images", "image/color",
          "Subtracts a mean and divides by a deviation", NINO_INPUTS(NINO_PORT(images, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(images, IMAGE)),
          NINO_PARAMS(tone_params,
                      NINO_P_FLOAT(tone_params, mean, 0.5, 0.0, 1.0, 0.01, .label = "Mean",
                                   .help = "What becomes 0"),
                      NINO_P_FLOAT(tone_params, std, 0.5, 0.001, 1.0, 0.001, .label = "Deviation",
                                   .help = "What becomes 1 above the mean")),
          NINO_RUN(normalize_run));
