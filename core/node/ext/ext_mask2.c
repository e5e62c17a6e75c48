// More masks: drawn into images, cut, joined, stretched, made of numbers.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/num.h"
#include "core/node/ext/ext.h"

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// ---- with images -----------------------------------------------------------------------------

typedef struct draw_params {
    const char *color;
    int64_t device;
} draw_params;

static nino_status draw_run(nino_run *r, nino_error *err)
{
    const draw_params *p = r->params;
    const nino_array *in = nino_in_image(r, 0);
    float rgb[3];
    nino_array *m = NULL, *out = NULL;
    nino_status st = nino_ext_color(p->color, "color", rgb, err);
    if (!st)
        st = nino_mask_fit(r, nino_in_mask(r, 1), in->shape.dim[1], in->shape.dim[2], &m, err);
    if (!st && !(out = nino_picture_copy(in, r->def->key, err)))
        st = NINO_ERR_NOMEM;
    const int64_t c = in->shape.dim[3], one = in->shape.dim[1] * in->shape.dim[2];
    for (int64_t i = 0; !st && i < in->shape.dim[0] * one; i++) {
        const int64_t of = i / one % m->shape.dim[0];
        const float by = nino_array_f32(m)[of * one + i % one];
        for (int k = 0; k < 3; k++) {
            float *v = &nino_array_f32(out)[i * c + k];
            *v = *v * (1 - by) + rgb[k] * by;
        }
    }
    nino_array_unref(&m);
    return st ? st : nino_out_image(r, 0, out, err);
}

NINO_NODE(kj_draw, "DrawMaskOnImage", "Draw Mask On Image", "KJNodes/masking",
          "Paints a colour where a mask is",
          NINO_INPUTS(NINO_PORT(image, IMAGE), NINO_PORT(mask, MASK)),
          NINO_OUTPUTS(NINO_PORT(images, IMAGE)),
          NINO_PARAMS(draw_params,
                      NINO_P_STRING(draw_params, color, "0, 0, 0", .label = "Colour",
                                    .help = "Three numbers from 0 to 255, or #rrggbb"),
                      NINO_P_ENUM(draw_params, device, NINO_WORDS("cpu", "gpu"), 0,
                                  .label = "Device",
                                  .help = "Accepted for compatibility, nothing here depends on it",
                                  .optional = true, .is_inert = true)),
          NINO_RUN(draw_run));

typedef struct bound_params {
    int64_t padding;
    int64_t blur;
} bound_params;

// Rectangle around what is not 0 in any of the masks; false: all are 0.
static bool bounds(const nino_array *m, int64_t box[4])
{
    const int64_t h = m->shape.dim[1], w = m->shape.dim[2];
    box[0] = w;
    box[1] = h;
    box[2] = box[3] = -1;
    for (int64_t i = 0; i < nino_shape_count(&m->shape); i++) {
        const int64_t y = i / w % h, x = i % w;
        if (nino_array_f32(m)[i] == 0)
            continue;
        box[0] = least(box[0], x);
        box[1] = least(box[1], y);
        box[2] = most(box[2], x);
        box[3] = most(box[3], y);
    }
    return box[2] >= 0;
}

static nino_status bound_run(nino_run *r, nino_error *err)
{
    const bound_params *p = r->params;
    const nino_array *m = nino_in_mask(r, 0);
    int64_t b[4];
    nino_array *image = NULL;
    if (p->blur)
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "value", "blur",
                              "only 0 is supported; MaskBlur+ blurs");
    if (r->is_plan) // what it shows is not known: at most all of it
        memcpy(b, (int64_t[]){ 0, 0, m->shape.dim[2] - 1, m->shape.dim[1] - 1 }, sizeof(b));
    else if (!bounds(m, b))
        return nino_fail_kind(err, NINO_ERR_ARG, "value", "mask", "the mask is empty");
    const int64_t x = most(b[0] - p->padding, 0), y = most(b[1] - p->padding, 0);
    const int64_t w = least(b[2] + 1 + p->padding, m->shape.dim[2]) - x,
                  h = least(b[3] + 1 + p->padding, m->shape.dim[1]) - y;
    nino_status st = NINO_OK;
    if (!r->in[1])
        image = nino_mask_to_image(m, r->def->key, err);
    else
        st = nino_rescale(r, nino_in_image(r, 1), m->shape.dim[2], m->shape.dim[1],
                          NINO_SCALE_BICUBIC, true, &image, err);
    if (!st)
        st = nino_out_mask(r, 0, nino_picture_crop(m, y, x, h, w, r->def->key, err), err);
    if (!st)
        st = image
                 ? nino_out_image(r, 1, nino_picture_crop(image, y, x, h, w, r->def->key, err), err)
                 : NINO_ERR_NOMEM;
    nino_array_unref(&image);
    const int64_t v[] = { x, y, w, h };
    for (int i = 0; i < 4 && !st; i++)
        st = nino_out_int(r, 2 + i, v[i], err);
    return st;
}

NINO_NODE(essentials_bounds, "MaskBoundingBox+", "Mask Bounding Box", "essentials/mask",
          "Cuts a mask, and an image, to the rectangle around the mask",
          NINO_INPUTS(NINO_PORT(mask, MASK), NINO_PORT(image_optional, IMAGE, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(MASK, MASK), NINO_PORT(IMAGE, IMAGE), NINO_PORT(x, INT),
                       NINO_PORT(y, INT), NINO_PORT(width, INT), NINO_PORT(height, INT)),
          NINO_PARAMS(bound_params,
                      NINO_P_INT(bound_params, padding, 0, 0, 4096, 1, .label = "Padding",
                                 .help = "Pixels around it"),
                      NINO_P_INT(bound_params, blur, 0, 0, 256, 1, .label = "Blur",
                                 .help = "Only 0 is supported")),
          NINO_RUN(bound_run));

// ---- values ----------------------------------------------------------------------------------

static nino_status invert_run(nino_run *r, nino_error *err)
{
    nino_array *m = nino_picture_copy(nino_in_mask(r, 0), r->def->key, err);
    for (int64_t i = 0; m && i < nino_shape_count(&m->shape); i++)
        nino_array_f32(m)[i] = 1.0f - nino_array_f32(m)[i];
    return nino_out_mask(r, 0, m, err);
}

NINO_NODE(was_invert, "Mask Invert", "Mask Invert", "WAS Suite/Image/Masking", "1 minus the mask",
          NINO_INPUTS(NINO_PORT(masks, MASK)), NINO_OUTPUTS(NINO_PORT(MASKS, MASK)),
          NINO_RUN(invert_run));

typedef struct remap_params {
    double min;
    double max;
} remap_params;

// What is not 0, from the least to the largest value, becomes min to max.
static nino_status remap_run(nino_run *r, nino_error *err)
{
    const remap_params *p = r->params;
    nino_array *m = nino_picture_copy(nino_in_mask(r, 0), r->def->key, err);
    const float lo = (float) p->min, hi = (float) p->max;
    float top = 0;
    for (int64_t i = 0; m && i < nino_shape_count(&m->shape); i++)
        top = fmaxf(top, nino_array_f32(m)[i]);
    for (int64_t i = 0; m && i < nino_shape_count(&m->shape); i++) {
        float *v = &nino_array_f32(m)[i];
        const float x = top > 0 ? *v / top : *v;
        *v = fminf(fmaxf(x * (hi - lo) + lo, lo), hi);
    }
    return nino_out_mask(r, 0, m, err);
}

NINO_NODE(kj_remap, "RemapMaskRange", "Remap Mask Range", "KJNodes/masking",
          "Stretches masks over a range", NINO_INPUTS(NINO_PORT(mask, MASK)),
          NINO_OUTPUTS(NINO_PORT(mask, MASK)),
          NINO_PARAMS(remap_params,
                      NINO_P_FLOAT(remap_params, min, 0.0, -10.0, 1.0, 0.01, .label = "Least",
                                   .help = "What 0 becomes"),
                      NINO_P_FLOAT(remap_params, max, 1.0, 0.0, 10.0, 0.01, .label = "Largest",
                                   .help = "What the largest value becomes")),
          NINO_RUN(remap_run));

typedef struct blockify_params {
    int64_t block_size;
    int64_t device;
} blockify_params;

// Column x of a rectangle `side` long belongs to block x / slice; the last block has what is over.
static int64_t block_of(int64_t at, int64_t side, int64_t size)
{
    const int64_t n = most(side / size, 1);
    return least(at / (side / n), n - 1);
}

// Blocks of the rectangle around the mask, at least as large as they should be.
static bool blockify(float *v, int64_t h, int64_t w, int64_t size)
{
    int64_t b[4] = { w, h, -1, -1 };
    for (int64_t i = 0; i < h * w; i++) {
        if (!(v[i] > 0))
            continue;
        b[0] = least(b[0], i % w);
        b[1] = least(b[1], i / w);
        b[2] = most(b[2], i % w);
        b[3] = most(b[3], i / w);
    }
    if (b[2] < 0)
        return true;
    const int64_t bw = b[2] - b[0] + 1, bh = b[3] - b[1] + 1, across = most(bw / size, 1);
    bool *has = calloc((size_t) (across * most(bh / size, 1)), sizeof(*has));
    for (int pass = 0; has && pass < 2; pass++)
        for (int64_t i = 0; i < bh * bw; i++) {
            const int64_t y = i / bw, x = i % bw;
            float *at = &v[(b[1] + y) * w + b[0] + x];
            bool *block = &has[block_of(y, bh, size) * across + block_of(x, bw, size)];
            if (pass == 0)
                *block |= *at > 0;
            else
                *at = *block ? 1.0f : 0.0f;
        }
    const bool ok = has;
    free(has);
    return ok;
}

static nino_status blockify_run(nino_run *r, nino_error *err)
{
    const int64_t size = ((const blockify_params *) r->params)->block_size;
    nino_array *out = nino_picture_copy(nino_in_mask(r, 0), r->def->key, err);
    if (!out)
        return NINO_ERR_NOMEM;
    const int64_t h = out->shape.dim[1], w = out->shape.dim[2];
    for (int64_t n = 0; n < out->shape.dim[0]; n++)
        if (!blockify(nino_array_f32(out) + n * h * w, h, w, size)) {
            nino_array_unref(&out);
            return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
        }
    return nino_out_mask(r, 0, out, err);
}

NINO_NODE(kj_blockify, "BlockifyMask", "Blockify Mask", "KJNodes/masking",
          "Fills blocks that have any of the mask", NINO_INPUTS(NINO_PORT(masks, MASK)),
          NINO_OUTPUTS(NINO_PORT(mask, MASK)),
          NINO_PARAMS(blockify_params,
                      NINO_P_INT(blockify_params, block_size, 32, 8, 512, 1, .label = "Block",
                                 .help = "Side of a block in pixels"),
                      NINO_P_ENUM(blockify_params, device, NINO_WORDS("cpu", "gpu"), 0,
                                  .label = "Device",
                                  .help = "Accepted for compatibility, nothing here depends on it",
                                  .optional = true, .is_inert = true)),
          NINO_RUN(blockify_run));

// ---- batches ---------------------------------------------------------------------------------

static nino_status mask_batch_run(nino_run *r, nino_error *err)
{
    return nino_out_mask(
        r, 0, nino_ext_join(r, nino_in_mask(r, 0), nino_in_mask(r, 1), NINO_SCALE_BICUBIC, err),
        err);
}

NINO_NODE(essentials_mask_batch, "MaskBatch+", "Mask Batch", "essentials/mask batch",
          "One batch of two", NINO_INPUTS(NINO_PORT(mask1, MASK), NINO_PORT(mask2, MASK)),
          NINO_OUTPUTS(NINO_PORT(MASK, MASK)), NINO_RUN(mask_batch_run));

typedef struct from_list_params {
    int64_t width;
    int64_t height;
    const char *str_values;
} from_list_params;

static nino_status from_list_run(nino_run *r, nino_error *err)
{
    const from_list_params *p = r->params;
    float value[4096];
    int64_t n = 0;
    double v = 0;
    for (int i = 0; i < nino_value_count(r->in[0]) && n < 4096; i++)
        if (nino_ext_number(nino_value_at(r->in[0], i), &v))
            value[n++] = (float) v;
    for (const char *s = p->str_values; *s && n < 4096;) {
        char *end = NULL;
        v = nino_strtod(s, &end);
        if (end == s)
            return nino_fail_kind(err, NINO_ERR_FORMAT, "value", "str_values",
                                  "'%.40s' is no list of numbers", p->str_values);
        value[n++] = (float) v;
        s = end + strspn(end, " \t\r\n");
        s += *s == ',';
    }
    if (!n || p->width < 1 || p->height < 1)
        return nino_fail_kind(err, NINO_ERR_ARG, "value", n ? "width" : "str_values",
                              n ? "the mask would be empty" : "no number is given");
    nino_array *m = nino_node_array(NINO_F32, NINO_SHAPE(n, p->height, p->width), r->def->key, err);
    for (int64_t i = 0; m && i < nino_shape_count(&m->shape); i++)
        nino_array_f32(m)[i] = fminf(fmaxf(value[i / (p->height * p->width)], 0), 1);
    return nino_out_mask(r, 0, m, err);
}

NINO_NODE(essentials_from_list, "MaskFromList+", "Mask From List", "essentials/mask",
          "Masks of one value each", NINO_INPUTS(NINO_PORT(values, ANY, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(MASK, MASK)),
          NINO_PARAMS(from_list_params,
                      NINO_P_INT(from_list_params, width, 32, 0, 16384, 8, .label = "Width",
                                 .help = "Width in pixels"),
                      NINO_P_INT(from_list_params, height, 32, 0, 16384, 8, .label = "Height",
                                 .help = "Height in pixels"),
                      NINO_P_STRING(from_list_params, str_values, "", .label = "Values",
                                    .help = "Numbers with commas between", .optional = true,
                                    .multiline = true)),
          NINO_RUN(from_list_run, .takes_lists = true));

static nino_status no_mask_run(nino_run *r, nino_error *err)
{
    const nino_latent *l = nino_in_latent(r, 0);
    nino_latent out = { .samples = nino_array_ref(l->samples), .factor = l->factor };
    const size_t n = (size_t) l->samples->shape.dim[0];
    if (l->batch_index && (out.batch_index = calloc(n + 1, sizeof(int64_t))))
        memcpy(out.batch_index, l->batch_index, n * sizeof(int64_t));
    return nino_out_latent(r, 0, out, err);
}

NINO_NODE(essentials_no_mask, "RemoveLatentMask+", "Remove Latent Mask", "essentials/utilities",
          "A latent without its noise mask", NINO_INPUTS(NINO_PORT(samples, LATENT)),
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)), NINO_RUN(no_mask_run));
