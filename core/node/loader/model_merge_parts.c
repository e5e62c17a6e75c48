// Merging of two models with a share for every part of their network: the classes for one
// architecture each of ComfyUI's nodes_model_merging_model_specific.py. Their parameters are called
// as the tensors begin.
#include "core/base/error.h"
#include "core/model/merge/merge.h"
#include "core/node/sampling_node.h"
#include "core/node/util.h"

#define MAX_PARTS 64

typedef struct parts_params {
    double share[MAX_PARTS]; // by row of the table
} parts_params;

// The longest name a tensor begins with counts; what none fits goes with the first.
static nino_status parts_run(nino_run *r, nino_error *err)
{
    const parts_params *p = r->params;
    nino_model *a = nino_need_model(r, 0, err), *b = a ? nino_need_model(r, 1, err) : NULL;
    nino_merge_part part[MAX_PARTS + 1] = { { "", p->share[0], 1 - p->share[0] } };
    nino_model *out = NULL;
    int n = 1;
    if (!b)
        return NINO_ERR_UNSUPPORTED;
    for (const nino_param *q = r->def->params; q->key; q++, n++)
        part[n] = (nino_merge_part){ q->key, p->share[n - 1], 1 - p->share[n - 1] };
    const nino_status st = nino_model_merge(a, b, part, n, &out, err);
    return st ? st : nino_out_model(r, 0, out, err);
}

// clang-format off
#define SHARE(i, name, end)                                                                        \
    { .key = name end, .label = name, .type = NINO_FLOAT, .offset = (i) * sizeof(double),          \
      .def.f = 1, .max.f = 1, .step.f = 0.01,                                                      \
      .help = "Share of the first; the rest is the second's" }
// Numbered parts: `ten` and a digit behind the word.
#define THREE(i, word, ten, end)                                                                   \
    SHARE(i, word ten "0", end), SHARE((i) + 1, word ten "1", end),                                \
        SHARE((i) + 2, word ten "2", end)
#define FOUR(i, word, ten, end) THREE(i, word, ten, end), SHARE((i) + 3, word ten "3", end)
#define EIGHT(i, word, ten, end)                                                                   \
    FOUR(i, word, ten, end), SHARE((i) + 4, word ten "4", end),                                    \
        SHARE((i) + 5, word ten "5", end),                      \
        SHARE((i) + 6, word ten "6", end), SHARE((i) + 7, word ten "7", end)
#define NINE(i, word, ten, end) EIGHT(i, word, ten, end), SHARE((i) + 8, word ten "8", end)
#define TEN(i, word, ten, end) NINE(i, word, ten, end), SHARE((i) + 9, word ten "9", end)

static const nino_param sd_table[] = {
    SHARE(0, "time_embed", "."),
    SHARE(1, "label_emb", "."),
    TEN(2, "input_blocks.", "", "."),
    SHARE(12, "input_blocks.10", "."),
    SHARE(13, "input_blocks.11", "."),
    THREE(14, "middle_block.", "", "."),
    TEN(17, "output_blocks.", "", "."),
    SHARE(27, "output_blocks.10", "."),
    SHARE(28, "output_blocks.11", "."),
    SHARE(29, "out", "."),
    { 0 }
};
static const nino_param sdxl_table[] = {
    SHARE(0, "time_embed", "."),
    SHARE(1, "label_emb", "."),
    NINE(2, "input_blocks.", "", ""),
    THREE(11, "middle_block.", "", ""),
    NINE(14, "output_blocks.", "", ""),
    SHARE(23, "out", "."),
    { 0 }
};
static const nino_param flux_table[] = {
    SHARE(0, "img_in", "."),
    SHARE(1, "time_in", "."),
    SHARE(2, "guidance_in", ""),
    SHARE(3, "vector_in", "."),
    SHARE(4, "txt_in", "."),
    TEN(5, "double_blocks.", "", "."),
    NINE(15, "double_blocks.", "1", "."),
    TEN(24, "single_blocks.", "", "."),
    TEN(34, "single_blocks.", "1", "."),
    TEN(44, "single_blocks.", "2", "."),
    EIGHT(54, "single_blocks.", "3", "."),
    SHARE(62, "final_layer", "."),
    { 0 }
};
static const nino_param sd3_table[] = {
    SHARE(0, "pos_embed", "."),
    SHARE(1, "x_embedder", "."),
    SHARE(2, "context_embedder", "."),
    SHARE(3, "y_embedder", "."),
    SHARE(4, "t_embedder", "."),
    TEN(5, "joint_blocks.", "", "."),
    TEN(15, "joint_blocks.", "1", "."),
    FOUR(25, "joint_blocks.", "2", "."),
    SHARE(29, "final_layer", "."),
    { 0 }
};
static const nino_param sd35_table[] = {
    SHARE(0, "pos_embed", "."),
    SHARE(1, "x_embedder", "."),
    SHARE(2, "context_embedder", "."),
    SHARE(3, "y_embedder", "."),
    SHARE(4, "t_embedder", "."),
    TEN(5, "joint_blocks.", "", "."),
    TEN(15, "joint_blocks.", "1", "."),
    TEN(25, "joint_blocks.", "2", "."),
    EIGHT(35, "joint_blocks.", "3", "."),
    SHARE(43, "final_layer", "."),
    { 0 }
};
static const nino_param wan_table[] = {
    SHARE(0, "patch_embedding", "."),
    SHARE(1, "time_embedding", "."),
    SHARE(2, "time_projection", "."),
    SHARE(3, "text_embedding", "."),
    SHARE(4, "img_emb", "."),
    TEN(5, "blocks.", "", "."),
    TEN(15, "blocks.", "1", "."),
    TEN(25, "blocks.", "2", "."),
    TEN(35, "blocks.", "3", "."),
    SHARE(45, "head", "."),
    { 0 }
};
// clang-format on

#define MERGE_NODE(var, class, what, table)                                                        \
    NINO_NODE(var, class, class, "advanced/model_merging/model_specific",                          \
              "A model between two " what " models, with a share for every part",                  \
              NINO_INPUTS(NINO_PORT(model1, MODEL), NINO_PORT(model2, MODEL)),                     \
              NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)), .params = table,                              \
              .params_size = sizeof(parts_params), NINO_RUN(parts_run))
MERGE_NODE(merge_sd1, "ModelMergeSD1", "SD 1", sd_table);
MERGE_NODE(merge_sd2, "ModelMergeSD2", "SD 2", sd_table);
MERGE_NODE(merge_sdxl, "ModelMergeSDXL", "SDXL", sdxl_table);
MERGE_NODE(merge_flux1, "ModelMergeFlux1", "FLUX.1", flux_table);
MERGE_NODE(merge_sd3, "ModelMergeSD3_2B", "SD3", sd3_table);
MERGE_NODE(merge_sd35, "ModelMergeSD35_Large", "SD3.5 large", sd35_table);
MERGE_NODE(merge_wan, "ModelMergeWAN2_1", "Wan", wan_table);
