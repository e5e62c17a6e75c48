// Conditioning: joining and mixing prompts, where and when they apply. Behaviour of ComfyUI's
// nodes.py (Conditioning*).
#include "core/base/error.h"
#include "core/node/util.h"

static const nino_port to_from_in[] = { NINO_PORT(conditioning_to, CONDITIONING),
                                        NINO_PORT(conditioning_from, CONDITIONING,
                                                  .help = "Its first entry"),
                                        { 0 } };

// ---- ConditioningCombine ---------------------------------------------------------------------

static nino_status combine_run(nino_run *r, nino_error *err)
{
    return nino_out_cond(r, 0, nino_cond_join(nino_in_cond(r, 0), nino_in_cond(r, 1)), err);
}

NINO_NODE(cond_combine, "ConditioningCombine", "Conditioning (Combine)", "conditioning",
          "Follows both prompts: the model's answers are averaged",
          NINO_INPUTS(NINO_PORT(conditioning_1, CONDITIONING),
                      NINO_PORT(conditioning_2, CONDITIONING)),
          NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)), NINO_RUN(combine_run));

// ---- ConditioningConcat, ConditioningAverage -------------------------------------------------

// The entry that is mixed in; only one can be.
static const nino_cond_entry *first_of(const nino_run *r, const nino_cond *from, nino_error *err)
{
    if (!from->n) {
        nino_fail_kind(err, NINO_ERR_ARG, "shape", "conditioning_from", "it has no entries");
        return NULL;
    }
    if (from->n > 1)
        nino_logf(r->log, NINO_LOG_WARN,
                  "%s %s: conditioning_from has %d entries, only the first one is used", r->node_id,
                  r->def->key, from->n);
    return from->entry;
}

static nino_status same_width(const nino_array *a, const nino_array *b, nino_error *err)
{
    const int64_t wa = a->shape.dim[a->shape.rank - 1], wb = b->shape.dim[b->shape.rank - 1];
    if (wa == wb)
        return NINO_OK;
    return nino_fail_kind(err, NINO_ERR_ARG, "shape", "conditioning_from",
                          "its prompts have %lld numbers a token, those of conditioning_to %lld",
                          (long long) wb, (long long) wa);
}

// a's tokens, then b's. [n,T,C]; entries of a batch go round.
static nino_array *concat_tokens(const nino_array *a, const nino_array *b, const char *what,
                                 nino_error *err)
{
    const int64_t c = a->shape.dim[2], ta = a->shape.dim[1], tb = b->shape.dim[1];
    const int64_t n = a->shape.dim[0] > b->shape.dim[0] ? a->shape.dim[0] : b->shape.dim[0];
    nino_array *out = nino_node_array(NINO_F32, NINO_SHAPE(n, ta + tb, c), what, err);
    for (int64_t i = 0; out && i < n; i++) {
        float *to = nino_array_f32(out) + i * (ta + tb) * c;
        const float *pa = nino_array_f32(a) + i % a->shape.dim[0] * ta * c;
        const float *pb = nino_array_f32(b) + i % b->shape.dim[0] * tb * c;
        for (int64_t k = 0; k < ta * c; k++)
            to[k] = pa[k];
        for (int64_t k = 0; k < tb * c; k++)
            to[ta * c + k] = pb[k];
    }
    return out;
}

// a * weight + b * (1 - weight), token by token; b has zeros where it ends early.
static nino_array *cond_basic_mix(const nino_array *a, const nino_array *b, double weight,
                                  const char *what, nino_error *err)
{
    const int rank = a->shape.rank;
    const int64_t c = a->shape.dim[rank - 1], n = a->shape.dim[0];
    const int64_t ta = rank == 3 ? a->shape.dim[1] : 1, tb = rank == 3 ? b->shape.dim[1] : 1;
    const float wa = (float) weight, wb = (float) (1.0 - weight);
    nino_array *out = nino_node_array(NINO_F32, a->shape, what, err);
    for (int64_t i = 0; out && i < n; i++)
        for (int64_t t = 0; t < ta; t++) {
            const int64_t at = (i * ta + t) * c;
            const float *pb = nino_array_f32(b) + (i % b->shape.dim[0] * tb + t) * c;
            for (int64_t k = 0; k < c; k++)
                nino_array_f32(out)[at + k] =
                    nino_array_f32(a)[at + k] * wa + (t < tb ? pb[k] : 0.0f) * wb;
        }
    return out;
}

// Puts a new array into a slot, which takes it.
static nino_status cond_basic_give(nino_array **slot, nino_array *a)
{
    if (!a)
        return NINO_ERR_NOMEM;
    nino_array_unref(slot);
    *slot = a;
    return NINO_OK;
}

// What is looked at of both, one behind the other; NULL where that is everything.
static nino_status concat_masks(nino_run *r, nino_cond_entry *e, const nino_cond_entry *from,
                                nino_error *err)
{
    const int64_t ta = e->context->shape.dim[1], tb = from->context->shape.dim[1];
    if (!e->context_mask && !from->context_mask)
        return NINO_OK;
    nino_array *both = nino_node_array(NINO_F32, NINO_SHAPE(1, ta + tb), r->def->key, err);
    for (int64_t i = 0; both && i < ta + tb; i++) {
        const nino_array *m = i < ta ? e->context_mask : from->context_mask;
        nino_array_f32(both)[i] = m ? nino_array_f32(m)[i < ta ? i : i - ta] : 1;
    }
    return cond_basic_give(&e->context_mask, both);
}

static nino_status concat_entry(nino_run *r, nino_cond_entry *e, const nino_cond_entry *from,
                                double weight, nino_error *err)
{
    (void) weight;
    const nino_status st = concat_masks(r, e, from, err);
    if (st)
        return st;
    return cond_basic_give(&e->context, concat_tokens(e->context, from->context, r->def->key, err));
}

static nino_status average_entry(nino_run *r, nino_cond_entry *e, const nino_cond_entry *from,
                                 double weight, nino_error *err)
{
    nino_status st = cond_basic_give(
        &e->context, cond_basic_mix(e->context, from->context, weight, r->def->key, err));
    if (st || !from->pooled)
        return st;
    const nino_array *pooled = e->pooled ? e->pooled : from->pooled;
    if ((st = same_width(pooled, from->pooled, err)))
        return st;
    return cond_basic_give(&e->pooled,
                           cond_basic_mix(pooled, from->pooled, weight, r->def->key, err));
}

// Every entry of conditioning_to changed by the first of conditioning_from.
static nino_status each_with_first(nino_run *r, double weight,
                                   nino_status (*fn)(nino_run *r, nino_cond_entry *e,
                                                     const nino_cond_entry *from, double weight,
                                                     nino_error *err),
                                   nino_error *err)
{
    const nino_cond_entry *from = first_of(r, nino_in_cond(r, 1), err);
    nino_cond *c = from ? nino_cond_copy(nino_in_cond(r, 0)) : NULL;
    nino_status st = NINO_OK;
    for (int i = 0; c && i < c->n && st == NINO_OK; i++) {
        st = same_width(c->entry[i].context, from->context, err);
        if (st == NINO_OK)
            st = fn(r, &c->entry[i], from, weight, err);
    }
    if (st)
        nino_cond_unref(&c);
    return nino_out_cond(r, 0, c, err);
}

static nino_status cond_basic_concat_run(nino_run *r, nino_error *err)
{
    return each_with_first(r, 0, concat_entry, err);
}

NINO_NODE(cond_concat, "ConditioningConcat", "Conditioning (Concat)", "conditioning",
          "One prompt after the other, as one longer prompt", .inputs = to_from_in,
          NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)), NINO_RUN(cond_basic_concat_run));

typedef struct average_params {
    double conditioning_to_strength;
} average_params;

static nino_status average_run(nino_run *r, nino_error *err)
{
    const average_params *p = r->params;
    return each_with_first(r, p->conditioning_to_strength, average_entry, err);
}

NINO_NODE(cond_average, "ConditioningAverage", "ConditioningAverage", "conditioning",
          "A prompt between two prompts", .inputs = to_from_in,
          NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)),
          NINO_PARAMS(average_params,
                      NINO_P_FLOAT(average_params, conditioning_to_strength, 1.0, 0.0, 1.0, 0.01,
                                   .label = "Strength of the first",
                                   .help = "1: only conditioning_to, 0: only conditioning_from")),
          NINO_RUN(average_run));

// ---- nodes that set values of every entry ----------------------------------------------------

// Gives a copy of input 0, each entry changed by fn.
static nino_status each(nino_run *r, void (*fn)(const nino_run *r, nino_cond_entry *e),
                        nino_error *err)
{
    nino_cond *c = nino_cond_copy(nino_in_cond(r, 0));
    for (int i = 0; c && i < c->n; i++)
        fn(r, &c->entry[i]);
    return nino_out_cond(r, 0, c, err);
}

typedef struct area_params {
    int64_t width, height, x, y;
    double strength;
} area_params;

static double cells(int64_t pixels)
{
    const int64_t whole = pixels / 8;
    return (double) whole;
}

static void cond_basic_set_area(const nino_run *r, nino_cond_entry *e)
{
    const area_params *p = r->params;
    e->area_kind = NINO_AREA_CELLS;
    e->area_h = cells(p->height);
    e->area_w = cells(p->width);
    e->area_y = cells(p->y);
    e->area_x = cells(p->x);
    e->strength = p->strength;
    e->mask_bounds = false;
}

static nino_status area_run(nino_run *r, nino_error *err)
{
    return each(r, cond_basic_set_area, err);
}

#define STRENGTH(S)                                                                                \
    NINO_P_FLOAT(S, strength, 1.0, 0.0, 10.0, 0.01, .label = "Strength",                           \
                 .help = "Its weight where prompts overlap")

NINO_NODE(cond_area, "ConditioningSetArea", "Conditioning (Set Area)", "conditioning",
          "The prompt applies to a rectangle of the picture only",
          NINO_INPUTS(NINO_PORT(conditioning, CONDITIONING)),
          NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)),
          NINO_PARAMS(area_params,
                      NINO_P_INT(area_params, width, 64, 64, 16384, 8, .label = "Width",
                                 .unit = "px", .help = "Width of the area"),
                      NINO_P_INT(area_params, height, 64, 64, 16384, 8, .label = "Height",
                                 .unit = "px", .help = "Height of the area"),
                      NINO_P_INT(area_params, x, 0, 0, 16384, 8, .label = "Left", .unit = "px",
                                 .help = "Left edge of the area"),
                      NINO_P_INT(area_params, y, 0, 0, 16384, 8, .label = "Top", .unit = "px",
                                 .help = "Top edge of the area"),
                      STRENGTH(area_params)),
          NINO_RUN(area_run));

typedef struct percent_params {
    double width, height, x, y, strength;
} percent_params;

static void set_percent(const nino_run *r, nino_cond_entry *e)
{
    const percent_params *p = r->params;
    e->area_kind = NINO_AREA_FRACTION;
    e->area_h = p->height;
    e->area_w = p->width;
    e->area_y = p->y;
    e->area_x = p->x;
    e->strength = p->strength;
    e->mask_bounds = false;
}

static nino_status percent_run(nino_run *r, nino_error *err) { return each(r, set_percent, err); }

NINO_NODE(cond_area_percent, "ConditioningSetAreaPercentage",
          "Conditioning (Set Area with Percentage)", "conditioning",
          "The prompt applies to a part of the picture, whatever its size",
          NINO_INPUTS(NINO_PORT(conditioning, CONDITIONING)),
          NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)),
          NINO_PARAMS(percent_params,
                      NINO_P_FLOAT(percent_params, width, 1.0, 0.0, 1.0, 0.01, .label = "Width",
                                   .help = "Width of the area as a part of the picture's"),
                      NINO_P_FLOAT(percent_params, height, 1.0, 0.0, 1.0, 0.01, .label = "Height",
                                   .help = "Height of the area as a part of the picture's"),
                      NINO_P_FLOAT(percent_params, x, 0.0, 0.0, 1.0, 0.01, .label = "Left",
                                   .help = "Left edge as a part of the picture's width"),
                      NINO_P_FLOAT(percent_params, y, 0.0, 0.0, 1.0, 0.01, .label = "Top",
                                   .help = "Top edge as a part of the picture's height"),
                      STRENGTH(percent_params)),
          NINO_RUN(percent_run));

typedef struct strength_params {
    double strength;
} strength_params;

static void set_strength(const nino_run *r, nino_cond_entry *e)
{
    e->strength = ((const strength_params *) r->params)->strength;
}

static nino_status strength_run(nino_run *r, nino_error *err) { return each(r, set_strength, err); }

NINO_NODE(cond_area_strength, "ConditioningSetAreaStrength", "ConditioningSetAreaStrength",
          "conditioning", "How much the prompt counts where it overlaps with others",
          NINO_INPUTS(NINO_PORT(conditioning, CONDITIONING)),
          NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)),
          NINO_PARAMS(strength_params, STRENGTH(strength_params)), NINO_RUN(strength_run));

typedef struct mask_params {
    double strength;
    int64_t set_cond_area;
} mask_params;

static void set_mask(const nino_run *r, nino_cond_entry *e)
{
    const mask_params *p = r->params;
    nino_cond_set_array(&e->mask, nino_in_mask(r, 1));
    e->mask_strength = p->strength;
    e->mask_bounds = p->set_cond_area == 1;
}

static nino_status cond_basic_mask_run(nino_run *r, nino_error *err)
{
    return each(r, set_mask, err);
}

NINO_NODE(
    cond_mask, "ConditioningSetMask", "Conditioning (Set Mask)", "conditioning",
    "The prompt applies where the mask is 1",
    NINO_INPUTS(NINO_PORT(conditioning, CONDITIONING), NINO_PORT(mask, MASK)),
    NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)),
    NINO_PARAMS(
        mask_params, STRENGTH(mask_params),
        NINO_P_ENUM(mask_params, set_cond_area, NINO_WORDS("default", "mask bounds"), 0,
                    .label = "Area",
                    .help = "mask bounds: the model sees only the rectangle around the mask")),
    NINO_RUN(cond_basic_mask_run));

typedef struct range_params {
    double start, end;
} range_params;

static void set_range(const nino_run *r, nino_cond_entry *e)
{
    const range_params *p = r->params;
    e->start = p->start;
    e->end = p->end;
}

static nino_status range_run(nino_run *r, nino_error *err) { return each(r, set_range, err); }

NINO_NODE(
    cond_range, "ConditioningSetTimestepRange", "ConditioningSetTimestepRange",
    "advanced/conditioning", "The prompt applies to a part of the steps",
    NINO_INPUTS(NINO_PORT(conditioning, CONDITIONING)),
    NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)),
    NINO_PARAMS(range_params,
                NINO_P_FLOAT(range_params, start, 0.0, 0.0, 1.0, 0.001, .label = "From",
                             .help = "Part of the sampling after which the prompt begins to count"),
                NINO_P_FLOAT(range_params, end, 1.0, 0.0, 1.0, 0.001, .label = "To",
                             .help = "Part of the sampling after which it no longer counts")),
    NINO_RUN(range_run));

// ---- ConditioningZeroOut ---------------------------------------------------------------------

static nino_status zero_run(nino_run *r, nino_error *err)
{
    nino_cond *c = nino_cond_copy(nino_in_cond(r, 0));
    nino_status st = NINO_OK;
    for (int i = 0; c && i < c->n && st == NINO_OK; i++) {
        nino_cond_entry *e = &c->entry[i];
        st = cond_basic_give(&e->context,
                             nino_node_array(NINO_F32, e->context->shape, r->def->key, err));
        if (st == NINO_OK && e->pooled)
            st = cond_basic_give(&e->pooled,
                                 nino_node_array(NINO_F32, e->pooled->shape, r->def->key, err));
    }
    if (st)
        nino_cond_unref(&c);
    return nino_out_cond(r, 0, c, err);
}

NINO_NODE(cond_zero, "ConditioningZeroOut", "ConditioningZeroOut", "advanced/conditioning",
          "All numbers of the prompt become 0: what models without a negative prompt want there",
          NINO_INPUTS(NINO_PORT(conditioning, CONDITIONING)),
          NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)), NINO_RUN(zero_run));
