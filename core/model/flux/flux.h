// Internal: the layers of a FLUX.1, FLUX.2 or Chroma transformer; control networks have the same
// blocks. Every linear layer has the rows or columns that one use needs, however the file fuses them.
#pragma once
#include "core/file/weights.h"
#include "core/model/dit.h"
#include "core/model/loader.h"
#include "core/model/network.h"

#define NINO_FLUX_REFS 32 // reference latents

typedef struct flux_mlp {
    nino_linear in, out;
} flux_mlp;

// What modulates layer norms and the branches behind them: shift, scale and gate of the first, of the second.
typedef struct flux_mod {
    nino_linear all;
    bool is_scale_first;
    int row; // of all vectors (Chroma: the approximator's), they are the ones from here on
} flux_mod;

// Chroma: a small network that gives all vectors which modulate blocks, from the time step, the
// guidance and their number.
typedef struct flux_approx_layer {
    nino_norm norm; // RMS
    nino_linear in, out;
} flux_approx_layer;

typedef struct flux_approx {
    nino_linear in, out;
    flux_approx_layer *layers;
    int n; // 0: there is none
} flux_approx;

typedef struct flux_qkv {
    nino_linear q, k, v;
    nino_norm norm_q, norm_k; // RMS, over a head
} flux_qkv;

typedef struct flux_ffn { // out(in(u)), where there is a gate out(silu(gate(u)) * in(u))
    nino_linear gate, in, out;
} flux_ffn;

typedef struct flux_half { // a double block's image or text side
    flux_mod mod;          // of both branches; none: the network's
    flux_qkv qkv;
    nino_linear proj;
    flux_ffn ffn;
} flux_half;

typedef struct flux_double {
    flux_half img, txt;
} flux_double;

typedef struct flux_single {
    flux_mod mod; // none: the network's
    flux_qkv qkv;
    nino_linear out_attn;
    flux_ffn ffn; // its output and out_attn: columns of one layer, so that nothing is concatenated
} flux_single;

// What FLUX.1 and FLUX.2 make of positions.
typedef struct flux_place {
    nino_rope_axes axes; // picture, row, column; FLUX.2: and the place in the text
    int64_t patch;       // latent cells a token, either way
    int64_t step;        // from one reference latent to the next, on the axis of pictures
    int64_t method;      // nino_ref_method where a conditioning does not say
} flux_place;

typedef struct
    flux_rope { // without holes: what the tokens are: text, then the image, then reference latents
    flux_place place;
    int64_t text, n;                                      // n: pictures
    int64_t method;                                       // nino_ref_method
    int64_t h[1 + NINO_FLUX_REFS], w[1 + NINO_FLUX_REFS]; // in latent cells
} flux_rope;

// Where every block is modulated alike (FLUX.2).
typedef struct flux_shared {
    flux_mod img, txt, single;
} flux_shared;

typedef struct flux {
    int hidden, heads, depth; // depth: channels of a head
    flux_place place;
    nino_linear img_in, txt_in;
    flux_mlp time, vector, guidance; // vector and guidance are optional
    flux_approx approx;
    bool has_shared;
    flux_shared shared;
    flux_double *doubles;
    flux_single *singles;
    int n_doubles, n_singles;
    flux_mod final_mod; // no gate
    nino_linear final;
    nino_norm norm; // of every layer norm: no weights
    nino_rope_cache rope;
} flux;

// What one layer norm and the branch behind it are given; NULL: used up.
typedef struct flux_vectors {
    nino_tensor *shift, *scale, *gate;
} flux_vectors;

// What all blocks of one evaluation see.
typedef struct flux_run {
    const flux *net;
    const nino_pass *pass; // what patches want; NULL: nothing
    nino_tensor *vec;      // silu(time + guidance + pooled text): [B,hidden]
    nino_tensor *clean; // the same without noise, for reference latents that are told so; or NULL
    nino_tensor *given; // Chroma's vectors, and none of the above: [B or 1,FLUX_APPROX_ROWS,hidden]
    nino_tensor *table;
    nino_kept *
        kept; // what layers make of all time steps of the run, of which this is number `time`; NULL: nothing
    int time;
    int64_t text, image, refs;              // tokens
    flux_vectors img[2], txt[2], single[1]; // where all blocks have the same
} flux_run;

// silu(time + guidance + pooled text) of n time steps: [n,hidden]; every use starts with the SiLU. stride 0: one
// for all.
nino_tensor *flux_condition(nino_stream *s, const nino_diffusion *d, const nino_forward *f,
                            const float *timestep, int64_t n, int64_t stride);
void flux_run_double(nino_stream *s, const flux_run *r, const flux_double *b, nino_tensor **img,
                     nino_tensor **txt);
nino_tensor *flux_run_single(nino_stream *s, const flux_run *r, const flux_single *b,
                             nino_tensor *x); // [B,text+image+refs,hidden]
void flux_end_run(flux_run *r);
void flux_destroy(nino_diffusion *d);
nino_tensor *flux_forward(nino_stream *s, const nino_diffusion *d, nino_forward *f);
// What Chroma's approximator makes of time steps and guidance: [n,FLUX_APPROX_ROWS,hidden], n is 1
// where all of the batch have the same time step.
#define FLUX_APPROX_ROWS 344 // 3 for each of 38 single blocks, 12 of 19 double ones, and the last 2
#define FLUX_APPROX_IN 64
nino_tensor *flux_approximate(nino_stream *s, const flux *net, const nino_forward *f);
// Its input of one row, FLUX_APPROX_IN numbers.
void flux_approx_input(float *to, float timestep, float guidance, int row);
// cos and sin of every token's position: f32 [T,depth], shared by all heads; key: a flux_rope.
// NULL: no memory.
nino_array *flux_rope_make(const void *key);
// Tokens of a side of so many cells.
static inline int64_t flux_tokens(const flux_place *p, int64_t cells)
{
    return nino_dit_side(cells, p->patch);
}
// Reads net->approx; net->hidden is known.
void flux_approx_load(nino_loader *l, flux *net);
// The loader behind nino_diffusion_load(); prefix: "", "model.diffusion_model.", ...
nino_status nino_flux_load(nino_weights *file, const char *prefix, nino_diffusion *d,
                           nino_error *err);
// All but its last layer, for control networks: d gets the sizes, net the layers.
void flux_load_body(nino_loader *l, flux *net, nino_diffusion *d);
