// Internal: the precompiled_charsmap of SentencePiece: replacement strings for the beginnings of a
// text, in a double-array trie. Sources: google/sentencepiece normalizer.cc; s-yata/darts-clone
// (layout of a unit).
#pragma once
#include <ninodes/base.h>

typedef struct nino_charsmap {
    uint32_t *units; // of the trie; NULL: nothing is replaced
    size_t n_units;
    char *text; // replacements, each terminated by 0
    size_t n_text;
} nino_charsmap;

// Copies and checks the blob (u32 bytes of trie, trie, replacements). n 0: an empty map.
nino_status nino_charsmap_load(nino_charsmap *m, const void *blob, size_t n, const char *name,
                               nino_error *err);
void nino_charsmap_release(nino_charsmap *m);

typedef enum nino_charsmap_rule {
    NINO_CHARSMAP_LONGEST, // SentencePiece
    NINO_CHARSMAP_SHORTEST // Hugging Face tokenizers
} nino_charsmap_rule;

// Replacement of the longest (shortest) beginning of s that has one, and how long that is; NULL:
// none has.
const char *nino_charsmap_find(const nino_charsmap *m, const char *s, size_t len,
                               nino_charsmap_rule rule, size_t *used);
