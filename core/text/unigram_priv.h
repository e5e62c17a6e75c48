// Internal to unigram*.c.
#pragma once
#include "core/base/buf.h"
#include "core/text/charsmap.h"
#include "core/text/strings.h"
#include "core/text/unigram.h"

#define NINO_SPACE_PIECE "\xe2\x96\x81" // U+2581
#define NINO_UNIGRAM_MAX_PIECE 1024     // bytes
#define NINO_UNIGRAM_MAX_PIECES (1 << 22)

typedef struct nino_steps nino_steps; // of a tokenizer.json: unigram_steps.c

typedef struct nino_scored { // a piece that can be found in text; same number as in `pieces`
    double score;
    int32_t id;
    bool is_unused, is_user;
} nino_scored;

struct nino_unigram {
    nino_strings pieces;
    nino_scored *scored;
    uint32_t n_scored;
    uint16_t longest[256]; // bytes of the longest piece that begins with this byte
    double min_score, max_score;
    int32_t unk, size;
    int32_t bytes[256]; // ids of the byte pieces, if is_byte_fallback
    bool is_byte_fallback;
    nino_charsmap charsmap;
    bool no_dummy_prefix, keep_spaces, no_escape, is_suffix; // SentencePiece's normaliser
    nino_strings users; // user-defined pieces: found before anything is normalised
    bool user_begins[256];
    nino_steps *steps; // NULL: SentencePiece's own order, float scores
};

typedef struct nino_ids {   // ids found so far and scratch memory of one call
    nino_buf ids;           // int32_t
    struct nino_path *path; // best way to each position
    size_t cap_path;
    bool failed, is_too_long;
} nino_ids;

static inline void nino_ids_add(nino_ids *w, int32_t id)
{
    nino_buf_add(&w->ids, &id, sizeof(id));
    w->failed = w->failed || w->ids.failed;
}
// The best pieces of normalised text; a run of unknown characters is one id.
void nino_unigram_viterbi(const nino_unigram *u, nino_ids *w, const char *s, size_t len);

nino_unigram *nino_unigram_create(void);
// Adds a piece that text can contain. A repeated one: *is_new false, and the later id counts.
// hash: nino_strings_hash() of it.
bool nino_unigram_add(nino_unigram *u, uint64_t hash, const char *p, size_t len, double score,
                      int32_t id, nino_piece_type type, bool *is_new);
// Byte named by a piece "<0x41>", or -1.
int nino_unigram_byte(const char *p, size_t len);

void nino_steps_ids(const nino_unigram *u, nino_ids *w, const char *s, size_t len);
void nino_steps_destroy(nino_steps **s); // NULL-safe
