// Internal: the texts that a picture carries, by keyword. Limits: 256 texts, 16 MiB each, 64 MiB in
// all.
#pragma once
#include <ninodes/base.h>

#define NINO_MAX_TEXTS 256
#define NINO_MAX_TEXT (16u << 20)
#define NINO_MAX_ALL_TEXT (64u << 20)

typedef struct nino_text {
    char *key, *value; // malloc'd, NUL-terminated UTF-8
    size_t value_len;
    bool is_edited; // its checksum is wrong: changed after it was written
} nino_text;

typedef struct nino_texts {
    nino_text *list;
    int n;
    size_t bytes; // of the values
} nino_texts;

// Copies. A second `prompt` or `workflow` would leave open which one is meant and is refused, kind
// "dup"; other keywords may repeat. `name`: the file, for messages.
nino_status nino_texts_add(nino_texts *t, const char *key, const char *value, size_t len,
                           const char *name, nino_error *err);
void nino_texts_release(nino_texts *t);
const nino_text *nino_texts_find(const nino_texts *t, const char *key); // NULL: none
