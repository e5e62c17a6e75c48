// Private to this room: the layers of a Z-Image transformer, and of the ControlNets for it.
#pragma once
#include "core/model/block_control/block_control.h"
#include "core/model/dit.h"
#include "core/model/loader.h"
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

// ---- a block: zimage_block.c -----------------------------------------------------------------
typedef struct zimage_loader {
    nino_loader l;
    bool is_diffusers;          // names are
    int64_t width, depth, time; // of the tokens, of a head, of what modulates
} zimage_loader;
// base before the name that the file uses
nino_name zimage_pick(const zimage_loader *z, const char *base, const char *own,
                      const char *diffusers);
// rows < 0: any
void zimage_linear(zimage_loader *z, nino_name name, int64_t cin, int64_t rows, nino_linear *out);
void zimage_rms(zimage_loader *z, nino_name name, int64_t n, nino_norm *out);
// How tokens of this width divide into heads: norm is that of a head. False after a failure.
bool zimage_load_head(zimage_loader *z, const char *norm, int64_t width);
void zimage_load_block(zimage_loader *z, const char *base, bool is_modulated, zimage_block *out);

// What all blocks of one evaluation see.
typedef struct zimage_run {
    const zimage *net;
    nino_tensor *time;                  // [B,256]
    nino_tensor *table;                 // of the tokens at hand
    struct zimage_control_run *control; // NULL: none is asked for
} zimage_run;
nino_tensor *zimage_run_block(nino_stream *s, const zimage_run *r, const zimage_block *b,
                              nino_tensor *x);

// ---- ControlNets: zimage_control.c -----------------------------------------------------------
typedef struct zimage_control_layer {
    zimage_block block;
    nino_linear before; // of the first one of a list: takes the hint to where the image is added
    nino_linear after;  // what it answers
} zimage_control_layer;

struct zimage_control {
    int64_t depth, time; // as the transformer's have to be
    int n_layers, n_refiners;
    zimage_control_layer *layer, *refiner;
    bool refines; // refiners answer the image's, one each; else they only prepare the hint
    // Version 2.0 was trained with its layers in the place of refiners, which are all zeros there.
    bool is_broken;
};

// Those of one evaluation; all but f zero-initialised.
typedef struct zimage_control_run {
    const nino_forward *f;
    int n;
    int64_t rows;       // of the batch that are not like earlier ones
    zimage_run see;     // their time; positions of the image's tokens
    nino_tensor *image; // [rows,tokens,width]: what the first of a list of layers sees
    struct {
        const nino_block_use *use;
        nino_tensor *state; // [1 or rows,tokens,width]
    } on[NINO_BLOCK_USES];
} zimage_control_run;
// Of r->control, where it is not NULL: what patches ask for. image: the image's tokens before they
// are refined, the first `tokens` without padding; table: their positions. Both stay the caller's.
void zimage_control_begin(nino_stream *s, const zimage_run *r, nino_tensor *image, int64_t tokens,
                          nino_tensor *table);
void zimage_control_end(const zimage_run *r);
// What refiner i answered, x, with what is added to it. Consumes x.
nino_tensor *zimage_control_refine(nino_stream *s, const zimage_run *r, int i, nino_tensor *x);
// From here on the image is x, which stays the caller's.
void zimage_control_refined(nino_stream *s, const zimage_run *r, nino_tensor *x);
// What layer i answered, x [B,T,width], in which the image begins at `after`. Consumes x.
nino_tensor *zimage_control_add(nino_stream *s, const zimage_run *r, int i, nino_tensor *x,
                                int64_t after);

// [B,h,w,C] with even sides -> [B,tokens,4C]: squares of 2 x 2 cells, feature (y*2 + x)*C + c
nino_tensor *zimage_to_tokens(nino_stream *s, nino_tensor *x);
void zimage_destroy(nino_diffusion *d);
nino_tensor *zimage_forward(nino_stream *s, const nino_diffusion *d, nino_forward *f);
// cos and sin of every token's position; key: a zimage_rope. NULL: no memory.
nino_array *zimage_rope_make(const void *key);
// The loader behind nino_diffusion_load(); prefix: "", "model.diffusion_model.", ...
nino_status nino_zimage_load(nino_weights *file, const char *prefix, nino_diffusion *d,
                             nino_error *err);
// The loader behind nino_model_patch_load().
nino_status nino_zimage_control_load(nino_weights *file, const char *name, nino_block_net **out,
                                     nino_error *err);
