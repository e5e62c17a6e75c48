// Internal to bpe*.c: the tables, and the steps of their loaders.
#pragma once
#include "core/text/bpe.h"
#include "core/text/strings.h"

#define NINO_BPE_START "<|startoftext|>"
#define NINO_BPE_END "<|endoftext|>"

typedef struct nino_bpe_pair {
    uint64_t key; // left << 32 | right, plus 1; 0: empty
    uint32_t rank;
} nino_bpe_pair;

// Symbols are all strings that appear while merging. Text is bytes mapped to printable characters
// (GPT-2), the last of a word with "</w>".
struct nino_bpe {
    nino_strings symbols;
    int32_t *ids; // of symbols; -1: not in the vocabulary
    uint32_t ids_cap;
    uint32_t byte[2][256]; // symbol of a byte; [1]: at the end of a word
    nino_bpe_pair *pairs;  // open addressing
    uint32_t n_pairs;
    uint32_t *merged; // symbol that the merge of a rank makes
    uint32_t n_merges;
    int32_t start, end; // ids of the special tokens; end stands for what is unknown
    int32_t size;
    nino_bpe_pattern pattern;
    // Tokens that are found before words are; none of CLIP's.
    nino_strings specials;
    int32_t *special_ids;
    bool begins_special[256];
};

// Rank of the merge of two symbols, or UINT32_MAX.
uint32_t nino_bpe_rank(const nino_bpe *b, uint32_t left, uint32_t right);
// Bytes of the first word of a text, at least 1; not CLIP's (bpe_words.c).
size_t nino_bpe_word(nino_bpe_pattern pattern, const char *s, size_t len);

// ---- loading -----------------------------------------------------------------------------------
typedef struct nino_bpe_loader {
    nino_bpe *b;
    const char *name;
    nino_error *err;
} nino_bpe_loader;

nino_status nino_bpe_begin(nino_bpe_loader *l, nino_bpe_pattern pattern, const char *name,
                           nino_error *err);
// Checks the tables; they are *out's or, after a failure `st`, gone.
nino_status nino_bpe_finish(nino_bpe_loader *l, nino_status st, nino_bpe **out);
nino_status nino_bpe_bad(const nino_bpe_loader *l, const char *what);
nino_status nino_bpe_no_memory(const nino_bpe_loader *l);
nino_status nino_bpe_add_symbol(nino_bpe_loader *l, const char *p, size_t len, uint32_t *out);
nino_status nino_bpe_set_id(nino_bpe_loader *l, const char *p, size_t len, int64_t id);
// A token that is found before words are; the first of a name counts.
nino_status nino_bpe_add_special(nino_bpe_loader *l, const char *p, size_t len, int64_t id);
// The symbols of single bytes in the printable form.
nino_status nino_bpe_add_bytes(nino_bpe_loader *l, int64_t first_id);
// Room for n merges, then each in its order: as numbers of symbols, two symbols or "left right".
nino_status nino_bpe_reserve_merges(nino_bpe_loader *l, size_t n);
void nino_bpe_add_pair(nino_bpe *b, uint32_t left, uint32_t right, uint32_t made);
nino_status nino_bpe_add_merge(nino_bpe_loader *l, const char *left, size_t n_left,
                               const char *right, size_t n_right, bool is_token);
nino_status nino_bpe_add_merge_text(nino_bpe_loader *l, const char *s, size_t len, bool is_token);
