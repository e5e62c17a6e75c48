// Internal: textual-inversion files: which name of a prompt is which file, and the vectors inside
// (ComfyUI's load_embed).
#pragma once
#include "core/format/weights.h"

typedef struct nino_embedding {
    float *data; // f32 [rows,width], malloc'd
    int rows, width;
} nino_embedding;

// The vectors of a file for the encoder `key`: "string_to_param", else `key`, else bundled ones,
// else the first tensor. width picks among several; the result may have another width (the caller
// leaves it out). Errors: kind "model" when the file holds no such tensor.
nino_status nino_embedding_read(const nino_weights *w, const char *key, int width,
                                nino_embedding *out, nino_error *err);
void nino_embedding_release(nino_embedding *e); // NULL-safe

// Index in `files` (NULL-terminated, "sub/name.ext") of the file that a prompt's name means, or -1:
// the name itself, then with .safetensors, .pt, .bin; first at the top, then in sub-folders.
int nino_embedding_find(const char *name, char *const *files);
