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

// ---- files older than PyTorch 1.6 ------------------------------------------------------------
// Five pickles, one behind the other: a magic number, a version, what machine wrote it, the state
// dict, the keys of its storages in the order of their elements, which follow.
#define NINO_PTH_OLD_MAGIC "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19."

typedef struct nino_pickle_storage {
    const char *key; // as in nino_pickle_tensor
    size_t key_len;
    nino_dtype dtype;
    uint64_t count, data; // elements; data: position in the file, for the caller
} nino_pickle_storage;

typedef struct nino_pickle_old {
    nino_pickle_tensor *tensors;
    int n_tensors;
    nino_pickle_storage *storages; // in the order of the file
    int n_storages;
    size_t used; // bytes of the pickles
} nino_pickle_old;

// p: the first n bytes of such a file. Kind "truncated" where the pickles go on behind them.
nino_status nino_pickle_read_old(const char *p, size_t n, const char *name, nino_arena *arena,
                                 nino_pickle_old *out, nino_error *err);
void nino_pickle_storage_sort(nino_pickle_storage *s, int n);
// Among sorted ones; NULL: there is none.
const nino_pickle_storage *nino_pickle_storage_find(const nino_pickle_storage *s, int n,
                                                    const char *key, size_t key_len);
