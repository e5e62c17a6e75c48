// Internal: the safetensors container (strict reader, writer). Rules: huggingface/safetensors
// README and tensor.rs; every refusal carries its kind.
#pragma once
#include "core/base/file.h"
#include "core/file/weights.h"

// Parsed header: infos sorted by offset (offsets absolute in the file). Everything lives in
// `arena`.
typedef struct nino_st_header {
    struct nino_arena *arena;
    nino_tensor_info *infos;
    int n_infos;
    nino_meta *meta;
    int n_meta;
} nino_st_header;

// Length of the JSON header that the first 8 bytes announce; 0: fewer bytes, or a length that
// nino_st_parse refuses.
uint64_t nino_st_header_bytes(const void *head, size_t head_len);

// head: the first head_len bytes of the file, at least 8 + header length unless the file is
// shorter. Works on memory only, so it is also the fuzz entry.
nino_status nino_st_parse(const void *head, size_t head_len, uint64_t file_bytes, const char *name,
                          nino_st_header *out, nino_error *err);
void nino_st_header_release(nino_st_header *h);

// Gives t the strides of a contiguous tensor of its shape.
void nino_tensor_info_set_dense(nino_tensor_info *t);

// Writes "vae.safetensors: conv_in.weight" to buf and returns it: the `where` of messages.
const char *nino_tensor_where(char buf[192], const char *file, const char *tensor, size_t len);

// Writing: declare all tensors, then the bytes go out in that order. Atomic like every output.
typedef struct nino_st_entry {
    const char *name;
    const nino_array *array; // dtype, shape, data
} nino_st_entry;
// The same for tensors of files, which are read while they are written, one at a time.
typedef struct nino_st_source {
    const char *name;
    const nino_array *array; // or NULL and
    const nino_weights *file;
    const nino_tensor_info *info; // its tensor, of a type that safetensors has a name for
} nino_st_source;
// name: for messages. cancel (may be NULL) is looked at between tensors.
nino_status nino_st_write(nino_file_writer *w, const char *name, const nino_st_source *sources,
                          int n, const nino_meta *meta, int n_meta, const volatile int *cancel,
                          nino_error *err);
nino_status nino_st_save(const char *dir, const char *name, bool below,
                         const nino_st_entry *entries, int n, const nino_meta *meta, int n_meta,
                         nino_error *err);
