// Internal: named tensors over files. The one view that models have of safetensors, .pth (and later
// GGUF) files. Thread-safety: immutable after opening; reads use pread and may run on several
// threads.
#pragma once
#include "core/base/hash.h"
#include "core/tensor/tensor.h"

typedef struct nino_tensor_info {
    const char *name; // NUL-terminated, unique in the file
    nino_dtype dtype;
    int rank;
    int64_t dim[NINO_FILE_MAX_RANK];
    uint64_t offset, bytes; // absolute position in the file (or of the storage for .pth)
    int64_t stride[NINO_FILE_MAX_RANK]; // elements; contiguous unless is_strided
    bool is_strided;
} nino_tensor_info;

typedef struct nino_meta { // one entry of __metadata__ or of the GGUF key-values, as text
    const char *key, *value;
    size_t value_len;
} nino_meta;

typedef struct nino_weights nino_weights;

// Opens a file by its content (safetensors, torch zip, GGUF); the extension is only used in
// messages. The header is read and checked completely; tensor data is not touched. `path` is
// trusted (use nino_file_open_below and _open_fd for names from a workflow). Errors:
// NINO_ERR_MISSING, NINO_ERR_FORMAT with the kinds of reliability rules, NINO_ERR_UNSUPPORTED for
// formats that this version only recognises.
nino_weights *nino_weights_open(const char *path, nino_error *err);
nino_weights *nino_weights_open_fd(int fd, const char *display_name,
                                   nino_error *err); // takes fd, also on failure
nino_weights *nino_weights_ref(nino_weights *w);
void nino_weights_unref(nino_weights **w);

const char *nino_weights_path(const nino_weights *w);
const char *nino_weights_format(const nino_weights *w); // "safetensors", "pth", "gguf"
uint64_t nino_weights_file_bytes(const nino_weights *w);
// Identity for caches: device, inode, size, mtime in nanoseconds.
nino_hash nino_weights_identity(const nino_weights *w);
int nino_weights_count(const nino_weights *w);
const nino_tensor_info *nino_weights_at(const nino_weights *w, int i);
// NULL if there is none of that name. O(1).
const nino_tensor_info *nino_weights_find(const nino_weights *w, const char *name);
// Bytes of the tensors whose names start with prefix, as stored.
uint64_t nino_weights_bytes(const nino_weights *w, const char *prefix);
int nino_weights_meta_count(const nino_weights *w);
const nino_meta *nino_weights_meta_at(const nino_weights *w, int i);
const char *nino_weights_meta(const nino_weights *w, const char *key); // value or NULL

// Reads one tensor's elements, contiguous, in the file's type, into dst (nino_tensor_info.bytes).
nino_status nino_weights_read(const nino_weights *w, const nino_tensor_info *t, void *dst,
                              nino_error *err);
// Rows first ... first + n - 1 of the outermost dimension as f32; the others are not read. dst: the
// values of n rows.
nino_status nino_weights_read_rows_f32(const nino_weights *w, const nino_tensor_info *t,
                                       int64_t first, int64_t n, float *dst, nino_error *err);
// The whole tensor as a new f32 array (rank <= 5).
nino_array *nino_weights_read_f32(const nino_weights *w, const nino_tensor_info *t,
                                  nino_error *err);
