// Internal: tokenizers: text to token ids. A tokenizer is a byte-level BPE (bpe.h) or a
// SentencePiece unigram model (unigram.h); prompt.h turns a prompt into weighted, padded chunks.
// Thread-safety: immutable after opening; any number of threads may use one.
#pragma once
#include "core/file/weights.h"

typedef struct nino_tokenizer nino_tokenizer;

typedef enum nino_tokenizer_kind {
    NINO_TOKENIZER_CLIP, // CLIP-L, CLIP-G and CLIP-H share it
    NINO_TOKENIZER_T5,
    NINO_TOKENIZER_UMT5,    // normally inside the encoder's file: nino_tokenizer_from_weights()
    NINO_TOKENIZER_QWEN,    // Qwen2, 2.5 and 3 share it
    NINO_TOKENIZER_MISTRAL, // Mistral Small 3; normally inside the encoder's file
    NINO_TOKENIZER_KINDS
} nino_tokenizer_kind;

// Opens the tokenizer of a kind from the first of `dirs` (NULL-terminated) that holds its files:
// CLIP: vocab.json + merges.txt, tokenizer.json, bpe_simple_vocab_16e6.txt[.gz]; T5 and UMT5:
// tokenizer.json, spiece.model; Qwen: vocab.json + merges.txt, tokenizer.json; Mistral: tekken.json,
// tokenizer.json. NINO_ERR_MISSING names the files and every folder looked at; a
// file that is there but malformed is an error, not a reason to look further.
nino_status nino_tokenizer_open(nino_tokenizer_kind kind, const char *const *dirs,
                                nino_tokenizer **out, nino_error *err);
// From a SentencePiece model in memory (copied). `name` is used in messages.
nino_status nino_tokenizer_from_spiece(const void *bytes, size_t n, const char *name,
                                       nino_tokenizer **out, nino_error *err);
// From the tensor `spiece_model` or `tekken_model` of a text encoder's file (any prefix). NINO_ERR_MISSING: it has
// none.
nino_status nino_tokenizer_from_weights(const nino_weights *w, nino_tokenizer **out,
                                        nino_error *err);
// From the metadata of a GGUF file that llama.cpp's tools wrote. NINO_ERR_MISSING: it has none.
nino_status nino_tokenizer_from_gguf(nino_weights *w, nino_tokenizer **out, nino_error *err);
nino_tokenizer *nino_tokenizer_ref(nino_tokenizer *t); // NULL-safe
void nino_tokenizer_unref(nino_tokenizer **t);         // NULL-safe, *t becomes NULL

// Token ids of UTF-8 text (malformed bytes count as U+FFFD), without start, end or padding. *ids is
// malloc'd (NULL when *n is 0) and the caller's.
nino_status nino_tokenizer_ids(const nino_tokenizer *t, const char *utf8, int32_t **ids, int *n,
                               nino_error *err);
// Ids of the start and end tokens of a BPE vocabulary; false for a unigram model, which has none of
// its own.
bool nino_tokenizer_ends(const nino_tokenizer *t, int32_t *start, int32_t *end);
// The id of a special token, -1: it has none of that name. Language models' only.
int32_t nino_tokenizer_special(const nino_tokenizer *t, const char *text);
// Number of ids: every id of nino_tokenizer_ids() is below.
int nino_tokenizer_size(const nino_tokenizer *t);
const char *nino_tokenizer_path(const nino_tokenizer *t); // file it came from, for messages

// Where a kind's files may lie, for nino_tokenizer_open(): KIND ("clip", "t5", "umt5", "qwen25", "mistral3") in each of
// the `tokenizers` folders, then ComfyUI's own in a checkout that a models folder lies in or
// beside. Both lists are NULL-terminated; the result is one malloc'd block, NULL: out of memory.
char **nino_tokenizer_dirs(nino_tokenizer_kind kind, char *const *tokenizers, char *const *models);
