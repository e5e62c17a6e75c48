// Internal: SentencePiece unigram models (T5, UMT5). Sources: google/sentencepiece
// (sentencepiece_model.proto, normalizer.cc, unigram_model.cc) and, for tokenizer.json, Hugging
// Face tokenizers (Precompiled, Metaspace, Unigram).
// Thread-safety: immutable after opening.
#pragma once
#include "core/file/weights.h"

typedef struct nino_unigram nino_unigram;

typedef enum nino_piece_type { // as in the protobuf and in tokenizer.ggml.token_type
    NINO_PIECE_NORMAL = 1,
    NINO_PIECE_UNKNOWN = 2,
    NINO_PIECE_CONTROL = 3,
    NINO_PIECE_USER = 4,
    NINO_PIECE_UNUSED = 5,
    NINO_PIECE_BYTE = 6
} nino_piece_type;

typedef struct nino_piece {
    const char *text; // not terminated
    size_t len;
    float score;
    nino_piece_type type;
} nino_piece;

// Parts of a model, for files that store them otherwise (GGUF).
typedef struct nino_unigram_parts {
    const nino_piece *pieces; // id = index
    int n_pieces;
    const void *charsmap; // precompiled_charsmap; n 0: text is not normalised
    size_t n_charsmap;
    bool no_dummy_prefix;  // default: a space goes in front
    bool keep_spaces;      // default: leading, trailing and repeated spaces are removed
    bool no_escape;        // default: spaces become U+2581
    bool is_byte_fallback; // unknown characters become byte pieces
} nino_unigram_parts;

// spiece.model: a protobuf ModelProto. `name` is used in messages.
nino_status nino_unigram_from_spiece(const void *bytes, size_t n, const char *name,
                                     nino_unigram **out, nino_error *err);
// tokenizer.json with a Unigram model: its own order of steps (special tokens first).
nino_status nino_unigram_from_json(const char *json, size_t len, const char *name,
                                   nino_unigram **out, nino_error *err);
nino_status nino_unigram_from_parts(const nino_unigram_parts *parts, const char *name,
                                    nino_unigram **out, nino_error *err); // copied
// The one in a GGUF file's metadata (tokenizer.ggml.*, model "t5"). NINO_ERR_MISSING: it has none.
nino_status nino_unigram_from_gguf(nino_weights *w, nino_unigram **out, nino_error *err);
void nino_unigram_destroy(nino_unigram **u); // NULL-safe

// Token ids without </s>; *ids is malloc'd, NULL when *n is 0.
nino_status nino_unigram_ids(const nino_unigram *u, const char *utf8, size_t len, int32_t **ids,
                             int *n, nino_error *err);
int nino_unigram_size(const nino_unigram *u);
