// Internal: text encoder networks (CLIP, T5, language models): from token ids to hidden states and a pooled vector.
// Thread-safety: immutable after loading; used by one stream at a time.
#pragma once
#include "core/model/clip/clip.h"
#include "core/model/loader.h"
#include "core/text/prompt.h"

// One evaluation of the network.
typedef struct nino_encoder_in {
    nino_tensor *x;     // f32 [N,T,width] from nino_encoder_embed(); consumed
    const bool *attend; // [N*T] keys that T5 looks at, NULL: all. CLIP looks back, at all
    int layer;          // -1, -2, ...: hidden is the state behind that layer; 0: the last, normed
    bool is_normed;     // hidden goes through the final norm, whatever the layer
    bool has_hidden;    // false: only pooled is wanted
    int pooled_row;     // position in sequence 0 whose last state, normed, is pooled; -1: none
    bool is_projected;  // pooled is multiplied by the text projection, where the file has one
} nino_encoder_in;

typedef struct nino_encoder_out { // NULL where not wanted, and after a failure of the stream
    nino_tensor *hidden;          // [N,T,width]
    nino_tensor *pooled;          // [1,width], or as wide as the projection
} nino_encoder_out;

struct nino_encoder {
    nino_encoder_id id;
    char detail[96]; // for people: "CLIP-L, 12 layers, width 768"
    int width, n_layers;
    int pooled_width;      // of a projected pooled vector; 0: the network has none (T5)
    int max_len;           // positions it knows; 0: any number
    int64_t vocab;         // rows of the token embedding
    nino_weights *file;    // owned reference
    nino_weights *vision;  // of a language model's eyes where they have a file; owned, or NULL
    char prefix[64];       // of its names in the file
    uint64_t weight_bytes; // as stored
    // NULL: net is a nino_llm, which clip_llm.c runs.
    nino_encoder_out (*forward)(nino_stream *s, const nino_encoder *e, const nino_encoder_in *in);
    nino_layers layers;
    void *net; // their structs, in them
    // Rows that are gathered on the host: a vocabulary never lies in device memory.
    const nino_tensor_info *tokens, *positions; // positions NULL: none
    nino_factors token_scale;                   // of scaled 8-bit embeddings
    bool makes_finite; // 8-bit embeddings: not-a-number counts as 0, as in ComfyUI
    // Made when first needed.
    nino_tokenizer *tok;
    nino_array *empty; // f32 [1,T,width]: what the empty prompt is encoded to
    nino_hash empty_key;
};

extern const char *const nino_encoder_names[NINO_ENC_COUNT];  // "clip_l", ... as in nino_detected
extern const char *const nino_encoder_titles[NINO_ENC_COUNT]; // "CLIP-L", ... for messages

// The network called `prefix` + its usual names in a file. Errors: kind "model", naming file and
// tensor.
// vision: a file that has a language model's eyes, NULL: they are in `file`, or it has none.
nino_status nino_encoder_load(nino_encoder_id id, nino_weights *file, const char *prefix,
                              nino_weights *vision, nino_encoder **out, nino_error *err);
void nino_encoder_destroy(nino_encoder **e); // NULL-safe
// Token embeddings of all chunks with the prompt's vectors in their places, positions added: f32
// [n_chunks,chunk_len,width]. is_plan: zeros, nothing is read.
nino_status nino_encoder_embed(const nino_encoder *e, const nino_prompt *p, bool is_plan,
                               nino_array **out, nino_error *err);
// Text encoders have a rule of their own in 16 bits: the sums along their layers, which are too large
// for fp16, are fp32 (core/model/text_block.c). In mixed precision the whole network is fp32, or that, by
// the values of a state. Returns what was asked for before.
nino_precision nino_encoder_set_precision(nino_stream *s, int64_t values);
// Opens e->tok unless it is: a tensor of the encoder's file, then what a GGUF file says of it, then
// the folders. A language model's tokenizer must be that of the model.
nino_status nino_encoder_open_tokenizer(const nino_clip *c, nino_encoder *e, nino_error *err);
// Fails (NINO_ERR_RANGE, kind "nan") where a is not NULL and has numbers that are not finite.
nino_status nino_encoder_check_finite(const nino_clip *c, const nino_stream *s, const nino_array *a,
                                      nino_error *err);
// Types whose encoder is a language model.
static inline bool nino_clip_is_llm(nino_clip_type type) { return type >= NINO_CLIP_Z_IMAGE; }
// The same as nino_clip_encode() for those, in the stream's precision: core/model/clip/clip_llm.c.
nino_status nino_clip_encode_llm(nino_stream *s, const nino_clip *c, const nino_clip_text *text,
                                 nino_cond_entry *out, nino_error *err);
// The tokens of a prompt in its template, pictures standing as one each, and the first whose row is
// used. Release *out.
nino_status nino_clip_prompt_llm(const nino_clip *c, const nino_clip_text *text, nino_prompt *out,
                                 int *first, nino_error *err);
// Whether the encoder has the layers that the type takes states of.
nino_status nino_clip_check_llm(const nino_clip *c, nino_error *err);
// The file of its own that a language model's eyes are in; NULL: there is none.
static inline nino_weights *nino_clip_eyes(const nino_clip *c)
{
    return c->enc[NINO_ENC_QWEN25_VL] ? c->enc[NINO_ENC_QWEN25_VL]->vision : NULL;
}
// How ComfyUI's CLIPSetLastLayer counts: a layer the network does not have means the last.
static inline int nino_encoder_layer(const nino_encoder *e, int layer)
{
    return layer < -e->n_layers ? 0 : layer;
}

// ---- for the loaders of networks -------------------------------------------------------------
// They fill everything but id, file, prefix and weight_bytes.
nino_status nino_text_clip_load(nino_encoder *e, nino_error *err); // core/model/clip/text_clip.c
nino_status nino_text_t5_load(nino_encoder *e, nino_error *err);   // core/model/clip/text_t5.c
nino_status nino_text_llm_load(nino_encoder *e, nino_error *err);  // core/model/clip/text_llm.c

// Behaves like the steps of core/model/loader.h. Fills tokens, vocab, width and n_layers (blocks
// called stem0 ... stemN).
void nino_text_start(nino_loader *l, nino_encoder *e, const char *tokens, const char *stem);
// A table of rows of `width` (< 0: any) that stays in the file; returns the number of rows.
int64_t nino_text_table(nino_loader *l, const char *name, int64_t width,
                        const nino_tensor_info **out);
// The linear layer stem + leaf with n rows (< 0: any).
void nino_text_linear(nino_loader *l, const char *stem, const char *leaf, int64_t n, int64_t c,
                      nino_linear *out);
