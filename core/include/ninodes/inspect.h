// What a file is: a model and its parts, a latent, a picture, a video.
//
// A video, or a picture that moves, has the container as its format ("mp4", "mov", "webm",
// "matroska", "webp", "apng") and a part "video": the codec, and "512x320, 16 frames, 4 fps,
// 4.000 s". Pictures, videos and sounds have a part "graph" for each workflow in them, or one of the
// family "none".
//
// Threads: plain functions and data.
#pragma once
#include <ninodes/base.h>

NINO_BEGIN

typedef struct nino_inspect_tensor {
    const char *name, *dtype;
    // Outermost dimension first.
    int rank;
    int64_t dim[8];
    uint64_t bytes;
} nino_inspect_tensor;

// One network of the file: "vae", "AutoencoderKL", "16 channels, 8x".
typedef struct nino_inspect_part {
    const char *role, *family, *detail;
} nino_inspect_part;

typedef struct nino_inspect_meta {
    const char *key, *value;
} nino_inspect_meta;

typedef struct nino_inspect_dtype {
    const char *name;
    uint64_t tensors, bytes;
} nino_inspect_dtype;

typedef struct nino_inspect {
    // "safetensors", "pth", "gguf", "png", ...
    const char *format;
    uint64_t file_bytes, tensor_bytes;
    size_t n_parts, n_tensors, n_meta, n_dtypes;
    nino_inspect_part *parts;
    nino_inspect_tensor *tensors;
    nino_inspect_meta *meta;
    nino_inspect_dtype dtypes[64];
    // "none", "fp8 e4m3fn scaled", ...
    const char *quantisation;
    // What the file's name suggests where its content is something else, or "".
    const char *name_hint;
    // A GGUF file's general.architecture where its content is another, or "".
    const char *arch_hint;
    // The library's own.
    void *priv;
} nino_inspect;

// Fills *out; all its text and tables are owned by it until nino_inspect_release(). Errors:
// NINO_ERR_IO, NINO_ERR_FORMAT, NINO_ERR_NOMEM.
NINO_API nino_status nino_inspect_file(const char *path, nino_inspect *out, nino_error *err);
NINO_API void nino_inspect_release(nino_inspect *i);

NINO_END
