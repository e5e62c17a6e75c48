// Internal: textual-inversion files: which name of a prompt is which file, and the vectors inside
// (ComfyUI's load_embed).
#pragma once
#include "core/file/weights.h"

typedef struct nino_embedding {
    float *data; // f32 [rows,width], malloc'd
    int rows, width;
} nino_embedding;

// The vectors of a file for the encoder `key` ("clip_l", ...): "string_to_param", else `key`, else
// bundled ones, else "emb_params", else the first tensor. Their width is the file's: whoever uses
// them compares. Errors: kind "schema" when the file holds nothing of that sort.
nino_status nino_embedding_read(const nino_weights *w, const char *key, nino_embedding *out,
                                nino_error *err);
void nino_embedding_release(nino_embedding *e); // NULL-safe

// Index in `files` (NULL-terminated, "sub/name.ext") of the file that a prompt's name means, or -1:
// the name itself, then with .safetensors, .pt, .bin; first at the top, then in sub-folders.
int nino_embedding_find(const char *name, char *const *files);
