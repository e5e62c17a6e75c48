// Internal: the long arrays of a GGUF file's key-values, which nino_weights_meta() only counts: a
// tokenizer's words and scores. Read from the file when they are asked for.
#pragma once
#include "core/file/weights.h"

typedef struct nino_gguf_list {
    uint32_t type;  // of its elements: 4 u32, 5 i32, 6 f32, 8 string ...
    uint64_t count; // 0: there is no such array, or it is empty
    const uint8_t *p,
        *end; // little-endian, one behind the other; a string has its length (u64) first
} nino_gguf_list;

// The arrays of `keys`, NULL-terminated, in the same order in out. *owned holds their bytes: free
// it. A key that is absent, or no array, gives an empty list. Not a GGUF file: all are empty.
nino_status nino_gguf_lists(nino_weights *w, const char *const *keys, nino_gguf_list *out,
                            void **owned, nino_error *err);
// The next string of a list of strings; false: the end.
bool nino_gguf_next(nino_gguf_list *l, const char **s, size_t *len);
