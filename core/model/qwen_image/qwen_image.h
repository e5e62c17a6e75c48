// The layers of a Qwen-Image transformer, for core/model/qwen_image and its control networks
// (core/model/control/control_qwen.c).
#pragma once
#include "core/model/dit.h"
#include "core/model/loader.h"
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

// What all blocks of one evaluation see.
typedef struct qwen_run {
    const qwen_image *net;
    int64_t rows;         // of `time` that are the time steps': one, or one for each of the batch
    bool has_zero;        // the row behind them is that of reference latents, which have no noise
    int64_t n_txt, n_img; // tokens; n_img without reference latents
    nino_tensor *time;    // silu of the embedded time steps; NULL: the run's are kept
    const nino_run_times *kept; // what the layers make of them, the row of no noise last
    int at;                     // the time step's row there; -1: not kept
    nino_tensor *table;
    nino_tensor *bias; // [B,1,1,tokens] hides tokens of the text; NULL: all are seen
} qwen_run;
// is_last: what becomes of the text and the reference latents is of no use any more; *txt is NULL
// then, and *img the picture alone.
void qwen_run_block(nino_stream *s, const qwen_run *r, int n, nino_tensor **img, nino_tensor **txt,
                    bool is_last);
// The time of f's batch, a row where all have the same, which goes to r->rows; in front of no noise if
// r->has_zero.
nino_tensor *qwen_time(nino_stream *s, const nino_forward *f, qwen_run *r);
// All layers but the last ones, and the sizes of *d.
void qwen_load_body(nino_loader *l, qwen_image *net, nino_diffusion *d);

void qwen_destroy(nino_diffusion *d);
nino_tensor *qwen_forward(nino_stream *s, const nino_diffusion *d, nino_forward *f);
// cos and sin of every token's position: f32 [T,channels of a head]; key: a qwen_rope. NULL: no
// memory.
nino_array *qwen_rope_make(const void *key);
// The loader behind nino_diffusion_load(); prefix: "", "model.diffusion_model.", ...
nino_status nino_qwen_image_load(nino_weights *file, const char *prefix, nino_diffusion *d,
                                 nino_error *err);
