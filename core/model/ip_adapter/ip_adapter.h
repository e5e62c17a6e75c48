// Internal: IP-Adapter: pictures as prompts. A projection makes tokens of what a vision network
// sees; every cross-attention of a UNet gets keys and values of its own for them.
// Thread-safety: immutable after loading; used by one stream at a time.
#pragma once
#include "core/file/weights.h"
#include "core/model/layers.h"
#include "core/model/patch.h"
#include "core/op/stream.h"

typedef enum nino_ip_kind {
    NINO_IP_PLAIN, // of a picture's embedding: a linear layer
    NINO_IP_FULL,  // of all states of the last layer but one: two linear layers a token
    NINO_IP_PLUS   // of the same: a resampler, which has its own queries
} nino_ip_kind;

typedef struct nino_ip_layer { // of a cross-attention
    nino_linear k, v;
} nino_ip_layer;

typedef struct nino_ip_adapter {
    int refs;
    char name[128]; // for messages
    nino_ip_kind kind;
    int in, out;  // width of the vision network's states or embedding; of the tokens
    int n_layers; // cross-attentions: of the way down, of the way up, of the middle
    nino_ip_layer *layer;
    nino_weights *file; // owned reference
    nino_layers layers;
    struct ip_projection *projection;
} nino_ip_adapter;

// Files of h94/IP-Adapter's form: image_proj.* and ip_adapter.N.to_k_ip. Errors: kind "model",
// naming file and tensor; FaceID and others that need more are NINO_ERR_UNSUPPORTED.
nino_status nino_ip_adapter_load(nino_weights *file, const char *name, nino_ip_adapter **out,
                                 nino_error *err);
nino_ip_adapter *nino_ip_adapter_ref(nino_ip_adapter *a); // NULL-safe
void nino_ip_adapter_unref(nino_ip_adapter **a);          // NULL-safe
// states f32 [N,E] (PLAIN) or [N,T,E] -> *out f32 [N,tokens,out]. Under plan zeros.
nino_status nino_ip_adapter_tokens(nino_stream *s, const nino_ip_adapter *a,
                                   const nino_array *states, nino_array **out, nino_error *err);

// What the strength of the picture is multiplied with.
typedef enum nino_ip_scaling {
    NINO_IP_V,       // the answer of the attention
    NINO_IP_KV,      // keys and values
    NINO_IP_KV_C,    // the same, less in narrow layers
    NINO_IP_KMEANV_C // keys and the mean of the values, less in narrow layers
} nino_ip_scaling;

#define NINO_IP_TRANSFORMERS 16 // of SD1's UNet; SDXL has 11

// A picture as it is asked of a MODEL: nino_patch.image.
typedef struct nino_image_prompt {
    int refs;
    nino_ip_adapter *adapter;
    nino_array *positive, *negative;     // f32 [1,T,out]: the picture, its opposite
    double weight[NINO_IP_TRANSFORMERS]; // of each of the UNet's transformers on its way; 0: none
    int n_weights;
    nino_ip_scaling scaling;
    nino_array *mask; // f32 [N,H,W]: where it counts; NULL: everywhere
} nino_image_prompt;
nino_image_prompt *nino_image_prompt_ref(nino_image_prompt *p); // NULL-safe
void nino_image_prompt_unref(nino_image_prompt **p);            // NULL-safe

// ---- in a network ----------------------------------------------------------------------------
// The pictures of one evaluation, on the device; zero-initialised.
typedef struct nino_ip_masks { // of the sizes that came up
    int64_t tokens, channels;
    nino_tensor *gate;
} nino_ip_masks;
#define NINO_IP_PICTURES 8
#define NINO_IP_SIZES 8
typedef struct nino_ip_run {
    int n;
    struct {
        const nino_image_prompt *image;
        nino_tensor *tokens; // [B,T,out]
        nino_ip_masks mask[NINO_IP_SIZES];
        int n_masks;
    } picture[NINO_IP_PICTURES];
    int64_t height, width; // of the latent
    int64_t images;        // rows that share a conditioning
} nino_ip_run;
// n_layers: cross-attentions of the network, context: width of its prompts.
void nino_ip_begin(nino_stream *s, nino_ip_run *r, const nino_pass *p, int64_t batch,
                   int64_t height, int64_t width, int n_layers, int64_t context);
void nino_ip_end(nino_ip_run *r);
// out + what q [B,T,C] finds in the pictures. layer: of the adapters, transformer: of the weights.
// Consumes out; q stays.
nino_tensor *nino_ip_attend(nino_stream *s, nino_ip_run *r, nino_tensor *q, nino_tensor *out,
                            int heads, int layer, int transformer);
