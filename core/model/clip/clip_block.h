// Internal: the transformer block that CLIP's text and vision networks share, with the names of
// Hugging Face or of OpenCLIP.
#pragma once
#include "core/model/loader.h"
#include "core/op/stream.h"

#define NINO_CLIP_EPS 1e-5f

typedef struct nino_clip_block {
    nino_norm norm1, norm2;
    nino_linear q, k, v, out;
    nino_linear fc1, fc2; // fc1 with the activation
} nino_clip_block;

typedef struct nino_clip_names { // behind "STEM N."; q NULL: q, k and v are stacked in attn.in_proj
    const char *norm1, *q, *k, *v, *out, *norm2, *fc1, *fc2;
} nino_clip_names;
extern const nino_clip_names nino_clip_names_hf, nino_clip_names_open;

// Behaves like the steps of core/model/loader.h. stem: "encoder.layers.0."
void nino_clip_block_load(nino_loader *l, const nino_clip_names *n, const char *stem, int64_t width,
                          nino_act act, nino_clip_block *out);
// x [N,T,width] -> the same. is_causal: a position sees itself and what is before it.
nino_tensor *nino_clip_block_run(nino_stream *s, const nino_clip_block *w, int heads,
                                 nino_tensor *x, bool is_causal);
// Heads of a text network whose file does not say how wide they are (nino_load_heads()).
int nino_clip_heads(int width);
// *out = the matrix t [rows,cols] as a linear layer's weight [cols,rows], in memory.
void nino_clip_load_turned(nino_loader *l, const nino_tensor_info *t, nino_weight **out);
