// Latents as pictures: paste, cut, turn, mix. Behaviour of ComfyUI's nodes.py (Latent*),
// nodes_latent.py and nodes_mask.py (LatentCompositeMasked). Sizes in pixels are eights of cells.
#include <math.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/planar.h"

#define CELL 8 // pixels

// ---- LatentComposite, LatentCompositeMasked --------------------------------------------------

static nino_status latent_edit_same_kind(const nino_picture *to, const nino_picture *from,
                                         const char *key, nino_error *err)
{
    if (to->c != from->c)
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", key,
                              "a latent of %lld channels does not go with one of %lld",
                              (long long) from->c, (long long) to->c);
    if (from->t != 1 && from->t != to->t)
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", key,
                              "a latent of %lld frames does not go with one of %lld",
                              (long long) from->t, (long long) to->t);
    return NINO_OK;
}

typedef struct composite_params {
    int64_t x, y, feather;
} composite_params;

static void latent_edit_fade_line(float *mask, int64_t h, int64_t w, bool is_row, int64_t at,
                                  float rate)
{
    const int64_t n = is_row ? w : h;
    if (at < 0 || at >= (is_row ? h : w))
        return;
    for (int64_t i = 0; i < n; i++)
        mask[is_row ? at * w + i : i * w + at] *= rate;
}

// From 1 in the middle to nearly 0 on each edge that does not lie on the destination's edge. A
// fade longer than the picture comes in again from the near end, as Python's slices make it.
static void fade(float *mask, int64_t h, int64_t w, int64_t cells, const bool edge[4])
{
    for (int64_t i = 0; i < h * w; i++)
        mask[i] = 1.0f;
    for (int64_t t = 0; t < cells; t++) {
        const float rate = (float) (1.0 / (double) cells * (double) (t + 1));
        const int64_t below = h - 1 - t, right = w - 1 - t;
        if (edge[0])
            latent_edit_fade_line(mask, h, w, true, t, rate);
        if (edge[1])
            latent_edit_fade_line(mask, h, w, true, below < -1 ? below + h : below, rate);
        if (edge[2])
            latent_edit_fade_line(mask, h, w, false, t, rate);
        if (edge[3])
            latent_edit_fade_line(mask, h, w, false, right < -1 ? right + w : right, rate);
    }
}

static nino_status latent_edit_composite_run(nino_run *r, nino_error *err)
{
    const composite_params *p = r->params;
    const nino_latent *to = nino_in_latent(r, 0), *from = nino_in_latent(r, 1);
    const nino_picture a = nino_picture_of(to->samples), b = nino_picture_of(from->samples);
    const int64_t x = p->x / CELL, y = p->y / CELL, cells = p->feather / CELL;
    const int64_t h = b.h < a.h - y ? b.h : a.h - y, w = b.w < a.w - x ? b.w : a.w - x;
    nino_array *cut = NULL, *mask = NULL;
    nino_status st = latent_edit_same_kind(&a, &b, "samples_from", err);
    if (st == NINO_OK)
        st = nino_batch_agrees(b.n, a.n, "samples_from", err);
    if (st)
        return st;
    nino_array *out = nino_picture_copy(to->samples, r->def->key, err);
    if (!out || h <= 0 || w <= 0) // it lies outside
        return nino_out_latent_like(r, 0, to, out, err);
    cut = nino_picture_crop(from->samples, 0, 0, h, w, r->def->key, err);
    mask = nino_node_array(NINO_F32, NINO_SHAPE(1, h, w), r->def->key, err);
    if (cut && mask) {
        const bool edge[4] = { y != 0, y + h < a.h, x != 0, x + w < a.w };
        fade(nino_array_f32(mask), h, w, cells, edge);
        nino_picture_paste(out, cut, cells ? mask : NULL, y, x);
    } else {
        nino_array_unref(&out);
    }
    nino_array_unref(&cut);
    nino_array_unref(&mask);
    return nino_out_latent_like(r, 0, to, out, err);
}

#define PLACE(S, what)                                                                             \
    NINO_P_INT(S, x, 0, 0, 16384, 8, .label = "Left", .unit = "px",                                \
               .help = "Where the left edge of " what " goes"),                                    \
        NINO_P_INT(S, y, 0, 0, 16384, 8, .label = "Top", .unit = "px",                             \
                   .help = "Where the top edge of " what " goes")

NINO_NODE(latent_composite, "LatentComposite", "Latent Composite", "latent",
          "Puts one latent into another",
          NINO_INPUTS(NINO_PORT(samples_to, LATENT), NINO_PORT(samples_from, LATENT)),
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(composite_params, PLACE(composite_params, "samples_from"),
                      NINO_P_INT(composite_params, feather, 0, 0, 16384, 8, .label = "Feather",
                                 .unit = "px", .help = "Width over which its edges fade")),
          NINO_RUN(latent_edit_composite_run));

typedef struct masked_params {
    int64_t x, y;
    bool resize_source;
} masked_params;

static nino_status masked_run(nino_run *r, nino_error *err)
{
    const masked_params *p = r->params;
    const nino_latent *to = nino_in_latent(r, 0);
    const nino_picture d = nino_picture_of(to->samples);
    nino_array *source = nino_array_ref(nino_in_latent(r, 1)->samples), *mask = NULL, *out = NULL;
    nino_status st = NINO_OK;
    if (p->resize_source) {
        nino_array *whole = source;
        source = NULL;
        st = nino_rescale(r, whole, d.w, d.h, NINO_SCALE_BILINEAR, false, &source, err);
        nino_array_unref(&whole);
    }
    if (st == NINO_OK) {
        const nino_picture s = nino_picture_of(source);
        st = latent_edit_same_kind(&d, &s, "source", err);
        if (st == NINO_OK && nino_in_mask(r, 2))
            st = nino_mask_fit(r, nino_in_mask(r, 2), s.h, s.w, &mask, err);
    }
    if (st == NINO_OK && (out = nino_picture_copy(to->samples, r->def->key, err)))
        nino_picture_paste(out, source, mask, p->y / CELL, p->x / CELL);
    nino_array_unref(&source);
    nino_array_unref(&mask);
    return st ? st : nino_out_latent_like(r, 0, to, out, err);
}

NINO_NODE(latent_composite_masked, "LatentCompositeMasked", "LatentCompositeMasked", "latent",
          "Puts one latent into another where a mask says so",
          NINO_INPUTS(NINO_PORT(destination, LATENT), NINO_PORT(source, LATENT),
                      NINO_PORT(mask, MASK, .optional = true, .help = "1: the source shows")),
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(masked_params, PLACE(masked_params, "the source"),
                      NINO_P_BOOL(masked_params, resize_source, false, .label = "Resize source",
                                  .help = "Scales the source to the destination first")),
          NINO_RUN(masked_run));

// ---- LatentCrop, LatentFlip, LatentRotate ----------------------------------------------------

typedef struct crop_params {
    int64_t width, height, x, y;
} crop_params;

static nino_status latent_edit_crop_run(nino_run *r, nino_error *err)
{
    const crop_params *p = r->params;
    const nino_latent *in = nino_in_latent(r, 0);
    const nino_picture s = nino_picture_of(in->samples);
    // At least 64 pixels are left; of a smaller latent a negative start counts from the end.
    const int64_t x = p->x / CELL > s.w - CELL ? s.w - CELL : p->x / CELL;
    const int64_t y = p->y / CELL > s.h - CELL ? s.h - CELL : p->y / CELL;
    int64_t top, left, h, w;
    nino_slice_range(y, y + p->height / CELL, s.h, &top, &h);
    nino_slice_range(x, x + p->width / CELL, s.w, &left, &w);
    if (!h || !w)
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", "samples", "nothing is left of %lldx%lld",
                              (long long) s.w * CELL, (long long) s.h * CELL);
    return nino_out_latent_like(
        r, 0, in, nino_picture_crop(in->samples, top, left, h, w, r->def->key, err), err);
}

NINO_NODE(latent_crop, "LatentCrop", "Crop Latent", "latent/transform",
          "Cuts a rectangle out of a latent", NINO_INPUTS(NINO_PORT(samples, LATENT)),
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(crop_params,
                      NINO_P_INT(crop_params, width, 512, 64, 16384, 8, .label = "Width",
                                 .unit = "px", .help = "Width of what is kept"),
                      NINO_P_INT(crop_params, height, 512, 64, 16384, 8, .label = "Height",
                                 .unit = "px", .help = "Height of what is kept"),
                      NINO_P_INT(crop_params, x, 0, 0, 16384, 8, .label = "Left", .unit = "px",
                                 .help = "Left edge of what is kept"),
                      NINO_P_INT(crop_params, y, 0, 0, 16384, 8, .label = "Top", .unit = "px",
                                 .help = "Top edge of what is kept")),
          NINO_RUN(latent_edit_crop_run));

typedef struct flip_params {
    int64_t flip_method;
} flip_params;

static nino_status latent_edit_flip_run(nino_run *r, nino_error *err)
{
    const flip_params *p = r->params;
    const nino_latent *in = nino_in_latent(r, 0);
    nino_array *out =
        nino_picture_flip(in->samples, p->flip_method == 0, p->flip_method == 1, r->def->key, err);
    return nino_out_latent_like(r, 0, in, out, err);
}

NINO_NODE(latent_flip, "LatentFlip", "Flip Latent", "latent/transform", "Mirrors a latent",
          NINO_INPUTS(NINO_PORT(samples, LATENT)), NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(flip_params,
                      NINO_P_ENUM(flip_params, flip_method,
                                  NINO_WORDS("x-axis: vertically", "y-axis: horizontally"), 0,
                                  .label = "Direction",
                                  .help = "Whether rows or columns change order")),
          NINO_RUN(latent_edit_flip_run));

typedef struct rotate_params {
    int64_t rotation;
} rotate_params;

static nino_status latent_edit_rotate_run(nino_run *r, nino_error *err)
{
    const rotate_params *p = r->params;
    const nino_latent *in = nino_in_latent(r, 0);
    nino_array *out = nino_picture_rotate(in->samples, (int) p->rotation, r->def->key, err);
    return nino_out_latent_like(r, 0, in, out, err);
}

NINO_NODE(latent_rotate, "LatentRotate", "Rotate Latent", "latent/transform",
          "Turns a latent by quarters", NINO_INPUTS(NINO_PORT(samples, LATENT)),
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(rotate_params,
                      NINO_P_ENUM(rotate_params, rotation,
                                  NINO_WORDS("none", "90 degrees", "180 degrees", "270 degrees"), 0,
                                  .label = "Rotation", .help = "Clockwise")),
          NINO_RUN(latent_edit_rotate_run));

// ---- LatentConcat, LatentCut -----------------------------------------------------------------

// x, y or t; a latent without frames has its channels where "t" would be.
static int axis_of(const nino_array *a, char dim)
{
    const int rank = a->shape.rank;
    if (dim == 'x')
        return rank - 2;
    if (dim == 'y')
        return rank - 3;
    return rank == 5 ? 1 : rank - 1;
}

typedef struct concat_params {
    int64_t dim;
} concat_params;

static const char *const concat_dims[] = { "x", "-x", "y", "-y", "t", "-t", NULL };
static const char *const cut_dims[] = { "x", "y", "t", NULL };

static nino_status latent_edit_concat_run(nino_run *r, nino_error *err)
{
    const char *dim = concat_dims[((const concat_params *) r->params)->dim];
    const bool is_before = dim[0] == '-';
    const nino_latent *to = nino_in_latent(r, 0);
    const nino_array *a = to->samples;
    nino_array *b =
        nino_picture_batch(nino_in_latent(r, 1)->samples, 0, a->shape.dim[0], r->def->key, err);
    nino_array *out = NULL;
    if (b)
        out = nino_picture_join(is_before ? b : a, is_before ? a : b, axis_of(a, dim[is_before]),
                                r->def->key, err);
    nino_array_unref(&b);
    return nino_out_latent_like(r, 0, to, out, err);
}

NINO_NODE(
    latent_concat, "LatentConcat", "LatentConcat", "latent/advanced",
    "Puts two latents side by side",
    NINO_INPUTS(NINO_PORT(samples1, LATENT), NINO_PORT(samples2, LATENT)),
    NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
    NINO_PARAMS(
        concat_params,
        NINO_P_ENUM(
            concat_params, dim, concat_dims, 0, .label = "Side",
            .help = "Where samples2 goes: right (x), left (-x), below, above, after, before")),
    NINO_RUN(latent_edit_concat_run));

typedef struct cut_params {
    int64_t dim, index, amount;
} cut_params;

static nino_status cut_run(nino_run *r, nino_error *err)
{
    const cut_params *p = r->params;
    const nino_latent *in = nino_in_latent(r, 0);
    const nino_array *a = in->samples;
    const int axis = axis_of(a, cut_dims[p->dim][0]);
    const int64_t n = a->shape.dim[axis];
    int64_t at = p->index >= 0 ? p->index : p->index + n;
    at = at < 0 ? 0 : at > n - 1 ? n - 1 : at;
    const int64_t len = p->amount < n - at ? p->amount : n - at;
    size_t outer = 1, inner = sizeof(float);
    nino_shape shape = a->shape;
    for (int i = 0; i < shape.rank; i++) {
        outer *= i < axis ? (size_t) shape.dim[i] : 1;
        inner *= i > axis ? (size_t) shape.dim[i] : 1;
    }
    shape.dim[axis] = len;
    nino_array *out = nino_node_array(NINO_F32, shape, r->def->key, err);
    for (size_t i = 0; out && i < outer; i++)
        memcpy((char *) out->data + i * (size_t) len * inner,
               (const char *) a->data + (i * (size_t) n + (size_t) at) * inner,
               (size_t) len * inner);
    return nino_out_latent_like(r, 0, in, out, err);
}

NINO_NODE(
    latent_cut, "LatentCut", "LatentCut", "latent/advanced",
    "Keeps some columns, rows or frames of a latent", NINO_INPUTS(NINO_PORT(samples, LATENT)),
    NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
    NINO_PARAMS(cut_params,
                NINO_P_ENUM(cut_params, dim, cut_dims, 0, .label = "Direction",
                            .help = "Columns (x), rows (y) or frames (t)"),
                NINO_P_INT(cut_params, index, 0, -16384, 16384, 1, .label = "From",
                           .help = "First one in latent cells; negative: counted from the end"),
                NINO_P_INT(cut_params, amount, 1, 1, 16384, 1, .label = "Count",
                           .help = "How many are kept")),
    NINO_RUN(cut_run));
