// Internal: the layers of a Stable Diffusion UNet; its way down is that of control networks, too.
#pragma once
#include "core/file/weights.h"
#include "core/model/ip_adapter/ip_adapter.h"
#include "core/model/loader.h"
#include "core/model/network.h"

#include <pthread.h>

#define NINO_UNET_STAGES 64 // down or up; SD1 has 12
#define NINO_UNET_MODULES 4 // of a stage; at most 3 in known models
#define NINO_UNET_GROUPS 32

typedef struct unet_res {
    nino_norm norm1, norm2;
    nino_conv conv1, conv2;
    nino_linear emb;
    nino_linear skip; // where the width changes
} unet_res;

typedef struct unet_attn {
    nino_norm norm;
    nino_linear q, k, v, out;
    int heads;
} unet_attn;

typedef struct unet_block { // of a spatial transformer
    unet_attn self, cross;
    nino_norm norm;
    nino_linear gate, out; // feed forward: GEGLU
} unet_block;

typedef struct unet_transformer {
    nino_norm norm;
    nino_linear in, out;
    unet_block *block;
    int n_blocks;
} unet_transformer;

typedef enum unet_kind { UNET_CONV, UNET_DOWN, UNET_UP, UNET_RES, UNET_TRANSFORMER } unet_kind;

typedef struct unet_module {
    unet_kind kind;
    nino_conv conv; // CONV, DOWN, UP
    unet_res *res;
    unet_transformer *transformer;
} unet_module;

typedef struct unet_stage {
    unet_module module[NINO_UNET_MODULES];
    int n;
} unet_stage;

// The lowest frequencies of pictures of one size, for FreeU: those that were used, so that they go
// to the device once.
typedef struct unet_basis {
    struct unet_basis *next;
    int64_t h, w;
    nino_weight *to, *from; // [7,h*w] and [h*w,7]; w 0: of h channels, [1,h] and [h/2,1]
} unet_basis;
typedef struct unet_bases {
    pthread_mutex_t lock;
    unet_basis *first;
} unet_bases;

typedef struct unet {
    int channels;               // of the first convolution: width of the time step's sinusoid
    nino_linear time1, time2;   // both end in SiLU, as every use of the embedding starts with it
    nino_linear label1, label2; // of y; no weight: none
    unet_stage down[NINO_UNET_STAGES], mid, up[NINO_UNET_STAGES];
    int n_down, n_up;
    nino_norm norm_out;
    nino_conv conv_out;
    int n_cross, n_cross_mid; // cross-attentions of all stages, of the middle
    unet_bases bases;
} unet;

// What patches want of one evaluation; where the walk is.
typedef struct unet_walk {
    const nino_pass *pass; // NULL: nothing
    nino_kept *text;       // keys and values of the text, of cross-attention i 2 i and 2 i + 1
    int n_cross;           // of all
    nino_ip_run ip;
    int cross, transformer; // that come next, as IP-Adapters count them, as they follow each other
    int cross_up;           // the first of the way up
    int64_t height, width;  // of the latent
    enum { UNET_IN_DOWN, UNET_IN_MIDDLE, UNET_IN_UP } part;
    bool has_seen; // the map that was asked for is made
} unet_walk;

// unet_patch.c
// Of the self-attention of x (queries q, values v; all consumed): its answer as patches want it.
nino_tensor *unet_patch_self(nino_stream *s, unet_walk *w, nino_tensor *q, nino_tensor *k,
                             nino_tensor *v, int heads);
// Of a cross-attention.
nino_tensor *unet_patch_cross(nino_stream *s, unet_walk *w, nino_tensor *q, nino_tensor *k,
                              nino_tensor *v, int heads);
// Factors of an attention's output layer: of what it gets, of what it gives.
void unet_patch_out(const unet_walk *w, bool is_cross, float *before, float *after);
// What stage i of the way down has given, before it is kept as a skip or after it.
nino_tensor *unet_patch_down(nino_stream *s, const unet_walk *w, nino_tensor *x, int i,
                             bool after_skip);
// What meets before a stage of the way up.
void unet_patch_join(nino_stream *s, unet *u, const unet_walk *w, nino_tensor **x,
                     nino_tensor **skip);
// x [N,H,W,C] as large as h x w, which is not about twice its size.
nino_tensor *unet_patch_up(nino_stream *s, nino_tensor *x, int64_t h, int64_t w);
void unet_destroy(nino_diffusion *d);

nino_tensor *unet_forward(nino_stream *s, const nino_diffusion *d, nino_forward *f);
// silu(embedding of the time steps, and of y) [B,4*channels]: what every residual block adds. more
// (may be NULL, consumed) is added to the embedding of the time steps, whose last layer then must not
// end in an activation.
nino_tensor *unet_embed(nino_stream *s, const unet *u, const nino_forward *f, nino_tensor *more);
// One stage of a walk, as a scope called `what`, of stage i >= 0 "what.i". next: the skip that follows.
nino_tensor *unet_run_stage(nino_stream *s, unet_walk *walk, const unet_stage *st, const char *what,
                            int i, nino_tensor *x, const nino_forward *f, nino_tensor *emb,
                            const nino_tensor *next);

typedef struct unet_sizes {                  // that the tensors of the way down tell
    int64_t width[NINO_UNET_STAGES], middle; // channels that stages give
    int64_t in_channels, context, y_dim;     // y_dim 0: takes no y
    bool is_diffusers;                       // names are those of huggingface/diffusers
} unet_sizes;
// The embeddings, the way down and the middle.
void unet_load_down(nino_loader *l, unet *net, unet_sizes *out);
// The loader behind nino_diffusion_load(); prefix: "", "model.diffusion_model.", ...
nino_status nino_unet_load(nino_weights *file, const char *prefix, nino_diffusion *d,
                           nino_error *err);
