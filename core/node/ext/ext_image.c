// Images cut, turned, joined, padded and recoloured, under the rules of extensions.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/ext/ext.h"

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// ---- flips -----------------------------------------------------------------------------------

typedef struct axis_params {
    int64_t axis;
} axis_params;

static nino_status axis_run(nino_run *r, nino_error *err)
{
    const int64_t axis = ((const axis_params *) r->params)->axis;
    return nino_ext_out_like(
        r, 0, r->in[0],
        nino_picture_flip(nino_ext_array(r->in[0]), axis != 0, axis != 1, r->def->key, err), err);
}

NINO_NODE(essentials_flip_image, "ImageFlip+", "Image Flip", "essentials/image manipulation",
          "Mirrors images", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(axis_params,
                      NINO_P_ENUM(axis_params, axis, NINO_WORDS("x", "y", "xy"), 0, .label = "Axis",
                                  .help = "x, columns change order, y, rows do")),
          NINO_RUN(axis_run));

NINO_NODE(essentials_flip_mask, "MaskFlip+", "Mask Flip", "essentials/mask", "Mirrors masks",
          NINO_INPUTS(NINO_PORT(mask, MASK)), NINO_OUTPUTS(NINO_PORT(MASK, MASK)),
          NINO_PARAMS(axis_params,
                      NINO_P_ENUM(axis_params, axis, NINO_WORDS("x", "y", "xy"), 0, .label = "Axis",
                                  .help = "x, columns change order, y, rows do")),
          NINO_RUN(axis_run));

typedef struct was_flip_params {
    int64_t mode;
} was_flip_params;

static nino_status was_flip_run(nino_run *r, nino_error *err)
{
    const bool rows = ((const was_flip_params *) r->params)->mode == 1;
    return nino_out_image(
        r, 0, nino_picture_flip(nino_in_image(r, 0), rows, !rows, r->def->key, err), err);
}

NINO_NODE(was_flip, "Image Flip", "Image Flip", "WAS Suite/Image/Transform", "Mirrors images",
          NINO_INPUTS(NINO_PORT(images, IMAGE)), NINO_OUTPUTS(NINO_PORT(images, IMAGE)),
          NINO_PARAMS(was_flip_params,
                      NINO_P_ENUM(was_flip_params, mode, NINO_WORDS("horizontal", "vertical"), 0,
                                  .label = "Direction", .help = "Which way")),
          NINO_RUN(was_flip_run));

// ---- cutting ---------------------------------------------------------------------------------

static nino_status give_crop(nino_run *r, int64_t x, int64_t y, int64_t w, int64_t h,
                             const char *key, nino_error *err)
{
    if (w < 1 || h < 1)
        return nino_fail_kind(err, NINO_ERR_RANGE, "range", key,
                              "nothing would be left of the image");
    return nino_out_image(
        r, 0, nino_picture_crop(nino_in_image(r, 0), y, x, h, w, r->def->key, err), err);
}

typedef struct crop_params {
    int64_t width;
    int64_t height;
    int64_t position;
    int64_t x_offset;
    int64_t y_offset;
} crop_params;

// left, center, right; top, center, bottom
static const int8_t crop_place[][2] = { { 0, 0 }, { 1, 0 }, { 2, 0 }, { 2, 1 }, { 2, 2 },
                                        { 1, 2 }, { 0, 2 }, { 0, 1 }, { 1, 1 } };

static int64_t crop_from(int place, int64_t room)
{
    return place == 0 ? 0 : place == 2 ? room : (int64_t) rint((double) room / 2);
}

static nino_status crop_run(nino_run *r, nino_error *err)
{
    const crop_params *p = r->params;
    const nino_picture s = nino_picture_of(nino_in_image(r, 0));
    const int64_t w = least(p->width, s.w), h = least(p->height, s.h);
    int64_t x = crop_from(crop_place[p->position][0], s.w - w) + p->x_offset;
    int64_t y = crop_from(crop_place[p->position][1], s.h - h) + p->y_offset;
    const int64_t x2 = least(x + w, s.w), y2 = least(y + h, s.h);
    x = most(x, 0);
    y = most(y, 0);
    nino_status st = give_crop(r, x, y, x2 - x, y2 - y, "x_offset", err);
    if (!st)
        st = nino_out_int(r, 1, x, err);
    return st ? st : nino_out_int(r, 2, y, err);
}

NINO_NODE(essentials_crop, "ImageCrop+", "Image Crop", "essentials/image manipulation",
          "Cuts a part out of images", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE), NINO_PORT(x, INT), NINO_PORT(y, INT)),
          NINO_PARAMS(crop_params,
                      NINO_P_INT(crop_params, width, 256, 0, 16384, 8, .label = "Width",
                                 .help = "Width in pixels"),
                      NINO_P_INT(crop_params, height, 256, 0, 16384, 8, .label = "Height",
                                 .help = "Height in pixels"),
                      NINO_P_ENUM(crop_params, position,
                                  NINO_WORDS("top-left", "top-center", "top-right", "right-center",
                                             "bottom-right", "bottom-center", "bottom-left",
                                             "left-center", "center"),
                                  0, .label = "Position", .help = "Which part is kept"),
                      NINO_P_INT(crop_params, x_offset, 0, -99999, INT64_MAX, 1, .label = "Right",
                                 .help = "Moves the part to the right"),
                      NINO_P_INT(crop_params, y_offset, 0, -99999, INT64_MAX, 1, .label = "Down",
                                 .help = "Moves the part down")),
          NINO_RUN(crop_run));

typedef struct inset_params {
    int64_t measurement;
    int64_t left;
    int64_t right;
    int64_t top;
    int64_t bottom;
} inset_params;

// Snapped to 8 pixels.
static int64_t inset(int64_t v, int64_t size, bool percent)
{
    if (percent)
        v = (int64_t) ((double) size - (double) size * (double) (100 - v) / 100);
    return v / 8 * 8;
}

static nino_status inset_run(nino_run *r, nino_error *err)
{
    const inset_params *p = r->params;
    const nino_picture s = nino_picture_of(nino_in_image(r, 0));
    const bool percent = p->measurement == 1;
    const int64_t l = inset(p->left, s.w, percent), t = inset(p->top, s.h, percent);
    const int64_t w = s.w - l - inset(p->right, s.w, percent),
                  h = s.h - t - inset(p->bottom, s.h, percent);
    return give_crop(r, l, t, w, h, w < 1 ? "left" : "top", err);
}

NINO_NODE(rgthree_inset, "Image Inset Crop (rgthree)", "Image Inset Crop (rgthree)", "rgthree",
          "Cuts off the edges of images", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(inset_params,
                      NINO_P_ENUM(inset_params, measurement, NINO_WORDS("Pixels", "Percentage"), 0,
                                  .label = "Unit", .help = "Pixels or parts of the size"),
                      NINO_P_INT(inset_params, left, 0, 0, 16384, 8, .label = "Left",
                                 .help = "Pixels on the left"),
                      NINO_P_INT(inset_params, right, 0, 0, 16384, 8, .label = "Right",
                                 .help = "Pixels on the right"),
                      NINO_P_INT(inset_params, top, 0, 0, 16384, 8, .label = "Top",
                                 .help = "Pixels at the top"),
                      NINO_P_INT(inset_params, bottom, 0, 0, 16384, 8, .label = "Bottom",
                                 .help = "Pixels at the bottom")),
          NINO_RUN(inset_run));

NINO_NODE(easy_inset, "easy imageInsetCrop", "ImageInsetCrop", "EasyUse/Image",
          "Cuts off the edges of images", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(inset_params,
                      NINO_P_ENUM(inset_params, measurement, NINO_WORDS("Pixels", "Percentage"), 0,
                                  .label = "Unit", .help = "Pixels or parts of the size"),
                      NINO_P_INT(inset_params, left, 0, 0, 16384, 8, .label = "Left",
                                 .help = "Pixels on the left"),
                      NINO_P_INT(inset_params, right, 0, 0, 16384, 8, .label = "Right",
                                 .help = "Pixels on the right"),
                      NINO_P_INT(inset_params, top, 0, 0, 16384, 8, .label = "Top",
                                 .help = "Pixels at the top"),
                      NINO_P_INT(inset_params, bottom, 0, 0, 16384, 8, .label = "Bottom",
                                 .help = "Pixels at the bottom")),
          NINO_RUN(inset_run));

// ---- joining ---------------------------------------------------------------------------------

typedef struct concat_params {
    int64_t direction;
    bool match_image_size;
} concat_params;

static nino_array *repeat_last(const nino_array *a, int64_t n, const char *what, nino_error *err)
{
    const int64_t had = a->shape.dim[0];
    if (had >= n)
        return nino_array_ref((nino_array *) a);
    nino_array *last = nino_picture_batch(a, had - 1, 1, what, err), *more = NULL, *out = NULL;
    if (last)
        more = nino_picture_batch(last, 0, n - had, what, err);
    if (more)
        out = nino_picture_join(a, more, 0, what, err);
    nino_array_unref(&last);
    nino_array_unref(&more);
    return out;
}

// The second beside the first; what is smaller is scaled, or lies in the middle of zeros.
static nino_array *beside(nino_run *r, nino_array *a, nino_array *b, int64_t direction, bool match,
                          nino_error *err)
{
    static const float black[3] = { 0 };
    const char *what = r->def->key;
    const bool across = direction == 0 || direction == 2, first = direction < 2;
    const int64_t n = most(a->shape.dim[0], b->shape.dim[0]);
    nino_array *v[2] = { repeat_last(a, n, what, err), repeat_last(b, n, what, err) }, *out = NULL;
    nino_picture p[2];
    for (int i = 0; i < 2; i++) {
        if (!v[i])
            goto end;
        p[i] = nino_picture_of(v[i]);
    }
    if (match && (across ? p[0].h != p[1].h : p[0].w != p[1].w)) {
        const double aspect = (double) p[1].w / (double) p[1].h;
        const int64_t w = across ? (int64_t) ((double) p[0].h * aspect) : p[0].w;
        const int64_t h = across ? p[0].h : (int64_t) ((double) p[0].w / aspect);
        nino_array *sized = NULL;
        if (w < 1 || h < 1 || nino_rescale(r, v[1], w, h, NINO_SCALE_LANCZOS, false, &sized, err))
            goto end;
        nino_array_unref(&v[1]);
        v[1] = sized;
        p[1] = nino_picture_of(sized);
    }
    const int64_t c = most(p[0].c, p[1].c), w = most(p[0].w, p[1].w), h = most(p[0].h, p[1].h);
    for (int i = 0; i < 2; i++) {
        nino_array *next = p[i].c < c ? nino_picture_channels(v[i], c, what, err) : NULL;
        if (next) {
            nino_array_unref(&v[i]);
            v[i] = next;
        }
        if (across ? p[i].h == h : p[i].w == w)
            continue;
        next = across ? nino_ext_framed(v[i], (h - p[i].h) / 2, 0, h, p[i].w, black, what, err)
                      : nino_ext_framed(v[i], 0, (w - p[i].w) / 2, p[i].h, w, black, what, err);
        nino_array_unref(&v[i]);
        v[i] = next;
    }
    if (v[0] && v[1])
        out = nino_picture_join(v[first ? 0 : 1], v[first ? 1 : 0], across ? 2 : 1, what, err);
end:
    nino_array_unref(&v[0]);
    nino_array_unref(&v[1]);
    return out;
}

static nino_status concat_run(nino_run *r, nino_error *err)
{
    const concat_params *p = r->params;
    return nino_out_image(
        r, 0,
        beside(r, nino_in_image(r, 0), nino_in_image(r, 1), p->direction, p->match_image_size, err),
        err);
}

NINO_NODE(kj_concat, "ImageConcanate", "Image Concatenate", "KJNodes/image",
          "Puts two images side by side",
          NINO_INPUTS(NINO_PORT(image1, IMAGE), NINO_PORT(image2, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(output, IMAGE)),
          NINO_PARAMS(concat_params,
                      NINO_P_ENUM(concat_params, direction,
                                  NINO_WORDS("right", "down", "left", "up"), 0,
                                  .label = "Direction",
                                  .help = "On which side of the first the second goes"),
                      NINO_P_BOOL(concat_params, match_image_size, true, .label = "Match size",
                                  .help = "Scales the second to the first")),
          NINO_RUN(concat_run));
NINO_NODE(easy_concat, "easy imageConcat", "imageConcat", "EasyUse/Image",
          "Puts two images side by side",
          NINO_INPUTS(NINO_PORT(image1, IMAGE), NINO_PORT(image2, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(concat_params,
                      NINO_P_ENUM(concat_params, direction,
                                  NINO_WORDS("right", "down", "left", "up"), 0,
                                  .label = "Direction",
                                  .help = "On which side of the first the second goes"),
                      NINO_P_BOOL(concat_params, match_image_size, false, .label = "Match size",
                                  .help = "Scales the second to the first")),
          NINO_RUN(concat_run));

#define IMAGES_2_9                                                                                 \
    NINO_MORE("image_2", IMAGE), NINO_MORE("image_3", IMAGE), NINO_MORE("image_4", IMAGE),         \
        NINO_MORE("image_5", IMAGE), NINO_MORE("image_6", IMAGE), NINO_MORE("image_7", IMAGE),     \
        NINO_MORE("image_8", IMAGE), NINO_MORE("image_9", IMAGE)
#define SEVERAL_IMAGES                                                                             \
    NINO_FIRST("image_1", IMAGE), IMAGES_2_9, NINO_MORE_0_9("image_1", IMAGE),                     \
        NINO_MORE_0_9("image_2", IMAGE)
#define MOST_IMAGES 29

static nino_status too_many(int64_t n, nino_error *err)
{
    return n <= MOST_IMAGES ? NINO_OK
                            : nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "value", "inputcount",
                                             "at most %d inputs are supported", MOST_IMAGES);
}

typedef struct concat_multi_params {
    int64_t inputcount, direction;
    bool match_image_size;
} concat_multi_params;

static nino_status concat_multi_run(nino_run *r, nino_error *err)
{
    const concat_multi_params *p = r->params;
    const nino_status st = too_many(p->inputcount, err);
    nino_array *all = st ? NULL : nino_array_ref(nino_in_image(r, 0));
    for (int i = 1; all && i < p->inputcount; i++) {
        if (!r->in[i])
            continue;
        nino_array *next =
            beside(r, all, nino_in_image(r, i), p->direction, p->match_image_size, err);
        nino_array_unref(&all);
        all = next;
    }
    return st ? st : nino_out_image(r, 0, all, err);
}

NINO_NODE(kj_concat_multi, "ImageConcatMulti", "Image Concatenate Multi", "KJNodes/image",
          "Puts images side by side", NINO_INPUTS(SEVERAL_IMAGES),
          NINO_OUTPUTS(NINO_PORT(output, IMAGE)),
          NINO_PARAMS(concat_multi_params,
                      NINO_P_INT(concat_multi_params, inputcount, 2, 2, 1000, 1, .label = "Inputs",
                                 .help = "How many inputs are looked at"),
                      NINO_P_ENUM(concat_multi_params, direction,
                                  NINO_WORDS("right", "down", "left", "up"), 0,
                                  .label = "Direction",
                                  .help = "On which side of the first the second goes"),
                      NINO_P_BOOL(concat_multi_params, match_image_size, false,
                                  .label = "Match size", .help = "Scales the second to the first")),
          NINO_RUN(concat_multi_run));

typedef struct batch_multi_params {
    int64_t inputcount;
} batch_multi_params;

static nino_status batch_multi_run(nino_run *r, nino_error *err)
{
    const int64_t n = ((const batch_multi_params *) r->params)->inputcount;
    const nino_status st = too_many(n, err);
    nino_array *all = st ? NULL : nino_array_ref(nino_in_image(r, 0));
    // zeros for those that are missing, as many as the first has
    for (int i = 1; all && i < n; i++) {
        nino_shape one = all->shape;
        one.dim[0] = nino_in_image(r, 0)->shape.dim[0];
        nino_array *b = r->in[i] ? nino_array_ref(nino_in_image(r, i))
                                 : nino_node_array(NINO_F32, one, r->def->key, err);
        nino_array *next = b ? nino_ext_join(r, all, b, NINO_SCALE_BILINEAR, err) : NULL;
        nino_array_unref(&b);
        nino_array_unref(&all);
        all = next;
    }
    return st ? st : nino_out_image(r, 0, all, err);
}

NINO_NODE(kj_batch_multi, "ImageBatchMulti", "Image Batch Multi", "KJNodes/image",
          "One batch of several", NINO_INPUTS(SEVERAL_IMAGES),
          NINO_OUTPUTS(NINO_PORT(images, IMAGE)),
          NINO_PARAMS(batch_multi_params,
                      NINO_P_INT(batch_multi_params, inputcount, 2, 2, 1000, 1, .label = "Inputs",
                                 .help = "How many inputs are looked at")),
          NINO_RUN(batch_multi_run));

typedef struct batch_method_params {
    int64_t method;
} batch_method_params;

static nino_status batch_method_run(nino_run *r, nino_error *err)
{
    static const nino_scale_method of[] = { NINO_SCALE_NEAREST, NINO_SCALE_BILINEAR,
                                            NINO_SCALE_AREA, NINO_SCALE_BICUBIC,
                                            NINO_SCALE_LANCZOS };
    nino_array *all = nino_array_ref(nino_in_image(r, 0));
    for (int i = 1; all && i < 5; i++) {
        if (!r->in[i])
            continue;
        nino_array *next =
            nino_ext_join(r, all, nino_in_image(r, i),
                          of[((const batch_method_params *) r->params)->method], err);
        nino_array_unref(&all);
        all = next;
    }
    return nino_out_image(r, 0, all, err);
}

NINO_NODE(essentials_batch, "ImageBatchMultiple+", "Images Batch Multiple",
          "essentials/image batch", "One batch of several",
          NINO_INPUTS(NINO_PORT(image_1, IMAGE), NINO_PORT(image_2, IMAGE, .optional = true),
                      NINO_PORT(image_3, IMAGE, .optional = true),
                      NINO_PORT(image_4, IMAGE, .optional = true),
                      NINO_PORT(image_5, IMAGE, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(batch_method_params,
                      NINO_P_ENUM(batch_method_params, method,
                                  NINO_WORDS("nearest-exact", "bilinear", "area", "bicubic",
                                             "lanczos"),
                                  4, .label = "Method",
                                  .help = "How those of another size are scaled to the first")),
          NINO_RUN(batch_method_run));

// ---- lists -----------------------------------------------------------------------------------

static nino_status list_to_batch_run(nino_run *r, nino_error *err)
{
    const int n = nino_value_count(r->in[0]);
    const bool is_lanczos = !strcmp(r->def->key, "ImageListToImageBatch");
    nino_array *all = n ? nino_array_ref(nino_value_at(r->in[0], 0)->u.image) : NULL;
    if (!n)
        return nino_fail_kind(err, NINO_ERR_ARG, "value", r->def->inputs[0].key,
                              "the list is empty");
    for (int i = 1; all && i < n; i++) {
        nino_array *next = nino_ext_join(r, all, nino_value_at(r->in[0], i)->u.image,
                                         is_lanczos ? NINO_SCALE_LANCZOS : NINO_SCALE_BICUBIC, err);
        nino_array_unref(&all);
        all = next;
    }
    return nino_out_image(r, 0, all, err);
}

static nino_status batch_to_list_run(nino_run *r, nino_error *err)
{
    const nino_array *all = nino_in_image(r, 0);
    if (!(r->out[0] = nino_value_create_list(NINO_PORT_IMAGE)))
        return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    for (int64_t i = 0; i < all->shape.dim[0]; i++) {
        nino_value *v = nino_value_create(NINO_PORT_IMAGE);
        if (v)
            v->u.image = nino_picture_batch(all, i, 1, r->def->key, err);
        if (!v || !v->u.image || !nino_value_append(r->out[0], v))
            return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    }
    return NINO_OK;
}

NINO_NODE(impact_batch, "ImageListToImageBatch", "ImageListToImageBatch", "ImpactPack/Operation",
          "One batch of a list of images", NINO_INPUTS(NINO_PORT(images, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)), NINO_RUN(list_to_batch_run, .takes_lists = true));

NINO_NODE(essentials_list_batch, "ImageListToBatch+", "Image List To Batch",
          "essentials/image batch", "One batch of a list of images",
          NINO_INPUTS(NINO_PORT(image, IMAGE)), NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_RUN(list_to_batch_run, .takes_lists = true));

NINO_NODE(easy_list_batch, "easy imageListToImageBatch", "Image List To Image Batch",
          "EasyUse/Image", "One batch of a list of images", NINO_INPUTS(NINO_PORT(images, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)), NINO_RUN(list_to_batch_run, .takes_lists = true));

NINO_NODE(essentials_batch_list, "ImageBatchToList+", "Image Batch To List",
          "essentials/image batch", "The images of a batch one by one",
          NINO_INPUTS(NINO_PORT(image, IMAGE)), NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_RUN(batch_to_list_run));

NINO_NODE(easy_batch_list, "easy imageBatchToImageList", "Image Batch To Image List",
          "EasyUse/Image", "The images of a batch one by one", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)), NINO_RUN(batch_to_list_run));

// ---- channels and colours --------------------------------------------------------------------

static nino_status rgb_run(nino_run *r, nino_error *err)
{
    const nino_array *a = nino_in_image(r, 0);
    if (a->shape.dim[3] == 3) {
        nino_ext_give(r, 0, r->in[0]);
        return NINO_OK;
    }
    return nino_out_image(r, 0, nino_picture_channels(a, 3, r->def->key, err), err);
}

NINO_NODE(essentials_no_alpha, "ImageRemoveAlpha+", "Image Remove Alpha", "essentials/image utils",
          "Images without transparency", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)), NINO_RUN(rgb_run));

NINO_NODE(was_rgb, "Images to RGB", "Images to RGB", "WAS Suite/Image",
          "Images without transparency", NINO_INPUTS(NINO_PORT(images, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)), NINO_RUN(rgb_run));

typedef struct desaturate_params {
    double factor;
    int64_t method;
} desaturate_params;

static float grey_of(const float *v, int64_t method)
{
    switch (method) {
    case 0: return 0.2126f * v[0] + 0.7152f * v[1] + 0.0722f * v[2];
    case 1: return 0.299f * v[0] + 0.587f * v[1] + 0.114f * v[2];
    case 2: return (v[0] + v[1] + v[2]) / 3;
    default: return (fmaxf(v[0], fmaxf(v[1], v[2])) + fminf(v[0], fminf(v[1], v[2]))) / 2;
    }
}

static nino_status desaturate_run(nino_run *r, nino_error *err)
{
    const desaturate_params *p = r->params;
    const float by = (float) p->factor;
    nino_array *out = nino_picture_copy(nino_in_image(r, 0), r->def->key, err);
    const int64_t c = out ? out->shape.dim[3] : 1, n = out ? nino_shape_count(&out->shape) / c : 0;
    for (int64_t i = 0; i < n; i++) {
        float *v = nino_array_f32(out) + i * c;
        const float grey = grey_of(v, p->method);
        for (int k = 0; k < 3; k++)
            v[k] = fminf(fmaxf((1 - by) * v[k] + by * grey, 0), 1);
    }
    return nino_out_image(r, 0, out, err);
}

NINO_NODE(essentials_desaturate, "ImageDesaturate+", "Image Desaturate",
          "essentials/image processing", "Takes colour out of images",
          NINO_INPUTS(NINO_PORT(image, IMAGE)), NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(desaturate_params,
                      NINO_P_FLOAT(desaturate_params, factor, 1.0, 0.0, 1.0, 0.05,
                                   .label = "Factor", .help = "How much, from 0 to 1"),
                      NINO_P_ENUM(desaturate_params, method,
                                  NINO_WORDS("luminance (Rec.709)", "luminance (Rec.601)",
                                             "average", "lightness"),
                                  0, .label = "Method", .help = "What grey a colour becomes")),
          NINO_RUN(desaturate_run));

typedef struct posterize_params {
    double threshold;
} posterize_params;

static nino_status posterize_run(nino_run *r, nino_error *err)
{
    const float limit = (float) ((const posterize_params *) r->params)->threshold;
    const nino_array *in = nino_in_image(r, 0);
    const int64_t c = in->shape.dim[3], n = nino_shape_count(&in->shape) / c;
    nino_array *out = nino_node_array(
        NINO_F32, NINO_SHAPE(in->shape.dim[0], in->shape.dim[1], in->shape.dim[2], 3), r->def->key,
        err);
    for (int64_t i = 0; out && i < n; i++) {
        const float *v = nino_array_f32(in) + i * c;
        const float yes = (v[0] + v[1] + v[2]) / 3 > limit ? 1 : 0;
        for (int k = 0; k < 3; k++)
            nino_array_f32(out)[i * 3 + k] = yes;
    }
    return nino_out_image(r, 0, out, err);
}

NINO_NODE(essentials_posterize, "ImagePosterize+", "Image Posterize", "essentials/image processing",
          "Images of black and white only", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(posterize_params,
                      NINO_P_FLOAT(posterize_params, threshold, 0.5, 0.0, 1.0, 0.05,
                                   .label = "Threshold", .help = "Above it a pixel becomes white")),
          NINO_RUN(posterize_run));
