// Internal to bpe*.c: the tables.
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
};

// Rank of the merge of two symbols, or UINT32_MAX.
uint32_t nino_bpe_rank(const nino_bpe *b, uint32_t left, uint32_t right);
