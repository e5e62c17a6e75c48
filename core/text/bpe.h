// Internal: CLIP's byte-level BPE. Sources: openai/CLIP simple_tokenizer.py for the vocabulary and
// merges; Hugging Face transformers' CLIPTokenizer for the clean-up ComfyUI gets.
// Thread-safety: immutable after opening.
#pragma once
#include <ninodes/base.h>

#define NINO_BPE_MAX_TEXT (1 << 20) // bytes; longer is NINO_ERR_RANGE

typedef struct nino_bpe nino_bpe;

// The clean-up before splitting. Both lower-case and collapse white space; they agree on ASCII.
typedef enum nino_bpe_clean {
    NINO_BPE_CLEAN_HF,   // CLIPTokenizer without ftfy, what ComfyUI runs: control characters are
                         // dropped, CJK ideographs stand alone, NFC
    NINO_BPE_CLEAN_PLAIN // nothing else: openai's tokenizer without ftfy and HTML entities
} nino_bpe_clean;

// From file contents; `name` is used in messages. vocab: {"token": id}; merges: "#version" line,
// then "left right" a line.
nino_status nino_bpe_from_vocab(const char *vocab, size_t vocab_len, const char *merges,
                                size_t merges_len, const char *name, nino_bpe **out,
                                nino_error *err);
// bpe_simple_vocab_16e6.txt, plain or gzip.
nino_status nino_bpe_from_simple(const char *text, size_t len, const char *name, nino_bpe **out,
                                 nino_error *err);
// A tokenizer.json with a BPE model.
nino_status nino_bpe_from_json(const char *json, size_t len, const char *name, nino_bpe **out,
                               nino_error *err);
void nino_bpe_destroy(nino_bpe **b); // NULL-safe

// Token ids without start and end; *ids is malloc'd, NULL when *n is 0.
nino_status nino_bpe_ids(const nino_bpe *b, nino_bpe_clean clean, const char *utf8, size_t len,
                         int32_t **ids, int *n, nino_error *err);
int nino_bpe_size(const nino_bpe *b);
void nino_bpe_ends(const nino_bpe *b, int32_t *start, int32_t *end);
