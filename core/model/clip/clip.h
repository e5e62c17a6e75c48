// Internal: text encoders, what travels on CLIP links: one or more encoder networks with their
// tokenizers, and the rule by which their outputs make one conditioning (ComfyUI's sd1_clip.py,
// sdxl_clip.py, text_encoders/{flux,sd3_clip,wan}.py).
// Thread-safety: immutable after loading; used by one stream at a time.
#pragma once
#include "core/op/stream.h"
#include "core/model/cond/cond.h"
#include "core/text/tokenizer.h"

typedef enum nino_clip_type { // how outputs are combined; the `type` widget of the CLIP loaders
    NINO_CLIP_SD1,
    NINO_CLIP_SD2,
    NINO_CLIP_SDXL,
    NINO_CLIP_SDXL_REFINER,
    NINO_CLIP_SD3,
    NINO_CLIP_FLUX,
    NINO_CLIP_WAN,
    NINO_CLIP_T5,        // a T5 alone
    NINO_CLIP_CHROMA,    // the same without padding; PixArt's is no other
    NINO_CLIP_Z_IMAGE,   // Qwen3, its last state but one
    NINO_CLIP_KLEIN,     // Qwen3, three states of FLUX.2 klein
    NINO_CLIP_FLUX2_DEV, // Mistral Small 3
    NINO_CLIP_QWEN_IMAGE // Qwen2.5-VL
} nino_clip_type;

typedef enum nino_encoder_id { // slots of a nino_clip
    NINO_ENC_CLIP_L,
    NINO_ENC_CLIP_G,
    NINO_ENC_CLIP_H,
    NINO_ENC_T5,
    NINO_ENC_UMT5,
    NINO_ENC_QWEN3,
    NINO_ENC_MISTRAL3,
    NINO_ENC_QWEN25_VL,
    NINO_ENC_COUNT
} nino_encoder_id;

typedef struct nino_encoder nino_encoder; // one network: core/model/clip/text_encoder.h

// Where a text encoder gets its tokenizer and its embeddings from; the executor's context fills it.
typedef struct nino_text_services {
    void *priv;
    nino_status (*tokenizer)(void *priv, nino_tokenizer_kind kind, nino_tokenizer **out,
                             nino_error *err);
    // The file of a textual inversion, or NINO_ERR_MISSING. May be NULL: no embeddings.
    nino_status (*embedding)(void *priv, const char *name, nino_weights **out, nino_error *err);
    void (*warn)(void *priv, const char *text); // may be NULL
} nino_text_services;

typedef struct nino_clip {
    int refs;
    nino_clip_type type;
    nino_encoder *enc[NINO_ENC_COUNT]; // NULL where there is none; shared by copies
    int layer;                         // CLIPSetLastLayer: -1, -2 ...; 0: the type's default
    bool has_padding;                  // T5TokenizerOptions: pads of a T5 prompt, and its least
    int pads_min, tokens_min;          // length, instead of the type's
    nino_text_services services;
    uint64_t weight_bytes;                // as stored
    nino_hash identity;                   // of the files
    struct nino_lora_stack *loras;        // in them (core/model/merge/lora_apply.h), NULL: none
    char name[128];                       // for messages
    void (*destroy)(struct nino_clip *c); // releases enc
    struct nino_clip *owner;              // of enc, NULL: this one. A copy keeps its original alive
} nino_clip;

// From n files in any order (a checkpoint, or separate encoder files; one may hold the vision network
// that Qwen2.5-VL has beside it in GGUF files); which file is which encoder
// is found by tensor names and shapes, tokenizers are looked for when text is encoded. As in
// ComfyUI, SD1 is also what to say for one file of any kind: a lone CLIP-H then makes the type SD2,
// CLIP-G the SDXL refiner's, T5 and UMT5 theirs. A lone language model decides whatever the type:
// Mistral is FLUX.2 dev's, Qwen2.5-VL Qwen-Image's; Qwen3 klein's where it is 4096 wide or the type
// is one of Flux, else Z-Image's. Errors: kind "model", naming file and what was
// expected.
nino_status nino_clip_load(nino_weights *const *files, int n, nino_clip_type type,
                           const nino_text_services *services, const char *name, nino_clip **out,
                           nino_error *err);
// The type that the text encoders of a checkpoint imply; NINO_ERR_MISSING: it has none.
nino_status nino_clip_type_of_checkpoint(const nino_weights *file, nino_clip_type *type,
                                         nino_error *err);
nino_clip *nino_clip_copy(const nino_clip *c); // unshared struct, same networks
nino_clip *nino_clip_ref(nino_clip *c);        // NULL-safe
void nino_clip_unref(nino_clip **c);           // NULL-safe

// A NULL entry of by_encoder takes `all`.
typedef struct nino_clip_text {
    const char *all;
    const char *by_encoder[NINO_ENC_COUNT]; // CLIPTextEncodeFlux, CLIPTextEncodeSDXL
    // CLIPTextEncodeSD3's empty_padding "none": an encoder whose text is empty gets no padding, and
    // takes no part at all where another can do without it.
    bool no_empty_padding;
    // No text, and no padding either: start and end alone, which needs no tokenizer. CLIPs only.
    bool is_bare;
    // Of Qwen-Image's edit nodes. has_pictures: the text is an instruction, even with no pictures;
    // its places "<|image_pad|>" are taken by them in their order.
    bool has_pictures;
    const nino_array *const *pictures; // n_pictures of f32 [1,H,W,3 or 4], 0..1
    int n_pictures;
} nino_clip_text;

// Tokenises, encodes and combines: one entry with context, and pooled where the type has it.
// Weights other than 1 are applied as ComfyUI does (towards the empty prompt's encoding).
nino_status nino_clip_encode(nino_stream *s, const nino_clip *c, const nino_clip_text *text,
                             nino_cond **out, nino_error *err);
