// Internal: what nodes change about a MODEL without touching its weights: a list of patches, heeded
// by networks (how they compute) and by the guided denoiser (what it makes of their answers). A
// network sees them as the pass that is made. Thread-safety: immutable once on a link.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum nino_patch_kind {
    // How the two sides make one; of these the last one counts.
    NINO_PATCH_RESCALE,      // RescaleCFG. v: share
    NINO_PATCH_NORM,         // CFGNorm before guidance. v: share
    NINO_PATCH_RENORM,       // RenormCFG. v: noise below which there is guidance, longest
    NINO_PATCH_LINEAR_CFG,   // VideoLinearCFGGuidance. v: guidance of the first picture
    NINO_PATCH_TRIANGLE_CFG, // VideoTriangleCFGGuidance. v: the lowest guidance
    NINO_PATCH_PERP_NEG,     // PerpNeg. v: strength of the negative side; empty
    // Done to the two sides before that, in order.
    NINO_PATCH_TCFG,
    NINO_PATCH_APG,     // v: eta, norm_threshold, momentum
    NINO_PATCH_FRESCA,  // v: low, high, cutoff
    NINO_PATCH_TONEMAP, // LatentApplyOperationCFG. v: multiplier
    NINO_PATCH_SHARPEN, // the same. v: radius, sigma, alpha
    // Done to what comes of it, in order.
    NINO_PATCH_POST_NORM, // CFGNorm: no cell gets longer than on the positive side. v: strength
    NINO_PATCH_ZERO_STAR, // CFGZeroStar
    NINO_PATCH_MAHIRO,
    NINO_PATCH_EPSILON,        // Epsilon Scaling. v: factor
    NINO_PATCH_TSR,            // TemporalScoreRescaling. v: k, sigma
    NINO_PATCH_PERTURBED,      // PerturbedAttentionGuidance. v: scale
    NINO_PATCH_SELF_ATTENTION, // SelfAttentionGuidance. v: scale, blur sigma
    NINO_PATCH_SKIP,           // SkipLayerGuidance*. v: scale, rescaling; blocks
    // Which evaluations are made.
    NINO_PATCH_CFG,           // CFGOverride. v: cfg; the last one in range counts
    NINO_PATCH_SKIP_NEGATIVE, // SkipLayerGuidanceDiTSimple; blocks
    NINO_PATCH_EASY_CACHE,    // v: reuse_threshold
    NINO_PATCH_LAZY_CACHE,    // v: reuse_threshold
    // How networks compute.
    NINO_PATCH_FREEU,         // v: b1, b2, s1, s2
    NINO_PATCH_FREEU2,        // the same
    NINO_PATCH_DOWNSCALE,     // PatchModelAddDownscale. v: block, factor, after the skip; filters
    NINO_PATCH_HYPERTILE,     // v: tile size, swap size, depth, scaled with depth
    NINO_PATCH_SELF_SCALE,    // UNetSelfAttentionMultiply. v: q, k, v, out
    NINO_PATCH_CROSS_SCALE,   // UNetCrossAttentionMultiply. v: q, k, v, out
    NINO_PATCH_NAG,           // NAGuidance. v: scale, alpha, tau
    NINO_PATCH_IMAGE_PROMPT,  // IP-Adapter: image
    NINO_PATCH_BLOCK_CONTROL, // QwenImageDiffsynthControlnet, ZImageFunControlnet: control
    NINO_PATCH_KINDS
} nino_patch_kind;

typedef struct nino_patch {
    nino_patch_kind kind;
    double v[4];
    bool has_range;    // false: it applies to all of the sampling
    double start, end; // of the part it applies to, 0..1
    bool is_in_sigmas; // start and end are noise levels: of the schedule where the node stands
    bool ends_before;  // the end itself is no part of it
    uint64_t doubles, singles;       // blocks, a bit each, as nino_skip has them
    int filter[2];                   // nino_filter: down, up
    struct nino_cond *empty;         // PERP_NEG: the empty prompt; owned reference
    struct nino_image_prompt *image; // owned reference; core/model/ip_adapter/ip_adapter.h
    struct nino_block_use *control;  // owned reference; core/model/block_control/block_control.h
} nino_patch;

#define NINO_MODEL_PATCHES 32 // a bit each in a pass

// What a pass is to find out about an attention: how much its queries look at each key.
typedef struct nino_attention_map {
    float *weight; // [rows of the negative side, n], a mean over heads; malloc'd
    int64_t rows, n;
} nino_attention_map;

// One evaluation of a network as patches want it.
typedef struct nino_pass {
    const nino_patch *patch; // n_patches of them
    int n_patches;
    uint32_t active;   // a bit each: it applies at this noise level
    bool is_perturbed; // the middle's self-attention answers with its values as they are
    // Whether each row of the batch is of the negative side; NULL: none is. n_rows of them.
    const uint8_t *negative;
    int64_t n_rows;
    int64_t images;          // rows that share a conditioning
    bool is_same_x;          // rows of every conditioning are the same latents
    nino_attention_map *map; // of the middle's first self-attention, NULL: not wanted
    // Of BLOCK_CONTROL, by the patch's number: its picture as the network takes it, a latent
    // [1,h,w,C] of x's size, of Z-Image's with sides made even. NULL: there is none.
    struct nino_array *const *hint;
} nino_pass;

// The next patch of this kind that applies, after `from` (NULL: the first). p may be NULL.
static inline const nino_patch *nino_pass_next(const nino_pass *p, nino_patch_kind kind,
                                               const nino_patch *from)
{
    for (int i = from ? (int) (from - p->patch) + 1 : 0; p && i < p->n_patches; i++)
        if (p->patch[i].kind == kind && p->active >> i & 1)
            return &p->patch[i];
    return NULL;
}
