// Masks: make, cut, combine, grow. Behaviour of ComfyUI's nodes_mask.py.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/planar.h"

// ---- SolidMask, InvertMask, ThresholdMask ----------------------------------------------------

typedef struct solid_params {
    double value;
    int64_t width, height;
} solid_params;

static nino_status solid_run(nino_run *r, nino_error *err)
{
    const solid_params *p = r->params;
    nino_array *m = nino_node_array(NINO_F32, NINO_SHAPE(1, p->height, p->width), r->def->key, err);
    for (int64_t i = 0; m && !r->is_plan && i < p->height * p->width; i++)
        nino_array_f32(m)[i] = (float) p->value;
    return nino_out_mask(r, 0, m, err);
}

NINO_NODE(solid_mask, "SolidMask", "SolidMask", "mask", "A mask of one value",
          NINO_OUTPUTS(NINO_PORT(MASK, MASK)),
          NINO_PARAMS(solid_params,
                      NINO_P_FLOAT(solid_params, value, 1.0, 0.0, 1.0, 0.01, .label = "Value",
                                   .help = "What the mask is everywhere"),
                      NINO_P_INT(solid_params, width, 512, 1, 16384, 1, .label = "Width",
                                 .unit = "px", .help = "Width of the mask"),
                      NINO_P_INT(solid_params, height, 512, 1, 16384, 1, .label = "Height",
                                 .unit = "px", .help = "Height of the mask")),
          NINO_RUN(solid_run));

static nino_status mask_nodes_invert_run(nino_run *r, nino_error *err)
{
    const nino_array *in = nino_in_mask(r, 0);
    nino_array *m = nino_node_array(NINO_F32, in->shape, r->def->key, err);
    for (int64_t i = 0; m && i < nino_shape_count(&in->shape); i++)
        nino_array_f32(m)[i] = 1.0f - nino_array_f32(in)[i];
    return nino_out_mask(r, 0, m, err);
}

NINO_NODE(invert_mask, "InvertMask", "InvertMask", "mask", "1 minus the mask",
          NINO_INPUTS(NINO_PORT(mask, MASK)), NINO_OUTPUTS(NINO_PORT(MASK, MASK)),
          NINO_RUN(mask_nodes_invert_run));

typedef struct threshold_params {
    double value;
} threshold_params;

static nino_status threshold_run(nino_run *r, nino_error *err)
{
    const float limit = (float) ((const threshold_params *) r->params)->value;
    const nino_array *in = nino_in_mask(r, 0);
    nino_array *m = nino_node_array(NINO_F32, in->shape, r->def->key, err);
    for (int64_t i = 0; m && i < nino_shape_count(&in->shape); i++)
        nino_array_f32(m)[i] = nino_array_f32(in)[i] > limit ? 1.0f : 0.0f;
    return nino_out_mask(r, 0, m, err);
}

NINO_NODE(threshold_mask, "ThresholdMask", "ThresholdMask", "mask", "A mask of 0 and 1 only",
          NINO_INPUTS(NINO_PORT(mask, MASK)), NINO_OUTPUTS(NINO_PORT(MASK, MASK)),
          NINO_PARAMS(threshold_params,
                      NINO_P_FLOAT(threshold_params, value, 0.5, 0.0, 1.0, 0.01,
                                   .label = "Threshold",
                                   .help = "Above it the mask becomes 1, else 0")),
          NINO_RUN(threshold_run));

// ---- CropMask --------------------------------------------------------------------------------

typedef struct crop_params {
    int64_t x, y, width, height;
} crop_params;

static nino_status mask_nodes_crop_run(nino_run *r, nino_error *err)
{
    const crop_params *p = r->params;
    const nino_array *in = nino_in_mask(r, 0);
    const nino_picture s = nino_picture_of(in);
    int64_t top, left, h, w;
    nino_slice_range(p->y, p->y + p->height, s.h, &top, &h);
    nino_slice_range(p->x, p->x + p->width, s.w, &left, &w);
    if (!h || !w)
        return nino_fail_kind(err, NINO_ERR_RANGE, "range", h ? "x" : "y",
                              "the area lies outside the mask of %lldx%lld", (long long) s.w,
                              (long long) s.h);
    return nino_out_mask(r, 0, nino_picture_crop(in, top, left, h, w, r->def->key, err), err);
}

NINO_NODE(crop_mask, "CropMask", "CropMask", "mask", "Cuts a rectangle out of a mask",
          NINO_INPUTS(NINO_PORT(mask, MASK)), NINO_OUTPUTS(NINO_PORT(MASK, MASK)),
          NINO_PARAMS(crop_params,
                      NINO_P_INT(crop_params, x, 0, 0, 16384, 1, .label = "Left", .unit = "px",
                                 .help = "Left edge of what is kept"),
                      NINO_P_INT(crop_params, y, 0, 0, 16384, 1, .label = "Top", .unit = "px",
                                 .help = "Top edge of what is kept"),
                      NINO_P_INT(crop_params, width, 512, 1, 16384, 1, .label = "Width",
                                 .unit = "px", .help = "Width of what is kept"),
                      NINO_P_INT(crop_params, height, 512, 1, 16384, 1, .label = "Height",
                                 .unit = "px", .help = "Height of what is kept")),
          NINO_RUN(mask_nodes_crop_run));

// ---- MaskComposite ---------------------------------------------------------------------------

typedef struct composite_params {
    int64_t x, y, operation;
} composite_params;

enum { MULTIPLY, ADD, SUBTRACT, AND, OR, XOR };

static float mask_nodes_combine(int64_t operation, float d, float s)
{
    const bool bd = rintf(d) != 0, bs = rintf(s) != 0;
    switch (operation) {
    case MULTIPLY: return d * s;
    case ADD: return d + s;
    case SUBTRACT: return d - s;
    case AND: return bd && bs;
    case OR: return bd || bs;
    default: return bd != bs;
    }
}

static float mask_nodes_unit_range(float v) { return v < 0 ? 0 : v > 1 ? 1 : v; }

static nino_status mask_nodes_composite_run(nino_run *r, nino_error *err)
{
    const composite_params *p = r->params;
    const nino_picture s = nino_picture_of(nino_in_mask(r, 1));
    const nino_status st = nino_batch_agrees(s.n, nino_in_mask(r, 0)->shape.dim[0], "source", err);
    nino_array *out = st ? NULL : nino_picture_copy(nino_in_mask(r, 0), r->def->key, err);
    if (!out)
        return nino_out_mask(r, 0, out, err);
    const nino_picture d = nino_picture_of(out);
    for (int64_t i = 0; i < d.n; i++)
        for (int64_t y = 0; y < s.h && p->y + y < d.h; y++)
            for (int64_t x = 0; x < s.w && p->x + x < d.w; x++) {
                float *v = nino_picture_at(&d, i, p->y + y, p->x + x);
                *v = mask_nodes_combine(p->operation, *v,
                                        *nino_picture_at(&s, nino_batch_entry(s.n, i), y, x));
            }
    for (int64_t i = 0; i < d.n * d.h * d.w; i++)
        d.v[i] = mask_nodes_unit_range(d.v[i]);
    return nino_out_mask(r, 0, out, err);
}

NINO_NODE(mask_composite, "MaskComposite", "MaskComposite", "mask",
          "Combines one mask with a part of another",
          NINO_INPUTS(NINO_PORT(destination, MASK), NINO_PORT(source, MASK)),
          NINO_OUTPUTS(NINO_PORT(MASK, MASK)),
          NINO_PARAMS(composite_params,
                      NINO_P_INT(composite_params, x, 0, 0, 16384, 1, .label = "Left", .unit = "px",
                                 .help = "Where the left edge of the source goes"),
                      NINO_P_INT(composite_params, y, 0, 0, 16384, 1, .label = "Top", .unit = "px",
                                 .help = "Where the top edge of the source goes"),
                      NINO_P_ENUM(composite_params, operation,
                                  NINO_WORDS("multiply", "add", "subtract", "and", "or", "xor"), 0,
                                  .label = "Operation",
                                  .help = "and, or, xor round the values to 0 and 1 first")),
          NINO_RUN(mask_nodes_composite_run));

// ---- FeatherMask -----------------------------------------------------------------------------

typedef struct feather_params {
    int64_t left, top, right, bottom;
} feather_params;

static void scale_line(const nino_picture *m, bool is_row, int64_t at, float rate)
{
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t k = 0; k < (is_row ? m->w : m->h); k++)
            *nino_picture_at(m, i, is_row ? at : k, is_row ? k : at) *= rate;
}

// n lines from the edge inwards, from nearly 0 to 1. From the far end ComfyUI counts 0, -1, -2 ...:
// its first line there is the near edge's.
static void feather_edge(const nino_picture *m, bool is_row, bool is_far, int64_t n)
{
    const int64_t size = is_row ? m->h : m->w;
    n = n < size ? n : size;
    for (int64_t i = 0; i < n; i++)
        scale_line(m, is_row, is_far && i ? size - i : i, (float) ((double) (i + 1) / (double) n));
}

static nino_status feather_run(nino_run *r, nino_error *err)
{
    const feather_params *p = r->params;
    nino_array *out = nino_picture_copy(nino_in_mask(r, 0), r->def->key, err);
    if (out && !r->is_plan) {
        const nino_picture m = nino_picture_of(out);
        feather_edge(&m, false, false, p->left);
        feather_edge(&m, false, true, p->right);
        feather_edge(&m, true, false, p->top);
        feather_edge(&m, true, true, p->bottom);
    }
    return nino_out_mask(r, 0, out, err);
}

#define EDGE(fld, name)                                                                            \
    NINO_P_INT(feather_params, fld, 0, 0, 16384, 1, .label = name, .unit = "px",                   \
               .help = "Width of the fade at this edge")

NINO_NODE(feather_mask, "FeatherMask", "FeatherMask", "mask", "Fades a mask out towards its edges",
          NINO_INPUTS(NINO_PORT(mask, MASK)), NINO_OUTPUTS(NINO_PORT(MASK, MASK)),
          NINO_PARAMS(feather_params, EDGE(left, "Left"), EDGE(top, "Top"), EDGE(right, "Right"),
                      EDGE(bottom, "Bottom")),
          NINO_RUN(feather_run));

// ---- GrowMask --------------------------------------------------------------------------------

typedef struct grow_params {
    int64_t expand;
    bool tapered_corners;
} grow_params;

static float mask_nodes_extreme(float a, float b, bool is_max) { return (a > b) == is_max ? a : b; }

// One pixel further in every direction, diagonals only if `corners`. Beyond the edge lies what is
// on it. True if anything changed.
static bool grow_once(const float *in, float *out, int64_t h, int64_t w, bool is_max, bool corners)
{
    bool changed = false;
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            float v = in[y * w + x];
            for (int64_t dy = -1; dy <= 1; dy++)
                for (int64_t dx = -1; dx <= 1; dx++) {
                    const int64_t ny = y + dy, nx = x + dx;
                    if ((dx && dy && !corners) || ny < 0 || ny >= h || nx < 0 || nx >= w)
                        continue;
                    v = mask_nodes_extreme(v, in[ny * w + nx], is_max);
                }
            out[y * w + x] = v;
            changed |= v != in[y * w + x];
        }
    return changed;
}

static nino_status grow_run(nino_run *r, nino_error *err)
{
    const grow_params *p = r->params;
    const int64_t times = p->expand < 0 ? -p->expand : p->expand;
    nino_array *out = nino_picture_copy(nino_in_mask(r, 0), r->def->key, err);
    if (!out || r->is_plan || !times)
        return nino_out_mask(r, 0, out, err);
    const nino_picture m = nino_picture_of(out);
    const size_t bytes = (size_t) (m.h * m.w) * sizeof(float);
    float *next = malloc(bytes);
    nino_status st = next ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    for (int64_t i = 0; i < m.n && st == NINO_OK; i++) {
        float *v = m.v + i * m.h * m.w;
        bool changed = true; // once nothing does, no repetition will
        for (int64_t k = 0; k < times && changed && st == NINO_OK; k++) {
            changed = grow_once(v, next, m.h, m.w, p->expand > 0, !p->tapered_corners);
            memcpy(v, next, bytes);
            st = nino_node_cancelled(r, err);
        }
    }
    free(next);
    if (st)
        nino_array_unref(&out);
    return st ? st : nino_out_mask(r, 0, out, err);
}

NINO_NODE(grow_mask, "GrowMask", "GrowMask", "mask", "Grows or shrinks a mask",
          NINO_INPUTS(NINO_PORT(mask, MASK)), NINO_OUTPUTS(NINO_PORT(MASK, MASK)),
          NINO_PARAMS(grow_params,
                      NINO_P_INT(grow_params, expand, 0, -16384, 16384, 1, .label = "Grow by",
                                 .unit = "px", .help = "How far the mask grows; negative: shrinks",
                                 .ui_min.i = -128, .ui_max.i = 128),
                      NINO_P_BOOL(grow_params, tapered_corners, true, .label = "Tapered corners",
                                  .help = "Grows less along the diagonals")),
          NINO_RUN(grow_run));
