// Internal: extra_model_paths.yaml, in any form that YAML allows, read as ComfyUI reads it.
#pragma once
#include <ninodes/base.h>

// One folder for models of a kind; false: out of memory.
typedef bool (*nino_extra_fn)(void *priv, const char *kind, const char *dir, bool is_default);

// Reads the text of an extra_model_paths.yaml that lies in folder `dir` and tells its folders in
// order. Every key of a section but base_path and is_default is a kind of models; each line of its
// value, or each item where it is a list, is a folder. Folders are relative to base_path, which is
// relative to dir and may begin with ~ and hold $NAME. Errors (NINO_ERR_FORMAT) name line and
// column; `name` is the file in them.
nino_status nino_extra_paths_read(const char *dir, const char *text, size_t len, const char *name,
                                  nino_extra_fn fn, void *priv, nino_error *err);
