// Internal: captured records, read back from disk.
#pragma once
#include "core/base/json.h"
#include "core/run/capture_priv.h"
#include <ninodes/capture.h>

typedef struct capture_file {
    char *path; // of the .json
    nino_json_doc *doc;
    const char *base; // "vae_decode_output", in path
    size_t base_len;
    const char *node_id, *class_type, *device, *precision, *workflow; // never NULL
    bool is_output;
    uint64_t ms;
} capture_file;

typedef struct capture_list {
    capture_file *file; // by time
    size_t n;
} capture_list;

// All below a folder, or one file. NINO_ERR_MISSING: there is none.
nino_status nino_capture_read(const char *path, capture_list *out, nino_error *err);
void nino_capture_list_release(capture_list *l);
// The record of the same node that follows file i: an output of an input; NULL: none.
const capture_file *nino_capture_partner(const capture_list *l, size_t i);
// Compares the tensors of a record with those of another of its node: of a file, or `held`.
nino_status nino_capture_compare(const capture_file *a, const capture_file *b,
                                 const capture_tensors *held, nino_capture_row_fn row, void *priv,
                                 nino_error *err);
// The path of its tensors; false: too long.
bool nino_capture_tensors(const capture_file *f, char *out, size_t size);
