// Internal: the GGUF container, versions 2 and 3 (ggml-org/ggml docs/gguf.md; the limits are ours).
#pragma once
#include "core/file/safetensors.h"

// Reads key-values and tensor table from the first head_len bytes of a file of file_bytes. Tensors
// come out like those of safetensors: outermost dimension first, offsets absolute; a shape recorded
// under "comfy.gguf.orig_shape.NAME" replaces the stored one. Key-values become metadata as text
// (numbers, booleans, strings, and arrays of at most 16 numbers as "[1,2]"); longer arrays and
// arrays of strings become "array of N TYPE".
// The tensors of text encoders get the names that they have elsewhere (gguf_names.c).
// *more (may be NULL): true when the table goes on beyond head_len; then the error is "truncated".
// Works on memory only, so it is also the fuzz entry.
nino_status nino_gguf_parse(const void *head, size_t head_len, uint64_t file_bytes,
                            const char *name, nino_st_header *out, bool *more, nino_error *err);
nino_status nino_gguf_rename(nino_st_header *h, const char *file, nino_error *err); // a part of it
