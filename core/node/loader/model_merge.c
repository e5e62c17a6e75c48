// Model merging: a model or text encoder made of two. Behaviour: ComfyUI nodes_model_merging.py.
#include "core/base/error.h"
#include "core/model/merge/merge.h"
#include "core/node/sampling_node.h"
#include "core/node/util.h"

static const nino_port models_in[] = { { .key = "model1", .type = NINO_PORT_MODEL },
                                       { .key = "model2", .type = NINO_PORT_MODEL },
                                       { 0 } };
static const nino_port model_out[] = { { .key = "MODEL", .type = NINO_PORT_MODEL }, { 0 } };
static const nino_port clips_in[] = { { .key = "clip1", .type = NINO_PORT_CLIP },
                                      { .key = "clip2", .type = NINO_PORT_CLIP },
                                      { 0 } };
static const nino_port clip_out[] = { { .key = "CLIP", .type = NINO_PORT_CLIP }, { 0 } };

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
static const nino_node_ops simple_ops = { .run = simple_run };
const nino_node_def nino_node_merge_simple = {
    .key = "ModelMergeSimple",
    .title = "ModelMergeSimple",
    .category = "advanced/model_merging",
    .help = "A model between two of the same kind; weights are mixed when they are read",
    .inputs = models_in,
    .outputs = model_out,
    .params = ratio_table,
    .params_size = sizeof(ratio_params),
    .ops = &simple_ops,
};

static const nino_node_ops clip_simple_ops = { .run = clip_simple_run };
const nino_node_def nino_node_clip_merge_simple = {
    .key = "CLIPMergeSimple",
    .title = "CLIPMergeSimple",
    .category = "advanced/model_merging",
    .help = "A text encoder between two of the same kind",
    .inputs = clips_in,
    .outputs = clip_out,
    .params = ratio_table,
    .params_size = sizeof(ratio_params),
    .ops = &clip_simple_ops,
};

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

static const nino_param blocks_table[] = { P_RATIO(blocks_params, input, "Input blocks"),
                                           P_RATIO(blocks_params, middle, "Middle block"),
                                           P_RATIO(blocks_params, out, "Output blocks"),
                                           { 0 } };
static const nino_node_ops blocks_ops = { .run = blocks_run };
const nino_node_def nino_node_merge_blocks = {
    .key = "ModelMergeBlocks",
    .title = "ModelMergeBlocks",
    .category = "advanced/model_merging",
    .help = "A model between two UNets, with a share for each of its parts",
    .inputs = models_in,
    .outputs = model_out,
    .params = blocks_table,
    .params_size = sizeof(blocks_params),
    .ops = &blocks_ops,
};

// ---- add and subtract ------------------------------------------------------------------------

typedef struct subtract_params {
    double multiplier;
} subtract_params;

static const nino_param subtract_table[] = { NINO_P_FLOAT(subtract_params, multiplier, 1, -10, 10,
                                                          0.01, .label = "Multiplier",
                                                          .help = "Factor of the difference"),
                                             { 0 } };

static nino_status subtract_run(nino_run *r, nino_error *err)
{
    const double k = ((const subtract_params *) r->params)->multiplier;
    const nino_merge_part all = { "", k, -k };
    return merge_models(r, &all, 1, err);
}

static nino_status add_run(nino_run *r, nino_error *err)
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

static const nino_node_ops subtract_ops = { .run = subtract_run };
const nino_node_def nino_node_merge_subtract = {
    .key = "ModelMergeSubtract",
    .title = "ModelMergeSubtract",
    .category = "advanced/model_merging",
    .help = "The difference of two models, to be added to a third",
    .inputs = models_in,
    .outputs = model_out,
    .params = subtract_table,
    .params_size = sizeof(subtract_params),
    .ops = &subtract_ops,
};

static const nino_node_ops add_ops = { .run = add_run };
const nino_node_def nino_node_merge_add = {
    .key = "ModelMergeAdd",
    .title = "ModelMergeAdd",
    .category = "advanced/model_merging",
    .help = "The sum of two models, one of which is a difference",
    .inputs = models_in,
    .outputs = model_out,
    .ops = &add_ops,
};

static const nino_node_ops clip_subtract_ops = { .run = clip_subtract_run };
const nino_node_def nino_node_clip_merge_subtract = {
    .key = "CLIPMergeSubtract",
    .title = "CLIPMergeSubtract",
    .category = "advanced/model_merging",
    .help = "The difference of two text encoders",
    .inputs = clips_in,
    .outputs = clip_out,
    .params = subtract_table,
    .params_size = sizeof(subtract_params),
    .ops = &clip_subtract_ops,
};

static const nino_node_ops clip_add_ops = { .run = clip_add_run };
const nino_node_def nino_node_clip_merge_add = {
    .key = "CLIPMergeAdd",
    .title = "CLIPMergeAdd",
    .category = "advanced/model_merging",
    .help = "The sum of two text encoders, one of which is a difference",
    .inputs = clips_in,
    .outputs = clip_out,
    .ops = &clip_add_ops,
};
