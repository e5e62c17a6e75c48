// Nodes that change how a network computes, or guide by a version of it that does worse. Behaviour:
// ComfyUI 0.33.0 comfy_extras/nodes_freelunch.py, nodes_pag.py, nodes_sag.py, nodes_slg.py,
// nodes_hypertile.py, nodes_nag.py, nodes_model_downscale.py and nodes_attention_multiply.py.
#include <stdlib.h>

#include "core/base/error.h"
#include "core/node/sampling_node.h"
#include "core/node/util.h"

#define MODEL_IN NINO_INPUTS(NINO_PORT(model, MODEL))
#define MODEL_OUT NINO_OUTPUTS(NINO_PORT(MODEL, MODEL))

// ---- FreeU -----------------------------------------------------------------------------------

typedef struct freeu_params {
    double b1, b2, s1, s2;
} freeu_params;

static nino_status freeu_any_run(nino_run *r, nino_patch_kind kind, nino_error *err)
{
    const freeu_params *p = r->params;
    return nino_out_patched(r, &(nino_patch){ .kind = kind, .v = { p->b1, p->b2, p->s1, p->s2 } },
                            err);
}
static nino_status freeu_run(nino_run *r, nino_error *err)
{
    return freeu_any_run(r, NINO_PATCH_FREEU, err);
}
static nino_status freeu2_run(nino_run *r, nino_error *err)
{
    return freeu_any_run(r, NINO_PATCH_FREEU2, err);
}

#define FREEU_PARAMS(one, two)                                                                     \
    NINO_PARAMS(freeu_params,                                                                      \
                NINO_P_FLOAT(freeu_params, b1, one, 0, 10, 0.01, .label = "Backbone 1",            \
                             .help = "Factor of features at the widest stages of the way up"),     \
                NINO_P_FLOAT(freeu_params, b2, two, 0, 10, 0.01, .label = "Backbone 2",            \
                             .help = "Factor of features at the stages half as wide"),             \
                NINO_P_FLOAT(freeu_params, s1, 0.9, 0, 10, 0.01, .label = "Skip 1",                \
                             .help = "Factor of the skip's lowest frequencies at the widest "      \
                                     "stages"),                                                    \
                NINO_P_FLOAT(freeu_params, s2, 0.2, 0, 10, 0.01, .label = "Skip 2",                \
                             .help = "Factor of the skip's lowest frequencies at the stages half " \
                                     "as wide"))

NINO_NODE(freeu, "FreeU", "FreeU", "model_patches/unet",
          "Better pictures of SD1, SD2 and SDXL by weighting what meets on the UNet's way up",
          MODEL_IN, MODEL_OUT, FREEU_PARAMS(1.1, 1.2), NINO_RUN(freeu_run));
NINO_NODE(freeu_v2, "FreeU_V2", "FreeU_V2", "model_patches/unet",
          "As FreeU, stronger where a picture's features are strong", MODEL_IN, MODEL_OUT,
          FREEU_PARAMS(1.3, 1.4), NINO_RUN(freeu2_run));

// ---- away from something worse ---------------------------------------------------------------

typedef struct pag_params {
    double scale;
} pag_params;

static nino_status pag_run(nino_run *r, nino_error *err)
{
    const double scale = ((const pag_params *) r->params)->scale;
    return nino_out_patched(r, &(nino_patch){ .kind = NINO_PATCH_PERTURBED, .v = { scale } }, err);
}

NINO_NODE(pag, "PerturbedAttentionGuidance", "PerturbedAttentionGuidance", "model_patches/unet",
          "Guides away from what a UNet makes without its middle's self-attention", MODEL_IN,
          MODEL_OUT,
          NINO_PARAMS(pag_params, NINO_P_FLOAT(pag_params, scale, 3, 0, 100, 0.01, .label = "Scale",
                                               .ui_max.f = 10, .help = "How far away; 0: off")),
          NINO_RUN(pag_run));

typedef struct sag_params {
    double scale, blur_sigma;
} sag_params;

static nino_status sag_run(nino_run *r, nino_error *err)
{
    const sag_params *p = r->params;
    const nino_patch patch = { .kind = NINO_PATCH_SELF_ATTENTION,
                               .v = { p->scale, p->blur_sigma } };
    return nino_out_patched(r, &patch, err);
}

NINO_NODE(sag, "SelfAttentionGuidance", "Self-Attention Guidance", "_for_testing",
          "Guides away from what a UNet makes of a picture that is blurred where it looks",
          MODEL_IN, MODEL_OUT,
          NINO_PARAMS(sag_params,
                      NINO_P_FLOAT(sag_params, scale, 0.5, -2, 5, 0.01, .label = "Scale",
                                   .help = "How far away"),
                      NINO_P_FLOAT(sag_params, blur_sigma, 2, 0, 10, 0.1, .label = "Blur",
                                   .help = "Standard deviation of the blur, in cells")),
          NINO_RUN(sag_run));

// The numbers in a text, as bits; what stands between them does not matter.
static uint64_t blocks_of(const char *text)
{
    uint64_t set = 0;
    for (const char *c = text; *c;) {
        if (*c < '0' || *c > '9') {
            c++;
            continue;
        }
        char *end;
        const unsigned long n = strtoul(c, &end, 10);
        if (n < 64)
            set |= (uint64_t) 1 << n;
        c = end;
    }
    return set;
}

typedef struct skip_params {
    const char *double_layers, *single_layers;
    double scale, start_percent, end_percent, rescaling_scale;
} skip_params;

static nino_status skip_give(nino_run *r, nino_patch_kind kind, const skip_params *p,
                             nino_error *err)
{
    nino_model *m = nino_need_model(r, 0, err);
    if (!m)
        return NINO_ERR_UNSUPPORTED;
    const nino_patch patch = {
        .kind = kind,
        .v = { p->scale, p->rescaling_scale },
        .has_range = true,
        .start = nino_sampling_percent_to_sigma(m->sampling, p->start_percent),
        .end = nino_sampling_percent_to_sigma(m->sampling, p->end_percent),
        .is_in_sigmas = true,
        .doubles = blocks_of(p->double_layers),
        .singles = blocks_of(p->single_layers),
    };
    if (!patch.doubles && !patch.singles)
        return nino_out_model(r, 0, nino_model_ref(m), err);
    return nino_out_patched(r, &patch, err);
}
static nino_status skip_run(nino_run *r, nino_error *err)
{
    return skip_give(r, NINO_PATCH_SKIP, r->params, err);
}
static nino_status skip_simple_run(nino_run *r, nino_error *err)
{
    return skip_give(r, NINO_PATCH_SKIP_NEGATIVE, r->params, err);
}

#define SKIP_LAYERS                                                                                \
    NINO_P_STRING(skip_params, double_layers, "7, 8, 9", .label = "Double blocks",                 \
                  .help = "Numbers of blocks with two streams, or of all where they are alike"),   \
        NINO_P_STRING(skip_params, single_layers, "7, 8, 9", .label = "Single blocks",             \
                      .help = "Numbers of blocks with one stream")
#define SKIP_RANGE(S, from, to)                                                                    \
    NINO_P_FLOAT(S, start_percent, from, 0, 1, 0.001, .label = "From",                             \
                 .help = "Part of the sampling after which it begins"),                            \
        NINO_P_FLOAT(S, end_percent, to, 0, 1, 0.001, .label = "To",                               \
                     .help = "Part of the sampling at which it ends")

NINO_NODE(skip_layer_dit, "SkipLayerGuidanceDiT", "SkipLayerGuidanceDiT", "advanced/guidance",
          "Guides away from what a transformer makes without some of its blocks", MODEL_IN,
          MODEL_OUT,
          NINO_PARAMS(skip_params, SKIP_LAYERS,
                      NINO_P_FLOAT(skip_params, scale, 3, 0, 10, 0.1, .label = "Scale",
                                   .help = "How far away"),
                      SKIP_RANGE(skip_params, 0.01, 0.15),
                      NINO_P_FLOAT(skip_params, rescaling_scale, 0, 0, 10, 0.01,
                                   .label = "Rescaling",
                                   .help = "How much of the spread of the positive side comes "
                                           "back")),
          NINO_RUN(skip_run));

typedef struct skip_sd3_params {
    const char *layers;
    double scale, start_percent, end_percent;
} skip_sd3_params;

static nino_status skip_sd3_run(nino_run *r, nino_error *err)
{
    const skip_sd3_params *p = r->params;
    const skip_params as = { .double_layers = p->layers,
                             .single_layers = "",
                             .scale = p->scale,
                             .start_percent = p->start_percent,
                             .end_percent = p->end_percent };
    return skip_give(r, NINO_PATCH_SKIP, &as, err);
}

NINO_NODE(skip_layer_sd3, "SkipLayerGuidanceSD3", "SkipLayerGuidanceSD3", "advanced/guidance",
          "Guides away from what SD3 makes without some of its blocks", MODEL_IN, MODEL_OUT,
          NINO_PARAMS(skip_sd3_params,
                      NINO_P_STRING(skip_sd3_params, layers, "7, 8, 9", .label = "Blocks",
                                    .help = "Numbers of blocks, whatever is between them"),
                      NINO_P_FLOAT(skip_sd3_params, scale, 3, 0, 10, 0.1, .label = "Scale",
                                   .help = "How far away"),
                      SKIP_RANGE(skip_sd3_params, 0.01, 0.15)),
          NINO_RUN(skip_sd3_run));

NINO_NODE(skip_layer_simple, "SkipLayerGuidanceDiTSimple", "SkipLayerGuidanceDiTSimple",
          "advanced/guidance", "The negative side does without some blocks of a transformer",
          MODEL_IN, MODEL_OUT, NINO_PARAMS(skip_params, SKIP_LAYERS, SKIP_RANGE(skip_params, 0, 1)),
          NINO_RUN(skip_simple_run));

// ---- PatchModelAddDownscale ------------------------------------------------------------------

typedef struct down_params {
    int64_t block_number;
    double downscale_factor, start_percent, end_percent;
    bool downscale_after_skip;
    int64_t downscale_method, upscale_method;
} down_params;

static const char *const down_methods[] = { "bicubic", "nearest-exact", "bilinear",
                                            "area",    "bislerp",       NULL };
enum { BISLERP = 4 };

static nino_status down_check(const nino_ctx *ctx, const void *params, nino_error *err)
{
    const down_params *p = params;
    (void) ctx;
    return p->downscale_method != BISLERP && p->upscale_method != BISLERP
               ? NINO_OK
               : nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "value",
                                p->upscale_method == BISLERP ? "upscale_method"
                                                             : "downscale_method",
                                "bislerp is not supported inside of a network");
}

static nino_status down_run(nino_run *r, nino_error *err)
{
    static const nino_filter filters[] = { NINO_FILTER_BICUBIC, NINO_FILTER_NEAREST,
                                           NINO_FILTER_BILINEAR, NINO_FILTER_AREA };
    const down_params *p = r->params;
    const nino_model *m = nino_need_model(r, 0, err);
    const nino_status st = m ? down_check(r->ctx, p, err) : NINO_ERR_UNSUPPORTED;
    if (st)
        return st;
    const nino_patch patch = {
        .kind = NINO_PATCH_DOWNSCALE,
        .v = { (double) p->block_number, p->downscale_factor, p->downscale_after_skip },
        .has_range = true,
        .start = nino_sampling_percent_to_sigma(m->sampling, p->start_percent),
        .end = nino_sampling_percent_to_sigma(m->sampling, p->end_percent),
        .is_in_sigmas = true,
        .filter = { (int) filters[p->downscale_method], (int) filters[p->upscale_method] }
    };
    return nino_out_patched(r, &patch, err);
}

NINO_NODE(
    add_downscale, "PatchModelAddDownscale", "PatchModelAddDownscale (Kohya Deep Shrink)",
    "model_patches/unet", "A UNet sees large pictures smaller at first, against repeated subjects",
    MODEL_IN, MODEL_OUT,
    NINO_PARAMS(down_params,
                NINO_P_INT(down_params, block_number, 3, 1, 32, 1, .label = "Block",
                           .help = "Of the way down, after which it is smaller"),
                NINO_P_FLOAT(down_params, downscale_factor, 2, 0.1, 9, 0.001, .label = "Factor",
                             .help = "How much smaller; up to 1 nothing happens"),
                NINO_P_FLOAT(down_params, start_percent, 0, 0, 1, 0.001, .label = "From",
                             .help = "Part of the sampling after which it begins"),
                NINO_P_FLOAT(down_params, end_percent, 0.35, 0, 1, 0.001, .label = "To",
                             .help = "Part of the sampling at which it ends"),
                NINO_P_BOOL(down_params, downscale_after_skip, true, .label = "After the skip",
                            .help = "The way up still gets the block's full size"),
                NINO_P_ENUM(down_params, downscale_method, down_methods, 0, .label = "Smaller by",
                            .help = "How it is made smaller"),
                NINO_P_ENUM(down_params, upscale_method, down_methods, 0, .label = "Larger by",
                            .help = "How it is made larger again")),
    NINO_RUN(down_run, .check = down_check));

// ---- attention -------------------------------------------------------------------------------

typedef struct tile_params {
    int64_t tile_size, swap_size, max_depth;
    bool scale_depth;
} tile_params;

static nino_status hypertile_run(nino_run *r, nino_error *err)
{
    const tile_params *p = r->params;
    const nino_patch patch = { .kind = NINO_PATCH_HYPERTILE,
                               .v = { (double) p->tile_size, (double) p->swap_size,
                                      (double) p->max_depth, p->scale_depth } };
    return nino_out_patched(r, &patch, err);
}

NINO_NODE(hypertile, "HyperTile", "HyperTile", "model_patches/unet",
          "Self-attention of a UNet within tiles: large pictures need less time", MODEL_IN,
          MODEL_OUT,
          NINO_PARAMS(tile_params,
                      NINO_P_INT(tile_params, tile_size, 256, 1, 2048, 1, .label = "Tile size",
                                 .help = "Pixels of a tile's side, at least"),
                      NINO_P_INT(tile_params, swap_size, 2, 1, 128, 1, .label = "Swap size",
                                 .help = "Of so many sizes ComfyUI takes one at random; here it is "
                                         "always the smallest, as with 1 and 2 there"),
                      NINO_P_INT(tile_params, max_depth, 0, 0, 10, 1, .label = "Depth",
                                 .help = "How many sizes of the UNet, besides the largest"),
                      NINO_P_BOOL(tile_params, scale_depth, false, .label = "Scale with depth",
                                  .help = "Tiles of smaller sizes hold as much of the picture")),
          NINO_RUN(hypertile_run));

typedef struct nag_params {
    double nag_scale, nag_alpha, nag_tau;
} nag_params;

static nino_status nag_run(nino_run *r, nino_error *err)
{
    const nag_params *p = r->params;
    const nino_model *m = nino_need_model(r, 0, err);
    if (!m)
        return NINO_ERR_UNSUPPORTED;
    if (m->net->kind != NINO_DIFFUSION_UNET && m->net->kind != NINO_DIFFUSION_FLUX)
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "model", m->net->name,
                              "NAGuidance works with SD, SDXL, FLUX and Chroma, not with %s",
                              m->net->family);
    const nino_patch patch = { .kind = NINO_PATCH_NAG,
                               .v = { p->nag_scale, p->nag_alpha, p->nag_tau } };
    return nino_out_patched(r, &patch, err);
}

NINO_NODE(nag, "NAGuidance", "Normalized Attention Guidance", "advanced/guidance",
          "A negative prompt for models without guidance: attention is led away from it", MODEL_IN,
          MODEL_OUT,
          NINO_PARAMS(nag_params,
                      NINO_P_FLOAT(nag_params, nag_scale, 5, 0, 50, 0.1, .label = "Scale",
                                   .help = "How far away; 1 is nothing"),
                      NINO_P_FLOAT(nag_params, nag_alpha, 0.5, 0, 1, 0.01, .label = "Share",
                                   .help = "How much of that replaces the plain attention"),
                      NINO_P_FLOAT(nag_params, nag_tau, 1.5, 1, 10, 0.01, .label = "Longest",
                                   .help = "In lengths of the plain attention")),
          NINO_RUN(nag_run));

typedef struct multiply_params {
    double q, k, v, out;
} multiply_params;

static nino_status multiply_run(nino_run *r, nino_patch_kind kind, nino_error *err)
{
    const multiply_params *p = r->params;
    return nino_out_patched(r, &(nino_patch){ .kind = kind, .v = { p->q, p->k, p->v, p->out } },
                            err);
}
static nino_status multiply_self_run(nino_run *r, nino_error *err)
{
    return multiply_run(r, NINO_PATCH_SELF_SCALE, err);
}
static nino_status multiply_cross_run(nino_run *r, nino_error *err)
{
    return multiply_run(r, NINO_PATCH_CROSS_SCALE, err);
}

#define FACTOR(f, text, what)                                                                      \
    NINO_P_FLOAT(multiply_params, f, 1, 0, 10, 0.01, .label = text, .help = "Factor of " what)
#define FACTORS                                                                                    \
    NINO_PARAMS(multiply_params, FACTOR(q, "Queries", "the queries"),                              \
                FACTOR(k, "Keys", "the keys"), FACTOR(v, "Values", "the values"),                  \
                FACTOR(out, "Output", "what it gives"))

NINO_NODE(self_multiply, "UNetSelfAttentionMultiply", "UNetSelfAttentionMultiply",
          "_for_testing/attention_experiments", "Factors of a UNet's self-attention", MODEL_IN,
          MODEL_OUT, FACTORS, NINO_RUN(multiply_self_run));
NINO_NODE(cross_multiply, "UNetCrossAttentionMultiply", "UNetCrossAttentionMultiply",
          "_for_testing/attention_experiments", "Factors of a UNet's attention to the prompt",
          MODEL_IN, MODEL_OUT, FACTORS, NINO_RUN(multiply_cross_run));
