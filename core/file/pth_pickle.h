// Internal: the restricted pickle machine behind pth.c. It builds plain values only; nothing in a
// file can name a function that would run.
#pragma once
#include "core/base/arena.h"
#include "core/tensor/tensor.h"

typedef struct nino_pickle_tensor {
    const char *name; // into the pickle, not terminated
    size_t name_len;
    const char *key; // of the storage, likewise
    size_t key_len;
    nino_dtype dtype;
    uint64_t storage_count, offset; // elements
    int rank;
    int64_t dim[NINO_FILE_MAX_RANK], stride[NINO_FILE_MAX_RANK];
} nino_pickle_tensor;

// Runs the pickle p of n bytes and lists the tensors of the state dict in it; shapes and strides
// are checked against the storage's size. *out lives in `arena` and points into p.
nino_status nino_pickle_read(const char *p, size_t n, const char *name, nino_arena *arena,
                             nino_pickle_tensor **out, int *n_out, nino_error *err);
