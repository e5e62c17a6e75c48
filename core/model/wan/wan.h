// Private to wan.c, wan_load.c and wan_rope.c: the layers of a Wan video transformer.
#pragma once
#include "core/file/weights.h"
#include "core/model/dit.h"
#include "core/model/network.h"

#define NINO_WAN_HEAD 128 // channels of a head, in every model
#define NINO_WAN_MODS 6   // vectors that modulate a block

typedef struct wan_mlp {
    nino_linear in, out;
} wan_mlp;

typedef struct wan_attention {
    nino_linear q, k, v, o;
    nino_norm norm_q, norm_k; // RMS, over all heads together
} wan_attention;

typedef struct wan_image { // a second cross-attention of the same queries, to a picture
    nino_linear k, v;
    nino_norm norm_k;
} wan_image;

typedef struct wan_block {
    nino_array *modulation; // f32 [1,6 dim], added to what the time step says
    wan_attention self, cross;
    wan_image image; // of models that take pictures
    nino_norm norm;  // before the cross-attention
    wan_mlp ffn;
} wan_block;

typedef struct wan_picture { // what an image encoder saw, brought to the width of the network
    nino_norm norm_in, norm_out;
    wan_mlp mlp;
    nino_array *positions; // f32 [1,T,C] or NULL: of the first and last frame (FLF2V)
} wan_picture;

typedef struct wan_follow { // VACE: a block beside the others, which sees a video to follow
    wan_block block;
    nino_linear before, after; // before: of the first one only
} wan_follow;

typedef struct wan_size { // of a latent, in patches
    int64_t frames, h, w;
} wan_size;

typedef struct wan {
    int dim, heads;
    nino_linear patch;
    wan_mlp text, time;
    nino_linear time_mods; // silu(time) -> six vectors
    wan_block *blocks;
    int n_blocks;
    nino_linear follow_patch;
    wan_follow *follow; // what it finds is added behind every n_blocks / n_follow blocks
    int n_follow;
    bool has_picture;
    wan_picture picture;
    nino_array *head_mods; // f32 [1,2 dim]
    nino_linear head;
    nino_norm norm; // of every layer norm without weights
    nino_rope_cache rope;
} wan;

void wan_destroy(nino_diffusion *d);
nino_tensor *wan_forward(nino_stream *s, const nino_diffusion *d, nino_forward *f);
// cos and sin of every token's position: f32 [T,128], shared by all heads; key: a wan_size. NULL: no
// memory.
nino_array *wan_rope_make(const void *key);
// The loader behind nino_diffusion_load(); prefix: "", "model.diffusion_model.", ...
nino_status nino_wan_load(nino_weights *file, const char *prefix, nino_diffusion *d,
                          nino_error *err);
