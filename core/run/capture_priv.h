// Internal to capture: one record on its way to disk.
#pragma once
#include "core/file/safetensors.h"
#include "core/run/capture.h"

enum { CAPTURE_VALUES = 16 };

typedef struct capture_record {
    struct capture_record *next;
    char folder[64], base[96], function[64];
    char *node_id, *class_type, *params;
    char *workflow; // API form, of the first record of a job; NULL: written already
    char workflow_file[64];
    char device[16], precision[8];
    bool is_output;
    uint64_t ms, bytes;              // since the epoch
    uint64_t in_use, reserved, peak; // of the pool
    double duration_s;
    nino_value *value[CAPTURE_VALUES];
    const char *key[CAPTURE_VALUES]; // of the node table
    int n;
    char input_shape[160]; // of an output: what went in
} capture_record;

enum { CAPTURE_TENSORS = 96 };

typedef struct capture_tensors {
    nino_st_entry e[CAPTURE_TENSORS]; // their names and arrays
    nino_array *a[CAPTURE_TENSORS];
    char name[CAPTURE_TENSORS][64];
    int n;
} capture_tensors;

// The tensors of a record, as its file has them; NULL: out of memory.
capture_tensors *nino_capture_collect(const capture_record *r);
void nino_capture_tensors_destroy(capture_tensors **t); // NULL-safe
// The output that a capture which holds has got, from its node's last run; NULL: none.
const capture_record *nino_capture_held(const nino_capture *c);

// "ROCMOptimizedVAEDecode" -> vae_decode and so on; other classes in snake case.
void nino_capture_function(const char *class_type, char *out, size_t size);
// "flux_1024x1024", "wan_320x320_17frames": family, and size in pixels and frames, of what the node
// works on; "": nothing that has a size.
void nino_capture_folder(nino_value *const *values, const nino_port *ports, char *out, size_t size);
// "samples 1x16x4x40x40, image 1x64x64x3"
void nino_capture_shapes(const capture_record *r, char *out, size_t size);
// Tensors as safetensors, the rest as JSON; of an output also its time and the memory.
nino_status nino_capture_write(const char *root, const capture_record *r, nino_error *err);
