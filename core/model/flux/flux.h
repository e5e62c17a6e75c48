// Private to flux.c and flux_load.c: the layers of a FLUX.1 transformer. Every linear layer has the
// rows or columns that one use needs, however the file fuses them.
#pragma once
#include "core/file/weights.h"
#include "core/model/network.h"

#include <pthread.h>

#define NINO_FLUX_REFS 32 // reference latents

typedef struct flux_mlp {
    nino_linear in, out;
} flux_mlp;

typedef struct flux_mod { // of one layer norm and the branch behind it
    nino_linear shift, scale, gate;
} flux_mod;

typedef struct flux_qkv {
    nino_linear q, k, v;
    nino_norm norm_q, norm_k; // RMS, over a head
} flux_qkv;

typedef struct flux_half { // a double block's image or text side
    flux_mod mod1, mod2;
    flux_qkv qkv;
    nino_linear proj;
    flux_mlp mlp;
} flux_half;

typedef struct flux_double {
    flux_half img, txt;
} flux_double;

typedef struct flux_single {
    flux_mod mod;
    flux_qkv qkv;
    nino_linear mlp;
    nino_linear out_attn, out_mlp; // columns of one layer, so that nothing is concatenated
} flux_single;

typedef struct flux_rope { // what the tokens are: text, then the image, then reference latents
    int64_t text, n;       // n: pictures
    int64_t method;        // nino_ref_method
    int64_t h[1 + NINO_FLUX_REFS], w[1 + NINO_FLUX_REFS]; // in latent cells
} flux_rope;

typedef struct flux {
    int hidden, heads, depth; // depth: channels of a head
    nino_linear img_in, txt_in;
    flux_mlp time, vector, guidance; // guidance is optional
    flux_double *doubles;
    flux_single *singles;
    int n_doubles, n_singles;
    flux_mod final_mod; // no gate
    nino_linear final;
    nino_norm norm; // of every layer norm: no weights
    // The table of the last size that was run; not a weight, so it may change.
    pthread_mutex_t lock;
    nino_array *table;
    flux_rope table_of;
} flux;

void flux_destroy(nino_diffusion *d);
nino_tensor *flux_forward(nino_stream *s, const nino_diffusion *d, nino_forward *f);
// cos and sin of every token's position: f32 [T,depth], shared by all heads. NULL: no memory.
nino_array *flux_rope_table(flux *net, const flux_rope *r);
// The loader behind nino_diffusion_load(); prefix: "", "model.diffusion_model.", ...
nino_status nino_flux_load(nino_weights *file, const char *prefix, nino_diffusion *d,
                           nino_error *err);
