// Internal: control networks that a MODEL is asked for as a patch, because they go along with its
// blocks: those of Qwen-Image as DiffSynth-Studio trains them (blockwise), a small network for every
// block of the transformer, which sees the block's answer and a picture and adds to it; and what
// they share with those of Z-Image (core/model/zimage/zimage_control.c).
// Thread-safety: immutable after loading; used by one stream at a time.
#pragma once
#include "core/file/weights.h"
#include "core/model/latent_format.h"
#include "core/model/patch.h"
#include "core/model/vae/vae.h"

typedef struct nino_block_layer { // what belongs to one block
    nino_norm norm_x, norm_hint;  // RMS
    nino_linear in, out;
} nino_block_layer;

typedef struct nino_block_net {
    int refs;
    char name[128];   // for messages: the node's file name
    char detail[128]; // for people
    int hidden, n_blocks;
    bool has_mask;    // takes the mask as one channel more
    bool has_inpaint; // takes the mask and what is to stay of a picture
    const nino_latent_format *format;
    nino_linear img_in;
    nino_block_layer *block;       // of Qwen-Image, or NULL
    struct zimage_control *zimage; // of Z-Image, or NULL
    nino_weights *file;            // owned reference
    nino_layers layers;
} nino_block_net;

// Without layers; format: the name of its latents. NULL: no memory.
nino_block_net *nino_block_net_create(nino_weights *file, const char *name, const char *format,
                                      nino_error *err);
// Those of Qwen-Image. Errors: kind "model", naming file and tensor.
nino_status nino_qwen_control_load(nino_weights *file, const char *name, nino_block_net **out,
                                   nino_error *err);
nino_block_net *nino_block_net_ref(nino_block_net *n); // NULL-safe
void nino_block_net_unref(nino_block_net **n);         // NULL-safe

// The network with all that one node asks of it: nino_patch.control.
typedef struct nino_block_use {
    int refs;
    nino_block_net *net;
    nino_vae *vae;
    nino_array *image; // f32 [N,H,W,3 or 4], 0..1; the first one counts; NULL: grey
    nino_array *paint; // has_inpaint: what is painted in, the same; NULL: grey
    // f32 [N,H,W]: 1 where the picture does not count, or where to paint; the first; or NULL
    nino_array *mask;
    double strength;
} nino_block_use;
// A copy of *u with references of its own, refs 1. NULL: no memory.
nino_block_use *nino_block_use_create(const nino_block_use *u);
nino_block_use *nino_block_use_ref(nino_block_use *u); // NULL-safe
void nino_block_use_unref(nino_block_use **u);         // NULL-safe

// ---- in a network ----------------------------------------------------------------------------
#define NINO_BLOCK_USES 8
// Those of one evaluation, on the device; zero-initialised.
typedef struct nino_block_run {
    int n;
    struct {
        const nino_block_use *use;
        nino_tensor *hint; // [1,tokens,hidden]
    } on[NINO_BLOCK_USES];
} nino_block_run;
// hidden and n_blocks: of the transformer, whose squares are of 2 x 2 cells.
void nino_block_begin(nino_stream *s, nino_block_run *r, const nino_pass *p, int hidden,
                      int n_blocks);
void nino_block_end(nino_block_run *r);
// What block i answered, x [B,T,hidden], with what is added to it: the first of the tokens are the
// picture's. Consumes x.
nino_tensor *nino_block_add(nino_stream *s, const nino_block_run *r, int i, nino_tensor *x);
