// Private to core/model/qwen_image: the layers of a Qwen-Image transformer.
#pragma once
#include "core/file/weights.h"
#include "core/model/dit.h"
#include "core/model/network.h"

#define NINO_QWEN_REFS 32 // reference latents

typedef struct qwen_mlp {
    nino_linear in, out;
} qwen_mlp;

typedef struct qwen_half { // a block's image or text side
    nino_linear mod;       // silu(time) -> six vectors
    nino_linear q, k, v;
    nino_norm norm_q, norm_k; // RMS, over a head
    nino_linear proj;
    qwen_mlp mlp;
} qwen_half;

typedef struct qwen_block {
    qwen_half img, txt;
} qwen_block;

// What the tokens are: text, then the image, then reference latents. A key: without holes.
typedef struct qwen_rope {
    nino_rope_axes axes;
    int64_t text, n;                                      // n: pictures
    int64_t method;                                       // nino_ref_method
    int64_t h[1 + NINO_QWEN_REFS], w[1 + NINO_QWEN_REFS]; // in latent cells
} qwen_rope;

typedef struct qwen_image {
    int hidden, heads, depth;   // depth: channels of a head
    nino_rope_axes axes;        // which picture, row, column
    nino_ref_method ref_method; // where the conditioning does not say
    nino_linear img_in, txt_in;
    nino_norm txt_norm; // RMS
    qwen_mlp time;
    qwen_block *blocks;
    int n_blocks;
    nino_linear final_mod; // silu(time) -> scale, shift
    nino_linear final;
    nino_norm norm; // of every layer norm: no weights
    nino_rope_cache rope;
} qwen_image;

void qwen_destroy(nino_diffusion *d);
nino_tensor *qwen_forward(nino_stream *s, const nino_diffusion *d, nino_forward *f);
// cos and sin of every token's position: f32 [T,channels of a head]; key: a qwen_rope. NULL: no
// memory.
nino_array *qwen_rope_make(const void *key);
// The loader behind nino_diffusion_load(); prefix: "", "model.diffusion_model.", ...
nino_status nino_qwen_image_load(nino_weights *file, const char *prefix, nino_diffusion *d,
                                 nino_error *err);
