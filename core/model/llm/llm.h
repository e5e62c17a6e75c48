// Internal: language models as encoders of prompts: decoder-only transformers with grouped queries,
// rotary positions, RMS norms and gated SiLU units. Qwen3 (Z-Image, FLUX.2 klein) norms queries and
// keys, Qwen2.5-VL (Qwen-Image) has biases and sees pictures, Mistral Small 3 (FLUX.2 dev) neither.
// Sizes come from tensor shapes.
// Thread-safety: immutable after loading; used by one stream at a time.
#pragma once
#include "core/model/llm/vision.h"

typedef enum nino_llm_family {
    NINO_LLM_QWEN25_VL,
    NINO_LLM_QWEN3,
    NINO_LLM_MISTRAL3
} nino_llm_family;

typedef struct nino_llm_layer {
    nino_norm norm1, norm2;
    nino_linear q, k, v, o;
    nino_norm norm_q, norm_k; // of each head; only where has_head_norms
    nino_linear gate, up, down;
} nino_llm_layer;

typedef struct nino_llm {
    nino_llm_family family;
    int width, n_layers;
    int heads, kv_heads; // each of the latter serves heads / kv_heads consecutive ones
    int depth;           // channels of a head
    bool has_head_norms;
    bool is_paired;       // rotated channels lie side by side: llama.cpp's order for some models
    double theta;         // base of the rotary positions
    nino_norm final_norm; // no gamma: the file has none (pruned ones)
    nino_llm_layer *layer;
    nino_vision *vision; // NULL: it sees no pictures
} nino_llm;

// The network called `l->prefix` + Hugging Face's names ("model.layers.N.self_attn.q_proj" ...),
// whose embedding is `width` wide; its memory belongs to l->layers. NULL after a failure, which
// names the tensor.
nino_llm *nino_llm_load(nino_loader *l, nino_llm_family family, int width, int n_layers);

#define NINO_LLM_MAX_OUT 3

// Place of a token in time, height and width: all the same for words; a picture's tokens have those
// of their cell.
typedef struct nino_llm_place {
    int32_t t, h, w;
} nino_llm_place;

// One evaluation.
typedef struct nino_llm_in {
    nino_tensor *x;              // f32 [1,T,width]: rows of the embedding; consumed
    const bool *attend;          // [T] tokens that others look at; NULL: all
    const nino_llm_place *place; // [T]; NULL: 0, 1, 2 ...
    const char *stage;           // what layers are called in the monitor: "qwen3" gives "qwen3.0"
    int n_out;                   // states wanted, 1 to NINO_LLM_MAX_OUT
    int out[NINO_LLM_MAX_OUT];   // each behind so many layers, 0 ... n_layers, ascending
    bool is_normed;              // the last of them goes through the final norm
} nino_llm_in;

// f32 [1,T,n_out*width]: the states side by side. Layers behind the last wanted one do not run.
nino_tensor *nino_llm_run(nino_stream *s, const nino_llm *net, const nino_llm_in *in);
