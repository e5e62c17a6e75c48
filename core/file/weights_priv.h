// Internal to core/file: what a nino_weights is made of.
#pragma once
#include "core/base/json.h"
#include "core/file/safetensors.h"

typedef struct nino_ahead nino_ahead; // weights_ahead.c

struct nino_weights {
    int refs, fd;
    char *path;
    const char *format;
    uint64_t file_bytes;
    nino_hash identity;
    nino_st_header header;
    uint32_t *table; // open addressing: index + 1 into header.infos, 0 is empty
    size_t mask;
    nino_weights *base; // of a view; then fd is -1
    nino_weights_change change;
    bool *is_changed;  // by index of info
    nino_ahead *ahead; // of a file; NULL in a view
    // What a file says in one place about how its layers are stored; NULL: nothing, or a view.
    nino_json_doc *quants;
};

nino_ahead *nino_ahead_create(int tensors); // NULL: out of memory
// Before the file is closed; NULL-safe.
void nino_ahead_destroy(nino_ahead *a);

// weights_scale.c: fills w->quants of a file whose table was read.
nino_status nino_weights_read_quants(nino_weights *w, nino_error *err);
// st_names.c: other programs' names of text encoders in safetensors become those used here.
nino_status nino_st_rename(nino_st_header *h, const char *file, nino_error *err);
// Builds the table of names; refuses equal ones.
nino_status nino_weights_build_index(nino_weights *w, nino_error *err);
// weights_view.c: the reads of a view.
nino_status nino_view_read(const nino_weights *w, const nino_tensor_info *t, void *dst,
                           nino_error *err);
nino_status nino_view_read_bytes(const nino_weights *w, const nino_tensor_info *t, uint64_t at,
                                 uint64_t n, void *dst, nino_error *err);
nino_status nino_view_read_rows(const nino_weights *w, const nino_tensor_info *t, int64_t first,
                                int64_t n, float *dst, nino_error *err);
nino_status nino_view_read_all(const nino_weights *w, const nino_tensor_info *t, float *dst,
                               nino_error *err);
