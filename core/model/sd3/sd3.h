// Internal: the layers of a Stable Diffusion 3 or 3.5 transformer (MMDiT); control networks have the
// same blocks.
#pragma once
#include "core/file/weights.h"
#include "core/model/dit.h"
#include "core/model/loader.h"
#include "core/model/network.h"

typedef struct sd3_mlp {
    nino_linear in, out;
} sd3_mlp;

typedef struct sd3_attn {
    nino_linear q, k, v, proj; // proj: none where only q, k and v are of use
    nino_norm norm_q, norm_k;  // RMS, over a head; no gamma: there is none (SD3)
} sd3_attn;

typedef struct sd3_half { // a block's image or text side
    nino_linear mod;      // silu(condition) -> vectors in the order of sd3.c
    bool is_scale_first;  // of the first two
    sd3_attn attn;
    sd3_attn self; // the image's attention to itself (SD3.5 medium); no q: the block has none
    sd3_mlp mlp;   // none where attn has no proj
} sd3_half;

typedef struct sd3_block {
    sd3_half x, context;
} sd3_block;

typedef struct sd3 {
    int hidden, heads;
    nino_linear x_in, context_in;
    sd3_mlp time, y;
    // Vectors of a square of positions, [1,grid*grid,hidden], of which a picture gets the middle.
    // They stay in the file: SD3.5 medium has 384 x 384. NULL: they are computed.
    nino_weights *file; // owned reference
    const nino_tensor_info *positions;
    int64_t grid;
    nino_dtype type;         // they are rounded to; NINO_F32: stay as stored
    nino_rope_cache windows; // of the sizes that were run last
    sd3_block *blocks;
    int n_blocks;
    nino_linear final_mod;
    bool is_scale_first; // of final_mod
    nino_linear final;
    nino_norm norm; // of every layer norm: no weights
} sd3;

// What all blocks of one evaluation see.
typedef struct sd3_run {
    const sd3 *net;
    nino_tensor *cond; // silu(time + pooled text): [B,hidden]
} sd3_run;
// Every use starts with the SiLU. A y of NULL is zeros.
nino_tensor *sd3_condition(nino_stream *s, const nino_diffusion *d, const nino_forward *f);
// The text of a block without a last layer for it is used up: *context is NULL then.
void sd3_run_block(nino_stream *s, const sd3_run *r, const sd3_block *b, nino_tensor **x,
                   nino_tensor **context);
void sd3_destroy(nino_diffusion *d);
nino_tensor *sd3_forward(nino_stream *s, const nino_diffusion *d, nino_forward *f);
// The vectors of h x w positions, [1,h*w,hidden].
nino_tensor *sd3_positions(nino_stream *s, const nino_diffusion *d, int64_t h, int64_t w);
// The loader behind nino_diffusion_load(); prefix: "", "model.diffusion_model.", ...
nino_status nino_sd3_load(nino_weights *file, const char *prefix, nino_diffusion *d,
                          nino_error *err);
// All but its last layer, for control networks, whose last block's text is whole: d, which has its
// format, gets the sizes, net the layers.
void sd3_load_body(nino_loader *l, sd3 *net, nino_diffusion *d);
