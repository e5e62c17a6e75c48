// Internal: prompts: weights `(text:1.2)`, textual inversions `embedding:name` and packing into
// chunks, as ComfyUI's sd1_clip.py does (SDTokenizer.tokenize_with_weights, process_tokens).
//
// Syntax: `\(` and `\)` are literal; `(text)` multiplies the weight by 1.1; `(text:w)` sets it
// (last colon, not the first character inside, what follows must read as a number). Every weighted
// segment, and every embedding, is a word group: groups of fewer than 8 tokens are never split.
#pragma once
#include "core/text/tokenizer.h"

// What one encoder expects. Start from nino_prompt_rules_of() and fill width and the callbacks.
typedef struct nino_prompt_rules {
    int32_t start, end; // -1: none
    int32_t pad;        // below -1: never padded
    int max_len; // tokens a chunk, start and end included; chunks are padded to it. 0: one chunk
                 // of any length
    int min_len; // the last chunk is padded to at least this; 0: not
    const char *key; // the encoder's name in embedding files: "clip_l" (also for CLIP-H), "clip_g",
                     // "t5xxl"; NULL: "embedding:" is ordinary text (UMT5)
    int width;       // columns of the encoder's token embedding

    // Same signatures as in nino_text_services (core/model/clip/clip.h); either may be NULL.
    // Without `embedding`, "embedding:" is ordinary text.
    void *priv;
    nino_status (*embedding)(void *priv, const char *name, nino_weights **out, nino_error *err);
    void (*warn)(void *priv, const char *text);
    int min_pad;        // pads that follow every prompt before min_len counts; not with max_len
    bool is_plain;      // parentheses are text: no weights. Escapes are undone all the same
    bool keeps_gap;     // the white space before "embedding:" stays with the text before it
    bool is_empty_bare; // the empty prompt that weights count from is pads alone, without an end
} nino_prompt_rules;

typedef enum nino_prompt_style {
    NINO_PROMPT_CLIP_L,   // 49406 ... 49407, padded with 49407 to chunks of 77
    NINO_PROMPT_CLIP_G,   // the same, padded with 0
    NINO_PROMPT_CLIP_H,   // the same, padded with 0
    NINO_PROMPT_T5_FLUX,  // ... 1, padded with 0 to at least 256
    NINO_PROMPT_T5_SD3,   // ... 1, padded with 0 to at least 77
    NINO_PROMPT_T5_BARE,  // ... 1, not padded (Chroma, PixArt)
    NINO_PROMPT_UMT5_WAN, // ... 1, padded with 0 to at least 512
    NINO_PROMPT_LLM,      // without weights, start, end and padding
} nino_prompt_style;
// The rules of a known encoder; width and ids are the real model's (768, 1280, 1024, 4096).
nino_prompt_rules nino_prompt_rules_of(nino_prompt_style style);
// The same with the tokenizer's own ids of start and end (and of padding, where that is the end
// token): a vocabulary of another size has them elsewhere.
nino_prompt_rules nino_prompt_rules_for(nino_prompt_style style, const nino_tokenizer *t);

typedef struct nino_token {
    int32_t id; // >= 0: row of the token embedding; -1: row `vector` of nino_prompt.vectors
    int32_t vector;
    float weight; // of this position; 1 for start, end and padding
    int32_t word; // 1, 2, ...: word group; 0: start, end, padding
    bool attend;  // up to and including the first `end` of the chunk, and every vector
} nino_token;

// Chunk c is tokens[c*chunk_len ...]; each is encoded by itself, the outputs concatenated.
typedef struct nino_prompt {
    nino_token *tokens; // [n_chunks*chunk_len]
    int n_chunks;       // at least 1, also for ""
    int chunk_len;
    float *vectors; // f32 [n_vectors,width]; NULL: none
    int n_vectors, width;
    bool is_weighted; // some weight is not 1: the empty prompt is needed too
} nino_prompt;

// Tokenises and packs. What does not exist or does not fit among embeddings is left out as ComfyUI
// does, with a warning. Errors: NINO_ERR_NOMEM; NINO_ERR_RANGE for prompts beyond 1 MiB or 2^20
// tokens, or more than 256 levels of parentheses. *out is zeroed on failure.
nino_status nino_prompt_build(const nino_tokenizer *t, const nino_prompt_rules *rules,
                              const char *text, nino_prompt *out, nino_error *err);
// The prompt that weights interpolate towards: start, end and pad up to `len` tokens, one chunk.
nino_status nino_prompt_empty(const nino_prompt_rules *rules, int len, nino_prompt *out,
                              nino_error *err);
void nino_prompt_release(nino_prompt *p); // frees what is inside and zeroes it; NULL-safe

// Attended tokens of a chunk: CLIP's pooled output is the row at this minus 1.
int nino_prompt_attended(const nino_prompt *p, int chunk);
// Ids of a chunk with -1 at vectors, for nino_embed and for tests.
void nino_prompt_chunk_ids(const nino_prompt *p, int chunk, int32_t *ids);
