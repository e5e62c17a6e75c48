// Images: cut, turn, pad, batches, flat ones. Behaviour of ComfyUI's nodes_images.py and nodes.py
// (ImageInvert, EmptyImage, ImagePadForOutpaint).
#include <stdio.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/node/planar.h"

// ---- EmptyImage ------------------------------------------------------------------------------

typedef struct empty_params {
    int64_t width, height, batch_size, color;
} empty_params;

static nino_status image_edit_empty_run(nino_run *r, nino_error *err)
{
    const empty_params *p = r->params;
    const float rgb[3] = { (float) ((double) (p->color >> 16 & 255) / 255),
                           (float) ((double) (p->color >> 8 & 255) / 255),
                           (float) ((double) (p->color & 255) / 255) };
    nino_array *out = nino_node_array(NINO_F32, NINO_SHAPE(p->batch_size, p->height, p->width, 3),
                                      r->def->key, err);
    for (int64_t i = 0; out && p->color && !r->is_plan && i < nino_shape_count(&out->shape); i++)
        nino_array_f32(out)[i] = rgb[i % 3];
    return nino_out_image(r, 0, out, err);
}

NINO_NODE(empty_image, "EmptyImage", "EmptyImage", "image", "Images of one colour",
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(empty_params,
                      NINO_P_INT(empty_params, width, 512, 1, 16384, 1, .label = "Width",
                                 .unit = "px", .help = "Width of the image"),
                      NINO_P_INT(empty_params, height, 512, 1, 16384, 1, .label = "Height",
                                 .unit = "px", .help = "Height of the image"),
                      NINO_P_INT(empty_params, batch_size, 1, 1, 4096, 1, .label = "Batch",
                                 .help = "How many images are made", .ui_min.i = 1, .ui_max.i = 16),
                      NINO_P_INT(empty_params, color, 0, 0, 0xFFFFFF, 1, .label = "Colour",
                                 .help = "65536 red + 256 green + blue, each 0 to 255")),
          NINO_RUN(image_edit_empty_run));

// ---- ImageInvert -----------------------------------------------------------------------------

static nino_status image_edit_invert_run(nino_run *r, nino_error *err)
{
    nino_array *out = nino_picture_copy(nino_in_image(r, 0), r->def->key, err);
    for (int64_t i = 0; out && i < nino_shape_count(&out->shape); i++)
        nino_array_f32(out)[i] = 1.0f - nino_array_f32(out)[i];
    return nino_out_image(r, 0, out, err);
}

NINO_NODE(image_invert, "ImageInvert", "Invert Image", "image", "The negative of an image",
          NINO_INPUTS(NINO_PORT(image, IMAGE)), NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_RUN(image_edit_invert_run));

// ---- ImageCrop -------------------------------------------------------------------------------

typedef struct crop_params {
    int64_t width, height, x, y;
} crop_params;

static int64_t image_edit_least(int64_t a, int64_t b) { return a < b ? a : b; }

static nino_status image_edit_crop_run(nino_run *r, nino_error *err)
{
    const crop_params *p = r->params;
    const nino_picture s = nino_picture_of(nino_in_image(r, 0));
    const int64_t x = image_edit_least(p->x, s.w - 1), y = image_edit_least(p->y, s.h - 1);
    return nino_out_image(r, 0,
                          nino_picture_crop(nino_in_image(r, 0), y, x,
                                            image_edit_least(p->height, s.h - y),
                                            image_edit_least(p->width, s.w - x), r->def->key, err),
                          err);
}

NINO_NODE(image_crop, "ImageCrop", "Image Crop", "image/transform",
          "Cuts a rectangle out of an image", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(crop_params,
                      NINO_P_INT(crop_params, width, 512, 1, 16384, 1, .label = "Width",
                                 .unit = "px", .help = "Width of what is kept"),
                      NINO_P_INT(crop_params, height, 512, 1, 16384, 1, .label = "Height",
                                 .unit = "px", .help = "Height of what is kept"),
                      NINO_P_INT(crop_params, x, 0, 0, 16384, 1, .label = "Left", .unit = "px",
                                 .help = "Left edge of what is kept"),
                      NINO_P_INT(crop_params, y, 0, 0, 16384, 1, .label = "Top", .unit = "px",
                                 .help = "Top edge of what is kept")),
          NINO_RUN(image_edit_crop_run));

// ---- ImageFlip, ImageRotate ------------------------------------------------------------------

typedef struct flip_params {
    int64_t flip_method;
} flip_params;

static nino_status image_edit_flip_run(nino_run *r, nino_error *err)
{
    const int64_t how = ((const flip_params *) r->params)->flip_method;
    return nino_out_image(
        r, 0, nino_picture_flip(nino_in_image(r, 0), how == 0, how == 1, r->def->key, err), err);
}

NINO_NODE(image_flip, "ImageFlip", "ImageFlip", "image/transform", "Mirrors an image",
          NINO_INPUTS(NINO_PORT(image, IMAGE)), NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(flip_params,
                      NINO_P_ENUM(flip_params, flip_method,
                                  NINO_WORDS("x-axis: vertically", "y-axis: horizontally"), 0,
                                  .label = "Direction",
                                  .help = "Whether rows or columns change order")),
          NINO_RUN(image_edit_flip_run));

typedef struct rotate_params {
    int64_t rotation;
} rotate_params;

static nino_status image_edit_rotate_run(nino_run *r, nino_error *err)
{
    const int turns = (int) ((const rotate_params *) r->params)->rotation;
    return nino_out_image(r, 0, nino_picture_rotate(nino_in_image(r, 0), turns, r->def->key, err),
                          err);
}

NINO_NODE(image_rotate, "ImageRotate", "ImageRotate", "image/transform",
          "Turns an image by quarters", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(rotate_params,
                      NINO_P_ENUM(rotate_params, rotation,
                                  NINO_WORDS("none", "90 degrees", "180 degrees", "270 degrees"), 0,
                                  .label = "Rotation", .help = "Clockwise")),
          NINO_RUN(image_edit_rotate_run));

// ---- ImageFromBatch, RepeatImageBatch --------------------------------------------------------

typedef struct from_params {
    int64_t batch_index, length;
} from_params;

static nino_status image_edit_from_run(nino_run *r, nino_error *err)
{
    const from_params *p = r->params;
    const int64_t n = nino_in_image(r, 0)->shape.dim[0];
    const int64_t from = p->batch_index < 0 ? p->batch_index + n : p->batch_index;
    const int64_t at = from < 0 ? 0 : image_edit_least(from, n - 1);
    return nino_out_image(r, 0,
                          nino_picture_batch(nino_in_image(r, 0), at,
                                             image_edit_least(p->length, n - at), r->def->key, err),
                          err);
}

NINO_NODE(image_from_batch, "ImageFromBatch", "ImageFromBatch", "image/batch",
          "Takes some images of a batch", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(from_params,
                      NINO_P_INT(from_params, batch_index, 0, -16384, 16384, 1, .label = "First",
                                 .help = "The first one that is taken; negative: from the end"),
                      NINO_P_INT(from_params, length, 1, 1, 4096, 1, .label = "Count",
                                 .help = "How many are taken")),
          NINO_RUN(image_edit_from_run));

typedef struct repeat_params {
    int64_t amount;
} repeat_params;

static nino_status image_edit_repeat_run(nino_run *r, nino_error *err)
{
    const int64_t amount = ((const repeat_params *) r->params)->amount;
    const nino_array *in = nino_in_image(r, 0);
    return nino_out_image(
        r, 0, nino_picture_batch(in, 0, in->shape.dim[0] * amount, r->def->key, err), err);
}

NINO_NODE(image_repeat, "RepeatImageBatch", "RepeatImageBatch", "image/batch",
          "The same images several times", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(repeat_params,
                      NINO_P_INT(repeat_params, amount, 1, 1, 4096, 1, .label = "Times",
                                 .help = "How often the batch is repeated")),
          NINO_RUN(image_edit_repeat_run));

// ---- GetImageSize ----------------------------------------------------------------------------

static nino_status size_run(nino_run *r, nino_error *err)
{
    const nino_picture s = nino_picture_of(nino_in_image(r, 0));
    char text[128];
    snprintf(text, sizeof(text), "width: %lld, height: %lld\nbatch size: %lld", (long long) s.w,
             (long long) s.h, (long long) s.n);
    nino_run_text(r, "size", text);
    nino_status st = nino_out_int(r, 0, s.w, err);
    if (st == NINO_OK)
        st = nino_out_int(r, 1, s.h, err);
    return st ? st : nino_out_int(r, 2, s.n, err);
}

NINO_NODE(image_size, "GetImageSize", "Get Image Size", "image",
          "Width, height and number of images", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(width, INT), NINO_PORT(height, INT), NINO_PORT(batch_size, INT)),
          NINO_RUN(size_run));

// ---- ImagePadForOutpaint ---------------------------------------------------------------------

typedef struct pad_params {
    int64_t left, top, right, bottom, feathering;
} pad_params;

// How much is painted over at (y, x) of the h x w image: fades to 0 over `feathering` pixels from
// every edge that is extended.
static float over(const pad_params *p, int64_t y, int64_t x, int64_t h, int64_t w)
{
    const int64_t far[4] = { p->top ? y : h, p->bottom ? h - y : h, p->left ? x : w,
                             p->right ? w - x : w };
    int64_t d = far[0];
    for (int i = 1; i < 4; i++)
        d = image_edit_least(d, far[i]);
    if (d >= p->feathering)
        return 0;
    const double v = (double) (p->feathering - d) / (double) p->feathering;
    return (float) (v * v);
}

static nino_status image_edit_pad_run(nino_run *r, nino_error *err)
{
    const pad_params *p = r->params;
    const nino_array *in = nino_in_image(r, 0);
    const nino_picture s = nino_picture_of(in);
    const int64_t h = s.h + p->top + p->bottom, w = s.w + p->left + p->right;
    const bool fades = p->feathering > 0 && p->feathering * 2 < s.h && p->feathering * 2 < s.w;
    nino_array *mask = nino_node_array(NINO_F32, NINO_SHAPE(1, h, w), r->def->key, err);
    for (int64_t y = 0; mask && !r->is_plan && y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            const int64_t iy = y - p->top, ix = x - p->left;
            const bool inside = iy >= 0 && iy < s.h && ix >= 0 && ix < s.w;
            nino_array_f32(mask)[y * w + x] = !inside ? 1.0f
                                              : fades ? over(p, iy, ix, s.h, s.w)
                                                      : 0.0f;
        }
    const nino_status st = nino_out_mask(r, 1, mask, err);
    if (st)
        return st;
    return nino_out_image(r, 0, nino_picture_pad(in, p->top, p->left, h, w, 0.5f, r->def->key, err),
                          err);
}

#define EDGE(fld, name)                                                                            \
    NINO_P_INT(pad_params, fld, 0, 0, 16384, 8, .label = name, .unit = "px",                       \
               .help = "How far the image is extended there")

NINO_NODE(
    image_pad, "ImagePadForOutpaint", "Pad Image for Outpainting", "image",
    "Grey borders around an image, and the mask to paint them",
    NINO_INPUTS(NINO_PORT(image, IMAGE)),
    NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE), NINO_PORT(MASK, MASK, .help = "1: to be painted")),
    NINO_PARAMS(pad_params, EDGE(left, "Left"), EDGE(top, "Top"), EDGE(right, "Right"),
                EDGE(bottom, "Bottom"),
                NINO_P_INT(pad_params, feathering, 40, 0, 16384, 1, .label = "Feathering",
                           .unit = "px",
                           .help = "Width over which the old image is painted over less and less")),
    NINO_RUN(image_edit_pad_run));
