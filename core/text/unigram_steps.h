// Internal to unigram_json.c and unigram_steps.c: the steps that a tokenizer.json lists.
#pragma once
#include "core/text/unigram_priv.h"

typedef struct nino_special { // an added token: found in the text as it is
    int32_t id;
    bool eats_left, eats_right; // white space beside it
} nino_special;

typedef enum nino_step_kind {
    NINO_STEP_CHARSMAP,
    NINO_STEP_STRIP,
    NINO_STEP_REPLACE,       // every `from` by `to`
    NINO_STEP_REPLACE_SPACES // two spaces or more by `to`
} nino_step_kind;

typedef struct nino_step {
    nino_step_kind kind;
    bool left, right; // of STRIP
    char *from, *to;
} nino_step;

#define NINO_MAX_STEPS 8

struct nino_steps {
    nino_strings special_texts;
    nino_special *specials; // same numbers
    bool special_begins[256];
    nino_step step[NINO_MAX_STEPS];
    int n_steps;
    // pre_tokenizer
    bool splits_spaces;    // WhitespaceSplit
    char *space;           // Metaspace: what spaces become; NULL: none
    bool is_prefixed;      // put in front of a part
    bool is_prefixed_once; // only of the first
    bool splits_words;     // each becomes a word of its own
};
