// Private to zimage.c and zimage_load.c: the layers of a Z-Image transformer.
#pragma once
#include "core/file/weights.h"
#include "core/model/dit.h"
#include "core/model/network.h"

typedef struct zimage_attention {
    nino_linear q, k, v, out;
    nino_norm norm_q, norm_k; // RMS, over a head
} zimage_attention;

typedef struct zimage_ffn { // w2(silu(w1 u) * w3 u)
    nino_linear w1, w2, w3;
} zimage_ffn;

typedef struct zimage_mod { // of one branch; a block without has no weights here
    nino_linear scale, gate;
} zimage_mod;

typedef struct zimage_branch { // norms before and behind it
    nino_norm before, behind;
    zimage_mod mod;
} zimage_branch;

typedef struct zimage_block {
    zimage_attention attention;
    zimage_ffn ffn;
    zimage_branch of_attention, of_ffn;
} zimage_block;

typedef struct zimage_blocks {
    zimage_block *block;
    int n;
} zimage_blocks;

typedef struct zimage_rope { // tokens: the text, then the image's rows and columns, then padding
    int64_t text, h, w, pad;
    int64_t depth; // channels of a head
} zimage_rope;

typedef struct zimage {
    int width, heads, depth; // depth: channels of a head
    int channels;            // of the latent
    nino_norm cap_norm;
    nino_linear cap, x, time_in, time_out;
    nino_array *cap_pad, *x_pad; // [1,1,width]: what completes tokens to a multiple of 32; or NULL
    zimage_blocks context_refiner, noise_refiner, layers;
    nino_linear final_scale, final;
    nino_norm final_norm; // a layer norm without weights
    nino_rope_cache rope;
} zimage;

void zimage_destroy(nino_diffusion *d);
nino_tensor *zimage_forward(nino_stream *s, const nino_diffusion *d, nino_forward *f);
// cos and sin of every token's position; key: a zimage_rope. NULL: no memory.
nino_array *zimage_rope_make(const void *key);
// The loader behind nino_diffusion_load(); prefix: "", "model.diffusion_model.", ...
nino_status nino_zimage_load(nino_weights *file, const char *prefix, nino_diffusion *d,
                             nino_error *err);
