// Internal: byte-level BPE, as CLIP and the language models have it. Sources: openai/CLIP
// simple_tokenizer.py for CLIP's vocabulary and merges; Hugging Face transformers' CLIPTokenizer for
// the clean-up ComfyUI gets; transformers' Qwen2Tokenizer and MistralConverter for the others.
// Thread-safety: immutable after opening.
#pragma once
#include "core/file/weights.h"

#define NINO_BPE_MAX_TEXT (1 << 20) // bytes; longer is NINO_ERR_RANGE

typedef struct nino_bpe nino_bpe;

// The clean-up before splitting. Both lower-case and collapse white space; they agree on ASCII.
typedef enum nino_bpe_clean {
    NINO_BPE_CLEAN_HF,   // CLIPTokenizer without ftfy, what ComfyUI runs: control characters are
                         // dropped, CJK ideographs stand alone, NFC
    NINO_BPE_CLEAN_PLAIN // nothing else: openai's tokenizer without ftfy and HTML entities
} nino_bpe_clean;

// How text becomes words, and what ends a word.
typedef enum nino_bpe_pattern {
    NINO_BPE_CLIP,   // cleaned, in lower case; "</w>" ends a word
    NINO_BPE_QWEN,   // NFC; a space belongs to the word behind it, every digit is a word
    NINO_BPE_MISTRAL // the same without NFC, with up to three digits a word
} nino_bpe_pattern;

// From file contents; `name` is used in messages. vocab: {"token": id}; merges: "#version" line,
// then "left right" a line. QWEN: the special tokens that the vocabulary does not have follow it in
// the order of Qwen's list, "<|endoftext|>" first.
nino_status nino_bpe_from_vocab(nino_bpe_pattern pattern, const char *vocab, size_t vocab_len,
                                const char *merges, size_t merges_len, const char *name,
                                nino_bpe **out, nino_error *err);
// bpe_simple_vocab_16e6.txt, plain or gzip.
nino_status nino_bpe_from_simple(const char *text, size_t len, const char *name, nino_bpe **out,
                                 nino_error *err);
// A tokenizer.json with a BPE model; its added_tokens are special ones.
nino_status nino_bpe_from_json(nino_bpe_pattern pattern, const char *json, size_t len,
                               const char *name, nino_bpe **out, nino_error *err);
// Mistral's tekken.json: tokens as bytes in base64, their order is that of the merges.
nino_status nino_bpe_from_tekken(const char *json, size_t len, const char *name, nino_bpe **out,
                                 nino_error *err);
// tokenizer.ggml.* of a GGUF file of the kind "gpt2". NINO_ERR_MISSING: it has none.
nino_status nino_bpe_from_gguf(nino_weights *w, nino_bpe **out, nino_error *err);
void nino_bpe_destroy(nino_bpe **b); // NULL-safe

// Token ids without start and end; only CLIP's text is cleaned. Special tokens that the text spells
// out are found first, the longest at a place; *ids is malloc'd, NULL when *n is 0.
nino_status nino_bpe_ids(const nino_bpe *b, nino_bpe_clean clean, const char *utf8, size_t len,
                         int32_t **ids, int *n, nino_error *err);
int nino_bpe_size(const nino_bpe *b);
// The id of a special token, -1: there is none of that name. Not CLIP's.
int32_t nino_bpe_special(const nino_bpe *b, const char *text);
void nino_bpe_ends(const nino_bpe *b, int32_t *start, int32_t *end);
