// Model merging: a model or text encoder made of two. Behaviour: ComfyUI nodes_model_merging.py.
#include "core/base/error.h"
#include "core/model/merge/merge.h"
#include "core/node/sampling_node.h"
#include "core/node/util.h"

static const nino_port models_in[] = { NINO_PORT(model1, MODEL), NINO_PORT(model2, MODEL), { 0 } };
static const nino_port clips_in[] = { NINO_PORT(clip1, CLIP), NINO_PORT(clip2, CLIP), { 0 } };

static nino_status merge_models(nino_run *r, const nino_merge_part *parts, int n, nino_error *err)
{
    nino_model *a = nino_need_model(r, 0, err), *b = a ? nino_need_model(r, 1, err) : NULL;
    nino_model *out = NULL;
    const nino_status st = b ? nino_model_merge(a, b, parts, n, &out, err) : NINO_ERR_UNSUPPORTED;
    return st ? st : nino_out_model(r, 0, out, err);
}

// The executor has made sure that both can be run.
static nino_status merge_clips(nino_run *r, double mine, double other, nino_error *err)
{
    const nino_merge_part all = { "", mine, other };
    nino_clip *out = NULL;
    const nino_status st =
        nino_clip_merge(nino_in_clip(r, 0), nino_in_clip(r, 1), &all, 1, &out, err);
    return st ? st : nino_out_clip(r, 0, out, err);
}

// ---- ModelMergeSimple, CLIPMergeSimple -------------------------------------------------------

typedef struct ratio_params {
    double ratio;
} ratio_params;

static nino_status simple_run(nino_run *r, nino_error *err)
{
    const double ratio = ((const ratio_params *) r->params)->ratio;
    const nino_merge_part all = { "", ratio, 1 - ratio };
    return merge_models(r, &all, 1, err);
}

static nino_status clip_simple_run(nino_run *r, nino_error *err)
{
    const double ratio = ((const ratio_params *) r->params)->ratio;
    return merge_clips(r, ratio, 1 - ratio, err);
}

#define P_RATIO(S, fld, lbl)                                                                       \
    NINO_P_FLOAT(S, fld, 1, 0, 1, 0.01, .label = lbl,                                              \
                 .help = "Share of the first; the rest is the second's")
static const nino_param ratio_table[] = { P_RATIO(ratio_params, ratio, "Ratio"), { 0 } };
NINO_NODE(merge_simple, "ModelMergeSimple", "ModelMergeSimple", "advanced/model_merging",
          "A model between two of the same kind; weights are mixed when they are read",
          .inputs = models_in, NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)), .params = ratio_table,
          .params_size = sizeof(ratio_params), NINO_RUN(simple_run));

NINO_NODE(clip_merge_simple, "CLIPMergeSimple", "CLIPMergeSimple", "advanced/model_merging",
          "A text encoder between two of the same kind", .inputs = clips_in,
          NINO_OUTPUTS(NINO_PORT(CLIP, CLIP)), .params = ratio_table,
          .params_size = sizeof(ratio_params), NINO_RUN(clip_simple_run));

// ---- ModelMergeBlocks ------------------------------------------------------------------------

typedef struct blocks_params {
    double input, middle, out;
} blocks_params;

static nino_status blocks_run(nino_run *r, nino_error *err)
{
    const blocks_params *p = r->params;
    const nino_merge_part parts[] = {
        { "", p->input, 1 - p->input }, // what belongs to no block
        { "input", p->input, 1 - p->input },
        { "middle", p->middle, 1 - p->middle },
        { "out", p->out, 1 - p->out },
    };
    return merge_models(r, parts, 4, err);
}

NINO_NODE(merge_blocks, "ModelMergeBlocks", "ModelMergeBlocks", "advanced/model_merging",
          "A model between two UNets, with a share for each of its parts", .inputs = models_in,
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          NINO_PARAMS(blocks_params, P_RATIO(blocks_params, input, "Input blocks"),
                      P_RATIO(blocks_params, middle, "Middle block"),
                      P_RATIO(blocks_params, out, "Output blocks")),
          NINO_RUN(blocks_run));

// ---- add and subtract ------------------------------------------------------------------------

typedef struct subtract_params {
    double multiplier;
} subtract_params;

static const nino_param subtract_table[] = { NINO_P_FLOAT(subtract_params, multiplier, 1, -10, 10,
                                                          0.01, .label = "Multiplier",
                                                          .help = "Factor of the difference"),
                                             { 0 } };

static nino_status model_merge_subtract_run(nino_run *r, nino_error *err)
{
    const double k = ((const subtract_params *) r->params)->multiplier;
    const nino_merge_part all = { "", k, -k };
    return merge_models(r, &all, 1, err);
}

static nino_status model_merge_add_run(nino_run *r, nino_error *err)
{
    const nino_merge_part all = { "", 1, 1 };
    return merge_models(r, &all, 1, err);
}

static nino_status clip_subtract_run(nino_run *r, nino_error *err)
{
    const double k = ((const subtract_params *) r->params)->multiplier;
    return merge_clips(r, k, -k, err);
}

static nino_status clip_add_run(nino_run *r, nino_error *err) { return merge_clips(r, 1, 1, err); }

NINO_NODE(merge_subtract, "ModelMergeSubtract", "ModelMergeSubtract", "advanced/model_merging",
          "The difference of two models, to be added to a third", .inputs = models_in,
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)), .params = subtract_table,
          .params_size = sizeof(subtract_params), NINO_RUN(model_merge_subtract_run));

NINO_NODE(merge_add, "ModelMergeAdd", "ModelMergeAdd", "advanced/model_merging",
          "The sum of two models, one of which is a difference", .inputs = models_in,
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)), NINO_RUN(model_merge_add_run));

NINO_NODE(clip_merge_subtract, "CLIPMergeSubtract", "CLIPMergeSubtract", "advanced/model_merging",
          "The difference of two text encoders", .inputs = clips_in,
          NINO_OUTPUTS(NINO_PORT(CLIP, CLIP)), .params = subtract_table,
          .params_size = sizeof(subtract_params), NINO_RUN(clip_subtract_run));

NINO_NODE(clip_merge_add, "CLIPMergeAdd", "CLIPMergeAdd", "advanced/model_merging",
          "The sum of two text encoders, one of which is a difference", .inputs = clips_in,
          NINO_OUTPUTS(NINO_PORT(CLIP, CLIP)), NINO_RUN(clip_add_run));
